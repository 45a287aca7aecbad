"""Generated worlds: samples follow their tables, and the optimum is that of plain enumeration."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from seqclass.datasets.generated import make_naive_bayes_world, make_tree_world
from seqclass.datasets.world import Optimum, World
from seqclass.pomdp import GridValueIteration, TableProblem

MAKERS = [make_naive_bayes_world, make_tree_world]


def probability(world: World, outcomes: dict[int, int], c: int) -> float:
    """P(some outcomes, class) by a sum over all completions, in plain Python."""
    total = 0.0
    for x in np.ndindex(*world.n_outcomes):
        if any(x[j] != v for j, v in outcomes.items()):
            continue
        p = float(world.prior[c])
        for j, (parent, table) in enumerate(zip(world.parents, world.tables)):
            p *= float(table[x[j], c] if parent < 0 else table[x[parent], x[j], c])
        total += p
    return total


def least_cost(
    world: World, prices: Any, costs: Any, seen: dict[int, int], any_order: bool, groups: Any = None, cheap: Any = None
) -> float:
    """Least expected cost from a history, times its probability."""
    weights = [probability(world, seen, c) for c in range(len(world.prior))]
    best = min(sum(w * costs[c][d] for c, w in enumerate(weights)) for d in range(len(costs[0])))
    unseen = [j for j in range(len(world.tables)) if j not in seen]
    for j in unseen if any_order else unseen[:1]:
        discount = groups is not None and groups[j] is not None and any(groups[k] == groups[j] for k in seen)
        price = (cheap if discount else prices)[j]
        later = sum(
            least_cost(world, prices, costs, {**seen, j: v}, any_order, groups, cheap)
            for v in range(world.n_outcomes[j])
        )
        best = min(best, price * sum(weights) + later)
    return best


@pytest.mark.parametrize("make", MAKERS)
@pytest.mark.parametrize("seed", [0, 1, 2])
def test_the_optimum_is_that_of_enumeration(make: Any, seed: int) -> None:
    prices = [0.02, 0.05, 0.01]
    data = make(10, n_features=3, n_classes=3, n_outcomes=2, feature_costs=prices, random_state=seed)
    costs = (1 - np.eye(3)).tolist()
    assert data.optimum.in_order == pytest.approx(least_cost(data.world, prices, costs, {}, any_order=False))
    assert data.optimum.any_order == pytest.approx(least_cost(data.world, prices, costs, {}, any_order=True))


def test_the_optimum_with_discounts_and_a_further_decision() -> None:
    world = make_tree_world(1, n_features=3, n_outcomes=2, concentration=0.5, random_state=4).world
    assert world is not None
    prices, cheap, groups = [0.2, 0.05, 0.2], [0.02, 0.05, 0.02], ["a", None, "a"]
    costs = [[0.0, 1.0, 0.3], [2.0, 0.0, 0.3]]
    found = world.optimum(prices, costs, groups, cheap)
    assert found.in_order == pytest.approx(least_cost(world, prices, costs, {}, False, groups, cheap))
    assert found.any_order == pytest.approx(least_cost(world, prices, costs, {}, True, groups, cheap))
    assert found.any_order < world.optimum(prices, costs).any_order  # the discount is worth something here


@pytest.mark.parametrize("make", MAKERS)
def test_the_optimum_lies_where_it_must(make: Any) -> None:
    data = make(10, n_features=6, random_state=1)
    best = data.optimum
    assert best.full <= best.any_order <= best.in_order <= best.prior
    free = data.world.optimum(0.0)
    assert free.any_order == pytest.approx(free.full)
    assert free.in_order == pytest.approx(free.full)
    dear = data.world.optimum(5.0)
    assert dear.any_order == dear.in_order == pytest.approx(dear.prior)


def test_the_tables_serve_as_a_problem() -> None:
    data = make_naive_bayes_world(10, n_features=5, random_state=3)
    world = data.world
    assert world is not None
    assert data.optimum is not None
    policy = GridValueIteration().solve(TableProblem(world.prior, world.tables, prices=0.05))
    assert policy.info.upper == pytest.approx(data.optimum.in_order, abs=1e-4)


@pytest.mark.parametrize("make", MAKERS)
def test_samples_follow_the_tables(make: Any) -> None:
    data = make(60_000, n_features=3, n_outcomes=3, prior=[0.2, 0.8], random_state=5)
    counts = np.zeros((3, 3, 3, 2))
    np.add.at(counts, (*data.X.T.astype(int), data.y), 1)
    joint = data.world.joint()
    assert joint.sum() == pytest.approx(1)
    deviation = np.abs(counts / 60_000 - joint) / np.sqrt(joint * (1 - joint) / 60_000)
    assert deviation.max() < 4.5


def test_the_features_of_a_tree_are_correlated_in_a_class() -> None:
    found = {}
    for make in MAKERS:
        data = make(5_000, n_features=8, n_outcomes=2, concentration=1.0, random_state=0)
        correlations = np.corrcoef(data.X[data.y == 0].astype(float).T)
        found[make] = np.abs(correlations[np.triu_indices(8, 1)]).max()
    assert found[make_naive_bayes_world] < 0.1
    assert found[make_tree_world] > 0.2


@pytest.mark.parametrize("make", MAKERS)
def test_the_seed_tells(make: Any) -> None:
    first, again, other = make(50, random_state=1), make(50, random_state=1), make(50, random_state=2)
    assert (first.X == again.X).all()
    assert (first.y == again.y).all()
    assert not (first.X == other.X).all()


def test_a_large_world_has_no_optimum() -> None:
    data = make_naive_bayes_world(100, n_features=40)
    assert data.optimum is None
    with pytest.raises(ValueError, match="too many joint outcomes"):
        data.world.optimum(0.1)  # type: ignore[union-attr]
    # enough cells for the joint table, too many for the sets of features
    ordered = make_naive_bayes_world(10, n_features=16, n_outcomes=2).optimum
    assert ordered is not None
    assert ordered.any_order is None
    assert "any order" not in str(ordered)
    assert "any order" in str(Optimum(0.2, 0.1, 0.0, 0.5))


@pytest.mark.parametrize(("n_features", "fits"), [(21, True), (22, False)])
def test_four_million_cells_are_few_enough(n_features: int, fits: bool) -> None:
    assert World(np.full(2, 0.5), (-1,) * n_features, (np.full((2, 2), 0.5),) * n_features).enumerable == fits


@pytest.mark.parametrize(
    "prior, parents, tables, message",
    [
        ([0.5, 0.5], (0,), (np.eye(2),), "before it"),
        ([0.5, 0.5], (), (np.eye(2),), "one entry a table"),
        ([0.5, 0.6], (-1,), (np.eye(2),), "sum to 1"),
        ([0.5, 0.5], (-1,), (np.ones((2, 2)),), "distribution"),
        ([0.5, 0.5], (-1,), (np.eye(3),), "classes"),
        ([0.5, 0.5], (-1, 0), (np.eye(2), np.full((3, 2, 2), 0.5)), "fit its parent"),
    ],
)
def test_a_world_that_is_none(prior: Any, parents: Any, tables: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        World(np.array(prior), parents, tables)


@pytest.mark.parametrize(
    "settings, message",
    [
        ({"n_features": 0}, "n_features"),
        ({"n_classes": 1}, "n_classes"),
        ({"concentration": 0.0}, "concentration"),
        ({"prior": [0.2, 0.3, 0.5]}, "prior must have one entry"),
        ({"feature_costs": -1}, "feature_costs"),
        ({"decision_costs": [[0, 1]]}, "decision_costs"),
    ],
)
@pytest.mark.parametrize("make", MAKERS)
def test_wrong_settings(make: Any, settings: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        make(10, **settings)
