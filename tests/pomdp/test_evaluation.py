"""Evaluation of policies, held against one history at a time."""

from __future__ import annotations

import numpy as np
import pytest

from seqclass.pomdp import GridValueIteration, Perseus, StoppingValue, TableProblem, evaluate
from seqclass.pomdp.policy import LookaheadPolicy


def compare(result, expected):
    for name in ("cost", "price", "n_features", "error"):
        assert getattr(result, name) == pytest.approx(getattr(expected, name), abs=1e-12)
    np.testing.assert_allclose(result.stage, expected.stage, atol=1e-12)
    np.testing.assert_allclose(result.decision_given_class, expected.given, atol=1e-12)
    assert (result.method, result.cost_std_error) == ("exact", 0.0)
    assert result.n_histories == expected.histories


@pytest.mark.covering(1)
@pytest.mark.parametrize("kind", ["plain", "zeros", "prior", "free", "single", "decisions"])
@pytest.mark.parametrize("contexts", [False, True])
def test_exact_is_the_sum_over_histories(kind, contexts, make_case, oracle, policies):
    for seed in range(3):
        case = make_case(seed, kind, contexts=contexts)
        for policy in (
            Perseus(n_beliefs=5, certificate_paths=0).solve(case.problem),
            GridValueIteration(4, certificate_paths=0).solve(case.problem),
            LookaheadPolicy(StoppingValue(case.problem)),
            policies.Random(case.problem),
            policies.Fixed(case.problem),
        ):
            compare(evaluate(case.problem, policy, method="exact"), oracle.run_policy(case, policy))


@pytest.mark.parametrize("seed", range(8))
def test_simulation_agrees_within_its_standard_errors(seed, make_case, policies):
    case = make_case(seed, "decisions" if seed % 2 else "plain", contexts=seed % 2 == 1, n_stages=5)
    policy = policies.Fixed(case.problem, 3) if seed % 2 else policies.Random(case.problem)
    exact = evaluate(case.problem, policy, method="exact")
    sampled = evaluate(case.problem, policy, method="simulation", n_paths=4000, random_state=seed)
    assert sampled.method == "simulation"
    assert sampled.cost_std_error > 0
    assert abs(sampled.cost - exact.cost) < 4 * sampled.cost_std_error
    noise = 4 * 0.5 / np.sqrt(4000)
    np.testing.assert_allclose(sampled.stage, exact.stage, atol=noise)
    assert sampled.stage.sum() == pytest.approx(1)
    assert abs(sampled.error - exact.error) < noise
    assert abs(sampled.n_features - exact.n_features) < 5 * noise * 2
    assert sampled.n_histories <= exact.n_histories


def test_standard_error_is_the_spread_of_the_estimates(repeated, policies):
    problem = repeated(6, 0.05, 0.7)
    policy = policies.Random(problem)
    runs = [evaluate(problem, policy, method="simulation", n_paths=200, random_state=s) for s in range(200)]
    spread = np.std([r.cost for r in runs], ddof=1)
    assert spread == pytest.approx(np.mean([r.cost_std_error for r in runs]), rel=0.2)


def test_referring_is_no_error():
    table = np.array([[[0.7, 0.3], [0.3, 0.7]]])
    costs = np.array([[0.0, 1.0, 0.2], [1.0, 0.0, 0.2]])
    problem = TableProblem([0.5, 0.5], table, 0.01, costs)
    policy = Perseus().solve(problem)
    result = evaluate(problem, policy)
    assert (result.error, result.n_features, result.cost) == (0.0, 0.0, pytest.approx(0.2))
    np.testing.assert_array_equal(result.decision_given_class, [[0, 0, 1], [0, 0, 1]])
    dear = TableProblem([0.5, 0.5], table, 0.01, np.where(costs == 0.2, 0.9, costs))
    assert evaluate(dear, Perseus().solve(dear)).error == pytest.approx(0.3)


def test_classes_of_prior_zero_have_zero_rows():
    table = np.array([[[0.7, 0.3, 0.5], [0.3, 0.7, 0.5]]])
    problem = TableProblem([0.5, 0.5, 0.0], table, 0.01)
    given = evaluate(problem, Perseus().solve(problem)).decision_given_class
    np.testing.assert_allclose(given.sum(axis=1), [1, 1, 0])


def test_the_first_of_a_group_pays_in_full(case_of, oracle, policies):
    table = [[[0.8, 0.3], [0.2, 0.7]]]
    case = case_of(
        [0.5, 0.5],
        [table] * 4,
        [0.5, 0.3, 0.1, 0.2],
        [[0.0, 1.0], [1.0, 0.0]],
        groups=[0, -1, 0, 0],
        full_prices=[0.5, 0.3, 0.4, 0.6],
    )
    result = evaluate(case.problem, policies.Fixed(case.problem))
    assert result.price == pytest.approx(0.5 + 0.3 + 0.1 + 0.2)
    compare(result, oracle.run_policy(case, policies.Fixed(case.problem)))
    # with the price lists of a group that nobody has paid for yet
    late = case_of(
        [0.5, 0.5],
        [table] * 2,
        [0.1, 0.2],
        [[0.0, 1.0], [1.0, 0.0]],
        groups=[1, 1],
        full_prices=[0.4, 0.6],
    )
    assert evaluate(late.problem, policies.Fixed(late.problem)).price == pytest.approx(0.4 + 0.2)


def test_auto_turns_to_simulation(repeated, policies):
    problem = repeated(8)
    policy = policies.Fixed(problem)
    assert evaluate(problem, policy, max_histories=511).method == "exact"
    assert evaluate(problem, policy, max_histories=510).method == "simulation"
    with pytest.raises(ValueError, match="max_histories=510"):
        evaluate(problem, policy, max_histories=510, method="exact")
    for n_questions, method in ((15, "exact"), (16, "simulation")):  # of 65,535 histories, and of 131,071
        many = repeated(n_questions)
        assert evaluate(many, policies.Fixed(many), n_paths=100).method == method


@pytest.mark.parametrize(
    "settings, error",
    [
        ({"method": "guess"}, ValueError),
        ({"n_paths": 0}, ValueError),
        ({"max_histories": 1.5}, TypeError),
        ({"random_state": "x", "method": "simulation"}, ValueError),
    ],
)
def test_bad_settings_name_the_parameter(settings, error, repeated, policies):
    problem = repeated(2)
    with pytest.raises(error, match=next(iter(settings))):
        evaluate(problem, policies.Fixed(problem), **settings)


def test_a_policy_for_another_order_is_refused(policies):
    table = np.array([[[0.9, 0.2], [0.1, 0.8]]] * 2)
    problem = TableProblem([0.5, 0.5], table, 0.01)
    other = TableProblem([0.5, 0.5], table, 0.01, features=[1, 0])
    with pytest.raises(ValueError, match=r"asks for feature 1.*problem's asks for feature 0"):
        evaluate(problem, policies.Fixed(other))
