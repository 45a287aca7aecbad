"""An adaptive order beside a fixed one that was made on the training rows."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from seqclass import Costs, SequentialClassifier, load
from seqclass.bn import TreeNetwork
from seqclass.datasets.pointer import make_sensors
from seqclass.discretize import Discretizer
from seqclass.pomdp import Adaptive, ExpectedSaving
from seqclass.pomdp.solvers.ordering.given import GivenOrder
from seqclass.pomdp.solvers.ordering.observed import ON_ROWS

BOUNDS = "one step on bounds over all orders"


def repeated(n: int, seed: int) -> tuple[Any, Any]:
    """Four copies of one answer, which naive Bayes takes for four, and four weaker ones that are independent."""
    rng = np.random.default_rng(seed)
    y = rng.integers(2, size=n)
    answer = lambda right: np.where(rng.random(n) < right, y, 1 - y)  # noqa: E731
    copies = answer(0.8)
    return np.column_stack([copies] * 4 + [answer(0.77) for _ in range(4)]).astype(float), y


def fitted(X: Any, y: Any, **settings: Any) -> SequentialClassifier:
    solver = settings.pop("solver", None) or Adaptive(max_nodes=0, n_paths=50, n_cases=100, certificate_paths=200)
    return SequentialClassifier(solver=solver, order="adaptive", **({"feature_costs": 0.01} | settings)).fit(X, y)


def realised(clf: SequentialClassifier, X: Any, y: Any) -> Any:
    record = clf.acquire(X)
    return (record.decision != y) + record.paid


@pytest.mark.slow
def test_what_repeats_is_left_to_an_order_made_on_rows(tmp_path: Path) -> None:
    X, y = repeated(600, 0)
    clf = fitted(X, y)
    assert clf.ordering_ is not None
    preferred, fixed = clf.ordering_.observed
    assert (preferred.name, fixed.name, clf.ordering_.chosen) == (BOUNDS, ON_ROWS, ON_ROWS)
    rule = clf.policy_.values.rule  # type: ignore[attr-defined]
    assert isinstance(rule, GivenOrder)
    assert rule.order == SequentialClassifier().fit(X, y).order_.tolist()
    # what is told of it is what a user would count
    cost = realised(clf, X, y)
    assert fixed.cost == pytest.approx(cost.mean(), abs=1e-12)
    assert fixed.std_error == pytest.approx(cost.std(ddof=1) / np.sqrt(600), abs=1e-12)
    assert fixed.n_questions == pytest.approx(clf.acquire(X).n_features.mean())
    assert preferred.above == pytest.approx(preferred.cost - fixed.cost)
    assert preferred.above > preferred.above_std_error > 0 == fixed.above
    assert f"{ON_ROWS}: {fixed.cost:.4f}" in str(clf.ordering_)
    assert clf.policy_.info.scope == "all orders"
    # and it holds on other rows
    other = repeated(1500, 1)
    by_model = fitted(X, y, solver=Adaptive([ExpectedSaving()], n_paths=50, n_cases=100, certificate_paths=0))
    assert by_model.ordering_ is not None
    assert by_model.ordering_.observed == ()  # who names rules has said what to ask
    assert realised(clf, *other).mean() < realised(by_model, *other).mean()

    clf.save(tmp_path / "model.seq")
    again = load(tmp_path / "model.seq")
    assert again.ordering_ == clf.ordering_
    assert (again.predict(X) == clf.predict(X)).all()
    damaged = again.policy_.values.rule  # type: ignore[attr-defined]
    damaged.order = [*damaged.order[:-1], 999]
    again.save(tmp_path / "damaged.seq")
    with pytest.raises(ValueError, match="order must hold numbers of questions"):
        load(tmp_path / "damaged.seq")

    rare = clf.with_prior([0.2, 0.8])
    assert rare.ordering_ == clf.ordering_
    assert rare.policy_.values.rule.order == rule.order  # type: ignore[attr-defined]
    assert rare.policy_.info.upper != clf.policy_.info.upper


def test_where_answers_say_what_to_ask_it_stays_adaptive() -> None:
    data = make_sensors(2000, 4, random_state=0)
    clf = SequentialClassifier(
        TreeNetwork(),
        Adaptive(n_paths=300, n_cases=500, certificate_paths=0),
        discretizer=Discretizer(4),
        order="adaptive",
        feature_costs=0.03,
    ).fit(data.X, data.y)
    assert clf.ordering_ is not None
    adaptive, fixed = clf.ordering_.observed
    assert clf.ordering_.chosen == adaptive.name == "all orders, exactly"
    assert adaptive.cost == pytest.approx(realised(clf, data.X, data.y).mean(), abs=1e-12)
    assert fixed.above > 5 * fixed.above_std_error
    assert str(clf.ordering_).count(", chosen") == 1


def test_missing_cells_are_charged_for_as_they_will_be() -> None:
    X, y = repeated(300, 2)
    X[np.random.default_rng(3).random(X.shape) < 0.3] = np.nan
    for charge in (False, True):
        clf = fitted(X, y, feature_costs=Costs(0.01, charge_missing=charge))
        assert clf.ordering_ is not None
        [told] = [candidate for candidate in clf.ordering_.observed if candidate.name == clf.ordering_.chosen]
        assert told.cost == pytest.approx(realised(clf, X, y).mean(), abs=1e-12)


def test_a_budget_says_what_to_pay() -> None:
    X, y = repeated(100, 2)
    assert fitted(X[:, 2:6], y, target_cost=0.02).ordering_ is None


def test_a_bundle_stands_where_its_first_feature_does() -> None:
    X, y = repeated(600, 0)
    noise = np.random.default_rng(5).integers(2, size=(600, 2))
    X = np.column_stack([noise[:, 0], X, noise[:, 1]])
    order = SequentialClassifier(feature_costs=0.01).fit(X, y).order_.tolist()
    clf = fitted(X, y, feature_costs=Costs(0.01, bundles=["a", "b", "c", "d", "e", "f", "a", "g", "b", "h"]))
    assert clf.ordering_ is not None
    assert clf.ordering_.chosen == ON_ROWS
    places = [[order.index(j) for j in clf.problem_.structure.members(q)] for q in range(8)]
    expected, by_last = (np.argsort([place(some) for some in places]).tolist() for place in (min, max))
    assert clf.policy_.values.rule.order == expected != by_last  # type: ignore[attr-defined]


def test_one_row_a_class() -> None:
    clf = fitted([[0.0], [1.0]], ["a", "b"])
    assert clf.ordering_ is not None
    assert len(clf.ordering_.observed) == 2
