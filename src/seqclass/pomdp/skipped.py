"""What skip logic leaves open at a belief, and what it closes at the start."""

from __future__ import annotations

import numpy as np

from seqclass._utils.arrays import BoolArray, IntArray
from seqclass.pomdp.answer_rules import AnswerRules
from seqclass.pomdp.problem import CLOSED, OPEN, AcquisitionProblem, BeliefState
from seqclass.pomdp.starts import Starts

__all__: list[str] = []

#: In `BeliefState.observed`: not asked, as its outcome 0 follows from what is known; one less for each outcome more.
IMPLIED = CLOSED - 1


def without_closed(belief: BeliefState, starts: Starts | None, outcomes: IntArray) -> BeliefState:
    """A belief in which outcomes of what is known at the start, (n, n_known), have closed or answered questions."""
    rules = None if starts is None else starts.answers
    if starts is None or rules is None or belief.observed is None:
        return belief
    answers = np.full((len(belief), len(rules.features)), -1)
    is_known = np.isin(rules.features, starts.features)
    answers[:, is_known] = outcomes[:, np.searchsorted(starts.features, rules.features[is_known])]
    after = rules.follow(answers, np.broadcast_to(~is_known, answers.shape), is_known & (answers < 0))
    observed = belief.observed
    for place in np.flatnonzero(~is_known).tolist():
        answer, closed = after.answers[:, place], after.never[:, place]
        code = np.where(answer >= 0, IMPLIED - answer, np.where(closed, CLOSED, OPEN))
        for question in np.flatnonzero(belief.problem.features == rules.features[place]).tolist():
            if belief.problem.structure.bundle(question) is None:
                if code.min(initial=0) < np.iinfo(observed.dtype).min:
                    observed = observed.astype(np.int32)
                else:
                    observed = observed.copy()
                observed[:, question] = np.where(observed[:, question] == OPEN, code, observed[:, question])
    return belief.replace(observed=observed)


def answers_of(rules: AnswerRules, belief: BeliefState) -> tuple[IntArray, BoolArray, dict[int, int]]:
    """Answers to the features that rules name, (n, k), -1 for none; which were not asked; and their questions."""
    problem, observed = belief.problem, belief.observed
    assert observed is not None  # in a fixed order there are no such rules
    answers, unasked, asked_by = np.full((len(belief), len(rules.features)), -1), np.zeros((len(belief), 1), bool), {}
    unasked = np.repeat(unasked, len(rules.features), axis=1)
    place = {int(feature): number for number, feature in enumerate(rules.features)}
    named = np.flatnonzero(np.isin(problem.features, rules.features)) if problem.bundles is None else None
    for question in range(problem.n_questions) if named is None else named.tolist():
        seen, bundle = observed[:, question].astype(np.intp), problem.structure.bundle(question)
        values = np.where(seen <= IMPLIED, IMPLIED - seen, np.maximum(seen, -1))[:, None]
        if bundle is not None:
            values = np.where(values >= 0, bundle.decode(np.maximum(values[:, 0], 0)), -1)
        for part, feature in enumerate(problem.structure.members(question).tolist()):
            if feature in place:
                answers[:, place[feature]] = values[:, part]
                unasked[:, place[feature]], asked_by[place[feature]] = seen == OPEN, question
    return answers, unasked, asked_by
