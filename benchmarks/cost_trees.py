"""Our methods beside optimal cost-sensitive trees (STreeD) on eight sets with prices, groups and dear errors.

    python benchmarks/cost_trees.py [--data DIR] [--methods METHOD ...] [--sets SET ...] [--levels LEVEL ...]
                                    [--splits N] [--json FILE] [--quick]

The sets, their splits and three levels of prices are those that ship with STreeD (costs after Lomax 2013). A score is
100 times the mean cost of the test rows, as a share of all prices (the first of a group in full, the others discounted)
plus the dearest error times the share of the smaller classes. STreeD's own scores, of trees of depth 3 and of depth 4
tuned, are in golden/streed.json beside the data. A p-value is that of a paired t test, corrected for training rows that
splits share (Nadeau and Bengio 2003), of STreeD's depth 3 being no cheaper; Holm's counts all cells.
"""

from __future__ import annotations

import json
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from _common import left_out, parser, write_json
from _real import absent, add_data_option, data_folder
from scipy.stats import t as student

import seqclass
from seqclass import Costs

SETS = ["breast", "car", "diabetes", "flare", "glass", "iris", "tictactoe", "wine"]
LEVELS = ["low", "middle", "high"]
METHODS: dict[str, Callable[..., Any]] = {
    "etana": seqclass.etana,
    "etana calibrated": lambda **more: seqclass.etana(calibrate=True, **more),
    "ifc2f": seqclass.ifc2f,
    "adaptive quick": lambda **more: seqclass.adaptive(effort="quick", **more),
}
PEERS = ["depth3", "depth4-tuned"]
#: The first splits were in sight when the rule was made by which `adaptive` chooses among models.
IN_SIGHT = 5


class Cell:
    """A set at a level of prices."""

    def __init__(self, file: Path, level: str) -> None:
        with np.load(file, allow_pickle=False) as data:
            self.X = pd.DataFrame(data["X"], columns=data["feature_names"].astype(str)).astype("category")
            self.y, self.tests = data["y"], data["test_mask"]
            self.prices, self.discounted = data[f"prices_{level}"], data[f"discounted_{level}"]
            self.decision_costs = data[f"decision_costs_{level}"]
            label = data["group"].astype(str)
        found, number, size = np.unique(label, return_inverse=True, return_counts=True)
        self.groups = [found[g] if size[g] > 1 else None for g in number]

    def settings(self) -> dict[str, Any]:
        """What the methods are told."""
        together: dict[str, Any] = {}
        if any(group is not None for group in self.groups):
            together = {"groups": self.groups, "discounted_costs": self.discounted}
        costs = Costs(self.prices, decision_costs=self.decision_costs, **together)
        return {"feature_costs": costs, "handle_unknown": "missing"}

    def most(self, test: np.ndarray) -> float:
        """What a score is a share of."""
        seen: set[str] = set()
        total = 0.0
        for group, price, again in zip(self.groups, self.prices, self.discounted):
            total += again if group in seen else price
            seen |= {group} - {None}
        rest = 1 - np.bincount(self.y[test]).max() / test.sum()
        return float(total + rest * self.decision_costs.max())

    def score(self, make: Callable[..., Any], test: np.ndarray) -> float:
        """The score of a method on the test rows of a split."""
        clf = make(**self.settings()).fit(self.X[~test], self.y[~test])
        record = clf.acquire(self.X[test])
        cost = record.paid + self.decision_costs[self.y[test], record.decision]
        return 100 * float(cost.mean()) / self.most(test)


def against(ours: np.ndarray, peer: np.ndarray, share: float) -> tuple[float, float, float]:
    """Mean difference, its corrected standard error, and p of the peer being no cheaper."""
    apart = ours - peer
    error = float(np.sqrt((1 / len(apart) + share) * apart.var(ddof=1)))
    p = float(student.sf(apart.mean() / error, len(apart) - 1)) if error else 1.0
    return float(apart.mean()), error, p


def holm(p: list[float]) -> np.ndarray:
    """p-values for all cells together."""
    order, n = np.argsort(p), len(p)
    adjusted = np.empty(n)
    adjusted[order] = np.minimum(1, np.maximum.accumulate(np.sort(p) * np.arange(n, 0, -1)))
    return adjusted


def main() -> None:
    made = parser(__doc__)
    add_data_option(made)
    made.add_argument("--methods", nargs="+", default=list(METHODS), choices=METHODS)
    made.add_argument("--sets", nargs="+", default=SETS)
    made.add_argument("--levels", nargs="+", default=LEVELS)
    made.add_argument("--splits", type=int, default=20)
    arguments = made.parse_args()
    folder = data_folder(arguments)
    golden = None if folder is None else folder.parent / "golden" / "streed.json"
    if golden is None or not golden.exists():
        left_out("STreeD's scores", "no golden/streed.json beside the data")
        return
    peers = json.loads(golden.read_text(encoding="utf-8"))["runs"]
    if arguments.quick:
        arguments.sets, arguments.levels, arguments.splits, arguments.methods = ["iris"], ["low"], 2, ["etana"]
    warnings.simplefilter("ignore")  # where nothing is worth buying, the score says so
    rows: list[dict[str, Any]] = []
    print(f"{'':16}" + "".join(f"{peer:>14}" for peer in PEERS) + "  method: score, above depth 3 (standard error), p")
    for name in arguments.sets:
        file = folder / "costs" / f"{name}.npz" if folder else Path()
        if not file.exists():
            absent(name, f"costs/{name}.npz")
            continue
        for level in arguments.levels:
            rows += _cell(name, level, file, peers, arguments)
    _summary(rows, arguments.methods)
    if arguments.json:
        write_json(rows, arguments.json)


def _cell(name: str, level: str, file: Path, peers: dict[str, Any], arguments: Any) -> list[dict[str, Any]]:
    cell, rows = Cell(file, level), []
    quoted = {peer: np.array(peers[f"{name}/{level}/{peer}"]["scores"][: arguments.splits]) for peer in PEERS}
    print(f"{name + ' ' + level:16}" + "".join(f"{quoted[peer].mean():>14.2f}" for peer in PEERS), flush=True)
    for method in arguments.methods:
        began = time.process_time()
        tests = cell.tests[: arguments.splits]
        scores = np.array([cell.score(METHODS[method], test) for test in tests])
        seconds = (time.process_time() - began) / len(tests)
        share = float(np.mean([test.sum() / (~test).sum() for test in tests]))
        apart, error, p = against(scores, quoted["depth3"], share)
        told = f"{method}: {scores.mean():.2f}, {apart:+.2f} ({error:.2f}), p {p:.3f}, {seconds:.2f} s"
        print(f"{'':46}{told}", flush=True)
        row = {"name": f"{name} {level}, {method}", "ours_s": seconds, "peer": None, "peer_s": None, "ratio": None}
        row |= {"peak_mb": None, "method": method, "scores": scores.tolist()}
        row |= {"above_depth3": apart, "std_error": error, "p": p}
        rows.append(row | {peer: quoted[peer].tolist() for peer in PEERS})
    return rows


def _summary(rows: list[dict[str, Any]], methods: list[str]) -> None:
    for method in methods:
        own = [row for row in rows if row["method"] == method]
        if not own:
            continue
        p = holm([row["p"] for row in own])
        by_split = [np.mean([row[key] for row in own], axis=0) for key in ("scores", *PEERS)]
        means = [scores.mean() for scores in by_split]
        worse = [row["name"].split(",")[0] for row, value in zip(own, p) if value < 0.05]
        rest = [f"{scores[IN_SIGHT:].mean():.2f}" for scores in by_split if len(scores) > IN_SIGHT]
        print(
            f"{method}: mean of {len(own)} cells {means[0]:.2f}, STreeD {means[1]:.2f} (depth 3) and {means[2]:.2f} "
            f"(depth 4, tuned); dearer than depth 3 beyond chance in {len(worse)}: {', '.join(worse) or 'none'}"
            + (f"; from split {IN_SIGHT + 1} on {', '.join(rest)}" if rest else "")
        )


if __name__ == "__main__":
    main()
