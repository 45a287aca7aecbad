"""Differences between methods, pair by pair on the same folds, or on the same cases where there is a single fold."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.stats import t as student

from seqclass._arrays import FloatArray, IntArray
from seqclass.statistics.intervals import interval_ends
from seqclass.statistics.paired import paired_t_test

#: What stands for all data sets together.
ALL = "all data sets"
#: Scores that are means over cases, so that cases can be paired.
BY_CASE = ("realised_cost", "accuracy")
COLUMNS = ("data", "method", "against", "difference", "lower", "upper", "p_value", "n", "paired_by", "verdict")

Cases = Callable[[str, str], FloatArray | None]


def differences(units: Any, ratio: Any, scores: Any, higher: bool, cases: Cases) -> Any:
    """Differences of every two methods, on each data set and over all.

    Parameters
    ----------
    units : pandas.DataFrame
        Scores of folds that all methods have, a column a method, indexed by data set, seed and fold.
    ratio : pandas.Series
        Rows of a test part over those of its training part, by data set.
    scores : pandas.DataFrame
        Mean scores, a row a data set, a column a method.
    higher : bool
        Whether more is better.
    cases : callable
        Gives the scores of each case of a data set by a method, where a single fold is all there is; or None.

    Returns
    -------
    pandas.DataFrame
        Of columns ``COLUMNS``.
    """
    import pandas as pd

    names = list(scores.index)
    units = units[units.index.get_level_values("data").isin(names)]
    data = pd.Index(names).get_indexer(units.index.get_level_values("data"))
    shared = ratio.reindex(names).fillna(0.0).to_numpy(dtype=np.float64)
    frames = []
    for pair in itertools.combinations(scores.columns, 2):
        d = (units[pair[0]] - units[pair[1]]).to_numpy(dtype=np.float64)
        found = _paired(d, data, shared)
        found["paired_by"] = np.where(found["n"] > 1, "fold", "")
        frame = pd.DataFrame({"data": names, "method": pair[0], "against": pair[1], **found})
        _by_case(frame, pair, cases)
        frames.append(frame)
        if len(names) > 1:
            over = scores[pair[0]].to_numpy() - scores[pair[1]].to_numpy()
            whole = _paired(over, np.zeros(len(names), dtype=np.intp), np.zeros(1))
            frames.append(
                pd.DataFrame({"data": ALL, "method": pair[0], "against": pair[1], **whole, "paired_by": "data set"})
            )
    table = pd.concat(frames, ignore_index=True)
    # the data sets together first, then each by itself
    table = table.iloc[np.argsort((table["data"] != ALL).to_numpy(), kind="stable")].reset_index(drop=True)
    table["verdict"] = _verdicts(table, higher)
    return table[list(COLUMNS)]


def _paired(d: FloatArray, group: IntArray, shared: FloatArray) -> dict[str, Any]:
    """Mean differences of all groups at once, with the corrected t interval of `paired_t_test`."""
    n_groups = len(shared)
    n = np.bincount(group, minlength=n_groups)
    mean = np.bincount(group, d, n_groups) / n
    spread = np.bincount(group, (d - mean[group]) ** 2, n_groups) / np.maximum(n - 1, 1)
    largest = np.zeros(n_groups)
    np.maximum.at(largest, group, np.abs(d))
    spread[spread <= (1e-12 * largest) ** 2] = 0.0  # equal but for rounding
    error = np.sqrt((1 / n + shared) * spread)
    lower, upper = interval_ends(mean, error, n, 0.95, (-np.inf, np.inf))
    statistic = np.divide(np.abs(mean), error, out=np.where(mean == 0, 0.0, np.inf), where=error > 0)
    p_value = np.where(n > 1, 2 * student.sf(statistic, np.maximum(n - 1, 1)), np.nan)
    return {"difference": mean, "lower": lower, "upper": upper, "p_value": p_value, "n": n}


def _by_case(frame: Any, pair: tuple[str, str], cases: Cases) -> None:
    """Of a single fold, fill in the interval over its cases, where these were kept."""
    for i in np.flatnonzero((frame["n"] == 1).to_numpy()):
        first, second = (cases(frame["data"].iloc[i], method) for method in pair)
        if first is None or second is None or not 1 < len(first) == len(second):
            continue
        test = paired_t_test(first, second)
        assert test.interval is not None
        columns = ["difference", "lower", "upper", "p_value", "n", "paired_by"]
        frame.loc[i, columns] = [test.difference, *test.interval, test.p_value, test.n, "case"]


def _verdicts(table: Any, higher: bool) -> Any:
    """What each interval says of the first method."""
    above, below = ("better", "worse") if higher else ("worse", "better")
    lower, upper = table["lower"].to_numpy(dtype=float), table["upper"].to_numpy(dtype=float)
    said = np.where(lower > 0, above, np.where(upper < 0, below, "noise"))
    same = (lower == 0) & (upper == 0)
    return np.where(np.isnan(lower), "one fold", np.where(same, "the same", said))
