"""Weights of rows: in the model they count as repeated rows, through folds, pipelines and searches."""

from __future__ import annotations

import pickle
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import sklearn
from click.testing import CliRunner
from sklearn.base import clone
from sklearn.exceptions import UnsetMetadataPassedError
from sklearn.metrics import accuracy_score, make_scorer
from sklearn.model_selection import GridSearchCV, cross_validate
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import seqclass
from seqclass import SequentialClassifier
from seqclass.adaptive_classifier import EFFORTS
from seqclass.bn import DiscreteNetwork, NaiveBayes, NetworkTables, ObservationModel, TreeNetwork
from seqclass.cli import main
from seqclass.export import model_card
from seqclass.fitting.choice import choose
from seqclass.fitting.held_out import HeldOut
from seqclass.metrics import realised_cost_scorer
from seqclass.persistence import save
from seqclass.pomdp import Panels
from seqclass.stats import mean_interval, paired_t_test

_BEFORE_1_8 = tuple(map(int, sklearn.__version__.split(".")[:2])) < (1, 8)

rng = np.random.default_rng(0)
N = 120
Y = rng.integers(0, 2, N)
CODES = np.column_stack([(rng.random(N) < np.where(Y == 1, p, 1 - p)).astype(int) for p in (0.7, 0.9, 0.6, 0.8)])
X = CODES + 0.1 * rng.standard_normal(CODES.shape)
WEIGHT = rng.integers(0, 4, N)


class Noting(NaiveBayes):
    """Naive Bayes that notes what weight each fit saw."""

    seen: list[Any] = []

    def fit(self, X: Any, y: Any, sample_weight: Any = None, *, n_outcomes: Any = None) -> Any:
        self.seen.append(sample_weight)
        return super().fit(X, y, sample_weight, n_outcomes=n_outcomes)


@pytest.fixture
def seen(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    monkeypatch.setattr(Noting, "seen", [])
    return Noting.seen


class Weightless(NaiveBayes):
    """A model of somebody's own that takes no weights."""

    def fit(self, X: Any, y: Any, *, n_outcomes: Any = None) -> Any:  # type: ignore[override]
        return super().fit(X, y, n_outcomes=n_outcomes)


@pytest.mark.parametrize("model", [NaiveBayes(), NaiveBayes(temperature=1.5), TreeNetwork()])
def test_weights_are_repeated_rows(model: ObservationModel) -> None:
    clf = SequentialClassifier(model, discretizer="precomputed", order="information", feature_costs=0.02)
    weighted = clf.fit(CODES, Y, WEIGHT).predict_proba(CODES)
    np.testing.assert_allclose(
        clf.fit(np.repeat(CODES, WEIGHT, axis=0), np.repeat(Y, WEIGHT)).predict_proba(CODES), weighted, atol=1e-9
    )
    assert np.abs(clf.fit(CODES, Y).predict_proba(CODES) - weighted).max() > 0.01


def test_cases_begin_as_weighted_rows_do() -> None:
    clf = SequentialClassifier(discretizer="precomputed", order="information", feature_costs=0.02, known=[3])
    starts = clf.fit(CODES, Y, WEIGHT).problem_.structure.starts
    repeated = np.repeat(CODES, WEIGHT, axis=0), np.repeat(Y, WEIGHT)
    np.testing.assert_allclose(clf.fit(*repeated).problem_.structure.starts.weight, starts.weight)
    assert clf.fit(CODES, Y).problem_.structure.starts.weight[0] != pytest.approx(starts.weight[0], abs=0.01)


def test_of_faded_rows_cases_begin_as_they_weigh() -> None:
    clf = SequentialClassifier(
        discretizer="precomputed", order="information", feature_costs=0.02, known=[3], half_life=20
    )
    share = 2.0 ** (-np.arange(N)[::-1] / 20)
    expected = np.bincount(CODES[:, 3], share) / share.sum()
    np.testing.assert_allclose(clf.fit(CODES, Y).problem_.structure.starts.weight, expected)
    parts = clone(clf).partial_fit(CODES[:70], Y[:70], classes=[0, 1], n_outcomes=2).partial_fit(CODES[70:], Y[70:])
    np.testing.assert_allclose(parts.problem_.structure.starts.weight, expected)


def test_of_many_rows_those_that_weigh_stand_for_all() -> None:
    y = np.arange(20_000) % 2
    X = np.column_stack([y, np.arange(20_000) // 2 % 3])
    recent = np.arange(20_000) >= 19_900  # half-lives that few of 2000 rows drawn evenly would be in
    X[recent, 1] = np.where(np.arange(100) % 4 == 0, 2, 0)
    clf = SequentialClassifier(discretizer="precomputed", order="information", known=[1], half_life=10)
    weight = 2.0 ** (-np.arange(20_000)[::-1] / 10)
    share = np.bincount(X[:, 1], weight) / weight.sum()
    starts = clf.fit(X, y).problem_.structure.starts
    found = np.zeros(3)
    found[starts.outcomes[:, 0]] = starts.weight
    np.testing.assert_allclose(found, share, atol=0.04)


@pytest.mark.usefixtures("loose_mixtures")
@pytest.mark.parametrize(
    "make", [SequentialClassifier, pytest.param(lambda: seqclass.adaptive(effort="quick"), marks=pytest.mark.slow)]
)
def test_a_row_of_weight_zero_is_as_good_as_absent(make: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(EFFORTS, "quick", replace(EFFORTS["quick"], strategies=()))
    frame = pd.DataFrame(X[:, :2], columns=list("ab")).assign(kind=np.where(WEIGHT == 0, "odd", "usual"))
    kept = WEIGHT > 0
    weight = np.where(kept, 2.0, 0.0)
    clf = make().fit(frame, pd.Series(Y, name="label"), weight, held_out=2)
    without = make().fit(frame[kept], pd.Series(Y[kept], name="label"), weight[kept], held_out=2)
    np.testing.assert_array_equal(clf.predict_proba(frame[kept]), without.predict_proba(frame[kept]))
    np.testing.assert_array_equal(clf.held_out_.decision_costs, without.held_out_.decision_costs)
    assert clf.target_name_ == "label"
    assert clf.encoder_.categories_["kind"].tolist() == ["usual"]


@pytest.mark.slow_cells("settings1")
@pytest.mark.parametrize("settings", [{}, {"calibrate": True}])
def test_folds_learn_with_the_weights_of_their_rows(settings: dict[str, Any], seen: list[Any]) -> None:
    weight = WEIGHT + 1.0
    SequentialClassifier(Noting(), **settings).fit(X, Y, weight, held_out=0 if settings else 3)
    assert len(seen) > 3
    np.testing.assert_array_equal(seen[0], weight)
    folds = [given for given in seen[1:] if len(given) < N]
    assert len(folds) >= 3
    # each row is left out once as often as any other
    times = sum(weight.sum() - given.sum() for given in folds) / weight.sum()
    assert times == pytest.approx(round(times))
    assert times >= 1


def test_weights_are_refused_where_nothing_takes_them() -> None:
    network = NetworkTables(
        ["flu", "fever"], [["no", "yes"], ["high", "low"]], [[], [0]], [[0.7, 0.3], np.array([[0.2, 0.7], [0.8, 0.3]])]
    )
    fitted = NaiveBayes().fit(CODES, Y)
    precomputed = {"discretizer": "precomputed", "order": "given"}
    for clf, message in (
        (SequentialClassifier(Weightless()), "sample_weight, or half_life: Weightless takes no weights"),
        (SequentialClassifier(fitted, prefit=True, discretizer="precomputed"), "prefit=True the model learns nothing"),
        (SequentialClassifier(DiscreteNetwork(network, "flu"), **precomputed), "DiscreteNetwork learns nothing"),
    ):
        with pytest.raises(ValueError, match=message):
            clf.fit(CODES, Y, WEIGHT)
    assert SequentialClassifier(Weightless()).fit(CODES, Y).classes_.tolist() == [0, 1]


@pytest.mark.parametrize(
    "weight, message",
    [
        (-np.ones(N), "sample_weight must not be negative"),
        (np.zeros(N), "sample_weight must not be zero for all rows"),
        (np.ones(N - 1), "sample_weight"),
        (np.full(N, np.nan), "sample_weight"),
        (np.where(Y == 1, 1.0, 0.0), "only one class, 1, in the rows of a sample_weight above 0"),
    ],
)
def test_wrong_weights(weight: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        SequentialClassifier().fit(X, Y, weight)


@pytest.mark.skipif(_BEFORE_1_8, reason="pipelines pass weights to score since 1.8")
def test_weights_are_routed_through_a_search_over_a_pipeline(seen: list[Any]) -> None:
    weight = WEIGHT + 1.0
    with sklearn.config_context(enable_metadata_routing=True):
        silent = make_pipeline(StandardScaler().set_fit_request(sample_weight=False), SequentialClassifier(Noting()))
        with pytest.raises(UnsetMetadataPassedError, match="sample_weight"):
            silent.fit(X, Y, sample_weight=weight)
        clf = SequentialClassifier(Noting()).set_fit_request(sample_weight=True).set_score_request(sample_weight=True)
        steps = make_pipeline(StandardScaler().set_fit_request(sample_weight=False), clf)
        grid = {"sequentialclassifier__feature_costs": [0.01, 0.1]}
        seen.clear()
        search = GridSearchCV(steps, grid, cv=3, error_score="raise").fit(X, Y, sample_weight=weight)
    np.testing.assert_array_equal(seen[-1], weight)
    assert [len(given) for given in seen] == [80] * 6 + [N]
    assert sum(given.sum() for given in seen[:-1]) == 2 * 2 * weight.sum()
    plain = SequentialClassifier(feature_costs=search.best_params_["sequentialclassifier__feature_costs"])
    scaled = StandardScaler().fit_transform(X)
    np.testing.assert_array_equal(search.predict_proba(X), plain.fit(scaled, Y, weight).predict_proba(scaled))


def test_weights_are_routed_to_the_scorer_as_to_those_of_scikit_learn() -> None:
    weight, clf = WEIGHT + 1.0, SequentialClassifier(feature_costs=0.05)
    with pytest.raises(RuntimeError, match="enable_metadata_routing=True"):
        realised_cost_scorer.set_score_request(sample_weight=True)
    with sklearn.config_context(enable_metadata_routing=True):
        clf.set_fit_request(sample_weight=False)
        asking = realised_cost_scorer.set_score_request(sample_weight=True)
        renamed = pickle.loads(pickle.dumps(asking.set_score_request(sample_weight="importance")))
        silent = realised_cost_scorer.set_score_request(sample_weight=False)
        theirs = make_scorer(accuracy_score).set_score_request(sample_weight=True)
        folds = {"cv": 3, "return_estimator": True, "return_indices": True, "error_score": "raise"}
        scoring = {"weighted": asking, "silent": silent, "accuracy": theirs}
        found = cross_validate(clf, X, Y, params={"sample_weight": weight}, scoring=scoring, **folds)
        other = cross_validate(clf, X, Y, params={"importance": weight}, scoring=renamed, **folds)
        unaware = () if _BEFORE_1_8 else (make_scorer(accuracy_score),)  # it asks for nothing before
        for unset in (realised_cost_scorer, *unaware):  # asking changed nothing for others
            with pytest.raises(UnsetMetadataPassedError, match=r"sample_weight.*set_score_request"):
                cross_validate(clf, X, Y, params={"sample_weight": weight}, scoring=unset, **folds)
        np.testing.assert_array_equal(
            cross_validate(clf, X, Y, scoring=realised_cost_scorer, **folds)["test_score"], found["test_silent"]
        )
    for fold, (fitted, rows) in enumerate(zip(found["estimator"], found["indices"]["test"])):
        expected = realised_cost_scorer(fitted, X[rows], Y[rows], weight[rows])
        assert found["test_weighted"][fold] == other["test_score"][fold] == expected
        assert found["test_silent"][fold] == realised_cost_scorer(fitted, X[rows], Y[rows]) != expected


def test_what_a_pipeline_acquires() -> None:
    steps = make_pipeline(StandardScaler(), SequentialClassifier()).fit(X, Y)
    record = steps[-1].acquire(steps[:-1].transform(X))
    np.testing.assert_array_equal(record.decision, steps.predict(X))
    assert realised_cost_scorer(steps, X, Y) == -np.mean(record.paid + (record.decision != Y))


@pytest.fixture(scope="module")
def ageing() -> SequentialClassifier:
    """A few columns, rows that fade, and folds."""
    clf = SequentialClassifier(discretizer="precomputed", order="given", feature_costs=0.05, half_life=30)
    return clf.fit(CODES, Y, 1.0 + WEIGHT, held_out=3)


def test_rows_held_out_weigh_as_in_the_fit(ageing: SequentialClassifier) -> None:
    held = ageing.held_out_
    weight = (2.0 ** (-np.arange(N)[::-1] / 30) * (1.0 + WEIGHT))[held.fold >= 0]
    np.testing.assert_allclose(held.weights / held.weights.sum(), weight / weight.sum())
    for one in (held, held.deciding_at_once, held.linear):
        for name, values in (("cost", one.costs), ("price", one.prices), ("error", one.errors)):
            assert getattr(one, name) == pytest.approx(np.average(values, weights=weight))
        assert one.n_features == pytest.approx(np.average(one.counts, weights=weight))
        low, high = one.cost_interval
        assert low < one.cost < high
    test = held.compare(held.linear)
    assert test.difference == pytest.approx(held.cost - held.linear.cost)
    # as wide as that of so many rows as all of them tell as much as
    n = weight.sum() ** 2 / (weight @ weight)
    spread = np.average((held.decision_costs - held.decision_cost) ** 2, weights=weight)
    assert np.ptp(held.decision_cost_interval) > 2 * 1.96 * np.sqrt(spread / n)


def test_deciding_at_once_is_by_the_frequencies_that_count() -> None:
    y = (np.arange(N) < 80).astype(int)  # the last ones are all of the other class
    clf = SequentialClassifier(discretizer="precomputed", order="given", half_life=40)
    with pytest.warns(UserWarning, match="with nothing bought, 0.4"):
        held = clf.fit(CODES, y, held_out=2).held_out_
    assert not held.deciding_at_once.decisions.any()


def test_calibration_looks_at_rows_as_much_as_they_weigh() -> None:
    rng = np.random.default_rng(1)
    y = rng.integers(0, 2, 600)
    X = (rng.random((600, 3)) < np.where(y[:, None] == 1, 0.9, 0.1)).astype(int)
    y[300:] = rng.integers(0, 2, 300)  # what nobody can tell, and hardly counts
    clf = SequentialClassifier(discretizer="precomputed", order="given", feature_costs=0.001, calibrate=True)
    found = clf.fit(X, y, np.where(np.arange(600) < 300, 1.0, 1e-6)).calibration_
    assert found.exponents[0] > 0.8


def test_a_choice_is_by_what_counts() -> None:
    weight, noise = np.repeat([1.0, 0.1], 50), np.tile([0.0, 0.1], 50)
    losses = {"a": np.where(weight == 1, 0.1, 0.5) + noise, "b": np.where(weight == 1, 0.2, 0.1) + noise}

    def chosen(weights: Any) -> Any:
        about = np.arange(100) % 4, np.zeros(100)
        rest = np.zeros(100, dtype=int), np.zeros(100, dtype=bool), np.zeros(100, dtype=int)
        held = [HeldOut(name, *about, loss, *rest, weights=weights) for name, loss in losses.items()]
        return choose(held, [0.0, 0.0], "b", False)[0]

    found = chosen(weight)
    assert (found.chosen, chosen(None).chosen) == ("a", "b")
    means = [np.average(loss, weights=weight) for loss in losses.values()]
    assert [one.cost for one in found.candidates] == pytest.approx(means)


def test_policies_are_judged_on_training_rows_by_weight() -> None:
    costs = seqclass.Costs(0.01, visit_cost=0.05)
    solver = Panels(20, max_rounds=0, certificate_paths=0)
    clf = SequentialClassifier(solver=solver, discretizer="precomputed", order="adaptive", feature_costs=costs)
    found = clf.fit(CODES, Y, 1.0 + WEIGHT).policy_.info.ordering.observed
    record = clf.acquire(CODES)
    realised = record.paid + (record.decision != Y)
    chosen = next(one for one in found if one.name == clf.policy_.info.ordering.chosen)
    assert chosen.cost == pytest.approx(np.average(realised, weights=1.0 + WEIGHT))
    assert chosen.cost != pytest.approx(realised.mean(), abs=1e-4)


def test_intervals_of_weighted_scores() -> None:
    scores, some = np.random.default_rng(0).random(40), {"bounds": (0, 1), "test_to_train": 0.01}
    plain = mean_interval(scores, **some)
    same = mean_interval(scores, weights=np.full(40, 3.0), **some)
    for name in ("mean", "lower", "upper", "standard_error"):
        assert getattr(same, name) == pytest.approx(getattr(plain, name))
    weight = np.linspace(1, 3, 40)
    n = weight.sum() ** 2 / (weight**2).sum()
    found, mean = mean_interval(scores, weights=weight), np.average(scores, weights=weight)
    error = np.sqrt((weight**2 @ (scores - mean) ** 2) / weight.sum() ** 2 * n / (n - 1))
    assert (found.mean, found.standard_error) == (pytest.approx(mean), pytest.approx(error))
    none = mean_interval(np.zeros(40), weights=weight, bounds=(0, 1)).upper
    assert none == pytest.approx(1 - 0.025 ** (1 / n))
    assert paired_t_test(scores, scores**2, weights=weight).difference == pytest.approx(
        np.average(scores - scores**2, weights=weight)
    )
    with pytest.raises(ValueError, match="weights must be above 0"):
        mean_interval([0.1, 0.2], weights=[0, 1])


def test_weight_in_one_row_leaves_no_interval(tmp_path: Path) -> None:
    clf = SequentialClassifier().fit(X, Y, np.where(np.arange(N) == 3, 1.0, 1e-20), held_out=3)
    save(clf, tmp_path / "m.seq")
    shown = CliRunner().invoke(main, ["show", str(tmp_path / "m.seq")]).output
    for text in (str(clf.held_out_), shown, model_card(clf)):
        assert "no interval" in text
        assert "nan" not in text
    assert "within the interval" not in model_card(clf)
