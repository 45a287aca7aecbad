from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.base import clone
from sklearn.feature_selection import SelectKBest

import seqclass
import seqclass.fitting._fit as fit_module
from seqclass import Costs, SequentialClassifier
from seqclass.adaptive_classifier import EFFORTS, candidates
from seqclass.bn import ClassMixture, ContextBayes, DiscreteNetwork, NaiveBayes, ObservationModel, TreeNetwork
from seqclass.bn.network_tables import NetworkTables
from seqclass.fitting import _calibration
from seqclass.fitting._calibration import CalibrationFold, Walk, exponents_of
from seqclass.fitting._cross_fit import cross_fit
from seqclass.fitting._folds import assign_folds
from seqclass.metrics import realised_cost
from seqclass.pomdp import Adaptive, ClassInformation, FirstK

QUICK = Adaptive([ClassInformation()], max_rounds=0, n_cases=200, certificate_paths=100)


class Untempered(NaiveBayes):
    """As a model of one's own has it."""

    _temper = ObservationModel._temper


class Picky(SelectKBest):  # type: ignore[misc]
    """Wants all forty rows."""

    def fit(self, X: Any, y: Any) -> Any:
        if len(y) < 40:
            raise ValueError("too few rows")
        return super().fit(X, y)


@pytest.fixture
def few_folds(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where the exponents themselves are not looked at: four folds, drawn once."""
    few = replace(fit_module.TUNING, n_folds=4, n_any_order_folds=2, max_repeated_rows=0)
    monkeypatch.setattr(fit_module, "TUNING", few)


@pytest.mark.parametrize(
    ("n", "order", "times"), [(500, "given", 20), (501, "given", 10), (60, "adaptive", 5)], ids=["few", "many", "any"]
)
def test_how_often_a_calibration_leaves_a_fold_out(
    n: int, order: str, times: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[Any] = []
    monkeypatch.setattr(fit_module, "fit_without", lambda *how: SimpleNamespace(agent=None))
    monkeypatch.setattr(fit_module, "CalibrationFold", SimpleNamespace(from_fold=lambda *how: how[4]))
    monkeypatch.setattr(fit_module, "exponents_of", lambda parts, repeats: asked.extend(parts[0]) or [repeats])
    settings = SequentialClassifier(order=order).settings()
    assert fit_module.calibrate(settings, np.zeros((n, 1)), np.arange(n) % 2) == 1 + (n == 500)
    assert len(asked) == times


@pytest.mark.usefixtures("few_folds")
def test_four_answers_have_exponents_of_their_own_and_then_two_share_one() -> None:
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 300)
    X = y[:, None] + rng.normal(size=(300, 1)) + 0.7 * rng.normal(size=(300, 8))
    settings: dict[str, Any] = {"solver": FirstK(8, certificate_paths=0), "feature_costs": 0.001, "calibrate": True}
    exponents = SequentialClassifier(**settings, random_state=0).fit(X, y).agent_.calibration.exponents
    assert (np.diff(exponents) == 0).tolist() == [False, False, False, False, True, False, True]


def test_of_a_network_with_large_tables_fewer_cases_are_followed() -> None:
    small, large = (fit_module.network_solver(table_size=size) for size in (40_000, 40_001))
    assert (small.n_paths, small.exact_expectation, small.search_nodes) == (1000, True, 1000)
    assert (large.n_paths, large.exact_expectation) == (500, False)


def copies(n: int, seed: int, n_copies: int = 8) -> tuple[Any, Any]:
    """One noisy look at the class, and copies of it, which naive Bayes takes for looks of their own."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 2, n)
    look = np.where(rng.random(n) < 0.25, 1 - y, y)
    return np.repeat(look[:, None], n_copies, axis=1), y


def independent(n: int, seed: int) -> tuple[Any, Any]:
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 2, n)
    return np.where(rng.random((n, 4)) < 0.3, 1 - y[:, None], y[:, None]), y


def classifier(**more: Any) -> SequentialClassifier:
    given = {"discretizer": "precomputed", "calibrate": True, "feature_costs": 0.002}
    return SequentialClassifier(**(given | more))


@pytest.mark.slow
def test_what_repeats_is_taken_as_nothing_new_and_the_expected_cost_is_right() -> None:
    X, y = copies(400, 0)
    fresh_X, fresh_y = copies(20_000, 1)
    plain, clf = classifier(calibrate=False).fit(X, y), classifier().fit(X, y)
    assert clf.calibration_.exponents[0] > 0.9
    assert clf.calibration_.exponents[1:].max() < 0.35
    record = clf.acquire(fresh_X)
    assert realised_cost(fresh_y, record.decision, record.paid) == pytest.approx(clf.expected_cost_, rel=0.15)
    assert plain.expected_cost_ < 0.5 * clf.expected_cost_
    assert record.n_features.mean() < plain.acquire(fresh_X).n_features.mean()


def test_a_model_that_is_right_is_hardly_changed() -> None:
    X, y = independent(2000, 2)
    clf = classifier().fit(X, y)
    assert clf.calibration_.exponents.min() > 0.8
    assert clf.expected_cost_ == pytest.approx(classifier(calibrate=False).fit(X, y).expected_cost_, abs=0.02)


@pytest.mark.slow
@pytest.mark.parametrize("order", ["conditional", pytest.param("adaptive", marks=pytest.mark.slow)])
def test_labels_by_chance_are_not_believed(order: str) -> None:
    more = {"order": order, "solver": QUICK if order == "adaptive" else None, "feature_costs": 0.01}
    rng = np.random.default_rng(0)
    X, y = rng.integers(0, 3, (40, 12)), rng.integers(0, 2, 40)
    plain, clf = classifier(calibrate=False, **more).fit(X, y), classifier(**more).fit(X, y)
    plain_share, share = np.array([plain.expected_cost_, clf.expected_cost_]) / (1 - np.bincount(y).max() / 40)
    assert plain_share < 0.85
    assert share > max(0.85, 1.1 * plain_share)


def test_exponents_are_those_of_the_losses_by_hand() -> None:
    """One binary feature: the loss of each exponent, and so their mean, follows from counts of the folds."""
    X, y = copies(30, 4, 1)
    clf = classifier().fit(X, y)
    from seqclass.fitting._folds import assign_folds

    grid, losses = np.linspace(0, 1, 21), np.zeros(21)
    for repeat in (0, 1):
        fold = assign_folds(y, 10, 7919 * repeat)
        for number in range(10):
            test, train = fold == number, fold != number
            prior = np.bincount(y[train], minlength=2) / train.sum()
            table = np.array([[(X[train & (y == c), 0] == v).sum() + 1 for c in (0, 1)] for v in (0, 1)])
            table = table / table.sum(axis=0)
            for i, w in enumerate(grid):
                marginal = (table @ prior)[:, None]
                tempered = marginal * (table / marginal) ** w
                joint = (tempered / tempered.sum(axis=0))[X[test, 0]] * prior
                losses[i] -= np.log(joint[np.arange(test.sum()), y[test]] / joint.sum(axis=1)).sum() / 2
    curvature = 4 * (losses[0] - 2 * losses[10] + losses[20])
    weight = np.exp(-(losses - losses.min()) - 4 * curvature / 30 / 2 * (grid - 1) ** 2)
    assert clf.calibration_.exponents == pytest.approx([weight @ grid / weight.sum()], abs=1e-9)
    assert clf.calibration_.n_rows.tolist() == [30]
    assert clf.model_.temperature_ == pytest.approx(1 / clf.calibration_.exponents)


@pytest.mark.slow_cells("conditional-contexts")
@pytest.mark.covering(1)
@pytest.mark.parametrize("model", [TreeNetwork(), ClassMixture(2), ContextBayes()], ids=["tree", "mixture", "contexts"])
@pytest.mark.parametrize("order", ["conditional", "adaptive"])
@pytest.mark.usefixtures("few_folds")
def test_all_models_and_orders(model: ObservationModel, order: str) -> None:
    X, y = copies(40, 5, 3)
    X[:, 2] = np.random.default_rng(0).integers(0, 2, 40)
    solver = QUICK if order == "adaptive" else None
    clf = classifier(observation_model=model, order=order, solver=solver).fit(X, y)
    assert (clf.calibration_.exponents < 1).all()
    assert type(clf.model_) is type(model)
    assert clf.problem_.any_order is (order == "adaptive")
    assert_array_equal(clf.fit(X, y).predict(X), clf.predict(X))


@pytest.mark.slow
@given(st.integers(0, 10**6), st.sampled_from(["bayes", "tree", "mixture"]))
def test_tempered_models_are_distributions_between_the_model_and_nothing(seed: int, kind: str) -> None:
    rng = np.random.default_rng(seed)
    X, y = rng.integers(0, 3, (40, 4)), rng.integers(0, 3, 40)
    model = {"bayes": NaiveBayes(), "tree": TreeNetwork(), "mixture": ClassMixture(2)}[kind].fit(X, y, n_outcomes=3)
    exponents = rng.random(4)
    exponents[0] = rng.integers(0, 2)
    tempered = model.with_exponents(exponents)
    state = tempered.start(40)
    belief = np.tile(model.class_prior_, (40, 1))
    for feature in range(4):
        likelihood = tempered.stage_likelihood(feature, state)
        assert_allclose(likelihood.sum(axis=1), 1)
        belief = belief * likelihood[np.arange(40), X[:, feature]]
        state = tempered.advance(feature, state, X[:, feature])
    assert_allclose(belief / belief.sum(axis=1, keepdims=True), tempered.posterior(X), atol=1e-10)
    assert_allclose(model.with_exponents(np.ones(4)).posterior(X), model.posterior(X), atol=1e-12)
    assert_allclose(model.with_exponents(np.zeros(4)).posterior(X), np.tile(model.class_prior_, (40, 1)), atol=1e-12)


@pytest.mark.parametrize("model", [NaiveBayes(), ClassMixture(2)], ids=["bayes", "mixture"])
def test_a_feature_that_says_nothing_moves_no_belief(model: ObservationModel) -> None:
    X, y = independent(100, 6)
    flat = model.fit(X, y).with_exponents([1, 0, 1, 1])
    shown = np.array([[1, -1, 0, -1], [1, 1, 0, -1]])
    assert_allclose(flat.posterior(shown)[1], flat.posterior(shown)[0])
    assert not np.allclose(model.posterior(shown)[1], model.posterior(shown)[0])


@pytest.mark.slow
@pytest.mark.usefixtures("few_folds")
def test_missing_cells_sparse_rows_bundles_and_groups() -> None:
    X, y = copies(80, 7, 4)
    holes = X.astype(float)
    holes[np.random.default_rng(0).random(X.shape) < 0.3] = np.nan
    assert (SequentialClassifier(calibrate=True, feature_costs=0.002).fit(holes, y).calibration_.loss > 0).all()
    dense, thin = classifier().fit(X, y), classifier().fit(sparse.csr_array(X), y)
    assert_allclose(thin.calibration_.exponents, dense.calibration_.exponents, rtol=1e-9)
    bundled = classifier(
        feature_costs=Costs(bundles=["a", "a", "b", "b"], groups=[0, 0, 1, 1], discounted_costs=0.001)
    ).fit(X, y)
    assert len(bundled.calibration_.exponents) == 2
    # both of a bundle have its exponent
    assert len(set(np.round(1 / bundled.model_.temperature_, 9))) == 2


def test_nothing_pays_from_the_start() -> None:
    X, y = independent(60, 8)
    clf = classifier(feature_costs=0.9).fit(X, y)
    assert clf.calibration_.exponents.size == 0
    assert str(clf.calibration_) == "Nothing is calibrated, as no answer is worth its price."
    assert repr(clf.calibration_) == "<Calibration: nothing, as no answer is worth its price>"
    assert clf.acquire(X).n_features.max() == 0


@pytest.mark.slow
@pytest.mark.usefixtures("few_folds")
def test_saved_and_other_prior(tmp_path: Any) -> None:
    X, y = copies(80, 9, 4)
    clf = classifier().fit(X, y, held_out=2)
    clf.save(tmp_path / "a.seq")
    again = seqclass.load(tmp_path / "a.seq")
    assert_array_equal(again.calibration_.exponents, clf.calibration_.exponents)
    assert_array_equal(again.predict_proba(X), clf.predict_proba(X))
    assert_array_equal(clf.with_prior([0.9, 0.1]).model_.temperature_, clf.model_.temperature_)
    assert clf.calibration_.to_frame().shape == (len(clf.calibration_.exponents), 4)
    assert not hasattr(clf.set_params(calibrate=False).fit(X, y), "calibration_")


@pytest.mark.slow
@pytest.mark.usefixtures("few_folds", "loose_mixtures")
def test_what_adaptive_chose_is_calibrated_by_the_folds_it_chose_on(without_folds: SimpleNamespace) -> None:
    X, y = copies(120, 11, 4)
    clf = seqclass.adaptive(0.01, effort="quick").fit(X, y)
    assert clf.choice_.chosen == "naive Bayes, one order"
    assert clf.calibration_.n_rows[0] == len(y)
    assert clf.calibration_.exponents[1:].max() < 0.5
    way = candidates(EFFORTS["quick"], 0, *X.shape)[clf.choice_.chosen]
    alone = SequentialClassifier(**way)
    folds = without_folds.asking(alone, X, y, assign_folds(y, 3, 0))
    without_folds.planned(folds, alone, True)
    assert_array_equal(clf.calibration_.exponents, folds.found[-1][0].exponents)
    again = clf.fit(X, y, held_out=0)
    assert not hasattr(again, "calibration_")


@pytest.mark.parametrize("order", ["conditional", "adaptive"])
def test_a_fold_is_decided_by_a_fit_without_it_calibrated_by_the_others(
    order: str, without_folds: SimpleNamespace
) -> None:
    X, y = copies(90, 13, 4)
    fold = assign_folds(y, 3, 0)
    solver = QUICK if order == "adaptive" else None
    clf = classifier(calibrate=False, order=order, solver=solver, feature_costs=0.02)
    folds = without_folds.asking(clf, X, y, fold)
    assert_array_equal(
        cross_fit(without_folds.planned(folds, clf, False), X, y, fold).costs,
        without_folds.acting(clf, X, y, fold).costs,
    )
    before = [part.agent.expected_cost for part in without_folds.planned(folds, clf, False)]
    parts = without_folds.planned(folds, clf, True)
    assert [part.agent.calibration.n_rows[0] for part in parts] == [(fold != number).sum() for number in range(3)]
    assert all(part.agent.expected_cost > model for part, model in zip(parts, before))
    alone = without_folds.planned(folds, clf, False)  # as if nothing had been calibrated
    assert [part.agent.expected_cost for part in alone] == before


@pytest.mark.slow_cells("adaptive")
@pytest.mark.parametrize("order", ["conditional", "adaptive"])
def test_rows_are_asked_once_for_all_that_listen(
    order: str, monkeypatch: pytest.MonkeyPatch, without_folds: SimpleNamespace
) -> None:
    walks: list[Walk] = []

    class Counted(Walk):
        def __init__(self, part: CalibrationFold) -> None:
            super().__init__(part)
            walks.append(self)

    monkeypatch.setattr(_calibration, "Walk", Counted)
    X, y = copies(150, 15, 2)
    looks = np.random.default_rng(16).random((150, 6)) < 0.2
    X = np.column_stack([X, np.where(looks, 1 - y[:, None], y[:, None])]).astype(float)
    X[np.random.default_rng(0).random(X.shape) < 0.1] = np.nan
    clf = classifier(calibrate=False, order=order, solver=QUICK if order == "adaptive" else None, feature_costs=0.03)
    folds = without_folds.asking(clf, X, y, assign_folds(y, 3, 0))
    without_folds.planned(folds, clf, True)
    assert len(walks) == 3  # not two for each
    last = []
    parts = [CalibrationFold.from_fold(fit.agent, *folds.given, n, None) for n, fit in enumerate(folds.fits)]
    for number, (together, asked) in enumerate(folds.found):
        ((alone, asked_alone),) = exponents_of([[part for k, part in enumerate(parts) if k != number]], 1)
        assert_array_equal(together.n_rows, alone.n_rows)
        assert_allclose(together.exponents, alone.exponents, rtol=1e-12)
        assert_allclose(together.loss, alone.loss, rtol=1e-12)
        for ours, theirs in zip(asked, asked_alone, strict=True):
            assert_array_equal(ours[0], theirs[0])
            assert_array_equal(ours[1], theirs[1])
        last.append(together.n_rows[-1] / together.n_rows[0])
    assert 0 < min(last) < max(last) < 1  # rows are settled for one and not for another


def test_a_rule_alone_says_what_is_asked(without_folds: SimpleNamespace) -> None:
    """Calibration in any order follows the rule where a solver has but one, which is the order that it solves for."""
    X, y = copies(90, 14, 4)
    one, improving = QUICK, Adaptive([ClassInformation()], max_rounds=1, n_cases=200, certificate_paths=0)
    for solver, solved in ((one, False), (improving, True)):
        settings = classifier(order="adaptive", solver=solver).settings()
        assert (fit_module._settings_for_asking(settings).solver is solver) == solved
    limited = clone(one).set_params(max_nodes=0)
    clf = classifier(order="adaptive", solver=limited, feature_costs=0.02)
    folds = without_folds.asking(clf, X, y, assign_folds(y, 3, 0))
    info = folds.fits[0].agent.problem.initial_belief(2)
    following = folds.fits[0].agent.policy.next_question(info)
    assert_array_equal(without_folds.planned(folds, clf, False)[0].agent.policy.next_question(info), following)


def test_the_recipe_calls_it_fit_as_well() -> None:
    assert seqclass.etana(temperature="fit").get_params()["calibrate"] is True
    with pytest.raises(ValueError, match="calibrate=True"):
        NaiveBayes(temperature="fit").fit([[0], [1]], [0, 1])


def test_bad_input() -> None:
    X, y = independent(40, 10)
    model = NaiveBayes().fit(X, y)
    with pytest.raises(ValueError, match="one a feature"):
        model.with_exponents([1.0])
    with pytest.raises(ValueError, match="between 0 and 1"):
        model.with_exponents([1.0, 2.0, 0.5, 0.5])
    with pytest.raises(TypeError, match="ancestors"):
        TreeNetwork(conditioning="ancestor").fit(X, y).with_exponents(np.ones(4))
    tables = [np.array([0.7, 0.3]), np.array([[0.8, 0.3], [0.2, 0.7]])]
    network = DiscreteNetwork(NetworkTables(["a", "b"], [["n", "y"]] * 2, [[], [0]], tables), "a").fit()
    with pytest.raises(TypeError, match="cannot be calibrated"):
        network.with_exponents([1.0])
    with pytest.raises(TypeError, match="calibrate: Untempered has no _temper"):  # before any row is looked at
        classifier(observation_model=Untempered()).fit(None, None)
    with pytest.raises(ValueError, match="calibrate: the fit without fold"):
        classifier(selector=Picky(k=3)).fit(X, y)


@pytest.mark.slow
def test_totals_that_are_made_anew_tell_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where they take much memory they are not kept."""
    rng = np.random.default_rng(0)
    y = rng.integers(0, 3, 240)
    X = y[:, None] + rng.normal(size=(240, 5))

    def exponents() -> Any:
        settings: dict[str, Any] = {"order": "adaptive", "calibrate": True, "feature_costs": 0.01, "random_state": 0}
        return SequentialClassifier(TreeNetwork(), **settings).fit(X, y).agent_.calibration.exponents

    kept, made = exponents(), []
    whole = _calibration._log_totals
    monkeypatch.setattr(_calibration, "CHUNK_BYTES", 0)
    monkeypatch.setattr(_calibration, "_log_totals", lambda *tables: made.append(1) or whole(*tables))
    np.testing.assert_array_equal(exponents(), kept)
    assert made


def test_what_was_certain_and_wrong_costs_no_more_than_a_least_chance() -> None:
    X, y = np.repeat([0, 1], 60), np.repeat(["a", "b"], 60)
    X[0] = 1  # without its fold nobody of its class has shown this
    settings = {"discretizer": "precomputed", "calibrate": True, "random_state": 0}
    clf = SequentialClassifier(NaiveBayes(alpha=0.0), feature_costs=0.01, **settings).fit(X[:, None], y)
    # 54 of the other class are in folds that it was learnt in, as one beside 54
    assert clf.calibration_.loss_before[0] == pytest.approx((-np.log(1e-12) + 54 * np.log1p(1 / 54)) / 120, rel=1e-6)
