"""A score with its precision: by hand on three items, and by simulation whether intervals hold and costs are kept."""

from __future__ import annotations

from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner
from numpy.testing import assert_allclose, assert_array_equal
from scipy.stats import norm

import seqclass
from seqclass.cli import main
from seqclass.exams import ItemParameters, ItemResponse, ScoreEstimates, estimate
from seqclass.exams.estimates import ScoreStates
from seqclass.export import export_policy
from seqclass.persistence import save
from seqclass.pomdp import certify

BANK = {"a1": [1.5, 0.8, 1.2], "d": [0.5, -0.2, np.nan], "d1": [np.nan] * 2 + [1.0], "d2": [np.nan] * 2 + [-0.5]}
POINTS = [-1.5, -0.5, 0.4, 1.6]


def simulated(n_items: int = 40, n: int = 1500, seed: int = 0) -> tuple[ItemResponse, Any, Any]:
    """A bank, answers, and abilities."""
    rng = np.random.default_rng(seed)
    bank = {"a": rng.lognormal(0.2, 0.3, n_items), "b": rng.normal(size=n_items)}
    model = ItemResponse.from_items(bank, cuts=[0.0], points=41)
    ability = rng.choice(model.ability_, n, p=model._hidden_prior)
    chance = ItemParameters.from_table(bank).probabilities(ability)[:, 1].T
    return model, (rng.random(chance.shape) < chance).astype(int), ability


def families(n: int = 160, n_items: int = 60, seed: int = 0) -> Any:
    """Answers of persons of whom each is like another one, but for a tenth of the items; abilities tell little."""
    rng = np.random.default_rng(seed)
    parents = rng.random((8, n_items)) < rng.beta(3, 2, 8)[:, None]
    own = parents[rng.integers(0, 8, n)]
    return np.where(rng.random(own.shape) < 0.1, ~own, own).astype(int)


@pytest.mark.quick
@pytest.mark.parametrize("target", ["accuracy", "ability"])
def test_an_estimate_is_what_enumeration_of_the_other_answers_finds(target: str) -> None:
    model = ItemResponse.from_items(BANK, cuts=[0.0], points=POINTS)
    plan = estimate(model, target=target, max_items=2)
    tables = model.items_.probabilities(POINTS)
    prior = np.exp(-0.5 * np.square(POINTS))
    for seen in ([1, -1, -1], [-1, 0, 2], [-1, -1, -1], [0, 1, 1]):
        values, weights = [], []
        for s, ability in enumerate(POINTS):
            for whole in product(range(2), range(2), range(3)):
                if all(v in (-1, w) for v, w in zip(seen, whole)):
                    chance = np.prod([tables[j, v, s] for j, v in enumerate(whole)])
                    values.append(ability if target == "ability" else (whole[0] + whole[1] + whole[2] / 2) / 3)
                    weights.append(prior[s] * chance)
        mean = np.average(values, weights=weights)
        sd = np.sqrt(np.average((np.array(values) - mean) ** 2, weights=weights))
        scores = plan.scores([seen])
        assert_allclose([scores.estimate[0], scores.standard_error[0]], [mean, sd], atol=1e-10)


@pytest.mark.parametrize(("target", "cost"), [("accuracy", "squared"), ("ability", "absolute")])
def test_intervals_hold_and_costs_are_those_of_the_decision_problem(target: str, cost: str) -> None:
    model, X, ability = simulated()
    plan = estimate(model, target=target, cost=cost, max_items=8)
    scores = plan.acquire(X)
    true = X.mean(axis=1) if target == "accuracy" else ability
    assert 0.93 <= np.mean((scores.lower <= true) & (true <= scores.upper)) <= 0.97
    assert set(scores.n_items) == {8}
    assert all(len(set(one)) == 8 for one in scores.items)
    assert_allclose(np.sqrt(np.mean((scores.estimate - true) ** 2)), scores.standard_error.mean(), rtol=0.1)
    values = plan.classifier.classes_
    apart = np.abs(values[:, None] - values)
    assert_allclose(plan.classifier.problem_.decision_costs, apart**2 if cost == "squared" else apart, atol=1e-3)


def test_the_first_answers_that_make_it_precise_end_it() -> None:
    bank, X = {"b": np.linspace(-2, 2, 12)}, np.random.default_rng(0).integers(0, 2, (20, 12))
    until: dict[str, Any] = {"target": "ability", "standard_error": 0.6}
    scores = estimate(bank, **until).acquire(X)
    assert scores.standard_error.max() <= 0.6
    one_less = estimate(bank, **until, max_items=int(scores.n_items.min()) - 1).acquire(X)
    assert one_less.standard_error.min() > 0.6


@pytest.mark.slow
def test_it_stops_when_precise_or_when_another_item_does_not_pay() -> None:
    model, X, _ = simulated(15, 100)
    precise = estimate(model, standard_error=0.08).acquire(X)
    assert precise.standard_error.max() <= 0.08
    assert len(set(precise.n_items)) > 1
    assert_array_equal(estimate(model, standard_error=0.08, max_items=3).acquire(X).n_items, 3)
    before = estimate(model, target="ability", cost="absolute", standard_error=0.5)
    assert before.acquire(X).standard_error.mean() == pytest.approx(0.5, abs=0.03)
    counts = [estimate(model, price=price, max_items=10).acquire(X).n_items.mean() for price in (3e-4, 3e-3)]
    assert counts[0] > counts[1] + 1


@pytest.mark.slow
def test_what_a_bank_cannot_bring_to_a_standard_error_ends_at_a_price_or_a_number(tmp_path: Path) -> None:
    model, X, ability = simulated(30, 200)
    until: dict[str, Any] = {"target": "ability", "standard_error": 0.35}
    every, priced = (estimate(model, **until, **more).acquire(X) for more in ({}, {"price": 4e-3}))
    above = every.standard_error > 0.35
    assert 0 < above.sum() < len(X)
    assert (every.n_items[above] == 30).all()  # as nothing else ends it
    assert np.abs(ability[above]).mean() > np.abs(ability[~above]).mean() + 0.5  # at the ends of the scale
    assert priced.n_items[above].mean() < 25
    assert priced.n_items.max() < 30
    assert_array_equal(estimate(model, **until, price=1e-9, max_items=4).acquire(X).n_items, 4)
    plan = estimate(model, **until, price=4e-3)
    plan.save(tmp_path / "plan.seq")
    assert_array_equal(seqclass.load(tmp_path / "plan.seq").acquire(X).n_items, priced.n_items)


@pytest.mark.parametrize("stop", [{}, {"standard_error": 1e-3}, {"price": 1e-6}])
def test_rules_and_the_most_items_are_kept_together(stop: dict[str, float]) -> None:
    bank = {"b": np.linspace(-1, 1, 6)}
    rules = {"areas": {"low": {"items": ["x0", "x1", "x2"], "at_least": 2, "at_most": 2}}}
    plan = estimate(bank, max_items=3, rules=rules, **stop)
    items = plan.ask(lambda item: 1).items[0]
    assert len(items) == 3
    assert len({"x0", "x1", "x2"} & set(items)) == 2
    with pytest.raises(ValueError, match="2 questions have to be asked, and at most 1 may be"):
        estimate(bank, max_items=1, rules=rules, **stop)


def test_many_scores_are_put_into_cells() -> None:
    for n, n_cells in ((60, 60), (61, 30)):
        model = ItemResponse.from_items({"b": [0.0]}, cuts=[0.0], points=np.linspace(-3, 3, n))
        assert len(estimate(model, target="ability", max_items=1).classifier.classes_) == n_cells


@pytest.mark.slow
def test_persons_who_are_known_tell_more_than_their_ability_and_intervals_are_held_against_them() -> None:
    X = families()
    known, new = X[:100], X[100:]
    bank = ItemResponse("2PL", cuts=[0.0], standard_errors=False, points=21, tol=1e-2).fit(known)
    plain, plan = estimate(bank, max_items=10), estimate(bank, known, max_items=10)
    true = new.mean(axis=1)
    errors = [np.abs(one.acquire(new).estimate - true).mean() for one in (plain, plan)]
    assert errors[1] < 0.7 * errors[0]
    scores = plan.acquire(new)
    assert np.mean((scores.lower <= true) & (true <= scores.upper)) >= 0.9
    assert plan.widening != 1.0
    missing = np.where(np.random.default_rng(0).random(known.shape) < 0.1, np.nan, known)
    assert estimate(bank, missing, max_items=10).widening == 1.0  # nobody's accuracy is known


@pytest.mark.slow
def test_items_that_are_learnt_know_nobody_who_is_kept_aside() -> None:
    """Intervals are as wide as plans of the others, made by themselves, were wrong about each fifth of the persons."""
    rng = np.random.default_rng(0)
    X = (rng.random((45, 6)) < norm.cdf(rng.normal(size=(45, 1)) - rng.normal(size=6))).astype(int)
    apart = []
    for fold in range(5):
        plan = estimate(None, np.delete(X, np.s_[fold::5], axis=0), max_items=2)
        assert plan.widening == 1.0  # of so few
        scores = plan.acquire(X[fold::5])
        apart += (np.abs(scores.estimate - X[fold::5].mean(axis=1)) / scores.standard_error).tolist()
    for confidence, rank in ((0.95, 44), (0.8, 37)):  # of 46 * confidence, rounded up
        whole = estimate(None, X, max_items=2, confidence=confidence)
        assert whole.widening == pytest.approx(sorted(apart)[rank - 1] / norm.ppf((1 + confidence) / 2))
    codes = np.where(np.arange(6) < 2, X[:3], -1)
    found, (score, error) = whole.scores(codes), whole.states.moments(codes)
    assert whole.widening != 1
    assert_allclose([found.estimate, found.standard_error], [score, whole.widening * error])


def test_a_person_who_is_known_stands_for_those_who_differ_in_a_tenth_and_in_three_tenths_of_the_answers() -> None:
    """What they answer there is what their ability predicts, but for a fiftieth; of fewer than 40 no error is known."""
    model = ItemResponse.from_items({"a": [1.0, 1.5, 2.0], "b": [-1.0, 0.0, 0.5]}, cuts=[0.0], points=POINTS)
    X = np.random.default_rng(0).integers(0, 2, (40, 3))
    few, plan = (estimate(model, rows, max_items=2) for rows in (X[:39], X))
    assert few.widening == 1.0 != plan.widening
    tables, prior = model.items_.probabilities(POINTS), np.exp(-0.5 * np.square(POINTS))
    for i, row in enumerate(X):
        ability = prior * np.prod([tables[j, v] for j, v in enumerate(row)], axis=0)
        curve = 0.98 * tables @ (ability / ability.sum()) + 0.01
        found = plan.states.tables[:, :, plan.states.person == i]
        for n, share in enumerate((0.1, 0.3)):
            assert_allclose(found[:, :, n], (1 - share) * np.eye(2)[row] + share * curve)
    # they weigh as much as makes each person likeliest by all others
    n_abilities = int((plan.states.person < 0).sum())
    chance = np.array([[tables[j, v] for j, v in enumerate(row)] for row in X]).prod(axis=1)
    of_parts = [chance @ prior / prior.sum()]
    for part in (0, 1):
        own = plan.states.tables[:, :, n_abilities + 40 * part : n_abilities + 40 * (part + 1)]
        alike = np.array([[np.prod([own[j, v, i] for j, v in enumerate(row)]) for i in range(40)] for row in X])
        of_parts.append((alike.sum(axis=1) - np.diag(alike)) / 39)
    weight = np.ones(3) / 3
    for _ in range(50):  # steps of expectation maximisation
        each = weight[:, None] * np.array(of_parts)
        weight = (each / each.sum(axis=0)).mean(axis=1)
    ends = np.split(plan.states.prior, [n_abilities, n_abilities + 40])
    assert_allclose([part.sum() for part in ends], weight, atol=1e-3)


def test_a_plan_is_lived_saved_certified_and_exported(tmp_path: Path) -> None:
    model, X, _ = simulated(6, 3)
    plan = estimate(model, pd.DataFrame(X, columns=[f"item {j}" for j in range(6)]), target="ability", max_items=3)
    scores, one = plan.acquire(X), plan.ask(lambda name: X[1, int(name.split()[1])])
    assert one.items[0] == scores.items[1]
    assert len(scores.to_frame()) == 3
    assert len(repr(scores)) < 300
    assert_allclose(one.estimate[0], scores.estimate[1])
    session = plan.classifier.session()
    session.unavailable(first := session.next_feature.name)
    session.observe(session.next_feature.name, 1)
    told = plan._estimate_session(session)  # one that was asked and not to be had tells nothing
    codes = np.full((1, 6), -1)
    codes[0, int(session.history[1].name.split()[1])] = 1
    assert_allclose(told.estimate, plan.scores(codes).estimate)
    assert (told.items[0][0], told.n_items.tolist()) == (first, [1])
    live = plan.ask(lambda name: None if name == first else 1)  # as a call that failed
    assert (live.items[0][:2], live.n_items[0]) == (told.items[0][:2], len(live.items[0]) - 1)
    save(plan, tmp_path / "plan.seq")
    again = seqclass.load(tmp_path / "plan.seq")
    assert_allclose(again.acquire(X).lower, scores.lower)
    certificate = certify(plan.classifier.problem_, plan.classifier.policy_, n_paths=200)
    assert 0 < certificate.lower <= certificate.upper + 1e-12
    export_policy(plan.classifier, tmp_path / "page.json", format="json")
    precise = estimate(model, standard_error=0.05).classifier
    with pytest.raises(ValueError, match=r"it stops at a standard error.* max_nodes=5 nodes: let it stop by max_items"):
        export_policy(precise, tmp_path / "page.html", max_nodes=5)
    assert export_policy(precise, tmp_path / "page.html")["kind"] == "graph"  # which is small here
    assert isinstance(scores, ScoreEstimates)


@pytest.mark.slow
def test_scores_are_predicted_at_the_command_line_on_a_scale_of_reports(tmp_path: Path) -> None:
    bank = {"a": [1.5] * 8, "b": np.linspace(-1, 1, 8), "item": [f"q{j}" for j in range(8)]}
    plain, scaled = (
        estimate(pd.DataFrame(bank), target="ability", standard_error=0.6 * scale[1], scale=scale)
        for scale in ((0.0, 1.0), (500.0, 100.0))
    )
    rows = pd.DataFrame(np.random.default_rng(0).integers(0, 2, (6, 8)), columns=bank["item"])
    told, other = plain.acquire(rows), scaled.acquire(rows)
    for name in ("estimate", "lower", "upper"):
        assert_allclose(getattr(other, name), 500 + 100 * getattr(told, name))
    assert_allclose(other.standard_error, 100 * told.standard_error)
    assert told.items == other.items
    assert [one.to_frame().attrs["units"]["lower"] for one in (told, other)] == [
        "points of ability",
        "points of the scale",
    ]
    names = [one.classifier.classes_.astype(float) for one in (plain, scaled)]
    assert_allclose(names[1], 500 + 100 * names[0], atol=0.01)
    assert repr(scaled) == "<ScorePlan: ability on the scale 500 ± 100 from 8 items, 95% intervals>"
    scaled.save(tmp_path / "score.seq")
    rows.assign(who=[*"abcdef"]).to_csv(tmp_path / "rows.csv", index=False)
    paths = [str(tmp_path / name) for name in ("score.seq", "rows.csv")]
    done = CliRunner().invoke(main, ["predict", *paths, "--keep", "who", "-o", str(tmp_path / "out.csv")])
    assert "Estimated 6 rows in" in done.output
    assert "in points of the scale." in " ".join(done.output.split())
    written = pd.read_csv(tmp_path / "out.csv")
    columns = ["estimate", "standard_error", "lower", "upper"]
    assert list(written.columns) == ["who", *columns, "n_features", "paid", "asked"]
    assert_allclose(written[columns], other.to_frame()[columns], rtol=1e-5)
    assert written["asked"].str.split(";").tolist() == list(map(list, other.items))
    rows.to_parquet(tmp_path / "rows.parquet")
    how = [paths[0], str(tmp_path / "rows.parquet"), "-o", str(tmp_path / "folder")]
    assert "estimated of a table in one file" in CliRunner().invoke(main, ["predict", *how]).output


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"bank": None, "max_items": 1}, "bank is missing"),
        ({}, "say when to stop"),
        ({"target": "score", "max_items": 1}, "target"),
        ({"cost": "cubed", "max_items": 1}, "cost"),
        ({"confidence": 1.0, "max_items": 1}, "confidence"),
        ({"standard_error": 0.0}, "standard_error"),
        ({"scale": (500, 100), "max_items": 1}, "scale is for target"),
        ({"scale": 500, "max_items": 1}, "scale must be two numbers, .*; got 500"),
        ({"scale": (500,), "max_items": 1}, "scale must be two numbers"),
        ({"answers": [[1, 0]], "max_items": 1}, "answers has 2 items, and bank has 3"),
    ],
)
def test_what_is_wrong_is_said(settings: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        estimate(**{"bank": BANK} | settings)


@pytest.mark.parametrize("target", ["accuracy", "ability"])
def test_answers_of_persons_who_are_known_are_found_by_name(target: str) -> None:
    """Columns in another order than the items of the bank had been taken for its items, one after the other."""
    difficulty, names = np.array([-1.5, 0.0, 1.5, 0.3]), list("pqrs")
    bank = {"b": difficulty, "item": names}
    model = ItemResponse.from_items(bank, cuts=[0.0], points=POINTS)
    known = pd.DataFrame(model.sample(60, random_state=0)[0], columns=names)
    plan, other = (estimate(bank, known[own], target=target, max_items=2) for own in (names, names[::-1]))
    rows = known.iloc[:5]
    assert other.acquire(rows).items == plan.acquire(rows).items
    assert_array_equal(other.acquire(rows).estimate, plan.acquire(rows).estimate)
    with pytest.raises(ValueError, match="answers has no column 'p'"):
        estimate(bank, known.rename(columns={"p": "x"}), max_items=2)
    with pytest.raises(ValueError, match="answers: feature 1 has outcome 2 in row 0, but its outcomes are"):
        estimate(bank, known.assign(q=2), max_items=2)


def test_masked_answers_are_missing() -> None:
    cells, mask = np.array([[1, 1, 0], [1, 0, 1]]), np.array([[1, 0, 0], [0, 0, 0]])
    masked, plain = np.ma.array(cells, mask=mask), np.where(mask, -1, cells)
    plan = estimate({"b": [0.0, 0.5, -0.5]}, target="ability", max_items=3)
    assert_allclose(plan.acquire(masked).estimate, plan.acquire(plain).estimate)
    assert_allclose(plan.scores(masked).estimate, plan.scores(plain).estimate)
    learnt, same = (estimate(None, np.ma.vstack([rows] * 20), max_items=1) for rows in (masked, plain))
    assert_array_equal(learnt.states.tables, same.states.tables)


def test_persons_are_kept_aside_five_times_and_plans_by_price_are_fitted_to_a_hundred(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    kept, without = [], ScoreStates.without

    def noting(self: ScoreStates, aside: Any) -> ScoreStates:
        kept.append(len(aside))
        return without(self, aside)

    monkeypatch.setattr(ScoreStates, "without", noting)
    model, X, _ = simulated(6, 40)
    plan = estimate(model, X, price=1e-3, max_items=2)
    assert kept == [8] * 5
    assert plan.classifier.solver.n_paths == plan.classifier.solver.n_cases == 100
