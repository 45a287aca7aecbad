"""Costs of very different size, and parts of a user's own of the wrong shape."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from seqclass.bn import ObservationModel
from seqclass.pomdp import (
    AcquisitionProblem,
    Adaptive,
    ExactFreeOrder,
    ExactValueIteration,
    FittedValueIteration,
    GridValueIteration,
    LinearThresholdSPSA,
    Lookahead,
    Panels,
    Perseus,
    Policy,
    SolveInfo,
    Solver,
    TableProblem,
    certify,
    evaluate,
)

SOLVERS = [
    ExactValueIteration(certificate_paths=1000),
    GridValueIteration(50, certificate_paths=1000),
    Perseus(100, certificate_paths=1000),
    Lookahead(certificate_paths=1000),
]


def optimum(problem: TableProblem, stage: int, belief: Any) -> float:
    """Least cost, by recursion over all histories."""
    stop = float((belief @ problem.decision_costs).min())
    if stage == problem.n_stages:
        return stop
    joint = problem.likelihoods[stage] * belief
    go_on = float(problem.prices[stage] * belief.sum())
    return min(stop, go_on + sum(optimum(problem, stage + 1, one) for one in joint))


def tells_apart(costs: Any, prior: Any, seed: int) -> TableProblem:
    """Three features, each of which may prove that the class is the first."""
    rng = np.random.default_rng(seed)
    tables = np.array([[[p, 0], [1 - p, 1]] for p in rng.uniform(0.3, 0.95, 3)])
    return TableProblem(prior, tables, rng.uniform(0.001, 0.02, 3), costs)


@pytest.mark.covering(1)
@pytest.mark.parametrize("solver", SOLVERS, ids=repr)
@pytest.mark.parametrize(
    "costs, prior",
    [
        ([[0, 1], [1e12, 0]], [0.5, 0.5]),
        ([[0, 1, 0.3], [1e12, 0, 0.3]], [0.5, 0.5]),
        ([[0, 1e12], [1e12, 0]], [1 - 1e-13, 1e-13]),
    ],
    ids=["one dear mistake", "and a third decision", "improbable"],
)
def test_a_dear_decision_hides_no_cheap_one(solver: Any, costs: Any, prior: Any) -> None:
    for seed in range(5):
        problem = tells_apart(costs, prior, seed)
        best = optimum(problem, 0, problem.prior)
        policy = solver.solve(problem)
        assert evaluate(problem, policy).cost <= best * 1.001
        assert policy.info.lower <= best * (1 + 1e-9)


@given(st.integers(0, 10_000), st.sampled_from([*SOLVERS, LinearThresholdSPSA(certificate_paths=1000)]))
def test_certificates_hold_whatever_the_scale(seed: int, solver: Any) -> None:
    rng = np.random.default_rng(seed)
    n_stages, n_classes, n_outcomes = rng.integers(1, 4), rng.integers(2, 4), rng.integers(2, 4)
    tables = rng.dirichlet(np.full(n_outcomes, 0.3), size=(n_stages, n_classes)).transpose(0, 2, 1)
    costs = 10.0 ** rng.uniform(-15, 15, (n_classes, n_classes)) * 10.0 ** rng.uniform(-40, 40)
    np.fill_diagonal(costs, 0)
    prior = 10.0 ** rng.uniform(-15, 0, n_classes)
    prior /= prior.sum()
    prices = (prior @ costs).min() * 10.0 ** rng.uniform(-6, 0, n_stages)
    problem = TableProblem(prior, tables, prices, costs)
    best = optimum(problem, 0, problem.prior)
    policy = solver.solve(problem)
    found = evaluate(problem, policy).cost
    assert best * (1 - 1e-9) <= found
    assert policy.info.lower <= best * (1 + 1e-9)
    assert policy.info.gap >= 1 - best * (1 + 1e-9) / found


@settings(max_examples=settings.default.max_examples * 4 // 5)
@given(st.integers(0, 10_000), st.integers(-200, 200))
def test_another_unit_changes_no_decision(seed: int, power: int) -> None:
    problem = tells_apart([[0, 1, 0.3], [2, 0, 0.3]], [0.4, 0.6], seed)
    unit = 2.0**power  # by which nothing is rounded
    other = TableProblem(problem.prior, problem.likelihoods, problem.prices * unit, problem.decision_costs * unit)
    beliefs = np.random.default_rng(seed).dirichlet([1, 1], 200)
    for stage in range(3):
        states = []
        for one in (problem, other):
            belief = one.initial_belief(200)
            belief.stage, belief.probabilities = stage, beliefs
            states.append(Lookahead(certificate_paths=0).solve(one).action(belief))
        np.testing.assert_array_equal(*states)
    np.testing.assert_array_equal(problem.decide(beliefs), other.decide(beliefs))


@pytest.mark.parametrize("cost", [1e-320, 1e-101, 1e101, 1e308])
def test_costs_beyond_reckoning_are_refused(cost: float) -> None:
    table = np.array([[[0.9, 0.2], [0.1, 0.8]]])
    message = r"prices must be 0 or between 1e-100 and 1e\+100, got .*: count costs in another unit"
    with pytest.raises(ValueError, match=message):
        TableProblem([0.5, 0.5], table, prices=cost)
    with pytest.raises(ValueError, match="decision_costs must be 0 or between"):
        TableProblem([0.5, 0.5], table, 0.1, [[0, cost], [1, 0]])
    assert TableProblem([0.5, 0.5], table, prices=[1e-100]).prices[0] == 1e-100


class Coin(AcquisitionProblem):
    """A user's problem."""

    shape: tuple[int, ...] = (2, 2)

    def start(self, n: int) -> Any:
        return np.zeros(n)

    def likelihood(self, stage: int, state: Any) -> Any:
        return np.full(self.shape, 0.5)

    def advance(self, stage: int, state: Any, outcome: Any) -> Any:
        return state


@pytest.mark.parametrize("shape", [(2, 2), (1, 2), (3, 2, 2), (1, 3, 2), (1, 2, 3), ()])
def test_a_likelihood_of_the_wrong_shape(shape: tuple[int, ...]) -> None:
    coin = Coin([0.5, 0.5], prices=[0.1], n_outcomes=[2], decision_costs=1 - np.eye(2))
    coin.shape = shape
    message = r"Coin.likelihood of question 0 must give an array of shape \(1, 2, 2\): .* it gave \("
    with pytest.raises(ValueError, match=message):
        Lookahead().solve(coin)


@pytest.mark.parametrize("any_order", [False, True])
@pytest.mark.parametrize(
    "table, message",
    [
        ([[0.9, 0.1], [0.2, 0.8]], "does not sum to 1 over the outcomes but to 1.1"),  # a row a class
        ([[1.5, 0.2], [-0.5, 0.8]], "nowhere negative; it gave -0.5"),
        ([[np.nan, 0.2], [0.1, 0.8]], "does not sum to 1 .* nan"),
    ],
    ids=["transposed", "negative", "nan"],
)
def test_a_likelihood_that_is_no_probability(table: Any, message: str, any_order: bool) -> None:
    class Wrong(Coin):
        def likelihood(self, stage: int, state: Any) -> Any:
            return np.tile(table, (len(state), 1, 1))

    wrong = Wrong([0.5, 0.5], [0.1], [2], 1 - np.eye(2), any_order=any_order)
    with pytest.raises(ValueError, match=f"Wrong.likelihood of question 0 must give .*{message}"):
        Lookahead().solve(wrong)


@pytest.mark.parametrize("any_order", [False, True])
def test_an_advance_that_changes_the_state_it_was_given(any_order: bool) -> None:
    """What was believed before an answer would change with it."""

    class Adds(Coin):
        shape = (1, 2, 2)

        def advance(self, stage: int, state: Any, outcome: Any) -> Any:
            state += outcome
            return state

    belief = Adds([0.5, 0.5], [0.1], [2], 1 - np.eye(2), any_order=any_order).initial_belief().asking(0)
    with pytest.raises(ValueError, match="read-only"):
        belief.update(np.array([1]))


def test_a_model_of_the_wrong_shape() -> None:
    class Model(ObservationModel):
        def _fit(self, X: Any, codes: Any, sample_weight: Any) -> None:
            pass

        def _likelihood(self, feature: int, evidence: Any) -> Any:
            return np.full((2, 2), 0.5)

    model = Model().fit([[0, 1], [1, 1], [0, 0]], ["a", "a", "b"])
    message = r"Model._likelihood must give an array of shape \(1, 2, 2\): rows, outcomes, classes; it gave \(2, 2\)"
    for call in (model.likelihood, model.predictive):
        with pytest.raises(ValueError, match=message):
            call(0, [[-1, 0]])
    with pytest.raises(ValueError, match=message):
        model.posterior([[1, 0]])


class Never(Policy):
    """A policy that decides at once."""

    def _action(self, info: Any) -> Any:
        return np.full(len(info), -1)


def test_wrong_arguments_of_a_policy() -> None:
    problem = TableProblem([0.5, 0.5], np.array([[[0.9, 0.2], [0.1, 0.8]]]), prices=0.1)
    info = SolveInfo("converged")
    with pytest.raises(TypeError, match=r"n_stages must be an integer, got <SolveInfo.*; what .* goes by info="):
        Never(problem, info)  # type: ignore[arg-type]
    for wrong in (1.5, "1", True):
        with pytest.raises(TypeError, match="n_stages must be an integer"):
            Never(problem, wrong)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match=r"problem must be an AcquisitionProblem, such as clf\.problem_, got 5"):
        Never(5)  # type: ignore[arg-type]
    assert Never(problem, np.int64(1), info).info is info


@pytest.mark.parametrize("solver", [Adaptive(), ExactFreeOrder(), FittedValueIteration(100), Lookahead(1), Panels()])
def test_no_question_at_all_in_any_order(solver: Solver) -> None:
    problem = TableProblem([0.5, 0.3, 0.2], np.zeros((0, 2, 3)), prices=0.1, any_order=True)
    policy = solver.solve(problem)
    assert (policy.info.lower, policy.info.upper) == (0.5, 0.5)
    assert certify(problem, policy).gap == 0
