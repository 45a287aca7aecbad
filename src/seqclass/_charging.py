"""What a classifier without a stopping rule pays for the features that it looks at."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

from seqclass._arrays import FloatArray, IntArray
from seqclass.costs import Prices


def charged(acquired: Any, prices: Prices) -> tuple[IntArray, FloatArray]:
    """Number and cost of what is acquired of each instance, from a sparse matrix of ones; a bundle counts once."""
    if prices.bundles is not None:
        acquired = _once(acquired, prices.bundles)
    cost = acquired @ prices.discounted
    if prices.groups is not None:
        extra = prices.full - prices.discounted
        for group in np.unique(prices.groups).tolist():
            columns = np.flatnonzero(prices.groups == group)
            bought = acquired[:, columns]
            if group < 0:  # these have no group: each costs its full price
                cost = cost + bought @ extra[columns]
                continue
            # one of them pays the full price: that for which the difference is least
            least = np.where(bought.toarray() > 0, extra[columns], np.inf).min(axis=1)
            cost = cost + np.where(np.isfinite(least), least, 0.0)
    return np.asarray(acquired.sum(axis=1), dtype=np.intp).ravel(), np.asarray(cost, dtype=np.float64)


def _once(acquired: Any, bundles: IntArray) -> Any:
    """The same with a bundle as its first feature, acquired where any of its features is."""
    first = np.arange(bundles.size)
    _, start, number = np.unique(bundles, return_index=True, return_inverse=True)
    first[bundles >= 0] = start[number[bundles >= 0]]
    members = sp.csr_array((np.ones(bundles.size), (np.arange(bundles.size), first)))
    members.resize((bundles.size, bundles.size))
    asked = sp.csr_array(acquired @ members)
    asked.data[:] = 1.0
    return asked
