"""``seqclass ask``: one live case on the terminal."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from seqclass._files import replacing
from seqclass._text import saving_text
from seqclass.classifier import SequentialClassifier
from seqclass.cli._describe import load_model
from seqclass.cli._errors import check_input, check_output, refused, sentence
from seqclass.cli._format import belief_text, count, value_text, wrapped
from seqclass.session import Question, Session

_PATH = click.Path(path_type=Path)
_HELP = "Answer with what the feature shows; ? if it cannot be had, undo to take the last answer back, quit to stop."


@click.command()
@click.argument("model", type=_PATH)
@click.option("--resume", type=_PATH, metavar="FILE", help="Go on with a case that --save wrote.")
@click.option("--save", type=_PATH, metavar="FILE", help="Keep the case in a file, up to date after every answer.")
def ask(model: Path, resume: Path | None, save: Path | None) -> None:
    """Work through one live case: the MODEL asks only for what it needs.

    Each question comes with its price and with what it is expected to save beyond that price, both in units of
    misclassification cost. Answer with a number or a category; "?" if the feature cannot be had,
    "undo" to take the last answer back, "quit" to stop. The case ends with the decision and what it cost.

    Answers may be piped in, one a line. Where they end before the case does, its state is printed, and the exit
    code is 0, as it is for "quit".
    """
    check_output(save)
    clf = load_model(model)
    session = clf.session()
    if resume is not None:
        check_input(resume)
        with refused(str(resume)):
            # bytes that are no text are no session either, which is for the session to say
            session.restore(resume.read_text(encoding="utf-8", errors="replace"))
        click.echo(f"Resumed after {count(len(session.history), 'answer')}.")
    click.echo(wrapped(_HELP))
    finished = _run(clf, session, save)
    _conclude(clf, session, finished, save)


def _run(clf: SequentialClassifier, session: Session, save: Path | None) -> bool:
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
            _answer(session, question, line)
        except ValueError as error:
            click.echo(f"  {sentence(error)}")
            continue
        shown = None
        _keep(session, save)
    return True


def _show_question(clf: SequentialClassifier, session: Session, question: Question) -> None:
    click.echo(f"\nBelief: {belief_text(clf.classes_.tolist(), session.posterior.tolist())}")
    saving = saving_text(question.expected_saving, question.price)
    told = f"price {question.price:.4g}{', ' if saving else ''}{saving}"
    click.echo(f"{len(session.history) + 1}. {question.name}  ({told})")
    if question.categories:
        click.echo(f"   one of: {', '.join(question.categories)}")


def _answer(session: Session, question: Question, line: str) -> None:
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
        session.observe(question.name, known.get(line.casefold(), line))


def _read_line() -> str | None:
    """One line of input without blanks around it; None at the end of the input."""
    try:
        line = input("> ").strip()
    except EOFError:
        click.echo()
        return None
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
