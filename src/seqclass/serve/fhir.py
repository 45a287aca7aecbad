"""Adaptive questionnaires of FHIR R4, as Structured Data Capture has them: what to ask next by ``$next-question``."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator, Mapping
from numbers import Real
from typing import Any
from urllib.parse import quote

import numpy as np

from seqclass._utils.tables import to_json_value
from seqclass._utils.text import as_known, join_names, near, short_repr, value_text
from seqclass.agent._case import Feature, Questions
from seqclass.agent.agent import feature_name
from seqclass.agent.choices import answer_choices
from seqclass.agent.session import Session
from seqclass.pomdp.rules import Rules
from seqclass.serve.models import Models, Refusal, ServedModel

_SDC = "http://hl7.org/fhir/uv/sdc"
_CORE = "http://hl7.org/fhir/StructureDefinition"
_ADAPTIVE = f"{_SDC}/StructureDefinition/sdc-questionnaire-questionnaireAdaptive"
#: Link ids of what comes out at the end, which no feature is called.
_RESULT = "seqclass:result"
#: What FHIR takes for a code.
_CODE = re.compile(r"\S+( \S+)*")
#: Kinds of issues, by status.
_ISSUES = {401: "login", 404: "not-found", 405: "not-supported", 408: "timeout", 409: "conflict", 413: "too-long"}

Json = dict[str, Any]


def operation_outcome(status: int, place: list[str], message: str) -> Json:
    """What is wrong, as FHIR says it."""
    code = _ISSUES.get(status, "exception" if status >= 500 else "invalid")
    issue: Json = {"severity": "error", "code": code, "diagnostics": message}
    if len(place) > 2:  # an item, by its name
        name = place[-1].replace("\\", "\\\\").replace("'", "\\'")
        issue["expression"] = [f"QuestionnaireResponse.repeat(item).where(linkId='{name}')"]
    elif place and place[0] != "body":
        issue["expression"] = [".".join(place)]
    return {"resourceType": "OperationOutcome", "issue": [issue]}


class Forms:
    """The questionnaires of the models that are served, which adapt to what is answered."""

    def __init__(self, served: Models) -> None:
        self._served = served
        #: Ids of questionnaires, by name of the model, in the letters that ids may have.
        self.ids: dict[str, str] = {}
        for number, name in enumerate(served.current):
            plain = re.sub(r"[^A-Za-z0-9.-]", "-", name)[:60]
            candidates = (plain, *(f"{plain[:50]}-{k}" for k in range(number, number + len(served.current) + 1)))
            self.ids[name] = next(one for one in candidates if one and one not in self.ids.values())

    def _of_id(self, form: str) -> ServedModel:
        names = {own: name for name, own in self.ids.items()}
        if form not in names:
            raise Refusal(404, [], f"there is no questionnaire {short_repr(form)}; there is {join_names(names)}.")
        return self._served.current[names[form]]

    def root(self, form: str, base: str) -> Json:
        """The questionnaire that says where to ask, and has no questions before."""
        model = self._of_id(form)
        origin, url = vars(model.clf).get("provenance_"), f"{base}/Questionnaire/{form}"
        algorithm = {"system": "http://hl7.org/fhir/version-algorithm", "code": "alpha"}
        decisions = ", ".join(map(model.labels.decision_text, model.agent.decisions.tolist()))
        resource: Json = {"resourceType": "Questionnaire", "id": form, "url": url, "version": model.digest}
        resource["meta"] = {"profile": [f"{_SDC}/StructureDefinition/sdc-questionnaire-adapt-srch"]}
        resource["extension"] = [
            {"url": _ADAPTIVE, "valueUrl": base},
            {"url": f"{_CORE}/artifact-versionAlgorithm", "valueCoding": algorithm},
        ]
        resource |= {"name": re.sub(r"\W", "_", f"Form_{form}"), "title": model.name, "status": "active"}
        resource["description"] = f"Asks one question after the other, and decides for one of: {decisions}."
        return resource if origin is None else resource | {"date": origin.record()["date"]}

    def search(self, base: str, url: str | None) -> Json:
        """A bundle of all questionnaires, or of those with one canonical URL."""
        entries = [self.root(form, base) for form in self.ids.values()]
        entries = [one for one in entries if url in (None, one["url"])]
        bundle: Json = {"resourceType": "Bundle", "type": "searchset", "total": len(entries)}
        return bundle | ({"entry": [{"fullUrl": one["url"], "resource": one} for one in entries]} if entries else {})

    def capability(self, base: str, version: str, date: str) -> Json:
        """What this end of the service can do."""
        operation = {"name": "next-question", "definition": f"{_SDC}/OperationDefinition/Questionnaire-next-question"}
        resource: Json = {"type": "Questionnaire", "interaction": [{"code": "read"}, {"code": "search-type"}]}
        resource |= {"searchParam": [{"name": "url", "type": "uri"}], "operation": [operation]}
        statement: Json = {"resourceType": "CapabilityStatement", "status": "active", "date": date, "kind": "instance"}
        statement |= {"software": {"name": "seqclass", "version": version}, "fhirVersion": "4.0.1"}
        statement |= {"implementation": {"description": "What to ask next about a case.", "url": base}}
        return statement | {"format": ["application/fhir+json"], "rest": [{"mode": "server", "resource": [resource]}]}

    def next_question(self, body: Any, base: str) -> tuple[ServedModel, Session, Json, int, Json]:
        """Model, case, how it stands, how much of the last answer is unusual, and the response with what is next."""
        response = _response_of(body)
        form = _find_form(response)
        model, canonical = self._model_of(form, base)
        asked = _FormSoFar(model, form, response, canonical.partition("|")[0])
        session, odd = asked.replay(_case_key(response))
        step, answers = model.step(session), asked.answers
        step["decide"] = step["decide"] and not asked.unasked
        names = asked.unasked or [question.name for question in session.next_panel]
        items = [*asked.form_items(odd), *(asked.question(name) for name in names)]
        if step["decide"]:
            group, results = asked.result(step)
            items, answers = [*items, group], [*answers, results]
        form = {key: value for key, value in form.items() if key not in ("url", "version", "item")}
        form |= {"derivedFrom": [canonical], "status": form.get("status", "active")}
        form["extension"] = _records(form, "extension") or [{"url": _ADAPTIVE, "valueBoolean": True}]
        others = [one for one in _records(response, "contained") if one.get("id") != form["id"]]
        result = {key: value for key, value in response.items() if key != "item"}
        result |= {"contained": [form | ({"item": items} if items else {}), *others]}
        result |= {"status": "completed" if step["decide"] else "in-progress"} | ({"item": answers} if answers else {})
        return model, session, step, sum(name in odd for name in [*asked.own][-1:]), to_json_value(result)

    def _model_of(self, form: Json, base: str) -> tuple[ServedModel, str]:
        """The model of a questionnaire by what it is derived from, and the canonical URL of just that model."""
        derived = form.get("derivedFrom") or [form.get("url")]
        canonical = derived[0] if isinstance(derived, list) else None
        place = ["Questionnaire", "derivedFrom"]
        if not isinstance(canonical, str):
            one = f"{base}/Questionnaire/{next(iter(self.ids.values()))}"
            raise Refusal(422, place, f"derivedFrom must be the URL of a questionnaire of this service, such as {one}.")
        url, _, version = canonical.partition("|")
        try:
            model = self._of_id(url.rpartition("/")[2])
            if version and version != model.digest:
                model = self._served.of_case(version)
        except Refusal as error:
            if error.status == 404:
                raise Refusal(422, place, str(error)) from None
            text = "the model that this form was begun with is not served any more: leave out the version, behind '|', "
            raise Refusal(409, place, text + "to go on with its answers by the present one.") from None
        return model, f"{base}/Questionnaire/{self.ids[model.name]}|{model.digest}"


def _response_of(body: Any) -> Json:
    """The response to a questionnaire, which may be a parameter."""
    if isinstance(body, dict) and body.get("resourceType") == "Parameters":
        named = [one for one in _records(body, "parameter") if one.get("name") == "questionnaire-response"]
        body = named[0].get("resource") if named else None
    if not isinstance(body, dict) or body.get("resourceType") != "QuestionnaireResponse":
        text = "send a QuestionnaireResponse, or Parameters with one as 'questionnaire-response'."
        raise Refusal(422, ["QuestionnaireResponse"], text)
    if body.get("status") not in ("in-progress", "completed", "amended"):
        text = f"status must be 'in-progress', got {short_repr(body.get('status'))}: what is not to go on has no next."
        raise Refusal(422, ["QuestionnaireResponse", "status"], text)
    return body


def _find_form(response: Json) -> Json:
    """The questionnaire that a response contains."""
    wanted = response.get("questionnaire")
    for one in _records(response, "contained"):
        if one.get("resourceType") == "Questionnaire" and isinstance(one.get("id"), str) and wanted == f"#{one['id']}":
            return one
    text = "contained must have the Questionnaire that 'questionnaire' names by its id, such as '#form'; to begin, one "
    raise Refusal(422, ["QuestionnaireResponse", "contained"], text + "with derivedFrom and without items.")


def _records(owner: Json, key: str) -> list[Json]:
    """A list of FHIR, of which every entry is an element."""
    entries = owner.get(key, [])
    if not isinstance(entries, list) or not all(isinstance(one, dict) for one in entries):
        raise Refusal(422, ["QuestionnaireResponse", key], f"every {key!r} must be a list of elements.")
    return entries


def _flat(owner: Json) -> Iterator[Json]:
    """Items of a response, with those that are within items and answers."""
    for item in _records(owner, "item"):
        yield item
        yield from _flat(item)
        for answer in _records(item, "answer"):
            yield from _flat(answer)


def _link(item: Json) -> str:
    """What an item is called; nothing where that is no text."""
    link = item.get("linkId")
    return link if isinstance(link, str) else ""


def _case_key(response: Json) -> str | None:
    """Name of the case, for policies drawn by lot."""
    identifier = response.get("identifier")
    key = identifier.get("value") if isinstance(identifier, dict) else response.get("id")
    return key if isinstance(key, str) else None


class _FormSoFar:
    """What a form has asked so far, and what was answered."""

    def __init__(self, model: ServedModel, form: Json, response: Json, url: str) -> None:
        self.model, self.labels, self.url = model, model.labels, url
        questions = self.questions = Questions.of(model.agent)
        numbers = range(questions.problem.n_questions)
        self.features = {one.name: one for q in numbers for one in questions.features(q)}
        self.bundles = {questions.name(q): questions.features(q) for q in numbers if len(questions.features(q)) > 1}
        #: What the group of the result is called, which no question is.
        self.result_link = _RESULT + "/" * (_RESULT in questions.numbers)
        self.items = [one for one in _records(form, "item") if _link(one) != self.result_link]
        self.answers = [one for one in _records(response, "item") if _link(one) != self.result_link]
        sent = [(_link(one), one) for one in _flat({"item": self.answers})]
        links, self.told = [link for link, _ in sent], dict(sent)
        shown = set(map(_link, _flat({"item": self.items})))
        for name in self.told:
            if name not in shown and name not in self.features and name not in self.bundles:
                text = f"{short_repr(name)} is no question of this form; {near(name, list(questions.numbers))}"
                raise Refusal(422, ["QuestionnaireResponse", "item", name], text)
            if links.count(name) > 1 and name in questions.numbers:
                raise Refusal(422, ["QuestionnaireResponse", "item", name], f"{short_repr(name)} stands there twice.")
        #: What was filled in before it was asked for stands there as known from now on.
        self.items += [
            {"linkId": name, "readOnly": True} for name in self.told if name in self.features and name not in shown
        ]
        self.own = {_link(one): one for one in self.items if _link(one) in questions.numbers}
        self.at_start = [questions.name(q) for q in sorted(questions.known_at_start)]

    @property
    def unasked(self) -> list[str]:
        """What is known of every case, and has not been asked for: it comes before all else."""
        there = {part.name for name in self.own for part in self._parts(name)}
        return [name for name in self.at_start if not {part.name for part in self._parts(name)} & there]

    def _parts(self, name: str) -> tuple[Feature, ...]:
        return self.bundles.get(name) or (self.features[name],)

    def replay(self, key: str | None) -> tuple[Session, dict[str, str]]:
        """The case as it stands, what was known first and then in the order asked; and what is odd of its values."""
        known: Json = {}
        asked: dict[str, Any] = {}
        for name, item in self.own.items():
            values = {part.name: self._value(part.name) for part in self._parts(name)}
            if item.get("readOnly") is True or name in self.at_start:
                known |= values
            elif name in self.bundles:
                asked[name] = {part: value for part, value in values.items() if value is not None} or None
            else:
                asked[name] = values[name]
        try:
            session = self.model.session(known, key)
        except Refusal as error:
            text = "this policy is drawn by lot: send a name of the case as identifier.value."
            text = text if error.place[-1] == "key" else str(error)
            raise Refusal(422, ["QuestionnaireResponse", "item"], text) from None
        odd, closed = dict[str, str](), list[str]()
        for name, value in asked.items():
            if value is None and session._is_left_out(name):
                closed.append(name)  # by the filler: no answer, unless a later one opens it
            else:
                odd |= self.model.answer(session, {name: value}, ())
        return session, odd | self.model.answer(session, {}, [n for n in closed if not session._is_left_out(n)])

    def _value(self, name: str) -> Any:
        """What was answered to a feature; None if nothing was, which is that it is not available."""
        place, number, text = ["QuestionnaireResponse", "item", name], None, None
        answers = [one for one in _records(self.told.get(name, {}), "answer") if any(map(_is_value, one))]
        if not answers:
            return None
        if len(answers) > 1:
            raise Refusal(422, place, f"{short_repr(name)} takes one answer, got {len(answers)}: send one, or none.")
        kind, value = next(pair for pair in answers[0].items() if _is_value(pair[0]))
        choices, categories = self.choices(name), self.features[name].categories
        if kind == "valueCoding" and isinstance(value, dict):
            meant = [one for one, coding in choices.items() if self._is_meant(value, coding)]
            # a code of the labels may be the name of another answer
            matching = [one for one in meant if choices[one]["system"] == value.get("system")] or meant
            text = matching[0] if len(matching) == 1 else None
        elif kind == "valueString":
            text = value
        elif kind in ("valueDecimal", "valueInteger", "valueQuantity", "valueBoolean"):
            value = self._in_unit(name, value) if kind == "valueQuantity" else value
            if isinstance(value, (int, float)) and isinstance(value, bool) == (kind == "valueBoolean"):
                number = float(value) if abs(value) <= sys.float_info.max else None
                text = str(value) if number is None or str(value) in choices else value_text(number)
                text = as_known(text, choices)
        if number is not None and not categories:
            return number
        if isinstance(text, str) and text in choices:
            return text if categories else float(text)
        wanted = join_names((coding["code"] for coding in choices.values()), 12) or "a number, as valueDecimal"
        shown = value.get("code", value.get("display")) if isinstance(value, dict) else value
        raise Refusal(422, place, f"{short_repr(name)} must be {wanted}; got {short_repr(shown)} as {kind}.")

    def _in_unit(self, name: str, value: Any) -> Any:
        """The number of a quantity, in the unit that is asked for."""
        unit, quantity = self.labels.text_of(name, "unit"), value if isinstance(value, dict) else {}
        own = [quantity[key] for key in ("unit", "code") if key in quantity]
        if "comparator" in quantity or (unit and own and unit not in own):
            text = f"{short_repr(name)} is asked for as a number{f' of {unit}' if unit else ''}: convert it."
            raise Refusal(422, ["QuestionnaireResponse", "item", name], text)
        return quantity.get("value")

    def _is_meant(self, sent: Json, coding: Json) -> bool:
        """Whether a coding is that of a choice; of our own codes the system may be left out, or of another host."""
        if "code" not in sent:
            return bool(sent.get("display") == coding["display"])
        ours = coding["system"].startswith(self.url)
        return bool(sent["code"] == coding["code"] and (ours or sent.get("system") == coding["system"]))

    def choices(self, name: str) -> dict[str, Json]:
        """Codings of the values to choose from, by value; none where a number is to be told."""
        texts = answer_choices(self.model.agent, self.features[name].column, self.labels)
        return {value: self._coding(name, value, text) for value, text in texts.items()}

    def _coding(self, name: str, value: str, text: str) -> Json:
        """The coding of a value: the code of the labels, else the value itself, quoted where that is no code."""
        code_of = self.labels.code
        if match := code_of(name, value) or (code_of("class", value) if name == "decision" else None):
            return match | {"display": text}
        code = value if _CODE.fullmatch(value) else f"option-{quote(value, '')}"
        return {"system": f"{self.url}/{quote(name, '')}", "code": code, "display": text if text.strip() else code}

    def question(self, name: str, read_only: bool = False, note: str = "") -> Json:
        """The item of a feature, or of a bundle with all of its features."""
        item: Json = {"linkId": name, "text": self.labels.question(name)}
        if (code := self.labels.code(name)) is not None:
            item["code"] = [code]
        extensions, items = list[Json](), list[Json]()
        if url := self.labels.text_of(name, "url"):
            extensions.append({"url": f"{_CORE}/questionnaire-supportLink", "valueUri": url})
        if text := self.labels.text_of(name, "help"):
            control = {"system": "http://hl7.org/fhir/questionnaire-item-control", "code": "help"}
            shown = {"url": f"{_CORE}/questionnaire-itemControl", "valueCodeableConcept": {"coding": [control]}}
            items.append({"linkId": f"{name}/help", "text": text, "type": "display", "extension": [shown]})
        if note:
            items.append({"linkId": f"{name}/note", "text": note, "type": "display"})
        if name in self.bundles:
            item["type"], items = "group", items + [self.question(part.name, read_only) for part in self.bundles[name]]
        elif choices := self.choices(name):
            item |= {"type": "choice", "answerOption": [{"valueCoding": coding} for coding in choices.values()]}
        else:
            item["type"] = "decimal"
            if unit := self.labels.text_of(name, "unit"):
                coding = {"code": unit, "display": unit}
                extensions.append({"url": f"{_CORE}/questionnaire-unit", "valueCoding": coding})
        item |= {"required": False} | self._enable_when(name) | ({"readOnly": True} if read_only else {})
        return item | ({"extension": extensions} if extensions else {}) | ({"item": items} if items else {})

    def _enable_when(self, name: str) -> Json:
        """The answers that open a question, by skip logic, as far as one list of conditions says it."""
        agent, rules = self.model.agent, Rules.from_value(getattr(self.model.clf, "rules", None))
        if rules is None or not rules.skip or name in self.bundles:
            return {}
        logic = rules.skip.numbers(agent.n_features, agent.feature_names)
        column = self.features[name].column
        own = [rule for rule in logic.rules if rule.question == column]
        opening = [rule for rule in own if rule.implied is None]
        every = len(opening) > 1 and all(rule.match == "all" for rule in own)
        pairs = [(feature_name(agent, rule.after), one) for rule in opening for one in rule.answers or (None,)]
        conditions = [self._condition(after, answer) for after, answer in pairs if after in self.own]
        if not pairs or len(conditions) < len(pairs) or None in conditions or (every and len(pairs) > len(opening)):
            return {}
        return {"enableWhen": conditions} | ({"enableBehavior": "all" if every else "any"} if len(pairs) > 1 else {})

    def _condition(self, after: str, answer: Any) -> Json | None:
        """That a question was answered, or answered so; None where no single value says it."""
        if answer is None:
            return {"question": after, "operator": "exists", "answerBoolean": True}
        number = float(answer) if isinstance(answer, (Real, np.bool_)) else None  # True is 1
        choices = self.choices(after)
        coding = choices.get(as_known(value_text(answer), choices))
        if coding is not None:
            meant = {key: coding[key] for key in ("system", "code")}
            return {"question": after, "operator": "=", "answerCoding": meant}
        return None if number is None else {"question": after, "operator": "=", "answerDecimal": number}

    def form_items(self, odd: Mapping[str, str]) -> list[Json]:
        """What was asked so far, and what was not ours to ask."""
        return [
            self.question(_link(one), one.get("readOnly") is True, odd.get(_link(one), ""))
            if _link(one) in self.own
            else one
            for one in self.items
        ]

    def result(self, step: Json) -> tuple[Json, Json]:
        """What comes out, as a group of the form and as its answers: the decision, and what is believed of the case."""
        labels, agent = self.labels, self.model.agent
        decisions = list(map(str, agent.decisions.tolist()))
        codings = {d: self._coding("decision", d, labels.decision_text(d)) for d in decisions}
        options = [{"valueCoding": coding} for coding in codings.values()]
        items = [{"linkId": f"{_RESULT}/decision", "text": "Decision", "type": "choice", "answerOption": options}]
        answers = [{"linkId": f"{_RESULT}/decision", "answer": [{"valueCoding": codings[step["decision"]]}]}]
        numbers = [(f"belief/{c}", f"Probability of {labels.class_text(c)}", p) for c, p in step["belief"].items()]
        numbers.append(("expected_cost", "Expected cost of the decision", step["expected_cost"]))
        for key, text, number in [*numbers, ("paid", "What the answers cost", step["paid"])]:
            items.append({"linkId": f"{_RESULT}/{key}", "text": text, "type": "decimal"})
            answers.append({"linkId": f"{_RESULT}/{key}", "answer": [{"valueDecimal": number}]})
        if step["prediction_set"] is not None:
            own = {c: self._coding("class", c, labels.class_text(c)) for c in step["belief"]}
            item: Json = {"linkId": f"{_RESULT}/prediction_set", "text": "Classes that it may be", "type": "choice"}
            items.append(item | {"repeats": True, "answerOption": [{"valueCoding": coding} for coding in own.values()]})
            if values := [{"valueCoding": own[name]} for name in step["prediction_set"]]:
                answers.append({"linkId": f"{_RESULT}/prediction_set", "answer": values})
        group: Json = {"linkId": self.result_link, "text": "Result", "type": "group"}
        told_group: Json = {"linkId": self.result_link, "text": "Result", "item": answers}
        return group | {"readOnly": True, "item": [one | {"readOnly": True} for one in items]}, told_group


def _is_value(key: str) -> bool:
    return key.startswith("value")
