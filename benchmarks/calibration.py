"""What calibration does to the cost that a model expects, and to the one that comes.

    python benchmarks/calibration.py [--data DIR] [--sets SET ...] [--recipes etana ifc2f] [--errors 1 5]
                                     [--permuted N] [--json FILE] [--quick]

A row is a recipe on a set, all prices 0.01 and folds as in real_data.py (MLL: the first five of fifteen): the cost that
the model expects and that of the test rows, as it is and with ``calibrate=True``, the difference of the realised costs
with its plain standard error over rows, features asked for, and CPU seconds of the slowest fit of both. With
``--permuted N`` each set's labels are permuted N times, and all rows are fitted to: what the model then expects, as a
share of what deciding at once costs, and how many features it asks for.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable
from dataclasses import asdict
from typing import Any

import numpy as np
from _common import Row, parser, write_json
from _real import absent, add_data_option, data_folder, load

from seqclass import Costs, SequentialClassifier, etana, ifc2f

PRICE, MOST_FOLDS = 0.01, 5
RECIPES: dict[str, Callable[..., SequentialClassifier]] = {"etana": etana, "ifc2f": ifc2f}
SETS = ["breast_cancer", "pima", "thyroid_ann", "colon_disc", "mll 5-fold", "spambase", "digits", "madelon"]
SETS += ["lung2_desouto1543"]
QUICK = ["breast_cancer", "pima"]


def fitted(recipe: str, error: float, calibrate: bool, X: Any, y: Any) -> tuple[SequentialClassifier, float]:
    costs = error * (1 - np.eye(len(np.unique(y))))
    began = time.process_time()
    clf = RECIPES[recipe](Costs(PRICE, decision_costs=costs), calibrate=calibrate).fit(X, y)
    return clf, time.process_time() - began


def realised(clf: SequentialClassifier, X: Any, y: Any) -> tuple[Any, Any]:
    record = clf.acquire(X)
    label, decided = (np.searchsorted(clf.classes_, labels) for labels in (y, record.decision))
    return record.paid + clf.decision_costs_[label, decided], record.n_features


def compared(name: str, recipe: str, error: float, folder: Any) -> dict[str, Any] | None:
    data = load(name, folder)
    if data is None:
        return None
    X, y, splits = data
    found: dict[bool, list[Any]] = {False: [], True: []}
    for train, test in splits[:MOST_FOLDS]:
        for calibrate in found:
            clf, seconds = fitted(recipe, error, calibrate, X[train], y[train])
            found[calibrate].append((clf.expected_cost_, *realised(clf, X[test], y[test]), seconds))
    ours_s, peer_s = (max(fold[3] for fold in found[calibrate]) for calibrate in (True, False))
    timed = Row(f"{recipe} {name} errors at {error:g}", ours_s, "as it is", peer_s, peer_s / max(ours_s, 1e-9), None)
    row = asdict(timed)
    for prefix, folds in (("peer_", found[False]), ("", found[True])):
        row[f"{prefix}expected"] = float(np.mean([fold[0] for fold in folds]))
        row[f"{prefix}realised"] = float(np.concatenate([fold[1] for fold in folds]).mean())
        row[f"{prefix}features"] = float(np.concatenate([fold[2] for fold in folds]).mean())
    ours, before = (np.concatenate([fold[1] for fold in found[calibrate]]) for calibrate in (True, False))
    row["std_error"] = float(ours.std(ddof=1) / np.sqrt(len(ours)))
    row["difference"] = float((ours - before).mean())
    row["difference_std_error"] = float((ours - before).std(ddof=1) / np.sqrt(len(ours)))
    return row


def permuted(name: str, recipe: str, times: int, folder: Any) -> dict[str, Any] | None:
    data = load(name, folder)
    if data is None:
        return None
    X, y, _ = data
    at_once = 1 - np.unique(y, return_counts=True)[1].max() / len(y)
    rows = []
    for seed in range(times):
        labels = np.random.default_rng(seed).permutation(y)
        row = []
        for calibrate in (False, True):
            clf, seconds = fitted(recipe, 1.0, calibrate, X, labels)
            row += [clf.expected_cost_ / at_once, float(clf.acquire(X).n_features.mean())]
        rows.append(row)
    mean = np.mean(rows, axis=0).tolist()
    keys = ("peer_share", "peer_features", "share", "features")
    timed = Row(f"{recipe} {name} permuted labels", seconds, None, None, None, None)
    return asdict(timed) | dict(zip(keys, mean, strict=True))


def main() -> None:
    made = parser(__doc__)
    add_data_option(made)
    made.add_argument("--sets", nargs="+", default=None)
    made.add_argument("--recipes", nargs="+", choices=list(RECIPES), default=["etana"])
    made.add_argument("--errors", nargs="*", type=float, default=[1.0])
    made.add_argument("--permuted", type=int, default=0, metavar="N")
    arguments = made.parse_args()
    warnings.simplefilter("ignore")
    sets, rows = arguments.sets or (QUICK if arguments.quick else SETS), []
    head = f"{'':44}{'expected':>16}{'realised':>16}{'difference':>18}{'features':>14}{'CPU s':>12}"
    print(f"{head}\n{'':44}" + f"{'as it is -> calibrated':>32}")
    for recipe in arguments.recipes:
        for name in sets:
            for error in arguments.errors:
                row = compared(name, recipe, error, data_folder(arguments))
                if row is None:
                    absent(name)
                    continue
                rows.append(row)
                print(
                    f"{row['name']:44}{row['peer_expected']:8.4f} {row['expected']:7.4f}"
                    f"{row['peer_realised']:8.4f} {row['realised']:7.4f}"
                    f"{row['difference']:+9.4f} ({row['difference_std_error']:.4f})"
                    f"{row['peer_features']:7.2f} {row['features']:6.2f}{row['peer_s']:6.1f} {row['ours_s']:5.1f}",
                    flush=True,
                )
    for recipe in arguments.recipes if arguments.permuted else []:
        for name in sets:
            row = permuted(name, recipe, arguments.permuted, data_folder(arguments))
            if row is not None:
                rows.append(row)
                print(
                    f"{row['name']:44} expects {row['peer_share']:.3f} -> {row['share']:.3f} of deciding at once, asks "
                    f"for {row['peer_features']:.2f} -> {row['features']:.2f} features",
                    flush=True,
                )
    if arguments.json:
        write_json(rows, arguments.json)


if __name__ == "__main__":
    main()
