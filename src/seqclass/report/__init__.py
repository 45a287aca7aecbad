"""Reports: a run as one HTML page that needs neither a server nor a network.

`write_report` makes the page; `explore` fits a classifier of the run once more, and the reader can step through what it
asked for.
"""

from __future__ import annotations

from seqclass.report.explore import Explored, explore
from seqclass.report.page import write_report

__all__ = ["Explored", "explore", "write_report"]
