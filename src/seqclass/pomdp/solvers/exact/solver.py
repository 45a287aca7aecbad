"""Exact value iteration over alpha vectors."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any, Generic, NamedTuple, TypeVar

import numpy as np
from scipy.spatial import QhullError

from seqclass._arrays import FloatArray, IntArray, as_generator, chunks
from seqclass._validation import check_choice, check_integer, check_real
from seqclass.pomdp.alpha.points import Points, sample_beliefs
from seqclass.pomdp.alpha.vectors import AlphaSet, AlphaVectors
from seqclass.pomdp.needs import needed_tables
from seqclass.pomdp.problem import AcquisitionProblem
from seqclass.pomdp.repricing import unit
from seqclass.pomdp.solvers.base import ValueSolver
from seqclass.pomdp.solvers.exact._lines import Envelope, LineSet, envelope_of, lower, thin, total
from seqclass.pomdp.solvers.exact._pruning import pruned_sum
from seqclass.pomdp.solvers.exact._vertices import Budget, distinct, linear_support, values_of
from seqclass.pomdp.values import ValueFunction

_METHODS = ("auto", "breakpoints", "vertices", "programs")
#: Up to this many classes regions have few vertices; beyond, linear programs are faster.
_MAX_CLASSES_VERTICES = 7
#: Most vectors a stage and context by number of classes, where the user names none: some seconds a stage.
_MAX_VECTORS = {1: 1, 2: 100_000, 3: 20_000, 4: 10_000, 5: 3000, 6: 1000}
#: Beliefs of the whole simplex that are added to those that the model reaches.
_SPREAD = 100
#: Vectors that two classes keep at each stage once the time is over.
_FEW_VECTORS = 500


class ExactValueIteration(ValueSolver):
    """Every alpha vector that matters, for small problems: the optimum for all beliefs, and so for all priors.

    Backward over stages, and contexts. Two classes: the breakpoints of all outcomes' functions are mapped through
    Bayes's rule and merged, one vector a piece, without linear programs. More: the best vectors at the vertices of the
    regions known so far are added until none is missing (linear support), or cross-sums are pruned as they grow, by
    winning beliefs, pairwise dominance and linear programs (incremental pruning).

    Sets grow quickly with stages, outcomes and classes. When a budget is spent, the stages that are left get the best
    vectors at beliefs that the model reaches, the status is ``"limit"``, and the bounds of the certificate hold all the
    same, since every vector is the cost of a plan.

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
    certificate_paths : int
        Sampled paths of the certificate; 0 leaves it out.
    random_state : int, generator or None
        Seed of the beliefs and the certificate.

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

    def __init__(
        self,
        tolerance: float = 1e-9,
        *,
        method: str = "auto",
        max_vectors: int | None = None,
        max_seconds: float | None = 60.0,
        n_beliefs: int = 1000,
        horizon_tolerance: float = 1e-4,
        max_stages: int | None = None,
        certificate_paths: int = 10_000,
        random_state: Any = 0,
    ) -> None:
        self.tolerance = tolerance
        self.method = method
        self.max_vectors = max_vectors
        self.max_seconds = max_seconds
        self.n_beliefs = n_beliefs
        self.horizon_tolerance = horizon_tolerance
        self.max_stages = max_stages
        self.certificate_paths = certificate_paths
        self.random_state = random_state

    def _check(self, problem: AcquisitionProblem) -> None:
        check_real(self.tolerance, "tolerance", 0)
        check_choice(self.method, "method", _METHODS)
        if self.max_vectors is not None:
            check_integer(self.max_vectors, "max_vectors", 1)
        check_integer(self.n_beliefs, "n_beliefs", 1)
        if self.max_seconds is not None:
            check_real(self.max_seconds, "max_seconds", 0)
        needed_tables(problem, "ExactValueIteration", "ProjectedValueIteration or Lookahead")
        if self.method == "breakpoints" and problem.n_classes != 2:
            raise ValueError(
                f"method='breakpoints' is for two classes, and the problem has {problem.n_classes}; use 'vertices' or "
                "'programs'."
            )

    def _prepare(self, problem: AcquisitionProblem, n_stages: int) -> Prepared:
        allowed = _MAX_VECTORS.get(problem.n_classes, 500) if self.max_vectors is None else self.max_vectors
        budget = Budget(allowed, self.max_seconds)
        points: list[Points] = []
        if self._chosen(problem) != "breakpoints":
            points = sample_beliefs(problem, n_stages, self.n_beliefs, as_generator(self.random_state))
        return Prepared(budget, points)

    def _solve(self, problem: AcquisitionProblem, n_stages: int, terminal: FloatArray, prepared: Any) -> ValueFunction:
        budget = prepared.budget
        step = self._step(problem, self.tolerance * unit(problem) / max(n_stages, 1), prepared)
        following = [step.first(terminal)]
        tables = problem.tables
        assert tables is not None  # it was checked at the door
        sets: list[AlphaSet] = []
        for stage in reversed(range(n_stages)):
            context = tables.all_contexts(stage)
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

    def _step(self, problem: AcquisitionProblem, tolerance: float, prepared: Prepared) -> _Step[Any, Any]:
        method = self._chosen(problem)
        if method == "breakpoints":
            return _Lines(problem, tolerance, prepared.budget)
        return _Vectors(problem, tolerance, prepared.budget, prepared.points, method == "programs")

    def _chosen(self, problem: AcquisitionProblem) -> str:
        if self.method != "auto":
            return self.method
        if problem.n_classes == 2:
            return "breakpoints"
        return "vertices" if problem.n_classes <= _MAX_CLASSES_VERTICES else "programs"


class Prepared(NamedTuple):
    """What the solves of one horizon share.

    Attributes
    ----------
    budget : Budget
        Vectors and seconds.
    points : list of Points
        Beliefs of each stage; empty for two classes.

    Examples
    --------
    >>> Prepared(Budget(10, None), []).points
    []
    """

    budget: Budget
    points: list[Points]


_Function = TypeVar("_Function")
_Part = TypeVar("_Part")


class _Step(ABC, Generic[_Function, _Part]):
    """One stage back, in one context; a stage's function is what the next step back reads."""

    @abstractmethod
    def first(self, terminal: FloatArray) -> _Function:
        """Return the function after the last stage."""

    @abstractmethod
    def back(
        self, stage: int, context: int | None, likelihood: FloatArray, following: Sequence[_Function]
    ) -> tuple[_Function, _Part]:
        """Return the function of a stage and its part where going on is best, from the functions after each outcome."""

    @abstractmethod
    def collect(self, parts: list[_Part], many: bool) -> AlphaSet:
        """Return the vectors of going on in all contexts of a stage."""


class _Lines(_Step[Envelope, Envelope]):
    """Two classes."""

    def __init__(self, problem: AcquisitionProblem, tolerance: float, budget: Budget) -> None:
        self.problem, self.tolerance, self.budget = problem, tolerance, budget
        self.stop = envelope_of(problem.decision_costs.T)

    def first(self, terminal: FloatArray) -> Envelope:
        return envelope_of(terminal)

    def back(
        self, stage: int, context: int | None, likelihood: FloatArray, following: Sequence[Envelope]
    ) -> tuple[Envelope, Envelope]:
        go_on = total(following, likelihood, float(self.problem.planned_prices[stage]))
        both, own = lower(self.stop, go_on)
        function, kept = thin(both, self.tolerance)
        own = own[kept]
        tolerance = max(self.tolerance, 1e-12 * unit(self.problem))
        # a coarser function has fewer pieces, and each is still the cost of a plan
        while len(function.starts) > 1 and not self.budget.open(n_own := int(own.sum())):
            allowed = self.budget.max_vectors
            if n_own <= (allowed if self.budget.in_time() else min(allowed, _FEW_VECTORS)):
                break
            tolerance *= 4
            function, kept = thin(function, tolerance)
            own = own[kept]
        return function, Envelope(function.vectors[own], function.starts[own])

    def collect(self, parts: list[Envelope], many: bool) -> AlphaSet:
        return LineSet(parts, many)


class _Vectors(_Step[FloatArray, FloatArray]):
    """Any number of classes: a function is the set of its vectors, those of stopping included."""

    def __init__(
        self,
        problem: AcquisitionProblem,
        tolerance: float,
        budget: Budget,
        points: list[Points],
        programs: bool,
    ) -> None:
        self.problem, self.tolerance, self.budget = problem, tolerance, budget
        self.points, self.programs = points, programs
        self.stop = problem.decision_costs.T

    def first(self, terminal: FloatArray) -> FloatArray:
        return terminal

    def back(
        self, stage: int, context: int | None, likelihood: FloatArray, following: Sequence[FloatArray]
    ) -> tuple[FloatArray, FloatArray]:
        price = float(self.problem.planned_prices[stage])

        def plans(belief: FloatArray) -> FloatArray:
            vectors = np.full(belief.shape, price)
            for row, after in zip(likelihood, following):
                vectors += row * after[_lowest(belief * row, after)]
            return vectors

        points = self._points(stage, context)
        vectors = self._winners(plans(points), points)
        if self.problem.n_classes > 1 and self.budget.open(len(vectors)):
            vectors = self._complete(vectors, points, plans, likelihood, following, price)
        if len(vectors) > self.budget.max_vectors:
            # those that the model is known to reach come first
            vectors = np.vstack([self._winners(vectors, points), vectors])[: self.budget.max_vectors]
        return np.vstack([self.stop, vectors]), vectors

    def collect(self, parts: list[FloatArray], many: bool) -> AlphaSet:
        pointer = np.cumsum([0, *(len(part) for part in parts)]) if many else None
        return AlphaSet(np.concatenate(parts), pointer)

    def _complete(
        self,
        vectors: FloatArray,
        points: FloatArray,
        plans: Any,
        likelihood: FloatArray,
        following: Sequence[FloatArray],
        price: float,
    ) -> FloatArray:
        if not self.programs:
            try:
                return linear_support(vectors, self.stop, plans, self.tolerance, self.budget)
            except QhullError:  # a degenerate set of vectors; linear programs do not mind
                pass
        sums = [row * after for row, after in zip(likelihood, following)]
        return pruned_sum(sums, price, self.stop, points, self.tolerance, self.budget)

    def _points(self, stage: int, context: int | None) -> FloatArray:
        belief, number = self.points[stage][:2]
        if context is not None:
            belief = belief[number == context]
        if len(belief) > self.budget.max_vectors:
            belief = belief[np.linspace(0, len(belief) - 1, self.budget.max_vectors).astype(np.intp)]
        n_classes = self.problem.n_classes
        # some that it does not reach, for other priors
        spread = np.random.default_rng(stage).dirichlet(np.ones(n_classes), size=_SPREAD)
        return np.vstack([np.full((1, n_classes), 1 / n_classes), belief, spread])

    def _winners(self, vectors: FloatArray, points: FloatArray) -> FloatArray:
        """Vectors that are lowest at some point, and lower than stopping."""
        if not len(vectors):
            return vectors
        best = vectors[_lowest(points, vectors)]
        return distinct(best[np.einsum("nc,nc->n", best, points) < values_of(points, self.stop)])


def _lowest(belief: FloatArray, vectors: FloatArray) -> IntArray:
    index = np.empty(len(belief), dtype=np.intp)
    for part in chunks(len(belief), 8.0 * len(vectors), 2**21):
        index[part] = (belief[part] @ vectors.T).argmin(axis=1)
    return index
