"""Which answers open questions or imply their answers, by features of a model and their outcomes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import IntEnum
from functools import cached_property
from typing import NamedTuple

import numpy as np

from seqclass._utils.arrays import BoolArray, IntArray
from seqclass._utils.model_files import register
from seqclass._utils.stored import require_array

__all__ = ["AnswerRules"]


class Effect(IntEnum):
    """What an answer does to a question, in `AnswerRules.implied`, where it implies no outcome of it."""

    OPENS = -1
    CLOSES = -2  # and says nothing of what it would show


class Consequences(NamedTuple):
    """What follows from answers, (n, n_features named) each."""

    #: Answers as they are and implied ones, -1 where there are none.
    answers: IntArray
    #: Which may be asked now, if they were not.
    open: BoolArray
    #: Which no answer yet to come can open.
    never: BoolArray


@register
@dataclass(frozen=True, eq=False)
class AnswerRules:
    """Skip logic by the features of a model, and their outcomes.

    Attributes
    ----------
    features : ndarray of int of shape (k,)
        Features that rules name.
    target, gate : ndarray of int of shape (m,)
        Of each rule which of these is opened, and which one's answer decides.
    accepts : ndarray of bool of shape (m, V)
        Outcomes of the gate that count.
    implied : ndarray of int of shape (m,)
        Outcome of the target that follows; `Effect.OPENS`, or `Effect.CLOSES`, which says nothing of it.
    any_of : ndarray of bool of shape (k,)
        Of which one rule that opens is enough.
    """

    features: IntArray
    target: IntArray
    gate: IntArray
    accepts: BoolArray
    implied: IntArray
    any_of: BoolArray

    @property
    def gates(self) -> IntArray:
        """Features whose answers matter."""
        return np.unique(self.features[self.gate])

    @property
    def targets(self) -> IntArray:
        """Features that are not always asked."""
        return np.unique(self.features[self.target])

    @cached_property
    def _opening(self) -> tuple[IntArray, IntArray, IntArray]:
        return self._by_target(self.implied == Effect.OPENS)

    @cached_property
    def _closing(self) -> tuple[IntArray, IntArray, IntArray]:
        return self._by_target(self.implied != Effect.OPENS)

    def _by_target(self, some: BoolArray) -> tuple[IntArray, IntArray, IntArray]:
        """Some rules, those of a target side by side; where those of each begin, and the target."""
        rules = np.flatnonzero(some)[np.argsort(self.target[some], kind="stable")]
        target, starts = np.unique(self.target[rules], return_index=True)
        return rules, starts, target

    def part(self, rules: BoolArray) -> AnswerRules | None:
        """Some of the rules; None if there are none of them."""
        own = (self.target[rules], self.gate[rules], self.accepts[rules], self.implied[rules])
        return AnswerRules(self.features, *own, self.any_of) if rules.any() else None

    def after_start(self, known: IntArray, called: Callable[[int], str]) -> AnswerRules | None:
        """Rules that are left once what is known was looked at, by feature; what it left closed stays so."""
        is_known, opens = np.isin(self.features[self.gate], known), self.implied == Effect.OPENS
        for target in np.flatnonzero(self.any_of):
            own = opens & (self.target == target)
            if is_known[own].any() and not is_known[own].all():
                raise ValueError(
                    f'skip logic: {called(int(self.features[target]))} has rules of match="any", and some of them are '
                    'about what is known at the start: give all of one kind, or match="all".'
                )
        return self.part(~is_known)

    def follow(self, answers: IntArray, unasked: BoolArray, lost: BoolArray | bool = False) -> Consequences:
        """What follows from answers to the features named, (n, k), -1 where there is none.

        What is not asked may be implied, and what is lost is known to have no answer.
        """
        answers, order = answers.copy(), np.arange(len(self.gate))
        implies = np.flatnonzero(self.implied >= 0)
        while True:
            hit = (answers[:, self.gate] >= 0) & self.accepts[order, np.maximum(answers[:, self.gate], 0)]
            before = answers.copy()
            for rule in implies:
                target = self.target[rule]
                rows = hit[:, rule] & unasked[:, target] & (answers[:, target] < 0)
                answers[rows, target] = self.implied[rule]
            if np.array_equal(before, answers):
                break
        closed = np.zeros(answers.shape, dtype=bool)
        rules, starts, target = self._closing
        closed[:, target] = np.logical_or.reduceat(hit[:, rules], starts, axis=1)
        open_, never = ~closed, closed | lost
        rules, starts, target = self._opening
        gate, hit, any_of = self.gate[rules], hit[:, rules], self.any_of[target]
        every, some = np.logical_and.reduceat(hit, starts, axis=1), np.logical_or.reduceat(hit, starts, axis=1)
        open_[:, target] &= np.where(any_of, some, every)
        for _ in range(len(self.features) if len(target) else 0):  # a question that is never asked opens none
            unmet, before_never = np.where(answers[:, gate] >= 0, ~hit, never[:, gate]), never.copy()
            every = np.logical_and.reduceat(unmet, starts, axis=1)
            never[:, target] |= np.where(any_of, every, np.logical_or.reduceat(unmet, starts, axis=1))
            if np.array_equal(never, before_never):
                break
        return Consequences(answers, open_, never)

    def check(self, called: Callable[[int], str]) -> None:
        """Refuse what contradicts itself; ``called`` names a feature."""
        names = [called(int(feature)) for feature in self.features]
        opens = np.flatnonzero(self.implied == Effect.OPENS)
        edges = {int(t): set(self.gate[opens[self.target[opens] == t]].tolist()) for t in self.target[opens]}
        reach = {target: set(gates) for target, gates in edges.items()}
        for _ in edges:
            reach = {t: own.union(*(reach.get(g, set()) for g in own)) for t, own in reach.items()}
        for target, before in reach.items():
            if target in before:
                gate = next(g for g in edges[target] if g == target or target in reach.get(g, set()))
                raise ValueError(
                    f"skip logic: {names[target]} is asked only after {names[gate]}, and that only after "
                    f"{names[target]}: take one of these rules out."
                )
            for gate in [] if self.any_of[target] else edges[target]:
                own = opens[(self.target[opens] == target) & (self.gate[opens] == gate)]
                if not self.accepts[own].all(axis=0).any():
                    raise ValueError(
                        f"skip logic: no answer of {names[gate]} opens {names[target]}, as its rules ask for different "
                        'ones: give all of them in one rule, or match="any".'
                    )
        self._check_implied(names)

    def _check_implied(self, names: Sequence[str]) -> None:
        """Refuse implied answers that contradict one another, of any two answers that may be given together."""
        implies = np.flatnonzero(self.implied >= 0)
        pairs = np.array([(self.gate[r], v) for r in implies for v in np.flatnonzero(self.accepts[r])]).reshape(-1, 2)
        for gate, outcome in pairs.tolist():
            one = np.full((len(pairs), len(self.features)), -1)
            one[:, gate] = outcome
            first = self.follow(one, np.ones(one.shape, dtype=bool))
            self._check_consistent(first.answers, np.arange(len(one)), names)
            rows = np.arange(len(one))
            may = (first.answers[rows, pairs[:, 0]] < 0) & ~first.never[rows, pairs[:, 0]]
            one[rows, pairs[:, 0]] = np.where(may, pairs[:, 1], one[rows, pairs[:, 0]])
            both = self.follow(one, np.ones(one.shape, dtype=bool))
            self._check_consistent(both.answers, np.flatnonzero(may & ~both.never[:, gate]), names)

    def _check_consistent(self, answers: IntArray, rows: IntArray, names: Sequence[str]) -> None:
        for rule in np.flatnonzero(self.implied >= 0):
            value, target = answers[rows, self.gate[rule]], self.target[rule]
            hit = (value >= 0) & self.accepts[rule, np.maximum(value, 0)]
            if (hit & (answers[rows, target] != self.implied[rule])).any():
                raise ValueError(
                    f"skip logic: the rules imply answers of {names[target]} that contradict each other, one of them "
                    f"after {names[self.gate[rule]]}: take one of them out."
                )

    def _check_stored(self) -> None:
        k, m = len(require_array(self, "features", "i", None, low=0)), len(self.target)
        for name in ("target", "gate"):
            require_array(self, name, "i", m, low=0, high=k - 1)
        require_array(self, "implied", "i", m, low=Effect.CLOSES)
        require_array(self, "accepts", "b", m, None)
        require_array(self, "any_of", "b", k)


def with_closing(rules: AnswerRules | None, closing: Sequence[tuple[int, int, BoolArray]]) -> AnswerRules | None:
    """Rules, and others by which outcomes (n_outcomes,) of a feature close another one; None if there are none."""
    if not closing:
        return rules
    gates, targets = np.array([one[:2] for one in closing]).T
    nothing = np.empty(0, dtype=np.intp)
    own = rules or AnswerRules(nothing, nothing, nothing, np.empty((0, 0), dtype=bool), nothing, nothing.astype(bool))
    features = np.unique(np.concatenate([own.features, gates, targets]))
    width = max([own.accepts.shape[1], *(len(one[2]) for one in closing)])
    accepts = [np.pad(row, (0, width - len(row))) for row in [*own.accepts, *(one[2] for one in closing)]]
    any_of = np.isin(features, own.features[own.any_of])
    target = np.searchsorted(features, np.append(own.features[own.target], targets))
    gate = np.searchsorted(features, np.append(own.features[own.gate], gates))
    implied = np.append(own.implied, np.full(len(closing), Effect.CLOSES))
    return AnswerRules(features, target, gate, np.array(accepts), implied, any_of)
