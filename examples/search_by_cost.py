"""Choose settings by what a case costs: scikit-learn's GridSearchCV, scored by the realised cost.

python examples/search_by_cost.py
"""

from __future__ import annotations

import time

from sklearn.datasets import load_breast_cancer
from sklearn.model_selection import GridSearchCV, StratifiedKFold, train_test_split

from seqclass import SequentialClassifier
from seqclass.discretize import Discretizer
from seqclass.metrics import realised_cost, realised_cost_scorer


def main() -> None:
    X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    X_train, X_test, y_train, y_test = train_test_split(X, y, test_size=0.3, random_state=0, stratify=y)

    # an error costs 1, a measurement 0.01: scored by accuracy, a search does not see what is paid
    grid = {"discretizer__n_bins": [3, 6], "order": ["error", "conditional"]}
    search = GridSearchCV(
        SequentialClassifier(discretizer=Discretizer(), feature_costs=0.01),
        grid,
        scoring=realised_cost_scorer,
        cv=StratifiedKFold(3, shuffle=True, random_state=0),
    )
    began = time.perf_counter()
    search.fit(X_train, y_train)
    print(f"[{time.perf_counter() - began:.1f} s] {len(search.cv_results_['params'])} settings on 3 folds")
    for settings, score in zip(search.cv_results_["params"], search.cv_results_["mean_test_score"]):
        chosen = " *" if settings == search.best_params_ else ""
        print(f"  {settings['discretizer__n_bins']} bins, order {settings['order']:11} cost {-score:.4f}{chosen}")

    record = search.best_estimator_.acquire(X_test)
    cost = realised_cost(y_test, record.decision, record.paid)
    print(f"on rows of neither: cost {cost:.4f}, {record.n_features.mean():.2f} of {X.shape[1]} features")


if __name__ == "__main__":
    main()
