"""Pieces of tables that are not cells of an experiment: computed once, and kept in the file of the run."""

from __future__ import annotations

import json
import math
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np
from joblib import delayed
from threadpoolctl import threadpool_limits  # type: ignore[import-untyped, unused-ignore]

from reproduction._context import Context, error_text
from seqclass.experiment._keys import canonical, code_version, key_of
from seqclass.experiment._store import Store, open_store
from seqclass.experiment.grid import quiet_workers, warn_of_versions, work

__all__ = ["Piece", "Result", "compute"]

#: Name of a piece among the parts that a run keeps.
PART = "figures"
#: Goes up by one when the figures of a piece come to mean something else: kept ones are computed anew then.
FORMAT_VERSION = 1
#: Characters of an error.
_LONGEST = 300


@dataclass(frozen=True)
class Piece:
    """Something to compute, and all that its figures depend on."""

    name: str
    function: Callable[..., Mapping[str, Any]]
    arguments: Callable[[], tuple[Any, ...]]
    depends_on: Mapping[str, Any]

    @property
    def key(self) -> str:
        """Hash of what the figures depend on."""
        made = f"{self.function.__module__}.{self.function.__qualname__}"
        return key_of({"piece": made, "format": FORMAT_VERSION, "depends_on": canonical(self.depends_on)})


@dataclass(frozen=True)
class Result:
    """What came of a piece."""

    figures: dict[str, Any] = field(default_factory=dict)
    seconds: float = math.nan
    error: str = ""
    version: str = field(default_factory=code_version)

    def as_json(self, name: str = "") -> bytes:
        """Bytes to keep; what is not finite becomes null."""
        content = {"name": name, "version": self.version, "seconds": self.seconds, "error": self.error}
        return json.dumps(_plain(content | {"figures": self.figures}), allow_nan=False).encode()

    @classmethod
    def from_json(cls, content: bytes) -> Result:
        """Read what `as_json` wrote; null becomes NaN."""
        read = _numbers(json.loads(content))
        return cls(read["figures"], read["seconds"], read["error"], read["version"])

    def __getitem__(self, name: str) -> Any:
        """One of the figures; NaN if the piece failed."""
        return self.figures.get(name, math.nan)


def compute(pieces: Sequence[Piece], context: Context) -> list[Result]:
    """Take pieces from the file of the run, and compute and keep those that it lacks or that failed."""
    wanted = {piece.key: piece for piece in pieces}
    with open_store(context.path, create=True) as store:
        found = _kept(store, wanted)
        warn_of_versions((result.version for result in found.values()), "figures")
        missing = {key: piece for key, piece in wanted.items() if key not in found}
        context.tell(len(found), len(wanted))
        with quiet_workers():
            for key, result in _computed(missing, context.n_jobs):
                store.put_part(key, PART, result.as_json(wanted[key].name))
                found[key] = result
                context.tell(len(found), len(wanted), wanted[key].name)
    context.note_work(result.seconds for result in found.values())
    return [found[piece.key] for piece in pieces]


def _kept(store: Store, keys: Mapping[str, Any]) -> dict[str, Result]:
    """Results that are there, but for those of pieces that failed."""
    contents = {key: store.part(key, PART) for key in keys}
    results = {key: Result.from_json(content) for key, content in contents.items() if content is not None}
    return {key: result for key, result in results.items() if not result.error}


def _computed(missing: Mapping[str, Piece], n_jobs: int) -> Iterator[tuple[str, Result]]:
    """Results as they come in; a piece that takes its process down is one with an error."""
    for key, done, error in work({key: partial(_job, key, piece) for key, piece in missing.items()}, n_jobs):
        yield (key, Result(error=error)) if error else done


def _job(key: str, piece: Piece) -> Any:
    """What a worker is to do; the arguments are made here, so that it is not sent what they are made of."""
    try:
        return delayed(_attempt)(key, piece.function, piece.arguments())
    except Exception as error:
        return delayed(_failed)(key, error, 0.0)


def _attempt(key: str, function: Callable[..., Mapping[str, Any]], arguments: tuple[Any, ...]) -> tuple[str, Result]:
    """Compute a piece, on one thread so that its seconds do not hang on how many run at a time."""
    started = time.perf_counter()
    try:
        with threadpool_limits(1):
            figures = dict(function(*arguments))
    except Exception as error:
        return _failed(key, error, time.perf_counter() - started)
    return key, Result(_numbers(_plain(figures)), time.perf_counter() - started)


def _failed(key: str, error: Exception, seconds: float) -> tuple[str, Result]:
    return key, Result(seconds=seconds, error=error_text(error)[:_LONGEST])


def _plain(value: Any) -> Any:
    """What JSON has, NaN and infinity as null."""
    if isinstance(value, Mapping):
        return {str(name): _plain(part) for name, part in value.items()}
    if isinstance(value, np.ndarray):
        value = value.tolist()
    if isinstance(value, (list, tuple)):
        return [_plain(part) for part in value]
    if isinstance(value, np.generic):
        value = value.item()
    return None if isinstance(value, float) and not math.isfinite(value) else value


def _numbers(value: Any) -> Any:
    """What `_plain` gave, with NaN for null."""
    if isinstance(value, dict):
        return {name: _numbers(part) for name, part in value.items()}
    if isinstance(value, list):
        return [_numbers(part) for part in value]
    return math.nan if value is None else value
