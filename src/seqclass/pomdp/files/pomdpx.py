"""Writer of the POMDPX format, with the stage as a fully observed variable."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import numpy as np

from seqclass._utils.arrays import FloatArray
from seqclass.pomdp.files._layout import (
    ACQUIRE,
    END,
    FreeLayout,
    Layout,
    StageLayout,
    check_discount,
    number,
    scale,
)
from seqclass.pomdp.problem import AcquisitionProblem

_HEAD = (
    '<?xml version="1.0" encoding="ISO-8859-1"?>\n'
    '<pomdpx version="1.0" id="acquisition" xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance" '
    'xsi:noNamespaceSchemaLocation="pomdpx.xsd">'
)


def _values(names: list[str]) -> str:
    return f"<ValueEnum>{' '.join(names)}</ValueEnum>"


def _probabilities(text: str) -> str:
    return f"<ProbTable>{text}</ProbTable>"


def _entry(instance: str, row: FloatArray) -> str:
    return f"<Entry><Instance>{instance}</Instance>{_probabilities(' '.join(map(number, row.tolist())))}</Entry>"


def _table(variable: str, parents: str, entries: Iterable[str], tag: str = "CondProb") -> Iterator[str]:
    yield f'<{tag}><Var>{variable}</Var><Parent>{parents}</Parent><Parameter type="TBL">'
    yield from entries
    yield f"</Parameter></{tag}>"


def _reward(instance: str, cost: float) -> str:
    return f"<Entry><Instance>{instance}</Instance><ValueTable>{number(-cost)}</ValueTable></Entry>"


_OPEN, _GOING, _ENDED = "open", "going", "ended"


def _document(
    layout: Layout,
    discount: float,
    description: Iterable[str],
    observed: dict[str, list[str]],
    hidden: list[str],
    outcomes: list[str],
    stops: list[str],
    *,
    moves: Iterable[tuple[str, str, Iterable[str]]],
    seen: tuple[str, Iterable[str]],
    rewards: tuple[str, Iterable[str]],
) -> Iterator[str]:
    """Lines of a file with such observed variables, by name, from tables of their moves, of what is seen and costs."""
    yield _HEAD
    yield from description
    yield f"<Discount>{number(discount)}</Discount>"
    yield "<Variable>"
    for name, values in observed.items():
        yield f'<StateVar vnamePrev="{name}_0" vnameCurr="{name}_1" fullyObs="true">{_values(values)}</StateVar>'
    yield f'<StateVar vnamePrev="y_0" vnameCurr="y_1">{_values(hidden)}</StateVar>'
    yield f'<ObsVar vname="ob">{_values(outcomes)}</ObsVar>'
    yield f'<ActionVar vname="ac">{_values([*layout.actions, *stops])}</ActionVar>'
    yield '<RewardVar vname="rw"/>'
    yield "</Variable>"
    yield "<InitialStateBelief>"
    for name, values in observed.items():
        yield from _table(f"{name}_0", "null", [_entry("-", np.eye(1, len(values))[0])])
    yield from _table("y_0", "null", [_entry("-", layout.start)])
    yield "</InitialStateBelief>"
    yield "<StateTransitionFunction>"
    for variable, parents, entries in moves:
        yield from _table(f"{variable}_1", parents, entries)
    yield from _table("y_1", "ac y_0", [_stays("* - -")])
    yield "</StateTransitionFunction>"
    yield "<ObsFunction>"
    yield from _table("ob", *seen)
    yield "</ObsFunction>"
    yield "<RewardFunction>"
    yield from _table("rw", *rewards, "Func")
    yield "</RewardFunction>"
    yield "</pomdpx>"


def _free_lines(layout: FreeLayout, discount: float, classes: list[str], stops: list[str]) -> Iterator[str]:
    """Lines of the file of a problem in any order; see `write_pomdp`."""
    discount = check_discount(discount, layout.n_stages)
    by_set, hidden = layout.nodes.by_set, layout.state_names_of(classes)
    shown = [["asked"] if by_set else [f"o{v}" for v in range(n)] for n in layout.problem.n_outcomes.tolist()]
    description = (
        "<Description>acquisition problem, any question next: rewards after k questions are multiplied by",
        f"discount^-k; to ask what is not open costs {number(layout.penalty)}, dearer than any decision, times the",
        "same</Description>",
    )
    flags = [f"q{question}" for question in range(len(layout.actions))]
    moves = [("x", "ac x_0", _ends(layout, stops))]
    for question, flag in enumerate(flags):
        answers = _flag_moves(layout, question, stops) if by_set else _answer_moves(layout, question, hidden, shown)
        moves.append((flag, " ".join(_parents(layout, question)), answers))
    nodes = [" ".join([_GOING, *_values_of(layout, node, shown)]) for node in range(layout.n_nodes)]
    yield from _document(
        layout,
        discount,
        description,
        {"x": [_GOING, _ENDED]} | {flag: [_OPEN, *names] for flag, names in zip(flags, shown)},
        hidden,
        [f"o{v}" for v in range(layout.nodes.n_outcomes if by_set else 1)],
        stops,
        moves=moves,
        seen=("ac y_1", _free_observations(layout, hidden, stops)),
        rewards=(
            " ".join(["ac", "x_0", *(f"{flag}_0" for flag in flags), "y_0"]),
            _rewards(layout, discount, nodes, hidden, stops),
        ),
    )


def _stays(instance: str) -> str:
    return f"<Entry><Instance>{instance}</Instance>{_probabilities('identity')}</Entry>"


def _ends(layout: FreeLayout, stops: list[str]) -> Iterator[str]:
    yield _entry(f"* {_ENDED} {_ENDED}", np.ones(1))
    for action in layout.actions:
        yield _entry(f"{action} {_GOING} {_GOING}", np.ones(1))
    for stop in stops:
        yield _entry(f"{stop} {_GOING} {_ENDED}", np.ones(1))


def _parents(layout: FreeLayout, question: int) -> list[str]:
    """What the variable of a question depends on, its own last: what else was answered only where that matters."""
    own = f"q{question}_0"
    if layout.nodes.by_set:
        return ["ac", own]
    return ["ac", "y_0", *(f"q{other}_0" for other in range(len(layout.actions)) if other != question), own]


def _flag_moves(layout: FreeLayout, question: int, stops: list[str]) -> Iterator[str]:
    for action in [*layout.actions, *stops]:
        if action == layout.actions[question]:
            yield _entry(f"{action} * asked", np.ones(1))
        else:
            yield _stays(f"{action} - -")


def _answer_moves(layout: FreeLayout, question: int, hidden: list[str], shown: list[list[str]]) -> Iterator[str]:
    """The answer, given the class and what else was answered; what was answered stays."""
    nodes, action = layout.nodes, layout.actions[question]
    # whole rows override the first entry, zeros included
    yield _stays(" ".join(["*", "*", *"*" * (len(shown) - 1), "- -"]))
    for stage in range(layout.n_stages):
        likelihood = nodes.table(question, stage)
        asks = np.isfinite(nodes.prices[stage][:, question, None]) & nodes.possible[stage]
        for node, c in zip(*(index.tolist() for index in np.nonzero(asks))):
            others = _values_of(layout, int(layout.nodes.first[stage]) + node, shown)
            del others[question]
            row = np.append(0.0, likelihood[node, :, c])
            yield _entry(" ".join([action, hidden[c], *others, _OPEN, "-"]), row)


def _values_of(layout: FreeLayout, node: int, shown: list[list[str]]) -> list[str]:
    """Value of the observed variable of each question at a node."""
    return [[_OPEN, *names][value] for names, value in zip(shown, layout.flags[node].tolist())]


def _free_observations(layout: FreeLayout, hidden: list[str], stops: list[str]) -> Iterator[str]:
    """The outcome by class; where answers are observed variables there is nothing else to see."""
    if not layout.nodes.by_set:
        yield _entry("* * -", np.ones(1))
        return
    width = layout.nodes.n_outcomes
    for question, action in enumerate(layout.actions):
        likelihood = layout.nodes.table(question, 0, 0)[0]
        for c, name in enumerate(hidden):
            yield _entry(f"{action} {name} -", np.append(likelihood[:, c], np.zeros(width - len(likelihood))))
    for stop in stops:
        yield _entry(f"{stop} * -", np.eye(1, width)[0])


def pomdpx_lines(
    problem: AcquisitionProblem, n_stages: int | None, discount: float, hidden: list[str], stops: list[str]
) -> Iterator[str]:
    """Lines of the file of a problem; see `write_pomdp`."""
    if not problem.any_order:
        return _lines(StageLayout(problem, n_stages), discount, hidden, stops)
    layout = FreeLayout(problem, n_stages)
    layout.check_observed()
    return _free_lines(layout, discount, hidden, stops)


def _lines(layout: StageLayout, discount: float, hidden: list[str], stops: list[str]) -> Iterator[str]:
    nodes, discount = layout.names("k"), check_discount(discount, layout.n_stages)
    description = "<Description>acquisition problem: rewards of stage k are multiplied by discount^-k</Description>"
    yield from _document(
        layout,
        discount,
        [description],
        {"x": [*nodes, END]},
        hidden,
        [f"o{v}" for v in range(layout.nodes.n_outcomes)],
        stops,
        moves=[("x", "ac x_0" if layout.nodes.by_set else "ac x_0 y_0", _moves(layout, nodes, hidden, stops))],
        seen=("ac x_1 y_1", _observations(layout, nodes, hidden)),
        rewards=("ac x_0 y_0", _rewards(layout, discount, nodes, hidden, stops)),
    )


def _moves(layout: StageLayout, nodes: list[str], hidden: list[str], stops: list[str]) -> Iterator[str]:
    one, any_class = np.ones(1), "" if layout.nodes.by_set else " *"
    for stop in stops:
        yield _entry(f"{stop} *{any_class} {END}", one)
    for name in [*nodes[layout.nodes.first[-2] :], END]:
        yield _entry(f"{ACQUIRE} {name}{any_class} {END}", one)
    for stage in range(layout.n_stages):
        first, following = int(layout.nodes.first[stage]), int(layout.nodes.first[stage + 1])
        if layout.nodes.by_set:
            yield _entry(f"{ACQUIRE} {nodes[first]} {nodes[following]}", one)
            continue
        table = layout.nodes.table(0, stage)
        for node, v, c in zip(*(index.tolist() for index in np.nonzero(table))):
            after = nodes[following + layout.nodes.following[stage][node, 0, v]]
            yield _entry(f"{ACQUIRE} {nodes[first + node]} {hidden[c]} {after}", table[node, v, c : c + 1])


def _observations(layout: StageLayout, nodes: list[str], hidden: list[str]) -> Iterator[str]:
    # whole rows override the first entry, zeros included
    width = layout.nodes.n_outcomes
    yield _entry("* * * -", np.eye(1, width)[0])
    for stage in range(layout.n_stages):
        following = int(layout.nodes.first[stage + 1])
        if not layout.nodes.by_set:
            for node, v in enumerate(layout.nodes.outcomes[stage + 1].tolist()):
                yield _entry(f"{ACQUIRE} {nodes[following + node]} * -", np.eye(1, width, v)[0])
            continue
        table = layout.nodes.table(0, stage)[0]
        for c, name in enumerate(hidden):
            row = np.append(table[:, c], np.zeros(width - len(table)))
            yield _entry(f"{ACQUIRE} {nodes[following]} {name} -", row)


def _rewards(layout: Layout, discount: float, nodes: list[str], hidden: list[str], stops: list[str]) -> Iterator[str]:
    """Costs of all actions, where the observed variables have the values of each node."""
    prices, factors = layout.ask_costs, scale(discount, layout.n_stages)[layout.stage_of]
    for name, price_of, factor in zip(nodes, prices.tolist(), factors.tolist()):
        for action, price in zip(layout.actions, price_of):
            if price:
                yield _reward(f"{action} {name} *", price * factor)
        for c, j in zip(*(index.tolist() for index in np.nonzero(layout.nodes.costs))):
            yield _reward(f"{stops[j]} {name} {hidden[c]}", layout.nodes.costs[c, j] * factor)
