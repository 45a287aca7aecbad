"""A policy as data: what it holds, how values are read, and what is refused."""

from __future__ import annotations

import html
import json
import re
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.datasets import load_iris
from sklearn.preprocessing import KBinsDiscretizer

from seqclass import Costs, SequentialClassifier, certify_error, load
from seqclass.adaptive_classifier import AdaptiveClassifier
from seqclass.bn import TreeNetwork
from seqclass.discretize import Discretizer
from seqclass.export import export_policy, page_words, policy_data
from seqclass.pomdp import FirstK, GridValueIteration, PricedTree

QUICK = GridValueIteration(20, certificate_paths=0)


def outcome(feature: dict[str, Any], value: float) -> int:
    """As the documentation of the format says."""
    return int(feature["places"][sum(edge <= value for edge in feature["edges"])])


@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("zero_bin", [False, True, "auto"])
def test_values_are_read_as_the_model_reads_them(sparse: bool, zero_bin: Any) -> None:
    rng = np.random.default_rng(0)
    y = rng.integers(2, size=200)
    X = rng.normal(size=(200, 5)) + y[:, None] * [0.5, 1, 2, 0, 0]
    X[:, 1] *= rng.random(200) < 0.4
    X[:, 2] = np.abs(X[:, 2]) * (rng.random(200) < 0.7)
    X[:, 3] = 1.0  # constant
    X[:, 4] = np.where(rng.random(200) < 0.6, -0.7, -np.abs(X[:, 4]))  # mostly one value
    clf = SequentialClassifier(discretizer=Discretizer(4, zero_bin=zero_bin), solver=QUICK)
    clf.fit(sp.csr_array(X) if sparse else X, y)
    seen = set()
    for feature in policy_data(clf)["features"]:
        column = int(feature["name"][1:])
        for value in [0.0, -0.0, *feature["edges"], *rng.normal(size=20), -9.0, 9.0]:
            assert outcome(feature, value) == clf.coder_.code_value(column, value)
            seen.add((column, outcome(feature, value)))
    assert len(seen) > 12


def test_the_version_is_the_one_that_is_documented() -> None:
    X = np.arange(40).reshape(20, 2)
    data = policy_data(SequentialClassifier(solver=FirstK(1, certificate_paths=0)).fit(X, np.arange(20) % 2))
    page = (Path(__file__).parents[2] / "docs" / "format.md").read_text(encoding="utf-8")
    assert f"`version` is {data['version']}." in page


@pytest.mark.slow
def test_data_is_json_and_whole(model: Any, tmp_path: Path) -> None:
    for name in ("grid3", "vectors", "adaptive", "graph", "tree", "groups"):
        data = export_policy(model(name), tmp_path / "policy.json", format="json")
        text = (tmp_path / "policy.json").read_text(encoding="utf-8")
        assert json.loads(text) == json.loads(json.dumps(data))
        assert (data["format"], data["version"]) == ("seqclass-policy", 4)
        common = {"format", "version", "written_by", "classes", "decisions", "prior", "decision_costs"}
        common |= {"charge_missing", "unit", "visits", "sets", "features", "questions", "kind"}
        common |= {"class_texts", "decision_texts", "class_order", "decision_order", "promise", "provenance"}
        own = {"program": {"program"}, "graph": {"cut", "nodes"}}
        assert set(data) == common | own[data["kind"]]


@pytest.mark.slow_cells("cost-de")
@pytest.mark.covering(1)
@pytest.mark.parametrize("language", ["en", "de", "fr", "es"])
@pytest.mark.parametrize("metric", ["error", "cost", "sensitivity"])
def test_what_is_certified_is_stated_wherever_it_goes(metric: str, language: str, tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    y = np.where(rng.random(900) < 0.5, "ill", "well")
    X = rng.normal(size=(900, 4)) + 2 * (y == "ill")[:, None]
    clf = SequentialClassifier(solver=QUICK, feature_costs=0.01).fit(X[:300], y[:300])
    how = {"metric": metric, "alpha": 0.125, "delta": 0.2}
    how |= {"target": "ill"} if metric == "sensitivity" else {"groups": np.arange(600) % 2}
    contract = certify_error(clf, X[300:], y[300:], **how)
    assert contract.certified
    labels = {"class": {"answers": {"ill": "an illness"}}}
    data = export_policy(contract, tmp_path / "page.html", language=language, labels=labels)
    assert data["promise"] == policy_data(contract)["promise"]
    assert data["promise"]["seen"] == contract.rule.risk
    text = (tmp_path / "page.html").read_text(encoding="utf-8")
    words, sign = page_words(language), {"en": ".", "de": ",", "fr": ",", "es": ","}[language]
    percent = words["percent"].replace("{p}", f"12{sign}5")
    header = html.unescape(text.partition("<header>")[2].partition("</header>")[0])
    assert re.match(r"<h1>an illness \w+ well</h1>", header)  # of a target without a name
    assert (f"0{sign}125" if metric == "cost" else percent) in header
    # once in what the page is for
    assert header.partition("</h1>")[2].count("an illness") == 1 + (metric == "sensitivity")
    assert f" {contract.n_rows} " in header
    assert (words["promised_groups"].replace("{n}", "2") in header) == (metric != "sensitivity")
    assert words["promise_holds"] in header
    assert {**data, "promise": None} == policy_data(contract.classifier, labels=labels)
    export_policy(contract, tmp_path / "policy.c")
    source = " ".join((tmp_path / "policy.c").read_text(encoding="utf-8").partition("*/")[0].split())
    about = {"sensitivity": "With 80% confidence at most 12.5% of future cases of ill"}.get(
        metric, f"Checked on {contract.n_rows} cases: with 80% confidence (at most 12.5%|a case costs)"
    )
    assert re.search(about, source)


def test_what_is_not_certified_is_not_exported(tmp_path: Path) -> None:
    X, y = load_iris(return_X_y=True)
    clf = SequentialClassifier(solver=QUICK).fit(X[::2], y[::2])
    contract = certify_error(clf, X[1::2], y[1::2], alpha=0.04, delta=0.2)
    assert not contract.certified
    with pytest.raises(ValueError, match="nothing is certified"):
        export_policy(contract, tmp_path / "page.html")
    assert not list(tmp_path.iterdir())


def test_a_graph_leads_to_each_node_once(model: Any) -> None:
    nodes = policy_data(model("graph"))["nodes"]
    found = [child for node in nodes for child in [*node.get("next", ()), node.get("missing")] if child is not None]
    assert sorted(found) == list(range(1, len(nodes)))
    assert all(("next" in node) == ("ask" in node) for node in nodes)


def test_a_saved_model_gives_the_same_data(model: Any, tmp_path: Path) -> None:
    model("grid3").save(tmp_path / "model.seq")
    assert policy_data(load(tmp_path / "model.seq")) == policy_data(model("grid3"))


def test_too_many_nodes_are_refused(model: Any, tmp_path: Path) -> None:
    n = len(policy_data(model("graph"))["nodes"])
    assert len(policy_data(model("graph"), max_nodes=n)["nodes"]) == n
    page = tmp_path / "page.html"
    page.write_text("before")
    with pytest.raises(ValueError, match=rf"more than max_nodes={n - 1} nodes.*min_probability"):
        export_policy(model("graph"), page, max_nodes=n - 1, min_probability=0)
    with pytest.raises(ValueError, match=r"cannot be written as a program.*less than 99% of cases.*seqclass.adaptive"):
        export_policy(model("graph"), page, max_nodes=3)
    assert page.read_text() == "before"
    assert [file.name for file in tmp_path.iterdir()] == ["page.html"]
    cut = policy_data(model("graph"), max_nodes=n - 1, min_probability=0.02)
    assert len(cut["nodes"]) < n
    assert 0 < cut["cut"] < 1


@pytest.mark.slow
def test_a_graph_keeps_nearly_all_cases_unless_told(model: Any) -> None:
    """What it leaves out by itself is as little as the nodes allow, and never more than 1%."""
    n = len(policy_data(model("graph"))["nodes"])
    found = []
    for most in range(n // 2, n, max(n // 20, 1)):
        with suppress(ValueError):
            found.append(policy_data(model("graph"), max_nodes=most)["cut"])
    assert found
    assert 0 < max(found) <= 0.01
    assert policy_data(model("graph"))["cut"] == 0


@pytest.mark.slow
def test_a_graph_asks_one_question_a_visit(model: Any, tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    nodes = export_policy(model("graph, a wait"), page)["nodes"]
    assert {node["visit"] for node in nodes if "ask" in node} == {0.0, 0.03}
    about = page.read_text(encoding="utf-8").partition('class="note">')[2]
    assert about.startswith("It asks for one feature after the other")
    # in a fixed order what comes later of a group may cost less if it is ordered together
    with pytest.raises(ValueError, match="and a graph asks one question at a time, while here several may be ordered"):
        policy_data(model("graph, a wait, fixed order"))


def test_what_is_cut_is_what_a_case_meets(model: Any) -> None:
    """The share that is cut, by walking through the graph that is whole."""
    clf = model("graph")
    cut = policy_data(clf, min_probability=0.01)
    assert 0 < cut["cut"] < 0.5
    assert any(node.get("cut") for node in cut["nodes"])
    assert policy_data(clf)["cut"] == 0
    assert policy_data(clf, min_probability=1.0)["nodes"][0]["ask"] >= 0  # the first question is always there


def test_precomputed_outcomes_are_chosen(model: Any) -> None:
    X, y = np.array([[0, 2], [1, 0], [2, 1]] * 20), [0, 1, 1] * 20
    data = policy_data(SequentialClassifier(discretizer="precomputed", solver=QUICK).fit(X, y))
    assert [(f["type"], f["n_outcomes"]) for f in data["features"]] == [("outcome", 3)] * 2


@pytest.mark.slow
def test_a_classifier_that_chose_how_to_learn_is_exported() -> None:
    X, y = load_iris(return_X_y=True)
    clf = AdaptiveClassifier(0.2, effort="quick").fit(X[:, 2:], y, held_out=0)
    data = policy_data(clf)
    assert data["kind"] == "program"
    assert clf.session().next_feature.name in [question["name"] for question in data["questions"]]


@pytest.mark.slow
def test_large_networks_are_no_program(model: Any) -> None:
    cliques = policy_data(model("tree, any order"))["program"]["network"]["cliques"]
    assert all(clique["parent"] > k or clique["parent"] < 0 for k, clique in enumerate(cliques))
    rng = np.random.default_rng(0)
    X, y = rng.integers(0, 100, (4000, 4)), rng.integers(0, 2, 4000)
    large = TreeNetwork("line")
    settings: dict[str, Any] = {
        "discretizer": "precomputed",
        "order": "adaptive",
        "solver": FirstK(1, certificate_paths=0),
    }
    with pytest.raises(ValueError, match=r"its network have 60,000 numbers, more than the 50,000 that a page"):
        policy_data(SequentialClassifier(large, **settings).fit(X, y), max_nodes=20)
    bundled = SequentialClassifier(TreeNetwork(), feature_costs=Costs(0.01, bundles=["a", "a", None, None]), **settings)
    with pytest.raises(ValueError, match="of a network it draws some of a bundle's joint outcomes, which are too many"):
        policy_data(bundled.fit(X, y))


def test_refusals(model: Any, tmp_path: Path) -> None:
    X, y = np.random.default_rng(0).normal(size=(60, 3)), [0, 1] * 30
    with pytest.raises(TypeError, match="or what certify_error gave, got int"):
        policy_data(3)  # type: ignore[arg-type]
    bins = KBinsDiscretizer(3, encode="ordinal", strategy="uniform")
    with pytest.raises(ValueError, match="KBinsDiscretizer"):
        policy_data(SequentialClassifier(discretizer=bins, solver=QUICK).fit(X, y))
    tree = SequentialClassifier(order="adaptive", solver=PricedTree()).fit(X, y)
    with pytest.raises(ValueError, match=r"\(there is no program of what its solver makes\), only as a graph"):
        policy_data(tree, max_nodes=1, min_probability=0.0)
    with pytest.raises(ValueError, match="format"):
        export_policy(model("grid3"), tmp_path / "a", format="pdf")
    with pytest.raises(FileNotFoundError):
        export_policy(model("grid3"), tmp_path / "none" / "a.html")
    assert list(tmp_path.iterdir()) == []
