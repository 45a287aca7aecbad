"""Files that are written whole or not at all."""

from __future__ import annotations

import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def replacing(path: str | os.PathLike[str]) -> Iterator[Path]:
    """Give a new file beside ``path`` that takes its place in one step, or vanishes if anything fails.

    Parameters
    ----------
    path : str or path
        Where the file is to be; a link keeps pointing to it.

    Yields
    ------
    Path
        Where to write; nothing is there yet, and its ending is that of ``path``.

    Raises
    ------
    FileNotFoundError
        If the folder does not exist.
    ValueError
        If there is something other than a file, such as a device, whose place the file would take.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     with replacing(Path(folder, "a.txt")) as temporary:
    ...         _ = temporary.write_text("one")
    ...     Path(folder, "a.txt").read_text()
    'one'
    """
    target = Path(os.path.realpath(path))
    if not target.parent.is_dir():
        raise FileNotFoundError(f"cannot write {os.fspath(path)}: there is no folder {target.parent}")
    if target.exists() and not target.is_file():
        raise ValueError(f"cannot write {os.fspath(path)}: it is a folder, device or pipe; name a file.")
    # not by tempfile, whose files nobody else may read: the new file would stay so
    temporary = target.with_name(f".seqclass-{secrets.token_hex(8)}{target.suffix}")
    try:
        yield temporary
        with open(temporary, "rb+") as file:
            os.fsync(file.fileno())
        os.replace(temporary, target)
    finally:
        temporary.unlink(missing_ok=True)
