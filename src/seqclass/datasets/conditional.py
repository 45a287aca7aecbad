"""One feature of a known distribution: its distribution in each hidden state."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import optimize, stats

from seqclass._utils.arrays import BoolArray, FloatArray, IntArray, log_or_infinite
from seqclass._utils.tables import Readable
from seqclass._utils.validation import check_distribution, check_finite

__all__ = ["Conditional"]


class Values:
    """A distribution over a few numbers; of the form of a frozen one of scipy.stats as far as it is needed here."""

    def __init__(self, values: FloatArray, probabilities: FloatArray) -> None:
        used = probabilities > 0
        order = np.argsort(values[used])
        self.values, self.probabilities = values[used][order], probabilities[used][order]

    @classmethod
    def certain(cls, value: float) -> Values:
        """One number, always."""
        return cls(np.array([value]), np.ones(1))

    def logpdf(self, x: FloatArray) -> FloatArray:
        place = np.minimum(np.searchsorted(self.values, x), len(self.values) - 1)
        return np.where(self.values[place] == x, np.log(self.probabilities)[place], -np.inf)

    def cdf(self, x: FloatArray) -> FloatArray:
        return np.append(0.0, np.cumsum(self.probabilities))[np.searchsorted(self.values, x, side="right")]

    def ppf(self, share: float) -> float:
        place = np.searchsorted(np.cumsum(self.probabilities), share)
        return float(self.values[min(int(place), len(self.values) - 1)])

    def rvs(self, size: int, random_state: np.random.Generator) -> FloatArray:
        return np.asarray(random_state.choice(self.values, size, p=self.probabilities))

    def masses(self, edges: FloatArray) -> FloatArray:
        """Probability of each bin between inner edges, ``[a, b)``."""
        bins = np.searchsorted(edges, self.values, side="right")
        return np.asarray(np.bincount(bins, self.probabilities, len(edges) + 1), dtype=np.float64)


class Clipped:
    """A normal distribution whose values beyond 0 and 1 are those numbers; of the same form."""

    def __init__(self, mean: float, std: float) -> None:
        self.inner = stats.norm(mean, std)
        #: Numbers that have a probability, and these.
        self.values = np.array([0.0, 1.0])
        self.probabilities = np.array([self.inner.cdf(0), self.inner.sf(1)])

    def logpdf(self, x: FloatArray) -> FloatArray:
        low, high = log_or_infinite(self.probabilities)
        inside = np.where((x > 0) & (x < 1), self.inner.logpdf(x), -np.inf)
        return np.where(x == 0, low, np.where(x == 1, high, inside))

    def cdf(self, x: FloatArray) -> FloatArray:
        return np.where(x < 0, 0.0, np.where(x >= 1, 1.0, self.inner.cdf(x)))

    def ppf(self, share: float) -> float:
        return float(np.clip(self.inner.ppf(share), 0, 1))

    def rvs(self, size: int, random_state: np.random.Generator) -> FloatArray:
        return np.asarray(np.clip(self.inner.rvs(size, random_state=random_state), 0, 1))

    def masses(self, edges: FloatArray) -> FloatArray:
        """Probability of each bin between inner edges, ``[a, b)``."""
        below = np.where(edges <= 0, 0.0, np.where(edges > 1, 1.0, self.inner.cdf(edges)))
        return np.diff(np.concatenate([[0.0], below, [1.0]]))


def truncate_normal(mean: float, std: float) -> Any:
    """A normal distribution cut off at 0 and 1, or without any deviation its mean alone."""
    return Clipped(mean, std) if std > 0 else Values.certain(min(max(mean, 0.0), 1.0))


def normal(mean: float, std: float) -> Any:
    """A normal distribution, or without any deviation its mean alone."""
    return stats.norm(mean, std) if std > 0 else Values.certain(mean)


def _points(shape: Any) -> FloatArray:
    """Numbers that have a probability, not a density."""
    return shape.values if isinstance(shape, Values | Clipped) else np.empty(0)


@dataclass(frozen=True, eq=False, repr=False)
class Conditional(Readable):
    """The distribution of one feature in each hidden state, out of a few.

    Attributes
    ----------
    shapes : tuple of frozen distributions of scipy.stats
        Continuous distributions, such as ``scipy.stats.norm(0.5, 0.3)``; for distributions over a few values see
        `from_table`.
    which : ndarray of int of shape (n_hidden,)
        Position in ``shapes`` of the distribution in each hidden state.

    Raises
    ------
    ValueError
        If ``which`` names a distribution that does not exist.

    Examples
    --------
    >>> from scipy.stats import norm
    >>> noise, signal = norm(0.5, 0.3), norm(1, 0.1)
    >>> feature = Conditional((noise, signal), np.array([0, 1, 0]))
    >>> feature.bin_probabilities([0.5]).round(3)
    array([[0.5, 0. , 0.5],
           [0.5, 1. , 0.5]])
    """

    shapes: tuple[Any, ...]
    which: IntArray

    def __post_init__(self) -> None:
        which = np.asarray(self.which)
        if which.ndim != 1 or which.dtype.kind not in "iu" or not which.size:
            raise ValueError(f"which must hold an integer for each hidden state, got {self.which!r}.")
        if which.min() < 0 or which.max() >= len(self.shapes):
            raise ValueError(f"which must lie between 0 and {len(self.shapes) - 1}, the positions in shapes.")
        object.__setattr__(self, "which", which)

    @classmethod
    def from_table(cls, values: npt.ArrayLike, table: npt.ArrayLike) -> Conditional:
        """A feature of a few values."""
        numbers = check_finite(values, "values")
        columns = check_finite(table, "table")
        if numbers.ndim != 1 or len(np.unique(numbers)) < numbers.size:
            raise ValueError(f"values must be different numbers, got {values!r}.")
        if columns.ndim != 2 or len(columns) != len(numbers):
            raise ValueError(f"table must have a row for each of the {len(numbers)} values, got {columns.shape}.")
        distinct, which = np.unique(columns, axis=1, return_inverse=True)
        shapes = tuple(Values(numbers, check_distribution(p, None, "a column of table")) for p in distinct.T)
        return cls(shapes, which.reshape(-1))

    @cached_property
    def values(self) -> FloatArray:
        """Numbers that the feature takes with a probability above zero in some hidden state, in increasing order."""
        return np.unique(np.concatenate([_points(shape) for shape in self.shapes]))

    @property
    def is_discrete(self) -> bool:
        """Whether the feature takes no others."""
        return all(isinstance(shape, Values) for shape in self.shapes)

    def log_likelihood(self, x: npt.ArrayLike) -> FloatArray:
        """Logarithm of the density of values, or of their probability, in each hidden state.

        A number that has a probability above zero in some hidden state has that or none in all of them: no density,
        however high, counts against it.
        """
        x = np.asarray(x, dtype=np.float64)
        log_density = np.empty((len(self.shapes), len(x)))
        point: BoolArray = np.isin(x, self.values) if self.values.size else np.zeros(len(x), dtype=np.bool_)
        for row, shape in zip(log_density, self.shapes):
            row[:] = shape.logpdf(x)
            row[point & ~np.isin(x, _points(shape))] = -np.inf
        log_density[:, np.isnan(x)] = 0
        return log_density[self.which]

    def bin_probabilities(self, edges: npt.ArrayLike) -> FloatArray:
        """Probability of each bin in each hidden state, exact from the distribution function."""
        inner = np.asarray(edges, dtype=np.float64)
        low, high = np.append(-np.inf, inner), np.append(inner, np.inf)
        probabilities = np.empty((len(low), len(self.shapes)))
        for k, shape in enumerate(self.shapes):
            if isinstance(shape, Values | Clipped):
                probabilities[:, k] = shape.masses(inner)
            else:  # from the nearer tail, so that small probabilities keep their digits
                upper = shape.cdf(low) > 0.5
                probabilities[:, k] = np.where(upper, shape.sf(low) - shape.sf(high), shape.cdf(high) - shape.cdf(low))
        return probabilities[:, self.which]

    def edges(self, n_bins: int, hidden_prior: FloatArray) -> FloatArray:
        """Inner edges of bins of equal width over the central 99% of the feature's values."""
        if self.is_discrete:
            return self.values[1:]
        weights = np.bincount(self.which, hidden_prior, len(self.shapes)).astype(np.float64)
        # so much of a distribution is below, and above, the range that bins of equal width cut
        low, high = (self._quantile(share, weights) for share in (0.005, 0.995))
        return np.linspace(low, high, n_bins + 1)[1:-1]

    def draw(self, hidden: IntArray, rng: np.random.Generator) -> FloatArray:
        """Values of instances in given hidden states."""
        shape_of = self.which[hidden]
        drawn = np.empty(len(hidden))
        for k, shape in enumerate(self.shapes):
            rows = np.flatnonzero(shape_of == k)
            drawn[rows] = shape.rvs(len(rows), random_state=rng)
        return drawn

    def _quantile(self, share: float, weights: FloatArray) -> float:
        """Value below which a share of the weighted shapes lies."""

        def above(x: float) -> float:
            return float(sum(weight * shape.cdf(x) for weight, shape in zip(weights, self.shapes))) - share

        places = [float(shape.ppf(share)) for shape, weight in zip(self.shapes, weights) if weight > 0]
        low, high = min(places), max(places)
        return float(optimize.brentq(above, low, high)) if above(low) < 0 < above(high) else low
