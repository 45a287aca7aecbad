"""What the benchmarks on real data share: the sets and their protocols, and one method run on all folds of one."""

from __future__ import annotations

import os
import time
from argparse import ArgumentParser, Namespace
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from _common import left_out
from sklearn.base import clone
from sklearn.model_selection import StratifiedKFold

from reproduction import get_tables
from seqclass import SequentialClassifier, datasets
from seqclass.fitting._steps import PREPROCESSING
from seqclass.metrics import realised_cost

#: What the papers call these sets and protocols, as `reproduction` has it.
PAPER_NAMES = {
    "mll 5-fold": "MLL, 5 folds",
    "mll split": "MLL",
    "madelon": "Madelon",
    "colon_disc": "colon, discrete",
    "spambase": "Spambase",
    "breast_cancer": "breast cancer",
    "digits": "digits",
    "lung2_desouto1543": "Lung2",
}

#: Those that `seqclass.adaptive` is judged on.
CHOICE_SETS = [
    *("breast_cancer", "digits", "spambase", "mll", "colon_disc", "madelon", "pima", "thyroid_ann"),
    "lung2_desouto1543",
]
#: Tables with names of columns and categories, as text, and which column is the label.
LABELS = {"actg175": "cens", "bank": "y"}
#: Small tables of the folder ``tables``, whose column ``label`` is the class.
TABLES = ["saheart", "colic", "cmc", "credit_g", "breast_lj", "segment", "vehicle", "bands"]

Fold = tuple[np.ndarray, np.ndarray]
Data = tuple[Any, np.ndarray, list[Fold]]


class Outcome(NamedTuple):
    """A method on a set: test rows of all folds pooled; the largest gap; seconds of the slowest fold."""

    accuracy: float
    n_features: float
    cost: float
    gap: float
    fit_s: float
    preprocess_s: float
    train_s: float
    classify_s: float


def data_folder(arguments: Namespace) -> Path | None:
    """Folder of the data sets: ``--data``, the variable SEQCLASS_DATA, or ``../shared/data`` beside the checkout."""
    beside = Path(__file__).resolve().parents[2] / "shared" / "data"
    return Path(arguments.data) if arguments.data else (beside if beside.exists() else None)


def add_data_option(made: ArgumentParser) -> None:
    made.add_argument("--data", type=Path, default=os.environ.get("SEQCLASS_DATA"), help="folder of the data sets")


def absent(name: str, file: str | None = None) -> None:
    """Say that a set, by default one named ``"file protocol"``, is left out."""
    left_out(name, f"no {file or name.split()[0] + '.npz'}; name its folder by --data or SEQCLASS_DATA")


def load(name: str, folder: Path | None) -> Data | None:
    """Data and train/test rows of a set, named ``"file protocol"``; None where the data is absent."""
    file = name.split()[0]
    if file in LABELS or file in TABLES:
        X, y = read_table(file, folder) or (None, None)
        return None if y is None else (X, y, list(folds(X, y, [0])))
    if file not in datasets.list_datasets(folder):
        return None
    data = datasets.load(file, folder)
    if name == "mll split":
        return data.X, data.y, [(data.train_index, data.test_index)]
    if name == "madelon":
        return data.X, data.y, [(np.arange(2000), np.arange(2000, 2600))]
    return data.X, data.y, list(folds(data.X, data.y, [0, 1, 2] if name == "mll 5-fold" else [0]))


def read_table(name: str, folder: Path | None) -> tuple[pd.DataFrame, np.ndarray] | None:
    """A table of those in LABELS and its classes; None where its file is absent."""
    path = None if folder is None else folder / ("tables" if name in TABLES else "") / f"{name}.csv.gz"
    if path is None or not path.exists():
        return None
    frame = pd.read_csv(path)
    label = frame.pop(LABELS.get(name, "label"))
    return frame, label.to_numpy()


def each_set(arguments: Namespace, protocol: str = "") -> Iterator[tuple[str, Data]]:
    """The sets that are asked for and there; of a quick run the one that needs no file."""
    for name in ["breast_cancer"] if arguments.quick else arguments.sets:
        data = load(f"{name} {protocol}".strip(), data_folder(arguments))
        if data is None:
            absent(name)
        else:
            yield name, data


def quoted(table: str, name: str, method: str) -> Iterator[tuple[str, float, float]]:
    """Accuracy and features of a set that the paper and the authors' code report, where a table quotes them."""
    for entry in get_tables([table])[0].entries:
        if (entry.data, entry.method) == (PAPER_NAMES.get(name), method):
            for source, reported in (("paper", entry.paper), ("authors' code", entry.code)):
                if {"accuracy", "features"} <= set(reported):
                    yield source, reported["accuracy"], reported["features"]


def authors_code(name: str, recipe: str) -> tuple[float, float] | None:
    """Accuracy and features of a recipe's published code at our folds; None where it was not run."""
    table = {"ETANA": "etana-code", "IFC2F": "ifc2f-code"}[recipe]
    return next((found for source, *found in quoted(table, name, recipe) if source == "authors' code"), None)


def folds(X: Any, y: np.ndarray, seeds: list[int]) -> Iterator[Fold]:
    for seed in seeds:
        yield from StratifiedKFold(5, shuffle=True, random_state=seed).split(X, y)


def run(make: Callable[[], SequentialClassifier], X: Any, y: np.ndarray, splits: list[Fold]) -> Outcome:
    decisions, truths, costs, counts, gaps = [], [], [], [], []
    seconds = []
    for train, test in splits:
        started = time.perf_counter()
        clf = clone(make()).fit(X[train], y[train])
        fitted = time.perf_counter()
        record = clf.acquire(X[test])
        took = time.perf_counter()
        before = sum(clf.timings_[step] for step in PREPROCESSING)
        seconds.append((fitted - started, before, clf.timings_["solve"], took - fitted))
        decisions.append(record.decision)
        truths.append(y[test])
        costs.append(record.paid)
        counts.append(record.n_features)
        gaps.append(clf.policy_.info.gap)
    truth, decision = np.concatenate(truths), np.concatenate(decisions)
    return Outcome(
        float((truth == decision).mean()),
        float(np.concatenate(counts).mean()),
        realised_cost(truth, decision, np.concatenate(costs)),
        float(np.max(gaps)),
        *np.max(seconds, axis=0).tolist(),
    )


def json_row(name: str, outcome: Outcome, **more: Any) -> dict[str, Any]:
    """A row as all benchmarks write it, and the outcome."""
    row = {"name": name, "ours_s": outcome.fit_s, "peer": None, "peer_s": None, "ratio": None, "peak_mb": None}
    return {**row, **outcome._asdict(), **more}
