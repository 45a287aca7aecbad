"""What tests read of the numbers that steer the package: a plugin of pytest that notes it as they run."""

from __future__ import annotations

import json
import sys
import time
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from types import CodeType, FunctionType
from typing import Any

import pytest
from _numbers import Copies, Number


class Notes:
    """What tests read, and how long they take, as they run; what a shared fixture reads belongs to all that have it."""

    def __init__(self, every: list[Number], copies: Copies) -> None:
        self.reads: set[str] = set()
        self.fixtures: dict[tuple[str, str], tuple[set[str], float]] = {}
        self.tests: dict[str, tuple[float, set[str]]] = {}
        self.failed: set[str] = set()
        self.shared = 0.0  # seconds of fixtures, of this test
        self.named: dict[str, dict[str, set[str]]] = defaultdict(lambda: defaultdict(set))
        self.codes: dict[CodeType, set[str]] = {}
        for number in every:
            names, found = copies.of(number)
            for module, known in names.items():
                for name in known:
                    self.named[str(sys.modules[module].__file__)][name].add(number.key)
            for scope in [one.scope for one in found if one.path]:
                if isinstance(scope, FunctionType):
                    self.keys(scope.__code__).add(number.key)
        for kind in {type(number.owner) for number in every if number.owner is not number.module}:
            self.note_fields(kind, {one.name: one.key for one in every if type(one.owner) is kind})
        self.watch()

    def note_fields(self, kind: Any, keys: dict[str, str]) -> None:
        def get(record: Any, name: str) -> Any:
            if name in keys and not sys._getframe(1).f_code.co_filename.endswith("dataclasses.py"):  # a replaced record
                self.reads.add(keys[name])
            return object.__getattribute__(record, name)

        kind.__getattribute__ = get

    def watch(self) -> None:
        monitoring: Any = sys.monitoring  # type: ignore[attr-defined, unused-ignore]

        def note(code: CodeType, offset: int) -> Any:
            self.reads.update(self.keys(code))
            return monitoring.DISABLE

        monitoring.use_tool_id(monitoring.OPTIMIZER_ID, "numbers")
        monitoring.register_callback(monitoring.OPTIMIZER_ID, monitoring.events.PY_START, note)
        monitoring.set_events(monitoring.OPTIMIZER_ID, monitoring.events.PY_START)
        self.watch_anew = monitoring.restart_events

    def keys(self, code: CodeType) -> set[str]:
        """Of the numbers that a function names."""
        if code not in self.codes:
            named = self.named.get(code.co_filename, {})
            self.codes[code] = {key for name in code.co_names if name in named for key in named[name]}
        return self.codes[code]

    @pytest.hookimpl(wrapper=True)
    def pytest_fixture_setup(self, fixturedef: Any) -> Iterator[Any]:
        if fixturedef.scope == "function":
            return (yield)
        outer, self.reads, shared, begin = self.reads, set(), self.shared, time.monotonic()
        self.watch_anew()
        try:
            return (yield)
        finally:
            seconds = time.monotonic() - begin - (self.shared - shared)  # of those within it, left out
            self.fixtures[fixturedef.baseid, fixturedef.argname] = self.reads, seconds
            self.shared, self.reads = self.shared + seconds, outer
            self.watch_anew()

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: Any) -> Iterator[Any]:
        self.reads, self.shared, begin = set(), 0.0, time.monotonic()
        self.watch_anew()
        try:
            return (yield)
        finally:
            fixtures = [one for known in item._fixtureinfo.name2fixturedefs.values() for one in known]
            kept = [self.fixtures.get((one.baseid, one.argname), (set(), 0.0)) for one in fixtures]
            seconds = time.monotonic() - begin - self.shared + sum(one for _, one in kept)
            self.tests[item.nodeid] = seconds, self.reads.union(*(reads for reads, _ in kept))

    def pytest_runtest_logreport(self, report: Any) -> None:
        if not report.passed:  # skipped ones see nothing either
            self.failed.add(report.nodeid)

    def write(self, file: Path, known: dict[str, Any]) -> None:
        passed = {test: one for test, one in self.tests.items() if test not in self.failed}
        names = sorted({*known["names"], *(key for _, reads in passed.values() for key in reads)})
        at = {name: n for n, name in enumerate(names)}
        tests = {test: [t, [at[known["names"][n]] for n in reads]] for test, (t, reads) in known["tests"].items()}
        tests |= {test: [round(t, 3), sorted(map(at.__getitem__, reads))] for test, (t, reads) in passed.items()}
        tests |= {test: [0.0, []] for test in self.failed}
        file.write_text(json.dumps({"names": names, "tests": tests}), "utf-8")
