"""FIRES: gradients, weights, the properties they must have, and streams that go wrong."""

from __future__ import annotations

import itertools
import pickle
from typing import Any

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.utils.estimator_checks import parametrize_with_checks

from seqclass.selection import FIRES, FiresANN, FiresGLM, FiresSDT, fires
from seqclass.selection.fires import FiresModel, fires_weights

#: Settings that learn from little.
QUICK = {
    "glm": FiresGLM(),
    "ann": FiresANN(units=20, aggregation="products", start_sd=0.3),
    "sdt": FiresSDT(start_sd=0.1),
}
SMALL = {"glm": FiresGLM(), "ann": FiresANN(hidden_layers=2, units=4), "sdt": FiresSDT(depth=2)}


def stream(n: int = 2000, n_features: int = 20, seed: int = 0) -> tuple[Any, Any]:
    """Columns 3 and 7 decide the class."""
    X = np.random.default_rng(seed).random((n, n_features))
    return X, (X[:, 3] > X[:, 7]).astype(int)


@pytest.mark.covering(1)
@parametrize_with_checks([FIRES(), FIRES(base=SMALL["sdt"])])
def test_estimator(estimator: Any, check: Any) -> None:
    check(estimator)


@pytest.mark.slow
@parametrize_with_checks([FIRES(base=SMALL["ann"]), FIRES(scale="minmax", forgetting=0.1, shuffle=True)])
def test_estimator_of_other_settings(estimator: Any, check: Any) -> None:
    check(estimator)


# --- gradients -------------------------------------------------------------------------------------------------------


def sigmoid(t: float) -> float:
    return 1 / (1 + np.exp(-t)) if t > -700 else 0.0


def network(x: Any, theta: Any, sizes: list[int]) -> float:
    """P(1 | x) of the network, unit by unit."""
    values, at = list(x), 0
    for depth, (before, after) in enumerate(itertools.pairwise(sizes)):
        sums = [sum(values[i] * theta[at + i * after + j] for i in range(before)) / before**0.5 for j in range(after)]
        at += before * after
        values = sums if depth == len(sizes) - 2 else [max(s, 0) for s in sums]
    return sigmoid(values[0])


def tree(X: Any, theta: Any, depth: int) -> tuple[list[float], list[tuple[float, float]]]:
    """P(1 | x) of each row, and each inner node's level and share sent to the right."""
    n_nodes, J = 2**depth - 1, X.shape[1]
    leaves = theta[n_nodes * J :]
    positive, sent = [0.0] * len(X), [[0.0, 0.0] for _ in range(n_nodes)]

    def walk(node: int, i: int, reach: float) -> None:
        if node >= n_nodes:
            positive[i] += reach * sigmoid(leaves[node - n_nodes])
            return
        right = sigmoid(theta[node * J : (node + 1) * J] @ X[i] / J**0.5)
        sent[node][0] += reach * right
        sent[node][1] += reach
        walk(2 * node + 1, i, reach * (1 - right))
        walk(2 * node + 2, i, reach * right)

    for i in range(len(X)):
        walk(0, i, 1.0)
    return positive, [(int(np.log2(n + 1)), a / b) for n, (a, b) in enumerate(sent)]


def objective(model: Any, X: Any, y: Any, mu: Any, sigma: Any, seed: int) -> float:
    """What one problem's gradient is of, by plain loops."""
    if isinstance(model, FiresGLM):
        return float(model.log_likelihood(X, y[None], mu[None], sigma[None])[0])
    draws = np.random.default_rng(seed).standard_normal((model.n_samples, len(mu)))
    total, penalty = np.zeros(len(X)), 0.0
    for r in draws:
        theta = mu + sigma * r
        if isinstance(model, FiresANN):
            positive = [network(x, theta, [X.shape[1], *[model.units] * model.hidden_layers, 1]) for x in X]
        else:
            positive, nodes = tree(X, theta, model.depth)
            penalty -= sum(0.5**level * (np.log(a) + np.log(1 - a)) / 2 for level, a in nodes) * model.penalty
        total += np.where(y > 0, positive, 1 - np.array(positive))
    return float(np.mean(np.log(total / len(draws))) - penalty / len(draws))


@pytest.mark.parametrize("base", ["glm", "ann", "sdt"])
def test_gradients_are_finite_differences(base: str) -> None:
    model, rng = SMALL[base], np.random.default_rng(5)
    if base == "sdt":
        model = FiresSDT(depth=2, penalty=0.5)
    X, y = rng.normal(size=(6, 3)), np.array([1.0, -1, 1, 1, -1, -1])
    mu, sigma = model.start(3, 1, rng)
    mu += rng.normal(size=mu.shape)
    sigma *= rng.uniform(0.5, 1.5, sigma.shape)
    slopes = model.gradient(X, y[None], mu, sigma, np.random.default_rng(9))
    step = 1e-6
    for k in range(mu.shape[1]):
        by = step * (np.arange(mu.shape[1]) == k)
        up, down = (objective(model, X, y, mu[0] + s * by, sigma[0], 9) for s in (1, -1))
        assert slopes[0][0, k] == pytest.approx((up - down) / (2 * step), abs=1e-7)
        if sigma[0, k] > 0:  # the leaves of a tree have no uncertainty, and get none
            up, down = (objective(model, X, y, mu[0], sigma[0] + s * by, 9) for s in (1, -1))
            assert slopes[1][0, k] == pytest.approx((up - down) / (2 * step), abs=1e-7)
        else:
            assert slopes[1][0, k] == 0


def test_the_closed_form_is_the_integral() -> None:
    from scipy.stats import norm

    rng = np.random.default_rng(0)
    x, mu, sigma = rng.normal(size=(3, 5))
    sigma = abs(sigma)
    sampled = norm.cdf((mu + sigma * rng.normal(size=(400_000, 5))) @ x).mean()
    exact = FiresGLM().log_likelihood(x[None], np.array([[1.0]]), mu[None], sigma[None])[0]
    assert np.exp(exact) == pytest.approx(sampled, abs=0.003)


@pytest.mark.parametrize("base", ["glm", "ann", "sdt"])
def test_problems_share_nothing_and_rows_may_be_sparse(base: str) -> None:
    model, rng = SMALL[base], np.random.default_rng(1)
    X = np.where(rng.random((50, 6)) < 0.4, rng.normal(size=(50, 6)), 0)
    Y = np.where(rng.random((3, 50)) < 0.5, 1.0, -1.0)
    mu, sigma = model.start(6, 3, rng)
    mu += rng.normal(size=mu.shape)
    dense = model.gradient(X, Y, mu, sigma, np.random.default_rng(2))
    sparse = model.gradient(sp.csr_array(X), Y, mu, sigma, np.random.default_rng(2))
    np.testing.assert_allclose(sparse, dense, atol=1e-12)
    first = model.gradient(X, Y[:1], mu[:1], sigma[:1], np.random.default_rng(2))
    np.testing.assert_allclose([part[0] for part in dense], [part[0] for part in first], atol=1e-12)


def test_a_block_of_rows_at_a_time_is_all_rows_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    X, y = stream(101)
    mu, sigma = np.full((1, 20), 0.1), np.full((1, 20), 0.9)
    whole = FiresGLM().gradient(X, 2.0 * y[None] - 1, mu, sigma, np.random.default_rng(0))
    monkeypatch.setattr(fires, "CACHE_BYTES", 8 * 20 * 7)
    parts = FiresGLM().gradient(X, 2.0 * y[None] - 1, mu, sigma, np.random.default_rng(0))
    np.testing.assert_allclose(parts, whole, atol=1e-14)


# --- aggregation and weights -----------------------------------------------------------------------------------------


def test_the_network_sums_mean_weights_along_paths() -> None:
    rng, J = np.random.default_rng(3), 5
    mu, _ = SMALL["ann"].start(J, 2, rng)
    mu = rng.normal(size=mu.shape)
    importance, uncertainty = SMALL["ann"].aggregate(mu, abs(mu), J)
    for c in range(2):
        first, second, last = mu[c, : J * 4].reshape(J, 4), mu[c, J * 4 : J * 4 + 16], mu[c, -4:]
        for j in range(J):
            assert importance[c, j] == pytest.approx(first[j].sum() / 4 + second.sum() / 16 + last.sum() / 4)
    assert (uncertainty >= abs(importance) - 1e-12).all()


@pytest.mark.parametrize("hidden_layers", [1, 2])
def test_the_network_sums_products_over_paths(hidden_layers: int) -> None:
    model, rng, J = FiresANN(hidden_layers, 2, aggregation="products"), np.random.default_rng(3), 3
    mu, sigma = model.start(J, 1, rng)
    mu += rng.normal(size=mu.shape)
    sigma *= rng.uniform(0.5, 1.5, sigma.shape)
    importance, uncertainty = model.aggregate(mu, sigma, J)
    sizes = [(J, 2), *[(2, 2)] * (hidden_layers - 1), (2, 1)]
    for j in range(J):
        mean = variance = 0.0
        for units in np.ndindex(*[2] * hidden_layers):
            path, at, m, v = [j, *units, 0], 0, 1.0, 1.0
            for (before, after), i, k in zip(sizes, path[:-1], path[1:]):
                edge = at + i * after + k
                m, v = m * mu[0, edge], v * (mu[0, edge] ** 2 + sigma[0, edge] ** 2)
                at += before * after
            mean, variance = mean + m, variance + v - m**2
        scale = 2.0 ** (-hidden_layers / 2)
        assert importance[0, j] == pytest.approx(mean * scale)
        assert uncertainty[0, j] == pytest.approx(np.sqrt(variance) * scale)


def test_how_models_start() -> None:
    rng = np.random.default_rng(0)
    for model in (FiresGLM(), FiresANN(), FiresSDT()):
        mu, sigma = model.start(7, 2, rng)
        importance, _ = model.aggregate(mu, sigma, 7)
        assert (importance == 0).all()
        assert set(np.unique(sigma)) <= {0.0, 1.0}
    for model in (FiresANN(start_sd=0.2, aggregation="products"), FiresSDT(start_sd=0.2)):
        mu, sigma = model.start(7, 2, rng)
        assert set(np.unique(sigma)) <= {0.0, 0.2}
        assert (model.aggregate(mu, sigma, 7)[0] == 0).all()


def test_the_tree_averages_over_inner_nodes() -> None:
    rng, J = np.random.default_rng(3), 5
    mu = rng.normal(size=(1, 3 * J + 4))
    importance, _ = SMALL["sdt"].aggregate(mu, mu, J)
    expected = [np.mean([mu[0, n * J + j] for n in range(3)]) for j in range(J)]
    np.testing.assert_allclose(importance[0], expected)


# powers of two apart, so that what differs in theory differs in floating point
numbers = st.integers(-80, 80).map(lambda i: i / 8)
positive = st.integers(1, 64).map(lambda i: i / 16)


@given(numbers, positive, positive, positive)
def test_property_1_no_importance_no_weight(mu: float, sigma: float, penalty_s: float, penalty_r: float) -> None:
    weights = fires_weights([0.0, mu], [abs(sigma), 0.0], penalty_s, penalty_r)
    assert weights[0] <= 0 <= weights[1]


@given(numbers, numbers, st.tuples(positive, positive), positive, positive)
def test_property_2_weights_are_monotonic(
    a: float, b: float, sigma: tuple[float, float], penalty_s: float, penalty_r: float
) -> None:
    certain, uncertain = fires_weights([a, -a], sigma, penalty_s, penalty_r)
    assert (sigma[0] >= sigma[1]) == (certain <= uncertain)
    assert (sigma[0] < sigma[1]) == (certain > uncertain)
    one, other = fires_weights([a, b], [sigma[0]] * 2, penalty_s, penalty_r)
    assert (abs(a) >= abs(b)) == (one >= other)
    assert (abs(a) < abs(b)) == (one < other)


@given(st.lists(st.lists(numbers, min_size=4, max_size=4), min_size=1, max_size=5), st.sampled_from(["glm", "sdt"]))
def test_properties_hold_of_what_is_learnt(rows: list[list[float]], base: str) -> None:
    y = np.arange(len(rows)) % 2
    selector = FIRES(2, base, learning_rate_sigma=5.0, random_state=0).partial_fit(rows, y, classes=[0, 1])
    assert (selector.sigma_ >= 0).all()
    assert (selector.weights_[selector.importance_[0] == 0] <= 0).all()
    expected = fires_weights(selector.importance_[0], selector.uncertainty_[0])
    np.testing.assert_allclose(selector.weights_, expected)


class Shrinking(FiresGLM):
    def gradient(self, X: Any, Y: Any, mu: Any, sigma: Any, rng: Any) -> tuple[Any, Any]:
        return mu, np.full_like(sigma, -3.0)


def test_a_standard_deviation_never_falls_below_zero() -> None:
    X, y = stream(10)
    np.testing.assert_allclose(FIRES(2, Shrinking(), learning_rate_sigma=0.1).fit(X, y).sigma_, 0.7)
    assert (FIRES(2, Shrinking(), learning_rate_sigma=1.0, max_step=9.0).fit(X, y).sigma_ == 2).all()
    assert (FIRES(2, Shrinking(), learning_rate_sigma=1.0).fit(X, y).sigma_ == 0).all()


# --- streams ---------------------------------------------------------------------------------------------------------


@pytest.mark.quick
@pytest.mark.parametrize("base", ["glm", "ann", "sdt"])
def test_it_finds_what_decides(base: str) -> None:
    X, y = stream()
    selector = FIRES(2, QUICK[base], random_state=0, n_epochs=2).fit(X, y)
    assert selector.get_support(indices=True).tolist() == [3, 7]
    assert selector.n_seen_ == 2 * len(X)
    assert selector.transform(X[:3]).shape == (3, 2)


@pytest.mark.parametrize(
    "labels",
    [(-1, 1), (1, 2), ("no", "yes"), (False, True), (np.uint8(0), np.uint8(255)), (0.0, 1.0), ("b", "a")],
    ids=str,
)
def test_labels_of_any_kind(labels: tuple[Any, Any]) -> None:
    X, y = stream(400)
    plain = FIRES(2).fit(X, y)
    named = FIRES(2).fit(X, np.where(y, labels[1], labels[0]))
    np.testing.assert_allclose(named.weights_, plain.weights_)
    if isinstance(labels[0], str):
        as_objects = FIRES(2).fit(X, np.where(y, labels[1], labels[0]).astype(object))
        np.testing.assert_allclose(as_objects.weights_, plain.weights_)


@pytest.mark.covering(1)
@pytest.mark.parametrize("base", ["glm", "ann", "sdt"])
@pytest.mark.parametrize("size", [1e5, 1e160, 1.7e308])
def test_an_extreme_batch_does_no_lasting_harm(base: str, size: float) -> None:
    X, y = stream(6000)
    selector = FIRES(2, SMALL[base], random_state=0)
    for start in range(0, 6000, 100):
        batch = X[start : start + 100] - 0.5
        if start == 300:
            batch = np.where(np.arange(20) % 2, size, -size) * np.sign(batch)
        selector.partial_fit(batch, y[start : start + 100])
        assert np.isfinite(selector.weights_).all()
        assert abs(selector.mu_).max() < 10
    if base == "glm":
        assert selector.get_support(indices=True).tolist() == [3, 7]


@pytest.mark.parametrize("size", [1e160, 1.7e308])
def test_extreme_sparse_values_are_those_of_the_dense(size: float) -> None:
    X = np.eye(4) * size
    dense, sparse = (FIRES(2).fit(data, [0, 1, 0, 1]).weights_ for data in (X, sp.csr_array(X)))
    assert np.isfinite(dense).all()
    np.testing.assert_allclose(sparse, dense)


def test_the_first_batch_may_lack_classes() -> None:
    X, y = stream(400)
    order = np.argsort(y, kind="stable")
    selector = FIRES(2)
    with pytest.raises(ValueError, match="only one class"):
        FIRES(2).partial_fit(X[order[:50]], y[order[:50]])
    for start in range(0, 400, 50):
        rows = order[start : start + 50]
        selector.partial_fit(X[rows], y[rows], classes=[0, 1])
    assert selector.classes_.tolist() == [0, 1]
    with pytest.raises(ValueError, match="y holds 2, which is no class"):
        selector.partial_fit(X[:3], np.array([0, 1, 2]))
    with pytest.raises(ValueError, match="y holds -1, which is no class"):
        selector.partial_fit(X[:3], np.array([0, 1, -1]))
    with pytest.raises(ValueError, match="classes must stay"):
        selector.partial_fit(X[:3], y[:3], classes=[0, 1, 2])


def test_each_class_against_the_rest() -> None:
    rng = np.random.default_rng(0)
    X, y = rng.random((3000, 12)), rng.integers(0, 3, 3000)
    X[np.arange(3000), 2 + 4 * y] += 1  # class c shows in column 2 + 4c
    selector = FIRES(3).fit(X, np.array(["x", "y", "z"])[y])
    assert selector.mu_.shape == (3, 12)
    assert selector.get_support(indices=True).tolist() == [2, 6, 10]
    assert selector.importance_.argmax(axis=1).tolist() == [2, 6, 10]
    np.testing.assert_allclose(selector.weights_, fires_weights(selector.mu_, selector.sigma_).mean(axis=0))


def test_a_constant_column_tells_nothing_apart() -> None:
    X, y = stream(1000)
    y = (X[:, 3] > 0.2).astype(int)  # mostly ones, so that an intercept is of use
    X[:, 11] = 1.0
    for data in (X, sp.csr_array(X)):
        selector = FIRES(2)
        for start in range(0, 800, 100):
            rows = slice(start, start + 100)
            selector.partial_fit(data[rows], y[rows])
        assert abs(selector.mu_[0, 11]) == abs(selector.mu_).max()
        assert selector.importance_[0, 11] == 0
        assert selector.weights_[11] < 0
        changed = X[800:900].copy()
        changed[5, 11] = 2.0
        selector.partial_fit(type(data)(changed) if sp.issparse(data) else changed, y[800:900])
        assert selector.importance_[0, 11] != 0


class Told:
    """A user's model that learns nothing: its parameters are what it was told."""

    def __init__(self, mu: Any, sigma: float) -> None:
        self.mu, self.sigma = np.array(mu, dtype=float), sigma

    def start(self, n_features: int, n_problems: int, rng: Any) -> tuple[Any, Any]:
        return np.tile(self.mu, (n_problems, 1)), np.full((n_problems, n_features), self.sigma)

    def gradient(self, X: Any, Y: Any, mu: Any, sigma: Any, rng: Any) -> tuple[Any, Any]:
        return np.zeros_like(mu), np.zeros_like(sigma)

    def aggregate(self, mu: Any, sigma: Any, n_features: int) -> tuple[Any, Any]:
        return mu, sigma


@pytest.mark.parametrize("form", [np.asarray, sp.csr_array])
def test_columns_that_vary_leave_the_list_of_constants(form: Any) -> None:
    selector = FIRES(2, Told(np.ones(5), 1.0))
    batches = [[[0.0, 1, 0, 2, 4]], [[0.0, 1, 0, 2, 5], [0, 1, 3, 2, 5]], [[0.0, 1, 0, 2, 4], [0, 1, 0, 7, 4]]]
    for batch, constant in zip(batches, ([0, 1, 2, 3, 4], [0, 1, 3], [0, 1])):
        selector.partial_fit(form(np.array(batch)), np.zeros(len(batch), dtype=int), classes=[0, 1])
        assert np.flatnonzero(selector.importance_[0] == 0).tolist() == constant


def test_unscaled_features() -> None:
    X, y = stream(3000)
    units = np.logspace(-6, 6, 20)
    selector = FIRES(2, scale="minmax").fit(X * units + units, y)
    assert selector.get_support(indices=True).tolist() == [3, 7]
    whole = FIRES(2, scale="minmax", batch_size=3000).fit(X * units, y)
    scaled = FIRES(2, batch_size=3000).fit((X - X.min(axis=0)) / np.ptp(X, axis=0), y)
    np.testing.assert_allclose(whole.weights_, scaled.weights_)
    with pytest.raises(ValueError, match="MaxAbsScaler"):
        FIRES(2, scale="minmax")._minmax_scale(sp.csr_array(X))


def drift(n: int = 4000) -> tuple[Any, Any]:
    """Columns 3 and 7 decide up to the middle, 1 and 2 afterwards."""
    X, y = stream(n)
    y[n // 2 :] = X[n // 2 :, 1] > X[n // 2 :, 2]
    return X, y


def batches_until(selector: FIRES, X: Any, y: Any, wanted: list[int]) -> int:
    for start in range(0, len(X), 100):
        selector.partial_fit(X[start : start + 100], y[start : start + 100])
        if selector.get_support(indices=True).tolist() == wanted:
            return start // 100
    return len(X)


def test_forgetting_and_reset_follow_a_drift() -> None:
    X, y = drift()
    late = slice(2000, 4000)
    waits = []
    for forgetting, reset in ((0.0, False), (0.1, False), (0.0, True)):
        selector = FIRES(2, forgetting=forgetting)
        for start in range(0, 2000, 100):
            selector.partial_fit(X[start : start + 100], y[start : start + 100])
        assert selector.get_support(indices=True).tolist() == [3, 7]
        if reset:
            selector.reset()
            assert (selector.mu_ == 0).all()
            assert (selector.sigma_ == 1).all()
            assert (selector.weights_ == -0.5).all()
            assert selector.get_support(indices=True).tolist() == [0, 1]
        waits.append(batches_until(selector, X[late], y[late], [1, 2]))
    assert waits[1] < waits[0]
    assert waits[2] < waits[0]


def test_reset_of_some_columns() -> None:
    X, y = stream(500)
    selector = FIRES(2).fit(X, y)
    kept = selector.mu_[0, 7]
    selector.reset([3])
    assert selector.mu_[0, 3] == 0
    assert selector.mu_[0, 7] == kept
    assert selector.weights_[3] == -0.5
    with pytest.raises(ValueError, match="from 0 to 19"):
        selector.reset([20])
    with pytest.raises(ValueError, match="cannot be told apart"):
        FIRES(2, "sdt").fit(X, y).reset([0])
    with pytest.raises(NotFittedError):
        FIRES().reset()


# --- contract --------------------------------------------------------------------------------------------------------


def test_fit_is_a_loop_of_partial_fit() -> None:
    X, y = stream(450)
    fitted = FIRES(2).fit(X, y)
    looped = FIRES(2)
    for start in range(0, 450, 100):
        looped.partial_fit(X[start : start + 100], y[start : start + 100])
    assert np.array_equal(fitted.weights_, looped.weights_)
    assert fitted.n_seen_ == looped.n_seen_ == 450
    assert np.array_equal(fitted.fit(X, y).weights_, looped.weights_)


def test_shuffling_helps_rows_that_are_sorted() -> None:
    X, y = stream(3000)
    order = np.argsort(y, kind="stable")
    mixed = FIRES(2, shuffle=True, random_state=0).fit(X[order], y[order])
    assert mixed.get_support(indices=True).tolist() == [3, 7]
    again = FIRES(2, shuffle=True, random_state=0).fit(X[order], y[order])
    assert np.array_equal(mixed.weights_, again.weights_)
    assert not np.array_equal(mixed.weights_, FIRES(2, shuffle=True, random_state=1).fit(X[order], y[order]).weights_)


@pytest.mark.parametrize("base", ["ann", "sdt"])
def test_draws_follow_random_state(base: str) -> None:
    X, y = stream(300)
    one, same, other = (FIRES(2, SMALL[base], random_state=s).fit(X, y).weights_ for s in (0, 0, 1))
    assert np.array_equal(one, same)
    assert not np.array_equal(one, other)


def test_ways_to_give_a_batch() -> None:
    X, y = stream(200)
    expected = FIRES(2).fit(X, y).weights_
    forms = [(X.tolist(), y.tolist()), (X.astype(np.float32), y), (np.asfortranarray(X), y.astype(np.int8))]
    forms += [(pd.DataFrame(X).add_prefix("f"), pd.Series(y)), (sp.csc_array(X), y), (sp.csr_matrix(X), y)]
    for data, labels in forms:
        selector = FIRES(2)
        for start in (0, 100):
            rows = slice(start, start + 100)
            part = data.iloc[rows] if isinstance(data, pd.DataFrame) else data[rows]
            selector.partial_fit(part, labels[rows])
        np.testing.assert_allclose(selector.weights_, expected, rtol=1e-5)


def test_bad_batches_name_the_column() -> None:
    X, y = stream(200)
    selector = FIRES(2).partial_fit(X[:100], y[:100])
    before = selector.weights_.copy()
    for value, word in ((np.nan, "NaN"), (np.inf, "infinity")):
        broken = X[100:].copy()
        broken[7, 4] = value
        for data in (broken, sp.csr_array(broken)):
            with pytest.raises(ValueError, match=f"column 4 of X contains {word}"):
                selector.partial_fit(data, y[100:])
    with pytest.raises(ValueError, match="features"):
        selector.partial_fit(X[100:, 1:], y[100:])
    assert np.array_equal(selector.weights_, before)
    assert selector.n_seen_ == 100


class Broken(FiresGLM):
    def gradient(self, X: Any, Y: Any, mu: Any, sigma: Any, rng: Any) -> tuple[Any, Any]:
        return mu, mu * np.nan


def test_a_model_that_fails_leaves_what_was_learnt() -> None:
    X, y = stream(200)
    with pytest.raises(ValueError, match="holds NaN"):
        FIRES(2, Broken()).fit(X, y)
    selector = FIRES(2, forgetting=0.5).fit(X, y)
    before = selector.mu_.copy()
    selector._model = Broken()
    with pytest.raises(ValueError, match="nothing was learnt"):
        selector.partial_fit(X, y)
    assert np.array_equal(selector.mu_, before)


class Logistic:
    """A user's model: logistic regression by MacKay's approximation of the marginal likelihood, with a bias."""

    def start(self, n_features: int, n_problems: int, rng: Any) -> tuple[Any, Any]:
        return np.zeros((n_problems, n_features + 1)), np.ones((n_problems, n_features + 1))

    def gradient(self, X: Any, Y: Any, mu: Any, sigma: Any, rng: Any) -> tuple[Any, Any]:
        Z = np.column_stack([X, np.ones(len(X))])
        width = np.sqrt(1 + np.pi / 8 * (sigma**2 @ (Z**2).T))
        margin = mu @ Z.T
        slope = Y / (1 + np.exp(Y * margin / width)) / len(Z)
        return (slope / width) @ Z, -np.pi / 8 * sigma * ((slope * margin / width**3) @ Z**2)

    def aggregate(self, mu: Any, sigma: Any, n_features: int) -> tuple[Any, Any]:
        return mu[:, :n_features], sigma[:, :n_features]


def test_a_model_of_the_user() -> None:
    X, y = stream()
    assert isinstance(Logistic(), FiresModel)
    assert FIRES(2, Logistic()).fit(X, y).get_support(indices=True).tolist() == [3, 7]
    for wrong in (Logistic, object(), 3, None):
        with pytest.raises(TypeError, match=r"base must be one of .*, or a model of yours with start, gradient"):
            FIRES(base=wrong).fit(X, y)


@pytest.mark.parametrize(
    "settings, error, word",
    [
        ({"n_features_to_select": 0}, ValueError, "n_features_to_select"),
        ({"n_features_to_select": 1.5}, ValueError, "n_features_to_select"),
        ({"n_features_to_select": "all"}, TypeError, "n_features_to_select"),
        ({"base": "svm"}, ValueError, "'glm', 'ann', 'sdt'"),
        ({"base": FiresANN(units=0)}, ValueError, "units"),
        ({"base": FiresSDT(penalty=-1.0)}, ValueError, "penalty"),
        ({"penalty_r": 0}, ValueError, "penalty_r"),
        ({"penalty_s": -1}, ValueError, "penalty_s"),
        ({"learning_rate_mu": float("nan")}, ValueError, "learning_rate_mu"),
        ({"forgetting": 2}, ValueError, "forgetting"),
        ({"max_step": 0}, ValueError, "max_step"),
        ({"scale": "standard"}, ValueError, "scale"),
        ({"batch_size": 0}, ValueError, "batch_size"),
        ({"n_epochs": 0}, ValueError, "n_epochs"),
    ],
    ids=str,
)
def test_settings_are_checked(settings: dict[str, Any], error: type[Exception], word: str) -> None:
    X, y = stream(50)
    with pytest.raises(error, match=word):
        FIRES(**settings).fit(X, y)
    with pytest.raises(error, match=word):
        FIRES(**settings).partial_fit(X, y)


def test_how_many_are_kept() -> None:
    X, y = stream(100)
    assert FIRES(0.15).fit(X, y).get_support().sum() == 3
    assert FIRES(1.0).fit(X, y).get_support().all()
    assert FIRES(50).fit(X, y).get_support().all()
    assert FIRES(1).fit(X, y).get_support().sum() == 1


@pytest.mark.parametrize("number", range(1, 7))
def test_ties_go_to_the_first(number: int) -> None:
    weights, X = np.array([1.0, 2.0, 1.0 + 1e-14, 2.0, 0.0, 1.0]), np.repeat([[0.0], [1.0]], 6, axis=1)
    order = [1, 3, 0, 2, 5, 4]
    told = FIRES(number, Told(np.sqrt(weights), 0.0), penalty_r=0.5).fit(X, [0, 1])
    np.testing.assert_allclose(told.weights_, weights)
    assert told.get_support(indices=True).tolist() == sorted(order[:number])
    alike = FIRES(number, Told(np.zeros(6), 1.0), penalty_s=3.0, penalty_r=0.5).fit(X, [0, 1])
    assert alike.weights_.tolist() == [-3.0] * 6
    assert alike.get_support(indices=True).tolist() == list(range(number))


def test_copies_go_on_alike() -> None:
    X, y = stream(300)
    for base in ("glm", SMALL["ann"]):
        selector = FIRES(2, base, random_state=0).partial_fit(X[:100], y[:100])
        copied = pickle.loads(pickle.dumps(selector))
        for each in (selector, copied):
            each.partial_fit(X[100:], y[100:])
        assert np.array_equal(selector.weights_, copied.weights_)
        assert not hasattr(clone(selector), "weights_")


@pytest.mark.parametrize("name", ["penalty_s", "penalty_r", "learning_rate_mu", "learning_rate_sigma"])
def test_infinite_settings_are_refused(name: str) -> None:
    with pytest.raises(ValueError, match=name):
        FIRES(2, **{name: np.inf}).fit(*stream(50))


def test_a_step_that_overflows_is_cut() -> None:
    selector = FIRES(2, learning_rate_mu=1e308).fit(*stream(200))
    assert np.isfinite(selector.weights_).all()


@pytest.mark.parametrize("kind", [int, bool, float])
def test_labels_as_objects_are_learnt_from(kind: type) -> None:
    X, y = stream(300)
    labels = y.astype(kind)
    plain = FIRES(2).partial_fit(X[:200], labels[:200]).partial_fit(X[200:], labels[200:])
    objects = labels.astype(object)
    other = FIRES(2).partial_fit(X[:200], objects[:200], classes=np.unique(objects)).partial_fit(X[200:], objects[200:])
    np.testing.assert_array_equal(plain.weights_, other.weights_)
    assert other.classes_.dtype == labels.dtype
