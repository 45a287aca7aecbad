"""Simple policies do what they say, whatever the problem, and are certified like any other."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from sklearn.base import clone

from seqclass import SequentialClassifier
from seqclass.pomdp import (
    DECIDE,
    FirstK,
    FunctionPolicy,
    FunctionSolver,
    Lookahead,
    PosteriorThreshold,
    TableProblem,
    evaluate,
    optimal_cost,
)
from seqclass.pomdp.ties import TIE

RULES = [FirstK(0), FirstK(None), FirstK(2), PosteriorThreshold(0.8), Lookahead(1), Lookahead(2), Lookahead(3)]
KINDS = ["plain", "zeros", "prior", "free", "single", "useless", "equal", "decisions"]


@pytest.mark.covering(1)
@pytest.mark.parametrize("rule", RULES, ids=repr)
@pytest.mark.parametrize("kind", KINDS)
def test_bounds_hold_and_the_policy_costs_what_it_says(rule, kind, make_case, oracle):
    for seed, contexts in ((0, False), (1, True)):
        case = make_case(seed, kind, contexts=contexts)
        policy = rule.solve(case.problem)
        run = oracle.run_policy(case, policy)
        assert policy.info.status == ("converged" if policy.info.gap <= 0.02 else "wide gap")
        assert policy.info.upper == pytest.approx(run.cost, abs=1e-12)
        assert policy.info.lower <= oracle.optimum(case) + 1e-12
        assert run.cost >= oracle.optimum(case) - 1e-12


def test_fixed_lengths(make_case, oracle):
    case = make_case(3, n_stages=4)
    for rule, n_stages in ((FirstK(0), 0), (FirstK(1), 1), (FirstK(3), 3), (FirstK(9), 4), (FirstK(None), 4)):
        policy = rule.solve(case.problem)
        run = oracle.run_policy(case, policy)
        assert run.n_features == pytest.approx(n_stages)
        assert run.price == pytest.approx(sum(case.prices[:n_stages]))
        assert policy.info.n_stages == n_stages
    assert oracle.run_policy(case, FirstK(0).solve(case.problem)).cost == case.stop(case.prior)


def look(case, depth, stage, joint, context):
    """Cost of going on, and then at most ``depth - 1`` features more, by recursion."""
    cost = case.prices[stage] * sum(joint)
    for _, following, after in case.successors(stage, joint, context):
        value = case.stop(following)
        if depth > 1 and stage + 1 < len(case.prices):
            value = min(value, look(case, depth - 1, stage + 1, following, after))
        cost += value
    return cost


@pytest.mark.parametrize("depth", [1, 2, 3])
def test_lookahead_is_what_recursion_finds(depth, make_case):
    for seed in range(4):
        case = make_case(seed, contexts=seed % 2 == 1, n_stages=4)
        policy = Lookahead(depth, certificate_paths=0).solve(case.problem)
        frontier = [(0, case.prior, 0)]
        info = case.problem.initial_belief()
        while frontier and info.stage < 4:
            wanted = [look(case, depth, s, j, c) / sum(j) for s, j, c in frontier]
            np.testing.assert_allclose(policy.continuation_cost(info), wanted, atol=1e-12)
            stop = [case.stop(j) / sum(j) for _, j, _ in frontier]
            np.testing.assert_array_equal(policy.action(info) >= 0, np.array(wanted) < np.array(stop) * (1 - TIE))
            branches = [(row, *b) for row, (s, j, c) in enumerate(frontier) for b in case.successors(s, j, c)]
            info = info.update(np.array([b[1] for b in branches]), rows=np.array([b[0] for b in branches]))
            frontier = [(info.stage, b[2], b[3]) for b in branches]


def test_full_lookahead_is_optimal_and_deeper_sees_more(make_case, oracle):
    for seed in range(6):
        case = make_case(seed, "useless", n_stages=4)
        costs = [evaluate(case.problem, Lookahead(d, certificate_paths=0).solve(case.problem)).cost for d in (1, 2, 4)]
        assert costs[-1] == pytest.approx(oracle.optimum(case), abs=1e-12)
        assert min(costs) == pytest.approx(costs[-1], abs=1e-12)


def test_group_discounts_count_for_what_lies_ahead(case_of, oracle):
    table = [[[0.8, 0.2], [0.2, 0.8]]]
    case = case_of(
        [0.5, 0.5], [table] * 3, [0.2, 0.02, 0.02], [[0.0, 1.0], [1.0, 0.0]], None, [0, 0, 0], [0.2, 0.2, 0.2]
    )
    policy = Lookahead(3).solve(case.problem)
    assert policy.info.upper == pytest.approx(oracle.run_policy(case, policy).cost)
    assert policy.info.gap == 0


def test_threshold_stops_where_it_is_reached(make_case):
    for seed in range(4):
        problem = make_case(seed, n_stages=4).problem
        for threshold in (0.0, 0.6, 0.9, 1.0):
            policy = PosteriorThreshold(threshold, certificate_paths=0).solve(problem)
            info = problem.initial_belief()
            while info.stage < problem.n_stages and len(info):
                go_on = policy.action(info) >= 0
                np.testing.assert_array_equal(go_on, info.probabilities.max(axis=1) < threshold - 1e-12)
                info = info[go_on]
                parent, outcome = np.nonzero(info.outcome_probabilities)
                info = info.update(outcome, rows=parent)


def test_a_rule_needs_no_tables(repeated):
    problem = repeated(6, 0.01)

    class Opaque(type(problem)):
        tables = None

        def likelihood(self, stage, state):
            return np.broadcast_to(self.likelihoods[stage], (len(state), 2, 2))

    opaque = object.__new__(Opaque)
    opaque.__dict__.update(problem.__dict__)
    for rule in (FirstK(0), FirstK(None), FirstK(2), PosteriorThreshold(0.8), Lookahead(2)):
        rule = clone(rule).set_params(certificate_paths=0)
        assert evaluate(opaque, rule.solve(opaque)).cost == evaluate(problem, rule.solve(problem)).cost


@pytest.mark.slow
def test_simulated_certificate_of_a_long_problem(repeated):
    problem = repeated(40, 0.002, 0.6)
    info = Lookahead(2, certificate_paths=1000).solve(problem).info
    assert info.confidence == 0.99
    # fewer features cannot do better
    assert info.lower <= optimal_cost(repeated(12, 0.002, 0.6))
    assert info.lower < info.upper < 0.5


@pytest.mark.parametrize(
    "rule", [FirstK(-1), PosteriorThreshold(1.5), Lookahead(0), FirstK(None, certificate_paths=-1)], ids=repr
)
def test_wrong_settings_are_refused(rule, repeated):
    with pytest.raises(ValueError, match=r"k must|threshold must|depth must|certificate_paths must"):
        rule.solve(repeated(2))


@pytest.mark.parametrize("any_order", [False, True])
@pytest.mark.parametrize("depth", [1, 2])
def test_look_ahead_stops_at_a_tie(depth: int, any_order: bool) -> None:
    """What saves its price to the digit is not asked for; what saves a little more is."""
    table = np.array([[[0.9, 0.2], [0.1, 0.8]]])
    for price, question in ((0.35, DECIDE), (0.35 - 1e-9, 0), (0.35 + 1e-9, DECIDE)):
        problem = TableProblem([0.5, 0.5], table, price, any_order=any_order)
        assert Lookahead(depth, certificate_paths=0).solve(problem).action(problem.initial_belief()).tolist() == [
            question
        ]
    twice = TableProblem([0.5, 0.5], np.repeat(table, 2, axis=0), 0.1, any_order=True)
    assert Lookahead(depth, certificate_paths=0).solve(twice).action(twice.initial_belief()).tolist() == [0]


def test_a_function_is_a_solver_of_a_classifier() -> None:
    def until_sure(belief: Any) -> Any:
        return np.where(belief.probabilities.max(axis=1) < 0.9, belief.available.argmax(axis=1), -1)

    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 80)
    X = (rng.random((80, 3)) < np.where(y, 0.8, 0.2)[:, None]).astype(float)
    solver = FunctionSolver(until_sure, certificate_paths=100)
    clf = SequentialClassifier(order="adaptive", solver=clone(solver)).fit(X, y)
    asked = FunctionPolicy(clf.problem_, until_sure)
    assert evaluate(clf.problem_, clf.policy_).cost == evaluate(clf.problem_, asked).cost
    assert clf.policy_.info.upper >= clf.policy_.info.lower > 0
    for wrong in (until_sure, asked):
        with pytest.raises(TypeError, match=r"solver must be a solver, got .*FunctionSolver\(function\)"):
            SequentialClassifier(order="adaptive", solver=wrong).fit(X, y)
    with pytest.raises(TypeError, match="function must be a function of a belief"):
        FunctionSolver(3).solve(clf.problem_)
