"""A process of its own that is killed in the middle: a copy of this one, in which everything is imported already."""

from __future__ import annotations

import multiprocessing
import os
import warnings
from collections.abc import Callable
from typing import Any

import pytest

needs_fork = pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork on Windows")


def forked(function: Callable[..., Any], *arguments: Any) -> Any:
    """The process, started; it has ``kill``, ``join``, ``is_alive`` and ``exitcode``."""
    process = multiprocessing.get_context("fork").Process(target=function, args=arguments)
    with warnings.catch_warnings():
        # threads are the test runner's
        warnings.filterwarnings("ignore", "This process .* is multi-threaded", DeprecationWarning)
        process.start()
    return process
