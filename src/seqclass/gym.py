"""Acquisition problems as environments of Gymnasium: a reinforcement learner asks, and decides."""

from __future__ import annotations

from typing import Any

import numpy as np

from seqclass._utils.arrays import BoolArray, FloatArray, IntArray
from seqclass._utils.text import short_repr
from seqclass._utils.validation import check_choice, check_integer
from seqclass.pomdp import DECIDE, Policy
from seqclass.pomdp.policy import as_policy
from seqclass.pomdp.problem import BeliefState, must_continue
from seqclass.pomdp.walk import join_beliefs, split_by_question
from seqclass.pomdp.worlds import DrawnCaseSource, Game, Rows, class_numbers, game_of

try:  # whoever does not play needs none of it
    import gymnasium
    from gymnasium import spaces
    from gymnasium.vector import AutoresetMode, VectorEnv
    from gymnasium.vector.utils import batch_space

    Env: Any = gymnasium.Env
except ImportError:
    gymnasium, Env, VectorEnv = None, object, object

__all__ = ["AcquisitionEnv", "AcquisitionVectorEnv"]
__dir__ = __all__.copy  # tab completion

Observation = dict[str, Any]
Info = dict[str, Any]


class _Table:
    """Cases side by side, each asked one question a step, in batches of those that were asked equally many."""

    def __init__(self, game: Game, n: int, observations: Any, true_class: Any, world: Any, reward: str) -> None:
        if gymnasium is None:
            raise ImportError("the environments need gymnasium: pip install 'seqclass[gym]'.")
        self.problem, self.agent = game_of(game)
        self.n, self.expected = n, check_choice(reward, "reward", ("realised", "expected")) == "expected"
        if observations is None:
            self.usual: DrawnCaseSource | Rows = DrawnCaseSource(self.problem, world, n, self.agent)
            if true_class is not None:
                raise ValueError(
                    "true_class goes with observations; reset(options={'true_class': ...}) takes one alone."
                )
        else:
            if world is not None:
                raise ValueError("world and observations say both what cases show: leave one of them out.")
            self.usual = self._rows(observations, true_class)
        self.source = self.usual
        #: Of each question the columns of ``seen`` that it fills, and of each column how many outcomes there are.
        members = [self.problem.structure.members(q) for q in range(self.problem.n_questions)]
        ends = np.cumsum([len(one) for one in members], dtype=np.intp)
        self.columns = [np.arange(end - len(one), end) for end, one in zip(ends.tolist(), members)]
        self.sizes: list[int] = []
        for question in range(self.problem.n_questions):
            bundle = self.problem.structure.bundle(question)
            self.sizes += [int(self.problem.n_outcomes[question])] if bundle is None else bundle.sizes.tolist()
        self.belief: FloatArray = np.tile(self.problem.prior, (n, 1))
        self.seen: IntArray = np.zeros((n, len(self.sizes)), dtype=np.int64)
        self.playing: BoolArray = np.zeros(n, dtype=bool)
        self.decision: IntArray = np.full(n, -1)
        self.batches: list[tuple[IntArray, BeliefState]] = []
        self._masks: BoolArray | None = None

    def _rows(self, observations: Any, true_class: Any) -> Rows:
        if true_class is None and not self.expected:
            raise ValueError("true_class must say the class of each row of observations, or reward be 'expected'.")
        label = None if true_class is None else class_numbers(self.problem, self.agent, true_class)
        rows = Rows(self.problem, self.agent, observations, self.n, label)
        if label is not None and len(label) != rows.n_rows:
            raise ValueError(f"true_class must have a class for each of {rows.n_rows} rows, got {len(label)}.")
        return rows

    def begin(self, cases: IntArray, rng: np.random.Generator, options: Info | None = None) -> None:
        """Let some cases begin anew; with options all of them, those that are told."""
        again, options, row = options is None, options or {}, None
        unknown = options.keys() - {"observations", "true_class"}
        if unknown:
            raise ValueError(f"options may have observations and true_class, got {short_repr(sorted(unknown)[0])}.")
        if (observations := options.get("observations")) is not None:
            source = self._rows(observations, options.get("true_class"))
            if source.n_rows != self.n:
                raise ValueError(f"observations must have {self.n} rows, a case each, got {source.n_rows}.")
            self.source, row = source, np.arange(self.n)
        elif not again:
            if self.usual.fixed is None and options.get("true_class") is not None:
                raise ValueError("options: true_class says the class of rows here: give them with it, as observations.")
            self.source = self.usual
        if (fixed := self.source.fixed) is not None:
            fixed[cases] = -1
            if observations is None and options.get("true_class") is not None:
                label = class_numbers(self.problem, self.agent, options["true_class"])
                fixed[cases] = np.broadcast_to(label, self.n)[cases]
        start = self.source.begin(cases, rng, row)
        kept = [(rows[on], belief[on]) for rows, belief in self.batches if (on := ~np.isin(rows, cases)).any()]
        self.batches, self._masks = _by_stage([*kept, (cases, self.source.first[start])]), None
        self.playing[cases], self.seen[cases], self.decision[cases] = True, 0, -1
        self.belief[cases] = self.source.first[start].probabilities

    def act(self, action: IntArray, rng: np.random.Generator) -> FloatArray:
        """Ask and decide, where cases are under way; the rewards, (n,)."""
        reward, after = np.zeros(self.n), []
        masks = self.masks()
        for rows, belief in self.batches:
            on, chosen = self.playing[rows], action[rows]
            wrong = on & ~masks[rows, chosen]
            reward[rows[wrong]] = -self.problem.decision_costs.max()
            stop = on & (chosen == 0) & ~wrong
            if stop.any():
                reward[rows[stop]] -= self._decide(rows[stop], belief[stop])
            self.playing[rows[stop | wrong]] = False
            go = np.flatnonzero(on & ~stop & ~wrong)
            if (rest := np.setdiff1d(np.arange(len(rows)), go)).size:
                after.append((rows[rest], belief[rest]))
            for place, part in split_by_question(belief, go, chosen[go] - 1) if go.size else ():
                cases = rows[go[place]]
                outcome = self.source.draw(part, np.arange(len(place)), cases, rng)
                answered = part.update(outcome, charge_missing=self.source.charge_missing)
                reward[cases] = part.spent - answered.spent
                self._note(cases, chosen[go[place]] - 1, outcome)
                self.belief[cases] = answered.probabilities
                after.append((cases, answered))
        self.source.settle()
        self.batches, self._masks = _by_stage(after), None
        return reward

    def _decide(self, rows: IntArray, belief: BeliefState) -> FloatArray:
        self.decision[rows] = decision = self.problem.decide(belief.probabilities)
        if self.expected:
            return self.problem.stopping_cost(belief.probabilities)
        return np.asarray(self.problem.decision_costs[self.source.label[rows], decision])

    def _note(self, cases: IntArray, question: IntArray, outcome: IntArray) -> None:
        for asked in np.unique(question).tolist():
            at, bundle = np.flatnonzero(question == asked), self.problem.structure.bundle(asked)
            shown = outcome[at, None] if bundle is None else bundle.decode(outcome[at])
            self.seen[cases[at][:, None], self.columns[asked]] = shown + 2

    def masks(self) -> BoolArray:
        """Which actions may be taken, (n, n_questions + 1); of a case that has ended all that decides."""
        if self._masks is None:
            self._masks = np.zeros((self.n, self.problem.n_questions + 1), dtype=bool)
            self._masks[:, 0] = True
            for rows, belief in self.batches:
                on = np.flatnonzero(self.playing[rows])
                self._masks[rows[on], 0] = ~must_continue(belief)[on]
                self._masks[rows[on], 1:] = belief.available[on]
        return np.array(self._masks)

    def actions_of(self, policy: Policy) -> IntArray:
        """What a policy does in each case, as actions, (n,)."""
        policy, action = as_policy(policy, self.problem), np.zeros(self.n, dtype=np.int64)
        for rows, belief in self.batches:
            action[rows] = policy.action(belief) - DECIDE
        return action

    def look(self) -> Observation:
        """What is observed of all cases."""
        return {"belief": np.clip(self.belief, 0, 1).astype(np.float32), "seen": self.seen.copy()}

    def spaces(self) -> tuple[Any, Any]:
        """Spaces of observations and actions of one case."""
        belief = spaces.Box(0.0, 1.0, (self.problem.n_classes,), np.float32)
        seen = spaces.MultiDiscrete(np.array(self.sizes, dtype=np.int64) + 2)
        return spaces.Dict({"belief": belief, "seen": seen}), spaces.Discrete(self.problem.n_questions + 1)


def _by_stage(parts: list[tuple[IntArray, BeliefState]]) -> list[tuple[IntArray, BeliefState]]:
    """Parts of cases as batches, one for each number of questions asked."""
    batches = []
    for stage in sorted({belief.stage for _, belief in parts}):
        same = [part for part in parts if part[1].stage == stage]
        rows = np.concatenate([rows for rows, _ in same])
        batches.append((rows, join_beliefs([belief for _, belief in same])))
    return batches


class AcquisitionEnv(Env):  # type: ignore[misc]
    """One case at a time as an environment of Gymnasium: ask questions, then decide.

    Action 0 decides, at the least cost for what is believed; action ``k`` asks question ``k - 1``. The reward is the
    negative price of the question, and at the end the negative cost of the decision, so that the mean return of a
    policy is the negative of what `seqclass.pomdp.evaluate` says that it costs; where visits cost something each
    question is a visit here, also those that a policy would order together. `action_masks` says which actions may
    be taken, as ``MaskablePPO`` asks for it, and so does ``info["action_mask"]``. Any other action ends the episode at
    the cost of the dearest decision.

    An observation has the keys ``"belief"``, P(class | what was seen) of shape (n_classes,), and ``"seen"``, for each
    feature in the order of the questions that show them 0 if it was not asked, 1 if it was missing, and else its
    outcome plus 2.

    Parameters
    ----------
    problem : AcquisitionProblem or fitted classifier
        What may be asked, by what is believed and paid.
    observations : array-like of shape (n, n_features), optional
        Cases of which one is drawn for each episode: outcomes by feature, -1 where missing, or for a classifier rows as
        it was fitted to. By default cases are drawn from the model.
    true_class : array-like of shape (n,), optional
        Their classes, as for `seqclass.pomdp.simulate`.
    world : AcquisitionProblem, observation model or fitted classifier, optional
        Where cases are drawn from, if that is another one than is believed; see `seqclass.pomdp.simulate`.
    reward : {"realised", "expected"}
        What the decision costs given the true class; or what it is believed to cost, which has the same mean in the
        model's own world and varies less.

    Attributes
    ----------
    observation_space, action_space : gymnasium.Space
        A ``Dict`` of ``Box`` and ``MultiDiscrete``; ``Discrete(n_questions + 1)``.

    Raises
    ------
    ImportError
        If Gymnasium is not installed: it comes with the extra ``gym``.
    TypeError, ValueError
        If ``problem``, ``observations``, ``true_class`` or ``world`` is something else; see `seqclass.pomdp.simulate`.

    Examples
    --------
    >>> import numpy as np
    >>> from seqclass.gym import AcquisitionEnv
    >>> from seqclass.pomdp import TableProblem
    >>> problem = TableProblem([0.5, 0.5], np.array([[[0.9, 0.2], [0.1, 0.8]]]), prices=0.1)
    >>> env = AcquisitionEnv(problem)
    >>> observation, info = env.reset(seed=0, options={"observations": [[1]], "true_class": 1})
    >>> observation["belief"].tolist(), observation["seen"].tolist(), env.action_masks().tolist()
    ([0.5, 0.5], [0], [True, True])
    >>> observation, reward, terminated, truncated, info = env.step(1)
    >>> print(observation["belief"].round(3), observation["seen"], reward, env.action_masks())
    [0.111 0.889] [3] -0.1 [ True False]
    >>> env.step(0)[1:3]
    (0.0, True)
    """

    metadata: Info = {"render_modes": []}

    def __init__(
        self,
        problem: Game,
        *,
        observations: Any = None,
        true_class: Any = None,
        world: Any = None,
        reward: str = "realised",
    ) -> None:
        self._table = _Table(problem, 1, observations, true_class, world, reward)
        self.observation_space, self.action_space = self._table.spaces()

    @property
    def belief(self) -> BeliefState:
        """What is believed of the case, one row: what policies take."""
        if not self._table.batches:
            raise gymnasium.error.ResetNeeded("there is no case yet: call reset() first.")
        return self._table.batches[0][1]

    def action_masks(self) -> BoolArray:
        """Return which actions may be taken now, of shape (n_questions + 1,).

        Returns
        -------
        ndarray of bool of shape (n_questions + 1,)
        """
        return np.asarray(self._table.masks()[0])

    def reset(self, *, seed: int | None = None, options: Info | None = None) -> tuple[Observation, Info]:
        """Begin with another case.

        Parameters
        ----------
        seed : int, optional
            Seed of this and all later cases.
        options : dict, optional
            ``"true_class"``, the class of the case; and with it ``"observations"``, its one row.

        Returns
        -------
        observation : dict
        info : dict
            ``"action_mask"``, as `action_masks`, of int8.
        """
        super().reset(seed=seed)
        self._table.begin(np.zeros(1, dtype=np.intp), self.np_random, options or {})
        return self._observe(), {"action_mask": self.action_masks().astype(np.int8)}

    def step(self, action: Any) -> tuple[Observation, float, bool, bool, Info]:
        """Ask or decide.

        Parameters
        ----------
        action : int
            0 decides, ``k`` asks question ``k - 1``.

        Returns
        -------
        observation : dict
        reward : float
        terminated : bool
            Whether it was decided.
        truncated : bool
            Always false.
        info : dict
            ``"action_mask"``; at the end ``"decision"`` (-1 after an action that could not be taken) and
            ``"true_class"`` (-1 if it is not known), by number.
        """
        table = self._table
        if not table.playing[0]:
            raise gymnasium.error.ResetNeeded("the episode is over, or none has begun: call reset() first.")
        action = check_integer(np.asarray(action).item(), "action", 0, table.problem.n_questions)
        reward = table.act(np.array([action], dtype=np.intp), self.np_random)
        ended = not table.playing[0]
        info: Info = {"action_mask": self.action_masks().astype(np.int8)}
        if ended:
            info |= {"decision": int(table.decision[0]), "true_class": int(table.source.label[0])}
        return self._observe(), float(reward[0]), ended, False, info

    def _observe(self) -> Observation:
        return {name: values[0] for name, values in self._table.look().items()}


class AcquisitionVectorEnv(VectorEnv):  # type: ignore[misc]
    """Many cases side by side as a vector environment of Gymnasium, each by itself as in `AcquisitionEnv`.

    Beliefs are computed for all cases together, which is many times as fast as one environment after the other. After
    its end a case is replaced at the next step, whose action then counts for nothing (``AutoresetMode.NEXT_STEP``).

    Parameters
    ----------
    problem : AcquisitionProblem or fitted classifier
        What may be asked, by what is believed and paid.
    num_envs : int
        Number of cases.
    observations, true_class, world, reward
        As for `AcquisitionEnv`.

    Attributes
    ----------
    single_observation_space, single_action_space : gymnasium.Space
        Those of one case, as of `AcquisitionEnv`.
    observation_space, action_space : gymnasium.Space
        Those of all.

    Raises
    ------
    ImportError, TypeError, ValueError
        As `AcquisitionEnv` does.

    Examples
    --------
    >>> import numpy as np
    >>> from seqclass.gym import AcquisitionVectorEnv
    >>> from seqclass.pomdp import Lookahead, TableProblem
    >>> problem = TableProblem([0.5, 0.5], np.array([[[0.9, 0.2], [0.1, 0.8]]]), prices=0.1)
    >>> envs, policy = AcquisitionVectorEnv(problem, 3), Lookahead().solve(problem)
    >>> observation, info = envs.reset(seed=0)
    >>> envs.actions_of(policy)
    array([1, 1, 1])
    >>> observation, reward, terminated, truncated, info = envs.step(envs.actions_of(policy))
    >>> reward, envs.actions_of(policy)
    (array([-0.1, -0.1, -0.1]), array([0, 0, 0]))
    """

    def __init__(
        self,
        problem: Game,
        num_envs: int,
        *,
        observations: Any = None,
        true_class: Any = None,
        world: Any = None,
        reward: str = "realised",
    ) -> None:
        self.num_envs = check_integer(num_envs, "num_envs", 1)
        self._table = _Table(problem, self.num_envs, observations, true_class, world, reward)
        self.metadata = {"autoreset_mode": AutoresetMode.NEXT_STEP}
        self.single_observation_space, self.single_action_space = self._table.spaces()
        self.observation_space = batch_space(self.single_observation_space, self.num_envs)
        self.action_space = batch_space(self.single_action_space, self.num_envs)

    def action_masks(self) -> BoolArray:
        """Return which actions may be taken now.

        Returns
        -------
        ndarray of bool of shape (num_envs, n_questions + 1)
        """
        return self._table.masks()

    def actions_of(self, policy: Policy) -> IntArray:
        """Return what a policy does in each case, for a comparison.

        Parameters
        ----------
        policy : Policy
            A policy of the problem.

        Returns
        -------
        ndarray of int of shape (num_envs,)
            Actions, as `step` takes them.
        """
        return self._table.actions_of(policy)

    def reset(self, *, seed: int | None = None, options: Info | None = None) -> tuple[Observation, Info]:
        """Begin with other cases.

        Parameters
        ----------
        seed : int, optional
            Seed of these and all later cases.
        options : dict, optional
            ``"true_class"``, the class of all cases or of each; and with it ``"observations"``, a row for each, from
            which cases that take the place of others are drawn until the next reset.

        Returns
        -------
        observation : dict
        info : dict
            ``"action_mask"``, as `action_masks`, of int8.
        """
        super().reset(seed=seed)
        self._table.begin(np.arange(self.num_envs), self.np_random, options or {})
        return self._table.look(), self._masks()

    def step(self, actions: Any) -> tuple[Observation, FloatArray, BoolArray, BoolArray, Info]:
        """Ask or decide in each case; those that have ended begin anew.

        Parameters
        ----------
        actions : ndarray of int of shape (num_envs,)
            0 decides, ``k`` asks question ``k - 1``.

        Returns
        -------
        observation : dict
        reward : ndarray of shape (num_envs,)
        terminated : ndarray of bool of shape (num_envs,)
        truncated : ndarray of bool of shape (num_envs,)
            Always false.
        info : dict
            ``"action_mask"``; where a case ended ``"decision"`` and ``"true_class"``, as of `AcquisitionEnv.step`.
        """
        table, actions = self._table, np.asarray(actions)
        if not table.batches:
            raise gymnasium.error.ResetNeeded("there are no cases yet: call reset() first.")
        whole = actions.shape == (self.num_envs,) and actions.dtype.kind in "iu"
        if not whole or ((actions < 0) | (actions > table.problem.n_questions)).any():
            limits = f"{self.num_envs} integers between 0 and {table.problem.n_questions}"
            raise ValueError(f"actions must be {limits}, got {short_repr(actions)}.")
        over = np.flatnonzero(~table.playing)
        reward = table.act(actions.astype(np.intp), self.np_random)
        ended = ~table.playing
        ended[over] = False
        info = {}
        if ended.any():
            label = table.source.label.copy()
            info = {"decision": table.decision.copy(), "_decision": ended, "true_class": label, "_true_class": ended}
        if over.size:
            table.begin(over, self.np_random)
        return table.look(), reward, ended, np.zeros(self.num_envs, dtype=bool), self._masks() | info

    def _masks(self) -> dict[str, Any]:
        masks = self.action_masks().astype(np.int8)
        return {"action_mask": masks, "_action_mask": np.ones(self.num_envs, dtype=bool)}
