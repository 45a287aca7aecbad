"""Questions that show several columns at once: their outcomes as one number."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from seqclass._arrays import FloatArray, IntArray

#: Numbers of outcomes are below this.
_MOST_CODES = 2**62


class Bundle:
    """Several features that one question shows at once, any of which may be missing.

    Their outcomes are one number: those in which all features are seen come first, in the order of an array of shape
    ``sizes``, then those in which some are missing; -1 where all are.

    Parameters
    ----------
    features : array-like of int of shape (m,)
        The features.
    sizes : array-like of int of shape (m,)
        Number of outcomes of each.

    Attributes
    ----------
    n_complete : int
        Number of outcomes in which all features are seen.
    n_codes : int
        One more than the largest number of an outcome.

    Raises
    ------
    ValueError
        If a number would not fit into 64 bits.

    Examples
    --------
    >>> bundle = Bundle([4, 7], [2, 3])
    >>> bundle.encode([[1, 2], [0, -1], [-1, -1]])
    array([ 5, 10, -1])
    >>> bundle.decode([5, 10, -1]).tolist()
    [[1, 2], [0, -1], [-1, -1]]
    """

    def __init__(self, features: npt.ArrayLike, sizes: npt.ArrayLike) -> None:
        self.features: IntArray = np.array(features, dtype=np.intp)
        self.sizes: IntArray = np.array(sizes, dtype=np.intp)
        self.n_complete = math.prod(self.sizes.tolist())
        self.n_codes = self.n_complete + math.prod((self.sizes + 1).tolist())
        if self.n_codes >= _MOST_CODES:
            raise ValueError(
                f"a bundle of {len(self.sizes)} columns with {self.sizes.tolist()} outcomes has more joint outcomes "
                "than can be numbered; use fewer bins, or several bundles."
            )

    def encode(self, values: npt.ArrayLike) -> IntArray:
        """Number of each outcome.

        Parameters
        ----------
        values : array-like of int of shape (n, m)
            What each feature showed, -1 where it is missing.

        Returns
        -------
        ndarray of int of shape (n,)

        Raises
        ------
        ValueError
            If a value is out of range; the message names the feature.
        """
        shown = np.asarray(values, dtype=np.int64)
        wrong = (shown < -1) | (shown >= self.sizes)
        if wrong.any():
            row, place = (int(at[0]) for at in np.nonzero(wrong))
            raise ValueError(
                f"feature {self.features[place]}: outcome {shown[row, place]} is not in 0..{self.sizes[place] - 1} (-1 "
                "is missing)."
            )
        complete = shown @ _strides(self.sizes)
        partial = self.n_complete + (shown + 1) @ _strides(self.sizes + 1)
        seen = shown >= 0
        return np.where(seen.all(axis=1), complete, np.where(seen.any(axis=1), partial, -1))

    def decode(self, codes: npt.ArrayLike) -> IntArray:
        """What each feature showed, (n, m); -1 where it is missing; the inverse of `encode`."""
        code = np.asarray(codes, dtype=np.int64)[:, None]
        complete = code // _strides(self.sizes) % self.sizes
        partial = np.maximum(code - self.n_complete, 0) // _strides(self.sizes + 1) % (self.sizes + 1) - 1
        return np.where(code < 0, -1, np.where(code < self.n_complete, complete, partial))

    def marginal(self, likelihood: FloatArray, codes: IntArray) -> FloatArray:
        """P(what was seen | class) of outcomes that may be partial, from those that are complete.

        Parameters
        ----------
        likelihood : ndarray of shape (n, n_complete, n_classes)
            P(complete outcome | class).
        codes : ndarray of int of shape (n,)
            The outcomes, not -1.

        Returns
        -------
        ndarray of shape (n, n_classes)
        """
        values = self.decode(codes)
        result = np.empty((len(codes), likelihood.shape[2]))
        patterns, which = np.unique(values >= 0, axis=0, return_inverse=True)
        for number, pattern in enumerate(patterns):
            rows = np.flatnonzero(which.reshape(-1) == number)
            joint = likelihood[rows].reshape(len(rows), *self.sizes.tolist(), -1)
            table = joint.sum(axis=tuple((1 + np.flatnonzero(~pattern)).tolist()))
            place = (np.arange(len(rows)), *values[rows][:, pattern].T)
            result[rows] = table[place]
        return result


def _strides(sizes: IntArray) -> IntArray:
    return np.append(np.cumprod(sizes[:0:-1], dtype=np.int64)[::-1], 1)


def joint_tables(tables: FloatArray, sizes: Sequence[int]) -> FloatArray:
    """P(joint outcome | class) of features that are independent given the class.

    Parameters
    ----------
    tables : ndarray of shape (m, V, n_classes)
        P(outcome | class) of each feature, zero beyond its own outcomes.
    sizes : sequence of int of length m
        Number of outcomes of each.

    Returns
    -------
    ndarray of shape (product of sizes, n_classes)

    Examples
    --------
    >>> joint_tables(np.array([[[0.9], [0.1]], [[0.5], [0.5]]]), [2, 2]).ravel()
    array([0.45, 0.45, 0.05, 0.05])
    """
    joint = np.ones((1, tables.shape[2]))
    for table, size in zip(tables, sizes):
        joint = (joint[:, None] * table[None, :size]).reshape(-1, tables.shape[2])
    return joint
