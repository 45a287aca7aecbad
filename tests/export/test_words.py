"""The words of users, and of their languages: in the data, on the page, in C; whatever is in them."""

from __future__ import annotations

import json
import re
import runpy
import shutil
import subprocess
from copy import copy
from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone

from seqclass import Costs, SequentialClassifier, etana
from seqclass.bn import TreeNetwork
from seqclass.discretize import Discretizer
from seqclass.exams import ItemResponse, SkillProfile, estimate
from seqclass.export import export_policy, page_words, policy_data, promise_sentences
from seqclass.pomdp import GridValueIteration

LANGUAGES = ["en", "de", "fr", "es"]
HOSTILE = "</script><script>alert(1)</script>\n\"'*/??/ \\ {price} &amp; <img src=x onerror=alert(2)>"
#: In graph and program, in a fixed order and in any, naive Bayes, mixture, bundles and network.
KINDS = ["grid3", "adaptive", "mixture", "bundles", "graph", "network"]
_NETWORK = """network n {}
variable ill { type discrete [ 2 ] { yes, no }; }
variable pain { type discrete [ 3 ] { strong, mild, absent }; }
variable test { type discrete [ 2 ] { pos, neg }; }
probability ( ill ) { table 0.4, 0.6; }
probability ( pain | ill ) { (yes) 0.6, 0.3, 0.1; (no) 0.1, 0.2, 0.7; }
probability ( test | ill, pain ) { (yes, strong) 0.9, 0.1; (yes, mild) 0.8, 0.2; (yes, absent) 0.7, 0.3;
  (no, strong) 0.2, 0.8; (no, mild) 0.1, 0.9; (no, absent) 0.1, 0.9; }
"""


@pytest.fixture
def named(model: Any, tmp_path: Path) -> Any:
    """A model by name; that of a network is planned for a file of it."""

    def get(name: str) -> SequentialClassifier:
        if name != "network":
            return model(name)
        (tmp_path / "net.bif").write_text(_NETWORK)
        return SequentialClassifier.from_network(tmp_path / "net.bif", "ill")

    return get


def labels_of(data: dict[str, Any]) -> dict[str, Any]:
    """Words for the first feature with answers to choose from, else the first one, and for the first question."""
    feature = next((f for f in data["features"] if f["choices"]), data["features"][0])
    answer = feature["outcomes"][-1]
    told = {"question": "What is it?", "help": "Look.", "unit": "mm", "url": "https://example.org"}
    return {data["questions"][0]["name"]: "First?", feature["name"]: told | {"answers": {answer: "The last"}}}


def test_items_of_a_bank_are_right_or_wrong_without_labels(tmp_path: Path) -> None:
    bank = {"item": ["p", "q", "r"], "a1": [1.5, 0.8, 1.2], "d": [0.5, -0.2, np.nan]}
    bank |= {"d1": [np.nan] * 2 + [1.0], "d2": [np.nan] * 2 + [-0.5]}  # the third has three outcomes
    items = pd.DataFrame(bank)
    exam = SequentialClassifier.from_model(ItemResponse.from_items(items, cuts=[0.0]), feature_costs=0.01)

    def answers(clf: Any, **settings: Any) -> list[list[str]]:
        features = policy_data(clf, **settings)["features"]
        assert [[text for _, text in one["choices"]] for one in features] == [one["answers"] for one in features]
        assert features[0]["outcomes"] == ["0", "1"]  # which stay what is told
        return [one["answers"] for one in sorted(features, key=lambda one: one["name"])]

    numbers = ["0", "1", "2"]
    assert answers(exam) == [["wrong", "right"], ["wrong", "right"], numbers]
    own = {"p": {"answers": {"0": "no", "1": "yes"}}, "q": "How many?", "r": {"answers": dict(zip(numbers, "abc"))}}
    assert answers(exam, labels=own) == [["no", "yes"], ["wrong", "right"], ["a", "b", "c"]]
    assert answers(estimate(items, max_items=2).classifier) == [["wrong", "right"], ["wrong", "right"], numbers]
    skills = SkillProfile.from_items([[1], [1]], 0.2, 0.1, target=0)
    assert answers(SequentialClassifier.from_model(skills)) == [["wrong", "right"]] * 2
    for language, (wrong, right) in {"fr": ("faux", "juste"), "de": ("falsch", "richtig")}.items():
        data = export_policy(exam, tmp_path / "page.html", language=language, labels={"q": {"answers": {"1": "42"}}})
        told = {one["name"]: one["answers"] for one in data["features"]}
        assert told == {"p": [wrong, right], "q": ["0", "42"], "r": numbers}
        assert f'"{wrong}"' in (tmp_path / "page.html").read_text("utf-8")


@pytest.mark.parametrize("name", KINDS)
def test_words_change_nothing_but_words(name: str, named: Any) -> None:
    """What has none keeps its name, and no number, order of outcomes or node is another one."""
    clf = named(name)
    plain = policy_data(clf)
    labels = labels_of(plain)
    told = policy_data(clf, labels=labels)
    words = ("text", "help", "url", "unit", "answers", "choices")
    for part in ("features", "questions"):
        for before, after in zip(plain[part], told[part], strict=True):
            assert {k: v for k, v in before.items() if k not in words} == {
                k: v for k, v in after.items() if k not in words
            }
            own = labels.get(before["name"], "")
            wanted = own if isinstance(own, str) else own["question"]
            assert after["text"] == (wanted or before["name"])
            assert before["text"] == before["name"]
            if not isinstance(own, str):
                assert (after["help"], after["url"]) == ("Look.", "https://example.org")
    rest = [key for key in plain if key not in ("features", "questions")]
    assert {key: plain[key] for key in rest} == {key: told[key] for key in rest}
    [labelled] = [f for f in told["features"] if f["text"] == "What is it?"]
    assert labelled["answers"] == [*labelled["outcomes"][:-1], "The last"]
    assert labelled["unit"] == "mm"
    if labelled["type"] == "category":  # answers with words come first, the others stay in their order
        [before] = [f for f in plain["features"] if f["name"] == labelled["name"]]
        last = labelled["outcomes"][-1]
        assert labelled["choices"] == [[last, "The last"], *(c for c in before["choices"] if c[0] != last)]


def test_answers_of_a_network_come_in_the_order_of_its_file(named: Any, browser: Any, tmp_path: Path) -> None:
    clf = named("network")
    data = export_policy(clf, tmp_path / "page.html")
    choices = {f["name"]: [value for value, _ in f["choices"]] for f in data["features"]}
    assert choices == {"pain": ["strong", "mild", "absent"], "test": ["pos", "neg"]}
    assert [f["categories"] for f in data["features"]] == [sorted(choices[f["name"]]) for f in data["features"]]
    question = clf.session().next_feature
    assert list(question.categories) == choices[question.name]
    browser.open(tmp_path / "page.html")
    assert browser.run("[...document.querySelector('#value').options].map(o => o.value)") == [
        "",
        *choices[question.name],
    ]
    for outcome, value in enumerate(data["features"][0]["categories"]):
        assert browser.run(f"seqclassPolicy.outcomeOf(0, {json.dumps(value)})") == outcome


def test_numbers_of_few_values_are_chosen_where_all_have_words() -> None:
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 200)
    X = pd.DataFrame({"grade": rng.integers(0, 3, 200) + y, "level": rng.normal(size=200) + y})
    clf = SequentialClassifier(discretizer=Discretizer(3), solver=GridValueIteration(20, certificate_paths=0)).fit(X, y)
    words = {"2": "two", "0": "none", "1": "one", "3": "three"}

    def choices(answers: dict[str, str]) -> Any:
        [found] = [f["choices"] for f in policy_data(clf, labels={"grade": {"answers": answers}})["features"][:1]]
        return found

    assert choices(words) == [[value, text] for value, text in words.items()]
    assert choices({"0": "none"}) is None
    assert choices({}) is None


@pytest.mark.slow_cells("graph-c", "grid3-html")
@pytest.mark.covering(1)
@pytest.mark.parametrize("kind", ["html", "json", "c"])
@pytest.mark.parametrize("name", ["grid3", "bundles", "graph"])
def test_words_are_data_whatever_is_in_them(name: str, kind: str, model: Any, browser: Any, tmp_path: Path) -> None:
    clf, path = copy(model(name)), tmp_path / f"policy.{kind}"
    clf.feature_costs = clone(Costs.from_value(clf.feature_costs)).set_params(unit=HOSTILE.replace("\n", ""))
    plain = policy_data(clf)
    labels: dict[str, Any] = {q["name"]: {"question": HOSTILE, "help": HOSTILE} for q in plain["questions"]}
    for feature in plain["features"]:
        answers = {outcome: f"{i}{HOSTILE}" for i, outcome in enumerate(feature["outcomes"])}
        labels[feature["name"]] = {"question": HOSTILE, "help": HOSTILE, "unit": HOSTILE, "answers": answers}
    for what, own in (("class", plain["classes"]), ("decision", plain["decisions"])):
        labels[what] = {"answers": {label: f"{what}{i}{HOSTILE}" for i, label in enumerate(own)}}
    words = {
        key: text if key in ("lang", "decimal") else f"{text}{'<b>' + HOSTILE}" for key, text in page_words().items()
    }
    words |= {key: text.replace("{price}", "") for key, text in words.items() if "{price}" not in page_words()[key]}
    data = export_policy(clf, path, format=kind, labels=labels, language=words, title=HOSTILE)
    assert [feature["text"] for feature in data["features"]] == [HOSTILE] * len(data["features"])
    if kind == "json":
        assert json.loads(path.read_text("utf-8")) == json.loads(json.dumps(data))
    elif kind == "c":
        compiled(tmp_path, data)
    else:
        browser.open(path, width=390, height=844)
        for selector in ("[data-part=missing]", "[data-part=undo]", "[data-part=answer]", "[data-part=stop]"):
            browser.click(selector)
        assert browser.run("document.querySelectorAll('img, b, script:not([type])').length") == 2  # our two scripts
        assert browser.run("document.querySelector('#value').labels[0].textContent").startswith(HOSTILE)
        assert browser.faults == []
        assert browser.requests == [path.resolve().as_uri()]
        assert browser.run("document.documentElement.scrollWidth") == 390


def compiled(folder: Path, data: dict[str, Any]) -> None:
    """The source gives all words as they are."""
    compiler = shutil.which("cc")
    if compiler is None:
        pytest.skip("no C compiler")
    (folder / "main.c").write_text("""
#include <stdio.h>
#include "policy.c"
int main(void)
{
    int i, v;
    fputs(SEQ_UNIT, stdout);
    putchar(0);
    for (i = 0; i < SEQ_QUESTIONS; i++) { fputs(seq_question_text(i), stdout); putchar(0); }
    for (i = 0; i < SEQ_FEATURES; i++)
        for (v = 0; v < seq_outcomes[i]; v++) { fputs(seq_answer_text(i, v), stdout); putchar(0); }
    return 0;
}
""")
    strict = ["-std=c99", "-trigraphs", "-Wall", "-Wextra", "-pedantic", "-Werror", "-fsanitize=address,undefined"]
    subprocess.run([compiler, *strict, "main.c", "-o", "main", "-lm"], cwd=folder, check=True)
    told = subprocess.run([folder / "main"], capture_output=True, check=True).stdout.decode().split("\0")
    texts = [question["text"] for question in data["questions"]]
    answers = [text for feature in data["features"] for text in feature["answers"][: feature["n_outcomes"]]]
    assert told == [data["unit"], *texts, *answers, ""]


# The page's own words -------------------------------------------------------------------------------------------------


def test_every_language_has_every_word() -> None:
    wanted = page_words()
    for language in LANGUAGES:
        words = page_words(language)
        assert page_words(words) == words  # which checks keys, and what is filled in
        assert words["lang"] == language
        assert [key for key, text in words.items() if not text.strip()] == []
        same = {key for key in wanted if words[key] == wanted[key]}
        assert language == "en" or len(same) <= 3, same


def test_no_word_stands_in_the_templates() -> None:
    """All text of the page is a place for a word, and every word has a place."""
    folder = files("seqclass.export")
    used = set(ItemResponse._outcome_words)  # which stand for answers
    for name in ("page.html", "other.html"):
        text = (folder / name).read_text(encoding="utf-8")
        used |= set(re.findall(r"\{(\w+)\}", text))
        bare = re.sub(r"<[^>]*>|\{\w+\}", " ", text)
        assert re.findall(r"\w+", bare) == []
        assert re.findall(r'(?:aria-label|title|alt|placeholder)="', text) == []
    code = "".join((folder / name).read_text(encoding="utf-8") for name in ("page.js", "policy.js", "__init__.py"))
    unused = [key for key in page_words() if key not in used and f'"{key}"' not in code]
    assert unused == []


def greek(text: str) -> str:
    """The same without a letter of ours, but for what is filled in."""
    return re.sub(r"(\{\w+\})|[^\W\d_]", lambda found: found[1] or "λ", text)


@pytest.mark.slow_cells("program")
@pytest.mark.parametrize("name", ["program", "graph"])
def test_nothing_on_the_page_is_left_untranslated(name: str, browser: Any, tmp_path: Path) -> None:
    """With names and words that have no letter of ours, none is seen or read aloud, whatever is done."""
    rng = np.random.default_rng(0)
    y = rng.choice(["ξ", "β"], 200)
    X = pd.DataFrame(
        {
            "ψ": rng.normal(size=200) + 2 * (y == "ξ"),
            "δ": np.where(rng.random(200) < 0.8, np.where(y == "ξ", "φ", "χ"), "φ"),
        }
    )
    how = (
        {"observation_model": TreeNetwork(conditioning="ancestor")}
        if name == "graph"
        else {"solver": GridValueIteration(20, certificate_paths=0)}
    )
    clf = SequentialClassifier(discretizer=Discretizer(3), feature_costs=Costs(0.001), **how).fit(X, y)
    words = {key: text if key in ("lang", "decimal") else greek(text) for key, text in page_words("de").items()}
    page = tmp_path / "page.html"
    data = export_policy(clf, page, title="Ω", language=words, min_probability=0.05 if name == "graph" else None)
    assert data["kind"] == name
    browser.open(page)
    seen = ""

    def look() -> None:
        nonlocal seen
        seen += browser.run("document.querySelector('header').innerText + document.querySelector('main').innerText")
        seen += browser.run(
            "[...document.querySelectorAll('*')].flatMap(e => ['aria-label', 'title', 'placeholder', 'alt']"
            ".map(n => e.getAttribute(n) || '')).join('')"
        )

    for typed in ("", "λ", "1.500", "1e999", "99", "1,5"):
        if browser.run("document.querySelector('#value').tagName") == "INPUT":
            browser.run(f"document.querySelector('#value').value = {json.dumps(typed)}")
            browser.click("[data-part=answer]")
            look()
    browser.click("[data-part=again]")
    for selector in ("missing", "answer", "stop", "go-on", "missing", "copy", "undo"):
        browser.click(f"[data-part={selector}]")
        look()
        if selector == "stop" and name == "program":
            browser.click("summary")
            look()
    assert "λ" in seen
    assert re.findall(r"[A-Za-z]+", seen.replace(data["provenance"]["model"], "")) == []
    assert browser.faults == []


@pytest.mark.slow_cells("fr")
@pytest.mark.parametrize("language", LANGUAGES)
def test_a_case_in_a_language_by_keyboard(language: str, browser: Any, tmp_path: Path) -> None:
    """Numbers are written and read as there: with a comma or a point before decimals."""
    page, words = tmp_path / "page.html", page_words(language)
    X = pd.DataFrame({"age": [1.5, 2.5] * 30, "other": [0.0, 1.0, 2.0] * 20})
    clf = etana(Costs(0.125, unit="EUR"), solver=GridValueIteration(20, certificate_paths=0)).fit(X, ["a", "b"] * 30)
    labels = {"age": {"question": "How old?", "unit": "years", "answers": {}}}
    export_policy(clf, page, labels=labels, language=language)
    browser.open(page, width=1280)
    assert browser.run("document.documentElement.lang") == language
    point = words["decimal"]
    assert browser.text("[data-part=asked]") == "1. How old?"
    assert f"0{point}125\u00a0EUR" in browser.text("[data-part=price]")
    assert browser.text("label[for=value]") == "How old? (years)"
    assert f"1{point}5 years" in browser.text("#value-hint")
    browser.focus("#value")
    for letter in f"1{point}75":
        browser.key(letter)
    browser.key("Enter")
    session = clf.session()
    session.observe("age", 1.75)
    assert browser.run("seqclassPolicy.stand([{question: 0, outcomes: [0], known: false}]).belief") == pytest.approx(
        session.posterior.tolist()
    )
    record = browser.text("[data-part=record]")
    assert f"1. How old? 1{point}75 years" in record
    decided = words["decision"].replace("{decision}", str(session.decision))
    assert decided.replace("\u00a0", " ") in record.replace("\u00a0", " ")
    percent = words["percent"].replace("{p}", f"{100 * session.posterior[0]:.1f}".replace(".", point))
    assert f"a {percent}" in record
    assert browser.faults == []


def test_a_point_before_three_digits_is_refused_where_decimals_have_a_comma(browser: Any, tmp_path: Path) -> None:
    clf = etana(0.01).fit(pd.DataFrame({"age": [100.0, 2000.0] * 30}), ["a", "b"] * 30)
    export_policy(clf, tmp_path / "page.html", language="de")
    browser.open(tmp_path / "page.html")
    found = {
        text: browser.run(
            f"(t => {{try {{return seqclassPolicy.outcomeOf(0, t)}} catch (e) {{return e.message}}}})({text!r})"
        )
        for text in ("1500", "1500,5", "1500.5", "0.125", "1.500", "1.234.567", "1,5,5")
    }
    assert [text for text, outcome in found.items() if isinstance(outcome, int)] == [
        "1500",
        "1500,5",
        "1500.5",
        "0.125",
    ]
    assert "1,5" in found["1.500"]


def test_a_language_of_ones_own(model: Any, tmp_path: Path) -> None:
    words = page_words() | {"lang": "it", "stop": "Basta"}
    export_policy(model("grid3"), tmp_path / "page.html", language=words)
    text = (tmp_path / "page.html").read_text("utf-8")
    assert '<html lang="it">' in text
    assert ">Basta</button>" in text
    wrong = [
        ("it", "language must be 'en', 'de', 'fr', 'es', or the words of another one; got 'it'"),
        ({**words, "halt": "x"}, "language has words for 'halt'"),
        ({key: words[key] for key in words if key != "stop"}, "language lacks words for 'stop'"),
        ({**words, "price": 3}, "the words for 'price' must be a text"),
        ({**words, "costs": "Prezzo {prezzo}."}, "the words for 'costs' must be a text with the same braces"),
    ]
    for given, message in wrong:
        with pytest.raises(ValueError, match=re.escape(message)):
            export_policy(model("grid3"), tmp_path / "page.html", language=given)  # type: ignore[arg-type]


def test_a_promise_is_told_in_money_and_as_it_is() -> None:
    about = {"target": None, "confidence": 0.99999, "n_rows": 300, "n_groups": 0}
    data = {"sets": None, "classes": [], "class_texts": [], "unit": "a.u."}
    cost = {"metric": "cost", "at_most": 1500.5, "seen": 12345.6} | about
    told = " ".join(promise_sentences(data | {"promise": cost}, page_words("de")))
    assert (
        "Mit 99,999\u00a0% Sicherheit kostet ein Fall im Mittel höchstens 1500,5 a.u.; gesehen wurde 12346 a.u." in told
    )
    error = {"metric": "error", "at_most": 0.01234, "seen": 0.00456} | about
    assert (
        "at most 1.234% of its decisions are wrong; seen were 0.456%."
        in promise_sentences(data | {"promise": error})[0]
    )


def test_french_keeps_signs_with_their_words() -> None:
    for key, text in page_words("fr").items():
        assert not re.search(r"[ '][;:!?]|'", text), key


@pytest.mark.slow
@pytest.mark.parametrize("names", [["False", "True"], ["FALSE", "TRUE"]])
def test_true_and_false_are_read_however_they_are_written(names: list[str], browser: Any, tmp_path: Path) -> None:
    """On the page, in C and by the reader, as in Python."""
    script = runpy.run_path(str(Path(__file__).parents[2] / "examples" / "read_policy.py"))
    truth = np.tile([1, 0], 30)
    clf = SequentialClassifier().fit(pd.DataFrame({"fever": np.array(names)[truth]}), truth)
    data = export_policy(clf, tmp_path / "page.html")
    browser.open(tmp_path / "page.html")
    for value in (True, 1, "1", "true", "TRUE", " True\t"):
        assert browser.run(f"seqclassPolicy.outcomeOf(0, {json.dumps(value)})") == 1
        assert script["outcome"](data["features"][0], str(value)) == clf.predict([{"fever": value}])[0] == 1
    if (compiler := shutil.which("cc")) is None:
        pytest.skip("no C compiler")
    export_policy(clf, tmp_path / "policy.c")
    calls = ['seq_category(0, "true")', 'seq_category(0, " 1 ")', "seq_outcome(0, 1)", "seq_outcome(0, -0.0)"]
    calls += ['seq_category(0, "yes")', "seq_outcome(0, 2)", "seq_outcome(0, 0.5)", "SEQ_WRONG"]
    prints = " ".join(f'printf("%d ", {call});' for call in calls)
    (tmp_path / "main.c").write_text(f'#include "policy.c"\nint main(void)\n{{ {prints} return 0; }}')
    subprocess.run([compiler, "main.c", "-o", "main", "-lm"], cwd=tmp_path, check=True)
    found = subprocess.run([tmp_path / "main"], capture_output=True, text=True, check=True).stdout.split()
    assert found == ["1", "1", "1", "0", *[found[-1]] * 4]
