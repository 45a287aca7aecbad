"""Sessions as text."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any, NamedTuple

from seqclass._questions import Answer

_FORMAT = "seqclass-session"
#: Version 1 knows neither facts that were known nor questions that come first.
_VERSION = 2


class SavedSession(NamedTuple):
    """What the text of a session tells; of each answer its name, its value, and whether it was known."""

    model: Any
    lot: int
    first: list[str]
    answers: list[tuple[str, Any, bool]]


def write_session(model: str, lot: int, first: Sequence[str], answers: Sequence[Answer]) -> str:
    """JSON text of a session."""
    told = [[a.name, a.value, True] if a.known else [a.name, a.value] for a in answers]
    content: dict[str, Any] = {"format": _FORMAT, "version": _VERSION, "model": model, "answers": told}
    if lot:
        content["lot"] = lot
    if first:
        content["first"] = list(first)
    return json.dumps(content)


def read_session(text: str, n_lots: int) -> SavedSession:
    """Read what `write_session` wrote; anything else is a ValueError."""
    try:
        content = json.loads(text)
        lot, first = content.get("lot", 0), [str(name) for name in content.get("first", [])]
        known = content["format"] == _FORMAT and content["version"] in (1, _VERSION) and type(lot) is int
        answers = [(str(name), value, rest == [True]) for name, value, *rest in content["answers"]]
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        known = False
    if not known or not 0 <= lot < n_lots:
        raise ValueError("this is not a saved session, or one of a newer seqclass.")
    return SavedSession(content.get("model"), lot, first, answers)
