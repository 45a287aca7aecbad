"""FIRES with a soft decision tree, whose marginal likelihood is sampled."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import expit

from seqclass._arrays import FloatArray
from seqclass._validation import check_integer, check_real
from seqclass.selection._fires_sampling import sampled_gradient

#: Where a node sends practically everything to one side, its balance has no slope left to follow.
LEAST_SHARE = 1e-6


@dataclass(frozen=True)
class FiresSDT:
    """Soft decision tree whose inner nodes have normally distributed weights, for :class:`FIRES`.

    An inner node sends an instance to its right child with probability 1 / (1 + exp(-theta_n . x)); a leaf has a
    probability of the positive class. The weights' sums are divided by the square root of the number of features, so
    that standard normal weights, where the published settings start, do not make hard decisions of soft ones. The
    leaves are plain numbers without uncertainty, learnt beside the nodes, and do not enter the aggregation; they
    start in rising order from left to right, so that "right" means "positive" at every node and the mean over nodes
    that the paper prescribes does not cancel. The paper leaves all this open.

    Parameters
    ----------
    depth : int
        Levels of inner nodes: 2^depth - 1 of them.
    penalty : float
        Weight of the regulariser that keeps nodes from sending everything to one side, halved from level to level.
    n_samples : int
        Draws of the weights for each batch.
    start_sd : float
        Standard deviation of the weights at the start; 1 in the paper.

    References
    ----------
    Haug, Pawelczyk, Broelemann and Kasneci, "Leveraging Model Inherent Variable Importance for Stable Online Feature
    Selection", KDD 2020: sections 2.1.3 and 2.1.4, defaults of appendix B.3.
    Frosst and Hinton, "Distilling a Neural Network Into a Soft Decision Tree", 2017: the regulariser.

    Examples
    --------
    >>> import numpy as np
    >>> model = FiresSDT(depth=2)
    >>> mu, sigma = model.start(4, 1, np.random.default_rng(0))
    >>> mu.shape  # 3 nodes x 4 features, and 4 leaves
    (1, 16)
    """

    depth: int = 3
    penalty: float = 0.01
    n_samples: int = 5
    start_sd: float = 1.0

    def start(self, n_features: int, n_problems: int, rng: np.random.Generator) -> tuple[FloatArray, FloatArray]:
        """Normal weights of mean zero, and leaves in rising order.

        Returns
        -------
        mu, sigma : ndarray of shape (n_problems, n_nodes * n_features + n_leaves)

        Raises
        ------
        ValueError
            If a setting is out of range.
        """
        check_integer(self.depth, "depth", 1, 16)
        check_integer(self.n_samples, "n_samples", 1)
        check_real(self.penalty, "penalty", 0)
        check_real(self.start_sd, "start_sd", np.finfo(float).tiny)
        n_leaves = 2**self.depth
        mu = np.zeros((n_problems, (n_leaves - 1) * n_features + n_leaves))
        sigma = np.full_like(mu, self.start_sd)
        mu[:, -n_leaves:] = np.linspace(-1, 1, n_leaves)
        sigma[:, -n_leaves:] = 0
        return mu, sigma

    def gradient(
        self, X: Any, Y: FloatArray, mu: FloatArray, sigma: FloatArray, rng: np.random.Generator
    ) -> tuple[FloatArray, FloatArray]:
        """Gradient of the batch's mean log-likelihood less the regulariser, sampled, in mu and sigma.

        Parameters
        ----------
        X : ndarray or CSR matrix of shape (n, n_features)
            The batch.
        Y : ndarray of shape (n_problems, n)
            Labels -1 and 1.
        mu, sigma : ndarray of shape (n_problems, n_parameters)
            Mean and standard deviation of the parameters.
        rng : numpy.random.Generator
            Draws the weights.

        Returns
        -------
        for_mu, for_sigma : ndarray of shape (n_problems, n_parameters)
        """
        for_mu, for_sigma = sampled_gradient(self._forward, X, Y, mu, sigma, self.n_samples, rng)
        for_sigma[:, -(2**self.depth) :] = 0
        return for_mu, for_sigma

    def aggregate(self, mu: FloatArray, sigma: FloatArray, n_features: int) -> tuple[FloatArray, FloatArray]:
        """Importance and uncertainty of each feature: the mean over inner nodes.

        Returns
        -------
        mu, sigma : ndarray of shape (n_problems, n_features)
        """
        n_nodes = 2**self.depth - 1
        shape = (len(mu), n_nodes, n_features)
        nodes = [weights[:, : n_nodes * n_features].reshape(shape).mean(axis=1) for weights in (mu, sigma)]
        return nodes[0], nodes[1]

    def _forward(self, X: Any, y: FloatArray, theta: FloatArray) -> tuple[FloatArray, Any]:
        """Log P(y | x, theta) of each row, and what gives the gradient of their weighted sum."""
        n_nodes, n_features = 2**self.depth - 1, X.shape[1]
        scale = 1 / np.sqrt(n_features)
        # nodes lie as in a heap: the children of n are 2n + 1 (left) and 2n + 2 (right)
        right = expit(X @ (theta[: -n_nodes - 1].reshape(n_nodes, n_features).T * scale)).T
        reach = np.empty((2 * n_nodes + 1, len(y)))
        reach[0] = 1
        for node in range(n_nodes):
            reach[2 * node + 2] = reach[node] * right[node]
            reach[2 * node + 1] = reach[node] - reach[2 * node + 2]
        leaf = theta[-n_nodes - 1 :]
        told = expit(np.multiply.outer(leaf, y))
        likelihood = np.einsum("ln,ln->n", reach[n_nodes:], told)

        def backward(weight: FloatArray) -> FloatArray:
            by = weight / likelihood
            for_leaf = (by * reach[n_nodes:] * told * (1 - told) * y).sum(axis=1)
            for_right, for_reach = self._balance_slopes(right, reach[:n_nodes])
            for_sums = _through_nodes(right, reach, by * told, for_right, for_reach)
            return np.concatenate([np.asarray((X.T @ for_sums.T).T).ravel() * scale, for_leaf])

        return np.log(likelihood), backward

    def _balance(self, right: FloatArray, reach: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Share that each node sends to the right, what reaches it in all, and the weight of its regulariser."""
        total = np.maximum(reach.sum(axis=1), np.finfo(float).tiny)
        share = np.clip((reach * right).sum(axis=1) / total, LEAST_SHARE, 1 - LEAST_SHARE)
        level = np.floor(np.log2(np.arange(1, len(right) + 1)))
        return share, total, self.penalty * 0.5**level

    def _balance_slopes(self, right: FloatArray, reach: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Slopes of the regulariser, averaged over draws, in each node's probability and in what reaches it."""
        share, total, weight = self._balance(right, reach)
        slope = weight / 2 * (1 / share - 1 / (1 - share)) / self.n_samples
        slope[(share <= LEAST_SHARE) | (share >= 1 - LEAST_SHARE)] = 0
        per_row = (slope / total)[:, None]
        return per_row * reach, per_row * (right - share[:, None])


def _through_nodes(
    right: FloatArray, reach: FloatArray, for_leaves: FloatArray, for_right: FloatArray, for_reach: FloatArray
) -> FloatArray:
    """Slope in each node's sum, from those in what reaches the leaves: backpropagation, children before parents."""
    n_nodes = len(right)
    for_reached = np.concatenate([np.empty_like(right), for_leaves])
    for node in range(n_nodes - 1, -1, -1):
        to_left, to_right = for_reached[2 * node + 1], for_reached[2 * node + 2]
        for_right[node] += reach[node] * (to_right - to_left)
        for_reached[node] = to_left + right[node] * (to_right - to_left) + for_reach[node]
    return for_right * right * (1 - right)
