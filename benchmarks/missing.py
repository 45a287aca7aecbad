"""What it is worth that a missing cell is an outcome of its own, ``missing="informative"``, beside leaving it out.

    python benchmarks/missing.py [--sets SET ...] [--methods METHOD ...] [--price P ...] [--data DIR] [--json FILE]

Realised cost, area under the curve of the belief at the stop, and that after ten questions of everybody, whether they
pay or not (in brackets), on rows held out of five folds, pooled. A question
whose answer is missing is paid for like any other (``charge_missing=True``), as missing="informative" always has it;
"free" is today's default, where it is not paid for. The last column is the difference in cost, informative less
ignored, paired by row, with a 95% interval. The sets:

- pima: zeros of glucose, pressure, skin, insulin and mass are missing;
- bank: what is "unknown" is missing (3000 rows by lot);
- records: 3000 generated cases of 41 measurements, 14% positive, half of the cells missing: which ones are depends on
  the class a little, as what is not measured of the well;
- at random: the same, but what is missing depends on nothing;
- breast_cancer, by class / by value / at random: a third of the cells taken out.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from _common import parser, write_json
from _real import absent, add_data_option, data_folder
from sklearn.datasets import load_breast_cancer
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import StratifiedKFold

import seqclass
from seqclass import Costs, SequentialClassifier, datasets
from seqclass.adaptive_classifier import EFFORTS, INCUMBENT, candidates
from seqclass.stats import mean_interval

Rows = tuple[Any, np.ndarray]
#: Questions of everybody.
BUDGET = 10


def records(tells: bool, n: int = 3000) -> Rows:
    """Measurements of which half are missing."""
    rng = np.random.default_rng(0)
    y = (rng.random(n) < 0.14).astype(int)
    severity = y + rng.normal(0, 0.8, n)
    X = rng.normal(size=(n, 41)) + severity[:, None] * np.where(np.arange(41) < 12, 0.35, 0.0)
    often = rng.normal(0, 1.0, 41) + (0.9 * severity[:, None] * (np.arange(41) % 3 == 0) if tells else 0.0)
    X[rng.random((n, 41)) > 1 / (1 + np.exp(-often))] = np.nan
    return X, y


def tumours(how: str) -> Rows:
    """A third of the cells of breast_cancer gone."""
    X, y = load_breast_cancer(return_X_y=True)
    rng = np.random.default_rng(0)
    z = (X - X.mean(axis=0)) / X.std(axis=0)
    logit = {"class": 1.5 * (2 * y[:, None] - 1.0), "value": 1.5 * z, "random": 0.0 * z}[how] - 0.7
    return np.where(rng.random(X.shape) < 1 / (1 + np.exp(-logit)), np.nan, X), y


GENERATED: dict[str, Callable[[], Rows]] = {
    "records": lambda: records(True),
    "records, at random": lambda: records(False),
    "breast_cancer, by class": lambda: tumours("class"),
    "breast_cancer, by value": lambda: tumours("value"),
    "breast_cancer, at random": lambda: tumours("random"),
}
SETS = ["pima", "bank", *GENERATED]


def load(name: str, folder: Path | None) -> Rows | None:
    if name in GENERATED:
        return GENERATED[name]()
    if name == "pima" and "pima" in datasets.list_datasets(folder):
        data = datasets.load("pima", folder)
        X = np.array(data.X, dtype=float)
        X[:, 1:6][X[:, 1:6] == 0] = np.nan
        return X, np.unique(data.y, return_inverse=True)[1]
    if name == "bank" and folder is not None and (folder / "bank.csv.gz").exists():
        frame = pd.read_csv(folder / "bank.csv.gz").sample(3000, random_state=0).reset_index(drop=True)
        y = np.unique(frame.pop("y"), return_inverse=True)[1]
        return frame.replace("unknown", np.nan), y
    return None


def one_mixture(costs: Costs, **settings: Any) -> SequentialClassifier:
    """What adaptive quick keeps of many rows unless another way costs less, by itself."""
    return SequentialClassifier(feature_costs=costs, **candidates(EFFORTS["quick"], 0, 1000, 30)[INCUMBENT], **settings)


METHODS: dict[str, Callable[..., Any]] = {
    "one mixture": one_mixture,
    "etana": seqclass.etana,
    "ifc2f": seqclass.ifc2f,
    "adaptive quick": lambda costs, **settings: seqclass.adaptive(costs, effort="quick", **settings),
}
WAYS = {"free": (False, "ignored"), "ignored": (True, "ignored"), "informative": (True, "informative")}


def run(method: str, way: str, price: float, X: Any, y: np.ndarray) -> dict[str, Any]:
    """Costs of all rows, each held out once, and the area under the curve."""
    charged, missing = WAYS[way]
    cost, belief, after, counts = np.empty((4, len(y)))
    began = time.perf_counter()
    for train, test in StratifiedKFold(5, shuffle=True, random_state=0).split(np.zeros(len(y)), y):
        part = (X.iloc[train], X.iloc[test]) if hasattr(X, "iloc") else (X[train], X[test])
        costs = Costs(price, charge_missing=charged)
        clf = METHODS[method](costs, missing=missing, handle_unknown="missing").fit(part[0], y[train])
        record = clf.acquire(part[1])
        cost[test] = record.paid + (record.decision != y[test])
        belief[test], counts[test] = record.posterior[:, 1], (record.order >= 0).sum(axis=1)
        after[test] = clf.acquire(part[1], budget=BUDGET).posterior[:, 1]
    seconds = time.perf_counter() - began
    areas = {"auc": float(roc_auc_score(y, belief)), "auc_at_10": float(roc_auc_score(y, after))}
    return {"costs": cost, "asked": float(counts.mean()), "seconds": seconds} | areas


def main() -> None:
    made = parser(__doc__)
    add_data_option(made)
    made.add_argument("--sets", nargs="+", default=SETS, choices=SETS, metavar="SET")
    made.add_argument("--methods", nargs="+", default=["etana", "one mixture"], choices=METHODS, metavar="METHOD")
    made.add_argument("--price", nargs="+", type=float, default=[0.01])
    arguments = made.parse_args()
    if arguments.quick:
        arguments.sets, arguments.methods, arguments.price = ["breast_cancer, by class"], ["etana"], [0.01]
    warnings.simplefilter("ignore")  # where nothing is worth buying, the costs say so
    rows: list[dict[str, Any]] = []
    print(f"{'cost, area under the curve':50}{'free':>21}{'ignored':>21}{'informative':>21}   informative less ignored")
    for name in arguments.sets:
        data = load(name, data_folder(arguments))
        if data is None:
            absent(name, f"{name}.*")
            continue
        for method in arguments.methods:
            for price in arguments.price:
                found = {way: run(method, way, price, *data) for way in WAYS}
                title = f"{name}, {method}, {price:g}"
                apart = mean_interval(found["informative"]["costs"] - found["ignored"]["costs"])
                told = "".join(
                    f"{one['costs'].mean():9.4f} {one['auc']:.2f} ({one['auc_at_10']:.3f})" for one in found.values()
                )
                print(f"{title:50}{told}   {apart}", flush=True)
                for way, one in found.items():
                    row = {"name": f"{title}, {way}", "ours_s": one["seconds"], "peer": None, "peer_s": None}
                    figures = {"cost": float(one["costs"].mean())} | {k: one[k] for k in ("auc", "auc_at_10", "asked")}
                    rows.append(row | {"ratio": None, "peak_mb": None} | figures)
    if arguments.json:
        write_json(rows, arguments.json)


if __name__ == "__main__":
    main()
