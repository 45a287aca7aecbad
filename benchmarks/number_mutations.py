"""Which numbers that steer the package no test sees: each is doubled, and tests that read it are run, quickest first.

::

    python benchmarks/number_mutations.py --reads reads.json --results fates.jsonl              # all of them: an hour
    python benchmarks/number_mutations.py --reads reads.json --results some.jsonl --tests tests/bn --under bn
    python benchmarks/number_mutations.py --reads reads.json --results fates.jsonl --again UNSEEN open --seconds 90

A number is a field of a tuning record or stands at module level. What each test of the default suite reads, and how
long it takes, is noted once, in the file of `--reads`; tests that it lacks are added. A test reads a field where it
asks a record for it, and any other number where it enters a function that names it, by itself or as a default. Each
number is tried in a process of its own, which has the tests loaded, and its fate is a line of the file of `--results`:
"seen" by a test that fails, "UNSEEN" by all of `--tests` that read it, "unread" by any, or "open", where time was over
or readers were left out. What has a line there is not tried again, but for fates named by `--again`. Takes Python 3.12.
"""

from __future__ import annotations

import argparse
import contextlib
import importlib
import json
import os
import select
import signal
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import pytest
from _number_reads import Notes
from _numbers import ROOT, Copies, Number, numbers


def forked(work: Callable[[], str], seconds: float) -> str | None:
    """What is worked out in a process of its own, "crash" if it ends before; None where time is over."""
    here, there = os.pipe()
    child = os.fork()
    if not child:
        os.setsid()
        os.close(here)
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        os.dup2(1, 2)
        os.write(there, work().encode())
        os._exit(0)
    os.close(there)
    try:
        ready = select.select([here], [], [], seconds)[0]
        answer = os.read(here, 10_000).decode() if ready else None
    finally:
        os.close(here)
        with contextlib.suppress(ProcessLookupError):
            os.killpg(child, signal.SIGKILL)  # and what it has begun
        os.waitpid(child, 0)
    return "crash" if answer == "" else answer


def run(session: pytest.Session, items: list[pytest.Item], first: bool = True) -> str:
    """Run tests in this process, until one fails if only the ``first`` is asked for; gives the one, or "none"."""
    session.config.get_terminal_writer()._file = open(os.devnull, "w")  # noqa: SIM115
    with contextlib.suppress(ImportError, AttributeError):  # that it fails is enough
        engine: Any = importlib.import_module("hypothesis.internal.conjecture.engine")
        engine.MAX_SHRINKING_SECONDS = 0
    failed: list[str] = []

    class Watch:
        def pytest_runtest_logreport(self, report: Any) -> None:
            failed.extend([report.nodeid] * report.failed)

    session.config.pluginmanager.register(Watch())
    for item, following in zip(items, [*items[1:], None]):
        session.config.hook.pytest_runtest_protocol(item=item, nextitem=following)
        if failed and first:
            return failed[0]
    return "none"


def in_turn(readers: Iterable[tuple[float, str]]) -> list[tuple[float, str]]:
    """The quickest first, but of each test function one cell before the second of any."""
    turn: Counter[str] = Counter()
    turns = []
    for seconds, test in sorted(readers):
        function = test.partition("[")[0]
        turns.append((turn[function], seconds, test))
        turn[function] += 1
    return [(seconds, test) for _, seconds, test in sorted(turns)]


class Mutations:
    """Takes the place of the run of tests, once these are loaded."""

    def __init__(self, options: argparse.Namespace) -> None:
        self.options = options

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        every = list(numbers())
        self.session, self.copies = session, Copies()
        self.items = {item.nodeid: item for item in session.items}
        self.sound: dict[str, bool] = {}
        tests = self.read(every)
        file: Path = self.options.results
        known = [json.loads(line) for line in file.read_text("utf-8").splitlines()] if file.exists() else []
        latest = {line["number"]: line["fate"] for line in known}
        for number in every:
            key = number.key
            if any(key.startswith(under) for under in self.options.under) and (
                key not in latest or latest[key] in self.options.again
            ):
                readers = in_turn((seconds, test) for test, (seconds, reads) in tests.items() if key in reads)
                line = {"number": key, "value": repr(getattr(number.owner, number.name)), **self.fate(number, readers)}
                print(f"{line['fate']:8}{key} = {line['value']}  {line['by']}  {line['tried']}", flush=True)
                with file.open("a", encoding="utf-8") as results:
                    results.write(json.dumps(line) + "\n")
        return True

    def read(self, every: list[Number]) -> dict[str, tuple[float, set[str]]]:
        """What tests read, and their seconds; of those that pass and are loaded."""
        file: Path = self.options.reads
        known = json.loads(file.read_text("utf-8")) if file.exists() else {"names": [], "tests": {}}
        new = [item for test, item in self.items.items() if test not in known["tests"]]
        if new:
            print(f"what {len(new)} tests read", flush=True)

            def note() -> str:
                notes = Notes(every, self.copies)
                self.session.config.pluginmanager.register(notes)
                run(self.session, new, first=False)
                notes.write(file, known)
                return "written"

            if forked(note, 24 * 3600.0) != "written":
                raise RuntimeError("the tests did not come to their end")
            known = json.loads(file.read_text("utf-8"))
        tests = {test: one for test, one in known["tests"].items() if test in self.items}
        return {test: (seconds, {known["names"][n] for n in reads}) for test, (seconds, reads) in tests.items()}

    def fate(self, number: Number, readers: list[tuple[float, str]]) -> dict[str, str]:
        """Try the quickest readers, file by file."""
        while True:
            chosen: list[str] = []
            expected = 0.0
            for seconds, test in readers:
                expected += seconds
                if (expected > self.options.seconds and chosen) or len(chosen) == self.options.most:
                    break
                chosen.append(test)
            if not chosen:
                return {"fate": "unread", "by": "", "tried": "0 of 0"}
            files = list(dict.fromkeys(test.partition("::")[0] for test in chosen))
            items = [self.items[test] for file in files for test in chosen if test.startswith(f"{file}::")]

            def work(items: list[pytest.Item] = items) -> str:
                self.copies.mutate(number)
                return run(self.session, items)

            tried = f"{len(chosen)} of {len(readers)}"
            by = forked(work, 3 * min(expected, self.options.seconds) + 30)
            if by is None:
                return {"fate": "open", "by": "time is over", "tried": tried}
            if by == "none":
                return {"fate": "UNSEEN" if len(chosen) == len(readers) else "open", "by": "", "tried": tried}
            if by == "crash" or self.is_sound(by):
                return {"fate": "seen", "by": by, "tried": tried}
            readers = [reader for reader in readers if reader[1] != by]

    def is_sound(self, test: str) -> bool:
        """Whether a test passes where nothing is doubled, by itself."""
        if test not in self.sound:
            self.sound[test] = forked(lambda: run(self.session, [self.items[test]]), 600.0) == "none"
        return self.sound[test]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--reads", type=Path, required=True, help="file of what tests read, made where it is absent")
    parser.add_argument("--results", type=Path, required=True, help="file of fates, a line each, gone on with")
    parser.add_argument("--tests", nargs="*", default=["tests"], help="files or folders of tests, instead of all")
    parser.add_argument("--under", nargs="*", default=[""], help="beginnings of numbers, such as bn._em")
    parser.add_argument("--again", nargs="*", default=[], help="fates to try again: seen, UNSEEN, unread, open")
    parser.add_argument("--seconds", type=float, default=10.0, help="what the tests of a number may take together")
    parser.add_argument("--most", type=int, default=200, help="most tests of a number")
    options = parser.parse_args()
    options.reads, options.results = options.reads.resolve(), options.results.resolve()
    os.chdir(ROOT)
    left_out = [f"--ignore=tests/{name}.py" for name in ("test_architecture", "test_docs")]
    with tempfile.TemporaryDirectory() as folder:
        how = ["-q", "-p", "no:cacheprovider", "--tb=no", f"--basetemp={folder}/tests", *left_out]
        return int(pytest.main([*how, *options.tests], plugins=[Mutations(options)]))


if __name__ == "__main__":
    sys.exit(main())
