"""FCBF: keeps the relevant features that no more relevant one makes redundant."""

from __future__ import annotations

from dataclasses import dataclass
from functools import reduce
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from seqclass._utils.arrays import FloatArray
from seqclass._utils.validation import check_real
from seqclass._utils.whole_fits import all_or_nothing
from seqclass.selection._base import Selector
from seqclass.selection._dependence import TOLERANCE, Columns, InformationDependence, relevant_columns
from seqclass.selection._reasons import FeatureReasons, ReasonLog

if TYPE_CHECKING:
    from typing_extensions import Self


@dataclass(repr=False, eq=False)
class FCBF(Selector):
    """Fast correlation-based filter for discrete data, by symmetric uncertainty.

    The features whose symmetric uncertainty with the class is above `delta` are taken in turn, from the most to the
    least relevant. Each one that is still there is kept, and all less relevant ones are dropped whose symmetric
    uncertainty with it is at least as large as with the class.

    Parameters
    ----------
    delta : float, default=0.0
        Relevance that a feature must exceed.

    Attributes
    ----------
    ranking_ : ndarray of int
        Features kept, from the most to the least relevant.
    scores_ : ndarray of shape (n_features_in_,)
        Symmetric uncertainty of every feature with the class.
    support_ : ndarray of bool of shape (n_features_in_,)
        Which features are kept.
    classes_, n_features_in_, feature_names_in_
        As in all selectors.

    Notes
    -----
    Missing cells (NaN in floats, -1 in integers) are left out of the counts. Of equally relevant features, the one with
    the lower number comes first. The paper leaves the threshold to the user; its experiments use 0, and the relevance
    of the feature that ranks n log n-th.

    References
    ----------
    L. Yu, H. Liu, "Feature selection for high-dimensional data: a fast correlation-based filter solution", ICML 2003,
    and "Efficient feature selection via analysis of relevance and redundancy", Journal of Machine Learning Research 5,
    2004.

    Examples
    --------
    >>> y = np.array([0, 0, 0, 0, 1, 1, 1, 1])
    >>> X = np.stack([y ^ [1, 1, 0, 0, 0, 0, 0, 0], y ^ [1, 0, 0, 0, 0, 0, 0, 0]], axis=1)
    >>> selector = FCBF().fit(X, y)
    >>> selector.get_support(indices=True)
    array([1])
    >>> selector.explain().counts()
    {'kept': 1, 'irrelevant': 0, 'redundant': 0, 'replaced': 1}
    """

    _accepts_sparse = True
    _discrete = True

    delta: float = 0.0

    @all_or_nothing
    def fit(self, X: Any, y: npt.ArrayLike) -> Self:
        """Select features.

        Parameters
        ----------
        X : array-like, data frame or sparse matrix of shape (n, n_features)
            Integers.
        y : array-like of shape (n,)
            Labels of any kind.

        Returns
        -------
        self

        Raises
        ------
        ValueError
            If values are not integers; the message names the column.
        """
        delta = check_real(self.delta, "delta", 0)
        X, codes = self._check_Xy(X, y)
        X = X.tocsc() if sp.issparse(X) else X
        self._log = ReasonLog()
        measure = InformationDependence(True, delta, codes, len(self.classes_))
        parts = [*relevant_columns(measure, X, self._log)]
        self.scores_: FloatArray = self._log.relevance()
        self.ranking_ = np.empty(0, dtype=np.intp)
        if parts:
            columns = reduce(Columns.join, (part for part, *_ in parts))
            self._filter(columns, np.concatenate([numbers for _, numbers, _ in parts]), measure)
        self.support_ = np.zeros(X.shape[1], dtype=bool)
        self.support_[self.ranking_] = True
        return self

    def explain(self) -> FeatureReasons:
        """Return what became of each feature, and because of which other one.

        Returns
        -------
        FeatureReasons
            Arrays with an entry for each feature; ``describe(j)`` puts one into words. A dropped feature counts as
            redundant if the other one has the lower number, and as replaced if it has the higher.
        """
        return self._log.reasons(self.get_support(indices=True), getattr(self, "feature_names_in_", None))

    def _filter(self, columns: Columns, numbers: npt.NDArray[np.intp], measure: InformationDependence) -> None:
        relevance = self.scores_[numbers]
        # what differs by rounding only counts as equal
        left = np.lexsort((numbers, -np.round(relevance / TOLERANCE)))
        kept = []
        while left.size:
            best, left = left[0], left[1:]
            kept.append(numbers[best])
            if not left.size:
                break
            dependence = measure.pairs(columns.take([best]), columns.take(left))[0]
            goes = dependence >= relevance[left] - TOLERANCE
            gone = left[goes]
            self._log.note_dropped(numbers[gone], np.full(len(gone), numbers[best]), dependence[goes])
            left = left[~goes]
        self.ranking_ = np.array(kept)
