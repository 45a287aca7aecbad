"""Linear thresholds on the belief, one a stage, and how they are found by simultaneous perturbations."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import KW_ONLY, dataclass
from typing import Any, NamedTuple, cast

import numpy as np
import numpy.typing as npt

from seqclass._utils.arrays import CHUNK_BYTES, FloatArray, IntArray, as_generator, row_sums
from seqclass._utils.stored import require_numbers
from seqclass._utils.validation import check_finite, check_real
from seqclass.pomdp.account import planned_prices
from seqclass.pomdp.needs import require_fixed_order
from seqclass.pomdp.observations import SampledObservations
from seqclass.pomdp.one_step import perfect_cost, stopping_is_certain, unit
from seqclass.pomdp.policy import DECIDE, LookaheadPolicy, Policy
from seqclass.pomdp.problem import AcquisitionProblem, BeliefState
from seqclass.pomdp.solve_info import SolveInfo
from seqclass.pomdp.solvers.base import Solver, horizons
from seqclass.pomdp.solvers.perseus import Perseus
from seqclass.pomdp.ties import TIE
from seqclass.pomdp.values import StoppingValue, ValueFunction
from seqclass.pomdp.walk import Level, initial_histories, walk_to_end

__all__ = ["LinearThresholdPolicy", "LinearThresholdSPSA"]


def close_corners(problem: AcquisitionProblem, thresholds: FloatArray) -> FloatArray:
    """Thresholds that stop at the simplex's corners, where the class is known."""
    closed = thresholds.copy()
    corner = np.arange(problem.n_classes)
    decision = problem.decide(np.eye(problem.n_classes))
    closed[:, decision, corner] = np.minimum(closed[:, decision, corner], 0.0)
    return np.asarray(closed)


def normalise(thresholds: FloatArray) -> FloatArray:
    """Thresholds scaled to a largest entry of one, which changes no decision; zeros stay."""
    largest = np.abs(thresholds).max(axis=-1, keepdims=True, initial=0.0)
    return np.asarray(np.divide(thresholds, largest, out=np.zeros_like(thresholds), where=largest > 0))


class LinearThresholdPolicy(Policy):
    """Stops where the belief is on the stopping side of a linear threshold.

    At stage ``k``, where decision ``j`` is the cheapest, it stops if ``thresholds[k, j] @ belief <= 0``, and takes
    decision ``j``. It stops too where one more price would cost more than knowing the class can save, for there
    stopping is optimal for certain; so the simplex's corners always stop.

    Parameters
    ----------
    problem : AcquisitionProblem
        The problem it acts on.
    thresholds : array-like of shape (n_stages, n_decisions, n_classes)
        The thresholds, of any scale; after their last stage it stops.
    info : SolveInfo, optional
        What the solver reports.

    Attributes
    ----------
    thresholds : ndarray of shape (n_stages, n_decisions, n_classes)
        With the corners closed, see `close_corners`, and scaled to a largest entry of one.

    Raises
    ------
    ValueError
        If the shape does not fit the problem, or an entry is not finite.

    References
    ----------
    .. [1] Y. W. Liyanage, D.-S. Zois and C. Chelmis, "On-the-fly joint feature selection and classification",
       theorem 3 and eq. (15).

    Examples
    --------
    >>> import numpy as np
    >>> from seqclass.pomdp import TableProblem, evaluate
    >>> from seqclass.pomdp.solvers.thresholds import LinearThresholdPolicy
    >>> problem = TableProblem([0.5, 0.5], np.array([[[0.9, 0.2], [0.1, 0.8]]] * 2), prices=0.02)
    >>> policy = LinearThresholdPolicy(problem, [[[-1, 7], [7, -1]]] * 2)  # goes on where both classes exceed 1/8
    >>> evaluate(problem, policy).stage.round(3)
    array([0.  , 0.45, 0.55])
    """

    def __init__(self, problem: AcquisitionProblem, thresholds: npt.ArrayLike, info: SolveInfo | None = None) -> None:
        array = check_finite(thresholds, "thresholds")
        expected = (problem.n_decisions, problem.n_classes)
        if array.ndim != 3 or array.shape[1:] != expected or len(array) > problem.n_stages:
            raise ValueError(
                f"thresholds must have shape (n_stages, {expected[0]}, {expected[1]}), at most {problem.n_stages} "
                f"stages, one vector for each stage and decision; got {array.shape}."
            )
        super().__init__(problem, len(array), info)
        self.thresholds = normalise(close_corners(problem, array))

    def _action(self, belief: BeliefState) -> IntArray:
        vectors = self.thresholds[belief.stage][self.problem.decide(belief.probabilities)]
        stop = stopping_is_certain(belief) | (np.einsum("nc,nc->n", vectors, belief.probabilities) <= TIE)
        return np.where(stop, DECIDE, belief.stage)

    def _check_stored(self) -> None:
        require_numbers(self, "thresholds", self.n_stages, self.problem.n_decisions, self.problem.n_classes)


class SampledPaths:
    """Trajectories of the model over a horizon, along which a stopping rule only chooses where to stop.

    Attributes
    ----------
    belief : ndarray of shape (n_nodes, n_classes)
        Belief of each node.
    decision, stage : ndarray of int of shape (n_nodes,)
        Cheapest decision there, and the stage.
    paid, stop_cost : ndarray of shape (n_nodes,)
        Prices paid on the way, and the cost of the cheapest decision.
    next_cost : ndarray of shape (n_nodes,)
        Expected stopping cost after one more feature; 0 where closed.
    share : ndarray of shape (n_nodes,)
        Share of the paths that run through the node.
    closed : ndarray of bool of shape (n_nodes,)
        Where paths end.
    nodes, path : ndarray of int of shape (n_steps,)
        The steps of all paths, one path after the other: the node of each and the path it belongs to.
    weight : ndarray of shape (n_distinct_paths,)
        Share of each distinct path.
    """

    def __init__(self, problem: AcquisitionProblem, n_stages: int, n_paths: int, rng: np.random.Generator) -> None:
        self.problem, self.n_stages = problem, n_stages
        # a node keeps its belief and some ten numbers
        fits = CHUNK_BYTES // (8 * (problem.n_classes + 10) * (n_stages + 1))
        # paths are not made fewer than this to save memory
        self.n_paths = min(n_paths, max(100, fits))
        levels = self._walk(rng)
        self.belief, self.stop_cost, self.paid, self.next_cost, share, self.closed, parent, self.stage = (
            np.concatenate(column) for column in zip(*levels)
        )
        self.share = share / self.n_paths
        self.decision = problem.decide(self.belief)
        self.block = self.stage * problem.n_decisions + self.decision
        ends = np.flatnonzero(self.closed)
        self.weight = self.share[ends]
        self.nodes, self.path = self._steps(parent, ends)
        self.step_block = self.block[self.nodes]
        self._number = np.arange(self.nodes.size)

    def _walk(self, rng: np.random.Generator) -> list[tuple[npt.NDArray[Any], ...]]:
        levels: list[tuple[npt.NDArray[Any], ...]] = []
        n_nodes = [0, 0]  # before the level, and with it

        def ask(level: Level) -> IntArray:
            belief = level.belief
            closed = stopping_is_certain(belief) | (belief.stage >= self.n_stages)
            on = np.flatnonzero(~closed)
            next_cost = np.zeros(len(belief))
            next_cost[on] = row_sums(self.problem.stopping_cost(belief[on].joint)) if on.size else 0.0
            parent = n_nodes[0] + level.parent if levels else np.full(len(belief), -1)
            stage = np.full(len(belief), belief.stage)
            costs = (belief.stopping_cost, belief.spent, next_cost)
            levels.append((belief.probabilities, *costs, level.weight, closed, parent, stage))
            n_nodes[:] = n_nodes[1], n_nodes[1] + len(belief)
            return np.where(closed, DECIDE, belief.stage)

        answers = SampledObservations(rng)
        walk_to_end(*initial_histories(self.problem, None, self.n_paths, answers), ask, answers)
        return levels

    def _steps(self, parent: IntArray, ends: IntArray) -> tuple[IntArray, IntArray]:
        length = self.stage[ends] + 1
        start = np.cumsum(length) - length
        nodes = np.empty(int(length.sum()), dtype=np.intp)
        path = np.repeat(np.arange(ends.size), length)
        while ends.size:
            nodes[start + self.stage[ends]] = ends
            ends = parent[ends]
            inner = ends >= 0
            ends, start = ends[inner], start[inner]
        return nodes, path

    def stops(self, thresholds: FloatArray) -> IntArray:
        """Step at which each distinct path stops under linear thresholds, (n_distinct_paths,)."""
        return self._first_stops(thresholds.reshape(-1, self.problem.n_classes), self.block)

    def stops_one(self, thresholds: FloatArray) -> IntArray:
        """Step at which each path stops under one threshold a stage, (n_stages, n_classes), whatever is cheapest."""
        return self._first_stops(thresholds, self.stage)

    def _first_stops(self, vectors: FloatArray, number: IntArray) -> IntArray:
        beyond = int(number[-1]) + self.problem.n_decisions + 1 - len(vectors)
        if beyond > 0:
            vectors = np.concatenate([vectors, np.zeros((beyond, vectors.shape[1]))])
        stop = self.closed | (np.einsum("nc,nc->n", vectors[number], self.belief) <= TIE)
        steps = np.flatnonzero(stop[self.nodes])
        return np.asarray(steps[np.flatnonzero(np.diff(self.path[steps], prepend=-1))])

    def costs(self, stops: IntArray) -> FloatArray:
        """Prices paid plus the cost of the cheapest decision of each distinct path that stops at ``stops``."""
        nodes = self.nodes[stops]
        return np.asarray(self.paid[nodes] + self.stop_cost[nodes])

    def cost(self, thresholds: FloatArray) -> float:
        """Mean cost of linear thresholds: eq. (10) of the paper on these paths."""
        return float(self.weight @ self.costs(self.stops(thresholds)))

    def cost_one(self, thresholds: FloatArray, decision: int) -> float:
        """Mean cost where one decision is taken whatever the belief: eq. (16), thresholds (n_stages, n_classes)."""
        nodes = self.nodes[self.stops_one(thresholds)]
        forced = self.belief[nodes] @ self.problem.decision_costs[:, decision]
        return float(self.weight @ (self.paid[nodes] + forced))

    def steps_until(self, stops: IntArray) -> IntArray:
        """Steps on the way to ``stops``, the stop itself included."""
        return np.flatnonzero(self._number <= stops[self.path])

    def by_block(self, steps: IntArray, amount: FloatArray, n_stages: int) -> FloatArray:
        """Sum of ``weight * amount`` of the paths that the steps belong to, by stage and decision of each step."""
        n_decisions = self.problem.n_decisions
        size = max(n_stages, self.n_stages + 1) * n_decisions
        total = np.bincount(self.step_block[steps], (self.weight * amount)[self.path[steps]], size)
        return np.asarray(total.reshape(-1, n_decisions)[:n_stages])


class Start(NamedTuple):
    """Thresholds and what they cost.

    Attributes
    ----------
    cost : float
        Mean cost on the paths they were made from.
    thresholds : ndarray of shape (n_stages, n_decisions, n_classes)
        See `LinearThresholdPolicy`.
    """

    cost: float
    thresholds: FloatArray


def initial_thresholds(paths: SampledPaths, n_stages: int) -> list[Start]:
    """Linearised stopping regions of one-step look-ahead, the cheapest on the paths first."""
    problem = paths.problem
    stopping, perfect = problem.decision_costs.T, perfect_cost(problem)
    price = planned_prices(problem)[:n_stages, None, None]
    after = _linear_next_cost(paths)[:n_stages]
    starts = []
    # what the next price is multiplied by
    for factor in (0.25, 0.5, 1.0, 2.0, 4.0):
        # where the value after the next feature lies between the stopping cost (0) and that of perfect knowledge (1)
        for optimism in (0.0, 0.02, 0.05, 0.1, 0.25, 0.5, 0.75, 1.0):
            expected = factor * price + (1 - optimism) * after + optimism * perfect
            thresholds = close_corners(problem, stopping - expected)
            starts.append(Start(paths.cost(thresholds), thresholds))
    return sorted(starts, key=lambda start: start.cost)


def _linear_next_cost(paths: SampledPaths) -> FloatArray:
    """Expected stopping cost after one more feature, as a linear function of the belief for each stage and decision."""
    problem = paths.problem
    n_classes, n_decisions = problem.n_classes, problem.n_decisions
    going = ~paths.closed
    belief, block, stop = paths.belief[going], paths.block[going], paths.stop_cost[going]
    price = planned_prices(problem)[paths.stage[going]]
    weight = paths.share[going] / ((stop + price + 1e-3 * float(paths.stop_cost[0])) / unit(problem)) ** 2
    size = paths.n_stages * n_decisions
    target = np.empty((size, n_classes))
    moments = np.empty((size, n_classes, n_classes))
    for c in range(n_classes):
        weighted = weight * belief[:, c]
        target[:, c] = np.bincount(block, weighted * paths.next_cost[going], size)
        for d in range(c + 1):
            moments[:, c, d] = moments[:, d, c] = np.bincount(block, weighted * belief[:, d], size)
    # a decision that is nowhere the cheapest keeps its own cost
    pooled = _ridge(
        moments.reshape(-1, n_decisions, n_classes, n_classes).sum(axis=0),
        target.reshape(-1, n_decisions, n_classes).sum(axis=0),
        problem.decision_costs.T,
        1e-9,
    )
    # a stage with few beliefs leans on the fit over all stages by this share of the best-fed stage's weight
    fitted = _ridge(moments, target, np.tile(pooled, (paths.n_stages, 1)), 1e-3)
    return fitted.reshape(-1, n_decisions, n_classes)


def _ridge(moments: FloatArray, target: FloatArray, towards: FloatArray, share: float) -> FloatArray:
    strength = share * np.trace(moments, axis1=1, axis2=2).max(initial=0.0) + 1e-12
    regular = moments + strength * np.eye(moments.shape[1])
    return np.asarray(np.linalg.solve(regular, (target + strength * towards)[..., None])[..., 0])


#: Share of the paths that a threshold is taken to be met by at the least, in the scale of its steps.
_RARE = 1e-3


@dataclass(repr=False, eq=False)
class LinearThresholdSPSA(Solver):
    """Linear stopping thresholds, one for each stage and decision, learned without a dynamic program.

    Trajectories are simulated once per batch; a stopping rule only chooses where each of them ends, so that the two
    perturbed evaluations of a step share them (common random numbers) and cost one look-up each. All thresholds are
    perturbed at once and the true expected cost, eq. (10) of the paper, is descended; the difference of a trajectory's
    two costs is credited to the thresholds it met, since the others' perturbations are independent of it. The
    paper's own objective, eq. (16), whose optimum is to buy nothing, is kept as ``published=True``. Any number of
    classes, and no tables needed.

    Starts are the linearised stopping regions of one-step look-ahead, for several price factors and degrees of
    optimism about what comes after; the best on simulated paths is descended from. What is returned is the best,
    on fresh paths, of the start, the last iterate and the average of the second half.

    Parameters
    ----------
    n_paths : int
        Simulated trajectories a batch.
    max_iterations : int
        Most SPSA steps, the paper's ``t_max`` (there 100,000); the status is ``"limit"`` where they ran out.
    tolerance : float
        Stop, ``"converged"``, where the norm of the gradient estimate stays at most this over a batch's iterations;
        with ``published=True``, where it is so once, as in the paper.
    gain, stability, gain_decay : float
        ``a_t = gain * (t + 1 + stability) ** -gain_decay``; the paper's epsilon, sigma and kappa.
    perturbation, perturbation_decay : float
        ``beta_t = perturbation * (t + 1) ** -perturbation_decay``; the paper's mu and upsilon. The paper asks for an
        upsilon above 1/2; smaller ones, which SPSA's own author advises, keep the differences above the noise.
    batch_iterations : int
        Steps on a batch before fresh trajectories are simulated.
    n_restarts : int
        Descents, each from the next best start.
    average : bool
        Whether the average of the second half of the iterates is a candidate too.
    published : bool
        Learn each decision's thresholds by eq. (16) alone, by plain steps; nothing else is a candidate then.
    horizon_tolerance : float
        The horizon is doubled until the best start improves by less than this share.
    max_stages : int or None
        Longest horizon; None for no limit.
    certificate_paths : int
        Sampled paths of the certificate; 0 leaves it out. Its lower bound takes a quick Perseus where there are
        tables; learning never does.
    random_state : int, generator or None
        Seed of trajectories, perturbations and certificate.

    References
    ----------
    .. [1] Y. W. Liyanage, D.-S. Zois and C. Chelmis, "On-the-fly joint feature selection and classification",
       section 4: theorem 3, eqs. (15)-(19) and algorithm 1.
    .. [2] J. C. Spall, "Implementation of the simultaneous perturbation algorithm for stochastic optimization", IEEE
       Transactions on Aerospace and Electronic Systems 34, 1998.

    Examples
    --------
    >>> import numpy as np
    >>> from seqclass.pomdp import LinearThresholdSPSA, TableProblem
    >>> problem = TableProblem([0.5, 0.5], np.array([[[0.9, 0.2], [0.1, 0.8]]] * 3), prices=0.02)
    >>> policy = LinearThresholdSPSA().solve(problem)
    >>> policy.thresholds.shape, policy.info.gap < 0.05
    ((3, 2, 2), True)
    """

    _least = {
        **dict.fromkeys(("n_paths", "max_iterations", "batch_iterations", "n_restarts", "max_stages"), 1),
        **dict.fromkeys(("tolerance", "stability", "horizon_tolerance"), 0.0),
        **dict.fromkeys(("gain", "perturbation"), float(np.finfo(float).tiny)),
    }

    n_paths: int = 1000
    _: KW_ONLY
    max_iterations: int = 300
    tolerance: float = 1e-5
    gain: float = 0.7
    stability: float = 30.0
    gain_decay: float = 0.602
    perturbation: float = 0.6
    perturbation_decay: float = 0.2
    batch_iterations: int = 25
    n_restarts: int = 1
    average: bool = True
    published: bool = False
    horizon_tolerance: float = 1e-3
    max_stages: int | None = None

    def gains(self, iteration: int) -> tuple[float, float]:
        """Step size ``a_t`` and perturbation size ``beta_t`` of an iteration, eq. (19).

        Parameters
        ----------
        iteration : int
            Number of the iteration, from 0.

        Returns
        -------
        a_t, beta_t : float

        Examples
        --------
        >>> from seqclass.pomdp import LinearThresholdSPSA
        >>> LinearThresholdSPSA(gain=2, stability=3, gain_decay=1, perturbation=1, perturbation_decay=0.5).gains(0)
        (0.5, 1.0)
        """
        step = self.gain * (iteration + 1 + self.stability) ** -self.gain_decay
        return step, self.perturbation * (iteration + 1.0) ** -self.perturbation_decay

    def _check_settings(self) -> None:
        super()._check_settings()
        check_real(self.gain_decay, "gain_decay", 0.5, 1)
        check_real(self.perturbation_decay, "perturbation_decay", 0, 1)

    def _check(self, problem: AcquisitionProblem) -> None:
        require_fixed_order(problem, "LinearThresholdSPSA")

    def _policy(self, problem: AcquisitionProblem) -> Policy:
        rng = as_generator(self.random_state)
        starts, whole = self._starts(problem, rng)
        if self.published:
            thresholds, converged = self._descend_published(problem, starts[0].thresholds, rng)
        else:
            thresholds, converged = self._best(problem, starts, rng)
        status = ("converged" if converged else "limit") if whole else "truncated"
        info = SolveInfo(status, n_stages=len(thresholds), size=thresholds.size)
        return LinearThresholdPolicy(problem, thresholds, info)

    def certify(self, policy: Policy, values: ValueFunction | None = None) -> Policy:
        """Add the certificate, its martingale of quick values where there are tables; see `Solver.certify`."""
        if values is None and self.certificate_paths:
            values = StoppingValue(policy.problem, policy.n_stages)
            if policy.problem.structure.tables is not None:
                quick = Perseus(500, n_rounds=1, certificate_paths=0, random_state=0).solve(policy.problem)
                values = cast(LookaheadPolicy, quick).values
        return super().certify(policy, values)

    def _starts(self, problem: AcquisitionProblem, rng: np.random.Generator) -> tuple[list[Start], bool]:
        """Best starts over a horizon that holds all that matters, and whether it does."""
        for n_stages, last in horizons(problem, self.max_stages, 16):
            # both horizons on the same paths: their difference is not noise
            paths = SampledPaths(problem, min(2 * n_stages, problem.n_stages), self.n_paths, rng)
            starts = initial_thresholds(paths, n_stages)
            if n_stages == problem.n_stages:
                return starts, True
            longer = initial_thresholds(paths, paths.n_stages)
            if starts[0].cost - longer[0].cost <= self.horizon_tolerance * starts[0].cost:
                return starts, True
            if last:
                break
        return starts, False

    def _best(
        self, problem: AcquisitionProblem, starts: list[Start], rng: np.random.Generator
    ) -> tuple[FloatArray, bool]:
        """Best of the starts and of what the descents from them find, on paths of their own."""
        candidates, converged = [], True
        for start in starts[: self.n_restarts]:
            descents, flat = self._descend(problem, start.thresholds, rng)
            candidates += [start.thresholds, *descents]
            converged &= flat
        # the candidates are compared on this many times ``n_paths`` trajectories of their own
        n_paths = 4 * self.n_paths
        paths = SampledPaths(problem, len(starts[0].thresholds), n_paths, rng)
        costs = [paths.cost(thresholds) for thresholds in candidates]
        return candidates[int(np.argmin(costs))], converged

    def _perturbations(
        self, problem: AcquisitionProblem, shape: tuple[int, ...], rng: np.random.Generator
    ) -> Iterator[tuple[SampledPaths, float, float, FloatArray]]:
        """Of each iteration its paths, new ones for each batch, its step, and how much and which way it perturbs."""
        for iteration in range(self.max_iterations):
            if iteration % self.batch_iterations == 0:
                paths = SampledPaths(problem, shape[0], self.n_paths, rng)
            yield paths, *self.gains(iteration), rng.choice([-1.0, 1.0], size=shape)

    def _descend(
        self, problem: AcquisitionProblem, start: FloatArray, rng: np.random.Generator
    ) -> tuple[list[FloatArray], bool]:
        """Descend the true cost over all thresholds jointly: last iterate and average, and whether it got flat."""
        # size, relative to a threshold's largest entry, below which entries are perturbed by amounts and above by
        # ratios
        point = np.arcsinh(normalise(start) / 0.01)
        total, n_averaged, n_flat, flat = np.zeros_like(point), 0, 0, False
        for iteration, (paths, step, size, signs) in enumerate(self._perturbations(problem, point.shape, rng)):
            gradient, scale = joint_gradient(paths, point, size, signs)
            point = close_corners(problem, point - step * np.clip(gradient / scale, -1.0, 1.0))
            if 2 * iteration >= self.max_iterations:
                total, n_averaged = total + point, n_averaged + 1
            n_flat = n_flat + 1 if np.linalg.norm(gradient) <= self.tolerance * unit(problem) else 0
            flat = n_flat >= self.batch_iterations
            if flat:
                break
        iterates = [np.sinh(point)]
        if self.average and n_averaged:
            iterates.append(np.sinh(total / n_averaged))
        return iterates, flat

    def _descend_published(
        self, problem: AcquisitionProblem, start: FloatArray, rng: np.random.Generator
    ) -> tuple[FloatArray, bool]:
        """Algorithm 1: each decision's thresholds by eq. (16), as if no other decision could be taken."""
        thresholds, converged = normalise(start), True
        for decision in range(problem.n_decisions):
            point = thresholds[:, decision]
            for paths, step, size, signs in self._perturbations(problem, point.shape, rng):
                up, down = (paths.cost_one(point + sign * size * signs, decision) for sign in (1, -1))
                gradient = (up - down) / (2 * size * unit(problem)) * signs
                point = point - step * gradient
                if np.linalg.norm(gradient) <= self.tolerance:
                    break
            else:
                converged = False
            thresholds[:, decision] = point
        return thresholds, converged


def joint_gradient(
    paths: SampledPaths, point: FloatArray, size: float, signs: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Gradient estimate of the expected cost, eqs. (10) and (17), and the scale of each threshold's step."""
    problem = paths.problem
    stops = [paths.stops(np.sinh(close_corners(problem, point + sign * size * signs))) for sign in (1, -1)]
    difference = paths.costs(stops[0]) - paths.costs(stops[1])
    steps = paths.steps_until(np.maximum(*stops))
    n_stages = len(point)
    credited = paths.by_block(steps, difference, n_stages)
    met = paths.by_block(steps, np.ones(len(difference)), n_stages)
    # a problem of zero prices has a scale too
    price = np.maximum(planned_prices(problem)[:n_stages], max(_RARE * float(paths.stop_cost[0]), _RARE**3))
    scale = price[:, None] * np.sqrt(met + _RARE)
    return credited[:, :, None] / (2 * size) * signs, scale[:, :, None]
