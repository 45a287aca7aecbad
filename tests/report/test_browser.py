"""The page in a real browser: every control is used, by mouse and by keyboard."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.datasets import load_iris
from sklearn.dummy import DummyClassifier

import seqclass
from seqclass import Costs, SequentialClassifier
from seqclass.datasets import load
from seqclass.experiment import Experiment, Results
from seqclass.report import explore, write_report
from seqclass.report.explore import ExploredRun

# pages that ask are driven in a browser by default, in tests/export
pytestmark = pytest.mark.slow

SUMMARY = "#summary table.sortable"
FIND = "#summary input[type=search]"


@pytest.fixture(scope="module")
def words() -> Any:
    """Explanations of many classes and long paths, with names that look like markup."""
    X = np.repeat(np.eye(15), 8, axis=0)
    names = [f"<i>f{j}</i>" for j in range(15)]
    clf = seqclass.etana(feature_costs=0.001).fit(X, np.repeat([f"class <{i}>" for i in range(15)], 8))
    return clf.explain(np.vstack([np.eye(15), np.full(15, np.nan)]), feature_names=names)


@pytest.fixture(scope="module")
def page(results: Results, words: Any, tmp_path_factory: pytest.TempPathFactory) -> Path:
    explanations = {"etana on wine": explore(results, "wine", "etana"), "<b>words</b>": words}
    path = tmp_path_factory.mktemp("page") / "small.html"
    return write_report(results, path, title="A <i>small</i> run", explanations=explanations)


@pytest.fixture
def opened(browser: Any, page: Path) -> Any:
    """The page, just opened; nothing went wrong in it at the end, and it asked for nothing."""
    browser.open(page)
    yield browser
    assert browser.faults == []
    assert browser.requests == [page.resolve().as_uri()]


@pytest.fixture(scope="module")
def long_page(failing: Any, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """130 rows in the summary, and 240 cells that failed, which takes less time than to learn."""
    folder = tmp_path_factory.mktemp("long")
    methods = dict.fromkeys([f"constant {i}" for i in range(12)], failing) | {"constant 12": DummyClassifier()}
    iris = load("iris")
    few = replace(iris, X=iris.X[:100], y=iris.y[:100], class_names=iris.class_names[:2])
    sets = [replace(few, name=f"{name} {i}") for name in ("few", "ones") for i in range(5)]
    with pytest.warns(UserWarning, match="240 of 260 cells failed"):
        results = Experiment(sets, methods, cv=2).run(folder / "long.run")
    assert (results.to_frame()["error"] != "").sum() == 240
    return write_report(results, folder / "long.html")


def column(browser: Any, number: int, table: str = SUMMARY) -> list[str]:
    return list(browser.texts(f"{table} tbody tr > :nth-child({number})"))


def sorts(browser: Any, table: str = SUMMARY) -> list[str | None]:
    code = f"[...document.querySelectorAll('{table} thead th')].map(h => h.getAttribute('aria-sort'))"
    return list(browser.run(code))


def figures(cells: list[str]) -> list[float]:
    return [float(cell.split()[0]) for cell in cells if cell.split()[0] != "\N{EN DASH}"]


def test_sorting_by_mouse(opened: Any) -> None:
    as_written = column(opened, 4)
    opened.click(f"{SUMMARY} thead button", 3)
    assert sorts(opened)[3] == "ascending"
    up = column(opened, 4)
    assert figures(up) == sorted(figures(as_written))
    assert up[-4:] == ["\N{EN DASH}"] * 4  # the method that failed has no cost
    assert opened.text("#summary [role=status]") == "sorted by realised cost, ascending"
    opened.click(f"{SUMMARY} thead button", 3)
    assert sorts(opened)[3] == "descending"
    down = column(opened, 4)
    assert figures(down) == sorted(figures(as_written), reverse=True)
    assert down[-4:] == ["\N{EN DASH}"] * 4  # last either way
    assert [s for s in sorts(opened) if s] == ["descending"]


def test_sorting_by_keyboard(opened: Any, hostile: str) -> None:
    opened.focus(f"{SUMMARY} thead th:nth-child(2) button")
    assert opened.run("getComputedStyle(document.activeElement).outlineStyle") != "none"
    opened.key("Enter")
    assert sorts(opened)[:3] == [None, "ascending", None]
    names = column(opened, 2)
    assert names[:4] == [hostile] * 4
    opened.key("Tab")
    opened.key(" ")
    assert sorts(opened)[:3] == [None, None, "ascending"]
    assert column(opened, 3) == ["0.01"] * 6 + ["0.10"] * 6
    # equal prices stay in the order they had
    assert column(opened, 2)[:6] == [hostile] * 2 + ["etana"] * 2 + ["fails"] * 2


def test_every_sortable_table_sorts(opened: Any) -> None:
    tables = opened.run("document.querySelectorAll('table.sortable').length")
    assert tables >= 4
    buttons = opened.run("document.querySelectorAll('table.sortable thead button').length")
    for number in range(buttons):
        opened.click("table.sortable thead button", number)
    assert opened.run("document.querySelectorAll('[aria-sort=ascending]').length") == tables


def test_long_tables_are_turned_and_searched(browser: Any, long_page: Path) -> None:
    browser.open(long_page)
    status = "#summary [role=status]"
    assert browser.text(status) == "Rows 1 to 50 of 130"
    assert len(column(browser, 1)) == 50
    previous, following = "#summary .pager button:nth-of-type(1)", "#summary .pager button:nth-of-type(2)"
    assert browser.run(f"document.querySelector('{previous}').getAttribute('aria-disabled')") == "true"
    browser.click(previous)
    assert browser.text(status) == "Rows 1 to 50 of 130"
    browser.click(following)
    browser.focus(following)
    browser.key("Enter")
    assert browser.text(status) == "Rows 101 to 130 of 130"
    assert browser.run(f"document.querySelector('{following}').getAttribute('aria-disabled')") == "true"
    browser.key("Enter")
    assert len(column(browser, 1)) == 30
    browser.click(f"{SUMMARY} thead button", 1)
    assert browser.text(status) == "Rows 1 to 50 of 130, sorted by method, ascending"
    # numbers in texts count as numbers
    assert column(browser, 2)[:30] == ["constant 0"] * 10 + ["constant 1"] * 10 + ["constant 2"] * 10
    browser.focus(FIND)
    for letter in "T 6":
        browser.key(letter)
    browser.run(f"document.querySelector('{FIND}').value = 'FEW 3 constant 12'")
    browser.run(f"document.querySelector('{FIND}').dispatchEvent(new Event('input'))")
    assert browser.text(status) == "Rows 1 to 1 of 1 found among 130"
    assert column(browser, 2) == ["constant 12"]
    browser.run(f"document.querySelector('{FIND}').select()")
    for letter in "zzz":
        browser.key(letter)
    assert browser.text(status) == "No rows found among 130"
    assert column(browser, 2) == []
    assert browser.text("#failures [role=status]") == "Rows 1 to 50 of 240"
    assert browser.faults == []


def told(browser: Any) -> list[str]:
    return str(browser.text("[data-part=told]")).split("\n\n")


def value(browser: Any, name: str, what: str = "value") -> Any:
    return browser.run(f"document.querySelector('[data-part={name}]').{what}")


def test_stepping_with_buttons(opened: Any, results: Results) -> None:
    first = explore(results, "wine", "etana").explanations[0]
    last = len(first.steps)
    assert last >= 2
    assert told(opened)[:2] == [f"Step 0 of {last}", "Nothing has been asked yet."]
    assert opened.text("[data-part=note]").startswith("Price 0.01, seed 0, fold 0: 20 of the 89 rows scored")
    opened.click("[data-part=previous]")
    assert told(opened)[0] == f"Step 0 of {last}"
    for number, step in enumerate(first.steps, 1):
        opened.click("[data-part=next]")
        lines = told(opened)
        assert lines[0] == f"Step {number} of {last}"
        assert lines[1].startswith(f"{step.name} = ")
        assert f"expected to save {step.expected_saving:.4f} more than it costs" in lines[2]
        shown = [text.split("%")[0] for text in opened.texts(".beliefs dd:last-child")]
        for text, belief in zip(shown, step.after):
            assert text.strip("<>") == f"{100 * belief:.1f}" or text[0] in "<>"
        widths = opened.run("[...document.querySelectorAll('.fill')].map(e => parseFloat(e.style.width))")
        np.testing.assert_allclose(widths, 100 * np.array(step.after), rtol=1e-3, atol=1e-4)
        marks = opened.run("[...document.querySelectorAll('.was')].map(e => parseFloat(e.style.left.slice(5)))")
        np.testing.assert_allclose(marks, 100 * np.array(step.before), rtol=1e-3, atol=1e-4)
        moved = 100 * (step.after[0] - step.before[0])
        sign = "+" if moved > 0 else "\N{MINUS SIGN}"
        told_move = opened.texts(".beliefs dd:last-child")[0].partition(" (")[2]
        assert told_move == (f"{sign}{abs(moved):.1f})" if abs(moved) >= 0.05 else "")
        assert value(opened, "slider") == str(number)
        assert opened.texts("[aria-current=step]")[0].startswith(f"{step.name} = ")
    assert lines[-2] in str(first)
    assert lines[-1].startswith("Decision: ")
    assert "In truth it is " in lines[-1]
    opened.click("[data-part=next]")
    assert told(opened)[0] == f"Step {last} of {last}"
    assert value(opened, "next", "getAttribute('aria-disabled')") == "true"
    opened.click("[data-part=previous]")
    assert told(opened)[0] == f"Step {last - 1} of {last}"
    opened.click("[data-part=list] button", 0)
    assert told(opened)[1] == "Nothing has been asked yet."
    assert value(opened, "told", "getAttribute('aria-live')") == "polite"


def test_stepping_with_the_keyboard(opened: Any) -> None:
    last = int(value(opened, "slider", "max"))
    opened.focus("[data-part=next]")
    opened.key(" ")
    assert told(opened)[0] == f"Step 1 of {last}"
    opened.key("ArrowRight")
    assert told(opened)[0] == f"Step 2 of {last}"
    opened.key("ArrowLeft")
    assert told(opened)[0] == f"Step 1 of {last}"
    opened.key("End")
    assert told(opened)[0] == f"Step {last} of {last}"
    opened.key("Home")
    assert told(opened)[0] == f"Step 0 of {last}"
    # the slider moves by one, not by two
    opened.focus("[data-part=slider]")
    opened.key("ArrowRight")
    assert told(opened)[0] == f"Step 1 of {last}"
    assert value(opened, "slider", "getAttribute('aria-valuetext')") == f"step 1 of {last}"
    opened.key("End")
    assert told(opened)[0] == f"Step {last} of {last}"
    # in the list the focus follows
    opened.focus("[data-part=list] button")
    opened.key("Enter")
    opened.key("ArrowRight")
    assert told(opened)[0] == f"Step 1 of {last}"
    assert opened.run("document.activeElement.getAttribute('aria-current')") == "step"


def test_the_slider_is_dragged(opened: Any) -> None:
    last = int(value(opened, "slider", "max"))
    place = opened.run(
        "(() => { const e = document.querySelector('[data-part=slider]'); e.scrollIntoView({block: 'center'});"
        "const r = e.getBoundingClientRect(); return {left: r.left, width: r.width, y: r.top + r.height / 2}; })()"
    )
    start, end = place["left"] + 5, place["left"] + place["width"] - 5
    for kind, x in (("mousePressed", start), ("mouseMoved", (start + end) / 2), ("mouseMoved", end)):
        # a move is answered with the next frame only, for which a browser without a screen takes seconds
        opened.post("Input.dispatchMouseEvent", type=kind, x=x, y=place["y"], button="left", buttons=1, clickCount=1)
    opened.send("Input.dispatchMouseEvent", type="mouseReleased", x=end, y=place["y"], button="left", clickCount=1)
    assert told(opened)[0] == f"Step {last} of {last}"


def test_picking_an_instance(opened: Any) -> None:
    titles = opened.run("[...document.querySelector('[data-part=case]').options].map(o => o.text)")
    assert len(titles) == 20
    assert titles[0].startswith("Row ")
    opened.click("[data-part=earlier]")
    assert value(opened, "case", "selectedIndex") == 0
    opened.click("[data-part=next]")
    opened.click("[data-part=later]")
    assert value(opened, "case", "selectedIndex") == 1
    assert told(opened)[0].startswith("Step 0 of ")
    opened.click("[data-part=earlier]")
    assert value(opened, "case", "selectedIndex") == 0
    opened.focus("[data-part=case]")
    opened.key("ArrowDown")
    assert value(opened, "case", "selectedIndex") == 1
    asked = int(titles[1].split(" asked")[0].rsplit(" ", 1)[1])
    assert value(opened, "slider", "max") == str(asked)
    assert len(opened.texts("[data-part=list] li")) == asked + 1
    opened.key("End")
    assert value(opened, "case", "selectedIndex") == 19
    assert value(opened, "later", "getAttribute('aria-disabled')") == "true"
    opened.click("[data-part=later]")
    assert value(opened, "case", "selectedIndex") == 19


def test_picking_a_classifier(opened: Any, words: Any) -> None:
    opened.focus("[data-part=set]")
    opened.key("ArrowDown")
    assert value(opened, "set", "selectedOptions[0].text") == "<b>words</b>"
    assert value(opened, "case", "length") == 16
    assert opened.text("[data-part=note]") == ""
    names = opened.texts(".beliefs dt")
    assert len(names) == 12
    assert set(names) <= {f"class <{i}>" for i in range(15)}
    assert opened.text("[data-part=others]") == "3 less likely classes are not shown."
    opened.focus("[data-part=case]")
    opened.key("End")
    assert len(words[15].steps) >= 1
    opened.click("[data-part=next]")
    assert told(opened)[1] == f"{words[15].steps[0].name} was asked for and is missing."
    assert opened.texts("[data-part=list] li")[1] == f"{words[15].steps[0].name} = missing"
    assert opened.run("document.querySelectorAll('main i, main b').length") == 0


def shown_ways(browser: Any) -> list[bool]:
    """Which of the pictures of acquisition are to be seen."""
    code = "[...document.querySelectorAll('.ways .pictures')].map(e => e.checkVisibility({checkOpacity: true}))"
    return list(browser.run(code))


def test_pictures_of_acquisition_open_and_close(opened: Any) -> None:
    assert [name.split(",")[0] for name in opened.texts(".ways > summary")] == ["etana on iris", "etana on wine"]
    assert shown_ways(opened) == [True, False]
    opened.click(".ways > summary", 1)
    assert shown_ways(opened) == [True, True]
    opened.click(".ways > summary", 0)
    assert shown_ways(opened) == [False, True]
    # by the keyboard, and only what is open can be reached
    opened.focus(".ways > summary")
    opened.key("Enter")
    assert opened.run("getComputedStyle(document.activeElement).outlineStyle") != "none"
    assert shown_ways(opened) == [True, True]
    opened.key(" ")
    assert shown_ways(opened) == [False, True]
    opened.key("Tab")
    assert opened.run("document.activeElement.textContent").startswith("etana on wine")
    opened.key("Enter")
    assert shown_ways(opened) == [False, False]
    opened.key("Tab")
    assert opened.run("document.activeElement.closest('#explorer') !== null")


def test_pictures_of_acquisition_can_be_read(opened: Any, results: Results) -> None:
    opened.run("document.querySelectorAll('.ways').forEach(d => { d.open = true; })")
    kept = results.record("wine", "etana")
    opened.run("document.querySelectorAll('.ways details').forEach(d => { d.open = true; })")
    counts = opened.run(
        "[...[...document.querySelectorAll('.ways table')].find(t => t.textContent.includes('Number of features')"
        " && t.textContent.includes('class_0')).tBodies[0].rows].map(r => [...r.cells].map(c => c.innerText))"
    )
    for name, n, mean in counts:
        own = kept.record.n_features[kept.truth == name]
        assert (int(n), float(mean)) == (len(own), round(own.mean(), 2))
    # in no picture do letters leave their box
    outside = opened.run(
        "[...document.querySelectorAll('.ways svg[role=img]')].flatMap(s => { const b = s.getBoundingClientRect();"
        " return [...s.querySelectorAll('text')].filter(t => { const r = t.getBoundingClientRect();"
        " return r.left < b.left - 1 || r.right > b.right + 1 || r.top < b.top - 1 || r.bottom > b.bottom + 1; })"
        ".map(t => t.textContent); })"
    )
    assert outside == []


def test_a_page_without_an_explorer(browser: Any, results: Results, tmp_path: Path) -> None:
    for name, settings in (("none", {"explanations": {}}), ("noted", {"explanations": ExploredRun({}, "None <b>.")})):
        path = write_report(results, tmp_path / f"{name}.html", **settings)
        browser.open(path)
        browser.click(f"{SUMMARY} thead button", 3)
        assert sorts(browser)[3] == "ascending"
        assert browser.faults == []
    assert browser.text("#explorer p") == "None <b>."


def test_the_explorer_of_a_run(browser: Any, results: Results, tmp_path: Path) -> None:
    browser.open(write_report(results, tmp_path / "own.html", price=0.1))
    assert browser.texts("[data-part=set] option") == ["etana on iris", "etana on wine"]
    browser.focus("[data-part=set]")
    browser.key("ArrowDown")
    first = explore(results, "wine", "etana", price=0.1).explanations[0]
    assert browser.text("[data-part=note]").startswith("Price 0.1, seed 0, fold 0: 20 of the 89 rows scored")
    browser.click("[data-part=next]")
    assert told(browser)[1].startswith(f"{first.steps[0].name} = ")
    assert browser.faults == []


def test_the_explorer_tells_visits(browser: Any, results: Results, tmp_path: Path) -> None:
    X, y = load_iris(return_X_y=True)
    clf = SequentialClassifier(feature_costs=Costs(0.01, visit_cost=0.02), order="adaptive").fit(X, y)
    explained = clf.explain(X[::10])
    found = next(i for i, one in enumerate(explained) if len(one.steps) > len(one.visit_texts) > 0)
    steps, visits = explained[found].steps, explained[found].visit_texts
    page = write_report(results, tmp_path / "visits.html", explanations={"ours": explained})
    browser.open(page, width=390, height=844)
    assert f" asked in {len(visits)} visit" in browser.texts("[data-part=case] option")[found]
    for _ in range(found):
        browser.click("[data-part=later]")
    browser.click("[data-part=next]")
    assert told(browser)[1] == f"{visits[0]}."
    assert told(browser)[2].startswith(f"{steps[0].name} = ")
    assert browser.texts("[data-part=list] .visit") == [f"Visit {n + 1}" for n in range(len(visits))]
    browser.click("[data-part=next]")
    assert told(browser)[1].startswith(f"{steps[1].name} = ") == (1 not in visits)
    assert browser.faults == []


def test_links_and_details(opened: Any) -> None:
    for number, name in enumerate(opened.texts("nav a")):
        opened.click("nav a", number)
        assert opened.run("location.hash") == f"#{name.lower()}"
        assert opened.run(
            f"Math.abs(document.getElementById('{name.lower()}').getBoundingClientRect().top) < innerHeight"
        )
    opened.focus(".skip")
    assert opened.run("document.querySelector('.skip').getBoundingClientRect().left") >= 0
    opened.key("Enter")
    assert opened.run("location.hash") == "#main"
    assert opened.run("document.querySelectorAll('details[open]').length") == 1
    opened.click("details[open] > summary")
    for number in range(opened.run("document.querySelectorAll('summary').length")):
        opened.click("summary", number)
    assert opened.run("document.querySelectorAll('details:not([open])').length") == 0


@pytest.mark.parametrize("dark", [False, True])
def test_on_a_phone(browser: Any, page: Path, dark: bool) -> None:
    browser.open(page, width=390, height=844, dark=dark)
    browser.run("document.querySelectorAll('details').forEach(d => { d.open = true; })")
    assert browser.run("document.documentElement.scrollWidth") == 390
    # what a finger has to hit
    sizes = browser.run(
        "[...document.querySelectorAll('.steps button, .choose button, select, .way-list button, .ways > summary')]"
        ".map(e => e.getBoundingClientRect()).map(r => [r.left, r.right, r.height])"
    )
    assert all(0 <= left < right <= 390 and height >= 32 for left, right, height in sizes)
    colours = browser.run("[getComputedStyle(document.body).color, getComputedStyle(document.body).backgroundColor]")
    text, ground = (sum(map(int, colour[4:-1].split(","))) for colour in colours)
    assert (text > ground) == dark
    browser.click("[data-part=next]")
    assert told(browser)[0].startswith("Step 1 of ")
    assert browser.faults == []


def test_the_page_can_be_reached_by_tab_alone(opened: Any) -> None:
    opened.run("document.querySelector('[data-part=set]').focus()")
    reached = []
    for _ in range(8):
        reached.append(opened.run("document.activeElement.dataset.part || document.activeElement.textContent"))
        opened.key("Tab")
    parts = ["set", "case", "earlier", "later", "previous", "next", "slider", "before anything"]
    assert reached == parts


def test_it_prints(opened: Any) -> None:
    found = opened.send("Page.printToPDF")
    assert len(found["data"]) > 20_000
    opened.send("Emulation.setEmulatedMedia", media="print")
    hidden = "getComputedStyle(document.querySelector('{}')).display"
    assert opened.run(hidden.format(".steps")) == opened.run(hidden.format("nav")) == "none"
    assert opened.run(hidden.format(SUMMARY)) == "table"
    # on paper nothing scrolls: all columns are on the sheet
    opened.send("Emulation.setDeviceMetricsOverride", width=700, height=1000, deviceScaleFactor=1, mobile=False)
    right = "document.querySelector('{}').getBoundingClientRect().right"
    assert opened.run(right.format(SUMMARY)) <= 700
    assert opened.run("document.documentElement.scrollWidth") == 700
    opened.send("Emulation.setEmulatedMedia", media="")
