"""Markup, which is a type of its own: whatever else is put into a page is text, and is escaped."""

from __future__ import annotations

import base64
import hashlib
import json
import math
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.resources import files
from typing import Any

import markupsafe

#: What ends a script element, or begins a comment in it, is written so that only JavaScript reads it as such.
_UNSAFE = {"<": "\\u003c", ">": "\\u003e", "&": "\\u0026", "\u2028": "\\u2028", "\u2029": "\\u2029"}
#: Marks that turn the direction of all text after them, also of text that is not theirs.
_TURNING = dict.fromkeys([*range(0x202A, 0x202F), *range(0x2066, 0x206A)], "\ufffd")
#: Elements that are never closed.
_VOID = ("meta", "input", "path", "rect", "use", "br")


class Markup(markupsafe.Markup):
    """Text that is markup: adding, joining and formatting it escape whatever is not.

    ``Markup(...)`` says that its argument is markup, and so is given nothing but what stands in the source. Control
    characters, which HTML cannot hold, are marked, and so are marks that turn the direction of the text after them:
    names of others must not turn ours.
    """

    __slots__ = ()

    @classmethod
    def escape(cls, s: Any, /) -> Markup:
        """Text as it may stand in an element or an attribute; what is markup already, as it is."""
        if isinstance(s, markupsafe.Markup):
            return cls(s)
        printable = "".join(c if c >= " " or c in "\n\t" else "\ufffd" for c in str(s))
        return cls(markupsafe.escape(printable.translate(_TURNING)))


def together(*parts: str, between: str = "") -> Markup:
    """Parts one after the other; those that are text are escaped."""
    return Markup.escape(between).join(parts)


def element(name: str, /, *children: str, **attributes: object) -> Markup:
    """One element; children that are text are escaped, as are attributes."""
    present = {key.rstrip("_").replace("_", "-"): value for key, value in attributes.items() if value is not None}
    inside = "".join(f' {key}="{Markup.escape(_attribute(value))}"' for key, value in present.items())
    content = together(*children)
    return Markup(f"<{name}{inside}/>" if name in _VOID and not content else f"<{name}{inside}>{content}</{name}>")


def _attribute(value: object) -> str:
    return f"{value:.2f}".rstrip("0").rstrip(".") if isinstance(value, float) else str(value)


def script_json(content: Any) -> Markup:
    r"""JSON that may stand inside a script element."""
    text = json.dumps(content, allow_nan=False, separators=(",", ":"), ensure_ascii=False).translate(_TURNING)
    return Markup("".join(_UNSAFE.get(c, c) for c in text) if any(c in text for c in _UNSAFE) else text)


def resource(name: str, package: str = __package__) -> Markup:
    """Style or script in a file beside the modules of a package, this one by default."""
    return Markup((files(package) / name).read_text(encoding="utf-8"))


def source_hash(text: str) -> str:
    """How a content security policy names a style or script that it lets pass."""
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"


def document(
    title: str, style: Markup, scripts: Sequence[Markup], *body: Markup, limits: str = "", language: str = "en"
) -> Markup:
    """A page that is whole by itself, and lets nothing pass but its own style and scripts, within further limits."""
    policy = (
        f"default-src 'none'; base-uri 'none'; {limits}style-src {source_hash(style)}; "
        f"script-src {' '.join(map(source_hash, scripts))}"
    )
    head = element(
        "head",
        element("meta", charset="utf-8"),
        element("meta", http_equiv="Content-Security-Policy", content=policy),
        element("meta", name="viewport", content="width=device-width, initial-scale=1"),
        element("title", title),
        element("style", style),
    )
    code = [element("script", script) for script in scripts]
    whole = element("html", head, "\n", element("body", *body, "\n", *code), lang=language)
    return together(Markup("<!DOCTYPE html>\n"), whole, "\n")


#: What stands where there is no figure.
NONE = "\N{EN DASH}"


@dataclass(frozen=True)
class Number:
    """A figure in a table."""

    text: str
    value: float
    interval: str = ""


def number(value: float, decimals: int, *, percent: bool = False) -> Number:
    """Figure with so many decimals, so that a column of them is aligned."""
    if math.isnan(value):
        return Number(NONE, value)
    text = f"{100 * value:.{decimals}f}%" if percent else f"{value:.{decimals}f}"
    return Number(text, float(value))


def with_interval(value: float, lower: float, upper: float, decimals: int = 4, *, signed: bool = False) -> Number:
    """Figure with the ends of its interval, where it has one."""
    plain, sign = number(value, decimals), "+" if signed else ""
    if not math.isnan(value):
        plain = Number(f"{value:{sign}.{decimals}f}", plain.value)
    if math.isnan(value) or math.isnan(lower) or math.isnan(upper):
        return plain
    return Number(plain.text, plain.value, f"[{lower:{sign}.{decimals}f}, {upper:{sign}.{decimals}f}]")


def prices(values: Sequence[float]) -> list[Number]:
    """Prices, with as many decimals as the one that needs most."""
    texts = [f"{value:.6f}".rstrip("0") for value in values]
    decimals = max((len(text.partition(".")[2]) for text in texts), default=0)
    # one too small to be written in this way is still told from nothing
    tiny = any(0 < value < 5e-7 for value in values)
    return [Number(f"{value:.3e}" if tiny else f"{value:.{decimals}f}", float(value)) for value in values]


def count(n: int) -> Number:
    """Whole number."""
    return Number(f"{n:,}", float(n))


def table(
    caption: str, header: Sequence[str], rows: Sequence[Sequence[str | Number]], *, sortable: bool = True
) -> Markup:
    """Write a table that scrolls within the page; the first cell of a row is its heading."""
    numeric = [any(isinstance(row[j], Number) for row in rows) for j in range(len(header))]
    head = [element("th", t, scope="col", class_="n" if n else None) for t, n in zip(header, numeric)]
    whole = element(
        "table",
        element("caption", element("span", caption)),
        element("thead", element("tr", *head)),
        element("tbody", "\n", together(*map(_row, rows), between="\n"), "\n"),
        class_="sortable" if sortable else None,
    )
    return element("div", whole, class_="scroll", tabindex=0, role="region", aria_label=caption)


def _row(row: Sequence[str | Number]) -> Markup:
    first, *rest = row
    heading = first.text if isinstance(first, Number) else first
    return element("tr", element("th", heading, scope="row", class_=_class(heading)), *map(_cell, rest))


def _cell(cell: str | Number) -> Markup:
    if isinstance(cell, str):
        return element("td", cell, class_=_class(cell))
    behind = [" ", element("small", cell.interval)] if cell.interval else []
    # sorted by all its digits, not by those that are shown
    value = "" if math.isnan(cell.value) else repr(cell.value)
    return element("td", cell.text, *behind, class_="n", data_v=value)


def _class(text: str) -> str | None:
    return "long" if len(text) > 48 or "\n" in text else None  # not broken into lines
