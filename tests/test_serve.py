"""The service over loopback: it answers what a session answers, and what is wrong is refused, said and survived."""

from __future__ import annotations

import asyncio
import importlib.util
import json
import shutil
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from unittest.mock import MagicMock

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner
from headless import browser as browser

import seqclass
from seqclass import Costs, SequentialClassifier
from seqclass.bn import ClassMixture, TreeNetwork
from seqclass.cli import main
from seqclass.pomdp import Adaptive, GridValueIteration, Perseus

httpx = pytest.importorskip("httpx", reason="no httpx: the extra `test` has it")
uvicorn = pytest.importorskip("uvicorn", reason="no uvicorn: the extra `serve` has it")
pytest.importorskip("fastapi", reason="no FastAPI: the extra `serve` has it")

from seqclass.serve import create_app  # noqa: E402 (it is not there without the extra)
from seqclass.serve.app import Guard  # noqa: E402
from seqclass.serve.models import Models  # noqa: E402

TOKEN = "correct horse battery staple"


def frame_of(seed: int, n_classes: int) -> tuple[pd.DataFrame, Any]:
    """Two numbers, a category, a yes-or-no and a number that may be missing, all of which tell of the class."""
    rng = np.random.default_rng(seed)
    y = rng.integers(n_classes, size=150)
    frame = pd.DataFrame(
        {
            "age": rng.normal(size=150) + y,
            "size in mm": rng.normal(size=150) - y,
            "colour": np.array(["red", "green", "blue"])[
                np.where(rng.random(150) < 0.7, y % 3, rng.integers(3, size=150))
            ],
            "smokes": np.where(rng.random(150) < 0.8, y % 2, 1 - y % 2).astype(float),
            "test": np.where(rng.random(150) < 0.3, np.nan, rng.normal(size=150) + 2 * y),
        }
    )
    return frame, np.array(["a", "b", "c", "d"])[y]


QUICK = {"certificate_paths": 0}
#: How to fit, by kind; and the number of classes.
KINDS: dict[str, tuple[int, Callable[[int], dict[str, Any]]]] = {
    "grid": (2, lambda seed: {"solver": GridValueIteration(20, **QUICK)}),
    "perseus": (4, lambda seed: {"solver": Perseus(n_beliefs=50, random_state=seed, **QUICK)}),
    "any order": (3, lambda seed: {"order": "adaptive", "solver": Adaptive(n_paths=50, **QUICK)}),
    "mixture": (
        2,
        lambda seed: {
            "observation_model": ClassMixture(2, random_state=seed),
            "order": "adaptive",
            "solver": Adaptive(n_paths=50, **QUICK),
        },
    ),
    "tree": (2, lambda seed: {"observation_model": TreeNetwork()}),
    "bundle": (
        2,
        lambda seed: {"feature_costs": Costs(0.01, bundles={"age": "blood", "test": "blood"}), "order": "adaptive"},
    ),
    "visits": (2, lambda seed: {"feature_costs": Costs(0.01, visit_cost=0.02), "order": "adaptive"}),
    "known": (2, lambda seed: {"known": ["smokes"]}),
    "informative": (3, lambda seed: {"missing": "informative"}),
    "refer": (
        2,
        lambda seed: {"feature_costs": Costs(0.02, decision_costs=[[0, 1, 0.2], [1, 0, 0.2]], decisions=["refer"])},
    ),
}


def save_models(folder: Path, per_kind: int, kinds: Collection[str] = tuple(KINDS)) -> dict[str, Path]:
    paths = {}
    for kind, (n_classes, how) in KINDS.items():
        if kind not in kinds:
            continue
        for seed in range(per_kind):
            X, y = frame_of(seed, n_classes)
            name = f"{kind} {seed}"
            paths[name] = folder / f"{name}.seq"
            SequentialClassifier(**({"feature_costs": 0.02} | how(seed))).fit(X, y).save(paths[name])
    return paths


@contextmanager
def running(app: Any, **how: Any) -> Iterator[Any]:
    """A client of the application, which runs in a thread."""
    with socket.socket(proto=socket.IPPROTO_TCP) as listening:  # by which asyncio tells that nothing is to wait
        listening.bind(("127.0.0.1", 0))
        server = uvicorn.Server(uvicorn.Config(app, log_config=None, access_log=False))
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]})
        thread.start()
        try:
            while not server.started:
                time.sleep(0.01)
            with httpx.Client(base_url=f"http://127.0.0.1:{listening.getsockname()[1]}", timeout=30, **how) as client:
                yield client
        finally:
            server.should_exit = True
            thread.join()


@pytest.fixture(scope="module")
def paths(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    return save_models(tmp_path_factory.mktemp("models"), 1)


@pytest.fixture(scope="module")
def client(paths: dict[str, Path]) -> Iterator[Any]:
    with running(create_app(paths)) as client:
        yield client


def post(client: Any, path: str, body: Any, status: int = 200) -> Any:
    response = client.post(path, json=body)
    assert response.status_code == status, response.text
    return response.json()


def some_answer(session: Any, question: Any, rng: np.random.Generator) -> Any:
    """An answer to a question; None where it is not available."""

    def value(feature: Any) -> Any:
        if feature.categories:
            return str(rng.choice(feature.categories))
        low, high = session.training_range(feature.name)
        return float(rng.uniform(low, high))

    if rng.random() < 0.15:
        return None
    return {one.name: value(one) for one in question.features} if question.features else value(question)


def assert_stands(step: dict[str, Any], session: Any) -> None:
    """A step is what the session says."""
    panel = session.next_panel
    assert [one["name"] for one in step["questions"]] == [one.name for one in panel]
    assert step["decide"] == (not panel)
    assert step["decision"] == str(session.decision)
    np.testing.assert_allclose(list(step["belief"].values()), session.posterior, rtol=0, atol=1e-9)
    for ours, theirs in zip(step["questions"], panel):
        for figure in ("price", "expected_saving", "added_saving"):
            told = np.nan if ours[figure] is None else ours[figure]
            np.testing.assert_allclose(told, getattr(theirs, figure), rtol=0, atol=1e-9)
    for key, figure in (("paid", session.paid), ("expected_cost", session.expected_cost)):
        assert step[key] == pytest.approx(figure, abs=1e-9)
    assert step["visit_cost"] == pytest.approx(session.visit_cost if panel else 0, abs=1e-9)


def follow(client: Any, clf: Any, name: str, seed: int) -> None:
    """Work through a case by session, by a kept case and from scratch at each step."""
    rng = np.random.default_rng(seed)
    known = {"smokes": float(rng.integers(2))} if rng.random() < 0.5 else {}
    session, answers = clf.session(known=known), dict[str, Any]()
    kept = post(client, "/cases", {"model": name, "known": known})
    assert_stands(kept, session)
    while (question := session.next_feature) is not None:
        value = some_answer(session, question, rng)
        session.unavailable(question.name) if value is None else session.observe(question.name, value)
        answers[question.name] = value
        kept = post(client, "/cases/answer", {"case": kept["case"], "answers": {question.name: value}})
        assert_stands(kept, session)
        assert_stands(post(client, "/next", {"model": name, "known": known, "answers": answers}), session)
    assert json.loads(kept["case"])["session"] == json.loads(session.to_json())


def test_answers_are_those_of_a_session(client: Any, paths: dict[str, Path]) -> None:
    for seed, (name, path) in enumerate(paths.items()):
        follow(client, seqclass.load(path), name, seed)


@pytest.mark.slow
def test_answers_are_those_of_a_session_for_many_models(tmp_path: Path) -> None:
    paths = save_models(tmp_path, 11)
    assert len(paths) >= 103
    with running(create_app(paths)) as client:
        for name, path in paths.items():
            clf = seqclass.load(path)
            for seed in range(3):
                follow(client, clf, name, seed)


@pytest.mark.parametrize("name", ["any order 0", "grid 0", "bundle 0"])
def test_a_budget_asks_as_next_question_does(client: Any, paths: dict[str, Path], name: str) -> None:
    clf, rng = seqclass.load(paths[name]), np.random.default_rng(0)
    session, answers = clf.session(known={"smokes": 1.0}), dict[str, Any]()
    for n_asked in range(3):
        told = post(client, "/next", {"model": name, "known": {"smokes": 1.0}, "answers": answers, "budget": 3})
        row = {"smokes": 1.0}
        for name_, value in answers.items():
            row |= value if isinstance(value, dict) else {name_: value}
        [column] = clf.next_question([row], budget=3 + 1).tolist()
        [question] = told["questions"]
        assert column in [question["column"], *(f["column"] for f in question["features"])]
        asked = next(one for one in session.suggestions(9) if one.name == question["name"])
        value = next(one for _ in range(99) if (one := some_answer(session, asked, rng)) is not None)
        session.observe(asked.name, value)
        answers[asked.name] = value
        assert len(answers) == n_asked + 1
    assert post(client, "/next", {"model": name, "known": {"smokes": 1.0}, "answers": answers, "budget": 3})["decide"]


def test_what_was_skipped_is_null_and_can_be_undone(client: Any) -> None:
    first = post(client, "/cases", {})
    name = first["questions"][0]["name"]
    skipped = post(client, "/next", {"skipped": [name]})
    assert skipped == post(client, "/next", {"answers": {name: None}})
    one = post(client, "/cases/answer", {"case": first["case"], "skipped": [name]})
    assert {k: v for k, v in one.items() if k != "case"} == skipped
    back = post(client, "/cases/answer", {"case": one["case"], "undo": 1})
    assert back == first
    odd = post(client, "/next", {"answers": {"age": 1e6}})["notes"]
    assert "outside of what training showed" in odd["age"]


@pytest.mark.slow
def test_explanations_models_page_and_health(client: Any, paths: dict[str, Path]) -> None:
    clf = seqclass.load(paths["grid 0"])
    told = post(client, "/explain", {"model": "grid 0", "answers": {"age": 0.1, "colour": "red"}})
    [wanted] = clf.explain({"age": 0.1, "colour": "red"})
    assert told["text"] == str(wanted)
    assert [step["name"] for step in told["steps"]] == [step.name for step in wanted.steps]
    about = client.get("/model").json()
    assert (about["name"], about["models"], about["provenance"]["n_rows"]) == ("grid 0", list(paths), 150)
    assert [f["name"] for f in about["features"]] == [clf.feature_name(column) for column in clf.order_]
    assert "<!DOCTYPE html>" in client.get("/").text
    assert client.get("/", params={"name": "bundle 0"}).status_code == 200
    assert client.get("/healthz").json()["status"] == "ok"
    assert (client.head("/healthz").status_code, client.head("/healthz").text) == (200, "")
    yes, one = ({"answers": {"smokes": value}} for value in (True, 1))  # of 0 and 1, true may be sent
    assert post(client, "/next", yes)["belief"] == post(client, "/next", one)["belief"]
    metrics = client.get("/metrics").text
    assert 'seqclass_requests_total{path="/explain",status="200"}' in metrics
    schema = client.get("/openapi.json").json()
    for path in ("/next", "/cases", "/cases/answer", "/explain"):
        body = schema["paths"][path]["post"]["requestBody"]["content"]["application/json"]["example"]
        post(client, path, body)


def test_outcomes_bet_against_the_model(client: Any, paths: dict[str, Path]) -> None:
    from seqclass.drift import DriftTest

    clf, name = seqclass.load(paths["refer 0"]), "refer 0"
    X, _ = frame_of(5, 2)
    test, wrong = DriftTest.from_classifier(clf), "b"
    begun = post(client, "/cases", {"model": name})
    if not begun["decide"]:
        says = post(client, "/outcomes", {"case": begun["case"], "true_class": "a"}, 422)["detail"][0]
        assert "not decided yet" in says["msg"]
    for row in range(60):
        kept = begun
        while not kept["decide"]:
            asked = kept["questions"][0]["name"]
            value = X[asked].iloc[row % len(X)]
            value = None if pd.isna(value) else value if isinstance(value, str) else float(value)
            kept = post(client, "/cases/answer", {"case": kept["case"], "answers": {asked: value}})
        wrong = {"a": "b", "b": "a"}.get(kept["decision"], "a")
        stands = post(client, "/outcomes", {"case": kept["case"], "true_class": wrong})
        test.update(clf.session(json.dumps(json.loads(kept["case"])["session"])), wrong)
        assert (stands["n_cases"], stands["alarm"]) == (test.n_cases, test.alarm is not None)
        assert stands["evidence"] == pytest.approx(test.e_value)
        if stands["alarm"]:
            break
    assert stands["alarm"]
    assert "fit again to recent rows" in stands["text"]
    assert f'seqclass_drift_alarm{{digest="{kept["digest"]}",model="{name}"}} 1.0' in client.get("/metrics").text
    says = post(client, "/outcomes", {"case": kept["case"], "true_class": "z"}, 422)["detail"][0]
    assert (says["loc"], says["msg"].partition(",")[0]) == (["body", "true_class"], "true_class holds 'z'")


@pytest.mark.slow
def test_a_true_class_counts_as_right_however_it_is_written(tmp_path: Path) -> None:
    X, y = frame_of(0, 2)
    SequentialClassifier(feature_costs=5.0).fit(X, (y == "a").astype(int)).save(tmp_path / "m.seq")
    with running(create_app(tmp_path / "m.seq")) as client:
        begun = post(client, "/cases", {})
        for label in (0, 0.0, "0", False, 1, 1.0, "1", True):
            post(client, "/outcomes", {"case": begun["case"], "true_class": label})
        counted = client.get("/metrics").text
    for right in ("true", "false"):
        assert f'seqclass_outcomes_total{{model="m",right="{right}"}} 4.0' in counted


WRONG: dict[str, tuple[str, Any, list[Any], str]] = {
    "true": ("/next", {"answers": {"age": True}}, ["body", "answers", "age"], "'age' must be a number, got true"),
    "known true": ("/cases", {"known": {"age": False}}, ["body", "known"], "'age' must be a number, got false"),
    "explained true": ("/explain", {"answers": {"age": True}}, ["body", "answers"], "must be a number, got true"),
    "name": ("/next", {"answers": {"aeg": 1}}, ["body", "answers", "aeg"], "did you mean 'age'?"),
    "text": ("/next", {"answers": {"age": "old"}}, ["body", "answers", "age"], "must be a number, got 'old'"),
    "category": (
        "/next",
        {"answers": {"colour": "pink"}},
        ["body", "answers", "colour"],
        "Send null to take it as not",
    ),
    "two wrong": (
        "/explain",
        {"answers": {"colour": "pink", "age": "x"}},
        ["body", "answers"],
        "row 0 has 'x'. column 'colour' holds the unknown category 'pink'; known are 'blue', 'green', 'red'. Send null",
    ),
    "no category": (
        "/next",
        {"answers": {"colour": ""}},
        ["body", "answers", "colour"],
        "send null if it is not available",
    ),
    "huge": ("/next", {"answers": {"age": 10**400}}, ["body", "answers", "age"], "must be finite"),
    "bundle": ("/next", {"answers": {"age": {"x": 1}}}, ["body", "answers", "age"], "must be a number"),
    "twice": ("/next", {"answers": {"age": 1}, "skipped": ["age"]}, ["body", "skipped", "age"], "leave one out"),
    "known": ("/next", {"known": {"agee": 1}}, ["body", "known"], "did you mean 'age'?"),
    "known twice": ("/next", {"known": {"age": 1}, "answers": {"age": 1}}, ["body", "answers", "age"], "leave one out"),
    "model": ("/next", {"model": "x"}, ["body", "model"], "there is no model 'x'; there is"),
    "budget": ("/next", {"budget": -1}, ["body", "budget"], "greater than or equal to 0"),
    "extra": ("/next", {"answer": {}}, ["body", "answer"], "Extra inputs are not permitted"),
    "list": ("/next", {"answers": [1]}, ["body", "answers"], "valid dictionary"),
    "case": ("/cases/answer", {"case": "x"}, ["body", "case"], "send the text that it gave, unchanged"),
    "forged": ("/cases/answer", {"case": '{"digest":1}'}, ["body", "case"], "begin the case anew"),
    "undo": ("/cases/answer", {"undo": 1}, ["body", "undo"], "there is no answer to take back"),
    "explain": ("/explain", {"answers": {"aeg": 1}}, ["body", "answers"], "did you mean 'age'?"),
    "half a character": ("/next", {"model": "\udc80"}, ["body", "model"], ""),
}


@pytest.mark.parametrize("case", WRONG)
def test_what_is_wrong_is_said_in_the_words_of_the_service(client: Any, case: str) -> None:
    path, body, place, says = WRONG[case]
    if case == "undo":
        body = body | {"case": post(client, "/cases", {})["case"]}
    response = client.post(path, content=json.dumps(body), headers={"content-type": "application/json"})
    assert response.status_code == (409 if case == "forged" else 422), response.text
    [problem, *_] = response.json()["detail"]
    assert problem["loc"][: len(place)] == place
    assert says in problem["msg"]
    for alien in ("--", "()", "command line", "handle_unknown", "Traceback", ".py", ".seq"):
        assert alien not in response.text


def test_forged_cases_are_refused_whatever_they_hold(client: Any) -> None:
    text = post(client, "/cases", {"known": {"age": 1.0}})["case"]
    content = json.loads(text)
    for change in (
        {"answers": 3},
        {"answers": [["age", 5, ["age"]]]},
        {"answers": [[None, None]]},
        {"answers": [["age", {"a": []}, True]]},
        {"answers": [["age", 1.0]] * 2},
        {"visits": [[0, ["age"]]]},
        {"visits": "x"},
        {"first": ["age"]},
        {"lot": 10**30},
        {"version": 1},
    ):
        forged = json.dumps(content | {"session": content["session"] | change})
        assert post(client, "/cases/answer", {"case": forged}, 422)["detail"][0]["loc"] == ["body", "case"]
    as_text = json.dumps(content["session"] | {"first": ["age"]}).replace("first", "\\u0066irst")
    forged = json.dumps(content | {"session": as_text})
    assert post(client, "/cases/answer", {"case": forged}, 422)["detail"][0]["loc"] == ["body", "case"]
    for forged in ("", "null", "[]", "1", "{", '{"digest": [], "session": 1}', "\ud800", text[:-1]):
        response = client.post("/cases/answer", content=json.dumps({"case": forged}))
        assert response.status_code in (409, 422), response.text


@pytest.mark.slow
def test_signed_cases_are_as_they_were_given(paths: dict[str, Path]) -> None:
    app = create_app({"grid": paths["grid 0"]}, key=b"secret")
    with running(app) as client:
        case = post(client, "/cases", {"known": {"age": 1.0}})["case"]
        assert post(client, "/cases/answer", {"case": case})["case"] == case
        for forged in (case.replace("1.0", "2.0"), case.rpartition(".")[0], f"{case}0", case[:-1] + "é"):
            says = post(client, "/cases/answer", {"case": forged}, 422)["detail"][0]["msg"]
            assert "send the text that it gave, unchanged" in says


@pytest.mark.parametrize(
    "settings, says",
    [
        ({"token": 3}, "token must be str, got int"),
        ({"token": " "}, "token is empty: give a secret"),
        ({"key": "secret"}, "key must be bytes, got str"),
        ({"key": b""}, "key is empty: give a secret"),
        ({"max_bytes": "5"}, "max_bytes must be an integer"),
        ({"refresh_seconds": float("nan")}, "refresh_seconds must be between"),
        ({"models": {3: "m.seq"}}, "paths by name, got int"),
        ({"models": {"m": SequentialClassifier()}}, "paths by name, got SequentialClassifier: save it first"),
    ],
)
def test_settings_are_checked_before_anything_is_served(
    paths: dict[str, Path], settings: dict[str, Any], says: str
) -> None:
    with pytest.raises((TypeError, ValueError), match=says):
        create_app(**{"models": paths["grid 0"]} | settings)


def test_only_who_has_the_token_may_ask(paths: dict[str, Path]) -> None:
    with running(create_app(paths["grid 0"], token=TOKEN)) as client:
        paths_ = ("/next", "/", "/metrics", "/openapi.json", "/nowhere")
        for sent in ("", "Bearer", "Bearer wrong", f"Basic {TOKEN}", f"Bearer {TOKEN}x", f"Bearer x{TOKEN}"):
            for path in paths_:
                response = client.get(path, headers={"authorization": sent})
                assert response.status_code == 401, (sent, path)
                assert response.headers["www-authenticate"] == "Bearer"
        assert client.get("/healthz").status_code == 200
        client.headers["authorization"] = f"Bearer {TOKEN}"
        assert post(client, "/next", {})["model"] == "grid 0"


def test_bodies_are_limited_and_the_service_stays(client: Any) -> None:
    deep = '{"answers": ' + "[" * 20_000 + "]" * 20_000 + "}"
    for content, status in (
        (b"x" * 70_000, 413),
        ((b"x" * 1000 for _ in range(100)), 413),  # which does not say how long it is
        (deep.encode(), 422),
        (b'{"answers": {"age": ' + b"9" * 5000 + b"}}", 422),
        (b"\xff\xfe", 422),
        (b"", 422),
        (b"nonsense", 422),
        (b'{"answers": {"age": NaN}}', 422),
        (('{"answers": {"\u2200": ' + "[" * 9000 + "]" * 9000 + "}}").encode("utf-16"), 422),  # has a byte like a quote
    ):
        response = client.post("/next", content=content, headers={"content-type": "application/json"})
        assert response.status_code in (status, 400 if status == 422 else status), response.text
        assert response.json()["detail"][0]["msg"]
    for path in ("/next", "/fhir/Questionnaire/$next-question"):
        for kind in ("application/x-www-form-urlencoded", "text/json"):  # the first as curl -d sends it
            response = client.post(path, content=b"{}", headers={"content-type": kind})
            assert response.status_code in (400, 422)
            assert "send the header 'content-type: application/json'" in response.text
    assert post(client, "/next", {})["model"] == "grid 0"


@pytest.mark.parametrize("path", ["/next", "/fhir/Questionnaire/$next-question"])
def test_what_is_no_request_is_told_what_would_be(client: Any, path: str) -> None:
    for content, says in (
        (b"", "there is no body: send the request in it, as JSON."),
        (b'{"a": 1,}', "the body is no JSON: "),
        (b'"\n"', "the body is no JSON: Invalid control character, at character 2."),
        (b'{"a": "\xe4"}', "the body must be JSON in UTF-8"),
        (b'{"a": ' + b"9" * 5000 + b"}", "with numbers of a few digits."),
    ):
        response = client.post(path, content=content, headers={"content-type": "application/json"})
        assert response.status_code == (400 if "fhir" in path else 422)
        assert says in response.text
    for wrong, status, says in (
        ("/nowhere", 404, "there is no such path: "),
        (path, 405, "this path takes POST alone"),
    ):
        response = client.put(wrong)
        assert (response.status_code, says in response.text) == (status, True)


def test_nothing_is_kept_of_a_request_that_breaks_off() -> None:
    messages = [{"type": "http.request", "body": b"{}", "more_body": True}, {"type": "http.disconnect"}]
    app, sent = MagicMock(), list[dict[str, Any]]()

    async def receive() -> dict[str, Any]:
        return messages.pop(0)

    async def send(message: dict[str, Any]) -> None:
        sent.append(message)

    scope = {"type": "http", "path": "/outcomes", "headers": [(b"content-type", b"application/json")]}
    asyncio.run(Guard(app, None, 100, MagicMock(), set())(scope, receive, send))
    app.assert_not_called()
    assert sent[0]["status"] == 400


def test_what_stands_twice_in_a_body_is_refused(client: Any) -> None:
    """Only the last one would count."""
    for path, kind in (("/next", "application/json"), ("/fhir/Questionnaire/$next-question", "application/fhir+json")):
        content = b'{"answers": {"age": 1, "age": 2}, "resourceType": "Parameters"}'
        response = client.post(path, content=content, headers={"content-type": kind})
        assert response.status_code == 422
        assert "'age' stands twice in one object" in response.text


@pytest.mark.slow
def test_a_body_may_be_as_long_as_is_said(paths: dict[str, Path]) -> None:
    with running(create_app(paths["grid 0"], max_bytes=200)) as client:
        for length, status in ((200, 200), (201, 413)):
            response = client.post("/next", content=b"{}".ljust(length), headers={"content-type": "application/json"})
            assert response.status_code == status


@pytest.mark.slow
def test_a_slow_body_is_given_up(paths: dict[str, Path], monkeypatch: pytest.MonkeyPatch) -> None:
    from seqclass.serve import app as application

    monkeypatch.setattr(application.Guard, "body_seconds", 0.2)
    with running(create_app(paths["grid 0"])) as client:
        url = client.base_url
        with socket.create_connection((url.host, url.port)) as slow:
            slow.sendall(b"POST /next HTTP/1.1\r\nhost: x\r\ncontent-length: 9\r\n\r\n{")
            assert b" 408 " in slow.recv(1000)
        slow_heads = [socket.create_connection((url.host, url.port)) for _ in range(30)]
        for slow in slow_heads:  # which never come to an end
            slow.sendall(b"POST /next HTTP/1.1\r\nhost:")
        assert post(client, "/next", {})
        for slow in slow_heads:
            slow.close()


@pytest.mark.slow
def test_no_case_is_lost_when_the_service_is_killed_under_load(paths: dict[str, Path], tmp_path: Path) -> None:
    """Eight clients work through cases; the service is killed twice, and started again with the same key."""
    key, clf, n_cases = tmp_path / "key", seqclass.load(paths["any order 0"]), 10
    key.write_text("a key of enough letters")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [sys.executable, "-m", "seqclass", "serve", str(paths["any order 0"]), "--port", str(port)]

    def start() -> Any:
        return subprocess.Popen(
            [*command, "--key-file", str(key)], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )

    done, lost, wrong, over = list[int](), list[str](), list[str](), threading.Event()

    def ask(own: Any, path: str, body: Any) -> Any:
        while not over.is_set():
            try:
                return post(own, path, body)
            except httpx.TransportError as error:
                lost.append(type(error).__name__)
                time.sleep(0.05)
        raise ValueError("given up")

    def work(client_number: int) -> None:
        with httpx.Client(base_url=f"http://127.0.0.1:{port}", timeout=30) as own:
            for seed in range(client_number * n_cases, (client_number + 1) * n_cases):
                rng, session = np.random.default_rng(seed), clf.session()
                step = ask(own, "/cases", {})
                while (question := session.next_feature) is not None:
                    value = some_answer(session, question, rng)
                    session.unavailable(question.name) if value is None else session.observe(question.name, value)
                    step = ask(own, "/cases/answer", {"case": step["case"], "answers": {question.name: value}})
                try:
                    assert_stands(step, session)
                except AssertionError as error:
                    wrong.append(str(error))
                done.append(seed)

    service, threads = start(), [threading.Thread(target=work, args=(number,)) for number in range(8)]
    try:
        for thread in threads:
            thread.start()
        until, n_lost = time.monotonic() + 300, list[int]()
        for n_done in (20, 50):
            while len(done) < n_done and time.monotonic() < until:
                time.sleep(0.01)
            before = len(lost)
            service.kill()
            service.wait()
            while len(lost) == before and time.monotonic() < until:
                time.sleep(0.01)
            n_lost.append(len(lost) - before)
            service = start()
        while len(done) < 8 * n_cases and time.monotonic() < until:
            time.sleep(0.05)
    finally:
        over.set()
        service.kill()
        service.wait()
        for thread in threads:
            thread.join()
    assert sorted(done) == list(range(8 * n_cases))
    assert min(n_lost) > 0
    assert wrong == []


def test_the_log_says_which_columns_changed(
    paths: dict[str, Path], tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """A model of other columns was taken without a word of them."""
    path = tmp_path / "m.seq"
    shutil.copy(paths["grid 0"], path)
    models = Models({"m": path}, MagicMock(), {})
    X, y = frame_of(7, 2)
    SequentialClassifier(feature_costs=0.05).fit(X.rename(columns={X.columns[0]: "other"}), y).save(path)
    with caplog.at_level("INFO", "seqclass"):
        models.refresh()
    told = json.loads(caplog.records[-1].message)
    assert told["columns_added"] == ["other"]
    assert told["columns_gone"] == [X.columns[0]]


@pytest.mark.slow
def test_a_new_file_is_taken_and_old_cases_end_by_their_own(paths: dict[str, Path], tmp_path: Path) -> None:
    path, other = tmp_path / "m.seq", SequentialClassifier(feature_costs=0.05).fit(*frame_of(7, 2))
    shutil.copy(paths["grid 0"], path)
    old = seqclass.load(path)
    app = create_app(path, refresh_seconds=0.02)
    wrong, seen, done = list[Any](), set[str](), threading.Event()
    with running(app) as client:
        begun = post(client, "/cases", {})

        def ask() -> None:
            with httpx.Client(base_url=client.base_url, timeout=30) as own:
                while not done.is_set():
                    response = own.post("/next", json={})
                    seen.add(response.json()["digest"])
                    wrong.extend([response.text] * (response.status_code != 200))

        threads = [threading.Thread(target=ask) for _ in range(3)]
        for thread in threads:
            thread.start()
        until = time.monotonic() + 300
        while not seen and time.monotonic() < until:
            time.sleep(0.01)
        other.save(path)
        while client.get("/model").json()["digest"] == begun["digest"] and time.monotonic() < until:
            time.sleep(0.02)
        new = client.get("/model").json()["digest"]
        path.write_bytes(b"damaged")
        while 'taken="false"' not in client.get("/metrics").text and time.monotonic() < until:
            time.sleep(0.02)
        done.set()
        for thread in threads:
            thread.join()
        assert not wrong
        assert seen == {begun["digest"], new}
        assert client.get("/model").json()["digest"] == new != begun["digest"]
        session = old.session()
        session.observe(begun["questions"][0]["name"], 0.5)
        step = post(client, "/cases/answer", {"case": begun["case"], "answers": {begun["questions"][0]["name"]: 0.5}})
        assert_stands(step, session)
    other.save(path)
    with running(create_app(path)) as client:  # restarted with the new file alone
        assert "begin the case anew" in post(client, "/cases/answer", {"case": begun["case"]}, 409)["detail"][0]["msg"]
    with running(create_app({"m": path, "old": paths["grid 0"]})) as client:  # or with both
        assert_stands(post(client, "/cases/answer", {"case": step["case"]}), session)


@pytest.mark.slow
def test_many_at_once_get_what_each_alone_gets(client: Any, paths: dict[str, Path]) -> None:
    bodies = [
        {"model": name, "answers": {"age": float(age)}} for name in paths for age in (-1.5, 1.5) if name != "bundle 0"
    ]
    alone = [post(client, "/next", body) for body in bodies]
    together: dict[int, Any] = {}

    def ask(part: int) -> None:
        with httpx.Client(base_url=client.base_url, timeout=60) as own:
            for i in range(part, len(bodies), 6):
                together[i] = post(own, "/next", bodies[i])

    threads = [threading.Thread(target=ask, args=(part,)) for part in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [together[i] for i in range(len(bodies))] == alone


@pytest.mark.slow
def test_policies_drawn_by_lot_need_the_name_of_the_case(tmp_path: Path) -> None:
    X, y = frame_of(0, 2)
    clf = SequentialClassifier(feature_costs=0.02, target_cost=0.03, order="adaptive").fit(X, y)
    clf.save(tmp_path / "lot.seq")
    with running(create_app(tmp_path / "lot.seq")) as client:
        if len(clf.policy_.initial_belief()[1]) > 1:
            assert "send a name of the case as key" in post(client, "/next", {}, 422)["detail"][0]["msg"]
        for key in ("a", "b", "c"):
            assert_stands(post(client, "/next", {"key": key}), clf.session(key=key))


@pytest.mark.slow
def test_the_page_that_is_served_works_through_a_case(client: Any, paths: dict[str, Path], browser: Any) -> None:
    browser.open(f"{client.base_url}/")
    session = seqclass.load(paths["grid 0"]).session()
    while (question := session.next_feature) is not None:
        assert question.name in browser.text("[data-part=asked]")
        browser.click("[data-part=missing]")
        session.unavailable(question.name)
    browser.run("document.querySelector('[data-part=case-number]').value = 'A 17'")
    browser.run("document.querySelector('[data-part=case-number]').dispatchEvent(new Event('input'))")
    record = browser.text("[data-part=record]")
    assert f"Decision: {session.decision}" in record
    assert "Case A 17, 20" in record
    assert json.loads(session.to_json())["model"] in record
    assert browser.faults == []


@pytest.mark.slow
@pytest.mark.parametrize("width", [390, 1280])
def test_axe_finds_nothing_on_the_page_that_is_served(client: Any, browser: Any, width: int) -> None:
    axe = importlib.util.find_spec("axe_core_python")
    if axe is None or axe.origin is None:
        pytest.skip("no axe-core: the package axe-core-python is not installed")
    script = (Path(axe.origin).parent / "axe.min.js").read_text(encoding="utf-8")
    for name in ("grid 0", "bundle 0", "visits 0"):
        browser.open(f"{client.base_url}/?name={name.replace(' ', '%20')}", width=width, height=844)
        browser.run(f"{script};0")
        for step in (None, "summary", "[data-part=missing]", "[data-part=stop]"):
            if step and browser.run(f"document.querySelector({json.dumps(step)})?.checkVisibility()"):
                browser.click(step)
            found = browser.send(
                "Runtime.evaluate", expression="axe.run(document)", awaitPromise=True, returnByValue=True
            )["result"]["value"]
            assert len(found["passes"]) > 20
            assert [(one["id"], [node["html"] for node in one["nodes"]]) for one in found["violations"]] == []


@pytest.mark.slow
def test_what_the_description_allows_is_answered(paths: dict[str, Path]) -> None:
    """Requests that schemathesis makes of the description: none is a fault, and answers are as it says they are.

    Left out of its checks is that whatever has the right form is accepted: names that no model has have that form.
    """
    schemathesis = pytest.importorskip("schemathesis", reason="no schemathesis: the extra `test` has it")
    from hypothesis import HealthCheck, Phase, given, settings
    from schemathesis.specs.openapi.checks import positive_data_acceptance

    app = create_app({"grid": paths["grid 0"], "bundle": paths["bundle 0"]})
    schema = schemathesis.openapi.from_asgi("/openapi.json", app)
    seen: dict[int, int] = {}
    for result in schema.get_all_operations():
        operation = result.ok()
        for mode in schemathesis.GenerationMode:

            @given(case=operation.as_strategy(generation_mode=mode))
            @settings(
                max_examples=600,
                derandomize=True,
                deadline=None,
                suppress_health_check=list(HealthCheck),
                phases=[Phase.generate],
                database=None,
            )
            def ask(case: Any) -> None:
                response = case.call_and_validate(excluded_checks=[positive_data_acceptance])
                seen[response.status_code] = seen.get(response.status_code, 0) + 1
                assert response.status_code < 500, response.text

            if mode == schemathesis.GenerationMode.POSITIVE or operation.method == "post":
                ask()
    assert sum(seen.values()) >= 5000
    assert {200, 422} <= set(seen)


def test_a_fault_tells_nothing(client: Any, paths: dict[str, Path], monkeypatch: pytest.MonkeyPatch) -> None:
    from seqclass.serve.models import ServedModel

    def fail(*_: Any) -> Any:
        raise RuntimeError("/secret/path")

    monkeypatch.setattr(ServedModel, "step", fail)
    response = client.post("/next", json={})
    assert response.status_code == 500
    assert "secret" not in response.text


def test_the_command_line_says_what_is_wrong(paths: dict[str, Path], tmp_path: Path) -> None:
    short = tmp_path / "token"
    short.write_text("abc")
    words = tmp_path / "words.json"
    words.write_text('{"aeg": "How old?"}')
    model = str(paths["grid 0"])
    for arguments, says in (
        (["none.seq"], "there is no file none.seq"),
        ([model, "--token-file", str(short)], "must hold one line of at least 16 letters"),
        ([f"a={model}", f"a={model}"], "two models have the name 'a'"),
        ([str(short)], "no seqclass model"),
        ([model, "--labels", f"other={words}"], "labels are for 'other', which is no model"),
        ([model, "--labels", str(words)], "names 'aeg', which is no feature"),
    ):
        result = CliRunner().invoke(main, ["serve", *arguments])
        assert result.exit_code == 2, result.output
        assert says in result.output
        assert "Traceback" not in result.output
    with socket.create_server(("127.0.0.1", 0)) as taken:
        result = CliRunner().invoke(main, ["serve", model, "--port", str(taken.getsockname()[1])])
    assert (result.exit_code, "Serving" in result.output) == (2, False)
    assert "cannot be listened on: Address already in use" in result.output


def test_who_reads_nothing_of_an_answer_does_not_hold_up_the_end(
    paths: dict[str, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    config, server = MagicMock(), MagicMock()
    server.return_value.run.side_effect = lambda sockets: sockets[0].close()
    monkeypatch.setattr(uvicorn, "Config", config)
    monkeypatch.setattr(uvicorn, "Server", server)
    monkeypatch.setattr("seqclass.cli.serve.logging", MagicMock())
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    result = CliRunner().invoke(main, ["serve", str(paths["grid 0"]), "--port", str(port)])
    assert result.exit_code == 0, result.output
    assert config.call_args.kwargs["timeout_graceful_shutdown"] > 10  # as long as bodies may take
