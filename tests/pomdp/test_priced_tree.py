"""A decision tree as a policy: what it asks is what a plain walk over its nodes asks, and prices and costs decide."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import seqclass
from seqclass import Costs, SequentialClassifier
from seqclass.bn import ClassMixture, NaiveBayes
from seqclass.export import policy_data
from seqclass.pomdp import PricedTree, TableProblem


def fit(X: Any, y: Any, prices: Any = 0.01, model: Any = None, solver: Any = None, **more: Any) -> SequentialClassifier:
    settings = {"order": "adaptive", "discretizer": "precomputed", "feature_costs": prices} | more
    solver = PricedTree(certificate_paths=0) if solver is None else solver
    return SequentialClassifier(NaiveBayes() if model is None else model, solver, **settings).fit(X, y)


def parity(n: int = 200) -> tuple[np.ndarray, np.ndarray]:
    """The class is whether the first two of four differ; the first tells a little by itself, the last nothing."""
    rng = np.random.default_rng(0)
    X = rng.integers(2, size=(n, 4))
    X[:, 0] |= rng.random(n) < 0.2
    y = X[:, 0] ^ X[:, 1]
    X[:, 2] = np.where(rng.random(n) < 0.9, y, 1 - y)
    return X, y


def test_of_questions_that_tell_the_same_it_asks_the_cheaper() -> None:
    y = np.arange(60) % 3
    X = np.column_stack([y, y, np.zeros(60, dtype=int)])
    for prices, asked in (([0.2, 0.1, 0.01], 1), ([0.1, 0.2, 0.01], 0)):
        record = fit(X, y, prices).acquire(X)
        assert record.n_features.tolist() == [1] * 60
        assert (record.order[:, 0] == asked).all()
    assert fit(X, y, 0.9).acquire(X).n_features.max() == 0


def test_a_discount_is_looked_at() -> None:
    X, y = parity()
    apart = fit(X[:, :2], y, Costs([0.02, 0.45]), ClassMixture(2)).acquire(X[:, :2])
    together = Costs([0.02, 0.45], groups=["visit", "visit"], discounted_costs=[0.02, 0.02])
    assert apart.n_features.max() < 2
    assert fit(X[:, :2], y, together, ClassMixture(2)).acquire(X[:, :2]).n_features.mean() == 2


def test_it_asks_what_a_walk_over_its_nodes_asks() -> None:
    X, y = parity()
    clf = fit(X, y, 0.001, ClassMixture(2))
    tree: Any = clf.policy_
    X[::3, 1] = X[::4, 0] = -1
    record, asked = clf.acquire(X), np.zeros(X.shape, dtype=bool)
    for row, outcomes in enumerate(X):
        node = 0
        while (question := tree.asks[node]) >= 0:
            asked[row, question] = True
            node = tree.leads_to[node, outcomes[question]]  # of a missing answer the last
    for row, order in enumerate(record.order):
        assert {*order[order >= 0].tolist()} <= {*np.flatnonzero(asked[row]).tolist()}
    np.testing.assert_array_equal(record.n_features, (asked & (X >= 0)).sum(axis=1))
    assert asked.any(axis=1).all()
    assert record.paid == pytest.approx(0.001 * record.n_features)


@pytest.mark.slow
def test_branches_go_that_held_out_rows_do_not_bear_out() -> None:
    asked = []
    for seed in range(8):
        rng = np.random.default_rng(seed)
        X, y = rng.integers(8, size=(120, 6)), rng.integers(2, size=120)
        asked.append(fit(X, y, 1e-4).acquire(X).n_features.max() > 0)
    assert sum(asked) <= 3  # a standard error lets some through; without pruning all ask


def test_a_session_a_file_an_export_and_an_explanation_know_it(tmp_path: Path) -> None:
    X, y = parity()
    clf = fit(X, y, 0.001, ClassMixture(2))
    record = clf.acquire(X[:8])
    for row in range(8):
        session = clf.session()
        while (feature := session.next_feature) is not None:
            session.observe(feature.name, int(X[row, feature.column]))
        assert session.n_features == record.n_features[row]
        assert session.decision == record.decision[row]
    clf.save(tmp_path / "tree.seq")
    np.testing.assert_array_equal(seqclass.load(tmp_path / "tree.seq").acquire(X).order, clf.acquire(X).order)
    data = policy_data(clf)
    assert data["kind"] == "graph"
    assert data["nodes"][0]["ask"] == clf.policy_.action(clf.belief())[0]
    assert str(clf.explain(X[0]))


def test_calibrated_and_limited() -> None:
    X, y = parity(90)
    assert fit(X, y, 0.01, calibrate=True).calibration_.exponents.size
    assert fit(X, y, max_features=1).acquire(X).n_features.max() == 1


def test_what_it_cannot_do_is_said() -> None:
    X, y = parity(60)
    problem = TableProblem([0.5, 0.5], np.array([[[0.9, 0.2], [0.1, 0.8]]]), prices=0.1, any_order=True)
    with pytest.raises(ValueError, match="grows on rows"):
        PricedTree().solve(problem)
    for more in ({"order": "conditional"}, {"feature_costs": Costs(0.01, bundles=["a", "a", None, None])}):
        with pytest.raises(ValueError, match="PricedTree asks any question next"):
            fit(X, y, **({"model": ClassMixture(2)} | more))
    with pytest.raises(ValueError, match="max_depth"):
        fit(X, y, solver=PricedTree(-1))
    assert fit(X, y, solver=PricedTree(0)).acquire(X).n_features.max() == 0
