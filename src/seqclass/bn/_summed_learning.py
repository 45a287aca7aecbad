"""Structure and tables of a network from counts of pairs alone, as rows that come in chunks give them."""

from __future__ import annotations

from functools import partial
from operator import add

import numpy as np

from seqclass._arrays import FloatArray, IntArray
from seqclass.bn import _structure
from seqclass.bn._all_pairs import check_pairs, sum_pairs
from seqclass.bn._chunked import CodedChunks
from seqclass.bn._learning import Learner


class SummedLearner(Learner):
    """What `Learner` gives of all rows, by sums over chunks; each feature has one feature parent at most."""

    def __init__(
        self, chunks: CodedChunks, sizes: IntArray, n_classes: int, alpha: float, smoothing: str | float
    ) -> None:
        check_pairs(sizes, n_classes)
        super().__init__(*chunks.sample, None, sizes, n_classes, alpha, smoothing)
        self.singles = chunks.counts
        self.pairs: FloatArray = chunks.total(partial(sum_pairs, sizes=sizes, n_classes=n_classes), add)
        self.ends = np.cumsum(sizes)

    def parents(self, structure: object, rng: np.random.Generator) -> list[IntArray]:
        """Feature parents of each feature under a structure.

        Raises
        ------
        ValueError
            If one has several.
        """
        found = super().parents(structure, rng)
        if any(len(above) > 1 for above in found):
            raise ValueError(
                "structure: from chunks only pairs of features are counted, so a feature has one feature parent at "
                "most; choose 'tree', 'forest' or 'line', or fit to a sample of the rows."
            )
        return found

    def pair_weights(self) -> FloatArray:
        """I(feature; feature | class) of all pairs, in nats."""
        starts = self.ends - self.sizes
        parts = [_structure.shared_nats(joint, starts, starts) for joint in self.pairs]
        told, both = (sum(part) for part in zip(*parts))
        value = np.maximum(told / np.where(both > 0, both, 1.0), 0.0)
        np.fill_diagonal(value, 0.0)
        return np.asarray(value)

    def count_pairs(self, edges: IntArray) -> list[FloatArray]:
        """Counts of child, parent and class for each edge (child, parent)."""
        starts = self.ends - self.sizes
        return [
            self.pairs[:, starts[a] : self.ends[a], starts[b] : self.ends[b]].transpose(1, 2, 0).copy()
            for a, b in edges.tolist()
        ]
