"""Turn features into the few outcomes that the models count.

A *discretised matrix* holds integer outcomes ``0..V_j-1`` of feature ``j`` and -1 where the value is missing.
Dense ones are C-ordered and of the smallest of int8, int16 and int32 that fits. In sparse ones (CSR) an
implicit zero is outcome 0 and a missing cell is a stored -1, so there the bin that holds the value 0 is
outcome 0.
"""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
from sklearn.base import BaseEstimator, OneToOneFeatureMixin, TransformerMixin
from sklearn.utils.validation import check_consistent_length, check_is_fitted, validate_data

from seqclass._utils.arrays import CACHE_BYTES, BoolArray, FloatArray, IntArray, chunks, smallest_int
from seqclass._utils.frames import plain_data
from seqclass._utils.information import canonical, label_codes, tables_of
from seqclass._utils.model_files import Stored
from seqclass._utils.stored import is_fitted, require, require_array, require_whole
from seqclass._utils.text import short_repr
from seqclass._utils.validation import in_order
from seqclass._utils.whole_fits import all_or_nothing
from seqclass.discretize._edges import (
    ClassCodes,
    check_cuts,
    check_n_bins,
    count_edges,
    fit_dense,
    fit_sparse,
    float32_at_least,
    interval_labels,
    list_values,
    numbers,
    search_edges,
)


def leave_one_out_information(codes: Any, y: npt.ArrayLike, n_outcomes: IntArray) -> FloatArray:
    """Mean log-probability of each row's label given its outcome, counted on all other rows, over the label's own."""
    labels, n_classes = label_codes(y)
    information = np.zeros(codes.shape[1])
    for columns, counts in tables_of(codes, labels, n_classes, n_outcomes, None):
        information[columns] = leave_one_out_by_counts(counts)
    return information


def leave_one_out_by_counts(counts: FloatArray) -> FloatArray:
    """What `leave_one_out_information` gives, from counts of outcomes by class, (n_features, V, n_classes)."""
    by_outcome, by_class = counts.sum(axis=2, keepdims=True), counts.sum(axis=1, keepdims=True)
    total = by_class.sum(axis=2, keepdims=True)
    shown = counts > 0
    others = np.where(shown, counts - 1, 0.0)
    share = np.where(by_class > 0, by_class, 1.0) / np.maximum(total, 1)
    log_ratio = np.log((others + share) / np.maximum(by_outcome, 1)) - np.log(share)
    return np.asarray((counts * log_ratio).sum(axis=(1, 2)) / np.maximum(total[:, 0, 0], 1))


def name_of(estimator: Any, j: int) -> Any:
    """Name of a column, or its number."""
    names = getattr(estimator, "feature_names_in_", None)
    return j if names is None else names[j]


def check_numbers(estimator: Any, X: Any, *, reset: bool) -> Any:
    """Validate `X`; a column that does not hold numbers is named."""
    X = plain_data(X)
    try:
        checked = validate_data(
            estimator, X, reset=reset, accept_sparse="csr", dtype="numeric", ensure_all_finite=False
        )
    except (TypeError, ValueError) as error:
        frame = X if hasattr(X, "columns") else None
        # a complex matrix is refused as a whole
        searchable = not sp.issparse(X) and np.ndim(X) == 2 and not np.iscomplexobj(X)
        columns = np.asarray(X, dtype=object).T if searchable else []
        for j, column in enumerate(columns):
            try:
                column.astype(np.float64)
            except (TypeError, ValueError) as reason:
                name = j if frame is None else frame.columns[j]
                raise type(reason)(
                    f"column {short_repr(name)} does not hold numbers: {reason}. Encode it first, for example with "
                    "OrdinalEncoder."
                ) from error
        raise
    if checked.dtype.kind not in "biuf":
        raise TypeError(f"X must hold numbers, got {checked.dtype}.")
    return checked


@dataclass(repr=False, eq=False)
class Discretizer(Stored, OneToOneFeatureMixin, TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """Cuts every feature into a few outcomes, for dense and sparse data, with missing values.

    Bins are left-closed, ``[a, b)``, and values beyond the training range fall in the end bins. The largest training
    value lies in the last bin; the code published with the ETANA and IFC2F papers left it outside every bin, which is a
    defect.

    Parameters
    ----------
    n_bins : int, array-like of shape (n_features,), "auto", "n_classes" or "sparsity", default="auto"
        Number of outcomes of a feature, including that of a frequent value. ``"auto"``: the cube root of the number of
        rows per class, between 3 and 6. ``"n_classes"``: as many as classes, as in the ETANA paper. ``"sparsity"``: 10
        if more than half of all values are zero, else 4, as in the IFC2F paper. Above 32, a feature gets no more bins
        than it has distinct values.
    strategy : {"uniform", "quantile", "auto", "mdlp"}, default="uniform"
        ``"uniform"`` cuts the range between the smallest and the largest value into equal widths, as in the papers.
        ``"quantile"`` gives the bins equally many training values as far as ties allow, with every edge an observed
        value. ``"auto"`` takes for each feature whichever of the two has bins that say more about the labels of rows
        left out of the count, which needs the labels. ``"mdlp"`` cuts where the labels change, halfway between two
        values, and only if the cut shortens the description of the labels by more than it takes to describe the cut
        [2]_. The cut that saves most comes first, there are at most ``n_bins`` bins, and a feature that says nothing by
        itself is not cut.
    zero_bin : bool or "auto", default="auto"
        Whether exact zeros get a bin of their own, outcome 0, while the remaining ``n_bins - 1`` outcomes cut the other
        values. ``"auto"``: in sparse input always; in dense input any value that more than half of the known cells of a
        column hold gets such a bin, zero or not, since zeros become another value when a column is centred.

    Attributes
    ----------
    n_outcomes_ : ndarray of shape (n_features,), int
        Number of outcomes of each feature: 1 if the column is constant or all missing, fewer than ``n_bins``
        if quantiles coincide.
    bin_edges_ : ndarray of shape (n_features, max inner edges), float64
        Inner edges of each feature in increasing order, padded with ``inf``.
    own_bins_ : ndarray of shape (n_features, 2), float64
        Smallest and largest number that falls in the bin of a single value, outcome 0; NaN if there is no such bin.
        Numbers count as this value if they equal it to five digits and are nearer to it than to all other training
        values.
    few_values_ : ndarray of shape (n_features, 2), int64
        For features with at most ten different whole numbers in training: the smallest, and how far above it each lies,
        as bits; zeros for all other features. See `few_values`.
    zero_first_ : bool
        Whether outcome 0 is the bin of the value 0 in every column, as after a fit on sparse data.
    n_features_in_ : int
        Number of features seen in fit.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the features, if they have any.

    Notes
    -----
    NaN becomes -1. Edges come from the finite values; infinite ones fall in the end bins. Outcomes increase with the
    value, with two exceptions: a value with a bin of its own is outcome 0, and so, after a fit on sparse data, is the
    bin that contains 0.

    References
    ----------
    .. [1] Y. W. Liyanage, D.-S. Zois and C. Chelmis, "On-the-fly joint feature selection and classification", sections
       5.1 and 5.2: equal-width bins, as many as classes.
    .. [2] U. M. Fayyad and K. B. Irani, "Multi-interval discretization of continuous-valued attributes for
       classification learning", IJCAI 1993.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.array([[0.0], [1.0], [2.5], [4.0], [np.nan]])
    >>> discretizer = Discretizer(4).fit(X)
    >>> discretizer.transform(X).ravel().tolist()
    [0, 1, 2, 3, -1]
    >>> discretizer.bin_labels(0)
    ['< 1', '[1, 2)', '[2, 3)', '>= 3']
    """

    n_bins: int | str | npt.ArrayLike = "auto"
    _: KW_ONLY
    strategy: str = "uniform"
    zero_bin: bool | str = "auto"

    @property
    def _needs_ranks(self) -> bool:
        """Whether edges are sought by the ranks of values."""
        return self.strategy in ("quantile", "auto")

    @all_or_nothing
    def fit(self, X: Any, y: Any = None) -> Discretizer:
        """Find the edges of every feature.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n, n_features)
            Numbers; NaN where missing.
        y : array-like of shape (n,), optional
            Labels; ``strategy="auto"`` and ``"mdlp"`` need them. ``n_bins="auto"`` and ``"n_classes"`` only use the
            number of classes.

        Returns
        -------
        Discretizer

        Raises
        ------
        ValueError or TypeError
            If a setting is out of range or a column does not hold numbers; the message names it.
        """
        check_cuts(self.strategy, self.zero_bin)
        X = check_numbers(self, X, reset=True)
        n_bins = check_n_bins(self._bins(), X, y)
        if y is None and self.strategy in ("auto", "mdlp"):
            raise ValueError(f"strategy={self.strategy!r} needs the labels y in fit.")
        fit = fit_sparse if sp.issparse(X) else fit_dense
        labels = ClassCodes(np.empty(0, dtype=np.int64), 1)
        if self.strategy == "mdlp":
            check_consistent_length(X, y)
            labels = ClassCodes(*label_codes(y))
        edges, self.own_bins_, constant, self.few_values_ = fit(X, n_bins, self.strategy, self.zero_bin, labels)
        self.zero_first_ = bool(sp.issparse(X))
        self._cut(edges, constant)
        if self.strategy == "auto":
            uniform = leave_one_out_information(self._codes(X), y, self.n_outcomes_)
            by_rank = fit(X, n_bins, "quantile", self.zero_bin, labels)[0]
            self._cut(by_rank, constant)
            better = leave_one_out_information(self._codes(X), y, self.n_outcomes_) > uniform
            self._cut(np.where(better[:, None], by_rank, edges), constant)
        return self

    def _bins(self) -> Any:
        """Setting of bins, by the names or else the numbers of columns where it has such."""
        return in_order(self.n_bins, "n_bins", getattr(self, "feature_names_in_", range(self.n_features_in_)))

    def _cut(self, edges: FloatArray, constant: BoolArray) -> None:
        n_inner = np.isfinite(edges).sum(axis=1)
        self.n_outcomes_ = np.where(constant, 1, n_inner + 1 + self._has_own_bin)
        self.bin_edges_ = edges[:, : int(n_inner.max(initial=0))].copy()

    def transform(self, X: Any) -> Any:
        """Return the outcome of every value.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n, n_features)
            Numbers; NaN where missing.

        Returns
        -------
        ndarray or CSR matrix of shape (n, n_features), int8, int16 or int32
            Outcomes; -1 where missing. Always below ``n_outcomes_``.

        Raises
        ------
        ValueError
            If the columns differ from those of fit, or if sparse data meets a fit on dense data in which 0 is
            not outcome 0.
        """
        check_is_fitted(self)
        return self._codes(check_numbers(self, X, reset=False))

    def bin_labels(self, feature: int | str, *, intervals: bool = False) -> list[str]:
        """Return a description of each outcome of a feature.

        Parameters
        ----------
        feature : int or str
            Index or name of the feature.
        intervals : bool
            Whether to give intervals even if there were few whole numbers in training; by default the numbers are
            listed.

        Returns
        -------
        list of str
            One description per outcome: an interval such as ``"[1.2, 3.4)"``, ``"0"`` for a bin of zeros, or the few
            whole numbers in it, such as ``"1, 2"``; a bin that contains none of these has its interval.

        Raises
        ------
        ValueError
            If there is no such feature.

        Examples
        --------
        >>> import numpy as np
        >>> discretizer = Discretizer(3).fit(np.array([[0], [0], [0], [2], [4]]))
        >>> discretizer.bin_labels(0), discretizer.bin_labels(0, intervals=True)
        (['0', '2', '4'], ['0', '< 3, not 0', '>= 3'])
        """
        check_is_fitted(self)
        j = self._column(feature)
        if self.n_outcomes_[j] == 1:
            return ["any"]
        labels = self._interval_labels(j)
        values = np.empty(0) if intervals else self.few_values(j)
        outcomes = self._outcomes(values, j)
        return [list_values(values[outcomes == v]) or label for v, label in enumerate(labels)]

    def few_values(self, feature: int | str) -> FloatArray:
        """Return the values of a feature in training, if these were at most ten different whole numbers.

        Parameters
        ----------
        feature : int or str
            Index or name of the feature.

        Returns
        -------
        ndarray of float
            Ascending; empty if there were other numbers, or more than ten, or they are far apart.

        Raises
        ------
        ValueError
            If there is no such feature.

        Examples
        --------
        >>> import numpy as np
        >>> Discretizer().fit(np.array([[1, 0.5], [2, 0.7], [np.nan, 0.2]])).few_values(0).tolist()
        [1.0, 2.0]
        """
        check_is_fitted(self)
        return numbers(self.few_values_[self._column(feature)])

    def _outcomes(self, values: FloatArray, j: int) -> IntArray:
        """Outcomes of values of one column, by its number."""
        outcomes: IntArray = self.bin_edges_[j].searchsorted(values, side="right")
        self._relabel(values, outcomes, j)
        return outcomes

    def _interval_labels(self, j: int) -> list[str]:
        edges = self.bin_edges_[j][np.isfinite(self.bin_edges_[j])]
        if self._has_own_bin[j]:
            return interval_labels(edges, float(self.own_bins_[j].mean()))
        labels = interval_labels(edges)
        if self.zero_first_:
            labels.insert(0, labels.pop(int((edges <= 0).sum())))
        return labels

    def restrict(self, columns: npt.ArrayLike) -> Discretizer:
        """Return the same fitted discretiser for data that have only some of the columns.

        Parameters
        ----------
        columns : array-like of int of shape (m,)
            The columns, in the order that they have in the new data.

        Returns
        -------
        Discretizer

        Examples
        --------
        >>> import numpy as np
        >>> both = Discretizer(2).fit(np.array([[0, 10], [8, 30]]))
        >>> both.restrict([1]).transform([[15.0], [25.0]]).tolist()
        [[0], [1]]
        """
        check_is_fitted(self)
        pick = np.asarray(columns, dtype=np.intp)
        n_bins = self.n_bins if np.ndim(self.n_bins) == 0 else np.asarray(self._bins())[pick]
        part = Discretizer(n_bins, strategy=self.strategy, zero_bin=self.zero_bin)
        part.n_outcomes_, part.own_bins_ = self.n_outcomes_[pick], self.own_bins_[pick]
        part.bin_edges_, part.zero_first_ = self.bin_edges_[pick], self.zero_first_
        part.few_values_ = self.few_values_[pick]
        part.n_features_in_ = len(pick)
        if hasattr(self, "feature_names_in_"):
            part.feature_names_in_ = self.feature_names_in_[pick]
        return part

    def _codes(self, X: Any) -> Any:
        return self._transform_sparse(X) if sp.issparse(X) else self._transform_dense(X)

    def _column(self, feature: int | str) -> int:
        if isinstance(feature, str):
            names = list(getattr(self, "feature_names_in_", ()))
            if feature not in names:
                raise ValueError(f"feature {short_repr(feature)} is not one of the columns seen in fit.")
            return names.index(feature)
        if not 0 <= feature < self.n_features_in_:
            raise ValueError(f"feature must be between 0 and {self.n_features_in_ - 1}, got {feature}.")
        return int(feature)

    def _transform_dense(self, X: Any) -> IntArray:
        edges = float32_at_least(self.bin_edges_) if X.dtype == np.float32 else self.bin_edges_
        codes = np.empty(X.shape, dtype=self._dtype())
        # small blocks: each is read once for every edge and should stay in cache
        for rows in chunks(len(X), 8 * X.shape[1], budget=CACHE_BYTES):
            block, out = X[rows], codes[rows]
            if X.dtype != np.float32:
                block = block.astype(np.float64, copy=False)
            count_edges(block, edges, out)
            self._relabel(block, out, slice(None))
        return codes

    def _transform_sparse(self, X: Any) -> Any:
        rank = self._zero_rank()
        if rank.any() and not self.zero_first_:
            j = int(np.argmax(rank > 0))
            raise ValueError(
                f"column {short_repr(name_of(self, j))} was fitted on dense data, in which 0 is outcome {rank[j]}; "
                "sparse data needs it to be outcome 0. Fit on sparse data, or set zero_bin=True."
            )
        X = canonical(X)
        codes = np.empty(X.nnz, dtype=self._dtype())
        for part in chunks(X.nnz, 64):
            values, columns = X.data[part].astype(np.float64), X.indices[part]
            codes[part] = search_edges(values, self.bin_edges_, columns)
            self._relabel(values, codes[part], columns)
        result = type(X)((codes, X.indices.copy(), X.indptr.copy()), shape=X.shape)
        result.eliminate_zeros()
        return result

    def _dtype(self) -> np.dtype[Any]:
        return smallest_int(int(self.n_outcomes_.max(initial=1)) - 1)

    @property
    def _has_own_bin(self) -> BoolArray:
        return ~np.isnan(self.own_bins_[:, 0])

    def _zero_rank(self) -> IntArray:
        """Bin of the value 0, counted from the lowest, before which comes that of a value apart."""
        apart = (self.own_bins_[:, 0] <= 0) & (self.own_bins_[:, 1] >= 0)
        return np.where(apart, 0, np.count_nonzero(self.bin_edges_ <= 0, axis=1) + self._has_own_bin)

    def _relabel(self, values: npt.NDArray[Any], out: IntArray, columns: Any) -> None:
        """Turn the number of edges at or below each value into its outcome, in place."""
        low, high = self.own_bins_[columns].T
        own = low == low
        if own if isinstance(columns, int) else own.any():
            out += own
            out *= ~((values >= low) & (values <= high))
        # an infinite value passes the padding too
        np.minimum(out, (self.n_outcomes_[columns] - 1).astype(out.dtype), out=out)
        if self.zero_first_:
            first = self._zero_rank().astype(out.dtype)[columns]
            holds_zero = out == first
            out += out < first
            out[holds_zero] = 0
        np.copyto(out, -1, where=np.isnan(values))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.sparse = True
        tags.transformer_tags.preserves_dtype = []
        return tags

    def _check_stored(self) -> None:
        if not is_fitted(self):
            return
        n = require_whole(self, "n_features_in_", 1)
        edges = require_array(self, "bin_edges_", "f", n, None)
        low, high = require_array(self, "own_bins_", "f", n, 2).T
        own = ~np.isnan(low)
        require((own == ~np.isnan(high)).all() and (low <= high)[own].all(), "own_bins_ have no ends")
        n_outcomes = require_array(self, "n_outcomes_", "iu", n)
        require_array(self, "few_values_", "i", n, 2)
        require(type(self.zero_first_) is bool, "zero_first_ is neither true nor false")
        require(not np.isnan(edges).any() and not np.isneginf(edges).any(), "bin_edges_ holds no numbers")
        inner = np.isfinite(edges)
        with np.errstate(invalid="ignore"):
            rising = (np.diff(edges, axis=1) >= 0) | ~inner[:, 1:]
        require(rising.all() and (inner[:, :-1] | ~inner[:, 1:]).all(), "bin_edges_ do not increase")
        counted = inner.sum(axis=1) + 1 + own
        require(((n_outcomes == counted) | (n_outcomes == 1)).all(), "n_outcomes_ are not those of bin_edges_")
