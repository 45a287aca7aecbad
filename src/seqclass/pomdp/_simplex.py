"""A regular grid on the probability simplex and interpolation on its Freudenthal triangulation."""

from __future__ import annotations

from math import comb
from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy import special

from seqclass._utils.arrays import CACHE_BYTES, FloatArray, IntArray, chunks, row_sums
from seqclass._utils.model_files import register
from seqclass._utils.stored import require, require_numbers, require_whole


def grid_size(n_classes: int, resolution: int) -> int:
    """Return the number of grid points: compositions of ``resolution`` into ``n_classes`` parts."""
    return comb(resolution + n_classes - 1, n_classes - 1)


@register
class SimplexGrid:
    """Beliefs whose entries are multiples of ``1 / resolution``."""

    def __init__(self, n_classes: int, resolution: int) -> None:
        self.resolution = resolution
        n_tails = n_classes - 1
        tail = np.arange(n_tails)[:, None]
        counts = special.comb(np.arange(resolution + 2) + n_tails - 1 - tail, n_tails - tail)
        self._rank: IntArray = np.rint(counts).astype(np.int64)
        tails = np.full((1, 1), resolution, dtype=np.int64)
        for _ in range(n_tails):
            last = tails[:, -1]
            offset = np.arange((last + 1).sum()) - np.repeat(np.cumsum(last + 1) - (last + 1), last + 1)
            tails = np.column_stack([np.repeat(tails, last + 1, axis=0), offset])
        tails = np.column_stack([tails, np.zeros(len(tails), dtype=np.int64)])
        self.points: FloatArray = (tails[:, :-1] - tails[:, 1:]) / resolution

    def interpolate(self, values: FloatArray, belief: FloatArray, offset: IntArray | int = 0) -> FloatArray:
        """Interpolate values on the grid, its points the last axis; of a concave function that is a lower bound."""
        level, fraction = self._tails(belief)
        if level.shape[1] == 0:  # one class: the simplex is a point
            return np.asarray(values.take(np.zeros(len(belief), dtype=np.intp) + offset, axis=-1))
        index: Any = level[:, 0]
        if level.shape[1] == 1:  # two classes: the triangulation is the line
            low = values.take(index + offset, axis=-1)
            high = values.take(np.minimum(index + 1, self.resolution) + offset, axis=-1)
            return np.asarray(low + fraction[:, 0] * (high - low))
        if level.shape[1] == 2:
            return self._interpolate_triangle(values, level, fraction, offset)
        vertices, weights = self.weights(belief)
        return np.asarray(sum(w * values.take(at + offset, axis=-1) for at, w in zip(vertices.T, weights.T)))

    def _interpolate_triangle(
        self, values: FloatArray, level: IntArray, fraction: FloatArray, offset: IntArray | int
    ) -> FloatArray:
        """Three classes, by far the most frequent use of this loop: no sorting is needed."""
        index: Any = sum(rank.take(column) for rank, column in zip(self._rank, level.T))
        step = np.stack([rise.take(column) for rise, column in zip(np.diff(self._rank), level.T)], axis=1)
        first, second = fraction.T
        middle = index + np.where(first >= second, *step.T)
        last = index + step[:, 0] + step[:, 1]
        high, low = np.maximum(first, second), np.minimum(first, second)
        largest = len(self.points) - 1  # a vertex of weight zero may lie outside the grid
        return np.asarray(
            (1 - high) * values.take(index + offset, axis=-1)
            + (high - low) * values.take(np.minimum(middle, largest) + offset, axis=-1)
            + low * values.take(np.minimum(last, largest) + offset, axis=-1)
        )

    def read(
        self, values: FloatArray, belief: FloatArray, interpolation: str, context: IntArray | int | None = None
    ) -> FloatArray:
        """Values of unnormalised beliefs, which scale with them."""
        total = row_sums(belief)
        normalised = belief / np.where(total > 0, total, 1.0)[:, None]
        several = context is not None and len(values) > len(self.points)
        offset: Any = context * len(self.points) if several else 0  # type: ignore[operator]
        # up to so many functions are interpolated one by one, more by a sparse matrix that serves all
        if values.ndim == 2 and values.shape[1] > 2:
            return self._read_many(values, normalised, total, interpolation, offset)
        if values.ndim == 1 and belief.size <= 2**15:  # one part
            if interpolation == "nearest":
                return np.asarray(values[self.nearest(normalised) + offset] * total)
            return self.interpolate(values, normalised, offset) * total
        columns = values if values.ndim == 2 else values[:, None]
        result = np.empty((len(belief), columns.shape[1]))
        for part in chunks(len(belief), 8.0 * 8 * belief.shape[1], CACHE_BYTES):
            inside = offset[part] if np.ndim(offset) else offset
            if interpolation == "nearest":
                result[part] = columns[self.nearest(normalised[part]) + inside]
                continue
            result[part] = self.interpolate(np.ascontiguousarray(columns.T), normalised[part], inside).T
        result *= total[:, None]
        return result if values.ndim == 2 else result[:, 0]

    def _read_many(
        self, values: FloatArray, belief: FloatArray, total: FloatArray, interpolation: str, offset: Any
    ) -> FloatArray:
        """Many functions at once: one sparse matrix of interpolation weights serves all."""
        if interpolation == "nearest":
            vertices, weights = self.nearest(belief)[:, None], np.ones((len(belief), 1))
        else:
            vertices, weights = self.weights(belief)
        weights = weights * total[:, None]
        if np.any(offset):
            vertices = vertices + np.reshape(offset, (-1, 1))
        if vertices.shape[1] == 2 and len(belief) * values.shape[1] <= 2**15:  # where making a matrix costs more
            result = values.take(vertices[:, 0], axis=0)
            result *= weights[:, :1]
            result += values.take(vertices[:, 1], axis=0) * weights[:, 1:]
            return result
        # of the index type that scipy would choose, so that it need not look
        kind = np.int32 if max(vertices.size, len(values)) < 2**31 else np.int64
        pointer = np.arange(0, vertices.size + 1, vertices.shape[1], dtype=kind)
        parts = (weights.ravel(), vertices.ravel().astype(kind), pointer)
        return np.asarray(sp.csr_array(parts, shape=(len(belief), len(values))) @ values)

    def weights(self, belief: FloatArray) -> tuple[IntArray, FloatArray]:
        """Grid points that `interpolate` reads for each belief and their weights, both (n, at most n_classes)."""
        level, fraction = self._tails(belief)
        if level.shape[1] == 0:
            return np.zeros((len(belief), 1), dtype=np.int64), np.ones((len(belief), 1))
        if level.shape[1] == 1:  # two classes: the triangulation is the line
            vertices = np.column_stack([level, np.minimum(level + 1, self.resolution)])
            return vertices, np.column_stack([1 - fraction, fraction])
        index = sum(rank.take(column) for rank, column in zip(self._rank, level.T))
        step = np.stack([rise.take(column) for rise, column in zip(np.diff(self._rank), level.T)], axis=1)
        order = np.argsort(-fraction, axis=1, kind="stable")
        fraction = np.take_along_axis(fraction, order, axis=1)
        step = np.take_along_axis(step, order, axis=1)
        vertices = np.column_stack([index, index[:, None] + np.cumsum(step, axis=1)])
        # a vertex of weight zero may lie outside the grid
        np.clip(vertices, 0, len(self.points) - 1, out=vertices)
        bounds = np.column_stack([np.ones(len(fraction)), fraction, np.zeros(len(fraction))])
        return vertices, bounds[:, :-1] - bounds[:, 1:]

    def nearest(self, belief: FloatArray) -> IntArray:
        """Number of the nearest grid point of each belief, (n,); ties go to the class of lowest index."""
        scaled = belief * self.resolution
        # rounding in the products must not decide which grid point a belief on the grid belongs to
        floor = np.floor(scaled + 1e-9)
        missing = self.resolution - floor.sum(axis=1)
        order = np.argsort(-np.round(scaled - floor, 9), axis=1, kind="stable")
        rank = np.empty_like(order)
        np.put_along_axis(rank, order, np.arange(order.shape[1])[None, :], axis=1)
        counts = floor + (rank < missing[:, None])
        tails = np.cumsum(counts[:, ::-1], axis=1)[:, ::-1][:, 1:].astype(np.int64)
        return np.asarray(self._rank[np.arange(tails.shape[1]), tails].sum(axis=1))

    def _tails(self, belief: FloatArray) -> tuple[IntArray, FloatArray]:
        """Probabilities added up from the last class on, in steps of the grid: whole ones, and what is over."""
        if belief.shape[1] == 2:  # nothing to add up
            tails = belief[:, 1:] * self.resolution
        else:
            tails = belief[:, :0:-1].cumsum(axis=1)[:, ::-1] * self.resolution
        tails = np.minimum(np.maximum(tails, 0.0), self.resolution)
        level = tails.astype(np.int64)
        return level, tails - level

    def _check_stored(self) -> None:
        points = require_numbers(self, "points", None, None)
        steps, n_classes = require_whole(self, "resolution", 1, 10**7), points.shape[1]
        require(n_classes >= 1 and grid_size(n_classes, steps) == len(points), "points are not those of resolution")
        again = SimplexGrid(n_classes, steps)
        require(np.array_equal(points, again.points), "points are not those of resolution")
        require(self._rank.dtype.kind == "i" and np.array_equal(self._rank, again._rank), "_rank is another")
