"""Files that are written whole or not at all."""

from __future__ import annotations

import errno
import hashlib
import os
import re
import secrets
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

#: Errors of a disk that is full, and of a quota or limit that is reached.
NO_ROOM = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)


@contextmanager
def replacing(path: str | os.PathLike[str]) -> Iterator[Path]:
    """Give a new file beside ``path`` that takes its place in one step, or vanishes if anything fails."""
    target = Path(os.path.realpath(path))
    if not target.parent.is_dir():
        raise FileNotFoundError(f"cannot write {os.fspath(path)}: there is no folder {target.parent}")
    if target.exists() and not target.is_file():
        raise ValueError(f"cannot write {os.fspath(path)}: it is a folder, device or pipe; name a file.")
    # not by tempfile, whose files nobody else may read: the new file would stay so
    temporary = target.with_name(f"{_beginning(target)}{os.getpid()}-{secrets.token_hex(4)}{target.suffix}")
    try:
        yield temporary
        with open(temporary, "rb+") as file:
            os.fsync(file.fileno())
        os.replace(temporary, target)
    except OSError as error:
        if error.errno not in NO_ROOM and error.filename != str(temporary):
            raise
        raise OSError(error.errno, f"cannot write: {error.strerror}", os.fspath(path)) from error
    finally:
        temporary.unlink(missing_ok=True)


def remove_leftovers(targets: Iterable[Path]) -> None:
    """Remove what `replacing` left beside some files in processes that were killed."""
    beginnings: dict[Path, set[str]] = {}
    for target in (Path(os.path.realpath(target)) for target in targets):
        beginnings.setdefault(target.parent, set()).add(_beginning(target))
    for folder, wanted in beginnings.items():
        for file in folder.glob(".seqclass-*"):
            writing = _LEFTOVER.fullmatch(file.name)
            if writing and writing[1] in wanted and not _runs(int(writing[2])):
                with suppress(OSError):
                    file.unlink()


#: What says which file it is to be, and the process that writes it.
_LEFTOVER = re.compile(r"(\.seqclass-[0-9a-f]{8}-)(\d{1,9})-.*")


def _beginning(target: Path) -> str:
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
