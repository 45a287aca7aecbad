"""Bounds over all orders by first questions in hindsight: rarely too high, and the same as by hand."""

from __future__ import annotations

import itertools
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

from seqclass.pomdp import FirstK, MixtureProblem, certify, optimal_cost
from seqclass.pomdp.bounds import hindsight
from seqclass.pomdp.bounds.certificate import least_in_hindsight
from seqclass.pomdp.bounds.hindsight import HindsightValues, in_hindsight, surely_less
from seqclass.pomdp.one_step import initial_beliefs, latent_posterior
from seqclass.testing.solvers import count_ticks


@pytest.fixture(autouse=True)
def _quickly(monkeypatch):
    monkeypatch.setattr(hindsight, "_TUNING", replace(hindsight._TUNING, n_beliefs=500, n_vectors=8, n_rounds=5))


def mixture(seed, n_questions, bound=9):
    """A class mixture, every other one with groups, every third with a further decision."""
    rng = np.random.default_rng([n_questions, seed])
    n_classes = int(rng.integers(2, bound))
    states = np.repeat(np.arange(n_classes), rng.integers(1, 5, n_classes))
    peak = rng.choice([0.2, 0.5, 2.0])
    tables = [rng.dirichlet(np.full(rng.integers(2, 5), peak), size=len(states)).T for _ in range(n_questions)]
    full = rng.uniform(0.002, 0.06, n_questions)
    groups = rng.integers(-1, 2, n_questions) if seed % 2 else np.full(n_questions, -1)
    prices = np.where(groups >= 0, full * rng.uniform(0.0, 1.0, n_questions), full)
    costs = 1 - np.eye(n_classes)
    if seed % 3 == 0:
        costs = np.column_stack([costs, rng.uniform(0.1, 0.4, n_classes)])
    return MixtureProblem(
        rng.dirichlet(np.full(len(states), 2.0)), states, tables, prices, costs, groups=groups, full_prices=full,
        any_order=True,
    )  # fmt: skip


def many_states(n_questions=6, n_states=20):
    """Four classes of five states each, and questions of three answers that tell much."""
    rng = np.random.default_rng(0)
    tables = [rng.dirichlet(np.full(3, 0.3), size=n_states).T for _ in range(n_questions)]
    return MixtureProblem(np.full(n_states, 1 / n_states), np.arange(n_states) % 4, tables, 0.02, any_order=True)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("n_questions", "depth", "n_tabled"),
    [
        (2, 1, 0),
        pytest.param(2, 2, 1, marks=pytest.mark.slow),
        pytest.param(3, 2, 1, marks=pytest.mark.slow),
        pytest.param(3, 3, 2, marks=pytest.mark.slow),
        pytest.param(4, 3, 2, marks=pytest.mark.slow),
        pytest.param(4, 3, 1, marks=pytest.mark.slow),
        pytest.param(4, 4, 2, marks=pytest.mark.slow),
    ],
)
def test_bounds_are_above_the_optimum_in_less_than_one_of_a_hundred(n_questions, depth, n_tabled):
    above = []
    for seed in range(100):
        problem = mixture(seed, n_questions)
        values = HindsightValues(problem, depth, n_tabled, np.random.default_rng(seed)).values(25)
        above.append(surely_less(values, 0.995) > optimal_cost(problem) * (1 + 1e-9))
    assert sum(above) <= 1


def by_hand(made, problem, cases):
    """What `HindsightValues` says of cases, by all orders of questions: no tables, no sets, no products of matrices."""
    tables, classes = problem.structure.state_tables
    begun, _ = initial_beliefs(problem)
    depth, n_questions, prices = made.depth, problem.n_questions, problem.prices
    classes_of = np.eye(problem.n_classes)[classes]
    decide = problem.decision_costs[classes]
    known = np.column_stack([decide, prices.min() + decide.min(axis=1)])
    after = {n_asked: classes_of @ np.asarray(vectors).T for n_asked, vectors in made.after.items()}

    def class_cost(states, vectors):
        return min((states @ vectors).tolist())

    def asking(states, asked, value):
        """Of each question the price and what is expected after it."""
        return {
            k: prices[k] * states.sum() + sum(value(states * tables[k, v], (*asked, k)) for v in range(tables.shape[1]))
            for k in range(n_questions)
            if k not in asked
        }

    def value(states, asked):
        if len(asked) in after:
            return class_cost(states, after[len(asked)])
        return min(class_cost(states, decide), *asking(states, asked, value).values())

    def rest(states, asked):
        ask = asking(states, asked, lambda states, _: class_cost(states, known))
        return min([class_cost(states, decide), *ask.values()])

    found = []
    for case in cases:
        least = np.inf
        for order in itertools.permutations(range(n_questions), depth):
            states, asked, spent = latent_posterior(begun)[0], (), 0.0
            for question in order:
                least = min(least, spent + class_cost(states, decide))
                expected = asking(states, asked, value)[question]
                states, asked = states * tables[question, case[question]], (*asked, question)
                states = states / states.sum()
                spent += expected - value(states, asked)
            least = min(least, spent + rest(states, asked))
        found.append(least)
    return np.array(found)


@pytest.mark.slow_cells("3-2-0", "4-2-0")
@pytest.mark.covering
@pytest.mark.parametrize(
    ("depth", "n_tabled", "seed"),
    [
        pytest.param(*deep, seed, marks=pytest.mark.slow if seed and deep[1] == 2 else ())
        for seed in range(3)
        for deep in [(1, 0), (2, 0), (2, 1), (3, 1), (3, 2), (4, 1), (4, 2)]
    ],
)
def test_it_is_the_least_over_all_orders_of_what_is_paid_less_luck(seed, depth, n_tabled, monkeypatch):
    monkeypatch.setattr(hindsight, "_TUNING", replace(hindsight._TUNING, n_together=2))
    problem = mixture(2 * seed, 4, 5)
    made = HindsightValues(problem, depth, n_tabled, np.random.default_rng(1))
    drawn = made.draw(5 if depth < 3 else 2 if n_tabled > 1 else 1)
    found = np.array([made.least_cost(place) for place in drawn])
    np.testing.assert_allclose(found, by_hand(made, problem, drawn - made.first), atol=1e-5)


def test_luck_is_worth_nothing_on_average():
    """With all questions followed, and nothing fitted, the mean is the optimum but for what is known beforehand."""
    problem = mixture(4, 3)
    values = HindsightValues(problem, 3, 2, np.random.default_rng(0)).values(400)
    assert 0.9 * optimal_cost(problem) < values.mean() < 1.02 * optimal_cost(problem)


@pytest.mark.parametrize(
    ("n_questions", "n", "depth", "n_cases"),
    [(6, 4000, 3, 200), (6, 25, 3, 25), (6, 24, None, 0), (120, 4000, 3, 99), (200, 4000, 2, 200)],
)
def test_how_deep_and_how_many_cases_are_looked_at(n_questions, n, depth, n_cases, monkeypatch):
    """As many as 850 thousand million products are enough for, 25 at least; else less deep."""

    def values(problem, depth, n_tabled, rng):
        assert n_tabled == min(depth - 1, 2)
        return SimpleNamespace(values=lambda n: (depth, n))

    monkeypatch.setattr(hindsight, "HindsightValues", values)
    found = in_hindsight(many_states(n_questions), n, np.inf, np.random.default_rng(0))
    assert found == (None if depth is None else (depth, n_cases))


def test_it_is_made_where_many_states_are_hidden_and_time_is_there():
    rng = np.random.default_rng(0)
    values = in_hindsight(many_states(), 4000, np.inf, rng)
    assert values is not None
    assert len(values) == 200
    assert in_hindsight(many_states(), 10, np.inf, rng) is None
    assert in_hindsight(many_states(), 4000, 1e-6, rng) is None
    assert in_hindsight(many_states(n_states=16), 4000, np.inf, rng) is None
    assert least_in_hindsight(many_states(), 0.1, 0.099, 4000, 0.99, np.inf, rng) == (0.0, 0)


@pytest.mark.slow
def test_where_there_is_time_more_questions_are_followed():
    problem = many_states(5)
    by_work, in_time = (in_hindsight(problem, 50, seconds, np.random.default_rng(0)) for seconds in (np.inf, 1e6))
    assert in_time is not None
    assert len(in_time) == len(by_work) == 50
    assert by_work.mean() < in_time.mean() < 1.02 * optimal_cost(problem)
    low = [least_in_hindsight(problem, 1, 0, 50, 0.99, s, np.random.default_rng(0))[0] for s in (1e-6, np.inf, 1e6)]
    assert 0 == low[0] < low[1] < low[2]
    with pytest.raises(ValueError, match="hindsight"):
        certify(problem, FirstK(0, certificate_paths=0).solve(problem), hindsight=-1.0)


@pytest.mark.parametrize(
    ("seconds", "found", "spread", "expected"),
    [
        ([1, 1, 2, 4, 60], [0.1, 0.2, 0.3, 0.4, 0.5], 0.01, (4, 130)),  # of five questions no twelve cases fit
        (
            [1, 1, 2, 20, 60],
            [0.1, 0.2, 0.3, 0.31, 0.32],
            0.1,
            (3, 200),
        ),  # few cases would take more than a question gives
        ([1, 1, 2, 20, 60], [0.1, 0.2, 0.3, 0.31, 0.32], 0.001, (4, 24)),
        ([90, 90, 90, 90, 90], [0.1, 0.2, 0.3, 0.4, 0.5], 0.01, None),
    ],
)
def test_depth_and_cases_are_chosen_together(monkeypatch, seconds, found, spread, expected):
    made = []

    class Timed(HindsightValues):
        def __init__(self, problem, depth, n_tabled, rng):
            self.depth, self.n_seen = depth, 0

        def draw(self, n):
            return np.zeros((n, 1), dtype=np.intp)

        def least_cost(self, place):
            for _ in range(seconds[self.depth - 1]):
                hindsight.check_deadline()
            self.n_seen += 1
            return found[self.depth - 1] + spread * (-1) ** self.n_seen

        def values(self, n):
            made.append((self.depth, n))
            return super().values(n)

    monkeypatch.setattr(hindsight, "HindsightValues", Timed)
    with count_ticks() as looks:
        values = in_hindsight(many_states(), 200, 1000.0, np.random.default_rng(0))
    if expected is None:
        assert values is None
        return
    [(depth, n)] = made
    assert depth == expected[0]
    assert 0.8 * expected[1] <= n <= expected[1]
    assert len(values) == n
    assert looks() < 1000


@pytest.mark.parametrize("n", [2, 10])
def test_what_the_expectation_is_not_below_is_above_it_as_seldom_as_it_says(n):
    values = np.random.default_rng(n).normal(5.0, 0.1, (400, n))
    least = np.array([surely_less(some, 0.9) for some in values])
    assert abs((least > 5.0).mean() - 0.1) < 3 * np.sqrt(0.09 / 400)
    assert surely_less(values[0] - 5.0, 0.9) == 0.0  # no cost is less


@pytest.mark.slow
def test_certificates_say_that_it_is_sampled():
    problem = many_states(10)
    found = certify(problem, FirstK(0, certificate_paths=0).solve(problem), max_histories=100, random_state=0)
    assert found.confidence == 0.99
    assert found.n_paths == 200
    assert found.method == "mixed"
    assert 0.04 < found.lower < found.upper
