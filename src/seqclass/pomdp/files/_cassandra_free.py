"""Lines of a .POMDP file of a free problem: one action a question."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from seqclass.pomdp.files._free_layout import FreeLayout
from seqclass.pomdp.files._names import END, number
from seqclass.pomdp.files._scaling import scale


def free_lines(layout: FreeLayout, discount: float, endings: list[str], stops: list[str]) -> Iterator[str]:
    """Lines of the file; see `write_pomdp`."""
    problem, nodes = layout.problem, layout.nodes
    hidden = layout.hidden_names(endings)
    states = [[f"{node}_{ending}" for ending in hidden] for node in layout.names("s")]
    start = np.zeros(layout.n_nodes * layout.width + 1)
    start[: layout.width] = layout.start
    seen = "was asked" if nodes.by_set else "was asked and answered"
    yield f"# acquisition problem, any question next: what {seen} and class in the state;"
    yield "# rewards after k questions times discount^-k"
    yield f"# features of the questions: {' '.join(map(str, problem.features.tolist()))}"
    yield f"# what is not open: {number(layout.penalty)} (times the same), and the end, dearer than any decision"
    yield f"discount: {number(discount)}"
    yield "values: reward"
    yield f"states: {' '.join(name for node in states for name in node)} {END}"
    yield f"actions: {' '.join([*layout.actions, *stops])}"
    yield f"observations: {' '.join(f'o{v}' for v in range(layout.n_observations))}"
    yield f"start: {' '.join(map(number, start.tolist()))}"
    for stop in stops:
        yield f"T: {stop} : * : {END} 1.0"
        yield f"O: {stop} : * : o0 1.0"
    for question, action in enumerate(layout.actions):
        yield from _moves(layout, question, action, states)
        yield from _observations(layout, question, action, states)
    yield from _rewards(layout, discount, states, stops)


def _moves(layout: FreeLayout, question: int, action: str, states: list[list[str]]) -> Iterator[str]:
    nodes = layout.nodes
    yield f"T: {action} : {END} : {END} 1.0"
    for stage, level in enumerate(nodes.levels):
        first, following = layout.first[stage], layout.first[stage + 1]
        asks = np.zeros((len(level), layout.width), dtype=bool)
        if stage < layout.n_stages:
            # a class that cannot be there leads nowhere
            asks = level.open[:, question, None] & nodes.possible[stage]
            table = None if nodes.by_set else nodes.likelihood(question, level)
        for node, c in np.ndindex(asks.shape):
            name = states[first + node][c]
            if not asks[node, c]:
                yield f"T: {action} : {name} : {END} 1.0"
                continue
            after = nodes.following[stage][node, question].tolist()
            if table is None:
                yield f"T: {action} : {name} : {states[following + after[0]][c]} 1.0"
                continue
            for v in np.flatnonzero(table[node, :, c]).tolist():
                yield f"T: {action} : {name} : {states[following + after[v]][c]} {number(table[node, v, c])}"


def _observations(layout: FreeLayout, question: int, action: str, states: list[list[str]]) -> Iterator[str]:
    """The outcome: by class where a node is a set of questions, else what the node says was seen."""
    nodes, place = layout.nodes, 0
    yield f"O: {action} : {END} : o0 1.0"
    for level in nodes.levels:
        table = nodes.likelihood(question, level)[0] if nodes.by_set else None
        assert level.seen is not None  # of a free problem it always is
        for outcome in level.seen[:, question].tolist():
            for c, name in enumerate(states[place]):
                if outcome < 0 or table is None:  # never after another question, but the format wants a distribution
                    yield f"O: {action} : {name} : o{max(outcome, 0)} 1.0"
                    continue
                for v in np.flatnonzero(table[:, c]).tolist():
                    yield f"O: {action} : {name} : o{v} {number(table[v, c])}"
            place += 1


def _rewards(layout: FreeLayout, discount: float, states: list[list[str]], stops: list[str]) -> Iterator[str]:
    factors = scale(discount, layout.n_stages)
    place = 0
    for stage in range(layout.n_stages + 1):
        prices = (
            layout.nodes.prices[stage] if stage < layout.n_stages else np.full_like(layout.nodes.prices[-1], np.inf)
        )
        prices = np.where(np.isfinite(prices), prices, layout.penalty) * factors[stage]
        costs = layout.costs * factors[stage]
        for row in prices.tolist():
            for c, name in enumerate(states[place]):
                for action, price in zip(layout.actions, row):
                    if price:
                        yield f"R: {action} : {name} : * : * {number(-price)}"
                for j in np.flatnonzero(costs[c]).tolist():
                    yield f"R: {stops[j]} : {name} : * : * {number(-costs[c, j])}"
            place += 1
