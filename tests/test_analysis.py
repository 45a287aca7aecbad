"""Belief analysis against recursions in plain Python over all histories, and against what theory says."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from scipy.special import entr
from sklearn.datasets import load_breast_cancer, load_iris
from slopes import finite_differences

from seqclass import SequentialClassifier
from seqclass.agent.problem import acquisition_problem
from seqclass.analysis import (
    class_profile,
    entropy_path,
    feature_values,
    reachable_beliefs,
    regret,
    sensitivity,
    stopping_regions,
    thresholds,
    what_if,
)
from seqclass.analysis.sensitivity import HeldPolicy
from seqclass.bn import NaiveBayes, ObservationModel, TreeNetwork
from seqclass.costs import Costs
from seqclass.pomdp import (
    DECIDE,
    ExactFreeOrder,
    ExactValueIteration,
    FirstK,
    GridValueIteration,
    Lookahead,
    Perseus,
    Policy,
    StoppingValue,
    TableProblem,
    acquire,
    dual_bound,
    evaluate,
)
from seqclass.pomdp.account import Account, prices_without_visits
from seqclass.pomdp.policy import LookaheadPolicy, draw_lots
from seqclass.pomdp.problem import BeliefState
from seqclass.pomdp.sweeps.budget import RandomisedPolicy
from seqclass.pomdp.table_problem import in_any_order

SEEDS = range(12)


class Wild(Policy):
    """Goes on or stops by a hash of the belief and the context: as irregular as a policy gets."""

    def __init__(self, problem: Any, twist: float = 0.0) -> None:
        super().__init__(problem)
        self.twist = twist

    def _action(self, belief: BeliefState) -> Any:
        wild = (
            np.sin(
                belief.probabilities @ np.arange(1.0, belief.probabilities.shape[1] + 1) * 7
                + 3 * belief.stage
                + self.twist
            )
            > -0.5
        )
        return np.where(wild, belief.stage, DECIDE)


def random_problem(seed: int, *, contexts: bool = False, groups: bool = False, n_classes: int = 0) -> TableProblem:
    """2-4 classes, 3-4 features of 2-3 outcomes, one decision more than classes."""
    rng = np.random.default_rng([seed, contexts, groups])
    n_classes = n_classes or int(rng.integers(2, 5))
    n_stages = int(rng.integers(3, 5))
    sizes = [1, *rng.integers(1, 4, size=n_stages - 1)] if contexts else [1] * n_stages
    outcomes = rng.integers(2, 4, size=n_stages)
    tables = [np.moveaxis(rng.dirichlet(np.full(v, 0.7), size=(s, n_classes)), 1, 2) for s, v in zip(sizes, outcomes)]
    moves = [rng.integers(after, size=(s, v + 1)) for s, v, after in zip(sizes, outcomes, [*sizes[1:], 1])]
    costs = rng.random((n_classes, n_classes + 1)) * 2
    costs[np.arange(n_classes), np.arange(n_classes)] = 0.0
    prices = 0.01 + 0.04 * rng.random(n_stages)
    more: dict[str, Any] = {}
    if groups:
        more = {"groups": rng.integers(-1, 2, size=n_stages), "full_prices": prices + 0.02}
    return TableProblem(
        rng.dirichlet(np.ones(n_classes)),
        tables if contexts else [table[0] for table in tables],
        prices,
        costs,
        transitions=moves if contexts else None,
        **more,
    )


def histories(problem: TableProblem, policy: Policy) -> Iterator[SimpleNamespace]:
    """Every history that the policy meets, one at a time: its joint weight of each class and what happened."""

    def visit(outcomes: tuple[int, ...], joint: list[float], context: int, path: list[Any]) -> Iterator[Any]:
        stage, weight = len(outcomes), sum(joint)
        groups = {int(problem.groups[s]) for s in range(stage)} - {-1} if problem.groups is not None else set()
        mask = None
        if problem.groups is not None:
            mask = np.zeros((1, max(problem.groups.max() + 1, 0)), dtype=bool)
            mask[0, list(groups)] = True
        action = DECIDE
        if stage < problem.n_stages:
            belief = np.array([joint]) / weight
            account = Account(np.zeros(1), mask)
            action = int(policy.action(BeliefState(problem, stage, belief, np.array([context]), account))[0])
        costs = [sum(b * row[d] for b, row in zip(joint, problem.decision_costs)) for d in range(problem.n_decisions)]
        price, full = 0.0, False
        if action != DECIDE:
            price = float(problem.prices[stage])
            full = problem.groups is not None and problem.groups[stage] >= 0 and problem.groups[stage] not in groups
            price = float(problem.full_prices[stage]) if full else price
        node = SimpleNamespace(
            outcomes=outcomes,
            stage=stage,
            joint=np.array(joint),
            weight=weight,
            go_on=action != DECIDE,
            price=price,
            full=full,
            stop=min(costs) / weight,
            decision=int(np.argmin(costs)),
            paid=sum(n.price for n in path),
            path=path,
        )
        yield node
        if action == DECIDE:
            return
        table = problem.likelihoods[stage] if problem.transitions is None else problem.likelihoods[stage][context]
        for v in range(int(problem.n_outcomes[stage])):
            following = [float(p) * b for p, b in zip(table[v], joint)]
            if sum(following) > 0:
                after = 0 if problem.transitions is None else int(problem.transitions[stage][context, v])
                yield from visit((*outcomes, v), following, after, [*path, node])

    return visit((), problem.prior.tolist(), 0, [])


VARIANTS = [{}, {"contexts": True}, {"groups": True}]


@pytest.fixture(params=[(seed, i) for seed in SEEDS for i in range(3)], ids=str)
def case(request: Any) -> SimpleNamespace:
    seed, variant = request.param
    problem = random_problem(seed, **VARIANTS[variant])
    policy: Policy = Wild(problem) if seed % 2 else LookaheadPolicy(StoppingValue(problem))
    nodes = list(histories(problem, policy))
    return SimpleNamespace(problem=problem, policy=policy, nodes=nodes, leaves=[n for n in nodes if not n.go_on])


def mean(nodes: list[Any], what: Callable[[Any], float]) -> float:
    """Weighted mean; NaN of nothing."""
    total = sum(n.weight for n in nodes)
    return sum(n.weight * what(n) for n in nodes) / total if total else float("nan")


class TestReachableBeliefs:
    def test_they_are_those_of_all_histories(self, case: Any) -> None:
        found = reachable_beliefs(case.problem, case.policy)
        assert found.method == "exact"
        assert found.n_stages == max(n.stage for n in case.nodes)
        for stage in range(found.n_stages + 1):
            here = found.at_stage(stage)
            nodes = [n for n in case.nodes if n.stage == stage]
            np.testing.assert_allclose(here.probability.sum(), sum(n.weight for n in nodes))
            np.testing.assert_allclose(here.asked.sum(), sum(n.weight for n in nodes if n.go_on), atol=1e-15)
            gaps = np.abs(here.belief[:, None] - [n.joint / n.weight for n in nodes]).max(axis=2)
            nearest = gaps.argmin(axis=0)
            assert gaps.min(axis=0).max() < 1e-9
            for k in range(len(here)):
                mine = [n for n, j in zip(nodes, nearest) if j == k]
                np.testing.assert_allclose(here.probability[k], sum(n.weight for n in mine))
                np.testing.assert_allclose(here.asked[k], sum(n.weight for n in mine if n.go_on), atol=1e-15)
                assert {n.decision for n in mine} == {here.decision[k]}

    def test_the_belief_is_a_martingale(self, case: Any) -> None:
        found = reachable_beliefs(case.problem)
        for stage in range(case.problem.n_stages + 1):
            here = found.at_stage(stage)
            np.testing.assert_allclose(here.probability @ here.belief, case.problem.prior, atol=1e-12)

    def test_equal_beliefs_are_one(self) -> None:
        coin = np.array([[[0.75, 0.25], [0.25, 0.75]]] * 8)
        found = reachable_beliefs(TableProblem([0.5, 0.5], coin, prices=0.1))
        assert [len(found.at_stage(k)) for k in range(9)] == list(range(1, 10))
        coarse = reachable_beliefs(TableProblem([0.5, 0.5], coin, prices=0.1), tolerance=0.2)
        assert len(coarse) < len(found)
        np.testing.assert_allclose(coarse.at_stage(8).probability @ coarse.at_stage(8).belief, [0.5, 0.5])

    def test_simulation_comes_near(self) -> None:
        problem = random_problem(3)
        exact, sampled = reachable_beliefs(problem), reachable_beliefs(problem, method="simulation", n_paths=40_000)
        assert sampled.method == "simulation"
        for stage in range(problem.n_stages + 1):
            a, b = exact.at_stage(stage), sampled.at_stage(stage)
            for belief, probability in zip(b.belief, b.probability):
                k = np.abs(a.belief - belief).max(axis=1).argmin()
                assert abs(a.probability[k] - probability) < 0.015
        again = reachable_beliefs(problem, method="simulation", n_paths=40_000)
        np.testing.assert_array_equal(again.probability, sampled.probability)

    def test_too_many_histories(self) -> None:
        problem = random_problem(0)
        with pytest.raises(ValueError, match="max_histories=3"):
            reachable_beliefs(problem, method="exact", max_histories=3)
        assert reachable_beliefs(problem, max_histories=3, n_paths=10).method == "simulation"
        with pytest.raises(ValueError, match="method must be one of"):
            reachable_beliefs(problem, method="guess")


class TestEntropyPath:
    def test_it_is_that_of_all_histories(self, case: Any) -> None:
        path = entropy_path(case.problem, case.policy)

        def nats(n: Any) -> float:
            return -sum(p * np.log(p) for p in n.joint / n.weight if p > 0)

        for k in range(len(path.overall)):
            here = [n for n in case.nodes if n.stage == k]
            last = [n for n in case.leaves if n.stage < k] + here
            np.testing.assert_allclose(path.overall[k], mean(last, nats))
            np.testing.assert_allclose(path.going_on[k], mean([n for n in here if n.go_on], nats))
            np.testing.assert_allclose(path.stopped[k], mean([n for n in here if not n.go_on], nats))
            np.testing.assert_allclose(path.asked[k], sum(n.weight for n in here if n.go_on), atol=1e-15)
        assert (np.diff(path.overall) <= 1e-12).all()
        assert -1e-12 <= path.information <= entr(case.problem.prior).sum() + 1e-12

    def test_a_belief_that_is_certain_has_none(self) -> None:
        says_nothing = np.full((1, 2, 4), 0.5)
        for prior, nats in ((np.eye(4)[1], 0.0), (np.full(4, 0.25), np.log(4))):
            problem = TableProblem(prior, says_nothing, prices=0.1)
            np.testing.assert_allclose(entropy_path(problem, FirstK(None).solve(problem)).overall, [nats, nats])


class TestFeatureValues:
    def test_they_are_those_of_all_histories(self, case: Any) -> None:
        values = feature_values(case.problem, case.policy)
        np.testing.assert_array_equal(values.feature, case.problem.features[: len(values.feature)])

        for k in range(len(values.feature)):
            here = [n for n in case.nodes if n.stage == k]
            asked = [n for n in here if n.go_on]
            np.testing.assert_allclose(values.reached[k], sum(n.weight for n in here))
            np.testing.assert_allclose(values.asked[k], sum(n.weight for n in asked), atol=1e-15)
            np.testing.assert_allclose(values.price[k], mean(asked, lambda n: n.price))
            children = [n for n in case.nodes if n.stage == k + 1]
            ends = [n for n in case.leaves if n.stage > k]
            stop = mean(asked, lambda n: n.stop)
            going_on = mean(ends, lambda n, k=k: n.stop + n.paid - n.path[k].paid)
            np.testing.assert_allclose(values.gain[k], stop - mean(children, lambda n: n.stop), atol=1e-12)
            np.testing.assert_allclose(values.saving[k], stop - going_on, atol=1e-12)

    def test_savings_add_up(self, case: Any) -> None:
        values = feature_values(case.problem, case.policy)
        saved = case.problem.stopping_cost(case.problem.prior) - evaluate(case.problem, case.policy).cost
        np.testing.assert_allclose(values.total_saving, saved, atol=1e-12)
        np.testing.assert_allclose(np.nansum(values.asked * (values.gain - values.price)), saved, atol=1e-12)

    def test_what_the_policy_expects(self) -> None:
        problem = random_problem(2, n_classes=2)
        policy = ExactValueIteration().solve(problem)
        assert isinstance(policy, LookaheadPolicy)
        values = feature_values(problem, policy)
        for k in range(len(values.feature)):
            here = [n for n in histories(problem, policy) if n.stage == k]
            states = [BeliefState(problem, k, n.joint[None] / n.weight, np.zeros(1, dtype=int), None) for n in here]
            saving = [n.stop - policy.continuation_cost(s)[0] for n, s in zip(here, states)]
            expected = np.average(saving, weights=[n.weight for n in here])
            np.testing.assert_allclose(values.expected_saving[k], expected, atol=1e-12)
        if values.asked[0] == 1:  # what optimal values expect comes true
            np.testing.assert_allclose(values.expected_saving[0], values.saving[0], atol=1e-9)
        assert np.isnan(feature_values(problem, Wild(problem)).expected_saving).all()

    def test_a_policy_that_never_asks(self) -> None:
        problem = random_problem(1)
        values = feature_values(problem, FirstK(0).solve(problem))
        assert values.total_saving == 0
        assert values.asked.sum() == 0


class TestClassProfile:
    def test_it_is_that_of_all_histories(self, case: Any) -> None:
        profile, n_classes = class_profile(case.problem, case.policy), case.problem.n_classes
        for i in range(n_classes):
            p = case.problem.prior[i]
            np.testing.assert_allclose(profile.probability[i], p)
            expected = {
                "n_features": lambda n: n.stage,
                "price": lambda n: n.paid,
                "error": lambda n, i=i: n.decision != i and n.decision < n_classes,
                "decision_cost": lambda n, i=i: case.problem.decision_costs[i, n.decision],
            }
            for name, what in expected.items():
                value = sum(n.joint[i] * what(n) for n in case.leaves) / p
                np.testing.assert_allclose(getattr(profile, name)[i], value, atol=1e-12, err_msg=name)
            for k in range(profile.stage_given_class.shape[1]):
                value = sum(n.joint[i] for n in case.leaves if n.stage == k) / p
                np.testing.assert_allclose(profile.stage_given_class[i, k], value, atol=1e-12)
        np.testing.assert_allclose(profile.decision_given_class.sum(axis=1), 1)
        result = evaluate(case.problem, case.policy)
        np.testing.assert_allclose(profile.decision_given_class, result.decision_given_class, atol=1e-12)
        np.testing.assert_allclose(profile.probability @ profile.cost, result.cost)
        np.testing.assert_allclose(profile.probability @ profile.error, result.error, atol=1e-12)

    def test_a_class_that_does_not_occur(self) -> None:
        problem = TableProblem([1.0, 0.0], np.array([[[0.9, 0.2], [0.1, 0.8]]]), 0.1, [[0.3], [0.6]])
        profile = class_profile(problem, FirstK(None).solve(problem))
        np.testing.assert_allclose(profile.error, [0, np.nan])
        np.testing.assert_allclose(profile.cost, [0.4, np.nan])


class TestRegret:
    def test_it_is_that_of_all_histories(self, case: Any) -> None:
        other = Wild(case.problem, 2.0)
        result = regret(case.problem, case.policy, other)
        mine = {n.outcomes: n for n in case.leaves}
        others = {n.outcomes: n for n in histories(case.problem, other) if not n.go_on}
        n = len(result.stopped_early)
        early, late, p_early, p_late = (np.zeros(n) for _ in range(4))
        for leaves, against, sign, part, share in ((mine, others, -1, early, p_early), (others, mine, 1, late, p_late)):
            for outcomes, leaf in leaves.items():  # the first to stop, and all that the other goes on to from there
                longer = [b for o, b in against.items() if len(o) > len(outcomes) and o[: len(outcomes)] == outcomes]
                part[leaf.stage] += sum(sign * b.weight * (b.stop + b.paid - leaf.stop - leaf.paid) for b in longer)
                share[leaf.stage] += sum(b.weight for b in longer)
        np.testing.assert_allclose(result.stopped_early, early, atol=1e-12)
        np.testing.assert_allclose(result.stopped_late, late, atol=1e-12)
        np.testing.assert_allclose(result.p_early, p_early, atol=1e-12)
        np.testing.assert_allclose(result.p_late, p_late, atol=1e-12)
        costs = [evaluate(case.problem, p).cost for p in (case.policy, other)]
        np.testing.assert_allclose([result.cost, result.other_cost], costs)
        np.testing.assert_allclose(result.regret, costs[0] - costs[1], atol=1e-12)
        np.testing.assert_allclose(result.by_stage.sum(), result.regret, atol=1e-12)
        assert result.p_differ <= 1 + 1e-12
        assert (result.method, result.std_error) == ("exact", 0.0)

    def test_it_changes_sign_with_the_sides(self, case: Any) -> None:
        other = FirstK(2).solve(case.problem)
        one, two = regret(case.problem, case.policy, other), regret(case.problem, other, case.policy)
        np.testing.assert_allclose(one.by_stage, -two.by_stage, atol=1e-12)
        np.testing.assert_allclose(one.stopped_early, -two.stopped_late, atol=1e-12)

    @pytest.mark.slow
    def test_against_the_optimum_it_is_not_negative(self) -> None:
        for seed in SEEDS:
            problem = random_problem(seed, n_classes=2)
            best = ExactValueIteration().solve(problem)
            for policy in (Wild(problem), Lookahead().solve(problem), FirstK(None).solve(problem)):
                result = regret(problem, policy, best)
                assert min(result.stopped_early.min(), result.stopped_late.min()) >= -1e-9
            assert regret(problem, best, best).p_differ == 0

    def test_common_paths_spare_noise(self) -> None:
        coin = np.array([[[0.7, 0.3], [0.3, 0.7]]] * 8)
        problem = TableProblem([0.5, 0.5], coin, prices=0.01)
        near, best = FirstK(5).solve(problem), GridValueIteration().solve(problem)
        exact = regret(problem, near, best)
        sampled = regret(problem, near, best, method="simulation", n_paths=4000)
        assert sampled.method == "simulation"
        assert abs(sampled.regret - exact.regret) < 4 * sampled.std_error + 1e-12
        apart = [evaluate(problem, p, method="simulation", n_paths=4000).cost_std_error for p in (near, best)]
        assert 0 < sampled.std_error < 0.8 * np.hypot(*apart)

    @pytest.mark.parametrize("method", ["exact", "simulation"])
    def test_randomised_policies_draw_their_lots(self, method: str) -> None:
        problem = random_problem(5)
        policies = [FirstK(0).solve(problem), FirstK(None).solve(problem)]
        mixed, other = RandomisedPolicy(policies, [0.3, 0.7]), RandomisedPolicy(policies, [0.6, 0.4])
        result = regret(problem, mixed, other, method=method, n_paths=20_000)
        low, high = (evaluate(problem, p).cost for p in policies)
        tolerance = 1e-12 if method == "exact" else 0.02
        np.testing.assert_allclose(result.cost, 0.3 * low + 0.7 * high, atol=tolerance)
        np.testing.assert_allclose(result.other_cost, 0.6 * low + 0.4 * high, atol=tolerance)
        np.testing.assert_allclose(result.p_differ, 0.3 * 0.4 + 0.7 * 0.6, atol=tolerance)
        np.testing.assert_allclose(result.p_early[0], 0.3 * 0.4, atol=tolerance)


class TestSensitivity:
    def test_it_is_that_of_all_histories(self, case: Any) -> None:
        found = sensitivity(case.problem, case.policy)
        asked = np.zeros((2, case.problem.n_stages))
        joint = np.zeros_like(case.problem.decision_costs)
        for n in case.nodes:
            if n.go_on:
                asked[int(n.full), n.stage] += n.weight
            else:
                joint[:, n.decision] += n.joint
        np.testing.assert_allclose(found.price, asked[0], atol=1e-12)
        np.testing.assert_allclose(found.full_price, asked[1], atol=1e-12)
        np.testing.assert_allclose(found.decision_cost, joint, atol=1e-12)
        np.testing.assert_allclose(found.decision_cost.sum(), 1)
        np.testing.assert_allclose(found.cost, evaluate(case.problem, case.policy).cost)

    @pytest.mark.covering(1)
    @pytest.mark.parametrize("seed", range(2))
    @pytest.mark.parametrize("variant", VARIANTS, ids=str)
    def test_it_equals_finite_differences(self, seed: int, variant: Any) -> None:
        problem = random_problem(seed, **variant)
        for policy in (Wild(problem), LookaheadPolicy(StoppingValue(problem))):
            found, check = sensitivity(problem, policy), finite_differences(problem, policy)
            np.testing.assert_allclose(found.price, check.price, atol=1e-8)
            np.testing.assert_allclose(found.full_price, check.full_price, atol=1e-8)
            np.testing.assert_allclose(found.decision_cost, check.decision_cost, atol=1e-8)
            np.testing.assert_allclose(found.cost, check.cost)

    def test_simulation_is_its_own_derivative(self) -> None:
        problem = random_problem(1, groups=True)
        effort: Any = {"method": "simulation", "n_paths": 200, "random_state": 3}
        found, check = (f(problem, Wild(problem), **effort) for f in (sensitivity, finite_differences))
        np.testing.assert_allclose(found.price, check.price, atol=1e-8)
        np.testing.assert_allclose(found.decision_cost, check.decision_cost, atol=1e-8)

    def test_a_price_of_nothing_is_only_raised(self) -> None:
        problem = TableProblem([0.5, 0.5], np.array([[[0.9, 0.2], [0.1, 0.8]]]), prices=0.0)
        check = finite_differences(problem, GridValueIteration().solve(problem))
        np.testing.assert_allclose(check.price, [1.0])

    @pytest.mark.slow
    def test_the_envelope_theorem(self) -> None:
        solver, step = ExactValueIteration(), 1e-6
        for seed in range(4):
            problem = random_problem(seed, n_classes=2)
            found = sensitivity(problem, solver.solve(problem))
            for k in range(problem.n_stages):
                costs = []
                for change in (step, -step):
                    prices = problem.prices.copy()
                    prices[k] += change
                    costs.append(what_if(problem, Wild(problem), prices=prices, solver=solver).after.cost)
                np.testing.assert_allclose((costs[0] - costs[1]) / (2 * step), found.price[k], atol=1e-5)


class TestWhatIf:
    def test_solving_again_helps_and_the_tangent_lies_above(self) -> None:
        rng = np.random.default_rng(0)
        solver = ExactValueIteration()
        for seed in range(4):
            problem = random_problem(seed, n_classes=2)
            best = solver.solve(problem)
            found = sensitivity(problem, best)
            prices = problem.prices * rng.uniform(0.2, 3, size=problem.n_stages)
            costs = problem.decision_costs * rng.uniform(0.5, 2, size=problem.decision_costs.shape)
            result = what_if(problem, best, prices=prices, decision_costs=costs, solver=solver)
            assert result.saving_of_replanning >= -1e-9
            np.testing.assert_allclose(result.before.cost, evaluate(problem, best).cost)
            np.testing.assert_allclose(result.change, result.after.cost - result.before.cost)
            tangent = found.price @ prices + (found.decision_cost * costs).sum()
            assert result.after.cost <= tangent + 1e-9
            assert result.held.cost <= tangent + 1e-9  # its decisions adapt

    def test_the_old_problem_stays(self) -> None:
        problem = random_problem(0, groups=True)
        policy = LookaheadPolicy(StoppingValue(problem))
        before, cost = problem.prices.copy(), evaluate(problem, policy).cost
        result = what_if(problem, policy, prices={0: 0.5}, prior=np.full(problem.n_classes, 1 / problem.n_classes))
        np.testing.assert_array_equal(problem.prices, before)
        assert evaluate(problem, policy).cost == cost
        np.testing.assert_allclose(result.problem.prices[0], 0.5)
        np.testing.assert_allclose(result.problem.full_prices - result.problem.prices, 0.02)
        np.testing.assert_allclose(result.problem.prior, 1 / problem.n_classes)

    def test_a_held_policy_does_not_adapt(self) -> None:
        problem = random_problem(2)
        policy = LookaheadPolicy(StoppingValue(problem))
        dear = what_if(problem, policy, prices=np.full(problem.n_stages, 10.0))
        assert dear.after.n_features == 0
        assert dear.held.n_features == dear.before.n_features
        mixed = RandomisedPolicy([policy, FirstK(None).solve(problem)], [0.5, 0.5])
        held = evaluate(dear.problem, HeldPolicy(mixed, dear.problem))
        np.testing.assert_allclose(held.n_features, evaluate(problem, mixed).n_features)

    @pytest.mark.parametrize("any_order", [False, True])
    @pytest.mark.parametrize("seed", range(4))
    def test_a_held_policy_asks_what_it_asked_whatever_the_prior(self, seed: int, any_order: bool) -> None:
        problem = random_problem(seed)
        problem = in_any_order(problem) if any_order else problem
        policy = (ExactFreeOrder() if any_order else Perseus()).solve(problem)
        prior = np.random.default_rng(seed).dirichlet(np.ones(problem.n_classes))
        held = what_if(problem, policy, prior=prior).held
        given = class_profile(problem, policy).n_features  # of each class: it does not go by how likely that is
        np.testing.assert_allclose(held.n_features, prior @ given)

    def test_prices_by_the_names_of_questions(self) -> None:
        rows = np.random.default_rng(0).integers(0, 2, (40, 3))
        clf = SequentialClassifier(NaiveBayes(), order=[0, 2, 1], feature_costs=0.01).fit(rows, rows[:, 1])
        problem, solver = clf.problem_, FirstK(None)
        by_name, by_number = (
            what_if(problem, clf.policy_, prices={key: 0.05}, solver=solver).problem.prices
            for key in (problem.names.questions[2], 1)
        )
        assert by_name.tolist() == by_number.tolist() == [0.01, 0.01, 0.05]

    def test_wrong_input_is_refused(self) -> None:
        problem = random_problem(0)
        policy = FirstK(None).solve(problem)
        with pytest.raises(ValueError, match="'worst' is no question of this problem"):
            what_if(problem, policy, prices={"worst": 0.1})
        with pytest.raises(ValueError, match="prices names feature 99"):
            what_if(problem, policy, prices={99: 0.1})
        with pytest.raises(ValueError, match="prices must not be negative"):
            what_if(problem, policy, prices={0: -0.1})
        with pytest.raises(ValueError, match="decision_costs must have shape"):
            what_if(problem, policy, decision_costs=[[0.0]])


class Intervals(Policy):
    """Goes on within given intervals of P(second class)."""

    def __init__(self, problem: Any, intervals: Any) -> None:
        super().__init__(problem)
        self.intervals = intervals

    def _action(self, belief: BeliefState) -> Any:
        p = belief.probabilities[:, 1]
        inside = np.any([(p > low) & (p < high) for low, high in self.intervals], axis=0)
        return np.where(inside, belief.stage, DECIDE)


class TestRegions:
    problem = TableProblem([0.5, 0.5], np.array([[[0.9, 0.2], [0.1, 0.8]]] * 2), prices=0.1)

    @pytest.mark.parametrize(
        "intervals",
        [
            [(0.1234567891, 0.7654321)],
            [(0.1, 0.2), (0.6, 0.9)],
            [(-1, 0.31)],
            [(0.4, 2)],
            [(-1, 2)],
            [(0.49999, 0.500001)],  # narrower than the mesh, at the change of decision
        ],
    )
    def test_intervals_are_found_to_tolerance(self, intervals: Any) -> None:
        found = stopping_regions(Intervals(self.problem, intervals), 1, resolution=99, tolerance=1e-11)
        expected = np.clip(intervals, 0, 1)
        np.testing.assert_allclose(found.go_on, expected, atol=1e-10)
        np.testing.assert_allclose(found.go_on_share, (expected[:, 1] - expected[:, 0]).sum(), atol=1e-9)
        assert found.between is not None
        assert found.edges is not None
        assert (np.diff(found.edges) > 0).all()
        assert (np.diff(found.between) != 0).all()

    def test_an_even_match_changes_at_one_half(self) -> None:
        found = stopping_regions(DecideNowButPresent(self.problem))
        np.testing.assert_allclose(found.edges, [0.5], atol=1e-9)
        np.testing.assert_array_equal(found.between, [0, 1])
        assert found.go_on.shape == (0, 2)

    def test_at_a_threshold_the_costs_are_equal(self) -> None:
        for seed in range(4):
            problem = random_problem(seed, n_classes=2)
            policy = ExactValueIteration().solve(problem)
            assert isinstance(policy, LookaheadPolicy)
            found = thresholds(policy, resolution=200)
            for stage, ends in zip(found.stage[found.go_on], np.column_stack([found.lower, found.upper])[found.go_on]):
                inner = ends[(ends > 0) & (ends < 1)]
                posterior, nowhere = np.column_stack([1 - inner, inner]), np.zeros(len(inner), dtype=int)
                belief = BeliefState(problem, int(stage), posterior, nowhere, None)
                np.testing.assert_allclose(policy.continuation_cost(belief), belief.stopping_cost, atol=1e-7)

    def test_thresholds_are_the_regions_of_every_stage_and_context(self) -> None:
        problem = random_problem(7, contexts=True, n_classes=2)
        policy = GridValueIteration().solve(problem)
        found = thresholds(policy, resolution=100)
        assert found.n_stages == policy.n_stages
        for stage in range(policy.n_stages):
            for context in range(problem.structure.tables.n_contexts(stage)):
                rows = (found.stage == stage) & (found.context == context)
                expected = stopping_regions(policy, stage, context=context, resolution=100)
                ends = np.column_stack([found.lower, found.upper])
                np.testing.assert_array_equal(ends[rows & found.go_on], expected.go_on)
                np.testing.assert_array_equal(found.region[rows], expected.between)
                np.testing.assert_array_equal(ends[rows][1:, 0], ends[rows][:-1, 1])
                assert (ends[rows][0, 0], ends[rows][-1, 1]) == (0, 1)
        assert thresholds(policy, max_stages=1).stage.max(initial=0) == 0

    def test_meshes_of_more_classes(self) -> None:
        X, y = load_iris(return_X_y=True)
        clf = SequentialClassifier(feature_costs=0.02).fit(X, y)
        found = stopping_regions(clf.policy_, 1, resolution=20)
        assert found.belief.shape == (231, 3)
        np.testing.assert_allclose(found.belief.sum(axis=1), 1)
        assert len(np.unique(found.belief, axis=0)) == 231
        nowhere = np.zeros(231, dtype=int)
        state = BeliefState(clf.problem_, 1, found.belief, nowhere, None)
        np.testing.assert_array_equal(found.region == DECIDE, clf.policy_.action(state) != DECIDE)
        assert (found.region[found.belief.max(axis=1) == 1] == [0, 1, 2]).all()
        assert 0 < found.go_on_share < 1
        with pytest.raises(ValueError, match="two classes"):
            _ = found.go_on
        with pytest.raises(ValueError, match="two classes"):
            thresholds(clf.policy_)
        with pytest.raises(ValueError, match="lower resolution"):
            stopping_regions(clf.policy_, 1, resolution=10_000)

    def test_wrong_input_is_refused(self) -> None:
        policy = Wild(self.problem)
        for settings, match in (
            ({"stage": 2}, "stage must be between 0 and 1"),
            ({"context": 1}, "context must be between 0 and 0"),
            ({"resolution": 0}, "resolution must be at least 1"),
        ):
            with pytest.raises(ValueError, match=match):
                stopping_regions(policy, **settings)  # type: ignore[arg-type]
        with pytest.raises(ValueError, match="horizon is 0"):
            stopping_regions(FirstK(0).solve(self.problem))


class DecideNowButPresent(Policy):
    """Could ask, and never does."""

    def _action(self, belief: BeliefState) -> Any:
        return np.full(len(belief), DECIDE)


@pytest.mark.slow
def test_a_fitted_classifier_is_analysed_by_its_problem_and_policy() -> None:
    X, y = load_breast_cancer(return_X_y=True)
    clf = SequentialClassifier().fit(X, y)
    problem, policy = clf.problem_, clf.policy_
    result = evaluate(problem, policy)
    effort: Any = {"n_paths": 2000, "max_histories": 20_000}
    np.testing.assert_allclose(feature_values(problem, policy, **effort).asked.sum(), result.n_features, rtol=0.05)
    profile = class_profile(problem, policy, **effort)
    np.testing.assert_allclose(profile.probability @ profile.n_features, result.n_features, rtol=0.05)
    assert abs(sensitivity(problem, policy, **effort).cost - result.cost) < 0.01
    assert regret(problem, FirstK(None, certificate_paths=0).solve(problem), policy, **effort).regret > 0.1


class Untabled(NaiveBayes):
    """Naive Bayes that keeps evidence instead of tables."""

    context_features = ObservationModel.context_features

    def tables(self, order: Any) -> None:
        return None


def test_a_model_without_tables_gives_the_same() -> None:
    rng = np.random.default_rng(0)
    y = rng.integers(2, size=300)
    X = (rng.random((300, 4)) < 0.3 + 0.4 * y[:, None]).astype(int)
    prices = Costs(0.02, groups=[0, 0, 1, 1], discounted_costs=0.01).prices(4)
    problems = [
        acquisition_problem(model.fit(X, y), np.arange(4), prices, 1 - np.eye(2))
        for model in (NaiveBayes(), Untabled())
    ]
    problems[1].max_contexts = 1
    assert [problem.structure.tables is not None for problem in problems] == [True, False]
    tabled, untabled = (LookaheadPolicy(StoppingValue(problem)) for problem in problems)
    a, b = (reachable_beliefs(policy.problem, policy) for policy in (tabled, untabled))
    np.testing.assert_allclose(a.belief, b.belief)
    np.testing.assert_allclose(a.probability, b.probability)
    a, b = (sensitivity(policy.problem, policy) for policy in (tabled, untabled))
    np.testing.assert_allclose(a.full_price, b.full_price)
    assert a.full_price.max() > 0
    a, b = (thresholds(policy, resolution=100) for policy in (tabled, untabled))
    np.testing.assert_allclose(a.lower, b.lower, atol=1e-8)
    np.testing.assert_array_equal(a.region, b.region)


def _by_lot() -> tuple[TableProblem, RandomisedPolicy]:
    problem = TableProblem([0.5, 0.5], np.array([[[0.9, 0.2], [0.1, 0.8]]] * 3), prices=0.05)
    parts = [GridValueIteration().solve(problem), FirstK(0).solve(problem), FirstK(None).solve(problem)]
    return problem, RandomisedPolicy(parts, [0.3, 0.2, 0.5])


def test_held_policies_draw_the_lots_of_the_policy_held() -> None:
    problem, mixed = _by_lot()
    keys = np.random.default_rng(0).normal(size=(300, 2))
    held = HeldPolicy(mixed, problem)
    np.testing.assert_array_equal(draw_lots(held, keys), draw_lots(mixed, keys))
    X = np.random.default_rng(1).integers(2, size=(300, 3))
    one, other = (acquire(policy, X, keys=keys) for policy in (held, mixed))
    np.testing.assert_array_equal(one.leaf_price[one.leaf], other.leaf_price[other.leaf])
    assert np.unique(draw_lots(held, keys)).size == 3


def test_regions_and_thresholds_of_each_lot() -> None:
    _, mixed = _by_lot()
    for lot, part in enumerate(mixed.policies):
        ours, alone = (thresholds(policy, max_stages=part.n_stages, lot=k) for policy, k in ((mixed, lot), (part, 0)))
        for name in ("stage", "lower", "upper", "region"):
            np.testing.assert_array_equal(getattr(ours, name), getattr(alone, name))
    assert (stopping_regions(mixed, 2, lot=1).region >= 0).all()
    np.testing.assert_array_equal(stopping_regions(mixed).edges, stopping_regions(mixed.policies[0]).edges)
    for wrong in (-1, 3):
        with pytest.raises(ValueError, match="lot must be between 0 and 2"):
            stopping_regions(mixed, lot=wrong)
    with pytest.raises(ValueError, match="lot"):
        thresholds(mixed.policies[0], lot=1)


def test_rare_histories_are_decided_by_their_belief() -> None:
    rare = 1e-13
    problem = TableProblem([0.5, 0.5], np.array([[[1.0, 1 - 2 * rare], [0.0, 2 * rare]]]), prices=0.1)
    result = sensitivity(problem, FirstK(None, certificate_paths=0).solve(problem))
    assert result.decision_cost[1, 1] == pytest.approx(rare, rel=1e-2, abs=0)
    assert result.decision_cost.sum() == pytest.approx(1.0)


def test_a_classifier_stands_for_its_problem_and_policy_and_a_function_for_a_policy() -> None:
    X, y = load_iris(return_X_y=True)
    clf = SequentialClassifier(feature_costs=0.05, solver=FirstK(1, certificate_paths=0)).fit(X, y)
    problem, policy = clf.problem_, clf.policy_

    def ask_one(belief: BeliefState) -> Any:
        return np.full(len(belief), 0 if belief.stage == 0 else DECIDE)

    for find in (class_profile, entropy_path, feature_values, sensitivity, what_if):
        expected = repr(find(problem, policy))
        assert repr(find(clf)) == expected
        if find is not feature_values:  # which wants to know what a policy expects
            assert repr(find(clf, ask_one)) == expected
        with pytest.raises(TypeError, match="problem must be an AcquisitionProblem or a fitted classifier"):
            find(policy, policy)
        with pytest.raises(TypeError, match="policy must be a Policy"):
            find(problem, clf)
        with pytest.raises(TypeError, match="policy is needed beside a problem"):
            find(problem)
    assert repr(reachable_beliefs(clf, policy)) == repr(reachable_beliefs(problem, ask_one))
    assert regret(clf, policy, ask_one).regret == 0
    with pytest.raises(TypeError, match="other must be a Policy"):
        regret(problem, policy, problem)
    with pytest.raises(TypeError, match=r"values must be a ValueFunction, such as policy\.values"):
        dual_bound(problem, policy)


def test_what_is_no_policy_is_refused_by_name():
    for find in (stopping_regions, thresholds):
        with pytest.raises(TypeError, match=r"policy must be a Policy, such as clf\.policy_ or what"):
            find("none")


@pytest.mark.slow_cells("0.01")
@pytest.mark.parametrize("visit_cost", [0.0, 0.01])
def test_what_if_keeps_to_the_hard_budget_at_prices_that_exceed_it(visit_cost: float) -> None:
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 200)
    X = (rng.random((200, 3)) < np.where(y == 1, 0.8, 0.2)[:, None]).astype(int)
    costs = Costs([0.011, 0.013, 0.017], visit_cost=visit_cost)
    clf = SequentialClassifier(feature_costs=costs, order="adaptive", discretizer="precomputed", max_cost=0.04)
    clf.fit(X, y)
    for factor in (1.0, 1.6, 2.2, 5.0):
        found = what_if(clf.problem_, clf.policy_, prices=prices_without_visits(clf.problem_) * factor)
        assert found.held.price <= 0.04 + 1e-9
        assert found.held.cost >= found.after.cost - 1e-9
        assert (found.held.n_features == 0) == (factor == 5.0)


def test_what_if_cuts_a_fixed_order_by_its_hard_budget_at_other_prices() -> None:
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 200)
    X = (rng.random((200, 4)) < np.where(y == 1, 0.8, 0.2)[:, None]).astype(int)
    clf = SequentialClassifier(feature_costs=0.01, order="given", discretizer="precomputed", max_cost=0.045).fit(X, y)
    for factor, left in ((0.5, 4), (1.0, 4), (2.0, 2), (4.0, 1), (5.0, 0)):
        found = what_if(clf.problem_, clf.policy_, prices=clf.problem_.prices * factor)
        assert found.problem.n_stages == left
        assert found.held.price <= 0.045 + 1e-9
        assert found.held.cost >= found.after.cost - 1e-9


def test_what_if_cuts_an_order_of_which_the_states_tell_what_comes_later() -> None:
    rng = np.random.default_rng(3)
    y = rng.integers(0, 3, 300)
    X = (rng.random((300, 5)) < np.array([0.2, 0.5, 0.8])[y][:, None]).astype(int)
    X[:, 4] = np.where(rng.random(300) < 0.9, X[:, 0], X[:, 4])
    parts = TreeNetwork(), GridValueIteration(10, certificate_paths=0)
    clf = SequentialClassifier(*parts, order="given", feature_costs=0.02, discretizer="precomputed", max_cost=0.1)
    clf.fit(X, y)
    for factor, left in ((1.0, 5), (1.3, 3), (2.2, 2)):
        found = what_if(clf.problem_, clf.policy_, prices=clf.problem_.prices * factor, solver=FirstK(None))
        assert found.problem.n_stages == left
        assert found.held.price <= 0.1 + 1e-9
