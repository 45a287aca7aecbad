"""All that may be known along the way of a small problem, beside what is hidden: one node each."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from functools import cached_property

import numpy as np
import numpy.typing as npt

from seqclass._utils.arrays import BoolArray, FloatArray, IntArray, lower_envelope
from seqclass.pomdp.alpha import AlphaSet, AlphaVectors
from seqclass.pomdp.bounds.optimum import ask_once, evidence, open_questions
from seqclass.pomdp.one_step import latent_posterior, remaining_questions, row_parts
from seqclass.pomdp.policy import LeastCostPolicy, LookaheadPolicy
from seqclass.pomdp.problem import (
    OPEN,
    AcquisitionProblem,
    BeliefState,
    has_requirements,
    observations,
    outcome_likelihood,
    set_question,
)
from seqclass.pomdp.tables import Tables

#: Most states: nodes times hidden states.
MAX_STATES = 20_000


class Nodes(ABC):
    """What may be known after each number of questions, as far as prices, open questions and likelihoods need it.

    Attributes
    ----------
    stage : int
        Number of questions asked at the first level.
    by_set : bool
        Whether a node is the set of questions asked, and does not tell what they showed.
    classes : ndarray of int of shape (n_hidden,)
        Class of each hidden state; without hidden states, the classes.
    prices : list of ndarray of shape (n_nodes, n_questions)
        Price of each question at the nodes of each level, inf where it is not open, or too many were asked. In a fixed
        order there is one question, that of the stage.
    following : list of ndarray of int of shape (n_nodes, n_questions, n_outcomes or 1)
        Node of the next level after each outcome, -1 where it cannot be.
    """

    problem: AcquisitionProblem
    stage: int
    by_set: bool
    classes: IntArray
    prices: list[FloatArray]
    following: list[IntArray]
    #: Most outcomes of any question.
    n_outcomes: int

    @abstractmethod
    def table(self, question: int, level: int, node: int | None = None) -> FloatArray:
        """P(outcome of a question | node, hidden state), (n_nodes, n_outcomes, n_hidden), or one row, of a node."""

    @abstractmethod
    def outcomes_at(self, level: int) -> IntArray:
        """What each question has shown, (n_nodes, n_questions), -1 where it was not asked last, or not at all."""

    @abstractmethod
    def coordinates(self, level: int, hidden: int, node: int) -> tuple[str, int, int]:
        """What a hidden state at a node is called, the context, and the outcome that led there, -1 if it is all one."""

    @property
    @abstractmethod
    def possible(self) -> list[BoolArray]:
        """Whether each hidden state can be at each node, (n_nodes, n_hidden), by levels."""

    def outcome_table(self, question: int, level: int) -> FloatArray:
        """P(outcome | hidden state), (n_outcomes, n_hidden), of a question that was asked, where nodes do not tell."""
        return np.asarray(self.table(question, level - 1, 0)[0])  # a fixed order asked it one level before

    @property
    def n_hidden(self) -> int:
        """Number of hidden states: of classes where there are no others."""
        return int(self.classes.size)

    @cached_property
    def costs(self) -> FloatArray:
        """Cost of each decision by hidden state, (n_hidden, n_decisions)."""
        return np.asarray(self.problem.decision_costs[self.classes])

    @cached_property
    def first(self) -> IntArray:
        """Number of the first node of each level; the last entry is the number of nodes."""
        return np.array([0, *np.cumsum([len(prices) for prices in self.prices])])


class StageNodes(Nodes):
    """Nodes of a fixed order: the contexts of each stage, and where these are several the outcome that led there.

    Attributes
    ----------
    contexts, outcomes : list of ndarray of int of shape (n_nodes,)
        Context of each node, and the outcome that led there; -1 where none did, or it makes no difference.
    """

    def __init__(
        self, problem: AcquisitionProblem, tables: Tables, stage: int, context: int, prices: FloatArray
    ) -> None:
        self.problem, self.tables, self.stage, self.by_set = problem, tables, stage, tables.single
        self.classes = np.arange(problem.n_classes)
        self.n_outcomes = int(problem.n_outcomes[stage : stage + len(prices)].max(initial=1))
        self.contexts: list[IntArray] = [np.array([context])]
        self.outcomes: list[IntArray] = [np.full(1, -1)]
        self.following = []
        for level in range(len(prices)):
            self._add_level(level, level + 1 == len(prices))
        self.prices = [np.full((len(c), 1), price) for c, price in zip(self.contexts, [*prices, np.inf])]

    def _add_level(self, level: int, last: bool) -> None:
        if self.by_set:
            self.contexts.append(np.zeros(1, dtype=np.intp))
            self.outcomes.append(np.full(1, -1))
            self.following.append(np.zeros((1, 1, 1), dtype=np.intp))
            return
        table = self.table(0, level)
        following: IntArray = np.zeros(table.shape[:2], dtype=np.intp)
        if not last:  # nothing looks at the context of the last stage
            following = self.tables.successors(self.stage + level, self.contexts[level])
        width, possible = table.shape[1], table.any(axis=2)
        keys = following * width + np.arange(width)
        present = np.unique(keys[possible])
        self.contexts.append(present // width)
        self.outcomes.append(present % width)
        self.following.append(np.where(possible, np.searchsorted(present, keys), -1)[:, None])

    def table(self, question: int, level: int, node: int | None = None) -> FloatArray:
        """P(outcome of the stage's question | context, class); see `Nodes.table`."""
        context = self.contexts[level] if node is None else self.contexts[level][node : node + 1]
        table = self.tables.likelihood(self.stage + level, context)
        # nodes of one context differ in the outcome that led there
        return np.broadcast_to(table, (len(context), *table.shape[1:]))

    def outcomes_at(self, level: int) -> IntArray:
        """What led to each node; see `Nodes.outcomes_at`."""
        return np.zeros((1, 1), dtype=np.intp) if self.by_set and level else self.outcomes[level][:, None]

    def coordinates(self, level: int, hidden: int, node: int) -> tuple[str, int, int]:
        """Class, context and outcome; see `Nodes.coordinates`."""
        context, outcome = int(self.contexts[level][node]), int(self.outcomes[level][node])
        several = "" if self.by_set else f"_x{context}" + (f"_o{outcome}" if outcome >= 0 else "")
        return f"_c{hidden}{several}", context, outcome

    @property
    def possible(self) -> list[BoolArray]:
        """Whether each class can be at each node: any can; see `Nodes.possible`."""
        return [np.ones((len(context), self.n_hidden), dtype=bool) for context in self.contexts]


class FreeNodes(Nodes):
    """Nodes of a problem in any order: the sets of questions asked, or where that matters of what they showed.

    Attributes
    ----------
    levels : list of BeliefState
        A row for each node after so many questions; where nodes are sets, one of those who asked them.
    """

    def __init__(self, belief: BeliefState, n_more: int, who: str, max_states: int = MAX_STATES) -> None:
        problem = self.problem = belief.problem
        if problem.structure.samples:
            raise ValueError(f"{who} needs every outcome, and bundles of this problem have too many to list them.")
        if has_requirements(problem):
            raise ValueError(
                f"{who} may decide at any time, and rules say here what has to be asked first: drop those."
            )
        self.who, self.max_states, self.stage = who, max_states, belief.stage
        self.n_outcomes = int(problem.n_outcomes.max(initial=1))
        states = problem.structure.state_tables
        self._tables: FloatArray | None = None if states is None else states[0]
        self.classes = np.arange(problem.n_classes) if states is None else states[1]
        self.by_set = self._tables is not None and not problem.structure.gates.any()
        self._check_size(most_nodes(problem, belief, n_more, self.by_set) if problem.limits.max_cost is None else 0)
        self.levels: list[BeliefState] = [belief]
        self.prices, self.following = [], []
        for _ in range(n_more):
            self._add_level()
        self.prices.append(np.full((len(self.levels[-1]), problem.n_questions), np.inf))

    def _add_level(self) -> None:
        here, n_questions = self.levels[-1], self.problem.n_questions
        self.prices.append(np.where(here.available, here.prices, np.inf))
        row, question = open_questions(here, np.ones(len(here), dtype=bool))
        width = 1 if self.by_set else self.n_outcomes
        following = np.full((len(here), n_questions, width), -1)
        if not row.size:  # what is left is beyond the budget
            self.following.append(following)
            self.levels.append(here[row])
            return
        after = ask_once(here, row, question)
        _, kept, place = np.unique(self._keys(after.belief), return_index=True, return_inverse=True)
        # in the order of the questions, not of the keys
        order = np.argsort(kept)
        place = np.argsort(order)[place.reshape(-1)]
        asked = question[after.entry]
        following[row[after.entry], asked, 0 if self.by_set else after.outcome] = place
        self.following.append(following)
        self.levels.append(after.belief[kept[order]])
        self._check_size(sum(map(len, self.levels)))

    def _check_size(self, n_nodes: int) -> None:
        n_states = n_nodes * self.n_hidden + 1
        if n_states > self.max_states:
            what = "was asked" if self.by_set else "was asked and answered"
            raise ValueError(
                f"{self.who} of this free problem would have {n_states:,} states or more ({n_nodes:,} of what {what}, "
                f"times {self.n_hidden} hidden ones), above {self.max_states:,}; ask fewer questions of it (n_stages, "
                "max_questions), or leave some out."
            )

    def _keys(self, belief: BeliefState) -> npt.NDArray[np.bytes_]:
        if not self.by_set:
            return evidence(belief)
        seen = observations(belief)
        return evidence(belief, seen=np.where(seen == OPEN, seen, 0).astype(seen.dtype))

    def table(self, question: int, level: int, node: int | None = None) -> FloatArray:
        """P(outcome of a question | node, hidden state); see `Nodes.table`."""
        belief = self.levels[level] if node is None else self.levels[level][np.array([node])]
        table = self.likelihood(question, belief)
        return np.broadcast_to(table, (len(belief), *table.shape[1:]))

    def outcomes_at(self, level: int) -> IntArray:
        """What each question has shown; see `Nodes.outcomes_at`."""
        return observations(self.levels[level])

    def coordinates(self, level: int, hidden: int, node: int) -> tuple[str, int, int]:
        """Node, class and, where these are several, hidden state; see `Nodes.coordinates`."""
        several = f"h{hidden}" if self.n_hidden > self.problem.n_classes else ""
        return f"_n{node}_c{self.classes[hidden]}{several}", node, -1

    def belief(self, belief: BeliefState) -> FloatArray:
        """P(hidden state | what was seen), (n, n_hidden)."""
        return latent_posterior(belief)

    def likelihood(self, question: int, belief: BeliefState) -> FloatArray:
        """P(outcome | what was seen, hidden state), (n or 1, n_outcomes, n_hidden)."""
        if self._tables is None:
            return outcome_likelihood(set_question(belief, question))
        return self._tables[question, : self.problem.n_outcomes[question]][None]

    @cached_property
    def possible(self) -> list[BoolArray]:
        """Whether each hidden state can be at each node; see `Nodes.possible`."""
        if self.by_set:
            start = self.belief(self.levels[0]) > 0
            return [np.broadcast_to(start, (len(level), self.n_hidden)) for level in self.levels]
        return [self.belief(level) > 0 for level in self.levels]

    @cached_property
    def _sorted_keys(self) -> list[tuple[npt.NDArray[np.bytes_], IntArray]]:
        keys = [self._keys(level) for level in self.levels]
        return [(key[order], order) for key in keys for order in [np.argsort(key)]]

    def find(self, belief: BeliefState) -> IntArray:
        """Node of each row in its level, (n,); -1 where there is none, for an answer it should have is missing."""
        level = belief.stage - self.stage
        keys, order = self._sorted_keys[level]
        if not len(keys):
            return np.full(len(belief), -1)
        wanted = self._keys(belief)
        place = np.minimum(np.searchsorted(keys, wanted), len(keys) - 1)
        return np.where(keys[place] == wanted, order[place], -1)


def most_nodes(problem: AcquisitionProblem, belief: BeliefState, n_more: int, by_set: bool) -> int:
    """Most nodes that so many more questions can lead to, where money is not limited."""
    counts = [1] + [0] * n_more
    for question in np.flatnonzero(remaining_questions(belief)[0]).tolist():
        ways = 1 if by_set else int(problem.n_outcomes[question])
        for level in range(n_more, 0, -1):
            counts[level] += ways * counts[level - 1]
    return sum(counts)


class NodeVectors(AlphaVectors, stored=False):
    """Alpha vectors of going on at the nodes of a problem in any order, each the cost of a plan by hidden state.

    A node is a context of its stage.
    """

    _kind_of_states = "hidden states"

    def __init__(self, nodes: FreeNodes, sets: Sequence[AlphaSet]) -> None:
        super().__init__(nodes.problem, sets)
        self.nodes = nodes

    @property
    def _state_names(self) -> list[str]:
        names, classes = self.problem.names.classes, self.nodes.classes.tolist()
        if self.nodes.n_hidden == self.problem.n_classes:
            return [names[c] for c in classes]
        return [f"{names[c]}, state {classes[:h].count(c)}" for h, c in enumerate(classes)]

    @property
    def _stopping_vectors(self) -> FloatArray:
        return np.asarray(self.nodes.costs.T)

    def _n_contexts(self, stage: int) -> int:
        return len(self.nodes.levels[stage])

    def value(self, stage: int, belief: FloatArray, context: IntArray | None = None) -> FloatArray:
        """Cost-to-go of beliefs in the hidden states, the context being the node; -1 where there is none."""
        value: FloatArray = lower_envelope(belief, self.nodes.costs.T)
        if stage >= self.n_stages:
            return value
        node: IntArray = np.zeros(len(belief), dtype=np.intp) if context is None else context
        rows = np.flatnonzero(node >= 0)
        value[rows] = np.minimum(value[rows], self._continuation(stage, belief[rows], node[rows]))
        return value

    def plan_cost(self, belief: BeliefState, rows: IntArray) -> FloatArray:
        """Cost of the best vector of going on; see `ValueFunction.plan_cost`."""
        some = belief[rows]
        node, cost = self.nodes.find(some), np.full(len(rows), np.inf)
        known = np.flatnonzero(node >= 0)
        cost[known] = self._continuation(belief.stage, self.nodes.belief(some)[known], node[known])
        return cost

    def question_costs(self, belief: BeliefState) -> FloatArray:
        """Price of each question and the expected value after it, (n, n_questions); inf where it is not open."""
        nodes, stage = self.nodes, belief.stage
        costs: FloatArray = np.where(belief.available, belief.prices, np.inf)
        node, posterior = nodes.find(belief), nodes.belief(belief)
        following = nodes.following[stage][node]
        following[node < 0] = -1
        for question in np.flatnonzero(belief.available.any(axis=0)).tolist():
            joint = posterior[:, None] * nodes.likelihood(question, belief)
            after = np.broadcast_to(following[:, question, : joint.shape[1]], joint.shape[:2])
            value = self.value(stage + 1, joint.reshape(-1, joint.shape[2]), after.reshape(-1))
            costs[:, question] += value.reshape(after.shape).sum(axis=1)
        return costs


class NodePolicy(LeastCostPolicy, LookaheadPolicy, stored=False):
    """Asks what one step of look-ahead on vectors says."""

    values: NodeVectors

    def question_costs(self, belief: BeliefState) -> FloatArray:
        """Price of each question plus the expected value after it; see `LeastCostPolicy.question_costs`."""
        nodes, costs = self.values.nodes, np.empty((len(belief), self.problem.n_questions))
        row_bytes = 8.0 * (3 * float(self.problem.n_outcomes.max()) * nodes.n_hidden)
        for part, some in row_parts(belief, row_bytes + 8.0 * nodes.following[belief.stage][0].size):
            costs[part] = self.values.question_costs(some)
        return costs
