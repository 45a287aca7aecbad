"""Folds of rows, and what a fit without one of them knows of it."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from seqclass._utils.arrays import IntArray, as_generator, smallest_int
from seqclass._utils.frames import is_frame
from seqclass._utils.validation import check_integer
from seqclass.agent.agent import Agent

#: Half-lives of rows to look at where nothing weighs them: those before have an eighth of the weight.
RECENT = 3.0


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
        raise ValueError(
            "y has one row of each class, and to hold rows out (for held_out, calibrate, the choice of adaptive) takes "
            "a class of two rows or more: give more rows, or do without these."
        )
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


def recent_rows(y: npt.NDArray[Any], half_life: float | None, least: int) -> IntArray:
    """Rows of the last three half-lives, and so many last ones of each class; all where there is no half-life."""
    if half_life is None:
        return np.arange(len(y))
    _, label, size = np.unique(y[::-1], return_inverse=True, return_counts=True)
    by_class, age = np.argsort(label, kind="stable"), np.empty(len(y), dtype=np.intp)
    age[by_class] = np.arange(len(y)) - np.repeat(np.cumsum(size) - size, size)
    return np.flatnonzero((np.arange(len(y))[::-1] < RECENT * half_life) | (age[::-1] < least))


def recent_folds(y: npt.NDArray[Any], half_life: float | None, n_folds: int, random_state: Any) -> IntArray:
    """Fold of each recent row; -1 for those before, which are learnt from, as they have faded, and judge nothing."""
    recent = recent_rows(y, half_life, n_folds)
    own = assign_folds(y[recent], n_folds, random_state)
    fold = np.full(len(y), -1, dtype=own.dtype)
    fold[recent] = own
    return fold


def sample_rows(y: npt.NDArray[Any], most: int, random_state: Any) -> IntArray:
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


def mask_unseen(agent: Agent, X: Any) -> Any:
    """Rows without the outcomes that the training part of a fold did not show, which are missing."""
    if not isinstance(agent.coder.discretizer, str) or is_frame(X):
        return X  # numbers of categories are those of the encoder
    X, n_outcomes = X.copy(), agent.coder.n_value_outcomes
    if sp.issparse(X):
        X.data[X.data >= n_outcomes[X.indices]] = -1
    else:
        X[n_outcomes <= X] = -1
    return X
