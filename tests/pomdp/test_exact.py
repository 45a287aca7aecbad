"""Exact value iteration against recursion over all histories, at the prior and at any other belief."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.spatial import QhullError

import seqclass.pomdp.solvers.exact as exact_module
from seqclass import load
from seqclass.persistence import save
from seqclass.pomdp import AcquisitionProblem, ExactValueIteration, GridValueIteration, TableProblem, evaluate
from seqclass.pomdp import alpha as alpha_module
from seqclass.pomdp.solvers.exact import (
    Budget,
    envelope_of,
    linear_support,
    lower,
    prune_sum,
    thin,
    total,
    values_of,
    vertices,
)
from seqclass.testing.solvers import count_ticks

GOLDEN = Path(__file__).parents[3] / "shared" / "golden" / "pomdp" / "problem.json"
KINDS = ("plain", "zeros", "prior", "free", "single", "useless", "equal", "decisions", "sharp")


def random_problem(n_classes, n_outcomes, n_stages, price=0.01, seed=0):
    tables = np.random.default_rng(seed).dirichlet(np.ones(n_outcomes), size=(n_stages, n_classes))
    return TableProblem(np.full(n_classes, 1 / n_classes), tables.transpose(0, 2, 1), price)


def solve(problem, **changes):
    return ExactValueIteration(**{"certificate_paths": 0, **changes}).solve(problem)


def at(policy, belief, context):
    return float(policy.values.value(0, np.asarray(belief)[None], np.zeros(1, dtype=int) if context else None)[0])


@pytest.mark.covering
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("contexts", [False, True])
@pytest.mark.parametrize("n_classes, n_stages, n_seeds", [(2, None, 2), (3, 3, 1), (4, 2, 1)])
def test_equals_recursion_at_every_belief(kind, contexts, n_classes, n_stages, n_seeds, make_case, oracle):
    for seed in range(n_seeds):
        stages = None if kind == "single" else n_stages
        case = make_case(seed, kind, contexts=contexts, n_classes=n_classes, n_stages=stages)
        policy = solve(case.problem)
        truth = oracle.optimum(case)
        if policy.info.status == "converged":
            others = np.random.default_rng(seed).dirichlet(np.full(n_classes, 0.7), size=3)
            for belief in [*others, *np.eye(n_classes)]:
                assert at(policy, belief, contexts) == pytest.approx(
                    oracle.optimum(case, joint=belief.tolist()), abs=1e-9
                )
        assert n_classes == 4 or policy.info.status == "converged"
        assert at(policy, case.prior, contexts) == pytest.approx(truth, abs=1e-9)
        assert oracle.run_policy(case, policy).cost == pytest.approx(truth, abs=1e-9)


@pytest.mark.slow_cells("prior-programs-4-1")
@pytest.mark.covering(1)
@pytest.mark.parametrize(
    "method, n_classes, n_stages", [("vertices", 2, 5), ("programs", 2, 3), ("programs", 3, 2), ("programs", 4, 1)]
)
@pytest.mark.parametrize("kind", ["plain", "zeros", "prior", "decisions"])
def test_methods_agree(method, n_classes, n_stages, kind, make_case):
    case = make_case(0, kind, n_classes=n_classes, n_stages=n_stages)
    one, other = solve(case.problem), solve(case.problem, method=method, max_seconds=None)
    belief = np.random.default_rng(0).dirichlet(np.full(n_classes, 0.7), size=200)
    for stage in range(n_stages):
        first, second = (policy.values.value(stage, belief) for policy in (one, other))
        np.testing.assert_allclose(first, second, rtol=0, atol=1.1e-9)


@pytest.mark.slow
def test_sets_are_minimal():
    """Each vector is lower than all others, stopping included, at some belief."""
    for method in ("vertices", "programs"):
        policy = solve(random_problem(3, 2, 3), method=method)
        assert [len(s) for s in policy.values.sets] == [30, 10, 3]
    policy = solve(random_problem(3, 3, 4))
    assert [len(s) for s in policy.values.sets] == [1432, 255, 45, 7]


def test_prior_needs_no_new_solve(make_case, oracle):
    case = make_case(1, "plain", n_classes=3, n_stages=3)
    policy = solve(case.problem)
    other = [0.1, 0.2, 0.7]
    assert at(policy, other, False) == pytest.approx(oracle.optimum(case, joint=other), abs=1e-9)


def test_golden_optimum():
    if not GOLDEN.exists():
        pytest.skip(f"no golden data at {GOLDEN}")
    golden = json.loads(GOLDEN.read_text())
    problem = TableProblem(golden["prior"], golden["likelihood"], golden["costs"], np.array(golden["decision_costs"]))
    policy = ExactValueIteration().solve(problem)
    assert at(policy, golden["prior"], False) == pytest.approx(golden["optimum"], abs=1e-9)
    assert policy.info.gap == 0


@pytest.mark.slow
def test_two_classes_forty_features():
    problem = random_problem(2, 3, 40)
    policy = ExactValueIteration(1e-7, certificate_paths=500).solve(problem)
    assert policy.info.status == "converged"
    assert max(map(len, policy.values.sets)) < 20_000
    grid = GridValueIteration(2000, certificate_paths=0).solve(problem)
    # the grid is below the optimum, by little
    assert 0 <= at(policy, problem.prior, False) - at(grid, problem.prior, False) + 1e-7 < 1e-5


@pytest.mark.slow
def test_horizon_doubles_where_the_rest_matters_little(repeated):
    policy = ExactValueIteration(1e-7, certificate_paths=2000).solve(repeated(2000, price=0.02, strength=0.7))
    assert policy.info.n_stages < 2000
    assert policy.info.status == "converged"
    assert policy.info.gap < 0.01


def test_certificate_holds_with_several_contexts(make_case, oracle):
    case = make_case(4, "plain", contexts=True, n_classes=2)
    policy = ExactValueIteration().solve(case.problem)
    assert policy.info.lower == pytest.approx(oracle.optimum(case), abs=1e-9)
    assert policy.info.upper == pytest.approx(oracle.optimum(case), abs=1e-9)


@pytest.mark.covering(1)
@pytest.mark.parametrize("n_classes, n_outcomes, n_stages", [(2, 3, 20), (3, 3, 6), (7, 2, 4)])
@pytest.mark.parametrize("budget", [{"max_vectors": 40}, {"max_seconds": 0}, {"max_seconds": 10}])
def test_a_spent_budget_ends_soon_with_bounds_that_hold(n_classes, n_outcomes, n_stages, budget):
    problem = random_problem(n_classes, n_outcomes, n_stages)
    with count_ticks() as looks:
        policy = ExactValueIteration(**budget, certificate_paths=300).solve(problem)
    assert policy.info.status == "limit"
    if "max_seconds" in budget:  # it is seen at once that they are over, and no stage after it goes on
        assert budget["max_seconds"] < looks() <= budget["max_seconds"] + 5 + 5 * n_stages
    assert max(map(len, policy.values.sets)) <= budget.get("max_vectors", 10_000)
    value = at(policy, problem.prior, False)
    assert policy.info.lower <= policy.info.upper <= value * 1.05 + 1e-9
    assert policy.info.gap < 0.05
    # never better than the truth, which a finer grid bounds from below
    if n_classes <= 3:
        grid = GridValueIteration(60, certificate_paths=0).solve(problem)
        beliefs = np.random.default_rng(0).dirichlet(np.ones(n_classes), size=50)
        assert (policy.values.value(0, beliefs) >= grid.values.value(0, beliefs) - 1e-9).all()


def test_budget_of_programs_is_kept():
    with count_ticks() as looks:
        policy = ExactValueIteration(method="programs", max_seconds=20, certificate_paths=0).solve(
            random_problem(3, 3, 6)
        )
    assert policy.info.status == "limit"
    assert 20 < looks() <= 50


@pytest.mark.slow
def test_limit_ends_the_doubling(repeated):
    problem = repeated(500, price=0.0, strength=0.51)
    policy = ExactValueIteration(max_vectors=5, certificate_paths=0).solve(problem)
    assert policy.info.status == "limit"
    assert policy.info.n_stages == 64


def test_linear_programs_where_vertices_fail(make_case, oracle, monkeypatch):
    def fail(*_):
        raise QhullError("flat")

    case = make_case(0, "plain", n_classes=3, n_stages=2)
    monkeypatch.setattr(exact_module, "linear_support", fail)
    policy = solve(case.problem, max_seconds=None)
    assert policy.info.status == "converged"
    assert at(policy, case.prior, False) == pytest.approx(oracle.optimum(case), abs=1e-9)


def test_one_class():
    policy = solve(TableProblem([1.0], np.array([[[0.4], [0.6]]] * 3), 0.1, [[0.3, 0.2]]))
    assert policy.info.status == "converged"
    assert at(policy, [1.0], False) == pytest.approx(0.2)


def test_deterministic_and_unchanged_by_seed_where_complete():
    problem = random_problem(3, 2, 5)
    first, second, other = (solve(problem, random_state=seed) for seed in (0, 0, 1))
    for a, b, c in zip(first.values.sets, second.values.sets, other.values.sets):
        np.testing.assert_array_equal(a.vectors, b.vectors)
        assert len(a) == len(c)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_saved_and_loaded(n_classes, tmp_path):
    problem = random_problem(n_classes, 2, 4)
    policy = solve(problem)
    save(policy, tmp_path / "policy.zip")
    again = load(tmp_path / "policy.zip")
    belief = np.random.default_rng(0).dirichlet(np.ones(n_classes), size=20)
    np.testing.assert_array_equal(policy.values.value(0, belief), again.values.value(0, belief))


class Tableless(AcquisitionProblem):
    def start(self, n):
        return np.zeros(n)

    def likelihood(self, stage, state):
        raise AssertionError("asked before it was refused")

    def advance(self, stage, state, outcome):
        return state


def test_refusals():
    problem = Tableless([0.5, 0.5], [0.1], [2], 1 - np.eye(2))
    with pytest.raises(ValueError, match="ExactValueIteration needs a problem with tables"):
        solve(problem)
    with pytest.raises(ValueError, match="method='breakpoints' is for two classes"):
        solve(random_problem(3, 2, 2), method="breakpoints")
    for name, value in {
        "tolerance": -1.0,
        "method": "simplex",
        "max_vectors": 0,
        "max_seconds": -1,
        "n_beliefs": 0,
    }.items():
        with pytest.raises(ValueError, match=name):
            solve(random_problem(2, 2, 2), **{name: value})


# parts


def lines(seed, n):
    return np.random.default_rng(seed).random((n, 2))


@given(seed=st.integers(0, 10**6), n=st.integers(1, 12), zeros=st.booleans())
def test_merged_breakpoints_are_the_sum_over_outcomes(seed, n, zeros):
    rng = np.random.default_rng(seed)
    likelihood = rng.dirichlet(np.ones(3), size=2).T
    if zeros:
        likelihood[0, 0] = likelihood[1, 1] = 0
    after = [lines(seed + v, n) for v in range(3)]
    merged = total([envelope_of(vectors) for vectors in after], likelihood, 0.25)
    belief = np.vstack([rng.dirichlet(np.ones(2), size=50), np.eye(2)])
    expected = 0.25 + sum(values_of(belief * row, vectors) for row, vectors in zip(likelihood, after))
    np.testing.assert_allclose(values_of(belief, merged.vectors), expected, atol=1e-12)
    assert (np.diff(merged.starts) > 0).all()
    assert merged.starts[0] == 0
    # each vector is the lowest on its own piece
    odds = merged.starts * (1 + 1e-9)
    on = np.stack([1 / (1 + odds), odds / (1 + odds)], axis=1)
    np.testing.assert_allclose(np.einsum("nc,nc->n", on, merged.vectors), values_of(on, merged.vectors), atol=1e-8)


@given(seed=st.integers(0, 10**6), n=st.integers(1, 60), tolerance=st.sampled_from([0.0, 1e-6, 1e-3, 0.1]))
def test_thinning_raises_no_value_by_more_than_allowed(seed, n, tolerance):
    slopes = np.random.default_rng(seed).random(n)
    curve = envelope_of(np.stack([slopes**2, (1 - slopes) ** 2], axis=1))
    thinner, kept = thin(curve, tolerance)
    belief = np.random.default_rng(seed).dirichlet(np.ones(2), size=300)
    rise = values_of(belief, thinner.vectors) - values_of(belief, curve.vectors)
    assert rise.max() <= tolerance + 1e-12
    np.testing.assert_array_equal(curve.vectors[kept], thinner.vectors)
    both, own = lower(curve, thinner)
    np.testing.assert_allclose(values_of(belief, both.vectors), values_of(belief, curve.vectors), atol=1e-12)
    assert own.shape == both.starts.shape


def test_thinning_saves_pieces():
    slopes = np.linspace(0, 1, 100)
    curve = envelope_of(np.stack([slopes**2, (1 - slopes) ** 2], axis=1))
    sizes = [len(thin(curve, tolerance)[1]) for tolerance in (1e-6, 1e-3, 1e-2)]
    assert sizes[0] > sizes[1] > sizes[2] > 1


@pytest.mark.parametrize("n_classes", [3, 4])
def test_vertices_are_those_of_the_regions(n_classes):
    vectors = np.random.default_rng(n_classes).random((6, n_classes)) + 0.1
    found = vertices(vectors)
    scores = found @ vectors.T
    # as many vectors and sides of the simplex meet at a vertex as there are classes
    meet = (scores <= scores.min(axis=1, keepdims=True) + 1e-9).sum(axis=1) + (found < 1e-12).sum(axis=1)
    assert (meet >= n_classes).all()
    for corner in np.eye(n_classes):
        assert np.abs(found - corner).max(axis=1).min() < 1e-12


def test_support_and_programs_find_the_same_vectors():
    rng = np.random.default_rng(2)
    likelihood, stop = rng.dirichlet(np.ones(2), size=3).T, 1 - np.eye(3)
    after = [np.vstack([stop, rng.random((4, 3)) * 0.6 + 0.1]) for _ in range(2)]

    def plans(belief):
        return 0.02 + sum(row * a[(belief * row @ a.T).argmin(axis=1)] for row, a in zip(likelihood, after))

    first = linear_support(np.empty((0, 3)), stop, plans, 1e-10, Budget(1000, None))
    sums = [row * vectors for row, vectors in zip(likelihood, after)]
    second = prune_sum(sums, 0.02, stop, np.eye(3), 1e-10, Budget(1000, None))
    belief = rng.dirichlet(np.ones(3), size=2000)
    truth = np.minimum(values_of(belief, stop), np.einsum("nc,nc->n", plans(belief), belief))
    for vectors in (first, second):
        np.testing.assert_allclose(values_of(belief, np.vstack([stop, vectors])), truth, atol=1e-9)
    assert len(first) == len(second)


@pytest.mark.slow
def test_evaluation_needs_no_tables_of_all_pairs(monkeypatch):
    """Look-ahead on tens of thousands of vectors of two classes takes a bisection, not a product with each."""
    problem = random_problem(2, 3, 20)
    policy = solve(problem)
    assert max(map(len, policy.values.sets)) > 1000
    products, best = [], alpha_module.best_vectors

    def noted(belief, vectors, *how):
        products.append(len(vectors))
        return best(belief, vectors, *how)

    monkeypatch.setattr(alpha_module, "best_vectors", noted)
    evaluate(problem, policy, method="simulation", n_paths=10_000)
    assert max(products, default=0) < 100
