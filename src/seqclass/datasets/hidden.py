"""Known distributions of classes and features, by hidden states given which features are independent."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.special import softmax

from seqclass._utils.arrays import (
    CACHE_BYTES,
    FloatArray,
    IntArray,
    as_generator,
    chunks,
    log_or_infinite,
    smallest_int,
)
from seqclass._utils.tables import Readable
from seqclass._utils.validation import check_distribution, check_integer
from seqclass.datasets.conditional import Conditional
from seqclass.discretize._edges import count_edges


@dataclass(frozen=True, eq=False, repr=False)
class HiddenStates(Readable):
    """A hidden state, which determines the class, and features that are independent of one another given that state.

    With one hidden state per class this is naive Bayes. If a state is a class and a context, what a feature says may
    depend on the context, which no fixed order of questions can make use of.

    Attributes
    ----------
    hidden_prior : ndarray of shape (n_hidden,)
        P(hidden state).
    hidden_class : ndarray of int of shape (n_hidden,)
        Class of each hidden state.
    features : tuple of Conditional
        Distribution of each feature in each hidden state.

    Raises
    ------
    ValueError
        If the parts do not match each other.

    Notes
    -----
    `tables` gives the same distribution in bins, as plain arrays, for solvers that know nothing of data sets.

    Examples
    --------
    >>> import numpy as np
    >>> from scipy.stats import norm
    >>> states = [0, 1, 2]  # one of the first class, two of the second
    >>> feature = Conditional((norm(0, 1), norm(3, 1), norm(-3, 1)), np.array(states))
    >>> truth = HiddenStates(np.array([0.5, 0.25, 0.25]), np.array([0, 1, 1]), (feature,))
    >>> truth.posterior([[0.0], [3.0], [np.nan]]).round(3)
    array([[0.989, 0.011],
           [0.022, 0.978],
           [0.5  , 0.5  ]])
    """

    hidden_prior: FloatArray
    hidden_class: IntArray
    features: tuple[Conditional, ...]

    def __post_init__(self) -> None:
        prior = check_distribution(self.hidden_prior, None, "hidden_prior")
        classes = np.asarray(self.hidden_class)
        if classes.shape != prior.shape or classes.dtype.kind not in "iu" or classes.min() < 0:
            raise ValueError(f"hidden_class must hold a class for each of the {len(prior)} hidden states.")
        for j, feature in enumerate(self.features):
            if len(feature.which) != len(prior):
                raise ValueError(f"features[{j}] is for {len(feature.which)} hidden states, there are {len(prior)}.")
        object.__setattr__(self, "hidden_prior", prior)
        object.__setattr__(self, "hidden_class", classes)

    @property
    def n_classes(self) -> int:
        """Number of classes."""
        return int(self.hidden_class.max()) + 1

    def sample(self, n: int, random_state: Any = None) -> tuple[FloatArray, IntArray]:
        """Draw instances.

        Parameters
        ----------
        n : int
            Number of instances.
        random_state : None, int or numpy generator
            Seed.

        Returns
        -------
        X : ndarray of shape (n, n_features)
            Features.
        y : ndarray of int of shape (n,)
            Classes.

        Examples
        --------
        >>> import numpy as np
        >>> feature = Conditional.from_table([0, 1], np.eye(2))
        >>> X, y = HiddenStates(np.array([0.5, 0.5]), np.array([0, 1]), (feature,)).sample(5, random_state=0)
        >>> bool((X[:, 0] == y).all())
        True
        """
        rng = as_generator(random_state)
        hidden = rng.choice(len(self.hidden_prior), check_integer(n, "n", 0), p=self.hidden_prior)
        X = np.empty((n, len(self.features)), order="F")
        for j, feature in enumerate(self.features):
            X[:, j] = feature.draw(hidden, rng)
        return np.ascontiguousarray(X), self.hidden_class[hidden].astype(np.int64)

    def hidden_posterior(self, X: npt.ArrayLike) -> FloatArray:
        """Return P(hidden state | what was seen), exactly.

        Parameters
        ----------
        X : array-like of shape (n, n_features)
            Features; NaN where not seen.

        Returns
        -------
        ndarray of shape (n, n_hidden)

        Raises
        ------
        ValueError
            If no hidden state could have given a row; the message names row and column.

        Examples
        --------
        >>> import numpy as np
        >>> feature = Conditional.from_table([0, 1], [[0.5, 0.5, 1], [0.5, 0.5, 0]])
        >>> truth = HiddenStates(np.full(3, 1 / 3), np.array([0, 1, 1]), (feature,))
        >>> truth.hidden_posterior([[0], [1]])
        array([[0.25, 0.25, 0.5 ],
               [0.5 , 0.5 , 0.  ]])
        """
        values = self._check_columns(X)
        posterior = np.empty((len(values), len(self.hidden_prior)))
        prior = log_or_infinite(self.hidden_prior)
        for rows in chunks(len(values), 24.0 * len(prior), CACHE_BYTES):
            weights = np.repeat(prior[:, None], rows.stop - rows.start, axis=1)
            for j, feature in enumerate(self.features):
                weights += feature.log_likelihood(values[rows, j])
            impossible = np.isneginf(weights.max(axis=0))
            if impossible.any():
                self._refuse(values, rows.start + int(impossible.argmax()), prior)
            posterior[rows] = softmax(weights, axis=0).T
        return posterior

    def posterior(self, X: npt.ArrayLike) -> FloatArray:
        """Return P(class | what was seen), exactly, (n, n_classes); see `hidden_posterior`.

        Examples
        --------
        >>> from seqclass.datasets import load
        >>> data = load("sensors", n_samples=3)
        >>> data.truth.posterior(data.X).max(axis=1).round(2).tolist()
        [0.97, 0.97, 0.97]
        """
        return np.asarray(self.hidden_posterior(X) @ np.eye(self.n_classes)[self.hidden_class])

    def tables(self, edges: int | Sequence[npt.ArrayLike] | FloatArray = 8) -> tuple[FloatArray, FloatArray]:
        """Return P(outcome | hidden state) of every feature cut into bins, exactly.

        Parameters
        ----------
        edges : int, sequence of array-like or array-like of shape (n_features, n_edges)
            Inner edges of each feature's bins in increasing order, padded with infinity where they are one array:
            ``Discretizer.bin_edges_`` is of that form (leave its ``zero_bin`` False). A number: that many bins of equal
            width over the central 99% of the values of a feature, and one bin per value for features with few values.

        Returns
        -------
        tables : ndarray of shape (n_features, V_max, n_hidden)
            Probabilities; 0 for outcomes that a feature does not have.
        edges : ndarray of shape (n_features, V_max - 1)
            The edges that were used, padded with infinity. A bin includes its lower edge but not its upper one.

        Raises
        ------
        ValueError
            If edges do not increase or do not fit the features, or the tables would take more than a gigabyte.

        Examples
        --------
        >>> from seqclass.datasets import load
        >>> truth = load("cube_nm", n_samples=1).truth
        >>> tables, edges = truth.tables(8)
        >>> tables.shape, edges.shape
        ((55, 8, 40), (55, 7))
        """
        cuts = self._cuts(edges)
        width = max((len(cut) for cut in cuts), default=0)
        if len(cuts) * (width + 1) * len(self.hidden_prior) > 2**27:  # of 8 bytes each
            raise ValueError(f"tables of {width + 1} outcomes would take more than a gigabyte; pass fewer edges.")
        tables = np.zeros((len(cuts), width + 1, len(self.hidden_prior)))
        used = np.full((len(cuts), width), np.inf)
        for j, (feature, cut) in enumerate(zip(self.features, cuts)):
            used[j, : len(cut)] = cut
            tables[j, : len(cut) + 1] = feature.bin_probabilities(cut)
        return tables, used

    def outcomes(self, X: npt.ArrayLike, edges: FloatArray) -> IntArray:
        """Return the bin of every value, as the tables count them.

        Parameters
        ----------
        X : array-like of shape (n, n_features)
            Features; NaN where not seen.
        edges : ndarray of shape (n_features, n_edges)
            Inner edges as `tables` gives them.

        Returns
        -------
        ndarray of int of shape (n, n_features)
            -1 where not seen.

        Examples
        --------
        >>> from seqclass.datasets import load
        >>> data = load("indicator", n_samples=2, n_bits=2)
        >>> data.truth.outcomes(data.X, data.truth.tables()[1]).tolist() == data.X.tolist()
        True
        """
        values = self._check_columns(X)
        edges = np.asarray(edges, dtype=np.float64)
        if edges.ndim != 2 or len(edges) != len(self.features):
            raise ValueError(f"edges must have a row for each of the {len(self.features)} features, got {edges.shape}.")
        outcomes = np.empty(values.shape, dtype=smallest_int(edges.shape[1]))
        count_edges(values, edges, outcomes)
        outcomes[np.isnan(values)] = -1
        return outcomes

    def _check_columns(self, X: npt.ArrayLike) -> FloatArray:
        values = np.asarray(X, dtype=np.float64)
        if values.ndim != 2 or values.shape[1] != len(self.features):
            raise ValueError(f"X must have {len(self.features)} columns, one a feature, got shape {values.shape}.")
        return values

    def _cuts(self, edges: Any) -> list[FloatArray]:
        if not hasattr(edges, "__len__"):
            n_bins = check_integer(edges, "edges", 2)
            return [feature.edges(n_bins, self.hidden_prior) for feature in self.features]
        if len(edges) != len(self.features):
            raise ValueError(f"edges must have a row for each of the {len(self.features)} features, got {len(edges)}.")
        cuts = []
        for j, row in enumerate(edges):
            cut = np.asarray(row, dtype=np.float64).reshape(-1)
            cut = cut[: np.isfinite(cut).sum()] if np.isposinf(cut[np.isfinite(cut).sum() :]).all() else cut
            if not np.isfinite(cut).all() or (np.diff(cut) <= 0).any():
                raise ValueError(f"edges of feature {j} must be numbers that increase, got {cut.tolist()}.")
            cuts.append(cut)
        return cuts

    def _refuse(self, values: FloatArray, row: int, weights: FloatArray) -> None:
        for j, feature in enumerate(self.features):
            weights = weights + feature.log_likelihood(values[[row], j])[:, 0]
            if np.isneginf(weights).all():
                raise ValueError(
                    f"row {row} cannot be: {values[row, j]:g} in column {j} has no probability, given the columns "
                    "before it."
                )
