"""Batches of instances of which some features are known before the first question."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from seqclass._arrays import BoolArray, IntArray
from seqclass._case import all_questions, as_seen
from seqclass.pomdp import DECIDE, InformationState, Policy
from seqclass.pomdp.answers import DataAnswers
from seqclass.pomdp.information import OPEN
from seqclass.pomdp.solvers.ordering.asking import next_question
from seqclass.pomdp.walk import Level, walk

if TYPE_CHECKING:
    from seqclass.classifier import SequentialClassifier


class WarmStart:
    """What is known of instances at the start, and what a policy sees of it on the way.

    Histories are walked through in the problem of all that the model could ask, in any order, whose beliefs use all
    that is known; a policy of a fixed order sees them at the first stage that is not known.

    Parameters
    ----------
    classifier : SequentialClassifier
        A fitted classifier.
    features : ndarray of int of shape (m,)
        Features of its model that are known, where they are not missing.
    codes : ndarray or sparse array of int of shape (n, n_columns)
        Outcomes.
    columns : ndarray of int of shape (n_features,)
        Column of each feature.
    lot : ndarray of int of shape (n,)
        The lot of each instance.
    asked : ndarray of bool of shape (n, n_features), optional
        Features that each was asked for before: they are paid for and count, and are not asked for again where they
        are missing. By default what is known cost nothing, and takes no one's place.

    Attributes
    ----------
    info : InformationState
        What is known at the start, each distinct history once.
    node : ndarray of int of shape (n,)
        History of each instance.
    """

    def __init__(
        self,
        classifier: SequentialClassifier,
        features: IntArray,
        codes: Any,
        columns: IntArray,
        lot: IntArray,
        asked: BoolArray | None = None,
    ) -> None:
        self.problem, self._asked = classifier.problem_, asked is not None
        self.begun = classifier.policy_.begin()[0]
        whole = all_questions(classifier)
        questions = [q for q in range(whole.n_questions) if np.isin(whole.members(q), features).any()]
        data = DataAnswers(codes, columns, lot)
        outcomes = [data.outcomes(whole, q, among=features) for q in questions]
        if asked is not None:
            before = [asked[:, whole.members(q)].any(axis=1) for q in questions]
            outcomes = [np.where(some, outcome, OPEN) for some, outcome in zip(before, outcomes)]
        distinct, node = np.unique(np.stack([lot, *outcomes], axis=1), axis=0, return_inverse=True)
        self.node: IntArray = node.reshape(-1)
        info = whole.begin(len(distinct))
        if self.begun.lot is not None:
            info.lot = self.begun.lot[distinct[:, 0]]
        for place, question in enumerate(questions):
            charged = classifier.charge_missing if asked is not None else None
            info = _told(info, question, distinct[:, place + 1], charged)
        self.info = info
        # of a fixed order: the stage at which each history stands, and the problem's own state there
        first = self.begun.state[distinct[:, 0]]
        self._standing: list[tuple[IntArray, int, Any]] = [(np.arange(len(distinct)), 0, first)]

    def next_question(self, policy: Policy, budget: int | None) -> IntArray:
        """What each history asks next, -1 where it decides; at a budget, until so many were asked."""
        question = np.full(len(self.info), DECIDE)

        def ask(level: Level) -> IntArray:
            for rows, info in self.see(level):
                question[rows] = policy.act(info) if budget is None else next_question(policy, info)
            return np.full(len(level.info), DECIDE)

        for _ in walk(self.info, np.ones(len(self.info)), ask):
            pass
        if budget is not None:
            assert self.info.seen is not None  # the problem of the facts is free
            question[(self.info.seen != OPEN).sum(axis=1) >= budget] = DECIDE
        return question

    def see(self, level: Level) -> list[tuple[IntArray, InformationState]]:
        """Parts of a level as the policy sees them, each of one stage."""
        facts, problem = level.info, self.problem
        standing: list[tuple[IntArray, int, Any]]
        if problem.free:
            seen: Any = facts.seen
            known = (seen[:, : problem.n_questions] != OPEN).sum(axis=1)
            # what was known takes no one's place
            counts = self._asked or problem.max_questions is None
            stage = known if counts else np.full(len(facts), level.stage)
            groups = [(np.asarray(np.flatnonzero(stage == k)), int(k)) for k in np.unique(stage)]
            standing = [(rows, stage, facts.state[rows]) for rows, stage in groups]
        else:
            standing = self._standing = self._along(level)
        return [(rows, as_seen(self.begun, facts[rows], stage, state)) for rows, stage, state in standing]

    def _along(self, level: Level) -> list[tuple[IntArray, int, Any]]:
        """Rows of a level by the first stage of a fixed order that is not known, with the state there."""
        problem, seen = self.problem, level.info.seen
        assert seen is not None  # the problem of the facts is free
        waiting: dict[int, list[tuple[IntArray, Any]]] = {}
        for before, stage, state in self._standing:
            place = np.full(int(level.parent.max(initial=before.max())) + 1, -1)
            place[before] = np.arange(before.size)
            rows = np.flatnonzero(place[level.parent] >= 0)
            if rows.size:
                waiting.setdefault(stage, []).append((rows, state[place[level.parent[rows]]]))
        found = []
        while waiting:
            stage = min(waiting)
            parts = waiting.pop(stage)
            rows = np.concatenate([part[0] for part in parts])
            state = parts[0][1] if len(parts) == 1 else problem.join([part[1] for part in parts])
            past = seen[rows, stage] != OPEN if stage < problem.n_stages else np.zeros(rows.size, dtype=bool)
            if past.any():
                moved = problem.advance(stage, state[past], seen[rows[past], stage])
                waiting.setdefault(stage + 1, []).append((rows[past], moved))
            if not past.all():
                found.append((rows[~past], stage, state[~past]))
        return found


def _told(info: InformationState, question: int, outcome: IntArray, charged: bool | None = None) -> InformationState:
    """What is known after an answer that cost nothing; where it is missing the question stays open.

    Or after one that was paid for, a missing one if it is ``charged``; then what is open was not asked.
    """
    there = np.flatnonzero(outcome >= 0 if charged is None else outcome != OPEN)
    if not there.size:
        return info
    before = info[there]
    after = before.asking(question).update(outcome[there], charge_missing=bool(charged))
    after.stage = before.stage
    if charged is None:
        after.paid, after.spent = before.paid, before.spent
    if there.size == len(info):
        return after
    missing = np.setdiff1d(np.arange(len(outcome)), there)
    both = InformationState.concatenate([after, info[missing]])
    return both[np.argsort(np.concatenate([there, missing]))]
