"""What is known of one live case, and where the policy stands."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np

from seqclass._utils.arrays import BoolArray, FloatArray, IntArray
from seqclass._utils.marks import VALUES, check_marks, mark_prefix, read_marks
from seqclass._utils.tables import Readable
from seqclass._utils.text import AnswerError, join_names, short_repr
from seqclass.agent._warm_start import as_seen
from seqclass.agent.agent import Agent, feature_name, marks_of, whole_problem
from seqclass.agent.choices import category_choices
from seqclass.pomdp import AcquisitionProblem
from seqclass.pomdp.account import leave_panel, settle
from seqclass.pomdp.names import is_missing
from seqclass.pomdp.one_step import remaining_questions
from seqclass.pomdp.problem import OPEN, BeliefState, observations, pass_answered, set_question, with_component
from seqclass.pomdp.single_cases import History, KeptHistories
from seqclass.pomdp.skipped import find_open_questions
from seqclass.pomdp.visits import order_panels


@dataclass(frozen=True, repr=False)
class Feature(Readable):
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


class _WhenAsked:
    """The added saving of a question, worked out when somebody asks for it; NaN where nothing was said."""

    def __get__(self, question: Question | None, owner: object = None) -> float:
        known = {} if question is None else vars(question)
        known["added_saving"] = value = known.pop("_to_work_out", lambda: math.nan)()
        return float(value)


_WHEN_ASKED: Any = _WhenAsked()


@dataclass(frozen=True, repr=False)
class Question(Readable):
    """A question that a session may ask next: for a feature, or for a bundle of features that is seen at once.

    Attributes
    ----------
    name : str
        Name of the feature, or of the bundle; ``"x3"`` for column 3 if features have no names.
    column : int
        Its column in the training data; for a bundle, the first that it shows.
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
    added_saving: float = _WHEN_ASKED
    saving_alone: float = math.nan

    def __getstate__(self) -> dict[str, Any]:
        self.added_saving  # noqa: B018 - which works it out
        return vars(self)


@dataclass(frozen=True, repr=False)
class Answer(Readable):
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


def finite(name: str, value: Any) -> float:
    """A raw value as a finite number; bytes, ``1_000`` and other digits are none, though Python reads them as such."""
    try:
        if isinstance(value, str) and ("_" in value or not value.strip().isascii()):
            raise ValueError
        number = (
            np.nan if value is np.ma.masked else float(str(value) if isinstance(value, (bytes, bytearray)) else value)
        )
    except (TypeError, ValueError):
        wrong = f"feature {short_repr(name)} must be a number, got {short_repr(value)}"
        if re.fullmatch(r"\s*[+-]?\d+,\d+\s*", text := str(value)):
            wrong += f": write {text.strip().replace(',', '.')}"
            wrong += f", or {text.strip().replace(',', '')} for thousands" if text.strip()[-4:-3] == "," else ""
        raise (AnswerError(wrong, "missing") if is_missing(value) else ValueError(f"{wrong}.")) from None
    except OverflowError:
        number = np.inf
    if not math.isfinite(number):
        raise AnswerError(f"feature {short_repr(name)} must be finite, got {short_repr(value)}", "missing")
    return number


def savings(belief: BeliefState) -> FloatArray:
    """By how much asking one more question and deciding then is cheaper than deciding now, (n_questions,)."""
    asked = np.flatnonzero(belief.available[0])
    saving = np.full(belief.problem.n_questions, -np.inf)
    if asked.size:
        price = belief.prices[0, asked]
        saving[asked] = belief.stopping_cost[0] - price - belief.problem.structure.costs_after(asked, belief)[0]
    return saving


def without_missing(values: Mapping[str, Any]) -> dict[str, Any]:
    """Values that are there: neither None nor NaN, nor what pandas has for it."""
    return {name: v for name, v in values.items() if not is_missing(v)}


class Questions:
    """The questions of a problem of a fitted classifier, as users see them."""

    def __init__(self, agent: Agent, problem: AcquisitionProblem | None = None, names: Any = None) -> None:
        self.agent, self.names = agent, names
        if problem is not None:
            self.problem = problem
        self._features: dict[int, tuple[Feature, ...]] = {}
        #: How cases begin, by lot.
        self.begun: dict[int, Case] = {}

    @classmethod
    def of(cls, agent: Agent) -> Questions:
        """Those of all that the model could ask, which all live cases share."""
        parts = agent._live_case_parts
        if "questions" not in parts:
            parts["questions"] = cls(agent)
        return parts["questions"]  # type: ignore[no-any-return]

    @cached_property
    def problem(self) -> AcquisitionProblem:
        """Its problem, by default of all that the model could ask."""
        return whole_problem(self.agent)

    @cached_property
    def histories(self) -> KeptHistories:
        """Those that cases of the policy go through."""
        return self.agent._histories

    @cached_property
    def marks(self) -> dict[str, list[str]]:
        """The marks of each question that has some."""
        return marks_of(self.agent)

    @cached_property
    def policy_sees_all(self) -> bool:
        """Whether a case that goes as the policy would have it is all that its own beliefs say."""
        own, whole, n = self.agent.policy.problem, self.problem, self.agent.policy.problem.n_questions
        alike = np.array_equal(own.prices, whole.prices[:n]) and np.array_equal(own.full_prices, whole.full_prices[:n])
        one, other = (np.full(n, -1) if p.groups is None else p.groups[:n] for p in (own, whole))
        alike &= np.array_equal(one, other) and own.visits is None and whole.visits is None
        if own.bundles is whole.bundles is None:
            return alike
        shown = [[p.structure.bundle(q) for q in range(n)] for p in (own, whole)]
        return alike and all(a is b or (a is not None and a.shares_codes(b)) for a, b in zip(*shown))

    @cached_property
    def closes(self) -> bool:
        """Whether rules, or what is known at the start, may say that a question is not asked."""
        problem = self.agent.policy.problem
        starts = problem.structure.starts
        return problem.limits.rules is not None or (starts is not None and starts.answers is not None)

    @cached_property
    def missing_code(self) -> IntArray:
        """What a missing cell of each column is; see `OutcomeCoder.missing_code`."""
        return self.agent.coder.missing_code

    @cached_property
    def known_at_start(self) -> frozenset[int]:
        """Questions that show what is known of every case before the first one."""
        if not self.agent.known.size:
            return frozenset()
        members, questions = self.problem.structure.members, range(self.problem.n_questions)
        return frozenset(q for q in questions if np.isin(members(q), self.agent.known).any())

    @cached_property
    def numbers(self) -> dict[str, int]:
        """The question that shows a feature, or a bundle, by name."""
        numbers: dict[str, int] = {}
        for question in range(self.problem.n_questions):
            numbers |= dict.fromkeys([*(f.name for f in self.features(question)), self.name(question)], question)
        return numbers

    def name(self, question: int) -> str:
        """Name of the feature, or of the bundle."""
        features, prices = self.features(question), self.agent.prices
        if len(features) == 1:
            return features[0].name
        assert prices.bundles is not None  # where one question shows several
        return str(prices.bundle_names[prices.bundles[features[0].column]])

    def features(self, question: int) -> tuple[Feature, ...]:
        """What a question shows."""
        if (known := self._features.get(question)) is None:
            columns = self.agent.support[self.problem.structure.members(question)].tolist()
            offered = [tuple(category_choices(self.agent, j)) for j in columns]
            known = tuple(Feature(feature_name(self.agent, j, self.names), j, c) for j, c in zip(columns, offered))
            self._features[question] = known
        return known

    def values(self, question: int, name: str, value: Any) -> dict[str, Any]:
        """What each feature of a question showed, by name."""
        features = [feature.name for feature in self.features(question)]
        if len(features) == 1 or (name in features and name != self.name(question)):
            return {name: value}
        if (own := self.marks.get(name)) and not isinstance(value, Mapping):
            made, start = read_marks(value), mark_prefix(name)
            check_marks(made or (), own, name)
            return {} if made is None else {f: VALUES[f.removeprefix(start) in made] for f in features}
        if not isinstance(value, Mapping):
            raise ValueError(f"{short_repr(name)} is a bundle: give the values of {join_names(features)} by name.")
        unknown = [key for key in value if key not in features]
        if unknown:
            raise ValueError(
                f"{short_repr(unknown[0])} is not in the bundle {short_repr(name)} of {join_names(features)}."
            )
        return without_missing(value)

    def describe(
        self, question: int, price: float, saving: float, added_saving: Any = math.nan, **more: float
    ) -> Question:
        """The question as users see it."""
        features = self.features(question)
        categories = features[0].categories if len(features) == 1 else ()
        parts = features if len(features) > 1 else ()
        result = Question(self.name(question), features[0].column, price, saving, categories, parts, **more)
        held = vars(result)
        held["added_saving"] = added_saving
        if callable(added_saving):
            held["_to_work_out"] = held.pop("added_saving")
        return result


@dataclass(frozen=True, eq=False)
class Case:
    """What is known of one case.

    Attributes
    ----------
    questions : Questions
        What may be asked.
    before, step : Case or None, tuple
        The case before its last answer, and that: question, outcome, and whether what is missing is paid for.
    known : frozenset of int
        Questions whose answers were known and not asked for.
    due : float
        Cost of visits that no answer has come of yet.
    """

    questions: Questions
    before: Case | None = None
    step: tuple[int, int, bool] = (-1, -1, False)
    known: frozenset[int] = frozenset()
    due: float = 0.0
    #: What the policy does, by the questions that are asked first whatever it does; worked out once.
    asked: dict[tuple[int, ...], tuple[list[int], float, float | Callable[[], float]]] = field(default_factory=dict)

    @classmethod
    def begin(cls, questions: Questions, lot: int) -> Case:
        """A case of which nothing is known."""
        if lot not in questions.begun:
            history, plain = questions.histories.first(lot), questions.agent.policy.problem.structure.starts is None
            follows = history if questions.policy_sees_all and plain else None
            case = questions.begun[lot] = cls(questions)._with(belief=history.belief, history=follows)
            if not plain:  # what is not known closes questions from the first one on
                case._with(belief=_policy_view(history.belief, case.facts, frozenset()))
        return questions.begun[lot]

    def _with(self, **parts: Any) -> Case:
        """The case, of which parts are there already that are made where somebody asks for them."""
        vars(self).update(parts)
        return self

    def _since(self, part: str) -> list[Case]:
        """The last case before that has a part, and those since then."""
        cases = [self]
        while part not in vars(cases[-1]) and cases[-1].before is not None:
            cases.append(cases[-1].before)
        return cases[::-1]

    @cached_property
    def facts(self) -> BeliefState:
        """All of it, in a problem that is free to ask whatever the model could."""
        first, *later = self._since("facts")
        facts = vars(first).get("facts")
        if facts is None:
            facts = with_component(self.questions.problem.initial_belief(), first.belief.account.component)
        for case in [first, *later]:
            if case is not first:
                question, outcome, charged = case.step
                facts = set_question(facts, question).update(np.array([outcome]), charge_missing=charged)
            vars(case)["facts"] = facts
        return facts

    @cached_property
    def belief(self) -> BeliefState:
        """The same as the policy sees it, which in a fixed order stands at the first stage that is not known."""
        return _policy_view(self._since("belief")[0].belief, self.facts, self.known)

    @cached_property
    def history(self) -> History | None:
        """Where it goes on as the policy's own beliefs do; None where these would not tell all."""
        return History(self.questions.histories, self.belief) if self.questions.policy_sees_all else None

    def leaves_out(self, question: int, ever: bool = True) -> bool:
        """Whether skip logic leaves a question out, answered or not; not ``ever``: as long as no answer opens it."""
        rules, n = self.belief.problem.limits.rules, self.belief.problem.n_questions
        if question >= n or rules is None or rules.answers is None:
            return False
        return not find_open_questions(rules.answers, self.belief, ever)[0, question]

    def is_closed(self, question: int, ever: bool = False) -> bool:
        """Whether a question is not asked, or left out by skip logic."""
        seen_by_policy = question < self.belief.problem.n_questions  # others are known at the start
        asked = remaining_questions(self.belief if seen_by_policy else self.facts)[0, question]
        return not asked or self.leaves_out(question, ever)

    @property
    def probabilities(self) -> FloatArray:
        """P(class), (1, n_classes)."""
        return (self.belief if "belief" in vars(self) else self.facts).probabilities

    def price(self, question: int) -> float:
        """What a question costs now."""
        own = self.history is not None and question < self.belief.problem.n_questions
        return float((self.belief if own else self.facts).prices[0, question])

    def order(self, panel: BoolArray) -> Case:
        """What is known once a set of questions was ordered, (n_questions of the facts,)."""
        visits, n = self.facts.problem.visits, self.belief.problem.n_questions
        due = 0.0 if visits is None else float(visits.panel_costs(panel[None])[0])
        facts, belief = order_panels(self.facts, panel[None]), order_panels(self.belief, panel[None, :n])
        return self._aside(self.due + due, facts, belief=belief)

    def leave(self) -> Case:
        """What is known where no more is waited for."""
        facts, belief = (
            state.replace(account=leave_panel(state.problem, state.account)) for state in (self.facts, self.belief)
        )
        return self._aside(self.due + float(facts.spent[0] - self.facts.spent[0]), facts, belief=belief)

    def learn(self, question: int, outcome: int, *, known: bool, charge_missing: bool) -> Case:
        """What is known after an answer, which costs nothing if known before."""
        step = question, outcome, charge_missing and not known
        problem = self.questions.agent.policy.problem
        comes = not known and (question < problem.n_questions if problem.any_order else question == self.belief.stage)
        if comes and question < problem.n_questions and (history := self.history) is not None:
            history = history.answer(*step)
            return Case(self.questions, self, step, self.known)._with(belief=history.belief, history=history)
        before, due = self.facts, 0.0
        facts = set_question(before, question).update(np.array([outcome]), charge_missing=step[2])
        if known:
            paid = replace(before.account, ordered=facts.account.ordered, ordering_is_known=False)
            facts = facts.replace(account=settle(facts.problem, paid))
            due = self.due + float(facts.spent[0] - before.spent[0])
        return self._aside(due, facts, self.known | {question} if known else self.known)

    def _aside(self, due: float, facts: BeliefState, known: frozenset[int] | None = None, **parts: Any) -> Case:
        """A case with these facts."""
        known = self.known if known is None else known
        return Case(self.questions, self, known=known, due=due)._with(facts=facts, **parts)

    def pass_over(self, question: int) -> BeliefState:
        """What the policy sees where a question of a fixed order cannot be had."""
        if self.history is not None:
            return self.history.answer(question, -1).belief
        facts, nothing = self.facts, np.array([-1])
        seen = observations(facts).copy()
        seen[0, question] = -1
        state = facts.problem.advance(question, facts.state, nothing)
        return _policy_view(self.belief, facts.replace(observed=seen, state=state, stage=facts.stage + 1), self.known)


def _policy_view(belief: BeliefState, facts: BeliefState, known: frozenset[int]) -> BeliefState:
    """What the policy sees of the facts, from what it saw before."""
    problem = belief.problem
    if not problem.any_order:
        [(_, view)] = pass_answered(as_seen(belief, facts, belief.stage, belief.state))
        return view
    stage = sum(outcome > OPEN for outcome in observations(facts)[0, : problem.n_questions].tolist())
    if problem.limits.max_questions is not None:  # what was known takes no one's place
        stage -= sum(question < problem.n_questions for question in known)
    return as_seen(belief, facts, stage, facts.state)
