"""What several features show together, whatever the model: one after the other."""

from __future__ import annotations

from typing import Any

import numpy as np

from seqclass._utils.arrays import FloatArray, IntArray, draw_columns
from seqclass.bn.base import ObservationModel


def joint_likelihood(model: ObservationModel, features: IntArray, state: Any) -> FloatArray:
    """P(joint outcome of several features | what the state has seen, class)."""
    n = len(state)
    joint = np.ones((n, 1, len(model.classes_)))
    for feature in np.asarray(features).tolist():
        size = int(model.n_outcomes_[feature])
        likelihood = model._check_stage_likelihood(feature, state)
        joint = (joint[:, :, None] * likelihood.reshape(n, -1, size, joint.shape[2])).reshape(n, -1, joint.shape[2])
        row = np.repeat(np.arange(len(state)), size)
        state = model.advance(feature, state[row], np.tile(np.arange(size), len(state)))
    return joint


def likelihood_along(model: ObservationModel, features: IntArray, state: Any, values: IntArray) -> FloatArray:
    """P(what several features showed | what the state has seen, class), missing ones left out."""
    result = np.ones((len(values), len(model.classes_)))
    for feature, value in zip(np.asarray(features).tolist(), values.T):
        seen = np.flatnonzero(value >= 0)
        if seen.size:
            likelihood = model._check_stage_likelihood(feature, state[seen])
            result[seen] *= likelihood[np.arange(seen.size), value[seen]]
        state = model.advance(feature, state, value)
    return result


def draw_jointly(
    model: ObservationModel, features: IntArray, state: Any, label: IntArray, uniforms: FloatArray
) -> tuple[IntArray, FloatArray]:
    """Draw what several features show, given the class."""
    rows = np.arange(len(label))
    values = np.empty(uniforms.shape, dtype=np.intp)
    result = np.ones((len(label), len(model.classes_)))
    for place, feature in enumerate(np.asarray(features).tolist()):
        likelihood = model._check_stage_likelihood(feature, state)
        values[:, place] = draw_columns(likelihood[rows, :, label], uniforms[:, place])
        result *= likelihood[rows, values[:, place]]
        state = model.advance(feature, state, values[:, place])
    return values, result
