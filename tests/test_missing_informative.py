"""Missing cells that tell something: outcomes of their own, from the fit to a live case."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

import seqclass
from seqclass import Costs, SequentialClassifier
from seqclass.agent.agent import all_outcomes, outcome_labels
from seqclass.analysis import missing_sweep
from seqclass.bn import ClassMixture, NaiveBayes, TreeNetwork
from seqclass.discretize import Discretizer
from seqclass.large import Chunks
from seqclass.offpolicy import estimate_cost
from seqclass.pomdp import Lookahead


def gaps(n: int, seed: int = 0) -> tuple[pd.DataFrame, Any]:
    """Columns whose values say little, and of which the ill lack more; one has no gap, and one is a category."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 2, n)
    frame = pd.DataFrame({name: y * 0.6 + rng.normal(size=n) for name in "abcd"})
    frame["kind"] = np.where(rng.random(n) < 0.6, np.where(y, "x", "y"), "z")
    for name in ("a", "b", "kind"):
        frame.loc[rng.random(n) < np.where(y, 0.7, 0.1), name] = np.nan
    return frame, np.where(y, "ill", "well")


X, Y = gaps(800)
FRESH, TRUTH = gaps(400, 1)


def informed(**how: Any) -> SequentialClassifier:
    usual = {"feature_costs": 0.02, "missing": "informative"}
    return SequentialClassifier(**(usual | how)).fit(X, Y)


def test_missing_is_the_last_outcome_of_columns_that_lack_cells() -> None:
    clf, before = informed(), SequentialClassifier(feature_costs=0.02).fit(X, Y)
    more = clf.coder_.n_outcomes_ - before.coder_.n_outcomes_
    assert more.tolist() == [1, 1, 0, 0, 1]
    codes, plain = all_outcomes(clf.agent_, FRESH), all_outcomes(before.agent_, FRESH)
    gone = FRESH.isna().to_numpy()
    np.testing.assert_array_equal(codes[~gone], plain[~gone])
    assert (codes[gone] == np.broadcast_to(clf.coder_.n_outcomes_ - 1, codes.shape)[gone]).all()
    assert (plain[gone] == -1).all()
    # what is counted is what missing says
    expected = NaiveBayes().fit(all_outcomes(clf.agent_, X), Y)
    np.testing.assert_array_equal(clf.model_.counts_, expected.counts_)
    assert outcome_labels(clf.agent_, 0)[-1] == "missing"
    assert outcome_labels(clf.agent_, 4) == ["x", "y", "z", "missing"]


def test_a_gap_where_training_had_none_tells_nothing() -> None:
    clf = informed(order=["c", "a"])
    row = FRESH.iloc[[0]].assign(c=np.nan, a=np.nan)
    record = clf.acquire(row, record_beliefs=True)
    assert record.outcome[0, 0] == -1
    np.testing.assert_allclose(record.beliefs[0, 0], record.beliefs[0, 1])
    assert record.outcome[0, 1] == clf.coder_.n_outcomes_[0] - 1
    assert record.paid[0] == pytest.approx(0.02)  # that of the one that tells something
    assert record.n_features[0] == 1


MODELS = [NaiveBayes(), TreeNetwork(), ClassMixture(3, random_state=0)]


@pytest.mark.slow_cells("model1-adaptive", "model2-conditional")
@pytest.mark.covering(1)
@pytest.mark.parametrize("order", ["conditional", "adaptive"])
@pytest.mark.parametrize("model", MODELS)
def test_it_pays_where_gaps_tell_of_the_class(model: Any, order: str) -> None:
    def cost(**how: Any) -> float:
        clf = SequentialClassifier(model, feature_costs=0.02, order=order, **how).fit(X, Y)
        record = clf.acquire(FRESH)
        return float((record.paid + (record.decision != TRUTH)).mean())

    assert cost(missing="informative") < cost() - 0.03


@pytest.mark.slow_cells("conditional-None")
@pytest.mark.covering(1)
@pytest.mark.parametrize("bundles", [None, ["s", "s", None, None, "t"]])
@pytest.mark.parametrize("order", ["conditional", "adaptive"])
def test_a_session_goes_where_a_batch_goes(order: str, bundles: Any, tmp_path: Path) -> None:
    clf = informed(
        observation_model=ClassMixture(2, random_state=0), order=order, feature_costs=Costs(0.02, bundles=bundles)
    )
    clf.save(tmp_path / "a.seq")
    record, again = clf.acquire(FRESH), seqclass.load(tmp_path / "a.seq")
    np.testing.assert_array_equal(again.acquire(FRESH).posterior, record.posterior)
    values = FRESH.astype(object).where(FRESH.notna(), None)
    for i in range(40):
        session = again.session()
        while (question := session.next_feature) is not None:
            names = [f.name for f in question.features] or [question.name]
            told = {name: values.loc[i, name] for name in names if values.loc[i, name] is not None}
            if not told:
                session.unavailable(question.name)
            else:
                session.observe(question.name, told if question.features else told[question.name])
        assert session.decision == record.decision[i]
        assert session.paid == pytest.approx(record.paid[i])
        np.testing.assert_allclose(session.posterior, record.posterior[i])
        taken_up = again.session(session.to_json())
        np.testing.assert_allclose(taken_up.posterior, record.posterior[i])


def test_a_live_source_says_what_a_table_says() -> None:
    clf = informed(order="adaptive", observation_model=ClassMixture(2, random_state=0))
    record = clf.acquire(provider=lambda rows, name: FRESH[name].iloc[rows], n=len(FRESH))
    np.testing.assert_array_equal(record.posterior, clf.acquire(FRESH).posterior)

    def failing(rows: Any, name: str) -> Any:
        raise OSError("down")

    with pytest.warns(UserWarning, match="could not"):
        broken = clf.acquire(provider=failing, n=5, tries=1)
    np.testing.assert_allclose(broken.posterior, np.tile(clf.problem_.prior, (5, 1)))  # a fault says nothing of a case
    assert not broken.paid.any()


@pytest.mark.parametrize("order", ["conditional", "adaptive"])
def test_row_by_row_it_asks_what_it_asks_in_a_batch(order: str) -> None:
    clf = informed(order=order)
    record = clf.acquire(FRESH)
    known = np.zeros(FRESH.shape, dtype=bool)
    for step in range(record.order.shape[1]):
        question = clf.next_question(FRESH, known)
        np.testing.assert_array_equal(question, record.order[:, step])
        asked = question >= 0
        known[np.flatnonzero(asked), question[asked]] = True
    # by itself a gap says that nobody has asked
    np.testing.assert_array_equal(clf.next_question(FRESH), clf.next_question(FRESH, FRESH.notna().to_numpy()))


def test_what_is_known_and_what_is_given_as_a_budget() -> None:
    clf = informed(order="adaptive", known=["kind"])
    record = clf.acquire(FRESH, record_beliefs=True)
    gone = FRESH["kind"].isna().to_numpy()
    assert not np.allclose(record.beliefs[gone, 0].mean(axis=0), clf.problem_.prior, atol=0.1)
    assert (record.paid <= 0.02 * 4 + 1e-9).all()
    session = clf.session()
    session.unavailable("kind")
    assert session.paid == 0
    np.testing.assert_allclose(session.posterior, record.beliefs[gone, 0][0])
    assert (clf.acquire(FRESH, budget=3).n_features <= 3).all()
    whole = informed(order="adaptive").acquire(FRESH, known=["a"])
    assert len(whole) == len(FRESH)


def test_explanations_name_what_was_missing() -> None:
    clf = informed(order=["a", "c"])
    told = clf.explain(FRESH.assign(a=np.nan).iloc[:1])[0]
    step = told.steps[0]
    assert (step.value, step.label, step.missing) == (None, "missing", False)
    assert step.paid == 0.02
    assert "a is missing" in str(told) or "a = missing" in str(told)
    assert "so the belief stays" not in str(told).splitlines()[1]


@pytest.mark.slow
def test_held_out_folds_and_calibration_know_of_it() -> None:
    clf = SequentialClassifier(feature_costs=0.02, missing="informative", calibrate=True)
    clf.fit(X[:300], Y[:300], held_out=3)
    plain = SequentialClassifier(feature_costs=0.02).fit(X[:300], Y[:300], held_out=3)
    assert clf.held_out_.cost < plain.held_out_.cost


@pytest.mark.slow
def test_a_classifier_that_chooses_has_it_too(few_ways: None) -> None:
    clf = seqclass.adaptive(0.02, effort="quick", missing="informative").fit(X[:300], Y[:300])
    plain = seqclass.adaptive(0.02, effort="quick").fit(X[:300], Y[:300])
    assert clf.coder_.missing_.any()
    assert clf.held_out_.cost < plain.held_out_.cost


@pytest.mark.parametrize("form", [sp.csr_array, sp.csc_array])
def test_sparse_rows_have_the_same_outcomes(form: Any) -> None:
    rows = X.drop(columns="kind").to_numpy().copy()
    rows[::3, 2] = 0.0
    for discretizer in (Discretizer(3), None):
        dense = SequentialClassifier(discretizer=discretizer, missing="informative").fit(rows, Y)
        sparse = SequentialClassifier(discretizer=discretizer, missing="informative").fit(form(rows), Y)
        codes = all_outcomes(sparse.agent_, form(rows))
        np.testing.assert_array_equal(
            codes.toarray() if sp.issparse(codes) else codes, all_outcomes(sparse.agent_, rows)
        )
        assert (sparse.coder_.missing_ == dense.coder_.missing_).all()


def test_outcomes_that_are_given_and_rows_that_keep_coming() -> None:
    codes = Discretizer(3).fit_transform(X[["a", "b", "c"]].to_numpy())
    clf = SequentialClassifier(discretizer="precomputed", missing="informative").fit(codes, Y)
    assert clf.coder_.n_outcomes_.tolist() == [4, 4, 3]
    with pytest.raises(ValueError, match="3"):
        clf.predict([[3, 0, 0]])  # which is no outcome that can be given
    bins = Discretizer(3).fit(X[["a", "b", "c"]].to_numpy())
    grown = SequentialClassifier(discretizer=bins, missing="informative")
    for rows in np.array_split(np.arange(800), 3):
        grown.partial_fit(X[["a", "b", "c"]].to_numpy()[rows], Y[rows], classes=["ill", "well"])
    assert grown.coder_.n_outcomes_.tolist() == [4, 4, 4]
    np.testing.assert_array_equal(grown.model_.counts_[:2], clf.model_.counts_[:2])


def test_cells_that_go_missing_are_answers_of_their_own() -> None:
    clf = informed()
    sweep = missing_sweep(clf, FRESH, TRUTH, shares=[0.0, 1.0], n_repeats=2)
    record = clf.acquire(FRESH.assign(**dict.fromkeys(FRESH, np.nan)).astype({"kind": object}))
    assert sweep.accuracy[1] == pytest.approx((record.decision == TRUTH).mean())


@pytest.mark.parametrize(
    "how, said",
    [
        ({"missing": "yes"}, "missing"),
        ({"missing": "informative", "prefit": True, "observation_model": NaiveBayes()}, "a model that is given"),
    ],
)
def test_wrong_settings(how: dict[str, Any], said: str) -> None:
    with pytest.raises(ValueError, match=said):
        SequentialClassifier(**how).fit(X, Y)


def test_records_do_not_tell_missing_from_not_asked() -> None:
    with pytest.raises(ValueError, match="where nobody asked"):
        estimate_cost(informed(), FRESH, TRUTH)


def test_chunks_cannot_tell_beforehand() -> None:
    class One(Chunks):
        def __iter__(self) -> Any:
            yield X, Y

    with pytest.raises(ValueError, match='missing="informative": where cells are missing'):
        SequentialClassifier(missing="informative").fit_chunks(One())


@pytest.mark.parametrize("density", ["normal", "rank", "auto"])
def test_densities_are_of_values_and_missing_stands_beside_them(density: str) -> None:
    rows = X.drop(columns="kind").to_numpy()
    how: dict[str, Any] = {"observation_model": ClassMixture(1, density=density), "discretizer": Discretizer(12)}
    told = SequentialClassifier(missing="informative", **how).fit(rows, Y).model_
    plain = SequentialClassifier(**how).fit(rows, Y).model_
    assert told.densities_ == plain.densities_
    for feature in range(4):
        own = int(plain.n_outcomes_[feature])
        table, values = told.latent_tables([feature]).tables[0], plain.latent_tables([feature]).tables[0][:own]
        if feature < 2:
            np.testing.assert_allclose(
                table[own], [np.isnan(rows[c == Y, feature]).mean() for c in told.classes_], atol=0.02
            )
        np.testing.assert_allclose(table[:own] / table[:own].sum(axis=0), values, atol=1e-9)


def test_groups_for_components_leave_missing_alone() -> None:
    rng = np.random.default_rng(0)
    kind = rng.integers(0, 2, 600)
    x = rng.normal(size=600) + 6.0 * kind
    lacking = np.where(kind == 1, np.nan, rng.normal(size=600))  # which tells of the kind as well
    y = np.where(rng.random(600) < 0.3, 1 - kind, kind)
    clf = SequentialClassifier(
        ClassMixture(2, density="auto", random_state=0), missing="informative", discretizer=Discretizer(10)
    ).fit(np.column_stack([x, lacking]), y)
    gone = clf.model_.latent_tables([1]).tables[0, clf.coder_.n_outcomes_[1] - 1]
    assert sorted(np.round(gone).tolist()) == [0, 0, 1, 1]


@pytest.mark.slow
def test_known_at_the_start_a_gap_tells_a_live_case_what_it_tells_a_batch() -> None:
    clf = informed(order="adaptive", known=["kind"])
    batch = clf.acquire(FRESH.iloc[:30], known=["a", "c"], record_beliefs=True)
    for i, row in FRESH.iloc[:30].iterrows():
        session = clf.session(known=row[["kind", "a", "c"]].to_dict())
        np.testing.assert_allclose(session.posterior, batch.beliefs[i, 0])
        assert session.paid == 0
        again = clf.session(session.to_json())
        np.testing.assert_allclose(again.posterior, session.posterior)
        assert (again.paid, [answer.known for answer in again.history]) == (0, [a.known for a in session.history])
    plain = SequentialClassifier(feature_costs=0.02, order="adaptive").fit(X, Y)
    assert not plain.session(known={"a": None, "kind": np.nan}).history


def test_known_gaps_of_bundles_tell_something() -> None:
    clf = informed(order="adaptive", feature_costs=Costs(0.02, bundles={"a": "both", "b": "both"}))
    row = FRESH.assign(a=np.nan, b=np.nan).iloc[:1]
    batch = clf.acquire(row, known=["a", "b"], record_beliefs=True)
    for known in ({"both": None}, {"a": None, "b": np.nan}, {"both": {"a": None, "b": None}}):
        np.testing.assert_allclose(clf.session(known=known).posterior, batch.beliefs[0, 0])


@cache
def of_a_laboratory(order: str) -> SequentialClassifier:
    costs = Costs(0.02, bundles={"a": "lab", "kind": "lab", "b": "lab"})
    solver = Lookahead(1, certificate_paths=0)
    return informed(observation_model=ClassMixture(2), feature_costs=costs, order=order, solver=solver)


@pytest.mark.slow_cells("known0-given", "known1-adaptive")
@pytest.mark.covering(1)
@pytest.mark.parametrize("order", ["given", "adaptive"])
@pytest.mark.parametrize("known", [["a"], ["kind"], ["a", "kind"], ["kind", "d"]])
def test_of_a_bundle_no_more_is_known_than_what_is_told(order: str, known: list[str]) -> None:
    clf, rows = of_a_laboratory(order), FRESH[:20]
    record = clf.acquire(rows, known=known)
    for i, (_, row) in enumerate(rows.iterrows()):
        case = clf.session(known=row[known].to_dict())
        again = clf.session(case.to_json())
        assert again.history == case.history
        assert again.to_json() == case.to_json()
        for one in (case, again):
            while (question := one.next_feature) is not None:
                values = {part.name: row[part.name] for part in question.features}
                value = values or row[question.name]
                one.unavailable(question.name) if value != value else one.observe(question.name, value)
            np.testing.assert_allclose(one.posterior, record.posterior[i])
            assert one.paid == pytest.approx(record.paid[i])


@pytest.mark.parametrize("first, then", [("ignored", "informative"), ("informative", "ignored")])
def test_rows_that_are_added_keep_the_setting(first: str, then: str) -> None:
    clf = SequentialClassifier(discretizer="precomputed", missing=first)
    clf.partial_fit([[0], [1], [-1]], [0, 1, 1], classes=[0, 1], n_outcomes=2)
    with pytest.raises(ValueError, match="missing: rows before came with another setting"):
        clf.set_params(missing=then).partial_fit([[0]], [0])


@pytest.mark.slow
@pytest.mark.parametrize("model", [ClassMixture(2, density="auto", random_state=0), TreeNetwork(random_state=0)])
def test_rows_that_are_added_are_learnt_as_all_at_once(model: Any) -> None:
    """A model that is fitted anew hears what the first fit heard: which outcomes are no values, names, bundles."""
    rng = np.random.default_rng(3)
    y = rng.integers(2, size=400)
    X = pd.DataFrame(rng.normal(size=(400, 4)) + 0.7 * y[:, None], columns=list("abcd"))
    X = X.mask(rng.random(X.shape) < np.where(y == 1, 0.4, 0.1)[:, None])
    settings: dict[str, Any] = {"missing": "informative", "order": "adaptive", "half_life": 1e9}
    settings["discretizer"] = Discretizer(8, strategy="quantile").fit(X.to_numpy())
    whole = SequentialClassifier(model, **settings).fit(X, y)
    parts = SequentialClassifier(model, **settings).partial_fit(X[:200], y[:200], classes=[0, 1])
    parts.partial_fit(X[200:], y[200:])
    np.testing.assert_allclose(parts.predict_proba(X), whole.predict_proba(X), atol=1e-9)
    assert parts.model_.feature_names_ == whole.model_.feature_names_ == list("abcd")
