"""Who answers in an episode: cases of the problem itself, of another world, or rows of data."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from seqclass._utils.arrays import FloatArray, IntArray, chunks, draw_columns
from seqclass._utils.frames import plain_data, rows_as_frame
from seqclass._utils.text import short_repr
from seqclass.pomdp.acquisition import initial_rows
from seqclass.pomdp.observations import DataObservations, outcomes_by_question
from seqclass.pomdp.one_step import initial_beliefs
from seqclass.pomdp.policy import Policy, as_policy
from seqclass.pomdp.problem import (
    AcquisitionProblem,
    BeliefState,
    outcome_likelihood,
    question_is_sampled,
    set_question,
    with_component,
)
from seqclass.pomdp.table_problem import in_any_order

__all__: list[str] = []


class AgentLike(Protocol):
    """What is read of an `Agent`: how rows become outcomes, and what was planned."""

    problem: AcquisitionProblem
    policy: Policy
    model: Any
    support: IntArray
    classes: npt.NDArray[Any]
    charge_missing: bool

    @property
    def n_features(self) -> int: ...

    @property
    def feature_names(self) -> npt.NDArray[Any] | None: ...

    def _outcome_rows(self, X: Any, policy: Policy) -> tuple[Any, IntArray, Any, Any]: ...

    def _shows(self, column: int) -> list[str]: ...


class FittedLike(Protocol):
    """A fitted classifier."""

    agent_: AgentLike


#: What an episode is about: a problem, or a fitted classifier or its agent.
Game = AcquisitionProblem | AgentLike | FittedLike


def game_of(problem: Game) -> tuple[AcquisitionProblem, AgentLike | None]:
    """The problem, and of a fitted classifier its agent."""
    agent: Any = getattr(problem, "agent_", problem)
    if isinstance(agent, AcquisitionProblem):
        return agent, None
    if isinstance(getattr(agent, "problem", None), AcquisitionProblem) and hasattr(agent, "_outcome_rows"):
        return agent.problem, agent
    raise TypeError(f"problem must be an AcquisitionProblem or a fitted classifier, got {short_repr(problem)}.")


#: What asks: a policy, a function as of `FunctionPolicy`, or by default what was fitted.
Asked = Policy | Callable[[BeliefState], Any] | None


def game_and_policy(game: Game, policy: Asked) -> tuple[AcquisitionProblem, AgentLike | None, Policy]:
    """A game as `game_of`, and who asks: by default a fitted classifier's policy, and a function as a policy."""
    problem, agent = game_of(game)
    if policy is not None:
        return problem, agent, as_policy(policy, problem)
    if agent is None:
        raise TypeError("policy is needed beside a problem: such as what solver.solve(problem) returns.")
    return problem, agent, agent.policy


class DrawnCaseSource:
    """Cases of a problem, or of another world: of each the class is drawn, and what it shows given that.

    `fixed` has the class of each case where that is said, -1 where it is drawn.
    """

    charge_missing = False

    def __init__(self, problem: AcquisitionProblem, world: Any, n: int, agent: AgentLike | None = None) -> None:
        self.problem, self.fixed = problem, np.full(n, -1)
        self.source: Any = problem
        self.number: IntArray | None = None
        if world is not None:
            self.source, self.number = _check_world(problem, world, agent)
        self.own = world is None
        self.first, _ = initial_beliefs(problem)
        self.label: IntArray = np.zeros(n, dtype=np.intp)
        if isinstance(self.source, AcquisitionProblem):
            begun, weight = initial_beliefs(self.source)
            self._join = self.source.structure.join
            self._start_state, self.joint = begun.state, weight[:, None] * begun.probabilities
        else:
            self._join = self.source.join
            self._start_state, self.joint = self.source.start(1), np.asarray(self.source.class_prior_)[None]
        self.state = None if self.own else self._start_state[np.zeros(n, dtype=np.intp)]
        self._answered: list[tuple[IntArray, Any]] = []

    def begin(self, cases: IntArray, rng: np.random.Generator, row: IntArray | None = None) -> IntArray:
        """Draw class and start of some cases, which begin anew; the row of ``first`` of each."""
        drawn = rng.choice(self.joint.size, len(cases), p=self.joint.ravel() / self.joint.sum())
        start, self.label[cases] = np.divmod(drawn, self.joint.shape[1])
        fixed = np.flatnonzero(self.fixed[cases] >= 0)
        if fixed.size:
            label = self.fixed[cases[fixed]]
            if never := set(label.tolist()) - set(np.flatnonzero(self.joint.any(axis=0)).tolist()):
                raise ValueError(f"true_class is {min(never)}, which has no probability: nothing follows from it.")
            self.label[cases[fixed]] = label
            start[fixed] = draw_columns(self.joint.T[label], rng.random(len(label)))
        if not self.own:
            self._answered.append((cases, self._start_state[start]))
            self.settle()
        return start

    def draw(self, belief: BeliefState, place: IntArray, cases: IntArray, rng: np.random.Generator) -> IntArray:
        """Draw what cases, rows ``place`` of the belief, show of what is asked, by their class and what they showed."""
        label = self.label[cases]
        if self.own:
            if question_is_sampled(belief):
                return _draw_sampled(belief._take(place), label, rng)
            return _draw_of_rows(outcome_likelihood(belief), place, label, rng)
        return outcomes_by_question(
            belief, place, lambda asked, at: self._draw_of_other(asked, cases[at], label[at], rng)
        )

    def _draw_of_other(self, question: int, cases: IntArray, label: IntArray, rng: np.random.Generator) -> IntArray:
        source, rows = self.source, np.arange(len(cases))
        assert self.state is not None  # of another world
        state = self.state[cases]
        if isinstance(source, AcquisitionProblem):
            if source.structure.is_sampled(question):
                belief = source.initial_belief(len(cases)).replace(state=state)
                outcome = _draw_sampled(belief if not source.any_order else set_question(belief, question), label, rng)
            else:
                outcome = _draw_of_rows(source.likelihood(question, state), rows, label, rng)
            state = source.advance(question, state, outcome)
        else:
            shown = []
            for feature in self.problem.structure.members(question).tolist():
                feature = feature if self.number is None else int(self.number[feature])
                shown.append(_draw_of_rows(source.stage_likelihood(feature, state), rows, label, rng))
                state = source.advance(feature, state, shown[-1])
            bundle = self.problem.structure.bundle(question)
            outcome = shown[0] if bundle is None else bundle.encode(np.stack(shown, axis=1))
        self._answered.append((cases, state))
        return outcome

    def settle(self) -> None:
        """Put what the world remembers of the cases together again, once all that were asked have answered."""
        if self._answered:
            cases = np.concatenate([cases for cases, _ in self._answered])
            place = np.arange(len(self.label))
            place[cases] = len(place) + np.arange(len(cases))
            self.state = self._join([self.state, *(state for _, state in self._answered)])[place]
            self._answered = []


class Rows:
    """Cases of data: each shows what its row has, -1 where that is missing; rows have their own classes."""

    fixed: None = None

    def __init__(
        self,
        problem: AcquisitionProblem,
        agent: AgentLike | None,
        X: Any,
        n: int,
        label: IntArray | None,
        policy: Policy | None = None,
    ) -> None:
        self.charge_missing = agent is not None and agent.charge_missing
        columns, begun = None, None
        if agent is not None:
            X, columns, keys, begun = agent._outcome_rows(X, policy or agent.policy)
        else:
            X = keys = X if hasattr(X, "tocsc") else check_observations(problem, X)
            if problem.structure.starts is not None:
                raise ValueError(
                    "observations of a problem in which something is known at the start: give the fitted classifier."
                )
        if begun is None:
            begun = (problem.initial_belief(), np.zeros(X.shape[0], dtype=np.intp))
            if policy is not None:
                drawn, node = initial_rows(policy, X if keys is None else keys)
                begun = (with_component(problem.initial_belief(len(drawn)), drawn.account.component), node)
        self.first: BeliefState = begun[0]
        self._node: IntArray = begun[1]
        self._data = DataObservations(X, columns, self._node)
        self.n_rows, self._label, self.label = len(self._node), label, np.full(n, -1)
        self._row: IntArray = np.zeros(n, dtype=np.intp)

    def begin(self, cases: IntArray, rng: np.random.Generator, row: IntArray | None = None) -> IntArray:
        """Take these rows for some cases, or draw them; see `DrawnCaseSource.begin`."""
        self._row[cases] = rng.integers(len(self._node), size=len(cases)) if row is None else row
        if self._label is not None:
            self.label[cases] = self._label[self._row[cases]]
        return self._node[self._row[cases]]

    def draw(self, belief: BeliefState, place: IntArray, cases: IntArray, rng: np.random.Generator) -> IntArray:
        """Look up what cases show; see `DrawnCaseSource.draw`."""
        rows, problem = self._row[cases], belief.problem
        return outcomes_by_question(belief, place, lambda asked, at: self._data.outcomes(problem, asked, rows[at]))

    def settle(self) -> None:
        """Rows remember nothing; see `DrawnCaseSource.settle`."""


class CaseObservations(DataObservations):
    """The answers of cases of a source, each at the history that it has come to."""

    def __init__(self, source: DrawnCaseSource | Rows, node: IntArray, rng: np.random.Generator) -> None:
        super().__init__(np.empty((len(node), 0)), None, node, source.charge_missing)
        self.source, self.rng = source, rng

    def level(self, question: IntArray) -> None:
        """Leave the cases whose histories stop; see `ObservationSource.level`."""
        super().level(question)
        self.source.settle()

    def _outcomes_of_rows(self, belief: BeliefState, some: Any, place: IntArray) -> IntArray:
        return self.source.draw(belief, place, self.rows[some], self.rng)


def _draw_of_rows(likelihood: FloatArray, place: IntArray, label: IntArray, rng: np.random.Generator) -> IntArray:
    outcome = np.empty(len(place), dtype=np.int64)
    for part in chunks(len(place), 8.0 * 3 * likelihood.shape[1]):
        some = likelihood[place[part], :, label[part]]
        outcome[part] = draw_columns(some, rng.random(len(some)))
    return outcome


def _draw_sampled(belief: BeliefState, label: IntArray, rng: np.random.Generator) -> IntArray:
    """Outcomes of a question of which not all are listed, of cases of known class."""
    known = belief.replace(probabilities=np.eye(belief.problem.n_classes)[label])
    return belief.problem.structure.sample_outcomes(belief.question, known, np.arange(len(label)), rng)


def _check_world(problem: AcquisitionProblem, world: Any, agent: AgentLike | None) -> tuple[Any, IntArray | None]:
    """A problem or model that can answer for a problem, and where a model has other numbers those of the features."""
    other, number = getattr(world, "agent_", world), None
    if isinstance(other, AcquisitionProblem):
        return _check_other_problem(problem, other), None
    source = getattr(other, "model", other)
    if not all(hasattr(source, name) for name in ("start", "stage_likelihood", "advance", "n_outcomes_")):
        raise TypeError(
            "world must be an AcquisitionProblem, a fitted observation model or a fitted classifier, got "
            f"{short_repr(world)}."
        )
    if problem.structure.starts is not None:
        raise ValueError("world must be a problem of the same starts, since something is known at the start here.")
    n_features = len(source.n_outcomes_)
    if source is not other:
        number, n_features = _same_columns(agent, other), len(other.support)
    _check_classes(problem, len(source.classes_))
    for question in range(problem.n_questions):
        bundle = problem.structure.bundle(question)
        sizes = problem.n_outcomes[[question]] if bundle is None else bundle.sizes
        for feature, size in zip(problem.structure.members(question).tolist(), sizes.tolist()):
            at = feature if number is None else int(number[feature])
            _check_size(
                problem.names.question(question), size, int(source.n_outcomes_[at]) if 0 <= at < n_features else 0
            )
    return source, number


def _same_columns(agent: AgentLike | None, other: AgentLike) -> IntArray:
    """Feature of another classifier's model that shows what each of a classifier's does, -1 where none does."""
    if agent is None:
        raise TypeError("world may be a fitted classifier beside another one: give that in place of the problem.")
    number = np.full(len(agent.support), -1)
    for feature, column in enumerate(agent.support.tolist()):
        if column in other.support:
            number[feature] = int(np.searchsorted(other.support, column))
            if agent._shows(column) != other._shows(column):
                raise ValueError(f"world cuts column {column} into other bins: fit both on the same rows and settings.")
    return number


def _check_other_problem(problem: AcquisitionProblem, world: AcquisitionProblem) -> AcquisitionProblem:
    """Another problem as a world, in which prices, rules and limits say nothing."""
    _check_classes(problem, world.n_classes)
    for question in range(problem.n_questions):
        has = question < world.n_questions
        same = has and np.array_equal(problem.structure.members(question), world.structure.members(question))
        other_size = int(world.n_outcomes[question]) if same else 0
        _check_size(problem.names.question(question), int(problem.n_outcomes[question]), other_size)
    own, others = problem.structure.starts, world.structure.starts
    if (own is None) != (others is None) or (
        own is not None and others is not None and not np.array_equal(own.outcomes, others.outcomes)
    ):
        raise ValueError("world must have the same starts as the problem: what is known before the first question.")
    if problem.any_order:
        world = in_any_order(world)
    return world.replace(rules=None, visits=None, max_questions=None, max_cost=None)


def _check_classes(problem: AcquisitionProblem, n_classes: int) -> None:
    if n_classes != problem.n_classes:
        raise ValueError(f"world must have the problem's {problem.n_classes} classes, it has {n_classes}.")


def _check_size(name: str, size: int, other: int) -> None:
    if size != other:
        has = f"{other} outcomes" if other else "no such question"
        raise ValueError(f"world must answer {name!r} by one of {size} outcomes, it has {has}.")


def _by_feature(problem: AcquisitionProblem, observations: Any) -> Any:
    """Outcomes by feature of cases of a problem, whose questions are called by name or number."""
    observations = plain_data(observations) if hasattr(observations, "columns") else rows_as_frame(observations)
    columns = getattr(observations, "columns", None)
    if columns is not None:
        if not all(isinstance(name, str) for name in columns):
            return observations  # a table of outcomes by feature
        keys = list(columns)
    elif isinstance(observations, (list, tuple)) and observations and isinstance(observations[0], Mapping):
        keys = list(dict.fromkeys(key for case in observations for key in case))
    else:
        return observations
    questions = [problem.names.number(key) for key in keys]
    if len(set(questions)) < len(questions):
        twice = next(question for question in questions if questions.count(question) > 1)
        name = short_repr(problem.names.question(twice))
        raise ValueError(f"observations has {name} twice, by name or number: give each question one column.")
    rows = np.full((len(observations), n_features_of(problem)), -1)
    for key, question in zip(keys, questions):
        values = [case.get(key) for case in observations] if columns is None else observations[key].tolist()
        bundle = problem.structure.bundle(question)
        outcome = np.array([problem.names.code(question, value) for value in values], dtype=np.intp)
        rows[:, problem.structure.members(question)] = outcome[:, None] if bundle is None else bundle.decode(outcome)
    return rows


def check_observations(problem: AcquisitionProblem, X: Any) -> IntArray:
    """Outcomes of cases by feature, (n, n_features), -1 where missing."""
    X, n_features = np.ma.filled(_by_feature(problem, X), -1), n_features_of(problem)
    if X.ndim != 2 or X.dtype.kind not in "iu" or X.shape[1] < n_features:
        raise ValueError(
            f"observations must be integers of shape (n, {n_features}), the outcome of each feature (-1 is missing); "
            f"got {X.dtype} of shape {X.shape}. Names of outcomes go in dicts or a frame, by question; rows as they "
            "were fitted go with the classifier."
        )
    return np.asarray(X, dtype=np.int64)


def n_features_of(problem: AcquisitionProblem) -> int:
    """Number of columns of outcomes by feature."""
    return 1 + max([int(problem.structure.members(q).max()) for q in range(problem.n_questions)], default=-1)


def class_numbers(problem: AcquisitionProblem, agent: AgentLike | None, true_class: Any) -> IntArray:
    """Numbers of classes that are told by label, or by number beside a problem, (n,)."""
    labels, known = np.atleast_1d(np.asarray(true_class)), class_labels(problem, agent)
    if labels.ndim != 1:
        raise ValueError(f"true_class must be one class or one for each case, got shape {labels.shape}.")
    number = {label: k for k, label in enumerate(known)}
    if agent is None and labels.dtype.kind in "iu":
        number = {k: k for k in range(len(known))}
    wrong = [label for label in labels.tolist() if label not in number]
    if wrong:
        raise ValueError(f"true_class must be among {short_repr(list(number))}, got {short_repr(wrong[0])}.")
    return np.array([number[label] for label in labels.tolist()], dtype=np.intp)


def class_labels(problem: AcquisitionProblem, agent: AgentLike | None) -> list[Any]:
    """Labels of the classes."""
    return problem.names.classes if agent is None else agent.classes.tolist()


def outcome_name(problem: AcquisitionProblem, question: int, outcome: int) -> str:
    """Name of what a question showed."""
    if problem.structure.bundle(question) is None:
        return "missing" if outcome < 0 else problem.names.outcomes(question)[outcome]
    observed = np.full(problem.n_questions, -2)  # not asked, all but this
    observed[question] = outcome
    return problem.names.describe(observed)
