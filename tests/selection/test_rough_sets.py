"""OFS-A3M and OFS-Density against the definitions, row by row and with 50 digits."""

from __future__ import annotations

import pickle
import tracemalloc
from dataclasses import replace
from decimal import Decimal, localcontext
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

import seqclass.selection._rough_set as rough_set
from seqclass.selection import OFSA3M, OFSDensity
from seqclass.selection._rough_set import Density, Dependency, Gap

BOTH = [OFSA3M, OFSDensity]
#: What only 50 digits' rounding tells apart.
EQUAL = Decimal("1e-40")


def neighbours(distances: list[tuple[Decimal, int]], gap: bool) -> list[tuple[Decimal, int]]:
    """The part of sorted distances that belongs to a neighbourhood, and those as far away as its last."""
    d = [distance for distance, _ in distances]
    limit = Decimal("1.5") * (d[-1] - d[0]) / max(len(d) - 1, 1)
    count = 1
    while count < len(d):
        step = d[count] - d[count - 1]
        if gap and step >= limit - EQUAL and step > EQUAL:
            break
        if not gap and d[count] * count > d[count - 1] * (count + 1) + EQUAL:
            break
        count += 1
    return distances[:count]


def plain_dependency(X: np.ndarray, y: np.ndarray, gap: bool, first_out: bool = False) -> float:
    """Mean share of neighbours of the same class, by the definition."""
    n = len(y)
    with localcontext() as context:
        context.prec = 50
        columns = []
        for column in X.T.tolist():
            mean = sum(map(Decimal, column)) / n
            spread = (sum((Decimal(v) - mean) ** 2 for v in column) / n).sqrt()
            columns.append([Decimal(v) / spread for v in column])
        shares = []
        for i in range(n):
            to = [(sum((c[i] - c[j]) ** 2 for c in columns).sqrt(), j) for j in range(n)]
            left_out = min(j for d, j in to if d <= EQUAL) if first_out else i
            found = neighbours(sorted(pair for pair in to if pair[1] != left_out), gap)
            shares.append(sum(y[j] == y[i] for _, j in found) / len(found))
    return float(np.mean(shares))


def plain_selection(selector: Any, X: np.ndarray, y: np.ndarray) -> list[int]:
    """The features kept, one after the other."""
    gap, published = isinstance(selector, OFSA3M), selector.published
    kept: list[int] = []
    own: dict[int, float] = {}
    best = mean = 0.0

    def of(features: list[int]) -> float:
        return plain_dependency(X[:, features], y, gap, published)

    for i in range(X.shape[1]):
        if np.ptp(X[:, i]) == 0:
            continue
        own[i] = of([i])
        if own[i] <= mean + 1e-11 if gap else own[i] < mean - 1e-11:
            continue
        new = of([*kept, i])
        if new > best + 1e-11:
            kept, best = [*kept, i], new
        elif kept and new >= (best if gap else 0.95 * best) - 1e-11:
            some, now = list(kept), new
            for k in np.random.default_rng([selector._seed, i]).permutation(len(kept)):
                rest = [j for j in some if j != kept[k]]
                without = of([*rest, i])
                if abs(without - now) <= 1e-11 or (not gap and without > now):
                    some, now = rest, without
            if not gap and now < best - 1e-11:
                if published:
                    kept = [*kept, i]
                continue
            kept, best = [*some, i], best if gap else now
        else:
            continue
        mean = best / len(kept) if gap else float(np.mean([own[j] for j in kept]))
    return kept


def made(seed: int, n: int = 16, p: int = 7, n_values: int = 5) -> tuple[np.ndarray, np.ndarray]:
    """Whole numbers, some of which follow the class, others another column."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 2 + seed % 2, n)
    y[:3] = [0, 1, seed % 2]
    X = rng.integers(0, n_values, (n, p))
    for j in range(p):
        source = y * 2 if rng.random() < 0.5 or j == 0 else X[:, rng.integers(j)]
        follow = rng.random(n) < rng.random()
        X[follow, j] = source[follow]
    return X, y


@pytest.fixture(params=["usual", "one by one", "by lists"])
def regime(request: Any, monkeypatch: pytest.MonkeyPatch) -> str:
    """Every way in which a dependency is come by, on few rows."""
    small = rough_set.TUNING
    if request.param != "usual":
        monkeypatch.setattr(rough_set, "CACHE_BYTES", 16 * 70)
    if request.param == "by lists":
        small = replace(small, n_nearest=6, min_nearest_rows=8)
    monkeypatch.setattr(rough_set, "TUNING", small)
    return str(request.param)


@pytest.mark.covering
@pytest.mark.parametrize("n_values, max_bytes", [(2, 1e9), (5, 1e9), (1000, 1e9), (5, 0)])
@pytest.mark.parametrize("first_out", [False, True])
def test_dependencies_are_those_of_the_definition(
    n_values: int, max_bytes: float, first_out: bool, regime: str
) -> None:
    X, y = made(1, 18, 5, n_values)
    scaled = X / X.std(axis=0)
    for gap, rule in ((True, Gap(18)), (False, Density())):
        held = Dependency(y, y.max() + 1, rule, max_bytes, first_out)
        found, expected = (
            held.with_column(scaled).tolist(),
            [plain_dependency(X[:, [j]], y, gap, first_out) for j in range(5)],
        )
        for k in range(3):
            held.add(scaled[:, k].copy())
            for _ in range(2):  # lists of the nearest rows are there from the second on
                found += held.with_column(scaled[:, [3, 4]]).tolist()
            expected += 2 * [plain_dependency(X[:, [*range(k + 1), j]], y, gap, first_out) for j in (3, 4)]
        for gone in ([0], [1], [0, 2], [0, 1, 2]):
            found.append(held.without_members(gone, scaled[:, 4]))
            kept = [j for j in (0, 1, 2, 4) if j not in gone]
            expected.append(plain_dependency(X[:, kept], y, gap, first_out))
        held.drop([1])
        found += held.with_column(scaled[:, [3]]).tolist()
        expected.append(plain_dependency(X[:, [0, 2, 3]], y, gap, first_out))
        np.testing.assert_allclose(found, expected, rtol=1e-12)


@pytest.mark.covering
@pytest.mark.parametrize("cls", BOTH)
@pytest.mark.parametrize("published", [False, True])
def test_selections_are_those_of_the_rules(cls: Any, published: bool, regime: str) -> None:
    dropped = 0
    for seed in range(3):
        X, y = made(seed, n_values=[3, 5, 1000][seed % 3])
        X[:, 4] = 7
        selector = cls(published, random_state=seed).fit(X, y)
        assert selector.selected_.tolist() == plain_selection(selector, X, y)
        dropped += len(selector.selected_) < 1 + selector.selected_.max()
    assert dropped


def test_a_distance_over_its_rank_that_grows_by_rounding_alone_goes_on() -> None:
    for more, joins in ((0.7e-9, True), (1.3e-9, False)):
        d, ranks = np.array([[0.0, 1.0, 2 * (1 + more)]]), np.arange(3)[None]
        assert Density().joins(d, ranks, None).tolist() == [[True, joins]]


def test_settled_sums_are_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rough_set, "CACHE_BYTES", 16 * 30)
    X, y = made(3, 30, 4, 1000)
    held = Dependency(y, 3, Density(), 1e9, False)
    (exact,) = held.with_column(X[:, [0]] / X[:, 0].std())
    column = X[:, [0]] / X[:, 0].std()
    assert held.with_column(column, floor=exact - 1e-9, enough=exact + 1e-9) == [exact]
    assert held.with_column(column, floor=exact + 1e-9) == [-np.inf]
    assert exact - 0.2 < held.with_column(column, enough=exact - 0.2)[0] <= exact


@pytest.mark.slow
def test_the_matrix_is_no_larger_than_said() -> None:
    rng = np.random.default_rng(0)
    n = 1500
    y, X = rng.integers(0, 2, n), rng.normal(size=(n, 5))
    found = {}
    for max_bytes in (8 * n**2 - 1, 8 * n**2):
        tracemalloc.start()
        try:
            held = Dependency(y, 2, Density(), max_bytes, False)
            for j in range(4):
                held.add(X[:, j].copy())
            held.with_column(X[:, [4]])
            found[max_bytes] = (*held.with_column(X[:, [4]]), held.without_members([1], X[:, 4]))
            peak = tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()
        assert (peak < 0.8 * 8 * n**2) == (max_bytes < 8 * n**2)
    np.testing.assert_allclose(*found.values(), rtol=1e-12)


@pytest.mark.parametrize("cls", BOTH)
class TestBoth:
    @pytest.mark.slow_cells("OFSA3M")
    @settings(max_examples=settings.default.max_examples * 4 // 5)
    @given(seed=st.integers(0, 10**6), n_values=st.sampled_from([2, 6, 10**6]))
    def test_neither_rows_nor_units_nor_labels_matter(self, cls: Any, seed: int, n_values: int) -> None:
        X, y = made(seed, 40, 8, n_values)
        kept = cls(random_state=0).fit(X, y).selected_.tolist()
        rng = np.random.default_rng(seed)
        order = rng.permutation(len(y))
        assert cls(random_state=0).fit(X[order], y[order]).selected_.tolist() == kept
        changed = X * rng.uniform(0.1, 1e6, 8) * rng.choice([-1, 1], 8) + rng.normal(size=8)
        assert cls(random_state=0).fit(changed, np.array(["c", "a", "b"])[y]).selected_.tolist() == kept

    @settings(max_examples=settings.default.max_examples * 2 // 5)
    @given(seed=st.integers(0, 10**6))
    def test_what_is_kept_has_the_dependency_told(self, cls: Any, seed: int) -> None:
        X, y = made(seed, 20, 6)
        selector = cls(random_state=0).fit(X, y)
        if len(selector.selected_):
            told = plain_dependency(X[:, selector.selected_], y, cls is OFSA3M)
            assert selector.dependency_ == pytest.approx(told, abs=1e-10)
        else:
            assert selector.dependency_ == 0

    def test_constant_columns_are_refused(self, cls: Any) -> None:
        X, y = made(2)
        with_constants = np.insert(X.astype(float), [0, 4], [[1e9 / 3, 0.0]], axis=1)
        kept = set(cls(random_state=0).fit(with_constants, y).selected_.tolist())
        assert kept
        assert not kept & {0, 5}
        assert not cls().fit(np.full((9, 3), 0.1), [0, 1, 1] * 3).get_support().any()

    @pytest.mark.parametrize("n", [30, 600])
    def test_copies_of_the_only_feature_are_not_kept_beside_it(self, cls: Any, n: int) -> None:
        rng = np.random.default_rng(0)
        y = np.arange(n) % 2
        x = y + 0.4 * rng.normal(size=n)
        kept = cls(random_state=0).fit(np.stack([x, x, 3 - 2 * x], axis=1), y).selected_.tolist()
        assert kept == [0 if cls is OFSA3M else 2]

    def test_a_stream_is_saved_without_its_distances(self, cls: Any) -> None:
        X, y = made(5, 120, 12, 1000)
        expected = cls(random_state=3).fit(X, y)
        stream = cls(random_state=3).partial_fit_features(X[:, :6], y)
        content = pickle.dumps(stream)
        assert len(content) < 8 * 120**2
        again = pickle.loads(content).partial_fit_features(sp.csc_array(X[:, 6:]).toarray(), y)
        assert again.selected_.tolist() == expected.selected_.tolist()
        assert again.dependency_ == expected.dependency_

    def test_bad_settings_and_what_is_not_there_yet(self, cls: Any) -> None:
        with pytest.raises(ValueError, match="max_bytes must be"):
            cls(max_bytes=-1).fit(np.eye(6), [0, 1] * 3)
        assert not hasattr(cls(), "dependency_")

    @pytest.mark.slow_cells("OFSDensity")
    def test_two_features_of_madelon_as_published(self, cls: Any, load_data: Any) -> None:
        """Table 3 of the ETANA paper: two, because rows that are alike in both count themselves."""
        data = load_data("madelon")
        X, y = data.X[:2000, :8], data.y[:2000]
        assert cls(published=True, random_state=0).fit(X, y).selected_.tolist() == [0, 1]
        assert cls(random_state=0).fit(X[:, :4], y).selected_.tolist() != [0, 1]


def test_density_finds_what_tells_in_madelon(load_data: Any) -> None:
    data = load_data("madelon")
    X, y = data.X[:2000], data.y[:2000]
    some = [0, 3, 105, 241, 336, 338]
    kept = OFSDensity(random_state=0).fit(X[:, some], y).selected_
    assert set(kept.tolist()) & {2, 3, 4, 5}
