"""Labels: the words of users, in every form, and refused where they are wrong."""

from __future__ import annotations

import copy
import json
import pickle
import re
from dataclasses import FrozenInstanceError

import numpy as np
import pandas as pd
import pytest

from seqclass import Costs, Labels, SequentialClassifier, etana
from seqclass.agent.agent import agent_of, outcome_labels
from seqclass.agent.choices import answer_choices, check_labels, few_values
from seqclass.bn import ClassMixture
from seqclass.pomdp import GridValueIteration

TOLD = {
    "colour": {
        "question": "Which colour\nis it?",
        "help": 'Look, then "tell".',
        "url": "https://example.org/colour",
        "answers": {"red": "Red, like blood", "blue": "Blue"},
    },
    "age": {"question": "How old?", "unit": "years", "answers": {">= 60": "old"}},
    "sex": "Which sex?",
}
ROWS = [
    ["feature", "answer", "text", "help", "unit", "url"],
    ["colour", "", "Which colour\nis it?", 'Look, then "tell".', "", "https://example.org/colour"],
    ["colour", "red", "Red, like blood", "", "", ""],
    ["colour", "blue", "Blue", "", "", ""],
    ["", "", "", "", "", ""],
    ["age", "", "How old?", "", "years", ""],
    ["age", ">= 60", "old", "", "", ""],
    ["sex", "", "Which sex?", "", "", ""],
]


def table(sep: str) -> str:
    return "".join(sep.join('"' + cell.replace('"', '""') + '"' for cell in row) + "\r\n" for row in ROWS)


@pytest.mark.parametrize("form", ["comma", "semicolon", "tab", "json", "frame", "mapping", "labels"])
def test_every_form_tells_the_same(form, tmp_path):
    wanted, path = Labels.from_value(TOLD), tmp_path / "labels.csv"
    if form in ("comma", "semicolon", "tab"):
        path.write_text("\ufeff" + table({"comma": ",", "semicolon": ";", "tab": "\t"}[form]), newline="")
    elif form == "json":
        path = tmp_path / "labels.json"
        path.write_text(json.dumps(TOLD))
    frame = pd.DataFrame([row for row in ROWS[1:] if any(row)], columns=ROWS[0]).replace("", np.nan)
    given = {"frame": frame, "mapping": TOLD, "labels": wanted}.get(form, path)
    assert Labels.from_value(given) == wanted
    assert list(wanted.answers("colour")) == ["red", "blue"]
    assert wanted.in_order("colour", ["amber", "blue", "red"]) == ["red", "blue", "amber"]
    assert wanted.value_texts("colour", "red", "red") == ("Red, like blood", None)
    assert wanted.value_texts("age", 63.0, ">= 60") == ("63 years", "old")
    assert wanted.value_texts("other", 63.0, ">= 60") == ("63", ">= 60")
    assert (wanted.question("other"), wanted.text_of("other", "help")) == ("other", "")


def test_labels_are_frozen():
    labels = Labels.from_value(TOLD)
    with pytest.raises(FrozenInstanceError):
        labels.features = {}
    for mapping in (labels.features, labels.features["age"], labels.answers("age")):
        with pytest.raises(TypeError, match="does not support item assignment"):
            mapping["age"] = {}
    assert Labels.from_value(None) == Labels()


HEAD = "feature,answer,text,help,unit,url\n"
WRONG = {
    HEAD + "colour,,A,,,\ncolour,,B,,,\n": r"row 2, column 'feature', names 'colour' again, after .*row 1",
    HEAD
    + "colour,red,A,,,\ncolour,red,B,,,\n": r"row 2, column 'answer', names 'red' of 'colour' again, after .*row 1",
    HEAD + "color,,A,,,\n": r"row 1, column 'feature', names 'color', which is no feature; did you mean 'colour'",
    HEAD
    + ",,,,,\ncolour,pink,A,,,\n": r"row 2, column 'answer', names 'pink', which 'colour' does not show.*'blue', 'red'",
    HEAD + "age,2000,A,,,\n": r"row 1, column 'answer', names '2000', which 'age' does not show",
    HEAD
    + "blood,red,A,,,\n": r"row 1, column 'answer', names 'red', which 'blood' does not show; its answers are none",
    HEAD + "colour,red,A,see,,\n": r"row 1, column 'help', belongs to the row of the feature",
    HEAD + "colour,,A,,,javascript:alert(1)\n": r"row 1, column 'url', must begin with https:// or http://",
    HEAD + 'colour,,A,,,"https://x"" onclick=""y"\n': r"row 1, column 'url', must begin with",
    HEAD + "colour,,\x1b[31mA,,,\n": r"row 1, column 'text', must be text without control characters",
    HEAD + ",,A,,,\n": r"row 1, column 'feature', is empty",
    HEAD + "colour,A\n": r"row 1, has 2 cells where the header has 6",
    "feature,txt\ncolour,A\n": r"has the column 'txt' which says nothing; did you mean 'text'\?",
    "feature,text,text\ncolour,A,B\n": r"has the column 'text' twice",
    "name\ncolour\n": r"has the column 'name'",
    "": r"lacks the column 'feature'",
    HEAD + '"colour,,\n': r"cannot be read as labels",
}
MAPPINGS = [
    ({"color": "A"}, r"labels names 'color', which is no feature; did you mean 'colour'"),
    ({"colour": {"answers": {"pink": "A"}}}, r"the answers of 'colour', names 'pink', which"),
    (
        {"colour": {"answer": {"red": "A"}}},
        r"labels tells 'answer' of 'colour', which is no key; did you mean 'answers'",
    ),
    ({"colour": {"code": "30525-0"}}, r"labels, 'code' of 'colour', must be a system and a code, such as http://loinc"),
    ({"colour": {"codes": ["red"]}}, r"'codes' of 'colour', must be a mapping of answers to codes, got \['red'\]"),
    ({"colour": {"codes": {"pink": "s|1"}}}, r"the answers of 'colour', names 'pink', which"),
    (
        {"colour": {"codes": {"red": "s|1", "blue": "s|1"}}},
        r"is one code for 'red' and 'blue' of 'colour'",
    ),
    ({"colour": {"url": "ftp://x"}}, r"labels, 'url' of 'colour', must begin with"),
    ({"colour": {"help": ["A"]}}, r"labels, 'help' of 'colour', must be a text, got \['A'\]"),
    ({"colour": ["A"]}, r"of 'colour', must be a question, or a mapping"),
    (["colour"], r"labels must be a path, a mapping or a data frame"),
]


@pytest.mark.parametrize("form", ["table", "mapping"])
def test_codes_are_of_features_answers_and_classes(form):
    colour = {"answers": {"red": "Red"}, "code": "http://loinc.org|1-8", "codes": {"red": "s|1 2", "True": "s|3"}}
    told = {"colour": colour, "class": {"codes": {"a": "s|4"}}}
    rows = [
        ("colour", "", "", "http://loinc.org|1-8"),
        ("colour", "red", "Red", "s|1 2"),
        ("colour", "True", "", "s|3"),
    ]
    frame = pd.DataFrame([*rows, ("class", "a", "", "s|4")], columns=["feature", "answer", "text", "code"])
    labels = Labels.from_value(told if form == "mapping" else frame).separate_kinds(["colour"])
    for one in (labels, pickle.loads(pickle.dumps(labels))):
        assert one.code("colour") == {"system": "http://loinc.org", "code": "1-8"}
        assert [one.code("colour", answer) for answer in ("red", "1", "blue")] == [
            {"system": "s", "code": "1 2"},
            {"system": "s", "code": "3"},  # as a column of bool has it
            None,
        ]
        assert one.code("class", "a") == {"system": "s", "code": "4"}
        assert one.code("age") is None


@pytest.fixture(scope="module")
def clf():
    """A category, a number, one of few values, and a bundle of two."""
    rng = np.random.default_rng(0)
    y = rng.choice(["ill", "well"], 300)
    ill = y == "ill"
    X = pd.DataFrame(
        {
            "colour": np.where(rng.random(300) < 0.7, np.where(ill, "red", "blue"), "red"),
            "age": rng.normal(50, 10, 300) + 15 * ill,
            "smokes": (rng.random(300) < np.where(ill, 0.7, 0.3)).astype(int),
            "crp": rng.normal(size=300) + ill,
            "wbc": rng.normal(size=300) + ill,
        }
    )
    costs = Costs(0.01, bundles={"crp": "blood", "wbc": "blood"})
    return SequentialClassifier(ClassMixture(1), order="adaptive", feature_costs=costs, max_features=4).fit(X, y)


@pytest.mark.parametrize("text", WRONG)
def test_wrong_tables_are_refused(text, clf, tmp_path):
    (tmp_path / "labels.csv").write_text(text)
    with pytest.raises(ValueError, match=WRONG[text]) as caught:
        check_labels(agent_of(clf), tmp_path / "labels.csv")
    assert str(tmp_path / "labels.csv") in str(caught.value)


@pytest.mark.parametrize(("given", "message"), MAPPINGS)
def test_wrong_mappings_are_refused(given, message, clf):
    with pytest.raises((ValueError, TypeError), match=message):
        check_labels(agent_of(clf), given)


def test_files_that_are_no_labels(tmp_path):
    path = tmp_path / "labels.json"
    for content in (b'{"a": "A", "a": "B"}', b"[", b"\xff\xfe", b"[" * 100_000):
        path.write_bytes(content)
        with pytest.raises(ValueError, match=r"labels.json cannot be read as labels"):
            Labels.from_value(path)
    path.write_text("[1]")
    with pytest.raises(TypeError, match="must be a mapping"):
        Labels.from_value(str(path))
    with pytest.raises(FileNotFoundError, match="there is no file"):
        Labels.from_value(tmp_path / "none.csv")


def test_values_and_bins_have_words(clf):
    """A number of few values is named by them, one of bins by these, as `outcome_labels` has them."""
    agent = agent_of(clf)
    highest = outcome_labels(agent, 1)[-1]
    told = {"smokes": {"answers": {0: "No", 1: "Yes"}}, "age": {"answers": {highest: "old"}}, "blood": "Blood count"}
    assert dict(check_labels(agent, told).answers("smokes")) == {"0": "No", "1": "Yes"}
    assert check_labels(agent, told).value_texts("age", 99.0, highest) == ("99", "old")


def test_an_explanation_in_words(clf):
    row = pd.DataFrame({"colour": ["red"], "age": [55.5], "smokes": [1], "crp": [0.5], "wbc": [0.25]})
    [told] = clf.explain(row)
    highest = outcome_labels(agent_of(clf), 1)
    words = {
        "colour": {"question": "Which\ncolour?", "answers": {"red": "Like blood"}},
        "age": {"question": "Age", "unit": "years", "answers": dict.fromkeys(highest, "an age")},
        "smokes": {"question": "Do you smoke?", "answers": {"1": "Yes"}},
        "blood": {"question": "Blood count"},
        "crp": {"question": "In\nthe blood", "unit": "mg/l"},
        "wbc": "In the blood",
    }
    text, plain = str(told.in_words(words)), str(told)
    asked = {step.name for step in told.steps}
    wanted = {
        "colour": "Which colour? Like blood: ",
        "age": "Age = 55.5 years (an age): ",
        "smokes": "Do you smoke? Yes: ",
        "blood": "Blood count = In the blood 0.5 mg/l, In the blood 0.25: ",
    }
    assert len(asked) > 1
    for name in asked:
        assert wanted[name] in text
        assert wanted[name] not in plain
    partly = told.in_words({"colour": "Which colour?"})
    assert [s.name for s in partly.steps] == ["Which colour?" if s.name == "colour" else s.name for s in told.steps]
    assert [s.value for s in partly.steps if s.name == "age"] in ([], [55.5])
    assert str(told.in_words(None)) == plain


def test_labels_go_to_other_processes():
    labels = Labels.from_value(TOLD)
    for other in (pickle.loads(pickle.dumps(labels)), copy.deepcopy(labels)):
        assert other == labels
        with pytest.raises(TypeError, match="does not support item assignment"):
            other.answers("age")["young"] = "young"


def test_large_whole_numbers_and_bools_are_choices():
    """Whole numbers of seven digits are told apart, and a column of bool is named as users write it."""
    rng = np.random.default_rng(0)
    y, X = rng.integers(0, 2, 200), pd.DataFrame()
    X["code"] = 2_000_001 + 2 * y + rng.integers(0, 2, 200)
    X["flag"] = rng.random(200) < 0.2 + 0.6 * y
    clf = etana(solver=GridValueIteration(20, certificate_paths=0)).fit(X, y)
    agent, codes = agent_of(clf), [str(2_000_001 + i) for i in range(4)]
    assert few_values(agent, 0) == codes
    words = check_labels(
        agent, {"code": {"answers": dict(zip(codes, "ABCD"))}, "flag": {"answers": {True: "yes", 0: "no"}}}
    )
    assert answer_choices(agent, 0, words) == dict(zip(codes, "ABCD"))
    assert answer_choices(agent, 1, words) == {"True": "yes", "False": "no"}
    assert words.value_texts("code", 2_000_003.0, None) == ("C", None)
    with pytest.raises(ValueError, match="names 'maybe', which 'flag' does not show; its answers are 'False', 'True'"):
        check_labels(agent, {"flag": {"answers": {"maybe": "?"}}})


def test_every_cost_of_an_explanation_is_in_its_unit():
    X, y = [[0.0], [0.4], [0.6], [1.0]] * 10, [0, 1, 0, 1] * 10
    costs = Costs(10.0, decision_costs=[[0, 50_000], [40_000, 0]], unit="EUR")
    text = etana(costs, solver=GridValueIteration(20, certificate_paths=0)).fit(X, y).explain([[0.2]])[0].decision_text
    assert re.findall(r"\d+(?: EUR)?", text.partition("(")[2].partition(")")[0])[1].endswith(" EUR")


def test_columns_without_names_have_words():
    clf = etana(solver=GridValueIteration(20, certificate_paths=0)).fit(
        [[0.0], [0.1], [0.9], [1.0]] * 10, [0, 0, 1, 1] * 10
    )
    told = clf.explain([0.2])[0].in_words(check_labels(agent_of(clf), {"x0": "How long?"}))
    assert "1. How long? 0.2 (" in str(told)


def test_words_of_a_feature_called_class_are_not_those_of_classes():
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 300)
    X = pd.DataFrame({"z": y * (rng.random(300) < 0.97), "class": rng.integers(0, 2, 300), "more": 0.0})
    clf = SequentialClassifier(feature_costs=0.05, order=["z", "class", "more"]).fit(X, y)
    told = clf.explain(X[:1])[0]
    assert [step.name for step in told.steps] == ["z"]  # of "class" nothing is said but that it was not asked
    given = {"class": {"answers": {"0": "low", "1": "high"}}}
    words = check_labels(agent_of(clf), given)
    for labels in (given, words, pickle.loads(pickle.dumps(words))):
        assert str(told.in_words(labels)) == str(told)
    short = SequentialClassifier(feature_costs=0.05, order=["z", "more", "class"]).fit(X, y)
    told = short.explain(X[:1])[0]
    assert str(told.in_words(check_labels(agent_of(short), given))) == str(told)
