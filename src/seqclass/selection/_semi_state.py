"""The state of a semi-randomised search in a file, from which it can go on."""

from __future__ import annotations

import hashlib
import os
import re
from dataclasses import asdict
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from seqclass._arrays import FloatArray
from seqclass.persistence import load, save
from seqclass.selection._semi_evaluate import Evaluator, Split
from seqclass.selection._semi_history import EVALUATIONS, STEPS, as_history, as_steps, columns, from_columns
from seqclass.selection._semi_search import SearchState
from seqclass.selection._semi_settings import SearchSettings
from seqclass.selection._semi_stage import CoolDown, Stage

KIND = "SemiRFS search"
#: Goes up with every change that an older form could not be read by.
VERSION = 1
_NUMBERS = ("seed", "score", "c", "idle", "stale")


def fingerprint(X: Any, y: npt.NDArray[Any]) -> str:
    """Digest of the data, so that a search goes on with those it began with.

    Examples
    --------
    >>> fingerprint(np.eye(2), np.array([0, 1])) == fingerprint(np.eye(2), np.array([1, 0]))
    False
    """
    digest = hashlib.blake2b(repr((X.shape, X.dtype.str, y.shape)).encode(), digest_size=16)
    parts = [X.data, X.indices.astype(np.int64), X.indptr.astype(np.int64)] if sp.issparse(X) else [X]
    for part in parts:
        digest.update(np.ascontiguousarray(part).data)
    digest.update("\0".join(map(str, y.tolist())).encode())
    return digest.hexdigest()


def described(thing: Any) -> str:
    """Text of a setting that is the same in another process, and another where the setting is.

    Examples
    --------
    >>> described(len), described("accuracy"), described([1, None])
    ('len', "'accuracy'", '[1, None]')
    """
    name = getattr(thing, "__qualname__", None)
    if isinstance(name, str):
        return name
    # the repr of a long array, or of an estimator of many settings, leaves some out
    if hasattr(thing, "get_params"):
        parts = [f"{key}={described(value)}" for key, value in sorted(thing.get_params(deep=False).items())]
        return f"{type(thing).__qualname__}({', '.join(parts)})"
    if isinstance(thing, dict):
        return f"{{{', '.join(f'{described(key)}: {described(value)}' for key, value in thing.items())}}}"
    if isinstance(thing, (list, tuple)):
        return f"[{', '.join(map(described, thing))}]"
    if np.ndim(thing) and hasattr(thing, "__array__"):
        array = np.asarray(thing)
        content = "\0".join(map(str, array.ravel().tolist())).encode()
        return f"array {array.shape} {hashlib.blake2b(content, digest_size=16).hexdigest()}"
    return re.sub(r" at 0x[0-9a-fA-F]+", "", repr(thing))


def decisive(settings: SearchSettings, **others: Any) -> dict[str, Any]:
    """The settings on which the course of a search depends, apart from its limits."""
    return asdict(settings) | {name: described(value) for name, value in others.items()}


def state_dict(state: SearchState, evaluator: Evaluator, data: str, settings: dict[str, Any]) -> dict[str, Any]:
    """All of a search, as plain data and arrays."""
    best = np.empty(0, dtype=np.intp) if evaluator.best is None else evaluator.best
    return {
        "kind": KIND,
        "version": VERSION,
        "data": data,
        "settings": settings,
        "splits": list(evaluator.splits),
        "selected": state.selected.copy(),
        "stage": asdict(state.stage),
        "cool": None if state.cool is None else _cool_dict(state.cool),
        "history": columns(as_history(state.steps)),
        "evaluations": columns(evaluator.table()),
        "keys": np.frombuffer(b"".join(evaluator.position), dtype=np.uint8).reshape(-1, 16),
        "best": best,
        "best_score": float(evaluator.best_score),
        "elapsed": evaluator.elapsed,
        **{name: getattr(state, name) for name in _NUMBERS},
    }


def _cool_dict(cool: CoolDown) -> dict[str, Any]:
    return {"cooling": cool.cooling, "scale": cool.scale, "factors": cool.factors.copy()}


def write_state(parts: dict[str, Any], path: str | os.PathLike[str]) -> None:
    """Write a state, whole or not at all."""
    save(parts, path)


def read_state(
    path: str | os.PathLike[str], data: str, n_features: int, settings: dict[str, Any] | None = None
) -> dict[str, Any]:
    """Read a state, and see that it belongs to these data and settings.

    Raises
    ------
    ValueError
        If it does not; the message names what differs.
    """
    parts = load(path)
    if not isinstance(parts, dict) or parts.get("kind") != KIND:
        raise ValueError(f"{os.fspath(path)} holds no state of a SemiRFS search.")
    if parts["version"] > VERSION:
        raise ValueError(f"{os.fspath(path)} was written by a newer version: upgrade seqclass to read it.")
    if len(parts["selected"]) != n_features or parts["data"] != data:
        raise ValueError(f"{os.fspath(path)} belongs to other data: resume with the X and y of the first fit.")
    if settings is not None:
        other = [name for name, value in settings.items() if parts["settings"].get(name) != value]
        if other:
            raise ValueError(
                f"{os.fspath(path)} is of a search with another {', '.join(other)}: only limits, n_jobs, callback and "
                "checkpoint may change when a search is resumed."
            )
    return parts


def restore(parts: dict[str, Any], evaluator: Evaluator) -> SearchState:
    """The state that was saved; what was scored goes back into the evaluator."""
    table = from_columns(parts["evaluations"], EVALUATIONS)
    evaluator.lines = [tuple(row) for row in table.tolist()]
    evaluator.position = {key.tobytes(): i for i, key in enumerate(parts["keys"])}
    evaluator.best = parts["best"] if len(parts["best"]) else None
    evaluator.best_score = parts["best_score"]
    cool = None
    if parts["cool"] is not None:
        cool = CoolDown(parts["selected"], parts["cool"]["cooling"], parts["cool"]["scale"])
        factors: FloatArray = parts["cool"]["factors"]
        cool.factors = factors.copy()
    return SearchState(
        selected=parts["selected"].copy(),
        stage=Stage(**parts["stage"]),
        cool=cool,
        steps=as_steps(from_columns(parts["history"], STEPS)),
        **{name: parts[name] for name in _NUMBERS},
    )


def saved_splits(parts: dict[str, Any]) -> list[Split]:
    """The folds of a saved search."""
    return [(train, test) for train, test in parts["splits"]]
