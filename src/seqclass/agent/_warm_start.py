"""Batches of instances of which some features are known before the first question."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from seqclass._utils.arrays import BoolArray, IntArray
from seqclass.agent.problem import acquisition_problem
from seqclass.bn import ObservationModel
from seqclass.costs import Prices
from seqclass.pomdp import DECIDE, AcquisitionProblem, Policy
from seqclass.pomdp.observations import DataObservations
from seqclass.pomdp.problem import OPEN, BeliefState, observations, set_question, with_component
from seqclass.pomdp.skipped import answers_to, without_closed
from seqclass.pomdp.solvers.ordering.rules import force_question
from seqclass.pomdp.walk import Level, join_beliefs, walk_to_end


def initial_belief_given(
    model: ObservationModel, problem: AcquisitionProblem, features: IntArray, outcomes: IntArray
) -> BeliefState:
    """Cases of a problem once some features of its model were seen, which no question shows and which cost nothing."""
    free = Prices(np.zeros(model.n_features_in_), np.zeros(model.n_features_in_), None)
    first = acquisition_problem(model, features, free, problem.decision_costs, problem.prior, any_order=True)
    known = first.initial_belief(len(outcomes))
    for question in range(len(features)):
        known = set_question(known, question).update(np.asarray(outcomes[:, question], dtype=np.intp))
    belief = problem.initial_belief(len(outcomes))
    belief = belief.replace(probabilities=known.probabilities)
    belief.state = problem.structure.with_messages(belief.state, first.structure.messages(known.state))
    return belief


def initial_policy_beliefs(
    model: ObservationModel, policy: Policy, features: IntArray, outcomes: IntArray, lot: IntArray
) -> tuple[BeliefState, IntArray]:
    """Instances as a policy that was planned for what is known of them meets them first, and the row of each."""
    lots = policy.initial_belief()[0].account.component
    distinct, node = np.unique(np.column_stack([lot, outcomes]), axis=0, return_inverse=True)
    belief = initial_belief_given(model, policy.problem, features, distinct[:, 1:])
    belief = without_closed(belief, policy.problem.structure.starts, distinct[:, 1:])
    return with_component(belief, None if lots is None else lots[distinct[:, 0]]), node.reshape(-1)


def as_seen(begun: BeliefState, facts: BeliefState, stage: int, state: Any) -> BeliefState:
    """Facts as a policy sees them."""
    problem = begun.problem
    seen: IntArray | None = None
    if problem.any_order:
        seen = observations(facts)[:, : problem.n_questions]
    else:
        state = problem.structure.with_messages(state, facts.problem.structure.messages(facts.state))
    account, own = facts.account, begun.account
    account = replace(
        account,
        groups_paid=_columns(account.groups_paid, own.groups_paid),
        ordered=None if account.ordered is None else account.ordered[:, : problem.n_questions],
        owed=None if own.owed is None or account.owed is None else account.owed[:, : own.owed.shape[1]],
    )
    belief = BeliefState(problem, stage, facts.probabilities, state, account, observed=seen)
    if not problem.any_order and (observations(facts)[:, stage : problem.n_questions] != OPEN).any():
        belief._early = observations(facts)[:, : problem.n_questions]
    if (starts := problem.structure.starts) is None or starts.answers is None or seen is None or facts.observed is None:
        return belief
    return without_closed(belief, starts, answers_to(starts.features, facts)[0])


def _columns(paid: BoolArray | None, like: BoolArray | None) -> BoolArray | None:
    """Groups that were paid, as many as a problem counts."""
    if paid is None or like is None:
        return None
    padded = np.zeros((len(paid), like.shape[1]), dtype=bool)
    width = min(padded.shape[1], paid.shape[1])
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
        at_start: IntArray | None = None,
    ) -> None:
        self.problem, self._asked = policy.problem, asked is not None
        self.begun = policy.initial_belief()[0]
        first = np.empty(0, dtype=np.intp) if at_start is None else at_start
        #: Questions that count where asked: all but what is known of every case.
        self._counted = np.array(
            [not np.isin(whole.structure.members(q), first).any() for q in range(whole.n_questions)], bool
        )
        questions = [q for q in range(whole.n_questions) if np.isin(whole.structure.members(q), features).any()]
        data = DataObservations(codes, columns, lot)
        outcomes = [data.outcomes(whole, q, among=features) for q in questions]
        if asked is not None:
            before = [asked[:, whole.structure.members(q)].any(axis=1) for q in questions]
            outcomes = [np.where(some, outcome, OPEN) for some, outcome in zip(before, outcomes)]
        distinct, node = np.unique(np.stack([lot, *outcomes], axis=1), axis=0, return_inverse=True)
        self.node: IntArray = node.reshape(-1)
        belief = whole.initial_belief(len(distinct))
        belief = with_component(belief, self.begun.account[distinct[:, 0]].component)
        for place, question in enumerate(questions):
            charged = charge_missing if asked is not None and self._counted[question] else None
            belief = _update_without_price(belief, question, distinct[:, place + 1], charged)
        self.info = belief
        # of a fixed order: the stage at which each history stands, and the problem's own state there
        state = self.begun.state[distinct[:, 0]]
        self._standing: list[tuple[IntArray, int, Any]] = [(np.arange(len(distinct)), 0, state)]
        self._level: Level | None = None  # where they stand

    def next_question(self, policy: Policy, budget: int | None) -> IntArray:
        """What each history asks next, -1 where it decides; at a budget, until so many were asked."""
        question = np.full(len(self.info), DECIDE)

        def ask(level: Level) -> IntArray:
            for rows, belief in self.see(level):
                question[rows] = policy.action(belief) if budget is None else force_question(policy, belief)
            return np.full(len(level.belief), DECIDE)

        walk_to_end(self.info, np.ones(len(self.info)), ask)
        if budget is not None:
            question[(observations(self.info)[:, self._counted] > OPEN).sum(axis=1) >= budget] = DECIDE
        return question

    def see(self, level: Level) -> list[tuple[IntArray, BeliefState]]:
        """Parts of a level as the policy sees them, each of one stage."""
        facts, problem = level.belief, self.problem
        standing: list[tuple[IntArray, int, Any]]
        if problem.any_order:
            seen: Any = facts.observed
            known = (seen[:, : problem.n_questions] > OPEN).sum(axis=1)
            # what was known takes no one's place
            counts = self._asked or problem.limits.max_questions is None
            stage = known if counts else np.full(len(facts), level.stage)
            groups = [(np.asarray(np.flatnonzero(stage == k)), int(k)) for k in np.unique(stage)]
            standing = [(rows, stage, facts.state[rows]) for rows, stage in groups]
        else:
            if level is not self._level:  # where a visit is ordered a level is looked at twice
                self._standing, self._level = self._first_unknown_stages(level), level
            standing = self._standing
        return [(rows, as_seen(self.begun, facts[rows], stage, state)) for rows, stage, state in standing]

    def _first_unknown_stages(self, level: Level) -> list[tuple[IntArray, int, Any]]:
        """Rows of a level by the first stage of a fixed order that is not known, with the state there."""
        problem, seen = self.problem, observations(level.belief)
        waiting: dict[int, list[tuple[IntArray, Any]]] = {}
        for before, stage, state in self._standing:
            place = np.full(int(level.parent.max(initial=before.max())) + 1, -1)
            place[before] = np.arange(before.size)
            rows = np.flatnonzero(place[level.parent] >= 0)
            if rows.size:
                waiting.setdefault(stage, []).append((rows, state[place[level.parent[rows]]]))
        stages = []
        while waiting:
            stage = min(waiting)
            parts = waiting.pop(stage)
            rows = np.concatenate([part[0] for part in parts])
            state = parts[0][1] if len(parts) == 1 else problem.structure.join([part[1] for part in parts])
            past = seen[rows, stage] != OPEN if stage < problem.n_stages else np.zeros(rows.size, dtype=bool)
            if past.any():
                moved = problem.advance(stage, state[past], seen[rows[past], stage])
                waiting.setdefault(stage + 1, []).append((rows[past], moved))
            if not past.all():
                stages.append((rows[~past], stage, state[~past]))
        return stages


def _update_without_price(
    belief: BeliefState, question: int, outcome: IntArray, charged: bool | None = None
) -> BeliefState:
    """What is known after an answer that cost nothing; where it is missing the question stays open."""
    there = np.flatnonzero(outcome >= 0 if charged is None else outcome != OPEN)
    if not there.size:
        return belief
    before = belief[there]
    after = set_question(before, question).update(outcome[there], charge_missing=bool(charged))
    after.stage = before.stage
    if charged is None:
        paid = before.account
        account = replace(after.account, groups_paid=paid.groups_paid, spent=paid.spent, n_visits=paid.n_visits)
        after = after.replace(account=account)
    if there.size == len(belief):
        return after
    missing = np.setdiff1d(np.arange(len(outcome)), there)
    return join_beliefs([after, belief[missing]])[np.argsort(np.concatenate([there, missing]))]
