"""Words of error messages: one sentence on one line, and what a name could have meant."""

from __future__ import annotations

from collections.abc import Sequence
from difflib import get_close_matches


def sentence(error: BaseException) -> str:
    """Message of an error on one line, with a full stop."""
    return end_sentence(" ".join(str(error).split()) or type(error).__name__)


def end_sentence(text: str) -> str:
    """Put a full stop where none is."""
    return text if text.endswith((".", "!", "?")) else f"{text}."


def near(name: str, names: Sequence[str], what: str = "the columns are") -> str:
    """End of a sentence that says what a name could have meant."""
    wanted = name.strip().casefold()
    same = [n for n in names if n.strip().casefold() == wanted]
    matches = same or get_close_matches(name, names, n=3, cutoff=0.5)
    if matches:
        return f"did you mean {' or '.join(map(repr, matches))}?"
    more = f" and {len(names) - 6} more" if len(names) > 6 else ""
    return f"{what} {', '.join(map(repr, names[:6]))}{more}."
