"""Markup: elements whose attributes are escaped, and text that is."""

from __future__ import annotations

import base64
import hashlib
import html
import json
from importlib.resources import files
from typing import Any

#: What ends a script element, or begins a comment in it, is written so that only JavaScript reads it as such.
_UNSAFE = {"<": "\\u003c", ">": "\\u003e", "&": "\\u0026", "\u2028": "\\u2028", "\u2029": "\\u2029"}
#: Marks that turn the direction of all text after them, also of text that is not theirs.
_TURNING = dict.fromkeys([*range(0x202A, 0x202F), *range(0x2066, 0x206A)], "\ufffd")
#: Elements that are never closed.
_VOID = ("meta", "input", "line", "path", "circle", "rect", "br")


def esc(text: object) -> str:
    """Text as it may stand in an element or an attribute; control characters, which HTML cannot hold, are marked.

    Marks that turn the direction of the text after them are marked too: names of others must not turn ours.

    Examples
    --------
    >>> esc("a<b & 'c'")
    'a&lt;b &amp; &#x27;c&#x27;'
    """
    shown = "".join(c if c >= " " or c in "\n\t" else "\ufffd" for c in str(text))
    return html.escape(shown.translate(_TURNING), quote=True)


def element(name: str, *children: str, **attributes: object) -> str:
    """One element; children are markup, attributes are escaped, without the ``_`` at their ends and None left out.

    Examples
    --------
    >>> element("p", esc("1 < 2"), class_="note", data_v=1)
    '<p class="note" data-v="1">1 &lt; 2</p>'
    >>> element("line", x1=0.12345)
    '<line x1="0.12"/>'
    """
    given = {key.rstrip("_").replace("_", "-"): value for key, value in attributes.items() if value is not None}
    inside = "".join(f' {key}="{esc(_attribute(value))}"' for key, value in given.items())
    content = "".join(children)
    return f"<{name}{inside}/>" if name in _VOID and not content else f"<{name}{inside}>{content}</{name}>"


def _attribute(value: object) -> str:
    return f"{value:.2f}".rstrip("0").rstrip(".") if isinstance(value, float) else str(value)


def script_json(content: Any) -> str:
    r"""JSON that may stand inside a script element.

    Examples
    --------
    >>> script_json({"a": "</script>"})
    '{"a":"\\u003c/script\\u003e"}'
    """
    text = json.dumps(content, allow_nan=False, separators=(",", ":"), ensure_ascii=False).translate(_TURNING)
    return "".join(_UNSAFE.get(c, c) for c in text) if any(c in text for c in _UNSAFE) else text


def resource(name: str) -> str:
    """Text of a file beside this module."""
    return (files(__package__) / name).read_text(encoding="utf-8")


def source_hash(text: str) -> str:
    """How a content security policy names a style or script that it lets pass."""
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"
