"""Bounds over all orders by drawn cases: the least mean cost on them, no more than any policy has, rarely too high."""

from __future__ import annotations

import sys
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

sys.path.insert(0, str(Path(__file__).parent))
from free_cases import free_case, mixture_case

from seqclass import SequentialClassifier
from seqclass.bn import DiscreteNetwork, NetworkTables
from seqclass.pomdp import (
    Adaptive,
    FirstK,
    FunctionPolicy,
    Lookahead,
    MixtureProblem,
    TableProblem,
    certify,
    evaluate,
    optimal_cost,
)
from seqclass.pomdp.bounds import certificate
from seqclass.pomdp.bounds.certificate import search_of_cases
from seqclass.pomdp.bounds.drawn import DrawnCases, DrawnSearch, rate_of

pytestmark = pytest.mark.usefixtures("whole_certificates")


def any_case(seed):
    """Naive Bayes, a tree or a class mixture, now and then with groups, bundles or a further decision."""
    return mixture_case(seed, most=4) if seed % 3 == 2 else free_case(seed, tree=seed % 3 == 1, most=4)


def least_mean(case, cases):
    """Least mean cost of any policy on drawn cases, by recursion on what was seen: shares no code with the search."""
    known = {}

    def value(rows, seen):
        key = tuple(sorted(seen.items()))
        if key not in known:
            best = float(cases.costs[rows].sum(axis=0).min())
            for question in range(len(case.questions)):
                if question not in seen:
                    group = case.groups[question]
                    paid = group >= 0 and any(case.groups[other] == group for other in seen)
                    cost = (case.discounted if paid else case.full)[question] * len(rows)
                    for answer in np.unique(cases.answers[rows, question]).tolist():
                        own = rows[cases.answers[rows, question] == answer]
                        cost += value(own, {**seen, question: answer})
                    best = min(best, cost)
            known[key] = best
        return known[key]

    return value(np.arange(len(cases.costs)), {}) / len(cases.costs)


@pytest.mark.slow
@given(seed=st.integers(0, 10_000), n=st.integers(1, 60))
def test_the_search_finds_the_least_mean_cost(seed, n):
    case = any_case(seed)
    cases = DrawnCases.draw(case.problem, n, np.random.default_rng(seed))
    truth = least_mean(case, cases)
    search = DrawnSearch(case.problem, cases)
    for most in (1, 5, 20, 100, np.inf):
        search.run(most)
        assert search.low <= truth + 1e-9 <= search.high + 2e-9
    assert search.low == pytest.approx(truth, abs=1e-9)


@pytest.mark.parametrize("seed", range(6))
def test_drawn_cases_are_the_problems_own(seed):
    """What all answers leave unknown, and what deciding at once costs, are the means over cases."""
    problem = any_case(seed).problem
    cases = DrawnCases.draw(problem, 20_000, np.random.default_rng(seed))
    error = cases.costs.std(axis=0) / np.sqrt(20_000)
    assert (abs(cases.costs.mean(axis=0) - problem.prior @ problem.decision_costs) <= 4 * error + 1e-12).all()
    everything = FunctionPolicy(
        problem, lambda belief: np.where(belief.available.any(axis=1), belief.available.argmax(axis=1), -1)
    )
    found = evaluate(problem, everything)
    known = cases.costs.min(axis=1)
    assert abs(known.mean() - (found.cost - found.price)) <= 4 * known.std() / np.sqrt(20_000) + 1e-12


@pytest.mark.slow
def test_bounds_by_cases_are_rarely_above_the_optimum():
    """Of two hundred that hold with 99% confidence each, at least 195 do; and of few cases most are well below."""
    above = []
    for seed in range(200):
        problem = any_case(seed).problem
        cases = DrawnCases.draw(problem, 400, np.random.default_rng(seed))
        search = DrawnSearch(problem, cases, rate_of(0.3, 0.2, 400, 0.01))
        search.run(200)
        above.append(search.lower(0.01) > optimal_cost(problem) + 1e-9)
    assert sum(above) <= 5


def noisy(n_questions=7, n_classes=9):
    """Questions that tell little, even all together."""
    rng = np.random.default_rng(0)
    tables = rng.dirichlet(np.full(3, 6.0), size=(n_questions, 2 * n_classes)).transpose(0, 2, 1)
    classes = np.repeat(np.arange(n_classes), 2)
    prices = 0.01 * rng.uniform(0.5, 1.5, n_questions)
    return MixtureProblem(np.full(2 * n_classes, 1 / (2 * n_classes)), classes, tables, prices, any_order=True)


@pytest.mark.slow
def test_certificates_take_what_is_nearer():
    problem = noisy()
    policy = Lookahead(1, certificate_paths=0).solve(problem)
    surely = certify(problem, policy, n_paths=250, method="deterministic", max_histories=1)
    found = certify(problem, policy, n_paths=250, max_histories=1)
    assert (surely.method, found.method, found.confidence) == ("mixed", "simulation", 0.99)
    assert surely.lower + 0.1 * found.upper < found.lower <= optimal_cost(problem)


@pytest.mark.slow
def test_bounds_by_hints_are_left_out_where_drawn_cases_tell_as_much(monkeypatch: pytest.MonkeyPatch) -> None:
    problem = noisy(6, 4)
    policy = Lookahead(1, certificate_paths=0).solve(problem)
    found = certify(problem, policy, n_paths=250, max_histories=1)
    monkeypatch.delattr("seqclass.pomdp.bounds.certificate.bounds_of")
    again = certify(problem, policy, n_paths=250, max_histories=1)
    assert (again.lower, again.upper) == (found.lower, found.upper)
    assert 0.75 * found.upper_mean <= found.lower <= optimal_cost(problem)


@pytest.mark.slow
def test_a_policy_whose_cost_is_certain_says_that_its_lower_end_is_not():
    problem = noisy()
    found = certify(problem, FirstK(0, certificate_paths=0).solve(problem), n_paths=200, max_histories=100)
    assert (found.method, found.confidence, found.n_paths) == ("mixed", 0.99, 600)
    assert "0.99 confidence" in str(found)


@pytest.mark.slow
def test_of_a_network_cases_are_drawn_at_once():
    rng = np.random.default_rng(1)
    parents = [[], [0], [0, 1], [1], [2], [0, 4], [3, 5]]
    tables = [np.moveaxis(rng.dirichlet([2, 2], (2,) * len(above)), -1, 0) for above in parents]
    network = NetworkTables([f"n{j}" for j in range(7)], [["no", "yes"]] * 7, parents, tables)
    clf = SequentialClassifier.from_network(network, "n0", feature_costs=0.002, solver=Adaptive(max_nodes=0))
    problem = clf.problem_
    assert isinstance(clf.model_, DiscreteNetwork)
    cases = DrawnCases.draw(problem, 300, np.random.default_rng(0))
    belief = problem.initial_belief(300)
    for question in range(problem.n_questions):
        belief = belief.asking(question).update(cases.answers[:, question])
    assert np.allclose(cases.costs, belief.probabilities @ problem.decision_costs)
    search = DrawnSearch(problem, cases, 1.0)
    search.run(50)
    assert 0 < search.lower(0.005) <= optimal_cost(problem)


def test_few_cases_bound_nothing() -> None:
    """Now and then an answer tells all: a few dozen cases may lack such a one, and have costs without spread."""
    problem = TableProblem([0.5, 0.5], [[[0.99, 0.99], [0.01, 0.0], [0.0, 0.01]]], [0.0], any_order=True)
    optimum = optimal_cost(problem)
    assert optimum == pytest.approx(0.495)
    for seed in range(20):
        for n_paths in (2, 20, 100):
            found = search_of_cases(problem, 0.6, 0.0, n_paths, np.random.default_rng(seed))
            assert found is None or found.lower(0.005) <= optimum
    assert search_of_cases(problem, 0.6, 0.0, 1000, np.random.default_rng(0)) is not None


@pytest.mark.parametrize(("rarely", "n_cases"), [(0.001, 500), (0.0002, 2000)])
def test_rare_answers_that_tell_all_are_allowed_for(rarely, n_cases):
    """Most draws lack them, and then no case differs from another: of 20 bounds none is above the optimum."""
    table = [[1 - rarely, 1 - rarely], [rarely, 0.0], [0.0, rarely]]
    problem = TableProblem([0.5, 0.5], [table], [0.0], any_order=True)
    optimum = optimal_cost(problem)
    for seed in range(20):
        search = search_of_cases(problem, 0.6, 0.0, -(-n_cases // 3), np.random.default_rng(seed))
        assert len(search.least) >= n_cases
        assert 0.95 * optimum < search.lower(0.005) <= optimum


@pytest.mark.parametrize(
    ("lower", "unknown", "n_paths", "work", "drawn", "n_passes"),
    [
        (0.94, 0.11, 200, 1e6, [500, 600], 6),
        (0.96, 0.11, 200, 1e6, [], 0),  # ends are near each other
        (0.94, 0.09, 200, 1e6, [500], 0),  # all answers would tell nearly all
        (0.94, 0.11, 166, 1e6, [], 0),  # too few cases for a mean
        (0.94, 0.11, 5000, 7e6, [500, 10_000], 100),
        (0.94, 0.11, 5000, 1.2e7, [500, 10_000], 41),  # passes are work, too
        (0.94, 0.11, 5000, 1.4e7, [500, 10_000], 1),  # and no more work than that
    ],
)
def test_whether_and_how_far_cases_are_searched(lower, unknown, n_paths, work, drawn, n_passes, monkeypatch):
    told, run = [], []

    def draw(problem, n, rng):
        told.append(n)
        return SimpleNamespace(costs=np.full((n, 2), unknown))

    def look(most, max_lots):
        run.append((most, max_lots))
        search.n_nodes += 100
        return False

    search = SimpleNamespace(run=look, work=work, n_nodes=0)
    monkeypatch.setattr(certificate, "DrawnCases", SimpleNamespace(draw=draw))
    monkeypatch.setattr(certificate, "DrawnSearch", lambda *how: search)
    monkeypatch.setattr(certificate, "best_rate", lambda *how: 1.0)
    problem = SimpleNamespace(structure=SimpleNamespace(samples=False, starts=None), n_questions=3)
    found = search_of_cases(problem, 1.0, lower, n_paths, np.random.default_rng(0))
    assert found is (search if n_passes else None)
    assert (told, run) == (drawn, [(drawn[-1], 1)] * n_passes if n_passes else [])


def test_rates_are_for_costs_that_differ_little_or_much(monkeypatch):
    made = []

    def search(problem, cases, rate):
        made.append(rate)
        return SimpleNamespace(rate=rate, run=lambda most, max_lots: True, lower=lambda failing, n: -abs(rate - 1.3))

    monkeypatch.setattr(certificate, "DrawnSearch", search)
    monkeypatch.setattr(certificate, "rate_of", lambda mean, spread, n, failing: spread)
    assert certificate.best_rate(None, SimpleNamespace(costs=np.zeros((9, 2))), 2.0, 100) == 1.2
    assert made == [0.2, 0.5, 1.2, 3.0]


def test_what_was_paid_for_many_groups_is_told_apart() -> None:
    """Of 24 groups, what was paid beyond the lowest prices is more than 21 times the dearest price."""
    n_groups = 24
    table = np.tile([[0.9, 0.2], [0.1, 0.8]], (2 * n_groups, 1, 1))
    problem = TableProblem(
        [0.5, 0.5],
        table,
        prices=np.zeros(2 * n_groups),
        full_prices=np.tile([1.0, 0.9], n_groups),
        groups=np.repeat(np.arange(n_groups), 2),
        any_order=True,
    )
    cases = DrawnCases(np.zeros((1, 2 * n_groups), dtype=np.intp), np.zeros((1, 2)))
    search = DrawnSearch(problem, cases)
    nodes = search._nodes(
        np.zeros(2, dtype=np.intp),
        np.ones(2, dtype=np.intp),
        np.ones((2, 2 * n_groups), dtype=bool),
        np.array([24.0, 23.9]),
    )
    first, second = search._keys(nodes)
    assert first != second
