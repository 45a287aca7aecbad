"""A policy as the graph of all cases that it can meet, each with what a session would say there."""

from __future__ import annotations

from typing import Any

import numpy as np

from seqclass._shell import DecidingClassifier
from seqclass._utils.arrays import BoolArray, FloatArray, IntArray, chunks
from seqclass.deciding._warm_start import WarmStart
from seqclass.deciding.decider import decider_of
from seqclass.deciding.session import expected_saving
from seqclass.pomdp import DECIDE
from seqclass.pomdp.answers import AllAnswers
from seqclass.pomdp.problem import InformationState
from seqclass.pomdp.walk import Level, walk

#: Share of answers that are missing, in the probability of a case.
MISSING = 0.05
#: Questions that are told of each node, the asked one among them.
BEST = 3


def graph(clf: DecidingClassifier, max_nodes: int, min_probability: float) -> dict[str, Any]:
    """Nodes of the graph, the first one first; a ValueError where there are too many."""
    maker = _Maker(clf, max_nodes, min_probability)
    start = maker.warm.info
    for _ in walk(start, np.ones(1), maker.ask, AllAnswers(MISSING, clf.charge_missing)):
        pass
    return {"kind": "graph", "cut": maker.cut, "nodes": maker.nodes}


class _Maker:
    """Makes the nodes level by level, each linked to the one above it."""

    def __init__(self, clf: DecidingClassifier, max_nodes: int, min_probability: float) -> None:
        n = clf.n_features_in_
        nothing = np.empty(0, dtype=np.intp)
        self.policy, self.max_nodes, self.least = clf.policy_, max_nodes, min_probability
        whole, codes = decider_of(clf).all_questions(), np.zeros((1, n), dtype=np.intp)
        self.warm = WarmStart(clf.policy_, whole, nothing, codes, np.arange(n), np.zeros(1, dtype=np.intp))
        self.n_outcomes = self.warm.info.problem.n_outcomes
        self.nodes: list[dict[str, Any]] = []
        self.cut = 0.0
        self._above = 0

    def ask(self, level: Level) -> IntArray:
        n = len(level.info)
        if len(self.nodes) + n > self.max_nodes:
            raise ValueError(
                f"as a graph this policy has more than max_nodes={self.max_nodes} nodes, each a case that it can meet: "
                "raise the limit, cut rare cases by min_probability (say 0.001), raise prices, or fit fewer features; "
                "naive Bayes in a fixed order needs no graph if GridValueIteration or Perseus solved it."
            )
        question, saving = np.full(n, DECIDE), np.full(n, np.nan)
        for rows, view in self.warm.see(level):
            question[rows] = self.policy.act(view)
            on = np.flatnonzero(question[rows] != DECIDE)
            if on.size:
                saving[rows[on]] = expected_saving(self.policy, view[on])
        cut = (question != DECIDE) & (level.weight < self.least) & (level.stage > 0)
        question[cut] = DECIDE
        self.cut += float(level.weight[cut].sum())
        self._link(level)
        self._above = len(self.nodes)
        self._add(level.info, question, saving, cut)
        return question

    def _link(self, level: Level) -> None:
        """Tell the nodes above where their outcomes lead."""
        if not self.nodes:
            return
        for row, (parent, outcome) in enumerate(zip(level.parent.tolist(), level.outcome.tolist())):
            node, child = self.nodes[self._above + parent], len(self.nodes) + row
            if outcome < 0:
                node["missing"] = child
            else:
                node["next"][outcome] = child

    def _add(self, info: InformationState, asked: IntArray, saving: FloatArray, cut: BoolArray) -> None:
        parts = zip(self.policy.decide(info.belief).tolist(), info.stopping_cost.tolist(), info.belief.tolist())
        told: list[dict[str, Any]] = [{"decision": d, "cost_now": c, "belief": b} for d, c, b in parts]
        for row in np.flatnonzero(cut).tolist():
            told[row]["cut"] = True
        on = np.flatnonzero(asked != DECIDE)
        for part in chunks(len(on), 32.0 * info.problem.n_questions * float(self.n_outcomes.max(initial=1))):
            view = info[on[part]]
            prices = np.broadcast_to(view.prices, (len(view), info.problem.n_questions))
            once = view.stopping_cost[:, None] - view.costs_once
            for place, row in enumerate(on[part].tolist()):
                told[row] |= self._question(int(asked[row]), float(saving[row]), prices[place], once[place])
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
