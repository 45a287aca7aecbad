"""What one question more costs and may save, at a belief: what rules, look-ahead and bounds compare."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import numpy.typing as npt

from seqclass._utils.arrays import CHUNK_BYTES, BoolArray, FloatArray, IntArray, chunks
from seqclass.pomdp.account import pays_in_full, planned_prices, price_of_question
from seqclass.pomdp.cached import cached
from seqclass.pomdp.problem import (
    CLOSED,
    OPEN,
    AcquisitionProblem,
    BeliefState,
    constraint_status,
    deciding_cost,
    has_requirements,
    must_continue,
)
from seqclass.pomdp.skipped import without_closed
from seqclass.pomdp.ties import TIE
from seqclass.pomdp.visits import with_least_surcharges


def row_parts(
    belief: BeliefState, bytes_per_row: float, budget: int = CHUNK_BYTES
) -> Iterator[tuple[slice, BeliefState]]:
    """Cut the rows into slices whose work fits in ``budget`` bytes, with what is known of each; see `chunks`."""
    rows = np.arange(len(belief))
    for part in chunks(len(belief), bytes_per_row, budget):
        yield part, belief if len(rows[part]) == len(belief) else belief[rows[part]]


def fill_rows(result: npt.NDArray[Any], where: BoolArray, work: Callable[[IntArray], Any]) -> npt.NDArray[Any]:
    """Put in the rows that are meant what is worked out of them; where there are none, nothing is."""
    rows = np.flatnonzero(where)
    if rows.size:
        result[rows] = work(rows)
    return result


def unit(problem: AcquisitionProblem) -> float:
    """The dearest decision, of which tolerances are parts: then prices and costs may be in any unit of money."""
    return float(problem.decision_costs.max(initial=0.0)) or 1.0


def remaining_questions(belief: BeliefState) -> BoolArray:
    """Which questions were not asked, (n, n_questions), whether they may be asked now or not."""
    if belief.observed is None:  # a fixed order
        n_questions = belief.problem.n_questions
        return np.broadcast_to(np.arange(n_questions) >= belief.stage, (len(belief), n_questions))
    return np.asarray(belief.observed == OPEN)


@cached
def context_of(belief: BeliefState) -> IntArray | None:
    """Context number of each row; None where the problem has no tables."""
    tables = belief.problem.structure.tables
    return None if tables is None else tables.contexts(belief.stage, belief.state)


def latent_posterior(belief: BeliefState) -> FloatArray:
    """P(state | what was seen) of the states of `Structure.state_tables`, (n, n_states)."""
    structure = belief.problem.structure
    if structure.class_tables is None and (latent := structure.latent) is not None:
        return np.asarray(latent.probability(belief))
    return belief.probabilities


def candidate_questions(belief: BeliefState) -> BoolArray:
    """Open questions among which heuristics choose, (n, n_questions): where it must continue, what has to be asked.

    That is paid for whatever comes of the others, so that it may as well tell whether these still pay. Elsewhere they
    are those that can change anything.
    """
    problem = belief.problem
    if not has_requirements(problem):
        nothing = problem.structure.put_off > 1  # is learnt from these, which are free
        return belief.available & ~nothing if nothing.any() else belief.available
    return np.asarray(belief.available & (constraint_status(belief).serves | ~must_continue(belief)[:, None]))


def finishing_cost(belief: BeliefState) -> FloatArray:
    """Cost that can be had at once, (n,): of deciding, and where it must continue of what has to be asked as well.

    An answer never makes the decision dearer, as the model expects.
    """
    rules, decide = belief.problem.limits.rules, deciding_cost(belief)
    if rules is None or not rules.has_requirements:
        return decide
    return np.where(must_continue(belief), rules.upper_bound(belief) + decide, decide)


@cached
def stopping_threshold(belief: BeliefState) -> FloatArray:
    """What going on must stay below, (n,): the cost of stopping, less a tie."""
    return belief.stopping_cost * (1 - TIE)


@cached
def available_questions(belief: BeliefState) -> IntArray:
    """Questions that any row may ask now."""
    return belief.available.any(axis=0).nonzero()[0]


@cached
def one_step_costs(belief: BeliefState) -> FloatArray:
    """Cost of asking each question and deciding after it, its price included, (n, n_questions); inf if not open."""
    costs = np.full((len(belief), belief.problem.n_questions), np.inf)
    asked = available_questions(belief)
    if asked.size:
        after = belief.problem.structure.costs_after(asked, belief)
        paid = belief.prices[:, asked] + after
        costs[:, asked] = paid if len(belief) == 1 else np.where(belief.available[:, asked], paid, np.inf)
    return costs


def cost_lower_bound(belief: BeliefState, multiplier: FloatArray | float | None = None) -> FloatArray:
    """No way of going on costs less: one more price, then the class is known; inf where nothing is open.

    It is (n,), or (n, m) for several factors of all prices, ``multiplier`` of shape (m,).
    """
    problem, known = belief.problem, belief.probabilities @ perfect_cost(belief.problem)
    if belief.stage >= problem.n_stages:
        price = np.full(len(belief), np.inf)
    elif problem.any_order:
        price = np.where(belief.available, belief.prices, np.inf).min(axis=1)
        rules = problem.limits.rules
        if rules is not None and rules.has_requirements:  # what has to be asked is paid for
            price = np.maximum(price, rules.lower_bound(belief))
    else:
        price = price_of_question(belief)
        if belief.account.ordered is not None and problem.groups is not None:
            # what is ordered with it may pay in full
            spared = problem.full_prices - with_least_surcharges(problem).full_prices
            price = price - np.where(pays_in_full(belief), spared[belief.question], 0.0)
    if multiplier is None:
        return np.asarray(price + known)
    nothing = np.isinf(price)[:, None]
    least = np.where(nothing, 0.0, price[:, None]) * np.atleast_1d(multiplier) + known[:, None]
    least = np.where(nothing, np.inf, least)
    return least if np.ndim(multiplier) else least[:, 0]


@cached
def least_cost_of_going_on(belief: BeliefState) -> FloatArray:
    """What `cost_lower_bound` gives, (n,)."""
    return cost_lower_bound(belief)


def stopping_is_certain(belief: BeliefState) -> BoolArray:
    """Rows where stopping is optimal for certain: one more price costs more than knowing the class saves."""
    return np.asarray(stopping_threshold(belief) <= least_cost_of_going_on(belief))


def perfect_information_bound(problem: AcquisitionProblem, stage: int) -> FloatArray:
    """Price of a stage of a fixed order and the cost of knowing the class then, by class: no way on costs less."""
    return np.asarray(planned_prices(problem)[stage] + perfect_cost(problem))


def perfect_cost(problem: AcquisitionProblem) -> FloatArray:
    """Cost of the best decision of each class if it were known, (n_classes,)."""
    return problem._perfect_cost


def initial_beliefs(problem: AcquisitionProblem) -> tuple[BeliefState, FloatArray]:
    """How cases begin, and the share of each: the prior, or what is known of each of `starts`."""
    starts = problem.structure.starts
    if starts is None:
        return problem.initial_belief(), np.ones(1)
    belief = problem.initial_belief(len(starts.weight))
    belief = belief.replace(probabilities=starts.belief, state=problem.structure.state_of(starts))
    return without_closed(belief, starts, starts.outcomes), starts.weight


def without_questions(belief: BeliefState, questions: BoolArray) -> BeliefState:
    """What is known where some questions, (n, n_questions), cannot be had; a fixed order passes its next."""
    if belief.observed is None:
        return belief.update(np.full(len(belief), -1))
    return belief.replace(observed=np.where(questions, CLOSED, belief.observed))
