"""What several features show together, whatever the model: one after the other."""

from __future__ import annotations

from typing import Any

import numpy as np

from seqclass._utils.arrays import FloatArray, IntArray
from seqclass.bn.base import ObservationModel


def joint_likelihood(model: ObservationModel, features: IntArray, state: Any) -> FloatArray:
    """P(joint outcome of several features | what the state has seen, class).

    Parameters
    ----------
    model : ObservationModel
        A fitted model.
    features : ndarray of int of shape (m,)
        The features, few and of few outcomes.
    state : object
        The model's state of ``n`` instances.

    Returns
    -------
    ndarray of shape (n, product of the numbers of outcomes, n_classes)
        In the order of an array whose axes are the features.

    Examples
    --------
    >>> from seqclass.bn import NaiveBayes
    >>> model = NaiveBayes().fit([[0, 0], [1, 0]], [0, 1])
    >>> joint_likelihood(model, np.array([0, 1]), model.start(1)).sum(axis=1).round(6)
    array([[1., 1.]])
    """
    n = len(state)
    joint = np.ones((n, 1, len(model.classes_)))
    for feature in np.asarray(features).tolist():
        size = int(model.n_outcomes_[feature])
        likelihood = model.stage_likelihood(feature, state)
        joint = (joint[:, :, None] * likelihood.reshape(n, -1, size, joint.shape[2])).reshape(n, -1, joint.shape[2])
        row = np.repeat(np.arange(len(state)), size)
        state = model.advance(feature, state[row], np.tile(np.arange(size), len(state)))
    return joint


def likelihood_along(model: ObservationModel, features: IntArray, state: Any, values: IntArray) -> FloatArray:
    """P(what several features showed | what the state has seen, class), missing ones left out.

    Parameters
    ----------
    model : ObservationModel
        A fitted model.
    features : ndarray of int of shape (m,)
        The features.
    state : object
        The model's state of ``n`` instances.
    values : ndarray of int of shape (n, m)
        What each showed, -1 where missing.

    Returns
    -------
    ndarray of shape (n, n_classes)

    Examples
    --------
    >>> from seqclass.bn import NaiveBayes
    >>> model = NaiveBayes().fit([[0, 0], [1, 0]], [0, 1])
    >>> likelihood_along(model, np.array([0, 1]), model.start(1), np.array([[1, -1]])).round(3)
    array([[0.333, 0.667]])
    """
    result = np.ones((len(values), len(model.classes_)))
    for feature, value in zip(np.asarray(features).tolist(), values.T):
        seen = np.flatnonzero(value >= 0)
        if seen.size:
            likelihood = model.stage_likelihood(feature, state[seen])
            result[seen] *= likelihood[np.arange(seen.size), value[seen]]
        state = model.advance(feature, state, value)
    return result


def drawn_jointly(
    model: ObservationModel, features: IntArray, state: Any, label: IntArray, uniforms: FloatArray
) -> tuple[IntArray, FloatArray]:
    """Draw what several features show, given the class.

    Parameters
    ----------
    model : ObservationModel
        A fitted model.
    features : ndarray of int of shape (m,)
        The features.
    state : object
        The model's state of ``n`` instances.
    label : ndarray of int of shape (n,)
        Class of each.
    uniforms : ndarray of shape (n, m)
        Numbers in [0, 1), which decide what is drawn.

    Returns
    -------
    values : ndarray of int of shape (n, m)
        What each showed.
    likelihood : ndarray of shape (n, n_classes)
        Its probability in each class.

    Examples
    --------
    >>> from seqclass.bn import NaiveBayes
    >>> model = NaiveBayes().fit([[0, 0], [1, 0]], [0, 1])
    >>> values, likelihood = drawn_jointly(
    ...     model, np.array([0, 1]), model.start(1), np.array([0]), np.array([[0.5, 0.5]])
    ... )
    >>> values, likelihood.round(3)
    (array([[0, 0]]), array([[0.667, 0.333]]))
    """
    rows = np.arange(len(label))
    values = np.empty(uniforms.shape, dtype=np.intp)
    result = np.ones((len(label), len(model.classes_)))
    for place, feature in enumerate(np.asarray(features).tolist()):
        likelihood = model.stage_likelihood(feature, state)
        cumulative = likelihood[rows, :, label].cumsum(axis=1)
        drawn = (cumulative <= uniforms[:, place, None] * cumulative[:, -1:]).sum(axis=1)
        values[:, place] = np.minimum(drawn, likelihood.shape[1] - 1)
        result *= likelihood[rows, values[:, place]]
        state = model.advance(feature, state, values[:, place])
    return values, result
