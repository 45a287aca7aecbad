"""OSFS and Fast-OSFS against slow versions that test one conditioning set after the other."""

from __future__ import annotations

import math
from itertools import combinations, product

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.stats import chi2, norm
from scipy.stats import f as f_distribution

from seqclass.selection import OSFS, FastOSFS, osfs
from seqclass.selection.osfs import Joint, LikelihoodRatioTest, PartialCorrelationTest


def partial_correlation(columns):
    """Of the first two given the others, from the inverse of the correlations."""
    inverse = np.linalg.inv(np.corrcoef(columns, rowvar=False))
    return -inverse[0, 1] / math.sqrt(inverse[0, 0] * inverse[1, 1])


def z_independent(X, y, alpha):
    def test(j, given):
        r = partial_correlation(np.column_stack([X[:, j], y, X[:, list(given)]]))
        return abs(math.atanh(r)) * math.sqrt(len(y) - len(given) - 3) < norm.isf(alpha / 2)

    return test


def g2_p_value(x, y, given):
    n_x, n_y = x.max() + 1, y.max() + 1
    sizes = [z.max() + 1 for z in given]
    g2 = 0.0
    for stratum in product(*map(range, sizes)):
        inside = np.all([z == v for z, v in zip(given, stratum)], axis=0) if given else np.ones(len(x), dtype=bool)
        for a, b in product(range(n_x), range(n_y)):
            both = (inside & (x == a) & (y == b)).sum()
            if both:
                expected = (inside & (x == a)).sum() * (inside & (y == b)).sum() / inside.sum()
                g2 += 2 * both * math.log(both / expected)
    freedom = (n_x - 1) * (n_y - 1) * math.prod(sizes)
    return (chi2.sf(g2, freedom), freedom)


def g2_independent(X, y, alpha, rows):
    def test(j, given):
        p, freedom = g2_p_value(X[:, j], y, [X[:, k] for k in given])
        return len(y) < rows * freedom or p >= alpha

    return test


def subsets(pool, largest):
    return (some for size in range(1, largest + 1) for some in combinations(pool, size))


def plain_osfs(n_features, independent, largest):
    kept = []
    for i in range(n_features):
        if independent(i, ()):
            continue
        kept.append(i)
        for j in list(kept):
            if any(independent(j, some) for some in subsets([k for k in kept if k != j], largest)):
                kept.remove(j)
    return kept


def plain_fast_osfs(n_features, independent, largest):
    kept = []
    for i in range(n_features):
        if independent(i, ()) or any(independent(i, some) for some in subsets(kept, largest)):
            continue
        kept.append(i)
        for j in kept[:-1]:
            pool = [k for k in kept if k != j]
            if any(independent(j, some) for some in subsets(pool, largest) if i in some):
                kept.remove(j)
    return kept


PLAIN = [(OSFS, plain_osfs), (FastOSFS, plain_fast_osfs)]


@pytest.mark.slow_cells("3-OSFS-plain_osfs")
@pytest.mark.covering(1)
@pytest.mark.parametrize("selector, plain", PLAIN)
@pytest.mark.parametrize("largest", [0, 1, 3])
def test_continuous_equals_plain(selector, plain, largest):
    sizes = []
    for seed in range(4):
        rng = np.random.default_rng(seed)
        y = rng.integers(0, 2, 150)
        X = rng.normal(size=(150, 14)) + y[:, None] * rng.uniform(-1, 1, 14)
        X[:, 7:] += X[:, :7] * rng.uniform(0, 2, 7)
        kept = plain(14, z_independent(X, y, 0.05), largest)
        found = selector(alpha=0.05, max_condition=largest).fit(X, y)
        assert found.selected_.tolist() == kept
        sparse = selector(alpha=0.05, max_condition=largest).fit(sp.csc_array(X), y)
        assert sparse.selected_.tolist() == kept
        sizes.append(len(kept))
    assert max(sizes) > 2


@pytest.mark.covering(1)
@pytest.mark.parametrize("selector, plain", PLAIN)
@pytest.mark.parametrize("largest, rows", [(1, 5), (2, 5), (2, 0)])
def test_discrete_equals_plain(selector, plain, largest, rows):
    sizes = []
    for seed in range(4):
        rng = np.random.default_rng(seed)
        n = 200
        y = rng.integers(0, 2 + seed % 2, n)
        X = rng.integers(0, 2 + seed // 2, (n, 10))
        X[0] = 1 + seed // 2
        for j in range(10):
            source = y if j % 2 == 0 else X[:, j - 1]
            follow = rng.random(n) < 0.6 * rng.random()
            X[follow, j] = source[follow] % (2 + seed // 2)
        kept = plain(10, g2_independent(X, y, 0.05, rows), largest)
        settings = {"test": "g2", "alpha": 0.05, "max_condition": largest, "rows_per_freedom": rows}
        assert selector(**settings).fit(X, y).selected_.tolist() == kept
        assert selector(**settings).fit(sp.csr_array(X), y).selected_.tolist() == kept
        sizes.append(len(kept))
    assert max(sizes) > 1


@pytest.mark.parametrize("selector", [OSFS, FastOSFS])
def test_g2_does_not_depend_on_what_numbers_stand_for_outcomes(selector):
    rng = np.random.default_rng(1)
    y = rng.integers(0, 2, 400)
    X = np.where(rng.random((400, 6)) < 0.6, rng.integers(0, 3, (400, 6)), y[:, None] + rng.integers(0, 2, (400, 6)))
    kept = selector("g2").fit(X, y).selected_.tolist()
    assert len(kept) > 1
    for other in (X + 1, 7 * X, X + 100, X - 2, 10 * X - 5):
        assert selector("g2").fit(other, y).selected_.tolist() == kept
        assert selector("g2").fit(sp.csr_array(other.astype(float)), y).selected_.tolist() == kept


def partial(test, given):
    return Joint(test.gram[None], test.with_class[None]).partial(0, np.array([given]))[0, 0]


def test_partial_correlations():
    rng = np.random.default_rng(1)
    y = rng.integers(0, 2, 60)
    X = rng.normal(size=(60, 6)) @ rng.normal(size=(6, 6)) + y[:, None]
    test = PartialCorrelationTest(0.01, y, None, 2)
    columns, *_ = test.prepare(X)
    for j in range(6):
        test.add(columns.take([j]))
    for given in ([1], [2, 3], [1, 4, 5]):
        expected = abs(partial_correlation(np.column_stack([X[:, 0], y, X[:, given]])))
        assert partial(test, given) == pytest.approx(expected)
    test.drop(2)
    expected = abs(partial_correlation(np.column_stack([X[:, 0], y, X[:, [3, 5]]])))
    assert partial(test, [2, 4]) == pytest.approx(expected)


def test_several_classes_make_an_f_test():
    rng = np.random.default_rng(1)
    y = rng.integers(0, 4, 90)
    X = rng.normal(size=(90, 4)) + rng.normal(size=(4, 4))[y]
    test = PartialCorrelationTest(0.05, y, None, 4)
    columns, *_ = test.prepare(X)
    for j in range(4):
        test.add(columns.take([j]))

    def residual(model):
        return ((X[:, 0] - model @ np.linalg.lstsq(model, X[:, 0], rcond=None)[0]) ** 2).sum()

    for given in ([1], [2, 3], [1, 2, 3]):
        without = np.column_stack([np.ones(90), X[:, given]])
        with_class = np.column_stack([without, np.eye(4)[y][:, 1:]])
        r0, r1 = residual(without), residual(with_class)
        assert partial(test, given) == pytest.approx(math.sqrt(1 - r1 / r0))
        free = 90 - len(given) - 1 - 3
        p = f_distribution.sf((r0 - r1) / 3 / (r1 / free), 3, free)
        assert test._independent(0, np.array([given])) == (p > 0.05)


def test_missing_cells_are_left_out_of_g2():
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 200)
    X = (y[:, None] + (rng.random((200, 2)) < 0.3)) % 2
    gap = rng.random((200, 2)) < 0.2
    test = LikelihoodRatioTest(0.01, y, 2, 5)
    columns, *_ = test.prepare(np.where(gap, -1, X))
    for j in range(2):
        test.add(columns.take([j]))
    full = ~gap.any(axis=1)
    expected, _ = g2_p_value(X[full, 0], y[full], [X[full, 1]])
    assert test.p_value(0, [1]) == pytest.approx(expected)


def test_zeros_that_a_sparse_column_stores_are_answers():
    y = np.repeat([0, 1], 30)
    test = LikelihoodRatioTest(0.01, y, 2, 40)  # 40 rows of the 60, which half of them would not reach
    rows, nowhere = np.arange(60), np.zeros(60, dtype=int)
    for stored in (sp.csc_array((y, (rows, nowhere)), shape=(60, 1)), sp.csc_array(y[:, None])):
        _, _, relevant = test.prepare(stored)
        assert relevant.tolist() == [True]


@pytest.mark.slow_cells("groups-OSFS")
@pytest.mark.covering(1)
@pytest.mark.parametrize("selector", [OSFS, FastOSFS])
@pytest.mark.parametrize("coding", ["groups", "codes"])
def test_columns_tested_together_fare_as_one_by_one(selector, coding, monkeypatch):
    """Genes by the dozen, of which few change what is kept: blocks of any size, and the test one by one."""
    rng = np.random.default_rng(5)
    y = np.arange(60) % 3
    factors = rng.normal(size=(60, 12)) + 1.5 * rng.normal(size=(3, 12))[y]
    X = factors @ rng.normal(size=(12, 80)) + rng.normal(size=(60, 80))
    X[:, 50] = X[:, 40]  # a copy
    found = selector(alpha=0.05, class_coding=coding).fit(X, y)
    assert 1 < len(found.selected_) < 40
    stream = selector(alpha=0.05, class_coding=coding)
    for columns in np.array_split(np.arange(80), 11):
        stream.partial_fit_features(X[:, columns], y)
    assert stream.selected_.tolist() == found.selected_.tolist()
    monkeypatch.setattr(osfs, "CHUNK_BYTES", 32 * 500)
    assert selector(alpha=0.05, class_coding=coding).fit(X, y).selected_.tolist() == found.selected_.tolist()
    monkeypatch.setattr(PartialCorrelationTest, "count_passing", lambda *_: 0)
    assert selector(alpha=0.05, class_coding=coding).fit(X, y).selected_.tolist() == found.selected_.tolist()


def test_most_columns_never_come_to_be_tested_alone(monkeypatch):
    calls, add = [], PartialCorrelationTest.add
    monkeypatch.setattr(PartialCorrelationTest, "add", lambda self, column: calls.append(add(self, column)))
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1], 30)
    X = (y + 0.3 * rng.normal(size=60))[:, None] + 0.3 * rng.normal(size=(60, 2000))
    FastOSFS().fit(X, y)
    assert len(calls) < 100


def test_what_is_collinear_is_redundant():
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1], 50)
    x = y + rng.normal(size=100)
    X = np.stack([x, 2 * x, x + rng.normal(size=100)], axis=1)
    assert FastOSFS().fit(X, y).get_support(indices=True).tolist() == [0]
    assert OSFS().fit(X, y).get_support(indices=True).tolist() == [1]


@pytest.mark.parametrize(("share", "kept"), [(0.95e-9, [1]), (1.1e-9, [0, 1])])
def test_what_is_nearly_explained_is_explained(share, kept):
    """Of the second column so small a share of the variance tells anything beside the first."""
    rng = np.random.default_rng(0)
    axes, _ = np.linalg.qr(np.column_stack([np.ones(2000), rng.normal(size=(2000, 3))]))
    first, other, noise = axes[:, 1:].T * np.sqrt(2000)
    X = np.column_stack([first, first + np.sqrt(share) * other])
    assert OSFS().fit(X, (first + other + 0.3 * noise > 0).astype(int)).get_support(indices=True).tolist() == kept


def test_too_few_rows_mean_independence():
    y = np.array([0, 1, 0, 1, 1, 0])
    X = np.stack([y, 1 - y], axis=1)
    assert FastOSFS("g2").fit(X, y).get_support().tolist() == [True, False]
    # of equals, the older one is tested first
    assert OSFS("g2").fit(X, y).get_support().tolist() == [False, True]
    assert not OSFS("g2", rows_per_freedom=7).fit(X, y).get_support().any()


def test_bad_settings():
    for settings, message in [
        ({"test": "t"}, "test must be one of"),
        ({"max_condition": -1}, "max_condition must be at least 0"),
        ({"alpha": -1}, "alpha must be between"),
        ({"rows_per_freedom": -1}, "rows_per_freedom must be between"),
        ({"class_coding": "x"}, "class_coding must be one of"),
    ]:
        with pytest.raises(ValueError, match=message):
            OSFS(**settings).fit(np.eye(6), [0, 1] * 3)


@pytest.mark.slow
def test_published_number_of_features(load_data):
    """Fast-OSFS on dorothea, Table IV of the SAOLA paper."""
    data = load_data("dorothea_train800")
    assert FastOSFS("g2", alpha=0.01).fit(data.X, data.y).get_support().sum() == 5
