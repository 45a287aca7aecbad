"""What goes wrong on the command line: bad input is one sentence and exit code 2."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import click

from seqclass._messages import end_sentence as end_sentence
from seqclass._messages import near as near
from seqclass._messages import sentence as sentence


class InputError(click.ClickException):
    """Something that the user can put right; shown as one sentence, exit code 2."""

    exit_code = 2


@contextmanager
def refused(about: str = "") -> Iterator[None]:
    """Turn the errors by which the library refuses an input into an `InputError`.

    Parameters
    ----------
    about : str
        What to put before the message, such as the name of a file.
    """
    try:
        yield
    except (ValueError, TypeError, OSError) as error:
        raise InputError(f"{about}: {sentence(error)}" if about else sentence(error)) from error


def check_output(path: Path | None) -> None:
    """Refuse an output file that could not be written, before any work is done.

    Raises
    ------
    InputError
        If its folder does not exist, or the path is a folder or a device.
    """
    if path is None:
        return
    if path.is_dir():
        raise InputError(f"{path} is a folder; name a file to write.")
    if path.exists() and not path.is_file():  # a new file would take the place of, say, /dev/null
        raise InputError(f"{path} is a device or pipe; name a file to write.")
    if not path.absolute().parent.is_dir():
        raise InputError(f"cannot write {path}: there is no folder {path.parent}.")


def check_input(path: Path) -> None:
    """Refuse an input file that is not there.

    Raises
    ------
    InputError
        If there is no such file, or it is a folder.
    """
    if path.is_dir():
        raise InputError(f"{path} is a folder, not a file.")
    if not path.exists():
        raise InputError(f"there is no file {path}.")
