"""SPFS-LAR, a batch selector that SAOLA is compared with: least angle regression of the classes, all at once."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from seqclass._utils.arrays import FloatArray
from seqclass._utils.validation import check_integer
from seqclass.selection import Selector


class SPFSLAR(Selector):
    r"""Similarity-preserving feature selection by least angle regression."""

    _accepts_sparse = True
    _min_rows = 2

    def __init__(self, n_features_to_select: int = 10) -> None:
        self.n_features_to_select = n_features_to_select

    def fit(self, X: Any, y: npt.ArrayLike) -> SPFSLAR:
        """Take features one after the other."""
        number = check_integer(self.n_features_to_select, "n_features_to_select", 1)
        X, codes = self._check_Xy(X, y)
        classes = (codes[:, None] == np.arange(len(self.classes_))).astype(np.float64)
        target = classes / np.sqrt(classes.sum(axis=0))
        self.ranking_ = np.array(_path(_Columns(X), target - target.mean(axis=0), number), dtype=np.intp)
        self.support_ = np.zeros(X.shape[1], dtype=bool)
        self.support_[self.ranking_] = True
        return self


class _Columns:
    """Columns as if they were centred and of length 1; those that are constant are 0."""

    def __init__(self, X: Any) -> None:
        self.X: Any = X.tocsc().astype(np.float64) if sp.issparse(X) else np.asarray(X, dtype=np.float64)
        n = X.shape[0]
        self.mean = np.asarray(self.X.mean(axis=0)).ravel()
        squares = np.asarray((abs(self.X) ** 2).sum(axis=0)).ravel()
        spread = squares - n * self.mean**2
        varies = spread > 1e-12 * np.maximum(squares, 1e-300)
        self.scale = np.where(varies, 1 / np.sqrt(np.where(varies, spread, 1.0)), 0.0)

    def with_all(self, R: FloatArray) -> FloatArray:
        """Products of all columns with those of a centred matrix."""
        return np.asarray((self.X.T @ R) * self.scale[:, None])

    def take(self, j: int) -> FloatArray:
        """One column."""
        column = self.X[:, [j]].toarray().ravel() if sp.issparse(self.X) else self.X[:, j]
        return np.asarray((column - self.mean[j]) * self.scale[j])


def _path(columns: _Columns, R: FloatArray, number: int) -> list[int]:
    """Features in the order in which they come in."""
    with_residual = columns.with_all(R)
    lengths = np.linalg.norm(with_residual, axis=1)
    if not lengths.max() > 0:
        return []
    taken = [int(np.argmax(lengths))]
    active = columns.take(taken[0])[:, None]
    while len(taken) < min(number, len(lengths), len(R) - 1):
        towards = active @ np.linalg.lstsq(active, R, rcond=None)[0]
        moved = columns.with_all(towards)
        step = _steps(with_residual, moved, taken)
        best = int(np.argmin(step))
        if not np.isfinite(step[best]):
            break
        R = R - step[best] * towards
        with_residual = with_residual - step[best] * moved
        taken.append(best)
        active = np.column_stack([active, columns.take(best)])
    return taken


def _steps(c: FloatArray, d: FloatArray, taken: list[int]) -> FloatArray:
    """How far to go, up to 1, until each feature is as close to the residual as those that are in."""
    a = float(c[taken[0]] @ c[taken[0]])
    spent = ((c - d) ** 2).sum(axis=1) <= 1e-18 * a
    p1, p2, p3 = a - (d * d).sum(axis=1), a - (c * d).sum(axis=1), a - (c * c).sum(axis=1)
    with np.errstate(invalid="ignore", divide="ignore"):
        root = np.sqrt(np.maximum(p2 * p2 - p1 * p3, 0.0))
        steps = np.stack([(p2 + root) / p1, (p2 - root) / p1])
    steps[~((steps > 0) & (steps <= 1))] = np.inf
    steps[:, spent] = np.inf
    steps[:, taken] = np.inf
    return np.asarray(steps.min(axis=0))
