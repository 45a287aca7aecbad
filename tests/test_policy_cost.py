"""What a policy costs at most by drawn paths, however rare and dear an answer is; and ends that cross."""

from __future__ import annotations

import numpy as np
import pytest

from seqclass.pomdp import Lookahead, MixtureProblem, TableProblem, certify, evaluate, optimal_cost
from seqclass.pomdp.bounds import certificate, policy_cost
from seqclass.pomdp.bounds.policy_cost import PathCosts, PolicyCost, greatest_cost, greatest_expected_cost

pytestmark = pytest.mark.usefixtures("whole_certificates")


def rare(n_questions=4, p=0.0005, dear=400.0):
    """Two of five classes are rare and dear, and a first question tells whether it is one of them, no other which."""
    rng = np.random.default_rng(0)
    first = np.array([[1, 1, 1, 0.0, 0], [0, 0, 0, 1, 1]])
    others = [np.c_[rng.dirichlet(np.full(2, 0.6), 3).T, np.full((2, 2), 0.5)] for _ in range(n_questions - 1)]
    costs = np.ones((5, 5)) - np.eye(5)
    costs[3:] *= dear
    return TableProblem(np.r_[np.full(3, (1 - p) / 3), p / 2, p / 2], [first, *others], 0.01, costs, any_order=True)


@pytest.fixture
def no_hints(monkeypatch):
    """Bounds that take a second each are not needed where a search of few partial answers is exact."""
    monkeypatch.setattr(certificate, "bounds_of", lambda *given: None)


def test_a_rare_dear_answer_is_not_missed(no_hints):
    problem = rare()
    policy = Lookahead(1, certificate_paths=0).solve(problem)
    cost, optimum = evaluate(problem, policy, method="exact").cost, optimal_cost(problem)
    for seed in range(8):
        found = certify(problem, policy, max_histories=4, n_paths=1000, random_state=seed, hindsight=False)
        assert (found.method, found.confidence) == ("mixed", 0.99)
        assert found.lower <= optimum * (1 + 1e-9) <= cost * (1 + 2e-9) <= found.upper * (1 + 3e-9)
        assert found.gap >= 1 - optimum / cost - 1e-9


@pytest.fixture(scope="module")
def bushy():
    """So many histories that few are followed whole; each question has a rare answer that points to a dear class."""
    rng = np.random.default_rng(1)
    tables = []
    for _ in range(10):
        usual = rng.dirichlet(np.full(3, 2.0), 6).T * 0.998
        tables.append(np.vstack([usual, np.full(6, 0.002)]))
        tables[-1][:, 5] = np.r_[rng.dirichlet(np.full(3, 2.0)) * 0.7, 0.3]
    costs = np.ones((6, 6)) - np.eye(6)
    costs[5] *= 20
    problem = MixtureProblem(
        np.r_[np.full(5, 0.199), 0.005], np.arange(6), tables, np.full(10, 0.01), costs, any_order=True
    )
    policy = Lookahead(1, certificate_paths=0).solve(problem)
    return problem, policy, evaluate(problem, policy, method="exact", max_histories=10**6).cost


@pytest.mark.parametrize("sampled", [pytest.param(False, marks=pytest.mark.slow), True])
def test_the_upper_end_holds_at_its_confidence(bushy, sampled, monkeypatch):
    """At 90%: paths of all histories that weigh too little, or where outcomes cannot be listed of all."""
    problem, policy, cost = bushy
    if sampled:
        monkeypatch.setattr(type(problem.structure), "samples", True)
    ends = []
    for seed in range(25):
        drawn = PolicyCost(problem, policy, np.random.default_rng(seed))
        drawn.run(200)
        ends.append(drawn.ends(0.1))
    mean, high = np.array(ends).T
    assert mean.std() > 1e-4
    assert abs(mean.mean() - cost) <= 4 * mean.std() / 5
    assert (high < cost).sum() <= 6  # of 2.5 that are expected at most
    assert (high > mean).all()
    assert high.mean() < (2.0 if sampled else 1.25) * cost


def test_the_bound_knows_what_was_not_seen():
    """One cost in a thousand is a hundred times the others: of means of a thousand a third lack it."""
    rng, n, n_draws = np.random.default_rng(0), 1000, 400
    above = []
    for count in rng.binomial(n, 0.001, n_draws):
        paths = PathCosts(0.0, n, np.full(2, 1 / n), np.array([n - count, count]), np.ones(2), np.array([1.0, 100.0]))
        above.append(paths.end(paths, 100.0, 0.05, -1.0) >= 1 + 0.099)
    assert np.mean(above) >= 0.95
    alike = PathCosts(0.0, n, np.full(1, 1 / n), np.full(1, n), np.ones(1), np.ones(1))
    assert 1.1 < alike.end(alike, 100.0, 0.05, -1.0) < 1.5  # 100 / 1000 * log(20) = 0.3 above


def test_a_certain_end_stays_where_a_sample_contradicts_it(no_hints, monkeypatch):
    problem = rare()
    policy = Lookahead(1, certificate_paths=0).solve(problem)
    optimum = optimal_cost(problem)
    monkeypatch.setattr(policy_cost.PolicyCost, "ends", lambda self, failing: (0.2, 0.25))
    with pytest.warns(UserWarning, match="contradict"):
        found = certify(problem, policy, max_histories=4, n_paths=100, hindsight=False)
    assert found.lower == pytest.approx(optimum)
    assert found.upper == greatest_expected_cost(problem) < greatest_cost(problem)
    assert found.gap == pytest.approx(1 - optimum / found.upper)
    assert found.confidence == 1
