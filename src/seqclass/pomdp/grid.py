"""Grid value iteration: ETANA's dynamic program."""

from __future__ import annotations

from typing import Any

import numpy as np

from seqclass._arrays import FloatArray, IntArray, chunks, lower_envelope, row_sums
from seqclass._validation import check_choice, check_integer, check_real
from seqclass.pomdp._simplex import SimplexGrid, grid_size
from seqclass.pomdp.problem import AcquisitionProblem
from seqclass.pomdp.solver import ValueSolver
from seqclass.pomdp.values import ValueFunction

#: Steps along an edge of the simplex by number of classes; see `GridValueIteration`.
_RESOLUTION = {1: 1, 2: 1000, 3: 80, 4: 24}


class GridValueIteration(ValueSolver):
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
    max_stages : int or None
        Longest horizon.
    certificate_paths : int
        Sampled paths of the certificate; 0 leaves it out.
    random_state : int, generator or None
        Seed of the certificate.

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

    def __init__(
        self,
        resolution: int | None = None,
        *,
        interpolation: str = "freudenthal",
        max_bytes: float = 1e9,
        horizon_tolerance: float = 1e-4,
        max_stages: int | None = None,
        certificate_paths: int = 10_000,
        random_state: Any = 0,
    ) -> None:
        self.resolution = resolution
        self.interpolation = interpolation
        self.max_bytes = max_bytes
        self.horizon_tolerance = horizon_tolerance
        self.max_stages = max_stages
        self.certificate_paths = certificate_paths
        self.random_state = random_state

    def _steps(self, problem: AcquisitionProblem) -> int:
        if self.resolution is None:
            return _RESOLUTION.get(problem.n_classes, 10)
        return check_integer(self.resolution, "resolution", 1)

    def _check(self, problem: AcquisitionProblem) -> None:
        check_choice(self.interpolation, "interpolation", ("freudenthal", "nearest"))
        check_real(self.max_bytes, "max_bytes", 0)
        if not problem.has_tables:
            raise ValueError(
                "GridValueIteration needs a problem with tables (a finite number of contexts), and this one has none; "
                "use Steered or a look-ahead policy."
            )

    def _check_memory(self, problem: AcquisitionProblem, n_stages: int) -> None:
        points = grid_size(problem.n_classes, self._steps(problem))
        needed = 8.0 * points * sum(problem.n_contexts(k) for k in range(n_stages))
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

    def _prepare(self, problem: AcquisitionProblem, n_stages: int) -> SimplexGrid:
        self._check_memory(problem, n_stages)
        return SimplexGrid(problem.n_classes, self._steps(problem))

    def _solve(self, problem: AcquisitionProblem, n_stages: int, terminal: FloatArray, prepared: Any) -> ValueFunction:
        values = GridValues(problem, prepared, n_stages, terminal, self.interpolation)
        for stage in reversed(range(n_stages)):
            values.backup(stage)
        values.close()
        return values


class GridValues(ValueFunction):
    """Cost of going on at the points of a grid, for each stage and context.

    Parameters
    ----------
    problem : AcquisitionProblem
        The problem.
    grid : SimplexGrid
        The grid.
    n_stages : int
        Horizon.
    terminal : ndarray of shape (m, n_classes)
        Vectors whose lower envelope is the cost at the horizon.
    interpolation : {"freudenthal", "nearest"}
        How to read between grid points.

    Examples
    --------
    >>> import numpy as np
    >>> from seqclass.pomdp import TableProblem, GridValueIteration
    >>> problem = TableProblem([0.5, 0.5], np.array([[[0.9, 0.2], [0.1, 0.8]]]), prices=0.1)
    >>> values = GridValueIteration(10).solve(problem).values
    >>> values.size, values.value(0, np.array([[0.5, 0.5]]))
    (11, array([0.25]))
    """

    def __init__(
        self,
        problem: AcquisitionProblem,
        grid: SimplexGrid,
        n_stages: int,
        terminal: FloatArray,
        interpolation: str,
    ) -> None:
        super().__init__(problem, n_stages)
        self.grid = grid
        self.interpolation = interpolation
        self.terminal: FloatArray | None = terminal
        self.continuation: list[FloatArray] = [np.empty((0, 0))] * n_stages

    @property
    def size(self) -> int:
        """Number of grid values of all stages and contexts."""
        return sum(table.size for table in self.continuation)

    def value(self, stage: int, belief: FloatArray, context: IntArray | None = None) -> FloatArray:
        """Cost-to-go; see `ValueFunction.value`."""
        if stage == self.n_stages and self.terminal is not None:
            return lower_envelope(belief, self.terminal)
        if stage < self.n_stages and self.interpolation == "nearest":
            return self._read(stage, belief, context)
        return super().value(stage, belief, context)

    def close(self) -> None:
        """Forget the terminal cost: from the horizon on the value is the stopping cost."""
        self.terminal = None

    def backup(self, stage: int) -> None:
        """Fill one stage from the next."""
        points, problem = self.grid.points, self.problem
        n_contexts = problem.n_contexts(stage)
        table = np.full((n_contexts, len(points)), problem.prices[stage])
        row_bytes = 8.0 * 12 * len(points) * problem.n_classes
        for part in chunks(n_contexts, row_bytes):
            context = np.arange(n_contexts)[part] if problem.has_contexts else None
            likelihood = problem.context_likelihood(stage, context)
            successors = problem.successor_contexts(stage, context)
            for v in range(likelihood.shape[1]):
                joint = (likelihood[:, None, v] * points[None]).reshape(-1, problem.n_classes)
                following = None if successors is None else np.repeat(successors[:, v], len(points))
                table[part] += self.value(stage + 1, joint, following).reshape(-1, len(points))
        if self.interpolation == "nearest":
            np.minimum(table, problem.stopping_cost(points), out=table)
        self.continuation[stage] = table

    def _continuation(self, stage: int, belief: FloatArray, context: IntArray | None) -> FloatArray:
        return self._read(stage, belief, context)

    def _read(self, stage: int, belief: FloatArray, context: IntArray | None) -> FloatArray:
        total = row_sums(belief)
        normalised = belief / np.where(total > 0, total, 1.0)[:, None]
        table = self.continuation[stage]
        result = np.empty(len(belief))
        for part in chunks(len(belief), 8.0 * 8 * belief.shape[1], 2**22):
            number = None if context is None else context[part]
            result[part] = self._interpolate(table, normalised[part], number)
        return np.asarray(total * result)

    def _interpolate(self, table: FloatArray, belief: FloatArray, context: IntArray | None) -> FloatArray:
        flat = table.ravel()
        offset = 0 if context is None else context * table.shape[1]
        if self.interpolation == "nearest":
            return np.asarray(flat[self.grid.nearest(belief) + offset])
        return self.grid.interpolate(flat, belief, offset)
