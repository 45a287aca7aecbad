"""F-ETANA: linear stopping thresholds learned by simultaneous perturbation (SPSA) on simulated trajectories."""

from __future__ import annotations

import time
from typing import Any

import numpy as np

from seqclass._arrays import FloatArray, as_generator
from seqclass._validation import check_integer, check_real
from seqclass.pomdp.needs import needed_order
from seqclass.pomdp.policy import LookaheadPolicy, Policy, SolveInfo
from seqclass.pomdp.problem import AcquisitionProblem
from seqclass.pomdp.repricing import unit
from seqclass.pomdp.solvers.base import Solver, certified, horizons
from seqclass.pomdp.solvers.perseus import Perseus
from seqclass.pomdp.solvers.thresholds._initial import Start, initial_thresholds
from seqclass.pomdp.solvers.thresholds.paths import SampledPaths
from seqclass.pomdp.solvers.thresholds.policy import LinearThresholdPolicy, close_corners, normalised
from seqclass.pomdp.values import StoppingValue, ValueFunction

#: The horizon is doubled from here on.
_FIRST_HORIZON = 16
#: Size, relative to a threshold's largest entry, below which entries are perturbed by amounts and above by ratios.
_SMALL = 0.01
#: Share of the paths that a threshold is taken to be met by at the least, in the scale of its steps.
_RARE = 1e-3
#: The candidates are compared on this many times ``n_paths`` trajectories of their own.
_VALIDATION = 4


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
        Most SPSA steps, the paper's ``t_max`` (there 100,000).
    tolerance : float
        Stop where the norm of the gradient estimate stays at most this over a batch's iterations; with
        ``published=True``, where it is so once, as in the paper.
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

    def __init__(
        self,
        n_paths: int = 1000,
        *,
        max_iterations: int = 300,
        tolerance: float = 1e-5,
        gain: float = 0.7,
        stability: float = 30.0,
        gain_decay: float = 0.602,
        perturbation: float = 0.6,
        perturbation_decay: float = 0.2,
        batch_iterations: int = 25,
        n_restarts: int = 1,
        average: bool = True,
        published: bool = False,
        horizon_tolerance: float = 1e-3,
        max_stages: int | None = None,
        certificate_paths: int = 10_000,
        random_state: Any = 0,
    ) -> None:
        self.n_paths = n_paths
        self.max_iterations = max_iterations
        self.tolerance = tolerance
        self.gain = gain
        self.stability = stability
        self.gain_decay = gain_decay
        self.perturbation = perturbation
        self.perturbation_decay = perturbation_decay
        self.batch_iterations = batch_iterations
        self.n_restarts = n_restarts
        self.average = average
        self.published = published
        self.horizon_tolerance = horizon_tolerance
        self.max_stages = max_stages
        self.certificate_paths = certificate_paths
        self.random_state = random_state

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

    def solve(self, problem: AcquisitionProblem) -> Policy:
        """Learn the thresholds.

        Parameters
        ----------
        problem : AcquisitionProblem
            The problem; it need not have tables.

        Returns
        -------
        Policy
            A `LinearThresholdPolicy`. The status is ``"converged"`` where the gradient's norm fell to ``tolerance``,
            ``"limit"`` where the iterations ran out, ``"truncated"`` where ``max_stages`` cut the horizon short.
        """
        started = time.perf_counter()
        self._check(problem)
        rng = as_generator(self.random_state)
        starts, whole = self._starts(problem, rng)
        if self.published:
            thresholds, converged = self._descend_published(problem, starts[0].thresholds, rng)
        else:
            thresholds, converged = self._best(problem, starts, rng)
        status = ("converged" if converged else "limit") if whole else "truncated"
        info = SolveInfo(
            status,
            seconds=time.perf_counter() - started,
            n_stages=len(thresholds),
            size=thresholds.size,
        )
        return self._certified(LinearThresholdPolicy(problem, thresholds, info))

    def _check(self, problem: AcquisitionProblem) -> None:
        for name in ("n_paths", "max_iterations", "batch_iterations", "n_restarts"):
            check_integer(getattr(self, name), name, 1)
        for name in ("tolerance", "stability", "horizon_tolerance"):
            check_real(getattr(self, name), name, 0)
        tiny = float(np.finfo(float).tiny)
        check_real(self.gain, "gain", tiny)
        check_real(self.perturbation, "perturbation", tiny)
        check_real(self.gain_decay, "gain_decay", 0.5, 1)
        check_real(self.perturbation_decay, "perturbation_decay", 0, 1)
        check_integer(self.certificate_paths, "certificate_paths", 0)
        needed_order(problem, "LinearThresholdSPSA")

    def _starts(self, problem: AcquisitionProblem, rng: np.random.Generator) -> tuple[list[Start], bool]:
        """Best starts over a horizon that holds all that matters, and whether it does."""
        for n_stages, last in horizons(problem, self.max_stages, _FIRST_HORIZON):
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
            found, flat = self._descend(problem, start.thresholds, rng)
            candidates += [start.thresholds, *found]
            converged &= flat
        n_paths = _VALIDATION * self.n_paths
        paths = SampledPaths(problem, len(starts[0].thresholds), n_paths, rng)
        costs = [paths.cost(thresholds) for thresholds in candidates]
        return candidates[int(np.argmin(costs))], converged

    def _descend(
        self, problem: AcquisitionProblem, start: FloatArray, rng: np.random.Generator
    ) -> tuple[list[FloatArray], bool]:
        """Descend the true cost over all thresholds jointly: last iterate and average, and whether it got flat."""
        point = np.arcsinh(normalised(start) / _SMALL)
        total, n_averaged, n_flat, flat = np.zeros_like(point), 0, 0, False
        for iteration in range(self.max_iterations):
            if iteration % self.batch_iterations == 0:
                paths = SampledPaths(problem, len(start), self.n_paths, rng)
            step, size = self.gains(iteration)
            signs = rng.choice([-1.0, 1.0], size=point.shape)
            gradient, scale = joint_gradient(paths, point, size, signs)
            point = close_corners(problem, point - step * np.clip(gradient / scale, -1.0, 1.0))
            if 2 * iteration >= self.max_iterations:
                total, n_averaged = total + point, n_averaged + 1
            n_flat = n_flat + 1 if np.linalg.norm(gradient) <= self.tolerance * unit(problem) else 0
            flat = n_flat >= self.batch_iterations
            if flat:
                break
        found = [np.sinh(point)]
        if self.average and n_averaged:
            found.append(np.sinh(total / n_averaged))
        return found, flat

    def _descend_published(
        self, problem: AcquisitionProblem, start: FloatArray, rng: np.random.Generator
    ) -> tuple[FloatArray, bool]:
        """Algorithm 1: each decision's thresholds by eq. (16), as if no other decision could be taken."""
        thresholds, converged = normalised(start), True
        for decision in range(problem.n_decisions):
            point = thresholds[:, decision]
            for iteration in range(self.max_iterations):
                if iteration % self.batch_iterations == 0:
                    paths = SampledPaths(problem, len(start), self.n_paths, rng)
                step, size = self.gains(iteration)
                signs = rng.choice([-1.0, 1.0], size=point.shape)
                up, down = (paths.cost_one(point + sign * size * signs, decision) for sign in (1, -1))
                gradient = (up - down) / (2 * size * unit(problem)) * signs
                point = point - step * gradient
                if np.linalg.norm(gradient) <= self.tolerance:
                    break
            else:
                converged = False
            thresholds[:, decision] = point
        return thresholds, converged

    def _certified(self, policy: Policy) -> Policy:
        if not self.certificate_paths:
            return policy
        problem, started = policy.problem, time.perf_counter()
        values: ValueFunction = StoppingValue(problem, policy.n_stages)
        if problem.tables is not None:
            quick = Perseus(500, n_rounds=1, certificate_paths=0, random_state=0).solve(problem)
            assert isinstance(quick, LookaheadPolicy)  # as of every solver of values
            values = quick.values
        policy = certified(policy, self.certificate_paths, self.random_state, values)
        return policy.with_info(certify_seconds=time.perf_counter() - started)


def joint_gradient(
    paths: SampledPaths, point: FloatArray, size: float, signs: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Gradient estimate of the expected cost, eqs. (10) and (17), and the scale of each threshold's step.

    Parameters
    ----------
    paths : SampledPaths
        Trajectories that both evaluations run on.
    point : ndarray of shape (n_stages, n_decisions, n_classes)
        Where to estimate it; the thresholds are its hyperbolic sine, so that small entries are perturbed by amounts and
        large ones by ratios.
    size : float
        Size of the perturbation.
    signs : ndarray of shape (n_stages, n_decisions, n_classes)
        Its direction, entries -1 and 1.

    Returns
    -------
    gradient : ndarray of shape (n_stages, n_decisions, n_classes)
        A trajectory's difference counts for the thresholds that it met in either evaluation: the perturbation of those
        it did not meet is independent of it and would add nothing but noise.
    scale : ndarray of shape (n_stages, n_decisions, 1)
        Price of the stage times the root of the share of trajectories that met the threshold.

    Examples
    --------
    >>> import numpy as np
    >>> from seqclass.pomdp import TableProblem
    >>> problem = TableProblem([0.5, 0.5], np.array([[[0.9, 0.2], [0.1, 0.8]]]), prices=0.1)
    >>> paths = SampledPaths(problem, 1, 100, np.random.default_rng(0))
    >>> gradient, scale = joint_gradient(paths, np.ones((1, 2, 2)), 2.0, np.ones((1, 2, 2)))
    >>> bool(gradient[0, 0, 1] < 0)  # raising it buys the feature, which pays
    True
    """
    problem = paths.problem
    stops = [paths.stops(np.sinh(close_corners(problem, point + sign * size * signs))) for sign in (1, -1)]
    difference = paths.costs(stops[0]) - paths.costs(stops[1])
    steps = paths.met(np.maximum(*stops))
    n_stages = len(point)
    credited = paths.by_block(steps, difference, n_stages)
    met = paths.by_block(steps, np.ones(len(difference)), n_stages)
    # a problem of zero prices has a scale too
    price = np.maximum(problem.planned_prices[:n_stages], max(_RARE * float(paths.stop_cost[0]), _RARE**3))
    scale = price[:, None] * np.sqrt(met + _RARE)
    return credited[:, :, None] / (2 * size) * signs, scale[:, :, None]
