"""Names of questions, outcomes, classes and decisions, and beliefs that show them."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pandas as pd
import pytest

from seqclass import Costs, SequentialClassifier, load
from seqclass.pomdp import TableProblem, with_names

LIKELIHOODS = np.array([[[0.9, 0.2], [0.1, 0.8]], [[0.6, 0.5], [0.4, 0.5]]])
FRAME = pd.DataFrame(
    {
        "the age": [20.0, 30.0, 40.0, 50.0] * 20,
        "sex": ["f", "m", "f", "m"] * 20,
        "iron": [1.0, 1.0, 2.0, 2.0] * 20,
        "zinc": [5.0, 6.0, 5.0, 7.0] * 20,
    }
)
LABELS = np.array(["ill", "well", "ill", "ill", "well", "well", "ill", "well"] * 10)


def problem(any_order: bool = True) -> TableProblem:
    plain = TableProblem([0.3, 0.7], LIKELIHOODS, prices=0.1, any_order=any_order)
    return with_names(plain, ["the test", "Look"], outcomes=[["+", "-"], None], classes=["ill", "well"])


def test_a_belief_shows_itself_and_gives_what_is_asked_by_name() -> None:
    belief = problem().initial_belief()
    assert repr(belief) == "<BeliefState: ill 30.0%, well 70.0%; 0 of 2 asked, 0 paid>"
    assert belief.posterior.to_dict() == {"ill": 0.3, "well": 0.7}
    assert belief.predictive("the test").to_dict() == pytest.approx({"+": 0.41, "-": 0.59})
    assert belief.predictive(1).name == "Look"
    assert belief.entropy() == pytest.approx(-(0.3 * np.log2(0.3) + 0.7 * np.log2(0.7)))
    for after in (belief.update("the test", "+"), belief.update(the_test="+"), belief.update(0, 0)):
        assert after.posterior["ill"] == pytest.approx(0.27 / 0.41)
        assert (after.spent[0], after.stage) == (0.1, 1)
    both = belief.update("the test", "-", look=1)
    assert both.to_frame()["observed"][0] == "the test=-, Look=1"
    assert "the test=-" in both._repr_html_()
    assert both.posterior["ill"] == pytest.approx(0.03 * 0.4 / (0.03 * 0.4 + 0.56 * 0.5))


def test_a_batch_is_the_same_type() -> None:
    batch = problem().initial_belief(3).update("the test", ["+", "-", None])
    assert list(batch.posterior.columns) == ["ill", "well"]
    np.testing.assert_allclose(batch.posterior, batch.probabilities)
    assert batch.to_frame()["observed"].tolist() == ["the test=+", "the test=-", "the test=missing"]
    assert batch.spent.tolist() == [0.1, 0.1, 0.0]  # what is missing costs nothing
    assert repr(batch).startswith("<BeliefState: 3 cases; on average ill ")
    np.testing.assert_allclose(batch.predictive("Look"), batch.asking(1).outcome_probabilities)
    assert repr(problem().initial_belief(0)).startswith("<BeliefState: 0 cases")


def test_classes_that_are_called_like_other_columns_keep_theirs() -> None:
    batch = with_names(problem(), classes=["paid", "well"]).initial_belief(2).update("the test", "-")
    frame = batch.to_frame()
    assert list(frame.columns) == ["P(paid)", "well", "asked", "paid", "stopping_cost", "decision", "observed"]
    np.testing.assert_allclose(frame[["P(paid)", "well"]], batch.probabilities)
    assert frame["paid"].tolist() == [0.1, 0.1]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda b: b.update("the tast", 1), "is no question of this problem; did you mean 'the test'"),
        (lambda b: b.update("the test", "±"), "the test shows '\\+', '-'"),
        (lambda b: b.update("the test", 1).update("the test", 1), "'the test' was asked before"),
        (lambda b: b.update("the test", [1, 0]), "1 cases need as many answers"),
        (lambda b: b.update(7, 0), "there is no question 7"),
        (lambda b: b.update(), "update takes outcomes alone, a question and its answer, or answers by name"),
        (lambda b: b.replace(belief=[0.5, 0.5]), "a belief has no belief to replace"),
        (lambda b: b.asking(0).update(np.array([5])), "the test: outcome 5 is not in 0..1"),
    ],
)
def test_what_cannot_be_is_refused_by_name(change: object, message: str) -> None:
    with pytest.raises((TypeError, ValueError), match=message):
        change(problem().initial_belief())  # type: ignore[operator]


def test_in_one_order_only_the_next_question_is_answered() -> None:
    belief = problem(any_order=False).initial_belief()
    with pytest.raises(ValueError, match="'Look' is not next in this order: there comes 'the test'"):
        belief.update("Look", 1)
    with pytest.raises(ValueError, match="'Look' is not next"):
        belief.predictive("Look")
    assert belief.predictive().name == "the test"
    assert belief.update(the_test="-", look=0).stage == 2


def test_an_answer_that_cannot_be_is_told_by_its_name() -> None:
    likelihoods = np.array([[[1.0, 1.0], [0.0, 0.0]]])
    sure = with_names(TableProblem([0.5, 0.5], likelihoods, prices=0.1), ["the test"])
    with pytest.raises(ValueError, match=r"^the test: outcome 1 has probability zero"):
        sure.initial_belief().update("the test", 1)


@pytest.mark.parametrize(
    ("names", "message"),
    [
        ({"questions": ["a"]}, "questions must have 2 names, got 1"),
        ({"classes": ["a", "a"]}, "classes has the name 'a' twice"),
        ({"outcomes": [["a", "b", "c"], None]}, "outcomes of question 0 must have 2 names, got 3"),
        ({"outcomes": [None, ["1", 1]]}, "outcomes of question 1 must have different names, got '1', '1'"),
        ({"outcomes": [None]}, "outcomes must have one entry a question"),
    ],
)
def test_names_are_checked(names: dict[str, object], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        with_names(problem(), **names)  # type: ignore[arg-type]


def test_names_stay_with_a_part_of_the_problem_and_in_copies() -> None:
    whole = problem()
    assert pickle.loads(pickle.dumps(whole)).names.questions == ["the test", "Look"]
    assert whole.names.classes == whole.names.decisions == ["ill", "well"]
    three = whole.replace(decision_costs=np.array([[0, 1, 0.3], [1, 0, 0.3]]))
    assert three.names.decisions == ["ill", "well", "decision 2"]
    assert TableProblem([0.5, 0.5], LIKELIHOODS, prices=0.1).names.questions == ["feature 0", "feature 1"]


@pytest.mark.parametrize("order", ["adaptive", "information"])
def test_a_fitted_classifier_gives_beliefs_by_its_columns(order: str, tmp_path: object) -> None:
    costs = Costs(0.01, bundles={"iron": "blood", "zinc": "blood"})
    clf = SequentialClassifier(feature_costs=costs, order=order).fit(FRAME, LABELS)
    clf.save(f"{tmp_path}/model.seq")
    for fitted in (clf, load(f"{tmp_path}/model.seq"), pickle.loads(pickle.dumps(clf))):
        belief = fitted.belief({"the age": 50.0})
        np.testing.assert_array_equal(belief.probabilities[0], fitted.session(known={"the age": 50.0}).posterior)
        assert list(belief.posterior.index) == ["ill", "well"]
        assert set(fitted.problem_.names.questions) <= {"the age", "sex", "blood"}
    if order == "adaptive":
        start, case = clf.belief(), clf.session()
        case.observe("sex", "f")
        case.observe("blood", {"iron": 1.0, "zinc": 5.0})
        after = start.update("sex", "f").update("blood", {"iron": 1.0, "zinc": 5.0})
        np.testing.assert_allclose(after.probabilities[0], case.posterior, atol=1e-12)
        assert "sex=f" in after.to_frame()["observed"][0]
        with pytest.raises(ValueError, match="sex must be one of 'f', 'm', got 'x'"):
            start.update("sex", "x")
        with pytest.raises(ValueError, match="blood shows 'iron', 'zinc' at once"):
            start.update("blood", 3)


def test_a_missing_value_that_tells_is_an_answer() -> None:
    frame = FRAME[["the age", "iron"]].astype(float)
    frame.loc[LABELS == "ill", "iron"] = np.nan
    frame.loc[:3, "iron"] = 1.0
    clf = SequentialClassifier(order="adaptive", missing="informative").fit(frame, LABELS)
    case, start = clf.session(), clf.belief()
    case.unavailable("iron")
    for value in (None, np.nan, pd.NA):
        np.testing.assert_allclose(start.update("iron", value).probabilities[0], case.posterior, atol=1e-12)
    assert abs(case.posterior - start.probabilities[0]).max() > 0.1


def test_names_that_are_not_given_stay() -> None:
    named = with_names(problem(), decisions=["treat", "leave"])
    again = with_names(named, classes=["sick", "fine"])
    assert again.names.questions == ["the test", "Look"]
    assert again.names.outcomes(0) == ["+", "-"]
    assert again.names.classes == ["sick", "fine"]
    assert again.names.decisions == ["sick", "fine"]  # they follow the classes
    asked = with_names(again, questions=["a", "b"]).names
    assert (asked.questions, asked.classes, asked.outcomes("a")) == (["a", "b"], ["sick", "fine"], ["+", "-"])


def test_what_may_not_be_asked_is_refused_by_name_and_by_number() -> None:
    start = problem().initial_belief(2)
    once = start.asking("the test").update(np.array([0, 1]))
    given = {"the test": [0, 1], 1: 0}
    np.testing.assert_array_equal(start.update(given).probabilities, once.update(1, 0).probabilities)
    np.testing.assert_array_equal(
        start.update({"the test": [0, 1]}, Look=0).probabilities, once.update(1, 0).probabilities
    )
    np.testing.assert_array_equal(once.probabilities, start.update("the test", [0, 1]).probabilities)
    two = start.asking(["the test", "Look"])
    assert two.question.tolist() == [0, 1]
    assert start.asking([1, 1]).question == 1
    again = two.update(np.array([0, 0]))  # each was asked something else
    in_order = problem(any_order=False).initial_belief()
    ended = in_order.update(np.array([0])).update(np.array([0]))
    dear = problem().replace(max_cost=0.15).initial_belief().asking(0).update(np.array([0]))
    refused: list[tuple[Any, str]] = [
        (lambda: once.asking(0), "'the test' was asked before"),
        (lambda: once.asking("the_test"), "'the test' was asked before"),
        (lambda: again.asking([1, 1]), "'Look' was asked before"),
        (lambda: again.predictive("Look"), "'Look' was asked before"),
        (lambda: start.asking(9), "there is no question"),
        (lambda: start.asking([0, 1, 1]), "2 cases need as many questions, or one for all; got 3"),
        (lambda: in_order.asking(1), "'Look' is not next in this order: there comes 'the test'"),
        (lambda: ended.asking(1), "there is none"),
        (lambda: ended.update(np.array([0, 0])[:1]), "no question is left"),
        (lambda: dear.asking("Look"), "'Look' may not be asked now, by what was spent"),
    ]
    for ask, text in refused:
        with pytest.raises(ValueError, match=text):
            ask()
    np.testing.assert_allclose(
        again.asking([1, 0]).update(np.array([0, 0])).probabilities[0], once.update("Look", [0, 0]).probabilities[0]
    )
    assert len(start[[]].asking(0).update(np.array([], dtype=int))) == 0
    np.testing.assert_allclose(dear.predictive("Look").sum(), 1)  # what it would show can be looked at all the same


def test_a_question_asked_in_some_rows_is_refused_with_the_way_out() -> None:
    sensors = np.array([[[0.9, 0.2], [0.1, 0.8]]] * 2)
    problem = TableProblem([0.5, 0.5], sensors, prices=0.1, any_order=True)
    begun = problem.initial_belief(3)
    belief = begun.asking(np.array([0, 1, 1])).update(np.zeros(3, dtype=int))
    with pytest.raises(ValueError, match=r"was asked before in 2 of 3 rows.*belief\.available\[:, j\], belief\[rows\]"):
        belief.asking(1)
    assert belief[belief.available[:, 1]].asking(1).joint.shape == (1, 2, 2)
    assert repr(begun.asking(1)).endswith("; asking 'feature 1'>")
    assert "asking" not in repr(begun)
    assert repr(problem.structure).startswith("<TableStructure: ")
