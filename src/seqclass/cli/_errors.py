"""What goes wrong on the command line: bad input is one sentence and exit code 2, and names from files stay names."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

import click

from seqclass._utils import text
from seqclass._utils.text import brief, short_repr, visible
from seqclass._utils.text import end_sentence as end_sentence
from seqclass._utils.text import near as near
from seqclass.cli._options import FOLDERS

#: A setting of Python with its option beside it; a setting with a value or by itself, or what is quoted as it is.
_TOLD = re.compile(r"[a-z_]+(?:=(?:\[.*?\]|\S*)|(?<=_)) \((--[a-z-]+)(.*?) on the command line\)")
_SETTING = re.compile(
    r"""(?<!\w)'[^']*'|(?<![\w=])"[^"]*"|(?<![\w./\\-])([a-z_]+)(?:=(["']?)(\d+\.\d+|\w+)\2)?(?![\w/\\(=\[]|\.\w)"""
)


class Visible:
    """Standard output on which names from files do nothing to a terminal; ``data`` is for what programs read."""

    #: Beside which click would write.
    buffer = None

    def __init__(self, stream: IO[str]) -> None:
        self._stream = stream

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)

    def write(self, text: str) -> int:
        """Write on."""
        return self._stream.write(visible(text))

    @property
    def data(self) -> Any:
        """Itself on a terminal, what is below it elsewhere."""
        return self if self._stream.isatty() else self._stream


class InputError(click.ClickException):
    """Something that the user can put right; shown as one sentence, exit code 2."""

    exit_code = 2

    def __init__(self, *messages: str) -> None:
        super().__init__("\n".join(map(brief, messages)))


def first_given_option(options: Mapping[str, Any]) -> str | None:
    """The first of some options that is given."""
    return next((option for option, value in options.items() if value), None)


def refuse_options(options: Mapping[str, Any], why: str) -> None:
    """Refuse the first of some options that is given."""
    if option := first_given_option(options):
        raise InputError(f"{option} {why}")


class NoRowsError(InputError):
    """A table without rows, or a folder without files, is told by its exit code."""

    exit_code = 7


def as_options(message: str, command: click.Command | None = None) -> str:
    """What a message calls settings of Python, by the options of a command: by default of the one that runs."""
    options = _options(command)
    written = {name for option in options.values() for name in option.opts}

    def spell_option(match: re.Match[str]) -> str:
        name, _, value = match.groups()
        option = options.get(name)
        if option is None or value == "False" or (value is None and "_" not in name):  # a word of English
            return match[0]
        return option.opts[0] if value is None or option.is_flag else f"{option.opts[0]} {value}"

    alone = _TOLD.sub(lambda match: match[1] + match[2] if match[1] in written else match[0], message)
    return _SETTING.sub(spell_option, alone)


def _options(command: click.Command | None = None) -> dict[str | None, click.Option]:
    """Options of a command, by default of the one that runs, by the names that they have in Python."""
    context = click.get_current_context(silent=True)
    command = command or (None if context is None else context.command)
    parameters = [] if command is None else command.params
    return {option.name: option for option in parameters if isinstance(option, click.Option)}


def sentence(error: BaseException, remedies: Mapping[str, str] | None = None) -> str:
    """Message of an error on one line, with a full stop, in the words of the command line."""
    message = text.sentence(error, remedies)
    parameter = getattr(error, "parameter", "")
    if option := _options().get(parameter):
        message = option.opts[0] + message.removeprefix(parameter)
    return as_options(message)


@contextmanager
def as_input_errors(about: str = "") -> Iterator[None]:
    """Turn the errors by which the library refuses an input into an `InputError`."""
    try:
        yield
    except (ValueError, TypeError, OSError, MemoryError) as error:
        problems = str(error).splitlines() if isinstance(error, text.Problems) else [sentence(error)]
        kind = NoRowsError if isinstance(error, text.NoRows) else InputError
        raise kind(*(as_options(end_sentence(f"{about}: {part}" if about else part)) for part in problems)) from error


def check_output(path: Path | None, read: Iterable[Path | None] = (), written: Iterable[Path | None] = ()) -> None:
    """Refuse an output file that could not be written or that is an input, before any work is done."""
    if path is None:
        return
    with _check_file_name(path):
        if is_folder(path):
            raise InputError(f"{path} is a folder; name a file to write.")
        if path.exists() and not path.is_file():  # a new file would take the place of, say, /dev/null
            raise InputError(f"{path} is a device or pipe; name a file to write.")
        if not path.absolute().parent.is_dir():
            raise InputError(f"cannot write {path}: there is no folder {path.parent}.")
        if not os.access(os.path.dirname(os.path.realpath(path)), os.W_OK | os.X_OK):
            raise InputError(f"cannot write {path}: no file may be made in its folder; name a file in another.")
        for others, does in ((read, "is read"), (written, "is written, too")):
            other = next((other for other in others if other is not None and _is_same_file(path, other)), None)
            if other is not None:
                which = "" if other == path else f" is the same file as {other}, which"
                raise InputError(f"{path}{which} {does}; name another file to write.")


def check_input_file(path: Path) -> None:
    """Refuse an input file that is not there."""
    with _check_file_name(path):
        if path.is_dir():
            raise InputError(f"{path} is a folder, not a file.")
        if not path.exists():
            raise InputError(f"there is no file {path}.")


def is_folder(path: Path) -> bool:
    """Whether there is a folder of that name, or a slash says so; a name that nothing can have is refused."""
    context = click.get_current_context(silent=True)
    with _check_file_name(path):
        return path.is_dir() or (context is not None and path in context.meta.get(FOLDERS, ()) and not path.exists())


def _is_same_file(path: Path, other: Path) -> bool:
    if path.exists() and other.exists():
        return path.samefile(other)
    return os.path.realpath(path) == os.path.realpath(other)


@contextmanager
def _check_file_name(path: Path) -> Iterator[None]:
    """Refuse a name that no file can have, such as one of 300 letters."""
    try:
        yield
    except OSError as error:
        raise InputError(f"cannot use {short_repr(str(path))}: {end_sentence(error.strerror or str(error))}") from error
