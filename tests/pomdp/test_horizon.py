"""The doubling horizon: a long problem costs what its first stages cost."""

from __future__ import annotations

from functools import partial

import numpy as np
import pytest

from seqclass.pomdp import GridValueIteration, Perseus, TableProblem, certify

BOTH = pytest.mark.parametrize("solver", [GridValueIteration, partial(Perseus, 300)], ids=["grid", "Perseus"])


def claim(policy):
    return policy.values.value(0, policy.problem.prior[None])[0]


@pytest.mark.slow_cells("0.6-Perseus", "0.9-Perseus")
@BOTH
@pytest.mark.parametrize("strength", [pytest.param(0.52, marks=pytest.mark.slow), 0.6, 0.9])
def test_truncated_and_full_horizon_agree(solver, strength, repeated):
    problem = repeated(120, 0.0005, strength)
    full = solver(horizon_tolerance=0.0, certificate_paths=0).solve(problem)
    cut = solver(certificate_paths=0).solve(problem)
    assert cut.info.status == full.info.status == "converged"
    assert claim(cut) == pytest.approx(claim(full), rel=1e-3)
    if strength == 0.9:
        assert cut.info.n_stages == 64


@BOTH
def test_the_first_horizon_is_a_setting(solver, repeated):
    problem = repeated(300, 0.0005, 0.9)
    usual, short = (solver(certificate_paths=0, **more).solve(problem) for more in ({}, {"first_horizon": 32}))
    assert (usual.info.n_stages, short.info.n_stages) == (64, 32)
    assert claim(short) == pytest.approx(claim(usual), rel=1e-3)
    with pytest.raises(ValueError, match="first_horizon"):
        solver(first_horizon=0).solve(problem)


@pytest.mark.slow_cells("Perseus")
@BOTH
def test_limit_of_stages_is_kept_and_told(solver, repeated):
    problem = repeated(100, 0.0001, 0.52)
    policy = solver(max_stages=20).solve(problem)
    assert (policy.info.status, policy.info.n_stages) == ("truncated", 20)
    # the bounds are for the whole problem all the same
    full = solver(certificate_paths=0).solve(problem)
    assert policy.info.lower <= claim(full) + 1e-9
    assert claim(full) <= policy.info.upper
    assert policy.info.gap > 0.1
    info = problem.initial_belief()
    for _ in range(20):
        info = info.update(np.array([0]))
    assert policy.action(info).tolist() == [-1]
    assert solver(max_stages=500, certificate_paths=0).solve(repeated(10)).info.status == "converged"


@pytest.mark.slow_cells("Perseus")
@BOTH
def test_free_features_keep_the_horizon_growing(solver, repeated):
    free = solver(certificate_paths=0).solve(repeated(90, 0.0, 0.51))
    assert (free.info.status, free.info.n_stages) == ("converged", 90)
    assert solver(certificate_paths=0).solve(repeated(90, 0.1, 0.51)).info.n_stages == 64
    tables = np.broadcast_to(np.full((2, 2), 0.5), (90, 2, 2)).copy()
    tables[80] = np.eye(2)
    prices = np.zeros(90)
    prices[80] = 0.2
    # useless and free for long, then the class itself at a price
    late = solver(certificate_paths=0).solve(TableProblem([0.5, 0.5], tables, prices))
    assert late.info.n_stages == 90
    assert claim(late) == pytest.approx(0.2)


@pytest.fixture(scope="module")
def endless(repeated):
    return repeated(200_000, 0.01, 0.7)


@pytest.mark.slow_cells("Perseus")
@BOTH
def test_endless_stages_cost_what_the_first_cost(solver, repeated, endless):
    few, many = repeated(1000, 0.01, 0.7), endless
    policies = [solver(certificate_paths=4000).solve(p) for p in (few, many)]
    a, b = (p.info for p in policies)
    assert (a.n_stages, a.upper, a.lower) == (b.n_stages, b.upper, b.lower)
    assert b.n_stages == 64
    assert b.gap < 5e-3
    assert certify(many, policies[1], method="simulation", n_paths=500).gap < 0.02
