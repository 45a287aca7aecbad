"""Value iteration over stages by regression on functions of the belief."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass

import numpy as np
from scipy import linalg

from seqclass._utils.arrays import CACHE_BYTES, FloatArray, IntArray, as_generator, chunks, row_sums
from seqclass._utils.model_files import register
from seqclass._utils.progress import check_deadline
from seqclass._utils.stored import check_numbers, require, require_array, require_list, require_part
from seqclass._utils.tables import count_text
from seqclass.pomdp.account import planned_prices
from seqclass.pomdp.alpha import BackupPoints, least_of, merge_points, sample_beliefs
from seqclass.pomdp.needs import require_no_visits, require_tables
from seqclass.pomdp.observations import SampledObservations
from seqclass.pomdp.one_step import (
    candidate_questions,
    finishing_cost,
    one_step_costs,
    perfect_information_bound,
    stopping_is_certain,
    unit,
)
from seqclass.pomdp.policy import DECIDE, LookaheadPolicy, Policy
from seqclass.pomdp.problem import AcquisitionProblem, BeliefState, deciding_cost
from seqclass.pomdp.solvers.base import FIRST_HORIZON, ValueSolver, horizons
from seqclass.pomdp.solvers.ordering.adaptive import Adaptive
from seqclass.pomdp.solvers.ordering.base import OrderingRule
from seqclass.pomdp.solvers.ordering.values import draw_starts
from seqclass.pomdp.solvers.simple import cheapest
from seqclass.pomdp.values import ValueFunction
from seqclass.pomdp.walk import Level, walk_to_end

__all__ = ["FittedValueIteration", "FittedValues"]


def solve_ridge(gram: FloatArray, moments: FloatArray, penalty: float) -> FloatArray:
    """Weights from the products of the columns, to whose diagonal the penalty is added in place, and of the target."""
    gram[np.diag_indices_from(gram)] += penalty
    return np.asarray(linalg.solve(gram, moments, assume_a="pos", check_finite=False))


def solve_scaled_ridge(design: FloatArray, target: FloatArray, penalty: float) -> FloatArray:
    """Weights of columns that are brought to a mean square of one, in place, before the penalty counts."""
    scale = np.sqrt(np.mean(design**2, axis=0)) + np.finfo(float).tiny
    design /= scale
    return np.asarray(solve_ridge(design.T @ design, design.T @ target, penalty) / scale)


@register
class BeliefFunctions:
    """Functions of the belief that make up what going on costs, and their weighted sums."""

    def __init__(self, problem: AcquisitionProblem) -> None:
        self.problem, self.n_classes, self.unit = problem, problem.n_classes, unit(problem)
        # pairs of classes per class that have functions of their own: those that are hardest to tell apart. All pairs
        # would be more functions than the beliefs can tell the weights of
        self.first, self.second = _hardest_pairs(problem, 2 * self.n_classes)
        self.count = 4 * self.n_classes + 4 + 2 * len(self.first)

    def design(self, belief: FloatArray) -> FloatArray:
        """The functions at normalised beliefs, (n, count)."""
        stop, root, log = (values[:, None] for values in self._stopping_features(belief))
        roots = np.sqrt(belief)
        parts = [belief, belief * root, belief * log, belief * _logarithm(belief)]
        pairs = roots[:, self.first] * roots[:, self.second]
        parts += [stop, root, stop * root, stop * stop, pairs, pairs * log]
        return np.concatenate(parts, axis=1)

    def sums(self, belief: FloatArray, weights: FloatArray) -> FloatArray:
        """Their sum by weights at normalised beliefs, (n,)."""
        by_class, few, pairs = np.split(weights, [4 * self.n_classes, 4 * self.n_classes + 4])
        by_class = by_class.reshape(4, -1)
        stop, root, log = self._stopping_features(belief)
        plain, rooted, logged, entropy = by_class
        total = belief @ plain + (belief @ rooted) * root + (belief @ logged) * log
        total += (belief * _logarithm(belief)) @ entropy
        total += np.column_stack([stop, root, stop * root, stop * stop]) @ few
        if pairs.size:
            square = np.zeros((2, self.n_classes, self.n_classes))
            square[:, self.first, self.second] = pairs.reshape(2, -1)
            roots = np.sqrt(belief)
            total += row_sums((roots @ square[0] + (roots @ square[1]) * log[:, None]) * roots)
        return np.asarray(total)

    def _stopping_features(self, belief: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Cost of stopping over that of the worst decision, its square root and its logarithm, each (n,)."""
        stop = self.problem.stopping_cost(belief) / self.unit
        return stop, np.sqrt(stop), np.log(np.maximum(stop, 1e-9))

    def _check_stored(self) -> None:
        n_classes = require_part(self, "problem", AcquisitionProblem).n_classes
        require(self.n_classes == n_classes and 0 < float(self.unit) < np.inf, "functions are of other classes")
        first = require_array(self, "first", "i", None, low=0)
        second = require_array(self, "second", "i", len(first))
        known = ((first < second) & (second < n_classes)).all()
        require(known and self.count == 4 * n_classes + 4 + 2 * len(first), "functions are wrong")


def _hardest_pairs(problem: AcquisitionProblem, most: int) -> tuple[IntArray, IntArray]:
    """Classes of the pairs whose answers overlap most, by Bhattacharyya's coefficient where nothing is known."""
    first, second = np.triu_indices(problem.n_classes, 1)
    tables = problem.structure.tables
    if len(first) <= most or tables is None:
        return first[:most], second[:most]
    overlap = np.log(np.outer(problem.prior, problem.prior) + np.finfo(float).tiny) / 2
    for stage in range(problem.n_stages):
        roots = np.sqrt(tables.likelihood(stage, np.zeros(1, dtype=np.intp))[0])
        overlap += np.log(np.maximum(roots.T @ roots, 1e-12))
    chosen = np.sort(np.argsort(-overlap[first, second], kind="stable")[:most])
    return first[chosen], second[chosen]


def _logarithm(belief: FloatArray) -> FloatArray:
    return np.log(np.maximum(belief, 1e-12))


class FittedValues(ValueFunction):
    """Cost of going on as a sum of smooth functions of the belief, `BeliefFunctions`, with weights of each stage.

    Values scale with the belief and are never below the price and what remains when the class is known. They are no
    plan's cost; what a policy of theirs costs, its certificate says.

    ``weights`` is None at a stage where going on is not known and never done.
    """

    def __init__(self, problem: AcquisitionProblem, weights: list[FloatArray | None]) -> None:
        super().__init__(problem, len(weights))
        self.weights = weights
        self.functions = BeliefFunctions(problem)

    @property
    def size(self) -> int:
        """Number of weights."""
        return sum(len(w) for w in self.weights if w is not None)

    def refit(self, stage: int, belief: FloatArray, target: FloatArray) -> None:
        """Fit the weights of one stage."""
        stop = self.problem.stopping_cost(belief)
        # where stopping is cheaper the value is not read; what lies far beyond counts by this power of the costs' ratio
        heed = np.minimum(stop / np.maximum(target, np.finfo(float).tiny), 1.0) ** 4
        design = self.functions.design(belief) * heed[:, None]
        # ridge penalty in units of so many rows, however few there are: what is known at few beliefs is not to be
        # trusted
        self.weights[stage] = solve_scaled_ridge(design, target * heed, 1e-4 * 2000) / self.functions.unit

    def _continuation(self, stage: int, belief: FloatArray, context: IntArray) -> FloatArray:
        weights, result = self.weights[stage], np.full(len(belief), np.inf)
        if weights is None:
            return result
        for part in chunks(len(belief), 8.0 * 6 * self.problem.n_classes, CACHE_BYTES):
            rows = belief[part]
            total = row_sums(rows)
            normal = rows / np.where(total > 0, total, 1.0)[:, None]
            cost = total * self.functions.sums(normal, weights) * self.functions.unit
            result[part] = np.maximum(cost, rows @ perfect_information_bound(self.problem, stage))
        return result

    def _check_stored(self) -> None:
        functions = require_part(self, "functions", BeliefFunctions)
        require(functions.problem is self.problem, "functions are of another problem")
        for weights in require_list(self, "weights", self.n_stages):
            require(weights is None or len(check_numbers(weights, "weights", functions.count)) > 0, "weights are wrong")


def fit_values(problem: AcquisitionProblem, points: list[BackupPoints], terminal: FloatArray) -> FittedValues:
    """Fit each stage's cost of going on to one step of look-ahead on the stage after, from the last to the first."""
    tables = problem.structure.tables
    assert tables is not None  # its solver has looked
    values = FittedValues(problem, [None] * len(points))
    for stage in reversed(range(len(points))):
        belief, context, _ = points[stage]
        if not len(belief):
            continue
        belief = belief / row_sums(belief)[:, None]
        joint = (belief[:, None, :] * tables.likelihood(stage, context)).reshape(-1, problem.n_classes)
        if stage + 1 == len(points):
            ahead = (joint @ terminal.T).min(axis=1)
        else:
            ahead = values.value(stage + 1, joint, tables.successors(stage, context).reshape(-1))
        target = planned_prices(problem)[stage] + row_sums(ahead.reshape(len(belief), -1))
        values.refit(stage, belief, target)
    return values


@dataclass(eq=False)
class StageSaving(OrderingRule):
    """The cost of deciding now less that of asking and then the least of some functions of the class, by stage.

    The functions of a stage are ``vectors[stage]``, (n_vectors, n_classes); after the last, and beyond, one decides.
    """

    per_price = False
    saves = True
    by_belief = True

    vectors: list[FloatArray]

    def __repr__(self) -> str:
        return f"fitted values of {count_text(len(self.vectors), 'stages')}"

    def work(self, problem: AcquisitionProblem) -> float:
        """Products that scoring all questions of one instance takes, roughly; see `OrderingRule.work`."""
        widest = max(map(len, self.vectors))
        return super().work(problem) * (1 + widest) / (1 + problem.n_decisions)

    def gains(self, belief: BeliefState, questions: IntArray) -> FloatArray:
        """Savings, prices counted; see `OrderingRule.gains`."""
        problem, vectors = belief.problem, self.vectors[min(belief.stage, len(self.vectors) - 1)]
        prices = np.broadcast_to(belief.prices, (len(belief), problem.n_questions))[:, questions]
        return np.asarray(
            deciding_cost(belief)[:, None] - prices - problem.structure.costs_after(questions, belief, vectors)
        )

    def value(self, belief: BeliefState) -> FloatArray:
        """Cost of deciding or of the best question, whichever is lower, (n,)."""
        saved = self.scores(belief).max(axis=1, initial=-np.inf)
        return np.asarray(np.minimum(finishing_cost(belief), deciding_cost(belief) - saved))

    def _check_stored_for(self, problem: AcquisitionProblem) -> None:
        require(type(self.vectors) is list and len(self.vectors) > 0, "a rule has no vectors")
        for vectors in self.vectors:
            require(check_numbers(vectors, "vectors", None, problem.n_classes).size > 0, "a stage has no vectors")


def stage_saving(problem: AcquisitionProblem, n_beliefs: int, n_stages: int, rng: np.random.Generator) -> StageSaving:
    """Fit the vectors of each stage to one step of look-ahead on the stage after, from the last to the first.

    They are of the class, not of hidden states: of these they would find luck where there is none.
    """
    states: list[BeliefState] = []
    n_vectors = max(1, min(64, n_beliefs // 64))

    def ask(level: Level) -> IntArray:
        question = np.full(len(level.belief), DECIDE)
        rows = np.flatnonzero(~stopping_is_certain(level.belief))
        if len(rows) < 2 * n_vectors or level.stage == n_stages:
            return question
        belief = level.belief[rows]
        states.append(belief)
        once = np.where(candidate_questions(belief), one_step_costs(belief), np.inf)
        near = cheapest(once, min(10, once.shape[1]), problem)
        each = np.arange(len(rows))
        chosen = near[each, rng.integers(0, near.shape[1], len(rows))]
        question[rows] = np.where(np.isfinite(once[each, chosen]), chosen, once.argmin(axis=1))
        return question

    begun, weight = draw_starts(problem, n_beliefs, rng), np.ones(n_beliefs)
    walk_to_end(begun, weight, ask, SampledObservations(rng))
    rule = StageSaving([problem.decision_costs.T] * max(1, len(states)))
    for stage in reversed(range(1, len(states))):
        check_deadline()
        rule.vectors[stage - 1] = least_of(states[stage].probabilities, rule.value(states[stage]), n_vectors, rng)
    return rule


@dataclass(repr=False, eq=False)
class FittedValueIteration(ValueSolver):
    """Value iteration over stages by least squares on smooth functions of the belief, for any number of classes.

    Beliefs are sampled from the model's own trajectories, as `Perseus` samples them. At each stage, from the last to
    the first, the cost of going on is computed at them by one step of look-ahead on the stage after, and extended to
    other beliefs by a regression on `BeliefFunctions`. Further rounds sample half of the beliefs from the newest
    policy, where they matter. A few hundred weights per stage do the work of thousands of alpha vectors. The values are
    not the cost of any plan; the certificate is that of the policy, as valid as any, and its gap is paired (see
    `certify`). `Perseus` is exact where there are few beliefs, and the better choice with twenty or more classes.

    If any question may come next, look-ahead goes through all of them, and its result is fitted at each stage by the
    minimum of at most 64 linear functions of the class probabilities, so that a step is a product of matrices. When to
    stop is fitted along the questions that this asks, as in `Adaptive`. Whether it beats rules depends on the problem:
    on a class mixture of 200 genes it costs a tenth less than the best rule, on random mixtures up to a twentieth more,
    on networks from a tenth less to a tenth more. It relies on the model more than a rule does, so use it with models
    that you trust.

    Parameters
    ----------
    n_beliefs : int
        Most beliefs a stage, half of them from all trajectories, half from the newest policy's; where any question may
        come next all are on the way of cases that are asked what is nearly best to be the last.
    n_rounds : int
        Rounds of sampling, the first of which knows no policy; in a fixed order, as is the next one.
    margin : float
        By what share going on is taken to cost more after the next question, in a fixed order. A learned model promises
        too much of further questions, so that by real rows stopping a little earlier may cost less; under the model
        itself it costs a little more, which the certificate counts.
    horizon_tolerance : float
        The horizon is doubled until its two bounds differ by less than this share.
    first_horizon : int
        The horizon that is tried first; the only one of what is asked where any question may come next.
    max_stages : int or None
        Longest horizon.
    certificate_paths, random_state
        As in `Solver`.

    References
    ----------
    .. [1] F. A. Longstaff and E. S. Schwartz, "Valuing American options by simulation: a simple least-squares
       approach", Review of Financial Studies 14, 2001.
    .. [2] R. Munos and C. Szepesvari, "Finite-time bounds for fitted value iteration", JMLR 9, 2008.

    Examples
    --------
    >>> import numpy as np
    >>> from seqclass.pomdp import FittedValueIteration, TableProblem
    >>> problem = TableProblem([0.5, 0.5], np.array([[[0.9, 0.2], [0.1, 0.8]]]), prices=0.1)
    >>> policy = FittedValueIteration().solve(problem)
    >>> policy.info.status, round(policy.info.upper, 3), policy.info.gap
    ('converged', 0.25, 0.0)
    """

    _paired = True
    _least = {"n_beliefs": 1, "n_rounds": 1, "margin": 0.0}

    n_beliefs: int = 2000
    _: KW_ONLY
    n_rounds: int = 2
    margin: float = 0.0
    horizon_tolerance: float = 1e-3
    first_horizon: int = FIRST_HORIZON
    max_stages: int | None = None

    def _check(self, problem: AcquisitionProblem) -> None:
        if problem.any_order:
            require_no_visits(problem, "FittedValueIteration", "Panels")
            if self.margin:
                raise ValueError("margin is for a fixed order, and here any question may come next: leave it at 0.")
        else:
            require_tables(problem, "FittedValueIteration", "ProjectedValueIteration or Lookahead")

    def _policy(self, problem: AcquisitionProblem) -> Policy:
        if not problem.any_order:
            return super()._policy(problem)
        rng = as_generator(self.random_state)
        n_stages, _ = next(horizons(problem, self.max_stages, self.first_horizon))
        rule = stage_saving(problem, self.n_beliefs, n_stages, rng)
        return Adaptive(
            [rule],
            max_nodes=0 if problem.n_stages else None,  # where nothing can be asked that is the plan
            max_rounds=0,
            max_stages=max(1, problem.n_stages) if self.max_stages is None else self.max_stages,
            certificate_paths=self.certificate_paths,
            random_state=self.random_state,
        ).solve(problem)

    @property
    def _half(self) -> int:
        return -(-self.n_beliefs // 2)

    def _prepare(self, problem: AcquisitionProblem, n_stages: int) -> list[BackupPoints]:
        return sample_beliefs(problem, n_stages, self._half, as_generator(self.random_state))

    def _solve(
        self, problem: AcquisitionProblem, n_stages: int, terminal: FloatArray, prepared: list[BackupPoints]
    ) -> FittedValues:
        return fit_values(problem, prepared, terminal)

    def _finish(
        self, problem: AcquisitionProblem, values: ValueFunction, prepared: list[BackupPoints]
    ) -> ValueFunction:
        n_stages, rng = values.n_stages, as_generator(self.random_state)
        for _ in range(self.n_rounds - 1):
            visited = sample_beliefs(problem, n_stages, self._half, rng, LookaheadPolicy(values))
            values = fit_values(problem, merge_points(prepared, visited), problem.decision_costs.T)
        if self.margin:
            assert isinstance(values, FittedValues)
            values.weights = [None if w is None else (1 + self.margin) * w for w in values.weights]
        return values
