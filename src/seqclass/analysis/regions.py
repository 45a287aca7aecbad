"""Where on the belief simplex a policy stops: found by bisection for two classes, on a mesh for more."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from seqclass._utils.arrays import BoolArray, FloatArray, IntArray
from seqclass._utils.tables import Readable
from seqclass._utils.validation import check_integer, check_real
from seqclass.pomdp import DECIDE, AcquisitionProblem, Policy
from seqclass.pomdp._simplex import SimplexGrid, grid_size
from seqclass.pomdp.names import Names
from seqclass.pomdp.needs import require_fixed_order, require_no_visits
from seqclass.pomdp.policy import as_policy
from seqclass.pomdp.problem import BeliefState, with_component


def one_row(policy: Policy, stage: int, context: int, lot: int) -> BeliefState:
    """A belief state of a stage, the groups of earlier features paid for; its belief is the prior."""
    problem = policy.problem
    begun = problem.initial_belief()
    tables = problem.structure.tables
    state = _state_without_answers(problem, stage) if tables is None else tables.state_in(stage, context)
    if begun.account.groups_paid is not None and problem.groups is not None:
        groups = problem.groups[:stage]
        begun.account.groups_paid[:, groups[groups >= 0]] = True
    lots, probability = policy.initial_belief()
    component = lots.account[np.array([check_integer(lot, "lot", 0, len(probability) - 1)])].component
    return with_component(BeliefState(problem, stage, begun.probabilities, state, begun.account), component)


def _state_without_answers(problem: AcquisitionProblem, stage: int) -> Any:
    state = problem.start(1)
    for earlier in range(stage):
        state = problem.advance(earlier, state, np.full(1, -1))
    return state


def n_contexts(problem: AcquisitionProblem, stage: int) -> int:
    """Number of contexts of a stage; 1 where there are no tables."""
    return 1 if problem.structure.tables is None else problem.structure.tables.n_contexts(stage)


def spread(row: BeliefState, belief: FloatArray) -> BeliefState:
    """The same at any posteriors."""
    rows = np.zeros(len(belief), dtype=np.intp)
    return BeliefState(row.problem, row.stage, belief, row.state[rows], row.account[rows])


@dataclass(frozen=True, repr=False)
class StoppingRegions(Readable):
    """Where a policy stops at one stage, for which decision, and where it goes on.

    Attributes
    ----------
    stage, context : int
        Number of features asked so far, and the context.
    belief : ndarray of shape (n, n_classes)
        A regular mesh of the simplex.
    region : ndarray of int of shape (n,)
        The decision for which the policy stops, or -1 where it goes on.
    edges : ndarray of shape (m,) or None
        For two classes: values of P(second class) at which the region changes, ascending.
    between : ndarray of int of shape (m + 1,) or None
        For two classes: the regions before, between and after the edges.
    names : object or None
        Names of questions, classes and decisions, as `AcquisitionProblem.names` has them.

    Examples
    --------
    >>> import numpy as np
    >>> from seqclass.pomdp import GridValueIteration, TableProblem
    >>> problem = TableProblem([0.5, 0.5], np.array([[[0.9, 0.2], [0.1, 0.8]]]), prices=0.1)
    >>> regions = stopping_regions(GridValueIteration().solve(problem))
    >>> regions.edges.round(4), regions.between
    (array([0.2222, 0.7273]), array([ 0, -1,  1]))
    """

    _columns = ("belief", "region")
    _spread = {"belief": "P({class})"}
    _coded = {"region": "decision"}
    _in_summary = ("stage", "context", "edges", "go_on_share")

    stage: int
    context: int
    belief: FloatArray
    region: IntArray
    edges: FloatArray | None
    between: IntArray | None
    names: Names | None = field(default=None, compare=False)

    @property
    def go_on(self) -> FloatArray:
        """Intervals of P(second class) in which the policy goes on, for two classes, (n_intervals, 2).

        Raises
        ------
        ValueError
            If there are not two classes.
        """
        if self.edges is None or self.between is None:
            raise ValueError(f"intervals exist for two classes, here are {self.belief.shape[1]}; see region.")
        ends = np.concatenate([[0.0], self.edges, [1.0]])
        inside = np.flatnonzero(self.between == DECIDE)
        return np.column_stack([ends[inside], ends[inside + 1]])

    @property
    def go_on_share(self) -> float:
        """Share of the simplex in which the policy goes on."""
        if self.edges is not None:
            return float(np.diff(self.go_on, axis=1).sum())
        return float((self.region == DECIDE).mean())


def stopping_regions(
    policy: Policy,
    stage: int = 0,
    *,
    context: int = 0,
    lot: int = 0,
    resolution: int | None = None,
    tolerance: float = 1e-9,
) -> StoppingRegions:
    """Find where a policy stops and where it goes on, at one stage.

    Parameters
    ----------
    policy : Policy
        The policy, such as ``policy_`` of a fitted classifier.
    stage : int
        Number of features asked so far, below the policy's horizon.
    context : int
        Context at this stage, for problems whose likelihoods depend on what was seen before.
    lot : int
        The lot that was drawn, for a policy that draws one: the position in ``policies`` of a `RandomisedPolicy`.
    resolution : int, optional
        Number of steps of the mesh along an edge of the simplex; by default 1000 for two classes, 100 for three, 20 for
        more.
    tolerance : float
        For two classes: error of the edges, which are found by bisection between neighbouring points of the mesh.

    Returns
    -------
    StoppingRegions

    Raises
    ------
    ValueError
        If stage, context or lot do not exist, or the mesh would have over a million points.

    Notes
    -----
    For two classes, a region is missed only if it lies between two neighbouring points of the mesh, inside another
    region. For the discounts of groups, features of earlier stages count as acquired. A model without tables is asked
    as if all earlier features had been missing: the belief is then all it knows.

    Examples
    --------
    >>> import numpy as np
    >>> from seqclass.pomdp import GridValueIteration, TableProblem
    >>> problem = TableProblem([0.5, 0.5], np.array([[[0.9, 0.2], [0.1, 0.8]]]), prices=0.1)
    >>> stopping_regions(GridValueIteration().solve(problem)).go_on  # 2/9 and 8/11: where the costs are equal
    array([[0.22222222, 0.72727273]])
    """
    problem = _problem_of(policy, "stopping_regions")
    if policy.n_stages < 1:
        raise ValueError("the policy never asks for a feature: its horizon is 0 stages.")
    check_integer(stage, "stage", 0, policy.n_stages - 1)
    check_integer(context, "context", 0, n_contexts(problem, stage) - 1)
    check_real(tolerance, "tolerance", 0, 1)
    if resolution is None:
        resolution = {2: 1000, 3: 100}.get(problem.n_classes, 20)
    check_integer(resolution, "resolution", 1)
    belief = _mesh(problem.n_classes, resolution)
    row = one_row(policy, stage, context, lot)
    region = _region(policy, row, belief)
    if problem.n_classes != 2:
        return StoppingRegions(stage, context, belief, region, None, None, problem.names)
    edges, between = _edges(policy, row, belief[:, 1], region, tolerance)
    return StoppingRegions(stage, context, belief, region, edges, between, problem.names)


@dataclass(frozen=True, repr=False)
class Thresholds(Readable):
    """Where a policy for two classes goes on and stops, at every stage; one row for each interval.

    Attributes
    ----------
    stage : ndarray of int of shape (n,)
        Number of features asked so far, ascending.
    context : ndarray of int of shape (n,)
        Context in which the interval holds; 0 if there is only one.
    lower, upper : ndarray of shape (n,)
        Ends of the interval of P(second class); those of a stage and context cover 0 to 1, ascending.
    region : ndarray of int of shape (n,)
        The decision for which the policy stops there, or -1 where it goes on.
    feature : ndarray of int of shape (n_stages,)
        Feature that each stage asks for.
    names : object or None
        Names of questions, classes and decisions, as `AcquisitionProblem.names` has them.

    Examples
    --------
    >>> import numpy as np
    >>> from seqclass.pomdp import GridValueIteration, TableProblem
    >>> problem = TableProblem([0.5, 0.5], np.array([[[0.9, 0.2], [0.1, 0.8]]] * 2), prices=0.1)
    >>> thresholds(GridValueIteration().solve(problem)).region
    array([ 0, -1,  1,  0, -1,  1])
    """

    _in_summary = ("n_stages", "first_interval")
    _coded = {"region": "decision", "question": "question"}

    stage: IntArray
    context: IntArray
    lower: FloatArray
    upper: FloatArray
    region: IntArray
    feature: IntArray
    names: Names | None = field(default=None, compare=False)

    def _table(self) -> Any:
        columns = {name: getattr(self, name) for name in ("stage", "context", "lower", "upper", "region")}
        return columns | {"question": self.stage}

    @property
    def go_on(self) -> BoolArray:
        """Rows in which the policy goes on, (n,)."""
        return np.asarray(self.region == DECIDE)

    @property
    def first_interval(self) -> tuple[float, float] | None:
        """Least and largest P(second class) at which the first question is asked; None if it never is."""
        rows = self.go_on & (self.stage == 0)
        return (float(self.lower[rows].min()), float(self.upper[rows].max())) if rows.any() else None

    @property
    def n_stages(self) -> int:
        """Number of stages that were looked at."""
        return len(self.feature)


def thresholds(
    policy: Policy, *, max_stages: int | None = None, lot: int = 0, resolution: int = 1000, tolerance: float = 1e-9
) -> Thresholds:
    """Find the intervals in which a policy for two classes goes on and stops, at every stage and in every context.

    Parameters
    ----------
    policy : Policy
        A policy for two classes, such as ``policy_`` of a fitted classifier.
    max_stages : int, optional
        Number of stages to look at; by default all up to the policy's horizon.
    lot, resolution, tolerance
        See `stopping_regions`.

    Returns
    -------
    Thresholds

    Raises
    ------
    ValueError
        If there are not two classes.

    Examples
    --------
    >>> import numpy as np
    >>> from seqclass.pomdp import GridValueIteration, TableProblem
    >>> problem = TableProblem([0.5, 0.5], np.array([[[0.9, 0.2], [0.1, 0.8]]] * 2), prices=0.1)
    >>> found = thresholds(GridValueIteration().solve(problem))
    >>> on = found.go_on  # the first feature may be worth its price for the second one's sake
    >>> found.lower[on].round(3), found.upper[on].round(3)
    (array([0.207, 0.222]), array([0.795, 0.727]))
    """
    problem = _problem_of(policy, "thresholds")
    if problem.n_classes != 2:
        raise ValueError(f"thresholds exist for two classes, here are {problem.n_classes}; see stopping_regions.")
    n_stages = policy.n_stages
    if max_stages is not None:
        n_stages = min(n_stages, check_integer(max_stages, "max_stages", 0))
    rows = []
    for stage in range(n_stages):
        for context in range(n_contexts(problem, stage)):
            here = stopping_regions(policy, stage, context=context, lot=lot, resolution=resolution, tolerance=tolerance)
            if here.edges is not None and here.between is not None:
                ends = [0.0, *here.edges.tolist(), 1.0]
                rows += [(stage, context, *row) for row in zip(ends, ends[1:], here.between.tolist())]
    table = np.array(rows, dtype=np.float64).reshape(-1, 5)
    stages, contexts, regions = (table[:, k].astype(np.intp) for k in (0, 1, 4))
    features = problem.features[:n_stages].copy()
    return Thresholds(stages, contexts, table[:, 2], table[:, 3], regions, features, problem.names)


def _region(policy: Policy, row: BeliefState, belief: FloatArray) -> IntArray:
    go_on: BoolArray = policy.action(spread(row, belief)) != DECIDE
    return np.where(go_on, DECIDE, policy.problem.decide(belief))


def _edges(
    policy: Policy, row: BeliefState, p: FloatArray, region: IntArray, tolerance: float
) -> tuple[FloatArray, IntArray]:
    """Every change of region: bisect towards the end of what holds on the left until nothing is left between."""
    before = np.flatnonzero(np.diff(region))
    low, high, last = p[before], p[before + 1], region[before + 1]
    here = region[before]
    changes: list[tuple[float, int]] = []
    while low.size:
        end, right, there = high.copy(), high.copy(), last.copy()
        while True:
            middle = (low + right) / 2
            wide = (right - low > tolerance) & (middle > low) & (middle < right)
            if not wide.any():
                break
            label = _region(policy, row, np.column_stack([1 - middle, middle]))
            same = label == here
            low = np.where(wide & same, middle, low)
            right = np.where(wide & ~same, middle, right)
            there = np.where(wide & ~same, label, there)
        changes += zip(((low + right) / 2).tolist(), there.tolist())
        more = there != last
        low, high, last, here = right[more], end[more], last[more], there[more]
    changes.sort(key=lambda edge: edge[0])
    edges = np.array([edge for edge, _ in changes], dtype=np.float64)
    return edges, np.array([int(region[0]), *(label for _, label in changes)], dtype=np.intp)


def _mesh(n_classes: int, resolution: int) -> FloatArray:
    """All beliefs whose entries are multiples of ``1 / resolution``, P(last class) ascending."""
    size = grid_size(n_classes, resolution)
    if size > 1_000_000:
        raise ValueError(
            f"a mesh of {resolution} steps over {n_classes} classes has {size:,} points, over 1,000,000; "
            "lower resolution."
        )
    points = SimplexGrid(n_classes, resolution).points
    return np.asarray(points[np.lexsort(points.T)])


def _problem_of(policy: object, caller: str) -> AcquisitionProblem:
    """The problem of a policy that asks in one order."""
    problem = as_policy(policy).problem
    require_fixed_order(problem, caller, "decision_graph, or ValueFunctionDisplay for a picture over beliefs")
    require_no_visits(problem, caller, "decision_graph")
    return problem
