"""Episodes against plain enumeration: who is asked what, what is believed, and what it costs."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pandas as pd
import pytest
from free_cases import FreeCase, free_case, mixture_case
from sklearn.datasets import load_breast_cancer

import seqclass
from seqclass.bn import NaiveBayes, TreeNetwork
from seqclass.costs import Visits
from seqclass.discretize import Discretizer
from seqclass.pomdp import (
    Adaptive,
    FunctionPolicy,
    Lookahead,
    Panels,
    Perseus,
    TableProblem,
    acquire,
    evaluate,
    simulate,
    stepthrough,
    with_names,
)
from seqclass.pomdp.sweeps.budget import RandomisedPolicy
from seqclass.pomdp.visits import with_visits

CASES = [
    *(free_case(seed, most=4) for seed in range(4)),
    free_case(4, tree=True, most=4),
    mixture_case(0),
    mixture_case(1),
]
PAIR = np.array([[[0.9, 0.2], [0.1, 0.8]], [[0.6, 0.5], [0.4, 0.5]]])


def policy_for(case: FreeCase) -> Any:
    return Adaptive(certificate_paths=0, random_state=0).solve(case.problem)


def everything(joint: Any) -> tuple[Any, Any, Any]:
    """All outcomes with all classes, and how likely each is."""
    index = np.array(list(np.ndindex(joint.shape)))
    return index[:, :-1], index[:, -1], joint.ravel()


def shown(case: FreeCase, episodes: Any, leaf: int) -> tuple[Any, ...]:
    """What a history showed, feature by feature."""
    seen: list[Any] = [None] * (case.joint.ndim - 1)
    for question, outcome in zip(episodes.acquired.leaf_question[leaf], episodes.acquired.leaf_outcome[leaf]):
        if question >= 0:
            members = case.questions[question]
            sizes = [case.joint.shape[feature] for feature in members]
            for feature, value in zip(members, np.unravel_index(int(outcome), sizes)):
                seen[feature] = int(value)
    return tuple(seen)


@pytest.mark.parametrize("case", CASES)
def test_histories_and_classes_are_as_likely_as_the_model_has_them(case: FreeCase) -> None:
    n = 20_000
    episodes = simulate(case.problem, policy_for(case), n, random_state=1)
    assert len(episodes) == n
    leaves = len(episodes.acquired.leaf_price)
    count = np.zeros((leaves, case.joint.shape[-1]))
    np.add.at(count, (episodes.acquired.leaf, episodes.true_class), 1)
    total = 0.0
    for leaf in range(leaves):
        mass = case.mass(shown(case, episodes, leaf))
        np.testing.assert_allclose(episodes.acquired.leaf_belief[leaf], mass / mass.sum(), atol=1e-9)
        assert (np.abs(count[leaf] / n - mass) <= 5 * np.sqrt(mass / n) + 5 / n).all()
        total += mass.sum()
    assert total > 0.98  # hardly a history is left out
    error = episodes.cost.std() / n**0.5
    assert abs(episodes.cost.mean() - evaluate(case.problem, episodes.policy).cost) < 4 * error


@pytest.mark.parametrize("case", CASES[:3])
def test_a_class_may_be_fixed(case: FreeCase) -> None:
    n = 8000
    episodes = simulate(case.problem, policy_for(case), n, true_class=1, random_state=2)
    assert (episodes.true_class == 1).all()
    X, y, weight = everything(case.joint)
    of = y == 1
    each = simulate(case.problem, episodes.policy, observations=X[of], true_class=y[of])
    expected = weight[of] @ each.cost / weight[of].sum()
    assert abs(episodes.cost.mean() - expected) < 4 * episodes.cost.std() / n**0.5
    mixed = simulate(case.problem, episodes.policy, true_class=["class 1", "class 0"])
    assert mixed.true_class.tolist() == [1, 0]


@pytest.mark.parametrize("case", CASES)
def test_the_weighted_cost_of_all_rows_is_that_of_the_policy(case: FreeCase) -> None:
    """By rows nothing is drawn: beside `acquire` row by row, and in the mean `evaluate` and an own enumeration."""
    policy = policy_for(case)
    X, y, weight = everything(case.joint)
    episodes = simulate(case.problem, policy, observations=X, true_class=y)
    assert weight @ episodes.cost == pytest.approx(case.run(policy)[0], abs=1e-9)
    assert weight @ episodes.cost == pytest.approx(evaluate(case.problem, policy, method="exact").cost, abs=1e-9)
    assert weight @ simulate(case.problem, policy, observations=X).cost == pytest.approx(case.run(policy)[0], abs=1e-9)
    plain = acquire(policy, X)
    np.testing.assert_array_equal(episodes.decision, plain.leaf_decision[plain.leaf])
    np.testing.assert_array_equal(episodes.paid, plain.leaf_price[plain.leaf])


@pytest.mark.parametrize("seed", [1, 2])
@pytest.mark.parametrize("kind", ["problem", "model"])
def test_another_world(seed: int, kind: str) -> None:
    """A naive policy in a world of a tree: its mean cost is that of all rows, as likely as they are there."""
    n, tree = 15_000, free_case(seed, tree=True, n_questions=3)
    sizes = tree.joint.shape[:-1]
    rng = np.random.default_rng(seed)
    n_classes = tree.joint.shape[-1]
    tables = [rng.dirichlet(np.full(size, 2.0), size=n_classes).T for size in sizes]
    believed = TableProblem(rng.dirichlet(np.ones(n_classes)), tables, 0.02, any_order=True)
    policy = Adaptive(certificate_paths=0, random_state=0).solve(believed)
    X, y, weight = everything(tree.joint)
    expected = weight @ simulate(believed, policy, observations=X, true_class=y).cost
    world = tree.problem if kind == "problem" else tree.model
    episodes = simulate(believed, policy, n, world=world, random_state=3)
    assert abs(episodes.cost.mean() - expected) < 4 * episodes.cost.std() / n**0.5
    np.testing.assert_allclose(np.bincount(episodes.true_class) / n, tree.problem.prior, atol=0.02)
    own = simulate(believed, policy, n, random_state=3)
    assert abs(own.cost.mean() - expected) > 4 * episodes.cost.std() / n**0.5  # the test can tell


def test_worlds_of_bundles() -> None:
    """A bundle's features answer together as the model of the world has it."""
    case = next(case for seed in range(0, 30, 3) if (case := free_case(seed, tree=True, n_questions=3)).problem.bundles)
    episodes = simulate(case.problem, policy_for(case), 20_000, world=case.model, random_state=0)
    error = episodes.cost.std() / 20_000**0.5
    assert abs(episodes.cost.mean() - evaluate(case.problem, episodes.policy).cost) < 4 * error


def test_fixed_orders_with_contexts_and_groups(make_case: Any) -> None:
    for seed, kind in ((0, "plain"), (1, "decisions"), (2, "free")):
        case = make_case(seed, kind, contexts=True)
        policy = Perseus(certificate_paths=0, random_state=0).solve(case.problem)
        for world in (None, case.problem):
            episodes = simulate(case.problem, policy, 10_000, world=world, random_state=4)
            error = episodes.cost.std() / 100 + 1e-12
            assert abs(episodes.cost.mean() - evaluate(case.problem, policy).cost) < 4 * error


@pytest.mark.parametrize("case", [CASES[0], CASES[1], CASES[5]])
def test_frame_replay_and_steps_tell_the_same(case: FreeCase) -> None:
    policy = policy_for(case)
    episodes = simulate(case.problem, policy, 8, random_state=5)
    frame = episodes.to_frame()
    assert frame.groupby("case").size().tolist() == (episodes.n_questions + 1).tolist()
    n_features = case.joint.ndim - 1
    for number in range(8):
        rows = frame[frame["case"] == number]
        steps = list(episodes.replay(number))
        assert rows["step"].tolist() == list(range(len(steps)))
        beliefs = np.array([belief.probabilities[0] for belief, _, _ in steps])
        columns = [name for name in frame.columns if name.startswith("P(")]
        np.testing.assert_allclose(rows[columns].to_numpy(), beliefs, atol=1e-12)
        assert [step.question for step in steps[:-1]] == rows["question"].tolist()[:-1]
        assert [step.outcome for step in steps[:-1]] == rows["observation"].tolist()[:-1]
        assert rows["question"].isna().tolist() == [False] * (len(steps) - 1) + [True]
        assert rows["decision"].tolist()[-1] == f"class {episodes.decision[number]}" or episodes.decision[
            number
        ] >= len(columns)
        assert rows["decision"].isna().tolist() == [True] * (len(steps) - 1) + [False]
        paid = [step.belief.spent[0] for step in steps[1:]]
        np.testing.assert_allclose(rows["paid"], [*paid, paid[-1] if paid else 0.0])
        assert steps[-1].decision == episodes.decision[number]
        # the same case by hand
        seen = shown(case, episodes, int(episodes.acquired.leaf[number]))
        row = [-1 if value is None else value for value in seen]
        again = list(stepthrough(case.problem, policy, case=row))
        assert [(s.action, s.observation, s.decision) for s in again] == [
            (s.action, s.observation, s.decision) for s in steps
        ]
        told = {}
        for question in (step.action for step in steps[:-1]):
            values = {f"feature {feature}": seen[feature] for feature in case.questions[question]}
            told[question] = values if len(values) > 1 else next(iter(values.values()))
        assert [s.action for s in stepthrough(case.problem, policy, case=told)] == [s.action for s in steps]
        assert len(row) == n_features


def test_a_policy_is_asked_once_a_level_however_many_cases_there_are() -> None:
    problem, calls = TableProblem([0.5, 0.5], PAIR, 0.01, any_order=True), []

    def ask(belief: Any) -> Any:
        calls.append(len(belief))
        return np.where(belief.available.any(axis=1), belief.available.argmax(axis=1), -1)

    episodes = simulate(problem, ask, 50_000, random_state=0)
    assert len(episodes) == 50_000
    assert calls == [1, 2]  # histories, of which the last level has no question left
    assert isinstance(episodes.policy, FunctionPolicy)
    assert len(episodes.to_frame()) == 150_000


def test_seeds_and_sizes() -> None:
    problem = TableProblem([0.5, 0.5], PAIR, 0.01)
    policy = Lookahead().solve(problem)
    first, same, other = (simulate(problem, policy, 50, random_state=seed).to_frame() for seed in (1, 1, 2))
    assert first.equals(same)
    assert not first.equals(other)
    assert len(simulate(problem, policy)) == 1
    none = simulate(problem, policy, 0)
    assert repr(none) == "<Episodes: 0 cases>"
    assert len(none.to_frame()) == 0
    assert np.isnan(simulate(problem, policy, 1).interval()).all()
    low, high = simulate(problem, policy, 100, random_state=0).interval(0.5)
    wide = simulate(problem, policy, 100, random_state=0).interval(0.99)
    assert wide[0] < low < high < wide[1]


def test_missing_answers_of_rows() -> None:
    problem = TableProblem([0.5, 0.5], PAIR, 0.01)
    policy = FunctionPolicy(problem, lambda belief: np.full(len(belief), belief.stage < 2))
    frame = simulate(problem, policy, observations=[[-1, 0]]).to_frame()
    assert frame["observation"].tolist()[:2] == ["missing", "0"]
    assert frame["paid"].tolist() == [0.0, 0.01, 0.01]
    assert "true_class" not in frame
    np.testing.assert_allclose(frame["P(class 0)"], [0.5, 0.5, 6 / 11])


def test_cases_of_a_problem_may_be_told_by_name() -> None:
    problem = with_names(
        TableProblem([0.5, 0.5], PAIR, 0.01, any_order=True), ["blood test", "x-ray"], outcomes=[["low", "high"]] * 2
    )
    policy = Lookahead(2).solve(problem)
    cases = [{"x-ray": "high"}, {"x-ray": "low", "blood test": "high"}, {"blood test": 0, "x-ray": float("nan")}]
    coded = [[-1, 1], [1, 0], [0, -1]]
    expected = simulate(problem, policy, observations=coded).to_frame()
    frame = pd.DataFrame(cases)[["x-ray", "blood test"]].astype(object)
    for told in (cases, tuple(cases), frame, pd.DataFrame(coded, columns=problem.names.questions)):
        pd.testing.assert_frame_equal(simulate(problem, policy, observations=told).to_frame(), expected)
    assert [step.observation for step in stepthrough(problem, policy, case=cases[1])][:-1] == [
        step.observation for step in simulate(problem, policy, observations=coded).replay(1)
    ][:-1]
    # a column in which some are missing is one of floats
    gaps = pd.DataFrame({"blood test": [None, 1.0, 0.0], "x-ray": [1.0, 0.0, None]})
    pd.testing.assert_frame_equal(simulate(problem, policy, observations=gaps).to_frame(), expected)
    assert len(list(stepthrough(problem, policy, case=gaps.iloc[0]))) > 1
    with pytest.raises(ValueError, match=r"low.*got 0\.5"):
        simulate(problem, policy, observations=[{"x-ray": 0.5}])
    twice = pd.DataFrame([[0, 1]], columns=["x-ray", "x-ray"])
    for told in (twice, [{"x-ray": 0}, {"x_ray": 1}], [{"x-ray": 0, 1: 1}]):
        with pytest.raises(ValueError, match="observations has 'x-ray' twice"):
            simulate(problem, policy, observations=told)
    with pytest.raises(ValueError, match="'scan' is no question of this problem"):
        simulate(problem, policy, observations=[{"scan": "high"}])
    with pytest.raises(ValueError, match="Names of outcomes go in dicts or a frame"):
        simulate(problem, policy, observations=[["low", "high"]])


def test_what_the_problem_holds_for_impossible_is_an_error() -> None:
    sure = TableProblem([0.5, 0.5], np.array([[[1.0, 1.0], [0.0, 0.0]]]), 0.01)
    policy = FunctionPolicy(sure, lambda belief: np.full(len(belief), belief.stage < 1))
    world = TableProblem([0.5, 0.5], np.array([[[0.0, 0.0], [1.0, 1.0]]]), 0.01)
    with pytest.raises(ValueError, match="feature 0: outcome 1 has probability zero"):
        simulate(sure, policy, 3, world=world)


def test_visits_and_drawn_components() -> None:
    problem = TableProblem([0.5, 0.5], np.tile(PAIR, (2, 1, 1)), 0.01, any_order=True)
    visits = with_visits(problem, Visits(0.05, np.zeros(4)))
    policy = Panels(certificate_paths=0, random_state=0).solve(visits)
    episodes = simulate(visits, policy, 5000, random_state=0)
    assert abs(episodes.cost.mean() - evaluate(visits, policy).cost) < 4 * episodes.cost.std() / 5000**0.5
    steps = list(episodes.replay(0))
    assert steps[-1].belief.spent[0] == pytest.approx(episodes.paid[0])
    assert episodes.to_frame()["paid"].iloc[len(steps) - 1] == pytest.approx(episodes.paid[0])
    never, always = (FunctionPolicy(problem, lambda belief, q=q: np.full(len(belief), q), 1) for q in (-1, 0))
    drawn = RandomisedPolicy([never, always], [0.25, 0.75])
    asked = simulate(problem, drawn, 4000, random_state=0).n_questions
    assert asked.mean() == pytest.approx(0.75, abs=0.03)


@pytest.fixture(scope="module")
def fitted() -> Any:
    X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    X, y = X.iloc[:, :6], np.where(y == 0, "malignant", "benign")
    clf, other = (
        seqclass.SequentialClassifier(model, feature_costs=0.02, solver=Lookahead()).fit(X[:300], y[:300])
        for model in (NaiveBayes(), TreeNetwork())
    )
    return clf, other, X[300:], y[300:]


def test_classifiers(fitted: Any) -> None:
    clf, other, X, y = fitted
    record = clf.acquire(X)
    episodes = simulate(clf, observations=X, true_class=y)
    assert clf.decisions_[episodes.decision].tolist() == record.decision.tolist()
    np.testing.assert_allclose(episodes.paid, record.paid)
    assert episodes.cost.mean() == pytest.approx((record.paid + (record.decision != y)).mean())
    asked = X.columns[record.order[7][record.order[7] >= 0]]
    for case in (X.iloc[[7]], X.iloc[7], X.iloc[7].to_dict(), X.iloc[7][asked].to_dict()):
        again = [(step.action, step.observation) for step in stepthrough(clf, case=case)]
        assert again == [(step.action, step.observation) for step in episodes.replay(7)]
    drawn = simulate(clf, n=3000, true_class="malignant", random_state=0)
    assert set(clf.classes_[drawn.true_class]) == {"malignant"}
    pair = simulate(clf.problem_, clf.policy_, 3000, random_state=0)
    np.testing.assert_array_equal(simulate(clf.agent_, n=3000, random_state=0).cost, pair.cost)
    elsewhere = simulate(clf, n=3000, world=other, random_state=0)
    columns = clf.agent_.support[clf.problem_.features]
    model = other.agent_.model
    codes, _ = model.sample(20_000, 0)
    rows = np.full((len(codes), 1 + clf.problem_.features.max()), -1)
    rows[:, clf.problem_.features] = codes[:, np.searchsorted(other.agent_.support, columns)]
    asked = simulate(clf.problem_, clf.policy_, observations=rows).n_questions
    assert elsewhere.n_questions.mean() == pytest.approx(asked.mean(), abs=0.06)


def test_what_is_known_at_the_start() -> None:
    X, y = load_breast_cancer(return_X_y=True)
    X = X[:, :5]
    clf = seqclass.SequentialClassifier(feature_costs=0.02, solver=Lookahead(), known=[0]).fit(X[:300], y[:300])
    record = clf.acquire(X[300:])
    episodes = simulate(clf, observations=X[300:], true_class=y[300:])
    assert clf.decisions_[episodes.decision].tolist() == record.decision.tolist()
    drawn = simulate(clf, n=4000, random_state=0)
    assert abs(drawn.cost.mean() - evaluate(clf.problem_, clf.policy_).cost) < 5 * drawn.cost.std() / 4000**0.5
    share = np.bincount(drawn.true_class) / 4000
    np.testing.assert_allclose(share, clf.problem_.prior, atol=0.03)
    assert simulate(clf, n=4000, world=clf.problem_, true_class=1, random_state=0).true_class.all()
    with pytest.raises(ValueError, match="known at the start: give the fitted classifier"):
        simulate(clf.problem_, clf.policy_, observations=np.zeros((1, 5), dtype=int))
    with pytest.raises(ValueError, match="world must be a problem of the same starts"):
        simulate(clf, world=clf.agent_.model)
    with pytest.raises(ValueError, match="world must have the same starts"):
        simulate(clf, world=clf.problem_.replace(starts=None))


def test_what_is_wrong_is_named(fitted: Any) -> None:
    clf, other, _, _ = fitted
    problem = TableProblem([0.5, 0.5], PAIR, 0.01)
    policy = Lookahead().solve(problem)
    wrong: list[tuple[type[Exception], str, Any]] = [
        (TypeError, "problem must be an AcquisitionProblem or a fitted", lambda: simulate(3)),
        (TypeError, "policy is needed beside a problem", lambda: simulate(problem)),
        (TypeError, "policy must be a Policy", lambda: simulate(problem, 3)),
        (ValueError, "n must be at least 0", lambda: simulate(problem, policy, -1)),
        (ValueError, "3 by n, 2 by true_class", lambda: simulate(problem, policy, 3, true_class=[0, 1])),
        (ValueError, "true_class must be among .*got 2", lambda: simulate(problem, policy, true_class=2)),
        (ValueError, "true_class must be among .*got 'x'", lambda: simulate(clf, true_class="x")),
        (ValueError, "must be one class or one for each", lambda: simulate(problem, policy, true_class=[[0]])),
        (ValueError, "leave one of them out", lambda: simulate(problem, policy, observations=[[0, 0]], world=problem)),
        (ValueError, "observations must be integers", lambda: simulate(problem, policy, observations=[[0.5, 0]])),
        (ValueError, r"shape \(n, 2\)", lambda: simulate(problem, policy, observations=[[0]])),
        (ValueError, "feature 0: outcome 7 is not", lambda: simulate(problem, policy, observations=[[7, 0]])),
        (TypeError, "world must be an AcquisitionProblem", lambda: simulate(problem, policy, world="x")),
        (TypeError, "world may be a fitted classifier beside", lambda: simulate(problem, policy, world=other)),
        (
            ValueError,
            "world must have the problem's 2 classes, it has 3",
            lambda: simulate(problem, policy, world=TableProblem([0.2, 0.3, 0.5], np.full((2, 2, 3), 0.5), 0.1)),
        ),
        (
            ValueError,
            "world must answer 'feature 1' by one of 2 outcomes, it has no such question",
            lambda: simulate(problem, policy, world=TableProblem([0.5, 0.5], PAIR[:1], 0.1)),
        ),
        (
            ValueError,
            "which has no probability",
            lambda: simulate(problem.replace(prior=np.array([1.0, 0.0])), policy, true_class=1),
        ),
        (ValueError, "case must be", lambda: simulate(problem, policy, 2).replay(2)),
        (ValueError, "'x' is no question of this problem", lambda: stepthrough(problem, policy, case={"x": 0})),
        (ValueError, "confidence must be", lambda: simulate(problem, policy, 2).interval(2)),
    ]
    for kind, text, call in wrong:
        with pytest.raises(kind, match=text):
            call()


def test_names_are_those_of_the_columns(fitted: Any) -> None:
    clf, _, X, y = fitted
    episodes = simulate(clf, observations=X[:20], true_class=y[:20])
    frame = episodes.to_frame()
    assert {"P(benign)", "P(malignant)"} <= set(frame)
    assert set(frame["question"].dropna()) <= set(X.columns)
    assert set(frame["true_class"]) == set(frame["decision"].dropna()) == {"benign", "malignant"}
    names = clf.problem_.names
    for question, shown in frame[["question", "observation"]].dropna().drop_duplicates().itertuples(index=False):
        assert shown in names.outcomes(question)
    assert "<p>Episodes: 20 cases" in episodes._repr_html_()
    step = next(episodes.replay(0))
    assert repr(step) == f"<Step: asks {step.question}, sees {step.outcome}>"
    assert step.question in X.columns
    with pytest.raises(ValueError, match="case has 'age', which is no column"):
        stepthrough(clf, case={"age": 3})


def test_bins_of_a_world_are_the_same(fitted: Any) -> None:
    clf, _, X, y = fitted
    finer = seqclass.SequentialClassifier(discretizer=Discretizer(3), solver=Lookahead()).fit(X, y)
    with pytest.raises(ValueError, match="into other bins: fit both on the same"):
        simulate(clf, world=finer)


def test_steps_unpack_and_show_themselves() -> None:
    problem = TableProblem([0.5, 0.5], PAIR, 0.01)
    policy = FunctionPolicy(problem, lambda belief: np.full(len(belief), belief.stage < 1))
    seen = [(action, observation) for _, action, observation in stepthrough(problem, policy, case={0: 1})]
    assert seen == [(0, 1), (-1, None)]
    assert list(map(repr, stepthrough(problem, policy, case=[1, 0]))) == [
        "<Step: asks feature 0, sees 1>",
        "<Step: decides class 1>",
    ]
    pairs = itertools.islice(stepthrough(problem, policy, world=problem, true_class=1, random_state=0), 1)
    assert [step.belief.stage for step in pairs] == [0]


@pytest.mark.slow
def test_rows_that_all_draw_the_same_lot_have_it():
    X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    X = X.iloc[:, :6]
    clf = seqclass.SequentialClassifier(target_cost=0.02).fit(X[:300], y[:300])
    record = clf.acquire(X[300:320])
    for row in range(300, 320):  # a row by itself draws one lot
        steps = list(stepthrough(clf, case=X.iloc[row]))
        assert len(steps) - 1 == record.n_features[row - 300]
        assert simulate(clf, observations=X[row : row + 1]).paid[0] == pytest.approx(record.paid[row - 300])
