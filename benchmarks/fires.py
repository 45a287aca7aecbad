"""FIRES: time of a step, whether rankings settle, and the published protocol beside the published figures.

    python benchmarks/fires.py [--json FILE] [--quick] [--repeats N] [--data FOLDER] [--rows N]
        [--parts PART ...]

1. Batches of 100 rows at 500 and 5000 features, beside ``SGDClassifier.partial_fit``.
2. Property 3 of the paper as an experiment: how far a ranking still moves from batch to batch on a stream that does
   not change.
3. The perceptron on the ten best of 500 made features (`make_classification(10000, 500, n_informative=10,
   n_redundant=10, n_clusters_per_class=1, shuffle=False, random_state=0)`), over 50 random orders of the rows, as they
   are and scaled to [0, 1], beside the one order, that of `default_rng(0)`, in which the authors' code was run.
4. A perceptron on the selected features, tested on each batch before it learns it; mean of batches of 25, 50, 75 and
   100 rows and of 10, 15 and 20% of the features, stability over 10 batches: Haug et al. (KDD 2020), Tables 3 and 4,
   in brackets. Theirs are from an i7-8550U, other samples of kdd and mnist and another usenet (5931 x 658; usenet1 is
   1500 x 99); only the first ``--rows`` rows of mnist are used, in their order. ANN* is our variant of the network.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from _common import Row, measure, parser, report, write_json
from _real import absent, add_data_option, data_folder
from scipy.stats import rankdata, spearmanr
from sklearn.datasets import make_classification
from sklearn.linear_model import Perceptron, SGDClassifier

from reproduction import get_tables
from seqclass.selection import EFS, FIRES, FSDS, OFS, FiresANN, prequential
from seqclass.stats import mean_interval

BATCHES = (25, 50, 75, 100)
FRACTIONS = (0.1, 0.15, 0.2)
SELECTORS: dict[str, Callable[..., Any]] = {
    "FIRES-GLM": FIRES,
    "FIRES-ANN": partial(FIRES, base="ann", random_state=0),
    "FIRES-ANN*": partial(FIRES, base=FiresANN(aggregation="products", start_sd=0.3), random_state=0),
    "FIRES-SDT": partial(FIRES, base="sdt", random_state=0),
    "OFS": OFS,
    "EFS": EFS,
    "FSDS": FSDS,
}
SETS = ("spambase_pystreamfs", "usenet1", "madelon", "kdd_pystreamfs10k", "mnist")
_TABLE = get_tables(["fires-3"])[0]
#: Accuracy, stability and milliseconds a batch as published, by file and selector.
PUBLISHED = {
    (_TABLE.files()[entry.data], entry.method): tuple(
        entry.paper[quantity] for quantity in ("accuracy", "stability", "ms a batch")
    )
    for entry in _TABLE.entries
}


#: Accuracy of the authors' code in the order of `default_rng(0)`, by whether the features are scaled.
IN_ONE_ORDER = {False: {"FIRES-GLM": 0.840, "all features": 0.822}, True: {"FIRES-GLM": 0.787, "all features": 0.642}}
PARTS = ("steps", "settling", "orders", "experiments")


class Result(NamedTuple):
    """Means over batch sizes and fractions."""

    data: str
    selector: str
    accuracy: float
    stability: float
    ms: float
    published: tuple[float, ...] | None


def repeatedly(times: int, call: Callable[..., Any], X: np.ndarray, y: np.ndarray) -> None:
    for _ in range(times):
        call(X, y)


def steps(quick: bool, repeats: int) -> list[Row]:
    rows = []
    rng = np.random.default_rng(0)
    for n_features in (50,) if quick else (500, 5000):
        X, y = rng.random((100, n_features)), rng.integers(0, 2, 100)
        for name, make in SELECTORS.items():
            selector = make(10).partial_fit(X, y, classes=[0, 1])
            peer = SGDClassifier().partial_fit(X, y, classes=[0, 1])
            # what takes microseconds is done often, or the first touch of memory is all that is timed
            times = 20 if name == "FIRES-GLM" else 1
            what = f"{times} batches" if times > 1 else "1 batch"
            rows.append(
                measure(
                    f"{name}, {what} of 100 rows x {n_features} features",
                    partial(repeatedly, times, selector.partial_fit, X, y),
                    peer=f"SGDClassifier.partial_fit, {what}",
                    peer_call=partial(repeatedly, times, peer.partial_fit, X, y),
                    repeats=repeats,
                    memory=times > 1,
                )
            )
    return rows


def synthetic(n: int, seed: int | None = 0) -> tuple[np.ndarray, np.ndarray]:
    X, y = make_classification(
        n, 500, n_informative=10, n_redundant=10, n_clusters_per_class=1, shuffle=False, random_state=0
    )
    order = np.arange(n) if seed is None else np.random.default_rng(seed).permutation(n)
    return X[order], y[order]


def settling(quick: bool) -> None:
    """Property 3: do rankings come to rest?"""
    X, y = synthetic(1000 if quick else 10_000)
    n_passes = 2 if quick else 10
    print(f"\nProperty 3: ranking of 500 features from batch to batch, {n_passes} passes over {len(X):,} rows")
    print(f"{'':10}  {'batches':>9}  {'rank correlation':>16}  {'ranks moved':>11}  {'of the top 20':>13}  new top ten")
    for name in ("FIRES-GLM", "FIRES-SDT"):
        selector, ranks, tops = SELECTORS[name](10), [], []
        for start in itertools.chain.from_iterable(itertools.repeat(range(0, len(X), 100), n_passes)):
            selector.partial_fit(X[start : start + 100], y[start : start + 100])
            ranks.append(rankdata(-selector.weights_, method="ordinal"))
            tops.append(frozenset(selector.get_support(indices=True).tolist()))
        for part in np.array_split(np.arange(1, len(ranks)), 4):
            moved = [np.abs(ranks[t] - ranks[t - 1]) for t in part]
            top = [m[ranks[t] <= 20].mean() for t, m in zip(part, moved)]
            alike = np.mean([spearmanr(ranks[t], ranks[t - 1]).statistic for t in part])
            changes = sum(tops[t] != tops[t - 1] for t in part)
            print(
                f"{name:10}  {part[0]:4}-{part[-1]:4}  {alike:16.5f}  {np.mean(moved):11.3f}  "
                f"{np.mean(top):13.3f}  {changes:11}"
            )


def orders(quick: bool) -> None:
    """How much one order of the rows says."""
    X, y = synthetic(1000 if quick else 10_000, None)
    n_orders = 3 if quick else 50
    print(f"\nPerceptron on ten of 500 features, {n_orders} orders of {len(X):,} rows; authors': in the first order")
    print(f"{'':21}  authors'  ours, first  mean, 95% interval             s.d.    least   most    reach theirs")
    for scaled, published in IN_ONE_ORDER.items():
        data = (X - X.min(axis=0)) / np.ptp(X, axis=0) if scaled else X
        found: dict[str, list[float]] = {name: [] for name in published}
        for seed in range(n_orders):
            order = np.random.default_rng(seed).permutation(len(X))
            for name, selector in zip(found, (FIRES(10), None)):
                run = prequential(selector, Perceptron(), data[order], y[order])
                found[name].append(run.mean_accuracy)
        ours, every = found.values()
        for name, reached in {**found, "difference": np.subtract(ours, every)}.items():
            theirs = published.get(name, published["FIRES-GLM"] - published["all features"])
            shown = f"{name}{', scaled' if scaled else ''}"
            print(
                f"{shown:21}  {theirs:8.3f}  {reached[0]:11.4f}  {mean_interval(reached)!s:29}  "
                f"{np.std(reached, ddof=1):.4f}  {min(reached):.4f}  {max(reached):.4f}  "
                f"{sum(round(value, 3) >= round(theirs, 3) for value in reached)} of {n_orders}"
            )


def load(name: str, folder: Path | None, n_rows: int) -> tuple[np.ndarray, np.ndarray] | None:
    file = None if folder is None else folder / f"{name}.npz"
    if file is None or not file.exists():
        return None
    with np.load(file, allow_pickle=False) as data:
        X, y = data["X"], data["y"]
    if name == "mnist":
        X, y = X[:n_rows], y[:n_rows] == 3
    X = X.astype(np.float64)
    width = np.ptp(X, axis=0)
    return (X - X.min(axis=0)) / np.where(width > 0, width, 1), y


def protocol(data: str, X: np.ndarray, y: np.ndarray, selector: str) -> Result:
    runs = [
        prequential(SELECTORS[selector](fraction), Perceptron(), X, y, batch_size=batch)
        for batch, fraction in itertools.product(BATCHES, FRACTIONS)
    ]
    published = PUBLISHED.get((data, selector))
    means = (np.mean([getattr(run, what) for run in runs]) for what in ("mean_accuracy", "mean_stability"))
    return Result(data, selector, *means, 1e3 * np.mean([run.mean_seconds for run in runs]), published)


def show(result: Result) -> Result:
    shown = [f"{result.accuracy:.3f}", f"{result.stability:.3f}", f"{result.ms:.1f}"]
    if result.published is not None:
        theirs = [f"{result.published[0]:.3f}", f"{result.published[1]:.3f}", f"{result.published[2]:.1f}"]
        shown = [f"{mine} ({other})" for mine, other in zip(shown, theirs)]
    print(f"{result.data:20} {result.selector:10}  {shown[0]:>13}  {shown[1]:>13}  {shown[2]:>14}", flush=True)
    return result


def experiments(quick: bool, folder: Path | None, n_rows: int) -> list[Result]:
    print("\nPrequential perceptron, ours (published)")
    print(f"{'':20} {'':10}  {'accuracy':>13}  {'stability':>13}  {'ms a batch':>14}")
    if quick:
        X, y = synthetic(1000)
        results = [show(protocol("synthetic", X[:, :30], y, name)) for name in ("FIRES-GLM", "OFS", "FSDS")]
        print("The real sets are left out of a quick run.")
        return results
    results = []
    for name in SETS:
        given = load(name, folder, n_rows)
        if given is None:
            absent(name)
            continue
        results += [show(protocol(name, *given, selector)) for selector in SELECTORS]
    return results


def main() -> None:
    made = parser(__doc__)
    add_data_option(made)
    made.add_argument("--parts", nargs="+", choices=PARTS, default=PARTS, help="only these (default all)")
    made.add_argument("--rows", type=int, default=5000, help="rows of mnist that are used (default 5000)")
    arguments = made.parse_args()
    quick, parts = arguments.quick, arguments.parts
    rows = steps(quick, 1 if quick else arguments.repeats) if "steps" in parts else []
    if rows:
        report(rows)
    if "settling" in parts:
        settling(quick)
    if "orders" in parts:
        orders(quick)
    results = experiments(quick, data_folder(arguments), arguments.rows) if "experiments" in parts else []
    if arguments.json is not None:
        written = [asdict(row) for row in rows]
        for result in results:
            row = Row(f"{result.data}, {result.selector}", result.ms / 1e3, None, None, None, None)
            written.append({**asdict(row), **result._asdict()})
        write_json(written, arguments.json)


if __name__ == "__main__":
    main()
