"""Live cases."""

from __future__ import annotations

import copy
import json
import math
import pickle
from dataclasses import replace
from itertools import product

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.datasets import load_breast_cancer, load_iris

from seqclass import Costs, SequentialClassifier, etana, ifc2f, load
from seqclass.bn import ClassMixture, NaiveBayes, TreeNetwork
from seqclass.discretize import Discretizer
from seqclass.pomdp import FirstK, GridValueIteration, Lookahead, TableProblem
from seqclass.selection import SAOLA

QUICK = GridValueIteration(200, certificate_paths=0)


@pytest.fixture(scope="module")
def clf():
    X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    return etana(solver=QUICK).fit(X, y)


@pytest.fixture(scope="module")
def rows():
    return load_breast_cancer(return_X_y=True, as_frame=True)[0]


def play(session, row):
    while (question := session.next_feature) is not None:
        session.observe(question.name, row[question.column])


@pytest.mark.quick
def test_a_session_does_what_acquire_does(clf, rows):
    record = clf.acquire(rows, record_beliefs=True)
    for i in range(0, len(rows), 40):
        session = clf.session()
        play(session, rows.iloc[i].to_numpy())
        assert session.decision == record.decision[i]
        assert session.n_features == record.n_features[i]
        assert session.paid == pytest.approx(record.paid[i])
        np.testing.assert_allclose(session.posterior, record.posterior[i])
        names = [clf.feature_name(j) for j in record.order[i] if j >= 0]
        assert [answer.name for answer in session.history] == names
        for k, answer in enumerate(session.history):
            np.testing.assert_allclose(answer.posterior, record.beliefs[i, k + 1])
            assert answer.outcome == record.outcome[i, k]
            assert answer.expected_saving > 0


def test_the_question_tells_price_and_saving(clf):
    session = clf.session()
    question = session.next_feature
    assert question.name == "worst concave points" or question.name in clf.feature_names_in_
    assert question.price == 0.01
    info = clf.problem_.initial_belief()
    saving = info.stopping_cost[0] - clf.policy_.continuation_cost(info)[0]
    assert question.expected_saving == pytest.approx(saving)
    assert session.expected_cost == pytest.approx(clf.problem_.prior.min())


def test_unavailable_leaves_the_belief_and_costs_nothing(clf):
    session = clf.session()
    before = session.posterior
    session.unavailable(session.next_feature.name)
    np.testing.assert_array_equal(session.posterior, before)
    assert session.paid == 0
    assert session.n_features == 0
    assert session.history[0].value is None


def test_undo_goes_back(clf, rows):
    session = clf.session()
    first = session.next_feature
    session.observe(first.name, rows.iloc[0, first.column])
    moved = session.posterior
    session.undo()
    assert session.next_feature == first
    assert session.history == ()
    np.testing.assert_array_equal(session.posterior, clf.problem_.prior)
    session.observe(first.name, rows.iloc[0, first.column])
    np.testing.assert_array_equal(session.posterior, moved)
    with pytest.raises(ValueError, match="no answer"):
        clf.session().undo()


def test_a_corrected_case_is_that_which_began_so(clf, rows):
    """Only the one answer changes, whether it was the first, was known, or was not available."""
    names = list(rows.columns[:4])
    told = dict(zip(names, rows.iloc[0, :4].tolist()))
    session = clf.session(known={names[0]: told[names[0]]})
    session.observe(names[1], told[names[1]])
    session.unavailable(names[2])
    session.observe(names[3], told[names[3]])
    for name, value in ((names[0], 20.0), (names[1], None), (names[2], 120.0)):
        session.correct(name, value)
        told[name] = value
        fresh = clf.session(known={names[0]: told[names[0]]})
        for other in names[1:]:
            if other == names[2] and value != 120.0:
                fresh.unavailable(other)
            else:
                fresh.unavailable(other) if told[other] is None else fresh.observe(other, told[other])
        assert session.to_json() == fresh.to_json()
        np.testing.assert_array_equal(session.posterior, fresh.posterior)
        assert session.paid == fresh.paid
    before = session.to_json()
    with pytest.raises(ValueError, match="'mean smoothness' was not answered yet"):
        session.correct("mean smoothness", 0.1)
    with pytest.raises(ValueError, match="outside of what training showed"):
        session.correct(names[0], 1e6, strict=True)
    with pytest.raises(ValueError, match="must be a number"):
        session.correct(names[0], "wide")
    assert session.to_json() == before


def test_saved_and_restored(clf, rows):
    session = clf.session()
    first = session.next_feature
    session.observe(first.name, rows.iloc[3, first.column])
    if session.next_feature is not None:
        session.unavailable(session.next_feature.name)
    text = session.to_json()
    again = clf.session(text)
    assert again.history == session.history
    assert clf.session(json.dumps(json.loads(text) | {"version": 2})).history == session.history
    assert again.next_feature == session.next_feature
    other = etana(solver=QUICK).fit(*load_breast_cancer(return_X_y=True))
    with pytest.raises(ValueError, match="another model"):
        etana(solver=QUICK, feature_costs=0.02).fit(rows, load_breast_cancer().target).session(text)
    changed = [{"version": 3}, {"answers": [[first.name, 1.0, [first.name]]]}, {"visits": [[float("inf"), None]]}]
    for wrong in ("", "{}", "[1]", *(json.dumps(json.loads(text) | change) for change in changed)):
        with pytest.raises(ValueError, match="not a saved session"):
            other.session(wrong)


def test_restoring_fails_whole(clf):
    session = clf.session()
    content = json.loads(session.to_json())
    content["answers"] = [[session.next_feature.name, 1.0], ["no such feature", 2.0]]
    with pytest.raises(ValueError, match=r"no such feature|nothing more"):
        session.restore(json.dumps(content))
    assert session.history == ()


def test_wrong_answers_are_refused(clf):
    session = clf.session()
    name = session.next_feature.name
    with pytest.raises(ValueError, match="'age' is no feature of this model"):
        session.observe("age", 1)
    for value in ("big", None, [1]):
        with pytest.raises(ValueError, match=f"'{name}' must be a number"):
            session.observe(name, value)
    for value in (float("nan"), float("inf"), None, pd.NA):
        with pytest.raises(ValueError, match="call it unavailable"):
            session.observe(name, value)
    assert session.history == ()


def test_an_impossible_gap_is_called_missing():
    y = np.arange(60) % 2
    frame = pd.DataFrame({"a": np.where(y, np.nan, np.arange(60) % 3), "b": np.where(y, "yes", "no")})
    clf = SequentialClassifier(NaiveBayes(alpha=0.0), missing="informative", solver=QUICK).fit(frame, y)
    session = clf.session()
    session.unavailable("a")
    with pytest.raises(ValueError, match=r"^b = no is impossible given a = missing: "):
        session.observe("b", "no")
    session.undo()
    session.observe("b", "no")
    with pytest.raises(ValueError, match=r"^a = missing is impossible given b = no: "):
        session.unavailable("a")


def test_an_array_is_no_answer(clf):
    for value in (np.array([1.0, 2.0]), np.array(["a", "b"])):
        with pytest.raises(ValueError, match="must be a number, got array"):
            clf.session().observe(clf.session().next_feature.name, value)


def test_categories_are_named_and_checked():
    frame = pd.DataFrame({"colour": ["red", "blue", "green", "red"] * 20, "size": np.arange(80.0) / 2})
    y = (frame["colour"] == "red").to_numpy()
    session = SequentialClassifier(solver=QUICK).fit(frame, y).session()
    assert session.next_feature.categories == ("blue", "green", "red")
    with pytest.raises(ValueError, match="unknown category 'violet'"):
        session.observe("colour", "violet")
    for value in (None, float("nan"), pd.NA, pd.NaT, np.ma.masked):  # as of numbers, and no category 'None'
        with pytest.raises(ValueError, match=r"'colour' must be one of 'blue', 'green', 'red', got .*unavailable"):
            session.observe("colour", value)
    assert session.history == ()
    session.observe("colour", "red")
    assert session.decision
    assert session.next_feature is None
    session.observe("size", 1.0)  # a feature may be answered though nothing asks for it
    assert session.n_features == 2
    with pytest.raises(ValueError, match="'size' was answered before"):
        session.unavailable("size")


def test_numbered_columns_and_charged_missing():
    X = np.repeat([[0.0], [1.0]], 20, axis=0)
    session = (
        SequentialClassifier(feature_costs=Costs(charge_missing=True), solver=QUICK)
        .fit(X, np.repeat([0, 1], 20))
        .session()
    )
    assert session.next_feature.name == "x0"
    session.unavailable("x0")
    assert session.paid == 0.01


@pytest.mark.parametrize("kind", ["number", "interval"])
def test_categories_that_are_no_texts_are_kept_as_texts(kind):
    numbers = np.tile([1, 2, 3, 4], 20)
    column = pd.Categorical(numbers) if kind == "number" else pd.cut(numbers, [0, 1, 2, 3, 4])
    frame = pd.DataFrame({"grade": column})
    clf = SequentialClassifier(solver=QUICK).fit(frame, numbers > 2)
    session = clf.session()
    session.observe("grade", column[1])
    assert session.history[0].value == str(column[1])
    assert clf.session(session.to_json()).history == session.history


@pytest.mark.parametrize("structure", ["tree", "clique"])
def test_networks_that_differ_in_their_tables_are_other_models(structure, tmp_path):
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1], 100)
    X = (rng.random((200, 3)) < 0.2 + 0.5 * y[:, None]).astype(int)
    # the same margins, prior, prices and order, another dependence
    Z = X.copy()
    for label in (0, 1):
        rows = np.flatnonzero(y == label)
        Z[rows, 2] = Z[rng.permutation(rows), 2]
        Z[rows, 1] = np.sort(Z[rows, 1])
        Z[rows, 0] = np.sort(Z[rows, 0])
    settings = {"discretizer": "precomputed", "order": [0, 1, 2], "solver": FirstK(2)}
    one, two = (ifc2f(structure=structure, selector=None, **settings).fit(data, y) for data in (X, Z))
    saved = one.session().to_json()
    with pytest.raises(ValueError, match="another model"):
        two.session(saved)
    one.acquire(X)
    one.save(tmp_path / "one.seq")
    assert load(tmp_path / "one.seq").session(saved).history == ()
    assert one.session(saved).to_json() == saved
    # timings differ, the model does not
    assert ifc2f(structure=structure, selector=None, **settings).fit(X, y).session(saved).to_json() == saved


BUNDLED = {"mean radius": "cells", "mean texture": "cells", "worst area": "cells"}


@pytest.fixture(scope="module")
def tree():
    X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    return ifc2f(solver=Lookahead(1), random_state=0).fit(X, y)


def posterior_of(clf, row):
    """Posterior by the model's own account, all other features missing."""
    X = np.full((1, clf.n_features_in_), np.nan)
    for column, value in row.items():
        X[0, column] = value
    codes = clf.coder_.transform(X)[:, clf.support_]
    return clf.model_.predict_proba(codes)[0]


@pytest.mark.slow_cells("tree")
@pytest.mark.parametrize("model", ["clf", "tree"])
def test_anything_may_be_answered_at_any_time(model, rows, request):
    clf = request.getfixturevalue(model)
    session, row = clf.session(), rows.iloc[7]
    order = [clf.feature_name(j) for j in clf.order_]
    later = order[2]
    told = {}
    for name in (later, order[-1], session.next_feature.name):
        session.observe(name, row[name])
        told[rows.columns.get_loc(name)] = row[name]
        np.testing.assert_allclose(session.posterior, posterior_of(clf, told), atol=1e-9)
    assert session.paid == pytest.approx(0.03)
    while (question := session.next_feature) is not None:
        assert question.column not in told
        told[question.column] = row[question.name]
        session.observe(question.name, row[question.name])
        np.testing.assert_allclose(session.posterior, posterior_of(clf, told), atol=1e-9)
    assert later not in [a.name for a in session.history[1:]]
    again = clf.session(session.to_json())
    assert again.history == session.history
    while session.history:
        session.undo()
    assert session.next_feature == clf.session().next_feature


@pytest.mark.slow_cells("tree")
@pytest.mark.parametrize("model", ["clf", "tree"])
def test_what_is_known_costs_nothing_and_is_used(model, rows, request):
    clf = request.getfixturevalue(model)
    row = rows.iloc[3]
    first = clf.session().next_feature.name
    known = {first: row[first], "mean radius": np.nan, "mean texture": None}
    session = clf.session(known=known)
    assert [(a.name, a.price, a.known) for a in session.history] == [(first, 0.0, True)]
    assert (session.paid, session.n_features) == (0, 0)
    np.testing.assert_allclose(session.posterior, posterior_of(clf, {rows.columns.get_loc(first): row[first]}))
    assert session.next_feature is None or session.next_feature.name != first
    assert clf.session(session.to_json()).history == session.history
    with pytest.raises(ValueError, match="'mean radus' is no feature of this model; did you mean 'mean radius'"):
        clf.session(known={"mean radus": 1.0})
    with pytest.raises(ValueError, match="give either these or saved"):
        clf.session(session.to_json(), known=known)


@pytest.mark.parametrize("nothing", [None, np.nan, pd.NA, pd.NaT, np.ma.masked])
def test_what_is_known_may_lack_cells(nothing):
    X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    costs = Costs(0.01, bundles={"mean texture": "lab", "mean area": "lab"})
    clf = etana(costs, solver=FirstK(None, certificate_paths=0)).fit(X.iloc[:, :4], y)
    session = clf.session(known={"mean radius": nothing, "mean perimeter": 90.0})
    assert [answer.name for answer in session.history] == ["mean perimeter"]
    with pytest.raises(ValueError, match="'lab' is a bundle; its features are 'mean texture', 'mean area'"):
        session.training_range("lab")
    session.observe("lab", {"mean texture": 20.0, "mean area": nothing})
    assert session.history[-1].value == {"mean texture": 20.0}


def test_what_is_known_takes_no_place_among_the_questions():
    rng, y = np.random.default_rng(0), np.arange(300) % 2
    X = np.where(rng.random((300, 3)) < [0.7, 0.9, 0.6], y[:, None], 1 - y[:, None])
    clf = SequentialClassifier(discretizer="precomputed", order="adaptive", feature_costs=0.01, max_features=1)
    for known in ({}, {"x0": 1}, {"x0": 1, "x2": 1}):
        session = clf.fit(X, y).session(known=known)
        assert session.next_feature.name == "x1"
        session.observe("x1", 0)
        assert session.next_feature is None


def test_what_a_selector_left_out_changes_nothing(rows):
    y = load_breast_cancer().target
    clf = SequentialClassifier(selector=SAOLA(), solver=QUICK).fit(rows, y)
    out = clf.feature_name(int(np.setdiff1d(np.arange(30), clf.support_)[0]))
    assert clf.session(known={out: 1.0}).history == ()
    with pytest.raises(ValueError, match="no feature of this model"):
        clf.session().observe(out, 1.0)


def test_some_questions_come_first(clf, rows):
    session, wanted = clf.session(first=["mean texture", "mean radius"]), ["mean texture", "mean radius"]
    for name in wanted:
        assert session.next_feature.name == name
        session.observe(name, rows.iloc[0][name])
    assert session.next_feature is None or session.next_feature.name not in wanted
    again = clf.session(clf.session(first=wanted).to_json())
    assert again.next_feature.name == "mean texture"
    assert clf.session(first=wanted, known={"mean texture": 15.0}).next_feature.name == "mean radius"
    with pytest.raises(ValueError, match="list of names"):
        clf.session(first="mean texture")


def test_suggestions_are_ranked_by_what_they_save(clf, rows):
    session = clf.session()
    best = session.suggestions(30)
    asked = session.next_feature
    assert replace(best[0], saving_alone=math.nan) == asked
    assert 0 < asked.added_saving <= asked.expected_saving
    savings = [question.saving_alone for question in best[1:]]
    assert savings == sorted(savings, reverse=True)
    assert len({question.name for question in best}) == 30
    # of one question, by the model's own account
    question = best[1]
    tables, prior = clf.model_.tables(np.arange(30)), clf.problem_.prior
    joint = tables[list(clf.support_).index(question.column)] * prior
    saving = prior.min() - question.price - joint.min(axis=1).sum()
    assert question.saving_alone == pytest.approx(saving)
    assert math.isnan(question.expected_saving)
    assert len(session.suggestions()) == 3
    for name in clf.feature_names_in_:
        session.observe(name, rows.iloc[0][name])
    assert session.suggestions() == []
    assert session.next_feature is None


def test_prices_in_a_group_out_of_order():
    X = np.tile([[0, 0, 0], [1, 1, 1], [0, 1, 0], [1, 0, 1]], (20, 1))
    clf = SequentialClassifier(
        feature_costs=Costs([0.04, 0.03, 0.01], groups=[0, 0, -1], discounted_costs={0: 0.01, 1: 0.02}),
        discretizer="precomputed",
        order=[0, 1, 2],
        solver=QUICK,
    ).fit(X, X[:, 2])
    session = clf.session()
    session.observe("x1", 1)
    assert session.paid == pytest.approx(0.03)
    assert {q.name: q.price for q in session.suggestions()} == {"x0": 0.01, "x2": 0.01}
    known = clf.session(known={"x1": 1})  # nothing was bought
    assert {q.name: q.price for q in known.suggestions()} == {"x0": 0.04, "x2": 0.01}


@pytest.mark.parametrize("model", [NaiveBayes(), TreeNetwork(), ClassMixture(2)])
def test_a_discount_that_was_earned_out_of_order_is_had(model):
    """The first of a group costs less once another of it was bought, and only then pays for itself."""
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 2000)
    X = np.column_stack([np.where(rng.random(2000) < right, y, 1 - y) for right in (0.82, 0.7)])
    prices = {"feature_costs": Costs(0.15, groups=[0, 0], discounted_costs=0.01)}
    clf = SequentialClassifier(model, Lookahead(1), discretizer="precomputed", order=[0, 1], **prices).fit(X, y)
    session = clf.session()
    session.observe("x1", 1)
    [best] = session.suggestions()
    assert (session.next_feature.name, best.price) == (best.name, 0.01)
    belief = {v: clf.model_.posterior([[v, 1]])[0] for v in (0, 1)}
    chance = clf.model_.predictive(0, [[-1, 1]])[0]
    after = sum(chance[v] * belief[v].min() for v in (0, 1))
    assert best.expected_saving == pytest.approx(session.posterior.min() - 0.01 - after)
    assert best.saving_alone == best.added_saving == best.expected_saving  # there is no other
    missing, known = clf.session(), clf.session(known={"x1": 1})
    missing.unavailable("x1")  # nothing was bought
    assert [q.price for case in (missing, known) for q in case.suggestions()] == [0.15, 0.15]
    assert known.next_feature is None


@pytest.mark.parametrize("model", [NaiveBayes(), TreeNetwork(), ClassMixture(2)])
def test_an_order_that_names_part_of_a_bundle_asks_for_all_of_it(model, rows):
    y = load_breast_cancer().target
    costs, end = Costs(0.01, bundles=BUNDLED), rows.columns.get_loc("worst area")
    clf, whole = (
        SequentialClassifier(model, Lookahead(1), feature_costs=costs, order=order).fit(rows, y)
        for order in ([end, 4], [end, 0, 1, 4])
    )
    record = clf.acquire(rows[:40])
    np.testing.assert_allclose(record.posterior, whole.acquire(rows[:40]).posterior)
    for i in range(5):
        session, row = clf.session(), rows.iloc[i]
        while (question := session.next_feature) is not None:
            values = {feature.name: row[feature.name] for feature in question.features}
            session.observe(question.name, values or row[question.name])
        np.testing.assert_allclose(session.posterior, record.posterior[i])
        assert session.paid == pytest.approx(record.paid[i])
        assert session.n_features == record.n_features[i]


@pytest.mark.parametrize("recipe", [etana, ifc2f])
def test_a_bundle_is_answered_by_names(recipe, rows):
    y = load_breast_cancer().target
    clf = recipe(Costs(0.01, bundles=BUNDLED), solver=Lookahead(1), order=[0, 1, 23, 4, 5]).fit(rows, y)
    session, row = clf.session(), rows.iloc[0]
    question = session.next_feature
    assert question.name == "cells"
    assert [feature.name for feature in question.features] == list(BUNDLED)
    session.observe("cells", {name: row[name] for name in BUNDLED if name != "mean texture"})
    told = {rows.columns.get_loc(name): row[name] for name in BUNDLED if name != "mean texture"}
    np.testing.assert_allclose(session.posterior, posterior_of(clf, told))
    assert (session.paid, session.n_features) == (0.01, 1)  # as in the record
    assert clf.acquire(rows.iloc[[0]].assign(**{"mean texture": np.nan})).n_features.tolist() == [1]
    assert clf.session(session.to_json()).history == session.history
    [told] = clf.explain(rows.iloc[[0]].assign(**{"mean texture": np.nan}))
    assert told.steps[0].name == "cells"
    assert told.steps[0].value == {"mean radius": row["mean radius"], "worst area": row["worst area"]}
    assert f"1. cells = mean radius {row['mean radius']:.6g}, worst area {row['worst area']:.6g}: " in str(told)
    np.testing.assert_allclose(told.steps[0].after, session.posterior)
    session.correct("mean texture", row["mean texture"])
    complete = clf.session()
    complete.observe("cells", {name: row[name] for name in BUNDLED})
    assert session.history == complete.history
    with pytest.raises(ValueError, match="'cells' is a bundle: give the values of 'mean radius'"):
        clf.session().observe("cells", 3.0)
    with pytest.raises(ValueError, match="'age' is not in the bundle 'cells'"):
        clf.session().observe("cells", {"age": 3.0})
    alone = clf.session(known={"worst area": 900.0})
    assert alone.next_feature is None or alone.next_feature.name != "cells"
    assert alone.paid == 0


def test_cases_share_what_does_not_depend_on_them(clf, rows, monkeypatch):
    def refuse(*_):
        raise AssertionError("it is built anew")

    case = clf.session()
    first, name = case.next_feature, case.next_feature.name
    for place in (TableProblem, "__init__"), (TableProblem, "initial_belief"), (type(clf.policy_), "action"):
        monkeypatch.setattr(*place, refuse)
    other = clf.session()
    assert other.next_panel == (first,)
    monkeypatch.undo()
    other.observe(name, rows[name].iloc[0])
    assert (len(other.history), len(case.history), case.next_feature.name) == (1, 0, name)
    play(case, rows.to_numpy()[1])
    play(other, rows.to_numpy()[0])
    assert [case.decision, other.decision] == clf.acquire(rows.iloc[[1, 0]]).decision.tolist()
    assert [case.paid, other.paid] == pytest.approx(clf.acquire(rows.iloc[[1, 0]]).paid.tolist())


@pytest.mark.parametrize("zero_bin", [True, False, "auto"])
@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_array])
def test_a_value_is_coded_as_a_column_is(kind, zero_bin):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 4)).round(1) * (rng.random((60, 4)) < 0.5)
    X[:, 3] = 1.0
    settings = Discretizer(4, strategy="quantile", zero_bin=zero_bin)
    coder = SequentialClassifier(discretizer=settings).fit(kind(X), rng.integers(2, size=60)).coder_
    more = np.vstack([X, [[np.nan, 0.0, -9.0, np.inf], [-np.inf, np.nan, 0.0, 0.0]]])
    codes = coder.transform(more if kind is np.asarray else X)
    for column, values in enumerate((more if kind is np.asarray else X).T):
        coded = coder.code_values(column, values)
        whole = codes[:, [column]].toarray()[:, 0] if sparse.issparse(codes) else codes[:, column]
        assert coded.tolist() == np.asarray(whole).tolist()


@pytest.mark.parametrize("order", ["given", "adaptive"])
def test_what_a_question_adds_is_the_same_whenever_it_is_asked_for(order):
    X, y = load_iris(return_X_y=True)
    session = SequentialClassifier(order=order, feature_costs=0.01).fit(X, y).session()
    first, again, later = session.next_feature, session.next_feature, session.next_feature
    added = first.added_saving
    assert added > 0
    assert added == session.suggestions(1)[0].added_saving
    assert pickle.loads(pickle.dumps(again)).added_saving == added
    assert copy.deepcopy(session.next_feature).to_frame().equals(again.to_frame())
    session.observe(first.name, 1.0)
    assert later.added_saving == added


@pytest.mark.parametrize("model", [TreeNetwork(), ClassMixture(2, random_state=0)], ids=["tree", "mixture"])
def test_looking_ahead_in_one_order_passes_over_what_was_told_before_its_turn(model):
    rng = np.random.default_rng(1)
    y = rng.integers(0, 2, 400)
    first = rng.random(400) < 0.1 + 0.8 * y
    X = np.column_stack([rng.random(400) < np.where(column, 0.8, 0.3) + 0.1 * y for column in [first] * 5]).astype(int)
    clf = SequentialClassifier(model, Lookahead(3, certificate_paths=0), order="given", feature_costs=0.01).fit(X, y)
    fitted, prices, costs = clf.model_, clf.agent_.policy.problem.prices, clf.agent_.policy.problem.decision_costs

    def evidence(seen):
        return np.array([[seen.get(j, -1) for j in range(5)]])

    def least(seen, depth):
        belief = fitted.posterior(evidence(seen))[0]
        stop = float((belief @ costs).min())
        left = [j for j in range(5) if j not in seen]
        return stop if not depth or not left else min(stop, asking(left[0], seen, depth))

    def asking(j, seen, depth):
        shows = fitted.posterior(evidence(seen))[0] @ fitted.likelihood(j, evidence(seen))[0].T
        return float(prices[j] + sum(p * least(seen | {j: v}, depth - 1) for v, p in enumerate(shows)))

    paying = []
    for told in product([0, 1], repeat=2):
        case = clf.session()
        for column, value in zip((1, 3), told):
            case.observe(column, value)
        seen = {column: answer.outcome for column, answer in zip((1, 3), case.history)}
        belief = fitted.posterior(evidence(seen))[0]
        wanted = (belief @ costs).min() - asking(0, seen, 3)
        assert (case.next_feature is not None) == (wanted > 0)
        if case.next_feature is not None:
            paying.append(told)
            assert case.next_feature.expected_saving == pytest.approx(wanted, abs=1e-12)
    assert paying
