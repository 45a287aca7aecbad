"""Live sources: a function that tells values of features when they are asked for, and what it has told."""

from __future__ import annotations

import asyncio
import hashlib
import inspect
import json
import os
import sqlite3
import warnings
from collections import Counter
from collections.abc import Callable, Coroutine, Iterable, Iterator, MutableMapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from contextvars import copy_context
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from seqclass._utils.arrays import IntArray
from seqclass._utils.files import database
from seqclass._utils.frames import FrameEncoder, refuse_dates
from seqclass._utils.tables import count_text
from seqclass._utils.text import join_names, sentence, short_repr
from seqclass._utils.validation import check_choice, check_integer
from seqclass.agent.agent import Agent, feature_name, features_at_start, make_record, start_rows
from seqclass.agent.record import AcquisitionRecord, EncodedRows
from seqclass.pomdp.acquisition import Acquisition, Histories, initial_rows
from seqclass.pomdp.observations import DataObservations
from seqclass.pomdp.problem import OPEN
from seqclass.pomdp.walk import Level, walk

#: Tells our files from other databases: "SEQA".
_NUMBER, _VERSION = 0x53455141, 1
_TABLES = (
    "CREATE TABLE IF NOT EXISTS answers (features TEXT NOT NULL, feature NOT NULL, cases TEXT NOT NULL, told TEXT)",
    "CREATE INDEX IF NOT EXISTS by_feature ON answers (feature)",
)


@dataclass(frozen=True)
class ObservationCache:
    """Answers in a mapping of features to mappings of rows to values, or kept nowhere."""

    kept: MutableMapping[Any, Any] | None

    def read(self, feature: Any) -> tuple[list[int], list[Any]]:
        """Rows and values of what was told of a feature."""
        by_row = {} if self.kept is None else self.kept.get(feature, {})
        return list(by_row), list(by_row.values())

    def write(self, feature: Any, rows: list[int], values: list[Any]) -> None:
        """Keep what was told."""
        if self.kept is not None:
            self.kept.setdefault(feature, {}).update(zip(rows, values))


class ObservationFile:
    """Answers in a SQLite file, a record a call: all that it told is there, or nothing."""

    def __init__(self, path: Path, connection: sqlite3.Connection, features: str) -> None:
        self._connection, self._features = connection, features
        if connection.execute("SELECT 1 FROM answers WHERE features != ? LIMIT 1", (features,)).fetchone():
            raise ValueError(f"kept: {path} has answers about other features than the classifier's: name another file.")

    def read(self, feature: Any) -> tuple[list[int], list[Any]]:
        """Rows and values of what was told of a feature."""
        query = "SELECT cases, told FROM answers WHERE feature = ? ORDER BY rowid"
        rows: list[int] = []
        values: list[Any] = []
        for call in self._connection.execute(query, (feature,)):
            cases, answers = map(json.loads, call)
            if not (isinstance(cases, list) and isinstance(answers, list) and len(cases) == len(answers)):
                raise ValueError(f"rows {short_repr(cases)} and answers {short_repr(answers)} are not as many of each.")
            rows += cases
            values += answers
        return rows, values

    def write(self, feature: Any, rows: list[int], values: list[Any]) -> None:
        """Keep what was told."""
        record = (self._features, feature, json.dumps(rows), json.dumps(values, default=_simple))
        with self._connection:
            self._connection.execute("INSERT INTO answers VALUES (?, ?, ?, ?)", record)


def _simple(value: Any) -> Any:
    return value.item() if isinstance(value, np.generic) else str(value)


class _AnswersOnDemand(DataObservations):
    """What a source tells of some rows, each at the history that it has come to."""

    def __init__(self, source: Source, part: slice, node: IntArray) -> None:
        super().__init__(np.empty((len(node), 0)), None, node, source.agent.charge_missing)
        self._source, self._part = source, part

    def requests(self, level: Level) -> list[tuple[list[int], IntArray]]:
        """Features and rows that a level asks about, those of a bundle together."""
        asked = level.question[self._before]
        order = np.argsort(asked, kind="stable")
        ends = np.flatnonzero(np.diff(asked[order])) + 1
        return [
            (level.belief.problem.structure.members(int(asked[some[0]])).tolist(), self.rows[some] + self._part.start)
            for some in np.split(order, ends)
            if some.size
        ]

    def _outcomes(self, some: Any, feature: int) -> IntArray:
        return np.asarray(self._source.codes_of(feature)[self._part][self.rows[some]])


class Source:
    """What a function tells of ``n`` instances; see `BaseSequentialClassifier.acquire`."""

    def __init__(
        self,
        agent: Agent,
        provider: Callable[[IntArray, Any], Any],
        n: int | None,
        kept: Any = None,
        tries: int = 3,
        on_error: str = "missing",
        batch_size: int | None = None,
        concurrency: int = 8,
    ) -> None:
        if not callable(provider):
            raise TypeError(f"provider must be a function of rows and a feature, got {short_repr(provider)}.")
        if n is None:
            raise ValueError("n: say how many instances provider tells about, as in acquire(provider=ask, n=500).")
        if not (kept is None or isinstance(kept, (str, os.PathLike, MutableMapping))):
            raise TypeError(f"kept must be a path or a dict, got {short_repr(kept)}.")
        self.agent, self.provider, self.kept = agent, provider, kept
        self.n = check_integer(n, "n", 1)
        self.tries = check_integer(tries, "tries", 1)
        self.on_error = check_choice(on_error, "on_error", ("missing", "raise"))
        self.asynchronous = any(map(inspect.iscoroutinefunction, (provider, type(provider).__call__)))
        usual = 64 if self.asynchronous else self.n  # rows that go through together
        self.batch_size = check_integer(usual if batch_size is None else batch_size, "batch_size", 1)
        self.concurrency = check_integer(concurrency, "concurrency", 1)
        self._stop: Callable[[], Any] = lambda: None
        self._codes: dict[int, IntArray] = {}
        #: Cells that could not be had by feature, and why the last could not.
        self._failed: Counter[Any] = Counter()
        self._why: BaseException | None = None

    def acquire(
        self, *, record_beliefs: bool = False, known: Sequence[Any] = (), budget: int | None = None
    ) -> AcquisitionRecord:
        """Acquire and decide, and tell what was acquired."""
        features = np.union1d(features_at_start(self.agent, known), self.agent.known).astype(np.intp)
        work = self._acquire_all(record_beliefs, features, budget)
        acquired = self._run(work) if self.asynchronous else _at_once(work)
        if self._why is not None:
            cells = ", ".join(f"{short_repr(name)} ({count})" for name, count in self._failed.items())
            warnings.warn(
                f"cells that provider could not tell after {self.tries} tries count as not available, by feature: "
                f"{cells}. The last time it raised {type(self._why).__name__}: {sentence(self._why)}",
                stacklevel=3,
            )
        return make_record(self.agent, acquired, known, budget)

    def _run(self, work: Coroutine[Any, Any, Acquisition]) -> Acquisition:
        try:
            asyncio.get_running_loop()
        except RuntimeError:
            return asyncio.run(work)
        with ThreadPoolExecutor(1) as beside:  # as in a notebook, which has a loop of its own
            try:
                return beside.submit(copy_context().run, asyncio.run, work).result()
            except KeyboardInterrupt:  # comes to this thread alone
                with suppress(RuntimeError):  # all is over
                    self._stop()
                raise

    async def _acquire_all(self, beliefs: bool, known: IntArray, budget: int | None) -> Acquisition:
        starts = range(0, self.n, self.batch_size)
        parts = iter([slice(start, min(start + self.batch_size, self.n)) for start in starts])
        self._limit = asyncio.Semaphore(self.concurrency)
        if self.asynchronous and (task := asyncio.current_task()) is not None:
            self._stop = partial(asyncio.get_running_loop().call_soon_threadsafe, task.cancel)

        async def go_through() -> None:
            for part in parts:
                await self._acquire_part(part, False, known, budget)

        with self._open_cache():
            if len(starts) > 1:
                await self._together(go_through() for _ in range(self.concurrency))
            # all is told by now: the histories of all rows together
            return await self._acquire_part(slice(0, self.n), beliefs, known, budget)

    @contextmanager
    def _open_cache(self) -> Iterator[None]:
        if self.kept is None or isinstance(self.kept, MutableMapping):
            self._observations: ObservationCache | ObservationFile = ObservationCache(self.kept)
            yield
            return
        path, names = Path(self.kept), self.agent.feature_names
        with database(path, "answers of a source", _NUMBER, _VERSION, _TABLES) as connection:
            feature_names = json.dumps(self.agent.n_features if names is None else sorted(map(str, names)))
            self._observations = ObservationFile(path, connection, hashlib.sha256(feature_names.encode()).hexdigest())
            yield

    async def _acquire_part(self, part: slice, beliefs: bool, known: IntArray, budget: int | None) -> Acquisition:
        """Acquire for some rows, level by level."""
        agent, rows = self.agent, np.arange(part.start, part.stop)
        await self._together(self._ask([feature], rows) for feature in known.tolist())
        columns = np.zeros(agent.support.size, dtype=np.intp)
        codes = np.empty((rows.size, known.size), dtype=np.int32)
        for place, feature in enumerate(known.tolist()):
            codes[:, place], columns[feature] = self.codes_of(feature)[part], place
        keys = rows[:, None].astype(np.float64)  # lots are drawn by the number of the row: nothing else is known
        start, ask = start_rows(agent, EncodedRows(codes, columns, keys), known, budget)
        belief, node = initial_rows(agent.policy, keys) if start is None else start
        data = _AnswersOnDemand(self, part, node)
        histories = Histories(agent.policy, data, beliefs, False, ask)
        for level in walk(belief, np.zeros(len(belief)), histories.ask, data):
            await self._together(self._ask(*one) for one in data.requests(level))
        return histories.result()

    def codes_of(self, feature: int) -> IntArray:
        """Outcomes of a feature of the model, (n,): -1 where it is not available, `OPEN` where nothing was told."""
        if feature not in self._codes:
            codes = np.full(self.n, OPEN, dtype=np.int32)
            try:
                cases, answers = self._observations.read(self._name(feature))
                _check_rows(cases)
                there = np.array([row < self.n for row in cases], dtype=bool)
                codes[[row for row in cases if row < self.n]] = self._to_outcomes(feature, answers)[there]
            except sqlite3.Error:
                raise
            except Exception as error:  # the ways in which JSON and values of other kinds fail have no end
                where = "the dict" if isinstance(self.kept, MutableMapping) else self.kept
                about = f"answers about {short_repr(self._name(feature))} that cannot be used"
                what = f"{type(error).__name__}: {sentence(error)}"
                raise ValueError(f"kept: {where} holds {about}: remove them, or keep elsewhere. {what}") from error
            self._codes[feature] = codes
        return self._codes[feature]

    async def _together(self, work: Iterable[Coroutine[Any, Any, None]]) -> None:
        if self.asynchronous:
            await asyncio.gather(*work)
            return
        for one in work:
            await one

    async def _ask(self, features: list[int], rows: IntArray) -> None:
        """Ask a question of those rows of which its features were not all told."""
        rows = rows[np.any([self.codes_of(feature)[rows] == OPEN for feature in features], axis=0)]
        if not rows.size:
            return
        question = self._question(features)
        try:
            given = await self._call_provider(rows, question)
        except Exception as error:
            if self.on_error == "raise":
                raise
            self._failed[question] += rows.size
            self._why = error
            for feature in features:
                self._codes[feature][rows] = -1
            return
        names = [self._name(feature) for feature in features]
        answers = [_values(one, rows.size, name) for one, name in zip(_columns(given, question, names), names)]
        outcomes = [self._to_outcomes(feature, values) for feature, values in zip(features, answers)]
        for feature, name, values, outcome in zip(features, names, answers, outcomes):  # once all are known to be right
            self._observations.write(name, rows.tolist(), values)
            self._codes[feature][rows] = outcome

    async def _call_provider(self, rows: IntArray, question: Any) -> Any:
        for left in reversed(range(self.tries)):
            try:
                async with self._limit:
                    given = self.provider(rows.copy(), question)
                    return await given if self.asynchronous else given
            except Exception:
                if not left:
                    raise

    def _name(self, feature: int) -> Any:
        column, names = int(self.agent.support[feature]), self.agent.feature_names
        return column if names is None else str(names[column])

    def _question(self, features: list[int]) -> Any:
        """What a provider is asked for: a feature, or a bundle by its name."""
        prices = self.agent.prices
        if len(features) == 1 or prices.bundles is None:
            return self._name(features[0])
        return str(prices.bundle_names[prices.bundles[self.agent.support[features[0]]]])

    def _to_outcomes(self, feature: int, values: list[Any]) -> IntArray:
        """Outcomes of values, as a table with them would have."""
        import pandas as pd

        agent, column = self.agent, int(self.agent.support[feature])
        encoder = FrameEncoder().fit_levels({}) if agent.encoder is None else agent.encoder
        name = encoder.columns_[column] if encoder.columns_ else feature_name(agent, column)
        frame = pd.DataFrame({name: values})
        refuse_dates(frame[name])
        numbers = encoder.encode(frame, agent.handle_unknown)[name].to_numpy(dtype=np.float64, na_value=np.nan)
        if np.isinf(numbers).any():
            raise ValueError(f"provider told infinity of {short_repr(name)}: correct it, or give None.")
        return agent.coder.code_values(column, numbers)


def _check_rows(rows: list[Any]) -> None:
    """Refuse what is no number of a row."""
    for row in rows:
        if isinstance(row, bool) or not isinstance(row, (int, np.integer)) or row < 0:
            raise ValueError(f"rows are numbered from 0, so that {short_repr(row)} is none.")


def _columns(given: Any, question: Any, names: list[Any]) -> list[Any]:
    """What a function told of each feature of a question."""
    if inspect.isawaitable(given):
        if inspect.iscoroutine(given):
            given.close()
        raise TypeError("provider gives what has to be awaited: define it by async def.")
    if len(names) == 1 and not hasattr(given, "columns"):
        return [given]
    if not hasattr(given, "keys") or any(name not in given for name in names):
        what = (
            f"the bundle {short_repr(question)}, with {join_names(names)}" if len(names) > 1 else short_repr(question)
        )
        raise ValueError(
            f"provider must give a dict or data frame of {what}, got "
            f"{join_names(given.keys()) if hasattr(given, 'keys') else type(given).__name__}."
        )
    return [given[name] for name in names]


def _values(given: Any, n: int, name: Any) -> list[Any]:
    """What a function told of so many rows, as a list; None where it is not available."""
    import pandas as pd

    values = given.tolist() if hasattr(given, "tolist") else given
    if isinstance(values, (str, bytes, dict, set)) or not isinstance(values, Iterable):
        raise ValueError(
            f"provider must give an array of values of {short_repr(name)}, one a row, got {short_repr(given)}."
        )
    values = list(values)
    if len(values) != n:
        raise ValueError(
            f"provider gave {count_text(len(values), 'values')} of {short_repr(name)} for {count_text(n, 'rows')}: "
            "give one for each, None where it is not available."
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
