"""What goes wrong on the command line: bad input is one sentence and exit code 2."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

import click

from seqclass._utils.text import brief, shown
from seqclass._utils.text import end_sentence as end_sentence
from seqclass._utils.text import near as near
from seqclass._utils.text import sentence as sentence


class InputError(click.ClickException):
    """Something that the user can put right; shown as one sentence, exit code 2."""

    exit_code = 2

    def __init__(self, message: str) -> None:
        super().__init__(brief(message))


@contextmanager
def refused(about: str = "") -> Iterator[None]:
    """Turn the errors by which the library refuses an input into an `InputError`."""
    try:
        yield
    except (ValueError, TypeError, OSError, MemoryError) as error:
        raise InputError(f"{about}: {sentence(error)}" if about else sentence(error)) from error


def check_output(path: Path | None, read: Iterable[Path | None] = (), written: Iterable[Path | None] = ()) -> None:
    """Refuse an output file that could not be written or that is an input, before any work is done."""
    if path is None:
        return
    with _named(path):
        if path.is_dir():
            raise InputError(f"{path} is a folder; name a file to write.")
        if path.exists() and not path.is_file():  # a new file would take the place of, say, /dev/null
            raise InputError(f"{path} is a device or pipe; name a file to write.")
        if not path.absolute().parent.is_dir():
            raise InputError(f"cannot write {path}: there is no folder {path.parent}.")
        for others, does in ((read, "is read"), (written, "is written, too")):
            other = next((other for other in others if other is not None and _same(path, other)), None)
            if other is not None:
                which = "" if other == path else f" is the same file as {other}, which"
                raise InputError(f"{path}{which} {does}; name another file to write.")


def check_input(path: Path) -> None:
    """Refuse an input file that is not there."""
    with _named(path):
        if path.is_dir():
            raise InputError(f"{path} is a folder, not a file.")
        if not path.exists():
            raise InputError(f"there is no file {path}.")


def is_folder(path: Path) -> bool:
    """Whether there is a folder of that name; a name that nothing can have is refused."""
    with _named(path):
        return path.is_dir()


def _same(path: Path, other: Path) -> bool:
    if path.exists() and other.exists():
        return path.samefile(other)
    return os.path.realpath(path) == os.path.realpath(other)


@contextmanager
def _named(path: Path) -> Iterator[None]:
    """Refuse a name that no file can have, such as one of 300 letters."""
    try:
        yield
    except OSError as error:
        raise InputError(f"cannot use {shown(str(path))}: {end_sentence(error.strerror or str(error))}") from error
