"""What is done once a model stands: order, problem, policy; and the same again for another prior."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import sparse

from seqclass._utils.arrays import FloatArray, IntArray, as_generator
from seqclass._utils.text import shown
from seqclass._utils.validation import check_distribution, check_integer, columns_of, in_order
from seqclass.costs import Prices
from seqclass.deciding._warm_start import beginning, needless_of
from seqclass.deciding.decider import Decider
from seqclass.deciding.problem import acquisition_problem, is_free, stage_order
from seqclass.deciding.record import EncodedRows
from seqclass.fitting._settings import Settings
from seqclass.pomdp import AcquisitionProblem, Adaptive, FirstK, Panels, Policy, Solver, solve_for_budget
from seqclass.pomdp.rules import Rules
from seqclass.pomdp.solvers.base import certified, policy_of, uncertified
from seqclass.pomdp.solvers.defaults import default_solver
from seqclass.pomdp.solvers.ordering.cases import model_cases
from seqclass.pomdp.solvers.ordering.given import GivenOrder
from seqclass.pomdp.solvers.ordering.observed import ON_ROWS, along_order, judged
from seqclass.pomdp.solvers.ordering.rules import most_telling
from seqclass.pomdp.solvers.ordering.values import RulePolicy
from seqclass.pomdp.solvers.panels import Rows
from seqclass.pomdp.starts import Starts
from seqclass.pomdp.sweeps.budget import within_budget

#: Most rows that plans begin as.
_MOST_STARTS = 2000


def ordered(settings: Settings, decider: Decider, codes: Any, y: Any) -> IntArray:
    """Features of the model in the order that the settings ask for."""
    rule = "given" if is_free(settings.order) else settings.order
    most = None if settings.max_features is None else check_integer(settings.max_features, "max_features", 0)
    most = most if decider.prices.bundles is None else None  # of which each shows several
    prices, names, known = decider.prices, decider.feature_names, decider.known
    # what is known costs nothing, so that rules take it first and look at what the others say beside it
    most = None if most is None else most + len(known)
    order = stage_order(rule, decider.model, decider.support, prices, codes, y, names, most)
    return order[~np.isin(order, known)]


def rules_of(settings: Settings, n_columns: int, names: Any) -> Rules | None:
    """The rules that the settings give, by numbers of columns."""
    rules = Rules.of(settings.rules)
    if rules is None:
        return None
    if not is_free(settings.order):
        raise ValueError(
            f'rules need order="adaptive", in which any question may come next; got order={settings.order!r}.'
        )
    if isinstance(settings.known, Mapping):
        raise ValueError("rules do not know what is needless: give known as a list of columns.")
    return rules.numbers(n_columns, names)


def _beside_known(rules: Rules, known: set[int], members: list[IntArray], names: list[str]) -> tuple[Rules, list[int]]:
    """Rules in which columns that are known at the start count as asked, and the questions that these leave open."""
    hit = {column: other for group in rules.enemies for other in known & {*group} for column in group}
    left, closed = [], {}
    for question, own in enumerate(members):
        others = [hit[column] for column in own.tolist() if column in hit]
        if others:
            closed.update(dict.fromkeys(own.tolist(), others[0]))
        else:
            left.append(question)
    if gone := [column for column in rules.mandatory if column in closed]:
        raise ValueError(
            f"rules: mandatory names {shown(names[gone[0]])}, an enemy of {shown(names[closed[gone[0]]])}, which is "
            "known at the start: take one of them out."
        )
    if not left:
        raise ValueError(
            "rules: whatever may be asked is an enemy of what is known at the start, so that there is nothing to ask: "
            "take one of them out."
        )
    areas = {}
    for name, area in rules.areas.items():
        had = len(known & {*area["items"]})
        ends = {end: max(area[end] - had, 0) for end in ("at_least", "at_most") if area.get(end) is not None}
        areas[name] = area | ends
    first = [column for column in rules.first if column not in closed]
    return replace(rules, areas=areas, first=first), left


def starts_of(
    settings: Settings, decider: Decider, problem: AcquisitionProblem, codes: Any, weight: FloatArray | None
) -> Starts:
    """How cases begin once what is known at the start was seen: as the training rows, or as cases of the model do."""
    known, rng = decider.known, as_generator(settings.seed, "starts")
    if codes is None:
        free = Prices(np.zeros(len(decider.support)), np.zeros(len(decider.support)), None)
        costs = decider.decision_costs
        alone = acquisition_problem(decider.model, known, free, costs, problem.prior, free=True)
        cases = model_cases(alone, _MOST_STARTS, rng)
        rows, share = cases.answers, cases.weight
    else:
        if codes.shape[0] > _MOST_STARTS:  # rows that weigh little are hardly drawn, so that few do not stand for all
            chance = None if weight is None else weight / weight.sum()
            some = rng.choice(codes.shape[0], _MOST_STARTS, replace=weight is not None, p=chance)
            codes, weight = codes[np.sort(some)], None
        seen = codes[:, known]
        rows = np.asarray(seen.toarray() if sparse.issparse(seen) else seen)
        weight = np.ones(len(rows)) if weight is None else weight
        share = weight / weight.sum()
    outcomes, at = np.unique(rows, axis=0, return_inverse=True)
    info = beginning(decider.model, problem, known, outcomes)
    state = info.state if isinstance(info.state, np.ndarray) else None
    total = np.bincount(at.reshape(-1), share, len(outcomes)).astype(np.float64)
    needless = needless_of(decider.needless, outcomes)
    return Starts(total, info.belief, known, outcomes.astype(np.intp), state, needless)


def with_needless(settings: Settings, decider: Decider, codes: Any) -> Decider:
    """The same that knows which answers nobody has who volunteered something: those that no such row has."""
    if not isinstance(settings.known, Mapping) or not decider.known.size:
        return decider
    place = np.full(decider.n_features, -1)
    place[decider.support] = np.arange(len(decider.support))
    names, n = decider.feature_names, decider.n_features
    pairs = {
        int(place[columns_of([one], n, names, "known")[0]]): int(place[columns_of([other], n, names, "known")[0]])
        for one, other in settings.known.items()
        if other is not None
    }
    if pairs and codes is None:
        raise ValueError(
            "known: what a column makes needless is learnt from rows, and a model is given without: give known as a "
            "list."
        )
    sizes = decider.model.n_outcomes_[decider.known]
    needless: IntArray = np.full((len(decider.known), int(sizes.max())), -1)
    for row, feature in enumerate(decider.known.tolist()):
        if (other := pairs.get(feature, -1)) >= 0:
            both = codes[:, [feature, other]]
            said, answer = np.asarray(both.toarray() if sparse.issparse(both) else both).T
            there = (answer >= 0) & (answer != decider.coder.gone[decider.support[other]])
            answered = np.bincount(said[(said >= 0) & there], minlength=int(sizes[row])) > 0
            needless[row, : sizes[row]][~answered] = other
    return replace(decider, needless=needless)


def staged(
    settings: Settings, decider: Decider, order: IntArray, codes: Any, weight: FloatArray | None
) -> AcquisitionProblem:
    """The problem of a model whose features come in an order, or in any, with rows to begin as, by their weight."""
    prices, free = decider.prices.take(decider.support), is_free(settings.order)
    costs, bundles = decider.decision_costs, prices.bundles
    problem = acquisition_problem(decider.model, order, prices, costs, free=free, bundles=bundles)
    if decider.known.size:
        problem = problem.replace(starts=starts_of(settings, decider, problem, codes, weight))
    problem = within_budget(problem, max_features=settings.max_features, max_cost=settings.max_cost)
    rules = rules_of(settings, decider.n_features, decider.feature_names)
    if rules is not None:
        members = [decider.support[problem.members(question)] for question in range(problem.n_questions)]
        names = [decider.feature_name(column) for column in range(decider.n_features)]
        if decider.known.size:
            rules, left = _beside_known(rules, set(decider.support[decider.known].tolist()), members, names)
            problem, members = problem.subset(np.array(left, dtype=np.intp)), [members[question] for question in left]
        problem = problem.with_rules(rules.of_questions(members, names))
    most = None if settings.max_candidates is None else check_integer(settings.max_candidates, "max_candidates", 1)
    return most_telling(problem, most) if free and most is not None else problem


def solver_of(settings: Settings, problem: AcquisitionProblem, certify: bool = True) -> Solver:
    """The solver that the settings name, or that suits the problem."""
    solver = settings.solver
    if isinstance(solver, Panels) and not problem.orders_panels:  # then one question at a time is best
        solver = solver.solver
    solver = default_solver(problem, settings.random_state) if solver is None else solver
    return solver if certify else uncertified(solver)


def solved(
    settings: Settings,
    decider: Decider,
    problem: AcquisitionProblem,
    certify: bool = True,
    codes: Any = None,
    y: npt.NDArray[Any] | None = None,
    weight: FloatArray | None = None,
) -> Decider:
    """The same with the policy of a problem; where it orders panels, judged on the training rows."""
    solver = solver_of(settings, problem, certify)
    if isinstance(solver, Panels) and y is not None and settings.target_cost is None:
        policy = solver.best(problem, _some_rows(replace(decider, problem=problem), codes, y, weight))
        policy = solver.certified(policy)
    elif settings.target_cost is None:
        policy = policy_of(solver, problem)
    else:
        policy = solve_for_budget(problem, settings.target_cost, solver, random_state=settings.random_state)
    return replace(decider, problem=problem, policy=policy, differential=None)


#: Rows that panels are judged on.
_MOST_ROWS = 300


def _some_rows(decider: Decider, codes: Any, y: npt.NDArray[Any], weight: FloatArray | None) -> Rows:
    """Training rows, of many an even sample."""
    some = np.unique(np.linspace(0, len(y) - 1, _MOST_ROWS).astype(np.intp)) if len(y) > _MOST_ROWS else slice(None)
    codes, costs = codes[some], decider.decision_costs[np.searchsorted(decider.classes, y[some])]
    nothing = FirstK(0, certificate_paths=0).solve(decider.problem)
    start = decider.opening(EncodedRows(codes, np.arange(len(decider.support)), None), nothing)
    return Rows(codes, costs, decider.charge_missing, start, None if weight is None else weight[some])


def judge(
    settings: Settings,
    decider: Decider,
    codes: Any,
    y: npt.NDArray[Any],
    weight: FloatArray | None,
    certify: bool = True,
) -> Decider:
    """Take the fixed order where it costs less on the training rows, whose outcomes and labels are given."""
    solver = _chooser(settings, decider.problem, certify)
    if solver is None:
        return decider
    order = stage_order("conditional", decider.model, decider.support, decider.prices, codes, y, decider.feature_names)
    costs = decider.decision_costs[np.searchsorted(decider.classes, y)]
    questions = _questions(decider.problem, order)
    start = decider.opening(EncodedRows(codes, np.arange(len(decider.support)), None))
    charged = decider.charge_missing
    policy = judged(decider.policy, questions, codes, costs, solver, charged, start, weight)
    return replace(decider, policy=policy)


def with_prior(settings: Settings, decider: Decider, prior: npt.ArrayLike) -> Decider:
    """The same solved again for another class prior, along the order that the training rows preferred, if any."""
    prior = check_distribution(in_order(prior, "prior", decider.classes), len(decider.classes), "prior")
    other = solved(settings, decider, decider.problem.replace(prior=prior))
    solver, ordering = _chooser(settings, other.problem), decider.policy.info.ordering
    if solver is None or ordering is None or ordering.chosen != ON_ROWS:
        return other
    assert isinstance(decider.policy, RulePolicy)  # of that name there is no other
    assert isinstance(decider.policy.values.rule, GivenOrder)
    fixed = along_order(other.problem, np.asarray(decider.policy.values.rule.order, dtype=np.intp), solver)
    policy: Policy = certified(fixed, solver.certificate_paths, solver.random_state)
    return replace(other, policy=policy.with_info(ordering=ordering))


def _chooser(settings: Settings, problem: AcquisitionProblem, certify: bool = True) -> Adaptive | None:
    """The solver that chooses what to ask, unless the user has named rules or a budget."""
    if not problem.free or settings.target_cost is not None:
        return None
    solver = solver_of(settings, problem, certify)
    return solver if isinstance(solver, Adaptive) and solver.rules is None else None


def _questions(problem: AcquisitionProblem, order: IntArray) -> IntArray:
    """Questions of a problem that show the features of an order, each where the first of them stands."""
    place = np.full(int(order.max(initial=-1)) + 1, order.size)
    place[order] = np.arange(order.size)
    first = np.array([place[problem.members(question)].min() for question in range(problem.n_questions)])
    return np.asarray(np.argsort(first, kind="stable"), dtype=np.intp)
