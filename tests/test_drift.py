"""Streams that change: counts that fade, a test that is seldom wrong, and fits that follow."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.feature_selection import SelectKBest, f_classif

import seqclass
from seqclass import Costs, SequentialClassifier, load
from seqclass.adaptive_classifier import AdaptiveClassifier
from seqclass.agent.record import AcquisitionRecord
from seqclass.bn import ClassMixture, NaiveBayes, TreeNetwork
from seqclass.discretize import Discretizer
from seqclass.drift import DriftTest, follow
from seqclass.large import Chunks
from seqclass.pomdp import ClassInformation, FirstK, PosteriorThreshold


def stream(n: int, at: int, seed: int = 0) -> tuple[Any, Any]:
    """Numbers of which the first tells the class before a row, and the second from it on."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3))
    told = np.where(np.arange(n) < at, X[:, 0], X[:, 1]) + 0.5 * rng.normal(size=n)
    return X, (told > 0).astype(int)


X, Y = stream(400, 200)
BINS = Discretizer(4).fit(X)


def fading(**how: Any) -> SequentialClassifier:
    return SequentialClassifier(discretizer=BINS, half_life=30, **how)


@settings(max_examples=settings.default.max_examples * 2 // 5)
@given(st.lists(st.integers(1, 399), max_size=3, unique=True))
def test_counts_fade_by_age_however_rows_come(at: list[int]) -> None:
    clf = fading(order="given")
    for rows in np.split(np.arange(400), sorted(at)):
        clf.partial_fit(X[rows], Y[rows], classes=[0, 1])
    codes, weight = BINS.transform(X), 0.5 ** (np.arange(400)[::-1] / 30)
    expected = NaiveBayes().fit(codes, Y, weight, n_outcomes=4)
    np.testing.assert_allclose(clf.model_.counts_, expected.counts_, atol=1e-12)
    whole = SequentialClassifier(discretizer="precomputed", half_life=30, order="given").fit(codes, Y)
    np.testing.assert_allclose(clf.model_.posterior(codes), whole.model_.posterior(codes))


@pytest.mark.slow_cells("adaptive-model1", "conditional-model0")
@pytest.mark.covering(1)
@pytest.mark.parametrize("model", [TreeNetwork(), ClassMixture(2, random_state=0), NaiveBayes()])
@pytest.mark.parametrize("order", ["conditional", "adaptive"])
def test_any_model_fades_and_what_is_kept_is_bounded(model: Any, order: str, tmp_path: Path) -> None:
    X, y = stream(2000, 1200)
    clf = fading(observation_model=model, order=order)
    for rows in np.split(np.arange(1900), 19):
        clf.partial_fit(X[rows], y[rows], classes=[0, 1])
    assert len(clf.kept_.codes) <= 300 + 2
    assert (clf.acquire(X[1900:]).order[:, 0] == 1).all()  # column 0 told the class long ago
    assert clf.score(X[1900:], y[1900:]) > 0.75
    clf.save(tmp_path / "a.seq")
    again = seqclass.load(tmp_path / "a.seq")
    for each in (clf, again):
        each.partial_fit(X[1900:], y[1900:])
    np.testing.assert_allclose(again.predict_proba(X), clf.predict_proba(X))


def test_what_is_kept_counts_by_its_age() -> None:
    clf = fading(observation_model=TreeNetwork(), order="given")
    for rows in np.split(np.arange(400), [150, 260]):
        clf.partial_fit(X[rows], Y[rows], classes=[0, 1])
    kept = clf.kept_
    expected = TreeNetwork().fit(kept.codes, kept.classes, 0.5 ** (kept.age / 30), n_outcomes=4)
    np.testing.assert_allclose(clf.model_.posterior(kept.codes), expected.posterior(kept.codes))
    np.testing.assert_array_equal(np.sort(kept.age)[:30], np.arange(30))


def test_a_class_that_has_gone_is_still_known() -> None:
    y = np.where(np.arange(400) < 50, 2, Y)
    clf = fading(observation_model=TreeNetwork())
    for rows in np.split(np.arange(400), 4):
        clf.partial_fit(X[rows], y[rows], classes=[0, 1, 2])
    assert clf.classes_.tolist() == [0, 1, 2]
    assert clf.model_.class_prior_[2] < 0.01


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:nothing is worth buying")  # which three rows cannot show
def test_rows_that_fade_too_fast_are_warned_of() -> None:
    for clf in (SequentialClassifier(half_life=2, discretizer=BINS), cheap(half_life=2)):
        with pytest.warns(UserWarning, match="half_life=2: all 400 rows together count as 3.41 of the last"):
            clf.fit(X, Y)
    SequentialClassifier(half_life=2, discretizer=BINS).fit(X[:6], [0, 1, 0, 1, 0, 1])  # all of few rows, as they are


def test_what_chooses_takes_the_last_rows_in_place_of_chunks() -> None:
    for clf, said in ((cheap(half_life=20), "to the last rows in order of time"), (cheap(), "to a sample")):
        assert not hasattr(clf, "fit_chunks")
        with pytest.raises(AttributeError, match=said):
            _ = clf.fit_chunks


@pytest.mark.filterwarnings("ignore:half_life=:UserWarning")
@pytest.mark.parametrize("half_life", [0.2, 2])
@pytest.mark.parametrize("model", [NaiveBayes(), TreeNetwork(), ClassMixture(2, random_state=0)])
def test_a_class_of_long_ago_is_not_forgotten(model: Any, half_life: float) -> None:
    X = np.random.default_rng(0).integers(0, 3, (1500, 3))
    y = np.where(np.arange(1500) < 50, 2, X[:, 0] > 0)
    clf = SequentialClassifier(observation_model=model, half_life=half_life, feature_costs=0.02).fit(X, y)
    assert clf.classes_.tolist() == [0, 1, 2]
    assert clf.model_.class_prior_[2] < 1e-6


@pytest.mark.parametrize(
    "how, rows, said",
    [
        ({"half_life": 0}, 4, "half_life must be a number of rows above 0"),
        ({"half_life": -3.0}, 4, "half_life must be a number of rows above 0"),
        ({"half_life": 5, "observation_model": TreeNetwork()}, 1, "class 1 has no row yet, and a TreeNetwork"),
        ({"half_life": 5, "prefit": True}, 4, "prefit"),
    ],
)
def test_wrong_half_lives(how: dict[str, Any], rows: int, said: str) -> None:
    clf = SequentialClassifier(discretizer="precomputed", **how)
    with pytest.raises(ValueError, match=said):
        clf.partial_fit([[0], [1], [1], [0]][:rows], [0, 1, 1, 0][:rows], classes=[0, 1], n_outcomes=2)


@pytest.mark.slow_cells("5")
@pytest.mark.parametrize("n_folds", [2, 5])
def test_rows_that_have_faded_are_learnt_from_and_judge_nothing(n_folds: int) -> None:
    clf = fading(order="given", feature_costs=0.02).fit(X, Y, held_out=n_folds)
    held, weight = clf.held_out_, 0.5 ** (np.arange(400)[::-1] / 30)
    assert held.n_rows == 90
    assert (held.fold[:310] == -1).all()
    np.testing.assert_allclose(held.weights, weight[310:], rtol=1e-14)  # powers differ by the order in memory
    costs = np.full(400, np.nan)
    for fold in range(n_folds):
        rest, rows = np.flatnonzero(held.fold != fold), np.flatnonzero(held.fold == fold)
        plain = SequentialClassifier(discretizer=BINS, order="given", feature_costs=0.02)
        record = plain.fit(X[rest], Y[rest], weight[rest]).acquire(X[rows])
        costs[rows] = record.paid + (record.decision != Y[rows])
    np.testing.assert_allclose(held.costs, costs[310:])
    # yardsticks forget as well: a line through all rows goes by both columns
    assert held.linear is not None
    assert held.deciding_at_once is not None
    np.testing.assert_array_equal(held.linear.fold, held.fold)
    assert held.compare(held.deciding_at_once).difference < 0
    last = SequentialClassifier(discretizer=BINS, feature_costs=0.02).fit(X[310:], Y[310:], held_out=n_folds)
    np.testing.assert_array_equal(held.linear.costs, last.held_out_.linear.costs)


@pytest.mark.slow_cells("conditional")
@pytest.mark.parametrize("order", ["conditional", "adaptive"])
def test_answers_are_calibrated_and_ordered_by_what_is_still_so(order: str) -> None:
    late, told = stream(500, 0, seed=1)
    how = {"discretizer": BINS, "half_life": 45, "order": order, "feature_costs": 0.02}
    clf, plain = (SequentialClassifier(**how, calibrate=way).fit(X, Y) for way in (True, False))
    assert clf.calibration_.n_rows[0] <= 135  # which tell as much as 100 of equal weight
    assert clf.calibration_.exponents[0] > 0.9  # rows of before 200 would have it be half of that
    record, other = clf.acquire(late), plain.acquire(late)
    assert (record.order[:, 0] == 1).all()
    costs = [float((one.paid + (one.decision != told)).mean()) for one in (record, other)]
    assert costs[0] < costs[1] + 0.01


def test_rows_of_no_weight_make_no_other_older() -> None:
    weight = np.where(np.arange(400) % 4 == 0, 2.0, 0.0)
    clf, without = (fading(feature_costs=0.02) for _ in range(2))
    clf.fit(X, Y, weight, held_out=2)
    without.fit(X[::4], Y[::4], weight[::4], held_out=2)
    np.testing.assert_array_equal(clf.predict_proba(X), without.predict_proba(X))
    np.testing.assert_array_equal(clf.held_out_.costs, without.held_out_.costs)
    codes, how = without.coder_.transform(X), {"classes": [0, 1], "n_outcomes": 4, "half_life": 30}
    some = NaiveBayes().partial_fit(codes[:100], Y[:100], sample_weight=weight[:100], **how)
    some.partial_fit(codes[100:], Y[100:], sample_weight=weight[100:], half_life=30)
    np.testing.assert_allclose(some.counts_, without.model_.counts_)


def test_selectors_and_orders_look_at_what_is_still_so() -> None:
    chosen = fading(selector=SelectKBest(f_classif, k=1)).fit(*stream(400, 300))
    assert chosen.support_.tolist() == [1]
    every, daily = fading().fit(*stream(400, 300)), fading().partial_fit(*stream(400, 300), classes=[0, 1])
    assert every.order_.tolist() == daily.order_.tolist()
    assert every.order_[0] == 1


def cheap(**how: Any) -> AdaptiveClassifier:
    return AdaptiveClassifier(0.02, effort="quick", **how)


@pytest.mark.slow
@pytest.mark.usefixtures("loose_mixtures")
def test_what_chooses_forgets_too(tmp_path: Path) -> None:
    late, told = stream(500, 0, seed=1)
    whole, faded, hardly = (cheap(half_life=rows).fit(X, Y) for rows in (None, 30, 1e12))
    costs = []
    for clf in (whole, faded):
        record = clf.acquire(late)
        costs.append(float((record.paid + (record.decision != told)).mean()))
    assert costs[1] < costs[0] - 0.15
    assert faded.held_out_.n_rows == 90
    assert whole.held_out_.n_rows == hardly.held_out_.n_rows == 400
    np.testing.assert_allclose(hardly.predict_proba(late), whole.predict_proba(late), atol=1e-6)
    assert hardly.choice_.chosen == whole.choice_.chosen
    # it goes with what was chosen, clones and files
    same = faded.chosen_classifier().fit(X, Y)
    assert same.half_life == clone(faded).get_params()["half_life"] == faded.runners_up()[0].half_life == 30
    np.testing.assert_allclose(same.predict_proba(late), faded.predict_proba(late), atol=1e-12)
    faded.save(tmp_path / "clf.seqclass")
    found = load(tmp_path / "clf.seqclass")
    assert found.half_life == 30
    np.testing.assert_array_equal(found.predict_proba(late), faded.predict_proba(late))


@pytest.mark.slow
@pytest.mark.usefixtures("few_ways")
@pytest.mark.parametrize("how", [{}, pytest.param({"budget": 1}, marks=pytest.mark.slow)])
def test_a_half_life_is_weights_that_fall_with_age(how: dict[str, Any]) -> None:
    weight = np.random.default_rng(0).integers(0, 3, 400)
    age = np.cumsum(weight[::-1] > 0)[::-1] - (weight > 0)  # rows of no weight are as good as absent
    faded = cheap(half_life=200, **how).fit(X, Y, weight)
    by_hand = cheap(**how).fit(X, Y, weight * 0.5 ** (age / 200))
    np.testing.assert_allclose(faded.predict_proba(X), by_hand.predict_proba(X), atol=1e-12)
    np.testing.assert_array_equal(faded.held_out_.decision_costs, by_hand.held_out_.decision_costs)


@pytest.mark.slow
@pytest.mark.usefixtures("loose_mixtures")
def test_what_chooses_knows_a_class_of_long_ago() -> None:
    y = Y.copy()
    y[:6] = 2
    clf = cheap(half_life=20).fit(X, y)
    assert clf.held_out_.n_rows == 60 + 3
    assert clf.classes_.tolist() == [0, 1, 2]
    with pytest.raises(ValueError, match="half_life must be a number of rows above 0"):
        cheap(half_life=0).fit(X, y)


@pytest.mark.slow
@pytest.mark.usefixtures("few_ways")
def test_what_chooses_and_forgets_can_be_followed() -> None:
    first, labels = stream(250, 100)
    how: dict[str, Any] = {"start": 100, "batch_size": 75, "alpha": 1e-9, "recent": None}
    forgets, keeps = (follow(cheap(half_life=rows), first, labels, **how) for rows in (25, None))
    assert forgets.fits.tolist() == keeps.fits.tolist() == [100, 175]
    assert forgets.cost < keeps.cost - 0.03


@pytest.mark.slow
@pytest.mark.covering(0)
@pytest.mark.parametrize("kind", ["object", "string"])
def test_followed_texts_are_those_of_the_whole_stream_so_far(kind: str) -> None:
    first, labels = stream(700, 300)
    told = np.where(labels == 1, "yes", "no").astype(object)
    told[np.arange(700) % 10 == 0] = "rare"
    told[(np.arange(700) >= 250) & (np.arange(700) < 620)] = None  # new fits see none of them
    frame = pd.DataFrame({"told": pd.Series(told, dtype=kind), "number": first[:, 0]})
    how: dict[str, Any] = {"start": 200, "batch_size": 50, "window": 200}
    done = follow(SequentialClassifier(feature_costs=0.02), frame, labels, **how)
    declared = frame.assign(told=frame["told"].astype("category"))
    expected = follow(SequentialClassifier(feature_costs=0.02), declared, labels, **how)
    np.testing.assert_array_equal(done.prices, expected.prices)
    assert done.cost == expected.cost
    frame.loc[frame.index < 250, "told"] = None
    with pytest.raises(ValueError, match=r"column 'told' holds the unknown category '[a-z]*'; known are none"):
        follow(SequentialClassifier(), frame, labels, **how)
    assert follow(SequentialClassifier(handle_unknown="missing"), frame, labels, **how).cost < 0.5


def test_what_has_no_order_of_time_cannot_fade() -> None:
    class One(Chunks):
        def __iter__(self) -> Any:
            yield X, Y

    with pytest.raises(ValueError, match="half_life: chunks come in no order of time"):
        SequentialClassifier(half_life=5).fit_chunks(One())
    clf = SequentialClassifier(discretizer=BINS).partial_fit(X[:50], Y[:50], classes=[0, 1])
    with pytest.raises(ValueError, match="half_life: rows before came without it"):
        clf.set_params(half_life=5).partial_fit(X, Y)


def cases(n: int, seed: int, shift: Any = 0.0) -> tuple[AcquisitionRecord, Any]:
    """Decisions by beliefs that are right, but that a part of the labels is turned."""
    rng = np.random.default_rng(seed)
    sure = 1 - 0.5 * rng.random(n) ** 2
    p = np.where(rng.random(n) < 0.5, sure, 1 - sure)
    y = (rng.random(n) < p).astype(int)
    y = np.where(rng.random(n) < shift, 1 - y, y)
    none = np.zeros((n, 0), dtype=np.intp)
    posterior = np.column_stack([1 - p, p])
    return AcquisitionRecord((p > 0.5).astype(int), posterior, np.zeros(n, np.intp), np.zeros(n), none, none), y


@pytest.mark.slow
def test_false_alarms_are_as_rare_as_promised_however_often_one_looks() -> None:
    alarms = 0
    for seed in range(200):
        test = DriftTest([[0, 1], [1, 0]], [0, 1], alpha=0.1)
        alarms += test.update(*cases(2000, seed)).alarm is not None
    # 20 are promised at most: beyond 32 by a chance of 0.4%
    assert 2 <= alarms <= 32


@pytest.mark.parametrize("at", [0, 400, 3000])
def test_a_change_is_found_and_where_it_began(at: int) -> None:
    delays, begun = [], []
    for seed in range(10):
        test = DriftTest([[0, 1], [1, 0]], [0, 1])
        test.update(*cases(at + 600, seed, np.where(np.arange(at + 600) < at, 0.0, 0.3)))
        assert test.alarm is not None
        assert test.change is not None
        delays.append(test.alarm - at)
        begun.append(test.change - at)
    assert np.median(delays) < 200
    assert abs(np.median(begun)) < 30


@settings(max_examples=settings.default.max_examples * 2 // 5)
@given(st.lists(st.integers(1, 999), max_size=5, unique=True), st.sampled_from([0.0, 0.1, 0.4]))
def test_how_cases_are_cut_changes_nothing(at: list[int], shift: float) -> None:
    record, y = cases(1000, 3, shift)
    whole = DriftTest([[0, 1], [1, 0]], [0, 1], margin=0.02).update(record, y)
    parts = DriftTest([[0, 1], [1, 0]], [0, 1], margin=0.02)
    for rows in np.split(np.arange(1000), sorted(at)):
        fields = (record.decision, record.posterior, record.n_features, record.paid, record.order, record.outcome)
        parts.update(AcquisitionRecord(*(field[rows] for field in fields)), y[rows])
    assert (parts.alarm, parts.change, parts.n_cases) == (whole.alarm, whole.change, whole.n_cases)
    np.testing.assert_allclose(np.log(parts.e_value), np.log(whole.e_value), rtol=1e-9, atol=1e-9)


def test_a_change_begins_with_the_first_case_after_the_best_one() -> None:
    n, at = 120, 40
    none, half = np.zeros((n, 0), dtype=np.intp), np.full((n, 2), 0.5)
    record = AcquisitionRecord(np.zeros(n, np.intp), half, np.zeros(n, np.intp), np.zeros(n), none, none)
    for cut in ([n], [at, n], [at - 1, at + 1, n]):  # whichever batch that case is in
        test, first = DriftTest([[0, 1], [1, 0]], [0, 1]), 0
        for last in cut:  # right as long as all is well, and wrong from then on
            fields = (
                getattr(record, f)[first:last]
                for f in ("decision", "posterior", "n_features", "paid", "order", "outcome")
            )
            test.update(AcquisitionRecord(*fields), (np.arange(first, last) >= at).astype(int))
            first = last
        assert test.change == at


@pytest.mark.parametrize("cut", [[], range(1, 120), [35, 50]])
def test_a_change_begins_after_cases_that_neither_win_nor_lose(cut: Any) -> None:
    n, at = 120, 40
    sure = np.arange(30, at)  # beliefs that are certain, and right
    posterior = np.full((n, 2), 0.5)
    posterior[sure] = [1.0, 0.0]
    none, zeros = np.zeros((n, 0), dtype=np.intp), np.zeros(n, dtype=np.intp)
    test = DriftTest([[0, 1], [1, 0]], [0, 1])
    for rows in np.split(np.arange(n), cut):
        fields = (zeros, posterior, zeros, np.zeros(n), none, none)
        test.update(AcquisitionRecord(*(one[rows] for one in fields)), (rows >= at).astype(int))
    assert test.change == at


def test_capital_against_a_plain_loop() -> None:
    record, y = cases(100, 5, 0.2)
    excess = (record.decision != y) - record.posterior.min(axis=1)
    capital, stakes = 0.0, np.array([1 / 32, 1 / 16, 1 / 8, 1 / 4, 1 / 2, 7 / 8]) / 0.51
    for stake in stakes:
        for b in range(4):
            won = np.prod(1 + stake * (excess[32 * b :] - 0.01))
            capital += won / ((b + 1) * (b + 2)) / len(stakes)
    test = DriftTest([[0, 1], [1, 0]], [0, 1], margin=0.01).update(record, y)
    assert test.e_value == pytest.approx(capital + 1 / 5, rel=1e-6)


def test_what_decisions_cost_beyond_what_was_expected_of_any_costs() -> None:
    """Of a single case the capital is a mean over stakes, and rows give the bound that a plain search finds."""
    costs = np.array([[0, 4, 1, 2.0], [3, 0, 1, 2], [1, 2, 0, 2]])
    belief, none = np.array([[0.3, 0.2, 0.5]]), np.zeros((1, 0), dtype=np.intp)
    stakes = np.array([1 / 32, 1 / 16, 1 / 8, 1 / 4, 1 / 2, 7 / 8])
    most = max(min(p @ costs) for p in np.array([p for p in np.ndindex(41, 41, 41) if sum(p) == 40]) / 40)
    for label, cost in enumerate(costs[:, 2]):
        record = AcquisitionRecord(np.array(["c"]), belief, np.zeros(1, np.intp), np.zeros(1), none, none)
        test = DriftTest(costs, ["a", "b", "c"], ["a", "b", "c", "refer"]).update(record, [["a", "b", "c"][label]])
        won = (1 + stakes / most * (cost - float(belief[0] @ costs[:, 2]))).mean()
        assert test.e_value == pytest.approx(won / 2 + 1 / 2, rel=0.002)
    X, y = stream(300, 300, 1)
    clf = SequentialClassifier(feature_costs=0.1).fit(X[:200], y[:200])
    record = clf.acquire(X[200:])
    excess = (record.decision != y[200:]) - record.posterior.min(axis=1)
    margins = np.linspace(0, 0.5, 2001)
    capital = [np.exp(np.log1p(stakes[:, None] / 1.5 * (m - excess)).sum(axis=1)).mean() for m in margins]
    for alpha in (0.01, 0.2):
        found = DriftTest.from_classifier(clf, X[200:], y[200:], alpha=alpha)
        assert found.margin == pytest.approx(margins[np.searchsorted(capital, 2 / alpha)], abs=3e-4)
        assert found.alpha == alpha / 2
    worst = DriftTest.from_classifier(clf, X[200:202], 1 - clf.predict(X[200:202]), alpha=0.01)
    assert worst.margin == 1  # two cases cannot tell that it is less


def test_costs_and_further_decisions_count() -> None:
    clf = SequentialClassifier(feature_costs=Costs(0.05, decision_costs=[[0, 9, 1], [4, 0, 1]], decisions=["refer"]))
    X, y = stream(1500, 1500, 1)
    clf.fit(X[:400], y[:400])
    true = DriftTest.from_classifier(clf, X[400:800], y[400:800]).update(clf.acquire(X[800:]), y[800:])
    assert true.alarm is None
    assert 0 < true.margin < 1
    false = DriftTest.from_classifier(clf, X[400:800], y[400:800]).update(clf.acquire(X[800:]), 1 - y[800:])
    assert false.alarm is not None


def test_margins_from_rows_are_upper_bounds() -> None:
    X, y = stream(3000, 3000, 2)
    clf = SequentialClassifier(feature_costs=0.02).fit(X[:200], y[:200])
    record = clf.acquire(X[1000:])
    true = float(((record.decision != y[1000:]) - record.posterior.min(axis=1)).mean())
    margins = [
        DriftTest.from_classifier(clf, X[at : at + 200], y[at : at + 200]).margin for at in range(200, 3000, 200)
    ]
    assert min(margins) >= true
    assert max(margins) < 0.2  # and say something


@pytest.mark.parametrize(
    "change, said",
    [
        ({"alpha": 0.0}, "alpha must be above 0 and below 1"),
        ({"margin": -0.1}, "margin must be between 0"),
        ({"decision_costs": [[0.0, 1.0]]}, "decision_costs"),
    ],
)
def test_wrong_tests(change: dict[str, Any], said: str) -> None:
    with pytest.raises(ValueError, match=said):
        DriftTest(**({"decision_costs": [[0, 1], [1, 0]], "classes": [0, 1]} | change))


def test_wrong_cases() -> None:
    test = DriftTest([[0, 1], [1, 0]], [0, 1])
    record, y = cases(10, 0)
    with pytest.raises(ValueError, match="y must have one label for each of the 10 rows"):
        test.update(record, y[:3])
    with pytest.raises(ValueError, match="y"):
        test.update(record, np.where(y == 1, 7, 0))
    turned = AcquisitionRecord(1 - record.decision, *(getattr(record, name) for name in list(vars(record))[1:]))
    with pytest.raises(ValueError, match="record: decisions must be the best ones"):
        test.update(turned, y)
    assert test.n_cases == 0
    with pytest.raises(ValueError, match="give both"):
        DriftTest.from_classifier(SequentialClassifier().fit(X, Y), X)
    with pytest.raises(ValueError, match="margin: rows say what it is"):
        DriftTest.from_classifier(SequentialClassifier().fit(X, Y), X, Y, margin=0.1)


@pytest.mark.slow
def test_following_forgets_what_is_no_longer_so() -> None:
    X, y = stream(1600, 800)
    clf = SequentialClassifier(feature_costs=0.02)
    done = follow(clf, X, y)
    static = follow(clf, X, y, margin=1, growth=np.inf, recent=None)
    assert done.alarms.size == 1
    assert 800 <= done.alarms[0] <= 950
    assert abs(done.changes[0] - 800) < 40
    assert done.fits[0] == 200
    assert static.fits.tolist() == [200]
    assert static.alarms.size == 0
    assert done.cost < static.cost - 0.1
    assert len(done.prices) == len(done.n_features) == 1400
    assert not hasattr(clf, "agent_")


@pytest.mark.slow
def test_a_challenger_takes_over_where_beliefs_stay_true_and_say_little() -> None:
    rng, angle = np.random.default_rng(0), np.linspace(0, np.pi, 4000)
    X = rng.normal(size=(4000, 4))
    y = (np.cos(angle) * X[:, 0] + np.sin(angle) * X[:, 1] > 0).astype(int)
    clf = SequentialClassifier()
    done, alone = follow(clf, X, y), follow(clf, X, y, recent=None)
    assert done.switches.size
    assert done.cost < alone.cost - 0.01
    still = follow(clf, X, (X[:, 0] > 0).astype(int))
    assert still.switches.size == still.alarms.size == 0


def plain_duel(differences: list[float], highest: float, alpha: float) -> bool:
    """Whether bets that differences are above 0 ever win 1 / alpha."""
    begun: list[tuple[float, Any]] = []
    for n, difference in enumerate(differences):
        if n % 32 == 0:
            begun.append((1 / ((len(begun) + 1) * (len(begun) + 2)), np.ones(6)))
        stakes = np.array([1 / 32, 1 / 16, 1 / 8, 1 / 4, 1 / 2, 7 / 8]) / highest
        begun = [(share, won * (1 + stakes * difference)) for share, won in begun]
        if sum(share * won.mean() for share, won in begun) + 1 / (len(begun) + 1) >= 1 / alpha:
            return True
    return False


def plain_follow(clf: Any, X: Any, y: Any, start: int, batch: int, how: dict[str, Any]) -> dict[str, Any]:
    """What `follow` says that it does, row by row."""
    alpha, margin, growth, recent, window = (how[k] for k in ("alpha", "margin", "growth", "recent", "window"))
    done: dict[str, Any] = {k: [] for k in ("prices", "decision_costs", "alarms", "changes", "switches", "fits")}

    def fit(first: int, end: int) -> Any:
        last = {max(i for i in range(end) if y[i] == label) for label in set(y[:end].tolist())}
        rows = sorted({*range(first, end)} | last)
        done["fits"].append(end)
        return clone(clf).fit(X[rows], y[rows])

    since, first, learns = 0, max(0, start - window), 0
    own, learnt = fit(first, start), start - first
    test, began, challenger, tried, duel = (
        DriftTest.from_classifier(own, alpha=alpha, margin=margin),
        start,
        None,
        start,
        [],
    )
    for at in range(start, len(y), batch):
        end = min(at + batch, len(y))
        rows = np.arange(at, end)
        record = own.acquire(X[rows])
        costs = (record.decision != y[rows]).astype(float)
        done["prices"] += record.paid.tolist()
        done["decision_costs"] += costs.tolist()
        test.update(record, y[rows])
        won = False
        if challenger is not None:
            other = challenger.acquire(X[rows])
            duel += (record.paid + costs - other.paid - (other.decision != y[rows])).tolist()
            won = plain_duel(duel, 1 + own.feature_costs * X.shape[1], alpha)
        if test.alarm is not None:
            since = began + test.change
            done["alarms"].append(began + test.alarm)
            done["changes"].append(since)
        elif won:
            done["switches"].append(end)
            since = learns
        if (
            test.alarm is not None
            or won
            or min(end - since, window) >= growth * learnt
            or end - done["fits"][-1] >= window / 2
        ):
            first = max(since, end - window)
            own, learnt = fit(first, end), end - first
        if test.alarm is not None or won:
            test, began, challenger, duel = DriftTest.from_classifier(own, alpha=alpha, margin=margin), end, None, []
            tried = end
        if end - max(tried, began) >= recent / 2 and end < len(y):
            tried = end
            if end - recent > since:
                learns, challenger = end - recent, fit(end - recent, end)
    return done


@pytest.mark.parametrize(
    ("at", "n", "how"),
    [
        (60, 140, {"alpha": 0.5, "margin": 0.0, "growth": 2.0, "recent": 40, "window": np.inf}),
        pytest.param(
            200,
            440,
            {"alpha": 0.05, "margin": 0.05, "growth": 1.5, "recent": 60, "window": np.inf},
            marks=pytest.mark.slow,
        ),
        pytest.param(
            200,
            440,
            {"alpha": 0.2, "margin": 2.0, "growth": 2.0, "recent": 40, "window": np.inf},
            marks=pytest.mark.slow,
        ),
        pytest.param(
            200,
            440,
            {"alpha": 0.05, "margin": 2.0, "growth": np.inf, "recent": np.inf, "window": 90},
            marks=pytest.mark.slow,
        ),
    ],
)
def test_following_is_what_a_plain_loop_does(at: int, n: int, how: dict[str, Any]) -> None:
    rng = np.random.default_rng(0)
    X = (rng.random((n, 2)) < 0.5).astype(int)
    y = (rng.random(n) < np.where(np.where(np.arange(n) < at, X[:, 0], X[:, 1]), 0.9, 0.1)).astype(int)
    solver = FirstK(1, rule=ClassInformation(), certificate_paths=0)
    clf = SequentialClassifier(solver=solver, discretizer="precomputed", order="adaptive", feature_costs=0.02)
    expected = plain_follow(clf, X, y, 40, 20, how)
    settings = how | {name: None for name in ("recent", "window") if how[name] == np.inf}
    done = follow(clf, X, y, start=40, batch_size=20, **settings)
    assert len(done.alarms) + len(done.switches) + (how["recent"] == np.inf)  # there was something to do
    assert {name: getattr(done, name).tolist() for name in expected} == expected


def test_what_visits_cost_is_among_the_most_that_a_case_can() -> None:
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 500)
    X = (rng.random((500, 3)) < np.where(y == 1, 0.8, 0.2)[:, None]).astype(int)
    X[:, 0] = np.where(rng.random(500) < 0.02, 1 - y, y)
    X[200:, 0] = rng.integers(0, 2, 300)
    costs = Costs(1e-6, visit_cost=0.1, max_panel=1)
    clf = SequentialClassifier(feature_costs=costs, order="given", discretizer="precomputed")
    with np.errstate(all="raise"):  # a bet that could lose more than all had a capital that is no number
        done = follow(clf, X, y, start=150, batch_size=25, margin=0.9, growth=np.inf, recent=100)
    assert done.prices.max() > 0.1
    assert done.switches.size


def test_a_dearer_price_after_an_answer_is_among_the_most_that_a_case_can_pay() -> None:
    """The challenger pays 50 where the classifier in place pays 0.02, on which no bet can lose more than all."""
    rng = np.random.default_rng(0)
    rows = (rng.random((400, 2)) < 0.5).astype(float)
    labels = (rows[:, 0] > 0.5) ^ (rng.random(400) < 0.1)
    rows[:200] = rows[:200, ::-1]
    solver = PosteriorThreshold(0.999, rule=ClassInformation(), certificate_paths=0)
    costs = Costs(0.01, prices_after={(1, 0): 50.0})
    clf = SequentialClassifier(solver=solver, order="adaptive", discretizer="precomputed", feature_costs=costs)
    done = follow(clf, rows, labels, start=100, recent=60, batch_size=20, margin=1)
    assert len(done.switches) == 0
    np.testing.assert_allclose(done.prices, 0.02)


def test_a_window_bounds_what_is_learnt_from() -> None:
    X, y = stream(900, 900)
    done = follow(SequentialClassifier(), X, y, window=200, growth=np.inf, recent=None)
    assert done.fits.tolist() == [200, 300, 400, 500, 600, 700, 800, 900]
    assert done.classifier.model_.class_count_.sum() <= 202


@pytest.mark.parametrize(
    "how, said",
    [
        ({"start": 1}, "start must be at least 2"),
        ({"growth": 1.0}, "growth must be above 1"),
        ({"start": 400}, "more than start=400"),
        ({"start": 3, "y": np.array([0, 0, 0] + [1] * 397)}, "the first 3 rows lack the class 1"),
        ({"window": 1}, "window must be at least 2"),
        ({"recent": 1}, "recent must be at least 2"),
    ],
)
def test_wrong_streams(how: dict[str, Any], said: str) -> None:
    with pytest.raises(ValueError, match=said):
        follow(SequentialClassifier(), X, how.pop("y", Y), **how)


def test_a_stream_may_be_lists() -> None:
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 120)
    X = y[:, None] + rng.normal(size=(120, 2))
    lists = follow(SequentialClassifier(), X.tolist(), y.tolist(), start=60)
    assert lists.cost == follow(SequentialClassifier(), X, y, start=60).cost
