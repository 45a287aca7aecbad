"""What checks of files that were read are made of."""

from __future__ import annotations

from typing import Any

import numpy as np


def need(holds: bool | np.bool_, otherwise: str) -> None:
    """Raise a ValueError that says what is wrong."""
    if not holds:
        raise ValueError(f"{otherwise}, so its parts do not belong together")


def fitted(instance: Any) -> bool:
    """Whether anything was learnt."""
    return any(name.endswith("_") for name in vars(instance))


def array(value: Any, name: str, kinds: str, *shape: int | None) -> Any:
    """Check an array's kind and shape (None: any length); numbers must be no NaN."""
    fits = isinstance(value, np.ndarray) and value.dtype.kind in kinds and value.ndim == len(shape)
    need(fits and all(w in (None, n) for w, n in zip(shape, value.shape)), f"{name} is not the array it should be")
    return value


def numbers(value: Any, name: str, *shape: int | None) -> Any:
    """Check an array of finite numbers."""
    need((np.isfinite(array(value, name, "f", *shape)).all()), f"{name} is not finite")
    return value


def whole(value: Any, name: str, low: int, high: int = 2**62) -> int:
    """Check a whole number."""
    need(
        isinstance(value, (int, np.integer)) and not isinstance(value, bool) and low <= value <= high,
        f"{name} is wrong",
    )
    return int(value)
