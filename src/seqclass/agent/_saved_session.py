"""What the text of a session tells."""

from __future__ import annotations

import json
from typing import Any, NamedTuple

__all__: list[str] = []


_FORMAT = "seqclass-session"
_VERSION = 2


class Visit(NamedTuple):
    """What was ordered after so many answers, None where no more was waited for; and whether an answer implied it."""

    after: int
    names: list[str] | None
    implied: bool


class SavedSession(NamedTuple):
    """What the text of a session tells; of each answer its name, its value, and whether, or what of it, was known."""

    model: Any
    lot: int
    first: list[str]
    answers: list[tuple[str, Any, bool | list[str]]]
    visits: list[Visit]


def write_session(saved: SavedSession) -> dict[str, Any]:
    """What the text of a session tells, as plain data."""
    answers = [[name, value, *([known] if known else [])] for name, value, known in saved.answers]
    content: dict[str, Any] = {"format": _FORMAT, "version": _VERSION, "model": saved.model, "answers": answers}
    if saved.lot:
        content["lot"] = saved.lot
    if saved.first:
        content["first"] = saved.first
    if saved.visits:
        content["visits"] = [[visit.after, visit.names, *[True] * visit.implied] for visit in saved.visits]
    return content


def read_session(saved: Any, n_lots: int) -> SavedSession:
    """Read what `write_session` gave, or its JSON text; anything else is a ValueError."""
    try:
        content = json.loads(saved) if isinstance(saved, str) else saved
        lot, first = content.get("lot", 0), [str(name) for name in content.get("first", [])]
        known = content["format"] == _FORMAT and content["version"] == _VERSION and type(lot) is int
        answers = [
            (str(name), value, list(map(str, rest[0])) if rest and isinstance(rest[0], list) else rest == [True])
            for name, value, *rest in content["answers"]
        ]
        visits = [
            Visit(int(n), None if names is None else list(map(str, names)), implied == [True])
            for n, names, *implied in content.get("visits", [])
        ]
        known &= all(value is None or isinstance(value, dict) for _, value, parts in answers if isinstance(parts, list))
    except (ValueError, KeyError, TypeError, AttributeError, OverflowError, RecursionError):
        known = False
    if not known or not 0 <= lot < n_lots:
        raise ValueError("this is not a saved session, or one of a newer seqclass.")
    return SavedSession(content.get("model"), lot, first, answers, visits)
