"""What is known at the start of a batch, and budgets that are used up."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from live_cases import row_by_row

from seqclass import Costs, SequentialClassifier
from seqclass.bn import ClassMixture, TreeNetwork
from seqclass.pomdp import Adaptive, ClassInformation, ExactFreeOrder, FirstK, Lookahead
from seqclass.pomdp.policy import draw_lots

ALIKE = 1e-9
QUICK = Adaptive([ClassInformation()], n_paths=30, n_cases=60, max_nodes=0, max_rounds=0, certificate_paths=0)


def drawn(seed, n=120, missing=0.0):
    """Eight outcomes of which some depend on one another, of three classes."""
    rng = np.random.default_rng(seed)
    y = np.arange(n) % 3
    X = (rng.random((n, 8)) < 0.2 + 0.3 * ((y[:, None] + np.arange(8)) % 3)).astype(float)
    X[:, 4] = np.where(rng.random(n) < 0.8, X[:, 3], X[:, 4])
    X[:, 7] = np.where(rng.random(n) < 0.7, X[:, 0], X[:, 7])
    X[rng.random(X.shape) < missing] = np.nan
    return X, y


#: Settings of classifiers.
CASES = {
    "fixed": {},
    "fixed tree": {"observation_model": TreeNetwork()},
    "fixed, groups": {"feature_costs": Costs(groups=[0, 0, 1, 1, -1, -1, 2, 2], discounted_costs=0.005)},
    "fixed, few": {"max_features": 3},
    "fixed, bundles": {"feature_costs": Costs(bundles=[0, 0, 1, 1, 2, 3, 4, 4], charge_missing=True)},
    "free": {"order": "adaptive", "solver": QUICK},
    "free tree": {"order": "adaptive", "solver": QUICK, "observation_model": TreeNetwork()},
    "free mixture": {"order": "adaptive", "solver": QUICK, "observation_model": ClassMixture(2)},
    "free, few": {"order": "adaptive", "solver": QUICK, "max_features": 2},
    "free, narrow": {"order": "adaptive", "solver": QUICK, "max_features": 2, "max_candidates": 4},
    "free, groups": {
        **{"order": "adaptive", "solver": Lookahead(certificate_paths=0), "max_cost": 0.05},
        **{"feature_costs": Costs(groups=[0, 0, 1, 1, -1, -1, 2, 2], discounted_costs=0.005)},
    },
    "free, bundles": {"feature_costs": Costs(bundles=[0, 0, 1, 1, 2, 3, 4, 4]), "order": "adaptive", "solver": QUICK},
    "drawn by lot": {"target_cost": 0.02},
}


@pytest.mark.slow_cells("drawn by lot", "fixed tree", "free tree")
@pytest.mark.parametrize("name", CASES)
def test_a_batch_is_as_its_rows_one_by_one(name, monkeypatch):
    X, y = drawn(1, missing=0.3)
    clf = SequentialClassifier(**{"feature_costs": 0.01, "discretizer": "precomputed"} | CASES[name]).fit(X, y)
    X = X[: 30 if "lot" in name else 4]  # of a few rows each lot decides alike
    lots = draw_lots(clf.policy_, X[:, clf.order_])
    assert ("lot" in name) == (len(set(lots.tolist())) > 1)
    for known in ([2], [0, 3, 5, 6], []):
        record = clf.acquire(X, known=known, record_beliefs=True)
        with monkeypatch.context() as patched:  # a session draws its lot as it begins: let it be that of its row
            left = iter(lots)
            patched.setattr("seqclass.agent.session.draw_lots", lambda policy, keys: np.array([next(left)]))  # noqa: B023
            decision, cost, n_features, posterior = row_by_row(clf, X, known)
        assert record.decision.tolist() == decision.tolist()
        assert record.n_features.tolist() == n_features.tolist()
        np.testing.assert_allclose(record.paid, cost, atol=ALIKE)
        np.testing.assert_allclose(record.posterior, posterior, atol=ALIKE)
        stop = (record.order >= 0).sum(axis=1)
        np.testing.assert_allclose(record.beliefs[np.arange(len(X)), stop], record.posterior, atol=ALIKE)


def test_what_is_known_is_sparse_named_whole_or_nothing():
    X, y = drawn(2)
    clf = SequentialClassifier(feature_costs=0.01, discretizer="precomputed").fit(X, y)
    dense, sparse = clf.acquire(X, known=[1, 6]), clf.acquire(sp.csr_array(X), known=[1, 6])
    np.testing.assert_array_equal(dense.posterior, sparse.posterior)
    assert dense.order.tolist() == sparse.order.tolist()
    everything = clf.acquire(X, known=range(8))
    assert not everything.paid.any()
    assert everything.order.shape == (len(X), 0)
    np.testing.assert_allclose(everything.posterior, clf.model_.predict_proba(X.astype(int)), atol=ALIKE)
    nothing = clf.acquire(np.where(np.arange(8) == 2, np.nan, X), known=[2])
    np.testing.assert_array_equal(nothing.posterior, clf.predict_proba(np.where(np.arange(8) == 2, np.nan, X)))
    for known, message in (
        (["x9"], "known names 'x9', which is not a feature; did you mean 'x7'"),
        ([9], "known names 9, which is not a feature; they are 0..7"),
        ([1, 1], "more than once"),
    ):
        with pytest.raises(ValueError, match=message):
            clf.acquire(X, known=known)


@pytest.mark.parametrize(
    "settings",
    [
        {},  # whose horizon is shorter than the order
        {"solver": FirstK(0)},
        {"order": "adaptive", "solver": QUICK},
        {"order": "adaptive", "solver": ExactFreeOrder(certificate_paths=0), "max_features": 3},
        {"order": "adaptive", "solver": FirstK(0, certificate_paths=0)},
    ],
)
@pytest.mark.parametrize("known", [(), (0, 4)])
def test_a_budget_is_used_up(settings, known):
    X, y = drawn(3)
    clf = SequentialClassifier(**{"feature_costs": 0.2, "discretizer": "precomputed"} | settings).fit(X, y)
    assert clf.acquire(X[:9], known=known).n_features.max(initial=0) < 3
    record = clf.acquire(X[:9], known=known, budget=3)
    assert record.n_features.tolist() == [3] * 9
    assert not np.isin(record.order, known).any()
    np.testing.assert_allclose(record.paid, 0.6)
    seen = np.array(
        [np.where(np.isin(np.arange(8), [*asked, *known]), row, np.nan) for asked, row in zip(record.order, X)]
    )
    codes = np.where(np.isnan(seen), -1, seen).astype(int)
    np.testing.assert_allclose(record.posterior, clf.model_.predict_proba(codes), atol=ALIKE)
    assert clf.acquire(X[:9], known=known, budget=0).n_features.tolist() == [0] * 9
    most = settings.get("max_features", 8 - len(known))
    assert clf.acquire(X[:9], known=known, budget=99).n_features.tolist() == [most] * 9


def test_a_forced_question_is_the_one_that_tells_most():
    X, y = drawn(4)
    settings = {"order": "adaptive", "discretizer": "precomputed", "solver": FirstK(0, certificate_paths=0)}
    clf = SequentialClassifier(**settings).fit(X, y)
    told = ClassInformation().scores(clf.problem_.initial_belief())[0]
    assert clf.acquire(X[:1], budget=1).order.tolist() == [[int(told.argmax())]]


def test_of_what_is_known_alone_the_best_decision_is_taken() -> None:
    X, y = drawn(0)
    clf = SequentialClassifier(order="adaptive", solver=QUICK, known=[2], max_features=0).fit(X, y)
    record = clf.acquire(X)
    assert not record.n_features.any()
    assert clf.expected_cost_ == pytest.approx(1 - record.posterior.max(axis=1).mean())
