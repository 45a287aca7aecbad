"""What skip logic leaves open at a belief, and what it closes at the start."""

from __future__ import annotations

from collections.abc import Sequence

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
                is_too_small = code.min(initial=0) < np.iinfo(observed.dtype).min
                observed = observed.astype(np.int32 if is_too_small else observed.dtype)  # a copy
                observed[:, question] = np.where(observed[:, question] == OPEN, code, observed[:, question])
    return belief.replace(observed=observed)


def opened_questions(rules: AnswerRules, belief: BeliefState) -> BoolArray:
    """Questions that no answer has to open, or some has, and whose answers are not implied, (n, n_questions)."""
    problem, observed = belief.problem, belief.observed
    assert observed is not None  # in a fixed order there are no such rules
    answers = np.full((len(belief), len(rules.features)), -1)
    unasked = np.zeros(answers.shape, dtype=bool)
    place = {int(feature): number for number, feature in enumerate(rules.features)}
    asked_by: dict[int, int] = {}
    structure, plain = problem.structure, problem.bundles is None
    named = np.flatnonzero(np.isin(problem.features, rules.features)) if plain else np.arange(problem.n_questions)
    for question in named.tolist():
        for part, feature in enumerate(structure.members(question).tolist()):
            if feature in place:
                seen, bundle = observed[:, question].astype(np.intp), structure.bundle(question)
                value = seen if bundle is None else bundle.decode(np.maximum(seen, 0))[:, part]
                value = np.where(seen <= IMPLIED, IMPLIED - seen, np.where(seen >= 0, value, -1))
                answers[:, place[feature]], unasked[:, place[feature]] = value, seen == OPEN
                asked_by[place[feature]] = question
    open_, result = rules.follow(answers, unasked).open, np.ones(observed.shape, dtype=bool)
    for number, question in asked_by.items():
        result[:, question] &= open_[:, number]
    return result


def check_targets(
    rules: AnswerRules | None, problem: AcquisitionProblem, needed: BoolArray, names: Sequence[str]
) -> None:
    """Refuse that what skip logic or a known answer may leave out is needed, or one of a bundle."""
    some = [one for one in (rules, None if problem.starts is None else problem.starts.answers) if one is not None]
    targets = np.concatenate([np.empty(0, dtype=np.intp), *(one.targets for one in some)])
    for question in range(problem.n_questions) if some else ():
        members = problem.structure.members(question)
        if np.isin(members, targets).any() and len(members) > 1:
            raise ValueError(
                f"skip logic: {names[question]} are asked at once, as a bundle, and one of them only after another "
                "answer: take it out of the bundle."
            )
        if np.isin(members, targets).any() and needed[question]:
            raise ValueError(
                f"rules: {names[question]} has to be asked, or counts for an area with at_least, and skip logic or "
                "what is known may leave it out: take it out of one of the two."
            )
