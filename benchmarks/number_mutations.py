"""Which numbers that steer the package no test sees: each is doubled, and the tests of its file are run.

::

    python benchmarks/number_mutations.py                 # all of them: hours
    python benchmarks/number_mutations.py bn exams.skills --seconds 60

A number is a field of a tuning record or stands at module level. The tests of a file are those of its name and those
that import it, or those of its readers, the shortest ones. What runs into the time limit is open, and so is a number
that others have copied into a signature. Each is tried in a process of its own, which has the package loaded.
"""

from __future__ import annotations

import argparse
import importlib
import os
import re
import signal
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[1]
SOURCE = ROOT / "src" / "seqclass"


def double(value: Any) -> Any:
    """Twice a number, 1 in place of 0, or all numbers of a tuple, list or dict; None of anything else."""
    if isinstance(value, (tuple, list)) and value:
        parts = [double(part) for part in value]
        return None if None in parts else type(value)(parts)
    if isinstance(value, dict) and value:
        parts = [double(part) for part in value.values()]
        return None if None in parts else dict(zip(value, parts))
    return (2 * value or 1) if isinstance(value, (int, float)) and not isinstance(value, bool) else None


def numbers(module: Any) -> Iterator[tuple[Any, str, Any]]:
    """Owner, name and value of the numbers of a module: fields of its tuning records, and what stands by itself."""
    source = Path(module.__file__).read_text("utf-8")
    for name, value in list(vars(module).items()):
        if type(value).__name__.endswith("Tuning") and type(value).__module__ == module.__name__:
            yield from ((value, field, one) for field, one in vars(value).items() if double(one) is not None)
        elif double(value) is not None and re.search(
            rf"^[\w, ]*\b{name}\b[\w, ]*(: [^=\n]+)? = ", source, re.MULTILINE
        ):
            yield module, name, value


def pick_tests(module: Any, most: int) -> list[str]:
    """Test files of a module: by its name, then those that import it, else those of its readers; the shortest first."""
    name = module.__name__.rpartition(".")[2].strip("_")
    tests = sorted((ROOT / "tests").rglob("test_*.py"), key=lambda test: test.stat().st_size)
    tests = [test for test in tests if test.stem not in ("test_architecture", "test_docs")]
    chosen = [test for test in tests if test.stem == f"test_{name}"]
    chosen += [test for test in tests if re.search(rf"\b{module.__name__}\b", test.read_text("utf-8"))]
    if not chosen:
        readers = [file for file in SOURCE.rglob("*.py") if f"from {module.__name__} import" in file.read_text("utf-8")]
        chosen = [
            test for test in tests if test.stem.removeprefix("test_") in {file.stem.strip("_") for file in readers}
        ]
    return [str(test.relative_to(ROOT)) for test in list(dict.fromkeys(chosen))[:most]]


def is_seen(owner: Any, name: str, value: Any, tests: list[str], seconds: float) -> bool | None:
    """Whether a test fails where a number is doubled; None where time is over."""
    child = os.fork()
    if not child:
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        os.dup2(1, 2)
        object.__setattr__(owner, name, double(value))
        for module in [one for key, one in sys.modules.items() if key.startswith("seqclass")]:
            if owner in sys.modules.values() and vars(module).get(name) is value:
                setattr(module, name, double(value))
        os._exit(int(pytest.main(["-xq", "-p", "no:cacheprovider", *tests])) and 1)
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        done, status = os.waitpid(child, os.WNOHANG)
        if done:
            return status != 0
        time.sleep(0.1)
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    return None


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("under", nargs="*", default=[""], help="beginnings of modules within the package")
    parser.add_argument("--seconds", type=float, default=120.0, help="time limit of the tests of a number")
    parser.add_argument("--tests", type=int, default=3, help="most test files of a number")
    options = parser.parse_args()
    os.chdir(ROOT)
    for file in sorted(SOURCE.rglob("*.py")):
        name = ".".join(file.relative_to(SOURCE).with_suffix("").parts).removesuffix("__init__").rstrip(".")
        if not name or name == "__main__" or not any(name.startswith(under) for under in options.under):
            continue
        module = importlib.import_module(f"seqclass.{name}")
        for owner, number, value in numbers(module):
            tests = pick_tests(module, options.tests)
            seen = is_seen(owner, number, value, tests, options.seconds) if tests else False
            fate = {True: "seen", False: "UNSEEN", None: "open"}[seen]
            print(f"{fate:8}{name}.{number} = {value}  {' '.join(tests) or 'no tests'}", flush=True)


if __name__ == "__main__":
    main()
