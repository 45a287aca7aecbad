"""Ordering rules against their formulas, written down history by history."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).parent))
from free_cases import free_case, mixture_case

from seqclass import load
from seqclass.persistence import save
from seqclass.pomdp import (
    EC2,
    ClassInformation,
    ExpectedSaving,
    FirstK,
    HiddenInformation,
    Lookahead,
    LookaheadSaving,
    MixtureProblem,
    PosteriorThreshold,
    TableProblem,
    evaluate,
    optimal_cost,
)
from seqclass.pomdp.solvers.ordering.given import GivenOrder
from seqclass.pomdp.structure import Structure

scores = ClassInformation.scores
CASES = {
    "naive": lambda seed: free_case(seed, most=5),
    "tree": lambda seed: free_case(seed, tree=True, most=5),
    "mixture": mixture_case,
}


def entropy(p):
    p = p[p > 0]
    return -(p * np.log(p)).sum()


def histories(case, rng, n=6):
    """Some histories, what was asked in random order: what was seen, and what the package makes of it."""
    for _ in range(n):
        info, seen = case.problem.initial_belief(), case.nothing
        for _ in range(int(rng.integers(case.problem.n_questions))):
            question = int(rng.choice(np.flatnonzero(info.available[0])))
            after = case.following(question, seen)
            seen = after[int(rng.integers(len(after)))]
            code = 0
            for feature in case.questions[question]:
                code = code * case.joint.shape[feature] + seen[feature]
            info = info.asking(question).update(np.array([code]))
        yield info, seen


def joints(case, seen, question, mass=None):
    """P(what was seen, outcome, class) of each outcome."""
    return np.array([(mass or case.mass)(s) for s in case.following(question, seen)])


def state_mass(case):
    """P(what was seen, hidden state)."""
    _, by_state = case.model

    def mass(seen):
        at = tuple(slice(None) if v is None else v for v in seen)
        return by_state[at].reshape(-1, by_state.shape[-1]).sum(axis=0)

    return mass


def mutual(joint):
    joint = joint / joint.sum()
    return entropy(joint.sum(axis=0)) + entropy(joint.sum(axis=1)) - entropy(joint.ravel())


def pairs_separated(joint, labels):
    """Pair by pair, from P(outcome, state)."""
    joint = joint / joint.sum()
    weight = joint.sum(axis=0)
    total = 0.0
    for i in range(len(labels)):
        for j in range(i):
            if labels[i] != labels[j] and weight[i] * weight[j] > 0:
                affinity = np.sqrt(joint[:, i] / weight[i] * joint[:, j] / weight[j]).sum()
                total += weight[i] * weight[j] * (1 - affinity)
    return total


def check(case, rule, formula):
    rng = np.random.default_rng(0)
    for info, seen in histories(case, rng):
        scores = rule.scores(info)[0]
        for question in range(case.problem.n_questions):
            if seen[case.questions[question][0]] is not None:
                assert scores[question] == -np.inf
            else:
                # prices are parts of the dearest decision
                price = case.price(question, seen) / case.problem.decision_costs.max()
                assert scores[question] == pytest.approx(formula(question, seen) / price, abs=1e-8 / price)


@pytest.mark.parametrize("kind", CASES)
@pytest.mark.parametrize("seed", range(6))
def test_rules_are_their_formulas(kind, seed):
    case = CASES[kind](seed)

    def saving(question, seen):
        after = sum(case.stop(s) for s in case.following(question, seen))
        return (case.stop(seen) - after) / case.mass(seen).sum() / case.problem.decision_costs.max()

    check(case, ExpectedSaving(), saving)
    check(case, ClassInformation(), lambda q, seen: mutual(joints(case, seen, q)))
    if kind == "mixture":
        mass, labels = state_mass(case), case.problem.structure.latent.classes
        check(case, HiddenInformation(), lambda q, seen: mutual(joints(case, seen, q, mass)))
        check(case, EC2(), lambda q, seen: pairs_separated(joints(case, seen, q, mass), labels))
    else:
        labels = np.arange(case.problem.n_classes)
        check(case, EC2(), lambda q, seen: pairs_separated(joints(case, seen, q), labels))
        if case.problem.structure.class_tables is not None:  # the classes are the hidden states
            check(case, HiddenInformation(), lambda q, seen: mutual(joints(case, seen, q)))
            return
        with pytest.raises(ValueError, match=r"HiddenInformation needs a problem with hidden states.*ClassInformation"):
            HiddenInformation().scores(case.problem.initial_belief())


@pytest.mark.parametrize("kind", CASES)
def test_lookahead_saving_asks_what_lookahead_asks(kind):
    n_asked = 0
    for seed in range(4):
        case = CASES[kind](seed)
        for depth in (1, 2):
            policy = Lookahead(depth, certificate_paths=0).solve(case.problem)
            for info, _ in histories(case, np.random.default_rng(seed)):
                question = policy.action(info)[0]
                if question >= 0:
                    assert LookaheadSaving(depth).next(info)[0] == question
                    n_asked += 1
    assert n_asked > 10


@pytest.mark.parametrize("kind", CASES)
def test_scores_of_many_rows_are_those_of_each(kind):
    case = CASES[kind](2)
    rules = [ExpectedSaving(), ClassInformation(), EC2(), LookaheadSaving()]
    rules += [HiddenInformation()] if kind == "mixture" else []
    question = 0
    belief = case.problem.initial_belief(3).asking(question).update(np.array([0, 1, -1]))
    for rule in rules:
        together = rule.scores(belief)
        alone = [rule.scores(belief[np.array([row])])[0] for row in range(3)]
        np.testing.assert_allclose(together, alone, rtol=1e-9, atol=1e-9)
        assert rule.next(belief).tolist() == [rule.next(belief[np.array([row])])[0] for row in range(3)]


def test_of_equals_the_lowest_number_is_asked():
    sensor = np.array([[0.9, 0.2], [0.1, 0.8]])
    problem = TableProblem([0.5, 0.5], np.array([sensor, sensor[::-1], sensor]), prices=0.1, any_order=True)
    for rule in (ExpectedSaving(), ClassInformation(), EC2(), LookaheadSaving()):
        assert rule.next(problem.initial_belief()).tolist() == [0]
        after = problem.initial_belief(2).asking(0).update(np.array([0, -1]))
        assert rule.next(after).tolist() == [1, 1]
    nothing = problem.initial_belief()
    for question in range(3):
        nothing = nothing.asking(question).update(np.array([-1]))
    assert EC2().next(nothing).tolist() == [-1]


def test_prices_are_those_of_the_moment():
    sensor = [[0.9, 0.2], [0.1, 0.8]]
    problem = TableProblem(
        [0.5, 0.5],
        np.array([sensor] * 3),
        [0.01, 0.04, 0.05],
        groups=[0, 0, -1],
        full_prices=[0.06, 0.07, 0.05],
        any_order=True,
    )
    assert ClassInformation().next(problem.initial_belief()).tolist() == [2]
    bought = problem.initial_belief().asking(1).update(np.array([0]))
    assert ClassInformation().next(bought).tolist() == [0]


def test_a_question_for_nothing_is_asked_first_if_it_tells_anything():
    sensor, useless = [[0.9, 0.2], [0.1, 0.8]], [[0.5, 0.5], [0.5, 0.5]]
    problem = TableProblem([0.5, 0.5], np.array([useless, sensor, sensor]), [0.0, 0.1, 0.0], any_order=True)
    assert ClassInformation().next(problem.initial_belief()).tolist() == [2]


@pytest.mark.parametrize("n", [1, 400])  # alone, and many at once, at which a rule looks in single precision first
def test_rounding_is_not_worth_a_lot_because_it_is_free(n):
    nothing, little = np.full((5, 3), 0.2), np.full((5, 3), 0.2)
    for table, tells in ((nothing, 1e-9), (little, 1e-4)):
        table[:2] += np.outer([tells, -tells], [0, 1, 2])
    problem = TableProblem(np.full(3, 1 / 3), np.array([nothing, little]), [0.0, 0.01], any_order=True)
    for chance in np.random.default_rng(0).dirichlet(np.ones(3), 20):
        belief = problem.initial_belief(n).replace(probabilities=np.tile(chance, (n, 1)))
        assert ClassInformation().next(belief).tolist() == [1] * n
        assert ClassInformation().leading(belief)[0].tolist() == [1] * n


def test_a_given_order_is_kept_and_checked():
    problem = free_case(2).problem
    order = list(range(problem.n_questions))[::-1]
    belief = problem.initial_belief(2)
    for question in order[:-1]:
        assert GivenOrder(order).next(belief).tolist() == [question, question]
        belief = belief.asking(question).update(np.array([-1, 0]))
    assert GivenOrder(order[:-1]).next(belief).tolist() == [-1, -1]
    for wrong in ([0, 0], [99], [-1]):
        with pytest.raises(ValueError, match="order must hold numbers of questions"):
            GivenOrder(wrong).check(problem)


@pytest.mark.parametrize("seed", range(9))
def test_a_mixture_is_what_its_joint_distribution_says(seed):
    case = mixture_case(seed)
    policy = Lookahead(case.problem.n_questions, certificate_paths=0).solve(case.problem)
    assert case.run(policy)[0] == pytest.approx(case.optimum(), abs=1e-9)
    assert evaluate(case.problem, policy, method="exact").cost == pytest.approx(case.optimum(), abs=1e-9)
    assert optimal_cost(case.problem) == pytest.approx(case.optimum(), abs=1e-9)
    mass = state_mass(case)
    for info, seen in histories(case, np.random.default_rng(seed)):
        expected = mass(seen) / mass(seen).sum()
        np.testing.assert_allclose(case.problem.structure.latent.probability(info)[0], expected, atol=1e-12)
        one = case.problem.structure.costs_after(np.arange(case.problem.n_questions), info)
        plain = Structure.costs_after(case.problem.structure, np.arange(case.problem.n_questions), info)
        np.testing.assert_allclose(one, plain, atol=1e-12)


def test_part_of_a_bundle_of_a_mixture_counts_for_what_was_seen():
    case = mixture_case(0)
    bundle, mass = case.problem.structure.bundle(0), state_mass(case)
    for values in ([1, -1], [-1, 1], [0, 1], [-1, -1]):
        belief = case.problem.initial_belief().asking(0).update(bundle.encode([values]))
        seen = tuple(None if v < 0 else v for v in [*values, *[-1] * (case.joint.ndim - 3)])
        np.testing.assert_allclose(
            case.problem.structure.latent.probability(belief)[0], mass(seen) / mass(seen).sum(), atol=1e-12
        )
        np.testing.assert_allclose(belief.probabilities[0], case.mass(seen) / case.mass(seen).sum(), atol=1e-12)


def test_a_mixture_of_one_state_a_class_is_naive_bayes():
    rng = np.random.default_rng(0)
    tables, prior = rng.dirichlet(np.ones(3), size=(4, 3)).transpose(0, 2, 1), np.array([0.2, 0.3, 0.5])
    plain = TableProblem(prior, tables, prices=0.03, any_order=True)
    mixture = MixtureProblem(prior, [0, 1, 2], tables, prices=0.03, any_order=True)
    assert optimal_cost(plain) == pytest.approx(optimal_cost(mixture), abs=1e-12)
    assert HiddenInformation().scores(mixture.initial_belief()) == pytest.approx(
        ClassInformation().scores(plain.initial_belief())
    )
    fixed = MixtureProblem(prior, [0, 1, 2], list(tables), prices=0.03)
    assert optimal_cost(fixed) == pytest.approx(optimal_cost(TableProblem(prior, tables, prices=0.03)), abs=1e-12)


def test_a_class_without_probability_does_no_harm():
    problem = MixtureProblem(
        [0.5, 0.5, 0.0, 0.0], [0, 1, 2, 2], [[[1, 0.5, 0.3, 1], [0, 0.5, 0.7, 0]]], prices=0.1, any_order=True
    )
    belief = problem.initial_belief().asking(0).update(np.array([1]))
    np.testing.assert_array_equal(belief.probabilities, [[0, 1, 0]])
    assert np.isfinite(belief.state).all()


def test_a_mixture_says_what_is_wrong():
    table = [[[1.0, 0.0], [0.0, 1.0]]]
    with pytest.raises(ValueError, match="hidden_class must hold a class for each of the 2"):
        MixtureProblem([0.5, 0.5], [0], table, prices=0.1)
    with pytest.raises(ValueError, match=r"hidden state for every class 0..2"):
        MixtureProblem([0.5, 0.5], [0, 2], table, prices=0.1)
    with pytest.raises(ValueError, match=r"likelihoods\[0\] must have a row an outcome"):
        MixtureProblem([0.2, 0.3, 0.5], [0, 1, 1], table, prices=0.1)
    with pytest.raises(ValueError, match=r"likelihoods\[0\] must sum to 1"):
        MixtureProblem([0.5, 0.5], [0, 1], [[[0.5, 0.5], [0.4, 0.5]]], prices=0.1)


@pytest.mark.covering(0)
@pytest.mark.parametrize("kind", CASES)
def test_simple_rules_ask_what_an_ordering_rule_puts_first(kind, tmp_path):
    rng = np.random.default_rng(0)
    for seed, rule in enumerate((ClassInformation(), EC2(), ExpectedSaving())):
        case = CASES[kind](seed)
        longest = case.problem.n_stages
        solvers = (FirstK(2, rule=rule), FirstK(None, rule=rule), PosteriorThreshold(0.8, rule=rule))
        for solver, most, sure in zip(solvers, (2, longest, longest), (2.0, 2.0, 0.8)):
            policy = solver.solve(case.problem)
            assert policy.info.upper == pytest.approx(case.run(policy)[0], abs=1e-9)
            assert policy.info.lower <= optimal_cost(case.problem) + 1e-9
            save(policy, tmp_path / "policy.seq")
            again = load(tmp_path / "policy.seq")
            for info, _ in histories(case, rng):
                asks = info.stage < most and info.probabilities.max() < sure and bool(info.available.any())
                expected = rule.next(info) if asks else [-1]
                assert policy.action(info).tolist() == again.action(info).tolist() == list(expected)


def test_simple_rules_refuse_what_is_no_rule_or_no_problem_for_one():
    fixed = TableProblem([0.5, 0.5], np.array([[[0.9, 0.2], [0.1, 0.8]]] * 2), 0.1)
    any_order = TableProblem([0.5, 0.5], fixed.likelihoods, 0.1, any_order=True)
    for make in (lambda rule: FirstK(1, rule=rule), lambda rule: FirstK(None, rule=rule)):
        with pytest.raises(ValueError, match=r"rule=EC2\(\) needs a problem in which any question may come next"):
            make(EC2()).solve(fixed)
        with pytest.raises(TypeError, match="rule must be an ordering rule such as ClassInformation"):
            make("EC2").solve(any_order)
        with pytest.raises(ValueError, match="HiddenInformation needs a problem with hidden states"):
            make(HiddenInformation()).solve(free_case(0, tree=True).problem)
