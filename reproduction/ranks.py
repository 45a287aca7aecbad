"""Average ranks of methods over data sets, and Friedman's test: on the figures that a paper prints, and on ours."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from reproduction._context import Context
from reproduction.row import Row
from reproduction.table import Table
from seqclass._utils.arrays import FloatArray
from seqclass.stats import friedman_test
from seqclass.stats.friedman import FriedmanTest

__all__ = ["RankBlock", "RanksTable"]

_P = "-log10 of Friedman's p"


@dataclass(frozen=True)
class RankBlock:
    """One quantity by which methods are ranked on each data set.

    Attributes
    ----------
    quantity : str
        What is ranked.
    printed : mapping of (str, str) to float
        The figures that the paper prints, by data set and method; NaN where a method did not end, which is then ranked
        behind all that did.
    ranks : mapping of str to float
        Average ranks that the paper prints, by method.
    p : float
        The p-value that it prints; NaN if none.
    tables : tuple of Table
        Where ours are; rows of the same data set and method are added up.
    quantities : tuple of str
        Quantities of those rows that are taken.
    higher_is_better : bool
        Whether rank 1 is the highest; the paper's ranks are of the same kind.
    where : str
        The table that it is from, if not all blocks are from the same ones.

    Examples
    --------
    >>> block = RankBlock("accuracy", {("a", "x"): 0.9, ("a", "y"): 0.8, ("b", "x"): 0.7, ("b", "y"): 0.9}, {"x": 1.5})
    >>> block.methods
    ('x', 'y')
    """

    quantity: str
    printed: Mapping[tuple[str, str], float]
    ranks: Mapping[str, float]
    p: float = math.nan
    tables: tuple[Table, ...] = ()
    quantities: tuple[str, ...] = ("accuracy",)
    higher_is_better: bool = True
    where: str = ""

    @property
    def methods(self) -> tuple[str, ...]:
        """The methods, as they are printed."""
        return tuple(dict.fromkeys(method for _, method in self.printed))

    def test(self, scores: Mapping[tuple[str, str], float], sets: tuple[str, ...]) -> FriedmanTest | None:
        """Friedman's test of Iman and Davenport, without a correction for ties; None of fewer than two sets."""
        if len(sets) < 2:
            return None
        table: FloatArray = np.array([[scores.get((data, m), math.nan) for m in self.methods] for data in sets])
        worst = np.nanmin(table) - 1 if self.higher_is_better else np.nanmax(table) + 1
        table = np.where(np.isnan(table), worst, table)
        return friedman_test(table, higher_is_better=self.higher_is_better, correct_ties=False)


@dataclass(frozen=True)
class RanksTable(Table):
    """Average ranks and Friedman's p-value, of the paper's figures and of ours on the sets that are here.

    Attributes
    ----------
    blocks : tuple of RankBlock
        A quantity each.

    Examples
    --------
    >>> RanksTable("toy-1", "Ranks").files()
    {}
    """

    blocks: tuple[RankBlock, ...] = ()

    def files(self) -> Mapping[str, str]:
        """Files of the tables that are ranked."""
        return {name: file for block in self.blocks for table in block.tables for name, file in table.files().items()}

    def differs(self) -> dict[str, str]:
        """Sets of those tables that are not quite the paper's."""
        return {name: how for block in self.blocks for table in block.tables for name, how in table.differs().items()}

    def rows(self, context: Context) -> Iterator[Row]:
        """The test of the printed figures, and that of ours, each a row a method and one for p."""
        for block in self.blocks:
            sets = tuple(dict.fromkeys(data for data, _ in block.printed))
            test = {"published": block.test(block.printed, sets)}
            yield from _rows(block, f"{block.where or 'the paper'}: {len(sets)} sets", _printed(block), test)
            found = [row for table in block.tables for row in table.rows(context)]
            ours = {source: _scores(block, found, source) for source in ("published", "ours")}
            here = tuple(data for data in sets if any(key[0] == data for key in ours["published"]))
            if len(here) > 1:
                paper = _ranked(block, block.test(block.printed, here))
                tests = {source: block.test(scores, here) for source, scores in ours.items() if _complete(scores, here)}
                yield from _rows(block, f"here: {len(here)} sets", paper, tests)


def _printed(block: RankBlock) -> dict[str, float]:
    return {**block.ranks, _P: -math.log10(block.p)}


def _ranked(block: RankBlock, test: FriedmanTest | None) -> dict[str, float]:
    """Average ranks by method, and p."""
    if test is None:
        return {}
    p = max(test.f_p, np.finfo(float).tiny)
    return {**dict(zip(block.methods, test.average_ranks.tolist())), _P: -math.log10(p)}


def _rows(
    block: RankBlock, data: str, paper: Mapping[str, float], tests: Mapping[str, FriedmanTest | None]
) -> Iterator[Row]:
    found = {source: _ranked(block, test) for source, test in tests.items()}
    quantity = ", ".join(filter(None, [block.quantity, "average rank"]))
    for method in (*block.methods, _P):
        published, ours = (found.get(source, {}).get(method, math.nan) for source in ("published", "ours"))
        yield Row(data, method, quantity, paper.get(method, math.nan), published=published, ours=ours)


def _scores(block: RankBlock, rows: Sequence[Row], source: str) -> dict[tuple[str, str], float]:
    """Our figures by data set and method, those of several quantities added up."""
    found: dict[tuple[str, str], float] = {}
    for row in rows:
        if row.quantity in block.quantities and row.method in block.methods:
            found[row.data, row.method] = found.get((row.data, row.method), 0.0) + getattr(row, source)
    return found


def _complete(scores: Mapping[tuple[str, str], float], sets: tuple[str, ...]) -> bool:
    """Whether any method has a figure on each set."""
    return all(any(key[0] == data and not math.isnan(value) for key, value in scores.items()) for data in sets)
