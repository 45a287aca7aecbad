"""What skip logic leaves open at a belief, and what it closes at the start."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from seqclass._utils.arrays import BoolArray, FloatArray, IntArray
from seqclass._utils.prices_after import PriceAfter
from seqclass.pomdp.answer_rules import AnswerRules
from seqclass.pomdp.problem import CLOSED, OPEN, AcquisitionProblem, BeliefState, observations
from seqclass.pomdp.starts import Starts

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
    code = np.where(after.answers >= 0, IMPLIED - after.answers, np.where(after.never, CLOSED, OPEN))
    observed, (named, place) = belief.observed, _single_questions(rules.features, belief.problem)
    named, place = named[~is_known[place]], place[~is_known[place]]
    code = code[:, place]
    is_too_small = code.min(initial=0) < np.iinfo(observed.dtype).min
    observed = observed.astype(np.int32 if is_too_small else observed.dtype)  # a copy
    observed[:, named] = np.where(observed[:, named] == OPEN, code, observed[:, named])
    return belief.replace(observed=observed)


def answers_to(
    features: IntArray, belief: BeliefState
) -> tuple[IntArray, BoolArray, tuple[IntArray, IntArray], list[tuple[int, int]]]:
    """Answers to some features in order, (n, k), -1 where there is none; whether nobody asked; and the questions.

    These are numbers of questions of one feature and where that is among these, and pairs of both for bundles.
    """
    problem, observed = belief.problem, observations(belief)
    answers = np.full((len(belief), len(features)), -1)
    unasked = np.zeros(answers.shape, dtype=bool)
    questions, place = _single_questions(features, problem)
    answers[:, place], unasked[:, place] = _outcomes_or_missing(observed[:, questions]), observed[:, questions] == OPEN
    in_bundles = list[tuple[int, int]]()
    for question, bundle in enumerate(problem.bundles or ()):
        if bundle is None or not (parts := np.flatnonzero(np.isin(bundle.features, features)).tolist()):
            continue
        seen = observed[:, question]
        values = bundle.decode(np.maximum(seen, -1))
        for part in parts:
            number = int(np.searchsorted(features, bundle.features[part]))
            answers[:, number] = np.where(seen >= 0, values[:, part], _outcomes_or_missing(seen))
            unasked[:, number] = seen == OPEN
            in_bundles.append((question, number))
    return answers, unasked, (questions, place), in_bundles


def find_open_questions(rules: AnswerRules, belief: BeliefState, ever: bool = False) -> BoolArray:
    """Questions that no answer has to open, or some has (``ever``: or will), and whose answers are not implied."""
    answers, unasked, (questions, place), in_bundles = answers_to(rules.features, belief)
    after = rules.follow(answers, unasked)
    open_ = ~after.never if ever else after.open
    result = np.ones((len(belief), belief.problem.n_questions), dtype=bool)
    result[:, questions] = open_[:, place]
    for question, number in in_bundles:
        result[:, question] &= open_[:, number]
    return result


def _outcomes_or_missing(seen: IntArray) -> IntArray:
    """Outcomes that were seen or implied; -1 of what has none."""
    return np.where(seen <= IMPLIED, IMPLIED - seen.astype(np.intp), np.maximum(seen, -1))


def _single_questions(features: IntArray, problem: AcquisitionProblem) -> tuple[IntArray, IntArray]:
    """Questions of one of some features, and where that is among these."""
    place = np.minimum(np.searchsorted(features, problem.features), len(features) - 1)
    single = [bundle is None for bundle in problem.bundles or [None] * problem.n_questions]
    named = np.flatnonzero((features[place] == problem.features) & single)
    return named, place[named]


def find_price_levels(prices: Sequence[PriceAfter], belief: BeliefState) -> FloatArray:
    """Where prices that depend on answers lie between least and full ones, (n, n_questions); NaN where others are."""
    gates = np.unique([gate for one in prices for gate in one.after])
    if belief.problem.structure.starts is not None and belief.observed is not None:  # what is implied was not answered
        belief = belief.replace(observed=np.maximum(belief.observed, OPEN))
    answers = dict(zip(gates.tolist(), answers_to(gates, belief)[0].T))
    levels = np.full((belief.problem.n_questions, len(belief)), np.nan)
    for one in prices:
        at = belief.problem.features == one.question
        levels[at] = np.where(one.holds(answers), one.price, levels[at])
    return np.asarray(levels.T)


def check_targets(
    rules: AnswerRules | None, problem: AcquisitionProblem, needed: BoolArray, names: Sequence[str]
) -> None:
    """Refuse that what skip logic or a known answer may leave out is needed, or one of a bundle."""
    starts = problem.structure.starts
    some = [one for one in (rules, None if starts is None else starts.answers) if one is not None]
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
