"""The sequential classifier as a user meets it."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.base import BaseEstimator, TransformerMixin, clone
from sklearn.compose import ColumnTransformer
from sklearn.datasets import load_breast_cancer, load_digits, load_iris, load_wine
from sklearn.decomposition import PCA
from sklearn.exceptions import NotFittedError
from sklearn.feature_selection import SelectKBest, mutual_info_classif
from sklearn.model_selection import cross_val_score
from sklearn.naive_bayes import CategoricalNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, KBinsDiscretizer

import seqclass
from seqclass import Costs, SequentialClassifier, etana
from seqclass.bn import NaiveBayes, ObservationModel
from seqclass.discretize import Discretizer
from seqclass.metrics import realised_cost
from seqclass.pomdp import GridValueIteration, Perseus, StoppingValue, evaluate
from seqclass.pomdp.account import planned_prices
from seqclass.pomdp.policy import LookaheadPolicy

BINS = KBinsDiscretizer(4, encode="ordinal", strategy="uniform", subsample=None)
QUICK = GridValueIteration(60, certificate_paths=0)


@pytest.fixture(scope="module")
def cancer():
    return load_breast_cancer(return_X_y=True)


@pytest.fixture(scope="module")
def fitted(cancer):
    X, y = cancer
    return etana().fit(X[::2], y[::2])


def frame_data(n=200, seed=0):
    """Return a colour that tells the class, a noisy size, and a column of no use."""
    rng = np.random.default_rng(seed)
    y = rng.integers(2, size=n)
    colour = np.where(rng.random(n) < 0.9, np.where(y == 1, "red", "blue"), "green").astype(object)
    colour[:5] = None
    size = y + rng.normal(0, 0.5, n)
    size[5:15] = np.nan
    frame = pd.DataFrame({"colour": colour, "size": size, "noise": rng.normal(size=n)})
    return frame, np.where(y == 1, "ripe", "raw")


@pytest.mark.quick
def test_the_names_that_scripts_rely_on(fitted, cancer):
    X, _ = cancer
    assert fitted.classes_.tolist() == [0, 1]
    assert fitted.decisions_.tolist() == [0, 1]
    info = fitted.policy_.info
    assert info.status == "converged"
    assert 0 <= info.lower <= info.upper <= 0.4
    assert info.gap == pytest.approx((info.upper - info.lower) / info.upper)
    assert info.seconds > 0
    assert info.n_stages == fitted.problem_.n_stages == 30
    assert set(fitted.timings_) >= {"discretize", "parameters", "order", "solve"}
    record = fitted.acquire(X[1::2])
    n = len(X[1::2])
    assert record.decision.shape == (n,)
    assert record.posterior.shape == (n, 2)
    np.testing.assert_allclose(record.posterior.sum(axis=1), 1)
    assert record.order.shape == (n, record.n_features.max())
    assert (record.decision == fitted.predict(X[1::2])).all()
    assert record.beliefs is None


def test_it_is_frugal_and_accurate(fitted, cancer):
    X, y = cancer
    record = fitted.acquire(X[1::2])
    assert (record.decision == y[1::2]).mean() > 0.92
    assert record.n_features.mean() < 5
    np.testing.assert_allclose(record.paid, 0.01 * record.n_features)
    cost = realised_cost(y[1::2], record.decision, record.paid)
    assert cost == pytest.approx((record.decision != y[1::2]).mean() + record.paid.mean())
    assert cost < 0.12


def test_beliefs_are_those_of_categorical_naive_bayes(fitted, cancer):
    X, _ = cancer
    codes = fitted.coder_.transform(X)
    record = fitted.acquire(X, record_beliefs=True)
    y = cancer[1][::2]
    for row in range(0, len(X), 40):
        asked = record.order[row][record.order[row] >= 0]
        for k in range(1, len(asked) + 1):
            peer = CategoricalNB(alpha=1, min_categories=fitted.coder_.n_outcomes_[asked[:k]])
            peer.fit(fitted.coder_.transform(X[::2])[:, asked[:k]], y)
            expected = peer.predict_proba(codes[[row]][:, asked[:k]])[0]
            np.testing.assert_allclose(record.beliefs[row, k], expected, atol=1e-12)
    np.testing.assert_allclose(record.beliefs[:, 0], np.tile(fitted.problem_.prior, (len(X), 1)))
    np.testing.assert_allclose(record.beliefs[:, -1], record.posterior)


def test_the_model_predicts_what_happens():
    """On data drawn from its own model the expected cost is what is realised."""
    rng = np.random.default_rng(0)
    y = rng.integers(3, size=6000)
    table = rng.dirichlet(np.ones(3), size=(8, 3))
    X = (rng.random((6000, 8, 1)) > table.cumsum(axis=2)[:, y].swapaxes(0, 1)).sum(axis=2)
    clf = SequentialClassifier(discretizer="precomputed").fit(X[:3000], y[:3000])
    record = clf.acquire(X[3000:])
    result = evaluate(clf.problem_, clf.policy_)
    cost = realised_cost(y[3000:], record.decision, record.paid)
    assert cost == pytest.approx(result.cost, abs=0.03)
    assert record.n_features.mean() == pytest.approx(result.n_features, abs=0.2)


@pytest.mark.slow_cells("load_breast_cancer-False", "load_breast_cancer-True")
@pytest.mark.parametrize("published", [False, True])
@pytest.mark.parametrize("load", [load_iris, load_breast_cancer])
def test_recipe_on_embedded_data(load, published):
    X, y = load(return_X_y=True)
    assert cross_val_score(etana(published=published), X, y, cv=2).mean() > 0.85


@pytest.mark.slow
def test_published_settings_are_the_papers(cancer):
    X, y = cancer
    clf = etana(published=True).fit(X, y)
    assert set(clf.coder_.n_outcomes_) == {2}
    assert clf.policy_.values.interpolation == "nearest"
    assert clf.policy_.values.grid.resolution == 10
    assert clf.policy_.info.size == 30 * 11
    other = etana(published=True, n_bins=3, order="given", solver=Perseus(20, certificate_paths=0)).fit(X, y)
    assert set(other.coder_.n_outcomes_) == {3}
    assert other.order_.tolist() == list(range(30))


def test_unknown_settings_are_refused():
    with pytest.raises(TypeError, match="colour"):
        etana(colour=1)
    with pytest.raises(ValueError, match="strategy"):
        etana(strategy="random")


@pytest.mark.slow
def test_ten_classes():
    X, y = load_digits(return_X_y=True)
    clf = etana(solver=Perseus(200, certificate_paths=0)).fit(X[:1200], y[:1200])
    record = clf.acquire(X[1200:])
    assert (record.decision == y[1200:]).mean() > 0.75
    assert record.n_features.mean() < 15


@pytest.mark.slow
def test_selected_features_keep_their_columns(cancer):
    X, y = cancer

    def score(codes, labels):
        return mutual_info_classif(codes, labels, discrete_features=True)

    clf = SequentialClassifier(solver=QUICK, selector=SelectKBest(score, k=5)).fit(X, y)
    support = clf.selector_.get_support(indices=True)
    record = clf.acquire(X)
    asked = np.unique(record.order[record.order >= 0])
    assert set(asked) <= set(support)
    assert len(clf.order_) == 5
    again = SequentialClassifier(solver=QUICK, order=clf.order_[:2]).fit(X, y)
    assert set(np.unique(again.acquire(X).order)) <= {*clf.order_[:2].tolist(), -1}
    dropped = np.setdiff1d(np.arange(30), support)[:1]
    again.set_params(selector=SelectKBest(score, k=5), order=dropped)
    with pytest.raises(ValueError, match="selector did not keep"):
        again.fit(X, y)


@pytest.mark.parametrize(("k", "message"), [(0, "SelectKBest kept no feature"), (1, "selector did not keep")])
def test_a_selector_that_keeps_too_little_is_told_of(k, message):
    first = SelectKBest(lambda X, y: -np.arange(X.shape[1]), k=k)
    with pytest.raises(ValueError, match=message):
        SequentialClassifier(solver=QUICK, selector=first, order=[1]).fit([[0, 1], [1, 0]] * 5, [0, 1] * 5)


def test_orders_by_name_and_array(cancer):
    X, y = cancer
    frame = pd.DataFrame(X, columns=[f"f{j}" for j in range(30)])
    by_name = SequentialClassifier(solver=QUICK, order=["f7", "f3"]).fit(frame, y)
    assert by_name.order_.tolist() == [7, 3]
    assert SequentialClassifier(solver=QUICK, order=[7, 3]).fit(X, y).order_.tolist() == [7, 3]
    assert SequentialClassifier(solver=QUICK, order="given").fit(X, y).order_.tolist() == list(range(30))
    for wrong, message in [("best", "best"), ([3, 3], "more than once"), ([99], "99"), (["f7"], "names")]:
        with pytest.raises(ValueError, match=message):
            SequentialClassifier(solver=QUICK, order=wrong).fit(X, y)


def test_prices_move_the_order_and_the_number_of_features(cancer):
    X, y = cancer[0][:, ::3], cancer[1]
    means = []
    for price in (0.0, 0.001, 0.01, 0.1, 1.0):
        record = SequentialClassifier(solver=QUICK, feature_costs=price).fit(X, y).acquire(X)
        means.append(record.n_features.mean())
    assert means == sorted(means, reverse=True)
    assert means[-1] == 0
    dear = np.full(10, 0.01)
    first = SequentialClassifier(solver=QUICK).fit(X, y).order_[0]
    dear[first] = 0.5
    clf = SequentialClassifier(solver=QUICK, feature_costs=dear).fit(X, y)
    assert clf.order_[0] != first
    assert first not in clf.acquire(X).order


def test_zero_features_is_a_legal_answer(cancer):
    X, y = cancer
    clf = SequentialClassifier(solver=QUICK, feature_costs=1.0).fit(X, y)
    record = clf.acquire(X, record_beliefs=True)
    assert record.order.shape == (len(X), 0)
    assert record.beliefs.shape == (len(X), 1, 2)
    assert set(record.decision) == {1}
    assert clf.session().next_feature is None


def test_a_decision_beyond_the_classes(cancer):
    X, y = cancer
    labels = np.array(["ill", "well"])[y]
    clf = SequentialClassifier(
        feature_costs=Costs(decision_costs=[[0, 1, 0.05], [1, 0, 0.05]], decisions=["refer"]), solver=QUICK
    ).fit(X, labels)
    record = clf.acquire(X)
    assert clf.decisions_.tolist() == ["ill", "well", "refer"]
    assert set(record.decision) == {"ill", "well", "refer"}
    certain = record.posterior.max(axis=1)
    assert certain[record.decision == "refer"].max() <= 0.95 + 1e-9
    cost = realised_cost(
        labels, record.decision, record.paid, decision_costs=clf.decision_costs_, decisions=clf.decisions_
    )
    assert cost < 0.1


def test_asymmetric_costs_move_decisions(cancer):
    X, y = cancer[0][:, ::3], cancer[1]
    even = SequentialClassifier(solver=QUICK).fit(X, y)
    dear = SequentialClassifier(feature_costs=Costs(decision_costs=[[0, 10], [1, 0]]), solver=QUICK).fit(X, y)
    missed = [evaluate(c.problem_, c.policy_).decision_given_class[0, 1] for c in (even, dear)]
    assert missed[1] < missed[0] / 2
    assert dear.acquire(X).n_features.mean() > even.acquire(X).n_features.mean()


def test_groups_share_a_discount(cancer):
    X, y = cancer
    groups = ["blood"] * 10 + [None] * 20
    clf = SequentialClassifier(
        feature_costs=Costs(groups=groups, discounted_costs=[0.001] * 10 + [0.01] * 20), solver=QUICK, order="given"
    ).fit(X, y)
    np.testing.assert_allclose(planned_prices(clf.problem_)[:12], [0.01] + [0.001] * 9 + [0.01] * 2)
    record = clf.acquire(X)
    n_blood = ((record.order >= 0) & (record.order < 10)).sum(axis=1)
    n_other = (record.order >= 10).sum(axis=1)
    expected = np.where(n_blood > 0, 0.01 + 0.001 * (n_blood - 1), 0) + 0.01 * n_other
    np.testing.assert_allclose(record.paid, expected)
    missing = X.copy()
    missing[:, 0] = np.nan
    record = clf.acquire(missing)
    n_blood = ((record.order > 0) & (record.order < 10)).sum(axis=1)
    n_other = (record.order >= 10).sum(axis=1)
    expected = np.where(n_blood > 0, 0.01 + 0.001 * (n_blood - 1), 0) + 0.01 * n_other
    np.testing.assert_allclose(record.paid, expected)


def test_missing_values(fitted, cancer):
    X, y = cancer
    X = X.copy()
    X[np.random.default_rng(0).random(X.shape) < 0.3] = np.nan
    clf = etana(solver=QUICK).fit(X[::2], y[::2])
    record = clf.acquire(X[1::2])
    assert (record.decision == y[1::2]).mean() > 0.88
    asked = (record.order >= 0).sum(axis=1)
    assert (record.n_features < asked).any()
    np.testing.assert_allclose(record.paid, 0.01 * record.n_features)
    charged = clf.set_params(feature_costs=Costs(charge_missing=True)).acquire(X[1::2])
    np.testing.assert_allclose(charged.paid, 0.01 * (charged.order >= 0).sum(axis=1))
    nothing = clf.acquire(np.full((2, 30), np.nan))
    np.testing.assert_allclose(nothing.posterior, np.tile(clf.problem_.prior, (2, 1)))


@pytest.mark.slow
def test_sparse_equals_dense():
    rng = np.random.default_rng(0)
    y = rng.integers(2, size=150)
    X = rng.poisson(0.3 + 0.9 * y[:, None] * (np.arange(60) < 8), size=(150, 60)).astype(float)
    dense = etana(solver=QUICK).fit(X, y)
    b = etana(solver=QUICK, discretizer=Discretizer("auto", zero_bin=True)).fit(X, y).acquire(X)
    for kind in (sp.csr_array, sp.csc_array, sp.csr_matrix):
        clf = etana(solver=QUICK, discretizer=Discretizer("auto", zero_bin=True)).fit(kind(X), y)
        a = clf.acquire(kind(X))
        np.testing.assert_array_equal(a.order, b.order)
        np.testing.assert_allclose(a.posterior, b.posterior)
    assert dense.score(X, y) > 0.8


def test_rows_do_not_depend_on_their_batch(fitted, cancer):
    X, _ = cancer
    whole = fitted.acquire(X)
    alone = [fitted.acquire(X[[i]]) for i in range(0, len(X), 50)]
    for i, record in zip(range(0, len(X), 50), alone):
        assert record.decision[0] == whole.decision[i]
        np.testing.assert_array_equal(record.posterior[0], whole.posterior[i])
        assert record.n_features[0] == whole.n_features[i]


@pytest.mark.slow
def test_same_seed_same_answers():
    X, y = load_wine(return_X_y=True)
    a, b = (SequentialClassifier(solver=Perseus(50, random_state=3)).fit(X, y) for _ in range(2))
    np.testing.assert_array_equal(a.predict_proba(X), b.predict_proba(X))
    assert a.policy_.info.upper == b.policy_.info.upper


def test_frames_with_categories_and_missing_cells():
    X, y = frame_data()
    clf = etana(solver=QUICK).fit(X, y)
    assert clf.encoder_.categories_["colour"].tolist() == ["blue", "green", "red"]
    assert clf.coder_.n_outcomes_[0] == 3
    assert clf.score(X, y) > 0.85
    assert clf.order_[0] == 0
    shuffled = X.assign(colour=X["colour"].astype("category"))
    np.testing.assert_array_equal(clf.predict(shuffled), clf.predict(X))
    with pytest.raises(ValueError, match=r"'colour'.*'violet'"):
        clf.predict(X.assign(colour="violet"))
    with pytest.raises(ValueError, match=r"'size'.*'big'"):
        clf.predict(X.assign(size="big"))
    with pytest.raises(ValueError, match="data frame"):
        clf.predict(np.zeros((1, 3)))
    np.testing.assert_array_equal(clf.predict(X[["size", "colour", "noise"]]), clf.predict(X))  # by name


def test_frames_that_cannot_be_used():
    X, y = frame_data()
    sizes = X["size"].astype(object)
    sizes.iloc[3] = "tall"
    with pytest.raises(ValueError, match=r"'size'.*'tall'"):
        etana().fit(X.assign(size=sizes), y)
    with pytest.raises(ValueError, match=r"'name'.*too many"):
        etana().fit(X.assign(name=[f"n{i}" for i in range(len(X))]), y)
    with pytest.raises(ValueError, match=r"'when'.*dates"):
        etana().fit(X.assign(when=pd.Timestamp("2020-01-01")), y)


def test_text_numbers_are_numbers():
    X, y = frame_data()
    clf = etana(solver=QUICK).fit(X.assign(noise=X["noise"].map("{:.3f}".format)), y)
    assert list(clf.encoder_.categories_) == ["colour"]


@pytest.mark.parametrize("encode", ["ordinal", "onehot"])
def test_a_foreign_discretiser(cancer, encode):
    X, y = cancer
    foreign = KBinsDiscretizer(4, encode=encode, strategy="quantile", quantile_method="averaged_inverted_cdf")
    clf = SequentialClassifier(solver=QUICK, discretizer=foreign)
    if encode == "onehot":
        with pytest.raises(ValueError, match="one-hot"):
            clf.fit(X, y)
    else:
        assert clf.fit(X, y).score(X, y) > 0.9


def test_a_foreign_discretiser_writes_into_rows_of_its_own(cancer):
    class InPlace(TransformerMixin, BaseEstimator):
        def fit(self, X, y=None):
            self.n_outcomes_ = np.full(self.transform(X).shape[1], 2)
            return self

        def transform(self, X):
            X[:] = X > 14
            return X.astype(int)

    X, y = cancer[0][:, :3].copy(), cancer[1]
    clf = SequentialClassifier(solver=QUICK, discretizer=InPlace()).fit(X, y)
    clf.predict(X)
    np.testing.assert_array_equal(X, cancer[0][:, :3])


def test_a_foreign_discretiser_that_takes_no_missing_cells(cancer):
    """Missing cells stay missing, and what it makes of the others is as without them."""
    X, y = cancer[0][:, :8], cancer[1]
    holes = np.where(np.random.default_rng(0).random(X.shape) < 0.2, np.nan, X)
    foreign = KBinsDiscretizer(4, encode="ordinal", strategy="uniform", subsample=None)
    clf = SequentialClassifier(solver=QUICK, discretizer=foreign).fit(holes, y)
    seen = ~np.isnan(holes)
    for j in range(X.shape[1]):
        own = clone(foreign).fit(holes[seen[:, j]][:, [j]]).transform(holes[seen[:, j]][:, [j]])
        np.testing.assert_array_equal(clf.coder_.transform(holes)[seen[:, j], j], own[:, 0])
    assert (clf.coder_.transform(holes)[~seen] == -1).all()
    record = clf.acquire(holes[:5])
    for row, decision in zip(holes, record.decision):
        case = clf.session()
        while (question := case.next_feature) is not None:
            value = row[question.column]
            case.unavailable(question.name) if np.isnan(value) else case.observe(question.name, value)
        assert case.decision == decision


@pytest.mark.parametrize(
    "discretizer",
    [
        ColumnTransformer([("last", BINS, [1, 2]), ("first", BINS, [0])]),
        make_pipeline(PCA(), BINS),
        FunctionTransformer(lambda X: (X.argsort(axis=0).argsort(axis=0) >= len(X) / 2).astype(int)),
    ],
    ids=["order", "mixture", "ranks"],
)
def test_a_discretiser_goes_column_by_column(cancer, discretizer):
    """Columns in another order had each other's names and prices, and live cases other outcomes than batches."""
    X, y = cancer[0][:, :3], cancer[1]
    with pytest.raises(ValueError, match="outcomes of column 0 depend on other columns or rows"):
        SequentialClassifier(solver=QUICK, discretizer=discretizer).fit(X, y)
    with pytest.raises(ValueError, match="turned 569 rows into 1; it must keep them all"):
        SequentialClassifier(discretizer=FunctionTransformer(lambda X: X[:1] > 14)).fit(X, y)
    apart = ColumnTransformer([("first", BINS, [0]), ("last", BINS, [1, 2])])
    codes = SequentialClassifier(solver=QUICK, discretizer=apart).fit(X, y).coder_.transform(X)
    np.testing.assert_array_equal(codes, BINS.fit_transform(X))


def test_a_column_of_too_many_outcomes_is_named_where_memory_ends(monkeypatch):
    def fail(*_):
        raise MemoryError("Unable to allocate 6.71 GiB")

    monkeypatch.setattr(NaiveBayes, "_fit", fail)
    X = pd.DataFrame({"kind": np.arange(2000) % 3, "site": np.arange(2000)})
    with pytest.raises(ValueError, match=r"column 'site' has 2,000 outcomes, .* group its values, or leave it out"):
        SequentialClassifier(NaiveBayes(), discretizer="precomputed").fit(X, X["kind"] > 0)
    with pytest.raises(MemoryError, match="feature 1 has 2,000 outcomes"):
        NaiveBayes().fit(X.to_numpy(), X["kind"] > 0)
    with pytest.raises(MemoryError, match="Unable to allocate"):  # which no column explains
        NaiveBayes().fit(X[["kind"]].to_numpy(), X["kind"] > 0)


def test_precomputed_outcomes(cancer):
    X, y = cancer
    codes = Discretizer(4).fit(X).transform(X)
    clf = SequentialClassifier(solver=QUICK, discretizer="precomputed").fit(codes, y)
    own = SequentialClassifier(solver=QUICK, discretizer=Discretizer(4)).fit(X, y)
    np.testing.assert_array_equal(clf.predict(codes), own.predict(X))
    with pytest.raises(ValueError, match="not an outcome"):
        clf.predict(codes + 4)
    with pytest.raises(ValueError, match="whole number"):
        SequentialClassifier(discretizer="precomputed").fit(X, y)
    with pytest.raises(ValueError, match="precomputed"):
        SequentialClassifier(discretizer="binned").fit(X, y)


def test_errors_of_precomputed_outcomes_name_the_column():
    rng = np.random.default_rng(0)
    X, y = pd.DataFrame(rng.integers(0, 3, (40, 3)).astype(float), columns=["a", "b", "the c"]), np.arange(40) % 2
    whole, bad = SequentialClassifier(discretizer="precomputed").fit(X, y), X.copy()
    bad.loc[4, "the c"] = 7.0
    of_chunks = SequentialClassifier(discretizer="precomputed").fit_chunks([(X, y)])
    for clf in (whole, of_chunks):
        for asked in (clf.predict, clf.acquire, lambda X, clf=clf: clf.explain(X.iloc[3:5])):
            with pytest.raises(ValueError, match="column 'the c' holds 7, not an outcome of the model: those are"):
                asked(bad)
    with pytest.raises(ValueError, match="column 'the c' holds 7, not an outcome"):
        whole.session().observe("the c", 7)
    bad.loc[4, "the c"] = 1.5
    with pytest.raises(ValueError, match=r"column 'the c' holds 1\.5, which is not a whole number"):
        SequentialClassifier(discretizer="precomputed").fit(bad, y)


class Unrelated(ObservationModel):
    """A model without tables: features say nothing unless the one before showed outcome 0."""

    def _fit(self, X, codes, sample_weight):
        self.inner_ = NaiveBayes().fit(X, self.classes_[codes], n_outcomes=self.n_outcomes_)

    def _likelihood(self, feature, evidence):
        return self.inner_.likelihood(feature, evidence)


def test_a_model_without_tables_looks_ahead(cancer):
    X, y = cancer
    clf = SequentialClassifier(Unrelated(), order="information").fit(X[:, :6], y)
    assert clf.problem_.structure.tables is None
    assert 0 <= clf.policy_.info.lower <= clf.policy_.info.upper
    assert clf.score(X[:, :6], y) > 0.85
    with pytest.raises(ValueError, match="tables"):
        SequentialClassifier(Unrelated(), solver=Perseus(10)).fit(X, y)


def test_a_model_without_tables_acts_like_its_tables(cancer):
    """The staged problem kept by the model gives the same run as the problem given by tables."""
    from seqclass.agent.problem import acquisition_problem
    from seqclass.costs import Costs
    from seqclass.pomdp import acquire

    X, y = cancer
    codes = Discretizer(3).fit(X).transform(X)[:, :6]
    order, prices = np.arange(6), Costs(0.02).prices(6)
    runs = []
    for model in (NaiveBayes(), Unrelated()):
        problem = acquisition_problem(model.fit(codes, y), order, prices, 1 - np.eye(2))
        policy = LookaheadPolicy(StoppingValue(problem))
        runs.append((acquire(policy, codes), evaluate(problem, policy)))
    (a, cost_a), (b, cost_b) = runs
    np.testing.assert_array_equal(a.leaf_decision[a.leaf], b.leaf_decision[b.leaf])
    np.testing.assert_allclose(a.leaf_belief[a.leaf], b.leaf_belief[b.leaf])
    assert cost_a.cost == pytest.approx(cost_b.cost)


def test_with_prior(fitted, cancer):
    X, _ = cancer
    rare = fitted.with_prior([0.001, 0.999])
    assert rare.problem_.prior.tolist() == [0.001, 0.999]
    assert fitted.problem_.prior.tolist() != [0.001, 0.999]
    assert rare.acquire(X).n_features.mean() < fitted.acquire(X).n_features.mean()
    assert (rare.predict(X) == 0).mean() < (fitted.predict(X) == 0).mean()
    same = fitted.with_prior(fitted.problem_.prior)
    np.testing.assert_array_equal(same.predict_proba(X), fitted.predict_proba(X))
    for wrong in ([0.5], [0.7, 0.7], [-0.1, 1.1]):
        with pytest.raises(ValueError, match="prior"):
            fitted.with_prior(wrong)


@pytest.mark.parametrize("known", [(), (0,)])
def test_further_rows_leave_the_prior_that_was_set(known, tmp_path):
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 400)
    X = (rng.random((400, 4)) < np.where(y[:, None] == 1, 0.8, 0.3)).astype(int)
    first = SequentialClassifier(discretizer="precomputed", known=known)
    first.partial_fit(X[:200], y[:200], classes=[0, 1], n_outcomes=2)
    rare = first.with_prior([0.2, 0.8])
    rare.save(tmp_path / "rare.seq")
    rare = seqclass.load(tmp_path / "rare.seq")
    before, then = rare.predict_proba(X), first.predict_proba(X)
    for rows in (slice(200, 300), slice(300, 400)):
        rare.partial_fit(X[rows], y[rows])
    assert rare.problem_.prior.tolist() == [0.2, 0.8]
    np.testing.assert_array_equal(first.predict_proba(X), then)
    for rows in (slice(200, 300), slice(300, 400)):
        first.partial_fit(X[rows], y[rows])
    after = first.with_prior([0.2, 0.8])
    np.testing.assert_array_equal(rare.predict_proba(X), after.predict_proba(X))
    np.testing.assert_array_equal(rare.model_.class_prior_, first.model_.class_prior_)
    assert rare.expected_cost_ == after.expected_cost_
    assert not np.array_equal(rare.predict_proba(X), before)
    again = first.partial_fit(X, y).problem_.prior
    np.testing.assert_allclose(again, first.model_.class_prior_)


@pytest.mark.quick
def test_saved_and_loaded(fitted, cancer, tmp_path):
    X, _ = cancer
    fitted.save(tmp_path / "model.seq")
    loaded = seqclass.load(tmp_path / "model.seq")
    np.testing.assert_array_equal(loaded.predict_proba(X), fitted.predict_proba(X))
    assert loaded.policy_.info == fitted.policy_.info
    assert loaded.with_prior([0.5, 0.5]).problem_.prior.tolist() == [0.5, 0.5]
    frame, labels = frame_data()
    clf = etana(solver=Perseus(50, certificate_paths=100), temperature=1.5).fit(frame, labels)
    clf.save(tmp_path / "other.seq")
    np.testing.assert_array_equal(seqclass.load(tmp_path / "other.seq").predict(frame), clf.predict(frame))


def test_a_foreign_part_is_not_saved(cancer, tmp_path):
    X, y = cancer
    foreign = KBinsDiscretizer(4, encode="ordinal", quantile_method="averaged_inverted_cdf")
    clf = SequentialClassifier(solver=QUICK, discretizer=foreign).fit(X, y)
    with pytest.raises(TypeError, match="KBinsDiscretizer"):
        clf.save(tmp_path / "model.seq")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"feature_costs": -1}, "feature_costs must not be negative"),
        ({"feature_costs": [0.1, 0.2]}, "feature_costs must be .* 30 features"),
        ({"feature_costs": {0: 1.0}}, "feature_costs has no price for 1, 2"),
        ({"feature_costs": {"age": 1.0}}, "feature_costs names 'age'"),
        ({"feature_costs": float("nan")}, "feature_costs must be finite"),
        ({"feature_costs": "cheap"}, "feature_costs must hold numbers"),
        ({"feature_costs": Costs(decision_costs=np.eye(3))}, r"decision_costs must have shape \(2, 2\)"),
        ({"feature_costs": Costs(decision_costs=[[0, -1], [1, 0]])}, "decision_costs must not be negative"),
        ({"feature_costs": Costs(decisions=["refer"])}, "decision_costs must give them a column"),
        ({"feature_costs": Costs(discounted_costs=0.1)}, "discounted_costs needs groups"),
        ({"feature_costs": Costs(groups=[1])}, "groups must have a label for each"),
        ({"feature_costs": Costs(groups=[1] * 30, discounted_costs=0.02)}, "above its full price"),
        ({"solver": GridValueIteration(0)}, "resolution must be at least 1"),
        ({"solver": Perseus(n_beliefs=0)}, "n_beliefs must be at least 1"),
        ({"observation_model": NaiveBayes(temperature=0.5)}, "temperature"),
        ({"discretizer": Discretizer(0)}, "n_bins"),
    ],
)
def test_bad_settings_are_named(cancer, settings, message):
    X, y = cancer
    with pytest.raises((ValueError, TypeError), match=message):
        SequentialClassifier(**settings).fit(X, y)


def test_bad_data_is_named(fitted):
    with pytest.raises(ValueError, match="only one class"):
        SequentialClassifier().fit([[0.0], [1.0]], [1, 1])
    with pytest.raises(ValueError, match="30 features"):
        fitted.predict(np.zeros((2, 3)))
    with pytest.raises(ValueError, match="infinity"):
        fitted.predict(np.full((1, 30), np.inf))


def as_objects(labels):
    array = np.empty(len(labels), dtype=object)
    array[:] = list(labels)
    return array


@pytest.mark.parametrize(
    ("plain", "kind"),
    [
        (np.array([3, -1]), "i"),
        (np.array([0.0, 2.0]), "f"),
        (np.array([False, True]), "b"),
        (np.array(["no", "yes"]), "O"),
        (np.array([2**63, 2**63 + 1], dtype=np.uint64), "u"),
    ],
)
def test_labels_as_objects(cancer, plain, kind):
    X, y = cancer[0][:, :3], cancer[1]
    labels = plain[y[:100]]
    expected = SequentialClassifier(random_state=0).fit(X[:100], labels)
    for given in (as_objects(labels.tolist()), pd.Series(as_objects(labels.tolist())), as_objects(labels)):
        found = SequentialClassifier(random_state=0).fit(X[:100], given)
        assert found.classes_.dtype.kind == kind
        assert found.classes_.tolist() == expected.classes_.tolist()
        assert (found.predict(X) == expected.predict(X)).all()
        assert found.score(X[:100], given) == expected.score(X[:100], labels)
    model = NaiveBayes().fit(np.eye(4, dtype=int), as_objects(plain[[0, 1, 1, 0]].tolist()))
    assert model.classes_.tolist() == sorted(plain.tolist())


@pytest.mark.parametrize(
    ("labels", "message"),
    [
        ([0, "a", 0, "a"], "y mixes numbers with texts, as 0 and 'a': give all labels as numbers or all as texts"),
        ([True, 0, True, 0], "y mixes booleans with numbers, as True and 0"),
        ([0, None, 1, 1], "y holds None in row 1: leave out the rows without a label"),
        (["a", "b", np.nan, "b"], "y holds nan in row 2"),
        ([pd.NA, "a", "b", "b"], "y holds <NA> in row 0"),
        ([b"a", b"b", b"a", b"b"], "y holds bytes: labels must be numbers, texts or booleans"),
        ([pd.Timestamp(2020 + i % 2, 1, 1) for i in range(4)], "y holds Timestamp: labels must be"),
        ([("a", i % 2) for i in range(4)], "y holds tuple: labels must be"),
        ([2**60 + 1, 0.5, 0.5, 0.5], "no array of numbers can hold exactly"),
        ([0.5, 1.25, 3.75, 9.5], "continuous"),
    ],
)
def test_labels_as_objects_that_are_no_classes(labels, message):
    for call in (
        lambda: SequentialClassifier().fit(np.eye(4), as_objects(labels)),
        lambda: NaiveBayes().fit(np.eye(4, dtype=int), as_objects(labels)),
    ):
        with pytest.raises(ValueError, match=message):
            call()


@pytest.mark.parametrize(
    ("labels", "message"),
    [
        ([0, "a", 0, "a"], "y mixes numbers with texts"),
        (("a", float("nan"), "b", "b"), "y holds nan in row 1: leave out"),
        ([True, 2, True, 2], "y mixes booleans with numbers"),
        (as_objects(["a", np.float32("nan"), "b", "b"]), "y holds nan in row 1"),
        (as_objects([0, "a", 0, "a"])[:, None], "y mixes numbers with texts"),
        # a model of such classes was saved, and refused as damaged when it was read
        (np.array(["2020", "2021", "2020", "2021"], dtype="datetime64[D]"), r"y holds datetime64\[D\]: labels must be"),
        (pd.Series(pd.to_timedelta([1, 2, 1, 2], "D")), r"y holds timedelta64\[.s\]: labels must be"),
    ],
)
def test_lists_and_columns_of_several_kinds_are_not_turned_into_texts(labels, message):
    for call in (
        lambda: SequentialClassifier().fit(np.eye(4), labels),
        lambda: NaiveBayes().fit(np.eye(4, dtype=int), labels),
    ):
        with pytest.raises(ValueError, match=message):
            call()


@pytest.mark.parametrize(("dtype", "kind"), [("Int64", "i"), ("boolean", "b")])
def test_nullable_labels_keep_their_kind(dtype, kind):
    y = pd.Series([0, 1, 1, 0], dtype=dtype)
    for fitted in (SequentialClassifier().fit(np.eye(4), y), NaiveBayes().fit(np.eye(4, dtype=int), y)):
        assert fitted.classes_.dtype.kind == kind


def test_a_frame_of_categories_only(tmp_path):
    X, y = frame_data()
    X = X[["colour"]]
    clf = etana(solver=QUICK).fit(X, y)
    assert clf.score(X, y) > 0.85
    case = clf.session()
    case.observe("colour", "red")
    assert case.decision == "ripe"
    clf.save(tmp_path / "model.seq")
    np.testing.assert_array_equal(seqclass.load(tmp_path / "model.seq").predict(X), clf.predict(X))


def test_a_live_case_with_a_foreign_discretiser(cancer):
    X, y = cancer
    foreign = KBinsDiscretizer(4, encode="ordinal", strategy="quantile", quantile_method="averaged_inverted_cdf")
    clf = SequentialClassifier(solver=QUICK, discretizer=foreign).fit(X, y)
    record = clf.acquire(X[:5])
    for i in range(5):
        case = clf.session()
        while (question := case.next_feature) is not None:
            case.observe(question.name, X[i, question.column])
        assert case.decision == record.decision[i]
        np.testing.assert_allclose(case.posterior, record.posterior[i])


def test_score_with_number_classes_and_a_further_decision(cancer):
    X, y = cancer
    clf = SequentialClassifier(
        feature_costs=Costs(decision_costs=[[0, 1, 0.05], [1, 0, 0.05]], decisions=["refer"]), solver=QUICK
    )
    decision = clf.fit(X, y).predict(X)
    assert clf.score(X, y) == np.mean([d == label for d, label in zip(decision, y)])
    weight = np.arange(len(y))
    assert clf.score(X, y, weight) == pytest.approx(np.average(decision == y, weights=weight))
    assert cross_val_score(clf, X, y, cv=3).min() > 0.5


def test_lots_do_not_hang_on_columns_that_are_never_asked_for(cancer):
    X, y = cancer
    clf = SequentialClassifier(solver=QUICK, order=[27, 20, 1], target_cost=0.013).fit(X, y)
    changed = X.copy()
    changed[:, [0, 5, 11]] = np.nan
    record, same = clf.acquire(X), clf.acquire(changed)
    np.testing.assert_array_equal(record.order, same.order)
    np.testing.assert_array_equal(record.paid, same.paid)
    assert len(clf.policy_.initial_belief()[0]) == 2


def test_settings_that_would_do_nothing_are_refused():
    with pytest.raises(ValueError, match="n_bins and strategy belong"):
        etana(discretizer="precomputed", n_bins=7)
    with pytest.raises(ValueError, match="n_bins and strategy belong"):
        etana(discretizer="precomputed", strategy="uniform")
    with pytest.raises(ValueError, match="temperature belongs"):
        etana(observation_model=NaiveBayes(), temperature=3)


def test_a_failed_first_fit_leaves_it_unfitted(cancer):
    X, y = cancer
    clf = SequentialClassifier(feature_costs=-1)
    with pytest.raises(ValueError, match="feature_costs"):
        clf.fit(X, y)
    with pytest.raises(NotFittedError):
        clf.predict(X)


def test_columns_that_share_a_name_are_refused():
    frame = pd.DataFrame(np.zeros((4, 2)), columns=["a", "a"])
    with pytest.raises(ValueError, match="more than one column named 'a'"):
        SequentialClassifier().fit(frame, [0, 1, 0, 1])


def test_a_missing_live_value_of_a_randomised_rule_has_a_saving(cancer):
    X, y = cancer
    clf = SequentialClassifier(solver=QUICK, target_cost=0.012).fit(X, y)
    question = clf.session(key="patient 7").next_feature
    assert question is None or np.isfinite(question.expected_saving)
