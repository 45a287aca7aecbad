"""Walking through histories: the one loop behind execution, enumeration, simulation and sampling.

Instances that share a history share everything the problem knows of them, so a walk carries each distinct history
once, with a weight: its probability, the number of sampled paths or the number of instances that run through it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any, NamedTuple, TypeVar

import numpy as np

from seqclass._utils.arrays import BoolArray, FloatArray, IntArray, as_generator
from seqclass._utils.progress import TimeUp, left, look, within
from seqclass.pomdp.answers import AllAnswers, Answers, SampledAnswers, TooLarge
from seqclass.pomdp.information import InformationState
from seqclass.pomdp.policy import DECIDE, Policy
from seqclass.pomdp.problem import AcquisitionProblem

__all__: list[str] = []


R = TypeVar("R")
#: With fewer rows of each question on average it is quicker to take different questions together.
_FEW = 64
#: Every outcome, none missing.
ALL = AllAnswers()


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
    info : InformationState
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

    info: InformationState
    weight: FloatArray
    parent: IntArray
    entry: IntArray
    outcome: IntArray
    visited: int
    question: IntArray
    _parts: tuple[IntArray, IntArray, list[tuple[IntArray, InformationState]]] | None = field(default=None, repr=False)

    def split(self, row: IntArray, question: IntArray) -> list[tuple[IntArray, InformationState]]:
        """Rows that ask, in parts; the walk goes on with these, and with what was computed of them."""
        known = self._parts
        if known is None or known[0] is not row or known[1] is not question:
            self._parts = known = (row, question, parted(self.info, row, question))
        return known[2]

    @property
    def stage(self) -> int:
        """Number of questions asked so far."""
        return self.info.stage

    @property
    def go_on(self) -> BoolArray:
        """Where a question is asked next, (n,)."""
        return np.asarray(self.question != DECIDE)


def parted(info: InformationState, row: IntArray, question: IntArray) -> list[tuple[IntArray, InformationState]]:
    """Rows in parts that ask together, one for each question or one for all where each has few; see `Level.split`."""
    groups: list[IntArray] = [np.arange(row.size)]
    if row.size and not (question == question[0]).all():
        order = np.argsort(question, kind="stable")
        ends = np.flatnonzero(np.diff(question[order])) + 1
        if row.size < _FEW * (len(ends) + 1) and info.problem.mixes(question[order[np.append(0, ends)]]):
            return [(order, info[row[order]].asking(question[order]))]
        groups = np.split(order, ends)
    whole = len(groups) == 1 and row.size == len(info) and bool((row == np.arange(row.size)).all())
    return [(at, (info if whole else info[row[at]]).asking(int(question[at[0]]))) for at in groups]


def walk(
    info: InformationState,
    weight: FloatArray,
    ask: Callable[[Level], IntArray | Fork],
    answers: Answers = ALL,
    max_histories: float = np.inf,
) -> Iterator[Level]:
    """Ask, branch on the answer, update, a level at a time, until nothing more is asked."""
    rows = np.arange(len(info))
    level = Level(info, weight, rows, rows, np.full(len(info), -1), 1, np.full(len(info), DECIDE))
    while len(level.info):
        look()
        asked = ask(level)
        if isinstance(asked, Fork):
            row, question, weight = asked
        else:
            level.question = asked
            row = np.flatnonzero(asked != DECIDE)
            question, weight = asked[row], level.weight[row]
            answers.level(asked)
        yield level
        if not row.size:
            return
        level = _next(level, row, question, weight, answers, max_histories)


def _next(
    level: Level, row: IntArray, question: IntArray, weight: FloatArray, answers: Answers, max_histories: float
) -> Level:
    check_questions(level.info, row, question)
    n, visited, found = len(level.info), level.visited, []
    # each has one branch at least: what would be too many is not copied first
    _check_visited(visited + row.size, max_histories)
    parts: list[tuple[IntArray, IntArray, InformationState]]
    if answers.spares_copies and row.size < n and 4 * row.size >= 3 * n and bool((question == question[0]).all()):
        # a copy costs more than the likelihoods of histories that have stopped; none of their branches is there
        place: IntArray = np.cumsum(level.go_on) - 1
        parts = [(place, np.asarray(np.arange(n)), level.info.asking(int(question[0])))]
    else:
        parts = [(place, row[place], part) for place, part in level.split(row, question)]
    for place, number, part in parts:  # none is followed before it is known that all may be: that takes most
        found.append(answers.branch(part, weight[place], number))
        visited += found[-1].parent.size
        _check_visited(visited, max_histories)
    info = InformationState.concatenate(
        [
            part.update(branches.outcome, branches.parent, charge_missing=answers.charge_missing)
            for (_, _, part), branches in zip(parts, found)
        ]
    )
    found = [branches._replace(parent=place[branches.parent]) for (place, _, _), branches in zip(parts, found)]
    entry, outcome, weight = (np.concatenate(column) for column in zip(*found))
    return Level(info, weight, row[entry], entry, outcome, visited, np.full(len(entry), DECIDE))


def _check_visited(visited: int, max_histories: float) -> None:
    if visited > max_histories:
        raise TooLarge(f"more than max_histories={max_histories} histories")


class NotOpen(ValueError):
    """What a policy asks is not open: it is wrong, and not the problem."""


def check_questions(info: InformationState, row: IntArray, question: IntArray) -> None:
    """Refuse a policy that asks what is not open."""
    problem, stage = info.problem, info.stage
    if not question.size:
        return
    if stage >= problem.n_stages:
        raise NotOpen(f"the policy asks question {int(question[0])} after the last stage of the problem.")
    if not problem.free:
        other = question[question != stage]
        if other.size:
            raise NotOpen(
                f"the policy asks question {int(other[0])} at stage {stage}, where this problem's order has question "
                f"{stage} (feature {int(problem.features[stage])}); policies answer with numbers of questions."
            )
        return
    known = (question >= 0) & (question < problem.n_questions)
    wrong = ~known
    wrong[known] = ~info.open[row[known], question[known]]
    if wrong.any():
        raise NotOpen(
            f"the policy asks question {int(question[wrong.argmax()])} at stage {stage}, which does not exist, was "
            "asked before or is beyond the budget."
        )


#: Share of the time that is left which an enumeration may take before paths are sampled.
_ENUMERATING = 0.25


def everything(level: Level) -> IntArray:
    """Ask every question, the open one of lowest number first, whatever was seen: for `walk`."""
    return first_open(level.info)


def first_open(info: InformationState) -> IntArray:
    """Open question of lowest number of each row, -1 where none is."""
    problem = info.problem
    if not problem.free:
        return np.full(len(info), info.stage if info.stage < problem.n_stages else DECIDE)
    return np.where(info.open.any(axis=1), info.open.argmax(axis=1), DECIDE)


def begin(
    problem: AcquisitionProblem, policy: Policy, total: float, answers: Answers = ALL
) -> tuple[InformationState, FloatArray]:
    """First histories of a walk along a policy, one for each start and each lot it draws, and their weights."""
    _check_same_questions(problem, policy)
    info, probability = policy.begin()
    first, share = problem.opening()
    row, lot = np.divmod(np.arange(len(share) * len(info)), len(info))
    weight = answers.spread(total, share[row] * probability[lot])
    drawn = np.flatnonzero(weight)
    first = first[row[drawn]]
    first.lot = None if info.lot is None else info.lot[lot[drawn]]
    return first, weight[drawn]


def opened(problem: AcquisitionProblem, total: float, answers: Answers = ALL) -> tuple[InformationState, FloatArray]:
    """First histories of a walk without a policy, one for each start, and their weights."""
    first, share = problem.opening()
    weight = answers.spread(total, share)
    drawn = np.flatnonzero(weight)
    return first[drawn], weight[drawn]


def _check_same_questions(problem: AcquisitionProblem, policy: Policy) -> None:
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


def along(
    problem: AcquisitionProblem,
    policy: Policy,
    total: float,
    answers: Answers = ALL,
    max_histories: float = np.inf,
) -> Iterator[Level]:
    """Walk along a policy, a stage at a time, until it has stopped everywhere."""
    info, weight = begin(problem, policy, total, answers)
    return walk(info, weight, lambda level: next_of(policy, level, max_histories), answers, max_histories)


#: A level that is likely to have too many branches is looked at by so many times the rows that would show it.
_PROBED = 1.25


def next_of(policy: Policy, level: Level, max_histories: float = np.inf) -> IntArray:
    """What each history of a level asks next, after it has ordered what it orders now.

    Where all of them are likely to have too many branches, some are looked at first, and may show that.
    """
    info = level.info = policy.order(level.info)
    left, growth = max_histories - level.visited, len(info) / (int(level.parent.max()) + 1)
    if len(info) * growth <= left:
        return policy.act(info)
    some = np.zeros(len(info), dtype=bool)
    some[np.linspace(0, len(info) - 1, min(int(_PROBED * left / growth) + 1, len(info))).astype(np.intp)] = True
    asked = np.full(len(info), DECIDE)
    asked[some] = policy.act(info[some])
    row = np.flatnonzero(asked != DECIDE)
    check_questions(info, row, asked[row])
    parts = ((row[at], part) for at, part in (parted(info, row, asked[row]) if row.size else []))
    n_branches = sum(ALL.branch(part, level.weight[at], at).parent.size for at, part in parts)
    _check_visited(level.visited + n_branches, max_histories)
    if not some.all():
        asked[~some] = policy.act(info[~some])
    return asked


def enumerated_or_sampled(
    run: Callable[[Answers, float], R], method: str, max_histories: float, random_state: Any
) -> R:
    """Enumerate, or sample where ``method`` says so or there are too many histories for ``"auto"``."""
    if method != "simulation":
        try:
            with within(left() * (1.0 if method == "exact" else _ENUMERATING)):
                return run(ALL, max_histories)
        except (TooLarge, TimeUp):
            if method == "exact":
                raise
            look()
    return run(SampledAnswers(as_generator(random_state)), np.inf)
