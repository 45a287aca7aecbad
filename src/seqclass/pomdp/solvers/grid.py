"""Grid value iteration: ETANA's dynamic program."""

from __future__ import annotations

import time
from typing import Any

import numpy as np

from seqclass._arrays import FloatArray, chunks
from seqclass._validation import check_choice, check_integer, check_real
from seqclass.pomdp._simplex import SimplexGrid, grid_size
from seqclass.pomdp.needs import needed_tables
from seqclass.pomdp.policy import Policy
from seqclass.pomdp.problem import AcquisitionProblem
from seqclass.pomdp.solvers.base import FIRST_HORIZON, Solver, certified, horizons
from seqclass.pomdp.solvers.grid_program import GridBlock, GridProgram
from seqclass.pomdp.tables import Tables

#: Steps along an edge of the simplex by number of classes; see `GridValueIteration`.
_RESOLUTION = {1: 1, 2: 1000, 3: 80, 4: 24}


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
        first_horizon: int = FIRST_HORIZON,
        max_stages: int | None = None,
        certificate_paths: int = 10_000,
        random_state: Any = 0,
    ) -> None:
        self.resolution = resolution
        self.interpolation = interpolation
        self.max_bytes = max_bytes
        self.horizon_tolerance = horizon_tolerance
        self.first_horizon = first_horizon
        self.max_stages = max_stages
        self.certificate_paths = certificate_paths
        self.random_state = random_state

    def solve(self, problem: AcquisitionProblem) -> Policy:
        """Solve a problem; see `Solver.solve`."""
        started = time.perf_counter()
        check_integer(self.certificate_paths, "certificate_paths", 0)
        (block,) = self.solve_many(problem, np.ones(1))
        policy = block.policy(0).with_info(seconds=time.perf_counter() - started, lower=float("nan"))
        return certified(policy, self.certificate_paths, self.random_state)

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
        check_choice(self.interpolation, "interpolation", ("freudenthal", "nearest"))
        check_real(self.max_bytes, "max_bytes", 0)
        check_real(self.horizon_tolerance, "horizon_tolerance", 0)
        tables = needed_tables(problem, "GridValueIteration", "ProjectedValueIteration or Lookahead")
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
            return _RESOLUTION.get(problem.n_classes, 10)
        return check_integer(self.resolution, "resolution", 1)

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
