"""What to ask of a case, from a Bayesian network that was drawn by hand and without any data.

python examples/network_plan.py
python examples/network_plan.py --page car.html    (a page that asks and decides offline)
"""

from __future__ import annotations

import argparse
import time

import numpy as np

from seqclass import SequentialClassifier
from seqclass.bn import NetworkTables
from seqclass.export import export_policy
from seqclass.pomdp import evaluate


def network() -> NetworkTables:
    """Two faults of a car, the battery's age above one of them, and what can be seen."""
    turns = np.array([[0.99, 0.02], [0.05, 0.01]])  # a row a state of the battery, a column one of the starter
    nodes = {
        "age of battery": (["new", "old"], [], [0.7, 0.3]),
        "battery": (["good", "dead"], ["age of battery"], [[0.98, 0.8], [0.02, 0.2]]),
        "starter": (["good", "broken"], [], [0.95, 0.05]),
        "lights": (["bright", "dim"], ["battery"], [[0.97, 0.1], [0.03, 0.9]]),
        "turns over": (["yes", "no"], ["battery", "starter"], [turns, 1 - turns]),
        "voltage": (["12 V", "low"], ["battery"], [[0.995, 0.02], [0.005, 0.98]]),
    }
    names = list(nodes)
    states = [states for states, _, _ in nodes.values()]
    parents = [[names.index(above) for above in some] for _, some, _ in nodes.values()]
    return NetworkTables(names, states, parents, [np.array(table) for _, _, table in nodes.values()])


def main() -> None:
    parser = argparse.ArgumentParser(description="What to ask of a case, from a Bayesian network.")
    parser.add_argument("--page", metavar="FILE", help="write the plan as a page to FILE")
    arguments = parser.parse_args()
    began = time.perf_counter()
    prices = {"age of battery": 0.002, "lights": 0.003, "turns over": 0.003, "voltage": 0.02}
    clf = SequentialClassifier.from_network(network(), ["battery", "starter"], feature_costs=prices)
    for label, share in zip(clf.classes_, clf.problem_.prior):
        print(f"{label}: {share:.3f}")
    info = clf.policy_.info
    expected = evaluate(clf)
    print(f"a case costs {info.upper:.4f} and takes {expected.n_features:.2f} questions; at least {info.lower:.4f} "
          f"whatever is asked ({info.scope})")  # fmt: skip

    # a live case: the age is known at no price
    case = clf.session(known={"age of battery": "old"})
    answers = {"turns over": "no", "lights": "dim", "voltage": "low"}
    while (question := case.next_feature) is not None:
        print(f"{question.name}? {answers[question.name]} (price {question.price})")
        case.observe(question.name, answers[question.name])
    print(f"{case.decision}, for {case.paid:.3f}")
    if arguments.page:
        data = export_policy(clf, arguments.page, title="Why does it not start?")
        took = time.perf_counter() - began
        print(
            f"{arguments.page}: a page of {len(data['questions'])} questions, {took:.1f} s after the network was given"
        )


if __name__ == "__main__":
    main()
