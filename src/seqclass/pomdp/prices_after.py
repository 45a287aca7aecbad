"""Problems in which the price of a question depends on what was answered before."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from seqclass._utils.arrays import IntArray
from seqclass._utils.prices_after import PriceAfter
from seqclass.pomdp.names import Naming
from seqclass.pomdp.problem import AcquisitionProblem
from seqclass.pomdp.rules import Rules, rules_of
from seqclass.pomdp.skips import outcome_of
from seqclass.pomdp.table_problem import in_any_order


def with_prices_after(problem: AcquisitionProblem, after: Sequence[PriceAfter]) -> AcquisitionProblem:
    """Return the problem in which prices depend on answers: they become a part of its rules.

    A fixed order becomes one in any order in which only the next question may be asked, as prices depend on what is
    missing as well.

    Parameters
    ----------
    problem : AcquisitionProblem
        The problem, with the prices of questions before anything was answered.
    after : sequence of PriceAfter
        Other prices, by features and their outcomes.

    Returns
    -------
    AcquisitionProblem

    Raises
    ------
    ValueError
        If a price depends on a question that comes later in a fixed order, or visits cost something.

    Examples
    --------
    >>> import numpy as np
    >>> from seqclass.pomdp import TableProblem
    >>> problem = TableProblem([0.5, 0.5], np.array([[[0.9, 0.2], [0.1, 0.8]]] * 2), prices=0.1, any_order=True)
    >>> belief = with_prices_after(problem, [PriceAfter(1, {0: None}, 0.02)]).initial_belief()
    >>> belief.prices, belief.update(0, 1).prices
    (array([[0.1, 0.1]]), array([[0.1 , 0.02]]))
    """
    if not after:
        return problem
    members = [problem.structure.members(question) for question in range(problem.n_questions)]
    features, shown = problem.features.tolist(), {int(feature) for own in members for feature in own}
    after = [one for one in after if one.question in features and shown.issuperset(one.after)]
    if not after:
        return problem
    if not problem.any_order:
        check_order_of_prices(after, problem.features, problem._naming)
        problem = in_any_order(problem).replace(rules=Rules(first=features).of_questions(members))
    low, high, levels = problem.prices.copy(), problem.full_prices.copy(), list[PriceAfter]()
    for question, feature in enumerate(features):
        own = [PriceAfter(feature, {}, float(low[question]), True), *(one for one in after if one.question == feature)]
        if len(own) > 1:
            low[question], high[question] = (end(one.price for one in own) for end in (min, max))
            span = high[question] - low[question] or 1.0
            levels += [replace(one, price=float((one.price - low[question]) / span)) for one in own]
    rules = replace(rules_of(problem) or Rules().of_questions(members), prices=tuple(levels))
    problem = problem.replace(prices=low, full_prices=high, rules=rules)
    rules.check(problem)
    return problem


def check_order_of_prices(after: Sequence[PriceAfter], order: IntArray, naming: Naming) -> None:
    """Refuse prices that depend on a feature that comes later in an order."""
    place = {int(feature): number for number, feature in enumerate(order)}
    for one in after:
        if late := [gate for gate in one.after if place.get(gate, -1) > place.get(one.question, len(place))]:
            raise ValueError(
                f"prices_after: the price of {naming.feature(one.question)} depends on {naming.feature(late[0])}, "
                "which comes later in the order: put that first, or take the price out."
            )


def code_answers(after: Sequence[PriceAfter], naming: Naming, n_outcomes: IntArray) -> tuple[PriceAfter, ...]:
    """The same with outcomes of features in the place of answers."""

    def code(feature: int, answers: tuple[Any, ...] | None) -> tuple[Any, ...] | None:
        size, missing = int(n_outcomes[feature]), naming.missing(feature)
        if answers is None:  # a missing one is none, whether it is an outcome or not
            return None if missing < 0 else tuple(one for one in range(size) if one != missing)
        return tuple(outcome_of(naming, feature, one, size, "prices_after") for one in answers)

    return tuple(
        one if one.coded else replace(one, after={f: code(f, answers) for f, answers in one.after.items()}, coded=True)
        for one in after
    )
