"""Scores of feature subsets by cross-validation: cached, counted, in parallel, within a budget."""

from __future__ import annotations

import hashlib
import math
import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
from joblib import Parallel, delayed, effective_n_jobs
from sklearn.base import clone
from sklearn.exceptions import FitFailedWarning

from seqclass._arrays import FloatArray, IntArray
from seqclass.selection._semi_history import EVALUATIONS
from seqclass.selection._semi_stage import is_better

#: So many subsets that cannot be scored, and no other: the learner is at fault, and the search ends.
MAX_FAILURES = 50

Split = tuple[IntArray, IntArray]
FoldScore = tuple[float, str]


class OutOfBudget(Exception):
    """No evaluation may be made any more; ``reason`` is ``"max_evaluations"`` or ``"max_time"``."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


def score_folds(
    estimator: Any, scorer: Any, X: Any, y: Any, splits: Sequence[Split], error_score: Any
) -> list[FoldScore]:
    """Score of a clone of the estimator on each split, and what went wrong with it.

    Examples
    --------
    >>> from sklearn.dummy import DummyClassifier
    >>> from sklearn.metrics import get_scorer
    >>> X, y = np.zeros((4, 1)), np.array([0, 0, 0, 1])
    >>> score_folds(DummyClassifier(), get_scorer("accuracy"), X, y, [(np.arange(2), np.arange(2, 4))], "raise")
    [(0.5, '')]
    """
    found: list[FoldScore] = []
    for train, test in splits:
        try:
            fitted = clone(estimator).fit(X[train], y[train])
            score = float(scorer(fitted, X[test], y[test]))
        except Exception as error:
            if isinstance(error_score, str):
                raise
            found.append((float(error_score), f"{type(error).__name__}: {error}"))
            continue
        trouble = "" if math.isfinite(score) else f"the score is {score}"
        if trouble and isinstance(error_score, str):
            raise ValueError(f"scoring gave {score} on a subset of {X.shape[1]} features: it must be finite.")
        found.append((float(error_score) if trouble else score, trouble))
    return found


def subset_key(subset: IntArray) -> bytes:
    """What a subset, an increasing vector of columns, is remembered by.

    Examples
    --------
    >>> len(subset_key(np.array([1, 5])))
    16
    """
    return hashlib.blake2b(subset.astype("<i8").tobytes(), digest_size=16).digest()


class Evaluator:
    """Scores subsets of columns, each once, and keeps the best.

    Parameters
    ----------
    estimator, scorer : object
        Learner and scikit-learn scorer.
    X : ndarray or CSC of shape (n, n_features)
        The data, of which each worker is sent only the columns of a subset.
    y : ndarray of shape (n,)
        The target.
    splits : list of (train, test)
        The folds, the same for all subsets.
    n_jobs : int or None
        As in joblib; None follows `joblib.parallel_config`.
    error_score : "raise" or float
        What a fold that fails counts; a mean that is not finite is the worst of all.
    feature_params : sequence of str
        Parameters of the learner with one value a feature, cut to the subset.
    max_evaluations, max_time, max_features : int, float, int
        Limits: subsets scored, seconds, and size of what may be the best.
    """

    def __init__(
        self,
        estimator: Any,
        scorer: Any,
        X: Any,
        y: npt.NDArray[Any],
        splits: list[Split],
        *,
        n_jobs: int | None,
        error_score: Any,
        feature_params: Sequence[str],
        max_evaluations: float,
        max_time: float,
        max_features: int,
    ) -> None:
        self.estimator, self.scorer, self.X, self.y, self.splits = estimator, scorer, X, y, splits
        self.n_jobs, self.error_score, self.feature_params = n_jobs, error_score, feature_params
        self.max_evaluations, self.max_time, self.max_features = max_evaluations, max_time, max_features
        self.position: dict[bytes, int] = {}  # of a subset among the lines
        self.lines: list[tuple[int, int, float, float, float, float]] = []
        self.best: IntArray | None = None
        self.best_score, self.iteration, self.last_error = -math.inf, 0, ""
        self._ahead: dict[bytes, list[FoldScore]] = {}
        self._started, self._parallel, self._workers = time.perf_counter(), None, 1

    @property
    def n_evaluations(self) -> int:
        """Number of subsets scored."""
        return len(self.lines)

    @property
    def elapsed(self) -> float:
        """Seconds of work, those before a resumption included."""
        return time.perf_counter() - self._started

    @contextmanager
    def workers(self, elapsed: float = 0.0) -> Iterator[None]:
        """Keep the workers of one run, and its clock, which starts at ``elapsed`` seconds."""
        self._started = time.perf_counter() - elapsed
        self._workers = effective_n_jobs(self.n_jobs)
        if self._workers == 1:
            yield
            return
        with Parallel(n_jobs=self.n_jobs) as self._parallel:
            yield
        self._parallel = None

    def scores(
        self, subsets: Sequence[IntArray], speculate: Callable[[int], list[IntArray]] | None = None
    ) -> FloatArray:
        """Score of each subset, minus infinity where it cannot be scored.

        Parameters
        ----------
        subsets : sequence of ndarray of int
            Increasing columns.
        speculate : callable, optional
            Gives subsets that may be asked for next, to keep idle workers busy; they count only if they are.

        Returns
        -------
        ndarray of shape (n_subsets,)

        Raises
        ------
        OutOfBudget
            If not all could be scored; those that could are remembered.
        """
        keys = [subset_key(subset) for subset in subsets]
        new = {key: subset for key, subset in zip(keys, subsets) if key not in self.position}
        room = max(0, int(min(self.max_evaluations - self.n_evaluations, len(new))))
        todo = list(new.items())[:room]
        step = self._workers * (1 if self._workers == 1 or math.isfinite(self.max_time) else 4)
        for start in range(0, len(todo), step):
            if self.elapsed >= self.max_time and self.lines:
                raise OutOfBudget("max_time")
            self._run(todo[start : start + step], speculate)
        if room < len(new):
            raise OutOfBudget("max_evaluations")
        return np.array([self.lines[self.position[key]][2] for key in keys])

    def std(self, subset: IntArray) -> float:
        """Standard deviation over folds of a subset that was scored."""
        return self.lines[self.position[subset_key(subset)]][3]

    def table(self) -> npt.NDArray[Any]:
        """One row an evaluation, in order."""
        return np.array(self.lines, dtype=EVALUATIONS)

    def _run(self, todo: list[tuple[bytes, IntArray]], speculate: Any) -> None:
        missing = {key: subset for key, subset in todo if key not in self._ahead}
        spare = self._workers // len(self.splits) - len(missing)
        if missing and spare > 0 and speculate is not None:
            guesses = {subset_key(subset): subset for subset in speculate(spare)}
            known = self.position.keys() | self._ahead.keys()
            missing |= {key: subset for key, subset in guesses.items() if key not in known}
        self._ahead |= self._compute(missing)
        for key, subset in todo:
            self._count(key, subset, self._ahead.pop(key))

    def _compute(self, missing: dict[bytes, IntArray]) -> dict[bytes, list[FoldScore]]:
        """Fold scores; a task is a subset, or one of its folds where subsets are fewer than workers."""
        whole = len(missing) >= self._workers
        parts = [self.splits] if whole else [[split] for split in self.splits]
        tasks = (self._task(subset, part) for subset in missing.values() for part in parts)
        if self._parallel is None:
            results = [score_folds(*task) for task in tasks]
        else:
            results = self._parallel(delayed(score_folds)(*task) for task in tasks)
        n = len(parts)
        return {
            key: [fold for result in results[i * n : (i + 1) * n] for fold in result] for i, key in enumerate(missing)
        }

    def _task(self, subset: IntArray, splits: list[Split]) -> tuple[Any, ...]:
        X = self.X[:, subset]
        estimator = self.estimator
        if self.feature_params:
            values = estimator.get_params(deep=True)
            cut = {name: np.asarray(values[name])[subset] for name in self.feature_params}
            estimator = clone(estimator).set_params(**cut)
        return estimator, self.scorer, X.tocsr() if sp.issparse(X) else X, self.y, splits, self.error_score

    def _count(self, key: bytes, subset: IntArray, folds: list[FoldScore]) -> None:
        values = np.array([score for score, _ in folds])
        troubles = [trouble for _, trouble in folds if trouble]
        if troubles:
            self.last_error = troubles[0]
            warnings.warn(
                f"{len(troubles)} of {len(folds)} folds failed on a subset of {len(subset)} features and count "
                f"{self.error_score}; the first: {troubles[0]}",
                FitFailedWarning,
                stacklevel=2,
            )
        mean, std = float(values.mean()), float(values.std())
        mean, std = (mean, std) if math.isfinite(mean) else (-math.inf, 0.0)
        self._keep_best(subset, mean)
        self.position[key] = len(self.lines)
        self.lines.append((self.iteration, len(subset), mean, std, self.best_score, self.elapsed))
        if self.best is None and self.n_evaluations >= MAX_FAILURES:
            raise ValueError(self.failure())

    def failure(self) -> str:
        """Message where no subset could be scored."""
        why = self.last_error or "none was small enough for max_features"
        return f"estimator could not be scored on any of {self.n_evaluations} subsets of features; the last: {why}"

    def _keep_best(self, subset: IntArray, score: float) -> None:
        if math.isinf(score) or len(subset) > self.max_features:
            return
        as_good = self.best is not None and not is_better(self.best_score, score)
        if is_better(score, self.best_score) or (as_good and self.best is not None and len(subset) < len(self.best)):
            self.best, self.best_score = subset, max(score, self.best_score)
