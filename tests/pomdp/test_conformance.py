"""Every solver and ordering rule that `seqclass.pomdp` exports, found rather than listed; solvers against recursion."""

from __future__ import annotations

import inspect
from dataclasses import dataclass, field
from functools import cache
from typing import Any

import numpy as np
import pytest
from sklearn.base import clone

import seqclass.pomdp
from seqclass.exams import ItemParameters
from seqclass.pomdp import DECIDE, ClassInformation, FirstK, OrderingRule, Solver, TableProblem
from seqclass.pomdp.policy import LookaheadPolicy
from seqclass.pomdp.solvers.ordering.adaptive import ImprovedRule
from seqclass.pomdp.solvers.ordering.given import GivenOrder
from seqclass.pomdp.solvers.ordering.values import RuleValues
from seqclass.testing import check_ordering_rule, check_policy, check_solver
from seqclass.testing.solvers import sample_problems

KINDS = ("plain", "zeros", "prior", "free", "single", "useless", "equal", "decisions", "sharp")
#: A solver that promises this is held to the obvious, too.
WELL = 0.1


@dataclass
class Expected:
    """How a solver is run here, and what it must reach; the defaults serve for one that is not named below."""

    settings: dict[str, Any] = field(default_factory=dict)
    #: Largest and mean share of the stopping cost at the prior by which the executed cost may be above the optimum.
    worst: float = 0.15
    mean: float = 0.05
    #: The solver's own values are costs of plans: never below the optimum.
    upper_values: bool = False
    #: Random problems of each kind; one will do where only bounds have to hold.
    seeds: int = 1
    #: Stages of the random problems; None for 1 to 6.
    n_stages: int | None = None
    module: str | None = None  # a package it cannot do without


#: Solvers to compare others with: they do what they say, well or not.
YARDSTICK: dict[str, Any] = {"worst": np.inf, "mean": np.inf}
#: A new solver needs no entry here: it gets one where it is slow, or promises more than the defaults, or nothing.
EXPECTED = {
    "ExactValueIteration": Expected({"max_vectors": 1000}, 1e-9, 1e-9, upper_values=True, seeds=2),
    "Perseus": Expected({"n_beliefs": 1500, "tolerance": 1e-5}, 1e-3, 1e-4, upper_values=True, seeds=2),
    "GridValueIteration": Expected({}, 0.05, 0.005, seeds=2),
    "LinearThresholdSPSA": Expected({}, 0.15, 0.05, seeds=2),
    "Lookahead": Expected({}, 0.4, 0.4),  # looks one question ahead, and so no further than that pays
    "PomdpPyPlanner": Expected({"n_simulations": 30}, **YARDSTICK, n_stages=2, module="pomdp_py"),
    **{name: Expected(**YARDSTICK) for name in ("FirstK", "PosteriorThreshold")},
}

#: Solvers of problems in which any question may come next, or visits cost something, which have tests of their own.
OWN_TESTS = {
    "Adaptive",
    "ExactFreeOrder",
    "ExposureControl",
    "FunctionSolver",
    "FixedPanels",
    "Panels",
    "PricedTree",
    "SequentialTest",
}

SOLVERS = [
    cls
    for cls in (getattr(seqclass.pomdp, name) for name in seqclass.pomdp.__all__)
    if inspect.isclass(cls)
    and issubclass(cls, Solver)
    and cls is not Solver
    and not inspect.isabstract(cls)
    and cls.__name__ not in OWN_TESTS
]


def expected_of(cls: type[Solver]) -> Expected:
    expected = EXPECTED.get(cls.__name__, Expected())
    if expected.module is not None:
        pytest.importorskip(expected.module)
    return expected


def make(cls: type[Solver], **more: Any) -> Solver:
    """Return the solver with its settings for these tests; those that it does not have are left out."""
    settings = {"certificate_paths": 2, **expected_of(cls).settings, **more}
    known = cls().get_params()
    return cls(**{name: value for name, value in settings.items() if name in known})


def solved(solver: Solver, problem: TableProblem) -> Any:
    """Policy, or None where the solver declares that the problem is not for it."""
    try:
        return solver.solve(problem)
    except ValueError as error:
        message = str(error)
        assert type(solver).__name__ in message or "class" in message, f"refused without saying why: {message}"
        return None


@pytest.fixture(params=SOLVERS, ids=lambda cls: cls.__name__)
def cls(request):
    return request.param


def test_solvers_are_found():
    assert {"ExactValueIteration", "GridValueIteration", "Perseus"} <= {cls.__name__ for cls in SOLVERS}


@pytest.fixture(scope="module")
def optimum_of(make_case, oracle):
    """Random problem and its optimum, worked out once for all solvers."""

    @cache
    def find(seed, kind, contexts, n_stages):
        case = make_case(seed, kind, contexts=contexts, n_stages=n_stages)
        return case, oracle.optimum(case)

    return find


@pytest.mark.slow_cells("LinearThresholdSPSA-equal-True", "LinearThresholdSPSA-free-False")
@pytest.mark.covering
@pytest.mark.parametrize("contexts", [False, True])
@pytest.mark.parametrize("kind", KINDS)
def test_against_recursion(cls, kind, contexts, optimum_of, oracle):
    expected = expected_of(cls)
    losses = []
    for seed in range(expected.seeds):
        case, truth = optimum_of(seed, kind, contexts, None if kind == "single" else expected.n_stages)
        policy = solved(make(cls), case.problem)
        if policy is None:
            continue
        cost = oracle.run_policy(case, policy).cost
        assert cost >= truth - 1e-9
        assert policy.info.status in ("converged", "wide gap", "truncated", "limit")
        if not np.isnan(policy.info.upper):
            assert policy.info.lower <= truth + 1e-9
            assert policy.info.upper >= cost - 1e-9
            assert policy.info.gap >= 0
        scale = max(case.stop(case.prior), 1e-12)
        losses.append(max(cost - truth, 0.0) / scale)
        if expected.upper_values:
            assert isinstance(policy, LookaheadPolicy)
            context = np.zeros(1, dtype=int) if contexts else None
            assert policy.values.value(0, case.problem.prior[None], context)[0] >= truth - 1e-9
    assert losses, "every problem was refused"
    assert max(losses) <= expected.worst, f"{cls.__name__} costs too much"
    assert np.mean(losses) <= expected.mean, f"{cls.__name__} costs too much"


@pytest.mark.parametrize("k, kind", [(0, "free"), (None, "useless")])
def test_a_bad_solver_that_nobody_named_fails(k, kind, optimum_of, oracle):
    class Unnamed(FirstK):
        def solve(self, problem):
            return FirstK(k, certificate_paths=self.certificate_paths).solve(problem)

    with pytest.raises(AssertionError, match="Unnamed costs too much"):
        test_against_recursion(Unnamed, kind, False, optimum_of, oracle)


@pytest.mark.slow_cells("LinearThresholdSPSA")
def test_shipped_checks(cls, make_case):
    problems = [make_case(seed, kind, n_classes=2, n_stages=2).problem for seed, kind in ((0, "plain"), (1, "zeros"))]
    problems.append(make_case(2, "plain", n_classes=3, n_stages=2, contexts=True).problem)
    check_solver(make(cls), problems, max_rows=20)


def test_answers_do_not_depend_on_the_batch(cls, make_case):
    for seed in range(2):
        policy = solved(make(cls), make_case(seed, n_classes=2 + seed, n_stages=2 + seed).problem)
        if policy is not None:
            check_policy(policy, max_rows=30)


def test_nothing_to_buy(cls):
    """No stages at all, or a first price above all that could be saved: decide, at the stopping cost."""
    table = np.array([[[0.9, 0.2], [0.1, 0.8]]])
    for problem in (
        TableProblem([0.3, 0.7], table, 5.0),
        TableProblem([0.3, 0.7], np.empty((0, 2, 2)), []),
        TableProblem([0.0, 1.0], table, 0.1),
        TableProblem([0.3, 0.7], table, 0.1, [[0.5, 0.5], [0.5, 0.5]]),
        TableProblem([0.3, 0.7], table, 0.1, np.zeros((2, 2))),
    ):
        policy = solved(make(cls), problem)
        assert policy is not None
        if not policy.n_stages:
            assert policy.action(problem.initial_belief()).tolist() == [DECIDE]
        if expected_of(cls).worst <= WELL:
            assert policy.action(problem.initial_belief()).tolist() == [DECIDE]


def test_free_and_perfect(cls):
    """A free feature that tells the class: a solver that promises anything asks for it."""
    problem = TableProblem([0.5, 0.5], np.array([np.eye(2)]), 0.0)
    policy = solved(make(cls), problem)
    assert policy is not None
    if expected_of(cls).worst <= WELL:
        assert policy.action(problem.initial_belief()).tolist() == [0]
        assert policy.info.upper == pytest.approx(0, abs=1e-12)


def test_settings_are_plain(cls):
    solver = make(cls)
    assert clone(solver).get_params() == solver.get_params()
    names = list(inspect.signature(cls.__init__).parameters)[1:]
    assert set(names) == set(cls().get_params())


def test_settings_are_checked_before_the_problem_is_looked_at(cls):
    with pytest.raises(ValueError, match="certificate_paths"):
        make(cls, certificate_paths=-1).solve(None)


def test_same_seed_same_policy(cls, make_case, oracle):
    case = make_case(3, "plain", n_classes=3, n_stages=3 if expected_of(cls).n_stages is None else 2)
    first, second = (solved(make(cls, random_state=5), case.problem) for _ in range(2))
    if first is not None:
        assert oracle.run_policy(case, first).cost == oracle.run_policy(case, second).cost
        assert first.info.status == second.info.status


#: Arguments of rules that cannot do without, for a problem; a new rule needs an entry only if it is such a one.
ARGUMENTS: dict[str, Any] = {
    "FisherInformation": lambda problem: [ItemParameters.from_table({"b": np.arange(9.0)})],
    "GivenOrder": lambda problem: [range(problem.n_questions)[::-1]],
    "ImprovedRule": lambda problem: [RuleValues(problem, ClassInformation(), problem.n_stages)],
}

RULES = [
    found
    for found in (GivenOrder, ImprovedRule, *(getattr(seqclass.pomdp, name) for name in seqclass.pomdp.__all__))
    if inspect.isclass(found) and issubclass(found, OrderingRule) and not inspect.isabstract(found)
]


def test_rules_are_found():
    assert {"ClassInformation", "EC2", "LookaheadSaving"} <= {rule.__name__ for rule in RULES}


@pytest.mark.slow_cells("ImprovedRule", "LookaheadSaving")
@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.__name__)
def test_ordering_rules(rule):
    for problem in sample_problems(8, any_order=True):
        arguments = ARGUMENTS.get(rule.__name__, lambda _: [])(problem)
        check_ordering_rule(rule(*arguments), [problem], max_rows=20)
