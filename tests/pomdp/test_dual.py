"""The martingale dual: what both ends, and their difference, are worth on the same paths."""

from __future__ import annotations

import numpy as np
import pytest

from seqclass.pomdp import Perseus, StoppingValue, ValueFunction, certify
from seqclass.pomdp.bounds.dual import DualPaths, Ends
from seqclass.pomdp.one_step import cost_lower_bound, stopping_is_certain
from seqclass.pomdp.policy import LookaheadPolicy

SLACK = 1e-9
KINDS = ("plain", "zeros", "prior", "free", "decisions")


def policies_of(problem):
    """A good policy and a poor one, the first also with poor values."""
    good = Perseus(n_beliefs=5, certificate_paths=0).solve(problem)
    yield "good", good, good.values
    yield "poor values", good, StoppingValue(problem)
    yield "poor", LookaheadPolicy(StoppingValue(problem)), StoppingValue(problem)


def exact_ends(problem, policy, values):
    return DualPaths(problem, policy, values, None).run(1)


@pytest.mark.slow
@pytest.mark.parametrize("n_paths", [1000, 3000])
def test_ends_and_gap_hold_together_at_their_confidence(make_case, n_paths):
    failures, trials, paired, apart = {}, {}, [], []
    for seed in range(40):
        problem = make_case(seed, KINDS[seed % 5], contexts=seed % 2 == 1).problem
        for name, policy, values in policies_of(problem):
            truth = exact_ends(problem, policy, values)
            for path_seed in range(5):
                settings = {"n_paths": n_paths, "random_state": path_seed, "paired": True}
                found = certify(problem, policy, values=values, method="simulation", **settings)
                holds = found.lower <= truth.low + SLACK
                holds &= truth.up <= found.upper + SLACK
                # stricter than the gap to the optimum: that of the bound itself
                holds &= truth.gap <= found.gap + SLACK
                trials[name] = trials.get(name, 0) + 1
                failures[name] = failures.get(name, 0) + (not holds)
                paired.append(found.gap)
                apart.append((found.upper - found.lower) / found.upper if found.upper > 0 else 0.0)
    # at a failure rate of 1% in 200 trials 8 or more have a chance of 0.1%
    assert set(trials.values()) == {200}
    assert max(failures.values()) <= 7, failures
    assert np.mean(paired) < 0.9 * np.mean(apart)
    assert (np.array(paired) <= np.array(apart) + SLACK).all()


def test_only_many_paths_are_paired_and_only_where_wanted(repeated):
    problem = repeated(60, 0.002, 0.6)
    policy = Perseus(certificate_paths=0).solve(problem)
    values = StoppingValue(problem)
    for n_paths, paired, closer in ((999, True, False), (1000, True, True), (1000, False, False)):
        found = certify(problem, policy, values=values, method="simulation", n_paths=n_paths, paired=paired)
        apart = (found.upper - found.lower) / found.upper
        assert (found.gap < apart) == closer
        assert closer or found.gap == pytest.approx(apart)


def test_a_known_upper_end_steadies_the_lower_one(make_case):
    """A policy that is enumerated tells how lucky the paths were."""
    tighter, failures = [], 0
    for seed in range(60):
        problem = make_case(seed, n_stages=4).problem
        policy = LookaheadPolicy(StoppingValue(problem))
        truth = exact_ends(problem, policy, policy.values)
        paths = DualPaths(problem, policy, policy.values, np.random.default_rng(seed))
        ends = paths.run(1000)
        low, error = ends.low_given(truth.up)
        assert error <= ends.low_error + SLACK
        tighter.append(error < 0.9 * ends.low_error)
        failures += low - 2.576 * error > truth.low + SLACK
    assert np.mean(tighter) > 0.25
    assert failures <= 3


def test_ends_are_those_of_the_paths(make_case):
    problem = make_case(2, n_stages=5).problem
    policy = LookaheadPolicy(StoppingValue(problem))
    paths = DualPaths(problem, policy, policy.values, np.random.default_rng(3))
    first = paths.run(2000)
    ends = paths.run(3000)
    assert paths.n_paths == 5000
    assert ends.low != first.low
    truth = exact_ends(problem, policy, policy.values)
    assert ends.gap == pytest.approx((ends.up - ends.low) / ends.up)
    assert abs(ends.low - truth.low) < 4 * ends.low_error
    assert abs(ends.up - truth.up) < 4 * ends.up_error
    assert abs(ends.gap - truth.gap) < 4 * ends.gap_error
    # the error that many repetitions show is the one that is claimed
    seen = [DualPaths(problem, policy, policy.values, np.random.default_rng([9, i])).run(500) for i in range(120)]
    for name in ("low", "up", "gap"):
        spread = np.std([getattr(e, name) for e in seen])
        claimed = np.mean([getattr(e, f"{name}_error") for e in seen])
        assert spread == pytest.approx(claimed, rel=0.25)


def test_skewed_differences_widen_the_gap():
    assert Ends(0.1, 0, 0.2, 0, gap=0.5, gap_error=0.01, gap_skew=0.001).most_gap(2) == pytest.approx(0.529)


def test_nothing_to_pay_has_no_gap():
    assert Ends(0.0, 0.0, 0.0, 0.0).most_gap(2.6) == 0


class Wavy(ValueFunction):
    """Values with no relation to the problem."""

    def _continuation(self, stage, belief, context):
        return np.abs(np.sin(belief @ np.arange(1.0, belief.shape[1] + 1) * 50)) * 0.2


def in_hindsight(values, info, horizon, low=np.inf, martingale=0.0):
    """Expectation of the cheapest end of a history in hindsight, less the martingale, by recursion."""
    low = min(low, (info.spent + info.stopping_cost)[0] - martingale)
    if info.stage == horizon:  # beyond, one more price and the class is known
        low = min(low, (info.spent + cost_lower_bound(info))[0] - martingale)
    if info.stage == horizon or stopping_is_certain(info)[0]:
        return low
    chance, after = info.outcome_probabilities[0], values.successor_values(info)[0]
    return sum(
        chance[v]
        * in_hindsight(
            values, info.update(np.array([v])), horizon, low, martingale + after[v] / chance[v] - after.sum()
        )
        for v in np.flatnonzero(chance)
    )


@pytest.mark.parametrize("horizon", [1, 2, 3, 4])
def test_the_lower_end_is_the_best_in_hindsight_up_to_the_horizon(make_case, horizon):
    for seed in range(10):
        problem = make_case(seed, contexts=seed % 2 == 1, n_stages=4).problem
        values = Wavy(problem, horizon)
        found = DualPaths(problem, None, values, None).run(1).low
        assert found == pytest.approx(in_hindsight(values, problem.initial_belief(), horizon), abs=1e-12)
