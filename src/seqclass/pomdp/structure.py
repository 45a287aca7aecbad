"""What solvers, rules and simulations may exploit of a problem's joint distribution, beyond one question at a time."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, Generic, Protocol, TypeVar

import numpy as np

from seqclass._utils.arrays import BoolArray, FloatArray, IntArray, chunks, lower_envelope, row_sums
from seqclass._utils.validation import check_likelihood
from seqclass.pomdp.account import PricedProblem
from seqclass.pomdp.bundles import Bundle
from seqclass.pomdp.latent import Hidden, Known, StateTables
from seqclass.pomdp.starts import Starts
from seqclass.pomdp.tables import Tables
from seqclass.pomdp.ties import TIE

__all__ = ["Structure"]


class StructuredProblem(PricedProblem, Protocol):
    """What a structure asks of its problem: see `AcquisitionProblem`."""

    decision_costs: FloatArray
    n_outcomes: IntArray
    features: IntArray
    bundles: Sequence[Bundle | None] | None
    _starts: Starts | None

    @property
    def n_classes(self) -> int: ...

    @property
    def _put_off(self) -> IntArray: ...

    def likelihood(self, question: Any, state: Any) -> FloatArray: ...


P = TypeVar("P", bound="StructuredProblem")


def likelihood_of(problem: StructuredProblem, question: Any, state: Any) -> FloatArray:
    """What `likelihood` gives, of a problem of one's own if it is P(outcome | what was seen, class) of all outcomes."""
    likelihood = np.asarray(problem.likelihood(question, state))
    name, listed = type(problem).__name__, problem.n_outcomes[question]
    if type(problem).likelihood.__module__.startswith("seqclass.") or problem.bundles is not None:
        return likelihood
    wanted = (len(state), int(np.max(listed, initial=1)), problem.n_classes)
    return check_likelihood(likelihood, wanted, f"{name}.likelihood of question {question}")


class Structure(Generic[P]):
    """What is known of a problem beyond its three calls: a view of it, which solvers ask at the door.

    A problem of your own needs none of its own: what this class answers holds for any. One that can do more gives a
    subclass by its property `AcquisitionProblem.structure`.

    Parameters
    ----------
    problem : AcquisitionProblem
        The problem.

    Examples
    --------
    >>> import numpy as np
    >>> from seqclass.pomdp import TableProblem
    >>> problem = TableProblem([0.5, 0.5], np.array([[[0.9, 0.2], [0.1, 0.8]]]), prices=0.1)
    >>> problem.structure.tables.single, problem.structure.latent
    (True, None)
    """

    def __repr__(self) -> str:
        has = [name for name in ("tables", "latent") if getattr(self, name) is not None]
        return f"<{type(self).__name__}: {' and '.join(has) or 'neither tables nor latent states'} of {self.problem!r}>"

    def __init__(self, problem: P) -> None:
        self.problem = problem

    @property
    def tables(self) -> Tables | None:
        """The finitely many contexts of a fixed order and their likelihoods; None where there are none."""
        return None

    @property
    def class_tables(self) -> FloatArray | None:
        """P(outcome | class) of every question, (n_questions, V, n_classes), zero beyond its own outcomes.

        None where what was seen before matters as well, or outcomes are too many.
        """
        return None

    @property
    def latent(self) -> Hidden | None:
        """Latent states beside the class, given which answers are independent; None where there are none."""
        return None

    @property
    def state_tables(self) -> tuple[FloatArray, IntArray] | None:
        """P(outcome | state) of every question, (n_questions, V, n_states), and the class of each state.

        States are the latent ones, or where answers depend on the class alone the classes; None where there are none.
        """
        if (tables := self.class_tables) is not None:
            return tables, np.arange(self.problem.n_classes)
        if (latent := self.latent) is not None:
            return latent.likelihoods_of(np.arange(self.problem.n_questions)), latent.classes
        return None

    @property
    def states(self) -> Hidden | None:
        """Tables of these states, laid out for what rules work out of all questions at once; None where none are."""
        return self.latent

    def of_questions(
        self,
        questions: IntArray,
        belief: Known,
        by_states: Callable[[StateTables, FloatArray], FloatArray],
        by_rows: Callable[[FloatArray, FloatArray], FloatArray],
        n_columns: int = 0,
    ) -> FloatArray:
        """What is worked out of each of some questions, (n, m): by tables of states, or by the rows' own likelihoods.

        Parameters
        ----------
        questions : ndarray of int of shape (m,)
            The questions.
        belief : BeliefState
            What is known of ``n`` instances.
        by_states : callable
            Gives a number for each row and question of some tables, by P(state | what was seen).
        by_rows : callable
            The same where there are no states, by P(class | what was seen) and likelihoods as of `likelihood_parts`.
        n_columns : int
            Numbers that it computes of each row, question and outcome, if more than there are classes.

        Returns
        -------
        ndarray of shape (n, m)
        """
        states = self.states
        if states is not None and self.problem.bundles is None and len(questions):  # nothing to put together
            tables, at = states.tables_of(questions)
            return by_states(tables, states.probability(belief))[:, at]
        result = np.empty((len(belief), len(questions)))
        if states is None:
            for part, places, likelihood in self.likelihood_parts(questions, belief.state, n_columns):
                result[part, places] = by_rows(belief.probabilities[part], likelihood)
            return result
        known = states.probability(belief)
        for places in self.together(questions):
            tables, at = states.tables_of(questions[places])
            result[:, places] = by_states(tables, known)[:, at]
        return result

    def projection(self, max_contexts: int) -> P | None:
        """Return a problem with tables that stands in for this one, None if there is none.

        It remembers of what was seen only enough for ``max_contexts`` contexts a stage; its tables read the states of
        this problem as well as its own.
        """
        return None

    def answers(self, stage: int, state: Any) -> IntArray | None:
        """Outcomes seen so far that the stage or later ones depend on, (n, m), -1 where missing; None if not told."""
        return None

    def successor_answers(self, stage: int, answers: IntArray) -> IntArray:
        """What `answers` gives at the next stage after each outcome, (n, n_outcomes, m)."""
        raise NotImplementedError(f"{type(self.problem).__name__} does not tell its answers.")

    def bundle(self, question: int) -> Bundle | None:
        """What a question shows where it shows several features at once; None where it shows one."""
        bundles = self.problem.bundles
        return None if bundles is None else bundles[question]

    def members(self, question: int) -> IntArray:
        """Features that a question shows."""
        bundle, features = self.bundle(question), self.problem.features
        return np.asarray(features[question : question + 1] if bundle is None else bundle.features)

    def supports_mixed_batches(self, questions: IntArray) -> bool:
        """Whether `likelihood`, then zero beyond own outcomes, and `advance` take one of these for each row, (n,)."""
        return False

    def is_sampled(self, question: int) -> bool:
        """Whether `likelihood` stands for more outcomes than it lists: those of `sampled_support`, a sample."""
        return False

    @property
    def samples(self) -> bool:
        """Whether any question is sampled."""
        problem = self.problem
        return problem.bundles is not None and any(self.is_sampled(question) for question in range(problem.n_questions))

    def sampled_support(self, question: int, state: Any) -> IntArray:
        """Outcomes that `likelihood` is about where it is sampled, (n, n_outcomes)."""
        raise NotImplementedError(f"{type(self.problem).__name__} lists all outcomes of its questions.")

    def sample_outcomes(self, question: int, belief: Known, rows: IntArray, rng: np.random.Generator) -> IntArray:
        """Draw an outcome of a sampled question for each of some rows, perhaps repeated, as the model has it."""
        raise NotImplementedError(f"{type(self.problem).__name__} lists all outcomes of its questions.")

    def observation_likelihood(self, question: int, state: Any, outcome: IntArray) -> FloatArray:
        """P(outcome | what was seen, class) of outcomes that were seen, whole or in part, (n, n_classes)."""
        likelihood, bundle = self.problem.likelihood(question, state), self.bundle(question)
        return likelihood[np.arange(len(outcome)), outcome] if bundle is None else bundle.marginal(likelihood, outcome)

    def draw_cases(self, n: int, rng: np.random.Generator) -> IntArray | None:
        """Outcomes of all questions in ``n`` cases, (n, n_questions); None where they are asked one after the other."""
        return None

    def posterior_of(self, cases: IntArray) -> FloatArray:
        """P(class | the answers to all questions) of cases that `draw_cases` has drawn, (n, n_classes)."""
        raise NotImplementedError(f"{type(self.problem).__name__} draws no cases at once.")

    def join(self, states: Sequence[Any]) -> Any:
        """Put the rows of several states together, one after the other."""
        if all(isinstance(state, np.ndarray) for state in states):
            return np.concatenate(states)
        wanted = "join(states), which puts rows of several states together: those that ask different questions part."
        raise TypeError(f"the structure of {type(self.problem).__name__} must give {wanted}")

    def messages(self, state: Any) -> Any:
        """What a state has of the answers to all questions of a model, whatever the problem itself remembers."""
        return state

    def with_messages(self, state: Any, messages: Any) -> Any:
        """A state with messages of another problem of the same model, where it keeps any."""
        return state

    @property
    def starts(self) -> Starts | None:
        """How cases begin of which something is known before the first question; None: nothing is."""
        return self.problem._starts

    def state_of(self, starts: Starts) -> Any:
        """The problem's own state where cases begin."""
        return starts.state

    def together(self, questions: IntArray) -> list[IntArray]:
        """Positions of questions whose likelihoods are worth computing together.

        Bundles have many outcomes, for which the other questions need not make room: each comes by itself.
        """
        if self.problem.bundles is None:
            return [np.arange(len(questions))] if len(questions) else []
        whole = np.array([self.bundle(question) is not None for question in questions.tolist()], dtype=bool)
        return [places for places in (np.flatnonzero(~whole), *np.flatnonzero(whole)[:, None]) if places.size]

    def likelihoods_of(self, questions: IntArray, state: Any) -> FloatArray:
        """P(outcome | what was seen, class) of many questions at once.

        Parameters
        ----------
        questions : ndarray of int of shape (m,)
            The questions.
        state : object
            State of ``n`` instances.

        Returns
        -------
        ndarray of shape (n, m, V, n_classes)
            V is the largest number of outcomes of these questions; zero beyond a question's own. May be read-only.
        """
        problem = self.problem
        widest = int(problem.n_outcomes[questions].max(initial=1))
        result = np.zeros((len(state), len(questions), widest, problem.n_classes))
        for place, question in enumerate(questions.tolist()):
            result[:, place, : problem.n_outcomes[question]] = likelihood_of(problem, question, state)
        return result

    def likelihoods_for_plan(self, questions: IntArray, state: Any) -> FloatArray:
        """What `likelihoods_of` gives, or less: outcomes that give the same belief, and lead on alike, may be one."""
        return self.likelihoods_of(questions, state)

    def likelihood_parts(
        self, questions: IntArray, state: Any, n_columns: int
    ) -> Iterator[tuple[slice, IntArray, FloatArray]]:
        """Likelihoods of many questions for all rows, a part at a time, so that memory is bounded.

        Yields rows, positions of questions among the ``m``, and `likelihoods_for_plan` of both; ``n_columns`` numbers
        are to be computed of each row, question and outcome.
        """
        problem, n = self.problem, len(state)
        for places in self.together(questions):
            asked = questions[places]
            widest = float(problem.n_outcomes[asked].max())
            for part in chunks(n, 8.0 * 3 * len(asked) * widest * max(problem.n_classes, n_columns)):
                whole = part.start == 0 and part.stop == n
                some = state if whole else state[np.arange(part.start, part.stop)]
                yield part, places, self.likelihoods_for_plan(asked, some)

    @property
    def gates(self) -> BoolArray:
        """Questions whose answers open others, imply theirs or change their prices, (n_questions,)."""
        rules, n = self.problem.limits.rules, self.problem.n_questions
        if rules is None or (rules.answers is None and not rules.prices):
            return np.zeros(n, dtype=bool)
        named = [gate for one in rules.prices for gate in one.after]
        named += [] if rules.answers is None else rules.answers.gates.tolist()
        return np.array([np.isin(self.members(question), named).any() for question in range(n)], bool)

    @property
    def equivalent_outcomes(self) -> IntArray | None:
        """Of each outcome the one that stands for all that give the same belief, (n_questions, V); None: each does."""
        return None

    def costs_after(self, questions: IntArray, belief: Known, vectors: FloatArray | None = None) -> FloatArray:
        """Expected stopping cost after each of some questions, their prices left out, (n, m).

        Parameters
        ----------
        questions : ndarray of int of shape (m,)
            The questions, open or not.
        belief : BeliefState
            What is known of ``n`` instances.
        vectors : ndarray of shape (k, n_classes), optional
            What may be had after the answer, by class; by default the costs of the decisions.

        Returns
        -------
        ndarray of shape (n, m)
        """
        ends = self.problem.decision_costs.T if vectors is None else vectors

        def by_states(tables: StateTables, known: FloatArray) -> FloatArray:
            return tables.class_costs(known, ends)

        def by_rows(known: FloatArray, likelihood: FloatArray) -> FloatArray:
            return row_sums(lower_envelope(likelihood * known[:, None, None], ends))

        return self.of_questions(questions, belief, by_states, by_rows, len(ends))

    @property
    def put_off(self) -> IntArray:
        """Rank of each question among those that promise the same, (n_questions,): the lowest is asked first.

        0 for one that costs something, 1 for a free one, and 2 for a free one no answer to which can change anything:
        what is the same with and without such a question is planned without it.
        """
        return self.problem._put_off

    def find_put_off(self) -> IntArray:
        """Work `put_off` out."""
        problem = self.problem
        free = (problem.prices == 0) & (problem.full_prices == 0)
        rank: IntArray = free.astype(np.intp)
        states = self.state_tables if free.any() and problem.bundles is None else None
        if states is not None:
            rank[free & (np.ptp(states[0], axis=2).max(axis=1) <= TIE) & ~self.gates] = 2
        return rank
