"""Naive Bayes: the features are independent given the class."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.utils.validation import check_is_fitted

from seqclass._utils.arrays import FloatArray, IntArray, chunks
from seqclass._utils.information import contingency_table
from seqclass._utils.stored import require, require_array, require_numbers
from seqclass._utils.validation import check_integer, check_real, check_weights, exponential_forgetting
from seqclass._utils.whole_fits import all_or_nothing
from seqclass.bn._checks import (
    Codes,
    check_codes,
    check_labels,
    check_n_outcomes,
    check_outcome,
    resolve_prior,
)
from seqclass.bn._tables import smooth, state_posterior, temper
from seqclass.bn.base import CodedChunks, ObservationModel


@dataclass(repr=False, eq=False)
class NaiveBayes(ObservationModel):
    """Categorical naive Bayes with Laplace smoothing and an optional temperature.

    P(outcome v | class c) = (S_vc + alpha) / (S_c + alpha V), where S_vc is the weight of the training rows
    of class c with outcome v, S_c that of the rows of class c in which the feature is not missing, and V the
    feature's number of outcomes ([1]_, section 5.1).

    Naive Bayes counts information that correlated features share once for each of them, and so is over-confident. A
    temperature T flattens the likelihoods towards the feature's marginal P(v): P_T(v | c) is proportional to
    P(v) (P(v | c) / P(v))^(1/T). Features asked later need a higher T; `SequentialClassifier(calibrate=True)` finds it.

    Parameters
    ----------
    alpha : float
        Pseudo-count of every outcome in every class; 0 gives plain frequencies.
    prior : None, "uniform" or array-like of shape (n_classes,)
        Class prior; None takes the (weighted) frequencies of the training data.
    temperature : float, optional
        T of all features: 1, the default, leaves the likelihoods as they are, larger is more cautious.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        Class labels.
    class_prior_ : ndarray of shape (n_classes,)
        Class prior in use.
    class_count_ : ndarray of shape (n_classes,)
        Weight of the training rows of each class.
    counts_ : ndarray of shape (n_features, V_max, n_classes)
        Weight of the training rows with each outcome in each class; missing cells are left out.
    n_outcomes_ : ndarray of shape (n_features,)
        Number of outcomes V_j of each feature.
    temperature_ : float or ndarray of shape (n_features,)
        T in use, one for all or one each.
    n_features_in_ : int
        Number of features.

    References
    ----------
    .. [1] Y. W. Liyanage, D.-S. Zois, C. Chelmis, "On-the-fly joint feature selection and classification",
       2020, section 5.1.

    Examples
    --------
    >>> X = [[0, 2], [1, 0], [1, 1], [0, -1]]
    >>> model = NaiveBayes().fit(X, ["ill", "well", "well", "ill"])
    >>> model.posterior([[0, -1], [1, 1]]).round(3)
    array([[0.75 , 0.25 ],
           [0.172, 0.828]])
    >>> model.predict([[0, -1], [1, 1]]).tolist()
    ['ill', 'well']
    """

    _accepts_sparse = True
    _is_naive = True
    _: KW_ONLY
    alpha: float = 1.0
    prior: Any = None
    temperature: float | None = None
    temperature_: float | FloatArray = field(init=False)

    @all_or_nothing
    def partial_fit(
        self,
        X: Any,
        y: npt.ArrayLike,
        classes: Any = None,
        n_outcomes: Any = None,
        sample_weight: Any = None,
        half_life: float | None = None,
    ) -> NaiveBayes:
        """Add rows to the counts; the same as :meth:`fit` on all rows so far, or with weights that fall with their age.

        Parameters
        ----------
        X, y, sample_weight
            As in :meth:`fit`.
        classes : array-like of shape (n_classes,), optional
            All classes there will be. Needed on the first call.
        n_outcomes : int or array-like of shape (n_features,), optional
            Number of outcomes of each feature. Needed on the first call.
        half_life : float, optional
            Rows after which a row counts half: the rows come in order of time, and one that k others of a weight above
            0 follow counts 2^(-k / half_life), whatever calls they come in. By default all count alike.

        Returns
        -------
        self

        Raises
        ------
        ValueError
            If the first call lacks ``classes`` or ``n_outcomes``, a later one changes them, or a label or an
            outcome is not among them.

        Examples
        --------
        >>> model = NaiveBayes().partial_fit([[0], [1]], ["a", "b"], classes=["a", "b"], n_outcomes=2)
        >>> model.partial_fit([[1]], ["b"]).counts_[0].tolist()
        [[1.0, 0.0], [0.0, 2.0]]
        >>> model.partial_fit([[0]], ["b"], half_life=1).counts_[0].tolist()
        [[0.5, 1.0], [0.0, 1.0]]
        """
        self._check_settings()
        first = not hasattr(self, "counts_")
        if first and (classes is None or n_outcomes is None):
            raise ValueError("the first call of partial_fit needs classes and n_outcomes.")
        if first:
            self._note_names(X)
        n_outcomes = self._by_feature(n_outcomes, "n_outcomes")
        if not first:
            self._check_same(classes, n_outcomes)
            classes, n_outcomes = self.classes_, None
        X = check_codes(self._by_name(X), n_outcomes=n_outcomes, fitted=None if first else self.n_outcomes_)
        labels = check_labels(y, X.shape[0])
        weight = check_weights(sample_weight, X.shape[0])
        classes = np.unique(classes)
        codes = np.minimum(np.searchsorted(classes, labels), len(classes) - 1)
        unknown = classes[codes] != labels
        if unknown.any():
            raise ValueError(f"y has the label {labels[np.argmax(unknown)]!r}, which is not in classes")
        kept = 1.0
        if half_life is not None:
            weights = None if weight is None else np.concatenate([[1.0], weight])
            fading = exponential_forgetting(X.shape[0] + 1, half_life, weights)
            kept, weight = float(fading[0]), fading[1:]
        if first:
            self.classes_, self.n_features_in_ = classes, X.shape[1]
            self.n_outcomes_ = check_n_outcomes(n_outcomes, X.shape[1]).copy()
        counts = contingency_table(X, codes, len(classes), self.n_outcomes_, weight)
        class_count = np.bincount(codes, weights=weight, minlength=len(classes))
        # new arrays: a copy with exponents or another prior shares those of before
        self.counts_: FloatArray = counts + kept * vars(self).get("counts_", 0.0)
        self.class_count_: FloatArray = class_count + kept * vars(self).get("class_count_", 0.0)
        self.class_prior_ = resolve_prior(self.prior, self.class_count_, self.classes_)
        return self

    def _likelihood_table(self, features: IntArray | slice) -> FloatArray:
        counts, n_outcomes = self.counts_[features], self.n_outcomes_[features]
        temperature = np.broadcast_to(self.temperature_, self.n_features_in_)[features]
        table = np.empty_like(counts)
        for part in chunks(len(counts), 8.0 * 6 * counts[0].size if len(counts) else 1):
            smoothed = smooth(counts[part], n_outcomes[part], self.alpha)
            table[part] = temper(smoothed, self.class_prior_, temperature[part])
        return table

    def tables(self, order: npt.ArrayLike) -> FloatArray:
        """Likelihoods of the stages of an order, the same whatever was seen: (n_stages, V_max, n_classes)."""
        return self.likelihood_table(np.asarray(order))

    def context_features(self, order: npt.ArrayLike) -> list[IntArray]:
        """No feature bears on another, given the class; see :meth:`ObservationModel.context_features`."""
        return [np.empty(0, dtype=np.intp) for _ in np.asarray(order)]

    def start(self, n: int) -> Any:
        """State of ``n`` instances: nothing that was seen bears on what comes, so it holds nothing."""
        check_is_fitted(self)
        return np.empty((check_integer(n, "n", 0), 0), dtype=np.int8)

    def advance(self, feature: int, state: Any, outcome: npt.ArrayLike) -> Any:
        """State after the feature's outcome was seen: unchanged; see :meth:`ObservationModel.advance`."""
        check_outcome(feature, outcome, int(self.n_outcomes_[feature]))
        return state

    def stage_likelihoods(self, features: IntArray, state: Any) -> FloatArray:
        """P(outcome | class) of many features at once; see :meth:`ObservationModel.stage_likelihoods`."""
        table = self._likelihood_table(features)
        return np.broadcast_to(table, (len(state), *table.shape))

    def _fit(self, X: Codes, codes: IntArray, sample_weight: FloatArray | None) -> None:
        self._check_settings()
        n_classes = len(self.classes_)
        self.counts_ = contingency_table(X, codes, n_classes, self.n_outcomes_, sample_weight)
        self.class_count_ = np.bincount(codes, weights=sample_weight, minlength=n_classes).astype(np.float64)
        self.class_prior_ = resolve_prior(self.prior, self.class_count_, self.classes_)

    def _fit_chunks(self, chunks: CodedChunks) -> None:
        self._check_settings()
        self.counts_, self.class_count_ = chunks.counts, chunks.class_count
        self.class_prior_ = resolve_prior(self.prior, self.class_count_, self.classes_)

    def _temper(self, temperature: FloatArray) -> None:
        self.temperature_ = self.temperature_ * temperature

    def _check_settings(self) -> None:
        check_real(self.alpha, "alpha", 0)
        if isinstance(self.temperature, str):
            raise ValueError(
                f"temperature must be a number, not {self.temperature!r}; what rows held out ask for is found by "
                "SequentialClassifier(calibrate=True), question by question."
            )
        self.temperature_ = 1.0 if self.temperature is None else check_real(self.temperature, "temperature", 1)

    def _check_same(self, classes: Any, n_outcomes: Any) -> None:
        if classes is not None and not np.array_equal(np.unique(classes), self.classes_):
            raise ValueError(f"classes differ from those of the first call, {self.classes_.tolist()}")
        if n_outcomes is not None and not np.array_equal(
            check_n_outcomes(n_outcomes, self.n_features_in_), self.n_outcomes_
        ):
            raise ValueError("n_outcomes differ from those of the first call")

    def _likelihood(self, feature: int, evidence: Any) -> FloatArray:
        table = self._likelihood_table(slice(feature, feature + 1))[0, : self.n_outcomes_[feature]]
        return np.broadcast_to(table, (evidence.shape[0], *table.shape))

    def _posterior(self, evidence: Any) -> FloatArray:
        return np.ascontiguousarray(state_posterior(evidence, self.class_prior_, self._pad_table).T)

    def _pad_table(self, features: slice) -> FloatArray:
        """P(outcome | class), and 1 beyond V_j, where no outcome lies."""
        table = self._likelihood_table(features)
        # an infinity that nothing ever picks would still send sparse sums the slow way
        table[np.arange(table.shape[1]) >= self.n_outcomes_[features, None]] = 1.0
        return table

    def _check_stored_fit(self) -> None:
        n_classes, temperature = len(self.classes_), self.temperature_
        counts = require_numbers(self, "counts_", self.n_features_in_, None, n_classes, low=0)
        require(self.n_outcomes_.max() <= counts.shape[1], "counts_ are wrong")
        most = 1e100  # that add up to a number still
        require(counts.max(initial=0) <= most and 0 <= float(self.alpha) <= most, "counts are too large")
        require_numbers(self, "class_count_", n_classes)
        if not isinstance(temperature, (float, np.floating)):  # one a feature
            temperature = require_array(self, "temperature_", "f", self.n_features_in_)
        require(bool(np.all(temperature >= 1)), "temperature_ is below 1")
