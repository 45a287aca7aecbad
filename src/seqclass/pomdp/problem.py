"""The acquisition problem: questions with prices, decisions with costs."""

from __future__ import annotations

import copy
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from seqclass._utils.arrays import (
    BoolArray,
    FloatArray,
    IntArray,
    lower_envelope,
    picked,
    row_sums,
    smallest_int,
)
from seqclass._utils.model_files import Stored
from seqclass._utils.validation import check_costs, check_distribution, check_integer, check_real
from seqclass.costs import Visits, first_of_groups
from seqclass.pomdp.bundles import Bundle
from seqclass.pomdp.hidden import Hidden
from seqclass.pomdp.information import OPEN, TIE, InformationState
from seqclass.pomdp.rules import QuestionRules, Rules
from seqclass.pomdp.starts import Starts, without
from seqclass.pomdp.tables import Tables

__all__ = ["AcquisitionProblem"]

_NO_VISITS = "rules do not know of visits that cost something: leave visit_cost and delays out."


class AcquisitionProblem(Stored, ABC):
    """A problem of sequential acquisition: which question to ask next, and when to stop and decide.

    A *question* has a price and shows one of its outcomes. The decision maker either stops, at the stopping cost
    ``g(belief) = min_j belief @ decision_costs[:, j]``, or pays for one of the questions that are open. In a *fixed
    order* question ``k`` is asked at stage ``k``: the questions ``0..k-1`` have been asked, and ``k`` is the only one
    open. In a *free* problem every question that has not been asked is open, and the next one may depend on the
    answers.

    Whatever the next likelihood depends on, beyond the belief, is an opaque *state* that the problem keeps, with one
    row per instance; it may be any object that can be indexed by an array of row numbers. In a fixed order, a problem
    with finitely many states may offer them as `tables`. A free problem whose states are not arrays overrides `join`.

    Parameters
    ----------
    prior : array-like of shape (n_classes,)
        P(class) before anything is acquired.
    prices : array-like of shape (n_questions,)
        Price of each question, in units of misclassification cost; of one in a group, once another of it was acquired.
    n_outcomes : array-like of int of shape (n_questions,)
        Number of outcomes of each question.
    decision_costs : array-like of shape (n_classes, n_decisions)
        Cost of each decision when each class is true.
    features : array-like of int of shape (n_questions,), optional
        The feature that each question asks for; by default feature ``k`` for question ``k``.
    groups : array-like of int of shape (n_questions,), optional
        Group of each question, -1 for none. The first of a group that is acquired costs its full price; of those that
        are acquired in one visit, that for which full price less price is least.
    full_prices : array-like of shape (n_questions,), optional
        Full price of each question, read where nothing of its group has been acquired before.
    free : bool
        Whether the questions may be asked in any order.
    max_questions : int, optional
        Most questions asked of an instance, missing answers included; for a free problem.
    max_cost : float, optional
        Most that is paid for an instance; for a free problem.
    bundles : sequence of Bundle or None of length n_questions, optional
        What a question shows that shows several features at once, None for any other. Its ``n_outcomes`` are those in
        which all features are seen, unless they are too many (see `is_sampled`).

    Attributes
    ----------
    perfect_cost : ndarray of shape (n_classes,)
        Cost of the best decision if the class were known: ``min_j decision_costs[:, j]``.

    Examples
    --------
    >>> import numpy as np
    >>> class Coin(AcquisitionProblem):
    ...     def start(self, n):
    ...         return np.zeros(n)
    ...     def likelihood(self, question, state):
    ...         return np.tile([[0.9, 0.2], [0.1, 0.8]], (len(state), 1, 1))
    ...     def advance(self, question, state, outcome):
    ...         return state
    >>> problem = Coin([0.5, 0.5], prices=[0.1], n_outcomes=[2], decision_costs=1 - np.eye(2))
    >>> problem.stopping_cost(problem.prior), problem.begin().predictive
    (array(0.5), array([[0.55, 0.45]]))
    """

    free: bool = False
    max_questions: int | None = None
    max_cost: float | None = None
    #: What a fixed order was cut by; see `within_budget`.
    cut_at: float | None = None
    bundles: Sequence[Bundle | None] | None = None
    #: What visits cost, by question; None where they cost nothing. Prices are those of what is asked in a visit alone.
    visits: Visits | None = None
    #: What may be asked, and what has to be, whatever pays; None where anything may.
    rules: QuestionRules | None = None
    #: How cases begin of which something is known before the first question; None: nothing is.
    starts: Starts | None = None
    #: Attributes that are worked out of the likelihoods, and gone where these are replaced.
    _of_likelihoods: tuple[str, ...] = ()

    def __init__(
        self,
        prior: npt.ArrayLike,
        prices: npt.ArrayLike,
        n_outcomes: npt.ArrayLike,
        decision_costs: npt.ArrayLike,
        features: npt.ArrayLike | None = None,
        groups: npt.ArrayLike | None = None,
        full_prices: npt.ArrayLike | None = None,
        *,
        free: bool = False,
        max_questions: int | None = None,
        max_cost: float | None = None,
        bundles: Sequence[Bundle | None] | None = None,
    ) -> None:
        self.prior = check_distribution(prior, None, "prior")
        self.prices = check_costs(prices, "prices")
        if self.prices.ndim != 1:
            raise ValueError(f"prices must be a vector, one price a question, got shape {self.prices.shape}.")
        self.decision_costs = check_costs(decision_costs, "decision_costs")
        if self.decision_costs.ndim != 2 or self.decision_costs.shape[0] != self.n_classes or not self.n_decisions:
            raise ValueError(
                "decision_costs must have one row a class and one column a decision, here "
                f"{self.n_classes} rows; got shape {self.decision_costs.shape}."
            )
        shape = (self.n_questions,)
        self.n_outcomes = np.array(n_outcomes, dtype=np.intp)
        self.features = np.arange(self.n_questions) if features is None else np.array(features, dtype=np.intp)
        self.groups = None if groups is None else np.array(groups, dtype=np.intp)
        for name, value in (("n_outcomes", self.n_outcomes), ("features", self.features), ("groups", self.groups)):
            if value is not None and value.shape != shape:
                raise ValueError(f"{name} must have one entry a question, {shape}, got {value.shape}.")
        if self.n_questions and self.n_outcomes.min() < 1:
            raise ValueError("n_outcomes must be at least 1 for every question.")
        self.full_prices = self.prices if full_prices is None else check_costs(full_prices, "full_prices", shape)
        if (self.full_prices < self.prices).any():
            raise ValueError("full_prices must not be below prices: a discount cannot raise a price.")
        self.perfect_cost: FloatArray = self.decision_costs.min(axis=1)
        self.free = bool(free)
        if not free and (max_questions is not None or max_cost is not None):
            raise ValueError("max_questions and max_cost belong to a free problem; cut a fixed order by within_budget.")
        if bundles is not None and any(bundle is not None for bundle in bundles):
            if len(bundles) != self.n_questions:
                raise ValueError(f"bundles must have one entry a question, {self.n_questions}, got {len(bundles)}.")
            self.bundles = list(bundles)
        if max_questions is not None:
            self.max_questions = check_integer(max_questions, "max_questions", 0)
        if max_cost is not None:
            self.max_cost = check_real(max_cost, "max_cost", 0)

    def __repr__(self) -> str:
        decisions, questions = f"{self.n_decisions:,} decision", f"{self.n_questions:,} question"
        decisions, questions = (text + "s" * (not text.startswith("1 ")) for text in (decisions, questions))
        size = f"{self.n_classes} classes, {decisions}, {questions}"
        low, high = (self.prices.min(), self.prices.max()) if self.n_questions else (0.0, 0.0)
        prices = f"at {low:.4g}" if low == high else f"at {low:.4g} to {high:.4g}"
        order = "in any order" if self.free else "in one order"
        return f"<{type(self).__name__}: {size} {order}{f' {prices}' if self.n_questions else ''}>"

    @property
    def planned_prices(self) -> FloatArray:
        """Price of each question as plans have it: in a fixed order the first of a group costs its full price."""
        if self.free or self.groups is None:
            return self.prices
        return np.where(first_of_groups(self.groups), self.full_prices, self.prices)

    def prices_beside(self, paid: BoolArray) -> FloatArray:
        """Prices of all questions once some groups were paid for, (n, n_questions), or one row where all pay alike.

        Parameters
        ----------
        paid : ndarray of bool of shape (n, n_groups)
            Groups of which something was bought.

        Returns
        -------
        ndarray
        """
        if self.groups is None or not paid.shape[1]:
            return self.prices[None]
        return np.where(paid[:, self.groups] | (self.groups < 0), self.prices, self.full_prices)

    def paid_after(self, asked: BoolArray) -> BoolArray:
        """Which groups were paid for once some questions were asked, (n, n_groups)."""
        groups = np.full(self.n_questions, -1) if self.groups is None else self.groups
        found: BoolArray = asked @ (groups[:, None] == np.arange(groups.max(initial=-1) + 1))
        return found

    def least_surcharges(self, panels: BoolArray) -> FloatArray:
        """Least full price less price in each group of several sets of questions, (n, n_groups); inf of none."""
        groups = np.full(self.n_questions, -1) if self.groups is None else self.groups
        least = np.full((len(panels), int(groups.max(initial=-1)) + 1), np.inf)
        for group in range(least.shape[1]):
            own = groups == group
            least[:, group] = np.where(panels[:, own], (self.full_prices - self.prices)[own], np.inf).min(
                1, initial=np.inf
            )
        return least

    @property
    def with_least_surcharges(self) -> AcquisitionProblem:
        """The same where visits cost nothing, or in any order; else each stage adds no more than its visit can."""
        if self.free or self.groups is None or self.visits is None or self.groups.max(initial=-1) < 0:
            return self
        number = np.arange(self.n_questions)
        most, own = self.visits.max_panel or self.n_questions, np.maximum(self.groups, 0)
        beside = (number >= number[:, None]) & (number < number[:, None] + most)
        least = np.where(self.groups < 0, 0.0, self.least_surcharges(beside)[number, own])
        return self.replace(full_prices=self.prices + least)

    @property
    def n_questions(self) -> int:
        """Number of questions."""
        return int(self.prices.size)

    @property
    def n_stages(self) -> int:
        """Most questions that can be asked of an instance; in a fixed order, their number."""
        return self.n_questions if self.max_questions is None else min(self.max_questions, self.n_questions)

    @property
    def n_classes(self) -> int:
        """Number of classes."""
        return int(self.prior.size)

    @property
    def n_decisions(self) -> int:
        """Number of decisions; the first ones are the classes."""
        return int(self.decision_costs.shape[1])

    @abstractmethod
    def start(self, n: int) -> Any:
        """State of ``n`` instances before anything is acquired."""

    @abstractmethod
    def likelihood(self, question: Any, state: Any) -> FloatArray:
        """P(outcome of the question | what was seen, class), shape (n, n_outcomes, n_classes)."""

    @abstractmethod
    def advance(self, question: Any, state: Any, outcome: IntArray) -> Any:
        """State after the question showed ``outcome`` (n,); -1 is missing, and takes nothing back that was seen."""

    def mixes(self, questions: IntArray) -> bool:
        """Whether `likelihood`, then zero beyond own outcomes, and `advance` take one of these for each row, (n,)."""
        return False

    def bundle(self, question: int) -> Bundle | None:
        """What a question shows where it shows several features at once; None where it shows one."""
        return None if self.bundles is None else self.bundles[question]

    def members(self, question: int) -> IntArray:
        """Features that a question shows."""
        bundle = self.bundle(question)
        return self.features[question : question + 1] if bundle is None else bundle.features

    def is_sampled(self, question: int) -> bool:
        """Whether `likelihood` stands for more outcomes than it lists: those of `atoms`, a sample."""
        return False

    @property
    def closes(self) -> bool:
        """Whether rules say that something has to be asked before anything is decided."""
        return self.rules is not None and self.rules.closes

    @property
    def samples(self) -> bool:
        """Whether any question is sampled."""
        return self.bundles is not None and any(self.is_sampled(question) for question in range(self.n_questions))

    def atoms(self, question: int, state: Any) -> IntArray:
        """Outcomes that `likelihood` is about where it is sampled, (n, n_outcomes)."""
        raise NotImplementedError(f"{type(self).__name__} lists all outcomes of its questions.")

    def draw(self, question: int, info: InformationState, rows: IntArray, rng: np.random.Generator) -> IntArray:
        """Draw an outcome of a sampled question for each of some rows, perhaps repeated, as the model has it."""
        raise NotImplementedError(f"{type(self).__name__} lists all outcomes of its questions.")

    def observed(self, question: int, state: Any, outcome: IntArray) -> FloatArray:
        """P(outcome | what was seen, class) of outcomes that were seen, whole or in part, (n, n_classes)."""
        likelihood, bundle = self.likelihood(question, state), self.bundle(question)
        return likelihood[np.arange(len(outcome)), outcome] if bundle is None else bundle.marginal(likelihood, outcome)

    def join(self, states: Sequence[Any]) -> Any:
        """Put the rows of several states together, one after the other."""
        if all(isinstance(state, np.ndarray) for state in states):
            return np.concatenate(states)
        wanted = "join(states), which puts rows of several states together: those that ask different questions part."
        raise TypeError(f"{type(self).__name__} must give {wanted}")

    def draw_cases(self, n: int, rng: np.random.Generator) -> IntArray | None:
        """Outcomes of all questions in ``n`` cases, (n, n_questions); None where they are asked one after the other."""
        return None

    def belief_of(self, cases: IntArray) -> FloatArray:
        """P(class | the answers to all questions) of cases that `draw_cases` has drawn, (n, n_classes)."""
        raise NotImplementedError(f"{type(self).__name__} draws no cases at once.")

    def together(self, questions: IntArray) -> list[IntArray]:
        """Positions of questions whose likelihoods are worth computing together.

        Bundles have many outcomes, for which the other questions need not make room: each comes by itself.
        """
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
        widest = int(self.n_outcomes[questions].max(initial=1))
        result = np.zeros((len(state), len(questions), widest, self.n_classes))
        for place, question in enumerate(questions.tolist()):
            result[:, place, : self.n_outcomes[question]] = self.likelihood(question, state)
        return result

    def planned_likelihoods(self, questions: IntArray, state: Any) -> FloatArray:
        """What `likelihoods_of` gives, or less: outcomes that give the same belief, and lead on alike, may be one."""
        return self.likelihoods_of(questions, state)

    @property
    def stands_for(self) -> IntArray | None:
        """Of each outcome the one that stands for all that give the same belief, (n_questions, V); None: each does."""
        return None

    def costs_after(self, questions: IntArray, info: InformationState, vectors: FloatArray | None = None) -> FloatArray:
        """Expected stopping cost after each of some questions, their prices left out, (n, m).

        Parameters
        ----------
        questions : ndarray of int of shape (m,)
            The questions, open or not.
        info : InformationState
            What is known of ``n`` instances.
        vectors : ndarray of shape (k, n_classes), optional
            What may be had after the answer, by class; by default the costs of the decisions.

        Returns
        -------
        ndarray of shape (n, m)
        """
        vectors = self.decision_costs.T if vectors is None else vectors
        cost = np.empty((len(info), len(questions)))
        for part, places, likelihood in info.likelihood_parts(questions, len(vectors)):
            joint = likelihood * info.belief[part, None, None]
            cost[part, places] = row_sums(lower_envelope(joint, vectors))
        return cost

    def rest(self, stage: int) -> FloatArray:
        """Price of a stage of a fixed order and the cost of knowing the class then, by class: no rest costs less."""
        return np.asarray(self.planned_prices[stage] + self.perfect_cost)

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
    def hidden(self) -> Hidden | None:
        """Hidden states beside the class, given which answers are independent; None where there are none."""
        return None

    @property
    def state_tables(self) -> tuple[FloatArray, IntArray] | None:
        """P(outcome | state) of every question, (n_questions, V, n_states), and the class of each state.

        States are the hidden ones, or where answers depend on the class alone the classes; None where there are none.
        """
        if self.class_tables is not None:
            return self.class_tables, np.arange(self.n_classes)
        if self.hidden is not None:
            return self.hidden.likelihoods_of(np.arange(self.n_questions)), self.hidden.classes
        return None

    def projection(self, max_contexts: int) -> AcquisitionProblem | None:
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
        raise NotImplementedError(f"{type(self).__name__} does not tell its answers.")

    @cached_property
    def put_off(self) -> IntArray:
        """Of questions that promise the same, those of the lowest come first, (n_questions,).

        0 for one that costs something, 1 for a free one, and 2 for a free one no answer to which can change anything:
        what is the same with and without such a question is planned without it.
        """
        free = (self.prices == 0) & (self.full_prices == 0)
        rank: IntArray = free.astype(np.intp)
        states = self.state_tables if free.any() and self.bundles is None else None
        if states is not None:
            rank[free & (np.ptp(states[0], axis=2).max(axis=1) <= TIE)] = 2
        return rank

    def replace(self, **changes: Any) -> AcquisitionProblem:
        """Return the same problem with some arrays replaced, and what follows from them with it; it is not checked.

        Such as ``prior``, ``prices``, ``full_prices`` or ``decision_costs``; all else is shared. Where there are rules,
        prices and limits by which they cannot be met are refused.
        """
        other = copy.copy(self)
        other.__dict__.pop("put_off", None)
        if "likelihoods" in changes:
            for name in self._of_likelihoods:
                other.__dict__.pop(name, None)
        other.__dict__.update(changes)
        if "prior" in changes and "starts" not in changes and self.starts is not None:
            other.starts = self.starts.with_prior(self.prior, other.prior)
        other.perfect_cost = other.decision_costs.min(axis=1)
        limits = ("prices", "full_prices", "max_questions", "max_cost")
        if other.rules is not None and "rules" not in changes and any(name in changes for name in limits):
            other.rules.check(other)
        return other

    def with_visits(self, visits: Visits | None) -> AcquisitionProblem:
        """Return the problem in which each visit costs something, whatever is asked in it.

        Its prices are those of what is asked in a visit alone, so that solvers which ask one question at a time plan
        for that; what is ordered together (`InformationState.ordering`) costs one visit.

        Parameters
        ----------
        visits : Visits or None
            What visits cost, with the delay of each question; None: as it is.

        Returns
        -------
        AcquisitionProblem

        Raises
        ------
        ValueError
            If visits cost something already, or there is not a delay for each question.

        Examples
        --------
        >>> import numpy as np
        >>> from seqclass.costs import Visits
        >>> from seqclass.pomdp import TableProblem
        >>> problem = TableProblem([0.5, 0.5], np.array([[[0.9, 0.2], [0.1, 0.8]]]), prices=0.1, free=True)
        >>> problem.with_visits(Visits(0.25, np.zeros(1))).prices
        array([0.35])
        """
        if visits is None:
            return self
        if self.visits is not None:
            raise ValueError("visits cost something in this problem already: give it without.")
        if self.rules is not None:
            raise ValueError(_NO_VISITS)
        if visits.delays.shape != (self.n_questions,):
            raise ValueError(f"visits must have a delay for each of the {self.n_questions} questions.")
        alone = visits.alone
        return self.replace(prices=self.prices + alone, full_prices=self.full_prices + alone, visits=visits)

    def with_rules(self, rules: Rules | QuestionRules | Mapping[str, Any] | None) -> AcquisitionProblem:
        """Return the problem in which rules say what may be asked, and what has to be before anything is decided.

        Parameters
        ----------
        rules : Rules, QuestionRules, mapping or None
            The rules, by the numbers of `features` or by questions; None: as it is.

        Returns
        -------
        AcquisitionProblem

        Raises
        ------
        ValueError
            If the order is fixed, visits cost something, or rules are wrong or cannot be met; in one sentence.

        Examples
        --------
        >>> import numpy as np
        >>> from seqclass import Rules
        >>> from seqclass.pomdp import TableProblem, optimal_cost
        >>> problem = TableProblem([0.5, 0.5], np.array([[[0.9, 0.2], [0.1, 0.8]]] * 2), prices=0.3, free=True)
        >>> round(optimal_cost(problem), 3), round(optimal_cost(problem.with_rules(Rules(mandatory=[1]))), 3)
        (0.45, 0.45)
        """
        given = rules if isinstance(rules, QuestionRules) else Rules.of(rules)
        if given is None:
            return self
        if not self.free:
            raise ValueError(
                'rules: a fixed order asks everybody the same; take order="adaptive" (free=True), or write the order '
                "as rules would."
            )
        if self.visits is not None:
            raise ValueError(_NO_VISITS)
        if self.starts is not None and self.starts.needless is not None:
            raise ValueError("rules do not know what is needless: give known as a list of columns.")
        if isinstance(given, Rules):
            members = [self.members(question) for question in range(self.n_questions)]
            given = given.numbers(1 + max((int(own.max()) for own in members), default=-1)).of_questions(members)
        given.check(self)
        return self.replace(rules=given)

    @property
    def orders_panels(self) -> bool:
        """Whether several questions ordered together may cost less than one after the other."""
        return self.visits is not None and self.visits.max_panel != 1 and self.n_stages > 1

    @property
    def own_prices(self) -> FloatArray:
        """Price of each question without that of a visit, (n_questions,)."""
        return self.prices if self.visits is None else np.maximum(self.prices - self.visits.alone, 0.0)

    def without_visits(self, share: float = 0.0) -> AcquisitionProblem:
        """Return the problem in which visits cost nothing, but each question a share of one in which it is alone."""
        if self.visits is None:
            return self
        less = (1 - share) * self.visits.alone
        prices, full = (np.maximum(p - less, 0.0) for p in (self.prices, self.full_prices))
        return self.replace(prices=prices, full_prices=full, visits=None)

    def in_any_order(self) -> AcquisitionProblem:
        """Return the problem of the same questions in any order, itself where it is free; not every problem has one."""
        return self if self.free else self.replace(free=True)

    def subset(self, questions: IntArray) -> AcquisitionProblem:
        """Return the problem of some questions, by their numbers; of a fixed order they must be the first ones."""
        changes = {name: picked(getattr(self, name), questions) for name in self._by_question()}
        if self.rules is not None:
            changes["rules"] = self.rules.take(questions)
        return self.replace(**changes, visits=None if self.visits is None else self.visits.take(questions))

    def _by_question(self) -> list[str]:
        always = ["prices", "full_prices", "n_outcomes", "features"]
        return [*always, *(name for name in ("groups", "bundles") if getattr(self, name) is not None)]

    def stopping_cost(self, belief: FloatArray) -> FloatArray:
        """``g(belief)``: cost of the best decision now, (n,); linear in the scale of ``belief``."""
        return lower_envelope(belief, self.decision_costs.T)

    def decide(self, belief: FloatArray) -> IntArray:
        """Index of the cheapest decision for each belief; ties go to the lowest index."""
        costs = belief @ self.decision_costs
        return np.asarray((costs <= costs.min(axis=-1, keepdims=True) * (1 + TIE)).argmax(axis=-1))

    def begin(self, n: int = 1) -> InformationState:
        """Information state of ``n`` instances of which nothing is known."""
        paid = seen = None
        if self.groups is not None:
            paid = np.zeros((n, int(self.groups.max(initial=-1)) + 1), dtype=bool)
        if self.free:
            bundles = [bundle.n_codes for bundle in self.bundles or () if bundle is not None]
            kind = smallest_int(max([int(self.n_outcomes.max(initial=1)), *bundles]) - 1)
            seen = np.full((n, self.n_questions), OPEN, dtype=kind)
        belief, visits, ordered, owed = np.tile(self.prior, (n, 1)), None, None, None
        if self.visits is not None:
            visits, ordered = np.zeros(n, dtype=np.intp), np.zeros((n, self.n_questions), dtype=bool)
            owed = None if paid is None else np.full(paid.shape, np.inf)
        return InformationState(
            self, 0, belief, self.start(n), paid, seen=seen, visits=visits, ordered=ordered, owed=owed
        )

    def opening(self) -> tuple[InformationState, FloatArray]:
        """How cases begin, and the share of each: the prior, or what is known of each of `starts`."""
        starts = self.starts
        if starts is None:
            return self.begin(), np.ones(1)
        info = self.begin(len(starts.weight))
        info.belief, info.state = starts.belief, self.state_of(starts)
        return without(info, starts.needless), starts.weight

    def state_of(self, starts: Starts) -> Any:
        """The problem's own state where cases begin."""
        return starts.state
