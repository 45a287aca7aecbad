"""Oracles in plain Python that share no code with the package, and random problems to hold against them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from seqclass.pomdp import DECIDE, Policy, TableProblem
from seqclass.pomdp.account import Account
from seqclass.pomdp.problem import BeliefState


@pytest.fixture(scope="module", autouse=True)
def certify_as_users_do(whole_certificates: None) -> None:
    """Solvers and their certificates are what is tested here."""


@dataclass
class Case:
    """A staged problem as nested lists: ``tables[stage][context][outcome][class]``."""

    prior: list[float]
    tables: list[list[list[list[float]]]]
    prices: list[float]
    costs: list[list[float]]
    moves: list[list[list[int]]] | None = None
    groups: list[int] | None = None
    full_prices: list[float] | None = None
    problem: TableProblem = field(init=False)

    def __post_init__(self) -> None:
        if self.moves is None:
            tables: list[Any] = [stage[0] for stage in self.tables]
        else:
            tables = list(self.tables)
        self.problem = TableProblem(
            self.prior,
            tables,
            self.prices,
            self.costs,
            transitions=self.moves,
            groups=self.groups,
            full_prices=self.full_prices,
        )

    def stop(self, joint: list[float]) -> float:
        return min(sum(b * row[d] for b, row in zip(joint, self.costs)) for d in range(len(self.costs[0])))

    def decision(self, joint: list[float]) -> int:
        costs = [sum(b * row[d] for b, row in zip(joint, self.costs)) for d in range(len(self.costs[0]))]
        return next(d for d, cost in enumerate(costs) if cost <= min(costs) + 1e-12 * sum(joint))

    def successors(self, stage: int, joint: list[float], context: int) -> Iterator[tuple[int, list[float], int]]:
        for v, column in enumerate(self.tables[stage][context]):
            following = [p * b for p, b in zip(column, joint)]
            if sum(following) > 0:
                yield v, following, 0 if self.moves is None else self.moves[stage][context][v]


def optimum(case: Case, stage: int = 0, joint: list[float] | None = None, context: int = 0) -> float:
    """Optimal cost by recursion over all histories."""
    joint = case.prior if joint is None else joint
    stop = case.stop(joint)
    if stage == len(case.prices):
        return stop
    go_on = case.prices[stage] * sum(joint)
    for _, following, after in case.successors(stage, joint, context):
        go_on += optimum(case, stage + 1, following, after)
    return min(stop, go_on)


def run_policy(case: Case, policy: Policy) -> SimpleNamespace:
    """Everything that `evaluate` reports, by asking the policy about one history at a time."""
    n_stages, n_classes, n_decisions = len(case.prices), len(case.prior), len(case.costs[0])
    out = SimpleNamespace(
        cost=0.0,
        price=0.0,
        n_features=0.0,
        stage=np.zeros(n_stages + 1),
        joint=np.zeros((n_classes, n_decisions)),
        histories=1,
    )

    def visit(stage: int, joint: list[float], context: int, paid: float, groups: frozenset[int]) -> None:
        weight = sum(joint)
        action = DECIDE
        if stage < n_stages:
            mask = None
            if case.groups is not None:
                mask = np.zeros((1, max(case.groups) + 1), dtype=bool)
                mask[0, list(groups)] = True
            posterior = np.array([[b / weight for b in joint]])
            belief = BeliefState(case.problem, stage, posterior, np.array([context]), Account(np.zeros(1), mask))
            action = int(policy.action(belief)[0])
        if action == DECIDE:
            decision = case.decision(joint)
            out.cost += weight * paid + sum(b * row[decision] for b, row in zip(joint, case.costs))
            out.price += weight * paid
            out.n_features += weight * stage
            out.stage[stage] += weight
            out.joint[:, decision] += joint
            return
        assert action == stage
        price = case.prices[stage]
        group = -1 if case.groups is None else case.groups[stage]
        if group >= 0:
            assert case.full_prices is not None
            if group not in groups:
                price = case.full_prices[stage]
            groups = groups | {group}
        for _, following, after in case.successors(stage, joint, context):
            out.histories += 1
            visit(stage + 1, following, after, paid + price, groups)

    visit(0, case.prior, 0, 0.0, frozenset())
    square = out.joint[:, :n_classes]
    out.error = square.sum() - np.trace(square)
    by_class = out.joint.sum(axis=1, keepdims=True)
    out.given = np.divide(out.joint, by_class, out=np.zeros_like(out.joint), where=by_class > 0)
    return out


def _distribution(rng: np.random.Generator, n_outcomes: int, n_classes: int, zeros: bool) -> list[list[float]]:
    table = rng.dirichlet(np.full(n_outcomes, 0.7), size=n_classes).T
    if zeros:
        keep = rng.random(table.shape) < 0.5
        keep[rng.integers(n_outcomes, size=n_classes), np.arange(n_classes)] = True
        table = np.where(keep, table + 0.01, 0.0)
        table /= table.sum(axis=0)
    return [[float(p) for p in row] for row in table]


KINDS = ("plain", "zeros", "prior", "free", "single", "useless", "equal", "decisions", "sharp")


def random_case(
    seed: int,
    kind: str = "plain",
    *,
    contexts: bool = False,
    n_classes: int | None = None,
    n_stages: int | None = None,
) -> Case:
    """Random problem with 2-4 classes, 1-6 features and 2-4 outcomes; `kind` puts one special thing into it."""
    rng = np.random.default_rng([seed, KINDS.index(kind), contexts])
    n_classes = n_classes or int(rng.integers(2, 5))
    n_stages = n_stages or (1 if kind == "single" else int(rng.integers(1, 7)))
    n_outcomes = [int(rng.integers(2, 5 if n_stages < 5 else 4)) for _ in range(n_stages)]
    sizes = [int(rng.integers(1, 4)) if contexts else 1 for _ in range(n_stages)]
    tables = [
        [_distribution(rng, v, n_classes, kind == "zeros") for _ in range(size)] for v, size in zip(n_outcomes, sizes)
    ]
    if kind == "useless":
        for stage in rng.choice(n_stages, size=(n_stages + 1) // 2, replace=False):
            tables[stage] = [[[row[0]] * n_classes for row in table] for table in tables[stage]]
    if kind == "sharp":  # each outcome points to one class, all but for certain
        for stage, v in enumerate(n_outcomes):
            near = np.full((v, n_classes), 0.002 / v)
            near[np.arange(n_classes) % v, np.arange(n_classes)] += 0.998
            tables[stage] = [near.tolist() for _ in range(sizes[stage])]
    prices = rng.random(n_stages) * 0.08
    if kind == "free":
        prices[rng.random(n_stages) < 0.6] = 0.0
    n_decisions = n_classes + int(rng.integers(0, 3))
    costs = rng.random((n_classes, n_decisions)) * rng.choice([0.5, 1.0, 3.0])
    if kind == "decisions":
        costs = rng.random((n_classes, int(rng.integers(1, n_classes + 3))))
    elif kind == "equal":
        costs = np.full((n_classes, n_decisions), 0.7)
        costs[:, : n_classes // 2 + 1] = 1 - np.eye(n_classes)[:, : n_classes // 2 + 1]
    else:
        costs[np.arange(n_classes), np.arange(n_classes)] = 0.0
    prior = rng.dirichlet(np.ones(n_classes))
    if kind == "prior":
        prior = np.zeros(n_classes)
        prior[: int(rng.integers(1, n_classes))] = 1.0
        prior = rng.permutation(prior) / prior.sum()
    moves = None
    if contexts:
        following = [*sizes[1:], 1]
        moves = [
            rng.integers(after, size=(size, v + 1)).tolist() for size, after, v in zip(sizes, following, n_outcomes)
        ]
    return Case(prior.tolist(), tables, prices.tolist(), costs.tolist(), moves)


def unlimited(solver: type[Any], **settings: Any) -> Any:
    return solver(n_beliefs=10**6, tolerance=0.0, n_rounds=1, certificate_paths=0, **settings)


@pytest.fixture(scope="session")
def oracle() -> SimpleNamespace:
    """Brute force: ``optimum(case)`` and ``run_policy(case, policy)``."""
    return SimpleNamespace(optimum=optimum, run_policy=run_policy)


@pytest.fixture(scope="session")
def make_case() -> Callable[..., Case]:
    """``make_case(seed, kind, contexts=..., n_classes=..., n_stages=...)``."""
    return random_case


@pytest.fixture(scope="session")
def case_of() -> type[Case]:
    """Build a `Case` from nested lists."""
    return Case


@pytest.fixture(scope="session")
def exact() -> Callable[..., Any]:
    """``exact(Perseus)``: the solver given every reachable belief."""
    return unlimited


def _policy_classes() -> SimpleNamespace:
    class Fixed(Policy):
        """Buys up to a fixed stage whatever it sees."""

        def _action(self, belief: BeliefState) -> Any:
            return np.full(len(belief), belief.stage)

    class Random(Policy):
        """Goes on or stops by a hash of the belief: deterministic, and as bad as it gets."""

        def _action(self, belief: BeliefState) -> Any:
            wild = (
                np.sin(belief.probabilities @ np.arange(1.0, belief.probabilities.shape[1] + 1) * 1000 + belief.stage)
                > -0.3
            )
            return np.where(wild, belief.stage, DECIDE)

    return SimpleNamespace(Fixed=Fixed, Random=Random)


@pytest.fixture(scope="session")
def policies() -> SimpleNamespace:
    """Policies without values: ``Fixed(problem, n_stages)`` and ``Random(problem)``."""
    return _policy_classes()


def _pair(n_stages: int, price: float = 0.01, strength: float = 0.7) -> TableProblem:
    table = np.array([[strength, 1 - strength], [1 - strength, strength]])
    return TableProblem([0.5, 0.5], np.broadcast_to(table, (n_stages, 2, 2)), price)


@pytest.fixture(scope="session")
def repeated() -> Callable[..., TableProblem]:
    """``repeated(n_stages, price, strength)``: two classes, the same binary feature again and again."""
    return _pair


@pytest.fixture(scope="session")
def skewed():
    """``skewed(prior, seed)``: twelve signs of a class that is dearer to miss the rarer it is."""

    def problem(prior, seed):
        rng = np.random.default_rng([seed, 78])
        alarm, sign = rng.uniform(0.03, 0.3, 12), rng.uniform(0.4, 0.9, 12)
        tables = np.stack([np.stack([1 - alarm, 1 - sign], 1), np.stack([alarm, sign], 1)], 1)
        prices = rng.uniform(0.003, 0.02, 12)
        costs = [[0.0, 1.0], [1.0, 0.0]] if prior > 0.25 else [[0.0, 20.0], [5 / prior, 0.0]]
        return TableProblem([1 - prior, prior], tables, prices=prices, decision_costs=np.array(costs))

    return problem
