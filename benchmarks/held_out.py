"""What ``fit(X, y, held_out=5)`` takes beside a fit without, and how often its 95% intervals hold the truth.

    python benchmarks/held_out.py [--data DIR] [--sets SET ...] [--coverage N] [--adaptive N] [--json FILE]

A row is a recipe on a set: our seconds with five folds held out, those of the plain fit, and what both yardsticks take
by themselves. Then the held-out costs. With ``--coverage N``, N samples of 100, 400 and 2000 rows each are drawn from
three generated worlds of 40,000, and the intervals of cost, price, features and error are compared with what `etana`,
fitted to all rows of the sample, has on the other rows; with ``--adaptive N`` so for quick `adaptive`, of 100 and 400
rows. In brackets is half the mean width over the spread of what it has to hold: 1.96 is right on average.
"""

from __future__ import annotations

import warnings
from itertools import product
from typing import Any

import numpy as np
from _common import measure, parser, report
from _real import absent, add_data_option, data_folder
from sklearn.datasets import make_classification

from seqclass import adaptive, datasets, etana, ifc2f
from seqclass.fitting._cross_fit import cross_fit, yardsticks
from seqclass.fitting._fit import Fit, fit_without
from seqclass.fitting._folds import assign_folds

PRICE, FOLDS = 0.01, 5
SETS = ("breast_cancer", "mll", "digits")


def worlds() -> dict[str, tuple[Any, Any]]:
    """Clusters with noise in the labels; two classes of normal numbers; three classes of answers, some repeated."""
    n, rng = 40_000, np.random.default_rng(7)
    clusters = make_classification(n, 12, n_informative=6, n_redundant=2, flip_y=0.05, class_sep=0.8, random_state=1)
    two, three = rng.integers(0, 2, n), rng.choice(3, n, p=[0.5, 0.3, 0.2])
    normals = rng.normal(size=(n, 6)) + two[:, None] * [1, 0.9, 0.8, 0.1, 0.1, 0.1]
    answers = (rng.random((n, 15)) < rng.uniform(0.1, 0.9, (3, 15))[three]).astype(float)
    answers[:, 10:] = np.where(rng.random((n, 5)) < 0.7, answers[:, :5], answers[:, 10:])
    return {"clusters": clusters, "normals": (normals, two), "answers": (answers, three)}


def coverage(make: Any, title: str, X: Any, y: Any, n: int, samples: int) -> str:
    rng = np.random.default_rng(0)
    names = ("cost", "price", "n_features", "error")
    apart: dict[str, list[tuple[bool, float, float]]] = {name: [] for name in names}
    for _ in range(samples):
        rows, others = np.split(rng.permutation(len(y)), [n])
        clf = make().fit(X[rows], y[rows])
        held = vars(clf).get("held_out_")
        if held is None:
            given = X[rows], y[rows], assign_folds(y[rows], FOLDS, 0)
            held = cross_fit([fit_without(clf.settings(), *given, number) for number in range(FOLDS)], *given)
        record = clf.acquire(X[others])
        wrong = float((record.decision != y[others]).mean())
        price, asked = float(record.paid.mean()), float(record.n_features.mean())
        for name, true in zip(names, (price + wrong, price, asked, wrong)):
            lower, upper = getattr(held, f"{name}_interval")
            apart[name].append((lower <= true <= upper, upper - lower, getattr(held, name) - true))
    told = []
    for name, found in apart.items():
        holds, width, off = np.array(found).T
        told.append(f"{name} {holds.mean():.3f} ({width.mean() / 2 / max(np.sqrt((off**2).mean()), 1e-12):.2f})")
    return f"{title}, {samples} samples of {n} rows: {', '.join(told)}"


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

            def yard(X: Any = X, y: Any = y, clf: Any = clf, fold: Any = fold) -> Any:
                return yardsticks(Fit(clf.settings(), clf.agent_), X, y, fold, None)

            rows.append(measure(beside, yard, repeats=repeats, memory=False))
            told.append(f"{title}\n{clf.held_out_}\n")
    report(rows, arguments.json)
    print("", *told, sep="\n")
    for name, make, samples, sizes in (
        ("etana", lambda: etana(PRICE), arguments.coverage, (100, 400, 2000)),
        ("adaptive, quick", lambda: adaptive(PRICE, effort="quick"), arguments.adaptive, (100, 400)),
    ):
        for (title, world), n in product(worlds().items(), sizes) if samples else ():
            print(coverage(make, f"{name}, {title}", *world, n, samples), flush=True)


def add_options() -> Any:
    made = parser(__doc__)
    made.set_defaults(repeats=1)
    add_data_option(made)
    made.add_argument("--sets", nargs="+", default=list(SETS), metavar="SET", help="data sets")
    made.add_argument("--coverage", type=int, default=0, metavar="N", help="samples of the check of intervals")
    made.add_argument("--adaptive", type=int, default=0, metavar="N", help="the same of quick adaptive: seconds each")
    return made


if __name__ == "__main__":
    main()
