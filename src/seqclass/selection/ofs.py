"""OFS: online feature selection by a perceptron whose weights are cut to the largest few."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp

from seqclass._utils.arrays import FloatArray, IntArray
from seqclass._utils.validation import check_real
from seqclass.selection._base import WINDOW, RowStream, largest


@dataclass(repr=False, eq=False)
class OFS(RowStream):
    """Online feature selection: learn from mistakes, project, keep the largest weights.

    An instance within the margin, y w.x <= 1, moves the weights by ``learning_rate`` y x; they are then projected
    into the ball of radius 1/sqrt(``penalty``) and all but the ``n_features_to_select`` largest are set to zero.
    Every instance shrinks them by the factor 1 - ``penalty`` * ``learning_rate``, unless ``shrink`` is off.

    Parameters
    ----------
    n_features_to_select : int or float
        Number of features to keep, or their fraction if a float up to 1.
    learning_rate : float
        Step size, eta.
    penalty : float
        Weight of the squared norm, lambda.
    shrink : bool
        Whether the weights shrink. In the experiments of Haug et al. (KDD 2020) they do not.
    batch_size, n_epochs, shuffle, random_state
        As in :class:`FIRES`; the result does not depend on ``batch_size``.

    Attributes
    ----------
    coef_ : ndarray of shape (n_problems, n_features_in_)
        Weights of the perceptrons: one for two classes, else one for each class against the rest.
    weights_ : ndarray of shape (n_features_in_,)
        Their absolute values, averaged over problems (more than two classes go beyond the paper).
    support_, classes_, n_features_in_, feature_names_in_, n_seen_
        As in :class:`FIRES`.

    References
    ----------
    Wang, Zhao, Hoi and Jin, "Online Feature Selection and Its Applications", IEEE TKDE 26(3), 2014: sparse projection
    with full inputs, eta = 0.2 and lambda = 0.01. Written from descriptions of the algorithm.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.random.default_rng(0).normal(size=(300, 6))
    >>> OFS(2).fit(X, X[:, 1] > X[:, 4]).get_support(indices=True).tolist()
    [1, 4]
    """

    _accepts_sparse = True

    learning_rate: float = 0.2
    penalty: float = 0.01
    _: KW_ONLY
    shrink: bool = True

    def _check_settings(self) -> None:
        check_real(self.learning_rate, "learning_rate", np.finfo(float).tiny)
        check_real(self.penalty, "penalty", np.finfo(float).tiny)
        if self.learning_rate * self.penalty >= 1:
            raise ValueError("learning_rate * penalty must be below 1, or each instance wipes out what was learnt.")

    def _start(self, n_features: int) -> None:
        n_problems = 1 if len(self.classes_) == 2 else len(self.classes_)
        self.coef_ = np.zeros((n_problems, n_features))

    def _learn(self, X: Any, codes: IntArray) -> None:
        with np.errstate(over="ignore", invalid="ignore"):
            for weights, y in zip(self.coef_, self._signs(codes)):
                self._pass(X, y, weights)
        self.weights_ = np.abs(self.coef_).mean(axis=0)

    def _pass(self, X: Any, y: FloatArray, weights: FloatArray) -> None:
        """Go through the rows in place; what comes between two mistakes is scored in one product."""
        fade = 1 - self.penalty * self.learning_rate if self.shrink else 1.0
        number, start = self._n_selected(), 0
        while start < len(y):
            rows = slice(start, min(len(y), start + WINDOW))
            margins = y[rows] * (X[rows] @ weights) * fade ** np.arange(rows.stop - start)
            mistakes = np.flatnonzero(margins <= 1)
            passed = int(mistakes[0]) + 1 if len(mistakes) else rows.stop - start
            weights *= fade**passed
            start += passed
            if len(mistakes):
                at = start - 1
                x = X[[at]].toarray()[0] if sp.issparse(X) else X[at]
                weights += self.learning_rate * y[at] * x
                weights *= min(1.0, 1 / (np.sqrt(self.penalty) * norm(weights)))
                weights[~largest(np.abs(weights), number)] = 0


def norm(values: FloatArray) -> float:
    """Euclidean norm that does not overflow, and is never zero."""
    size = max(float(np.abs(values).max()), np.finfo(float).tiny)
    return max(size * float(np.linalg.norm(values / size)), np.finfo(float).tiny)
