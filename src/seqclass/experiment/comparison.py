"""How methods compare over data sets."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from seqclass.statistics import CriticalDifference, FriedmanTest, WinTieLoss

__all__ = ["Comparison"]


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

    def __str__(self) -> str:
        lines = [f"wins/ties/losses by {self.metric}", self.wins.frame().to_string()]
        lines += [] if self.friedman is None else [str(self.friedman)]
        lines += [] if self.nemenyi is None else [f"average ranks: {self.nemenyi}"]
        lines += [f"left out, without a score: {', '.join(self.left_out)}"] if self.left_out else []
        return "\n".join(lines)
