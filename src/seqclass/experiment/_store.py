"""The file of a run: SQLite, one row a cell, and what is kept beside the cells."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np

from seqclass._utils.files import database
from seqclass._utils.tables import to_json_value
from seqclass._utils.text import near, short_repr
from seqclass.experiment._columns import LABELS, check_row
from seqclass.experiment._keys import key_of

#: Tells our files from other databases: "SEQX".
APPLICATION_ID = 0x53455158
#: Goes up by one with every change that an older seqclass could not read.
FORMAT_VERSION = 1


class Store:
    """An open file of a run."""

    def __init__(self, connection: sqlite3.Connection, path: Path) -> None:
        self._connection = connection
        self._path = path

    def plan(self, cells: Iterable[tuple[str, dict[str, Any], dict[str, Any]]]) -> None:
        """Enter cells that are to be computed, by key, labels and settings; those there are stay as they are."""
        rows = [(key, _text(labels), _text(settings)) for key, labels, settings in cells]
        with self._connection:
            self._connection.executemany(
                "INSERT OR IGNORE INTO cells (key, labels, settings) VALUES (?, ?, ?)",
                rows,
            )

    def put(self, key: str, result: dict[str, Any], parts: Mapping[str, bytes] | None = None) -> None:
        """Keep the result of a cell with its parts, in place of those it had, in one transaction."""
        with self._connection:
            self._connection.execute("UPDATE cells SET result = ? WHERE key = ?", (_text(result), key))
            self._connection.execute("DELETE FROM parts WHERE key = ?", (key,))
            self._connection.executemany(
                "INSERT INTO parts (key, name, content) VALUES (?, ?, ?)",
                [(key, name, content) for name, content in (parts or {}).items()],
            )

    def put_part(self, key: str, name: str, content: bytes) -> None:
        """Keep a part, in place of one of this name, in one transaction; its key need not be that of a cell."""
        with self._connection:
            self._connection.execute(
                "INSERT OR REPLACE INTO parts (key, name, content) VALUES (?, ?, ?)", (key, name, content)
            )

    def part(self, key: str, name: str) -> bytes | None:
        """Return a part, or None if there is none."""
        query = "SELECT content FROM parts WHERE key = ? AND name = ?"
        row = self._connection.execute(query, (key, name)).fetchone()
        if row is not None and not isinstance(row[0], bytes):
            raise self._damage_error(key, f"keeps no {name}, but {short_repr(row[0])}")
        return None if row is None else row[0]

    def keys_with(self, name: str) -> list[str]:
        """Keys that have a part of this name."""
        rows = self._connection.execute("SELECT key FROM parts WHERE name = ? ORDER BY key", (name,)).fetchall()
        return [key for (key,) in rows]

    def results(self, keys: Iterable[str] | None = None) -> dict[str, dict[str, Any]]:
        """Labels and results of the cells that are done, by key; of all of them, or of some in their order."""
        columns = "SELECT key, labels, result FROM cells WHERE result IS NOT NULL"
        if keys is None:
            rows = self._connection.execute(f"{columns} ORDER BY position").fetchall()
            return {key: self._row(key, labels, result) for key, labels, result in rows}
        wanted, results = list(keys), {}
        for start in range(0, len(wanted), 500):  # names in one query
            part = wanted[start : start + 500]
            marks = ", ".join("?" * len(part))
            for key, labels, result in self._connection.execute(f"{columns} AND key IN ({marks})", part):
                results[key] = self._row(key, labels, result)
        return {key: results[key] for key in wanted if key in results}

    def settings(self, key: str) -> dict[str, Any]:
        """Return the settings of a cell."""
        row = self._connection.execute("SELECT settings FROM cells WHERE key = ?", (key,)).fetchone()
        if row is None:
            raise ValueError(f"there is no cell {key!r}.")
        try:
            settings: dict[str, Any] = json.loads(row[0])
            intact = key_of(settings) == key
        except (ValueError, TypeError, RecursionError, AttributeError):
            intact = False
        if not intact:
            raise self._damage_error(key, "has settings that are not its own")
        return settings

    def _row(self, key: str, labels: Any, result: Any) -> dict[str, Any]:
        try:
            return check_row(json.loads(labels), json.loads(result))
        except (ValueError, TypeError, RecursionError) as error:
            raise self._damage_error(key, str(error)) from error

    def _damage_error(self, key: Any, why: str) -> ValueError:
        return ValueError(f"{self._path} is damaged: the cell {short_repr(key)} {why}.")

    def count_missing(self) -> int:
        """Count the cells that were planned and are not done."""
        return int(self._connection.execute("SELECT count(*) FROM cells WHERE result IS NULL").fetchone()[0])


@contextmanager
def open_store(path: Path, *, create: bool = False) -> Iterator[Store]:
    """Open the file of a run, and close it at the end."""
    if not create and not path.is_file():
        raise FileNotFoundError(f"there is no run {path}.")
    tables = (files(__package__) / "schema.sql").read_text(encoding="utf-8").split(";") if create else ()
    with database(path, "a run", APPLICATION_ID, FORMAT_VERSION, tables) as connection:
        yield Store(connection, path)


def _text(content: dict[str, Any]) -> str:
    """JSON, in which what is not finite is null."""
    return json.dumps(to_json_value(content), allow_nan=False)


def filter_table(table: Any, wanted: Mapping[str, Any]) -> Any:
    """Rows of a table of results whose labels are among those wanted."""
    everything = table
    for name, value in wanted.items():
        if value is None:
            continue
        values = list(value) if isinstance(value, (list, tuple, set, np.ndarray)) else [value]
        there = list(dict.fromkeys(everything[name]))
        for label in values:
            if label not in there:
                wish = near(label, there, "it has") if isinstance(label, str) else f"it has {there}."
                raise ValueError(f"the run has no {name} {label!r}: {wish}")
        table = table[table[name].isin(values)]
    if not len(table):
        wish = ", ".join(f"{name} {value!r}" for name, value in wanted.items() if value is not None)
        raise ValueError(f"the run has no cell{' of ' if wish else ' that is done'}{wish}.")
    return table


def of_first(cells: Any) -> Any:
    """Cells of the price and the hard budget of the first one; none of none."""
    if not len(cells):
        return cells
    price, budget = cells["price"].iloc[0], cells["budget"].iloc[0]
    same = cells["budget"].isna() if budget is None or budget != budget else cells["budget"] == budget
    return cells[(cells["price"] == price) & same]


def parts_of(path: Path, cells: Any, name: str) -> list[tuple[dict[str, Any], bytes]]:
    """Labels and parts of those cells of a table that have one."""
    with open_store(path) as store:
        parts = [(dict(zip(LABELS, row)), store.part(key, name)) for key, *row in cells[list(LABELS)].itertuples()]
    kept = [(labels, content) for labels, content in parts if content is not None]
    if not kept:
        raise ValueError(
            f"no {name} are kept of these cells: they failed, or were run with keep_{name}=0; run "
            "them again with another file."
        )
    return kept
