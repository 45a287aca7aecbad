"""Words of error messages: one short sentence on one line, and what a name could have meant."""

from __future__ import annotations

import math
import re
import textwrap
import unicodedata
from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from difflib import get_close_matches
from itertools import islice
from numbers import Integral, Real
from typing import Any

#: A saving that is this close to none, or to the price lost, is taken for it: texts have four decimals.
_NEAR = 5e-5
#: How it is said that none of several marks was made.
NO_MARK = "none of these"
#: Whole numbers up to here are exact as floats.
MAX_EXACT = 2**53


#: How files, and programs, write true and false.
_TRUTH = (("True", "true", "TRUE", "1"), ("False", "false", "FALSE", "0"))


def spellings(text: str) -> tuple[str, ...]:
    """A text, and of true and false all that others write for it."""
    return next(((text, *same) for same in _TRUTH if text.lower() in same), (text,))


def as_known(text: str, known: Container[str]) -> str:
    """A text as it is among those that are known, be it in another spelling; else as it is."""
    return next((one for one in spellings(text) if one in known), text)


def value_text(value: Any) -> str:
    """Write a raw value as a person would: whole numbers in full, six digits of others, no trailing zeros."""
    if isinstance(value, Real) and not isinstance(value, Integral):  # numpy's too
        number = float(value) + 0.0  # nobody writes -0
        return f"{number:.0f}" if number.is_integer() and 0 < abs(number) < MAX_EXACT else f"{number:.6g}"
    if isinstance(value, dict):  # of a bundle, by name
        marks = marks_text(value, {})
        return ", ".join(f"{name} {value_text(one)}" for name, one in value.items()) if marks is None else marks
    return str(value)


def marks_text(values: Mapping[str, Any], words: Mapping[str, str]) -> str | None:
    """The marks that were made, of columns of yes and no whose names begin alike; None where they are no marks."""
    first, last = min(values, default=""), max(values, default="")
    alike = next((i for i, (a, b) in enumerate(zip(first, last)) if a != b), len(first))
    end = max(first.rfind(sign + " ", 0, alike) for sign in "?:.!")
    if len(values) < 2 or end < 0 or not {"no", "yes"}.issuperset(map(str, values.values())):
        return None
    made = [name[end + 2 :] for name, value in values.items() if value == "yes"]
    return ", ".join(words.get(mark, mark) for mark in made) or NO_MARK


def answer_text(question: str, text: str, sign: str = " = ") -> str:
    """A question, or a name, with what it showed."""
    return visible(f"{question}{' ' if question.endswith(('?', ':', '.', '!')) else sign}{text}", keep="")


def money(value: float, unit: str = "", decimals: int | None = None) -> str:
    """Write a price or a cost, in a unit in four digits or as whole; without one with so many decimals, if told."""
    value += 0.0  # nobody writes -0
    if decimals is not None and not unit:
        return f"{value:.{decimals}f}"
    return f"{digits_text(value, 4)} {unit}".rstrip()


def digits_text(value: float, digits: int = 3) -> str:
    """Write a number in so many digits, a large one as whole; only what nobody reads digit by digit as a power."""
    return f"{value:.0f}" if 10**digits - 0.5 <= abs(value) < MAX_EXACT else f"{value:.{digits}g}"


def range_text(ends: Sequence[float], write: Callable[[float], str]) -> str:
    """The ends of an interval as they are written, or that there is none: one row's weight tells of no spread."""
    return "no interval" if any(math.isnan(end) for end in ends) else " to ".join(map(write, ends))


def is_unit(text: Any) -> bool:
    """Whether a unit of money is a text that reads in the midst of others."""
    return isinstance(text, str) and bool(text.strip()) and text.isprintable()


def unit_text(decision_costs: Any, unit: str = "") -> str:
    """Say what costs are counted in, after a comma: a unit, or wrong decisions unless they cost what the user says."""
    places = range(len(decision_costs))
    wrong = all(list(row) == [float(i != j) for j in places] for i, row in enumerate(decision_costs))
    if unit:
        return f", in {unit}{f', where an error costs 1 {unit}' if wrong else ''}"
    return ", in units of misclassification cost" if wrong else ""


def belief_text(labels: Sequence[Any], posterior: Sequence[float], most: int = 4) -> str:
    """Write the probabilities of the likeliest classes, best first where there are many, and of all others together."""
    index = list(range(len(labels)))
    if len(index) > most:
        index = sorted(index, key=lambda i: -posterior[i])
    index, others = (index, []) if len(index) <= most + 1 else (index[:most], index[most:])  # one is as soon named
    apart = "; " if any("," in str(label) for label in labels) else ", "  # several targets of a network are one label
    parts = [f"{labels[i]} {percent(posterior[i])}" for i in index]
    rest = [f"{len(others)} others {percent(min(sum(posterior[i] for i in others), 1.0))}"] if others else []
    return visible(apart.join([*parts, *rest]), keep="")


def percent(p: float) -> str:
    """Write a probability in percent, without calling anything certain that is not."""
    if 0 < p < 0.0005:
        return "<0.1%"
    return ">99.9%" if 0.9995 <= p < 1 else f"{100 * p:.1f}%"


def exact_percent(p: float) -> str:
    """Write a share that is promised in percent: it is not rounded, as that would promise more or less."""
    text = f"{100 * p:.10g}"
    return f"{text}.0%" if text.isdecimal() else f"{text}%"


def plan_saving_text(saving: float, added: float, price: float, unit: str = "", by: str = "this question") -> str:
    """What going on was expected to save, in words, and how much less it would be without what is asked next."""
    text = saving_text(saving, price, unit)
    if math.isnan(added) or not saving > -_NEAR:
        return f"going on is {text}" if text else ""
    share, whole = money(abs(added), unit, 4), money(max(saving, 0.0), unit, 4)
    less = f"{share} more" if added < 0 else "and nothing" if share == whole else f"{share} less"
    less = "and as much" if abs(added) <= _NEAR else less
    return f"going on is {text}, {less} without {by}"


def saving_text(saving: float, price: float, unit: str = "") -> str:
    """What asking was expected to save beyond its price, in words; empty where that is not known."""
    if math.isnan(saving):
        return ""
    if saving > -_NEAR:
        return f"expected to save {money(max(saving, 0.0), unit, 4)} more than it costs"
    if worthless(saving, price):
        return "expected to save nothing"
    return f"expected to save {money(-saving, unit, 4)} less than it costs"


def cheapest_text(likeliest: Any, cost: float, other: float, unit: str = "") -> str:
    """Why it is not decided for the likeliest class, in a sentence."""
    least, more = money(cost, unit, 4), money(other, unit, 4)
    return f"It is the cheapest: {least} against {more} for {likeliest}, the likeliest class."


def going_on_text(saving: float, price: float, unit: str = "") -> str:
    """What going on was expected to come to, where it was not worth while; empty where that is not known."""
    if math.isnan(saving):
        return ""
    if saving > -_NEAR:
        return "going on is not expected to be any cheaper than deciding"
    if worthless(saving, price):
        return "what is left to ask is expected to save nothing, so going on only costs its price"
    return f"going on is expected to cost {money(-saving, unit, 4)} more than deciding"


def worthless(saving: float, price: float) -> bool:
    """Whether going on is expected to cost its price and to save nothing at all of what a wrong decision costs."""
    return bool(price > 0 and saving <= -price + min(_NEAR, 0.005 * price))


class Problems(ValueError):
    """Several things that are wrong, its arguments: texts or errors, a line each."""

    def __str__(self) -> str:
        return "\n".join(map(str, self.args))


def raise_all(problems: Sequence[str | ValueError]) -> None:
    """Raise all that is wrong, if anything is."""
    most = 20  # lines
    if len(problems) == 1:
        raise problems[0] if isinstance(problems[0], ValueError) else ValueError(problems[0])
    if problems:
        more = [f"There are {len(problems) - most} more problems."] if len(problems) > most else []
        raise Problems(*problems[:most], *more)


def fold_text(text: str) -> str:
    """A text without what nobody sees or means: case, blanks, characters of no width, and how letters are composed."""
    seen = (c for c in unicodedata.normalize("NFC", text) if not c.isspace() and unicodedata.category(c) != "Cf")
    return "".join(seen).casefold()


#: Most characters of a message.
_LONGEST = 600


class NoRows(FileNotFoundError, ValueError):
    """A table, or a folder of tables, in which there is nothing yet."""


class OfParameter:
    """What an error about one parameter says: its name, and what is wrong, which are its arguments."""

    args: tuple[Any, ...]

    @property
    def parameter(self) -> str:
        """Name of the parameter in Python; other surfaces have their own."""
        return str(self.args[0])

    @property
    def problem(self) -> str:
        """What is wrong, to be read after the name."""
        return str(self.args[1])

    def __str__(self) -> str:
        return f"{self.parameter} {self.problem}"


class ParameterError(OfParameter, ValueError):
    """A parameter has a wrong value."""


class ColumnError(ParameterError):
    """A parameter names a column that is not there, or one that cannot be used."""

    def __str__(self) -> str:
        return f"{self.parameter}: {self.problem}"


class ParameterTypeError(OfParameter, TypeError):
    """A parameter is of a wrong kind."""


class AnswerError(ValueError):
    """What an error says is wrong, and by its name what to do about it: its arguments."""

    #: What to do in Python and on the command line; other surfaces have their own words for the same names.
    remedies: Mapping[str, str] = {
        "category": " handle_unknown='missing' (--unknown missing on the command line) takes such cells as missing.",
        "missing": "; call it unavailable if it is.",
        "answered": "; take that back by undo().",
        "impossible": ": take back by undo() what is wrong; where all is true, the model should allow for it.",
    }

    def __str__(self) -> str:
        return self.spell({})

    def at(self, place: str) -> AnswerError:
        """An error like this that says where it is."""
        return AnswerError(f"{place}{self.args[0]}", self.args[1])

    def spell(self, remedies: Mapping[str, str]) -> str:
        """What is wrong, and what to do in the words of a surface."""
        return f"{self.args[0]}{remedies.get(self.args[1], self.remedies[self.args[1]])}"


def at_place(error: ValueError, place: str) -> ValueError:
    """An error like this that says where it is."""
    return error.at(place) if isinstance(error, AnswerError) else ValueError(f"{place}{error}")


def sentence(error: BaseException, remedies: Mapping[str, str] | None = None) -> str:
    """Message of an error on one line, with a full stop, and what to do about it in the words of a surface."""
    if isinstance(error, Problems):
        texts = (one.spell(remedies or {}) if isinstance(one, AnswerError) else str(one) for one in error.args)
        return " ".join(map(end_sentence, map(brief, texts)))
    text = error.spell(remedies or {}) if isinstance(error, AnswerError) else str(error)
    if isinstance(error, OSError) and error.strerror:
        text = error.strerror if error.filename is None else f"{error.strerror}: {short_repr(str(error.filename))}"
    elif isinstance(error, MemoryError):
        text = f"it takes more memory than there is: {text}" if text else "it takes more memory than there is"
    return end_sentence(brief(" ".join(text.split())) or type(error).__name__)


def end_sentence(text: str) -> str:
    """Put a full stop where none is."""
    return text if text.endswith((".", "!", "?")) else f"{text}."


def short_repr(value: Any) -> str:
    """Write a name or a cell as Python would, its middle left out where it is long."""
    most = 60  # characters
    if type(value).__module__ == "numpy" and getattr(value, "ndim", 1) == 0:
        value = value.item()
    # of a long text only what is shown is written out
    long = isinstance(value, (str, bytes)) and len(value) > 2 * most
    try:
        text = repr(value[:most] + value[-most:] if long else value)
    except (ValueError, RecursionError):  # Python writes no number of thousands of digits, nor lists in such depth
        text = f"a number of {value.bit_length()} bits" if isinstance(value, int) else f"a {type(value).__name__}"
    return brief(text, most)


def brief(text: str, longest: int = _LONGEST) -> str:
    """Leave out the middle of a long text, and what is no character."""
    if len(text) > longest:
        end = longest // 3
        text = f"{text[: longest - end - 3]}...{text[-end:]}"
    return text if text.isprintable() else "".join(c if c.isprintable() else "\N{REPLACEMENT CHARACTER}" for c in text)


#: What a terminal obeys rather than shows: control characters, ends of paragraphs, and what turns the direction around.
_CONTROL = re.compile("[\x00-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069]")


def visible(text: str, keep: str = "\n\t") -> str:
    """Write control characters as Python does, but for some."""
    return _CONTROL.sub(lambda sign: sign[0] if sign[0] in keep else repr(sign[0])[1:-1], text)


def shorten(text: object, width: int = 28) -> str:
    """Cut a long text in the middle: names often differ at their ends."""
    label = " ".join(str(text).split())
    if len(label) <= width:
        return label
    head = (width - 1) // 2
    return f"{label[:head]}…{label[len(label) - (width - 1 - head) :]}"


def wrap(text: object, width: int) -> str:
    """Break a text into at most three lines, cut in the middle where it is longer."""
    most, lines = 3 * width - 6, [""] * 4
    while len(lines) > 3:  # long words leave lines short
        lines, most = textwrap.wrap(shorten(text, most), width), most - 1
    return "\n".join(lines)


def join_names(names: Iterable[Any], most: int = 6) -> str:
    """List some names as Python would write them, and how many more there are."""
    names = list(names)
    more = f" and {len(names) - most} more" if len(names) > most else ""
    return ", ".join(map(short_repr, islice(names, most))) + more


def near(name: str, names: Sequence[str], what: str = "the columns are") -> str:
    """End of a sentence that says what a name could have meant."""
    wanted = name.strip().casefold()
    same = [n for n in names if n.strip().casefold() == wanted]
    # likeness takes its time, so neither among names without end nor among very long ones
    short = [n for n in names[:10_000] if len(n) <= _LONGEST] if len(name) <= _LONGEST else []
    parts = [n for n in short if len(wanted) > 2 and f"_{wanted}" in n.casefold()]  # cost: feature_costs
    matches = same or list(dict.fromkeys([*parts, *get_close_matches(name, short, n=3, cutoff=0.5)]))
    if matches:
        return f"did you mean {' or '.join(map(short_repr, matches[:3]))}?"
    return f"{what} {join_names(names)}."
