"""Alpha vectors: piecewise linear concave value functions, their backup and pruning, and beliefs to back up at."""

from __future__ import annotations

import importlib
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from scipy import optimize

from seqclass._utils.arrays import CACHE_BYTES, FloatArray, IntArray, chunks
from seqclass._utils.model_files import register
from seqclass._utils.stored import require, require_array, require_list, require_numbers
from seqclass._utils.tables import Readable, count_text
from seqclass._utils.validation import check_integer
from seqclass.pomdp.account import planned_prices
from seqclass.pomdp.one_step import context_of, stopping_is_certain
from seqclass.pomdp.policy import DECIDE, LookaheadPolicy, Policy
from seqclass.pomdp.problem import AcquisitionProblem, BeliefState, outcome_likelihood
from seqclass.pomdp.ties import TIE
from seqclass.pomdp.values import ProjectedValues, StoppingValue, ValueFunction
from seqclass.pomdp.walk import Fork, Level, initial_histories, walk

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["AlphaSet", "AlphaVectors", "SharedVectors", "backup"]


#: What a choice among vectors is made in.
Precision = type[np.floating[Any]]


@register
class AlphaSet:
    """Alpha vectors of one stage, grouped by the context they are valid in.

    Parameters
    ----------
    vectors : ndarray of shape (n_vectors, n_classes)
        The vectors; those of context ``i`` are the rows ``pointer[i]:pointer[i + 1]``.
    pointer : ndarray of int of shape (n_contexts + 1,), optional
        Left out: one context, all rows.
    everywhere : ndarray of shape (m, n_classes), optional
        Vectors valid in every context, such as those of stopping.

    Examples
    --------
    >>> import numpy as np
    >>> AlphaSet(np.array([[0.0, 1.0], [1.0, 0.0]])).value(np.array([[0.3, 0.7]]))
    array([0.3])
    """

    def __init__(
        self, vectors: FloatArray, pointer: IntArray | None = None, everywhere: FloatArray | None = None
    ) -> None:
        self.vectors = vectors
        self.pointer = pointer
        self.everywhere = np.empty((0, vectors.shape[1])) if everywhere is None else everywhere

    def __len__(self) -> int:
        return len(self.vectors)

    @property
    def precision(self) -> Precision:
        """What the choice among the vectors is made in."""
        # any choice gives the vector of some plan, so single precision may cost 1e-7 of value but never validity
        # from this many vectors on one is chosen among them in single precision
        return np.float32 if len(self) >= 256 else np.float64

    def vectors_in(self, context: int | None = None) -> FloatArray:
        """Vectors valid in a context, the ones valid everywhere first."""
        here = self.vectors
        if self.pointer is not None and context is not None:
            here = here[self.pointer[context] : self.pointer[context + 1]]
        return np.concatenate([self.everywhere, here])

    def value(self, belief: FloatArray, context: IntArray | None = None) -> FloatArray:
        """Smallest product of each belief with a vector valid in its context, (n,); inf where there is none."""
        value, _ = self.best(belief, context)
        return value

    def best(
        self, belief: FloatArray, context: IntArray | None = None, dtype: Precision = np.float64
    ) -> tuple[FloatArray, FloatArray]:
        """Value of each belief, (n,), and the vector that attains it, (n, n_classes), chosen in precision ``dtype``."""
        if self.pointer is None or context is None:
            return self._best_in(None, belief, dtype)
        value = np.full(len(belief), np.inf)
        vector = np.zeros_like(belief)
        order = np.argsort(context, kind="stable")
        present, starts = np.unique(context[order], return_index=True)
        for number, rows in zip(present, np.split(order, starts[1:])):
            value[rows], vector[rows] = self._best_in(int(number), belief[rows], dtype)
        return value, vector

    def _best_in(self, context: int | None, belief: FloatArray, dtype: Precision) -> tuple[FloatArray, FloatArray]:
        """The same of beliefs in one context, or where it does not matter."""
        return best_vectors(belief, self.vectors_in(context), dtype)

    def _check_stored(self) -> None:
        vectors = require_numbers(self, "vectors", None, None)
        require_numbers(self, "everywhere", None, vectors.shape[1])
        if self.pointer is not None:
            pointer = require_array(self, "pointer", "iu", None)
            rising = len(pointer) > 1 and pointer[0] == 0 and (np.diff(pointer) >= 0).all()
            require(rising and pointer[-1] == len(vectors), "pointer is not that of vectors")


def best_vectors(
    belief: FloatArray, vectors: FloatArray, dtype: Precision = np.float64
) -> tuple[FloatArray, FloatArray]:
    """Value and best vector of each belief; the choice is made in ``dtype``, the value is always in double."""
    n = len(belief)
    if len(vectors) == 0:
        return np.full(n, np.inf), np.zeros_like(belief)
    index = np.empty(n, dtype=np.intp)
    transposed = vectors.T.astype(dtype, copy=False)
    rows = belief.astype(dtype, copy=False)
    # scores of a batch of beliefs are computed in pieces of this size, so that they stay in the cache
    for part in chunks(n, transposed.itemsize * len(vectors), CACHE_BYTES):
        index[part] = (rows[part] @ transposed).argmin(axis=1)
    chosen = vectors[index]
    return np.einsum("nc,nc->n", belief, chosen), chosen


#: HiGHS works to this precision at best.
_PROGRAM_TOLERANCE = 1e-10


def lowest_point(vector: FloatArray, others: FloatArray, tolerance: float = 0.0) -> tuple[FloatArray, float] | None:
    """Belief at which a vector is lower than the others by most, and by how much; None if by no more than this."""
    n_classes = vector.size
    scale = max(float(np.abs(others - vector).max()), np.finfo(float).tiny)
    # maximise the advantage: (vector - other) @ belief + advantage <= 0
    table = np.column_stack([(vector - others) / scale, np.ones(len(others))])
    result = optimize.linprog(
        np.append(np.zeros(n_classes), -1.0),
        A_ub=table,
        b_ub=np.zeros(len(others)),
        A_eq=np.append(np.ones(n_classes), 0.0)[None],
        b_eq=[1.0],
        bounds=[(0, None)] * n_classes + [(None, None)],
        method="highs",
        options={
            "primal_feasibility_tolerance": _PROGRAM_TOLERANCE,
            "dual_feasibility_tolerance": _PROGRAM_TOLERANCE,
            "presolve": False,
        },
    )
    if result.x is None:
        return None
    belief = np.maximum(result.x[:-1], 0)
    belief /= belief.sum()
    margin = float(np.min((others - vector) @ belief))
    return (np.asarray(belief), margin) if margin > tolerance else None


def backup(
    belief: FloatArray,
    likelihood: FloatArray,
    following: AlphaSet,
    price: float,
    successors: IntArray | None = None,
) -> tuple[FloatArray, FloatArray]:
    """Back up a batch of beliefs: the best vector of going on, at each.

    ``alpha = price + sum_v P(v | .) * alpha_v`` (elementwise), ``alpha_v`` the best of the next stage's vectors at the
    unnormalised successor ``P(v | .) * belief``.

    Parameters
    ----------
    belief : ndarray of shape (n, n_classes)
        Beliefs, of any positive scale.
    likelihood : ndarray of shape (n or 1, n_outcomes, n_classes)
        P(outcome | context, class) of each belief's context.
    following : AlphaSet
        The next stage's vectors, stopping included.
    price : float
        Price of the stage's feature.
    successors : ndarray of int of shape (n, n_outcomes), optional
        Context after each outcome.

    Returns
    -------
    vectors : ndarray of shape (n, n_classes)
    values : ndarray of shape (n,)
        The product of each vector with its belief.

    References
    ----------
    .. [1] E. J. Sondik, "The optimal control of partially observable Markov processes", 1971.
    .. [2] M. T. J. Spaan and N. Vlassis, "Perseus: randomized point-based value iteration for POMDPs", JAIR 24, 2005.

    Examples
    --------
    >>> import numpy as np
    >>> stop = AlphaSet(1 - np.eye(2))
    >>> vectors, values = backup(np.array([[0.5, 0.5]]), np.array([[[0.9, 0.2], [0.1, 0.8]]]), stop, 0.1)
    >>> values.round(3)
    array([0.25])
    """
    vectors = np.full(belief.shape, float(price))
    for v in range(likelihood.shape[1]):
        column = likelihood[:, v]
        _, best = following.best(belief * column, None if successors is None else successors[:, v], following.precision)
        vectors += column * best
    return vectors, np.einsum("nc,nc->n", vectors, belief)


def cover(belief: FloatArray, vectors: FloatArray, values: FloatArray, tolerance: float, order: IntArray) -> IntArray:
    """Choose few vectors that give each belief its own backed-up value, up to ``tolerance``."""
    slack = values + (tolerance + TIE * float(np.abs(vectors).max(initial=0.0))) * belief.sum(axis=1)
    todo = order
    kept: list[IntArray] = []
    block = 1
    while todo.size:
        chosen, todo = todo[:block], todo[block:]
        if chosen.size > 1:  # of equal vectors one is enough
            chosen = chosen[_distinct(vectors[chosen])]
        kept.append(chosen)
        if todo.size:
            reached, _ = best_vectors(belief[todo], vectors[chosen])
            todo = todo[reached > slack[todo]]
        block = min(2 * block, 64)
    return np.sort(np.concatenate(kept)) if kept else np.empty(0, dtype=np.intp)


def _regions(vectors: FloatArray) -> FloatArray:
    """Where each of vectors of two classes is least, in P(first class), (m, 2); NaN where it is nowhere."""
    slopes, ends = vectors[:, 0] - vectors[:, 1], np.empty((len(vectors), 2))
    for number, (slope, intercept) in enumerate(zip(slopes, vectors[:, 1])):
        steeper, above = slope - slopes, vectors[:, 1] - intercept  # it is least where steeper * p <= above
        with np.errstate(divide="ignore", invalid="ignore"):
            crossing = above / steeper
        lower, upper = crossing[steeper < 0].max(initial=0.0), crossing[steeper > 0].min(initial=1.0)
        is_somewhere = lower <= upper and (above[steeper == 0] >= 0).all()
        ends[number] = (lower, upper) if is_somewhere else np.nan
    return ends


def _distinct(vectors: FloatArray) -> IntArray:
    """First row of each distinct vector, in increasing order; now and then a repetition passes."""
    rows = np.argsort(vectors @ np.sqrt(np.arange(2.0, vectors.shape[1] + 2)), kind="stable")
    ranked = vectors[rows]
    repeated = np.append(False, (ranked[1:] == ranked[:-1]).all(axis=1))[: len(rows)]
    return np.sort(rows[~repeated])


class AlphaVectors(Readable, ValueFunction):
    """A value function given by alpha vectors of going on, one set a stage.

    A vector is the cost, class by class, of a conditional plan, so the value is never below the optimal cost. Stopping
    vectors are valid at every stage and in every context and are not stored.

    Parameters
    ----------
    problem : AcquisitionProblem
        The problem the vectors belong to.
    sets : sequence of AlphaSet
        Vectors of going on, for the stages ``0..n_stages-1``.

    Examples
    --------
    >>> import numpy as np
    >>> from seqclass.pomdp import TableProblem
    >>> from seqclass.pomdp.alpha import AlphaSet, AlphaVectors
    >>> problem = TableProblem([0.5, 0.5], np.array([[[0.9, 0.2], [0.1, 0.8]]]), prices=0.1)
    >>> values = AlphaVectors(problem, [AlphaSet(np.array([[0.2, 0.3]]))])
    >>> values.value(0, np.array([[0.5, 0.5], [0.9, 0.1]]))
    array([0.25, 0.1 ])
    """

    def __init__(self, problem: AcquisitionProblem, sets: Sequence[AlphaSet]) -> None:
        super().__init__(problem, len(sets))
        self.sets = list(sets)

    def _summary(self) -> str:
        stages, states = count_text(self.n_stages, "stages"), count_text(len(self._state_names), self._kind_of_states)
        return f"{self.size:,} of {stages}, {states}"

    def to_frame(self) -> pd.DataFrame:
        """Return a row a vector, of each stage those of deciding first.

        Returns
        -------
        pandas.DataFrame
            Its ``stage``, ``context`` and ``action`` (a decision, or the question that is asked), a column with its
            cost for each class, and with two classes ``lower`` and ``upper``: between these probabilities of the first
            class no other vector of the stage is less; NaN where there is no such belief.

        Examples
        --------
        >>> import numpy as np
        >>> from seqclass.pomdp import Perseus, TableProblem, with_names
        >>> problem = TableProblem([0.5, 0.5], np.array([[[0.9, 0.2], [0.1, 0.8]]]), prices=0.1)
        >>> named = with_names(problem, ["test"], classes=["ill", "well"])
        >>> Perseus(certificate_paths=0).solve(named).values.to_frame().round(2)
           stage  context action  ill  well  lower  upper
        0      0        0    ill  0.0   1.0   0.78   1.00
        1      0        0   well  1.0   0.0   0.00   0.27
        2      0        0   test  0.2   0.3   0.27   0.78
        """
        return super().to_frame()

    def _table(self) -> Any:
        import pandas as pd

        names, states, rows = self.problem.names, self._state_names, list[list[Any]]()
        for stage in range(self.n_stages):
            for context in range(self._n_contexts(stage)):
                vectors = self._all_vectors(stage, context)
                n = len(vectors) - self.problem.n_decisions
                actions = [*names.decisions, *["go on" if self.problem.any_order else names.question(stage)] * n]
                ends = _regions(vectors) if len(states) == 2 else np.empty((len(vectors), 0))
                rows += [[stage, context, a, *v, *e] for a, v, e in zip(actions, vectors.tolist(), ends.tolist())]
        more = ["lower", "upper"] if len(states) == 2 else []
        return pd.DataFrame(rows, columns=["stage", "context", "action", *states, *more])

    #: What a vector has a number for.
    _kind_of_states = "classes"

    @property
    def _state_names(self) -> list[str]:
        return self.problem.names.classes

    def plot(self, stage: int = 0, context: int = 0, ax: Any = None, **settings: Any) -> Any:
        """Draw the vectors of a stage: `seqclass.plots.AlphaVectorsDisplay`.

        Parameters
        ----------
        stage, context : int
            Stage, and context there.
        ax : matplotlib Axes, optional
            Where to draw; by default a new figure.
        **settings
            Passed to the display's ``plot``, such as ``title``.

        Returns
        -------
        AlphaVectorsDisplay
        """
        plots = importlib.import_module("seqclass.plots")
        return plots.AlphaVectorsDisplay(self, stage, context=context).plot(ax, **settings)

    def dominating_region(self, vector: int, stage: int = 0, context: int = 0) -> tuple[FloatArray, float] | None:
        """Find where one vector of a stage is below all others, by a linear program.

        Parameters
        ----------
        vector : int
            Its number among those of the stage and context, in the order of `to_frame`.
        stage, context : int
            Stage, and context there.

        Returns
        -------
        belief : ndarray of shape (n_classes,)
            The belief at which it is below the others by most.
        margin : float
            By how much. None in place of both where it is nowhere below all others.

        Examples
        --------
        >>> import numpy as np
        >>> from seqclass.pomdp import TableProblem
        >>> problem = TableProblem([0.5, 0.5], np.array([[[0.9, 0.2], [0.1, 0.8]]]), prices=0.1)
        >>> values = AlphaVectors(problem, [AlphaSet(np.array([[0.2, 0.3], [0.6, 0.7]]))])
        >>> belief, margin = values.dominating_region(2)
        >>> belief.round(3), round(margin, 3), values.dominating_region(3)
        (array([0.5, 0.5]), 0.25, None)
        """
        vectors = self._all_vectors(stage, context)
        check_integer(vector, "vector", 0, len(vectors) - 1)
        return lowest_point(vectors[vector], np.delete(vectors, vector, axis=0))

    def _all_vectors(self, stage: int, context: int) -> FloatArray:
        check_integer(stage, "stage", 0, self.n_stages - 1)
        check_integer(context, "context", 0, self._n_contexts(stage) - 1)
        return np.concatenate([self._stopping_vectors, self.sets[stage].vectors_in(context)])

    @property
    def _stopping_vectors(self) -> FloatArray:
        return np.asarray(self.problem.decision_costs.T)

    @property
    def size(self) -> int:
        """Number of vectors in all stages and contexts, stopping ones left out."""
        return sum(len(s) for s in self.sets)

    def _continuation(self, stage: int, belief: FloatArray, context: IntArray) -> FloatArray:
        return self.sets[stage].best(belief, context, self.sets[stage].precision)[0]

    def plan_cost(self, belief: BeliefState, rows: IntArray) -> FloatArray:
        """Cost of the best vector of going on; see `ValueFunction.plan_cost`."""
        context = context_of(belief)
        context = None if context is None else context[rows]
        return self.sets[belief.stage].value(belief.probabilities[rows], context)

    def _check_stored(self) -> None:
        for stage, one in enumerate(require_list(self, "sets", self.n_stages)):
            fits = isinstance(one, AlphaSet) and one.vectors.shape[1] == self.problem.n_classes
            require(fits, "sets are of other classes")
            known = one.pointer is None or len(one.pointer) == self._n_contexts(stage) + 1
            require(known, "sets are of other contexts")


class SharedVectors(AlphaVectors):
    """Alpha vectors that are read in every context, though each was computed in one: the published approximation.

    The values are no plan's cost, and may be below the optimum; what a policy of theirs costs, its certificate says.

    Y. W. Liyanage, D.-S. Zois and C. Chelmis, "Dynamic instance-wise classification in correlated feature spaces", IEEE
    TAI 2021, section V.
    """

    def plan_cost(self, belief: BeliefState, rows: IntArray) -> FloatArray:
        """Infinite: no plan is known; see `ValueFunction.plan_cost`."""
        return np.full(len(rows), np.inf)


def select(weight: FloatArray, n: int, rng: np.random.Generator) -> tuple[IntArray, FloatArray]:
    """Choose at most ``n`` of the weighted items without repetition, in proportion to weight; heavy ones always stay"""
    if weight.size <= n:
        return np.arange(weight.size), weight
    ascending = np.sort(weight)
    light_sum = np.cumsum(ascending)
    n_heavy = weight.size - 1 - np.arange(weight.size)
    # threshold c with sum(min(1, w / c)) = n: the lightest items share what the heavy ones leave of n
    room = np.maximum(n - n_heavy, 0)
    with np.errstate(divide="ignore"):
        threshold = np.where(room > 0, light_sum / room, np.inf)
    fits = np.flatnonzero(threshold >= ascending)
    c = threshold[fits[-1]]
    keep = weight > c
    light = np.flatnonzero(~keep)
    ticks = np.floor(np.cumsum(weight[light]) / c + rng.random())
    keep[light[np.diff(ticks, prepend=0.0) > 0]] = True
    chosen = np.flatnonzero(keep)
    return chosen, np.maximum(weight[chosen], c)


#: So many stages get their states, however few cases come to them: a policy that is yet to be improved may stop early.
ALWAYS = 16


class BackupPoints(NamedTuple):
    """Beliefs of one stage at which values are backed up.

    Attributes
    ----------
    belief : ndarray of shape (n, n_classes)
        The beliefs.
    context : ndarray of int of shape (n,)
        Context of each; 0 where contexts are shared.
    likelihood : ndarray of shape (n, n_outcomes, n_classes) or None
        What each may see next, where contexts are shared.
    """

    belief: FloatArray
    context: IntArray
    likelihood: FloatArray | None = None


def least_of(
    classes: Any, values: Any, n_vectors: int, rng: np.random.Generator, above: float = 1.0, n_rounds: int = 40
) -> FloatArray:
    """Vectors the least of which is near to values of beliefs, being above weighted more, (n_vectors, n_classes)."""
    centres = classes[rng.choice(len(classes), n_vectors, replace=False)]
    nearest = ((classes[:, None] - centres) ** 2).sum(axis=2).argmin(axis=1)
    vectors: FloatArray = np.full_like(centres, values.mean())
    hold, weight = 0.01 * np.eye(classes.shape[1]), np.ones(len(values))  # holds vectors to where they were
    best, least = vectors, np.inf
    for _ in range(n_rounds):
        for number in np.unique(nearest).tolist():
            members = nearest == number
            weighted = classes[members].T * weight[members]
            square, side = weighted @ classes[members], weighted @ values[members]
            vectors[number] = np.linalg.solve(square + hold, side + hold @ vectors[number])
        every = classes @ vectors.T
        nearest, off = every.argmin(axis=1), values - every.min(axis=1)
        weight = np.where(off < 0, above, 1.0)
        if (error := float(weight @ off**2)) < least:
            best, least = vectors.copy(), error
    return best


def sample_beliefs(
    problem: AcquisitionProblem,
    n_stages: int,
    n_beliefs: int,
    rng: np.random.Generator,
    policy: Policy | None = None,
    *,
    share_contexts: bool = False,
) -> list[BackupPoints]:
    """Beliefs of each stage that the model reaches and where there is something to decide."""
    points: list[BackupPoints] = []
    for belief in sample_states(problem, n_stages, n_beliefs, rng, policy, share_contexts=share_contexts):
        context = None if share_contexts else context_of(belief)
        context = np.zeros(len(belief), dtype=np.intp) if context is None else context
        likelihood = outcome_likelihood(belief) if len(belief) else np.empty((0, 1, problem.n_classes))
        points.append(BackupPoints(belief.probabilities, context, likelihood if share_contexts else None))
    return points


def sample_states(
    problem: AcquisitionProblem,
    n_stages: int,
    n_beliefs: int,
    rng: np.random.Generator,
    policy: Policy | None = None,
    *,
    share_contexts: bool = False,
    merge: bool = True,
    least_reach: float = 0.0,
) -> Iterator[BeliefState]:
    """Belief states of each stage behind the posteriors of `sample_beliefs`."""
    states: list[BeliefState] = []
    reach = 1.0

    def ask(level: Level) -> Fork:
        nonlocal reach
        belief, weight = level.belief, level.weight
        open_: IntArray = np.flatnonzero(~stopping_is_certain(belief))
        if merge:
            open_, weight = _merge_similar(belief, weight, open_, rng, share_contexts)
        else:
            weight = weight[open_]
        reach *= float(weight.sum())
        if reach < least_reach and belief.stage >= ALWAYS:
            open_, weight = open_[:0], weight[:0]
        # the square root: rare beliefs are many, and the bounds suffer where the values have seen none of them
        chosen, root = select(np.sqrt(weight), n_beliefs, rng)
        weight = root**2 / max((root**2).sum(), np.finfo(float).tiny)
        rows = open_[chosen]
        states.append(belief[rows])
        if belief.stage + 1 == n_stages:
            rows = rows[:0]
        elif policy is not None and rows.size:
            on = policy.action(states[-1]) != DECIDE
            rows, weight = rows[on], weight[on]
        return Fork(rows, np.full(rows.size, belief.stage), weight[: rows.size])

    for _ in walk(*initial_histories(problem, None, 1.0), ask) if n_stages else ():
        yield states[-1]
    nothing = np.empty(0, dtype=np.intp)
    for _ in range(len(states), n_stages):
        if merge:  # what is drawn later does not depend on when histories ran out
            _merge_similar(states[-1][nothing], np.empty(0), nothing, rng, share_contexts)
        yield states[-1][nothing]


def _merge_similar(
    belief: BeliefState, weight: FloatArray, rows: IntArray, rng: np.random.Generator, share_contexts: bool
) -> tuple[IntArray, FloatArray]:
    """Of the given rows one for each belief and context, similar ones side by side, and their weights added up."""
    posterior, context = belief.probabilities[rows], context_of(belief)
    place = np.zeros(len(rows)) if context is None else context[rows]
    if share_contexts and len(rows):
        ahead = outcome_likelihood(belief[rows]).reshape(len(rows), -1)
        place = np.round(ahead @ rng.random(ahead.shape[1]), 10)
    # equal beliefs have equal projections on any direction, up to rounding
    order = np.lexsort((np.round(posterior @ rng.random(posterior.shape[1]), 10), place))
    rows, posterior, place, weight = rows[order], posterior[order], place[order], weight[rows[order]]
    # beliefs closer than this, reached by different histories, are the same but for rounding
    same = (np.diff(place) == 0) & (np.abs(np.diff(posterior, axis=0)).max(axis=1, initial=0.0) < 1e-12)
    number = np.cumsum(np.append(True, ~same)[: len(rows)]) - 1
    first = np.flatnonzero(np.diff(number, prepend=-1))
    return rows[first], np.asarray(np.bincount(number, weights=weight), dtype=np.float64)


def back_up_points(
    problem: AcquisitionProblem,
    points: list[BackupPoints],
    terminal: FloatArray,
    tolerance: float,
    rng: np.random.Generator,
) -> AlphaVectors:
    """Back up each stage's beliefs from the last stage to the first."""
    stopping, tables = problem.decision_costs.T, problem.structure.tables
    following = AlphaSet(np.empty((0, problem.n_classes)), everywhere=terminal)
    sets: list[AlphaSet] = []
    for stage in reversed(range(len(points))):
        belief, context, likelihood = points[stage]
        n_contexts, successors = 1, None
        if likelihood is None:
            assert tables is not None  # or else the points bring their likelihoods
            n_contexts = tables.n_contexts(stage)
            likelihood, successors = tables.likelihood(stage, context), tables.successors(stage, context)
        vectors, values = backup(belief, likelihood, following, planned_prices(problem)[stage], successors)
        kept, visits, pointer = [np.empty(0, dtype=np.intp)], rng.permutation(len(belief)), None
        for number in np.unique(context):
            rows = np.flatnonzero(context == number)
            order = np.argsort(np.argsort(visits[rows]))
            kept.append(rows[cover(belief[rows], vectors[rows], values[rows], tolerance, order)])
        chosen = np.concatenate(kept)
        if n_contexts > 1:
            pointer = np.searchsorted(context[chosen], np.arange(n_contexts + 1))
        sets.append(AlphaSet(vectors[chosen], pointer))
        following = AlphaSet(vectors[chosen], pointer, everywhere=stopping)
    shared = any(p.likelihood is not None for p in points)
    return (SharedVectors if shared else AlphaVectors)(problem, sets[::-1])


def quick_values(
    problem: AcquisitionProblem, n_beliefs: int, rng: np.random.Generator, max_stages: int = 512
) -> ValueFunction:
    """Values good enough for a lower bound: two rounds of few beliefs, a second for some tens of stages."""
    if problem.structure.tables is None:
        projection = problem.structure.projection(32)
        if projection is None:
            return StoppingValue(problem)
        return ProjectedValues(problem, projection, quick_values(projection, n_beliefs, rng, max_stages))
    n_stages = min(problem.n_stages, max_stages)
    stopping = problem.decision_costs.T
    points = sample_beliefs(problem, n_stages, n_beliefs, rng)
    values = back_up_points(problem, points, stopping, 0.0, rng)
    again = sample_beliefs(problem, n_stages, n_beliefs, rng, LookaheadPolicy(values))
    return back_up_points(problem, merge_points(points, again), stopping, 0.0, rng)


def merge_points(first: list[BackupPoints], second: list[BackupPoints]) -> list[BackupPoints]:
    """Beliefs of both lists, stage by stage, those that are in both once."""
    result = []
    for a, b in zip(first, second):
        belief = np.concatenate([a.belief, b.belief])
        context = np.concatenate([a.context, b.context])
        key = np.column_stack([np.round(belief, 11), context])
        likelihood = None
        if a.likelihood is not None and b.likelihood is not None:
            both = [part for part in (a.likelihood, b.likelihood) if len(part)]
            likelihood = np.concatenate(both) if both else a.likelihood
            key = np.column_stack([key, np.round(likelihood.reshape(len(belief), -1), 11)])
        kept = np.sort(np.unique(key, axis=0, return_index=True)[1])
        if likelihood is not None:
            likelihood = likelihood[kept]
        result.append(BackupPoints(belief[kept], context[kept], likelihood))
    return result
