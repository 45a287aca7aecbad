"""Some of many, evenly taken."""

from __future__ import annotations

import numpy as np

from seqclass._arrays import IntArray


def evenly(n: int, most: int) -> IntArray:
    """Positions of at most so many of ``n``, the first and the last among them, evenly apart.

    Examples
    --------
    >>> evenly(10, 4).tolist(), evenly(2, 4).tolist()
    ([0, 3, 6, 9], [0, 1])
    """
    return np.unique(np.linspace(0, n - 1, min(n, most)).round().astype(np.intp))
