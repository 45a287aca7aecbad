"""Equations of the semi-randomised search, by hand: group sizes, stage, acceptance, cool-down factors."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from seqclass.selection._semi_evaluate import (
    CoolDown,
    SearchProgress,
    acceptance_probability,
    first_best,
    group_size,
    is_better,
    removal_size,
)
from seqclass.selection._semi_search import SearchSettings, SearchState, feasible_moves, group_sizes, propose


def settings(**changes: object) -> SearchSettings:
    values: dict[str, object] = {
        **{"adaptive": True, "alpha": 1.0, "beta": 1.0, "group_size": 2, "removal_group_size": None},
        **{"w": 0.5, "w_prime": 0.5, "fine_stage": False, "c": None, "cool_down": False, "cooling": 2.0},
        **{"addition_penalty": 0.0, "removal_size": 1, "n_relevant": 3, "min_features": 1, "max_features": 10},
    }
    return SearchSettings(**(values | changes))  # type: ignore[arg-type]


def state(n: int, n_selected: int, **changes: object) -> SearchState:
    values: dict[str, object] = {"seed": 0, "score": 0.5, "c": 10.0, "stage": SearchProgress(), "cool": None}
    return SearchState(np.arange(n) < n_selected, **(values | changes))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "pool, alpha, beta, n, size",
    [
        (480, 1.0, 1.0, 0.0, 240),  # 480 / 2
        (480, 1.0, 5.0, 0.0, 80),  # 480 / 6
        (480, 0.5, 5.0, 2.0, 62),  # 480 / (5 + e) = 62.19
        (480, 1.0, 5.0, 3.0, 19),  # 480 / (5 + e^3) = 19.14
        (20, 1.0, 1.0, 0.0, 10),
        (1, 1.0, 8.0, 5.0, 1),
        (3, 1.0, 0.0, 0.0, 3),  # 3 / 1
        (10**6, 2.0, 1.0, 10**6, 1),  # no overflow
    ],
)
def test_group_sizes_of_equation_1(pool: int, alpha: float, beta: float, n: float, size: int) -> None:
    assert group_size(pool, alpha, beta, n) == size


@pytest.mark.parametrize("share, index", [(0.0, 1.0), (0.5, 2.0), (0.9, 10.0)])
def test_group_sizes_of_equation_3(share: float, index: float) -> None:
    wanted = 480 * index / (5.0 * index + math.exp(0.5 * 2))
    assert group_size(480, 0.5, 5.0, 2.0, share) == round(wanted)


def test_where_every_candidate_is_better_the_group_is_as_large_as_can_be() -> None:
    assert group_size(480, 1.0, 4.0, 3.0, 1.0) == 120  # I is infinite: pool / beta
    assert group_size(480, 1.0, 0.0, 3.0, 1.0) == 480


@given(
    st.integers(1, 10**7),
    st.floats(0, 50),
    st.floats(0, 50),
    st.floats(0, 1e6),
    st.floats(0, 1),
)
def test_group_sizes_lie_within_the_pool_and_shrink_with_the_stage(
    pool: int, alpha: float, beta: float, n: float, share: float
) -> None:
    size = group_size(pool, alpha, beta, n, share)
    assert 1 <= size <= pool
    assert group_size(pool, alpha, beta, n + 1, share) <= size <= group_size(pool, alpha, beta, n, 1.0)


def test_the_stage_follows_equations_2_and_5() -> None:
    improved = [True, False, False, False, True, False]
    shares = [0.5, 0.25, 0.0, 0.0, 1.0, 0.0]
    w, w_prime = 0.25, 0.75
    count, n, share = 0, 0.0, 0.0
    stage = SearchProgress()
    assert (stage.smoothed_n, stage.smoothed_share) == (0.0, 0.0)
    for k, (better, pct) in enumerate(zip(improved, shares), 1):
        count = 0 if better else count + 1
        n = w * count + (1 - w) * n
        share = pct if k == 1 else w_prime * pct + (1 - w_prime) * share
        stage.update(better, pct, w, w_prime)
        assert (stage.k, stage.n_ni) == (k, count)
        assert (stage.smoothed_n, stage.smoothed_share) == (pytest.approx(n), pytest.approx(share))


@pytest.mark.parametrize(
    "score, than, c, probability",
    [
        (0.8, 0.7, 3.0, 1.0),
        (0.7, 0.7, 3.0, 1.0),
        (0.7, 0.8, 3.0, math.exp(-0.3)),
        (-120.0, -100.0, 0.1, math.exp(-2)),
        (0.7, 0.8, math.inf, 0.0),
        (0.7, 0.7, math.inf, 1.0),
        (0.7, 0.8, 0.0, 1.0),
        (-math.inf, 0.8, 3.0, 0.0),
        (-math.inf, -math.inf, 3.0, 1.0),
        (0.8, -math.inf, 3.0, 1.0),
    ],
)
def test_acceptance(score: float, than: float, c: float, probability: float) -> None:
    assert acceptance_probability(score, than, c) == pytest.approx(probability)


def test_rounding_neither_improves_nor_breaks_ties() -> None:
    assert not is_better(0.1 + 0.2, 0.3)
    assert not is_better(-math.inf, -math.inf)
    assert is_better(0.0, -math.inf)
    assert first_best(np.array([0.1, 0.3, 0.1 + 0.2])) == 1
    assert first_best(np.array([-math.inf, -math.inf])) == 0


@given(st.integers(2, 60), st.integers(0, 30))
def test_the_number_removed_at_once_maximises_what_an_evaluation_removes(n: int, r: int) -> None:
    r = min(r, n - 1)
    expected = {k: Fraction(k * math.comb(n - r, k), math.comb(n, k)) for k in range(1, n + 1)}
    assert expected[removal_size(n, r)] == max(expected.values())


def test_cool_down_factors() -> None:
    selected = np.arange(13) < 4
    cool = CoolDown(selected, cooling=2.0, scale=0.1)
    assert cool.factors.tolist() == [2.0] * 4 + [3.0] * 9  # roots of the pools
    cool.warm_up()
    cool.warm_up()
    assert cool.factors.tolist() == [1.0] * 4 + [1.0] * 9
    cool.note_change(np.array([5]), 0.02, 9)
    cool.note_change(np.array([6]), 0.0, 9)
    cool.note_change(np.array([7]), -0.05, 9)
    cool.note_change(np.array([8]), -5.0, 9)
    cool.note_change(np.array([9]), -math.inf, 9)
    assert cool.factors[5:10].tolist() == [1.0, 3.0, pytest.approx(4.5), 9.0, 9.0]
    p = cool.probabilities(np.array([4, 6, 8]))
    assert p == pytest.approx(np.array([1, 1 / 3, 1 / 9]) / (1 + 1 / 3 + 1 / 9))  # eq. (6)
    cool.note_join(np.array([1]), 4)
    assert cool.factors[1] == 6.0
    flat = CoolDown(selected, cooling=2.0, scale=0.0)
    flat.note_change(np.array([0]), -1e-3, 4)
    flat.note_change(np.array([1]), 0.0, 4)
    assert flat.factors[:2].tolist() == [6.0, 2.0]


@pytest.mark.slow
def test_moves_are_equally_likely_and_bounded_by_the_size() -> None:
    full, single = np.ones(5, dtype=bool), np.arange(5) < 1
    assert set(feasible_moves(np.arange(5) < 2, settings()).values()) == {1.0}
    assert list(feasible_moves(full, settings())) == ["remove"]
    assert list(feasible_moves(single, settings())) == ["swap", "add"]
    assert list(feasible_moves(single, settings(max_features=1))) == ["swap"]
    assert feasible_moves(np.ones(1, dtype=bool), settings()) == {}
    drawn = [propose(state(20, 8, seed=seed), settings()).move for seed in range(900)]
    assert all(abs(drawn.count(move) - 300) < 60 for move in ("swap", "add", "remove"))
    drawn = [propose(state(20, 8, seed=seed), settings(addition_penalty=0.75)).move for seed in range(900)]
    assert abs(drawn.count("remove") - 600) < 60  # weights 1/4, 1/4, 1
    assert {propose(state(20, 8, seed=s), settings(addition_penalty=1.0)).move for s in range(50)} == {"remove"}


def test_groups_of_a_proposal() -> None:
    start = state(30, 6)
    assert group_sizes(start, settings()) == (12, 3)
    assert group_sizes(start, settings(adaptive=False, group_size=40, removal_group_size=9)) == (24, 6)
    start.stage.update(False, 0.5, 1.0, 1.0)
    assert group_sizes(start, settings(fine_stage=True)) == (round(24 / (1 + math.e / 2)), round(6 / (1 + math.e / 2)))
    assert group_sizes(state(30, 30), settings())[0] == 0
    for seed in range(20):
        made = propose(state(30, 6, seed=seed), settings())
        assert (made.move == "remove") == (not len(made.additions))
        assert (made.move == "add") == (not made.removals)
        assert len(set(made.additions.tolist())) == len(made.additions)
        assert np.all(made.additions >= 6)
        assert all(len(group) == 1 and group[0] < 6 for group in made.removals)
    many = [
        propose(state(30, 20, seed=s), settings(removal_size=None, n_relevant=3, min_features=17)) for s in range(9)
    ]
    assert {len(group) for made in many if made.move == "remove" for group in made.removals} == {3}


@pytest.mark.slow
def test_cooled_features_are_drawn_less_often() -> None:
    cool = CoolDown(np.arange(12) < 2, 2.0, 1.0)
    cool.factors[:] = 1.0
    cool.factors[7] = 9.0
    draws = [propose(state(12, 2, seed=s, cool=cool), settings(adaptive=False, group_size=1)) for s in range(1500)]
    drawn = [int(made.additions[0]) for made in draws if len(made.additions)]
    share = drawn.count(7) / len(drawn)
    assert share == pytest.approx((1 / 9) / (9 + 1 / 9), abs=0.011)
