"""Perseus: point-based value iteration on beliefs that the model reaches."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from seqclass._arrays import FloatArray, IntArray, as_generator
from seqclass._validation import check_integer, check_real
from seqclass.pomdp.alpha import AlphaSet, AlphaVectors, backup, cover
from seqclass.pomdp.policy import DECIDE, LookaheadPolicy, Policy
from seqclass.pomdp.problem import AcquisitionProblem, InformationState
from seqclass.pomdp.solver import Solver
from seqclass.pomdp.values import ValueFunction
from seqclass.pomdp.walk import branch, select

#: Beliefs closer than this, reached by different histories, are the same but for rounding.
_SAME_BELIEF = 1e-12


class Points(NamedTuple):
    """Beliefs of one stage at which values are backed up.

    Attributes
    ----------
    belief : ndarray of shape (n, n_classes)
        The beliefs.
    context : ndarray of int of shape (n,) or None
        Context of each, where the problem has several.

    Examples
    --------
    >>> import numpy as np
    >>> Points(np.array([[0.5, 0.5]]), None).belief
    array([[0.5, 0.5]])
    """

    belief: FloatArray
    context: IntArray | None


class Perseus(Solver):
    """Point-based value iteration over stages, for any number of classes.

    Beliefs are sampled from the model's own trajectories, all of them where they are few; each stage's vectors are
    backed up at its beliefs in one batch, and few vectors that give every belief its own backed-up value are kept.
    A second round samples beliefs from the first round's policy, where they matter. Two deviations from the published
    algorithm, which reuses the rule for a stationary value function: value functions of different stages are not
    compared, and beliefs come from the model rather than from uniform outcomes.

    Parameters
    ----------
    n_beliefs : int
        Most beliefs a stage; of several rounds the first, which only has to find where to look, takes a quarter.
    n_rounds : int
        Rounds of sampling; 1 is the paper's.
    tolerance : float
        How far above its own backed-up value a belief may be left, in units of cost.
    horizon_tolerance : float
        The horizon is doubled until its two bounds differ by less than this share.
    max_stages : int or None
        Longest horizon.
    certificate_paths : int
        Sampled paths of the certificate; 0 leaves it out.
    random_state : int, generator or None
        Seed of the beliefs, the order of the visits and the certificate.

    References
    ----------
    .. [1] M. T. J. Spaan and N. Vlassis, "Perseus: randomized point-based value iteration for POMDPs", JAIR 24, 2005.
    .. [2] Y. W. Liyanage, D.-S. Zois and C. Chelmis, "Dynamic instance-wise classification in correlated feature
       spaces", IEEE TAI 2021, section V.

    Examples
    --------
    >>> import numpy as np
    >>> from seqclass.pomdp import Perseus, TableProblem
    >>> problem = TableProblem([0.5, 0.5], np.array([[[0.9, 0.2], [0.1, 0.8]]]), prices=0.1)
    >>> policy = Perseus().solve(problem)
    >>> policy.info.status, round(policy.info.upper, 3), policy.info.gap
    ('converged', 0.25, 0.0)
    """

    def __init__(
        self,
        n_beliefs: int = 3000,
        *,
        n_rounds: int = 2,
        tolerance: float = 1e-4,
        horizon_tolerance: float = 1e-3,
        max_stages: int | None = None,
        certificate_paths: int = 10_000,
        random_state: Any = 0,
    ) -> None:
        self.n_beliefs = n_beliefs
        self.n_rounds = n_rounds
        self.tolerance = tolerance
        self.horizon_tolerance = horizon_tolerance
        self.max_stages = max_stages
        self.certificate_paths = certificate_paths
        self.random_state = random_state

    def _check(self, problem: AcquisitionProblem) -> None:
        check_integer(self.n_beliefs, "n_beliefs", 1)
        check_integer(self.n_rounds, "n_rounds", 1)
        check_real(self.tolerance, "tolerance", 0)
        if not problem.has_tables:
            raise ValueError(
                "Perseus needs a problem with tables (a finite number of contexts), and this one has none; use a "
                "look-ahead policy."
            )

    def _prepare(self, problem: AcquisitionProblem, n_stages: int) -> list[Points]:
        # a rough policy is enough to find where the beliefs of the next round should lie
        n_beliefs = self.n_beliefs if self.n_rounds == 1 else -(-self.n_beliefs // 4)
        return sample_beliefs(problem, n_stages, n_beliefs, as_generator(self.random_state))

    def _solve(self, problem: AcquisitionProblem, n_stages: int, terminal: FloatArray, prepared: Any) -> ValueFunction:
        rng = as_generator(self.random_state)
        return point_based(problem, prepared, terminal, self.tolerance, rng)

    def _finish(self, problem: AcquisitionProblem, values: ValueFunction) -> ValueFunction:
        rng = as_generator(self.random_state)
        for _ in range(self.n_rounds - 1):
            policy = LookaheadPolicy(values)
            points = sample_beliefs(problem, values.n_stages, self.n_beliefs, rng, policy)
            values = point_based(problem, points, problem.decision_costs.T, self.tolerance, rng)
        return values


def sample_beliefs(
    problem: AcquisitionProblem,
    n_stages: int,
    n_beliefs: int,
    rng: np.random.Generator,
    policy: Policy | None = None,
) -> list[Points]:
    """Beliefs of each stage that the model reaches and where there is something to decide.

    Histories are followed breadth first, those that lead to the same belief as one; where they are more than
    ``n_beliefs`` some are chosen in proportion to the square root of their probability, without repetition.
    Beliefs at which stopping is optimal for certain are left out.

    Parameters
    ----------
    problem : AcquisitionProblem
        A problem with tables.
    n_stages : int
        Number of stages.
    n_beliefs : int
        Most beliefs a stage.
    rng : numpy.random.Generator
        Source of randomness.
    policy : Policy, optional
        Follow only histories on which this policy goes on; by default all are followed.

    Returns
    -------
    list of Points
        One entry a stage.

    Examples
    --------
    >>> import numpy as np
    >>> from seqclass.pomdp import TableProblem
    >>> problem = TableProblem([0.5, 0.5], np.array([[[0.9, 0.2], [0.1, 0.8]]] * 2), prices=0.01)
    >>> [len(p.belief) for p in sample_beliefs(problem, 2, 10, np.random.default_rng(0))]
    [1, 2]
    """
    info, weight = problem.begin(), np.ones(1)
    points: list[Points] = []
    for _ in range(n_stages):
        open_, weight = _distinct(info, weight, np.flatnonzero(~info.settled), rng)
        # the square root: rare beliefs are many, and the bounds suffer where the values have seen none of them
        chosen, root = select(np.sqrt(weight), n_beliefs, rng)
        info, weight = info[open_[chosen]], root**2
        points.append(Points(info.belief, info.context))
        if policy is not None and len(info):
            on = policy.act(info) != DECIDE
            info, weight = info[on], weight[on]
        if len(info):
            parent, outcome, weight = branch(info, weight)
            info = info.update(outcome, parent)
    return points


def _distinct(
    info: InformationState, weight: FloatArray, rows: IntArray, rng: np.random.Generator
) -> tuple[IntArray, FloatArray]:
    """Of the given rows one for each belief and context, similar ones side by side, and their weights added up.

    Features of the same strength bring many histories to the same belief, and `sample_beliefs` has room for few.
    """
    belief, context = info.belief[rows], info.context
    place = np.zeros(len(rows)) if context is None else context[rows]
    # equal beliefs have equal projections on any direction, up to rounding
    order = np.lexsort((np.round(belief @ rng.random(belief.shape[1]), 10), place))
    rows, belief, place, weight = rows[order], belief[order], place[order], weight[rows[order]]
    same = (np.diff(place) == 0) & (np.abs(np.diff(belief, axis=0)).max(axis=1, initial=0.0) < _SAME_BELIEF)
    number = np.cumsum(np.append(True, ~same)[: len(rows)]) - 1
    first = np.flatnonzero(np.diff(number, prepend=-1))
    return rows[first], np.asarray(np.bincount(number, weights=weight), dtype=np.float64)


def point_based(
    problem: AcquisitionProblem,
    points: list[Points],
    terminal: FloatArray,
    tolerance: float,
    rng: np.random.Generator,
) -> AlphaVectors:
    """Back up each stage's beliefs from the last stage to the first.

    Parameters
    ----------
    problem : AcquisitionProblem
        A problem with tables.
    points : list of Points
        Beliefs of each stage.
    terminal : ndarray of shape (m, n_classes)
        Vectors whose lower envelope is the cost after the last stage.
    tolerance : float
        See `cover`.
    rng : numpy.random.Generator
        Order of the visits.

    Returns
    -------
    AlphaVectors

    Examples
    --------
    >>> import numpy as np
    >>> from seqclass.pomdp import TableProblem
    >>> problem = TableProblem([0.5, 0.5], np.array([[[0.9, 0.2], [0.1, 0.8]]]), prices=0.1)
    >>> points = [Points(np.array([[0.5, 0.5]]), None)]
    >>> values = point_based(problem, points, problem.decision_costs.T, 0.0, np.random.default_rng(0))
    >>> values.sets[0].vectors.round(3)
    array([[0.2, 0.3]])
    """
    stopping = problem.decision_costs.T
    following = AlphaSet(np.empty((0, problem.n_classes)), everywhere=terminal)
    sets: list[AlphaSet] = []
    for stage in reversed(range(len(points))):
        belief, context = points[stage]
        likelihood = problem.context_likelihood(stage, context)
        successors = problem.successor_contexts(stage, context)
        vectors, values = backup(belief, likelihood, following, problem.prices[stage], successors)
        kept = _keep(belief, context, vectors, values, tolerance, rng)
        pointer = None
        if context is not None:
            kept = kept[np.argsort(context[kept], kind="stable")]
            pointer = np.searchsorted(context[kept], np.arange(problem.n_contexts(stage) + 1))
        sets.append(AlphaSet(vectors[kept], pointer))
        following = AlphaSet(vectors[kept], pointer, everywhere=stopping)
    return AlphaVectors(problem, sets[::-1])


def _keep(
    belief: FloatArray,
    context: IntArray | None,
    vectors: FloatArray,
    values: FloatArray,
    tolerance: float,
    rng: np.random.Generator,
) -> IntArray:
    order = rng.permutation(len(belief))
    if context is None:
        return cover(belief, vectors, values, tolerance, order)
    kept = [np.empty(0, dtype=np.intp)]
    for number in np.unique(context):
        rows = np.flatnonzero(context == number)
        visits = np.argsort(np.argsort(order[rows]))
        kept.append(rows[cover(belief[rows], vectors[rows], values[rows], tolerance, visits)])
    return np.concatenate(kept)
