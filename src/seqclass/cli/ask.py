"""``seqclass ask``: one live case on the terminal."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from seqclass._files import replacing
from seqclass._messages import shown
from seqclass.classifier import SequentialClassifier
from seqclass.cli._describe import load_model, unknown_option
from seqclass.cli._errors import InputError, check_input, check_output, refused, sentence
from seqclass.cli._format import belief_text, count, value_text, wrapped
from seqclass.session import Question, Session

_PATH = click.Path(path_type=Path)
_HELP = "Answer with what the feature shows; ? if it cannot be had, undo to take the last answer back, quit to stop."


@click.command()
@click.argument("model", type=_PATH)
@click.option("--resume", type=_PATH, metavar="FILE", help="Go on with a case that --save wrote.")
@click.option("--save", type=_PATH, metavar="FILE", help="Keep the case in a file, up to date after every answer.")
@unknown_option
@click.option("--strict", is_flag=True, help="Refuse a number outside of the range of training, rather than warn.")
def ask(model: Path, resume: Path | None, save: Path | None, unknown: str | None, strict: bool) -> None:
    """Work through one live case: the MODEL asks only for what it needs.

    Each question comes with its price and with what it is expected to save beyond that price, both in units of
    misclassification cost. Answer with a number or a category; "?" if the feature cannot be had,
    "undo" to take the last answer back, "quit" to stop. The case ends with the decision and what it cost.

    A number outside of the range of training is taken with a warning, as it may be a slip of the pen, and refused with
    --strict. To go on with a case and keep it in the same file, give --resume and --save that file.

    Answers may be piped in, one a line. Where they end before the case does, its state is printed, and the exit
    code is 0, as it is for "quit".
    """
    check_output(save, read=[model])  # not the case itself, which goes on
    clf = load_model(model, unknown)
    session = clf.session()
    if resume is not None:
        check_input(resume)
        with refused(str(resume)):
            # bytes that are no text are no session either, which is for the session to say
            session.restore(resume.read_text(encoding="utf-8", errors="replace"))
        click.echo(f"Resumed after {count(len(session.history), 'answer')}.")
    click.echo(wrapped(_HELP))
    finished = _run(clf, session, save, strict)
    _conclude(clf, session, finished, save)


def _run(clf: SequentialClassifier, session: Session, save: Path | None, strict: bool) -> bool:
    """Ask until the decision; False where the user stopped before."""
    shown = None
    while (question := session.next_feature) is not None:
        if question != shown:
            _show_question(clf, session, question)
            shown = question
        line = _read_line()
        if line is None or line.lower() in ("quit", "q", "exit"):
            return False
        if not line:
            continue
        try:
            _answer(session, question, line, strict)
        except ValueError as error:
            click.echo(f"  {sentence(error)}")
            continue
        shown = None
        _keep(session, save)
    return True


def _show_question(clf: SequentialClassifier, session: Session, question: Question) -> None:
    click.echo(f"\nBelief: {belief_text(clf.classes_.tolist(), session.posterior.tolist())}")
    saving = (
        ""
        if question.expected_saving != question.expected_saving
        else f", expected to save {question.expected_saving:.4f} beyond it"
    )
    click.echo(f"{len(session.history) + 1}. {question.name}  (price {question.price:.4g}{saving})")
    if question.categories:
        click.echo(f"   one of: {', '.join(question.categories)}")


def _answer(session: Session, question: Question, line: str, strict: bool) -> None:
    """Carry out one line: a command, or what the feature shows."""
    known = {category.casefold(): category for category in question.categories}
    if line in question.categories:
        session.observe(question.name, line)
    elif line == "?":
        session.unavailable(question.name)
    elif line.lower() in ("undo", "u"):
        session.undo()
    elif line.lower() == "help":
        raise ValueError(_HELP)
    else:
        session.observe(question.name, known.get(line.casefold(), line), strict=strict)
        if note := session.unusual(question.name, line):
            click.echo(f"  Taken, though {note}")
        if question.categories and session.history[-1].outcome < 0:
            click.echo(f"  Training did not show {shown(line)}, so it counts as missing.")


def _read_line() -> str | None:
    """One line of input without blanks around it; None at the end of the input."""
    try:
        line = input("> ").strip()
        line.encode()  # of other encodings Python makes halves of characters, where it does not stop at them
    except EOFError:
        click.echo()
        return None
    except UnicodeError as error:
        raise InputError("the answers are not text in UTF-8; what was answered before is kept with --save.") from error
    if not sys.stdin.isatty():
        # so that a transcript shows what was answered
        click.echo(line)
    return line


def _keep(session: Session, save: Path | None) -> None:
    if save is None:
        return
    with refused(f"cannot write {save}"), replacing(save) as path:
        path.write_text(session.to_json() + "\n", encoding="utf-8")


def _conclude(clf: SequentialClassifier, session: Session, finished: bool, save: Path | None) -> None:
    belief = belief_text(clf.classes_.tolist(), session.posterior.tolist())
    click.echo(f"\nBelief: {belief}")
    if finished:
        click.echo(f"Decision: {session.decision}")
    else:
        click.echo(f"Stopped before the end; the decision as things stand: {session.decision}")
    asked = ", ".join(
        f"{a.name} = {'unavailable' if a.value is None else value_text(a.value)}" for a in session.history
    )
    click.echo(
        f"Acquired {count(session.n_features, 'feature')} at a price of {session.cost:.4g}; expected cost of this "
        f"decision {session.expected_cost:.4f}." + (f" ({asked})" if asked else "")
    )
    if save is not None:
        _keep(session, save)
        click.echo(f"The case is kept in {save}.")
