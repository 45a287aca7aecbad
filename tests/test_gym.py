"""Environments of Gymnasium: its own checks, and mean returns against what policies cost."""

from __future__ import annotations

import importlib.util
import sys
from typing import Any

import numpy as np
import pytest
from free_cases import FreeCase, free_case, mixture_case
from gymnasium.error import ResetNeeded
from gymnasium.utils.env_checker import check_env
from sklearn.datasets import load_breast_cancer

import seqclass.gym
from seqclass import SequentialClassifier
from seqclass.agent.problem import acquisition_problem
from seqclass.costs import Prices, Visits
from seqclass.gym import AcquisitionEnv, AcquisitionVectorEnv
from seqclass.pomdp import (
    ExactFreeOrder,
    ExactValueIteration,
    FirstK,
    FunctionPolicy,
    Lookahead,
    PosteriorThreshold,
    TableProblem,
    evaluate,
)
from seqclass.pomdp.rules import Rules
from seqclass.pomdp.visits import with_visits

#: Groups, extra decisions and bundles, of a naive model, a tree and of latent states.
FREE = [
    *(free_case(seed, most=4) for seed in range(6)),
    *(free_case(seed, tree=True, most=4) for seed in range(3)),
    *(mixture_case(seed, most=4) for seed in range(3)),
]
PAIR = np.array([[[0.9, 0.2], [0.1, 0.8]], [[0.6, 0.5], [0.4, 0.5]]])


def pair(**settings: Any) -> TableProblem:
    return TableProblem([0.5, 0.5], PAIR, 0.05, **settings)


def mean_return(case: FreeCase, problem: Any, policy: Any, reward: str) -> float:
    """Returns of all outcomes with all classes, as likely as they are."""
    index, weight = np.array(list(np.ndindex(case.joint.shape))), case.joint.ravel()
    envs = AcquisitionVectorEnv(problem, len(index), reward=reward)
    observation, _ = envs.reset(seed=0, options={"observations": index[:, :-1], "true_class": index[:, -1]})
    total, over = np.zeros(len(index)), np.zeros(len(index), dtype=bool)
    while not over.all():
        masks, action = envs.action_masks(), envs.actions_of(policy)
        assert masks[np.arange(len(index)), action].all()
        observation, gain, ended, truncated, info = envs.step(action)
        assert observation in envs.observation_space
        assert not truncated.any()
        np.testing.assert_array_equal(info["action_mask"], envs.action_masks())
        total += np.where(over, 0.0, gain)
        over |= ended
    return float(weight @ total)


def wild(belief: Any) -> Any:
    """Asks and stops by a hash of the belief."""
    number = np.abs(np.sin(1000 * belief.probabilities @ np.arange(1.0, belief.probabilities.shape[1] + 1)))
    question = (number * belief.problem.n_questions).astype(int)
    may = belief.available[np.arange(len(belief)), question]
    return np.where(may & (number < 0.8), question, -1)


@pytest.mark.covering(1)
@pytest.mark.parametrize("case", FREE)
@pytest.mark.parametrize("reward", ["realised", "expected"])
def test_mean_returns_are_what_policies_cost(case: FreeCase, reward: str) -> None:
    policies = [
        ExactFreeOrder(certificate_paths=0).solve(case.problem),
        Lookahead().solve(case.problem),
        FunctionPolicy(case.problem, wild),
    ]
    for policy in policies:
        cost = evaluate(case.problem, policy, method="exact").cost
        assert mean_return(case, case.problem, policy, reward) == pytest.approx(-cost, abs=1e-9)
    assert cost == pytest.approx(case.run(policy)[0], abs=1e-9)


@pytest.mark.parametrize("case", [case for case in FREE if hasattr(case.model, "stage_likelihood")])
def test_mean_returns_in_one_order(case: FreeCase) -> None:
    n = len(case.questions)
    if any(len(members) > 1 for members in case.questions):
        order, bundles = np.concatenate(case.questions), np.full(case.joint.ndim - 1, -1)
        bundles[next(members for members in case.questions if len(members) > 1)] = 0
    else:
        order, bundles = np.arange(n), None
    width = case.joint.ndim - 1
    full, discounted, groups = np.zeros(width), np.zeros(width), np.full(width, -1)
    for members, price, less, group in zip(case.questions, case.full, case.discounted, case.groups):
        full[members], discounted[members], groups[members] = price, less, group
    prices = Prices(full, discounted, groups if (groups >= 0).any() else None)
    problem = acquisition_problem(case.model, order, prices, case.costs, bundles=bundles)
    policies = [Lookahead().solve(problem), FirstK(2).solve(problem), PosteriorThreshold(0.9).solve(problem)]
    if bundles is None and problem.structure.tables is not None and problem.n_outcomes.prod() < 40:
        policies.append(ExactValueIteration(certificate_paths=0).solve(problem))
    for policy in policies:
        cost = evaluate(problem, policy, method="exact").cost
        for reward in ("realised", "expected"):
            assert mean_return(case, problem, policy, reward) == pytest.approx(-cost, abs=1e-9)


@pytest.mark.parametrize("case", [FREE[0], FREE[1], FREE[10]])
def test_one_case_is_like_many(case: FreeCase) -> None:
    index = np.array(list(np.ndindex(case.joint.shape)))[::5]
    policy, env = Lookahead().solve(case.problem), AcquisitionEnv(case.problem)
    envs = AcquisitionVectorEnv(case.problem, len(index))
    many, _ = envs.reset(options={"observations": index[:, :-1], "true_class": index[:, -1]})
    alone = []
    for row in index:
        observation, info = env.reset(options={"observations": row[None, :-1], "true_class": int(row[-1])})
        path, ended = [], False
        while not ended:
            action = int(policy.action(env.belief)[0]) + 1
            assert info["action_mask"][action] == env.action_masks()[action] == 1
            after, gain, ended, truncated, info = env.step(action)
            assert after in env.observation_space
            path.append((observation, action, gain))
            observation = after
        assert not truncated
        assert info["true_class"] == row[-1]
        alone.append(path)
    for step in range(max(map(len, alone))):
        action = envs.actions_of(policy)
        after, gain, *_ = envs.step(action)
        for number, path in enumerate(alone):
            if step < len(path):
                np.testing.assert_allclose(many["belief"][number], path[step][0]["belief"], atol=1e-6)
                np.testing.assert_array_equal(many["seen"][number], path[step][0]["seen"])
                assert (action[number], gain[number]) == (path[step][1], pytest.approx(path[step][2]))
        many = after


@pytest.mark.parametrize("case", [FREE[0], FREE[2], FREE[9]])
def test_gymnasium_checks_them(case: FreeCase) -> None:
    check_env(AcquisitionEnv(case.problem), skip_render_check=True)


def test_gymnasium_checks_one_order_and_a_classifier() -> None:
    check_env(AcquisitionEnv(pair()), skip_render_check=True)
    X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    clf = SequentialClassifier(feature_costs=0.02, solver=Lookahead()).fit(X.iloc[:200, :4], y[:200])
    check_env(AcquisitionEnv(clf, observations=X.iloc[200:, :4], true_class=y[200:]), skip_render_check=True)
    env = AcquisitionEnv(clf, observations=X.iloc[[300], :4], true_class=y[[300]])
    record, ended, paid = clf.acquire(X.iloc[[300], :4]), False, 0.0
    env.reset(seed=0)
    while not ended:
        _, gain, ended, _, info = env.step(int(clf.policy_.action(env.belief)[0]) + 1)
        paid += gain
    assert clf.decisions_[info["decision"]] == record.decision[0]
    assert -paid == pytest.approx(record.paid[0] + (record.decision[0] != y[300]))


def test_many_draw_their_cases_and_begin_anew() -> None:
    problem = pair(any_order=True)
    policy = ExactFreeOrder(certificate_paths=0).solve(problem)
    envs = AcquisitionVectorEnv(problem, 500)
    envs.reset(seed=0)
    total, returns, before = np.zeros(500), [], np.zeros(500, dtype=bool)
    labels, count = [], np.zeros(500, dtype=int)
    for _ in range(33):  # eight episodes of two questions, a decision and a step that begins anew; or shorter ones
        observation, gain, ended, _, info = envs.step(envs.actions_of(policy))
        assert (gain[before] == 0).all()  # the step that begins anew
        np.testing.assert_allclose(observation["belief"][before], 0.5)
        assert (observation["seen"][before] == 0).all()
        total = np.where(before, 0.0, total + gain)
        returns += total[ended & (count < 8)].tolist()
        count += ended
        if ended.any():
            np.testing.assert_array_equal(info["_decision"], ended)
            labels += info["true_class"][ended].tolist()
            wrong = info["decision"][ended] != info["true_class"][ended]
            np.testing.assert_allclose(gain[ended], -wrong.astype(float))
        before = ended
    assert len(returns) == 4000  # as many of each: those that come first would be the short ones
    error = np.std(returns) / len(returns) ** 0.5
    assert abs(np.mean(returns) + evaluate(problem, policy).cost) < 4 * error
    assert np.mean(labels) == pytest.approx(0.5, abs=0.03)


def test_seeds_and_options() -> None:
    problem = pair(any_order=True)

    def play(seed: int) -> Any:
        envs = AcquisitionVectorEnv(problem, 20)
        envs.reset(seed=seed)
        return envs.step(np.ones(20, dtype=int))[0]["seen"].tolist()

    assert play(1) == play(1) != play(2)
    envs = AcquisitionVectorEnv(problem, 4)
    envs.reset(options={"true_class": [0, 1, 1, 0]})
    assert envs.step(np.zeros(4, dtype=int))[4]["true_class"].tolist() == [0, 1, 1, 0]
    env = AcquisitionEnv(problem, world=problem.replace(prior=np.array([0.0, 1.0])))
    for seed in range(5):
        env.reset(seed=seed)
        assert env.step(0)[4]["true_class"] == 1
    env = AcquisitionEnv(problem, observations=[[0, -1]], reward="expected")
    env.reset(seed=0)
    observation, gain, *_ = env.step(2)
    assert (observation["seen"].tolist(), gain) == ([0, 1], 0.0)  # missing, and not paid for
    assert env.step(0)[1:3] == (-0.5, True)


@pytest.mark.parametrize("last", [0, 1])
def test_rows_given_with_a_reset_stand_until_the_next_one(last: int) -> None:
    # whether or not both cases end at one step
    envs = AcquisitionVectorEnv(pair(any_order=True), 2)
    envs.reset(seed=0, options={"observations": [[0, 0], [0, 0]], "true_class": [0, 0]})
    envs.step(np.array([0, last]))
    classes = [envs.step(np.zeros(2, dtype=int))[4].get("true_class", np.zeros(2)) for _ in range(20)]
    assert not np.any(classes)
    envs.reset()
    classes = [envs.step(np.zeros(2, dtype=int))[4].get("true_class", np.zeros(2)) for _ in range(20)]
    assert np.any(classes)


def test_a_class_alone_is_of_cases_that_are_drawn() -> None:
    env = AcquisitionEnv(pair(any_order=True), observations=[[0, 0], [1, 1]], true_class=[0, 1])
    env.reset(seed=0)
    with pytest.raises(ValueError, match="true_class says the class of rows here: give them with it"):
        env.reset(options={"true_class": 1})
    env.reset(options={"true_class": 1, "observations": [[1, 1]]})
    assert env.step(0)[4]["true_class"] == 1


def test_only_what_is_open_may_be_asked() -> None:
    env = AcquisitionEnv(pair())
    env.reset(seed=0)
    assert env.action_masks().tolist() == [True, True, False]
    _, gain, ended, _, info = env.step(2)
    assert (gain, ended, info["decision"]) == (-1.0, True, -1)
    assert env.action_masks().tolist() == [True, False, False]
    with pytest.raises(ResetNeeded, match="the episode is over"):
        env.step(0)
    limited = AcquisitionEnv(pair(any_order=True, max_questions=1))
    limited.reset(seed=0)
    limited.step(2)
    assert limited.action_masks().tolist() == [True, False, False]


def test_what_has_to_be_asked_is_asked_first() -> None:
    X, y = load_breast_cancer(return_X_y=True)
    clf = SequentialClassifier(feature_costs=0.02, order="adaptive", rules=Rules(mandatory=[0]))
    clf.fit(X[:200, :3], y[:200])
    env = AcquisitionEnv(clf)
    env.reset(seed=0)
    assert not env.action_masks()[0]
    question = int(np.flatnonzero(clf.problem_.features == 0)[0])
    env.step(question + 1)
    assert env.action_masks()[0]


def test_visits_are_paid_one_by_one() -> None:
    env = AcquisitionEnv(with_visits(pair(any_order=True), Visits(0.25, np.zeros(2))))
    env.reset(seed=0)
    assert [env.step(1)[1], env.step(2)[1]] == pytest.approx([-0.3, -0.3])


def test_what_is_wrong_is_named() -> None:
    problem = pair()
    wrong: list[tuple[type[Exception], str, Any]] = [
        (TypeError, "problem must be an AcquisitionProblem", lambda: AcquisitionEnv(3)),
        (ValueError, "reward must be one of 'realised', 'expected'", lambda: AcquisitionEnv(problem, reward="x")),
        (ValueError, "num_envs must be at least 1", lambda: AcquisitionVectorEnv(problem, 0)),
        (ValueError, "true_class goes with observations", lambda: AcquisitionEnv(problem, true_class=[0])),
        (ValueError, "leave one of them out", lambda: AcquisitionEnv(problem, observations=[[0, 0]], world=problem)),
        (ValueError, "true_class must say the class of each", lambda: AcquisitionEnv(problem, observations=[[0, 0]])),
        (
            ValueError,
            "a class for each of 1 rows, got 2",
            lambda: AcquisitionEnv(problem, observations=[[0, 0]], true_class=[0, 1]),
        ),
        (ResetNeeded, "call reset", lambda: AcquisitionEnv(problem).step(0)),
        (ResetNeeded, "call reset", lambda: AcquisitionEnv(problem).belief),
        (ResetNeeded, "call reset", lambda: AcquisitionVectorEnv(problem, 2).step([0, 0])),
        (ValueError, "options may have", lambda: AcquisitionEnv(problem).reset(options={"x": 1})),
        (
            ValueError,
            "observations must have 1 rows, a case each, got 2",
            lambda: AcquisitionEnv(problem).reset(options={"observations": [[0, 0], [0, 1]], "true_class": [0, 0]}),
        ),
    ]
    for kind, text, call in wrong:
        with pytest.raises(kind, match=text):
            call()
    env, envs = AcquisitionEnv(problem), AcquisitionVectorEnv(problem, 2)
    env.reset(), envs.reset()
    with pytest.raises(ValueError, match="action must be between 0 and 2, got 3"):
        env.step(3)
    for actions in ([0], [0, 3], [0.5, 0.5]):
        with pytest.raises(ValueError, match="actions must be 2 integers between 0 and 2"):
            envs.step(actions)


def test_without_gymnasium_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [name for name in sys.modules if name.partition(".")[0] == "gymnasium"]:
        monkeypatch.setitem(sys.modules, name, None)
    spec = importlib.util.spec_from_file_location("bare_gym", seqclass.gym.__file__)
    assert spec is not None
    assert spec.loader is not None
    bare = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(bare)
    for make in (lambda: bare.AcquisitionEnv(pair()), lambda: bare.AcquisitionVectorEnv(pair(), 2)):
        with pytest.raises(ImportError, match=r"pip install 'seqclass\[gym\]'"):
            make()
