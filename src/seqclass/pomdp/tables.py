"""The contexts of a fixed order, where they are finitely many: what solvers of alpha vectors and grids need."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from functools import cached_property
from typing import Any

import numpy as np

from seqclass._utils.arrays import FloatArray, IntArray


class Tables(ABC):
    """Contexts of each stage of a fixed order, numbered from 0, with their likelihoods and what leads where."""

    @abstractmethod
    def n_contexts(self, stage: int) -> int:
        """Number of contexts at a stage."""

    @abstractmethod
    def contexts(self, stage: int, state: Any) -> IntArray:
        """Context number of each row of a problem's state, (n,)."""

    @abstractmethod
    def likelihoods(self, stage: int) -> FloatArray:
        """P(outcome | context, class) of all contexts of a stage, (n_contexts, n_outcomes, n_classes)."""

    @abstractmethod
    def moves(self, stage: int) -> IntArray:
        """Context at the next stage after each outcome, the last column after a missing one, by context."""

    @abstractmethod
    def state_in(self, stage: int, context: int) -> Any:
        """State of one instance in a context, as if whatever the context does not tell had been missing."""

    @property
    @abstractmethod
    def single(self) -> bool:
        """Whether every stage has one context only."""

    def likelihood(self, stage: int, context: IntArray) -> FloatArray:
        """P(outcome | context, class), (n, n_outcomes, n_classes); one row where the stage has one context."""
        table = self.likelihoods(stage)
        return table if len(table) == 1 else np.asarray(table[context])

    def successors(self, stage: int, context: IntArray) -> IntArray:
        """Context at the next stage after each outcome, (n, n_outcomes)."""
        return np.asarray(self.moves(stage)[context, :-1])


class ContextTables(Tables):
    """Likelihoods and moves of explicit contexts; the state of an instance is the number of its context.

    Without moves every stage has one context, and its table a row for each of so many outcomes, and perhaps more.
    """

    def __init__(
        self, likelihoods: Sequence[FloatArray] | FloatArray, transitions: Sequence[IntArray] | None, sizes: IntArray
    ) -> None:
        self._likelihoods, self._transitions, self._sizes = likelihoods, transitions, sizes

    @cached_property
    def single(self) -> bool:
        """Whether every stage has one context only."""
        return self._transitions is None or all(len(table) == 1 for table in self._likelihoods)

    def n_contexts(self, stage: int) -> int:
        """Number of contexts at a stage."""
        return 1 if self._transitions is None or stage >= len(self._sizes) else len(self._likelihoods[stage])

    def contexts(self, stage: int, state: Any) -> IntArray:
        """Context of each row: its state."""
        return np.asarray(state)

    def likelihoods(self, stage: int) -> FloatArray:
        """P(outcome | context, class) of all contexts."""
        table = self._likelihoods[stage]
        return table if self._transitions is not None else np.asarray(table[None, : self._sizes[stage]])

    def moves(self, stage: int) -> IntArray:
        """Context at the next stage after each outcome and a missing one, by context."""
        if self._transitions is None:
            return np.zeros((1, int(self._sizes[stage]) + 1), dtype=np.intp)
        return self._transitions[stage]

    def state_in(self, stage: int, context: int) -> IntArray:
        """The context, for one instance."""
        return np.full(1, context, dtype=np.intp)
