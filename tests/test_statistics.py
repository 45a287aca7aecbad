"""Statistics of experiments, against Demsar's worked example, scipy and figures worked out by hand."""

from __future__ import annotations

from dataclasses import FrozenInstanceError
from itertools import combinations, permutations, product
from typing import Any

import numpy as np
import pandas as pd
import pytest
import scipy.optimize
import scipy.stats
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binom, binomtest

from seqclass.stats import critical_difference, friedman_test, mean_interval, paired_t_test
from seqclass.stats.intervals import interval_ends
from seqclass.stats.paired import group_differences
from seqclass.stats.wins import win_tie_loss

pytestmark = pytest.mark.usefixtures("whole_certificates")

METHODS = ["C4.5", "C4.5+m", "C4.5+cf", "C4.5+m+cf"]
#: AUC of J. Demsar, JMLR 7, 2006, Table 6. On voting his ranks are those of unrounded scores: 4, 1, 2, 3.
DEMSAR = np.array(
    [
        [0.763, 0.768, 0.771, 0.798],  # adult
        [0.599, 0.591, 0.590, 0.569],  # breast cancer
        [0.954, 0.971, 0.968, 0.967],  # breast cancer wisconsin
        [0.628, 0.661, 0.654, 0.657],  # cmc
        [0.882, 0.888, 0.886, 0.898],  # ionosphere
        [0.936, 0.931, 0.916, 0.931],  # iris
        [0.661, 0.668, 0.609, 0.685],  # liver disorders
        [0.583, 0.583, 0.563, 0.625],  # lung cancer
        [0.775, 0.838, 0.866, 0.875],  # lymphography
        [1.000, 1.000, 1.000, 1.000],  # mushroom
        [0.940, 0.962, 0.965, 0.962],  # primary tumor
        [0.619, 0.666, 0.614, 0.669],  # rheum
        [0.972, 0.981, 0.975, 0.9749],  # voting
        [0.957, 0.978, 0.946, 0.970],  # wine
    ]
)


# -------------------------------------------------------------------------------------------------- Demsar's example


def test_friedman_of_the_worked_example() -> None:
    found = friedman_test(pd.DataFrame(DEMSAR, columns=METHODS), correct_ties=False)
    assert found.names == tuple(METHODS)
    assert found.average_ranks == pytest.approx([3.143, 2.000, 2.893, 1.964], abs=5e-4)
    assert found.chi_square == pytest.approx(9.28, abs=0.005)
    assert found.f == pytest.approx(3.69, abs=0.005)
    assert found.f_p < 0.05  # the critical value of F(3, 39) is 2.85
    assert found.n_datasets == 14


def test_nemenyi_of_the_worked_example() -> None:
    found = critical_difference(DEMSAR, names=METHODS, alpha=0.10)
    assert found.critical_difference == pytest.approx(1.12, abs=0.005)
    assert critical_difference(DEMSAR).critical_difference == pytest.approx(1.25, abs=0.005)
    # at 0.10, C4.5 differs from C4.5+m and C4.5+m+cf, and the rest is undecided
    assert found.groups == (("C4.5+m+cf", "C4.5+m", "C4.5+cf"), ("C4.5+cf", "C4.5"))
    assert found.p_values[0, 3] < 0.10
    assert found.p_values[0, 1] < 0.10 + 0.01
    assert found.p_values[0, 2] > 0.10


def test_wins_of_the_worked_example() -> None:
    found = win_tie_loss(pd.DataFrame(DEMSAR, columns=METHODS))
    assert (found.wins[1, 0], found.ties[1, 0], found.losses[1, 0]) == (10, 2, 2)
    assert found.to_frame().loc["C4.5+m", "C4.5"] == "10/2/2"
    assert found.to_frame().loc["C4.5", "C4.5+m"] == "2/2/10"
    assert found.to_frame().loc["C4.5", "C4.5"] == "-"


@pytest.mark.parametrize(
    "alpha, quantiles",
    [
        (0.05, [1.960, 2.343, 2.569, 2.728, 2.850, 2.949, 3.031, 3.102, 3.164]),
        (0.10, [1.645, 2.052, 2.291, 2.459, 2.589, 2.693, 2.780, 2.855, 2.920]),
    ],
)
def test_the_quantiles_of_demsars_table_5(alpha: float, quantiles: list[float]) -> None:
    for k, q in zip(range(2, 11), quantiles):
        found = critical_difference(np.arange(6.0 * k).reshape(6, k), alpha=alpha)
        assert found.critical_difference / np.sqrt(k * (k + 1) / 36) == pytest.approx(q, abs=1.1e-3)


# ------------------------------------------------------------------------------------------------------- against scipy

SCORES = (np.random.default_rng(0).normal(size=(12, 5)) + np.arange(5) * 0.5).round(1)


def test_friedman_against_scipy() -> None:
    found = friedman_test(SCORES)
    assert (np.diff(np.sort(SCORES, axis=1)) == 0).any()  # there are ties to correct for
    reference = scipy.stats.friedmanchisquare(*SCORES.T)
    assert found.chi_square == pytest.approx(reference.statistic)
    assert found.chi_square_p == pytest.approx(reference.pvalue)


def test_higher_or_lower() -> None:
    up, down = friedman_test(SCORES), friedman_test(-SCORES, higher_is_better=False)
    assert (up.average_ranks == down.average_ranks).all()
    assert friedman_test(-SCORES).average_ranks == pytest.approx(6 - up.average_ranks)
    assert up.average_ranks.argmin() == 4
    wins = win_tie_loss(SCORES)
    assert (wins.wins == win_tie_loss(-SCORES).losses).all()
    assert (wins.wins == win_tie_loss(-SCORES, higher_is_better=False).wins).all()
    assert (wins.wins + wins.ties + wins.losses == 12 * (1 - np.eye(5))).all()


def test_t_test_against_scipy() -> None:
    a, b = SCORES[:, 0], SCORES[:, 1]
    found, reference = paired_t_test(a, b), scipy.stats.ttest_rel(a, b)
    assert (found.statistic, found.p_value) == pytest.approx((reference.statistic, reference.pvalue))
    ends = reference.confidence_interval(0.95)
    assert found.interval == pytest.approx((ends.low, ends.high))
    assert found.name == "paired t"


def test_the_correction_of_nadeau_and_bengio() -> None:
    a, b = SCORES[:10, 0], SCORES[:10, 1]
    d = a - b
    found = paired_t_test(a, b, test_to_train=1 / 9)
    t = d.mean() / np.sqrt((1 / 10 + 1 / 9) * d.var(ddof=1))
    assert found.statistic == pytest.approx(t)
    assert found.p_value == pytest.approx(2 * scipy.stats.t.sf(abs(t), 9))
    assert found.name == "corrected paired t"
    assert found.p_value > paired_t_test(a, b).p_value


def test_the_interval_against_scipy() -> None:
    values = SCORES[:, 0]
    found = mean_interval(values.reshape(3, 4), confidence=0.9)
    reference = scipy.stats.ttest_1samp(values, 0).confidence_interval(0.9)
    assert (found.lower, found.upper) == pytest.approx((reference.low, reference.high))
    assert (found.mean, found.n) == (pytest.approx(values.mean()), 12)
    wide = mean_interval(values, confidence=0.9, test_to_train=0.25)
    ratio = (wide.upper - wide.lower) / (found.upper - found.lower)
    assert ratio == pytest.approx(np.sqrt((1 / 12 + 0.25) / (1 / 12)))


@pytest.mark.slow
def test_the_correction_holds_its_level() -> None:
    """Repeated 2-fold-like scores that share half of what they know: the plain test is far too eager."""
    rng = np.random.default_rng(0)
    plain, corrected = 0, 0
    for _ in range(400):
        shared = rng.normal()  # what ten splits of one sample have in common: rho = n_test / (n_test + n_train)
        scores = np.sqrt(0.2) * shared + np.sqrt(0.8) * rng.normal(size=10)
        plain += paired_t_test(scores, np.zeros(10)).p_value < 0.05
        corrected += paired_t_test(scores, np.zeros(10), test_to_train=0.25).p_value < 0.05
    assert plain / 400 > 0.2
    assert 0.02 < corrected / 400 < 0.08


# ------------------------------------------------------------------------------------------------------------- edges


def test_a_single_score_has_no_interval() -> None:
    found = mean_interval([0.5])
    assert found.mean == 0.5
    assert np.isnan([found.lower, found.upper, found.standard_error]).all()
    same = mean_interval([0.5, 0.5, 0.5])
    assert (same.lower, same.upper) == (0.5, 0.5)


def test_equal_differences() -> None:
    a = np.array([0.1, 0.2, 0.3])
    assert paired_t_test(a, a).p_value == 1.0
    better = paired_t_test(a + 0.1, a)
    assert (better.p_value, better.statistic) == (0.0, np.inf)
    assert better.interval == pytest.approx((0.1, 0.1))
    assert paired_t_test(a, a + 0.1).statistic == -np.inf


def test_all_tied_and_all_in_one_order() -> None:
    tied = friedman_test(np.ones((4, 3)))
    assert (tied.chi_square, tied.chi_square_p, tied.f, tied.f_p) == (0.0, 1.0, 0.0, 1.0)
    ordered = friedman_test(np.tile([3.0, 2.0, 1.0], (5, 1)))
    assert ordered.chi_square == pytest.approx(10)
    assert ordered.f == np.inf
    assert ordered.f_p == pytest.approx(1 / 6**4)  # all of five data sets in the order of the first
    assert critical_difference(np.ones((4, 3))).groups == (("0", "1", "2"),)


def test_friedman_reads_well_in_every_case() -> None:
    tied = "Friedman: all average ranks are equal (p = 1), 3 methods on 4 data sets"
    assert str(friedman_test(np.ones((4, 3)))) == tied
    assert str(friedman_test(np.ones((4, 3)), correct_ties=False)) == tied
    assert str(friedman_test([[1, 2, 3], [2, 3, 1], [3, 1, 2], [1, 1, 1]])) == tied
    ordered = friedman_test(np.tile([3.0, 2.0, 1.0], (2, 1)))
    # with two data sets the same order is no rare thing
    assert str(ordered) == (
        "Friedman: chi2 = 4 (p = 0.135), the same ranks on all data sets: exact p = 0.167, 3 methods on 2 data sets"
    )
    first = friedman_test([[3, 2, 1], [3, 1, 2], [3, 2, 1], [3, 1, 2]])  # one always first, the rest in no order
    assert (first.chi_square, first.f) == pytest.approx((6, 9))
    assert first.f_p == pytest.approx(scipy.stats.f.sf(9, 2, 6))
    for scores in (np.tile([3.0, 2.0, 1.0], (5000, 1)), np.tile([3.0, 1.0, 1.0], (5000, 1))):
        text = str(friedman_test(scores))
        assert "exact p < 1e-15" in text
        assert "p = 0" not in text
        assert "inf" not in text


def test_the_chance_of_agreement_by_enumeration() -> None:
    for row in ([3, 2, 1], [3, 1, 1], [2, 2, 1]):
        orders = set(permutations(row))
        for n in (2, 3):
            same = sum(len(set(rows)) == 1 for rows in product(orders, repeat=n))
            found = friedman_test(np.tile(np.array(row, dtype=float), (n, 1)))
            assert found.f_p == pytest.approx(same / len(orders) ** n)


def test_sums_in_another_order_tie() -> None:
    scores = [[0.1 + 0.2, 0.3, 0.0]] * 4
    assert friedman_test(scores).average_ranks.tolist() == [1.5, 1.5, 3]
    assert friedman_test(scores, tolerance=0).average_ranks.tolist() == [1, 2, 3]
    assert win_tie_loss(scores).ties[0, 1] == 4


def test_groups_are_largest_and_not_nested() -> None:
    rng = np.random.default_rng(1)
    for _ in range(20):
        scores = rng.normal(size=(15, 6)) + np.arange(6) * 0.5
        found = critical_difference(scores)
        rank = dict(zip(found.names, found.average_ranks))
        close = {(a, b) for a in rank for b in rank if a < b and abs(rank[a] - rank[b]) <= found.critical_difference}
        covered = {tuple(sorted((a, b))) for group in found.groups for a in group for b in group if a < b}
        assert covered == close
        assert not any(set(g) <= set(h) for g in found.groups for h in found.groups if g != h)
        significant = found.p_values < 0.05
        assert {tuple(sorted((found.names[i], found.names[j]))) for i, j in np.argwhere(~significant) if i < j} == close


@given(st.lists(st.floats(-1e3, 1e3), min_size=2, max_size=20), st.floats(0, 2))
def test_the_interval_holds_the_mean(values: list[float], ratio: float) -> None:
    found = mean_interval(values, test_to_train=ratio)
    assert found.lower <= found.mean <= found.upper


# ---------------------------------------------------------------------------------------------------- scores in a range


@pytest.mark.parametrize("bounds", [(0.0, 1.0), (0.0, np.inf), (-np.inf, 1.0), (-2.0, 3.0)])
def test_the_ends_in_a_range_against_the_roots(bounds: tuple[float, float]) -> None:
    low, high = bounds
    values, ratio = np.array([0.9, 1.0, 0.95, 0.7]), 0.25
    mean, error = values.mean(), np.sqrt((1 / 4 + ratio) * values.var(ddof=1))

    def v(mu: float) -> float:
        return (mu - low if np.isfinite(low) else 1.0) * (high - mu if np.isfinite(high) else 1.0)

    def excess(mu: float) -> float:
        return (mu - mean) ** 2 / (error**2 * v(mu) / v(mean)) - scipy.stats.t.ppf(0.975, 3) ** 2

    found = mean_interval(values, test_to_train=ratio, bounds=bounds)
    left, right = max(low, -1e6) + 1e-12, min(high, 1e6) - 1e-12
    assert found.lower == pytest.approx(scipy.optimize.brentq(excess, left, mean), abs=1e-6)
    assert found.upper == pytest.approx(scipy.optimize.brentq(excess, mean, right), abs=1e-6)
    mirrored = mean_interval(-values, test_to_train=ratio, bounds=(-high, -low))
    assert (-mirrored.upper, -mirrored.lower) == pytest.approx((found.lower, found.upper))


@given(st.lists(st.floats(0, 1), min_size=2, max_size=20), st.floats(0, 2), st.floats(0.01, 1))
def test_the_interval_keeps_to_the_range(values: list[float], ratio: float, confidence: float) -> None:
    for bounds in ((0, 1), (0, np.inf), (-np.inf, 1), (-1, 1)):
        found = mean_interval(values, test_to_train=ratio, confidence=confidence, bounds=bounds)
        assert bounds[0] <= found.lower <= found.mean <= found.upper <= bounds[1] + 1e-15


def test_far_from_the_ends_it_is_the_t_interval() -> None:
    values = 0.5 + 0.001 * SCORES[:, 0]
    found, plain = mean_interval(values, bounds=(0, 1)), mean_interval(values)
    assert (found.lower, found.upper) == pytest.approx((plain.lower, plain.upper), abs=1e-5)
    assert found.standard_error == plain.standard_error
    wide = mean_interval(values, bounds=(-1e6, 1e6))
    assert (wide.lower, wide.upper) == pytest.approx((plain.lower, plain.upper), abs=1e-9)
    assert mean_interval(values, bounds=(-np.inf, np.inf)) == plain


def test_edges_of_a_range() -> None:
    assert str(mean_interval([0.0, 0.0], bounds=(0, np.inf))) == "0 [0, 0]"
    assert str(mean_interval([0.3, 0.3], bounds=(0, 1))) == "0.3 [0.3, 0.3]"
    assert np.isnan(mean_interval([0.5], bounds=(0, 1)).upper)
    everything = mean_interval([0.9, 1.0], bounds=(0, 1), confidence=1)
    assert (everything.lower, everything.upper) == (0, 1)


@pytest.mark.parametrize("bounds", [(0.0, 1.0), (-2.0, 3.0)])
def test_right_and_wrong_have_exact_ends(bounds: tuple[float, float]) -> None:
    low, width = bounds[0], bounds[1] - bounds[0]
    for n in (1, 2, 7, 50):
        for k in (0, 1, n // 2, n):
            found = mean_interval(low + width * (np.arange(n) < k), bounds=bounds, confidence=0.9)
            exact = binomtest(k, n).proportion_ci(0.9, method="exact")
            assert (found.lower, found.upper) == pytest.approx((low + width * exact.low, low + width * exact.high))
    assert mean_interval([1.0] * 8, bounds=(0, 1), test_to_train=1 / 8).lower == pytest.approx(0.025 ** (1 / 4))


def test_exact_ends_hold_rare_errors() -> None:
    """At p = .02 Wilson's interval of fifty rows, a point where there is no error, held it in .62 of samples."""
    chance = binom.pmf(np.arange(51), 50, 0.02)
    found = [mean_interval((np.arange(50) < k) * 1.0, bounds=(0, 1)) for k in range(51)]
    assert sum(p for p, one in zip(chance, found) if one.lower <= 0.02 <= one.upper) >= 0.95


# -------------------------------------------------------------------------------------------------- groups of rows


def drawn(rng: Any, error: float, n: int) -> Any:
    """Costs of decided rows: mostly a price, rarely an error."""
    return rng.choice([0.01, 0.03, 0.06], n) + (rng.random(n) < error)


@pytest.mark.slow
def test_groups_that_are_alike_are_seldom_called_different() -> None:
    """A thousand random divisions of the same rows in two; by Welch's interval up to 19% of small groups were."""
    rng = np.random.default_rng(0)
    costs, group, called = drawn(rng, 0.1, 50), np.repeat([0, 1], [20, 30]), 0
    for _ in range(1000):
        first, second = group_differences(rng.permutation(costs), group, low=0.0, n_shuffles=39)
        assert first.p_value == second.p_value  # two groups are one comparison
        called += first.p_value <= 0.05
    assert called <= binom.ppf(0.999, 1000, 0.05)
    assert called >= binom.ppf(0.001, 1000, 0.02)  # and not for want of power


@pytest.mark.slow
def test_one_of_many_groups_is_corrected_for() -> None:
    rng = np.random.default_rng(1)
    called = 0
    for _ in range(200):
        found = group_differences(drawn(rng, 0.1, 200), np.arange(200) % 8, low=0.0, n_shuffles=59)
        called += min(one.p_value for one in found) <= 0.05
    assert called <= binom.ppf(0.999, 200, 0.05)


@pytest.mark.slow_cells("20-0.15-0.05")
@pytest.mark.parametrize(
    "n, own, others",
    [
        (20, 0.15, 0.05),
        *(pytest.param(*more, marks=pytest.mark.slow) for more in ((20, 0.02, 0.1), (40, 0.3, 0.05), (60, 0.05, 0.05))),
    ],
)
def test_intervals_of_differences_hold_them(n: int, own: float, others: float) -> None:
    rng, held = np.random.default_rng(2), 0
    for _ in range(300):
        costs = np.concatenate([drawn(rng, own, n), drawn(rng, others, 200)])
        lower, upper = group_differences(costs, np.repeat([0, 1], [n, 200]), low=0.0, n_shuffles=1)[0].interval
        held += lower <= own - others <= upper
    assert held >= binom.ppf(0.001, 300, 0.95)


@pytest.mark.parametrize("n", [5, 3])
def test_p_values_are_those_of_divisions(n: int) -> None:
    """Two groups against all divisions of ten rows, counted in plain Python."""
    scores = np.array([0.1, 0.4, 1.3, 0.2, 0.9, 1.8, 1.1, 2.4, 0.7, 1.6])

    def statistic(first: tuple[int, ...]) -> float:
        sides = [scores[list(first)], scores[[i for i in range(10) if i not in first]]]
        pooled = sum(side.var() * len(side) for side in sides) / 8
        error = np.sqrt(sum(max(side.var(ddof=1), pooled) / len(side) for side in sides))
        return float(abs(sides[0].mean() - sides[1].mean()) / error)

    every = [statistic(first) for first in combinations(range(10), n)]
    exact = np.mean(np.array(every) >= statistic(tuple(range(n))) - 1e-9)
    found = group_differences(scores, np.repeat(["a", "b"], [n, 10 - n]), least_rows=n, n_shuffles=20_000)
    assert found[0].p_value == pytest.approx(exact, abs=4 * np.sqrt(exact / 20_000))
    few = group_differences(scores, np.repeat(["a", "b"], [n, 10 - n]))
    assert np.isnan([few[0].p_value, *few[0].interval]).all()
    assert few[0].difference == found[0].difference == pytest.approx(scores[:n].mean() - scores[n:].mean())


def test_scores_a_thousand_millionth_apart_are_equal() -> None:
    ties = [win_tie_loss([[0.5, 0.5 + apart]] * 3).ties[0, 1] for apart in (0.9e-9, 1.1e-9)]
    assert ties == [3, 0]


def test_of_groups_of_fewer_than_twenty_rows_nothing_is_said() -> None:
    scores = np.random.default_rng(0).normal(size=60)
    for n, said in ((19, False), (20, True)):
        few, *_ = group_differences(scores, np.repeat(["few", "others"], [n, 60 - n]), n_shuffles=9)
        assert np.isfinite([few.p_value, *few.interval]).all() == said


@pytest.mark.slow
def test_groups_of_which_nothing_is_to_be_said() -> None:
    (alone,) = group_differences([1.0, 2.0] * 20, ["a"] * 40)
    assert np.isnan([alone.difference, alone.p_value, *alone.interval]).all()
    first, _ = group_differences([0.5] * 60, np.repeat(["a", "b"], 30))
    assert (first.difference, first.p_value) == (0, 1)
    assert np.isnan(first.interval).all()  # nobody saw how much such scores vary
    free = group_differences(np.repeat([0.0, 1.0], [30, 30]), np.repeat([0, 1], 30), low=0.0)[0]
    assert free.interval[1] < 0
    big = np.random.default_rng(0).normal(size=60_000)
    found = group_differences(big + (np.arange(60_000) < 3000) * 0.2, np.arange(60_000) // 3000)
    assert [one.p_value <= 0.05 for one in found] == [True] + [False] * 19
    with pytest.raises(ValueError, match="groups must have one label for each of the 3 rows"):
        group_differences([1.0, 2.0, 3.0], ["a"])
    with pytest.raises(ValueError, match="groups has no label in row 1"):
        group_differences([1.0, 2.0], [1.0, np.nan])
    with pytest.raises(ValueError, match="scores must be at least low, 0, got -1"):
        group_differences([1.0, -1.0], [1, 2], low=0)


@pytest.mark.parametrize(
    "draw, mean, bounds",
    [
        (lambda rng, size: rng.binomial(100, 0.98, size) / 100, 0.98, (0, 1)),
        (lambda rng, size: rng.beta(50, 2, size), 50 / 52, (0, 1)),
        (lambda rng, size: rng.exponential(0.1, size), 0.1, (0, np.inf)),
    ],
)
def test_coverage_near_the_end_of_the_range(draw: Any, mean: float, bounds: tuple[float, float]) -> None:
    """Ten independent scores: 95% of the intervals hold the mean, and those that miss it miss on either side."""
    runs = draw(np.random.default_rng(0), (4000, 10))
    n, error = np.full(4000, 10), np.sqrt(runs.var(axis=1, ddof=1) / 10)
    lower, upper = interval_ends(runs.mean(axis=1), error, n, 0.95, bounds)
    above, below = (lower > mean).mean(), (upper < mean).mean()
    assert 0.92 < 1 - above - below < 0.97
    t_lower, t_upper = interval_ends(runs.mean(axis=1), error, n, 0.95, (-np.inf, np.inf))
    t_above, t_below = (t_lower > mean).mean(), (t_upper < mean).mean()
    assert max(above, below) < max(t_above, t_below)
    assert above + below < t_above + t_below + 0.005
    one = mean_interval(runs[0], bounds=bounds)
    assert (one.lower, one.upper) == pytest.approx((lower[0], upper[0]))


def test_coverage_of_scores_that_share_training_rows() -> None:
    """Scores near 1 with the correlation that Nadeau and Bengio put at n_test / (n_test + n_train)."""
    rng, ratio, n = np.random.default_rng(0), 0.25, 10
    shared = ratio / (1 + ratio)
    z = np.sqrt(shared) * rng.normal(size=(4000, 1)) + np.sqrt(1 - shared) * rng.normal(size=(4000, n))
    runs = scipy.stats.beta.ppf(scipy.stats.norm.cdf(z), 50, 2)
    error = np.sqrt((1 / n + ratio) * runs.var(axis=1, ddof=1))
    lower, upper = interval_ends(runs.mean(axis=1), error, np.full(4000, n), 0.95, (0, 1))
    above, below = (lower > 50 / 52).mean(), (upper < 50 / 52).mean()
    assert 0.94 < 1 - above - below < 0.97
    assert max(above, below) < 0.04
    plain = interval_ends(runs.mean(axis=1), np.sqrt(runs.var(axis=1, ddof=1) / n), np.full(4000, n), 0.95, (0, 1))
    assert ((plain[0] <= 50 / 52) & (plain[1] >= 50 / 52)).mean() < 0.8  # without the correction


# --------------------------------------------------------------------------------------------------- missing and wrong


def test_missing_scores_are_an_error() -> None:
    holes = SCORES.copy()
    holes[3, 1] = np.nan
    for call in (
        lambda: mean_interval(holes),
        lambda: friedman_test(holes),
        lambda: critical_difference(holes),
        lambda: win_tie_loss(holes),
    ):
        with pytest.raises(ValueError, match=r"missing at \[\d+(, 1)?\]; put it right, or pass nan='omit'"):
            call()
    with pytest.raises(ValueError, match="b is missing"):
        paired_t_test(SCORES[:, 1], holes[:, 1])


def test_missing_scores_are_left_out() -> None:
    holes = SCORES.copy()
    holes[3, 1] = np.nan
    rest = np.delete(SCORES, 3, axis=0)
    assert mean_interval(holes[:, 1], nan="omit") == mean_interval(rest[:, 1])
    weights, there = np.arange(1.0, 1 + len(holes)), ~np.isnan(holes[:, 1])
    weighed = mean_interval(holes[:, 1], nan="omit", weights=weights)
    assert weighed == mean_interval(holes[there, 1], weights=weights[there])
    assert paired_t_test(holes[:, 1], SCORES[:, 0], nan="omit") == paired_t_test(rest[:, 1], rest[:, 0])
    assert friedman_test(holes, nan="omit").chi_square == friedman_test(rest).chi_square
    assert critical_difference(holes, nan="omit").n_datasets == 11


@pytest.mark.parametrize(
    "call, message",
    [
        (lambda: mean_interval([]), "at least one"),
        (lambda: mean_interval([1.0, 2.0], confidence=2), "confidence"),
        (lambda: mean_interval([1.0, 2.0], test_to_train=-1), "test_to_train"),
        (lambda: mean_interval(["a"]), "numbers only"),
        (lambda: mean_interval([0.5, 1.5], bounds=(0, 1)), "between 0 and 1, got 1.5"),
        (lambda: mean_interval([0.5, -1.0], bounds=(0, np.inf)), "between 0 and inf, got -1"),
        (lambda: mean_interval([0.5], bounds=(1, 0)), "bounds must rise"),
        (lambda: mean_interval([0.5], bounds=(1,)), "bounds must be the least and the greatest"),  # type: ignore[arg-type]
        (lambda: mean_interval([np.inf]), "infinity"),
        (lambda: mean_interval([1.0], nan="drop"), "nan must be one of"),
        (lambda: paired_t_test([1.0, 2.0], [1.0]), "same folds"),
        (lambda: paired_t_test([1.0], [1.0]), "two pairs"),
        (lambda: friedman_test(np.ones((5, 2))), "scipy.stats.wilcoxon"),
        (lambda: friedman_test(np.ones((1, 3))), "two data sets"),
        (lambda: friedman_test(np.ones(3)), "row a data set"),
        (lambda: friedman_test(np.ones((3, 3)), names=["a", "a", "b"]), "different names"),
        (lambda: critical_difference(np.ones((3, 3)), alpha=0), "alpha"),
    ],
)
def test_wrong_arguments(call: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        call()


def test_records_are_frozen_and_readable() -> None:
    found = mean_interval([0.8, 0.9, 1.0])
    with pytest.raises(FrozenInstanceError):
        found.mean = 1.0  # type: ignore[misc]
    assert str(found) == "0.9 [0.6516, 1.148]"
    assert "corrected paired t: difference" in str(paired_t_test([1.0, 2.0], [0.5, 1.7], test_to_train=0.25))
    assert "Iman-Davenport" in str(friedman_test(DEMSAR))
    assert str(critical_difference(DEMSAR, names=METHODS)).startswith("C4.5+m+cf 1.964, C4.5+m 2.000")


def test_weight_in_one_row_leaves_no_interval() -> None:
    weight = np.array([1.0, 1e-20, 1e-20])
    interval = mean_interval([0.3, 0.1, 0.2], bounds=(0, np.inf), weights=weight)
    assert np.isnan([interval.lower, interval.upper]).all()


def test_nearly_all_weight_in_one_row_has_an_interval_of_two_rows() -> None:
    weight = np.array([1.0, 1e-6, 1e-6])
    test = paired_t_test([0.3, 0.1, 0.4], [0.1, 0.3, 0.1], weights=weight)
    assert test.interval is not None
    assert 0 < test.interval[1] - test.interval[0] < 100


def test_pairs_of_series_go_by_their_labels() -> None:
    """Where both have the same ones; else, as rows of one long table, by position."""
    a = pd.Series([0.9, 0.8, 0.7, 0.6], index=list("wxyz"))
    b = pd.Series([0.5, 0.6, 0.8, 0.7], index=list("zyxw"))
    wanted = paired_t_test(a.to_numpy(), b[a.index].to_numpy())
    assert paired_t_test(a, b) == wanted
    assert paired_t_test(a, b.to_numpy()) == paired_t_test(a.to_numpy(), b.to_numpy()) != wanted
    assert paired_t_test(a, b.set_axis(range(4))) == paired_t_test(a.to_numpy(), b.to_numpy())
