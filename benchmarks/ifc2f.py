"""IFC2F on real data by price and structure, beside the paper, the authors' code and ETANA, also with the same bins.

All settings but these two are those of the call as it stands. ``--prices`` and ``--structures`` choose what is crossed;
Table III of the paper has the prices, Table IV the structures, Tables VI-VIII accuracy, features and seconds. Data as
for ``real_data.py``. Figures that are quoted are those of the paper, whose folds are not known, and of the authors'
published code run at the same protocol as ours.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from _common import parser, write_json
from _real import Outcome, add_data_option, each_set, json_row, quoted, run

from seqclass import SequentialClassifier, etana, ifc2f

SETS = [
    "mll 5-fold",
    "mll split",
    "madelon",
    "colon_disc",
    "spambase",
    "breast_cancer",
    "digits",
    "lung2_desouto1543",
    "thyroid_ann",
]
PRICES = [0.1, 0.01, 0.001, 0.0001]
STRUCTURES = ["tree", "line", "random", "clique"]
Maker = Callable[[], SequentialClassifier]


def others(name: str, price: float, structure: str) -> Iterator[tuple[str, float, float]]:
    """Accuracy and features that others report for this set, price and structure."""
    if structure != "tree":
        yield from quoted("ifc2f-4", name, f"IFC2F, {structure}") if price == 0.01 else ()
    elif name == "spambase" and price == 0.01:
        yield from quoted("ifc2f-6", name, "IFC2F")
    else:
        found = list(quoted("ifc2f-3", name, f"IFC2F, price {price:g}"))
        yield from found or (quoted("ifc2f-code", name, "IFC2F") if price == 0.01 else ())


def methods(price: float, structure: str) -> Iterator[tuple[str, Maker]]:
    yield "published", lambda: ifc2f(price, structure=structure, published=True)
    yield "ours", lambda: ifc2f(price, structure=structure)
    if structure == "tree":
        yield "ETANA, 4 bins too", lambda: etana(price, n_bins=4)
        yield "ETANA", lambda: etana(price)


def line(method: str, outcome: Outcome) -> str:
    return (
        f"  {method:18} {outcome.accuracy:8.3f} {outcome.n_features:8.2f} {outcome.cost:7.4f} {outcome.gap:7.2%} "
        f"{outcome.preprocess_s:6.2f} {outcome.train_s:6.2f} {outcome.classify_s:7.3f}"
    )


def main() -> None:
    made = parser(__doc__)
    add_data_option(made)
    made.add_argument("--sets", nargs="+", choices=SETS, default=SETS)
    made.add_argument("--prices", nargs="+", type=float, default=[0.01])
    made.add_argument("--structures", nargs="+", choices=[*STRUCTURES, "forest"], default=["tree"])
    made.add_argument("--methods", nargs="+", help="only these")
    arguments = made.parse_args()
    rows = []
    print(f"{'':20} {'accuracy':>8} {'features':>8} {'cost':>7} {'gap':>7} {'pre s':>6} {'train':>6} {'class s':>7}")
    for name, data in each_set(arguments):
        for price in arguments.prices:
            for structure in arguments.structures:
                title = f"{name} at {price:g}, {structure}"
                print(title)
                for source, accuracy, features in others(name, price, structure):
                    cost = 1 - accuracy + price * features
                    print(f"  {source:18} {accuracy:8.3f} {features:8.2f} {cost:7.4f}")
                for method, make in methods(price, structure):
                    if arguments.methods and method not in arguments.methods:
                        continue
                    if arguments.quick and method != "ours":
                        continue
                    outcome = run(make, *data)
                    print(line(method, outcome), flush=True)
                    rows.append(json_row(f"{title}, {method}", outcome))
    if arguments.json:
        write_json(rows, arguments.json)


if __name__ == "__main__":
    main()
