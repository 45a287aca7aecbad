"""Histories that a policy meets first, and their folding into a graph: what goes on alike becomes one node."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass, field

import numpy as np

from seqclass._arrays import BoolArray, FloatArray, IntArray
from seqclass.pomdp import Policy
from seqclass.pomdp.answers import AllAnswers
from seqclass.pomdp.policy import DECIDE
from seqclass.pomdp.walk import Level, walk

#: A probability this much below a limit still meets it, so that rounding changes no graph.
_SLACK = 1 - 1e-9


@dataclass(frozen=True)
class Histories:
    """Histories of one stage, ``n`` rows.

    Attributes
    ----------
    parent : ndarray of int of shape (n,)
        Row of the stage before that each one goes on from.
    outcome : ndarray of int of shape (n,)
        What that one's feature showed, -1 where missing; at the first stage the number of the lot.
    mass : ndarray of shape (n,)
        Probability of the history.
    belief : ndarray of shape (n, n_classes)
        P(class | history).
    feature : ndarray of int of shape (n,)
        Feature that is asked for next, -1 to decide.
    decision : ndarray of int of shape (n,)
        The cheapest decision.
    price : ndarray of shape (n,)
        Price of the next feature.
    """

    parent: IntArray
    outcome: IntArray
    mass: FloatArray
    belief: FloatArray
    feature: IntArray
    decision: IntArray
    price: FloatArray


def explore(
    policy: Policy, max_depth: int, min_probability: float, missing: float, charge_missing: bool
) -> list[Histories]:
    """Follow a policy for at most ``max_depth`` features, histories below ``min_probability`` no further."""
    stages: list[Histories] = []
    info, mass = policy.begin()

    def ask(level: Level) -> IntArray:
        question = policy.act(level.info)
        parent, outcome = (level.parent, level.outcome) if stages else (np.zeros_like(level.parent), level.parent)
        price = np.full(len(question), np.nan)
        following = np.where(question == DECIDE, policy.following(level.info), question)
        known = following != DECIDE
        prices = np.broadcast_to(level.info.prices, (len(question), policy.problem.n_questions))
        price[known] = prices[known, following[known]]
        decision, feature = policy.decide(level.info.belief), question.copy()
        feature[question != DECIDE] = policy.problem.features[question[question != DECIDE]]
        stages.append(Histories(parent, outcome, level.weight, level.info.belief, feature, decision, price))
        go_on = (question != DECIDE) & (level.weight >= min_probability * _SLACK) & (level.stage < max_depth)
        return np.where(go_on, question, DECIDE)

    for _ in walk(info, mass, ask, AllAnswers(missing, charge_missing)):
        pass
    return stages


@dataclass
class Node:
    """A node of a decision graph.

    Attributes
    ----------
    kind : {"lots", "ask", "more", "rare", "decide"}
        What happens there.
    number : tuple of int
        Stage and feature of a question, or the decision.
    reach : float
        Probability of getting there.
    joint : ndarray of shape (n_classes,)
        P(getting there, class).
    prices : tuple of float
        Lowest and highest price of the feature.
    edges : dict of int to (int, float)
        Node that each outcome leads to, and the probability of going there, from the start.
    """

    kind: str
    number: tuple[int, ...]
    reach: float
    joint: FloatArray
    prices: tuple[float, float]
    edges: dict[int, tuple[int, float]] = field(default_factory=dict)


def fold(stages: list[Histories], min_probability: float) -> list[Node]:
    """Merge histories of a stage that go on alike, and all that end alike; the last node is the first of the graph.

    Two histories go on alike if they ask for the same feature and each outcome leads both to the same node.
    """
    followed = _followed(stages, min_probability)
    nodes = _Nodes(stages[0].belief.shape[1])
    below: dict[int, dict[int, tuple[int, float]]] = {}
    last = len(stages) - 1
    for k in range(last, -1, -1):
        stage = stages[k]
        here: dict[int, dict[int, tuple[int, float]]] = {}
        alive = np.arange(len(stage.mass)) if k == 0 else np.flatnonzero(followed[k - 1][stage.parent])
        for row in alive.tolist():
            node = nodes.add(_kind(stage, k, row, bool(followed[k][row]), min_probability), below.get(row, {}))
            nodes.weigh(node, float(stage.mass[row]), stage.belief[row], float(stage.price[row]))
            here.setdefault(int(stage.parent[row]), {})[int(stage.outcome[row])] = (node, float(stage.mass[row]))
        below = here
    if len(below[0]) > 1:
        root = nodes.add(("lots",), below[0])
        nodes.weigh(root, 1.0, (stages[0].mass[:, None] * stages[0].belief).sum(axis=0), np.nan)
    return nodes.found


def _followed(stages: list[Histories], min_probability: float) -> list[BoolArray]:
    """Rows of each stage whose answers are drawn: those with one that is not just rare."""
    result: list[BoolArray] = []
    for k, stage in enumerate(stages):
        on = np.zeros(len(stage.mass), dtype=bool)
        if k + 1 < len(stages):
            after = stages[k + 1]
            on[after.parent[(after.feature == DECIDE) | (after.mass >= min_probability * _SLACK)]] = True
            on &= (stage.feature != DECIDE) & (stage.mass >= min_probability * _SLACK)
        result.append(on if k == 0 else on & result[-1][stage.parent])
    return result


def _kind(stage: Histories, k: int, row: int, followed: bool, min_probability: float) -> tuple[str | int, ...]:
    feature = int(stage.feature[row])
    if feature == DECIDE:
        return ("decide", int(stage.decision[row]))
    if followed:
        return ("ask", k, feature)
    return ("more", k, feature) if stage.mass[row] >= min_probability * _SLACK else ("rare",)


class _Nodes:
    """Nodes by what happens from there on."""

    def __init__(self, n_classes: int) -> None:
        self.n_classes = n_classes
        self.found: list[Node] = []
        self._places: dict[Hashable, int] = {}

    def add(self, kind: tuple[str | int, ...], branches: dict[int, tuple[int, float]]) -> int:
        """Return the place of the node of that kind and those successors, and add the mass of its branches."""
        key = (kind, tuple((outcome, child) for outcome, (child, _) in branches.items()))
        place = self._places.setdefault(key, len(self.found))
        if place == len(self.found):
            number = tuple(int(part) for part in kind[1:])
            self.found.append(Node(str(kind[0]), number, 0.0, np.zeros(self.n_classes), (np.inf, -np.inf)))
        edges = self.found[place].edges
        for outcome, (child, mass) in branches.items():
            edges[outcome] = (child, edges.get(outcome, (child, 0.0))[1] + mass)
        return place

    def weigh(self, place: int, mass: float, belief: FloatArray, price: float) -> None:
        """Add one history to a node."""
        node = self.found[place]
        node.reach += mass
        node.joint = node.joint + mass * belief
        low, high = node.prices
        node.prices = (min(low, price), max(high, price))
