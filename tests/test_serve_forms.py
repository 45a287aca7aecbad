"""Forms over HTTP: questions with marks, follow-ups, and answers that are changed."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner

from seqclass import Costs, SequentialClassifier, SkipLogic
from seqclass.cli import main
from seqclass.pomdp import Adaptive, ClassInformation

pytest.importorskip("httpx", reason="no httpx: the extra `test` has it")
pytest.importorskip("fastapi", reason="no FastAPI: the extra `serve` has it")

from fastapi.testclient import TestClient

from seqclass.serve import create_app

FORM = {
    "light": {"after": "device", "answers": "printer"},
    "bars": [{"after": "wifi", "answers": "on"}, {"after": "wifi", "answers": "off", "implied": 0}],
}


def tickets() -> tuple[pd.DataFrame, np.ndarray]:
    rng = np.random.default_rng(0)
    y = rng.integers(3, size=400)
    tried = rng.random((400, 3)) < np.array([[0.6, 0.3, 0.2], [0.2, 0.6, 0.3], [0.3, 0.2, 0.6]])[y]
    X = pd.DataFrame({"device": np.where(rng.random(400) < 0.3 + 0.2 * y, "printer", "laptop")})
    X["light"] = np.where(X["device"] == "printer", np.where(rng.random(400) < 0.2 + 0.3 * y, "red", "green"), None)
    X["wifi"] = np.where(rng.random(400) < 0.7 - 0.2 * y, "on", "off")
    X["bars"] = np.where(X["wifi"] == "on", rng.integers(1, 4, 400), 0)
    X["hours"] = rng.normal(size=400).round(2) + y
    X["tried"] = ["; ".join(np.array(["restart", "cable", "driver"])[row]) or ";" for row in tried]
    return X, np.array(["desk", "field", "refund"])[y]


@pytest.fixture(scope="module")
def clf() -> SequentialClassifier:
    solver = Adaptive([ClassInformation()], n_paths=50, n_cases=50, max_rounds=0, certificate_paths=0)
    costs = Costs(0.001, marks=["tried"])
    return SequentialClassifier(order="adaptive", solver=solver, feature_costs=costs, rules=SkipLogic(FORM)).fit(
        *tickets()
    )


@pytest.fixture(scope="module")
def path(clf: SequentialClassifier, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("desk") / "desk.seq"
    clf.save(path)
    return path


@pytest.fixture(scope="module")
def client(path: Path) -> Any:
    return TestClient(create_app(path))


def post(client: Any, path: str, body: Any, status: int = 200) -> Any:
    response = client.post(path, json=body)
    assert response.status_code == status, response.text
    return response.json()


@pytest.mark.parametrize("told", [["restart", "cable"], "cable; restart", []])
def test_marks_are_answered_as_tables_have_them(client: Any, clf: SequentialClassifier, told: Any) -> None:
    session, known = clf.session(), clf.session(known={"tried": told})
    session.observe("tried", told)
    wanted = session.posterior.tolist()
    assert list(post(client, "/next", {"answers": {"tried": told}})["belief"].values()) == wanted
    assert list(post(client, "/next", {"known": {"tried": told}})["belief"].values()) == known.posterior.tolist()
    begun = post(client, "/cases", {"known": {"tried": told}})
    assert (list(begun["belief"].values()), begun["paid"], begun["notes"]) == (known.posterior.tolist(), 0, {})
    case = post(client, "/cases", {})["case"]
    step = post(client, "/cases/answer", {"case": case, "answers": {"tried": told}})
    assert (list(step["belief"].values()), step["notes"]) == (wanted, {})
    row = {"device": "laptop", "tried": told}
    assert post(client, "/explain", {"answers": row})["text"] == str(clf.explain(row)[0])
    while not step["decide"]:
        answers = {step["questions"][0]["name"]: None}
        step = post(client, "/cases/answer", {"case": step["case"], "answers": answers})
    post(client, "/outcomes", {"case": step["case"], "true_class": "desk"})


def test_marks_that_are_wrong_or_half_told_are_said(client: Any) -> None:
    for wrong in (["restart", "reboot"], "reboot"):
        [problem] = post(client, "/next", {"answers": {"tried": wrong}}, 422)["detail"]
        assert problem["loc"] == ["body", "answers", "tried"]
        assert "'reboot' is no mark of 'tried'; they are" in problem["msg"]
    for name, value, says in (("device", ["laptop"], "device"), ("hours", ["1"], "must be a number")):
        assert says in post(client, "/next", {"answers": {name: value}}, 422)["detail"][0]["msg"]
    for half in ({"tried": {"tried: restart": "yes"}}, {"tried: restart": "yes"}):
        notes = post(client, "/next", {"answers": half})["notes"]
        assert notes["tried"].startswith("this tells of 1 of 3 marks only: send a list")
    assert post(client, "/next", {"answers": {"hours": 1.0, "tried": "restart"}})["notes"] == {}


def test_one_answer_is_corrected_and_what_it_closes_goes(client: Any, clf: SequentialClassifier) -> None:
    begun, session = post(client, "/cases", {}), clf.session()
    answers = {"device": "printer", "light": "red", "hours": 1.0, "wifi": "on"}
    for name, value in answers.items():
        session.observe(name, value)
    step = post(client, "/cases/answer", {"case": begun["case"], "answers": answers})
    [problem] = post(client, "/cases/answer", {"case": step["case"], "answers": {"hours": 2}}, 422)["detail"]
    assert "send it in corrections" in problem["msg"]
    changed = {"case": step["case"], "corrections": {"device": "laptop", "hours": 99.0}, "answers": {"bars": 2}}
    step = post(client, "/cases/answer", changed)
    for name, value in (("device", "laptop"), ("hours", 99.0)):
        session.correct(name, value)
    session.observe("bars", 2)
    assert [answer.name for answer in session.history] == ["device", "hours", "wifi", "bars"]
    assert (list(step["belief"].values()), step["paid"]) == (session.posterior.tolist(), session.paid)
    assert "after the correction of 'device' this is not asked any more" in step["notes"]["light"]
    assert "outside of what training showed" in step["notes"]["hours"]
    assert set(step["notes"]) == {"light", "hours"}
    for name, value, says in (("tried", [], "'tried' was not answered yet"), ("wifi", "of", "known are")):
        [problem] = post(client, "/cases/answer", {"case": step["case"], "corrections": {name: value}}, 422)["detail"]
        assert problem["loc"] == ["body", "corrections", name]
        assert says in problem["msg"]
    gone = post(client, "/cases/answer", {"case": step["case"], "corrections": {"hours": None}})
    assert (gone["paid"], gone["notes"]) == (pytest.approx(step["paid"] - 0.001), {})


@pytest.mark.slow
def test_answers_that_the_form_leaves_out_are_said(
    client: Any, clf: SequentialClassifier, path: Path, tmp_path: Path
) -> None:
    taken = "after the other answers the form does not ask this"
    for answers, needless in (
        ({"device": "laptop", "light": "red"}, ["light"]),
        ({"light": "red", "device": "laptop"}, ["light"]),
        ({"wifi": "off", "bars": 3}, ["bars"]),
        ({"bars": 3, "wifi": "off"}, ["bars"]),
        ({"light": "red"}, []),  # which an answer may open yet
        ({"device": None, "light": "red"}, []),
        ({"device": "printer", "light": "red", "wifi": "on", "bars": 3}, []),
    ):
        notes = post(client, "/next", {"answers": answers})["notes"]
        assert [name for name, text in notes.items() if taken in text] == needless, answers
    session = clf.session(known={"device": "laptop"})
    session.observe("light", "red")
    assert session.needless_answers == ("light",)
    lines = "device = printer\nlight = red\ndevice = laptop\nlight = red\nwifi = off\nbars = 3\nquit\n"
    told = CliRunner().invoke(main, ["ask", str(path)], input=lines).output
    assert "Taken out, as the form does not ask it any more: light" in told
    for name in ("light", "bars"):
        assert told.count(f"Taken, though after the other answers the form does not ask {name}") == 1


def test_answers_to_what_the_start_closed_are_said() -> None:
    X, y = tickets()
    solver = Adaptive([ClassInformation()], n_paths=50, n_cases=50, max_rounds=0, certificate_paths=0)
    how = {"order": "adaptive", "solver": solver, "feature_costs": 0.001, "known": ["device"]}
    session = SequentialClassifier(rules=SkipLogic(FORM), **how).fit(X.drop(columns="tried"), y).session()
    session.observe("device", "laptop")
    assert session.needless_answers == ()
    session.observe("light", "red")
    assert session.needless_answers == ("light",)


def test_a_number_that_is_asked_has_its_range(client: Any, clf: SequentialClassifier) -> None:
    asked, step = {}, post(client, "/cases", {})
    while not step["decide"]:
        [one] = step["questions"]
        asked |= {part["name"]: part["range"] for part in one["features"] or [one]}
        step = post(client, "/cases/answer", {"case": step["case"], "skipped": [one["name"]]})
    assert asked["hours"] == list(clf.session().training_range("hours"))
    assert asked["device"] is asked["tried: cable"] is None
