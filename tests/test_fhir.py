"""Adaptive forms of FHIR over loopback: what a form filler gets is what a session asks and decides."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pandas as pd
import pytest

import seqclass
from seqclass import SequentialClassifier, SkipLogic

pytest.importorskip("httpx", reason="no httpx: the extra `test` has it")
pytest.importorskip("uvicorn", reason="no uvicorn: the extra `serve` has it")
pytest.importorskip("fastapi", reason="no FastAPI: the extra `serve` has it")

from test_serve import frame_of, running, save_models

from seqclass.serve import create_app
from seqclass.serve.fhir import Forms

RESULT = "seqclass:result"
NEXT = "/fhir/Questionnaire/$next-question"
LABELS = {
    "age": {
        "question": "How old?",
        "help": "In full.",
        "unit": "a",
        "code": "http://loinc.org|30525-0",
        "url": "https://x.org",
    },
    "colour": {
        "answers": {"red": "Red!"},
        "codes": {"red": "http://snomed.info/sct|371240000", "green": "http://x.org|blue"},
    },
    "smokes": {"answers": {"0": "no", "1": "yes"}},
    "class": {"answers": {"a": "Sick"}, "codes": {"a": "http://snomed.info/sct|39104002"}},
}


@pytest.fixture(scope="module")
def paths(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    return save_models(tmp_path_factory.mktemp("models"), 1, ("grid", "bundle", "known"))


@pytest.fixture(scope="module")
def client(paths: dict[str, Path]) -> Iterator[Any]:
    with running(create_app(paths, labels={"grid 0": LABELS})) as client:
        yield client


def beginning(form: str, **more: Any) -> dict[str, Any]:
    contained = {"resourceType": "Questionnaire", "id": "form", "status": "active"}
    contained["derivedFrom"] = [f"http://forms.example/Questionnaire/{form}"]  # type: ignore[assignment]
    return {
        "resourceType": "QuestionnaireResponse",
        "status": "in-progress",
        "questionnaire": "#form",
        "contained": [contained],
        **more,
    }


def post(client: Any, body: Any, status: int = 200) -> Any:
    response = client.post(NEXT, content=json.dumps(body), headers={"content-type": "application/fhir+json"})
    assert response.status_code == status, response.text
    assert response.headers["content-type"] == "application/fhir+json"
    return response.json()


def form_of(body: dict[str, Any]) -> list[dict[str, Any]]:
    """Items of the form that a response contains."""
    items: list[dict[str, Any]] = body["contained"][0].get("item", [])
    return items


def answered(item: dict[str, Any], session: Any, rng: np.random.Generator, skip: float) -> tuple[dict[str, Any], Any]:
    """What a form filler makes of an item, and the value that it stands for; None where it is left out."""
    parts = [one for one in item.get("item", []) if one["type"] != "display"]
    if item["type"] == "group":
        both = {one["linkId"]: answered(one, session, rng, skip) for one in parts}
        values = {name: value for name, (_, value) in both.items() if value is not None}
        return {"linkId": item["linkId"], "item": [told for told, _ in both.values()]}, values or None
    if rng.random() < skip:
        return {"linkId": item["linkId"]}, None
    if item["type"] == "choice":
        options = item["answerOption"]
        number = int(rng.integers(len(options)))
        text = options[number]["valueCoding"]["display"]
        value = {"Red!": "red", "no": 0.0, "yes": 1.0}.get(text, text)
        return {"linkId": item["linkId"], "answer": [options[number]]}, value
    number = float(rng.uniform(*session.training_range(item["linkId"])))
    if "extension" in item and rng.random() < 0.5:
        return {"linkId": item["linkId"], "answer": [{"valueQuantity": {"value": number, "unit": "a"}}]}, number
    return {"linkId": item["linkId"], "answer": [{"valueDecimal": number}]}, number


#: How the fixture's labels call a decision.
WORDS = {"grid-0 a": "Sick"}


def fill_in(
    client: Any, form: str, clf: Any, seed: int, check: Any = lambda _: None, words: Any = WORDS
) -> dict[str, Any]:
    """Fill in a form to its end, beside a session."""
    rng = np.random.default_rng(seed)
    body, session, known = beginning(form), clf.session(), dict[str, Any]()
    at_start = [clf.feature_name(column) for column in clf.agent_.support[clf.agent_.known].tolist()]
    if at_start:
        body = post(client, body)
        check(body)
        assert [one["linkId"] for one in form_of(body)] == at_start
        told = [answered(one, session, rng, 0.3) for one in form_of(body)]
        body["item"] = [item for item, _ in told]
        known |= {item["linkId"]: value for item, value in told}
    elif rng.random() < 0.5:  # what is known beforehand stands there before it is asked for
        body["item"] = [{"linkId": "smokes", "answer": [{"valueDecimal": 1.0}]}]
        known["smokes"] = 1.0
    session = clf.session(known=known)
    n_before = len(form_of(body)) + (bool(known) and not at_start)
    while True:
        body = post(
            client, {"resourceType": "Parameters", "parameter": [{"name": "questionnaire-response", "resource": body}]}
        )
        check(body)
        new = form_of(body)[n_before:]
        if body["status"] == "completed":
            break
        assert [one["linkId"] for one in new] == [one.name for one in session.next_panel]
        for item in new:
            told, value = answered(item, session, rng, 0.15)
            session.unavailable(item["linkId"]) if value is None else session.observe(item["linkId"], value)
            if value is not None or rng.random() < 0.5:  # some write items without answers, others leave them out
                body.setdefault("item", []).append(told)
        n_before = len(form_of(body))
    assert session.next_feature is None
    results = {one["linkId"]: one["answer"] for one in body["item"][-1]["item"]}
    decided = results[f"{RESULT}/decision"][0]["valueCoding"]
    assert decided["display"] == words.get(f"{form} {session.decision}", str(session.decision))
    belief = [results[f"{RESULT}/belief/{name}"][0]["valueDecimal"] for name in clf.classes_]
    np.testing.assert_allclose(belief, session.posterior, rtol=0, atol=1e-9)
    assert results[f"{RESULT}/paid"][0]["valueDecimal"] == pytest.approx(session.paid, abs=1e-9)
    assert post(client, body) == body  # what is complete stays as it is
    return body


def test_a_form_is_filled_in_as_a_session_goes(client: Any, paths: dict[str, Path]) -> None:
    for name, path in paths.items():
        for seed in range(3):
            fill_in(client, name.replace(" ", "-"), seqclass.load(path), seed)


def test_a_question_may_be_called_as_the_result_is(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 200)
    rows = pd.DataFrame({"smokes": rng.integers(0, 2, 200) * 1.0, RESULT: rng.normal(size=200) + y})
    clf = SequentialClassifier(feature_costs=0.001, order="adaptive").fit(rows, y)
    clf.save(tmp_path / "form.seq")
    with running(create_app(tmp_path / "form.seq")) as client:
        for seed in range(3):
            body = fill_in(client, "form", clf, seed)
            assert body["item"][-1]["linkId"] == RESULT + "/"


@pytest.mark.slow
def test_forms_of_many_models_are_filled_in_as_sessions_go(tmp_path: Path) -> None:
    paths = save_models(tmp_path, 11)
    with running(create_app(paths)) as client:
        for name, path in paths.items():
            clf = seqclass.load(path)
            for seed in range(3):
                fill_in(client, name.replace(" ", "-"), clf, seed, assert_rules_hold, words={})


def items_of(owner: dict[str, Any]) -> Iterator[dict[str, Any]]:
    for item in owner.get("item", []):
        yield item
        yield from items_of(item)


def assert_rules_hold(response: dict[str, Any]) -> None:
    """The rules of FHIR R4 and of adaptive forms that models of the structure do not check."""
    form = response["contained"][0]
    assert response["questionnaire"] == f"#{form['id']}"
    assert not {"url", "version"} & form.keys()
    assert len(form["derivedFrom"]) == 1
    links = [one["linkId"] for one in items_of(form)]
    assert len(set(links)) == len(links)  # que-2
    for item in items_of(form):
        assert item["text"]  # of the profile of adaptive forms
        assert (item["type"] == "group") <= bool(item.get("item"))  # que-1
        assert not (
            item["type"] == "display" and {"item", "readOnly", "required", "code"} & item.keys()
        )  # que-1, 3, 6, 9
        assert ("answerOption" in item) == (item["type"] == "choice")  # que-5
        for option in item.get("answerOption", []):
            assert option["valueCoding"].keys() == {"system", "code", "display"}
    told = [one["linkId"] for one in items_of(response)]
    assert set(told) <= set(links)
    assert [name for name in links if name in told] == told  # in the order of the form
    assert not any(one.get("answer") and one.get("item") for one in items_of(response))  # qrs-1


@pytest.mark.slow_cells("bundle-0", "grid-0")
@pytest.mark.parametrize("form", ["grid-0", "bundle-0", "known-0"])
def test_what_comes_back_has_the_published_structure(client: Any, paths: dict[str, Path], form: str) -> None:
    """By `fhir.resources`, of R4B, whose resources used here are those of R4."""
    pytest.importorskip("fhir.resources", reason="no fhir.resources: the extra `test` has it")
    from fhir.resources.R4B import get_fhir_model_class

    def check(resource: dict[str, Any]) -> None:
        again = get_fhir_model_class(resource["resourceType"]).model_validate(resource)
        assert json.loads(again.model_dump_json()) == resource

    def check_both(resource: dict[str, Any]) -> None:
        check(resource)
        assert_rules_hold(resource)

    clf = seqclass.load(paths[form.replace("-", " ")])
    for seed in range(2):
        fill_in(client, form, clf, seed, check_both)
    check(root := client.get(f"/fhir/Questionnaire/{form}").json())
    assert {"item"} & root.keys() == set()  # sdc-questionnaire-adapt-srch
    assert root.keys() >= {"url", "title", "date", "name", "version"}
    check(client.get("/fhir/metadata").json())
    check(client.get("/fhir/Questionnaire").json())
    check(client.get("/fhir/Questionnaire", params={"url": "http://nowhere"}).json())
    check(post(client, beginning("nowhere"), 422))


def test_forms_are_found_by_their_address(client: Any) -> None:
    base = f"{client.base_url}/fhir"
    root = client.get("/fhir/Questionnaire/grid-0").json()
    assert root["url"] == f"{base}/Questionnaire/grid-0"
    assert {one["url"].rpartition("/")[2]: one for one in root["extension"]}[
        "sdc-questionnaire-questionnaireAdaptive"
    ] == {"url": root["extension"][0]["url"], "valueUrl": base}
    found = client.get("/fhir/Questionnaire", params={"url": root["url"]}).json()
    assert [one["resource"] for one in found["entry"]] == [root]
    assert client.get("/fhir/Questionnaire").json()["total"] == 3
    [resource] = client.get("/fhir/metadata").json()["rest"][0]["resource"]
    assert [one["name"] for one in resource["operation"]] == ["next-question"]
    for derived in ({"derivedFrom": [root["url"]]}, {"derivedFrom": None, "url": f"{root['url']}|{root['version']}"}):
        body = beginning("x")
        body["contained"][0] |= derived
        body = post(client, body)
        assert body["contained"][0]["derivedFrom"] == [f"{root['url']}|{root['version']}"]


def test_words_units_and_codes_are_those_of_the_labels(client: Any) -> None:
    body = post(client, beginning("grid-0", item=[{"linkId": name} for name in ("age", "colour", "smokes")]))
    age, colour, smokes = form_of(body)[:3]
    assert (age["text"], age["code"]) == ("How old?", [{"system": "http://loinc.org", "code": "30525-0"}])
    assert [one.get("valueCoding", one.get("valueUri")) for one in age["extension"]] == [
        "https://x.org",
        {"code": "a", "display": "a"},
    ]
    assert [one["text"] for one in age["item"]] == ["In full."]
    red = {"system": "http://snomed.info/sct", "code": "371240000", "display": "Red!"}
    assert colour["answerOption"][0] == {"valueCoding": red}
    assert [one["valueCoding"]["display"] for one in smokes["answerOption"]] == ["no", "yes"]
    assert all(one["readOnly"] for one in (age, colour, smokes))
    body = post(client, beginning("grid-0"))
    [asked] = form_of(body)
    body = post(client, body | {"item": [told(asked["linkId"], valueDecimal=1e6)]})
    [note] = form_of(body)[0]["item"]
    assert note["type"] == "display"
    assert "outside of what training showed" in note["text"]


def told(name: str, **value: Any) -> dict[str, Any]:
    return {"linkId": name, "answer": [value]}


RED = {"system": "http://snomed.info/sct", "code": "371240000"}


@pytest.mark.parametrize(
    ("item", "same"),
    [
        (told("colour", valueCoding=RED), told("colour", valueString="red")),
        (told("colour", valueCoding={"display": "Red!"}), told("colour", valueString="red")),
        (told("colour", valueCoding={"code": "blue"}), told("colour", valueString="blue")),
        (told("colour", valueCoding={"system": "http://x.org", "code": "blue"}), told("colour", valueString="green")),
        (told("age", valueQuantity={"value": 1, "unit": "a"}), told("age", valueInteger=1)),
        (told("smokes", valueBoolean=True), told("smokes", valueDecimal=1)),
        (told("smokes", valueCoding={"code": "1"}), told("smokes", valueDecimal=1)),
        ({"linkId": "age", "answer": [{"extension": []}]}, {"linkId": "age"}),
    ],
)
def test_answers_are_taken_in_the_forms_that_fillers_write(client: Any, item: Any, same: Any) -> None:
    """By what is believed where all else is known, so that it is decided at once."""

    def believed(*items: Any) -> Any:
        others = {"age": 0.3, "size in mm": -0.2, "colour": None, "smokes": 0, "test": 0.5}
        rest = [told(name, valueDecimal=value) for name, value in others.items() if value is not None]
        rest = [one for one in rest if one["linkId"] not in {one["linkId"] for one in items}]
        body = post(client, beginning("grid-0", item=[*items, *rest]))
        if body["status"] != "completed":
            body = post(client, body)
        return [one["answer"] for one in body["item"][-1]["item"]]

    assert believed(item) == believed(same)
    if "answer" in same:
        assert believed(same) != believed({"linkId": same["linkId"]})


def test_values_that_are_no_codes_have_codes_of_their_own(tmp_path: Path) -> None:
    """FHIR takes no code with two blanks or a tab; what stands for it is the code of no other value."""
    values, y = ["a\tb", "c  d", "option-0", "option-1"], np.arange(80) % 2
    X = pd.DataFrame({"pain": np.array(values)[np.arange(80) // 2 % 2 + 2 * y]})
    X.iloc[:8, 0], y[:4] = values * 2, 1 - y[:4]
    clf = SequentialClassifier(feature_costs=0.001).fit(X, y)
    clf.save(tmp_path / "form.seq")
    with running(create_app(tmp_path / "form.seq")) as client:
        [item] = form_of(post(client, beginning("form")))
        codings = {one["valueCoding"]["display"]: one["valueCoding"] for one in item["answerOption"]}
        assert (codings["option-1"]["code"], codings["a\tb"]["code"]) == ("option-1", "option-a%09b")
        for value in values:
            body = post(client, beginning("form", item=[told("pain", valueCoding=codings[value])]))
            [belief] = [one["answer"] for one in body["item"][-1]["item"] if one["linkId"] == f"{RESULT}/belief/1"]
            assert belief[0]["valueDecimal"] == pytest.approx(clf.predict_proba(pd.DataFrame({"pain": [value]}))[0, 1])


WRONG: dict[str, tuple[dict[str, Any], str, str]] = {
    "name": ({"item": [told("aeg", valueDecimal=1)]}, "linkId='aeg'", "did you mean 'age'?"),
    "text": (
        {"item": [told("age", valueString="old")]},
        "linkId='age'",
        "must be a number, as valueDecimal; got 'old'",
    ),
    "infinite": ({"item": [told("age", valueDecimal=10**400)]}, "linkId='age'", "must be a number"),
    "boolean": ({"item": [told("age", valueDecimal=True)]}, "linkId='age'", "must be a number"),
    "code": ({"item": [told("colour", valueCoding={"code": "pink"})]}, "linkId='colour'", "got 'pink' as valueCoding"),
    "system": ({"item": [told("colour", valueCoding={"code": "371240000"})]}, "linkId='colour'", "got '371240000'"),
    "unit": ({"item": [told("age", valueQuantity={"value": 1, "unit": "d"})]}, "linkId='age'", "of a: convert it"),
    "below": ({"item": [told("age", valueQuantity={"value": 1, "comparator": "<"})]}, "linkId='age'", "convert it"),
    "date": ({"item": [told("age", valueDate="2020")]}, "linkId='age'", "got '2020' as valueDate"),
    "two": ({"item": [{"linkId": "age", "answer": [{"valueDecimal": 1}] * 2}]}, "linkId='age'", "takes one answer"),
    "twice": ({"item": [told("age", valueDecimal=1)] * 2}, "linkId='age'", "stands there twice"),
    "items": ({"item": {}}, "QuestionnaireResponse.item", "must be a list"),
    "status": ({"status": "stopped"}, "QuestionnaireResponse.status", "must be 'in-progress', got 'stopped'"),
    "kind": ({"resourceType": "Patient"}, "QuestionnaireResponse", "send a QuestionnaireResponse"),
    "contained": ({"contained": []}, "QuestionnaireResponse.contained", "must have the Questionnaire"),
    "no id": ({"questionnaire": "#None", "contained": [{"resourceType": "Questionnaire"}]}, "contained", "by its id"),
}


@pytest.mark.parametrize("case", WRONG)
def test_what_is_wrong_is_said_as_fhir_says_it(client: Any, case: str) -> None:
    change, where, says = WRONG[case]
    [issue] = post(client, beginning("grid-0") | change, 422)["issue"]
    assert (issue["severity"], issue["code"]) == ("error", "invalid")
    assert where in issue["expression"][0]
    assert says in issue["diagnostics"]


def test_forms_that_are_not_served_are_refused(client: Any, paths: dict[str, Path]) -> None:
    for derived, status, says in (
        (["http://x/Questionnaire/nowhere"], 422, "there is no questionnaire 'nowhere'; there is 'grid-0'"),
        (["http://x/Questionnaire/grid-0|123"], 409, "leave out the version"),
        ([], 422, "such as http://"),
        ("x", 422, "such as http://"),
        ([1], 422, "such as http://"),
    ):
        body = beginning("x")
        body["contained"][0]["derivedFrom"] = derived
        assert says in post(client, body, status)["issue"][0]["diagnostics"]
    for path, status, code in (("/fhir/Questionnaire/x", 404, "not-found"), ("/fhir/x", 404, "not-found")):
        response = client.get(path)
        assert (response.status_code, response.json()["issue"][0]["code"]) == (status, code)
    assert client.delete("/fhir/metadata").json()["issue"][0]["code"] == "not-supported"
    deep = '{"item": ' + "[" * 20_000 + "]" * 20_000 + "}"
    for content, status, code in (
        (b"x" * 70_000, 413, "too-long"),
        (deep, 422, "invalid"),
        (b"[]", 400, "invalid"),
        (b"{", 400, "invalid"),
    ):
        response = client.post(NEXT, content=content, headers={"content-type": "application/fhir+json"})
        assert (response.status_code, response.json()["issue"][0]["code"]) == (status, code)
    with running(create_app(paths["grid 0"], token="x" * 20)) as guarded:
        assert guarded.post(NEXT, json={}).json()["issue"][0]["code"] == "login"


@pytest.mark.slow
def test_policies_drawn_by_lot_need_the_identifier_of_the_response(tmp_path: Path) -> None:
    clf = SequentialClassifier(feature_costs=0.02, target_cost=0.03, order="adaptive").fit(*frame_of(0, 2))
    clf.save(tmp_path / "lot.seq")
    with running(create_app(tmp_path / "lot.seq")) as client:
        if len(clf.policy_.initial_belief()[1]) > 1:
            assert "as identifier.value" in post(client, beginning("lot"), 422)["issue"][0]["diagnostics"]
        for key in ("a", "b", "c"):
            body = post(client, beginning("lot", identifier={"value": key}))
            asked = clf.session(key=key).next_feature
            assert [one["linkId"] for one in form_of(body)] == [asked.name if asked else RESULT]


def test_follow_ups_are_enabled_by_the_answers_that_open_them(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    form = pd.DataFrame({"smokes": rng.choice(["no", "at times", "daily"], 300), "aspirin": rng.random(300) < 0.5})
    form["packs"] = np.where(form["smokes"] == "no", 0.0, rng.integers(1, 5, 300))
    form["dose"], form["ache"] = (np.where(form["aspirin"], rng.integers(1, 5, 300), 0.0) for _ in range(2))
    y = np.where(form["packs"] + form["dose"] + rng.normal(size=300) > 3, "ill", "well")
    logic: dict[str, Any] = {"packs": {"after": "smokes", "answers": ["at times", "daily"]}, "dose": "aspirin"}
    clf = SequentialClassifier(
        order="adaptive",
        feature_costs=0.001,
        rules=SkipLogic(logic | {"ache": {"after": "aspirin", "answers": True}}),
    ).fit(form, y)
    clf.save(tmp_path / "form.seq")
    coded = [{"code": "at times"}, {"code": "daily"}]
    with running(create_app(tmp_path / "form.seq")) as client:
        body = fill_in(client, "form", clf, 1, assert_rules_hold)
        items = [told("smokes", valueString="daily"), told("aspirin", valueDecimal=1)]
        items += [told(name, valueDecimal=2) for name in ("packs", "dose", "ache")]
        body = post(client, beginning("form", item=items))
    by_name = {one["linkId"]: one for one in form_of(body)}
    assert [one["answerCoding"].pop("system")[-6:] for one in by_name["packs"]["enableWhen"]] == ["smokes"] * 2
    assert by_name["packs"]["enableWhen"] == [{"question": "smokes", "operator": "=", "answerCoding": c} for c in coded]
    assert by_name["packs"]["enableBehavior"] == "any"
    assert by_name["dose"]["enableWhen"] == [{"question": "aspirin", "operator": "exists", "answerBoolean": True}]
    assert by_name["ache"]["enableWhen"][0]["answerCoding"]["code"] == "True"
    assert not {"enableWhen", "enableBehavior"} & by_name["smokes"].keys()


@pytest.mark.slow
def test_what_the_filler_closed_is_no_answer(tmp_path: Path) -> None:
    """Of missing answers that tell, that of a question which the form does not ask any more tells nothing."""
    rng = np.random.default_rng(0)
    form = pd.DataFrame({"smokes": rng.choice(["no", "daily"], 300), "pipe": rng.choice(["no", "yes"], 300)})
    open_ = (form["smokes"] == "daily") | (form["pipe"] == "yes")
    form["packs"] = np.where(open_, rng.choice(["few", "many"], 300), None)
    y = np.where((form["packs"] == "many") & (rng.random(300) < 0.9), "ill", "well")
    either = [{"after": "smokes", "answers": "daily"}, {"after": "pipe", "answers": "yes", "match": "any"}]
    settings = {"order": "adaptive", "feature_costs": 0.001, "missing": "informative"}
    clf = SequentialClassifier(**settings, rules=SkipLogic({"packs": either})).fit(form, y)
    clf.save(tmp_path / "form.seq")
    asked = [{"linkId": name, "type": "choice"} for name in ("smokes", "packs", "pipe")]
    with running(create_app(tmp_path / "form.seq")) as client:
        for pipe in ("no", "yes"):  # closed, or opened by a later answer and left open
            body = beginning("form", item=[told("smokes", valueString="no"), told("pipe", valueString=pipe)])
            body["contained"][0]["item"] = asked
            body = post(client, body)
            case = clf.session()
            case.observe("smokes", "no")
            case.observe("pipe", pipe)
            if pipe == "yes":
                case.unavailable("packs")
            assert body["status"] == "completed"
            assert [one["linkId"] for one in form_of(body)[:-1]] == ["smokes", "packs", "pipe"]
            assert form_of(body)[1]["enableBehavior"] == "any"
            results = {one["linkId"]: one["answer"][0] for one in body["item"][-1]["item"]}
            assert results[f"{RESULT}/paid"]["valueDecimal"] == pytest.approx(case.paid)
            assert results[f"{RESULT}/belief/ill"]["valueDecimal"] == pytest.approx(case.posterior[0])


def test_labels_are_of_the_models(paths: dict[str, Path]) -> None:
    with pytest.raises(ValueError, match="labels are for 'x', which is no model; there is 'grid 0'"):
        create_app({"grid 0": paths["grid 0"]}, labels={"x": {}})
    with pytest.raises(ValueError, match="names 'aeg', which is no feature"):
        create_app(paths["grid 0"], labels={"aeg": "?"})


def test_services_of_like_names_have_their_own_ids() -> None:
    for names in (["x--2", "x ", "x-"], ["", "-0", "!0"], ["a b", "a/b", "a-b", "a-b-2"], ["a-b-2", "a b", "a/b"]):
        served = SimpleNamespace(current=dict.fromkeys(names))
        ids = Forms(served).ids  # type: ignore[arg-type]
        assert list(ids) == names
        assert len({*ids.values(), ""}) == len(names) + 1
