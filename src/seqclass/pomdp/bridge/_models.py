"""An acquisition problem in the terms of pomdp-py: states, actions, observations and the four models.

pomdp-py is imported only when it is used, so what its classes need is written here as plain classes, which `types`
joins with pomdp-py's own.
"""

from __future__ import annotations

import random
from bisect import bisect_right
from collections.abc import Sequence
from functools import cache
from itertools import accumulate
from types import SimpleNamespace
from typing import Any

from seqclass._arrays import FloatArray
from seqclass.pomdp.information import TIE
from seqclass.pomdp.problem import AcquisitionProblem


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


class FreeStateItem(Item):
    """How many questions were asked, the class, the node of what was asked, and the hidden state; or the end."""

    def __init__(self, name: str, key: tuple[int, ...]) -> None:
        super().__init__(name, key)
        self.stage, self.label, self.node, self.hidden = key

    @property
    def is_end(self) -> bool:
        """Whether a decision has been taken."""
        return self.stage < 0


class ActionItem(Item):
    """Ask (``decision`` is None) for the next feature, in a free problem for ``question``; or decide."""

    def __init__(self, name: str, key: tuple[int, ...]) -> None:
        super().__init__(name, key)
        self.decision = None if key[0] < 0 else key[0]
        self.question = key[1] if len(key) > 1 else None


class ObservationItem(Item):
    """An outcome of the feature that was asked for."""

    def __init__(self, name: str, key: tuple[int, ...]) -> None:
        super().__init__(name, key)
        self.outcome = key[0]


class Process:
    """What the models share: from stage ``first`` on, and decided at stage ``last`` at the latest.

    Parameters
    ----------
    problem : AcquisitionProblem
        The problem.
    first, last : int
        The stages it covers.
    belief : ndarray of shape (n_hidden,)
        Belief at the first stage.
    asks : list of (str, tuple)
        Name and key of each action that asks.
    n_outcomes : int
        Number of observations.
    """

    state_kind = "State"

    def __init__(
        self,
        problem: AcquisitionProblem,
        first: int,
        last: int,
        belief: FloatArray,
        asks: Sequence[tuple[str, tuple[int, ...]]],
        n_outcomes: int,
    ) -> None:
        self.problem, self.first, self.last, self.belief = problem, first, last, belief
        kinds = types()
        self._state_type = getattr(kinds, self.state_kind)
        self.end = self._state_type("end", (-1, -1, -1, -1))
        self.asking = [kinds.Action(name, key) for name, key in asks]
        self.decisions = [kinds.Action(f"decide_{d}", (d,)) for d in range(problem.n_decisions)]
        self.actions = [*self.asking, *self.decisions]
        self.observations = [kinds.Observation(f"o{v}", (v,)) for v in range(n_outcomes)]
        self._states: dict[tuple[int, ...], Any] = {}
        self._to_end = {self.end: 1.0}
        self._nothing = [1.0]
        self._following: dict[Any, dict[Any, float]] = {}
        self._shown: dict[Any, list[float]] = {}
        self._draws: dict[Any, tuple[list[Any], list[float]]] = {}

    def draw(self, of: Any, items: list[Any], weights: list[float]) -> Any:
        """Draw an item; ``of`` is what the weights belong to, for which their sums are kept."""
        if of not in self._draws:
            self._draws[of] = (items, list(accumulate(weights)))
        items, sums = self._draws[of]
        # the last sum may differ from one by rounding
        return items[bisect_right(sums, random.random() * sums[-1], 0, len(sums) - 1)]

    def start(self) -> list[Any]:
        """State of each class, or hidden state, at the first stage."""
        raise NotImplementedError

    def all_states(self) -> list[Any]:
        """Every state that can be reached, by stages; the end last."""
        raise NotImplementedError

    def following(self, state: Any, action: Any) -> dict[Any, float]:
        """Next states with their probabilities."""
        raise NotImplementedError

    def shown(self, state: Any, action: Any) -> list[float]:
        """Probability of each outcome once ``state`` is reached; where nothing was bought it is always the first."""
        raise NotImplementedError

    def reward(self, state: Any, action: Any) -> float:
        """Minus the cost; asking what is not open is as bad as the worst decision, or worse."""
        raise NotImplementedError

    def may_ask(self, state: Any, history: tuple[Any, ...] | None) -> list[Any]:
        """Actions that ask what is open in a state, or after a history that began at the first stage."""
        raise NotImplementedError

    def posterior(self, history: tuple[Any, ...]) -> FloatArray:
        """Belief in the classes after a history, of any scale."""
        raise NotImplementedError


class Transition:
    """P(next state | state, action)."""

    def __init__(self, staged: Process) -> None:
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

    def __init__(self, staged: Process) -> None:
        self.staged = staged

    def probability(self, observation: Any, next_state: Any, action: Any) -> float:
        """Return the probability of an observation."""
        shown = self.staged.shown(next_state, action)
        return shown[observation.outcome] if observation.outcome < len(shown) else 0.0

    def sample(self, next_state: Any, action: Any) -> Any:
        """Draw an observation."""
        staged = self.staged
        shown = staged.shown(next_state, action)
        return (
            staged.observations[0] if len(shown) == 1 else staged.draw((next_state, action), staged.observations, shown)
        )

    def argmax(self, next_state: Any, action: Any) -> Any:
        """Return the most probable observation."""
        shown = self.staged.shown(next_state, action)
        return self.staged.observations[shown.index(max(shown))]

    def get_all_observations(self) -> list[Any]:
        """Every observation."""
        return self.staged.observations


class Reward:
    """Minus the cost of an action."""

    def __init__(self, staged: Process) -> None:
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

    def __init__(self, staged: Process, guided: bool) -> None:
        self.staged = staged
        self.guided = guided
        self._decided: dict[tuple[Any, ...], Any] = {}

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
        decisions, asks = staged.decisions, staged.may_ask(state, history)
        if self.guided and history is not None and len(history) == stage - staged.first:
            decisions = [self._best(history)]
        return [*asks, *decisions]

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
        key = tuple((action.key, observation.outcome) for action, observation in history)
        if key not in self._decided:
            belief = self.staged.posterior(history)
            costs = belief @ self.staged.problem.decision_costs
            self._decided[key] = self.staged.decisions[int((costs <= costs.min() + TIE * belief.sum()).argmax())]
        return self._decided[key]


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
        "FreeState": (FreeStateItem, library.State),
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
