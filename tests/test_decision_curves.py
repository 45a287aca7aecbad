"""Decision curves, groups and calibration by questions, against their definitions."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import t, ttest_ind

import seqclass
from seqclass import Costs
from seqclass.evaluation.calibration_curves import calibration_by_questions, calibration_error
from seqclass.evaluation.certified import certify_error
from seqclass.evaluation.decision_curves import acquired_curve, decision_curve, miss_cost
from seqclass.metrics import realised_cost, score_rows
from seqclass.stats import mean_interval


def cases(seed: int = 0, n: int = 60) -> tuple[Any, Any, Any]:
    rng = np.random.default_rng(seed)
    truth = rng.random(n) < 0.4
    return truth, np.clip(rng.normal(0.3 + 0.3 * truth, 0.2), 0, 1).round(1), rng.choice([0.0, 0.02, 0.1], n)


@pytest.fixture(scope="module")
def rows() -> tuple[Any, Any]:
    """Two classes and two groups, one of which is harder."""
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1], 150)
    hard = np.arange(300) % 3 == 0
    X = rng.normal(y[:, None], np.where(hard, 1.5, 0.4)[:, None], (300, 3))
    return X, y


@pytest.fixture(scope="module")
def clf(rows: tuple[Any, Any]) -> Any:
    return seqclass.etana(Costs(0.01, decision_costs=[[0, 1], [4, 0]])).fit(*rows)


@pytest.mark.parametrize("benefit", [1.0, 4.0])
def test_by_the_definition(benefit: float) -> None:
    truth, chance, price = cases()
    curve = decision_curve(truth, chance, price=price, benefit=benefit)
    assert curve.thresholds.tolist() == [k / 100 for k in range(1, 100)]
    for i, p in enumerate(curve.thresholds):
        treated = chance >= p - 1e-12
        found, needless = np.sum(treated & truth), np.sum(treated & ~truth)
        assert curve.net_benefit[i] == pytest.approx(found / 60 - needless / 60 * p / (1 - p))
        each = treated * np.where(truth, 1, -p / (1 - p)) - price / benefit
        expected = mean_interval(each)
        assert curve.after_price[i] == pytest.approx(expected.mean)
        assert (curve.lower[i], curve.upper[i]) == pytest.approx((expected.lower, expected.upper))
        np.testing.assert_allclose(curve.benefits(p), each)
    shared = decision_curve(truth, chance, price=price, benefit=benefit, shared=1 / 60)
    np.testing.assert_allclose(shared.upper - shared.lower, np.sqrt(2) * (curve.upper - curve.lower))


def test_yardsticks() -> None:
    truth, chance, price = cases()
    curve = decision_curve(truth, chance, price=price, thresholds=[0.1, 0.4, 0.7])
    odds = curve.thresholds / (1 - curve.thresholds)
    np.testing.assert_allclose(curve.treat_all().after_price, truth.mean() - (1 - truth.mean()) * odds)
    assert not curve.treat_none().after_price.any()
    at_once = curve.at_once(0.4)  # treats all up to there, and none beyond
    np.testing.assert_allclose(at_once.net_benefit, [*curve.treat_all().net_benefit[:2], 0])
    test = curve.compare(curve.treat_all(), 0.4)
    assert test.difference == pytest.approx(curve.after_price[1] - curve.treat_all().after_price[1])
    treated, odds_here = chance >= 0.4, 0.4 / 0.6
    pairs = np.where(truth, treated - 1.0, (1 - treated) * odds_here) - price
    expected = mean_interval(pairs)
    assert test.interval == pytest.approx((expected.lower, expected.upper))
    with pytest.raises(ValueError, match="of the same rows"):
        curve.compare(decision_curve(~truth, chance), 0.4)


@given(st.integers(0, 10_000), st.integers(2, 40))
def test_what_holds_of_any_curve(seed: int, n: int) -> None:
    truth, chance, price = cases(seed, n)
    curve = decision_curve(np.where(truth, "ill", "well"), chance, positive="ill", classes=["ill", "well"], price=price)
    assert (curve.net_benefit <= truth.mean() + 1e-12).all()
    assert (curve.after_price <= curve.net_benefit + 1e-12).all()
    assert curve.treat_none().compare(curve.treat_all(), 0.3).n == n
    # who is surely told apart gains all there is, at any threshold
    np.testing.assert_allclose(
        decision_curve(truth, truth * 1.0, positive=True, classes=[False, True]).net_benefit, truth.mean()
    )


def test_at_its_own_threshold_it_is_what_the_classifier_saves(clf: Any, rows: Any) -> None:
    X, y = rows
    p = 0.2  # a case missed costs four times a needless treatment
    curve = acquired_curve(clf, X, y, thresholds=[p])
    saved = miss_cost(clf.decision_costs_, 1) * np.mean(y == 1) - score_rows(clf, X, y).realised_cost
    assert miss_cost(clf.decision_costs_, 1) * curve.after_price[0] == pytest.approx(saved)
    assert curve.benefit == 4
    other = acquired_curve(clf, X, y, positive=0, thresholds=[1 - p])
    # the same decisions from the other side: what is saved over treating all of the first
    assert other.after_price[0] == pytest.approx((1 * np.mean(y == 0) - score_rows(clf, X, y).realised_cost) / 1)


@pytest.mark.parametrize(
    "arguments, message",
    [
        (([0, 1], [0.5]), "an entry for each label"),
        (([0, 1], [0.5, 1.5]), "probability must lie between 0 and 1"),
        (([], []), "at least one"),
    ],
)
def test_what_is_refused(arguments: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        decision_curve(*arguments)


def test_settings_that_are_refused(clf: Any, rows: Any) -> None:
    for wrong in ([0.0], [1.0], [0.5, 0.2], []):
        with pytest.raises(ValueError, match="thresholds must rise"):
            decision_curve([0, 1], [0.2, 0.7], thresholds=wrong)
    with pytest.raises(ValueError, match="benefit must be above 0"):
        decision_curve([0, 1], [0.2, 0.7], benefit=0)
    with pytest.raises(ValueError, match="price"):
        decision_curve([0, 1], [0.2, 0.7], price=-1)
    with pytest.raises(ValueError, match="2 is no class"):
        acquired_curve(clf, *rows, positive=2)
    with pytest.raises(ValueError, match="costs nothing"):
        miss_cost([[0, 0], [1, 0]], 0)


def test_labels_are_compared_by_value(clf: Any, rows: Any) -> None:
    """A class that is 1 is also 1.0, True and the text "1"; what is no class is refused, not counted as the rest."""
    X, y = rows
    expected, scores = acquired_curve(clf, X, y, thresholds=[0.2]), score_rows(clf, X, y)
    for kind in (float, bool, str):
        found = acquired_curve(clf, X, y.astype(kind), thresholds=[0.2])
        assert (found.prevalence, found.net_benefit) == (0.5, expected.net_benefit)
        assert score_rows(clf, X, y.astype(kind)) == scores
        told = realised_cost(y.astype(kind), clf.predict(X), 0.0, decision_costs=[[0, 1], [4, 0]])
        assert told == pytest.approx(scores.mean_decision_cost)
        assert realised_cost(y.astype(kind), clf.predict(X), 0.0) == pytest.approx(1 - scores.accuracy)
    half = decision_curve([1.0, 0, 1, 0], [0.9, 0.2, 0.7, 0.4], positive=1, thresholds=[0.5])
    assert (half.prevalence, half.net_benefit[0]) == (0.5, 0.5)
    contracts = [certify_error(clf, X, labels, alpha=0.4, allow_seen=True).record() for labels in (y, y.astype(str))]
    assert contracts[0] == contracts[1]
    texts = seqclass.etana().fit(X, y.astype(str))
    assert score_rows(texts, X, y == 1) == score_rows(texts, X, y.astype(str))
    refer = np.array([0, 1, "refer"], dtype=object)
    assert realised_cost([0.0, 1.0, 1.0], refer, 0.0) == pytest.approx(1 / 3)


def test_labels_that_no_curve_has(clf: Any, rows: Any) -> None:
    X, y = rows
    missing = np.where(np.arange(300) == 7, np.nan, y)
    for call in (acquired_curve, score_rows, certify_error):
        with pytest.raises(ValueError, match="y holds nan in row 7: leave out"):
            call(clf, X, missing)
        with pytest.raises(ValueError, match="y holds 2, which is no class of the model: there are 0, 1"):
            call(clf, X, y + 1)
    with pytest.raises(ValueError, match="y holds nan in row 1"):
        decision_curve([0.0, np.nan, 1.0], [0.5] * 3)
    with pytest.raises(ValueError, match="y_true holds nan in row 1"):
        realised_cost([0.0, np.nan, 1.0], [0.0] * 3, 0.0)
    with pytest.raises(ValueError, match="positive: 3 is no class"):
        decision_curve([0, 1], [0.5, 0.5], positive=3)
    with pytest.raises(ValueError, match="y holds 0 only: say which label is positive"):
        decision_curve([0, 0], [0.5, 0.5])
    assert decision_curve([0, 0], [0.5, 0.5], classes=[0, 1]).prevalence == 0


def test_the_class_to_be_found_is_the_last_in_sorted_order() -> None:
    assert decision_curve(["b", "a"], [0.5, 0.5]).positive == "b"
    assert decision_curve(["b", "a"], [0.5, 0.5], classes=["b", "a"]).positive == "b"
    assert decision_curve(["9", "10"], [0.5, 0.5], classes=["10", "9"]).positive == "10"  # as the numbers that they are


def test_prevalence_and_weights() -> None:
    """Figures of dcurves 1.1.7 on these ten rows; intervals by their formulae."""
    y, chance = [1, 0, 1, 1, 0, 0, 0, 1, 0, 0], [0.9, 0.2, 0.6, 0.3, 0.4, 0.1, 0.7, 0.8, 0.05, 0.3]
    levels = [0.1, 0.25, 0.5, 0.75]
    asked = {
        None: ([0.34444444444444444, 0.3, 0.2, 0.2], [1 / 3, 0.2, -0.2, -1.4]),
        0.1: ([0.016666666666666663, -0.05, -0.075, 0.05], [0.0, -0.2, -0.8, -2.6]),
    }
    for prevalence, (net, every) in asked.items():
        curve = decision_curve(y, chance, thresholds=levels, prevalence=prevalence)
        np.testing.assert_allclose(curve.net_benefit, net, rtol=0, atol=1e-15)
        np.testing.assert_allclose(curve.treat_all().net_benefit, every, rtol=0, atol=1e-15)
        assert curve.prevalence == pytest.approx(0.4 if prevalence is None else prevalence)

    truth, chance, price = cases(3)
    weight = np.random.default_rng(0).integers(0, 4, 60)
    curve = decision_curve(truth, chance, price=price, sample_weight=weight)
    again = decision_curve(np.repeat(truth, weight), np.repeat(chance, weight), price=np.repeat(price, weight))
    for name in ("net_benefit", "after_price", "prevalence", "mean_price"):
        np.testing.assert_allclose(getattr(curve, name), getattr(again, name), atol=1e-12)
    gains = curve.benefits(0.3)
    n, mean = (weight > 0).sum(), np.average(gains, weights=weight)
    error = np.sqrt(n / (n - 1) * np.sum((weight * (gains - mean)) ** 2)) / weight.sum()
    reach = t.ppf(0.975, weight.sum() ** 2 / np.sum(weight**2) - 1) * error
    assert (curve.lower[29], curve.upper[29]) == pytest.approx((mean - reach, mean + reach))
    test = curve.compare(curve.treat_none(), 0.3)
    assert (test.difference, *(test.interval or ())) == pytest.approx((mean, mean - reach, mean + reach))
    alike = decision_curve(truth, chance, price=price, sample_weight=np.full(60, 2.0))
    plain = decision_curve(truth, chance, price=price)
    np.testing.assert_allclose([alike.lower, alike.upper], [plain.lower, plain.upper], atol=1e-12)

    given = decision_curve(truth, chance, price=price, prevalence=0.1)  # two samples: of those who are ill, and others
    parts = [given.benefits(0.3)[of] for of in (truth, ~truth)]
    error = np.sqrt(sum(share**2 * part.var(ddof=1) / len(part) for share, part in zip((0.1, 0.9), parts)))
    assert (given.upper[29] - given.after_price[29]) / error == pytest.approx(2.0, abs=0.2)
    assert given.compare(given.treat_all(), 0.3).n == 60
    assert given.treat_all().net_benefit[29] == pytest.approx(0.1 - 0.9 * 3 / 7)
    with pytest.raises(ValueError, match="prevalence must be between 0 and 1"):
        decision_curve(truth, chance, prevalence=2.0)
    with pytest.raises(ValueError, match="y must hold positive rows and others"):
        decision_curve([0, 0], [0.5, 0.5], positive=1, classes=[0, 1], prevalence=0.1)
    with pytest.raises(ValueError, match="of the same weights"):
        given.compare(plain.treat_all(), 0.3)


def test_groups_by_their_definition(clf: Any, rows: Any) -> None:
    X, y = rows
    group = np.where(np.arange(300) % 3 == 0, "hard", "easy")
    scores = score_rows(clf, X, y, groups=group)
    record = clf.acquire(X)
    total = record.paid + np.where(record.decision == y, 0.0, np.where(y == 1, 4.0, 1.0))
    for one in scores.groups:
        own = group == one.group
        by_itself = score_rows(clf, X[own], y[own])
        assert one.realised_cost == pytest.approx(by_itself.realised_cost)
        assert one.realised_cost_interval == pytest.approx(by_itself.realised_cost_interval)
        assert one.classes == by_itself.classes
        assert one.error == pytest.approx(1 - by_itself.accuracy)
        assert one.difference == pytest.approx(total[own].mean() - total[~own].mean())
        welch = ttest_ind(total[own], total[~own], equal_var=False)
        assert one.difference_interval == pytest.approx(tuple(welch.confidence_interval()), abs=0.2)
        assert one.p_value == pytest.approx(welch.pvalue, abs=0.01)
    assert [one.group for one in scores.groups] == ["easy", "hard"]
    assert all(one.differs for one in scores.groups)
    alike = score_rows(clf, X, y, groups=np.arange(300) % 2).groups
    assert not any(one.differs for one in alike)
    (alone,) = score_rows(clf, X, y, groups=["one"] * 300).groups
    assert np.isnan(alone.difference)
    with pytest.raises(ValueError, match="groups must have one label"):
        score_rows(clf, X, y, groups=["a"])


def test_a_referred_row_is_neither_error_nor_right() -> None:
    X, y = np.repeat([[0.0, 5.0], [1.0, 5.0]], 20, axis=0), np.repeat(["a", "b"], 20)
    costs = [[0, 1, 0.001], [1, 0, 0.001]]
    clf = seqclass.SequentialClassifier(feature_costs=Costs(decision_costs=costs, decisions=["refer"])).fit(X, y)
    scores = score_rows(clf, X, y, groups=y)
    assert scores.accuracy == 0
    assert [one.error for one in scores.groups] == [0, 0]
    assert [one.specificity for one in scores.classes] == [1, 1]


def test_calibration_by_questions() -> None:
    rng = np.random.default_rng(0)
    belief = rng.dirichlet(np.ones(3), 200)
    truth, asked = rng.integers(0, 3, 200), rng.integers(0, 12, 200) ** 2 // 12
    found = calibration_by_questions(truth, belief, asked, least=20)
    assert sum(one.n_rows for one in found) == 200
    assert min(one.n_rows for one in found) >= 20
    for one in found:
        own = (asked >= one.n_questions) & (asked <= one.most_questions)
        assert one.n_rows == own.sum()
        assert one.calibration_error == pytest.approx(calibration_error(truth[own], belief[own]))
        assert one.accuracy == pytest.approx(np.mean(belief[own].argmax(axis=1) == truth[own]))
        assert one.accuracy_interval[0] < one.accuracy < one.accuracy_interval[1]
    each = calibration_by_questions(truth, belief, asked, least=1)
    assert [one.questions for one in each] == [str(k) for k in np.unique(asked)]
    numbers = np.repeat([0, 1, 2, 3, 5], [25, 10, 10, 30, 5])  # as many as are needed, and no more, stand together
    parts = calibration_by_questions(truth[:80], belief[:80], numbers)
    assert [(one.questions, one.n_rows) for one in parts] == [("0", 25), ("1 to 2", 20), ("3 to 5", 35)]
    (few,) = calibration_by_questions(truth[:5], belief[:5], asked[:5])
    assert few.n_rows == 5
    with pytest.raises(ValueError, match="n_questions must have an entry"):
        calibration_by_questions(truth, belief, asked[:5])


@pytest.mark.slow
def test_nothing_is_said_of_small_groups() -> None:
    """Of forty wards of four rows 21 were called "less", for nothing had gone wrong in them."""
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1], 200)
    X = y[:, None] + rng.normal(0, 0.5, (400, 2))
    clf, rows = seqclass.etana(0.01).fit(X[::2], y[::2]), np.arange(1, 400, 2)
    wards = score_rows(clf, X[rows], y[rows], groups=rng.permutation(np.repeat(np.arange(50), 4))).groups
    assert not any(one.differs for one in wards)
    assert np.isnan([[one.p_value, *one.difference_interval] for one in wards]).all()
    large = score_rows(clf, X[rows], y[rows], groups=rng.permutation(np.repeat(np.arange(5), 40))).groups
    assert np.isfinite([[one.p_value, *one.difference_interval] for one in large]).all()
    assert not any(one.differs for one in large)
    alone = score_rows(clf, X[rows], y[rows], groups=np.r_[0, np.ones(199)]).groups[0]
    assert alone.error_interval == pytest.approx((0.0, 0.975))
    (sure,) = [one for one in alone.classes if one.n_rows]
    assert sure.sensitivity_interval == pytest.approx((0.025, 1.0))


@pytest.mark.parametrize("prevalence", [None, 0.2])
def test_rows_of_no_weight_count_for_nothing(prevalence: float | None) -> None:
    rng = np.random.default_rng(0)
    truth, chance, other, weight = rng.random(80) < 0.4, rng.random(80), rng.random(80), rng.integers(0, 3, 80)
    about: dict[str, Any] = {"prevalence": prevalence, "shared": 0.02, "thresholds": [0.2, 0.5]}
    seen = []
    for rows in (slice(None), weight > 0):
        curves = [decision_curve(truth[rows], p[rows], sample_weight=weight[rows], **about) for p in (chance, other)]
        test = curves[0].compare(curves[1], 0.5)
        seen.append([*curves[0].lower, *curves[0].upper, test.p_value, *test.interval])
    np.testing.assert_allclose(*seen)


def test_decision_costs_of_another_shape_are_refused_by_name() -> None:
    rng = np.random.default_rng(0)
    y = rng.integers(0, 3, 90)
    clf = seqclass.etana(0.1).fit(rng.normal(size=(90, 2)) + y[:, None], y)
    with pytest.raises(ValueError, match=r"decision_costs must have shape \(3, 3\), got \(2, 2\)"):
        acquired_curve(clf, rng.normal(size=(90, 2)), y, positive=2, decision_costs=[[0, 1], [1, 0]])


@pytest.mark.parametrize("prevalence", [None, 0.2])
def test_what_all_pay_alike_widens_no_interval(prevalence: float | None) -> None:
    truth, chance, _ = cases()
    curves = [decision_curve(truth, chance, price=price, prevalence=prevalence) for price in (0.0, 1e9)]
    widths = [curve.upper - curve.lower for curve in curves]
    np.testing.assert_allclose(widths[1], widths[0], atol=1e-5)
