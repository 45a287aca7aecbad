"""What is worked out of a belief once, and stays with it until another takes its place."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any, Protocol, TypeVar


class _HasCache(Protocol):
    _cache: dict[str, Any]


B = TypeVar("B", bound=_HasCache)
T = TypeVar("T")


def cached(function: Callable[[B], T]) -> Callable[[B], T]:
    """Have a function of a belief work out its answer once for each."""
    name = function.__name__

    @wraps(function)
    def look_up(belief: B) -> T:
        known: dict[str, T] = belief._cache
        if name not in known:
            known[name] = function(belief)
        return known[name]

    return look_up


def without(cache: dict[str, Any], *names: str) -> dict[str, Any]:
    """A cache without some entries."""
    return {name: value for name, value in cache.items() if name not in names}
