"""What a network remembers of instances along an order: the outcomes that still matter."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from seqclass._arrays import IntArray
from seqclass.bn._rows import Columns


class NetworkState:
    """Outcomes of the features that were asked for, one column each.

    ``state[rows]`` picks instances, ``len(state)`` counts them.

    Parameters
    ----------
    features : tuple of int
        The features.
    codes : ndarray of int of shape (n_features, n)
        Their outcomes, -1 where missing.
    hidden : frozenset of int
        Features that are known in all rows, and whose outcomes no longer matter.
    """

    __slots__ = ("codes", "features", "hidden")

    def __init__(self, features: tuple[int, ...], codes: IntArray, hidden: frozenset[int] = frozenset()) -> None:
        self.features = features
        self.codes = codes
        self.hidden = hidden

    @classmethod
    def empty(cls, n: int, dtype: Any) -> NetworkState:
        """State of ``n`` instances of which nothing is known."""
        return cls((), np.empty((0, n), dtype=dtype))

    def __len__(self) -> int:
        return int(self.codes.shape[1])

    def __getitem__(self, rows: Any) -> NetworkState:
        if isinstance(rows, np.ndarray) and rows.dtype.kind == "i":  # take is quicker
            return NetworkState(self.features, self.codes.take(rows, axis=1), self.hidden)
        return NetworkState(self.features, self.codes[:, rows], self.hidden)

    @property
    def nbytes(self) -> int:
        """Bytes held."""
        return int(self.codes.nbytes)

    def columns(self, without: int = -1) -> Columns:
        """Outcomes by feature, leaving one feature out."""
        return {j: column for j, column in zip(self.features, self.codes) if j != without}

    @classmethod
    def concatenate(cls, states: Sequence[NetworkState]) -> NetworkState:
        """The rows of several states, one after the other; what one of them does not hold is unknown there."""
        features = tuple(dict.fromkeys(j for state in states for j in state.features))
        codes = np.full((len(features), sum(len(state) for state in states)), -1, dtype=states[0].codes.dtype)
        place = {j: at for at, j in enumerate(features)}
        start = 0
        for state in states:
            codes[[place[j] for j in state.features], start : start + len(state)] = state.codes
            start += len(state)
        # a feature that is hidden in some rows only bears on nothing there, so it may as well be unknown
        return cls(features, codes, frozenset.intersection(*(state.hidden for state in states)))

    def put(self, feature: int, outcome: IntArray) -> NetworkState:
        """State in which a feature showed ``outcome``; where that is -1, what is known of it stays."""
        if not (outcome >= 0).any():
            return self
        kept = [at for at, j in enumerate(self.features) if j != feature]
        codes = np.empty((len(kept) + 1, len(self)), dtype=self.codes.dtype)
        codes[-1] = outcome
        if len(kept) < len(self.features):
            before = self.codes[self.features.index(feature)]
            codes[-1] = np.where(outcome >= 0, outcome, before)
        codes[:-1] = self.codes if len(kept) == len(self.features) else self.codes[kept]
        return NetworkState((*(self.features[at] for at in kept), feature), codes, self.hidden - {feature})

    def forget_hidden(self, feature: int, neighbours: Sequence[Sequence[int]]) -> NetworkState:
        """Drop features whose neighbours are all known in all rows: they bear on nothing that is still open.

        Only ``feature``, the last that was set, and its neighbours are looked at.
        """
        position = {j: at for at, j in enumerate(self.features)}
        known: dict[int, bool] = {}

        def is_known(j: int) -> bool:
            if j not in known:
                known[j] = j in self.hidden or (j in position and bool((self.codes[position[j]] >= 0).all()))
            return known[j]

        if not is_known(feature):
            return self
        near = [j for j in (feature, *neighbours[feature]) if j in position]
        gone = {j for j in near if all(is_known(i) for i in (j, *neighbours[j]))}
        if not gone:
            return self
        kept = [at for at, j in enumerate(self.features) if j not in gone]
        return NetworkState(tuple(self.features[at] for at in kept), self.codes[kept], self.hidden | gone)
