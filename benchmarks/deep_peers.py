"""`seqclass.adaptive(budget=...)` at hard budgets, beside networks that are trained to ask: GDFS and DIME.

    python benchmarks/deep_peers.py [--data DIR] [--sets SET ...] [--seeds N] [--json FILE] [--quick]

One fit for all budgets of a set, which chooses by itself on rows held out, on generated and on real sets, with 95%
intervals over the seeds, each a draw or split of its own: splits share training rows, which their intervals count. On
GDFS's own rows of Spambase a seed is that of the fit alone. Seconds are of CPU, a fit and what it believes of the test
rows, of ours. Budgets of ACTG 175, Bank Marketing and PhysioNet are those of the AFABench study.

Nothing of the peers is measured here, all their figures are quoted. Those of GDFS (Covert et al., ICML 2023) on its own
rows of Spambase are as published; all others, and the seconds, are of an earlier run of the authors' own code of GDFS
and DIME (Gadgil et al., ICLR 2024) on one processor, on other draws and splits, and have noise of their own. PhysioNet
2012 is not among the data; where a file of that name is, with the rows that were used, ours is measured.
"""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from _common import left_out, parser, write_json
from _real import LABELS, add_data_option, data_folder, read_table
from hard_budgets import beliefs_at, show_line
from sklearn.metrics import roc_auc_score

import seqclass
from seqclass import Costs, datasets
from seqclass.stats import mean_interval


class Peer(NamedTuple):
    """What is quoted of a peer: what it reaches at each budget, in %, and its seconds of CPU, where they are known."""

    reached: tuple[float | None, ...]
    seconds: float | None = None


class Asked(NamedTuple):
    """Budgets of a set, by what they are judged, and peers."""

    budgets: list[int]
    measure: str
    peers: dict[str, Peer]


def quoted(name: str, budgets: list[int]) -> dict[str, Peer]:
    """What the suite's file of published figures has of a set."""
    lines = PUBLISHED[PUBLISHED["set"] == name]
    found = {}
    for method, own in lines.groupby("method", sort=False):
        value = dict(zip(own["budget"], own["value"]))
        seconds = own["seconds"].iloc[0]
        found[str(method)] = Peer(tuple(value.get(k) for k in budgets), None if pd.isna(seconds) else float(seconds))
    return found


PUBLISHED = pd.read_csv(Path(__file__).with_name("suite") / "published.csv")
SETS = {
    name: Asked(budgets, measure, quoted(name, budgets))
    for name, budgets, measure in (
        ("cube", [3, 5, 10], "accuracy"),
        ("cube_nm", [3, 5, 10], "accuracy"),
        ("cube_nm, no bundle", [3, 5, 10], "accuracy"),
        ("spambase", [1, 3, 5, 10], "auroc"),
        ("spambase, rows of GDFS", [1, 3, 5, 10], "auroc"),
        ("thyroid_ann", [1, 3, 5, 10], "accuracy"),
        ("actg175", [3, 5, 10], "accuracy"),
        ("bank", [2, 4, 7], "accuracy"),
        ("physionet", [5, 10, 15], "auroc"),
    )
}
#: Rows of the generated sets.
GENERATED = 600


def main() -> None:
    made = parser(__doc__)
    add_data_option(made)
    made.add_argument("--sets", nargs="+", default=list(SETS), choices=list(SETS), metavar="SET")
    made.add_argument("--seeds", type=int, default=5)
    arguments = made.parse_args()
    rows = []
    for name in ["cube"] if arguments.quick else arguments.sets:
        rows.append(reached(name, data_folder(arguments), arguments.seeds, arguments.quick))
    if arguments.json:
        write_json([row for row in rows if row is not None], arguments.json)


def reached(name: str, folder: Path | None, seeds: int, quick: bool) -> dict[str, Any] | None:
    """What is reached at the budgets of a set, printed below what is quoted of the peers."""
    budgets, measure, peers = SETS[name]
    seeds = 1 if quick else seeds
    print(f"\n{f'{name}: {measure}, %':38}" + "".join(f"{k:>7}" for k in budgets) + "   mean 1-10  CPU s")
    for peer, quoted in peers.items():
        source = "as published" if "GDFS" in name else "its own code"
        show_line(f"{peer}, quoted, {source}", np.array(quoted.reached, dtype=float), budgets, quoted.seconds)
    found, took, chosen = [], 0.0, []
    for seed in range(seeds):
        split = _split(name, folder, seed)
        if split is None:
            left_out(name, "no such file in the data")
            return None
        X, y, test_X, test_y, bundles = split
        if quick:
            X, y = X[:100], y[:100]
        began, costs = time.process_time(), Costs(bundles=bundles)
        clf = seqclass.adaptive(costs, budget=budgets, effort="quick", random_state=seed).fit(X, y)
        beliefs = beliefs_at(clf, test_X, budgets)
        took += (time.process_time() - began) / seeds
        label = np.searchsorted(clf.classes_, test_y)
        if measure == "auroc":
            found.append([100 * roc_auc_score(label, belief[:, 1]) for belief in beliefs])
        else:
            found.append([100 * np.mean(belief.argmax(axis=1) == label) for belief in beliefs])
        chosen.append(clf.choice_.chosen)
    # fresh draws, or the same test rows; else a fifth of the rows to test
    shared = 0.0 if name.startswith("cube") or "GDFS" in name else 0.25
    ends = [mean_interval(scores, test_to_train=shared) if seeds > 1 else None for scores in zip(*found)]
    mean, half = np.mean(found, axis=0), [0.0 if one is None else (one.upper - one.lower) / 2 for one in ends]
    show_line(f"chosen, {seeds} seeds", mean, budgets, took)
    taken = ", ".join(f"{one} {chosen.count(one)}" for one in sorted(set(chosen)))
    print(f"{'  95% interval, more or less':38}" + "".join(f"{h:7.2f}" for h in half) + f"  {taken}", flush=True)
    row = {"name": f"{name}, chosen", "ours_s": took, "peer": None, "peer_s": None, "ratio": None, "peak_mb": None}
    row |= {"budgets": budgets, measure: mean.tolist(), "interval": half}
    return row | {"peers": {peer: quoted._asdict() for peer, quoted in peers.items()}}


def _split(name: str, folder: Path | None, seed: int) -> Any:
    """Training rows and labels, test rows and labels, and bundles; None where there is no such set."""
    name, _, how = name.partition(", ")
    if name in ("cube", "cube_nm"):
        train = datasets.load(name, n_samples=GENERATED, random_state=2 * seed)
        test = datasets.load(name, n_samples=5000, random_state=2 * seed + 1)
        return train.X, train.y, test.X, test.y, None if how else train.bundles
    if folder is None:
        return None
    if name in LABELS:
        found = read_table(name, folder)
        if found is None:
            return None
        X, y = found
        order = np.random.default_rng(seed).permutation(len(y))
        cut = len(y) * 4 // 5
        train, test = order[:cut], order[cut:]
        return X.iloc[train], y[train], X.iloc[test], y[test], None
    golden = folder.parent / "golden" / "gdfs.json"
    if name not in datasets.list_datasets(folder) or (how and not golden.exists()):
        return None
    data = datasets.load(name, folder)
    order = np.random.default_rng(seed).permutation(len(data.y))
    cut = len(order) * 4 // 5
    if how:
        rows = json.loads(golden.read_text(encoding="utf-8"))[name]["test_rows"]
        order, cut = np.append(np.setdiff1d(order, rows), rows), len(order) - len(rows)
    return data.X[order[:cut]], data.y[order[:cut]], data.X[order[cut:]], data.y[order[cut:]], None


if __name__ == "__main__":
    main()
