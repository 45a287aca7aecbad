"""Policies as decision graphs: the graph does what the policy does, and Graphviz reads it."""

from __future__ import annotations

import re
import shutil
import subprocess
import xml.etree.ElementTree as ET
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_breast_cancer, load_iris
from sklearn.exceptions import NotFittedError

from seqclass import Costs, SequentialClassifier
from seqclass.analysis import decision_graph
from seqclass.bn import TreeNetwork
from seqclass.costs import Visits
from seqclass.pomdp import FirstK, FunctionPolicy, GridValueIteration, Panels, Policy, TableProblem
from seqclass.pomdp.account import price_of_question, prices_without_visits
from seqclass.pomdp.sweeps.budget import RandomisedPolicy
from seqclass.pomdp.visits import with_visits
from seqclass.pomdp.walk import order_next_panel

COIN = np.array([[[0.9, 0.2], [0.1, 0.8]]] * 3)
STRING = r'"(?:[^"\\]|\\.)*"'
ATTRIBUTE = re.compile(rf"(\w+)=({STRING}|\w+)(?:, |$)")
#: Quotes, backslashes, escapes of Graphviz, HTML, entities, line ends, other scripts, and what no XML can hold.
WILD = 'a "b" \\N \\G\\ [c] -> d; {e|f}\n<b>&lt;</b> Größe 漢字\x00\x1b\ud800'
SPOKEN = 'a "b" \\N \\G\\ [c] -> d; {e|f} <b>&lt;</b> Größe 漢字'


def parse(text: str) -> tuple[dict[str, dict[str, str]], dict[str, dict[int, str]], dict[str, float]]:
    """Nodes with attributes, successors by outcome, and the sum of probabilities out of each node."""
    lines = text.splitlines()
    assert lines[0] == "digraph policy {"
    assert lines[-1] == "}"
    nodes: dict[str, dict[str, str]] = {}
    edges: dict[str, dict[int, str]] = {}
    total: dict[str, float] = {}
    for line in lines:
        if not line.startswith("  n") or line.startswith("  node"):
            continue
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


def assert_agrees(
    text: str, policy: Policy, missing: float = 0.0, support: Any = None, charged: bool = False, depth: int = 0
) -> int:
    """Follow every way through the graph beside the policy; return how many ends were met."""
    nodes, edges, total = parse(text)
    assert all(value == pytest.approx(1.0) for value in total.values())
    frontier, ends = [("n0", policy.initial_belief()[0], 1.0)], 0
    joint = {name: np.zeros(policy.problem.n_classes) for name in nodes}
    prices: dict[str, list[float]] = {name: [] for name in nodes}
    while frontier:
        name, belief, mass = frontier.pop()
        node, question = nodes[name], int(policy.action(belief)[0])
        feature = question if question < 0 else int(policy.problem.features[question])
        joint[name] += mass * belief.probabilities[0]
        if node["kind"] == "rare":
            assert feature != -1  # what decides is drawn as such, however rare
            ends += 1
        elif node["kind"] == "decide":
            assert feature == -1
            assert int(node["decision"]) == policy.problem.decide(belief.probabilities)[0]
            ends += 1
        else:
            number = feature if support is None else int(support[feature])
            assert (int(node["stage"]), int(node["feature"])) == (belief.stage, number)
            prices[name].append(float(price_of_question(belief)[0]))
            if node["kind"] == "more" and belief.stage < depth:  # a question is left out only if no answer decides
                possible = np.flatnonzero(belief.outcome_probabilities[0] > 0)
                assert (policy.action(belief.update(possible, rows=np.zeros(len(possible), dtype=int))) != -1).all()
            for outcome, child in edges.get(name, {}).items():
                share = missing if outcome < 0 else (1 - missing) * belief.outcome_probabilities[0, outcome]
                frontier.append((child, belief.update(np.array([outcome]), charge_missing=charged), mass * share))
    for name, node in nodes.items():
        assert float(node["reach"]) == pytest.approx(joint[name].sum(), abs=1e-9)
        belief = [float(p) for p in node["posterior"].split()]
        assert belief == pytest.approx((joint[name] / joint[name].sum()).tolist(), abs=1e-5)
        if prices[name]:
            assert [float(p) for p in node["prices"].split()] == pytest.approx([min(prices[name]), max(prices[name])])
    return ends


@pytest.mark.covering(1)
@pytest.mark.parametrize("model", [None, TreeNetwork()])
@pytest.mark.parametrize(("depth", "least", "missing"), [(0, 0.01, 0.0), (2, 0.05, 0.2), (4, 0.001, 0.0)])
def test_graph_agrees_with_policy(model: Any, depth: int, least: float, missing: float) -> None:
    X, y = load_iris(return_X_y=True)
    clf = SequentialClassifier(model, feature_costs=0.01).fit(X, y)
    settings = {"max_depth": depth, "min_probability": least, "missing": missing, "max_nodes": 500}
    text = decision_graph(clf.policy_, **settings)
    assert assert_agrees(text, clf.policy_, missing) >= min(depth, 2)
    mine = decision_graph(clf, **settings)
    assert_agrees(mine, clf.policy_, missing, clf.support_)


def grouped(**settings: Any) -> SequentialClassifier:
    """A classifier with categories, two features of a group, dropped columns, a further decision, and wild names."""
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 1500)
    kind = np.array(["red, dark", 'gr"een', "blue {x|y}", "<i>"])[np.clip(y + rng.integers(0, 3, len(y)), 0, 3)]
    X = pd.DataFrame(
        {
            "unused": rng.normal(size=len(y)),
            'a "q"\\': np.where(rng.random(len(y)) < 0.8, y, 1 - y) + 0.3 * rng.normal(size=len(y)),
            "<b>\nß &lt;": pd.Categorical(kind),
            "z" * 90: y + rng.normal(size=len(y)),
        }
    )
    decisions = {"decision_costs": [[0, 1, 0.12], [1, 0, 0.12]], "decisions": ["refer & <wait>"]}
    groups = {"groups": ["h", "g", "g", None], "discounted_costs": 0.005}
    costs = Costs([0.02, 0.02, 0.03, 0.01], **groups, **decisions, **settings)
    order = ['a "q"\\', "<b>\nß &lt;", "z" * 90]
    return SequentialClassifier(order=order, feature_costs=costs).fit(X, np.array(["well", "ill"])[y])


@pytest.mark.parametrize("charged", [False, True])
def test_prices_of_groups_and_missing_answers(charged: bool) -> None:
    clf = grouped(charge_missing=charged)
    text = decision_graph(clf, missing=0.1, max_depth=3)
    assert_agrees(text, clf.policy_, 0.1, clf.support_, charged)
    nodes, edges, _ = parse(text)
    prices = {node["prices"] for node in nodes.values() if node.get("feature") == "2"}
    assert prices == ({"0.005 0.005"} if charged else {"0.005 0.03", "0.005 0.005"})
    assert nodes["n0"]["label"].startswith(r"ask a \"q\"\\ for 0.02\nreached 100%\n")
    assert -1 in edges["n0"]


def test_a_price_that_depends_on_the_way() -> None:
    problem = TableProblem([0.5, 0.5], COIN[:2], prices=[0.02, 0.01], groups=[0, 0], full_prices=[0.02, 0.04])
    text = decision_graph(FunctionPolicy(problem, lambda info: True), missing=0.5, max_depth=1)
    assert_agrees(text, FunctionPolicy(problem, lambda info: True), 0.5)
    assert "ask feature 1 for 0.01 to\\n0.04\\nand so on" in text


@pytest.mark.slow
def test_words_of_a_classifier() -> None:
    X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    clf = SequentialClassifier().fit(X, np.array(["malignant", "benign"])[y])
    nodes, _, _ = parse(decision_graph(clf))
    first = clf.feature_name(clf.order_[0])
    assert nodes["n0"]["label"] == f"ask {first}\\nreached 100%\\nbenign 63%"
    ends = {node["label"].split("\\n")[0] for node in nodes.values() if node["kind"] == "decide"}
    assert ends == {"decide benign", "decide malignant"}
    own = decision_graph(clf, names={int(clf.order_[0]): "mine"}, classes=["b", "m"], decisions={1: "operate"})
    labels = {node["label"].split("\\n")[0] for node in parse(own)[0].values()}
    assert {"ask mine", "decide benign", "decide operate"} <= labels
    assert f"ask {clf.feature_name(clf.order_[1])}" in labels
    assert "\\nb 63%" in own
    numbered = decision_graph(SequentialClassifier().fit(X, y))
    assert "decide 1\\nreached" in numbered
    assert "\\nclass 1 63%" in numbered  # "1 63%" could be read as a number


def test_bins_that_lead_on_alike_are_joined() -> None:
    problem = TableProblem([0.5, 0.5], np.full((1, 6, 2), 1 / 6), prices=0.1)
    policy = FunctionPolicy(problem, lambda belief: belief.stage < 1)
    bins = ["0", "< 1, not 0", "[1, 2)", "[2, 3)", "[4, 5)", ">= 5"]
    assert 'label=" 0, < 1, not 0, [1, 3), >= 4: 100% "' in decision_graph(policy, outcomes={0: bins})
    many = [f"a category called {i}" for i in range(6)]
    assert 'label=" a category called 0\\nand 5 more: 100% "' in decision_graph(policy, outcomes={0: many})


def test_graph_merges_histories_that_go_on_alike() -> None:
    policy = FunctionPolicy(TableProblem([0.5, 0.5], COIN, prices=0.01), lambda info: True)
    nodes, _, _ = parse(decision_graph(policy))
    # after three equal coins the majority decides: ask 1, ask 2 or 1, 0 or 1 answers so far, two decisions
    assert [node["kind"] for node in nodes.values()].count("decide") == 2
    assert [int(n["stage"]) for n in nodes.values() if n["kind"] == "ask"].count(2) <= 3
    assert_agrees(decision_graph(policy), policy)


@pytest.mark.slow
def test_limits_hold_and_say_what_they_cut() -> None:
    rng = np.random.default_rng(3)
    tables = rng.dirichlet(np.ones(4), size=(5, 3)).transpose(0, 2, 1)
    policy = GridValueIteration().solve(TableProblem(np.full(3, 1 / 3), tables, prices=0.005))
    whole = decision_graph(policy, max_depth=5, min_probability=1e-4, max_nodes=10_000)
    for most in (1, 5, 12, 40):
        text = decision_graph(policy, max_depth=4, min_probability=1e-4, max_nodes=most)
        nodes, _, _ = parse(text)
        assert_agrees(text, policy, depth=4)
        assert len(nodes) <= most or most == 1
        cut = sum(float(node["reach"]) for node in nodes.values() if node["kind"] in ("more", "rare"))
        told = re.search(r"Dashed nodes: (\S+)% of instances are asked for more.\\lDrawn are at most 4 features", text)
        assert told
        assert float(told[1]) == pytest.approx(100 * cut, abs=0.51)
        assert f"(for at most {most} node{'' if most == 1 else 's'})" in text
    assert len(parse(whole)[0]) > 40
    one = decision_graph(policy, max_depth=0)
    assert [node["kind"] for node in parse(one)[0].values()] == ["more"]
    assert "Dashed" not in decision_graph(FunctionPolicy(policy.problem, lambda belief: belief.stage < 1))


def test_graph_quotes_names() -> None:
    policy = GridValueIteration().solve(TableProblem([0.5, 0.5], COIN[:1], prices=0.1))
    text = decision_graph(policy, names={0: WILD}, decisions=[WILD, "x\\"], outcomes={0: ['"', "\\"]})
    nodes, _, _ = parse(text)
    label = r"ask a \"b\" \\N \\G\\ [c] -> d;\n{e|f} <b>&amp;lt;</b> Größe\n漢字???\nreached 100%\nclass 0 50%"
    assert nodes["n0"]["label"] == label
    assert_agrees(text, policy)
    text.encode("utf-8")


def test_graph_of_a_randomised_policy_starts_with_a_lot() -> None:
    problem = TableProblem([0.5, 0.5], COIN, prices=0.04)
    stop = FunctionPolicy(problem, lambda info: False)
    go_on = FunctionPolicy(problem, lambda belief: belief.stage < 1)
    nodes, edges, total = parse(decision_graph(RandomisedPolicy([stop, go_on], [0.25, 0.75])))
    assert nodes["n0"]["kind"] == "lots"
    assert {nodes[child]["kind"] for child in edges["n0"].values()} == {"decide", "ask"}
    assert all(value == pytest.approx(1.0) for value in total.values())


@pytest.mark.parametrize(("least", "kind"), [(0.45, "more"), (0.4501, "rare")])
def test_what_is_as_probable_as_the_limit_is_drawn(least: float, kind: str) -> None:
    policy = FunctionPolicy(TableProblem([0.5, 0.5], COIN, prices=0.1), lambda info: True)
    nodes, edges, _ = parse(decision_graph(policy, min_probability=least))
    assert nodes[edges["n0"][1]]["kind"] == kind


def test_graph_refuses() -> None:
    policy = FunctionPolicy(TableProblem([0.5, 0.5], COIN, prices=0.1), lambda info: True)
    for name, value in {"max_depth": -1, "min_probability": 0.0, "max_nodes": 0, "missing": 1.0}.items():
        with pytest.raises(ValueError, match=name):
            decision_graph(policy, **{name: value})  # type: ignore[arg-type]
    with pytest.raises(ValueError, match=r"names must have an entry for each number up to 2, it has 1"):
        decision_graph(policy, names=["pulse"])
    with pytest.raises(ValueError, match=r"outcomes\[0\] must have an entry for each number up to 1"):
        decision_graph(policy, outcomes={0: ["low"]})
    with pytest.raises(TypeError, match="Policy or a fitted SequentialClassifier, got TableProblem"):
        decision_graph(policy.problem)  # type: ignore[arg-type]
    with pytest.raises(NotFittedError):
        decision_graph(SequentialClassifier())


def svg(text: str) -> tuple[list[str], list[str]]:
    """Lines of text that Graphviz writes into the picture, and its warnings."""
    done = subprocess.run(["dot", "-Tsvg"], input=text.encode("utf-8"), capture_output=True)
    assert done.returncode == 0, done.stderr.decode()
    words = ["".join(e.itertext()) for e in ET.fromstring(done.stdout).iter("{http://www.w3.org/2000/svg}text")]
    return [w.replace("\xa0", " ").strip() for w in words], done.stderr.decode().splitlines()


@pytest.mark.skipif(shutil.which("dot") is None, reason="Graphviz is not installed: there is no `dot`")
def test_graphviz_draws_what_is_said() -> None:
    policy = GridValueIteration().solve(TableProblem([0.5, 0.5], COIN[:1], prices=0.1))
    names = {"names": [WILD], "decisions": ["x\\", '"y"'], "classes": ["<1>", "&amp;"], "outcomes": {0: ['"', "\\l"]}}
    words, warnings = svg(decision_graph(policy, **names))
    assert warnings == []
    assert f"ask {SPOKEN}???" in " ".join(words)
    assert {"decide x\\", 'decide "y"', "<1> 50%", "&amp; 89%", '": 55%', "\\l: 45%"} <= set(words)
    for classifier in (grouped(), SequentialClassifier().fit(*load_iris(return_X_y=True))):
        text = decision_graph(classifier, missing=0.1)
        words, warnings = svg(text)
        assert warnings == []
        assert len([w for w in words if w.startswith("reached")]) == len(parse(text)[0])


@pytest.mark.parametrize("solver", [Panels(certificate_paths=0), Panels(max_nodes=0, certificate_paths=0), FirstK(2)])
def test_a_visit_says_what_is_ordered_together(solver: Any) -> None:
    rng = np.random.default_rng(0)
    tables = rng.dirichlet([0.7, 0.7], (4, 2)).transpose(0, 2, 1)
    problem = TableProblem([0.5, 0.5], tables, prices=[0.01, 0.02, 0.01, 0.03], any_order=True)
    problem = with_visits(problem, Visits(0.02, np.array([0.0, 3.0, 0.0, 1.0]), 0.01))
    policy = solver.solve(problem)
    nodes, edges, _ = parse(decision_graph(policy, min_probability=1e-4, max_nodes=1000))

    def follow(name: str, info: Any, waiting: set[int]) -> None:
        """All answers, in the order in which the graph reads them."""
        info, node = order_next_panel(policy, info), nodes[name]
        question = int(policy.action(info)[0])
        if question < 0:
            assert node["kind"] == "decide"
            return
        assert int(node["feature"]) == question
        low, high = map(float, node["prices"].split())
        assert low == high == pytest.approx(prices_without_visits(problem)[question])
        if not waiting:
            waiting = {int(number) for number in node["panel"].split()}
            assert waiting == (set(np.flatnonzero(info.account.ordered[0]).tolist()) or {question})
            panel = np.isin(np.arange(4), list(waiting))[None]
            assert float(node["visit"]) == pytest.approx(problem.visits.panel_costs(panel)[0])
            assert f"order{' together' * (len(waiting) > 1)} (visit" in node["label"]
        assert ("panel" in node) == ("order" in node["label"])
        for outcome, child in edges[name].items():
            follow(child, info.asking(question).update(np.array([outcome])), waiting - {question})

    follow("n0", problem.initial_belief(), set())


@pytest.mark.parametrize("order", ["given", "adaptive"])
@pytest.mark.parametrize("visit_cost", [0.0, 0.01])
def test_bundles_have_their_names_and_their_answers_in_words(order: str, visit_cost: float) -> None:
    rng = np.random.default_rng(0)
    y = rng.integers(2, size=300)
    X = pd.DataFrame({"sign": np.where(rng.random(300) < 0.2 + 0.6 * y, "yes", "no"), "a": y + rng.normal(size=300)})
    X["b"] = np.where(y == 1, 3.0, rng.integers(0, 3, 300))
    costs = Costs(0.01, bundles={"sign": "lab", "b": "lab"}, visit_cost=visit_cost)
    solver = FirstK(2, certificate_paths=0) if visit_cost == 0 else None
    clf = SequentialClassifier(feature_costs=costs, order=order, solver=solver).fit(X, y)
    text = decision_graph(clf)
    nodes, _, total = parse(text)
    named = [node["label"].split("\\n") for node in nodes.values()]
    assert any("lab" in line for lines in named for line in lines)
    assert not any(word in line for lines in named for line in lines for word in ("sign", "ask b", "read b"))
    assert all(sum_of == pytest.approx(1) for sum_of in total.values())
    assert re.search(r"\((yes|no); [0-3]\)", text)
    assert decision_graph(clf, names={0: "Blood"}, outcomes={0: [f"<{k}>" for k in range(99)]}).count("Blood") >= 1


def test_answers_of_a_bundle_that_are_too_many_to_list_are_left_out() -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 6))
    y = (X.sum(axis=1) > 0).astype(int)
    costs = Costs(0.01, bundles=["lab"] * 5 + [None])
    clf = SequentialClassifier(feature_costs=costs, order="given", solver=FirstK(None, certificate_paths=0)).fit(X, y)
    [node] = parse(decision_graph(clf))[0].values()
    assert node["kind"] == "more"
    assert node["label"].startswith("ask lab\\nand so on")
    assert "100% of instances are asked for more" in decision_graph(clf)


@pytest.mark.parametrize("visit_cost", [0.0, 0.01])
def test_where_nothing_is_asked_there_is_one_node(visit_cost: float) -> None:
    X, y = load_iris(return_X_y=True)
    clf = SequentialClassifier(feature_costs=Costs(0.01, visit_cost=visit_cost), max_features=0).fit(X, y)
    assert [node["kind"] for node in parse(decision_graph(clf))[0].values()] == ["decide"]
