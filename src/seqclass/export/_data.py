"""What every exported policy has: classes, questions, how values are read; and its program, or a graph of its cases."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from typing import Any

import numpy as np

from seqclass import __version__
from seqclass._utils.arrays import BoolArray, FloatArray, IntArray, chunks
from seqclass._utils.marks import mark_prefix
from seqclass._utils.text import short_repr
from seqclass.agent._case import Questions
from seqclass.agent._naming import other_spellings
from seqclass.agent._warm_start import WarmStart
from seqclass.agent.agent import Agent, column_categories, feature_name, marks_of, outcome_labels, whole_problem
from seqclass.agent.choices import answer_choices, check_labels
from seqclass.agent.session import expected_saving
from seqclass.export._program import program
from seqclass.export._rules import NotExportable
from seqclass.labels import Labels
from seqclass.pomdp import DECIDE
from seqclass.pomdp.acquisition import added_saving
from seqclass.pomdp.observations import AllObservations
from seqclass.pomdp.one_step import one_step_costs
from seqclass.pomdp.problem import AcquisitionProblem, BeliefState
from seqclass.pomdp.visits import orders_panels, without_visits
from seqclass.pomdp.walk import Level, check_questions, walk_to_end


def graph(agent: Agent, max_nodes: int, min_probability: float | None, why: NotExportable) -> dict[str, Any]:
    """Nodes of the graph, the first one first; a ValueError where there are too many."""
    least = 0.99  # least share of cases that is followed to its end
    reason = f"this policy cannot be written as a program ({why}), only as a graph of all cases that it can meet"
    remedy = (
        "Ask for a policy that is computed (seqclass.adaptive, or NaiveBayes or ClassMixture as observation_model), "
        "raise prices, fit fewer features, or raise max_nodes"
    )
    # rarer cases are cut until the graph is small enough
    cuts = (0.0, 1e-7, 1e-6, 1e-5, 1e-4, 3e-4, 1e-3) if min_probability is None else (min_probability,)
    for cut in cuts[:1] if why.remedy else cuts:
        maker = _GraphBuilder(agent, max_nodes, cut)
        with suppress(_TooManyNodes):
            # one answer in twenty counts as missing
            walk_to_end(maker.warm.info, np.ones(1), maker.ask, AllObservations(0.05, agent.charge_missing))
            if min_probability is None and maker.cut > 1 - least:
                break
            return {"kind": "graph", "cut": maker.cut, "nodes": maker.nodes}
    if why.remedy:
        raise ValueError(f"{reason}, and that has more than max_nodes={max_nodes} nodes: {why.remedy}.")
    if min_probability is not None:
        raise ValueError(
            f"{reason}, and this one has more than max_nodes={max_nodes} nodes, rare cases left out by "
            f"min_probability={min_probability:g}. {remedy}, or min_probability."
        )
    raise ValueError(
        f"{reason}, and within max_nodes={max_nodes} nodes less than {least:.0%} of cases would be followed to their "
        f"end. {remedy}; or leave out more rare cases by min_probability=0.001, say."
    )


class _TooManyNodes(Exception):
    """More nodes than there may be."""


class _GraphBuilder:
    """Makes the nodes level by level, each linked to the one above it."""

    def __init__(self, agent: Agent, max_nodes: int, min_probability: float) -> None:
        n = agent.n_features
        nothing = np.empty(0, dtype=np.intp)
        self.policy, self.max_nodes, self.least = agent.policy, max_nodes, min_probability
        whole, codes = whole_problem(agent), np.zeros((1, n), dtype=np.intp)
        self.warm = WarmStart(agent.policy, whole, nothing, codes, np.arange(n), np.zeros(1, dtype=np.intp))
        self.n_outcomes = self.warm.info.problem.n_outcomes
        self.nodes: list[dict[str, Any]] = []
        self.cut = 0.0
        self._above = 0

    def ask(self, level: Level) -> IntArray:
        n = len(level.belief)
        if len(self.nodes) + n > self.max_nodes:
            raise _TooManyNodes
        question, saving, added = np.full(n, DECIDE), np.full(n, np.nan), np.full(n, np.nan)
        ruled = self.policy.problem.limits.rules is not None
        may = np.full((n, level.belief.problem.n_questions), not ruled)
        for rows, view in self.warm.see(level):
            question[rows] = self.policy.action(view)
            if ruled:
                may[rows, : view.problem.n_questions] = view.available
            going_on = np.flatnonzero(question[rows] != DECIDE)
            if going_on.size:
                saving[rows[going_on]] = expected_saving(self.policy, view[going_on])
                asked = question[rows[going_on], None] == np.arange(view.problem.n_questions)
                added[rows[going_on]] = added_saving(self.policy, view[going_on], asked, saving[rows[going_on]])
        cut = (question != DECIDE) & (level.weight < self.least) & (level.stage > 0)
        question[cut] = DECIDE
        self.cut += float(level.weight[cut].sum())
        asks = np.flatnonzero(question != DECIDE)
        check_questions(level.belief, asks, question[asks])
        self._link(level)
        self._above = len(self.nodes)
        self._add(level.belief, question, np.column_stack([saving, added]), cut, may)
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

    def _add(self, belief: BeliefState, asked: IntArray, savings: FloatArray, cut: BoolArray, may: BoolArray) -> None:
        parts = zip(
            self.policy.problem.decide(belief.probabilities).tolist(),
            belief.stopping_cost.tolist(),
            belief.probabilities.tolist(),
        )
        nodes: list[dict[str, Any]] = [{"decision": d, "cost_now": c, "belief": b} for d, c, b in parts]
        for row in np.flatnonzero(cut).tolist():
            nodes[row]["cut"] = True
        going_on = np.flatnonzero(asked != DECIDE)
        for part in chunks(len(going_on), 32.0 * belief.problem.n_questions * float(self.n_outcomes.max(initial=1))):
            view = belief[going_on[part]]
            prices = np.broadcast_to(view.prices, (len(view), belief.problem.n_questions))
            once = view.stopping_cost[:, None] - one_step_costs(view)
            once = np.where(may[going_on[part]], once, -np.inf)
            for place, row in enumerate(going_on[part].tolist()):
                nodes[row] |= self._question(int(asked[row]), savings[row].tolist(), prices[place], once[place])
        self.nodes += nodes

    def _question(self, asked: int, savings: list[float], prices: FloatArray, once: FloatArray) -> dict[str, Any]:
        """What a node asks, and the other questions that promise most."""
        n_best = 3  # the asked one among them
        order = np.argsort(-once, kind="stable")[: n_best + 1].tolist()
        others = [q for q in order if q != asked and once[q] > -np.inf]
        saving, added = (None if np.isnan(one) else one for one in savings)
        visits = self.warm.info.problem.visits  # of the problem that the prices are of
        visit = 0.0 if visits is None else float(visits.single_costs[asked])
        best = [[q, float(prices[q]), float(once[q])] for q in others[: n_best - 1]]
        return {
            "ask": asked,
            "price": max(float(prices[asked]) - visit, 0.0),
            "visit": visit,
            "saving": saving,
            "added": added,
            "alone": float(once[asked]),
            "others": best,
            "next": [None] * int(self.n_outcomes[asked]),
            "missing": None,
        }


FORMAT, VERSION = "seqclass-policy", 4


def as_data(
    agent: Agent,
    labels: Any,
    max_nodes: int,
    min_probability: float | None,
    translate: Mapping[str, str] | None = None,
) -> dict[str, Any]:
    """A policy as plain data: its program where it has one, else a graph."""
    if len(agent.policy.initial_belief()[1]) > 1:
        raise ValueError(
            "this policy draws lots, so no page tells what it asks; fit without target_cost and exposure control."
        )
    problem = whole_problem(agent)
    words = check_labels(agent, labels, translate)
    features, questions = _questions(agent, problem, words)
    data: dict[str, Any] = {
        "format": FORMAT,
        "version": VERSION,
        "written_by": f"seqclass {__version__}",
        "classes": [str(label) for label in agent.classes.tolist()],
        "decisions": [str(label) for label in agent.decisions],
        "class_texts": [words.class_text(label) for label in agent.classes.tolist()],
        "decision_texts": [words.decision_text(label) for label in agent.decisions],
        "class_order": words.class_order(agent.classes.tolist()),
        "decision_order": words.class_order(agent.decisions, decisions=True),
        "prior": problem.prior.tolist(),
        "decision_costs": problem.decision_costs.tolist(),
        "unit": agent.unit,
        "visits": _visits(problem),
        "charge_missing": bool(agent.charge_missing),
        "sets": _sets(agent),
        "features": features,
        "questions": questions,
    }
    try:
        return data | {"kind": "program", "program": program(agent, problem)}
    except NotExportable as why:
        if orders_panels(agent.policy.problem):
            raise ValueError(
                f"this policy cannot be written as a program: {why}; and a graph asks one question at a time, while "
                "here several may be ordered in one visit. Fit NaiveBayes or ClassMixture as observation_model, use "
                "`seqclass ask`, or fit without visit_cost and delays."
            ) from None
        if any(len(question["features"]) > 1 for question in questions):
            raise ValueError(
                f"this policy cannot be written as a program: {why}; and as a graph it cannot ask for bundles. Fit a "
                'class mixture (seqclass.adaptive, or ClassMixture with order="adaptive"), fit without bundles and '
                "marks, or use `seqclass ask` or a service."
            ) from None
        if agent.known.size:
            raise ValueError(
                f"this policy cannot be written as a program: {why}; and a graph begins with a case of which nothing "
                "is known, while this one knows columns at the start (known). Fit NaiveBayes or ClassMixture as "
                "observation_model and leave rules out, or use `seqclass ask`."
            ) from None
        return data | graph(agent, max_nodes, min_probability, why)


def _sets(agent: Agent) -> dict[str, Any] | None:
    """Which classes are said to be possible once all was asked, and what is promised of that."""
    differential = agent.differential
    if differential is None:
        return None
    sets = {"limits": differential.limits.tolist(), "at_most": differential.alpha, "confidence": 1 - differential.delta}
    return sets | {"by_class": differential.by_class, "seen": differential.missed, "n_rows": differential.n_rows}


def _visits(problem: AcquisitionProblem) -> dict[str, Any] | None:
    """What visits cost beyond the prices of questions."""
    visits = problem.visits
    if visits is None:
        return None
    terms = {"cost": float(visits.cost), "delays": visits.delays.tolist(), "delay_cost": float(visits.delay_cost)}
    return terms | {"max_panel": visits.max_panel}


def _questions(
    agent: Agent, problem: AcquisitionProblem, words: Labels
) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """Features, and which value of theirs is which outcome; and questions: what they show, and their prices."""
    naming = Questions(agent, problem)
    features: list[dict[str, Any]] = []
    questions: list[dict[str, Any]] = []
    plain = without_visits(problem)
    for question in range(problem.n_questions):
        shows = naming.features(question)
        sizes = agent.model.n_outcomes_[problem.structure.members(question)].tolist()
        group = -1 if problem.groups is None else int(problem.groups[question])
        price, full = float(plain.prices[question]), float(plain.full_prices[question])
        # of a group, or the most of prices that depend on answers
        terms: dict[str, Any] = {"group": None if group < 0 else group, "full_price": max(price, full)}
        if put_off := int(agent.problem.structure.put_off[question]) if question < agent.problem.n_questions else 0:
            terms["put_off"] = put_off
        if np.isin(problem.structure.members(question), agent.known).any():
            terms["known"] = True  # told at the start or not at all
        numbers = range(len(features), len(features) + len(shows))
        name = naming.name(question)
        asks: dict[str, Any] = {"features": list(numbers), "price": price}
        if own := marks_of(agent).get(name):
            start = mark_prefix(name)
            asks["marks"] = [words.answers(name)[mark] for mark in own if start + mark in {f.name for f in shows}]
        questions.append({"name": name} | _question_words(words, name) | asks | terms)
        for feature, size in zip(shows, sizes):
            labels = list(map(str, outcome_labels(agent, feature.column)))
            answers = [words.answers(feature.name).get(label, label) for label in labels]
            entry: dict[str, Any] = {"name": feature.name, **_question_words(words, feature.name)}
            entry |= {"unit": words.text_of(feature.name, "unit")}
            entry |= {"outcomes": labels, "n_outcomes": int(size), "answers": answers}
            choices = list(map(list, answer_choices(agent, feature.column, words).items())) or None
            missing = int(agent.coder.missing_code[feature.column])
            apart = {} if missing < 0 else {"missing": missing}
            features.append(entry | _reading_rule(agent, feature.column) | {"choices": choices} | apart)
    return features, questions


def _question_words(words: Labels, name: str) -> dict[str, str]:
    """What is asked, and what helps to answer it."""
    return {"text": words.question(name)} | {what: words.text_of(name, what) for what in ("help", "url")}


def _reading_rule(agent: Agent, column: int) -> dict[str, Any]:
    """How a value becomes an outcome: by its category, its place among edges, or as the outcome that it is."""
    coder = agent.coder
    if categories := column_categories(agent, column):
        others = other_spellings(agent.encoder, column)
        return {"type": "category", "categories": categories} | ({"spellings": others} if others else {})
    if coder.discretizer_ is None:
        return {"type": "outcome"}
    if (bins := coder.bins) is None:
        name = type(coder.discretizer_).__name__
        raise ValueError(
            f"feature {short_repr(feature_name(agent, column))} is binned by {name}, whose bins cannot be written as "
            "data; fit with seqclass's Discretizer."
        )
    at = int(np.searchsorted(coder.numeric_, column))
    low, high = bins.own_bins_[at].tolist()
    own_bin = [] if np.isnan(low) else [low, float(np.nextafter(high, np.inf))]
    edges = sorted({*bins.bin_edges_[at][np.isfinite(bins.bin_edges_[at])].tolist(), *own_bin})
    return {
        "type": "number",
        "edges": edges,
        "places": bins._outcomes(np.array([-np.inf, *edges]), at).tolist(),
        "range": coder.training_range(column),
    }
