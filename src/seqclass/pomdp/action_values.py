"""What it is expected to cost to go on from a belief: as a policy does, and after asking each question first."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from seqclass._utils.arrays import FloatArray, IntArray
from seqclass.pomdp.observations import ObservationSource
from seqclass.pomdp.problem import DECIDE, BeliefState, with_component
from seqclass.pomdp.walk import ALL, Fork, Level, PolicyLike, Simulation, next_of, walk

if TYPE_CHECKING:
    import pandas as pd


def cost_to_go(policy: PolicyLike, belief: BeliefState, simulation: Simulation) -> tuple[FloatArray, FloatArray]:
    """Expected cost of each row from here on as the policy goes on, (n,), and its standard error, 0 where exact."""
    lots, chance = policy.initial_belief()
    if lots.account.component is None or belief.account.component is not None:
        return _from_each(policy, belief, simulation)
    # which lot the case drew is not known yet: any of them
    row, lot = np.divmod(np.arange(len(belief) * len(chance)), len(chance))
    drawn = with_component(belief[row], lots.account.component[lot])
    cost, error = _from_each(policy, drawn, simulation)
    shape = (len(belief), len(chance))
    return cost.reshape(shape) @ chance, np.sqrt(error.reshape(shape) ** 2 @ chance**2)


def action_costs(
    policy: PolicyLike, belief: BeliefState, simulation: Simulation
) -> tuple[IntArray, IntArray, FloatArray, FloatArray]:
    """Expected cost of asking each available question and going on as the policy does.

    The row and the question of each, the cost from here on, and its standard error, 0 where exact.
    """
    lots, _ = policy.initial_belief()
    if lots.account.component is not None and belief.account.component is None:
        raise ValueError("this policy draws a lot for each case: take a belief of policy.initial_belief().")
    row, question = np.nonzero(belief.available)

    def begin(answers: ObservationSource, most: float) -> Level | None:
        return ask_each(belief, row, question, simulation.total(answers), answers, most)

    cost, error = _follow(policy, belief.spent[row], simulation, begin)
    return row, question, cost, error


def ask_each(
    belief: BeliefState, row: IntArray, question: IntArray, total: float, answers: ObservationSource, most: float
) -> Level | None:
    """What is known once rows asked a question each; ``entry`` of the level says which of these. None if none asks."""

    def ask(level: Level) -> IntArray | Fork:
        if level.belief is belief:
            return Fork(row, question, np.full(row.size, total))
        return np.full(len(level.belief), DECIDE)

    levels = walk(belief, np.full(len(belief), total), ask, answers, most)
    next(levels, None)
    return next(levels, None)


def _from_each(policy: PolicyLike, belief: BeliefState, simulation: Simulation) -> tuple[FloatArray, FloatArray]:
    every, none = np.arange(len(belief)), np.full(len(belief), DECIDE)

    def begin(answers: ObservationSource, most: float) -> Level:
        return Level(belief, np.full(len(belief), simulation.total(answers)), every, every, none, 1, none)

    return _follow(policy, belief.spent, simulation, begin)


def _follow(
    policy: PolicyLike,
    paid: FloatArray,
    simulation: Simulation,
    begin: Callable[[ObservationSource, float], Level | None],
) -> tuple[FloatArray, FloatArray]:
    """Mean cost of histories from each entry of a first level, less what was paid before, and its standard error."""

    def run(answers: ObservationSource, most: float) -> tuple[FloatArray, FloatArray]:
        cost, square, total = np.zeros(len(paid)), np.zeros(len(paid)), simulation.total(answers)
        if (first := begin(answers, most)) is None:
            return cost, square
        root = first.entry
        for level in walk(first.belief, first.weight, lambda level: next_of(policy, level, most), answers, most):
            root = root[level.parent]
            stop = ~level.go_on
            ended, at = level.belief[stop], root[stop]
            each = ended.spent + ended.stopping_cost - paid[at]
            cost += np.bincount(at, level.weight[stop] * each, len(paid))
            square += np.bincount(at, level.weight[stop] * each**2, len(paid))
        mean = cost / total
        variance = np.maximum(square / total - mean**2, 0.0) if answers is not ALL else np.zeros(len(paid))
        return mean, np.sqrt(variance / total)

    return simulation.run(run)


def action_names(questions: list[str]) -> list[str]:
    """Deciding and each question; deciding stands in brackets where a question is called so."""
    return ["(decide)" if "decide" in questions else "decide", *questions]


def action_frame(
    belief: BeliefState, row: IntArray, question: IntArray, cost: FloatArray, error: FloatArray | None = None
) -> pd.DataFrame:
    """A row for deciding and for each question of each case: price, expected cost after it, total, and what it adds."""
    import pandas as pd

    names, n = np.array(action_names(belief.problem.names.questions), dtype=object), len(belief)
    prices = np.broadcast_to(belief.prices, (n, belief.problem.n_questions))[row, question]
    at, total = np.append(np.arange(n), row), np.append(belief.stopping_cost, cost)
    order = np.argsort(at, kind="stable")
    price = np.append(np.zeros(n), prices)
    actions = names[np.append(np.zeros(n, dtype=np.intp), question + 1)]
    # by how much it is cheaper than the cheapest of the others
    by_action = np.full((n, 2 + belief.problem.n_questions), np.inf)
    by_action[:, 0], by_action[row, 1 + question] = belief.stopping_cost, cost
    least, second = np.partition(by_action, 1, axis=1)[:, :2].T
    other = np.where(total == least[at], second[at], least[at])
    with np.errstate(invalid="ignore"):
        columns = {"price": price, "after": total - price, "total": total, "adds": other - total}
    if error is not None and error.any():
        columns["std_error"] = np.append(np.zeros(n), error)
    index: pd.Index | pd.MultiIndex = pd.Index(actions[order])
    if n != 1:
        index = pd.MultiIndex.from_arrays([at[order], actions[order]], names=["case", "action"])
    frame: pd.DataFrame = pd.DataFrame({name: values[order] for name, values in columns.items()}, index=index)
    frame.attrs["units"] = dict.fromkeys(columns, "units of the costs")
    return frame
