"""Reproduction: the papers' tables and figures, their figures beside ours.

A table is data: which sets, methods and prices, and what the paper and the authors' code report. `reproduce` runs those
that the data at hand allows; what cannot be made is listed with the reason.
"""

from __future__ import annotations

from seqclass.reproduction._sets import Source, Stream
from seqclass.reproduction.comparison import ComparisonTable, Entry
from seqclass.reproduction.regions import RegionsTable
from seqclass.reproduction.render import markdown
from seqclass.reproduction.run import Reproduced, get_tables, reproduce, status
from seqclass.reproduction.searches import SearchTable
from seqclass.reproduction.streams import StreamEntry, StreamTable
from seqclass.reproduction.table import Row, Table

__all__ = [
    "ComparisonTable",
    "Entry",
    "RegionsTable",
    "Reproduced",
    "Row",
    "SearchTable",
    "Source",
    "Stream",
    "StreamEntry",
    "StreamTable",
    "Table",
    "get_tables",
    "markdown",
    "reproduce",
    "status",
]
