"""The page as text: its structure, that nothing in it is taken for markup, that it is written whole."""

from __future__ import annotations

import ast
import importlib
import json
import re
import sys
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import seqclass
from seqclass.datasets import Dataset, load
from seqclass.experiment import Experiment, Results
from seqclass.experiment.protocols import StratifiedFolds
from seqclass.plots import AcquisitionMapDisplay, StagewiseCalibrationDisplay
from seqclass.plots.acquisition_map import acquisition_shares
from seqclass.pomdp import FirstK
from seqclass.report import Explored, explore, write_report
from seqclass.report import _pictures as acquisition_module
from seqclass.report._markup import Markup, element, prices, script_json, table, together
from seqclass.report._pictures import LAYOUT, calibration, codes_of, features, picture_section
from seqclass.report.explore import explore_run
from seqclass.report.page import summarise

explore_module = importlib.import_module("seqclass.report.explore")  # whose name is also that of a function
VOID = {"meta", "input", "br", "hr", "img", "link"}


class Page(HTMLParser):
    """Elements of a page; an element that is not closed, or closed twice, is an error."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.texts: list[tuple[str, str]] = []
        self.feed(text)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: Any) -> None:
        self.elements.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: Any) -> None:
        self.elements.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.texts.append((self.open[-1] if self.open else "", data))

    def named(self, tag: str) -> list[dict[str, str | None]]:
        return [attributes for name, attributes in self.elements if name == tag]

    def inside(self, tag: str) -> list[str]:
        return [text for name, text in self.texts if name == tag]


def written(results: Results, folder: Path, **settings: Any) -> str:
    return write_report(results, folder / "page.html", **settings).read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def plain(results: Results, tmp_path_factory: pytest.TempPathFactory) -> str:
    """The page as it is without settings."""
    folder = tmp_path_factory.mktemp("plain")
    text = written(results, folder)
    assert [file.name for file in folder.iterdir()] == ["page.html"]
    return text


@pytest.fixture
def without_pictures(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where it does not matter what pictures show: each takes half a second."""
    monkeypatch.setattr(acquisition_module, "draw", lambda display, key: ([], (100.0, 100.0)))


@pytest.mark.quick
def test_it_stands_alone(plain: str) -> None:
    page = Page(plain)
    for tag in ("style", "script"):
        assert not re.search(r"//\w|@import|url\(|fetch|XMLHttp|import\(", "".join(page.inside(tag)))
    for tag, attributes in page.elements:
        assert not {"src", "style", "onclick", "onerror", "onload"} & set(attributes), tag
        assert tag not in ("link", "img", "iframe", "object", "base", "form")
        assert (attributes.get("href") or "#").startswith("#")
    [policy] = [m["content"] for m in page.named("meta") if m.get("http-equiv") == "Content-Security-Policy"]
    assert policy is not None
    assert policy.startswith("default-src 'none';")
    assert "unsafe" not in policy
    ids = Counter(a["id"] for _, a in page.elements if "id" in a)
    assert max(ids.values()) == 1
    referred = [a["href"] for a in page.named("a")]
    assert {str(href)[1:] for href in referred} <= set(ids)
    for attributes in page.named("svg"):
        for name in (attributes.get("aria-labelledby") or "").split():
            assert name in ids


def test_its_parts(results: Results, plain: str) -> None:
    page = Page(plain)
    (title,) = page.inside("h1")
    assert title.startswith("etana, <img ")
    assert title.endswith(", fails on iris, wine")
    assert page.inside("h2") == [
        *("Pictures", "Summary", "Comparison", "Decisions", "Acquisition"),
        *("Step through instances", "Failures", "Settings"),
    ]
    assert "24 cells: 2 data sets, 3 methods, 2 prices. 8 failed." in page.inside("p")
    cells = [text for tag, text in page.texts if tag in ("td", "th", "small")]
    first = results.summary().iloc[0]
    assert f"{first['realised_cost']:.4f} " in cells
    assert f"[{first['accuracy_lower']:.4f}, {first['accuracy_upper']:.4f}]" in cells
    cell = results.to_frame()
    own = cell[(cell["data"] == "iris") & (cell["method"] == "etana") & (cell["price"] == 0.01)]
    assert f"{own['paid_mean'].mean():.4f}" in cells
    assert f"{own['seconds_fit'].mean():.3f}" in cells
    figures = [a for a in page.named("svg") if a.get("role") == "img"]
    assert len(figures) == 3 + 8  # both data sets and each, and four of what each sequential method acquired
    assert sum("decision cost against price paid" in text for text in page.inside("title")) == 3
    decided = first["realised_cost"] - first["paid_mean"]
    said = f"etana at price 0.01: {first['paid_mean']:.4f} paid, decisions cost {decided:.4f}"
    assert any(f"{said}, {first['realised_cost']:.4f} in all" in text for text in page.inside("desc"))
    assert any("all their cells failed: fails" in text for text in page.inside("p"))
    assert len([text for text in cells if "alert(1)</script>" in text]) == 8
    assert any('"observation_model"' in text for text in page.inside("pre"))
    assert "StratifiedFolds(n_splits=2)" in cells
    assert any(cell.startswith(f"{seqclass.__version__}+") for cell in cells)


def test_nothing_is_taken_for_markup(results: Results, tmp_path: Path, hostile: str) -> None:
    text = written(results, tmp_path, title=hostile + "</title>")
    page = Page(text)
    assert page.inside("h1") == [hostile + "</title>"]
    assert hostile + "</title>" in page.inside("title")
    assert page.named("img") == []
    assert page.named("b") == []
    assert [a.get("type") for a in page.named("script")] == ["application/json", None, None]
    assert hostile in page.inside("td")


def hostile_explanations() -> Any:
    names = ["</script><script>alert(1)</script>", "b & <i>c</i>", "line\u2028end"]
    X = np.repeat(np.eye(3), 15, axis=0)
    y = np.repeat(["<b>one</b>", 'two "2"', "</script>"], 15)
    return seqclass.etana().fit(X, y).explain(np.vstack([np.eye(3), [np.nan] * 3]), feature_names=names)


@pytest.mark.slow
@pytest.mark.usefixtures("without_pictures")
def test_explanations_are_data(results: Results, tmp_path: Path) -> None:
    page = Page(written(results, tmp_path, explanations={"</script>& co": hostile_explanations()}))
    scripts = page.named("script")
    assert [a.get("type") for a in scripts] == ["application/json", None, None]
    [explored, *_] = page.inside("script")
    [content] = json.loads(explored)
    assert content["name"] == "</script>& co"
    assert content["classes"] == ["</script>", "<b>one</b>", 'two "2"']
    explanations = hostile_explanations()
    assert len(content["cases"]) == 4
    for case, one in zip(content["cases"], explanations):
        assert case["title"].endswith(f"{one.decision}, {len(one.steps)} asked")
        assert [step["name"] for step in case["steps"]] == [step.name for step in one.steps]
        beliefs = [case["prior"], *(step["after"] for step in case["steps"])]
        np.testing.assert_allclose(beliefs, one.beliefs, rtol=1e-5)
        assert case["stop"] == one.stop_text
        assert case["decided"] in str(one)
    assert content["cases"][3]["steps"][0]["shown"] is None


@pytest.mark.slow
@pytest.mark.usefixtures("without_pictures")
def test_truth_and_rows_are_told(results: Results, tmp_path: Path) -> None:
    explained = hostile_explanations()[:2]
    explored = Explored(explained, rows=["p7", "p8"], truth=[explained[0].decision, "else"], note="two of <many>")
    page = Page(written(results, tmp_path, explanations={"mine": explored}))
    [content] = json.loads(page.inside("script")[0])
    assert content["note"] == "two of <many>"
    assert content["cases"][0]["title"].startswith("Row p7: ")
    assert "truth" not in content["cases"][0]["title"]
    assert content["cases"][1]["title"].endswith("(in truth else)")


@pytest.mark.slow
def test_the_same_run_gives_the_same_page(
    results: Results, plain: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, draw_anew: Callable[..., Any]
) -> None:
    monkeypatch.setattr(acquisition_module, "draw", draw_anew)
    assert written(results, tmp_path) == plain


@pytest.mark.slow
@pytest.mark.usefixtures("without_pictures")
def test_a_page_is_written_whole_or_not_at_all(results: Results, tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    page.write_text("what was there")
    with pytest.raises(ValueError, match="must hold at least one"):
        write_report(results, page, explanations={"none": []})
    with pytest.raises(TypeError, match="explain gives"):
        write_report(results, page, explanations={"none": ["text"]})  # type: ignore[list-item]
    assert page.read_text() == "what was there"
    with pytest.raises(FileNotFoundError, match="no folder"):
        write_report(results, tmp_path / "no" / "page.html")
    with pytest.raises(ValueError, match="is the run itself"):
        write_report(results, results.path)
    assert len(Results.load(results.path).to_frame()) == 24
    assert [file.name for file in tmp_path.iterdir()] == ["page.html"]


@pytest.mark.slow
@pytest.mark.usefixtures("without_pictures")
def test_a_run_that_is_not_done(results: Results, tmp_path: Path) -> None:
    table_ = results.to_frame()
    some = Results(results.path, [*table_.index[:2], "not there"])
    text = written(some, tmp_path)
    assert "2 cells: 1 data set, 1 method, 1 price. None failed. 1 cell of the plan not done." in text
    assert "Nothing to compare: two methods or more must have a score" in text
    with pytest.raises(ValueError, match="holds no cell that is done"):
        write_report(Results(results.path, ["not there"]), tmp_path / "none.html")
    failed = Results(results.path, table_.index[table_["error"] != ""].tolist())
    assert "no cell has a score" in written(failed, tmp_path)


@pytest.mark.slow
@pytest.mark.usefixtures("without_pictures")
def test_what_was_added_later_stands_beside_its_kind(tmp_path: Path) -> None:
    grid = {"data": ["iris", "wine"], "cv": 2}
    Experiment(methods=["sklearn:GaussianNB"], **grid).run(tmp_path / "a.run")
    Experiment(methods=["sklearn:GaussianNB", "sklearn:DummyClassifier"], **grid).run(tmp_path / "a.run")
    results = Results.load(tmp_path / "a.run")
    summary = summarise(results, results.to_frame())
    assert summary["data"].tolist() == ["iris", "iris", "wine", "wine"]
    assert summary["method"].tolist() == 2 * ["sklearn:GaussianNB", "sklearn:DummyClassifier"]


@pytest.mark.usefixtures("without_pictures")
@pytest.mark.slow
def test_many_data_sets_are_capped_and_said(tmp_path: Path) -> None:
    iris = load("iris")
    sets = [replace(iris, name=f"iris {i}") for i in range(LAYOUT.max_sets + 2)]
    results = Experiment(sets, ["sklearn:DummyClassifier"], cv=2).run(tmp_path / "many.run")
    text = written(results, tmp_path)
    assert f"Drawn are the first {LAYOUT.max_sets} of {LAYOUT.max_sets + 2} data sets" in text
    assert len([a for a in Page(text).named("svg") if a.get("role") == "img"]) == LAYOUT.max_sets + 1


@pytest.mark.slow
def test_ranks_of_three_methods(tmp_path: Path) -> None:
    methods = ["etana", "sklearn:DummyClassifier", "sklearn:GaussianNB"]
    results = Experiment(["iris", "wine"], methods, cv=2).run(tmp_path / "three.run")
    page = Page(written(results, tmp_path))
    found = results.compare().nemenyi
    assert found is not None
    assert f"Average ranks: {found}" in "".join(page.inside("desc"))
    assert sum(text.startswith("critical difference") for text in page.inside("text")) == 2
    for name, rank in zip(found.names, found.average_ranks):
        assert f"{name[:27]}" in "".join(page.inside("text"))
        assert any(text.endswith(f"  {rank:.2f}") for text in page.inside("text"))


def test_explore_is_of_the_runs_own_cell(results: Results) -> None:
    explored = explore(results, "wine", "etana", price=0.1, n_instances=7)
    wine = load("wine")
    cells = results.to_frame()
    key = cells.index[(cells["data"] == "wine") & (cells["method"] == "etana") & (cells["price"] == 0.1)][0]
    assert results.settings(key)["fold"] == 0
    train, scored = StratifiedFolds(2).split(wine, 0, 0)
    clf = seqclass.etana(feature_costs=0.1, random_state=0).fit(wine.X[train], wine.y[train])
    rows = [int(row) - 1 for row in explored.rows or ()]
    assert len(rows) == 7
    assert rows[0] == scored.min()
    assert rows[-1] == scored.max()
    assert set(rows) <= set(scored.tolist())
    for one, again, row in zip(explored.explanations, clf.explain(wine.X[rows]), rows):
        assert one.decision == wine.class_names[again.decision]
        np.testing.assert_array_equal(one.beliefs, again.beliefs)
        assert row + 1 in (explored.rows or ())
    assert list(explored.truth or ()) == [wine.class_names[c] for c in wine.y[rows]]
    assert {step.name for one in explored.explanations for step in one.steps} <= set(wine.feature_names or ())
    assert explored.note.startswith("Price 0.1, seed 0, fold 0: 7 of the 89 rows scored, evenly taken")
    assert len(explore(results, "wine", "etana").explanations) == 20


def test_explore_refuses(results: Results, hostile: str) -> None:
    with pytest.raises(ValueError, match="no method 'etanna'"):
        explore(results, "iris", "etanna")
    with pytest.raises(ValueError, match="no data 'digits'"):
        explore(results, "digits", "etana")
    with pytest.raises(ValueError, match=r"no price 0\.5: it has"):
        explore(results, "iris", "etana", price=0.5)
    with pytest.raises(ValueError, match="asks for no features one by one"):
        explore(results, "iris", hostile)
    with pytest.raises(ValueError, match="all its cells failed"):
        explore(results, "iris", "fails")
    with pytest.raises(ValueError, match="n_instances"):
        explore(results, "iris", "etana", n_instances=0)
    with pytest.raises(ValueError, match=r"no price 0\.5: it has"):
        explore_run(results, price=0.5)
    own = Results(results.path, results.to_frame().query("data == 'iris' or price == 0.1").index.tolist())
    with pytest.raises(ValueError, match=r"no cell of 'etana' on 'wine' at price 0\.01"):
        explore(own, "wine", "etana", price=0.01)
    explanations = hostile_explanations()
    with pytest.raises(ValueError, match="truth must have 4 entries"):
        Explored(explanations, truth=["a"])


@pytest.mark.slow
@pytest.mark.usefixtures("without_pictures")
def test_the_explorer_has_all_sequential_methods(results: Results, plain: str, tmp_path: Path) -> None:
    [content, *_] = Page(plain).inside("script")
    assert [one["name"] for one in json.loads(content)] == ["etana on iris", "etana on wine"]
    assert all(one["note"].startswith("Price 0.01,") for one in json.loads(content))
    [content, *_] = Page(written(results, tmp_path, price=0.1)).inside("script")
    assert all(one["note"].startswith("Price 0.1,") for one in json.loads(content))
    page = Page(written(results, tmp_path, explanations={}))
    assert "Step through instances" not in page.inside("h2")
    assert "#explorer" not in [a["href"] for a in page.named("a")]
    with pytest.raises(ValueError, match=r"no price 0\.5: it has"):
        written(results, tmp_path, price=0.5)


@pytest.mark.usefixtures("without_pictures")
@pytest.mark.slow
def test_what_does_not_fit_is_named(results: Results, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    found = explore_run(results)
    assert found.n_instances == 40
    size = sum(
        len(script_json([json.loads(told.to_json()) for told in one.explanations])) for one in found.methods.values()
    )
    estimate = sum(map(explore_module._characters, found.methods.values()))
    assert estimate < size < 8 * estimate  # the page leaves out half of what an explanation holds
    monkeypatch.setattr(explore_module, "_characters", lambda _: 750_000)
    assert len(explore_run(results).methods) == 2
    monkeypatch.setattr(explore_module, "_characters", lambda _: 750_001)  # of two such, more than 1.5 million
    found = explore_run(results)
    assert (list(found.methods), found.note) == (
        ["etana on iris"],
        "Left out, so that the page stays small: etana on wine.",
    )
    assert found.note in Page(written(results, tmp_path)).inside("p")
    monkeypatch.setattr(acquisition_module, "LAYOUT", replace(LAYOUT, max_sets=1))
    text = written(results, tmp_path)
    assert text.count("Left out, so that the page stays small: etana on wine.") == 2


@pytest.mark.slow
@pytest.mark.usefixtures("without_pictures")
def test_a_run_that_keeps_nothing_says_so(tmp_path: Path) -> None:
    experiment = Experiment(["iris"], ["etana"], cv=2)
    bare = experiment.run(tmp_path / "bare.run", keep_instances=0, keep_explanations=0)
    page = Page(written(bare, tmp_path))
    said = " ".join(page.inside("p"))
    assert "This run keeps no explained instances: it was run with keep_explanations=0; run it again" in said
    assert "acquired cannot be drawn: no instances are kept of them." in said
    assert page.inside("script")[0].startswith("// Tables")
    plain = Experiment(["iris"], ["sklearn:GaussianNB"], cv=2).run(tmp_path / "plain.run")
    said = " ".join(Page(written(plain, tmp_path)).inside("p"))
    assert "No method of this run asks for features one by one." in said
    assert "acquired cannot be drawn: there are none." in said
    wine = Experiment(["iris", "wine"], ["etana"], cv=2).run(tmp_path / "bare.run")
    assert "No instances are kept of etana on iris." in written(wine, tmp_path)


@pytest.mark.slow
def test_pictures_of_acquisition(results: Results, plain: str, tmp_path: Path) -> None:
    page = Page(plain)
    summaries = [text for text in page.inside("summary") if " on average" in text]
    table_ = results.to_frame()
    own = table_[(table_["method"] == "etana") & (table_["price"] == 0.01)]
    for text, (name, cells) in zip(summaries, own.groupby("data", sort=False)):
        mean = np.average(cells["n_features_mean"], weights=cells["n_test"].astype(float))
        assert text == f"etana on {name}, price 0.01: {cells['n_test'].sum()} instances, {mean:.2f} features on average"
    assert [a.get("open") for a in page.named("details") if a.get("class") == "ways"] == ["", None]
    kept = results.record("iris", "etana")
    everybody = kept.truth == "virginica"
    cells = [text for tag, text in page.texts if tag in ("td", "th")]
    for j in np.unique(kept.record.order[kept.record.outcome >= 0]):
        bought = ((kept.record.order == j) & (kept.record.outcome >= 0)).any(axis=1)
        at = cells.index(kept.names[j])
        assert f"{100 * bought[everybody].mean():.1f}" == cells[at + 4]  # after the mean step and two other classes
        assert f"{100 * bought[everybody].mean():.0f}" in page.inside("text")
    told = " ".join(page.inside("desc"))
    assert f"virginica {kept.record.n_features[everybody].mean():.2f}" in told
    assert f"after {features(1)}: {(kept.record.n_features >= 1).sum()} instances, error" in told
    priced = Page(written(results, tmp_path, price=0.1))
    assert sum("price 0.1: " in text for text in priced.inside("summary")) == 2


@pytest.mark.slow
def test_the_figures_of_acquisition_are_those_of_the_plots(results: Results, tmp_path: Path) -> None:
    pyplot = pytest.importorskip("matplotlib.pyplot")
    pyplot.close("all")  # what tests before left open
    wine = load("wine")
    gone = np.random.default_rng(0).random(wine.X.shape) < 0.4
    holes = replace(wine, name="holes", X=np.where(gone, np.nan, wine.X))
    missing = Experiment([holes], ["etana"], cv=2).run(tmp_path / "holes.run")
    for run, name in ((results, "iris"), (results, "wine"), (missing, "holes")):
        kept = run.record(name, "etana")
        assert ((kept.record.order >= 0) != (kept.record.outcome >= 0)).any() == (name == "holes")
        classes, codes = codes_of(kept)
        assert classes == list(load("iris" if name == "iris" else "wine").class_names)
        columns, _, share = acquisition_shares(kept.record, codes)
        shown = AcquisitionMapDisplay.from_record(kept.record, kept.truth, names=kept.names)
        assert [kept.names[j] for j in columns] == shown.features
        np.testing.assert_allclose(share, shown.share)
        curves = StagewiseCalibrationDisplay.from_record(kept.record, kept.truth, classes=kept.classes)
        found = calibration(kept)
        assert found.counts == curves.counts
        for k in found.counts:
            np.testing.assert_allclose(found.accuracy[k], curves.accuracy[k])
            np.testing.assert_allclose(found.confidence[k], curves.confidence[k])
    pyplot.close("all")


@pytest.mark.slow
def test_of_methods_that_pay_nothing_accuracy_is_drawn_against_features(results: Results) -> None:
    free = summarise(results, results.to_frame()).assign(paid_mean=0.0)
    pictures = picture_section(free, list(dict.fromkeys(free["method"])))
    assert pictures.count("accuracy against features</figcaption>") == 2
    assert "bars their 95% intervals" in pictures


@pytest.mark.slow
def test_pictures_where_nothing_is_asked_and_where_there_are_many_classes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(acquisition_module, "LAYOUT", replace(LAYOUT, max_classes=3, max_features=4))
    rng = np.random.default_rng(0)
    y = np.repeat(np.arange(6), 9)
    X = np.column_stack([y // 3, y % 3, *rng.integers(0, 2, (4, len(y)))]).astype(float)
    many = Dataset("many", X, y, tuple(f"<class {i} of a very long name>" for i in range(6)))
    everything = seqclass.SequentialClassifier(solver=FirstK(6, certificate_paths=0))
    results = Experiment([many], {"first": everything}, cv=2).run(tmp_path / "many.run")
    assert (results.to_frame()["error"] == "").all()
    text = written(results, tmp_path)
    assert "the first 3 of 6 classes" in text
    page = Page(text)
    assert any("\N{HORIZONTAL ELLIPSIS}" in label and label.startswith("<class") for label in page.inside("text"))
    assert "the first 4 of 6 features" in text
    results = Experiment(["iris"], ["etana"], prices=[0.1, 10.0], cv=2).run(tmp_path / "dear.run")
    dear = Page(written(results, tmp_path, price=10.0))
    assert any(text.endswith("0.00 features on average") for text in dear.inside("summary"))
    assert "after 0 features: 150 instances, error" in " ".join(dear.inside("desc"))


def test_tables_sort_by_all_digits() -> None:
    assert [price.text for price in prices([0.0, 0.125, 10.0])] == ["0.000", "0.125", "10.000"]
    assert [price.text for price in prices([0.0, 1e-9])] == ["0.000e+00", "1.000e-09"]
    text = table("<t>", ["a", "b"], [["x", prices([0.1 + 0.2])[0]], ["y" * 60, "z"]])
    assert f'data-v="{0.1 + 0.2!r}"' in text
    assert '<th scope="row" class="long">' in text


def test_markup() -> None:
    assert element("p", a="\"'<>&", b_c=None, class_="x") == '<p a="&#34;&#39;&lt;&gt;&amp;" class="x"></p>'
    assert element("p", "<b>", element("i", "&")) == "<p>&lt;b&gt;<i>&amp;</i></p>"
    content = {"</ScRiPt><!--": ["\u2028 & é \x00"]}
    text = script_json(content)
    assert not set("<>&\u2028\x00") & set(text)
    assert json.loads(text) == content
    with pytest.raises(ValueError):
        script_json(float("nan"))
    for mark in "\u202a\u202e\u2066\u2069":  # a name must not turn the text around it
        assert mark not in Markup.escape(f"a{mark}b") + element("p", a=mark) + script_json([f"a{mark}b"])
    assert Markup.escape("\u0627\u0628\x00") == "\u0627\u0628\ufffd"


def test_text_stays_text_whichever_way_it_meets_markup() -> None:
    rule, text = element("br"), "<b>"
    found = [rule + text, text + rule, together(text, rule), Markup("{}").format(text) + rule]
    found += [Markup("%s") % text + rule, rule.join([text, text]), element("p", text, between=rule)]
    for one in found:
        assert type(one) is Markup
        assert "<b>" not in one
        assert "&lt;b&gt;" in one
        assert "<br/>" in one or "&lt;br/&gt;" in one
    assert element("p", f"{rule}") == "<p>&lt;br/&gt;</p>"  # a string made of markup is text: seen, but harmless


def calls_of_markup(source: str) -> list[str]:
    """Calls of Markup with anything but a text that stands there."""
    calls = [node for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Call)]
    own = [node for node in calls if getattr(node.func, "id", getattr(node.func, "attr", "")) == "Markup"]
    plain = [[isinstance(a, ast.Constant) and isinstance(a.value, str) for a in node.args] == [True] for node in own]
    return [ast.unparse(node) for node, is_plain in zip(own, plain) if not is_plain or node.keywords]


def test_only_what_stands_in_the_source_is_declared_markup() -> None:
    folder = Path(seqclass.report.__file__).parent
    files = [file for file in sorted(folder.glob("*.py")) if file.name != "_markup.py"]
    assert len(files) > 3
    assert [call for file in files for call in calls_of_markup(file.read_text(encoding="utf-8"))] == []
    assert len(calls_of_markup("Markup(f'<b>{x}</b>'); m.Markup(x); Markup('<b>' + x); Markup('<b>')")) == 3


@pytest.mark.slow
def test_without_matplotlib_a_sentence_stands_for_each_picture(
    results: Results, plain: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, draw_anew: Callable[..., Any]
) -> None:
    monkeypatch.setattr(acquisition_module, "draw", draw_anew)
    monkeypatch.setitem(sys.modules, "matplotlib.pyplot", None)
    monkeypatch.delattr("matplotlib.pyplot", raising=False)
    page = Page(written(results, tmp_path))
    said = 'pictures need matplotlib: python -m pip install "seqclass[plot]".'
    n_pictures = sum(a.get("role") == "img" for a in Page(plain).named("svg"))
    assert (page.named("svg"), page.inside("p").count(said)) == ([], n_pictures)
    assert len(page.named("table")) == len(Page(plain).named("table"))
