"""Mutual information and symmetric uncertainty of discrete columns."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

from seqclass._arrays import FloatArray, IntArray
from seqclass._information import _mutual_information, tables_of
from seqclass.selection._measures import TOLERANCE, Columns, Dependence
from seqclass.selection._outcome_columns import outcome_columns
from seqclass.selection._pair_tables import Indicators, indicators, joint_information

#: Indicators are kept for the next comparison where they take less than this.
_KEPT_BYTES = 32 * 2**20


class InformationDependence(Dependence):
    """Mutual information in bits, or symmetric uncertainty 2 I / (H + H), over rows where both are present.

    Examples
    --------
    >>> measure = InformationDependence(True, 0.0, np.array([0, 0, 1, 1]), 2)
    >>> columns, relevance = measure.prepare(np.array([[0, 1], [0, 0], [1, 1], [1, 0]]), 0)
    >>> relevance, measure.pairs(columns, columns)
    (array([1., 0.]), array([[1., 0.],
           [0., 1.]]))
    """

    def __init__(self, normalised: bool, threshold: float, codes: IntArray, n_classes: int) -> None:
        self.normalised, self.threshold = normalised, threshold
        self.codes, self.n_classes = codes, n_classes

    def prepare(self, X: Any, first: int) -> tuple[Columns, FloatArray]:
        """Recode to outcomes; `stats` are the number of outcomes and the entropy in nats."""
        codes = outcome_columns(X, first)
        stats = np.empty((codes.shape[1], 2))
        relevance = np.empty(codes.shape[1])
        for part, counts in tables_of(codes, self.codes, self.n_classes, None, None):
            information, h_feature, h_class = _mutual_information(counts)
            present = counts.sum(axis=2) > 0
            stats[part, 0] = counts.shape[1] - np.argmax(present[:, ::-1], axis=1)
            stats[part, 1] = h_feature
            both = h_feature + h_class
            scaled = np.divide(2 * information, both, out=np.zeros_like(both), where=both > 0)
            relevance[part] = scaled if self.normalised else information / np.log(2)
        return Columns(codes, stats), relevance

    def relevant(self, relevance: FloatArray) -> Any:
        """Compare with the threshold."""
        return relevance > self.threshold + TOLERANCE

    def pairs(self, a: Columns, b: Columns) -> FloatArray:
        """Over the rows in which both columns are present."""
        result = np.empty((len(a), len(b)))
        for left in _indicators(a):
            for right in _indicators(b):
                result[np.ix_(left.columns, right.columns)] = joint_information(left, right, self.normalised)
        return result if self.normalised else result / np.log(2)


def _indicators(columns: Columns) -> list[Indicators]:
    if columns.cache is not None:
        return list(columns.cache)
    sizes = columns.stats[:, 0].astype(np.intp)
    groups = indicators(columns.values, sizes, columns.stats[:, 1])
    size = 0 if sp.issparse(columns.values) else 4 * columns.values.shape[0] * int(sizes.sum())
    if size < _KEPT_BYTES:
        columns.cache = groups
    return groups
