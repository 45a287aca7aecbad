"""Dependence of columns with the class and with one another: information for discrete data, correlation for numbers."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.stats import f as f_distribution
from scipy.stats import norm

from seqclass._arrays import FloatArray, IntArray, chunks, chunks_by_size

#: Columns, and stored values of a sparse matrix, that are prepared at a time.
_COLUMNS, _STORED = 2**17, 2**21
#: Differences below this are rounding.
TOLERANCE = 1e-11


@dataclass
class Columns:
    """Columns that a measure has prepared; ``stats`` has a row for each.

    Attributes
    ----------
    values : ndarray in Fortran order or CSC array of shape (n, m)
    stats : ndarray of shape (m, 2)
        What the measure needs of each column.

    Examples
    --------
    >>> Columns(np.eye(3), np.zeros((3, 2))).take([0, 2]).values.shape
    (3, 2)
    """

    values: Any
    stats: FloatArray
    #: Indicators of the outcomes, where a measure keeps them.
    cache: Any = field(default=None, repr=False)

    def __len__(self) -> int:
        return int(self.values.shape[1])

    def take(self, which: Any) -> Columns:
        """Return some of the columns."""
        if isinstance(which, slice):
            return Columns(self.values[:, which], self.stats[which])
        return Columns(self.values[:, np.asarray(which, dtype=np.intp)], self.stats[which])

    def join(self, other: Columns) -> Columns:
        """Return these columns and then the others."""
        stats = np.concatenate([self.stats, other.stats])
        if sp.issparse(self.values):
            return Columns(sp.hstack([self.values, other.values], format="csc"), stats)
        dtype = np.promote_types(self.values.dtype, other.values.dtype)
        values = np.empty((len(self.values), len(self) + len(other)), dtype=dtype, order="F")
        values[:, : len(self)], values[:, len(self) :] = self.values, other.values
        return Columns(values, stats)


class Dependence(ABC):
    """A symmetric measure of dependence, for rows of known classes."""

    @abstractmethod
    def prepare(self, X: Any, first: int) -> tuple[Columns, FloatArray]:
        """Turn raw columns into prepared ones, and work out the relevance of each; ``first`` is the first's number."""

    @abstractmethod
    def relevant(self, relevance: FloatArray) -> Any:
        """Which columns are relevant."""

    @abstractmethod
    def pairs(self, a: Columns, b: Columns) -> FloatArray:
        """Dependence of every column of ``a`` with every one of ``b``, of shape (len(a), len(b))."""


class CorrelationDependence(Dependence):
    """Absolute correlation of columns of numbers, with the class as numbers or by groups.

    Parameters
    ----------
    alpha : float
        Level of significance.
    codes : ndarray of int of shape (n,)
        Classes.
    values : ndarray of shape (n,) or None
        Numbers that stand for the classes; None for groups.
    n_classes : int
        Number of classes.

    Attributes
    ----------
    basis : ndarray of shape (n, q)
        Orthonormal, centred: the class as one number, or the space of its indicators.

    Examples
    --------
    >>> measure = CorrelationDependence(0.01, np.array([0, 0, 1, 1, 2, 2]), None, 3)
    >>> measure.prepare(np.array([[5.0], [5.0], [1.0], [1.0], [3.0], [3.0]]), 0)[1]
    array([1.])
    """

    def __init__(self, alpha: float, codes: IntArray, values: FloatArray | None, n_classes: int) -> None:
        n = len(codes)
        groups = values is None and n_classes > 2
        if n <= (n_classes if groups else 3):
            raise ValueError(f"measure='fisher_z' needs more than {n_classes if groups else 3} rows, got {n}.")
        if groups:
            # H0: eta^2 (n - C) / ((1 - eta^2) (C - 1)) is F distributed
            critical = (n_classes - 1) / (n - n_classes) * f_distribution.isf(alpha, n_classes - 1, n - n_classes)
            self.threshold = float(np.sqrt(critical / (1 + critical)))
            sizes = np.bincount(codes, minlength=n_classes)
            centred = (codes[:, None] == np.arange(n_classes)) / np.sqrt(sizes) - np.sqrt(sizes) / n
            self.basis = np.linalg.svd(centred, full_matrices=False)[0][:, : n_classes - 1]
        else:
            self.threshold = float(np.tanh(norm.isf(alpha / 2) / np.sqrt(n - 3)))
            label = (codes if values is None else values).astype(np.float64)
            label = label - label.mean()
            self.basis = (label / np.linalg.norm(label))[:, None]

    def prepare(self, X: Any, first: int) -> tuple[Columns, FloatArray]:
        """Centre and scale; a sparse column stays as it is, and `stats` are its mean and one over its norm."""
        X = moderate(X.astype(np.float64))
        if sp.issparse(X):
            n = X.shape[0]
            mean = np.asarray(X.sum(axis=0)).ravel() / n
            square = np.add.reduceat(np.append(X.data**2, 0.0), X.indptr[:-1]) * (np.diff(X.indptr) > 0)
            rest = square - n * mean**2
            scale = _inverse_root(rest, 1e-13 * square)
            columns = Columns(X, np.stack([mean, scale], axis=1))
            return columns, _length(self.with_class(columns))
        square = np.einsum("ij,ij->j", X, X)
        X = X - X.mean(axis=0)
        X *= _inverse_root(np.einsum("ij,ij->j", X, X), 1e-26 * square)
        columns = Columns(np.asfortranarray(X), np.zeros((X.shape[1], 2)))
        return columns, _length(self.with_class(columns))

    def relevant(self, relevance: FloatArray) -> Any:
        """Test at the level of significance."""
        return relevance >= self.threshold - TOLERANCE

    def pairs(self, a: Columns, b: Columns) -> FloatArray:
        """Absolute correlations."""
        return np.asarray(np.abs(self.correlations(a, b)))

    def correlations(self, a: Columns, b: Columns) -> FloatArray:
        """Correlation of every column of ``a`` with every one of ``b``."""
        if not sp.issparse(a.values):
            return np.asarray(np.clip(a.values.T @ b.values, -1.0, 1.0))
        (mean_a, scale_a), (mean_b, scale_b) = a.stats.T, b.stats.T
        product = (a.values.T @ b.values).toarray() - np.outer(a.values.shape[0] * mean_a, mean_b)
        return np.asarray(np.clip(product * np.outer(scale_a, scale_b), -1.0, 1.0))

    def with_class(self, columns: Columns) -> FloatArray:
        """Correlation of every column with each direction of ``basis``."""
        projection = columns.values.T @ self.basis
        return np.asarray(projection * columns.stats[:, 1:] if sp.issparse(columns.values) else projection)


def _inverse_root(squares: FloatArray, rounding: FloatArray) -> FloatArray:
    """1/sqrt, 0 for what only rounding keeps from zero."""
    constant = squares <= rounding
    return np.where(constant, 0.0, 1 / np.sqrt(np.where(constant, 1.0, squares)))


def _length(projection: FloatArray) -> FloatArray:
    return np.asarray(np.minimum(np.sqrt(np.einsum("ij,ij->i", projection, projection)), 1.0))


def moderate(X: Any) -> Any:
    """Scale columns of floats whose squares would overflow or vanish; ``X`` may be changed in place.

    Examples
    --------
    >>> moderate(np.array([[1e300, 2.0], [-5e299, 1.0]]))
    array([[ 1. ,  2. ],
           [-0.5,  1. ]])
    """
    if sp.issparse(X):
        peak = np.maximum.reduceat(np.append(np.abs(X.data), 0.0), X.indptr[:-1]) * (np.diff(X.indptr) > 0)
    else:
        peak = np.maximum(X.max(axis=0), -X.min(axis=0))
    extreme = ((peak > 1e100) | (peak < 1e-100)) & (peak > 0)
    if not extreme.any():
        return X
    scale = np.where(extreme, peak, 1.0)
    if sp.issparse(X):
        X.data /= np.repeat(scale, np.diff(X.indptr))
    else:
        X /= scale
    return X


def blocks(X: Any) -> Iterator[tuple[int, int]]:
    """Cut columns so that what is made of a block fits in memory.

    Examples
    --------
    >>> list(blocks(np.zeros((3, 5))))
    [(0, 5)]
    """
    n, n_features = X.shape
    parts = chunks_by_size(X.indptr[1:], _STORED, _COLUMNS) if sp.issparse(X) else chunks(n_features, 16 * n)
    for part in parts:
        yield part.start, part.stop
