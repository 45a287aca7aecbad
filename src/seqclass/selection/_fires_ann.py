"""FIRES with a neural network, whose marginal likelihood is sampled."""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import expit, log_expit

from seqclass._arrays import FloatArray
from seqclass._validation import check_choice, check_integer, check_real
from seqclass.selection._fires_sampling import sampled_gradient


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
        """Gradient of the batch's mean log-likelihood, sampled, in mu and sigma.

        Parameters
        ----------
        X : ndarray or CSR matrix of shape (n, n_features)
            The batch.
        Y : ndarray of shape (n_problems, n)
            Labels -1 and 1.
        mu, sigma : ndarray of shape (n_problems, n_weights)
            Mean and standard deviation of the weights.
        rng : numpy.random.Generator
            Draws the weights.

        Returns
        -------
        for_mu, for_sigma : ndarray of shape (n_problems, n_weights)
        """
        return sampled_gradient(self._forward, X, Y, mu, sigma, self.n_samples, rng)

    def aggregate(self, mu: FloatArray, sigma: FloatArray, n_features: int) -> tuple[FloatArray, FloatArray]:
        """Importance and uncertainty of each feature, over its paths to the output.

        Returns
        -------
        mu, sigma : ndarray of shape (n_problems, n_features)
        """
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
