"""Tables: cells that sort by what they mean, and how figures are written."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from seqclass.report._markup import Markup, element, together

#: What stands where there is no figure.
NONE = "\N{EN DASH}"
#: Characters of a text that is not broken into lines.
_SHORT = 48


@dataclass(frozen=True)
class Number:
    """A figure in a table.

    Attributes
    ----------
    text : str
        How it is written.
    value : float
        What it is sorted by; NaN comes last, whichever way.
    interval : str
        What stands behind it, smaller.
    """

    text: str
    value: float
    interval: str = ""


def number(value: float, decimals: int, *, percent: bool = False) -> Number:
    """Figure with so many decimals, so that a column of them is aligned.

    Examples
    --------
    >>> number(0.0123, 1, percent=True).text, number(float("nan"), 2).text
    ('1.2%', '–')
    """
    if math.isnan(value):
        return Number(NONE, value)
    text = f"{100 * value:.{decimals}f}%" if percent else f"{value:.{decimals}f}"
    return Number(text, float(value))


def with_interval(value: float, lower: float, upper: float, decimals: int = 4, *, signed: bool = False) -> Number:
    """Figure with the ends of its interval, where it has one.

    Examples
    --------
    >>> with_interval(0.5, 0.4, 0.6, 2).interval
    '[0.40, 0.60]'
    >>> with_interval(0.5, 0.4, 0.6, 2, signed=True).text
    '+0.50'
    """
    plain, sign = number(value, decimals), "+" if signed else ""
    if not math.isnan(value):
        plain = Number(f"{value:{sign}.{decimals}f}", plain.value)
    if math.isnan(value) or math.isnan(lower) or math.isnan(upper):
        return plain
    return Number(plain.text, plain.value, f"[{lower:{sign}.{decimals}f}, {upper:{sign}.{decimals}f}]")


def prices(values: Sequence[float]) -> list[Number]:
    """Prices, with as many decimals as the one that needs most.

    Examples
    --------
    >>> [price.text for price in prices([0.01, 0.5])]
    ['0.01', '0.50']
    """
    shown = [f"{value:.6f}".rstrip("0") for value in values]
    decimals = max((len(text.partition(".")[2]) for text in shown), default=0)
    # one too small to be written in this way is still told from nothing
    tiny = any(0 < value < 5e-7 for value in values)
    return [Number(f"{value:.3e}" if tiny else f"{value:.{decimals}f}", float(value)) for value in values]


def count(n: int) -> Number:
    """Whole number.

    Examples
    --------
    >>> count(1234).text
    '1,234'
    """
    return Number(f"{n:,}", float(n))


def table(
    caption: str, header: Sequence[str], rows: Sequence[Sequence[str | Number]], *, sortable: bool = True
) -> Markup:
    """Write a table that scrolls within the page; the first cell of a row is its heading.

    Examples
    --------
    >>> print(table("Ages", ["name", "age"], [["<a>", count(3)]]).splitlines()[1])
    <tr><th scope="row">&lt;a&gt;</th><td class="n" data-v="3.0">3</td></tr>
    """
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
    return "long" if len(text) > _SHORT or "\n" in text else None
