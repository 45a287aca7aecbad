"""Where a policy goes on, as shares of the belief simplex."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.base import clone

from reproduction._context import Context
from reproduction._pieces import Piece, compute
from reproduction._sets import SOURCES
from reproduction.pictures.regions import lattice
from reproduction.row import RegionMap, Row
from reproduction.table import Table, failure
from seqclass._utils.arrays import IntArray
from seqclass.analysis import stopping_regions
from seqclass.analysis.regions import one_row, spread
from seqclass.classifier import SequentialClassifier
from seqclass.pomdp import DECIDE, Policy
from seqclass.recipes import etana

__all__ = ["RegionsTable", "region_figures"]

_GOES_ON, _STOPS = "share of the simplex that goes on", "decisions with a stopping region"
#: Steps along an edge of the maps that are kept, and edge of those of the corners: at low prices a policy stops when it
#: is all but certain.
_STEPS, _CORNER = 80, 0.04


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
        if not context.readable(source.file):
            return
        made = {"published": etana(published=True), "ours": etana()}
        results = dict(zip(made, compute([self._piece(clf, context) for clf in made.values()], context)))
        failed = [failure(f"ETANA, {name},", result.error) for name, result in results.items()]
        note = "; ".join(filter(None, [source.differs, *failed]))
        names = context.dataset(source.file).class_names
        for stage in self.stages:
            for name, result in results.items():
                maps = result.figures.get(f"{stage}: maps", {})
                for corner, region in maps.items():
                    place = (names, _STEPS, tuple(region), int(corner), _CORNER if int(corner) >= 0 else 1.0)
                    context.curves.append(RegionMap(self.data, f"ETANA, stage {stage}", name, stage, *place))
            for quantity in (_GOES_ON, _STOPS):
                found: dict[str, Any] = {name: result[f"{stage}: {quantity}"] for name, result in results.items()}
                yield replace(Row(self.data, f"ETANA, stage {stage}", quantity, note=note), **found)

    def _piece(self, clf: SequentialClassifier, context: Context) -> Piece:
        source = SOURCES[self.data]
        seed = source.seeds[0]

        def arguments() -> tuple[Any, ...]:
            data = context.dataset(source.file)
            train, _ = source.protocol.split(data, 0, seed)
            return clf, data.X[train], data.y[train], self.stages

        depends_on = {
            **{"data": context.fingerprint(source.file), "protocol": source.protocol, "seed": seed},
            **{"estimator": clf, "stages": self.stages, "maps": (_STEPS, _CORNER)},
        }
        return Piece(f"the stopping regions of ETANA on {self.data}", region_figures, arguments, depends_on)


def region_figures(
    clf: SequentialClassifier, X: npt.NDArray[Any], y: npt.NDArray[Any], stages: Sequence[int]
) -> dict[str, Any]:
    """Fit a classifier, and tell by stage and quantity where its policy goes on; of three classes also the map.

    Parameters
    ----------
    clf : SequentialClassifier
        A clone is fitted.
    X, y : ndarray of shape (n, n_features) and (n,)
        Training rows.
    stages : sequence of int
        Features asked so far; those that the policy does not reach are left out.

    Returns
    -------
    dict
        By stage and quantity, and of three classes by stage ``"maps"``: by corner, ndarray of int as in a `RegionMap`.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> found = region_figures(etana(), *load_iris(return_X_y=True), stages=(0, 99))
    >>> list(found)
    ['0: share of the simplex that goes on', '0: decisions with a stopping region', '0: maps']
    """
    policy = clone(clf).fit(X, y).policy_
    found: dict[str, Any] = {}
    for stage in (k for k in stages if k < policy.n_stages):
        regions = stopping_regions(policy, stage)
        found[f"{stage}: {_GOES_ON}"] = float(regions.go_on_share)
        found[f"{stage}: {_STOPS}"] = float(np.unique(regions.region[regions.region >= 0]).size)
        if policy.problem.n_classes == 3:
            found[f"{stage}: maps"] = {str(corner): _map(policy, stage, corner) for corner in range(-1, 3)}
    return found


def _map(policy: Policy, stage: int, corner: int) -> IntArray:
    """Regions of the whole simplex, or of a corner, in the order of a `RegionMap`."""
    belief = lattice(_STEPS)[0]
    if corner >= 0:
        belief = _CORNER * belief + (1 - _CORNER) * np.eye(3)[corner]
    asked = spread(one_row(policy, stage, 0, 0), belief)
    return np.where(policy.action(asked) == DECIDE, policy.problem.decide(belief), DECIDE)
