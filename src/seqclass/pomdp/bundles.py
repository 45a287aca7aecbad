"""Questions that show several columns at once: their outcomes as one number."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from seqclass._utils.arrays import FloatArray, IntArray
from seqclass._utils.model_files import register
from seqclass._utils.stored import require, stored_array, stored_numbers
from seqclass._utils.validation import check_distribution

__all__ = ["Bundle"]


@register
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
        # numbers of outcomes are below this
        if self.n_codes >= 2**62:
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
        # where all rows share a table it is summed once for each pattern of missing features
        shared = len(likelihood) > 0 and likelihood.strides[0] == 0
        result = np.empty((len(codes), likelihood.shape[2]))
        patterns, which = np.unique(values >= 0, axis=0, return_inverse=True)
        for number, pattern in enumerate(patterns):
            rows = np.flatnonzero(which.reshape(-1) == number)
            joint = likelihood[:1] if shared else likelihood[rows]
            table = joint.reshape(len(joint), *self.sizes.tolist(), joint.shape[2])
            table = table.sum(axis=tuple((1 + np.flatnonzero(~pattern)).tolist()))
            place = (0 if shared else np.arange(len(rows)), *values[rows][:, pattern].T)
            result[rows] = table[place]
        return result

    def _check_stored(self) -> None:
        features = stored_array(self, "features", "i", None, low=0)
        require(len(np.unique(features)) == len(features) > 1, "features are wrong")
        again = Bundle(features, stored_array(self, "sizes", "i", len(features), low=1))
        require((self.n_complete, self.n_codes) == (again.n_complete, again.n_codes), "its outcomes are wrong")


@register
class DrawnBundle(Bundle):
    """A bundle of too many joint outcomes to list them, of features that are independent given a hidden state.

    Attributes
    ----------
    drawn : ndarray of int of shape (n_drawn,)
        Numbers of the outcomes.
    """

    def __init__(
        self,
        features: npt.ArrayLike,
        sizes: npt.ArrayLike,
        tables: npt.ArrayLike,
        share: npt.ArrayLike,
        n_drawn: int = 256,
    ) -> None:
        super().__init__(features, sizes)
        self.tables: FloatArray = np.asarray(tables, dtype=np.float64)
        self.share: FloatArray = np.asarray(share, dtype=np.float64)
        place = (np.arange(n_drawn) + 0.5) / n_drawn * self.share.sum()
        state = np.minimum(np.searchsorted(self.share.cumsum(), place), len(self.share) - 1)
        rng = np.random.default_rng([int(self.features[0]), len(self.sizes)])
        self.drawn: IntArray = self.draw(state, rng)

    def draw(self, state: IntArray, rng: np.random.Generator) -> IntArray:
        """Draw an outcome for each of some hidden states, (n,)."""
        uniforms = rng.random((len(state), len(self.sizes)))
        values = np.empty(uniforms.shape, dtype=np.intp)
        for place, table in enumerate(self.tables):
            cumulative = table.cumsum(axis=0).T[state]
            below = (cumulative <= uniforms[:, place, None] * cumulative[:, -1:]).sum(axis=1)
            values[:, place] = np.minimum(below, self.sizes[place] - 1)
        return self.encode(values)

    def likelihood(self, codes: IntArray) -> FloatArray:
        """P(what was seen | hidden state) of outcomes that may be partial, (n, n_hidden)."""
        codes, at = np.unique(codes, return_inverse=True)
        result = np.ones((len(codes), self.tables.shape[2]))
        for table, shown in zip(self.tables, self.decode(codes).T):
            seen = np.flatnonzero(shown >= 0)
            result[seen] *= table[shown[seen]]
        return np.asarray(result[at.reshape(-1)])

    @property
    def weights(self) -> FloatArray:
        """How much each of the outcomes drawn counts in each hidden state, (n_drawn, n_hidden); sums to one."""
        likelihood = self.likelihood(self.drawn)
        weight = likelihood / (likelihood @ self.share)[:, None]
        total = weight.sum(axis=0)
        # of a state that shows none of them nothing is known
        return np.where(total > 0, weight / np.where(total > 0, total, 1.0), 1 / len(weight))

    def _check_stored(self) -> None:
        tables = stored_numbers(self, "tables", len(self.sizes), None, None)
        require(tables.shape[1] >= int(self.sizes.max()), "tables have other outcomes")
        for table, size in zip(tables, self.sizes.tolist()):
            check_table(table, "tables")
            require(not table[size:].any(), "tables have other outcomes")
        check_distribution(self.share, tables.shape[2], "share")
        drawn = stored_array(self, "drawn", "i", None, low=0, high=self.n_complete - 1)
        require(len(drawn) > 0, "drawn holds no outcomes")


def _strides(sizes: IntArray) -> IntArray:
    return np.append(np.cumprod(sizes[:0:-1], dtype=np.int64)[::-1], 1)


def joint_tables(tables: FloatArray, sizes: Sequence[int]) -> FloatArray:
    """P(joint outcome | class) of features that are independent given the class."""
    joint = np.ones((1, tables.shape[2]))
    for table, size in zip(tables, sizes):
        joint = (joint[:, None] * table[None, :size]).reshape(-1, tables.shape[2])
    return joint


def check_table(table: FloatArray, name: str) -> None:
    """Refuse a table that is no distribution over outcomes, the last axis but one."""
    if not np.isfinite(table).all() or table.min() < 0:
        raise ValueError(f"{name} must hold probabilities; it has negative or non-finite entries.")
    if np.abs(table.sum(axis=-2) - 1).max() > 1e-6:
        raise ValueError(f"{name} must sum to 1 over outcomes for each class.")
