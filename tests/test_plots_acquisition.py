"""Pictures of what was acquired, and policies as decision graphs: what is drawn is what was recorded."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import matplotlib
import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, load_iris

from seqclass import SequentialClassifier
from seqclass._record import AcquisitionRecord
from seqclass.analysis import decision_graph
from seqclass.bn import TreeNetwork
from seqclass.plots import AcquisitionMapDisplay, FeatureCountDisplay, StagewiseCalibrationDisplay
from seqclass.pomdp import FunctionPolicy, GridValueIteration, Policy, RandomisedPolicy, TableProblem

matplotlib.use("Agg")
import matplotlib.pyplot as plt

COIN = np.array([[[0.9, 0.2], [0.1, 0.8]]] * 3)


@pytest.fixture(autouse=True)
def no_figure_stays() -> Iterator[None]:
    yield
    plt.close("all")


@pytest.fixture(scope="module")
def cancer() -> tuple[SequentialClassifier, Any, Any]:
    X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    y = np.array(["malignant", "benign"])[y]
    return SequentialClassifier(feature_costs=0.003).fit(X[::2], y[::2]), X[1::2], y[1::2]


@pytest.fixture
def record() -> AcquisitionRecord:
    """Three instances; the second one's first feature is missing."""
    return AcquisitionRecord(
        decision=np.array(["a", "b", "b"]),
        posterior=np.array([[0.9, 0.1], [0.3, 0.7], [0.2, 0.8]]),
        n_features=np.array([1, 1, 2]),
        cost=np.array([0.1, 0.1, 0.2]),
        order=np.array([[4, -1], [4, 1], [4, 1]]),
        outcome=np.array([[0, -1], [-1, 1], [1, 1]]),
        beliefs=np.array([[[0.5, 0.5], [0.9, 0.1], [0.9, 0.1]], [[0.5, 0.5]] * 2 + [[0.3, 0.7]]] * 2)[:3],
    )


def test_map_by_hand(record: AcquisitionRecord) -> None:
    display = AcquisitionMapDisplay.from_record(record, ["a", "b", "b"])
    assert display.features == ["x4", "x1"]
    assert display.classes == ["a", "b"]
    np.testing.assert_allclose(display.share, [[1.0, 0.0], [0.5, 1.0]])
    assert [t.get_text() for t in display.ax_.get_yticklabels()] == ["a (n = 1)", "b (n = 2)"]


def test_map_of_classifier_says_what_it_leaves_out(cancer: tuple[SequentialClassifier, Any, Any]) -> None:
    clf, X, y = cancer
    record = clf.acquire(X)
    display = AcquisitionMapDisplay.from_estimator(clf, X, y, max_features=2)
    for j, name in enumerate(display.features):
        column = list(X.columns).index(name)
        for i, label in enumerate(display.classes):
            assert display.share[i, j] == pytest.approx((record.order[y == label] == column).any(axis=1).mean())
    assert display.features == [X.columns[c] for c in clf.order_[: len(display.features)]]
    assert display.image_.get_array().shape == (2, 2)
    display.figure_.draw_without_rendering()
    for text in display.figure_.findobj(matplotlib.text.Text):
        if text.get_text() and text.get_visible():
            box = text.get_window_extent()
            assert min(box.x0, box.y0) > -1, text
            assert box.x1 < display.figure_.bbox.width + 1, text
            assert box.y1 < display.figure_.bbox.height + 1, text
    assert f"the first 2 of {len(display.features)}" in display.ax_.get_xlabel()


def test_nothing_acquired() -> None:
    empty = np.empty((2, 0), dtype=int)
    nothing = AcquisitionRecord(np.array([0, 1]), np.full((2, 2), 0.5), np.zeros(2, int), np.zeros(2), empty, empty)
    assert AcquisitionMapDisplay.from_record(nothing, [0, 1]).ax_.get_xlabel() == "no feature was acquired"
    assert FeatureCountDisplay.from_record(nothing, [0, 1]).share.tolist() == [[1.0], [1.0]]


def test_map_and_labels_refuse_what_does_not_fit(record: AcquisitionRecord) -> None:
    with pytest.raises(ValueError, match="one label for each of the record's 3"):
        AcquisitionMapDisplay.from_record(record, ["a"])
    with pytest.raises(ValueError, match="share must be between 0 and 1"):
        AcquisitionMapDisplay([[1.5]], ["x"], ["a"])
    with pytest.raises(ValueError, match="share"):
        AcquisitionMapDisplay([[1.0]], ["x", "y"], ["a"])


def test_counts_are_the_classes_histograms(cancer: tuple[SequentialClassifier, Any, Any]) -> None:
    clf, X, y = cancer
    number = clf.acquire(X).n_features
    display = FeatureCountDisplay.from_estimator(clf, X, y)
    for i, label in enumerate(display.classes):
        mine = number[y == label]
        np.testing.assert_allclose(display.share[i] * mine.size, np.bincount(mine, minlength=number.max() + 1))
        assert display.mean[i] == pytest.approx(mine.mean())
        heights = [bar.get_height() for bar in display.bars_[i]]
        np.testing.assert_allclose(heights, display.share[i] / display.share.max() * 0.82)


def test_many_counts_share_bars() -> None:
    display = FeatureCountDisplay(np.arange(100), np.zeros(100))
    assert display.edges[1] == 3
    assert display.share.shape == (1, 34)
    assert display.share.sum() == pytest.approx(1.0)


def test_calibration_takes_the_belief_after_the_kth_answer(record: AcquisitionRecord) -> None:
    settings: dict[str, Any] = {"classes": ["a", "b"], "counts": [0, 1, 2], "n_bins": 1}
    display = StagewiseCalibrationDisplay.from_record(record, ["a", "b", "a"], **settings)
    np.testing.assert_allclose(display.confidence[1], (0.9 + 0.7 + 0.9) / 3)  # the second's first answer was missing
    np.testing.assert_allclose(display.accuracy[1], 1.0)
    assert display.size[2].tolist() == [1]
    np.testing.assert_allclose(display.accuracy[0], 2 / 3)


def test_calibration_of_a_true_model_is_good() -> None:
    rng = np.random.default_rng(0)
    y = rng.integers(2, size=20_000)
    X = (rng.random((len(y), 6)) < np.where(y, 0.8, 0.25)[:, None]).astype(int)
    clf = SequentialClassifier(discretizer="precomputed", feature_costs=0.005).fit(X, y)
    display = StagewiseCalibrationDisplay.from_estimator(clf, X, y)
    assert len(display.lines_) == len(display.counts) > 2
    assert max(display.error.values()) < 0.02


def test_calibration_points_stand_for_enough_instances() -> None:
    belief = np.linspace(0.5, 1.0, 65)
    display = StagewiseCalibrationDisplay({3: np.column_stack([belief, 1 - belief])}, {3: belief > 0.6}, n_bins=8)
    assert display.size[3].min() >= 20
    assert display.size[3].sum() == 65


def test_calibration_refuses(record: AcquisitionRecord, cancer: tuple[SequentialClassifier, Any, Any]) -> None:
    clf, X, y = cancer
    with pytest.raises(ValueError, match="record_beliefs=True"):
        StagewiseCalibrationDisplay.from_record(clf.acquire(X), y, classes=clf.classes_)
    with pytest.raises(ValueError, match="classes must have 2 labels"):
        StagewiseCalibrationDisplay.from_record(record, ["a"] * 3, classes=["a"])
    with pytest.raises(ValueError, match="0 to 2"):
        StagewiseCalibrationDisplay.from_record(record, ["a"] * 3, classes=["a", "b"], counts=[3])


STRING = r'"(?:[^"\\]|\\.)*"'
ATTRIBUTE = re.compile(rf"(\w+)=({STRING}|\w+)(?:, |$)")


def parse(text: str) -> tuple[dict[str, dict[str, str]], dict[str, dict[int, str]], dict[str, float]]:
    """Nodes with attributes, successors by outcome, and the sum of probabilities out of each node."""
    lines = text.splitlines()
    assert lines[0] == "digraph policy {"
    assert lines[-1] == "}"
    nodes: dict[str, dict[str, str]] = {}
    edges: dict[str, dict[int, str]] = {}
    total: dict[str, float] = {}
    for line in lines[4:-1]:
        match = re.fullmatch(rf"  (n\d+)(?: -> (n\d+))? \[((?:{STRING}|[^\"])*)\];", line)
        assert match, line
        found = ATTRIBUTE.findall(match[3])
        assert "".join(f"{k}={v}, " for k, v in found)[:-2] == match[3]
        attributes = {k: v[1:-1] if v[0] == '"' else v for k, v in found}
        if match[2] is None:
            nodes[match[1]] = attributes
            continue
        total[match[1]] = total.get(match[1], 0.0) + float(attributes["probability"])
        for outcome in attributes["outcomes"].split():
            assert int(outcome) not in edges.setdefault(match[1], {})
            edges[match[1]][int(outcome)] = match[2]
    return nodes, edges, total


def assert_agrees(text: str, policy: Policy) -> int:
    """Follow every way through the graph beside the policy; return how many ends were met."""
    nodes, edges, total = parse(text)
    assert all(value == pytest.approx(1.0) for value in total.values())
    frontier, ends = [("n0", policy.begin()[0], 1.0)], 0
    reach = dict.fromkeys(nodes, 0.0)
    while frontier:
        name, info, mass = frontier.pop()
        node, feature = nodes[name], int(policy.act(info)[0])
        reach[name] += mass
        if node["kind"] == "rare":
            ends += 1
        elif node["kind"] == "decide":
            assert feature == -1
            assert int(node["decision"]) == policy.decide(info.belief)[0]
            ends += 1
        else:
            assert (int(node["stage"]), int(node["feature"])) == (info.stage, feature)
            for outcome, child in edges.get(name, {}).items():
                frontier.append((child, info.update(np.array([outcome])), mass * info.predictive[0, outcome]))
    for name, node in nodes.items():
        assert float(node["reach"]) == pytest.approx(reach[name], abs=1e-9)
    return ends


@pytest.mark.parametrize("model", [None, TreeNetwork()])
@pytest.mark.parametrize(("depth", "least"), [(0, 0.01), (2, 0.05), (4, 0.001)])
def test_graph_agrees_with_policy(model: Any, depth: int, least: float) -> None:
    X, y = load_iris(return_X_y=True)
    clf = SequentialClassifier(model, feature_costs=0.01).fit(X, y)
    text = decision_graph(clf.policy_, max_depth=depth, min_probability=least)
    assert assert_agrees(text, clf.policy_) >= min(depth, 2)


def test_graph_merges_histories_that_go_on_alike() -> None:
    policy = FunctionPolicy(TableProblem([0.5, 0.5], COIN, prices=0.01), lambda info: True)
    nodes, _, _ = parse(decision_graph(policy))
    # after three equal coins the majority decides: ask 1, ask 2 or 1, 0 or 1 answers so far, two decisions
    assert [node["kind"] for node in nodes.values()].count("decide") == 2
    assert [int(n["stage"]) for n in nodes.values() if n["kind"] == "ask"].count(2) <= 3
    assert_agrees(decision_graph(policy), policy)


def test_graph_quotes_names() -> None:
    policy = GridValueIteration().solve(TableProblem([0.5, 0.5], COIN[:1], prices=0.1))
    wild = 'a "b" \\ [c] -> d; {e}\n&lt;'
    text = decision_graph(policy, names={0: wild}, decisions=[wild, "x\\"], outcomes={0: ['"', "\\"]})
    nodes, _, _ = parse(text)
    assert nodes["n0"]["label"] == r"ask a \"b\" \\ [c] -> d; {e}\n&amp;lt;\nreached 100%"
    assert_agrees(text, policy)


def test_graph_of_a_randomised_policy_starts_with_a_lot() -> None:
    problem = TableProblem([0.5, 0.5], COIN, prices=0.04)
    stop = FunctionPolicy(problem, lambda info: False)
    go_on = FunctionPolicy(problem, lambda info: info.stage < 1)
    nodes, edges, total = parse(decision_graph(RandomisedPolicy([stop, go_on], [0.25, 0.75])))
    assert nodes["n0"]["kind"] == "lots"
    assert {nodes[child]["kind"] for child in edges["n0"].values()} == {"decide", "ask"}
    assert all(value == pytest.approx(1.0) for value in total.values())


def test_graph_refuses() -> None:
    policy = FunctionPolicy(TableProblem([0.5, 0.5], COIN, prices=0.1), lambda info: True)
    with pytest.raises(ValueError, match="max_depth"):
        decision_graph(policy, max_depth=-1)
    with pytest.raises(ValueError, match="min_probability"):
        decision_graph(policy, min_probability=0.0)
