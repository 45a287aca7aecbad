"""How a classifier does when features are missing at test time."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from seqclass._base import BaseSequentialClassifier
from seqclass._utils.arrays import FloatArray, IntArray, as_generator, chunks
from seqclass._utils.tables import Readable
from seqclass._utils.validation import check_finite, check_integer, class_numbers
from seqclass.agent.agent import agent_of, check_classifier, initial_row_beliefs
from seqclass.pomdp import acquire

#: A posterior of zero counts as this in the log loss, which would else be infinite.
_LEAST = float(np.finfo(np.float64).eps)
_MEASURES = ("accuracy", "n_features", "n_asked", "cost", "log_loss")


@dataclass(frozen=True, repr=False)
class MissingSweep(Readable):
    """Measures on test data at each of ``m`` shares of missing cells.

    Attributes
    ----------
    share : ndarray of shape (m,)
        Probability that a cell is missing.
    accuracy : ndarray of shape (m,)
        Share of instances whose decision is their label, averaged over repeats.
    n_features, n_asked : ndarray of shape (m,)
        Features acquired, and features asked for including missing ones; means over instances and repeats.
    cost : ndarray of shape (m,)
        Realised cost: prices paid plus cost of the decisions.
    log_loss : ndarray of shape (m,)
        ``-log P(true class | what was acquired)`` at the stop, in nats.
    accuracy_error, n_features_error, n_asked_error, cost_error, log_loss_error : ndarray of shape (m,)
        Standard errors of these means over random removals, with the test data held fixed. NaN with a single repeat.
    n_repeats : int
        Number of removals at each share.

    Examples
    --------
    >>> import numpy as np
    >>> sweep = MissingSweep(np.array([0.0, 0.5]), *np.ones((10, 2)), n_repeats=5)
    >>> len(sweep), sweep.to_frame()["share"].tolist()
    (2, [0.0, 0.5])
    """

    _in_summary = ("share", "accuracy", "n_features", "cost", "n_repeats")
    _units = {"log_loss": "nats", "log_loss_error": "nats"}

    share: FloatArray
    accuracy: FloatArray
    n_features: FloatArray
    n_asked: FloatArray
    cost: FloatArray
    log_loss: FloatArray
    accuracy_error: FloatArray
    n_features_error: FloatArray
    n_asked_error: FloatArray
    cost_error: FloatArray
    log_loss_error: FloatArray
    n_repeats: int

    def __len__(self) -> int:
        return len(self.share)


def missing_sweep(
    clf: BaseSequentialClassifier,
    X: Any,
    y: npt.ArrayLike,
    shares: npt.ArrayLike = (0.0001, 0.001, 0.01, 0.05, 0.1, 0.2, 0.3, 0.5),
    n_repeats: int = 5,
    random_state: Any = 0,
) -> MissingSweep:
    """Remove cells of test data at random, and measure how the classifier does without them.

    Each cell is removed independently, with the same probability. Within a repeat, what is missing at one share is also
    missing at all larger ones, so that shares can be compared. A feature that is asked for but missing leaves the
    belief as it is and costs nothing, unless the classifier has ``charge_missing=True``; the policy goes on from there.

    Parameters
    ----------
    clf : SequentialClassifier or AdaptiveClassifier
        A fitted classifier.
    X : array-like, data frame or sparse array of shape (n, n_features)
        Test data in the form of the training data; outcomes if the discretiser is ``"precomputed"``. Cells that are
        already missing stay missing, and a zero that a sparse array does not store is a cell like any other.
    y : array-like of shape (n,)
        Labels.
    shares : array-like of shape (m,)
        Probabilities with which a cell is removed, between 0 and 1; by default from those of the paper's Fig. 5.
    n_repeats : int
        Number of random removals at each share.
    random_state : int, generator or None
        Seed of the removals.

    Returns
    -------
    MissingSweep

    Raises
    ------
    ValueError
        If a share is not between 0 and 1, ``y`` has another length than ``X``, or a label was not seen in training.

    References
    ----------
    .. [1] Y. W. Liyanage, D.-S. Zois and C. Chelmis, "Dynamic instance-wise classification in correlated feature
       spaces", IEEE TAI 2021, section VI-H and Fig. 5.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from seqclass import SequentialClassifier
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> clf = SequentialClassifier().fit(X[::2], y[::2])
    >>> sweep = missing_sweep(clf, X[1::2], y[1::2], shares=[0, 0.3, 1], n_repeats=2)
    >>> bool(sweep.accuracy[0] > 0.9), bool(sweep.n_asked[1] > sweep.n_asked[0]), float(sweep.n_features[2])
    (True, True, 0.0)
    """
    check_classifier(clf)
    share = check_finite(shares, "shares")
    if share.ndim != 1 or not share.size or share.min() < 0 or share.max() > 1:
        raise ValueError(f"shares must be a list of probabilities between 0 and 1, got {shares!r}.")
    check_integer(n_repeats, "n_repeats", 1)
    rng = as_generator(random_state, "missing cells")
    codes, columns, keys = rows = clf.encode(X)
    start = initial_row_beliefs(agent_of(clf), rows)
    truth = class_numbers(clf.classes_, y, n=codes.shape[0])
    position = np.empty(clf.n_features_in_, dtype=np.intp)
    position[clf.support_] = np.arange(len(clf.support_))
    asked = position[clf.order_]
    gone = agent_of(clf).coder.missing_code[clf.order_]
    codes, take = codes[:, columns[asked]], np.zeros(len(columns), dtype=np.intp)
    take[asked] = np.arange(len(asked))
    totals = np.zeros((n_repeats, len(share), len(_MEASURES)))
    # what is drawn for each cell, and its outcome in every variant
    row_bytes = 4.0 * n_repeats * (1 + len(share)) * max(1, len(asked))
    for part in chunks(len(truth), row_bytes):
        present = codes[part].toarray() if sp.issparse(codes) else codes[part]
        drawn = rng.random((n_repeats, *present.shape), dtype=np.float32)
        variants = np.where(drawn[:, None] < share[:, None, None], gone, present)
        begun = None if start is None else (start[0], np.tile(start[1][part], n_repeats * len(share)))
        totals += _sums(clf, variants, take, None if keys is None else keys[part], truth[part], begun)
    means = totals / max(1, len(truth))
    error = np.full(means.shape[1:], np.nan)
    if n_repeats > 1:
        error = means.std(axis=0, ddof=1) / np.sqrt(n_repeats)
    measured = dict(zip([*_MEASURES, *(f"{name}_error" for name in _MEASURES)], [*means.mean(axis=0).T, *error.T]))
    return MissingSweep(share=share, n_repeats=n_repeats, **measured)


def _sums(
    clf: BaseSequentialClassifier, variants: IntArray, columns: IntArray, keys: Any, truth: IntArray, start: Any
) -> FloatArray:
    """Sum of each measure over the rows of each variant, (n_repeats, m, n_measures)."""
    shape, n_variants = variants.shape[:3], variants.shape[0] * variants.shape[1]
    codes = variants.reshape(n_variants * len(truth), -1)
    if keys is not None:
        keys = keys[np.tile(np.arange(len(truth)), n_variants)]
    # all at once: most variants of a row share their first answers
    charged = agent_of(clf).charge_missing
    acquired = acquire(clf.policy_, codes, columns=columns, charge_missing=charged, keys=keys, start=start)
    leaf = acquired.leaf.reshape(shape)
    decision = acquired.leaf_decision[leaf]
    measures = [
        decision == truth,
        (acquired.leaf_outcome >= 0).sum(axis=1)[leaf],
        (acquired.leaf_path >= 0).sum(axis=1)[leaf],
        acquired.leaf_price[leaf] + clf.decision_costs_[truth, decision],
        -np.log(np.maximum(acquired.leaf_belief[leaf, truth], _LEAST)),
    ]
    return np.stack([measure.sum(axis=2) for measure in measures], axis=2)
