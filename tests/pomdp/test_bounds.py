"""Lower bounds, optimum and upper bounds keep their order on random problems."""

from __future__ import annotations

import numpy as np
import pytest

from seqclass.pomdp import (
    ExactValueIteration,
    FunctionPolicy,
    Perseus,
    StoppingValue,
    TableProblem,
    ValueFunction,
    certify,
    dual_bound,
    evaluate,
)
from seqclass.pomdp.bounds.certificate import grid_lower_bound, sawtooth_lower_bound
from seqclass.pomdp.one_step import context_of
from seqclass.pomdp.policy import LookaheadPolicy
from seqclass.pomdp.structure import Structure

KINDS = ("plain", "zeros", "prior", "free", "single", "useless", "equal", "decisions", "sharp")
SLACK = 1e-9


class Wild(ValueFunction):
    """Values with no relation to the problem."""

    def _continuation(self, stage, belief, context):
        return np.abs(np.sin(belief @ np.arange(1.0, belief.shape[1] + 1) * 50)) * 0.2


class Untabled(TableProblem):
    """The same problem for those who cannot see its tables."""

    structure = property(Structure)


def random_problem(seed, n_classes, n_stages=8, price=0.01):
    tables = np.random.default_rng(seed).dirichlet(np.ones(3), size=(n_stages, n_classes)).transpose(0, 2, 1)
    return TableProblem(np.full(n_classes, 1 / n_classes), tables, price)


@pytest.mark.covering(1)
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("contexts", [False, True])
def test_lower_bounds_optimum_and_upper_bounds_are_in_order(kind, contexts, make_case, oracle, policies):
    for seed in range(3):
        case = make_case(seed, kind, contexts=contexts, n_classes=2 + seed)
        problem, truth = case.problem, oracle.optimum(case)
        few = Perseus(n_beliefs=3, certificate_paths=0).solve(problem)
        cut = seed % (problem.n_stages + 1)
        lower = {
            "clairvoyant": dual_bound(problem, method="exact").value,
            "dual of wild values": dual_bound(problem, Wild(problem, problem.n_stages), method="exact").value,
            "dual of wild values, cut": dual_bound(problem, Wild(problem, cut), method="exact").value,
            "dual of stopping": dual_bound(problem, StoppingValue(problem), method="exact").value,
            "dual of few beliefs": dual_bound(problem, few.values, method="exact").value,
            "sawtooth": sawtooth_lower_bound(problem, 5),
            "sawtooth, cut": sawtooth_lower_bound(problem, 5, n_stages=cut),
        }
        if problem.n_classes <= 3:
            lower["grid"] = grid_lower_bound(problem, 4)
            lower["grid, cut"] = grid_lower_bound(problem, 50, n_stages=cut)
            lower["certificate"] = certify(problem, few, method="deterministic").lower
        upper = {
            "few beliefs": evaluate(problem, few).cost,
            "vectors": float(
                few.values.value(0, problem.initial_belief().probabilities, context_of(problem.initial_belief()))[0]
            ),
            "wild": evaluate(problem, policies.Random(problem)).cost,
            "myopic": certify(problem, LookaheadPolicy(StoppingValue(problem))).upper,
        }
        assert {name: bound for name, bound in lower.items() if bound > truth + SLACK} == {}, (seed, truth)
        assert {name: bound for name, bound in upper.items() if bound < truth - SLACK} == {}, (seed, truth)


@pytest.mark.parametrize("contexts", [False, True])
def test_dual_of_optimal_values_is_the_optimum(contexts, make_case, oracle, exact):
    for seed in range(16):
        case = make_case(seed, KINDS[seed % 8], contexts=contexts)
        values = exact(Perseus).solve(case.problem).values
        bound = dual_bound(case.problem, values)
        assert bound.value == bound.mean == pytest.approx(oracle.optimum(case), abs=1e-9), seed
        assert (bound.method, bound.confidence, bound.n_paths) == ("exact", 1.0, 0)


def test_dual_pays_for_groups(case_of, oracle):
    table = [[[0.8, 0.3], [0.2, 0.7]]]
    costs = [[0.0, 1.0], [1.0, 0.0]]
    case = case_of(
        [0.5, 0.5], [table] * 3, [0.05, 0.01, 0.02], costs, groups=[0, 0, -1], full_prices=[0.08, 0.04, 0.02]
    )
    as_paid = case_of(case.prior, case.tables, [0.08, 0.01, 0.02], costs)
    truth = oracle.optimum(as_paid)
    values = ExactValueIteration(certificate_paths=0).solve(as_paid.problem).values
    assert dual_bound(case.problem, values, method="exact").value == pytest.approx(truth, abs=1e-9)
    for bound in (grid_lower_bound(case.problem), sawtooth_lower_bound(case.problem)):
        assert 0 < bound <= truth + SLACK


def test_clairvoyant_by_hand(repeated):
    """Two features of strength .9, price .02; after the first the other is worth its price or not, known in advance."""
    right = min(0.02 + 0.1, 0.04 + 0.01 / 0.82)  # both agree: .81 + .01
    split = 0.02 + 0.1  # they disagree, .09 + .09: best to have stopped after one
    assert dual_bound(repeated(2, 0.02, 0.9)).value == pytest.approx(0.82 * right + 0.18 * split)


def test_clairvoyant_is_below_the_dual_of_good_values(make_case, oracle):
    below = 0
    for seed in range(10):
        case = make_case(seed, n_stages=5)
        clairvoyant = dual_bound(case.problem).value
        assert clairvoyant <= oracle.optimum(case) + SLACK
        below += clairvoyant < oracle.optimum(case) - 1e-4
    assert below >= 3


@pytest.mark.parametrize("n_classes", [2, 3])
def test_grid_from_below_rises_to_the_optimum(n_classes):
    problem = random_problem(0, n_classes)
    truth = ExactValueIteration(certificate_paths=0).solve(problem) if n_classes == 2 else None
    optimum = evaluate(problem, truth or Perseus(10**5, tolerance=0).solve(problem), method="exact").cost
    bounds = [grid_lower_bound(problem, 5 * 2**k) for k in range(6)]
    # each grid holds the points of the one before, so a bound can only rise
    assert np.diff(bounds).min() >= -SLACK
    assert bounds[-1] <= optimum + SLACK
    assert optimum - bounds[-1] < 0.01 * optimum
    assert optimum - bounds[0] > 4 * (optimum - bounds[-1])


@pytest.mark.parametrize("n_classes", [2, 3])
def test_more_points_help_the_sawtooth(n_classes):
    problem = random_problem(1, n_classes, 6)
    optimum = Perseus(10**5, tolerance=0).solve(problem).info.upper
    few, many = (sawtooth_lower_bound(problem, n) for n in (2, 500))
    assert few < many <= optimum + SLACK
    assert many > 0.85 * optimum
    # exact where every belief that is reached is a point
    assert sawtooth_lower_bound(random_problem(1, n_classes, 3), 1000) == pytest.approx(
        Perseus(10**5, tolerance=0).solve(random_problem(1, n_classes, 3)).info.upper, abs=1e-9
    )


@pytest.mark.slow
def test_sampled_dual_holds_at_its_confidence(make_case, oracle):
    failures = 0
    cases = [make_case(seed, n_stages=4) for seed in range(20)]
    duals = [dual_bound(case.problem, StoppingValue(case.problem), method="exact").value for case in cases]
    for seed in range(200):
        case, exact = cases[seed % 20], duals[seed % 20]
        bound = dual_bound(
            case.problem, StoppingValue(case.problem), method="simulation", n_paths=300, random_state=seed
        )
        assert bound.value <= bound.mean
        failures += bound.value > exact + SLACK
        assert bound.value > 0.5 * exact  # by its own standard error below, not more
    # of 200 at 1% eight or more have a chance below 0.2%
    assert failures <= 7
    assert (bound.method, bound.confidence, bound.n_paths) == ("simulation", 0.99, 300)


def test_large_problem_turns_to_simulation(repeated):
    problem = repeated(60, 0.002, 0.6)
    assert dual_bound(problem, max_histories=50).method == "simulation"
    with pytest.raises(ValueError, match="max_histories=50"):
        dual_bound(problem, max_histories=50, method="exact")


def test_without_stages_or_where_all_is_settled():
    for problem in (TableProblem([0.4, 0.6], np.empty((0, 2, 2)), []), random_problem(0, 2, 3, price=5.0)):
        for bound in (grid_lower_bound(problem), sawtooth_lower_bound(problem), dual_bound(problem).value):
            assert bound == pytest.approx(float(problem.stopping_cost(problem.prior)))
    one = TableProblem([1.0], np.full((2, 2, 1), 0.5), 0.1)
    assert grid_lower_bound(one) == sawtooth_lower_bound(one) == dual_bound(one).value == 0.0


@pytest.mark.parametrize("function", [grid_lower_bound, sawtooth_lower_bound])
def test_tables_are_needed(function):
    problem = random_problem(0, 2)
    untabled = Untabled(problem.prior, problem.likelihoods, problem.prices)
    with pytest.raises(ValueError, match=r"tables \(a finite number of contexts\), and this one has none; use"):
        function(untabled)
    assert dual_bound(untabled).value == dual_bound(problem).value


def test_bad_settings_name_the_parameter():
    problem = random_problem(0, 4, 3)
    with pytest.raises(ValueError, match="up to 3 classes"):
        grid_lower_bound(problem)
    with pytest.raises(ValueError, match="resolution"):
        grid_lower_bound(random_problem(0, 2), 0)
    with pytest.raises(ValueError, match="n_points"):
        sawtooth_lower_bound(problem, 0)
    with pytest.raises(ValueError, match="n_stages"):
        sawtooth_lower_bound(problem, n_stages=-1)
    with pytest.raises(ValueError, match="method"):
        dual_bound(problem, method="deterministic")
    with pytest.raises(ValueError, match="n_paths"):
        dual_bound(problem, StoppingValue(problem), n_paths=1)


def test_a_function_is_a_policy(make_case, oracle, policies):
    for seed in range(6):
        case = make_case(seed)
        wild = policies.Random(case.problem)
        for function in (wild._action, lambda info, wild=wild: wild._action(info) >= 0):
            policy = FunctionPolicy(case.problem, function)
            assert oracle.run_policy(case, policy).cost == oracle.run_policy(case, wild).cost
        once = FunctionPolicy(case.problem, lambda info: True, n_stages=1)
        assert evaluate(case.problem, once).n_features == pytest.approx(1)


@pytest.mark.parametrize("answer", [0.5, "buy", [True, False], [[True]], None])
def test_a_function_that_answers_something_else_is_refused(answer):
    problem = random_problem(0, 2)
    with pytest.raises(ValueError, match="one bool or int"):
        FunctionPolicy(problem, lambda info: answer).action(problem.initial_belief())


def test_the_sawtooth_takes_any_random_state():
    problem = random_problem(0, 3, 4)
    bound = sawtooth_lower_bound(problem, 20, random_state=7)
    assert sawtooth_lower_bound(problem, 20, random_state=np.random.default_rng(7)) == bound
    legacy = [sawtooth_lower_bound(problem, 20, random_state=np.random.RandomState(7)) for _ in range(2)]
    assert legacy[0] == legacy[1]
    with pytest.raises(ValueError, match="random_state must be"):
        sawtooth_lower_bound(problem, 20, random_state="seven")
