"""What `seqclass.adaptive` tries and chooses on real data, and what that costs on rows held out.

    python benchmarks/chosen.py [--data DIR] [--sets SET ...] [--effort EFFORT] [--price P] [--json FILE] [--quick]

One fit to all rows of a set: the table of candidates on five stratified folds (those of real_data.py), the cost of the
choice itself, each fold decided by what the other folds choose, the linear yardstick, and seconds of CPU.
"""

from __future__ import annotations

import time
import warnings
from dataclasses import asdict

from _common import parser, write_json
from _real import CHOICE_SETS, LABELS, add_data_option, each_set

import seqclass


def main() -> None:
    made = parser(__doc__)
    add_data_option(made)
    made.add_argument("--sets", nargs="+", default=[*CHOICE_SETS, *LABELS])
    made.add_argument("--effort", default="thorough")
    made.add_argument("--price", type=float, default=0.01)
    arguments = made.parse_args()
    warnings.simplefilter("ignore")  # where nothing is worth buying, the table says so
    rows = []
    for name, data in each_set(arguments, "5-fold"):
        X, y, _ = data
        effort = "quick" if arguments.quick else arguments.effort
        if arguments.quick:  # three measurements of some patients
            X, y = X[::5, :3], y[::5]
        began = time.process_time()
        clf = seqclass.adaptive(arguments.price, effort=effort).fit(X, y, held_out=5)
        seconds, held = time.process_time() - began, clf.held_out_
        lower, upper = held.cost_interval
        print(f"\n{name}, {X.shape[0]} rows, {X.shape[1]} features, {seconds:.0f} s of CPU\n{clf.choice_}")
        print(
            f"the choice itself {held.cost:.4f} ({lower:.4f} to {upper:.4f}), expected {held.expected_cost:.4f}, "
            f"a linear model {held.linear.cost:.4f}",
            flush=True,
        )
        row = {"name": name, "ours_s": seconds, "peer": None, "peer_s": None, "ratio": None, "peak_mb": None}
        row |= {"chosen": clf.choice_.chosen, "candidates": [asdict(c) for c in clf.choice_.candidates]}
        rows.append(row | {"held_out": held.record()})
    if arguments.json:
        write_json(rows, arguments.json)


if __name__ == "__main__":
    main()
