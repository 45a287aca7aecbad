"""Answers by rows of evidence, so that what is asked again is not computed again."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from seqclass._arrays import FloatArray, IntArray

#: Bytes of what is remembered; beyond it all is forgotten, but for what the last call was about.
MAX_BYTES = 2**27


class RowMemory:
    """Remembers likelihoods and beliefs by row of evidence.

    Parameters
    ----------
    shape : tuple of int
        Shape of a row's likelihoods, (n_features, V, n_classes).
    compute : callable
        Gives likelihoods (n, *shape) and beliefs (n, n_classes) of rows of evidence.
    """

    def __init__(self, shape: tuple[int, int, int], compute: Callable[[IntArray], tuple[FloatArray, FloatArray]]):
        self.shape, self.compute = shape, compute
        self.most = max(1, MAX_BYTES // (8 * int(np.prod(shape))))
        self.slots: dict[bytes, int] = {}
        self._make(0)

    def find(self, evidence: IntArray) -> tuple[RowMemory, IntArray]:
        """Slot of each row; ``likelihoods[slots]`` and ``beliefs[slots]`` are its answers until the next call."""
        keys = [row.tobytes() for row in evidence]
        new = {key: row for row, key in enumerate(keys) if key not in self.slots}
        if len(self.slots) + len(new) > self.most:
            new = {key: row for row, key in enumerate(keys)}
            self.slots = {}
        if new:
            first = len(self.slots)
            self._grow(first + len(new))
            rows = slice(first, first + len(new))
            self.likelihoods[rows], self.beliefs[rows] = self.compute(evidence[list(new.values())])
            self.slots |= {key: first + at for at, key in enumerate(new)}
        return self, np.array([self.slots[key] for key in keys], dtype=np.intp)

    def _make(self, capacity: int) -> None:
        self.likelihoods: FloatArray = np.empty((capacity, *self.shape))
        self.beliefs: FloatArray = np.empty((capacity, self.shape[2]))

    def _grow(self, needed: int) -> None:
        """Make room, and no more of it than is needed beyond what may be remembered."""
        used, before = len(self.slots), (self.likelihoods, self.beliefs)
        if needed <= len(self.beliefs) <= max(self.most, needed):
            return
        self._make(max(needed, min(2 * len(self.beliefs), self.most), 16))
        self.likelihoods[:used], self.beliefs[:used] = before[0][:used], before[1][:used]
