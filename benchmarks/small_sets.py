"""Forty sets of 36 to 200 rows, each decided on rows that nothing saw: `seqclass.adaptive` beside ours and plain peers.

    python benchmarks/small_sets.py [--data DIR] [--sets SET ...] [--price P] [--methods METHOD ...] [--permuted]
                                    [--json FILE] [--quick]

A set is so many rows of a larger one, drawn at random (classes of fewer than three are left out); what a method costs
is told on the others, up to 1000 of them. Forty sets settle what six do not: the table is the mean over the sets, the
paired difference to the first method with its standard error over the sets, on how many sets a method is .005 or more
above or below, and seconds of CPU a set. Peers are those of the suite, each tuned on three folds of the rows.
With --permuted labels tell nothing, and what costs more than deciding at once buys in vain.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
from _common import parser, write_json
from _real import LABELS, absent, add_data_option, data_folder, read_table

import seqclass
from benchmarks.suite.cases import answered
from benchmarks.suite.methods import METHODS, installed
from benchmarks.suite.peers import PEERS
from benchmarks.suite.sets import as_numbers
from seqclass import SequentialClassifier, datasets
from seqclass.adaptive_classifier import EFFORTS, INCUMBENT, NOTHING, candidates

#: Rows that are drawn, by set; each number is a set of its own.
SIZES: dict[str, tuple[int, ...]] = {
    "digits": (80, 150),
    "spambase": (60, 100, 200),
    "breast_cancer": (60, 120),
    "pima": (100, 200),
    "thyroid_ann": (150,),
    "kdd_pystreamfs10k": (60, 150),
    "mnist": (100, 200),
    "actg175": (100, 200),
    "bank": (100, 200),
    "madelon": (100, 200),
    "iris": (60,),
    "wine": (60,),
    "lung2_desouto1543": (70, 120),
    "mll": (40,),
    "colon": (36,),
    "colon_disc": (36,),
    "costs/car": (200,),
    "costs/flare": (120,),
    "costs/glass": (120,),
    "costs/tictactoe": (120,),
    "costs/diabetes": (120,),
    "interviews/dxy": (100, 200),
    "interviews/mz4": (200,),
    "interviews/symcat": (150,),
    "items/arc_items": (100,),
    "gisette_valid1000": (80, 150),
    "usenet1": (150,),
}
SETS = [f"{name}:{n}" for name, sizes in SIZES.items() for n in sizes]
TESTED, FEWEST, MANY = 1000, 3, 1000
#: Methods that take minutes where columns are thousands, and are run where they are named.
SLOW = ("tree", "greedy naive Bayes")
Split = tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]


def table(name: str, folder: Path | None) -> tuple[np.ndarray, np.ndarray] | None:
    """All rows of a larger set as numbers, and its classes; None where its file is absent."""
    if name in LABELS:
        if (whole := read_table(name, folder)) is None:
            return None
        frame, label = whole
        text = frame.select_dtypes(exclude="number").columns
        frame[text] = frame[text].apply(lambda column: column.astype("category").cat.codes)
        return frame.to_numpy(dtype=float), label
    if name in datasets.list_datasets(folder):
        data = datasets.load(name, folder)
        return np.asarray(data.X, dtype=float), data.y
    found = [] if folder is None else sorted(folder.glob(f"{name}.*"))
    if not found:
        return None
    with np.load(found[0], allow_pickle=False) as data:
        return ARRAYS[name.partition("/")[0]](data)


def _costs(data: Any) -> tuple[np.ndarray, np.ndarray]:
    return data["X"].astype(float), data["y"]


def _interviews(data: Any) -> tuple[np.ndarray, np.ndarray]:
    """What was said of each symptom, asked or not, of the first ten diseases; 0 where nothing was."""
    said = np.where(data["volunteered"] >= 0, data["volunteered"], data["answers"]) + 1.0
    some = data["y"] < 10
    return said[some], data["y"][some]


def _items(data: Any) -> tuple[np.ndarray, np.ndarray]:
    """Whether a language model is above the median, by what it answers."""
    answers = data["X"].astype(float)
    right = answers.mean(axis=1)
    return answers, (right > np.median(right)).astype(int)


ARRAYS: dict[str, Callable[[Any], tuple[np.ndarray, np.ndarray]]] = {
    "costs": _costs,
    "interviews": _interviews,
    "items": _items,
}


def drawn(X: np.ndarray, y: np.ndarray, n: int, seed: int) -> Split:
    """So many rows to learn from, and others to tell what that costs."""
    y = np.unique(y, return_inverse=True)[1]
    rows = np.random.default_rng(seed).permutation(len(y))
    train, test = rows[:n], rows[n : n + TESTED]
    enough = np.bincount(y[train], minlength=y.max() + 1) >= FEWEST
    train, test = train[enough[y[train]]], test[enough[y[test]]]
    return X[train], y[train], X[test], y[test]


def each_small_set(names: list[str], folder: Path | None, permuted: bool) -> Iterator[tuple[str, Split]]:
    """The sets that are asked for and there; a larger one is read once."""
    kept: tuple[str, Any] = ("", None)
    for name in names:
        large, _, size = name.partition(":")
        if kept[0] != large:
            kept = large, table(large, folder)
            if permuted and kept[1] is not None:
                kept = large, (kept[1][0], np.random.default_rng(0).permutation(kept[1][1]))
        if kept[1] is None:
            absent(name, f"{large}.*")
            continue
        yield name, drawn(*kept[1], int(size), 100 + SIZES[large].index(int(size)))


def one_way(name: str) -> Callable[[float, int], SequentialClassifier]:
    """One of those that adaptive quick tries where rows are many, by itself."""
    return lambda price, columns: SequentialClassifier(
        feature_costs=price, **candidates(EFFORTS["quick"], 0, MANY, columns)[name]
    )


OURS: dict[str, Callable[[float, int], Any]] = {
    "adaptive quick": lambda price, columns: seqclass.adaptive(price, effort="quick"),
    "naive Bayes": lambda price, columns: seqclass.etana(price),
    "tree": lambda price, columns: seqclass.ifc2f(price),
    "one mixture": one_way(INCUMBENT),
    "deciding at once": one_way(NOTHING),
}


def cost(method: str, price: float, split: Split) -> tuple[float, float]:
    """What a method costs a test row, and seconds of CPU."""
    X, y, unseen, truth = split
    began = time.process_time()
    if method in OURS:
        clf = OURS[method](price, X.shape[1]).fit(X, y)
        record = clf.acquire(unseen)
        return float((record.paid + (record.decision != truth)).mean()), time.process_time() - began
    prices = np.full(X.shape[1], price)
    X, unseen = as_numbers(X, unseen, y)
    told = answered(METHODS[method]().fit(X, y, prices), unseen, truth, prices)
    return float(told.cost.mean()), time.process_time() - began


def main() -> None:
    made = parser(__doc__)
    add_data_option(made)
    made.add_argument("--sets", nargs="+", default=SETS, choices=SETS, metavar="SET")
    made.add_argument("--price", type=float, default=0.01)
    methods = list(OURS) + list(PEERS)
    quick = [one for one in methods if one not in SLOW]
    made.add_argument("--methods", nargs="+", default=quick, choices=methods, metavar="METHOD")
    made.add_argument("--permuted", action="store_true", help="permute the labels of each larger set")
    arguments = made.parse_args()
    names = ["breast_cancer:60"] if arguments.quick else arguments.sets
    methods = ["adaptive quick", "naive Bayes"] if arguments.quick else installed(arguments.methods)
    warnings.simplefilter("ignore")  # where nothing is worth buying, the costs say so
    found: dict[str, list[tuple[float, float]]] = {method: [] for method in methods}
    rows: list[dict[str, Any]] = []
    for name, split in each_small_set(names, data_folder(arguments), arguments.permuted):
        for method in methods:
            found[method].append(cost(method, arguments.price, split))
            row = {"name": f"{name}, {method}", "ours_s": found[method][-1][1], "peer": None, "peer_s": None}
            rows.append(row | {"ratio": None, "peak_mb": None, "cost": found[method][-1][0]})
        told = ", ".join(f"{method} {costs[-1][0]:.3f}" for method, costs in found.items())
        print(f"{name:24} {told}", flush=True)
    if rows:
        show(found)
    if arguments.json:
        write_json(rows, arguments.json)


def show(found: dict[str, list[tuple[float, float]]]) -> None:
    """Means over the sets, and what each is apart from the first."""
    first = np.array([cost for cost, _ in next(iter(found.values()))])
    print(f"\n{len(first)} sets{'':21}cost   apart      se  above  below  seconds")
    for method, pairs in found.items():
        costs, seconds = np.array(pairs).T
        apart = costs - first
        error = apart.std(ddof=1) / np.sqrt(len(apart)) if len(apart) > 1 else 0.0
        counts = f"{(apart >= 0.005).sum():5}  {(apart <= -0.005).sum():5}"
        print(f"{method:24} {costs.mean():8.4f} {apart.mean():+8.4f} {error:.4f}  {counts}  {seconds.mean():7.1f}")


if __name__ == "__main__":
    main()
