"""Items of a test: curves by hand, posteriors by enumeration, parameters found again, tables of other packages."""

from __future__ import annotations

from contextlib import nullcontext
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from mixture_cases import summed_out
from numpy.testing import assert_allclose, assert_array_equal
from scipy.integrate import quad
from scipy.special import expit, logit
from scipy.stats import chi2, norm

import seqclass
from seqclass.exams import ItemParameters, ItemResponse
from seqclass.testing import check_observation_model

BANK = {"a": [1.5, 0.8, 2.0, 1.1], "b": [-0.5, 0.0, 0.5, 1.5], "c": [0.2, 0.0, 0.25, 0.1], "d": [1.0, 0.95, 1.0, 0.9]}


def answers(n: int = 80, n_items: int = 4, most: int = 2, missing: float = 0.0, seed: int = 0) -> tuple[Any, Any, Any]:
    """Answers that rise with an ability, and whether that is above a noisy bar."""
    rng = np.random.default_rng(seed)
    sizes = rng.integers(2, most + 1, n_items)
    ability = rng.normal(size=n)
    X = np.clip(np.floor((ability[:, None] + rng.normal(size=(n, n_items))) / 2 * sizes + sizes / 2), 0, sizes - 1)
    X = np.where(rng.random(X.shape) < missing, -1, X).astype(np.int8)
    X[0] = sizes - 1
    return X, np.array(["fail", "pass"])[(ability + rng.normal(0, 0.5, n) > 0).astype(int)], sizes


@pytest.mark.slow_cells("nominal-cuts1", "1PL-None", "3PL-None", "graded-None")
@pytest.mark.covering(1)
@pytest.mark.parametrize("cuts", [None, [0.0]])
@pytest.mark.parametrize("kind", ["graded", "nominal", "1PL", "2PL", "3PL", "4PL"])
def test_conformance(kind: str, cuts: Any) -> None:
    X, y, _ = answers(most=2 if kind.endswith("PL") else 4)
    labels = None if cuts is None else ["fail", "pass"]
    check_observation_model(ItemResponse(kind, cuts=cuts, labels=labels, points=11, max_iter=20), X, y)


def test_bands_by_integration() -> None:
    """Against quadrature of the bank's own curves, which knows no grid."""
    model = ItemResponse.from_items(BANK, cuts=[-0.7, 0.9], labels=["novice", "able", "expert"], points=201)
    assert model.classes_.tolist() == ["able", "expert", "novice"]
    a, b, c, d = (np.array(BANK[name]) for name in "abcd")
    for row in ([1, 1, 1, 1], [0, 1, -1, 0], [-1, -1, -1, -1]):

        def joint(ability: float, row: Any = row) -> float:
            right = c + (d - c) * expit(a * (ability - b))
            return float(norm.pdf(ability) * np.prod([(1 - p, p, 1.0)[v] for v, p in zip(row, right)]))

        edges = [-9, -0.7, 0.9, 9]
        mass = np.array([quad(joint, low, high)[0] for low, high in pairwise(edges)])
        wanted = (mass / mass.sum())[[1, 2, 0]]
        assert_allclose(model.posterior([row])[0], wanted, atol=2e-4)
        mean = quad(lambda t: t * joint(t), -9, 9)[0] / mass.sum()
        spread = np.sqrt(quad(lambda t, mean=mean: (t - mean) ** 2 * joint(t), -9, 9)[0] / mass.sum())
        assert_allclose([found[0] for found in model.ability([row])], [mean, spread], atol=2e-3)
    assert_allclose(model.class_prior_[2], norm.cdf(-0.7), rtol=1e-12)


@pytest.mark.parametrize("cuts", [None, [-0.3, 0.4]])
def test_answers_are_sums_over_hidden_states(cuts: Any) -> None:
    X, y, sizes = answers(n_items=5, most=4, missing=0.2)
    labelled = y if cuts is None else None
    model = ItemResponse("graded", cuts=cuts, points=9).fit(X, labelled, n_outcomes=sizes)
    evidence = X[:10]
    posterior, likelihood = summed_out(model, evidence)
    assert_allclose(model.posterior(evidence), posterior, rtol=1e-10)
    for j, size in enumerate(sizes):
        assert_allclose(model.likelihood(j, evidence), likelihood[:, j, :size], rtol=1e-10)


def objective(model: ItemResponse, X: Any, y: Any = None) -> float:
    """Log-likelihood of the answers, and labels if any, by the model's own tables, one row at a time."""
    total = 0.0
    for i, row in enumerate(X):
        each = model.class_prior_[model.hidden_class_] * model.weights_
        each = each if y is None else each * (model.classes_[model.hidden_class_] == y[i])
        for j, v in enumerate(row):
            each = each * (model.tables_[j, v] if v >= 0 else 1.0)
        total += float(np.log(each.sum()))
    return total


@pytest.mark.slow_cells("2PL", "graded", "nominal")
@pytest.mark.parametrize("kind", ["2PL", "graded", "nominal", "1PL"])
def test_no_other_parameters_are_likelier(kind: str) -> None:
    X, _, sizes = answers(300, most=2 if kind.endswith("PL") else 3, missing=0.1, seed=3)
    settings: dict[str, Any] = {"cuts": [0.0], "shrinkage": 0, "points": 15}
    model = ItemResponse(kind, tol=1e-9, max_iter=3000, **settings).fit(X, n_outcomes=sizes)
    assert model.converged_
    best = objective(model, X)
    assert model.log_likelihood_ == pytest.approx(best, abs=1e-6)
    rng, items = np.random.default_rng(0), model.items_
    for _ in range(20):
        step = 0.02 * rng.normal(size=(2, *items.slopes.shape))
        if kind == "nominal":
            slopes = items.slopes + step[0]
        else:
            slopes = items.slopes + (step[0, :1, :1] if kind == "1PL" else step[0, :, :1])
        other = ItemParameters(items.kinds, slopes, items.intercepts + step[1], items.lower, items.upper)
        moved = ItemResponse.from_items(other, cuts=[0.0], points=15)
        assert objective(moved, X) < best + 1e-7


@pytest.mark.parametrize(("kind", "shrinkage"), [("1PL", 1.0), ("2PL", 20.0)])
def test_with_priors_too_no_other_parameters_are_likelier(kind: str, shrinkage: float) -> None:
    """Likelihood times the documented priors; a step and its scale put right could undo each other short of it."""
    X, _, _ = answers(300, n_items=3)
    grid = np.linspace(-4, 4, 15)
    model = ItemResponse(kind, cuts=[0.0], points=grid, shrinkage=shrinkage, tol=1e-9).fit(X)
    mass, (rows, many) = norm.pdf(grid) / norm.pdf(grid).sum(), np.unique(X, axis=0, return_counts=True)

    def height(log_slopes: Any, levels: Any) -> float:
        right = expit(np.exp(log_slopes)[:, None] * grid + levels[:, None])
        each = many @ [np.log(mass @ np.prod(np.where(row[:, None], right, 1 - right), axis=0)) for row in rows]
        own = log_slopes[:1] if kind == "1PL" else log_slopes
        return float(each - shrinkage / 2 * (((own / 0.5) ** 2).sum() + ((levels / 3) ** 2).sum()))

    slopes, levels = np.log(model.items_.slopes[:, 0]), model.items_.intercepts[:, 0]
    for step in (-0.003, 0.003):
        assert height(slopes + step, levels) < height(slopes, levels) > height(slopes, levels * (1 + step))


@pytest.mark.slow_cells("nominal")
@pytest.mark.parametrize("kind", ["3PL", "4PL", "graded", "nominal"])
def test_what_is_learnt_is_the_top_of_likelihood_times_documented_priors(kind: str) -> None:
    X, _, _ = answers(120, n_items=3, most=2 if kind.endswith("PL") else 3, seed=2)
    X[:3, 1:] = X.max(axis=0)[1:]
    grid = np.linspace(-4, 4, 15)
    sizes = np.full(3, 2 if kind.endswith("PL") else 3)
    model = ItemResponse(kind, cuts=[0.0], points=grid, tol=1e-8, max_iter=5000, guess=0.3).fit(X, n_outcomes=sizes)
    mass, items = norm.pdf(grid) / norm.pdf(grid).sum(), model.items_
    a, d = items.slopes, items.intercepts
    if kind == "3PL":
        free, sd = np.stack([np.log(a[:, 0]), d[:, 0], logit(items.lower)]), [0.5, 3, 0.7]
    elif kind == "graded":
        free, sd = np.stack([np.log(a[:, 0]), d[:, 0], np.log(d[:, 0] - d[:, 1])]), [0.5, 3, 1.5]
    elif kind == "4PL":
        free = np.stack([np.log(a[:, 0]), d[:, 0], logit(items.lower), -logit(items.upper)])
        sd = [0.5, 3, 0.7, 0.7]
    else:
        free, sd = np.concatenate([a.T, d.T]), [3, 3, 9, 9]
    middle = np.zeros_like(free)
    if kind.endswith("PL"):
        middle[2], middle[3:] = logit(0.3), -3

    def height(free: Any) -> float:
        if kind == "nominal":
            up = np.exp([np.zeros((3, 15)), *(free[k, :, None] * grid + free[k + 2, :, None] for k in (0, 1))])
            chance = up / up.sum(axis=0)
        elif kind == "graded":
            above = [expit(np.exp(free[0])[:, None] * grid + d[:, None]) for d in (free[1], free[1] - np.exp(free[2]))]
            chance = np.array([1 - above[0], above[0] - above[1], above[1]])
        else:
            low, high = expit(free[2])[:, None], 1 - sum(expit(one)[:, None] for one in free[3:])
            right = low + (high - low) * expit(np.exp(free[0])[:, None] * grid + free[1][:, None])
            chance = np.array([1 - right, right])
        likelihood = np.prod([chance[X[:, j], j] for j in range(3)], axis=0) @ mass
        return float(np.log(likelihood).sum() - (((free - middle) / np.array(sd)[:, None]) ** 2).sum() / 2)

    for place in np.ndindex(free.shape):
        step = np.zeros_like(free)
        step[place] = 1e-4
        slope = (height(free + step) - height(free - step)) / 2e-4
        curvature = (2 * height(free) - height(free + step) - height(free - step)) / 1e-8
        assert abs(slope) < 0.01 * curvature  # the top is nearer than a hundredth


@pytest.mark.slow
@settings(max_examples=settings.default.max_examples * 2 // 5)
@given(st.integers(0, 10**6), st.sampled_from(["graded", "nominal", "3PL", "4PL"]), st.sampled_from([0.0, 1.0]))
def test_more_iterations_are_no_less_likely(seed: int, kind: str, shrinkage: float) -> None:
    X, y, sizes = answers(60, most=2 if kind.endswith("PL") else 3, missing=0.2, seed=seed)
    reached = []
    for max_iter in (1, 2, 4, 8):
        model = ItemResponse(kind, shrinkage=0, tol=0, points=9, max_iter=max_iter).fit(X, y, n_outcomes=sizes)
        reached.append(model.log_likelihood_)
        assert model.n_iter_ == max_iter
        assert not model.converged_
    assert np.diff(reached).min() >= -1e-7 * abs(reached[-1])
    weak = ItemResponse(kind, shrinkage=shrinkage, points=9, max_iter=8).fit(X, y, n_outcomes=sizes)
    assert np.isfinite(weak.tables_).all()
    assert_allclose(weak.tables_.sum(axis=1), 1)


def within(found: Any, true: Any, error: Any, what: str) -> None:
    """Whether parameters lie about the truth as their standard errors say: the sum of squares, at one in 10,000."""
    known = np.isfinite(true) & (error > 0)
    squares = float((((found - true) / error)[known] ** 2).sum())
    n = int(known.sum())
    # errors of one bank go together: the number that are free is less than n, and a half of it allows for that
    assert squares < n / (n / 2) * chi2.ppf(0.9999, n / 2), what
    assert squares > n / (n / 2) * chi2.ppf(0.0001, n / 2), what


@pytest.mark.slow_cells("3PL", "4PL", "graded", "nominal")
@pytest.mark.parametrize("kind", ["1PL", "2PL", "3PL", "4PL", "graded", "nominal"])
def test_parameters_are_found_again(kind: str) -> None:
    rng = np.random.default_rng(5)
    n_items = 15
    a = np.full(n_items, 1.2) if kind == "1PL" else rng.lognormal(0, 0.3, n_items)
    b = rng.normal(size=n_items)
    table: dict[str, Any] = {"a": a, "b": b}
    if kind in ("3PL", "4PL"):
        table |= {"c": rng.uniform(0.1, 0.3, n_items), "d": rng.uniform(0.9, 0.98, n_items)}
        if kind == "3PL":
            del table["d"]
    if kind == "graded":
        cuts = np.sort(rng.normal(size=(n_items, 3)), axis=1) + 0.5 * np.arange(3)
        table = {"alphaj": a} | {f"betaj{k + 1}": cuts[:, k] for k in range(3)}
    if kind == "nominal":
        table = {f"{name}{k + 1}": rng.normal(size=n_items) for name in ("alphaj", "cj") for k in range(2)}
    true = ItemResponse.from_items(table, cuts=[0.0])
    X, _ = true.sample(4000, random_state=1)
    X = np.where(rng.random(X.shape) < 0.1, -1, X)
    model = ItemResponse(kind, cuts=[0.0], shrinkage=1.0 if kind in ("3PL", "4PL") else 0.0).fit(X)
    errors = model.standard_errors_
    assert model.converged_
    if kind in ("2PL", "graded", "nominal"):  # of asymptotes the likelihood is no parabola
        within(model.items_.slopes[:, :1], true.items_.slopes[:, :1], errors.slopes[:, :1], "slopes")
    if kind == "1PL":
        off = abs(model.items_.slopes[0, 0] - 1.2)
        assert off < 4 * errors.slopes[0, 0] < 0.2
        assert len(set(model.items_.slopes[:, 0].tolist())) == 1
    if kind not in ("3PL", "4PL"):
        within(model.items_.intercepts, true.items_.intercepts, errors.intercepts, "intercepts")
    # of p parameters learnt from n answers at known abilities: p / n; what is not known of abilities may take a half
    grid, mass = np.linspace(-3, 3, 61), norm.pdf(np.linspace(-3, 3, 61)) / 10
    curve, wanted = model.items_.probabilities(grid), true.items_.probabilities(grid)
    apart = (mass * (curve - wanted) ** 2 / wanted).sum(axis=(1, 2))
    p = {"3PL": 3, "4PL": 4, "graded": 4, "nominal": 4}.get(kind, 2)
    assert apart.mean() < 2 * p / (0.9 * 4000)
    new, _ = true.sample(500, random_state=2)
    assert np.abs(model.posterior(new) - true.posterior(new)).mean() < 0.02


@pytest.mark.parametrize(("kind", "told"), [("2PL", None), ("graded", "bands"), ("nominal", "classes"), ("4PL", None)])
def test_what_is_learnt_is_the_same_on_any_scale(kind: str, told: str | None) -> None:
    X, y, sizes = answers(100, most=2 if kind.endswith("PL") else 3, seed=1)

    def learnt(mean: float, sd: float) -> ItemResponse:
        labels = {} if told == "classes" else {"cuts": [mean], "labels": ["fail", "pass"]}
        model = ItemResponse(kind, mean=mean, sd=sd, points=11, max_iter=5, **labels)
        return model.fit(X, y if told else None, n_outcomes=sizes)

    one, other, below = learnt(0, 1), learnt(500, 100), learnt(-500, 100)
    assert_allclose(other.tables_, one.tables_, atol=1e-12)
    assert_allclose(other.posterior(X), one.posterior(X), atol=1e-12)
    assert_allclose(other.ability_, 500 + 100 * one.ability_)
    assert other.log_likelihood_ == pytest.approx(one.log_likelihood_)
    assert_allclose(other.items_.slopes, one.items_.slopes / 100)
    assert_allclose(other.items_.intercepts, one.items_.intercepts - 5 * one.items_.slopes)
    errors, up, down = (model.standard_errors_ for model in (one, other, below))
    assert_allclose(up.slopes, errors.slopes / 100)
    both = up.intercepts**2 + down.intercepts**2  # the covariance of slope and intercept cancels out
    assert_allclose(both, 2 * errors.intercepts**2 + 50 * errors.slopes**2)


def test_points_far_from_the_scale_that_items_are_learnt_on_are_told_of() -> None:
    X, _, _ = answers(100, seed=1)
    grid = np.linspace(-3, 3, 11)
    weights = np.exp(-grid) / np.exp(-grid).sum()
    one = ItemResponse("2PL", cuts=[0.0], points=grid, weights=weights, max_iter=5).fit(X)
    given: dict[str, Any] = {"cuts": [500.0], "points": 500 + 100 * grid, "weights": weights, "max_iter": 5}
    other = ItemResponse("2PL", mean=500, sd=100, **given).fit(X)
    assert_allclose(other.items_.slopes, one.items_.slopes / 100)
    with pytest.warns(UserWarning, match=r"points: abilities are far from mean and sd, .* such as mean=272"):
        ItemResponse("2PL", **given).fit(X)


def test_known_items_tell_the_same_on_any_scale() -> None:
    a, b, c, d = (np.array(BANK[name]) for name in "abcd")
    X, _, _ = answers(20, missing=0.3)
    far = {"a": np.full(30, 2.0), "b": np.full(30, 3.0)}  # whose abilities are beyond four standard deviations
    one, other = (
        (
            ItemResponse.from_items(
                {"a": a / sd, "b": mean + sd * b, "c": c, "d": d}, [mean, mean + sd], mean=mean, sd=sd
            ),
            ItemResponse.from_items({"a": far["a"] / sd, "b": mean + sd * far["b"]}, [mean], mean=mean, sd=sd),
        )
        for mean, sd in ((0.0, 1.0), (500.0, 100.0))
    )
    for plain, scaled, rows in zip(one, other, (X, np.ones((1, 30), dtype=int))):
        assert_allclose(scaled.posterior(rows), plain.posterior(rows), rtol=1e-9)
        assert_allclose(scaled.ability_, 500 + 100 * plain.ability_)
        assert_allclose(scaled.ability(rows), np.array([[500], [0]]) + 100 * np.array(plain.ability(rows)), rtol=1e-9)


@pytest.mark.slow
def test_weights_are_rows_told_several_times() -> None:
    X, y, sizes = answers(50, most=3, seed=2)
    weight = np.random.default_rng(0).integers(0, 4, 50)
    one = ItemResponse(points=9, tol=1e-9).fit(X, y, weight, n_outcomes=sizes)
    rows = np.repeat(np.arange(50), weight)
    other = ItemResponse(points=9, tol=1e-9).fit(X[rows], y[rows], n_outcomes=sizes)
    assert_allclose(one.tables_, other.tables_, atol=1e-6)
    assert_allclose(one.class_prior_, other.class_prior_)
    assert one.log_likelihood_ == pytest.approx(other.log_likelihood_)
    assert_allclose(one.standard_errors_.intercepts, other.standard_errors_.intercepts, rtol=0.02)


@pytest.mark.slow
def test_labels_say_where_the_bar_is() -> None:
    """Labels drawn by a curve of ability: P(class | ability) is that curve, whichever label sorts first."""
    rng = np.random.default_rng(3)
    bank = ItemResponse.from_items({"a": rng.lognormal(0.3, 0.2, 25), "b": rng.normal(size=25)}, cuts=[0.0], points=81)
    ability = rng.normal(size=4000)
    right = bank.items_.probabilities(ability)[:, 1].T
    X = (rng.random(right.shape) < right).astype(int)
    passed = rng.random(4000) < expit(3 * (ability - 0.5))
    for labels in (["fail", "pass"], ["z", "a"]):
        y = np.array(labels)[passed.astype(int)]
        model = ItemResponse("2PL").fit(X, y)
        top = model.classes_.tolist().index(labels[1])
        joint = np.zeros((2, 61))
        place = np.searchsorted(np.unique(model.ability_), model.ability_)
        joint[model.hidden_class_, place] = model.class_prior_[model.hidden_class_] * model.weights_
        share = joint[top] / joint.sum(axis=0)
        grid = np.unique(model.ability_)
        inside = np.abs(grid) < 2
        assert np.abs(share - expit(3 * (grid - 0.5)))[inside].max() < 0.06
        assert model.class_prior_[top] == pytest.approx(passed.mean())


def test_known_bands_tell_of_the_items() -> None:
    """Two items cannot tell their slopes from answers well; bands of the rows do."""
    true = ItemResponse.from_items({"a": [2.0, 0.5], "b": [0.0, 0.5]}, cuts=[-0.5, 0.5])
    X, y = true.sample(4000, random_state=0)
    told = ItemResponse("2PL", cuts=[-0.5, 0.5], shrinkage=0).fit(X, y)
    within(told.items_.slopes, true.items_.slopes, told.standard_errors_.slopes, "slopes")
    assert told.standard_errors_.slopes.max() < 0.15
    assert told.log_likelihood_ == pytest.approx(objective(told, X, y), rel=1e-6)  # of answers and labels
    with pytest.raises(ValueError, match="y holds the classes 0, 1 and the model has 0, 1, 2"):
        ItemResponse("2PL", cuts=[-0.5, 0.5]).fit(X, np.minimum(y, 1))


TABLES: dict[str, tuple[Any, dict[str, Any], Any]] = {
    "mirt": ({"a1": [1.2], "d": [0.6], "g": [0.2], "u": [0.9]}, {}, lambda t: 0.2 + 0.7 * expit(1.2 * t + 0.6)),
    "mirt, logits": (
        {"a1": [1.2], "d": [0.6], "g": [-1.0], "u": [2.0]},
        {"asymptotes": "logit"},
        lambda t: expit(-1.0) + (expit(2.0) - expit(-1.0)) * expit(1.2 * t + 0.6),
    ),
    "mirt, IRT": ({"a": [1.2], "b": [0.5], "g": [0.2], "u": [1.0]}, {}, lambda t: 0.2 + 0.8 * expit(1.2 * (t - 0.5))),
    "catR": ({"a": [1.2], "b": [0.5], "c": [0.1], "d": [0.9]}, {}, lambda t: 0.1 + 0.8 * expit(1.2 * (t - 0.5))),
    "scaled": ({"a": [1.0], "b": [0.5]}, {"scale": 1.702}, lambda t: expit(1.702 * (t - 0.5))),
    "Rasch": ({"b": [0.5]}, {}, lambda t: expit(t - 0.5)),
    "TAM": ({"alpha": [1.2], "beta": [0.5]}, {}, lambda t: expit(1.2 * (t - 0.5))),
    "TAM, item": (
        {"N": [9], "M": [0.4], "xsi.item": [0.5], "AXsi_.Cat1": [0.5], "B.Cat1.Dim1": [1.0]},
        {},
        lambda t: expit(t - 0.5),
    ),
}


@pytest.mark.parametrize("form", TABLES)
def test_tables_of_other_packages(form: str, tmp_path: Path) -> None:
    table, how, curve = TABLES[form]
    t = np.linspace(-2, 2, 5)
    assert_allclose(ItemParameters.from_table(table, **how).probabilities(t)[0, 1], curve(t))
    frame = pd.DataFrame(table, index=["Q1"])
    frame.to_csv(tmp_path / "bank.csv")
    again = ItemParameters.from_table(tmp_path / "bank.csv", **how)
    assert again.names == ("Q1",)
    assert_allclose(again.probabilities(t)[0, 1], curve(t))


def test_tables_of_several_outcomes() -> None:
    t = np.linspace(-2, 2, 5)
    above = [expit(1.2 * t + d) for d in (1.5, 0.3, -1.0)]
    graded = np.array([1 - above[0], above[0] - above[1], above[1] - above[2], above[2]])
    b = [-1.5 / 1.2, -0.3 / 1.2, 1.0 / 1.2]
    for table in (
        {"a1": [1.2], "d1": [1.5], "d2": [0.3], "d3": [-1.0]},
        {"alphaj": [1.2]} | {f"betaj{k + 1}": [b[k]] for k in range(3)},
    ):
        assert_allclose(ItemParameters.from_table(table).probabilities(t)[0], graded)
    irt = {"a": [1.2]} | {f"b{k + 1}": [b[k]] for k in range(3)}
    assert_allclose(ItemParameters.from_table(irt, kind="graded").probabilities(t)[0], graded)
    steps = np.exp(np.cumsum([0 * t, *(1.2 * (t - one) for one in b)], axis=0))
    partial = steps / steps.sum(axis=0)
    assert_allclose(ItemParameters.from_table(irt, kind="partial credit").probabilities(t)[0], partial)
    levels = -1.2 * np.cumsum(b)
    for table in (
        {"alphaj": [1.2]} | {f"deltaj{k + 1}": [b[k]] for k in range(3)},
        {"a1": [1.2]} | {f"ak{k}": [k] for k in range(4)} | {"d0": [0]} | {f"d{k + 1}": [levels[k]] for k in range(3)},
        {f"alphaj{k + 1}": [1.2 * (k + 1)] for k in range(3)} | {f"cj{k + 1}": [levels[k]] for k in range(3)},
        {f"a{k + 1}": [1.2 * k] for k in range(4)} | {"c1": [0]} | {f"c{k + 2}": [levels[k]] for k in range(3)},
        {f"B.Cat{k + 1}.Dim1": [1.2 * (k + 1)] for k in range(3)}
        | {f"AXsi_.Cat{k + 1}": [-levels[k]] for k in range(3)},
    ):
        assert_allclose(ItemParameters.from_table(table).probabilities(t)[0], partial)


def test_items_of_several_kinds_and_back() -> None:
    nan = np.nan
    frame = pd.DataFrame(
        {
            "item": ["A", "B", "C"],
            "a1": [1.0, 0.7, 1.0],
            "d": [0.5, nan, nan],
            "g": [0.2, nan, nan],
            "d0": [nan, nan, 0.0],
            "d1": [nan, 1.0, 0.4],
            "d2": [nan, -1.0, -0.6],
            "ak0": [nan, nan, 0.0],
            "ak1": [nan, nan, 0.9],
            "ak2": [nan, nan, 2.2],
        }
    )
    items = ItemParameters.from_table(frame)
    assert (items.kinds, items.names) == (("graded", "graded", "nominal"), ("A", "B", "C"))
    assert items.n_outcomes.tolist() == [2, 3, 3]
    again = ItemParameters.from_table(items.to_table())
    t = np.linspace(-3, 3, 7)
    assert_allclose(again.probabilities(t), items.probabilities(t))
    model = ItemResponse.from_items(frame, cuts=[0.0])
    assert (model.n_outcomes_.tolist(), model.feature_names_) == ([2, 3, 3], ["A", "B", "C"])
    step = 1e-5
    P, up, down = (items.probabilities(t + h) for h in (0, step, -step))
    by_t = (up - down) / (2 * step)
    assert_allclose(items.information(t), (by_t**2 / np.maximum(P, 1e-12)).sum(axis=1), rtol=1e-6)


@pytest.mark.parametrize(
    "table, how, words",
    [
        ({"a": [1.0], "d": [0.5]}, {}, "d may be an intercept or an upper asymptote"),
        ({"a1": [1.0], "a2": [0.5], "d": [0.1]}, {}, "unclear what 'a1', 'a2', 'd' mean together"),
        ({"a": [1.0], "b": [0.5], "z": [1]}, {}, r"column 'z' is unclear; .*such as a \(slope\), b \(difficulty\)"),
        ({"slope": [1.0], "d": [0.5]}, {}, "d may be an intercept or an upper asymptote"),
        ({"a": [1.0], "b1": [0.5], "b2": [0.6]}, {}, "may be graded or partial credit; say kind"),
        (
            {"a1": [1.0], "d": [0.5], "g": [-1.4]},
            {},
            'g must be a probability, got -1.4; of logits, say asymptotes="logit"',
        ),
        ({"a": [1.0], "b": [0.5], "c": [0.5], "d": [0.4]}, {}, "c must be below d"),
        ({"a": [1.0], "b": [0.5], "c": [0.5], "u": [0.9]}, {}, "both c and g or u"),
        ({"a1": [1.0], "d1": [-1.0], "d2": [1.0]}, {}, "must fall"),
        ({"a1": [1.0], "d1": [1.0], "d3": [-1.0]}, {}, "d2 is missing"),
        ({"a": [1.0, np.nan], "b": [0.5, np.nan]}, {}, "item 1 has no parameters"),
        ({"a": [1.0, 2.0], "b": [0.5]}, {}, "one length"),
        ({"a": [np.inf], "b": [0.5]}, {}, "item 0: a must be a finite number, got inf"),
        ({"a": ["1,2", "0.8"], "b": [0.5, 0.1]}, {}, "item 0: a must be a finite number, got '1,2'; write decimals"),
        ({"a": [1.0, np.nan], "b": [0.5, 0.1]}, {}, "item 1 has no a, which others have: give it one, 1 if that"),
        ({"a1": [1.0, 1.0], "d": [0.5, 0.1], "g": [np.nan, 0.2]}, {}, "item 0 has no g, which others have"),
        ({"a": [1.0, 1.2], "b": [0.5, np.nan]}, {}, "item 1 has no b, its difficulty"),
        ({"a": [-0.8], "b": [0.5]}, {}, "item 0: a must be above 0, got -0.8: look at its key"),
        ({"a1": [0.0], "d1": [1.0], "d2": [-1.0]}, {}, "a1 must be above 0, got 0"),
        ({"id": ["x", "y", "x"], "b": [0.5, 0.1, 0.2]}, {}, "names the item 'x' twice, in rows 1 and 3, counted"),
        ({"stem": ["x"], "key": ["y"], "b": [0.5]}, {}, "call the one of the items' names 'item' or 'id'"),
        ({}, {}, "no items"),
        ({"item": ["x", "y"], "b": [np.nan, np.nan]}, {}, "table has no columns of parameters"),
        (
            {"AXsi_.Cat1": [0.1], "AXsi_.Cat2": [0.2], "B.Cat1.Dim1": [1.0], "B.Cat2.Dim1": [2.0], "guess": [0.2]},
            {},
            "guess is for items of two outcomes",
        ),
        ({"b": [0.5]}, {"kind": "rating"}, "kind must be one of"),
    ],
)
def test_what_is_unclear_is_refused(table: Any, how: Any, words: str) -> None:
    with pytest.raises(ValueError, match=words) as caught:
        ItemParameters.from_table(table, **how)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    "changed, words",
    [
        ({"kind": "5PL"}, "kind must be one of"),
        ({"cuts": [1.0, 0.0]}, "cuts must be rising"),
        ({"cuts": [0.0], "labels": ["a"]}, "labels must be 2 different ones"),
        ({"labels": ["a", "b"]}, "give cuts too"),
        ({"cuts": [50.0]}, "no point of the ability lies in the band 1; .*abilities, of mean 0 and standard dev"),
        ({"weights": [0.5, 0.5]}, "give points too"),
        ({"points": [1.0, 0.0]}, "rising"),
        ({"guess": 1}, "guess must be above 0"),
        ({"shrinkage": -1}, "shrinkage must be"),
        ({"kind": "2PL"}, "feature 1 has 3 outcomes"),
        ({"sd": 0}, "sd must be"),
    ],
)
def test_wrong_settings_are_named(changed: dict[str, Any], words: str) -> None:
    X, y = np.array([[0, 2], [1, 1], [0, 0], [1, 2]]), [0, 1, 0, 1]
    with pytest.raises(ValueError, match=words):
        ItemResponse(**changed).fit(X, y)
    with pytest.raises(ValueError, match="y is missing"):
        ItemResponse().fit(X)
    with pytest.raises(ValueError, match="X has no rows"):
        ItemResponse(cuts=[0.0]).fit(X[:0])
    with pytest.raises(ValueError, match="cuts is missing"):
        ItemResponse.from_items({"b": [0.0]}, cuts=None)


def test_points_may_be_given() -> None:
    model = ItemResponse.from_items({"b": [0.0]}, cuts=[0.0], points=[-1.0, 0.0, 2.0], weights=[0.5, 0.2, 0.3])
    assert_array_equal(model.hidden_class_, [0, 1, 1])  # who is at a cut is above it
    assert_allclose(model.class_prior_, [0.5, 0.5])
    right = 0.2 * 0.5 + 0.3 * expit(2.0)
    assert_allclose(model.posterior([[1]])[0, 1], right / (right + 0.5 * expit(-1.0)))


def test_items_that_show_one_outcome_say_nothing() -> None:
    X, y, _ = answers()
    X[:, 2] = 0
    model = ItemResponse("3PL").fit(X, y)
    assert model.n_outcomes_.tolist() == [2, 2, 1, 2]
    assert np.isnan(model.items_.slopes[2]).all()
    assert_allclose(model.posterior([[-1, -1, 0, -1]])[0], model.class_prior_)


@pytest.mark.slow
def test_answers_that_are_all_alike_or_missing() -> None:
    for X in (np.zeros((6, 3), dtype=int), np.full((6, 3), -1)):
        model = ItemResponse("2PL", cuts=[0.0]).fit(X)
        assert_allclose(model.posterior(X), model.class_prior_[None].repeat(6, axis=0))
        labelled = ItemResponse("2PL").fit(X, [0, 0, 1, 1, 1, 1])
        assert_allclose(labelled.posterior(X[:1]), [[1 / 3, 2 / 3]], atol=1e-9)
    one = ItemResponse("2PL").fit(np.array([[0, 1], [1, 0]]), ["only", "only"])
    assert_allclose(one.posterior([[1, 1]]), [[1.0]])


def test_saved_and_loaded(tmp_path: Path) -> None:
    X, y, _ = answers(missing=0.1)
    model = ItemResponse("3PL").fit(X, y)
    seqclass.persistence.save(model, tmp_path / "model.seq")
    again = seqclass.load(tmp_path / "model.seq")
    assert_array_equal(again.posterior(X), model.posterior(X))
    assert_array_equal(again.items_.lower, model.items_.lower)
    assert_array_equal(again.ability(X)[1], model.ability(X)[1])
    model.weights_ = model.weights_ * 2
    seqclass.persistence.save(model, tmp_path / "model.seq")
    with pytest.raises(ValueError, match="weights_ are wrong"):
        seqclass.load(tmp_path / "model.seq")


@pytest.mark.parametrize("right", [0, 1])
def test_abilities_beyond_four_standard_deviations_are_found(right: int) -> None:
    """Hard items that are all right, or easy ones all wrong, by integration."""
    hard = np.linspace(3, 5, 20) * (1 if right else -1)
    z = np.linspace(-12, 12, 20_001)
    density = np.exp(-(z**2) / 2) * expit((2 * right - 1) * 1.7 * (z[:, None] - hard)).prod(axis=1)
    mean = density @ z / density.sum()
    sd = np.sqrt(density @ (z - mean) ** 2 / density.sum())
    model = ItemResponse.from_items({"a": np.full(20, 1.7), "b": hard}, cuts=[0.0])
    found = model.ability(np.full((1, 20), right))
    assert_allclose(np.ravel(found), [mean, sd], atol=0.01)
    assert abs(mean) > 4.5
    assert len(ItemResponse.from_items({"b": [-1.0, 0.0, 1.0]}, cuts=[0.0]).ability_) == 62  # as many as ever: 61 cells
    given = ItemResponse.from_items({"a": np.full(20, 1.7), "b": hard}, cuts=[0.0], points=np.linspace(-4, 4, 50))
    with pytest.warns(UserWarning, match="points: some abilities lie at or beyond"):
        given.ability(np.full((1, 20), right))


def test_no_item_is_steeper_than_forty_and_no_point_beyond_thirty_standard_deviations() -> None:
    ability = np.random.default_rng(0).normal(size=400)
    X = (ability[:, None] > np.linspace(-1, 1, 8)).astype(int)  # whose likeliest curves are steps
    steps = ItemResponse("2PL", cuts=[0.0], shrinkage=0, max_iter=50, points=21, standard_errors=False).fit(X)
    assert 38 < steps.items_.slopes.max() < 42
    far = ItemResponse.from_items({"a": np.full(20, 5.0), "b": np.full(20, 60.0)}, cuts=[0.0])
    assert 29 < far.ability_.max() < 30


@pytest.mark.parametrize("n", [12, 100])
@pytest.mark.parametrize("kind", ["1PL", "2PL"])
def test_standard_errors_are_by_the_scores_of_rows(kind: str, n: int) -> None:
    """Scores by differences of each row's log-likelihood: of all parameters, or with few rows of each item's."""
    X, _, _ = answers(n, n_items=3)
    grid = np.linspace(-4, 4, 15)
    model = ItemResponse(kind, cuts=[0.0], points=grid, tol=1e-7).fit(X)
    mass = norm.pdf(grid) / norm.pdf(grid).sum()
    slopes, levels = model.items_.slopes[:, 0], model.items_.intercepts[:, 0]

    def heights(parameters: Any) -> Any:
        right = expit(np.exp(parameters[:3, None]) * grid + parameters[3:, None])
        return np.log(np.prod(np.where(X[:, :, None], right, 1 - right), axis=1) @ mass)

    at, step = np.concatenate([np.log(slopes), levels]), 1e-5 * np.eye(6)
    scores = np.stack([(heights(at + one) - heights(at - one)) / 2e-5 for one in step], axis=1)
    precision, found = np.repeat([1 / 0.5**2, 1 / 3**2], 3), model.standard_errors_
    if kind == "1PL":
        scores[:, 0], kept = scores[:, :3].sum(axis=1), [0, 3, 4, 5]
    for j in range(3):
        own = [0 if kind == "1PL" else j, 3 + j]
        some = own if n == 12 else kept if kind == "1PL" else [*range(6)]
        covariance = np.linalg.inv(scores[:, some].T @ scores[:, some] + np.diag(precision[some]))
        slope, level = np.sqrt(np.diag(covariance))[[some.index(one) for one in own]]
        assert_allclose([found.slopes[j, 0], found.intercepts[j, 0]], [slopes[j] * slope, level], rtol=1e-3)


def test_five_rows_for_each_parameter_tell_of_all_parameters_together() -> None:
    """With fewer an item's errors are of its own: at thirty rows for two of three items they change at once."""
    X = np.random.default_rng(0).integers(0, 2, (60, 3))

    def errors(n_rows: float) -> Any:
        settings: dict[str, Any] = {"cuts": [0.0], "points": 9, "max_iter": 300}
        return ItemResponse("2PL", **settings).fit(X, sample_weight=np.full(60, n_rows / 60)).standard_errors_.slopes

    for n_rows, at_once in ((20, False), (30, True), (60, False)):
        assert (abs(errors(n_rows * (1 - 1e-6)) / errors(n_rows * (1 + 1e-6)) - 1).max() > 1e-3) == at_once


def test_points_reach_to_where_one_in_ten_thousand_of_the_best_is_beyond() -> None:
    model = ItemResponse.from_items({"a": np.full(20, 2.0), "b": np.full(20, 5.0)}, cuts=[0.0])
    z = np.linspace(-12, 12, 20_001)
    density = norm.pdf(z) * expit(2 * (z - 5)) ** 20
    # the last point is the mean of the abilities in the last of 61 cells to four standard deviations, and beyond
    ends = np.arange(4, 9, 0.01)
    end = ends[np.argmin(np.abs(norm.pdf(ends) / norm.sf(ends) - model.ability_.max()))]
    assert 5e-5 < density[z > end + 8 / 61].sum() / density.sum() < 1.1e-4


def test_points_that_hardly_anybody_has_are_left_out_of_a_class() -> None:
    """One in a thousand million of its abilities."""
    for share, n_points in ((1.3e-9, 3), (0.8e-9, 2)):
        points = [-1.0, 1.0, np.sqrt(1 - 2 * np.log(share))]
        assert len(ItemResponse.from_items({"b": [0.0]}, cuts=[0.0], points=points).ability_) == n_points


def test_an_ability_at_the_last_points_is_told_of() -> None:
    """More than one part in a hundred of it."""
    for end, told in ((2.9, False), (2.8, True)):  # 0.9% and 1.1%
        model = ItemResponse.from_items({"b": [0.0]}, cuts=[0.0], points=np.linspace(-end, end, 9))
        with pytest.warns(UserWarning, match="at or beyond the first") if told else nullcontext():
            model.ability([[-1]])


def test_points_reach_as_far_where_items_are_learnt() -> None:
    rng = np.random.default_rng(0)
    ability = rng.normal(size=1500)
    X = (rng.random((1500, 12)) < expit(2.5 * (ability[:, None] - 2.2))).astype(int)
    X[:, ::2] = (rng.random((1500, 6)) < expit(2.5 * (ability[:, None] - np.linspace(2, 4, 6)))).astype(int)
    model = ItemResponse("2PL", cuts=[0.0], standard_errors=False).fit(X)
    again = ItemResponse.from_items(model.items_, cuts=[0.0])
    assert model.ability_.max() > 4.3
    assert_allclose(model.ability(X[:5]), again.ability(X[:5]))


def test_a_table_leaves_out_items_of_one_outcome() -> None:
    X, *_ = answers()
    X[:, 2] = 0
    model = ItemResponse("3PL", cuts=[0.0]).fit(X)
    with pytest.warns(UserWarning, match="to_table: items 2 have one outcome"):
        table = model.items_.to_table()
    again = ItemResponse.from_items(table, cuts=[0.0])
    assert again.feature_names_ == ["0", "1", "3"]
    assert_allclose(again.posterior(X[:9, [0, 1, 3]]), model.posterior(X[:9]))


def test_columns_that_name_items_or_models_are_known(tmp_path: Path) -> None:
    plain = {"a": [1.0, 2.0], "b": [0.0, 1.0]}
    slopes = [[1.0], [2.0]]
    for more, index, names in (
        ({"item": ["x", "y"], "MODEL": ["2PL", "2PL"]}, None, ("x", "y")),
        ({"MODEL": ["2PL", "2PL"]}, ["x", "y"], ("x", "y")),
        ({"item": [101, 102]}, None, ("101", "102")),
        ({"ID": [7.0, 8.0]}, None, ("7", "8")),
    ):
        items = ItemParameters.from_table(pd.DataFrame({**more, **plain}, index=index))
        assert items.names == names
        assert items.slopes.tolist() == slopes
    steps = {"item": ["x", "y"], "model": ["GRM", "GPCM"], "a": [1.0, 1.0], "b1": [-1.0, -1.0], "b2": [1.0, 1.0]}
    assert ItemParameters.from_table(steps).kinds == ("graded", "nominal")
    path = tmp_path / "items.csv"
    path.write_text("item,a,b,b1,b2\nNA,1,0,NA,NA\nnull,2,1,,\n")
    assert ItemParameters.from_table(path).names == ("NA", "null")
    with pytest.raises(ValueError, match="row 2, counted from 1, has no name in the column 'item'"):
        ItemParameters.from_table(pd.DataFrame({"item": ["x", None], **plain}))


def test_answers_that_are_coded_from_one_are_told_of() -> None:
    X = np.random.default_rng(0).integers(1, 5, (60, 3))
    with pytest.warns(UserWarning, match="coded 1 to 4, subtract 1"):
        ItemResponse(cuts=[0.0], standard_errors=False, max_iter=2).fit(X)
    ItemResponse(cuts=[0.0], standard_errors=False, max_iter=2).fit(X - 1)


@pytest.mark.parametrize(
    ("table", "ours"),
    [
        (
            {"ID": [7, 8, 9], "MODEL": ["1PL", "3PL", "GR"], "PAR1": [0.5, 1.2, 1.4], "PAR2": [None, 0.3, -1.0]}
            | {"PAR3": [None, 0.2, 0.7], "area": ["algebra", "geometry", "algebra"]},
            {"a": [1.0, 1.2, 1.4], "b": [0.5, 0.3, None], "c": [0.0, 0.2, None]}
            | {"b1": [None, None, -1.0], "b2": [None, None, 0.7]},
        ),
        (
            {
                "ItemID": ["p", "q"],
                "NCAT": [3, 4],
                "a": [2.0, 3.0],
                "CB1": [-1, -0.5],
                "CB2": [0, 0.5],
                "CB3": [None, 1],
            },
            {"a": [2.0, 3.0], "b1": [-1, -0.5], "b2": [0, 0.5], "b3": [None, 1]},
        ),
        ({"param_a": [1.1], "param_b": [0.2], "param_c": [0.1]}, {"a": [1.1], "b": [0.2], "c": [0.1]}),
    ],
)
def test_tables_of_testdesign_promis_and_others_are_read_as_they_stand(
    table: dict[str, Any], ours: dict[str, Any], tmp_path: Path
) -> None:
    pd.DataFrame(table).to_csv(tmp_path / "bank.csv", index=False)
    wanted = ItemParameters.from_table(pd.DataFrame(ours, dtype=float), kind="graded")
    for given_table in (pd.DataFrame(table), tmp_path / "bank.csv"):
        read = ItemParameters.from_table(given_table)
        assert_allclose(read.intercepts, wanted.intercepts)
        assert_allclose(read.lower, wanted.lower)
        assert read.names == (tuple(map(str, next(iter(table.values())))) if len(wanted) > 1 else None)


def test_what_numbered_parameters_mean_has_to_be_said() -> None:
    with pytest.raises(ValueError, match="mean nothing without a column MODEL"):
        ItemParameters.from_table({"PAR1": [1.0]})
    with pytest.raises(ValueError, match="row 2, counted from 1: the model '5PL' is none of"):
        ItemParameters.from_table({"PAR1": [1.0, 1.0], "MODEL": ["1PL", "5PL"]})


def test_what_is_a_parameter_is_never_passed_over(tmp_path: Path) -> None:
    bank = pd.DataFrame({"id": ["x", "y"], "area": ["s", "t"], "a": ["1.2", "NA"], "b": ["0,5", "0.1"]})
    bank.to_csv(tmp_path / "bank.csv", index=False)
    with pytest.raises(ValueError, match="item 'x': b must be a finite number, got '0,5'"):
        ItemParameters.from_table(tmp_path / "bank.csv")
    bank.to_csv(tmp_path / "semicolons.csv", index=False, sep=";")
    with pytest.raises(ValueError, match="read it by pandas, with sep="):
        ItemParameters.from_table(tmp_path / "semicolons.csv")
    for content, says in (
        ("item,a,b\nqü,1,0\n".encode("latin-1"), "bank.csv cannot be read: it is no text in UTF-8"),
        (b"", "bank.csv cannot be read: No columns"),
        (b"item,a,b\nq1,1,0\nq2,1,0,5\n", "bank.csv cannot be read: .* saw 4"),
        (b"item,a,b\nq1,1,2,0.5\n", "bank.csv have more cells than the first"),  # by pandas q1 is no column
    ):
        (tmp_path / "bank.csv").write_bytes(content)
        with pytest.raises(ValueError, match=says):
            ItemParameters.from_table(tmp_path / "bank.csv")
    capitals = {"item": ["x"], "A": [1.5], "Difficulty": [0.5], "Guessing": [0.2]}
    items = ItemParameters.from_table(capitals)
    assert (items.slopes.item(), items.intercepts.item(), items.lower.item()) == (1.5, -0.75, 0.2)
    answers_to_choose = {"item": ["x"], "A": ["four"], "B": ["five"], "a": [1.5], "b": [0.5]}
    assert ItemParameters.from_table(answers_to_choose).slopes.item() == 1.5


def test_an_item_may_lack_what_its_model_has_no_need_of() -> None:
    nan = np.nan
    table = {"model": ["Rasch", "2PL", "3PL"], "a": [nan, 1.2, 1.4], "b": [0.0, 0.1, 0.2], "c": [nan, nan, 0.2]}
    items = ItemParameters.from_table(table)
    assert items.slopes.ravel().tolist() == [1.0, 1.2, 1.4]
    with pytest.raises(ValueError, match="item 1 has no a"):
        ItemParameters.from_table(table | {"a": [nan, nan, 1.4]})


def test_slopes_of_the_other_way_are_read_if_that_is_said() -> None:
    table = {"a": [-0.8, 1.0], "b": [0.5, 0.0]}
    assert ItemParameters.from_table(table, any_slope=True).slopes.ravel().tolist() == [-0.8, 1.0]
    with pytest.warns(UserWarning, match="item 0: a is 85; has its point been forgotten"):
        ItemParameters.from_table({"a": [85.0], "b": [0.5]})


@pytest.mark.parametrize(("cut", "band"), [(9.0, "pass"), (-9.0, "fail")])
def test_cuts_beyond_where_anybody_is_are_told_of(cut: float, band: str) -> None:
    with pytest.warns(UserWarning, match=f"cuts: 0.0% of all abilities, of mean 0 .* are in the band '{band}'"):
        ItemResponse.from_items({"b": [0.0]}, [cut], labels=["fail", "pass"])
    near = cut * 3.15 / 9
    with pytest.warns(UserWarning, match=f"cuts: 0.1% of all abilities, of mean 0 .* are in the band '{band}'"):
        ItemResponse.from_items({"b": [0.0]}, [near], labels=["fail", "pass"])
    ItemResponse.from_items({"b": [0.0]}, [near * 3.05 / 3.15], labels=["fail", "pass"])  # 0.114%
    with pytest.raises(ValueError, match="mean must be between -1e\\+06 and 1e\\+06, got inf"):
        ItemResponse.from_items({"b": [0.0]}, [0.0], mean=np.inf)
    with pytest.raises(ValueError, match=r"such as cuts=\[0.0\]; got 0.3"):
        ItemResponse.from_items({"b": [0.0]}, 0.3)


@pytest.mark.parametrize("missing", [np.nan, pd.NA, -1])
def test_answers_are_read_by_name_and_blanks_are_missing(missing: Any) -> None:
    X, *_ = answers(missing=0.2)
    names = ["x", "y", "z", "w"]
    frame = pd.DataFrame(X, columns=names).astype("Int64").mask(X < 0, missing)
    model, plain = (ItemResponse("2PL", cuts=[0.0], max_iter=5) for _ in range(2))
    model.fit(frame)
    assert_array_equal(plain.fit(X).items_.slopes, model.items_.slopes)
    assert (model.items_.names, model.feature_names_) == (tuple(names), names)
    assert model.items_.to_table().index.tolist() == model.standard_errors_.to_table().index.tolist() == names
    assert_array_equal(model.ability(frame[names[::-1]]), model.ability(X))
    assert_array_equal(model.posterior(frame.astype(float) if missing is not pd.NA else frame), model.posterior(X))
    if missing is not pd.NA:  # as arrays, of rows that lack an answer and of those that lack none
        told = frame.astype(float).to_numpy()
        for rows in (told, told[(X >= 0).all(axis=1)], told[:3].tolist()):
            assert_array_equal(model.ability(rows), model.ability(np.where(np.isnan(rows), -1, rows).astype(int)))
    objects = frame.to_numpy(dtype=object)
    masked = np.ma.array(np.where(X < 0, 1, X), mask=X < 0)
    for form in (objects, masked, masked.astype(float)):
        assert_array_equal(model.ability(form), model.ability(X))
        assert_array_equal(ItemResponse("2PL", cuts=[0.0], max_iter=5).fit(form).items_.slopes, plain.items_.slopes)
    with pytest.raises(ValueError, match="evidence has no column 'z'"):
        model.ability(frame.drop(columns="z"))
    with pytest.raises(TypeError, match="integer outcome codes"):
        model.ability(X + 0.5)
    with pytest.raises(ValueError, match=r"item 'z' has 4 outcomes, and kind='2PL' takes two"):
        ItemResponse("2PL", cuts=[0.0]).fit(frame.fillna(0).assign(z=3))


def test_a_session_takes_no_answer_for_a_missing_one() -> None:
    exam = ItemResponse.from_items(BANK, cuts=[0.0], labels=["fail", "pass"], points=11)
    solver = seqclass.pomdp.Lookahead(certificate_paths=0)
    clf = seqclass.SequentialClassifier.from_model(exam, feature_costs=0.001, order="adaptive", solver=solver)
    case = clf.session()
    name = case.next_feature.name  # type: ignore[union-attr]
    for answer in (-1, "-1", -2):
        with pytest.raises(
            ValueError, match=f"feature '{name}' must be an outcome from 0 on, got .*unavailable if it is"
        ):
            case.observe(name, answer)
    with pytest.raises(ValueError, match=f"column {name.removeprefix('x')} holds 2, not an outcome of the model"):
        case.observe(name, 2)
    assert not case.history


def test_nobody_who_guesses_has_an_asymptote_at_the_limit() -> None:
    """Of items that nobody guesses or slips at, the likelihood rises to no asymptote at all."""
    rng = np.random.default_rng(0)
    ability = np.repeat([-1.0, 1.0], 100)
    X = (rng.random((200, 4)) < np.where(ability > 0, 0.98, 0.02)[:, None]).astype(int)
    X[:100, 0] = 0
    items = ItemResponse("3PL", cuts=[0.0], shrinkage=0, standard_errors=False, points=11).fit(X).items_
    assert items.to_table()["g"].min() == pytest.approx(expit(-12), rel=0.01)
