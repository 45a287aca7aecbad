"""Marks the words of a document on which a decision rests."""

from __future__ import annotations

import html
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from seqclass._text import percent
from seqclass._validation import check_choice

STYLES = ("terminal", "markdown", "html")
#: Background of each class: codes of terminals, and light colours that black text stands out from.
_TERMINAL = (104, 103, 102, 105, 106, 101, 107)
_HTML = ("#a6cee3", "#fdd0a2", "#b2e2bf", "#e8bcd7", "#fee391", "#c9d7f0", "#d9d9d9")
_MARKDOWN_SIGNS = re.compile(r"([\\`*_{}\[\]<>()#+!|~&=-])")
#: Round brackets of a note, which are ours and mean nothing to Markdown by themselves.
_MARKDOWN_NOTE = re.compile(r"\\([()])")
#: Would let a document steer the terminal that shows it; tabs and line ends may stay.
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")


@dataclass(frozen=True)
class Word:
    """A word that was asked for.

    Attributes
    ----------
    text : str
        The word.
    present : bool
        Whether the document has it.
    towards : str or None
        Label of the class that gained most by the answer; None where none did.
    number : int
        Number of that class, which gives the colour.
    before, after : float
        Its probability before and after the answer.

    Examples
    --------
    >>> Word("great", True, "good", 1, 0.5, 0.8).towards
    'good'
    """

    text: str
    present: bool
    towards: str | None
    number: int
    before: float
    after: float


def mark_words(text: str, words: Sequence[Word], style: str = "terminal") -> str:
    """Mark the words that are present, and list what each of them, and each absent one, told.

    Parameters
    ----------
    text : str
        The document.
    words : sequence of Word
        The words that were asked for, in order.
    style : {"terminal", "markdown", "html"}
        Coloured by codes that terminals understand, bold in Markdown, or ``<mark>`` in HTML. What the document itself
        holds of such signs is escaped.

    Returns
    -------
    str

    Raises
    ------
    TypeError
        If the text is none.
    ValueError
        If the style is unknown.

    Examples
    --------
    >>> print(mark_words("A great film.", [Word("great", True, "good", 1, 0.5, 0.8)], "markdown"))
    A **great** film.
    <BLANKLINE>
    present: great (good 50.0% to 80.0%)
    """
    check_choice(style, "style", STYLES)
    if not isinstance(text, str):
        raise TypeError(f"text must be a document as str, got {type(text).__name__}.")
    escape, mark, join = _RENDERERS[style]
    known = {word.text.lower(): word for word in words if word.present and word.text}
    pieces: list[str] = []
    end = 0
    for match in _pattern(known).finditer(text) if known else ():
        pieces.append(escape(text[end : match.start()]))
        pieces.append(mark(escape(match.group()), _named(match.group(), known)))
        end = match.end()
    pieces.append(escape(text[end:]))
    lists = [("present", [w for w in words if w.present]), ("absent", [w for w in words if not w.present])]
    notes = [f"{title}: " + ", ".join(_told(word) for word in some) for title, some in lists if some]
    return join("".join(pieces), [escape(note) for note in notes])


def _pattern(known: dict[str, Word]) -> re.Pattern[str]:
    """Whole words only, the longest first, so that "not good" goes before "good"."""
    names = sorted((word.text for word in known.values()), key=lambda name: (-len(name), name))
    return re.compile(rf"(?<!\w)(?:{'|'.join(map(re.escape, names))})(?!\w)", re.IGNORECASE)


def _named(piece: str, known: dict[str, Word]) -> Word:
    """The word that a piece of the document is."""
    word = known.get(piece.lower())
    if word is None:
        # a pattern that ignores case takes the dotted capital I for an i, though its small form is another
        word = next(w for w in known.values() if re.fullmatch(re.escape(w.text), piece, re.IGNORECASE))
    return word


def _told(word: Word) -> str:
    if word.towards is None:
        return f"{word.text} (no change)"
    return f"{word.text} ({word.towards} {percent(word.before)} to {percent(word.after)})"


def _plain(text: str) -> str:
    return _CONTROL.sub("", text)


def _mark_terminal(piece: str, word: Word) -> str:
    return f"\x1b[30;{_TERMINAL[word.number % len(_TERMINAL)]}m{piece}\x1b[0m"


def _join_lines(text: str, notes: Sequence[str]) -> str:
    return "\n".join([text, *(["", *notes] if notes else [])])


def _escape_markdown(text: str) -> str:
    return _MARKDOWN_SIGNS.sub(r"\\\1", _plain(text))


def _escape_html(text: str) -> str:
    return html.escape(_plain(text))


def _join_markdown(text: str, notes: Sequence[str]) -> str:
    return "\n\n".join([text, *(_MARKDOWN_NOTE.sub(r"\1", note) for note in notes)])


def _mark_html(piece: str, word: Word) -> str:
    colour = _HTML[word.number % len(_HTML)]
    return f'<mark style="background:{colour}" title="{html.escape(_told(word))}">{piece}</mark>'


def _join_html(text: str, notes: Sequence[str]) -> str:
    small = "".join(f"<br><small>{note}</small>" for note in notes)
    return f'<p style="white-space:pre-wrap">{text}{small}</p>'


_Renderer = tuple[Callable[[str], str], Callable[[str, Word], str], Callable[[str, Sequence[str]], str]]
_RENDERERS: dict[str, _Renderer] = {
    "terminal": (_plain, _mark_terminal, _join_lines),
    "markdown": (_escape_markdown, lambda piece, word: f"**{piece}**", _join_markdown),
    "html": (_escape_html, _mark_html, _join_html),
}
