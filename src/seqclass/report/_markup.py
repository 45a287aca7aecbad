"""Markup, which is a type of its own: whatever else is put into a page is text, and is escaped."""

from __future__ import annotations

import base64
import hashlib
import json
from importlib.resources import files
from typing import Any

import markupsafe

#: What ends a script element, or begins a comment in it, is written so that only JavaScript reads it as such.
_UNSAFE = {"<": "\\u003c", ">": "\\u003e", "&": "\\u0026", "\u2028": "\\u2028", "\u2029": "\\u2029"}
#: Marks that turn the direction of all text after them, also of text that is not theirs.
_TURNING = dict.fromkeys([*range(0x202A, 0x202F), *range(0x2066, 0x206A)], "\ufffd")
#: Elements that are never closed.
_VOID = ("meta", "input", "line", "path", "circle", "rect", "br")


class Markup(markupsafe.Markup):
    """Text that is markup: adding, joining and formatting it escape whatever is not.

    ``Markup(...)`` says that its argument is markup, and so is given nothing but what stands in the source. Control
    characters, which HTML cannot hold, are marked, and so are marks that turn the direction of the text after them:
    names of others must not turn ours.

    Examples
    --------
    >>> print(Markup("<b>") + "a<b & 'c'" + Markup("</b>"))
    <b>a&lt;b &amp; &#39;c&#39;</b>
    """

    __slots__ = ()

    @classmethod
    def escape(cls, s: Any, /) -> Markup:
        """Text as it may stand in an element or an attribute; what is markup already, as it is."""
        if isinstance(s, markupsafe.Markup):
            return cls(s)
        shown = "".join(c if c >= " " or c in "\n\t" else "\ufffd" for c in str(s))
        return cls(markupsafe.escape(shown.translate(_TURNING)))


def together(*parts: str, between: str = "") -> Markup:
    """Parts one after the other; those that are text are escaped.

    Examples
    --------
    >>> print(together("1 < 2", element("br")))
    1 &lt; 2<br/>
    """
    return Markup.escape(between).join(parts)


def element(name: str, /, *children: str, **attributes: object) -> Markup:
    """One element; children that are text are escaped, as are attributes.

    Attributes are named without the ``_`` at their ends, and left out where None.

    Examples
    --------
    >>> print(element("p", "1 < 2", class_="note", data_v=1))
    <p class="note" data-v="1">1 &lt; 2</p>
    >>> print(element("line", x1=0.12345))
    <line x1="0.12"/>
    """
    given = {key.rstrip("_").replace("_", "-"): value for key, value in attributes.items() if value is not None}
    inside = "".join(f' {key}="{Markup.escape(_attribute(value))}"' for key, value in given.items())
    content = together(*children)
    return Markup(f"<{name}{inside}/>" if name in _VOID and not content else f"<{name}{inside}>{content}</{name}>")


def _attribute(value: object) -> str:
    return f"{value:.2f}".rstrip("0").rstrip(".") if isinstance(value, float) else str(value)


def script_json(content: Any) -> Markup:
    r"""JSON that may stand inside a script element.

    Examples
    --------
    >>> print(script_json({"a": "</script>"}))
    {"a":"\u003c/script\u003e"}
    """
    text = json.dumps(content, allow_nan=False, separators=(",", ":"), ensure_ascii=False).translate(_TURNING)
    return Markup("".join(_UNSAFE.get(c, c) for c in text) if any(c in text for c in _UNSAFE) else text)


def resource(name: str, package: str = __package__) -> Markup:
    """Style or script in a file beside the modules of a package, this one by default."""
    return Markup((files(package) / name).read_text(encoding="utf-8"))


def source_hash(text: str) -> str:
    """How a content security policy names a style or script that it lets pass."""
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"
