"""What is given to a belief, a problem or a policy is checked where it comes in, or means what it seems to."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import seqclass
from seqclass import Costs, analysis
from seqclass.analysis import stopping_regions
from seqclass.bn import NaiveBayes
from seqclass.costs import Visits
from seqclass.pomdp import (
    AcquisitionProblem,
    FirstK,
    FittedValueIteration,
    FunctionPolicy,
    Lookahead,
    Perseus,
    Policy,
    TableProblem,
    acquire,
    certify,
    cost_sweep,
    dual_bound,
    evaluate,
    in_any_order,
    optimal_cost,
    simulate,
    solve_for_budget,
    stepthrough,
    with_names,
    write_pomdp,
)
from seqclass.pomdp.policy import RepricedPolicy, scale_prices, with_info
from seqclass.pomdp.solvers.base import on_cases
from seqclass.pomdp.visits import order_panels, with_visits

LIKELIHOODS = np.array([[[0.9, 0.2], [0.1, 0.8]], [[0.6, 0.5], [0.4, 0.5]]])


def problem(**settings: Any) -> TableProblem:
    return TableProblem([0.5, 0.5], LIKELIHOODS, prices=0.1, **settings)


def test_a_policy_has_no_decisions_of_its_own() -> None:
    with pytest.raises(TypeError, match=r"AlwaysFirst\.decide: a policy says what to ask and when to stop"):
        type("AlwaysFirst", (Lookahead(1).solve(problem()).__class__,), {"decide": lambda self, belief: 0})
    assert not hasattr(Policy, "decide")


def ask_the_first(belief: Any) -> Any:
    return belief.stage == 0


ENTRIES: dict[str, Any] = {
    "evaluate": lambda policy: evaluate(problem(), policy).price,
    "certify": lambda policy: certify(problem(), policy).upper - 0.15,
    "simulate": lambda policy: simulate(problem(), policy, 20, random_state=0).paid.mean(),
    "stepthrough": lambda policy: list(stepthrough(problem(), policy, random_state=0))[-1].belief.spent[0],
}


@pytest.mark.parametrize("name", ENTRIES)
def test_a_function_is_a_policy_wherever_one_is_meant(name: str) -> None:
    assert ENTRIES[name](ask_the_first) == pytest.approx(0.1)
    assert ENTRIES[name](FunctionPolicy(problem(), ask_the_first)) == pytest.approx(0.1)


def test_a_fitted_classifier_brings_problem_and_policy_wherever_both_are_meant() -> None:
    clf = seqclass.SequentialClassifier(feature_costs=0.1).fit(np.repeat([[0.0], [1.0]], 20, axis=0), [0, 1] * 20)
    assert evaluate(clf).cost == evaluate(clf.problem_, clf.policy_).cost
    assert certify(clf.agent_).upper == certify(clf.problem_, clf.policy_).upper
    assert evaluate(clf, lambda belief: belief.stage == 0).n_features == 1 > evaluate(clf).n_features
    for entry in (evaluate, certify, simulate):
        with pytest.raises(TypeError, match="policy is needed beside a problem"):
            entry(problem())


REFUSALS: dict[str, Any] = {
    **ENTRIES,
    "acquire": lambda policy: acquire(policy, np.zeros((1, 2), dtype=int)),
    "gym": lambda policy: pytest.importorskip("seqclass.gym").AcquisitionVectorEnv(problem(), 2).actions_of(policy),
    "display": lambda policy: pytest.importorskip("seqclass.plots").ActionValuesDisplay([], policy),
    "regions": lambda policy: stopping_regions(policy),
    "regret": lambda policy: analysis.regret(problem(), policy, FirstK(1).solve(problem())),
    **{
        name: lambda policy, name=name: getattr(analysis, name)(problem(), policy)
        for name in (
            "class_profile",
            "entropy_path",
            "feature_values",
            "reachable_beliefs",
            "sensitivity",
            "value_of_information",
            "what_if",
        )
    },
    **{
        name: lambda policy, name=name: getattr(pytest.importorskip("seqclass.plots"), name).from_policy(policy)
        for name in ("EntropyDisplay", "StoppingRegionDisplay", "ValueFunctionDisplay")
    },
}


@pytest.mark.parametrize("name", REFUSALS)
@pytest.mark.parametrize("policy", [3, FunctionPolicy])
def test_what_is_no_policy_is_refused_in_the_same_words(name: str, policy: Any) -> None:
    with pytest.raises(
        TypeError, match=r"^policy must be a Policy, such as clf\.policy_ or what solver\.solve\(problem\)"
    ):
        REFUSALS[name](policy)


def test_what_is_no_solver_is_refused_by_name() -> None:
    policy = FirstK(1).solve(problem())
    for sweep in (
        lambda solver: cost_sweep(problem(), [1.0], solver),
        lambda solver: solve_for_budget(problem(), 0.1, solver),
        lambda solver: analysis.what_if(problem(), policy, solver=solver),
    ):
        with pytest.raises(TypeError, match=r"solver must be .*got the class Lookahead: write Lookahead\(\)"):
            sweep(Lookahead)
        with pytest.raises(TypeError, match=r"solver must be a solver such as Lookahead\(\), got <"):
            sweep(policy)


def test_seconds_of_certificates_add_up() -> None:
    policy = Lookahead(1).solve(problem(any_order=True))
    for lower in (0.0, 0.29):  # which drawn cases raise, and which they do not
        known = with_info(policy, upper=0.3, lower=lower, certify_seconds=5.0)
        assert on_cases(known, 100, 0).info.certify_seconds > 5
        unknown = with_info(policy, upper=np.nan, lower=np.nan, certify_seconds=5.0)
        assert Lookahead(1).certify(unknown).info.certify_seconds > 5


def test_tables_are_the_problems_own() -> None:
    tables = LIKELIHOODS.copy()
    whole, listed = TableProblem([0.5, 0.5], tables, 0.1), TableProblem([0.5, 0.5], [tables[0], tables[1]], 0.1)
    tables[0] = 0.5
    for one in (whole, listed):
        assert one.initial_belief().outcome_probabilities[0].tolist() == [0.55, 0.45]


@pytest.mark.parametrize("outcomes", [np.array([0]), np.array([0, 1, 0]), 0, np.array([0.0, 1.0])])
def test_each_case_needs_an_outcome(outcomes: Any) -> None:
    with pytest.raises(ValueError, match="2 cases need an array of as many outcomes"):
        problem().initial_belief(2).update(outcomes)


def test_one_case_is_picked_by_its_number() -> None:
    belief = TableProblem([0.2, 0.3, 0.5], np.full((1, 2, 3), 0.5), 0.1).initial_belief(10)
    assert len(belief[3]) == len(belief[np.array([3])]) == 1


def test_what_there_is_not_is_named() -> None:
    with pytest.raises(ValueError, match="no question 9: they are numbered 0 to 1"):
        problem().names.question(9)
    with pytest.raises(TypeError, match="a problem has no price to replace"):
        problem().replace(price=3)


def test_rows_of_outcomes_are_whole_numbers() -> None:
    policy = Lookahead(certificate_paths=0).solve(problem())
    with pytest.raises(ValueError, match="X must be outcomes, a matrix of int; got float64"):
        acquire(policy, np.array([[0.5, 1.0]]))
    with pytest.raises(ValueError, match=r"got a DataFrame: simulate\(observations=...\) takes columns by their names"):
        acquire(policy, pd.DataFrame([[0, 1]]))
    assert acquire(policy, [[0, 1]]).leaf_decision.tolist() == [0]


def test_the_error_of_a_single_path_is_not_known() -> None:
    policy = Lookahead(certificate_paths=0).solve(problem())
    assert np.isnan(evaluate(problem(), policy, method="simulation", n_paths=1).cost_std_error)


def test_what_is_owed_counts_at_the_prices_of_a_policy() -> None:
    """Where an order is under way of which nobody has paid the group in full."""
    plain = TableProblem(
        [0.5, 0.5],
        LIKELIHOODS[[0, 0, 0]],
        prices=[0.01] * 3,
        full_prices=[0.05, 0.03, 0.05],
        groups=[0, 0, 0],
        any_order=True,
    )
    dear = with_visits(plain, Visits(0.02, np.zeros(3)))
    twice = scale_prices(dear, 2.0)

    def ordered(which: AcquisitionProblem) -> Any:
        start = order_panels(which.initial_belief(), np.array([[True, True, False]]))
        return start.asking(0).update(np.array([0]))

    policy = RepricedPolicy(Lookahead(certificate_paths=0).solve(twice), dear, 2.0)
    own, wanted = policy._translate(ordered(dear)).account, ordered(twice).account
    np.testing.assert_allclose(own.owed, wanted.owed)
    np.testing.assert_allclose(own.spent, wanted.spent)
    assert (wanted.owed > 0).all()


def test_rows_that_are_added_leave_copies_alone() -> None:
    model = NaiveBayes().fit([[0, 0], [1, 1], [1, 0], [0, 1]] * 5, [0, 1, 1, 0] * 5)
    before = model.posterior([[0, -1]])
    model.with_exponents([0.5, 1.0]).partial_fit([[0, 0]] * 20, [1] * 20)
    np.testing.assert_array_equal(model.posterior([[0, -1]]), before)
    assert model.class_count_.tolist() == [10, 10]


def test_settings_of_a_recipe_count_beside_none() -> None:
    assert seqclass.etana(discretizer=None, n_bins=2).discretizer.n_bins == 2
    assert seqclass.etana(observation_model=None, temperature=5.0).observation_model.temperature == 5


def test_options_of_a_live_source_need_one() -> None:
    X = np.array([[0.0], [1.0]] * 10)
    clf = seqclass.etana(Costs(0.1)).fit(X, X[:, 0])
    live: tuple[dict[str, Any], ...] = (
        {"n": 20},
        {"kept": {}},
        {"tries": 1},
        {"on_error": "raise"},
        {"batch_size": 5},
        {"concurrency": 1},
    )
    for option in live:
        with pytest.raises(ValueError, match="are about a live source"):
            clf.acquire(X, **option)
    with pytest.raises(ValueError, match="sample_weight"):
        clf.score(X, X[:, 0], sample_weight=-np.ones(20))


def test_a_margin_is_for_a_fixed_order() -> None:
    solver = FittedValueIteration(50, margin=0.02, certificate_paths=0)
    assert solver.solve(problem()).n_stages == 2
    with pytest.raises(ValueError, match="margin is for a fixed order"):
        solver.solve(problem(any_order=True))


def test_what_is_no_problem_is_refused_by_its_name(tmp_path: Path) -> None:
    doors: list[Callable[[Any], Any]] = [
        evaluate,
        certify,
        lambda x: cost_sweep(x, [1.0]),
        lambda x: solve_for_budget(x, 0.1),
        optimal_cost,
        dual_bound,
        in_any_order,
        with_names,
        lambda x: write_pomdp(x, tmp_path / "a.pomdp"),
        Perseus().solve,
    ]
    for door in doors:
        with pytest.raises(TypeError, match=r"problem must be an AcquisitionProblem.*got 3"):
            door(3)
