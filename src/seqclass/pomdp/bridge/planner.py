"""pomdp-py's planners as solvers: what to do is planned when it is asked, one belief at a time."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import KW_ONLY, dataclass
from functools import cached_property
from numbers import Integral
from threading import Lock
from typing import Any

import numpy as np
from sklearn.base import clone

from seqclass._utils.arrays import FloatArray, IntArray, as_generator
from seqclass._utils.validation import check_choice, check_integer, check_part
from seqclass.pomdp.bridge.models import Process, check_tables, make_agent, pomdp_py, stage_prices
from seqclass.pomdp.needs import require_no_visits, require_one_start
from seqclass.pomdp.one_step import context_of, stopping_is_certain
from seqclass.pomdp.policy import DECIDE, Policy
from seqclass.pomdp.problem import AcquisitionProblem, BeliefState
from seqclass.pomdp.solve_info import SolveInfo
from seqclass.pomdp.solvers.base import Solver
from seqclass.pomdp.unrolled import FreeNodes, StageNodes

__all__ = ["PomdpPyPlanner", "PomdpPyPolicy"]


PLANNERS = ("POUCT", "POMCP", "ValueIteration")
#: Policy trees that pomdp-py's ValueIteration may build; each takes about 0.2 ms.
MAX_TREES = 100_000
#: pomdp-py draws from the global generators, so that only one plan at a time can be repeatable.
_LOCK = Lock()


@dataclass(repr=False, eq=False)
class PomdpPyPlanner(Solver):
    """A planner of pomdp-py, asked for an action at each belief that is met.

    It plans online: `solve` only checks, and each distinct belief is planned for when a policy is first
    asked about it, from a seed of its own, so that answers do not depend on the order or number of rows. Where one
    more price costs more than knowing the class could save, it decides without planning; a decision is always the
    cheapest for the posterior. A problem has tables, or is in any order with at most 20,000 states (see `write_pomdp`),
    fewer where ``max_depth`` is small.

    Parameters
    ----------
    planner : {"POUCT", "POMCP", "ValueIteration"} or callable
        pomdp-py's planner, or a function of a `pomdp_py.Agent` that returns a planner for it; the agent's models have
        discount 1 and end within the horizon.
    n_simulations : int
        Simulations a plan (POUCT, POMCP).
    exploration_const : float or None
        Weight of exploration (POUCT, POMCP), in units of cost; None for the difference between the worst and the best
        that a decision can cost.
    max_depth : int or None
        Features that a plan looks ahead; it supposes that a decision follows then. None for all.
    guided : bool
        Whether the search tree has only what may be best after a history, to ask or the best decision for the
        posterior, which also values new leaves; else every decision, and random rollouts, as pomdp-py does alone.
    n_particles : int
        Size of the particle belief (POMCP).
    max_stages : int or None
        The policy never asks for more features than this; None for no limit. Where it cuts the horizon the status is
        ``"truncated"``; else ``"converged"`` for ValueIteration over the whole horizon, and ``"limit"`` for all
        others, whose plans are as good as their simulations.
    certificate_paths : int
        Sampled paths of the certificate; 0 leaves it out, for it plans for every belief it meets.
    random_state : int, generator or None
        Seed.

    Raises
    ------
    ImportError
        If pomdp-py is not installed.

    References
    ----------
    .. [1] K. Zheng and S. Tellex, "pomdp_py: A framework to build and solve POMDP problems", ICAPS PlanRob, 2020.
    .. [2] D. Silver and J. Veness, "Monte-Carlo planning in large POMDPs", NeurIPS, 2010.

    Examples
    --------
    >>> import numpy as np
    >>> from seqclass.pomdp import PomdpPyPlanner, TableProblem, certify
    >>> problem = TableProblem([0.5, 0.5], np.array([[[0.9, 0.2], [0.1, 0.8]]]), prices=0.1)
    >>> policy = PomdpPyPlanner(n_simulations=200).solve(problem)
    >>> policy.action(problem.initial_belief())
    array([0])
    >>> round(certify(problem, policy).upper, 3)
    0.25
    """

    planner: str | Callable[[Any], Any] = "POUCT"
    _: KW_ONLY
    n_simulations: int = 1000
    exploration_const: float | None = None
    max_depth: int | None = None
    guided: bool = True
    n_particles: int = 1000
    max_stages: int | None = None
    certificate_paths: int = 0
    random_state: Any = 0

    def _policy(self, problem: AcquisitionProblem) -> Policy:
        pomdp_py()
        n_stages = self._horizon(problem)
        exact = self.planner == "ValueIteration" and self._depth(n_stages) == n_stages
        status = "truncated" if n_stages < problem.n_stages else "converged" if exact else "limit"
        info = SolveInfo(status, n_stages=n_stages)
        seeded = isinstance(self.random_state, Integral)
        seed = int(self.random_state if seeded else as_generator(self.random_state).integers(2**63))
        return PomdpPyPolicy(problem, clone(self), seed, info)

    _least = {"n_simulations": 1, "n_particles": 1, "exploration_const": 0.0, "max_depth": 1, "max_stages": 1}

    def _check_settings(self) -> None:
        super()._check_settings()
        if not callable(self.planner):
            check_choice(self.planner, "planner", PLANNERS)
        if isinstance(self.random_state, Integral):
            check_integer(self.random_state, "random_state", 0)

    def _check(self, problem: AcquisitionProblem) -> None:
        """Refuse what has no tables, and what is too large for ValueIteration."""
        require_one_start(problem, type(self).__name__)
        require_no_visits(problem, type(self).__name__)
        n_stages = self._horizon(problem)
        depth, n_asks, asked = self._depth(n_stages), 1, slice(n_stages)
        if problem.any_order:
            FreeNodes(problem.initial_belief(), depth, "pomdp-py")
            n_asks, asked = problem.n_questions, slice(None)
        else:
            check_tables(problem)
        if self.planner != "ValueIteration":
            return
        n_actions, n_outcomes = n_asks + problem.n_decisions, int(problem.n_outcomes[asked].max(initial=1))
        # a policy tree has an action at its root and at each node, and branches on every observation
        n_nodes = sum(n_outcomes**level for level in range(min(depth, 20) + 1))
        if n_nodes * np.log(n_actions) > np.log(MAX_TREES):
            raise ValueError(
                f"ValueIteration of pomdp-py would build {n_actions}^{n_nodes} policy trees for {depth} features of "
                f"{n_outcomes} outcomes, more than {MAX_TREES}; set max_depth to a smaller number, or use "
                "planner='POUCT' or Perseus."
            )

    def _horizon(self, problem: AcquisitionProblem) -> int:
        return problem.n_stages if self.max_stages is None else min(self.max_stages, problem.n_stages)

    def _depth(self, remaining: int) -> int:
        return remaining if self.max_depth is None else min(self.max_depth, remaining)

    def _make(self, agent: Any, depth: int, spread: float) -> Any:
        if callable(self.planner):
            planner = self.planner(agent)
            check_part(planner, "planner", "a function that returns a planner of pomdp-py", ("plan",))
            return planner
        if self.planner == "ValueIteration":
            return pomdp_py().ValueIteration(horizon=depth + 1, discount_factor=1.0)
        return getattr(pomdp_py(), self.planner)(
            # one more than the actions: a rollout at the last stage has to reach the end, which is worth nothing
            max_depth=depth + 1,
            num_sims=self.n_simulations,
            planning_time=-1.0,
            discount_factor=1.0,
            exploration_const=spread if self.exploration_const is None else self.exploration_const,
            rollout_policy=agent.policy_model,
        )


#: What tells a belief from others, words of its seed, and what makes its process.
_Task = tuple[tuple[Any, ...], list[int], Callable[[], Process]]


class PomdpPyPolicy(Policy):
    """Asks a planner of pomdp-py; made by `PomdpPyPlanner`."""

    _plans_anew = True

    def __init__(self, problem: AcquisitionProblem, planner: PomdpPyPlanner, seed: int, info: SolveInfo) -> None:
        super().__init__(problem, info.n_stages, info)
        self.planner = planner
        self.seed = seed

    @cached_property
    def _plans(self) -> dict[tuple[Any, ...], int]:
        """What to ask or -1, for every belief that was planned for."""
        return {}

    def _action(self, belief: BeliefState) -> IntArray:
        answer = np.full(len(belief), DECIDE)
        for row in np.flatnonzero(~stopping_is_certain(belief)):
            answer[row] = self._asks(belief[np.array([row])])
        return answer

    def _asks(self, belief: BeliefState) -> int:
        """What to ask at a belief of one row, or -1."""
        key, seeds, make = (self._any_order_task if self.problem.any_order else self._fixed_order_task)(belief)
        if key not in self._plans:
            seed = np.random.SeedSequence([self.seed, belief.stage, *seeds])
            action = self._plan(make(), self._depth(belief), seed)
            question = belief.stage if action.question is None else action.question
            self._plans[key] = question if action.decision is None else DECIDE
        return self._plans[key]

    def _depth(self, belief: BeliefState) -> int:
        return self.planner._depth(self.n_stages - belief.stage)

    def _fixed_order_task(self, belief: BeliefState) -> _Task:
        """What tells a belief of a fixed order from others, its seed, and its process."""
        last, paid = belief.stage + self._depth(belief), belief.account.groups_paid
        paid = None if paid is None else paid[0]
        prices = stage_prices(self.problem, belief.stage, last, paid)
        contexts, parts = context_of(belief), _parts(belief.probabilities[0])
        context = 0 if contexts is None else int(contexts[0])
        key = parts.tobytes() + prices.tobytes()

        def make() -> Process:
            nodes = StageNodes(self.problem, check_tables(self.problem), belief.stage, context, prices)
            return Process(nodes, parts / parts.sum())

        return (belief.stage, context, key), [context, *np.frombuffer(key, dtype=np.uint32).tolist()], make

    def _any_order_task(self, belief: BeliefState) -> _Task:
        """Task of a problem in any order, where what was seen tells all but what was paid for missing answers."""
        key = [np.asarray(belief.observed, dtype=np.int64).tobytes(), belief.prices.tobytes()]
        if self.problem.limits.max_cost is not None:  # which of a group came first decides what is left to spend
            key.append(belief.spent.tobytes())

        def make() -> Process:
            nodes = FreeNodes(belief, self._depth(belief), "pomdp-py")
            parts = _parts(nodes.belief(belief)[0])
            return Process(nodes, parts / parts.sum())

        return (belief.stage, *key), np.frombuffer(b"".join(key), dtype=np.uint32).tolist(), make

    def _plan(self, staged: Process, depth: int, seed: np.random.SeedSequence) -> Any:
        """First action of a plan from the first stage of a process."""
        library = pomdp_py()
        start = library.Histogram({s: p for s, p in zip(staged.start(), staged.belief.tolist()) if p > 0})
        with _global_generators(seed):
            if self.planner.planner == "POMCP":
                start = library.Particles.from_histogram(start, num_particles=self.planner.n_particles)
            agent = make_agent(staged, start, self.planner.guided)
            costs = self.problem.decision_costs
            return self.planner._make(agent, depth, float(costs.max() - costs.min())).plan(agent)


def _parts(belief: FloatArray) -> IntArray:
    # the offset keeps simple fractions, whose last bit depends on how they came about, off the edges
    # beliefs are planned for to this many parts of one, so that rounding in their computation does not change a plan
    return np.floor(belief * 10**10 + 0.3183098861837907).astype(np.int64)


@contextmanager
def _global_generators(seed: np.random.SeedSequence) -> Iterator[None]:
    """Seed Python's and numpy's global generators, and put them back afterwards."""
    words = seed.generate_state(4)
    with _LOCK:
        python, numpy = random.getstate(), np.random.get_state()  # noqa: NPY002 - the one that pomdp-py's users use
        try:
            random.seed(int.from_bytes(words.tobytes(), "little"))
            np.random.seed(words)  # noqa: NPY002
            yield
        finally:
            random.setstate(python)
            np.random.set_state(numpy)  # noqa: NPY002
