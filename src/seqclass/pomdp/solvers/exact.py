"""Exact value iteration over alpha vectors."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import KW_ONLY, dataclass
from functools import reduce
from typing import Any, NamedTuple

import numpy as np
from scipy import spatial

from seqclass._utils.arrays import CACHE_BYTES, BoolArray, FloatArray, IntArray, as_generator, chunks
from seqclass._utils.model_files import register
from seqclass._utils.progress import now
from seqclass._utils.stored import require, require_array
from seqclass._utils.validation import check_choice
from seqclass.pomdp.account import planned_prices
from seqclass.pomdp.alpha import AlphaSet, AlphaVectors, BackupPoints, best_vectors, lowest_point, sample_beliefs
from seqclass.pomdp.needs import require_tables
from seqclass.pomdp.one_step import unit
from seqclass.pomdp.problem import AcquisitionProblem
from seqclass.pomdp.solvers.base import ValueSolver
from seqclass.pomdp.values import ValueFunction

__all__ = ["ExactValueIteration"]


class Envelope(NamedTuple):
    """A piecewise linear concave function of a two-class belief, pieces in order of the odds ``b[1] / b[0]``.

    Attributes
    ----------
    vectors : ndarray of shape (m, 2)
        The vector that is lowest on each piece.
    starts : ndarray of shape (m,)
        Odds at which each piece begins, increasing from 0.
    """

    vectors: FloatArray
    starts: FloatArray


@register
class LineSet(AlphaSet):
    """Alpha vectors of two classes, found by bisection of the odds instead of by trying all."""

    def __init__(self, parts: Sequence[Envelope], many: bool) -> None:
        pointer = np.cumsum([0, *(len(part.starts) for part in parts)]) if many else None
        super().__init__(np.concatenate([part.vectors for part in parts]), pointer)
        self.starts = np.concatenate([part.starts for part in parts])

    def _best_in(self, context: int | None, belief: FloatArray, dtype: Any) -> tuple[FloatArray, FloatArray]:
        own = slice(None) if self.pointer is None or context is None else slice(*self.pointer[context : context + 2])
        vectors, starts = self.vectors[own], self.starts[own]
        if not len(vectors):
            return np.full(len(belief), np.inf), np.zeros_like(belief)
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            odds = belief[:, 1] / belief[:, 0]
        chosen = vectors[np.maximum(np.searchsorted(starts, odds, side="right") - 1, 0)]
        return np.einsum("nc,nc->n", belief, chosen), chosen

    def _check_stored(self) -> None:
        require(self.vectors.shape[1] == 2, "starts are wrong")
        require(not np.isnan(require_array(self, "starts", "f", len(self.vectors))).any(), "starts are wrong")


def envelope_of(vectors: FloatArray) -> Envelope:
    """Lower envelope of a few vectors, (m, 2)."""
    single = [Envelope(vector[None], np.zeros(1)) for vector in vectors]
    return reduce(lambda first, second: lower(first, second)[0], single)


def total(envelopes: Sequence[Envelope], likelihood: FloatArray, price: float) -> Envelope:
    """Price plus the sum over outcomes of the next stage's function at the unnormalised successors."""
    moved = []
    with np.errstate(divide="ignore", over="ignore", under="ignore"):
        for envelope, (first, second) in zip(envelopes, likelihood):
            ratio = float(first) / float(second) if second > 0 else np.inf
            # an outcome that one class never gives settles the odds whatever they were
            if ratio == 0:
                moved.append(np.zeros(len(envelope.starts) - 1))
            elif ratio == np.inf:
                moved.append(np.full(len(envelope.starts) - 1, np.inf))
            else:
                moved.append(envelope.starts[1:] * ratio)
    starts = np.unique(np.concatenate([np.zeros(1), *moved]))
    starts = starts[np.isfinite(starts)]
    vectors = np.full((len(starts), 2), float(price))
    for envelope, breaks, row in zip(envelopes, moved, likelihood):
        vectors += row * envelope.vectors[np.searchsorted(breaks, starts, side="right")]
    return Envelope(vectors, starts)


def lower(first: Envelope, second: Envelope) -> tuple[Envelope, BoolArray]:
    """Lower of two functions, and which of its pieces come from the second one; a tie goes to the first."""
    starts = np.union1d(first.starts, second.starts)
    difference = second.vectors[_piece(second, starts)] - first.vectors[_piece(first, starts)]
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        crossing = -difference[:, 0] / difference[:, 1]
    inside = (crossing > starts) & (crossing < np.append(starts[1:], np.inf))
    starts = np.union1d(starts, crossing[inside])
    one, other = first.vectors[_piece(first, starts)], second.vectors[_piece(second, starts)]
    weight = _belief(_middle(starts))
    takes = np.einsum("nc,nc->n", other - one, weight) < 0
    vectors = np.where(takes[:, None], other, one)
    # neighbours with the same vector are one piece
    new = np.append(True, (vectors[1:] != vectors[:-1]).any(axis=1) | (takes[1:] != takes[:-1]))
    return Envelope(vectors[new], starts[new]), takes[new]


def thin(envelope: Envelope, tolerance: float) -> tuple[Envelope, IntArray]:
    """Leave out pieces as long as no value rises by more than ``tolerance``; also the numbers of those that stay."""
    vectors, starts = envelope.vectors, envelope.starts.copy()
    kept: IntArray = np.arange(len(vectors))
    begin, idle = 1, 0
    while idle < 2 and len(kept) > 2:
        middle = np.arange(begin, len(kept) - 1, 2)
        before, after = vectors[kept[middle - 1]], vectors[kept[middle + 1]]
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            crossing = (after[:, 0] - before[:, 0]) / (before[:, 1] - after[:, 1])
        crossing = np.clip(np.nan_to_num(crossing, nan=0.0), starts[middle], starts[middle + 1])
        belief = _belief(crossing)
        outer = np.maximum(np.einsum("nc,nc->n", before, belief), np.einsum("nc,nc->n", after, belief))
        rise = outer - np.einsum("nc,nc->n", vectors[_piece(envelope, crossing)], belief)
        out = rise <= tolerance
        starts[middle[out] + 1] = crossing[out]
        kept, starts = np.delete(kept, middle[out]), np.delete(starts, middle[out])
        idle = 0 if out.any() else idle + 1
        begin = 3 - begin
    return Envelope(vectors[kept], starts), kept


def _piece(envelope: Envelope, odds: FloatArray) -> IntArray:
    return np.asarray(np.searchsorted(envelope.starts, odds, side="right") - 1)


def _belief(odds: FloatArray) -> FloatArray:
    with np.errstate(divide="ignore", over="ignore"):
        return np.stack([1 / (1 + odds), 1 / (1 + 1 / odds)], axis=1)


def _middle(starts: FloatArray) -> FloatArray:
    last = 2 * starts[-1] + 1
    return np.asarray(starts + np.append(np.diff(starts), last - starts[-1]) / 2)


#: Gives the best vector at each of a batch of beliefs.
Plans = Callable[[FloatArray], FloatArray]


class Budget:
    """Vectors a stage and seconds that may be spent, and whether they are."""

    def __init__(self, max_vectors: int, max_seconds: float | None) -> None:
        self.max_vectors = max_vectors
        self.deadline = np.inf if max_seconds is None else now() + max_seconds
        self.spent = False

    def allows(self, n_vectors: int = 0) -> bool:
        """Whether there is time left and ``n_vectors`` are allowed; once it is not, it never is again."""
        self.spent = self.spent or n_vectors > self.max_vectors or not self.in_time()
        return not self.spent

    def in_time(self) -> bool:
        """Whether there is time left."""
        return now() <= self.deadline


def values_of(belief: FloatArray, vectors: FloatArray) -> FloatArray:
    """Smallest product of each belief with one of many vectors, (n,)."""
    return best_vectors(belief, vectors)[0]


def distinct_vectors(vectors: FloatArray) -> FloatArray:
    """One of each group of equal vectors, in order of their first entries."""
    return vectors[np.unique(vectors.round(14), axis=0, return_index=True)[1]]


def linear_support(vectors: FloatArray, stop: FloatArray, plans: Plans, tolerance: float, budget: Budget) -> FloatArray:
    """Complete the vectors of a stage, so that the lower envelope is the true value up to ``tolerance`` everywhere."""
    for _ in range(2):
        vectors, corners = _complete(vectors, stop, plans, tolerance, budget)
        if budget.spent:
            break
        # ties at a vertex bring in vectors that win nowhere else; what is lost with them is found again
        useful = _useful(vectors, stop, corners, tolerance)
        if useful.all():
            break
        vectors = vectors[useful]
    return vectors


def _complete(
    vectors: FloatArray, stop: FloatArray, plans: Plans, tolerance: float, budget: Budget
) -> tuple[FloatArray, FloatArray]:
    seen: set[bytes] = set()
    corners = np.empty((0, stop.shape[1]))
    while budget.allows(len(vectors)):
        known = np.vstack([stop, vectors])
        corners = vertices(known)
        # at a vertex that was looked at the best vector is there already
        new = np.array([row.tobytes() not in seen for row in corners.round(12) + 0.0])
        seen.update(row.tobytes() for row in corners[new].round(12) + 0.0)
        added = []
        # vertices that are looked at between two looks at the clock
        for part in chunks(int(new.sum()), 1, 4096):
            belief = corners[new][part]
            candidates = plans(belief)
            better = np.einsum("nc,nc->n", candidates, belief) < values_of(belief, known) - tolerance
            added.append(candidates[better])
            if not budget.allows():
                break
        if not any(len(candidates) for candidates in added):
            break
        vectors = distinct_vectors(np.vstack([vectors, *added]))
    return vectors, corners


def vertices(vectors: FloatArray) -> FloatArray:
    """Beliefs at the vertices of the regions in which one of the non-negative vectors is lowest, (n, n_classes)."""
    n_classes = vectors.shape[1]
    scaled = vectors / max(float(vectors.max()), np.finfo(float).tiny)
    # the region below the envelope in the coordinates (b[1], ..., b[C - 1], value)
    below = np.column_stack([scaled[:, :1] - scaled[:, 1:], np.ones(len(scaled)), -scaled[:, 0]])
    sides = np.zeros((n_classes + 1, n_classes + 1))
    sides[: n_classes - 1, : n_classes - 1] = -np.eye(n_classes - 1)
    sides[n_classes - 1, : n_classes - 1], sides[n_classes - 1, -1] = 1, -1
    sides[n_classes, n_classes - 1], sides[n_classes, -1] = -1, -1
    inside = np.append(np.full(n_classes - 1, 1 / n_classes), -0.5)
    points = spatial.HalfspaceIntersection(np.vstack([below, sides]), inside).intersections[:, :-1]
    points = np.clip(points[np.isfinite(points).all(axis=1)], 0, 1)
    points = np.column_stack([np.maximum(1 - points.sum(axis=1), 0), points])
    return distinct_vectors(points / points.sum(axis=1, keepdims=True))


def _useful(vectors: FloatArray, stop: FloatArray, corners: FloatArray, tolerance: float) -> BoolArray:
    """Vectors that are lower than all others by more than ``tolerance`` somewhere, up to ties between vectors."""
    count = np.zeros(len(vectors))
    centre = np.zeros_like(vectors)
    known = np.vstack([stop, vectors])
    for part in chunks(len(corners), 8.0 * len(known), CACHE_BYTES):
        scores = corners[part] @ known.T
        touches = scores <= scores.min(axis=1, keepdims=True) + 1e-12 * scores.max()
        touches = touches[:, len(stop) :].astype(np.float64)
        count += touches.sum(axis=0)
        centre += touches.T @ corners[part]
    rows = np.flatnonzero(count >= vectors.shape[1])
    useful = np.zeros(len(vectors), dtype=bool)
    if rows.size:
        centre = centre[rows] / count[rows, None]
        for part in chunks(len(rows), 8.0 * len(known), CACHE_BYTES):
            scores = centre[part] @ known.T
            own = scores[np.arange(len(scores)), len(stop) + rows[part]]
            scores[np.arange(len(scores)), len(stop) + rows[part]] = np.inf
            # the advantage is concave on the region, so that at the centre it is at least the n-th part of the largest
            useful[rows[part]] = (scores.min(axis=1) - own) * count[rows[part]] > tolerance
    return useful


def prune_sum(
    sets: Sequence[FloatArray], price: float, stop: FloatArray, points: FloatArray, tolerance: float, budget: Budget
) -> FloatArray:
    """Vectors of ``price`` plus one vector of each set that are lowest somewhere, stopping included."""
    result = np.full((1, stop.shape[1]), float(price))
    # whatever the outcomes still to be added cost, it is no less than this
    rest = np.sum([vectors.min(axis=0) for vectors in sets], axis=0)
    for vectors in sorted(sets, key=len):
        vectors = distinct_vectors(vectors)
        rest = np.maximum(rest - vectors.min(axis=0), 0)
        # no sum is of use where even so it is not below stopping
        result = _add(result, vectors, stop - rest, points, tolerance / len(sets), budget)
        if not len(result):
            break
    return result


def _add(
    first: FloatArray, second: FloatArray, rival: FloatArray, points: FloatArray, tolerance: float, budget: Budget
) -> FloatArray:
    kept = _winners(first, second, rival, points)
    if not budget.allows(len(kept)):
        return kept
    # sums of two sets that are looked at one by one; more of them spend the budget
    if len(first) * len(second) > 2_000_000:
        budget.spent = True
        return kept
    sums = (first[:, None] + second[None]).reshape(-1, first.shape[1])
    sums = sums[~_is_dominated(sums, np.vstack([rival, kept]), tolerance)]
    while len(sums) and budget.allows(len(kept)):
        found = lowest_point(sums[0], np.vstack([rival, kept]), tolerance)
        best = sums[:0] if found is None else _winners(first, second, rival, found[0][None])
        if not len(best) or (np.abs(kept - best).max(axis=1, initial=0) < 1e-15).any():
            # the program's precision is worse than the tolerance: nothing is gained there
            sums = sums[1:]
            continue
        kept = np.vstack([kept, best])
        sums = sums[~_is_dominated(sums, best, tolerance)]
    return kept


def _winners(first: FloatArray, second: FloatArray, rival: FloatArray, points: FloatArray) -> FloatArray:
    """Best sum at each point where it is below the rivals; the best of a sum is the sum of the bests."""
    return _below(best_vectors(points, first)[1] + best_vectors(points, second)[1], rival, points)


def _below(vectors: FloatArray, rival: FloatArray, points: FloatArray) -> FloatArray:
    """Vectors, one for each point, that are below the rivals there."""
    return distinct_vectors(vectors[np.einsum("nc,nc->n", vectors, points) < values_of(points, rival)])


def _is_dominated(vectors: FloatArray, by: FloatArray, tolerance: float) -> BoolArray:
    """Vectors no entry of which is below that of some other by more than ``tolerance``."""
    result = np.zeros(len(vectors), dtype=bool)
    for part in chunks(len(vectors), 8.0 * by.size, CACHE_BYTES):
        no_better = vectors[part, None] >= by[None] - tolerance
        result[part] = np.any(np.all(no_better, axis=2), axis=1)
    return result


_METHODS = ("auto", "breakpoints", "vertices", "programs")


@dataclass(repr=False, eq=False)
class ExactValueIteration(ValueSolver):
    """Every alpha vector that is best somewhere, for small problems: the optimum for all beliefs, and all priors.

    It works backward over stages, and contexts. With two classes, the breakpoints of the functions of all outcomes are
    mapped through Bayes's rule and merged, one vector per piece, without linear programs. With more classes, the best
    vectors at the vertices of the regions known so far are added until none is missing (linear support), or cross-sums
    are pruned as they grow, by winning beliefs, pairwise dominance and linear programs (incremental pruning).

    The sets grow quickly with stages, outcomes and classes. When a budget is spent, the remaining stages get the best
    vectors at beliefs that the model reaches, and the status is ``"limit"``. The bounds of the certificate still hold,
    since every vector is the cost of a plan.

    Parameters
    ----------
    tolerance : float
        How far the value may be above the optimum at any belief, over all stages together.
    method : {"auto", "breakpoints", "vertices", "programs"}
        Breakpoints (two classes only), linear support, or incremental pruning. ``"auto"``: the first for two classes,
        the second for up to seven, the third beyond.
    max_vectors : int or None
        Most vectors a stage and context; None: 100,000 for two classes, 20,000 for three, 10,000 for four, 3000 for
        five, 1000 for six and 500 beyond.
    max_seconds : float or None
        Seconds for each horizon that is tried; None for no limit.
    n_beliefs : int
        Beliefs a stage, sampled from the model, at which vectors are sought first, and only, once a budget is spent.
    horizon_tolerance : float
        The horizon is doubled until its two bounds differ by less than this share.
    max_stages : int or None
        Longest horizon.
    certificate_paths, random_state
        As in `Solver`.

    References
    ----------
    .. [1] A. Cassandra, M. L. Littman and N. L. Zhang, "Incremental pruning: a simple, fast, exact method for
       partially observable Markov decision processes", UAI 1997.
    .. [2] H.-T. Cheng, "Algorithms for partially observable Markov decision processes", PhD thesis, University of
       British Columbia, 1988.

    Examples
    --------
    >>> import numpy as np
    >>> from seqclass.pomdp import ExactValueIteration, TableProblem
    >>> problem = TableProblem([0.5, 0.5], np.array([[[0.9, 0.2], [0.1, 0.8]]]), prices=0.1)
    >>> policy = ExactValueIteration().solve(problem)
    >>> policy.info.status, policy.values.sets[0].vectors.round(3)
    ('converged', array([[0.2, 0.3]]))
    """

    _least = {"tolerance": 0.0, "max_vectors": 1, "n_beliefs": 1, "max_seconds": 0.0}

    tolerance: float = 1e-9
    _: KW_ONLY
    method: str = "auto"
    max_vectors: int | None = None
    max_seconds: float | None = 60.0
    n_beliefs: int = 1000
    horizon_tolerance: float = 1e-4
    max_stages: int | None = None

    def _check_settings(self) -> None:
        super()._check_settings()
        check_choice(self.method, "method", _METHODS)

    def _check(self, problem: AcquisitionProblem) -> None:
        require_tables(problem, "ExactValueIteration", "ProjectedValueIteration or Lookahead")
        if self.method == "breakpoints" and problem.n_classes != 2:
            raise ValueError(
                f"method='breakpoints' is for two classes, and the problem has {problem.n_classes}; use 'vertices' or "
                "'programs'."
            )

    def _prepare(self, problem: AcquisitionProblem, n_stages: int) -> tuple[Budget, list[BackupPoints]]:
        # some seconds a stage
        usual = {1: 1, 2: 100_000, 3: 20_000, 4: 10_000, 5: 3000, 6: 1000}.get(problem.n_classes, 500)
        budget = Budget(usual if self.max_vectors is None else self.max_vectors, self.max_seconds)
        points: list[BackupPoints] = []
        if self._choose_method(problem) != "breakpoints":
            points = sample_beliefs(problem, n_stages, self.n_beliefs, as_generator(self.random_state))
        return budget, points

    def _solve(self, problem: AcquisitionProblem, n_stages: int, terminal: FloatArray, prepared: Any) -> ValueFunction:
        budget, points = prepared  # vectors and seconds, and beliefs of each stage, none for two classes
        method, tolerance = self._choose_method(problem), self.tolerance * unit(problem) / max(n_stages, 1)
        step: Any
        following: list[Any]  # the function after the stage, in each context
        if method == "breakpoints":
            step, following = _Lines(problem, tolerance, budget), [envelope_of(terminal)]
        else:
            step, following = _Vectors(problem, tolerance, budget, points, method == "programs"), [terminal]
        tables = problem.structure.tables
        assert tables is not None  # it was checked at the door
        sets: list[AlphaSet] = []
        for stage in reversed(range(n_stages)):
            context = np.arange(tables.n_contexts(stage))
            many = len(context) > 1
            likelihood, successors = tables.likelihood(stage, context), tables.successors(stage, context)
            if stage == n_stages - 1:
                successors = np.zeros_like(successors)
            done = [
                step.back(stage, number if many else None, table, [following[s] for s in after])
                for number, (table, after) in enumerate(zip(likelihood, successors))
            ]
            following = [function for function, _ in done]
            sets.append(step.collect([vectors for _, vectors in done], many))
        values = AlphaVectors(problem, sets[::-1])
        values.limited = budget.spent
        return values

    def _choose_method(self, problem: AcquisitionProblem) -> str:
        if self.method != "auto":
            return self.method
        if problem.n_classes == 2:
            return "breakpoints"
        # up to this many classes regions have few vertices; beyond, linear programs are faster
        return "vertices" if problem.n_classes <= 7 else "programs"


class _Lines:
    """One stage back in one context, of two classes: a function is its pieces."""

    def __init__(self, problem: AcquisitionProblem, tolerance: float, budget: Budget) -> None:
        self.problem, self.tolerance, self.budget = problem, tolerance, budget
        self.stop = envelope_of(problem.decision_costs.T)

    def back(
        self, stage: int, context: int | None, likelihood: FloatArray, following: Sequence[Envelope]
    ) -> tuple[Envelope, Envelope]:
        """The function of a stage and its part where going on is best, from the functions after each outcome."""
        go_on = total(following, likelihood, float(planned_prices(self.problem)[stage]))
        both, own = lower(self.stop, go_on)
        function, kept = thin(both, self.tolerance)
        own = own[kept]
        tolerance = max(self.tolerance, 1e-12 * unit(self.problem))
        # a coarser function has fewer pieces, and each is still the cost of a plan
        while len(function.starts) > 1 and not self.budget.allows(n_own := int(own.sum())):
            allowed = self.budget.max_vectors
            # vectors that two classes keep at each stage once the time is over
            if n_own <= (allowed if self.budget.in_time() else min(allowed, 500)):
                break
            tolerance *= 4
            function, kept = thin(function, tolerance)
            own = own[kept]
        return function, Envelope(function.vectors[own], function.starts[own])

    def collect(self, parts: list[Envelope], many: bool) -> AlphaSet:
        """The vectors of going on in all contexts of a stage."""
        return LineSet(parts, many)


class _Vectors:
    """The same of any number of classes: a function is the set of its vectors, those of stopping included."""

    def __init__(
        self, problem: AcquisitionProblem, tolerance: float, budget: Budget, points: list[BackupPoints], programs: bool
    ) -> None:
        self.problem, self.tolerance, self.budget, self.points = problem, tolerance, budget, points
        self.programs = programs
        self.stop = problem.decision_costs.T

    def back(
        self, stage: int, context: int | None, likelihood: FloatArray, following: Sequence[FloatArray]
    ) -> tuple[FloatArray, FloatArray]:
        price = float(planned_prices(self.problem)[stage])

        def plans(belief: FloatArray) -> FloatArray:
            vectors = np.full(belief.shape, price)
            for row, after in zip(likelihood, following):
                vectors += row * best_vectors(belief * row, after)[1]
            return vectors

        points = self._points(stage, context)
        vectors = self._winners(plans(points), points)
        if self.problem.n_classes > 1 and self.budget.allows(len(vectors)):
            if (completed := None if self.programs else self._complete(vectors, plans)) is None:
                sums = [row * after for row, after in zip(likelihood, following)]
                completed = prune_sum(sums, price, self.stop, points, self.tolerance, self.budget)
            vectors = completed
        if len(vectors) > self.budget.max_vectors:
            # those that the model is known to reach come first
            vectors = np.vstack([self._winners(vectors, points), vectors])[: self.budget.max_vectors]
        return np.vstack([self.stop, vectors]), vectors

    def collect(self, parts: list[FloatArray], many: bool) -> AlphaSet:
        pointer = np.cumsum([0, *(len(part) for part in parts)]) if many else None
        return AlphaSet(np.concatenate(parts), pointer)

    def _complete(self, vectors: FloatArray, plans: Plans) -> FloatArray | None:
        """All vectors by the vertices of their regions; None of a degenerate set, which linear programs do not mind."""
        try:
            return linear_support(vectors, self.stop, plans, self.tolerance, self.budget)
        except spatial.QhullError:
            return None

    def _points(self, stage: int, context: int | None) -> FloatArray:
        belief, number = self.points[stage][:2]
        if context is not None:
            belief = belief[number == context]
        if len(belief) > self.budget.max_vectors:
            belief = belief[np.linspace(0, len(belief) - 1, self.budget.max_vectors).astype(np.intp)]
        n_classes = self.problem.n_classes
        # some that it does not reach, for other priors
        spread = np.random.default_rng(stage).dirichlet(np.ones(n_classes), size=100)
        return np.vstack([np.full((1, n_classes), 1 / n_classes), belief, spread])

    def _winners(self, vectors: FloatArray, points: FloatArray) -> FloatArray:
        """Vectors that are lowest at some point, and lower than stopping."""
        return _below(best_vectors(points, vectors)[1], self.stop, points) if len(vectors) else vectors
