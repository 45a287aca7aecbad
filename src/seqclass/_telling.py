"""What long work is at, on the logger "seqclass" at level INFO: one line as each step begins."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

logger = logging.getLogger("seqclass")
_steps: ContextVar[tuple[str, ...]] = ContextVar("steps", default=())


@contextmanager
def telling(step: str) -> Iterator[None]:
    """Tell that a step begins, after those that it is part of.

    Examples
    --------
    >>> import sys
    >>> handler = logging.StreamHandler(sys.stdout)
    >>> logger.addHandler(handler)
    >>> logger.setLevel(logging.INFO)
    >>> with telling("fold 1 of 5"), telling("model"):
    ...     pass
    fold 1 of 5
    fold 1 of 5: model
    >>> logger.removeHandler(handler)
    >>> logger.setLevel(logging.NOTSET)
    """
    steps = (*_steps.get(), step)
    before = _steps.set(steps)
    logger.info(": ".join(steps))
    try:
        yield
    finally:
        _steps.reset(before)
