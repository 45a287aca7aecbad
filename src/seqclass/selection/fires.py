"""FIRES: features of a stream of rows, weighted by the uncertain parameters of a model."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from dataclasses import KW_ONLY, dataclass
from typing import Any, Protocol, runtime_checkable

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
from scipy.special import erfcx, expit, log_expit, log_ndtr, logsumexp

from seqclass._utils.arrays import CACHE_BYTES, FloatArray, IntArray, as_generator, chunks
from seqclass._utils.model_files import register
from seqclass._utils.text import short_repr
from seqclass._utils.validation import check_choice, check_integer, check_real
from seqclass.selection._base import RowStream, still_constant


@dataclass(frozen=True)
class FiresTuning:
    """What is worked on at a time, and limits that keep gradients finite."""

    max_value: float = 1e12  #: values beyond are cut to it, so that products over layers stay finite
    min_share: float = 1e-6  #: of a node to one side, at which its balance has no slope left to follow


TUNING = FiresTuning()


@register
@dataclass(frozen=True)
class FiresGLM:
    """Probit model with one normally distributed parameter per feature, for :class:`FIRES`.

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
        mu, sigma : ndarray of shape (n_problems, n_parameters)
            Mean and standard deviation of the parameters, here one a feature.
        rng : numpy.random.Generator
            Draws the weights of a sampled model; not used here.

        Returns
        -------
        for_mu, for_sigma : ndarray of shape (n_problems, n_parameters)
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


#: (X, y, theta) -> log P(y | x, theta) of each row, and a function from row weights to the weighted sum's gradient.
Forward = Callable[[Any, FloatArray, FloatArray], tuple[FloatArray, Callable[[FloatArray], FloatArray]]]


def estimate_gradient(
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
    if values.size and max(values.max(), -values.min()) > TUNING.max_value:
        X = X.copy()
        values = X.data if sp.issparse(X) else X
        np.clip(values, -TUNING.max_value, TUNING.max_value, out=values)
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


@register
@dataclass(frozen=True)
class FiresSDT:
    """Soft decision tree whose inner nodes have normally distributed weights, for :class:`FIRES`.

    An inner node sends an instance to its right child with probability 1 / (1 + exp(-theta_n . x)); a leaf has a
    probability of the positive class. The weighted sums are divided by the square root of the number of features, so
    that standard normal weights, with which the published settings start, do not turn soft decisions into hard ones.
    The leaves are plain numbers without uncertainty; they are learnt along with the nodes and do not enter the
    aggregation. They start in rising order from left to right, so that "right" means "positive" at every node and the
    mean over nodes that the paper prescribes does not cancel. The paper leaves all this open.

    Parameters
    ----------
    depth : int
        Number of levels of inner nodes, which makes 2^depth - 1 nodes.
    penalty : float
        Weight of the regulariser that keeps nodes from sending everything to one side, halved from level to level.
    n_samples : int
        Number of draws of the weights for each batch.
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
        for_mu, for_sigma = estimate_gradient(self._forward, X, Y, mu, sigma, self.n_samples, rng)
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
        likelihoods = expit(np.multiply.outer(leaf, y))
        likelihood = np.einsum("ln,ln->n", reach[n_nodes:], likelihoods)

        def backward(weight: FloatArray) -> FloatArray:
            by = weight / likelihood
            for_leaf = (by * reach[n_nodes:] * likelihoods * (1 - likelihoods) * y).sum(axis=1)
            for_right, for_reach = self._balance_slopes(right, reach[:n_nodes])
            for_sums = _through_nodes(right, reach, by * likelihoods, for_right, for_reach)
            return np.concatenate([np.asarray((X.T @ for_sums.T).T).ravel() * scale, for_leaf])

        return np.log(likelihood), backward

    def _balance_slopes(self, right: FloatArray, reach: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Slopes of the regulariser, averaged over draws, in each node's probability and in what reaches it."""
        total = np.maximum(reach.sum(axis=1), np.finfo(float).tiny)
        share = np.clip((reach * right).sum(axis=1) / total, TUNING.min_share, 1 - TUNING.min_share)
        weight = self.penalty * 0.5 ** np.floor(np.log2(np.arange(1, len(right) + 1)))  # less, the deeper a node is
        slope = weight / 2 * (1 / share - 1 / (1 - share)) / self.n_samples
        slope[(share <= TUNING.min_share) | (share >= 1 - TUNING.min_share)] = 0
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
    biases. A layer divides its sums by the square root of their number of terms. With standard normal weights, with
    which the published settings start, signals then keep their size from layer to layer; otherwise they would grow a
    thousandfold and the output would be saturated from the first batch on. The paper leaves activations and biases
    open.

    Parameters
    ----------
    hidden_layers : int
        Number of hidden layers.
    units : int
        Number of units in each.
    n_samples : int
        Number of draws of the weights for each batch.
    aggregation : {"paths", "products"}
        How one importance per feature is made from the weights. ``"paths"`` is the paper's way: all means start at
        zero, and the importance of a feature is the mean weight of each layer along its paths, summed over layers. The
        layers after the first add the same to every feature, and starting from zero no direction is better than its
        opposite, so that the network at first learns by chance. ``"products"`` starts with units that pass on their
        input, half of them for the positive class and half against it, and sums the *product* of the weights over the
        paths of a feature: what the feature would do to the output if no unit were cut off. Its standard deviation
        takes paths as uncorrelated.
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
        return estimate_gradient(self._forward, X, Y, mu, sigma, self.n_samples, rng)

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
        return list(itertools.pairwise([n_features, *[self.units] * self.hidden_layers, 1]))

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


#: Given to models that draw nothing.
_UNUSED = np.random.default_rng(0)
MODELS = {"glm": FiresGLM, "ann": FiresANN, "sdt": FiresSDT}


@runtime_checkable
class FiresModel(Protocol):
    """What :class:`FIRES` requires of a base model: three methods, and no state of its own.

    The model has K parameters, independent and normal with means ``mu`` and standard deviations ``sigma``, which FIRES
    keeps. A *problem* is a two-class problem: there is one for two classes, and one for each class against the rest
    otherwise. Problems share nothing.

    - ``start(n_features, n_problems, rng)`` returns the first ``mu`` and ``sigma``, each of shape (n_problems, K).
    - ``gradient(X, Y, mu, sigma, rng)`` returns the gradients in ``mu`` and ``sigma``, of their shape, of the batch's
      mean log marginal likelihood; X of shape (n, n_features), Y of shape (n_problems, n) with labels -1 and 1.
    - ``aggregate(mu, sigma, n_features)`` returns importance and uncertainty of each feature, each of shape
      (n_problems, n_features): the K parameters reduced to one per feature.

    A model whose gradient draws nothing may have an attribute ``draws = False``: it is then given one generator for all
    batches, as making one takes about as long as a small batch.

    Examples
    --------
    A linear model of the labels with normal noise, y ~ N(theta . x, 1), so that y is N(mu . x, 1 + sigma^2 . x^2):

    >>> import numpy as np
    >>> class Linear:
    ...     def start(self, n_features, n_problems, rng):
    ...         return np.zeros((n_problems, n_features)), np.ones((n_problems, n_features))
    ...     def gradient(self, X, Y, mu, sigma, rng):
    ...         variance = 1 + sigma**2 @ (X**2).T
    ...         error = (Y - mu @ X.T) / variance
    ...         return error @ X / len(X), sigma * ((error**2 - 1 / variance) @ X**2) / len(X)
    ...     def aggregate(self, mu, sigma, n_features):
    ...         return mu, sigma
    >>> X = np.random.default_rng(0).normal(size=(300, 6))
    >>> FIRES(1, base=Linear()).fit(X, X[:, 4] > 0).get_support(indices=True).tolist()
    [4]
    """

    def start(self, n_features: int, n_problems: int, rng: np.random.Generator) -> tuple[FloatArray, FloatArray]:
        """Mean and standard deviation of the parameters before any data."""

    def gradient(
        self, X: Any, Y: FloatArray, mu: FloatArray, sigma: FloatArray, rng: np.random.Generator
    ) -> tuple[FloatArray, FloatArray]:
        """Gradient of the batch's mean log-likelihood in mu and sigma."""

    def aggregate(self, mu: FloatArray, sigma: FloatArray, n_features: int) -> tuple[FloatArray, FloatArray]:
        """Importance and uncertainty of each feature."""


def fires_weights(
    mu: npt.ArrayLike, sigma: npt.ArrayLike, penalty_s: float = 0.01, penalty_r: float = 0.01
) -> FloatArray:
    """Feature weights from importance and uncertainty, omega = (mu^2 - lambda_s sigma^2) / (2 lambda_r).

    Parameters
    ----------
    mu, sigma : array-like of shape (..., n_features)
        Importance and uncertainty of each feature.
    penalty_s : float
        Weight of the uncertainty, lambda_s.
    penalty_r : float
        Weight of the regulariser, lambda_r; it scales all weights alike.

    Returns
    -------
    ndarray of shape (..., n_features)

    References
    ----------
    Haug et al., KDD 2020: eq. (6).

    Examples
    --------
    >>> fires_weights([0.0, 1.0, 1.0], [1.0, 1.0, 2.0]).tolist()
    [-0.5, 49.5, 48.0]
    """
    return np.asarray((np.square(mu) - penalty_s * np.square(sigma)) / (2 * penalty_r))


@dataclass(repr=False, eq=False)
class FIRES(RowStream):
    """Fast, Interpretable and Robust feature Evaluation and Selection on a stream of rows.

    The parameters of a model are normal random variables. Each batch moves their means and standard deviations a step
    up the gradient of its log marginal likelihood; a feature has a large weight if the mean of its parameter is far
    from zero (important) and its standard deviation is small (certain).

    More than two classes go beyond the paper: there is one model for each class against the rest, and the weights are
    the mean over these models, which solves eq. (5) for one weight per feature shared by all. A feature that has not
    varied so far has importance zero whatever its parameter: it may serve a model as an intercept, but does not
    distinguish rows.

    Features should have the same scale, such as [0, 1], as a parameter is small if the numbers of its feature are
    large. Otherwise set ``scale="minmax"``.

    Parameters
    ----------
    n_features_to_select : int or float
        Number of features to keep (all, if there are fewer), or their fraction if a float up to 1.
    base : {"glm", "ann", "sdt"} or FiresModel
        The model: probit in closed form, neural network or soft decision tree, each with the published defaults. Pass
        :class:`FiresGLM`, :class:`FiresANN` or :class:`FiresSDT` for other settings; :class:`FiresModel` says what
        other models need to have.
    penalty_s, penalty_r : float
        Weight of uncertainty and of the regulariser in eq. (6).
    learning_rate_mu, learning_rate_sigma : float
        Step sizes of eq. (4).
    forgetting : float
        Share of what has been learnt that each batch forgets, between 0 (the paper) and 1: means and standard
        deviations move back towards where they started. Useful if the concept drifts; :meth:`reset` forgets at once.
    max_step : float
        A parameter never moves farther than this in one batch, so that no batch, however extreme, does lasting harm.
        The default is far above what ordinary batches do; standard deviations start at one.
    scale : None or "minmax"
        Whether to map each feature to [0, 1] by the smallest and largest value it has had so far. Dense data only.
    batch_size : int
        Rows that `fit` takes at a time; `partial_fit` takes what it is given as one batch.
    n_epochs : int
        How often `fit` goes through the rows; a single pass over a few hundred rows is too short to learn from.
    shuffle : bool
        Whether `fit` puts the rows in a new random order in each epoch; useful if they are sorted by class.
    random_state : None, int or generator
        Seed of the draws of sampled models and of the shuffling. The probit model does not use it.

    Attributes
    ----------
    weights_ : ndarray of shape (n_features_in_,)
        Weights of eq. (6).
    support_ : ndarray of bool of shape (n_features_in_,)
        The features of largest weight; ties go to the first.
    importance_, uncertainty_ : ndarray of shape (n_problems, n_features_in_)
        Mean and standard deviation for each feature, before squaring.
    mu_, sigma_ : ndarray of shape (n_problems, n_parameters)
        The model's parameters; one problem for two classes, else one for each class.
    classes_, n_features_in_, feature_names_in_
        As everywhere in scikit-learn.
    n_seen_ : int
        Rows learnt from.

    References
    ----------
    Haug, Pawelczyk, Broelemann and Kasneci, "Leveraging Model Inherent Variable Importance for Stable Online Feature
    Selection", KDD 2020: Algorithm 1; defaults of appendix B.3. Ours: `forgetting`, `max_step`, `scale`, more than two
    classes. A batch's gradient is the mean over its rows.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> selector = FIRES(n_features_to_select=2)
    >>> for _ in range(20):
    ...     X = rng.random((50, 8))
    ...     _ = selector.partial_fit(X, np.where(X[:, 3] > X[:, 5], "up", "down"), classes=["down", "up"])
    >>> selector.get_support(indices=True).tolist()
    [3, 5]
    """

    _accepts_sparse = True

    base: Any = "glm"
    penalty_s: float = 0.01
    penalty_r: float = 0.01
    learning_rate_mu: float = 0.01
    learning_rate_sigma: float = 0.01
    _: KW_ONLY
    forgetting: float = 0.0
    max_step: float = 1.0
    scale: str | None = None

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = self.scale is None
        return tags

    @property
    def importance_(self) -> FloatArray:
        """Mean of the parameter that belongs to each feature; zero where a feature has not varied."""
        self._check_started()
        return np.array(self._aggregate()[0])

    @property
    def uncertainty_(self) -> FloatArray:
        """Standard deviation of the parameter that belongs to each feature."""
        self._check_started()
        return np.array(self._aggregate()[1])

    def reset(self, columns: npt.ArrayLike | None = None) -> FIRES:
        """Forget what was learnt, such as after a change of concept; the number of classes and features stays the same.

        Parameters
        ----------
        columns : array-like of int, optional
            The features to forget, by column; all by default. Only for models with one parameter per feature.

        Returns
        -------
        FIRES

        Raises
        ------
        ValueError
            If ``columns`` is given for a model with more parameters than features, or is out of range.
        """
        self._check_started()
        if columns is None:
            self.mu_, self.sigma_ = self._origin[0].copy(), self._origin[1].copy()
        else:
            if self.mu_.shape[1] != self.n_features_in_:
                raise ValueError("columns cannot be told apart in this base model: reset all of it.")
            picked = np.asarray(columns)
            if picked.dtype.kind not in "iu" or not np.isin(picked, np.arange(self.n_features_in_)).all():
                raise ValueError(f"columns must be integers from 0 to {self.n_features_in_ - 1}, got {columns!r}.")
            self.mu_[:, picked] = self._origin[0][:, picked]
            self.sigma_[:, picked] = self._origin[1][:, picked]
        self._weigh()
        self._select()
        return self

    def _check_settings(self) -> None:
        for name in ("penalty_s", "learning_rate_mu", "learning_rate_sigma"):
            check_real(getattr(self, name), name, 0, np.finfo(float).max)
        check_real(self.penalty_r, "penalty_r", np.finfo(float).tiny, np.finfo(float).max)
        check_real(self.max_step, "max_step", np.finfo(float).tiny)
        check_real(self.forgetting, "forgetting", 0, 1)
        if self.scale is not None:
            check_choice(self.scale, "scale", ("minmax",))
        if isinstance(self.base, str):
            check_choice(self.base, "base", tuple(MODELS))
        elif isinstance(self.base, type) or not isinstance(self.base, FiresModel):
            raise TypeError(
                f"base must be one of {', '.join(MODELS)}, or a model of yours with start, gradient and aggregate (an "
                f"object, no class), got {short_repr(self.base)}."
            )

    def _start(self, n_features: int) -> None:
        self._model: FiresModel = MODELS[self.base]() if isinstance(self.base, str) else self.base
        self._seed = int(as_generator(self.random_state).integers(2**62))
        n_problems = 1 if len(self.classes_) == 2 else len(self.classes_)
        mu, sigma = self._model.start(n_features, n_problems, self._generator())
        self._origin = [np.array(mu, dtype=np.float64), np.array(sigma, dtype=np.float64)]
        self.mu_, self.sigma_ = self._origin[0].copy(), self._origin[1].copy()
        self._constant: IntArray = np.arange(n_features)
        self._range = [np.full(n_features, np.inf), np.full(n_features, -np.inf)]

    def _generator(self) -> np.random.Generator:
        """One for each batch, so that no generator has to be kept and stored."""
        return np.random.default_rng([self._seed, self.n_seen_])

    def _learn(self, X: Any, codes: IntArray) -> None:
        if self.n_seen_ == 0:
            self._first = np.ravel(X[[0]].toarray() if sp.issparse(X) else X[0]).copy()
        if len(self._constant):
            self._constant = still_constant(X, self._constant, self._first)
        if self.scale is not None:
            X = self._minmax_scale(X)
        rng = self._generator() if getattr(self._model, "draws", True) else _UNUSED
        slopes = self._model.gradient(X, self._signs(codes), self.mu_, self.sigma_, rng)
        for_mu = self._step(slopes[0], self.learning_rate_mu)
        for_sigma = self._step(slopes[1], self.learning_rate_sigma)
        if self.forgetting:
            self.mu_ += self.forgetting * (self._origin[0] - self.mu_)
            self.sigma_ += self.forgetting * (self._origin[1] - self.sigma_)
        self.mu_ += for_mu
        self.sigma_ += for_sigma
        # N(mu, sigma) and N(mu, -sigma) are the same: what would fall below zero comes back up
        np.abs(self.sigma_, out=self.sigma_)
        self._weigh()

    def _step(self, slope: FloatArray, rate: float) -> FloatArray:
        with np.errstate(over="ignore", invalid="ignore"):
            step = np.asarray(slope * rate)
            total = step.sum()
        if not np.isfinite(total) and np.isnan(step).any():
            raise ValueError(f"the gradient of {self._model!r} holds NaN; nothing was learnt from this batch.")
        np.minimum(step, self.max_step, out=step)
        return np.asarray(np.maximum(step, -self.max_step, out=step))

    def _minmax_scale(self, X: Any) -> FloatArray:
        if sp.issparse(X):
            raise ValueError('scale="minmax" would fill sparse data: use MaxAbsScaler before, and scale=None here.')
        low, high = self._range
        np.minimum(low, X.min(axis=0), out=low)
        np.maximum(high, X.max(axis=0), out=high)
        # halves, as the range of the largest numbers is infinite
        half = high / 2 - low / 2
        return np.asarray((X / 2 - low / 2) / np.where(half > 0, half, 1))

    def _aggregate(self) -> tuple[FloatArray, FloatArray]:
        importance, uncertainty = self._model.aggregate(self.mu_, self.sigma_, self.n_features_in_)
        if len(self._constant):
            importance = np.array(importance)
            importance[:, self._constant] = 0
        return importance, uncertainty

    def _weigh(self) -> None:
        weights = fires_weights(*self._aggregate(), self.penalty_s, self.penalty_r)
        self.weights_ = weights[0] if len(weights) == 1 else weights.mean(axis=0)
