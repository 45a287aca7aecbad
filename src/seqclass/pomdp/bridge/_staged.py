"""A problem in a fixed order in the terms of pomdp-py."""

from __future__ import annotations

from typing import Any

import numpy as np

from seqclass._arrays import FloatArray
from seqclass.pomdp.bridge._models import Process
from seqclass.pomdp.problem import AcquisitionProblem

#: An outcome, and the context it leads to.
Arrival = tuple[int, int]


class Staged(Process):
    """The process of a fixed order.

    With one context the outcome is drawn by the observation model. With several, the outcome is drawn in the
    transition and kept in the state, for pomdp-py's observations may look at the next state only, and that does not
    tell which context the outcome was drawn in.

    Parameters
    ----------
    problem : AcquisitionProblem
        A problem with tables.
    first, last : int
        The stages it covers.
    context : int
        Context at the first stage.
    belief : ndarray of shape (n_classes,)
        Belief at the first stage.
    prices : ndarray of shape (last - first,)
        Price of each stage.
    """

    def __init__(
        self, problem: AcquisitionProblem, first: int, last: int, context: int, belief: FloatArray, prices: FloatArray
    ) -> None:
        n_outcomes = int(problem.n_outcomes[first:last].max(initial=1))
        super().__init__(problem, first, last, belief, [("ask", (-1,))], n_outcomes)
        self.context = context
        self.prices: list[float] = prices.tolist()
        self.costs: list[list[float]] = problem.decision_costs.tolist()
        tables = problem.tables
        assert tables is not None  # it was checked at the door
        self.tables, self.several = tables, not tables.single
        self._tables: dict[tuple[int, int], list[list[float]]] = {}
        self._arrivals: dict[tuple[int, int], list[Arrival]] = {}

    def state(self, stage: int, label: int, context: int = 0, outcome: int = -1) -> Any:
        """Return the state of these coordinates, always the same object."""
        key = (stage, label, context, outcome)
        if key not in self._states:
            name = f"s{stage}_c{label}"
            if self.several:
                name += f"_x{context}" + (f"_o{outcome}" if outcome >= 0 else "")
            self._states[key] = self._state_type(name, key)
        return self._states[key]

    def start(self) -> list[Any]:
        """State of each class at the first stage."""
        return [self.state(self.first, c, self.context) for c in range(self.problem.n_classes)]

    def all_states(self) -> list[Any]:
        """Every state that can be reached, by stages; the end last."""
        found, here = self.start(), [(self.context, -1)]
        for stage in range(self.first, self.last):
            contexts = sorted({context for context, _ in here})
            here = sorted({self._place(x, v) for c in contexts for v, x in self.arrivals(stage, c)})
            labels = range(self.problem.n_classes)
            found += [self.state(stage + 1, label, x, v) for x, v in here for label in labels]
        return [*found, self.end]

    def _place(self, context: int, outcome: int) -> tuple[int, int]:
        return (context, outcome) if self.several else (0, -1)

    def table(self, stage: int, context: int) -> list[list[float]]:
        """P(outcome | class) at a stage in a context: a row an outcome."""
        key = (stage, context)
        if key not in self._tables:
            self._tables[key] = self.tables.likelihood(stage, np.array([context]))[0].tolist()
        return self._tables[key]

    def arrivals(self, stage: int, context: int) -> list[Arrival]:
        """Each outcome with the context it leads to."""
        key = (stage, context)
        if key not in self._arrivals:
            following = self.tables.successors(stage, np.array([context]))[0].tolist()
            self._arrivals[key] = list(enumerate(following))
        return self._arrivals[key]

    def asks(self, state: Any, action: Any) -> bool:
        """Whether a feature is bought: the end absorbs, and nothing can be asked at the last stage."""
        return action.decision is None and 0 <= state.stage < self.last

    def following(self, state: Any, action: Any) -> dict[Any, float]:
        """Next states with their probabilities."""
        if not self.asks(state, action):
            return self._to_end
        if state not in self._following:
            stage, label, context = state.stage, state.label, state.context
            if not self.several:
                after = {self.state(stage + 1, label): 1.0}
            else:
                table = self.table(stage, context)
                places = self.arrivals(stage, context)
                after = {self.state(stage + 1, label, x, v): table[v][label] for v, x in places}
            self._following[state] = after
        return self._following[state]

    def shown(self, state: Any, action: Any) -> list[float]:
        """Probability of each outcome once ``state`` is reached; where nothing was bought it is always the first."""
        if action.decision is not None or state.stage <= self.first:
            return self._nothing
        if state not in self._shown:
            if self.several:
                shown = [float(v == state.outcome) for v in range(len(self.observations))]
            else:
                shown = [row[state.label] for row in self.table(state.stage - 1, state.context)]
            self._shown[state] = shown
        return self._shown[state]

    def reward(self, state: Any, action: Any) -> float:
        """Minus the cost; asking at the last stage is as bad as the worst decision."""
        if state.is_end:
            return 0.0
        if action.decision is not None:
            return -float(self.costs[state.label][action.decision])
        return -float(
            self.prices[state.stage - self.first] if state.stage < self.last else max(self.costs[state.label])
        )

    def may_ask(self, state: Any, history: tuple[Any, ...] | None) -> list[Any]:
        """Ask for the next feature, or nothing at the last stage."""
        stage = self.first + len(history or ()) if state is None else state.stage
        return self.asking if stage < self.last else []

    def posterior(self, history: tuple[Any, ...]) -> FloatArray:
        """Belief in the classes after a history, of any scale."""
        belief, context = self.belief, self.context
        for stage, (_, observation) in enumerate(history, self.first):
            belief = belief * self.table(stage, context)[observation.outcome]
            context = self.arrivals(stage, context)[observation.outcome][1]
        return belief
