"""The choice among ordering rules: what to ask next depends on what was seen."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import KW_ONLY, dataclass, replace
from functools import cached_property, partial
from typing import Any

import numpy as np

from seqclass._utils.arrays import BoolArray, FloatArray, IntArray, another_stream, as_generator
from seqclass._utils.progress import TimeUp, left, look, telling, within
from seqclass._utils.text import shown
from seqclass._utils.validation import check_part
from seqclass.pomdp.bounds.dual import CONFIDENCE, quantile
from seqclass.pomdp.bounds.optimum import FEW, are_few, asked_once, distinct
from seqclass.pomdp.bounds.policy_cost import cost_at_most, most_expected
from seqclass.pomdp.bounds.repeats import RepeatValues, has_repeats
from seqclass.pomdp.bounds.search import OrderSearch
from seqclass.pomdp.information import InformationState
from seqclass.pomdp.policy import DECIDE, WIDE_GAP, OrderingCandidate, OrderingChoice, Policy, SolveInfo
from seqclass.pomdp.problem import AcquisitionProblem
from seqclass.pomdp.solvers.base import Solver, certified, on_cases
from seqclass.pomdp.solvers.exact_free_order import ANEW, exactly, planned
from seqclass.pomdp.solvers.ordering.base import OrderingRule
from seqclass.pomdp.solvers.ordering.cases import Cases, model_cases
from seqclass.pomdp.solvers.ordering.given import greedy_order
from seqclass.pomdp.solvers.ordering.rules import (
    EC2,
    ClassInformation,
    ExpectedSaving,
    HiddenInformation,
    LookaheadSaving,
    branches,
)
from seqclass.pomdp.solvers.ordering.values import RulePolicy, RuleValues, fitted_values
from seqclass.pomdp.solvers.simple import FirstK, OrderBoundPolicy, cheapest

__all__ = ["Adaptive", "ImprovedRule"]


#: Working memory of one step of look-ahead.
_BYTES = 2**26


@dataclass(repr=False, eq=False)
class ImprovedRule(OrderingRule):
    """Asks the question after which going on along another rule is expected to cost least.

    D. P. Bertsekas and D. A. Castanon, "Rollout algorithms for stochastic scheduling problems", Journal of Heuristics
    5, 1999 (one step of look-ahead on a policy's own values is no worse than the policy).
    """

    per_price = False
    saves = True

    values: RuleValues
    n_candidates: int = 4

    def work(self, problem: AcquisitionProblem) -> float:
        """Products that scoring all questions of one instance takes, roughly; see `OrderingRule.work`."""
        return (1 + branches(problem, self.n_candidates + 1)) * self.values.rule.work(problem)

    def gains(self, info: InformationState, questions: IntArray) -> FloatArray:
        """Savings over deciding now, prices counted; -inf where a question was not tried. See `OrderingRule.gains`."""
        problem = info.problem
        result: FloatArray = np.empty((len(info), problem.n_questions))
        for part, some in info.parts(8.0 * 4 * branches(problem, self.n_candidates + 1) * problem.n_questions, _BYTES):
            result[part] = self._savings(some)
        return result[:, questions]

    def _savings(self, info: InformationState) -> FloatArray:
        row, question = np.nonzero(self._candidates(info))
        savings = np.full((len(info), info.problem.n_questions), -np.inf)
        if not row.size:
            return savings
        level = asked_once(info, row, question, merged=self.values.rule.by_belief)
        kept, branch = distinct(level.info, level.parent)
        value = self.values.value(level.info[kept])
        expected = np.bincount(level.entry, level.weight * value[branch], minlength=row.size)
        prices = np.broadcast_to(info.prices, savings.shape)
        savings[row, question] = info.deciding_cost[row] - prices[row, question] - expected
        return savings

    def _candidates(self, info: InformationState) -> BoolArray:
        once = np.where(info.sensible, info.costs_once, np.inf)
        tried: BoolArray = np.zeros(once.shape, dtype=bool)
        n = min(self.n_candidates, once.shape[1])
        np.put_along_axis(tried, cheapest(once, n, info.problem), True, axis=1)
        own = self.values.rule.next(info)
        asks = np.flatnonzero(own != DECIDE)
        tried[asks, own[asks]] = True
        return tried & np.isfinite(once)


#: Of more questions most are weak, and bounds that let them be asked again are far off.
_MOST_QUESTIONS = 100
_FEWEST_PATHS = 2000


@telling("bounds over all orders")
def by_bounds(problem: AcquisitionProblem, n_paths: int, random_state: Any) -> Policy | None:
    """Policy of one step on bounds over all orders, certified; None where there are no such bounds."""
    if not has_repeats(problem) or problem.n_questions > _MOST_QUESTIONS:
        return None
    began = time.perf_counter()
    values = RepeatValues(problem)
    policy = OrderBoundPolicy(values)
    solved = time.perf_counter()
    rng = as_generator(another_stream(random_state))
    upper = cost_at_most(policy, max(n_paths, _FEWEST_PATHS), rng, CONFIDENCE, values.value)
    gap = (upper - values.value) / upper if upper > 0 else 0.0
    info = SolveInfo(
        "converged",
        n_stages=problem.n_stages,
        upper=upper,
        lower=values.value,
        gap=gap,
        confidence=CONFIDENCE,
        seconds=solved - began,
        certify_seconds=time.perf_counter() - solved,
        size=values.values.size,
        scope="all orders",
        ordering=OrderingChoice("one step on bounds over all orders", ()),
    )
    return policy.with_info(**vars(info))


#: Tests put their own here.
_clock = time.perf_counter
#: A simpler candidate is kept if it costs more by no more than this share, or a standard error.
_ALIKE = 0.001
#: Fewest cases that a regression is worth trying on, and questions asked of a case that its work is reckoned for.
_FEWEST, _ASKED = 300, 12
#: Up to so many questions look-ahead tries all: one that only says what to ask next ranks last by its own saving.
_FEW = 16
#: Nodes of a search that is there whatever the time is enough for, and the share of the time until the certificate.
_SURE_NODES, _CHOOSING = 200, 0.6
#: Partial answers that the search keeps where nobody says how many.
_SEARCH_NODES = 5000
#: What the names of orders that are the same for everybody begin with.
_FIXED = "fixed order"
#: Asks what saves most, as if one had to decide then.
_ONE_STEP = "one step"
#: Products that the search for the optimum may take, and the gap of its bounds at which it ends.
_SEARCH_WORK, _CLOSE = 1e8, 0.01
#: With fewer partial answers a search does not come far.
_FEWEST_NODES = 100
#: The share of its work after which rules are tried, and where it goes on: if its bound is so near to what they cost.
_AT_FIRST, _NEAR = 0.2, 1.1
_SEARCHED, _EXACTLY = "search over all orders", "all orders, exactly"
#: Share of the cases after which a candidate is left that is above another one by so many standard errors.
_FIRST, _CLEARLY = 0.2, 4.0


@dataclass(repr=False, eq=False)
class Adaptive(Solver):
    """Chooses an ordering rule, fits when to stop by regression, and improves both: any question may come next.

    Where there are few partial answers, the recursion over all of them gives the optimum. Where there are many, a
    search among those that matter (see `ExactFreeOrder`) often comes within 1% of it. Where answers depend only on two
    or three classes, bounds over all orders may be close enough to act on. Otherwise every rule, and the best fixed
    orders that a greedy search finds, are followed on cases simulated from the model, and a regression of the cost of
    going on says when to stop. All of them are then tried on the same fresh cases. The simplest of those that do not
    cost more than the cheapest, beyond chance, is improved by steps of look-ahead on its own values, as long as that
    lowers its cost. If the policy that the search found costs even less, it is taken instead.

    Parameters
    ----------
    rules : sequence of OrderingRule, optional
        Rules to try, the simplest first; by default all that suit the problem.
    n_paths : int
        Cases that values are fitted to, fewer where a rule is laborious (see ``max_work``).
    exact_expectation : bool
        Whether fitting values looks at all that the next answer of each case may be, which spares noise. Without, a
        case takes a fraction of the time, and there should be three times as many or more.
    n_cases : int
        Fresh cases that candidates are compared on; all cases, where they are no more.
    n_candidates : int
        Questions that one step of look-ahead tries; all, where there are at most 16.
    max_rounds : int
        Most rounds of improvement.
    max_nodes : int or None
        Partial answers up to which the exact optimum is found, as `ExactFreeOrder` does: enumerated up to 50,000
        (within a limit of questions or cost 400,000), or where answers are independent given hidden states listed, up
        to 20 million; 0 never does. None: 2 million, and 50,000 where ``rules`` are named.
    search_nodes : int or None
        Partial answers that the search for the optimum keeps at most, fewer where each takes long; 0 leaves it out.
        None: 5000 and no more than ``max_nodes``, and 0 where ``rules`` are named.
    max_stages : int
        Most questions asked of an instance.
    first_horizon : int
        Questions that values look ahead at first; twice as many, and so on, where cases come to their end.
    max_work : float
        Bound on the products that fitting a candidate may take; one that would take more is fitted to
        fewer cases. Where these would be too few it is not tried, unless it looks at each question only once.
    max_seconds : float or None
        Longest time of all, certificate included, which every step looks at, so that a busy machine may choose
        otherwise. What was tried by then is chosen from, or a plan of few questions is made, with bounds that hold, and
        the status is ``"limit"``. None: no limit but those of work.
    one_step : bool
        Whether asking what saves most, as long as one would decide after it, is tried first: no values are fitted, so
        that no more is asked by mistake where hardly anything pays.
    certificate_paths, random_state
        As in `Solver`.

    Examples
    --------
    The first question says which of the others tells the class:

    >>> from seqclass.pomdp import MixtureProblem
    >>> pointer = [[1, 0, 1, 0], [0, 1, 0, 1]]
    >>> first, second = [[1, 0.5, 0, 0.5], [0, 0.5, 1, 0.5]], [[0.5, 1, 0.5, 0], [0.5, 0, 0.5, 1]]
    >>> problem = MixtureProblem(np.full(4, 0.25), [0, 0, 1, 1], [first, second, pointer], prices=0.05, free=True)
    >>> info = Adaptive(max_nodes=0).solve(problem).info
    >>> info.ordering.chosen, round(info.upper, 3)
    ('EC2()', 0.1)
    """

    _least = {
        **dict.fromkeys(("n_paths", "n_candidates", "max_stages", "first_horizon"), 1),
        **dict.fromkeys(("max_rounds", "max_nodes", "search_nodes"), 0),
        **{"n_cases": 2, "max_work": 0.0, "max_seconds": 0.0},
    }

    rules: Sequence[OrderingRule] | None = None
    _: KW_ONLY
    n_paths: int = 1000
    exact_expectation: bool = True
    n_cases: int = 5000
    n_candidates: int = 4
    max_rounds: int = 2
    max_nodes: int | None = None
    search_nodes: int | None = None
    max_stages: int = 100
    first_horizon: int = 16
    max_work: float = 6e9
    max_seconds: float | None = None
    one_step: bool = False

    @property
    def certifies_last(self) -> bool:
        """Whether the policy is the same without a certificate: bounds that may be gone by need one."""
        return self.rules is not None

    def solve(self, problem: AcquisitionProblem) -> Policy:
        """Solve a problem; see `Solver.solve`."""
        self._check(problem)
        began, limit = _clock(), np.inf if self.max_seconds is None else self.max_seconds
        sure: OrderSearch | None = None
        with within(limit):
            try:
                with suppress(TimeUp), within(left() / 2):
                    beyond = problem.samples or problem.starts is not None
                    if not beyond and (exact := exactly(problem, self._most)) is not None:
                        return exact.with_info(seconds=_clock() - began, ordering=OrderingChoice(_EXACTLY, ()))
                look()
                # whatever the time is enough for, this is there
                if limit < np.inf and _searchable(problem):
                    sure = OrderSearch(problem)
                    sure.run(_SURE_NODES, left() / 10)
                return self._solve(problem, began, sure)
            except TimeUp:
                if self.max_seconds is None:  # somebody else's limit
                    raise
                if sure is not None:  # no rule was ready when it was time for the certificate
                    sure.run(_SEARCH_NODES)
        found = planned(sure or OrderSearch(problem)) if _searchable(problem) else _at_once(problem)
        return found.with_info(status="limit", seconds=_clock() - began, ordering=OrderingChoice(_SEARCHED, ()))

    def _solve(self, problem: AcquisitionProblem, began: float, sure: OrderSearch | None) -> Policy:
        """The policy where partial answers are not enumerated, as far as the time goes."""
        rest = left() * (_CHOOSING if self.certificate_paths else 1.0)
        with within(rest):
            search = self._search(problem)
            if search is not None and search.run(_AT_FIRST * self._nodes(problem), tolerance=_CLOSE):
                return planned(search).with_info(seconds=_clock() - began, ordering=OrderingChoice(_SEARCHED, ()))
            bounded = by_bounds(problem, self.certificate_paths, self.random_state) if self.rules is None else None
            if bounded is not None and bounded.info.gap <= WIDE_GAP:
                return bounded
            trial = _Search(self, problem, began)
            found = trial.best(search).with_info(seconds=_clock() - began)
        try:
            if np.isnan(found.info.upper):
                found = certified(found, self.certificate_paths, self.random_state)
            elif self.certificate_paths:
                found = on_cases(found, self.certificate_paths, self.random_state)
        except TimeUp:
            if np.isnan(found.info.upper):
                found = trial.bounded(found, 0.0 if sure is None else sure.low)
        if bounded is not None and bounded.info.upper < found.info.upper:
            tried = () if found.info.ordering is None else found.info.ordering.candidates
            choice = replace(bounded.info.ordering or OrderingChoice("", ()), candidates=tried)
            return bounded.with_info(status=found.info.status, seconds=found.info.seconds, ordering=choice)
        return found

    def enumerates(self, problem: AcquisitionProblem) -> bool:
        """Whether partial answers are so few that all are enumerated.

        Parameters
        ----------
        problem : AcquisitionProblem
            A problem in which any question may come next.

        Returns
        -------
        bool
        """
        return not problem.samples and problem.starts is None and are_few(problem, self._most)

    @property
    def _most(self) -> int:
        """Partial answers up to which the optimum is found."""
        usual = ANEW if self.rules is None else FEW
        return usual if self.max_nodes is None else self.max_nodes

    def _search(self, problem: AcquisitionProblem) -> OrderSearch | None:
        return OrderSearch(problem) if _searchable(problem) and self._nodes(problem) >= _FEWEST_NODES else None

    def _nodes(self, problem: AcquisitionProblem) -> float:
        """Partial answers that the search may keep."""
        most = self.search_nodes
        if most is None:
            most = min(self._most, _SEARCH_NODES) if self.rules is None else 0
        return min(most, _SEARCH_WORK / ExpectedSaving().work(problem))

    def _check(self, problem: AcquisitionProblem) -> None:
        if not problem.free:
            raise ValueError(
                "Adaptive needs a problem in which any question may come next: make it with free=True (a classifier "
                'with order="adaptive"), or use a solver of a fixed order, such as default_solver(problem).'
            )
        self._check_settings()
        if self.rules is not None and (not isinstance(self.rules, (list, tuple)) or not self.rules):
            raise TypeError(f"rules must be a list of ordering rules, such as [EC2()], got {shown(self.rules)}.")
        for number, rule in enumerate(self.rules or ()):
            check_part(rule, f"rules[{number}]", "an ordering rule such as EC2()", ("gains", "check"))
            rule.check(problem)


def _searchable(problem: AcquisitionProblem) -> bool:
    """Whether orders are searched: the plan of a search follows no start and nothing that has to be asked."""
    return not problem.samples and problem.starts is None and not problem.closes


def _at_once(problem: AcquisitionProblem) -> Policy:
    begun, weight = problem.opening()
    upper = float(weight @ begun.finishing_cost)
    lower = float(weight @ np.minimum(begun.stopping_cost, begun.cost_floor()))
    found = FirstK(0, certificate_paths=0).solve(problem)
    gap = (upper - lower) / upper if upper > 0 else 0.0
    return found.with_info(upper=upper, lower=lower, gap=gap, confidence=1.0, scope="all orders")


def _given(rule: OrderingRule) -> OrderingRule:
    return rule


@dataclass
class _Tried:
    """A candidate, and what it cost in each case."""

    name: str
    policy: Policy
    costs: FloatArray
    n_questions: FloatArray
    seconds: float = 0.0

    def differs(self, other: _Tried) -> FloatArray:
        """How much more it costs in the cases that both were tried on."""
        n = min(len(self.costs), len(other.costs))
        return self.costs[:n] - other.costs[:n]


class _Search:
    """One search for an order."""

    def __init__(self, settings: Adaptive, problem: AcquisitionProblem, began: float) -> None:
        self.settings, self.problem, self.began = settings, problem, began
        self.n_stages = min(settings.max_stages, problem.n_stages)
        self.rng = as_generator(settings.random_state)
        self._fresh = np.random.default_rng(self.rng.integers(2**63))
        self._once = ExpectedSaving().work(problem)
        few = problem.n_questions <= _FEW
        self._candidates = max(settings.n_candidates, problem.n_questions) if few else settings.n_candidates
        self.limited = left() < np.inf
        self.tried: list[_Tried] = []
        self.skipped: list[str] = []

    @cached_property
    def cases(self) -> Cases:
        """Fresh cases that candidates are compared on."""
        return model_cases(self.problem, self.settings.n_cases, self._fresh)

    def best(self, search: OrderSearch | None) -> Policy:
        """The policy of the best rule, or what a search over all orders comes to where that costs less."""
        rules = self._rules()
        if self.settings.one_step:
            rules.insert(0, (_ONE_STEP, ExpectedSaving))
        self.search = search
        for number, (name, make) in enumerate(rules, 1):
            with telling(f"candidate {number} of {len(rules)}, {name}"):
                self._try(name, make)
        if not self.tried:
            raise TimeUp
        if not self.tried[0].costs.size:
            return self.tried[0].policy.with_info(ordering=OrderingChoice(self.tried[0].name, ()))
        chosen = self._simplest()
        for _ in range(self.settings.max_rounds):
            assert isinstance(chosen.policy, RulePolicy)
            rule = ImprovedRule(chosen.policy.values, self._candidates)
            with telling("improvement"):
                better = self._try(f"{chosen.name}, improved", partial(_given, rule))
            if better is None:
                break
            difference, error = self._above(better, chosen)
            if difference > -max(error, _ALIKE * self._cost(chosen)):
                break
            chosen = better
        if search is not None:
            with suppress(TimeUp):  # what was chosen stays
                chosen = self._or_searched(chosen, search)
        self.chosen = chosen
        found = chosen.policy.with_info(ordering=self._report(chosen))
        cut = len(chosen.costs) < len(self.cases.answers)
        return found.with_info(status="limit") if self.skipped or cut else found

    def _is_alone(self, policy: RulePolicy) -> bool:
        """Whether there is nothing to compare a policy with, and nobody asks what it costs."""
        settings = self.settings
        if settings.rules is None or len(settings.rules) > 1 or settings.max_rounds or settings.certificate_paths:
            return False
        begun, weight = self.problem.opening()
        cost = float(weight @ policy.values.value(begun))
        return self.search is None or self.search.high > _NEAR * cost

    def bounded(self, found: Policy, lower: float) -> Policy:
        """Bounds by the cases that it was tried on, where there was no time for others."""
        mean, error = self.cases.mean_and_error(self.chosen.costs)
        upper = mean + quantile(1 - 2 * (1 - CONFIDENCE) / len(self.tried) ** 2) * error
        if lower > upper:  # what is certain stays
            upper = most_expected(self.problem)
        gap = (upper - lower) / upper if upper > 0 else 0.0
        return found.with_info(
            status="limit", upper=upper, lower=lower, gap=gap, confidence=CONFIDENCE, scope="all orders"
        )

    def _or_searched(self, chosen: _Tried, search: OrderSearch) -> _Tried:
        """What the search comes to, where that costs less in the same cases; its bounds say whether it may."""
        cost, started = self._cost(chosen), _clock()
        if search.high > _NEAR * cost:
            return chosen
        with telling(_SEARCHED):
            search.run(self.settings._nodes(self.problem), tolerance=_CLOSE)
            policy = planned(search)
            tried = self._compared(_Tried(_SEARCHED, policy, np.empty(0), np.empty(0)))
        tried.seconds = _clock() - started
        self.tried.append(tried)
        return tried if self._above(tried, chosen)[0] < 0 else chosen

    def _rules(self) -> list[tuple[str, Callable[[], OrderingRule]]]:
        """Names of rules, and what makes them: an order that greed finds takes its time."""
        if self.settings.rules is not None:
            return [(repr(rule), partial(_given, rule)) for rule in self.settings.rules]
        information, saving = ClassInformation(), ExpectedSaving()
        rules: list[OrderingRule] = [saving, information, EC2()]
        rules += [HiddenInformation()] if self.problem.hidden is not None else []
        fixed = {"information": information, "saving": saving}
        ahead = LookaheadSaving(2, self._candidates if self._candidates < self.problem.n_questions else None)
        return [
            *((repr(rule), partial(_given, rule)) for rule in rules),
            *((f"{_FIXED} by {n}", partial(greedy_order, self.problem, rule, self.cases)) for n, rule in fixed.items()),
            (repr(ahead), partial(_given, ahead)),
        ]

    def _try(self, name: str, make: Callable[[], OrderingRule]) -> _Tried | None:
        started, tried = _clock(), None
        with suppress(TimeUp):
            look()
            policy = self._unfitted(make()) if name == _ONE_STEP else self._valued(make())
            if policy is not None:
                tried = _Tried(name, policy, np.empty(0), np.empty(0))
                tried = tried if self._is_alone(policy) else self._compared(tried)
        if tried is None:
            self.skipped.append(name)
            return None
        tried.seconds = _clock() - started
        self.tried.append(tried)
        return tried

    def _unfitted(self, rule: OrderingRule) -> RulePolicy:
        values = RuleValues(self.problem, rule, self.n_stages)
        return RulePolicy(values, SolveInfo("converged", n_stages=self.n_stages))

    def _valued(self, rule: OrderingRule) -> RulePolicy | None:
        """Fit values to a rule; None where that is too laborious."""
        settings = self.settings
        # each case is followed, and after each question all that its answer may be is looked at
        most = settings.max_work / (rule.work(self.problem) * max(1, min(self.n_stages, _ASKED)))
        exact_expectation, fewest = settings.exact_expectation, min(_FEWEST, settings.n_paths)
        n_paths = int(min(settings.n_paths, most / (1 + exact_expectation * self.problem.n_outcomes.mean())))
        if n_paths < fewest:
            # something has to be tried; and what looks at each question once is not put off by their number
            if self.tried and rule.work(self.problem) > self._once:
                return None
            n_paths, exact_expectation = max(fewest, int(min(settings.n_paths, most))), False
        horizon = settings.first_horizon
        with within(left() / 2):
            values = fitted_values(
                self.problem,
                rule,
                self.n_stages,
                n_paths,
                self.rng,
                first_horizon=horizon,
                exact_expectation=exact_expectation,
            )
        status = "limit" if values.limited else "converged"
        return RulePolicy(values, SolveInfo(status, n_stages=self.n_stages, size=values.size))

    def _compared(self, candidate: _Tried) -> _Tried:
        """Try a candidate on all cases, or on the first of them only, where it is clearly not the best there."""
        first = 0
        n = len(self.cases.answers)
        shares = (_FIRST**2, _FIRST) if self.limited else (_FIRST,)
        for last in [n] if self.cases.exact else sorted({*(max(2, int(share * n)) for share in shares), n}):
            try:
                costs, asked = self.cases.costs(candidate.policy, first, last)
            except TimeUp:
                if not first:
                    raise
                break
            candidate.costs = np.append(candidate.costs, costs)
            candidate.n_questions = np.append(candidate.n_questions, asked)
            differences = [self._above(candidate, other) for other in self.tried]
            if any(difference > _CLEARLY * error for difference, error in differences):
                break
            first = last
        return candidate

    def _simplest(self) -> _Tried:
        """First of those that cost no more than the best, but for chance."""
        most = max(len(t.costs) for t in self.tried)
        whole = [t for t in self.tried if len(t.costs) == most]
        whole.sort(key=lambda t: not t.name.startswith(_FIXED))  # the same order for everybody is simpler than any rule
        best = min(whole, key=self._cost)
        for candidate in whole:
            difference, error = self._above(candidate, best)
            if difference <= max(error, _ALIKE * self._cost(best)):
                return candidate
        return best

    def _report(self, chosen: _Tried) -> OrderingChoice:
        candidates = tuple(
            OrderingCandidate(
                t.name,
                *self.cases.mean_and_error(t.costs),
                *self._above(t, chosen),
                self.cases.mean_and_error(t.n_questions)[0],
                len(t.costs),
                t.seconds,
            )
            for t in self.tried
        )
        return OrderingChoice(chosen.name, candidates, tuple(self.skipped))

    def _cost(self, tried: _Tried) -> float:
        return self.cases.mean_and_error(tried.costs)[0]

    def _above(self, one: _Tried, other: _Tried) -> tuple[float, float]:
        return self.cases.mean_and_error(one.differs(other))
