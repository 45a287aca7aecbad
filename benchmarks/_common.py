"""What the benchmark scripts share: timing, peak memory, a table for people and JSON for machines.

A script measures its rows with :func:`measure`, and ends with :func:`report`::

    arguments = parser(__doc__).parse_args()
    rows = [measure("predict", ours, peer="CategoricalNB.predict", peer_call=theirs, repeats=arguments.repeats)]
    report(rows, arguments.json)
"""

from __future__ import annotations

import argparse
import gc
import importlib.util
import json
import multiprocessing
import os
import sys
import time
import tracemalloc
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from multiprocessing.connection import Connection
from pathlib import Path
from types import ModuleType
from typing import Any

from seqclass._utils.files import replace_file

#: Scripts are run by their paths, too, and what stands beside their folder is then not found by itself.
if (ROOT := str(Path(__file__).resolve().parents[1])) not in sys.path:
    sys.path.append(ROOT)

Call = Callable[[], Any]

#: How a line begins that says what is left out.
LEFT_OUT = "left out: "

#: How `peak_mb` comes about on this system.
PEAK_IS = (
    "resident memory of a forked child that makes the call, its inputs included (ru_maxrss)"
    if hasattr(os, "fork")
    else "memory that Python and numpy allocate during the call (tracemalloc)"
)


@dataclass(frozen=True)
class Row:
    """One line of a benchmark; a row without a peer has neither ``peer_s`` nor ``ratio``."""

    name: str
    ours_s: float  # seconds, best of the repeats
    peer: str | None  # what we are compared with
    peer_s: float | None
    ratio: float | None  # peer_s / ours_s: above 1 we are faster
    peak_mb: float | None  # peak memory of our call, see PEAK_IS


def parser(description: str | None) -> argparse.ArgumentParser:
    """Argument parser with what every benchmark takes; add more to it."""
    made = argparse.ArgumentParser(
        description=(description or "").strip().partition("\n")[0], conflict_handler="resolve"
    )
    made.add_argument("--json", metavar="FILE", type=Path, help="write the rows to FILE as a JSON list")
    made.add_argument("--quick", action="store_true", help="tiny sizes: does it run, not how fast")
    made.add_argument("--repeats", metavar="N", type=int, default=3, help="timed runs, best counts (default 3)")
    return made


def best_of(call: Call, repeats: int = 3) -> float:
    """Seconds of the fastest of ``repeats`` runs, after one that does not count."""
    if repeats < 1:
        raise ValueError(f"repeats must be at least 1, got {repeats}")
    call()
    return min(_seconds(call) for _ in range(repeats))


def _seconds(call: Call) -> float:
    gc.collect()
    start = time.perf_counter()
    call()
    return time.perf_counter() - start


def peak_mb(call: Call) -> float:
    """Peak memory of one call in MB; ``PEAK_IS`` says of what kind."""
    return apart(call)[1]


def apart(call: Call) -> tuple[float, float]:
    """Seconds of the processor and peak memory in MB of one call, in a process of its own where there is `fork`."""
    if not hasattr(os, "fork"):
        tracemalloc.start()
        began = time.process_time()
        try:
            call()
            return time.process_time() - began, tracemalloc.get_traced_memory()[1] / 1e6
        finally:
            tracemalloc.stop()
    # forked, so that the call sees the inputs that are in memory, and earlier peaks do not count
    context = multiprocessing.get_context("fork")
    receiver, sender = context.Pipe(duplex=False)
    child = context.Process(target=_send_usage, args=(call, sender))
    child.start()
    sender.close()
    try:
        usage: tuple[float, float] = receiver.recv()
    except EOFError:
        child.join()
        raise RuntimeError(f"the call ended with exit code {child.exitcode} while its memory was measured") from None
    child.join()
    return usage


def _send_usage(call: Call, sender: Connection) -> None:
    import resource  # POSIX only

    began = time.process_time()
    call()
    seconds = time.process_time() - began
    unit = 1 if sys.platform == "darwin" else 1024  # bytes there, kilobytes elsewhere
    sender.send((seconds, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit / 1e6))


def measure(
    name: str,
    call: Call,
    *,
    peer: str | None = None,
    peer_call: Call | None = None,
    repeats: int = 3,
    peer_repeats: int | None = None,
    peer_scale: float = 1.0,
    memory: bool = True,
) -> Row:
    """Time our call, and the peer's beside it; a peer that takes minutes may have fewer repeats.

    Parameters
    ----------
    name : str
        What is measured.
    call : callable
        Our side, without arguments.
    peer : str, optional
        Name of the other side.
    peer_call : callable, optional
        The other side.
    repeats, peer_repeats : int
        Timed runs after the warm-up, of which the best counts; 0 times the first run.
    peer_scale : float
        What the peer's seconds are multiplied by where it does a part of the work only; name the part in ``peer``.
    memory : bool
        Whether to run our call once more for its peak memory.
    """
    if (peer is None) != (peer_call is None):
        raise ValueError("peer and peer_call belong together: give both or neither")
    ours_s = best_of(call, repeats) if repeats else _seconds(call)
    peer_s = None
    if peer_call is not None:
        times = repeats if peer_repeats is None else peer_repeats
        peer_s = peer_scale * (best_of(peer_call, times) if times else _seconds(peer_call))
    ratio = None if peer_s is None else peer_s / ours_s
    return Row(name, ours_s, peer, peer_s, ratio, peak_mb(call) if memory else None)


def report(rows: Sequence[Row], path: str | os.PathLike[str] | None = None) -> None:
    """Print the rows as a table, and write them to ``path`` as JSON if one is given."""
    table = [("", "ours s", "peer s", "peer/ours", "peak MB", "peer")]
    for row in rows:
        numbers = (f"{row.ours_s:.4g}", _shown(row.peer_s), _shown(row.ratio), _shown(row.peak_mb))
        table.append((row.name, *numbers, row.peer or ""))
    widths = [max(len(line[column]) for line in table) for column in range(len(table[0]))]
    for name, *cells, peer in table:
        numbers_shown = "  ".join(cell.rjust(width) for cell, width in zip(cells, widths[1:-1]))
        print(f"{name.ljust(widths[0])}  {numbers_shown}  {peer}".rstrip())
    print(f"peak MB: {PEAK_IS}")
    if path is not None:
        write_json([asdict(row) for row in rows], path)


def left_out(what: str, why: str) -> None:
    """Say what a script does without; ``python -m benchmarks`` collects these lines."""
    print(f"{LEFT_OUT}{what}: {why}", flush=True)


def needed(module: str) -> ModuleType:
    """Import a peer without which a script has nothing to do: if it is not installed, the script ends and says so."""
    if importlib.util.find_spec(module) is None:
        left_out("everything", f"{module} is not installed")
        raise SystemExit
    return importlib.import_module(module)


def _shown(number: float | None) -> str:
    return "-" if number is None else f"{number:.4g}"


def write_json(value: Any, path: str | os.PathLike[str]) -> None:
    """Write JSON whole or not at all: a benchmark that is cut short leaves the old file as it was."""
    with replace_file(path) as temporary:
        temporary.write_text(json.dumps(value, indent=2, allow_nan=False) + "\n", encoding="utf-8")
