"""Ridge regression, by the normal equations."""

from __future__ import annotations

import numpy as np
from scipy import linalg

from seqclass._arrays import FloatArray


def solved_ridge(gram: FloatArray, moments: FloatArray, penalty: float) -> FloatArray:
    """Weights from the products of the columns, to whose diagonal the penalty is added in place, and of the target.

    Examples
    --------
    >>> solved_ridge(np.array([[1.0, 0.0], [0.0, 3.0]]), np.array([1.0, 4.0]), 1.0)
    array([0.5, 1. ])
    """
    gram[np.diag_indices_from(gram)] += penalty
    return np.asarray(linalg.solve(gram, moments, assume_a="pos", check_finite=False))


def scaled_ridge(design: FloatArray, target: FloatArray, penalty: float) -> FloatArray:
    """Weights of columns that are brought to a mean square of one, in place, before the penalty counts.

    Examples
    --------
    >>> scaled_ridge(np.array([[2.0], [2.0]]), np.array([6.0, 6.0]), 0.0)
    array([3.])
    """
    scale = np.sqrt(np.mean(design**2, axis=0)) + np.finfo(float).tiny
    design /= scale
    return np.asarray(solved_ridge(design.T @ design, design.T @ target, penalty) / scale)
