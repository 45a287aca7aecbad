"""Reproduction: the papers' tables and figures, their figures beside ours.

A table is data: which sets, methods and prices, and what the paper and the authors' code report. `reproduce` runs those
that the data at hand allows; what cannot be made is listed with the reason.
"""

from __future__ import annotations

from seqclass.reproduction._sets import Source, Stream
from seqclass.reproduction.catalog import get_tables, status
from seqclass.reproduction.comparison import ComparisonTable, Entry
from seqclass.reproduction.papers import PaperItem, paper_items
from seqclass.reproduction.picture_files import save_picture
from seqclass.reproduction.ranks import RankBlock, RanksTable
from seqclass.reproduction.regions import RegionsTable
from seqclass.reproduction.render import markdown, text
from seqclass.reproduction.row import Curve, RegionMap, Row
from seqclass.reproduction.run import Progress, Reproduced, iter_reproduced, reproduce
from seqclass.reproduction.searches import SearchTable
from seqclass.reproduction.selections import SelectionTable
from seqclass.reproduction.sizes import BestSizeTable
from seqclass.reproduction.streams import StreamEntry, StreamTable
from seqclass.reproduction.table import Table

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
