"""An acquisition problem as pomdp-py's own models, agent and environment."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from seqclass._utils.arrays import BoolArray, FloatArray, as_generator
from seqclass._utils.validation import check_integer
from seqclass.pomdp.bridge._models import Process, Staged, Unrolled, pomdp_py, types
from seqclass.pomdp.needs import needed_tables
from seqclass.pomdp.problem import AcquisitionProblem
from seqclass.pomdp.tables import Tables
from seqclass.pomdp.unrolled import FreeNodes

__all__ = ["PomdpPyModels", "to_pomdp_py"]


@dataclass(frozen=True, eq=False)
class PomdpPyModels:
    """A problem in pomdp-py's own types, with discount 1.

    Attributes
    ----------
    states : list of pomdp_py.State
        ``s{stage}_c{class}``, with ``_x{context}_o{outcome}`` where contexts are several, and ``end``; each has
        ``stage``, ``label`` (the class), ``context``, ``outcome`` and ``is_end``. Of a free problem
        ``s{stage}_n{node}_c{class}``, with ``h{hidden}`` where classes have several hidden states, and ``node`` (of
        what was asked, and answered where that matters) and ``hidden`` instead of context and outcome.
    actions : list of pomdp_py.Action
        ``ask`` for the next feature, in a free problem ``ask_{q}`` for question ``q``, and ``decide_{d}``;
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
    library = pomdp_py()
    last = problem.n_stages if n_stages is None else check_integer(n_stages, "n_stages", 0, problem.n_stages)
    staged: Process
    if problem.free:
        staged = Unrolled(FreeNodes(problem.begin(), last, "pomdp-py"))
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


def make_agent(staged: Process, belief: Any, guided: bool) -> Any:
    """Build the agent that plans on a staged process."""
    kinds = types()
    return pomdp_py().Agent(
        belief,
        kinds.PolicyModel(staged, guided),
        kinds.TransitionModel(staged),
        kinds.ObservationModel(staged),
        kinds.RewardModel(staged),
    )


def check_tables(problem: AcquisitionProblem) -> Tables:
    """Tables of the problem, for pomdp-py's models need finitely many states."""
    return needed_tables(
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
