"""``seqclass ask``: one live case on the terminal."""

from __future__ import annotations

import csv
import sys
from collections import Counter
from dataclasses import dataclass
from functools import cached_property, partial
from pathlib import Path
from typing import Any

import click

from seqclass._utils.files import replace_file
from seqclass._utils.frames import spelt
from seqclass._utils.text import (
    NO_MARK,
    answer_text,
    cheapest_text,
    exact_percent,
    join_names,
    money,
    plan_saving_text,
    saving_text,
    short_repr,
    visible,
    worthless,
)
from seqclass.agent._case import Answer
from seqclass.agent.agent import (
    Agent,
    agent_of,
    columns_by_name,
    feature_name,
    marks_of,
    names_at_start,
    outcome_labels,
)
from seqclass.agent.choices import answer_choices, check_labels, is_category
from seqclass.agent.session import Question, Session
from seqclass.cli._describe import load_parts
from seqclass.cli._errors import InputError, as_input_errors, check_input_file, check_output, sentence
from seqclass.cli._format import belief_text, count, wrap
from seqclass.evaluation.contract import contract_of
from seqclass.exams.estimates import ScorePlan, score_plan_of
from seqclass.labels import Labels
from seqclass.pomdp.ties import TIE

_HELP = (
    "Answer with what the feature shows; ? if it cannot be had, NAME = VALUE to answer another one, best for the most "
    "promising questions, undo to take the last answer back, quit to stop."
)


@dataclass(frozen=True)
class _LiveCase:
    """A live case, and the words in which it is told."""

    agent: Agent
    session: Session
    words: Labels
    save: Path | None
    strict: bool
    #: Answers that ``--known`` gave, which were never typed and stay.
    n_given: int
    #: Whether an error rate is certified.
    certified: bool
    #: Where a score is asked for, the plan that estimates it.
    plan: ScorePlan | None

    @cached_property
    def columns(self) -> dict[str, int]:
        """Columns by their names."""
        return columns_by_name(self.agent)

    @property
    def unit(self) -> str:
        return self.agent.unit

    @property
    def n_answers(self) -> int:
        """Answers so far but for what was known, which has no number in an explanation either."""
        return sum(not answer.known for answer in self.session.history)

    @property
    def belief(self) -> str:
        classes, belief = self.agent.classes.tolist(), self.session.posterior.tolist()
        order = self.words.class_order(classes)
        return belief_text([self.words.class_text(classes[i]) for i in order], [belief[i] for i in order])

    @property
    def decision(self) -> str:
        """The decision as things stand, with the label that stands for it in files."""
        words, label = self.words.decision_text(self.session.decision), str(self.session.decision)
        return visible(label if words == label else f"{words}  [{label}]", keep="")

    @property
    def score(self) -> str:
        """Where a score is asked for, its estimate as things stand."""
        if self.plan is None:
            return ""
        found = self.plan._estimate_session(self.session)
        (value,), (error,), (low,), (high,) = found.estimate, found.standard_error, found.lower, found.upper
        ends = f"standard error {error:.3f}, {found.confidence:.0%} interval {low:.3f} to {high:.3f}"
        return f"{value:.3f}, {found.unit} ({ends})"

    @property
    def why(self) -> str:
        """Why it is not decided for the likeliest class, where it is not."""
        belief, cost = self.session.posterior, self.session.expected_cost
        likely = int(belief.argmax())
        other = float(belief @ self.agent.problem.decision_costs[:, likely])
        label = self.words.class_text(self.agent.classes[likely])
        return cheapest_text(label, cost, other, self.unit) if other > cost * (1 + TIE) else ""

    def price(self, question: Question) -> str:
        """What a question costs, what going on is expected to save, and what the question adds to that."""
        saving = plan_saving_text(question.expected_saving, question.added_saving, question.price, self.unit)
        return f"price {money(question.price, self.unit)}{', ' if saving else ''}{saving}"

    def question(self, name: str) -> str:
        """A question in words, with the name by which it is answered."""
        words = self.words.in_line(name)
        return visible(name if words == name else f"{words}  [{name}]", keep="")

    def choices(self, name: str) -> dict[str, str]:
        """Values that are offered, and the words for them on one line."""
        return _choices(self.agent, self.words, name)

    def offers(self, question: Question, line: str) -> bool:
        """Whether a line is one of the answers as it is offered, and so no command."""
        offered = {} if question.features else self.choices(question.name)
        return line in offered or line in offered.values()

    def value_of(self, name: str, text: str) -> str:
        """The value that a line stands for: itself, or the one whose words, or whose own letters, it has."""
        return _value_of(self.choices(name), text, name in marks_of(self.agent))

    def undo(self) -> None:
        """Take the last answer back, and say which; of a case that was kept also what it began with."""
        answers = self.session.history
        if 0 < self.n_given == len(answers):
            raise ValueError("there is no answer to take back; what --known told stays: begin anew to change it.")
        self.session.undo()
        click.echo(f"  Taken back: {self.answer_line(answers[-1])}")

    def answer_value_text(self, name: str, value: Any, outcome: int) -> str:
        """What an answer showed."""
        if value is None or value == {}:  # of a bundle nothing
            return "unavailable" if outcome < 0 else "missing (counts as an answer)"
        single = outcome >= 0 and not isinstance(value, dict)
        bin_ = outcome_labels(self.agent, self.columns[name])[outcome] if single else None
        text, within = self.words.value_texts(name, value, bin_)
        text = f"({text})" if isinstance(value, dict) else text
        return text if within == bin_ or within is None else f"{text} ({within})"

    def answer_line(self, answer: Answer) -> str:
        """An answer in a list of them."""
        shown = self.answer_value_text(answer.name, answer.value, answer.outcome)
        return answer_text(self.words.in_line(answer.name), shown)


def _choices(agent: Agent, words: Labels, name: str) -> dict[str, str]:
    if name in marks_of(agent):
        return dict(words.answers(name))
    columns = columns_by_name(agent)
    offered = answer_choices(agent, columns[name], words) if name in columns else {}
    return {value: " ".join(text.split()) for value, text in offered.items()}


def _value_of(offered: dict[str, str], text: str, several: bool) -> str:
    if several:
        return "; ".join(_value_of(offered, one.strip(), False) for one in text.split(";"))
    wanted = text.casefold()
    alike = [value for value, words in offered.items() if wanted in (words.casefold(), value.casefold())]
    return text if text in offered or len(alike) != 1 else alike[0]


def _known_value(agent: Agent, words: Labels, name: str, text: str) -> str | None:
    """The value that is known, None where it is known to be missing."""
    offered = _choices(agent, words, name)
    return None if text == "?" and "?" not in offered else _value_of(offered, text, name in marks_of(agent))


def _note_lacking(session: Session, agent: Agent, names: list[str]) -> None:
    """Ask for nothing that is known to be missing, also where that says nothing; a part of a bundle leaves the rest."""
    bundles, columns = agent.prices.bundles, {feature_name(agent, j): j for j in agent.support.tolist()}
    answered = {answer.name for answer in session.history}
    for name in names:
        alone = name in columns and (bundles is None or bundles[columns[name]] < 0)
        whole = bundles is not None and name in list(agent.prices.bundle_names)
        if (alone or whole) and name not in answered:
            session.unavailable(name, known=True)


def _command(
    model: Path,
    resume: Path | None,
    save: Path | None,
    known: tuple[str, ...],
    first: tuple[str, ...],
    unknown: str | None,
    currency: str | None,
    labels: Path | None,
    strict: bool,
) -> None:
    if sys.stdin is None:
        raise InputError("standard input is closed, and that is where answers come from.")
    check_output(save, read=[model, labels])  # not the case itself, which goes on
    clf, held = load_parts(model, unknown, currency)
    if resume is not None and (known or first):
        raise InputError("--known and --first belong to a new case: leave out --resume, or answer NAME = VALUE in it.")
    with as_input_errors():
        agent = agent_of(clf)
        words = check_labels(agent, labels)
        parted = list(map(partial(_split_assignment, agent), known))
        if twice := [name for name, times in Counter(name for name, _ in parted).items() if times > 1]:
            raise ValueError(f"--known tells of {short_repr(twice[0])} more than once; tell of it once.")
        told = {name: _known_value(agent, words, name, text) for name, text in parted}
        session = clf.session(known=told, first=first)
        _note_lacking(session, agent, [name for name, value in told.items() if value is None])
        if notes := " ".join(filter(None, (session.unusual(*one) for one in _values(session).items() if strict))):
            raise ValueError(notes)
    plan = score_plan_of(held)
    certified = contract_of(held) is not None
    asking = _LiveCase(agent, session, words, save, strict, len(session.history), certified, plan)
    if resume is not None:
        check_input_file(resume)
        with as_input_errors(str(resume)):
            # bytes that are no text are no session either, which is for the session to say
            session.restore(resume.read_text(encoding="utf-8", errors="replace"))
        click.echo(f"Resumed after {count(asking.n_answers, 'answer')}.")
    click.echo(wrap(_HELP))
    if resume is None:
        _remark(asking, _values(session))
    if untold := _untold(asking):
        click.echo(wrap(f"Known at the start as a rule, and not told yet: {join_names(untold)}. Tell as NAME = VALUE."))
    _conclude(asking, finished := _run(asking))
    while finished and _goes_on(asking):
        _conclude(asking, finished := _run(asking))


def _untold(asking: _LiveCase) -> list[str]:
    """Columns that are known of every case before the first question, and of which this one was not told."""
    told = _answered_names(asking.session)
    return [name for name in names_at_start(asking.agent) if name not in told]


def _run(asking: _LiveCase) -> bool:
    """Ask until the decision; False where the user stopped before."""
    shown, session = None, asking.session
    while (question := session.next_feature) is not None:
        if question != shown:
            _show_visit(asking)
            _show_question(asking, question)
            shown = question
        line = _read_line()
        if line is None or (line.lower() in ("quit", "q", "exit") and not asking.offers(question, line)):
            return False
        if not line:
            click.echo("  Answer ? if it is not available.")
            continue
        before = session.history
        try:
            _answer(asking, question, line)
        except ValueError as error:
            _refuse(error)
            continue
        if session.history != before:
            shown = None
            _keep(asking)
    return True


#: What to do about errors, as one answers here.
_REMEDIES = {
    "category": " Answer ? to take it as missing.",
    "missing": "; answer ? if it is not available.",
    "answered": "; take that back by undo.",
    "impossible": ": take back by undo what is wrong; where all is true, the model should allow for it.",
}


def _refuse(error: ValueError) -> None:
    """Say why a line is not taken, in the words of this prompt."""
    click.echo(f"  {sentence(error, _REMEDIES)}")


def _goes_on(asking: _LiveCase) -> bool:
    """Take what is corrected or added after the decision; False where nothing is."""
    here = sys.stdin.isatty()
    if here:
        click.echo("undo takes the last answer back, NAME = VALUE adds one; an empty line ends the case.")
    while (line := _read_line("> " if here else "")) is not None:
        named = _split_assignment(asking.agent, line) if "=" in line.strip("= ") else None
        if line.lower() not in ("undo", "u") and named is None:
            return False
        if not here:
            click.echo(f"\n> {line}")
        try:
            _observe(asking, *named) if named is not None else asking.undo()
        except ValueError as error:
            _refuse(error)
            continue
        _keep(asking)
        return True
    return False


def _show_visit(asking: _LiveCase) -> None:
    """Say what is ordered together, where a visit begins."""
    session, panel = asking.session, asking.session.next_panel
    if not session.visit_cost or len(panel) < 2:
        return
    price = sum(question.price for question in panel) + session.visit_cost
    names = ", ".join(asking.question(question.name) for question in panel)
    saving = plan_saving_text(panel[0].expected_saving, panel[0].added_saving, price, asking.unit, "this visit")
    told = f"price {money(price, asking.unit)}, {money(session.visit_cost, asking.unit)} of it for the visit"
    click.echo("\n" + wrap(f"Order together: {names}  ({told}{', ' if saving else ''}{saving})"))
    click.echo("Answers may come in any order, NAME = VALUE; leave waits for no more of them.")


def _show_question(asking: _LiveCase, question: Question) -> None:
    click.echo(f"\nSo far: {score}" if (score := asking.score) else f"\nBelief: {asking.belief}")
    words, name = asking.words, question.name
    click.echo(f"{asking.n_answers + 1}. {asking.question(name)}  ({asking.price(question)})")
    if helped := words.text_of(name, "help"):
        click.echo(wrap(helped, "   "))
    if url := words.text_of(name, "url"):
        click.echo(f"   {url}")
    if offered := {} if question.features else asking.choices(name):
        choices = [value if words == value else f"{value} = {words}" for value, words in offered.items()]
        click.echo(visible(f"   one of: {('; ' if words.answers(name) else ', ').join(choices)}", keep=""))
    elif unit := words.text_of(name, "unit"):
        click.echo(f"   in {unit}")
    if question.features:
        names = [asking.question(feature.name) for feature in question.features]
        if marks := asking.choices(name):
            told = "; ".join(mark if words == mark else f"{mark} = {words}" for mark, words in marks.items())
            click.echo(wrap(f"any of: {told}: answer with those that hold, ; between, or {NO_MARK}", "   "))
            return
        click.echo(f"   shows {', '.join(names)}: answer with as many values, commas between, ? for what is missing")


def _answer(asking: _LiveCase, question: Question, line: str) -> None:
    """Carry out one line: a command, or what the feature shows."""
    session = asking.session
    if asking.offers(question, line):
        _observe(asking, question.name, line)
    elif line == "?":
        session.unavailable(question.name)
    elif line.lower() in ("undo", "u"):
        asking.undo()
    elif line.lower() == "leave":
        session.leave()
    elif line.lower() == "best":
        _show_best(asking)
    elif line.lower() == "help":
        raise ValueError(_HELP)
    elif "=" in line:
        _observe(asking, *_split_assignment(asking.agent, line))
    elif question.features and question.name not in marks_of(asking.agent):
        _observe_bundle(asking, question, line)
    else:
        _observe(asking, question.name, line)


def _observe(asking: _LiveCase, name: str, value: str) -> None:
    """Take what a feature shows, and say what is odd about it."""
    session, before = asking.session, asking.session.history
    has_marks, needless = name in marks_of(asking.agent), set(session.needless_answers)
    if not has_marks:
        session.categories(name)  # refuses what is another bundle
    missing, value = value == "?", asking.value_of(name, value)
    if name in _answered_names(session):
        session.correct(name, None if missing else value, strict=asking.strict)
    else:
        known = name in _untold(asking)  # and so costs nothing, whenever it is told
        session.unavailable(name, known=known) if missing else session.observe(
            name, value, strict=asking.strict, known=known
        )
    if not missing and not has_marks:
        _remark(asking, {name: value})
    if gone := [asking.question(a.name) for a in before if a.name not in {b.name for b in session.history}]:
        click.echo(f"  Taken out, as the form does not ask it any more: {', '.join(gone)}")
    for one in [name for name in session.needless_answers if name not in needless]:
        click.echo(f"  Taken, though after the other answers the form does not ask {asking.question(one)}")


def _answered_names(session: Session) -> set[str]:
    """Questions and features of bundles that were answered."""
    told = {answer.name for answer in session.history}
    return told.union(*(answer.value for answer in session.history if isinstance(answer.value, dict)))


def _values(session: Session) -> dict[str, Any]:
    """What the features showed so far, those of bundles by their own names."""
    parts = ({a.name: a.value} if not isinstance(a.value, dict) else a.value for a in session.history)
    return {name: value for part in parts for name, value in part.items() if value is not None}


def _remark(asking: _LiveCase, told: dict[str, Any]) -> None:
    """Say what is odd about answers that were taken."""
    for name, value in told.items():
        if note := asking.session.unusual(name, value):
            click.echo(f"  Taken, though {note}")
        if asking.session.categories(name) and not is_category(asking.agent, asking.columns[name], value):
            click.echo(f"  Training did not show {short_repr(value)}, so it counts as missing.")


def _observe_bundle(asking: _LiveCase, question: Question, line: str) -> None:
    values = [spelt(value) for value in next(csv.reader([line], skipinitialspace=True))]
    names = [feature.name for feature in question.features]
    if len(values) != len(names):
        raise ValueError(
            f"give {len(names)} values, commas between, of {', '.join(names)}; ? for what is missing, and quotation "
            "marks around a value that holds a comma."
        )
    told = {name: asking.value_of(name, value) for name, value in zip(names, values) if value != "?"}
    asking.session.observe(question.name, told, strict=asking.strict)
    _remark(asking, told)


def _show_best(asking: _LiveCase) -> None:
    best, asked = asking.session.suggestions(3), asking.session.next_feature
    best = [one for one in best if (asked and one.name == asked.name) or not worthless(one.saving_alone, one.price)]
    if best:
        visit = "" if asking.agent.prices.visits is None else "; prices with the visit, where it is not made yet"
        click.echo(wrap(f"What each saves if it is asked alone, and then decided{visit}:", "  "))
    for one in best:
        saving = saving_text(one.saving_alone, one.price, asking.unit)
        click.echo(f"  {asking.question(one.name)}: price {money(one.price, asking.unit)}, {saving}")


def _split_assignment(agent: Agent, text: str) -> tuple[str, str]:
    """Name and value of ``NAME=VALUE``; a name may hold the sign itself, or end in a blank that nobody types."""
    bundles = () if agent.prices.bundles is None else agent.prices.bundle_names
    names = [*columns_by_name(agent), *map(str, bundles)]
    name, sign, value = text.partition("=")
    for known in sorted(names, key=len):
        rest = text.removeprefix(known.strip())
        if rest != text and rest.lstrip().startswith("="):  # of several the longest
            name, sign, value = known, "=", rest.lstrip()[1:]
    if not sign or not name.strip() or not spelt(value):
        raise ValueError(f"give what is known as NAME=VALUE, not {short_repr(text)}.")
    return name if name in names else name.strip(), spelt(value)


def _read_line(prompt: str = "> ") -> str | None:
    """One line of input without blanks around it; None at the end of the input."""
    try:
        line = spelt(input(prompt))
        line.encode()  # of other encodings Python makes halves of characters, where it does not stop at them
    except EOFError:
        if prompt:
            click.echo()
        return None
    except UnicodeError as error:
        raise InputError("the answers are not text in UTF-8; what was answered before is kept with --save.") from error
    if prompt and not sys.stdin.isatty():
        # so that a transcript shows what was answered
        click.echo(line)
    return line


def _keep(asking: _LiveCase) -> None:
    if asking.save is None:
        return
    with as_input_errors(), replace_file(asking.save) as path:
        path.write_text(asking.session.to_json() + "\n", encoding="utf-8")


def _possible_classes_text(asking: _LiveCase, alpha: float) -> str:
    classes = asking.session.differential
    if classes is None:
        return "What is still possible is promised only of cases that answer what is asked, and nothing else."
    names = join_names(map(asking.words.class_text, classes))
    return f"Still possible, but for {exact_percent(alpha)} of cases: {names}"


#: Of a contract, where other things were told than it asks for.
_NOT_CERTIFIED = (
    "What is certified is about cases that answer what is asked, and nothing else: of this one nothing is promised."
)


def _conclude(asking: _LiveCase, finished: bool) -> None:
    session, unit = asking.session, asking.unit
    asked = ", ".join(map(asking.answer_line, session.history))
    if score := asking.score:
        said = "Estimate" if finished else "Stopped before the end; the estimate as things stand"
        click.echo(f"\n{said}: {score}")
        click.echo(f"Acquired {count(session.n_features, 'item')}." + (f" ({asked})" if asked else ""))
        _show_saved(asking)
        return
    click.echo(f"\nBelief: {asking.belief}")
    if finished:
        click.echo(f"Decision: {asking.decision}")
        if (told := asking.agent.differential) is not None:
            click.echo(_possible_classes_text(asking, told.alpha))
        if asking.certified and not session._is_as_planned():
            click.echo(wrap(_NOT_CERTIFIED))
    else:
        click.echo(f"Stopped before the end; the decision as things stand: {asking.decision}")
    if why := asking.why:
        click.echo(wrap(why))
    click.echo(
        f"Acquired {count(session.n_features, 'feature')} at a price of {money(session.paid, unit)}; expected cost of "
        f"this decision {money(session.expected_cost, unit, 4)}." + (f" ({asked})" if asked else "")
    )
    _show_saved(asking)


def _show_saved(asking: _LiveCase) -> None:
    if asking.save is not None:
        _keep(asking)
        click.echo(f"The case is kept in {asking.save}.")
