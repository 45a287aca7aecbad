"""``seqclass ask``: one live case on the terminal."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import click

from seqclass._shell import DecidingClassifier
from seqclass._utils.files import replacing
from seqclass._utils.frames import spelt
from seqclass._utils.text import money, saving_text, shown, worthless
from seqclass.cli._describe import load_model
from seqclass.cli._errors import InputError, check_input, check_output, refused, sentence
from seqclass.cli._format import belief_text, count, value_text, wrapped
from seqclass.deciding.decider import decider_of
from seqclass.deciding.session import Question, Session

_HELP = (
    "Answer with what the feature shows; ? if it cannot be had, NAME = VALUE to answer another one, best for the most "
    "promising questions, undo to take the last answer back, quit to stop."
)
#: How many questions ``best`` shows.
_MOST = 3


def _command(
    model: Path,
    resume: Path | None,
    save: Path | None,
    known: tuple[str, ...],
    first: tuple[str, ...],
    unknown: str | None,
    currency: str | None,
    strict: bool,
) -> None:
    if sys.stdin is None:
        raise InputError("standard input is closed, and that is where answers come from.")
    check_output(save, read=[model])  # not the case itself, which goes on
    clf = load_model(model, unknown, currency)
    if resume is not None and (known or first):
        raise InputError("--known and --first belong to a new case: leave out --resume, or answer NAME = VALUE in it.")
    with refused():
        session = clf.session(known=dict(map(_parted, known)), first=first)
    if resume is not None:
        check_input(resume)
        with refused(str(resume)):
            # bytes that are no text are no session either, which is for the session to say
            session.restore(resume.read_text(encoding="utf-8", errors="replace"))
        click.echo(f"Resumed after {count(len(session.history), 'answer')}.")
    click.echo(wrapped(_HELP))
    finished = _run(clf, session, save, strict)
    _conclude(clf, session, finished, save)


def _run(clf: DecidingClassifier, session: Session, save: Path | None, strict: bool) -> bool:
    """Ask until the decision; False where the user stopped before."""
    shown = None
    while (question := session.next_feature) is not None:
        if question != shown:
            _show_question(clf, session, question)
            shown = question
        line = _read_line()
        if line is None or (line.lower() in ("quit", "q", "exit") and line not in question.categories):
            return False
        if not line:
            continue
        before = session.history
        try:
            _answer(clf, session, question, line, strict)
        except ValueError as error:
            click.echo(f"  {sentence(error)}")
            continue
        if session.history != before:
            shown = None
            _keep(session, save)
    return True


def _show_question(clf: DecidingClassifier, session: Session, question: Question) -> None:
    click.echo(f"\nBelief: {belief_text(clf.classes_.tolist(), session.posterior.tolist())}")
    click.echo(f"{len(session.history) + 1}. {question.name}  ({_price(clf, question)})")
    if question.categories:
        click.echo(f"   one of: {', '.join(question.categories)}")
    if question.features:
        names = [feature.name for feature in question.features]
        click.echo(f"   shows {', '.join(names)}: answer with as many values, commas between, ? for what is missing")


def _price(clf: DecidingClassifier, question: Question) -> str:
    """What a question costs, and what asking it is expected to save."""
    unit = decider_of(clf).unit
    saving = saving_text(question.expected_saving, question.price, unit)
    return f"price {money(question.price, unit)}{', ' if saving else ''}{saving}"


def _answer(clf: DecidingClassifier, session: Session, question: Question, line: str, strict: bool) -> None:
    """Carry out one line: a command, or what the feature shows."""
    if line in question.categories:
        session.observe(question.name, line)
    elif line == "?":
        session.unavailable(question.name)
    elif line.lower() in ("undo", "u"):
        session.undo()
    elif line.lower() == "best":
        _show_best(clf, session)
    elif line.lower() == "help":
        raise ValueError(_HELP)
    elif "=" in line:
        _observe(session, *_parted(line), strict)
    elif question.features:
        _observe_bundle(session, question, line, strict)
    else:
        _observe(session, question.name, line, strict)


def _observe(session: Session, name: str, value: str, strict: bool) -> None:
    """Take what a feature shows, and say what is odd about it."""
    categories = session.categories(name)
    if value == "?":
        session.unavailable(name)
        return
    known = {category.casefold(): category for category in categories}
    session.observe(name, value if value in categories else known.get(value.casefold(), value), strict=strict)
    if note := session.unusual(name, value):
        click.echo(f"  Taken, though {note}")
    if categories and session.history[-1].outcome < 0:
        click.echo(f"  Training did not show {shown(value)}, so it counts as missing.")


def _observe_bundle(session: Session, question: Question, line: str, strict: bool) -> None:
    values = [spelt(value) for value in line.split(",")]
    names = [feature.name for feature in question.features]
    if len(values) != len(names):
        raise ValueError(f"give {len(names)} values, commas between, of {', '.join(names)}; ? for what is missing.")
    told = {name: value for name, value in zip(names, values) if value != "?"}
    session.observe(question.name, told, strict=strict)
    for name, value in told.items():
        if note := session.unusual(name, value):
            click.echo(f"  Taken, though {note}")


def _show_best(clf: DecidingClassifier, session: Session) -> None:
    for question in session.suggestions(_MOST):
        if worthless(question.expected_saving, question.price):
            continue
        click.echo(f"  {question.name}: {_price(clf, question)}")


def _parted(text: str) -> tuple[str, str]:
    """Name and value of ``NAME=VALUE``."""
    name, sign, value = text.partition("=")
    if not sign or not name.strip() or not spelt(value):
        raise ValueError(f"give what is known as NAME=VALUE, not {shown(text)}.")
    return name.strip(), spelt(value)


def _read_line() -> str | None:
    """One line of input without blanks around it; None at the end of the input."""
    try:
        line = spelt(input("> "))
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
    with refused(), replacing(save) as path:
        path.write_text(session.to_json() + "\n", encoding="utf-8")


def _told(value: Any) -> str:
    """What an answer showed."""
    if isinstance(value, dict):
        return f"({', '.join(f'{name} {value_text(v)}' for name, v in value.items())})"
    return "unavailable" if value is None else value_text(value)


def _conclude(clf: DecidingClassifier, session: Session, finished: bool, save: Path | None) -> None:
    belief = belief_text(clf.classes_.tolist(), session.posterior.tolist())
    click.echo(f"\nBelief: {belief}")
    if finished:
        click.echo(f"Decision: {session.decision}")
    else:
        click.echo(f"Stopped before the end; the decision as things stand: {session.decision}")
    unit = decider_of(clf).unit
    asked = ", ".join(f"{a.name} = {_told(a.value)}" for a in session.history)
    click.echo(
        f"Acquired {count(session.n_features, 'feature')} at a price of {money(session.cost, unit)}; expected cost of "
        f"this decision {money(session.expected_cost, unit, 4)}." + (f" ({asked})" if asked else "")
    )
    if save is not None:
        _keep(session, save)
        click.echo(f"The case is kept in {save}.")
