"""What lies between a semi-randomised search and scikit-learn: data in, the engine run, attributes out."""

from __future__ import annotations

import math
import time
import warnings
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
from sklearn.base import is_classifier
from sklearn.metrics import check_scoring
from sklearn.utils import get_tags
from sklearn.utils.multiclass import check_classification_targets

from seqclass._validation import plain_labels
from seqclass.selection._base import Selector
from seqclass.selection._semi_evaluate import Evaluator, Split
from seqclass.selection._semi_history import SemiRFSStep, as_history
from seqclass.selection._semi_search import SearchState, run_search
from seqclass.selection._semi_settings import SearchSettings
from seqclass.selection._semi_start import child_seed, with_seeds
from seqclass.selection._semi_state import decisive, state_dict, write_state

#: Seconds between two writings of a checkpoint.
CHECKPOINT_SECONDS = 5.0


class SearchSelector(Selector):
    """Selector that runs a search; `SemiRFS` is its public form, and has the parameters."""

    @property
    def _accepts_sparse(self) -> bool:  # type: ignore[override]
        return bool(get_tags(self.estimator).input_tags.sparse)

    @property
    def _allows_nan(self) -> bool:  # type: ignore[override]
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

    def _decisive(self, settings: SearchSettings) -> dict[str, Any]:
        names = ("estimator", "scoring", "error_score", "cv", "warm_start", "n_initial", "random_state")
        others = {name: getattr(self, name) for name in names}
        return decisive(settings, feature_params=tuple(self.feature_params), **others)

    def _evaluator(
        self, X: Any, y: npt.NDArray[Any], splits: list[Split], seed: int, settings: SearchSettings
    ) -> Evaluator:
        return Evaluator(
            with_seeds(self.estimator, child_seed(seed, 1)),
            check_scoring(self.estimator, scoring=self.scoring),
            X,
            y,
            splits,
            n_jobs=self.n_jobs,
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
                write_state(state_dict(state, evaluator, data, names), self.checkpoint)
                last = time.monotonic()
            return self.callback is not None and bool(self.callback(step))

        limits = {"max_iter": _or_infinite(self.max_iter), "patience": _or_infinite(self.patience)}
        self.stop_reason_ = run_search(state, evaluator, settings, on_step=on_step, **limits)
        self._state = state_dict(state, evaluator, data, names)
        if self.checkpoint is not None:
            write_state(self._state, self.checkpoint)
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


def _or_infinite(limit: float | None) -> float:
    return math.inf if limit is None else limit
