"""Acquisition problems with hidden states, of which each class may have several."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from seqclass._utils.arrays import (
    CACHE_BYTES,
    FloatArray,
    IntArray,
    chunks,
    condition_on_answer,
    draw_columns,
    within_classes,
)
from seqclass._utils.stored import require, require_numbers
from seqclass._utils.validation import check_distribution, in_order, own_labels
from seqclass.pomdp.bundles import Bundle, DrawnBundle, check_table
from seqclass.pomdp.latent import Hidden, Known, pad_tables
from seqclass.pomdp.problem import AcquisitionProblem
from seqclass.pomdp.structure import Structure
from seqclass.pomdp.table_problem import check_padding, price_each

__all__ = ["MixtureProblem"]


class MixtureProblem(AcquisitionProblem):
    """An acquisition problem whose classes are mixtures: given a hidden state, the answers are independent.

    Every hidden state belongs to a class. With one state per class, this is a `TableProblem`, naive Bayes. With more,
    answers depend on one another within a class, and what a question says may depend on the answers to others.

    Parameters
    ----------
    hidden_prior : array-like of shape (n_hidden,)
        P(hidden state) before anything is acquired.
    hidden_class : array-like of int of shape (n_hidden,)
        Class of each hidden state; every class has one at least.
    likelihoods : ndarray of shape (n_questions, V, n_hidden) or sequence of arrays of shape (n_outcomes, n_hidden)
        P(outcome | hidden state) of each question. A single array may be padded with zeros beyond ``n_outcomes``.
    prices : float or array-like of shape (n_questions,)
        Price of each question, in units of misclassification cost.
    decision_costs : array-like of shape (n_classes, n_decisions), optional
        Cost of each decision when each class is true; by default 0 for the right class and 1 else.
    n_outcomes : array-like of int of shape (n_questions,), optional
        Number of outcomes of each question; by default the tables' own.
    features, groups, full_prices : array-like of shape (n_questions,), optional
        See `AcquisitionProblem`.
    any_order : bool
        Whether the questions may be asked in any order.
    max_questions, max_cost, bundles : optional
        See `AcquisitionProblem`. The likelihoods of a bundle are of its joint outcomes; of a `DrawnBundle` they are its
        weights.

    Raises
    ------
    ValueError
        If a table is not a distribution over outcomes for each hidden state, or shapes do not fit.

    Examples
    --------
    The first question says which of the others tells the class, and by itself nothing about it:

    >>> import numpy as np
    >>> from seqclass.pomdp import optimal_cost
    >>> pointer = [[1, 0, 1, 0], [0, 1, 0, 1]]  # hidden states: class and place, the class first
    >>> first, second = [[1, 0.5, 0, 0.5], [0, 0.5, 1, 0.5]], [[0.5, 1, 0.5, 0], [0.5, 0, 0.5, 1]]
    >>> problem = MixtureProblem(np.full(4, 0.25), [0, 0, 1, 1], [pointer, first, second], prices=0.05, any_order=True)
    >>> round(optimal_cost(problem), 3)
    0.1
    """

    _of_likelihoods = ("_latent",)

    def __init__(
        self,
        hidden_prior: npt.ArrayLike,
        hidden_class: npt.ArrayLike,
        likelihoods: FloatArray | Sequence[npt.ArrayLike],
        prices: npt.ArrayLike,
        decision_costs: npt.ArrayLike | None = None,
        *,
        n_outcomes: npt.ArrayLike | None = None,
        features: npt.ArrayLike | None = None,
        groups: npt.ArrayLike | None = None,
        full_prices: npt.ArrayLike | None = None,
        any_order: bool = False,
        max_questions: int | None = None,
        max_cost: float | None = None,
        bundles: Sequence[Bundle | None] | None = None,
    ) -> None:
        weights, hidden = check_distribution(hidden_prior, None, "hidden_prior"), own_labels(hidden_prior)
        classes = np.array(in_order(hidden_class, "hidden_class", hidden))
        if classes.shape != weights.shape or classes.dtype.kind not in "iu" or classes.min() < 0:
            raise ValueError(f"hidden_class must hold a class for each of the {weights.size} hidden states.")
        n_classes = int(classes.max()) + 1
        if np.bincount(classes, minlength=n_classes).min() < 1:
            raise ValueError(f"hidden_class must have a hidden state for every class 0..{n_classes - 1}.")
        called = [f"likelihoods[{question}]" for question in range(len(likelihoods))]
        tables = [np.asarray(in_order(table, name, None, hidden), float) for table, name in zip(likelihoods, called)]
        for question, table in enumerate(tables):
            if table.ndim != 2 or table.shape[1] != weights.size:
                raise ValueError(
                    f"likelihoods[{question}] must have a row an outcome and a column for each of the {weights.size} "
                    f"hidden states, got shape {table.shape}."
                )
            check_table(table, f"likelihoods[{question}]")
        super().__init__(
            np.bincount(classes, weights, n_classes),
            price_each(prices, len(tables)),
            [len(table) for table in tables] if n_outcomes is None else n_outcomes,
            1 - np.eye(n_classes) if decision_costs is None else decision_costs,
            features,
            groups,
            full_prices,
            any_order=any_order,
            max_questions=max_questions,
            max_cost=max_cost,
            bundles=bundles,
        )
        self.hidden_class: IntArray = classes.astype(np.intp)
        self.member = np.eye(n_classes)[self.hidden_class]
        within = np.where(self.prior > 0, self.prior, 1.0)[self.hidden_class]
        # of a class that cannot be, the hidden states are as likely as one another
        counts = self.member.sum(axis=0)[self.hidden_class]
        self.hidden_prior = np.where(self.prior[self.hidden_class] > 0, weights / within, 1 / counts)
        self.likelihoods = pad_tables(tables, self.n_outcomes)
        if self.n_questions:
            check_padding(self.likelihoods, self.n_outcomes)

    def start(self, n: int) -> FloatArray:
        """P(hidden state | class) for each of ``n`` instances, (n, n_hidden)."""
        return np.tile(self.hidden_prior, (n, 1))

    def _sampled_bundle(self, question: int) -> DrawnBundle:
        bundle = self.structure.bundle(question)
        assert isinstance(bundle, DrawnBundle)  # nothing else is sampled
        return bundle

    def likelihood(self, question: Any, state: Any) -> FloatArray:
        """P(outcome | what was seen, class), (n, n_outcomes, n_classes)."""
        if isinstance(question, np.ndarray):
            return self._likelihood_each(question, state)
        return self.structure.likelihoods_of(np.array([question]), state)[:, 0, : self.n_outcomes[question]]

    def _likelihood_each(self, question: IntArray, state: FloatArray) -> FloatArray:
        widest = int(self.n_outcomes[question].max(initial=1))
        result = np.empty((len(state), widest, self.n_classes))
        for part in chunks(len(state), 8.0 * 2 * widest * state.shape[1], CACHE_BYTES):
            joint = self.likelihoods[question[part], :widest] * state[part, None, :]
            result[part] = joint @ self.member
        return result

    def advance(self, question: Any, state: Any, outcome: IntArray) -> FloatArray:
        """P(hidden state | what was seen, class) after the question showed ``outcome``."""
        rows = np.flatnonzero(outcome >= 0)
        if rows.size == len(outcome):
            shown = self._outcome_likelihood(question, outcome)
            return condition_on_answer(state, shown, self.hidden_class, self.member)
        after: FloatArray = np.array(state, dtype=np.float64)
        if rows.size:
            asked = question[rows] if isinstance(question, np.ndarray) else question
            after[rows] = self.advance(asked, after[rows], outcome[rows])
        return after

    def _outcome_likelihood(self, question: Any, outcome: IntArray) -> FloatArray:
        """P(outcome | hidden state) of outcomes that were seen, whole or in part, (n, n_hidden)."""
        if isinstance(question, np.ndarray):
            return np.asarray(self.likelihoods[question, outcome])
        table, bundle = self.likelihoods[question, : self.n_outcomes[question]], self.structure.bundle(question)
        return np.asarray(table[outcome]) if bundle is None else bundle.likelihood(outcome, table)

    def _by_question(self) -> list[str]:
        return [*super()._by_question(), "likelihoods"]

    @cached_property
    def _latent(self) -> Hidden:
        return Hidden(self.hidden_class, self.likelihoods, self.n_outcomes)

    @property
    def structure(self) -> MixtureStructure:
        """What it is known to be made of."""
        return MixtureStructure(self)

    def _check_stored(self) -> None:
        states = self.hidden_class
        tables = require_numbers(self, "likelihoods", self.n_questions, None, len(states))
        again = MixtureProblem(self.prior[states] * self.hidden_prior, states, tables, 0.0)
        require(np.array_equal(self.member, again.member), "member is not that of hidden_class")
        for question in filter(self.structure.is_sampled, range(self.n_questions)):
            bundle = self._sampled_bundle(question)
            known = bundle.tables.shape[2] == len(states) and len(bundle.drawn) == self.n_outcomes[question]
            require(known, "a bundle is of other hidden states")
        require(np.allclose(self.prior, again.prior), "hidden_prior is wrong")
        require((self.n_outcomes <= tables.shape[1]).all(), "likelihoods have other outcomes")
        if self._starts is not None:
            require_numbers(self._starts, "state", len(self._starts.weight), len(states))


class MixtureStructure(Structure["MixtureProblem"]):
    """What solvers may exploit of a `MixtureProblem`."""

    @property
    def latent(self) -> Hidden:
        """The latent states."""
        return self.problem._latent

    def supports_mixed_batches(self, questions: IntArray) -> bool:
        """Whether each row may ask a question of its own; see `Structure.supports_mixed_batches`."""
        return self.problem.bundles is None or all(self.bundle(question) is None for question in questions)

    def with_messages(self, state: Any, messages: Any) -> Any:
        """The messages, which hidden states are likely; a problem of tables has none."""
        return messages if np.shape(messages) == np.shape(state) else state

    def is_sampled(self, question: int) -> bool:
        """Whether the question is a bundle of too many joint outcomes to list them."""
        bundle = self.bundle(question)
        return bundle is not None and bundle.is_sampled

    def sampled_support(self, question: int, state: Any) -> IntArray:
        """Joint outcomes that stand for all of a sampled bundle's, (n, n_outcomes)."""
        drawn = self.problem._sampled_bundle(question).drawn
        return np.broadcast_to(drawn, (len(state), len(drawn)))

    def sample_outcomes(self, question: int, belief: Known, rows: IntArray, rng: np.random.Generator) -> IntArray:
        """Draw an outcome of a bundle for each of some rows, as the hidden states have it."""
        state = draw_columns(self.latent.probability(belief)[rows], rng.random(len(rows)))
        return self.problem._sampled_bundle(question).draw(state, rng)

    def likelihoods_of(self, questions: IntArray, state: Any) -> FloatArray:
        """P(outcome | what was seen, class) of many questions at once; see `Structure.likelihoods_of`."""
        table = self.problem.likelihoods[questions, : self.problem.n_outcomes[questions].max(initial=1)]
        return within_classes(state, table, self.latent.members)

    def observation_likelihood(self, question: int, state: Any, outcome: IntArray) -> FloatArray:
        """P(outcome | what was seen, class) of outcomes that were seen, whole or in part, (n, n_classes)."""
        return np.asarray((state * self.problem._outcome_likelihood(question, outcome)) @ self.problem.member)
