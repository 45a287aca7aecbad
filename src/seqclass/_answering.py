"""Raw values as a session takes them, and what one more question saves."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from seqclass._arrays import FloatArray
from seqclass._messages import shown
from seqclass._questions import Answer
from seqclass.pomdp import InformationState


def finite(name: str, value: Any) -> float:
    """A raw value as a finite number; bytes are none, though Python would read them as such."""
    try:
        number = (
            np.nan if value is np.ma.masked else float(str(value) if isinstance(value, (bytes, bytearray)) else value)
        )
    except (TypeError, ValueError):
        raise ValueError(f"feature {shown(name)} must be a number, got {shown(value)}.") from None
    except OverflowError:
        number = np.inf
    if not np.isfinite(number):
        raise ValueError(f"feature {shown(name)} must be finite, got {shown(value)}; call it unavailable if it is.")
    return number


def savings(info: InformationState) -> FloatArray:
    """By how much asking one more question and deciding then is cheaper than deciding now, (n_questions,).

    Parameters
    ----------
    info : InformationState
        What is known of one case, in a free problem.

    Returns
    -------
    ndarray of shape (n_questions,)
        -inf where a question is not open.

    Examples
    --------
    >>> from seqclass.pomdp import TableProblem
    >>> likelihoods = np.array([[[0.9, 0.2], [0.1, 0.8]], [[0.6, 0.5], [0.4, 0.5]]])
    >>> savings(TableProblem([0.5, 0.5], likelihoods, prices=0.1, free=True).begin())
    array([ 0.25, -0.05])
    """
    asked = np.flatnonzero(info.open[0])
    saving = np.full(info.problem.n_questions, -np.inf)
    if asked.size:
        price = info.prices[0, asked]
        saving[asked] = info.stopping_cost[0] - price - info.problem.costs_after(asked, info)[0]
    return saving


def n_shown(answer: Answer) -> int:
    """How many features an answer showed."""
    if answer.outcome < 0:
        return 0
    return len(answer.value) if isinstance(answer.value, dict) else 1


def without_missing(values: Mapping[str, Any]) -> dict[str, Any]:
    """Values that are there: neither None nor NaN."""
    return {name: v for name, v in values.items() if not (v is None or v is np.ma.masked or v != v)}
