"""A page of tables in short, out of its own figures: by paper what holds, what does not, and how far it is off."""

from __future__ import annotations

import itertools
import math
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from reproduction.catalog import PAPERS, get_tables, paper_of
from reproduction.pages import Page
from reproduction.papers import paper_items
from reproduction.render import number

__all__ = ["BEGIN", "END", "digest", "with_digest"]

#: What the digest stands between in a page that has one.
BEGIN, END = "<!-- python -m reproduction: digest -->", "<!-- python -m reproduction: end of digest -->"
#: How far a figure may be off and still hold, by the end of its quantity: a difference, and a share of the paper's.
_WITHIN = {
    "rank": (0.1, 0.0),
    "features": (0.5, 0.1),
    "accuracy": (0.02, 0.0),
    "stability": (0.02, 0.0),
}
_TIMES = re.compile(r"(, s|^ms a batch)$")
_P_VALUE = "-log10"
_INTERVAL = "test error less RFS's"
_SPREAD = ", s.d. over seeds"
#: Figures that are named of those that do not hold.
_NAMED = 2
_HEAD = """\
The table compares our figures, with the paper's settings, to those the papers print. A figure holds if it is within .02
(accuracy, stability), 10% or half a feature (numbers of features), or .1 (average ranks, of the paper's figures by our
test); "off by" is the median difference. The last column counts the accuracies of our defaults that are at least the
paper's less .02. Times are ours divided by the paper's, on another machine.
"""
_COLUMNS = (
    "| table | what | hold | off by | farthest off | our defaults |",
    "| --- | --- | ---: | ---: | --- | ---: |",
)


@dataclass(frozen=True)
class _Cell:
    """One figure of a page, with the table that it is in."""

    table: str
    data: str
    method: str
    quantity: str
    values: dict[str, float]

    @property
    def paper(self) -> float:
        return self.values.get("paper", math.nan)

    @property
    def here(self) -> float:
        """Ours with the paper's settings; with our defaults where there are none of those."""
        return self.values.get("published", self.values.get("ours", math.nan))

    @property
    def off(self) -> float:
        return abs(self.here - self.paper)

    @property
    def within(self) -> float:
        """How far it may be off."""
        ends = (limits for end, limits in _WITHIN.items() if self.quantity.endswith(end))
        least, share = next(ends, (0.0, 0.1))
        return max(least, share * abs(self.paper)) + 1e-9


def with_digest(page: str, tables: str | None = None) -> str:
    """Write the digest of a page's tables where the page has a place for it.

    Parameters
    ----------
    page : str
        A page of tables, whole.
    tables : str, optional
        The tables, if they are on other pages.

    Returns
    -------
    str
        The page; as it was, if it has no place.

    Examples
    --------
    >>> with_digest("a page without a place")
    'a page without a place'
    """
    before, begin, rest = page.partition(BEGIN)
    _, end, after = rest.partition(END)
    return f"{before}{BEGIN}\n\n{digest(page if tables is None else tables)}\n{END}{after}" if begin and end else page


def digest(page: str) -> str:
    """Sum up the tables of a page.

    Parameters
    ----------
    page : str
        What `markdown` wrote.

    Returns
    -------
    str
        A part for each paper, in Markdown.

    Examples
    --------
    >>> from reproduction import Reproduced, Row, get_tables, markdown
    >>> (table,) = get_tables(["etana-2"])
    >>> rows = Row("MLL", "ETANA", "accuracy", 1.0, published=0.93), Row("MLL", "OSFS", "accuracy", 0.8, published=0.8)
    >>> print(digest(markdown([Reproduced(table, rows, {})])).splitlines()[-1])
    | `etana-2` | accuracy | 1 of 2 | 0.035 | ETANA on MLL: 1, here 0.93 | - |
    """
    sections = Page.read(page).sections
    said, rows = [], []
    for paper, tables in itertools.groupby((t for t in get_tables() if t.name in sections), paper_of):
        cells = _first(cell for table in tables for cell in _cells(table.name, sections[table.name]))
        name = PAPERS[paper].partition(":")[0]
        text = " ".join([*_state(paper), *_spread(cells), *_intervals(cells)])
        said += [f"- **{name}.** {text}"] if text else []
        rows += [*_judged(cells), *_timed(cells)]
    return "\n".join(["## In short", "", _HEAD, *said, "", *_COLUMNS, *rows]) + "\n"


def _state(paper: str) -> Iterator[str]:
    """What is made of a paper's tables and figures, and why others are not."""
    items = paper_items(paper)
    reasons: dict[str, list[str]] = {}
    for item in items:
        kind, _, reason = item.state.partition(": ")
        if kind == "impossible":
            reasons.setdefault(reason.partition(": ")[0], []).append(item.number)
    made = sum(bool(item.tables) for item in items)
    idle = len(items) - made - sum(map(len, reasons.values()))
    if items:
        yield f"{made} of {len(items)} tables and figures are made; in {idle} there is nothing to compute."
    told = (f"{', '.join(numbers)} ({reason})" for reason, numbers in reasons.items())
    if reasons:
        yield f"Not possible: {'; '.join(told)}."


def _spread(cells: Sequence[_Cell]) -> Iterator[str]:
    """Largest standard deviation over seeds of each table that has them."""
    by_table: dict[str, list[float]] = {}
    for cell in cells:
        if cell.quantity.endswith(_SPREAD):
            by_table.setdefault(cell.table, []).extend(v for v in cell.values.values() if not math.isnan(v))
    for table, values in by_table.items():
        yield f"Standard deviation over seeds: at most {number(max(values))} (`{table}`)."


def _intervals(cells: Sequence[_Cell]) -> Iterator[str]:
    """Differences with the ends of their intervals, below and above zero."""
    by_key: dict[tuple[str, str], dict[str, float]] = {}
    for cell in cells:
        what, is_one, part = cell.quantity.partition(_INTERVAL)
        if is_one and not what:
            by_key.setdefault((cell.table, cell.method), {})[part] = next(iter(cell.values.values()))
    told: dict[str, list[str]] = {"lower": [], "higher": []}
    alike = set()
    for (_, method), parts in by_key.items():
        low, high = parts.get(", from", math.nan), parts.get(", to", math.nan)
        if low > 0 or high < 0:
            told["lower" if high < 0 else "higher"].append(f"{method} ({number(low)} to {number(high)})")
        elif not math.isnan(low):
            alike.add(method)
    for where, methods in told.items():
        if methods:
            yield f"Test error {where} than RFS's (95% intervals): {', '.join(dict.fromkeys(methods))}."
    if alike:
        yield f"No significant difference from RFS: {len(alike)} others."


def _judged(cells: Sequence[_Cell]) -> Iterator[str]:
    """A line for each table and quantity that the paper prints, but for times."""
    groups: dict[tuple[str, str], list[_Cell]] = {}
    for cell in cells:
        if not (math.isnan(cell.off) or _TIMES.search(cell.quantity) or cell.method.startswith(_P_VALUE)):
            groups.setdefault((cell.table, cell.quantity), []).append(cell)
    for (table, quantity), found in groups.items():
        far = sorted((c for c in found if c.off > c.within), key=lambda c: -c.off / c.within)
        named = "; ".join(f"{c.method} on {c.data}: {number(c.paper)}, here {number(c.here)}" for c in far[:_NAMED])
        hold = f"{len(found) - len(far)} of {len(found)}"
        middle = number(float(np.median([c.off for c in found])))
        yield f"| `{table}` | {quantity} | {hold} | {middle} | {named or '-'} | {_as_good(found, quantity)} |"


def _as_good(cells: Sequence[_Cell], quantity: str) -> str:
    """How many of our defaults are no less accurate than the paper says."""
    ours = [(c.values["ours"], c.paper) for c in cells if not math.isnan(c.values.get("ours", math.nan))]
    least = _WITHIN["accuracy"][0] + 1e-9
    return f"{sum(o >= p - least for o, p in ours)} of {len(ours)}" if ours and quantity == "accuracy" else "-"


def _timed(cells: Sequence[_Cell]) -> Iterator[str]:
    """One line of all times of a paper, as shares of the paper's."""
    timed = [c for c in cells if _TIMES.search(c.quantity) and c.paper > 0 and c.here > 0]
    if timed:
        ratios = np.quantile([c.here / c.paper for c in timed], [0.1, 0.5, 0.9])
        names = list(dict.fromkeys(f"`{c.table}`" for c in timed))
        low, middle, high = (number(float(ratio)) for ratio in ratios)
        yield f"| {', '.join(names)} | times | - | x {middle} | most x {low} to x {high} | - |"


def _first(cells: Iterable[_Cell]) -> list[_Cell]:
    """Each figure of a paper once: what a later table shows again is left out."""
    seen: dict[tuple[str, str, str, str], _Cell] = {}
    for cell in cells:
        key = cell.data, cell.method, cell.quantity
        seen.setdefault((*key, "" if not math.isnan(cell.paper) else cell.table), cell)
    return list(seen.values())


def _cells(table: str, section: str) -> Iterator[_Cell]:
    """Figures of a section, read back from its Markdown."""
    heads: list[list[str]] = []
    data = ""
    for line in section.splitlines():
        if not line.startswith("| "):
            heads = []
            continue
        words = line.removeprefix("| ").removesuffix(" |").split(" | ")
        if words[:2] == ["data", "method"]:
            heads = [word.split("<br>") for word in words[2:]]
        elif heads and not words[0].startswith("---"):
            data = words[0].strip() or data
            by_quantity: dict[str, dict[str, float]] = {}
            for head, word in zip(heads, words[2:]):
                by_quantity.setdefault(head[0], {})[head[-1] if len(head) > 1 else ""] = _value(word)
            yield from (_Cell(table, data, words[1], q, values) for q, values in by_quantity.items())


def _value(word: str) -> float:
    word = word.strip("*")
    return math.nan if word == "-" else float(word)
