"""Which classes may still be true once a policy has decided."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from seqclass._utils.arrays import BoolArray, FloatArray, IntArray
from seqclass._utils.model_files import register
from seqclass._utils.tables import Readable
from seqclass._utils.text import exact_percent, percent

__all__ = ["Differential"]


@register
@dataclass(frozen=True, eq=False, repr=False)
class Differential(Readable):
    """Sets of classes that contain the true one with certified frequency; made by `seqclass.certify_differential`.

    A class is in the set of a case if its probability at the stop is at least its limit; the most probable class is
    always in it.

    Attributes
    ----------
    alpha, delta : float
        The true class is missing from the set in at most a share ``alpha`` of the cases, except with a chance of
        ``delta``.
    limits : ndarray of shape (n_classes,)
        Least probability with which each class is in the set; 0 if it always is.
    n_rows : int
        Number of rows that the limits were found on.
    missed : float
        Share of these rows whose set does not contain the true class.
    size : float
        Mean number of classes in their sets.
    by_class : bool
        Whether the certificate holds within each class.

    Examples
    --------
    >>> told = Differential(0.1, 0.1, np.array([0.2, 0.2]), 100, 0.05, 1.3)
    >>> told.holds(np.array([[0.7, 0.3], [0.95, 0.05]])).tolist()
    [[True, True], [True, False]]
    >>> print(told)
    Sets of classes that lack the true one in at most 10.0% of cases, with 90% confidence. On 100 rows: 1.30 classes a \
set, 5.0% lack the true one.
    """

    _columns = ("limits",)
    _axis = "class"

    alpha: float
    delta: float
    limits: FloatArray
    n_rows: int
    missed: float
    size: float
    by_class: bool = False

    def holds(self, posterior: npt.ArrayLike) -> BoolArray:
        """Which classes are in the sets of beliefs at the stop."""
        return prediction_sets(np.asarray(posterior, dtype=np.float64), self.limits)

    def __str__(self) -> str:
        whom = "of the cases of each class" if self.by_class else "of cases"
        return (
            f"Sets of classes that lack the true one in at most {exact_percent(self.alpha)} {whom}, with "
            f"{100 * (1 - self.delta):.10g}% confidence. On {self.n_rows} rows: {self.size:.2f} classes a set, "
            f"{percent(self.missed)} lack the true one."
        )


def prediction_sets(posterior: FloatArray, limits: FloatArray) -> BoolArray:
    """Classes whose probability reaches their limit, and the most probable one."""
    in_set = posterior >= limits
    in_set[np.arange(len(in_set)), posterior.argmax(axis=1)] = True
    return np.asarray(in_set)


def labels_of(held: BoolArray, labels: npt.NDArray[Any], posterior: FloatArray) -> list[tuple[Any, ...]]:
    """Labels of the classes in each set, the most probable first; each distinct set is spelt out once."""
    order = np.argsort(-posterior, axis=1, kind="stable")
    kept: IntArray = np.where(np.take_along_axis(held, order, axis=1), order, -1)
    distinct, which = np.unique(kept, axis=0, return_inverse=True)
    sets = [tuple(labels[row[row >= 0]].tolist()) for row in distinct]
    return [sets[number] for number in which.reshape(-1).tolist()]
