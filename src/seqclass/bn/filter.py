"""Filtering: the features that tell something about the class, one by one."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import stats
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import _check_feature_names_in, check_is_fitted, validate_data

from seqclass._utils.arrays import BoolArray, FloatArray, IntArray, unmask
from seqclass._utils.information import adjusted_mutual_information, chance_p_values
from seqclass._utils.model_files import Stored
from seqclass._utils.stored import check_support
from seqclass._utils.validation import check_choice, check_integer, check_real
from seqclass.bn._checks import check_labels
from seqclass.bn.ordering import rank
from seqclass.discretize.outcomes import check_outcomes


@dataclass(repr=False, eq=False)
class InformationFilter(Stored, TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """Keep the features with the largest adjusted mutual information with the class.

    The score of a feature is its mutual information with the class, corrected for chance and scaled so that 1 is
    perfect and 0 is what independent features have on average; see
    `seqclass._utils.information.adjusted_mutual_information`. It is computed on outcomes, not on raw numbers: with
    these, each number would be a value of its own, and every continuous feature would be perfect.

    Parameters
    ----------
    threshold : "halving" or float
        Least score of a feature that is kept. ``"halving"``: start at 1 and halve until at least ``min_features``
        features pass ([1]_, section V-A). Where fewer than that have a positive score, halving would never end: then
        all of positive score are kept, and if there is none, the one of largest score. A number is taken as it is,
        and may leave nothing.
    min_features : int
        How many have to pass for the halving to end. The paper takes 1, which on discretised data often leaves three
        to five features; with the default a sequential classifier has something to go on with.
    n_features : int, float or None
        Number of features to keep, the best ones, in place of a threshold; a float is a share of all features. Where
        there are fewer, all are kept. Ties go to the lowest index.
    false_discovery_rate : float or None
        Of the features that pass, keep those that chance does not explain as well: a G-test of each feature and the
        class, with the share of false ones among all that are kept held to this rate over all columns [2]_. If none
        is left, the best one is kept. By default no feature is tested.

    Attributes
    ----------
    scores_ : ndarray of shape (n_features_in_,)
        Adjusted mutual information of each feature and the class, over the rows in which the feature is present.
    threshold_ : float
        Least score that passed; with ``n_features``, the lowest score that was kept. 0 where the halving had to end
        because no more features have a positive score.
    support_ : ndarray of bool of shape (n_features_in_,)
        Which features are kept.
    n_features_in_ : int
        Number of features seen in `fit`.
    feature_names_in_ : ndarray of str of shape (n_features_in_,)
        Their names, where the data have any.

    Notes
    -----
    Prices do not count here: a cheap feature that says little may still be dropped. The order of acquisition weighs
    information against prices.

    The code that the paper's authors published differs from their text: it scores raw numbers, and halves from 0.8
    until min(K / 2, 15) of K features pass.

    References
    ----------
    .. [1] Y. W. Liyanage, D.-S. Zois, C. Chelmis, "Dynamic instance-wise classification in correlated feature
       spaces", IEEE Transactions on Artificial Intelligence 2, 2021, section V-A.
    .. [2] Y. Benjamini, Y. Hochberg, "Controlling the false discovery rate: a practical and powerful approach to
       multiple testing", Journal of the Royal Statistical Society B 57, 1995.

    Examples
    --------
    >>> y = np.repeat([0, 1], 50)
    >>> rng = np.random.default_rng(0)
    >>> X = np.column_stack([rng.integers(0, 3, 100), y, np.where(rng.random(100) < 0.1, 1 - y, y)])
    >>> InformationFilter(min_features=2).fit(X, y).get_support(indices=True).tolist()
    [1, 2]
    >>> InformationFilter(n_features=1).fit(X, y).get_support(indices=True).tolist()
    [1]
    """

    threshold: str | float = "halving"
    _: KW_ONLY
    min_features: int = 30
    n_features: float | None = None
    false_discovery_rate: float | None = None

    def fit(self, X: Any, y: npt.ArrayLike) -> InformationFilter:
        """Score the features and choose.

        Parameters
        ----------
        X : array-like, data frame or sparse matrix of shape (n_rows, n_features)
            Outcomes: non-negative whole numbers, -1 (or NaN) where missing. An implicit zero of a sparse matrix is
            outcome 0; it is never made dense.
        y : array-like of shape (n_rows,)
            Class labels.

        Returns
        -------
        InformationFilter

        Raises
        ------
        TypeError
            If a setting is of the wrong type.
        ValueError
            If a value is no outcome (the message names its column), or a setting is out of range.
        """
        self._check_settings()
        if y is None:
            raise ValueError("InformationFilter requires y to be passed, but the target y is None.")
        X, y = validate_data(self, unmask(X), y, accept_sparse=("csr", "csc"), ensure_all_finite=False)
        labels = check_labels(y, X.shape[0])
        codes = check_outcomes(X)
        self.scores_: FloatArray = adjusted_mutual_information(codes, labels)
        self.support_: BoolArray
        if self.n_features is not None:
            best = rank(-self.scores_)[: self._number(len(self.scores_))]
            self.support_ = np.isin(np.arange(len(self.scores_)), best)
            self.threshold_ = float(self.scores_[best[-1]])
        elif self.threshold == "halving":
            self.threshold_, self.support_ = _halve(self.scores_, self.min_features)
        else:
            self.threshold_ = float(self.threshold)
            self.support_ = _pass_threshold(self.scores_, self.threshold_)
        if self.false_discovery_rate is not None:
            self.support_ = self._beyond_chance(chance_p_values(codes, labels))
        return self

    def _beyond_chance(self, p_values: FloatArray) -> BoolArray:
        found = stats.false_discovery_control(p_values) <= float(self.false_discovery_rate or 0.0)
        rejected: BoolArray = found & self.support_
        if not rejected.any() and self.support_.any():
            rejected[rank(np.where(self.support_, -self.scores_, np.inf))[0]] = True
        return rejected

    def get_support(self, indices: bool = False) -> BoolArray | IntArray:
        """Which features are kept.

        Parameters
        ----------
        indices : bool
            Whether to give their numbers instead of a mask.

        Returns
        -------
        ndarray of bool of shape (n_features_in_,), or of int of shape (n_kept,)
        """
        mask = self._get_support_mask()
        return np.flatnonzero(mask) if indices else mask

    def _get_support_mask(self) -> BoolArray:
        check_is_fitted(self, "support_")
        return self.support_

    def transform(self, X: Any) -> Any:
        """Columns of the features that are kept.

        Parameters
        ----------
        X : array-like, data frame or sparse matrix of shape (n_rows, n_features_in_)
            Data as in `fit`.

        Returns
        -------
        ndarray or sparse matrix of shape (n_rows, n_kept)
        """
        check_is_fitted(self)
        X = validate_data(self, X, dtype=None, accept_sparse=("csr", "csc"), ensure_all_finite=False, reset=False)
        return X[:, self.get_support(indices=True)]

    def get_feature_names_out(self, input_features: npt.ArrayLike | None = None) -> npt.NDArray[Any]:
        """Names of the features that are kept.

        Parameters
        ----------
        input_features : array-like of str of shape (n_features_in_,), optional
            Names of all features; by default those seen in `fit`, or ``x0``, ``x1``, ...

        Returns
        -------
        ndarray of str of shape (n_kept,)
        """
        check_is_fitted(self)
        return np.asarray(_check_feature_names_in(self, input_features)[self.get_support(indices=True)])

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        tags.input_tags.sparse = True
        tags.input_tags.allow_nan = True
        tags.input_tags.categorical = True
        return tags

    def _check_settings(self) -> None:
        if isinstance(self.threshold, str):
            check_choice(self.threshold, "threshold", ("halving",))
        else:
            check_real(self.threshold, "threshold", high=1)
            if self.n_features is not None:
                raise ValueError("threshold and n_features exclude each other: with n_features leave threshold out.")
        check_integer(self.min_features, "min_features", 1)
        if self.false_discovery_rate is not None:
            check_real(self.false_discovery_rate, "false_discovery_rate", 0, 1)
        if isinstance(self.n_features, (float, np.floating)):
            if not 0 < self.n_features <= 1:
                raise ValueError(f"n_features as a share must be above 0 and at most 1, got {self.n_features!r}.")
        elif self.n_features is not None:
            check_integer(self.n_features, "n_features", 1)

    def _number(self, n_features: int) -> int:
        if isinstance(self.n_features, (float, np.floating)):
            return max(1, round(float(self.n_features) * n_features))
        return min(int(self.n_features or 0), n_features)

    def _check_stored(self) -> None:
        check_support(self)


def _pass_threshold(scores: FloatArray, threshold: float) -> BoolArray:
    # a score at the threshold passes, whatever its rounding
    return np.asarray(scores >= threshold - 1e-10 * abs(threshold))


def _halve(scores: FloatArray, wanted: int) -> tuple[float, BoolArray]:
    """Threshold 2^-k with the smallest k at which so many pass, and which do."""
    telling = scores > 1e-12  # up to here it is rounding
    if telling.sum() < wanted:
        if not telling.any():
            telling[rank(-np.round(scores, 9))[0]] = True
        return 0.0, telling
    threshold = 1.0
    while (passing := _pass_threshold(scores, threshold)).sum() < wanted:
        threshold /= 2
    return threshold, passing
