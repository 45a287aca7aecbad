"""The beliefs that a policy meets, as a tree: what it asks, how likely, what is believed there and what it costs."""

from __future__ import annotations

from typing import Any

import numpy as np

from seqclass._base import BaseSequentialClassifier
from seqclass._utils.text import digits_text, wrap
from seqclass.agent.agent import agent_of
from seqclass.analysis.decision_graph import Node, edge_text, graph_of, node_text, percent, targets_of, write
from seqclass.classifier import SequentialClassifier
from seqclass.plots._style import (
    NEUTRAL,
    MultiAxesDisplay,
    belief_bars,
    colour,
    draw,
    draw_outline,
    in_unit,
    legend_below,
    outline_inches,
    prepare_rows,
    shorten,
)
from seqclass.pomdp import Policy


class PolicyTreeDisplay(MultiAxesDisplay):
    r"""A policy as a tree from top to bottom: each row is a question, or a decision, below the question before it.

    Left: the answer that leads to it, what is done there, and the share of all cases that get there. Middle: what is
    believed there. Right: what is expected to be paid and lost from there on. Answers to a question after which all
    ends alike share a row. Make one with `from_policy` or `from_estimator`; `to_dot` is the same for Graphviz.

    Parameters
    ----------
    policy : Policy or SequentialClassifier
        A policy, or a fitted classifier, whose names, bins and labels are then shown.
    max_depth : int
        Most questions on a way through the tree.
    min_probability : float
        Ways that a smaller share of cases goes are not followed further.
    max_nodes : int
        Most rows; ``min_probability`` is raised until there are no more. What is cut is dashed, and a line below says
        how many cases that concerns.

    Attributes
    ----------
    beliefs : ndarray of shape (n_nodes, n_classes)
        P(class) at each row.
    share, cost : ndarray of shape (n_nodes,)
        Probability of getting there, and expected cost from there on: exact if there are few histories, else simulated.
    labels : list of str
        What is written at each row.
    ax_ : ndarray of matplotlib Axes of shape (3,)
        Tree, beliefs and costs.
    figure_ : matplotlib Figure
        The figure.

    Raises
    ------
    TypeError
        If ``policy`` is neither a policy nor a sequential classifier.
    ValueError
        If a limit is out of bounds, as of `seqclass.analysis.decision_graph`.

    Examples
    --------
    >>> import numpy as np
    >>> from seqclass.pomdp import GridValueIteration, TableProblem, with_names
    >>> problem = TableProblem([0.5, 0.5], np.array([[[0.9, 0.2], [0.1, 0.8]]]), prices=0.1)
    >>> problem = with_names(problem, ["test"], outcomes=[["+", "-"]], classes=["ill", "well"])
    >>> display = PolicyTreeDisplay.from_policy(GridValueIteration().solve(problem))
    >>> print("\n".join(display.labels), display.cost.round(3))
    ask test, 100%
    +: decide ill, 55%
    -: decide well, 45% [0.25  0.182 0.111]
    >>> display.to_dot().partition("{")[0]
    'digraph policy '
    >>> import matplotlib.pyplot as plt
    >>> plt.close(display.figure_)
    """

    _needed = "three axes: for the tree, the beliefs and the costs"

    def __init__(
        self,
        policy: Policy | SequentialClassifier,
        *,
        max_depth: int = 4,
        min_probability: float = 0.01,
        max_nodes: int = 40,
    ) -> None:
        self._graph = graph_of(policy, (max_depth, min_probability, max_nodes), merge=False, costs=True)
        nodes, words, note = self._graph
        self._rows, self._nodes, below = list[tuple[int, int, str]](), list[Node](), [(len(nodes) - 1, "", -1, 0)]
        while below:  # the first answer comes first
            place, answer, parent, depth = below.pop()
            node, row = nodes[place], len(self._nodes)
            what = shorten(node_text(node, words), 44) + (" and so on" if node.kind == "more" else "")
            self._rows.append((parent, depth, f"{answer}{what}, {percent(node.reach)}"))
            self._nodes.append(node)
            for child, outcomes in reversed(targets_of(node).items()):
                seen = edge_text(node, outcomes, words).replace("\n", " ")
                below.append((child, f"{seen}: ", row, depth + 1))
        self.labels = [label for *_, label in self._rows]
        self.share = np.array([node.reach for node in self._nodes])
        self.beliefs = np.array([node.joint / node.joint.sum() for node in self._nodes])
        self.cost = np.array([node.cost for node in self._nodes]) / self.share
        self.classes = [words.classes[i] for i in range(self.beliefs.shape[1])]
        self.unit = agent_of(policy).unit if isinstance(policy, BaseSequentialClassifier) else ""
        self.note = note.replace("nodes: ", "lines: ", 1)
        self._width = outline_inches(self._rows)
        self._grid = {"nrows": 1, "ncols": 3, "sharey": True, "width_ratios": (self._width, 1.9, 1.6)}
        self._legend_columns = max(1, int(self._inches()[0] / 2.3))

    @classmethod
    def from_policy(cls, policy: Policy | SequentialClassifier, **settings: Any) -> PolicyTreeDisplay:
        """Draw a policy.

        Parameters
        ----------
        policy : Policy or SequentialClassifier
            The policy.
        **settings
            ``ax`` and ``title`` as of `plot`, all others as of `PolicyTreeDisplay`.

        Returns
        -------
        PolicyTreeDisplay
        """
        return draw(cls, policy, **settings)

    #: A classifier is drawn as its policy is, in its own words.
    from_estimator = from_policy

    def to_dot(self) -> str:
        """Return the tree in the text form that Graphviz reads; see `seqclass.analysis.decision_graph`.

        Returns
        -------
        str
        """
        return write(*self._graph)

    def _inches(self) -> tuple[float, float]:
        return self._width + 4.2, 1.5 + 0.27 * len(self.labels) + 0.16 * len(self._note_lines())

    def _note_lines(self) -> list[str]:
        return wrap(self.note.replace("\n", " "), int(self._width / 0.07)).splitlines() if self.note else []

    def _legends(self) -> None:
        legend_below(self.ax_[1])

    def _draw(self, left: Any, middle: Any, right: Any) -> None:
        n = len(self.labels)
        prepare_rows((left, middle, right), n)
        cut = [row for row, node in enumerate(self._nodes) if node.kind in ("more", "rare")]
        draw_outline(left, self._rows, cut)
        for row, (node, (_, x, _)) in enumerate(zip(self._nodes, self._rows)):
            marker, paint = ("o", colour(node.number[0])) if node.kind == "decide" else ("s", "black")
            left.plot([x], [row], marker, markersize=6.5, color=paint, fillstyle="none" if row in cut else "full")
        if self.note:
            left.text(0.0, n - 0.4, "\n".join(self._note_lines()), va="top", fontsize=8, color=NEUTRAL)
        belief_bars(middle, range(n), self.beliefs, self.classes, np.zeros(len(self.classes), dtype=bool))
        middle.spines["left"].set_visible(False)
        middle.set_xticks([0.0, 0.5, 1.0])
        right.barh(range(n), self.cost, color=NEUTRAL, height=0.5)
        largest = float(self.cost.max()) or 1.0
        for row, cost in enumerate(self.cost.tolist()):
            right.text(cost + 0.04 * largest, row, digits_text(cost), va="center", fontsize=8)
        right.set_xlim(0.0, 1.45 * largest)
        right.xaxis.get_major_locator().set_params(nbins=3)
        right.set_xlabel(in_unit("expected cost\nfrom here", self.unit))
