"""Posteriors by Bayes's rule, one feature after the other."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from seqclass._arrays import FloatArray, chunks
from seqclass.bn._checks import raise_impossible


def chain_posterior(prior: FloatArray, evidence: Any, likelihood_of: Callable[[int, Any], FloatArray]) -> FloatArray:
    """P(class | evidence) of dense codes, from the likelihood of each feature given those before it."""
    belief = np.tile(prior, (evidence.shape[0], 1))
    for rows in chunks(evidence.shape[0], 2 * evidence.itemsize * evidence.shape[1]):
        known = evidence[rows]
        seen = np.full_like(known, -1)
        for feature in np.flatnonzero((known >= 0).any(axis=0)):
            at = np.flatnonzero(known[:, feature] >= 0)
            outcome = known[at, feature].astype(np.intp)
            likelihood = likelihood_of(int(feature), seen[at])
            joint = belief[rows][at] * likelihood[np.arange(len(at)), outcome]
            total = joint.sum(axis=1, keepdims=True)
            if not total.all():
                raise_impossible(int(feature), int(outcome[np.argmin(total)]))
            belief[rows.start + at] = joint / total
            seen[:, feature] = known[:, feature]
    return belief
