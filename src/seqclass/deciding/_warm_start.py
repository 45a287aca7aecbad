"""Batches of instances of which some features are known before the first question."""

from __future__ import annotations

from typing import Any

import numpy as np

from seqclass._utils.arrays import BoolArray, IntArray
from seqclass.bn import ObservationModel
from seqclass.costs import Prices
from seqclass.deciding.problem import Answers, ModelProblem, acquisition_problem
from seqclass.pomdp import DECIDE, AcquisitionProblem, MixtureProblem, Policy
from seqclass.pomdp.answers import DataAnswers
from seqclass.pomdp.information import OPEN, InformationState
from seqclass.pomdp.solvers.ordering.rules import next_question
from seqclass.pomdp.starts import without
from seqclass.pomdp.walk import Level, walk


def beginning(
    model: ObservationModel, problem: AcquisitionProblem, features: IntArray, outcomes: IntArray
) -> InformationState:
    """Cases of a problem once some features of its model were seen, which no question shows and which cost nothing."""
    free = Prices(np.zeros(model.n_features_in_), np.zeros(model.n_features_in_), None)
    first = acquisition_problem(model, features, free, problem.decision_costs, problem.prior, free=True)
    known = first.begin(len(outcomes))
    for question in range(len(features)):
        known = known.asking(question).update(np.asarray(outcomes[:, question], dtype=np.intp))
    info = problem.begin(len(outcomes))
    info.belief = known.belief
    told = known.state.messages if isinstance(known.state, Answers) else known.state
    if isinstance(problem, MixtureProblem):
        info.state = told
    elif isinstance(problem, ModelProblem):
        info.state = Answers(told, info.state.values)
    return info


def needless_of(needless: IntArray, outcomes: IntArray) -> IntArray | None:
    """Features that outcomes of what is known make needless, (n, n_known), -1 for none; None if none ever does."""
    if not needless.size:
        return None
    found = needless[np.arange(len(needless)), np.maximum(outcomes, 0).astype(np.intp)]
    return np.where(outcomes >= 0, found, -1)


def begun_with(
    model: ObservationModel, policy: Policy, features: IntArray, outcomes: IntArray, lot: IntArray, needless: IntArray
) -> tuple[InformationState, IntArray]:
    """Instances as a policy that was planned for what is known of them meets them first, and the row of each."""
    lots = policy.begin()[0].lot
    distinct, node = np.unique(np.column_stack([lot, outcomes]), axis=0, return_inverse=True)
    info = beginning(model, policy.problem, features, distinct[:, 1:])
    info = without(info, needless_of(needless, distinct[:, 1:]))
    info.lot = None if lots is None else lots[distinct[:, 0]]
    return info, node.reshape(-1)


def as_seen(begun: InformationState, facts: InformationState, stage: int, state: Any) -> InformationState:
    """Facts as a policy sees them."""
    problem = begun.problem
    paid = None if begun.paid is None or facts.paid is None else _columns(facts.paid, begun.paid.shape[1])
    seen: IntArray | None = None
    if problem.free:
        assert facts.seen is not None  # the problem of the facts is free
        seen = facts.seen[:, : problem.n_questions]
    elif isinstance(problem, MixtureProblem):
        state = facts.state  # which hidden states are likely, all that is known told
    elif isinstance(problem, ModelProblem):
        # a problem of hidden states keeps of the answers what its model does
        messages = facts.state.messages if isinstance(facts.state, Answers) else facts.state
        state = Answers(messages, state.values)
    ordered = None if facts.ordered is None else facts.ordered[:, : problem.n_questions]
    owed = None if begun.owed is None or facts.owed is None else facts.owed[:, : begun.owed.shape[1]]
    info = InformationState(
        problem,
        stage,
        facts.belief,
        state,
        paid,
        facts.lot,
        seen=seen,
        spent=facts.spent,
        visits=facts.visits,
        ordered=ordered,
        owed=owed,
    )
    info.told = facts.told
    return info


def _columns(paid: Any, n: int) -> Any:
    """Groups that were paid, as many as a problem counts."""
    padded = np.zeros((len(paid), n), dtype=bool)
    width = min(n, paid.shape[1])
    padded[:, :width] = paid[:, :width]
    return padded


class WarmStart:
    """What is known of instances at the start, and what a policy sees of it on the way."""

    def __init__(
        self,
        policy: Policy,
        whole: AcquisitionProblem,
        features: IntArray,
        codes: Any,
        columns: IntArray,
        lot: IntArray,
        asked: BoolArray | None = None,
        charge_missing: bool = False,
        needless: IntArray | None = None,
        at_start: IntArray | None = None,
    ) -> None:
        self.problem, self._asked = policy.problem, asked is not None
        self.begun = policy.begin()[0]
        first = np.empty(0, dtype=np.intp) if at_start is None else at_start
        #: Questions that count where asked: all but what is known of every case.
        self._counted = np.array([not np.isin(whole.members(q), first).any() for q in range(whole.n_questions)], bool)
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
            charged = charge_missing if asked is not None and self._counted[question] else None
            info = _told(info, question, distinct[:, place + 1], charged)
        if needless is not None:
            first_of: IntArray = np.empty(len(distinct), dtype=np.intp)
            first_of[self.node] = np.arange(len(self.node))
            info = without(info, np.where(needless[first_of] >= 0, needless[first_of], -1))
        self.info = info
        # of a fixed order: the stage at which each history stands, and the problem's own state there
        state = self.begun.state[distinct[:, 0]]
        self._standing: list[tuple[IntArray, int, Any]] = [(np.arange(len(distinct)), 0, state)]
        self._level: Level | None = None  # where they stand

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
            question[(self.info.seen[:, self._counted] > OPEN).sum(axis=1) >= budget] = DECIDE
        return question

    def see(self, level: Level) -> list[tuple[IntArray, InformationState]]:
        """Parts of a level as the policy sees them, each of one stage."""
        facts, problem = level.info, self.problem
        standing: list[tuple[IntArray, int, Any]]
        if problem.free:
            seen: Any = facts.seen
            known = (seen[:, : problem.n_questions] > OPEN).sum(axis=1)
            # what was known takes no one's place
            counts = self._asked or problem.max_questions is None
            stage = known if counts else np.full(len(facts), level.stage)
            groups = [(np.asarray(np.flatnonzero(stage == k)), int(k)) for k in np.unique(stage)]
            standing = [(rows, stage, facts.state[rows]) for rows, stage in groups]
        else:
            if level is not self._level:  # where a visit is ordered a level is looked at twice
                self._standing, self._level = self._along(level), level
            standing = self._standing
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
    """What is known after an answer that cost nothing; where it is missing the question stays open."""
    there = np.flatnonzero(outcome >= 0 if charged is None else outcome != OPEN)
    if not there.size:
        return info
    before = info[there]
    after = before.asking(question).update(outcome[there], charge_missing=bool(charged))
    after.stage = before.stage
    if charged is None:
        after.paid, after.spent, after.visits = before.paid, before.spent, before.visits
    if there.size == len(info):
        return after
    missing = np.setdiff1d(np.arange(len(outcome)), there)
    both = InformationState.concatenate([after, info[missing]])
    return both[np.argsort(np.concatenate([there, missing]))]
