"""Fitted models of which features say less than they did."""

from __future__ import annotations

import copy
from typing import TypeVar

import numpy as np
import numpy.typing as npt
from sklearn.utils.validation import check_is_fitted

from seqclass._arrays import FloatArray

Model = TypeVar("Model", bound="Tempering")


class Tempering:
    """A model whose likelihoods can be flattened, feature by feature."""

    n_features_in_: int

    def tempered(self: Model, exponents: npt.ArrayLike) -> Model:
        """Return the same fitted model, with what each feature says flattened towards what all classes show.

        P(v | class) becomes proportional to P(v) (P(v | class) / P(v))^w, P(v) the mean over the classes, or over the
        hidden states of all; in a network and given contexts so for every outcome of what the feature depends on.

        Parameters
        ----------
        exponents : array-like of shape (n_features,)
            w of each feature, between 0 and 1: 1 leaves it as it is, 0 makes it say nothing.

        Returns
        -------
        ObservationModel

        Raises
        ------
        TypeError
            If the model has no tables to flatten.
        ValueError
            If exponents are not between 0 and 1, or not one a feature.

        Examples
        --------
        >>> from seqclass.bn import NaiveBayes
        >>> model = NaiveBayes().fit([[0, 0], [1, 1], [1, 0], [0, 1]] * 5, [0, 1, 1, 0] * 5)
        >>> model.tempered([0.5, 1.0]).posterior([[0, -1], [-1, 0]]).round(2)
        array([[0.77, 0.23],
               [0.5 , 0.5 ]])
        """
        check_is_fitted(self)
        exponent = np.array(exponents, dtype=np.float64)
        if exponent.shape != (self.n_features_in_,):
            raise ValueError(f"exponents must be {self.n_features_in_}, one a feature; got shape {exponent.shape}.")
        if not ((exponent >= 0) & (exponent <= 1)).all():
            raise ValueError("exponents must be between 0 and 1.")
        other = copy.copy(self)
        with np.errstate(divide="ignore"):
            other._temper(1 / exponent)
        return other

    def _temper(self, temperature: FloatArray) -> None:
        """Flatten the likelihoods of each feature; infinity makes them say nothing."""
        raise TypeError(f"{type(self).__name__} has no tables to flatten: it cannot be calibrated.")
