"""Acquisition problems given by tables of likelihoods."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from seqclass._utils.arrays import FloatArray, IntArray, pick, read_only
from seqclass._utils.stored import check_array, require, require_array, require_list, require_numbers
from seqclass._utils.validation import check_finite, in_order, own_labels
from seqclass.pomdp.bundles import Bundle, check_table
from seqclass.pomdp.latent import ClassStates, Hidden, one_per_belief, pad_tables
from seqclass.pomdp.needs import check_problem
from seqclass.pomdp.problem import AcquisitionProblem
from seqclass.pomdp.structure import Structure
from seqclass.pomdp.tables import ContextTables, Tables

__all__ = ["TableProblem"]


class TableProblem(AcquisitionProblem):
    """An acquisition problem whose likelihoods are arrays.

    Parameters
    ----------
    prior : array-like of shape (n_classes,)
        P(class) before anything is acquired.
    likelihoods : ndarray of shape (n_questions, n_outcomes, n_classes) or sequence of arrays
        P(outcome | class) of each question. In a sequence each is (n_outcomes, n_classes), or
        (n_contexts, n_outcomes, n_classes) where it depends on the context. A single array may be padded with
        zeros beyond ``n_outcomes``.
    prices : float or array-like of shape (n_questions,)
        Price of each question, in units of misclassification cost.
    decision_costs : array-like of shape (n_classes, n_decisions), optional
        Cost of each decision when each class is true; by default 0 for the right class and 1 else.
    transitions : sequence of ndarray of shape (n_contexts, n_outcomes + 1), optional
        Context of the next stage for each outcome, the last column for a missing outcome. Left out: one context.
        The problem starts in context 0. In a fixed order only.
    n_outcomes : array-like of int of shape (n_questions,), optional
        Number of outcomes of each question; by default the tables' own.
    features, groups, full_prices : array-like of shape (n_questions,), optional
        See `AcquisitionProblem`.
    any_order : bool
        Whether the questions may be asked in any order.
    max_questions, max_cost, bundles : optional
        See `AcquisitionProblem`. The likelihoods of a bundle are of its joint outcomes.

    Raises
    ------
    ValueError
        If a table is not a distribution over outcomes for each class, or shapes do not fit.

    Examples
    --------
    >>> import numpy as np
    >>> likelihood = np.array([[[0.9, 0.2], [0.1, 0.8]]])  # one feature, two outcomes, two classes
    >>> problem = TableProblem([0.5, 0.5], likelihood, prices=0.1)
    >>> problem.initial_belief().update(np.array([0])).probabilities.round(3)
    array([[0.818, 0.182]])
    """

    _of_likelihoods = ("_padded_likelihoods", "_merged_table", "_class_states", "_contexts")

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
        any_order: bool = False,
        max_questions: int | None = None,
        max_cost: float | None = None,
        bundles: Sequence[Bundle | None] | None = None,
    ) -> None:
        if any_order and transitions is not None:
            raise ValueError("transitions belong to a fixed order: in any order no stage follows from another.")
        classes, n_classes = own_labels(prior), np.asarray(prior).size
        if isinstance(likelihoods, np.ndarray) and likelihoods.shape[2:] != (n_classes,):
            raise ValueError(
                f"likelihoods must have shape (n_questions, n_outcomes, {n_classes}), got {likelihoods.shape}."
            )
        tables: FloatArray | list[FloatArray]
        tables = (
            likelihoods.astype(np.float64) if isinstance(likelihoods, np.ndarray) else _tables(likelihoods, classes)
        )
        super().__init__(
            prior,
            price_each(prices, len(tables)),
            [table.shape[-2] for table in tables] if n_outcomes is None else n_outcomes,
            1 - np.eye(n_classes) if decision_costs is None else decision_costs,
            features,
            groups,
            full_prices,
            any_order=any_order,
            max_questions=max_questions,
            max_cost=max_cost,
            bundles=bundles,
        )
        self.likelihoods = tables
        self.transitions = None if transitions is None else [np.array(t, dtype=np.intp) for t in transitions]
        self._check_tables()

    def start(self, n: int) -> IntArray:
        """Context 0 for each of ``n`` instances."""
        return np.zeros(n, dtype=np.intp)

    def likelihood(self, question: Any, state: Any) -> FloatArray:
        """P(outcome | context, class), (n, n_outcomes, n_classes)."""
        if isinstance(question, np.ndarray):
            return np.asarray(self._padded_likelihoods[question, : self.n_outcomes[question].max(initial=1)])
        table = self.likelihoods[question]
        if self.transitions is not None:
            return np.asarray(table[state])
        table = table[: self.n_outcomes[question]]
        return np.broadcast_to(table, (len(state), *table.shape)) if len(state) != 1 else read_only(table[None])

    def advance(self, question: Any, state: Any, outcome: IntArray) -> IntArray:
        """Context of the next stage."""
        if self.transitions is None:
            return np.asarray(state)
        # numpy's negative index reaches the last column, which is the missing outcome's
        return np.asarray(self.transitions[question][state, outcome])

    @cached_property
    def _padded_likelihoods(self) -> FloatArray:
        """Likelihoods as one array (n_questions, V, n_classes), zero beyond a question's own outcomes."""
        return pad_tables(self.likelihoods, self.n_outcomes)

    @property
    def _planned_table(self) -> FloatArray:
        return self._padded_likelihoods if self._merged_table is None else self._merged_table[0]

    @cached_property
    def _contexts(self) -> ContextTables:
        """The contexts of a fixed order; one at each stage where there are no transitions."""
        return ContextTables(self.likelihoods, self.transitions, self.n_outcomes)

    @cached_property
    def _class_states(self) -> ClassStates:
        return ClassStates(self._planned_table)

    @cached_property
    def _merged_table(self) -> tuple[FloatArray, IntArray] | None:
        return None if self.bundles is not None else one_per_belief(self._padded_likelihoods)

    def _by_question(self) -> list[str]:
        names = [*super()._by_question(), "likelihoods"]
        return names if self.transitions is None else [*names, "transitions"]

    def _check_tables(self) -> None:
        tables = self.likelihoods
        for question, bundle in enumerate(self.bundles or ()):
            if bundle is not None and bundle.n_complete != self.n_outcomes[question]:
                raise ValueError(
                    f"likelihoods[{question}] must have a row for each of the bundle's {bundle.n_complete} joint "
                    f"outcomes, got {self.n_outcomes[question]}."
                )
        if isinstance(tables, np.ndarray):
            if self.transitions is not None:
                raise ValueError("transitions need likelihoods as a sequence, one table a stage.")
            if self.n_questions:
                check_table(tables, "likelihoods")
                check_padding(tables, self.n_outcomes)
            return
        for stage, table in enumerate(tables):
            contexts = 2 if self.transitions is None else 3
            if table.ndim != contexts or table.shape[-2:] != (self.n_outcomes[stage], self.n_classes):
                raise ValueError(
                    f"likelihoods[{stage}] must end in shape {(self.n_outcomes[stage], self.n_classes)} and have "
                    f"{contexts} dimensions, got {table.shape}."
                )
            check_table(table, f"likelihoods[{stage}]")
        self._check_transitions()

    def _check_transitions(self) -> None:
        if self.transitions is None:
            return
        if len(self.transitions) != self.n_questions:
            raise ValueError(f"{len(self.transitions)} transition tables for {self.n_stages} stages.")
        for stage, table in enumerate(self.transitions):
            if table.shape != (len(self.likelihoods[stage]), self.n_outcomes[stage] + 1):
                raise ValueError(
                    f"transitions[{stage}] must have a row a context and a column an outcome plus one for missing, "
                    f"got {table.shape}."
                )
            following = len(self.likelihoods[stage + 1]) if stage + 1 < self.n_questions else None
            if following is not None and not (table.min() >= 0 and table.max() < following):
                raise ValueError(f"transitions[{stage}] names a context that stage {stage + 1} does not have.")

    @property
    def structure(self) -> TableStructure:
        """What it is known to be made of."""
        return TableStructure(self)

    def _check_stored(self) -> None:
        tables, transitions = self.likelihoods, self.transitions
        if isinstance(tables, np.ndarray):
            require_numbers(self, "likelihoods", self.n_questions, None, self.n_classes)
        else:
            for table in require_list(self, "likelihoods", self.n_questions):
                known = isinstance(table, np.ndarray) and table.dtype.kind == "f"
                require(known, "a likelihood is no array of numbers")
        if transitions is not None:
            require(type(transitions) is list, "transitions are no list")
            for following in transitions:
                check_array(following, "a transition", "i", None, None)
        self._check_tables()
        if self._starts is not None:
            require_array(self._starts, "state", "i", len(self._starts.weight))


class TableStructure(Structure["TableProblem"]):
    """What solvers may exploit of a `TableProblem`."""

    @property
    def tables(self) -> Tables | None:
        """The tables' own contexts; None in a problem in any order, where it is not the stage that is asked."""
        return None if self.problem.any_order else self.problem._contexts

    @property
    def class_tables(self) -> FloatArray | None:
        """P(outcome | class) of every question; None where there are contexts."""
        return self.problem._padded_likelihoods if self.problem.transitions is None else None

    @property
    def states(self) -> Hidden | None:
        """The classes as states, outcomes that give the same belief as one; None where there are contexts."""
        return self.problem._class_states if self.problem.transitions is None else None

    def supports_mixed_batches(self, questions: IntArray) -> bool:
        """Whether each row may ask a question of its own; see `Structure.supports_mixed_batches`."""
        return self.problem.transitions is None and (
            self.problem.bundles is None or all(self.bundle(q) is None for q in questions)
        )

    def likelihoods_for_plan(self, questions: IntArray, state: Any) -> FloatArray:
        """Likelihoods, outcomes that give the same belief as one; see `Structure.likelihoods_for_plan`."""
        if self.problem.transitions is not None:
            return super().likelihoods_for_plan(questions, state)
        table = self.problem._planned_table[questions]
        return np.broadcast_to(table, (len(state), *table.shape))

    @property
    def equivalent_outcomes(self) -> IntArray | None:
        """Outcome that stands for each that gives the same belief; see `Structure.equivalent_outcomes`."""
        plain = self.problem.transitions is None and not self.gates.any()
        merged = self.problem._merged_table if plain else None
        return None if merged is None else merged[1]


def select_questions(problem: AcquisitionProblem, questions: IntArray) -> AcquisitionProblem:
    """The problem of some questions, by their numbers; of a fixed order they must be the first ones."""
    changes = {name: pick(getattr(problem, name), questions) for name in problem._by_question()}
    if problem.limits.rules is not None:
        changes["rules"] = problem.limits.rules.take(questions)
    return problem.replace(**changes, visits=None if problem.visits is None else problem.visits.take(questions))


def in_any_order(problem: AcquisitionProblem) -> AcquisitionProblem:
    """Return the problem of the same questions in any order.

    Parameters
    ----------
    problem : AcquisitionProblem
        The problem.

    Returns
    -------
    AcquisitionProblem
        Itself where its questions come in any order already.

    Raises
    ------
    ValueError
        If it is a `TableProblem` with ``transitions``, whose contexts belong to its order.

    Examples
    --------
    >>> import numpy as np
    >>> from seqclass.pomdp import TableProblem, in_any_order
    >>> in_any_order(TableProblem([0.5, 0.5], np.array([[[0.9, 0.2], [0.1, 0.8]]]), prices=0.1)).any_order
    True
    """
    check_problem(problem)
    if isinstance(problem, TableProblem) and problem.transitions is not None and not problem.any_order:
        raise ValueError("this problem's contexts belong to its order: it has no counterpart in any order.")
    return problem if problem.any_order else problem.replace(any_order=True, max_cost=None)


def _tables(values: Sequence[npt.ArrayLike], classes: list[Any] | None) -> list[FloatArray]:
    called = [f"likelihoods[{stage}]" for stage in range(len(values))]
    tables = [check_finite(in_order(value, name, None, classes), name) for value, name in zip(values, called)]
    for stage, table in enumerate(tables):
        if table.ndim < 2:
            raise ValueError(
                f"likelihoods[{stage}] must have one row an outcome and one column a class, got shape {table.shape}."
            )
    return tables


def price_each(prices: npt.ArrayLike, n_tables: int) -> npt.ArrayLike:
    """A price for each of so many tables, which may have one in common."""
    if np.ndim(prices) == 1 and np.size(prices) != n_tables:
        raise ValueError(f"{n_tables} likelihood tables but {np.size(prices)} prices: give one for each, or for all.")
    return np.broadcast_to(prices, n_tables) if np.ndim(prices) == 0 else prices


def check_padding(tables: FloatArray, n_outcomes: IntArray) -> None:
    """Refuse tables that are not zero beyond a question's own outcomes."""
    width = tables.shape[1]
    if n_outcomes.max() > width:
        raise ValueError(f"n_outcomes must be at most {width}, the rows of likelihoods, got {n_outcomes.max()}.")
    beyond = tables.any(axis=2) & (np.arange(width) >= n_outcomes[:, None])
    if beyond.any():
        stage = int(beyond.any(axis=1).argmax())
        raise ValueError(f"likelihoods[{stage}] must be zero beyond its n_outcomes={n_outcomes[stage]}.")
