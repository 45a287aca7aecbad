"""A free problem in the terms of pomdp-py: an action a question."""

from __future__ import annotations

from typing import Any

import numpy as np

from seqclass._arrays import FloatArray
from seqclass.pomdp.bridge._models import Process
from seqclass.pomdp.unrolled.nodes import FreeNodes


class Unrolled(Process):
    """The process of a free problem over the nodes of what was asked.

    Parameters
    ----------
    nodes : FreeNodes
        The nodes.
    belief : ndarray of shape (n_hidden,), optional
        Belief at the first one; by default what is known there.
    """

    state_kind = "FreeState"

    def __init__(self, nodes: FreeNodes, belief: FloatArray | None = None) -> None:
        problem, first = nodes.problem, nodes.levels[0].stage
        known = nodes.belief(nodes.levels[0])[0] if belief is None else belief
        asks = [(f"ask_{question}", (-1, question)) for question in range(problem.n_questions)]
        super().__init__(problem, first, first + nodes.n_more, known, asks, int(problem.n_outcomes.max(initial=1)))
        self.nodes = nodes
        self.penalty = 2 * float(problem.decision_costs.max()) or 1.0
        self.costs: list[list[float]] = nodes.costs.tolist()
        self.prices: list[list[list[float]]] = [prices.tolist() for prices in nodes.prices]
        self.after: list[Any] = [following.tolist() for following in nodes.following]
        self._rows: dict[tuple[int, int, int], list[list[float]]] = {}

    def state(self, stage: int, hidden: int, node: int) -> Any:
        """Return the state of these coordinates, always the same object."""
        label = int(self.nodes.classes[hidden])
        key = (stage, label, node, hidden)
        if key not in self._states:
            several = f"h{hidden}" if self.nodes.n_hidden > self.problem.n_classes else ""
            self._states[key] = self._state_type(f"s{stage}_n{node}_c{label}{several}", key)
        return self._states[key]

    def start(self) -> list[Any]:
        """State of each class, or hidden state, at the first stage."""
        return [self.state(self.first, hidden, 0) for hidden in range(self.nodes.n_hidden)]

    def all_states(self) -> list[Any]:
        """Every state, by numbers of questions; the end last."""
        levels = enumerate(self.nodes.levels, self.first)
        hidden = range(self.nodes.n_hidden)
        return [*(self.state(k, h, n) for k, level in levels for n in range(len(level)) for h in hidden), self.end]

    def table(self, stage: int, node: int, question: int) -> list[list[float]]:
        """P(outcome | hidden state) of a question at a node: a row an outcome."""
        key = (0, 0, question) if self.nodes.by_set else (stage, node, question)
        if key not in self._rows:
            level = self.nodes.levels[key[0] and stage - self.first]
            self._rows[key] = self.nodes.likelihood(question, level[np.array([key[1]])])[0].tolist()
        return self._rows[key]

    def asks(self, state: Any, action: Any) -> bool:
        """Whether something is bought: the end absorbs, and what is not open cannot be asked."""
        return action.decision is None and not state.is_end and action in self.may_ask(state, None)

    def following(self, state: Any, action: Any) -> dict[Any, float]:
        """Next states with their probabilities."""
        if not self.asks(state, action):
            return self._to_end
        key = (state, action)
        if key not in self._following:
            places = self.after[state.stage - self.first][state.node][action.question]
            if self.nodes.by_set:
                found = {self.state(state.stage + 1, state.hidden, places[0]): 1.0}
            else:
                table = self.table(state.stage, state.node, action.question)
                ways = [(place, row[state.hidden]) for place, row in zip(places, table) if place >= 0]
                found = {self.state(state.stage + 1, state.hidden, place): p for place, p in ways}
                # a class that cannot be there leads nowhere
                found = found if sum(found.values()) > 0.5 else self._to_end
            self._following[key] = found
        return self._following[key]

    def shown(self, state: Any, action: Any) -> list[float]:
        """Probability of each outcome once ``state`` is reached; where nothing was bought it is always the first."""
        if action.decision is not None or state.stage <= self.first:
            return self._nothing
        key = (state, action)
        if key not in self._shown:
            seen = self.nodes.levels[state.stage - self.first].seen
            assert seen is not None  # of a free problem it always is
            outcome = int(seen[state.node, action.question])
            if outcome < 0:
                shown = self._nothing
            elif self.nodes.by_set:
                shown = [row[state.hidden] for row in self.table(state.stage, state.node, action.question)]
            else:
                shown = [float(v == outcome) for v in range(len(self.observations))]
            self._shown[key] = shown
        return self._shown[key]

    def reward(self, state: Any, action: Any) -> float:
        """Minus the cost; asking what is not open costs more than any decision."""
        if state.is_end:
            return 0.0
        if action.decision is not None:
            return -float(self.costs[state.hidden][action.decision])
        price = self.prices[state.stage - self.first][state.node][action.question]
        return -float(price if np.isfinite(price) else self.penalty)

    def may_ask(self, state: Any, history: tuple[Any, ...] | None) -> list[Any]:
        """Questions that are open in a state, or after a history."""
        stage, node = (state.stage, state.node) if state is not None else self._reached(history or ())
        if node < 0:
            return []
        return [action for action, price in zip(self.asking, self.prices[stage - self.first][node]) if price < np.inf]

    def _reached(self, history: tuple[Any, ...]) -> tuple[int, int]:
        """Stage and node after a history, the node -1 where there is none."""
        node = 0
        for level, (action, observation) in enumerate(history):
            if action.decision is not None or node < 0 or level >= self.nodes.n_more:
                return self.first + level, -1
            node = self.after[level][node][action.question][0 if self.nodes.by_set else observation.outcome]
        return self.first + len(history), node

    def posterior(self, history: tuple[Any, ...]) -> FloatArray:
        """Belief in the classes after a history, of any scale."""
        belief: FloatArray = self.belief
        for level, (action, observation) in enumerate(history):
            stage, node = self._reached(history[:level])
            belief = belief * self.table(stage, max(node, 0), action.question)[observation.outcome]
        return np.asarray(np.eye(self.problem.n_classes)[self.nodes.classes].T @ belief)
