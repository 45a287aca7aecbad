"""Fits that an error, or Ctrl-C, ends half-way."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Concatenate, ParamSpec, TypeVar

P = ParamSpec("P")
S = TypeVar("S")
T = TypeVar("T")


def all_or_nothing(fit: Callable[Concatenate[S, P], T]) -> Callable[Concatenate[S, P], T]:
    """Have a fit that does not end leave its estimator as it was, and not half of this fit and half of one before."""

    @wraps(fit)
    def fit_or_restore(self: S, /, *args: P.args, **kwargs: P.kwargs) -> T:
        before = dict(vars(self))
        try:
            return fit(self, *args, **kwargs)
        except BaseException:
            vars(self).clear()
            vars(self).update(before)
            raise

    return fit_or_restore
