"""The staged problem: updates, prices, stopping, and what is refused."""

from __future__ import annotations

import numpy as np
import pytest

from seqclass.pomdp import AcquisitionProblem, GridValueIteration, Perseus, TableProblem, certify, evaluate
from seqclass.pomdp.account import price_of_question
from seqclass.pomdp.one_step import context_of, stopping_is_certain
from seqclass.pomdp.problem import outcome_likelihood

TABLE = np.array([[[0.9, 0.2], [0.1, 0.8]], [[0.6, 0.3], [0.4, 0.7]]])
BOTH = pytest.mark.parametrize("solver", [GridValueIteration, Perseus])


@pytest.mark.covering(1)
@pytest.mark.parametrize("kind", ["plain", "zeros", "prior", "decisions"])
@pytest.mark.parametrize("contexts", [False, True])
def test_update_is_bayes_rule(kind, contexts, make_case):
    for seed in range(3):
        case = make_case(seed, kind, contexts=contexts)
        frontier = [(case.problem.initial_belief(), case.prior, 0)]
        for stage in range(len(case.prices)):
            following = []
            for info, joint, context in frontier[:20]:
                seen = [v for v, _, _ in case.successors(stage, joint, context)]
                assert np.flatnonzero(info.outcome_probabilities[0]).tolist() == seen
                for v, after, place in case.successors(stage, joint, context):
                    assert info.outcome_probabilities[0, v] == pytest.approx(sum(after) / sum(joint), abs=1e-12)
                    new = info.update(np.array([v]))
                    np.testing.assert_allclose(new.probabilities[0], np.array(after) / sum(after), atol=1e-12)
                    assert new.problem.decide(new.probabilities)[0] == case.decision(after)
                    assert new.stopping_cost[0] == pytest.approx(case.stop(after) / sum(after))
                    following.append((new, after, place))
            frontier = following


def test_order_of_acquisition_does_not_change_the_posterior():
    rng = np.random.default_rng(0)
    tables = rng.dirichlet(np.ones(3), size=(4, 3)).transpose(0, 2, 1)
    outcome = rng.integers(3, size=(10, 4))
    beliefs = []
    for order in ([0, 1, 2, 3], [2, 0, 3, 1]):
        belief = TableProblem([0.2, 0.3, 0.5], tables[order], 0.1, features=order).initial_belief(10)
        for feature in order:
            belief = belief.update(outcome[:, feature])
        beliefs.append(belief.probabilities)
    np.testing.assert_allclose(beliefs[0], beliefs[1], atol=1e-14)


def test_missing_leaves_the_belief_and_moves_the_context():
    problem = TableProblem(
        [0.3, 0.7],
        [TABLE[:1], np.stack([TABLE[1], TABLE[0], TABLE[1]])],
        [0.1, 0.2],
        transitions=[[[0, 1, 2]], [[0, 0, 0]] * 3],
    )
    belief = problem.initial_belief(3).update(np.array([-1, 1, 0]))
    np.testing.assert_array_equal(context_of(belief), [2, 1, 0])
    np.testing.assert_array_equal(belief.probabilities[0], [0.3, 0.7])
    np.testing.assert_allclose(belief.probabilities[1], np.array([0.03, 0.56]) / 0.59)
    np.testing.assert_array_equal(outcome_likelihood(belief)[1], TABLE[0])


def test_rows_of_a_state_keep_what_was_computed():
    belief = TableProblem([0.3, 0.7], TABLE, 0.1).initial_belief(4).update(np.array([0, 1, -1, 0]))
    fresh = belief[np.array([3, 1])]
    _ = belief.joint
    for rows in (np.array([3, 1]), np.array([False, True, False, True])):
        part = belief[rows]
        np.testing.assert_array_equal(part.joint, belief.joint[rows])
        np.testing.assert_array_equal(part.probabilities, belief.probabilities[rows])
    np.testing.assert_array_equal(fresh.joint, belief.joint[[3, 1]])
    repeated = belief.update(np.array([0, 1, -1]), rows=np.array([2, 2, 0]))
    np.testing.assert_allclose(repeated.probabilities[0], belief[np.array([2])].update(np.array([0])).probabilities[0])
    np.testing.assert_array_equal(repeated.probabilities[2], belief.probabilities[0])
    assert repeated.stage == 2


def test_impossible_and_unknown_outcomes_are_named():
    tables = np.array([[[1.0, 1.0, 0.0], [0.0, 0.0, 1.0]]])
    belief = TableProblem([0.5, 0.5, 0.0], tables, 0.1, features=[7]).initial_belief(2)
    with pytest.raises(ValueError, match="feature 7: outcome 1 has probability zero"):
        belief.update(np.array([0, 1]))
    for bad in (2, -2):
        with pytest.raises(ValueError, match=f"feature 7: outcome {bad} is not in 0..1"):
            belief.update(np.array([0, bad]))


def test_settled_up_to_one_price_and_no_further():
    """A feature that tells the class, worth its price by little, or not by little."""
    sure = np.eye(2)[None]
    for price, settled in ((0.1199, False), (0.1201, True)):
        belief = TableProblem([0.88, 0.12], sure, price).initial_belief()
        assert stopping_is_certain(belief).tolist() == [settled]
    assert not stopping_is_certain(TableProblem([0.88, 0.12], sure, 0.0).initial_belief())[0]


def test_settled_only_where_stopping_is_optimal(make_case, oracle):
    settled = 0
    for seed in range(40):
        case = make_case(seed, "decisions")
        rng = np.random.default_rng(seed)
        for belief in rng.dirichlet(np.full(len(case.prior), 0.2), size=5):
            info = case.problem.initial_belief()
            info.probabilities = belief[None]
            if stopping_is_certain(info)[0]:
                settled += 1
                assert oracle.optimum(case, 0, belief.tolist()) == pytest.approx(case.stop(belief.tolist()))
    assert settled > 20
    assert case.problem.initial_belief()._take(np.array([0])).stage == 0


def test_prices_of_groups():
    problem = TableProblem([0.5, 0.5], TABLE[[0, 1, 0]], [5, 1, 3], groups=[0, 0, -1], full_prices=[5, 4, 3])
    belief = problem.initial_belief(2)
    assert price_of_question(belief).tolist() == [5, 5]
    belief = belief.update(np.array([0, -1]))
    assert price_of_question(belief).tolist() == [1, 4]
    assert price_of_question(belief[np.array([1])]).tolist() == [4]
    belief = belief.update(np.array([1, 1]))
    assert price_of_question(belief).tolist() == [3, 3]
    assert belief.account.groups_paid.all()


def test_ties_go_to_the_lowest_decision():
    problem = TableProblem([0.5, 0.5], TABLE, 0.1, [[0, 1, 0], [1, 0, 1]])
    assert problem.decide(np.array([[0.9, 0.1], [0.5, 0.5], [0.2, 0.8], [0.5 - 1e-14, 0.5]])).tolist() == [
        0,
        0,
        1,
        0,
    ]


@BOTH
def test_zero_prices_reach_the_bayes_risk_of_all_features(solver):
    rng = np.random.default_rng(1)
    tables = rng.dirichlet(np.ones(3), size=(5, 2)).transpose(0, 2, 1)
    problem = TableProblem([0.4, 0.6], tables, 0.0)
    joint = np.array([[0.4, 0.6]])
    for table in tables:
        joint = (joint[:, None] * table[None]).reshape(-1, 2)
    policy = solver().solve(problem)
    tolerance = 1e-9 if solver is Perseus else 1e-4
    assert evaluate(problem, policy).cost == pytest.approx(joint.min(axis=1).sum(), abs=tolerance)


@BOTH
def test_prohibitive_prices_buy_nothing(solver):
    problem = TableProblem([0.4, 0.6], TABLE, 0.5)
    policy = solver().solve(problem)
    result = evaluate(problem, policy)
    assert (result.cost, result.n_features) == (0.4, 0.0)
    assert (policy.info.lower, policy.info.upper, policy.info.gap) == (0.4, 0.4, 0.0)


@BOTH
def test_a_useless_last_feature_changes_nothing(solver, make_case):
    for seed in range(5):
        case = make_case(seed, n_classes=2)
        useless = np.full((2, 2), 0.5)
        longer = TableProblem(
            case.prior,
            [*(stage[0] for stage in case.tables), useless],
            [*case.prices, 0.01],
            case.costs,
        )
        settings = {"tolerance": 0.0} if solver is Perseus else {}
        values = [solver(certificate_paths=0, **settings).solve(p).values for p in (case.problem, longer)]
        prior = case.problem.prior[None]
        # the grid reads the useless stage's kinks between its points
        tolerance = 1e-9 if solver is Perseus else 1e-3
        np.testing.assert_allclose(values[0].value(0, prior), values[1].value(0, prior), atol=tolerance)


@pytest.mark.slow_cells("Perseus")
@BOTH
def test_no_policy_is_better(solver, make_case, policies, oracle):
    for seed in range(10):
        case = make_case(seed, n_classes=2)
        ours = oracle.run_policy(case, solver(certificate_paths=0).solve(case.problem)).cost
        others = [policies.Fixed(case.problem, n) for n in range(len(case.prices) + 1)]
        for other in [*others, policies.Random(case.problem)]:
            assert ours <= oracle.run_policy(case, other).cost + 2e-3


@BOTH
@pytest.mark.parametrize("price", [0.0, 0.1])
def test_one_class_and_no_stages(solver, price):
    one = TableProblem([1.0], np.array([[[0.3], [0.7]]]), price, [[0.5, 0.2]])
    policy = solver().solve(one)
    assert (policy.info.upper, policy.info.lower) == (0.2, 0.2)
    assert policy.action(one.initial_belief()).tolist() == [-1]
    assert policy.values.value(0, np.array([[2.0]])).tolist() == pytest.approx([0.4])
    none = TableProblem([0.3, 0.7], np.empty((0, 2, 2)), np.empty(0))
    policy = solver().solve(none)
    assert (policy.info.status, policy.info.upper, policy.info.lower) == ("converged", 0.3, 0.3)
    assert policy.action(none.initial_belief()).tolist() == [-1]


@BOTH
def test_many_outcomes(solver):
    rng = np.random.default_rng(0)
    tables = rng.dirichlet(np.full(200, 0.1), size=(2, 2)).transpose(0, 2, 1)
    problem = TableProblem([0.5, 0.5], tables, 0.001)
    info = solver().solve(problem).info
    assert info.lower <= info.upper
    assert info.gap < 1e-3


class NoTables(AcquisitionProblem):
    """Naive Bayes that does not admit to its tables."""

    def start(self, n):
        return np.zeros(n, dtype=int)

    def likelihood(self, stage, state):
        return np.broadcast_to(TABLE[stage], (len(state), 2, 2))

    def advance(self, stage, state, outcome):
        return state


@BOTH
def test_solvers_say_what_they_need(solver):
    problem = NoTables([0.5, 0.5], [0.1, 0.1], [2, 2], 1 - np.eye(2))
    with pytest.raises(ValueError, match=f"{solver.__name__} needs a problem with tables"):
        solver().solve(problem)
    assert problem.structure.tables is None


def test_problems_without_tables_are_evaluated_and_certified(policies):
    opaque = NoTables([0.5, 0.5], [0.1, 0.1], [2, 2], 1 - np.eye(2))
    known = TableProblem([0.5, 0.5], TABLE, 0.1)
    a, b = (certify(p, policies.Random(p), method="exact") for p in (opaque, known))
    assert (a.lower, a.upper) == (b.lower, b.upper)
    a, b = (certify(p, policies.Random(p), method="simulation") for p in (opaque, known))
    assert (a.lower, a.upper) == pytest.approx((b.lower, b.upper), abs=1e-12)


GOOD = {"prior": [0.5, 0.5], "likelihoods": TABLE, "prices": [0.1, 0.1]}


@pytest.mark.parametrize(
    "change, message",
    [
        ({"prior": [0.5, 0.6]}, "prior must sum to 1"),
        ({"prior": [-0.5, 1.5]}, "prior must not be negative"),
        ({"prior": [0.5, np.nan]}, "prior must be finite"),
        ({"prior": [[0.5, 0.5]]}, "prior must be a vector"),
        ({"prior": [0.2, 0.3, 0.5]}, "likelihoods must have shape"),
        ({"prices": [0.1]}, "2 likelihood tables but 1 prices: give one for each, or for all"),
        ({"prices": [0.1, -0.1]}, "prices must not be negative"),
        ({"prices": [0.1, np.inf]}, "prices must be finite"),
        ({"prices": "cheap"}, "prices must hold numbers"),
        ({"prices": [[0.1, 0.1]]}, "prices must be a vector"),
        ({"decision_costs": np.eye(3)}, "decision_costs must have one row a class"),
        ({"decision_costs": np.empty((2, 0))}, "decision_costs must have one row a class"),
        ({"decision_costs": -np.eye(2)}, "decision_costs must not be negative"),
        ({"likelihoods": TABLE[0]}, "likelihoods must have shape"),
        ({"likelihoods": TABLE * 0.5}, "likelihoods must sum to 1"),
        ({"likelihoods": TABLE - 0.5}, "likelihoods must hold probabilities"),
        ({"likelihoods": list(TABLE[:, 0])}, r"likelihoods\[0\] must have one row an outcome"),
        ({"likelihoods": [TABLE[0], TABLE[1] * 2]}, r"likelihoods\[1\] must sum to 1"),
        ({"likelihoods": [TABLE[0], "none"]}, r"likelihoods\[1\] must hold numbers"),
        ({"n_outcomes": [2, 1]}, r"likelihoods\[1\] must be zero beyond its n_outcomes=1"),
        ({"n_outcomes": [2, 3]}, "n_outcomes must be at most 2"),
        ({"n_outcomes": [2, 0]}, "n_outcomes must be at least 1"),
        ({"features": [0]}, "features must have one entry a question"),
        ({"groups": [0]}, "groups must have one entry a question"),
        ({"groups": [0, 0], "full_prices": [1.0]}, "full_prices must have shape"),
        ({"groups": [0, 0], "full_prices": [1.0, 0.05]}, "full_prices must not be below prices"),
        ({"max_cost": 0.1}, "max_questions and max_cost belong to a problem in any order"),
        ({"transitions": [[[0, 0, 0]]] * 2}, "transitions need likelihoods as a sequence"),
        (
            {"likelihoods": list(TABLE[:, None]), "transitions": [[[0, 0, 0]]]},
            "1 transition tables for 2 stages",
        ),
        (
            {"likelihoods": list(TABLE[:, None]), "transitions": [[[0, 0]], [[0, 0, 0]]]},
            r"transitions\[0\] must have a row a context and a column an outcome",
        ),
        (
            {"likelihoods": list(TABLE[:, None]), "transitions": [[[0, 1, 0]], [[0, 0, 0]]]},
            r"transitions\[0\] names a context that stage 1 does not have",
        ),
        (
            {"likelihoods": list(TABLE), "transitions": [[[0, 0, 0]], [[0, 0, 0]]]},
            r"likelihoods\[0\] must end in shape .* and have 3 dimensions",
        ),
    ],
)
def test_bad_input_is_named(change, message):
    with pytest.raises(ValueError, match=message):
        TableProblem(**{**GOOD, **change})


def test_padded_tables():
    padded = np.zeros((2, 3, 2))
    padded[0] = np.array([[0.2, 0.5], [0.3, 0.2], [0.5, 0.3]])
    padded[1, :2] = TABLE[1]
    whole = TableProblem([0.5, 0.5], [padded[0], TABLE[1]], 0.01)
    problem = TableProblem([0.5, 0.5], padded, 0.01, n_outcomes=[3, 2])
    assert [problem.structure.tables.likelihood(k, np.zeros(1, dtype=int)).shape for k in (0, 1)] == [
        (1, 3, 2),
        (1, 2, 2),
    ]
    assert Perseus().solve(problem).info.upper == Perseus().solve(whole).info.upper
