"""Writer of problems for other solvers; Cassandra's .POMDP format is worked out here."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from seqclass.pomdp.files._layout import END, Layout, check_discount, labels, layout_of, number, scale, write_lines
from seqclass.pomdp.files.pomdpx import pomdpx_lines
from seqclass.pomdp.needs import check_problem
from seqclass.pomdp.problem import AcquisitionProblem

__all__ = ["write_pomdp"]


def _head(layout: Layout, discount: float, states: list[list[str]], stops: list[str]) -> Iterator[str]:
    """What comes first: names, where a case starts, and that every decision ends it."""
    start = np.zeros(layout.n_nodes * layout.nodes.n_hidden + 1)
    start[: layout.nodes.n_hidden] = layout.start
    yield f"discount: {number(discount)}"
    yield "values: reward"
    yield f"states: {' '.join(name for node in states for name in node)} {END}"
    yield f"actions: {' '.join([*layout.actions, *stops])}"
    yield f"observations: {' '.join(f'o{v}' for v in range(layout.nodes.n_outcomes))}"
    yield f"start: {' '.join(map(number, start.tolist()))}"
    for stop in stops:
        yield f"T: {stop} : * : {END} 1.0"
        yield f"O: {stop} : * : o0 1.0"


def _lines(layout: Layout, discount: float, endings: list[str], stops: list[str]) -> Iterator[str]:
    """Lines of the file; see `write_pomdp`."""
    problem, nodes, discount = layout.problem, layout.nodes, check_discount(discount, layout.n_stages)
    hidden = layout.state_names_of(endings)
    states = [[f"{node}_{ending}" for ending in hidden] for node in layout.names("s")]
    if problem.any_order:
        seen = "was asked" if nodes.by_set else "was asked and answered"
        yield f"# acquisition problem, any question next: what {seen} and class in the state;"
        yield "# rewards after k questions times discount^-k"
        yield f"# features of the questions: {' '.join(map(str, problem.features.tolist()))}"
        yield f"# what is not open: {number(layout.penalty)} (times the same), and the end, dearer than any decision"
    else:
        yield "# acquisition problem: stage, class and context in the state; rewards of stage k times discount^-k"
        yield f"# features of the stages: {' '.join(map(str, problem.features[: layout.n_stages].tolist()))}"
    yield from _head(layout, discount, states, stops)
    for question, action in enumerate(layout.actions):
        yield from _moves(layout, question, action, states)
        yield from _observations(layout, question, action, states)
    yield from _rewards(layout, discount, states, stops)


def _moves(layout: Layout, question: int, action: str, states: list[list[str]]) -> Iterator[str]:
    nodes = layout.nodes
    yield f"T: {action} : {END} : {END} 1.0"
    for stage, (prices, possible) in enumerate(zip(nodes.prices, nodes.possible)):
        first, following = layout.nodes.first[stage], layout.nodes.first[stage + 1]
        # a class that cannot be there leads nowhere
        asks = np.isfinite(prices[:, question, None]) & possible
        table = nodes.table(question, stage) if asks.any() and not nodes.by_set else None
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


def _observations(layout: Layout, question: int, action: str, states: list[list[str]]) -> Iterator[str]:
    """The outcome: by class where a node does not tell it, else what the node says was seen."""
    nodes, place = layout.nodes, 0
    yield f"O: {action} : {END} : o0 1.0"
    for stage in range(layout.n_stages + 1):
        shown = nodes.outcomes_at(stage)[:, question]
        table = nodes.outcome_table(question, stage) if nodes.by_set and (shown >= 0).any() else None
        for outcome in shown.tolist():
            for c, name in enumerate(states[place]):
                if outcome < 0 or table is None:  # never after another question, but the format wants a distribution
                    yield f"O: {action} : {name} : o{max(outcome, 0)} 1.0"
                    continue
                for v in np.flatnonzero(table[:, c]).tolist():
                    yield f"O: {action} : {name} : o{v} {number(table[v, c])}"
            place += 1


def write_pomdp(
    problem: AcquisitionProblem,
    path: str | os.PathLike[str],
    *,
    discount: float | None = None,
    n_stages: int | None = None,
    classes: Sequence[Any] | None = None,
    decisions: Sequence[Any] | None = None,
) -> None:
    r"""Write an acquisition problem for other solvers: as POMDPX for a path ending in ``.pomdpx``, else as .POMDP.

    Cassandra's .POMDP format [1]_ is read by pomdp-solve, SARSOP and many others. POMDPX [2]_ is read by SARSOP (APPL),
    which is ten times faster on it: there the stage (and context) is an observed variable of its own, so that alpha
    vectors are over the classes alone and each belongs to one stage.

    In .POMDP the state is stage and class (and context, where likelihoods have one), with an absorbing end; only
    non-zero entries are written. Action 0 buys the next feature, and action ``j + 1`` is decision ``j``. Rewards are
    minus the costs, with those of stage ``k`` multiplied by ``discount**-k``: the value at the start is then minus the
    *undiscounted* cost, whatever the discount.

    With ``discount=1`` a solver of finite horizons needs ``n_stages + 1`` steps (``pomdp-solve -horizon 5`` for four
    features), in one run or in a chain of runs of one step each by ``-terminal_values``; with a discount below 1 the
    infinite horizon gives the same.

    A problem in any order, in which any question may come next, has an action for each question, ``ask0`` and so on,
    and then the decisions. The state holds the class or hidden state and which questions were asked; also the
    answers, if likelihoods depend on them, and the amount spent, if ``max_cost`` limits it. In POMDPX each question
    is an observed variable. Asking a question that is not open costs twice the most expensive decision. At most
    20,000 states can be written, such as twelve questions (eleven in POMDPX) that are independent given one of four
    classes.

    Parameters
    ----------
    problem : AcquisitionProblem
        A problem with tables, or a small free one. Where prices have groups, the price written is the one paid if
        nothing is missing.
    path : path-like
        The file; it appears whole or not at all.
    discount : float, optional
        Discount of the solver, above 0 and at most 1; by default 1 for .POMDP and .999 for POMDPX, as SARSOP wants one
        below 1.
    n_stages : int, optional
        Horizon: leave out the features from here on; in a problem in any order, ask so many questions at most.
    classes, decisions : sequences, optional
        Names of classes and decisions, made fit for the format; by default their numbers.

    Raises
    ------
    ValueError
        If the problem has no tables, or is free and has too many states, or the discount cannot be undone over so
        many stages.
    OSError
        If the file cannot be written.

    See Also
    --------
    read_policy : Reads what the solver answers.

    References
    ----------
    .. [1] A. R. Cassandra, "POMDP file format", https://www.pomdp.org/code/pomdp-file-spec.html.
    .. [2] S. C. W. Ong, S. W. Png, D. Hsu and W. S. Lee, "POMDPs for robotic tasks with mixed observability", RSS 2009.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> import numpy as np
    >>> from seqclass.pomdp import TableProblem
    >>> problem = TableProblem([0.5, 0.5], np.array([[[0.9, 0.2], [0.1, 0.8]]]), prices=0.1)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder, "problem.pomdp")
    ...     write_pomdp(problem, path)
    ...     text = path.read_text()
    >>> print(*text.splitlines()[2:8], sep="\n")
    discount: 1.0
    values: reward
    states: s0_0 s0_1 s1_0 s1_1 end
    actions: acq d0 d1
    observations: o0 o1
    start: 0.5 0.5 0.0 0.0 0.0
    """
    check_problem(problem)
    extended = Path(path).suffix.lower() == ".pomdpx"
    endings = labels(classes, problem.n_classes, "classes", "c" if extended else "")
    stops = labels(decisions, problem.n_decisions, "decisions", "d")
    if extended:
        lines = pomdpx_lines(problem, n_stages, 0.999 if discount is None else discount, endings, stops)
    else:
        lines = _lines(layout_of(problem, n_stages), 1.0 if discount is None else discount, endings, stops)
    write_lines(path, lines)


def _rewards(layout: Layout, discount: float, states: list[list[str]], stops: list[str]) -> Iterator[str]:
    factors = scale(discount, layout.n_stages)[layout.stage_of]
    prices = layout.ask_costs * factors[:, None]
    for names, price_of, factor in zip(states, prices.tolist(), factors.tolist()):
        costs = layout.nodes.costs * factor
        for c, name in enumerate(names):
            for action, price in zip(layout.actions, price_of):
                if price:
                    yield f"R: {action} : {name} : * : * {number(-price)}"
            for j in np.flatnonzero(costs[c]).tolist():
                yield f"R: {stops[j]} : {name} : * : * {number(-costs[c, j])}"
