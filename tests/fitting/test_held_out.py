"""The held-out cost: against plain loops, on every kind of data, and what it says."""

from __future__ import annotations

import copy
import json
import zipfile
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from click.testing import CliRunner
from scipy.stats import t as student
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, load_iris
from sklearn.model_selection import StratifiedKFold

import seqclass
from seqclass import Costs, SequentialClassifier, etana, ifc2f
from seqclass.adaptive_classifier import EFFORTS
from seqclass.cli import main
from seqclass.costs import charge_acquired
from seqclass.discretize import Discretizer
from seqclass.fitting.held_out import HeldOut
from seqclass.metrics import realised_cost
from seqclass.pomdp import FirstK, GridValueIteration, evaluate
from seqclass.pomdp.solvers import base

REFER = Costs(0.01, decision_costs=[[0, 1, 0.2], [3, 0, 0.2]], decisions=["refer"])


@pytest.fixture(scope="module")
def cancer() -> tuple[Any, Any]:
    X, y = load_breast_cancer(return_X_y=True)
    return X[:150, :5], y[:150]


@pytest.fixture(scope="module")
def held(cancer: Any) -> HeldOut:
    return etana(0.01).fit(*cancer, held_out=4).held_out_


CASES: dict[str, Callable[[], SequentialClassifier]] = {
    "etana": lambda: etana(0.01),
    "ifc2f": lambda: ifc2f(0.02, n_bins=2),
    "further decision": lambda: etana(REFER),
    "mean budget": lambda: etana(0.01, target_cost=0.02, n_bins=2),
    "limits": lambda: etana(0.01, max_features=2),
    "any order": lambda: etana(0.02, order="adaptive", n_bins=2),
}


@pytest.mark.slow_cells("any order", "ifc2f")
@pytest.mark.parametrize("case", CASES)
def test_the_same_as_a_plain_loop(cancer: Any, case: str) -> None:
    """With certificates, which the folds of ours do without."""
    X, y = (cancer[0][:, :4], cancer[1]) if case == "any order" else cancer
    X, y = X[:120], y[:120]
    clf = CASES[case]().fit(X, y, held_out=2)
    found = clf.held_out_
    prices, counts, decisions = np.empty(len(y)), np.empty(len(y)), np.empty(len(y), dtype=object)
    for train, test in StratifiedKFold(2, shuffle=True, random_state=0).split(X, y):
        record = clone(clf).fit(X[train], y[train]).acquire(X[test])
        prices[test], counts[test], decisions[test] = record.paid, record.n_features, record.decision
    np.testing.assert_allclose(found.prices, prices)
    np.testing.assert_array_equal(found.counts, counts)
    np.testing.assert_array_equal(clf.decisions_[found.decisions], decisions)
    names = {"classes": clf.classes_, "decisions": clf.decisions_}
    cost = realised_cost(y, decisions, prices, decision_costs=clf.decision_costs_, **names)
    assert found.cost == pytest.approx(cost) == pytest.approx(found.price + found.decision_cost)
    assert found.error == np.mean([d not in (truth, "refer") for d, truth in zip(decisions, y)])
    assert (found.price, found.n_features) == pytest.approx((prices.mean(), counts.mean()))
    assert (found.n_folds, found.n_rows, found.expected_cost) == (2, len(y), clf.expected_cost_)


def test_folds_do_without_certificates(cancer: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    real, calls = base.certify, []
    monkeypatch.setattr(base, "certify", lambda *a, **k: calls.append(1) or real(*a, **k))
    etana(0.01).fit(*cancer, held_out=3)
    assert len(calls) == 1


def test_intervals(held: HeldOut) -> None:
    """Costs and errors: as many rows as a fit has learned from. Prices and features: the fits beside. Wilson's ends."""
    n, k = held.n_rows, held.n_folds
    p = held.error
    for mu in held.error_interval:
        z = student.ppf(0.975, n - 1) ** 2 / (n - 1) * k / (k - 1)
        assert (mu - p) ** 2 == pytest.approx(z * mu * (1 - mu))
    assert held.error_interval == held.decision_cost_interval
    for ends, values in ((held.cost_interval, held.costs), (held.n_features_interval, held.counts)):
        mean, rows, fits = values.mean(), values.var(ddof=1) * k / (k - 1) / n, 0.0
        if values is held.counts:
            fits = np.var([values[held.fold == fold].mean() for fold in range(k)], ddof=1) * (1 + 1 / k)
        for mu in ends:  # the means that are as many standard errors away, with a variance that grows as the mean
            assert (mu - mean) ** 2 == pytest.approx(student.ppf(0.975, n - 1) ** 2 * (rows + fits) * mu / mean)
    assert held.cost_interval[0] < held.cost < held.cost_interval[1]


@pytest.mark.slow
def test_intervals_hold_as_often_as_they_say() -> None:
    """Fits that differ in what they buy, half of it shared by all folds, and rows that are right or wrong by chance."""
    rng = np.random.default_rng(0)
    n, k = 200, 5
    fold = np.arange(n) % k
    holds, none = [], np.zeros(n, dtype=np.int8)
    for _ in range(300):
        shared, (whole, *by_fold) = rng.normal(0, 0.5), rng.normal(0, 0.5, k + 1)
        counts = np.rint(20 + shared + np.array(by_fold)[fold] + rng.normal(0, 1, n)).astype(int)
        wrong = rng.random(n) < 0.2
        held = HeldOut("made up", fold, counts / 100, wrong * 1.0, none, wrong, counts)
        true = {"price": (20 + shared + whole) / 100, "n_features": 20 + shared + whole, "error": 0.2}
        ends = {name: getattr(held, f"{name}_interval") for name in true}
        holds.append([ends[name][0] <= value <= ends[name][1] for name, value in true.items()])
    assert (np.mean(holds, axis=0) > 0.92).all(), np.mean(holds, axis=0)
    assert (np.mean(holds, axis=0) < 0.985).all(), np.mean(holds, axis=0)


def test_no_error_is_no_proof(held: HeldOut) -> None:
    none = replace(held, errors=np.zeros_like(held.errors), decision_costs=np.zeros(held.n_rows))
    n, k = held.n_rows, held.n_folds
    share = 1 - 0.025 ** (k / (k - 1) / n)
    assert none.error_interval == pytest.approx((0, share))
    assert share < none.cost_interval[1] - none.price < share + none.price
    dear = replace(none, max_decision_cost=5.0)
    assert dear.decision_cost_interval[1] == pytest.approx(5 * share)
    wrong = replace(held, errors=np.ones_like(held.errors))
    assert wrong.error_interval == pytest.approx((1 - share, 1))


@pytest.mark.slow
def test_paired_differences(cancer: Any, held: HeldOut) -> None:
    other = etana(0.01, n_bins=2).fit(*cancer, held_out=4).held_out_
    test = held.compare(other)
    apart, n = held.costs - other.costs, held.n_rows
    reach = student.ppf(0.975, n - 1) * np.sqrt(apart.var(ddof=1) / n * (1 + 4 / 3))
    assert test.difference == pytest.approx(held.cost - other.cost)
    assert test.interval == pytest.approx((apart.mean() - reach, apart.mean() + reach))
    assert held.compare(held).p_value == 1
    with pytest.raises(ValueError, match="the same folds"):
        held.compare(etana(0.01).fit(cancer[0][:, :1], cancer[1], held_out=3).held_out_)


@pytest.mark.slow
def test_deterministic(cancer: Any, held: HeldOut) -> None:
    again = etana(0.01).fit(*cancer, held_out=4).held_out_
    assert json.dumps(again.record()) == json.dumps(held.record())
    assert str(again) == str(held)
    other = etana(0.01, random_state=1).fit(cancer[0][:, :1], cancer[1], held_out=4).held_out_
    assert (other.fold != held.fold).any()


def test_generators_and_none_as_seeds(cancer: Any) -> None:
    X, y = cancer[0][:, :1], cancer[1]
    for seed in (None, np.random.default_rng(0), np.random.RandomState(0)):
        assert etana(0.01, n_bins=2, random_state=seed).fit(X, y, held_out=2).held_out_.n_folds == 2


@pytest.mark.slow_cells("adaptive")
@pytest.mark.parametrize(
    "fit",
    [etana, pytest.param(lambda price: etana(price, calibrate=True), marks=pytest.mark.slow), seqclass.adaptive],
)
def test_a_series_of_labels_is_read_by_row(
    cancer: Any, fit: Any, loose_mixtures: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As `train_test_split` leaves it: by its index the rows are others, or none."""
    monkeypatch.setitem(EFFORTS, "quick", replace(EFFORTS["quick"], strategies=()))
    X, y = cancer[0][::3, :1], cancer[1][::3]
    expected = fit(0.01).fit(X, y, held_out=2).held_out_
    rows = np.random.default_rng(0).permutation(len(y))
    found = fit(0.01).fit(pd.DataFrame(X, index=rows), pd.Series(y, index=rows), held_out=2).held_out_
    np.testing.assert_array_equal(found.costs, expected.costs)
    assert found.linear.cost == expected.linear.cost


def test_deciding_at_once(cancer: Any) -> None:
    X, y = cancer
    clf = etana(REFER).fit(X, y, held_out=3)
    expected = np.empty(len(y))
    for train, test in StratifiedKFold(3, shuffle=True, random_state=0).split(X, y):
        prior = np.bincount(y[train]) / len(train)
        expected[test] = clf.decision_costs_[y[test], np.argmin(prior @ clf.decision_costs_)]
    at_once = clf.held_out_.deciding_at_once
    assert at_once is not None
    np.testing.assert_array_equal(at_once.costs, expected)
    assert (at_once.price, at_once.n_features, at_once.error) == (0, 0, 0)  # all are referred


@pytest.mark.slow
def test_who_is_referred_is_said(cancer: Any, tmp_path: Path) -> None:
    X, y = cancer
    clf = etana(REFER).fit(X, y, held_out=3)
    clf.save(tmp_path / "m.seq")
    held = seqclass.load(tmp_path / "m.seq").held_out_
    n = (held.decisions == 2).sum()
    assert 0 < n < len(y)
    assert held.referred == held.record()["referred"] == pytest.approx(n / len(y))
    share = held.errors.sum() / (len(y) - n)
    says = (
        f"{held.referred:.1%} of rows are decided for no class (referred), which is no error; of the others {share:.1%}"
    )
    assert held.advice.startswith(says)
    assert f", referred {held.referred:.3g}, features" in str(held)
    told = CliRunner().invoke(main, ["show", str(tmp_path / "m.seq")]).output
    assert says in " ".join(told.split())
    lines = {line.partition("  ")[2].split("  ")[0]: line for line in told.splitlines() if line.startswith("  ")}
    assert f"{held.referred:.4f}" in lines["this classifier"]
    assert "1.0000" in lines["deciding at once"]  # which refers all
    plain = etana(0.01).fit(X, y, held_out=3).held_out_
    assert plain.referred == 0
    assert "referred" not in str(plain)


@pytest.mark.slow
@pytest.mark.usefixtures("whole_lines")
def test_the_linear_yardstick_finds_lines() -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 6))
    y = np.where(X[:, 0] + X[:, 1] > 0, "up", "down")
    held = etana(0.01).fit(X, y, held_out=3).held_out_
    assert held.linear is not None
    assert held.linear.n_features < 3
    assert held.linear.error < 0.15
    assert held.linear.price == pytest.approx(0.01 * held.linear.n_features)
    np.testing.assert_array_equal(held.linear.errors, held.linear.decision_costs == 1)


def beside(X: Any, y: Any, price: Any = 0.01, n_folds: int = 5, **settings: Any) -> HeldOut:
    """The linear yardstick of a classifier that does nothing else."""
    nothing = {"order": "given", "solver": FirstK(0, certificate_paths=0)} | settings
    line = SequentialClassifier(feature_costs=price, **nothing).fit(X, y, held_out=n_folds).held_out_.linear
    assert line is not None
    return line


@pytest.mark.slow
@pytest.mark.usefixtures("whole_lines")
def test_the_linear_yardstick_is_as_good_as_tuned_forward_selection() -> None:
    assert beside(*load_breast_cancer(return_X_y=True)).cost < 0.08  # that has .0754 on these folds


@pytest.mark.slow
@pytest.mark.usefixtures("whole_lines")
def test_the_linear_yardstick_is_not_shrunken() -> None:
    rng = np.random.default_rng(3)
    y = rng.integers(0, 2, 2000)
    line = beside(rng.normal(size=(2000, 6)) + y[:, None] * [1, 0.9, 0.8, 0.1, 0.1, 0.1], y, n_folds=2)
    assert line.cost < 0.27
    assert set(line.counts) <= {2, 3}


@pytest.mark.slow
@pytest.mark.usefixtures("whole_lines")
def test_the_linear_yardstick_weighs_prices() -> None:
    """What tells most costs more than it saves; three cheap ones pay, though each alone changes no decision."""
    rng = np.random.default_rng(0)
    y = (rng.random(600) < 0.3).astype(int)
    X = rng.normal(size=(600, 4)) + y[:, None] * [2.5, 0.8, 0.8, 0.8]
    line = beside(X, y, Costs([300, 1, 1, 1], decision_costs=[[0, 500], [900, 0]]), n_folds=3)
    assert line.cost < 230
    assert line.price <= 3


@pytest.mark.slow
@pytest.mark.usefixtures("whole_lines")
def test_the_linear_yardstick_counts_what_is_cheaper_together() -> None:
    """Alone each of a group pays less than it costs."""
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 600)
    X = rng.normal(size=(600, 5)) + y[:, None] * [1, 1, 1, 1, 0]
    line = beside(X, y, Costs(0.15, groups=["g"] * 4 + [None], discounted_costs=0.001), n_folds=3)
    np.testing.assert_allclose(line.prices, 0.153)
    assert line.cost < 0.35


@pytest.mark.usefixtures("whole_lines")
def test_the_linear_yardstick_sees_numbers_and_several_classes_at_once() -> None:
    """A class between two others, within bins that do not tell them apart."""
    rng = np.random.default_rng(0)
    y = np.arange(300) % 3
    line = beside((y - 1 + rng.normal(0, 0.2, 300))[:, None], y, n_folds=3, discretizer=Discretizer(2))
    assert line.error < 0.1


@pytest.mark.parametrize("unit", [1e200, 1e-200])
@pytest.mark.usefixtures("whole_lines")
def test_the_linear_yardstick_in_any_unit(unit: float) -> None:
    rng = np.random.default_rng(0)
    y = np.arange(60) % 2
    X = rng.normal(size=(60, 2)) + 3 * y[:, None]
    assert beside(X * unit, y, n_folds=2).cost == beside(X, y, n_folds=2).cost < 0.2


@pytest.mark.slow
@pytest.mark.usefixtures("whole_lines")
def test_the_linear_yardstick_of_several_classes() -> None:
    X, y = load_iris(return_X_y=True)
    held = etana(0.01).fit(X, y, held_out=3).held_out_
    assert held.linear is not None
    assert held.linear.error < 0.2
    assert (held.linear.counts <= 4).all()


@pytest.mark.slow_cells("limit2")
@pytest.mark.parametrize("limit", [{"max_features": 1}, {"max_cost": 0.025}, {"target_cost": 0.02}])
@pytest.mark.usefixtures("whole_lines")
def test_the_linear_yardstick_keeps_to_the_limits(cancer: Any, limit: dict[str, Any]) -> None:
    held = etana(0.01, n_bins=3, **limit).fit(*cancer, held_out=2).held_out_
    assert held.linear is not None
    assert held.linear.price <= 0.026
    assert held.linear.counts.max() <= limit.get("max_features", 2)


def test_what_is_charged() -> None:
    """Against a loop: one of a group pays in full, a bundle counts and pays once."""
    rng = np.random.default_rng(0)
    groups, bundles = ["g", "g", "g", None, "h", "h", "h"], [None, "b", "b", None, "c", "c", None]
    full, less = np.array([4, 3, 3, 2, 5, 5, 6.0]), np.array([1, 2.5, 2.5, 2, 4, 4, 3])
    prices = Costs(full, groups=groups, discounted_costs=less, bundles=bundles).prices(7)
    acquired = rng.random((40, 7)) < 0.5
    counts, costs = charge_acquired(sp.csr_array(acquired.astype(float)), prices)
    for row, count, cost in zip(acquired, counts, costs):
        asked = {bundles[j] or j: j for j in np.flatnonzero(row)}.values()
        paid = 0.0
        for group in {groups[j] for j in asked}:
            mine = [j for j in asked if groups[j] == group]
            extra = min(full[j] - less[j] for j in mine) if group else sum(full[j] - less[j] for j in mine)
            paid += sum(less[j] for j in mine) + extra
        assert (count, cost) == (len(asked), pytest.approx(paid))


def test_an_over_confident_model_is_told(cancer: Any) -> None:
    """The same noisy measurement twelve times, which naive Bayes takes for twelve."""
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 200)
    X = np.repeat((y + rng.normal(0, 1.2, 200))[:, None], 12, axis=1) + rng.normal(0, 1e-3, (200, 12))
    clf = etana(0.001, order="given").fit(X, y, held_out=3)
    held = clf.held_out_
    assert clf.expected_cost_ < held.cost_interval[0]
    for told in (held.advice, str(held), held.record()["advice"]):
        assert f"The model expects a cost of {clf.expected_cost_:.3g} and had {held.cost:.3g}" in told
        assert "too sure of itself" in told
        assert "ifc2f" in told
        assert "temperature" not in told
    assert "adaptive" not in held.advice


def test_a_model_that_is_right_is_left_alone() -> None:
    rng = np.random.default_rng(1)
    y = rng.integers(0, 2, 300)
    X = (rng.random((300, 3)) < np.where(y, 0.8, 0.2)[:, None]).astype(float)
    held = etana(0.05).fit(X, y, held_out=5).held_out_
    assert held.advice == ""
    assert "sure" in replace(held, expected_cost=9.0).advice


@pytest.mark.slow
def test_labels_by_chance_are_warned_of() -> None:
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(80, 12)), rng.permutation(np.arange(80) % 2)
    with pytest.warns(UserWarning, match="does not pay") as caught:
        held = etana(0.01).fit(X, y, held_out=4).held_out_
    assert held.deciding_at_once is not None
    for number in (held.cost, held.deciding_at_once.cost):
        assert f"{number:.3g}" in str(caught[0].message)
        assert f"{number:.3g}" in held.advice
    with pytest.warns(UserWarning, match="does not pay") as of_chunks:
        etana(0.01).fit_chunks([(X, y)], held_out=4)
    for warned in (caught[0], of_chunks[0]):
        assert warned.filename == __file__
        assert warned.category.__name__ == "HeldOutWarning"  # by which the command line leaves it to its report


def table(n: int = 90) -> tuple[pd.DataFrame, Any]:
    rng = np.random.default_rng(0)
    y = np.array(["a", "b", "c"])[np.arange(n) % 3]
    frame = pd.DataFrame(
        {
            "colour": np.where(rng.random(n) < 0.8, y, "a"),
            "size": rng.normal(np.arange(n) % 3, 1),
            "rest": rng.normal(size=n),
        }
    )
    frame.loc[7, "colour"] = "only here"
    return frame.mask(rng.random(frame.shape) < 0.1), y


@pytest.mark.slow
def test_frames_with_categories_and_missing_cells() -> None:
    X, y = table()
    X.loc[7, "colour"] = "only here"
    clf = etana({"colour": 0.05, "size": 0.02, "rest": 0.01}).fit(X, y, held_out=3)
    assert clf.held_out_.n_rows == 90
    assert clf.handle_unknown == "error"
    line = clf.held_out_.linear
    assert line is not None
    assert line.error < 0.6
    free = etana(Costs(0.02, charge_missing=True)).fit(X, y, held_out=2).held_out_.linear
    assert free is not None
    assert len(np.unique(free.prices[free.fold == 0])) == 1  # all rows of a fold pay for the same
    text = etana(0.02).fit(X.assign(size="same"), y, held_out=2)
    assert text.held_out_.n_folds == 2


@pytest.mark.slow
@pytest.mark.usefixtures("whole_lines")
def test_groups_and_bundles() -> None:
    X, y = table()
    costs = Costs(0.02, groups={"colour": "g", "size": "g"}, discounted_costs=0.001)
    grouped = etana(costs).fit(X, y, held_out=2).held_out_
    bundled = etana(Costs(0.02, bundles={"size": "b", "rest": "b"})).fit(X, y, held_out=2).held_out_
    for held, most in ((grouped, 3), (bundled, 2)):
        assert held.counts.max() <= most
        assert held.linear is not None
        assert held.linear.counts.max() <= most
    assert grouped.linear is not None
    assert set(np.round(grouped.linear.prices, 6)) <= {0.0, 0.02, 0.021, 0.04, 0.041}


@pytest.mark.slow
def test_sparse_rows_stay_sparse() -> None:
    rng = np.random.default_rng(0)
    y = np.arange(60) % 2
    dense = (rng.random((60, 12)) < 0.1 + 0.4 * y[:, None] * (np.arange(12) < 4)).astype(float)
    for form in (sp.csr_array, sp.csc_matrix, sp.coo_array):
        held = etana(0.01).fit(form(dense), y, held_out=2).held_out_
        assert held.n_rows == 60
    assert held.linear is not None
    assert held.linear.counts.max() < 12
    told = sp.csr_array((np.ones(30), (np.flatnonzero(y), np.full(30, 5))), shape=(60, 1_000))
    wide = sp.csr_array(sp.random_array((60, 1_000), density=1e-3, rng=rng) + told)
    big = etana(0.01, FirstK(0, certificate_paths=0), order="given").fit(wide, y, held_out=2).held_out_
    assert big.linear is not None
    assert big.linear.error == 0


@pytest.mark.slow
@pytest.mark.usefixtures("whole_lines")
def test_of_many_sparse_columns_the_rare_one_that_tells_is_kept() -> None:
    """Frequent ones differ less between the classes, though their sums within each are larger; 300 are looked at."""
    rng = np.random.default_rng(0)
    y = (np.arange(100) % 5 == 0).astype(int)
    X = sp.csr_array(np.column_stack([rng.random((100, 2000)) < 0.5, y]).astype(float))
    clf = etana(0.01, order="given", solver=FirstK(0, certificate_paths=0), discretizer="precomputed")
    held = clf.fit(X, y, held_out=2).held_out_
    assert held.linear is not None
    assert held.linear.error == 0


@pytest.mark.slow
def test_outcomes_that_a_training_part_lacks() -> None:
    X = np.array([[0, 1], [1, 0], [0, 0], [1, 1]] * 10)
    X[3] = [5, -1]
    y = X[:, 0] > 0
    for data in (X, sp.csr_array(X)):
        held = SequentialClassifier(discretizer="precomputed").fit(data, y, held_out=4).held_out_
        assert held.n_rows == 40
        assert held.error <= 0.05


@pytest.mark.filterwarnings("ignore:y. class 3 has a single row")
def test_small_classes(cancer: Any) -> None:
    X = np.random.default_rng(0).normal(size=(33, 2))
    y = np.array([0] * 15 + [1] * 15 + [2, 2, 3])
    held = etana(0.3).fit(X, y, held_out=5).held_out_
    assert held.fold[-1] == -1
    assert sorted(np.bincount(held.fold[:-1])) == [6, 6, 6, 7, 7]
    assert held.fold[30] != held.fold[31]
    assert (held.n_rows, held.n_folds, len(held.fold)) == (32, 5, 33)
    few = etana(0.3).fit(X[[0, 1, 15, 16, 17]], y[[0, 1, 15, 16, 17]], held_out=9).held_out_
    assert few.n_folds == 3
    for calibrate, n_folds in ((False, 2), (True, 0)):
        with pytest.raises(
            ValueError, match=r"y has one row of each class, and to hold rows out \(for held_out, calibrate"
        ):
            etana(calibrate=calibrate).fit(X[[0, 15]], y[[0, 15]], held_out=n_folds)


@pytest.mark.parametrize("wrong", [1, -3, 2.5, "5", True, None])
def test_wrong_numbers_of_folds(cancer: Any, wrong: Any) -> None:
    with pytest.raises((TypeError, ValueError), match="held_out must be"):
        etana().fit(*cancer, held_out=wrong)


def test_a_fit_that_fails_without_a_fold() -> None:
    X, y = np.arange(12.0)[:, None] % 2, np.arange(12) % 2
    calls: list[int] = []

    class Once(GridValueIteration):
        def solve(self, problem: Any) -> Any:
            calls.append(1)
            if len(calls) > 2:
                raise ValueError("no more.")
            return super().solve(problem)

    clf = etana(0.01, solver=Once())
    with pytest.raises(ValueError, match=r"without fold 2 of 3 failed.*: no more.* Or give fewer folds, or held_out=0"):
        clf.fit(X, y, held_out=3)
    assert not hasattr(clf, "held_out_")


def test_gone_where_it_is_not_true(cancer: Any) -> None:
    X, y = cancer
    clf = etana(0.01, n_bins=2).fit(X, y, held_out=2)
    assert "held_out" in clf.timings_
    rare = clf.with_prior([0.9, 0.1])
    assert not hasattr(rare, "held_out_")
    assert "held_out" not in rare.timings_
    assert hasattr(clf, "held_out_")
    assert not hasattr(clf.fit(X, y), "held_out_")
    assert not hasattr(etana(0.01).fit(X, y, held_out=0), "held_out_")


def test_the_expected_cost(cancer: Any) -> None:
    clf = etana(0.01)
    assert not hasattr(clf, "expected_cost_")
    assert clf.fit(*cancer).expected_cost_ == clf.policy_.info.upper
    bare = etana(0.01, GridValueIteration(certificate_paths=0)).fit(*cancer)
    assert bare.expected_cost_ == evaluate(bare.problem_, bare.policy_).cost


def test_saved_and_read(cancer: Any, tmp_path: Path) -> None:
    clf = etana(REFER, n_bins=2).fit(*cancer, held_out=3)
    clf.save(tmp_path / "model.seq")
    again = seqclass.load(tmp_path / "model.seq")
    assert again.held_out_.record() == clf.held_out_.record()
    assert again.held_out_.compare(clf.held_out_).difference == 0
    assert again.expected_cost_ == clf.expected_cost_
    clf.fit(*cancer).save(tmp_path / "plain.seq")
    assert not hasattr(seqclass.load(tmp_path / "plain.seq"), "held_out_")
    with zipfile.ZipFile(tmp_path / "plain.seq") as archive:
        assert b"HeldOut" not in archive.read("manifest.json")


@pytest.mark.slow
@pytest.mark.parametrize(("how", "notes"), [({}, ["x"]), ({}, ["x", "y"]), ({"half_life": 30.0}, ["x", "1"])])
def test_texts_that_only_one_fold_has(how: dict[str, Any], notes: list[str], tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 120)
    frame = pd.DataFrame({"a": rng.normal(size=120) + 2 * y, "note": None})
    frame.loc[119 - np.arange(len(notes)), "note"] = notes
    calibrated = SequentialClassifier(feature_costs=0.02, calibrate=True, **how).fit(frame, y)
    clf = SequentialClassifier(feature_costs=0.02, **how).fit(frame, y, held_out=3)
    assert calibrated.calibration_.n_rows[0] == clf.held_out_.n_rows == (90 if "half_life" in how else 120)
    without = SequentialClassifier(feature_costs=0.02, **how).fit(frame[["a"]], y, held_out=3)
    assert clf.held_out_.cost == pytest.approx(without.held_out_.cost, abs=0.01)
    clf.save(tmp_path / "clf.seq")
    np.testing.assert_array_equal(seqclass.load(tmp_path / "clf.seq").held_out_.costs, clf.held_out_.costs)


WRONG_PARTS: dict[str, Callable[[HeldOut], dict[str, Any]]] = {
    "rows": lambda held: {"prices": held.prices[1:]},
    "a price": lambda held: {"prices": -held.prices - 1},
    "folds": lambda held: {"fold": held.fold * 2},
    "one fold": lambda held: {"fold": held.fold * 0},
    "errors": lambda held: {"errors": held.errors.astype(float)},
    "the dearest": lambda held: {"max_decision_cost": 0.1},
    "a text": lambda held: {"remedies": (1,)},
    "a number": lambda held: {"expected_cost": "0.1"},
    "a yardstick": lambda held: {"linear": "line"},
}


@pytest.fixture(scope="module")
def plain(cancer: Any) -> SequentialClassifier:
    return etana(0.01, n_bins=2).fit(*cancer)


@pytest.mark.parametrize("part", WRONG_PARTS)
def test_files_that_were_meddled_with(plain: Any, held: HeldOut, tmp_path: Path, part: str) -> None:
    clf = copy.copy(plain)
    clf.held_out_ = replace(held, **WRONG_PARTS[part](held))
    clf.save(tmp_path / "model.seq")
    with pytest.raises(ValueError, match=r"model\.seq"):
        seqclass.load(tmp_path / "model.seq")


def test_the_linear_yardstick_tells_the_twenty_most_frequent_categories_apart() -> None:
    """Of forty, half of which are rarer: these alone it cannot tell apart."""
    level = np.r_[np.repeat(np.arange(20), 24), np.repeat(np.arange(20, 40), 8)]
    line = beside(pd.DataFrame({"a": pd.Series([f"level {k:02}" for k in level])}), level % 2, n_folds=2)
    assert not line.errors[level < 20].any()
    assert line.errors[level >= 20].mean() == pytest.approx(0.5, abs=0.1)
