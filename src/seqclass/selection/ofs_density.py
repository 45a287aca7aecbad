"""OFS-Density: features that stream in are kept by the dependency of the class on them, with neighbours by density."""

from __future__ import annotations

from typing import Any

import numpy as np

from seqclass._utils.arrays import FloatArray, IntArray
from seqclass.selection._dependence import TOLERANCE
from seqclass.selection._rough_set import Density, RoughSetStream


class OFSDensity(RoughSetStream):
    r"""Online streaming feature selection with neighbourhoods by density: no thresholds to set.

    The neighbours of a row are the nearest other row and those after it, by Euclidean distance in the columns in
    question (each divided by its standard deviation), as long as :math:`d_{(j)} / j`, the distance of the j-th nearest
    over its rank, does not grow; rows at distance 0 always are. The class depends on a set S by the mean over rows of
    the share :math:`\gamma(S)` of neighbours that are of the row's class.

    A new feature f is looked at if :math:`\gamma(\{f\})` is at least the mean of that of the features kept. It is kept
    if :math:`\gamma(S \cup \{f\}) > \gamma(S)`. If it is lower by at most 5% (the fuzzy equal constraint), it is kept
    too, and those of the others are dropped, in random order, without which the dependency does not fall. If the
    dependency is then still below what it was before the feature came, all stays as it was.

    Parameters
    ----------
    published : bool, default=False
        Whether to follow the authors' program where it differs from this: among equal rows it leaves the first out of
        all their neighbourhoods, so that the others count themselves, which raises the dependency on few columns with
        few values (see the notes). A feature that lowers the dependency by up to 5% and makes nothing redundant is then
        kept.
    max_bytes, random_state
        As in `OFSA3M`.

    Attributes
    ----------
    selected_ : ndarray of int
        Features kept, in order of arrival.
    dependency_ : float
        Dependency of the class on the features kept; with ``published=True``, before the features came that lowered it.
    support_, classes_, n_features_in_, feature_names_in_, n_seen_
        As in all feature streams.

    Notes
    -----
    Constant features are dropped, as they have no scale. Comparisons allow for rounding, so that neither the order of
    the rows nor a change of units matters.

    In the authors' program a feature that lowers the dependency by up to 5% and makes nothing redundant is kept, and
    neither `dependency_` nor the mean that the next ones must reach follows it down: if no feature predicts the class
    well, nearly everything is kept. See `OFSA3M` for what it does on Madelon.

    A copy of the only feature kept takes its place; among several features a copy doubles the weight of its feature.

    Values are numbers; sparse columns are made dense a few at a time. A column costs at most O(n^2) for each feature
    kept, and much less if the nearest 32 rows are enough or rows are equal.

    References
    ----------
    P. Zhou, X. Hu, P. Li, X. Wu, "OFS-Density: a novel online streaming feature selection method", Pattern Recognition
    86, 2019.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> y = np.repeat([0, 1], 50)
    >>> X = rng.normal(size=(100, 4))
    >>> X[:, 0] += 9 * y
    >>> selector = OFSDensity(random_state=0).fit(X, y)
    >>> selector.get_support(indices=True), selector.dependency_
    (array([0]), 1.0)
    """

    def _begin(self, codes: IntArray) -> None:
        super()._begin(codes)
        self._mean = 0.0

    def _rule(self, n: int) -> Density:
        return Density()

    def _single_dependency(self, X: FloatArray) -> FloatArray:
        return self._single.with_column(X, floor=self._mean - TOLERANCE)

    def _relevant(self, own: FloatArray) -> Any:
        return own >= self._mean - TOLERANCE

    def _least_dependency(self) -> float:
        return (1 - 0.05) * self._dependency - TOLERANCE  # dependencies count as equal within a twentieth

    def _redundant(self, without: float, dependency: float) -> bool:
        return without >= dependency - TOLERANCE

    def _prune(self, column: FloatArray, dependency: float, order: IntArray) -> tuple[list[int] | None, float]:
        gone, dependency = super()._prune(column, dependency, order)
        if dependency < self._dependency - TOLERANCE:
            return None, dependency
        self._dependency = dependency
        return gone, dependency

    def _follow(self) -> None:
        self._mean = float(np.mean(self._dependencies))
