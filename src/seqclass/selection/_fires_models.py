"""FIRES with a neural network, whose marginal likelihood is sampled."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.special import expit, log_expit, logsumexp

from seqclass._utils.arrays import FloatArray
from seqclass._utils.model_files import register
from seqclass._utils.validation import check_choice, check_integer, check_real

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
    """Gradient of the mean of log (1/L sum_l P(y | x, mu + sigma r_l)) in mu and sigma, exact for the draws r_l."""
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


#: Where a node sends practically everything to one side, its balance has no slope left to follow.
LEAST_SHARE = 1e-6


@register
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
        """Gradient of the batch's mean log-likelihood less the regulariser, sampled; see `FiresGLM.gradient`."""
        for_mu, for_sigma = sampled_gradient(self._forward, X, Y, mu, sigma, self.n_samples, rng)
        for_sigma[:, -(2**self.depth) :] = 0
        return for_mu, for_sigma

    def aggregate(self, mu: FloatArray, sigma: FloatArray, n_features: int) -> tuple[FloatArray, FloatArray]:
        """Importance and uncertainty of each feature: the mean over inner nodes; see `FiresGLM.aggregate`."""
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


@register
@dataclass(frozen=True)
class FiresANN:
    """Fully connected network with ReLU units and normally distributed weights, for :class:`FIRES`.

    The marginal likelihood is the mean over ``n_samples`` draws of the weights, theta = mu + sigma r. There are no
    biases. A layer divides its sums by the square root of their number of terms: with standard normal weights, where
    the published settings start, signals keep their size from layer to layer, while without it they grow a
    thousandfold and the output is saturated from the first batch on. The paper leaves activations and biases open.

    Parameters
    ----------
    hidden_layers : int
        Number of hidden layers.
    units : int
        Units of each.
    n_samples : int
        Draws of the weights for each batch.
    aggregation : {"paths", "products"}
        How the weights make one importance a feature. ``"paths"`` is the paper's: every mean starts at zero, and a
        feature's importance is the mean weight of each layer along its paths, summed over layers. The layers beyond the
        first add the same to every feature, and from zero means no direction is better than its opposite, so that the
        network learns by chance at first. ``"products"`` starts with units that pass on what they get, half of them
        for the positive class and half against it, and sums over a feature's paths the *product* of their weights: what
        the feature would do to the output if no unit were cut off. Its standard deviation takes paths as uncorrelated.
    start_sd : float
        Standard deviation of the weights at the start; 1 in the paper. 0.3 goes well with ``"products"``.

    References
    ----------
    Haug, Pawelczyk, Broelemann and Kasneci, "Leveraging Model Inherent Variable Importance for Stable Online Feature
    Selection", KDD 2020: sections 2.1.2 and 2.1.4, defaults of appendix B.3.

    Examples
    --------
    >>> import numpy as np
    >>> model = FiresANN(hidden_layers=1, units=3)
    >>> mu, sigma = model.start(4, 1, np.random.default_rng(0))
    >>> mu.shape  # 4 x 3 weights into the hidden layer, 3 out of it
    (1, 15)
    """

    hidden_layers: int = 3
    units: int = 100
    n_samples: int = 5
    aggregation: str = "paths"
    start_sd: float = 1.0

    def start(self, n_features: int, n_problems: int, rng: np.random.Generator) -> tuple[FloatArray, FloatArray]:
        """Normal weights, of mean zero or passing on what they get.

        Returns
        -------
        mu, sigma : ndarray of shape (n_problems, n_weights)

        Raises
        ------
        ValueError
            If a setting is out of range.
        """
        check_integer(self.hidden_layers, "hidden_layers", 1)
        check_integer(self.units, "units", 1)
        check_integer(self.n_samples, "n_samples", 1)
        check_choice(self.aggregation, "aggregation", ("paths", "products"))
        check_real(self.start_sd, "start_sd", np.finfo(float).tiny)
        mu = np.zeros((n_problems, sum(before * after for before, after in self._layers(n_features))))
        if self.aggregation == "products":
            layers = self._matrices(mu, n_features)
            for layer in layers[1:-1]:
                layer += np.sqrt(self.units) * np.eye(self.units)
            layers[-1][:, ::2] = 1
            layers[-1][:, 1::2] = -1
        return mu, np.full_like(mu, self.start_sd)

    def gradient(
        self, X: Any, Y: FloatArray, mu: FloatArray, sigma: FloatArray, rng: np.random.Generator
    ) -> tuple[FloatArray, FloatArray]:
        """Gradient of the batch's mean log-likelihood, sampled; see `FiresGLM.gradient`."""
        return sampled_gradient(self._forward, X, Y, mu, sigma, self.n_samples, rng)

    def aggregate(self, mu: FloatArray, sigma: FloatArray, n_features: int) -> tuple[FloatArray, FloatArray]:
        """Importance and uncertainty of each feature, over its paths to the output; see `FiresGLM.aggregate`."""
        means, sds = self._matrices(mu, n_features), self._matrices(sigma, n_features)
        if self.aggregation == "paths":
            return _sum_of_means(means), _sum_of_means(sds)
        squares = _product([mean**2 for mean in means])
        with_variance = _product([mean**2 + sd**2 for mean, sd in zip(means, sds)])
        # the layers' scales, but for the first's, which would make weights depend on the number of features
        scale = self.units ** (-self.hidden_layers / 2)
        return _product(means) * scale, np.sqrt(np.maximum(with_variance - squares, 0)) * scale

    def _matrices(self, weights: FloatArray, n_features: int) -> list[FloatArray]:
        """Views of the flat weights, one of shape (n_problems, before, after) a layer."""
        sizes = self._layers(n_features)
        ends = np.cumsum([before * after for before, after in sizes])
        parts = np.split(weights, ends[:-1], axis=1)
        return [part.reshape(len(weights), *size) for part, size in zip(parts, sizes)]

    def _layers(self, n_features: int) -> list[tuple[int, int]]:
        sizes = [n_features, *[self.units] * self.hidden_layers, 1]
        return list(itertools.pairwise(sizes))

    def _forward(self, X: Any, y: FloatArray, theta: FloatArray) -> tuple[FloatArray, Any]:
        """Log P(y | x, theta) of each row, and what gives the gradient of their weighted sum."""
        weights, inputs = [], [X]
        for layer in self._matrices(theta[None], X.shape[1]):
            scaled = layer[0] * (1 / np.sqrt(layer.shape[1]))
            weights.append(scaled)
            sums = inputs[-1] @ scaled
            inputs.append(np.maximum(sums, 0, out=sums))
        # the last layer's sums may be negative, so they are made again
        output = (inputs[-2] @ weights[-1])[:, 0]

        def backward(weight: FloatArray) -> FloatArray:
            error = (weight * y * expit(-y * output))[:, None]
            parts: list[FloatArray] = []
            for layer in range(len(weights) - 1, -1, -1):
                entering = inputs[layer]
                parts.append(np.asarray(entering.T @ error).ravel() / np.sqrt(entering.shape[1]))
                if layer:
                    error = (error @ weights[layer].T) * (entering > 0)
            return np.concatenate(parts[::-1])

        return log_expit(y * output), backward


def _sum_of_means(layers: list[FloatArray]) -> FloatArray:
    """Mean weight out of each feature, and of each further layer, which is the same for all features."""
    shared = sum(layer.mean(axis=(1, 2)) for layer in layers[1:])
    return np.asarray(layers[0].mean(axis=2) + np.reshape(shared, (-1, 1)))


def _product(layers: list[FloatArray]) -> FloatArray:
    """Matrix product of all layers, from the narrow end."""
    result = layers[-1]
    for layer in layers[-2::-1]:
        result = layer @ result
    return result[:, :, 0]
