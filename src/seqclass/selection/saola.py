"""SAOLA: features that stream in are kept by pairwise comparisons alone."""

from __future__ import annotations

from typing import Any

import numpy as np

from seqclass._arrays import FloatArray, IntArray
from seqclass._validation import check_choice, check_real
from seqclass.selection._information_dependence import InformationDependence
from seqclass.selection._measures import CorrelationDependence, Dependence, blocks
from seqclass.selection._pairwise_scan import PairwiseScan
from seqclass.selection._reasons import FeatureReasons, ReasonLog
from seqclass.selection._stream import FeatureStream


class SAOLA(FeatureStream):
    """Scalable and accurate online feature selection: each new feature is compared with those kept so far, in pairs.

    A feature that is not relevant to the class is dropped. A relevant one meets the kept ones in the order in which
    they came: it is dropped at the first that is more relevant and on which it depends at least as much as the bound;
    those less relevant that depend on it so are removed on the way, also if it is dropped later itself. Kept and
    dropped features are the same however the stream is cut into blocks.

    Parameters
    ----------
    measure : {"mi", "su", "fisher_z"}, default="mi"
        Dependence: mutual information in bits or symmetric uncertainty, 2 I / (H + H), of discrete data, in which
        missing cells (NaN in floats; -1 in columns of integers that have nothing below it) are left out of the counts;
        or the absolute correlation of continuous data, relevant by Fisher's Z-test.
    delta_1 : float, default=0.0
        With ``"mi"`` and ``"su"``: a feature is relevant if its measure with the class is above this. At zero, a
        feature without any information is still dropped.
    alpha : float, default=0.01
        With ``"fisher_z"``: level of significance at which a feature is relevant.
    bound : {"min", "max"}, default="min"
        What the dependence of two features must reach for one to be redundant: the smaller of their relevances (SAOLA)
        or the larger (SAOLA-max, which keeps more).
    class_coding : {"groups", "codes"}, default="groups"
        With ``"fisher_z"`` and more than two classes: relevance by the correlation ratio (the multiple correlation of
        the feature with the indicators of the classes; F-test with C - 1 and n - C degrees of freedom), which does not
        depend on how classes are numbered; or the correlation with the class as a number, as published: the labels
        themselves where they are numbers, else their ranks. For two classes both are the same.
    drop_ties : bool, default=False
        Whether of two equally relevant features, one of which makes the other redundant, the later is dropped.
        Algorithm 1 keeps both, and so every copy of a kept feature.

    Attributes
    ----------
    selected_ : ndarray of int
        Features kept, in order of arrival.
    scores_ : ndarray of shape (n_features_in_,)
        Relevance of all features.
    support_ : ndarray of bool of shape (n_features_in_,)
        Which features are kept.
    classes_, n_features_in_, feature_names_in_, n_seen_
        As of all selectors.

    Notes
    -----
    Memory beyond the input is that of a block of columns and of the kept ones; sparse columns are never made dense.
    Comparisons allow for rounding of 1e-11.

    Line 3 of Algorithm 1 drops a feature whose relevance is *below* ``delta_1``; at the default of zero that would keep
    those without any information, so here, as in the text of section III.B, it has to be *above*.

    The paper writes mutual information; the 63 features of its Table IV on dorothea are those of ``measure="su"``.

    The authors' LOFS code, on the same data, selects the same features: with ``measure="su"`` for its discrete version
    (which cuts values down to integers, skips columns that sum to zero, and takes the dependence as strictly above the
    bound), with ``measure="fisher_z", class_coding="codes"`` for its continuous one.

    References
    ----------
    K. Yu, X. Wu, W. Ding, J. Pei, "Towards scalable and accurate online feature selection for big data", ICDM 2014,
    Algorithm 1, equations (12) and (14).

    Examples
    --------
    >>> import numpy as np
    >>> y = np.array([0, 0, 0, 0, 1, 1, 1, 1])
    >>> noisy, noisier = y ^ [1, 0, 0, 0, 0, 0, 0, 0], y ^ [1, 1, 0, 0, 0, 0, 0, 0]
    >>> useless = y ^ [1, 1, 0, 0, 1, 1, 0, 0]
    >>> selector = SAOLA().partial_fit_features(np.stack([noisier, useless], axis=1), y, ["noisier", "useless"])
    >>> selector.get_feature_names_out().tolist()
    ['noisier']
    >>> selector = selector.partial_fit_features(noisy[:, None], y, ["noisy"])
    >>> selector.get_feature_names_out().tolist()
    ['noisy']
    >>> print(selector.explain().describe(0))
    'noisier' (relevance 0.3113) was kept until it was replaced by 'noisy' (relevance 0.5488, dependence 0.4669)
    """

    _accepts_sparse = True

    def __init__(
        self,
        measure: str = "mi",
        delta_1: float = 0.0,
        alpha: float = 0.01,
        bound: str = "min",
        class_coding: str = "groups",
        drop_ties: bool = False,
    ) -> None:
        self.measure = measure
        self.delta_1 = delta_1
        self.alpha = alpha
        self.bound = bound
        self.class_coding = class_coding
        self.drop_ties = drop_ties

    @property
    def _allows_nan(self) -> bool:  # type: ignore[override]
        return self.measure != "fisher_z"

    @property
    def _discrete(self) -> bool:  # type: ignore[override]
        return self.measure != "fisher_z"

    @property
    def scores_(self) -> FloatArray:
        """Relevance of every feature seen so far."""
        if not hasattr(self, "_log"):
            raise AttributeError("scores_ is there after fit or partial_fit_features.")
        return self._log.relevance()

    def explain(self) -> FeatureReasons:
        """Tell what became of each feature, and because of which other.

        Returns
        -------
        FeatureReasons
            Arrays with an entry for each feature seen so far; ``describe(j)`` says one in words.
        """
        support = self.get_support(indices=True)
        return self._log.reasons(support, getattr(self, "feature_names_in_", None))

    def _begin(self, codes: IntArray) -> None:
        check_choice(self.bound, "bound", ("min", "max"))
        check_choice(self.class_coding, "class_coding", ("groups", "codes"))
        self._log = ReasonLog()
        self._scan = PairwiseScan(self._dependence(codes), self.bound == "max", bool(self.drop_ties), self._log)

    def _dependence(self, codes: IntArray) -> Dependence:
        measure = check_choice(self.measure, "measure", ("mi", "su", "fisher_z"))
        delta_1 = check_real(self.delta_1, "delta_1", 0)
        alpha = check_real(self.alpha, "alpha", 0, 1)
        if measure != "fisher_z":
            return InformationDependence(measure == "su", delta_1, codes, len(self.classes_))
        values = None
        if self.class_coding == "codes":
            values = self._class_values(codes)
        return CorrelationDependence(alpha, codes, values, len(self.classes_))

    def _absorb(self, X: Any) -> None:
        for start, stop in blocks(X):
            first = self.n_seen_ + start
            columns, relevance = self._scan.dependence.prepare(X[:, start:stop], first)
            self._log.scores(relevance)
            relevant = np.flatnonzero(self._scan.dependence.relevant(relevance))
            if relevant.size:
                self._scan.take(columns.take(relevant), first + relevant, relevance[relevant])
        self.selected_ = self._scan.numbers
