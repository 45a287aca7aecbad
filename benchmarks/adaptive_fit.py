"""Seconds and memory of fitting `seqclass.adaptive`: by effort beside other methods, and how they grow.

    python benchmarks/adaptive_fit.py [--parts sets growth folds] [--efforts EFFORT ...] [--sets SET ...] [--data DIR]
                                      [--keep FILE] [--against FILE] [--json FILE] [--quick]

``sets``: one fit to all rows of each real set, by each effort, beside `etana`, `ifc2f` and scikit-learn's histogram
boosting, which sees every feature and costs nothing. ``growth``: rows of six kinds in each class, and how a fit grows
with rows, sparse columns, classes and components. A fit is in a process of its own: seconds are of its processor,
memory is the most that was resident, the data included. ``folds``: fits to the folds of real_data.py (the first two of
more than 1500 rows), seconds of the processor in all, and the realised cost of the rows held out; ``--keep`` writes
these, and ``--against`` those of another version, kept before, tells the difference on the same rows with its 95%
interval, set by set and on the mean of the sets.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from _common import PEAK_IS, apart, parser, write_json
from _real import CHOICE_SETS, add_data_option, each_set
from scipy import sparse
from sklearn.ensemble import HistGradientBoostingClassifier

import seqclass
from seqclass import SequentialClassifier
from seqclass.bn import ClassMixture
from seqclass.discretize import Discretizer
from seqclass.pomdp import Adaptive, ClassInformation

PRICE = 0.01
Make = Callable[[], Any]


def mixture(n_components: int) -> SequentialClassifier:
    """A mixture of so many components a class, in any order."""
    solver = Adaptive([ClassInformation()], max_rounds=0, n_paths=300, n_cases=300, certificate_paths=0)
    model, bins = ClassMixture(n_components, max_iter=20), Discretizer(5, strategy="quantile")
    return SequentialClassifier(model, solver, discretizer=bins, order="adaptive", feature_costs=PRICE)


def kinds(n: int, n_columns: int, n_classes: int) -> tuple[np.ndarray, np.ndarray]:
    """Rows of six kinds in each class, of which every column tells a little."""
    rng = np.random.default_rng([n, n_columns, n_classes])
    y, kind = rng.integers(n_classes, size=n), rng.integers(6, size=n)
    middle = rng.normal(size=(n_classes, 6, n_columns))
    return (middle[y, kind] + rng.normal(size=(n, n_columns))).astype(np.float32), y


def words(n: int, n_columns: int) -> tuple[Any, np.ndarray]:
    """Sparse counts, some twenty a row, of which the first hundred columns tell the class."""
    rng = np.random.default_rng([n, n_columns])
    y = rng.integers(2, size=n)
    told = np.minimum(100, n_columns)
    column = rng.integers(n_columns, size=(n, 20))
    column[:, :4] = (rng.integers(told // 2, size=(n, 4)) + y[:, None] * (told // 2)) % told
    row = np.repeat(np.arange(n), 20)
    X = sparse.csr_array((np.ones(row.size, dtype=np.float32), (row, column.ravel())), shape=(n, n_columns))
    return X, y


def grown(quick: bool, effort: str) -> Iterator[tuple[str, Make, Any, np.ndarray]]:
    """Name, method and data of each step."""
    choosing = partial(seqclass.adaptive, PRICE, effort=effort)
    columns, few = (2, 100) if quick else (20, None)
    for n in [few] if few else [10**3, 10**4, 10**5, 10**6]:
        yield f"{n} rows x {columns}, adaptive", choosing, *kinds(n, columns, 2)
    for width in [4] if few else [10**2, 10**3, 10**4, 10**5]:
        yield f"{few or 2000} rows x {width} sparse columns, adaptive", choosing, *words(few or 2000, width)
    for classes in [3] if few else [2, 5, 10, 20]:
        rows = kinds(few or 4000, columns, classes)
        yield f"{classes} classes, {few or 4000} rows x {columns}, adaptive", choosing, *rows
    for size in [2] if few else [1, 10, 100]:
        rows = kinds(few or 20_000, columns, 2)
        yield f"{size} components, {few or 20_000} rows x {columns}", partial(mixture, size), *rows


def on_folds(make: Make, data: Any) -> tuple[np.ndarray, float]:
    """Realised cost of each row that was held out, and seconds."""
    (X, y, splits), costs, seconds = data, [], 0.0
    for train, test in splits[: 2 if len(y) > 1500 else None]:
        began = time.process_time()
        clf = make().fit(X[train], y[train])
        seconds += time.process_time() - began
        record = clf.acquire(X[test])
        costs.append(record.paid + (record.decision != y[test]))
    return np.concatenate(costs), seconds


def differing(kept: dict[str, Any], before: Any) -> None:
    """By how much the rows of each set cost more than before, and their ratio of seconds."""
    found = []
    for name in [name for name in kept if name in before and not name.endswith("seconds")]:
        above = kept[name] - before[name]
        found.append((above.mean(), above.std(ddof=1) / np.sqrt(len(above))))
        ratio = float(kept[f"{name} seconds"] / before[f"{name} seconds"])
        print(f"{name:20} {found[-1][0]:+.4f} +- {1.96 * found[-1][1]:.4f}, seconds {ratio:.2f} of before")
    if found:
        mean, error = np.transpose(found)
        print(f"{'mean':20} {mean.mean():+.4f} +- {1.96 * np.sqrt((error**2).sum()) / len(found):.4f}")


def main() -> None:
    made = parser(__doc__)
    add_data_option(made)
    made.add_argument("--parts", nargs="+", default=["sets", "growth"], choices=["sets", "growth", "folds"])
    made.add_argument("--keep", type=Path, help="write what the rows of the folds cost")
    made.add_argument("--against", type=Path, help="compare with what was kept before")
    made.add_argument("--efforts", nargs="+", default=["quick"])
    made.add_argument("--sets", nargs="+", default=CHOICE_SETS)
    arguments = made.parse_args()
    warnings.simplefilter("ignore")  # where nothing is worth buying, a fit says so
    rows: list[dict[str, Any]] = []

    def line(name: str, make: Make, X: Any, y: np.ndarray) -> None:
        seconds, peak = apart(lambda: make().fit(X, y))
        print(f"{name:55} {seconds:9.2f} s {peak:8.0f} MB", flush=True)
        rows.append({"name": name, "ours_s": seconds, "peer": None, "peer_s": None, "ratio": None, "peak_mb": peak})

    if "sets" in arguments.parts:
        for name, (X, y, _) in each_set(arguments, "5-fold"):
            if arguments.quick:
                X, y = X[::5, :3], y[::5]
            line(f"{name}, histogram boosting", HistGradientBoostingClassifier, X, y)
            line(f"{name}, etana", partial(seqclass.etana, PRICE), X, y)
            line(f"{name}, ifc2f", partial(seqclass.ifc2f, PRICE), X, y)
            for effort in ["quick"] if arguments.quick else arguments.efforts:
                line(f"{name}, adaptive {effort}", partial(seqclass.adaptive, PRICE, effort=effort), X, y)
    if "growth" in arguments.parts:
        for step in grown(arguments.quick, "quick"):
            line(*step)
    if "folds" in arguments.parts:
        kept: dict[str, Any] = {}
        for name, data in each_set(arguments, "5-fold"):
            made_by = partial(seqclass.adaptive, PRICE, effort=arguments.efforts[0])
            kept[name], kept[f"{name} seconds"] = on_folds(made_by, data)
            print(f"{name:20} {kept[name].mean():.4f} {kept[f'{name} seconds']:.1f} s", flush=True)
        if arguments.keep:
            np.savez(arguments.keep, **kept)
        if arguments.against:
            differing(kept, np.load(arguments.against))
    print(f"MB: {PEAK_IS}")
    if arguments.json:
        write_json(rows, arguments.json)


if __name__ == "__main__":
    main()
