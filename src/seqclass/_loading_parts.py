"""What must hold of the parts of a classifier that was read from a file: problems, values, policies."""

from __future__ import annotations

from math import comb
from typing import Any

import numpy as np

from seqclass._loading_basics import array, need, numbers, whole
from seqclass._model_problem import ModelProblem, ProjectedProblem
from seqclass._validation import check_costs, check_distribution
from seqclass.bn import (
    ObservationModel,
    StageContexts,
)
from seqclass.pomdp import (
    AcquisitionProblem,
    AlphaSet,
    AlphaVectors,
    FittedValues,
    GridValues,
    ImprovedRule,
    InterpolatedValues,
    LinearThresholdPolicy,
    LookaheadPolicy,
    MixtureProblem,
    OrderingChoice,
    OrderingRule,
    Policy,
    ProjectedValues,
    RandomisedPolicy,
    RepricedPolicy,
    RulePolicy,
    RuleValues,
    SolveInfo,
    StopWhenSure,
    TableProblem,
)
from seqclass.pomdp._simplex import SimplexGrid
from seqclass.pomdp.bounds._line import LogOddsLine
from seqclass.pomdp.bounds.repeats import RepeatValues, has_repeats
from seqclass.pomdp.bundles import Bundle, DrawnBundle
from seqclass.pomdp.solvers.exact._lines import LineSet
from seqclass.pomdp.solvers.exact.free_order import PlannedPolicy
from seqclass.pomdp.solvers.fitted_values import BeliefFunctions
from seqclass.pomdp.solvers.rules.bounded_order import OrderBoundPolicy
from seqclass.pomdp.table_problem import check_table
from seqclass.pomdp.values import ValueFunction

#: Most contexts of a stage that a problem tells apart.
_MOST_CONTEXTS = 2**16
#: Counts that add up to a number still.
_MOST_COUNTED = 1e100


def check_problem(problem: AcquisitionProblem) -> None:
    """Check an acquisition problem."""
    prior = numbers(problem.prior, "prior", None)
    check_distribution(prior, None, "prior")
    prices = check_costs(numbers(problem.prices, "prices", None), "prices")
    costs = check_costs(numbers(problem.decision_costs, "decision_costs", len(prior), None), "decision_costs")
    full = check_costs(numbers(problem.full_prices, "full_prices", len(prices)), "full_prices")
    need(bool((full >= prices).all()), "prices are wrong")
    need(costs.shape[1] > 0, "decision_costs are wrong")
    need(np.array_equal(problem.perfect_cost, costs.min(axis=1)), "perfect_cost is not that of decision_costs")
    n_outcomes: Any = array(problem.n_outcomes, "n_outcomes", "i", len(prices))
    need(n_outcomes.min(initial=1) >= 1, "n_outcomes holds less than 1")
    features = array(problem.features, "features", "i", len(prices))
    need(features.min(initial=0) >= 0 and len(np.unique(features)) == len(features), "features are wrong")
    if problem.groups is not None:
        groups = array(problem.groups, "groups", "i", len(prices))
        need(groups.min(initial=-1) >= -1 and groups.max(initial=-1) <= 10**7, "groups are wrong")
    need(type(problem.free) is bool, "free is neither true nor false")
    for name in ("max_questions", "max_cost"):
        limit = getattr(problem, name)
        need(limit is None or (problem.free and 0 <= limit < np.inf), f"{name} is wrong")
    if problem.bundles is not None:
        known = all(bundle is None or isinstance(bundle, Bundle) for bundle in problem.bundles)
        need(known and len(problem.bundles) == len(prices), "bundles are of other questions")
    if isinstance(problem, TableProblem):
        _check_tables(problem)
    elif isinstance(problem, ModelProblem):
        _check_model_problem(problem)
    elif isinstance(problem, MixtureProblem):
        _check_mixture(problem)


def _check_mixture(problem: MixtureProblem) -> None:
    states = problem.hidden_class
    tables = numbers(problem.likelihoods, "likelihoods", problem.n_questions, None, len(states))
    again = MixtureProblem(problem.prior[states] * problem.hidden_prior, states, tables, 0.0)
    need(np.array_equal(problem.member, again.member), "member is not that of hidden_class")
    for bundle, n_outcomes in zip(problem.bundles or (), problem.n_outcomes.tolist()):
        if isinstance(bundle, DrawnBundle):
            known = bundle.tables.shape[2] == len(states) and len(bundle.drawn) == n_outcomes
            need(known, "a bundle is of other hidden states")
    need(np.allclose(problem.prior, again.prior), "hidden_prior is wrong")
    need(bool((problem.n_outcomes <= tables.shape[1]).all()), "likelihoods have other outcomes")


def _check_tables(problem: TableProblem) -> None:
    tables, transitions, stages = problem.likelihoods, problem.transitions, problem.n_questions
    if isinstance(tables, np.ndarray):
        numbers(tables, "likelihoods", stages, None, problem.n_classes)
    else:
        need(type(tables) is list and len(tables) == stages, "likelihoods are of other stages")
        known = (isinstance(table, np.ndarray) and table.dtype.kind == "f" for table in tables)
        need(all(known), "a likelihood is no array of numbers")
    if transitions is not None:
        need(type(transitions) is list, "transitions are no list")
        for following in transitions:
            array(following, "a transition", "i", None, None)
    problem._check_tables()


def _check_model_problem(problem: ModelProblem) -> None:
    model = problem.model
    need(isinstance(model, ObservationModel) and len(model.classes_) == problem.n_classes, "model has other classes")
    for question in range(problem.n_questions):
        members, bundle = problem.members(question), problem.bundle(question)
        need(bool((members < model.n_features_in_).all()), "model has other features")
        n_outcomes = problem.n_outcomes[[question]] if bundle is None else bundle.sizes
        need(np.array_equal(n_outcomes, model.n_outcomes_[members]), "model has other outcomes")
    whole(problem.max_contexts, "max_contexts", 1, _MOST_CONTEXTS)
    if isinstance(problem, ProjectedProblem):
        kept = problem.kept
        need(isinstance(kept, StageContexts) and kept.model is model, "its contexts are of another model")
        need(
            np.array_equal(array(kept.order, "order", "i", None), problem.features), "its contexts are of another order"
        )


def check_bundle(bundle: Bundle) -> None:
    """Check what one question shows of several features."""
    features = array(bundle.features, "features", "i", None)
    need(len(features) > 1 and features.min() >= 0 and len(np.unique(features)) == len(features), "features are wrong")
    sizes = array(bundle.sizes, "sizes", "i", len(features))
    need(sizes.min() >= 1, "sizes are wrong")
    again = Bundle(features, sizes)
    need((bundle.n_complete, bundle.n_codes) == (again.n_complete, again.n_codes), "its outcomes are wrong")


def check_drawn(bundle: DrawnBundle) -> None:
    """Check the outcomes that stand for all of a bundle's."""
    tables = numbers(bundle.tables, "tables", len(bundle.sizes), None, None)
    need(tables.shape[1] >= int(bundle.sizes.max()), "tables have other outcomes")
    for table, size in zip(tables, bundle.sizes.tolist()):
        check_table(table, "tables")
        need(not table[size:].any(), "tables have other outcomes")
    check_distribution(bundle.share, tables.shape[2], "share")
    drawn = array(bundle.drawn, "drawn", "i", None)
    need(len(drawn) > 0 and drawn.min() >= 0 and drawn.max() < bundle.n_complete, "drawn holds no outcomes")


def check_grid(grid: SimplexGrid) -> None:
    """Check the points of a grid."""
    points = numbers(grid.points, "points", None, None)
    steps, n_classes = whole(grid.resolution, "resolution", 1, 10**7), points.shape[1]
    need(
        n_classes >= 1 and comb(steps + n_classes - 1, n_classes - 1) == len(points),
        "points are not those of resolution",
    )
    again = SimplexGrid(n_classes, steps)
    need(np.array_equal(points, again.points), "points are not those of resolution")
    need(grid._rank.dtype.kind == "i" and np.array_equal(grid._rank, again._rank), "_rank is not that of resolution")


def check_set(some: AlphaSet) -> None:
    """Check alpha vectors."""
    vectors = numbers(some.vectors, "vectors", None, None)
    numbers(some.everywhere, "everywhere", None, vectors.shape[1])
    if some.pointer is not None:
        pointer = array(some.pointer, "pointer", "iu", None)
        rising = len(pointer) > 1 and pointer[0] == 0 and bool((np.diff(pointer) >= 0).all())
        need(rising and pointer[-1] == len(vectors), "pointer is not that of vectors")
    if isinstance(some, LineSet):
        need(
            vectors.shape[1] == 2 and not np.isnan(array(some.starts, "starts", "f", len(vectors))).any(),
            "starts are wrong",
        )


def check_values(values: ValueFunction) -> None:
    """Check a value function."""
    problem, n_stages = values.problem, whole(values.n_stages, "n_stages", 0)
    need(isinstance(problem, AcquisitionProblem) and n_stages <= problem.n_stages, "values are of another problem")
    n_classes = problem.n_classes
    if isinstance(values, AlphaVectors):
        need(type(values.sets) is list and len(values.sets) == n_stages, "sets are of other stages")
        for stage, some in enumerate(values.sets):
            need(isinstance(some, AlphaSet) and some.vectors.shape[1] == n_classes, "sets are of other classes")
            known = some.pointer is None or len(some.pointer) == _n_contexts(values, stage) + 1
            need(known, "sets are of other contexts")
    elif isinstance(values, GridValues):
        need(
            isinstance(values.grid, SimplexGrid) and values.grid.points.shape[1] == n_classes,
            "grid is of other classes",
        )
        need(values.interpolation in ("freudenthal", "nearest"), "interpolation is wrong")
        need(type(values.continuation) is list and len(values.continuation) == n_stages, "grid is of other stages")
        for stage, table in enumerate(values.continuation):
            numbers(table, "continuation", _n_contexts(values, stage), len(values.grid.points))
    elif isinstance(values, FittedValues):
        _check_fitted(values)
    elif isinstance(values, InterpolatedValues):
        need(0 <= float(values.share) <= 1, "share is wrong")
        need(isinstance(values.lower, ValueFunction) and isinstance(values.upper, ValueFunction), "nothing is blended")
        need(n_stages == max(values.lower.n_stages, values.upper.n_stages), "blended values are of other stages")
    elif isinstance(values, ProjectedValues):
        need(isinstance(values.values, ValueFunction) and values.values.n_stages == n_stages, "values do not steer")
        need(isinstance(values.projection, AcquisitionProblem), "nothing is projected")
        weights = getattr(values, "weights", [None] * n_stages)
        need(type(weights) is list and len(weights) == n_stages, "weights are of other stages")
        need(all(w is None or np.isfinite(w).all() for w in weights), "weights are not finite")


def _check_fitted(values: FittedValues) -> None:
    functions, n_classes = values.functions, values.problem.n_classes
    need(
        isinstance(functions, BeliefFunctions) and functions.problem is values.problem,
        "functions are of another problem",
    )
    need(functions.n_classes == n_classes and 0 < float(functions.unit) < np.inf, "functions are of other classes")
    first = array(functions.first, "first", "i", None)
    second = array(functions.second, "second", "i", len(first))
    known = ((first >= 0) & (first < second) & (second < n_classes)).all()
    need(bool(known) and functions.count == 4 * n_classes + 4 + 2 * len(first), "functions are wrong")
    need(type(values.weights) is list and len(values.weights) == values.n_stages, "weights are of other stages")
    for weights in values.weights:
        if weights is not None:
            numbers(weights, "weights", functions.count)


def _n_contexts(values: ValueFunction, stage: int) -> int:
    """Contexts that values tell apart; those of `SharedVectors` none, of a problem that may have no tables."""
    tables = values.problem.tables
    return 1 if tables is None else tables.n_contexts(stage)


def check_rule_values(values: RuleValues) -> None:
    """Check the cost of going on along an ordering rule."""
    n_stages = whole(values.n_stages, "n_stages", 0)
    need(isinstance(values.problem, AcquisitionProblem) and values.problem.free, "values are of another problem")
    need(isinstance(values.rule, OrderingRule), "values are of no rule")
    need(type(values.weights) is list and len(values.weights) == n_stages, "weights are of other stages")
    for weights in values.weights:
        if weights is not None:
            numbers(weights, "weights", None)
    if isinstance(values.rule, ImprovedRule):
        whole(values.rule.n_candidates, "n_candidates", 1)
        inner = values.rule.values
        need(isinstance(inner, RuleValues) and inner.problem is values.problem, "a rule is improved on other values")


def check_policy(policy: Policy) -> None:
    """Check a policy."""
    problem, info = policy.problem, policy.info
    need(isinstance(problem, AcquisitionProblem), "a policy has no problem")
    n_stages = whole(policy.n_stages, "n_stages", 0, problem.n_stages)
    need(isinstance(info, SolveInfo) and type(info.status) is str, "info is none of a solver")
    for name in ("upper", "lower", "gap", "confidence", "seconds", "certify_seconds", "n_stages", "size"):
        need(isinstance(getattr(info, name), (float, int)), f"{name} is no number")
    need(info.ordering is None or isinstance(info.ordering, OrderingChoice), "nothing was chosen")
    if isinstance(policy, LookaheadPolicy):
        values = policy.values
        need(isinstance(values, ValueFunction) and values.n_stages == n_stages, "values are of other stages")
        need(values.problem is problem, "values are of another problem")
    elif isinstance(policy, RulePolicy):
        need(
            isinstance(policy.values, RuleValues) and policy.values.problem is problem, "values are of another problem"
        )
        need(policy.values.n_stages == n_stages, "values are of other stages")
    elif isinstance(policy, LinearThresholdPolicy):
        numbers(policy.thresholds, "thresholds", n_stages, problem.n_decisions, problem.n_classes)
    elif isinstance(policy, RepricedPolicy):
        need(isinstance(policy.policy, Policy) and policy.policy.n_stages == n_stages, "nothing is priced anew")
        need(0 <= float(policy.multiplier) < np.inf, "multiplier is wrong")
        need(policy.policy.problem.n_stages == problem.n_stages, "another problem is priced anew")
    elif isinstance(policy, StopWhenSure):
        need(isinstance(policy.policy, Policy) and policy.policy.problem is problem, "it asks for nothing")
        need(0 <= float(policy.cost) < np.inf, "cost is wrong")
    elif isinstance(policy, RandomisedPolicy):
        need(all(isinstance(one, Policy) for one in policy.policies), "lots are drawn among no policies")
        check_distribution(policy.probabilities, len(policy.policies), "probabilities")
        need(all(one.problem.n_stages == problem.n_stages for one in policy.policies), "policies are of other problems")
    elif isinstance(policy, PlannedPolicy):
        need(problem.free and isinstance(policy.fallback, Policy), "a plan has nothing to fall back on")
        need(policy.fallback.problem is problem and type(policy.plan) is list, "a plan is of another problem")
        for keys, questions in policy.plan:
            array(keys, "keys", "S", None)
            array(questions, "questions", "i", len(keys))
    elif isinstance(policy, OrderBoundPolicy):
        need(
            isinstance(policy.bounds, RepeatValues) and policy.bounds.problem is problem,
            "bounds are of another problem",
        )


def check_repeats(values: RepeatValues) -> None:
    """Check bounds over all orders."""
    problem, grid = values.problem, values.grid
    need(isinstance(problem, AcquisitionProblem) and has_repeats(problem), "bounds are of another problem")
    need(isinstance(grid, (SimplexGrid, LogOddsLine)) and grid.points.shape[1] == problem.n_classes, "grid is wrong")
    tables = problem.class_tables
    assert tables is not None  # as has_repeats has seen
    need(np.array_equal(numbers(values.tables, "tables", *tables.shape), tables), "tables are of another problem")
    once = values.once
    need(type(once) is list and len(set(once)) == len(once) <= 30, "once is wrong")
    for question in once:
        whole(question, "once", 0, problem.n_questions - 1)
    numbers(values.values, "values", 2 ** len(once), len(grid.points))


def check_line(line: LogOddsLine) -> None:
    """Check points between two classes."""
    points = numbers(line.points, "points", None, 2)
    need(len(points) >= 2 and bool((np.diff(points[:, 1]) > 0).all()), "points do not rise")
    need(points[0, 1] == 0 and points[-1, 1] == 1 and np.allclose(points.sum(axis=1), 1), "points are no beliefs")
