"""A score with its precision: accuracy of language models over a whole benchmark, from few of its items.

    python benchmarks/ability.py [--data DIR] [--lengths K ...] [--json FILE] [--quick]

Answers of 320 language models to 735 questions of ARC (items/arc_items.npz): learnt from 256, judged on 64, five folds.
Mean absolute error of `exams.estimate`; of the same estimate from random items; of one ability alone (a 2PL bank, most
information next); and from random items with that. Then the share of the intervals of 95% that hold, and their width.
What can be chosen (shares of answers that differ, cells of the score) was chosen on the folds 0 and 1: *judged* is the
mean of the folds 2, 3 and 4.
"""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import numpy as np
from _common import parser, write_json
from _real import absent, add_data_option, data_folder
from sklearn.model_selection import KFold

from seqclass.exams import ItemResponse, estimate

#: Orders of random items.
SEEDS = 3


def random_items(plan: Any, X: np.ndarray, length: int) -> np.ndarray:
    """Absolute errors of a plan's estimate from random items, (n,)."""
    errors = []
    for seed in range(SEEDS):
        place = np.random.default_rng(seed).random(X.shape).argsort(axis=1).argsort(axis=1)
        errors.append(np.abs(plan.scores(np.where(place < length, X, -1)).estimate - X.mean(axis=1)))
    return np.mean(errors, axis=0)


def fold_errors(train: np.ndarray, test: np.ndarray, lengths: list[int]) -> dict[int, dict[str, np.ndarray]]:
    """Errors, and whether intervals hold, of each model of a fold, by length."""
    bank = ItemResponse("2PL", cuts=[0.0], standard_errors=False).fit(train, n_outcomes=2)
    true, result = test.mean(axis=1), {}
    for length in lengths:
        began = time.process_time()
        plan, plain = estimate(bank, train, max_items=length), estimate(bank, max_items=length)
        scores, seconds = plan.acquire(test), time.process_time() - began
        result[length] = {
            "ours": np.abs(scores.estimate - true),
            "random items": random_items(plan, test, length),
            "one ability": np.abs(plain.acquire(test).estimate - true),
            "one ability, random items": random_items(plain, test, length),
            "holds": (scores.lower <= true) & (true <= scores.upper),
            "width": scores.upper - scores.lower,
            "seconds": np.full(len(test), seconds),
        }
    return result


def main() -> None:
    made = parser(__doc__)
    add_data_option(made)
    made.add_argument("--lengths", nargs="+", type=int, default=[10, 30, 60, 88])
    arguments = made.parse_args()
    folder = data_folder(arguments)
    file = folder / "items" / "arc_items.npz" if folder else Path()
    if arguments.quick:  # answers of descendants of five models
        rng = np.random.default_rng(0)
        X = ((rng.random((5, 30)) < 0.6)[rng.integers(0, 5, 60)] ^ (rng.random((60, 30)) < 0.1)).astype(int)
        arguments.lengths = [5]
    elif not file.is_file():
        absent("arc", "items/arc_items.npz")
        return
    else:
        with np.load(file, allow_pickle=False) as data:
            X = data["X"].astype(int)
    splits = KFold(5, shuffle=True, random_state=0).split(X)
    folds = [fold_errors(X[train], X[test], arguments.lengths) for train, test in splits]
    rows = []
    for length in arguments.lengths:
        for name, some in (("all folds", folds), ("judged", folds[2:])):
            parts = {key: np.concatenate([fold[length][key] for fold in some]) for key in some[0][length]}
            figures = {key: float(part.mean()) for key, part in parts.items()}
            figures["half_width"] = 1.96 * float(parts["ours"].std(ddof=1)) / len(parts["ours"]) ** 0.5
            line = {"name": f"{length} items, {name}", "ours_s": figures.pop("seconds")}
            rows.append(line | dict.fromkeys(("peer", "peer_s", "ratio", "peak_mb")) | figures)
            print(rows[-1]["name"], ", ".join(f"{key} {value:.4f}" for key, value in figures.items()), flush=True)
    if arguments.json:
        write_json(rows, arguments.json)


if __name__ == "__main__":
    main()
