"""Tables of a Bayesian network: smoothing, and how well an edge predicts what was held out."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse
from scipy.special import xlogy

from seqclass._utils.arrays import TIE, FloatArray, IntArray
from seqclass.bn._checks import Codes

#: Strengths among which the best is looked for; infinity stands for no dependence on the parent.
STRENGTHS = np.array([0.5, 1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0, 128.0, 256.0, np.inf])


def dense_columns(X: Codes, columns: IntArray) -> IntArray:
    picked: Any = X[:, columns]
    return np.asarray(picked.toarray() if sparse.issparse(picked) else picked)


def conditional_information(counts: FloatArray) -> float:
    """I(child; parent | class) in nats of a table of counts (V_child, V_parent, n_classes)."""
    total = counts.sum()
    if total <= 0:
        return 0.0
    terms = xlogy(counts, counts).sum() + xlogy(counts.sum(axis=(0, 1)), counts.sum(axis=(0, 1))).sum()
    for axis in (0, 1):
        margin = counts.sum(axis=axis)
        terms -= xlogy(margin, margin).sum()
    return max(float(terms / total), 0.0)


def laplace(counts: FloatArray, alpha: float) -> FloatArray:
    """(N_v + alpha) / (N + alpha V) along the first axis; uniform where there is nothing to divide by."""
    table = counts + alpha
    total = table.sum(axis=0, keepdims=True)
    return np.asarray(np.where(total > 0, table / np.where(total > 0, total, 1.0), 1.0 / len(counts)))


def backoff(counts: FloatArray, marginal: FloatArray, strength: float) -> FloatArray:
    """(N_vbc + s P(v | c)) / (N_bc + s): the class's own distribution where the parent has few rows."""
    base: FloatArray = marginal.reshape(len(marginal), *[1] * (counts.ndim - 2), -1)
    if np.isinf(strength):
        return np.array(np.broadcast_to(base, counts.shape), order="C")
    return np.asarray((counts + strength * base) / (counts.sum(axis=0, keepdims=True) + strength))


def leave_one_out_log_likelihood(
    counts: FloatArray, single: FloatArray, alpha: float, unit: float, strengths: FloatArray = STRENGTHS
) -> FloatArray:
    """Log-likelihood of a feature given parents and class, each row predicted from all others, with backoff."""
    V, C = single.shape
    counts = counts.reshape(V, -1, C)
    base = _without_one(single, alpha or 1.0, unit)[:, None]
    rest, total = np.maximum(counts - unit, 0.0), np.maximum(counts.sum(axis=0) - unit, 0.0)
    result = np.empty(len(strengths))
    for i, s in enumerate(strengths):
        table = base if np.isinf(s) else (rest + s * base) / (total + s)
        result[i] = (counts * np.log(table)).sum()
    return result


def _without_one(counts: FloatArray, alpha: float, unit: float) -> FloatArray:
    """Laplace's estimate of an outcome from all rows but one that has it."""
    rest, total = np.maximum(counts - unit, 0.0), np.maximum(counts.sum(axis=0) - unit, 0.0)
    return np.asarray((rest + alpha) / (total + alpha * len(counts)))


def smooth_family(
    counts: FloatArray, single: FloatArray, alpha: float, smoothing: str | float, unit: float
) -> tuple[FloatArray, float]:
    """P(v | parents, class) by the smoothing asked for, and the strength of its backoff (NaN where there is none)."""
    if smoothing == "laplace":
        return laplace(counts, alpha), np.nan
    if smoothing == "backoff":
        strength = float(STRENGTHS[_last_best(leave_one_out_log_likelihood(counts, single, alpha, unit))])
    else:
        strength = float(smoothing)
    return backoff(counts, laplace(single, alpha), strength), strength


def pays_off(counts: FloatArray, single: FloatArray, alpha: float, smoothing: str | float, unit: float) -> bool:
    """Whether the parent helps to predict held-out rows under the smoothing asked for."""
    if smoothing == "backoff":
        return _last_best(leave_one_out_log_likelihood(counts, single, alpha, unit)) < len(STRENGTHS) - 1
    alone = leave_one_out_log_likelihood(counts, single, alpha, unit, np.array([np.inf]))[0]
    if smoothing == "laplace":
        joint = float((counts * np.log(_without_one(counts, alpha or 1.0, unit))).sum())
    else:
        joint = leave_one_out_log_likelihood(counts, single, alpha, unit, np.array([float(smoothing)]))[0]
    return bool(joint > alone + TIE * abs(alone))


def _last_best(scores: FloatArray) -> int:
    """Position of the largest score; of equal ones the last, which trusts the parent least."""
    near = scores >= scores.max() - TIE * abs(scores.max())
    return len(scores) - 1 - int(np.argmax(near[::-1]))
