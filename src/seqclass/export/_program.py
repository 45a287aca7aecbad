"""A policy over hidden states as a program: its tables, what it asks next, and when it stops."""

from __future__ import annotations

from collections.abc import Iterable
from functools import singledispatch
from typing import Any

import numpy as np

from seqclass._utils.arrays import FloatArray, IntArray
from seqclass.agent.agent import Agent
from seqclass.agent.problem import ModelProblem
from seqclass.bn import ObservationModel
from seqclass.exams.estimates import PrecisePolicy
from seqclass.export._rules import NotExportable, rules_data
from seqclass.pomdp import (
    EC2,
    ClassInformation,
    CrossEntropy,
    ExpectedSaving,
    HiddenInformation,
    LookaheadSaving,
    OrderingRule,
    StoppingValue,
    ValueFunction,
)
from seqclass.pomdp._simplex import SimplexGrid
from seqclass.pomdp.account import planned_prices
from seqclass.pomdp.alpha import AlphaVectors
from seqclass.pomdp.bounds.optimum import FEW, are_few
from seqclass.pomdp.bounds.repeats import LogOddsLine, RepeatValues
from seqclass.pomdp.one_step import latent_posterior
from seqclass.pomdp.policy import LookaheadPolicy, RepricedPolicy
from seqclass.pomdp.problem import OPEN, AcquisitionProblem, observations
from seqclass.pomdp.solvers.correlated import BoundedLookaheadPolicy, CorrectedValues
from seqclass.pomdp.solvers.exact_free_order import PlannedPolicy, RecursionPolicy
from seqclass.pomdp.solvers.fitted import FittedValues
from seqclass.pomdp.solvers.grid import GridValues
from seqclass.pomdp.solvers.ordering.adaptive import ImprovedRule
from seqclass.pomdp.solvers.ordering.given import GivenOrder
from seqclass.pomdp.solvers.ordering.values import RulePolicy, RuleValues
from seqclass.pomdp.solvers.panel_policy import PanelPolicy
from seqclass.pomdp.solvers.panels import PlannedPanels
from seqclass.pomdp.solvers.simple import (
    DeepLookaheadPolicy,
    FixedLengthPolicy,
    OrderBoundPolicy,
    PosteriorThresholdPolicy,
)
from seqclass.pomdp.solvers.thresholds import LinearThresholdPolicy
from seqclass.pomdp.sweeps.ladder import StopWhenSure, enough
from seqclass.pomdp.tables import Tables
from seqclass.pomdp.values import ProjectedValues

#: Most numbers of a program: some 10 MB as text.
MOST_NUMBERS = 500_000
#: Most numbers in the tables of a network, all of which are gone through twice for each case that is looked at.
MOST_CELLS = 50_000


def program(agent: Agent, problem: AcquisitionProblem) -> dict[str, Any]:
    """The program of a policy, whose questions are the first ones of a problem of all questions; or `NotExportable`."""
    policy = agent.policy
    own, hidden = policy.problem, _latent_tables(problem)
    answers = _by_network(agent, problem) if hidden is None else _by_states(agent, problem, *hidden)
    _check_alike(own, problem, agent.model)
    data = {
        **answers,
        "any_order": bool(own.any_order),
        "n_questions": own.n_questions,
        "max_questions": own.limits.max_questions,
        "max_cost": own.limits.max_cost if own.any_order else None,
        **rules_data(own, problem),
        "policy": to_program(policy),
    }
    if own.structure.samples and _looks_ahead(data["policy"]):
        raise NotExportable("it looks two answers ahead, and a bundle has too many joint outcomes to list them")
    size = sum(_count(value) for value in data.values())
    if size > MOST_NUMBERS:
        raise NotExportable(f"its program has {size:,} numbers, more than the {MOST_NUMBERS:,} that are written")
    return data


def short(numbers: Any) -> Any:
    """Nested lists of numbers with as few digits as they need."""
    array = np.asarray(numbers)
    # of 13 digits: answers multiply some dozens of numbers, and beliefs then agree to some 1e-11
    return np.array([float(f"{number:.13g}") for number in array.ravel().tolist()]).reshape(array.shape).tolist()


def _latent_tables(problem: AcquisitionProblem) -> tuple[IntArray, FloatArray, FloatArray] | None:
    """Class and prior of each hidden state, and P(outcome | hidden state) of each question; None without such."""
    states = problem.structure.state_tables
    return None if states is None else (states[1], latent_posterior(problem.initial_belief())[0], states[0])


def _by_states(
    agent: Agent, problem: AcquisitionProblem, classes: IntArray, prior: FloatArray, tables: FloatArray
) -> dict[str, Any]:
    """Hidden states, given which the answers are independent."""
    bundles = []
    for question in range(problem.n_questions):
        bundle = problem.structure.bundle(question)
        # of a bundle what plans look at: the joint outcomes, or those that stand for all of them
        bundles.append(None if bundle is None else short(tables[question, : problem.n_outcomes[question]]))
    likelihoods = [short(table) for table in _by_feature(agent, problem)]
    return {
        "hidden_class": classes.tolist(),
        "hidden_prior": short(prior),
        "likelihoods": likelihoods,
        "bundles": bundles,
        "network": None,
    }


def _by_network(agent: Agent, problem: AcquisitionProblem) -> dict[str, Any]:
    """A network: the hidden states are the classes, and what an answer tells is worked out of tables of cliques."""
    if any(agent.policy.problem.structure.is_sampled(q) for q in range(agent.policy.problem.n_questions)):
        raise NotExportable("of a network it draws some of a bundle's joint outcomes, which are too many to list")
    cliques_of_model = agent.model.cliques(_features(problem))
    if cliques_of_model is None:
        raise NotExportable(
            "what an answer tells depends on more than finitely many hidden states, and on no small network"
        )
    size = sum(table.size for _, _, table in cliques_of_model)
    if size > MOST_CELLS:
        raise NotExportable(
            f"the tables of its network have {size:,} numbers, more than the {MOST_CELLS:,} that a page goes through"
        )
    sizes = {j: n for variables, _, table in cliques_of_model for j, n in zip(variables, table.shape[1:])}
    cliques = [
        {"variables": list(variables), "parent": parent, "table": short(table.reshape(len(table), -1))}
        for variables, parent, table in cliques_of_model
    ]
    return {
        "hidden_class": list(range(problem.n_classes)),
        "hidden_prior": short(problem.prior),
        "likelihoods": [],
        "bundles": [None] * problem.n_questions,
        "network": {"sizes": [sizes[j] for j in range(len(sizes))], "cliques": cliques},
    }


def _features(problem: AcquisitionProblem) -> IntArray:
    """Features of the model, question by question."""
    members = [problem.structure.members(question) for question in range(problem.n_questions)]
    return np.concatenate(members or [np.empty(0, dtype=np.intp)])


def _by_feature(agent: Agent, problem: AcquisitionProblem) -> list[FloatArray]:
    """P(outcome | hidden state) of each feature, question by question."""
    features = _features(problem)
    tables, hidden = agent.model.tables(features), agent.model.latent_tables(features)
    likelihoods = tables if tables is not None or hidden is None else hidden.tables
    assert likelihoods is not None  # or the problem would have no hidden states
    return [table[:size] for table, size in zip(likelihoods, agent.model.n_outcomes_[features].tolist())]


def _check_alike(own: AcquisitionProblem, whole: AcquisitionProblem, model: ObservationModel) -> None:
    """Refuse a policy of other numbers than those of the questions that a session may be told answers to."""
    n, alike = own.n_questions, _has_answers_of(own, whole, model)
    groups, full = zip(
        *((_groups(p)[:n], np.where(_groups(p) >= 0, p.full_prices, p.prices)[:n]) for p in (own, whole))
    )
    pairs = [groups, full, (own.prices, whole.prices[:n]), (own.prior, whole.prior)]
    alike = alike and _most_of(own) == _most_of(whole)
    if not (alike and all(_near(*pair) for pair in [*pairs, (own.decision_costs, whole.decision_costs)])):
        raise NotExportable("its policy was made for other questions, prices or costs, or another prior")


@singledispatch
def _has_answers_of(own: AcquisitionProblem, whole: AcquisitionProblem, model: ObservationModel) -> bool:
    """Whether answers tell a policy what they tell a session."""
    if _latent_tables(own) is None:
        raise NotExportable("what an answer tells depends on more than finitely many hidden states")
    mine, theirs = (_tables(one)[: own.n_questions] for one in (own, whole))
    width = min(mine.shape[1], theirs.shape[1])
    # of no questions there are no tables either
    return not own.n_questions or (mine.shape[::2] == theirs.shape[::2] and _near(mine[:, :width], theirs[:, :width]))


@_has_answers_of.register
def _(own: ModelProblem, whole: AcquisitionProblem, model: ObservationModel) -> bool:
    return own.model is model and np.array_equal(own.features, whole.features[: own.n_questions])


def _tables(problem: AcquisitionProblem) -> FloatArray:
    latent = _latent_tables(problem)
    return np.empty((0, 0, 0)) if latent is None else latent[2]


def _groups(problem: AcquisitionProblem) -> IntArray:
    return np.full(problem.n_questions, -1) if problem.groups is None else problem.groups


def _most_of(problem: AcquisitionProblem) -> int | None:
    """Most questions of a panel: none where visits cost nothing."""
    return 0 if problem.visits is None else problem.visits.max_panel


def _near(one: Any, other: Any) -> bool:
    """Whether numbers are the same but for rounding."""
    return np.shape(one) == np.shape(other) and bool(np.allclose(one, other, rtol=1e-12, atol=1e-15))


@singledispatch
def to_program(thing: Any) -> dict[str, Any]:
    """A policy, its values or an ordering rule as plain data; to teach another one, register it here."""
    raise _no_program(thing)


def _no_program(thing: Any) -> NotExportable:
    """Why a policy, values or a rule is not written: a class of ours is not what its user chose by name."""
    ours = type(thing).__module__.startswith("seqclass.")
    return NotExportable(f"there is no program of {'what its solver makes' if ours else type(thing).__name__}")


def _exactly(thing: Any, *kinds: type) -> None:
    """Refuse a subclass, which may do something else."""
    if type(thing) not in kinds:
        raise _no_program(thing)


@to_program.register
def _(policy: RulePolicy) -> dict[str, Any]:
    return {"type": "rule", "n_stages": policy.n_stages, "values": to_program(policy.values)}


@to_program.register
def _(values: RuleValues) -> dict[str, Any]:
    weights = [None if w is None else w.tolist() for w in values.weights]
    return {"n_stages": values.n_stages, "rule": to_program(values.rule), "weights": weights}


@to_program.register
def _(policy: FixedLengthPolicy) -> dict[str, Any]:
    return {"type": "first", "n_stages": policy.n_stages, "rule": _maybe(policy.rule)}


@to_program.register
def _(policy: PosteriorThresholdPolicy) -> dict[str, Any]:
    threshold = float(policy.threshold)
    return {"type": "likely", "n_stages": policy.n_stages, "threshold": threshold, "rule": _maybe(policy.rule)}


@to_program.register
def _(policy: StopWhenSure) -> dict[str, Any]:
    _exactly(policy, StopWhenSure)
    cost = float(enough(policy.problem.initial_belief(), policy.cost))
    return {"type": "sure", "n_stages": policy.n_stages, "cost": cost, "policy": to_program(policy.policy)}


@to_program.register
def _(policy: PrecisePolicy) -> dict[str, Any]:
    why = NotExportable("it stops at a standard error")
    why.remedy = "let it stop by max_items or a price (--max-features, --price), or use `seqclass ask` or ScorePlan.ask"
    raise why


@to_program.register
def _(policy: DeepLookaheadPolicy) -> dict[str, Any]:
    _exactly(policy, DeepLookaheadPolicy)
    ahead = {"depth": policy.depth, "n_candidates": policy.n_candidates}
    return {"type": "lookahead", "n_stages": policy.n_stages, **ahead}


@to_program.register
def _(policy: RecursionPolicy) -> dict[str, Any]:
    return {"type": "recursion", "n_stages": policy.n_stages}


@to_program.register
def _(policy: OrderBoundPolicy) -> dict[str, Any]:
    return {"type": "bounds", "n_stages": policy.n_stages, **to_program(policy.bounds)}


@to_program.register
def _(bounds: RepeatValues) -> dict[str, Any]:
    if bounds.values.size > MOST_NUMBERS:
        raise NotExportable("its bounds on what follows are too many to be written")
    return {"once": bounds.once, **to_program(bounds.grid), "values": short(bounds.values)}


@to_program.register
def _(grid: SimplexGrid) -> dict[str, Any]:
    return {"resolution": grid.resolution}


@to_program.register
def _(grid: LogOddsLine) -> dict[str, Any]:
    return {"points": grid.points[:, 1].tolist()}


@to_program.register
def _(policy: PlannedPolicy) -> dict[str, Any]:
    otherwise = to_program(policy.fallback)
    # a recursion finds the same where the plan speaks, which spares the first list
    size = sum(2 * number * len(keys) for number, (keys, _, _) in enumerate(policy.plan))
    if otherwise["type"] == "recursion" and (are_few(policy.problem, FEW) or size > MOST_NUMBERS / 2):
        return otherwise
    data = {"plan": _rows(policy.problem, policy.plan), "spent": _amounts_paid(policy), "otherwise": otherwise}
    return {"type": "plan", "n_stages": policy.n_stages, **data}


def _amounts_paid(policy: PlannedPolicy) -> list[float] | None:
    """What was paid before each row of a plan, by which rows differ where there is a limit of it; else null."""
    if policy.problem.limits.max_cost is None:
        return None
    # it stands at the end of a key; numpy leaves out zeros there
    ends = (key.ljust(keys.dtype.itemsize, b"\0")[-8:] for keys, _, _ in policy.plan for key in keys.tolist())
    return [float(np.frombuffer(end)[0]) for end in ends]


def _rows(problem: AcquisitionProblem, plan: Iterable[Any]) -> list[list[Any]]:
    """What is asked or ordered in each case of a plan, what that costs, and what was seen."""
    return [
        [asked, short(cost) if np.isfinite(cost) else None, *_decode_key(problem, key)]
        for some in plan
        for key, asked, cost in zip(*(part.tolist() for part in some))
    ]


def _decode_key(problem: AcquisitionProblem, key: bytes) -> list[int]:
    """What a key of `evidence` says was seen: a question and its outcome each in turn."""
    kind, n = observations(problem.initial_belief()).dtype, problem.n_questions
    observed = np.frombuffer(key.ljust(kind.itemsize * n, b"\0")[: kind.itemsize * n], dtype=kind)
    at = np.flatnonzero(observed != OPEN)
    return [int(number) for number in np.column_stack([at, observed[at]]).ravel()]


@to_program.register
def _(policy: PanelPolicy) -> dict[str, Any]:
    _exactly(policy, PanelPolicy)
    return _panel_program(policy)


def _panel_program(policy: PanelPolicy, plan: list[list[Any]] | None = None) -> dict[str, Any]:
    least, most = (min(size, policy.problem.n_questions) for size in policy.sizes)
    data = {"type": "panels", "n_stages": policy.n_stages, "least": least, "most": most}
    weights = None if policy.values.weights is None else policy.values.weights.tolist()
    return data | {"n_branches": policy.n_branches, "once": policy.once, "weights": weights, "plan": plan or []}


@to_program.register
def _(policy: PlannedPanels) -> dict[str, Any]:
    if sum(len(keys) for keys, _, _ in policy.plan) * policy.problem.n_questions > MOST_NUMBERS:
        raise NotExportable("its table of panels is too large to be written; Panels(max_nodes=0) has none")
    # rows of the panel that is ordered, as bits, what it costs (null: there is none), and what was seen
    return _panel_program(policy, _rows(policy.problem, policy.plan))


@to_program.register
def _(policy: RepricedPolicy) -> dict[str, Any]:
    if policy.multiplier != 1.0:
        raise NotExportable("it was made for other prices than those that are paid")
    return to_program(policy.policy)


@to_program.register
def _(policy: LinearThresholdPolicy) -> dict[str, Any]:
    return {"type": "thresholds", "n_stages": policy.n_stages, "thresholds": policy.thresholds.tolist()}


@to_program.register
def _(policy: LookaheadPolicy) -> dict[str, Any]:
    _exactly(policy, LookaheadPolicy, BoundedLookaheadPolicy)
    prices = planned_prices(policy.problem)[: policy.n_stages].tolist()
    return {"n_stages": policy.n_stages, "prices": prices, "moves": None, "corrections": None} | to_program(
        policy.values
    )


def _moves(values: ValueFunction, tables: Tables | None) -> dict[str, Any]:
    """Context after each outcome and a missing one, by stage and context; null where there is one context only."""
    if tables is None:
        raise NotExportable("what its values say depends on more than the belief and finitely many contexts")
    if tables.single:
        return {"moves": None}
    stages = range(values.n_stages - 1)
    if sum(tables.n_contexts(stage) * int(values.problem.n_outcomes[stage]) for stage in stages) > MOST_NUMBERS:
        raise NotExportable("its contexts are too many to be written")
    return {"moves": [tables.moves(stage).tolist() for stage in stages]}


@to_program.register
def _(values: ProjectedValues) -> dict[str, Any]:
    _exactly(values, ProjectedValues)
    data = to_program(values.values)
    if data["type"] not in ("grid", "functions"):
        raise NotExportable("it goes by values of a simpler process, written only if on a grid or functions")
    return data | (_moves(values, values.tables) if data["type"] == "grid" else {})


@to_program.register
def _(values: CorrectedValues) -> dict[str, Any]:
    problem = values.problem
    of_stage = _contexts(problem)
    corrections = [
        None if weights is None else _correction(weights, of_stage[stage], problem.n_outcomes)
        for stage, weights in enumerate(values.weights)
    ]
    plain = ProjectedValues(problem, values.projection, values.values)
    return to_program(plain) | {"corrections": corrections}


@singledispatch
def _contexts(problem: AcquisitionProblem) -> list[list[int]]:
    """The earlier questions that matter to what is asked, stage by stage."""
    raise NotExportable("its values are corrected by earlier answers, and no observation model says by which")


@_contexts.register
def _(problem: ModelProblem) -> list[list[int]]:
    question = {feature: k for k, feature in enumerate(problem.features.tolist())}
    return [[question[j] for j in some.tolist()] for some in problem.model.context_features(problem.features)]


def _correction(weights: FloatArray, asked: list[int], n_outcomes: IntArray) -> dict[str, Any]:
    """Weights for all cases, and for each outcome of the earlier questions that matter."""
    tables = [short(table[: n_outcomes[q]]) for q, table in zip(asked, weights[1:])]
    return {"all": short(weights[0, 0]), "questions": asked, "tables": tables}


@to_program.register
def _(values: GridValues) -> dict[str, Any]:
    moves = _moves(values, values.problem.structure.tables)
    if values.interpolation != "freudenthal" or values.size > MOST_NUMBERS:
        raise NotExportable("its values are too many, or read in a way that is not written")
    stages = [[short(table) for table in tables] for tables in values.continuation]
    return moves | {"type": "grid", "resolution": values.grid.resolution, "stages": stages}


@to_program.register
def _(values: AlphaVectors) -> dict[str, Any]:
    _exactly(values, AlphaVectors)
    tables = values.problem.structure.tables
    data = _moves(values, tables)
    assert tables is not None  # or there are no moves
    contexts = [range(tables.n_contexts(stage)) for stage in range(values.n_stages)]
    stages = [[short(one.vectors_in(c)) for c in some] for one, some in zip(values.sets, contexts)]
    return data | {"type": "vectors", "stages": stages}


@to_program.register
def _(values: FittedValues) -> dict[str, Any]:
    pairs = np.column_stack([values.functions.first, values.functions.second]).tolist()
    stages = [[None if weights is None else weights.tolist()] for weights in values.weights]
    return {"type": "functions", "pairs": pairs, "stages": stages}


@to_program.register
def _(values: StoppingValue) -> dict[str, Any]:
    return {"type": "vectors", "stages": [[[]] for _ in range(values.n_stages)]}


def _maybe(rule: OrderingRule | None) -> dict[str, Any] | None:
    return None if rule is None else to_program(rule)


_RULES: dict[type[OrderingRule], str] = {
    ExpectedSaving: "expected saving",
    ClassInformation: "class information",
    HiddenInformation: "hidden information",
    EC2: "ec2",
    CrossEntropy: "cross entropy",
}


@to_program.register
def _(rule: OrderingRule) -> dict[str, Any]:
    _exactly(rule, *_RULES)
    return {"type": _RULES[type(rule)], "per_price": bool(rule.per_price)}


@to_program.register
def _(rule: LookaheadSaving) -> dict[str, Any]:
    return {"type": "lookahead", "per_price": False, "depth": rule.depth, "n_candidates": rule.n_candidates}


@to_program.register
def _(rule: GivenOrder) -> dict[str, Any]:
    return {"type": "order", "per_price": False, "order": np.asarray(rule.order).tolist()}


@to_program.register
def _(rule: ImprovedRule) -> dict[str, Any]:
    return {
        "type": "improved",
        "per_price": False,
        "n_candidates": rule.n_candidates,
        "values": to_program(rule.values),
    }


def _looks_ahead(data: dict[str, Any]) -> bool:
    """Whether a policy, or what it goes by, looks further than the next answer."""
    deep = data.get("type") in ("improved", "lookahead") and data.get("depth", 2) > 1
    return deep or any(_looks_ahead(part) for part in data.values() if isinstance(part, dict))


def _count(value: Any) -> int:
    if isinstance(value, dict):
        return sum(map(_count, value.values()))
    return sum(map(_count, value)) if isinstance(value, list) else 1
