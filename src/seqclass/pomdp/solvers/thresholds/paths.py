"""Simulated trajectories, made once: what any stopping rule costs on them is then a look-up."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from seqclass._arrays import CHUNK_BYTES, FloatArray, IntArray, row_sums
from seqclass.pomdp.answers import SampledAnswers
from seqclass.pomdp.information import TIE, InformationState
from seqclass.pomdp.policy import DECIDE
from seqclass.pomdp.problem import AcquisitionProblem
from seqclass.pomdp.walk import Level, walk

#: Paths are not made fewer than this to save memory.
_FEWEST_PATHS = 100


class SampledPaths:
    """Trajectories of the model over a horizon, along which a stopping rule only chooses where to stop.

    Each distinct history is one *node*; a path is the list of its nodes, from the first stage to where stopping is
    optimal for certain, or to the horizon. Nodes on which paths end are *closed*, and every rule stops there.

    Parameters
    ----------
    problem : AcquisitionProblem
        The problem.
    n_stages : int
        Horizon.
    n_paths : int
        Number of trajectories; fewer are made where a long horizon would need too much memory.
    rng : numpy.random.Generator
        Source of randomness.

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

    Examples
    --------
    >>> import numpy as np
    >>> from seqclass.pomdp import TableProblem
    >>> problem = TableProblem([0.5, 0.5], np.array([[[0.9, 0.2], [0.1, 0.8]]] * 2), prices=0.02)
    >>> paths = SampledPaths(problem, 2, 1000, np.random.default_rng(0))
    >>> paths.stage, paths.path
    (array([0, 1, 1, 2, 2, 2, 2]), array([0, 0, 0, 1, 1, 1, 2, 2, 2, 3, 3, 3]))
    """

    def __init__(self, problem: AcquisitionProblem, n_stages: int, n_paths: int, rng: np.random.Generator) -> None:
        self.problem, self.n_stages = problem, n_stages
        # a node keeps its belief and some ten numbers
        fits = CHUNK_BYTES // (8 * (problem.n_classes + 10) * (n_stages + 1))
        self.n_paths = min(n_paths, max(_FEWEST_PATHS, fits))
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
            info = level.info
            closed = info.settled | (info.stage >= self.n_stages)
            on = np.flatnonzero(~closed)
            next_cost = np.zeros(len(info))
            next_cost[on] = _next_cost(info[on]) if on.size else 0.0
            parent = n_nodes[0] + level.parent if levels else np.array([-1])
            stage = np.full(len(info), info.stage)
            levels.append((info.belief, info.stopping_cost, info.spent, next_cost, level.weight, closed, parent, stage))
            n_nodes[:] = n_nodes[1], n_nodes[1] + len(info)
            return np.where(closed, DECIDE, info.stage)

        for _ in walk(self.problem.begin(), np.array([float(self.n_paths)]), ask, SampledAnswers(rng)):
            pass
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
        """Step at which each distinct path stops under linear thresholds, (n_distinct_paths,).

        Parameters
        ----------
        thresholds : ndarray of shape (n_stages, n_decisions, n_classes)
            See `LinearThresholdPolicy`; every path stops after their last stage.

        Returns
        -------
        ndarray of int
        """
        return self._first(thresholds.reshape(-1, self.problem.n_classes), self.block)

    def stops_one(self, thresholds: FloatArray) -> IntArray:
        """Step at which each path stops under one threshold a stage, (n_stages, n_classes), whatever is cheapest."""
        return self._first(thresholds, self.stage)

    def _first(self, vectors: FloatArray, number: IntArray) -> IntArray:
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

    def met(self, stops: IntArray) -> IntArray:
        """Steps on the way to ``stops``, the stop itself included."""
        return np.flatnonzero(self._number <= stops[self.path])

    def by_block(self, steps: IntArray, amount: FloatArray, n_stages: int) -> FloatArray:
        """Sum of ``weight * amount`` of the paths that the steps belong to, by stage and decision of each step.

        Parameters
        ----------
        steps : ndarray of int
            Steps, as of `met`.
        amount : ndarray of shape (n_distinct_paths,)
            What each path brings.
        n_stages : int
            Stages to report.

        Returns
        -------
        ndarray of shape (n_stages, n_decisions)
        """
        n_decisions = self.problem.n_decisions
        size = max(n_stages, self.n_stages + 1) * n_decisions
        total = np.bincount(self.step_block[steps], (self.weight * amount)[self.path[steps]], size)
        return np.asarray(total.reshape(-1, n_decisions)[:n_stages])


def _next_cost(info: InformationState) -> FloatArray:
    return row_sums(info.problem.stopping_cost(info.joint))
