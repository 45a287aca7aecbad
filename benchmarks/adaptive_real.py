"""Any question next on real data: the recipes with order="adaptive" beside their fixed order, on the same folds.

    python benchmarks/adaptive_real.py [--data DIR] [--sets SET ...] [--recipes etana ifc2f] [--json FILE] [--quick]

Prices 0.01, folds as in real_data.py. Realised cost, accuracy, features, what the model itself expected, seconds of the
slowest fit, and the rules chosen. Where there are several folds the difference of the realised costs, adaptive less
fixed, with its 95% interval, corrected for folds that share training rows, and its standard error without correction.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable
from typing import Any

import numpy as np
from _common import parser, write_json
from _real import Data, add_data_option, each_set

from seqclass import etana, ifc2f
from seqclass.stats import paired_t_test

PRICE = 0.01
RECIPES: dict[str, Callable[..., Any]] = {"etana": etana, "ifc2f": ifc2f}
SETS = ["breast_cancer", "digits", "spambase", "colon_disc", "mll 5-fold", "mll split", "madelon"]
Fold = dict[str, Any]


def run(make: Callable[[], Any], data: Data) -> list[Fold]:
    X, y, splits = data
    found = []
    for train, test in splits:
        began = time.perf_counter()
        clf = make().fit(X[train], y[train])
        seconds = time.perf_counter() - began
        record = clf.acquire(X[test])
        wrong = record.decision != y[test]
        fold = {
            "cost": float((wrong + record.paid).mean()),
            "accuracy": float(1 - wrong.mean()),
            "features": float(record.n_features.mean()),
            "expected": clf.policy_.info.upper,
            "seconds": seconds,
            "chosen": "" if clf.ordering_ is None else clf.ordering_.chosen,
            "weight": len(test),
        }
        found.append(fold)
    return found


def over(folds: list[Fold], name: str) -> float:
    return float(np.average([fold[name] for fold in folds], weights=[fold["weight"] for fold in folds]))


def difference(fixed: list[Fold], adaptive: list[Fold]) -> dict[str, float]:
    """Adaptive less fixed over the folds, its standard error and corrected interval; empty for one fold."""
    if len(fixed) < 2:
        return {}
    costs = [[fold["cost"] for fold in folds] for folds in (adaptive, fixed)]
    test = paired_t_test(*costs, test_to_train=1 / 4)
    assert test.interval is not None
    error = np.std(np.subtract(*costs), ddof=1) / np.sqrt(len(fixed))
    return {"difference": test.difference, "std_error": float(error), "low": test.interval[0], "high": test.interval[1]}


def row(name: str, folds: list[Fold], more: dict[str, float]) -> dict[str, Any]:
    means = {key: over(folds, key) for key in ("cost", "accuracy", "features", "expected")}
    chosen = ", ".join(f"{rule} {n}x" for rule, n in Counter(fold["chosen"] for fold in folds).items() if rule)
    seconds = max(fold["seconds"] for fold in folds)
    shown = ""
    if more:
        shown = f"{more['difference']:+.4f} (se {more['std_error']:.4f}; {more['low']:+.4f} to {more['high']:+.4f})"
    print(
        f"{name:34} {means['cost']:7.4f} {means['accuracy']:8.3f} {means['features']:8.2f} {means['expected']:8.4f} "
        f"{seconds:6.1f}  {shown:46} {chosen}",
        flush=True,
    )
    nothing = {"peer": None, "peer_s": None, "ratio": None, "peak_mb": None}
    return {"name": name, "ours_s": seconds, **nothing, **means, **more, "chosen": chosen, "folds": folds}


def main() -> None:
    made = parser(__doc__)
    add_data_option(made)
    made.add_argument("--sets", nargs="+", choices=SETS, default=SETS)
    made.add_argument("--recipes", nargs="+", choices=list(RECIPES), default=list(RECIPES))
    arguments = made.parse_args()
    rows = []
    titles = ("data, recipe", "cost", "accuracy", "features", "expected", "fit s")
    print("{:34} {:>7} {:>8} {:>8} {:>8} {:>6}  adaptive - fixed".format(*titles))
    for name, data in each_set(arguments):
        if arguments.quick:  # six measurements of some patients
            X, y, splits = data
            data = X[:, :6], y, [(splits[0][0][::4], splits[0][1])]
        for recipe in ["etana"] if arguments.quick else arguments.recipes:
            make = RECIPES[recipe]
            fixed = run(lambda make=make: make(PRICE), data)
            rows.append(row(f"{name}, {recipe}", fixed, {}))
            adaptive = run(lambda make=make: make(PRICE, order="adaptive"), data)
            rows.append(row(f"{name}, {recipe}, adaptive", adaptive, difference(fixed, adaptive)))
    if arguments.json:
        write_json(rows, arguments.json)


if __name__ == "__main__":
    main()
