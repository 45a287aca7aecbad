"""Peak memory of one cell."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

_PROCESS = Path("/proc/self")


class PeakMemory:
    """Growth of a process's resident memory over what it held before."""

    def __init__(self) -> None:
        #: Megabytes; NaN where the system does not tell.
        self.mb = float("nan")


@contextmanager
def peak_memory() -> Iterator[PeakMemory]:
    """Measure the peak of resident memory during a block, above what was resident before.

    Linux alone can set the peak of a process back, and does so in no time, where a tracer would slow down what is
    timed here as well; elsewhere the figure is NaN. Threads of the process count too.

    Examples
    --------
    >>> with peak_memory() as peak:
    ...     block = bytearray(4 * 10**7)  # what is this large is never taken from memory that was left over
    >>> bool(peak.mb > 39) or peak.mb != peak.mb
    True
    """
    peak = PeakMemory()
    try:
        (_PROCESS / "clear_refs").write_text("5")
        before = _kilobytes("VmRSS")
    except OSError:
        yield peak
        return
    yield peak
    peak.mb = max(0, _kilobytes("VmHWM") - before) * 1024 / 1e6


def _kilobytes(entry: str) -> int:
    lines = (_PROCESS / "status").read_text().splitlines()
    return int(next(line for line in lines if line.startswith(entry)).split()[1])
