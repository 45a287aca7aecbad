from __future__ import annotations

import itertools
from dataclasses import replace
from functools import cache, partial
from types import SimpleNamespace

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.metrics import mutual_info_score

from seqclass.bn import NaiveBayes, ordering
from seqclass.bn.ordering import (
    check_order,
    error_scores,
    information_scores,
    order_by_name,
    rank,
    rank_by_rate,
    variance_scores,
)


def conditional_order(X, y, n=256, *, costs=1.0):
    prices = np.broadcast_to(np.asarray(costs, dtype=float), X.shape[1])
    return ordering.conditional_order(X, y, prices, NaiveBayes().fit(X, y).n_outcomes_, n)


def random_table(seed, n_features=20, n_outcomes=4, n_classes=3):
    rng = np.random.default_rng(seed)
    return rng.dirichlet(np.ones(n_outcomes), (n_features, n_classes)).transpose(0, 2, 1).copy(), rng.dirichlet(
        np.ones(n_classes)
    )


def named(order, table, prior, costs=None):
    """What the order of a name is under a model that has the table."""
    model = SimpleNamespace(
        n_features_in_=len(table),
        n_outcomes_=np.full(len(table), table.shape[1]),
        classes_=np.arange(table.shape[2]),
        class_prior_=np.asarray(prior),
        likelihood_table=lambda features: table[features],
    )
    return order_by_name(order, model, np.ones(len(table)) if costs is None else costs)


error_order, information_order, variance_order = (partial(named, name) for name in ("error", "information", "variance"))


def best_test_errors(table, prior):
    """Sum of the two errors of the best of all deterministic tests, added up over the classes."""
    n_outcomes, n_classes = table.shape
    total = 0.0
    for c in range(n_classes):
        others = np.delete(np.arange(n_classes), c)
        negative = table[:, others] @ (prior[others] / prior[others].sum())
        total += min(
            table[~np.array(accept), c].sum() + negative[np.array(accept)].sum()
            for accept in itertools.product([False, True], repeat=n_outcomes)
        )
    return total


def test_error_scores_are_those_of_the_best_test():
    table, prior = random_table(0)
    assert_allclose(error_scores(table, prior), [best_test_errors(t, prior) for t in table], rtol=1e-12)


def test_error_order_is_scaled_by_cost():
    table, prior = random_table(1)
    costs = np.random.default_rng(1).random(20)
    assert_array_equal(error_order(table, prior), np.argsort(error_scores(table, prior)))
    assert_array_equal(error_order(table, prior, costs), np.argsort(error_scores(table, prior) * costs))
    assert_array_equal(error_order(table, prior, 0.3), error_order(table, prior))
    assert_array_equal(error_order(table, prior, 0.0), error_order(table, prior))


def test_error_of_one_class_and_of_one_certain_class():
    table, _ = random_table(2, n_classes=1)
    assert_array_equal(error_scores(table, np.ones(1)), 0)
    table, _ = random_table(2, n_classes=3)
    assert np.isfinite(error_scores(table, np.array([1.0, 0.0, 0.0]))).all()


def test_information_scores_are_mutual_information():
    rng = np.random.default_rng(3)
    X, y = rng.integers(0, 4, (300, 8)), rng.integers(0, 3, 300)
    X[:, 2] = (y + (rng.random(300) < 0.3)) % 4
    model = NaiveBayes(alpha=0).fit(X, y)
    scores = information_scores(model.likelihood_table(), model.class_prior_)
    assert_allclose(scores, [mutual_info_score(X[:, j], y) for j in range(8)], atol=1e-13)


def test_information_order_is_per_cost_and_free_ones_first():
    table, prior = random_table(4)
    costs = np.random.default_rng(4).random(20)
    scores = information_scores(table, prior)
    assert_array_equal(information_order(table, prior, costs), np.argsort(-scores / costs))
    costs[[3, 8, 15]] = 0
    order = information_order(table, prior, costs)
    assert order[:3].tolist() == sorted([3, 8, 15], key=lambda j: -scores[j])


def test_variance_order():
    table, prior = random_table(5)
    expected = [sum(np.var(row) for row in feature) for feature in table]
    assert_allclose(variance_scores(table), expected, rtol=1e-12)
    assert_array_equal(variance_order(table, prior), np.argsort(-np.array(expected)))


def test_zero_padding_changes_no_order():
    table, prior = random_table(6)
    padded = np.concatenate([table, np.zeros((20, 3, 3))], axis=1)
    assert_array_equal(error_order(padded, prior), error_order(table, prior))
    assert_array_equal(information_order(padded, prior), information_order(table, prior))
    assert_array_equal(variance_order(padded, prior), variance_order(table, prior))


@pytest.mark.parametrize("order", [error_order, information_order])
def test_ties_of_rounding_break_to_the_lowest_index(order):
    table, prior = random_table(7, n_features=1)
    rng = np.random.default_rng(7)
    noisy = table * (1 + 1e-14 * rng.standard_normal((50, 4, 3)))
    assert_array_equal(order(noisy, prior), np.arange(50))
    # features with relabelled outcomes are as good
    relabelled = np.stack([table[0][rng.permutation(4)] for _ in range(50)])
    assert_array_equal(order(relabelled, prior), np.arange(50))


def test_of_features_without_information_the_cheapest_comes_first():
    rng = np.random.default_rng(8)
    rows = rng.dirichlet(np.ones(4), 30)
    table = np.repeat(rows[:, :, None], 3, axis=2)
    costs = rng.random(30)
    assert_array_equal(information_order(table, np.array([0.2, 0.3, 0.5])), np.arange(30))
    assert_array_equal(information_order(table, np.array([0.2, 0.3, 0.5]), costs), np.argsort(costs))


def test_rank():
    assert rank(np.array([2.0, np.inf, -np.inf, np.inf, 2.0, 0.0])).tolist() == [2, 5, 0, 4, 1, 3]
    assert rank(np.array([1.0, 1.0, 0.0]), np.array([5.0, 4.0, 9.0])).tolist() == [2, 1, 0]
    assert rank(np.array([1.0, 1.0 - 1e-9])).tolist() == [1, 0]
    assert rank(np.array([1.0, 1.0 - 1e-13])).tolist() == [0, 1]
    assert rank(np.array([0.0, -1e-17, 1.0])).tolist() == [0, 1, 2]
    assert rank(np.empty(0)).tolist() == []
    assert rank_by_rate(np.array([1.0, 0.0, 2.0]), np.array([0.0, 0.0, 1e-9])).tolist() == [0, 1, 2]


@pytest.fixture
def model(data):
    return NaiveBayes().fit(*data)


def test_order_by_name(model, data):
    table, prior = model.likelihood_table(), model.class_prior_
    costs = np.array([0.5, 0.1, 0.3, 0.2, 0.4])
    assert_array_equal(order_by_name("error", model, costs), error_order(table, prior, costs))
    assert_array_equal(order_by_name("information", model, costs), information_order(table, prior, costs))
    assert_array_equal(order_by_name("variance", model, costs), variance_order(table, prior))
    assert_array_equal(order_by_name("given", model, costs), np.arange(5))
    X, y = data
    expected = conditional_order(X, y, costs=costs)
    assert_array_equal(order_by_name("conditional", model, costs, X, y), expected)


def test_order_given():
    names = np.array(["age", "sex", "pulse", "fever", "cough"], dtype=object)
    assert check_order([4, 0], 5).tolist() == [4, 0]
    assert check_order(["cough", "age"], 5, names).tolist() == [4, 0]
    assert check_order(names[[4, 0]], 5, list(names)).tolist() == [4, 0]


@pytest.mark.parametrize(
    "order, message",
    [
        ([0, 5], "order names 5, which is not a feature; they are 0..4"),
        ([0, -1], "order names -1, which"),
        ([0, 1, 0], "order names feature 0 more than once"),
        ([0, "age"], "order names feature 'age' more than once"),
        ([], "at least one feature"),
        ([[0, 1]], r"shape \(1, 2\)"),
        ([0.5, 1], "indices or names, got float64"),
        (np.ones(5, dtype=bool), "indices or names, got bool"),
        (["age", "shoe"], "order names 'shoe', which is not a feature; did you mean 'sex'"),
        (["age", "age"], "order names feature 'age' more than once"),
    ],
)
def test_orders_name_what_is_wrong(order, message):
    with pytest.raises(ValueError, match=message):
        check_order(order, 5, ["age", "sex", "pulse", "fever", "cough"])


@pytest.mark.parametrize(
    "name, message",
    [("best", "order 'best' is unknown.*'information'"), ("conditional", "needs the training data")],
)
def test_named_orders_name_what_is_wrong(model, name, message):
    with pytest.raises(ValueError, match=message):
        order_by_name(name, model, np.ones(5))


def test_names_where_there_are_none():
    with pytest.raises(ValueError, match="order names 'age', which is not a feature; the features are 'x0'"):
        check_order(["age"], 5)


def plain_information(f, y, s):
    """Bias-corrected I(f; y | s) by the book; rows in which f is missing are left out."""
    f, y, s = f[f >= 0], y[f >= 0], s[f >= 0]
    total = 0.0
    for level in np.unique(s):
        at = s == level
        total += at.sum() * mutual_info_score(f[at], y[at])
        total -= (len(np.unique(f[at])) - 1) * (len(np.unique(y[at])) - 1) / 2
    return max(total / len(f), 0)


def redundant_data(seed, n=400):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 3, n)
    X = rng.integers(0, 4, (n, 9))
    for j, share in [(1, 0.2), (3, 0.4), (6, 0.6)]:
        X[:, j] = np.where(rng.random(n) < share, X[:, j], y)
    X[:, 2] = X[:, 1]
    X[:, 7] = np.where(rng.random(n) < 0.1, X[:, 7], X[:, 3])
    return np.where(rng.random(X.shape) < 0.05, -1, X).astype(np.int8), y


def plain_cmim(n, costs, given):
    """Order by what each feature says beside those chosen; ``given(j)`` is that of all, given feature j or none."""
    gains = given(None)
    # of features that say nothing the cheapest comes first
    rest = np.lexsort([costs, -gains / costs])
    chosen = []
    while len(chosen) < n and gains.max() > 1e-9:
        best = int(np.argmax(gains / costs))
        chosen.append(best)
        gains = np.minimum(gains, given(best))
        gains[chosen] = -np.inf
    return chosen + [j for j in rest if j not in chosen]


@pytest.mark.slow
@pytest.mark.covering(0)
@pytest.mark.parametrize("seed", [0, 5])
def test_conditional_order_against_a_plain_loop(seed):
    X, y = redundant_data(seed)

    @cache
    def given(j):
        return np.array([plain_information(f, y, np.zeros_like(y) if j is None else X[:, j]) for f in X.T])

    for n, costs in itertools.product([2, 9], (np.ones(9), np.random.default_rng(0).uniform(0.1, 1, 9))):
        expected = plain_cmim(n, costs, given)
        assert conditional_order(X, y, n, costs=costs).tolist() == expected
        assert conditional_order(sparse.csr_array(X), y, n, costs=costs).tolist() == expected


def test_conditional_order_puts_copies_last_and_free_features_first():
    rng = np.random.default_rng(9)
    y = np.repeat([0, 1], 300)
    strong, weak = (np.where(rng.random(600) < e, 1 - y, y) for e in (0.1, 0.3))
    X = np.column_stack([strong, strong, weak])
    assert conditional_order(X, y).tolist() == [0, 2, 1]
    assert information_order(NaiveBayes().fit(X, y).likelihood_table(), [0.5, 0.5]).tolist() == [0, 1, 2]
    assert conditional_order(X, y, costs=[1, 1, 0]).tolist() == [2, 0, 1]
    assert conditional_order(X, y, costs=[1, 0.1, 1]).tolist() == [1, 2, 0]


def test_scores_that_differ_by_a_ten_thousand_millionth_of_themselves_tie():
    assert [rank(np.array([1 + more, 1.0])).tolist() for more in (0.7e-10, 1.4e-10)] == [[0, 1], [1, 0]]


def test_conditional_order_is_a_permutation_whatever_the_limits(monkeypatch):
    X, y = redundant_data(10)
    full = conditional_order(X, y)
    assert sorted(full) == list(range(9))
    assert full[0] == conditional_order(X, y, 0)[0]
    assert conditional_order(X, np.zeros(len(y), dtype=int)).tolist() == list(range(9))
    with monkeypatch.context() as few:
        few.setattr(ordering, "TUNING", replace(ordering.TUNING, max_candidates=2))
        assert conditional_order(X, y)[0] == full[0]
        assert sorted(conditional_order(X, y)) == list(range(9))
    monkeypatch.setattr(ordering, "TUNING", replace(ordering.TUNING, max_rows=100))
    assert sorted(conditional_order(X, y)) == list(range(9))
    assert_array_equal(conditional_order(X, y), conditional_order(X, y))
