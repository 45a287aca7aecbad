"""A policy as the graph of all cases that it can meet, each with what a session would say there."""

from __future__ import annotations

from typing import Any

import numpy as np

from seqclass._arrays import FloatArray, IntArray, chunks
from seqclass._knowing import WarmStart
from seqclass.classifier import SequentialClassifier
from seqclass.pomdp import DECIDE
from seqclass.pomdp.answers import AllAnswers
from seqclass.pomdp.information import InformationState
from seqclass.pomdp.walk import Fork, Level, walk
from seqclass.session import expected_saving

#: Share of answers that are missing, in the probability of a case.
MISSING = 0.05
#: Questions that are told of each node, the asked one among them.
BEST = 3


def graph(clf: SequentialClassifier, max_nodes: int, min_probability: float) -> dict[str, Any]:
    """Nodes of the graph, the first one first; a ValueError where there are too many."""
    maker = _Maker(clf, max_nodes, min_probability)
    start = maker.warm.info
    for _ in walk(start, np.ones(1), maker.ask, AllAnswers(MISSING, clf.charge_missing)):
        pass
    return {"kind": "graph", "cut": maker.cut, "nodes": maker.nodes}


class _Maker:
    """Makes the nodes level by level; cases of the same answers, in whatever order, are one."""

    def __init__(self, clf: SequentialClassifier, max_nodes: int, min_probability: float) -> None:
        n = clf.n_features_in_
        nothing = np.empty(0, dtype=np.intp)
        self.policy, self.max_nodes, self.least = clf.policy_, max_nodes, min_probability
        self.warm = WarmStart(clf, nothing, np.zeros((1, n), dtype=np.intp), np.arange(n), np.zeros(1, dtype=np.intp))
        self.n_outcomes = self.warm.info.problem.n_outcomes
        self.nodes: list[dict[str, Any]] = []
        self.cut = 0.0
        self._above: IntArray = np.empty(0, dtype=np.intp)

    def ask(self, level: Level) -> Fork:
        info = level.info
        first, same = _distinct(level.info, self.policy.problem.max_cost is not None)
        weight = np.bincount(same, level.weight)
        if len(self.nodes) + len(first) > self.max_nodes:
            raise ValueError(
                f"as a graph this policy has more than max_nodes={self.max_nodes} nodes, each a case that it can meet: "
                "raise the limit, cut rare cases by min_probability (say 0.001), raise prices, or fit fewer features; "
                "with naive Bayes and a fixed order no graph is needed."
            )
        question, saving = np.full(len(info), DECIDE), np.full(len(info), np.nan)
        for rows, view in self.warm.see(level):
            question[rows] = self.policy.act(view)
            on = np.flatnonzero(question[rows] != DECIDE)
            if on.size:
                saving[rows[on]] = expected_saving(self.policy, view[on])
        number = len(self.nodes) + same
        self._link(level, number)
        asked = question[first]
        on = (asked != DECIDE) & ((weight >= self.least) | (level.stage == 0))
        self.cut += float(weight[(asked != DECIDE) & ~on].sum())
        self._add(level, first, np.where(on, asked, DECIDE), saving[first], cut=(asked != DECIDE) & ~on)
        self._above = number
        return Fork(first[on], asked[on], weight[on])

    def _link(self, level: Level, number: IntArray) -> None:
        """Tell the nodes above where their outcomes lead."""
        if not len(self._above):
            return
        for parent, outcome, child in zip(level.parent.tolist(), level.outcome.tolist(), number.tolist()):
            node = self.nodes[int(self._above[parent])]
            if outcome < 0:
                node["missing"] = child
            else:
                node["next"][outcome] = child

    def _add(self, level: Level, first: IntArray, asked: IntArray, saving: FloatArray, cut: Any) -> None:
        info = level.info
        decision, cost = self.policy.decide(info.belief[first]), info.stopping_cost[first]
        belief = info.belief[first].tolist()
        told = [{"decision": int(d), "cost_now": float(c), "belief": b} for d, c, b in zip(decision, cost, belief)]
        for place in np.flatnonzero(cut).tolist():
            told[place]["cut"] = True
        on = np.flatnonzero(asked != DECIDE)
        for part in chunks(len(on), 32.0 * info.problem.n_questions * float(self.n_outcomes.max(initial=1))):
            some = on[part]
            view = info[first[some]]
            prices = np.broadcast_to(view.prices, (len(some), info.problem.n_questions))
            once = view.stopping_cost[:, None] - view.costs_once
            for row, place in enumerate(some.tolist()):
                told[place] |= self._question(int(asked[place]), float(saving[place]), prices[row], once[row])
        self.nodes += told

    def _question(self, asked: int, saving: float, prices: FloatArray, once: FloatArray) -> dict[str, Any]:
        """What a node asks, and the other questions that promise most."""
        others = [q for q in np.argsort(-once, kind="stable")[: BEST + 1].tolist() if q != asked and once[q] > -np.inf]
        own = None if np.isnan(saving) else saving
        best = [[q, float(prices[q]), float(once[q])] for q in others[: BEST - 1]]
        return {
            "ask": asked,
            "price": float(prices[asked]),
            "saving": own,
            "others": best,
            "next": [None] * int(self.n_outcomes[asked]),
            "missing": None,
        }


def _distinct(info: InformationState, spent: bool) -> tuple[IntArray, IntArray]:
    """First row of each distinct set of answers, told apart by what was spent, too, and which of them each row is."""
    assert info.seen is not None  # the problem of the facts is free
    key: Any = np.column_stack([info.seen, np.round(info.spent, 9)]) if spent else info.seen
    _, first, same = np.unique(key, axis=0, return_index=True, return_inverse=True)
    return first, same.reshape(-1)
