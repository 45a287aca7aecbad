"""How methods compare over data sets."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from seqclass._arrays import FloatArray
from seqclass.experiment._columns import HIGHER_IS_BETTER
from seqclass.experiment._differences import ALL, BY_CASE, differences
from seqclass.experiment._judged import case_scores
from seqclass.experiment._summary import paired_scores
from seqclass.statistics import (
    CriticalDifference,
    FriedmanTest,
    WinTieLoss,
    critical_difference,
    friedman_test,
    win_tie_loss,
)

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
    >>> from seqclass.statistics import win_tie_loss
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
