"""The staged problem as other solvers see it: one node a stage and context, the classes, and an absorbing end."""

from __future__ import annotations

import math
import os
import re
import unicodedata
from collections.abc import Iterable, Sequence
from functools import cached_property
from typing import Any

import numpy as np

from seqclass._utils.arrays import FloatArray, IntArray
from seqclass._utils.files import replace_file
from seqclass._utils.validation import check_integer, check_real
from seqclass.pomdp.account import planned_prices
from seqclass.pomdp.alpha import AlphaSet, AlphaVectors
from seqclass.pomdp.needs import require_no_visits, require_one_start, require_tables
from seqclass.pomdp.policy import LookaheadPolicy
from seqclass.pomdp.problem import AcquisitionProblem
from seqclass.pomdp.solve_info import SolveInfo
from seqclass.pomdp.unrolled import MAX_STATES, FreeNodes, NodePolicy, Nodes, NodeVectors, StageNodes

#: The action that buys the next feature; action 0 in files of a fixed order.
ACQUIRE = "acq"
#: The absorbing state, the last of every file.
END = "end"


def labels(names: Sequence[Any] | None, n: int, parameter: str, prefix: str) -> list[str]:
    """Names that parsers accept: letters, digits and underscores only, all different."""
    if names is None:
        return [f"{prefix}{i}" for i in range(n)]
    if isinstance(names, str) or len(names) != n:
        raise ValueError(f"{parameter} must be a list of {n} names, got {names!r}.")
    result: list[str] = []
    for i, name in enumerate(names):
        folded = unicodedata.normalize("NFKD", str(name)).replace("\N{GREEK SMALL LETTER MU}", "u")
        plain = re.sub(r"[^0-9A-Za-z]+", "_", folded.encode("ascii", "ignore").decode()).strip("_") or str(i)
        first = candidate = f"{prefix}_{plain}" if prefix else plain
        copies = 0
        while candidate in result:
            copies += 1
            candidate = f"{first}_{copies}"
        result.append(candidate)
    return result


def number(value: float) -> str:
    """Shortest decimal that reads back as the same float; the formats know no exponents and want a decimal point."""
    return np.format_float_positional(value + 0.0, trim="0")


def write_lines(path: str | os.PathLike[str], lines: Iterable[str]) -> None:
    r"""Write a text file, whole or not at all: a failure leaves what was there as it was."""
    with replace_file(path) as temporary, open(temporary, "w", encoding="ascii", newline="\n") as file:
        file.writelines(line + "\n" for line in lines)


#: Beyond this the costs of the first stage drown in the rounding of the last one's.
_LARGEST = 1e9


def check_discount(discount: float, n_stages: int) -> float:
    """Return the discount if it is in (0, 1] and can be undone over ``n_stages``."""
    value = check_real(discount, "discount", 0.0, 1.0)
    if value == 0 or -n_stages * np.log(value) > np.log(_LARGEST):
        raise ValueError(
            f"discount must be closer to 1, got {discount:g}: costs are multiplied by discount**-stage, which exceeds "
            f"{_LARGEST:g} over {n_stages} stages."
        )
    return value


def scale(discount: float, n_stages: int) -> FloatArray:
    """Factor of the costs of each stage ``0..n_stages``, (n_stages + 1,)."""
    return np.asarray(np.power(discount, -np.arange(n_stages + 1.0)))


class _Numbered:
    """Numbering of nodes in files, shared by the writers and the reader."""

    nodes: Nodes
    #: Names of the actions before those of the decisions: of each question, or of buying the next feature.
    actions: list[str]
    #: P(class, or hidden state) before anything is asked.
    start: FloatArray

    def __init__(self, problem: AcquisitionProblem, n_stages: int | None) -> None:
        require_one_start(problem, "a file")
        require_no_visits(problem, "a file")
        self.problem = problem
        self.n_stages = problem.n_stages if n_stages is None else check_integer(n_stages, "n_stages", 0)
        if self.n_stages > problem.n_stages:
            raise ValueError(f"n_stages must be at most {problem.n_stages}, the problem's, got {n_stages}.")

    @property
    def n_nodes(self) -> int:
        return int(self.nodes.first[-1])

    @property
    def stage_of(self) -> IntArray:
        """Number of questions asked at each node, (n_nodes,)."""
        return np.repeat(np.arange(self.n_stages + 1), np.diff(self.nodes.first))

    @property
    def penalty(self) -> float:
        """Cost of asking what is not open: no plan does so."""
        return 2 * float(self.problem.decision_costs.max()) or 1.0

    @property
    def ask_costs(self) -> FloatArray:
        """What each question costs at each node, (n_nodes, n_questions)."""
        prices = np.concatenate(self.nodes.prices)
        return np.where(np.isfinite(prices), prices, self.penalty)

    def state_names_of(self, classes: list[str]) -> list[str]:
        """Names of the hidden states: of their classes, numbered where a class may have several."""
        of = self.nodes.classes.tolist()
        return classes if of == list(range(len(classes))) else [f"{classes[c]}h{i}" for i, c in enumerate(of)]


class FreeLayout(_Numbered):
    """Numbering of nodes in files of a problem in any order; the twin of `StageLayout`."""

    nodes: FreeNodes

    def __init__(self, problem: AcquisitionProblem, n_stages: int | None = None) -> None:
        super().__init__(problem, n_stages)
        self.nodes = FreeNodes(problem.initial_belief(), self.n_stages, "a file")
        self.start = self.nodes.belief(self.nodes.levels[0])[0]
        self.actions = [f"ask{question}" for question in range(problem.n_questions)]

    def names(self, prefix: str) -> list[str]:
        """Names of the nodes: ``q<question>`` of each that was asked, ``o<outcome>`` where answers matter."""
        limited = self.problem.limits.max_cost is not None
        names: list[str] = []
        for level in range(self.n_stages + 1):
            for number, seen in enumerate(self.nodes.outcomes_at(level).tolist()):
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
        seen = np.concatenate([self.nodes.outcomes_at(level) for level in range(self.n_stages + 1)]).astype(np.intp)
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
        return self if n_values == self.n_values and self._observable else None

    @property
    def _observable(self) -> bool:
        """Whether the observed variables are not too many, and tell the nodes apart."""
        few = self.n_values * self.nodes.n_hidden <= MAX_STATES
        return few and np.unique(self.values).size == self.n_nodes

    def check_observed(self) -> None:
        """Refuse what has too many values of its observed variables, or nodes that these do not tell apart."""
        n_states = self.n_values * self.nodes.n_hidden
        if n_states > MAX_STATES:
            raise ValueError(
                f"a POMDPX file of this free problem would have {n_states:,} states ({self.n_values:,} values of its "
                f"observed variables, {self.nodes.n_hidden} hidden states), above {MAX_STATES:,}; leave some questions "
                "out, or write a .pomdp file, which leaves out what n_stages, max_questions and max_cost exclude."
            )
        if not self._observable:
            raise ValueError(
                "what was spent is no observed variable of a POMDPX file, and here max_cost and groups make it depend "
                "on which question came first; write a .pomdp file."
            )

    def cut(self, n_nodes: int) -> FreeLayout | None:
        """Layout of the horizon that has ``n_nodes`` nodes, None if no horizon has."""
        horizon = np.flatnonzero(self.nodes.first[1:] == n_nodes)
        return FreeLayout(self.problem, int(horizon[-1])) if horizon.size else None

    def groups(self, stage: int) -> tuple[IntArray, int]:
        """Of each node of a stage the group that shares its vectors, and how many there are: each is by itself."""
        n = len(self.nodes.prices[stage])
        return np.arange(n), n

    def policy(self, sets: list[AlphaSet], info: SolveInfo) -> LookaheadPolicy:
        """Look-ahead on vectors of going on, by stage and group."""
        return NodePolicy(NodeVectors(self.nodes, sets), info)


class StageLayout(_Numbered):
    """Numbering of stages and contexts in files."""

    nodes: StageNodes
    actions = [ACQUIRE]

    def __init__(self, problem: AcquisitionProblem, n_stages: int | None = None) -> None:
        super().__init__(problem, n_stages)
        tables = require_tables(problem, "a file", "a problem such as naive Bayes gives, or a TableProblem")
        self.start, context = problem.prior, int(tables.contexts(0, problem.start(1))[0])
        self.nodes = StageNodes(problem, tables, 0, context, planned_prices(problem)[: self.n_stages])

    @property
    def values(self) -> IntArray:
        """Value of the observed variable of each node in a staged file, (n_nodes,)."""
        return np.arange(self.n_nodes)

    @property
    def n_values(self) -> int:
        """Number of values of the observed variable: one more than nodes, for the end."""
        return self.n_nodes + 1

    def names(self, prefix: str) -> list[str]:
        """Names of the nodes: prefix and stage, with ``x<context>o<outcome>`` where there are several contexts."""
        if self.nodes.by_set:
            return [f"{prefix}{k}" for k in range(self.n_stages + 1)]
        rest = [list(zip(x.tolist(), o.tolist())) for x, o in zip(self.nodes.contexts[1:], self.nodes.outcomes[1:])]
        return [f"{prefix}0"] + [f"{prefix}{k}x{x}o{o}" for k, stage in enumerate(rest, 1) for x, o in stage]

    def cut(self, n_nodes: int) -> StageLayout | None:
        """Layout of the horizon that has ``n_nodes`` nodes, None if no horizon has."""
        for n_stages in range(self.n_stages + 1):
            # only the outcome tells the nodes of a last stage apart
            last = len(np.unique(self.nodes.outcomes[n_stages]))
            if self.nodes.first[n_stages] + last == n_nodes:
                return StageLayout(self.problem, n_stages)
        return None

    def cut_values(self, n_values: int) -> StageLayout | None:
        """Layout of the horizon whose observed variable has so many values, None if no horizon has."""
        return self.cut(n_values - 1)

    def groups(self, stage: int) -> tuple[IntArray, int]:
        """Of each node of a stage the context, whose vectors they share, and how many there are."""
        return self.nodes.contexts[stage], self.nodes.tables.n_contexts(stage)

    def policy(self, sets: list[AlphaSet], info: SolveInfo) -> LookaheadPolicy:
        """Look-ahead on vectors of going on, by stage and context."""
        return LookaheadPolicy(AlphaVectors(self.problem, sets), info)


Layout = FreeLayout | StageLayout


def layout_of(problem: AcquisitionProblem, n_stages: int | None = None) -> Layout:
    """The nodes of a problem as files number them."""
    return FreeLayout(problem, n_stages) if problem.any_order else StageLayout(problem, n_stages)
