"""FIRES: features of a stream of rows, weighed by what a model's uncertain parameters say of them."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import Any, Protocol, runtime_checkable

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
from scipy.special import erfcx, log_ndtr

from seqclass._utils.arrays import FloatArray, IntArray, as_generator, chunks
from seqclass._utils.model_files import register
from seqclass._utils.validation import check_choice, check_real
from seqclass.selection._base import RowStream, still_constant
from seqclass.selection._fires_models import FiresANN, FiresSDT

__all__ = ["FIRES", "MODELS", "FiresModel", "fires_weights"]


#: Bytes of a block of rows that stays in the processor's cache while it is gone through five times.
CACHE_BYTES = 2**21


@register
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


#: Given to models that draw nothing.
_UNUSED = np.random.default_rng(0)
MODELS = {"glm": FiresGLM, "ann": FiresANN, "sdt": FiresSDT}


@runtime_checkable
class FiresModel(Protocol):
    """What :class:`FIRES` asks of a base model: three methods, and no state of its own.

    The model has K parameters, independent and normal with means ``mu`` and standard deviations ``sigma``, which FIRES
    keeps. A *problem* is a two-class problem: there is one for two classes, and one for each class against the rest
    otherwise. Problems share nothing.

    - ``start(n_features, n_problems, rng)`` returns the first ``mu`` and ``sigma``, each of shape (n_problems, K).
    - ``gradient(X, Y, mu, sigma, rng)`` returns the gradients in ``mu`` and ``sigma``, of their shape, of the batch's
      mean log marginal likelihood; X of shape (n, n_features), Y of shape (n_problems, n) with labels -1 and 1.
    - ``aggregate(mu, sigma, n_features)`` returns importance and uncertainty of each feature, each of shape
      (n_problems, n_features): K parameters made one a feature.

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
        ...

    def gradient(
        self, X: Any, Y: FloatArray, mu: FloatArray, sigma: FloatArray, rng: np.random.Generator
    ) -> tuple[FloatArray, FloatArray]:
        """Gradient of the batch's mean log-likelihood in mu and sigma."""
        ...

    def aggregate(self, mu: FloatArray, sigma: FloatArray, n_features: int) -> tuple[FloatArray, FloatArray]:
        """Importance and uncertainty of each feature."""
        ...


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
    up the gradient of its log marginal likelihood; a feature weighs much if the mean of its parameter is far from
    zero (important) and its standard deviation small (certain).

    More than two classes go beyond the paper: one model for each class against the rest, and the weights are the mean
    of theirs, which solves eq. (5) for one weight a feature shared by all. A feature that has not varied so far has
    importance zero whatever its parameter: it may serve a model as an intercept, but tells nothing apart.

    Features should be of one scale, such as [0, 1]: a parameter is small where its feature's numbers are large. Say
    ``scale="minmax"`` if the stream is not.

    Parameters
    ----------
    n_features_to_select : int or float
        Number of features to keep, all if there are fewer; or their fraction if a float up to 1.
    base : {"glm", "ann", "sdt"} or FiresModel
        The model: probit in closed form, neural network, soft decision tree, each with the published defaults;
        :class:`FiresGLM`, :class:`FiresANN` and :class:`FiresSDT` take settings, :class:`FiresModel` says what others
        have to offer.
    penalty_s, penalty_r : float
        Weight of uncertainty and of the regulariser in eq. (6).
    learning_rate_mu, learning_rate_sigma : float
        Step sizes of eq. (4).
    forgetting : float
        Share of what has been learnt that each batch forgets, between 0 (the paper) and 1: means and standard
        deviations move back towards where they started. Of use where the concept drifts; :meth:`reset` forgets at
        once.
    max_step : float
        A parameter never moves farther than this in one batch, so that no batch, however extreme, does lasting harm.
        Far above what ordinary batches do: standard deviations start at one.
    scale : None or "minmax"
        Whether to map each feature to [0, 1] by the smallest and largest value it has had so far. Dense data only.
    batch_size : int
        Rows that `fit` takes at a time; `partial_fit` takes what it is given as one batch.
    n_epochs : int
        How often `fit` goes through the rows; one pass over a few hundred is too short to learn from.
    shuffle : bool
        Whether `fit` puts the rows in random order, anew in each epoch; of use where they come sorted by class.
    random_state : None, int or generator
        Draws of the sampled models, and the shuffling. The probit model makes no use of it.

    Attributes
    ----------
    weights_ : ndarray of shape (n_features_in_,)
        Weights of eq. (6).
    support_ : ndarray of bool of shape (n_features_in_,)
        The features of largest weight; ties go to the first.
    importance_, uncertainty_ : ndarray of shape (n_problems, n_features_in_)
        Mean and standard deviation that belong to each feature, before squaring.
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
        return np.array(self._aggregated()[0])

    @property
    def uncertainty_(self) -> FloatArray:
        """Standard deviation of the parameter that belongs to each feature."""
        self._check_started()
        return np.array(self._aggregated()[1])

    def reset(self, columns: npt.ArrayLike | None = None) -> FIRES:
        """Forget what was learnt, as after a change of concept; the number of classes and features stays.

        Parameters
        ----------
        columns : array-like of int, optional
            The features to forget, by column; all by default. Only for models of one parameter a feature.

        Returns
        -------
        FIRES

        Raises
        ------
        ValueError
            If ``columns`` is given for a model of more parameters than features, or is out of range.
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
            raise TypeError(f"base must be one of {', '.join(MODELS)} or an object like FiresModel, got {self.base!r}.")

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
            X = self._scaled(X)
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

    def _scaled(self, X: Any) -> FloatArray:
        if sp.issparse(X):
            raise ValueError('scale="minmax" would fill sparse data: use MaxAbsScaler before, and scale=None here.')
        low, high = self._range
        np.minimum(low, X.min(axis=0), out=low)
        np.maximum(high, X.max(axis=0), out=high)
        # halves, as the range of the largest numbers is infinite
        half = high / 2 - low / 2
        return np.asarray((X / 2 - low / 2) / np.where(half > 0, half, 1))

    def _aggregated(self) -> tuple[FloatArray, FloatArray]:
        importance, uncertainty = self._model.aggregate(self.mu_, self.sigma_, self.n_features_in_)
        if len(self._constant):
            importance = np.array(importance)
            importance[:, self._constant] = 0
        return importance, uncertainty

    def _weigh(self) -> None:
        weights = fires_weights(*self._aggregated(), self.penalty_s, self.penalty_r)
        self.weights_ = weights[0] if len(weights) == 1 else weights.mean(axis=0)
