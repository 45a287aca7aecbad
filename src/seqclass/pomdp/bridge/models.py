"""An acquisition problem in the terms of pomdp-py: states, actions, observations and the four models."""

from __future__ import annotations

import random
from abc import ABC, abstractmethod
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from itertools import accumulate
from types import SimpleNamespace
from typing import Any

import numpy as np

from seqclass._utils.arrays import BoolArray, FloatArray, as_generator
from seqclass._utils.validation import check_integer
from seqclass.pomdp.needs import check_problem, require_no_visits, require_one_start, require_tables
from seqclass.pomdp.problem import AcquisitionProblem, observations
from seqclass.pomdp.tables import Tables
from seqclass.pomdp.ties import TIE
from seqclass.pomdp.unrolled import FreeNodes

__all__ = ["PomdpPyModels", "to_pomdp_py"]


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
        self.hidden = self.label

    @property
    def is_end(self) -> bool:
        """Whether a decision has been taken."""
        return self.stage < 0


class FreeStateItem(StateItem):
    """How many questions were asked, the class, the node of what was asked, and the hidden state; or the end."""

    def __init__(self, name: str, key: tuple[int, ...]) -> None:
        super().__init__(name, key)
        self.node, self.hidden = key[2:]


class ActionItem(Item):
    """Ask (``decision`` is None) for the next feature, in a problem in any order for ``question``; or decide."""

    def __init__(self, name: str, key: tuple[int, ...]) -> None:
        super().__init__(name, key)
        self.decision = None if key[0] < 0 else key[0]
        self.question = key[1] if len(key) > 1 else None


class ObservationItem(Item):
    """An outcome of the feature that was asked for."""

    def __init__(self, name: str, key: tuple[int, ...]) -> None:
        super().__init__(name, key)
        self.outcome = key[0]


class Process(ABC):
    """What the models share: from stage ``first`` on, and decided at stage ``last`` at the latest."""

    state_kind = "State"
    #: Cost of each decision by class, or hidden state.
    costs: list[list[float]]

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
        self._following: dict[tuple[Any, Any], dict[Any, float]] = {}
        self._shown: dict[tuple[Any, Any], list[float]] = {}
        self._draws: dict[Any, tuple[list[Any], list[float]]] = {}

    @abstractmethod
    def asks(self, state: Any, action: Any) -> bool:
        """Whether something is bought: the end absorbs, and nothing is bought there."""

    @abstractmethod
    def price(self, state: Any, action: Any) -> float:
        """What asking costs, where a case has not ended."""

    @abstractmethod
    def _find_successors(self, state: Any, action: Any) -> dict[Any, float]:
        """Next states, with their probabilities, once something is bought."""

    @abstractmethod
    def _find_odds(self, state: Any, action: Any) -> list[float]:
        """Probability of each outcome once something was bought and ``state`` is reached."""

    def successors(self, state: Any, action: Any) -> dict[Any, float]:
        """Next states with their probabilities."""
        if not self.asks(state, action):
            return self._to_end
        if (state, action) not in self._following:
            self._following[state, action] = self._find_successors(state, action)
        return self._following[state, action]

    def outcome_probabilities(self, state: Any, action: Any) -> list[float]:
        """Probability of each outcome once ``state`` is reached; where nothing was bought it is always the first."""
        if action.decision is not None or state.stage <= self.first:
            return self._nothing
        if (state, action) not in self._shown:
            self._shown[state, action] = self._find_odds(state, action)
        return self._shown[state, action]

    def reward(self, state: Any, action: Any) -> float:
        """Minus the cost."""
        if state.is_end:
            return 0.0
        decision = action.decision
        return -float(self.price(state, action) if decision is None else self.costs[state.hidden][decision])

    def draw(self, of: Any, items: list[Any], weights: list[float]) -> Any:
        """Draw an item; ``of`` is what the weights belong to, for which their sums are kept."""
        if of not in self._draws:
            self._draws[of] = (items, list(accumulate(weights)))
        items, sums = self._draws[of]
        # the last sum may differ from one by rounding
        return items[bisect_right(sums, random.random() * sums[-1], 0, len(sums) - 1)]


class OfProcess:
    """A model of a process."""

    def __init__(self, staged: Unrolled | Staged) -> None:
        self.staged = staged


class Transition(OfProcess):
    """P(next state | state, action)."""

    def probability(self, next_state: Any, state: Any, action: Any) -> float:
        """Return the probability of a next state."""
        return self.staged.successors(state, action).get(next_state, 0.0)

    def sample(self, state: Any, action: Any) -> Any:
        """Draw a next state."""
        following = self.staged.successors(state, action)
        if len(following) == 1:
            return next(iter(following))
        return self.staged.draw((state, action, "next"), list(following), list(following.values()))

    def argmax(self, state: Any, action: Any) -> Any:
        """Return the most probable next state."""
        following = self.staged.successors(state, action)
        return max(following, key=following.__getitem__)

    def get_all_states(self) -> list[Any]:
        """Every state, by stages; the end last."""
        return self.staged.all_states()


class Observing(OfProcess):
    """P(observation | next state, action)."""

    def probability(self, observation: Any, next_state: Any, action: Any) -> float:
        """Return the probability of an observation."""
        odds = self.staged.outcome_probabilities(next_state, action)
        return odds[observation.outcome] if observation.outcome < len(odds) else 0.0

    def sample(self, next_state: Any, action: Any) -> Any:
        """Draw an observation."""
        items, odds = self.staged.observations, self.staged.outcome_probabilities(next_state, action)
        return items[0] if len(odds) == 1 else self.staged.draw((next_state, action), items, odds)

    def argmax(self, next_state: Any, action: Any) -> Any:
        """Return the most probable observation."""
        odds = self.staged.outcome_probabilities(next_state, action)
        return self.staged.observations[odds.index(max(odds))]

    def get_all_observations(self) -> list[Any]:
        """Every observation."""
        return self.staged.observations


class Reward(OfProcess):
    """Minus the cost of an action."""

    def sample(self, state: Any, action: Any, next_state: Any = None) -> float:
        """Return the reward, which is certain."""
        return self.staged.reward(state, action)

    argmax = sample

    def probability(self, reward: float, state: Any, action: Any, next_state: Any = None) -> float:
        """Return 1 for the reward of the action, and 0 for any other."""
        return float(reward == self.staged.reward(state, action))


class Acting:
    """Which actions make sense, and what a rollout does."""

    def __init__(self, staged: Unrolled | Staged, guided: bool) -> None:
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


class Unrolled(Process):
    """The process of a problem in any order over the nodes of what was asked."""

    state_kind = "FreeState"

    def __init__(self, nodes: FreeNodes, belief: FloatArray | None = None) -> None:
        problem, first = nodes.problem, nodes.levels[0].stage
        known = nodes.belief(nodes.levels[0])[0] if belief is None else belief
        asks = [(f"ask_{question}", (-1, question)) for question in range(problem.n_questions)]
        super().__init__(problem, first, first + nodes.n_more, known, asks, int(problem.n_outcomes.max(initial=1)))
        self.nodes = nodes
        self.penalty = 2 * float(problem.decision_costs.max()) or 1.0
        self.costs = nodes.costs.tolist()
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

    def _find_successors(self, state: Any, action: Any) -> dict[Any, float]:
        places = self.after[state.stage - self.first][state.node][action.question]
        if self.nodes.by_set:
            return {self.state(state.stage + 1, state.hidden, places[0]): 1.0}
        table = self.table(state.stage, state.node, action.question)
        ways = [(place, row[state.hidden]) for place, row in zip(places, table) if place >= 0]
        states = {self.state(state.stage + 1, state.hidden, place): p for place, p in ways}
        # a class that cannot be there leads nowhere
        return states if sum(states.values()) > 0.5 else self._to_end

    def _find_odds(self, state: Any, action: Any) -> list[float]:
        outcome = int(observations(self.nodes.levels[state.stage - self.first])[state.node, action.question])
        if outcome < 0:
            return self._nothing
        if self.nodes.by_set:
            return [row[state.hidden] for row in self.table(state.stage, state.node, action.question)]
        return [float(v == outcome) for v in range(len(self.observations))]

    def price(self, state: Any, action: Any) -> float:
        """Price of a question; what is not open costs more than any decision."""
        price = self.prices[state.stage - self.first][state.node][action.question]
        return price if np.isfinite(price) else self.penalty

    def may_ask(self, state: Any, history: tuple[Any, ...] | None) -> list[Any]:
        """Questions that are open in a state, or after a history."""
        stage, node = (state.stage, state.node) if state is not None else self._node_after(history or ())
        if node < 0:
            return []
        return [action for action, price in zip(self.asking, self.prices[stage - self.first][node]) if price < np.inf]

    def _node_after(self, history: tuple[Any, ...]) -> tuple[int, int]:
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
            stage, node = self._node_after(history[:level])
            belief = belief * self.table(stage, max(node, 0), action.question)[observation.outcome]
        return np.asarray(np.eye(self.problem.n_classes)[self.nodes.classes].T @ belief)


#: An outcome, and the context it leads to.
Arrival = tuple[int, int]


class Staged(Process):
    """The process of a fixed order."""

    def __init__(
        self, problem: AcquisitionProblem, first: int, last: int, context: int, belief: FloatArray, prices: FloatArray
    ) -> None:
        n_outcomes = int(problem.n_outcomes[first:last].max(initial=1))
        super().__init__(problem, first, last, belief, [("ask", (-1,))], n_outcomes)
        self.context = context
        self.prices: list[float] = prices.tolist()
        self.costs = problem.decision_costs.tolist()
        tables = problem.structure.tables
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
        states, here = self.start(), [(self.context, -1)]
        for stage in range(self.first, self.last):
            contexts = sorted({context for context, _ in here})
            here = sorted({self._place(x, v) for c in contexts for v, x in self.arrivals(stage, c)})
            labels = range(self.problem.n_classes)
            states += [self.state(stage + 1, label, x, v) for x, v in here for label in labels]
        return [*states, self.end]

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

    def _find_successors(self, state: Any, action: Any) -> dict[Any, float]:
        stage, label, context = state.stage, state.label, state.context
        if not self.several:
            return {self.state(stage + 1, label): 1.0}
        table, places = self.table(stage, context), self.arrivals(stage, context)
        return {self.state(stage + 1, label, x, v): table[v][label] for v, x in places}

    def _find_odds(self, state: Any, action: Any) -> list[float]:
        if self.several:
            return [float(v == state.outcome) for v in range(len(self.observations))]
        return [row[state.label] for row in self.table(state.stage - 1, state.context)]

    def price(self, state: Any, action: Any) -> float:
        """Price of the next feature; asking at the last stage is as bad as the worst decision."""
        stage: int = state.stage
        return self.prices[stage - self.first] if stage < self.last else max(self.costs[state.label])

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


@dataclass(frozen=True, eq=False)
class PomdpPyModels:
    """A problem in pomdp-py's own types, with discount 1.

    Attributes
    ----------
    states : list of pomdp_py.State
        ``s{stage}_c{class}``, with ``_x{context}_o{outcome}`` where contexts are several, and ``end``; each has
        ``stage``, ``label`` (the class), ``context``, ``outcome`` and ``is_end``. Of a problem in any order
        ``s{stage}_n{node}_c{class}``, with ``h{hidden}`` where classes have several hidden states, and ``node`` (of
        what was asked, and answered where that matters) and ``hidden`` instead of context and outcome.
    actions : list of pomdp_py.Action
        ``ask`` for the next feature, in a problem in any order ``ask_{q}`` for question ``q``, and ``decide_{d}``;
        ``decision`` is None or ``d``, and ``question`` is ``q`` or None.
    observations : list of pomdp_py.Observation
        ``o{v}``, with ``outcome``; what is seen where nothing was bought is always ``o0``.
    transition_model, observation_model, reward_model, policy_model
        The models; the policy model also serves as rollout policy.
    agent : pomdp_py.Agent
        Its belief is a histogram over all states, as `pomdp_py.value` and `pomdp_py.to_pomdp_file` want it.
    env : pomdp_py.Environment
        Holds a true class drawn from the prior.
    horizon : int
        Number of actions until the end is reached for certain: every feature, and the decision.

    Examples
    --------
    >>> import numpy as np
    >>> from seqclass.pomdp import TableProblem, to_pomdp_py
    >>> problem = TableProblem([0.5, 0.5], np.array([[[0.9, 0.2], [0.1, 0.8]]]), prices=0.1)
    >>> to_pomdp_py(problem).actions
    [Action(ask), Action(decide_0), Action(decide_1)]
    """

    states: list[Any]
    actions: list[Any]
    observations: list[Any]
    transition_model: Any
    observation_model: Any
    reward_model: Any
    policy_model: Any
    agent: Any
    env: Any
    horizon: int


def to_pomdp_py(
    problem: AcquisitionProblem, *, n_stages: int | None = None, guided: bool = True, random_state: Any = 0
) -> PomdpPyModels:
    """Give a problem in pomdp-py's own types.

    The state holds stage, class and context; a decision leads to an absorbing end, and rewards are minus costs. All
    of it is meant for discount 1 and finite horizon.

    Parameters
    ----------
    problem : AcquisitionProblem
        A problem with tables, for pomdp-py's states are finitely many; or a free one of at most 20,000 states, as
        `write_pomdp` counts them.
    n_stages : int, optional
        Horizon: decide at this stage at the latest. By default all stages.
    guided : bool
        Whether the policy model offers a tree search only what may be best after a history, to ask or the best
        decision for the posterior, and rolls out by that decision; else every decision, and random rollouts.
    random_state : int, generator or None
        Draws the environment's true class.

    Returns
    -------
    PomdpPyModels

    Raises
    ------
    ImportError
        If pomdp-py is not installed.
    ValueError
        If the problem has no tables, or is free and has too many states.

    Examples
    --------
    >>> import numpy as np
    >>> import pomdp_py
    >>> from seqclass.pomdp import TableProblem, optimal_cost, to_pomdp_py
    >>> problem = TableProblem([0.5, 0.5], np.array([[[0.9, 0.2], [0.1, 0.8]]]), prices=0.1)
    >>> m = to_pomdp_py(problem)
    >>> models = m.transition_model, m.observation_model, m.reward_model
    >>> spaces = m.states, m.actions, m.observations
    >>> value = pomdp_py.value(m.agent.belief, *spaces, *models, 1.0, horizon=m.horizon)
    >>> round(-value, 6), round(optimal_cost(problem), 6)
    (0.25, 0.25)
    """
    check_problem(problem)
    require_one_start(problem, "to_pomdp_py")
    require_no_visits(problem, "to_pomdp_py")
    library = pomdp_py()
    last = problem.n_stages if n_stages is None else check_integer(n_stages, "n_stages", 0, problem.n_stages)
    staged: Unrolled | Staged
    if problem.any_order:
        staged = Unrolled(FreeNodes(problem.initial_belief(), last, "pomdp-py"))
    else:
        context = int(check_tables(problem).contexts(0, problem.start(1))[0])
        staged = Staged(problem, 0, last, context, problem.prior, stage_prices(problem, 0, last, None))
    states = staged.all_states()
    belief = dict.fromkeys(states, 0.0) | dict(zip(staged.start(), staged.belief.tolist()))
    agent = make_agent(staged, library.Histogram(belief), guided)
    truth = int(as_generator(random_state).choice(len(staged.belief), p=staged.belief))
    env = library.Environment(staged.start()[truth], agent.transition_model, agent.reward_model)
    return PomdpPyModels(
        states=states,
        actions=staged.actions,
        observations=staged.observations,
        transition_model=agent.transition_model,
        observation_model=agent.observation_model,
        reward_model=agent.reward_model,
        policy_model=agent.policy_model,
        agent=agent,
        env=env,
        horizon=last + 1,
    )


def make_agent(staged: Unrolled | Staged, histogram: Any, guided: bool) -> Any:
    """Build the agent that plans on a staged process."""
    kinds = types()
    return pomdp_py().Agent(
        histogram,
        kinds.PolicyModel(staged, guided),
        kinds.TransitionModel(staged),
        kinds.ObservationModel(staged),
        kinds.RewardModel(staged),
    )


def check_tables(problem: AcquisitionProblem) -> Tables:
    """Tables of the problem, for pomdp-py's models need finitely many states."""
    return require_tables(
        problem, "pomdp-py", "a TableProblem (naive Bayes gives one), or a solver of seqclass such as Perseus"
    )


def stage_prices(problem: AcquisitionProblem, first: int, last: int, paid: BoolArray | None) -> FloatArray:
    """Price of each stage from ``first`` on, given the groups (n_groups,) of which a feature was acquired before."""
    prices: FloatArray = problem.prices[first:last].copy()
    if problem.groups is None:
        return prices
    groups = problem.groups[first:last]
    known = set() if paid is None else set(np.flatnonzero(paid).tolist())
    for k, group in enumerate(groups.tolist()):
        if group >= 0 and group not in known:
            prices[k] = problem.full_prices[first + k]
            known.add(group)
    return prices
