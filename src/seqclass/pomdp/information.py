"""What is known of a batch of instances that were asked equally many questions."""

from __future__ import annotations

import copy
from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import Any

import numpy as np

from seqclass._utils.arrays import CHUNK_BYTES, BoolArray, FloatArray, IntArray, chunks, row_sums

__all__ = ["InformationState"]


#: Costs that differ by less than this share of themselves are a tie, so that batch size and BLAS change no answer. They
#: are sums of what is not negative, so each is rounded by a share of itself; one of the dearest decision hides others.
TIE = 1e-12
#: In `InformationState.seen`: the question was not asked.
OPEN = -2
#: The question cannot be had, or what is known at the start has made it needless: it is never asked.
CLOSED = -3


def budget_of(most: float) -> float:
    """What may be spent: what sums up to the most but for rounding is within it."""
    return most * (1 + TIE)


def affords(most: float, spent: FloatArray) -> BoolArray:
    """Whether what is spent is within the budget, but for rounding."""
    return spent <= budget_of(most)


def less(surcharge: FloatArray, other: FloatArray) -> BoolArray:
    """Which surcharges are less than others but for rounding."""
    return np.asarray(surcharge < other * (1 - TIE))


class ImpossibleOutcome(ValueError):
    """An outcome that has probability zero given what was seen before."""

    def __init__(self, feature: int, outcome: int) -> None:
        super().__init__(
            f"feature {feature}: outcome {outcome} has probability zero given what was seen before, so no belief "
            "follows; smooth the likelihoods or check the value."
        )
        self.feature, self.outcome = feature, outcome

    def __reduce__(self) -> tuple[type[ImpossibleOutcome], tuple[int, int]]:
        return type(self), (self.feature, self.outcome)  # from another process it comes as it went


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
    visits : ndarray of int of shape (n,), optional
        Visits so far; None where visits cost nothing.
    ordered : ndarray of bool of shape (n, n_questions), optional
        Questions that were ordered in the last visit and not answered yet; None where visits cost nothing.
    owed : ndarray of shape (n, n_groups), optional
        Least full price less price of what was acquired of a group for which nobody paid in full yet, as something
        that was ordered with it would pay less for that; inf elsewhere, and None where visits or groups are not.

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
        problem: Any,  # an `AcquisitionProblem`, which begins with such states
        stage: int,
        belief: FloatArray,
        state: Any,
        paid: BoolArray | None = None,
        lot: IntArray | None = None,
        *,
        seen: IntArray | None = None,
        spent: FloatArray | None = None,
        visits: IntArray | None = None,
        ordered: BoolArray | None = None,
        owed: FloatArray | None = None,
    ) -> None:
        self.problem = problem
        self.stage = stage
        self.belief: FloatArray = belief.view()
        self.belief.flags.writeable = False  # a rule that sorts it in place would change what is believed
        self.state = state
        self.paid = paid
        self.lot = lot
        self.seen = seen
        self.spent = np.zeros(len(belief)) if spent is None else spent
        self.visits = visits
        self.ordered = ordered
        self.owed = owed
        #: Whether it was said what is ordered: what has nothing ordered then decides.
        self.told = False
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
        part = InformationState(
            self.problem,
            self.stage,
            self.belief[rows],
            self.state[rows],
            paid,
            lot,
            seen=seen,
            spent=self.spent[rows],
            visits=None if self.visits is None else self.visits[rows],
            ordered=None if self.ordered is None else self.ordered[rows],
            owed=None if self.owed is None else self.owed[rows],
        )
        part.told = self.told
        asked = self._question
        part._question = asked[rows] if self._mixed else asked  # type: ignore[index]
        return part

    def likelihood_parts(self, questions: IntArray, n_columns: int) -> Iterator[tuple[slice, IntArray, FloatArray]]:
        """Likelihoods of many questions for all rows, a part at a time, so that memory is bounded.

        Yields rows, positions of questions among the ``m``, and `AcquisitionProblem.planned_likelihoods` of both;
        ``n_columns`` numbers are to be computed of each row, question and outcome.
        """
        problem = self.problem
        for places in problem.together(questions):
            asked = questions[places]
            widest = float(problem.n_outcomes[asked].max())
            for part in chunks(len(self), 8.0 * 3 * len(asked) * widest * max(problem.n_classes, n_columns)):
                whole = part.start == 0 and part.stop == len(self)
                state = self.state if whole else self.state[np.arange(part.start, part.stop)]
                yield part, places, problem.planned_likelihoods(asked, state)

    @classmethod
    def concatenate(cls, parts: Sequence[InformationState]) -> InformationState:
        """Put the rows of several information states of one problem and stage together, one after the other."""
        if len(parts) == 1:
            return parts[0]
        first = parts[0]

        def joined(name: str) -> Any:
            arrays = [getattr(part, name) for part in parts]
            return None if arrays[0] is None else np.concatenate(arrays)

        return cls(
            first.problem,
            first.stage,
            joined("belief"),
            first.problem.join([part.state for part in parts]),
            joined("paid"),
            joined("lot"),
            seen=joined("seen"),
            spent=joined("spent"),
            visits=joined("visits"),
            ordered=joined("ordered"),
            owed=joined("owed"),
        )

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

    def ordering(self, panels: BoolArray) -> InformationState:
        """Return what is known once each row has ordered a set of questions, to be answered in one visit.

        Parameters
        ----------
        panels : ndarray of bool of shape (n, n_questions)
            What each orders; a row of none orders nothing.

        Returns
        -------
        InformationState
            The same, with the visits paid for; answers come one by one, by `update`, and cost their prices.

        Raises
        ------
        ValueError
            If visits cost nothing here, or a row orders what is not open, more than goes into one visit, or anything
            before what it ordered last was answered.

        Examples
        --------
        >>> import numpy as np
        >>> from seqclass.costs import Visits
        >>> from seqclass.pomdp import TableProblem
        >>> likelihoods = np.array([[[0.9, 0.2], [0.1, 0.8]], [[0.6, 0.5], [0.4, 0.5]]])
        >>> problem = TableProblem([0.5, 0.5], likelihoods, prices=0.1, free=True)
        >>> info = problem.with_visits(Visits(0.25, np.zeros(2))).begin().ordering(np.array([[True, True]]))
        >>> info.spent.tolist(), info.asking(1).update(np.array([0])).spent.tolist()
        ([0.25], [0.35])
        """
        visits = self.problem.visits
        if visits is None or self.ordered is None or self.visits is None:
            raise ValueError("visits cost nothing in this problem, so that nothing is ordered: ask one at a time.")
        wants = panels.any(axis=1)
        if (self.ordered.any(axis=1) & wants).any():
            raise ValueError("what was ordered last has not been answered yet: wait for it before anything is ordered.")
        if (panels & ~self.unasked).any():
            raise ValueError("a panel has a question that was asked before.")
        if visits.max_panel is not None and int(panels.sum(axis=1).max(initial=0)) > visits.max_panel:
            raise ValueError(f"a panel has more than max_panel={visits.max_panel} questions.")
        ordered, spent = self.ordered | panels, self.spent + visits.of(panels)
        return self.but(ordered=ordered, visits=self.visits + wants, spent=spent, told=True)

    def but(self, **changes: Any) -> InformationState:
        """Return the same with some attributes replaced, and nothing kept that was computed of it."""
        other = copy.copy(self)
        for name in [name for name in vars(other) if isinstance(getattr(type(self), name, None), cached_property)]:
            del other.__dict__[name]
        other.__dict__.update(changes)
        return other

    def without(self, questions: BoolArray) -> InformationState:
        """Return what is known where some questions, (n, n_questions), cannot be had; a fixed order passes its next."""
        if self.seen is None:
            return self.update(np.full(len(self), -1))
        return self.but(seen=np.where(questions, CLOSED, self.seen))

    @property
    def unasked(self) -> BoolArray:
        """Which questions were not asked, (n, n_questions), whether they may be asked now or not."""
        if self.seen is None:  # a fixed order
            return np.broadcast_to(
                np.arange(self.problem.n_questions) >= self.stage, (len(self), self.problem.n_questions)
            )
        return np.asarray(self.seen == OPEN)

    @property
    def waiting(self) -> BoolArray:
        """Where something was ordered that was not answered yet, (n,)."""
        return np.zeros(len(self), dtype=bool) if self.ordered is None else np.asarray(self.ordered.any(axis=1))

    @cached_property
    def open(self) -> BoolArray:
        """Which questions may be asked now, (n, n_questions); in a free problem all not asked and affordable.

        Where something was ordered that was not answered yet, these questions.
        """
        problem = self.problem
        shape = (len(self), problem.n_questions)
        if self.stage >= problem.n_stages:
            return np.zeros(shape, dtype=bool)
        if self.seen is None:  # a fixed order
            return np.broadcast_to(np.arange(problem.n_questions) == self.stage, shape)
        result: BoolArray = self.seen == OPEN
        if problem.max_cost is not None:
            result = result & affords(problem.max_cost, self.spent[:, None] + self.prices)
        if problem.rules is not None:
            result = result & self.standing.allowed
        if self.ordered is not None and (waiting := self.waiting).any():
            result[waiting] = self.ordered[waiting]
        return result

    @cached_property
    def standing(self) -> Any:
        """How each row stands to the rules of the problem, if it has any; see `seqclass.pomdp.rules.Standing`."""
        return self.problem.rules.look(self)

    @property
    def closed(self) -> BoolArray:
        """Where nothing may be decided yet, (n,): rules ask for more, and that can be asked."""
        if not self.problem.closes:
            return np.zeros(len(self), dtype=bool)
        return np.asarray(self.standing.closed & self.open.any(axis=1))

    @property
    def sensible(self) -> BoolArray:
        """Open questions among which heuristics choose, (n, n_questions): where it is `closed`, what has to be asked.

        That is paid for whatever comes of the others, so that it may as well tell whether these still pay. Elsewhere
        they are those that can change anything.
        """
        if not self.problem.closes:
            nothing = self.problem.put_off > 1  # is learnt from these, which are free
            return self.open & ~nothing if nothing.any() else self.open
        return np.asarray(self.open & (self.standing.serves | ~self.closed[:, None]))

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
        price = self._price
        if problem.visits is None:
            return price
        return price - np.where(self._was_ordered, problem.visits.alone[question], 0.0)

    @property
    def _was_ordered(self) -> BoolArray:
        """Where the question was ordered before, and its visit is paid for."""
        assert self.ordered is not None  # where visits cost something
        return np.asarray(self.ordered[np.arange(len(self)) if self._mixed else slice(None), self.question])

    @property
    def _price(self) -> FloatArray:
        """Price of the question for each row, asked by itself."""
        problem, question = self.problem, self.question
        price: FloatArray = problem.prices[question] if self._mixed else np.full(len(self), problem.prices[question])
        if self._without_group:
            return price
        return np.where(self.pays_in_full, problem.full_prices[question], price)

    @property
    def _without_group(self) -> bool:
        problem = self.problem
        if self.paid is None or problem.groups is None or not self.paid.shape[1]:
            return True
        return bool(not self._mixed and problem.groups[self.question] < 0)

    @property
    def pays_in_full(self) -> BoolArray:
        """Where the question is the one of its group that costs its full price, if it is answered now, (n,)."""
        if self._without_group:
            return np.zeros(len(self), dtype=bool)
        problem, rows = self.problem, np.arange(len(self))
        group = np.broadcast_to(problem.groups[self.question], len(self))
        full: BoolArray = (group >= 0) & ~self.paid[rows, group]  # type: ignore[index]
        if self.ordered is not None and self.ordered.any():
            surcharge = (problem.full_prices - problem.prices)[self.question]
            full &= ~less(problem.least_surcharges(self.ordered)[rows, group], surcharge)
        return full

    @property
    def prices(self) -> FloatArray:
        """Price of every question for each row, (n, n_questions); one row where all rows pay alike.

        Where visits cost something, with that of a visit in which it is asked alone, unless it was ordered before.
        """
        problem = self.problem
        prices: FloatArray = problem.prices[None] if self.paid is None else problem.prices_beside(self.paid)
        if self.ordered is not None and problem.visits is not None and self.ordered.any():
            if problem.groups is not None and (least := problem.least_surcharges(self.ordered)).size:
                another = less(least[:, problem.groups], problem.full_prices - problem.prices) & (problem.groups >= 0)
                prices = np.where(another, problem.prices, prices)
            prices = prices - np.where(self.ordered, problem.visits.alone, 0.0)
        return prices

    @cached_property
    def deciding_cost(self) -> FloatArray:
        """Cost of the best decision on what is known, (n,), whether it may be decided yet or not."""
        return np.asarray(self.problem.stopping_cost(self.belief))

    @property
    def stopping_cost(self) -> FloatArray:
        """Cost of the best decision now, (n,); inf where it is `closed`."""
        return np.where(self.closed, np.inf, self.deciding_cost) if self.problem.closes else self.deciding_cost

    @property
    def finishing_cost(self) -> FloatArray:
        """Cost that can be had at once, (n,): of deciding, and where that is `closed` of what has to be asked as well.

        An answer never makes the decision dearer, as the model expects.
        """
        if not self.problem.closes:
            return self.deciding_cost
        return np.where(self.closed, self.problem.rules.ceiling(self) + self.deciding_cost, self.deciding_cost)

    @property
    def to_beat(self) -> FloatArray:
        """What going on must stay below, (n,): the cost of stopping, less a tie."""
        return self.stopping_cost * (1 - TIE)

    @property
    def states(self) -> FloatArray:
        """P(state | what was seen) of the states of `AcquisitionProblem.state_tables`, (n, n_states)."""
        problem = self.problem
        if problem.class_tables is None and problem.hidden is not None:
            return np.asarray(problem.hidden.probability(self))
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
        least: FloatArray
        if self.stage >= problem.n_stages:
            least = np.full((len(self), len(factor)), np.inf)
        elif problem.free:
            cheapest = np.where(self.open, self.prices, np.inf).min(axis=1, initial=np.inf)[:, None]
            nothing = np.isinf(cheapest)
            if self.problem.closes:  # what has to be asked is paid for
                cheapest = np.maximum(cheapest, problem.rules.floor(self)[:, None])
            least = np.where(nothing, np.inf, np.where(nothing, 0.0, cheapest) * factor + known[:, None])
        else:
            price = self.price
            if self.ordered is not None and problem.groups is not None:  # what is ordered with it may pay in full
                spared = problem.full_prices - problem.with_least_surcharges.full_prices
                price = price - np.where(self.pays_in_full, spared[self.question], 0.0)
            least = price[:, None] * factor + known[:, None]
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
            raise ImpossibleOutcome(parent._feature(wrong), int(outcome[wrong]))
        belief[seen] = joint / total
        state = self.problem.advance(parent.question, parent.state, outcome)
        acquired = (outcome >= 0) | charge_missing
        paid, groups_paid, owed = parent.charge(acquired)
        visits, ordered = parent.visits, None
        if self.problem.visits is not None:
            assert parent.ordered is not None  # where visits cost something
            assert parent.visits is not None
            alone = ~parent._was_ordered
            visits, ordered = parent.visits + alone, parent.ordered.copy()
            ordered[np.arange(len(ordered)) if parent._mixed else slice(None), parent.question] = False
        return InformationState(
            self.problem,
            self.stage + 1,
            belief,
            state,
            groups_paid,
            parent.lot,
            seen=parent._note(outcome),
            spent=parent.spent + paid,
            visits=visits,
            ordered=ordered,
            owed=owed,
        )

    def charge(self, acquired: BoolArray) -> tuple[FloatArray, BoolArray | None, FloatArray | None]:
        """What an answer costs, (n,), or that there is none; groups paid for then, and what is owed for others."""
        problem, cost = self.problem, np.where(acquired, self.price, 0.0)
        if self.ordered is not None:  # a visit was made, whatever came of it
            cost = cost + np.where(acquired | self._was_ordered, 0.0, problem.visits.alone[self.question])
        if self._without_group:
            return cost, self.paid, self.owed
        group = np.broadcast_to(problem.groups[self.question], len(self))
        rows = np.flatnonzero(acquired & (group >= 0))
        paid: BoolArray = self.paid.copy()  # type: ignore[union-attr]
        paid[rows, group[rows]] = self.pays_in_full[rows] | paid[rows, group[rows]]
        if self.owed is None or self.ordered is None:
            return cost, paid, self.owed
        owed, surcharge = self.owed.copy(), (problem.full_prices - problem.prices)[self.question]
        owed[rows, group[rows]] = np.minimum(owed[rows, group[rows]], np.broadcast_to(surcharge, len(self))[rows])
        ordered = self.ordered.copy()
        ordered[np.arange(len(self)) if self._mixed else slice(None), self.question] = False
        settled = self.but(paid=paid, ordered=ordered, owed=owed).settle()
        return cost + settled.spent - self.spent, settled.paid, settled.owed

    def settle(self) -> InformationState:
        """Return the same once what is owed was paid of groups of which nothing that is waited for would pay less."""
        if self.owed is None or self.paid is None:
            return self
        owed = np.where(self.paid, np.inf, self.owed)
        due = np.isfinite(owed) & ~less(self.problem.least_surcharges(self.ordered), owed)
        spent = self.spent + np.where(due, owed, 0.0).sum(axis=1)
        return self.but(spent=spent, paid=self.paid | due, owed=np.where(due, np.inf, owed))

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
