"""Extremal feature selection as the authors of FIRES ran it: otherwise than its own authors describe it."""

from __future__ import annotations

from typing import Any

import numpy as np

from seqclass._utils.arrays import FloatArray, IntArray
from seqclass.selection import EFS


class ScaledEFS(EFS):
    """`EFS` with rows scaled from their least to their largest value, without a bias."""

    _accepts_sparse = False

    def _learn(self, X: Any, codes: IntArray) -> None:
        low, width = X.min(axis=1, keepdims=True), np.ptp(X, axis=1, keepdims=True)
        rows: FloatArray = (X - low) / np.where(width > 0, width, 1)
        with np.errstate(over="ignore", invalid="ignore"):
            for problem, y in enumerate(self._signs(codes)):
                u, v = self.positive_[problem, :-1], self.negative_[problem, :-1]
                for x, sign in zip(rows, y):
                    if sign * (x @ u - x @ v - self.threshold) <= self.margin:
                        self._update(np.arange(len(u)), x, sign, u, v)
            weights = np.abs(self.positive_ - self.negative_)[:, :-1].mean(axis=0)
        # by their order alone, for they lie too far apart to tell small ones from zero; what is no number comes last
        self.weights_ = np.unique(weights, return_inverse=True)[1].astype(np.float64)

    def _update(self, columns: IntArray, x: FloatArray, sign: float, u: FloatArray, v: FloatArray) -> None:
        """Multiply without bounds, so that long streams end at infinity and zero."""
        up, down = (u, v) if sign > 0 else (v, u)
        up *= self.promotion * (1 + x)
        down *= self.demotion * (1 - x)
