"""Running policies on rows, held against a plain loop over instances."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

from seqclass.pomdp import DECIDE, GridValueIteration, Perseus, StoppingValue, TableProblem, acquire, evaluate
from seqclass.pomdp.account import Account
from seqclass.pomdp.one_step import stopping_is_certain
from seqclass.pomdp.policy import LookaheadPolicy
from seqclass.pomdp.problem import BeliefState


def one_by_one(case, policy, X, charge_missing=False):
    """Decision, posterior, price, features, outcomes and beliefs of each row: Bayes' rule in plain Python."""
    results = []
    for row in X.tolist():
        posterior, context, groups = list(case.prior), 0, set()
        price, path, outcomes, beliefs = 0.0, [], [], [list(case.prior)]
        for stage in range(len(case.prices)):
            paid = None
            if case.groups is not None:
                paid = np.zeros((1, max(case.groups) + 1), dtype=bool)
                paid[0, list(groups)] = True
            account = Account(np.zeros(1), paid)
            belief = BeliefState(case.problem, stage, np.array([posterior]), np.array([context]), account)
            feature = int(policy.action(belief)[0])
            if feature == DECIDE:
                break
            outcome = row[feature]
            full = case.groups is not None and case.groups[stage] >= 0 and case.groups[stage] not in groups
            if outcome >= 0 or charge_missing:
                price += case.full_prices[stage] if full else case.prices[stage]
                if case.groups is not None and case.groups[stage] >= 0:
                    groups.add(case.groups[stage])
            if outcome >= 0:
                joint = [b * p for b, p in zip(posterior, case.tables[stage][context][outcome])]
                posterior = [j / sum(joint) for j in joint]
            if case.moves is not None:
                context = case.moves[stage][context][outcome]
            path.append(feature)
            outcomes.append(outcome)
            beliefs.append(posterior)
        results.append((case.decision(posterior), posterior, price, path, outcomes, beliefs))
    return results


def draw(case, n, seed, missing=0.3):
    """Rows of outcomes that are possible under every class, some missing."""
    rng = np.random.default_rng(seed)
    columns = [rng.integers(len(stage[0]), size=n) for stage in case.tables]
    X = np.column_stack(columns).astype(np.int8)
    X[rng.random(X.shape) < missing] = -1
    return X


def check(result, expected):
    longest = result.leaf_path.shape[1]
    for i, (decision, belief, price, path, outcomes, beliefs) in enumerate(expected):
        leaf = result.leaf[i]
        pad = [-1] * (longest - len(path))
        assert result.leaf_decision[leaf] == decision
        np.testing.assert_allclose(result.leaf_belief[leaf], belief, atol=1e-12)
        assert result.leaf_price[leaf] == pytest.approx(price, abs=1e-12)
        assert result.leaf_path[leaf].tolist() == path + pad
        assert result.leaf_outcome[leaf].tolist() == outcomes + pad
        if result.leaf_beliefs is not None:
            steps = beliefs + [beliefs[-1]] * (longest - len(path))
            np.testing.assert_allclose(result.leaf_beliefs[leaf], steps, atol=1e-12)


@pytest.mark.slow_cells("True-True")
@pytest.mark.covering(1)
@pytest.mark.parametrize("contexts", [False, True])
@pytest.mark.parametrize("charge_missing", [False, True])
def test_equals_a_loop_over_instances(contexts, charge_missing, make_case, policies):
    for seed in (0, 3):
        case = make_case(seed, "free" if seed == 3 else "plain", contexts=contexts)
        X = draw(case, 30, seed)
        for policy in (
            Perseus(n_beliefs=20, certificate_paths=0).solve(case.problem),
            GridValueIteration(6, certificate_paths=0).solve(case.problem),
            LookaheadPolicy(StoppingValue(case.problem)),
            policies.Random(case.problem),
            policies.Fixed(case.problem),
        ):
            result = acquire(policy, X, charge_missing=charge_missing, record_beliefs=True)
            expected = one_by_one(case, policy, X, charge_missing)
            check(result, expected)
            for i in range(4):  # a row by itself
                check(acquire(policy, X[i : i + 1], charge_missing=charge_missing), expected[i : i + 1])


@pytest.mark.slow
@pytest.mark.parametrize("charge_missing", [False, True])
def test_groups_with_a_missing_first_member(charge_missing, case_of, policies):
    table = [[[0.8, 0.3], [0.2, 0.7]]]
    case = case_of(
        [0.5, 0.5],
        [table] * 5,
        [0.05, 0.03, 0.01, 0.02, 0.015],
        [[0.0, 1.0], [1.0, 0.0]],
        groups=[0, 1, 0, -1, 0],
        full_prices=[0.05, 0.03, 0.04, 0.02, 0.06],
    )
    X = draw(case, 200, 0, missing=0.4)
    assert (X[:, 0] == -1).any()
    for policy in (policies.Fixed(case.problem), Perseus(certificate_paths=0).solve(case.problem)):
        check(acquire(policy, X, charge_missing=charge_missing), one_by_one(case, policy, X, charge_missing))
    full = acquire(policies.Fixed(case.problem), np.array([[-1, 0, 0, 0, 0], [0, 0, 0, 0, 0], [-1] * 5]))
    prices = full.leaf_price[full.leaf]
    np.testing.assert_allclose(prices, [0.03 + 0.04 + 0.02 + 0.015, 0.05 + 0.03 + 0.01 + 0.02 + 0.015, 0.0])


@pytest.mark.parametrize("kind", [sp.csr_array, sp.csr_matrix, sp.csc_array])
def test_sparse_equals_dense(kind, make_case, policies):
    for seed in range(4):
        case = make_case(seed, n_stages=5)
        dense = draw(case, 80, seed)
        dense[np.random.default_rng(seed).random(dense.shape) < 0.4] = 0
        sparse = kind(dense)
        for policy in (Perseus(certificate_paths=0).solve(case.problem), policies.Random(case.problem)):
            a, b = acquire(policy, dense), acquire(policy, sparse)
            for name in ("leaf", "leaf_belief", "leaf_decision", "leaf_price", "leaf_path", "leaf_outcome"):
                np.testing.assert_array_equal(getattr(a, name), getattr(b, name))


@pytest.mark.parametrize("dtype", [np.int8, np.int16, np.int64])
@pytest.mark.parametrize("order", ["C", "F"])
def test_types_layouts_and_order_of_features(dtype, order, policies):
    rng = np.random.default_rng(0)
    tables = rng.dirichlet(np.ones(3), size=(3, 2)).transpose(0, 2, 1)
    problem = TableProblem([0.4, 0.6], tables, 0.01, features=[5, 0, 3])
    X = np.asarray(rng.integers(3, size=(50, 6)), dtype=dtype, order=order)
    result = acquire(policies.Fixed(problem), X)
    assert (result.leaf_path == [5, 0, 3]).all()
    np.testing.assert_array_equal(result.leaf_outcome[result.leaf], X[:, [5, 0, 3]])


@pytest.mark.slow
def test_batch_size_does_not_matter(make_case):
    for seed in range(2):
        case = make_case(seed, n_stages=6)
        X = draw(case, 60, seed)
        policy = Perseus(certificate_paths=0).solve(case.problem)
        whole = acquire(policy, X)
        for size in (1, 7, 50):
            for start in range(0, 60, size):
                part = acquire(policy, X[start : start + size])
                rows = whole.leaf[start : start + size]
                assert part.leaf_decision[part.leaf].tolist() == whole.leaf_decision[rows].tolist()
                np.testing.assert_allclose(part.leaf_belief[part.leaf], whole.leaf_belief[rows], atol=1e-14)
                np.testing.assert_allclose(part.leaf_price[part.leaf], whole.leaf_price[rows], atol=1e-14)


def test_each_history_is_kept_once(repeated, policies):
    problem = repeated(4)
    X = np.random.default_rng(0).integers(2, size=(1000, 4))
    result = acquire(policies.Fixed(problem), X)
    assert len(result.leaf_belief) == 16
    assert len(np.unique(result.leaf)) == 16
    assert len({tuple(row) for row in result.leaf_outcome}) == 16


def test_frequencies_are_those_of_the_evaluation(repeated):
    problem = repeated(12, 0.02, 0.7)
    policy = Perseus(certificate_paths=0).solve(problem)
    expected = evaluate(problem, policy, method="exact")
    rng = np.random.default_rng(0)
    y = rng.integers(2, size=20_000)
    X = (rng.random((20_000, 12)) < np.where(y == 0, 0.3, 0.7)[:, None]).astype(np.int8)
    result = acquire(policy, X)
    n_features = (result.leaf_path[result.leaf] >= 0).sum(axis=1)
    wrong = result.leaf_decision[result.leaf] != y
    assert n_features.mean() == pytest.approx(expected.n_features, abs=0.1)
    assert wrong.mean() == pytest.approx(expected.error, abs=0.015)
    assert (result.leaf_price[result.leaf] + wrong).mean() == pytest.approx(expected.cost, abs=0.015)


@pytest.mark.parametrize("record_beliefs", [False, True])
def test_no_rows(record_beliefs, repeated):
    policy = Perseus(certificate_paths=0).solve(repeated(4))
    result = acquire(policy, np.empty((0, 4), dtype=np.int8), record_beliefs=record_beliefs)
    assert result.leaf.size == result.leaf_decision.size == result.leaf_price.size == 0
    assert result.leaf_belief.shape == (0, 2)
    assert (result.leaf_beliefs is not None) == record_beliefs


def test_no_stages_and_all_missing(repeated, policies):
    none = TableProblem([0.3, 0.7], np.empty((0, 2, 2)), np.empty(0))
    result = acquire(policies.Fixed(none), np.empty((3, 0), dtype=np.int8), record_beliefs=True)
    assert result.leaf_decision[result.leaf].tolist() == [1, 1, 1]
    assert result.leaf_path.shape == (1, 0)
    problem = repeated(3)
    result = acquire(Perseus().solve(problem), np.full((2, 3), -1))
    np.testing.assert_array_equal(result.leaf_belief[result.leaf], np.full((2, 2), 0.5))
    assert result.leaf_price.sum() == 0
    assert result.leaf_outcome.max(initial=-1) == -1


def test_bad_rows_are_named(repeated, policies):
    problem = repeated(3)
    policy = policies.Fixed(problem)
    for bad in (2, -2):
        with pytest.raises(ValueError, match=f"feature 1: outcome {bad} is not in 0..1"):
            acquire(policy, np.array([[0, 0, 0], [0, bad, 0]]))
    for X in (np.zeros((2, 2), dtype=int), sp.csr_array(np.zeros((2, 2), dtype=int))):
        with pytest.raises(ValueError, match=r"X has 2 columns.*feature 2"):
            acquire(policy, X)
    sure = TableProblem([0.5, 0.5], np.array([[[1.0, 1.0], [0.0, 0.0]]]), 0.1)
    with pytest.raises(ValueError, match="feature 0: outcome 1 has probability zero"):
        acquire(policies.Fixed(sure), np.array([[0], [1]]))


def test_shortcuts_of_look_ahead_change_no_action(make_case, oracle):
    """Where a stored plan pays, or stopping is settled, look-ahead is spared; it would have said the same."""
    spared = 0
    for seed in range(12):
        case = make_case(seed, "decisions" if seed % 3 == 0 else "plain", contexts=seed % 2 == 1)
        policy = Perseus(n_beliefs=3, certificate_paths=0).solve(case.problem)
        rng = np.random.default_rng(seed)
        for stage in range(len(case.prices)):
            posterior = rng.dirichlet(np.full(len(case.prior), 0.5), size=50)
            context = rng.integers(case.problem.structure.tables.n_contexts(stage), size=50)
            belief = BeliefState(case.problem, stage, posterior, context)
            ahead = policy.continuation_cost(belief)
            plan = policy.values.plan_cost(belief, np.arange(50))
            assert (plan >= ahead - 1e-12).all()
            np.testing.assert_array_equal(policy.action(belief) != DECIDE, ahead < belief.stopping_cost - 1e-12)
            spared += (plan < belief.stopping_cost - 1e-12).sum() + stopping_is_certain(belief).sum()
    assert spared > 100


def test_a_surcharge_of_the_group_is_seen_by_the_policy():
    """Stored plans count the discounted price; whoever has not paid for the group yet must not follow them blindly."""
    table = np.array([[[0.8, 0.3], [0.2, 0.7]]] * 3)
    problem = TableProblem([0.5, 0.5], table, 0.01, groups=[0, 0, 0], full_prices=[0.01, 0.5, 0.5])
    policy = Perseus(certificate_paths=0).solve(problem)
    paid, unpaid = (policy.action(problem.initial_belief().update(np.array([v]))) for v in (0, -1))
    assert paid.tolist() == [1]
    assert unpaid.tolist() == [DECIDE]
