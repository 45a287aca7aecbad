"""How near ``adaptive(...).held_out_`` comes to what the classifier then costs on rows that were kept apart all along.

    python benchmarks/outer.py [--data DIR] [--sets SET ...] [--splits N] [--rows N] [--effort EFFORT] [--json FILE]

Of each set half the rows, at most ``--rows``, are fitted to, the choice among candidates included; at most 3000 of the
others are decided. The two costs agree if they differ by no more than 1.96 of their combined standard errors; that of
the held-out cost is a quarter of the width of its interval, and the other that of a mean.
"""

from __future__ import annotations

import time
import warnings
from typing import Any

import numpy as np
from _common import parser, write_json
from _real import CHOICE_SETS, add_data_option, each_set

import seqclass

MOST_DECIDED = 3000


def split(y: np.ndarray, most: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Half the rows of each class, at most so many in all, and the others."""
    order = rng.permutation(len(y))
    rank = np.empty(len(y), dtype=int)
    share = min(0.5, most / len(y))
    for label in np.unique(y):
        rows = order[y[order] == label]
        rank[rows] = np.arange(len(rows)) >= max(2, round(share * len(rows)))
    return order[rank[order] == 0], order[rank[order] == 1][:MOST_DECIDED]


def main() -> None:
    made = parser(__doc__)
    add_data_option(made)
    made.add_argument("--sets", nargs="+", default=CHOICE_SETS)
    made.add_argument("--splits", type=int, default=11)
    made.add_argument("--rows", type=int, default=600)
    made.add_argument("--effort", default="quick")
    arguments = made.parse_args()
    warnings.simplefilter("ignore")  # where nothing is worth buying, the costs say so
    rows: list[dict[str, Any]] = []
    for name, data in each_set(arguments, "5-fold"):
        X, y, _ = data
        found = []
        for number in range(2 if arguments.quick else arguments.splits):
            train, test = split(y, 90 if arguments.quick else arguments.rows, np.random.default_rng(number))
            began = time.process_time()
            clf = seqclass.adaptive(0.01, effort=arguments.effort).fit(X[train], y[train])
            seconds, held = time.process_time() - began, clf.held_out_
            record = clf.acquire(X[test])
            costs = record.paid + (record.decision != y[test])
            lower, upper = held.cost_interval
            error = np.hypot((upper - lower) / 3.92, costs.std(ddof=1) / np.sqrt(len(costs)))
            found.append((held.cost, float(costs.mean()), abs(held.cost - costs.mean()) <= 1.96 * error, seconds))
        inner, outer, agrees, took = np.array(found, dtype=float).T
        told = f"held out {inner.mean():.4f}, then {outer.mean():.4f}, {agrees.sum():.0f} of {len(agrees)} agree"
        print(f"{name:18} {told}, {took.mean():.1f} s", flush=True)
        row = {"name": name, "ours_s": float(took.mean()), "peer": None, "peer_s": None, "ratio": None}
        row["peak_mb"] = None
        rows.append(row | {"held_out": inner.tolist(), "then": outer.tolist(), "agree": int(agrees.sum())})
    n = sum(len(row["then"]) for row in rows)
    if n:
        print(f"in all {sum(row['agree'] for row in rows)} of {n}")
    if arguments.json:
        write_json(rows, arguments.json)


if __name__ == "__main__":
    main()
