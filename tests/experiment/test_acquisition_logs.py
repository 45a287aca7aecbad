"""The splits and logs of the acquisition literature."""

from __future__ import annotations

import ast
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_breast_cancer, load_wine

import seqclass
from seqclass import Costs, SequentialClassifier
from seqclass.datasets import Dataset, load
from seqclass.experiment import Experiment, ShuffledSplit, afabench_log
from seqclass.experiment.acquisition_logs import AFABENCH_COLUMNS
from seqclass.pomdp import Lookahead

X, Y = load_wine(return_X_y=True)


def test_the_split_is_that_of_gdfs() -> None:
    data = load("wine")
    shuffled = np.random.default_rng(0).permutation(178)
    train, test = ShuffledSplit().split(data, 0, 0)
    _, valid = ShuffledSplit(score="valid").split(data, 0, 0)
    assert test.tolist() == shuffled[:35].tolist()
    assert valid.tolist() == shuffled[35:70].tolist()
    assert train.tolist() == shuffled[70:].tolist()
    assert ShuffledSplit().split(data, 0, 1)[1].tolist() != test.tolist()


@pytest.mark.parametrize("settings", [{"test_size": 0.0}, {"valid_size": 0.9}, {"score": "train"}, {"test_size": -1}])
def test_splits_that_are_refused(settings: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=r"size|score"):
        ShuffledSplit(**settings)


@pytest.mark.slow
def test_nothing_is_learnt_from_rows_that_are_scored(tmp_path: Path) -> None:
    """Preprocessing is fitted to training rows: other rows with extreme values change nothing."""
    data = load("wine")
    train, test = ShuffledSplit().split(data, 0, 0)
    other = X.copy()
    other[~np.isin(np.arange(len(X)), np.concatenate([train, test]))] = 1e6
    tables = []
    for name, values in (("a", X), ("b", other)):
        made = Dataset(name, values, Y, ("0", "1", "2"))
        run = Experiment([made], ["ifc2f"], cv=ShuffledSplit()).run(tmp_path / f"{name}.db")
        tables.append(run.to_frame()[["accuracy", "n_features_mean", "expected_cost", "lower"]].to_numpy())
    np.testing.assert_array_equal(*tables)


def replayed(log: pd.DataFrame) -> list[tuple[int, list[int]]]:
    return [(int(i), rows["action_performed"].tolist()) for i, rows in log.groupby("idx")]


@pytest.mark.parametrize("settings", [{}, {"max_features": 2}, {"max_cost": 0.05}])
def test_the_log_is_what_was_acquired(settings: dict[str, Any]) -> None:
    prices = np.linspace(0.005, 0.03, X.shape[1])
    clf = seqclass.etana(prices, **settings).fit(X[::2], Y[::2])
    record = clf.acquire(X[1::2])
    log = afabench_log(clf, X[1::2], Y[1::2], seed=7)
    assert log.columns.tolist() == list(AFABENCH_COLUMNS)
    for i, actions in replayed(log):
        assert actions == [*(record.order[i][record.outcome[i] >= 0] + 1).tolist(), 0]
    for _, rows in log.groupby("idx"):
        taken = (rows["action_performed"] - 1).tolist()
        assert rows["prev_selections_performed"].tolist() == [taken[:k] for k in range(len(taken))]
        assert rows["accumulated_cost"].is_monotonic_increasing
        assert not rows["forced_stop"].iloc[:-1].any()
    final = log.groupby("idx").tail(1)
    np.testing.assert_array_equal(final["builtin_predicted_class"], record.decision)
    np.testing.assert_array_equal(final["true_class"], Y[1::2])
    by_count = "max_features" in settings
    np.testing.assert_allclose(final["accumulated_cost"], record.n_features if by_count else record.paid)
    assert (log["eval_seed"] == 7).all()
    assert log["external_predicted_class"].isna().all()
    limit = next(iter(settings.values()), np.nan)
    np.testing.assert_array_equal(log["eval_hard_budget"], np.full(len(log), limit))
    full = record.n_features == clf.problem_.n_stages
    np.testing.assert_array_equal(final["forced_stop"], full if settings else np.zeros_like(full))


@pytest.mark.slow_cells("settings0", "settings2")
@pytest.mark.parametrize("settings", [{}, {"budget": 3, "hard": True}, {"known": [0]}])
def test_the_compact_log_tells_the_same(settings: dict[str, Any]) -> None:
    clf = seqclass.etana(0.01).fit(X[::2], Y[::2])
    log = afabench_log(clf, X[1::2], Y[1::2], **settings)
    compact = afabench_log(clf, X[1::2], Y[1::2], compact=True, **settings)
    predicted = ["builtin_predicted_class", "external_predicted_class"]
    front = ["episode_id", "step", "action_performed", *predicted, "true_class", "accumulated_cost", "forced_stop"]
    assert compact.columns.tolist() == [*front, "generation_index", "split_index", "eval_seed", "eval_hard_budget"]
    shared = [name for name in AFABENCH_COLUMNS if name in compact]
    pd.testing.assert_frame_equal(compact[shared], log[shared])
    for name in ("episode_id", "generation_index", "split_index"):
        assert compact[name].tolist() == log["idx"].tolist()
    for i, episode in compact.groupby("episode_id"):
        assert episode["step"].tolist() == list(range(len(episode)))
        assert np.flatnonzero(episode["action_performed"] == 0).tolist() == [len(episode) - 1]
        before = [(episode["action_performed"].iloc[:k] - 1).tolist() for k in range(len(episode))]
        assert before == log.loc[log["idx"] == i, "prev_selections_performed"].tolist()


def test_in_any_order_the_budget_ends_what_nothing_left_can_be_paid_for() -> None:
    rng, y = np.random.default_rng(0), np.arange(60) % 2
    outcomes = np.stack([np.where(rng.random(60) < p, y, 1 - y) for p in (0.85, 0.8)], axis=1)
    prices = {"feature_costs": [0.01, 0.03], "max_cost": 0.03}  # what is left pays for the first column once more
    solver = Lookahead(certificate_paths=0)
    clf = SequentialClassifier(solver=solver, order="adaptive", discretizer="precomputed", **prices).fit(outcomes, y)
    log = afabench_log(clf, outcomes, y)
    assert log.groupby("idx")["action_performed"].apply(list).map(lambda actions: actions == [1, 0]).all()
    assert (log["forced_stop"] == (log["action_performed"] == 0)).all()


def test_prices_of_groups() -> None:
    groups = [0, 0, 0, *range(1, 11)]
    clf = seqclass.etana(Costs(0.02, groups=groups, discounted_costs=0.001)).fit(X[::2], Y[::2])
    log = afabench_log(clf, X[1::2], Y[1::2])
    np.testing.assert_allclose(log.groupby("idx").tail(1)["accumulated_cost"], clf.acquire(X[1::2]).paid)


def test_missing_features_have_no_row() -> None:
    clf = seqclass.etana(0.01).fit(X[::2], Y[::2])
    holes = X[1::2].copy()
    holes[:, clf.order_[0]] = np.nan
    log = afabench_log(clf, holes, Y[1::2])
    assert not (log["action_performed"] == clf.order_[0] + 1).any()
    np.testing.assert_allclose(log.groupby("idx").tail(1)["accumulated_cost"], clf.acquire(holes).paid)
    paid = seqclass.etana(Costs(0.01, charge_missing=True)).fit(X[::2], Y[::2])
    with pytest.raises(ValueError, match="charge_missing"):
        afabench_log(paid, holes, Y[1::2])


def test_labels_of_any_kind_and_csv(tmp_path: Path) -> None:
    X, y = load_breast_cancer(return_X_y=True)
    names = np.where(y == 1, "benign", "malignant")
    clf = seqclass.ifc2f(0.01, max_features=3).fit(X[::2], names[::2])
    log = afabench_log(clf, X[1:40:2], names[1:40:2])
    log.to_csv(tmp_path / "eval_data.csv", index=False)
    read = pd.read_csv(tmp_path / "eval_data.csv", converters={"prev_selections_performed": ast.literal_eval})
    assert read["prev_selections_performed"].tolist() == log["prev_selections_performed"].tolist()
    assert read["true_class"].tolist() == (names[1:40:2] == "malignant").astype(int)[log["idx"]].tolist()
    with pytest.raises(ValueError, match="'other', which is no class"):
        afabench_log(clf, X[:1], ["other"])


def test_refusals() -> None:
    clf = seqclass.etana(0.001).fit(X[::2], Y[::2])
    with pytest.raises(ValueError, match=r"budget .* is less than"):
        afabench_log(clf, X, Y, budget=0.001)
    with pytest.raises(ValueError, match="y has 3 labels"):
        afabench_log(clf, X, Y[:3])


def test_labels_of_another_kind_are_named() -> None:
    clf = seqclass.etana().fit(X, np.array(["a", "b", "c"])[Y])
    for strange in (Y, [None] * len(Y)):
        with pytest.raises(ValueError, match="y holds"):
            afabench_log(clf, X, strange)
