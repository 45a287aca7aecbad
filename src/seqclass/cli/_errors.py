"""What goes wrong on the command line: bad input is one sentence and exit code 2."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from difflib import get_close_matches
from pathlib import Path

import click


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


def sentence(error: BaseException) -> str:
    """Message of an error on one line, with a full stop."""
    return end_sentence(" ".join(str(error).split()) or type(error).__name__)


def end_sentence(text: str) -> str:
    """Put a full stop where none is."""
    return text if text.endswith((".", "!", "?")) else f"{text}."


def check_output(path: Path | None) -> None:
    """Refuse an output file that could not be written, before any work is done.

    Raises
    ------
    InputError
        If its folder does not exist, or the path is a folder.
    """
    if path is None:
        return
    if path.is_dir():
        raise InputError(f"{path} is a folder; name a file to write.")
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


def near(name: str, names: list[str]) -> str:
    """End of a sentence that says what a name could have meant."""
    wanted = name.strip().casefold()
    same = [n for n in names if n.strip().casefold() == wanted]
    matches = same or get_close_matches(name, names, n=3, cutoff=0.5)
    if matches:
        return f"did you mean {' or '.join(map(repr, matches))}?"
    more = f" and {len(names) - 6} more" if len(names) > 6 else ""
    return f"the columns are {', '.join(map(repr, names[:6]))}{more}."
