"""The Monte Carlo gradient that FIRES's sampled models share."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.special import logsumexp

from seqclass._arrays import FloatArray

#: Values beyond are cut to it, so that products over layers stay finite.
LARGEST = 1e12
#: (X, y, theta) -> log P(y | x, theta) of each row, and a function from row weights to the weighted sum's gradient.
Forward = Callable[[Any, FloatArray, FloatArray], tuple[FloatArray, Callable[[FloatArray], FloatArray]]]


def sampled_gradient(
    forward: Forward,
    X: Any,
    Y: FloatArray,
    mu: FloatArray,
    sigma: FloatArray,
    n_samples: int,
    rng: np.random.Generator,
) -> tuple[FloatArray, FloatArray]:
    """Gradient of the mean of log (1/L sum_l P(y | x, mu + sigma r_l)) in mu and sigma, exact for the draws r_l.

    A draw that explains a row better than the others weighs more in that row's gradient: the quotient of eq. (2), taken
    in logarithms, so that draws under which the label is all but impossible do no harm.

    References
    ----------
    Haug et al., KDD 2020: eqs. (2) and (3), section 2.1.2.

    Examples
    --------
    >>> import numpy as np
    >>> def normal(X, y, theta):  # log density of y around x theta, up to a constant
    ...     error = y - X @ theta
    ...     return -(error**2) / 2, lambda weight: X.T @ (weight * error)
    >>> X, Y = np.array([[1.0], [2.0]]), np.array([[1.0, 2.0]])
    >>> for_mu, _ = sampled_gradient(normal, X, Y, np.zeros((1, 1)), np.zeros((1, 1)), 5, np.random.default_rng(0))
    >>> for_mu.round(3).tolist()
    [[2.5]]
    """
    for_mu, for_sigma = np.zeros_like(mu), np.zeros_like(sigma)
    values = X.data if sp.issparse(X) else X
    if values.size and max(values.max(), -values.min()) > LARGEST:
        X = X.copy()
        values = X.data if sp.issparse(X) else X
        np.clip(values, -LARGEST, LARGEST, out=values)
    for problem, y in enumerate(Y):
        noise = rng.standard_normal((n_samples, mu.shape[1]))
        passes = [forward(X, y, mu[problem] + sigma[problem] * r) for r in noise]
        logs = np.stack([log for log, _ in passes])
        shares = np.exp(logs - logsumexp(logs, axis=0)) / len(y)
        for (_, backward), share, r in zip(passes, shares, noise):
            slope = backward(share)
            for_mu[problem] += slope
            for_sigma[problem] += slope * r
    return for_mu, for_sigma
