"""What streams whose rows change cost: fits that follow, beside none, windows, counts that fade, and river's learners.

    python benchmarks/drift.py [--streams STREAM ...] [--methods METHOD ...] [--seeds N] [--price P] [--data DIR]
        [--json FILE]

All methods learn from the first 200 rows, and then decide, batch by batch of 50, before they are told the labels of the
batch. A case costs the prices of its features and 1 for a wrong decision; river's learners buy all columns, or the five
that tell most about the class in the first 200 rows. The generated streams have 6000 rows, means are over seeds:

- stationary: a plane through ten columns, which stays;
- plane, abrupt: the plane becomes another one every 1500 rows;
- plane, slow: the plane turns all the time;
- sea: the sum of two columns of ten is below a threshold, which changes every 1500 rows;
- columns, abrupt: the class shows in three columns of twelve, and in three others from row 3000 on;
- words: 3000 messages of three topics in 60 words, of which two interest the reader, others every 600 rows;
- usenet1, kdd: real ones, in the order of their files.

SAOLA and FIRES choose columns anew before each fit.

An alarm is false where nothing has changed since the one before it, or since the start.
"""

from __future__ import annotations

import importlib.util
import time
import warnings
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from _common import left_out, parser, write_json
from _real import absent, add_data_option, data_folder
from sklearn.feature_selection import mutual_info_classif

import seqclass
from seqclass import SequentialClassifier, datasets
from seqclass.bn import TreeNetwork
from seqclass.discretize import Discretizer
from seqclass.drift import Followed, follow
from seqclass.selection import FIRES, SAOLA
from seqclass.stats import mean_interval

START, BATCH, ROWS = 200, 50, 6000


class Stream(NamedTuple):
    """Rows in order of time, and before which of them something changed; None where nobody knows."""

    X: np.ndarray
    y: np.ndarray
    changes: tuple[int, ...] | None


class Ran(NamedTuple):
    """What a method did: cost of each case, whether it was wrong, features, alarms, fits and seconds."""

    cost: np.ndarray
    wrong: np.ndarray
    features: float
    alarms: np.ndarray
    fits: int
    seconds: float


def _noisy(y: np.ndarray, share: float, rng: np.random.Generator) -> np.ndarray:
    return np.where(rng.random(len(y)) < share, 1 - y, y).astype(int)


def _plane(rng: np.random.Generator, n: int, weights: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    X = rng.random((n, weights.shape[1]))
    return X, _noisy(((X - 0.5) * weights).sum(axis=1) > 0, 0.05, rng)


def stationary(seed: int, n: int) -> Stream:
    rng = np.random.default_rng(seed)
    return Stream(*_plane(rng, n, np.repeat(rng.normal(size=(1, 10)), n, axis=0)), ())


def plane_abrupt(seed: int, n: int) -> Stream:
    rng, at = np.random.default_rng(seed), tuple(range(n // 4, n, n // 4))[:3]
    return Stream(*_plane(rng, n, rng.normal(size=(4, 10))[np.searchsorted(at, np.arange(n), side="right")]), at)


def plane_slow(seed: int, n: int) -> Stream:
    rng, angle = np.random.default_rng(seed), np.linspace(0, np.pi, n)[:, None]
    one, other = rng.normal(size=(2, 10))
    return Stream(*_plane(rng, n, np.cos(angle) * one + np.sin(angle) * other), None)


def sea(seed: int, n: int) -> Stream:
    rng, at = np.random.default_rng(seed), tuple(range(n // 4, n, n // 4))[:3]
    X = 10 * rng.random((n, 10))
    below = np.array([8.0, 12.0, 7.0, 11.0])[np.searchsorted(at, np.arange(n), side="right")]
    return Stream(X, _noisy(X[:, 0] + X[:, 1] < below, 0.1, rng), at)


def columns_abrupt(seed: int, n: int) -> Stream:
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 2, n)
    X = rng.normal(size=(n, 12))
    X[: n // 2, :3] += y[: n // 2, None]
    X[n // 2 :, 6:9] += y[n // 2 :, None]
    return Stream(X, y, (n // 2,))


def words(seed: int, n: int) -> Stream:
    rng, n = np.random.default_rng(seed), n // 2
    at = tuple(range(n // 5, n, n // 5))[:4]
    topic = rng.integers(0, 3, n)
    often = rng.beta(0.5, 8, size=(3, 60))
    left_alone = (np.searchsorted(at, np.arange(n), side="right")) % 3
    return Stream((rng.random((n, 60)) < often[topic]).astype(float), _noisy(topic != left_alone, 0.02, rng), at)


GENERATED: dict[str, Callable[[int, int], Stream]] = {
    "stationary": stationary,
    "plane abrupt": plane_abrupt,
    "plane slow": plane_slow,
    "sea": sea,
    "columns abrupt": columns_abrupt,
    "words": words,
}
REAL = {"usenet1": "usenet1", "kdd": "kdd_pystreamfs10k"}


def real(name: str, folder: Any) -> Stream | None:
    if REAL[name] not in datasets.list_datasets(folder):
        return None
    data = datasets.load(REAL[name], folder)
    y = np.unique(data.y, return_inverse=True)[1]
    return Stream(np.asarray(data.X, dtype=float), y, (300, 600, 900, 1200) if name == "usenet1" else None)


def _ran(done: Followed) -> Ran:
    cost = done.prices + done.decision_costs
    return Ran(cost, done.decision_costs > 0, float(done.n_features.mean()), done.alarms, len(done.fits), done.seconds)


def never(clf: Any, stream: Stream, **how: Any) -> Ran:
    """Without alarms, and as many fits as there are said to be."""
    return _ran(
        follow(clf, stream.X, stream.y, start=START, batch_size=BATCH, margin=1, growth=np.inf, recent=None, **how)
    )


def fading(stream: Stream, price: float, half_life: float) -> Ran:
    """Counts that fade: the bins of the first rows, and a plan after each batch."""
    began, X, y = time.perf_counter(), stream.X, stream.y
    bins = Discretizer().fit(X[:START], y[:START])
    clf = SequentialClassifier(discretizer=bins, feature_costs=price, half_life=half_life)
    clf.partial_fit(X[:START], y[:START], classes=np.unique(y))
    parts = []
    for at in range(START, len(y), BATCH):
        rows = slice(at, at + BATCH)
        record = clf.acquire(X[rows])
        parts.append((record.paid, record.decision != y[rows], record.n_features))
        clf.partial_fit(X[rows], y[rows])
    prices, wrong, features = (np.concatenate(part) for part in zip(*parts))
    seconds = time.perf_counter() - began
    return Ran(prices + wrong, wrong, float(features.mean()), np.array([], dtype=int), len(parts) + 1, seconds)


def by_river(stream: Stream, price: float, make: Callable[[], Any], best: int | None) -> Ran:
    """One of river's learners, row by row, which buys all columns or those that tell most in the first rows."""
    began, X, y = time.perf_counter(), stream.X, stream.y
    if best is not None:
        told = mutual_info_classif(X[:START], y[:START], random_state=0)
        X = X[:, np.sort(np.argsort(-told)[:best])]
    learner, rows = make(), [dict(enumerate(row)) for row in X.tolist()]
    for row, label in zip(rows[:START], y[:START].tolist()):
        learner.learn_one(row, label)
    wrong = []
    for at in range(START, len(y), BATCH):
        batch = range(at, min(at + BATCH, len(y)))
        wrong += [learner.predict_one(rows[i]) != y[i] for i in batch]
        for i in batch:
            learner.learn_one(rows[i], int(y[i]))
    lost = np.array(wrong, dtype=float)
    paid, none = price * X.shape[1], np.array([], dtype=int)
    return Ran(lost + paid, lost > 0, float(X.shape[1]), none, 0, time.perf_counter() - began)


def _hoeffding() -> Any:
    from river import tree

    return tree.HoeffdingAdaptiveTreeClassifier(seed=0)


def _forest() -> Any:
    from river import forest

    return forest.ARFClassifier(seed=0)


def _counts() -> Any:
    from river import naive_bayes

    return naive_bayes.GaussianNB()


def _tree(price: float) -> SequentialClassifier:
    return SequentialClassifier(TreeNetwork("forest"), feature_costs=price)


def selected(stream: Stream, price: float, selector: Any) -> Ran:
    """Of columns that are chosen anew before each fit."""
    return _ran(follow(SequentialClassifier(selector=selector, feature_costs=price), stream.X, stream.y))


OURS: dict[str, Callable[[Stream, float], Ran]] = {
    "static": lambda stream, price: never(seqclass.etana(price), stream),
    "window 300": lambda stream, price: never(seqclass.etana(price), stream, window=300),
    "window 1000": lambda stream, price: never(seqclass.etana(price), stream, window=1000),
    "half-life 200": lambda stream, price: fading(stream, price, 200),
    "follow": lambda stream, price: _ran(follow(seqclass.etana(price), stream.X, stream.y)),
    "follow, no challenger": lambda stream, price: _ran(follow(seqclass.etana(price), stream.X, stream.y, recent=None)),
    "follow, SAOLA": lambda stream, price: selected(stream, price, SAOLA()),
    "follow, FIRES": lambda stream, price: selected(stream, price, FIRES(10, scale="minmax", n_epochs=20)),
    "follow, forest": lambda stream, price: _ran(follow(_tree(price), stream.X, stream.y)),
}
RIVER: dict[str, tuple[Callable[[], Any], int | None]] = {
    "river GaussianNB": (_counts, None),
    "river adaptive tree": (_hoeffding, None),
    "river adaptive forest": (_forest, None),
    "river adaptive tree, 5 columns": (_hoeffding, 5),
    "river adaptive forest, 5 columns": (_forest, 5),
}


def false_alarms(alarms: np.ndarray, changes: tuple[int, ...] | None) -> float:
    """Alarms since whose predecessor nothing has changed; NaN where nobody knows."""
    if changes is None:
        return float("nan")
    since = np.append([0], alarms)
    return float(sum(not any(low < at <= high for at in changes) for low, high in zip(since, alarms)))


def main() -> None:
    made = parser(__doc__)
    add_data_option(made)
    names, methods = [*GENERATED, *REAL], [*OURS, *RIVER]
    made.add_argument("--streams", nargs="+", default=names, choices=names, metavar="STREAM")
    made.add_argument("--methods", nargs="+", default=methods, choices=methods, metavar="METHOD")
    made.add_argument("--seeds", type=int, default=3, help="of each generated stream (default 3)")
    made.add_argument("--price", type=float, default=0.01)
    arguments = made.parse_args()
    if arguments.quick:
        arguments.streams, arguments.methods, arguments.seeds = ["columns abrupt"], ["static", "follow"], 1
    if importlib.util.find_spec("river") is None and set(arguments.methods) & set(RIVER):
        left_out("river's learners", "river is not installed")
        arguments.methods = [name for name in arguments.methods if name in OURS]
    warnings.simplefilter("ignore")  # where nothing is worth buying, the costs say so
    rows: list[dict[str, Any]] = []
    for name in arguments.streams:
        if name in GENERATED:
            streams = [GENERATED[name](seed, 1000 if arguments.quick else ROWS) for seed in range(arguments.seeds)]
        elif (stream := real(name, data_folder(arguments))) is not None:
            streams = [stream]
        else:
            absent(name, f"{REAL[name]}.npz")
            continue
        rows += judged(name, streams, arguments.methods, arguments.price)
    if arguments.json:
        write_json(rows, arguments.json)


def judged(name: str, streams: list[Stream], methods: list[str], price: float) -> list[dict[str, Any]]:
    """Run methods on streams of one kind, and print and give what they cost."""
    print(f"\n{name}: {len(streams)} of {len(streams[0].y)} rows and {streams[0].X.shape[1]} columns, price {price:g}")
    print(
        f"{'':34}{'cost':>7}{'error':>7}{'features':>9}{'alarms':>7}{'false':>6}{'fits':>6}{'s':>7}   apart from first"
    )
    first, rows = None, []
    for method in methods:
        if method in OURS:
            ran = [OURS[method](stream, price) for stream in streams]
        else:
            ran = [by_river(stream, price, *RIVER[method]) for stream in streams]
        costs = np.concatenate([one.cost for one in ran])
        parts = np.array([part.mean() for one in ran for part in np.array_split(one.cost, len(one.cost) // BATCH)])
        first = parts if first is None else first
        figures = {
            "cost": float(costs.mean()),
            "error": float(np.concatenate([one.wrong for one in ran]).mean()),
            "features": float(np.mean([one.features for one in ran])),
            "alarms": float(np.mean([len(one.alarms) for one in ran])),
            "false": float(np.mean([false_alarms(one.alarms, s.changes) for one, s in zip(ran, streams)])),
            "fits": float(np.mean([one.fits for one in ran])),
        }
        seconds = float(np.mean([one.seconds for one in ran]))
        apart = "" if method == methods[0] else str(mean_interval(parts - first))
        told = "".join(f"{figures[key]:{width}}" for key, width in WIDTHS.items())
        print(f"{method:34}{told}{seconds:7.1f}   {apart}", flush=True)
        row = {"name": f"{name}, {method}", "ours_s": seconds, "peer": None, "peer_s": None, "ratio": None}
        known = {key: value for key, value in figures.items() if not np.isnan(value)}
        rows.append(row | {"peak_mb": None} | dict.fromkeys(figures) | known)
    return rows


WIDTHS = {"cost": "7.3f", "error": "7.3f", "features": "9.2f", "alarms": "7.1f", "false": "6.1f", "fits": "6.0f"}

if __name__ == "__main__":
    main()
