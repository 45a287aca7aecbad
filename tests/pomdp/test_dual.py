"""The martingale dual: what both ends, and their difference, are worth on the same paths."""

from __future__ import annotations

import numpy as np
import pytest

from seqclass.pomdp import FirstK, Perseus, StoppingValue, ValueFunction, certify
from seqclass.pomdp.alpha import quick_values
from seqclass.pomdp.bounds.dual import DualPaths
from seqclass.pomdp.margins import StratifiedAnswers, excess, quantile
from seqclass.pomdp.observations import SampledObservations
from seqclass.pomdp.one_step import cost_lower_bound, stopping_is_certain
from seqclass.pomdp.policy import DECIDE, LookaheadPolicy, scale_prices
from seqclass.pomdp.walk import initial_histories, walk

SLACK = 1e-9
Z = quantile(0.99)
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
def test_ends_and_gap_hold_together_at_their_confidence(make_case, skewed, n_paths):
    failures, trials, paired, apart = {}, {}, [], []
    for seed in range(40):
        if seed % 4 == 0:  # of the others most are small enough to be followed whole
            problem = skewed(0.3, seed // 4)
        else:
            problem = make_case(seed, KINDS[seed % 5], contexts=seed % 2 == 1).problem
        for name, policy, values in policies_of(problem):
            truth = exact_ends(problem, policy, values)
            for path_seed in range(5):
                settings = {"n_paths": n_paths, "random_state": path_seed, "paired": True}
                found = certify(problem, policy, values=values, method="simulation", **settings)
                holds = found.lower <= truth.low + SLACK
                holds &= truth.up <= found.upper + SLACK
                # stricter than the gap to the optimum: that of the bound itself
                gap = (truth.up - truth.low) / truth.up if truth.up > 0 else 0.0
                holds &= gap <= found.gap + SLACK
                trials[name] = trials.get(name, 0) + 1
                failures[name] = failures.get(name, 0) + (not holds)
                paired.append(found.gap - gap)
                apart.append((found.upper - found.lower) / found.upper - gap if found.upper > 0 else 0.0)
    # at a failure rate of 1% in 200 trials 8 or more have a chance of 0.1%
    assert set(trials.values()) == {200}
    assert max(failures.values()) <= 7, failures
    assert np.mean(paired) < 0.9 * np.mean(apart)
    assert (np.array(paired) <= np.array(apart) + SLACK).all()


@pytest.mark.slow
def test_only_many_paths_are_paired_and_only_where_wanted(repeated):
    problem = repeated(60, 0.002, 0.6)
    policy = Perseus(certificate_paths=0).solve(problem)
    values = StoppingValue(problem)
    for n_paths, paired, closer in ((999, True, False), (1000, True, True), (1000, False, False)):
        found = certify(problem, policy, values=values, method="simulation", n_paths=n_paths, paired=paired)
        apart = (found.upper - found.lower) / found.upper
        assert (found.gap < apart) == closer
        assert closer or found.gap == pytest.approx(apart)


def all_in_order(level):
    return np.full(len(level.belief), level.stage if level.stage < level.belief.problem.n_stages else DECIDE)


@pytest.mark.slow
def test_a_known_upper_end_steadies_the_lower_one(skewed):
    """A policy that is enumerated tells how lucky the paths were; where it tells nothing, it is left out."""
    problem = skewed(0.3, 2)
    policy = Perseus(n_beliefs=30, certificate_paths=0).solve(problem)
    for values, closer in ((StoppingValue(problem), 0.5), (policy.values, 1.0)):
        truth, failures, shares = exact_ends(problem, policy, values), 0, []
        for seed in range(30):
            ends = DualPaths(problem, policy, values, np.random.default_rng(seed)).run(500)
            least, low = ends.least_where_up_is(truth.up, Z)
            assert least < low
            assert low - least <= ends.low - ends.least(Z) + SLACK
            shares.append((low - least) / (ends.low - ends.least(Z)))
            failures += least > truth.low + SLACK
        assert np.mean(shares) <= closer
        assert failures <= 2


def test_a_known_upper_end_of_no_spread_tells_nothing(skewed):
    """What is left of the upper ends of paths that all cost the same is rounding, which must not be divided by."""
    problem = skewed(0.3, 0)
    policy = FirstK(0, certificate_paths=0).solve(problem)
    paths = DualPaths(problem, policy, StoppingValue(problem), np.random.default_rng(0))
    ends = paths.run(200)
    assert ends.up == pytest.approx(0.3)
    assert ends.least_where_up_is(0.3 * (1 + 1e-12), Z) == pytest.approx((ends.least(Z), ends.low))


@pytest.mark.slow
def test_ends_are_those_of_the_paths(skewed):
    problem = skewed(0.3, 0)
    policy = Perseus(n_beliefs=30, certificate_paths=0).solve(problem)
    values = StoppingValue(problem)
    paths = DualPaths(problem, policy, values, np.random.default_rng(3))
    first = paths.run(200)
    ends = paths.run(300)
    assert paths.n_paths == 500
    assert ends.low != first.low
    truth = exact_ends(problem, policy, values)
    assert not truth.drawn.parts.size
    seen = [DualPaths(problem, policy, values, np.random.default_rng([9, i])).run(500) for i in range(100)]
    for row, name in enumerate(("low", "up")):
        found, claimed = [getattr(e, name) for e in seen], np.mean([e.drawn.standard_errors[row] for e in seen])
        # no bias, and no more error than is claimed: histories are drawn so that they differ
        assert abs(np.mean(found) - getattr(truth, name)) < 4 * np.std(found) / np.sqrt(len(seen))
        assert 0.3 * claimed < np.std(found) < claimed


def test_histories_that_weigh_a_path_are_all_followed(make_case):
    problem = make_case(2, n_stages=3).problem
    policy = LookaheadPolicy(StoppingValue(problem))
    truth = exact_ends(problem, policy, policy.values)
    ends = DualPaths(problem, policy, policy.values, np.random.default_rng(3)).run(100_000)
    assert not ends.drawn.parts.size
    assert (ends.low, ends.up) == pytest.approx((truth.low, truth.up))
    assert (ends.least(Z), ends.most(Z)) == (ends.low, ends.up)


def test_weights_are_right_on_average():
    """Of each row as many are there as their chances sum to, and each weighs what it does on average."""
    answers = StratifiedAnswers(np.random.default_rng(0))
    share = np.array([[0.25, 0.5, 0.25, 0.0], [0.1, 0.2, 0.3, 2.4]])
    chance = np.array([[0.25, 0.5, 0.75, 0.0], [0.2, 0.2, 0.6, 1.0]])
    drawn = np.stack([answers._draw(share, chance) for _ in range(4000)])
    assert drawn.mean(axis=0) == pytest.approx(share, abs=0.03)
    assert (drawn[:, :, 3] == [0.0, 2.4]).all()
    count = (drawn > 0).sum(axis=2)
    assert set(count[:, 0].tolist()) == {1, 2}
    assert (count[:, 1] == 2).all()


def test_dear_histories_are_met(skewed):
    """Of those in which deciding costs over ten times the mean several times as many are followed, with less weight."""
    problem = skewed(1e-4, 2)
    *_, last = walk(*initial_histories(problem, None, 1.0), all_in_order)
    mean = last.weight @ last.belief.stopping_cost
    truth = last.weight[last.belief.stopping_cost > 10 * mean].sum()
    met = {}
    for kind in (SampledObservations, StratifiedAnswers):
        for seed in range(10):
            answers = kind(np.random.default_rng(seed))
            *_, last = walk(*initial_histories(problem, None, 500.0, answers), all_in_order, answers)
            dear = last.belief.stopping_cost > 10 * mean
            n, weight = met.get(kind, (0, 0.0))
            met[kind] = n + dear.sum(), weight + last.weight[dear].sum() / 500
    assert met[StratifiedAnswers][0] > 5 * met[SampledObservations][0]
    assert met[StratifiedAnswers][1] / 10 == pytest.approx(truth, rel=0.2)


@pytest.mark.slow
@pytest.mark.parametrize("prior", [0.3, 1e-2, 1e-3, 1e-4])
def test_ends_hold_however_rare_a_class_is(skewed, prior):
    """With normal margins of plain paths 5 to 84 of 100 failed in some of these, where a rare error was not drawn."""
    for seed in (0, 2):
        problem = skewed(prior, seed)
        policy = Perseus(n_beliefs=30, certificate_paths=0).solve(problem)
        for values in (policy.values, quick_values(problem, 500, np.random.default_rng(5)), StoppingValue(problem)):
            truth, failures = exact_ends(problem, policy, values), np.zeros(3, dtype=int)
            for path_seed in range(30):
                ends = DualPaths(problem, policy, values, np.random.default_rng([path_seed, 1])).run(500)
                given = ends.least_where_up_is(truth.up, Z)[0]
                slack = SLACK * truth.up
                failures += [
                    ends.most(Z) < truth.up - slack,
                    ends.least(Z) > truth.low + slack,
                    given > truth.low + slack,
                ]
            # of 30 at .5% three or more have a chance of 0.05%
            assert failures.max() <= 2, (seed, failures)


def lower_failures(problem, seeds):
    """How often the lower end by few paths is above itself, where values are right but for what is rare and dear."""
    policy = Perseus(n_beliefs=30, certificate_paths=0).solve(problem)
    truth = exact_ends(problem, policy, policy.values)
    runs = (DualPaths(problem, policy, policy.values, np.random.default_rng([seed, 1])).run(500) for seed in seeds)
    return sum(ends.least(Z) > truth.low + SLACK * truth.up for ends in runs)


#: Of 300 those that failed with half as many dear histories followed, and none counted that is worse than those seen.
FAILED = (16, 30, 54, 116, 138, 177, 199, 271, 274)


def test_the_lower_end_holds_where_chance_had_met_few_of_the_worst_histories(skewed):
    assert lower_failures(scale_prices(skewed(1e-2, 2), 0.5), FAILED) == 0


@pytest.mark.slow
def test_the_lower_end_fails_no_more_often_than_is_said(skewed):
    # of 300 at .5% seven or more have a chance of .1%
    assert lower_failures(scale_prices(skewed(1e-2, 2), 0.5), range(300)) <= 6


def test_a_single_path_is_one(skewed):
    """Further looks may be one path each: none of them comes back without any."""
    problem = skewed(0.3, 0)
    paths = DualPaths(problem, None, StoppingValue(problem), np.random.default_rng(0))
    for n in range(1, 30):
        ends = paths.run(1)
        assert np.isfinite(ends.least(Z))
        assert paths.n_paths == n


def test_where_all_was_alike_only_a_policy_that_follows_the_values_is_trusted(skewed):
    """A policy of other values may be foolish after answers that no path met; here it is, in one case of a thousand."""
    problem = skewed(1e-2, 2)
    policy = Perseus(n_beliefs=30, certificate_paths=0).solve(problem)
    values = quick_values(problem, 500, np.random.default_rng(5))
    truth = exact_ends(problem, policy, values).up
    for seed in (12, 29, 48):  # of 60 some of those that see little but what the values say
        ends = DualPaths(problem, policy, values, np.random.default_rng([seed, 1])).run(500)
        assert ends.up < truth * (1 - 1e-3)
        assert ends.most(Z) > truth
    ends = DualPaths(problem, LookaheadPolicy(values), values, np.random.default_rng(0)).run(500)
    assert 0 < ends.most(Z) - ends.up < 1e-4 * ends.up


def test_few_large_parts_widen_the_margin():
    alike = np.tile([1.0, -1.0], 50)
    assert excess(alike, 0.0, 2.0) == pytest.approx(20.0)
    few = np.append(np.full(99, -0.1), 9.9)
    square, cube = few @ few, (few**3).sum()
    assert excess(few, 0.0, 2.0) == pytest.approx(2 * np.sqrt(square) + 9 * cube / (6 * square))
    assert excess(-few, 0.0, 2.0) == pytest.approx(2 * np.sqrt(square))
    # where nothing differs, one path that was missed is that, its square and its skewness
    assert excess(np.zeros(9), 0.5, 2.0) == pytest.approx(0.5 * (1 + 2 + 9 / 6))
    assert excess(np.zeros(9), 0.0, 2.0) == 0


def test_nothing_to_pay_has_no_gap(make_case):
    problem = make_case(0).problem
    free = problem.replace(decision_costs=0 * problem.decision_costs)
    policy = LookaheadPolicy(StoppingValue(free))
    assert DualPaths(free, policy, StoppingValue(free), np.random.default_rng(0)).run(50).most_gap(2.6) == 0


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


@pytest.mark.slow_cells("4")
@pytest.mark.parametrize("horizon", [1, 2, 3, 4])
def test_the_lower_end_is_the_best_in_hindsight_up_to_the_horizon(make_case, horizon):
    for seed in range(10):
        problem = make_case(seed, contexts=seed % 2 == 1, n_stages=4).problem
        values = Wavy(problem, horizon)
        found = DualPaths(problem, None, values, None).run(1).low
        assert found == pytest.approx(in_hindsight(values, problem.initial_belief(), horizon), abs=1e-12)
