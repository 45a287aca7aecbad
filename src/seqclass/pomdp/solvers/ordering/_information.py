"""Mutual information of answers and a hidden variable, for many questions and rows at once."""

from __future__ import annotations

import numpy as np

from seqclass._arrays import FloatArray, chunks, row_sums
from seqclass.pomdp.likelihoods import CACHE_BYTES

_TINY = np.finfo(float).tiny


def information(belief: FloatArray, table: FloatArray) -> FloatArray:
    """I(answer; column) of each question, (n, m), where all rows share P(outcome | column), (m, V, d)."""
    shape, flat = table.shape[:2], table.reshape(-1, table.shape[2])
    given = _plogp(table).sum(axis=1)
    result: FloatArray = np.empty((len(belief), shape[0]))
    for part in chunks(len(belief), 8.0 * 2 * len(flat), CACHE_BYTES):
        predictive = belief[part] @ flat.T
        result[part] = belief[part] @ given.T - row_sums(_plogp(predictive).reshape(-1, *shape))
    return result


def class_information(states: FloatArray, table: FloatArray, member: FloatArray) -> FloatArray:
    """I(answer; class) of each question, (n, m), where all rows share P(outcome | hidden state), (m, V, d)."""
    shape, flat = table.shape[:2], table.reshape(-1, table.shape[2])
    classes = [np.flatnonzero(column) for column in member.T]
    result: FloatArray = np.empty((len(states), shape[0]))
    for part in chunks(len(states), 8.0 * 4 * len(flat), CACHE_BYTES):
        joint = _plogp(states[part][:, classes[0]] @ flat[:, classes[0]].T)
        for own in classes[1:]:
            joint += _plogp(states[part][:, own] @ flat[:, own].T)
        joint -= _plogp(states[part] @ flat.T)
        known = _plogp(states[part] @ member).sum(axis=1, keepdims=True)
        result[part] = row_sums(joint.reshape(-1, *shape)) - known
    return result


def information_by_row(belief: FloatArray, likelihood: FloatArray) -> FloatArray:
    """I(answer; class) of each question, (n, m), where each row has its own P(outcome | class), (n, m, V, d)."""
    weight = belief[:, None, None]
    predictive = row_sums(likelihood * weight)
    return np.asarray(row_sums(row_sums(_plogp(likelihood) * weight)) - row_sums(_plogp(predictive)))


def _plogp(p: FloatArray) -> FloatArray:
    result = np.log(p + _TINY)
    result *= p
    return result
