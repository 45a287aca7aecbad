"""Sets of classes that hold the true one: what is promised, and that all that decides tells them alike."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.stats import binom

import seqclass
from seqclass import Costs, SequentialClassifier, certify_differential
from seqclass.pomdp import PosteriorThreshold

N_CLASSES = 4


def cases(n: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Four classes of unequal frequency, and six columns that tell a little of them."""
    rng = np.random.default_rng(seed)
    y = rng.choice(N_CLASSES, n, p=[0.4, 0.3, 0.2, 0.1])
    return np.arange(N_CLASSES)[y][:, None] * rng.uniform(0.2, 0.6, 6) + rng.normal(size=(n, 6)), y


@pytest.fixture(scope="module")
def fitted() -> Any:
    return seqclass.etana(0.02).fit(*cases(300, 0))


@pytest.fixture(scope="module")
def told(fitted: Any) -> Any:
    return seqclass.certify_differential(fitted, *cases(400, 1), alpha=0.1)


def test_a_limit_is_a_tolerance_limit(fitted: Any, told: Any) -> None:
    X, y = cases(400, 1)
    own = np.sort(fitted.acquire(X).posterior[np.arange(400), y])
    found = told.agent_.differential
    below = int((own < found.limits[0]).sum())
    # so many rows may be below, and not one more but for those that are alike
    up_to = int((own <= found.limits[0] * (1 + 1e-8)).sum())
    assert binom.cdf(below, 400, 0.1) <= 0.1 < binom.cdf(up_to, 400, 0.1)
    assert found.limits.tolist() == [found.limits[0]] * N_CLASSES
    held = told.acquire(X).differential
    assert found.missed == pytest.approx(1 - held[np.arange(400), y].mean())
    assert found.size == pytest.approx(held.sum(axis=1).mean())
    assert 1 <= found.size < N_CLASSES


def test_what_was_held_out_still_holds() -> None:
    """It asks and decides as before, so that a case costs what it cost."""
    clf = seqclass.etana(0.02).fit(*cases(200, 0), held_out=2)
    other = seqclass.certify_differential(clf, *cases(100, 1), alpha=0.2)
    assert other.held_out_ is clf.held_out_
    assert other.timings_ == clf.timings_


@pytest.mark.slow
def test_the_promise_holds_as_often_as_is_said(fitted: Any) -> None:
    X, y = cases(6000, 2)
    posterior = fitted.acquire(X).posterior
    rng, broken = np.random.default_rng(3), 0
    for _ in range(150):
        some = rng.choice(6000, 60, replace=False)
        found = seqclass.certify_differential(fitted, X[some], y[some], alpha=0.2, delta=0.2).agent_.differential
        broken += 1 - found.holds(posterior)[np.arange(6000), y].mean() > 0.2
    assert 0.05 < broken / 150 <= 0.2 + 3 * np.sqrt(0.2 * 0.8 / 150)


def test_by_class_it_holds_in_each(fitted: Any) -> None:
    X, y = cases(3000, 4)
    found = seqclass.certify_differential(fitted, X, y, alpha=0.1, by_class=True)
    assert len(set(found.agent_.differential.limits)) == N_CLASSES
    own = fitted.acquire(X).posterior[np.arange(3000), y]
    for c, limit in enumerate(found.agent_.differential.limits):  # a share of delta each
        n, below, up_to = (y == c).sum(), (own[y == c] < limit).sum(), (own[y == c] <= limit * (1 + 1e-8)).sum()
        assert binom.cdf(below, n, 0.1) <= 0.1 / N_CLASSES < binom.cdf(up_to, n, 0.1)
    X, y = cases(6000, 5)
    missed = ~found.acquire(X).differential[np.arange(6000), y]
    assert all(missed[y == c].mean() < 0.1 for c in range(N_CLASSES))
    # one limit for all misses the rare class more often
    one = seqclass.certify_differential(fitted, *cases(3000, 4), alpha=0.1)
    assert (~one.acquire(X).differential[np.arange(6000), y])[y == 3].mean() > 0.1
    # of a class with too few rows nothing is left out
    few = np.flatnonzero((y != 3) | (np.cumsum(y == 3) < 10))[:1500]
    limits = seqclass.certify_differential(fitted, X[few], y[few], by_class=True).agent_.differential.limits
    assert limits[3] == 0 < limits[:3].min()


def test_a_case_is_told_as_in_a_batch(told: Any) -> None:
    X, _ = cases(30, 6)
    record = told.acquire(X)
    frame = record.to_frame(told.classes_)
    for i, row in enumerate(X):
        case = told.session()
        assert case.differential is None
        while (question := case.next_feature) is not None:
            case.observe(question.name, row[question.column])
        assert case.differential == frame["differential"][i]
        assert set(case.differential) == set(np.flatnonzero(record.differential[i]))
        assert case.differential[0] == record.posterior[i].argmax()
    # what nobody asked for is of no case that was promised anything about
    other = next(j for j in told.order_.tolist()[::-1] if j != case.history[0].name)
    case = told.session()
    case.observe(told.feature_name(other), X[0, other])
    while (question := case.next_feature) is not None:
        case.observe(question.name, X[0, question.column])
    assert case.differential is None


def test_only_cases_as_planned_have_sets(fitted: Any, told: Any) -> None:
    X, _ = cases(20, 7)
    assert fitted.acquire(X).differential is None
    assert told.acquire(X, budget=2).differential is None
    assert told.acquire(X, known=[5]).differential is None
    live = told.acquire(provider=lambda rows, feature: X[rows, int(str(feature).lstrip("x"))], n=20)
    assert np.array_equal(live.differential, told.acquire(X).differential)
    # another policy is not the one that was looked at
    assert told.with_prior([0.25] * 4).acquire(X).differential is None
    contract = seqclass.certify_error(told, *cases(400, 8), alpha=0.6)
    assert contract.classifier.acquire(X).differential is None


@pytest.mark.parametrize(
    "make",
    [
        lambda: seqclass.ifc2f(0.02),
        pytest.param(lambda: seqclass.adaptive(0.02, effort="quick"), marks=pytest.mark.slow),
        pytest.param(lambda: seqclass.etana(seqclass.Costs(0.02, visit_cost=0.01)), marks=pytest.mark.slow),
        lambda: seqclass.etana(0.02, known=[0]),
        lambda: seqclass.etana(0.02, solver=PosteriorThreshold(0.7)),
        lambda: seqclass.etana(0.02, target_cost=0.05),
    ],
)
def test_all_that_decides_tells_and_keeps_them(make: Any, few_ways: None, tmp_path: Path) -> None:
    clf = make().fit(*cases(200, 9))
    told = seqclass.certify_differential(clf, *cases(200, 10), alpha=0.2)
    X, _ = cases(50, 11)
    record = told.acquire(X)
    assert record.differential.shape == (50, N_CLASSES)
    assert np.array_equal(record.decision, clf.acquire(X).decision)
    told.save(tmp_path / "m.seq")
    assert np.array_equal(seqclass.load(tmp_path / "m.seq").acquire(X).differential, record.differential)


def test_what_cannot_be_is_said(fitted: Any) -> None:
    X, y = cases(40, 12)
    with pytest.raises(ValueError, match=r"X has 40 rows that count, too few for alpha=0\.05 and delta=0\.1: .* 45"):
        seqclass.certify_differential(fitted, X, y)
    with pytest.raises(ValueError, match=r"too few rows of every class .* a class takes at least 72"):
        seqclass.certify_differential(fitted, X, y, by_class=True)
    with pytest.raises(ValueError, match="rows that the classifier was fitted to"):
        seqclass.certify_differential(fitted, *cases(300, 0))
    with pytest.raises(TypeError, match="AdaptiveClassifier is wanted, got Agent"):
        seqclass.certify_differential(fitted.agent_, X, y)
    with pytest.raises(ValueError, match="alpha must be above 0 and below 1"):
        seqclass.certify_differential(fitted, X, y, alpha=1.5)


def _gappy(n: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 3, n)
    X = (y[:, None] + (rng.random((n, 5)) < 0.4) * rng.integers(0, 3, (n, 5))) % 3.0
    X[rng.random(X.shape) < np.where(y == 0, 0.3, 0.1)[:, None]] = np.nan
    return X, y


def _answer(case: Any, row: np.ndarray) -> None:
    """Answer the first question of the panel."""
    name = case.next_panel[0].name
    value = row[int(name[1:])]
    case.unavailable(name) if np.isnan(value) else case.observe(name, value)


def test_a_visit_that_the_policy_does_not_have_has_no_set() -> None:
    clf = SequentialClassifier(feature_costs=Costs(0.02, visit_cost=0.03), order="adaptive").fit(*_gappy(400, 0))
    told = certify_differential(clf, *_gappy(300, 1), alpha=0.2)
    row = np.zeros(5)

    def finished(case: Any) -> Any:
        while case.next_panel:
            _answer(case, row)
        return case

    planned = finished(told.session())
    assert planned.differential is not None
    assert told.session(planned.to_json()).differential == planned.differential
    panel = [question.name for question in told.session().next_panel]
    other = next(f"x{j}" for j in range(5) if f"x{j}" not in panel)
    case = told.session()
    case.order([other])
    assert finished(case).differential is None
    assert finished(told.session(first=[other])).differential is None
    case = told.session()
    case.order()
    case.leave()
    case.order(panel[:1])  # less than the policy orders
    assert len(panel) > 1
    assert finished(case).differential is None


@pytest.mark.slow
def test_what_is_known_of_every_case_is_told_first() -> None:
    train, fresh = _gappy(400, 0), _gappy(300, 1)
    clf = SequentialClassifier(feature_costs=0.02, order="adaptive", known=[0], missing="informative").fit(*train)
    told = certify_differential(clf, *fresh, alpha=0.2)
    X = fresh[0][:40]
    record = told.acquire(X)
    for i, row in enumerate(X):
        case, late = told.session(known={"x0": row[0]}), told.session()
        for one in (case, late):
            while one.next_feature is not None:
                _answer(one, row)
        assert set(case.differential) == set(np.flatnonzero(record.differential[i]))
        assert late.differential is None  # nobody said whether it is missing
        late.observe("x0", 1.0)
        assert late.differential is None
