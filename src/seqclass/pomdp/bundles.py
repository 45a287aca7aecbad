"""Questions that show several columns at once: their outcomes as one number."""

from __future__ import annotations

import math
from functools import cached_property

import numpy as np
import numpy.typing as npt

from seqclass._utils.arrays import FloatArray, IntArray, draw_columns, smallest_int
from seqclass._utils.model_files import register
from seqclass._utils.stored import require, require_array, require_numbers
from seqclass._utils.validation import check_distribution

__all__ = ["Bundle"]


@register
class Bundle:
    """Several features that one question shows at once, any of which may be missing.

    Their outcomes are one number: those in which all features are seen come first, in the order of an array of shape
    ``sizes``, then those in which some are missing; -1 where all are. Where they are too many to be numbered so, as of
    a question with 70 marks to tick, the number is a fingerprint, the same in every process, and a bundle knows those
    outcomes that it was given to `encode`.

    Parameters
    ----------
    features : array-like of int of shape (m,)
        The features.
    sizes : array-like of int of shape (m,)
        Number of outcomes of each.

    Attributes
    ----------
    n_complete : int
        Number of outcomes in which all features are seen; 2**62 where they are more.
    n_codes : int
        Numbers of outcomes are below this.
    numbered : bool
        Whether every outcome has a place of its own; else they go by fingerprints.

    Examples
    --------
    >>> bundle = Bundle([4, 7], [2, 3])
    >>> bundle.encode([[1, 2], [0, -1], [-1, -1]])
    array([ 5, 10, -1])
    >>> bundle.decode([5, 10, -1]).tolist()
    [[1, 2], [0, -1], [-1, -1]]
    """

    #: Whether some outcomes, drawn once, stand for all.
    is_sampled = False

    def __init__(self, features: npt.ArrayLike, sizes: npt.ArrayLike) -> None:
        self.features: IntArray = np.array(features, dtype=np.intp)
        self.sizes: IntArray = np.array(sizes, dtype=np.intp)
        self.n_complete = math.prod(self.sizes.tolist())
        self.n_codes = self.n_complete + math.prod((self.sizes + 1).tolist())
        most = 2**62  # so that numbers, and what is counted beside them, fit into 64 bits
        self.numbered = self.n_codes < most
        if not self.numbered:
            self.n_complete = self.n_codes = most

    @cached_property
    def _met(self) -> dict[int, IntArray]:
        """What the features showed, by fingerprint, of the outcomes met so far."""
        return {-1: np.full(len(self.sizes), -1, dtype=smallest_int(int(self.sizes.max())))}

    def joint(self, tables: FloatArray) -> FloatArray:
        """P(outcome | state), (n, n_states), from the tables of features that are independent given the state."""
        joint = np.ones((1, tables.shape[2]))
        for table, size in zip(tables, self.sizes.tolist()):
            joint = (joint[:, None] * table[None, :size]).reshape(-1, tables.shape[2])
        return joint

    def shares_codes(self, other: Bundle | None) -> bool:
        """Whether outcomes have the same numbers as another bundle's; from here on that is told of all that are met."""
        if other is None or self.numbered != other.numbered or not np.array_equal(self.features, other.features):
            return False
        if not self.numbered:
            vars(other)["_met"] = self._met
        return True

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
        if not self.numbered:
            return self._fingerprints(shown)
        complete = shown @ _strides(self.sizes)
        partial = self.n_complete + (shown + 1) @ _strides(self.sizes + 1)
        seen = shown >= 0
        return np.where(seen.all(axis=1), complete, np.where(seen.any(axis=1), partial, -1))

    def decode(self, codes: npt.ArrayLike) -> IntArray:
        """What each feature showed, (n, m); -1 where it is missing; the inverse of `encode`."""
        if not self.numbered:
            kinds, at = np.unique(np.asarray(codes, dtype=np.int64), return_inverse=True)
            met = [self._met.get(kind) for kind in kinds.tolist()]
            if any(one is None for one in met):
                raise ValueError("an outcome of a bundle of too many to be numbered is one that its encode gave.")
            return np.asarray(np.array(met, dtype=np.int64).reshape(-1, len(self.sizes))[at.reshape(-1)])
        code = np.asarray(codes, dtype=np.int64)[:, None]
        complete = code // _strides(self.sizes) % self.sizes
        partial = np.maximum(code - self.n_complete, 0) // _strides(self.sizes + 1) % (self.sizes + 1) - 1
        return np.asarray(np.where(code < 0, -1, np.where(code < self.n_complete, complete, partial)))

    def _fingerprints(self, shown: IntArray) -> IntArray:
        """Numbers that tell outcomes apart but for a chance of 2**-62 for any two; the outcomes are kept."""
        factors = np.random.default_rng(len(self.sizes)).integers(2**63, size=len(self.sizes), dtype=np.uint64) * 2 + 1
        codes: IntArray = (((shown + 1).astype(np.uint64) * factors).sum(axis=1) >> np.uint64(2)).astype(np.int64)
        codes[(shown < 0).all(axis=1)] = -1
        kinds, first = np.unique(codes, return_index=True)
        for kind, row in zip(kinds.tolist(), first.tolist()):
            if kind not in self._met:
                self._met[kind] = shown[row].astype(self._met[-1].dtype)
        return codes

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

    def likelihood(self, codes: IntArray, table: FloatArray) -> FloatArray:
        """P(what was seen | class or hidden state) of outcomes that may be partial; the table is of complete ones."""
        if codes.max(initial=-1) < len(table):
            return np.asarray(table[codes])
        return self.marginal(np.broadcast_to(table, (len(codes), *table.shape)), codes)

    def _check_stored(self) -> None:
        features = require_array(self, "features", "i", None, low=0)
        require(len(np.unique(features)) == len(features) > 1, "features are wrong")
        again = Bundle(features, require_array(self, "sizes", "i", len(features), low=1))
        require((self.n_complete, self.n_codes) == (again.n_complete, again.n_codes), "its outcomes are wrong")


@register
class DrawnBundle(Bundle):
    """A bundle of too many joint outcomes to list them, of features that are independent given a hidden state.

    Attributes
    ----------
    shown : ndarray of int of shape (n_drawn, m)
        The outcomes that stand for all.
    """

    is_sampled = True

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
        self.shown: IntArray = self._draw_values(state, rng)

    @cached_property
    def drawn(self) -> IntArray:
        """Numbers of the outcomes that stand for all, (n_drawn,)."""
        return self.encode(self.shown)

    def draw(self, state: IntArray, rng: np.random.Generator) -> IntArray:
        """Draw an outcome for each of some hidden states, (n,)."""
        return self.encode(self._draw_values(state, rng))

    def _draw_values(self, state: IntArray, rng: np.random.Generator) -> IntArray:
        uniforms = rng.random((len(state), len(self.sizes)))
        values = np.empty(uniforms.shape, dtype=np.intp)
        for place, table in enumerate(self.tables):
            values[:, place] = draw_columns(table.T[state], uniforms[:, place])
        return values

    def likelihood(self, codes: IntArray, table: FloatArray | None = None) -> FloatArray:
        """P(what was seen | hidden state) of outcomes that may be partial, (n, n_hidden), by its own tables."""
        codes, at = np.unique(codes, return_inverse=True)
        values = self.decode(codes)
        if len(codes) == 1:  # a live case
            seen = np.flatnonzero(values[0] >= 0)
            return np.repeat(self.tables[seen, values[0, seen]].prod(axis=0)[None], len(at), axis=0)
        result = np.ones((len(codes), self.tables.shape[2]))
        for table, shown in zip(self.tables, values.T):
            seen = np.flatnonzero(shown >= 0)
            result[seen] *= table[shown[seen]]
        return np.asarray(result[at.reshape(-1)])

    def joint(self, tables: FloatArray) -> FloatArray:
        """How much each of the outcomes drawn counts in each hidden state, (n_drawn, n_hidden); sums to one."""
        likelihood = self.likelihood(self.drawn)
        weight = likelihood / (likelihood @ self.share)[:, None]
        total = weight.sum(axis=0)
        # of a state that shows none of them nothing is known
        return np.where(total > 0, weight / np.where(total > 0, total, 1.0), 1 / len(weight))

    def _check_stored(self) -> None:
        tables = require_numbers(self, "tables", len(self.sizes), None, None)
        require(tables.shape[1] >= int(self.sizes.max()), "tables have other outcomes")
        for table, size in zip(tables, self.sizes.tolist()):
            check_table(table, "tables")
            require(not table[size:].any(), "tables have other outcomes")
        check_distribution(self.share, tables.shape[2], "share")
        shown = self.shown
        known = isinstance(shown, np.ndarray) and shown.dtype.kind == "i" and shown.shape[1:] == self.sizes.shape
        require(known and len(shown) > 0, "shown holds no outcomes")
        require(bool(((shown >= 0) & (shown < self.sizes)).all()), "shown has other outcomes")


def _strides(sizes: IntArray) -> IntArray:
    return np.append(np.cumprod(sizes[:0:-1], dtype=np.int64)[::-1], 1)


def check_table(table: FloatArray, name: str) -> None:
    """Refuse a table that is no distribution over outcomes, the last axis but one."""
    if not np.isfinite(table).all() or table.min() < 0:
        raise ValueError(f"{name} must hold probabilities; it has negative or non-finite entries.")
    if np.abs(table.sum(axis=-2) - 1).max() > 1e-6:
        raise ValueError(f"{name} must sum to 1 over outcomes for each class.")
