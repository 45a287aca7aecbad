"""Scores of rows whose labels are known, by class and by group: one definition of each figure."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from seqclass._arrays import BoolArray, FloatArray, IntArray
from seqclass._validation import group_numbers
from seqclass.held_out import Interval, cost_interval, row_interval
from seqclass.statistics import group_differences

_NONE: Interval = (float("nan"), float("nan"))


@dataclass(frozen=True)
class ClassScores:
    """What was done with the rows of one class.

    Attributes
    ----------
    label : str
        The class.
    n_rows : int
        Its rows.
    sensitivity : float
        Share of them that were decided for it; NaN where there is none.
    realised_cost : float
        Mean of prices paid plus decision cost over them; NaN where there is none.
    mean_features : float
        Features acquired of each on average; NaN where there is none.
    mean_price : float
        Prices paid for each on average; NaN where there is none.
    specificity : float
        Share of the rows of all *other* classes that were not decided for it; NaN where there is none.
    sensitivity_interval, specificity_interval : tuple of float
        95% intervals.

    Examples
    --------
    >>> ClassScores("ill", 10, 0.9, 0.12, 2.5).sensitivity
    0.9
    """

    label: str
    n_rows: int
    sensitivity: float
    realised_cost: float
    mean_features: float
    mean_price: float = float("nan")
    specificity: float = float("nan")
    sensitivity_interval: Interval = _NONE
    specificity_interval: Interval = _NONE


@dataclass(frozen=True)
class GroupScores:
    """What was done with the rows of one group, such as a sex or a clinic; costs as in `Scores`.

    Attributes
    ----------
    group : str
        The group.
    n_rows : int
        Its rows.
    realised_cost : float
        Mean of prices paid plus decision cost.
    realised_cost_interval : tuple of float
        95% interval of it; NaN of a single row.
    difference : float
        That mean less that of all rows of other groups; NaN where there are none.
    difference_interval : tuple of float
        95% interval of the difference, by itself. NaN where the group, or all others together, have fewer than 20
        rows; see `seqclass.statistics.group_differences`.
    error : float
        Share of rows decided for a wrong class; a further decision, such as "refer", is no error.
    error_interval : tuple of float
        95% interval of it.
    mean_features : float
        Features acquired of a row on average.
    mean_price : float
        Prices paid for a row on average.
    classes : tuple of ClassScores
        The group's rows class by class.
    p_value : float
        Of the difference, corrected for the number of groups; NaN where there are too few rows.

    Examples
    --------
    >>> one = GroupScores("north", 50, 0.2, (0.1, 0.3), 0.02, (-0.1, 0.14), 0.15, (0.06, 0.24), 2.5, 0.05)
    >>> one.differs
    False
    """

    group: str
    n_rows: int
    realised_cost: float
    realised_cost_interval: Interval
    difference: float
    difference_interval: Interval
    error: float
    error_interval: Interval
    mean_features: float
    mean_price: float
    classes: tuple[ClassScores, ...] = ()
    p_value: float = float("nan")

    @property
    def differs(self) -> bool:
        """Whether the difference is beyond chance: p is 0.05 at most, and zero outside the interval."""
        return self.p_value <= 0.05 and (self.difference_interval[0] > 0 or self.difference_interval[1] < 0)


@dataclass(frozen=True, eq=False)
class Told:
    """Rows with their labels, decisions, prices paid and features."""

    label: IntArray
    decided: IntArray
    paid: FloatArray
    decision_costs: FloatArray
    n_features: IntArray

    @property
    def wrong(self) -> FloatArray:
        """Cost of each decision."""
        found: FloatArray = self.decision_costs[self.label, self.decided]
        return found

    @property
    def right(self) -> FloatArray:
        """1 where the decision is the class, else 0."""
        return np.where(self.decided == self.label, 1.0, 0.0)

    def among(self, rows: IntArray | BoolArray) -> Told:
        """Some of the rows."""
        parts = (self.label[rows], self.decided[rows], self.paid[rows])
        return Told(*parts, self.decision_costs, self.n_features[rows])

    def means(self) -> dict[str, Any]:
        """What all scores of some rows have; NaN where there is no row."""
        n = len(self.label)
        interval = cost_interval(self.paid, self.wrong, float(self.decision_costs.max())) if n else _NONE
        return {
            "n_rows": n,
            "realised_cost": _mean(self.paid + self.wrong),
            "realised_cost_interval": interval,
            "mean_features": _mean(self.n_features),
            "mean_price": _mean(self.paid),
        }

    def classes(self, names: list[str]) -> tuple[ClassScores, ...]:
        """Scores class by class."""
        found = []
        for number, name in enumerate(names):
            own = self.label == number
            told, spared = self.among(own), (self.decided[~own] != number).astype(np.float64)
            means = told.means()
            del means["realised_cost_interval"]
            found.append(
                ClassScores(
                    label=name,
                    **means,
                    sensitivity=_mean(told.right),
                    specificity=_mean(spared),
                    sensitivity_interval=_ends(told.right),
                    specificity_interval=_ends(spared),
                )
            )
        return tuple(found)

    def groups(self, group: npt.ArrayLike, names: list[str]) -> tuple[GroupScores, ...]:
        """Scores group by group."""
        number, _ = group_numbers(group, len(self.label))
        found = []
        for i, one in enumerate(group_differences(self.paid + self.wrong, group, low=0.0)):
            told = self.among(number == i)
            errors = (told.decided != told.label) & (told.decided < len(names))
            found.append(
                GroupScores(
                    group=one.group,
                    **told.means(),
                    difference=one.difference,
                    difference_interval=one.interval,
                    error=float(errors.mean()),
                    error_interval=_ends(errors.astype(np.float64)),
                    classes=told.classes(names),
                    p_value=one.p_value,
                )
            )
        return tuple(found)


def _mean(values: Any) -> float:
    return float(values.mean()) if len(values) else float("nan")


def _ends(values: FloatArray) -> Interval:
    return row_interval(values, 1.0) if len(values) else _NONE
