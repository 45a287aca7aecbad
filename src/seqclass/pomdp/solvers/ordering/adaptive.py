"""The choice among ordering rules: what to ask next depends on what was seen."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import KW_ONLY, dataclass
from functools import cached_property, partial
from typing import Any, Literal, NamedTuple

import numpy as np

from seqclass._utils.arrays import BoolArray, FloatArray, IntArray, another_stream, as_generator
from seqclass._utils.progress import DeadlineExceeded, check_deadline, remaining_seconds, report_progress, time_limit
from seqclass._utils.stored import require, require_part, require_whole
from seqclass._utils.text import short_repr
from seqclass._utils.validation import check_part
from seqclass.pomdp.bounds.dual import CONFIDENCE
from seqclass.pomdp.bounds.optimum import FEW, are_few, ask_once, merge_histories
from seqclass.pomdp.bounds.policy_cost import PolicyCost, cost_at_most, greatest_cost, greatest_expected_cost
from seqclass.pomdp.bounds.repeats import RepeatValues, has_repeats
from seqclass.pomdp.bounds.search import OrderSearch
from seqclass.pomdp.margins import mean_excess, quantile
from seqclass.pomdp.one_step import (
    candidate_questions,
    cost_lower_bound,
    finishing_cost,
    initial_beliefs,
    one_step_costs,
    row_parts,
)
from seqclass.pomdp.policy import DECIDE, Policy, with_info
from seqclass.pomdp.problem import AcquisitionProblem, BeliefState, deciding_cost, has_requirements
from seqclass.pomdp.solve_info import WIDE_GAP, OrderingChoice, SolveInfo
from seqclass.pomdp.solvers.base import Solver, on_cases, with_bounds, without_certificate
from seqclass.pomdp.solvers.exact_free_order import ANEW, policy_of_search, solve_exact
from seqclass.pomdp.solvers.ordering.base import OrderingRule
from seqclass.pomdp.solvers.ordering.cases import TrialCases, TriedPolicy, model_cases
from seqclass.pomdp.solvers.ordering.given import greedy_order
from seqclass.pomdp.solvers.ordering.rules import (
    EC2,
    ClassInformation,
    ExpectedSaving,
    HiddenInformation,
    LookaheadSaving,
    branches,
)
from seqclass.pomdp.solvers.ordering.values import RulePolicy, RuleValues, expected_values, fit_values
from seqclass.pomdp.solvers.simple import FirstK, OrderBoundPolicy, cheapest
from seqclass.pomdp.ties import beyond

__all__ = ["Adaptive", "ImprovedRule"]


@dataclass(frozen=True)
class AdaptiveTuning:
    """How candidates are compared, and how far the search over all orders goes."""

    #: A simpler candidate is kept if it costs more by no more than this share of deciding at once, or a standard error.
    alike: float = 0.001
    #: Of fewer cases a regression is not worth trying; of so many it costs some thousandths more than of many.
    min_paths: int = 100
    #: Share of the cases and paths of a race, and of these paths what a rule has that looks further than one question.
    race_share: float = 0.1
    laborious_share: float = 0.5
    #: Share of the cases after which such a rule is looked at again.
    second_share: float = 0.3
    #: Share of the work that fitting values to such a rule may take.
    laborious_work: float = 0.125
    #: Share of the cases that may come to a horizon which values of a race look no further than.
    race_negligible: float = 0.02
    #: Questions that are asked of a case, where work is reckoned.
    n_reckoned: int = 12
    #: Up to so many questions look-ahead tries all: one that only says what to ask next ranks last by its own saving.
    max_tried: int = 16
    #: Nodes of a search that is there whatever the time is enough for.
    sure_nodes: int = 200
    #: Share of the time until the certificate.
    choosing_share: float = 0.6
    #: Partial answers that the search keeps where nobody says how many.
    search_nodes: int = 5000
    #: Products that the search may take.
    search_products: float = 1e8
    #: With fewer partial answers a search does not come far.
    min_nodes: int = 100
    #: Share of its work after which rules are tried.
    first_share: float = 0.2
    #: It goes on if its policy costs no more than so many times the best rule's.
    near: float = 1.1
    #: Standard errors that a candidate is above another one when it is left.
    clearly: float = 3.0
    #: Standard errors that what is more work has to be ahead of all others, and those that a loss is bounded by.
    ahead: float = 1.0
    surely: float = 2.0


_TUNING = AdaptiveTuning()


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

    def gains(self, belief: BeliefState, questions: IntArray) -> FloatArray:
        """Savings over deciding now, prices counted; -inf where a question was not tried. See `OrderingRule.gains`."""
        problem = belief.problem
        result: FloatArray = np.empty((len(belief), problem.n_questions))
        for part, some in row_parts(
            belief, 8.0 * 4 * branches(problem, self.n_candidates + 1) * problem.n_questions, 2**26
        ):
            result[part] = self._savings(some)
        return result[:, questions]

    def _savings(self, belief: BeliefState) -> FloatArray:
        row, question = np.nonzero(self._candidates(belief))
        savings = np.full((len(belief), belief.problem.n_questions), -np.inf)
        if not row.size:
            return savings
        level = ask_once(belief, row, question, merged=self.values.rule.by_belief)
        kept, branch = merge_histories(level.belief, level.parent)
        value = self.values.value(level.belief[kept])
        expected = np.bincount(level.entry, level.weight * value[branch], minlength=row.size)
        prices = np.broadcast_to(belief.prices, savings.shape)
        savings[row, question] = deciding_cost(belief)[row] - prices[row, question] - expected
        return savings

    def _candidates(self, belief: BeliefState) -> BoolArray:
        once = np.where(candidate_questions(belief), one_step_costs(belief), np.inf)
        tried: BoolArray = np.zeros(once.shape, dtype=bool)
        n = min(self.n_candidates, once.shape[1])
        np.put_along_axis(tried, cheapest(once, n, belief.problem), True, axis=1)
        own = self.values.rule.next(belief)
        asks = np.flatnonzero(own != DECIDE)
        tried[asks, own[asks]] = True
        return tried & np.isfinite(once)

    def _check_stored_for(self, problem: AcquisitionProblem) -> None:
        require_whole(self, "n_candidates", 1)
        require(require_part(self, "values", RuleValues).problem is problem, "a rule is improved on other values")


_BOUNDED = "one step on bounds over all orders"


@report_progress("bounds over all orders")
def bound_policy(problem: AcquisitionProblem, n_paths: int, random_state: Any) -> Policy | None:
    """Policy of one step on bounds over all orders, certified where these are near; None where there are none."""
    # of more questions most are weak, and bounds that let them be asked again are far off
    if not has_repeats(problem) or problem.n_questions > 100:
        return None
    values = RepeatValues(problem)
    policy, solved = OrderBoundPolicy(values), time.perf_counter()
    lower, rng, n_paths = values.value, as_generator(another_stream(random_state)), max(n_paths, 2000)
    few = PolicyCost(problem, policy, rng)
    few.run(int(_TUNING.race_share * n_paths))
    mean, _ = few.ends(1 - CONFIDENCE)
    if mean - lower > 2 * WIDE_GAP * mean:
        return with_info(policy, size=values.values.size)
    upper = cost_at_most(policy, n_paths, rng, CONFIDENCE, lower)
    changes = {"size": values.values.size, "ordering": OrderingChoice(_BOUNDED, ())}
    return with_bounds(policy, lower, upper, CONFIDENCE, certify_seconds=time.perf_counter() - solved, **changes)


_SEARCHED, _EXACTLY = "search over all orders", "all orders, exactly"


@dataclass(repr=False, eq=False)
class Adaptive(Solver):
    """Chooses an ordering rule, fits when to stop by regression, and improves both: any question may come next.

    Where there are few partial answers, the recursion over all of them gives the optimum. Where there are many, a
    search among those that matter (see `ExactFreeOrder`) often comes within 1% of it. Where answers depend only on two
    or three classes, bounds over all orders may be close enough to act on. Otherwise every rule, and the best fixed
    orders that a greedy search finds, are followed on cases simulated from the model, and a regression of the cost of
    going on says when to stop.

    Several of them run a race. Values are fitted to a tenth of the cases, or 100, and tried on a tenth of the same
    fresh cases. What costs more than another one there by three standard errors is dropped, and so is what looks
    further than one question and is not ahead of all others by a standard error; ``info.ordering`` says when, and what
    that may lose. All others are tried on all fresh cases. Values are fitted in full to the simplest of those that do
    not cost more than the cheapest, beyond chance or a thousandth of what deciding at once costs. One step of
    look-ahead on these values is taken as long as that lowers the cost by more. If the policy of the search, or of
    the bounds, costs even less, it is taken instead. The certificate has cases of its own.

    Parameters
    ----------
    rules : sequence of OrderingRule, optional
        Rules to try, the simplest first; by default all that suit the problem.
    n_paths : int
        Cases that values are fitted to, fewer where a rule is laborious (see ``max_work``), and in a race.
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
        Bound on the products that fitting a candidate may take, of several an eighth where a rule looks further than
        one question; one that would take more is fitted to fewer cases. Where these would be too few it is not tried,
        unless it looks at each question only once.
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
    >>> problem = MixtureProblem(np.full(4, 0.25), [0, 0, 1, 1], [first, second, pointer], prices=0.05, any_order=True)
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
    n_paths: int = 500
    exact_expectation: bool = True
    n_cases: int = 5000
    n_candidates: int = 4
    max_rounds: int = 2
    max_nodes: int | None = None
    search_nodes: int | None = None
    max_stages: int = 100
    first_horizon: int = 8
    max_work: float = 6e9
    max_seconds: float | None = None
    one_step: bool = False

    @property
    def certifies_last(self) -> bool:
        """Whether the policy is the same without a certificate: bounds that may be gone by need one."""
        return self.rules is not None

    def _policy(self, problem: AcquisitionProblem) -> Policy:
        sure: OrderSearch | None = None
        with time_limit(np.inf if self.max_seconds is None else self.max_seconds):
            try:
                with suppress(DeadlineExceeded), time_limit(remaining_seconds() / 2):
                    beyond = problem.structure.samples or problem.structure.starts is not None
                    if not beyond and (exact := solve_exact(problem, self._max_partial_answers)) is not None:
                        return with_info(exact, ordering=OrderingChoice(_EXACTLY, ()))
                check_deadline()
                # whatever the time is enough for, this is there
                if self.max_seconds is not None and _searchable(problem):
                    sure = OrderSearch(problem)
                    sure.run(_TUNING.sure_nodes, remaining_seconds() / 10)
                return self._without_enumeration(problem, sure)
            except DeadlineExceeded:
                if self.max_seconds is None:  # somebody else's limit
                    raise
                if sure is not None:  # no rule was ready when it was time for the certificate
                    sure.run(_TUNING.search_nodes)
        policy = policy_of_search(sure or OrderSearch(problem)) if _searchable(problem) else _stop_policy(problem)
        return with_info(policy, status="limit", ordering=OrderingChoice(_SEARCHED, ()))

    def _without_enumeration(self, problem: AcquisitionProblem, sure: OrderSearch | None) -> Policy:
        """The policy where partial answers are not enumerated, as far as the time goes."""
        rest = remaining_seconds() * (_TUNING.choosing_share if self.certificate_paths else 1.0)
        with time_limit(rest):
            search = self._search(problem)
            # half of what counts as wide is near enough
            if search is not None and search.run(_TUNING.first_share * self._nodes(problem), tolerance=WIDE_GAP / 2):
                return with_info(policy_of_search(search), ordering=OrderingChoice(_SEARCHED, ()))
            bounded = bound_policy(problem, self.certificate_paths, self.random_state) if self.rules is None else None
            if bounded is not None and bounded.info.gap <= WIDE_GAP:
                return bounded
            trial = _RuleSearch(self, problem)
            policy = trial.best(search, bounded)
        try:
            if np.isnan(policy.info.upper):
                policy = self.certify(policy)
            elif self.certificate_paths:
                policy = on_cases(policy, self.certificate_paths, self.random_state)
        except DeadlineExceeded:
            if np.isnan(policy.info.upper):
                policy = trial.bound_by_cases(policy, 0.0 if sure is None else sure.low)
        return policy

    def _without_stopping(self, n_stages: int) -> Solver:
        """The rule alone, of the first ``n_stages`` questions, where there is one and it is not improved on."""
        alone = self.rules is not None and len(self.rules) == 1 and not self.max_rounds
        return RuleOnlySolver(self, n_stages) if alone else self

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
        structure = problem.structure
        return not structure.samples and structure.starts is None and are_few(problem, self._max_partial_answers)

    @property
    def _max_partial_answers(self) -> int:
        """Partial answers up to which the optimum is found."""
        usual = ANEW if self.rules is None else FEW
        return usual if self.max_nodes is None else self.max_nodes

    def _search(self, problem: AcquisitionProblem) -> OrderSearch | None:
        return OrderSearch(problem) if _searchable(problem) and self._nodes(problem) >= _TUNING.min_nodes else None

    def _nodes(self, problem: AcquisitionProblem) -> float:
        """Partial answers that the search may keep."""
        most = self.search_nodes
        if most is None:
            most = min(self._max_partial_answers, _TUNING.search_nodes) if self.rules is None else 0
        return min(most, _TUNING.search_products / ExpectedSaving().work(problem))

    def _check_settings(self) -> None:
        super()._check_settings()
        if self.rules is not None and (not isinstance(self.rules, (list, tuple)) or not self.rules):
            raise TypeError(f"rules must be a list of ordering rules, such as [EC2()], got {short_repr(self.rules)}.")
        for number, rule in enumerate(self.rules or ()):
            check_part(rule, f"rules[{number}]", "an ordering rule such as EC2()", ("gains", "check"))

    def _check(self, problem: AcquisitionProblem) -> None:
        if not problem.any_order:
            raise ValueError(
                "Adaptive needs a problem in which any question may come next: make it with any_order=True (a "
                'classifier with order="adaptive"), or use a solver of a fixed order, such as Perseus().'
            )
        for rule in self.rules or ():
            rule.check(problem)


class RuleOnlySolver(Solver, stored=False):
    """Asks what a rule says, without the values that tell when to stop."""

    certificate_paths = 0

    def __init__(self, adaptive: Adaptive, n_stages: int) -> None:
        self.adaptive, self.n_stages = adaptive, n_stages

    def _policy(self, problem: AcquisitionProblem) -> Policy:
        if self.adaptive.enumerates(problem):
            return without_certificate(self.adaptive).solve(problem)
        assert self.adaptive.rules is not None
        return RulePolicy(RuleValues(problem, self.adaptive.rules[0], min(self.n_stages, problem.n_stages)))


def _searchable(problem: AcquisitionProblem) -> bool:
    """Whether orders are searched: the plan of a search follows no start and nothing that has to be asked."""
    return not problem.structure.samples and problem.structure.starts is None and not has_requirements(problem)


def _stop_policy(problem: AcquisitionProblem) -> Policy:
    begun, weight = initial_beliefs(problem)
    upper = float(weight @ finishing_cost(begun))
    lower = float(weight @ np.minimum(begun.stopping_cost, cost_lower_bound(begun)))
    return with_bounds(FirstK(0, certificate_paths=0).solve(problem), lower, upper)


def _keep_rule(rule: OrderingRule) -> OrderingRule:
    return rule


class _Candidate(NamedTuple):
    """A rule to try: what makes it, whether its values are fitted, its own or none, whether it is in one order."""

    name: str
    make: Callable[[], OrderingRule]
    values: Literal["fitted", "expected", "none"] = "fitted"
    in_one_order: bool = False


def _rule_values(tried: TriedPolicy) -> RuleValues:
    """The values of the rule that a policy follows; what was not made by a rule is asked for none."""
    assert isinstance(tried.policy, RulePolicy)
    return tried.policy.values


class _RuleSearch:
    """One search for an order."""

    def __init__(self, settings: Adaptive, problem: AcquisitionProblem) -> None:
        self.settings, self.problem = settings, problem
        self.n_stages = min(settings.max_stages, problem.n_stages)
        self.rng = as_generator(settings.random_state)
        self._fresh = np.random.default_rng(self.rng.integers(2**63))
        self._once = ExpectedSaving().work(problem)
        few = problem.n_questions <= _TUNING.max_tried
        self._candidates = max(settings.n_candidates, problem.n_questions) if few else settings.n_candidates
        self.limited, self.raced = remaining_seconds() < np.inf, False
        self.tried: list[TriedPolicy] = []
        self.skipped: list[str] = []

    @cached_property
    def _slight(self) -> float:
        """What nobody would do more work for."""
        begun, weight = initial_beliefs(self.problem)
        return _TUNING.alike * float(weight @ deciding_cost(begun))

    @cached_property
    def cases(self) -> TrialCases:
        """Fresh cases that candidates are compared on."""
        return model_cases(self.problem, self.settings.n_cases, self._fresh)

    def best(self, search: OrderSearch | None, bounded: Policy | None) -> Policy:
        """The policy of the best rule; or what a search, or bounds, over all orders come to where that costs less."""
        rules = self._rules()
        if self.settings.one_step:
            rules.insert(0, _Candidate("one step", ExpectedSaving, "none"))
        self.search = search
        self.raced = len(rules) > 1
        for number, candidate in enumerate(rules, 1):
            with report_progress(f"candidate {number} of {len(rules)}, {candidate.name}"):
                self._try(candidate)
        if not self.tried:
            raise DeadlineExceeded
        if not self.tried[0].costs.size:
            return with_info(self.tried[0].policy, ordering=OrderingChoice(self.tried[0].name, ()))
        chosen = self._fit_in_full(self._simplest())
        for _ in range(self.settings.max_rounds):
            rule = ImprovedRule(_rule_values(chosen), self._candidates)
            with report_progress("improvement"):
                better = self._try(_Candidate(f"{chosen.name}, improved", partial(_keep_rule, rule), "expected"))
            if better is None or better.dropped:
                break
            difference, error = self._above(better, chosen)
            if difference > -beyond(max(error, self._slight)):
                break
            chosen = better
        if search is not None:
            with suppress(DeadlineExceeded):  # what was chosen stays
                chosen = self._compare_with_search(chosen, search)
        if bounded is not None:
            with suppress(DeadlineExceeded):
                chosen = self._compare_with(chosen, TriedPolicy(_BOUNDED, bounded, works=True))
        self.chosen = chosen
        policy = with_info(chosen.policy, ordering=self._report(chosen))
        return with_info(policy, status="limit") if self.skipped or self._is_cut(chosen) else policy

    def _is_alone(self, tried: TriedPolicy) -> bool:
        """Whether there is nothing to compare it with, and nobody asks what it costs."""
        settings = self.settings
        if settings.rules is None or len(settings.rules) > 1 or settings.max_rounds or settings.certificate_paths:
            return False
        begun, weight = initial_beliefs(self.problem)
        cost = float(weight @ _rule_values(tried).value(begun))
        return self.search is None or self.search.high > _TUNING.near * cost

    def bound_by_cases(self, policy: Policy, lower: float) -> Policy:
        """Bounds by the cases that it was tried on, where there was no time for others."""
        upper, costs = self._cost(self.chosen), self.chosen.costs
        if not self.cases.exact:
            z = quantile(1 - 2 * (1 - CONFIDENCE) / len(self.tried) ** 2)
            upper += mean_excess(-costs, -greatest_cost(self.problem), z)
        surely = greatest_expected_cost(self.problem)  # what is certain stays
        upper = surely if lower > upper else min(upper, surely)
        return with_bounds(policy, lower, upper, CONFIDENCE, status="limit")

    def _compare_with_search(self, chosen: TriedPolicy, search: OrderSearch) -> TriedPolicy:
        """What the search comes to, where that costs less in the same cases; its bounds say whether it may."""
        cost, started = self._cost(chosen), time.perf_counter()
        if search.high > _TUNING.near * cost:
            return chosen
        with report_progress(_SEARCHED):
            search.run(self.settings._nodes(self.problem), tolerance=WIDE_GAP / 2)
            return self._compare_with(chosen, TriedPolicy(_SEARCHED, policy_of_search(search)), started)

    def _compare_with(self, chosen: TriedPolicy, other: TriedPolicy, started: float | None = None) -> TriedPolicy:
        """What costs less in the same cases."""
        started = time.perf_counter() if started is None else started
        self._compare(other)
        other.seconds = time.perf_counter() - started
        self.tried.append(other)
        return other if not other.dropped and self._above(other, chosen)[0] < 0 else chosen

    def _rules(self) -> list[_Candidate]:
        """What is tried; a rule is made when its turn comes, for an order that greed finds takes its time."""
        if self.settings.rules is not None:
            return [_Candidate(repr(rule), partial(_keep_rule, rule)) for rule in self.settings.rules]
        information, saving = ClassInformation(), ExpectedSaving()
        rules: list[OrderingRule] = [saving, information, EC2()]
        rules += [HiddenInformation()] if self.problem.structure.latent is not None else []
        fixed = {"information": information, "saving": saving}
        ahead = LookaheadSaving(2, self._candidates if self._candidates < self.problem.n_questions else None)
        kept = [_Candidate(repr(rule), partial(_keep_rule, rule)) for rule in [*rules, ahead]]
        greedy = [
            _Candidate(f"fixed order by {name}", partial(greedy_order, self.problem, rule, self.cases), "fitted", True)
            for name, rule in fixed.items()
        ]
        return [*kept[:-1], *greedy, kept[-1]]

    def _try(self, candidate: _Candidate) -> TriedPolicy | None:
        started, tried, alone = time.perf_counter(), None, False
        with suppress(DeadlineExceeded):
            check_deadline()
            rule = candidate.make()
            tried = self._fit(candidate, rule) if candidate.values == "fitted" else self._take(candidate, rule)
            alone = tried is not None and self._is_alone(tried)
            if tried is not None and not alone:
                self._compare(tried)
        if tried is None or not (alone or tried.costs.size):  # of no case is it known what it costs
            self.skipped.append(candidate.name)
            return None
        tried.seconds = time.perf_counter() - started
        self.tried.append(tried)
        return tried

    def _take(self, candidate: _Candidate, rule: OrderingRule) -> TriedPolicy | None:
        """A rule as it is, which decides by what it expects itself; None where that is too laborious."""
        n_cases = _TUNING.race_share * self.settings.n_cases
        work = rule.work(self.problem) * min(self.n_stages, _TUNING.n_reckoned) * n_cases
        if candidate.values == "none":
            values = RuleValues(self.problem, rule, self.n_stages)
        elif work > self.settings.max_work:
            return None
        else:
            values = expected_values(self.problem, rule, self.n_stages)
        info = SolveInfo("converged", n_stages=self.n_stages, size=values.size)
        return TriedPolicy(candidate.name, RulePolicy(values, info), works=rule.work(self.problem) > self._once)

    def _fit(self, candidate: _Candidate, rule: OrderingRule, whole: bool = False) -> TriedPolicy | None:
        """Fit values to a rule, in a race to few cases; None where that is too laborious."""
        settings, racing = self.settings, self.raced and not whole
        works = rule.work(self.problem) > self._once
        # each case is followed, and after each question all that its answer may be is looked at
        most = settings.max_work / (rule.work(self.problem) * max(1, min(self.n_stages, _TUNING.n_reckoned)))
        most *= _TUNING.laborious_work if works and self.raced else 1.0
        exact_expectation, fewest = settings.exact_expectation, min(_TUNING.min_paths, settings.n_paths)
        n_paths = int(min(settings.n_paths, most / (1 + exact_expectation * self.problem.n_outcomes.mean())))
        if n_paths < fewest * (_TUNING.laborious_share if works else 1.0):
            # something has to be tried; and what looks at each question once is not put off by their number
            if self.tried and works:
                return None
            n_paths, exact_expectation = max(fewest, int(min(settings.n_paths, most))), False
        if racing:
            # without foresight noise takes three times as many
            least = _TUNING.min_paths * (1 if exact_expectation else 3) * (_TUNING.laborious_share if works else 1.0)
            n_paths = min(n_paths, int(max(least, _TUNING.race_share * n_paths)))
        with time_limit(remaining_seconds() / 2):
            values = fit_values(
                self.problem,
                rule,
                self.n_stages,
                n_paths,
                self.rng,
                first_horizon=settings.first_horizon,
                exact_expectation=exact_expectation,
                **({"negligible": _TUNING.race_negligible} if racing else {}),
            )
        info = SolveInfo("limit" if values.limited else "converged", n_stages=self.n_stages, size=values.size)
        return TriedPolicy(
            candidate.name,
            RulePolicy(values, info),
            n_paths=n_paths,
            works=works,
            in_one_order=candidate.in_one_order,
        )

    def _fit_in_full(self, chosen: TriedPolicy) -> TriedPolicy:
        """What won the race with values fitted to all the cases that there is work for, if that does not cost more."""
        started = time.perf_counter()
        if not self.raced or not chosen.n_paths or self._is_cut(chosen):
            return chosen
        rule = _rule_values(chosen).rule
        with suppress(DeadlineExceeded), report_progress(f"values of {chosen.name}"):
            candidate = _Candidate(chosen.name, partial(_keep_rule, rule), in_one_order=chosen.in_one_order)
            whole = self._fit(candidate, rule, True)
            if whole is not None and whole.n_paths > chosen.n_paths:
                whole.costs, whole.n_questions = self.cases.costs(whole.policy, 0, len(self.cases.answers))
                whole.seconds = chosen.seconds + time.perf_counter() - started
                if self._cost(whole) <= self._cost(chosen):
                    self.tried[self.tried.index(chosen)] = whole
                    return whole
        chosen.seconds += time.perf_counter() - started
        return chosen

    def _is_cut(self, tried: TriedPolicy) -> bool:
        """Whether the time was up before it was tried on all cases."""
        return len(tried.costs) < len(self.cases.answers)

    def _compare(self, candidate: TriedPolicy) -> None:
        """Try a candidate on all cases, or on the first of them only, where it is not the best there."""
        n, first = len(self.cases.answers), 0
        shares = [_TUNING.race_share]
        shares += [_TUNING.race_share / 2] if self.limited else []
        shares += [_TUNING.second_share] if candidate.works else []
        for last in [n] if self.cases.exact else sorted({*(max(2, int(share * n)) for share in shares), n}):
            try:
                costs, asked = self.cases.costs(candidate.policy, first, last)
            except DeadlineExceeded:
                if not first:
                    raise
                return
            candidate.costs = np.append(candidate.costs, costs)
            candidate.n_questions = np.append(candidate.n_questions, asked)
            first = last
            if last < n and self._is_behind(candidate):
                return

    def _is_behind(self, candidate: TriedPolicy) -> bool:
        """Whether a candidate is clearly above another one, or no better where it is more work; which it notes."""
        differences = [self._above(candidate, other) for other in self.tried]
        if any(difference > _TUNING.clearly * error for difference, error in differences):
            candidate.dropped = "clearly behind"
        elif candidate.works and any(difference > -beyond(_TUNING.ahead * error) for difference, error in differences):
            candidate.dropped = "not ahead"
        if candidate.dropped:
            candidate.may_save = max(0.0, min(_TUNING.surely * error - difference for difference, error in differences))
        return bool(candidate.dropped)

    def _simplest(self) -> TriedPolicy:
        """First of those that cost no more than the best, but for chance."""
        most = max(len(t.costs) for t in self.tried)
        whole = [t for t in self.tried if len(t.costs) == most]
        whole.sort(key=lambda t: not t.in_one_order)  # the same order for everybody is simpler than any rule
        best = min(whole, key=self._cost)
        for candidate in whole:
            difference, error = self._above(candidate, best)
            if difference <= beyond(max(error, self._slight)):
                return candidate
        return best

    def _report(self, chosen: TriedPolicy) -> OrderingChoice:
        candidates = tuple(tried.report(self.cases.mean_and_error, chosen) for tried in self.tried)
        return OrderingChoice(chosen.name, candidates, tuple(self.skipped))

    def _cost(self, tried: TriedPolicy) -> float:
        return self.cases.mean_and_error(tried.costs)[0]

    def _above(self, one: TriedPolicy, other: TriedPolicy) -> tuple[float, float]:
        return self.cases.mean_and_error(one.differs(other))
