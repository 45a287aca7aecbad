"""What the checks say where a promise is broken."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

#: Costs and probabilities closer than this are the same.
ROUNDING = 1e-9


def true(condition: bool | np.bool_, sentence: str) -> None:
    if not condition:
        raise AssertionError(f"{sentence}.")


def equal(actual: npt.ArrayLike, expected: npt.ArrayLike, tolerance: float, sentence: str) -> None:
    actual, expected = np.asarray(actual), np.asarray(expected)
    true(actual.shape == expected.shape, f"{sentence} (shape {actual.shape}, expected {expected.shape})")
    if not np.allclose(actual, expected, rtol=tolerance, atol=tolerance):
        raise AssertionError(f"{sentence} (by up to {np.abs(actual - expected).max():g}).")


def raises(kind: type[Exception], words: Sequence[str], call: Callable[[], Any], sentence: str) -> None:
    try:
        call()
    except kind as error:
        missing = [word for word in words if word not in str(error)]
        true(not missing, f"{sentence}: the message does not name {missing}: {error}")
    else:
        raise AssertionError(f"{sentence} must raise {kind.__name__}.")


def same(first: npt.ArrayLike, second: npt.ArrayLike) -> bool:
    return bool(np.array_equal(np.asarray(first), np.asarray(second)))
