"""Labelled rows that a solver may learn from, or choose by."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy import sparse

from seqclass._utils.arrays import BoolArray, FloatArray, IntArray
from seqclass.pomdp.problem import AcquisitionProblem, BeliefState

__all__ = ["TrainingCases"]


def _as_always(outcomes: Any) -> None:
    """How cases begin of which nothing is known at the start."""


@dataclass(frozen=True)
class TrainingCases:
    """Rows whose class is known, as the features of a problem's model see them.

    Attributes
    ----------
    outcomes : ndarray or sparse array of int of shape (n, n_features)
        Outcome of each feature, negative where it is missing.
    classes : ndarray of int of shape (n,)
        Numbers of their classes.
    ordered : ndarray of bool of shape (n_features,)
        Whether the outcomes of a feature are in order, as bins of a number are.
    weight : ndarray of shape (n,), optional
    charge_missing : bool
        Whether an answer that is missing is paid for.
    begin : callable
        Returns how cases begin, as `acquire` takes it, of their outcomes.

    Examples
    --------
    >>> cases = TrainingCases(np.array([[0], [1], [1]]), np.array([0, 1, 1]), np.array([True]))
    >>> cases.even(2).classes.tolist()
    [0, 1]
    """

    outcomes: Any
    classes: IntArray
    ordered: BoolArray
    weight: FloatArray | None = None
    charge_missing: bool = False
    begin: Callable[[Any], tuple[BeliefState, IntArray] | None] = _as_always

    def even(self, most: int) -> TrainingCases:
        """Return all where there are no more than ``most``, else an even sample of as many."""
        n = len(self.classes)
        return self if n <= most else self.take(np.unique(np.linspace(0, n - 1, most).astype(np.intp)))

    def take(self, rows: Any) -> TrainingCases:
        """Return some of them."""
        weight = None if self.weight is None else self.weight[rows]
        return replace(self, outcomes=self.outcomes[rows], classes=self.classes[rows], weight=weight)

    def by_question(self, problem: AcquisitionProblem) -> tuple[IntArray, BoolArray]:
        """Return the outcome of each question, (n, n_questions), by the first of its features; and whether in order."""
        first = [problem.structure.members(question)[0] for question in range(problem.n_questions)]
        features = np.array(first, dtype=np.intp)
        shown = self.outcomes[:, features]
        return np.asarray(shown.toarray() if sparse.issparse(shown) else shown).astype(np.intp), self.ordered[features]
