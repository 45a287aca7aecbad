"""Features missing at test time: against plain loops, data frames, sparse data, and what theory says."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.datasets import load_breast_cancer
from sklearn.preprocessing import KBinsDiscretizer

from seqclass import Costs, SequentialClassifier
from seqclass.analysis import missing_sweep
from seqclass.analysis.missing import MissingSweep
from seqclass.bn import NaiveBayes
from seqclass.metrics import realised_cost
from seqclass.pomdp import GridValueIteration

QUICK = GridValueIteration(200, certificate_paths=0)
MEASURES = ("accuracy", "n_features", "n_asked", "cost", "log_loss")


@pytest.fixture(scope="module")
def cancer() -> tuple[np.ndarray, np.ndarray]:
    return load_breast_cancer(return_X_y=True)


@pytest.fixture(scope="module")
def clf(cancer: Any) -> SequentialClassifier:
    return SequentialClassifier(solver=QUICK).fit(cancer[0][::2], cancer[1][::2])


def measured(clf: Any, X: Any, y: Any) -> list[float]:
    """The measures of one set of rows, through what anybody may call."""
    record = clf.acquire(X)
    number = [clf.classes_.tolist().index(label) for label in y]
    return [
        np.mean(record.decision == y),
        record.n_features.mean(),
        (record.order >= 0).sum(axis=1).mean(),
        realised_cost(
            y,
            record.decision,
            record.paid,
            decision_costs=clf.decision_costs_,
            classes=clf.classes_,
            decisions=clf.decisions_,
        ),
        -np.log(record.posterior[np.arange(len(y)), number]).mean(),
    ]


@pytest.mark.quick
def test_nothing_and_everything_missing(clf: Any, cancer: Any) -> None:
    X, y = cancer[0][1::2], cancer[1][1::2]
    sweep = missing_sweep(clf, X, y, shares=[0, 1], n_repeats=2)
    np.testing.assert_allclose([getattr(sweep, name)[0] for name in MEASURES], measured(clf, X, y))
    np.testing.assert_allclose(
        [getattr(sweep, name)[1] for name in MEASURES], measured(clf, np.full(X.shape, np.nan), y)
    )
    assert sweep.n_features[1] == 0
    assert 20 < sweep.n_asked[1] <= clf.policy_.n_stages
    for name in MEASURES:
        np.testing.assert_array_equal(getattr(sweep, f"{name}_error"), 0)


def test_means_and_errors_are_those_of_the_repeats(clf: Any, cancer: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """The cells that the sweep removes, removed from the raw data one sweep at a time."""
    X, y = cancer[0][1::2], cancer[1][1::2]
    drawn = np.random.default_rng(3).random((4, len(X), len(clf.order_)), dtype=np.float32)
    shares = [0.05, 0.4]
    values = np.empty((2, 4, len(MEASURES)))
    for i, share in enumerate(shares):
        for repeat in range(4):
            part = X.copy()
            hidden = part[:, clf.order_]
            hidden[drawn[repeat] < share] = np.nan
            part[:, clf.order_] = hidden
            values[i, repeat] = measured(clf, part, y)
    sweep = missing_sweep(clf, X, y, shares, n_repeats=4, random_state=np.random.default_rng(3))
    for k, name in enumerate(MEASURES):
        np.testing.assert_allclose(getattr(sweep, name), values[:, :, k].mean(axis=1))
        error = values[:, :, k].std(axis=1, ddof=1) / 2
        np.testing.assert_allclose(getattr(sweep, f"{name}_error"), error, atol=1e-12)


def test_more_missing_is_asked_more_and_worth_less(clf: Any, cancer: Any) -> None:
    sweep = missing_sweep(clf, cancer[0][1::2], cancer[1][1::2])
    np.testing.assert_array_equal(sweep.share, (0.0001, 0.001, 0.01, 0.05, 0.1, 0.2, 0.3, 0.5))
    assert (np.diff(sweep.n_asked) >= 0).all()
    assert sweep.accuracy[-1] < sweep.accuracy[0]
    assert sweep.cost[-1] > sweep.cost[0]
    assert sweep.accuracy[4] > 0.9  # a tenth missing: the paper's "robust for up to 10%"
    assert (sweep.n_asked >= sweep.n_features).all()


@pytest.mark.parametrize("form", [sp.csr_array, sp.csc_array])
def test_sparse_zeros_can_be_missing(form: Any) -> None:
    rng = np.random.default_rng(0)
    y = np.arange(300) % 2
    X = (rng.random((300, 8)) < 0.15 + 0.5 * y[:, None] * (np.arange(8) < 4)).astype(float)
    clf = SequentialClassifier(solver=QUICK).fit(sp.csr_array(X), y)
    dense = SequentialClassifier(solver=QUICK).fit(X, y)
    settings: dict[str, Any] = {"shares": [0, 0.5], "n_repeats": 3}
    sparse = missing_sweep(clf, form(X), y, **settings).to_frame().to_dict("list")
    assert sparse == missing_sweep(dense, X, y, **settings).to_frame().to_dict("list")
    assert sparse["n_features"][1] < sparse["n_asked"][1]


def test_outcomes_frames_and_other_discretisers(cancer: Any) -> None:
    X, y = cancer[0][:, :6], cancer[1]
    bins = KBinsDiscretizer(4, encode="ordinal", strategy="uniform")
    codes = bins.fit_transform(X).astype(int)
    expected = None
    for data, discretizer in ((X, bins), (codes, "precomputed")):
        sweep = missing_sweep(
            SequentialClassifier(discretizer=discretizer, solver=QUICK).fit(data, y), data, y, [0, 0.2]
        )
        expected = expected or sweep.to_frame().to_dict("list")
        assert sweep.to_frame().to_dict("list") == expected
    frame = pd.DataFrame({"kind": np.where(y == 1, "a", "b"), "size": X[:, 0]})
    frame.loc[::4, "kind"] = None
    clf = SequentialClassifier(solver=QUICK).fit(frame, np.array(["no", "yes"])[y])
    sweep = missing_sweep(clf, frame, np.array(["no", "yes"])[y], [0, 0.5])
    assert sweep.n_asked[0] > sweep.n_features[0]
    assert sweep.accuracy[1] < sweep.accuracy[0]


def test_missing_features_are_charged_where_they_are(cancer: Any) -> None:
    X, y = cancer
    any_order, charged = (
        missing_sweep(
            SequentialClassifier(feature_costs=Costs(charge_missing=c), solver=QUICK).fit(X, y), X, y, [0, 0.3]
        )
        for c in (False, True)
    )
    assert charged.cost[0] == any_order.cost[0]
    assert charged.cost[1] - any_order.cost[1] == pytest.approx(0.01 * (charged.n_asked[1] - charged.n_features[1]))


def test_policies_by_lot_and_further_decisions(cancer: Any) -> None:
    X, y = cancer[0][1::2], cancer[1][1::2]
    settings: dict[str, Any] = {"feature_costs": Costs(decision_costs=[[0, 1, 0.1], [1, 0, 0.1]], decisions=["refer"])}
    for more in (settings, {"target_cost": 0.013}):
        clf = SequentialClassifier(solver=QUICK, **more).fit(cancer[0][::2], cancer[1][::2])
        sweep = missing_sweep(clf, X, y, [0], n_repeats=1)
        np.testing.assert_allclose([getattr(sweep, name)[0] for name in MEASURES], measured(clf, X, y))
        assert np.isnan(sweep.accuracy_error).all()


def test_a_policy_that_asks_for_nothing(cancer: Any) -> None:
    X, y = cancer
    sweep = missing_sweep(SequentialClassifier(solver=QUICK, feature_costs=2.0).fit(X, y), X, y, [0.1])
    assert sweep.n_asked[0] == 0
    assert isinstance(sweep, MissingSweep)
    assert len(sweep) == 1


def test_a_class_ruled_out_counts_as_the_least_probability() -> None:
    X = np.arange(40)[:, None] % 2
    clf = SequentialClassifier(NaiveBayes(alpha=0), discretizer="precomputed", solver=QUICK).fit(X, X[:, 0])
    sweep = missing_sweep(clf, X[:2], [1, 1], shares=[0.0], n_repeats=1)
    assert sweep.log_loss[0] == pytest.approx(-np.log(2.0**-52) / 2)


def test_wrong_input_is_refused(clf: Any, cancer: Any) -> None:
    X, y = cancer
    for shares in (1.5, [-0.1], [], [2.0], [[0.1]]):
        with pytest.raises(ValueError, match="shares must be a list of probabilities"):
            missing_sweep(clf, X, y, shares)
    with pytest.raises(ValueError, match="n_repeats"):
        missing_sweep(clf, X, y, n_repeats=0)
    with pytest.raises(ValueError, match="one label for each of the 569 rows"):
        missing_sweep(clf, X, y[:5])
    with pytest.raises(ValueError, match="7, which is no class of the model"):
        missing_sweep(clf, X, np.full(len(y), 7))
