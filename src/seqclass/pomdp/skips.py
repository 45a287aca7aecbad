"""Skip logic: questions that are asked only once another was answered, or answered so, and answers that follow."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any

import numpy as np

from seqclass._utils.arrays import IntArray
from seqclass._utils.files import read_json
from seqclass._utils.model_files import register
from seqclass._utils.text import as_known, end_sentence, join_names, short_repr
from seqclass._utils.validation import columns_of
from seqclass.pomdp.answer_rules import AnswerRules, Effect
from seqclass.pomdp.names import Naming

__all__ = ["SkipLogic", "SkipRule"]


@register
@dataclass(frozen=True)
class SkipRule:
    """One rule of a form: when a question is asked, or which answer of it follows from that to another.

    Parameters
    ----------
    question : str or int
        The column that is asked, by name or number. `SkipLogic` takes several in a list: one rule for each.
    after : str or int
        The column whose answer decides. An unanswered one opens nothing.
    answers : sequence or None
        The answers of ``after`` that count, as the data have them; one alone may stand without a list. None: any.
    implied : object
        The answer of ``question`` that follows from these: it is then not asked and costs nothing. None: these answers
        *open* the question, which is asked in no other case.
    match : {"all", "any"}
        Of several rules that open one question whether all must hold, or any.

    Examples
    --------
    >>> SkipRule("pack years", after="smokes", answers="yes")
    SkipRule(question='pack years', after='smokes', answers=('yes',), implied=None, match='all')
    """

    question: Any
    after: Any
    answers: Any = None
    implied: Any = None
    match: str = "all"

    def __post_init__(self) -> None:
        single = isinstance(self.answers, (str, bytes)) or not isinstance(self.answers, Iterable)
        answers = self.answers if self.answers is None else (self.answers,) if single else tuple(self.answers)
        object.__setattr__(self, "answers", answers)
        if answers == ():
            raise ValueError(f"{self} names no answers: leave answers out if any counts.")
        if isinstance(self.after, (list, tuple, set)):
            raise ValueError(f"{self}: after must be one column; write one rule for each.")
        if self.match not in ("all", "any"):
            raise ValueError(f'{self}: match must be "all" or "any", got {short_repr(self.match)}.')

    def __str__(self) -> str:
        return f"skip logic: the rule for {short_repr(self.question)} after {short_repr(self.after)}"


@register
@dataclass(frozen=True)
class SkipLogic:
    """The skip logic of a form: follow-up questions, and answers that follow from others.

    It belongs to the problem, as `Rules` do, so that plans, bounds, certificates, sessions and exported files keep to
    it: a question that no answer has opened is never asked, nor is one whose answer follows from another. An implied
    answer opens other questions as any answer does, and leaves P(class) as it is: it follows from what was said,
    whatever the class. In `fit`, answers that the logic would have left out count as missing, so that the model learns
    how those answer who are asked. In a fixed order what is left out is passed over.

    Parameters
    ----------
    rules : sequence of SkipRule or mapping, or mapping
        The rules; a mapping gives those of each question by its name, as in the example.

    Examples
    --------
    >>> logic = SkipLogic({"pack years": {"after": "smokes", "answers": "yes"}, "dose": "takes aspirin"})
    >>> for rule in logic.rules:
    ...     print(rule.question, rule.after, rule.answers)
    pack years smokes ('yes',)
    dose takes aspirin None
    """

    rules: Any = ()

    def __post_init__(self) -> None:
        object.__setattr__(self, "rules", tuple(_expand(self.rules)))

    def __len__(self) -> int:
        return len(self.rules)

    @classmethod
    def from_value(cls, given: Any) -> SkipLogic:
        """Return skip logic as it is, or made of what a user gave: rules, in a list or by question; None for none.

        Examples
        --------
        >>> len(SkipLogic.from_value([{"question": ["dose", "since"], "after": "takes aspirin"}]))
        2
        """
        return given if isinstance(given, cls) else cls(() if given is None else given)

    @classmethod
    def read(cls, path: str | Path) -> SkipLogic:
        r"""Read a file: CSV with a rule a line, or JSON with a list of rules, or with those of each question.

        Parameters
        ----------
        path : str or path
            The file. Columns of a CSV file are ``question`` and ``after``, and if wanted ``answers``, ``implied`` and
            ``match``, with commas, semicolons or tabs between; several questions or answers in a cell have semicolons.

        Returns
        -------
        SkipLogic

        Raises
        ------
        ValueError
            If it holds anything else.

        Examples
        --------
        >>> from tempfile import TemporaryDirectory
        >>> with TemporaryDirectory() as folder:
        ...     path = Path(folder) / "form.csv"
        ...     _ = path.write_text("question,after,answers\npack years; brand,smokes,yes; sometimes\n")
        ...     SkipLogic.read(path).rules[1]
        SkipRule(question='brand', after='smokes', answers=('yes', 'sometimes'), implied=None, match='all')
        """
        try:
            text = Path(path).read_text("utf-8-sig")
            if Path(path).suffix.lower() == ".json":
                return cls(read_json(text))
            first = text.partition("\n")[0]
            sign, file = max(",;\t", key=first.count), io.StringIO(text, newline="")
            lines = list(csv.DictReader(file, delimiter=sign, strict=True, skipinitialspace=True))
            if not lines or not {"question", "after"} <= set(lines[0]):
                raise ValueError('its first line must name the columns "question" and "after", and others follow.')
            # spreadsheets leave empty lines behind
            return cls([_of_cells(line) for line in lines if any(line.values())])
        except (ValueError, csv.Error, RecursionError) as error:
            why = "it is no text in UTF-8." if isinstance(error, UnicodeDecodeError) else end_sentence(str(error))
            raise ValueError(f"{path} holds no skip logic: {why}") from error

    def numbers(self, n_columns: int, names: Iterable[Any] | None = None) -> SkipLogic:
        """Return the same by numbers of columns; see `Rules.numbers`."""
        names = None if names is None else list(names)

        def number(column: Any, rule: SkipRule) -> int:
            return int(columns_of([column], n_columns, names, str(rule))[0])

        return SkipLogic(
            [replace(rule, question=number(rule.question, rule), after=number(rule.after, rule)) for rule in self.rules]
        )


def _of_cells(line: Mapping[str | None, Any]) -> dict[str, Any]:
    """A line of a file as a rule."""
    if None in line:
        raise ValueError(f"the line {short_repr(line.get('question'))} has more cells than the first line.")
    cells = {str(name).strip(): (cell or "").strip() for name, cell in line.items()}
    rule: dict[str, Any] = {name: cell for name, cell in cells.items() if cell}
    for name in ("question", "answers"):
        if name in rule:
            rule[name] = [part.strip() for part in rule[name].split(";")]
    return rule


def _expand(given: Any) -> Iterator[SkipRule]:
    """Rules of one question each."""
    if isinstance(given, Mapping):
        for question, own in given.items():
            several = isinstance(own, Iterable) and not isinstance(own, (Mapping, str))
            for rule in own if several else [own]:
                parts = rule if isinstance(rule, Mapping) else {"after": rule}
                yield from _expand([rule if isinstance(rule, SkipRule) else {"question": question, **parts}])
        return
    if isinstance(given, (str, bytes)) or not isinstance(given, Iterable):
        raise ValueError(
            f"skip logic must be a list of rules, or those of each question by name, got {short_repr(given)}."
        )
    for one in given:
        if isinstance(one, Mapping):
            names = [field.name for field in fields(SkipRule)]
            if unknown := [name for name in one if name not in names]:
                raise ValueError(f"skip logic: a rule has no {short_repr(unknown[0])}; it has {join_names(names)}.")
            if lacks := [name for name in names[:2] if name not in one]:
                raise ValueError(f"skip logic: the rule {short_repr(dict(one))} does not say {short_repr(lacks[0])}.")
            one = SkipRule(**one)
        if not isinstance(one, SkipRule):
            raise ValueError(f"skip logic: a rule must be a SkipRule or a mapping of its parts, got {short_repr(one)}.")
        several = isinstance(one.question, (list, tuple))
        yield from (replace(one, question=question) for question in one.question) if several else [one]


def answer_rules(
    logic: SkipLogic,
    naming: Naming,
    place: Mapping[int, int],
    n_outcomes: Mapping[int, int] | IntArray,
    columns: Any = None,
) -> AnswerRules | None:
    """Skip logic of columns by number as one of the features that they are, ``place``; None where nothing is left.

    Rules for columns that are no features say nothing, and neither do answers that imply and that nobody gives.
    """
    rules = [rule for rule in logic.rules if rule.question in place]
    for rule in rules:
        if rule.after not in place and rule.implied is None:
            after = f"column {rule.after}" if columns is None else columns[int(rule.after)]
            raise ValueError(
                f"skip logic: {after}, which opens {naming.feature(place[rule.question])}, is left out of "
                "the model, so that nobody would be asked: keep it, or leave both out."
            )
    rules = [rule for rule in rules if rule.after in place]
    if not rules:
        return None
    targets, gates = (np.array([place[getattr(r, end)] for r in rules]) for end in ("question", "after"))
    features = np.union1d(targets, gates)
    accepts = np.zeros((len(rules), max(int(n_outcomes[gate]) for gate in gates)), dtype=bool)
    implied = np.full(len(rules), Effect.OPENS)
    any_of = np.zeros(len(features), dtype=bool)
    for number, (rule, target, gate) in enumerate(zip(rules, targets.tolist(), gates.tolist())):
        size = int(n_outcomes[gate])
        if rule.answers is None:  # a missing one is none, whether it is an outcome or not
            accepts[number, :size] = np.arange(size) != naming.missing(gate)
        else:
            accepts[number, [outcome_of(naming, gate, answer, size) for answer in rule.answers]] = True
        if rule.implied is not None:
            implied[number] = outcome_of(naming, target, rule.implied, int(n_outcomes[target]))
        any_of[np.searchsorted(features, target)] |= rule.match == "any"
    logic_of = AnswerRules(
        features, np.searchsorted(features, targets), np.searchsorted(features, gates), accepts, implied, any_of
    )
    logic_of.check(naming.feature)
    return logic_of


def outcome_of(naming: Naming, feature: int, answer: Any, n_outcomes: int, what: str = "skip logic") -> int:
    """The outcome that an answer is, which must stand for no other one."""
    shown = naming.shows(feature, n_outcomes - (naming.missing(feature) >= 0))
    text = as_known(str(answer).strip(), shown)
    if text in shown:
        return shown.index(text)
    for number, label in enumerate(shown):  # 1.0 is 1
        with suppress(ValueError):
            if float(label) == float(text):
                return number
    if type(naming) is Naming and isinstance(answer, (int, np.integer)) and 0 <= answer < n_outcomes:
        return int(answer)  # of a problem without data outcomes have numbers
    raise ValueError(
        f"{what}: {naming.feature(feature)} has no answer {short_repr(answer)}; it has {join_names(shown)}."
    )
