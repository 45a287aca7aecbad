"""Several questions at once: what to order together where a visit costs something, and when to stop."""

from __future__ import annotations

import copy
import time
from dataclasses import KW_ONLY, dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from seqclass._utils.arrays import BoolArray, FloatArray, IntArray, as_generator
from seqclass._utils.progress import report_progress
from seqclass._utils.validation import check_flag, check_part
from seqclass.pomdp.bounds.optimum import evidence, expand, find_rows
from seqclass.pomdp.observations import DataObservations
from seqclass.pomdp.one_step import initial_beliefs, remaining_questions, stopping_is_certain
from seqclass.pomdp.policy import DECIDE, Policy, with_info
from seqclass.pomdp.problem import AcquisitionProblem, BeliefState
from seqclass.pomdp.solve_info import OrderingChoice, SolveInfo
from seqclass.pomdp.solvers.base import Solver, without_certificate
from seqclass.pomdp.solvers.correlated import sequential_solver
from seqclass.pomdp.solvers.ordering.adaptive import Adaptive
from seqclass.pomdp.solvers.ordering.cases import TrialCases, TriedPolicy, model_cases
from seqclass.pomdp.solvers.ordering.observed import choose_on_rows
from seqclass.pomdp.solvers.ordering.rules import EC2, ClassInformation
from seqclass.pomdp.solvers.ordering.values import ridge
from seqclass.pomdp.solvers.panel_policy import Best, Growing, PanelPolicy, PanelValues, panel_prices
from seqclass.pomdp.solvers.training import TrainingCases
from seqclass.pomdp.ties import TIE
from seqclass.pomdp.visits import order_panels, orders_panels, without_visits
from seqclass.pomdp.walk import Level, walk_to_end

__all__ = ["FixedPanels", "Panels"]


class _PanelRun:
    """Cases along a policy: what was chosen at each level, and what each history and each case cost in the end."""

    def __init__(self, policy: PanelPolicy, cases: TrialCases, first: BoolArray | None = None) -> None:
        """Follow the cases; ``first``: a panel that each of them begins with, (n, n_questions)."""
        self.policy, n = policy, len(cases.X)
        (belief, _), node = initial_beliefs(policy.problem), cases.start
        if first is not None:
            begun, node = np.unique(np.column_stack([cases.start, first]), axis=0, return_inverse=True)
            node, belief = node.reshape(-1), belief[begun[:, 0]]
            belief = order_panels(belief, begun[:, 1:].astype(bool) & remaining_questions(belief))
        self.stops: list[FloatArray] = []
        self.spent: list[FloatArray] = []
        self.parents: list[IntArray] = []
        self.weights: list[FloatArray] = []
        #: Rows of each level that choose a panel, what is told of them, what the policy expects, and which order it.
        self.choices: list[tuple[IntArray, FloatArray, FloatArray, BoolArray]] = []
        #: What each case costs, and the questions that it is asked.
        self.costs, self.asked = np.empty(n), np.zeros(n)
        self.data = DataObservations(cases.X, cases.columns, node)
        weight = np.asarray(np.bincount(node, cases.weight, len(belief)), dtype=np.float64)
        walk_to_end(belief, weight, self._ask, self.data)
        self.totals = self._backward()

    def _ask(self, level: Level) -> IntArray:
        belief, policy = level.belief, self.policy
        rows = np.flatnonzero(policy.chooses(belief))
        some = belief[rows]
        best = policy.best(some)
        panels = np.zeros((len(belief), belief.problem.n_questions), dtype=bool)
        panels[rows] = best.worthwhile_panels(some) & ~stopping_is_certain(some)[:, None]
        orders: BoolArray = np.asarray(panels[rows].any(axis=1))
        self.choices.append((rows, policy.values.regressors(some), best.cost, orders))
        self.stops.append(belief.stopping_cost)
        self.spent.append(belief.spent)
        self.parents.append(level.parent)
        self.weights.append(level.weight)
        level.belief = order_panels(belief, panels)
        question = policy.action(level.belief)
        ends = question == DECIDE
        some_cases = ends[self.data.node]
        cost = belief.spent + belief.stopping_cost
        self.costs[self.data.rows[some_cases]] = cost[self.data.node[some_cases]]
        self.asked[self.data.rows[some_cases]] = belief.stage
        return question

    def _backward(self) -> list[FloatArray]:
        totals: list[FloatArray] = []
        for number in range(len(self.stops) - 1, -1, -1):
            total = self.spent[number] + self.stops[number]
            if totals:
                parent, weight = self.parents[number + 1], self.weights[number + 1]
                share = np.bincount(parent, weight, minlength=len(total))
                mean = np.bincount(parent, weight * totals[-1], minlength=len(total))
                total = np.where(share > 0, mean / np.where(share > 0, share, 1.0), total)
            totals.append(total)
        return totals[::-1]

    def examples(self) -> tuple[FloatArray, FloatArray, FloatArray]:
        """What is told where a panel is chosen, what going on costs there, and how many cases come to it."""
        inputs, targets, weights = [], [], []
        for number, (rows, columns, expected, orders) in enumerate(self.choices):
            cost = np.where(orders, self.totals[number][rows] - self.spent[number][rows], expected)
            kept = np.isfinite(cost)
            inputs.append(columns[kept])
            targets.append(cost[kept])
            weights.append(self.weights[number][rows][kept])
        return np.concatenate(inputs), np.concatenate(targets), np.concatenate(weights)


_EXACTLY = "all panels, exactly"


@dataclass(repr=False, eq=False)
class _PanelSolver(Solver):
    """What solvers of panels share."""

    _least = {"n_paths": 2, "n_branches": 1}

    n_paths: int = 300
    _: KW_ONLY
    n_branches: int = 16
    certificate_paths: int = 2000

    def _check(self, problem: AcquisitionProblem) -> None:
        if problem.structure.samples:
            raise ValueError(
                f"{type(self).__name__} follows every answer, and a bundle of this problem has too many: split it."
            )

    def _improve(
        self,
        problem: AcquisitionProblem,
        cases: TrialCases,
        sizes: tuple[int, int],
        rounds: int,
        rng: np.random.Generator,
        name: str = "panels",
    ) -> list[TriedPolicy]:
        """Policies, each on values fitted along those before, from one after which nothing follows a visit."""
        values, policies = PanelValues(problem), []
        examples: list[tuple[FloatArray, FloatArray, FloatArray]] = []
        for number in range(rounds + 1):
            started = time.perf_counter()
            policy = PanelPolicy(values, sizes, self.n_branches)
            with report_progress(f"round {number + 1} of {rounds + 1}"):
                along = _PanelRun(policy, cases)
                policies.append(TriedPolicy(_round_name(name, number), policy, along.costs, along.asked, 0.0))
                if number < rounds:
                    first = self._first_visits(policy, len(cases.X) // 2, rng)
                    # a case may come to the same from a first visit that the policy would not have made
                    beside = [] if first is None else [_PanelRun(policy, _first_cases(cases, len(first)), first)]
                    examples = [*examples, *(walked.examples() for walked in (along, *beside))]
                    inputs, target, weight = (np.concatenate(column) for column in zip(*examples[-4:]))
                    if target.size:
                        values = PanelValues(problem, ridge(inputs, target, weight))
            policies[-1].seconds = time.perf_counter() - started
        return policies

    @staticmethod
    def _first_visits(policy: PanelPolicy, n: int, rng: np.random.Generator) -> BoolArray | None:
        """Parts of a large panel, to learn what going on costs after them."""
        problem = policy.problem
        begun, share = initial_beliefs(problem)
        growing = Growing(policy, begun[np.array([share.argmax()])])
        order: list[int] = []
        rows = np.flatnonzero(growing.most > 0)
        # most questions of the first visit that values are learnt after
        while rows.size and len(order) < min(12, int(growing.most[0])):
            question, _ = growing.next(rows)
            growing.panel[rows, question] = True
            order.append(int(question[0]))
            growing.follow(rows, question)
        if not order or not n:
            return None
        size = rng.integers(1, len(order) + 1, n)[:, None]
        rank = np.arange(len(order))[None]
        if problem.any_order:
            rank = np.argsort(rng.random((n, len(order))), axis=1)
        panels = np.zeros((n, problem.n_questions), dtype=bool)
        panels[:, order] = rank < size
        return panels


def _first_cases(cases: TrialCases, n: int) -> TrialCases:
    return TrialCases(cases.answers[:n], cases.X[:n], cases.columns, cases.weight[:n], False, cases.start[:n])


@dataclass(repr=False, eq=False)
class Panels(_PanelSolver):
    """Plans visits: which questions to order together, when to look, and when to stop.

    If there are few partial answers and sets, the recursion over all of them gives the optimum over all panels: in any
    order, without ``max_cost``, and where nothing is known at the start. Otherwise panels are grown question by
    question, judged by values of what follows, which a regression learns along the policy; each round starts from the
    policy of the one before. Panels of constant size two and four, a single visit, and one question at a time are tried
    as well. The policy that costs least on simulated cases is taken.

    Parameters
    ----------
    n_paths : int
        Cases of the model that policies are followed on.
    n_branches : int
        Joint answers of a panel that are followed at each choice; where they are more, an even sample of them.
    max_rounds : int
        Rounds of improvement.
    max_nodes : int
        Pairs of partial answers and sets up to which the recursion is made; 0 never does.
    solver : Solver or None
        Solver of problems in which one question is asked at a time, which is tried as well. None: `Adaptive` with two
        quick rules, or in a fixed order that which is used where visits cost nothing.
    certificate_paths, random_state
        As in `Solver`.

    Notes
    -----
    The lower bound is about all panels (``info.scope``); see `certify`.

    Examples
    --------
    >>> from seqclass.costs import Visits
    >>> from seqclass.pomdp.visits import with_visits
    >>> from seqclass.pomdp import TableProblem
    >>> sensor = [[0.9, 0.2], [0.1, 0.8]]
    >>> problem = TableProblem([0.5, 0.5], np.array([sensor] * 3), prices=0.01, any_order=True)
    >>> policy = Panels().solve(with_visits(problem, Visits(0.05, np.zeros(3))))
    >>> policy.panels(policy.problem.initial_belief()).tolist(), round(policy.info.upper, 4)
    ([[True, True, True]], 0.146)
    """

    _least = {"max_rounds": 0, "max_nodes": 0}
    uses_cases = True

    _: KW_ONLY
    max_rounds: int = 1
    max_nodes: int = 2_000_000
    solver: Any = None

    @property
    def _one_at_a_time(self) -> Solver | None:
        """The solver of single questions."""
        return self.solver  # type: ignore[no-any-return]

    def _without_stopping(self, n_stages: int) -> Solver:
        """What is asked next, not what is ordered with it."""
        return self.solver._without_stopping(n_stages) if isinstance(self.solver, Solver) else self

    def _check_settings(self) -> None:
        super()._check_settings()
        if self.solver is not None:
            check_part(self.solver, "solver", "a solver such as Adaptive()", ("solve",))

    def _policy(self, problem: AcquisitionProblem) -> Policy:
        if orders_panels(problem):
            return self._best(problem)
        # where no panel saves anything, one question at a time is best
        planner = sequential_solver(problem, self.random_state) if self.solver is None else self._planner(problem)
        return planner.solve(problem)

    def _policy_on(self, problem: AcquisitionProblem, cases: TrainingCases) -> Policy:
        # which of them costs least is judged on 300 rows
        return self._best(problem, cases.even(300)) if orders_panels(problem) else self._policy(problem)

    def _best(self, problem: AcquisitionProblem, rows: TrainingCases | None = None) -> Policy:
        started, rng = time.perf_counter(), as_generator(self.random_state)
        exactly = _solve_exact(problem, self.max_nodes, self.n_branches)
        if exactly is not None:
            exactly = with_info(exactly, seconds=time.perf_counter() - started)
            if rows is None:
                return exactly
            chosen = TriedPolicy(_EXACTLY, exactly, seconds=exactly.info.seconds)
            # beside it what looks one visit ahead, of which nothing has to be learnt
            ahead = {name: PanelPolicy(PanelValues(problem), sizes, self.n_branches) for name, sizes in _sizes(problem)}
            panels = [TriedPolicy(_round_name(name, 0), policy) for name, policy in ahead.items()]
            tried = [chosen, *panels]
            choice = OrderingChoice(_EXACTLY, ())
        else:
            panels, cases = [], model_cases(without_visits(problem), self.n_paths, rng)
            for name, sizes in _sizes(problem):
                panels += self._improve(problem, cases, sizes, self.max_rounds, rng, name)
            once = PanelPolicy(PanelValues(problem), (1, problem.n_questions), self.n_branches, True)
            panels.append(self._follow("one visit", once, cases))
            tried = [*panels, self._sequential(problem, cases)]
            chosen = min(tried, key=lambda one: cases.mean_and_error(one.costs)[0])
            choice = OrderingChoice(chosen.name, tuple(one.report(cases.mean_and_error, chosen) for one in tried))
        if rows is not None:
            chosen, choice = choose_on_rows(chosen, tried, choice, rows)
        seconds = time.perf_counter() - started
        if exactly is not None and chosen.policy is exactly:
            return with_info(exactly, seconds=seconds, ordering=choice)
        policy = copy.copy(chosen.policy)
        size = sum(panel.policy.info.size for panel in panels)
        policy.info = SolveInfo("converged", n_stages=problem.n_stages, size=size, seconds=seconds, ordering=choice)
        return policy

    def _follow(self, name: str, policy: PanelPolicy, cases: TrialCases) -> TriedPolicy:
        started = time.perf_counter()
        along = _PanelRun(policy, cases)
        return TriedPolicy(name, policy, along.costs, along.asked, time.perf_counter() - started)

    def _sequential(self, problem: AcquisitionProblem, cases: TrialCases) -> TriedPolicy:
        """One question at a time, each a visit."""
        started = time.perf_counter()
        policy = without_certificate(self._planner(problem)).solve(problem)
        costs, asked = cases.costs(policy, 0, len(cases.X))
        return TriedPolicy("one question at a time", policy, costs, asked, time.perf_counter() - started)

    def _planner(self, problem: AcquisitionProblem) -> Solver:
        if self.solver is not None:
            return self.solver  # type: ignore[no-any-return]
        paths, seed = self.certificate_paths, self.random_state
        if problem.any_order:  # a yardstick and a bound: not every rule has to be tried for these
            rules = [EC2(), ClassInformation()]
            return Adaptive(rules, max_rounds=0, certificate_paths=paths, random_state=seed)
        return sequential_solver(without_visits(problem), seed)


def _sizes(problem: AcquisitionProblem) -> list[tuple[str, tuple[int, int]]]:
    """Names, and least and most questions, of the kinds of panels that are tried."""
    n = problem.n_questions
    # sizes that panels may have throughout, which takes less and may be surer than sizes by what is expected
    few = [size for size in (2, 4) if size < min(n, problem.n_stages)]
    return [("panels", (1, n)), *((f"panels of {size}", (size, size)) for size in few)]


def _round_name(name: str, number: int) -> str:
    return f"{name}, round {number + 1}"


class PlannedPanels(PanelPolicy):
    """A table of what to order after each partial answer; where it says nothing, panels are grown."""

    _knows_any_belief = False

    def __init__(self, plan: list[PanelPlan], problem: AcquisitionProblem, n_branches: int, info: SolveInfo) -> None:
        super().__init__(PanelValues(problem), (1, problem.n_questions), n_branches, info=info)
        self.plan = plan

    def best(self, belief: BeliefState, least: int = 0) -> Best:
        """The best panel of each row, whether it is worth ordering or not; see `PanelPolicy.best`."""
        n, problem = len(belief), self.problem
        number, cost, known = np.zeros(n, dtype=np.int64), np.full(n, np.inf), np.zeros(n, dtype=bool)
        if belief.stage < len(self.plan):
            keys, sets, costs = self.plan[belief.stage]
            place, known = find_rows(keys, belief)
            # which it does not where fewer questions are left than it orders, or more have to be ordered
            count = ((sets[place, None] >> np.arange(problem.n_questions)) & 1).sum(axis=1)
            known &= (count <= belief.problem.n_stages - belief.stage) & (count >= least)
            number, cost = np.where(known, sets[place], 0), np.where(known, costs[place], np.inf)
        panel = (number[:, None] >> np.arange(problem.n_questions)) & 1 == 1
        rows = np.flatnonzero(~known)
        if rows.size:
            panel[rows], cost[rows] = super().best(belief[rows], least)
        return Best(panel, cost)

    def _cost_without(self, belief: BeliefState, questions: BoolArray) -> FloatArray:
        # the table is about all questions, and panels that grow are no match for it
        return np.full(len(belief), np.nan)


#: Of partial answers after so many questions sorted keys, the best panel of each as a number of bits, and its cost.
PanelPlan = tuple[npt.NDArray[np.bytes_], IntArray, FloatArray]


def _solve_exact(problem: AcquisitionProblem, most: int, n_branches: int) -> PlannedPanels | None:
    """The best policy over all panels by recursion over partial answers and sets; None where they are too many."""
    sizes = problem.n_outcomes + 1.0
    if (
        not problem.any_order
        or problem.limits.max_cost is not None
        or problem.structure.starts is not None
        or np.log(2 * sizes).sum() > np.log(max(most, 1))
    ):
        return None
    assert problem.visits is not None
    n, alone = problem.n_questions, without_visits(problem).replace(max_questions=None)
    stages = expand(alone.initial_belief(), problem.n_stages, 0.0, whole=True).stages
    sets = np.arange(2**n)
    members = (sets[:, None] >> np.arange(n)) & 1 == 1
    count, visit = members.sum(axis=1), problem.visits.panel_costs(members)
    fits = (count > 0) & (count <= (problem.visits.max_panel or n))
    plan: list[PanelPlan] = []
    after: FloatArray = np.empty((0, len(sets)))
    for number in range(len(stages) - 1, -1, -1):
        stage, belief = stages[number], stages[number].belief
        stop = belief.stopping_cost
        # of what is not followed the class is known, and nothing changes what deciding costs
        expected = np.repeat(stop[:, None], len(sets), axis=1)
        for question in np.unique(stage.question).tolist():
            pairs = np.flatnonzero(stage.question == question)
            first = members[:, question] & (members[:, :question].sum(axis=1) == 0)
            branch = np.flatnonzero(np.isin(stages[number + 1].entry, pairs))
            follows = stages[number + 1]
            rows, rest = stage.row[pairs], sets[first] ^ (1 << question)
            place = np.searchsorted(pairs, follows.entry[branch])
            value = follows.weight[branch, None] * after[follows.place[branch]][:, rest]
            starts = np.flatnonzero(np.diff(place, prepend=-1))
            expected[np.ix_(rows, sets[first])] = np.add.reduceat(value, starts, axis=0)
        prices = np.stack([panel_prices(belief, np.broadcast_to(m, (len(belief), n))) for m in members], axis=1)
        taken = (~remaining_questions(belief)) @ (1 << np.arange(n))
        possible = fits & ((sets & taken[:, None]) == 0) & (count <= problem.n_stages - belief.stage)
        costs = np.where(possible, prices + visit + expected, np.inf)
        panel = (costs <= costs.min(axis=1, keepdims=True) * (1 + TIE)).argmax(axis=1)
        least = costs[np.arange(len(belief)), panel]
        keys = evidence(belief)
        order = np.argsort(keys)
        plan.append((keys[order], panel[order].astype(np.int64), least[order]))
        expected[:, 0] = np.where(least < stop * (1 - TIE), least, stop)
        after = expected
    cost = float(after[0, 0])
    report = SolveInfo(
        "converged",
        upper=cost,
        lower=cost,
        gap=0.0,
        n_stages=problem.n_stages,
        size=sum(len(s.belief) for s in stages),
        confidence=1.0,
        scope="all panels",
        ordering=OrderingChoice(_EXACTLY, ()),
    )
    return PlannedPanels(plan[::-1], problem, n_branches, report)


@dataclass(repr=False, eq=False)
class FixedPanels(_PanelSolver):
    """Panels of one size: a simple rule to compare with.

    Each visit orders the given number of questions, or all that are left if these are fewer. In a fixed order they are
    the next ones, otherwise those after which deciding is expected to cost least. It stops when that does not pay.

    Parameters
    ----------
    size : int or None
        Questions a visit; None for all that there are.
    once : bool
        Whether there is one visit at most.
    n_paths : int
        Cases of the model that what follows a visit is learnt on.
    n_branches, certificate_paths, random_state
        As in `Panels`.

    Examples
    --------
    >>> from seqclass.costs import Visits
    >>> from seqclass.pomdp.visits import with_visits
    >>> from seqclass.pomdp import TableProblem
    >>> sensor = [[0.9, 0.2], [0.1, 0.8]]
    >>> problem = TableProblem([0.5, 0.5], np.array([sensor] * 3), prices=0.01, any_order=True)
    >>> policy = FixedPanels(2).solve(with_visits(problem, Visits(0.05, np.zeros(3))))
    >>> policy.panels(policy.problem.initial_belief())
    array([[ True,  True, False]])
    """

    _least = {"size": 1}

    size: int | None = None
    once: bool = False
    _: KW_ONLY
    n_paths: int = 300

    def _check_settings(self) -> None:
        super()._check_settings()
        check_flag(self.once, "once")

    def _check(self, problem: AcquisitionProblem) -> None:
        super()._check(problem)
        if problem.visits is None:
            raise ValueError(
                "FixedPanels orders several questions in one visit, and here visits cost nothing: give visit_cost, or "
                "delays and delay_cost, or use FirstK."
            )

    def _policy(self, problem: AcquisitionProblem) -> Policy:
        size = problem.n_questions if self.size is None else self.size
        if self.once or size >= problem.n_questions:
            return PanelPolicy(PanelValues(problem), (size, size), self.n_branches, self.once)
        rng = as_generator(self.random_state)
        cases = model_cases(without_visits(problem), self.n_paths, rng)
        return self._improve(problem, cases, (size, size), 1, rng)[-1].policy
