"""What is known of every case before the first question: planned from, never asked for, read at no price."""

from __future__ import annotations

import sys

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone

from seqclass import Costs, SequentialClassifier, etana, f_etana, load
from seqclass.adaptive_classifier import AdaptiveClassifier
from seqclass.agent.agent import whole_problem
from seqclass.bn import ClassMixture, NetworkTables, TreeNetwork
from seqclass.export import policy_data
from seqclass.offpolicy import estimate_cost
from seqclass.pomdp import (
    Adaptive,
    ClassInformation,
    ExactFreeOrder,
    ExactValueIteration,
    FirstK,
    GridValueIteration,
    Lookahead,
    Perseus,
    PomdpPyPlanner,
    certify,
    cost_sweep,
    evaluate,
    optimal_cost,
    write_pomdp,
)
from seqclass.pomdp.account import planned_prices
from seqclass.pomdp.bounds.certificate import grid_lower_bound, sawtooth_lower_bound
from seqclass.pomdp.bounds.optimum import expand
from seqclass.pomdp.one_step import initial_beliefs

ALIKE = 1e-9
KNOWN = [3, 5]
MODELS = {"naive Bayes": None, "tree": TreeNetwork(), "mixture": ClassMixture(2, random_state=0)}


def drawn(seed=0, n=180, n_classes=2, k=6, missing=0.0):
    """Binary outcomes, of which the column 4 nearly repeats column 3, which is known."""
    rng = np.random.default_rng(seed)
    y = np.arange(n) % n_classes
    X = (rng.random((n, k)) < 0.2 + 0.3 * ((y[:, None] + np.arange(k)) % 3)).astype(float)
    X[:, 4] = np.where(rng.random(n) < 0.8, X[:, 3], X[:, 4])
    X[rng.random(X.shape) < missing] = np.nan
    return X, y


def fitted(X, y, **settings):
    given = {"feature_costs": 0.03, "discretizer": "precomputed", "known": KNOWN} | settings
    return SequentialClassifier(**given).fit(X, y)


def told(clf, X):
    """Each row in the problem of all questions once what is known was told, and how many rows show the same."""
    whole = whole_problem(clf.agent_)
    rows, counts = np.unique(np.nan_to_num(X[:, KNOWN], nan=-1).astype(int), axis=0, return_counts=True)
    info = whole.initial_belief(len(rows))
    for place, column in enumerate(KNOWN):
        (question,) = (q for q in range(whole.n_questions) if whole.features[q] == column)
        info = info.asking(question).update(rows[:, place])
    return info, counts / counts.sum()


@pytest.mark.slow_cells("0.0-mixture")
@pytest.mark.covering(1)
@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("missing", [0.0, 0.2])
def test_the_least_cost_over_all_orders_is_the_mean_over_starts(name, missing):
    X, y = drawn(1, missing=missing)
    clf = fitted(X, y, order="adaptive", solver=Lookahead(certificate_paths=0), observation_model=MODELS[name])
    info, share = told(clf, X)
    best = expand(info, len(X[0]) - len(KNOWN)).values(np.ones(1))[:, 0]
    assert optimal_cost(clf.problem_) == pytest.approx(share @ best, abs=ALIKE)
    certificate = certify(clf.problem_, clf.policy_, method="exact")
    assert certificate.lower == pytest.approx(share @ best, abs=ALIKE)
    sampled = certify(clf.problem_, clf.policy_, method="simulation", n_paths=4000)
    assert sampled.lower <= share @ best + ALIKE
    assert sampled.upper >= certificate.upper - ALIKE
    np.testing.assert_allclose(initial_beliefs(clf.problem_)[0].probabilities, info.probabilities, atol=ALIKE)


@pytest.mark.covering(1)
@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("solver", [GridValueIteration(), Perseus(), ExactValueIteration(), Lookahead(3)])
def test_solvers_of_a_fixed_order_find_the_mean_over_starts(solver, n_classes):
    X, y = drawn(2, n_classes=n_classes)
    clf = fitted(X, y, solver=solver)
    problem = clf.problem_
    begun, weight = initial_beliefs(problem)
    alone = [optimal_cost(problem.replace(prior=belief, starts=None)) for belief in begun.probabilities]
    least = float(weight @ alone)
    info = clf.policy_.info
    assert info.lower == pytest.approx(least, abs=ALIKE)
    assert info.upper <= least * 1.02
    assert clf.expected_cost_ == info.upper
    assert evaluate(problem, clf.policy_).cost == pytest.approx(info.upper, abs=ALIKE)
    low = [grid_lower_bound(problem, 60), sawtooth_lower_bound(problem, 300)]
    assert all(0.9 * least < bound <= least + ALIKE for bound in low)
    sampled = certify(problem, clf.policy_, method="simulation", n_paths=4000)
    assert sampled.lower <= least + ALIKE <= sampled.upper + 2 * ALIKE


@pytest.mark.slow_cells("adaptive-tree")
@pytest.mark.covering(1)
@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("order", ["conditional", "adaptive"])
def test_what_is_known_is_read_and_never_asked_for(name, order):
    X, y = drawn(3, n_classes=3, missing=0.1)
    clf = fitted(X, y, order=order, observation_model=MODELS[name])
    record = clf.acquire(X, record_beliefs=True)
    assert not np.isin(record.order, KNOWN).any()
    np.testing.assert_allclose(record.paid, 0.03 * record.n_features)
    alone = np.where(np.isin(np.arange(6), KNOWN), X, np.nan)
    codes = np.where(np.isnan(alone), -1, alone).astype(int)
    np.testing.assert_allclose(record.beliefs[:, 0], clf.model_.predict_proba(codes), atol=ALIKE)
    # what a live case, an explanation and the next question see is the same
    for row in (0, 1, 2, 3):
        values = {f"x{j}": X[row, j] for j in KNOWN if not np.isnan(X[row, j])}
        case, asked = clf.session(known=values), []
        while (question := case.next_feature) is not None:
            value = X[row, question.column]
            asked.append(question.column)
            case.unavailable(question.name) if np.isnan(value) else case.observe(question.name, value)
        assert asked == record.order[row][record.order[row] >= 0].tolist()
        assert case.paid == pytest.approx(record.paid[row])
        np.testing.assert_allclose(case.posterior, record.posterior[row], atol=ALIKE)
        assert not {"x3", "x5"} & {question.name for question in clf.session().suggestions(9)}
        told_of = clf.explain(X[row])[0]
        assert [step.column for step in told_of.steps] == asked
        np.testing.assert_allclose(told_of.prior, record.beliefs[row, 0], atol=ALIKE)
        assert told_of.known == values
        assert type(told_of).from_dict(told_of.to_dict()) == told_of
    nothing = np.zeros(X.shape, dtype=bool)
    first = record.order[:, 0] if record.order.shape[1] else np.full(len(X), -1)
    assert clf.next_question(X, nothing).tolist() == first.tolist()


def test_an_explanation_begins_with_what_was_known():
    X, y = drawn(3)
    X = pd.DataFrame(X, columns=list("abcdef")).assign(d=np.where(X[:, 3] == 1, "old", "young"))
    clf = SequentialClassifier(known=["d", "f"], feature_costs=0.03, order="adaptive").fit(X, y)
    row = X.iloc[[0]].assign(d="old", f=1.0)
    [why] = clf.explain(row)
    assert str(why).startswith("Known: d = old, f = 1\nAt first: ")
    words = {"d": {"question": "How old?", "answers": {"old": "past 60"}}, "f": {"unit": "cm"}}
    assert str(why.in_words(words)).startswith("Known: How old? past 60, f = 1 cm\nAt first: ")
    assert clf.explain(row, feature_names={**dict(enumerate("ABCDE")), 5: "F"})[0].known == {"D": "old", "F": 1.0}
    assert clf.explain(row, feature_names=dict(enumerate("ABC")))[0].known == {"d": "old", "f": 1.0}
    [less] = clf.explain(row.assign(d=None))
    assert str(less).startswith("Known: f = 1\nAt first: ")


def test_more_may_be_known_of_a_batch_than_of_every_case():
    X, y = drawn(4)
    clf = fitted(X, y, order="adaptive")
    record = clf.acquire(X, known=[0])
    assert not np.isin(record.order, [0, *KNOWN]).any()
    seen = np.array([[j in KNOWN or j == 0 or j in set(asked) for j in range(6)] for asked in record.order])
    codes = np.where(seen, X, -1).astype(int)
    np.testing.assert_allclose(record.posterior, clf.model_.predict_proba(codes), atol=ALIKE)
    same = clf.acquire(X, known=KNOWN)
    assert same.order.tolist() == clf.acquire(X).order.tolist()


def test_planning_with_the_start_costs_no_more_than_planning_from_nothing_and_being_told():
    X, y = drawn(5, n=600, n_classes=3)
    with_start = fitted(X, y, order="adaptive")
    without = fitted(X, y, order="adaptive", known=())
    truth = np.eye(3)[y] == 0

    def cost(record):
        return float((record.paid + truth[np.arange(len(y)), record.decision]).mean())

    assert cost(with_start.acquire(X)) <= cost(without.acquire(X, known=KNOWN)) + 0.01


@pytest.mark.slow_cells("solver2")
@pytest.mark.parametrize("solver", [None, Adaptive([ClassInformation()]), Adaptive(max_seconds=30), FirstK(0)])
def test_solvers_of_any_order_begin_with_the_starts(solver):
    X, y = drawn(6, n_classes=4, n=400)
    clf = fitted(X, y, order="adaptive", solver=solver)
    least = optimal_cost(clf.problem_)
    info = clf.policy_.info
    assert info.lower <= least + ALIKE <= info.upper + 2 * ALIKE
    if not isinstance(solver, FirstK):
        assert info.upper < 1.05 * least + 0.01


def test_starts_are_those_of_the_rows_or_of_the_model():
    X, y = drawn(7, missing=0.2)
    clf = fitted(X, y)
    starts = clf.problem_.structure.starts
    rows, counts = np.unique(np.nan_to_num(X[:, KNOWN], nan=-1), axis=0, return_counts=True)
    assert starts.outcomes.tolist() == rows.tolist()
    np.testing.assert_allclose(starts.weight, counts / len(X))
    tables = [np.array([0.7, 0.3]), np.array([[0.8, 0.3], [0.2, 0.7]]), np.array([[0.9, 0.2], [0.1, 0.8]])]
    states = [["no", "yes"], ["low", "high"], ["neg", "pos"]]
    flu = NetworkTables(["flu", "fever", "swab"], states, [[], [0], [0]], tables)
    plan = SequentialClassifier.from_network(flu, "flu", known=["fever"], feature_costs={"swab": 0.05})
    starts = plan.problem_.structure.starts
    order = [1, 0]  # outcomes are numbered as their categories are sorted
    np.testing.assert_allclose(starts.weight, (tables[1] @ tables[0])[order], atol=1e-12)
    belief = (tables[1] * tables[0]) / (tables[1] @ tables[0])[:, None]
    np.testing.assert_allclose(starts.belief, belief[order], atol=1e-12)
    case = plan.session(known={"fever": "high"})
    assert case.paid == 0
    assert case.next_feature.name == "swab"


def test_another_prior_weighs_and_believes_the_starts_anew():
    X, y = drawn(8)
    clf = fitted(X, y)
    other, prior = clf.with_prior([0.9, 0.1]), np.array([0.9, 0.1])
    before, after = clf.problem_.structure.starts, other.problem_.structure.starts
    odds = before.belief * prior / clf.problem_.prior
    np.testing.assert_allclose(after.belief, odds / odds.sum(axis=1, keepdims=True), atol=ALIKE)
    weight = before.weight * odds.sum(axis=1)
    np.testing.assert_allclose(after.weight, weight / weight.sum(), atol=ALIKE)


@pytest.mark.slow_cells("adaptive-naive Bayes", "conditional-mixture", "conditional-tree")
@pytest.mark.covering(1)
@pytest.mark.parametrize(
    ("order", "name"),
    [
        *(("conditional", name) for name in MODELS),
        ("adaptive", "naive Bayes"),
        pytest.param("adaptive", "tree", marks=pytest.mark.slow),
        pytest.param("adaptive", "mixture", marks=pytest.mark.slow),
    ],
)
def test_files_clones_and_exports_keep_it(name, order, tmp_path):
    X, y = drawn(9)
    frame = pd.DataFrame(X, columns=list("abcdef"))
    clf = SequentialClassifier(
        MODELS[name], order=order, known=["d", "f"], feature_costs=dict.fromkeys("abce", 0.03)
    ).fit(frame, y, held_out=2)
    assert clone(clf).known == ["d", "f"]
    clf.save(tmp_path / "a.seq")
    again = load(tmp_path / "a.seq")
    assert again.acquire(frame).order.tolist() == clf.acquire(frame).order.tolist()
    assert again.expected_cost_ == clf.expected_cost_
    case = clf.session(known={"d": 1.0, "f": 0.0})
    assert again.session(case.to_json()).next_feature == case.next_feature
    assert clf.held_out_.n_features <= 4
    assert policy_data(clf)["kind"] == "program"


def test_a_graph_begins_with_nothing_known():
    X, y = drawn(9)
    frame, model = pd.DataFrame(X, columns=list("abcdef")), TreeNetwork(conditioning="ancestor")
    clf = SequentialClassifier(model, known=["d", "f"], feature_costs=dict.fromkeys("abce", 0.03)).fit(frame, y)
    with pytest.raises(ValueError, match="a graph begins with a case of which nothing is"):
        policy_data(clf)


@pytest.mark.slow
def test_limits_count_what_is_asked_alone():
    X, y = drawn(10, n=400, n_classes=3)
    clf = fitted(X, y, max_features=1, order="adaptive", feature_costs=0.001)
    assert clf.acquire(X).n_features.max() == 1
    assert fitted(X, y, max_cost=0.005, feature_costs=0.004).acquire(X).n_features.max() <= 1
    assert fitted(X, y).acquire(X, budget=2).n_features.tolist() == [2] * len(X)
    lots = fitted(X, y, target_cost=0.02, feature_costs=0.01)
    assert lots.acquire(X).paid.mean() < 0.04
    frame = clf.acquire(X)
    assert frame.n_features.sum() == (frame.order >= 0).sum()


def test_a_group_or_a_bundle_gives_up_what_is_known():
    X, y = drawn(11)
    groups = Costs(0.03, groups=[0, 0, -1, 0, -1, -1], discounted_costs=0.01)
    clf = fitted(X, y, feature_costs=groups)
    assert planned_prices(clf.problem_).max() == 0.03
    clf = fitted(X, y, feature_costs=Costs(0.03, bundles=[0, 0, -1, 1, -1, 1]), known=[3, 5])
    assert clf.problem_.n_questions == 3
    assert not np.isin(clf.acquire(X).order, [3, 5]).any()
    with pytest.raises(ValueError, match="known names 3, one of the bundle '1': name all of the bundle, or none"):
        fitted(X, y, feature_costs=Costs(0.03, bundles=[0, 0, -1, 1, -1, 1]), known=[3])


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"known": ["age"]}, "known names 'age', which is not a feature"),
        ({"known": [3, 3]}, "known names feature 3 more than once"),
        ({"known": [9]}, "known names 9, which is not a feature"),
        ({"known": range(6)}, "known names all columns, so that there is nothing to ask"),
        ({"known": "x3"}, "known must be a list of columns"),
        ({"known": [3], "order": [0, 3]}, "order names 3, which is known at the start"),
        ({"order": "adaptive", "solver": ExactFreeOrder()}, "ExactFreeOrder makes a table"),
    ],
)
def test_what_cannot_be_is_refused(settings, message):
    X, y = drawn(12)
    with pytest.raises(ValueError, match=message):
        fitted(X, y, **settings)


@pytest.mark.slow
def test_others_fit_with_it(few_ways):
    X, y = drawn(13, n=120)
    clf = AdaptiveClassifier(0.02, effort="quick", known=KNOWN).fit(X, y)
    assert not np.isin(clf.acquire(X).order, KNOWN).any()
    assert clf.chosen_classifier().known == KNOWN
    assert etana(known=KNOWN).fit(X, y).agent_.known.tolist() == KNOWN
    part = SequentialClassifier(discretizer="precomputed", known=KNOWN)
    part.partial_fit(X[:60], y[:60], classes=[0, 1], n_outcomes=2).partial_fit(X[60:], y[60:])
    assert not np.isin(part.acquire(X).order, KNOWN).any()
    chunks = SequentialClassifier(known=KNOWN).fit_chunks([(X[:60], y[:60]), (X[60:], y[60:])])
    assert chunks.order_.tolist() == SequentialClassifier(known=KNOWN).fit(X, y).order_.tolist()
    everything = fitted(X, y, solver=FirstK(None))
    assert everything.acquire(X).n_features.tolist() == [4] * len(X)


def spoken(seed=0, n=300):
    """Three symptoms of two diseases: what was volunteered, -1 none, and what would be answered if asked."""
    rng = np.random.default_rng(seed)
    y = np.arange(n) % 2
    has = rng.random((n, 3)) < np.where(y[:, None] == 0, [0.8, 0.3, 0.5], [0.2, 0.6, 0.4])
    said = has & (rng.random((n, 3)) < 0.4)
    X = np.column_stack([said, np.where(said, np.nan, has)]).astype(float)
    return X, y


PAIRS = {0: 3, 1: 4, 2: None}


@pytest.mark.slow_cells("model1", "model2")
@pytest.mark.parametrize("model", [None, ClassMixture(2, random_state=0), TreeNetwork()])
def test_what_was_volunteered_is_not_asked_for(model):
    X, y = spoken()
    settings = {"order": "adaptive", "feature_costs": 0.001, "observation_model": model}
    clf = fitted(X, y, known=PAIRS, **settings)
    record = clf.acquire(X)
    asked = np.array([np.isin(np.arange(6), row) for row in record.order])
    assert not asked[:, :3].any()
    assert not (asked[:, 3:5] & (X[:, :2] == 1)).any()
    free = fitted(X, y, known=[0, 1, 2], **settings).acquire(X)
    assert any(1 in X[i, :2] and {3, 4} & set(row) for i, row in enumerate(free.order.tolist()))
    # the optimum over all orders is of those that keep to it
    info, _ = initial_beliefs(clf.problem_)
    assert ((info.observed == -3).sum(axis=1) == (clf.problem_.structure.starts.outcomes[:, :2] == 1).sum(axis=1)).all()
    assert clf.policy_.info.lower <= optimal_cost(clf.problem_) + ALIKE <= clf.policy_.info.upper + 2 * ALIKE
    for row in range(12):
        case = clf.session(known={f"x{j}": X[row, j] for j in range(3)})
        told = []
        while (question := case.next_feature) is not None:
            told.append(question.column)
            value = X[row, question.column]
            case.unavailable(question.name) if np.isnan(value) else case.observe(question.name, value)
        assert told == record.order[row][record.order[row] >= 0].tolist()
    assert clf.acquire(X, known=[3]).order.shape[0] == len(X)
    nothing = np.zeros(X.shape, dtype=bool)
    assert clf.next_question(X, nothing).tolist() == record.order[:, 0].tolist()


def test_limits_do_not_count_what_was_volunteered():
    X, y = spoken(1)
    clf = fitted(X, y, known=PAIRS, order="adaptive", feature_costs=0.0001, max_features=1)
    assert clf.acquire(X).n_features.max() == 1
    there = (~np.isnan(X[:, 3:5])).sum(axis=1) + 1  # the last may be asked of everybody
    wide = fitted(X, y, known=PAIRS, order="adaptive")
    assert ((wide.acquire(X, budget=9).order >= 0).sum(axis=1) == there).all()
    live = clf.acquire(provider=lambda rows, feature: X[rows, feature], n=len(X))
    assert live.order.tolist() == clf.acquire(X).order.tolist()


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"known": {0: 0}}, "both as known and as needless"),
        ({"known": {0: 3}, "order": "conditional"}, "a fixed order asks everybody the same"),
        ({"known": {0: 9}}, "known names 9, which is not a feature"),
    ],
)
def test_pairs_that_cannot_be_are_refused(settings, message):
    X, y = spoken(2)
    with pytest.raises(ValueError, match=message):
        fitted(X, y, **({"order": "adaptive"} | settings))


@pytest.mark.slow
def test_deciding_at_once_is_by_what_is_known(few_ways):
    X, y = drawn(14, n=600)
    known = KNOWN
    X[:, 3] = np.where(np.random.default_rng(0).random(600) < 0.9, y, 1 - y)
    for clf in (SequentialClassifier(known=known), AdaptiveClassifier(effort="quick", known=known)):
        held = clf.fit(X, y, held_out=3).held_out_
        assert held.deciding_at_once.cost < 0.15
        assert held.deciding_at_once.n_features == 0
        assert held.linear.cost < 0.2
        assert not held.linear.prices.max() > 0.04 + ALIKE


@pytest.mark.slow
def test_a_choice_of_models_takes_pairs():
    X, y = spoken(3, n=150)
    clf = AdaptiveClassifier(0.01, effort="quick", known=PAIRS).fit(X, y)
    assert not np.isin(clf.acquire(X).order, [0, 1, 2]).any()


@pytest.mark.parametrize("order", ["conditional", "adaptive"])
def test_what_begins_every_case_alike_refuses(order, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "pomdp_py", None)  # to install it would not help
    X, y = drawn(15)
    clf = fitted(X, y, order=order)
    for name in ("a.pomdp", "a.pomdpx"):
        with pytest.raises(ValueError, match="a file begins every case alike, and something is known"):
            write_pomdp(clf.problem_, tmp_path / name)
    with pytest.raises(ValueError, match="PomdpPyPlanner begins every case alike"):
        fitted(X, y, order=order, solver=PomdpPyPlanner())
    with pytest.raises(ValueError, match="knows columns at the start"):
        estimate_cost(clf, X, y)


@pytest.mark.slow
def test_thresholds_and_frontiers_begin_with_the_starts():
    X, y = drawn(16, n=400)
    clf = f_etana(0.03, known=KNOWN, discretizer="precomputed").fit(X, y)
    exact = fitted(X, y)
    assert exact.expected_cost_ <= clf.expected_cost_ + ALIKE
    frontier = cost_sweep(exact.problem_, [1.0])
    assert frontier.price[0] + frontier.decision_cost[0] == pytest.approx(exact.expected_cost_, rel=1e-3)


def test_what_is_known_of_every_case_costs_nothing_whenever_it_is_told() -> None:
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 200)
    X = pd.DataFrame(rng.random((200, 3)) < np.where(y == 1, 0.8, 0.2)[:, None], columns=["a", "b", "c"]).astype(int)
    costs = Costs(0.01, visit_cost=0.02)
    clf = SequentialClassifier(order="adaptive", feature_costs=costs, discretizer="precomputed", known=["a"]).fit(X, y)
    for tell in (lambda case: case.observe("a", 1), lambda case: case.unavailable("a")):
        case = clf.session()
        tell(case)
        assert (case.paid, case.n_features, case.n_visits) == (0.0, 0, 0)
        assert case.history[0].known
