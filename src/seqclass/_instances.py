"""What a model file keeps of an object, and the object that is made of it again without its constructor."""

from __future__ import annotations

import dataclasses
import functools
import inspect
from collections.abc import Callable
from typing import Any

_CHECKS: list[tuple[type, Callable[[Any], None]]] = []


def check_when_read(kind: type, check: Callable[[Any], None]) -> None:
    """Have instances of a class checked when they come from a file; ``check`` raises where they are wrong."""
    _CHECKS.append((kind, check))


def _hook(cls: type, name: str) -> Any:
    """Method ``name`` of a class, if its own package wrote it: not object, scikit-learn or dataclasses."""
    base = next((base for base in cls.__mro__ if name in vars(base)), object)
    ours = base.__module__.split(".")[0] == cls.__module__.split(".")[0]
    return vars(base)[name] if ours and not dataclasses.is_dataclass(cls) else None


@functools.cache
def _fields(cls: Any) -> list[str]:
    return [field.name for field in dataclasses.fields(cls)] if dataclasses.is_dataclass(cls) else []


@functools.cache
def _defaults(cls: Any) -> dict[str, Any]:
    """Settings of an estimator that have a default."""
    if not hasattr(cls, "get_params"):
        return {}
    parameters = inspect.signature(cls.__init__).parameters.values()
    return {p.name: p.default for p in parameters if p.default is not p.empty}


def state_of(instance: Any) -> Any:
    """What is stored of an instance of a registered class."""
    cls: Any = type(instance)
    get = _hook(cls, "__getstate__")
    if get is not None:
        return get(instance)
    fields: list[str] = _fields(cls)
    state = {name: getattr(instance, name) for name in fields} | getattr(instance, "__dict__", {})
    cached = [name for name in state if isinstance(getattr(cls, name, None), functools.cached_property)]
    return {name: value for name, value in state.items() if name not in ("_sklearn_version", *cached)}


def restored(cls: Any, state: dict[str, Any]) -> Any:
    """An instance of a registered class that holds ``state``, with what must hold of it."""
    if not all(type(name) is str for name in state):
        raise ValueError(f"an attribute of a {cls.__name__} has no name")
    instance = cls.__new__(cls)
    put = _hook(cls, "__setstate__")
    if put is not None:
        put(instance, state)
    else:
        _fill(instance, cls, state)
    for name, default in _defaults(cls).items():  # settings that came with a later version than the file's
        instance.__dict__.setdefault(name, default)
    for kind, check in _CHECKS:
        if isinstance(instance, kind):
            check(instance)
    return instance


def _fill(instance: Any, cls: Any, state: dict[str, Any]) -> None:
    fields = _fields(cls)
    for name, value in state.items():
        if not name.isidentifier() or name.startswith("__"):
            raise ValueError(f"{name!r} is no attribute of a model")
        if name in fields:  # which may be frozen, or slots
            object.__setattr__(instance, name, value)
        else:  # not setattr, with which a property of that name would run
            instance.__dict__[name] = value
    absent = [name for name in fields if not hasattr(instance, name)]
    if absent:
        raise ValueError(f"a {cls.__name__} lacks {', '.join(absent)}")
