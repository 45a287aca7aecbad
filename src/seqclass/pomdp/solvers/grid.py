"""Grid value iteration: ETANA's dynamic program."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import Any

import numpy as np

from seqclass._utils.arrays import CACHE_BYTES, BoolArray, FloatArray, IntArray, chunks
from seqclass._utils.stored import check_numbers, require, require_list, require_part
from seqclass._utils.validation import check_choice
from seqclass.pomdp._simplex import SimplexGrid, grid_size
from seqclass.pomdp.account import planned_prices
from seqclass.pomdp.needs import require_tables
from seqclass.pomdp.one_step import initial_beliefs, perfect_cost
from seqclass.pomdp.policy import LookaheadPolicy, Policy, scale_prices, with_info
from seqclass.pomdp.problem import AcquisitionProblem
from seqclass.pomdp.solve_info import SolveInfo
from seqclass.pomdp.solvers.base import FIRST_HORIZON, Solver, horizons
from seqclass.pomdp.tables import Tables
from seqclass.pomdp.values import ValueFunction

__all__ = ["GridValueIteration", "GridValues"]


class GridValues(ValueFunction):
    """Cost of going on at the points of a grid, (n_contexts, n_points) for each stage.

    With interpolation by "nearest" it is the lower of that and the stopping cost.
    """

    def __init__(
        self, problem: AcquisitionProblem, grid: SimplexGrid, continuation: list[FloatArray], interpolation: str
    ) -> None:
        super().__init__(problem, len(continuation))
        self.grid = grid
        self.interpolation = interpolation
        self.continuation = continuation

    @property
    def size(self) -> int:
        """Number of grid values of all stages and contexts."""
        return sum(table.size for table in self.continuation)

    def value(self, stage: int, belief: FloatArray, context: IntArray | None = None) -> FloatArray:
        """Cost-to-go; see `ValueFunction.value`."""
        if stage < self.n_stages and self.interpolation == "nearest":
            return self._continuation(stage, belief, context)
        return super().value(stage, belief, context)

    def _continuation(self, stage: int, belief: FloatArray, context: IntArray | None) -> FloatArray:
        return self.grid.read(self.continuation[stage].reshape(-1), belief, self.interpolation, context)

    def _check_stored(self) -> None:
        grid = require_part(self, "grid", SimplexGrid)
        require(grid.points.shape[1] == self.problem.n_classes, "grid is of other classes")
        require(self.interpolation in ("freudenthal", "nearest"), "interpolation is wrong")
        for stage, table in enumerate(require_list(self, "continuation", self.n_stages)):
            check_numbers(table, "continuation", self._n_contexts(stage), len(grid.points))


@dataclass(frozen=True, eq=False)
class GridBlock:
    """Values of several multipliers that share a horizon."""

    problem: AcquisitionProblem
    grid: SimplexGrid
    interpolation: str
    columns: IntArray
    multipliers: FloatArray
    tables: list[FloatArray]
    lower: FloatArray
    converged: BoolArray

    @property
    def n_stages(self) -> int:
        """Horizon."""
        return len(self.tables)

    def policy(self, position: int) -> LookaheadPolicy:
        """Policy of one multiplier, on the problem at its prices; its `info` has the grid's own lower bound."""
        problem, n_points = self.problem, len(self.grid.points)
        continuation = [table[:, position].reshape(-1, n_points).copy() for table in self.tables]
        multiplier = float(self.multipliers[position])
        priced = problem if multiplier == 1.0 else scale_prices(problem, multiplier)
        values = GridValues(priced, self.grid, continuation, self.interpolation)
        info = SolveInfo(
            "converged" if self.converged[position] else "truncated",
            n_stages=values.n_stages,
            size=values.size,
            # the interpolated value of a concave function is below it
            lower=float(self.lower[position]) if self.interpolation == "freudenthal" else float("nan"),
        )
        return LookaheadPolicy(values, info)

    def values_after(self, stage: int, belief: FloatArray, context: IntArray, positions: IntArray) -> FloatArray:
        """Value of unnormalised beliefs at a stage for some multipliers, (n, len(positions))."""
        stop = self.problem.stopping_cost(belief)[:, None]
        if stage >= self.n_stages:
            return stop
        table = self.tables[stage]
        table = table if len(positions) == table.shape[1] else table[:, positions]
        read = self.grid.read(table, belief, self.interpolation, context)
        return read if self.interpolation == "nearest" else np.minimum(read, stop, out=read)


class GridProgram:
    """The dynamic program over a horizon, a column a multiplier of the prices."""

    def __init__(
        self, problem: AcquisitionProblem, tables: Tables, grid: SimplexGrid, interpolation: str, n_stages: int
    ) -> None:
        self.problem, self.contexts, self.grid, self.interpolation = problem, tables, grid, interpolation
        self.n_stages = n_stages

    def run(self, columns: IntArray, factor: FloatArray, tolerance: float, last: bool) -> list[GridBlock]:
        """Solve for some multipliers; give those for which the horizon is long enough, or all if it is the last."""
        problem, n = self.problem, len(columns)
        ends = self.n_stages == problem.n_stages
        # with the rest of the features left out, and with perfect knowledge for one more price in their place
        doubled = factor if ends else np.concatenate([factor, factor])
        rest = None if ends else planned_prices(problem)[self.n_stages] * factor
        tables = self._sweep(doubled, rest)
        bounds = self._at_prior(tables, doubled, rest)
        lower = bounds[-n:]
        converged = np.full(n, True) if ends else bounds[:n] - lower <= tolerance * bounds[:n]
        keep = np.flatnonzero(converged | last)
        if not keep.size:
            return []
        if len(keep) < len(doubled):
            tables = [np.ascontiguousarray(table[:, keep]) for table in tables]
        block = GridBlock(
            problem, self.grid, self.interpolation, columns[keep], factor[keep], tables, lower[keep], converged[keep]
        )
        return [block]

    def _at_prior(self, tables: list[FloatArray], factor: FloatArray, rest: FloatArray | None) -> FloatArray:
        belief, weight = initial_beliefs(self.problem)
        bounds: FloatArray = np.broadcast_to(belief.stopping_cost[:, None], (len(belief), len(factor)))
        if self.n_stages:
            context = self.contexts.contexts(0, belief.state)
            read = self.grid.read(tables[0], belief.probabilities, self.interpolation, context)
            return np.asarray(weight @ (read if self.interpolation == "nearest" else np.minimum(read, bounds)))
        if rest is not None:
            known = rest + (belief.probabilities @ perfect_cost(self.problem))[:, None]
            bounds = np.minimum(bounds, np.concatenate([bounds[:, : len(rest)], known], axis=1))
        return np.asarray(weight @ bounds)

    def _sweep(self, factor: FloatArray, rest: FloatArray | None) -> list[FloatArray]:
        """Tables of every stage; the second half of the columns ends in ``rest`` if given."""
        points, problem = self.grid.points, self.problem
        tables: list[FloatArray] = [np.empty((0, 0))] * self.n_stages
        for stage in reversed(range(self.n_stages)):
            n_contexts = self.contexts.n_contexts(stage)
            every = np.arange(n_contexts)
            likelihood, after = self.contexts.likelihood(stage, every), self.contexts.successors(stage, every)
            following = tables[stage + 1] if stage + 1 < self.n_stages else None
            table = np.empty((n_contexts * len(points), len(factor)))
            table[:] = planned_prices(problem)[stage] * factor
            # part of the contexts' points at a time, so that the products stay in the cache
            row_bytes = 8.0 * (len(factor) + 4 * problem.n_classes)
            for part in chunks(len(table), row_bytes, CACHE_BYTES):
                context: Any = 0
                belief = points[part]
                if n_contexts > 1:
                    context, point = np.divmod(np.arange(part.start, part.stop), len(points))
                    belief = points[point]
                for v in range(likelihood.shape[1]):
                    joint = belief * likelihood[context, v]
                    table[part] += self._after(following, joint, after[context, v], rest)
            if self.interpolation == "nearest":
                stop = np.tile(problem.stopping_cost(points), n_contexts)[:, None]
                np.minimum(table, stop, out=table)
            tables[stage] = table
        return tables

    def _after(
        self, following: FloatArray | None, joint: FloatArray, context: Any, rest: FloatArray | None
    ) -> FloatArray:
        stop = self.problem.stopping_cost(joint)[:, None]
        if following is not None:
            read = self.grid.read(following, joint, self.interpolation, context)
            return read if self.interpolation == "nearest" else np.minimum(read, stop, out=read)
        if rest is None:
            return stop
        known = joint.sum(axis=1, keepdims=True) * rest + (joint @ perfect_cost(self.problem))[:, None]
        return np.column_stack([np.repeat(stop, len(rest), axis=1), np.minimum(stop, known)])


@dataclass(repr=False, eq=False)
class GridValueIteration(Solver):
    """Dynamic programming on a grid over the belief simplex, for few classes.

    Parameters
    ----------
    resolution : int or None
        Steps along an edge of the simplex: beliefs are multiples of ``1 / resolution``. None: 1000 for two classes,
        80 for three, 24 for four and 10 beyond.
    interpolation : {"freudenthal", "nearest"}
        How a value between grid points is read: interpolated on the Freudenthal triangulation, which never exceeds the
        true optimum, or at the nearest grid point, as the paper does (with resolution 10).
    max_bytes : float
        Memory the values may take; a larger grid is refused.
    horizon_tolerance : float
        The horizon is doubled until its two bounds differ by less than this share.
    first_horizon : int
        The horizon that is tried first.
    max_stages : int or None
        Longest horizon.
    certificate_paths, random_state
        As in `Solver`.

    References
    ----------
    .. [1] Y. W. Liyanage, D.-S. Zois and C. Chelmis, "On-the-fly joint feature selection and classification",
       eq. (12) and section 3.
    .. [2] W. S. Lovejoy, "Computationally feasible bounds for partially observed Markov decision processes",
       Operations Research 39, 1991.

    Examples
    --------
    >>> import numpy as np
    >>> from seqclass.pomdp import GridValueIteration, TableProblem
    >>> problem = TableProblem([0.5, 0.5], np.array([[[0.9, 0.2], [0.1, 0.8]]]), prices=0.1)
    >>> policy = GridValueIteration(resolution=100).solve(problem)
    >>> policy.info.status, round(policy.info.upper, 3)
    ('converged', 0.25)
    """

    _least = {"resolution": 1, "max_bytes": 0.0, "horizon_tolerance": 0.0, "max_stages": 1, "first_horizon": 1}

    resolution: int | None = None
    _: KW_ONLY
    interpolation: str = "freudenthal"
    max_bytes: float = 1e9
    horizon_tolerance: float = 1e-4
    first_horizon: int = FIRST_HORIZON
    max_stages: int | None = None

    _bounds_with_values = True

    def _check_settings(self) -> None:
        super()._check_settings()
        check_choice(self.interpolation, "interpolation", ("freudenthal", "nearest"))

    def _check(self, problem: AcquisitionProblem) -> None:
        require_tables(problem, "GridValueIteration", "ProjectedValueIteration or Lookahead")

    def _policy(self, problem: AcquisitionProblem) -> Policy:
        (block,) = self._blocks(problem, np.ones(1))
        return with_info(block.policy(0), lower=float("nan"))

    def solve_many(self, problem: AcquisitionProblem, multipliers: FloatArray) -> list[GridBlock]:
        """Solve for several multipliers of the prices at once; each gets what `solve` gives for it alone.

        The successors of grid points do not depend on prices, so one program serves all, a column each.

        Parameters
        ----------
        problem : AcquisitionProblem
            A problem with tables.
        multipliers : ndarray of shape (n_multipliers,)
            Factors of all prices.

        Returns
        -------
        list of GridBlock
            Their columns make up all multipliers.
        """
        self._check_settings()
        self._check(problem)
        return self._blocks(problem, multipliers)

    def _blocks(self, problem: AcquisitionProblem, multipliers: FloatArray) -> list[GridBlock]:
        tables = problem.structure.tables
        assert tables is not None  # it was checked at the door
        blocks: list[GridBlock] = []
        left = np.arange(len(multipliers))
        for n_stages, last in horizons(problem, self.max_stages, self.first_horizon):
            self._check_memory(problem, tables, n_stages)
            grid = SimplexGrid(problem.n_classes, self._steps(problem))
            stages = 8.0 * len(grid.points) * sum(tables.n_contexts(k) for k in range(n_stages))
            for part in chunks(len(left), 2 * stages, int(self.max_bytes)):
                program = GridProgram(problem, tables, grid, self.interpolation, n_stages)
                blocks += program.run(left[part], multipliers[left[part]], self.horizon_tolerance, last)
            left = np.setdiff1d(left, np.concatenate([np.empty(0, dtype=np.intp), *(b.columns for b in blocks)]))
            if not left.size:
                break
        return blocks

    def _steps(self, problem: AcquisitionProblem) -> int:
        if self.resolution is None:
            return {1: 1, 2: 1000, 3: 80, 4: 24}.get(problem.n_classes, 10)
        return self.resolution

    def _check_memory(self, problem: AcquisitionProblem, tables: Tables, n_stages: int) -> None:
        points = grid_size(problem.n_classes, self._steps(problem))
        needed = 8.0 * points * sum(tables.n_contexts(k) for k in range(n_stages))
        if n_stages < problem.n_stages:  # both bounds of the horizon are held
            needed *= 2
        # the points themselves and the interpolation's working arrays
        needed += 8.0 * points * problem.n_classes
        if needed > self.max_bytes:
            raise ValueError(
                f"a grid of resolution {self._steps(problem)} over {problem.n_classes} classes has {points:,} points "
                f"and needs {needed / 1e9:.2g} GB for {n_stages} stages, more than max_bytes={self.max_bytes:.2g}; use "
                "Perseus, or a lower resolution."
            )
