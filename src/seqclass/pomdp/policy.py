"""Policies: which question to ask next, or to decide."""

from __future__ import annotations

import copy
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
import numpy.typing as npt

from seqclass._utils.arrays import BoolArray, FloatArray, IntArray, chunks, row_sums, uniforms
from seqclass._utils.model_files import Stored
from seqclass._utils.stored import require, require_part
from seqclass._utils.text import money, short_repr
from seqclass._utils.validation import check_kind, check_real
from seqclass.pomdp.account import planned_prices, price_of_question
from seqclass.pomdp.action_values import action_costs, action_frame, cost_to_go
from seqclass.pomdp.cached import without
from seqclass.pomdp.one_step import (
    least_cost_of_going_on,
    one_step_costs,
    stopping_is_certain,
    stopping_threshold,
    without_questions,
)
from seqclass.pomdp.problem import (
    DECIDE,
    AcquisitionProblem,
    BeliefState,
    as_belief,
    constraint_status,
    must_continue,
    with_component,
)
from seqclass.pomdp.solve_info import SolveInfo
from seqclass.pomdp.ties import TIE
from seqclass.pomdp.values import ValueFunction
from seqclass.pomdp.walk import MAX_HISTORIES, Simulation, WrongAnswer

if TYPE_CHECKING:
    import pandas as pd

__all__ = [
    "DECIDE",
    "FunctionPolicy",
    "LookaheadPolicy",
    "Policy",
    "RepricedPolicy",
    "scale_prices",
]


_Policy = TypeVar("_Policy", bound="Policy")


class Policy(Stored, ABC):
    """An immutable rule that asks a question or decides.

    Parameters
    ----------
    problem : AcquisitionProblem
        The problem it acts on.
    n_stages : int, optional
        Horizon: it decides after so many questions at the latest. By default all.
    info : SolveInfo, optional
        What the solver reports.

    Examples
    --------
    >>> import numpy as np
    >>> from seqclass.pomdp import TableProblem, evaluate
    >>> problem = TableProblem([0.5, 0.5], np.array([[[0.9, 0.2], [0.1, 0.8]]]), prices=0.1)
    >>> class AskAll(Policy):
    ...     def _action(self, info):
    ...         return np.full(len(info), info.stage)
    >>> round(evaluate(problem, AskAll(problem)).cost, 3)
    0.25
    """

    #: Whether it works its plan out case by case, which trying it on a few cases would pay for.
    _plans_anew = False

    def __init_subclass__(cls, **settings: Any) -> None:
        super().__init_subclass__(**settings)
        if hasattr(cls, "decide"):
            raise TypeError(
                f"{cls.__name__}.decide: a policy says what to ask and when to stop, and the problem what is decided "
                "then, the cheapest by its decision_costs; put your rule into these, or call the method otherwise."
            )

    def __init__(self, problem: AcquisitionProblem, n_stages: int | None = None, info: SolveInfo | None = None) -> None:
        check_kind(problem, AcquisitionProblem, "problem", "an AcquisitionProblem, such as clf.problem_")
        if not (n_stages is None or isinstance(n_stages, (int, np.integer))) or isinstance(n_stages, bool):
            raise TypeError(
                f"n_stages must be an integer, got {short_repr(n_stages)}; what a solver reports goes by info=."
            )
        if n_stages is not None and not 0 <= n_stages <= problem.n_stages:
            raise ValueError(
                f"n_stages must lie between 0 and {problem.n_stages}, the problem's stages; got {n_stages}."
            )
        self.problem = problem
        self.n_stages = problem.n_stages if n_stages is None else int(n_stages)
        self.info = SolveInfo("converged", n_stages=self.n_stages) if info is None else info

    def __repr__(self) -> str:
        problem, info = self.problem, self.info
        asks = f"at most {self.n_stages:,} of {problem.n_questions:,} question{'' if problem.n_questions == 1 else 's'}"
        order = "in any order" if problem.any_order else "in one order"
        costs = f", costs {money(info.lower)} to {money(info.upper)}, gap {info.gap:.1%}"
        bounds = "" if np.isnan(info.upper) else costs
        solved = f"; {info.status}{bounds}" if bounds or info.seconds else ""
        return f"<{type(self).__name__}: {asks} {order}{solved}>"

    @property
    def _seed(self) -> int:
        """Seed of the lots, where there are several: see `initial_belief`."""
        return 0

    @abstractmethod
    def _action(self, belief: BeliefState) -> IntArray:
        """Question to ask of each row, or -1 to decide, at a stage before the horizon."""

    def action(self, belief: BeliefState | npt.ArrayLike) -> IntArray:
        """Question to ask next of each row, or -1 to decide; in a fixed order the question is the stage's.

        Parameters
        ----------
        belief : BeliefState
            What is known of ``n`` instances.

        Returns
        -------
        ndarray of int of shape (n,)

        Raises
        ------
        ValueError
            If a policy of your own answers anything but a bool or an int for each row.
        """
        belief = self._as_belief(belief)
        ended = belief.stage >= self.n_stages
        question = np.full(len(belief), DECIDE) if ended else self._questions(self._action(belief), belief)
        if (
            belief.problem.limits.rules is not None
            and (row := np.flatnonzero((question == DECIDE) & must_continue(belief))).size
        ):
            # whatever pays, what has to be asked is asked before anything is decided: the most useful of it first
            some = belief[row]
            costs = np.where(constraint_status(some).serves & some.available, one_step_costs(some), np.inf)
            question[row] = (costs <= costs.min(axis=1, keepdims=True) * (1 + TIE)).argmax(axis=1)
        return question

    def value(
        self,
        belief: BeliefState | npt.ArrayLike,
        *,
        stage: int = 0,
        method: str = "auto",
        n_paths: int = 10_000,
        max_histories: int = MAX_HISTORIES,
        random_state: Any = 0,
    ) -> FloatArray:
        """Expected cost from a belief on where one goes on as this policy does, prices paid before left out.

        Parameters
        ----------
        belief : BeliefState, or array-like of shape (n_classes,) or (n, n_classes)
            What is known of ``n`` cases; or P(class) alone, of cases of which nothing else is known.
        stage : int
            Where P(class) alone is given, in a fixed order: the stage at which it is looked at.
        method : {"auto", "exact", "simulation"}
            Enumerate every history, sample them, or enumerate if they are at most ``max_histories``.
        n_paths : int
            Sampled paths of each case, for simulation; `action_values` gives the standard error.
        max_histories : int
            Most histories to enumerate, of all cases together.
        random_state : int, generator or None
            Seed of the simulation.

        Returns
        -------
        ndarray of shape (n,)
            In units of the costs.

        Raises
        ------
        ValueError
            If P(class) is none, or ``method="exact"`` meets more than ``max_histories`` histories.

        Examples
        --------
        >>> import numpy as np
        >>> from seqclass.pomdp import Lookahead, TableProblem
        >>> problem = TableProblem([0.5, 0.5], np.array([[[0.9, 0.2], [0.1, 0.8]]]), prices=0.1)
        >>> Lookahead(1).solve(problem).value([[0.5, 0.5], [0.95, 0.05]]).round(3)  # .1 + .15; decide at once
        array([0.25, 0.05])
        """
        belief = self._as_belief(belief, stage)
        return cost_to_go(self, belief, Simulation(method, n_paths, max_histories, random_state))[0]

    def action_values(
        self,
        belief: BeliefState | npt.ArrayLike,
        *,
        stage: int = 0,
        method: str = "auto",
        n_paths: int = 10_000,
        max_histories: int = MAX_HISTORIES,
        random_state: Any = 0,
    ) -> pd.DataFrame:
        """What deciding now costs, and asking each question that is open and then going on as this policy does.

        Parameters
        ----------
        belief, stage, method, n_paths, max_histories, random_state
            See `value`.

        Returns
        -------
        pandas.DataFrame
            A row for deciding (``decide``, or ``(decide)`` where a question is called so) and for each question, of
            each case: its ``price``, the expected cost ``after`` it, the ``total``, what it ``adds``, by how much it is
            cheaper than the cheapest other one, and ``std_error`` where it was simulated; in units of the costs.

        Examples
        --------
        >>> import numpy as np
        >>> from seqclass.pomdp import Lookahead, TableProblem, with_names
        >>> likelihoods = np.array([[[0.9, 0.2], [0.1, 0.8]], [[0.6, 0.5], [0.4, 0.5]]])
        >>> problem = with_names(TableProblem([0.5, 0.5], likelihoods, prices=0.1, any_order=True), ["test", "look"])
        >>> Lookahead(1).solve(problem).action_values(problem.initial_belief()).round(3)
                price  after  total  adds
        decide    0.0   0.50   0.50 -0.25
        test      0.1   0.15   0.25  0.10
        look      0.1   0.25   0.35 -0.10
        """
        belief = self._as_belief(belief, stage)
        simulation = Simulation(method, n_paths, max_histories, random_state)
        return action_frame(belief, *action_costs(self, belief, simulation))

    @property
    def _knows_any_belief(self) -> bool:
        """Whether it answers for any P(class), not only for what may follow from the problem's own prior."""
        return True

    @property
    def _lookahead_values(self) -> ValueFunction | None:
        """Values that it looks one step ahead on; None where it goes by anything else."""
        return None

    def _as_belief(self, belief: BeliefState | npt.ArrayLike, stage: int = 0) -> BeliefState:
        """A belief of a problem of as many classes, also of P(class) alone where the policy goes by that."""
        known = as_belief(self.problem, belief, stage)
        if known is not belief and not self._knows_any_belief:
            raise ValueError(
                "belief: this policy has a plan for partial answers from the fitted prior on; "
                "P(class) alone does not say where it stands. Give clf.belief() or problem.initial_belief(), "
                "or take optimal_values, or Lookahead(depth), exact where depth is the number of questions."
            )
        if known.probabilities.shape[1] != self.problem.n_classes:
            raise ValueError(
                f"belief is of a problem with {known.probabilities.shape[1]} classes, the policy's has "
                f"{self.problem.n_classes}: take the problem that it was made for."
            )
        return known

    def _questions(self, answer: Any, belief: BeliefState) -> IntArray:
        """What `_action` answers, as numbers of questions: of an own policy it may be anything."""
        answer, name = np.asarray(answer), getattr(self, "_answers", f"{type(self).__name__}._action")
        if answer.dtype.kind not in "biu" or answer.shape not in ((), (len(belief),)):
            raise WrongAnswer(
                f"{name} must answer one bool or int for each of {len(belief)} rows, got {answer.dtype} of shape "
                f"{answer.shape}."
            )
        if answer.dtype.kind == "b":
            if self.problem.any_order:
                raise WrongAnswer(f"{name} must name the question to ask: several are open in a problem in any order.")
            answer = np.where(answer, belief.stage, DECIDE)
        return np.array(answer if answer.ndim else np.broadcast_to(answer, len(belief)), dtype=np.intp)

    def panels(self, belief: BeliefState, least: int = 0) -> BoolArray | None:
        """What each row orders now, to be answered in one visit, (n, n_questions); None where it orders nothing ever.

        Most policies ask one question at a time; see `Panels`.

        Parameters
        ----------
        belief : BeliefState
            What is known of ``n`` instances.
        least : int
            Least questions to order as far as so many are open, though they may not pay; 0: only what pays.

        Returns
        -------
        ndarray of bool of shape (n, n_questions), or None
            A row of none where it decides, and where it waits for what was ordered before.
        """
        return None

    def _is_terminal(self, belief: BeliefState) -> BoolArray:
        """Where no other policy that goes by this one's questions goes on either, (n,); most never say so."""
        return np.zeros(len(belief), dtype=bool)

    def _question_scores(self, belief: BeliefState) -> FloatArray | None:
        """Score of each question by which it chooses, (n, n_questions), the highest first; None where it has none."""
        return None

    def next_question(self, belief: BeliefState) -> IntArray:
        """Question that comes next wherever it goes on, (n,): in a fixed order the stage's, else what `action` asks.

        A policy that knows what it would ask also where it decides overrides this; where it asks, both are the same.

        Parameters
        ----------
        belief : BeliefState
            What is known of ``n`` instances.

        Returns
        -------
        ndarray of int of shape (n,)
            -1 where no question is left, or the policy does not tell.
        """
        if self.problem.any_order:
            return self.action(belief)
        return np.full(len(belief), belief.stage if belief.stage < self.n_stages else DECIDE)

    def continuation_cost(self, belief: BeliefState) -> FloatArray:
        """Expected cost of going on, the next price included, (n,); NaN where the policy cannot tell.

        Parameters
        ----------
        belief : BeliefState
            What is known of ``n`` instances.

        Returns
        -------
        ndarray of shape (n,)
            inf where nothing more can be asked.
        """
        return np.full(len(belief), np.nan)

    def _cost_without(self, belief: BeliefState, questions: BoolArray) -> FloatArray:
        """`continuation_cost` if some questions could not be had, (n,), by the same values; NaN if they do not tell."""
        return self.continuation_cost(without_questions(belief, questions))

    def initial_belief(self) -> tuple[BeliefState, FloatArray]:
        """Return what is known before anything is acquired, a row for each lot, and the lots' probabilities.

        Most policies leave nothing to chance and have one row; see `RandomisedPolicy`.

        Returns
        -------
        belief : BeliefState
        probability : ndarray of shape (n_lots,)
        """
        return self.problem.initial_belief(), np.ones(1)


def draw_lots(policy: Policy, keys: Any) -> IntArray:
    """Lot of each instance: its row in `Policy.initial_belief`.

    It is a hash of the policy's seed and of ``keys``, (n, m), numbers that tell the instances apart.
    """
    bounds = np.cumsum(policy.initial_belief()[1])[:-1]
    return np.asarray(np.searchsorted(bounds, uniforms(keys, policy._seed), side="right"))


def with_info(policy: _Policy, **changes: object) -> _Policy:
    """Return the same policy with some fields of its `info` replaced."""
    other = copy.copy(policy)
    other.info = replace(policy.info, **changes)  # type: ignore[arg-type]
    return other


def as_policy(policy: object, problem: AcquisitionProblem | None = None, name: str = "policy") -> Policy:
    """What was given where a policy is meant; of a problem that is known a function as well (see `FunctionPolicy`)."""
    if isinstance(policy, Policy):
        return policy
    if problem is None or isinstance(policy, type) or not callable(policy):
        raise TypeError(
            f"{name} must be a Policy, such as clf.policy_ or what solver.solve(problem) returns, or "
            f"FunctionPolicy(problem, function); got {short_repr(policy)}."
        )
    return FunctionPolicy(problem, policy)


class LookaheadPolicy(Policy):
    """Executes one step of look-ahead on a value function.

    It goes on where the price of the next feature plus the expected value after it is below the stopping cost, and
    stops at a tie.

    Parameters
    ----------
    values : ValueFunction
        Cost-to-go of each stage; also the horizon.
    info : SolveInfo, optional
        What the solver reports.

    Examples
    --------
    >>> import numpy as np
    >>> from seqclass.pomdp import StoppingValue, TableProblem
    >>> problem = TableProblem([0.5, 0.5], np.array([[[0.9, 0.2], [0.1, 0.8]]]), prices=0.1)
    >>> LookaheadPolicy(StoppingValue(problem)).action(problem.initial_belief())  # .1 + .15 < .5: buy feature 0
    array([0])
    """

    def __init__(self, values: ValueFunction, info: SolveInfo | None = None) -> None:
        super().__init__(values.problem, values.n_stages, info)
        self.values = values

    @property
    def _lookahead_values(self) -> ValueFunction:
        return self.values

    def _check_stored(self) -> None:
        values = require_part(self, "values", ValueFunction)
        require(values.n_stages == self.n_stages, "values are of other stages")
        require(values.problem is self.problem, "values are of another problem")

    def _action(self, belief: BeliefState) -> IntArray:
        stop = stopping_threshold(belief)
        if len(belief) == 1 and type(self.values).plan_cost is ValueFunction.plan_cost:  # no plan is known
            on = stop[0] > least_cost_of_going_on(belief)[0] and self.continuation_cost(belief)[0] < stop[0]
            return np.array([belief.stage if on else DECIDE])
        go_on = np.zeros(len(belief), dtype=bool)
        # look-ahead is spared where stopping is optimal for certain, or a known plan already pays
        rows = np.flatnonzero(~stopping_is_certain(belief))
        surcharge = price_of_question(belief)[rows] - planned_prices(self.problem)[belief.stage]
        pays = self.values.plan_cost(belief, rows) + surcharge < stop[rows]
        go_on[rows[pays]] = True
        rows = rows[~pays]
        row_bytes = 8.0 * 3 * float(self.problem.n_outcomes[belief.stage]) * self.problem.n_classes
        for part in chunks(len(rows), row_bytes):
            some = belief if len(rows[part]) == len(belief) else belief[rows[part]]
            go_on[rows[part]] = self.continuation_cost(some) < stop[rows[part]]
        return np.where(go_on, belief.stage, DECIDE)

    def continuation_cost(self, belief: BeliefState) -> FloatArray:
        """Price of the next question plus the expected value after it, (n,); inf at the horizon."""
        if belief.stage >= self.n_stages:
            return np.full(len(belief), np.inf)
        known: tuple[Policy, FloatArray] | None = belief._cache.get("continuation_cost")
        if known is None or known[0] is not self:  # a live case asks for it after `action` did
            cost = cost_of_going_on(belief, self.values.successor_values(belief))
            belief._cache["continuation_cost"] = known = (self, cost)
        return known[1]


def cost_of_going_on(belief: BeliefState, ahead: FloatArray) -> FloatArray:
    """Price of the next question and what its outcomes are worth, `ValueFunction.successor_values`, (n,)."""
    return np.asarray(price_of_question(belief) + row_sums(ahead))


def cheapest_question(costs: FloatArray, problem: AcquisitionProblem) -> tuple[IntArray, FloatArray]:
    """The question of the least cost in each row, and that cost; `DECIDE` and inf of none.

    Of equals the first, free ones after the others: an answer that is for nothing and changes nothing is not asked for.
    """
    least = costs.min(axis=1, initial=np.inf)
    question = np.full(len(costs), DECIDE)
    on = np.flatnonzero(least < np.inf)
    if on.size:  # of no question at all there is no argmax
        equal, late = costs[on] <= least[on, None] * (1 + TIE), problem.structure.put_off
        question[on] = np.where(equal, late, late.max(initial=0) + 1).argmin(axis=1)
    return question, least


class ChoosingPolicy(Policy):
    """Asks one question of each case, where that and what follows costs less than to decide."""

    @abstractmethod
    def _choose(self, belief: BeliefState, rows: IntArray) -> tuple[IntArray, FloatArray]:
        """Question that comes next of some rows, and what going on with it costs, before the horizon."""

    def continuation_cost(self, belief: BeliefState) -> FloatArray:
        """Expected cost of going on, the next price included, (n,); inf where nothing can be asked."""
        if belief.stage >= self.n_stages:
            return np.full(len(belief), np.inf)
        return self._choose(belief, np.arange(len(belief)))[1]

    def _action(self, belief: BeliefState) -> IntArray:
        question = np.full(len(belief), DECIDE)
        rows = (~stopping_is_certain(belief)).nonzero()[0]
        if rows.size:
            asked, cost = self._choose(belief, rows)
            question[rows] = np.where(cost < stopping_threshold(belief)[rows], asked, DECIDE)
        return question


class LeastCostPolicy(ChoosingPolicy):
    """Asks the question that promises most where it costs less than to decide."""

    @abstractmethod
    def question_costs(self, belief: BeliefState) -> FloatArray:
        """Price of each question plus what follows it, (n, n_questions); inf where it is not open."""

    def _question_scores(self, belief: BeliefState) -> FloatArray:
        return -self.question_costs(belief)

    def next_question(self, belief: BeliefState) -> IntArray:
        """The most promising question, worth its price or not, (n,); see `Policy.next_question`."""
        if not self.problem.any_order or belief.stage >= self.n_stages:
            return super().next_question(belief)
        return cheapest_question(self.question_costs(belief), belief.problem)[0]

    def _choose(self, belief: BeliefState, rows: IntArray) -> tuple[IntArray, FloatArray]:
        some = belief if len(rows) == len(belief) else belief[rows]  # which keeps what was worked out of it
        return cheapest_question(self.question_costs(some), belief.problem)


class FunctionPolicy(Policy, stored=False):
    """A user's function as a policy.

    Parameters
    ----------
    problem : AcquisitionProblem
        The problem it acts on.
    function : callable
        ``function(belief)`` gives for each row of a `BeliefState`, or for all of them, the question to ask, of those in
        ``belief.available``, and -1 to decide (int), or in a fixed order whether to go on (bool).
    n_stages : int, optional
        Horizon; by default all stages.

    Raises
    ------
    ValueError
        When it acts, if the function answers anything else.

    Examples
    --------
    >>> import numpy as np
    >>> from seqclass.pomdp import FunctionPolicy, TableProblem
    >>> problem = TableProblem([0.5, 0.5], np.array([[[0.9, 0.2], [0.1, 0.8]]]), prices=0.1)
    >>> FunctionPolicy(problem, lambda belief: belief.probabilities.max(axis=1) < 0.9).action(problem.initial_belief())
    array([0])
    """

    _answers = "function"

    def __init__(
        self, problem: AcquisitionProblem, function: Callable[[BeliefState], Any], n_stages: int | None = None
    ) -> None:
        super().__init__(problem, n_stages)
        if isinstance(function, type) or not callable(function):
            raise TypeError(f"function must be a function of a belief, got {short_repr(function)}.")
        self.function = function

    def _action(self, belief: BeliefState) -> Any:
        return self.function(belief)


def scale_prices(problem: AcquisitionProblem, multiplier: float) -> AcquisitionProblem:
    """Return the same problem with every price multiplied."""
    check_real(multiplier, "multiplier", 0, np.finfo(float).max)
    changes: dict[str, Any] = {"prices": problem.prices * multiplier, "full_prices": problem.full_prices * multiplier}
    if problem.limits.max_cost is not None:  # the same may be afforded
        changes["max_cost"] = problem.limits.max_cost * multiplier
    if problem.visits is not None:
        changes["visits"] = problem.visits.scale(multiplier)
    return problem.replace(**changes)


class BorrowedPolicy(Policy, stored=False):
    """A policy that asks another one, where that is of another problem as it would be there (`_translate`)."""

    def __init__(self, policy: Policy, problem: AcquisitionProblem) -> None:
        super().__init__(problem, policy.n_stages, policy.info)
        self.policy = policy

    @property
    def _knows_any_belief(self) -> bool:
        return self.policy._knows_any_belief

    def _translate(self, belief: BeliefState) -> BeliefState:
        """What is known as the policy's own problem has it."""
        return belief

    def initial_belief(self) -> tuple[BeliefState, FloatArray]:
        """Return the lots of the policy; see `Policy.initial_belief`."""
        lots, probability = self.policy.initial_belief()
        belief = self.problem.initial_belief(len(lots))
        return with_component(belief, lots.account.component), probability

    @property
    def _seed(self) -> int:
        return self.policy._seed

    def next_question(self, belief: BeliefState) -> IntArray:
        """Question that comes next wherever it goes on, (n,); see `Policy.next_question`."""
        return self.policy.next_question(self._translate(belief))

    def panels(self, belief: BeliefState, least: int = 0) -> BoolArray | None:
        """What each row orders now, as the policy has it; see `Policy.panels`."""
        return self.policy.panels(self._translate(belief), least)

    def _is_terminal(self, belief: BeliefState) -> BoolArray:
        return self.policy._is_terminal(self._translate(belief))

    def _action(self, belief: BeliefState) -> IntArray:
        return self.policy.action(self._translate(belief))


class RepricedPolicy(BorrowedPolicy):
    """A policy made for other prices, run on the problem itself.

    ``multiplier`` is the factor of the prices it was made for; `info` has its bounds at those prices.
    """

    def __init__(self, policy: Policy, problem: AcquisitionProblem, multiplier: float) -> None:
        super().__init__(policy, problem)
        self.multiplier = multiplier

    def _check_stored(self) -> None:
        policy = require_part(self, "policy", Policy)
        require(policy.n_stages == self.n_stages, "nothing is priced anew")
        require(0 <= float(self.multiplier) < np.inf, "multiplier is wrong")
        require(policy.problem.n_stages == self.problem.n_stages, "another problem is priced anew")

    def continuation_cost(self, belief: BeliefState) -> FloatArray:
        """Expected cost of going on at the prices the policy was made for, (n,); NaN where it cannot tell.

        Prices count `multiplier` times and decisions as they are, so that ``belief.stopping_cost`` less this is what
        the policy expects to save by going on: it goes on where that is positive.
        """
        return self.policy.continuation_cost(self._translate(belief))

    def _cost_without(self, belief: BeliefState, questions: BoolArray) -> FloatArray:
        return self.policy._cost_without(self._translate(belief), questions)

    def _translate(self, belief: BeliefState) -> BeliefState:
        own = copy.copy(belief)  # and with it what was computed of it, none of which depends on prices
        own.problem = self.policy.problem
        most = belief.problem.limits.max_questions
        if most != self.problem.limits.max_questions:  # there may be fewer than it was made for
            own.problem = own.problem.replace(max_questions=most)
        own.account = own.account.scale(self.multiplier)
        own._cache = without(belief._cache, "one_step_costs", "continuation_cost", "least_cost_of_going_on")
        return own
