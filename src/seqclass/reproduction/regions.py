"""Where a policy goes on, as shares of the belief simplex."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from sklearn.base import clone

from seqclass.analysis import stopping_regions
from seqclass.recipes import etana
from seqclass.reproduction._context import Context
from seqclass.reproduction._sets import SOURCES
from seqclass.reproduction.table import Row, Table

__all__ = ["RegionsTable"]


@dataclass(frozen=True)
class RegionsTable(Table):
    """Share of the belief simplex in which ETANA goes on, and the decisions at which it stops, at some stages.

    Attributes
    ----------
    data : str
        Data set, by the name of the paper.
    stages : tuple of int
        Features asked so far.

    Examples
    --------
    >>> RegionsTable("toy-1", "Regions", stages=(4,)).files()
    {'MLL': 'mll'}
    """

    note: str = "The paper prints a picture without figures, of three stopping regions."
    data: str = "MLL"
    stages: tuple[int, ...] = ()

    def files(self) -> Mapping[str, str]:
        """The one set."""
        return {self.data: SOURCES[self.data].file}

    def differs(self) -> dict[str, str]:
        """How the set differs from the paper's."""
        return {self.data: SOURCES[self.data].differs} if SOURCES[self.data].differs else {}

    def rows(self, context: Context) -> Iterator[Row]:
        """Fit to the training rows, and give two rows a stage."""
        source = SOURCES[self.data]
        if not context.available(source.file):
            return
        data = context.dataset(source.file)
        train, _ = source.protocol.split(data, 0, source.seeds[0])
        made = {"published": etana(published=True), "ours": etana()}
        fitted = {name: clone(clf).fit(data.X[train], data.y[train]) for name, clf in made.items()}
        for stage in self.stages:
            found = {}
            for name, clf in fitted.items():
                if stage < clf.policy_.n_stages:
                    found[name] = stopping_regions(clf.policy_, stage)
            share: dict[str, Any] = {name: regions.go_on_share for name, regions in found.items()}
            stops: dict[str, Any] = {
                name: np.unique(regions.region[regions.region >= 0]).size for name, regions in found.items()
            }
            method = f"ETANA, stage {stage}"
            yield replace(Row(self.data, method, "share of the simplex that goes on"), **share)
            yield replace(Row(self.data, method, "decisions with a stopping region"), **stops)
