"""The command line: ``seqclass`` and ``python -m seqclass``."""

from __future__ import annotations

import errno
import os
import pkgutil
import signal
import sys
import threading
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager, redirect_stdout
from typing import Any

import click

from seqclass import __version__
from seqclass._utils.files import NO_ROOM, today
from seqclass._utils.text import brief, short_repr
from seqclass.cli._errors import InputError, Visible, as_input_errors, as_options, end_sentence, sentence

#: The line of each command in the help. `_commands` declares them, and a declaration loads what it runs when it runs.
COMMANDS = {
    "demo": "See it work on real data: a table, one patient's story, a picture.",
    "fit": "Learn a classifier from a table and write it to a file.",
    "plan": "Plan what to ask from a Bayesian network or a table of tests.",
    "predict": "Decide for every row of a table.",
    "evaluate": "Tell what a model costs on rows whose labels are known.",
    "explain": "Tell why a row of a table is decided as it is.",
    "ask": "Work through one live case, question by question.",
    "serve": "Answer over HTTP what to ask next; a page, live cases, metrics.",
    "export": "Write a model as a page that works offline, as JSON or as C.",
    "show": "Tell what is in a model file.",
    "certify": "Certify an error rate of a model on rows kept aside for it.",
    "compare": "Compare methods on data sets; resumes where it stopped.",
    "report": "Write a run as one HTML page: tables, pictures, explorer.",
}

#: What every command is declared with.
CONTEXT = {"help_option_names": ["-h", "--help"], "max_content_width": 100, "show_default": True}


class Answering(click.Command):
    """A command that answers errors with one sentence."""

    def invoke(self, ctx: click.Context) -> Any:
        try:
            return super().invoke(ctx)
        except BrokenPipeError:  # which click takes for a failure
            return _broken_pipe()

    def main(self, *args: Any, **settings: Any) -> Any:
        if not settings.setdefault("standalone_mode", True):
            return super().main(*args, **settings)
        settings["standalone_mode"] = False
        if sys.stderr is None:  # closed, and what is said there goes nowhere
            sys.stderr = open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115 (until Python ends)
        try:
            if sys.stdout is None:
                raise InputError("standard output is closed: lead it to a file, or to /dev/null.")
            with _interruptible() as ended, warnings.catch_warnings(), redirect_stdout(Visible(sys.stdout)):
                warnings.showwarning = _show_warnings()
                code = super().main(*args, obj=ended, **settings)
                sys.stdout.flush()
        except click.UsageError as error:
            code = _wrong_usage(error)
        except click.ClickException as error:
            error.show()
            code = error.exit_code
        except (click.Abort, KeyboardInterrupt):
            click.echo("Interrupted.", err=True)
            code = 130
        except UnicodeEncodeError as error:
            click.echo(f"Error: {_not_in_terminal(error)}", err=True)
            code = 2
        except OSError as error:
            code = _broken_pipe() if error.errno == errno.EPIPE else _not_written(error)
        except Exception as error:
            code = _fault(error)
        sys.exit(code if isinstance(code, int) else 0)


class _Commands(Answering, click.Group):
    """A group that loads its commands when they are run."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name == "reproduce":
            raise InputError("the papers' tables are made from a checkout: python -m reproduction --list.")
        if cmd_name not in COMMANDS:
            return None
        command: click.Command = pkgutil.resolve_name(f"seqclass.cli._commands:{cmd_name}")
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl([*COMMANDS.items()])


@contextmanager
def _interruptible() -> Iterator[list[int]]:
    """Have SIGTERM end a command as Ctrl-C does, whatever error a library makes of it; gives the signals that came."""
    came = list[int]()
    if threading.current_thread() is not threading.main_thread():  # where signals cannot be set
        yield came
        return

    def end(number: int, _: object) -> None:
        came.append(number)
        raise KeyboardInterrupt

    former = {signal.SIGTERM: signal.signal(signal.SIGTERM, end)}
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:  # in the background it may be ignored
        former[signal.SIGINT] = signal.signal(signal.SIGINT, end)
    try:
        yield came
    except Exception as error:
        if came:
            raise KeyboardInterrupt from error
        raise
    finally:
        for number, handler in former.items():
            signal.signal(number, handler)


def _show_warnings() -> Callable[..., None]:
    """One line for a warning, without the place in the code, the first time that it comes."""
    shown = set[str]()

    def show(message: Warning | str, *_: Any) -> None:
        text = as_options(end_sentence(brief(" ".join(str(message).split()))))
        if text not in shown:
            shown.add(text)
            click.echo(f"Warning: {text}", err=True)

    return show


def _not_in_terminal(error: UnicodeEncodeError) -> str:
    return (
        f"the output holds {short_repr(error.object[error.start : error.end])}, which {error.encoding} cannot write: "
        "set PYTHONIOENCODING=utf-8, or write to a file with -o where there is that option."
    )


def _wrong_usage(error: click.UsageError) -> int:
    """One sentence, and where to read more."""
    command = "seqclass" if error.ctx is None else error.ctx.command_path
    click.echo(
        f"Error: {end_sentence(brief(' '.join(error.format_message().split())))} See '{command} --help'.", err=True
    )
    return error.exit_code


def _broken_pipe() -> int:
    """Leave quietly where the reader of our output went away, as in ``| head``."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return 0


def _not_written(error: OSError) -> int:
    """Say that standard output takes no more: a file that does not names itself, see `seqclass._utils.files`."""
    if error.filename is not None or error.errno not in (*NO_ROOM, errno.EBADF):
        return _fault(error)
    _broken_pipe()  # or Python would try again at its end
    message = f"Error: cannot write to standard output: {sentence(error)} What was written to files is there, whole."
    click.echo(message, err=True)
    return 2


def _fault(error: Exception) -> int:
    """One sentence for what should not have happened; the traceback on request."""
    if os.environ.get("SEQCLASS_DEBUG"):
        raise error
    click.echo(
        f"Error: this is a fault of seqclass ({type(error).__name__}: {sentence(error)}) "
        "Set SEQCLASS_DEBUG=1 to see where, and please report it.",
        err=True,
    )
    return 1


@click.group(cls=_Commands, invoke_without_command=True, context_settings=CONTEXT)
@click.version_option(__version__, prog_name="seqclass")
@click.pass_context
def main(ctx: click.Context) -> None:
    """Classify with as few features as each case needs.

    Every feature has a price: a test, a question, a measurement. For each case seqclass acquires one feature at a time,
    keeps the probability of every class, and decides as soon as the next feature is expected to save less than it
    costs. A wrong decision costs 1, unless you say what decisions cost, in money if you like. With a cost of 1, a price
    of 0.01 means that a hundred features cost as much as one wrong decision.

    \b
    Examples:
      seqclass demo
      seqclass fit patients.csv --target diagnosis --price 0.01 -o model.seq
      seqclass predict model.seq new.csv -o decisions.csv
      seqclass evaluate model.seq later.csv
      seqclass plan liver.bif --target Cirrhosis --price 0.01 -o plan.seq
      seqclass explain model.seq new.csv --row 3
      seqclass ask model.seq
      seqclass export model.seq -o page.html
      seqclass serve model.seq

    \b
    Exit codes: 0 done, 1 a fault of seqclass, 2 a wrong input or option, 3 nothing certified,
    4 nothing certified but a rule that decides the same for everybody, 5 some cells of a comparison failed,
    6 an alarm of evaluate --drift or predict --max-outside, 7 a table without rows or a folder without files,
    130 interrupted.
    """  # noqa: D301 (click wants the character, not the two signs)
    if ctx.invoked_subcommand is None:
        click.echo(ctx.get_help())
        return
    with as_input_errors():
        today()  # before libraries stumble over it as they are loaded


__all__ = ["main"]
