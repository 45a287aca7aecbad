"""The classifier that chooses how to learn."""

from __future__ import annotations

import json
import logging
import re
from copy import copy
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner
from scipy import sparse
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, load_iris, load_wine

import seqclass
import seqclass.datasets
from seqclass import Costs, SequentialClassifier, adaptive_classifier
from seqclass.adaptive_classifier import (
    EFFORTS,
    INCUMBENT,
    NOTHING,
    AdaptiveClassifier,
    at_budget,
    candidates,
    standard,
    worth_contexts,
)
from seqclass.bn import NaiveBayes
from seqclass.cli import main
from seqclass.datasets.cube import make_cube_nm
from seqclass.fitting.choice import choose, drop_reason
from seqclass.pomdp import Adaptive

X, Y = load_iris(return_X_y=True)


def pointer(n: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """The first column says which of three others is the label."""
    data = rng.integers(0, 2, size=(n, 4)).astype(float)
    data[:, 0] = rng.integers(1, 4, size=n)
    return data, data[np.arange(n), data[:, 0].astype(int)].astype(int)


pytestmark = pytest.mark.usefixtures("loose_mixtures")


@pytest.fixture(scope="module")
def fitted() -> AdaptiveClassifier:
    return seqclass.adaptive(0.05, effort="quick").fit(X, Y)


@pytest.fixture(scope="module")
def pointed() -> AdaptiveClassifier:
    return seqclass.adaptive(0.03, effort="quick").fit(*pointer(300, np.random.default_rng(0)))


@pytest.mark.slow
def test_contexts_are_tried_where_a_column_changes_what_the_others_tell(
    pointed: AdaptiveClassifier, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of ten bits the first column names the label: no question says anything about the class by itself."""
    rng = np.random.default_rng(0)
    bits, which = rng.integers(0, 2, (2, 400, 10)), rng.integers(0, 10, (2, 400))
    data = [np.column_stack([w, b]).astype(float) for w, b in zip(which, bits)]
    label = [b[np.arange(400), w] for w, b in zip(which, bits)]
    some = (NOTHING, INCUMBENT, "contexts, equal counts")  # the others take their time
    monkeypatch.setattr(
        adaptive_classifier, "candidates", lambda *told: {k: v for k, v in candidates(*told).items() if k in some}
    )
    clf = seqclass.adaptive(0.01, effort="quick").fit(data[0], label[0])
    assert clf.choice_.chosen.startswith("contexts")
    record = clf.acquire(data[1])
    assert (record.decision == label[1]).mean() > 0.97
    assert record.n_features.mean() < 2.2
    assert {"contexts, equal widths", "contexts, equal counts"} <= set(pointed.choice_.to_frame().index)


@pytest.mark.slow_cells("0")
@pytest.mark.parametrize("seed", [0, 2])
def test_contexts_are_tried_where_several_columns_together_change_what_the_others_tell(seed: int) -> None:
    """Five noisy columns say which of five blocks tells the class; no single one of them does enough."""
    data = make_cube_nm(600, random_state=seed)
    assert worth_contexts(SequentialClassifier().settings(), data.X, data.y)
    shuffled = np.random.default_rng(0).permutation(600)
    assert not worth_contexts(
        SequentialClassifier().settings(), np.hstack([data.X[shuffled, :5], data.X[:, 5:]]), data.y
    )


def test_contexts_that_were_tried_are_among_what_came_next(pointed: AdaptiveClassifier) -> None:
    others = pointed.runners_up(50)
    assert len(others) == len([one for one in pointed.choice_.candidates if one.name != NOTHING]) - 1


@pytest.mark.slow
def test_policies_of_folds_are_fitted_to_half_the_cases(monkeypatch: pytest.MonkeyPatch) -> None:
    n_paths, plan = [], Adaptive._policy
    monkeypatch.setattr(Adaptive, "_policy", lambda self, problem: n_paths.append(self.n_paths) or plan(self, problem))
    seqclass.adaptive(0.05, effort="quick").fit(X, Y)
    assert set(n_paths[:-1]) == {250}
    assert n_paths[-1] == 500


@pytest.mark.parametrize("load", [load_iris, load_wine, load_breast_cancer])
def test_contexts_are_left_out_of_ordinary_data(load: Any) -> None:
    data, y = load(return_X_y=True)
    assert not worth_contexts(SequentialClassifier().settings(), data, y)
    assert not worth_contexts(SequentialClassifier().settings(), sparse.csr_array(data), y)
    holes = np.where(np.random.default_rng(0).random(data.shape) < 0.2, np.nan, data)
    assert not worth_contexts(SequentialClassifier().settings(), holes, y)


def test_a_bundle_may_be_a_context() -> None:
    drawn = seqclass.datasets.load("cube_nm", n_samples=600)
    bundled = SequentialClassifier(feature_costs=Costs(bundles=drawn.bundles))
    assert worth_contexts(bundled.settings(), drawn.X, drawn.y)
    assert not worth_contexts(SequentialClassifier().settings(), drawn.X[:, 5:], drawn.y)


def test_questions_follow_answers_where_that_pays(pointed: AdaptiveClassifier) -> None:
    assert pointed.choice_.chosen.startswith(("mixture", "contexts"))
    data, labels = pointer(400, np.random.default_rng(1))
    record = pointed.acquire(data)
    assert (record.decision == labels).mean() > 0.97
    assert record.n_features.mean() < 2.3
    session = pointed.session()
    assert session.next_feature.name == "x0"
    session.observe("x0", 2)
    assert session.next_feature.name == "x2"
    assert "x0" in str(pointed.explain(data[0])[0])


def test_of_many_columns_a_mixture_of_few_is_tried() -> None:
    narrow = "mixture of densities, 20 columns"
    ways = candidates(EFFORTS["thorough"], 0, 1000, 21)
    assert ways[narrow]["selector"].n_features == 20
    assert ways["mixture of densities"]["selector"].n_features == 200
    assert INCUMBENT in ways
    assert narrow not in candidates(EFFORTS["thorough"], 0, 1000, 20)
    for n_rows, n_columns, tried in ((300, 100, True), (299, 100, False), (300, 99, False)):
        assert (narrow in candidates(EFFORTS["quick"], 0, n_rows, n_columns)) == tried


def test_how_finely_each_way_looks() -> None:
    ways = candidates(EFFORTS["thorough"], 0, 1000, 40)
    assert (
        ways["mixture, equal widths"]["discretizer"].n_bins == ways["mixture, equal counts"]["discretizer"].n_bins == 5
    )
    assert ways["tree, cuts by labels, one order"]["selector"].n_features == 32
    assert (ways[INCUMBENT]["discretizer"].n_bins, ways[INCUMBENT]["solver"].n_cases) == (16, 300)
    model = at_budget(EFFORTS["quick"], 0, True, False, 3)[INCUMBENT]["observation_model"]
    assert (model.n_components, model.n_bags) == (40, 5)


@pytest.mark.slow
def test_a_tree_is_tried_of_rows_enough_for_its_pairs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    name = "tree, cuts by labels, one order"
    for effort in EFFORTS.values():
        assert name not in candidates(effort, 0, 299, 4)
        assert name in candidates(effort, 0, 300, 4)
    way = candidates(EFFORTS["quick"], 0, 300, 4)[name]
    assert way["calibrate"]
    # in each half of the first column the second says something else
    rng = np.random.default_rng(0)
    when, what = rng.random((2, 600))
    labels, data = np.where(when < 0.5, what < 0.6, what > 0.8), np.column_stack([when, what])
    fits = [
        SequentialClassifier(feature_costs=0.001, **{**way, "observation_model": model}).fit(data, labels)
        for model in (way["observation_model"], NaiveBayes())
    ]
    tree, bayes = (clf.score(data, labels) for clf in fits)
    assert tree > 0.95 > 0.85 > bayes
    monkeypatch.setattr(
        adaptive_classifier,
        "candidates",
        lambda *told: {k: v for k, v in candidates(*told).items() if k in (NOTHING, INCUMBENT, name)},
    )
    for n_categories, tried in ((50, True), (51, False)):
        frame = pd.DataFrame({"x": pd.Categorical(np.arange(300) % n_categories), "y": when[:300]})
        clf = seqclass.adaptive(0.05, effort="quick").fit(frame, when[:300] < 0.5)
        assert (choice := clf.choice_) is not None
        assert (name in [one.name for one in choice.candidates]) == tried
        why = () if tried else (f"{name}, as a column has more than 50 categories",)
        assert choice.skipped == why
        clf.save(tmp_path / "model.seq")
        shown = CliRunner().invoke(main, ["show", str(tmp_path / "model.seq"), "--json"]).stdout
        assert json.loads(shown)["skipped"] == list(why)
        assert ("not tried: tree" in str(choice)) == (not tried)


def test_all_that_asks_is_calibrated_and_sizes_are_averaged_over(fitted: AdaptiveClassifier) -> None:
    for effort in EFFORTS.values():
        ways = candidates(effort, 0, 1000, 30, contexts=True)
        assert [name for name, way in ways.items() if not way["calibrate"]] in ([NOTHING], [NOTHING, "tree, one order"])
        assert ways[INCUMBENT]["observation_model"].n_components == "average"
        few = candidates(effort, 0, 299, 30)
        assert few[INCUMBENT]["observation_model"].n_components == {1: 0.25, 2: 0.25, 4: 0.25, 8: 0.25}
        assert not few[INCUMBENT]["calibrate"]
        assert few["mixture, cuts by labels"]["calibrate"]
    assert fitted.choice_.chosen in candidates(EFFORTS["quick"], 0, 150, 4)


def test_what_is_hopeless_on_the_first_fold_is_left_and_told(fitted: AdaptiveClassifier) -> None:
    rng, n_folds = np.random.default_rng(0), 5
    stands = rng.random(40)
    weight = rng.integers(1, 3, 40)
    for extra, is_left in ((-0.5, False), (0.0, False), (0.02, False), (0.5, True)):
        loss = stands + extra + rng.normal(0, 0.2, 40)
        why = drop_reason(loss, stands, n_folds, 0.02)
        assert (why is not None) == is_left
        assert (drop_reason(loss, stands, n_folds, 0.02, weight.astype(float)) is not None) == is_left
    assert "past the first of 5 folds: 0.4981 (se" in why
    # as the first fold tells, by simulation: at the limit a fiftieth of all ends are a standard error below
    far = np.sqrt((n_folds - 1) / n_folds) * 2.054 - 1 / np.sqrt(n_folds - 1)
    others = far + rng.normal(size=200_000) * np.sqrt(1 + 1 / (n_folds - 1))
    ends = far / n_folds + others * (n_folds - 1) / n_folds
    assert (ends < -1 / np.sqrt(n_folds - 1)).mean() == pytest.approx(0.02, abs=0.002)
    assert fitted.choice_.skipped == tuple(told for told in fitted.choice_.skipped if told.endswith("is below 2%"))


def test_how_many_rows_and_columns_there_are_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    class Told(Exception):
        pass

    def told(effort: Any, seed: Any, n_rows: int, n_columns: int, numbers: bool, contexts: bool) -> dict[str, Any]:
        raise Told(n_rows, n_columns, numbers)

    monkeypatch.setattr(adaptive_classifier, "candidates", told)
    for data in (X, X.tolist(), sparse.csr_array(X)):
        with pytest.raises(Told) as raised:
            seqclass.adaptive(0.05, effort="quick").fit(data, Y)
        assert raised.value.args == (len(Y), 4, True)


@pytest.mark.slow
def test_it_buys_nothing_where_nothing_tells() -> None:
    rng = np.random.default_rng(0)
    with pytest.warns(UserWarning, match="nothing is worth buying"):
        clf = seqclass.adaptive(0.01, effort="quick").fit(rng.normal(size=(80, 3)), np.arange(80) % 4 == 0)
    assert clf.acquire(rng.normal(size=(5, 3))).n_features.max() == 0


@pytest.mark.slow
def test_it_warns_where_what_it_buys_does_not_pay(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(3)
    ways = {name: candidates(EFFORTS["quick"], 0, 1000, 4)[name] for name in (NOTHING, INCUMBENT)}
    monkeypatch.setattr(adaptive_classifier, "candidates", lambda *_: ways)
    data, labels = rng.normal(size=(24, 6)), rng.integers(2, size=24)
    with pytest.warns(UserWarning, match="It may be by chance"):
        clf = seqclass.adaptive(0.01, effort="quick").fit(data, labels)
    assert clf.choice_.chosen == INCUMBENT
    assert clf.held_out_.cost >= clf.held_out_.deciding_at_once.cost


def test_without_holding_out() -> None:
    clf = seqclass.adaptive(0.05, effort="quick").fit(X, Y, held_out=0)
    assert clf.choice_ is None
    assert not hasattr(clf, "held_out_")
    assert clf.order == "adaptive"
    assert clf.score(X, Y) > 0.9


def test_saved_and_loaded(fitted: AdaptiveClassifier, pointed: AdaptiveClassifier, tmp_path: Path) -> None:
    for clf in (fitted, pointed):  # one with one order, one without
        clf.save(tmp_path / "model.seq")
        again = seqclass.load(tmp_path / "model.seq")
        assert type(again) is AdaptiveClassifier
        assert again.choice_ == clf.choice_
        assert again.held_out_.cost_interval == clf.held_out_.cost_interval
        data = X if clf is fitted else pointer(50, np.random.default_rng(2))[0]
        np.testing.assert_array_equal(again.predict_proba(data), clf.predict_proba(data))
        assert again.get_params() == clf.get_params()


def test_another_prior(fitted: AdaptiveClassifier) -> None:
    other = fitted.with_prior([0.98, 0.01, 0.01])
    assert other.problem_.prior.tolist() == [0.98, 0.01, 0.01]
    assert other.order is fitted.order
    assert not hasattr(other, "held_out_")


@pytest.mark.slow
def test_cloned_and_fitted_again_and_the_share_that_is_done_is_told(fitted: AdaptiveClassifier, caplog: Any) -> None:
    with caplog.at_level(logging.INFO, "seqclass"):
        again = clone(fitted).fit(X, Y)
    assert again.held_out_.cost == fitted.held_out_.cost
    assert again.choice_.chosen == fitted.choice_.chosen
    shares = [record.share for record in caplog.records if hasattr(record, "share")]
    assert shares == sorted(shares)
    assert 0 < shares[0] < 0.1
    assert 0.8 < shares[-1] < 1  # the fit to all rows is still to come


@pytest.mark.slow
def test_settings_reach_every_candidate() -> None:
    costs = [[0, 1, 1, 0.3], [1, 0, 1, 0.3], [1, 1, 0, 0.3]]
    clf = seqclass.adaptive(
        Costs([0.1, 0.1, 0.02, 0.02], decision_costs=costs, decisions=["refer"]), effort="quick", max_features=2
    ).fit(X, Y)
    assert clf.decisions_.tolist() == ["0", "1", "2", "refer"] or clf.decisions_[-1] == "refer"
    assert clf.acquire(X).n_features.max() <= 2
    assert clf.choice_.candidates[0].cost == pytest.approx(0.3)
    assert max(c.n_features for c in clf.choice_.candidates) <= 2


@pytest.mark.parametrize("target_cost", [None, 0.05])
def test_decisions_alone_count_where_the_budget_is_given(
    target_cost: float | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[bool] = []

    def first(tried: Any, seconds: Any, standing: Any, on_decisions: bool) -> Any:
        asked.append(on_decisions)
        return choose(tried, seconds, NOTHING, on_decisions)

    monkeypatch.setattr(adaptive_classifier, "choose", first)
    ways = {NOTHING: candidates(EFFORTS["quick"], 0, 150, 4)[NOTHING]}
    monkeypatch.setattr(adaptive_classifier, "candidates", lambda *_: ways)
    with pytest.warns(UserWarning, match="nothing is worth buying"):
        seqclass.adaptive(0.05, effort="quick", target_cost=target_cost).fit(X, Y, held_out=2)
    assert asked == [target_cost is not None]


def test_wrong_settings() -> None:
    with pytest.raises(ValueError, match="effort must be one of 'quick', 'thorough', got 'much'"):
        seqclass.adaptive(effort="much").fit(X, Y)
    with pytest.raises(ValueError, match="held_out must be at least 2"):
        seqclass.adaptive().fit(X, Y, held_out=1)
    with pytest.raises(TypeError, match="solver"):
        seqclass.adaptive(solver=None)
    with pytest.raises(ValueError, match="feature_costs"):
        seqclass.adaptive(-1, effort="quick").fit(X, Y)
    for limit in ("max_features", "max_cost", "target_cost"):  # and not of a fit without a fold
        with pytest.raises(ValueError, match=f"^{limit} must be"):
            seqclass.adaptive(**{limit: -1}).fit(X, Y)


@pytest.mark.slow_cells("five rows")
@pytest.mark.filterwarnings("ignore:y. class 0 has a single row", "ignore:Held out, a row costs")
@pytest.mark.parametrize(
    "spoil",
    [
        *(pytest.param(spoil, marks=pytest.mark.slow) for spoil in ("columns", "rare class")),
        *("five rows", "one row a class"),
    ],
)
def test_awkward_data(spoil: str) -> None:
    data, labels = X[::2].copy(), Y[::2].copy()
    if spoil == "columns":  # one constant, one of which nothing is known, and one that names the row
        data[:, 0] = 3
        data[:, 1] = np.nan
        data = np.column_stack([np.arange(len(data)), data])
    elif spoil == "rare class":
        rows = np.flatnonzero((labels > 0) | (np.arange(len(labels)) < 1))
        data, labels = data[rows], labels[rows]
    elif spoil == "five rows":
        data, labels = X[[0, 1, 50, 51, 100]], Y[[0, 1, 50, 51, 100]]
    else:
        data, labels = X[[0, 50, 100]], Y[[0, 50, 100]]
        with pytest.raises(ValueError, match="a class of two rows or more"):
            seqclass.adaptive(0.01, effort="quick").fit(data, labels)
        seqclass.adaptive(0.01, effort="quick").fit(data, labels, held_out=0).predict(X)
        return
    clf = seqclass.adaptive(0.01, effort="quick").fit(data, labels)
    found = clf.predict(data)
    assert set(found) <= set(labels)
    if len(labels) > 5:
        assert (found == labels).mean() > 0.9


def test_the_best_order_is_searched_for_where_columns_are_few():
    """Of hundreds it would be what the training rows suggest by chance."""
    for name, effort in EFFORTS.items():
        few, many = (candidates(effort, 0, 1000, n) for n in (32, 33))
        nodes = {"quick": 200, "thorough": 5000}[name]
        assert {w["solver"].search_nodes for w in few.values() if isinstance(w["solver"], Adaptive)} == {nodes}
        assert {w["solver"].search_nodes for w in many.values() if isinstance(w["solver"], Adaptive)} == {0}
        assert [standard(effort, 0, 1000, n)["solver"].search_nodes for n in (32, 33)] == [nodes, 0]
    clf = AdaptiveClassifier(0.05, effort="quick").fit(X, Y, held_out=0)
    assert clf.chosen_classifier().solver.search_nodes == 200


@pytest.mark.slow
def test_of_three_rows_the_default_stays_where_one_fold_has_one_row() -> None:
    rows = np.random.default_rng(0).normal(size=(3, 4))
    with pytest.warns(UserWarning, match="nothing is worth buying"):
        held = seqclass.adaptive(0.02).fit(rows, [0, 1, 0]).held_out_
    assert (held.n_folds, held.n_rows) == (2, 2)
    assert str(held).startswith("Adaptive classifier, held out (2 folds, 2 rows): cost ")


@pytest.mark.slow
def test_runners_up_where_a_class_of_one_row_is_never_held_out() -> None:
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 300)
    X = rng.normal(size=(300, 4)) + y[:, None]
    y[7] = 2
    with pytest.warns(UserWarning, match="single row"):
        clf = AdaptiveClassifier(0.02, effort="quick").fit(X, y)
    assert clf.held_out_.n_rows == 299  # of 300 rows, from which on a tree is tried
    assert len(clf.runners_up(10)) == len(clf.choice_.candidates) - 2


@pytest.mark.slow
def test_runners_up_are_what_was_tried_next() -> None:
    clf = AdaptiveClassifier(0.05, effort="quick", max_features=2).fit(*load_iris(return_X_y=True))
    assert clf.choice_ is not None
    cost = {one.name: one.cost for one in clf.choice_.candidates}
    del cost["deciding at once"], cost[clf.choice_.chosen]
    others = clf.runners_up(10)
    assert len(others) == len(cost)
    assert all(one.max_features == 2 for one in others)
    assert [one.calibrate for one in others] == [
        one.observation_model.density != "auto" if one.order == "adaptive" else True for one in others
    ]
    clf.choice_ = replace(clf.choice_, chosen="naive Bayes, one order")
    (stands,) = clf.runners_up()  # where another was chosen it comes first, whatever it cost
    assert (stands.observation_model.density, stands.calibrate) == ("auto", False)
    with pytest.raises(ValueError, match="nothing was compared"):
        AdaptiveClassifier(effort="quick").fit(*load_iris(return_X_y=True), held_out=0).runners_up()


def test_a_file_of_an_effort_that_there_was_decides_as_before(fitted: AdaptiveClassifier, tmp_path: Path) -> None:
    """Of "normal", which is no more: only what needs to know what it tried says so."""
    clf = copy(fitted)
    clf.effort = "normal"
    clf.save(tmp_path / "model.seq")
    again = seqclass.load(tmp_path / "model.seq")
    np.testing.assert_array_equal(again.predict(X), fitted.predict(X))
    for use in (again.runners_up, lambda: clone(again).fit(X, Y)):
        with pytest.raises(ValueError, match="effort must be one of 'quick', 'thorough', got 'normal'"):
            use()


@pytest.mark.slow
@pytest.mark.parametrize("budget", [None, [1, 2]])
def test_several_processes_find_the_same(budget):
    one, two = (
        AdaptiveClassifier(0.05, effort="quick", budget=budget, n_jobs=n_jobs).fit(X[::3], Y[::3])
        for n_jobs in (None, 2)
    )
    assert one.choice_.chosen == two.choice_.chosen
    for mine, theirs in zip(one.choice_.candidates, two.choice_.candidates, strict=True):
        assert replace(mine, seconds=0) == replace(theirs, seconds=0)
    for name in ("prices", "decisions", "decision_costs", "counts", "fold"):
        np.testing.assert_array_equal(getattr(one.held_out_, name), getattr(two.held_out_, name))
    np.testing.assert_array_equal(one.predict_proba(X), two.predict_proba(X))
    assert "n_jobs" not in two.chosen_classifier().get_params()


@pytest.mark.parametrize(("n_jobs", "error"), [("a", TypeError), (True, TypeError), (1.5, TypeError), (0, ValueError)])
def test_wrong_numbers_of_processes_are_refused(n_jobs, error):
    with pytest.raises(error, match=r"^n_jobs must be a number of processes, -1 for one a processor, or None, got "):
        AdaptiveClassifier(effort="quick", n_jobs=n_jobs).fit(X, Y)


@pytest.mark.slow
def test_what_fails_in_another_process_is_said_as_in_this_one(monkeypatch):
    class Fails(NaiveBayes):  # of this function alone, it is sent to other processes whole
        def fit(self, X, y, **settings):
            raise ValueError(f"no fit to {len(y)} rows")

    ways = candidates(EFFORTS["quick"], 0, len(Y), 4)
    failing = {name: way | {"observation_model": Fails()} for name, way in ways.items()}
    monkeypatch.setattr(adaptive_classifier, "candidates", lambda *_: failing)
    told = []
    for n_jobs in (1, 2):
        with pytest.raises(ValueError, match=r"^held_out: the fit without") as caught:
            AdaptiveClassifier(0.05, effort="quick", n_jobs=n_jobs).fit(X, Y)
        told.append(str(caught.value))
    assert told[0] == told[1]
    assert re.search(r"without fold 1 of 3 failed: no fit to \d+ rows\. Or give fewer folds, or held_out=0\.$", told[0])
