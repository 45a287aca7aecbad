"""Models that are served: read from their files, read again where these change, and what they answer."""

from __future__ import annotations

import hmac
import json
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import fields
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from seqclass._base import BaseSequentialClassifier
from seqclass._utils.model_files import load
from seqclass._utils.progress import log_event
from seqclass._utils.text import brief, join_names, sentence, short_repr
from seqclass.agent._case import Feature, Question, Questions
from seqclass.agent._fingerprint import acting_fingerprint
from seqclass.agent.agent import agent_of, columns_by_name, feature_name
from seqclass.agent.choices import check_labels
from seqclass.agent.session import Session
from seqclass.evaluation.contract import CertifiedError, classifier_of
from seqclass.export import policy_data, policy_page
from seqclass.labels import Labels


class Refusal(Exception):
    """What a request gets that is not answered: its status, where it is wrong, and what to do."""

    def __init__(self, status: int, place: Sequence[str], message: str) -> None:
        super().__init__(message)
        self.status, self.place = status, list(place)


#: What to do about errors, as one says it of a request.
_REMEDIES = {
    "category": " Send null to take it as not available.",
    "missing": "; send null if it is not available.",
    "answered": "; leave one out, or of a case that was begun send it in corrections, or take back by undo.",
    "impossible": ": leave out or undo what is wrong; where all is true, the model should allow for it.",
}


#: How to answer a question with marks.
_MARKS = "send a list of all that hold, [] for none, to say that the others do not."

_NEEDLESS = "after the other answers the form does not ask this: it is taken and paid for, as if it had been asked."


@contextmanager
def refuse(*place: str) -> Iterator[None]:
    """Turn errors that say what is wrong into refusals, with what to do as one says it of a request."""
    try:
        yield
    except (ValueError, TypeError) as error:
        raise Refusal(422, place, sentence(error, _REMEDIES)) from error


class ServedModel:
    """A model and what is told of it; it never changes, so that a request is answered by one model throughout."""

    def __init__(
        self, name: str, clf: BaseSequentialClassifier, contract: CertifiedError | None = None, labels: Any = None
    ) -> None:
        self.name, self.clf, self.contract, self.agent = name, clf, contract, agent_of(clf)
        self.digest, self.labels = acting_fingerprint(self.agent), check_labels(self.agent, labels)

    @classmethod
    def read(cls, name: str, path: Path, labels: Any = None) -> ServedModel:
        """That of a file; a ValueError where it holds no classifier, or labels are not of it."""
        model = load(path)
        try:
            clf, contract = classifier_of(model)
        except TypeError:
            raise ValueError(f"{path.name} is of type {type(model).__name__}, no SequentialClassifier.") from None
        return cls(name, clf, contract, labels)

    @cached_property
    def page(self) -> str:
        """The page to work through cases with; a ValueError where the policy cannot be written."""
        model = self.contract or self.clf
        return policy_page(model, policy_data(model, labels=self.labels))

    @cached_property
    def about(self) -> dict[str, Any]:
        """What a client has to know before it asks."""
        agent, questions, session = self.agent, Questions.of(self.agent), self.clf.session(key=0)
        origin, contract = vars(self.clf).get("provenance_"), self.contract
        data: dict[str, Any] = {"name": self.name, "digest": self.digest, "target": agent.target_name}
        data |= {"classes": list(map(str, agent.classes.tolist())), "prior": agent.problem.prior, "unit": agent.unit}
        data |= {"decisions": list(map(str, agent.decisions.tolist())), "decision_costs": agent.problem.decision_costs}
        data["known"] = [feature_name(agent, column) for column in agent.support[agent.known].tolist()]
        data["features"] = [
            {"name": one.name, "question": questions.name(q), "price": price, "categories": one.categories}
            | {"range": session.training_range(one.name)}
            for q, price in enumerate(questions.problem.full_prices.tolist())
            for one in questions.features(q)
        ]
        data["provenance"] = None if origin is None else origin.record()
        data["contract"] = None if contract is None else contract.record()
        data["prediction_sets"] = None if agent.differential is None else str(agent.differential)
        return data

    def session(self, known: Mapping[str, Any], key: str | None) -> Session:
        """A case that begins."""
        if key is None and len(Questions.of(self.agent).histories.lots) > 1:
            raise Refusal(422, ["body", "key"], "this policy is drawn by lot: send a name of the case as key.")
        with refuse("body", "known"):
            self._check_booleans(known)
            return Session(self.agent, key, known=known)

    def answer(self, session: Session, answers: Mapping[str, Any], skipped: Sequence[str]) -> dict[str, str]:
        """Take answers, None for what is not available, and what was skipped; gives what is odd of them by name."""
        odd: dict[str, str] = {}
        answered = [("answers", *one) for one in answers.items()]
        for place, name, value in [*answered, *(("skipped", name, None) for name in skipped)]:
            with refuse("body", place, name):
                if value is None:
                    session.unavailable(name)
                    continue
                self._check_booleans({name: value})
                session.observe(name, value)
                odd |= _unusual(session, name)
        return odd

    def correct(self, session: Session, corrections: Mapping[str, Any]) -> tuple[dict[str, str], dict[str, str]]:
        """Change answers; gives what is odd of the new ones by name, and which answers went with those."""
        odd, gone = dict[str, str](), dict[str, str]()
        for name, value in corrections.items():
            with refuse("body", "corrections", name):
                before = session.history
                self._check_booleans({name: value})
                session.correct(name, value)
                odd |= _unusual(session, name)
            why = f"taken out: after the correction of {short_repr(name)} this is not asked any more."
            gone |= dict.fromkeys({one.name for one in before} - {one.name for one in session.history}, why)
        return odd, gone

    def _check_booleans(self, values: Mapping[str, Any]) -> None:
        """Refuse true and false where training showed other numbers than 0 and 1."""
        for name, value in values.items():
            for part, content in value.items() if isinstance(value, Mapping) else [(name, value)]:
                if isinstance(content, bool) and not {0.0, 1.0}.issuperset(self._ranges.get(str(part)) or ()):
                    raise ValueError(f"{short_repr(part)} must be a number, got {json.dumps(content)}.")

    @cached_property
    def _ranges(self) -> dict[str, tuple[float, float] | None]:
        return {one["name"]: one["range"] for one in self.about["features"]}

    def notes(self, session: Session, odd: Mapping[str, str]) -> dict[str, str]:
        """What is worth knowing of the answers of a case by name, beside what is odd of the last ones."""
        remarks, marks = dict[str, str](odd), Questions.of(self.agent).marks
        for name, value in ((answer.name, answer.value) for answer in session.history):
            if isinstance(value, dict) and 0 < len(value) < len(marks.get(name, ())):
                remarks[name] = f"this tells of {len(value)} of {len(marks[name])} marks only: {_MARKS}"
        for name in session.needless_answers:
            remarks[name] = f"{remarks[name]} {_NEEDLESS}" if name in remarks else _NEEDLESS
        return remarks

    def step(self, session: Session, budget: int | None = None) -> dict[str, Any]:
        """What to ask next, or what to decide, as things stand."""
        panel = list(session.next_panel) if budget is None else self._at_budget(session, budget)
        sets = session.differential if budget is None else None
        data: dict[str, Any] = {"model": self.name, "digest": self.digest, "decide": not panel}
        data["questions"] = [self._question_data(session, question) for question in panel]
        data["visit_cost"] = session.visit_cost if panel and budget is None else 0.0
        data["belief"] = dict(zip(map(str, self.agent.classes.tolist()), session.posterior.tolist()))
        data |= {"decision": str(session.decision), "expected_cost": session.expected_cost, "paid": session.paid}
        return data | {"prediction_set": None if sets is None else list(map(str, sets))}

    def _question_data(self, session: Session, question: Question | Feature) -> dict[str, Any]:
        data = {field.name: getattr(question, field.name) for field in fields(question)}
        if parts := data.get("features"):
            data["features"] = [self._question_data(session, feature) for feature in parts]
            return data
        return data | {"range": session.training_range(question.name)}

    def _at_budget(self, session: Session, budget: int) -> list[Question]:
        """The question that a hard budget asks next, none once so many were asked."""
        row, mask = dict[str, Any](), np.zeros((1, self.agent.n_features), dtype=bool)
        questions = Questions.of(self.agent)
        for answer in session.history:
            features = questions.features(questions.numbers[answer.name])
            if answer.value is not None:
                row |= answer.value if isinstance(answer.value, dict) else {answer.name: answer.value}
            mask[0, [feature.column for feature in features]] = True
        with refuse("body", "budget"):
            known = sum(answer.known for answer in session.history)
            [column] = self.agent.next_question([row], mask, budget=budget + known).tolist()
        best = session.suggestions(questions.problem.n_questions) if column >= 0 else []
        return [one for one in best if column in [one.column, *(f.column for f in one.features)]][:1]

    def explain(self, answers: Mapping[str, Any]) -> dict[str, Any]:
        """Why a case is decided as it is, of which these features are known."""
        with refuse("body", "answers"):
            self._check_booleans(answers)
            [explanation] = self.clf.explain(dict(answers))
        return explanation.to_dict() | {"text": str(explanation), "model": self.name, "digest": self.digest}


def _unusual(session: Session, name: str) -> dict[str, str]:
    """What is odd of an answer, by the name that it was given."""
    shown = (one.value if isinstance(one.value, dict) else {one.name: one.value} for one in session.history)
    own = next(parts for one, parts in zip(session.history, shown) if name == one.name or name in parts)
    notes = (session.unusual(*part) for part in own.items() if part[1] is not None)
    return {name: text} if (text := " ".join(filter(None, notes))) else {}


def _stamp(path: Path) -> tuple[int, ...]:
    """What tells whether a file has changed; nothing of one that is gone."""
    with suppress(OSError):
        return (status := path.stat()).st_mtime_ns, status.st_size, status.st_ino
    return ()


class Models:
    """Models by name, each as its file has it now; those of before finish the cases that they began."""

    #: How many former models of a name are kept: cases take minutes or days, and fits come nightly.
    n_former = 7

    def __init__(self, paths: Mapping[str, Path], counter: Any, labels: Mapping[str, Any]) -> None:
        if not paths:
            raise ValueError("models must name at least one file.")
        if unknown := [name for name in labels if name not in paths]:
            raise ValueError(
                f"labels are for {short_repr(unknown[0])}, which is no model; there is {join_names(paths)}."
            )
        self._labels = {name: Labels.from_value(labels.get(name)) for name in paths}
        self._paths, self._lock, self._counter = dict(paths), threading.Lock(), counter
        self._stamps = {name: _stamp(path) for name, path in paths.items()}
        self.current = {name: ServedModel.read(name, path, self._labels[name]) for name, path in paths.items()}
        self._former: dict[str, list[ServedModel]] = {name: [] for name in paths}

    def refresh(self) -> None:
        """Read files that have changed; a file that is damaged or gone leaves the model as it is."""
        with self._lock:
            for name, path in self._paths.items():
                before, stamp = self.current[name], _stamp(path)
                if stamp == self._stamps[name]:
                    continue
                self._stamps[name] = stamp  # a damaged file is not read again before it changes
                try:
                    model, about = ServedModel.read(name, path, self._labels[name]), ""
                except (ValueError, OSError) as error:
                    model, about = before, brief(sentence(error))
                if model.digest != before.digest:
                    self._former[name] = [before, *self._former[name]][: self.n_former]
                self.current[name] = model
                names, earlier = set(columns_by_name(model.agent)), set(columns_by_name(before.agent))
                columns = {"columns_added": sorted(names - earlier), "columns_gone": sorted(earlier - names)}
                log_event("model", model=name, digest=model.digest, taken=not about, error=about, **columns)
                self._counter.labels(name, str(not about).lower()).inc()

    def get(self, name: str | None, *place: str) -> ServedModel:
        """The model of a name, the first one where none is named."""
        model = next(iter(self.current.values())) if name is None else self.current.get(name)
        if model is None:
            raise Refusal(422, place, f"there is no model {short_repr(name)}; there is {join_names(self.current)}.")
        return model

    def of_case(self, digest: str) -> ServedModel:
        """The model that a case was begun with."""
        for model in [*self.current.values(), *(one for former in self._former.values() for one in former)]:
            if model.digest == digest:
                return model
        text = "the model that this case was begun with is not served any more: begin the case anew with its answers."
        raise Refusal(409, ["body", "case"], text)


class CaseTexts:
    """Cases as texts that clients keep: JSON with the digest of the model, and a signature where there is a key."""

    def __init__(self, key: bytes | None) -> None:
        self._key = key

    def write(self, model: ServedModel, session: Session) -> str:
        """The text of a case."""
        text = json.dumps({"digest": model.digest, "session": session._record()}, separators=(",", ":"))
        return text if self._key is None else f"{text}.{self._sign(text)}"

    def read(self, text: str, models: Models) -> tuple[ServedModel, Session]:
        """The case of a text, and its model."""
        message = "this is no case of this service: send the text that it gave, unchanged."
        try:
            if self._key is not None:
                text, _, signature = text.rpartition(".")
                if not hmac.compare_digest(self._sign(text).encode(), signature.encode()):
                    raise ValueError
            content = json.loads(text)
            model, saved = models.of_case(str(content["digest"])), content["session"]
            # "first" this service never writes, and every list of it would be remembered
            if not isinstance(saved, dict) or "first" in saved:
                raise ValueError
            session = Session(model.agent, 0)
            session.restore(saved)
            return model, session
        except (ValueError, TypeError, KeyError, AttributeError, IndexError, OverflowError, RecursionError) as error:
            raise Refusal(422, ["body", "case"], message) from error

    def _sign(self, text: str) -> str:
        return hmac.new(self._key or b"", text.encode(errors="surrogatepass"), "sha256").hexdigest()
