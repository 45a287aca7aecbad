"""Whatever functions give back shows itself in at most three lines, and as a table with names and units."""

from __future__ import annotations

import dataclasses
import importlib
import inspect
import pkgutil
import re
import tempfile
from collections.abc import Callable
from functools import cache
from html.parser import HTMLParser
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.base import BaseEstimator
from test_architecture import REPOSITORY, seen_by_users

import seqclass
from seqclass import Costs, SequentialClassifier, analysis, certify_differential, certify_error, offpolicy
from seqclass.agent.agent import agent_of
from seqclass.agent.components import Component, Likeness, Trait
from seqclass.agent.record import join_records, select_rows
from seqclass.analysis.missing import MissingSweep
from seqclass.bn import NetworkTables
from seqclass.bn.base import HiddenTables
from seqclass.datasets import Dataset, load
from seqclass.datasets.conditional import Conditional
from seqclass.datasets.hidden import HiddenStates
from seqclass.datasets.logit import SwitchedLogit
from seqclass.datasets.world import World
from seqclass.drift import DriftTest, Followed
from seqclass.early import EarlyClassifier, EarlyDecisions
from seqclass.exams import ItemParameters, ItemResponse, estimate, exam_report
from seqclass.experiment import Experiment, Results
from seqclass.experiment.comparison import Comparison
from seqclass.experiment.records import LabelledRecord
from seqclass.fitting.choice import Candidate, Choice
from seqclass.large import DecidedParts
from seqclass.metrics import score_rows
from seqclass.pomdp import (
    FirstK,
    GridValueIteration,
    MixtureProblem,
    Perseus,
    SolveInfo,
    TableProblem,
    Visits,
    acquire,
    certify,
    cost_sweep,
    dual_bound,
    evaluate,
    simulate,
    stepthrough,
    with_names,
)
from seqclass.pomdp.alpha import AlphaSet, SharedVectors
from seqclass.pomdp.bounds.dual import LowerBound
from seqclass.pomdp.solve_info import OrderingCandidate, OrderingChoice, SolveStep
from seqclass.pomdp.sweeps.budget import RandomisedPolicy
from seqclass.pomdp.unrolled import FreeNodes, NodeVectors
from seqclass.report import Explored
from seqclass.report.explore import ExploredRun
from seqclass.selection import SAOLA, nogueira_stability
from seqclass.selection.prequential import Prequential
from seqclass.stats import critical_difference, friedman_test, mean_interval, paired_t_test
from seqclass.stats.paired import GroupDifference
from seqclass.stats.wins import win_tie_loss

#: What all of them share.
Readable = LowerBound.__mro__[1]
#: What goes into functions or is handed through them, rather than a finding: settings, words, states of a model.
NO_RESULTS = {
    "AnswerRules", "Columns", "Consequences", "ConstraintStatus", "Dataset", "EncodedRows", "FiresANN", "FiresGLM",
    "FiresSDT", "GridBlock", "HoldOut",
    "Interviews", "Labels", "NetworkState", "PomdpPyModels", "PriceAfter", "QuestionRules", "Rules", "Settings",
    "ShuffledSplit", "SkipLogic", "SkipRule", "SourceSplit",
}  # fmt: skip


@cache
def classes() -> dict[str, type]:
    """Classes of the package by name; of two of one name the public one."""
    found = [one.name for one in pkgutil.walk_packages(seqclass.__path__, "seqclass.") if one.name[-8:] != "__main__"]
    own = [
        c
        for module in map(importlib.import_module, found)
        for c in vars(module).values()
        if inspect.isclass(c) and c.__module__ == module.__name__
    ]
    return {c.__name__: c for c in [*own, *filter(inspect.isclass, seen_by_users().values())]}


def mentioned(annotation: Any) -> list[type]:
    return [classes()[word] for word in re.findall(r"\w+", str(annotation)) if word in classes()]


def given_back(thing: Any) -> list[type]:
    """Classes in what a function, or any public method or property of a class, says that it returns."""
    members = [v for n, v in inspect.getmembers(thing) if n[:1] != "_"] if inspect.isclass(thing) else [thing]
    functions = [member.fget if isinstance(member, property) else member for member in members]
    return [c for f in functions for c in mentioned(getattr(f, "__annotations__", {}).get("return", ""))]


@cache
def results() -> dict[str, type]:
    """Records that have a place in the reference, or that what has one gives back or holds."""
    reached: dict[str, type] = {}
    things = seen_by_users().values()
    todo = [*filter(inspect.isclass, things), *(c for thing in things for c in given_back(thing))]
    todo += [c for c in classes().values() if issubclass(c, Readable) and c is not Readable]
    while todo:
        one = todo.pop()
        is_record = dataclasses.is_dataclass(one) or hasattr(one, "_fields") or issubclass(one, Readable)
        if one.__name__ not in reached and is_record and not issubclass(one, BaseEstimator):
            reached[one.__name__] = one
            own = vars(one).get("__annotations__", {}).values()
            todo += [*given_back(one), *(c for text in own for c in mentioned(text))]
    return {name: one for name, one in reached.items() if name not in NO_RESULTS}


@cache
def rows() -> tuple[pd.DataFrame, Any]:
    rng = np.random.default_rng(0)
    y = rng.permutation(np.repeat(["ill", "well"], 60))
    X = pd.DataFrame(rng.normal(size=(120, 3)), columns=["dose", "age", "x"])
    X[["dose", "age"]] += np.where(y == "ill", 1.5, 0.0)[:, None]
    return X.set_axis(pd.Index([f"case {i}" for i in range(120)], name="case")), y


@cache
def clf() -> SequentialClassifier:
    costs = Costs(0.02, unit="EUR")
    return SequentialClassifier(feature_costs=costs, calibrate=True, random_state=0).fit(*rows(), held_out=3)


#: Who has which of four items right.
ANSWERS = (np.random.default_rng(0).random((40, 4)) < np.linspace(0.2, 0.9, 40)[:, None]).astype(int)


@cache
def score_plan() -> Any:
    return estimate(None, ANSWERS, max_items=2)


@cache
def problem() -> TableProblem:
    plain = TableProblem([0.5, 0.5], np.array([[[0.9, 0.2], [0.1, 0.8]], [[0.7, 0.4], [0.3, 0.6]]]), prices=0.05)
    return with_names(plain, ["fever", "cough"], classes=["ill", "well"], decisions=["treat", "leave"])


def node_vectors() -> NodeVectors:
    """One vector a node of a problem of three hidden states, in any order."""
    chances = np.array([[[0.9, 0.5, 0.2], [0.1, 0.5, 0.8]]] * 2)
    mixed = MixtureProblem([0.3, 0.3, 0.4], [0, 0, 1], chances, prices=0.05, any_order=True)
    nodes = FreeNodes(with_names(mixed, classes=["ill", "well"]).initial_belief(), 2, "a test")
    sizes = [len(level) for level in nodes.levels[:2]]
    return NodeVectors(nodes, [AlphaSet(np.full((n, 3), 0.2), np.arange(n + 1)) for n in sizes])


@cache
def policy() -> Any:
    return GridValueIteration().solve(problem())


@cache
def scores() -> Any:
    X, y = rows()
    return score_rows(clf(), X, y, groups=np.where(X["x"] > 0, "north", "south"), positive="ill")


@cache
def offline() -> Any:
    X, y = rows()
    holes = X.mask(np.random.default_rng(1).random(X.shape) < 0.3)
    return offpolicy.compare(clf(), holes, y, methods=["direct", "complete"], allow_seen=True)


@cache
def session() -> Any:
    live = clf().session()
    live.observe(live.next_feature.name, 1.0)
    return live


@cache
def run() -> Results:
    X, y = rows()
    named = Dataset("small", X.to_numpy(), (y == "ill").astype(int), class_names=("well", "ill"))
    return Experiment([named], ["etana"], cv=2).run(Path(tempfile.mkdtemp()) / "small.run")


def comparison() -> Comparison:
    scored = pd.DataFrame({"a": [0.9, 0.8], "b": [0.7, 0.8]})
    return Comparison("accuracy", scored, win_tie_loss(scored), None, None)


def followed() -> Followed:
    none, two = np.array([], dtype=int), np.array([0.01, 0.03])
    return Followed(100, two, two, np.array([1, 3]), np.array([101]), none, none, none, 0.1, None)


TRAIT = Trait("age", 0, ">= 60", 0.9, 0.25)
KIND = Component("ill", 2, 3, 0.4, (TRAIT, TRAIT))
RANKED = [[0.9, 0.8, 0.3], [0.8, 0.9, 0.2]] * 4
TRIED = Candidate("naive Bayes", 0.08, (0.06, 0.10), 0.0, 0.0, 0.03, 0.05, 3.0, 1.2)
RULE = OrderingCandidate("ExpectedSaving()", 0.21, 0.002, 0.0, 0.0, 3.2, 5000, 1.5)
STEP = SolveStep(0.5, 1000, 0.2, 0.19, 0.05)
FLU = {"names": ["flu", "fever"], "states": [["no", "yes"]] * 2, "parents": [[], [0]]}

#: One of each, as functions give it back where that is cheap.
EXAMPLES: dict[str, Callable[[], Any]] = {
    "Acquisition": lambda: acquire(policy(), np.array([[0, 1], [1, 0], [0, 0]])),
    "AcquisitionRecord": lambda: clf().acquire(rows()[0]),
    "AlphaVectors": lambda: Perseus(certificate_paths=0).solve(problem()).values,
    "Answer": lambda: session().history[0],
    "BeliefState": lambda: problem().initial_belief(3),
    "Calibration": lambda: clf().calibration_,
    "Candidate": lambda: TRIED,
    "Certificate": lambda: certify(problem(), policy()),
    "CertifiedError": lambda: certify_error(clf(), *rows(), alpha=0.4, allow_seen=True),
    "Choice": lambda: Choice("naive Bayes", (TRIED, TRIED), ("trees: no time",)),
    "ClassProfile": lambda: analysis.class_profile(problem(), policy()),
    "ClassScores": lambda: scores().classes[0],
    "Comparison": comparison,
    "Component": lambda: KIND,
    "Conditional": lambda: Conditional.from_table([0, 1], [[0.5, 0.1], [0.5, 0.9]]),
    "CostFrontier": lambda: cost_sweep(problem(), [1.0, 10.0]),
    "CriticalDifference": lambda: critical_difference(RANKED, names=["a", "b", "c"]),
    "DatasetInfo": lambda: load("iris").info(),
    "DecidedParts": lambda: DecidedParts(2, 1, 0, 1.5, 0.015, {"a": 2}),
    "DecisionCurve": lambda: scores().decision_curve,
    "Differential": lambda: agent_of(certify_differential(clf(), *rows(), alpha=0.4, allow_seen=True)).differential,
    "DriftTest": lambda: DriftTest.from_classifier(clf()).update(clf().acquire(rows()[0]), rows()[1]),
    "EarlyDecisions": lambda: EarlyDecisions(np.array(["up"]), np.array([3]), np.array([0.03]), np.array([True])),
    "EarlySession": lambda: (
        EarlyClassifier(n_patterns=0, n_checkpoints=2, cv=2).fit(np.arange(32.0).reshape(8, 4), [0, 1] * 4).session()
    ),
    "EntropyPath": lambda: analysis.entropy_path(problem(), policy()),
    "Episodes": lambda: simulate(problem(), policy(), 5, random_state=0),
    "Estimate": lambda: offline()["direct"],
    "Estimates": offline,
    "Evaluation": lambda: evaluate(problem(), policy()),
    "ExamReport": lambda: exam_report(
        SequentialClassifier.from_model(
            ItemResponse.from_items({"a": [1.5] * 6, "b": [-1, -0.5, 0, 0, 0.5, 1]}, cuts=[0.0], points=9),
            feature_costs=0.02,
        ),
        100,
        n_bands=2,
    ),
    "Expected": lambda: acquire(policy(), np.array([[0, 1]]), record_expected=True).leaf_expected,
    "Explanation": lambda: clf().explain(rows()[0][:1])[0],
    "ExplanationStep": lambda: clf().explain(rows()[0][:1])[0].steps[0],
    "Explored": lambda: Explored(clf().explain(rows()[0][:3]), truth=rows()[1][:3].tolist()),
    "ExploredRun": lambda: ExploredRun({"etana on iris": Explored(clf().explain(rows()[0][:3]))}, "a note"),
    "Feature": lambda: results()["Feature"]("age", 0, ("young", "old")),
    "FeatureReasons": lambda: SAOLA().fit(rows()[0] > 0, rows()[1]).explain(),
    "FeatureValues": lambda: analysis.feature_values(problem(), policy()),
    "Followed": followed,
    "FriedmanTest": lambda: friedman_test(RANKED, names=["a", "b", "c"]),
    "GroupDifference": lambda: GroupDifference("north", 12, 0.2, (float("nan"), float("nan")), float("nan")),
    "GroupRisk": lambda: EXAMPLES["CertifiedError"]().groups[0],
    "GroupScores": lambda: scores().groups[0],
    "HeldOut": lambda: clf().held_out_,
    "HiddenStates": lambda: HiddenStates(np.full(2, 0.5), np.arange(2), (EXAMPLES["Conditional"](),)),
    "HiddenTables": lambda: HiddenTables(np.ones(2), np.arange(2), np.full((2, 2, 2), 0.5)),
    "ItemParameters": lambda: ItemParameters.from_table({"a": [1.0, 2.0], "b": [0.0, 1.0], "c": [0.2, 0.25]}),
    "LabelledRecord": lambda: LabelledRecord(
        clf().acquire(rows()[0]), rows()[1], np.arange(120), ("ill", "well"), ("dose", "age", "x")
    ),
    "Likeness": lambda: Likeness(KIND, 0.7),
    "LowerBound": lambda: dual_bound(problem()),
    "MeanEstimate": lambda: offline()["direct"].parts[0],
    "MeanInterval": lambda: mean_interval([0.8, 0.9, 0.85]),
    "MissingSweep": lambda: MissingSweep(np.array([0.0, 0.5]), *np.ones((10, 2)), n_repeats=5),
    "NodeVectors": lambda: node_vectors(),
    "NetworkTables": lambda: NetworkTables(**FLU, tables=[np.array([0.9, 0.1]), np.full((2, 2), 0.5)]),
    "Optimum": lambda: EXAMPLES["World"]().optimum(feature_costs=0.1),
    "OrderingCandidate": lambda: RULE,
    "OrderingChoice": lambda: OrderingChoice("ExpectedSaving()", (RULE,), ("EC2()",), observed=(RULE,)),
    "PairedTest": lambda: paired_t_test([0.9, 0.8, 0.85], [0.7, 0.75, 0.8]),
    "Prequential": lambda: Prequential(np.array([np.nan, 0.8]), np.full(2, np.nan), (), np.ones(2), np.ones(2), 3),
    "Prices": lambda: Costs([0.1, 0.2, 0.3]).prices(3),
    "Provenance": lambda: clf().provenance_,
    "Question": lambda: clf().session().next_feature,
    "QuestionCalibration": lambda: scores().calibration[0],
    "ReachableBeliefs": lambda: analysis.reachable_beliefs(problem(), policy()),
    "RandomisedPolicy": lambda: RandomisedPolicy([FirstK(0).solve(problem()), policy()], [0.3, 0.7]),
    "Regret": lambda: analysis.regret(problem(), FirstK(0).solve(problem()), policy()),
    "Results": run,
    "Rung": lambda: EXAMPLES["CertifiedError"]().rungs[0],
    "ScoreEstimates": lambda: score_plan().acquire(ANSWERS[:3]),
    "ScorePlan": lambda: score_plan(),
    "ScoreStates": lambda: score_plan().states,
    "Scores": scores,
    "SharedVectors": lambda: SharedVectors(problem(), [AlphaSet(np.array([[0.2, 0.3]]))]),
    "SemiRFSStep": lambda: results()["SemiRFSStep"](0, "start", 0, 0, 20, 0.6, 0.6, 0.6, True, True, 0.0, 0.0, 1, 0.02),
    "Sensitivity": lambda: analysis.sensitivity(problem(), policy()),
    "SolveInfo": lambda: SolveInfo("wide gap", 0.2, 0.19, 0.05, trace=(STEP,), ordering=EXAMPLES["OrderingChoice"]()),
    "SolveStep": lambda: STEP,
    "Stability": lambda: nogueira_stability([[True, False, True], [True, False, False]]),
    "Step": lambda: next(stepthrough(problem(), policy(), case=[0, 1])),
    "StoppingRegions": lambda: analysis.stopping_regions(policy()),
    "SwitchedLogit": lambda: SwitchedLogit(1, "sefa"),
    "Thresholds": lambda: analysis.thresholds(policy()),
    "Trait": lambda: TRAIT,
    "ValueOfInformation": lambda: analysis.value_of_information(problem(), policy()),
    "Visits": lambda: Visits(0.5, np.array([0.0, 2.0, 1.0]), 0.1),
    "WhatIf": lambda: analysis.what_if(problem(), policy(), prices=[0.5, 0.5]),
    "WinTieLoss": lambda: win_tie_loss(pd.DataFrame(RANKED, columns=["a", "b", "c"])),
    "World": lambda: World(np.array([0.5, 0.5]), (-1,), (np.array([[0.9, 0.2], [0.1, 0.8]]),)),
}


def test_there_is_an_example_of_each_result() -> None:
    assert set(EXAMPLES) == set(results())
    assert set(classes()) >= NO_RESULTS, "take out what is gone"


@pytest.mark.parametrize("name", sorted(EXAMPLES))
def test_results_show_themselves(name: str) -> None:
    result = EXAMPLES[name]()
    assert type(result) is results()[name]
    assert result == result
    assert result != EXAMPLES["BeliefState"]()  # which is no data class, and equal to itself alone
    text = repr(result)
    print(text)
    assert name in text
    assert len(text.splitlines()) <= 3
    assert max(map(len, text.splitlines())) <= 120
    assert not re.search(r"array\(|\b0x|object at|dtype|\n.*\n.*\n|<bound|np\.|Index\(", text)
    frame = result.to_frame()
    print(frame.iloc[:5].to_string())
    assert isinstance(frame, pd.DataFrame)
    assert len(frame) > 0
    assert len(frame.columns) > 0
    assert frame.columns.is_unique
    assert all(isinstance(column, str) for column in frame.columns)
    assert set(frame.attrs["units"]) <= set(frame.columns)
    for column in frame.columns:
        if re.search("(^|_)(cost|price|paid|saving)s?(_| |$)", column):
            assert frame.attrs["units"][column] in ("EUR", "the unit of the costs"), column
        if name in ("HeldOut", "Scores") and "cost" in column:
            assert frame.attrs["units"][column] == "EUR"
            assert "costs in EUR" in text
        if "seconds" in column:
            assert frame.attrs["units"][column] == "seconds"
    page = result._repr_html_()
    assert "<table" in page
    assert page.count("<tr") <= 25
    assert re.search(r"array\(|\b0x|object at", page) is None


@pytest.mark.parametrize("value", [0.2, float("nan")])
def test_a_result_is_equal_to_its_like_and_to_nothing_else(value: float) -> None:
    """Where a field is NaN too, which a data class of Python 3.13 does not say by itself."""
    result = SolveInfo("converged", gap=value)
    like = dataclasses.replace(result)
    assert like is not result
    assert like == result
    assert hash(like) == hash(result)
    assert dataclasses.replace(result, size=1) != result
    assert result != (1,)
    without = EXAMPLES["Calibration"]()  # of arrays, which are not compared
    assert dataclasses.replace(without) != without


def test_results_have_their_repr_from_one_place() -> None:
    own = [name for name, one in results().items() if issubclass(one, Readable) and "__repr__" in vars(one)]
    assert own == ["NetworkTables"], "give a summary instead"
    assert [name for name, one in results().items() if not issubclass(one, Readable)] == []


def test_vectors_of_hidden_states_have_their_own_columns() -> None:
    values = node_vectors()
    frame = values.to_frame()
    assert list(frame.columns) == ["stage", "context", "action", "ill, state 0", "ill, state 1", "well, state 0"]
    assert frame["action"].tolist() == ["ill", "well", "go on"] * (1 + len(values.nodes.levels[1]))
    np.testing.assert_array_equal(frame.iloc[0, 3:].tolist(), values.nodes.costs[:, 0])
    belief, margin = values.dominating_region(2) or (None, None)
    assert (margin, belief is not None and belief.sum()) == (pytest.approx(0.3), pytest.approx(1.0))


class Rows(HTMLParser):
    """How many rows a table has, and whether every tag is closed."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.rows, self.open = 0, list[str]()
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: Any) -> None:
        self.rows += tag == "tr"
        self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


def test_a_table_in_a_notebook_is_short_and_escaped() -> None:
    record = select_rows(clf().acquire(rows()[0]), np.arange(120).repeat(20))
    page = Rows(dataclasses.replace(record, classes=["<script>", "a & b"])._repr_html_())
    assert (page.open, page.rows <= 24) == ([], True)
    odd = dataclasses.replace(EXAMPLES["WinTieLoss"](), names=("<script>", "b", "c"))
    assert "<script>" not in odd._repr_html_()
    assert "EUR" in record._repr_html_()


@given(
    st.lists(
        st.none()
        | st.booleans()
        | st.integers()
        | st.floats()
        | st.text()
        | st.tuples(st.floats(), st.floats())
        | st.lists(st.text() | st.floats(), max_size=9)
        | st.lists(st.floats(), max_size=9).map(np.array),
        min_size=1,
        max_size=9,
    )
)
def test_whatever_a_result_holds_is_shown_in_three_lines(values: list[Any]) -> None:
    names = ["n_rows", "interval", "cost_interval", "share", "n_boxes", "label", "names", "price", "seconds"]
    made: Any = dataclasses.make_dataclass("Any", names[: len(values)], bases=(Readable,), repr=False)
    for shift in range(len(values)):
        text = repr(made(*values[shift:], *values[:shift]))
        assert len(text.splitlines()) <= 3
        assert max(map(len, text.splitlines())) <= 120
        assert text[0] + text[-1] == "<>"


INDICES = [
    pd.RangeIndex(5, 125),
    pd.Index([f"case {i}" for i in range(120)], name="case"),
    pd.date_range("2020-01-01", periods=120, name="day", tz="UTC"),
    pd.MultiIndex.from_product([["a", "b"], range(60)], names=["ward", "bed"]),
]


@pytest.mark.parametrize("index", INDICES, ids=lambda index: type(index).__name__)
def test_a_record_gives_the_index_back(index: pd.Index[Any]) -> None:
    X = rows()[0].set_axis(index)
    record = clf().acquire(X)
    pd.testing.assert_index_equal(record.to_frame().index, index)
    some = np.array([7, 3, 7])
    pd.testing.assert_index_equal(select_rows(record, some).to_frame().index, index[some])
    whole = join_records([clf().acquire(X[:50]), clf().acquire(X[50:])])
    pd.testing.assert_frame_equal(whole.to_frame(), record.to_frame())
    assert (whole.unit, list(whole.names), list(whole.classes)) == ("EUR", ["dose", "age", "x"], ["ill", "well"])


def test_columns_are_named_by_classes_and_methods() -> None:
    assert [*EXAMPLES["AcquisitionRecord"]().to_frame()][-2:] == ["P(ill)", "P(well)"]
    ranked = EXAMPLES["CriticalDifference"]().to_frame()
    assert [*ranked.index] == ["a", "b", "c"]
    assert ranked.loc["a", "p against b"] == ranked.loc["b", "p against a"] == 1.0
    scored = scores().to_frame()
    assert [*scored["rows"]] == ["all rows", "class", "class", "group", "group"]
    assert [*scored["label"][1:]] == ["ill", "well", "north", "south"]


def test_numbers_of_classes_decisions_and_questions_are_names() -> None:
    frames = {name: make().to_frame() for name, make in EXAMPLES.items() if name in BY_NAME}
    for name, (index, columns, held) in BY_NAME.items():
        assert [*frames[name].index][: len(index)] == index
        assert set(columns) <= set(frames[name].columns), name
        for column, values in held.items():
            assert set(frames[name][column]) == values, (name, column)


DECIDED = [("treat", "ill"), ("treat", "well"), ("leave", "ill"), ("leave", "well")]
#: Index, columns and entries of tables about the problem of the examples.
BY_NAME: dict[str, tuple[list[str], list[str], dict[str, set[Any]]]] = {
    "Acquisition": ([], ["P(ill)", "P(well)"], {"decision": {"treat", "leave"}, "asked": {("fever",)}}),
    "ClassProfile": (["ill", "well"], ["P(decide treat)", "P(decide leave)"], {}),
    "FeatureValues": (["fever", "cough"], [], {}),
    "ReachableBeliefs": ([], ["P(ill)", "P(well)"], {"decision": {"treat", "leave"}}),
    "Sensitivity": ([], [], {"of": {"fever", "cough"} | {f"{d} where {c} is true" for d, c in DECIDED}}),
    "StoppingRegions": ([], ["P(ill)", "P(well)"], {"region": {"treat", "leave", "go on"}}),
    "Thresholds": ([], [], {"question": {"fever", "cough"}, "region": {"treat", "leave", "go on"}}),
}


def test_tables_of_several_results_go_below_each_other() -> None:
    both = pd.concat([evaluate(problem(), FirstK(k).solve(problem())).to_frame() for k in (0, 1)])
    assert both["cost"].tolist() == pytest.approx([0.5, 0.2])
    assert both.attrs["units"]["cost"] == "the unit of the costs"


def modules_by_tab(module: ModuleType) -> list[ModuleType]:
    """Modules that completion leads to, from one on."""
    inside = [getattr(module, name) for name in dir(module)]
    own = [one for one in inside if inspect.ismodule(one)]
    return [module, *(each for one in own for each in modules_by_tab(one))]


def test_completion_shows_public_names_alone() -> None:
    shown = {f"{m.__name__}.{name}" for m in modules_by_tab(seqclass) for name in dir(m)}
    public = set((REPOSITORY / "tests" / "public_names.txt").read_text("utf-8").splitlines())
    modules = {name.rpartition(".")[0] for name in public} - {"seqclass"}
    assert shown == public | modules | {"seqclass.__version__"}


def test_every_module_with_names_completes_them() -> None:
    """Whoever imports a module that completion of the package leaves out is shown its names as well."""
    found = [one.name for one in pkgutil.iter_modules(seqclass.__path__, "seqclass.") if "._" not in one.name]
    modules = [importlib.import_module(name) for name in found if name != "seqclass.cli"]
    assert [m.__name__ for m in modules if getattr(m, "__all__", []) and dir(m) != sorted(m.__all__)] == []
