"""A free problem as other solvers see it: nodes of what was asked, hidden states, and an absorbing end."""

from __future__ import annotations

import math
from functools import cached_property

import numpy as np

from seqclass._arrays import FloatArray, IntArray
from seqclass._validation import check_integer
from seqclass.pomdp.problem import AcquisitionProblem
from seqclass.pomdp.unrolled.nodes import MAX_STATES, FreeNodes


class FreeLayout:
    """Numbering of nodes in files of a free problem, shared by the writers and the reader; the twin of `Layout`.

    A flat file has one state for each node and hidden state, node by node, and the absorbing end last. Actions ask each
    question, then come the decisions. To ask what is not open costs more than any decision.

    Parameters
    ----------
    problem : AcquisitionProblem
        A free problem.
    n_stages : int, optional
        Most questions asked; by default as the problem has it.

    Examples
    --------
    >>> import numpy as np
    >>> from seqclass.pomdp import TableProblem
    >>> problem = TableProblem([0.5, 0.5], np.array([[[0.9, 0.2], [0.1, 0.8]]] * 2), prices=0.1, free=True)
    >>> layout = FreeLayout(problem)
    >>> layout.n_nodes, layout.names("s"), layout.actions
    (4, ['s', 'sq0', 'sq1', 'sq0q1'], ['ask0', 'ask1'])
    """

    def __init__(self, problem: AcquisitionProblem, n_stages: int | None = None) -> None:
        self.problem = problem
        self.n_stages = problem.n_stages if n_stages is None else check_integer(n_stages, "n_stages", 0)
        if self.n_stages > problem.n_stages:
            raise ValueError(f"n_stages must be at most {problem.n_stages}, the problem's, got {n_stages}.")
        self.nodes = FreeNodes(problem.begin(), self.n_stages, "a file")
        self.first = self.nodes.first
        self.width = self.nodes.n_hidden
        self.costs = self.nodes.costs
        self.actions = [f"ask{question}" for question in range(problem.n_questions)]

    @property
    def n_nodes(self) -> int:
        """Number of nodes, the end left out."""
        return int(self.first[-1])

    @property
    def n_asks(self) -> int:
        """Number of actions before those of the decisions: one a question."""
        return self.problem.n_questions

    @property
    def stage_of(self) -> IntArray:
        """Number of questions asked at each node, (n_nodes,)."""
        return np.repeat(np.arange(self.n_stages + 1), np.diff(self.first))

    @property
    def n_observations(self) -> int:
        """Number of observations: the largest number of outcomes."""
        return int(self.problem.n_outcomes.max(initial=1))

    @property
    def penalty(self) -> float:
        """Cost of asking what is not open: no plan does so."""
        return 2 * float(self.problem.decision_costs.max()) or 1.0

    @cached_property
    def start(self) -> FloatArray:
        """P(hidden state) before anything is asked."""
        return np.asarray(self.nodes.belief(self.nodes.levels[0])[0])

    def hidden_names(self, classes: list[str]) -> list[str]:
        """Names of the hidden states: of their classes, numbered where a class may have several."""
        of = self.nodes.classes.tolist()
        return classes if of == list(range(len(classes))) else [f"{classes[c]}h{i}" for i, c in enumerate(of)]

    def names(self, prefix: str) -> list[str]:
        """Names of the nodes: ``q<question>`` of each that was asked, ``o<outcome>`` where answers matter."""
        limited = self.problem.max_cost is not None
        names: list[str] = []
        for level in self.nodes.levels:
            assert level.seen is not None  # of a free problem it always is
            for number, seen in enumerate(level.seen.tolist()):
                asked = [(question, value) for question, value in enumerate(seen) if value >= 0]
                name = prefix + "".join(f"q{q}" if self.nodes.by_set else f"q{q}o{v}" for q, v in asked)
                # which of a group came first decides what was spent
                names.append(f"{name}p{number}" if limited else name)
        return names

    @cached_property
    def sizes(self) -> IntArray:
        """Number of values of the observed variable of each question: not asked, and asked or each outcome."""
        return 1 + (np.ones_like(self.problem.n_outcomes) if self.nodes.by_set else self.problem.n_outcomes)

    @cached_property
    def flags(self) -> IntArray:
        """Value of the observed variable of each question at each node, (n_nodes, n_questions)."""
        seen = np.concatenate([np.asarray(level.seen) for level in self.nodes.levels]).astype(np.intp)
        return np.where(seen < 0, 0, 1 if self.nodes.by_set else seen + 1)

    @cached_property
    def values(self) -> IntArray:
        """All observed variables of each node as one number, the first one most significant, (n_nodes,)."""
        strides = np.append(np.cumprod(self.sizes[:0:-1])[::-1], 1) if self.sizes.size else self.sizes
        return np.asarray(self.flags @ strides)

    @property
    def n_values(self) -> int:
        """Number of values of all observed variables together: half of them after the end."""
        return 2 * int(math.prod(self.sizes.tolist()))

    def cut_values(self, n_values: int) -> FreeLayout | None:
        """Layout whose observed variables have so many values together: itself, or none."""
        fits = n_values == self.n_values and self._observable
        return self if fits else None

    @property
    def _observable(self) -> bool:
        """Whether the observed variables are not too many, and tell the nodes apart."""
        few = self.n_values * self.width <= MAX_STATES
        return few and np.unique(self.values).size == self.n_nodes

    def check_observed(self) -> None:
        """Refuse what has too many values of its observed variables, or nodes that these do not tell apart.

        Raises
        ------
        ValueError
            The message says how many states there would be, or what to use instead.
        """
        n_states = self.n_values * self.width
        if n_states > MAX_STATES:
            raise ValueError(
                f"a POMDPX file of this free problem would have {n_states:,} states ({self.n_values:,} values of its "
                f"observed variables, {self.width} hidden states), above {MAX_STATES:,}; leave some questions out, or "
                "use write_pomdp, which leaves out what n_stages, max_questions and max_cost exclude."
            )
        if not self._observable:
            raise ValueError(
                "what was spent is no observed variable of a POMDPX file, and here max_cost and groups make it depend "
                "on which question came first; use write_pomdp."
            )

    def cut(self, n_nodes: int) -> FreeLayout | None:
        """Layout of the horizon that has ``n_nodes`` nodes, None if no horizon has."""
        found = np.flatnonzero(self.first[1:] == n_nodes)
        return FreeLayout(self.problem, int(found[-1])) if found.size else None
