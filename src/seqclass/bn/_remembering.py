"""Which answers to remember where a staged problem cannot remember all of them."""

from __future__ import annotations

import numpy as np

from seqclass._arrays import FloatArray, IntArray, chunks
from seqclass.bn._base import ObservationModel

#: So many stages ahead it is asked what a feature says about them; each counts so much less than the one before.
WINDOW, DISCOUNT = 6, 0.8
#: Nats of information closer than this are a tie.
_TIE = 1e-12


def likelihood_of_rows(model: ObservationModel, feature: int, features: IntArray, rows: IntArray) -> FloatArray:
    """P(outcome of the feature | values of some others, class), a row a combination of values.

    Parameters
    ----------
    model : ObservationModel
        A fitted model.
    feature : int
        The feature asked for.
    features : ndarray of int of shape (m,)
        The others.
    rows : ndarray of int of shape (n, m)
        Their values, -1 where not known.

    Returns
    -------
    ndarray of shape (n, n_outcomes, n_classes)

    Examples
    --------
    >>> import numpy as np
    >>> from seqclass.bn import NaiveBayes
    >>> model = NaiveBayes().fit(np.array([[0, 0], [1, 0], [1, 1]]), [0, 1, 1])
    >>> likelihood_of_rows(model, 1, np.array([0]), np.array([[0], [1]])).shape
    (2, 2, 2)
    """
    n_features = model.n_features_in_
    table = np.empty((len(rows), int(model.n_outcomes_[feature]), len(model.classes_)))
    for part in chunks(len(rows), 4.0 * rows.itemsize * n_features):
        evidence = np.full((len(rows[part]), n_features), -1, dtype=rows.dtype)
        evidence[:, features] = rows[part]
        table[part] = model.likelihood(feature, evidence)
    return table


def strongest(
    model: ObservationModel, features: IntArray, rows: IntArray, weight: FloatArray, ahead: IntArray, most: int
) -> IntArray:
    """Forget features one by one, each time the one that says least about those to come beside the others.

    What feature ``a`` says about ``j`` is ``I(F_a; F_j | class, others remembered)``, all classes alike. Features count
    the less the later they come.

    Parameters
    ----------
    model : ObservationModel
        A fitted model.
    features : ndarray of int of shape (m,)
        Features that could be remembered, the one asked longest ago first.
    rows : ndarray of int of shape (n, m)
        Combinations of their values.
    weight : ndarray of shape (n, n_classes)
        P(combination | class).
    ahead : ndarray of int
        Features to come, the next one first.
    most : int
        Most combinations of values of those remembered, missing ones included.

    Returns
    -------
    ndarray of int
        Positions of the features to remember, in increasing order.

    Examples
    --------
    >>> import numpy as np
    >>> from seqclass.bn import NaiveBayes
    >>> model = NaiveBayes().fit(np.array([[0, 0, 0], [1, 0, 1], [1, 1, 0]]), [0, 1, 1])
    >>> rows = np.array([[0, 0], [0, 1], [1, 0], [1, 1]])
    >>> strongest(model, np.array([0, 1]), rows, np.full((4, 2), 0.25), np.array([2]), 3)
    array([1])
    """
    known = weight.any(axis=1)
    rows, weight = _merged(rows[known], weight[known])
    kept = np.arange(len(features))
    while kept.size and np.prod(model.n_outcomes_[features[kept]] + 1.0) > most:
        lost = np.zeros(kept.size)
        groups = [_numbers(np.delete(rows, position, axis=1)) for position in range(kept.size)]
        for distance, j in enumerate(ahead[:WINDOW]):
            joint = likelihood_of_rows(model, int(j), features[kept], rows) * weight[:, None]
            lost += DISCOUNT**distance * np.array([_news(joint, group) for group in groups])
        weakest = int((lost <= lost.min() + _TIE).argmax())
        kept = np.delete(kept, weakest)
        rows, weight = _merged(np.delete(rows, weakest, axis=1), weight)
    return kept


def _news(joint: FloatArray, group: IntArray) -> float:
    """I(row; outcome | class, group of the row), summed over classes, from P(row, outcome | class)."""
    return _entropy(_sums(joint, group)) - _entropy(joint)


def _entropy(joint: FloatArray) -> float:
    """H(outcome | row, class), summed over classes."""
    total = joint.sum(axis=1)
    return float(_x_log_x(total).sum() - _x_log_x(joint).sum())


def _x_log_x(x: FloatArray) -> FloatArray:
    return np.asarray(x * np.log(np.where(x > 0, x, 1.0)))


def _numbers(rows: IntArray) -> IntArray:
    return np.asarray(np.unique(rows, axis=0, return_inverse=True)[1]).ravel()


def _sums(values: FloatArray, group: IntArray) -> FloatArray:
    total = np.zeros((int(group.max(initial=-1)) + 1, *values.shape[1:]))
    np.add.at(total, group, values)
    return total


def _merged(rows: IntArray, weight: FloatArray) -> tuple[IntArray, FloatArray]:
    """Distinct rows and the sums of their weights."""
    distinct, group = np.unique(rows, axis=0, return_inverse=True)
    return distinct, _sums(weight, np.asarray(group).ravel())
