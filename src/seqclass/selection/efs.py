"""EFS: extremal feature selection by the weights of a modified balanced Winnow."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp

from seqclass._utils.arrays import BoolArray, FloatArray, IntArray
from seqclass._utils.validation import check_real
from seqclass.selection._base import WINDOW, RowStream

#: Weights stay between this and its inverse: products never reach zero or infinity, from where none comes back.
LEAST = 1e-100


@dataclass(repr=False, eq=False)
class EFS(RowStream):
    """Extremal feature selection: keeps the features whose positive and negative weights differ most.

    Modified balanced Winnow keeps two positive weights per feature. Each row, non-negative, gets a bias feature of one
    and is divided by its sum. If its score u.x - v.x - ``threshold`` is within the margin, y score <= ``margin``, the
    weights of its non-zero features are multiplied: u by ``promotion`` (1 + x) and v by ``demotion`` (1 - x) if y = 1,
    and the other way round if y = -1. The weight of a feature is abs(u - v), and zero before it has been part of an
    update.

    Parameters
    ----------
    n_features_to_select : int or float
        Number of features to keep, or their fraction if a float up to 1.
    promotion, demotion : float
        Factors of an update, alpha > 1 and beta between 0 and 1.
    threshold : float
        What a score has to exceed, theta.
    margin : float
        How clear a right score has to be not to count as a mistake, M.
    batch_size, n_epochs, shuffle, random_state
        As in :class:`FIRES`; the result does not depend on ``batch_size``.

    Attributes
    ----------
    positive_, negative_ : ndarray of shape (n_problems, n_features_in_ + 1)
        The weights u and v, the bias last; they start at 2 and 1. One problem for two classes, else one for each class
        against the rest.
    weights_ : ndarray of shape (n_features_in_,)
        abs(u - v), averaged over problems (more than two classes go beyond the paper).
    support_, classes_, n_features_in_, feature_names_in_, n_seen_
        As in :class:`FIRES`.

    References
    ----------
    Carvalho and Cohen, "Single-Pass Online Learning: Performance, Voting Schemes and Online Feature Selection", KDD
    2006: alpha = 1.5, beta = 0.5, theta = 1, M = 1. Written from descriptions of the algorithm; uncertain: how rows
    are normalised (by their sum here), and that the paper's selection also keeps some features of the *smallest*
    difference, which is left out here as in Haug et al., KDD 2020.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.random.default_rng(0).random((300, 6)) < 0.5
    >>> EFS(1).fit(X, X[:, 4]).get_support(indices=True).tolist()
    [4]
    """

    _accepts_sparse = True

    promotion: float = 1.5
    demotion: float = 0.5
    threshold: float = 1.0
    margin: float = 1.0

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.positive_only = True
        return tags

    def _check_settings(self) -> None:
        check_real(self.promotion, "promotion", 1)
        check_real(self.demotion, "demotion", 0, 1)
        check_real(self.threshold, "threshold")
        check_real(self.margin, "margin", 0)

    def _start(self, n_features: int) -> None:
        n_problems = 1 if len(self.classes_) == 2 else len(self.classes_)
        self.positive_ = np.full((n_problems, n_features + 1), 2.0)
        self.negative_ = np.ones((n_problems, n_features + 1))
        self._touched: BoolArray = np.zeros((n_problems, n_features), dtype=bool)

    def _learn(self, X: Any, codes: IntArray) -> None:
        values = X.data if sp.issparse(X) else X
        if values.size and values.min() < 0:
            cells = X.tocoo() if sp.issparse(X) else None
            column = cells.col[np.argmin(cells.data)] if cells is not None else X.min(axis=0).argmin()
            name = repr(str(self.feature_names_in_[column])) if hasattr(self, "feature_names_in_") else column
            raise ValueError(f"Negative values in data passed to EFS, column {name}: scale features to [0, 1] first.")
        # by the largest value first, so that no sum overflows
        largest = max(float(values.max()) if values.size else 0.0, 1.0)
        totals = np.ravel((X / largest).sum(axis=1)) + 1 / largest
        shares = sp.diags_array(1 / totals) @ (X / largest) if sp.issparse(X) else X / largest / totals[:, None]
        for problem, y in enumerate(self._signs(codes)):
            self._pass(shares, 1 / largest / totals, y, problem)
        differences = np.abs(self.positive_ - self.negative_)[:, :-1]
        self.weights_ = np.where(self._touched, differences, 0).mean(axis=0)

    def _pass(self, X: Any, bias: FloatArray, y: FloatArray, problem: int) -> None:
        """Go through the rows in place; what comes between two mistakes is scored in one product."""
        u, v, start = self.positive_[problem], self.negative_[problem], 0
        while start < len(y):
            rows = slice(start, min(len(y), start + WINDOW))
            difference = u - v
            scores = X[rows] @ difference[:-1] + bias[rows] * difference[-1] - self.threshold
            mistakes = np.flatnonzero(y[rows] * scores <= self.margin)
            start += int(mistakes[0]) + 1 if len(mistakes) else rows.stop - start
            if len(mistakes):
                at = start - 1
                columns, x = nonzero(X, at)
                self._touched[problem, columns] = True
                self._update(np.append(columns, len(u) - 1), np.append(x, bias[at]), y[at], u, v)

    def _update(self, columns: IntArray, x: FloatArray, sign: float, u: FloatArray, v: FloatArray) -> None:
        up, down = (u, v) if sign > 0 else (v, u)
        up[columns] = np.minimum(up[columns] * self.promotion * (1 + x), 1 / LEAST)
        down[columns] = np.maximum(down[columns] * self.demotion * (1 - x), LEAST)


def nonzero(X: Any, row: int) -> tuple[IntArray, FloatArray]:
    """Columns and values of a row that are not zero."""
    if sp.issparse(X):
        part = slice(X.indptr[row], X.indptr[row + 1])
        columns, values = X.indices[part], X.data[part]
        return columns[values > 0], values[values > 0]
    columns = np.flatnonzero(X[row])
    return columns, X[row, columns]
