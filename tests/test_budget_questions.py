"""A budget's questions are the policy's own, as far as it goes on by itself."""

from __future__ import annotations

import importlib.util
import inspect
from typing import Any

import numpy as np
import pytest

import seqclass.pomdp
from seqclass import SequentialClassifier
from seqclass.bn import ClassMixture, NaiveBayes
from seqclass.exams import FisherInformation
from seqclass.experiment import afabench_log
from seqclass.pomdp import (
    DECIDE,
    Adaptive,
    FirstK,
    FunctionPolicy,
    HiddenInformation,
    OrderingRule,
    PosteriorThreshold,
    Solver,
)
from seqclass.pomdp.solvers.ordering.adaptive import ImprovedRule
from seqclass.pomdp.solvers.ordering.given import GivenOrder
from seqclass.testing import check_policy


def exported(base: type) -> list[Any]:
    found = [getattr(seqclass.pomdp, name) for name in seqclass.pomdp.__all__]
    kinds = [cls for cls in found if inspect.isclass(cls) and issubclass(cls, base) and not inspect.isabstract(cls)]
    return [cls for cls in kinds if cls is not base]


RULES = [
    GivenOrder([3, 1, 4, 0, 2]) if cls is GivenOrder else cls()
    for cls in exported(OrderingRule)
    if cls not in (FisherInformation, ImprovedRule)
]
SHORT = {"certificate_paths": 2, "n_paths": 60, "n_cases": 40, "n_simulations": 10, "max_depth": 1, "max_stages": 2}


class ByFunction(Solver):
    """Somebody's own policy, which knows nothing of budgets: the last question first, until it is fairly sure."""

    def solve(self, problem):
        def ask(info):
            last = problem.n_questions - 1 - info.available[:, ::-1].argmax(axis=1)
            return np.where(info.probabilities.max(axis=1) < 0.9, last, DECIDE)

        return FunctionPolicy(problem, ask)


def short(cls: Any) -> Solver:
    known = cls().get_params()
    return cls(**{name: value for name, value in SHORT.items() if name in known})


#: What is not for a problem of any order, and what is for no other.
STAGED = {"ExactValueIteration", "GridValueIteration", "LinearThresholdSPSA", "Perseus"}
STAGED |= {"ProjectedValueIteration"}
FREE = {"Adaptive", "ExactFreeOrder", "PricedTree"}
#: All but one for problems in which visits cost something.
#: Solvers of visits, of items, and of another solver's policy.
OTHERS = ("FunctionSolver", "ExposureControl", "FixedPanels", "SequentialTest")
SOLVERS = [short(cls) for cls in exported(Solver) if cls.__name__ not in OTHERS]
RULED = [
    solver
    for rule in RULES
    for solver in (
        FirstK(None, rule=rule, certificate_paths=0),
        FirstK(2, rule=rule, certificate_paths=0),
        PosteriorThreshold(0.8, rule=rule, certificate_paths=0),
        Adaptive([rule], max_nodes=0, n_paths=60, n_cases=40, max_rounds=1, certificate_paths=0),
    )
]


@pytest.fixture(scope="module")
def data():
    """Five columns whose numbers have nothing to do with what they tell; some cells are missing."""
    rng = np.random.default_rng(0)
    y = rng.integers(0, 3, 240)
    X = rng.normal(size=(240, 5)) + np.array([0.3, 1.5, 0.0, 0.8, 1.2]) * (y[:, None] + rng.integers(0, 2, (240, 1)))
    X[rng.random(X.shape) < 0.1] = np.nan
    return X, y


def fit(data: Any, solver: Solver, order: str = "adaptive", **settings: Any) -> SequentialClassifier:
    model = ClassMixture(2, random_state=0) if order == "adaptive" else NaiveBayes()
    return SequentialClassifier(model, solver, order=order, feature_costs=0.03, **settings).fit(*data)


def check_budgets(clf: SequentialClassifier, X: Any) -> int:
    """Hold the questions of a budget against the policy's own; how many were compared."""
    own, compared = clf.acquire(X).order, 0
    for budget in (1, 2, 4):
        asked = clf.acquire(X, budget=budget).order
        both = min(budget, own.shape[1])
        same = (asked[:, :both] == own[:, :both]) | (own[:, :both] < 0)
        assert same.all()
        assert (asked >= 0).sum(axis=1).min() == budget
        compared += int((own[:, :both] >= 0).sum())
    return compared


@pytest.mark.parametrize("solver", [*RULED, ByFunction()], ids=repr)
def test_of_every_rule(data, solver):
    assert check_budgets(fit(data, solver), data[0]) > 100


@pytest.mark.covering(1)
@pytest.mark.parametrize("solver", SOLVERS, ids=lambda solver: type(solver).__name__)
@pytest.mark.parametrize("order", ["adaptive", "conditional"])
def test_of_every_solver(data, solver, order):
    if type(solver).__name__ == "PomdpPyPlanner" and importlib.util.find_spec("pomdp_py") is None:
        pytest.skip("pomdp-py is not installed")
    X, y = data
    any_order = order == "adaptive"
    if (type(solver).__name__ in STAGED) if any_order else (type(solver).__name__ in FREE):
        with pytest.raises(ValueError, match=type(solver).__name__):
            fit((X[:, :4], y), solver, order)
    else:
        check_budgets(fit((X[:, :4], y), solver, order), X[:40, :4])


@pytest.mark.slow
def test_of_policies_drawn_by_lot(data):
    clf = fit(data, Adaptive([HiddenInformation()], max_nodes=0, n_paths=60, n_cases=40), target_cost=0.05)
    assert len(clf.policy_.initial_belief()[0]) == 2
    assert check_budgets(clf, data[0]) > 100
    # calibration asks what such a policy would, whether or not it would stop
    few = data[0][:, :3], data[1]
    assert fit(few, clf.solver, target_cost=0.05, calibrate=True).calibration_ is not None


def test_a_rule_goes_on_beyond_its_own_length(data):
    rule = GivenOrder([3, 1, 4, 0, 2])
    for solver in (FirstK(1, rule=rule), PosteriorThreshold(0.5, rule=rule)):
        assert fit(data, solver).acquire(data[0][:1], budget=4).order.tolist() == [[3, 1, 4, 0]]


def test_logs_of_hard_budgets_ask_by_the_rule(data):
    X, y = data
    log = afabench_log(fit(data, FirstK(None, rule=GivenOrder([3, 1, 4, 0, 2]))), X[:1], y[:1], budget=3, hard=True)
    assert log["action_performed"].tolist() == [4, 2, 5, 0]


def test_the_shipped_check_holds_policies_to_it(data):
    problem = fit(data, FirstK(None, certificate_paths=0)).problem_

    class Other(FunctionPolicy):
        def next_question(self, info):
            return np.full(len(info), 1 + info.available[:, 1:].argmax(axis=1))

    with pytest.raises(AssertionError, match="next_question names other"):
        check_policy(Other(problem, lambda b: np.where(b.available.any(axis=1), b.available.argmax(axis=1), DECIDE)))
