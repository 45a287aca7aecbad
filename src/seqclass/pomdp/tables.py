"""Acquisition problems given by tables of likelihoods."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from seqclass._arrays import FloatArray, IntArray
from seqclass._validation import check_finite
from seqclass.pomdp.problem import AcquisitionProblem


class TableProblem(AcquisitionProblem):
    """An acquisition problem whose likelihoods are arrays.

    Parameters
    ----------
    prior : array-like of shape (n_classes,)
        P(class) before anything is acquired.
    likelihoods : ndarray of shape (n_stages, n_outcomes, n_classes) or sequence of arrays
        P(outcome | class) at each stage. In a sequence each stage is (n_outcomes, n_classes), or
        (n_contexts, n_outcomes, n_classes) where it depends on the context. A single array may be padded with
        zeros beyond ``n_outcomes``.
    prices : float or array-like of shape (n_stages,)
        Price of each stage's feature, in units of misclassification cost.
    decision_costs : array-like of shape (n_classes, n_decisions), optional
        Cost of each decision when each class is true; by default 0 for the right class and 1 else.
    transitions : sequence of ndarray of shape (n_contexts, n_outcomes + 1), optional
        Context of the next stage for each outcome, the last column for a missing outcome. Left out: one context.
        The problem starts in context 0.
    n_outcomes : array-like of int of shape (n_stages,), optional
        Number of outcomes of each stage; by default the tables' own.
    features, groups, full_prices : array-like of shape (n_stages,), optional
        See `AcquisitionProblem`.

    Raises
    ------
    ValueError
        If a table is not a distribution over outcomes for each class, or shapes do not fit.

    Examples
    --------
    >>> import numpy as np
    >>> likelihood = np.array([[[0.9, 0.2], [0.1, 0.8]]])  # one feature, two outcomes, two classes
    >>> problem = TableProblem([0.5, 0.5], likelihood, prices=0.1)
    >>> problem.begin().update(np.array([0])).belief.round(3)
    array([[0.818, 0.182]])
    """

    def __init__(
        self,
        prior: npt.ArrayLike,
        likelihoods: FloatArray | Sequence[npt.ArrayLike],
        prices: npt.ArrayLike,
        decision_costs: npt.ArrayLike | None = None,
        *,
        transitions: Sequence[npt.ArrayLike] | None = None,
        n_outcomes: npt.ArrayLike | None = None,
        features: npt.ArrayLike | None = None,
        groups: npt.ArrayLike | None = None,
        full_prices: npt.ArrayLike | None = None,
    ) -> None:
        n_classes = np.asarray(prior).size
        if isinstance(likelihoods, np.ndarray) and likelihoods.ndim != 3:
            raise ValueError(
                f"likelihoods must have shape (n_stages, n_outcomes, {n_classes}), got {likelihoods.shape}."
            )
        tables = likelihoods if isinstance(likelihoods, np.ndarray) else _tables(likelihoods)
        n_stages = len(tables)
        if n_outcomes is None:
            n_outcomes = [table.shape[-2] for table in tables]
        super().__init__(
            prior,
            np.broadcast_to(prices, n_stages) if np.ndim(prices) == 0 else prices,
            n_outcomes,
            1 - np.eye(n_classes) if decision_costs is None else decision_costs,
            features,
            groups,
            full_prices,
        )
        if len(tables) != self.n_stages:
            raise ValueError(f"{len(tables)} likelihood tables but {self.n_stages} prices.")
        self.likelihoods = tables
        self.transitions = None if transitions is None else [np.array(t, dtype=np.intp) for t in transitions]
        self._check_tables()

    @property
    def has_tables(self) -> bool:
        """Always: the states are the tables' contexts."""
        return True

    def start(self, n: int) -> IntArray:
        """Context 0 for each of ``n`` instances."""
        return np.zeros(n, dtype=np.intp)

    def likelihood(self, stage: int, state: Any) -> FloatArray:
        """P(outcome | context, class), (n, n_outcomes, n_classes)."""
        table = self.context_likelihood(stage, self.contexts(stage, state))
        n = len(state)
        return table if len(table) == n else np.broadcast_to(table, (n, *table.shape[1:]))

    def advance(self, stage: int, state: Any, outcome: IntArray) -> IntArray:
        """Context of the next stage."""
        if self.transitions is None:
            return np.asarray(state)
        # numpy's negative index reaches the last column, which is the missing outcome's
        return np.asarray(self.transitions[stage][state, outcome])

    def state_in(self, stage: int, context: int = 0) -> IntArray:
        """The context, for one instance."""
        return np.full(1, context, dtype=np.intp)

    def n_contexts(self, stage: int) -> int:
        """Number of contexts at a stage."""
        return 1 if self.transitions is None else len(self.likelihoods[stage])

    def contexts(self, stage: int, state: Any) -> IntArray | None:
        """Context number of each row."""
        return None if self.transitions is None else np.asarray(state)

    def successor_contexts(self, stage: int, context: IntArray | None) -> IntArray | None:
        """Context at the next stage for each outcome, (n, n_outcomes)."""
        if self.transitions is None:
            return None
        return np.asarray(self.transitions[stage][context, : self.n_outcomes[stage]])

    def context_likelihood(self, stage: int, context: IntArray | None) -> FloatArray:
        """Likelihood table of the given contexts, (n, V, C), or (1, V, C) if there is one context."""
        table = self.likelihoods[stage]
        if self.transitions is None:
            return np.asarray(table[None, : self.n_outcomes[stage]])
        return np.asarray(table[context])

    def _check_tables(self) -> None:
        tables = self.likelihoods
        if isinstance(tables, np.ndarray):
            if tables.shape[2] != self.n_classes:
                raise ValueError(
                    f"likelihoods must have shape (n_stages, n_outcomes, {self.n_classes}), got {tables.shape}."
                )
            if self.transitions is not None:
                raise ValueError("transitions need likelihoods as a sequence, one table a stage.")
            if self.n_stages:
                _check_table(tables, "likelihoods")
                _check_padding(tables, self.n_outcomes)
            return
        for stage, table in enumerate(tables):
            contexts = 2 if self.transitions is None else 3
            if table.ndim != contexts or table.shape[-2:] != (self.n_outcomes[stage], self.n_classes):
                raise ValueError(
                    f"likelihoods[{stage}] must end in shape {(self.n_outcomes[stage], self.n_classes)} and have "
                    f"{contexts} dimensions, got {table.shape}."
                )
            _check_table(table, f"likelihoods[{stage}]")
        self._check_transitions()

    def _check_transitions(self) -> None:
        if self.transitions is None:
            return
        if len(self.transitions) != self.n_stages:
            raise ValueError(f"{len(self.transitions)} transition tables for {self.n_stages} stages.")
        for stage, table in enumerate(self.transitions):
            if table.shape != (len(self.likelihoods[stage]), self.n_outcomes[stage] + 1):
                raise ValueError(
                    f"transitions[{stage}] must have a row a context and a column an outcome plus one for missing, "
                    f"got {table.shape}."
                )
            if stage + 1 < self.n_stages and not (table.min() >= 0 and table.max() < self.n_contexts(stage + 1)):
                raise ValueError(f"transitions[{stage}] names a context that stage {stage + 1} does not have.")


def _tables(values: Sequence[npt.ArrayLike]) -> list[FloatArray]:
    tables = [check_finite(value, f"likelihoods[{stage}]") for stage, value in enumerate(values)]
    for stage, table in enumerate(tables):
        if table.ndim < 2:
            raise ValueError(
                f"likelihoods[{stage}] must have one row an outcome and one column a class, got shape {table.shape}."
            )
    return tables


def _check_padding(tables: FloatArray, n_outcomes: IntArray) -> None:
    width = tables.shape[1]
    if n_outcomes.max() > width:
        raise ValueError(f"n_outcomes must be at most {width}, the rows of likelihoods, got {n_outcomes.max()}.")
    beyond = tables.any(axis=2) & (np.arange(width) >= n_outcomes[:, None])
    if beyond.any():
        stage = int(beyond.any(axis=1).argmax())
        raise ValueError(f"likelihoods[{stage}] must be zero beyond its n_outcomes={n_outcomes[stage]}.")


def _check_table(table: FloatArray, name: str) -> None:
    if not np.isfinite(table).all() or table.min() < 0:
        raise ValueError(f"{name} must hold probabilities; it has negative or non-finite entries.")
    if np.abs(table.sum(axis=-2) - 1).max() > 1e-6:
        raise ValueError(f"{name} must sum to 1 over outcomes for each class.")
