"""A policy from a network without data: the optimum by brute force, sessions, files, models that stay as they are."""

from __future__ import annotations

import importlib.util
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from network_cases import random_network
from numpy.testing import assert_allclose
from sklearn.base import clone
from sklearn.frozen import FrozenEstimator
from sklearn.model_selection import GridSearchCV, KFold, cross_val_score

import seqclass
from seqclass import Costs, SequentialClassifier
from seqclass.bn import DiscreteNetwork, NaiveBayes, NetworkTables, TreeNetwork
from seqclass.exams import ItemResponse
from seqclass.pomdp import Adaptive, ClassInformation, CrossEntropy, FirstK, TableProblem, certify, evaluate
from seqclass.pomdp.solvers.ordering.cases import model_cases

QUICK = Adaptive([ClassInformation()], n_paths=200, n_cases=200, max_nodes=0, max_rounds=0, certificate_paths=200)


def all_orders(model: DiscreteNetwork, price: float) -> float:
    """Least expected cost over all policies, by recursion over partial answers."""
    X = np.array(np.meshgrid(*map(np.arange, model.n_outcomes_), indexing="ij")).reshape(model.n_features_in_, -1).T
    belief, weight = np.zeros((len(X), len(model.classes_))), np.zeros(len(X))
    for i, row in enumerate(X):  # the chain rule, by the model's own answers one at a time
        seen = np.full((1, len(row)), -1)
        weight[i] = 1.0
        for j, outcome in enumerate(row.tolist()):
            weight[i] *= model.predictive(j, seen)[0, outcome]
            if weight[i] == 0:
                break
            seen[0, j] = outcome
        belief[i] = model.posterior(row[None])[0] if weight[i] > 0 else 0
    joint = belief * weight[:, None]

    def value(rows: Any, asked: frozenset[int]) -> float:
        total = joint[rows].sum(axis=0)
        best = float(total.sum() - total.max())
        for j in range(X.shape[1]):
            if j not in asked and rows.any():
                parts = [rows & (X[:, j] == v) for v in range(model.n_outcomes_[j])]
                going = price * float(total.sum()) + sum(value(part, asked | {j}) for part in parts)
                best = min(best, going)
        return best

    return value(np.ones(len(X), dtype=bool), frozenset())


@pytest.mark.slow_cells("1-n0", "6-n0")
@pytest.mark.parametrize("seed, targets", [(1, "n0"), (6, "n0"), (2, ["n0", "n3"])])
def test_the_optimum_of_a_small_network(seed: int, targets: Any) -> None:
    network = random_network(seed, 6)
    hidden = "n5"
    questions = [name for name in network.names if name != hidden and name not in ([targets] if seed != 2 else targets)]
    clf = SequentialClassifier.from_network(network, targets, questions=questions, feature_costs=0.02)
    best = all_orders(clf.model_, 0.02)
    assert clf.policy_.info.scope == "all orders"
    assert clf.expected_cost_ == pytest.approx(best, abs=1e-9)
    # and by a search that does not enumerate
    found = SequentialClassifier.from_network(
        network, targets, questions=questions, feature_costs=0.02, solver=Adaptive(max_nodes=0, random_state=0)
    )
    assert best - 1e-9 <= evaluate(found.problem_, found.policy_).cost <= 1.05 * best + 0.005
    assert found.policy_.info.lower <= best + 1e-9


@pytest.mark.slow
def test_networks_of_some_ten_thousand_partial_answers_are_solved_exactly() -> None:
    """The public network of a child's heart disease, with eight questions: 31,104 partial answers.

    Those that answer all eight are looked at, not kept.
    """
    (pgmpy,) = importlib.util.find_spec("pgmpy").submodule_search_locations  # type: ignore[union-attr,misc]
    path = Path(pgmpy) / "utils" / "example_models" / "child.bif.gz"
    if not path.exists():
        pytest.skip("this pgmpy comes without networks")
    questions = DiscreteNetwork.from_file(path, "Disease").questions_[:8]
    clf = SequentialClassifier.from_network(path, "Disease", questions=questions, feature_costs=0.03)
    info = clf.policy_.info
    assert (info.status, info.gap, info.size) == ("converged", 0.0, 31104 - np.prod(clf.problem_.n_outcomes))
    assert Adaptive().solve(clf.problem_).info.upper == pytest.approx(info.upper, abs=1e-12)
    # and it stays exact where an answer is not to be had
    case = clf.session()
    first = case.next_feature
    assert first is not None
    case.unavailable(first.name)
    left = [name for name in questions if name != first.name]
    rest = SequentialClassifier.from_network(path, "Disease", questions=left, feature_costs=0.03)
    following = case.next_feature
    assert (following and following.name) == (rest.session().next_feature and rest.session().next_feature.name)
    if following is not None:
        assert case.expected_cost - following.expected_saving == pytest.approx(rest.policy_.info.upper, abs=1e-9)


def test_cases_of_a_network_are_drawn_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    clf = SequentialClassifier.from_network(random_network(6, 12), "n0", solver=FirstK(0, certificate_paths=0))
    asked: list[int] = []
    stage_likelihood = DiscreteNetwork.stage_likelihood
    monkeypatch.setattr(DiscreteNetwork, "stage_likelihood", lambda *given: asked.append(1) or stage_likelihood(*given))
    cases = model_cases(clf.problem_, 2000, np.random.default_rng(0))
    assert (cases.X.shape, cases.exact, asked) == ((2000, 11), False, [])
    begun = clf.problem_.initial_belief()
    for j in range(11):
        share = np.bincount(cases.X[:, j]) / 2000
        np.testing.assert_allclose(share, begun.asking(j).outcome_probabilities[0, : len(share)], atol=0.05)
    other = clf.problem_.replace(prior=np.array([0.99, 0.01]))  # which the network does not draw from
    cases = model_cases(other, 300, np.random.default_rng(0))
    assert len(asked) > 11
    share = np.bincount(cases.X[:, 0]) / 300
    np.testing.assert_allclose(share, other.initial_belief().asking(0).outcome_probabilities[0, : len(share)], atol=0.1)


@pytest.mark.slow
def test_a_live_case_names_states(tmp_path: Path) -> None:
    network = random_network(6, 7)
    clf = SequentialClassifier.from_network(
        network, "n0", feature_costs={f"n{j}": 0.01 for j in range(1, 7)}, solver=QUICK
    )
    assert clf.classes_.tolist() == sorted(network.states[0])
    clf.save(tmp_path / "plan.seq")
    again = seqclass.load(tmp_path / "plan.seq")
    X, _ = clf.model_.sample(30, 0)
    frame = pd.DataFrame({n: np.array(clf.model_.states(j))[X[:, j]] for j, n in enumerate(clf.model_.questions_)})
    record, read = clf.acquire(frame), again.acquire(frame)
    for name in ("decision", "posterior", "paid", "order"):
        np.testing.assert_array_equal(getattr(record, name), getattr(read, name))
    session = again.session(known={"n1": network.states[1][0]}, first=["n2"])
    assert session.next_feature.name == "n2"
    session.observe("n2", network.states[2][0])
    codes = np.full((1, 6), -1)
    for column, node in ((0, 1), (1, 2)):
        codes[0, column] = clf.model_.outcomes_[column].index(network.states[node][0])
    np.testing.assert_allclose(session.posterior, clf.model_.posterior(codes)[0])
    with pytest.raises(ValueError, match="unknown category"):
        session.observe("n3", "never")
    assert "Decision" in str(again.explain(frame.iloc[[0]])[0])
    assert certify(again.problem_, again.policy_, n_paths=100).upper > 0
    rare = again.with_prior([0.99, 0.01])
    assert rare.problem_.prior.tolist() == [0.99, 0.01]
    assert SequentialClassifier.from_network(network, "n0", order="information").order_.size
    assert clone(clf).get_params()["prefit"] is True


def test_several_faults_and_their_costs() -> None:
    network = random_network(2, 6)
    n = 2 * network.sizes[3]
    costs = np.hstack([1 - np.eye(n), np.full((n, 1), 0.05)])
    settings: dict[str, Any] = {"feature_costs": Costs(decision_costs=costs, decisions=["refer"]), "solver": QUICK}
    clf = SequentialClassifier.from_network(network, ["n0", "n3"], **settings)
    assert len(clf.classes_) == n
    assert all(label.startswith("n0=") and ", n3=" in label for label in clf.classes_.tolist())
    assert clf.decisions_[-1] == "refer"
    assert evaluate(clf.problem_, clf.policy_).cost <= 0.05 + 1e-12


@pytest.mark.slow
def test_a_network_is_read_and_wrong_settings_are_named(tmp_path: Path) -> None:
    with pytest.raises(TypeError, match="pgmpy DiscreteBayesianNetwork"):
        SequentialClassifier.from_network(3, "n0")
    with pytest.raises(ValueError, match="target: the network has no node"):
        SequentialClassifier.from_network(random_network(1), "flu")
    with pytest.raises(ValueError, match="feature_costs"):
        SequentialClassifier.from_network(random_network(1), "n0", feature_costs={"n1": 0.1})
    with pytest.raises(FileNotFoundError):
        SequentialClassifier.from_network(tmp_path / "none.bif", "n0")


def test_what_is_known_is_as_likely_as_the_network_says() -> None:
    network = random_network(26, 5)
    for order in ("conditional", "adaptive"):
        clf = SequentialClassifier.from_network(network, "n0", known=["n2"], max_features=0, order=order)
        chance = DiscreteNetwork(network, "n2").fit().posterior(np.full((1, 4), -1))[0]
        starts = clf.problem_.structure.starts
        assert starts is not None
        assert sorted(starts.weight) == pytest.approx(sorted(chance))
    with pytest.raises(ValueError, match="known: what a column makes needless is learnt from rows"):
        SequentialClassifier.from_network(network, "n0", known={"n2": "n1"})


def test_damage_to_a_network_in_a_file_is_found(tmp_path: Path) -> None:
    clf = SequentialClassifier.from_network(random_network(3), "n0", solver=QUICK)
    good = tmp_path / "plan.seq"
    for name, value in (("class_prior_", np.array([0.4, 0.6])), ("questions_", ["n1"] * 5), ("_states", [(1,), (0,)])):
        model = DiscreteNetwork(clf.model_.network_, "n0", clf.model_.questions_).fit()
        assert value != getattr(model, name) if name != "class_prior_" else True
        setattr(model, name, value)
        seqclass.persistence.save(model, good)
        with pytest.raises(ValueError, match="not that of the network"):
            seqclass.load(good)
    tables = NetworkTables(["a"], [["x", "y"]], [[]], [np.array([0.5, 0.5])])
    tables.tables[0][:] = [0.5, 0.9]
    seqclass.persistence.save(tables, good)
    with pytest.raises(ValueError, match="sum to 1"):
        seqclass.load(good)
    clf.save(good)
    assert not any(name.endswith("pkl") for name in zipfile.ZipFile(good).namelist())


def test_a_model_that_is_fitted_stays_as_it_is() -> None:
    rng = np.random.default_rng(0)
    X, y = rng.integers(0, 3, (60, 4)), rng.integers(0, 2, 60)
    model = TreeNetwork().fit(X, y)
    more = rng.integers(0, 2, (40, 4))
    clf = SequentialClassifier(model, discretizer="precomputed", prefit=True).fit(more, rng.integers(0, 2, 40))
    assert clf.model_ is model
    assert clf.problem_.n_outcomes.tolist() == [3] * 4  # which the data did not show
    fitted = SequentialClassifier(model, discretizer="precomputed").fit(more, y[:40])
    assert fitted.model_ is not model
    assert fitted.model_.n_outcomes_.tolist() == [2] * 4
    for wrong, labels, words in (
        (X[:, :3], y, "3 features, and the prefit observation_model 4"),
        (X, y + 1, "2, which is no class of the prefit observation_model: it has 0, 1."),
        (X, y.astype(str), "'0', which is no class .* has 0, 1"),
        (X + 1, y, "4 outcomes in the data, and 3"),
    ):
        with pytest.raises(ValueError, match=words):
            SequentialClassifier(model, discretizer="precomputed", prefit=True).fit(wrong, labels)
    with pytest.raises(ValueError, match="needs an observation_model that is fitted"):
        SequentialClassifier(NaiveBayes(), prefit=True).fit(X, y)


def test_a_network_beside_data_learns_nothing() -> None:
    model = DiscreteNetwork(random_network(6, 5), "n0").fit()
    X, y = model.sample(200, 0)
    clf = SequentialClassifier(model, discretizer="precomputed", prefit=True, order="adaptive", solver=QUICK).fit(X, y)
    np.testing.assert_array_equal(clf.model_.posterior(X), model.posterior(X))
    assert clf.score(X, y) > np.unique(y, return_counts=True)[1].max() / 200 - 0.05


@pytest.fixture(scope="module")
def rare() -> tuple[SequentialClassifier, pd.DataFrame, Any]:
    """A plan for a network one of whose states few rows show, and rows."""
    tables = [
        np.array([0.6, 0.4]),
        np.array([[0.7, 0.3], [0.29, 0.6], [0.01, 0.1]]),
        np.array([[0.9, 0.2], [0.1, 0.8]]),
    ]
    states = [["no", "yes"], ["low", "some", "high"], ["neg", "pos"]]
    network = NetworkTables(["flu", "fever", "swab"], states, [[], [0], [0]], tables)
    clf = SequentialClassifier.from_network(network, "flu", feature_costs={"fever": 0.01, "swab": 0.02}, solver=QUICK)
    X, y = clf.model_.sample(30, 0)
    frame = pd.DataFrame({n: np.array(clf.model_.states(j))[X[:, j]] for j, n in enumerate(clf.model_.questions_)})
    frame["fever"] = ["high", *["low", "some"] * 14, "low"]
    return clf, frame, y


@pytest.mark.slow
def test_a_plan_is_cross_validated_and_searched(rare: Any) -> None:
    clf, frame, y = rare
    scores = cross_val_score(clf, frame, y, cv=KFold(3), error_score="raise")
    assert scores.mean() > 0.6
    again = clone(clf).fit(frame.iloc[10:], y[10:])  # rows without a high fever
    np.testing.assert_array_equal(again.model_.network_.tables[1], clf.model_.network_.tables[1])
    np.testing.assert_allclose(again.predict_proba(frame), clf.predict_proba(frame))
    prices = {"feature_costs": [0.001, 0.3]}
    search = GridSearchCV(clf, prices, cv=KFold(2), error_score="raise").fit(frame, y)
    assert search.best_params_ == {"feature_costs": 0.001}
    unfitted = clone(clf).set_params(observation_model=clone(clf.observation_model))
    assert unfitted.fit(frame, y).classes_.tolist() == ["no", "yes"]


def test_columns_in_another_order_are_not_taken_for_others(rare: Any) -> None:
    clf, frame, y = rare
    with pytest.raises(ValueError, match="X must have its columns in the order of the model's features: 'fever', 's"):
        clone(clf).fit(frame[["swab", "fever"]], y)
    with pytest.raises(ValueError, match="unknown category 'never'"):
        clone(clf).fit(frame.assign(fever="never"), y)


def test_columns_in_another_order_are_not_taken_for_the_items_of_a_model_that_is_given() -> None:
    model = ItemResponse.from_items({"b": [0.0, 1.0, -1.0], "item": ["p", "q", "r"]}, [0.0], points=11)
    rows, y = model.sample(60, 0)
    X, settings = pd.DataFrame(rows, columns=list("pqr")), {"prefit": True, "discretizer": "precomputed"}
    clf = SequentialClassifier(model, **settings)
    plain = clone(clf).fit(X, y).predict_proba(X)
    for fit in (lambda Z: clone(clf).fit(Z, y), lambda Z: clone(clf).fit_chunks([(Z, y)])):
        with pytest.raises(ValueError, match="in the order of the prefit observation_model: 'p', 'q', 'r'"):
            fit(X[["q", "p", "r"]])
        other = fit(X.set_axis(["x", "y", "z"], axis=1))  # names of others say nothing
        assert_allclose(other.predict_proba(X.set_axis(["x", "y", "z"], axis=1)), plain)


@pytest.mark.parametrize("discretizer", [None, "precomputed"])
def test_states_of_a_given_model_are_numbered_as_it_numbers_them(discretizer: str | None) -> None:
    """Categories were sorted, and "maybe" was taken for the model's first state, whichever that was."""
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 120)
    codes = np.column_stack([np.where(rng.random(120) < 0.8, y, 2), rng.integers(0, 2, 120)])
    states = {"pain": ["no", "yes", "maybe"], "sex": ["m", "f"]}
    frame = pd.DataFrame({name: np.array(own)[column] for (name, own), column in zip(states.items(), codes.T)})
    model = TreeNetwork().fit(codes, np.array(["well", "ill"])[y], n_outcomes=[3, 2])
    model.feature_names_, model.state_names_ = list(states), dict(enumerate(states.values()))
    clf = SequentialClassifier(model, prefit=True, discretizer=discretizer)
    y = np.array(["well", "ill"])[y]
    for fitted in (clone(clf).fit(frame, y), clone(clf).fit_chunks([(frame[:60], y[:60]), (frame[60:], y[60:])])):
        assert (fitted.predict(frame[codes[:, 0] < 2]) == y[codes[:, 0] < 2]).all()
        assert fitted.explain(frame[:1])[0].steps[0].value == frame["pain"][0]
    with pytest.raises(ValueError, match="in the order of the model's features: 'pain', 'sex'"):
        clone(clf).fit(frame[["sex", "pain"]], y)


def test_a_model_that_is_given_stays_in_clones() -> None:
    model = ItemResponse.from_items({"a": [2.0, 1.0], "b": [0.0, 0.5]}, cuts=[0.0], labels=["fail", "pass"])
    clf = SequentialClassifier.from_model(model, feature_costs=0.02)
    X, y = model.sample(40, 0)
    scores = cross_val_score(clf, X, y, cv=2, error_score="raise")
    assert scores.tolist() == cross_val_score(FrozenEstimator(clf), X, y, cv=2).tolist()
    other = clone(clf)
    assert other.observation_model is not model  # whose settings a search would change
    with pytest.raises(ValueError, match=r"sklearn\.frozen\.FrozenEstimator"):
        other.set_params(observation_model=clone(model)).fit(X, y)


def test_what_is_impossible_by_a_network_is_named() -> None:
    tables = [np.array([1.0, 0.0]), np.array([[1.0, 0.5], [0.0, 0.5]])]
    model = DiscreteNetwork(NetworkTables(["flu", "fever"], [["no", "yes"]] * 2, [[], [0]], tables), "flu").fit()
    with pytest.raises(
        ValueError, match=r"outcome 1 of feature 0 \('fever': 'yes'\) has probability zero by"
    ) as caught:
        model.posterior([[0], [1]])
    assert "smooth" not in str(caught.value)


def test_what_genie_ranks_by() -> None:
    rng = np.random.default_rng(0)
    tables = np.moveaxis(rng.dirichlet([1, 1, 1], (5, 2)), 2, 1)
    problem = TableProblem([0.3, 0.7], tables, prices=rng.uniform(0.01, 0.05, 5), any_order=True)
    belief = problem.initial_belief()
    prior = np.array([0.3, 0.7])
    entropy = -(prior * np.log(prior)).sum()
    shares = []
    for table in tables:
        both = table * prior
        after = both / both.sum(axis=1, keepdims=True)
        shares.append(1 + (both * np.log(after)).sum() / entropy)
    np.testing.assert_allclose(CrossEntropy().scores(belief)[0], shares)
    np.testing.assert_allclose(CrossEntropy(per_price=True).scores(belief)[0], shares / problem.prices)
    sure = TableProblem([1.0, 0.0], tables, prices=0.1, any_order=True).initial_belief()
    assert np.isfinite(CrossEntropy().scores(sure)).all()


def test_a_network_that_is_too_large_says_what_it_takes(tmp_path: Path) -> None:
    network = random_network(6, 6)
    with pytest.raises(
        ValueError, match=r"max_cells=2 are the most.* set max_cells to \d+: it takes about .* of memory"
    ):
        SequentialClassifier.from_network(network, "n0", max_cells=2)
    clf = SequentialClassifier.from_network(network, "n0", max_cells=200, solver=QUICK)
    clf.save(tmp_path / "plan.seq")
    again = seqclass.load(tmp_path / "plan.seq")
    assert again.model_.max_cells == 200
    X, _ = clf.model_.sample(20, 0)
    np.testing.assert_allclose(again.predict_proba(frame(clf, X)), clf.predict_proba(frame(clf, X)), atol=1e-12)


def frame(clf: SequentialClassifier, X: Any) -> pd.DataFrame:
    model = clf.model_
    return pd.DataFrame({n: np.array(model.outcomes_[j])[X[:, j]] for j, n in enumerate(model.questions_)})


def test_one_step_is_tried_where_hardly_anything_pays() -> None:
    network = random_network(6, 6)
    clf = SequentialClassifier.from_network(
        network, "n0", feature_costs=0.02, solver=Adaptive([ClassInformation()], max_nodes=0, one_step=True)
    )
    tried = clf.policy_.info.ordering.candidates
    assert tried[0].name == "one step"
    assert evaluate(clf.problem_, clf.policy_).cost <= clf.problem_.initial_belief().stopping_cost[0] + 1e-12


def certain() -> NetworkTables:
    """A cause whose sign cannot be missing, a copy of that sign, and states that are called by numbers with a point."""
    tables = [
        np.array([0.7, 0.3]),
        np.array([[0.6, 0.0], [0.4, 1.0]]),
        np.array([[1.0, 0.0], [0.0, 1.0]]),
        np.array([[0.5, 0.1], [0.3, 0.2], [0.2, 0.7]]),
    ]
    states = [["0.0", "1.0"], ["False", "True"], ["x", "y"], ["1.0", "1.5", "2.0"]]
    return NetworkTables(["ill", "sign", "copy", "grade"], states, [[], [0], [1], [0]], tables)


def test_an_impossible_answer_is_named_with_what_it_contradicts() -> None:
    clf = SequentialClassifier.from_network(certain(), "ill", feature_costs=0.0)
    case = clf.session()
    case.observe("sign", True)
    with pytest.raises(ValueError, match=r"^copy = x is impossible given sign = True: take back by undo\(\)"):
        case.observe("copy", "x")
    assert [answer.name for answer in case.history] == ["sign"]
    case.undo()
    case.unavailable("grade")  # which contradicts nothing
    case.observe("sign", True)
    with pytest.raises(ValueError, match=r"^copy = x is impossible given sign = True: take back"):
        case.observe("copy", "x")
    case.undo()
    case.observe("sign", False)
    case.observe("copy", "x")
    assert case.posterior.tolist() == [1.0, 0.0]
    with pytest.raises(ValueError, match="copy = x is impossible given sign = True: correct what was told as known"):
        clf.session(known={"sign": True, "copy": "x"})
    row = pd.DataFrame({"sign": [True], "copy": ["x"], "grade": [None]})
    known = np.array([[True, True, False]])
    for ask in (clf.predict, clf.explain, lambda X: clf.next_question(X, known)):
        with pytest.raises(ValueError, match=r"a row of X is impossible by the model: (copy = x|sign = True) has prob"):
            ask(row)


@pytest.mark.parametrize("value, state", [(2.5, "2.50"), (0.5, ".50"), (-3, "-3.00"), (0.1, "0.1")])
def test_states_that_are_written_with_more_digits_than_a_float(value: Any, state: str) -> None:
    states = ["2.50", ".50", "-3.00", "0.1", "0.10", "1.50", "1.500"]
    shares = np.array([[1, 2, 3, 4, 5, 6, 7], [9, 7, 5, 6, 4, 3, 2]]).T
    tables = [np.array([0.7, 0.3]), shares / shares.sum(axis=0)]
    network = NetworkTables(["ill", "dose"], [["a", "b"], states], [[], [0]], tables)
    clf = SequentialClassifier.from_network(network, "ill", feature_costs=0.0)
    wanted = clf.predict_proba(pd.DataFrame({"dose": [state]}))
    assert clf.predict_proba(pd.DataFrame({"dose": [value]})).tolist() == wanted.tolist()
    case = clf.session()
    case.observe("dose", value)
    assert case.posterior.tolist() == wanted[0].tolist()
    for other in (1.5, "2.500"):  # which may be either of two, and another text
        with pytest.raises(ValueError, match=f"unknown category {other!r}"):
            clf.session().observe("dose", other)


@pytest.mark.parametrize("grade", [2.0, 2, "2.0", "2", np.float32(2), np.int64(2)])
def test_states_that_are_numbers_with_a_point(grade: Any) -> None:
    """pgmpy's states may be floats, which data frames, files and sessions write without a point where they can."""
    clf = SequentialClassifier.from_network(certain(), "ill", questions=["grade"], feature_costs=0.0)
    case = clf.session()
    case.observe("grade", grade)
    assert case.posterior[1] == pytest.approx(0.3 * 0.7 / (0.3 * 0.7 + 0.7 * 0.2))
    assert clf.predict_proba(pd.DataFrame({"grade": [grade]}))[0] == pytest.approx(case.posterior)
    with pytest.raises(ValueError, match="the unknown category 3"):
        clf.session().observe("grade", 3.0)


def test_a_target_that_is_a_number(tmp_path: Path) -> None:
    """As pgmpy's nodes may be, of which the texts are the names."""
    tables = [np.array([0.6, 0.4]), np.array([[0.8, 0.3], [0.2, 0.7]])]
    network = NetworkTables(["0", "1"], [["0", "1"]] * 2, [[], [0]], tables)
    clf = SequentialClassifier.from_network(network, 0, feature_costs=0.01)
    clf.save(tmp_path / "plan.seq")
    for found in (clf, seqclass.load(tmp_path / "plan.seq")):
        assert found.feature_names_in_.tolist() == ["1"]
        assert found.model_.class_prior_.tolist() == [0.6, 0.4]
    with pytest.raises(ValueError, match=r"^target: the network has no node '2'; it has '0', '1'"):
        SequentialClassifier.from_network(network, 2)


@pytest.mark.parametrize("kind", [int, float, bool, str])
def test_labels_that_are_numbers_where_states_are_texts(kind: type) -> None:
    states = ["False", "True"] if kind is bool else ["0", "1"]
    tables = [np.array([0.6, 0.4]), np.array([[0.8, 0.3], [0.2, 0.7]])]
    clf = SequentialClassifier.from_network(NetworkTables(["a", "b"], [states] * 2, [[], [0]], tables), "a")
    X, y = pd.DataFrame({"b": [states[0], states[1], states[1], states[0]]}), [0, 1, 0, 0]
    labels = pd.Series([states[i] for i in y] if kind is str else [kind(i) for i in y], dtype="category")
    assert clf.score(X, labels) == seqclass.metrics.score_rows(clf, X, labels).accuracy == 0.75
    assert clf.score(X, ["none of these"] * 4) == 0


def test_joint_states_are_told_apart() -> None:
    """Their names hold commas, which also stood between them."""
    clf = SequentialClassifier.from_network(certain(), ["ill", "sign"], questions=["grade"], feature_costs=0.1)
    assert "; ill=1.0, sign=True 30.0%" in str(clf.explain(pd.DataFrame({"grade": [None]}))[0])
