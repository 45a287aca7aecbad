"""Reproduction: the papers' tables and figures, their figures beside ours.

A table is data: which sets, methods and prices, and what the paper and the authors' code report. `reproduce` runs those
that the data at hand allows; what cannot be made is listed with the reason.
"""

from __future__ import annotations

from reproduction._sets import Source, Stream
from reproduction.catalog import get_tables, status
from reproduction.comparison import ComparisonTable, Entry
from reproduction.papers import PaperItem, paper_items
from reproduction.picture_files import save_picture
from reproduction.ranks import RankBlock, RanksTable
from reproduction.regions import RegionsTable
from reproduction.render import markdown, text
from reproduction.row import Curve, RegionMap, Row
from reproduction.run import Progress, Reproduced, iter_reproduced, reproduce
from reproduction.searches import SearchTable
from reproduction.selections import SelectionTable
from reproduction.sizes import BestSizeTable
from reproduction.streams import StreamEntry, StreamTable
from reproduction.table import Table

__all__ = [
    "BestSizeTable",
    "ComparisonTable",
    "Curve",
    "Entry",
    "PaperItem",
    "Progress",
    "RankBlock",
    "RanksTable",
    "RegionMap",
    "RegionsTable",
    "Reproduced",
    "Row",
    "SearchTable",
    "SelectionTable",
    "Source",
    "Stream",
    "StreamEntry",
    "StreamTable",
    "Table",
    "get_tables",
    "iter_reproduced",
    "markdown",
    "paper_items",
    "reproduce",
    "save_picture",
    "status",
    "text",
]
