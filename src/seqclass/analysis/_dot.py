"""A decision graph in the dot language: what is written into nodes and beside edges, and how it is quoted."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from seqclass.analysis._histories import Node

#: Colours of decisions, pale enough for black text: those of M. Okabe and K. Ito, mixed with white.
_FILLS = ("#99C6E0", "#EEBF99", "#99D8C7", "#EBC9DC", "#F5D999", "#BBE1F6", "#BFBFBF")
#: Of what is left out.
_GREY = 'color="#8C8C8C", fontcolor="#6E6E6E"'
#: Most characters of a line in a node, of the note beside an edge, and of a class label.
_LINE, _EDGE, _CLASS = 26, 30, 18
_INTERVAL = re.compile(r"\[(?P<low>[^,\[\]()]+), (?P<high>[^,\[\]()]+)\)|< (?P<below>[^,]+)|>= (?P<above>[^,]+)")
#: Characters that XML, and so SVG, cannot hold.
_UNWRITABLE = re.compile("[\x00-\x08\x0b-\x1f\x7f\ud800-\udfff\ufffe\uffff]")


@dataclass(frozen=True)
class Labels:
    """What things are called; what is not named is called by its number.

    Attributes
    ----------
    features, decisions, classes : mapping of int to str
        Names.
    outcomes : mapping of int to sequence of str
        Descriptions of the outcomes of features.
    priced : bool
        Whether prices are shown.
    """

    features: Mapping[int, Any]
    decisions: Mapping[int, Any]
    classes: Mapping[int, Any]
    outcomes: Mapping[int, Sequence[Any]]
    priced: bool

    def belief(self, joint: Any) -> str:
        """Write P(class) of a node: of the likelier of two classes, of the two likeliest of more."""
        share = np.asarray(joint) / joint.sum()
        index = np.argsort(-share.round(12), kind="stable")[: 1 if len(share) == 2 else 2].tolist()
        return "\n".join(f"{self._class(i)} {percent(float(share[i]))}" for i in index)

    def _class(self, number: int) -> str:
        """Name of a class; a number alone would be taken for a share."""
        label = self.classes.get(number, number)
        return cut(label if isinstance(label, str) else f"class {label}", _CLASS)

    def answers(self, feature: int, outcomes: Sequence[int]) -> str:
        """Write the outcomes that lead from one node to another."""
        names = self.outcomes.get(feature)
        seen = [str(o) if names is None else " ".join(str(names[o]).split()) for o in outcomes if o >= 0]
        text = join_labels(seen) + ["missing"] * (-1 in outcomes)
        shown = [text[0]]
        while len(shown) < len(text) and len(", ".join([*shown, text[len(shown)]])) <= _EDGE:
            shown.append(text[len(shown)])
        more = len(text) - len(shown)
        return ", ".join(cut(part, _EDGE) for part in shown) + (f"\nand {more} more" if more else "")


def write(nodes: list[Node], labels: Labels, note: str) -> str:
    """Write a graph, its first node first.

    Parameters
    ----------
    nodes : list of Node
        The nodes, the first one of the graph last.
    labels : Labels
        What things are called.
    note : str
        What to write under the graph, "" for nothing.

    Returns
    -------
    str
    """
    order = sorted(range(len(nodes)), key=lambda i: (_rank(nodes[i]), -round(nodes[i].reach, 12), i))
    name = {place: f"n{i}" for i, place in enumerate(order)}
    font = 'fontname="Helvetica,Arial,sans-serif"'
    lines = ["digraph policy {", "  rankdir=LR; nodesep=0.2; ranksep=0.5;"]
    lines += [f"  graph [{font}, fontsize=11];", f"  node [{font}, fontsize=12];", f"  edge [{font}, fontsize=10];"]
    if note:
        lines.append(f"  label={quote(note, 'l')}; labelloc=b; labeljust=l;")
    lines += [f"  {name[place]} [{_node(nodes[place], labels)}];" for place in order]
    for rank in sorted({_rank(node) for node in nodes}):  # a column for each stage, the ends in the last one
        column = " ".join(f"{name[place]};" for place in order if _rank(nodes[place]) == rank)
        lines.append(f"  {{rank={'max' if rank[0] == 2 else 'same'}; {column}}}")
    for place in order:
        lines += [f"  {name[place]} -> {name[child]} [{text}];" for child, text in _edges(nodes, nodes[place], labels)]
    return "\n".join([*lines, "}", ""])


def _rank(node: Node) -> tuple[int, int]:
    """Lots, then questions by stage, then the ends."""
    if node.kind == "lots":
        return (0, 0)
    return (1, node.number[0]) if node.kind in ("ask", "more") else (2, 0)


def _node(node: Node, labels: Labels) -> str:
    data = [f'kind={node.kind}, reach="{node.reach:.12g}"']
    data.append(f'posterior="{" ".join(f"{p:.6g}" for p in (node.joint / node.joint.sum()).tolist())}"')
    style, more = 'shape=box, style="rounded"', ""
    if node.kind == "decide":
        decision = node.number[0]
        text = f"decide {labels.decisions.get(decision, decision)}"
        style = f'shape=ellipse, style="filled", margin="0.02", fillcolor="{_FILLS[decision % len(_FILLS)]}"'
        data.append(f"decision={decision}")
    elif node.kind == "lots":
        text, style = "draw a lot", 'shape=box, style="rounded,filled", fillcolor="#EEEEEE"'
    elif node.kind == "rare":
        text, style = "rarer ways go on", f'shape=ellipse, style="dashed", margin="0.02", {_GREY}'
    else:
        low, high = node.prices
        text = f"ask {labels.features.get(node.number[1], f'feature {node.number[1]}')}"
        if labels.priced:
            text += f" for {low:.4g}" if low == high else f" for {low:.4g} to {high:.4g}"
        data.append(f'stage={node.number[0]}, feature={node.number[1]}, prices="{low:.12g} {high:.12g}"')
        if node.kind == "more":
            more, style = "\nand so on", 'shape=box, style="rounded,dashed"'
    body = f"{_wrap(text)}{more}\nreached {percent(node.reach)}\n{labels.belief(node.joint)}"
    return f"label={quote(body)}, {style}, {', '.join(data)}"


def _edges(nodes: list[Node], node: Node, labels: Labels) -> list[tuple[int, str]]:
    """Node at the end of each edge, and its attributes; outcomes that lead to the same node are one edge."""
    targets: dict[int, list[int]] = {}
    for outcome in sorted(node.edges, key=lambda o: (o < 0, o)):
        targets.setdefault(node.edges[outcome][0], []).append(outcome)
    total = sum(mass for _, mass in node.edges.values())
    result = []
    for child, seen in targets.items():
        mass = sum(node.edges[outcome][1] for outcome in seen)
        if node.kind == "lots":
            text = f"{'lot' if len(seen) == 1 else 'lots'} {', '.join(map(str, seen))}"
        else:
            text = labels.answers(node.number[1], seen)
        label = quote(f" {text}: {percent(mass / total)} ")
        look = f'penwidth="{0.6 + 3.4 * mass:.2f}"' + (', style="dashed"' if seen == [-1] else "")
        look += f", {_GREY}" if nodes[child].kind == "rare" else ""
        data = f'outcomes="{" ".join(map(str, seen))}", probability="{mass / total:.12g}"'
        result.append((child, f"label={label}, {look}, {data}"))
    return result


def join_labels(labels: Sequence[str]) -> list[str]:
    """Join descriptions of bins where one begins at the edge at which the one before it ends.

    Examples
    --------
    >>> join_labels(["< 1", "[1, 2)", "[3, 4)", ">= 4"]), join_labels(["red", "blue"])
    (['< 2', '>= 3'], ['red', 'blue'])
    >>> join_labels(["< 1", ">= 1"])
    ['any']
    """
    joined: list[tuple[str, str | None, str | None]] = []  # text, lower and upper edge
    for text in labels:
        found = _INTERVAL.fullmatch(text)
        low, high = (found["low"] or found["above"], found["high"] or found["below"]) if found else (None, None)
        if joined and low is not None and joined[-1][2] == low:
            low = joined.pop()[1]
            text = f"[{low}, {high})" if low and high else f"< {high}" if high else f">= {low}" if low else "any"
        joined.append((text, low, high))
    return [text for text, _, _ in joined]


def _wrap(text: str) -> str:
    """Break the text of a node into at most three lines."""
    text = " ".join(text.split())
    return "\n".join(textwrap.wrap(cut(text, 3 * _LINE - 6), _LINE)[:3])


def cut(text: object, width: int) -> str:
    """Cut a long text in the middle: names often differ at their ends.

    Examples
    --------
    >>> cut("worst concave points", 12)
    'worst…points'
    """
    whole = " ".join(str(text).split())
    if len(whole) <= width:
        return whole
    head = (width - 1) // 2
    return f"{whole[:head].rstrip()}…{whole[len(whole) - (width - 1 - head) :].lstrip()}"


def percent(share: float) -> str:
    """Write a share in per cent, with a digit more near the ends; nothing is called certain that is not.

    Examples
    --------
    >>> percent(0.5), percent(0.012), percent(0.0001), percent(0.98765), percent(1 - 1e-9)
    ('50%', '1.2%', '<0.1%', '98.8%', '>99.9%')
    """
    if 0 < share < 0.001:
        return "<0.1%"
    if 0.999 < share < 1 - 1e-12:
        return ">99.9%"
    return f"{100 * share:.1f}%" if share < 0.0995 or 0.95 <= share < 0.9995 else f"{100 * share:.0f}%"


def quote(text: str, line_end: str = "n") -> str:
    r"""Quote a label for the dot language: quotes, backslashes, line ends, and what looks like an entity.

    Characters that no XML file can hold become a question mark.

    Parameters
    ----------
    text : str
        The label.
    line_end : {"n", "l"}
        How lines end: ``"n"`` centres them, ``"l"`` puts them to the left.

    Returns
    -------
    str

    Examples
    --------
    >>> print(quote('a "b" & c'), quote("two\nlines", "l"))
    "a \"b\" &amp; c" "two\llines\l"
    """
    for plain, escaped in (("\\", "\\\\"), ('"', '\\"'), ("&", "&amp;"), ("\r", ""), ("\n", f"\\{line_end}")):
        text = text.replace(plain, escaped)
    end = "\\l" if line_end == "l" else ""
    return f'"{_UNWRITABLE.sub("?", text)}{end}"'
