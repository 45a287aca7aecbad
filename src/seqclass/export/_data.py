"""What every exported policy has: its version, its classes, its features and how their values are read."""

from __future__ import annotations

from typing import Any

import numpy as np

from seqclass import __version__
from seqclass._shell import DecidingClassifier
from seqclass._utils.arrays import BoolArray, FloatArray, IntArray, chunks
from seqclass._utils.text import shown
from seqclass.deciding._case import Questions
from seqclass.deciding._warm_start import WarmStart
from seqclass.deciding.decider import decider_of
from seqclass.deciding.session import expected_saving
from seqclass.discretize import Discretizer
from seqclass.pomdp import DECIDE, GridValues, LookaheadPolicy, Policy, StoppingValue, StopWhenSure, TableProblem
from seqclass.pomdp.alpha import AlphaSet, AlphaVectors
from seqclass.pomdp.answers import AllAnswers
from seqclass.pomdp.problem import AcquisitionProblem, InformationState
from seqclass.pomdp.sweeps.ladder import enough
from seqclass.pomdp.walk import Level, walk

#: Most numbers of a policy's values: some 10 MB as text.
MOST_NUMBERS = 500_000


def values(clf: DecidingClassifier, problem: AcquisitionProblem) -> dict[str, Any] | None:
    """Likelihoods and values; None where the policy has none of a form that is known here."""
    policy = clf.policy_
    tables = problem.class_tables if isinstance(problem, TableProblem) else None
    if policy.problem.free or tables is None:
        return None
    found = _written(policy)
    if found is None or sum(map(np.size, found.get("stages", ()))) > MOST_NUMBERS:
        return None
    found["prices"] = policy.problem.planned_prices[: policy.n_stages].tolist()
    likelihoods = [tables[q, : problem.n_outcomes[q]].tolist() for q in range(problem.n_questions)]
    return {"kind": "values", "likelihoods": likelihoods, "n_stages": policy.n_stages, "values": found}


def _written(policy: Policy) -> dict[str, Any] | None:
    """Values of every stage, on a grid, by vectors, or of stopping alone; or the cost at which it is sure enough."""
    if type(policy) is StopWhenSure:
        return {"type": "sure", "cost": float(enough(policy.problem.begin(), policy.cost))}
    if type(policy) is not LookaheadPolicy:
        return None
    held: Any = policy.values
    if type(held) is GridValues and held.interpolation == "freudenthal":
        return {
            "type": "grid",
            "resolution": held.grid.resolution,
            "stages": [table.reshape(-1).tolist() for table in held.continuation],
        }
    if type(held) is AlphaVectors:
        return {"type": "vectors", "stages": [_vectors(one) for one in held.sets]}
    if type(held) is StoppingValue:
        return {"type": "vectors", "stages": [[] for _ in range(held.n_stages)]}
    return None


def _vectors(one: AlphaSet) -> list[list[float]]:
    return list(one.of().tolist())


#: Share of answers that are missing, in the probability of a case.
MISSING = 0.05
#: Questions that are told of each node, the asked one among them.
BEST = 3


def graph(clf: DecidingClassifier, max_nodes: int, min_probability: float) -> dict[str, Any]:
    """Nodes of the graph, the first one first; a ValueError where there are too many."""
    maker = _Maker(clf, max_nodes, min_probability)
    start = maker.warm.info
    for _ in walk(start, np.ones(1), maker.ask, AllAnswers(MISSING, decider_of(clf).charge_missing)):
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


FORMAT, VERSION = "seqclass-policy", 1


def as_data(clf: DecidingClassifier, max_nodes: int, min_probability: float) -> dict[str, Any]:
    """A policy as plain data: by its values where that is possible, else as a graph."""
    if len(clf.policy_.begin()[1]) > 1:
        raise ValueError("this policy draws lots, so no page tells what it asks; fit without a budget to keep.")
    problem = decider_of(clf).all_questions()
    if problem.bundles is not None and any(bundle is not None for bundle in problem.bundles):
        raise ValueError("this model asks for bundles of features, which cannot be exported; fit it without bundles.")
    data: dict[str, Any] = {
        "format": FORMAT,
        "version": VERSION,
        "written_by": f"seqclass {__version__}",
        "classes": [str(label) for label in clf.classes_.tolist()],
        "decisions": [str(label) for label in clf.decisions_],
        "prior": problem.prior.tolist(),
        "decision_costs": problem.decision_costs.tolist(),
        "charge_missing": bool(decider_of(clf).charge_missing),
        "features": _features(clf, problem),
    }
    return data | (values(clf, problem) or graph(clf, max_nodes, min_probability))


def _features(clf: DecidingClassifier, problem: AcquisitionProblem) -> list[dict[str, Any]]:
    """Each question's feature: its name and prices, and which value is which outcome."""
    asked = Questions(decider_of(clf), problem)
    found = []
    for question in range(problem.n_questions):
        (feature,) = asked.features(question)
        group = -1 if problem.groups is None else int(problem.groups[question])
        told: dict[str, Any] = {
            "name": feature.name,
            "price": float(problem.prices[question]),
            "group": None if group < 0 else group,
            "full_price": float(problem.full_prices[question]) if group >= 0 else float(problem.prices[question]),
            "outcomes": list(map(str, decider_of(clf).outcome_labels(feature.column))),
            "n_outcomes": int(problem.n_outcomes[question]),
        }
        found.append(told | _reading(clf, feature.column, feature.categories))
    return found


def _reading(clf: DecidingClassifier, column: int, categories: tuple[str, ...]) -> dict[str, Any]:
    """How a value becomes an outcome: by its category, its place among edges, or as the outcome that it is."""
    coder = clf.coder_
    if categories:
        return {"type": "category", "categories": list(categories)}
    if coder.discretizer_ is None:
        return {"type": "outcome"}
    if not isinstance(coder.discretizer_, Discretizer):
        name = type(coder.discretizer_).__name__
        raise ValueError(
            f"feature {shown(clf.feature_name(column))} is binned by {name}, whose bins cannot be written as data; "
            "fit with seqclass's Discretizer."
        )
    bins = coder.discretizer_
    at = int(np.searchsorted(coder.numeric_, column))
    low, high = bins.own_bins_[at].tolist()
    apart = [] if np.isnan(low) else [low, float(np.nextafter(high, np.inf))]
    edges = sorted({*bins.bin_edges_[at][np.isfinite(bins.bin_edges_[at])].tolist(), *apart})
    return {
        "type": "number",
        "edges": edges,
        "places": bins._outcomes(np.array([-np.inf, *edges]), at).tolist(),
        "range": coder.training_range(column),
    }
