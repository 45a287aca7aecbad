"""A policy's first steps as a decision graph, in the text form that Graphviz reads."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from typing import Any

import numpy as np

from seqclass._validation import check_integer, check_real
from seqclass.pomdp import Policy
from seqclass.pomdp.policy import DECIDE
from seqclass.pomdp.problem import InformationState

Names = Sequence[Any] | Mapping[int, Any] | None


def decision_graph(
    policy: Policy,
    *,
    max_depth: int = 4,
    min_probability: float = 0.01,
    names: Names = None,
    decisions: Names = None,
    outcomes: Mapping[int, Sequence[Any]] | None = None,
) -> str:
    r"""Draw a policy as a graph: boxes ask for a feature, edges are its outcomes, ellipses decide.

    Histories of the same stage are one node where the policy goes on alike from there, as far as the graph is drawn:
    same feature, and for each outcome the same node. All histories that end in the same decision are one node.
    Outcomes of a node that lead to the same node are one edge. Answers that are missing are not drawn. Beside its
    label, each node has ``kind`` (``ask``, ``decide``, ``more``, ``rare`` or ``lots``), ``reach`` (probability of
    getting there) and, where it applies, ``stage``, ``feature`` or ``decision``; each edge has ``outcomes`` (numbers,
    apart by blanks) and ``probability``.

    Parameters
    ----------
    policy : Policy
        The policy; of a fitted classifier ``policy_``.
    max_depth : int
        Most features on a way through the graph; where the policy would ask for more, a dashed box says so.
    min_probability : float
        Histories less probable than this are not followed: they end in a dashed node, "rare".
    names : sequence or mapping of int to str, optional
        Name of each feature of the problem; by default ``"feature 3"`` and so on.
    decisions : sequence or mapping of int to str, optional
        Label of each decision; of a fitted classifier ``decisions_``. By default their numbers.
    outcomes : mapping of int to sequence of str, optional
        Labels of the outcomes of some features; by default their numbers.

    Returns
    -------
    str
        A ``digraph`` in the dot language, for ``dot -Tsvg`` or any viewer of it.

    Raises
    ------
    ValueError
        If ``max_depth`` is not between 0 and 100, or ``min_probability`` not between 1e-4 and 1.

    Examples
    --------
    >>> import numpy as np
    >>> from seqclass.pomdp import GridValueIteration, TableProblem
    >>> problem = TableProblem([0.5, 0.5], np.array([[[0.9, 0.2], [0.1, 0.8]]]), prices=0.1)
    >>> text = decision_graph(GridValueIteration().solve(problem), names=["pulse"], decisions=["well", "ill"])
    >>> print("\n".join(line.split(", kind")[0] for line in text.splitlines() if "label=" in line))
      n0 [label="ask pulse\nreached 100%", shape=box
      n1 [label="decide well\nreached 55%", shape=ellipse
      n2 [label="decide ill\nreached 45%", shape=ellipse
      n0 -> n1 [label="0: 55%", outcomes="0", probability="0.55"];
      n0 -> n2 [label="1: 45%", outcomes="1", probability="0.45"];
    """
    check_integer(max_depth, "max_depth", 0, 100)
    check_real(min_probability, "min_probability", 1e-4, 1.0)
    graph = _Graph(policy, max_depth, min_probability)
    info, probability = policy.begin()
    roots = graph.grow(info, probability)
    if len(roots) > 1:
        graph.join(("lots",), dict(enumerate(zip(roots, probability.tolist()))), 1.0)
    return graph.dot(names, decisions, outcomes)


class _Graph:
    """Nodes by what happens from there on; a node's edges hold probability mass by outcome."""

    def __init__(self, policy: Policy, max_depth: int, min_probability: float) -> None:
        self.policy, self.max_depth, self.min_probability = policy, max_depth, min_probability
        self.numbers: dict[Hashable, int] = {}
        self.kinds: list[tuple[Any, ...]] = []
        self.reach: list[float] = []
        self.edges: list[dict[int, tuple[int, float]]] = []

    def join(self, kind: tuple[Any, ...], branches: dict[int, tuple[int, float]], mass: float) -> int:
        """Add mass to the node of that kind and those successors; return its number."""
        key = (kind, tuple((outcome, child) for outcome, (child, _) in branches.items()))
        number = self.numbers.setdefault(key, len(self.kinds))
        if number == len(self.kinds):
            self.kinds.append(kind)
            self.reach.append(0.0)
            self.edges.append({})
        self.reach[number] += mass
        for outcome, (child, share) in branches.items():
            self.edges[number][outcome] = (child, self.edges[number].get(outcome, (child, 0.0))[1] + share)
        return number

    def grow(self, info: InformationState, mass: Any) -> list[int]:
        """Return the node of each row; rows of one stage, each with its probability."""
        feature = self.policy.act(info)
        chosen = self.policy.decide(info.belief)
        followed = np.asarray(mass) >= self.min_probability
        on = np.flatnonzero(followed & (feature != DECIDE)) if info.stage < self.max_depth else np.empty(0, np.intp)
        branches: dict[int, dict[int, tuple[int, float]]] = {int(row): {} for row in on}
        if on.size:
            weight = info[on].predictive * np.asarray(mass)[on, None]
            parent, outcome = np.nonzero(weight > 0)
            share = weight[parent, outcome]
            children = self.grow(info[on].update(outcome, parent), share)
            for row, value, child, part in zip(on[parent].tolist(), outcome.tolist(), children, share.tolist()):
                branches[row][value] = (child, part)
        nodes = []
        for row, part in enumerate(np.asarray(mass).tolist()):
            asked = (info.stage, int(feature[row]))
            if not followed[row]:
                kind: tuple[Any, ...] = ("rare",)
            elif feature[row] == DECIDE:
                kind = ("decide", int(chosen[row]))
            else:
                kind = ("ask", *asked) if row in branches else ("more", *asked)
            nodes.append(self.join(kind, branches.get(row, {}), part))
        return nodes

    def dot(self, names: Names, decisions: Names, outcomes: Mapping[int, Sequence[Any]] | None) -> str:
        """Write the graph, the first node first."""
        order = sorted(range(len(self.kinds)), key=lambda node: (_rank(self.kinds[node]), -self.reach[node], node))
        number = {node: i for i, node in enumerate(order)}
        lines = ["digraph policy {", "  rankdir=TB;", '  node [fontname="sans-serif"];', '  edge [fontsize="10"];']
        for node in order:
            lines.append(f"  n{number[node]} [{self._node(node, names, decisions)}];")
        for node in order:
            targets: dict[int, list[int]] = {}
            for outcome, (child, _) in sorted(self.edges[node].items()):
                targets.setdefault(child, []).append(outcome)
            total = sum(share for _, share in self.edges[node].values())
            for child, seen in targets.items():
                probability = sum(self.edges[node][outcome][1] for outcome in seen) / total
                label = f"{', '.join(_outcome(self.kinds[node], o, outcomes) for o in seen)}: {percent(probability)}"
                what = f'outcomes="{" ".join(map(str, seen))}", probability="{probability:.12g}"'
                lines.append(f"  n{number[node]} -> n{number[child]} [label={quote(label)}, {what}];")
        return "\n".join([*lines, "}", ""])

    def _node(self, node: int, names: Names, decisions: Names) -> str:
        kind, reach = self.kinds[node], self.reach[node]
        more = f'kind={kind[0]}, reach="{reach:.12g}"'
        style = "shape=ellipse"
        if kind[0] == "decide":
            label, more = f"decide {_name(decisions, kind[1], '')}", f"{more}, decision={kind[1]}"
        elif kind[0] == "lots":
            label, style = "draw a lot", "shape=diamond"
        elif kind[0] == "rare":
            label, style = "rare", "shape=ellipse, style=dashed"
        else:
            label = f"ask {_name(names, kind[2], 'feature')}"
            style = "shape=box" if kind[0] == "ask" else "shape=box, style=dashed"
            label += "" if kind[0] == "ask" else ", and so on"
            more += f", stage={kind[1]}, feature={kind[2]}"
        return f"label={quote(f'{label}{chr(10)}reached {percent(reach)}')}, {style}, {more}"


def _rank(kind: tuple[Any, ...]) -> tuple[int, int]:
    """Lots, then questions by stage, then the ends."""
    if kind[0] == "lots":
        return (0, 0)
    return (1, kind[1]) if kind[0] in ("ask", "more") else (2, 0)


def _name(names: Names, index: int, what: str) -> str:
    if names is None or (isinstance(names, Mapping) and index not in names):
        return f"{what} {index}".lstrip()
    return str(names[index])


def _outcome(kind: tuple[Any, ...], outcome: int, outcomes: Mapping[int, Sequence[Any]] | None) -> str:
    if kind[0] == "lots" or outcomes is None or kind[2] not in outcomes:
        return str(outcome)
    return str(outcomes[kind[2]][outcome])


def percent(share: float) -> str:
    """Write a share in per cent, with a digit more where it is small.

    Examples
    --------
    >>> percent(0.5), percent(0.012), percent(0.0001)
    ('50%', '1.2%', '<0.1%')
    """
    if 0 < share < 0.001:
        return "<0.1%"
    return f"{100 * share:.1f}%" if share < 0.1 else f"{100 * share:.0f}%"


def quote(text: str) -> str:
    r"""Quote a label for the dot language: quotes, backslashes, line ends, and what looks like an entity.

    Examples
    --------
    >>> print(quote('a "b" & c'))
    "a \"b\" &amp; c"
    """
    for plain, escaped in (("\\", "\\\\"), ('"', '\\"'), ("&", "&amp;"), ("\r", ""), ("\n", "\\n")):
        text = text.replace(plain, escaped)
    return f'"{text}"'
