"""The acquisition problem, questions with prices and decisions with costs, and the beliefs that one holds in it."""

from __future__ import annotations

import copy
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import fields, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
from scipy.special import entr

from seqclass._utils.arrays import BoolArray, FloatArray, IntArray, lower_envelope, read_only, row_sums, smallest_int
from seqclass._utils.model_files import Stored
from seqclass._utils.tables import Readable, count_text
from seqclass._utils.text import belief_text, money, short_repr
from seqclass._utils.validation import (
    check_costs,
    check_distribution,
    check_finite,
    check_integer,
    check_real,
    in_order,
    names_to_mapping,
    own_labels,
)
from seqclass.costs import Visits
from seqclass.pomdp.account import Account, charge, new_account, prices_of_all
from seqclass.pomdp.bundles import Bundle
from seqclass.pomdp.cached import cached, without
from seqclass.pomdp.constraints import ConstraintStatus, Limits
from seqclass.pomdp.names import ImpossibleOutcome, Names, Naming, costs_in_order, label_rows, numbers_in_order
from seqclass.pomdp.starts import Starts
from seqclass.pomdp.structure import Structure, likelihood_of
from seqclass.pomdp.ties import TIE, affords

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["AcquisitionProblem", "BeliefState"]


#: What `Policy.action` answers where it is time to decide.
DECIDE = -1
#: In `BeliefState.observed`: the question was not asked.
OPEN = -2
#: The question cannot be had, or what is known at the start has made it needless: it is never asked.
CLOSED = -3


class AcquisitionProblem(Stored, ABC):
    """A problem of sequential acquisition: which question to ask next, and when to stop and decide.

    A *question* has a price and shows one of its outcomes. The decision maker either stops, at the stopping cost
    ``g(belief) = min_j belief @ decision_costs[:, j]``, or pays for one of the questions that are open. In a *fixed
    order* question ``k`` is asked at stage ``k``: the questions ``0..k-1`` have been asked, and ``k`` is the only one
    open. Where `any_order` is true every question that has not been asked is open, and the next one may depend on the
    answers.

    Whatever the next likelihood depends on, beyond the belief, is an opaque *state* that the problem keeps, with one
    row per instance; it may be any object that can be indexed by an array of row numbers. In a fixed order, a problem
    with finitely many states may offer them as `tables`. A problem in any order whose states are not arrays has a
    `structure` that overrides `join`; and what its questions show together is as likely in whichever order they are
    asked, on which optima and certificates over all orders rely. `seqclass.testing.check_problem` looks at both.

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
    any_order : bool
        Whether the questions may be asked in any order.
    max_questions : int, optional
        Most questions asked of an instance, missing answers included; for a problem in any order.
    max_cost : float, optional
        Most that is paid for an instance; for a problem in any order. A fixed order has here what a budget cut
        it by, and then never exceeds that.
    bundles : sequence of Bundle or None of length n_questions, optional
        What a question shows that shows several features at once, None for any other. Its ``n_outcomes`` are those in
        which all features are seen, unless they are too many (see `is_sampled`).

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
    >>> problem.stopping_cost(problem.prior), problem.initial_belief().outcome_probabilities
    (array(0.5), array([[0.55, 0.45]]))
    """

    any_order: bool = False
    bundles: Sequence[Bundle | None] | None = None
    #: What visits cost, by question; None where they cost nothing. Prices are those of what is asked in a visit alone.
    visits: Visits | None = None
    #: Most questions, most that is paid, and rules of what may be asked and has to be, whatever pays.
    limits: Limits = Limits()
    _starts: Starts | None = None
    _naming: Naming = Naming()
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
        any_order: bool = False,
        max_questions: int | None = None,
        max_cost: float | None = None,
        bundles: Sequence[Bundle | None] | None = None,
    ) -> None:
        classes, questions = own_labels(prior), own_labels(prices)
        self.prior = check_distribution(prior, None, "prior")
        self.prices = check_costs(prices, "prices")
        if self.prices.ndim != 1:
            raise ValueError(f"prices must be a vector, one price a question, got shape {self.prices.shape}.")
        self.decision_costs = check_costs(costs_in_order(decision_costs, classes), "decision_costs")
        if self.decision_costs.ndim != 2 or self.decision_costs.shape[0] != self.n_classes or not self.n_decisions:
            raise ValueError(
                "decision_costs must have one row a class and one column a decision, here "
                f"{self.n_classes} rows; got shape {self.decision_costs.shape}."
            )
        shape = (self.n_questions,)
        features = np.arange(self.n_questions) if features is None else features
        self.n_outcomes: IntArray = np.array(in_order(n_outcomes, "n_outcomes", questions), dtype=np.intp)
        self.features: IntArray = np.array(in_order(features, "features", questions), dtype=np.intp)
        groups = in_order(groups, "groups", questions)
        self.groups: IntArray | None = None if groups is None else np.array(groups, dtype=np.intp)
        for name, value in (("n_outcomes", self.n_outcomes), ("features", self.features), ("groups", self.groups)):
            if value is not None and value.shape != shape:
                raise ValueError(f"{name} must have one entry a question, {shape}, got {value.shape}.")
        if self.n_questions and self.n_outcomes.min() < 1:
            raise ValueError("n_outcomes must be at least 1 for every question.")
        full = in_order(full_prices, "full_prices", questions)
        self.full_prices = self.prices if full is None else check_costs(full, "full_prices", shape)
        if (self.full_prices < self.prices).any():
            raise ValueError("full_prices must not be below prices: a discount cannot raise a price.")
        self.any_order = bool(any_order)
        if not any_order and (max_questions is not None or max_cost is not None):
            raise ValueError(
                "max_questions and max_cost belong to a problem in any order; of a fixed one leave out the last."
            )
        if bundles is not None and any(bundle is not None for bundle in bundles):
            if len(bundles) != self.n_questions:
                raise ValueError(f"bundles must have one entry a question, {self.n_questions}, got {len(bundles)}.")
            self.bundles = list(bundles)
        self.limits = Limits(
            None if max_questions is None else check_integer(max_questions, "max_questions", 0),
            None if max_cost is None else check_real(max_cost, "max_cost", 0),
        )

    def __repr__(self) -> str:
        size = f"{count_text(self.n_classes, 'classes')}, {count_text(self.n_decisions, 'decisions')}"
        low, high = (self.prices.min(), self.prices.max()) if self.n_questions else (0.0, 0.0)
        prices = f" at {money(low)}" if low == high else f" at {money(low)} to {money(high)}"
        order = f"{count_text(self.n_questions, 'questions')} in {'any' if self.any_order else 'one'} order"
        return f"<{type(self).__name__}: {size}, {order}{prices if self.n_questions else ''}>"

    @property
    def names(self) -> Names:
        """Names of questions, outcomes, classes and decisions; see `with_names`."""
        return Names(self, self._naming)

    @property
    def n_questions(self) -> int:
        """Number of questions."""
        return int(self.prices.size)

    @property
    def n_stages(self) -> int:
        """Most questions that can be asked of an instance; in a fixed order, their number."""
        most = self.limits.max_questions
        return self.n_questions if most is None else min(most, self.n_questions)

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

    @property
    def structure(self) -> Structure[Any]:
        """What solvers, rules and simulations may exploit of it; a problem that can do more gives its own."""
        return Structure(self)

    @cached_property
    def _put_off(self) -> IntArray:
        return self.structure.find_put_off()

    @cached_property
    def _perfect_cost(self) -> FloatArray:
        return np.asarray(self.decision_costs.min(axis=1))

    def replace(self, **changes: Any) -> AcquisitionProblem:
        """Return the same problem with some arrays replaced, and what follows from them with it; it is not checked.

        Such as ``prior``, ``prices``, ``full_prices`` or ``decision_costs``, one of the `limits` by its name
        (``max_cost``), or ``starts`` (see `Structure.starts`); all else is shared. Where there are rules, prices and
        limits by which they cannot be met are refused.
        """
        limits = {field.name: changes.pop(field.name) for field in fields(Limits) if field.name in changes}
        if limits:
            changes["limits"] = replace(self.limits, **limits)
        if "starts" in changes:
            changes["_starts"] = changes.pop("starts")
        numbers = {"prior", "prices", "full_prices", "decision_costs"} & changes.keys()
        changes |= {name: np.asarray(numbers_in_order(self, name, changes[name]), dtype=np.float64) for name in numbers}
        if unknown := [name for name in changes if not hasattr(self, name)]:
            raise TypeError(f"a problem has no {', '.join(sorted(unknown))} to replace.")
        other = copy.copy(self)
        for name in ("_put_off", "_perfect_cost", *(self._of_likelihoods if "likelihoods" in changes else ())):
            other.__dict__.pop(name, None)
        other.__dict__.update(changes)
        if "prior" in changes and "_starts" not in changes and self._starts is not None:
            other._starts = self._starts.with_prior(self.prior, other.prior)
        rules = other.limits.rules
        if rules is not None and "rules" not in limits and {"prices", "full_prices", "limits"} & changes.keys():
            rules.check(other)
        return other

    def _by_question(self) -> list[str]:
        always = ["prices", "full_prices", "n_outcomes", "features"]
        return [*always, *(name for name in ("groups", "bundles") if getattr(self, name) is not None)]

    def stopping_cost(self, belief: FloatArray) -> FloatArray:
        """``g(belief)``: cost of the best decision now, (n,); linear in the scale of ``belief``."""
        return lower_envelope(np.asarray(numbers_in_order(self, "belief", belief)), self.decision_costs.T)

    def decide(self, belief: FloatArray) -> IntArray:
        """Index of the cheapest decision for each belief; ties go to the lowest index."""
        costs = np.asarray(numbers_in_order(self, "belief", belief)) @ self.decision_costs
        return np.asarray((costs <= costs.min(axis=-1, keepdims=True) * (1 + TIE)).argmax(axis=-1))

    def initial_belief(self, n: int = 1) -> BeliefState:
        """Belief about ``n`` cases of which nothing is known."""
        observed = None
        if self.any_order:
            bundles = [bundle.n_codes for bundle in self.bundles or () if bundle is not None]
            kind = smallest_int(max([int(self.n_outcomes.max(initial=1)), *bundles]) - 1)
            observed = np.full((n, self.n_questions), OPEN, dtype=kind)
        prior = np.tile(self.prior, (n, 1))
        return BeliefState(self, 0, prior, self.start(n), new_account(self, n), observed=observed)


class BeliefState(Readable):
    """What is known of a batch of cases that were asked equally many questions.

    What may be seen next (`joint`, `outcome_probabilities`) and `update` are about one *question*: in a
    fixed order the stage's, in any order that of `asking`, which may be another one for each row.

    Parameters
    ----------
    problem : AcquisitionProblem
        The problem the cases belong to.
    stage : int
        Number of questions asked so far.
    probabilities : ndarray of shape (n, n_classes)
        Class posterior of each case.
    state : object
        The problem's own state, indexable by rows.
    account : Account
        What each has paid and ordered, and the component that it drew of a randomised policy.
    observed : ndarray of int of shape (n, n_questions), optional
        Outcome of each question that was asked, -1 where it was missing, `OPEN` where it was not asked; None in a fixed
        order, where the first ``stage`` questions have been asked.

    Examples
    --------
    >>> import numpy as np
    >>> from seqclass.pomdp import TableProblem
    >>> problem = TableProblem([0.5, 0.5], np.array([[[0.9, 0.2], [0.1, 0.8]]]), prices=0.1)
    >>> state = problem.initial_belief(2).update(np.array([0, 1]))
    >>> state.stage, state.probabilities.round(3).tolist(), state.spent
    (1, [[0.818, 0.182], [0.111, 0.889]], array([0.1, 0.1]))
    """

    def __init__(
        self,
        problem: AcquisitionProblem,
        stage: int,
        probabilities: FloatArray,
        state: Any,
        account: Account | None = None,
        *,
        observed: IntArray | None = None,
    ) -> None:
        self.problem = problem
        self.stage = stage
        # a rule that sorts it in place, or an `advance` that adds to it, would change what is believed
        self.probabilities: FloatArray = read_only(probabilities)
        self.state = read_only(state) if isinstance(state, np.ndarray) else state
        self.account = Account(np.zeros(len(probabilities))) if account is None else account
        self.observed = observed
        self._question: int | IntArray | None = None
        #: Of a fixed order what was answered before its turn, (n, n_questions) and `OPEN` elsewhere; None: nothing.
        self._early: IntArray | None = None
        self._cache: dict[str, Any] = {}

    def __len__(self) -> int:
        return len(self.probabilities)

    def _summary(self) -> str:
        n, paid = len(self), self.spent.mean() if len(self) else 0.0
        mean = belief_text(self.problem.names.classes, self.probabilities.mean(axis=0).tolist()) if n else "no belief"
        cases, average = ("", "") if n == 1 else (f"{n:,} cases; on average ", " on average")
        number = self._question
        asks = f"; asking {short_repr(self.problem.names.question(number))}" if isinstance(number, int) else ""
        return f"{cases}{mean}; {self.stage:,} of {self.problem.n_questions:,} asked, {money(paid)} paid{average}{asks}"

    def to_frame(self) -> pd.DataFrame:
        """Return a row a case: P(class), what was asked, what was paid, and what deciding now would cost.

        Returns
        -------
        pandas.DataFrame
            A column for each class (``P(paid)`` of one that is called like another column), ``asked`` (number of
            questions), ``paid`` and ``stopping_cost`` (in units of the costs), ``decision`` (the cheapest now), and
            ``observed``, what the questions showed by name.

        Examples
        --------
        >>> import numpy as np
        >>> from seqclass.pomdp import TableProblem, with_names
        >>> problem = TableProblem([0.5, 0.5], np.array([[[0.9, 0.2], [0.1, 0.8]]]), prices=0.1, any_order=True)
        >>> belief = with_names(problem, ["test"], classes=["ill", "well"]).initial_belief(2).asking(0)
        >>> belief.update(np.array([0, 1])).to_frame().round(2)
            ill  well  asked  paid  stopping_cost decision observed
        0  0.82  0.18      1   0.1           0.18      ill   test=0
        1  0.11  0.89      1   0.1           0.11     well   test=1
        """
        return super().to_frame()

    def _table(self) -> Any:
        names = self.problem.names
        rest: dict[str, Any] = {"asked": np.full(len(self), self.stage), "paid": self.spent}
        rest["stopping_cost"] = self.stopping_cost
        rest["decision"] = np.array(names.decisions, dtype=object)[self.problem.decide(self.probabilities)]
        if self.observed is not None:
            rest["observed"] = [names.describe(row) for row in self.observed]
        classes = [f"P({name})" if name in rest else name for name in names.classes]
        return dict(zip(classes, self.probabilities.T)) | rest

    @property
    def posterior(self) -> pd.Series[float] | pd.DataFrame:
        """P(class | what was seen) by the names of the classes: a series for one case, else a row a case.

        Hot code reads `probabilities`, the array.
        """
        return label_rows(self.probabilities, self.problem.names.classes, "probability")

    def predictive(self, question: int | str | None = None) -> pd.Series[float] | pd.DataFrame:
        """P(outcome of a question | what was seen) by the names of its outcomes.

        Parameters
        ----------
        question : int or str, optional
            Its number or its name; by default the one that comes next, in a fixed order or after `asking`.

        Returns
        -------
        pandas.Series or pandas.DataFrame
            A series for one case, else a row a case.

        Raises
        ------
        ValueError
            If there is no such question, it does not come next in a fixed order, or has too many outcomes to list.

        Examples
        --------
        >>> import numpy as np
        >>> from seqclass.pomdp import TableProblem, with_names
        >>> problem = TableProblem([0.5, 0.5], np.array([[[0.9, 0.2], [0.1, 0.8]]]), prices=0.1, any_order=True)
        >>> with_names(problem, ["test"], outcomes=[["+", "-"]]).initial_belief().predictive("test").round(2)
        +    0.55
        -    0.45
        Name: test, dtype: float64
        """
        belief = self
        if question is not None:
            number = self.problem.names.number(question)
            self.problem.names.check_next(np.array([number]), self.stage, self.observed)
            belief = set_question(self, number)
        if belief._mixed or question_is_sampled(belief):
            raise ValueError("these outcomes cannot be listed: cases ask different questions, or there are too many.")
        names, number = self.problem.names, belief.question
        return label_rows(belief.outcome_probabilities, names.outcomes(number), names.question(number))

    def entropy(self) -> FloatArray:
        """Uncertainty about the class in bits, (n,)."""
        return np.asarray(entr(self.probabilities).sum(axis=1) / np.log(2))

    def __getitem__(self, rows: IntArray | BoolArray) -> BeliefState:
        """Return the belief of some rows (an array of numbers or a mask, or the number of one)."""
        rows = np.array([rows]) if isinstance(rows, (int, np.integer)) else rows
        part = self._take(rows)
        if "joint" in self.__dict__:  # what look-ahead computed serves the update as well
            part.__dict__["joint"] = self.joint[rows]
        return part

    def _take(self, rows: IntArray | BoolArray) -> BeliefState:
        part = BeliefState(
            self.problem,
            self.stage,
            self.probabilities[rows],
            self.state[rows],
            self.account[rows],
            observed=None if self.observed is None else self.observed[rows],
        )
        question = self._question
        part._question = question[rows] if isinstance(question, np.ndarray) else question
        part._early = None if self._early is None else self._early[rows]
        return part

    @property
    def spent(self) -> FloatArray:
        """Prices paid so far, (n,)."""
        return self.account.spent

    @property
    def question(self) -> Any:
        """The question that may be asked next: the stage's in a fixed order, in any order that of `asking`."""
        if self._question is not None:
            return self._question
        if self.problem.any_order:
            raise ValueError("any question may come next here: say which by belief.asking(question).")
        if self.stage >= self.problem.n_questions:
            raise ValueError("no question is left: all were asked.")
        return self.stage

    @property
    def _mixed(self) -> bool:
        """Whether rows may ask different questions."""
        return isinstance(self._question, np.ndarray)

    def asking(self, question: int | str | Sequence[int | str] | IntArray) -> BeliefState:
        """Return the same belief, about to ask a question.

        Parameters
        ----------
        question : int or str, or array-like of shape (n,)
            Its number or its name; or one for each row, where `Structure.supports_mixed_batches` allows that.

        Returns
        -------
        BeliefState

        Raises
        ------
        ValueError
            If there is no such question, or it may not be asked now (see `available`).

        Examples
        --------
        >>> import numpy as np
        >>> from seqclass.pomdp import TableProblem
        >>> likelihoods = np.array([[[0.9, 0.2], [0.1, 0.8]], [[0.6, 0.5], [0.4, 0.5]]])
        >>> belief = TableProblem([0.5, 0.5], likelihoods, prices=0.1, any_order=True).initial_belief()
        >>> belief.asking(1).outcome_probabilities, belief.asking(1).update(np.array([0])).available
        (array([[0.55, 0.45]]), array([[ True, False]]))
        """
        names = self.problem.names
        number = np.array([names.number(one) for one in np.atleast_1d(question)], dtype=np.intp)
        if len(number) not in (1, len(self)):
            raise ValueError(f"{len(self)} cases need as many questions, or one for all; got {len(number)}.")
        names.check_next(number, self.stage, self.observed)
        closed = ~self.available[np.arange(len(self)), number]
        names.refuse(number, closed, "may not be asked now, by what was spent or ordered, a limit or rules.")
        if len(unique := np.unique(number)) > 1 and not self.problem.structure.supports_mixed_batches(unique):
            raise ValueError("these cases cannot be asked different questions at once here: take those of one, by row.")
        return set_question(self, int(number[0]) if len(unique) == 1 else number)

    def replace(self, **changes: Any) -> BeliefState:
        """Return the same with some attributes replaced, and nothing kept that was computed of it."""
        if unknown := changes.keys() - vars(self).keys():
            raise TypeError(f"a belief has no {', '.join(sorted(unknown))} to replace.")
        other = object.__new__(type(self))
        rest = {name: value for name, value in vars(self).items() if name not in self._cached_names}
        other.__dict__.update(rest, _cache={}, **changes)
        return other

    #: What is worked out of its other attributes when it is asked for.
    _cached_names = frozenset({"available", "joint", "outcome_probabilities"})

    @cached_property
    def available(self) -> BoolArray:
        """Which questions may be asked now, (n, n_questions); in a problem in any order all not asked and affordable.

        Where something was ordered that was not answered yet, these questions.
        """
        problem = self.problem
        shape = (len(self), problem.n_questions)
        if self.stage >= problem.n_stages:
            return np.zeros(shape, dtype=bool)
        if self.observed is None:  # a fixed order
            return np.broadcast_to(np.arange(problem.n_questions) == self.stage, shape)
        result: BoolArray = self.observed == OPEN
        if problem.limits.max_cost is not None:
            result = result & affords(problem.limits.max_cost, self.spent[:, None] + self.prices)
        if problem.limits.rules is not None:
            result = result & constraint_status(self).allowed
        ordered = self.account.ordered
        if ordered is not None and (waits := self.account.waits).any():
            result[waits] = ordered[waits]
        return result

    @cached_property
    def joint(self) -> FloatArray:
        """P(outcome, class | what was seen): the unnormalised successors, (n, n_outcomes, n_classes)."""
        return np.asarray(outcome_likelihood(self) * self.probabilities[:, None, :])

    @cached_property
    def outcome_probabilities(self) -> FloatArray:
        """P(outcome of the question | what was seen), (n, n_outcomes)."""
        return row_sums(self.joint)

    @property
    def prices(self) -> FloatArray:
        """Price of every question for each row, (n, n_questions); one row where all rows pay alike.

        Where visits cost something, with that of a visit in which it is asked alone, unless it was ordered before.
        """
        return prices_of_all(self)

    @property
    def stopping_cost(self) -> FloatArray:
        """Cost of the best decision now, (n,); inf where rules ask for more."""
        if not has_requirements(self.problem):
            return deciding_cost(self)
        return np.where(must_continue(self), np.inf, deciding_cost(self))

    def update(
        self, *answer: Any, rows: IntArray | None = None, charge_missing: bool = False, **answers: Any
    ) -> BeliefState:
        """Belief after questions were asked and answered.

        Parameters
        ----------
        *answer : question, value; or mapping; or ndarray of int of shape (m,)
            A question, by name or number, and what it showed, in the form of `Names.code`: one value for all cases, or
            a list of one for each; or several such pairs in a dict, asked one after another. Or outcomes alone, of the
            question that comes next: that of `asking`, or the stage's in a fixed order; -1 is missing and leaves the
            belief as it is.
        rows : ndarray of int of shape (m,), optional
            The row of this belief that each of the outcomes belongs to; by default each row once.
        charge_missing : bool
            Whether a missing answer is paid for all the same; its group is then paid for as well.
        **answers : value
            Questions by name as words of Python (``worst_area`` for ``"worst area"``), one after the other.

        Returns
        -------
        BeliefState
            ``m`` rows, one stage on for each question.

        Raises
        ------
        ValueError
            If a question may not be asked now, or an answer is none of its outcomes, or has probability zero; the
            message names the question and the value.

        Examples
        --------
        >>> import numpy as np
        >>> from seqclass.pomdp import TableProblem, with_names
        >>> problem = TableProblem([0.5, 0.5], np.array([[[0.9, 0.2], [0.1, 0.8]]]), prices=0.1, any_order=True)
        >>> belief = with_names(problem, ["the test"], classes=["ill", "well"]).initial_belief()
        >>> belief.update("the test", 1)
        <BeliefState: ill 11.1%, well 88.9%; 1 of 1 asked, 0.1 paid>
        >>> belief.update(the_test=1).posterior.round(3).to_dict()
        {'ill': 0.111, 'well': 0.889}
        """
        if len(answer) == 1 and isinstance(first := names_to_mapping(answer[0], "update"), Mapping):
            answer, answers = (), {**first, **answers}
        elif len(answer) == 1 and not answers:
            outcome, n = np.asarray(answer[0]), len(self) if rows is None else len(rows)
            if outcome.shape != (n,) or outcome.dtype.kind not in "iu":
                got = f"{outcome.dtype} of shape {outcome.shape}"
                raise ValueError(f"update: {n} cases need an array of as many outcomes, which are int; got {got}.")
            return self._update(outcome, rows, charge_missing)
        if len(answer) not in (0, 2) or rows is not None or not (answer or answers):
            raise TypeError(
                "update takes outcomes alone, a question and its answer, or answers by name; rows go with outcomes."
            )
        belief, pairs = self, [*([answer] if answer else []), *answers.items()]
        for question, outcomes in self.problem.names.code_answers(pairs, len(self)):
            belief = belief.asking(question)._update(outcomes, None, charge_missing)
        return belief

    def _update(self, outcome: IntArray, rows: IntArray | None, charge_missing: bool) -> BeliefState:
        parent = self if rows is None else self._take(rows)
        self.problem.names.check(parent.question, outcome)
        seen = (outcome >= 0).nonzero()[0]
        source = seen if rows is None else rows[seen]
        known, structure = self.__dict__, self.problem.structure
        if "joint" in known and self._bundle is None:
            joint = self.joint[source, outcome[seen]]
        elif self._bundle is not None or (structure.latent is not None and "outcome_likelihood" not in self._cache):
            # what was seen may be part of an outcome, and of latent states is all that is needed
            where = self.state if rows is None and seen.size == len(self) else self.state[source]
            question = self.question[source] if self._mixed else self.question
            joint = structure.observation_likelihood(question, where, outcome[seen]) * self.probabilities[source]
        else:  # only what was seen is needed, not every outcome
            joint = outcome_likelihood(self)[source, outcome[seen]] * self.probabilities[source]
        total = joint.sum(axis=1, keepdims=True)
        if total.size and total.min() <= 0:
            wrong = int(seen[int(total.argmin())])
            number = int(np.broadcast_to(parent.question, len(parent))[wrong])
            name = self.problem.names.question(number)
            raise ImpossibleOutcome(int(self.problem.features[number]), int(outcome[wrong]), name)
        belief = joint / total
        if seen.size < len(outcome):
            belief, joint = parent.probabilities.copy(), belief
            belief[seen] = joint
        state = self.problem.advance(parent.question, parent.state, outcome)
        _, account = charge(parent, (outcome >= 0) | charge_missing)
        after = BeliefState(self.problem, self.stage + 1, belief, state, account, observed=parent._note(outcome))
        if (early := parent._early) is None:
            return after
        after._early = early
        parts = pass_answered(after)
        return parts[0][1] if len(parts) == 1 else after  # rows of one belief are at one stage

    def _note(self, outcome: IntArray) -> IntArray | None:
        if self.observed is None:
            return None
        seen: IntArray = self.observed.copy()
        seen[np.arange(len(seen)) if self._mixed else slice(None), self.question] = outcome
        return seen

    @property
    def _bundle(self) -> Any:
        """What the question shows at once; rows that ask several questions ask no bundles."""
        return None if self._mixed else self.problem.structure.bundle(self.question)


def as_belief(problem: AcquisitionProblem, belief: BeliefState | npt.ArrayLike, stage: int = 0) -> BeliefState:
    """A belief as it is, or P(class) of cases of which nothing else is known, (n_classes,) or (n, n_classes), as one.

    Raises
    ------
    ValueError
        If it is no such array, or the problem's next likelihood depends on more than P(class).
    """
    if isinstance(belief, BeliefState):
        return belief
    told = check_finite(numbers_in_order(problem, "belief", belief), "belief")
    chances = np.atleast_2d(told)
    if chances.ndim != 2 or chances.shape[1] != problem.n_classes:
        raise ValueError(
            f"belief must be a BeliefState, or P(class) of shape ({problem.n_classes},) or (n, {problem.n_classes}), "
            f"got shape {told.shape}."
        )
    if not ((chances >= 0).all() and np.allclose(chances.sum(axis=1), 1.0, atol=1e-9, rtol=0)):
        least, sums = float(chances.min()), chances.sum(axis=1)
        wrong = f"the least is {least:.4g}" if least < 0 else f"one sums to {sums[abs(sums - 1).argmax()]:.4g}"
        raise ValueError(f"belief must hold probabilities of the classes, not negative and of sum 1; {wrong}.")
    known = problem.initial_belief(len(chances)).replace(probabilities=chances)
    check_integer(stage, "stage", 0, problem.n_stages)
    if stage == 0:
        return known
    tables = problem.structure.tables
    if problem.any_order or tables is None or (stage < problem.n_stages and tables.n_contexts(stage) > 1):
        raise ValueError(
            "stage says enough only in a fixed order of questions that are independent given the class: here what was "
            "answered counts as well; take a belief and update it."
        )
    return known.replace(stage=stage)


def pass_answered(belief: BeliefState) -> list[tuple[IntArray, BeliefState]]:
    """Rows by the next stage whose question was not answered before its turn, moved on to there."""
    rows, stage, early = np.arange(len(belief)), belief.stage, belief._early
    if early is None or stage >= belief.problem.n_stages or not (past := early[:, stage] != OPEN).any():
        return [(rows, belief)]
    known, structure = belief[past], belief.problem.structure
    # the model has heard of it
    state = belief.problem.advance(stage, known.state, early[past, stage])
    known = known.replace(stage=stage + 1, state=structure.with_messages(state, structure.messages(known.state)))
    moved = [(rows[past][at], part) for at, part in pass_answered(known)]
    return moved if past.all() else [(rows[~past], belief[~past]), *moved]


@cached
def outcome_likelihood(belief: BeliefState) -> FloatArray:
    """P(outcome of the question | what was seen, class), (n, n_outcomes, n_classes); zero beyond its outcomes."""
    return likelihood_of(belief.problem, belief.question, belief.state)


def observations(belief: BeliefState) -> IntArray:
    """What the questions showed, (n, n_questions), of a problem in any order; see `BeliefState`."""
    assert belief.observed is not None  # of a fixed order nobody asks for it
    return belief.observed


def has_requirements(problem: AcquisitionProblem) -> bool:
    """Whether rules say that something has to be asked before anything is decided."""
    return problem.limits.rules is not None and problem.limits.rules.has_requirements


@cached
def constraint_status(belief: BeliefState) -> ConstraintStatus:
    """How each row stands to the rules of the problem, which has some."""
    assert belief.problem.limits.rules is not None  # of other problems nobody asks
    return belief.problem.limits.rules.status(belief)


def must_continue(belief: BeliefState) -> BoolArray:
    """Where nothing may be decided yet, (n,): rules ask for more, and that can be asked."""
    if not has_requirements(belief.problem):
        return np.zeros(len(belief), dtype=bool)
    return np.asarray(constraint_status(belief).must_continue & belief.available.any(axis=1))


@cached
def deciding_cost(belief: BeliefState) -> FloatArray:
    """Cost of the best decision on what is known, (n,), whether it may be decided yet or not."""
    return np.asarray(belief.problem.stopping_cost(belief.probabilities))


def with_component(belief: BeliefState, component: IntArray | None) -> BeliefState:
    """The same cases once each has drawn its component of a randomised policy, (n,); None: there is none to draw."""
    account = belief.account
    return belief if component is account.component else belief.replace(account=replace(account, component=component))


def set_question(belief: BeliefState, question: int | IntArray) -> BeliefState:
    """The same belief about to ask a question, by number, or one for each row, (n,); it is not checked."""
    if not belief._mixed and not isinstance(question, np.ndarray):
        known = belief.stage if belief._question is None and not belief.problem.any_order else belief._question
        if question == known:
            return belief
    other = object.__new__(type(belief))
    of_question = ("joint", "outcome_probabilities")
    other.__dict__.update({name: value for name, value in vars(belief).items() if name not in of_question})
    other._cache = without(belief._cache, "continuation_cost", "outcome_likelihood")
    other._question = question
    return other


def question_is_sampled(belief: BeliefState) -> bool:
    """Whether the question is one of more outcomes than are listed; see `Structure.is_sampled`."""
    return not belief._mixed and belief.problem.structure.is_sampled(belief.question)
