"""Rules about what may be asked, against brute force over sets of questions and over all histories."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import pytest

from seqclass import Rules
from seqclass.bn import ItemResponse, SkillProfile
from seqclass.pomdp import (
    Adaptive,
    ClassInformation,
    DecideNow,
    ExactFreeOrder,
    Lookahead,
    MixtureProblem,
    certify,
    evaluate,
    optimal_cost,
    within_budget,
)
from seqclass.pomdp.problem import AcquisitionProblem

QUICK = Adaptive([ClassInformation()], n_paths=200, n_cases=300, max_rounds=0, certificate_paths=0)


def random_rules(rng: np.random.Generator, n: int) -> Rules:
    """Rules of any kind, which may be impossible to meet."""
    labels = rng.integers(0, 3, n)
    areas: dict[str, Any] = {}
    for number in range(2):
        least = int(rng.integers(0, 3))
        items = np.flatnonzero(labels == number).tolist()
        areas[f"area {number}"] = {"items": items, "at_least": least, "at_most": least + int(rng.integers(0, 3))}
    enemies: list[Any] = []
    left = rng.permutation(n).tolist()
    while len(left) >= 2 and rng.random() < 0.6:
        size = min(int(rng.integers(2, 4)), len(left))
        enemies.append([left.pop() for _ in range(size)])
    first = rng.permutation(n)[: rng.integers(0, 3)].tolist() if rng.random() < 0.5 else []
    mandatory = rng.permutation(n)[: rng.integers(0, 2)].tolist()
    return Rules(areas, enemies, first, mandatory)


def random_problem(rng: np.random.Generator, n: int = 5) -> AcquisitionProblem:
    """Items of a random bank, sometimes with a limit of their number or of what they cost."""
    if rng.random() < 0.7:
        bank = {"a": rng.lognormal(0.3, 0.4, n), "b": rng.normal(size=n), "c": np.full(n, 0.2)}
        model: Any = ItemResponse.from_items(bank, cuts=[0.0], points=4)
    else:
        needs = np.concatenate([np.eye(2, dtype=int), rng.integers(0, 2, (n - 2, 2)) | [1, 0]])
        model = SkillProfile.from_items(needs, guess=0.2, slip=0.1, target=0)
    hidden = model.hidden(np.arange(n))
    prices = rng.uniform(0.005, 0.08, n)
    tables = list(hidden.tables)
    problem: AcquisitionProblem = MixtureProblem(
        model.class_prior_[model.hidden_class_] * model.weights_,
        model.hidden_class_,
        tables,
        prices,
        1 - np.eye(2),
        free=True,
    )
    kind = rng.random()
    if kind < 0.3:
        problem = within_budget(problem, max_features=int(rng.integers(2, n)))
    elif kind < 0.6:
        problem = within_budget(problem, max_cost=float(prices.sum() * rng.uniform(0.3, 0.9)))
    return problem


class BruteForce:
    """What rules mean, word by word, over sets of questions."""

    def __init__(self, rules: Rules, problem: AcquisitionProblem) -> None:
        self.rules, self.problem, self.n = rules, problem, problem.n_questions
        self.complete = cache(self.complete)  # type: ignore[method-assign]

    def legal(self, asked: frozenset[int]) -> bool:
        """Whether a set breaks none of what must not be."""
        at_most = all(len(asked & set(a["items"])) <= a.get("at_most", 99) for a in self.rules.areas.values())
        enemies = all(len(asked & set(group)) <= 1 for group in self.rules.enemies)
        cost = self.problem.prices[list(asked)].sum()
        within = self.problem.max_cost is None or cost <= self.problem.max_cost * (1 + 1e-12)
        return at_most and enemies and within and len(asked) <= self.problem.n_stages

    def met(self, asked: frozenset[int]) -> bool:
        """Whether it may be decided."""
        least = all(len(asked & set(a["items"])) >= a.get("at_least", 0) for a in self.rules.areas.values())
        return least and set(self.rules.mandatory) <= asked

    def after(self, asked: frozenset[int]) -> list[int]:
        """Questions that break nothing, first ones first."""
        free = [q for q in range(self.n) if q not in asked and self.legal_but_money(asked | {q})]
        pending = [q for q in self.rules.first if q in free]
        free = pending[:1] if pending else free
        return [q for q in free if self.legal(asked | {q})]

    def legal_but_money(self, asked: frozenset[int]) -> bool:
        at_most = all(len(asked & set(a["items"])) <= a.get("at_most", 99) for a in self.rules.areas.values())
        return at_most and all(len(asked & set(group)) <= 1 for group in self.rules.enemies)

    def complete(self, asked: frozenset[int]) -> bool:  # type: ignore[misc]
        """Whether all that has to be asked can still be."""
        return self.met(asked) or any(self.complete(asked | {q}) for q in self.after(asked))

    def open(self, asked: frozenset[int]) -> set[int]:
        return {q for q in self.after(asked) if self.complete(asked | {q})}


def optimum(brute: BruteForce, state: np.ndarray, asked: frozenset[int]) -> float:
    """Cost of the best policy from an unnormalised belief over hidden states."""
    problem: Any = brute.problem
    costs = problem.decision_costs[problem.hidden_class]
    best = float((state @ costs).min()) if brute.met(asked) else np.inf
    for q in brute.open(asked):
        after = sum(
            optimum(brute, state * problem.likelihoods[q, v], asked | {q}) for v in range(problem.n_outcomes[q])
        )
        best = min(best, state.sum() * problem.prices[q] + after)
    return best


def check(seed: int) -> bool:
    """Compare one random problem with brute force; whether its rules can be met."""
    rng = np.random.default_rng(seed)
    problem, rules = random_problem(rng), random_rules(rng, 5)
    brute = BruteForce(rules, problem)
    named = frozenset([*rules.first, *rules.mandatory])
    if not brute.legal_but_money(named) or not brute.complete(frozenset()):
        with pytest.raises(ValueError, match="rules: "):
            problem.with_rules(rules)
        return False
    try:
        ruled: Any = problem.with_rules(rules)
    except ValueError as error:
        if "max_cost does not know" in str(error):
            return False
        raise
    reached = {frozenset(): ruled.begin()}
    for size in range(6):
        for asked in [one for one in reached if len(one) == size]:
            info = reached[asked]
            assert set(np.flatnonzero(info.open[0])) == brute.open(asked), (seed, asked)
            assert bool(info.closed[0]) is not brute.met(asked), (seed, asked)
            for q in brute.open(asked):
                reached.setdefault(asked | {q}, info.asking(q).update(np.array([0])))
    best = optimum(brute, ruled.prior[ruled.hidden_class] * ruled.hidden_prior, frozenset())
    assert optimal_cost(ruled) == pytest.approx(best, abs=1e-9), seed
    exact = ExactFreeOrder().solve(ruled)
    assert exact.info.upper == pytest.approx(best, abs=1e-9)
    assert evaluate(ruled, exact).cost == pytest.approx(best, abs=1e-9)
    for solver in (DecideNow(), Lookahead(2), QUICK):
        policy = solver.solve(ruled)
        cost = evaluate(ruled, policy, method="exact").cost
        assert cost >= best - 1e-9
        for method in ("exact", "deterministic"):
            found = (
                certify(ruled, policy, method=method) if method == "exact" else certify(ruled, policy, max_histories=1)
            )
            assert found.lower <= best + 1e-9, (seed, solver, method)
            assert found.upper >= cost - 1e-9 or found.confidence < 1, (seed, solver, method)
    return True


@pytest.mark.parametrize("seed", range(25))
def test_problems_with_rules_are_what_brute_force_says(seed: int) -> None:
    check(seed)


@pytest.mark.slow
def test_three_hundred_problems_with_rules_are_what_brute_force_says() -> None:
    assert sum(check(seed) for seed in range(1000, 1820)) >= 300
