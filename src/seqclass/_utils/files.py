"""Files that are written whole or not at all, and databases."""

from __future__ import annotations

import errno
import hashlib
import json
import os
import re
import secrets
import sqlite3
import stat
import time
from collections.abc import Iterable, Iterator
from contextlib import closing, contextmanager, suppress
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

from seqclass._utils.text import sentence, short_repr

#: Errors of a disk that is full, and of a quota or limit that is reached.
NO_ROOM = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)


def check_regular(path: str | os.PathLike[str], error: type[ValueError] = ValueError) -> None:
    """Refuse what cannot be read back and forth, before anything waits for who writes into it."""
    if os.path.exists(path) and not os.path.isfile(path) and not os.path.isdir(path):
        raise error(f"{os.fspath(path)} is a pipe or a device: write what comes from it to a file first.")


def today() -> str:
    """The day in UTC, by the clock unless ``SOURCE_DATE_EPOCH`` says otherwise, as for builds that are repeated."""
    epoch = os.environ.get("SOURCE_DATE_EPOCH")
    try:
        return datetime.fromtimestamp(time.time() if epoch is None else int(epoch), timezone.utc).date().isoformat()
    except (ValueError, OverflowError, OSError):
        raise ValueError(
            f"SOURCE_DATE_EPOCH of the environment must be whole seconds since 1970, got {short_repr(epoch)}: "
            "set it so, or unset it."
        ) from None


class TwiceError(ValueError):
    """An object of JSON that has an entry twice."""


def read_json(text: str | bytes) -> Any:
    """Content of JSON that a user wrote, in which no object may have an entry twice: only one of them would count."""
    return json.loads(text, object_pairs_hook=_unique)


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    entries: dict[str, Any] = {}
    for name, value in pairs:
        if name in entries:
            raise TwiceError(f"{short_repr(name)} stands twice in one object")
        entries[name] = value
    return entries


@contextmanager
def replace_file(path: str | os.PathLike[str]) -> Iterator[Path]:
    """Give a new file beside ``path`` that takes its place in one step, or vanishes if anything fails."""
    target = Path(os.path.realpath(path))
    if not target.parent.is_dir():
        raise FileNotFoundError(f"cannot write {os.fspath(path)}: there is no folder {target.parent}")
    if target.exists() and not target.is_file():
        raise ValueError(f"cannot write {os.fspath(path)}: it is a folder, device or pipe; name a file.")
    # not by tempfile, whose files nobody else may read: the new file would stay so
    temporary = target.with_name(f"{_temporary_prefix(target)}{os.getpid()}-{secrets.token_hex(4)}{target.suffix}")
    former = target.stat() if target.exists() else None
    try:
        # never open to more people than what it replaces, not while it is written either
        mode = 0o666 if former is None else 0o600
        os.close(os.open(temporary, os.O_CREAT | os.O_EXCL | os.O_WRONLY, mode))
        yield temporary
        with open(temporary, "rb+") as file:
            os.fsync(file.fileno())
        if former is not None:
            with suppress(OSError, AttributeError):  # that of others only who may do all can give back
                os.chown(temporary, former.st_uid, former.st_gid)
            os.chmod(temporary, stat.S_IMODE(former.st_mode))
        os.replace(temporary, target)
    except OSError as error:
        if error.errno not in NO_ROOM and error.filename != str(temporary):
            raise
        raise OSError(error.errno, f"cannot write: {error.strerror}", os.fspath(path)) from error
    finally:
        temporary.unlink(missing_ok=True)


def remove_leftovers(targets: Iterable[Path]) -> None:
    """Remove what `replace_file` left beside some files in processes that were killed."""
    beginnings: dict[Path, set[str]] = {}
    for target in (Path(os.path.realpath(target)) for target in targets):
        beginnings.setdefault(target.parent, set()).add(_temporary_prefix(target))
    for folder, wanted in beginnings.items():
        for file in folder.glob(".seqclass-*"):
            writing = _LEFTOVER.fullmatch(file.name)
            if writing and writing[1] in wanted and not _runs(int(writing[2])):
                with suppress(OSError):
                    file.unlink()


#: What says which file it is to be, and the process that writes it.
_LEFTOVER = re.compile(r"(\.seqclass-[0-9a-f]{8}-)(\d{1,9})-.*")


def _temporary_prefix(target: Path) -> str:
    return f".seqclass-{hashlib.sha256(os.fsencode(target.name)).hexdigest()[:8]}-"


def _runs(process: int) -> bool:
    """Whether another process of that number runs; in a container killed ones and this one often have the same."""
    if process == os.getpid() or os.name != "posix":  # elsewhere what is being written cannot be removed
        return False
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except OSError:
        return True
    return True


#: Seconds to wait for other processes.
_PATIENCE = 60.0
#: What to do about an error of SQLite, by a word of its message.
_HINTS = {
    "full": " Make room and run it again: the parts that are done are kept.",
    "readonly": " Write to another file, or to a copy of it.",
    "locked": " Another process is writing to it.",
}


@contextmanager
def database(path: Path, what: str, number: int, version: int, tables: Iterable[str]) -> Iterator[sqlite3.Connection]:
    """Open a SQLite file of ours, and close it at the end; made and written with statements that create tables."""
    tables = list(tables)
    if not path.absolute().parent.is_dir():
        raise FileNotFoundError(f"cannot write {path}: there is no folder {path.parent}.")
    try:
        with closing(sqlite3.connect(path, timeout=_PATIENCE)) as connection:
            _prepare(connection, path, what, number, version, tables)
            try:
                yield connection
            finally:
                if tables:
                    _put_off_log(connection)
    except sqlite3.OperationalError as error:
        hint = next((hint for word, hint in _HINTS.items() if word in str(error)), "")
        raise OSError(f"cannot {'write' if tables else 'read'} {path}: {sentence(error)}{hint}") from error
    except sqlite3.DatabaseError as error:
        other = "file is not a database" in str(error)
        why = "it is a file of another kind, or damaged." if other else sentence(error)
        raise ValueError(f"{path} cannot be read as {what}: {why}") from error


def _put_off_log(connection: sqlite3.Connection) -> None:
    with suppress(sqlite3.OperationalError):  # somebody is reading, or the disk is full: the log stays on
        connection.rollback()
        connection.execute("PRAGMA busy_timeout = 0")
        connection.execute("PRAGMA journal_mode = DELETE")


def _prepare(
    connection: sqlite3.Connection, path: Path, what: str, number: int, version: int, tables: list[str]
) -> None:
    """Look at a file at one moment, and make it as one: who is killed, or comes second, leaves and sees all or none."""
    connection.execute("BEGIN IMMEDIATE" if tables else "BEGIN")
    with connection:
        names = ("application_id", "user_version")
        application, written = (connection.execute(f"PRAGMA {name}").fetchone()[0] for name in names)
        empty = not connection.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]
        if application != number and not (tables and empty and application == 0):
            raise ValueError(f"{path} is not the file of {what}: it is {'empty' if empty else 'another database'}.")
        if written > version:
            raise ValueError(f"{path} was written by a newer version: upgrade seqclass to read it.")
        if tables and (application, written) != (number, version):
            values = (number, version)
            for statement in (*tables, *(f"PRAGMA {name} = {value}" for name, value in zip(names, values))):
                connection.execute(statement)
    if tables:
        _put_on_log(connection)


def _put_on_log(connection: sqlite3.Connection) -> None:
    """Let others read what is being written; SQLite does not wait by itself where another process opens or closes."""
    pause = 0.05  # seconds
    for _ in range(round(_PATIENCE / pause)):
        try:
            connection.execute("PRAGMA journal_mode = WAL")
            connection.execute("PRAGMA synchronous = NORMAL")  # in WAL this never damages the file
            return
        except sqlite3.OperationalError as error:
            if "locked" not in str(error):
                raise
        time.sleep(pause)
