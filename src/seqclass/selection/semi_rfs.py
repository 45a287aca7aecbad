"""Semi-RFS: randomised feature selection around any learner, with warm start and cool down."""

from __future__ import annotations

import hashlib
import math
import os
import re
import time
import warnings
from collections.abc import Callable, Sequence
from dataclasses import KW_ONLY, asdict, astuple, dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
from sklearn.base import clone, is_classifier
from sklearn.impute import SimpleImputer
from sklearn.metrics import check_scoring
from sklearn.model_selection import check_cv
from sklearn.utils import get_tags
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted

from seqclass._utils.arrays import BoolArray, IntArray, as_generator
from seqclass._utils.model_files import load, save
from seqclass._utils.validation import check_jobs, plain_labels
from seqclass.selection._base import Selector
from seqclass.selection._semi_evaluate import Evaluator, SemiRFSStep, Split, as_history
from seqclass.selection._semi_search import SearchSettings, SearchState, check_settings, run_search, start_search

__all__ = ["SemiRFS", "SemiRFSStep"]


KIND = "SemiRFS search"


def fingerprint(X: Any, y: npt.NDArray[Any]) -> str:
    """Digest of the data, so that a search goes on with those it began with."""
    digest = hashlib.blake2b(repr((X.shape, X.dtype.str, y.shape)).encode(), digest_size=16)
    parts = [X.data, X.indices.astype(np.int64), X.indptr.astype(np.int64)] if sp.issparse(X) else [X]
    for part in parts:
        digest.update(np.ascontiguousarray(part).data)
    digest.update("\0".join(map(str, y.tolist())).encode())
    return digest.hexdigest()


def describe_setting(thing: Any) -> str:
    """Text of a setting that is the same in another process, and another where the setting is."""
    name = getattr(thing, "__qualname__", None)
    if isinstance(name, str):
        return name
    # the repr of a long array, or of an estimator of many settings, leaves some out
    if hasattr(thing, "get_params"):
        parts = [f"{key}={describe_setting(value)}" for key, value in sorted(thing.get_params(deep=False).items())]
        return f"{type(thing).__qualname__}({', '.join(parts)})"
    if isinstance(thing, dict):
        return f"{{{', '.join(f'{describe_setting(key)}: {describe_setting(value)}' for key, value in thing.items())}}}"
    if isinstance(thing, (list, tuple)):
        return f"[{', '.join(map(describe_setting, thing))}]"
    if np.ndim(thing) and hasattr(thing, "__array__"):
        array = np.asarray(thing)
        content = "\0".join(map(str, array.ravel().tolist())).encode()
        return f"array {array.shape} {hashlib.blake2b(content, digest_size=16).hexdigest()}"
    return re.sub(r" at 0x[0-9a-fA-F]+", "", repr(thing))


def state_dict(state: SearchState, evaluator: Evaluator, data: str, settings: dict[str, Any]) -> dict[str, Any]:
    """All of a search, as plain data and arrays."""
    return {
        "kind": KIND,
        "data": data,
        "settings": settings,
        "splits": list(evaluator.splits),
        "state": replace(state, steps=[]),
        # by columns, which take less room than a record an iteration
        "history": [list(column) for column in zip(*map(astuple, state.steps))],
        "evaluations": [list(column) for column in zip(*evaluator.lines)],
        "keys": np.frombuffer(b"".join(evaluator.position), dtype=np.uint8).reshape(-1, 16),
        "best": evaluator.best,
        "best_score": float(evaluator.best_score),
        "elapsed": evaluator.elapsed_seconds,
    }


def read_state(path: str | os.PathLike[str], data: str, n_features: int, settings: dict[str, Any]) -> dict[str, Any]:
    """Read a state, and see that it belongs to these data and settings."""
    parts = load(path)
    if not isinstance(parts, dict) or parts.get("kind") != KIND:
        raise ValueError(f"{os.fspath(path)} holds no state of a SemiRFS search.")
    if len(parts["state"].selected) != n_features or parts["data"] != data:
        raise ValueError(f"{os.fspath(path)} belongs to other data: resume with the X and y of the first fit.")
    other = [name for name, value in settings.items() if parts["settings"].get(name) != value]
    if other:
        raise ValueError(
            f"{os.fspath(path)} is of a search with another {', '.join(other)}: only limits, n_jobs, callback and "
            "checkpoint may change when a search is resumed."
        )
    return parts


def restore(parts: dict[str, Any], evaluator: Evaluator) -> SearchState:
    """The state that was saved; what was scored goes back into the evaluator."""
    evaluator.lines = list(zip(*parts["evaluations"]))
    evaluator.position = {key.tobytes(): i for i, key in enumerate(parts["keys"])}
    evaluator.best, evaluator.best_score = parts["best"], parts["best_score"]
    state: SearchState = parts["state"]
    state.steps = [SemiRFSStep(*row) for row in zip(*parts["history"])]
    return state


def child_seed(seed: int, purpose: int) -> int:
    """Seed of something other than the iterations."""
    return int(np.random.default_rng([seed, 0, purpose]).integers(2**31 - 1))


def with_seeds(estimator: Any, seed: int) -> Any:
    """Clone of an estimator in which every open ``random_state`` has been given a seed."""
    made = clone(estimator)
    values = made.get_params(deep=True)
    open_ones = [name for name, value in values.items() if name.split("__")[-1] == "random_state" and value is None]
    return made.set_params(**dict.fromkeys(sorted(open_ones), seed)) if open_ones else made


def important(X: Any, y: npt.NDArray[Any], size: int, classify: bool, seed: int) -> IntArray:
    """The features that low-depth extremely randomised trees use most, as in the paper's experiments."""
    if not sp.issparse(X) and X.dtype.kind == "f" and np.isnan(X).any():  # trees of older scikit-learns refuse these
        X = SimpleImputer(keep_empty_features=True).fit_transform(X)
    from sklearn.ensemble import ExtraTreesClassifier, ExtraTreesRegressor

    trees = ExtraTreesClassifier if classify else ExtraTreesRegressor
    model = trees(n_estimators=100, max_depth=3, random_state=seed).fit(X, y)
    return np.asarray(np.argsort(-model.feature_importances_, kind="stable")[:size])


def _fit_support(selector: Any, X: Any, y: npt.NDArray[Any], seed: int) -> IntArray:
    if not hasattr(selector, "get_support"):
        raise TypeError(f"warm_start: {type(selector).__name__} has no get_support, so it is no feature selector.")
    support = np.asarray(with_seeds(selector, seed).fit(X, y).get_support(indices=True))
    if not len(support):
        raise ValueError(f"warm_start: {type(selector).__name__} kept no feature; loosen its threshold.")
    return support


def check_features(features: npt.ArrayLike, n: int) -> IntArray:
    """Columns of a mask or a list of columns."""
    index = np.asarray(features)
    if index.dtype == bool and index.shape == (n,):
        index = np.flatnonzero(index)
    if index.ndim != 1 or not index.size or index.dtype.kind not in "iu":
        raise ValueError(f"warm_start must be a bool, 'all', a selector, columns or a mask of {n}, got {features!r}.")
    if index.min() < 0 or index.max() >= n:
        raise ValueError(f"warm_start names column {index.min() if index.min() < 0 else index.max()}, of {n} columns.")
    return index


#: Seconds between two writings of a checkpoint.
CHECKPOINT_SECONDS = 5.0


def _or_infinite(limit: float | None) -> float:
    return math.inf if limit is None else limit


@dataclass(repr=False, eq=False)
class SemiRFS(Selector):
    """Semi-randomised feature selection: a search for the subset with which a learner does best.

    Each iteration draws a move with equal chances - add a feature, remove one, or both - and groups of features that
    could be added and removed. The learner is cross-validated with each of them, and the best candidate is taken if it
    is better, or else with probability ``exp(c (A' - A))``. Large groups search greedily, small ones at random: eq. (1)
    makes them shrink as improvements get rare. The result is the best subset that was scored, and the smallest of
    equally good ones.

    Earlier methods are settings of the same search: :meth:`rfs` (groups of one) and :meth:`rve` (elimination only);
    ``adaptive=False`` is the static form, ``warm_start`` Algorithms 2 and 3, ``cool_down`` Algorithm 4.

    Parameters
    ----------
    estimator : estimator
        The learner, a classifier or regressor; if its ``random_state`` is None it is given a seed.
    scoring : str, callable or None
        Score to be maximised, as in scikit-learn; None is the learner's ``score``.
    cv : int, splitter or iterable
        Folds, as in scikit-learn; drawn once, so that all subsets are scored on the same.
    adaptive : bool
        Whether group sizes follow eq. (1) instead of ``group_size``.
    alpha, beta : float
        Weight of the stage N_ni in eq. (1), and what keeps the first groups small: their share is 1 / (beta + 1).
    warm_start : bool, "all", array-like or selector
        Where to start. True: with the features that extra trees of low depth use most (Algorithm 2), which saves most
        of the search if there are many features. ``"all"``: with all features, so that the search mostly eliminates
        (Algorithm 3). An array: with these columns or this mask. A selector: it is fitted first. With any of these,
        adaptive group sizes follow eq. (3). False: with a random subset (Algorithm 1).
    cool_down : bool
        Whether to draw features less often that did badly when they were last tried, eq. (6).
    max_time : float or None
        Seconds after which the search ends. The answer then depends on the machine.
    n_jobs : int or None
        Number of workers, through joblib; None follows ``joblib.parallel_config``, which can name a ``"dask"`` or
        ``"ray"`` cluster. Candidates of a group, folds, and guesses of what comes next are scored side by side; the
        result does not depend on the number of workers.
    random_state : int, generator or None
        Seed of the search, and of the learner if it has none.
    group_size : int
        Number of features tried for addition, g, if not ``adaptive``.
    removal_group_size : int or None
        Number of features tried for removal, g'. None: by eq. (1) or (3) if ``adaptive``, else 1. The paper's
        experiments use 1.
    w, w_prime : float
        Weights of the newest value in the averages of eqs. (2) and (5), from 0 (excluded) to 1; the paper leaves them
        open.
    c : float or None
        How strictly worse candidates are refused: infinity refuses all. None: 10 / (standard deviation over folds of
        the initial subset's score), so that a loss of a tenth of it is accepted with probability 1/e.
    cooling : float
        How much less likely a bad feature is drawn than one that was never tried. The factor of a feature whose trial
        changed the score by -d is ``sqrt(pool) (1 + min(cooling, d / s))``, s the standard deviation as for ``c``; 1 if
        it rose.
    addition_penalty : float or None
        From 0 to 1: moves that add get weight ``1 - addition_penalty``. None: 0.5 if ``warm_start="all"``, else 0.
    removal_size : int or "optimal"
        Number of features that a removal takes away at once. ``"optimal"``: the number that maximises what an
        evaluation is expected to remove if ``n_relevant`` of the selected features matter.
    n_relevant : int or None
        For ``removal_size="optimal"``; None: the square root of the number of features.
    n_initial : int or None
        Size of the initial subset if it is drawn at random or made with trees. None: 20, but at most half of the
        features.
    min_features, max_features : int, int or None
        Bounds on the size of the subset.
    max_iter, max_evaluations : int or None
        Number of iterations, and of subsets scored, after which the search ends.
    patience : int or None
        Number of iterations without an improvement of the best score after which the search ends.
    error_score : "raise" or float
        Score of a fold on which the learner fails or the score is not finite; with NaN the subset counts as the worst.
        A number comes with a ``FitFailedWarning``.
    feature_params : sequence of str
        Parameters of the learner that hold one value per feature, such as ``"feature_costs"``; they are cut to each
        subset.
    callback : callable or None
        Called with a :class:`SemiRFSStep` after each iteration; the search ends if it returns True.
    checkpoint : path or None
        File to which the state is written every few seconds and at the end, for :meth:`resume`.

    Attributes
    ----------
    support_ : ndarray of bool of shape (n_features_in_,)
        The best subset.
    best_score_ : float
        Mean score of the best subset over the folds. As the best of many scores it is optimistic.
    n_features_ : int
        Size of the best subset.
    history_ : structured ndarray of shape (n_iter_ + 1,)
        One row per iteration, with the fields of :class:`SemiRFSStep`; ``pandas.DataFrame(history_)`` makes it a table.
    evaluations_ : structured ndarray of shape (n_evaluations_,)
        One row per subset scored: iteration, n_features, score, score_std, best_score, time in seconds.
    n_iter_, n_evaluations_ : int
        Iterations completed, and subsets scored.
    stop_reason_ : str
        ``"patience"``, ``"max_iter"``, ``"max_evaluations"``, ``"max_time"``, ``"callback"``, ``"interrupted"`` or
        ``"exhausted"`` (nothing new within reach).
    c_ : float
        The c of the acceptance rule.
    classes_ : ndarray of shape (n_classes,)
        Labels, if the learner is a classifier.

    See Also
    --------
    sklearn.feature_selection.SequentialFeatureSelector : Greedy, and scores every feature at each step.

    Notes
    -----
    Ctrl-C ends the search with a warning, and keeps the best so far. The paper leaves open, and we chose: w = w' = 0.5,
    c, the cool-down factors, the weights of the biased coin, and rounding group sizes to the nearest integer. N_ni
    counts iterations that did not improve on the current subset.

    References
    ----------
    .. [1] Z. Wang, X. Xiao and S. Rajasekaran, "Novel and efficient randomized algorithms for feature selection", Big
       Data Mining and Analytics 3(3), 2020.
    .. [2] S. Saha, S. Rajasekaran and R. Ramprasad, "Novel randomized feature selection algorithms", International
       Journal of Foundations of Computer Science 26(3), 2015.
    .. [3] D. J. Stracuzzi and P. E. Utgoff, "Randomized variable elimination", JMLR 5, 2004.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from sklearn.naive_bayes import GaussianNB
    >>> X, y = load_wine(return_X_y=True)
    >>> selector = SemiRFS(GaussianNB(), n_initial=2, max_evaluations=60, random_state=0).fit(X, y)
    >>> bool(selector.best_score_ > 0.95), selector.n_evaluations_
    (True, 60)
    >>> selector.transform(X).shape == (178, selector.n_features_)
    True
    """

    estimator: Any
    scoring: Any = None
    cv: Any = 5
    adaptive: bool = True
    alpha: float = 1.0
    beta: float = 1.0
    warm_start: Any = True
    cool_down: bool = False
    max_time: float | None = None
    n_jobs: int | None = None
    random_state: Any = None
    _: KW_ONLY
    group_size: int = 2
    removal_group_size: int | None = None
    w: float = 0.5
    w_prime: float = 0.5
    c: float | None = None
    cooling: float = 2.0
    addition_penalty: float | None = None
    removal_size: int | str = 1
    n_relevant: int | None = None
    n_initial: int | None = None
    min_features: int = 1
    max_features: int | None = None
    max_iter: int | None = None
    max_evaluations: int | None = None
    patience: int | None = 50
    error_score: Any = np.nan
    feature_params: Sequence[str] = ()
    callback: Callable[[SemiRFSStep], bool | None] | None = None
    checkpoint: str | os.PathLike[str] | None = None

    @classmethod
    def rfs(cls, estimator: Any, **settings: Any) -> SemiRFS:
        """Randomised feature selection (RFS), the earlier form: one candidate per iteration.

        Parameters
        ----------
        estimator : estimator
            The learner.
        **settings
            Further parameters, except ``adaptive`` and the group sizes.

        Returns
        -------
        SemiRFS
            With ``adaptive=False, group_size=1, removal_group_size=1`` and, unless given, ``warm_start=False``.

        Examples
        --------
        >>> from sklearn.naive_bayes import GaussianNB
        >>> SemiRFS.rfs(GaussianNB(), cool_down=True).group_size
        1
        """
        fixed = {"adaptive": False, "group_size": 1, "removal_group_size": 1}
        return cls(estimator, **{"warm_start": False, **settings, **fixed})

    @classmethod
    def rve(cls, estimator: Any, n_relevant: int | None = None, **settings: Any) -> SemiRFS:
        """Randomised variable elimination (RVE), the earlier form: start with all features, and only remove.

        The published method plans the number of features removed at once by dynamic programming over what is left;
        here it is the number that is best for the next evaluation alone, which needs no table. A removal that makes the
        score worse is never taken.

        Parameters
        ----------
        estimator : estimator
            The learner.
        n_relevant : int or None
            How many features are thought to matter; None: the square root of their number.
        **settings
            Further parameters.

        Returns
        -------
        SemiRFS
            With ``adaptive=False, removal_group_size=1, warm_start="all", addition_penalty=1, c=inf,
            removal_size="optimal"``.

        Examples
        --------
        >>> from sklearn.naive_bayes import GaussianNB
        >>> SemiRFS.rve(GaussianNB(), n_relevant=30).addition_penalty
        1.0
        """
        fixed = {"adaptive": False, "removal_group_size": 1, "warm_start": "all", "addition_penalty": 1.0}
        own = {"removal_size": "optimal", "n_relevant": n_relevant, "c": math.inf}
        return cls(estimator, **{**settings, **fixed, **own})

    def fit(self, X: Any, y: npt.ArrayLike, groups: npt.ArrayLike | None = None) -> SemiRFS:
        """Search for the best subset.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n, n_features)
            The data; sparse, or with NaN, if the learner takes that.
        y : array-like of shape (n,)
            Labels or numbers.
        groups : array-like of shape (n,), optional
            Groups of instances for ``cv``.

        Returns
        -------
        SemiRFS

        Raises
        ------
        ValueError, TypeError
            If data or settings are wrong, or the learner fails on every subset.
        """
        X, y = self._check_data(X, y)
        settings = check_settings(self, X.shape[1])
        seed = int(as_generator(self.random_state).integers(2**63 - 1))
        folds = check_cv(self.cv, y, classifier=is_classifier(self.estimator))
        splits = [(np.asarray(train), np.asarray(test)) for train, test in folds.split(X, y, groups)]
        evaluator = self._evaluator(X, y, splits, seed, settings)
        with evaluator.workers():
            selected = self._initial_subset(X, y, seed, settings.max_features)
            if selected.sum() < settings.min_features:
                raise ValueError(
                    f"min_features={self.min_features} is above the {selected.sum()} features of the start."
                )
            state = start_search(selected, seed, evaluator, settings)
            self._search(state, evaluator, settings, fingerprint(X, y))
        return self

    def resume(self, path: str | os.PathLike[str], X: Any, y: npt.ArrayLike) -> SemiRFS:
        """Continue a search from a state that :meth:`save_state` or ``checkpoint`` wrote.

        The limits (``max_iter``, ``max_evaluations``, ``max_time``, ``patience``) count from the first start. They may
        differ from before, as may ``n_jobs``, ``callback`` and ``checkpoint``, but nothing else. The folds are those of
        the first start. The result is the same as that of a search that was never interrupted.

        Parameters
        ----------
        path : path
            The file.
        X, y : array-like
            The data of the first `fit`.

        Returns
        -------
        SemiRFS

        Raises
        ------
        ValueError
            If the file does not hold such a state, or one with other data or settings.

        Examples
        --------
        >>> import os, tempfile
        >>> from sklearn.datasets import load_wine
        >>> from sklearn.naive_bayes import GaussianNB
        >>> X, y = load_wine(return_X_y=True)
        >>> first = SemiRFS(GaussianNB(), max_iter=5, random_state=0).fit(X, y)
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     path = os.path.join(folder, "search")
        ...     first.save_state(path)
        ...     later = SemiRFS(GaussianNB(), max_iter=9, random_state=0).resume(path, X, y)
        >>> whole = SemiRFS(GaussianNB(), max_iter=9, random_state=0).fit(X, y)
        >>> bool(np.array_equal(later.support_, whole.support_)), later.n_iter_
        (True, 9)
        """
        X, y = self._check_data(X, y)
        settings, data = check_settings(self, X.shape[1]), fingerprint(X, y)
        parts = read_state(path, data, X.shape[1], self._decisive(settings))
        evaluator = self._evaluator(X, y, parts["splits"], parts["state"].seed, settings)
        state = restore(parts, evaluator)
        with evaluator.workers(parts["elapsed"]):
            self._search(state, evaluator, settings, data)
        return self

    def save_state(self, path: str | os.PathLike[str]) -> None:
        """Write the state of the search to a file, completely or not at all, for :meth:`resume`.

        Parameters
        ----------
        path : path
            The file; plain data and arrays, read without running code.

        Raises
        ------
        OSError
            If it cannot be written.
        """
        check_is_fitted(self, "support_")
        save(self._state, path)

    @property
    def _accepts_sparse(self) -> bool:  # type: ignore[override]
        return bool(get_tags(self.estimator).input_tags.sparse)

    @property
    def _allows_nan(self) -> bool:
        return bool(get_tags(self.estimator).input_tags.allow_nan)

    def _check_data(self, X: Any, y: npt.ArrayLike) -> tuple[Any, npt.NDArray[Any]]:
        if not hasattr(self.estimator, "fit"):
            raise TypeError(f"estimator must be a scikit-learn estimator, got {self.estimator!r}.")
        if get_tags(self.estimator).input_tags.pairwise:
            raise ValueError("estimator takes a precomputed kernel, which has no features to choose from.")
        X, target = self._check_X_target(X, y)
        if is_classifier(self.estimator):
            target = plain_labels(target)
            check_classification_targets(target)
            self.classes_ = np.unique(target)
        return X.tocsc() if sp.issparse(X) else X, target

    def _initial_subset(self, X: Any, y: npt.NDArray[Any], seed: int, limit: int) -> BoolArray:
        """Mask of the features that the search starts with."""
        n, warm_start = X.shape[1], self.warm_start
        size = min(20, max(1, n // 2)) if self.n_initial is None else self.n_initial  # as in the paper's experiments
        size = min(size, n, limit)
        mask = np.zeros(n, dtype=bool)
        if warm_start is None or warm_start is False:
            mask[np.random.default_rng([seed, 0, 2]).choice(n, size, replace=False)] = True
        elif warm_start is True:
            mask[important(X, y, size, is_classifier(self.estimator), child_seed(seed, 3))] = True
        elif isinstance(warm_start, str):
            if warm_start != "all":
                raise ValueError(f"warm_start must be a bool, 'all', features or a selector, got {warm_start!r}.")
            mask[:] = True
        elif hasattr(warm_start, "fit"):
            mask[_fit_support(warm_start, X, y, child_seed(seed, 3))] = True
        else:
            mask[check_features(warm_start, n)] = True
        if mask.sum() > limit:
            raise ValueError(
                f"warm_start gives {mask.sum()} features, more than max_features={limit}: start with fewer, or allow "
                "more."
            )
        return mask

    def _decisive(self, settings: SearchSettings) -> dict[str, Any]:
        """The settings on which the course of a search depends, apart from its limits."""
        names = ("estimator", "scoring", "error_score", "cv", "warm_start", "n_initial", "random_state")
        others = {name: describe_setting(getattr(self, name)) for name in names}
        return asdict(settings) | {"feature_params": describe_setting(tuple(self.feature_params))} | others

    def _evaluator(
        self, X: Any, y: npt.NDArray[Any], splits: list[Split], seed: int, settings: SearchSettings
    ) -> Evaluator:
        return Evaluator(
            with_seeds(self.estimator, child_seed(seed, 1)),
            check_scoring(self.estimator, scoring=self.scoring),
            X,
            y,
            splits,
            n_jobs=check_jobs(self.n_jobs),
            error_score=self.error_score,
            feature_params=tuple(self.feature_params),
            max_evaluations=_or_infinite(self.max_evaluations),
            max_time=_or_infinite(self.max_time),
            max_features=settings.max_features,
        )

    def _search(self, state: SearchState, evaluator: Evaluator, settings: SearchSettings, data: str) -> None:
        names, last = self._decisive(settings), time.monotonic()

        def on_step(step: SemiRFSStep) -> bool:
            nonlocal last
            if self.checkpoint is not None and time.monotonic() - last >= CHECKPOINT_SECONDS:
                save(state_dict(state, evaluator, data, names), self.checkpoint)
                last = time.monotonic()
            return self.callback is not None and bool(self.callback(step))

        limits = {"max_iter": _or_infinite(self.max_iter), "patience": _or_infinite(self.patience)}
        self.stop_reason_ = run_search(state, evaluator, settings, on_step=on_step, **limits)
        self._state = state_dict(state, evaluator, data, names)
        if self.checkpoint is not None:
            save(self._state, self.checkpoint)
        if evaluator.best is None:
            raise ValueError(evaluator.failure())
        self.support_ = np.zeros(len(state.selected), dtype=bool)
        self.support_[evaluator.best] = True
        self.best_score_, self.n_features_ = evaluator.best_score, len(evaluator.best)
        self.history_, self.evaluations_ = as_history(state.steps), evaluator.table()
        self.c_ = state.c
        self.n_iter_, self.n_evaluations_ = state.stage.k, evaluator.n_evaluations
        if self.stop_reason_ == "interrupted":
            warnings.warn(
                f"SemiRFS was interrupted after {self.n_evaluations_} evaluations and keeps the best subset so far; "
                "save_state and resume go on from here.",
                stacklevel=3,
            )
