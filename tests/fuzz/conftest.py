"""Bounds that hold for every single input of the long runs."""

from __future__ import annotations

import signal
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

#: Seconds of the processor, which do not hang on what else the machine does, and growth of memory.
SECONDS = 20.0
MEGABYTES = 600.0


def peak_mb() -> float:
    """Most memory that this process has held since it was last asked to forget."""
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith("VmHWM"):
            return int(line.split()[1]) / 1024
    return 0.0


@pytest.fixture
def bounded() -> Callable[..., Any]:
    """Call something, and fail if it takes more than `SECONDS` or `MEGABYTES`."""
    if not Path("/proc/self/clear_refs").exists():
        pytest.skip("memory and seconds of one input are bounded on Linux only")

    def stop(*_: Any) -> None:
        pytest.fail(f"takes more than {SECONDS} seconds")

    def call(function: Callable[[], Any]) -> Any:
        Path("/proc/self/clear_refs").write_text("5")  # forget the peak
        before = peak_mb()
        old = signal.signal(signal.SIGPROF, stop)
        signal.setitimer(signal.ITIMER_PROF, SECONDS)
        try:
            found = function()
        finally:
            signal.setitimer(signal.ITIMER_PROF, 0)
            signal.signal(signal.SIGPROF, old)
        grown = peak_mb() - before
        assert grown < MEGABYTES, f"takes {grown:.0f} MB"
        return found

    return call
