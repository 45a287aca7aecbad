"""Semi-RFS: randomised feature selection around any learner, with warm start and cool down."""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.base import is_classifier
from sklearn.model_selection import check_cv
from sklearn.utils.validation import check_is_fitted

from seqclass._arrays import as_generator
from seqclass.selection._semi_history import SemiRFSStep
from seqclass.selection._semi_search import start_search
from seqclass.selection._semi_selector import SearchSelector
from seqclass.selection._semi_settings import check_settings
from seqclass.selection._semi_start import initial_subset
from seqclass.selection._semi_state import fingerprint, read_state, restore, saved_splits, write_state

__all__ = ["SemiRFS", "SemiRFSStep"]


class SemiRFS(SearchSelector):
    """Semi-randomised feature selection: a search for the subset with which a learner does best.

    Each iteration draws a move with equal chances - add a feature, remove one, or both - and groups of features that
    could be added and removed; the learner is cross-validated with each of them, and the best candidate is taken if it
    is better, or else with probability ``exp(c (A' - A))``. Large groups search greedily, small ones at random: eq. (1)
    makes them shrink as improvements get rare. Kept is the best subset that was scored, of equals the smallest.

    Earlier methods are settings of the same search: :meth:`rfs` (groups of one) and :meth:`rve` (elimination only);
    ``adaptive=False`` is the static form, ``warm_start`` Algorithms 2 and 3, ``cool_down`` Algorithm 4.

    Parameters
    ----------
    estimator : estimator
        The learner, a classifier or regressor; where its ``random_state`` is open it is given a seed.
    scoring : str, callable or None
        Score to be maximised, as in scikit-learn; None is the learner's ``score``.
    cv : int, splitter or iterable
        Folds, as in scikit-learn; drawn once, so that all subsets are scored on the same.
    adaptive : bool
        Group sizes by eq. (1) rather than ``group_size``.
    alpha, beta : float
        Weight of the stage N_ni in eq. (1), and what keeps the first groups small: their share is 1 / (beta + 1).
    warm_start : bool, "all", array-like or selector
        True: start with the features that low-depth extra trees use most (Algorithm 2), which spares most of the search
        where features are many; ``"all"``: with all, so that the search mostly eliminates (Algorithm 3); columns or a
        mask; or a selector, fitted first. Adaptive group sizes then follow eq. (3). False: start at random
        (Algorithm 1).
    cool_down : bool
        Draw features that did badly when they were last tried less often, eq. (6).
    max_time : float or None
        Seconds after which the search ends. The answer then depends on the machine.
    n_jobs : int or None
        Workers, through joblib; None follows ``joblib.parallel_config``, which can name a ``"dask"`` or ``"ray"``
        cluster. Candidates of a group, folds, and guesses of what comes next are scored side by side; the
        result does not depend on the number of workers.
    random_state : int, generator or None
        Seed of the search, and of the learner where it has none.
    group_size : int
        Features tried for addition, g, where not ``adaptive``.
    removal_group_size : int or None
        Features tried for removal, g'; None: eq. (1) or (3) if ``adaptive``, else 1. The paper's experiments use 1.
    w, w_prime : float
        Weights of the newest value in the averages of eqs. (2) and (5), from 0 (excluded) to 1; the paper leaves them
        open.
    c : float or None
        How strictly worse candidates are refused: infinity refuses all. None: 10 / (standard deviation over folds of
        the initial subset's score), so that a loss of a tenth of it is accepted with probability 1/e.
    cooling : float
        How much cooler a bad feature is than one that was never tried. The factor of a feature whose trial changed the
        score by -d is ``sqrt(pool) (1 + min(cooling, d / s))``, s the standard deviation as for ``c``; 1 if it rose.
    addition_penalty : float or None
        From 0 to 1: moves that add get weight ``1 - addition_penalty``. None: 0.5 if ``warm_start="all"``, else 0.
    removal_size : int or "optimal"
        Features taken away at once by a removal; ``"optimal"``: the number that maximises what an evaluation
        is expected to remove, if ``n_relevant`` of those selected matter.
    n_relevant : int or None
        For ``removal_size="optimal"``; None: the square root of the number of features.
    n_initial : int or None
        Size of the initial subset where it is drawn or made with trees. None: 20, but at most half of the features.
    min_features, max_features : int, int or None
        Bounds on the size of the subset.
    max_iter, max_evaluations : int or None
        Iterations, and subsets scored, after which the search ends.
    patience : int or None
        Iterations without a better best score after which the search ends.
    error_score : "raise" or float
        Score of a fold on which the learner fails or the score is not finite; with NaN the subset counts as the worst.
        Either way a ``FitFailedWarning`` tells.
    feature_params : sequence of str
        Parameters of the learner that hold one value a feature, such as ``"feature_costs"``; cut to each subset.
    callback : callable or None
        Called with a :class:`SemiRFSStep` after each iteration; the search ends if it returns True.
    checkpoint : path or None
        File to which the state is written every few seconds and at the end, for :meth:`resume`.

    Attributes
    ----------
    support_ : ndarray of bool of shape (n_features_in_,)
        The best subset.
    best_score_ : float
        Its mean score over the folds. As the best of many it is optimistic.
    n_features_ : int
        Its size.
    history_ : structured ndarray of shape (n_iter_ + 1,)
        One row an iteration, with the fields of :class:`SemiRFSStep`; ``pandas.DataFrame(history_)`` is a table.
    evaluations_ : structured ndarray of shape (n_evaluations_,)
        One row a subset scored: iteration, n_features, score, score_std, best_score, time in seconds.
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
    Ctrl-C ends the search with a warning, and keeps the best so far. What may be chosen and is not in the paper: w =
    w' = 0.5, c, the cool-down factors, the weights of the biased coin, rounding of the group sizes to the nearest
    integer. N_ni counts iterations that did not improve on the current subset.

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

    def __init__(
        self,
        estimator: Any,
        scoring: Any = None,
        cv: Any = 5,
        adaptive: bool = True,
        alpha: float = 1.0,
        beta: float = 1.0,
        warm_start: Any = True,
        cool_down: bool = False,
        max_time: float | None = None,
        n_jobs: int | None = None,
        random_state: Any = None,
        *,
        group_size: int = 2,
        removal_group_size: int | None = None,
        w: float = 0.5,
        w_prime: float = 0.5,
        c: float | None = None,
        cooling: float = 2.0,
        addition_penalty: float | None = None,
        removal_size: int | str = 1,
        n_relevant: int | None = None,
        n_initial: int | None = None,
        min_features: int = 1,
        max_features: int | None = None,
        max_iter: int | None = None,
        max_evaluations: int | None = None,
        patience: int | None = 50,
        error_score: Any = np.nan,
        feature_params: Sequence[str] = (),
        callback: Callable[[SemiRFSStep], bool | None] | None = None,
        checkpoint: str | os.PathLike[str] | None = None,
    ) -> None:
        self.estimator = estimator
        self.scoring = scoring
        self.cv = cv
        self.adaptive = adaptive
        self.alpha = alpha
        self.beta = beta
        self.warm_start = warm_start
        self.cool_down = cool_down
        self.max_time = max_time
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.group_size = group_size
        self.removal_group_size = removal_group_size
        self.w = w
        self.w_prime = w_prime
        self.c = c
        self.cooling = cooling
        self.addition_penalty = addition_penalty
        self.removal_size = removal_size
        self.n_relevant = n_relevant
        self.n_initial = n_initial
        self.min_features = min_features
        self.max_features = max_features
        self.max_iter = max_iter
        self.max_evaluations = max_evaluations
        self.patience = patience
        self.error_score = error_score
        self.feature_params = feature_params
        self.callback = callback
        self.checkpoint = checkpoint

    @classmethod
    def rfs(cls, estimator: Any, **settings: Any) -> SemiRFS:
        """Randomised feature selection (RFS), the earlier form: one candidate an iteration.

        Parameters
        ----------
        estimator : estimator
            The learner.
        **settings
            Further parameters, ``adaptive`` and group sizes apart.

        Returns
        -------
        SemiRFS
            With ``adaptive=False, group_size=1, removal_group_size=1``, and unless it is given, ``warm_start=False``.

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
        """Search.

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
            selected = initial_subset(
                self.warm_start,
                self.n_initial,
                X,
                y,
                classify=is_classifier(self.estimator),
                seed=seed,
                limit=settings.max_features,
            )
            if selected.sum() < settings.min_features:
                raise ValueError(
                    f"min_features={self.min_features} is above the {selected.sum()} features of the start."
                )
            state = start_search(selected, seed, evaluator, settings)
            self._search(state, evaluator, settings, fingerprint(X, y))
        return self

    def resume(self, path: str | os.PathLike[str], X: Any, y: npt.ArrayLike) -> SemiRFS:
        """Go on with a search from a state that :meth:`save_state` or ``checkpoint`` wrote.

        The limits (``max_iter``, ``max_evaluations``, ``max_time``, ``patience``) count from the first start, and may
        be other than before, as may ``n_jobs``, ``callback`` and ``checkpoint``; nothing else may. The folds are those
        of the first start. The result is that of a search that was never interrupted.

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
            If the file holds no such state, or one of other data or settings.

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
        evaluator = self._evaluator(X, y, saved_splits(parts), parts["seed"], settings)
        state = restore(parts, evaluator)
        with evaluator.workers(parts["elapsed"]):
            self._search(state, evaluator, settings, data)
        return self

    def save_state(self, path: str | os.PathLike[str]) -> None:
        """Write the state of the search to a file, whole or not at all, for :meth:`resume`.

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
        write_state(self._state, path)
