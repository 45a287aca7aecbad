"""Live sources: a function that tells values of features when they are asked for, and what it has told."""

from __future__ import annotations

import asyncio
import inspect
import json
import os
import sqlite3
import warnings
from collections import Counter
from collections.abc import Callable, Coroutine, Iterable, Iterator, MutableMapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from contextvars import copy_context
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from seqclass._utils.arrays import IntArray
from seqclass._utils.files import database
from seqclass._utils.frames import FrameEncoder, refuse_dates
from seqclass._utils.text import sentence, shown
from seqclass._utils.validation import check_choice, check_integer
from seqclass.deciding.decider import Decider
from seqclass.deciding.record import AcquisitionRecord, EncodedRows
from seqclass.pomdp import Acquisition
from seqclass.pomdp.acquisition import Histories, begun
from seqclass.pomdp.answers import DataAnswers
from seqclass.pomdp.problem import OPEN
from seqclass.pomdp.walk import Level, walk

#: Rows that go through together where the source is asynchronous.
_TOGETHER = 64
#: Tells our files from other databases: "SEQA".
_NUMBER, _VERSION = 0x53455141, 1
_TABLES = (
    "CREATE TABLE IF NOT EXISTS features (names TEXT NOT NULL)",
    "CREATE TABLE IF NOT EXISTS answers (feature NOT NULL, cases TEXT NOT NULL, told TEXT NOT NULL)",
    "CREATE INDEX IF NOT EXISTS by_feature ON answers (feature)",
)


@dataclass(frozen=True)
class Told:
    """Answers in a mapping of features to mappings of rows to values."""

    kept: MutableMapping[Any, Any]

    def read(self, feature: Any) -> tuple[list[int], list[Any]]:
        """Rows and values of what was told of a feature."""
        told = self.kept.get(feature, {})
        return list(told), list(told.values())

    def write(self, feature: Any, rows: list[int], values: list[Any]) -> None:
        """Keep what was told."""
        self.kept.setdefault(feature, {}).update(zip(rows, values))


@dataclass(frozen=True)
class ToldInFile:
    """The same in a SQLite file, a record a call: all that it told is there, or nothing."""

    path: Path
    connection: sqlite3.Connection

    def check(self, features: str) -> None:
        """Refuse a file about other features."""
        with self.connection:
            known = self.connection.execute("SELECT names FROM features").fetchone()
            if known is None:
                self.connection.execute("INSERT INTO features VALUES (?)", (features,))
        if known is not None and known[0] != features:
            raise ValueError(
                f"kept: {self.path} has answers about other features than the classifier's: name another file."
            )

    def read(self, feature: Any) -> tuple[list[int], list[Any]]:
        """Rows and values of what was told of a feature."""
        query = "SELECT cases, told FROM answers WHERE feature = ? ORDER BY rowid"
        calls = self.connection.execute(query, (feature,)).fetchall()
        rows, values = ([cell for call in calls for cell in json.loads(call[place])] for place in (0, 1))
        return rows, values

    def write(self, feature: Any, rows: list[int], values: list[Any]) -> None:
        """Keep what was told."""
        told = (feature, json.dumps(rows), json.dumps(values, default=_simple))
        with self.connection:
            self.connection.execute("INSERT INTO answers VALUES (?, ?, ?)", told)


def _simple(value: Any) -> Any:
    return value.item() if isinstance(value, np.generic) else str(value)


class _AnswersOnDemand(DataAnswers):
    """What a source tells of some rows, each at the history that it has come to."""

    def __init__(self, source: Source, part: slice, node: IntArray) -> None:
        super().__init__(np.empty((len(node), 0)), None, node, source.decider.charge_missing)
        self._source, self._part = source, part

    def wanted(self, level: Level) -> list[tuple[int, IntArray]]:
        """Features and rows that a level asks about, all features of a bundle."""
        asked = level.question[self._before]
        order = np.argsort(asked, kind="stable")
        ends = np.flatnonzero(np.diff(asked[order])) + 1
        groups = [some for some in np.split(order, ends) if some.size]
        return [
            (feature, self.rows[some] + self._part.start)
            for some in groups
            for feature in level.info.problem.members(int(asked[some[0]])).tolist()
        ]

    def _outcomes(self, some: Any, feature: int) -> IntArray:
        return np.asarray(self._source.codes_of(feature)[self._part][self.rows[some]])


class Source:
    """What a function tells of ``n`` instances; see `DecidingClassifier.acquire`."""

    def __init__(
        self,
        decider: Decider,
        provider: Callable[[IntArray, Any], Any],
        n: int | None,
        kept: Any = None,
        tries: int = 3,
        on_error: str = "missing",
        batch_size: int | None = None,
        concurrency: int = 8,
    ) -> None:
        if not callable(provider):
            raise TypeError(f"provider must be a function of rows and a feature, got {shown(provider)}.")
        if n is None:
            raise ValueError("n: say how many instances provider tells about, as in acquire(provider=ask, n=500).")
        if not (kept is None or isinstance(kept, (str, os.PathLike, MutableMapping))):
            raise TypeError(f"kept must be a path or a dict, got {shown(kept)}.")
        self.decider, self.provider, self.kept = decider, provider, {} if kept is None else kept
        self.n = check_integer(n, "n", 1)
        self.tries = check_integer(tries, "tries", 1)
        self.on_error = check_choice(on_error, "on_error", ("missing", "raise"))
        self.asynchronous = any(map(inspect.iscoroutinefunction, (provider, type(provider).__call__)))
        usual = _TOGETHER if self.asynchronous else self.n
        self.batch_size = check_integer(usual if batch_size is None else batch_size, "batch_size", 1)
        self.concurrency = check_integer(concurrency, "concurrency", 1)
        self._codes: dict[int, IntArray] = {}
        #: Cells that could not be had by feature, and why the last could not.
        self._failed: Counter[Any] = Counter()
        self._why: BaseException | None = None

    def acquire(
        self, *, record_beliefs: bool = False, known: Sequence[Any] = (), budget: int | None = None
    ) -> AcquisitionRecord:
        """Acquire and decide, and tell what was acquired."""
        work = self._all(record_beliefs, self.decider.known(known), budget)
        acquired = _run(work) if self.asynchronous else _at_once(work)
        if self._why is not None:
            cells = ", ".join(f"{shown(name)} ({count})" for name, count in self._failed.items())
            warnings.warn(
                f"cells that provider could not tell after {self.tries} tries count as not available, by feature: "
                f"{cells}. The last time it raised {type(self._why).__name__}: {sentence(self._why)}",
                stacklevel=3,
            )
        return AcquisitionRecord.from_acquisition(acquired, self.decider.decisions, self.decider.support)

    async def _all(self, beliefs: bool, known: IntArray, budget: int | None) -> Acquisition:
        starts = range(0, self.n, self.batch_size)
        parts = iter([slice(start, min(start + self.batch_size, self.n)) for start in starts])
        self._limit = asyncio.Semaphore(self.concurrency)

        async def go_through() -> None:
            for part in parts:
                await self._acquired(part, False, known, budget)

        with self._keeping():
            if len(starts) > 1:
                await self._together(go_through() for _ in range(self.concurrency))
            # all is told by now: the histories of all rows together
            return await self._acquired(slice(0, self.n), beliefs, known, budget)

    @contextmanager
    def _keeping(self) -> Iterator[None]:
        if isinstance(self.kept, MutableMapping):
            self._told: Told | ToldInFile = Told(self.kept)
            yield
            return
        path, names = Path(self.kept), self.decider.feature_names
        with database(path, "answers of a source", _NUMBER, _VERSION, _TABLES) as connection:
            self._told = ToldInFile(path, connection)
            self._told.check(json.dumps(self.decider.n_features if names is None else sorted(map(str, names))))
            yield

    async def _acquired(self, part: slice, beliefs: bool, known: IntArray, budget: int | None) -> Acquisition:
        """Acquire for some rows, level by level."""
        decider, rows = self.decider, np.arange(part.start, part.stop)
        await self._tell([(feature, rows) for feature in known.tolist()])
        columns = np.zeros(decider.support.size, dtype=np.intp)
        codes = np.empty((rows.size, known.size), dtype=np.int32)
        for place, feature in enumerate(known.tolist()):
            codes[:, place], columns[feature] = self.codes_of(feature)[part], place
        keys = rows[:, None].astype(np.float64)  # lots are drawn by the number of the row: nothing else is known
        start, ask = decider.started(EncodedRows(codes, columns, keys), known, budget)
        info, node = begun(decider.policy, keys) if start is None else start
        data = _AnswersOnDemand(self, part, node)
        histories = Histories(decider.policy, data, beliefs, False, ask)
        for level in walk(info, np.zeros(len(info)), histories.ask, data):
            await self._tell(data.wanted(level))
        return histories.result()

    def codes_of(self, feature: int) -> IntArray:
        """Outcomes of a feature of the model, (n,): -1 where it is not available, `OPEN` where nothing was told."""
        if feature not in self._codes:
            self._codes[feature] = codes = np.full(self.n, OPEN, dtype=np.int32)
            cases, told = self._told.read(self._name(feature))
            rows = np.array(cases, dtype=np.intp)
            codes[rows[rows < self.n]] = self._coded(feature, told)[rows < self.n]
        return self._codes[feature]

    async def _tell(self, wanted: list[tuple[int, IntArray]]) -> None:
        await self._together(self._ask(feature, rows) for feature, rows in wanted)

    async def _together(self, work: Iterable[Coroutine[Any, Any, None]]) -> None:
        if self.asynchronous:
            await asyncio.gather(*work)
            return
        for one in work:
            await one

    async def _ask(self, feature: int, rows: IntArray) -> None:
        """Ask for what was not told."""
        codes, name = self.codes_of(feature), self._name(feature)
        rows = rows[codes[rows] == OPEN]
        if not rows.size:
            return
        try:
            given = await self._tried(rows, name)
        except Exception as error:
            if self.on_error == "raise":
                raise
            self._failed[name] += rows.size
            self._why, codes[rows] = error, -1
            return
        values = _values(given, rows.size, name)
        outcomes = self._coded(feature, values)
        self._told.write(name, rows.tolist(), values)
        codes[rows] = outcomes

    async def _tried(self, rows: IntArray, name: Any) -> Any:
        for left in reversed(range(self.tries)):
            try:
                async with self._limit:
                    given = self.provider(rows.copy(), name)
                    return await given if self.asynchronous else given
            except Exception:
                if not left:
                    raise

    def _name(self, feature: int) -> Any:
        column, names = int(self.decider.support[feature]), self.decider.feature_names
        return column if names is None else str(names[column])

    def _coded(self, feature: int, values: list[Any]) -> IntArray:
        """Outcomes of values, as a table with them would have."""
        import pandas as pd

        decider, column = self.decider, int(self.decider.support[feature])
        encoder = FrameEncoder().fit_levels({}) if decider.encoder is None else decider.encoder
        name = encoder.columns_[column] if encoder.columns_ else decider.feature_name(column)
        frame = pd.DataFrame({name: values})
        refuse_dates(frame[name])
        numbers = encoder.encode(frame, decider.handle_unknown)[name].to_numpy(dtype=np.float64, na_value=np.nan)
        if np.isinf(numbers).any():
            raise ValueError(f"provider told infinity of {shown(name)}: correct it, or give None.")
        return decider.coder.code_values(column, numbers)


def _values(given: Any, n: int, name: Any) -> list[Any]:
    """What a function told of so many rows, as a list; None where it is not available."""
    import pandas as pd

    if inspect.isawaitable(given):
        if inspect.iscoroutine(given):
            given.close()
        raise TypeError("provider gives what has to be awaited: define it by async def.")
    values = given.tolist() if hasattr(given, "tolist") else given
    if isinstance(values, (str, bytes, dict, set)) or not isinstance(values, Iterable):
        raise ValueError(f"provider must give an array of values of {shown(name)}, one a row, got {shown(given)}.")
    values = list(values)
    if len(values) != n:
        raise ValueError(
            f"provider gave {len(values)} values of {shown(name)} for {n} rows: give one for each, None where it is "
            "not available."
        )
    missing = pd.isna(pd.Series(values, dtype=object)).tolist()
    return [None if gone else value for value, gone in zip(values, missing)]


def _at_once(work: Coroutine[Any, Any, Acquisition]) -> Acquisition:
    """Run what waits for nothing."""
    try:
        work.send(None)
    except StopIteration as end:
        return end.value  # type: ignore[no-any-return]
    raise AssertionError("nothing waits where the source does not")


def _run(work: Coroutine[Any, Any, Acquisition]) -> Acquisition:
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return asyncio.run(work)
    with ThreadPoolExecutor(1) as beside:  # as in a notebook, which has a loop of its own
        return beside.submit(copy_context().run, asyncio.run, work).result()
