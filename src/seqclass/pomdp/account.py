"""What cases have paid, what they have ordered and what they still owe, and so what a question costs them now."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from typing import Any, Protocol

import numpy as np

from seqclass._utils.arrays import BoolArray, FloatArray, IntArray, read_only
from seqclass.costs import Visits, first_of_groups
from seqclass.pomdp.cached import cached
from seqclass.pomdp.constraints import Limits
from seqclass.pomdp.ties import less

__all__ = ["Account"]


@dataclass(frozen=True, eq=False)
class Account:
    """What each of a batch of cases has paid, ordered and still owes.

    Attributes
    ----------
    spent : ndarray of shape (n,)
        Prices paid so far.
    groups_paid : ndarray of bool of shape (n, n_groups) or None
        Groups of which something has been acquired; None where there are no groups.
    n_visits : ndarray of int of shape (n,) or None
        Visits so far; None where visits cost nothing.
    ordered : ndarray of bool of shape (n, n_questions) or None
        Questions that were ordered in the last visit and not answered yet; None where visits cost nothing.
    owed : ndarray of shape (n, n_groups) or None
        Least full price less price of what was acquired of a group for which nobody paid in full yet, as something
        that was ordered with it would pay less for that; inf elsewhere, and None where visits or groups are not.
    component : ndarray of int of shape (n,) or None
        The component that each drew of a randomised policy, by which it asks and pays; None where none was drawn.
    ordering_is_known : bool
        Whether it was said what is ordered: what has nothing ordered then decides.

    Examples
    --------
    >>> import numpy as np
    >>> from seqclass.pomdp import TableProblem
    >>> problem = TableProblem([0.5, 0.5], np.array([[[0.9, 0.2], [0.1, 0.8]]]), prices=0.1)
    >>> problem.initial_belief().update(np.array([0])).account.spent
    array([0.1])
    """

    spent: FloatArray
    groups_paid: BoolArray | None = None
    n_visits: IntArray | None = None
    ordered: BoolArray | None = None
    owed: FloatArray | None = None
    component: IntArray | None = None
    ordering_is_known: bool = False

    def scale(self, multiplier: float) -> Account:
        """Return what is paid and owed where all prices are multiplied."""
        owed = None if self.owed is None else self.owed * multiplier
        return replace(self, spent=self.spent * multiplier, owed=owed)

    def __getitem__(self, rows: IntArray | BoolArray) -> Account:
        return Account(
            self.spent[rows],
            None if self.groups_paid is None else self.groups_paid[rows],
            None if self.n_visits is None else self.n_visits[rows],
            None if self.ordered is None else self.ordered[rows],
            None if self.owed is None else self.owed[rows],
            None if self.component is None else self.component[rows],
            self.ordering_is_known,
        )

    @property
    def waits(self) -> BoolArray:
        """Where something was ordered that was not answered yet, (n,)."""
        return np.zeros(len(self.spent), dtype=bool) if self.ordered is None else np.asarray(self.ordered.any(axis=1))

    def without_visits(self) -> Account:
        """The account of a problem in which visits cost nothing."""
        return replace(self, ordered=None, n_visits=None, owed=None)


class PricedProblem(Protocol):
    """What an account asks of its problem: see `AcquisitionProblem`."""

    prices: FloatArray
    full_prices: FloatArray
    groups: IntArray | None
    visits: Visits | None
    limits: Limits
    any_order: bool

    @property
    def n_questions(self) -> int: ...


class PricedBelief(Protocol):
    """What an account asks of the belief that it is part of: see `BeliefState`."""

    _cache: dict[str, Any]

    @property
    def account(self) -> Account: ...

    @property
    def problem(self) -> PricedProblem: ...

    @property
    def question(self) -> Any: ...

    @property
    def _mixed(self) -> bool: ...

    def __len__(self) -> int: ...


def new_account(problem: PricedProblem, n: int) -> Account:
    """The account of ``n`` cases that have paid nothing."""
    paid = visits = ordered = owed = None
    if problem.groups is not None:
        paid = np.zeros((n, int(problem.groups.max(initial=-1)) + 1), dtype=bool)
    if problem.visits is not None:
        visits, ordered = np.zeros(n, dtype=np.intp), np.zeros((n, problem.n_questions), dtype=bool)
        owed = None if paid is None else np.full(paid.shape, np.inf)
    return Account(np.zeros(n), paid, visits, ordered, owed)


def join_accounts(parts: Sequence[Account]) -> Account:
    """Accounts of several batches as one."""
    return Account(*(join_arrays(parts, field.name) for field in fields(Account)[:-1]))


def join_arrays(parts: Sequence[Any], name: str) -> Any:
    """An array that each of several batches has by a name, the rows one after the other; None where they have none."""
    arrays = [getattr(part, name) for part in parts]
    return None if arrays[0] is None else np.concatenate(arrays)


def prices_beside(problem: PricedProblem, paid: BoolArray) -> FloatArray:
    """Prices of all questions once some groups were paid for, (n, n_questions), or one row where all pay alike.

    Parameters
    ----------
    problem : AcquisitionProblem
        The problem.
    paid : ndarray of bool of shape (n, n_groups)
        Groups of which something was bought.

    Returns
    -------
    ndarray
    """
    if problem.groups is None or not paid.shape[1]:
        return problem.prices[None]
    return np.where(paid[:, problem.groups] | (problem.groups < 0), problem.prices, problem.full_prices)


def groups_paid_after(problem: PricedProblem, asked: BoolArray) -> BoolArray:
    """Which groups were paid for once some questions were asked, (n, n_groups)."""
    groups = np.full(problem.n_questions, -1) if problem.groups is None else problem.groups
    paid: BoolArray = asked @ (groups[:, None] == np.arange(groups.max(initial=-1) + 1))
    return paid


def least_surcharges(problem: PricedProblem, panels: BoolArray) -> FloatArray:
    """Least full price less price in each group of several sets of questions, (n, n_groups); inf of none."""
    groups = np.full(problem.n_questions, -1) if problem.groups is None else problem.groups
    surcharge = problem.full_prices - problem.prices
    least = np.full((len(panels), int(groups.max(initial=-1)) + 1), np.inf)
    for group in range(least.shape[1]):
        members = groups == group
        least[:, group] = np.where(panels[:, members], surcharge[members], np.inf).min(1, initial=np.inf)
    return least


def planned_prices(problem: PricedProblem) -> FloatArray:
    """Price of each question as plans have it: in a fixed order the first of a group costs its full price."""
    if problem.any_order or problem.groups is None:
        return problem.prices
    return np.where(first_of_groups(problem.groups), problem.full_prices, problem.prices)


def prices_without_visits(problem: PricedProblem) -> FloatArray:
    """Price of each question without that of a visit, (n_questions,)."""
    return problem.prices if problem.visits is None else np.maximum(problem.prices - problem.visits.single_costs, 0.0)


def question_index(belief: PricedBelief) -> Any:
    """The rows of an array by questions, and the column, that stand for what each row is about to ask."""
    return (np.arange(len(belief)) if belief._mixed else slice(None)), belief.question


def _has_no_group(belief: PricedBelief) -> bool:
    problem, paid = belief.problem, belief.account.groups_paid
    if paid is None or problem.groups is None or not paid.shape[1]:
        return True
    return bool(not belief._mixed and problem.groups[belief.question] < 0)


def pays_in_full(belief: PricedBelief) -> BoolArray:
    """Where the question is the one of its group that costs its full price, if it is answered now, (n,)."""
    if _has_no_group(belief):
        return np.zeros(len(belief), dtype=bool)
    problem, account, rows = belief.problem, belief.account, np.arange(len(belief))
    assert account.groups_paid is not None and problem.groups is not None  # noqa: PT018 - it has a group
    group = np.broadcast_to(problem.groups[belief.question], len(belief))
    full: BoolArray = (group >= 0) & ~account.groups_paid[rows, group]
    if account.ordered is not None and account.ordered.any():
        surcharge = (problem.full_prices - problem.prices)[belief.question]
        full &= ~less(least_surcharges(problem, account.ordered)[rows, group], surcharge)
    return full


def was_ordered(belief: PricedBelief) -> BoolArray:
    """Where the question was ordered before, and its visit is paid for, (n,)."""
    ordered = belief.account.ordered
    assert ordered is not None  # where visits cost something
    return np.asarray(ordered[question_index(belief)])


@cached
def price_levels(belief: PricedBelief) -> FloatArray | None:
    """Where prices that depend on answers lie between least and full ones, (n, n_questions); NaN where others are."""
    rules = belief.problem.limits.rules
    return None if rules is None else rules.price_levels(belief)


def price_of_question(belief: PricedBelief) -> FloatArray:
    """Price of the question for each row, (n,)."""
    problem, question = belief.problem, belief.question
    if price_levels(belief) is not None:
        return np.asarray(prices_of_all(belief)[question_index(belief)])
    mixed = belief._mixed
    price: FloatArray = problem.prices[question : question + 1] if len(belief) == 1 else problem.prices[question]
    price = price if mixed or len(belief) == 1 else np.full(len(belief), price)
    if not _has_no_group(belief):
        price = np.where(pays_in_full(belief), problem.full_prices[question], price)
    if problem.visits is None:
        return price
    return price - np.where(was_ordered(belief), problem.visits.single_costs[question], 0.0)


def prices_of_all(belief: PricedBelief) -> FloatArray:
    """Price of every question for each row, (n, n_questions); one row where all rows pay alike.

    Where visits cost something, with that of a visit in which it is asked alone, unless it was ordered before.
    """
    problem, account = belief.problem, belief.account
    paid, ordered = account.groups_paid, account.ordered
    prices: FloatArray = read_only(problem.prices[None]) if paid is None else prices_beside(problem, paid)
    if ordered is not None and problem.visits is not None and ordered.any():
        if problem.groups is not None and (least := least_surcharges(problem, ordered)).size:
            another = less(least[:, problem.groups], problem.full_prices - problem.prices) & (problem.groups >= 0)
            prices = np.where(another, problem.prices, prices)
        prices = prices - np.where(ordered, problem.visits.single_costs, 0.0)
    if (level := price_levels(belief)) is not None:
        own = problem.prices * (1 - level) + problem.full_prices * level
        prices = np.where(np.isnan(level), prices, own)
    return prices


def charge(belief: PricedBelief, acquired: BoolArray) -> tuple[FloatArray, Account]:
    """What an answer costs, (n,), where the question is ``acquired``, or that there is none; and the account then."""
    problem, account = belief.problem, belief.account
    cost, visits, ordered = np.where(acquired, price_of_question(belief), 0.0), account.n_visits, account.ordered
    if problem.visits is not None and ordered is not None and visits is not None:
        # a visit was made, whatever came of it
        before = was_ordered(belief)
        cost = cost + np.where(acquired | before, 0.0, problem.visits.single_costs[belief.question])
        visits, ordered = visits + ~before, ordered.copy()
        ordered[question_index(belief)] = False
    paid, owed = account.groups_paid, account.owed
    if not _has_no_group(belief):
        assert paid is not None and problem.groups is not None  # noqa: PT018 - it has a group
        group = np.broadcast_to(problem.groups[belief.question], len(belief))
        rows = np.flatnonzero(acquired & (group >= 0))
        own = rows, group[rows]
        paid = paid.copy()
        paid[own] |= pays_in_full(belief)[rows]
        if owed is not None:
            surcharge = np.broadcast_to((problem.full_prices - problem.prices)[belief.question], len(belief))
            owed = owed.copy()
            owed[own] = np.minimum(owed[own], surcharge[rows])
    after = Account(account.spent + cost, paid, visits, ordered, owed, account.component)
    settled = settle(problem, after)
    return cost + (settled.spent - after.spent), settled


def settle(problem: PricedProblem, account: Account) -> Account:
    """The account once what is owed was paid of groups of which nothing that is waited for would pay less."""
    if account.owed is None or account.groups_paid is None or account.ordered is None:
        return account
    owed = np.where(account.groups_paid, np.inf, account.owed)
    due = np.isfinite(owed) & ~less(least_surcharges(problem, account.ordered), owed)
    spent = account.spent + np.where(due, owed, 0.0).sum(axis=1)
    return replace(account, spent=spent, groups_paid=account.groups_paid | due, owed=np.where(due, np.inf, owed))


def leave_panel(problem: PricedProblem, account: Account) -> Account:
    """The account where no more is waited for of what was ordered."""
    if account.ordered is None:
        return account
    return settle(problem, replace(account, ordered=np.zeros_like(account.ordered), ordering_is_known=False))
