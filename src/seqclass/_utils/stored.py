"""Checks of a part that was read from a file, beyond its digest, which anyone can write.

A class says what must hold of it in ``_check_stored``, which `model_files.load` calls once the part is put together.
"""

from __future__ import annotations

from typing import Any

import numpy as np


def require(holds: bool | np.bool_, otherwise: str) -> None:
    """Raise a ValueError that says what is wrong."""
    if not holds:
        raise ValueError(f"{otherwise}, so its parts do not belong together")


def is_fitted(instance: Any) -> bool:
    """Whether anything was learnt."""
    return any(name.endswith("_") for name in vars(instance))


def check_array(
    value: Any, name: str, kinds: str, *shape: int | None, low: float | None = None, high: float | None = None
) -> Any:
    """Check an array's kind, shape (None: any length) and range."""
    fits = isinstance(value, np.ndarray) and value.dtype.kind in kinds and value.ndim == len(shape)
    require(fits and all(w in (None, n) for w, n in zip(shape, value.shape)), f"{name} is not the array it should be")
    require(low is None or value.min(initial=low) >= low, f"{name} is wrong: there is less than {low}")
    require(high is None or value.max(initial=high) <= high, f"{name} is wrong: there is more than {high}")
    return value


def check_numbers(value: Any, name: str, *shape: int | None, low: float | None = None) -> Any:
    """Check an array of finite numbers."""
    require(np.isfinite(check_array(value, name, "f", *shape, low=low)).all(), f"{name} is not finite")
    return value


def require_array(
    owner: Any, name: str, kinds: str, *shape: int | None, low: float | None = None, high: float | None = None
) -> Any:
    """Check an attribute that is an array; see `check_array`."""
    return check_array(getattr(owner, name), name, kinds, *shape, low=low, high=high)


def require_numbers(owner: Any, name: str, *shape: int | None, low: float | None = None) -> Any:
    """Check an attribute that is an array of finite numbers."""
    return check_numbers(getattr(owner, name), name, *shape, low=low)


def check_whole(value: Any, name: str, low: int, high: int = 2**62) -> int:
    """Check a whole number."""
    whole = isinstance(value, (int, np.integer)) and not isinstance(value, bool)
    require(whole and low <= value <= high, f"{name} is wrong")
    return int(value)


def require_whole(owner: Any, name: str, low: int, high: int = 2**62) -> int:
    """Check an attribute that is a whole number."""
    return check_whole(getattr(owner, name), name, low, high)


def require_list(owner: Any, name: str, length: int, of: str = "stages") -> list[Any]:
    """Check an attribute that is a list with one entry for each of some things."""
    value: list[Any] = getattr(owner, name)
    require(type(value) is list and len(value) == length, f"{name} are of other {of}")
    return value


def require_part(owner: Any, name: str, kind: type) -> Any:
    """Check an attribute that is a part of a kind."""
    value = getattr(owner, name)
    require(isinstance(value, kind), f"{name} is no {kind.__name__}")
    return value


def check_support(selector: Any) -> None:
    """Check that a selector knows which features it keeps, if it was fitted."""
    if is_fitted(selector):
        mask = np.asarray(selector.get_support())
        own = mask.dtype == bool and mask.shape == (selector.n_features_in_,)
        require(own, f"a {type(selector).__name__} keeps other features than it has")
