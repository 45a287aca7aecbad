"""Files of runs, made and read by their format alone."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable
from contextlib import closing
from pathlib import Path
from typing import Any

#: The format, told once more: a change of it that old files do not survive is seen.
FORMAT = """
PRAGMA application_id = 0x53455158;
PRAGMA user_version = 1;
CREATE TABLE IF NOT EXISTS cells (
    position INTEGER PRIMARY KEY, key TEXT NOT NULL UNIQUE, labels TEXT NOT NULL, settings TEXT NOT NULL, result TEXT
);
CREATE TABLE IF NOT EXISTS parts (
    key TEXT NOT NULL, name TEXT NOT NULL, content BLOB NOT NULL, PRIMARY KEY (key, name)
) WITHOUT ROWID;
"""


def write_cells(path: Path, cells: Iterable[tuple[dict[str, Any], dict[str, Any]]]) -> None:
    """Add cells that are done, by labels and results; their keys are the numbers of their rows."""
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.executescript(FORMAT)
        (before,) = connection.execute("SELECT count(*) FROM cells").fetchone()
        rows = [
            (str(before + i), json.dumps({"budget": None, **labels}), json.dumps(found))
            for i, (labels, found) in enumerate(cells)
        ]
        connection.executemany("INSERT INTO cells (key, labels, settings, result) VALUES (?, ?, '{}', ?)", rows)


def write_part(path: Path, key: str, name: str, content: bytes) -> None:
    """Add a part; its key need not be that of a cell."""
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.executescript(FORMAT)
        connection.execute("INSERT INTO parts VALUES (?, ?, ?)", (key, name, content))


def read_parts(path: Path) -> dict[tuple[str, str], bytes]:
    """All that a file keeps beside its cells, by key and name."""
    with closing(sqlite3.connect(path)) as connection:
        return {(key, name): part for key, name, part in connection.execute("SELECT key, name, content FROM parts")}
