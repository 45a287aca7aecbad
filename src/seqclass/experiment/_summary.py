"""Means of scores over groups of cells, with confidence intervals; all groups at once."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from seqclass._arrays import BoolArray, FloatArray, IntArray
from seqclass.statistics.intervals import interval_ends

_PROPORTIONS = frozenset({"accuracy", "macro_f1", "sensitivity", "specificity", "auroc", "calibration_error"})
#: Certified bounds are estimates, which chance may take below zero.
_UNBOUNDED = frozenset({"lower", "upper", "gap"})


def bounds_of(metric: str) -> tuple[float, float]:
    """Least and greatest value that a figure of a cell can have.

    Examples
    --------
    >>> bounds_of("accuracy"), bounds_of("realised_cost"), bounds_of("lower")
    ((0.0, 1.0), (0.0, inf), (-inf, inf))
    """
    if metric in _UNBOUNDED:
        return -np.inf, np.inf
    return 0.0, 1.0 if metric in _PROPORTIONS else np.inf


def summarise(table: Any, by: Sequence[str], metrics: Sequence[str], confidence: float) -> Any:
    """Means with intervals, a row a group.

    Parameters
    ----------
    table : pandas.DataFrame
        Cells.
    by : sequence of str
        Columns that tell groups apart.
    metrics : sequence of str
        Columns of figures.
    confidence : float
        Coverage of the intervals.

    Returns
    -------
    pandas.DataFrame
        As `Results.summary` gives it.
    """
    group, first = _numbers(table, by)
    # of a fold, what is pooled over (methods or prices, say) is one score; without "data", of a data set
    unit, _ = _numbers(table, ["data", "seed", "fold"] if "data" in by else ["data"])
    found = table[list(by)].iloc[first].reset_index(drop=True)
    found["n_cells"] = np.bincount(group, minlength=len(first))
    found["n_failed"] = np.bincount(group[(table["error"] != "").to_numpy()], minlength=len(first))
    ratio = _column(table, "n_test") / _column(table, "n_train") if "data" in by else np.zeros(len(table))
    for metric in metrics:
        values = _column(table, metric)
        scored = ~np.isnan(values)
        mean, variance, n = _moments(values[scored], group[scored], unit[scored], len(first))
        shared = _means(ratio, group, scored & ~np.isnan(ratio), len(first))
        error = np.sqrt((1 / np.maximum(n, 1) + shared) * variance)
        ends = interval_ends(mean, error, n, confidence, bounds_of(metric))
        found[metric], found[f"{metric}_lower"], found[f"{metric}_upper"] = mean, *ends
    return found


def paired_scores(table: Any, metric: str) -> tuple[Any, Any]:
    """Mean score of each method on each data set, over the folds on which every method has one.

    Parameters
    ----------
    table : pandas.DataFrame
        Cells of methods each of which has a score somewhere.
    metric : str
        Column of the score.

    Returns
    -------
    scores : pandas.DataFrame
        A row a data set, a column a method; prices, and hard budgets at each, weigh the same. Without the data sets of
        which one has no fold left: their means would be over others than those of the rest.
    units : pandas.DataFrame
        The same by data set, seed and fold.
    """
    table = table.assign(at=_numbers(table, ["price", "budget"])[0])
    scored = table[table[metric].notna()]
    fold, _ = _numbers(scored, ["data", "at", "seed", "fold"])
    pairs = np.unique(np.column_stack([fold, _numbers(scored, ["method"])[0]]), axis=0)
    complete_folds = scored[np.bincount(pairs[:, 0])[fold] == table["method"].nunique()]
    means = complete_folds.groupby(["data", "at", "method"], sort=False)[metric].mean()
    scores = means.groupby(["data", "method"], sort=False).mean().unstack("method")
    there = complete_folds.groupby("data")["at"].nunique()
    complete = there == table.groupby("data")["at"].nunique().reindex(there.index)
    kept = [name for name in dict.fromkeys(table["data"]) if complete.get(name, False)]
    units = complete_folds.groupby(["data", "seed", "fold", "method"], sort=False)[metric].mean().unstack("method")
    return scores.reindex(index=kept, columns=list(dict.fromkeys(table["method"]))), units


def _numbers(table: Any, by: Sequence[str]) -> tuple[IntArray, IntArray]:
    """Number of each row's group, in order of appearance, and the first row of each group."""
    number = table.groupby(list(by), sort=False, dropna=False).ngroup().to_numpy()
    return number, np.unique(number, return_index=True)[1]


def _column(table: Any, name: str) -> FloatArray:
    return np.asarray(table[name].to_numpy(dtype=np.float64, na_value=np.nan))


def _means(values: FloatArray, group: IntArray, chosen: BoolArray, n_groups: int) -> FloatArray:
    total = np.bincount(group[chosen], values[chosen], n_groups)
    return _divide(total, np.bincount(group[chosen], minlength=n_groups))


def _moments(
    values: FloatArray, group: IntArray, unit: IntArray, n_groups: int
) -> tuple[FloatArray, FloatArray, IntArray]:
    """Mean and variance of the units' means in each group, NaN of too few, and the number of its units."""
    n_units = int(unit.max(initial=0)) + 1
    pairs, place = np.unique(group * n_units + unit, return_inverse=True)
    scores = np.bincount(place, values) / np.bincount(place)
    owner = pairs // n_units
    n = np.bincount(owner, minlength=n_groups)
    mean = _divide(np.bincount(owner, scores, n_groups), n)
    squares = np.bincount(owner, (scores - mean[owner]) ** 2, n_groups)
    return mean, _divide(squares, n - 1), n


def _divide(total: Any, count: IntArray) -> FloatArray:
    return np.asarray(np.divide(total, count, out=np.full(len(total), np.nan), where=count > 0))
