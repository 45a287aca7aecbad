"""The page in a real browser: it stands where a session stands, and it can be used."""

from __future__ import annotations

import importlib.util
import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from live_cases import EVERY, GRAPHS, PAGES
from sklearn.datasets import load_iris

from seqclass import Rules, SequentialClassifier, SkipLogic, SkipRule, certify_differential
from seqclass.bn import NaiveBayes, NetworkTables
from seqclass.exams import ItemResponse
from seqclass.export import export_policy, policy_data, policy_page
from seqclass.pomdp import Adaptive, ClassInformation, FirstK

HOSTILE = "<img src=x onerror=\"alert(1)\"> & 'co' </script><script>alert(2)</script>"

#: Runs all cases in the page at once, and gives where each stands after every answer.
RUN = """
((cases) => {
  const { data, stand, outcomeOf } = window.seqclassPolicy;
  const number = Object.fromEntries(data.questions.map((q, i) => [q.name, i]));
  const told = (at) => ({
    belief: at.belief, asked: at.asked && data.questions[at.asked.question].name, price: at.asked && at.asked.price,
    saving: at.asked && at.asked.saving,
    added: at.asked && at.asked.added, now: at.now, cost: at.paid, decision: data.decisions[at.decision],
    set: at.set && at.set.map((i) => data.classes[i]),
    panel: at.asked ? at.asked.panel.map((o) => [data.questions[o.question].name, o.price]) : [],
    visit: at.asked ? at.asked.visit : 0, visits: data.visits ? at.visits : null,
    best: at.asked ? at.best.map((o) => [data.questions[o.question].name, o.price, o.saving]) : [],
  });
  const outcome = (f, value) => value === null || value === undefined ? -1 : outcomeOf(f, String(value));
  const given = ([name, value, known]) => {
    if (name === "leave") return { leave: true };
    if (name === "order") return { order: value.map((one) => number[one]) };
    const shows = data.questions[number[name]].features, parts = value !== null && typeof value === "object";
    return { question: number[name], known,
      outcomes: shows.map((f) => outcome(f, parts ? value[data.features[f].name] : value)) };
  };
  return cases.map((answers) => {
    let so_far = [];
    return [null, ...answers].map((answer) => {
      if (answer) so_far = answer[0] === "undo" ? so_far.slice(0, -1) : [...so_far, given(answer)];
      return told(stand(so_far));
    });
  });
})(%s)
"""


def same(found: dict[str, Any], wanted: dict[str, Any]) -> None:
    assert found["asked"] == wanted["asked"]
    assert (found["decision"], found["set"]) == (wanted["decision"], wanted["set"])
    for key in ("belief", "cost", "now", *(("price", "saving", "added") if wanted["asked"] else ())):
        if wanted[key] is None:  # the policy does not tell
            assert found[key] is None
        else:
            assert found[key] == pytest.approx(wanted[key], abs=1e-9, rel=0), key
    if found["visits"] is not None:
        assert (found["visits"], found["visit"]) == (wanted["visits"], pytest.approx(wanted["visit"], abs=1e-9))
        assert [name for name, _ in found["panel"]] == [name for name, _ in wanted["panel"]]
        assert [p for _, p in found["panel"]] == pytest.approx([p for _, p in wanted["panel"]], abs=1e-9)
    assert len(found["best"]) == len(wanted["best"])
    for (name, price, saving), (wanted_name, wanted_price, wanted_saving) in zip(found["best"], wanted["best"]):
        assert saving == (None if wanted_saving is None else pytest.approx(wanted_saving, abs=1e-9))
        if name != wanted_name:  # a tie
            assert saving == pytest.approx(wanted_saving, abs=1e-12)
        else:
            assert price == pytest.approx(wanted_price, abs=1e-12)


#: Those of which some stands have to be among the cases.
VARIED = {
    "few of many",
    "fixed lookahead",
    "refer",
    "refer, adaptive",
    *(n for n in PAGES if n.startswith("sets") or n == "visits"),
}


@pytest.mark.slow_cells(
    "bounds",
    "expected saving",
    "few of many",
    "first",
    "fixed lookahead",
    "given order",
    "hidden information",
    "known at the start, fixed tree",
    "known first",
    "ladder",
    "likely",
    "listed, groups",
    "listed, max_cost",
    "listed, max_features",
    "looking ahead",
    "missing tells, visits",
    "mixture",
    "network",
    "network, known at the start",
    "refer",
    "refer, adaptive",
    "search, budgets",
    "sets, missing tells",
    "sets, visits",
    "skills",
    "spelt",
    "sure",
    "thresholds",
    "tree, improved",
    "visits",
    "visits, budgets",
    "visits, bundles",
    "visits, fixed order",
    "visits, ladder, constant",
    "visits, planned",
    "visits, tree",
)
@pytest.mark.parametrize(
    "name",
    [pytest.param(n, marks=pytest.mark.slow) if isinstance(n, str) and n not in PAGES else n for n in EVERY],
)
def test_the_page_stands_where_a_session_stands(
    name: str, model: Any, cases: Any, browser: Any, tmp_path: Path
) -> None:
    clf, page = model(name), tmp_path / "page.html"
    data = export_policy(clf, page)
    assert data["kind"] == ("graph" if name in GRAPHS else "program")
    wanted = cases(
        clf,
        35 if name.startswith("default") else 15 if name in PAGES and name not in VARIED else 25,
        data["kind"] == "program",
    )
    assert sum(len(case["answers"]) for case in wanted) > 30
    assert any(answer[1:2] == [None] for case in wanted for answer in case["answers"])
    if name == "visits":
        assert {"leave", "order"} <= {answer[0] for case in wanted for answer in case["answers"]}
    if name.startswith("visits") and name != "visits, one at a time":
        assert max(len(stand["panel"]) for case in wanted for stand in case["stands"]) > 1
    if "refer" in name:
        likeliest = [data["classes"][int(np.argmax(stand["belief"]))] for case in wanted for stand in case["stands"]]
        told = [stand["decision"] for case in wanted for stand in case["stands"]]
        assert {("refer", "well"), ("ill", "well")} <= set(zip(told, likeliest))
    if name.startswith("sets"):
        told = [stand["set"] for case in wanted for stand in case["stands"] if stand["asked"] is None]
        assert {None if one is None else len(one) > 1 for one in told} >= {None, True}
    browser.open(page)
    found = browser.run(RUN % json.dumps([case["answers"] for case in wanted]))
    for case, stands in zip(wanted, found, strict=True):
        for stand, session in zip(stands, case["stands"], strict=True):
            same(stand, session)
    assert browser.faults == []
    assert browser.requests == [page.resolve().as_uri()]


NEXT, PROBLEM = "[data-part=asked]", "[data-part=problem]"


@pytest.fixture
def opened(model: Any, browser: Any, tmp_path: Path) -> Any:
    """The page of three classes with names that look like markup, on a phone; nothing goes wrong in it."""
    page = tmp_path / "page.html"
    export_policy(model("grid3"), page, title=HOSTILE)
    browser.open(page, width=390, height=844)
    belief = "document.querySelector('[data-part=belief] > div').getBoundingClientRect().bottom"
    assert browser.run(belief) < 844  # in sight without scrolling
    yield browser
    assert browser.faults == []
    assert browser.requests == [page.resolve().as_uri()]
    assert browser.run("document.documentElement.scrollWidth") == 390


def question(browser: Any) -> str:
    return str(browser.text(NEXT)).split(". ", 1)[1]


def typed(browser: Any, text: str) -> None:
    for letter in text:
        browser.key(letter)


def test_a_case_by_keyboard(opened: Any, model: Any) -> None:
    session = model("grid3").session()
    opened.focus("#value")
    for _ in range(4):
        asked = session.next_feature
        if asked is None:
            break
        assert question(opened) == " ".join(asked.name.split())
        assert opened.run("document.activeElement.id") == "value"  # the next field has the focus by itself
        if asked.categories:
            typed(opened, asked.categories[1][0])
            session.observe(asked.name, asked.categories[1])
        else:
            typed(opened, "0.25")
            session.observe(asked.name, 0.25)
        if asked.categories:
            opened.key("Tab")
        opened.key("Enter")
    assert session.next_feature is None
    assert opened.text("[data-part=decided]") == f"Decision: {session.decision}"
    assert opened.run("document.activeElement.dataset.part") == "decided"
    assert f"Decision: {session.decision}" in opened.text("[data-part=record]")
    assert len(opened.texts("[data-part=answers] li")) == len(session.history)


@pytest.mark.slow
def test_a_bank_of_sixty_items_with_areas_is_a_page(browser: Any, tmp_path: Path) -> None:
    rng, page = np.random.default_rng(0), tmp_path / "exam.html"
    bank = ItemResponse.from_items(
        {"b": rng.normal(size=60)}, [-0.5, 0.7], labels=["novice", "able", "expert"], points=9
    )
    areas = {f"area {k}": {"items": range(k, 60, 4), "at_least": 2, "at_most": 3} for k in range(4)}
    rule = Adaptive([ClassInformation()], n_paths=60, n_cases=60, max_rounds=0, max_stages=9, certificate_paths=0)
    rules = Rules(areas, enemies=[[0, 1], [4, 8]], first=["x7"])
    clf = SequentialClassifier.from_model(bank, solver=rule, feature_costs=0.01, rules=rules)
    assert export_policy(clf, page)["kind"] == "program"
    demanded = set()
    for width in (390, 1280):
        session = clf.session()
        browser.open(page, width=width, height=844)
        browser.focus("#value")
        while (asked := session.next_feature) is not None:
            assert question(browser) == asked.name
            demanded.add("The rules ask for this" in browser.text("[data-part=price]"))
            assert not (asked.expected_saving > 0 and "The rules" in browser.text("[data-part=price]"))
            typed(browser, ("wrong", "right")[answer := int(rng.integers(2))])
            browser.key("Tab")
            browser.key("Enter")
            session.observe(asked.name, answer)
        assert browser.text("[data-part=decided]") == f"Decision: {session.decision}"
        order = np.array([int(answer.name[1:]) for answer in session.history])
        assert (np.bincount(order % 4, minlength=4) >= 2).all()
        assert order[0] == 7
        assert browser.run("document.documentElement.scrollWidth") == width
        assert browser.faults == []
    assert demanded == {True, False}


@pytest.mark.slow
def test_the_page_says_which_classes_are_possible_where_that_is_promised(
    model: Any, browser: Any, tmp_path: Path
) -> None:
    clf = model("sets")
    page, session = tmp_path / "page.html", clf.session()
    export_policy(clf, page)
    browser.open(page)
    assert f"Checked on {clf.agent_.differential.n_rows} cases" in browser.text("header .note")
    while session.next_feature is not None:
        session.unavailable(session.next_feature.name)
        browser.click("[data-part=missing]")
    told = "Possible: " + ", ".join(map(str, session.differential))
    assert browser.text("[data-part=possible]") == told
    assert told in browser.text("[data-part=record]")
    browser.click("[data-part=again]")
    browser.click("[data-part=stop]")  # it would ask on, and nothing is promised
    assert browser.text("[data-part=possible]") == ""
    assert browser.faults == []


@pytest.mark.parametrize("missing", ["ignored", "informative"])
def test_what_is_known_of_every_case_comes_first_where_sets_are_told(
    missing: str, browser: Any, tmp_path: Path
) -> None:
    X, y = load_iris(return_X_y=True, as_frame=True)
    X = X.set_axis(["a", "b", "c", "d"], axis=1)
    X.iloc[::7, 0] = np.nan
    clf = SequentialClassifier(NaiveBayes(), order="adaptive", feature_costs=0.02, known=["a"], missing=missing)
    clf = certify_differential(clf.fit(X[::2], y[::2]), X[1::2], y[1::2], alpha=0.1)
    cases = []
    for first in (True, False):
        session, answers = clf.session(), [["a", 5.0, True]] if first else []
        for name, value, known in answers:
            session.observe(name, value, known=known)
        while session.next_feature is not None:
            answers.append([session.next_feature.name, 1.3, False])
            session.observe(session.next_feature.name, 1.3)
        rest = next(name for name in "bcda" if name not in [answer[0] for answer in answers])
        late = [*answers, [rest, 3.0, True]]
        cases += [(answers, session.differential), (late, None)]
    assert (cases[2][1] is None) == (missing == "informative")  # that it was missing had to be told
    page = tmp_path / "page.html"
    export_policy(clf, page)
    browser.open(page)
    found = browser.run(RUN % json.dumps([answers for answers, _ in cases]))
    for stands, (_, wanted) in zip(found, cases, strict=True):
        assert stands[-1]["set"] == (None if wanted is None else list(map(str, wanted)))


@pytest.mark.slow_cells("end")
@pytest.mark.parametrize("last", ["end", "decision", "record"])
def test_who_is_asked_sees_questions_alone(last: str, model: Any, browser: Any, tmp_path: Path) -> None:
    page, clf = tmp_path / "page.html", model("items")
    data = export_policy(clf, page, respondent=last)
    browser.open(page, width=390, height=844)
    case = clf.session()
    while (question := case.next_feature) is not None:
        assert question.name in browser.text(NEXT)
        seen = browser.run("document.querySelector('main').innerText")
        assert not any(word in seen for word in ("%", "Belief", "Price", "saving", "Answers", "Record", "Decision"))
        browser.run("document.querySelector('[data-part=field] select, [data-part=field] input').value = '1'")
        browser.click("[data-part=answer]")
        case.observe(question.name, 1)
    seen = browser.run("document.querySelector('main').innerText")
    assert ("Thank you." in seen) == (last == "end")
    assert (f"Decision: {data['decisions'][list(clf.decisions_).index(case.decision)]}" in seen) == (last != "end")
    assert ("%" in seen, "Record" in seen, "Belief" in seen) == (last == "record", last == "record", False)
    assert browser.faults == []
    with pytest.raises(ValueError, match="respondent is for a page"):
        export_policy(clf, tmp_path / "policy.json", respondent=last)


def test_the_foot_of_a_page_for_who_is_asked_tells_no_cost(model: Any) -> None:
    data = policy_data(model("grid3"))
    data["provenance"]["held_out_cost"] = 1.5
    told = ["held-out cost 1.5" in policy_page(model("grid3"), data, respondent=one) for one in (None, "end")]
    assert told == [True, False]


@pytest.mark.slow
def test_an_answer_that_skip_logic_leaves_out_goes_with_a_correction(browser: Any, tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 200)
    device = np.where(rng.random(200) < 0.3 + 0.4 * y, "laptop", "desktop")
    docked = np.where(rng.random(200) < 0.2 + 0.6 * y, "yes", "no")
    X = pd.DataFrame({"device": device, "docked": np.where(device == "laptop", docked, None)})
    X["slow"] = np.where(rng.random(200) < 0.2 + 0.5 * y, "yes", "no")
    rules, solver = SkipLogic([SkipRule("docked", "device", ["laptop"])]), FirstK(3, certificate_paths=0)
    clf = SequentialClassifier(
        NaiveBayes(), order="adaptive", feature_costs=0.001, rules=rules, solver=solver, random_state=0
    ).fit(X, y)
    export_policy(clf, tmp_path / "page.html")
    browser.open(tmp_path / "page.html")
    case, values, over = clf.session(), {"device": "laptop", "docked": "yes", "slow": "yes"}, "[data-part=because]"
    while (asked := case.next_feature) is not None:
        case.observe(asked.name, values[asked.name])
        fill(browser, {"#value": values[asked.name]})
        browser.click("[data-part=answer]")
    names = [answer.name for answer in case.history]
    assert len(names) == 3
    assert names.index("docked") > names.index("device")
    assert browser.text(over) == "Everything has been asked."
    case.correct("device", "desktop")
    browser.click(".line", names.index("device"))
    fill(browser, {"#change": "desktop"})
    browser.click(".answers form button[type=submit]")
    stands(browser, case)
    assert browser.text(PROBLEM) == "No longer asked for, and so taken back: docked."
    assert [text.split(" = ")[0] for text in browser.texts("[data-part=answers] li")] == [
        answer.name for answer in case.history
    ]
    assert browser.text(over) == "Everything has been asked."
    assert browser.faults == []


def test_names_stay_text(opened: Any) -> None:
    assert opened.run("document.querySelectorAll('img, b').length") == 0
    assert opened.text("h1") == HOSTILE
    assert opened.texts("[data-part=belief] dt") == ["<b>no</b>", "may\"be'", "yes"]
    assert HOSTILE in opened.run("document.querySelector('#which').textContent")


def test_bad_input_is_told_and_changes_nothing(opened: Any) -> None:
    opened.click("[data-part=answer]")
    assert opened.text(PROBLEM) == f"{HOSTILE}: choose an answer."
    assert opened.run("document.querySelector('#value').getAttribute('aria-invalid')") == "true"
    opened.click("[data-part=missing]")
    assert opened.text(PROBLEM) == ""
    for text, told in [
        ("", ": give a number, or say"),
        ("1,5", "with a point before decimals"),
        ("0x10", ": write a number"),
        ("1e999", ": this number is too large"),
        ("12 years", ": write a number"),
    ]:
        opened.run(f"document.querySelector('#value').value = {json.dumps(text)}")
        opened.click("[data-part=answer]")
        assert told in opened.text(PROBLEM)
    assert len(opened.texts("[data-part=answers] li")) == 1
    opened.run("document.querySelector('#value').value = '1e6'")
    opened.click("[data-part=answer]")
    assert "outside of what training showed" in opened.text(PROBLEM)
    assert len(opened.texts("[data-part=answers] li")) == 2


def test_another_feature_undo_and_stop(opened: Any, model: Any) -> None:
    session = model("grid3").session()
    first = opened.text(NEXT)
    opened.click("summary")
    opened.run(
        "{const w = document.querySelector('#which');"
        "w.value = [...w.options].find(o => o.text === 'level').value;"
        "w.dispatchEvent(new Event('change'))}"
    )
    opened.run("document.querySelector('#other-value').value = '0.5'")
    opened.click("[data-part=known]")
    opened.click("[data-part=other-form] button[type=submit]")
    session.observe("level", 0.5, known=True)
    assert opened.texts("[data-part=answers] li") == ["level = 0.5: paid 0 (known before)"]
    assert question(opened) == " ".join(session.next_feature.name.split())
    assert "level" not in opened.run("[...document.querySelector('#which').options].map(o => o.text)")
    opened.click("[data-part=stop]")
    assert opened.text("[data-part=decided]") == f"Decision: {session.decision}"
    opened.click("[data-part=go-on]")
    opened.click("[data-part=undo]")
    assert opened.text(NEXT) == first
    assert opened.run("document.querySelector('[data-part=undo]').disabled")
    opened.click("[data-part=missing]")
    assert "paid 0.02" in opened.text("[data-part=answers] li")  # this model charges for what is missing
    opened.click("[data-part=again]")
    assert opened.text(NEXT) == first
    opened.click("[data-part=copy]")
    assert opened.text("[data-part=copied]") != ""


def test_a_cut_graph_says_so(model: Any, browser: Any, tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    data = export_policy(model("graph"), page, min_probability=0.02)
    assert data["cut"] > 0
    rare = next(i for i, node in enumerate(data["nodes"]) if node.get("cut"))
    way = []
    while rare:
        above, rare_of = rare, rare
        for i, node in enumerate(data["nodes"]):
            following = [*node.get("next", ()), node.get("missing")]
            if above in following:
                at = following.index(above)
                way.insert(0, {"question": node["ask"], "outcomes": [-1 if at == len(following) - 1 else at]})
                rare = i
                break
        assert rare != rare_of
    browser.open(page, dark=True)
    assert "takes answers in the order in which it asks" in browser.text("header")
    assert re.search(r"For about \d+ in \d+ cases this page stops asking early", browser.text("header"))
    assert browser.run("document.querySelector('[data-part=other]')") is None
    found = browser.run(f"(a => {{const s = seqclassPolicy.stand(a); return [s.cut, s.asked]}})({json.dumps(way)})")
    assert found == [True, None]


@pytest.mark.slow_cells("missing tells")
@pytest.mark.parametrize("name", ["missing tells", "missing tells, bundles"])
def test_a_gap_that_tells_something_is_an_answer(name: str, model: Any, browser: Any, tmp_path: Path) -> None:
    clf, page = model(name), tmp_path / "page.html"
    data = export_policy(clf, page)
    tells = [["missing" in data["features"][f] for f in question["features"]] for question in data["questions"]]
    assert {True, False} <= {one for row in tells for one in row}
    browser.open(page)
    browser.click("summary")
    for number, (shows, row) in enumerate(zip(data["questions"], tells)):
        chosen = f"w.value = '{number}'; w.dispatchEvent(new Event('change'))"
        browser.run(f"{{const w = document.querySelector('#which'); {chosen}}}")
        browser.click("[data-part=other-missing]")
        words = ["missing (counts as an answer)" if one else "not available" for one in row]
        names = [data["features"][f]["text"] for f in shows["features"]]
        each = words[0] if len(set(words)) == 1 else ", ".join(map(" ".join, zip(names, words)))
        assert browser.texts("[data-part=answers] li")[-1].startswith(f"{shows['text']} = {each}: paid ")
        browser.click("[data-part=again]")
    assert browser.faults == []


@pytest.mark.slow
def test_a_bundle_has_a_field_for_each_feature(model: Any, browser: Any, tmp_path: Path) -> None:
    """Those left blank are not available, as in a session; all blank is the button's business."""
    clf, page = model("bundles"), tmp_path / "page.html"
    data = export_policy(clf, page)
    session = clf.session()
    bundle = next(question for question in data["questions"] if question["name"] == "a")
    names = [data["features"][f]["name"] for f in bundle["features"]]
    browser.open(page, width=390, height=844)
    browser.click("summary")
    browser.run(
        "{const w = document.querySelector('#which');"
        "w.value = [...w.options].find(o => o.text === 'a').value;"
        "w.dispatchEvent(new Event('change'))}"
    )
    assert browser.texts("[data-part=other-field] label") == names
    browser.run("document.querySelector('#other-value-1').value = 'none'")
    browser.click("[data-part=other-form] button[type=submit]")
    assert f"{names[1]}: write a number" in browser.text(PROBLEM)
    assert browser.run("document.activeElement.id") == "other-value-1"
    browser.run("document.querySelector('#other-value-1').value = '20'")
    browser.click("[data-part=other-form] button[type=submit]")
    session.observe("a", {names[1]: 20.0})
    (told,) = browser.texts("[data-part=answers] li")
    assert told.startswith(f"a = {names[0]} not available, {names[1]} 20: paid 0.0")
    assert f"a = {names[0]} not available" in browser.text("[data-part=record]")
    if session.next_feature is not None:
        assert question(browser) == session.next_feature.name
    assert browser.run("document.documentElement.scrollWidth") == 390
    assert browser.faults == []


@pytest.mark.slow
def test_a_panel_is_ordered_together(model: Any, browser: Any, tmp_path: Path) -> None:
    """Its answers come in any order, one by one or several at once; the rest can be left; visits are told."""
    clf, page = model("visits"), tmp_path / "page.html"
    export_policy(clf, page)
    session = clf.session()
    names = [question.name for question in session.next_panel]
    assert len(names) > 2
    browser.open(page, width=390, height=844)
    assert browser.text(NEXT) == f"Order together: {', '.join(names)}"
    assert "the visit 0.0" in browser.text("[data-part=price]")
    assert browser.texts("[data-part=field] label") == names
    assert not browser.run("document.querySelector('[data-part=leave]').checkVisibility()")
    browser.click("[data-part=answer]")
    assert browser.text(PROBLEM).startswith("Give at least one answer")
    browser.run("document.querySelector('#value-p1').value = 'none'")
    browser.click("[data-part=answer]")
    assert browser.text(PROBLEM).startswith(f"{names[1]}: write a number")
    browser.run("document.querySelector('#value-p1').value = '0.1'")
    browser.click("[data-part=answer]")
    session.observe(names[1], 0.1)
    assert browser.text(NEXT) == f"Ordered, and waited for: {', '.join([names[0], *names[2:]])}"
    assert "for visit 1" in browser.text("[data-part=answers] li")
    assert "Visits so far: 1." in browser.text("[data-part=costs]")
    browser.click("[data-part=field] button")
    session.unavailable(names[0])
    browser.click("[data-part=leave]")
    session.leave()
    asked = [question.name for question in session.next_panel]
    if asked:
        assert all(name in browser.text(NEXT) for name in asked)
    else:
        assert browser.text("[data-part=decided]") == f"Decision: {session.decision}"
    assert "The rest of the visit was not waited for." in browser.text("[data-part=record]")
    browser.click("[data-part=undo]")
    assert browser.text(NEXT).startswith("Ordered, and waited for: ")
    assert browser.run("document.documentElement.scrollWidth") == 390
    assert browser.faults == []


def fill(browser: Any, values: dict[str, str]) -> None:
    for selector, value in values.items():
        browser.run(f"document.querySelector({json.dumps(selector)}).value = {json.dumps(value)}")


def beliefs(browser: Any) -> list[float]:
    return list(browser.run("[...document.querySelectorAll('.fill')].map(e => parseFloat(e.style.width) / 100)"))


def stands(browser: Any, session: Any) -> None:
    """The page stands where a session does, as far as a reader can see."""
    order = browser.run("seqclassPolicy.data.class_order")
    assert beliefs(browser) == pytest.approx(session.posterior[order], abs=1e-6)  # of a width
    asks = browser.run("document.querySelector('[data-part=ask]').checkVisibility()")
    asked = session.next_feature
    assert asks == (asked is not None)
    assert not asks or question(browser) == " ".join(asked.name.split())


@pytest.fixture(scope="module")
def patients() -> tuple[SequentialClassifier, pd.DataFrame]:
    """A temperature and a sex are known of every patient; that the sex is missing is an answer."""
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 200)
    ill = lambda share: np.where(rng.random(200) < share, y, 1 - y) == 1  # noqa: E731
    X = pd.DataFrame(
        {
            "temperature": (37 + y + rng.normal(0, 0.7, 200)).round(1),
            "sex": np.where(rng.random(200) < 0.2, None, np.where(ill(0.6), "f", "m")),
            "cough": np.where(ill(0.8), "yes", "no"),
            "blood": (y + rng.normal(0, 0.7, 200)).round(2),
        }
    )
    quick = Adaptive(n_paths=100, n_cases=100, max_rounds=0, certificate_paths=0)
    how: dict[str, Any] = {"order": "adaptive", "known": ["temperature", "sex"], "missing": "informative"}
    clf = SequentialClassifier(NaiveBayes(), solver=quick, feature_costs=0.01, **how)
    return clf.fit(X, pd.Series(np.where(y, "ill", "well"), name="disease")), X


@pytest.mark.slow_cells("1280")
@pytest.mark.parametrize("width", [390, 1280])
def test_what_is_known_of_every_case_is_asked_first(patients: Any, browser: Any, tmp_path: Path, width: int) -> None:
    clf, page = patients[0], tmp_path / "page.html"
    export_policy(clf, page)
    browser.open(page, width=width, height=844)
    assert browser.text("h1") == "disease: ill and well"
    assert browser.texts("[data-part=begin-fields] label") == ["temperature", "sex"]
    visible = "['ask', 'done', 'why'].filter(p => document.querySelector(`[data-part=${p}]`).checkVisibility())"
    assert browser.run(visible) == []
    browser.focus("#begin-0")
    typed(browser, "warm")
    browser.key("Tab")
    browser.key("f")
    browser.key("Tab")
    browser.key("Enter")
    assert browser.text(PROBLEM).startswith("temperature: write a number")
    assert browser.run("document.activeElement.id") == "begin-0"
    assert browser.run("document.querySelector('#begin-0').getAttribute('aria-invalid')") == "true"
    assert browser.run("document.querySelector('#begin-1').value") == "f"  # what was told stays
    fill(browser, {"#begin-0": "45"})
    browser.focus("#begin-0")
    browser.key("Enter")
    stands(browser, clf.session(known={"temperature": 45, "sex": "f"}))
    assert browser.run("document.activeElement.id") == "value"
    assert "Paid so far 0;" in browser.text("[data-part=costs]")
    low, high = clf.session().training_range("temperature")
    odd = f"temperature: 45 is outside of what training showed, {low:g} to {high:g}."
    assert browser.text(PROBLEM).startswith(odd)
    browser.click("[data-part=missing]")
    assert browser.text(PROBLEM) == ""
    record = browser.text("[data-part=record]").splitlines()
    assert record[5].strip().startswith(odd)  # below the answer
    assert odd in browser.texts("[data-part=answers] li")[0]
    browser.send("Emulation.setEmulatedMedia", media="print")
    printed = "(p => document.querySelector(p).checkVisibility())"
    assert browser.run(f"{printed}('[data-part=answers] li > .note') && {printed}('[data-part=record]')")
    assert not browser.run(f"{printed}('[data-part=to-change]')")
    browser.send("Emulation.setEmulatedMedia", media="")
    for _ in range(3):
        browser.click("[data-part=undo]")
    assert browser.run("document.activeElement.id") == "begin-0"
    browser.click("[data-part=begin] button")  # left blank: one is not known, and the other tells something
    session = clf.session(known={"sex": None})
    stands(browser, session)
    assert [answer.name for answer in session.history] == ["sex"]
    assert browser.texts("[data-part=answers] li") == ["sex = missing (counts as an answer): paid 0 (known before)"]
    browser.click("[data-part=again]")
    assert browser.run(visible) == []
    assert browser.run("document.documentElement.scrollWidth") == width
    assert browser.faults == []


def test_a_model_that_knows_nothing_at_the_start_begins_with_its_question(opened: Any) -> None:
    assert not opened.run("document.querySelector('[data-part=begin]').checkVisibility()")
    assert opened.run("document.querySelector('[data-part=ask]').checkVisibility()")


def test_any_answer_is_changed_where_it_stands(patients: Any, browser: Any, tmp_path: Path) -> None:
    clf, page = patients[0], tmp_path / "page.html"
    export_policy(clf, page, language="de")
    browser.open(page, width=390, height=844)

    def answer(**values: Any) -> Any:
        session = clf.session()
        for name, value in values.items():
            if value is None:
                session.unavailable(name)
            else:
                session.observe(name, value)
        return session

    told: dict[str, Any] = {"temperature": 37.5, "sex": "m"}
    fill(browser, {"#begin-0": "37,5", "#begin-1": "m"})
    browser.click("[data-part=begin] button")
    for _ in range(2):
        asked = question(browser)
        told[asked] = {"cough": "yes", "blood": 0.5}[asked]
        fill(browser, {"#value": {"cough": "yes", "blood": "0,5"}[asked]})
        browser.click("[data-part=answer]")
    stands(browser, answer(**told))
    browser.focus(".line")
    browser.key("Enter")
    assert browser.run("[document.activeElement.id, document.activeElement.value]") == ["change", "37,5"]
    fill(browser, {"#change": "warm"})
    browser.key("Enter")
    assert browser.run("document.activeElement.getAttribute('aria-invalid')") == "true"
    stands(browser, answer(**told))
    fill(browser, {"#change": "39"})
    browser.key("Enter")
    stands(browser, session := answer(**told | {"temperature": 39.0}))
    assert browser.text("[data-part=answers] li").startswith("temperature = 39: ")
    assert [text.split(" = ")[0] for text in browser.texts("[data-part=answers] li")] == list(told)
    assert browser.run("document.activeElement === document.querySelector('.line')")
    paid = browser.run(f"seqclassPolicy.shown('{session.paid:.4g}')")
    assert f"bezahlt: {paid}." in browser.text("[data-part=record]")
    browser.click(".line", 2)
    assert browser.run("document.querySelectorAll('.line')[2].getAttribute('aria-expanded')") == "true"
    browser.click(".answers form button[type=button]")  # it is not available
    third = list(told)[2]
    stands(browser, session := answer(**told | {"temperature": 39.0, third: None}))
    assert browser.run("seqclassPolicy.data.charge_missing") is False
    assert session.paid == pytest.approx(0.01)
    browser.click(".line", 1)
    browser.click(".line", 3)  # of which only one is open
    assert browser.run("document.querySelectorAll('.answers form').length") == 1
    browser.click(".answers form button[type=button]", 1)  # and it stays as it is
    assert browser.run("document.querySelectorAll('.answers form').length") == 0
    assert browser.run("document.activeElement === document.querySelectorAll('.line')[3]")
    stands(browser, session)
    assert browser.run("document.documentElement.scrollWidth") == 390
    assert browser.faults == []


@pytest.mark.slow
def test_a_change_that_cannot_be_is_told_and_changes_nothing(browser: Any, tmp_path: Path) -> None:
    tables = [np.array([0.7, 0.3]), np.array([[0.6, 0.1], [0.4, 0.9]]), np.eye(2)]
    states = [["no", "yes"], ["-", "+"], ["x", "y"]]
    network = NetworkTables(["ill", "sign", "copy"], states, [[], [0], [1]], tables)
    export_policy(SequentialClassifier.from_network(network, "ill", feature_costs=0.0), tmp_path / "page.html")
    browser.open(tmp_path / "page.html")
    browser.click("summary")
    for name, value in (("sign", "+"), ("copy", "y")):
        chosen = f"w.value = [...w.options].find(o => o.text === {name!r}).value"
        browser.run(f"{{const w = document.querySelector('#which'); {chosen}; w.dispatchEvent(new Event('change'))}}")
        fill(browser, {"#other-value": value})
        browser.click("[data-part=other-form] button[type=submit]")
    before = browser.text("[data-part=record]")
    browser.click(".line")
    fill(browser, {"#change": "-"})
    browser.click(".answers form button[type=submit]")
    assert browser.text(PROBLEM).startswith("copy: the model holds this answer for impossible")
    assert browser.text("[data-part=record]") == before
    assert browser.faults == []


@pytest.mark.slow
def test_a_change_in_a_graph_keeps_what_is_still_asked(model: Any, browser: Any, tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    data = export_policy(model("graph"), page)
    nodes, names = data["nodes"], [question["text"] for question in data["questions"]]

    def text(ask: int, outcome: int) -> str:
        """What is typed or chosen for an outcome."""
        feature = data["features"][data["questions"][ask]["features"][0]]
        if feature["choices"]:
            return str(feature["choices"][outcome][0])
        at = feature["places"].index(outcome)
        return str(feature["edges"][at - 1] if at else feature["edges"][0] - 1)

    def follows(way: list[tuple[int, int]]) -> tuple[list[tuple[int, int]], Any]:
        """As much of a way as the graph asks for, and where it ends."""
        at = nodes[0]
        for n, (ask, outcome) in enumerate(way):
            if at.get("ask") != ask:
                return way[:n], at
            at = nodes[at["next"][outcome]]
        return way, at

    ways: list[list[tuple[int, int]]] = [[]]
    for _ in range(3):
        tails = [(way, follows(way)[1]) for way in ways]
        ways = [[*way, (at["ask"], v)] for way, at in tails if "ask" in at for v in range(len(at["next"]))]
    changed = [[(way[0][0], v), *way[1:]] for way in ways for v in range(len(nodes[0]["next"])) if v != way[0][1]]
    number = [len(follows(way)[0]) for way in changed]
    for kept in (2, 3):
        at = number.index(kept)
        way, other = ways[at // (len(nodes[0]["next"]) - 1)], changed[at]
        browser.open(page)
        for ask, outcome in way:
            fill(browser, {"#value": text(ask, outcome)})
            browser.click("[data-part=answer]")
        browser.click(".line")
        fill(browser, {"#change": text(*other[0])})
        browser.click(".answers form button[type=submit]")
        found = browser.run("[...document.querySelectorAll('.line')].map(e => e.textContent.split(' = ')[0])")
        assert found == [names[ask] for ask, _ in other[:kept]]
        gone = ", ".join(names[ask] for ask, _ in other[kept:])
        told = browser.run(f"document.querySelector('{PROBLEM}').textContent")
        assert told.endswith(f"No longer asked for, and so taken back: {gone}." if gone else "")
        assert bool(told) == bool(gone)
        assert beliefs(browser) == pytest.approx(
            [follows(other)[1]["belief"][i] for i in data["class_order"]], abs=1e-6
        )


@pytest.mark.slow
def test_what_was_ordered_stays_ordered_when_an_answer_is_changed(model: Any, browser: Any, tmp_path: Path) -> None:
    """Other answers might have led to other panels, but those visits were made and paid for."""
    clf, page = model("visits"), tmp_path / "page.html"
    data = export_policy(clf, page)
    for seed in (2, 11):
        rng = np.random.default_rng(seed)
        browser.open(page)
        session, panels = clf.session(), list[dict[str, float]]()
        while session.next_panel and len(panels) < 3:
            names = [asked.name for asked in session.next_panel]
            panels.append({name: float(rng.uniform(*session.training_range(name))) for name in names})
            for i, (name, value) in enumerate(panels[-1].items()):
                fill(browser, {"#value" + (f"-p{i}" if i else ""): str(value)})
                session.observe(name, value)
            browser.click("[data-part=answer]")
        changed = next(iter(panels[0]))
        panels[0][changed] = session.training_range(changed)[1]
        ordered, alone = clf.session(), clf.session()
        for panel in panels:
            ordered.order(list(panel))
            for name, value in panel.items():
                ordered.observe(name, value)
                alone.observe(name, value)
        assert ordered.n_visits == session.n_visits < alone.n_visits  # for it would have ordered less, or other things
        browser.click(".line")
        fill(browser, {"#change": str(panels[0][changed])})
        browser.click(".answers form button[type=submit]")
        assert beliefs(browser) == pytest.approx(ordered.posterior[data["class_order"]], abs=1e-6)
        told = browser.text("[data-part=costs]")
        assert f"Paid so far {session.paid:.4g};" in told
        assert f"Visits so far: {session.n_visits}." in told
    assert browser.faults == []


@pytest.mark.parametrize("width", [390, 1280])
@pytest.mark.parametrize("dark", [False, True])
def test_axe_finds_nothing(model: Any, browser: Any, tmp_path: Path, width: int, dark: bool) -> None:
    """With labels and a currency, where something is asked, a problem is told, all is open, and it is decided."""
    axe = importlib.util.find_spec("axe_core_python")
    if axe is None or axe.origin is None:
        pytest.skip("no axe-core: the package axe-core-python is not installed")
    page = tmp_path / "page.html"
    asked = {"question": "Which?", "help": "Look.", "url": "https://example.org"}
    labels = {HOSTILE: asked, "class": {"answers": {"yes": "It is"}}}
    for name in ("grid3", "visits", "bundles", "graph", "network"):
        export_policy(model(name), page, labels=labels if name == "grid3" else None)
        browser.open(page, width=width, height=844, dark=dark)
        browser.run((Path(axe.origin).parent / "axe.min.js").read_text(encoding="utf-8") + ";0")
        for step in (None, "summary", "[data-part=answer]", "[data-part=missing]", "[data-part=stop]"):
            if step and browser.run(f"document.querySelector({json.dumps(step)})?.checkVisibility()"):
                browser.click(step)
            found = browser.send(
                "Runtime.evaluate", expression="axe.run(document)", awaitPromise=True, returnByValue=True
            )["result"]["value"]
            assert len(found["passes"]) > 20
            assert [(one["id"], [node["html"] for node in one["nodes"]]) for one in found["violations"]] == []
