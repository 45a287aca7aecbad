"""What is done once a model stands: order, problem, policy; and the same again for another prior."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, TypeGuard

import numpy as np
import numpy.typing as npt
from scipy import sparse

from seqclass._utils.arrays import BoolArray, FloatArray, IntArray, as_generator
from seqclass._utils.text import short_repr
from seqclass._utils.validation import check_distribution, check_integer, columns_of, in_order
from seqclass.agent._coding import category_counts
from seqclass.agent._naming import ColumnNaming
from seqclass.agent._warm_start import initial_belief_given
from seqclass.agent.agent import Agent, columns_by_name, initial_row_beliefs, naming_of
from seqclass.agent.problem import acquisition_problem, is_free
from seqclass.agent.record import EncodedRows
from seqclass.bn.ordering import check_order, order_by_name
from seqclass.costs import Prices
from seqclass.fitting._price_order import TUNING as PRICE_ORDER
from seqclass.fitting._price_order import order_by_prices
from seqclass.fitting._settings import Settings
from seqclass.pomdp import AcquisitionProblem, Adaptive, BeliefState, FirstK, Policy, Solver, solve_for_budget
from seqclass.pomdp.acquisition import acquire
from seqclass.pomdp.answer_rules import AnswerRules, with_closing
from seqclass.pomdp.policy import with_info
from seqclass.pomdp.prices_after import check_order_of_prices, with_prices_after
from seqclass.pomdp.rules import Rules, with_rules
from seqclass.pomdp.skips import answer_rules
from seqclass.pomdp.solvers.base import policy_of, without_certificate
from seqclass.pomdp.solvers.defaults import default_solver
from seqclass.pomdp.solvers.ordering.cases import model_cases
from seqclass.pomdp.solvers.ordering.observed import along_order, order_from_rows, select_on_rows
from seqclass.pomdp.solvers.ordering.rules import screen_by_information
from seqclass.pomdp.solvers.training import TrainingCases
from seqclass.pomdp.starts import Starts
from seqclass.pomdp.sweeps.budget import within_budget
from seqclass.pomdp.table_problem import select_questions
from seqclass.pomdp.visits import orders_panels


def order_features(settings: Settings, agent: Agent, codes: Any, y: Any) -> IntArray:
    """Features of the model in the order that the settings ask for."""
    rule = "given" if is_free(settings.order) else settings.order
    most = None if settings.max_features is None else check_integer(settings.max_features, "max_features", 0)
    most = most if agent.prices.bundles is None else None  # of which each shows several
    # what is known costs nothing, so that rules take it first and look at what the others say beside it
    most = None if most is None else most + len(agent.known)
    order = _stage_order(agent, rule, codes, y, most)
    order, own = order[~np.isin(order, agent.known)], agent.prices.take(agent.support)
    if not own.after or rule == "given" or not isinstance(rule, str):
        return order
    rows, called = codes[:: -(-codes.shape[0] // PRICE_ORDER.max_rows)], naming_of(agent).feature
    # with a budget prices only say how features compare
    cost = None if settings.target_cost is not None else lambda one: _mean_cost_of_order(settings, agent, one, rows)
    return order_by_prices(order, own.after, own.bundles, cost, called)


def _stage_order(agent: Agent, order: Any, codes: Any, y: Any, most: int | None = None) -> IntArray:
    """Features of the model in an order, by the name of a rule or as columns."""
    support, prices = agent.support, agent.prices
    if isinstance(order, str):
        return order_by_name(order, agent.model, prices.full[support], codes, y, most)
    # columns and names refer to the data; the model knows the selected ones only
    columns = check_order(order, prices.full.size, agent.feature_names)
    if not np.isin(columns, support).all():
        raise ValueError("order names a feature that the selector did not keep.")
    return np.searchsorted(support, columns)


def _mean_cost_of_order(settings: Settings, agent: Agent, order: IntArray, codes: Any) -> float:
    """What rows are expected to cost along an order, stopped by a regression on drawn cases."""
    problem = build_problem(settings, agent, order, codes, None)
    solver = Adaptive(n_paths=PRICE_ORDER.n_paths, random_state=settings.seed)
    policy = along_order(problem, np.arange(problem.n_questions), solver)
    begun = _begin_rows(replace(agent, problem=problem), codes)
    acquired = acquire(policy, codes, charge_missing=agent.charge_missing, start=begun)
    cost = acquired.leaf_price + problem.stopping_cost(acquired.leaf_belief)
    return float(cost[acquired.leaf].mean())


def rules_from_settings(settings: Settings, n_columns: int, names: Any) -> Rules | None:
    """The rules that the settings give, by numbers of columns."""
    rules = Rules.from_value(settings.rules)
    if rules is None:
        return None
    if not is_free(settings.order) and (rules.areas or rules.enemies or rules.first or rules.mandatory):
        raise ValueError('rules need order="adaptive", in which any question may come next.')
    return rules.numbers(n_columns, names)


def _drop_known(rules: Rules, known: set[int], members: list[IntArray], names: list[str]) -> tuple[Rules, list[int]]:
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
            f"rules: mandatory names {short_repr(names[gone[0]])}, an enemy of {short_repr(names[closed[gone[0]]])}, "
            "which is known at the start: take one of them out."
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
    settings: Settings,
    agent: Agent,
    problem: AcquisitionProblem,
    codes: Any,
    weight: FloatArray | None,
    answers: AnswerRules | None,
) -> Starts:
    """How cases begin once what is known at the start was seen: as the training rows, or as cases of the model do."""
    known, rng = agent.known, as_generator(settings.seed, "starts")
    most = 2000  # rows that plans begin as
    begun = agent.problem.structure.starts
    if codes is None and begun is not None:
        rows, share = begun.outcomes, begun.weight
    elif codes is None:
        free = Prices(np.zeros(len(agent.support)), np.zeros(len(agent.support)), None)
        costs = agent.problem.decision_costs
        alone = acquisition_problem(agent.model, known, free, costs, problem.prior, any_order=True)
        cases = model_cases(alone, most, rng)
        rows, share = cases.answers, cases.weight
    else:
        if codes.shape[0] > most:  # rows that weigh little are hardly drawn, so that few do not stand for all
            chance = None if weight is None else weight / weight.sum()
            some = rng.choice(codes.shape[0], most, replace=weight is not None, p=chance)
            codes, weight = codes[np.sort(some)], None
        seen = codes[:, known]
        rows = np.asarray(seen.toarray() if sparse.issparse(seen) else seen)
        weight = np.ones(len(rows)) if weight is None else weight
        share = weight / weight.sum()
    outcomes, at = np.unique(rows, axis=0, return_inverse=True)
    belief = initial_belief_given(agent.model, problem, known, outcomes)
    state = belief.state if isinstance(belief.state, np.ndarray) else None
    total = np.bincount(at.reshape(-1), share, len(outcomes)).astype(np.float64)
    answers = answers if answers is not None and np.isin(answers.gates, known).any() else None
    return Starts(total, belief.probabilities, known, outcomes.astype(np.intp), state, answers)


def _needless(settings: Settings, agent: Agent, codes: Any) -> list[tuple[int, int, BoolArray]]:
    """What nobody is asked who volunteered something: known features, others, and outcomes of no row with an answer."""
    if not isinstance(settings.known, Mapping) or not agent.known.size:
        return []
    place = np.full(agent.n_features, -1)
    place[agent.support] = np.arange(len(agent.support))
    names, n = agent.feature_names, agent.n_features
    pairs = [
        tuple(int(place[columns_of([column], n, names, "known")[0]]) for column in pair)
        for pair in settings.known.items()
        if pair[1] is not None
    ]
    if pairs and codes is None:
        raise ValueError(
            "known: what a column makes needless is learnt from rows, and a model is given without: give known as a "
            "list."
        )
    closing = []
    for feature, other in ((one, other) for one, other in pairs if min(one, other) >= 0):
        both = codes[:, [feature, other]]
        volunteered, answer = np.asarray(both.toarray() if sparse.issparse(both) else both).T
        there = (volunteered >= 0) & (answer >= 0) & (answer != agent.coder.missing_code[agent.support[other]])
        size = int(agent.model.n_outcomes_[feature])
        closing.append((feature, other, np.bincount(volunteered[there], minlength=size)[:size] == 0))
    return closing


def skip_rules(settings: Settings, naming: ColumnNaming) -> AnswerRules | None:
    """Which answers open others or imply them, by features of the model; None if there is no skip logic."""
    rules, coder, support = Rules.from_value(settings.rules), naming.coder, naming.support
    if rules is None or not rules.skip:
        return None
    place = {int(column): feature for feature, column in enumerate(support)}
    numbers = rules.skip.numbers(len(coder.n_outcomes_), naming.names)
    return answer_rules(numbers, naming, place, coder.n_outcomes_[support], naming.names)


def without_skipped(settings: Settings, naming: ColumnNaming, codes: Any) -> Any:
    """Outcomes of training rows in which what skip logic leaves out is missing, as of those who are not asked."""
    rules, coder, support = skip_rules(settings, naming), naming.coder, naming.support
    if rules is None:
        return codes
    if sparse.issparse(codes):
        raise ValueError("skip logic needs rows that are not sparse: give X as an array, X.toarray().")
    own = codes[:, rules.features].astype(np.intp)
    own = np.where(own == coder.missing_code[support[rules.features]], -1, own)
    codes, never = codes.copy(), np.zeros(own.shape, dtype=bool)
    while (more := rules.follow(own, own < 0).never & ~never).any():  # what is left out opens nothing in its turn
        never |= more
        own[never] = -1
    codes[:, rules.features] = np.where(never, -1, codes[:, rules.features])
    return codes


def build_problem(
    settings: Settings, agent: Agent, order: IntArray, codes: Any, weight: FloatArray | None
) -> AcquisitionProblem:
    """The problem of a model whose features come in an order, or in any, with rows to begin as, by their weight."""
    rules, naming = rules_from_settings(settings, agent.n_features, agent.feature_names), naming_of(agent)
    prices = agent.prices.take(agent.support)
    if prices.after and rules is None:  # prices depend on what is missing as well, so that no order is the same for all
        rules = Rules()
    any_order = is_free(settings.order) or rules is not None
    begun = agent.problem.structure.starts if codes is None else None  # of one that is planned for again
    answers = begun.answers if begun is not None else None
    if answers is None:
        needless = [] if begun is not None else _needless(settings, agent, codes)
        answers = with_closing(skip_rules(settings, naming), needless)
    costs, prior = agent.problem.decision_costs, agent.problem.prior if codes is None else None
    problem = acquisition_problem(agent.model, order, prices, costs, prior, any_order=any_order, bundles=prices.bundles)
    problem = problem.replace(_naming=naming)
    if agent.known.size:
        problem = problem.replace(starts=starts_of(settings, agent, problem, codes, weight, answers))
        answers = None if answers is None else answers.after_start(agent.known, naming.feature)
    problem = within_budget(problem, max_features=settings.max_features, max_cost=settings.max_cost)
    if rules is not None:
        members = [agent.support[problem.structure.members(question)] for question in range(problem.n_questions)]
        names = list(columns_by_name(agent))
        if agent.known.size:
            rules, left = _drop_known(rules, set(agent.support[agent.known].tolist()), members, names)
            problem = select_questions(problem, np.array(left, dtype=np.intp))
            members = [members[question] for question in left]
        if not is_free(settings.order):  # skip logic alone: what is left out is passed over
            rules = replace(rules, first=[int(column) for own in members for column in own])
        problem = with_rules(problem, replace(rules.of_questions(members, names), answers=answers))
    if not isinstance(settings.order, str) or settings.order == "given":
        check_order_of_prices(prices.after, order, naming)
    problem = with_prices_after(problem, prices.after)
    most = None if settings.max_candidates is None else check_integer(settings.max_candidates, "max_candidates", 1)
    return screen_by_information(problem, most) if any_order and most is not None else problem


def with_paths(settings: Settings, n_paths: int) -> Settings:
    """Settings with a policy fitted to so many cases: less for what is only held against others."""
    solver = settings.solver
    return settings.replace(solver=replace(solver, n_paths=n_paths)) if isinstance(solver, Adaptive) else settings


def solver_of(settings: Settings, problem: AcquisitionProblem, certify: bool = True) -> Solver:
    """The solver that the settings name, or that suits the problem."""
    solver = settings.solver
    if isinstance(solver, Solver) and not orders_panels(problem):
        solver = solver._one_at_a_time
    solver = default_solver(problem, settings.random_state) if solver is None else solver
    return solver if certify else without_certificate(solver)


def solve(
    settings: Settings,
    agent: Agent,
    problem: AcquisitionProblem,
    certify: bool = True,
    codes: Any = None,
    y: npt.NDArray[Any] | None = None,
    weight: FloatArray | None = None,
) -> Agent:
    """An agent with the policy of a problem; where outcomes and labels of training rows are given, by these as well."""
    solver, agent = solver_of(settings, problem, certify), replace(agent, problem=problem)
    if settings.target_cost is not None:
        policy = solve_for_budget(problem, settings.target_cost, solver, random_state=settings.random_state)
        return replace(agent, policy=policy, differential=None)
    if y is None or not (_chooses(solver, problem) or getattr(solver, "uses_cases", False)):
        return replace(agent, policy=policy_of(solver, problem), differential=None)
    cases = _training_cases(agent, codes, y, weight)
    policy = policy_of(solver, problem, cases)
    agent = replace(agent, policy=policy, differential=None)
    if not _chooses(solver, problem):
        return agent
    # the fixed order of the training rows is taken where it costs less on them
    order = _stage_order(agent, "conditional", codes, y)
    return replace(agent, policy=select_on_rows(policy, _questions(problem, order), solver, cases))


def _begin_rows(agent: Agent, outcomes: Any) -> tuple[BeliefState, IntArray] | None:
    """How rows begin of which something is known at the start."""
    nothing = FirstK(0, certificate_paths=0).solve(agent.problem)
    return initial_row_beliefs(agent, EncodedRows(outcomes, np.arange(len(agent.support)), None), nothing)


def _training_cases(agent: Agent, codes: Any, y: npt.NDArray[Any], weight: FloatArray | None) -> TrainingCases:
    ordered, label = ~np.isin(agent.support, list(category_counts(agent.encoder))), np.searchsorted(agent.classes, y)
    return TrainingCases(codes, label, ordered, weight, agent.charge_missing, lambda rows: _begin_rows(agent, rows))


def with_prior(settings: Settings, agent: Agent, prior: npt.ArrayLike) -> Agent:
    """An agent solved again for another class prior."""
    prior = check_distribution(in_order(prior, "prior", agent.classes), len(agent.classes), "prior")
    return with_problem(settings, agent, agent.problem.replace(prior=prior), agent.policy)


def with_problem(settings: Settings, agent: Agent, problem: AcquisitionProblem, before: Policy) -> Agent:
    """An agent with the policy of another problem, along the order that the training rows preferred, if any."""
    other = solve(settings, agent, problem)
    solver, order = solver_of(settings, problem), order_from_rows(before)
    if order is None or settings.target_cost is not None or not _chooses(solver, other.problem):
        return other
    fixed = along_order(other.problem, order, solver)
    fixed = with_info(fixed, certify_seconds=other.policy.info.certify_seconds, ordering=before.info.ordering)
    return replace(other, policy=solver.certify(fixed))


def _chooses(solver: Solver, problem: AcquisitionProblem) -> TypeGuard[Adaptive]:
    """Whether a solver chooses what to ask by rules that nobody has named."""
    return problem.any_order and isinstance(solver, Adaptive) and solver.rules is None


def _questions(problem: AcquisitionProblem, order: IntArray) -> IntArray:
    """Questions of a problem that show the features of an order, each where the first of them stands."""
    place = np.full(int(order.max(initial=-1)) + 1, order.size)
    place[order] = np.arange(order.size)
    first = np.array([place[problem.structure.members(question)].min() for question in range(problem.n_questions)])
    return np.asarray(np.argsort(first, kind="stable"), dtype=np.intp)
