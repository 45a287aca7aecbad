"""Pre-selection as a stage: SAOLA, FIRES and Semi-RFS in front of ETANA and IFC2F, beside the same without.

Selectors are fitted to the outcomes of the training rows of each fold. Data as for ``real_data.py``. Semi-RFS searches
around a naive Bayes learner for at most 300 evaluations of 5 folds each.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from _common import parser, write_json
from _real import add_data_option, each_set, json_row, run
from sklearn.naive_bayes import GaussianNB

from seqclass import SequentialClassifier, etana, ifc2f
from seqclass.selection import FIRES, SAOLA, SemiRFS

PRICE = 0.01
SETS = ["mll 5-fold", "madelon", "spambase", "colon_disc", "breast_cancer"]


def selectors(quick: bool) -> Iterator[tuple[str, Any]]:
    yield "none", None
    yield "SAOLA (su)", SAOLA("su", delta_1=0.01)
    yield "FIRES", FIRES(20, n_epochs=1 if quick else 20, shuffle=True, scale="minmax", random_state=0)
    evaluations = 5 if quick else 300
    yield "Semi-RFS", SemiRFS(GaussianNB(), max_evaluations=evaluations, random_state=0)


def methods(selector: Any) -> Iterator[tuple[str, Callable[[], SequentialClassifier]]]:
    yield "ETANA", lambda: etana(PRICE, selector=selector)
    # without another selector IFC2F has its own filter
    yield "IFC2F", lambda: ifc2f(PRICE) if selector is None else ifc2f(PRICE, selector=selector)


def main() -> None:
    made = parser(__doc__)
    add_data_option(made)
    made.add_argument("--sets", nargs="+", choices=SETS, default=["mll 5-fold", "madelon", "spambase"])
    arguments = made.parse_args()
    rows = []
    print(f"{'':34} {'accuracy':>8} {'features':>8} {'cost':>7} {'fit s':>7}")
    for name, data in each_set(arguments):
        X, y, splits = data
        for selection, selector in selectors(arguments.quick):
            for method, make in methods(selector):
                outcome = run(make, X, y, splits[:1] if arguments.quick else splits[:5])
                print(
                    f"{name}, {method:6} {selection:14} {outcome.accuracy:8.3f} {outcome.n_features:8.2f} "
                    f"{outcome.cost:7.4f} {outcome.fit_s:7.2f}",
                    flush=True,
                )
                rows.append(json_row(f"{name}, {method}, {selection}", outcome))
    if arguments.json:
        write_json(rows, arguments.json)


if __name__ == "__main__":
    main()
