"""Models that are served: read from their files, read again where these change, and what they answer."""

from __future__ import annotations

import hmac
import json
import math
import os
import re
import tempfile
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from seqclass._base import BaseSequentialClassifier
from seqclass._utils.model_files import load
from seqclass._utils.progress import log_event
from seqclass._utils.text import brief, join_names, sentence, short_repr
from seqclass.agent._case import Question, Questions
from seqclass.agent._fingerprint import acting_fingerprint
from seqclass.agent.agent import Agent, agent_of, feature_name
from seqclass.agent.session import Session
from seqclass.evaluation.contract import CertifiedError
from seqclass.export import export_policy


class Refusal(Exception):
    """What a request gets that is not answered: its status, where it is wrong, and what to do."""

    def __init__(self, status: int, place: Sequence[str], message: str) -> None:
        super().__init__(message)
        self.status, self.place = status, list(place)


#: How Python's words for what to do are said over HTTP.
_WORDS = (
    (r"\s*handle_unknown='missing' \([^)]*\) takes such cells as missing\.", " Send null to take it as not available."),
    (r"[;,] call it unavailable if it is\.?", "; send null if it is not available."),
    (r"; take that back by undo\(\)\.?", "; leave one out, or take the former back by undo."),
    (r"take back by undo\(\) what is wrong", "leave out or undo what is wrong"),
    (r"\s*\(--[a-z-]+[^)]* on the command line\)", ""),
)


def in_our_words(error: Exception) -> str:
    """Message of an error, with what to do as one says it of a request."""
    text = sentence(error)
    for pattern, words in _WORDS:
        text = re.sub(pattern, words, text)
    return text


@contextmanager
def refuse(*place: str, status: int = 422) -> Iterator[None]:
    """Turn errors that say what is wrong into refusals."""
    try:
        yield
    except (ValueError, TypeError) as error:
        raise Refusal(status, place, in_our_words(error)) from error


def plain(value: Any) -> Any:
    """Figures as JSON has them: null for what is not finite, texts for labels that JSON does not know."""
    if isinstance(value, Mapping):
        return {str(key): plain(one) for key, one in value.items()}
    if isinstance(value, (list, tuple, np.ndarray)):
        return [plain(one) for one in value]
    value = value.item() if isinstance(value, np.generic) else value
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    return value if value is None or isinstance(value, (bool, int, str)) else str(value)


@dataclass(frozen=True)
class ServedModel:
    """A model and what is told of it; it never changes, so that a request is answered by one model throughout."""

    name: str
    clf: BaseSequentialClassifier
    contract: CertifiedError | None = None
    agent: Agent = field(init=False)
    digest: str = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "agent", agent_of(self.clf))
        object.__setattr__(self, "digest", acting_fingerprint(self.agent))

    @classmethod
    def read(cls, name: str, path: Path) -> ServedModel:
        """That of a file; a ValueError where it holds no classifier."""
        model = load(path)
        contract = model if isinstance(model, CertifiedError) else None
        model = model if contract is None else contract.require_classifier()
        if not isinstance(model, BaseSequentialClassifier):
            raise ValueError(f"{path.name} holds a {type(model).__name__}, not a classifier.")
        return cls(name, model, contract)

    @cached_property
    def page(self) -> bytes:
        """The page to work through cases with; a ValueError where the policy cannot be written."""
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "page.html"
            export_policy(self.contract or self.clf, path)
            return path.read_bytes()

    @cached_property
    def about(self) -> dict[str, Any]:
        """What a client has to know before it asks."""
        agent, clf = self.agent, self.clf
        origin, held_out = vars(clf).get("provenance_"), vars(clf).get("held_out_")
        questions, session = Questions.of(agent), clf.session(key=0)
        prices = [float(price) for price in questions.problem.full_prices]
        features = [
            {
                "name": feature.name,
                "question": questions.name(q),
                "price": prices[q],
                "categories": list(feature.categories),
                "range": session.training_range(feature.name),
            }
            for q in range(questions.problem.n_questions)
            for feature in questions.features(q)
        ]
        return plain(  # type: ignore[no-any-return]
            {
                "name": self.name,
                "digest": self.digest,
                "target": agent.target_name,
                "classes": [str(label) for label in agent.classes],
                "prior": agent.problem.prior,
                "decisions": [str(label) for label in agent.decisions],
                "decision_costs": agent.problem.decision_costs,
                "unit": agent.unit,
                "known": [feature_name(agent, column) for column in agent.support[agent.known].tolist()],
                "features": features,
                "provenance": None if origin is None else origin.record(),
                "held_out": None if held_out is None else held_out.record(),
                "contract": None if self.contract is None else self.contract.record(),
                "prediction_sets": None if agent.differential is None else str(agent.differential),
            }
        )

    def session(self, known: Mapping[str, Any], key: str | None) -> Session:
        """A case that begins."""
        if key is None and len(self.agent.policy.initial_belief()[1]) > 1:
            raise Refusal(422, ["body", "key"], "this policy is drawn by lot: send a name of the case as key.")
        with refuse("body", "known"):
            return self.clf.session(known=known, key=key)

    def answer(self, session: Session, answers: Mapping[str, Any], skipped: Sequence[str]) -> dict[str, str]:
        """Take answers, None for what is not available, and what was skipped; gives what is odd of them by name."""
        odd: dict[str, str] = {}
        for name, value in answers.items():
            with refuse("body", "answers", name):
                if value is None:
                    session.unavailable(name)
                    continue
                session.observe(name, value)
                shown = value if isinstance(value, Mapping) else {name: value}
                notes = (session.unusual(*one) for one in shown.items() if one[1] is not None)
                odd |= {name: text} if (text := " ".join(filter(None, notes))) else {}
        for name in skipped:
            with refuse("body", "skipped", name):
                session.unavailable(name)
        return odd

    def step(self, session: Session, budget: int | None = None) -> dict[str, Any]:
        """What to ask next, or what to decide, as things stand."""
        panel = list(session.next_panel) if budget is None else self._at_budget(session, budget)
        sets = session.differential if budget is None else None
        return plain(  # type: ignore[no-any-return]
            {
                "model": self.name,
                "digest": self.digest,
                "decide": not panel,
                "questions": [asdict(question) for question in panel],
                "visit_cost": session.visit_cost if panel and budget is None else 0.0,
                "belief": dict(zip(map(str, self.agent.classes.tolist()), session.posterior.tolist())),
                "decision": str(session.decision),
                "expected_cost": session.expected_cost,
                "paid": session.cost,
                "prediction_set": None if sets is None else list(map(str, sets)),
            }
        )

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
            [told] = self.clf.explain(dict(answers))
        return plain(told.to_dict() | {"text": str(told), "model": self.name, "digest": self.digest})  # type: ignore[no-any-return]


class Models:
    """Models by name, each as its file has it now; those of before finish the cases that they began."""

    #: How many former models of a name are kept: cases take minutes or days, and fits come nightly.
    n_former = 7

    def __init__(self, paths: Mapping[str, Path], note: Callable[[str, bool], None] = lambda name, taken: None) -> None:
        if not paths:
            raise ValueError("models must name at least one file.")
        self._paths, self._lock, self.note = dict(paths), threading.Lock(), note
        self._stamps = {name: self._stamp(path) for name, path in paths.items()}
        self.current = {name: ServedModel.read(name, path) for name, path in paths.items()}
        self._former: dict[str, list[ServedModel]] = {name: [] for name in paths}

    @staticmethod
    def _stamp(path: Path) -> tuple[int, ...]:
        status = os.stat(path)
        return status.st_mtime_ns, status.st_size, status.st_ino

    def refresh(self) -> None:
        """Read files that have changed; a file that is damaged or gone leaves the model as it is."""
        with self._lock:
            for name, path in self._paths.items():
                try:
                    stamp = self._stamp(path)
                    if stamp == self._stamps[name]:
                        continue
                    self._stamps[name] = stamp  # a damaged file is not read again before it changes
                    model, before = ServedModel.read(name, path), self.current[name]
                except (ValueError, OSError) as error:
                    self._report(name, False, error=brief(sentence(error)))
                    continue
                if model.digest != before.digest:
                    self._former[name] = [before, *self._former[name]][: self.n_former]
                self.current[name] = model
                self._report(name, True, digest=model.digest)

    def _report(self, name: str, taken: bool, **about: str) -> None:
        log_event("model", model=name, taken=taken, **about)
        self.note(name, taken)

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
        raise Refusal(
            409,
            ["body", "case"],
            "the model that this case was begun with is not served any more: begin the case anew with its answers.",
        )


class CaseTexts:
    """Cases as texts that clients keep: JSON with the digest of the model, and a signature where there is a key."""

    def __init__(self, key: bytes | None) -> None:
        self._key = key

    def write(self, model: ServedModel, session: Session) -> str:
        """The text of a case."""
        text = json.dumps({"digest": model.digest, "session": json.loads(session.to_json())}, separators=(",", ":"))
        return text if self._key is None else f"{text}.{self._sign(text)}"

    def read(self, text: str, models: Models) -> tuple[ServedModel, Session]:
        """The case of a text, and its model."""
        if self._key is not None:
            text, _, signature = text.rpartition(".")
            if not hmac.compare_digest(self._sign(text).encode(), signature.encode()):
                raise Refusal(
                    422, ["body", "case"], "the case is not as this service gave it: send its text unchanged."
                )
        try:
            content = json.loads(text)
            model = models.of_case(str(content["digest"]))
            session = model.clf.session(key=0)
            saved = content["session"]
            if "first" in saved:  # which this service never writes, and every list of which would be remembered
                raise ValueError
            session.restore(json.dumps(saved))
        except (ValueError, TypeError, KeyError, AttributeError, IndexError, OverflowError, RecursionError) as error:
            message = "this is no case of this service: send the text that it gave, unchanged."
            raise Refusal(422, ["body", "case"], message) from error
        return model, session

    def _sign(self, text: str) -> str:
        return hmac.new(self._key or b"", text.encode(errors="surrogatepass"), "sha256").hexdigest()
