"""Visits: what several questions that are ordered together cost, and the problems with and without them."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from seqclass._utils.arrays import BoolArray
from seqclass.costs import Visits
from seqclass.pomdp.account import least_surcharges
from seqclass.pomdp.problem import OPEN, AcquisitionProblem, BeliefState

#: What rules say of visits.
NO_VISITS = "rules do not know of visits that cost something: leave visit_cost and delays out."


def with_least_surcharges(problem: AcquisitionProblem) -> AcquisitionProblem:
    """Problem whose stages add no more than their visits can; itself where visits cost nothing, or in any order."""
    if problem.any_order or problem.groups is None or problem.visits is None or problem.groups.max(initial=-1) < 0:
        return problem
    number = np.arange(problem.n_questions)
    most, group = problem.visits.max_panel or problem.n_questions, np.maximum(problem.groups, 0)
    beside = (number >= number[:, None]) & (number < number[:, None] + most)
    least = np.where(problem.groups < 0, 0.0, least_surcharges(problem, beside)[number, group])
    return problem.replace(full_prices=problem.prices + least)


def with_visits(problem: AcquisitionProblem, visits: Visits | None) -> AcquisitionProblem:
    """Return the problem in which each visit costs something, whatever is asked in it.

    Its prices are those of what is asked in a visit alone, so that solvers which ask one question at a time plan for
    that; what is ordered together (`order_panels`) costs one visit.

    Parameters
    ----------
    problem : AcquisitionProblem
        The problem without visits.
    visits : Visits or None
        What visits cost, with the delay of each question; None: as it is.

    Returns
    -------
    AcquisitionProblem

    Raises
    ------
    ValueError
        If visits cost something already, or there is not a delay for each question.

    Examples
    --------
    >>> import numpy as np
    >>> from seqclass.costs import Visits
    >>> from seqclass.pomdp import TableProblem
    >>> problem = TableProblem([0.5, 0.5], np.array([[[0.9, 0.2], [0.1, 0.8]]]), prices=0.1, any_order=True)
    >>> with_visits(problem, Visits(0.25, np.zeros(1))).prices
    array([0.35])
    """
    if visits is None:
        return problem
    if problem.visits is not None:
        raise ValueError("visits cost something in this problem already: give it without.")
    if problem.limits.rules is not None:
        raise ValueError(NO_VISITS)
    if visits.delays.shape != (problem.n_questions,):
        raise ValueError(f"visits must have a delay for each of the {problem.n_questions} questions.")
    alone = visits.single_costs
    return problem.replace(prices=problem.prices + alone, full_prices=problem.full_prices + alone, visits=visits)


def without_visits(problem: AcquisitionProblem, share: float = 0.0) -> AcquisitionProblem:
    """Return the problem in which visits cost nothing, but each question a share of one in which it is alone."""
    if problem.visits is None:
        return problem
    less_alone = (1 - share) * problem.visits.single_costs
    prices, full = (np.maximum(p - less_alone, 0.0) for p in (problem.prices, problem.full_prices))
    return problem.replace(prices=prices, full_prices=full, visits=None)


def orders_panels(problem: AcquisitionProblem) -> bool:
    """Whether several questions ordered together may cost less than one after the other."""
    visits = problem.visits
    if visits is None or visits.max_panel == 1 or problem.n_stages < 2:
        return False
    # what else would be waited for passes beside the longest wait; in any order the cheapest of a group may come first
    waits, in_groups = np.count_nonzero(visits.delay_cost * visits.delays), problem.groups is not None
    return bool(visits.cost > 0 or waits > 1 or (in_groups and not problem.any_order))


def order_panels(belief: BeliefState, panels: BoolArray) -> BeliefState:
    """What is known once each row has ordered a set of questions, to be answered in one visit.

    Parameters
    ----------
    belief : BeliefState
        What is known before.
    panels : ndarray of bool of shape (n, n_questions)
        What each orders; a row of none orders nothing.

    Returns
    -------
    BeliefState
        The same, with the visits paid for; answers come one by one, by `BeliefState.update`, and cost their prices.

    Raises
    ------
    ValueError
        If visits cost nothing here, or a row orders what is not open, more than goes into one visit, or anything
        before what it ordered last was answered.

    Examples
    --------
    >>> import numpy as np
    >>> from seqclass.costs import Visits
    >>> from seqclass.pomdp import TableProblem
    >>> likelihoods = np.array([[[0.9, 0.2], [0.1, 0.8]], [[0.6, 0.5], [0.4, 0.5]]])
    >>> problem = TableProblem([0.5, 0.5], likelihoods, prices=0.1, any_order=True)
    >>> problem = with_visits(problem, Visits(0.25, np.zeros(2)))
    >>> belief = order_panels(problem.initial_belief(), np.array([[True, True]]))
    >>> belief.spent.tolist(), belief.asking(1).update(np.array([0])).spent.tolist()
    ([0.25], [0.35])
    """
    visits, account = belief.problem.visits, belief.account
    if visits is None or account.ordered is None or account.n_visits is None:
        raise ValueError("visits cost nothing in this problem, so that nothing is ordered: ask one at a time.")
    wants = panels.any(axis=1)
    if (account.waits & wants).any():
        raise ValueError("what was ordered last has not been answered yet: wait for it before anything is ordered.")
    number = np.arange(belief.problem.n_questions)
    asked = number < belief.stage if belief.observed is None else belief.observed != OPEN
    if (panels & asked).any():
        raise ValueError("a panel has a question that was asked before.")
    if visits.max_panel is not None and int(panels.sum(axis=1).max(initial=0)) > visits.max_panel:
        raise ValueError(f"a panel has more than max_panel={visits.max_panel} questions.")
    account = replace(
        account,
        ordered=account.ordered | panels,
        n_visits=account.n_visits + wants,
        spent=account.spent + visits.panel_costs(panels),
        ordering_is_known=True,
    )
    return belief.replace(account=account)
