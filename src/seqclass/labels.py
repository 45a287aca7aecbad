"""Words to show to the people who are asked: questions, answers, units and help for each feature."""

from __future__ import annotations

import csv
import io
import os
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import partial
from numbers import Real
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np

from seqclass._utils.files import read_json
from seqclass._utils.text import as_known, join_names, marks_text, near, sentence, short_repr, spellings, value_text

__all__ = ["Labels"]
__dir__ = __all__.copy  # tab completion

#: What a table may tell, in columns; a mapping has ``question`` for the text of a feature, and ``answers``.
_COLUMNS = ("feature", "answer", "text", "help", "unit", "url", "code")
_KEYS = ("question", "help", "unit", "url")


@dataclass(frozen=True)
class Labels:
    """Questions and answers in the words of those who ask and answer them; anything without words keeps its name.

    Exported pages, C and JSON, ``seqclass ask``, explanations and reports take labels, or anything that `of` can turn
    into labels.

    Attributes
    ----------
    features : mapping of str to mapping
        The words for each feature or bundle, by its name: ``question``, ``help``, ``unit`` (of a number), ``url``
        (where to read more), and ``answers``, which has a text for each category, value, or bin (named as in the
        ``outcomes`` of an exported policy), in the order in which they are offered. The answers of ``class`` and of
        ``decision`` are the words for classes and decisions, in the order in which they are shown, unless a feature has
        that name.
    classes, decisions : mapping of str to str
        Words for classes and decisions, once `check` has told these from features; a decision without words of its
        own has those of its class.
    codes : mapping of (str, str or None) to str
        Codes of a terminology for features (by name and None) and for answers (by name and answer), each as its system
        and its code, such as ``"http://loinc.org|30525-0"``; forms of FHIR carry them.

    Examples
    --------
    >>> age = {"question": "How old are you?", "unit": "years", "answers": {">= 60": "old"}}
    >>> labels = Labels.from_value({"age": age})
    >>> labels.question("age"), labels.value_texts("age", 63.0, ">= 60"), labels.question("sex")
    ('How old are you?', ('63 years', 'old'), 'sex')
    """

    features: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    #: Where each feature, and each answer, is told of.
    _places: Mapping[tuple[str, str | None], str] = field(default_factory=dict, repr=False, compare=False)
    classes: Mapping[str, str] = field(default_factory=dict)
    decisions: Mapping[str, str] = field(default_factory=dict)
    codes: Mapping[tuple[str, str | None], str] = field(default_factory=dict)
    #: Whether these were told from features, so that what is left of such a name is a feature's.
    _told_apart: bool = field(default=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        entries = ((name, e | {"answers": _frozen(e.get("answers", {}))}) for name, e in _copy_features(self.features))
        object.__setattr__(self, "features", _frozen({name: _frozen(entry) for name, entry in entries}))

    def __reduce__(self) -> tuple[Any, ...]:
        features = {name: words | {"answers": dict(words["answers"])} for name, words in _copy_features(self.features)}
        return Labels, (
            features,
            self._places,
            dict(self.classes),
            dict(self.decisions),
            dict(self.codes),
            self._told_apart,
        )

    @classmethod
    def from_value(cls, given: Any) -> Labels:
        """Make labels from a file, a mapping or a table.

        Parameters
        ----------
        given : Labels, path, mapping, data frame or None
            A file either ends in ``.json`` and holds a mapping, or is CSV with commas, semicolons or tabs. A mapping
            has for each feature its question, or a mapping as in `features`. A table, in a file or a data frame, has
            the columns ``feature``, ``answer``, ``text``, ``help``, ``unit``, ``url`` and ``code``; all but the first
            may be left out. In a row without an answer, ``text`` is the question; in a row with one, it is the words
            for that answer. A mapping has ``code`` for the feature, and ``codes`` by answer.

        Returns
        -------
        Labels

        Raises
        ------
        ValueError
            If something is given twice, is not a text or does not belong there; the message names column and row.
        FileNotFoundError
            If there is no such file.

        Examples
        --------
        >>> Labels.from_value({"sex": "Which sex?"}) == Labels.from_value({"sex": {"question": "Which sex?"}})
        True
        """
        if given is None:
            return cls()
        if isinstance(given, Labels):
            return given
        if isinstance(given, Mapping):
            return _from_mapping(given, "labels")
        if hasattr(given, "columns"):
            rows = enumerate(given.astype(object).where(given.notna(), None).to_numpy().tolist(), 1)
            return _from_rows("labels", [str(name) for name in given.columns], rows)
        if not isinstance(given, (str, os.PathLike)):
            raise TypeError(f"labels must be a path, a mapping or a data frame, got {short_repr(given)}.")
        return _from_file(Path(given))

    def question(self, name: str) -> str:
        """Return the question of a feature; without one, the name of the feature."""
        return self.text_of(name, "question") or name

    def in_line(self, name: str) -> str:
        """Return the question on one line; a name is left as it is."""
        return " ".join(self.text_of(name, "question").split()) or name

    def text_of(self, name: str, what: str) -> str:
        """Return the ``question``, ``help``, ``unit`` or ``url`` of a feature; empty if it has none."""
        return str(self.features.get(name, {}).get(what, ""))

    def code(self, name: str, answer: str | None = None) -> dict[str, str] | None:
        """Return system and code of a feature, or of one of its answers; None if it has none."""
        own = (None,) if answer is None else spellings(answer)
        both = next((self.codes[name, one] for one in own if (name, one) in self.codes), "")
        return dict(zip(("system", "code"), both.split("|"))) if both else None

    def answers(self, name: str) -> Mapping[str, str]:
        """Return the words for the answers of a feature, in the order in which they are offered."""
        words: Mapping[str, str] = self.features.get(name, {}).get("answers", {})
        return words

    def in_order(self, name: str, known: Iterable[str]) -> list[str]:
        """Return the answers of a feature in the order in which they are offered, those without words last."""
        known, words = list(known), self.answers(name)
        return [*(one for one in words if one in known), *(one for one in known if one not in words)]

    def value_texts(self, name: str, value: Any, outcome: str | None) -> tuple[str, str | None]:
        """Return texts for a value: the words for it, else its number and the words for its bin.

        Parameters
        ----------
        name : str
            The feature.
        value : float, str or mapping
            Its value; for a bundle, the values of its features by name.
        outcome : str or None
            Description of the outcome that the value belongs to.

        Returns
        -------
        tuple of str and (str or None)
        """
        if isinstance(value, Mapping):
            if (marks := marks_text(value, self.answers(name))) is not None:
                return marks, None
            parts = (f"{self.in_line(part)} {self.value_texts(part, one, None)[0]}" for part, one in value.items())
            return ", ".join(parts), None
        text, words = value_text(value), self.answers(name)
        if text in words:
            return " ".join(words[text].split()), None
        unit = "" if isinstance(value, str) else self.text_of(name, "unit")
        return f"{text} {unit}".rstrip(), outcome if outcome is None else words.get(outcome, outcome)

    def class_text(self, label: Any) -> str:
        """Return the words for a class, on one line; a label without words is left as it is."""
        return " ".join(self.classes.get(str(label), "").split()) or str(label)

    def decision_text(self, label: Any) -> str:
        """Return the words for a decision or, if it has none, for the class of that name."""
        name = str(label)
        return " ".join(self.decisions.get(name, "").split()) or self.class_text(label)

    def class_order(self, labels: Iterable[Any], decisions: bool = False) -> list[int]:
        """Return positions of classes, or of decisions, in the order shown; those without words come last."""
        known = [str(label) for label in labels]
        order = self.decisions if decisions else {}
        words = [*(one for one in self.classes if one not in order), *order]
        first = [known.index(one) for one in words if one in known]
        return [*first, *(k for k in range(len(known)) if k not in first)]

    def separate_kinds(self, names: Collection[str]) -> Labels:
        """Return these labels with words for classes and decisions kept apart from those of features of these names."""
        if self._told_apart:
            return self
        by_kind = {name: self.answers(name) for name in _KINDS if name in self.features and name not in names}
        features = {name: words for name, words in self.features.items() if name not in by_kind}
        classes, decisions = (by_kind.get(name, own) for name, own in zip(_KINDS, (self.classes, self.decisions)))
        return Labels(features, self._places, classes, decisions, self.codes, True)

    def check(
        self,
        names: Collection[str],
        answers: Callable[[str], Collection[str]] | None = None,
        classes: Iterable[Any] | None = None,
        decisions: Iterable[Any] = (),
    ) -> Labels:
        """Return these labels after checking that their features, answers, classes and decisions exist.

        Parameters
        ----------
        names : collection of str
            Names of the features and bundles.
        answers : callable, optional
            Returns the possible answers of a feature, by its name.
        classes, decisions : iterable, optional
            Labels of classes and decisions; without ``classes`` neither are checked.

        Returns
        -------
        Labels
            The same, with the words for classes and decisions kept apart from those of features.

        Raises
        ------
        ValueError
            If there are words for anything that does not exist, or two classes or decisions would have the same words;
            the message names column and row.
        """
        there_are = {} if classes is None else dict(zip(_KINDS, ([*map(str, classes)], [*map(str, decisions)])))
        labels = self.separate_kinds(names)
        for kind, own_labels in there_are.items():
            words = labels.classes if kind == "class" else labels.decisions
            if wrong := [label for label in words if label not in own_labels]:
                place = self._places[kind, wrong[0]]
                raise ValueError(
                    f"{place} names {short_repr(wrong[0])}, which is no {kind}; there are {join_names(own_labels, 12)}."
                )
            texts = [labels.class_text(one) if kind == "class" else labels.decision_text(one) for one in own_labels]
            if twice := [text for text in texts if texts.count(text) > 1]:
                raise ValueError(
                    f"labels give two of each {kind} the same words, {short_repr(twice[0])}: tell them apart."
                )
        features = dict(labels.features)
        for name in labels.features:
            if name not in names:
                there = near(name, list(names), "the features are")
                raise ValueError(f"{self._places[name, None]} names {short_repr(name)}, which is no feature; {there}")
            known = self.answers(name).keys() if answers is None else answers(name)
            own = {as_known(one, known): text for one, text in self.answers(name).items()}
            if len(own) == len(self.answers(name)) and all(one in known for one in own):
                features[name] = {**self.features[name], "answers": own}
                continue
            if absent := [answer for answer in self.answers(name) if answer not in known]:
                place, there = self._places[name, absent[0]], join_names(known, 12) or "none"
                raise ValueError(
                    f"{place} names {short_repr(absent[0])}, which {short_repr(name)} does not show; its "
                    f"answers are {there}."
                )
        return Labels(features, self._places, labels.classes, labels.decisions, self.codes, True)


#: Whose answers are words for classes and decisions, where no feature is called so.
_KINDS = ("class", "decision")
_frozen = MappingProxyType


def _copy_features(features: Mapping[str, Mapping[str, Any]]) -> Iterator[tuple[str, dict[str, Any]]]:
    return ((name, dict(words)) for name, words in features.items())


#: Control characters, but for the ends of lines and tabs.
_CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]")
#: Names the place of a column of a row, or of a key of a mapping.
_Place = Callable[[str], str]


def _row(source: str, number: int, column: str) -> str:
    return f"{source}, row {number}, column {column!r},"


def _key(source: str, name: Any, column: str) -> str:
    at = {"feature": source, "answer": f"{source}, the answers of {short_repr(name)},"}
    return at.get(column, f"{source}, {column!r} of {short_repr(name)},")


def _from_file(path: Path) -> Labels:
    if not path.is_file():
        raise FileNotFoundError(f"there is no file {path}.")
    is_json = path.suffix.lower() == ".json"
    try:
        text = path.read_text(encoding="utf-8-sig")
        if is_json:
            content = read_json(text)
        else:
            sign = max(",;\t", key=text.partition("\n")[0].count)
            columns, *rows = list(csv.reader(io.StringIO(text, newline=""), delimiter=sign, strict=True)) or [[]]
    except (ValueError, csv.Error, RecursionError) as error:
        why = "it is no text in UTF-8." if isinstance(error, UnicodeDecodeError) else sentence(error)
        raise ValueError(f"{path} cannot be read as labels: {why}") from error
    return _from_mapping(content, str(path)) if is_json else _from_rows(str(path), columns, enumerate(rows, 1))


def _from_rows(source: str, columns: list[str], rows: Iterable[tuple[int, list[Any]]]) -> Labels:
    """Labels of a table, whose rows are numbered from 1."""
    for name in columns:
        if name not in _COLUMNS or columns.count(name) > 1:
            why = "twice" if name in _COLUMNS else f"which says nothing; {near(name, _COLUMNS).rstrip('.')}"
            raise ValueError(f"{source} has the column {short_repr(name)} {why}.")
    if "feature" not in columns:
        raise ValueError(f"{source} lacks the column 'feature', the first of {join_names(_COLUMNS)}.")

    def read_features() -> Iterator[tuple[_Place, dict[str, Any]]]:
        for number, cells in rows:
            if any(cells):  # spreadsheets leave rows behind in which nothing stands
                if len(cells) != len(columns):
                    raise ValueError(
                        f"{source}, row {number}, has {len(cells)} cells where the header has {len(columns)}."
                    )
                yield partial(_row, source, number), dict(zip(columns, cells))

    return _put_together(read_features())


def _from_mapping(given: Any, source: str) -> Labels:
    """Labels of a mapping of features to questions, or to mappings."""
    if not isinstance(given, Mapping):
        raise TypeError(f"{source} must be a mapping of features to what is told of them, got {short_repr(given)}.")

    def read_features() -> Iterator[tuple[_Place, dict[str, Any]]]:
        for name, one in given.items():
            one = {"question": one} if isinstance(one, str) else one
            place = partial(_key, source, name)
            if not isinstance(one, Mapping) or not isinstance(answers := one.get("answers", {}), Mapping):
                raise TypeError(
                    f"{place('what is told')} must be a question, or a mapping whose answers are a mapping too."
                )
            keys = [*_KEYS, "code", "answers", "codes"]
            if not isinstance(codes := one.get("codes", {}), Mapping):
                raise TypeError(f"{place('codes')} must be a mapping of answers to codes, got {short_repr(codes)}.")
            if unknown := [key for key in one if key not in keys]:
                there = near(str(unknown[0]), keys, "there are")
                raise ValueError(
                    f"{source} tells {short_repr(unknown[0])} of {short_repr(name)}, which is no key; {there}"
                )
            yield (
                place,
                {"feature": name, "text": one.get("question")} | {key: one.get(key) for key in (*_KEYS[1:], "code")},
            )
            for answer in dict.fromkeys([*answers, *codes]):
                yield place, {"feature": name, "answer": answer, "text": answers.get(answer), "code": codes.get(answer)}

    return _put_together(read_features())


def _put_together(rows: Iterable[tuple[_Place, dict[str, Any]]]) -> Labels:
    """Labels of rows, each with its place, as `Labels.from_value` tells of them."""
    features: dict[str, dict[str, Any]] = {}
    places: dict[tuple[str, str | None], str] = {}
    named: set[tuple[str, str | None]] = set()
    codes: dict[tuple[str, str | None], str] = {}
    coded: dict[tuple[str, str], str] = {}  # answers by these
    for place, cells in rows:
        row = {column: _text(cells.get(column), place, column) for column in _COLUMNS}
        name, answer = row["feature"], row["answer"] or None
        column = "feature" if answer is None else "answer"
        if not name:
            raise ValueError(f"{place('feature')} is empty, and there it says whom the row is about.")
        if (name, answer) in named:
            what = short_repr(name) if answer is None else f"{short_repr(answer)} of {short_repr(name)}"
            raise ValueError(f"{place(column)} names {what} again, after {places[name, answer].rstrip(',')}.")
        named.add((name, answer))
        places[name, answer] = place(column)
        places.setdefault((name, None), place("feature"))
        words = features.setdefault(name, {"answers": {}})
        if answer is None:
            words |= dict(zip(_KEYS, (row["text"], row["help"], row["unit"], row["url"])))
        else:
            wrong = next((key for key in _KEYS[1:] if row[key]), None)
            if wrong is not None:
                raise ValueError(f"{place(wrong)} belongs to the row of the feature, the one without an answer.")
            words["answers"][answer] = row["text"] or answer
        if row["url"] and not re.fullmatch(r"https?://[^\s<>\"]+", row["url"]):
            raise ValueError(f"{place('url')} must begin with https:// or http://, got {short_repr(row['url'])}.")
        if row["code"]:
            if answer is not None and (other := coded.setdefault((name, row["code"]), answer)) != answer:
                both = f"{short_repr(other)} and {short_repr(answer)} of {short_repr(name)}"
                raise ValueError(
                    f"{place('code')} is one code for {both}, which nobody could tell apart: give each its own."
                )
            codes[name, answer] = row["code"]
            if not re.fullmatch(r"[^\s|]+\|[^\s|]+( [^\s|]+)*", row["code"]):
                how = "must be a system and a code, such as http://loinc.org|30525-0"
                raise ValueError(f"{place('code')} {how}, got {short_repr(row['code'])}.")
    return Labels(features, places, codes=codes)


def _text(value: Any, place: _Place, column: str) -> str:
    """A cell as text; numbers, which may be answers, as people write them."""
    if value is None or value != value:
        return ""
    if not isinstance(value, (str, Real, np.bool_)):
        raise TypeError(f"{place(column)} must be a text, got {short_repr(value)}.")
    text = value_text(value)
    if match := _CONTROL.search(text):  # which a terminal would obey
        raise ValueError(f"{place(column)} must be text without control characters, and holds {match[0]!r}.")
    return text if column == "feature" else text.strip()
