"""An error rate by contract: p-values, testing along a ladder, the ladder itself, and the promise."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import binom, binomtest
from sklearn.base import BaseEstimator
from sklearn.datasets import load_breast_cancer
from sklearn.exceptions import DataConversionWarning
from sklearn.feature_selection import SelectorMixin

import seqclass
from seqclass import Costs, SequentialClassifier
from seqclass.agent.agent import encode_rows
from seqclass.discretize import Discretizer
from seqclass.evaluation.certified import BeliefLadder, certify_error
from seqclass.pomdp import Adaptive, FirstK, GridValueIteration, Lookahead, TableProblem, acquire
from seqclass.pomdp.sweeps.ladder import StopWhenSure, run_ladder
from seqclass.stats.risk import (
    binomial_p_value,
    binomial_upper_bound,
    fallback_test,
    hoeffding_bentkus_p_value,
    hoeffding_bentkus_upper_bound,
    rows_needed,
    rows_to_certify,
    start_levels,
)


@pytest.fixture(scope="module")
def cancer() -> tuple[Any, Any]:
    X, y = load_breast_cancer(return_X_y=True)
    rows = np.random.default_rng(0).permutation(len(y))
    return X[rows], np.array(["malignant", "benign"])[y[rows]]


@pytest.fixture(scope="module")
def clf(cancer: Any) -> Any:
    X, y = cancer
    return seqclass.etana(0.01).fit(X[:300], y[:300])


@pytest.fixture(scope="module")
def fresh(cancer: Any) -> tuple[Any, Any]:
    X, y = cancer
    return X[300:], y[300:]


# statistics


@given(st.integers(1, 300), st.floats(0.01, 0.99), st.data())
def test_binomial_against_scipy(n: int, level: float, data: st.DataObject) -> None:
    k = data.draw(st.integers(0, n))
    assert binomial_p_value(k, n, level) == pytest.approx(binomtest(k, n, level, alternative="less").pvalue)
    exact = binomtest(k, n, alternative="less").proportion_ci(1 - level, method="exact")
    assert binomial_upper_bound(k, n, level) == pytest.approx(exact.high)


@given(st.integers(1, 300), st.floats(0, 1), st.floats(0.01, 0.99))
def test_hoeffding_bentkus(n: int, mean: float, alpha: float) -> None:
    a = min(mean, alpha)
    divergence = (a * np.log(a / alpha) if a else 0.0) + ((1 - a) * np.log((1 - a) / (1 - alpha)) if a < 1 else 0.0)
    wanted = min(1.0, np.exp(-n * divergence), np.e * binom.cdf(np.ceil(n * mean - 1e-9), n, alpha))
    assert hoeffding_bentkus_p_value(mean, n, alpha) == pytest.approx(wanted, abs=1e-12)
    bound = hoeffding_bentkus_upper_bound(mean, n, alpha)
    assert mean <= bound <= 1
    if bound < 1 - 1e-6:
        assert hoeffding_bentkus_p_value(mean, n, min(1.0, bound + 1e-9)) <= alpha + 1e-6


def test_hoeffding_bentkus_is_valid_for_losses_between() -> None:
    rng, n, alpha = np.random.default_rng(0), 60, 0.3
    means = rng.choice([0.1, 0.4], size=(4000, n), p=[1 / 3, 2 / 3]).mean(axis=1)  # of mean .3
    different, place = np.unique(means.round(9), return_inverse=True)
    p = np.array([hoeffding_bentkus_p_value(mean, n, alpha) for mean in different])[place]
    assert (p <= 0.1).mean() <= 0.1


def test_rounding_makes_no_loss_and_no_row_more() -> None:
    """7 of 100 are 7, though 100 * .07 is above that, and two rows of a half each are a quarter."""
    assert hoeffding_bentkus_p_value(0.07, 100, 0.2) == np.e * binom.cdf(7, 100, 0.2)
    for alpha, n in [(0.5, 2), (0.3, 2), (0.05, 2), (0.25, 3), (0.01, 2)]:
        assert rows_needed(alpha, (1 - alpha) ** n) == n


@pytest.mark.parametrize(
    "rate, alpha, delta", [(0.0, 0.05, 0.1), (0.04, 0.06, 0.1), (0.1, 0.12, 0.01), (0.3, 0.31, 0.5)]
)
def test_rows_on_which_a_rate_certifies(rate: float, alpha: float, delta: float) -> None:
    n = rows_to_certify(rate, alpha, delta)
    assert n is not None
    assert binom.cdf(np.ceil(rate * n - 1e-9), n, alpha) <= delta
    half = n // 2
    assert binom.cdf(np.ceil(rate * half - 1e-9), half, alpha) > delta
    assert rows_to_certify(alpha, alpha, delta) is None
    if rate == 0:
        assert n == rows_needed(alpha, delta)


def test_what_is_not_certified_says_how_many_rows_would_do(clf: Any, fresh: Any) -> None:
    X, y = fresh
    few = certify_error(clf, X[:100], y[:100], alpha=0.06, delta=0.01)
    assert few.rule.risk == 0.03
    assert str(few).endswith(" If it errs as often on others, about 353 rows would certify it.")
    often = certify_error(clf, X[:250], y[:250], alpha=0.02, delta=0.3)
    assert str(often).endswith(" More rows would hardly help, as it errs too often for that.")
    assert not few.certified
    assert not often.certified


@given(st.floats(0.001, 0.999), st.floats(0.001, 0.999))
def test_rows_needed_are_the_fewest(alpha: float, delta: float) -> None:
    n = rows_needed(alpha, delta)
    assert (1 - alpha) ** n <= delta * (1 + 1e-12)
    assert n == 1 or (1 - alpha) ** (n - 1) > delta * (1 - 1e-12)


def test_a_fixed_sequence_stops_at_the_first_failure() -> None:
    assert fallback_test([0.1, 0.01, 0.11, 0.0], start_levels(4, 0.1, 1)).tolist() == [True, True, False, False]
    assert fallback_test([0.11, 0.0], [0.1, 0]).tolist() == [False, False]


def test_what_a_start_does_not_use_goes_on() -> None:
    levels = start_levels(4, 0.1, 2)
    assert levels.tolist() == [0.05, 0, 0.05, 0]
    assert fallback_test([0.06, 0.0, 0.06, 0.0], levels).tolist() == [False] * 4
    assert fallback_test([0.05, 0.05, 0.09, 0.1], levels).tolist() == [True] * 4
    assert fallback_test([0.06, 0.0, 0.04, 0.05], levels).tolist() == [False, False, True, True]


@given(st.lists(st.booleans(), min_size=1, max_size=7), st.integers(1, 4), st.integers(0, 10**6))
def test_true_hypotheses_are_rarely_rejected(true: list[bool], starts: int, seed: int) -> None:
    p = np.random.default_rng(seed).random((150, len(true)))
    p[:, ~np.array(true)] *= 0.01
    wrong = [bool((fallback_test(row, start_levels(len(true), 0.2, min(starts, len(true)))) & true).any()) for row in p]
    assert binom.sf(sum(wrong) - 1, len(p), 0.2) > 1e-6


# the ladder


def tables(seed: int, any_order: bool) -> TableProblem:
    rng = np.random.default_rng(seed)
    likelihoods = rng.dirichlet(np.ones(3), size=(4, 2)).transpose(0, 2, 1)
    prices, groups = rng.uniform(0.01, 0.05, 4), np.array([0, 0, -1, -1])
    how = {"full_prices": prices + np.array([0.02, 0.03, 0, 0]), "groups": groups}
    return TableProblem([0.4, 0.6], likelihoods, prices=prices, any_order=any_order, **how)


@pytest.mark.slow_cells("True")
@pytest.mark.parametrize("any_order", [False, True])
@settings(max_examples=settings.default.max_examples * 3 // 5)
@given(seed=st.integers(0, 10**6), charge=st.booleans(), most=st.sampled_from([None, 0, 2, 9]))
def test_a_ladder_is_each_of_its_rules(any_order: bool, seed: int, charge: bool, most: int | None) -> None:
    problem = tables(seed, any_order)
    solver = Adaptive(n_cases=50, certificate_paths=0) if any_order else GridValueIteration(certificate_paths=0)
    policy = solver.solve(problem)
    X = np.random.default_rng(seed).integers(-1, 3, size=(40, 4))
    costs = [0.4, 0.05, 0.0, 0.2, 0.2]
    run = run_ladder(policy, X, costs, max_questions=most, charge_missing=charge)
    for rule, cost in enumerate(costs):
        alone = acquire(StopWhenSure(policy, cost, most), X, charge_missing=charge)
        assert (run.decision[:, rule] == alone.leaf_decision[alone.leaf]).all()
        np.testing.assert_allclose(run.price[:, rule], alone.leaf_price[alone.leaf], atol=1e-12)
        assert (run.n_features[:, rule] == (alone.leaf_outcome >= 0).sum(axis=1)[alone.leaf]).all()


def test_a_rule_stops_as_soon_as_it_is_sure() -> None:
    """By hand: belief after each answer, with no walk."""
    likelihoods = np.array([[[0.9, 0.2], [0.1, 0.8]], [[0.7, 0.4], [0.3, 0.6]], [[0.6, 0.1], [0.4, 0.9]]])
    problem = TableProblem([0.5, 0.5], likelihoods, prices=[0.1, 0.2, 0.4])
    X = np.array([[a, b, c] for a in range(2) for b in range(2) for c in range(2)])
    for cost in (0.0, 0.1, 0.2, 0.3, 0.5):
        run = run_ladder(FirstK(0).solve(problem), X, [cost])
        for row, found, paid in zip(X, run.n_features[:, 0], run.price[:, 0]):
            belief, asked = np.array([0.5, 0.5]), 0
            while asked < 3 and belief.min() > cost:
                belief = belief * likelihoods[asked, row[asked]]
                belief, asked = belief / belief.sum(), asked + 1
            assert (found, paid) == (asked, pytest.approx(sum([0.1, 0.2, 0.4][:asked])))


def test_a_ladder_of_no_rows() -> None:
    assert run_ladder(FirstK(0).solve(tables(0, True)), np.empty((0, 4), dtype=int), [0.1]).price.shape == (0, 1)


# the contract


@pytest.mark.quick
def test_a_contract_is_what_its_ladder_says(clf: Any, fresh: Any) -> None:
    X, y = fresh
    contract = certify_error(clf, X, y, alpha=0.1, delta=0.05, n_rungs=12)
    passed = True
    for rung in contract.rungs:
        rule = StopWhenSure(clf.policy_, rung.value)
        rows = encode_rows(clf.agent_, X, whole=True)
        done = acquire(rule, rows.codes, columns=rows.columns)
        wrong = int((clf.decisions_[done.leaf_decision][done.leaf] != y).sum())
        p = binom.cdf(wrong, len(y), 0.1)
        passed = passed and p <= 0.05
        assert (rung.p_value, rung.certified, rung.risk) == (pytest.approx(p), passed, pytest.approx(wrong / len(y)))
        assert rung.bound == pytest.approx(binomial_upper_bound(wrong, len(y), 0.05))
        assert rung.n_features == pytest.approx((done.leaf_outcome >= 0).sum(axis=1)[done.leaf].mean())
    assert contract.certified
    assert contract.price == min(rung.price for rung in contract.rungs if rung.certified)
    assert contract.bound <= 0.1
    assert (contract.predict(X) != y).mean() == pytest.approx(contract.risk)
    assert contract.acquire(X).n_features.mean() == pytest.approx(contract.n_features)
    assert contract.predict_proba(X).shape == (len(y), 2)
    assert "with 95% confidence" in str(contract)


def test_a_session_asks_what_the_rule_asks(clf: Any, fresh: Any) -> None:
    X, y = fresh
    contract = certify_error(clf, X, y, alpha=0.07)
    record = contract.acquire(X[:20])
    for row in range(20):
        case = contract.session()
        asked = []
        while (question := case.next_feature) is not None:
            asked.append(question.column)
            case.observe(question.name, X[row, question.column])
        assert asked == [j for j in record.order[row].tolist() if j >= 0]
        assert case.decision == record.decision[row]


def test_a_session_of_a_contract_is_told_what_is_known_of_every_case(fresh: Any) -> None:
    X, y = fresh
    clf = SequentialClassifier(known=[0, 27], solver=FirstK(None, certificate_paths=0)).fit(X[:150], y[:150])
    contract = certify_error(clf, X[150:], y[150:], alpha=0.2)
    record = contract.acquire(X[150:160])
    for row, belief, order in zip(X[150:160], record.posterior, record.order):
        case = contract.session(known={0: row[0], 27: row[27]})
        while (question := case.next_feature) is not None:
            case.observe(question.name, row[question.column])
        np.testing.assert_allclose(case.posterior, belief)
        assert len(case.history) == 2 + (order >= 0).sum()
    assert contract.session(first=[3]).next_feature.column == 3


def test_what_cannot_be_had_is_not_promised(clf: Any, fresh: Any) -> None:
    X, y = fresh
    contract = certify_error(clf, X, y, alpha=0.02)
    assert not contract.certified
    assert contract.classifier is None
    assert 0.02 < contract.reachable < 0.2
    with pytest.raises(ValueError, match="nothing is certified"):
        contract.predict(X)
    first = contract.rungs[0].groups[0]
    assert contract.reachable == pytest.approx(binomial_upper_bound(round(first.risk * first.n_rows), 269, 0.1))
    assert certify_error(clf, X, y, alpha=1.15 * contract.reachable).certified


def test_sensitivity_counts_the_class_alone(clf: Any, fresh: Any) -> None:
    X, y = fresh
    contract = certify_error(clf, X, y, alpha=0.15, metric="sensitivity", target="malignant")
    ill = y == "malignant"
    assert contract.n_rows == ill.sum()
    assert (contract.predict(X[ill]) != "malignant").mean() == pytest.approx(contract.risk)


def test_several_classes_may_not_be_missed(tmp_path) -> None:
    """A case of one of them that is decided for another of them is not missed, and one that is referred neither."""
    rng = np.random.default_rng(0)
    y = rng.choice(["cold", "flu", "stroke", "tia"], 1200)
    X = np.column_stack([rng.normal(np.isin(y, ["stroke", "tia"]), 0.5), rng.normal(np.isin(y, ["flu", "tia"]), 0.9)])
    clf = seqclass.etana(0.01).fit(X[:400], y[:400])
    contract = certify_error(clf, X[400:], y[400:], 0.25, metric="sensitivity", target=["tia", "stroke"])
    severe, decided = np.isin(y[400:], ["stroke", "tia"]), contract.predict(X[400:])
    assert contract.target == ("tia", "stroke")
    assert contract.n_rows == severe.sum()
    assert contract.risk == pytest.approx(np.mean(~np.isin(decided[severe], ["stroke", "tia"])))
    assert contract.specificity == pytest.approx(np.mean(~np.isin(decided[~severe], ["stroke", "tia"])))
    assert np.mean(decided[severe] != y[400:][severe]) > contract.risk + 0.1  # which of the two is another question
    assert "a share of 'tia', 'stroke' missed of at most 25.0%" in str(contract)
    contract.save(tmp_path / "c.seq")
    assert seqclass.load(tmp_path / "c.seq").target == contract.target
    sex = np.where(np.arange(800) % 3, "f", "m")
    apart = certify_error(clf, X[400:], y[400:], 0.4, metric="sensitivity", target=["tia", "stroke"], groups=sex)
    decided = apart.predict(X[400:])
    for group in apart.groups:
        missed = ~np.isin(decided[severe & (sex == group.label)], ["stroke", "tia"])
        assert (group.n_rows, group.risk) == (len(missed), pytest.approx(missed.mean()))
        assert group.bound <= 0.4
    assert "missed of at most 40.0% in every group" in " ".join(str(apart).split())
    with pytest.raises(ValueError, match="0 rows of group 'm' that count"):
        certify_error(
            clf, X[400:], y[400:], 0.4, metric="sensitivity", target=["tia"], groups=np.where(severe, "f", "m")
        )
    for wrong in ([], ["tia", "tia"], ["tia", "TB"], np.unique(y)):
        with pytest.raises(ValueError, match="target"):
            certify_error(clf, X[400:], y[400:], 0.25, metric="sensitivity", target=wrong)


def test_a_rule_that_treats_all_alike_is_named_and_comes_last() -> None:
    """A miss costs twenty needless alarms, so who asks nothing calls everybody ill, and misses none."""
    rng = np.random.default_rng(0)
    y = np.where(rng.random(900) < 0.4, "ill", "well")
    X = np.column_stack([(y == "ill") + rng.normal(0, 0.6, 900), (y == "ill") + rng.normal(0, 0.8, 900)])
    clf = seqclass.etana(Costs(0.01, decision_costs=[[0, 20], [1, 0]])).fit(X[:300], y[:300])
    contract = certify_error(clf, X[300:], y[300:], 0.1, metric="sensitivity", target="ill")
    last = contract.rungs[-1]
    assert (last.certified, last.price, last.specificity) == (True, 0, 0)
    assert last.trivial == "asks nothing and decides 'ill' for everybody"
    assert contract.certified
    assert contract.trivial == ""
    record, ill = contract.acquire(X[300:]), y[300:] == "ill"
    assert contract.specificity == pytest.approx(np.mean(record.decision[~ill] != "ill"))
    assert contract.specificity > 0.2
    cost = record.paid + np.where(record.decision == y[300:], 0, np.where(ill, 20, 1))
    assert cost.mean() < np.mean(~ill)  # which is what calling everybody ill costs
    assert "of the other rows" in str(contract)

    blind = seqclass.SequentialClassifier(feature_costs=Costs(decision_costs=[[0, 20], [1, 0]]), solver=FirstK(0)).fit(
        X[:300, :1] * 0, y[:300]
    )
    told = certify_error(blind, X[300:, :1] * 0, y[300:], 0.1, metric="sensitivity", target="ill", allow_seen=True)
    assert told.certified
    assert told.trivial == "asks nothing and decides 'ill' for everybody"
    assert str(told).startswith("Certified by a trivial rule only: it asks nothing and decides 'ill' for everybody.")
    assert told.record()["trivial"] == told.trivial


def test_the_cheapest_rule_is_not_taken_where_it_treats_all_alike() -> None:
    """One of ten is ill: to call everybody well errs less than is allowed, and costs nothing; others pass as well."""
    rng = np.random.default_rng(0)
    y = np.where(rng.random(900) < 0.1, "ill", "well")
    X = ((y == "ill") + rng.normal(0, 0.4, 900))[:, None]
    contract = certify_error(seqclass.etana(0.01).fit(X[:300], y[:300]), X[300:], y[300:], 0.25)
    last = contract.rungs[-1]
    assert (last.certified, last.price, last.trivial) == (True, 0, "asks nothing and decides 'well' for everybody")
    assert (contract.certified, contract.trivial) == (True, "")
    assert contract.price > 0


def test_each_ladder_has_its_share_of_delta(clf: Any, fresh: Any) -> None:
    p_values = np.array([rung.p_value for rung in certify_error(clf, *fresh, 0.1, 0.1, n_rungs=30).rungs])
    delta = 1.5 * float(p_values[p_values < 0.1].max())  # of which a third is too little for that rule
    contract = certify_error(clf, *fresh, 0.1, delta, n_rungs=30, others=[clf, clf])
    passed = np.logical_and.accumulate(p_values <= delta / 3)
    assert [rung.certified for rung in contract.rungs] == [*passed, *passed, *passed]
    assert passed.sum() < np.logical_and.accumulate(p_values <= delta).sum()
    assert [rung.classifier for rung in contract.rungs] == [0] * 30 + [1] * 30 + [2] * 30


@pytest.mark.slow
def test_others_are_tried_beside_it(cancer: Any, clf: Any, fresh: Any) -> None:
    """Each ladder is that of its classifier by itself with a part of delta, and the cheapest of all is taken."""
    X, y = cancer
    with pytest.raises(ValueError, match=r"others\[0\] has other classes_: 'a', 'b'"):
        certify_error(clf, *fresh, others=[seqclass.etana().fit(X[:300], np.where(y[:300] == "benign", "a", "b"))])
    poor = seqclass.etana(0.01, max_features=1).fit(X[:300], y[:300])
    both = certify_error(poor, *fresh, 0.08, 0.1, others=[clf])
    alone = [certify_error(one, *fresh, 0.08, 0.05) for one in (poor, clf)]
    assert [rung.certified for rung in both.rungs] == [rung.certified for one in alone for rung in one.rungs]
    assert [rung.classifier for rung in both.rungs] == [0] * 40 + [1] * 40
    assert not alone[0].certified
    assert both.rule.value == alone[1].rule.value
    assert both.predict(fresh[0]).tolist() == alone[1].predict(fresh[0]).tolist()
    with pytest.raises(ValueError, match="that the classifier was fitted to"):
        certify_error(clf, *fresh, others=[seqclass.etana().fit(*fresh)])


@pytest.mark.slow
def test_others_of_other_costs_are_refused(cancer: Any, clf: Any, fresh: Any) -> None:
    """The cheapest is chosen by what rules pay, so that what is planned at other prices would win by its prices."""
    X, y = cancer
    for costs, metric, what in (
        (0.0001, "error", "prices"),
        (Costs(0.01, visit_cost=0.1), "error", "prices"),
        (Costs(0.01, decision_costs=[[0, 1], [5, 0]]), "cost", "decision_costs"),
    ):
        other = seqclass.SequentialClassifier(feature_costs=costs, solver=FirstK(1)).fit(X[:300], y[:300])
        with pytest.raises(ValueError, match=rf"others\[0\] has other {what}, so that which rule is cheapest"):
            certify_error(clf, *fresh, 0.1, 0.1, metric=metric, others=[other])
    assert certify_error(clf, *fresh, 0.1, 0.1, others=[other]).certified  # of errors only prices are compared


def test_prices_that_depend_on_answers_are_the_same_whatever_the_bins() -> None:
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 600)
    X = y[:, None] + rng.normal(size=(600, 3))
    X[rng.random(600) < 0.1, 0] = np.nan

    def made(bins: int, price: float) -> Any:
        settings = {"feature_costs": Costs(0.02, prices_after={(1, 0): price}), "missing": "informative"}
        classifier = SequentialClassifier(discretizer=Discretizer(bins), order="adaptive", random_state=0, **settings)
        return classifier.fit(X[:300], y[:300])

    first, fresh = made(3, 0.01), (X[300:], y[300:])
    assert certify_error(first, *fresh, 0.4, 0.1, others=[made(5, 0.01)]).certified
    with pytest.raises(ValueError, match=r"others\[0\] has other prices"):
        certify_error(first, *fresh, 0.4, 0.1, others=[made(5, 0.012)])


def test_what_errors_cost_is_compared_where_a_cost_is_certified(cancer: Any) -> None:
    X, y = cancer[0][:, :2], cancer[1]
    first, other = (
        SequentialClassifier(
            solver=GridValueIteration(40, certificate_paths=0),
            feature_costs=Costs(0.01, decision_costs=[[0, 1], [dear, 0]]),
        ).fit(X[:300], y[:300])
        for dear in (1, 2)
    )
    assert len(certify_error(first, X[300:], y[300:], 0.4, 0.1, others=[other]).rungs) > 1
    with pytest.raises(ValueError, match=r"others\[0\] has other decision_costs"):
        certify_error(first, X[300:], y[300:], 0.6, 0.1, metric="cost", others=[other])


def test_to_refer_is_no_error(cancer: Any) -> None:
    X, y = cancer
    costs = [[0, 1, 0.05], [1, 0, 0.05]]
    clf = seqclass.SequentialClassifier(feature_costs=Costs(decision_costs=costs, decisions=["refer"])).fit(
        X[:300], y[:300]
    )
    contract = certify_error(clf, X[300:], y[300:])
    decided = contract.predict(X[300:])
    assert "refer" in decided
    assert contract.risk == pytest.approx(((decided != y[300:]) & (decided != "refer")).mean())
    assert contract.rule.referred == pytest.approx((decided == "refer").mean())
    assert f"; {100 * contract.rule.referred:.1f}% of all rows were referred (decided for no class)" in str(contract)


def test_what_is_referred_is_paid_for() -> None:
    """The rule of the least price refers more, at more than the features cost that it saves."""
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 900)
    X = rng.normal(size=(900, 4)) + 1.2 * y[:, None]
    clf, other = (
        SequentialClassifier(feature_costs=Costs(0.01, decision_costs=[[0, 1, c], [1, 0, c]], decisions=["refer"])).fit(
            X[:400], y[:400]
        )
        for c in (0.1, 0.2)
    )
    contract = certify_error(clf, X[400:], y[400:], ladder="price")
    record = contract.acquire(X[400:])
    assert contract.rule.referral_cost == pytest.approx(0.1 * (record.decision == "refer").mean())
    passed = [rung for rung in contract.rungs if rung.certified and not rung.trivial]
    assert contract.rule.price + contract.rule.referral_cost == min(rung.price + rung.referral_cost for rung in passed)
    assert contract.rule.price > min(rung.price for rung in passed)
    assert f"no error, and costs {contract.rule.referral_cost:.4g} on average" in str(contract)
    with pytest.raises(ValueError, match=r"others\[0\] has other decision_costs"):
        certify_error(clf, X[400:], y[400:], others=[other])


def test_mean_cost(clf: Any, fresh: Any) -> None:
    X, y = fresh
    contract = certify_error(clf, X, y, alpha=0.25, metric="cost")
    record = contract.acquire(X)
    assert contract.risk == pytest.approx((record.paid + (record.decision != y)).mean())
    assert contract.certified
    assert contract.risk == min(rung.risk for rung in contract.rungs if rung.certified)
    assert contract.risk < contract.bound < 0.25


@pytest.mark.parametrize(("max_cost", "most"), [(None, 1.2), (0.5, 0.5)])
def test_a_mean_cost_is_bounded_by_what_may_be_paid_and_the_dearest_error(
    max_cost: float | None, most: float, cancer: Any
) -> None:
    X, y = cancer[0][:, :3], cancer[1]
    solver = Lookahead(1, certificate_paths=0)
    clf = SequentialClassifier(feature_costs=0.4, order="adaptive", max_cost=max_cost, solver=solver)
    contract = certify_error(clf.fit(X[:300], y[:300]), X[300:309], y[300:309], 1.1, 0.1, metric="cost")
    assert len({rung.risk for rung in contract.rungs}) > 1
    for rung in contract.rungs:
        wanted = (1 + most) * hoeffding_bentkus_upper_bound(rung.risk / (1 + most), 9, 0.1)
        assert rung.bound == pytest.approx(wanted)
        p = hoeffding_bentkus_p_value(rung.risk / (1 + most), 9, 1.1 / (1 + most))
        assert rung.p_value == pytest.approx(p)


@pytest.mark.slow
def test_a_mean_cost_is_not_tried_at_the_dearest_rule_alone(cancer: Any) -> None:
    """Where features are dear, the rule that asks most costs most, and no other was ever looked at."""
    X, y = cancer
    clf = seqclass.etana(0.08).fit(X[:300], y[:300])
    found = {
        starts: certify_error(clf, X[300:], y[300:], 0.37, metric="cost", starts=starts) for starts in (1, None, 5)
    }
    assert not found[1].certified
    assert found[None].certified
    assert found[None].record() == found[5].record()
    assert found[None].reachable < found[1].reachable
    few = certify_error(clf, X[300:], y[300:], 0.37, metric="cost", ladder="price", n_rungs=3)
    assert len(few.rungs) == 3


@pytest.mark.slow
def test_prices_are_told_in_their_unit(cancer: Any, tmp_path: Any) -> None:
    X, y = cancer
    clf = seqclass.etana(Costs(1, decision_costs=[[0, 90], [100, 0]], unit="EUR")).fit(X[:300], y[:300])
    contract = certify_error(clf, X[300:], y[300:], alpha=0.2)
    assert f"at a price of {contract.price:.4g} EUR on average" in str(contract)
    contract.save(tmp_path / "c.seq")
    assert str(seqclass.load(tmp_path / "c.seq")) == str(contract)
    dear = certify_error(clf, X[300:], y[300:], alpha=4, metric="cost")
    assert not dear.certified
    assert "a mean cost of at most 4 EUR" in str(dear)
    assert f"at a price of {dear.rule.price:.4g} EUR on average" in str(dear)


def test_a_ladder_of_prices(clf: Any, fresh: Any) -> None:
    X, y = fresh
    contract = certify_error(clf, X, y, ladder="price", n_rungs=5)
    features = [rung.n_features for rung in contract.rungs]
    assert features == sorted(features, reverse=True)
    assert [contract.rungs[2].value, features[2]] == pytest.approx([1, clf.acquire(X).n_features.mean()])
    assert (contract.predict(X) != y).mean() == pytest.approx(contract.risk)


def test_which_rules_are_tried(cancer: Any) -> None:
    """The strictest stops at a tenth of the errors that are allowed, or prices are a sixteenth of what they are."""
    X, y = cancer[0][:, :2], cancer[1]
    clf = SequentialClassifier(solver=GridValueIteration(40, certificate_paths=0)).fit(X[:300], y[:300])
    tried = {
        ladder: [rung.value for rung in certify_error(clf, X[300:], y[300:], alpha=0.2, ladder=ladder).rungs]
        for ladder in ("belief", "price")
    }
    np.testing.assert_allclose(sorted(tried["belief"]), np.geomspace(0.02, clf.problem_.prior.min(), 40))
    np.testing.assert_allclose(sorted(tried["price"]), 2.0 ** np.linspace(-4, 4, 13))


@pytest.mark.slow_cells("False")
@pytest.mark.parametrize("refers", [False, True])
def test_rules_for_a_mean_cost_are_the_same_in_any_currency(refers: bool, cancer: Any) -> None:
    """The strictest stops at a tenth of the cost that is allowed, whatever the cheapest error costs."""
    X, y = cancer[0][:, :2], cancer[1]
    costs, names = np.array([[0, 1, 0.3], [2, 0, 0.3]])[:, : 2 + refers], ["refer"] if refers else None
    tried = []
    for factor in (1.0, 1e4):
        prices = Costs(0.01 * factor, decision_costs=factor * costs, decisions=names)
        clf = SequentialClassifier(solver=GridValueIteration(40, certificate_paths=0), feature_costs=prices)
        contract = certify_error(clf.fit(X[:300], y[:300]), X[300:], y[300:], alpha=0.6 * factor, metric="cost")
        tried.append((sorted(rung.value / factor for rung in contract.rungs), contract.risk / factor))
    assert tried[0][0][0] == pytest.approx(0.06)
    for plain, dear in zip(*tried):
        np.testing.assert_allclose(dear, plain)


@pytest.mark.slow
def test_the_safest_rule_asks_two_hundred_questions() -> None:
    X, y = np.random.default_rng(0).integers(0, 2, (60, 210)), np.arange(60) % 2
    clf = SequentialClassifier(discretizer="precomputed", solver=FirstK(0), order="given").fit(X, y)
    assert [BeliefLadder(clf, None, most, 0.1).longest for most in (None, 205)] == [200, 205]


def test_every_group_counts(clf: Any, fresh: Any) -> None:
    X, y = fresh
    site = np.where(np.arange(len(y)) % 3 == 0, "b", "a")
    contract = certify_error(clf, X, y, alpha=0.15, groups=site)
    decided = contract.predict(X)
    assert [group.label for group in contract.groups] == ["a", "b"]
    for group in contract.groups:
        here = site == group.label
        assert (group.n_rows, group.risk) == (here.sum(), pytest.approx((decided[here] != y[here]).mean()))
        assert group.bound <= 0.15
    for rung in contract.rungs:
        worst = max(binom.cdf(round(g.risk * g.n_rows), g.n_rows, 0.15) for g in rung.groups)
        assert rung.p_value == pytest.approx(worst)


@pytest.mark.slow_cells("3")
@pytest.mark.parametrize("starts", [1, 3])
def test_the_promise_holds(starts: int) -> None:
    """2000 draws of fresh rows from a large pool that is walked once; a wrong model, and errors near alpha."""
    rng, alpha, delta, n = np.random.default_rng(0), 0.2, 0.1, 150
    truth = np.array([[0.7, 0.3], [0.66, 0.4], [0.62, 0.35], [0.7, 0.45], [0.6, 0.4]])
    y = rng.integers(2, size=40_000)
    X = (rng.random((y.size, 5)) < truth[:, y].T).astype(int)
    too_sure = np.stack([1 - truth**2, truth**2], axis=1)
    policy = FirstK(0).solve(TableProblem([0.5, 0.5], too_sure, prices=0.01))
    run = run_ladder(policy, X, np.linspace(0.01, 0.5, 15))
    wrong = run.decision != y[:, None]
    risk = wrong.mean(axis=0)
    alpha = float(np.sort(risk)[4])  # one rule is just at it, and most are above
    p = {k: binomial_p_value(k, n, alpha - 1e-9) for k in range(n + 1)}
    violated = 0
    for _ in range(2000):
        counts = wrong[rng.integers(y.size, size=n)].sum(axis=0)
        passed = fallback_test([p[k] for k in counts.tolist()], start_levels(15, delta, starts))
        violated += bool(passed.any()) and bool((risk[passed] >= alpha).any())
    assert 0 < violated <= binom.ppf(0.99, 2000, delta)


# rows that were seen


def test_rows_of_the_fit_are_refused(clf: Any, cancer: Any, fresh: Any, tmp_path: Path) -> None:
    X, y = cancer
    clf.save(tmp_path / "model.seq")
    for model in (clf, seqclass.load(tmp_path / "model.seq"), clf.with_prior([0.5, 0.5])):
        for rows in (slice(0, 300), slice(280, 400), np.r_[290:450][::-1]):
            with pytest.raises(ValueError, match="rows that the classifier was fitted to"):
                certify_error(model, X[rows], y[rows])
        assert certify_error(model, *fresh).n_rows == 269
    with pytest.raises(ValueError, match="fitted to"):
        certify_error(clf, X[:300].astype(np.float32), y[:300])
    assert certify_error(clf, X[:300], y[:300], allow_seen=True).n_rows == 300


@pytest.mark.parametrize("how", ["decimals", "digits", "text"])
def test_rounded_rows_of_the_fit_are_refused(clf: Any, cancer: Any, how: str, tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    scale = np.array([0.01, 1.0, 50.0, 1.0])
    X, y = rng.normal(size=(600, 4)), rng.integers(0, 2, 600)
    X = (X + y[:, None]) * scale
    X[rng.random(X.shape) < 0.05] = np.nan
    fitted = seqclass.etana(0.01).fit(X[:300], y[:300])
    rounded = {
        "decimals": np.round(X, 6),
        "digits": np.array([[float(f"{v:.5g}") for v in row] for row in X]),
        "text": np.array([[float(f"{v:.4f}") for v in row] for row in X / scale]) * scale,
    }[how]
    chunked = seqclass.etana(0.01).fit_chunks([(X[:110], y[:110]), (X[110:300], y[110:300])])
    fitted.save(tmp_path / "model.seq")
    for model in (fitted, chunked, seqclass.load(tmp_path / "model.seq")):
        with pytest.raises(ValueError, match=r"fitted to, as they were or rounded .*rows 0, 1, 2"):
            certify_error(model, rounded[:300], y[:300], alpha=0.4)
        with pytest.raises(ValueError, match="fitted to"):
            certify_error(model, rounded[200:400], y[200:400], alpha=0.4)
        assert certify_error(model, rounded[300:], y[300:], alpha=0.4).n_rows == 300


@pytest.mark.slow_cells("spiked-3", "whole-2")
@pytest.mark.covering(1)
@pytest.mark.parametrize("n_columns", [1, 2, 3])
@pytest.mark.parametrize("kind", ["numbers", "whole", "spiked"])
def test_fresh_rows_that_lie_near_are_taken_for_chance(n_columns: int, kind: str) -> None:
    """Also many of them, after a fit to few, and where one class is all that comes."""
    rng = np.random.default_rng(0)
    for n in (60, 300):
        for _ in range(3):
            y = rng.integers(0, 2, n + 1500)
            X = rng.normal(size=(y.size, n_columns)) + y[:, None]
            X = np.where(rng.random(X.shape) < 0.8, 0.0, X) if kind == "spiked" else X
            X = np.rint(2 * X) if kind == "whole" else X
            clf = seqclass.SequentialClassifier(solver=FirstK(0), order="given").fit(X[:n], y[:n])
            for rows in (slice(n, None), slice(n, n + 50), n + np.flatnonzero(y[n:] == 0)):
                certify_error(clf, X[rows], y[rows], alpha=0.9)


def test_how_many_familiar_rows_are_taken_for_chance(clf: Any) -> None:
    """One of one may be, at 1 in 10,000, if so many fresh rows are twins: 1, or 8 + 4 standard errors + 8, doubled."""
    seen = clf.agent_.seen
    for n_twins, n_rows in ((0, 20_000), (8, 640_000)):
        assert replace(seen, n_twins=n_twins, n_rows=n_rows).beyond_chance(seen.marks[:1])
        assert not replace(seen, n_twins=n_twins, n_rows=n_rows - 2).beyond_chance(seen.marks[:1])


def test_few_different_rows_are_no_reason_to_refuse() -> None:
    rng = np.random.default_rng(0)
    X, y = rng.integers(0, 2, (400, 4)), rng.integers(0, 2, 400)
    X[:, 0] = np.where(rng.random(400) < 0.9, y, X[:, 0])
    clf = seqclass.SequentialClassifier(discretizer="precomputed").fit(X[:200], y[:200])
    assert certify_error(clf, X[200:], y[200:], alpha=0.2).certified


def test_an_older_model_says_that_it_cannot_tell(cancer: Any, fresh: Any) -> None:
    X, y = cancer
    clf = seqclass.etana(0.01).fit(X[:300], y[:300])
    clf.agent_ = replace(clf.agent_, seen=None)
    with pytest.warns(UserWarning, match="cannot tell which rows"):
        certify_error(clf, *fresh)


class Picked(SelectorMixin, BaseEstimator):  # type: ignore[misc]
    """Keeps the columns that it was told."""

    def __init__(self, columns: tuple[int, ...]) -> None:
        self.columns = columns

    def fit(self, X: Any, y: Any) -> Picked:
        self.n_features_in_ = X.shape[1]
        return self

    def _get_support_mask(self) -> Any:
        return np.isin(np.arange(self.n_features_in_), self.columns)


def test_marks_of_sparse_and_dense_rows() -> None:
    rng = np.random.default_rng(0)
    X = rng.poisson(0.5, (200, 30)).astype(float)
    X[3, 4] = np.nan
    columns, y = [1, 4, 17, 29], rng.integers(0, 3, 200)
    other = X.copy()
    other[:, 0] += 1  # which does not count
    forms = (X, other, sp.csr_array(X), sp.csc_array(X), np.where(X == 0, -0.0, X))
    settings = {"selector": Picked(tuple(columns)), "solver": FirstK(0, certificate_paths=0), "order": "given"}
    first, *others = [seqclass.SequentialClassifier(**settings).fit(form, y).agent_.seen for form in forms]
    for seen in others:
        assert (seen.marks == first.marks).all()
    rows = {(*map(str, row), label) for row, label in zip(X[:, columns], y)}
    assert len(first.marks) == len(rows)
    assert (first.n_rows, first.complete) == (200, True)


def test_of_many_rows_a_sample_is_kept() -> None:
    X, y = np.arange(20_000.0)[:, None], np.arange(20_000) % 2
    clf = seqclass.SequentialClassifier(solver=FirstK(0, certificate_paths=0)).fit(X, y)
    assert clf.agent_.seen.marks.size == 4096
    assert not clf.agent_.seen.complete
    with pytest.raises(ValueError, match="rows that the classifier was fitted to"):
        certify_error(clf, X[:200], y[:200], alpha=0.9)
    assert certify_error(clf, X[:200] + 0.5, y[:200], alpha=0.9).n_rows == 200


# files and refusals


@pytest.mark.parametrize(("alpha", "certified"), [(0.15, True), (0.013, False)])
def test_a_contract_is_kept_in_a_file(
    clf: Any, cancer: Any, fresh: Any, tmp_path: Path, alpha: float, certified: bool
) -> None:
    X, y = fresh
    contract = certify_error(clf, X, y, alpha=alpha)
    assert contract.certified is certified
    contract.save(tmp_path / "contract.seq")
    again = seqclass.load(tmp_path / "contract.seq")
    assert again.record() == contract.record()
    if certified:
        assert (again.predict(X) == contract.predict(X)).all()
        with pytest.raises(ValueError, match="fitted to"):
            certify_error(again.classifier, cancer[0][:300], cancer[1][:300])


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"alpha": 0.0}, "alpha must be above 0"),
        ({"alpha": 1.0}, "alpha must be above 0 and below 1"),
        ({"delta": 1.5}, "delta must be above 0"),
        ({"metric": "recall"}, "metric must be"),
        ({"metric": "sensitivity"}, "target must name the class"),
        (
            {"metric": "sensitivity", "target": "ill"},
            "target: 'ill' is no class of the model; there are 'benign', 'malignant'",
        ),
        ({"target": "benign"}, "is for metric"),
        ({"groups": ["a"]}, "groups must have one label for each of the 269 rows"),
        ({"groups": ["a"] * 268 + ["b"]}, "1 row of group 'b' that counts, too few .* at least 22"),
        ({"groups": [1.0] * 268 + [np.nan]}, "groups has no label in row 268"),
        ({"ladder": "features"}, "ladder must be"),
        ({"ladder": "price", "max_features": 3}, "max_features is for"),
        ({"starts": 41}, "starts must be between 1 and 40"),
        ({"alpha": 0.001}, "too few for alpha=0.001 and delta=0.1: it takes at least 2302"),
        ({"alpha": 5.0, "metric": "cost"}, "alpha must be above 0 and below 1.3"),
    ],
)
def test_refusals(clf: Any, fresh: Any, settings: dict[str, Any], words: str) -> None:
    with pytest.raises(ValueError, match=words):
        certify_error(clf, *fresh, **settings)


def test_wrong_labels_are_refused(clf: Any, fresh: Any) -> None:
    X, y = fresh
    with pytest.raises(ValueError, match="y holds 'ill', which is no class"):
        certify_error(clf, X, np.where(y == "benign", y, "ill"))
    with pytest.raises(ValueError, match="one label for each of the 269 rows"):
        certify_error(clf, X, y[:-1])
    with pytest.raises(TypeError, match="alpha must be a number"):
        certify_error(clf, X, y, alpha="low")  # type: ignore[arg-type]


def test_labels_may_be_one_column(clf: Any, fresh: Any) -> None:
    X, y = fresh
    with pytest.warns(DataConversionWarning):
        assert certify_error(clf, X, y[:, None]).record() == certify_error(clf, X, y).record()
    for labels in (np.column_stack([y, y]), y[:, None, None], y[None, :], y[:, None][:, :0]):
        with pytest.raises(ValueError, match=re.escape(f"each of the 269 rows, got shape {labels.shape}.")):
            certify_error(clf, X, labels)


@pytest.mark.slow
def test_more_rows_than_a_part_holds(clf: Any, fresh: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = certify_error(clf, *fresh).record()
    sevens = "seqclass.evaluation.certified.chunks"
    monkeypatch.setattr(sevens, lambda n, size: [slice(i, i + 7) for i in range(0, n, 7)])
    parts = certify_error(clf, *fresh).record()
    assert parts["risk"] == whole["risk"]
    assert parts["n_features"] == pytest.approx(whole["n_features"])


def test_a_constant_column_is_not_paid_for() -> None:
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 600)
    X = np.column_stack([rng.normal(size=600) + 0.8 * y, np.ones(600), rng.normal(size=600) + 0.8 * y])
    clf, bare = (seqclass.etana(0.01).fit(X[:300][:, kept], y[:300]) for kept in ([0, 1, 2], [0, 2]))
    found = certify_error(clf, X[300:], y[300:], alpha=0.35)
    without = certify_error(bare, X[300:][:, [0, 2]], y[300:], alpha=0.35)
    assert [rung.n_features for rung in found.rungs] == [rung.n_features for rung in without.rungs]
    assert (found.risk, found.price) == (without.risk, without.price)
    constant = seqclass.etana(0.01).fit(np.ones((300, 2)), y[:300])
    assert not certify_error(constant, np.ones((300, 2)), y[300:], alpha=0.9, allow_seen=True).n_features


def test_a_constant_column_is_not_paid_for_in_any_order() -> None:
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 600)
    X = np.column_stack([np.ones(600), rng.normal(size=600) + 0.8 * y, np.ones(600), rng.normal(size=600) + 0.8 * y])
    for costs in (Costs(0.01), Costs(0.01, visit_cost=0.02)):
        clf, bare = (
            SequentialClassifier(order="adaptive", feature_costs=costs).fit(X[:300][:, kept], y[:300])
            for kept in ([0, 1, 2, 3], [1, 3])
        )
        found = certify_error(clf, X[300:], y[300:], alpha=0.35)
        other = certify_error(bare, X[300:][:, [1, 3]], y[300:], alpha=0.35)
        assert found.rungs[0].n_features == other.rungs[0].n_features == 2
        assert found.rungs[0].risk == other.rungs[0].risk
        session = found.session()
        while session.next_feature is not None:
            assert session.next_feature.column in (1, 3)
            session.observe(session.next_feature.column, 0.5)


def test_rows_of_partial_fit_are_not_known_again(clf: Any, cancer: Any, fresh: Any) -> None:
    X, y = cancer
    bins = clf.coder_.discretizer_
    grown = SequentialClassifier(discretizer=bins).partial_fit(X[:300], y[:300], classes=clf.classes_)
    with pytest.warns(UserWarning, match="made without rows, or by partial_fit"):
        assert certify_error(grown, *fresh, alpha=0.2).certified


def test_what_is_promised_is_not_rounded_and_what_could_be_is_rounded_up(clf: Any, fresh: Any) -> None:
    contract = certify_error(clf, *fresh, alpha=0.1)
    for alpha, delta, text in ((0.1, 0.1, "10.0%, with 90%"), (0.0125, 1e-6, "1.25%, with 99.9999%")):
        assert f"of at most {text} confidence" in str(replace(contract, alpha=alpha, delta=delta))
    assert "cost of at most 1234.45 EUR" in str(replace(contract, metric="cost", alpha=1234.45, unit="EUR"))
    for reachable, text in ((0.2432135, "0.2433"), (0.25, "0.25"), (1234.2, "1235")):
        with pytest.raises(ValueError, match=f"these rows certify {text} at best, not 0.1"):
            replace(contract, classifier=None, reachable=reachable).require_classifier()
    with pytest.raises(ValueError, match=r"these rows certify about 0\.3 at best"):
        replace(contract, classifier=None, reachable=0.3, metric="cost").require_classifier()
