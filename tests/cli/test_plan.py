"""``seqclass plan``: from a network to a live case, without data."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import seqclass
from seqclass.exams import ItemParameters, ScorePlan, SkillProfile

FLU = """network flu { }
variable season { type discrete [ 2 ] { summer, winter }; }
variable flu { type discrete [ 2 ] { no, yes }; }
variable cold { type discrete [ 2 ] { no, yes }; }
variable fever { type discrete [ 3 ] { none, some, high }; }
variable swab { type discrete [ 2 ] { negative, positive }; }
probability ( season ) { table 0.5, 0.5; }
probability ( flu | season ) { (summer) 0.95, 0.05; (winter) 0.7, 0.3; }
probability ( cold | season ) { (summer) 0.9, 0.1; (winter) 0.6, 0.4; }
probability ( fever | flu, cold ) {
  (no, no) 0.9, 0.09, 0.01; (no, yes) 0.5, 0.4, 0.1; (yes, no) 0.1, 0.4, 0.5; (yes, yes) 0.05, 0.25, 0.7; }
probability ( swab | flu ) { (no) 0.97, 0.03; (yes) 0.1, 0.9; }
"""
PLAN = ["plan", "flu.bif", "--target", "flu", "-o", "plan.seq"]


@pytest.fixture
def network(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    Path("flu.bif").write_text(FLU)
    return tmp_path


@pytest.mark.quick
def test_plan_ask_show_and_explain(network: Path, run: Any) -> None:
    result = run(*PLAN, "--price", "0.02", "--hidden", "cold")
    assert result.exit_code == 0, result.stderr
    assert "5 nodes, 3 questions, 2 classes" in result.stdout
    assert "Deciding at once costs 0.1750" in result.stdout
    assert "No policy over all orders costs less." in result.stdout
    clf = seqclass.load("plan.seq")
    assert clf.feature_names_in_.tolist() == ["season", "fever", "swab"]
    live = run("ask", "plan.seq", answers="positive\nfever = high\nseason = winter\n")
    assert "1. swab  (price 0.02" in live.stdout
    assert "one of: negative, positive" in live.stdout
    assert "Decision: yes" in live.stdout
    known = run("ask", "plan.seq", "--known", "season=winter", "--first", "fever", answers="high\nquit\n")
    assert ". fever  (price" in known.stdout
    shown = run("show", "plan.seq")
    assert "by the model  No policy over all orders costs less." in shown.stdout
    assert "any of which may come next" in shown.stdout
    Path("cases.csv").write_text("swab,fever,season,flu\npositive,high,winter,yes\nnegative,none,,no\n")
    assert "Decision: yes" in run("explain", "plan.seq", "cases.csv", "--row", "1").stdout
    scores = json.loads(run("evaluate", "plan.seq", "cases.csv", "--json").stdout)
    assert (scores["accuracy"], scores["n_rows"]) == (1.0, 2)


@pytest.mark.slow
def test_a_rough_bound_is_called_one_and_what_tells_nothing_is_not_listed(network: Path, run: Any) -> None:
    """Six symptoms of an illness, and an age that has nothing to do with it; no time to look for a plan."""
    nodes = ["variable ill { type discrete [ 2 ] { no, yes }; }", "variable age { type discrete [ 2 ] { a, b }; }"]
    tables = ["probability ( ill ) { table 0.6, 0.4; }", "probability ( age ) { table 0.5, 0.5; }"]
    for j in range(6):
        nodes.append(f"variable s{j} {{ type discrete [ 2 ] {{ no, yes }}; }}")
        tables.append(f"probability ( s{j} | ill ) {{ (no) 0.7, 0.3; (yes) 0.3, 0.7; }}")
    Path("ill.bif").write_text("\n".join(["network ill { }", *nodes, *tables]))
    Path("costs.csv").write_text("class,no,yes\nno,0,100\nyes,300,0\n")
    arguments = ["plan", "ill.bif", "-t", "ill", "-o", "p.seq", "--price", "1", "--decision-costs", "costs.csv"]
    told = " ".join(run(*arguments, "--seconds", "0").stdout.split())
    assert "which is a rough bound: the best may cost as much as this one, or anything in between." in told
    assert "--seconds allows for more" in told
    for word in ("gap", "exactly", "certified"):
        assert word not in told.lower()
    assert " s0 1 2" in told
    assert " age 1 2" not in told
    assert "... and 1 more, those that by themselves tell nothing among them Wrote p.seq. Next:" in told
    found = json.loads(run(*arguments, "--seconds", "0", "--json").stdout)
    assert (found["status"], found["features"][-1]["name"]) == ("limit", "age")
    assert found["lower"] < found["upper"] <= 60
    shown = " ".join(run("show", "p.seq").stdout.split())
    assert "by the model No policy over all orders costs less than" in shown
    assert "solver" not in shown.split("Settings:")[0]
    best = run("ask", "p.seq", answers="best\nquit\n").stdout
    assert "s0: price 1" in best or "s1: price 1" in best
    assert "age: price 1" not in best


def test_rules_are_shown_in_words(network: Path, run: Any) -> None:
    skip = [
        {"question": "swab", "after": "fever", "answers": ["some", "high"]},
        {"question": "swab", "after": "cold", "match": "any"},
        {"question": "season", "after": "cold", "answers": "yes", "implied": "winter"},
    ]
    area = {"body": {"items": ["fever", "cold"], "at_least": 1, "at_most": 2}}
    told = {"areas": area, "enemies": [["season", "cold"]], "first": ["cold", "fever"], "mandatory": [1]}
    Path("rules.json").write_text(json.dumps(told | {"skip": skip}))
    done = run(*PLAN, "--rules", "rules.json")
    assert done.exit_code == 0, done.stderr
    shown = run("show", "plan.seq").stdout
    name = seqclass.load("plan.seq").feature_names_in_[1]
    assert shown.partition("Rules:\n")[2].partition("\n\n")[0].splitlines() == [
        "  season is not asked where cold is yes: it is then winter",
        "  swab is asked only where fever is some or high, or cold is answered",
        "  of body, at least 1 and at most 2 of: fever, cold",
        "  at most one of: season, cold",
        "  before all others: cold, then fever",
        f"  asked in every case: {name}",
    ]
    assert "rules =" not in shown
    assert len(json.loads(run("show", "plan.seq", "--json").stdout)["rules"]) == 6


def test_several_faults_prices_and_costs_of_decisions(network: Path, run: Any) -> None:
    Path("costs.csv").write_text("feature,cost\nswab,0.05\nfever,0.01\n")
    arguments = ["plan", "flu.bif", "-t", "flu", "-t", "cold", "--costs", "costs.csv", "--price", "0", "-o", "two.seq"]
    found = json.loads(run(*arguments, "--json").stdout)
    assert found["classes"] == [f"flu={a}, cold={b}" for a in ("no", "yes") for b in ("no", "yes")]
    assert {f["name"]: f["price"] for f in found["features"]} == {"season": 0, "fever": 0.01, "swab": 0.05}
    assert found["lower"] <= found["upper"] <= 1
    Path("wrong.csv").write_text("class,no,yes,refer\nno,0,1,.1\nyes,5,0,.1\n")
    more = ["--decision-costs", "wrong.csv", "--question", "swab", "--question", "cold"]
    found = json.loads(run(*PLAN, "--json", *more).stdout)
    assert found["decisions"] == ["no", "yes", "refer"]
    assert [f["name"] for f in found["features"]] == ["swab", "cold"]


@pytest.mark.parametrize(
    "arguments, words",
    [
        (["plan", "flu.bif", "--target", "flue", "-o", "p.seq"], "no node 'flue'; did you mean 'flu'"),
        (["plan", "none.bif", "--target", "flu", "-o", "p.seq"], "there is no file none.bif"),
        (["plan", "flu.txt", "--target", "flu", "-o", "p.seq"], "ends in .bif"),
        (["plan", "flu.bif", "-o", "p.seq"], "--target"),
        ([*PLAN, "--question", "swap"], "questions: the network has no node 'swap'"),
        ([*PLAN, "--hidden", "swap"], "--hidden: the network has no node 'swap'"),
        ([*PLAN, "--hidden", "cold", "--question", "swab"], "exclude each other"),
        ([*PLAN, "--costs", "costs.csv"], "no price for 'season'"),
        ([*PLAN[:-1], "flu.bif"], "flu.bif is read"),
        (["plan", "cut.bif", "--target", "flu", "-o", "p.seq"], "is no sound BIF file"),
    ],
)
def test_what_is_wrong_is_said(network: Path, refuses: Any, arguments: list[str], words: str) -> None:
    Path("flu.txt").write_text(FLU)
    Path("cut.bif").write_text(FLU[:300])
    Path("costs.csv").write_text("feature,cost\nswab,0.05\n")
    assert words in refuses(*arguments)


@pytest.mark.parametrize("limit", [["--max-features", "1"], ["--max-cost", "0.0015"]])
def test_of_no_case_more_is_asked_than_is_said(network: Path, run: Any, limit: list[str]) -> None:
    for more, most in ([], 2), (limit, 1):
        assert run(*PLAN, "--price", "0.001", *more).exit_code == 0
        case = seqclass.load("plan.seq").session()
        while case.next_feature is not None:
            name = case.next_feature.name
            case.observe(name, {"swab": "negative", "fever": "some", "season": "winter", "cold": "no"}[name])
        assert len(case.history) == most


def test_a_limit_of_memory_says_what_it_takes(network: Path, run: Any) -> None:
    refused = run(*PLAN, "--max-cells", "1")
    assert refused.exit_code == 2
    assert "set --max-cells to" in refused.stderr
    assert "of memory" in refused.stderr


def test_an_option_has_the_last_word_over_a_file_of_costs(network: Path, run: Any) -> None:
    Path("costs.json").write_text('{"feature_costs": 0.01, "visit_cost": 0.5, "decision_costs": [[0, 9], [9, 0]]}')
    Path("costs.csv").write_text("class,no,yes\nno,0,1\nyes,1,0\n")
    arguments = [*PLAN, "--costs", "costs.json", "--visit-cost", "0.02", "--decision-costs", "costs.csv", "--json"]
    content = json.loads(run(*arguments).stdout)
    assert content["visits"] == "0.02 each"
    assert content["decision_costs"] == [[0.0, 1.0], [1.0, 0.0]]


@pytest.mark.slow
def test_what_is_known_as_a_rule_costs_nothing_whenever_it_is_told(network: Path, run: Any) -> None:
    """`ask` says to tell it as NAME = VALUE; that was charged a visit, and counted as acquired."""
    told = run(*PLAN, "--price", "0.02", "--visit-cost", "0.03", "--known", "season").stdout
    assert "3 questions" in told  # what is known is not asked for
    assert "... and 1 more" in told
    for told in ("season = winter", "season = ?"):
        late = run("ask", "plan.seq", answers=f"{told}\nquit\n").stdout
        assert "Acquired 0 features at a price of 0;" in late
    at_once = run("ask", "plan.seq", "--known", "season=winter", answers="swab = positive\nquit\n").stdout
    late = run("ask", "plan.seq", answers="swab = positive\nseason = winter\nquit\n").stdout
    paid = [text.rpartition("Acquired ")[2].split(";")[0] for text in (at_once, late)]
    assert paid == ["1 feature at a price of 0.05"] * 2


def test_a_price_that_lacks_is_asked_for_by_the_option_of_plan(network: Path, refuses: Any) -> None:
    Path("costs.csv").write_text("feature,cost\nswab,0.02\n")
    assert "give one for the rest with --price." in refuses(*PLAN, "--costs", "costs.csv")


TESTS = """test,price,sensitivity,specificity
prior,,0.2,0.8
wrong,,5000,500
d-dimer,20,0.95,0.45
ultrasound,120,0.94,0.97
venography,600,1,0.99
"""


@pytest.mark.quick
def test_a_table_of_tests_becomes_plan_page_and_certificate(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, run: Any
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("tests.csv").write_text(TESTS)
    result = run("plan", "tests.csv", "--currency", "EUR")
    assert result.exit_code == 0, result.stderr
    told = " ".join(result.stdout.split())
    assert "Planned for tests.csv: 3 tests, 2 classes" in told
    # .2 ill, .8 well: after the scan .188 and .024 positive, .012 and .776 negative: 120 + 500 * .024 + 5000 * .012
    assert "By the table a case takes 1.0 tests and costs 192.0000 on average: 120.0000 for tests" in told
    assert "Deciding at once costs 400.0000. No policy over all orders costs less." in told
    assert "Wrote tests.seq and tests.html. Next: seqclass ask tests.seq, or open tests.html" in told
    assert "ultrasound" in Path("tests.html").read_text(encoding="utf-8")
    assert "Decision: disease" in run("ask", "tests.seq", answers="positive\n").stdout
    more = ["plan", "tests.csv", "--json", "-o", "other.seq", "--page", "page.html", "--prior", "0"]
    found = json.loads(run(*more).stdout)
    assert (found["expected_cost"], found["page"]) == (0, "page.html")
    assert not Path("other.html").exists()
    Path("costs.csv").write_text("class,disease,no disease,refer\ndisease,0,5000,50\nno disease,500,0,50\n")
    found = json.loads(run("plan", "tests.csv", "--json", "--decision-costs", "costs.csv").stdout)
    assert found["decisions"] == ["disease", "no disease", "refer"]
    assert found["expected_cost"] == 50
    Path("tests.csv").write_text(TESTS.replace("20,0.95", ",0.95"))
    assert json.loads(run("plan", "tests.csv", "--json", "--price", "0").stdout)["features"][0]["price"] == 0


@pytest.mark.parametrize(
    "arguments, words",
    [
        (["--target", "ill"], "--target is for networks: tests.csv is a table of tests"),
        (["--hidden", "d-dimer"], "--hidden is for networks"),
        (["--question", "d-dimer"], "--question is for networks"),
        (["--costs", "tests.csv"], "--costs is for networks"),
        (["-o", "tests.csv"], "tests.csv is read"),
        (["--page", "tests.seq"], "tests.seq is written, too"),
        (["--known", "scan"], "--known"),
        (["--decision-costs", "tests.csv"], "no row for class 'disease'"),
        ([], "tests.csv: sensitivity of 'd-dimer' must lie between 0 and 1, got 95 (95% is 0.95)"),
        (["--prior", "20"], "--prior must lie between 0 and 1, got 20 (20% is 0.2)"),
        (["--prior", "20%"], "Invalid value for '--prior': '20%' is not a valid number"),
    ],
)
def test_what_is_wrong_about_a_table_of_tests_is_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, refuses: Any, arguments: list[str], words: str
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("tests.csv").write_text(TESTS if arguments else TESTS.replace("0.95", "95"))
    assert words in refuses("plan", "tests.csv", *arguments)
    Path("tests.csv").write_text(TESTS.replace("prior,,0.2,0.8\n", ""))
    assert "add a row 'prior' with P(class), or give --prior 0.1." in refuses("plan", "tests.csv")


def test_a_network_has_its_own_prior_and_gets_a_page_if_that_is_asked_for(
    network: Path, run: Any, refuses: Any
) -> None:
    assert "--prior is for a table of tests" in refuses(*PLAN, "--prior", "0.1")
    assert run("plan", "flu.bif", "-t", "flu", "--page", "flu.html").exit_code == 0
    assert Path("flu.seq").exists()
    assert "swab" in Path("flu.html").read_text(encoding="utf-8")


BANK = "item,text,area,a,b\n" + "".join(
    f"q{k},What is {k}?,{('sums', 'shapes')[k % 2]},{1 + k / 8},{(k - 4) / 4}\n" for k in range(8)
)
EXAM = ["plan", "bank.csv", "--bank", "--cut", "0", "--level", "fail", "--level", "pass", "--price", "0.02", "--quiet"]


def test_a_bank_of_items_is_planned_saved_shown_asked_and_made_a_page(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, run: Any
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("bank.csv").write_text(BANK)
    Path("rules.json").write_text('{"enemies": [["q6", "q4"]]}')
    done = run(*EXAM, "--area", "sums=2:3", "--area", "shapes=1:", "--rules", "rules.json", "--seconds", "20")
    assert done.exit_code == 0, done.stderr
    assert "Planned for bank.csv: 8 items, 2 classes" in done.stdout
    assert "By the bank a case takes" in done.stdout
    assert "Read of each item: a, b; areas: shapes 4, sums 4; passed over: text.\n" in done.stdout
    assert '"demands":true' in Path("bank.html").read_text("utf-8")
    clf = seqclass.load("bank.seq")
    assert clf.feature_names_in_.tolist() == [f"q{k}" for k in range(8)]
    rules = clf.problem_.limits.rules
    assert (rules.areas, rules.at_least.tolist(), rules.at_most.tolist()[0]) == (("sums", "shapes"), [2, 1], 3)
    live = run("ask", "bank.seq", answers="1\n" * 8)
    assert "Decision: pass" in live.stdout
    asked = [line.split(" =")[0] for line in live.stdout.split("(")[-1].rstrip(")\n").split(", ")]
    assert len([name for name in asked if int(name[1:]) % 2 == 0]) in (2, 3)
    assert not {"q4", "q6"} <= set(asked)
    assert "one of: 0 = wrong; 1 = right" in live.stdout
    assert run("ask", "bank.seq", answers="right\n" * 8).stdout == live.stdout.replace("> 1\n", "> right\n")
    assert "planned       from bank.csv" in run("show", "bank.seq").stdout
    assert run("export", "bank.seq", "-o", "bank.c").exit_code == 0


@pytest.mark.slow
def test_exposure_of_a_bank_is_kept_by_lot_which_no_page_tells(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, run: Any
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("bank.csv").write_text(BANK)
    by_lot = run(*EXAM, "--max-exposure", "0.6", "--max-features", "2", "-o", "lot.seq")
    assert by_lot.exit_code == 0, by_lot.stderr
    assert re.search(r"Of 4000 further persons the most exposed item was asked of\s5\d\.\d%", by_lot.stdout)
    assert by_lot.stdout.rstrip().endswith("Wrote lot.seq. Next: seqclass ask lot.seq")
    clf = seqclass.load("lot.seq")
    X, _ = clf.model_.sample(500, random_state=0)
    order = clf.acquire(pd.DataFrame(X, columns=clf.feature_names_in_)).order
    assert np.bincount(order[order >= 0], minlength=8).max() / 500 < 0.75
    wrong = run("export", "lot.seq", "-o", "lot.html")
    assert "draws lots" in wrong.stderr


SKILLS = """item,sums,powers,guess,slip,text
q1,1,0,0.2,0.1,one
q2,0,1,0.25,0.1,two
q3,1,1,0.2,0.05,three
"""


@pytest.mark.slow
def test_a_bank_may_tell_which_skills_items_need(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, run: Any) -> None:
    monkeypatch.chdir(tmp_path)
    Path("skills.csv").write_text(SKILLS)
    done = run("plan", "skills.csv", "--bank", "-o", "all.seq")
    assert "Read of each item: guess, slip, sums, powers; passed over: text." in done.stdout
    every = seqclass.load("all.seq")
    assert every.classes_.tolist() == ["none", "powers", "sums", "sums, powers"]
    assert run("ask", "all.seq", answers="1\n" * 3).stdout.count("Decision: sums, powers") == 1
    known = SkillProfile.from_items([[1, 0], [0, 1], [1, 1]], [0.2, 0.25, 0.2], [0.1, 0.1, 0.05])
    np.testing.assert_allclose(every.model_.predict_proba([[1, 0, 1]]), known.predict_proba([[1, 0, 1]]))
    one = run("plan", "skills.csv", "--bank", "--target", "powers", "--level", "no", "--level", "yes", "-o", "one.seq")
    assert one.exit_code == 0, one.stderr
    assert seqclass.load("one.seq").classes_.tolist() == ["no", "yes"]
    assert run("ask", "one.seq", answers="1\n" * 3).stdout.count("Decision: yes") == 1
    Path("clash.csv").write_text(SKILLS.replace("sums,powers", 'none,"a, b"'))
    assert run("plan", "clash.csv", "--bank", "-o", "clash.seq").exit_code == 0
    assert seqclass.load("clash.seq").classes_.tolist() == ['"a, b"', '"none"', '"none", "a, b"', "none"]
    for wrong, message in (
        (["--cut", "0"], "and no --cut"),
        (["--score", "ability", "--max-features", "2"], "or --score"),
        (["--target", "power"], "target must be a skill, of 'sums'"),
    ):
        assert message in run("plan", "skills.csv", "--bank", *wrong).stderr
    with pytest.raises(ValueError, match="slip is missing"):
        SkillProfile.from_items(pd.read_csv("skills.csv").drop(columns="slip"))


TABLES = [
    "ID,MODEL,PAR1,PAR2,PAR3,AREA\n1,3PL,1.2,0.1,0.2,x\n2,2PL,0.9,-0.3,,y\n",
    "itemid,param_a,param_b\n1,1.2,0.1\n2,0.9,-0.3\n",
    "item_id,a,CB1,CB2,NCAT\nA1,1.5,-0.4,0.8,3\nA2,2.0,-1,0.3,3\n",
    "item,a1,d,g,u\nA1,1.5,-0.4,0.1,1\nA2,2.0,-1,0,1\n",
    ",a1,d,stem\nItem.1,1.5,-0.4,Why?\nItem.2,2.0,-1,When?\n",  # by R, which gives the column of names no name
    "item, a, b\nA1, 1.5, -0.4\nA2, 2.0, -1\n",
]


@pytest.mark.parametrize("table", TABLES)
def test_banks_of_other_programs_are_read_as_they_stand(
    table: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, run: Any
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("bank.csv").write_text(table)
    done = run("plan", "bank.csv", "--bank", "--cut", "0", "--quiet", "--json")
    assert done.exit_code == 0, done.stderr
    names = [line.split(",")[0] for line in table.splitlines()[1:]]
    assert seqclass.load("bank.seq").feature_names_in_.tolist() == names
    assert ItemParameters.from_table("bank.csv").names == tuple(names)


def test_rows_that_are_numbered_have_no_names(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, run: Any) -> None:
    monkeypatch.chdir(tmp_path)
    Path("skills.csv").write_text(SKILLS)
    pd.read_csv("skills.csv").drop(columns=["item", "text"]).to_csv("numbered.csv")
    done = run("plan", "numbered.csv", "--bank", "--target", "sums", "--quiet", "--json")
    assert done.exit_code == 0, done.stderr
    models = [SkillProfile.from_items(table) for table in ("numbered.csv", pd.read_csv("numbered.csv"))]
    for model in (seqclass.load("numbered.seq").model_, *models):
        assert model.feature_names_ is None
        assert model.profiles_.shape[1] == 2


WRONG = [
    (["--target", "q1"], "--target is not for a bank of items"),
    (["--area", "sums"], "--area sums: write NAME=LEAST:MOST"),
    (["--area", "algebra=1"], "--area algebra=1: no item is of that area; there are 'shapes', 'sums'"),
    (["--drop", "area", "--area", "sums=1"], "has no column 'area'; it has 'item', 'text', 'a', 'b'"),
    (["--drop", "p"], "--drop"),
    (["--cut", "-1"], "cuts must be rising abilities"),
    (["--max-exposure", "0.5", "--page", "x.html"], "--page and --max-exposure exclude each other"),
    (["--area", "sums=5"], "area 'sums' beside the mandatory ones"),
    (["--max-exposure", "0.5", "--visit-cost", "1"], "--max-exposure asks one item at a time: leave --visit-cost and"),
]


@pytest.mark.parametrize(("more", "message"), WRONG)
def test_what_is_wrong_with_a_bank_is_said_in_a_sentence(
    more: list[str], message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, run: Any
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("bank.csv").write_text(BANK)
    done = run(*EXAM, *more)
    assert done.exit_code
    assert message in done.stderr
    assert "give --bank" in run("plan", "bank.csv", "--cut", "1").stderr


@pytest.mark.parametrize("page", [[], ["--page", "page.html"]])
def test_a_plan_that_no_page_tells_is_written_without_unless_a_page_was_asked_for(
    page: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, run: Any
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("bank.csv").write_text("item,a,b\n" + "".join(f"q{k},1,{k / 4}\n" for k in range(4)))
    Path("rules.json").write_text('{"mandatory": ["q1"]}')
    limits = ["--rules", "rules.json", "--known", "q0", "--max-cost", "0.03", "--seconds", "0"]
    done = run(*EXAM, *limits, *page)
    message = "this policy cannot be written as a program"
    assert (done.exit_code, message in done.stderr) == ((2, True) if page else (0, False))
    assert sorted(file.name for file in tmp_path.iterdir()) == [
        "bank.csv",
        *([] if page else ["bank.seq"]),
        "rules.json",
    ]
    if not page:
        assert f"No page is written: {message}" in " ".join(done.stdout.split())
        assert done.stdout.rstrip().endswith("Wrote bank.seq. Next: seqclass ask bank.seq")


@pytest.mark.slow
def test_rows_of_a_bank_go_by_name_and_a_wrong_answer_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, run: Any
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("bank.csv").write_text(BANK)
    assert run(*EXAM, "--seconds", "2").exit_code == 0
    header = ",".join(f"q{k}" for k in range(8))
    Path("rows.csv").write_text(f"{header},result\n1,1,1,1,1,1,1,1,pass\n0,0,0,0,0,0,0,0,fail\n")
    for done in (run("predict", "bank.seq", "rows.csv"), run("evaluate", "bank.seq", "rows.csv", "-t", "result")):
        assert (done.exit_code, "feature names" in done.stderr) == (0, False), done.stderr
    Path("wrong.csv").write_text(f"{header}\n1,1,1,1,1,1,1,1\n2,2,2,2,2,2,2,2\n")
    wrong = run("predict", "bank.seq", "wrong.csv")
    assert "column 'q0' holds 2, not an outcome of the model: those are 0 to 1 (row 2, counted from 1)" in wrong.stderr
    clf = seqclass.load("bank.seq")
    name = clf.session().next_feature.name
    with pytest.raises(ValueError, match=f"column '{name}' holds 2, not an outcome of the model"):
        clf.session().observe(name, 2)
    with pytest.raises(ValueError, match=f"column '{name}' holds 0.5, which is not a whole number"):
        clf.session().observe(name, 0.5)


@pytest.fixture
def bank(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("bank.csv").write_text(BANK)


@pytest.mark.slow
@pytest.mark.usefixtures("bank")
def test_a_cut_may_be_the_share_of_all_items_that_is_right_there(run: Any) -> None:
    done = run("plan", "bank.csv", "--bank", "--cut", "40%", "--cut", "0.7", "--quiet", "--json", "--seconds", "2")
    assert done.exit_code == 0, done.stderr
    content, clf = json.loads(done.stdout), seqclass.load("bank.seq")
    assert sorted(content["classes"]) == ["0.7 or above", "40% to 0.7", "below 40%"]
    (low, high) = clf.model_.cuts
    a, b = 1 + np.arange(8) / 8, (np.arange(8) - 4) / 4
    right = [np.mean(1 / (1 + np.exp(-a * (cut - b)))) for cut in (low, high)]
    assert (right[0], high) == (pytest.approx(0.4, abs=5e-4), 0.7)
    told = [f"At the ability of {low:g}, where a class begins, 40% of all items are expected to be right."]
    told += [f"At the ability of 0.7, where a class begins, {right[1]:.0%} of all items are expected to be right."]
    assert content["notes"][1:] == told


@pytest.mark.usefixtures("bank")
@pytest.mark.parametrize(
    ("cut", "message"),
    [
        (
            "60",
            "--cut 60: an ability, which is 0 on average with a standard deviation of 1. A share of all items right",
        ),
        ("-500", "--cut -500: an ability, which is 0 on average with a standard deviation of 1.\n"),
        ("0,5", "--cut 0,5: write an ability, such as 0.5, or the share of all items right, such as 60%."),
        ("nan", "--cut nan: write an ability"),
        ("100%", "--cut 100%: of all items 0% to 100% are expected to be right, whatever the ability."),
    ],
)
def test_a_cut_that_is_no_ability_is_told_of(cut: str, message: str, run: Any) -> None:
    done = run("plan", "bank.csv", "--bank", "--cut", cut)
    assert done.exit_code
    assert message in done.stderr


@pytest.mark.slow
@pytest.mark.usefixtures("bank")
def test_how_many_decisions_are_wrong_is_said_where_that_is_what_they_cost(run: Any) -> None:
    done = run(*EXAM, "--seconds", "20")
    (cost,) = re.findall(r"([\d.]+) for\s+decisions", done.stdout)
    (wrong,) = re.findall(r"Of the decisions ([\d.]+)% are wrong\.", done.stdout)
    assert float(wrong) / 100 == pytest.approx(float(cost), abs=6e-4)
    Path("costs.csv").write_text(",fail,pass\nfail,0,3\npass,1,0\n")
    dearer = run(*EXAM, "--seconds", "20", "--decision-costs", "costs.csv").stdout
    assert ("By the bank a case takes" in dearer, "are wrong" in dearer) == (True, False)


@pytest.mark.slow
@pytest.mark.usefixtures("bank")
def test_a_score_is_planned_asked_and_predicted(run: Any) -> None:
    done = run(
        "plan", "bank.csv", "--bank", "--score", "ability", "--max-features", "4", "--area", "sums=2:2", "--quiet"
    )
    assert done.exit_code == 0, done.stderr
    assert "Planned for bank.csv: a score of ability, from 8 items." in done.stdout
    assert "4.0 items are asked (4 to 4), with a standard" in done.stdout
    plan = seqclass.load("bank.seq")
    assert isinstance(plan, ScorePlan)
    assert plan.classifier.problem_.limits.rules.areas == ("sums",)
    assert "planned       from bank.csv" in run("show", "bank.seq").stdout
    expected = plan.ask(lambda item: 1)
    value, error = expected.estimate[0], expected.standard_error[0]
    live = run("ask", "bank.seq", answers="1\n" * 4).stdout
    assert f"Estimate: {value:.3f}, points of ability (standard error {error:.3f}, 95% interval" in live
    assert live.count("So far: ") == 4
    assert "Belief" not in live
    assert "Decision" not in live
    assert "Acquired 4 items. (" in live
    begun = run("ask", "bank.seq", answers="1\nquit\n").stdout
    assert "Stopped before the end; the estimate as things stand: " in begun
    Path("rows.csv").write_text(",".join(f"q{k}" for k in range(8)) + "\n" + ",".join("1" * 8) + "\n")
    told = run("predict", "bank.seq", "rows.csv").stdout.splitlines()[1]
    assert float(told.split(",")[0]) == pytest.approx(value, abs=1e-5)


@pytest.mark.usefixtures("bank")
def test_a_score_is_told_on_the_scale_of_reports(run: Any) -> None:
    until = ("plan", "bank.csv", "--bank", "--score", "ability", "--standard-error", "60", "--scale", "500:100")
    done = run(*until, "--quiet", "--json")
    assert 0 < json.loads(done.stdout)["standard_error"] / 100 < 1.2, done.stderr
    plan = seqclass.load("bank.seq")
    assert plan.scale == (500.0, 100.0)
    value = plan.ask(lambda item: 1).estimate[0]
    assert value > 500
    live = run("ask", "bank.seq", answers="1\n" * 8).stdout
    assert f"Estimate: {value:.3f}, points of the scale (standard" in live


@pytest.mark.slow
@pytest.mark.usefixtures("bank")
def test_a_score_ends_at_a_standard_error(run: Any) -> None:
    until = ["--score", "accuracy", "--standard-error", "0.12"]
    done = run("plan", "bank.csv", "--bank", *until, "-o", "s.seq", "--quiet", "--json")
    content = json.loads(done.stdout)
    assert (content["score"], content["output"]) == ("accuracy", "s.seq")
    assert content["standard_error"] <= 0.12
    assert 0 < content["n_items"] < 8
    assert len(content["notes"]) == 1
    beyond = ["plan", "bank.csv", "--bank", "--score", "ability", "--standard-error", "0.3", "-o", "s.seq", "--quiet"]
    everything = " ".join(run(*beyond).stdout.split())
    assert "500 of them end above 0.3, asked all there is: --max-features or --price ends that sooner." in everything
    assert "500 of them end above 0.3. " in " ".join(run(*beyond, "--max-features", "3").stdout.split())
    assert "of them" not in run(*beyond[:6], "0.99", *beyond[7:]).stdout


@pytest.mark.usefixtures("bank")
@pytest.mark.parametrize(
    ("more", "message"),
    [
        ([], "say when a score is good enough: by --standard-error, --max-features or the --price of an item"),
        (["--max-features", "2", "--cut", "0"], "--cut is not for a score."),
        (["--max-features", "2", "--page", "x.html"], "--page is not for a score."),
        (["--max-features", "2", "--area", "sums=3"], "rules: 3 questions have to be asked, and at most 2 may be"),
        (["--standard-error", "0"], "--standard-error"),
        (["--max-features", "2", "--scale", "500"], "--scale 500: write MEAN:SD, such as 500:100."),
        (["--max-features", "2", "--scale", "500:100"], 'scale is for target="ability": accuracy is a share.'),
    ],
)
def test_what_a_score_does_not_take_is_said(more: list[str], message: str, run: Any) -> None:
    done = run("plan", "bank.csv", "--bank", "--score", "accuracy", *more)
    assert done.exit_code
    assert message in done.stderr
    assert "--standard-error is of a score: say which with --score" in run(*EXAM, "--standard-error", "0.3").stderr
    assert "--scale is of a score" in run(*EXAM, "--scale", "500:100").stderr
    assert "give --bank" in run("plan", "bank.csv", "--score", "ability").stderr


@pytest.mark.usefixtures("bank")
def test_areas_that_differ_in_capitals_are_no_two_areas(run: Any) -> None:
    Path("bank.csv").write_text(BANK.replace("q2,What is 2?,sums", "q2,What is 2?,Sums"))
    done = run(*EXAM, "--area", "sums=2:3")
    assert "--area sums=2:3: bank.csv has 'sums', 'Sums', which differ in capitals; write them alike." in done.stderr


@pytest.mark.slow
@pytest.mark.usefixtures("bank")
def test_slopes_and_difficulties_go_by_these_words(run: Any) -> None:
    Path("bank.csv").write_text(BANK.replace("area,a,b", "area,Slope,Difficulty"))
    assert "Read of each item: a, b; areas" in run(*EXAM, "--seconds", "1").stdout
    Path("bank.csv").write_text(BANK.replace("area,a,b", "area,slope,intercept"))
    assert "Read of each item: a1, d; areas" in run(*EXAM, "--seconds", "1").stdout


@pytest.mark.usefixtures("bank")
def test_a_share_may_be_in_percent(run: Any) -> None:
    by_lot = run(*EXAM, "--max-exposure", "60%", "--max-features", "2", "--seconds", "6")
    assert by_lot.exit_code == 0, by_lot.stderr
    assert seqclass.load("bank.seq").solver.max_exposure == 0.6
    for wrong in ("130%", "x%", "%", "nan%"):
        assert "Invalid value for '--max-exposure'" in run(*EXAM, "--max-exposure", wrong).stderr
    assert "Invalid value for '--price': '5%'" in run(*EXAM[:-3], "--price", "5%").stderr


def test_help_shows_no_range_where_there_is_none(run: Any) -> None:
    assert "x<=None" not in run("plan", "--help").stdout


@pytest.mark.usefixtures("bank")
def test_costs_of_very_many_decisions_are_left_to_who_asks_for_all(run: Any) -> None:
    assert run("plan", "bank.csv", "--bank", "--score", "ability", "--max-features", "2").exit_code == 0
    n = len(seqclass.load("bank.seq").classifier.classes_)
    told = run("show", "bank.seq").stdout
    assert f"for each true class (row):\n  {n} classes by {n} decisions, in --all and --json\n" in told
    assert max(map(len, told.splitlines())) < 100
    assert f"{n} decisions" not in run("show", "bank.seq", "--all").stdout
    assert np.shape(json.loads(run("show", "bank.seq", "--json").stdout)["decision_costs"]) == (n, n)


def test_empty_rows_of_a_table_of_tests_are_left_out(network: Path, run: Any) -> None:
    Path("t.csv").write_text("test,price,sensitivity,specificity\nprior,,0.2,0.8\nwrong,,1000,100\n,,,\nx,3,0.8,0.8\n")
    assert run("plan", "t.csv", "-o", "t.seq").exit_code == 0
    assert seqclass.load("t.seq").feature_names_in_.tolist() == ["x"]


@pytest.mark.parametrize(
    ("table", "options"),
    [
        ("item,a,b\nNA,1,0\nx,1.2,-1\n", ("--bank", "--cut", "0")),
        ("test,price,sensitivity,specificity\nprior,,0.2,0.8\nwrong,,1000,100\nNA,20,0.95,0.5\nx,3,0.8,0.8\n", ()),
    ],
)
def test_na_is_a_name(network: Path, run: Any, table: str, options: tuple[str, ...]) -> None:
    Path("t.csv").write_text(table)
    assert run("plan", "t.csv", *options, "-o", "t.seq").exit_code == 0
    assert seqclass.load("t.seq").feature_names_in_.tolist() == ["NA", "x"]
