"""Scores of feature subsets by cross-validation: cached, counted, in parallel, within a budget."""

from __future__ import annotations

import hashlib
import math
import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import KW_ONLY, astuple, dataclass, fields
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
from joblib import Parallel, delayed, effective_n_jobs
from sklearn.base import clone
from sklearn.exceptions import FitFailedWarning

from seqclass._utils.arrays import TIE, BoolArray, FloatArray, IntArray
from seqclass._utils.model_files import register
from seqclass._utils.tables import Readable


def is_better(score: float, than: float) -> bool:
    """Whether a score is higher by more than rounding; minus infinity stands for a subset that cannot be scored."""
    if not math.isfinite(than):
        return math.isfinite(score)
    return score > than + TIE * max(1.0, abs(than))


def first_best(scores: FloatArray) -> int:
    """Position of the highest score, the first of those that differ by rounding only."""
    top = float(scores.max())
    if not math.isfinite(top):
        return 0
    return int(np.argmax(scores >= top - TIE * max(1.0, abs(top))))


def group_size(pool: int, alpha: float, beta: float, n_no_improvement: float, share_improving: float = 0.0) -> int:
    """Number of features to try out of a pool, eqs. (1) and (3)."""
    # numerator and denominator are divided by I, which is infinite where every candidate was better
    divisor = beta + math.exp(min(alpha * n_no_improvement, 700.0)) * (1.0 - share_improving)
    wanted = pool / divisor if divisor > 0 else math.inf
    return pool if wanted >= pool else max(1, math.floor(wanted + 0.5))


def removal_size(n_selected: int, n_relevant: int) -> int:
    """Number of features to remove at a time when ``n_relevant`` of those selected matter."""
    return min(n_selected, max(1, (n_selected + 1) // (n_relevant + 1)))


def acceptance_probability(score: float, than: float, c: float) -> float:
    """Probability of going on from a candidate: 1 if it is no worse, else exp(c (score - than)), eq. (7)."""
    if not is_better(than, score):
        return 1.0
    if math.isinf(c) or not math.isfinite(score):
        return 0.0
    return math.exp(c * (score - than))


@register
@dataclass
class SearchProgress:
    """Estimate of how far the search has come: N_ni of eq. (2) and PCT_imp of eq. (5), before iteration ``k``."""

    k: int = 0
    n_ni: int = 0  # iterations without improvement, up to now
    smoothed_n: float = 0.0  # N_ni
    smoothed_share: float = 0.0  # PCT_imp

    def update(self, improved: bool, share_improving: float, w: float, w_prime: float) -> None:
        """Count the iteration that has just ended, in which this share of the candidates was better."""
        self.k += 1
        self.n_ni = 0 if improved else self.n_ni + 1
        self.smoothed_n = w * self.n_ni + (1 - w) * self.smoothed_n
        before = share_improving if self.k == 1 else self.smoothed_share
        self.smoothed_share = w_prime * share_improving + (1 - w_prime) * before


@register
class CoolDown:
    """Cool-down factors: features that did badly when they were tried are drawn less often for a while, eq. (6)."""

    def __init__(self, selected: BoolArray, cooling: float, scale: float) -> None:
        self.cooling = cooling
        self.scale = scale
        n_selected = int(selected.sum())
        self.factors: FloatArray = np.where(selected, math.sqrt(n_selected), math.sqrt(len(selected) - n_selected))
        np.maximum(self.factors, 1.0, out=self.factors)

    def probabilities(self, pool: IntArray) -> FloatArray:
        """Probability of each feature of a pool to be drawn, eq. (6)."""
        inverse = 1.0 / self.factors[pool]
        return np.asarray(inverse / inverse.sum())

    def warm_up(self) -> None:
        """One iteration on."""
        np.maximum(self.factors - 1.0, 1.0, out=self.factors)

    def note_change(self, features: IntArray, change: float, pool: int) -> None:
        """Note how the score changed with these features of a pool of that size."""
        if change > 0:
            self.factors[features] = 1.0
            return
        drop = min(self.cooling, -change / self.scale) if self.scale > 0 else self.cooling * (change < 0)
        self.factors[features] = max(1.0, math.sqrt(pool) * (1.0 + drop))

    def note_join(self, features: IntArray, pool: int) -> None:
        """Note that these features have just joined a pool of that size."""
        self.factors[features] = max(1.0, math.sqrt(pool) * (1.0 + self.cooling))


#: Number types of the columns of both tables, by the annotations of `SemiRFSStep`.
_FORMATS: dict[Any, Any] = {"int": np.int64, "str": "U6", "float": np.float64, "bool": np.bool_}
#: Columns of `evaluations_`.
EVALUATIONS = np.dtype(
    [(name, np.int64) for name in ("iteration", "n_features")]
    + [(name, np.float64) for name in ("score", "score_std", "best_score", "time")]
)


@register
@dataclass(frozen=True, repr=False)
class SemiRFSStep(Readable):
    """One iteration of a search: a row of ``SemiRFS.history_``, and what its callback is given.

    Attributes
    ----------
    iteration : int
        Its number; 0 is the evaluation of the initial subset.
    move : str
        ``"start"``, ``"swap"`` (add one, remove one), ``"add"`` or ``"remove"``.
    group_size, removal_group_size : int
        Candidates tried for addition (g) and for removal (g').
    n_features : int
        Size of the current subset, after the iteration.
    candidate_score : float
        Score of the best candidate, A'; minus infinity if it could not be scored.
    score, best_score : float
        Score of the current subset, A, and the best of any subset so far.
    accepted, improved : bool
        Whether the candidate was taken, and whether it was better than the subset before.
    stage, share_improving : float
        N_ni of eq. (2) and PCT_imp of eq. (5), with which the group sizes were computed.
    n_evaluations : int
        Subsets scored so far.
    time : float
        Seconds since the start.

    Examples
    --------
    >>> SemiRFSStep(0, "start", 0, 0, 20, 0.6, 0.6, 0.6, True, True, 0.0, 0.0, 1, 0.02).n_features
    20
    """

    _units = {"time": "seconds"}

    iteration: int
    move: str
    group_size: int
    removal_group_size: int
    n_features: int
    candidate_score: float
    score: float
    best_score: float
    accepted: bool
    improved: bool
    stage: float
    share_improving: float
    n_evaluations: int
    time: float


#: Columns of `history_`.
STEPS = np.dtype([(column.name, _FORMATS[column.type]) for column in fields(SemiRFSStep)])


def as_history(steps: Sequence[SemiRFSStep]) -> npt.NDArray[Any]:
    """Structured array of the steps, one row each."""
    return np.array([astuple(step) for step in steps], dtype=STEPS)


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
    """Score of a clone of the estimator on each split, and what went wrong with it."""
    scores: list[FoldScore] = []
    for train, test in splits:
        try:
            fitted = clone(estimator).fit(X[train], y[train])
            score = float(scorer(fitted, X[test], y[test]))
        except Exception as error:
            if isinstance(error_score, str):
                raise
            scores.append((float(error_score), f"{type(error).__name__}: {error}"))
            continue
        trouble = "" if math.isfinite(score) else f"the score is {score}"
        if trouble and isinstance(error_score, str):
            raise ValueError(f"scoring gave {score} on a subset of {X.shape[1]} features: it must be finite.")
        scores.append((float(error_score) if trouble else score, trouble))
    return scores


def subset_key(subset: IntArray) -> bytes:
    """What a subset, an increasing vector of columns, is remembered by."""
    return hashlib.blake2b(subset.astype("<i8").tobytes(), digest_size=16).digest()


@dataclass(repr=False, eq=False)
class Evaluator:
    """Scores subsets of columns, each once, and keeps the best."""

    estimator: Any
    scorer: Any
    X: Any
    y: npt.NDArray[Any]
    splits: list[Split]
    _: KW_ONLY
    n_jobs: int | None
    error_score: Any
    feature_params: Sequence[str]
    max_evaluations: float
    max_time: float
    max_features: int

    def __post_init__(self) -> None:
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
    def elapsed_seconds(self) -> float:
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
        """Score of each subset, minus infinity where it cannot be scored."""
        keys = [subset_key(subset) for subset in subsets]
        new = {key: subset for key, subset in zip(keys, subsets) if key not in self.position}
        room = max(0, int(min(self.max_evaluations - self.n_evaluations, len(new))))
        todo = list(new.items())[:room]
        step = self._workers * (1 if self._workers == 1 or math.isfinite(self.max_time) else 4)
        for start in range(0, len(todo), step):
            if self.elapsed_seconds >= self.max_time and self.lines:
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
        self.lines.append((self.iteration, len(subset), mean, std, self.best_score, self.elapsed_seconds))
        # of 50 subsets none could be scored: the learner is at fault, and the search ends
        if self.best is None and self.n_evaluations >= 50:
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
