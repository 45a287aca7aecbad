"""Tables in which a method's number of features is the one that scores best."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace

from reproduction._context import Context
from reproduction.comparison import ComparisonTable
from reproduction.row import Row

__all__ = ["BestSizeTable"]


@dataclass(frozen=True)
class BestSizeTable(ComparisonTable):
    """Some methods are run with several numbers of features, of which the one with the highest accuracy stands.

    The accuracy is that on the scored rows themselves, as published, so that it is optimistic.

    Attributes
    ----------
    stands_for : mapping of str to str
        The method that an entry is a size of, by the entry's method; others stand for themselves.
    best : mapping of (str, str) to mapping
        The paper's figures of those methods by data set and method, and then by quantity.

    Examples
    --------
    >>> BestSizeTable("toy-1", "Sizes", stands_for={"OFS, 5 features": "OFS"}).files()
    {}
    """

    stands_for: Mapping[str, str] = field(default_factory=dict)
    best: Mapping[tuple[str, str], Mapping[str, float]] = field(default_factory=dict)

    def rows(self, context: Context) -> Iterator[Row]:
        """Run all sizes, and give those rows that stand."""
        sized = replace(self, quantities=tuple(dict.fromkeys(("accuracy", *self.quantities))))
        by_entry: dict[tuple[str, str], dict[str, Row]] = {}
        for row in super(BestSizeTable, sized).rows(context):
            by_entry.setdefault((row.data, row.method), {})[row.quantity] = row
        best: dict[tuple[str, str], dict[str, Row]] = {}
        for (data, method), rows in by_entry.items():
            key = data, self.stands_for.get(method, method)
            if key not in best or _accuracy(rows) > _accuracy(best[key]):
                best[key] = rows
        for (data, method), rows in best.items():
            paper = self.best.get((data, method), {})
            for quantity in self.quantities:
                row = rows[quantity]
                yield replace(row, method=method, paper=paper.get(quantity, row.paper))


def _accuracy(rows: Mapping[str, Row]) -> float:
    value = rows["accuracy"].published
    return -1.0 if math.isnan(value) else value
