"""An acquisition problem in the terms of pomdp-py: states, actions, observations and the four models.

pomdp-py is imported only when it is used, so what its classes need is written here as plain classes, which `types`
joins with pomdp-py's own.
"""

from __future__ import annotations

import random
from bisect import bisect_right
from functools import cache
from itertools import accumulate
from types import SimpleNamespace
from typing import Any

import numpy as np

from seqclass._arrays import FloatArray
from seqclass.pomdp.information import TIE
from seqclass.pomdp.problem import AcquisitionProblem

#: An outcome, and the context it leads to.
Arrival = tuple[int, int]


class Item:
    """Something with a name, compared and hashed by its key; no ``__slots__``, which pomdp-py's deep copies lose."""

    def __init__(self, name: str, key: tuple[int, ...]) -> None:
        self.name = name
        self.key = key
        self._hash = hash(key)

    def __eq__(self, other: object) -> bool:
        return self is other or (isinstance(other, Item) and type(self) is type(other) and self.key == other.key)

    def __hash__(self) -> int:
        return self._hash

    def __copy__(self) -> Item:
        return self

    def __deepcopy__(self, memo: Any) -> Item:
        # it never changes, and POMCP copies thousands of them
        return self

    def __reduce__(self) -> tuple[Any, ...]:
        return _revive, (type(self).__name__, self.name, self.key)

    def __str__(self) -> str:
        return self.name

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.name})"


class StateItem(Item):
    """A stage, the class, the context and, where contexts are several, the outcome that led there; or the end."""

    def __init__(self, name: str, key: tuple[int, ...]) -> None:
        super().__init__(name, key)
        self.stage, self.label, self.context, self.outcome = key

    @property
    def is_end(self) -> bool:
        """Whether a decision has been taken."""
        return self.stage < 0


class ActionItem(Item):
    """Ask for the next feature (``decision`` is None), or decide."""

    def __init__(self, name: str, key: tuple[int, ...]) -> None:
        super().__init__(name, key)
        self.decision = None if key[0] < 0 else key[0]


class ObservationItem(Item):
    """An outcome of the feature that was asked for."""

    def __init__(self, name: str, key: tuple[int, ...]) -> None:
        super().__init__(name, key)
        self.outcome = key[0]


class Staged:
    """The staged process that the models share: from stage ``first`` on, and decided at stage ``last`` at the latest.

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
        self.problem, self.first, self.last, self.context = problem, first, last, context
        self.belief = belief
        self.prices: list[float] = prices.tolist()
        self.costs: list[list[float]] = problem.decision_costs.tolist()
        tables = problem.tables
        assert tables is not None  # it was checked at the door
        self.tables, self.several = tables, not tables.single
        kinds = types()
        self._state_type = kinds.State
        self.end = kinds.State("end", (-1, -1, -1, -1))
        self.ask = kinds.Action("ask", (-1,))
        self.decisions = [kinds.Action(f"decide_{d}", (d,)) for d in range(problem.n_decisions)]
        self.actions = [self.ask, *self.decisions]
        n_outcomes = int(problem.n_outcomes[first:last].max(initial=1))
        self.observations = [kinds.Observation(f"o{v}", (v,)) for v in range(n_outcomes)]
        self._states: dict[tuple[int, ...], Any] = {}
        self._tables: dict[tuple[int, int], list[list[float]]] = {}
        self._arrivals: dict[tuple[int, int], list[Arrival]] = {}
        self._to_end = {self.end: 1.0}
        self._nothing = [1.0]
        self._following: dict[Any, dict[Any, float]] = {}
        self._shown: dict[Any, list[float]] = {}
        self._draws: dict[Any, tuple[list[Any], list[float]]] = {}

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

    def draw(self, of: Any, items: list[Any], weights: list[float]) -> Any:
        """Draw an item; ``of`` is what the weights belong to, for which their sums are kept."""
        if of not in self._draws:
            self._draws[of] = (items, list(accumulate(weights)))
        items, sums = self._draws[of]
        # the last sum may differ from one by rounding
        return items[bisect_right(sums, random.random() * sums[-1], 0, len(sums) - 1)]

    def reward(self, state: Any, action: Any) -> float:
        """Minus the cost; asking at the last stage is as bad as the worst decision."""
        if state.is_end:
            return 0.0
        if action.decision is not None:
            return -float(self.costs[state.label][action.decision])
        return -float(
            self.prices[state.stage - self.first] if state.stage < self.last else max(self.costs[state.label])
        )


class Transition:
    """P(next state | state, action)."""

    def __init__(self, staged: Staged) -> None:
        self.staged = staged

    def probability(self, next_state: Any, state: Any, action: Any) -> float:
        """Return the probability of a next state."""
        return self.staged.following(state, action).get(next_state, 0.0)

    def sample(self, state: Any, action: Any) -> Any:
        """Draw a next state."""
        following = self.staged.following(state, action)
        if len(following) == 1:
            return next(iter(following))
        return self.staged.draw(state, list(following), list(following.values()))

    def argmax(self, state: Any, action: Any) -> Any:
        """Return the most probable next state."""
        following = self.staged.following(state, action)
        return max(following, key=following.__getitem__)

    def get_all_states(self) -> list[Any]:
        """Every state, by stages; the end last."""
        return self.staged.all_states()


class Observing:
    """P(observation | next state, action)."""

    def __init__(self, staged: Staged) -> None:
        self.staged = staged

    def probability(self, observation: Any, next_state: Any, action: Any) -> float:
        """Return the probability of an observation."""
        shown = self.staged.shown(next_state, action)
        return shown[observation.outcome] if observation.outcome < len(shown) else 0.0

    def sample(self, next_state: Any, action: Any) -> Any:
        """Draw an observation."""
        staged = self.staged
        shown = staged.shown(next_state, action)
        return staged.observations[0] if len(shown) == 1 else staged.draw((next_state,), staged.observations, shown)

    def argmax(self, next_state: Any, action: Any) -> Any:
        """Return the most probable observation."""
        shown = self.staged.shown(next_state, action)
        return self.staged.observations[shown.index(max(shown))]

    def get_all_observations(self) -> list[Any]:
        """Every observation."""
        return self.staged.observations


class Reward:
    """Minus the cost of an action."""

    def __init__(self, staged: Staged) -> None:
        self.staged = staged

    def sample(self, state: Any, action: Any, next_state: Any = None) -> float:
        """Return the reward, which is certain."""
        return self.staged.reward(state, action)

    argmax = sample

    def probability(self, reward: float, state: Any, action: Any, next_state: Any = None) -> float:
        """Return 1 for the reward of the action, and 0 for any other."""
        return float(reward == self.staged.reward(state, action))


class Acting:
    """Which actions make sense, and what a rollout does.

    Guided, what makes sense after a history is to ask or the best decision for the posterior, which is also what a
    rollout takes; else every decision does, and rollouts are random.
    """

    def __init__(self, staged: Staged, guided: bool) -> None:
        self.staged = staged
        self.guided = guided
        self._decided: dict[tuple[int, ...], Any] = {}

    def get_all_actions(self, state: Any = None, history: tuple[Any, ...] | None = None) -> list[Any]:
        """Actions that make sense in a state, or after a history that began at the first stage; without both, all."""
        staged = self.staged
        if state is not None:
            ended, stage = state.is_end, state.stage
        elif history is not None:
            ended = any(action.decision is not None for action, _ in history)
            stage = staged.first + len(history)
        else:
            return staged.actions
        if ended:
            return staged.decisions[:1]
        decisions = staged.decisions
        if self.guided and history is not None and len(history) == stage - staged.first:
            decisions = [self._best(history)]
        return [staged.ask, *decisions] if stage < staged.last else decisions

    def sample(self, state: Any) -> Any:
        """Draw one of the actions that make sense."""
        return random.choice(self.get_all_actions(state))

    def probability(self, action: Any, state: Any) -> float:
        """Return the probability that `sample` draws an action."""
        actions = self.get_all_actions(state)
        return float(action in actions) / len(actions)

    def rollout(self, state: Any, history: tuple[Any, ...] = ()) -> Any:
        """Take the best decision for the posterior after the history if guided, else any action."""
        # a belief that was set by hand has no history that leads to it
        known = len(history) == state.stage - self.staged.first
        return self._best(history) if self.guided and known and not state.is_end else self.sample(state)

    def _best(self, history: tuple[Any, ...]) -> Any:
        outcomes = tuple(observation.outcome for _, observation in history)
        if outcomes not in self._decided:
            self._decided[outcomes] = self.staged.decisions[self._decision(outcomes)]
        return self._decided[outcomes]

    def _decision(self, outcomes: tuple[int, ...]) -> int:
        belief, context = self.staged.belief, self.staged.context
        for stage, outcome in enumerate(outcomes, self.staged.first):
            belief = belief * self.staged.table(stage, context)[outcome]
            context = self.staged.arrivals(stage, context)[outcome][1]
        costs = belief @ self.staged.problem.decision_costs
        return int((costs <= costs.min() + TIE * belief.sum()).argmax())


def pomdp_py() -> Any:
    """Import pomdp-py, or say how to install it."""
    try:
        import pomdp_py
    except ImportError as error:
        raise ImportError('pomdp-py is not installed; install it with: pip install "seqclass[pomdp]"') from error
    return pomdp_py


@cache
def types() -> SimpleNamespace:
    """Our classes joined with pomdp-py's: State, Action, Observation and the models."""
    library = pomdp_py()
    bases = {
        "State": (StateItem, library.State),
        "Action": (ActionItem, library.Action),
        "Observation": (ObservationItem, library.Observation),
        "TransitionModel": (Transition, library.TransitionModel),
        "ObservationModel": (Observing, library.ObservationModel),
        "RewardModel": (Reward, library.RewardModel),
        "PolicyModel": (Acting, library.RolloutPolicy),
    }
    return SimpleNamespace(**{name: type(name, base, {"__module__": __name__}) for name, base in bases.items()})


def _revive(kind: str, name: str, key: tuple[int, ...]) -> Any:
    return getattr(types(), kind)(name, key)
