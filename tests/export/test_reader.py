"""The readers in plain Python, of the examples and of the documentation, stand where a session stands."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest
from live_cases import DEFAULTS, EVERY, EXPORTED, PAGES, reader, short_reader

from seqclass import Costs, SequentialClassifier
from seqclass.export import policy_data

#: Policies of a fixed order with values, and bounds, which are told in words.
IN_WORDS = {"grid", "vectors", "functions", "thresholds", "bounds"}


def types(told: Any) -> set[str]:
    """Types of policies and rules within one another."""
    if not isinstance(told, dict):
        return set()
    own = {told["type"]} if "type" in told else set()
    return own.union(*map(types, told.values()))


def outcome(feature: dict[str, Any], value: Any) -> int:
    """As the documentation of the format says."""
    if value is None:
        return int(feature.get("missing", -1))
    if feature["type"] == "category":
        return int(feature["categories"].index(value.strip()))
    if feature["type"] == "outcome":
        return int(value)
    return int(feature["places"][sum(edge <= value for edge in feature["edges"])])


#: Those that a page is held to are read as well where they run what no others do of the reader's branches.
ALSO = {"network, known at the start", "sets, visits", "areas, ladder", "mixture", "given order", "likely", "visits"}
ALSO |= {"known at the start, fixed tree"}


@pytest.mark.slow_cells(
    "bundles",
    "drawn bundle",
    "ec2",
    "fixed mixture",
    "fixed tree, lookahead",
    "groups",
    "improved",
    "lookahead",
    "max_cost",
    "max_features",
    "missing tells, mixture, calibrated",
    "search",
    "search, groups",
    "skips, missing tells, known",
    "tree, calibrated",
    "visits",
)
@pytest.mark.parametrize(
    "name",
    [pytest.param(n, marks=pytest.mark.slow) if n in PAGES - ALSO else n for n in EXPORTED] + EVERY[len(EXPORTED) :],
)
def test_the_reader_stands_where_a_session_stands(name: str, model: Any, cases: Any) -> None:
    clf = model(name)
    data = json.loads(json.dumps(policy_data(clf)))
    if data["kind"] == "graph" or types(data["program"]["policy"]) & IN_WORDS:
        pytest.skip("no program that the reader reads")
    if name.startswith("listed"):
        pytest.skip("so many partial answers are too many for plain Python")
    number = {question["name"]: i for i, question in enumerate(data["questions"])}
    found = reader()(data)
    begun = found.case
    for case in cases(clf, 60 if name.startswith("default") else 6, True):
        found.case, before = dict(begun), []
        for told, stand in zip([None, *case["answers"]], case["stands"], strict=True):
            if told is not None and told[0] == "undo":
                found.case = before.pop()
            elif told is not None:
                before.append(dict(found.case))
                if told[0] == "leave":
                    found.leave()
                elif told[0] == "order":
                    found.order([number[name] for name in told[1]])
                else:
                    name_, value, known = told
                    shows = [data["features"][f] for f in data["questions"][number[name_]]["features"]]
                    values = [value.get(f["name"]) for f in shows] if isinstance(value, dict) else [value] * len(shows)
                    found.tell(number[name_], [outcome(f, v) for f, v in zip(shows, values)], known)
            belief, asked, saving, decision = found.stand()
            panel = found.next_panel()
            assert [data["questions"][q]["name"] for q in panel] == [name for name, _ in stand["panel"]]
            assert found.case["spent"] == pytest.approx(stand["cost"], abs=1e-9, rel=0)
            if data["visits"]:
                visit = 0.0 if found.case["ordered"] else found.visit_cost(panel)
                assert (found.case["visits"], visit) == (stand["visits"], pytest.approx(stand["visit"], abs=1e-9))
            np.testing.assert_allclose(belief, stand["belief"], atol=1e-9, rtol=0)
            assert (None if asked < 0 else data["questions"][asked]["name"]) == stand["asked"]
            assert data["decisions"][decision] == stand["decision"]
            if stand["asked"] is not None and stand["saving"] is not None:
                assert saving == pytest.approx(stand["saving"], abs=1e-9, rel=0)


def test_what_is_not_available_may_be_an_answer_on_the_command_line() -> None:
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 200)
    X = y[:, None] + rng.normal(size=(200, 2))
    X[(rng.random(200) < 0.6) & (y == 1), 0] = np.nan
    costs = Costs([0.01, 0.02])
    clf = SequentialClassifier(feature_costs=costs, order="adaptive", missing="informative").fit(X, y)
    data, case = policy_data(clf), clf.session()
    found = reader()(data)
    for text in ("x0=?", "x1=0.5"):
        found.tell(*reader("answers")(data, text))
    case.unavailable("x0")
    case.observe("x1", 0.5)
    np.testing.assert_allclose(found.stand()[0], case.posterior, atol=1e-9, rtol=0)
    assert found.case["spent"] == pytest.approx(case.paid)


@pytest.mark.parametrize("name", ["mixture of the documentation", *DEFAULTS[1:-1]])
def test_the_short_reader_stands_where_a_session_stands(name: str, model: Any, cases: Any) -> None:
    clf = model(name)
    data = json.loads(json.dumps(policy_data(clf)))
    assert data["program"]["policy"]["values"]["rule"] == {"type": "class information", "per_price": True}
    number = {question["name"]: i for i, question in enumerate(data["questions"])}
    asked = 0
    for case in cases(clf, 20, True):
        found, before = short_reader()(data), []
        for told, stand in zip([None, *case["answers"]], case["stands"], strict=True):
            if told is not None and told[0] == "undo":
                found.weight, found.seen, found.paid = before.pop()
            elif told is not None:
                before.append((found.weight, dict(found.seen), found.paid))
                q = number[told[0]]
                found.tell(q, outcome(data["features"][data["questions"][q]["features"][0]], told[1]), told[2])
            belief, question, saving, decision = found.stand()
            np.testing.assert_allclose([*belief, found.paid], [*stand["belief"], stand["cost"]], atol=1e-9, rtol=0)
            assert (None if question is None else data["questions"][question]["name"]) == stand["asked"]
            assert data["decisions"][decision] == stand["decision"]
            if question is not None:
                assert saving == pytest.approx(stand["saving"], abs=1e-9, rel=0)
                asked += 1
    assert asked > 20


@pytest.mark.slow
def test_all_types_are_among_the_models(model: Any) -> None:
    """So that whatever can be written is held against a session, on the page and in C."""
    programs = [
        data["program"]["policy"] for name in EXPORTED if (data := policy_data(model(name)))["kind"] == "program"
    ]
    rules = {"class information", "hidden information", "ec2", "expected saving", "cross entropy", "order", "improved"}
    policies = {"rule", "first", "likely", "sure", "lookahead", "recursion", "plan", "panels"}
    assert set().union(*map(types, programs)) == rules | policies | IN_WORDS
