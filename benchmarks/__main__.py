"""All benchmarks one after the other, each in a process of its own: one file of figures and a page of ratios.

    python -m benchmarks [--only NAME ...] [--full] [--resume] [--limit SECONDS] [--data DIR] [--json FILE]
        [--page FILE]
    python -m benchmarks --list

Runs are quick ones unless ``--full`` is given: tiny sizes, which say whether a script runs, not how fast. The files are
written anew after each script, so that what fails, hangs or is interrupted loses no other's figures; ``--resume`` goes
on with a file that is there, and runs what has no figures yet. The exit code is 1
if a script failed or did not end within the limit, and 0 otherwise; a script that has nothing to work on, because a
peer or data are absent, is skipped, and the page says why.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import fields
from datetime import datetime, timezone
from importlib import metadata
from pathlib import Path
from typing import Any

import seqclass
from benchmarks._common import LEFT_OUT, PEAK_IS, Row, write_json
from benchmarks._page import page
from seqclass._utils.files import replace_file

HERE = Path(__file__).resolve().parent
#: Scripts that count rather than measure.
COUNTING = {"lines", "number_mutations"}
#: What the figures hang on.
PACKAGES = ("numpy", "scipy", "scikit-learn", "pgmpy", "pomdp-py")
#: One thread, unless the caller has set something else: ratios are of the work, not of the number of processors.
THREADS = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}


def names() -> list[str]:
    """Names of the scripts that measure."""
    return sorted({file.stem for file in HERE.glob("[!_]*.py")} - COUNTING)


def versions() -> dict[str, str | None]:
    """Version of Python, of us and of what we are built on or compared with; None for what is not installed."""
    found: dict[str, str | None] = {"python": platform.python_version(), "seqclass": seqclass.__version__}
    for package in PACKAGES:
        found[package] = None
        with suppress(metadata.PackageNotFoundError):
            found[package] = metadata.version(package)
    return found


def processor() -> str:
    """Make of the processor; empty where the system does not say."""
    with suppress(OSError):
        for line in Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.processor()


def run(script: Path, full: bool, limit: float, environment: dict[str, str]) -> tuple[dict[str, Any], list[Any]]:
    """Run one script: what became of it, and its rows.

    ``status`` is "done"; "skipped", if it had nothing to work on; "failed"; or "too long".
    """
    when = {
        "started": datetime.now(timezone.utc).isoformat(timespec="minutes"),
        "load": round(os.getloadavg()[0], 1) if hasattr(os, "getloadavg") else None,
    }
    with tempfile.TemporaryDirectory() as folder:
        target = Path(folder, "rows.json")
        command = [sys.executable, str(script), "--json", str(target), *([] if full else ["--quick"])]
        began = time.perf_counter()
        code, output, errors = _ended(command, limit, environment)
        seconds = time.perf_counter() - began
        rows, wrong = _rows(target) if code == 0 else ([], None)
    left_out = [line.removeprefix(LEFT_OUT) for line in output.splitlines() if line.startswith(LEFT_OUT)]
    status, reason = "done", wrong
    if code is None:
        status, reason = "too long", f"it did not end within {limit:g} s"
    elif code or wrong:
        last = (errors.strip() or f"it ended with exit code {code}").splitlines()[-1]
        status, reason = "failed", wrong or last
        print(f"\n{errors}", file=sys.stderr, end="", flush=True)
    elif not rows:
        status, reason = "skipped", "; ".join(left_out)
        if not left_out:
            status, reason = "failed", "it wrote no rows, and did not say what it left out"
    told = {"name": script.stem, "status": status, "seconds": seconds, "reason": reason, "left_out": left_out, **when}
    return told, rows


def _ended(command: list[str], limit: float, environment: dict[str, str]) -> tuple[int | None, str, str]:
    """Exit code, None if the limit was reached, and what a command printed."""
    process = subprocess.Popen(
        command,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=environment,
        encoding="utf-8",
        errors="replace",
        start_new_session=True,  # so that what it starts can be ended with it
    )
    try:
        output, errors = process.communicate(timeout=limit)
        return process.returncode, output, errors
    except subprocess.TimeoutExpired:
        return None, *_stopped(process)
    except BaseException:
        _stopped(process)
        raise


def _stopped(process: subprocess.Popen[str]) -> tuple[str, str]:
    """End a script and the processes that it started."""
    if hasattr(os, "killpg"):
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
    else:
        process.kill()
    return process.communicate()


def _rows(file: Path) -> tuple[list[Any], str | None]:
    """Rows that a script wrote, and what is wrong with them."""
    if not file.is_file():
        return [], None
    try:
        rows = json.loads(file.read_text(encoding="utf-8"))
    except ValueError as error:
        return [], f"its rows are no JSON: {error}"
    if not isinstance(rows, list) or not all(isinstance(row, dict) for row in rows):
        return [], "its JSON is no list of rows"
    lacking = [field.name for field in fields(Row) if any(field.name not in row for row in rows)]
    return ([], f"its rows lack {', '.join(lacking)}") if lacking else (rows, None)


def parsed(arguments: Sequence[str] | None) -> argparse.Namespace:
    """Settings of the run."""
    made = argparse.ArgumentParser("python -m benchmarks", description=(__doc__ or "").partition("\n")[0])
    known = names()
    made.add_argument("--list", action="store_true", help="print the names of the benchmarks and end")
    made.add_argument("--only", nargs="+", metavar="NAME", choices=known, default=known, help="only these")
    made.add_argument("--full", action="store_true", help="the sizes that count: hours; without it tiny ones")
    made.add_argument("--resume", action="store_true", help="keep what the file of --json has, and run what it lacks")
    made.add_argument("--limit", metavar="SECONDS", type=_positive, default=600.0, help="of each script (default 600)")
    made.add_argument("--data", metavar="DIR", type=Path, help="folder of the data sets (default $SEQCLASS_DATA)")
    made.add_argument(
        "--json", metavar="FILE", type=Path, default=Path("benchmarks.json"), help="(default %(default)s)"
    )
    made.add_argument("--page", metavar="FILE", type=Path, default=Path("benchmarks.md"), help="(default %(default)s)")
    found = made.parse_args(arguments)
    for option in ("json", "page"):
        folder = getattr(found, option).resolve().parent
        if not folder.is_dir():  # said now, not after hours
            made.error(f"argument --{option}: there is no folder {folder}")
    if found.data is not None and not found.data.is_dir():
        made.error(f"argument --data: there is no folder {found.data}")
    return found


def _positive(text: str) -> float:
    seconds = float(text)
    if not seconds > 0:
        raise argparse.ArgumentTypeError(f"must be above 0, got {text}")
    return seconds


def _header(given: argparse.Namespace, environment: dict[str, str]) -> dict[str, Any]:
    """What a run is, with nothing run yet."""
    return {
        "mode": "full" if given.full else "quick",
        "system": f"{platform.system()} {platform.machine()}",
        "processor": processor(),
        "cpu_count": os.cpu_count(),
        "threads": {name: environment[name] for name in THREADS},
        "peak_is": PEAK_IS,
        "versions": versions(),
        "not_asked": [name for name in names() if name not in given.only],
        "scripts": [],
        "rows": [],
    }


#: What has to be the same for figures to stand in one file.
_SAME = ("mode", "system", "processor", "cpu_count", "threads", "versions")


def _begun(given: argparse.Namespace, environment: dict[str, str]) -> tuple[dict[str, Any], list[str]]:
    """The run so far, and the names of what is left to run."""
    result = _header(given, environment)
    if not given.resume or not given.json.exists():
        return result, given.only
    before = json.loads(given.json.read_text(encoding="utf-8"))
    differ = [key for key in _SAME if before.get(key) != result[key]]
    if differ:
        sys.exit(
            f"{given.json} is of another run: {', '.join(differ)} differ; name another file, or leave out --resume"
        )
    ended = {told["name"] for told in before["scripts"] if told["status"] in ("done", "skipped")}
    left = [name for name in given.only if name not in ended]
    for key, name in (("scripts", "name"), ("rows", "benchmark")):
        result[key] = [part for part in before[key] if part[name] not in left]
    told = {part["name"] for part in result["scripts"]}
    result["not_asked"] = [name for name in result["not_asked"] if name not in told]
    return result, left


def _order(result: dict[str, Any]) -> None:
    """Scripts and their rows by name, whenever they ran."""
    result["scripts"].sort(key=lambda told: told["name"])
    result["rows"].sort(key=lambda row: row["benchmark"])


def _write(result: dict[str, Any], given: argparse.Namespace) -> None:
    write_json(result, given.json)
    with replace_file(given.page) as temporary:
        temporary.write_text(page(result), encoding="utf-8")


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the benchmarks; the exit code."""
    given = parsed(arguments)
    if given.list:
        print(*names(), sep="\n")
        return 0
    environment = {**THREADS, **os.environ, "PYTHONIOENCODING": "utf-8"}
    if given.data is not None:
        environment["SEQCLASS_DATA"] = str(given.data.resolve())
    result, left = _begun(given, environment)
    for number, name in enumerate(left, 1):
        print(f"[{number} of {len(left)}] {name}", end=" ", flush=True)
        told, rows = run(HERE / f"{name}.py", given.full, given.limit, environment)
        result["scripts"].append(told)
        result["rows"] += [{"benchmark": name, **row} for row in rows]
        _order(result)
        why = f" ({told['reason']})" if told["reason"] else ""
        print(f"{told['status']}{why}, {len(rows)} rows, {told['seconds']:.1f} s", flush=True)
        _write(result, given)
    if not left:
        _write(result, given)
    bad = [told["name"] for told in result["scripts"] if told["status"] in ("failed", "too long")]
    print(f"Wrote {given.json} and {given.page}." + (f" Without figures: {', '.join(bad)}." if bad else ""))
    return 1 if bad else 0


if __name__ == "__main__":
    # told to end, it ends what it started
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    sys.exit(main())
