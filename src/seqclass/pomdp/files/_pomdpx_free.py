"""Lines of a POMDPX file of a free problem: what was asked of each question is a fully observed variable."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from seqclass.pomdp.files._free_layout import FreeLayout
from seqclass.pomdp.files._names import number
from seqclass.pomdp.files._pomdpx_parts import HEAD, entry, probabilities, reward, table, values
from seqclass.pomdp.files._scaling import scale

_OPEN, _GOING, _ENDED = "open", "going", "ended"


def free_lines(layout: FreeLayout, discount: float, classes: list[str], stops: list[str]) -> Iterator[str]:
    """Lines of the file; see `write_pomdpx`."""
    by_set, n_questions = layout.nodes.by_set, len(layout.actions)
    hidden = layout.hidden_names(classes)
    shown = [["asked"] if by_set else [f"o{v}" for v in range(n)] for n in layout.problem.n_outcomes.tolist()]
    outcomes = [f"o{v}" for v in range(layout.n_observations if by_set else 1)]
    yield HEAD
    yield "<Description>acquisition problem, any question next: rewards after k questions are multiplied by"
    yield f"discount^-k; to ask what is not open costs {number(layout.penalty)}, dearer than any decision, times the"
    yield "same</Description>"
    yield f"<Discount>{number(discount)}</Discount>"
    yield "<Variable>"
    yield _observed("x", [_GOING, _ENDED])
    for question, names in enumerate(shown):
        yield _observed(f"q{question}", [_OPEN, *names])
    yield f'<StateVar vnamePrev="y_0" vnameCurr="y_1">{values(hidden)}</StateVar>'
    yield f'<ObsVar vname="ob">{values(outcomes)}</ObsVar>'
    yield f'<ActionVar vname="ac">{values([*layout.actions, *stops])}</ActionVar>'
    yield '<RewardVar vname="rw"/>'
    yield "</Variable>"
    yield "<InitialStateBelief>"
    yield from table("x_0", "null", [entry("-", np.eye(1, 2)[0])])
    for question, names in enumerate(shown):
        yield from table(f"q{question}_0", "null", [entry("-", np.eye(1, len(names) + 1)[0])])
    yield from table("y_0", "null", [entry("-", layout.start)])
    yield "</InitialStateBelief>"
    yield "<StateTransitionFunction>"
    yield from table("x_1", "ac x_0", _ends(layout, stops))
    for question in range(n_questions):
        moves = _flag_moves(layout, question, stops) if by_set else _answer_moves(layout, question, hidden, shown)
        yield from table(f"q{question}_1", " ".join(_parents(layout, question)), moves)
    yield from table("y_1", "ac y_0", [_stays("* - -")])
    yield "</StateTransitionFunction>"
    yield "<ObsFunction>"
    yield from table("ob", "ac y_1", _observations(layout, hidden, stops))
    yield "</ObsFunction>"
    yield "<RewardFunction>"
    flags = [f"q{question}_0" for question in range(n_questions)]
    yield from table(
        "rw", " ".join(["ac", "x_0", *flags, "y_0"]), _rewards(layout, discount, hidden, shown, stops), "Func"
    )
    yield "</RewardFunction>"
    yield "</pomdpx>"


def _observed(name: str, names: list[str]) -> str:
    return f'<StateVar vnamePrev="{name}_0" vnameCurr="{name}_1" fullyObs="true">{values(names)}</StateVar>'


def _stays(instance: str) -> str:
    return f"<Entry><Instance>{instance}</Instance>{probabilities('identity')}</Entry>"


def _ends(layout: FreeLayout, stops: list[str]) -> Iterator[str]:
    yield entry(f"* {_ENDED} {_ENDED}", np.ones(1))
    for action in layout.actions:
        yield entry(f"{action} {_GOING} {_GOING}", np.ones(1))
    for stop in stops:
        yield entry(f"{stop} {_GOING} {_ENDED}", np.ones(1))


def _parents(layout: FreeLayout, question: int) -> list[str]:
    """What the variable of a question depends on, its own last: what else was answered only where that matters."""
    own = f"q{question}_0"
    if layout.nodes.by_set:
        return ["ac", own]
    return ["ac", "y_0", *(f"q{other}_0" for other in range(len(layout.actions)) if other != question), own]


def _flag_moves(layout: FreeLayout, question: int, stops: list[str]) -> Iterator[str]:
    for action in [*layout.actions, *stops]:
        if action == layout.actions[question]:
            yield entry(f"{action} * asked", np.ones(1))
        else:
            yield _stays(f"{action} - -")


def _answer_moves(layout: FreeLayout, question: int, hidden: list[str], shown: list[list[str]]) -> Iterator[str]:
    """The answer, given the class and what else was answered; what was answered stays."""
    nodes, action = layout.nodes, layout.actions[question]
    # whole rows override the first entry, zeros included
    yield _stays(" ".join(["*", "*", *"*" * (len(shown) - 1), "- -"]))
    for stage in range(layout.n_stages):
        level = nodes.levels[stage]
        likelihood = nodes.likelihood(question, level)
        for node, c in zip(
            *(index.tolist() for index in np.nonzero(level.open[:, question, None] & nodes.possible[stage]))
        ):
            others = _values_of(layout, int(layout.first[stage]) + node, shown)
            del others[question]
            row = np.append(0.0, likelihood[node, :, c])
            yield entry(" ".join([action, hidden[c], *others, _OPEN, "-"]), row)


def _values_of(layout: FreeLayout, node: int, shown: list[list[str]]) -> list[str]:
    """Value of the observed variable of each question at a node."""
    return [[_OPEN, *names][value] for names, value in zip(shown, layout.flags[node].tolist())]


def _observations(layout: FreeLayout, hidden: list[str], stops: list[str]) -> Iterator[str]:
    """The outcome by class; where answers are observed variables there is nothing else to see."""
    if not layout.nodes.by_set:
        yield entry("* * -", np.ones(1))
        return
    width = layout.n_observations
    for question, action in enumerate(layout.actions):
        likelihood = layout.nodes.likelihood(question, layout.nodes.levels[0])[0]
        for c, name in enumerate(hidden):
            yield entry(f"{action} {name} -", np.append(likelihood[:, c], np.zeros(width - len(likelihood))))
    for stop in stops:
        yield entry(f"{stop} * -", np.eye(1, width)[0])


def _rewards(
    layout: FreeLayout, discount: float, hidden: list[str], shown: list[list[str]], stops: list[str]
) -> Iterator[str]:
    factors = scale(discount, layout.n_stages)
    prices = np.concatenate(layout.nodes.prices)
    prices = np.where(np.isfinite(prices), prices, layout.penalty)
    for node, stage in enumerate(layout.stage_of.tolist()):
        here = " ".join([_GOING, *_values_of(layout, node, shown)])
        for action, price in zip(layout.actions, prices[node].tolist()):
            if price:
                yield reward(f"{action} {here} *", price * factors[stage])
        for c, j in zip(*(index.tolist() for index in np.nonzero(layout.costs))):
            yield reward(f"{stops[j]} {here} {hidden[c]}", layout.costs[c, j] * factors[stage])
