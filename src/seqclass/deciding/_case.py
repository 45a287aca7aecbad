"""What is known of one live case, and where the policy stands."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from seqclass._utils.arrays import BoolArray, FloatArray
from seqclass._utils.text import listed, shown
from seqclass.deciding._warm_start import as_seen
from seqclass.deciding.decider import Decider
from seqclass.pomdp import AcquisitionProblem
from seqclass.pomdp.information import CLOSED, OPEN, InformationState


@dataclass(frozen=True)
class Feature:
    """One of the features that a question shows.

    Attributes
    ----------
    name : str
        Its name; ``"x3"`` for column 3 where features have no names.
    column : int
        Its column in the training data.
    categories : tuple of str
        Possible values of a categorical feature; empty for a numeric one.

    Examples
    --------
    >>> Feature("age", 0).categories
    ()
    """

    name: str
    column: int
    categories: tuple[str, ...] = ()


@dataclass(frozen=True)
class Question:
    """A question that a session may ask next: for a feature, or for a bundle of features that is seen at once.

    Attributes
    ----------
    name : str
        Name of the feature, or of the bundle; ``"x3"`` for column 3 if features have no names.
    column : int
        Its column in the training data; for a bundle, its first column.
    price : float
        What it costs, in units of misclassification cost.
    expected_saving : float
        How much cheaper going on as the policy does is expected to be than deciding now, with all prices counted: it is
        that of the whole plan, which this question begins. NaN if the policy does not know, or would ask another one.
    categories : tuple of str
        Possible values of a categorical feature; empty for a numeric one.
    features : tuple of Feature
        The features of a bundle; empty for a question of one feature.
    added_saving : float
        What this question adds to that: how much less going on would save if it could not be had; below zero where a
        fixed order or a rule would do better without it. NaN where the policy's values do not say it: of plans whose
        table is about all questions, beside rules, or if `expected_saving` is NaN.
    saving_alone : float
        How much cheaper it is expected to be to ask this one question and then decide than to decide now, its price
        counted; NaN but for `Session.suggestions`.

    Examples
    --------
    >>> Question("age", 0, 0.01, 0.2).categories
    ()
    """

    name: str
    column: int
    price: float
    expected_saving: float
    categories: tuple[str, ...] = ()
    features: tuple[Feature, ...] = ()
    added_saving: float = math.nan
    saving_alone: float = math.nan


@dataclass(frozen=True)
class Answer:
    """One step of a session.

    Attributes
    ----------
    name : str
        The feature or bundle that was answered.
    value : float, str, dict or None
        Its value; None if it was unavailable. For a bundle, the values of its features by name.
    outcome : int
        Outcome of the model that the value belongs to; -1 if unavailable.
    price : float
        What was paid.
    expected_saving : float
        What going on was expected to save when it was asked; NaN if the policy would have asked another question.
    posterior : tuple of float
        P(class | everything so far) after the answer.
    known : bool
        Whether it was known and not asked for; it then cost nothing.

    Examples
    --------
    >>> Answer("age", 47.0, 2, 0.01, 0.2, (0.3, 0.7)).price
    0.01
    """

    name: str
    value: Any
    outcome: int
    price: float
    expected_saving: float
    posterior: tuple[float, ...]
    known: bool = False


def named(names: Sequence[str] | Mapping[int, str], column: int) -> str:
    """Name of a column among those that the user gives."""
    try:
        return str(names[column])
    except (KeyError, IndexError):
        raise ValueError(f"feature_names has no name for column {column}, which was asked for.") from None


def finite(name: str, value: Any) -> float:
    """A raw value as a finite number; bytes are none, though Python would read them as such."""
    try:
        number = (
            np.nan if value is np.ma.masked else float(str(value) if isinstance(value, (bytes, bytearray)) else value)
        )
    except (TypeError, ValueError):
        how = "; call it unavailable if it is" if is_missing(value) else ""
        raise ValueError(f"feature {shown(name)} must be a number, got {shown(value)}{how}.") from None
    except OverflowError:
        number = np.inf
    if not np.isfinite(number):
        raise ValueError(f"feature {shown(name)} must be finite, got {shown(value)}; call it unavailable if it is.")
    return number


def savings(info: InformationState) -> FloatArray:
    """By how much asking one more question and deciding then is cheaper than deciding now, (n_questions,)."""
    asked = np.flatnonzero(info.open[0])
    saving = np.full(info.problem.n_questions, -np.inf)
    if asked.size:
        price = info.prices[0, asked]
        saving[asked] = info.stopping_cost[0] - price - info.problem.costs_after(asked, info)[0]
    return saving


def without_missing(values: Mapping[str, Any]) -> dict[str, Any]:
    """Values that are there: neither None nor NaN, nor what pandas has for it."""
    return {name: v for name, v in values.items() if not is_missing(v)}


def is_missing(value: Any) -> bool:
    # the NA of pandas is neither like itself nor not, and of an array no one can say
    if value is None or value is np.ma.masked or type(value).__name__ == "NAType":
        return True
    return np.ndim(value) == 0 and bool(value != value)


class Questions:
    """The questions of a problem of a fitted classifier, as users see them."""

    def __init__(self, decider: Decider, problem: AcquisitionProblem, names: Any = None) -> None:
        self.decider, self.problem, self.names = decider, problem, names

    @cached_property
    def numbers(self) -> dict[str, int]:
        """The question that shows a feature, or a bundle, by name."""
        found: dict[str, int] = {}
        for question in range(self.problem.n_questions):
            found |= dict.fromkeys([*(f.name for f in self.features(question)), self.name(question)], question)
        return found

    def name(self, question: int) -> str:
        """Name of the feature, or of the bundle."""
        features, prices = self.features(question), self.decider.prices
        if len(features) == 1:
            return features[0].name
        assert prices.bundles is not None  # where one question shows several
        return str(prices.bundle_names[prices.bundles[features[0].column]])

    def features(self, question: int) -> tuple[Feature, ...]:
        """What a question shows."""
        columns = self.decider.support[self.problem.members(question)].tolist()
        return tuple(Feature(self._called(j), j, self._categories(j)) for j in columns)

    def values(self, question: int, name: str, value: Any) -> dict[str, Any]:
        """What each feature of a question showed, by name."""
        features = [feature.name for feature in self.features(question)]
        if len(features) == 1 or (name in features and name != self.name(question)):
            return {name: value}
        if not isinstance(value, Mapping):
            raise ValueError(f"{shown(name)} is a bundle: give the values of {listed(features)} by name.")
        unknown = [key for key in value if key not in features]
        if unknown:
            raise ValueError(f"{shown(unknown[0])} is not in the bundle {shown(name)} of {listed(features)}.")
        return without_missing(value)

    def describe(self, question: int, price: float, saving: float, **more: float) -> Question:
        """The question as users see it."""
        features = self.features(question)
        categories = features[0].categories if len(features) == 1 else ()
        parts = features if len(features) > 1 else ()
        return Question(self.name(question), features[0].column, price, saving, categories, parts, **more)

    def _called(self, column: int) -> str:
        return self.decider.feature_name(column) if self.names is None else named(self.names, column)

    def _categories(self, column: int) -> tuple[str, ...]:
        return tuple(self.decider.answers(column))


@dataclass(frozen=True)
class Case:
    """What is known of one case.

    Attributes
    ----------
    facts : InformationState
        All of it, in a problem that is free to ask whatever the model could.
    info : InformationState
        The same as the policy sees it, which in a fixed order stands at the first stage that is not known.
    known : frozenset of int
        Questions whose answers were known and not asked for.
    due : float
        Cost of visits that no answer has come of yet.
    """

    facts: InformationState
    info: InformationState
    known: frozenset[int] = frozenset()
    due: float = 0.0

    @classmethod
    def begin(cls, problem: AcquisitionProblem, info: InformationState) -> Case:
        """A case of which nothing is known, in the problem of the facts and as the policy sees it."""
        facts = problem.begin()
        facts.lot = info.lot
        return cls(facts, info)

    def order(self, panel: BoolArray) -> Case:
        """What is known once a set of questions was ordered, (n_questions of the facts,)."""
        visits, n = self.facts.problem.visits, self.info.problem.n_questions
        due = 0.0 if visits is None else float(visits.of(panel[None])[0])
        facts, info = self.facts.ordering(panel[None]), self.info.ordering(panel[None, :n])
        return replace(self, facts=facts, info=info, due=self.due + due)

    def leave(self) -> Case:
        """What is known where no more is waited for."""
        facts, info = (
            state.but(ordered=np.zeros_like(state.ordered), told=False).settle() for state in (self.facts, self.info)
        )
        return replace(self, facts=facts, info=info, due=self.due + float(facts.spent[0] - self.facts.spent[0]))

    def learn(self, question: int, outcome: int, *, known: bool, charge_missing: bool, needless: int = -1) -> Case:
        """What is known after an answer, which costs nothing if known before, and may make a question needless."""
        before = self.facts
        facts = before.asking(question).update(np.array([outcome]), charge_missing=charge_missing and not known)
        if known:
            facts = facts.but(paid=before.paid, spent=before.spent, visits=before.visits, owed=before.owed).settle()
        if needless >= 0 and facts.seen is not None and facts.seen[0, needless] == OPEN:
            facts.seen[0, needless] = CLOSED
        all_known = self.known | {question} if known else self.known
        return Case(facts, _seen_by(self.info, facts, all_known), all_known)


def _seen_by(info: InformationState, facts: InformationState, known: frozenset[int]) -> InformationState:
    """What the policy sees of the facts, from what it saw before."""
    problem = info.problem
    assert facts.seen is not None  # the problem of the facts is free
    seen = facts.seen[0, : problem.n_questions].tolist()
    if not problem.free:
        return as_seen(info, facts, *_following(problem, info, seen))
    stage = sum(outcome > OPEN for outcome in seen)
    if problem.max_questions is not None:  # what was known takes no one's place
        stage -= sum(question < problem.n_questions for question in known)
    return as_seen(info, facts, stage, facts.state)


def _following(problem: AcquisitionProblem, info: InformationState, seen: list[int]) -> tuple[int, Any]:
    """First stage that is not known, and the state there."""
    stage, state = info.stage, info.state
    while stage < problem.n_stages and seen[stage] != OPEN:
        state = problem.advance(stage, state, np.array([seen[stage]]))
        stage += 1
    return stage, state
