"""FIRES with a generalised linear model: probit, whose marginal likelihood has a closed form."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.special import erfcx, log_ndtr

from seqclass._arrays import FloatArray, chunks

#: Bytes of a block of rows that stays in the processor's cache while it is gone through five times.
CACHE_BYTES = 2**21


@dataclass(frozen=True)
class FiresGLM:
    """Probit model with one normally distributed parameter a feature, for :class:`FIRES`.

    P(y | x) = Phi(y mu.x / rho), rho^2 = 1 + sum_j sigma_j^2 x_j^2, exactly; no sampling is needed, and there is no
    intercept.

    References
    ----------
    Haug, Pawelczyk, Broelemann and Kasneci, "Leveraging Model Inherent Variable Importance for Stable Online Feature
    Selection", KDD 2020: section 2.1.1, Lemmas A.1 and A.2.

    Examples
    --------
    >>> import numpy as np
    >>> model = FiresGLM()
    >>> X, Y = np.array([[1.0, 0.0], [-1.0, 0.0]]), np.array([[1.0, -1.0]])
    >>> mu, sigma = model.start(2, 1, np.random.default_rng(0))
    >>> for_mu, for_sigma = model.gradient(X, Y, mu, sigma, np.random.default_rng(0))
    >>> for_mu.round(3).tolist()
    [[0.564, 0.0]]
    """

    #: The gradient is exact.
    draws = False

    def start(self, n_features: int, n_problems: int, rng: np.random.Generator) -> tuple[FloatArray, FloatArray]:
        """Standard normal parameters.

        Returns
        -------
        mu, sigma : ndarray of shape (n_problems, n_features)
        """
        return np.zeros((n_problems, n_features)), np.ones((n_problems, n_features))

    def gradient(
        self, X: Any, Y: FloatArray, mu: FloatArray, sigma: FloatArray, rng: np.random.Generator
    ) -> tuple[FloatArray, FloatArray]:
        """Gradient of the batch's mean log-likelihood in mu and sigma.

        Parameters
        ----------
        X : ndarray or CSR matrix of shape (n, n_features)
            The batch.
        Y : ndarray of shape (n_problems, n)
            Labels -1 and 1.
        mu, sigma : ndarray of shape (n_problems, n_features)
            Mean and standard deviation of the parameters.
        rng : numpy.random.Generator
            Not used.

        Returns
        -------
        for_mu, for_sigma : ndarray of shape (n_problems, n_features)
        """
        n, n_features = X.shape
        variance = sigma * sigma
        for_mu, for_sigma = np.zeros_like(mu), np.zeros_like(sigma)
        # the temporaries of a sparse block are as large as its stored values, so it is taken whole
        blocks = [slice(0, n)] if sp.issparse(X) else chunks(n, 8.0 * n_features, CACHE_BYTES)
        for rows in blocks:
            add_mu, add_sigma = _block_gradient(X[rows], Y[:, rows], mu, variance)
            for_mu += add_mu
            for_sigma += add_sigma
        for_mu /= n
        for_sigma *= sigma / -n
        return for_mu, for_sigma

    def aggregate(self, mu: FloatArray, sigma: FloatArray, n_features: int) -> tuple[FloatArray, FloatArray]:
        """Importance and uncertainty of each feature: the parameters themselves.

        Returns
        -------
        mu, sigma : ndarray of shape (n_problems, n_features)
        """
        return mu, sigma

    def log_likelihood(self, X: Any, Y: FloatArray, mu: FloatArray, sigma: FloatArray) -> FloatArray:
        """Mean log marginal likelihood of a batch, eq. (3).

        Returns
        -------
        ndarray of shape (n_problems,)
        """
        rho = np.sqrt(1 + X**2 @ (sigma**2).T)
        return np.asarray(log_ndtr(Y.T * (X @ mu.T) / rho).mean(axis=0))


def _block_gradient(X: Any, Y: FloatArray, mu: FloatArray, variance: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Sums over a block of rows; those for sigma still lack the factor -sigma."""
    with np.errstate(over="ignore", under="ignore", invalid="ignore"):
        squares = _squares(X)
        length = (squares @ variance.T).T
        own: Any = 1.0
        if not np.isfinite(length).all():
            # values beyond 1e150: the same ratios, from rows divided by their largest value
            size = abs(X).max(axis=1)
            size = np.maximum(np.ravel(size.toarray() if sp.issparse(size) else size), 1.0)
            X = sp.diags_array(1 / size) @ X if sp.issparse(X) else X / size[:, None]
            own = (1 / size) ** 2
            squares = _squares(X)
            length = (squares @ variance.T).T
        rho = np.sqrt(own + length)
        z = Y * (X @ mu.T).T / rho
        # phi(z) / Phi(z), without a quotient of two numbers that underflow
        slope = np.sqrt(2 / np.pi) / erfcx(-z / np.sqrt(2)) / rho
        for_mu, for_sigma = slope * Y, slope * z / rho
        if sp.issparse(X):
            return (X.T @ for_mu.T).T, (squares.T @ for_sigma.T).T
        return for_mu @ X, for_sigma @ squares


def _squares(X: Any) -> Any:
    return X.multiply(X).tocsr() if sp.issparse(X) else X * X
