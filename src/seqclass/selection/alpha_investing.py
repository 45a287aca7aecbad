"""Alpha-investing: tests of features that stream in are paid from a wealth that discoveries restore."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
from scipy import stats

from seqclass._utils.arrays import CHUNK_BYTES, FloatArray, IntArray, chunks
from seqclass._utils.validation import check_choice, check_real
from seqclass.selection._base import MOST_TOGETHER, FeatureStream
from seqclass.selection._dependence import centre_full_columns, class_directions, moderate, unit_columns


@dataclass(repr=False, eq=False)
class AlphaInvesting(FeatureStream):
    """Streamwise regression: a feature is added if its p-value is below what the wealth allows for its test.

    The test of the i-th feature may err with probability alpha_i = w / (2 i), which is paid from the wealth w. If the
    feature is added to the linear model, the wealth grows by `wealth_gain`. Features are never dropped again.

    Parameters
    ----------
    initial_wealth : float, default=0.5
        Wealth at the start.
    wealth_gain : float, default=0.5
        What the wealth gains when a feature is added.
    p_value : {"likelihood", "normal"}, default="likelihood"
        ``"likelihood"``: exp(-n d / (2 s)), where s is the residual sum of squares and d how much the feature reduces
        it; this is the likelihood ratio with the variance of the model *without* the feature. ``"normal"``: the
        two-sided normal tail of the feature's coefficient over its standard error, with the variance of the model with
        it.
    class_coding : {"groups", "codes"}, default="groups"
        With more than two classes. ``"groups"``: regress the indicators of the classes together, which does not depend
        on how classes are numbered. ``"codes"``: regress the class as a number.

    Attributes
    ----------
    selected_ : ndarray of int
        Features kept, in order of arrival.
    wealth_ : float
        Wealth that is left.
    p_values_ : ndarray of shape (n_features_in_,)
        p-value of every feature when it came.
    support_, classes_, n_features_in_, feature_names_in_, n_seen_
        As in all feature streams.

    Notes
    -----
    The rule for the wealth, the two values of 0.5 and the likelihood ratio are the authors'. Their programme counts the
    constant as the first feature; here the first feature is tested at w / 2. For K > 2 classes as groups the p-value is
    ours: the likelihood ratio of K - 1 uncorrelated regressions, as chi-squared with K - 1, but at least two, degrees
    of freedom (two are exp(-n d / (2 s)) itself). For sparse data only the residuals of the features that were added
    are held dense, `n` numbers for each.

    References
    ----------
    J. Zhou, D. P. Foster, R. A. Stine, L. H. Ungar, "Streaming feature selection using alpha-investing", KDD 2005, and
    "Streamwise feature selection", Journal of Machine Learning Research 7, 2006.

    Examples
    --------
    >>> rng = np.random.default_rng(1)
    >>> y = np.repeat([0, 1], 50)
    >>> X = rng.normal(size=(100, 3))
    >>> X[:, 1] += y
    >>> selector = AlphaInvesting().fit(X, y)
    >>> selector.get_support(indices=True), round(selector.wealth_, 3)
    (array([1]), 0.573)
    """

    _accepts_sparse = True
    _min_rows = 3

    initial_wealth: float = 0.5
    wealth_gain: float = 0.5
    p_value: str = "likelihood"
    class_coding: str = "groups"

    @property
    def p_values_(self) -> FloatArray:
        """The p-value of every feature seen so far."""
        if not hasattr(self, "_p_values"):
            raise AttributeError("p_values_ is there after fit or partial_fit_features.")
        return np.concatenate(self._p_values) if self._p_values else np.empty(0)

    def _begin(self, codes: IntArray) -> None:
        check_choice(self.p_value, "p_value", ("likelihood", "normal"))
        check_choice(self.class_coding, "class_coding", ("groups", "codes"))
        self.wealth_ = check_real(self.initial_wealth, "initial_wealth", 0)
        check_real(self.wealth_gain, "wealth_gain", 0)
        values = self._class_values(codes) if self.class_coding == "codes" else None
        target = class_directions(codes, values, len(self.classes_))
        #: Directions of the model, the constant first, and what is left of the target.
        self._basis = np.full((len(codes), 1), 1 / np.sqrt(len(codes)))
        self._residual = target / np.sqrt(target.shape[1])
        self._p_values: list[FloatArray] = []
        self._selected: list[int] = []

    def _absorb(self, X: Any) -> None:
        for columns in chunks(X.shape[1], max(8.0 * X.shape[0], CHUNK_BYTES / MOST_TOGETHER)):
            block = moderate(X[:, columns].astype(np.float64))
            block = centre_full_columns(block) if sp.issparse(block) else unit_columns(block)
            self._test_block(block, self.n_seen_ + columns.start)
        self.selected_ = np.array(self._selected, dtype=np.intp)

    def _test_block(self, X: Any, first: int) -> None:
        m = X.shape[1]
        squares = np.asarray((X**2).sum(axis=0) if sp.issparse(X) else np.einsum("ij,ij->j", X, X)).ravel()
        within = X.T @ self._basis
        new = squares - np.einsum("ij,ij->i", within, within)
        result = np.empty(m)
        start = 0
        while start < m:
            rest = X[:, start:]
            p = self._p_value(rest.T @ self._residual, new[start:], squares[start:])
            # without an addition the wealth follows a fixed course
            i = first + start + 1 + np.arange(m - start)
            wealth = self.wealth_ * np.concatenate([[1.0], np.cumprod(1 - 1 / (2 * i))])
            chosen = np.flatnonzero(p < wealth[:-1] / (2 * i))
            n_tested = int(chosen[0]) + 1 if chosen.size else m - start
            result[start : start + n_tested] = p[:n_tested]
            self.wealth_ = float(wealth[n_tested])
            start += n_tested
            if chosen.size:
                self.wealth_ += self.wealth_gain
                self._selected.append(first + start - 1)
                direction = self._add(X[:, start - 1])
                new[start:] -= np.asarray(X[:, start:].T @ direction) ** 2
        self._p_values.append(result)

    def _p_value(self, with_residual: FloatArray, new: FloatArray, squares: FloatArray) -> npt.NDArray[Any]:
        n, q = self._residual.shape
        left = float((self._residual**2).sum())
        if left <= 1e-14:
            return np.ones(len(new))
        tested = new > 1e-10 * squares  # a column must be new in part to be tested at all
        gain = np.zeros(len(new))
        gain[tested] = (with_residual[tested] ** 2).sum(axis=1) / new[tested]
        gain = np.minimum(gain, left)
        if self.p_value == "normal" and q == 1:
            free = n - self._basis.shape[1] - 1
            error = (left - gain) / max(free, 1)
            ratio = np.sqrt(np.divide(gain, error, out=np.full_like(gain, np.inf), where=error > 0))
            return np.where(gain > 0, 2 * stats.norm.sf(ratio), 1.0)
        return np.asarray(stats.chi2.sf(n * q * gain / left, max(2, q)))

    def _add(self, column: Any) -> FloatArray:
        """Add a column to the model; return its new direction."""
        direction = (column.toarray() if sp.issparse(column) else column).ravel()
        for _ in range(2):
            # once more for the rounding of the first
            direction = direction - self._basis @ (self._basis.T @ direction)
            direction /= np.linalg.norm(direction)
        self._basis = np.column_stack([self._basis, direction])
        self._residual = self._residual - np.outer(direction, direction @ self._residual)
        return np.asarray(direction)
