"""What long work is at, on the logger "seqclass" at level INFO: one line as each step begins."""

from __future__ import annotations

import json
import logging
import time
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from math import inf
from typing import Any

#: `seqclass.testing.solvers.count_ticks` puts its own here.
_clock = time.perf_counter
_end: ContextVar[float] = ContextVar("end", default=inf)


class DeadlineExceeded(Exception):
    """The time of the innermost `within` that has run out is over."""


def now() -> float:
    """Seconds on the clock that limits of time are measured by."""
    return _clock()


def remaining_seconds() -> float:
    """Seconds that are left; inf where there is no limit."""
    end = _end.get()
    return end - now() if end < inf else inf


def check_deadline() -> None:
    """Raise `DeadlineExceeded` where no time is left."""
    if remaining_seconds() <= 0:
        raise DeadlineExceeded


@contextmanager
def time_limit(seconds: float) -> Iterator[None]:
    """Limit what is done to so many seconds, or fewer where less is left."""
    before = _end.set(min(_end.get(), now() + seconds) if seconds < inf else _end.get())
    try:
        yield
    finally:
        _end.reset(before)


logger = logging.getLogger("seqclass")
_steps: ContextVar[tuple[str, ...]] = ContextVar("steps", default=())


def log_event(event: str, **about: Any) -> None:
    """Tell of something that happened, as one line of JSON."""
    if logger.isEnabledFor(logging.INFO):
        logger.info("%s", json.dumps({"event": event, **about}))


def tell_share(done: int, total: int) -> None:
    """Tell how many of the parts of the work are done; handlers find the share in the record."""
    logger.info("%d of %d parts done", done, total, extra={"share": done / total})


@contextmanager
def report_progress(step: str) -> Iterator[None]:
    """Tell that a step begins, after those that it is part of."""
    steps = (*_steps.get(), step)
    before = _steps.set(steps)
    logger.info(": ".join(steps))
    try:
        yield
    finally:
        _steps.reset(before)
