"""What questions, what they show, classes and decisions are called."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

import numpy as np

from seqclass._utils.arrays import BoolArray, FloatArray, IntArray
from seqclass._utils.model_files import Stored, register
from seqclass._utils.text import join_names, near, short_repr
from seqclass._utils.validation import check_part, in_order, own_labels
from seqclass.pomdp.structure import Structure, StructuredProblem

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["Names", "Naming", "with_names"]


class NamedProblem(StructuredProblem, Protocol):
    """What names are looked up for: see `AcquisitionProblem`."""

    _naming: Naming

    @property
    def n_decisions(self) -> int: ...

    @property
    def n_stages(self) -> int: ...

    @property
    def structure(self) -> Structure[Any]: ...

    def replace(self, **changes: Any) -> Any: ...


_Problem = TypeVar("_Problem", bound=NamedProblem)


@register
@dataclass(frozen=True)
class Naming(Stored):
    """Names by feature, which a problem keeps whatever its questions are; numbers where there are none.

    Parameters
    ----------
    features : tuple of str
        Name of each feature; empty where it has none.
    outcomes : tuple of tuple of str
        Names of what each feature may show.
    classes : tuple of str
        Names of the classes.
    decisions : tuple of str
        Names of the decisions; by default those of the classes, and a number for each further one.

    Examples
    --------
    >>> naming = Naming(features=("fever",), outcomes=(("no", "yes"),), classes=("cold", "flu"))
    >>> naming.feature(0), naming.code(0, "yes", 2), naming.feature(1)
    ('fever', 1, 'feature 1')
    """

    features: tuple[str, ...] = ()
    outcomes: tuple[tuple[str, ...], ...] = ()
    classes: tuple[str, ...] = ()
    decisions: tuple[str, ...] = ()

    def feature(self, feature: int) -> str:
        """Name of a feature."""
        return (self.features[feature] if feature < len(self.features) else "") or f"feature {feature}"

    def shows(self, feature: int, n_outcomes: int) -> list[str]:
        """Names of what a feature may show."""
        known = self.outcomes[feature] if feature < len(self.outcomes) else ()
        return list(known) if len(known) == n_outcomes else list(map(str, range(n_outcomes)))

    def code(self, feature: int, value: Any, n_outcomes: int) -> int:
        """The outcome of a feature that a value belongs to: its name or its number; -1 where it is missing."""
        names = self.shows(feature, n_outcomes)
        if isinstance(value, str) and value in names:
            return names.index(value)
        # a column in which some are missing is one of floats
        whole = isinstance(value, (int, np.integer)) or (isinstance(value, (float, np.floating)) and value.is_integer())
        if whole and -1 <= int(value) < n_outcomes:
            return int(value)
        known = join_names(names) if len(names) <= 8 else f"{names[0]} to {names[-1]}"
        raise ValueError(
            f"{self.feature(feature)} shows {known}, by name or as a number from 0 (-1 is missing); got "
            f"{short_repr(value)}."
        )

    def missing(self, feature: int) -> int:
        """What stands for a missing value of a feature: -1, or the outcome that missing values are."""
        return -1

    def bundle(self, features: Sequence[int]) -> str:
        """Name of a question that shows several features at once."""
        return " and ".join(map(self.feature, features))


class Names:
    """Names of one problem; see `AcquisitionProblem.names`.

    Parameters
    ----------
    problem : AcquisitionProblem
        The problem.
    naming : Naming
        Where the names come from.

    Examples
    --------
    >>> import numpy as np
    >>> from seqclass.pomdp import TableProblem, with_names
    >>> problem = TableProblem([0.5, 0.5], np.array([[[0.9, 0.2], [0.1, 0.8]]]), prices=0.1)
    >>> names = with_names(problem, questions=["test"], classes=["ill", "well"]).names
    >>> names.questions, names.classes, names.outcomes("test")
    (['test'], ['ill', 'well'], ['0', '1'])
    """

    def __init__(self, problem: NamedProblem, naming: Naming) -> None:
        self._problem, self._naming = problem, naming

    def __repr__(self) -> str:
        return f"<Names: questions {join_names(self.questions, 3)}; classes {join_names(self.classes, 3)}>"

    @property
    def questions(self) -> list[str]:
        """Name of each question."""
        return [self.question(q) for q in range(self._problem.n_questions)]

    @property
    def classes(self) -> list[str]:
        """Name of each class."""
        return _fill_names(self._naming.classes, self._problem.n_classes, "class")

    @property
    def decisions(self) -> list[str]:
        """Name of each decision, the classes first."""
        return _fill_names(self._naming.decisions or self.classes, self._problem.n_decisions, "decision")

    def question(self, question: int) -> str:
        """Name of a question, by its number.

        Parameters
        ----------
        question : int
            Its number.

        Returns
        -------
        str

        Raises
        ------
        ValueError
            If there is no such question.
        """
        features = self._features(self.number(question))
        return self._naming.feature(features[0]) if len(features) == 1 else self._naming.bundle(features)

    def outcomes(self, question: int | str) -> list[str]:
        """Names of what a question may show, by number; of a bundle those of its features together.

        Parameters
        ----------
        question : int or str
            Its number or its name.

        Returns
        -------
        list of str
        """
        number = self.number(question)
        bundle, features = self._problem.structure.bundle(number), self._features(number)
        sizes = [int(self._problem.n_outcomes[number])] if bundle is None else bundle.sizes.tolist()
        if self._problem.structure.is_sampled(number):
            raise ValueError(f"{self.question(number)} has too many joint outcomes to list them: decode those met.")
        return [", ".join(parts) for parts in product(*map(self._naming.shows, features, sizes))]

    def number(self, question: int | str) -> int:
        """Number of a question.

        Parameters
        ----------
        question : int or str
            Its number, its name, or its name as a word of Python (``worst_area`` for ``"worst area"``).

        Returns
        -------
        int

        Raises
        ------
        ValueError
            If there is no such question.
        """
        n = self._problem.n_questions
        if isinstance(question, (int, np.integer)) and 0 <= question < n:
            return int(question)
        if not isinstance(question, str):
            raise ValueError(f"there is no question {short_repr(question)}: they are numbered 0 to {n - 1}.")
        names = self.questions
        if question in names:
            return names.index(question)
        words = [_word(name) for name in names]
        if words.count(_word(question)) == 1:
            return words.index(_word(question))
        raise ValueError(f"{short_repr(question)} is no question of this problem; {near(question, names, 'they are')}")

    def code(self, question: int | str, value: Any) -> int:
        """The outcome of a question that a value belongs to.

        Parameters
        ----------
        question : int or str
            Its number or its name.
        value : object
            Name of an outcome, or its number; of a fitted classifier the raw value or the category; of a bundle these
            by feature, in a dict. None and NaN are missing.

        Returns
        -------
        int
            -1 where it is missing.

        Raises
        ------
        ValueError
            If it is none of what the question shows.
        """
        number, naming = self.number(question), self._naming
        bundle, features = self._problem.structure.bundle(number), self._features(number)
        if bundle is None:
            n_outcomes = int(self._problem.n_outcomes[number])
            return naming.missing(features[0]) if is_missing(value) else naming.code(features[0], value, n_outcomes)
        value = {} if is_missing(value) else value
        called = list(map(naming.feature, features))
        if not isinstance(value, Mapping) or not value.keys() <= set(called):
            raise ValueError(
                f"{self.question(number)} shows {join_names(called)} at once: give a dict of their values by name, got "
                f"{short_repr(value)}."
            )
        parts = [
            naming.missing(feature) if is_missing(value.get(name)) else naming.code(feature, value[name], int(size))
            for name, feature, size in zip(called, features, bundle.sizes)
        ]
        return int(bundle.encode([parts])[0])

    def code_answers(self, answers: Iterable[tuple[int | str, Any]], n: int) -> Iterator[tuple[int, IntArray]]:
        """Number of each question and its outcomes in ``n`` cases, in the form of `BeliefState.update`."""
        for question, value in answers:
            number = self.number(question)
            several = (isinstance(value, (list, tuple, np.ndarray)) or hasattr(value, "iloc")) and np.ndim(value) == 1
            if several and len(value) != n:
                raise ValueError(f"{n} cases need as many answers, or one for all; got {len(value)}.")
            codes = [self.code(number, one) for one in (value if several else [value])]
            yield number, np.array(codes if several else codes * n, dtype=np.int64)

    def check(self, question: int | IntArray, outcome: IntArray) -> None:
        """Refuse outcomes that a question, or that of each row, does not have, (n,)."""
        mixed = isinstance(question, np.ndarray)
        bundle = None if isinstance(question, np.ndarray) else self._problem.structure.bundle(question)
        n_outcomes = self._problem.n_outcomes[question] if bundle is None else bundle.n_codes
        if len(outcome) == 1 and not mixed and -1 <= int(outcome[0]) < n_outcomes:
            return
        wrong = (outcome < -1) | (outcome >= n_outcomes)
        if wrong.any():
            row = int(wrong.argmax())
            number, high = (int(np.broadcast_to(one, len(outcome))[row]) for one in (question, n_outcomes))
            raise ValueError(
                f"{self.question(number)}: outcome {int(outcome[row])} is not in 0..{high - 1} (-1 is missing)."
            )

    def check_next(self, number: IntArray, stage: int, observed: IntArray | None) -> None:
        """Refuse questions, one a row or one for all, that a case was asked before, or that do not come next."""
        if not self._problem.any_order:
            comes = "is none" if stage >= self._problem.n_stages else f"comes {short_repr(self.question(stage))}"
            remedy = "Take a problem in any order to ask whatever you like."
            self.refuse(number, number != stage, f"is not next in this order: there {comes}. {remedy}")
        if observed is not None:
            again = observed[np.arange(len(observed)), number] >= -1
            which = f" in {again.sum():,} of {len(again):,} rows" if len(again) > 1 else ""
            remedy = "Ask the rows where it is open: rows = belief.available[:, j], belief[rows].asking(j)."
            self.refuse(number, again, f"was asked before{which}. {remedy}")

    def refuse(self, number: IntArray, wrong: BoolArray, why: str) -> None:
        """Say by name which question is wrong, if any is."""
        if wrong.any():
            raise ValueError(f"{short_repr(self.question(int(number[wrong.argmax() % len(number)])))} {why}")

    def describe(self, observed: IntArray) -> str:
        """Write what was seen of one case, (n_questions,) as in `BeliefState.observed`: ``"age=3, sex=f"``.

        Parameters
        ----------
        observed : ndarray of int of shape (n_questions,)
            The outcome of each question, -1 where it was missing, less where it was not asked.

        Returns
        -------
        str
        """
        texts = []
        for question in np.flatnonzero(observed >= -1).tolist():
            bundle, features = self._problem.structure.bundle(question), self._features(question)
            outcome = int(observed[question])
            parts = [outcome] if bundle is None else bundle.decode([outcome])[0].tolist()
            sizes = [int(self._problem.n_outcomes[question])] if bundle is None else bundle.sizes.tolist()
            for feature, code, size in zip(features, parts, sizes):
                shown = "missing" if code < 0 else self._naming.shows(feature, size)[code]
                texts.append(f"{self._naming.feature(feature)}={shown}")
        return ", ".join(texts)

    def _features(self, question: int) -> list[int]:
        return [int(feature) for feature in self._problem.structure.members(question)]


def numbers_in_order(problem: NamedProblem, what: str, value: Any) -> Any:
    """Numbers of a problem, or P(class), in its order, where pandas has names for them."""
    belief = what == "belief"
    if type(value) is np.ndarray or not (belief or hasattr(value, "iloc")):  # such are told often
        return value
    axes = {"belief": ("classes",), "prior": ("classes",), "decision_costs": ("classes", "decisions")}
    names = Names(problem, problem._naming)
    labels = [getattr(names, axis) for axis in axes.get(what, ("questions",))]
    return in_order(value, what, *([None] if belief and np.ndim(value) == 2 else []), *labels)


def costs_in_order(costs: Any, classes: list[Any] | None) -> Any:
    """Costs that are a data frame in the order of the classes, of which decisions may have the names."""
    if not hasattr(costs, "iloc") or costs.ndim != 2:
        return costs
    classes, decisions = classes or own_labels(costs), own_labels(costs, 1)
    if decisions and classes and {*classes} <= {*decisions}:
        decisions = [*classes, *(label for label in decisions if label not in classes)]
    return in_order(costs, "decision_costs", classes, decisions)


class ImpossibleOutcome(ValueError):
    """An outcome that has probability zero given what was seen before."""

    def __init__(self, feature: int, outcome: int, name: str) -> None:
        super().__init__(
            f"{name}: outcome {outcome} has probability zero given what was seen before, so no belief "
            "follows; smooth the likelihoods or check the value."
        )
        self.feature, self.outcome, self.name = feature, outcome, name

    def __reduce__(self) -> tuple[type[ImpossibleOutcome], tuple[int, int, str]]:
        return type(self), (self.feature, self.outcome, self.name)  # from another process it comes as it went


def label_rows(rows: FloatArray, names: Sequence[str], name: str) -> pd.Series[float] | pd.DataFrame:
    """One row as a series with a name, more as a frame."""
    import pandas as pd

    frame: pd.DataFrame = pd.DataFrame(rows, columns=list(names))
    return frame.iloc[0].rename(name) if len(rows) == 1 else frame


def with_names(
    problem: _Problem,
    questions: Sequence[str] | None = None,
    *,
    outcomes: Sequence[Sequence[str] | None] | None = None,
    classes: Sequence[Any] | None = None,
    decisions: Sequence[Any] | None = None,
) -> _Problem:
    """Return the same problem with names, which beliefs, frames, pictures and errors then show; others stay.

    Parameters
    ----------
    problem : AcquisitionProblem
        The problem; it stays as it is. Where it is a fitted classifier's, values go by the names of their bins from
        here on, not by raw numbers.
    questions : sequence of str of length n_questions, optional
        Name of each question. Those that show several features at once are called by these.
    outcomes : sequence of length n_questions, optional
        For each question the names of what it may show; None where these stay.
    classes : sequence of length n_classes, optional
        Name of each class.
    decisions : sequence of length n_decisions, optional
        Name of each decision; by default the classes' names.

    Returns
    -------
    AcquisitionProblem

    Raises
    ------
    ValueError
        If there are too few or too many names, or one twice.

    Examples
    --------
    >>> import numpy as np
    >>> from seqclass.pomdp import TableProblem, with_names
    >>> problem = TableProblem([0.3, 0.7], np.array([[[0.9, 0.2], [0.1, 0.8]]]), prices=0.1)
    >>> named = with_names(problem, ["test"], outcomes=[["+", "-"]], classes=["ill", "well"])
    >>> named.initial_belief().update("test", "+")
    <BeliefState: ill 65.9%, well 34.1%; 1 of 1 asked, 0.1 paid>
    """
    check_part(problem, "problem", "an AcquisitionProblem", ("replace",))
    checked = {}
    sizes = {"questions": problem.n_questions, "classes": problem.n_classes, "decisions": problem.n_decisions}
    for what, names in (("questions", questions), ("classes", classes), ("decisions", decisions)):
        checked[what] = texts = tuple(map(str, [] if names is None else names))
        if names is not None and len(texts) != sizes[what]:
            raise ValueError(f"{what} must have {sizes[what]} names, got {len(texts)}.")
        if len(set(texts)) < len(texts):
            twice = next(name for name in texts if texts.count(name) > 1)
            raise ValueError(f"{what} has the name {short_repr(twice)} twice: names must tell them apart.")
    shown = [None] * problem.n_questions if outcomes is None else list(outcomes)
    if len(shown) != problem.n_questions:
        raise ValueError(f"outcomes must have one entry a question, {problem.n_questions}, got {len(shown)}.")
    old, n_features = problem._naming, int(problem.features.max(initial=-1)) + 1
    features = [old.feature(feature) for feature in range(n_features)]
    of_features: list[tuple[str, ...]] = [()] * n_features
    for q, known in enumerate(shown):
        if problem.structure.bundle(q) is not None:
            continue
        texts = tuple(old.shows(int(problem.features[q]), int(problem.n_outcomes[q])) if known is None else known)
        if known is not None and len(texts) != problem.n_outcomes[q]:
            raise ValueError(f"outcomes of question {q} must have {problem.n_outcomes[q]} names, got {len(texts)}.")
        if known is not None and len(set(map(str, texts))) < len(texts):
            raise ValueError(f"outcomes of question {q} must have different names, got {join_names(map(str, texts))}.")
        of_features[problem.features[q]] = tuple(map(str, texts))
        if questions is not None:
            features[problem.features[q]] = checked["questions"][q]
    called = old.classes if classes is None else checked["classes"]
    decided = checked["decisions"]
    if decisions is None and old.decisions:
        decided = (*called, *old.decisions[problem.n_classes :]) if classes is not None else old.decisions
    naming = Naming(tuple(features), tuple(of_features), called, decided)
    renamed: _Problem = problem.replace(_naming=naming)
    return renamed


def _fill_names(names: Sequence[str], n: int, kind: str) -> list[str]:
    return [str(names[i]) if i < len(names) else f"{kind} {i}" for i in range(n)]


def _word(name: str) -> str:
    return re.sub(r"\W+", "_", name).strip("_").casefold()


def is_missing(value: Any) -> bool:
    """Whether a value is none: None, NaN, or what numpy and pandas have for it."""
    if type(value) in (float, str):
        return bool(value != value)
    # the NA of pandas is neither like itself nor not, and of an array no one can say
    if value is None or value is np.ma.masked or type(value).__name__ == "NAType":
        return True
    return np.ndim(value) == 0 and bool(value != value)
