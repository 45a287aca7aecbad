"""Cross-fitting: what a classifier does on rows that were left out of its fit, and beside it two yardsticks."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
from sklearn.base import clone

from seqclass._utils.arrays import FloatArray, IntArray, as_generator, smallest_int
from seqclass._utils.frames import is_frame, plain
from seqclass._utils.progress import telling
from seqclass._utils.text import sentence
from seqclass._utils.validation import check_integer, plain_labels
from seqclass.bn import NaiveBayes
from seqclass.deciding._coding import check_input
from seqclass.deciding._record import AcquisitionRecord
from seqclass.fitting._steps import rows_of
from seqclass.fitting._yardsticks import deciding_at_once, linear, scored
from seqclass.fitting.held_out import HeldOut
from seqclass.pomdp.solvers.ordering.observed import ON_ROWS

if TYPE_CHECKING:
    from seqclass.classifier import SequentialClassifier


def check_folds(held_out: Any) -> int:
    """Number of folds that the user asks for; 0 for none."""
    if held_out is None or isinstance(held_out, bool) or held_out == 0:
        if held_out is None or held_out is True:
            raise TypeError(f"held_out must be a number of folds, at least 2, or 0 for none; got {held_out!r}.")
        return 0
    return check_integer(held_out, "held_out", 2)


def assign_folds(y: npt.NDArray[Any], n_folds: int, random_state: Any) -> IntArray:
    """Fold of each row, every class spread evenly; -1 for the only row of a class, which all training parts need."""
    from sklearn.model_selection import StratifiedKFold

    _, label, size = np.unique(y, return_inverse=True, return_counts=True)
    rows = np.flatnonzero(size[label] > 1)
    if not rows.size:
        raise ValueError("held_out needs a class of two rows or more, and each has one; give held_out=0.")
    n_folds = min(n_folds, int(size.max()))
    seed = random_state if isinstance(random_state, (int, np.integer)) else None
    seed = int(as_generator(random_state).integers(2**31)) if seed is None else int(seed)
    fold = np.full(len(y), -1, dtype=smallest_int(n_folds))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # about small classes, which are as they should be
        splits = StratifiedKFold(n_folds, shuffle=True, random_state=seed).split(rows, label[rows])
        for number, (_, test) in enumerate(splits):
            fold[rows[test]] = number
    return fold


def some_rows(y: npt.NDArray[Any], most: int, random_state: Any) -> IntArray:
    """Rows drawn at random, of every class the same share and one at least; all where they are at most ``most``."""
    n = len(y)
    if n <= most:
        return np.arange(n)
    order = as_generator(random_state, "some rows").permutation(n)
    _, label, size = np.unique(y[order], return_inverse=True, return_counts=True)
    by_class = np.argsort(label, kind="stable")
    rank = np.empty(n, dtype=np.intp)
    rank[by_class] = np.arange(n) - np.repeat(np.cumsum(size) - size, size)
    return np.sort(order[rank < np.ceil(size * most / n)[label]])


def cross_fit(
    clf: SequentialClassifier,
    X: Any,
    y: Any,
    fold: IntArray,
    name: str = "",
    weight: FloatArray | None = None,
    parts: Sequence[SequentialClassifier] = (),
) -> HeldOut:
    """Acquire and decide every row by a clone, or the part given, fitted without its fold; nothing is summed up yet."""
    X, y = plain(X), plain_labels(y)
    n = int((fold >= 0).sum())
    place = np.cumsum(fold >= 0) - 1
    prices, decided, counts = np.empty(n), np.empty(n, dtype=np.intp), np.empty(n, dtype=np.intp)
    for number in range(int(fold.max()) + 1):
        test = np.flatnonzero(fold == number)
        part = parts[number] if parts else fitted_without(clf, X, y, fold, number, weight=weight)
        record = _acquired(part, rows_of(X, test))
        at = place[test]
        prices[at], decided[at], counts[at] = record.cost, record.decision, record.n_features
    label = np.searchsorted(part.classes_, y)  # every training part has every class
    return scored(name or "Classifier", part.decision_costs_, label, fold, decided, prices, counts)


def yardsticks(clf: SequentialClassifier, X: Any, y: npt.ArrayLike, fold: IntArray) -> tuple[HeldOut, HeldOut]:
    """Deciding at once and the linear model on the folds; the classifier gives prices, costs and settings."""
    y = plain_labels(y)
    numbers = check_input(clf, X, clf.encoder_)
    label = np.searchsorted(clf.classes_, y)
    with telling("linear model beside it"):
        return deciding_at_once(clf.decision_costs_, label, fold), linear(clf, numbers, label, fold)


def completed(
    held: HeldOut, clf: SequentialClassifier, beside: tuple[HeldOut, HeldOut], worth_trying: tuple[str, ...]
) -> HeldOut:
    """The same with what the classifier, fitted to all rows, expects, and the yardsticks."""
    at_once, line = beside
    return replace(
        held,
        expected_cost=clf.expected_cost_,
        remedies=worth_trying,
        deciding_at_once=at_once,
        linear=line,
    )


def hold_out(
    clf: SequentialClassifier, X: Any, y: npt.ArrayLike, weight: FloatArray | None, *, n_folds: int
) -> HeldOut:
    """Everything about a fitted classifier: folds, cross-fit, yardsticks; warns where it buys in vain."""
    fold = assign_folds(plain_labels(y), n_folds, clf.random_state)
    held = completed(cross_fit(clf, X, y, fold, weight=weight), clf, yardsticks(clf, X, y, fold), remedies(clf))
    if (told := held._against_deciding()) and clf.target_cost is None:
        warnings.warn(told, UserWarning, stacklevel=3)
    return held


def remedies(clf: SequentialClassifier) -> tuple[str, ...]:
    """What is worth trying where this classifier is too sure of itself."""
    found = [] if clf.calibrate or clf.prefit else ["calibrate=True"]
    if clf.problem_.free and (clf.ordering_ is None or clf.ordering_.chosen != ON_ROWS):
        found.append('a fixed order, order="conditional"')
    if isinstance(clf.model_, NaiveBayes):
        found.append("seqclass.ifc2f, which models how features depend on one another")
    return (*found, "more rows")


def fitted_without(
    clf: SequentialClassifier,
    X: Any,
    y: npt.NDArray[Any],
    fold: IntArray,
    number: int,
    what: str = "held_out",
    weight: FloatArray | None = None,
    **settings: Any,
) -> SequentialClassifier:
    """A clone, with some settings changed, that was fitted without a fold; not certified."""
    rows, n_folds = np.flatnonzero(fold != number), int(fold.max()) + 1
    before = ", though that to all rows did not" if hasattr(clf, "model_") else ""
    remedy = "give fewer folds, or held_out=0" if what == "held_out" else f"leave {what} out"
    part: SequentialClassifier = clone(clf).set_params(**settings)
    part._certify = False
    try:
        with telling(f"fold {number + 1} of {n_folds}"), warnings.catch_warnings():
            warnings.simplefilter("ignore")  # what the fit to all rows has warned of
            return part.fit(rows_of(X, rows), y[rows], None if weight is None else weight[rows])
    except ValueError as error:
        raise ValueError(
            f"{what}: the fit without fold {number + 1} of {n_folds} failed{before}; {remedy} ({sentence(error)})"
        ) from error


def _acquired(part: SequentialClassifier, X: Any) -> AcquisitionRecord:
    """What a fold's classifier does; what its training part did not show is missing."""
    X = known_to(part, X)
    decisions = np.arange(len(part.decisions_))
    return AcquisitionRecord.from_acquisition(part._run(X), decisions, part.support_)


def known_to(part: SequentialClassifier, X: Any) -> Any:
    """Rows without what the training part of a fold did not show, which is missing."""
    part.handle_unknown = "missing"
    return _known(X, part.coder_.n_outcomes_) if isinstance(part.discretizer, str) else X


def _known(X: Any, n_outcomes: IntArray) -> Any:
    """Outcomes without those that a training part did not show."""
    if is_frame(X):
        return X  # numbers of categories are those of the encoder
    X = X.copy()
    if sp.issparse(X):
        X.data[X.data >= n_outcomes[X.indices]] = -1
    else:
        X[n_outcomes <= X] = -1
    return X
