"""Explanations: one truth with sessions and acquisitions, expected savings by recursion, texts, highlighted words."""

from __future__ import annotations

import html
import json
import math
import re
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from sklearn.datasets import load_breast_cancer

from seqclass import Costs, SequentialClassifier, etana
from seqclass.agent.explanation import Explanation, ExplanationStep, Word, mark_words
from seqclass.agent.session import Session
from seqclass.pomdp import FirstK, GridValueIteration, Perseus, PosteriorThreshold

QUICK = GridValueIteration(200, certificate_paths=0)


@pytest.fixture(scope="module")
def cancer() -> tuple[pd.DataFrame, np.ndarray]:
    X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    return X, np.array(["malignant", "benign"])[y]


@pytest.fixture(scope="module")
def clf(cancer: Any) -> SequentialClassifier:
    return etana(solver=QUICK).fit(*cancer)


@pytest.fixture(scope="module")
def fruit() -> tuple[pd.DataFrame, np.ndarray]:
    """A category and two numbers, with missing cells."""
    rng = np.random.default_rng(0)
    y = rng.integers(3, size=150)
    colour = np.where(rng.random(150) < 0.8, np.array(["red", "green", "blue"])[y], "red").astype(object)
    frame = pd.DataFrame({"colour": colour, "size": y + rng.normal(0, 0.7, 150), "noise": rng.normal(size=150)})
    frame.loc[::7, "colour"] = None
    frame.loc[::5, "size"] = np.nan
    return frame, np.array(["cherry", "lime", "plum"])[y]


def live(clf: SequentialClassifier, row: Any) -> Session:
    """The same case as a session."""
    session = clf.session()
    while (question := session.next_feature) is not None:
        value = row[question.column]
        if value is None or value != value:
            session.unavailable(question.name)
        else:
            session.observe(question.name, value)
    return session


def assert_same(told: Explanation, session: Session) -> None:
    assert len(told) == len(told.steps) == len(session.history)
    for step, answer in zip(told.steps, session.history):
        assert (step.name, step.value, step.outcome) == (answer.name, answer.value, answer.outcome)
        assert step.missing == (answer.value is None)
        assert step.paid == answer.price
        assert step.expected_saving == pytest.approx(answer.expected_saving, nan_ok=True)
        np.testing.assert_allclose(step.after, answer.posterior, atol=1e-12)
    assert told.decision == session.decision
    assert told.paid == pytest.approx(session.paid)
    assert told.n_features == session.n_features
    assert told.decision_costs[told.decision] == pytest.approx(session.expected_cost)
    assert told.decision_costs[told.decision] == min(told.decision_costs.values())
    np.testing.assert_allclose(told.posterior, session.posterior, atol=1e-12)


@pytest.mark.quick
def test_it_tells_what_a_session_and_an_acquisition_do(clf: Any, cancer: Any) -> None:
    X, _ = cancer
    X = X[::20].copy()
    X.iloc[::3, clf.order_[0]] = np.nan
    record = clf.acquire(X, record_beliefs=True)
    for i, told in enumerate(clf.explain(X)):
        assert_same(told, live(clf, X.iloc[i].to_numpy()))
        assert [step.column for step in told.steps] == [j for j in record.order[i] if j >= 0]
        np.testing.assert_allclose(told.beliefs, record.beliefs[i, : len(told) + 1])
        assert told.decision == record.decision[i]
        for before, step in zip(told.beliefs, told.steps):
            np.testing.assert_allclose(step.before, before)
            assert step.expected_saving > 0
            assert step.label is None or step.label == clf.coder_.labels(step.column)[step.outcome]


@pytest.mark.parametrize(
    "settings",
    [
        {},
        {"feature_costs": Costs(0.02, charge_missing=True)},
        {"feature_costs": Costs(0.02, groups=["a", "a", None], discounted_costs={"size": 0.01})},
        {
            "feature_costs": Costs(
                0.02, decision_costs=[[0, 1, 1, 0.1], [1, 0, 1, 0.1], [1, 1, 0, 0.1]], decisions=["ask"]
            )
        },
        {"max_features": 2},
    ],
)
def test_prices_categories_and_further_decisions(fruit: Any, settings: dict[str, Any]) -> None:
    frame, y = fruit
    clf = SequentialClassifier(solver=QUICK, **({"feature_costs": 0.02} | settings)).fit(frame, y)
    charged = clf.agent_.charge_missing
    for i, told in enumerate(clf.explain(frame[:40])):
        assert_same(told, live(clf, [None if v != v else v for v in frame.iloc[i]]))
        assert set(told.decision_costs) == set(clf.decisions_.tolist())
        for step in told.steps:
            assert step.paid == (step.price if not step.missing or charged else 0.0)
            assert not (step.name == "colour" and step.value is not None) or step.label == step.value
    text = "\n".join(map(str, clf.explain(frame[:40])))
    assert "is missing, so the belief stays as it is" in text
    assert ("not charged" in text) != charged


def test_nobody_reads_a_negative_zero() -> None:
    X, y = np.array([[-0.0], [2.0]] * 20), np.array([0, 1] * 20)
    (told,) = SequentialClassifier().fit(X, y).explain(X[:1])
    assert "1. x0 = 0: " in str(told)


def test_it_stops_where_the_next_feature_does_not_pay(clf: Any, cancer: Any) -> None:
    for told in clf.explain(cancer[0][::20]):
        assert told.not_asked is not None
        assert told.not_asked.column == clf.order_[len(told)]
        assert told.not_asked.expected_saving <= 1e-12
        assert told.not_asked.price == 0.01
        assert f"Stopped before {told.not_asked.name} (price 0.01): " in str(told)
        assert "going on" in told.stop_text


def test_nothing_left_to_ask_for(cancer: Any) -> None:
    X, y = cancer
    none = etana(solver=QUICK, max_features=0).fit(X, y).explain(X[:1])[0]
    assert (none.steps, none.not_asked, none.paid) == ((), None, 0.0)
    told = etana(solver=QUICK, max_features=1).fit(X, y).explain(X[:3])[0]
    assert told.not_asked is None
    # others there are, but not within the limit
    assert "Stopped: the policy names no further feature." in str(told)
    # nor does a policy in any order tell what it would ask where it decides, though others are on offer
    sure = SequentialClassifier(order="adaptive", solver=FirstK(2)).fit(X.iloc[:, :4], y).explain(X.iloc[:1, :4])[0]
    assert (len(sure), sure.not_asked) == (2, None)
    assert "Stopped: the policy names no further feature." in str(sure)


@pytest.mark.slow
@given(st.integers(0, 10_000))
def test_expected_savings_by_recursion(seed: int) -> None:
    """Against value iteration in plain Python over all histories of a small naive Bayes problem."""
    rng = np.random.default_rng(seed)
    y = np.repeat([0, 1], 30)
    X = np.column_stack([np.where(rng.random(60) < p, y, rng.integers(v, size=60)) for v, p in ((2, 0.4), (3, 0.2))])
    price = 0.02
    clf = SequentialClassifier(discretizer="precomputed", feature_costs=price, order="given").fit(X, y)
    tables = [np.array([(np.bincount(X[y == c, j], minlength=v) + 1) / (30 + v) for c in (0, 1)]).T for j, v in
              ((0, clf.problem_.n_outcomes[0]), (1, clf.problem_.n_outcomes[1]))]  # fmt: skip

    def going_on(belief: np.ndarray, stage: int) -> float:
        total = price
        for row in tables[stage]:
            joint = row * belief
            total += joint.sum() * value(joint / joint.sum(), stage + 1)
        return total

    def value(belief: np.ndarray, stage: int) -> float:
        stop = 1 - belief.max()
        return stop if stage == 2 else min(stop, going_on(belief, stage))

    for told in clf.explain(X[[0, 20, 40, 59]]):
        questions = [*told.steps, *([told.not_asked] if told.not_asked else [])]
        for stage, (belief, question) in enumerate(zip(told.beliefs, questions)):
            saving = 1 - belief.max() - going_on(belief, stage)
            assert question.expected_saving == pytest.approx(saving, abs=2e-6)
            if stage < len(told.steps):
                without = 1 - belief.max() - (going_on(belief, stage + 1) if stage == 0 else math.inf)
                assert question.added_saving == pytest.approx(saving - max(without, 0), abs=2e-6)


@pytest.mark.parametrize("solver", [PosteriorThreshold(0.9), FirstK(2)])
def test_policies_that_cannot_tell_what_they_expect(cancer: Any, solver: Any) -> None:
    X, y = cancer
    clf = SequentialClassifier(solver=solver.set_params(certificate_paths=0)).fit(X, y)
    for told in clf.explain(X[:5]):
        content = json.loads(told.to_json())
        assert all(math.isnan(step.expected_saving) for step in told.steps)
        assert all(step["expected_saving"] is None for step in content["steps"])
        assert "expected to save" not in str(told)
        assert told.not_asked is None or f"Stopped before {told.not_asked.name} (price 0.01)." in str(told)


@pytest.mark.slow
def test_policies_by_lot(cancer: Any) -> None:
    X, y = cancer
    clf = etana(solver=QUICK, target_cost=0.013).fit(X, y)
    assert len(clf.policy_.initial_belief()[0]) == 2
    record = clf.acquire(X[:80], record_beliefs=True)
    for i, told in enumerate(clf.explain(X[:80])):
        assert [step.column for step in told.steps] == [j for j in record.order[i] if j >= 0]
        np.testing.assert_allclose(told.beliefs, record.beliefs[i, : len(told) + 1])
        assert all(step.expected_saving > 0 for step in told.steps)
        assert told.not_asked is None or told.not_asked.expected_saving <= 1e-9


def test_forms_of_an_instance(clf: Any, cancer: Any) -> None:
    X, _ = cancer
    expected = clf.explain(X.iloc[7:8])
    for form in (X.iloc[7], X.iloc[7].to_numpy(), X.iloc[7].tolist()):
        assert clf.explain(form) == expected
    matrix, y = X.to_numpy(), cancer[1]
    dense = etana(solver=QUICK).fit(matrix, y)
    assert dense.explain(matrix[7]) == dense.explain(matrix[7:8]) == dense.explain(matrix[:9])[7:8]
    with pytest.raises(ValueError, match="features"):
        dense.explain(matrix[7, :4])


@pytest.mark.parametrize("form", [sp.csr_array, sp.csc_array, sp.coo_array])
def test_sparse(form: Any) -> None:
    rng = np.random.default_rng(0)
    y = np.arange(200) % 2
    X = np.where(rng.random((200, 6)) < 0.2 + 0.5 * y[:, None] * (np.arange(6) < 3), 1.0, 0.0)
    clf = SequentialClassifier(solver=QUICK).fit(sp.csr_array(X), y)
    told = clf.explain(form(X[:8]))
    assert [t.decision for t in told] == clf.predict(sp.csr_array(X[:8])).tolist()
    for i, explanation in enumerate(told):
        assert [step.value for step in explanation.steps] == [X[i, step.column] for step in explanation.steps]
        assert {step.label for step in explanation.steps} <= {"0", "any, not 0", "not 0"} | set(clf.coder_.labels(0))


def test_more_classes_and_nothing_asked() -> None:
    rng = np.random.default_rng(1)
    y = np.arange(120) % 6
    X = y[:, None] + rng.normal(size=(120, 4))
    clf = SequentialClassifier(solver=Perseus(100, certificate_paths=0), feature_costs=0.02).fit(X, y)
    told = clf.explain(X[0])[0]
    assert len(told.classes) == 6
    assert str(told).count(", ...)") == 1
    dear = SequentialClassifier(solver=Perseus(100, certificate_paths=0), feature_costs=2.0).fit(X, y).explain(X[0])[0]
    assert (len(dear), dear.paid, dear.n_features) == (0, 0.0, 0)
    np.testing.assert_allclose(dear.prior, dear.posterior)
    assert len(str(dear).splitlines()) == 3


def test_records_are_plain_and_complete(clf: Any, cancer: Any) -> None:
    told = clf.explain(cancer[0].iloc[7])[0]
    content = told.to_dict()
    assert content["steps"][0] | {"missing": False} == content["steps"][0]
    assert set(content) == {*vars(told), "n_features"}
    assert json.loads(told.to_json(indent=1)) == json.loads(json.dumps(content), parse_constant={"NaN": None}.get)
    assert json.loads(told.to_json())["not_asked"]["name"] == told.not_asked.name
    assert Explanation.from_dict(content) == told
    assert Explanation.from_dict(json.loads(told.to_json())) == told
    assert told.stop_text in str(told)
    assert str(told).endswith(told.decision_text)
    with pytest.raises(ValueError, match="not that of an explanation: KeyError 'steps'"):
        Explanation.from_dict({key: value for key, value in content.items() if key != "steps"})
    with pytest.raises(AttributeError):
        told.decision = "benign"


@pytest.fixture(scope="module")
def words() -> SequentialClassifier:
    """A word that says much, one that says less, one that says nothing."""
    rng = np.random.default_rng(0)
    y = np.repeat(["bad", "good"], 100)
    chance = np.where((y == "good")[:, None], [0.7, 0.05, 0.5], [0.4, 0.7, 0.5])
    X = pd.DataFrame((rng.random((200, 3)) < chance).astype(float), columns=["great", "not good", "the"])
    return SequentialClassifier(solver=QUICK, feature_costs=0.001, order=["great", "not good"]).fit(X, y)


class TestHighlight:
    def test_present_and_absent(self, words: Any) -> None:
        told = words.explain([1.0, 0.0, 1.0])[0]
        text = told.highlight("A Great <film>, greatest of all.", style="html")
        assert re.findall(r"<mark [^>]*>(.*?)</mark>", text) == ["Great"]
        assert "&lt;film&gt;" in text
        assert "present: great (good 5" in text
        assert "absent: not good (good" in text
        assert "the" not in re.sub(r"<[^>]*>|[Gg]reat\w*", "", text).split()
        markdown = told.highlight("A great *film*.", style="markdown")
        assert markdown.startswith("A **great** \\*film\\*.")
        terminal = told.highlight("\x1b[31m great\nfilm")
        assert terminal.startswith("[31m \x1b[30;103mgreat\x1b[0m\nfilm")

    def test_longer_words_first_and_other_names(self, words: Any) -> None:
        told = words.explain([0.0, 1.0, 0.0])[0]
        assert "**Not good**, not **not good**" in told.highlight("Not good, not not good.", style="markdown")
        renamed = told.highlight("superb, ill", {0: "superb", 1: "ill"}, style="markdown")
        assert renamed.startswith("superb, **ill**")
        assert told.highlight("superb, ill", ["superb", "ill", "x"], style="markdown") == renamed

    def test_missing_words_are_not_mentioned(self, words: Any) -> None:
        text = words.explain([np.nan, 1.0, 0.0])[0].highlight("great", style="markdown")
        assert text.startswith("great\n")
        assert "(" in text
        assert "great (" not in text

    def test_wrong_input_is_refused(self, words: Any) -> None:
        told = words.explain([1.0, 0.0, 1.0])[0]
        with pytest.raises(ValueError, match="style must be"):
            told.highlight("great", style="latex")
        with pytest.raises(TypeError, match="text must be a document as str, got bytes"):
            told.highlight(b"great")
        with pytest.raises(ValueError, match="feature_names has no name for column 0"):
            told.highlight("great", {7: "x"})

    @given(
        st.text(alphabet="ab<&*_`\\ \n\x1b\"'", max_size=30),
        st.lists(st.sampled_from(["a", "ab", "a b", "<", "&", "b*"])),
    )
    def test_what_a_document_holds_is_kept_and_escaped(self, document: str, names: list[str]) -> None:
        marks = [Word(name, True, "x", 0, 0.5, 0.6) for name in names]
        body = mark_words(document, marks, "html").split("<br><small>")[0]
        body = body.removeprefix('<p style="white-space:pre-wrap">').removesuffix("</p>")
        inner = re.sub(r"<mark [^>]*>|</mark>", "", body)
        assert "<" not in inner
        assert html.unescape(inner) == document.replace("\x1b", "")
        terminal = mark_words(document, marks).split("\n\npresent")[0]
        assert re.sub(r"\x1b\[[0-9;]*m", "", terminal) == document.replace("\x1b", "")


def test_an_empty_bag_of_words() -> None:
    assert mark_words("nothing asked", [], "terminal") == "nothing asked"
    assert mark_words("a", [Word("b", False, None, 0, 0.5, 0.5)], "markdown") == "a\n\nabsent: b (no change)"


def test_a_sparse_row_is_one_instance(cancer: Any) -> None:
    X, y = (np.asarray(part) for part in cancer)
    clf = etana(solver=QUICK).fit(X, y)
    [told] = clf.explain(sp.coo_array(X[0]))
    assert told == clf.explain(X[:1])[0]


@pytest.mark.parametrize("style", ["terminal", "markdown", "html"])
def test_words_whose_small_form_is_another_letter(style: str) -> None:
    words = [Word(text, True, "a", 0, 0.1, 0.2) for text in ("istanbul", "i", "straße", "k")]
    marked = mark_words("\u0130stanbul, \u0130 \u0131 I, Straße, \u212a", words, style).split("present")[0]
    sign = {"terminal": "\x1b[0m", "markdown": "**", "html": "</mark>"}[style]
    assert marked.count(sign) == (12 if style == "markdown" else 6)


def test_markdown_keeps_entities_and_rulers_as_they_are() -> None:
    assert mark_words("a &lt;b&gt;\n===", [], "markdown") == "a \\&lt;b\\&gt;\n\\=\\=\\="


@pytest.mark.parametrize("missing", ["ignored", "informative"])
def test_cells_that_pandas_calls_na_are_missing(missing: str) -> None:
    y, rng = np.repeat([0, 1], 40), np.random.default_rng(0)
    bare = pd.DataFrame(rng.normal(size=(80, 3)).round() + y[:, None], columns=["a", "b", "c"])
    bare = bare.mask(rng.random(bare.shape) < 0.3).assign(sign=np.where(rng.random(80) < 0.7, "yes", None))
    costs = Costs(0.01, bundles={"b": "lab", "c": "lab", "sign": "lab"})
    told = []
    for rows in (bare, bare.convert_dtypes()):
        clf = SequentialClassifier(solver=FirstK(None, certificate_paths=0), feature_costs=costs, missing=missing)
        told.append(clf.fit(rows, y).explain(rows[:20]))
    assert list(map(str, told[0])) == list(map(str, told[1]))
    for row, explanation in enumerate(told[1]):
        values = {step.name: step.value for step in explanation.steps}
        assert values["a"] == (None if np.isnan(bare["a"][row]) else bare["a"][row])
        there = {name: bare[name][row] for name in ("b", "c", "sign") if not pd.isna(bare[name][row])}
        assert values["lab"] == there or not there


@pytest.mark.parametrize(
    ("prior", "told"),
    [
        ((0.1, 0.4, 0.3, 0.2), "a 10.0%, b 40.0%, c 30.0%, d 20.0%"),
        ((0.1, 0.4, 0.2, 0.25, 0.05), "b 40.0%, d 25.0%, c 20.0%, a 10.0%, e 5.0%"),
        ((0.1, 0.4, 0.2, 0.25, 0.03, 0.02), "b 40.0%, d 25.0%, c 20.0%, a 10.0%, 2 others 5.0%"),
    ],
)
def test_no_class_is_dropped_in_silence(prior: tuple[float, ...], told: str) -> None:
    classes = tuple("abcdef"[: len(prior)])
    text = str(Explanation(classes, prior, prior, (), None, "b", {"b": 0.6}, 0.0))
    assert text.splitlines()[0] == f"At first: {told}"


def test_a_decision_that_is_not_the_likeliest_class_says_why() -> None:
    costs = {"well": 66.0, "ill": 22.63, "refer": 30.0}
    told = Explanation(("well", "ill"), (0.9, 0.1), (0.7, 0.3), (), None, "ill", costs, 0.0, unit="EUR")
    assert "It is the cheapest: 22.63 EUR against 66 EUR for well, the likeliest class." in str(told)
    words = {
        "decision": {"answers": {"ill": "treat", "well": "send home"}},
        "class": {"answers": {"ill": "is ill", "well": "is well"}},
    }
    worded = told.in_words(words)
    assert (worded.classes, list(worded.decision_costs)) == (("is ill", "is well"), ["treat", "send home", "refer"])
    assert "against 66 EUR for is well, the likeliest class." in str(worded)
    assert "against 66 EUR" in str(Explanation.from_dict(json.loads(told.to_json())))
    likeliest = Explanation(("well", "ill"), (0.9, 0.1), (0.7, 0.3), (), None, "well", {**costs, "well": 9.0}, 0.0)
    assert "likeliest" not in str(likeliest)


@pytest.mark.parametrize(("added", "told"), [(4e-5, "and as much"), (6e-5, "0.0001 less")])
def test_what_four_decimals_do_not_tell_is_as_much(added: float, told: str) -> None:
    step = ExplanationStep("age", 0, 47.0, 2, "old", 0.01, 0.01, 0.2, (0.5, 0.5), (0.9, 0.1), added_saving=added)
    explanation = Explanation((0, 1), (0.5, 0.5), (0.9, 0.1), (step,), None, 0, {0: 0.1, 1: 0.9}, 0.01)
    assert f"expected to save 0.2000 more than it costs, {told} without this feature" in str(explanation)


@pytest.mark.parametrize(
    ("added", "told"),
    [
        (0.2, "and nothing"),
        (0.05, "0.0500 less"),
        (1e-7, "and as much"),
        (-1e-7, "and as much"),
        (-0.05, "0.0500 more"),
    ],
)
def test_what_a_question_adds_is_said_with_its_sign(added: float, told: str) -> None:
    step = ExplanationStep("age", 0, 47.0, 2, "old", 0.01, 0.01, 0.2, (0.5, 0.5), (0.9, 0.1), added_saving=added)
    explanation = Explanation((0, 1), (0.5, 0.5), (0.9, 0.1), (step,), None, 0, {0: 0.1, 1: 0.9}, 0.01)
    assert f"expected to save 0.2000 more than it costs, {told} without this feature" in str(explanation)
    in_money = told.replace("0.0500", "0.05 EUR")  # which has as many digits as it needs
    text = str(replace(explanation, unit="EUR"))
    assert f"expected to save 0.2 EUR more than it costs, {in_money} without this feature" in text
