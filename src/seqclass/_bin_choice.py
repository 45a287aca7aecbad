"""The choice between two ways to cut a feature, by what its bins say of labels that they have not seen."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from seqclass._arrays import FloatArray, IntArray
from seqclass._information import label_codes, tables_of


def left_out_information(codes: Any, y: npt.ArrayLike, n_outcomes: IntArray) -> FloatArray:
    """Mean log-probability of each row's label given its outcome, counted on all other rows, over the label's own.

    Counts are drawn to the shares of the classes with the weight of one row, so that an outcome which few rows show
    says little. Nats a row of those that are not missing, by feature; zero or less where the feature says nothing.

    Examples
    --------
    >>> codes = np.array([[0, 0], [0, 1], [1, 0], [1, 1]])
    >>> left_out_information(codes, [0, 0, 1, 1], np.array([2, 2])).round(2).tolist()
    [0.41, -0.69]
    """
    labels, n_classes = label_codes(y)
    found = np.zeros(codes.shape[1])
    for columns, counts in tables_of(codes, labels, n_classes, n_outcomes, None):
        found[columns] = left_out_by_counts(counts)
    return found


def left_out_by_counts(counts: FloatArray) -> FloatArray:
    """The same of counts of outcomes by class, (n_features, V, n_classes).

    Examples
    --------
    >>> left_out_by_counts(np.array([[[2.0, 0.0], [0.0, 2.0]], [[1.0, 1.0], [1.0, 1.0]]])).round(2).tolist()
    [0.41, -0.69]
    """
    by_outcome, by_class = counts.sum(axis=2, keepdims=True), counts.sum(axis=1, keepdims=True)
    total = by_class.sum(axis=2, keepdims=True)
    shown = counts > 0
    others = np.where(shown, counts - 1, 0.0)
    share = np.where(by_class > 0, by_class, 1.0) / np.maximum(total, 1)
    told = np.log((others + share) / np.maximum(by_outcome, 1)) - np.log(share)
    return np.asarray((counts * told).sum(axis=(1, 2)) / np.maximum(total[:, 0, 0], 1))
