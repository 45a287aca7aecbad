"""Rows that are to be decided: a method asks for their values feature by feature, and the suite counts what it asks."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

Ask = Callable[[Any, Any], Any]


class Cases:
    """What a method sees of the rows that it decides: how many they are, and what it asks for.

    ``budget`` is the most features that may be asked of a row, or None.
    """

    __slots__ = ("_ask", "budget", "n", "n_features")

    def __init__(self, n: int, n_features: int, ask: Ask, budget: int | None = None) -> None:
        self.n, self.n_features, self._ask, self.budget = n, n_features, ask, budget

    def __len__(self) -> int:
        return self.n

    def ask(self, feature: int, rows: Any = None) -> Any:
        """The values of a feature, by its number, in some rows (numbers or a mask; by default all).

        A row pays once for a feature however often it is asked for, and nothing for a cell that is missing.
        """
        return self._ask(feature, rows)


class Answered(NamedTuple):
    """What each row was decided as, what was paid for it, how many features it was asked for, and what it costs."""

    decision: np.ndarray
    paid: np.ndarray
    count: np.ndarray
    cost: np.ndarray


def open_cases(
    X: Any, missing: np.ndarray | None = None, budget: int | None = None
) -> tuple[Cases, Callable[..., np.ndarray]]:
    """Cases over a table, and a call that tells which cells were asked for and are not missing; it ends the asking."""
    n, width = X.shape
    seen, closed = np.zeros((n, width), dtype=bool), False

    def ask(feature: Any, rows: Any) -> Any:
        if closed:
            raise RuntimeError("the cases are closed: ask within acquire")
        if not isinstance(feature, int | np.integer) or not 0 <= feature < width:
            got = repr(feature) if np.ndim(feature) == 0 else "several numbers: rows come second, ask(feature, rows)"
            raise IndexError(f"feature must be a number from 0 to {width - 1}, got {got}")
        at = np.arange(n) if rows is None else np.atleast_1d(np.asarray(rows))
        if at.dtype == bool:
            if at.shape != (n,):
                raise IndexError(f"a mask of rows must have {n} entries, got {at.shape}")
            at = np.flatnonzero(at)
        at = at.astype(np.intp, casting="same_kind" if len(at) else "unsafe")
        if len(at) and not 0 <= at.min() <= at.max() < n:
            raise IndexError(f"rows must be numbers from 0 to {n - 1}, got {at.min()} to {at.max()}")
        seen[at, feature] = True
        if budget is not None and len(at) and seen[at].sum(axis=1).max() > budget:
            raise ValueError(f"no more than {budget} features may be asked of a row")
        return X.iloc[at, feature].copy() if isinstance(X, pd.DataFrame) else X[at, feature]

    def asked(end: bool = True) -> np.ndarray:
        nonlocal closed
        closed = end
        return seen.copy() if missing is None else seen & ~missing

    return Cases(n, width, ask, budget), asked


def answered(
    method: Any,
    X: Any,
    y: np.ndarray,
    prices: np.ndarray,
    missing: np.ndarray | None = None,
    budget: int | None = None,
    n_classes: int = 2,
) -> Answered:
    """What a fitted method decides and costs: prices of what it asked for, and 1 for an error."""
    cases, asked = open_cases(X, missing, budget)
    decision = np.asarray(method.acquire(cases))
    seen = asked()
    if decision.shape != y.shape:
        raise ValueError(f"acquire must return a class for each of the {len(y)} cases, got {decision.shape}")
    if others := [one for one in decision.tolist() if one not in range(n_classes)]:
        raise ValueError(f"acquire must return classes 0 to {n_classes - 1}, got {others[0]!r}")
    paid = seen @ prices
    return Answered(decision, paid, seen.sum(axis=1), paid + (decision != y))
