"""Semi-randomised feature selection: what it finds, within which limits, and how it fails."""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.datasets import load_diabetes, make_classification
from sklearn.dummy import DummyClassifier
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.exceptions import FitFailedWarning
from sklearn.feature_selection import SelectKBest
from sklearn.linear_model import LinearRegression
from sklearn.model_selection import GroupKFold, KFold, cross_val_score
from sklearn.naive_bayes import BernoulliNB, GaussianNB
from sklearn.tree import DecisionTreeClassifier
from sklearn.utils.estimator_checks import parametrize_with_checks

from seqclass import SequentialClassifier
from seqclass.metrics import realised_cost
from seqclass.selection import SemiRFS

pytestmark = pytest.mark.usefixtures("few_trees")


@pytest.mark.slow
@parametrize_with_checks([SemiRFS(GaussianNB(), cv=2, max_iter=2, max_evaluations=4)])
def test_scikit_learn(estimator: Any, check: Any) -> None:
    check(estimator)


@pytest.mark.slow
@parametrize_with_checks(
    [
        SemiRFS(LinearRegression(), cv=2, max_iter=3, cool_down=True, warm_start=True, random_state=0),
        SemiRFS.rve(GaussianNB(), max_iter=3),
    ]
)
def test_scikit_learn_with_other_settings(estimator: Any, check: Any) -> None:
    check(estimator)


@pytest.fixture(scope="module")
def data() -> tuple[np.ndarray, np.ndarray]:
    return make_classification(120, 30, n_informative=5, n_redundant=2, n_classes=2, random_state=3)  # type: ignore[no-any-return]


class Lookup(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """Predicts nothing: its score is a function of which columns it was given, told by their first cells."""

    fits = 0

    def __init__(self, good: tuple[int, ...] = (1, 4), penalty: float = 0.01) -> None:
        self.good, self.penalty = good, penalty

    def fit(self, X: Any, y: Any) -> Lookup:
        Lookup.fits += 1
        self.columns_ = set(np.asarray(X)[0].astype(int).tolist())
        return self

    def score(self, X: Any, y: Any) -> float:
        hits = len(self.columns_ & set(self.good))
        return hits / len(self.good) - self.penalty * len(self.columns_)


def columns_of(n: int, rows: int = 8) -> tuple[np.ndarray, np.ndarray]:
    return np.tile(np.arange(float(n)), (rows, 1)), np.arange(rows) % 2


def enumerated(n: int, good: tuple[int, ...], penalty: float) -> tuple[float, tuple[int, ...]]:
    subsets = [s for k in range(1, n + 1) for s in itertools.combinations(range(n), k)]
    scores = [len(set(s) & set(good)) / len(good) - penalty * len(s) for s in subsets]
    best = max(range(len(subsets)), key=lambda i: scores[i])
    return scores[best], subsets[best]


FORMS: dict[str, dict[str, Any]] = {
    "adaptive": {},
    "static": {"adaptive": False},
    "cool down": {"cool_down": True, "adaptive": False, "group_size": 1},
    "from all": {"warm_start": "all"},
    "given": {"warm_start": [0, 7]},
    "mask": {"warm_start": np.arange(8) == 5},
    "trees": {"warm_start": True, "n_initial": 2},
    "selector": {"warm_start": SelectKBest(k=3)},
    "both": {"warm_start": "all", "cool_down": True},
}


@pytest.mark.filterwarnings("ignore:Features")  # of SelectKBest: the columns are constant
@pytest.mark.filterwarnings("ignore:invalid value")
@pytest.mark.filterwarnings("ignore:divide by zero")
@pytest.mark.parametrize("form", FORMS)
def test_the_best_subset_of_all_is_found(form: str) -> None:
    X, y = columns_of(8)
    selector = SemiRFS(Lookup((1, 4, 6)), cv=2, patience=150, c=10.0, random_state=1, **FORMS[form]).fit(X, y)
    score, subset = enumerated(8, (1, 4, 6), 0.01)
    assert selector.get_support(indices=True).tolist() == list(subset)
    assert selector.best_score_ == pytest.approx(score)
    assert selector.n_features_ == 3


@pytest.mark.slow
def test_earlier_forms_are_settings(data: Any) -> None:
    rfs = SemiRFS.rfs(GaussianNB(), cv=2, max_iter=15, random_state=0).fit(*data)
    assert rfs.history_["group_size"].max() == rfs.history_["removal_group_size"].max() == 1
    assert set(rfs.history_["move"]) == {"start", "swap", "add", "remove"}
    rve = SemiRFS.rve(GaussianNB(), 5, cv=2, max_iter=40, random_state=0).fit(*data)
    assert set(rve.history_["move"][1:]) == {"remove"}
    sizes = rve.history_["n_features"]
    assert sizes[0] == 30
    assert np.all(np.diff(sizes) <= 0)
    assert np.all(np.diff(rve.history_["score"]) >= -1e-9)
    assert -np.diff(sizes).min() == 31 // 6  # at once, while all are there


@pytest.mark.slow
def test_only_removals_from_all_features_with_the_penalty_of_algorithm_3(data: Any) -> None:
    settings = {"max_iter": 150, "random_state": 0, "adaptive": False, "group_size": 1, "patience": None, "cv": 2}
    moves = SemiRFS(GaussianNB(), warm_start="all", **settings).fit(*data).history_["move"].tolist()
    assert moves.count("remove") > 60 > 50 > moves.count("add")


@pytest.mark.slow
def test_the_score_is_that_of_cross_validation(data: Any) -> None:
    X, y = data
    for scoring in (None, "roc_auc"):
        selector = SemiRFS(GaussianNB(), scoring=scoring, max_evaluations=15, random_state=0).fit(X, y)
        wanted = cross_val_score(GaussianNB(), X[:, selector.support_], y, cv=5, scoring=scoring)
        assert selector.best_score_ == pytest.approx(wanted.mean())
        best = np.argmax(selector.evaluations_["score"])
        assert selector.evaluations_["score_std"][best] == pytest.approx(wanted.std())


def test_no_subset_is_scored_twice() -> None:
    X, y = columns_of(5)
    Lookup.fits = 0
    selector = SemiRFS(Lookup(), cv=2, patience=None, max_iter=300, c=0.0, warm_start=False, random_state=0).fit(X, y)
    assert Lookup.fits == 2 * selector.n_evaluations_
    assert selector.n_evaluations_ <= 31
    assert selector.stop_reason_ == "exhausted"


@pytest.mark.slow
def test_the_history_is_consistent(data: Any) -> None:
    told: list[Any] = []
    selector = SemiRFS(
        GaussianNB(), max_iter=25, patience=None, warm_start=True, cv=2, callback=told.append, random_state=0
    )
    history, evaluations = selector.fit(*data).history_, selector.evaluations_
    assert len(told) == len(history) == 26 == selector.n_iter_ + 1
    assert [tuple(row) for row in history.tolist()] == [tuple(vars(step).values()) for step in told]
    frame = pd.DataFrame(history)
    assert list(frame["iteration"]) == list(range(26))
    assert history["n_evaluations"][-1] == len(evaluations) == selector.n_evaluations_
    for name in ("best_score", "time", "n_evaluations"):
        assert np.all(np.diff(history[name]) >= 0)
    assert np.allclose(np.maximum.accumulate(evaluations["score"]), evaluations["best_score"])
    accepted = history[history["accepted"]]
    assert np.array_equal(accepted["candidate_score"], accepted["score"])
    assert np.all(history["accepted"][history["improved"]])
    before = np.r_[0.0, history["score"][:-1]]
    assert np.array_equal(history["improved"][1:], (history["candidate_score"] > before + 1e-9)[1:])
    counts = np.bincount(evaluations["iteration"], minlength=26)
    assert np.array_equal(np.cumsum(counts), history["n_evaluations"])
    tried = history["group_size"] + history["removal_group_size"] + (history["iteration"] == 0)
    assert np.all(counts <= tried)


@pytest.mark.slow
def test_worse_candidates_are_accepted_as_often_as_the_rule_says() -> None:
    X, y = columns_of(400)
    # each feature more takes 0.01 away, so that an added one is accepted with probability 1/2
    c = math.log(2) / 0.01
    selector = SemiRFS.rfs(Lookup((0,), 0.01), cv=2, c=c, max_iter=600, patience=None, n_initial=20, random_state=0)
    added = selector.fit(X, y).history_
    added = added[(added["move"] == "add") & ~added["improved"]]
    assert len(added) > 150
    assert added["accepted"].mean() == pytest.approx(0.5, abs=0.1)


@pytest.mark.slow_cells("limit1")
@pytest.mark.parametrize("limit", [{"max_evaluations": 1}, {"max_evaluations": 37}, {"max_iter": 0}, {"max_time": 0.0}])
def test_limits(data: Any, limit: dict[str, Any]) -> None:
    selector = SemiRFS(GaussianNB(), random_state=0, **limit).fit(*data)
    assert selector.stop_reason_ == next(iter(limit))
    assert selector.n_evaluations_ == limit.get("max_evaluations", 1)
    assert selector.get_support().any()


@pytest.mark.slow
def test_patience_and_the_callback_end_the_search(data: Any) -> None:
    selector = SemiRFS(GaussianNB(), cv=2, patience=4, random_state=0).fit(*data)
    assert selector.stop_reason_ == "patience"
    last = np.flatnonzero(np.diff(selector.history_["best_score"]) > 0)[-1] + 1
    assert selector.n_iter_ == last + 4
    selector = SemiRFS(GaussianNB(), cv=2, callback=lambda step: step.iteration == 3, random_state=0).fit(*data)
    assert (selector.stop_reason_, selector.n_iter_) == ("callback", 3)


def test_max_time_is_kept_within_a_group(data: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """By a clock that only the learner moves."""
    clock = [0.0]
    monkeypatch.setattr("time.perf_counter", lambda: clock[0])

    class Slow(GaussianNB):  # type: ignore[misc]
        def fit(self, X: Any, y: Any) -> Any:
            clock[0] += 0.02
            return super().fit(X, y)

    selector = SemiRFS(Slow(), cv=2, max_time=0.3, beta=0.0, random_state=0).fit(*data)
    assert selector.stop_reason_ == "max_time"
    assert selector.n_evaluations_ == 8  # of 40 ms each: the eighth passes the limit
    np.testing.assert_allclose(selector.evaluations_["time"], 0.04 * np.arange(1, 9))
    assert len(selector.history_) < 8  # it ended within a group


@pytest.mark.slow
def test_sizes_stay_within_their_bounds(data: Any) -> None:
    settings = {"min_features": 3, "max_features": 6, "c": 0.0, "max_iter": 40, "patience": None, "cv": 2}
    selector = SemiRFS(GaussianNB(), adaptive=False, random_state=0, **settings).fit(*data)
    assert set(selector.history_["n_features"]) == {3, 4, 5, 6}
    assert 3 <= selector.n_features_ <= 6


@pytest.mark.slow
def test_of_equal_subsets_the_smallest_is_kept(data: Any) -> None:
    selector = SemiRFS(DummyClassifier(), cv=2, max_iter=40, patience=None, random_state=0).fit(*data)
    assert selector.n_features_ == selector.evaluations_["n_features"].min()
    assert np.ptp(selector.evaluations_["score"]) == 0


def test_one_feature() -> None:
    X, y = columns_of(1)
    selector = SemiRFS(GaussianNB(), cv=2, cool_down=True, random_state=0).fit(X + y[:, None], y)
    assert (selector.support_.tolist(), selector.stop_reason_, selector.n_evaluations_) == ([True], "exhausted", 1)


@pytest.mark.parametrize("form", [{}, {"cool_down": True}, {"warm_start": "all"}])
def test_two_features(form: dict[str, Any]) -> None:
    X, y = columns_of(2)
    selector = SemiRFS(Lookup((1,)), cv=2, max_iter=30, random_state=0, **form).fit(X, y)
    assert selector.support_.tolist() == [False, True]


@pytest.mark.slow
def test_regression(data: Any) -> None:
    X, y = load_diabetes(return_X_y=True)
    noisy = np.c_[X, np.random.default_rng(0).normal(size=(len(X), 10))]
    scoring = "neg_root_mean_squared_error"
    selector = SemiRFS(LinearRegression(), scoring, 2, max_evaluations=60, cool_down=True, random_state=0).fit(noisy, y)
    assert selector.best_score_ > cross_val_score(LinearRegression(), noisy, y, cv=2, scoring=scoring).mean()
    assert selector.support_[2]  # body mass index
    assert not hasattr(selector, "classes_")


@pytest.mark.slow
def test_sparse_equals_dense(data: Any) -> None:
    X, y = data[0] > 0.5, data[1]
    settings = {"cv": 2, "max_evaluations": 12, "random_state": 0, "warm_start": True}
    dense = SemiRFS(BernoulliNB(), **settings).fit(X.astype(float), y)
    for form in (sp.csr_array, sp.csc_matrix):
        sparse = SemiRFS(BernoulliNB(), **settings).fit(form(X.astype(float)), y)
        assert np.array_equal(sparse.support_, dense.support_)
        assert np.array_equal(sparse.evaluations_["score"], dense.evaluations_["score"])
    with pytest.raises(TypeError, match=r"[Ss]parse"):
        SemiRFS(GaussianNB()).fit(sp.csr_array(X.astype(float)), y)


def test_missing_values_where_the_learner_takes_them(data: Any) -> None:
    X = data[0].copy()
    X[::5, 0] = np.nan
    tree = DecisionTreeClassifier(max_depth=2)
    assert SemiRFS(tree, cv=2, max_iter=3, random_state=0).fit(X, data[1]).n_iter_ == 3
    with pytest.raises(ValueError, match="column 0 of X contains NaN"):
        SemiRFS(GaussianNB()).fit(X, data[1])


@pytest.mark.slow
def test_labels_of_any_kind_and_names(data: Any) -> None:
    X, y = data
    frame = pd.DataFrame(X, columns=[f"f{i}" for i in range(30)])
    plain = SemiRFS(GaussianNB(), max_iter=3, cv=2, random_state=0).fit(X, y)
    named = SemiRFS(GaussianNB(), max_iter=3, cv=2, random_state=0).fit(frame, np.array(["no", "yes"])[y])
    assert np.array_equal(plain.support_, named.support_)
    assert named.classes_.tolist() == ["no", "yes"]
    assert named.get_feature_names_out().tolist() == [f"f{i}" for i in plain.get_support(indices=True)]


@pytest.mark.slow
def test_folds_by_group_and_folds_given(data: Any) -> None:
    X, y = data
    groups = np.arange(120) // 12
    splits = list(GroupKFold(4).split(X, y, groups))
    by_group = SemiRFS(GaussianNB(), cv=GroupKFold(4), max_evaluations=10, random_state=0).fit(X, y, groups=groups)
    given = SemiRFS(GaussianNB(), cv=splits, max_evaluations=10, random_state=0).fit(X, y)
    assert np.array_equal(by_group.evaluations_["score"], given.evaluations_["score"])
    assert clone(given).fit(X, y).n_evaluations_ == 10


def test_folds_are_drawn_once(data: Any) -> None:
    selector = SemiRFS(DummyClassifier(), cv=KFold(3, shuffle=True), max_iter=6, random_state=0).fit(*data)
    assert np.ptp(selector.evaluations_["score"]) == 0


@pytest.mark.slow
def test_a_random_learner_is_given_a_seed(data: Any) -> None:
    learner = DecisionTreeClassifier(max_features=1)
    runs = [
        SemiRFS(learner, cv=2, max_evaluations=8, random_state=5).fit(*data).evaluations_["score"] for _ in range(2)
    ]
    assert np.array_equal(*runs)
    assert learner.random_state is None
    generators = [
        SemiRFS(learner, cv=2, max_evaluations=8, random_state=np.random.default_rng(5)).fit(*data) for _ in range(2)
    ]
    assert np.array_equal(generators[0].support_, generators[1].support_)


@pytest.mark.slow
def test_a_sequential_classifier_as_learner(data: Any) -> None:
    X, y = data

    def saved(classifier: SequentialClassifier, X: Any, y: Any) -> float:
        record = classifier.acquire(X)
        return -realised_cost(y, record.decision, record.paid)

    prices = np.where(np.arange(30) < 15, 0.01, 0.3)
    learner = SequentialClassifier(feature_costs=prices)
    settings = {"feature_params": ["feature_costs"], "cv": 2, "max_evaluations": 6, "random_state": 0}
    selector = SemiRFS(learner, scoring=saved, adaptive=False, **settings).fit(X, y)
    cut = SequentialClassifier(feature_costs=prices[selector.support_])
    wanted = cross_val_score(cut, X[:, selector.support_], y, cv=2, scoring=saved)
    assert selector.best_score_ == pytest.approx(wanted.mean())
    assert selector.best_score_ > -0.5


@pytest.mark.slow
def test_in_front_of_a_sequential_classifier(data: Any) -> None:
    selector = SemiRFS(DecisionTreeClassifier(max_depth=3), cv=2, max_evaluations=20, random_state=0)
    classifier = SequentialClassifier(selector=selector).fit(*data)
    assert classifier.score(*data) > 0.6


class Picky(GaussianNB):  # type: ignore[misc]
    """Fails, or scores NaN, on subsets of more than ``most`` features."""

    def __init__(self, most: int = 3, nan: bool = False) -> None:
        super().__init__()
        self.most, self.nan = most, nan

    def fit(self, X: Any, y: Any) -> Any:
        if X.shape[1] > self.most and not self.nan:
            raise RuntimeError("too wide")
        return super().fit(X, y)

    def score(self, X: Any, y: Any) -> float:
        return math.nan if X.shape[1] > self.most else float(np.mean(self.predict(X) == y))


@pytest.mark.slow
@pytest.mark.parametrize("nan", [False, True])
def test_failures_count_as_the_worst(data: Any, nan: bool) -> None:
    settings = {"cv": 2, "adaptive": False, "max_iter": 25, "patience": None, "random_state": 0}
    with pytest.warns(FitFailedWarning, match="score is nan" if nan else "RuntimeError: too wide"):
        selector = SemiRFS(Picky(nan=nan), n_initial=3, **settings).fit(*data)
    assert selector.n_features_ <= 3
    assert np.isneginf(selector.evaluations_["score"]).any()
    assert selector.history_["n_features"].max() <= 3  # never accepted
    with pytest.warns(FitFailedWarning):
        selector = SemiRFS(Picky(nan=nan), n_initial=4, **(settings | {"random_state": 1})).fit(
            *data
        )  # it starts on a bad one
    assert selector.n_features_ <= 3
    with pytest.raises((RuntimeError, ValueError), match="finite" if nan else "too wide"):
        SemiRFS(Picky(nan=nan), error_score="raise", **settings).fit(*data)
    with pytest.warns(FitFailedWarning):
        selector = SemiRFS(Picky(nan=nan), n_initial=3, error_score=-5.0, **settings).fit(*data)
    assert selector.evaluations_["score"].min() == -5.0


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.FitFailedWarning")
def test_a_learner_that_always_fails_is_an_error_soon(data: Any) -> None:
    with pytest.raises(ValueError, match="any of 50 subsets of features; the last: RuntimeError: too wide"):
        SemiRFS(Picky(0), cv=2, random_state=0).fit(*data)
    with pytest.raises(ValueError, match="any of 1 subsets"):
        SemiRFS(Picky(0), cv=2, max_evaluations=1, random_state=0).fit(*data)


@pytest.mark.parametrize(
    "settings, message",
    [
        ({"patience": None}, "never end"),
        ({"max_iter": -1}, "max_iter"),
        ({"max_evaluations": 0}, "max_evaluations"),
        ({"max_time": -1.0}, "max_time"),
        ({"alpha": -1.0}, "alpha"),
        ({"beta": math.nan}, "beta"),
        ({"w": 0.0}, "w must be above 0"),
        ({"w_prime": 1.5}, "w_prime"),
        ({"c": -1.0}, "c must"),
        ({"cooling": math.inf}, "cooling"),
        ({"group_size": 0}, "group_size"),
        ({"removal_group_size": 0}, "removal_group_size"),
        ({"removal_size": "best"}, "removal_size"),
        ({"addition_penalty": 2.0}, "addition_penalty"),
        ({"n_initial": 0}, "n_initial"),
        ({"min_features": 31}, "min_features"),
        ({"min_features": 16}, "min_features=16 is above the 15"),
        ({"min_features": 4, "max_features": 3}, "max_features"),
        ({"warm_start": "warm"}, "warm_start"),
        ({"warm_start": [30]}, "names column 30"),
        ({"warm_start": []}, "warm_start"),
        ({"warm_start": "all", "max_features": 5}, "gives 30 features"),
        ({"error_score": "ignore"}, "error_score"),
        ({"feature_params": ["prices"]}, "no parameter 'prices'"),
        ({"feature_params": ["var_smoothing"]}, "one value for each"),
        ({"scoring": "no such score"}, "scoring"),
        ({"random_state": "seed"}, "random_state"),
    ],
)
def test_wrong_settings(data: Any, settings: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        SemiRFS(GaussianNB(), **settings).fit(*data)


def test_wrong_types(data: Any) -> None:
    with pytest.raises(TypeError, match="estimator"):
        SemiRFS("GaussianNB").fit(*data)
    with pytest.raises(TypeError, match="list of names"):
        SemiRFS(GaussianNB(), feature_params="priors").fit(*data)
    with pytest.raises(TypeError, match="get_support"):
        SemiRFS(GaussianNB(), warm_start=GaussianNB()).fit(*data)


def test_gradient_boosting_of_one_column_each(data: Any) -> None:
    constraints = np.zeros(30, dtype=int)
    learner = HistGradientBoostingClassifier(max_iter=3, monotonic_cst=constraints)
    selector = SemiRFS(learner, cv=2, max_evaluations=4, feature_params=["monotonic_cst"], random_state=0).fit(*data)
    assert selector.n_evaluations_ == 4


def test_labels_as_objects() -> None:
    X = np.random.default_rng(0).random((60, 5))
    y = (X[:, 2] > 0.5).astype(int)
    runs = [SemiRFS(GaussianNB(), cv=3, max_iter=3, random_state=0).fit(X, labels) for labels in (y, y.astype(object))]
    np.testing.assert_array_equal(runs[0].support_, runs[1].support_)
    assert runs[0].best_score_ == runs[1].best_score_


def test_a_warm_start_stands_missing_values() -> None:
    X, y = make_classification(80, 12, n_informative=3, n_redundant=0, shuffle=False, random_state=0)
    X[::7, 3:] = np.nan
    learner = HistGradientBoostingClassifier(max_iter=3)
    selector = SemiRFS(learner, cv=2, n_initial=3, max_iter=1, random_state=0).fit(X, y)
    assert selector.evaluations_["n_features"][0] == 3


@pytest.mark.slow
def test_by_default_a_search_over_many_features_starts_warm(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.undo()  # all its trees
    X, y = make_classification(150, 300, n_informative=8, n_redundant=0, random_state=0)
    scores = {
        warm: SemiRFS(GaussianNB(), cv=3, max_evaluations=15, random_state=0, **settings).fit(X, y).best_score_
        for warm, settings in ((True, {}), (False, {"warm_start": False}))
    }
    assert scores[True] > scores[False] + 0.05
    assert SemiRFS.rfs(GaussianNB()).warm_start is False
    assert SemiRFS.rfs(GaussianNB(), warm_start="all").warm_start == "all"
