"""A complaint says which of eight sensors tells the class: one order for everybody, against any question next.

python examples/adaptive_sensors.py
"""

from __future__ import annotations

from seqclass import SequentialClassifier
from seqclass.bn import TreeNetwork
from seqclass.datasets import load
from seqclass.discretize import Discretizer
from seqclass.pomdp import Adaptive


def main() -> None:
    train, test = (load("sensors", n_samples=10000, random_state=seed) for seed in (0, 1))
    print(f"least cost there is: {train.optimum}")
    # two steps of look-ahead see that the complaint, which says nothing by itself, says what to ask
    solvers = {"conditional": None, "adaptive": Adaptive(n_paths=300, n_cases=1000, max_rounds=0)}
    for order, solver in solvers.items():
        clf = SequentialClassifier(
            TreeNetwork(),  # may learn that what a sensor tells of the class depends on the complaint
            solver,
            discretizer=Discretizer(8),
            order=order,
            feature_costs=0.03,
        ).fit(train.X, train.y)
        record = clf.acquire(test.X)
        wrong = record.decision != test.y
        cost = (wrong + record.paid).mean()
        print(f"order {order}: {record.n_features.mean():.2f} questions, errors {wrong.mean():.3f}, cost {cost:.3f}")
    print(f"\n{clf.ordering_}\n")

    case = clf.session()
    while (question := case.next_feature) is not None:
        value = test.X[0, question.column]
        case.observe(question.name, value)
        print(f"ask {train.feature_names[question.column]}: {value}; P(class 1) = {case.posterior[1]:.3f}")
    print(f"decision {case.decision} (truth {test.y[0]}) for {case.paid:.2f}")


if __name__ == "__main__":
    main()
