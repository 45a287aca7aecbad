"""ETANA on real data: realised cost, accuracy, features, certified gap and seconds, beside the authors' own code.

Data sets that are not embedded in scikit-learn come from ``--data DIR`` (or the variable SEQCLASS_DATA, or
``../shared/data`` beside the checkout); without them only breast_cancer and digits are run. The authors' figures are
those of their published code at the same protocol and price.
"""

from __future__ import annotations

from collections.abc import Callable

from _common import parser, write_json
from _real import add_data_option, data_folder, json_row, load, quoted, run

from seqclass import SequentialClassifier, etana
from seqclass.bn import NaiveBayes

PRICE = 0.01
SETS = ["mll 5-fold", "mll split", "madelon", "colon_disc", "spambase", "breast_cancer", "digits"]


def methods(quick: bool) -> dict[str, Callable[[], SequentialClassifier]]:
    ours = {
        "published": lambda: etana(PRICE, published=True),
        # the authors' code orders by the spread of P(outcome | class) and starts from a uniform prior
        "published, code": lambda: etana(
            PRICE, published=True, n_bins=3, order="variance", observation_model=NaiveBayes(prior="uniform")
        ),
        "ours": lambda: etana(PRICE),
    }
    return {"ours": ours["ours"]} if quick else ours


def main() -> None:
    made = parser(__doc__)
    add_data_option(made)
    made.add_argument("--sets", nargs="+", choices=SETS, default=SETS)
    arguments = made.parse_args()
    folder = data_folder(arguments)
    names = ["breast_cancer"] if arguments.quick else arguments.sets
    rows = []
    print(f"{'data':14} {'method':18} {'accuracy':>8} {'features':>8} {'cost':>7} {'gap':>7} {'fit s':>6}")
    for name in names:
        data = load(name, folder)
        if data is None:
            print(f"{name:14} skipped: no {name.split()[0]}.npz; give its folder with --data")
            continue
        for source, accuracy, features in quoted("etana-code", name, "ETANA"):
            cost = 1 - accuracy + PRICE * features
            print(f"{name:14} {source:18} {accuracy:8.3f} {features:8.2f} {cost:7.4f}")
        for method, make in methods(arguments.quick).items():
            # the published nearest-point grid over ten classes is the one thing here that takes minutes
            if method.startswith("published") and name == "digits":
                continue
            outcome = run(make, *data)
            print(
                f"{name:14} {method:18} {outcome.accuracy:8.3f} {outcome.n_features:8.2f} {outcome.cost:7.4f} "
                f"{outcome.gap:7.2%} {outcome.fit_s:6.2f}",
                flush=True,
            )
            rows.append(json_row(f"{name}, {method}", outcome))
    if arguments.json:
        write_json(rows, arguments.json)


if __name__ == "__main__":
    main()
