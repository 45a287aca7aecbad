"""Settings of a semi-randomised search, checked."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from seqclass._validation import check_integer, check_real


@dataclass(frozen=True)
class SearchSettings:
    """Settings of the engine; `SemiRFS` documents them."""

    adaptive: bool
    alpha: float
    beta: float
    group_size: int
    removal_group_size: int | None  # None: eq. (1) or (3)
    w: float
    w_prime: float
    fine_stage: bool  # whether PCT_imp enters the group sizes, eq. (3)
    c: float | None
    cool_down: bool
    cooling: float
    addition_penalty: float
    removal_size: int | None  # None: as many as pays, given n_relevant
    n_relevant: int
    min_features: int
    max_features: int


def check_settings(selector: Any, n_features: int) -> SearchSettings:
    """Settings of the engine from the parameters of a `SemiRFS`.

    Raises
    ------
    ValueError, TypeError
        If one is wrong; the message names it.
    """
    check_limits(selector.max_time, selector.max_iter, selector.max_evaluations, selector.patience)
    check_error_score(selector.error_score)
    check_feature_params(selector.estimator, selector.feature_params, n_features)
    if selector.n_initial is not None:
        check_integer(selector.n_initial, "n_initial", 1)
    low = check_integer(selector.min_features, "min_features", 1, n_features)
    high = n_features if selector.max_features is None else check_integer(selector.max_features, "max_features", low)
    penalty = selector.addition_penalty
    if penalty is None:
        penalty = 0.5 if isinstance(selector.warm_start, str) else 0.0
    n_relevant = math.isqrt(n_features) if selector.n_relevant is None else selector.n_relevant
    return SearchSettings(
        adaptive=bool(selector.adaptive),
        alpha=check_real(selector.alpha, "alpha", 0.0),
        beta=check_real(selector.beta, "beta", 0.0),
        group_size=check_integer(selector.group_size, "group_size", 1),
        removal_group_size=_removal_group_size(selector.removal_group_size, selector.adaptive),
        w=_weight(selector.w, "w"),
        w_prime=_weight(selector.w_prime, "w_prime"),
        fine_stage=not (selector.warm_start is None or selector.warm_start is False),
        c=None if selector.c is None else check_real(selector.c, "c", 0.0),
        cool_down=bool(selector.cool_down),
        cooling=check_real(selector.cooling, "cooling", 0.0, np.finfo(float).max),
        addition_penalty=check_real(penalty, "addition_penalty", 0.0, 1.0),
        removal_size=_removal_size(selector.removal_size),
        n_relevant=check_integer(n_relevant, "n_relevant", 0),
        min_features=low,
        max_features=min(high, n_features),
    )


def check_limits(max_time: Any, max_iter: Any, max_evaluations: Any, patience: Any) -> None:
    """Check the limits of a search, of which it needs one at least."""
    for name, value, low in (
        ("max_iter", max_iter, 0),
        ("max_evaluations", max_evaluations, 1),
        ("patience", patience, 1),
    ):
        if value is not None:
            check_integer(value, name, low)
    if max_time is not None:
        check_real(max_time, "max_time", 0.0)
    if max_time is None and max_iter is None and max_evaluations is None and patience is None:
        raise ValueError("the search would never end: set max_time, max_iter, max_evaluations or patience.")


def check_error_score(error_score: Any) -> None:
    """Check that it is "raise" or a number, NaN included."""
    if isinstance(error_score, str):
        if error_score != "raise":
            raise ValueError(f"error_score must be 'raise' or a number, got {error_score!r}.")
    elif not (isinstance(error_score, float) and math.isnan(error_score)):
        check_real(error_score, "error_score", -np.finfo(float).max, np.finfo(float).max)


def check_feature_params(estimator: Any, names: Sequence[str], n_features: int) -> None:
    """Check that these parameters of the learner have one value a feature."""
    if isinstance(names, str):
        raise TypeError(f"feature_params must be a list of names, got the string {names!r}: use [{names!r}].")
    values = estimator.get_params(deep=True) if names else {}
    for name in names:
        if name not in values:
            raise ValueError(f"feature_params: estimator has no parameter {name!r}.")
        shape = np.shape(values[name])
        if shape[:1] != (n_features,):
            raise ValueError(
                f"feature_params: {name!r} must have one value for each of the {n_features} features, but "
                f"its shape is {shape}."
            )


def _removal_group_size(value: Any, adaptive: bool) -> int | None:
    if value is None:
        return None if adaptive else 1
    return check_integer(value, "removal_group_size", 1)


def _removal_size(value: Any) -> int | None:
    if not isinstance(value, str):
        return check_integer(value, "removal_size", 1)
    if value != "optimal":
        raise ValueError(f"removal_size must be an integer or 'optimal', got {value!r}.")
    return None


def _weight(value: Any, name: str) -> float:
    if check_real(value, name, 0.0, 1.0) == 0:
        raise ValueError(f"{name} must be above 0: with 0 the average would never move.")
    return float(value)
