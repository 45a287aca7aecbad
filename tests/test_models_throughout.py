"""Every observation model in a fixed order and any, through all that is done with a fitted classifier."""

from __future__ import annotations

import functools
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from live_cases import reader, row_by_row

import seqclass
from seqclass import Costs, SequentialClassifier
from seqclass.bn import ClassMixture, ContextBayes, DiscreteNetwork, NaiveBayes, NetworkTables, TreeNetwork
from seqclass.evaluation.certified import certify_error
from seqclass.exams import ItemResponse
from seqclass.export import policy_data
from seqclass.pomdp import Adaptive, ClassInformation, Lookahead

SIZES = np.array([3, 8, 2, 4])
PRICES = np.array([0.02, 0.03, 0.01, 0.02])
#: What a wrong decision costs is not the same for all, and one may refer.
COSTS = np.array([[0.0, 1.0, 0.3], [2.0, 0.0, 0.3]])


def _rows(seed: int, n: int = 160, missing: float = 0.0) -> tuple[Any, Any]:
    """Outcomes of three kinds of members, the second one fine bins of a number."""
    rng = np.random.default_rng(seed)
    y, kind = rng.integers(0, 2, n), rng.integers(0, 3, n)
    number = np.clip(np.floor(rng.normal(2.5 + 2.0 * y + kind, 1.2)), 0, 7)
    X = np.column_stack([kind, number, (y + (kind == 0)) % 2, np.minimum(kind + y, 3)]).astype(float)
    noise = (rng.random(X.shape) < 0.25) & (np.arange(4) != 1)
    X = np.where(noise, rng.integers(0, SIZES, X.shape), X)
    X[:4] = SIZES - 1.0  # all outcomes are seen
    return np.where(rng.random(X.shape) < missing, np.nan, X), np.array(["ill", "well"])[y]


def _network() -> DiscreteNetwork:
    """The last question depends on the first, and the class on nothing."""
    rng = np.random.default_rng(5)
    states = [["ill", "well"], *([f"s{v}" for v in range(size)] for size in SIZES)]
    tables = [np.array([0.45, 0.55]), *(rng.dirichlet(np.ones(size), 2).T for size in SIZES[:3])]
    tables.append(rng.dirichlet(np.ones(4), (3, 2)).transpose(2, 0, 1))
    network = NetworkTables(["y", "a", "b", "c", "d"], states, [[], [0], [0], [0], [1, 0]], tables)
    return DiscreteNetwork(network, "y", questions=["a", "b", "c", "d"]).fit()


MODELS: dict[str, Any] = {
    "naive Bayes": NaiveBayes,
    "tree": TreeNetwork,
    "graph": functools.partial(TreeNetwork, "clique", conditioning="full"),
    "mixture": functools.partial(ClassMixture, 2),
    "mixture of one": functools.partial(ClassMixture, 1),
    "bagged mixture": functools.partial(ClassMixture, 2, n_bags=2),
    "averaged mixture": functools.partial(ClassMixture, "average"),
    "mixture of densities": functools.partial(ClassMixture, 2, density="auto"),
    "mixture of normals": functools.partial(ClassMixture, 2, density="normal"),
    "context": functools.partial(ContextBayes, 0),
    "context found": ContextBayes,
    "context of tables": functools.partial(ContextBayes, 0, density="tables"),
    "context of ranks": functools.partial(ContextBayes, [0, 2], density="rank"),
    "items, labelled": functools.partial(ItemResponse, points=9),
    "nominal items": functools.partial(ItemResponse, "nominal", points=9),
    "items, bands": functools.partial(ItemResponse, cuts=[0.2], labels=["well", "ill"], points=9),
    "network": _network,
}
REFERRING = {"decision_costs": COSTS, "decisions": ["refer"]}
BUNDLE = {"feature_costs": Costs(0.02, bundles=["lab", -1, -1, "lab"], **REFERRING)}
GROUPS = {"feature_costs": Costs(PRICES, groups=[0, 0, 1, 1], discounted_costs=0.005, charge_missing=True, **REFERRING)}
FIXED = {"order": [1, 3, 0], "solver": Lookahead(1, certificate_paths=0)}
FREE = {
    "order": "adaptive",
    "max_candidates": 3,
    "solver": Adaptive([ClassInformation()], n_paths=20, n_cases=40, max_nodes=0, max_rounds=0, certificate_paths=0),
}
#: In each some feature is left that the policy never asks for, and that may be told all the same.
ORDERS = {
    "fixed": FIXED,
    "fixed, groups": FIXED | GROUPS,
    "fixed, bundle": FIXED | BUNDLE,
    "any, groups": FREE | GROUPS,
    "any, bundle": FREE | BUNDLE | {"max_candidates": 2},
}


@functools.lru_cache(None)
def fitted(model: str, order: str) -> SequentialClassifier:
    settings = {
        "feature_costs": Costs(PRICES, **REFERRING),
        "discretizer": "precomputed",
        "prefit": model == "network",
    }
    return SequentialClassifier(MODELS[model](), **settings | ORDERS[order]).fit(*_rows(0, missing=0.1))


#: Of every kind of model one is run in all orders by default.
OF_EACH_KIND = {"naive Bayes", "tree", "mixture", "context", "nominal items", "network"}
#: What every model is run in by default: one question at a time as told, and several features at once, in any order.
OF_ALL = {"fixed", "any, bundle"}
#: Those that are, once fitted, hidden states and tables as another one's: they are run in any order alone.
OF_A_KIND = {
    *("mixture of one", "bagged mixture", "mixture of normals"),
    *("context found", "context of ranks", "items, bands"),
}


def _default(model: str, order: str) -> bool:
    return model in OF_EACH_KIND or order in OF_ALL - ({"fixed"} if model in OF_A_KIND else set())


@pytest.fixture(
    params=[
        pytest.param((model, order), marks=() if _default(model, order) else pytest.mark.slow)
        for order in ORDERS
        for model in MODELS
    ],
    ids="-".join,
)
def clf(request: Any) -> SequentialClassifier:
    return fitted(*request.param)


def posterior(clf: SequentialClassifier, told: dict[int, float]) -> Any:
    """P(class | what columns showed), by the model's own account."""
    return clf.model_.posterior(evidence(told))[0]


def evidence(told: dict[int, float]) -> Any:
    return np.array([[told.get(j, -1) for j in range(4)]]).astype(int)


def expected_after(clf: SequentialClassifier, told: dict[int, float], columns: list[int]) -> float:
    """Expected cost of deciding once some more columns are known, prices left out."""
    rows, chance = evidence(told), np.ones(1)
    for column in columns:
        chance = (chance[:, None] * clf.model_.predictive(column, rows)).ravel()
        rows = np.repeat(rows, SIZES[column], axis=0)
        rows[:, column] = np.arange(len(rows)) % SIZES[column]
    return float(chance @ (clf.model_.posterior(rows) @ COSTS).min(axis=1))


def shown(question: Any, row: Any) -> tuple[dict[int, float], Any]:
    """What a question shows of a row, by column, and as a session takes it; None where all of it is missing."""
    columns = [part.column for part in question.features] or [question.column]
    values = {j: row[j] for j in columns if not np.isnan(row[j])}
    return values, {f"x{j}": v for j, v in values.items()} if question.features else next(iter(values.values()), None)


def seen(clf: SequentialClassifier, row: Any, order: Any, known: tuple[int, ...]) -> dict[int, float]:
    """What was known or asked for of a row, by column, and is not missing."""
    asked = set(order[order >= 0].tolist())
    if clf.agent_.prices.bundles is not None and asked & {0, 3}:
        asked |= {0, 3}
    return {j: row[j] for j in {*asked, *known} if not np.isnan(row[j])}


@pytest.mark.slow_cells(
    "averaged mixture-any, bundle",
    "averaged mixture-fixed",
    "nominal items-any, bundle",
    "nominal items-any, groups",
    "nominal items-fixed",
    "nominal items-fixed, bundle",
    "nominal items-fixed, groups",
)
def test_a_live_case_in_any_order(clf: SequentialClassifier) -> None:
    """Whatever is told first, the belief is the model's, and savings are those of its next answer; back, and again."""
    row, session, told = np.array([1.0, 5, 0, 3]), clf.session(), dict[int, float]()
    before = [(session.next_feature, session.posterior)]
    for name in ("x2", None, "x3", None, None):
        questions = session.suggestions(4)
        if not questions:
            break
        for question in questions:
            if question is not questions[0] or session.next_feature is None:
                columns = [part.column for part in question.features] or [question.column]
                gained = expected_after(clf, told, []) - expected_after(clf, told, columns)
                assert question.saving_alone == pytest.approx(gained - question.price, abs=1e-9)
        named = [q for q in questions if name in (q.name, *(part.name for part in q.features))]
        question = named[0] if named else questions[0]
        values, answer = shown(question, row)
        session.observe(question.name, answer)
        told |= values
        np.testing.assert_allclose(session.posterior, posterior(clf, told), atol=1e-9)
        assert session.decision == clf.decisions_[int((session.posterior @ COSTS).argmin())]
        assert session.expected_cost == pytest.approx(float((session.posterior @ COSTS).min()))
        before.append((session.next_feature, session.posterior))
    again = clf.session(session.to_json())
    assert (again.history, again.decision, again.next_feature) == (session.history, session.decision, before[-1][0])
    for question, belief in before[-2::-1]:
        session.undo()
        assert session.next_feature == question
        np.testing.assert_array_equal(session.posterior, belief)


def test_what_is_not_to_be_had(clf: SequentialClassifier) -> None:
    session = clf.session()
    for column in (3, 1, 0):
        names = {q.name for q in session.suggestions(4)} | {
            part.name for q in session.suggestions(4) for part in q.features
        }
        if f"x{column}" in names:
            session.unavailable(f"x{column}")
            np.testing.assert_allclose(session.posterior, posterior(clf, {}), atol=1e-12)
    session.observe("x2", 1.0)
    np.testing.assert_allclose(session.posterior, posterior(clf, {2: 1}), atol=1e-9)
    assert session.next_feature is None


@pytest.mark.covering
@pytest.mark.parametrize("known", [(), (1,), (0, 2, 3)])
def test_batches_are_as_live_cases(clf: SequentialClassifier, known: tuple[int, ...]) -> None:
    X = _rows(1, n=3, missing=0.2)[0]
    record = clf.acquire(X, known=known, record_beliefs=True)
    decision, cost, n_features, belief = row_by_row(clf, X, known)
    assert record.decision.tolist() == decision.tolist()
    assert record.n_features.tolist() == n_features.tolist()
    np.testing.assert_allclose(record.paid, cost, atol=1e-9)
    np.testing.assert_allclose(record.posterior, belief, atol=1e-9)
    for i, row in enumerate(X):
        np.testing.assert_allclose(
            record.posterior[i], posterior(clf, seen(clf, row, record.order[i], known)), atol=1e-9
        )


@pytest.mark.covering
@pytest.mark.parametrize("known", [(), (2,)])
def test_a_budget_is_used_up(clf: SequentialClassifier, known: tuple[int, ...]) -> None:
    X = _rows(2, n=5)[0]
    record = clf.acquire(X, known=known, budget=1)
    for i, row in enumerate(X):
        assert (record.order[i] >= 0).sum() == 1
        assert not np.isin(record.order[i], known).any()
        np.testing.assert_allclose(
            record.posterior[i], posterior(clf, seen(clf, row, record.order[i], known)), atol=1e-9
        )
    assert record.decision.tolist() == clf.decisions_[(record.posterior @ COSTS).argmin(axis=1)].tolist()


@pytest.mark.covering(1)
def test_explanations_are_of_what_is_done(clf: SequentialClassifier) -> None:
    X = _rows(3, n=4, missing=0.2)[0]
    record = clf.acquire(X, record_beliefs=True)
    for i, told in enumerate(clf.explain(X)):
        beliefs = np.array([told.prior, *(step.after for step in told.steps)])
        np.testing.assert_allclose(beliefs, record.beliefs[i, : len(beliefs)], atol=1e-12)
        assert (told.decision, told.paid) == (record.decision[i], pytest.approx(record.paid[i]))
        np.testing.assert_allclose(list(told.decision_costs.values()), np.array(told.posterior) @ COSTS)
        assert min(told.decision_costs, key=told.decision_costs.get) == told.decision
        text = str(told)
        assert all(step.name in text for step in told.steps)


def read_as_acquired(clf: SequentialClassifier, data: dict[str, Any]) -> None:
    """The reader of the documentation asks and decides rows as `acquire` does."""
    X = _rows(4, n=6, missing=0.2)[0]
    record = clf.acquire(X)
    for i, row in enumerate(X):
        case, asked = reader()(data), []
        while (stand := case.stand())[1] >= 0:
            columns = [int(data["features"][f]["name"][1:]) for f in data["questions"][stand[1]]["features"]]
            asked += columns
            case.tell(stand[1], [-1 if np.isnan(row[j]) else int(row[j]) for j in columns])
        assert set(asked) >= {j for j in record.order[i].tolist() if j >= 0}
        assert data["decisions"][stand[3]] == record.decision[i]
        assert case.case["spent"] == pytest.approx(record.paid[i])
        np.testing.assert_allclose(stand[0], record.posterior[i], atol=1e-9)


@pytest.mark.slow_cells("graph-any, bundle")
@pytest.mark.covering(1)
def test_exported_as_data(clf: SequentialClassifier) -> None:
    data = policy_data(clf)
    assert data["decisions"] == ["ill", "well", "refer"]
    if data["kind"] == "program":
        of_hidden = np.array(data["program"]["hidden_class"])
        prior = np.array(data["program"]["hidden_prior"])
        within = prior / np.bincount(of_hidden, prior)[of_hidden]
        for feature, table in zip(data["features"], data["program"]["likelihoods"]):
            column = int(feature["name"][1:])
            found = [[np.bincount(of_hidden, within * row)] for row in np.array(table)]
            wanted = clf.model_.likelihood(column, evidence({}))[0]
            np.testing.assert_allclose(np.concatenate(found), wanted, atol=1e-10)
        if data["program"]["any_order"]:
            read_as_acquired(clf, data)
        return
    X = _rows(4, n=6, missing=0.2)[0]
    record = clf.acquire(X)
    for i, row in enumerate(X):
        node, paid, asked = data["nodes"][0], 0.0, []
        while "ask" in node:
            column = int(data["features"][node["ask"]]["name"][1:])
            asked.append(column)
            missing = bool(np.isnan(row[column]))
            paid += node["price"] if clf.agent_.charge_missing or not missing else 0.0
            node = data["nodes"][node["missing"] if missing else node["next"][int(row[column])]]
        assert asked == [j for j in record.order[i].tolist() if j >= 0]
        assert (data["decisions"][node["decision"]], paid) == (record.decision[i], pytest.approx(record.paid[i]))
        np.testing.assert_allclose(node["belief"], record.posterior[i], atol=1e-9)


@pytest.mark.covering(1)
def test_certified(clf: SequentialClassifier) -> None:
    X, y = _rows(5, n=60, missing=0.1)
    found = certify_error(clf, X, y, alpha=0.6, allow_seen=True)
    assert found.certified
    record = found.acquire(X)
    assert found.risk == pytest.approx(float(((record.decision != y) & (record.decision != "refer")).mean()))
    assert found.n_features == pytest.approx(float(record.n_features.mean()))
    for row, label, belief in zip(X[:3], record.decision, record.posterior):
        session = found.session()
        while (question := session.next_feature) is not None:
            values, answer = shown(question, row)
            session.observe(question.name, answer) if values else session.unavailable(question.name)
        assert session.decision == label
        np.testing.assert_allclose(session.posterior, belief, atol=1e-9)


@pytest.mark.slow_cells("graph-any, bundle")
@pytest.mark.covering(1)
def test_saved_and_loaded(clf: SequentialClassifier, tmp_path: Path) -> None:
    clf.save(tmp_path / "model.seq")
    again = seqclass.load(tmp_path / "model.seq")
    X = _rows(6, n=6, missing=0.2)[0]
    for known in ((), (2,)):
        one, other = clf.acquire(X, known=known), again.acquire(X, known=known)
        assert one.decision.tolist() == other.decision.tolist()
        np.testing.assert_allclose(one.posterior, other.posterior, atol=1e-12)
        np.testing.assert_array_equal(one.order, other.order)
    session = clf.session(known={"x2": 1.0})
    assert again.session(session.to_json()).history == session.history
    assert [str(told) for told in again.explain(X[:2])] == [str(told) for told in clf.explain(X[:2])]
    if clf.agent_.prices.bundles is None:
        assert policy_data(again) == policy_data(clf)


@pytest.mark.parametrize("recipe", ["fixed, bundle", "any, bundle"])
def test_features_of_a_bundle_are_known_one_by_one(recipe: str) -> None:
    clf = fitted("naive Bayes", recipe)
    session = clf.session(known={"x0": 1.0, "x2": 0.0, "x3": 2.0})
    assert session.history == clf.session(known={"lab": {"x0": 1.0, "x3": 2.0}, "x2": 0.0}).history
    np.testing.assert_allclose(session.posterior, posterior(clf, {0: 1, 2: 0, 3: 2}))
    with pytest.raises(ValueError, match="known tells 'x3' twice, by itself and with its bundle"):
        clf.session(known={"x3": 1.0, "lab": {"x3": 2.0}})
