"""Walking through histories: the one loop behind execution, enumeration, simulation and sampling.

Instances that share a history share everything the problem knows of them, so a walk carries each distinct history
once, with a weight: its probability, the number of sampled paths or the number of instances that run through it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple, Protocol, TypeVar

import numpy as np

from seqclass._utils.arrays import BoolArray, FloatArray, IntArray, as_generator
from seqclass._utils.progress import DeadlineExceeded, check_deadline, remaining_seconds, time_limit
from seqclass._utils.validation import check_choice, check_integer
from seqclass.pomdp.account import join_accounts, join_arrays
from seqclass.pomdp.observations import AllObservations, ObservationSource, SampledObservations, TooLarge
from seqclass.pomdp.one_step import initial_beliefs
from seqclass.pomdp.problem import DECIDE, AcquisitionProblem, BeliefState, set_question, with_component
from seqclass.pomdp.visits import order_panels

__all__: list[str] = []


R = TypeVar("R")
#: With fewer rows of each question on average it is quicker to take different questions together.
_FEW = 64
#: Histories that an enumeration may visit before ``method="auto"`` turns to simulation.
MAX_HISTORIES = 100_000
#: Every outcome, none missing.
ALL = AllObservations()


class PolicyLike(Protocol):
    """What a walk asks of a policy: see `Policy`."""

    @property
    def problem(self) -> AcquisitionProblem: ...

    def action(self, belief: BeliefState) -> IntArray: ...

    def panels(self, belief: BeliefState, least: int = 0) -> BoolArray | None: ...

    def initial_belief(self) -> tuple[BeliefState, FloatArray]: ...


class Fork(NamedTuple):
    """What to ask at a level of a walk where a history may ask several questions, or count for another weight.

    Attributes
    ----------
    row : ndarray of int of shape (m,)
        Rows of the level, perhaps repeated; those of a row side by side.
    question : ndarray of int of shape (m,)
        The question that each asks.
    weight : ndarray of shape (m,)
        Its weight from there on.
    """

    row: IntArray
    question: IntArray
    weight: FloatArray


@dataclass
class Level:
    """All distinct histories of one stage of a walk.

    Attributes
    ----------
    belief : BeliefState
        What is known, a row a history.
    weight : ndarray of shape (n,)
        Probability of each, its number of paths or of instances.
    parent : ndarray of int of shape (n,)
        The row of the level before that each comes from; at the first level each is its own.
    entry : ndarray of int of shape (n,)
        What asked of the level before each comes from: a position among its histories that went on, or in its `Fork`.
    outcome : ndarray of int of shape (n,)
        What each saw last, -1 where it was missing.
    visited : int
        Distinct histories visited so far.
    question : ndarray of int of shape (n,)
        What each asks next, or -1 where it decides; set once it was asked, and not for a `Fork`.
    """

    belief: BeliefState
    weight: FloatArray
    parent: IntArray
    entry: IntArray
    outcome: IntArray
    visited: int
    question: IntArray
    _parts: tuple[IntArray, IntArray, list[tuple[IntArray, BeliefState]]] | None = field(default=None, repr=False)

    def split(self, row: IntArray, question: IntArray) -> list[tuple[IntArray, BeliefState]]:
        """Rows that ask, in parts; the walk goes on with these, and with what was computed of them."""
        known = self._parts
        if known is None or known[0] is not row or known[1] is not question:
            self._parts = known = (row, question, split_by_question(self.belief, row, question))
        return known[2]

    @property
    def stage(self) -> int:
        """Number of questions asked so far."""
        return self.belief.stage

    @property
    def go_on(self) -> BoolArray:
        """Where a question is asked next, (n,)."""
        return np.asarray(self.question != DECIDE)


def split_by_question(belief: BeliefState, row: IntArray, question: IntArray) -> list[tuple[IntArray, BeliefState]]:
    """Rows in parts that ask together, one for each question or one for all where each has few; see `Level.split`."""
    groups: list[IntArray] = [np.arange(row.size)]
    if row.size and not (question == question[0]).all():
        order = np.argsort(question, kind="stable")
        ends = np.flatnonzero(np.diff(question[order])) + 1
        if row.size < _FEW * (len(ends) + 1) and belief.problem.structure.supports_mixed_batches(
            question[order[np.append(0, ends)]]
        ):
            return [(order, set_question(belief[row[order]], question[order]))]
        groups = np.split(order, ends)
    whole = len(groups) == 1 and row.size == len(belief) and bool((row == np.arange(row.size)).all())
    return [(at, set_question(belief if whole else belief[row[at]], int(question[at[0]]))) for at in groups]


def join_beliefs(parts: Sequence[BeliefState]) -> BeliefState:
    """The rows of several beliefs of one problem and stage together, one after the other."""
    first = parts[0]
    if len(parts) == 1:
        return first
    return BeliefState(
        first.problem,
        first.stage,
        join_arrays(parts, "probabilities"),
        first.problem.structure.join([part.state for part in parts]),
        join_accounts([part.account for part in parts]),
        observed=join_arrays(parts, "observed"),
    )


#: What each history of a level asks next, -1 where it decides; or a fork.
Ask = Callable[[Level], IntArray | Fork]


def walk(
    belief: BeliefState, weight: FloatArray, ask: Ask, answers: ObservationSource = ALL, max_histories: float = np.inf
) -> Iterator[Level]:
    """Ask, branch on the answer, update, a level at a time, until nothing more is asked."""
    rows = np.arange(len(belief))
    level = Level(belief, weight, rows, rows, np.full(len(belief), -1), 1, np.full(len(belief), DECIDE))
    while len(level.belief):
        check_deadline()
        asked = ask(level)
        if not isinstance(asked, Fork):
            level.question = asked
            answers.level(asked)
            row = np.flatnonzero(asked != DECIDE)
            asked = Fork(row, asked[row], level.weight[row])
        yield level
        if not asked.row.size:
            return
        level = _next_level(level, asked, answers, max_histories)


def walk_to_end(
    belief: BeliefState, weight: FloatArray, ask: Ask, answers: ObservationSource = ALL, max_histories: float = np.inf
) -> None:
    """Walk where ``ask`` notes all that is wanted of the levels."""
    for _ in walk(belief, weight, ask, answers, max_histories):
        pass


def _next_level(level: Level, fork: Fork, answers: ObservationSource, max_histories: float) -> Level:
    row, question, weight = fork
    check_questions(level.belief, row, question)
    if len(level.belief) == row.size == 1:  # one history: there is nothing to group
        part = set_question(level.belief, int(question[0]))
        parent, outcome, weight = answers.branch(part, weight, row)  # once: another draw would not be independent of it
        visited, rows = level.visited + parent.size, parent if parent.size > 1 else None
        _check_visited(visited, max_histories)
        belief = part.update(outcome, rows=rows, charge_missing=answers.charge_missing)
        return Level(belief, weight, row[parent], parent, outcome, visited, np.full(parent.size, DECIDE))
    n, visited, branches_of_parts = len(level.belief), level.visited, []
    # each has one branch at least: what would be too many is not copied first
    _check_visited(visited + row.size, max_histories)
    parts: list[tuple[IntArray, IntArray, BeliefState]]
    if answers.spares_copies and row.size < n and 4 * row.size >= 3 * n and bool((question == question[0]).all()):
        # a copy costs more than the likelihoods of histories that have stopped; none of their branches is there
        place: IntArray = np.cumsum(level.go_on) - 1
        parts = [(place, np.asarray(np.arange(n)), set_question(level.belief, int(question[0])))]
    else:
        parts = [(place, row[place], part) for place, part in level.split(row, question)]
    for place, number, part in parts:  # none is followed before it is known that all may be: that takes most
        branches_of_parts.append(answers.branch(part, weight[place], number))
        visited += branches_of_parts[-1].parent.size
        _check_visited(visited, max_histories)
    belief = join_beliefs(
        [
            part.update(branches.outcome, rows=branches.parent, charge_missing=answers.charge_missing)
            for (_, _, part), branches in zip(parts, branches_of_parts)
        ]
    )
    branches_of_parts = [
        branches._replace(parent=place[branches.parent]) for (place, _, _), branches in zip(parts, branches_of_parts)
    ]
    entry, outcome, weight = (np.concatenate(column) for column in zip(*branches_of_parts))
    return Level(belief, weight, row[entry], entry, outcome, visited, np.full(len(entry), DECIDE))


def _check_visited(visited: int, max_histories: float) -> None:
    if visited > max_histories:
        raise TooLarge(f"more than max_histories={max_histories} histories")


class WrongAnswer(ValueError):
    """What a policy answers cannot be asked: it is wrong, and not the problem."""


def check_questions(belief: BeliefState, row: IntArray, question: IntArray) -> None:
    """Refuse a policy that asks what is not open."""
    problem, stage = belief.problem, belief.stage
    if not question.size:
        return
    if stage >= problem.n_stages:
        raise WrongAnswer(f"the policy asks question {int(question[0])} after the last stage of the problem.")
    if not problem.any_order:
        other = question[question != stage]
        if other.size:
            raise WrongAnswer(
                f"the policy asks question {int(other[0])} at stage {stage}, where this problem's order has question "
                f"{stage} (feature {int(problem.features[stage])}); policies answer with numbers of questions."
            )
        return
    known = (question >= 0) & (question < problem.n_questions)
    wrong = ~belief.available[row, np.where(known, question, 0)] | ~known
    if wrong.any():
        place = int(wrong.argmax())
        if not known[place]:
            raise WrongAnswer(
                f"the policy asks question {int(question[place])} at stage {stage}, which does not exist."
            )
        again = belief.observed is not None and bool(belief.observed[row[place], question[place]] >= -1)
        raise WrongAnswer(
            f"the policy asks {problem.names.question(int(question[place]))!r} (question {int(question[place])}) at "
            f"stage {stage}, which {'was asked before' if again else 'may not be asked now'}. It meets beliefs that it "
            "would not lead to itself, as in action_values: let it choose among belief.available."
        )


def ask_everything(level: Level) -> IntArray:
    """Ask every question, the open one of lowest number first, whatever was seen: for `walk`."""
    return first_open(level.belief)


def first_open(belief: BeliefState) -> IntArray:
    """Open question of lowest number of each row, -1 where none is."""
    problem = belief.problem
    if not problem.any_order:
        return np.full(len(belief), belief.stage if belief.stage < problem.n_stages else DECIDE)
    return np.where(belief.available.any(axis=1), belief.available.argmax(axis=1), DECIDE)


def initial_histories(
    problem: AcquisitionProblem,
    policy: PolicyLike | None,
    total: float,
    answers: ObservationSource = ALL,
    start: tuple[BeliefState, FloatArray] | None = None,
) -> tuple[BeliefState, FloatArray]:
    """First histories of a walk, one for each start and each lot that a policy draws, and their weights."""
    first, share = initial_beliefs(problem) if start is None else start
    component, probability = None, np.ones(1)
    if policy is not None:
        check_same_questions(problem, policy)
        belief, probability = policy.initial_belief()
        component = belief.account.component
    row, lot = np.divmod(np.arange(len(share) * len(probability)), len(probability))
    weight = answers.spread(total, share[row] * probability[lot])
    drawn = np.flatnonzero(weight)
    return with_component(first[row[drawn]], None if component is None else component[lot[drawn]]), weight[drawn]


def check_same_questions(problem: AcquisitionProblem, policy: PolicyLike) -> None:
    """Refuse a policy whose questions stand for other features than the problem's."""
    other = policy.problem
    if other is problem:
        return
    n = min(problem.n_questions, other.n_questions)
    differs = np.flatnonzero(problem.features[:n] != other.features[:n])
    if differs.size:
        first = int(differs[0])
        raise ValueError(
            f"the policy's question {first} asks for feature {int(other.features[first])}, where this problem's asks "
            f"for feature {int(problem.features[first])}: it was made for another order."
        )


def walk_policy(
    problem: AcquisitionProblem,
    policy: PolicyLike,
    total: float,
    answers: ObservationSource = ALL,
    max_histories: float = np.inf,
    start: tuple[BeliefState, FloatArray] | None = None,
) -> Iterator[Level]:
    """Walk along a policy from some beliefs and their shares, by default how cases begin, until it stops everywhere."""
    belief, weight = initial_histories(problem, policy, total, answers, start)
    return walk(belief, weight, lambda level: next_of(policy, level, max_histories), answers, max_histories)


def order_next_panel(policy: PolicyLike, belief: BeliefState) -> BeliefState:
    """What is known once each row has ordered what a policy orders now; see `Policy.panels`."""
    panels = policy.panels(belief)
    return belief if panels is None else order_panels(belief, panels)


def next_of(policy: PolicyLike, level: Level, max_histories: float = np.inf) -> IntArray:
    """What each history of a level asks next, after it has ordered what it orders now.

    Where all of them are likely to have too many branches, some are looked at first, and may show that.
    """
    belief = level.belief = order_next_panel(policy, level.belief)
    left, growth = max_histories - level.visited, len(belief) / (int(level.parent.max()) + 1)
    if len(belief) * growth <= left:
        return policy.action(belief)
    some = np.zeros(len(belief), dtype=bool)
    # a level that is likely to have too many branches is looked at by so many times the rows that would show it
    some[np.linspace(0, len(belief) - 1, min(int(1.25 * left / growth) + 1, len(belief))).astype(np.intp)] = True
    asked = np.full(len(belief), DECIDE)
    asked[some] = policy.action(belief[some])
    row = np.flatnonzero(asked != DECIDE)
    check_questions(belief, row, asked[row])
    parts = ((row[at], part) for at, part in (split_by_question(belief, row, asked[row]) if row.size else []))
    n_branches = sum(ALL.branch(part, level.weight[at], at).parent.size for at, part in parts)
    _check_visited(level.visited + n_branches, max_histories)
    if not some.all():
        asked[~some] = policy.action(belief[~some])
    return asked


@dataclass(frozen=True)
class Simulation:
    """How histories are gone through: all of them, or sampled ones.

    Attributes
    ----------
    method : {"auto", "exact", "simulation"}
        All, or sampled ones, or all if they are at most `max_histories`.
    n_paths : int
        Sampled paths.
    max_histories : int
        Most histories to enumerate.
    random_state : int, generator or None
        Seed of the paths.
    """

    method: str = "auto"
    n_paths: int = 10_000
    max_histories: int = MAX_HISTORIES
    random_state: Any = None

    def __post_init__(self) -> None:
        check_choice(self.method, "method", ("auto", "exact", "simulation"))
        check_integer(self.n_paths, "n_paths", 1)
        check_integer(self.max_histories, "max_histories", 1)

    def run(self, run: Callable[[ObservationSource, float], R]) -> R:
        """Enumerate, or sample where `method` says so or there are too many histories for ``"auto"``."""
        if self.method != "simulation":
            try:
                # share of the time that is left which an enumeration may take before paths are sampled
                with time_limit(remaining_seconds() * (1.0 if self.method == "exact" else 0.25)):
                    return run(ALL, self.max_histories)
            except (TooLarge, DeadlineExceeded):
                if self.method == "exact":
                    raise
                check_deadline()
        return run(SampledObservations(as_generator(self.random_state)), np.inf)

    def total(self, answers: ObservationSource) -> float:
        """Sum of the weights of a walk: 1, or its paths where they are sampled."""
        return 1.0 if answers is ALL else float(self.n_paths)
