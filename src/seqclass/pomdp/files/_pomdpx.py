"""Writer of the POMDPX format, with the stage as a fully observed variable."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from seqclass._arrays import FloatArray
from seqclass.pomdp.files._layout import Layout
from seqclass.pomdp.files._names import ACQUIRE, END, labels, number, write_lines
from seqclass.pomdp.files._scaling import check_discount, scale
from seqclass.pomdp.problem import AcquisitionProblem

_HEAD = (
    '<?xml version="1.0" encoding="ISO-8859-1"?>\n'
    '<pomdpx version="1.0" id="acquisition" xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance" '
    'xsi:noNamespaceSchemaLocation="pomdpx.xsd">'
)


def write_pomdpx(
    problem: AcquisitionProblem,
    path: str | os.PathLike[str],
    *,
    discount: float = 0.999,
    n_stages: int | None = None,
    classes: Sequence[Any] | None = None,
    decisions: Sequence[Any] | None = None,
) -> None:
    """Write an acquisition problem as POMDPX, the format of SARSOP (APPL), with a fully observed stage.

    The stage (and context, where likelihoods have one) is a variable of its own that the solver sees, so that its
    alpha vectors are of the classes alone and each belongs to one stage: ten times faster for SARSOP than
    a flat state. Rewards are minus the costs, those of stage ``k`` multiplied by ``discount**-k``: the value at the
    start is then minus the *undiscounted* cost.

    Parameters
    ----------
    problem : AcquisitionProblem
        A problem with tables. Where prices have groups, the price written is the one paid if nothing is missing.
    path : path-like
        The file; it appears whole or not at all.
    discount : float
        Discount of the solver, above 0 and at most 1; SARSOP wants one below 1.
    n_stages : int, optional
        Horizon: leave out the features from here on.
    classes, decisions : sequences, optional
        Names of classes and decisions, made fit for the format; by default their numbers.

    Raises
    ------
    ValueError
        If the problem has no tables, or the discount cannot be undone over so many stages.
    OSError
        If the file cannot be written.

    See Also
    --------
    write_pomdp : Cassandra's format.
    read_policy : Reads what the solver answers.

    References
    ----------
    .. [1] S. C. W. Ong, S. W. Png, D. Hsu and W. S. Lee, "POMDPs for robotic tasks with mixed observability", RSS 2009.

    Examples
    --------
    >>> import os, tempfile
    >>> import xml.etree.ElementTree as ET
    >>> import numpy as np
    >>> from seqclass.pomdp import TableProblem
    >>> problem = TableProblem([0.5, 0.5], np.array([[[0.9, 0.2], [0.1, 0.8]]]), prices=0.1)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = os.path.join(folder, "problem.pomdpx")
    ...     write_pomdpx(problem, path, classes=["benign", "malignant"])
    ...     root = ET.parse(path).getroot()
    >>> [variable.findtext("ValueEnum") for variable in root.find("Variable")[:2]]
    ['k0 k1 end', 'c_benign c_malignant']
    """
    layout = Layout(problem, n_stages)
    discount = check_discount(discount, layout.n_stages)
    hidden = labels(classes, problem.n_classes, "classes", "c")
    stops = labels(decisions, problem.n_decisions, "decisions", "d")
    write_lines(path, _lines(layout, discount, hidden, stops))


def _lines(layout: Layout, discount: float, hidden: list[str], stops: list[str]) -> Iterator[str]:
    nodes = layout.names("k")
    yield _HEAD
    yield "<Description>acquisition problem: rewards of stage k are multiplied by discount^-k</Description>"
    yield f"<Discount>{number(discount)}</Discount>"
    yield "<Variable>"
    yield f'<StateVar vnamePrev="x_0" vnameCurr="x_1" fullyObs="true">{_values([*nodes, END])}</StateVar>'
    yield f'<StateVar vnamePrev="y_0" vnameCurr="y_1">{_values(hidden)}</StateVar>'
    yield f'<ObsVar vname="ob">{_values([f"o{v}" for v in range(layout.n_observations)])}</ObsVar>'
    yield f'<ActionVar vname="ac">{_values([ACQUIRE, *stops])}</ActionVar>'
    yield '<RewardVar vname="rw"/>'
    yield "</Variable>"
    yield "<InitialStateBelief>"
    yield from _table("x_0", "null", [_entry("-", np.eye(1, len(nodes) + 1)[0])])
    yield from _table("y_0", "null", [_entry("-", layout.problem.prior)])
    yield "</InitialStateBelief>"
    yield "<StateTransitionFunction>"
    yield from _table("x_1", "ac x_0 y_0" if layout.branching else "ac x_0", _moves(layout, nodes, hidden, stops))
    yield from _table("y_1", "ac y_0", [f"<Entry><Instance>* - -</Instance>{_probabilities('identity')}</Entry>"])
    yield "</StateTransitionFunction>"
    yield "<ObsFunction>"
    yield from _table("ob", "ac x_1 y_1", _observations(layout, nodes, hidden))
    yield "</ObsFunction>"
    yield "<RewardFunction>"
    yield from _table("rw", "ac x_0 y_0", _rewards(layout, discount, nodes, hidden, stops), "Func")
    yield "</RewardFunction>"
    yield "</pomdpx>"


def _values(names: list[str]) -> str:
    return f"<ValueEnum>{' '.join(names)}</ValueEnum>"


def _probabilities(text: str) -> str:
    return f"<ProbTable>{text}</ProbTable>"


def _entry(instance: str, row: FloatArray) -> str:
    return f"<Entry><Instance>{instance}</Instance>{_probabilities(' '.join(map(number, row.tolist())))}</Entry>"


def _table(variable: str, parents: str, entries: Iterator[str] | list[str], tag: str = "CondProb") -> Iterator[str]:
    yield f'<{tag}><Var>{variable}</Var><Parent>{parents}</Parent><Parameter type="TBL">'
    yield from entries
    yield f"</Parameter></{tag}>"


def _moves(layout: Layout, nodes: list[str], hidden: list[str], stops: list[str]) -> Iterator[str]:
    one, any_class = np.ones(1), " *" if layout.branching else ""
    for stop in stops:
        yield _entry(f"{stop} *{any_class} {END}", one)
    for name in [*nodes[layout.first[-2] :], END]:
        yield _entry(f"{ACQUIRE} {name}{any_class} {END}", one)
    for stage in range(layout.n_stages):
        first, following = int(layout.first[stage]), int(layout.first[stage + 1])
        if not layout.branching:
            yield _entry(f"{ACQUIRE} {nodes[first]} {nodes[following]}", one)
            continue
        table = layout.likelihood(stage)
        for node, v, c in zip(*(index.tolist() for index in np.nonzero(table))):
            after = nodes[following + layout.moves[stage][node, v]]
            yield _entry(f"{ACQUIRE} {nodes[first + node]} {hidden[c]} {after}", table[node, v, c : c + 1])


def _observations(layout: Layout, nodes: list[str], hidden: list[str]) -> Iterator[str]:
    # whole rows override the first entry, zeros included
    width = layout.n_observations
    yield _entry("* * * -", np.eye(1, width)[0])
    for stage in range(layout.n_stages):
        following = int(layout.first[stage + 1])
        if layout.branching:
            for node, v in enumerate(layout.outcomes[stage + 1].tolist()):
                yield _entry(f"{ACQUIRE} {nodes[following + node]} * -", np.eye(1, width, v)[0])
            continue
        table = layout.likelihood(stage)[0]
        for c, name in enumerate(hidden):
            row = np.append(table[:, c], np.zeros(width - len(table)))
            yield _entry(f"{ACQUIRE} {nodes[following]} {name} -", row)


def _rewards(layout: Layout, discount: float, nodes: list[str], hidden: list[str], stops: list[str]) -> Iterator[str]:
    problem = layout.problem
    prices = np.append(problem.prices[: layout.n_stages], layout.penalty)
    factors = scale(discount, layout.n_stages)
    for node, stage in enumerate(layout.stage_of.tolist()):
        if prices[stage]:
            yield _reward(f"{ACQUIRE} {nodes[node]} *", prices[stage] * factors[stage])
        for c, j in zip(*(index.tolist() for index in np.nonzero(problem.decision_costs))):
            yield _reward(f"{stops[j]} {nodes[node]} {hidden[c]}", problem.decision_costs[c, j] * factors[stage])


def _reward(instance: str, cost: float) -> str:
    return f"<Entry><Instance>{instance}</Instance><ValueTable>{number(-cost)}</ValueTable></Entry>"
