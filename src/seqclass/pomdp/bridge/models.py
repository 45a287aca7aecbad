"""An acquisition problem in the terms of pomdp-py: states, actions, observations and the four models."""

from __future__ import annotations

import random
from bisect import bisect_right
from dataclasses import dataclass
from functools import cache
from itertools import accumulate
from types import SimpleNamespace
from typing import Any

import numpy as np

from seqclass._utils.arrays import BoolArray, FloatArray, as_generator
from seqclass._utils.validation import check_integer
from seqclass.costs import first_of_groups
from seqclass.pomdp.account import planned_prices
from seqclass.pomdp.needs import check_problem, require_no_visits, require_one_start, require_tables
from seqclass.pomdp.problem import AcquisitionProblem
from seqclass.pomdp.tables import Tables
from seqclass.pomdp.ties import TIE
from seqclass.pomdp.unrolled import FreeNodes, Nodes, StageNodes

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
    """A stage, the class or hidden state, and the node of what was asked, in a fixed order the context; or the end."""

    def __init__(self, name: str, key: tuple[int, ...]) -> None:
        super().__init__(name, key)
        self.stage, self.label, self.node, self.hidden, self.context, self.outcome = key

    @property
    def is_end(self) -> bool:
        """Whether a decision has been taken."""
        return self.stage < 0


class ActionItem(Item):
    """Ask (``decision`` is None) for the next feature, in a problem in any order for ``question``; or decide."""

    def __init__(self, name: str, key: tuple[int, ...]) -> None:
        super().__init__(name, key)
        self.decision = None if key[0] < 0 else key[0]
        self.question = key[1] if len(key) > 1 else None
        self.place = self.question or 0  # among those that ask


class ObservationItem(Item):
    """An outcome of the feature that was asked for."""

    def __init__(self, name: str, key: tuple[int, ...]) -> None:
        super().__init__(name, key)
        self.outcome = key[0]


class Process:
    """What the models share: the process of a problem over its nodes, from P(class, or hidden state) at the first."""

    def __init__(self, nodes: Nodes, belief: FloatArray) -> None:
        problem, kinds = nodes.problem, types()
        self.nodes, self.problem, self.first, self.belief = nodes, problem, nodes.stage, belief
        self._state_type = kinds.State
        self.end = kinds.State("end", (-1,) * 6)
        asks = [(f"ask_{q}", (-1, q)) for q in range(problem.n_questions)] if problem.any_order else [("ask", (-1,))]
        self.asking = [kinds.Action(name, key) for name, key in asks]
        self.decisions = [kinds.Action(f"decide_{d}", (d,)) for d in range(problem.n_decisions)]
        self.actions = [*self.asking, *self.decisions]
        self.observations = [kinds.Observation(f"o{v}", (v,)) for v in range(nodes.n_outcomes)]
        self.costs = nodes.costs.tolist()
        worst = nodes.costs.max(axis=1)
        #: What asking costs in each hidden state where nothing can be asked, or not that.
        self.penalty = [2 * float(worst.max()) or 1.0] * len(worst) if problem.any_order else worst.tolist()
        self.prices: list[list[list[float]]] = [prices.tolist() for prices in nodes.prices]
        self.after: list[Any] = [following.tolist() for following in nodes.following]
        self._rows: dict[tuple[int, int, int], list[list[float]]] = {}
        self._open: dict[tuple[int, int], list[Any]] = {}
        self._to_end = {self.end: 1.0}
        self._nothing = [1.0]
        self._draws: dict[Any, tuple[list[Any], list[float]]] = {}
        #: What is asked for time and again is worked out once.
        self.state = cache(self._state)
        self._after_question = cache(self._find_successors)
        self._shown_by_question = cache(self._find_odds)

    def _state(self, stage: int, hidden: int, node: int) -> Any:
        """Return the state of these coordinates."""
        label = int(self.nodes.classes[hidden])
        name, context, outcome = self.nodes.coordinates(stage - self.first, hidden, node)
        return self._state_type(f"s{stage}{name}", (stage, label, node, hidden, context, outcome))

    def start(self) -> list[Any]:
        """State of each class, or hidden state, at the first stage."""
        return [self.state(self.first, hidden, 0) for hidden in range(self.nodes.n_hidden)]

    def all_states(self) -> list[Any]:
        """Every state that can be reached, by stages; the end last."""
        levels, hidden = enumerate(self.prices, self.first), range(self.nodes.n_hidden)
        return [*(self.state(k, h, n) for k, level in levels for n in range(len(level)) for h in hidden), self.end]

    def table(self, level: int, node: int, question: int) -> list[list[float]]:
        """P(outcome | hidden state) of a question at a node: a row an outcome."""
        key = level, 0 if self.nodes.by_set else node, question
        if key not in self._rows:
            self._rows[key] = self.nodes.table(question, level, key[1])[0].tolist()
        return self._rows[key]

    def price(self, state: Any, action: Any) -> float:
        """Price of a question; what is not open costs as much as the worst decision, or more."""
        price: float = self.prices[state.stage - self.first][state.node][action.place]
        return price if price < np.inf else self.penalty[state.hidden]

    def successors(self, state: Any, action: Any) -> dict[Any, float]:
        """Next states with their probabilities."""
        return self._to_end if action.decision is not None or state.is_end else self._after_question(state, action)

    def _find_successors(self, state: Any, action: Any) -> dict[Any, float]:
        """Next states, with their probabilities, once a question was asked; what is not open cannot be."""
        if action not in self.may_ask(state, None):
            return self._to_end
        level, stage, hidden = state.stage - self.first, state.stage + 1, state.hidden
        places = self.after[level][state.node][action.place]
        if self.nodes.by_set:
            return {self.state(stage, hidden, places[0]): 1.0}
        ways = zip(places, self.table(level, state.node, action.place))
        states = {self.state(stage, hidden, place): row[hidden] for place, row in ways if place >= 0}
        # a class that cannot be there leads nowhere
        return states if sum(states.values()) > 0.5 else self._to_end

    def outcome_probabilities(self, state: Any, action: Any) -> list[float]:
        """Probability of each outcome once ``state`` is reached; where nothing was bought it is always the first."""
        bought = action.decision is None and state.stage > self.first
        return self._shown_by_question(state, action) if bought else self._nothing

    def _find_odds(self, state: Any, action: Any) -> list[float]:
        """Probability of each outcome once something was bought and ``state`` is reached."""
        level = state.stage - self.first
        outcome = int(self.nodes.outcomes_at(level)[state.node, action.place])
        if outcome < 0:
            return self._nothing
        if self.nodes.by_set:
            return list(map(float, self.nodes.outcome_table(action.place, level)[:, state.hidden]))
        return [float(v == outcome) for v in range(len(self.observations))]

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

    def may_ask(self, state: Any, history: tuple[Any, ...] | None) -> list[Any]:
        """Questions that are open in a state, or after a history."""
        if state is not None:
            level, node = state.stage - self.first, state.node
        else:
            level, node = len(history or ()), 0
            for number, step in enumerate(history or ()):
                node = self._node_after(number, node, *step)
        if node < 0:
            return []
        if (level, node) not in self._open:
            pairs = zip(self.asking, self.prices[level][node])
            self._open[level, node] = [action for action, price in pairs if price < np.inf]
        return self._open[level, node]

    def _node_after(self, level: int, node: int, action: Any, observation: Any) -> int:
        """Node after an action at a node and what was seen then, -1 where there is none."""
        if action.decision is not None or node < 0 or level >= len(self.after):
            return -1
        following: int = self.after[level][node][action.place][0 if self.nodes.by_set else observation.outcome]
        return following

    def posterior(self, history: tuple[Any, ...]) -> FloatArray:
        """Belief in the classes after a history, of any scale."""
        belief, node = self.belief, 0
        for level, (action, observation) in enumerate(history):
            belief = belief * self.table(level, max(node, 0), action.place)[observation.outcome]
            node = self._node_after(level, node, action, observation)
        return np.asarray(np.bincount(self.nodes.classes, belief, self.problem.n_classes), dtype=np.float64)


class OfProcess:
    """A model of a process."""

    def __init__(self, staged: Process) -> None:
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


@dataclass(frozen=True, eq=False, repr=False)
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

    def __repr__(self) -> str:
        sizes = f"{len(self.states)} states, {len(self.actions)} actions, {len(self.observations)} observations"
        return f"<PomdpPyModels: {sizes}, horizon {self.horizon}>"


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
    if problem.any_order:
        free = FreeNodes(problem.initial_belief(), last, "pomdp-py")
        staged = Process(free, free.belief(free.levels[0])[0])
    else:
        tables = check_tables(problem)
        context = int(tables.contexts(0, problem.start(1))[0])
        staged = Process(StageNodes(problem, tables, 0, context, planned_prices(problem)[:last]), problem.prior)
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


def make_agent(staged: Process, histogram: Any, guided: bool) -> Any:
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
    prices: FloatArray = problem.prices[first:last]
    if problem.groups is None or paid is None:
        return prices
    groups = problem.groups[first:last]
    in_full = first_of_groups(groups) & ~np.append(paid, False)[groups]
    return np.where(in_full, problem.full_prices[first:last], prices)
