"""The acquisition problem: questions with prices, and what is known of a batch of instances that were asked."""

from __future__ import annotations

import copy
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from seqclass._utils.arrays import (
    CHUNK_BYTES,
    BoolArray,
    FloatArray,
    IntArray,
    chunks,
    lower_envelope,
    picked,
    row_sums,
    smallest_int,
)
from seqclass._utils.model_files import Stored
from seqclass._utils.validation import check_costs, check_distribution, check_integer, check_real
from seqclass.costs import first_of_groups
from seqclass.pomdp.bundles import Bundle
from seqclass.pomdp.hidden import Hidden
from seqclass.pomdp.starts import Starts, without
from seqclass.pomdp.tables import Tables

__all__ = ["AcquisitionProblem", "InformationState"]


#: Costs that differ by less than this share of themselves are a tie, so that batch size and BLAS change no answer. They
#: are sums of what is not negative, so each is rounded by a share of itself; one of the dearest decision hides others.
TIE = 1e-12
#: In `InformationState.seen`: the question was not asked.
OPEN = -2


class InformationState:
    """What is known of a batch of instances that were asked equally many questions.

    What may be seen next (`likelihood`, `joint`, `predictive`, `price`) and `update` are about one *question*: in a
    fixed order the stage's, in a free one that of `asking`, which may be another one for each row.

    Parameters
    ----------
    problem : AcquisitionProblem
        The problem the instances belong to.
    stage : int
        Number of questions asked so far.
    belief : ndarray of shape (n, n_classes)
        Class posterior of each instance.
    state : object
        The problem's own state, indexable by rows.
    paid : ndarray of bool of shape (n, n_groups), optional
        Groups of which something has been acquired; None where there are no groups.
    lot : ndarray of int of shape (n,), optional
        The lot that each instance drew, under a randomised policy.
    seen : ndarray of int of shape (n, n_questions), optional
        Outcome of each question that was asked, -1 where it was missing, `OPEN` where it was not asked; None in a fixed
        order, where the first ``stage`` questions have been asked.
    spent : ndarray of shape (n,), optional
        Prices paid so far; by default nothing.

    Examples
    --------
    >>> import numpy as np
    >>> from seqclass.pomdp import TableProblem
    >>> problem = TableProblem([0.5, 0.5], np.array([[[0.9, 0.2], [0.1, 0.8]]]), prices=0.1)
    >>> state = problem.begin(2).update(np.array([0, 1]))
    >>> state.stage, state.belief.round(3).tolist(), state.spent
    (1, [[0.818, 0.182], [0.111, 0.889]], array([0.1, 0.1]))
    """

    def __init__(
        self,
        problem: AcquisitionProblem,
        stage: int,
        belief: FloatArray,
        state: Any,
        paid: BoolArray | None = None,
        lot: IntArray | None = None,
        *,
        seen: IntArray | None = None,
        spent: FloatArray | None = None,
    ) -> None:
        self.problem = problem
        self.stage = stage
        self.belief = belief
        self.state = state
        self.paid = paid
        self.lot = lot
        self.seen = seen
        self.spent = np.zeros(len(belief)) if spent is None else spent
        self._question: int | IntArray | None = None

    def __len__(self) -> int:
        return int(self.belief.shape[0])

    def __getitem__(self, rows: IntArray | BoolArray) -> InformationState:
        """Return the information state of some rows (an array of numbers or a mask)."""
        part = self._take(rows)
        if "joint" in self.__dict__:  # what look-ahead computed serves the update as well
            part.__dict__["joint"] = self.joint[rows]
        return part

    def parts(self, bytes_per_row: float, budget: int = CHUNK_BYTES) -> Iterator[tuple[slice, InformationState]]:
        """Cut the rows into slices whose work fits in ``budget`` bytes, with what is known of each; see `chunks`."""
        rows = np.arange(len(self))
        for part in chunks(len(self), bytes_per_row, budget):
            yield part, self if len(rows[part]) == len(self) else self[rows[part]]

    def _take(self, rows: IntArray | BoolArray) -> InformationState:
        paid = None if self.paid is None else self.paid[rows]
        lot = None if self.lot is None else self.lot[rows]
        seen = None if self.seen is None else self.seen[rows]
        belief, state, spent = self.belief[rows], self.state[rows], self.spent[rows]
        part = InformationState(self.problem, self.stage, belief, state, paid, lot, seen=seen, spent=spent)
        asked = self._question
        part._question = asked[rows] if self._mixed else asked  # type: ignore[index]
        return part

    def likelihood_parts(self, questions: IntArray, n_columns: int) -> Iterator[tuple[slice, IntArray, FloatArray]]:
        """Likelihoods of many questions for all rows, a part at a time, so that memory is bounded.

        Yields rows, positions of questions among the ``m``, and what `AcquisitionProblem.likelihoods_of` gives of both;
        ``n_columns`` numbers are to be computed of each row, question and outcome.
        """
        problem = self.problem
        for places in problem.together(questions):
            asked = questions[places]
            widest = float(problem.n_outcomes[asked].max())
            for part in chunks(len(self), 8.0 * 3 * len(asked) * widest * max(problem.n_classes, n_columns)):
                whole = part.start == 0 and part.stop == len(self)
                state = self.state if whole else self.state[np.arange(part.start, part.stop)]
                yield part, places, problem.likelihoods_of(asked, state)

    @classmethod
    def concatenate(cls, parts: Sequence[InformationState]) -> InformationState:
        """Put the rows of several information states of one problem and stage together, one after the other."""
        if len(parts) == 1:
            return parts[0]
        first = parts[0]

        def joined(name: str) -> Any:
            arrays = [getattr(part, name) for part in parts]
            return None if arrays[0] is None else np.concatenate(arrays)

        state, (belief, *rest) = (
            first.problem.join([part.state for part in parts]),
            map(joined, ("belief", "paid", "lot")),
        )
        return cls(first.problem, first.stage, belief, state, *rest, seen=joined("seen"), spent=joined("spent"))

    @property
    def question(self) -> Any:
        """The question that may be asked next: the stage's in a fixed order, in a free one that of `asking`."""
        if self._question is not None:
            return self._question
        if self.problem.free:
            raise ValueError("any question may come next here: say which by info.asking(question).")
        return self.stage

    @property
    def _mixed(self) -> bool:
        """Whether rows may ask different questions."""
        return isinstance(self._question, np.ndarray)

    def asking(self, question: int | IntArray) -> InformationState:
        """Return the same information state, about to ask a question.

        Parameters
        ----------
        question : int or ndarray of int of shape (n,)
            Its number; or one for each row, where the problem's `mixes` allows that.

        Returns
        -------
        InformationState

        Examples
        --------
        >>> import numpy as np
        >>> from seqclass.pomdp import TableProblem
        >>> likelihoods = np.array([[[0.9, 0.2], [0.1, 0.8]], [[0.6, 0.5], [0.4, 0.5]]])
        >>> info = TableProblem([0.5, 0.5], likelihoods, prices=0.1, free=True).begin()
        >>> info.asking(1).predictive, info.asking(1).update(np.array([0])).open
        (array([[0.55, 0.45]]), array([[ True, False]]))
        """
        if not self._mixed and not isinstance(question, np.ndarray):
            known = self.stage if self._question is None and not self.problem.free else self._question
            if question == known:
                return self
        other = copy.copy(self)
        for name in ("likelihood", "joint", "predictive"):
            other.__dict__.pop(name, None)
        other._question = question
        return other

    @cached_property
    def open(self) -> BoolArray:
        """Which questions may be asked now, (n, n_questions); in a free problem all not asked and affordable."""
        problem = self.problem
        shape = (len(self), problem.n_questions)
        if self.stage >= problem.n_stages:
            return np.zeros(shape, dtype=bool)
        if self.seen is None:  # a fixed order
            return np.broadcast_to(np.arange(problem.n_questions) == self.stage, shape)
        result: BoolArray = self.seen == OPEN
        if problem.max_cost is not None:
            result = result & (self.spent[:, None] + self.prices <= problem.max_cost * _WITHIN)
        return result

    @cached_property
    def likelihood(self) -> FloatArray:
        """P(outcome of the question | what was seen, class), (n, n_outcomes, n_classes); zero beyond its outcomes."""
        found = np.asarray(self.problem.likelihood(self.question, self.state))
        widest = int(self.problem.n_outcomes[self.question].max(initial=1))
        wanted = (len(self), widest, self.problem.n_classes)
        if found.shape != wanted:
            raise ValueError(
                f"{type(self.problem).__name__}.likelihood must give an array of shape {wanted}: instances, outcomes, "
                f"classes; for question {self.question} it gave {found.shape}."
            )
        return found

    @cached_property
    def joint(self) -> FloatArray:
        """P(outcome, class | what was seen): the unnormalised successors, (n, n_outcomes, n_classes)."""
        return np.asarray(self.likelihood * self.belief[:, None, :])

    @cached_property
    def predictive(self) -> FloatArray:
        """P(outcome of the question | what was seen), (n, n_outcomes)."""
        return row_sums(self.joint)

    @cached_property
    def context(self) -> IntArray | None:
        """Context number of each row; None where the problem has no tables."""
        tables = self.problem.tables
        return None if tables is None else tables.contexts(self.stage, self.state)

    @property
    def price(self) -> FloatArray:
        """Price of the question for each row, (n,)."""
        problem, question = self.problem, self.question
        price = np.broadcast_to(problem.prices[question], len(self))
        if self.paid is None or problem.groups is None or not self.paid.shape[1]:
            return price
        if not self._mixed and problem.groups[question] < 0:
            return price
        group = np.broadcast_to(problem.groups[question], len(self))
        paid = (group < 0) | self.paid[np.arange(len(self)), group]
        return np.where(paid, price, problem.full_prices[question])

    @property
    def prices(self) -> FloatArray:
        """Price of every question for each row, (n, n_questions); one row where all rows pay alike."""
        problem = self.problem
        if self.paid is None or problem.groups is None or not self.paid.shape[1]:
            return problem.prices[None]
        discounted = self.paid[:, problem.groups] | (problem.groups < 0)
        return np.where(discounted, problem.prices, problem.full_prices)

    @cached_property
    def stopping_cost(self) -> FloatArray:
        """Cost of the best decision now, (n,)."""
        return self.problem.stopping_cost(self.belief)

    @property
    def to_beat(self) -> FloatArray:
        """What going on must stay below, (n,): the cost of stopping, less a tie."""
        return self.stopping_cost * (1 - TIE)

    @property
    def states(self) -> FloatArray:
        """P(state | what was seen) of the states of `AcquisitionProblem.state_tables`, (n, n_states)."""
        problem = self.problem
        if problem.class_tables is None and problem.hidden is not None:
            return problem.hidden.probability(self)
        return self.belief

    @cached_property
    def costs_once(self) -> FloatArray:
        """Cost of asking each question and deciding after it, its price included, (n, n_questions); inf if not open."""
        problem = self.problem
        costs: FloatArray = np.full((len(self), problem.n_questions), np.inf)
        asked = np.flatnonzero(self.open.any(axis=0))
        if asked.size:
            prices = np.broadcast_to(self.prices, costs.shape)[:, asked]
            costs[:, asked] = np.where(self.open[:, asked], prices + problem.costs_after(asked, self), np.inf)
        return costs

    def cost_floor(self, multiplier: FloatArray | float = 1.0) -> FloatArray:
        """No way of going on costs less: one more price, then the class is known; inf where nothing is open.

        It is (n,), or (n, m) for several factors of all prices, ``multiplier`` of shape (m,).
        """
        problem, known = self.problem, self.belief @ self.problem.perfect_cost
        factor = np.atleast_1d(multiplier)
        if self.stage >= problem.n_stages:
            least = np.full((len(self), len(factor)), np.inf)
        elif problem.free:
            cheapest = np.where(self.open, self.prices, np.inf).min(axis=1, initial=np.inf)[:, None]
            nothing = np.isinf(cheapest)
            least = np.where(nothing, np.inf, np.where(nothing, 0.0, cheapest) * factor + known[:, None])
        else:
            least = self.price[:, None] * factor + known[:, None]
        return least if np.ndim(multiplier) else least[:, 0]

    @property
    def settled(self) -> BoolArray:
        """Rows where stopping is optimal for certain: one more price costs more than knowing the class saves."""
        return np.asarray(self.to_beat <= self.cost_floor())

    def update(
        self, outcome: IntArray, rows: IntArray | None = None, *, charge_missing: bool = False
    ) -> InformationState:
        """Information state after the question showed ``outcome``.

        Parameters
        ----------
        outcome : ndarray of int of shape (m,)
            What was seen; -1 is missing and leaves the belief as it is.
        rows : ndarray of int of shape (m,), optional
            The row of this state that each outcome belongs to; by default each row once.
        charge_missing : bool
            Whether a missing answer is paid for all the same; its group is then paid for as well.

        Returns
        -------
        InformationState
            ``m`` rows, one stage on.

        Raises
        ------
        ValueError
            If an outcome is out of range or has probability zero; the message names feature and value.
        """
        parent = self if rows is None else self._take(rows)
        outcome = np.asarray(outcome)
        parent.check_range(outcome)
        seen = np.flatnonzero(outcome >= 0)
        belief = parent.belief.copy()
        source = seen if rows is None else rows[seen]
        if self._bundle is not None:  # what was seen may be part of an outcome
            where = self.state if rows is None and seen.size == len(self) else self.state[source]
            joint = self.problem.observed(self.question, where, outcome[seen]) * self.belief[source]
        elif "joint" in self.__dict__:
            joint = self.joint[source, outcome[seen]]
        else:  # only what was seen is needed, not every outcome
            joint = self.likelihood[source, outcome[seen]] * self.belief[source]
        total = joint.sum(axis=1, keepdims=True)
        if total.size and total.min() <= 0:
            wrong = int(seen[int(total.argmin())])
            raise ValueError(
                f"feature {parent._feature(wrong)}: outcome {int(outcome[wrong])} has probability zero given what was "
                "seen before, so no belief follows; smooth the likelihoods or check the value."
            )
        belief[seen] = joint / total
        state = self.problem.advance(parent.question, parent.state, outcome)
        acquired = (outcome >= 0) | charge_missing
        paid, noted = parent._pay(acquired), parent._note(outcome)
        spent = parent.spent + np.where(acquired, parent.price, 0.0)
        return InformationState(self.problem, self.stage + 1, belief, state, paid, parent.lot, seen=noted, spent=spent)

    def _pay(self, acquired: BoolArray) -> BoolArray | None:
        if self.paid is None or self.problem.groups is None or not self.paid.shape[1]:
            return self.paid
        group = self.problem.groups[self.question]
        if not self._mixed and group < 0:
            return self.paid
        group = np.broadcast_to(group, len(self))
        rows = np.flatnonzero(acquired & (group >= 0))
        paid: BoolArray = self.paid.copy()
        paid[rows, group[rows]] = True
        return paid

    def _note(self, outcome: IntArray) -> IntArray | None:
        if self.seen is None:
            return None
        seen: IntArray = self.seen.copy()
        seen[np.arange(len(seen)) if self._mixed else slice(None), self.question] = outcome
        return seen

    @property
    def _bundle(self) -> Any:
        """What the question shows at once; rows that ask several questions ask no bundles."""
        return None if self._mixed else self.problem.bundle(self.question)

    @property
    def is_sampled(self) -> bool:
        """Whether the question is one of more outcomes than are listed; see `AcquisitionProblem.is_sampled`."""
        return not self._mixed and self.problem.is_sampled(self.question)

    def _feature(self, row: int) -> int:
        question = self.question
        return int(self.problem.features[question[row] if self._mixed else question])

    def check_range(self, outcome: IntArray) -> None:
        """Refuse outcomes that the question does not have, (n,), or any number where all rows ask the same.

        Raises
        ------
        ValueError
            The message names the feature and the value.
        """
        n_outcomes = self.problem.n_outcomes[self.question] if self._bundle is None else self._bundle.n_codes
        wrong = (outcome < -1) | (outcome >= n_outcomes)
        if wrong.any():
            row = int(wrong.argmax())
            raise ValueError(
                f"feature {self._feature(row)}: outcome {int(outcome[row])} is not in "
                f"0..{int(np.broadcast_to(n_outcomes, len(outcome))[row]) - 1} (-1 is missing)."
            )


_WITHIN = 1 + 1e-12  # what sums up to a budget but for rounding is within it


class AcquisitionProblem(Stored, ABC):
    """A problem of sequential acquisition: which question to ask next, and when to stop and decide.

    A *question* has a price and shows one of its outcomes. The decision maker either stops, at the stopping cost
    ``g(belief) = min_j belief @ decision_costs[:, j]``, or pays for one of the questions that are open. In a *fixed
    order* question ``k`` is asked at stage ``k``: the questions ``0..k-1`` have been asked, and ``k`` is the only one
    open. In a *free* problem whatever was not asked yet is open, and what to ask next may depend on what was seen.

    What the next likelihood looks at, beyond the belief, is an opaque *state* that the problem keeps, one row an
    instance; any object that can be indexed by an array of row numbers will do. A problem that has finitely many such
    states, in a fixed order, may offer them as `tables`; a free problem whose states are no arrays overrides `join`.

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
        Group of each question, -1 for none. The first of a group that is acquired costs its full price.
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
    bundles: Sequence[Bundle | None] | None = None
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

    def replace(self, **changes: Any) -> AcquisitionProblem:
        """Return the same problem with some arrays replaced, and what follows from them with it; nothing is checked.

        Such as ``prior``, ``prices``, ``full_prices`` or ``decision_costs``; all else is shared.
        """
        other = copy.copy(self)
        if "likelihoods" in changes:
            for name in self._of_likelihoods:
                other.__dict__.pop(name, None)
        other.__dict__.update(changes)
        if "prior" in changes and "starts" not in changes and self.starts is not None:
            other.starts = self.starts.with_prior(self.prior, other.prior)
        other.perfect_cost = other.decision_costs.min(axis=1)
        return other

    def in_any_order(self) -> AcquisitionProblem:
        """Return the problem of the same questions in any order, itself where it is free; not every problem has one."""
        return self if self.free else self.replace(free=True)

    def subset(self, questions: IntArray) -> AcquisitionProblem:
        """Return the problem of some questions, by their numbers; of a fixed order they must be the first ones."""
        return self.replace(**{name: picked(getattr(self, name), questions) for name in self._by_question()})

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
        return InformationState(self, 0, np.tile(self.prior, (n, 1)), self.start(n), paid, seen=seen)

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
