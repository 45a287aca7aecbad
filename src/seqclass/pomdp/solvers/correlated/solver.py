"""Problems without tables: a simpler process is solved, and its values steer look-ahead on the problem itself."""

from __future__ import annotations

import time
from itertools import combinations_with_replacement
from typing import Any

import numpy as np
from sklearn.base import clone

from seqclass._utils.arrays import BoolArray, FloatArray, IntArray, as_generator, chunks, row_sums
from seqclass._utils.validation import check_integer
from seqclass.pomdp.needs import needed_order
from seqclass.pomdp.policy import DECIDE, LookaheadPolicy, Policy, SolveInfo
from seqclass.pomdp.problem import AcquisitionProblem, InformationState
from seqclass.pomdp.solvers.base import Solver, certified
from seqclass.pomdp.solvers.correlated.corrected import CorrectedValues, CostsAhead, Lots, visited_states
from seqclass.pomdp.solvers.fitted import FittedValueIteration, scaled_ridge
from seqclass.pomdp.solvers.grid import GridValueIteration
from seqclass.pomdp.solvers.perseus import Perseus
from seqclass.pomdp.values import ProjectedValues, ValueFunction

#: Bytes of the joint probabilities of a chunk of rows: small enough to stay in cache.
_JOINT_BYTES = 2**21


class BoundedLookaheadPolicy(LookaheadPolicy):
    """Acts as `LookaheadPolicy` on corrected values, and spares most of their evaluations.

    Before it is evaluated, the value of an outcome lies between the price of one more feature with the class then
    known, and the cost of stopping there. The outcomes whose bounds are furthest apart are evaluated first, until the
    bounds on the cost of going on lie on one side of the stopping cost [1]_.

    Parameters
    ----------
    values : CorrectedValues
        Cost-to-go of each stage; also the horizon.
    info : SolveInfo, optional
        What the solver reports.

    References
    ----------
    .. [1] S. Ross, J. Pineau, S. Paquet and B. Chaib-draa, "Online planning algorithms for POMDPs", JAIR 32, 2008,
       section 3.2 (branch and bound).

    Examples
    --------
    >>> import numpy as np
    >>> from seqclass.pomdp import CorrectedValues, ProjectedValues, StoppingValue, TableProblem
    >>> problem = TableProblem([0.5, 0.5], np.array([[[0.9, 0.2], [0.1, 0.8]]]), prices=0.1)
    >>> steering = ProjectedValues(problem, problem, StoppingValue(problem))
    >>> BoundedLookaheadPolicy(CorrectedValues(problem, steering)).act(problem.begin())
    array([0])
    """

    values: CorrectedValues

    def __init__(self, values: CorrectedValues, info: SolveInfo | None = None) -> None:
        super().__init__(values, info)

    def _act(self, info: InformationState) -> IntArray:
        if not self.values.is_corrected(info.stage + 1):
            return super()._act(info)
        open_ = ~info.settled
        rows = np.flatnonzero(open_)
        # rather a few rows for nothing than a copy of all others; the update then finds their likelihoods
        some = info if 4 * rows.size >= 3 * len(info) else info[rows]
        go_on = _Outcomes(self.values, some).pay(some.to_beat)
        if some is not info:
            open_[rows] = go_on
        else:
            open_ &= go_on
        return np.where(open_, info.stage, DECIDE)


class _Outcomes:
    """The outcomes that a batch of instances may see next."""

    def __init__(self, values: CorrectedValues, info: InformationState) -> None:
        self.values = values
        self.info = info
        self.problem = values.problem
        answers = self.problem.answers(info.stage, info.state)
        assert answers is not None  # corrections are made of them
        self.answers = answers
        tables = values.tables
        self.after = tables.successors(info.stage, tables.contexts(info.stage, info.state))

    def pay(self, limit: FloatArray) -> BoolArray:
        """Whether going on costs less than ``limit``, (n,)."""
        result = np.empty(len(self.info), dtype=bool)
        row_bytes = 8.0 * float(self.problem.n_outcomes[self.info.stage]) * self.problem.n_classes
        for part in chunks(len(result), row_bytes, _JOINT_BYTES):
            result[part] = self._pay(part, limit[part])
        return result

    def _pay(self, part: slice, limit: FloatArray) -> BoolArray:
        likelihood = self.info.likelihood[part]
        n, n_outcomes, n_classes = likelihood.shape
        # a row an instance and outcome; numpy is slow to broadcast along an axis as short as the classes'
        joint = likelihood.reshape(-1, n_classes) * np.repeat(self.info.belief[part], n_outcomes, axis=0)
        stop = self.problem.stopping_cost(joint)
        # the most that each outcome's value can be below the cost of stopping
        saving = stop - self.values.least(self.info.stage + 1, joint)
        np.maximum(saving, 0.0, out=saving)
        upper = self.info.price[part] + row_sums(stop.reshape(n, n_outcomes))
        lower = upper - row_sums(saving.reshape(n, n_outcomes))
        open_ = np.flatnonzero((upper >= limit) & (lower < limit))
        for _ in range(n_outcomes):
            if not open_.size:
                break
            outcome, most = _largest(saving.reshape(n, n_outcomes)[open_])
            branch = open_ * n_outcomes + outcome
            saved = stop[branch] - self._going_on(joint[branch], part.start + open_, outcome)
            np.clip(saved, 0.0, most, out=saved)
            saving[branch] = 0
            upper[open_] -= saved
            lower[open_] += most - saved
            open_ = open_[(upper[open_] >= limit[open_]) & (lower[open_] < limit[open_])]
        return upper < limit

    def _going_on(self, joint: FloatArray, rows: IntArray, outcome: IntArray) -> FloatArray:
        """Cost of going on after one outcome of each of some rows."""
        stage = self.info.stage
        answers = self.values.answers_after(stage, self.answers.take(rows, axis=0), outcome)
        return self.values.going_on(stage + 1, joint, self.after[rows, outcome], answers)


def _largest(values: FloatArray) -> tuple[IntArray, FloatArray]:
    """Position and value of the largest entry of each row, the first one of equals; quick where rows are short."""
    best = values[:, 0].copy()
    where = np.zeros(len(values), dtype=np.intp)
    for column in range(1, values.shape[1]):
        larger = values[:, column] > best
        np.copyto(best, values[:, column], where=larger)
        where[larger] = column
    return where, best


#: Ridge penalty, as a share of the mean square of a column.
_RIDGE = 1e-8
#: Highest power of the square roots of costs.
_DEGREE = 3
#: The powers of three costs: products of one to three of them.
_PRODUCTS = [p for d in range(1, _DEGREE + 1) for p in combinations_with_replacement(range(3), d)]


class MartingaleValues(ValueFunction):
    """Corrected values plus what smooth functions of the belief and of the costs there explain of their error.

    The error of a regression that is additive in the answers depends on the belief in a curved way, most of all where
    prices are low. Per unit of belief, the refinement is linear in the belief, in the belief times the projection's
    cost, and in the products of up to three square roots of the cost of stopping and of what the projection and the
    correction expect. Its target is the expectation over the next outcome, which has no noise, so that few states tell
    much.

    Parameters
    ----------
    values : CorrectedValues
        What is refined; left as it is.

    References
    ----------
    .. [1] V. V. Desai, V. F. Farias and C. C. Moallemi, "Pathwise optimization for optimal stopping problems",
       Management Science 58, 2012 (richer functions in the martingale tighten the bound).
    .. [2] F. A. Longstaff and E. S. Schwartz, "Valuing American options by simulation: a simple least-squares
       approach", Review of Financial Studies 14, 2001.

    Examples
    --------
    >>> import numpy as np
    >>> from seqclass.pomdp import CorrectedValues, ProjectedValues, StoppingValue, TableProblem
    >>> problem = TableProblem([0.5, 0.5], np.array([[[0.9, 0.2], [0.1, 0.8]]]), prices=0.1)
    >>> steering = ProjectedValues(problem, problem, StoppingValue(problem))
    >>> MartingaleValues(CorrectedValues(problem, steering)).successor_values(problem.begin()).round(3)
    array([[0.1 , 0.05]])
    """

    def __init__(self, values: CorrectedValues) -> None:
        super().__init__(values.problem, values.n_stages)
        self.values = values
        #: Of each stage the weights (n_functions,), or None.
        self.weights: list[FloatArray | None] = [None] * self.n_stages

    def fit_stage(self, stage: int, lots: Lots, ahead: list[CostsAhead]) -> None:
        """Fit the refinement of one stage, those after it being fitted.

        Parameters
        ----------
        stage : int
            The stage.
        lots : list of InformationState
            States of that stage.
        ahead : list of CostsAhead
            What `CorrectedValues.costs_ahead` gives for each.
        """
        problem, designs, targets = self.problem, [], []
        for info, after in zip(lots, ahead):
            context = self.values.tables.contexts(stage, info.state)
            answers = problem.answers(stage, info.state)
            assert answers is not None  # corrections are made of them
            costs = self.values.costs(stage, info.belief, context, answers)
            designs.append(self._functions(CostsAhead(info.belief, *costs)))
            expected = row_sums(self._refined(stage + 1, after).reshape(len(info), -1))
            targets.append(problem.planned_prices[stage] + expected - costs[2])
        design, target = np.concatenate(designs), np.concatenate(targets)
        self.weights[stage] = scaled_ridge(design, target, _RIDGE * len(design))

    def successor_values(self, info: InformationState) -> FloatArray:
        """Value of each unnormalised successor of the next feature, (n, n_outcomes)."""
        following = info.stage + 1
        if following >= self.n_stages or self.weights[following] is None:
            return self.values.successor_values(info)
        return self._refined(following, self.values.costs_ahead(info)).reshape(len(info), -1)

    def _continuation(self, stage: int, belief: FloatArray, context: IntArray) -> FloatArray:
        return self.values._continuation(stage, belief, context)

    def _refined(self, stage: int, ahead: CostsAhead) -> FloatArray:
        weights = self.weights[stage] if stage < self.n_stages else None
        if weights is None:
            return ahead.value
        result = np.empty(len(ahead.belief))
        for rows in chunks(len(result), 8.0 * 3 * self._n_functions):
            part = CostsAhead(*(values[rows] for values in ahead))
            go_on = part.go_on + row_sums(part.belief) * (self._functions(part) @ weights)
            result[rows] = np.minimum(part.stop, np.maximum(go_on, self.values.least(stage, part.belief)))
        return result

    @property
    def _n_functions(self) -> int:
        return 2 * self.problem.n_classes + len(_PRODUCTS)

    def _functions(self, costs: CostsAhead) -> FloatArray:
        """The functions per unit of belief, (n, n_functions)."""
        belief, stop, plain, go_on = costs
        total = row_sums(belief)
        unit = 1 / np.where(total > 0, total, 1.0)
        n_classes = self.problem.n_classes
        rows = np.empty((self._n_functions, len(belief)))
        known = np.minimum(plain, stop) * unit
        np.multiply(belief.T, unit, out=rows[:n_classes])
        np.multiply(rows[:n_classes], known, out=rows[n_classes : 2 * n_classes])
        roots = np.sqrt(np.maximum([stop * unit, known, np.minimum(go_on, stop) * unit], 0.0))
        made: dict[tuple[int, ...], FloatArray] = {}
        for row, product in zip(rows[2 * n_classes :], _PRODUCTS):
            first = roots[product[-1]]
            np.copyto(row, first if len(product) == 1 else made[product[:-1]] * first)
            made[product] = row
        return np.asarray(rows.T)


__all__ = ["BoundedLookaheadPolicy", "MartingaleValues", "ProjectedValueIteration", "table_solver"]

#: Contexts a stage and levels of the grid for up to two classes, where the user names none: values that only steer need
#: no fine one. With more classes functions of the belief, in one context, say as much with a thousandth of the numbers.
_MAX_CONTEXTS, _LEVELS = 32, 200
#: Beliefs a stage of the first fit with more classes, which only has to find where to look.
_FIRST_BELIEFS = 1000
#: Beliefs a stage at which values are corrected, up to three classes and beyond; beyond, up to so many times as many
#: where a question costs less than this share of deciding at once: late and rare errors count there.
_N_BELIEFS, _MANY_BELIEFS, _MOST_TIMES, _CHEAP = 1000, 2000, 2.0, 0.01


class ProjectedValueIteration(Solver):
    """Solver of problems without tables, such as those of correlated features that depend on too many others.

    The problem's `projection`, in which a stage looks at the few answers that say most about what is to come, is solved
    by any solver that works out values. These say what each answer would be worth in one step of look-ahead on the
    problem itself, with its own likelihoods and beliefs, after a regression has corrected them for the answers that the
    projection does not remember. The values are no plan's cost, but the certificate is that of the policy on the
    problem itself, and as valid as any; for it alone the values are refined once more, and its gap is paired
    (see `certify`). A problem that has tables is left to the solver within.

    Parameters
    ----------
    solver : Solver, optional
        Solves the projection; by default a grid for two classes and `FittedValueIteration` beyond, whose functions are
        then fitted to the problem itself.
    max_contexts : int or None
        Most contexts of a stage of the projection; 1 leaves nothing but the belief. None: 32 for two classes; 1 beyond.
    n_beliefs : int or None
        Most beliefs a stage, reached by the problem itself, at which the values are corrected; 0 leaves them as they
        are. None: 1000; with more than three classes 2000, and up to 4000 as questions cost less than a hundredth of
        deciding at once.
    certificate_paths : int
        Sampled paths of the certificate; 0 leaves it out.
    random_state : int, generator or None
        Seed of the beliefs and the certificate, and of the solver if none is given.

    References
    ----------
    .. [1] M. B. Haugh and L. Kogan, "Pricing American options: a duality approach", Operations Research 52, 2004 (why
       any values give a valid bound).
    .. [2] F. A. Longstaff and E. S. Schwartz, "Valuing American options by simulation: a simple least-squares
       approach", Review of Financial Studies 14, 2001.

    Examples
    --------
    >>> import numpy as np
    >>> from seqclass.pomdp import ProjectedValueIteration, TableProblem
    >>> problem = TableProblem([0.5, 0.5], np.array([[[0.9, 0.2], [0.1, 0.8]]]), prices=0.1)
    >>> round(ProjectedValueIteration().solve(problem).info.upper, 3)
    0.25
    """

    def __init__(
        self,
        solver: Solver | None = None,
        *,
        max_contexts: int | None = None,
        n_beliefs: int | None = None,
        certificate_paths: int = 10_000,
        random_state: Any = 0,
    ) -> None:
        self.solver = solver
        self.max_contexts = max_contexts
        self.n_beliefs = n_beliefs
        self.certificate_paths = certificate_paths
        self.random_state = random_state

    def solve(self, problem: AcquisitionProblem) -> Policy:
        """Solve a problem; see `Solver.solve`."""
        started = time.perf_counter()
        few = _MAX_CONTEXTS if problem.n_classes <= 2 else 1
        most = few if self.max_contexts is None else self.max_contexts
        needed_order(problem, "ProjectedValueIteration")
        check_integer(most, "max_contexts", 1)
        n_beliefs = _n_beliefs(problem) if self.n_beliefs is None else check_integer(self.n_beliefs, "n_beliefs", 0)
        check_integer(self.certificate_paths, "certificate_paths", 0)
        projection = problem if problem.tables is not None else problem.projection(most)
        if projection is None:
            raise ValueError(
                "ProjectedValueIteration needs a problem with tables or a projection, and this "
                f"{type(problem).__name__} has neither; use Lookahead."
            )
        solver = self._inner(projection, projection is not problem)
        policy = self._planned(solver, projection)
        if projection is problem:
            return self._certified(policy, policy.values, started)
        while True:
            steering = ProjectedValues(problem, projection, policy.values)
            states = visited_states(steering, n_beliefs, as_generator(self.random_state))
            if not _reaches_end(states, steering.n_stages, problem) or "first_horizon" not in solver.get_params():
                break
            # the projection is the surer of itself: where it has long decided the problem may not have
            longer = self._planned(solver.set_params(first_horizon=2 * steering.n_stages), projection)
            if longer.n_stages == policy.n_stages:
                break
            policy = longer
        if not states:
            return self._certified(LookaheadPolicy(steering, policy.info), steering, started)
        values = CorrectedValues(problem, steering)
        refined = MartingaleValues(values)
        values.fit(states, refined.fit_stage if self.certificate_paths else None)
        return self._certified(BoundedLookaheadPolicy(values, policy.info), refined, started)

    def _planned(self, solver: Solver, projection: AcquisitionProblem) -> LookaheadPolicy:
        policy = solver.solve(projection)
        if not isinstance(policy, LookaheadPolicy):
            raise ValueError(
                "ProjectedValueIteration needs a solver that works out values, such as Perseus, and "
                f"{self.solver!r} does not."
            )
        return policy

    def _certified(self, policy: LookaheadPolicy, values: ValueFunction, started: float) -> Policy:
        """The policy with its certificate, whose lower bound is made of the values."""
        solved = time.perf_counter()
        result: Policy = policy.with_info(seconds=solved - started, size=policy.values.size)
        if not self.certificate_paths:
            return result
        result = certified(result, self.certificate_paths, self.random_state, values, paired=True)
        return result.with_info(certify_seconds=time.perf_counter() - solved)

    def _inner(self, projection: AcquisitionProblem, steering: bool) -> Solver:
        if self.solver is not None:
            solver = clone(self.solver)
        elif steering and projection.n_classes <= 2:
            solver = GridValueIteration(_LEVELS, random_state=self.random_state)
        elif steering:
            solver = FittedValueIteration(_FIRST_BELIEFS, n_rounds=1, random_state=self.random_state)
        else:
            solver = table_solver(projection, self.random_state)
        # its certificate would be about the projection
        return solver.set_params(certificate_paths=0)  # type: ignore[no-any-return]


def _reaches_end(states: list[list[InformationState]], n_stages: int, problem: AcquisitionProblem) -> bool:
    """Whether cases still go on at the last stage of the horizon, and there are stages beyond."""
    return bool(n_stages < problem.n_stages and states and len(states[0]) == n_stages and len(states[0][-1]))


def _n_beliefs(problem: AcquisitionProblem) -> int:
    if problem.n_classes <= 3:
        return _N_BELIEFS
    dear = _CHEAP * float(problem.stopping_cost(problem.prior[None])[0])
    cheaper = dear / max(float(problem.prices.mean()), np.finfo(float).tiny)
    return int(_MANY_BELIEFS * np.clip(np.sqrt(cheaper), 1.0, _MOST_TIMES))


def table_solver(problem: AcquisitionProblem, random_state: Any = 0) -> Solver:
    """Solver for a problem with tables: a grid for at most three classes, Perseus beyond.

    Examples
    --------
    >>> import numpy as np
    >>> from seqclass.pomdp import TableProblem
    >>> table_solver(TableProblem([0.5, 0.5], np.array([[[0.9, 0.2], [0.1, 0.8]]]), prices=0.1))
    GridValueIteration()
    """
    if problem.n_classes <= 3:
        return GridValueIteration(random_state=random_state)
    return Perseus(random_state=random_state)
