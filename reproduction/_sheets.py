"""How the rows of a table lie beside each other: a row a method on a data set, a group of columns a quantity."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from reproduction.table import Row

__all__ = ["SOURCES", "Sheet", "sheets"]

#: Whose figures a row has, in the order of the columns.
SOURCES = ("paper", "code", "published", "ours")
#: Most columns of figures beside each other.
_WIDEST = 9
#: A quantity, and whose figures of it are shown.
Group: TypeAlias = tuple[str, tuple[str, ...]]


@dataclass(frozen=True)
class Sheet:
    """Rows of a table that are shown beside each other: a row a method on a data set, a group of columns a quantity."""

    groups: tuple[Group, ...]
    rows: tuple[tuple[str, str, tuple[float, ...]], ...]


def sheets(rows: Sequence[Row]) -> list[Sheet]:
    """Lay rows out beside each other; columns without any figure are left out."""
    quantities = list(dict.fromkeys(row.quantity for row in rows))
    by_place: dict[tuple[str, str], dict[str, Row]] = {}
    for row in rows:
        by_place.setdefault((row.data, row.method), {})[row.quantity] = row
    groups = [(quantity, _sources(rows, quantity)) for quantity in quantities]
    single = all(len(_known(row)) <= 1 for row in rows) and any(len(shown) > 1 for _, shown in groups)
    if single:
        groups = [(quantity, ("",)) for quantity in quantities]
    found = []
    for part in _parts(groups):
        figures = tuple(
            (*place, tuple(_figure(of.get(quantity), source) for quantity, shown in part for source in shown))
            for place, of in by_place.items()
        )
        found.append(Sheet(tuple(part), figures))
    return found


def _known(row: Row) -> list[str]:
    return [name for name in SOURCES if not math.isnan(getattr(row, name))]


def _sources(rows: Sequence[Row], quantity: str) -> tuple[str, ...]:
    """Whose figures there are of a quantity; ours where there are none at all."""
    known = {name for row in rows if row.quantity == quantity for name in _known(row)}
    return tuple(name for name in SOURCES if name in known) or ("ours",)


def _figure(row: Row | None, source: str) -> float:
    if row is None:
        return math.nan
    if source:
        return float(getattr(row, source))
    known = _known(row)
    return float(getattr(row, known[0])) if known else math.nan


def _parts(groups: Sequence[Group]) -> list[list[Group]]:
    """Groups of columns cut into sheets that are not too wide, and about as wide as each other."""
    width = sum(len(shown) for _, shown in groups)
    n_parts = max(1, math.ceil(width / _WIDEST))
    return [[groups[i] for i in part] for part in np.array_split(np.arange(len(groups)), n_parts) if part.size]
