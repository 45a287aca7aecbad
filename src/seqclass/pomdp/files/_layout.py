"""The staged problem as other solvers see it: one node a stage and context, the classes, and an absorbing end."""

from __future__ import annotations

import numpy as np

from seqclass._arrays import FloatArray, IntArray
from seqclass._validation import check_integer
from seqclass.pomdp.needs import needed_tables
from seqclass.pomdp.problem import AcquisitionProblem


class Layout:
    """Numbering of stages and contexts in files, shared by the writers and the reader.

    A *node* is what is fully known along the way: the stage, and where the problem has several contexts the context
    and the outcome that led to it, without which the outcome's probability would not follow from the new state.
    A flat file has one state for each node and class, node by node, and the absorbing end last; a staged file has one
    value of the observed variable for each node, and the end last. Action 0 buys the next feature, action ``j + 1`` is
    decision ``j``. At the last stage nothing is left to buy: doing so costs more than any decision.

    Parameters
    ----------
    problem : AcquisitionProblem
        A problem with tables.
    n_stages : int, optional
        Horizon; by default all stages.

    Attributes
    ----------
    branching : bool
        Whether there are several contexts.
    contexts, outcomes : list of ndarray of int of shape (n_nodes of the stage,)
        Context of each node and outcome that led to it (-1 at the start), for the stages ``0..n_stages``.
    first : ndarray of int of shape (n_stages + 2,)
        Number of the first node of each stage; the last entry is the number of nodes.

    Examples
    --------
    >>> import numpy as np
    >>> from seqclass.pomdp import TableProblem
    >>> problem = TableProblem([0.5, 0.5], np.array([[[0.9, 0.2], [0.1, 0.8]]]), prices=0.1)
    >>> layout = Layout(problem)
    >>> layout.n_nodes, layout.names("s"), layout.penalty
    (2, ['s0', 's1'], 2.0)
    """

    def __init__(self, problem: AcquisitionProblem, n_stages: int | None = None) -> None:
        self.tables = needed_tables(problem, "a file", "a problem such as naive Bayes gives, or a TableProblem")
        self.problem = problem
        self.n_stages = problem.n_stages if n_stages is None else check_integer(n_stages, "n_stages", 0)
        if self.n_stages > problem.n_stages:
            raise ValueError(f"n_stages must be at most {problem.n_stages}, the problem's, got {n_stages}.")
        # of the whole problem, so that a shorter horizon has the same nodes
        self.branching = not self.tables.single
        self.contexts: list[IntArray] = [np.array(self.tables.contexts(0, problem.start(1)))]
        self.outcomes: list[IntArray] = [np.full(1, -1)]
        self.moves: list[IntArray] = []
        for stage in range(self.n_stages):
            self._add_stage(stage)
        self.first: IntArray = np.array([0, *np.cumsum([len(c) for c in self.contexts])])

    def _add_stage(self, stage: int) -> None:
        likelihood = self.likelihood(stage)
        width = likelihood.shape[1]
        if not self.branching:
            self.contexts.append(np.zeros(1, dtype=np.intp))
            self.outcomes.append(np.full(1, -1))
            self.moves.append(np.zeros((1, width), dtype=np.intp))
            return
        following: IntArray = np.zeros(likelihood.shape[:2], dtype=np.intp)
        if stage + 1 < self.n_stages:  # nothing looks at the context of the last stage
            following = self.tables.successors(stage, self.contexts[stage])
        keys = following * width + np.arange(width)
        possible = likelihood.any(axis=2)
        present = np.unique(keys[possible])
        self.contexts.append(present // width)
        self.outcomes.append(present % width)
        self.moves.append(np.where(possible, np.searchsorted(present, keys), -1))

    def likelihood(self, stage: int) -> FloatArray:
        """P(outcome | node, class) of each node of a stage, (n_nodes, n_outcomes, n_classes)."""
        table = self.tables.likelihood(stage, self.contexts[stage])
        # nodes of one context differ in the outcome that led there
        return np.broadcast_to(table, (len(self.contexts[stage]), *table.shape[1:]))

    @property
    def width(self) -> int:
        """Number of hidden states: the classes."""
        return self.problem.n_classes

    @property
    def costs(self) -> FloatArray:
        """Cost of each decision by hidden state, (width, n_decisions)."""
        return self.problem.decision_costs

    @property
    def n_asks(self) -> int:
        """Number of actions before those of the decisions: one buys the next feature."""
        return 1

    @property
    def values(self) -> IntArray:
        """Value of the observed variable of each node in a staged file, (n_nodes,)."""
        return np.arange(self.n_nodes)

    @property
    def n_values(self) -> int:
        """Number of values of the observed variable: one more than nodes, for the end."""
        return self.n_nodes + 1

    @property
    def n_nodes(self) -> int:
        """Number of nodes, the end left out."""
        return int(self.first[-1])

    @property
    def stage_of(self) -> IntArray:
        """Stage of each node, (n_nodes,)."""
        return np.repeat(np.arange(self.n_stages + 1), np.diff(self.first))

    @property
    def n_observations(self) -> int:
        """Number of observations: the largest number of outcomes."""
        return int(self.problem.n_outcomes[: self.n_stages].max(initial=1))

    @property
    def penalty(self) -> float:
        """Cost of buying where nothing is left: no plan does so."""
        return 2 * float(self.problem.decision_costs.max()) or 1.0

    def names(self, prefix: str) -> list[str]:
        """Names of the nodes: prefix and stage, with ``x<context>o<outcome>`` where there are several contexts."""
        if not self.branching:
            return [f"{prefix}{k}" for k in range(self.n_stages + 1)]
        rest = [list(zip(x.tolist(), o.tolist())) for x, o in zip(self.contexts[1:], self.outcomes[1:])]
        return [f"{prefix}0"] + [f"{prefix}{k}x{x}o{o}" for k, stage in enumerate(rest, 1) for x, o in stage]

    def cut(self, n_nodes: int) -> Layout | None:
        """Layout of the horizon that has ``n_nodes`` nodes, None if no horizon has."""
        for n_stages in range(self.n_stages + 1):
            # only the outcome tells the nodes of a last stage apart
            last = len(np.unique(self.outcomes[n_stages]))
            if self.first[n_stages] + last == n_nodes:
                return Layout(self.problem, n_stages)
        return None

    def cut_values(self, n_values: int) -> Layout | None:
        """Layout of the horizon whose observed variable has so many values, None if no horizon has."""
        return self.cut(n_values - 1)
