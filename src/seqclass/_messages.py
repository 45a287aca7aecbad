"""Words of error messages: one short sentence on one line, and what a name could have meant."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from difflib import get_close_matches
from itertools import islice
from typing import Any

#: Most characters of a name or a cell in a message, and of a whole message.
_LONGEST_VALUE = 60
_LONGEST = 600
#: Among so many names one that is like another is looked for.
_MANY_NAMES = 10_000


def sentence(error: BaseException) -> str:
    """Message of an error on one line, with a full stop."""
    text = str(error)
    if isinstance(error, OSError) and error.strerror:
        text = error.strerror if error.filename is None else f"{error.strerror}: {shown(str(error.filename))}"
    elif isinstance(error, MemoryError):
        text = f"it takes more memory than there is: {text}" if text else "it takes more memory than there is"
    return end_sentence(brief(" ".join(text.split())) or type(error).__name__)


def end_sentence(text: str) -> str:
    """Put a full stop where none is."""
    return text if text.endswith((".", "!", "?")) else f"{text}."


def shown(value: Any) -> str:
    """Write a name or a cell as Python would, its middle left out where it is long.

    Examples
    --------
    >>> shown("age"), shown(1.5), len(shown("a" * 70_000))
    ("'age'", '1.5', 60)
    """
    # of a long text only what is shown is written out
    long = isinstance(value, (str, bytes)) and len(value) > 2 * _LONGEST_VALUE
    try:
        text = repr(value[:_LONGEST_VALUE] + value[-_LONGEST_VALUE:] if long else value)
    except (ValueError, RecursionError):  # Python writes no number of thousands of digits, nor lists in such depth
        text = f"a number of {value.bit_length()} bits" if isinstance(value, int) else f"a {type(value).__name__}"
    return brief(text, _LONGEST_VALUE)


def brief(text: str, longest: int = _LONGEST) -> str:
    """Leave out the middle of a long text, and what is no character."""
    if len(text) > longest:
        end = longest // 3
        text = f"{text[: longest - end - 3]}...{text[-end:]}"
    return text if text.isprintable() else "".join(c if c.isprintable() else "\N{REPLACEMENT CHARACTER}" for c in text)


def listed(names: Iterable[Any], most: int = 6) -> str:
    """List some names as Python would write them, and how many more there are.

    Examples
    --------
    >>> listed(["a", "b", "c"], 2)
    "'a', 'b' and 1 more"
    """
    names = list(names)
    more = f" and {len(names) - most} more" if len(names) > most else ""
    return ", ".join(map(shown, islice(names, most))) + more


def near(name: str, names: Sequence[str], what: str = "the columns are") -> str:
    """End of a sentence that says what a name could have meant."""
    wanted = name.strip().casefold()
    same = [n for n in names if n.strip().casefold() == wanted]
    # likeness takes its time, so neither among names without end nor among very long ones
    short = [n for n in names[:_MANY_NAMES] if len(n) <= _LONGEST] if len(name) <= _LONGEST else []
    matches = same or get_close_matches(name, short, n=3, cutoff=0.5)
    if matches:
        return f"did you mean {' or '.join(map(shown, matches[:3]))}?"
    return f"{what} {listed(names)}."
