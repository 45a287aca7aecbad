"""Adding rows to a classifier whose bins are fixed."""

from __future__ import annotations

from copy import deepcopy
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from seqclass._arrays import IntArray
from seqclass._chunks.drawing import keys, shares, told_apart
from seqclass._coding import OutcomeCoder, value_range
from seqclass._fitting import timed
from seqclass._frames import FrameEncoder, is_frame, plain
from seqclass._inputs import check_features, check_input
from seqclass.bn import NaiveBayes
from seqclass.bn._checks import check_n_outcomes

if TYPE_CHECKING:
    from seqclass.classifier import SequentialClassifier

#: Rows that are kept to find an order on: `seqclass.bn.conditional_order` looks at no more.
_KEPT = 20_000


def fixed(discretizer: Any) -> bool:
    """Whether a setting fixes the bins before any row is seen.

    Examples
    --------
    >>> fixed("precomputed"), fixed(None)
    (True, False)
    """
    fitted = hasattr(discretizer, "n_outcomes_") or hasattr(discretizer, "n_bins_")
    return fitted or (isinstance(discretizer, str) and discretizer == "precomputed")


def add_rows(clf: SequentialClassifier, X: Any, y: npt.ArrayLike, classes: Any, n_outcomes: Any) -> None:
    """Count further rows, and plan anew; see `SequentialClassifier.partial_fit`."""
    _check(clf)
    X, (found, at) = plain(X), told_apart(y)
    labels = found[at]
    first = not hasattr(clf, "_kept")
    if first:
        if hasattr(clf, "policy_"):
            raise ValueError(
                "partial_fit: the classifier was fitted to rows that it has not kept; begin with partial_fit on a "
                "clone, or fit_chunks to all rows."
            )
        if classes is None:
            raise ValueError("the first call of partial_fit needs classes, all labels that there will be.")
        clf._forget()
        X = _begin(clf, X, np.unique(classes), n_outcomes)
    else:
        X = check_input(clf, X, clf.encoder_)
        if clf.coder_.range_ is not None:
            low, high = clf.coder_.range_, value_range(X)
            clf.coder_.range_ = np.array([np.fmin(low[0], high[0]), np.fmax(low[1], high[1])])
    clf.timings_ = {}
    with timed(clf.timings_, "discretize"):
        codes = clf.coder_.transform(X)
    with timed(clf.timings_, "parameters"):
        model: Any = clf._unfitted() if first else deepcopy(clf.model_)  # copies of the classifier may share it
        clf.model_ = model.partial_fit(codes, labels, clf.classes_, clf.coder_.n_outcomes_)
    clf.timings_ |= {"filter": 0.0, "structure": 0.0}
    _keep(clf, codes, np.searchsorted(clf.classes_, labels))
    clf._plan(clf._kept["codes"], clf.classes_[clf._kept["classes"]])
    clf._seen = None


def _check(clf: SequentialClassifier) -> None:
    if clf.observation_model is not None and type(clf.observation_model) is not NaiveBayes:
        raise ValueError(
            f"observation_model: {type(clf.observation_model).__name__} learns from all rows at once, and takes no "
            "further ones: use NaiveBayes, or fit or fit_chunks to all rows."
        )
    for name in ("selector", "calibrate", "prefit"):
        if getattr(clf, name):
            raise ValueError(f"{name}: partial_fit does not see all rows, which it needs; leave it out, or use fit.")


def _begin(clf: SequentialClassifier, X: Any, classes: npt.NDArray[Any], n_outcomes: Any) -> Any:
    """Take columns, classes and bins as they are; the rows as numbers."""
    clf.encoder_ = FrameEncoder().fit(X) if is_frame(X) else None
    if clf.encoder_ is not None and clf.encoder_.categories_:
        name = next(iter(clf.encoder_.categories_))
        raise ValueError(
            f"column {name!r} is categorical, and the first rows need not show all categories: encode it as numbers, "
            "or fit or fit_chunks to all rows."
        )
    X = check_features(clf, X if clf.encoder_ is None else clf.encoder_.encode(X))
    if len(classes) < 2:
        raise ValueError("classes must hold two labels at least.")
    clf.classes_, clf.target_name_ = classes, None
    clf.selector_, clf.support_ = None, np.arange(clf.n_features_in_)
    clf._settle()
    coder = OutcomeCoder(clf.discretizer)
    clf.coder_ = coder.as_fitted(X)
    if isinstance(clf.discretizer, str):
        if n_outcomes is None:
            raise ValueError('the first call of partial_fit needs n_outcomes with discretizer="precomputed".')
        coder.n_outcomes_ = check_n_outcomes(n_outcomes, clf.n_features_in_).copy()
    return X


def _keep(clf: SequentialClassifier, codes: Any, classes: IntArray) -> None:
    """Keep some rows for what looks at rows: of every class the same share of all there were, by lot."""
    seed = clf.random_state if isinstance(clf.random_state, (int, np.integer)) else 0
    before: dict[str, Any] = getattr(clf, "_kept", None) or {"calls": 0}
    lot = keys(int(seed), before["calls"], codes.shape[0])
    if before["calls"]:
        join = sp.vstack if sp.issparse(codes) else np.concatenate
        codes = join([before["codes"], codes])
        classes, lot = np.concatenate([before["classes"], classes]), np.concatenate([before["lot"], lot])
    if sp.issparse(codes):
        codes = sp.csr_array(codes)
    size = clf.model_.class_count_.astype(np.int64)
    most = shares({c: int(n) for c, n in enumerate(size.tolist())}, _KEPT)
    own = [np.flatnonzero(classes == c) for c in most]
    rows = np.sort(np.concatenate([at[np.argsort(lot[at], kind="stable")[: most[c]]] for c, at in enumerate(own)]))
    clf._kept = {"codes": codes[rows], "classes": classes[rows], "lot": lot[rows], "calls": before["calls"] + 1}
