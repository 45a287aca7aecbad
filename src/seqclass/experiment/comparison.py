"""How methods compare over data sets."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from scipy.stats import t as student

from seqclass._utils.arrays import BoolArray, FloatArray, IntArray
from seqclass.experiment._columns import HIGHER_IS_BETTER
from seqclass.experiment._judged import case_scores
from seqclass.stats import (
    CriticalDifference,
    FriedmanTest,
    WinTieLoss,
    critical_difference,
    friedman_test,
    win_tie_loss,
)
from seqclass.stats.intervals import interval_ends
from seqclass.stats.paired import paired_t_test

_PROPORTIONS = frozenset({"accuracy", "macro_f1", "sensitivity", "specificity", "auroc", "calibration_error"})
#: Certified bounds are estimates, which chance may take below zero.
_UNBOUNDED = frozenset({"lower", "upper", "gap"})


def bounds_of(metric: str) -> tuple[float, float]:
    """Least and greatest value that a figure of a cell can have."""
    if metric in _UNBOUNDED:
        return -np.inf, np.inf
    return 0.0, 1.0 if metric in _PROPORTIONS else np.inf


def summarise(table: Any, by: Sequence[str], metrics: Sequence[str], confidence: float) -> Any:
    """Means with intervals, a row a group."""
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
    """Mean score of each method on each data set, over the folds on which every method has one."""
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


#: What stands for all data sets together.
ALL = "all data sets"
#: Scores that are means over cases, so that cases can be paired.
BY_CASE = ("realised_cost", "accuracy")
COLUMNS = ("data", "method", "against", "difference", "lower", "upper", "p_value", "n", "paired_by", "verdict")

Cases = Callable[[str, str], FloatArray | None]


def differences(units: Any, ratio: Any, scores: Any, higher: bool, cases: Cases) -> Any:
    """Differences of every two methods, on each data set and over all."""
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


__all__ = ["Comparison"]

#: Differences that are printed; beyond these, those over all data sets only.
_MOST = 30


@dataclass(frozen=True, eq=False)
class Comparison:
    """How methods compare over data sets, by one score.

    Attributes
    ----------
    metric : str
        The score.
    scores : pandas.DataFrame
        Mean score, a row a data set, a column a method.
    wins : WinTieLoss
        On how many data sets each method beats each other one.
    friedman : FriedmanTest or None
        Whether any differ; None with fewer than three methods or two data sets.
    nemenyi : CriticalDifference or None
        Which differ; None as above.
    left_out : tuple of str
        Methods without any score, because all their cells failed, say.
    differences : pandas.DataFrame or None
        A row for every two methods on each data set, and over ``"all data sets"`` where there are several:
        ``difference`` of the score of ``method`` less that of ``against``, its 95% interval ``lower`` to ``upper`` and
        ``p_value``, of ``n`` pairs. They are paired (``paired_by``) by fold, with the correction of Nadeau and Bengio
        for shared training rows; by case where there is a single fold, of realised cost and accuracy; over all by data
        set. ``verdict`` says what the interval says: ``"better"``, ``"worse"``, ``"noise"``, ``"the same"``, or ``"one
        fold"`` where there is none. Each interval is by itself: of twenty pairs that are alike one stands out.

    Examples
    --------
    >>> import pandas as pd
    >>> scores = pd.DataFrame({"a": [0.9, 0.8], "b": [0.7, 0.8]})
    >>> from seqclass.stats import win_tie_loss
    >>> print(Comparison("accuracy", scores, win_tie_loss(scores), None, None))
    wins/ties/losses by accuracy
           a      b
    a      -  1/1/0
    b  0/1/1      -
    """

    metric: str
    scores: Any
    wins: WinTieLoss
    friedman: FriedmanTest | None
    nemenyi: CriticalDifference | None
    left_out: tuple[str, ...] = ()
    differences: Any = None

    def __str__(self) -> str:
        # of one data set a win says nothing that the difference does not
        told = len(self.scores) > 1 or self.differences is None
        lines = [f"wins/ties/losses by {self.metric}", self.wins.frame().to_string()] if told else []
        lines += [] if self.friedman is None else [str(self.friedman)]
        lines += [] if self.nemenyi is None else [f"average ranks: {self.nemenyi}"]
        lines += [f"left out, without a score: {', '.join(self.left_out)}"] if self.left_out else []
        return "\n".join([*lines, *self._told()])

    def _told(self) -> list[str]:
        """Differences as lines; of very many those over all data sets."""
        table = self.differences
        if table is None:
            return []
        if len(table) > _MOST:
            table = table[table["data"] == ALL]
        lines = [f"differences of {self.metric}, paired, with 95% intervals"]
        for row in table.to_dict("records"):
            ends = "" if row["lower"] != row["lower"] else f" [{row['lower']:+.4f}, {row['upper']:+.4f}]"
            pairs = f" ({row['n']} {row['paired_by']}s)" if row["paired_by"] else ""
            named = f"{row['method']} less {row['against']} on {row['data']}"
            lines.append(f"{named}: {row['difference']:+.4f}{ends}{pairs}: {row['verdict']}")
        return lines


def compare_methods(path: Path, table: Any, metric: str, alpha: float) -> Comparison:
    """Compare the methods in a table of cells; see `Results.compare`."""
    named, able = list(dict.fromkeys(table["method"])), set(table.loc[table[metric].notna(), "method"])
    methods = [name for name in named if name in able]
    if len(methods) < 2:
        raise ValueError(f"two methods or more must have a score of {metric}; of {named} have one: {methods}.")
    cells = table[table["method"].isin(methods)]
    scores, units = paired_scores(cells, metric)
    scores = scores[methods]
    if not len(scores):
        raise ValueError(f"there is no data set for which every method has a score of {metric} on the same folds.")
    higher = metric in HIGHER_IS_BETTER
    several = len(methods) > 2 and len(scores) > 1
    sizes = cells[["n_test", "n_train"]].astype("float64")
    ratio = (sizes["n_test"] / sizes["n_train"]).groupby(cells["data"]).mean()

    @cache  # a method is in many pairs
    def cases(data: str, method: str) -> FloatArray | None:
        own = cells[(cells["data"] == data) & (cells["method"] == method)]
        return case_scores(path, own, metric) if metric in BY_CASE else None

    return Comparison(
        metric=metric,
        scores=scores,
        wins=win_tie_loss(scores, higher_is_better=higher),
        friedman=friedman_test(scores, higher_is_better=higher) if several else None,
        nemenyi=critical_difference(scores, alpha=alpha, higher_is_better=higher) if several else None,
        left_out=tuple(name for name in named if name not in able),
        differences=differences(units, ratio, scores, higher, cases),
    )
