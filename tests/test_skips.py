"""Skip logic: follow-up questions and answers that follow from others, against brute force and in every use."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from seqclass import SkipLogic, SkipRule
from seqclass.pomdp import (
    Adaptive,
    ClassInformation,
    ExactFreeOrder,
    FirstK,
    Lookahead,
    TableProblem,
    certify,
    evaluate,
    optimal_cost,
)
from seqclass.pomdp.problem import AcquisitionProblem
from seqclass.pomdp.rules import with_rules

QUICK = Adaptive([ClassInformation()], n_paths=100, n_cases=100, max_rounds=0, certificate_paths=0)
NOT_ASKED = -2


def random_logic(rng: np.random.Generator, sizes: list[int]) -> list[SkipRule]:
    """Rules of questions, each about one before it in a random order, so that there is no circle."""
    order, rules = rng.permutation(len(sizes)).tolist(), []
    for place, question in enumerate(order[1:], 1):
        for after in order[:place]:
            if rng.random() < 0.35:
                answers = np.flatnonzero(rng.random(sizes[after]) < 0.6).tolist() or None
                implied = int(rng.integers(sizes[question])) if rng.random() < 0.4 else None
                rules.append(SkipRule(question, after, answers, implied, "any" if question % 2 else "all"))
    return rules


def values_of(rules: list[SkipRule], answers: dict[int, int]) -> dict[int, int]:
    """Answers, -1 where there is none, and what follows from them."""
    known = dict(answers)
    while True:
        more = {
            r.question: r.implied
            for r in rules
            if r.implied is not None and r.question not in known and accepts(r, known.get(r.after, -1))
        }
        if not more:
            return known
        known.update(dict([next(iter(more.items()))]))


def accepts(rule: SkipRule, answer: int) -> bool:
    return answer >= 0 and (rule.answers is None or answer in rule.answers)


def may_ask(rules: list[SkipRule], answers: dict[int, int], n: int) -> set[int]:
    """What the rules mean, word by word."""
    known, result = values_of(rules, answers), set()
    for q in range(n):
        opens = [accepts(r, known.get(r.after, -1)) for r in rules if r.question == q and r.implied is None]
        some = any(r.match == "any" for r in rules if r.question == q)
        if q not in known and (not opens or (any(opens) if some else all(opens))):
            result.add(q)
    return result


def optimum(problem: Any, rules: list[SkipRule], joint: np.ndarray, answers: dict[int, int], first: bool) -> float:
    """Cost of the best policy from an unnormalised belief; ``first``: only the first open question may come next."""
    best = float((joint @ problem.decision_costs).min())
    if problem.max_questions is not None and len(answers) >= problem.max_questions:
        return best
    for q in sorted(may_ask(rules, answers, problem.n_questions))[: 1 if first else None]:
        table = problem.likelihoods[q]
        after = sum(
            optimum(problem, rules, joint * table[v], answers | {q: v}, first) for v in range(problem.n_outcomes[q])
        )
        best = min(best, joint.sum() * problem.prices[q] + after)
    return best


def random_problem(seed: int, any_order: bool) -> tuple[AcquisitionProblem, list[SkipRule]]:
    """Up to five questions of two or three outcomes, and rules that do not contradict each other."""
    rng = np.random.default_rng(seed)
    sizes = rng.integers(2, 4, rng.integers(3, 5 if any_order else 6)).tolist()
    tables = [rng.dirichlet(np.full(size, 0.7), 2).T for size in sizes]
    if rng.random() < 0.3:
        tables[0] = np.tile(rng.dirichlet(np.ones(sizes[0]))[:, None], 2)  # what says nothing, and opens much
    prices = rng.uniform(0, 0.1, len(sizes)) * (rng.random(len(sizes)) < 0.8)
    limit = {"max_questions": 2} if any_order and rng.random() < 0.3 else {}
    problem = TableProblem(rng.dirichlet([1, 1]), tables, prices, any_order=any_order, **limit)
    while True:
        if rules := random_logic(rng, sizes):
            try:
                return with_rules(problem, SkipLogic(rules)), rules
            except ValueError:  # they contradict each other
                continue


def check(seed: int, any_order: bool) -> None:
    problem, rules = random_problem(seed, any_order)
    best = optimum(problem, rules, problem.prior, {}, not any_order)
    assert optimal_cost(problem) == pytest.approx(best, abs=1e-9)
    for max_nodes in (10**6, 3):
        exact = ExactFreeOrder(max_nodes=max_nodes, certificate_paths=0).solve(problem)
        assert exact.info.lower <= best + 1e-9 <= exact.info.upper + 2e-9
        assert evaluate(problem, exact).cost >= best - 1e-9
    assert evaluate(problem, ExactFreeOrder().solve(problem)).cost == pytest.approx(best, abs=1e-9)
    searched = Adaptive(n_paths=40, n_cases=40, max_nodes=20, max_rounds=0, certificate_paths=20)
    for solver in (Lookahead(2, certificate_paths=0), QUICK, FirstK(None, certificate_paths=0), searched):
        policy = solver.solve(problem)
        cost = evaluate(problem, policy, method="exact").cost
        assert cost >= best - 1e-9
        for how in ({"method": "exact"}, {"max_histories": 1, "n_paths": 50}):
            found = certify(problem, policy, **how)
            assert found.lower <= best + 1e-9 or found.confidence < 1, (seed, solver, how)
            assert found.upper >= cost - 1e-9 or found.confidence < 1, (seed, solver, how)


@pytest.mark.parametrize("seed", range(10))
@pytest.mark.parametrize("any_order", [True, False])
def test_plans_are_what_brute_force_says(seed: int, any_order: bool) -> None:
    check(seed, any_order)


@pytest.mark.slow
def test_three_hundred_plans_are_what_brute_force_says() -> None:
    for seed in range(1000, 1300):
        check(seed, seed % 3 > 0)


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 10**6), st.booleans(), st.data())
def test_no_policy_asks_what_no_answer_has_opened(seed: int, any_order: bool, data: Any) -> None:
    problem, rules = random_problem(seed, any_order)
    policy = FirstK(None, certificate_paths=0).solve(problem) if seed % 2 else QUICK.solve(problem)
    belief, answers = problem.initial_belief(), {}
    while True:
        assert set(np.flatnonzero(belief.available[0]).tolist()) <= may_ask(rules, answers, problem.n_questions)
        if (question := int(policy.action(belief)[0])) < 0:
            break
        assert question in may_ask(rules, answers, problem.n_questions)
        answers[question] = data.draw(st.integers(-1, int(problem.n_outcomes[question]) - 1))
        belief = belief.asking(question).update(np.array([answers[question]]))
