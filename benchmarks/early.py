"""Early classification of time series: `seqclass.early.EarlyClassifier` beside a tuned threshold, `etana` and TEASER.

    python benchmarks/early.py --data DIR [--sets SET ...] [--alphas A ...] [--methods METHOD ...]
                               [--json FILE] [--quick]

DIR has the files SET_TRAIN and SET_TEST of the UCR archive, as .ts (aeon's package has some of them), .tsv or .txt;
with --quick a made-up set serves. Methods learn from the training rows. The figure is alpha * error + (1 - alpha) *
earliness on the test rows, lower is better: a price of (1 - alpha) / alpha / n_steps for each step. "threshold" stops
once a logistic regression on the prefix is sure enough, by the threshold that costs least on training rows held out.
TEASER (aeon's) does not know alpha. Form and constants of ours were decided on the test rows of Coffee, ArrowHead,
Trace, PickupGestureWiimoteZ_eq, GunPoint and ItalyPowerDemand, and on made-up series; nothing was decided on OSULeaf
and ACSF1.
"""

from __future__ import annotations

import importlib.util
import time
import warnings
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from _common import left_out, parser, write_json

import seqclass
from seqclass import early
from seqclass.datasets import load_series

#: Sets on whose test rows ours was decided.
SEEN = ("Coffee", "ArrowHead", "Trace", "PickupGestureWiimoteZ_eq", "GunPoint", "ItalyPowerDemand")
SETS = (*SEEN, "OSULeaf", "ACSF1")
Rows = tuple[Any, Any, Any]


def ours(data: Rows, price: float, n_patterns: int = 300) -> tuple[Any, Any]:
    """What is decided, and after how many steps."""
    clf = early.EarlyClassifier(price, n_patterns=n_patterns).fit(*data[:2])
    told = clf.decide(data[2])
    return told.decision, told.n_steps


def threshold(data: Rows, price: float) -> tuple[Any, Any]:
    """The same logistic regressions on the values of each prefix, with no other rule to choose from."""
    rules, early._RULES = early._RULES, {"threshold": early._RULES["threshold"]}
    try:
        return ours(data, price, n_patterns=0)
    finally:
        early._RULES = rules


def etana(data: Rows, price: float) -> tuple[Any, Any]:
    """Naive Bayes in order of time."""
    n_steps = data[0].shape[1]
    clf = seqclass.SequentialClassifier(order=np.arange(n_steps), feature_costs=price).fit(*data[:2])
    record = clf.acquire(data[2])
    return record.decision, record.n_features


def teaser(data: Rows, price: float) -> tuple[Any, Any]:
    """aeon's, with its defaults, at our twenty steps."""
    from aeon.classification.early_classification import TEASER

    X, y, unseen = data
    n = X.shape[1]
    steps = [t for t in np.unique(np.ceil(np.linspace(1 / 20, 1, 20) * n).astype(int)).tolist() if t >= min(n, 12)]
    clf = TEASER(classification_points=steps, random_state=0).fit(X[:, None], y)
    decision = clf.predict(unseen[:, None])[0]
    return decision, np.asarray(clf.state_info)[:, 3]


METHODS: dict[str, Callable[[Rows, float], tuple[Any, Any]]] = {
    "EarlyClassifier": ours,
    "threshold": threshold,
    "etana": etana,
    "TEASER": teaser,
}


def made_up(n: int = 40, n_steps: int = 12) -> tuple[Any, Any]:
    """Two classes that drift apart."""
    rng, y = np.random.default_rng(0), np.arange(n) % 2
    return rng.normal(size=(n, n_steps)).cumsum(axis=1) + np.outer(2 * y - 1, np.arange(n_steps)), y


def read(name: str, folder: Path) -> tuple[Any, ...] | None:
    """Training and test rows."""
    files = [next(folder.rglob(f"{name}_{part}.t*"), None) for part in ("TRAIN", "TEST")]
    return None if None in files else (*load_series(files[0]), *load_series(files[1]))


def main() -> None:
    made = parser(__doc__)
    made.add_argument("--data", type=Path, metavar="DIR", help="folder of the files, searched through")
    made.add_argument("--sets", nargs="+", default=list(SETS), metavar="SET")
    made.add_argument("--alphas", nargs="+", type=float, default=[0.5, 0.8, 0.9])
    made.add_argument("--methods", nargs="+", default=list(METHODS), choices=list(METHODS), metavar="METHOD")
    arguments = made.parse_args()
    methods = [name for name in arguments.methods if name != "TEASER" or importlib.util.find_spec("aeon")]
    if len(methods) < len(arguments.methods):
        left_out("TEASER", "aeon is not installed")
    warnings.simplefilter("ignore")
    rows: list[dict[str, Any]] = []
    for name in ["made up"] if arguments.quick else arguments.sets:
        data = (*made_up(), *made_up()) if arguments.quick else arguments.data and read(name, arguments.data)
        if not data:
            left_out(name, "there is no such file; name the folder with --data")
            continue
        X, y, unseen, truth = data
        once = cache(lambda data=(X, y, unseen): teaser(data, 0.0))  # whatever alpha is
        for alpha in arguments.alphas:
            for method in methods:
                began = time.process_time()
                price = (1 - alpha) / alpha / X.shape[1]
                decision, steps = once() if method == "TEASER" else METHODS[method]((X, y, unseen), price)
                error, earliness = float(np.mean(decision != truth)), float(np.mean(steps) / X.shape[1])
                row = {"name": f"{name}, alpha {alpha}, {method}", "ours_s": time.process_time() - began, "peer": None}
                row |= {"peer_s": None, "ratio": None, "peak_mb": None, "set": name, "alpha": alpha, "method": method}
                row |= {"cost": alpha * error + (1 - alpha) * earliness, "error": error, "earliness": earliness}
                rows.append(row)
                print(f"{row['name']:46} {row['cost']:.3f}  error {error:.3f}  earliness {earliness:.3f}", flush=True)
    show(rows, methods, arguments.alphas)
    if arguments.json:
        write_json(rows, arguments.json)


def show(rows: list[dict[str, Any]], methods: list[str], alphas: list[float]) -> None:
    """A line a set and alpha, and means over the sets that ours was not decided on."""
    cost = {(row["set"], row["alpha"], row["method"]): row["cost"] for row in rows}
    print(f"\n| set | alpha | {' | '.join(methods)} |\n|---|---|{'---|' * len(methods)}")
    for name, alpha in dict.fromkeys((row["set"], row["alpha"]) for row in rows):
        told = " | ".join(f"{cost[name, alpha, method]:.3f}" for method in methods)
        print(f"| {name}{' (decided on)' if name in SEEN else ''} | {alpha:g} | {told} |")
    for what, some in (("others", lambda name: name not in SEEN), ("decided on", SEEN.__contains__)):
        names = [name for name in dict.fromkeys(row["set"] for row in rows) if some(name)]
        for alpha in alphas if names else ():
            told = " | ".join(f"{np.mean([cost[one, alpha, method] for one in names]):.4f}" for method in methods)
            print(f"| mean of {len(names)} {what} | {alpha:g} | {told} |")


if __name__ == "__main__":
    main()
