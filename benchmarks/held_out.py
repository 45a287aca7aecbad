"""What ``fit(X, y, held_out=5)`` takes beside a fit without, and how often its 95% interval holds the true cost.

    python benchmarks/held_out.py [--data DIR] [--sets SET ...] [--coverage N] [--json FILE]

A row is a recipe on a set: our seconds with five folds held out, those of the plain fit, and what both yardsticks take
by themselves. Then the held-out costs. With ``--coverage N``, N samples of 60 and of 150 rows are drawn from a
generated set of 30,000, and the interval of each is compared with the cost of the fit to all its rows on 10,000 others:
by the rows with Nadeau and Bengio's correction, as `HeldOut` has it, by the means of the folds with the same
correction, and by the rows as they are.
"""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from _common import measure, parser, report
from _real import absent, add_data_option, data_folder
from sklearn.datasets import make_classification

from seqclass import datasets, etana, ifc2f
from seqclass._held_out import assign_folds, cross_fit, yardsticks
from seqclass.metrics import realised_cost
from seqclass.statistics import mean_interval

PRICE, FOLDS = 0.01, 5
SETS = ("breast_cancer", "mll", "digits")


def coverage(n: int, samples: int) -> str:
    X, y = make_classification(30_000, 12, n_informative=6, n_redundant=2, flip_y=0.05, class_sep=0.8, random_state=1)
    rng = np.random.default_rng(0)
    held: dict[str, list[bool]] = {}
    width: dict[str, list[float]] = {}
    for sample in range(samples):
        rows = rng.choice(20_000, n, replace=False)
        clf = etana(PRICE).fit(X[rows], y[rows])
        record = clf.acquire(X[20_000:])
        true = realised_cost(y[20_000:], record.decision, record.cost)
        fold = assign_folds(y[rows], FOLDS, sample)
        found = cross_fit(clf, X[rows], y[rows], fold)
        means = [found.costs[fold == number].mean() for number in range(FOLDS)]
        folds = mean_interval(means, test_to_train=1 / (FOLDS - 1), bounds=(0, np.inf))
        plain = mean_interval(found.costs, bounds=(0, np.inf))
        ends = {"rows": found.cost_interval, "folds": (folds.lower, folds.upper), "plain": (plain.lower, plain.upper)}
        for name, (lower, upper) in ends.items():
            held.setdefault(name, []).append(lower <= true <= upper)
            width.setdefault(name, []).append(upper - lower)
    told = [f"{name} {np.mean(held[name]):.3f} (width {np.mean(width[name]):.3f})" for name in held]
    return f"{samples} samples of {n} rows, share of intervals that hold the true cost: {', '.join(told)}"


def main() -> None:
    made = add_options()
    arguments = made.parse_args()
    warnings.simplefilter("ignore")  # where deciding at once is cheaper, the figures say so
    folder, rows, told = data_folder(arguments), [], []
    for name in ["breast_cancer"] if arguments.quick else arguments.sets:
        if name not in datasets.list_datasets(folder):
            absent(name)
            continue
        data = datasets.load(name, folder)
        X, y = (data.X[:120], data.y[:120]) if arguments.quick else (data.X, data.y)
        for recipe in (etana,) if arguments.quick else (etana, ifc2f):
            title = f"{name}, {recipe.__name__}"
            repeats = 0 if arguments.quick else arguments.repeats

            fitted: list[Any] = []

            def ours(X: Any = X, y: Any = y, recipe: Any = recipe, fitted: list[Any] = fitted) -> None:
                fitted[:] = [recipe(PRICE).fit(X, y, held_out=FOLDS)]

            def plain(X: Any = X, y: Any = y, recipe: Any = recipe) -> Any:
                return recipe(PRICE).fit(X, y)

            rows.append(measure(title, ours, peer="fit", peer_call=plain, repeats=repeats, memory=False))
            (clf,) = fitted
            fold = clf.held_out_.fold
            beside = f"{title}, yardsticks"
            rows.append(measure(beside, lambda c=clf, f=fold: yardsticks(c, X, y, f), repeats=repeats, memory=False))  # noqa: B023
            told.append(f"{title}\n{clf.held_out_}\n")
    report(rows, arguments.json)
    print("", *told, sep="\n")
    for n in (60, 150) if arguments.coverage else ():
        print(coverage(n, arguments.coverage))


def add_options() -> Any:
    made = parser(__doc__)
    made.set_defaults(repeats=1)
    add_data_option(made)
    made.add_argument("--sets", nargs="+", default=list(SETS), metavar="SET", help="data sets")
    made.add_argument("--coverage", type=int, default=0, metavar="N", help="samples of the check of intervals")
    return made


if __name__ == "__main__":
    main()
