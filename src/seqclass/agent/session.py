"""A live case: the classifier asks for one feature at a time."""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Callable, Collection, Mapping, Sequence
from functools import partial
from numbers import Integral
from typing import Any

import numpy as np

from seqclass._utils.arrays import FloatArray
from seqclass._utils.frames import spelt
from seqclass._utils.progress import log_event
from seqclass._utils.text import AnswerError, belief_text, join_names, money, near, short_repr, value_text, visible
from seqclass._utils.validation import check_integer, columns_of
from seqclass.agent._case import Answer, Case, Feature, Questions, finite, savings, without_missing
from seqclass.agent._case import Question as Question
from seqclass.agent._fingerprint import fingerprint
from seqclass.agent._saved_session import SavedSession, Visit, read_session, write_session
from seqclass.agent.agent import agent_of, columns_by_name, feature_name
from seqclass.agent.differential import labels_of
from seqclass.pomdp.account import charge
from seqclass.pomdp.acquisition import added_saving
from seqclass.pomdp.names import ImpossibleOutcome, is_missing
from seqclass.pomdp.one_step import remaining_questions
from seqclass.pomdp.policy import DECIDE, Policy, draw_lots
from seqclass.pomdp.problem import BeliefState, deciding_cost, set_question
from seqclass.pomdp.single_cases import History

__all__ = ["Session", "expected_saving"]


class Session:
    """A live case of a fitted classifier; start one with the classifier's ``session()``.

    It asks one question after the other. Any feature of the model may be answered at any time, whether or not it was
    asked for, and what is known is not asked for. In a fixed order, known features are skipped: beliefs and decisions
    use them, while the policy goes on as if they might still have to be asked, unless it looks ahead case by case. In
    ``with`` or ``async with`` its end is told to the log ``"seqclass"``, at level INFO and as JSON without answers.

    Parameters
    ----------
    classifier : BaseSequentialClassifier, AdaptiveClassifier or Agent
        The fitted classifier, or its record.
    key : str or int, optional
        Name of the case, which seeds the draw of a randomised policy; None: it is drawn at random.
    known : mapping of str or int to value, optional
        What is known at the start, by name or number of a column, in the form that `observe` takes; it costs nothing.
        None and NaN are left out, unless missing is itself informative (``missing="informative"``). If a single feature
        of a bundle is given, no more is known of that bundle. Features that a selector left out change nothing.
    first : sequence of str or int
        Features or bundles that are always asked, in this order, before the policy chooses.

    Raises
    ------
    ValueError
        If a name is not that of a feature, or a value is invalid.

    Examples
    --------
    >>> import numpy as np
    >>> from seqclass import SequentialClassifier
    >>> X = np.array([[0.0, 5.0], [0.1, 4.0], [0.9, 5.0], [1.0, 4.0]] * 10)
    >>> clf = SequentialClassifier().fit(X, [0, 0, 1, 1] * 10)
    >>> case = clf.session()
    >>> case.next_feature.name
    'x0'
    >>> case.observe("x0", 0.95)
    >>> int(case.decision), case.next_feature
    (1, None)
    >>> case = clf.session(known={"x0": 0.1})
    >>> int(case.decision), case.next_feature, case.paid
    (0, None, 0.0)
    """

    def __init__(
        self,
        classifier: Any,
        key: str | int | None = None,
        *,
        known: Mapping[Any, Any] | None = None,
        first: Sequence[Any] = (),
    ) -> None:
        self._agent = agent = agent_of(classifier)
        self._questions = Questions.of(agent)
        if isinstance(first, (str, Integral)):
            raise ValueError(f"first must be a list of names, got {short_repr(first)}.")
        self._first = [self._number(name) for name in first]
        self._start(_draw_lot(agent.policy, self._questions.histories.lots, key))
        for question, cells in self._read_known({} if known is None else known).items():
            self._know(question, cells)

    def __enter__(self) -> Session:
        return self

    def __exit__(self, *_: object) -> None:
        posterior = [float(f"{p:.6g}") for p in self.posterior]
        entry = {"model": fingerprint(self._agent), "questions": self.n_features, "visits": self.n_visits}
        log_event("case", **entry, paid=self.paid, decision=str(self.decision), posterior=posterior)

    async def __aenter__(self) -> Session:
        return self

    async def __aexit__(self, *_: object) -> None:
        self.__exit__()

    def _start(self, lot: int) -> None:
        self._lot = lot
        self._cases = [Case.begin(self._questions, lot)]
        self._answers: list[Answer] = []
        self._visits: list[Visit] = []

    @property
    def next_feature(self) -> Question | None:
        """The question to ask next; None if it is time to decide."""
        return next(iter(self.next_panel), None)

    @property
    def next_panel(self) -> tuple[Question, ...]:
        """The questions to order together now, or that were ordered and are not answered yet; empty if it is time to
        decide.

        Their prices do not include the visit, which costs `visit_cost`. The first one has the savings: what going on
        saves, with prices and visits counted, and what all of these together add to that. If visits cost nothing, this
        is `next_feature` alone.
        """
        numbers, saving, added = self._next_questions()
        case = self._order_panel(numbers)
        savings_: list[tuple[float, Any]] = [(saving, added), *[(math.nan, math.nan)] * (len(numbers) - 1)]
        return tuple(
            self._questions.describe(q, case.price(q), saving, added_saving=added)
            for q, (saving, added) in zip(numbers, savings_)
        )

    @property
    def visit_cost(self) -> float:
        """What the visit of `next_panel` costs besides prices; 0 if already ordered, or visits cost nothing."""
        numbers, *_ = self._next_questions()
        return self._order_panel(numbers).due - self._cases[-1].due

    def order(self, names: Sequence[str | int] | None = None) -> None:
        """Record that features were ordered together and their answers are awaited.

        An answer to one of `next_panel` does so by itself; this is for other panels, and for saving a case before any
        answer has come.

        Parameters
        ----------
        names : sequence of str or int, optional
            Features or bundles by name, or columns by number; by default those of `next_panel`.

        Raises
        ------
        ValueError
            If visits cost nothing, answers are still awaited, or a name is not a feature of the model or was answered
            before.

        Examples
        --------
        >>> from sklearn.datasets import load_iris
        >>> from seqclass import Costs, SequentialClassifier
        >>> costs = Costs(0.01, visit_cost=0.1)
        >>> X, y = load_iris(return_X_y=True, as_frame=True)
        >>> case = SequentialClassifier(feature_costs=costs, order="adaptive").fit(X, y).session()
        >>> case.order(["petal width (cm)", "petal length (cm)"])
        >>> case.observe("petal length (cm)", 4.9)
        >>> [question.name for question in case.next_panel], case.n_visits, round(case.paid, 2)
        (['petal width (cm)'], 1, 0.11)
        >>> case.leave()
        >>> case.observe("petal width (cm)", 1.8)
        >>> case.n_visits, round(case.paid, 2)
        (2, 0.22)
        """
        if isinstance(names, (str, Integral)):
            raise ValueError(f"names must be a list of features, got {short_repr(names)}.")
        numbers = self._next_questions()[0] if names is None else [self._number(name) for name in names]
        if not numbers:
            raise ValueError("there is nothing to order: name at least one feature, or decide.")
        visit = Visit(len(self._answers), [self._questions.name(q) for q in numbers], False)
        self._cases[-1] = self._order_panel(numbers, again=True)
        self._visits.append(visit)

    def leave(self) -> None:
        """Stop waiting for what was ordered: what is known now decides what comes next, and the visit remains paid for.

        Raises
        ------
        ValueError
            If no answer is awaited.
        """
        if not self._cases[-1].facts.account.waits[0]:
            raise ValueError("nothing that was ordered is waited for.")
        self._cases[-1] = self._cases[-1].leave()
        self._visits.append(Visit(len(self._answers), None, False))

    def _next_questions(self) -> tuple[list[int], float, float | Callable[[], float]]:
        """Questions of the next panel, those that are waited for where any are, what going on saves, and they add."""
        case, first = self._cases[-1], tuple(self._first)
        if first not in case.asked:
            case.asked[first] = self._ask_policy(case)
        return case.asked[first]

    def _ask_policy(self, case: Case) -> tuple[list[int], float, float | Callable[[], float]]:
        unknown = math.nan  # itself, so that what is equal is equal
        policy, visits = self._agent.policy, self._questions.problem.visits
        if visits is not None and (ordered := case.facts.account.ordered) is not None and ordered.any():
            return np.flatnonzero(ordered[0]).tolist(), unknown, unknown
        if pending := [question for question in self._first if case.facts.available[0, question]]:
            most = 1 if visits is None else visits.max_panel or len(pending)
            return pending[:most], unknown, unknown  # which the policy did not choose
        panels, numbers = policy.panels(case.belief), list[int]()
        if panels is not None:
            numbers = np.flatnonzero(panels[0] & remaining_questions(case.facts)[0, : panels.shape[1]]).tolist()
        if panels is None or not panels[0].any():
            # of policies drawn by lot some order panels, others ask one question at a time
            history = case.history or History(self._questions.histories, case.belief)
            numbers = [] if history.question == DECIDE else [history.question]
        if not numbers:
            return numbers, unknown, unknown
        saving = float(expected_saving(policy, case.belief)[0])
        saving = saving if math.isfinite(saving) else unknown
        return numbers, saving, partial(_added_saving, policy, case, numbers, saving)

    def _order_panel(self, numbers: Sequence[int], again: bool = False) -> Case:
        """The case once a panel was ordered, as it is where visits cost nothing or the panel is waited for."""
        case, visits = self._cases[-1], self._questions.problem.visits
        if not again and (visits is None or not len(numbers) or case.facts.account.waits[0]):
            return case
        panel = np.zeros(case.facts.problem.n_questions, dtype=bool)
        panel[list(numbers)] = True
        return case.order(panel)

    def suggestions(self, n: int = 3) -> list[Question]:
        """Return the most promising questions, the best first.

        The first one is the policy's choice, as long as the policy goes on; the others are ordered by what they save
        alone. `Question.saving_alone` says that of each: what asking this one question and then deciding saves, which
        may be negative if only several questions together pay. Prices include that of a visit for this question alone,
        unless it was ordered.

        Parameters
        ----------
        n : int
            Most questions to return.

        Returns
        -------
        list of Question

        Examples
        --------
        >>> from sklearn.datasets import load_breast_cancer
        >>> from seqclass import SequentialClassifier
        >>> X, y = load_breast_cancer(return_X_y=True, as_frame=True)
        >>> case = SequentialClassifier().fit(X, y).session(known={"mean radius": 12.0})
        >>> [question.name for question in case.suggestions(2)]
        ['worst concave points', 'worst perimeter']
        """
        check_integer(n, "n", 1)
        facts, asked = self._cases[-1].facts, self.next_feature
        saving = savings(facts)
        saving[list(self._questions.known_at_start)] = -np.inf  # what is known at the start is not asked for
        if self._questions.closes:
            may = self._cases[-1].belief.available[0]
            others = np.full(len(saving) - len(may), self._agent.policy.problem.limits.rules is None)
            saving[~np.append(may, others)] = -np.inf
        order = np.argsort(-saving, kind="stable").tolist()
        if asked is not None:
            order = list(dict.fromkeys([self._questions.numbers[asked.name], *order]))
        promised = {} if asked is None else {order[0]: (asked.expected_saving, asked.added_saving)}
        best: list[Question] = []
        for q in (one for one in order[: n + 1] if not np.isneginf(saving[one])):
            going_on, added = promised.get(q, (math.nan, math.nan))
            more = {"added_saving": added, "saving_alone": float(saving[q])}
            best.append(self._questions.describe(q, float(facts.prices[0, q]), going_on, **more))
        return best[:n]

    @property
    def belief(self) -> BeliefState:
        """What is known as the policy sees it: one case of its problem."""
        return self._cases[-1].belief

    @property
    def posterior(self) -> FloatArray:
        """P(class | everything observed), shape (n_classes,)."""
        return np.array(self._cases[-1].probabilities[0])

    @property
    def decision(self) -> Any:
        """The cheapest decision as things stand, a label of ``decisions_``."""
        case = self._cases[-1]
        history = case.history or History(self._questions.histories, case.belief)
        return self._agent.decisions[history.decision]

    @property
    def differential(self) -> tuple[Any, ...] | None:
        """Classes that may still be true once the case is over, the most probable first; see `certify_differential`.

        None while there is something to ask, and if nothing is certified. It is also None if the case did not go as the
        policy would have it, as nothing is certified then either: other features were asked or ordered, answers that
        were ordered were not awaited, or what is known for every case came late.
        """
        sets = self._agent.differential
        if sets is None or self._next_questions()[0] or not self._is_as_planned():
            return None
        belief = self.posterior[None]
        return labels_of(sets.holds(belief), self._agent.classes, belief)[0]

    def _is_as_planned(self) -> bool:
        """Whether the policy by itself would have come to the same answers, and ended there."""
        agent, at_start = self._agent, self._questions.known_at_start
        numbers = [self._number(answer.name) for answer in self._answers]
        n_told = next((place for place, number in enumerate(numbers) if number not in at_start), len(numbers))
        if any(self._lack_tells(self._questions.name(q)) for q in at_start if q not in numbers[:n_told]):
            return False  # that it is missing was not told
        alone = Session(agent)
        alone._start(self._lot)
        for place, (number, answer) in enumerate(zip(numbers, self._answers)):
            if place >= n_told and (answer.known or number not in alone._next_questions()[0]):
                return False
            alone._advance(number, answer.value, answer.outcome, known=answer.known)
        return not alone._next_questions()[0]

    @property
    def expected_cost(self) -> float:
        """Expected cost of deciding now, without prices."""
        return float(deciding_cost(self.belief)[0])

    @property
    def paid(self) -> float:
        """Prices paid so far, including visits."""
        return float(sum(answer.price for answer in self._answers)) + self._cases[-1].due

    @property
    def n_visits(self) -> int:
        """Number of visits so far; if visits cost nothing, each question that was asked counts as one."""
        visits = self.belief.account.n_visits
        return sum(not answer.known for answer in self._answers) if visits is None else int(visits[0])

    @property
    def n_features(self) -> int:
        """Number of features acquired so far; a bundle counts once, and what was known does not count."""
        return sum(answer.outcome >= 0 for answer in self._answers if not answer.known)

    @property
    def history(self) -> tuple[Answer, ...]:
        """The answers so far."""
        return tuple(self._answers)

    @property
    def needless_answers(self) -> tuple[str, ...]:
        """Names of answers that skip logic leaves out, given the others; they were taken all the same."""
        if not self._questions.closes:
            return ()
        cases, numbered = self._cases, [(n, a.name, self._number(a.name)) for n, a in enumerate(self._answers)]
        return tuple(a for n, a, q in numbered if cases[-1].leaves_out(q) or cases[n].is_closed(q, ever=True))

    def _is_left_out(self, name: str) -> bool:
        """Whether no answer so far opens a question, by skip logic."""
        return self._cases[-1].leaves_out(self._number(name), ever=False)

    def observe(self, name: str | int, value: Any, *, strict: bool = False, known: bool = False) -> None:
        """Answer a question, whether or not it was asked.

        Parameters
        ----------
        name : str or int
            The feature or bundle, or the number of a column.
        value : float or str, or mapping of str to float or str
            Its raw value or its category. A category that did not occur in training raises an error, or counts as
            missing if the classifier has ``handle_unknown="missing"``. For a bundle, the values by feature; features
            left out are missing. A single feature of a bundle stands for the bundle with all others missing.
        strict : bool
            Whether to refuse a number outside `training_range`, which may be a typing error.
        known : bool
            Whether it was known beforehand and so costs nothing; what is known for every case always counts as known.

        Raises
        ------
        ValueError
            If it is not a feature of the model or was answered before, or the value is not a number (or not a known
            category) or, with ``strict``, is outside the training range.
        """
        called, question = self._to_name(name), self._number(name)
        value = self._by_name(value) if isinstance(value, Mapping) else value
        values = self._questions.values(question, called, value)
        self._check_usual(values, strict)
        outcome = self._outcome_of_values(question, values)
        self._advance(question, self._history_value(question, values), outcome, known=known)

    def training_range(self, name: str | int) -> tuple[float, float] | None:
        """Return the smallest and largest value that a feature had in training.

        Parameters
        ----------
        name : str or int
            A feature of the model, or the number of its column.

        Returns
        -------
        tuple of float, or None
            None for a categorical feature, and if the model saw no value.

        Raises
        ------
        ValueError
            If it is not a feature of the model.
        """
        feature = self._feature(name)
        return None if feature.categories else self._agent.coder.training_range(feature.column)

    def categories(self, name: str | int) -> tuple[str, ...]:
        """Return the possible values of a categorical feature of the model; empty for a numeric one."""
        return self._feature(name).categories

    def unusual(self, name: str | int, value: Any) -> str:
        """Return a sentence if a number is outside `training_range`.

        Parameters
        ----------
        name : str or int
            A feature of the model, or the number of its column.
        value : float or str
            Its raw value.

        Returns
        -------
        str
            The sentence, or "" if the number is inside.
        """
        known, called = self.training_range(name), self._to_name(name)
        if known is None or known[0] <= (number := finite(called, value)) <= known[1]:
            return ""
        return (
            f"{number:.6g} is outside of what training showed of {short_repr(called)}, {known[0]:.6g} to "
            f"{known[1]:.6g}."
        )

    def unavailable(self, name: str | int, *, known: bool = False) -> None:
        """Answer that a feature or bundle is not available; the belief then stays as it is, unless missing is
        informative.

        With ``missing="informative"`` this is an answer, if the feature was missing in training too, and is paid for
        like any other.

        Parameters
        ----------
        name : str or int
            The feature or bundle, or the number of a column.
        known : bool
            Whether that was known beforehand and so costs nothing; what is known for every case always counts as known.

        Raises
        ------
        ValueError
            If it is not a feature or bundle of the model, or was answered before.
        """
        question = self._number(name)
        self._advance(question, None, self._outcome_of_values(question, {}), known=known)

    def undo(self) -> None:
        """Take back the last answer.

        Raises
        ------
        ValueError
            If there is no answer.
        """
        if not self._answers:
            raise ValueError("there is no answer to take back.")
        n = len(self._answers) - 1
        visits = [visit for visit in self._visits if visit.after < n or (visit.after == n and not visit.implied)]
        self._answers, self._cases, self._visits = self._answers[:-1], self._cases[:-1], visits

    def correct(self, name: str | int, value: Any, *, strict: bool = False) -> None:
        """Change an answer that was given before; nothing changes if that fails.

        The other answers stay, but those that skip logic leaves out after the new one; so does what was ordered in
        visits.

        Parameters
        ----------
        name : str or int
            The feature or bundle, or the number of a column.
        value : float or str, mapping, or None
            As in `observe`; None where it is not available after all.
        strict : bool
            As in `observe`.

        Raises
        ------
        ValueError
            If it was not answered before, or as in `observe`.

        Examples
        --------
        >>> import numpy as np
        >>> from seqclass import SequentialClassifier
        >>> X = np.array([[0.0, 5.0], [0.1, 4.0], [0.9, 5.0], [1.0, 4.0]] * 10)
        >>> case = SequentialClassifier().fit(X, [0, 0, 1, 1] * 10).session(known={"x0": 0.95})
        >>> case.correct("x0", 0.05)
        >>> int(case.decision)
        0
        """
        called, question = self._to_name(name), self._number(name)
        saved = self._to_save()
        place = next((n for n, answer in enumerate(saved.answers) if self._number(answer[0]) == question), None)
        if place is None:
            raise ValueError(f"{short_repr(called)} was not answered yet: answer it first.")
        value = self._by_name(value) if isinstance(value, Mapping) else value
        if value is not None:
            self._check_usual(self._questions.values(question, called, value), strict)
        whole, before, known = saved.answers[place]
        if called != whole:  # one feature of a bundle, whose others stay
            value = {**(before or {}), called: value}
            known = [*known, called] if isinstance(known, list) else known
        saved.answers[place] = whole, value, known
        self._replay(saved, corrected=True)

    def _check_usual(self, values: Mapping[str, Any], strict: bool) -> None:
        if strict and (note := " ".join(filter(None, (self.unusual(*one) for one in values.items())))):
            raise ValueError(note)

    def to_json(self) -> str:
        """Return the session as JSON text, which ``SequentialClassifier.session(saved)`` takes.

        Returns
        -------
        str
        """
        return json.dumps(self._record())

    def _record(self) -> dict[str, Any]:
        return write_session(self._to_save())

    def _to_save(self) -> SavedSession:
        """What is saved of it; of what was known of a part of a bundle the features that were told of."""
        first = [self._questions.name(question) for question in self._first]
        answers = [(a.name, a.value, a.known and (self._partial_features(a) or True)) for a in self._answers]
        return SavedSession(fingerprint(self._agent), self._lot, first, answers, self._visits)

    def restore(self, saved: str | dict[str, Any]) -> None:
        """Continue a saved session where it was left; nothing changes if that fails.

        Parameters
        ----------
        saved : str or dict
            Text that `to_json` returned, or what it holds.

        Raises
        ------
        ValueError
            If the text is not a session, or is one of another model.
        """
        stored = read_session(saved, len(self._questions.histories.lots))
        if stored.model != fingerprint(self._agent):
            raise ValueError("this session was saved with another model: load that one, or begin anew, known={...}.")
        self._replay(stored)

    def _replay(self, stored: SavedSession, corrected: bool = False) -> None:
        """Take answers one after the other; of a session that was ``corrected`` those that are still asked."""
        fresh = Session(self._agent, first=stored.first)
        fresh._start(stored.lot)
        for number, answer in enumerate([*stored.answers, None]):
            undone = None  # where undoing this answer leads, and the visit that it implied is undone with it
            for visit in (one for one in stored.visits if one.after == number):
                undone = fresh._cases[-1] if visit.implied else None
                fresh.leave() if visit.names is None else fresh.order(visit.names)
                fresh._visits[-1] = visit
            if answer is None:
                break
            name, value, known = answer
            question = fresh._number(name)
            if corrected and fresh._cases[-1].is_closed(question) and not self._cases[number].is_closed(question):
                continue
            if isinstance(known, list):
                fresh._know(question, dict.fromkeys(known) | (value or {}))
            elif value is None:
                fresh.unavailable(name, known=known)
            else:
                fresh.observe(name, value, known=known)
            if undone is not None:
                fresh._cases[-2] = undone
        self._first, self._lot, self._visits = fresh._first, fresh._lot, fresh._visits
        self._cases, self._answers = fresh._cases, fresh._answers

    def _read_known(self, known: Mapping[Any, Any]) -> dict[int, dict[str, Any]]:
        """What is known by question and feature, None where a feature is known to be missing and that may tell."""
        values_by_question: dict[int, dict[str, Any]] = {}
        whole = list[int]()
        if not hasattr(known, "items") or hasattr(known, "columns"):
            raise TypeError(
                f"known must be a dict of values by feature, such as {{'age': 63}}, got {short_repr(known)}."
            )
        cells = self._by_name(known)
        there = without_missing(cells)
        for name, value in cells.items():
            if self._is_used(name) and (name in there or self._lack_tells(name)):
                question = self._number(name)
                values = self._questions.values(question, name, value) if name in there else {}
                if name == self._questions.name(question):
                    whole.append(question)
                elif not values:
                    values = {name: None}
                before = values_by_question.setdefault(question, {})
                if twice := [feature for feature in values if feature in before]:
                    raise ValueError(f"known tells {short_repr(twice[0])} twice, by itself and with its bundle.")
                before |= values
        # of a bundle that is named what is left out is missing; of a feature of it by itself not
        for question in whole:
            values_by_question[question] = {
                f.name: values_by_question[question].get(f.name) for f in self._questions.features(question)
            }
        return values_by_question

    def _know(self, question: int, cells: Mapping[str, Any]) -> None:
        """Note what is known of a question, None for a feature that is missing; of its other features nothing."""
        values = without_missing(cells)
        outcome = self._outcome_of_values(question, values, cells)
        self._advance(question, self._history_value(question, values) if values else None, outcome, known=True)

    def _history_value(self, question: int, values: Mapping[str, Any]) -> Any:
        """Values as the history has them: texts and numbers, of a bundle by feature."""
        shown_by = {feature.name: feature for feature in self._questions.features(question)}
        shown = {key: str(v) if shown_by[key].categories else float(v) for key, v in values.items()}
        return shown if self._questions.problem.structure.bundle(question) is not None else next(iter(shown.values()))

    def _partial_features(self, answer: Answer) -> list[str]:
        """Features of a bundle of which alone an answer tells; none where it tells of all of them."""
        question = self._number(answer.name)
        bundle, values = self._questions.problem.structure.bundle(question), answer.value or {}
        if bundle is None or answer.outcome == self._outcome_of_values(question, values):
            return []
        outcomes = bundle.decode(np.array([answer.outcome]))[0].tolist()
        return [f.name for f, outcome in zip(self._questions.features(question), outcomes) if outcome >= 0]

    def __repr__(self) -> str:
        beliefs = belief_text(self._agent.classes.tolist(), self.posterior.tolist(), most=3)
        paid = money(self.paid, self._agent.unit)
        return visible(f"<Session: {self.n_features} acquired, {paid} paid; {beliefs}>", keep="")

    def __str__(self) -> str:
        panel, unit = self.next_panel, self._agent.unit
        if not panel:
            return visible(f"{repr(self)[1:-1]}; next: decide {self.decision}", keep="")
        names = ", ".join(question.name for question in panel)
        price = money(sum(question.price for question in panel) + self.visit_cost, unit)
        return visible(f"{repr(self)[1:-1]}; next: ask {names} (price {price})", keep="")

    def _is_used(self, name: str) -> bool:
        """Whether the model knows a feature; where a selector left it out, it does not."""
        if name in self._questions.numbers:
            return True
        if name in columns_by_name(self._agent):
            return False
        raise ValueError(self._unknown(name))

    def _feature(self, name: str | int) -> Feature:
        name = self._to_name(name)
        features = self._questions.features(self._number(name))
        for feature in features:
            if feature.name == name:
                return feature
        raise ValueError(f"{short_repr(name)} is a bundle; its features are {join_names(f.name for f in features)}.")

    def _number(self, name: str | int) -> int:
        question = self._questions.numbers.get(self._to_name(name))
        if question is None:
            raise ValueError(self._unknown(name))
        return question

    def _to_name(self, name: Any) -> Any:
        """A name, also of the column that is given by its number."""
        if isinstance(name, str) or not isinstance(name, Integral):
            return name
        column = columns_of([name], self._agent.n_features, self._agent.feature_names, "the session")[0]
        return feature_name(self._agent, int(column))

    def _by_name(self, values: Mapping[Any, Any]) -> dict[Any, Any]:
        """Values by name, also of columns that are given by their numbers."""
        by_name = {self._to_name(key): value for key, value in values.items()}
        if len(by_name) < len(values):
            raise ValueError("a feature is told of twice, by its name and by its number: leave one out.")
        return by_name

    def _unknown(self, name: Any) -> str:
        return f"{short_repr(name)} is no feature of this model; {near(str(name), list(self._questions.numbers))}"

    def _outcome_of_values(self, question: int, values: Mapping[str, Any], cells: Collection[str] | None = None) -> int:
        """Outcome of a question whose features have some values, and lack the others, or those that are told of."""
        missing_code, bundle = self._questions.missing_code, self._questions.problem.structure.bundle(question)
        outcomes = [
            self._outcome(f, values[f.name])
            if f.name in values
            else int(missing_code[f.column])
            if cells is None or f.name in cells
            else -1
            for f in self._questions.features(question)
        ]
        return outcomes[0] if bundle is None else int(bundle.encode([outcomes])[0])

    def _lack_tells(self, name: Any) -> bool:
        """Whether it is an answer that a feature, or a bundle, is missing."""
        features = self._questions.features(self._number(name))
        own = [f.column for f in features if f.name == name] or [f.column for f in features]
        return bool((self._questions.missing_code[own] >= 0).any())

    def _outcome(self, feature: Feature, value: Any) -> int:
        encoder = self._agent.encoder
        if feature.categories and is_missing(value):
            known = f"must be one of {join_names(feature.categories)}, got {short_repr(value)}"
            raise AnswerError(f"feature {short_repr(feature.name)} {known}", "missing")
        if feature.categories and encoder is not None:
            if not spelt(value):
                wrong = f"feature {short_repr(feature.name)} must be a category, got {short_repr(value)}"
                raise AnswerError(wrong, "missing")
            number = encoder.code(encoder.columns_[feature.column], value, self._agent.handle_unknown)
        else:
            number = finite(feature.name, value)
            if number < 0 and isinstance(self._agent.coder.discretizer, str):  # where a table has -1, a cell is missing
                wrong = f"feature {short_repr(feature.name)} must be an outcome from 0 on, got {short_repr(value)}"
                raise AnswerError(wrong, "missing")
        return self._agent.coder.code_value(feature.column, number)

    def _advance(self, question: int, value: Any, outcome: int, *, known: bool = False) -> None:
        case, name = self._cases[-1], self._questions.name(question)
        if any(answer.name == name for answer in self._answers):
            raise AnswerError(f"{short_repr(name)} was answered before", "answered")
        known = known or question in self._questions.known_at_start  # whenever it is told
        panel, saving, _ = (
            (list[int](), 0.0, 0.0) if known else self._next_questions()
        )  # of what is known nothing was expected
        if not known and question not in panel[:1]:
            saving = math.nan
        charged = self._agent.charge_missing
        visits, begun = self._questions.problem.visits, list[Visit]()
        if visits is not None and not known and not case.facts.account.waits[0]:
            ordered = panel if question in panel else [question]
            case = self._order_panel(ordered)
            begun = [Visit(len(self._answers), [self._questions.name(q) for q in ordered], True)]
        try:
            following = case.learn(question, outcome, known=known, charge_missing=charged)
        except ImpossibleOutcome:
            raise self._impossible(name, value, known) from None
        paid, price = not known and (outcome >= 0 or charged), 0.0
        if visits is not None and not known:
            price = float(charge(set_question(case.facts, question), np.array([paid]))[0][0]) + case.due
        elif paid:
            price = case.price(question)
        posterior = tuple(following.probabilities[0].tolist())
        answer = Answer(name, value, outcome, price, float(saving), posterior, known)
        after = [*self._visits, *begun], [*self._cases, following], [*self._answers, answer]
        # at last, and all at once: nothing of an answer that fails stays
        self._visits, self._cases, self._answers = after

    def _impossible(self, name: str, value: Any, known: bool) -> ValueError:
        """Say which answer cannot be, and beside which others."""
        answers = [_answer_text(answer.name, answer.value) for answer in self._answers if answer.outcome >= 0]
        beside = f"given {', '.join(answers)}" if answers else "by the model"
        wrong = f"{_answer_text(name, value)} is impossible {beside}"
        if answers and not known:
            return AnswerError(wrong, "impossible")
        mend = "correct what was told as known" if answers else "check it"
        return ValueError(f"{wrong}: {mend}; where all is true, the model should allow for it.")


def _answer_text(name: str, value: Any) -> str:
    """An answer, which may be that a feature is missing."""
    return f"{name} = {'missing' if value in (None, {}) else value_text(value)}"


def _added_saving(policy: Policy, case: Case, numbers: list[int], saving: float) -> float:
    """What some questions add to what going on is expected to save."""
    if case.belief.problem.any_order or case.questions.problem.visits is not None:
        asked = np.isin(np.arange(case.belief.problem.n_questions), numbers)[None]
        added = float(added_saving(policy, case.belief, asked, saving)[0])
    else:  # the next of the order that is not known
        without = expected_saving(policy, case.pass_over(numbers[0]))
        added = max(saving, 0.0) - max(float(without[0]), 0.0)
    return math.nan if math.isnan(added) else added


def expected_saving(policy: Policy, belief: BeliefState) -> FloatArray:
    """By how much going on is expected to be cheaper than deciding now, prices counted; NaN where unknown."""
    return np.asarray(deciding_cost(belief) - policy.continuation_cost(belief))


def _draw_lot(policy: Policy, probability: FloatArray, key: str | int | None) -> int:
    """The lot of one case, as far as the policy leaves anything to chance."""
    if len(probability) == 1:
        return 0
    if key is None:
        return int(np.random.default_rng().choice(len(probability), p=probability))
    digest = hashlib.sha256(str(key).encode()).digest()
    return int(draw_lots(policy, np.array([[int.from_bytes(digest[:6], "big") + 1]]))[0])
