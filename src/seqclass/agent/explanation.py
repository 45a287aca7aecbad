"""Why an instance was decided as it was: what was asked, what that was expected to save, and what came of it."""

from __future__ import annotations

import html
import json
import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields, replace
from itertools import islice
from typing import Any

import numpy as np

from seqclass._utils.arrays import FloatArray
from seqclass._utils.tables import Readable, to_json_value
from seqclass._utils.text import (
    answer_text,
    belief_text,
    cheapest_text,
    going_on_text,
    money,
    percent,
    plan_saving_text,
    value_text,
    visible,
)
from seqclass._utils.validation import check_choice
from seqclass.agent._case import Feature, Question
from seqclass.agent.agent import column_name
from seqclass.agent.components import Component, Likeness, Trait
from seqclass.labels import Labels
from seqclass.pomdp.ties import TIE

__all__ = ["Explanation", "ExplanationStep"]


STYLES = ("terminal", "markdown", "html")
_HTML = ("#a6cee3", "#fdd0a2", "#b2e2bf", "#e8bcd7", "#fee391", "#c9d7f0", "#d9d9d9")
_MARKDOWN_SIGNS = re.compile(r"([\\`*_{}\[\]<>()#+!|~&=-])")
#: Round brackets of a note, which are ours and mean nothing to Markdown by themselves.
_MARKDOWN_NOTE = re.compile(r"\\([()])")
#: Would let a document steer the terminal that shows it; tabs and line ends may stay.
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")


@dataclass(frozen=True)
class Word:
    """A word that was asked for.

    Attributes
    ----------
    text : str
        The word.
    present : bool
        Whether the document has it.
    towards : str or None
        Label of the class that gained most by the answer; None where none did.
    number : int
        Number of that class, which gives the colour.
    before, after : float
        Its probability before and after the answer.

    Examples
    --------
    >>> Word("great", True, "good", 1, 0.5, 0.8).towards
    'good'
    """

    text: str
    present: bool
    towards: str | None
    number: int
    before: float
    after: float


def mark_words(text: str, words: Sequence[Word], style: str = "terminal") -> str:
    """Mark the words that are present, and list what each of them, and each absent one, told."""
    check_choice(style, "style", STYLES)
    if not isinstance(text, str):
        raise TypeError(f"text must be a document as str, got {type(text).__name__}.")
    escape, mark, join = _RENDERERS[style]
    known = {word.text.lower(): word for word in words if word.present and word.text}
    pieces: list[str] = []
    end = 0
    for match in _pattern(known).finditer(text) if known else ():
        pieces.append(escape(text[end : match.start()]))
        pieces.append(mark(escape(match.group()), _match_word(match.group(), known)))
        end = match.end()
    pieces.append(escape(text[end:]))
    lists = [("present", [w for w in words if w.present]), ("absent", [w for w in words if not w.present])]
    notes = [f"{title}: " + ", ".join(_word_text(word) for word in some) for title, some in lists if some]
    return join("".join(pieces), [escape(note) for note in notes])


def _pattern(known: dict[str, Word]) -> re.Pattern[str]:
    """Whole words only, the longest first, so that "not good" goes before "good"."""
    names = sorted((word.text for word in known.values()), key=lambda name: (-len(name), name))
    return re.compile(rf"(?<!\w)(?:{'|'.join(map(re.escape, names))})(?!\w)", re.IGNORECASE)


def _match_word(piece: str, known: dict[str, Word]) -> Word:
    """The word that a piece of the document is."""
    word = known.get(piece.lower())
    if word is None:
        # a pattern that ignores case takes the dotted capital I for an i, though its small form is another
        word = next(w for w in known.values() if re.fullmatch(re.escape(w.text), piece, re.IGNORECASE))
    return word


def _word_text(word: Word) -> str:
    if word.towards is None:
        return f"{word.text} (no change)"
    return f"{word.text} ({word.towards} {percent(word.before)} to {percent(word.after)})"


def _plain_word(text: str) -> str:
    return _CONTROL.sub("", text)


def _mark_terminal(piece: str, word: Word) -> str:
    colours = (104, 103, 102, 105, 106, 101, 107)  # codes of light backgrounds, that black text stands out from
    return f"\x1b[30;{colours[word.number % len(colours)]}m{piece}\x1b[0m"


def _join_lines(text: str, notes: Sequence[str]) -> str:
    return "\n".join([text, *(["", *notes] if notes else [])])


def _escape_markdown(text: str) -> str:
    return _MARKDOWN_SIGNS.sub(r"\\\1", _plain_word(text))


def _escape_html(text: str) -> str:
    return html.escape(_plain_word(text))


def _join_markdown(text: str, notes: Sequence[str]) -> str:
    return "\n\n".join([text, *(_MARKDOWN_NOTE.sub(r"\1", note) for note in notes)])


def _mark_html(piece: str, word: Word) -> str:
    colour = _HTML[word.number % len(_HTML)]
    return f'<mark style="background:{colour}" title="{html.escape(_word_text(word))}">{piece}</mark>'


def _join_html(text: str, notes: Sequence[str]) -> str:
    small = "".join(f"<br><small>{note}</small>" for note in notes)
    return f'<p style="white-space:pre-wrap">{text}{small}</p>'


_Renderer = tuple[Callable[[str], str], Callable[[str, Word], str], Callable[[str, Sequence[str]], str]]
_RENDERERS: dict[str, _Renderer] = {
    "terminal": (_plain_word, _mark_terminal, _join_lines),
    "markdown": (_escape_markdown, lambda piece, word: f"**{piece}**", _join_markdown),
    "html": (_escape_html, _mark_html, _join_html),
}


@dataclass(frozen=True, repr=False)
class ExplanationStep(Readable):
    """One step of an explanation: a feature that was asked for.

    Attributes
    ----------
    name : str
        Its name; ``"x3"`` for column 3 if features have no names.
    column : int
        Its column in the training data.
    value : float, str, dict or None
        Its value, as given; None if it was missing. For a bundle, the values of its features by name.
    outcome : int
        Outcome of the model that the value belongs to; -1 if missing.
    label : str or None
        Description of that outcome, such as ``"[1.2, 3.4)"``; None if missing.
    price : float
        Price at which it was offered, in units of misclassification cost.
    paid : float
        What was paid: the price, or nothing for a missing feature unless the classifier charges for those.
    expected_saving : float
        How much cheaper going on from there was expected to be than deciding, with its price and those of later
        features included: what the whole plan saves. NaN if the policy does not know.
    before, after : tuple of float of length n_classes
        P(class | what was seen) before and after the answer.
    visit : int or None
        Number of the visit, from 1, in which it was ordered; None if visits cost nothing.
    visit_price : float
        At the first step of a visit, what the visit cost besides prices; 0 at its other steps.
    compelled : bool
        Whether rules required it although it was not expected to pay.
    added_saving : float
        What this feature, or all that was ordered with it, added to that: how much less going on would have saved if it
        could not be had; NaN where the policy's values do not say it, see `Question`.

    Examples
    --------
    >>> step = ExplanationStep("age", 0, 47.0, 2, "[40, 60)", 0.01, 0.01, 0.2, (0.5, 0.5), (0.3, 0.7))
    >>> step.missing, step.gain
    (False, 1)
    """

    name: str
    column: int
    value: float | str | dict[str, Any] | None
    outcome: int
    label: str | None
    price: float
    paid: float
    expected_saving: float
    before: tuple[float, ...]
    after: tuple[float, ...]
    visit: int | None = None
    visit_price: float = 0.0
    compelled: bool = False
    added_saving: float = math.nan

    @property
    def missing(self) -> bool:
        """Whether it was asked for but missing."""
        return self.outcome < 0

    @property
    def gain(self) -> int | None:
        """Number of the class whose probability rose most; None if none rose."""
        change = [after - before for before, after in zip(self.before, self.after)]
        best = max(range(len(change)), key=lambda i: change[i])
        return best if change[best] > 1e-12 else None  # less is rounding


@dataclass(frozen=True, repr=False)
class Explanation(Readable):
    """Why one instance was decided as it was.

    `SequentialClassifier.explain` makes it; ``str()`` turns it into text for people.

    Attributes
    ----------
    classes : tuple of length n_classes
        Class labels.
    prior, posterior : tuple of float of length n_classes
        P(class) before anything was asked (given what is known of every case at the start), and at the stop.
    steps : tuple of ExplanationStep
        The features that were asked for, in order.
    not_asked : Question or None
        The feature that would have come next, with its price and what asking it was expected to save (not above zero,
        which is why it stopped). None if there was none, as all were asked for, or the order or a limit ended there.
    decision : object
        The decision taken, a label of ``decisions_``.
    decision_costs : dict
        Expected cost of each decision at the stop, by label, those for the classes first and in their order; the
        decision taken has the lowest.
    cost : float
        Prices paid.
    likeness : Likeness or None
        The component that the instance is most like, if the model is a class mixture; the text mentions it if it has a
        probability of at least a half.
    unit : str
        Unit of prices and costs, such as ``"EUR"``; empty if none was given.
    known : dict
        What was known before the first question, by name, for a classifier with ``known``; missing values are left out,
        and of a question with marks there is a dict of its columns.

    References
    ----------
    .. [1] Y. W. Liyanage, D.-S. Zois and C. Chelmis, "Dynamic instance-wise classification in correlated feature
       spaces", IEEE TAI 2021, section VI-G: Table IX and Fig. 4.

    Examples
    --------
    >>> import numpy as np
    >>> from seqclass import SequentialClassifier
    >>> X = np.repeat([[0.0, 5.0], [1.0, 5.0]], 20, axis=0)
    >>> clf = SequentialClassifier().fit(X, np.repeat(["a", "b"], 20))
    >>> print(clf.explain([0.1, 5.0])[0])
    At first: a 50.0%, b 50.0%
    1. x0 = 0.1 (< 0.3333): a 95.5%, b 4.5%
       price 0.01, going on is expected to save 0.4248 more than it costs, and nothing without this feature
    Stopped before x1 (price 0.01): what is left to ask is expected to save nothing, so going on only costs its price.
    Decision: a, expected to cost 0.0455 (b 0.9545). 1 feature acquired, 0.01 paid.
    """

    classes: tuple[Any, ...]
    prior: tuple[float, ...]
    posterior: tuple[float, ...]
    steps: tuple[ExplanationStep, ...]
    not_asked: Question | None
    decision: Any
    decision_costs: Mapping[Any, float]
    paid: float
    likeness: Likeness | None = None
    unit: str = ""
    known: Mapping[str, Any] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self.steps)

    def __str__(self) -> str:
        lines = [*_start_lines(self.known), f"At first: {belief_text(self.classes, self.prior)}"]
        visits = self.visit_texts
        for number, step in enumerate(self.steps, 1):
            lines += [visits[number - 1]] if number - 1 in visits else []
            lines += _step_lines(number, step, self.classes, self.unit)
        is_likely = self.likeness is not None and self.likeness.probability >= 0.5
        likeness = [str(self.likeness)] if is_likely else []
        return "\n".join(visible(line, keep="") for line in [*lines, *likeness, self.stop_text, self.decision_text])

    @property
    def n_features(self) -> int:
        """Number of features acquired; one that was asked for but missing does not count."""
        return sum(not step.missing for step in self.steps)

    @property
    def beliefs(self) -> FloatArray:
        """P(class | what was seen) before the first question and after each answer, (n_asked + 1, n_classes)."""
        return np.array([self.prior, *(step.after for step in self.steps)])

    @property
    def visit_texts(self) -> dict[int, str]:
        """What was ordered together in each visit and why, by the position of its first step; empty without visits."""
        together: dict[int, list[ExplanationStep]] = {}
        first: dict[int | None, int] = {}
        for place, step in enumerate(self.steps):
            if step.visit is not None:
                together.setdefault(first.setdefault(step.visit, place), []).append(step)
        return {place: _visit_line(steps, self.unit) for place, steps in together.items()}

    @property
    def stop_text(self) -> str:
        """A sentence on why it stopped."""
        question, unit = self.not_asked, self.unit
        if question is None:
            return "Stopped: the policy names no further feature."
        why = going_on_text(question.expected_saving, question.price, unit)
        return f"Stopped before {question.name} (price {money(question.price, unit)}){': ' if why else ''}{why}."

    @property
    def decision_text(self) -> str:
        """Sentences on what was decided, what that and the next best are expected to cost, and what was paid."""
        costs, n, unit = self.decision_costs, self.n_features, self.unit
        others = sorted((cost, str(label)) for label, cost in costs.items() if label != self.decision)
        shown = ", ".join(f"{label} {money(cost, unit, 4)}" for cost, label in others[:3])
        rest = f" ({shown}{', ...' if len(others) > 3 else ''})" if shown else ""
        least, likely = costs[self.decision], int(np.argmax(self.posterior))
        other = next(islice(costs.values(), likely, None), least)  # those for the classes come first
        beaten = other > least * (1 + TIE)
        why = f"{cheapest_text(self.classes[likely], least, other, unit)} " if beaten else ""
        return (
            f"Decision: {self.decision}, expected to cost {money(least, unit, 4)}{rest}. {why}"
            f"{n} feature{'' if n == 1 else 's'} acquired, {money(self.paid, unit)} paid."
        )

    def in_words(self, labels: Any) -> Explanation:
        """Return the explanation in the words of those who ask and answer.

        Parameters
        ----------
        labels : Labels, path, mapping or data frame
            See `seqclass.Labels.from_value`; words for other features are ignored.

        Returns
        -------
        Explanation
            The same with questions instead of names, words (or numbers with their unit) instead of values, and the
            words for classes and decisions, in the order of the labels.

        Examples
        --------
        >>> from seqclass import etana
        >>> clf = etana().fit([[0.0], [0.1], [0.9], [1.0]] * 10, ["a", "a", "b", "b"] * 10)
        >>> print(clf.explain([0.2])[0].in_words({"x0": {"question": "How long?", "unit": "cm"}}))
        At first: a 50.0%, b 50.0%
        1. How long? 0.2 cm (< 0.3333): a 95.5%, b 4.5%
           price 0.01, going on is expected to save 0.4248 more than it costs, and nothing without this feature
        Stopped: the policy names no further feature.
        Decision: a, expected to cost 0.0455 (b 0.9545). 1 feature acquired, 0.01 paid.
        """
        names = {step.name for step in self.steps} | ({self.not_asked.name} if self.not_asked else set())
        names |= set(self.known)
        words = Labels.from_value(labels).separate_kinds(names)
        asked, likeness, order = self.not_asked, self.likeness, words.class_order(self.classes)
        if likeness is not None:
            traits = [
                replace(t, name=words.in_line(t.name), label=words.answers(t.name).get(t.label, t.label))
                for t in likeness.component.traits
            ]
            label = words.class_text(likeness.component.label) if words.classes else likeness.component.label
            likeness = replace(likeness, component=replace(likeness.component, label=label, traits=tuple(traits)))
        explanation = replace(
            self,
            prior=_in_order(self.prior, order),
            posterior=_in_order(self.posterior, order),
            steps=tuple(_step_in_words(step, words, order) for step in self.steps),
            not_asked=None if asked is None else replace(asked, name=words.in_line(asked.name)),
            likeness=likeness,
            known={words.in_line(name): words.value_texts(name, value, None)[0] for name, value in self.known.items()},
        )
        if not words.classes and not words.decisions:
            return explanation
        labels = list(self.decision_costs)
        labels = [*(labels[i] for i in order), *labels[len(order) :]]
        return replace(
            explanation,
            classes=tuple(words.class_text(self.classes[i]) for i in order),
            decision=words.decision_text(self.decision),
            decision_costs={words.decision_text(label): self.decision_costs[label] for label in labels},
        )

    def _summary(self) -> str:
        belief, paid = belief_text(self.classes, self.posterior), money(self.paid, self.unit)
        acquired = f"{self.n_features} feature{'' if self.n_features == 1 else 's'} acquired"
        return f"{belief}; {acquired}, {paid} paid; decision {self.decision}"

    def _table(self) -> Any:
        import pandas as pd

        columns = [field.name for field in fields(ExplanationStep) if field.name not in ("before", "after")]
        rows = [[*(getattr(step, name) for name in columns), *(float(p) for p in step.after)] for step in self.steps]
        return pd.DataFrame(rows, columns=[*columns, *(f"P({label})" for label in self.classes)])

    def to_dict(self) -> dict[str, Any]:
        """Return the explanation as plain lists, dicts, numbers and texts; `from_dict` reads it.

        Returns
        -------
        dict
            Its keys are the attributes; each step has ``missing`` as well. Labels are plain Python values.
        """
        content = asdict(self)
        for step, record in zip(self.steps, content["steps"]):
            record["missing"] = step.missing
        content["n_features"] = self.n_features
        return dict(_to_builtin(content))

    @classmethod
    def from_dict(cls, content: Mapping[str, Any]) -> Explanation:
        """Make an explanation from what `to_dict` returned, or from the parsed text of `to_json`.

        Parameters
        ----------
        content : mapping
            Plain data. Labels that JSON cannot hold, such as dates, stay the texts that stand for them.

        Returns
        -------
        Explanation

        Raises
        ------
        ValueError
            If something is missing; the message names it.

        Examples
        --------
        >>> from seqclass import etana
        >>> clf = etana().fit([[0.0], [0.1], [0.9], [1.0]] * 10, ["a", "a", "b", "b"] * 10)
        >>> [explanation] = clf.explain([0.2])
        >>> str(Explanation.from_dict(json.loads(explanation.to_json()))) == str(explanation)
        True
        """
        try:
            return _from_dict(content)
        except (KeyError, TypeError) as error:
            raise ValueError(f"content is not that of an explanation: {type(error).__name__} {error}.") from error

    def to_json(self, indent: int | None = None) -> str:
        """Return the explanation as JSON text; NaN becomes null.

        Parameters
        ----------
        indent : int, optional
            Number of spaces to indent lines by; by default everything is on one line.

        Returns
        -------
        str
        """
        return json.dumps(to_json_value(self.to_dict()), indent=indent, allow_nan=False)

    def highlight(
        self,
        text: str,
        feature_names: Sequence[str] | Mapping[int, str] | None = None,
        *,
        style: str = "terminal",
    ) -> str:
        """Mark the words that were asked for in a document, if features are words (a bag of words).

        A word whose value is not zero is marked wherever it occurs as a whole word, in upper or lower case. Below the
        document all words are listed, those present and those found absent, each with the class that gained most by it.

        Parameters
        ----------
        text : str
            The document.
        feature_names : sequence of str of length n_features or mapping of column to str, optional
            The word that each column counts; by default the names in the explanation.
        style : {"terminal", "markdown", "html"}
            Coloured for terminals, bold in Markdown, or ``<mark>`` in HTML; the text of the document is escaped.

        Returns
        -------
        str

        Raises
        ------
        TypeError
            If ``text`` is not a str.
        ValueError
            If the style is unknown, or a word has no name.
        """
        return mark_words(text, [self._word(step, feature_names) for step in self.steps if not step.missing], style)

    def _word(self, step: ExplanationStep, names: Sequence[str] | Mapping[int, str] | None) -> Word:
        name = step.name if names is None else column_name(names, step.column)
        gain = step.gain
        number = 0 if gain is None else gain
        towards = None if gain is None else str(self.classes[gain])
        return Word(name, step.value not in (0.0, "0", "0.0"), towards, number, step.before[number], step.after[number])


def _in_order(belief: tuple[float, ...], order: Sequence[int]) -> tuple[float, ...]:
    return tuple(belief[i] for i in order)


def _step_in_words(step: ExplanationStep, words: Labels, order: Sequence[int]) -> ExplanationStep:
    """A step in words, with classes in an order."""
    value, label = step.value, step.label
    if value is not None:
        text, label = words.value_texts(step.name, value, label)
        value = value if text == value_text(value) else text
    before, after = _in_order(step.before, order), _in_order(step.after, order)
    return replace(step, name=words.in_line(step.name), value=value, label=label, before=before, after=after)


def _start_lines(known: Mapping[str, Any]) -> list[str]:
    """What was known at the start, in a line; none where nothing was."""
    most = 8
    answers = [answer_text(name, value_text(value)) for name, value in islice(known.items(), most)]
    more = f" and {len(known) - most} more" if len(known) > most else ""
    return [f"Known: {', '.join(answers)}{more}"] if answers else []


def saving_text(step: ExplanationStep, price: float, unit: str, by: str = "this feature") -> str:
    """What going on was expected to save, in words, and how much less without the step; or that rules asked for it."""
    if step.compelled:
        return "asked because the rules demand it, whether it pays or not"
    return plan_saving_text(step.expected_saving, step.added_saving, price, unit, by)


def _step_lines(number: int, step: ExplanationStep, classes: Sequence[Any], unit: str) -> list[str]:
    if step.missing:
        line = f"{answer_text(step.name, 'missing', ' is ')}, so the belief stays as it is"
    else:
        text = str(step.label) if step.value is None else value_text(step.value)
        within = "" if step.label in (text, None) else f" ({step.label})"
        line = f"{answer_text(step.name, text + within)}: {belief_text(classes, step.after)}"
    saving = saving_text(step, step.price, unit) if step.visit is None else ""
    unpaid = ", not charged" if step.missing and not step.paid and step.price else ""
    return [f"{number}. {line}", f"   price {money(step.price, unit)}{', ' if saving else ''}{saving}{unpaid}"]


def _visit_line(steps: Sequence[ExplanationStep], unit: str) -> str:
    """What was ordered in a visit, and why together."""
    first, names = steps[0], ", ".join(step.name for step in steps)
    saving = saving_text(first, first.visit_price + sum(step.price for step in steps), unit, "this visit")
    why = f"ordered together, since one at a time they would take {len(steps)} visits" if len(steps) > 1 else "ordered"
    tail = f", {saving}" if saving else ""
    return f"Visit {first.visit} ({money(first.visit_price, unit)}): {names} {why}{tail}"


def _from_dict(content: Mapping[str, Any]) -> Explanation:
    question = content["not_asked"]
    if question is not None:
        names = ("expected_saving", "added_saving", "saving_alone")
        savings, categories = {name: _number(question[name]) for name in names}, tuple(question["categories"])
        features = tuple(Feature(**{**f, "categories": tuple(f["categories"])}) for f in question.get("features", ()))
        fields = savings | {"categories": categories, "features": features}
        question = Question(**{**question, **fields})
    # the keys of JSON are texts
    labels = {str(label): label for label in (*content["classes"], content["decision"])}
    costs = content["decision_costs"].items()
    return Explanation(
        classes=tuple(content["classes"]),
        prior=tuple(content["prior"]),
        posterior=tuple(content["posterior"]),
        steps=tuple(map(_step_from_dict, content["steps"])),
        not_asked=question,
        decision=content["decision"],
        decision_costs={labels.get(key, key) if isinstance(key, str) else key: cost for key, cost in costs},
        paid=content["paid"],
        likeness=_likeness_from_dict(content.get("likeness"), labels),
        unit=content.get("unit", ""),
        known=dict(content.get("known", {})),
    )


def _likeness_from_dict(content: Mapping[str, Any] | None, labels: Mapping[str, Any]) -> Likeness | None:
    if content is None:
        return None
    component = dict(content["component"])
    component["label"] = labels.get(str(component["label"]), component["label"])
    component["traits"] = tuple(Trait(**trait) for trait in component["traits"])
    return Likeness(Component(**component), content["probability"])


def _step_from_dict(content: Mapping[str, Any]) -> ExplanationStep:
    fields = {key: value for key, value in content.items() if key != "missing"}
    fields |= {name: _number(content[name]) for name in ("expected_saving", "added_saving")}
    return ExplanationStep(**fields | {key: tuple(content[key]) for key in ("before", "after")})


def _number(value: float | None) -> float:
    return math.nan if value is None or value != value else float(value)  # one NaN, so that records compare


def _to_builtin(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {key: _to_builtin(item) for key, item in value.items()}
    return [_to_builtin(item) for item in value] if isinstance(value, (list, tuple)) else value
