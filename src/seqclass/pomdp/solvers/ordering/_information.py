"""Mutual information of answers and a hidden variable, for many questions and rows at once."""

from __future__ import annotations

import numpy as np

from seqclass._arrays import FloatArray, chunks, row_sums
from seqclass.pomdp.likelihoods import CACHE_BYTES
from seqclass.pomdp.state_tables import plogp


def information(belief: FloatArray, table: FloatArray) -> FloatArray:
    """I(answer; column) of each question, (n, m), where all rows share P(outcome | column), (m, V, d)."""
    shape, flat = table.shape[:2], table.reshape(-1, table.shape[2])
    given = plogp(table).sum(axis=1)
    result: FloatArray = np.empty((len(belief), shape[0]))
    for part in chunks(len(belief), 8.0 * 2 * len(flat), CACHE_BYTES):
        predictive = belief[part] @ flat.T
        result[part] = belief[part] @ given.T - row_sums(plogp(predictive).reshape(-1, *shape))
    return result


def information_by_row(belief: FloatArray, likelihood: FloatArray) -> FloatArray:
    """I(answer; class) of each question, (n, m), where each row has its own P(outcome | class), (n, m, V, d)."""
    weight = belief[:, None, None]
    predictive = row_sums(likelihood * weight)
    return np.asarray(row_sums(row_sums(plogp(likelihood) * weight)) - row_sums(plogp(predictive)))
