"""Means of figures by group, with their intervals."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from seqclass._utils.arrays import IntArray
from seqclass._utils.text import brief, end_sentence, short_repr
from seqclass.experiment.records import BY_CASE, case_scores
from seqclass.stats.intervals import interval_ends, mean_interval

_PROPORTIONS = frozenset(
    {"accuracy", "referred", "macro_f1", "sensitivity", "specificity", "auroc", "calibration_error", "gap"}
)

#: What a summary has of each figure beside its mean: ends of the interval, and the standard error.
ENDS = ("lower", "upper", "se")


def bounds_of(metric: str) -> tuple[float, float]:
    """Least and greatest value that a figure of a cell can have."""
    return 0.0, 1.0 if metric in _PROPORTIONS else np.inf


def summarise(table: Any, by: Sequence[str], metrics: Sequence[str], confidence: float) -> Any:
    """Means with intervals, a row a group."""
    group, first = group_numbers(table, by)
    # of a fold, what is pooled over (methods or prices, say) is one score; without "data", of a data set
    unit, _ = group_numbers(table, ["data", "seed", "fold"] if "data" in by else ["data"])
    summary = table[list(by)].iloc[first].reset_index(drop=True)
    summary["n_cells"] = np.bincount(group, minlength=len(first))
    summary["n_failed"] = np.bincount(group[(table["error"] != "").to_numpy()], minlength=len(first))
    sizes = table[["n_test", "n_train"]].astype("float64")
    ratio = sizes["n_test"] / sizes["n_train"] if "data" in by else 0.0 * sizes["n_test"]
    for metric in metrics:
        units = table[metric].groupby([group, unit]).mean().groupby(level=0)
        mean, variance, n = (column.to_numpy() for column in (units.mean(), units.var(), units.count()))
        shared = ratio.where(table[metric].notna()).groupby(group).mean().to_numpy()
        error = np.sqrt((1 / np.maximum(n, 1) + shared) * variance)
        lower, upper = interval_ends(mean, error, n, confidence, bounds_of(metric))
        # folds that are all alike, but for rounding, say nothing of how far others would be
        alike = variance <= (1e-12 * mean) ** 2
        summary[metric] = mean
        for name, end in zip(ENDS, (lower, upper, error)):
            summary[f"{metric}_{name}"] = np.where(alike, np.nan, end)
    return summary


def widen_over_rows(
    path: Path, table: Any, by: Sequence[str], summary: Any, metrics: Sequence[str], confidence: float, kept: set[str]
) -> None:
    """Widen intervals over folds to those over rows, where rows are kept: folds that agree by chance say too much."""
    able = [metric for metric in metrics if metric in BY_CASE]
    if "data" not in by or not able or not kept:
        return
    ends = {metric: summary[[f"{metric}_{end}" for end in ENDS]].to_numpy().T.copy() for metric in able}
    scored = table[table["error"] == ""]
    group = group_numbers(table, by)[0][(table["error"] == "").to_numpy()]
    for number, places in scored.groupby(group).indices.items():
        own = scored.iloc[places]
        own = own[own["seed"] == own["seed"].iloc[0]]  # another seed has the same rows again
        if own["method"].nunique() > 1 or not kept.issuperset(own.index):
            continue
        for metric, scores in (case_scores(path, own, able) or {}).items():
            over = mean_interval(scores, confidence=confidence, bounds=bounds_of(metric))
            if over.lower < over.upper:  # scores that are all alike say nothing of others
                lower, upper, error = ends[metric][:, number]
                wider = np.fmin(lower, over.lower), np.fmax(upper, over.upper), np.fmax(error, over.standard_error)
                ends[metric][:, number] = wider
    for metric in able:
        for name, end in zip(ENDS, ends[metric]):
            summary[f"{metric}_{name}"] = end


def over_data(summary: Any, n: int, by: Sequence[str], metrics: Sequence[str]) -> Any:
    """Means over ``n`` data sets, each of which counts once, of what a summary has of all of them, by other labels."""
    groups = summary.groupby(list(by), sort=False, dropna=False)
    return groups[list(metrics)].mean()[groups.size() == n].reset_index()


def group_numbers(table: Any, by: Sequence[str]) -> tuple[IntArray, IntArray]:
    """Number of each row's group, in order of appearance, and the first row of each group."""
    number = table.groupby(list(by), sort=False, dropna=False).ngroup().to_numpy()
    return number, np.unique(number, return_index=True)[1]


def failures(table: Any) -> str:
    """How many cells of a table failed, of which methods, and the first error of each; empty where none did."""
    failed = table[table["error"] != ""]
    each = [
        f"{len(cells)} of {short_repr(method)}, the first on {short_repr(cells['data'].iloc[0])}: "
        f"{brief(cells['error'].iloc[0])}"
        for method, cells in failed.groupby("method", sort=False)
    ]
    what = f"{len(failed)} of {len(table)} cells failed and are left out of all means"
    return end_sentence(f"{what}: {'; '.join(each)}") if each else ""
