"""Grid value iteration and the simplex grid it stands on."""

from __future__ import annotations

from math import comb

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from seqclass.pomdp import GridValueIteration, TableProblem, evaluate
from seqclass.pomdp._simplex import SimplexGrid, grid_size
from seqclass.pomdp.one_step import context_of

SHAPES = pytest.mark.parametrize("n_classes, resolution", [(1, 3), (2, 1), (2, 17), (3, 1), (3, 8), (5, 4), (5, 1)])


def random_beliefs(rng, n, n_classes):
    beliefs = rng.dirichlet(np.full(n_classes, 0.6), size=n)
    beliefs[: n // 4] = np.eye(n_classes)[rng.integers(n_classes, size=n // 4)]  # corners
    beliefs[n // 4 : n // 2, 0] = 0.0  # a face
    total = beliefs.sum(axis=1, keepdims=True)
    return np.where(total > 0, beliefs, 1.0) / np.where(total > 0, total, n_classes)


@SHAPES
def test_points(n_classes, resolution):
    grid = SimplexGrid(n_classes, resolution)
    n_points = comb(resolution + n_classes - 1, n_classes - 1)
    assert grid.points.shape == (n_points, n_classes)
    assert grid_size(n_classes, resolution) == n_points
    counts = np.round(grid.points * resolution).astype(int)
    assert len({tuple(row) for row in counts}) == n_points
    assert (counts.sum(axis=1) == resolution).all()
    np.testing.assert_allclose(counts / resolution, grid.points, atol=1e-15)
    assert grid.points.min() >= 0


@SHAPES
def test_points_are_found_again(n_classes, resolution):
    grid = SimplexGrid(n_classes, resolution)
    values = np.random.default_rng(0).random(len(grid.points))
    np.testing.assert_allclose(grid.interpolate(values, grid.points), values, atol=1e-12)
    np.testing.assert_array_equal(grid.nearest(grid.points), np.arange(len(values)))
    np.testing.assert_array_equal(grid.nearest(grid.points * (1 - 1e-15)), np.arange(len(values)))


@SHAPES
def test_linear_functions_are_exact_and_concave_ones_bounded(n_classes, resolution):
    rng = np.random.default_rng(1)
    grid = SimplexGrid(n_classes, resolution)
    belief = random_beliefs(rng, 400, n_classes)
    slope = rng.normal(size=n_classes)
    linear = grid.interpolate(grid.points @ slope, belief)
    np.testing.assert_allclose(linear, belief @ slope, atol=1e-12)
    planes = rng.normal(size=(n_classes, 6))
    concave = grid.interpolate((grid.points @ planes).min(axis=1), belief)
    assert (concave <= (belief @ planes).min(axis=1) + 1e-12).all()
    # interpolation stays between the extremes of what it reads
    assert (concave >= (grid.points @ planes).min() - 1e-12).all()


@SHAPES
def test_several_functions_by_offset(n_classes, resolution):
    rng = np.random.default_rng(2)
    grid = SimplexGrid(n_classes, resolution)
    tables = rng.random((3, len(grid.points)))
    belief = random_beliefs(rng, 60, n_classes)
    which = rng.integers(3, size=60)
    together = grid.interpolate(tables.ravel(), belief, which * len(grid.points))
    alone = [grid.interpolate(tables[k], belief[[i]])[0] for i, k in enumerate(which)]
    np.testing.assert_allclose(together, alone, atol=1e-14)


@SHAPES
def test_nearest_is_nearest(n_classes, resolution):
    grid = SimplexGrid(n_classes, resolution)
    belief = random_beliefs(np.random.default_rng(3), 300, n_classes)
    distance = ((belief[:, None] - grid.points[None]) ** 2).sum(axis=2)
    chosen = distance[np.arange(len(belief)), grid.nearest(belief)]
    np.testing.assert_allclose(chosen, distance.min(axis=1), atol=1e-9)


def test_nearest_breaks_ties_to_the_first_class():
    grid = SimplexGrid(2, 1)
    np.testing.assert_array_equal(grid.points[grid.nearest(np.array([[0.5, 0.5]]))], [[1.0, 0.0]])
    grid = SimplexGrid(3, 1)
    np.testing.assert_array_equal(grid.points[grid.nearest(np.full((1, 3), 1 / 3))], [[1.0, 0.0, 0.0]])


RESOLUTION = {2: 60, 3: 16, 4: 8}


@pytest.mark.covering(1)
@pytest.mark.parametrize("kind", ["plain", "zeros", "prior", "free", "useless", "equal", "decisions"])
@pytest.mark.parametrize("contexts", [False, True])
def test_interpolated_below_exact_below_executed(kind, contexts, make_case, oracle):
    for seed in range(8):
        case = make_case(seed, kind, contexts=contexts)
        solver = GridValueIteration(RESOLUTION[len(case.prior)], certificate_paths=0)
        policy = solver.solve(case.problem)
        info = case.problem.initial_belief()
        claim = policy.values.value(0, info.probabilities, context_of(info))[0]
        executed = evaluate(case.problem, policy, method="exact").cost
        truth = oracle.optimum(case)
        assert claim <= truth + 1e-12 <= executed + 2e-12, (kind, seed)
        assert executed - claim < 0.25 * case.problem.decision_costs.max()


def test_the_difference_closes_as_the_grid_is_refined(make_case, oracle):
    worst = []
    for resolution in (5, 40, 320, 2560):
        differences = []
        for seed in range(6):
            case = make_case(seed, n_classes=2, n_stages=4)
            policy = GridValueIteration(resolution, certificate_paths=0).solve(case.problem)
            claim = policy.values.value(0, case.problem.prior[None])[0]
            differences.append(evaluate(case.problem, policy).cost - claim)
        worst.append(max(differences))
    assert worst[0] > 1e-3
    assert worst[1] < worst[0] / 4
    assert worst[2] < worst[1] / 4
    assert worst[3] < 1e-6


def test_nearest_reads_the_nearest_point(make_case, oracle):
    coarse, fine = [], []
    for seed in range(6):
        case = make_case(seed, n_classes=2, n_stages=4)
        truth = oracle.optimum(case)
        for resolution, errors in ((10, coarse), (1000, fine)):
            solver = GridValueIteration(resolution, interpolation="nearest", certificate_paths=0)
            policy = solver.solve(case.problem)
            errors.append(abs(policy.values.value(0, case.problem.prior[None])[0] - truth))
            assert oracle.run_policy(case, policy).cost >= truth - 1e-12
            assert policy.values.value(4, case.problem.prior[None]) == case.problem.stopping_cost(case.problem.prior)
    assert max(fine) < 5e-3
    assert max(coarse) > max(fine)


def test_nearest_is_the_recursion_on_grid_points(make_case):
    """As published: values are read at the nearest point, and nowhere between points."""

    def value(case, points, stage, joint):
        if stage == len(case.prices):
            return case.stop(joint)
        belief = np.array(joint) / sum(joint)
        nearest = points[((points - belief) ** 2).sum(axis=1).argmin()].tolist()
        go_on = case.prices[stage]
        for _, following, _ in case.successors(stage, nearest, 0):
            go_on += value(case, points, stage + 1, following)
        return sum(joint) * min(case.stop(nearest), go_on)

    differs = 0
    for seed in range(8):
        case = make_case(seed, n_classes=2, n_stages=3)
        nearest, between = (
            GridValueIteration(7, interpolation=kind, certificate_paths=0).solve(case.problem).values
            for kind in ("nearest", "freudenthal")
        )
        for start in ([0.0, 1.0], [3 / 7, 4 / 7], [6 / 7, 1 / 7]):
            read = nearest.value(0, np.array([start]))[0]
            assert read == pytest.approx(value(case, nearest.grid.points, 0, start), abs=1e-9)
            differs += abs(read - between.value(0, np.array([start]))[0]) > 1e-6
    assert differs > 8


def test_contexts_are_problems_of_their_own(make_case):
    """Two problems side by side, told apart by the first, free outcome, have their values side by side."""
    rng = np.random.default_rng(0)
    tables = rng.dirichlet(np.ones(3), size=(2, 3, 2)).transpose(0, 1, 3, 2)  # problem, stage, outcome, class
    coin = np.full((1, 2, 2), 0.5)
    both = TableProblem(
        [0.5, 0.5],
        [coin, *(tables[:, k] for k in range(3))],
        [0.0, 0.02, 0.03, 0.04],
        transitions=[[[0, 1, 0]], *[[[0] * 4, [1] * 4]] * 3],
    )
    solver = GridValueIteration(50, certificate_paths=0)
    values = solver.solve(both).values
    belief = rng.dirichlet(np.ones(2), size=30)
    for k in range(2):
        alone = solver.solve(TableProblem([0.5, 0.5], tables[k], [0.02, 0.03, 0.04])).values
        for stage in range(3):
            np.testing.assert_allclose(
                values.value(stage + 1, belief, np.full(30, k)), alone.value(stage, belief), atol=1e-12
            )
    assert values.size == 51 * 7


@given(
    n_classes=st.integers(1, 4),
    stage=st.integers(0, 3),
    draw=st.integers(0, 2**32 - 1),
    scale=st.floats(1e-6, 1e6),
)
def test_values_are_homogeneous_bounded_and_concave(n_classes, stage, draw, scale):
    problem, values = _solved(n_classes)
    belief = np.random.default_rng(draw).dirichlet(np.full(n_classes, 0.5), size=2)
    ends = values.value(stage, belief)
    np.testing.assert_allclose(values.value(stage, belief * scale), ends * scale, rtol=1e-9, atol=1e-15)
    assert (ends <= problem.stopping_cost(belief) + 1e-15).all()
    assert (ends >= 0).all()
    if n_classes <= 2:  # on a line what is read between grid points is concave too
        middle = values.value(stage, belief.mean(axis=0, keepdims=True))
        assert middle[0] >= ends.mean() - 1e-12


def _solved(n_classes, cache={}):  # noqa: B006
    if n_classes not in cache:
        rng = np.random.default_rng(n_classes)
        tables = rng.dirichlet(np.ones(3), size=(4, n_classes)).transpose(0, 2, 1)
        problem = TableProblem(np.full(n_classes, 1 / n_classes), tables, 0.02)
        solver = GridValueIteration(20, certificate_paths=0)
        cache[n_classes] = problem, solver.solve(problem).values
    return cache[n_classes]


def test_zero_belief_has_value_zero():
    for interpolation in ("freudenthal", "nearest"):
        rng = np.random.default_rng(0)
        tables = rng.dirichlet(np.ones(3), size=(2, 3)).transpose(0, 2, 1)
        problem = TableProblem(np.full(3, 1 / 3), tables, 0.02)
        solver = GridValueIteration(7, interpolation=interpolation, certificate_paths=0)
        assert solver.solve(problem).values.value(0, np.zeros((2, 3))).tolist() == [0, 0]


def test_too_large_a_grid_is_refused_by_its_size():
    tables = np.full((5, 2, 11), 0.5)
    problem = TableProblem(np.full(11, 1 / 11), tables, 0.01)
    with pytest.raises(ValueError, match=r"resolution 20 over 11 classes has 30,045,015 points.* GB.*Perseus"):
        GridValueIteration(20).solve(problem)
    small = TableProblem([0.5, 0.5], np.full((5, 2, 2), 0.5), 0.01)
    with pytest.raises(ValueError, match="max_bytes="):
        GridValueIteration(max_bytes=100).solve(small)
    # without tables as large as these the same grid is fine
    assert GridValueIteration(2, certificate_paths=0).solve(problem).info.status == "converged"


@pytest.mark.parametrize(
    "settings, error",
    [
        ({"resolution": 0}, ValueError),
        ({"resolution": 1.5}, TypeError),
        ({"interpolation": "cubic"}, ValueError),
        ({"max_bytes": -1}, ValueError),
        ({"horizon_tolerance": float("nan")}, ValueError),
        ({"max_stages": -3}, ValueError),
        ({"certificate_paths": 1.5}, TypeError),
    ],
)
def test_bad_settings_name_the_parameter(settings, error, repeated):
    with pytest.raises(error, match=next(iter(settings))):
        GridValueIteration(**settings).solve(repeated(3))


def test_one_stage_is_not_said_in_the_plural():
    problem = TableProblem([0.5, 0.5], np.array([[[0.9, 0.2], [0.1, 0.8]]]), prices=0.1)
    assert repr(GridValueIteration().solve(problem).values).startswith("<GridValues: 1 stage, size ")
    one = TableProblem([1.0], np.ones((1, 1, 1)), prices=0.1)
    assert repr(one) == "<TableProblem: 1 class, 1 decision, 1 question in one order at 0.1>"
