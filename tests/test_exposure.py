"""Classical sequential tests, exposure control and the report of an exam."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy.stats import norm

from seqclass import Costs, Rules, SequentialClassifier, load
from seqclass.bn import NaiveBayes
from seqclass.exams import (
    ExposureControl,
    FisherInformation,
    ItemParameters,
    ItemResponse,
    SequentialTest,
    exam_report,
)
from seqclass.exams.exposure import rank_questions
from seqclass.export import policy_data
from seqclass.pomdp import (
    EC2,
    Adaptive,
    ClassInformation,
    FirstK,
    Lookahead,
    MixtureProblem,
    Policy,
    TableProblem,
    certify,
    evaluate,
    optimal_cost,
)

QUICK = Adaptive([ClassInformation()], n_paths=200, n_cases=300, max_rounds=0, certificate_paths=0)
RNG = np.random.default_rng(5)
BANK = {"a": RNG.lognormal(0.2, 0.3, 30), "b": RNG.normal(size=30), "c": np.full(30, 0.2)}
MODEL = ItemResponse.from_items(BANK, cuts=[-0.4, 0.5], points=21)
CUTS = np.array([-0.4, 0.5])
X, Y = MODEL.sample(1500, random_state=3)


def planned(solver: Any, **settings: Any) -> SequentialClassifier:
    return SequentialClassifier.from_model(MODEL, feature_costs=0.01, solver=solver, **settings)


@cache
def quick() -> SequentialClassifier:
    return planned(QUICK)


def exposures(clf: SequentialClassifier, rows: np.ndarray = X) -> np.ndarray:
    order = clf.acquire(rows).order
    return np.bincount(order[order >= 0], minlength=30) / len(rows)


@cache
def chances(ability: float) -> np.ndarray:
    return MODEL.items_.probabilities([ability])[:, :, 0]


def log_likelihood(row: np.ndarray, asked: list[int], ability: float) -> float:
    return float(np.log(chances(ability)[asked, row[asked]]).sum())


def is_sure(stop: str, row: np.ndarray, asked: list[int], delta: float, error: float) -> bool:
    """What a test says, by its definition."""
    limit = np.log((1 - error) / error)
    grid = np.linspace(-4, 4, 161)
    if stop == "CI":
        weight = norm.pdf(grid) * np.exp([log_likelihood(row, asked, ability) for ability in grid])
        weight /= weight.sum()
        mean = weight @ grid
        half = norm.isf(error) * np.sqrt(weight @ (grid - mean) ** 2)
        return bool((np.abs(mean - CUTS) > half).all())
    for cut in CUTS:
        if stop == "SPRT":
            above, below = [cut + delta], [cut - delta]
        else:
            above, below = [*grid[grid >= cut + delta], cut + delta], [*grid[grid <= cut - delta], cut - delta]
        best = [max(log_likelihood(row, asked, ability) for ability in some) for some in (above, below)]
        if abs(best[0] - best[1]) < limit:
            return False
    return True


@pytest.mark.slow_cells("CI-True", "GLR-False")
@pytest.mark.parametrize(
    "stop, at_cuts",
    [
        *(("SPRT", True), ("GLR", False), ("CI", True)),
        *(pytest.param(*other, marks=pytest.mark.slow) for other in (("SPRT", False), ("GLR", True), ("CI", False))),
    ],
)
def test_tests_end_where_their_definitions_say(stop: str, at_cuts: bool) -> None:
    rule = FisherInformation(MODEL.items_, CUTS if at_cuts else None)
    test = SequentialTest(MODEL.items_, CUTS, stop, rule=rule, delta=0.5, error=0.2, certificate_paths=0)
    record = planned(test).acquire(X[:6])
    information = MODEL.items_.information(CUTS).sum(axis=1)
    for row, order in zip(X[:6], record.order):
        asked = order[order >= 0].tolist()
        if at_cuts:
            assert asked == np.argsort(-information, kind="stable")[: len(asked)].tolist()
        assert len(asked) == 30 or is_sure(stop, row, asked, 0.5, 0.2)
        for n in range(0, len(asked), 3):
            assert not is_sure(stop, row, asked[:n], 0.5, 0.2)


@pytest.mark.parametrize("stop", ["SPRT", "GLR", "CI"])
def test_a_test_is_over_where_its_definition_says(stop: str) -> None:
    policy = planned(SequentialTest(MODEL.items_, CUTS, stop, delta=0.5, error=0.3, certificate_paths=0)).policy_
    belief, found = policy.problem.initial_belief(4), []
    for n in range(10):
        found += [(over, is_sure(stop, row, [*range(n)], 0.5, 0.3)) for over, row in zip(policy.test_ends(belief), X)]
        belief = belief.update(n, X[:4, n])
    assert {over for over, _ in found} == {True, False}
    assert all(over == sure for over, sure in found)


def test_the_first_item_is_that_of_most_information_where_the_ability_is_expected() -> None:
    rule, nothing = FisherInformation(MODEL.items_), planned(FirstK(0, certificate_paths=0))
    assert rule.next(nothing.problem_.initial_belief())[0] == MODEL.items_.information([0.0])[:, 0].argmax()


@pytest.mark.parametrize("own, other", [((0.0, 1.0), (500.0, 100.0)), ((500.0, 100.0), (0.0, 1.0))])
def test_items_of_another_scale_are_told_of(own: Any, other: Any) -> None:
    items = ItemParameters.from_table({"a": [1 / own[1]] * 3, "b": own[0] + own[1] * np.array([-1.0, 0.0, 2.0])})
    tables = list(items.probabilities(own[0] + own[1] * np.array([-1.0, 1.0])))
    problem = MixtureProblem([0.5, 0.5], [0, 1], tables, prices=0.1, any_order=True)
    FisherInformation(items, mean=own[0], sd=own[1]).check(problem)
    with pytest.warns(UserWarning, match="all items tell most of abilities that nobody has by mean=.*give Fisher"):
        FisherInformation(items, mean=other[0], sd=other[1]).check(problem)


@pytest.mark.slow
def test_tests_cost_no_less_than_the_optimum_and_keep_to_rules(tmp_path: Path) -> None:
    small = ItemResponse.from_items({name: values[:5] for name, values in BANK.items()}, cuts=[0.0], points=7)
    rules = Rules(enemies=[[0, 1]], mandatory=[4])
    for stop in ("SPRT", "GLR", "CI"):
        test = SequentialTest(small.items_, [0.0], stop, error=0.4)
        clf = SequentialClassifier.from_model(small, feature_costs=0.03, solver=test, rules=rules)
        cost = evaluate(clf.problem_, clf.policy_).cost
        assert cost >= optimal_cost(clf.problem_) - 1e-12
        assert clf.policy_.info.upper == pytest.approx(cost)
        order = clf.acquire(X[:200, :5]).order
        assert all(4 in row and not {0, 1} <= set(row.tolist()) for row in order)
        clf.save(tmp_path / "test.seq")
        assert (load(tmp_path / "test.seq").acquire(X[:200, :5]).order == order).all()


@pytest.mark.slow_cells("CI")
@pytest.mark.parametrize("stop", ["SPRT", "GLR", "CI"])
def test_tests_end_at_the_same_items_on_any_scale(stop: str) -> None:
    table, found = MODEL.items_, []
    X, _ = MODEL.sample(30, 1)
    for mean, sd in ((0.0, 1.0), (500.0, 100.0)):
        slopes = table.slopes / sd
        items = ItemParameters(table.kinds, slopes, table.intercepts - slopes * mean, table.lower, table.upper)
        cuts = mean + sd * np.array(CUTS)
        model = ItemResponse.from_items(items, cuts, mean=mean, sd=sd, points=21)
        rule = FisherInformation(items, mean=mean, sd=sd) if stop == "CI" else None
        solver = SequentialTest(
            items, cuts, stop, rule=rule, delta=0.3 * sd, error=0.2, mean=mean, sd=sd, certificate_paths=0
        )
        record = SequentialClassifier.from_model(model, feature_costs=0.02, solver=solver).acquire(X)
        found.append((record.order.tolist(), record.decision.tolist()))
    assert found[0] == found[1]
    assert len({len([j for j in order if j >= 0]) for order in found[0][0]}) > 1


def test_a_sequential_test_asks_the_fewest_that_it_may() -> None:
    lengths = [
        planned(SequentialTest(MODEL.items_, CUTS, error=0.4, min_questions=n, certificate_paths=0)).acquire(X[:300])
        for n in (0, 9)
    ]
    free, held = (record.n_features for record in lengths)
    assert free.min() < 9
    assert held.min() == 9
    assert (held >= free).all()


def test_more_certainty_takes_more_items() -> None:
    found = [planned(SequentialTest(MODEL.items_, CUTS, error=e, certificate_paths=0)).acquire(X) for e in (0.3, 0.1)]
    assert found[0].n_features.mean() < found[1].n_features.mean()
    assert (found[0].decision != Y).mean() >= (found[1].decision != Y).mean()


@pytest.mark.slow
def test_the_best_are_drawn_among_alike() -> None:
    clf = planned(ExposureControl(QUICK, best_of=5, n_lots=400, certificate_paths=0))
    belief, share = clf.policy_.initial_belief()
    first = clf.policy_.action(belief)
    best = np.argsort(-ClassInformation().scores(clf.problem_.initial_belief())[0])[:5]
    counts = np.bincount(first, minlength=30)
    assert set(np.flatnonzero(counts)) == set(best.tolist())
    assert counts[best].min() > 50  # of 80 expected
    assert share == pytest.approx(1 / 400)


@pytest.mark.slow
def test_one_of_the_best_changes_nothing() -> None:
    plain, drawn = quick(), planned(ExposureControl(QUICK, n_lots=3, certificate_paths=0))
    assert (plain.acquire(X).order == drawn.acquire(X).order).all()
    assert evaluate(drawn.problem_, drawn.policy_, n_paths=500, method="simulation").cost > 0


@pytest.mark.slow
def test_no_item_is_asked_of_too_many(tmp_path: Path) -> None:
    plan = ExposureControl(QUICK, max_exposure=0.4, n_lots=50, n_cases=1000, certificate_paths=0)
    clf = planned(plan)
    more, _ = MODEL.sample(1500, random_state=11)
    found = exposures(clf, more)
    assert exposures(quick(), more).max() == 1
    assert found.max() < 0.4 + 0.05
    assert clf.policy_.simulate_shares(6000, np.random.default_rng(3)).max() < 0.4 + 0.02
    assert ((clf.policy_.keep > 0) & (clf.policy_.keep <= 1)).all()
    clf.save(tmp_path / "exam.seq")
    again = load(tmp_path / "exam.seq")
    assert (again.acquire(X[:100]).order == clf.acquire(X[:100]).order).all()
    for key in ("ann", "bob"):
        case, other = clf.session(key=key), again.session(key=key)
        assert case.next_feature == other.next_feature
        name = case.next_feature.name
        case.observe(name, 1)
        assert case.next_feature is None or case.next_feature.name != name
    with pytest.raises(ValueError, match="draws lots"):
        policy_data(clf)


@pytest.mark.slow
@pytest.mark.parametrize(
    "seed, most, rules",
    [
        (0, 0.3, None),
        (1, 0.3, Rules(areas={k: {"items": list(range(10 * k, 10 * k + 10)), "at_least": 2} for k in range(3)})),
        pytest.param(2, 0.2, Rules(areas={"few": {"items": list(range(8)), "at_least": 1}}), marks=pytest.mark.slow),
        pytest.param(3, 0.5, None, marks=pytest.mark.slow),
    ],
)
def test_of_fresh_persons_no_item_is_asked_of_more_than_allowed(seed: int, most: float, rules: Rules | None) -> None:
    rng = np.random.default_rng(seed)
    bank = {"a": rng.lognormal(0.2, 0.5, 40), "b": rng.normal(size=40)}
    model = ItemResponse.from_items(bank, cuts=[-0.5, 0.3], points=15)
    plan = ExposureControl(
        Lookahead(1, certificate_paths=0), max_exposure=most, n_cases=1000, certificate_paths=0, random_state=seed
    )
    clf = SequentialClassifier.from_model(model, feature_costs=0.003, solver=plan, rules=rules, max_features=8)
    assert clf.policy_.info.status == "converged"
    asked = clf.policy_.simulate_shares(8000, np.random.default_rng([seed, 1]))
    assert most - 0.08 < asked.max() <= most + 0.005  # a standard error, or less


@pytest.mark.slow
def test_without_time_to_calibrate_no_item_is_asked_of_more_than_allowed() -> None:
    plan = ExposureControl(QUICK, max_exposure=0.3, max_seconds=0.0, certificate_paths=0)
    clf = planned(plan)
    assert clf.policy_.info.status == "limit"
    assert clf.policy_.simulate_shares(4000, np.random.default_rng(1)).max() <= 0.3
    with pytest.raises(ValueError, match=r"max_exposure must be .* 0\.01"):
        planned(ExposureControl(QUICK, max_exposure=0.001))


@pytest.mark.slow
def test_a_certificate_of_what_is_controlled_is_about_all_orders() -> None:
    few = ItemResponse.from_items({key: values[:8] for key, values in BANK.items()}, cuts=[-0.4, 0.5], points=21)
    plan = ExposureControl(QUICK, max_exposure=0.4, n_lots=50, n_cases=1000, certificate_paths=100)
    clf, plain = (SequentialClassifier.from_model(few, feature_costs=0.01, solver=solver) for solver in (plan, QUICK))
    assert clf.policy_.info.lower <= clf.policy_.info.upper
    assert clf.policy_.info.upper >= evaluate(plain.problem_, plain.policy_).cost - 0.03


@pytest.mark.slow
@pytest.mark.parametrize(
    "solver",
    [
        Lookahead(1, certificate_paths=0),
        pytest.param(SequentialTest(MODEL.items_, CUTS, error=0.3), marks=pytest.mark.slow),
    ],
)
def test_other_policies_are_controlled_as_well(solver: Any) -> None:
    clf = planned(ExposureControl(solver, max_exposure=0.6, n_lots=50, n_cases=1000, certificate_paths=0))
    assert exposures(clf).max() < 0.7


@pytest.mark.slow
def test_rules_come_before_exposure() -> None:
    rules = Rules({"a": {"items": list(range(10)), "at_least": 2}}, first=[12], mandatory=[12])
    plan = ExposureControl(QUICK, best_of=2, max_exposure=0.5, n_lots=30, n_cases=300, certificate_paths=0)
    clf = planned(plan, rules=rules)
    order, found = clf.acquire(X).order, exposures(clf)
    assert (order[:, 0] == 12).all()
    assert (np.isin(order, np.arange(10)).sum(axis=1) >= 2).all()
    assert np.delete(found, 12).max() < 0.6


@pytest.mark.slow
def test_the_report_counts_what_is_asked_and_how_well_ability_is_told() -> None:
    clf = quick()
    report = exam_report(clf, 2000, n_bands=5, random_state=1)
    table = report.to_frame().drop("all")
    assert report.exposure == pytest.approx(exposures(clf), abs=0.06)
    assert report.exposure.sum() == pytest.approx((table["n_items"] * table["n_persons"]).sum() / 2000)
    assert (np.diff(table["ability"]) > 0).all()
    assert table["rmse"].pow(2).mean() == pytest.approx((table["sd"] ** 2).mean(), rel=0.15)
    assert (table["bias"].to_numpy()[[0, -1]] * [1, -1] > 0).all()  # estimates are drawn to the middle
    told = report.exposure_table()
    assert told["exposure"].is_monotonic_decreasing
    assert told.index.name == "item"
    assert set(told.index) == set(report.items)
    assert told.attrs["units"] == {"exposure": "share of the persons"}
    assert report.to_frame().attrs["units"]["rmse"] == "points of ability"
    assert len(repr(report).splitlines()) <= 3
    np.testing.assert_allclose(report.too_high + report.too_low, report.errors)
    table = report.to_frame()
    assert table.index.tolist() == [0, 1, 2, 3, 4, "all"]
    assert table.loc["all", ["n_persons", "errors"]].tolist() == pytest.approx([2000, report.errors.mean()])
    assert table.loc["all", "rmse"] == pytest.approx((report.rmse**2).mean() ** 0.5)
    assert ((report.longest >= 0) & (report.longest <= 1)).all()
    with pytest.raises(ValueError, match="n_persons must be at least 8, got 5"):
        exam_report(clf, 5)
    with pytest.raises(TypeError, match=r"clf.model_ must be an ItemResponse, .*got NaiveBayes"):
        exam_report(SequentialClassifier(NaiveBayes(), discretizer="precomputed").fit(X[:300], Y[:300]))


SMALL = ItemResponse.from_items({"a": [1.5] * 6, "b": [-1, -0.5, 0, 0, 0.5, 1]}, cuts=[0.0], points=15)


def test_the_report_counts_all_of_a_bundle() -> None:
    costs = [Costs(0.01), Costs(0.01, bundles=["s", "s", "s", "t", "t", "t"])]
    alone, bundled = [
        exam_report(SequentialClassifier.from_model(SMALL, feature_costs=one, solver=FirstK(None)), 1000)
        for one in costs
    ]
    assert (bundled.exposure == 1).all()
    assert (bundled.n_items == 6).all()
    assert (bundled.longest == 1).all()
    assert bundled.to_frame()["n_persons"].tolist() == [125] * 8 + [1000]
    np.testing.assert_allclose(bundled.rmse, alone.rmse)
    np.testing.assert_allclose(bundled.sd, alone.sd)


def test_the_report_estimates_with_what_is_known() -> None:
    clf = SequentialClassifier.from_model(SMALL, feature_costs=0.01, solver=FirstK(None))
    knows = SequentialClassifier.from_model(SMALL, feature_costs=0.01, solver=FirstK(None), known=[0, 1, 2])
    alone, known = exam_report(clf, 1000), exam_report(knows, 1000)
    assert known.exposure.tolist() == [0, 0, 0, 1, 1, 1]
    np.testing.assert_allclose(known.sd, alone.sd)
    np.testing.assert_allclose(known.bias, alone.bias)
    report = exam_report(clf, 100, n_bands=3)
    table, n = report.to_frame(), report.n_persons
    assert n.tolist() == [34, 33, 33]
    for name in ("rmse", "bias", "sd", "errors"):
        power = 2 if name == "rmse" else 1
        assert table.loc["all", name] == pytest.approx(np.average(table[name][:3] ** power, weights=n) ** (1 / power))


def test_the_report_is_of_persons_of_the_prior_that_was_set() -> None:
    clf = SequentialClassifier.from_model(SMALL, feature_costs=0.02).with_prior([0.9, 0.1])
    report, expected = exam_report(clf, 4000, n_bands=1), evaluate(clf.problem_, clf.policy_)
    assert report.n_items[0] == pytest.approx(expected.n_features, abs=0.05)
    assert report.errors[0] == pytest.approx(expected.error, abs=0.02)
    assert report.bias[0] == pytest.approx(0.0, abs=0.05)


def test_who_is_referred_is_no_error() -> None:
    costs = Costs(0.02, decision_costs=[[0, 1, 0.2], [1, 0, 0.2]], decisions=["refer"])
    clf = SequentialClassifier.from_model(SMALL, feature_costs=costs)
    expected = evaluate(clf.problem_, clf.policy_)
    assert exam_report(clf, 4000, n_bands=1).errors[0] == pytest.approx(expected.error, abs=0.02)
    assert expected.cost - expected.price > expected.error + 0.05  # many are
    assert exam_report(clf, 100, n_bands=3).to_frame()["n_persons"].tolist() == [34, 33, 33, 100]


def test_the_report_takes_answers_that_are_words() -> None:
    answers, level = SMALL.sample(300, random_state=0)
    words = pd.DataFrame(np.where(answers == 1, "right", "missed"), columns=[*"abcdef"])
    reports = []
    for X in (pd.DataFrame(answers, columns=words.columns), words):
        model = ItemResponse("1PL", cuts=[0.0], points=15)
        clf = SequentialClassifier(model, FirstK(3), discretizer="precomputed", feature_costs=0.01)
        reports.append(exam_report(clf.fit(X, level), 200).rmse)
    np.testing.assert_allclose(*reports)


def test_the_report_draws_a_lot_for_each_person() -> None:
    plan = ExposureControl(QUICK, best_of=1, max_exposure=0.3, n_cases=2000, certificate_paths=0)
    clf = SequentialClassifier.from_model(SMALL, feature_costs=0.005, solver=plan, max_features=2)
    simulated = clf.policy_.simulate_shares(
        4000, np.random.default_rng(1)
    )  # the same answers are drawn again and again
    assert exam_report(clf, 4000).exposure == pytest.approx(simulated, abs=0.04)


FIXED = TableProblem([0.5, 0.5], np.array([[[0.9, 0.2], [0.1, 0.8]]]), prices=0.1)
WRONG = [
    (lambda: SequentialTest(MODEL.items_, CUTS).solve(FIXED), "any_order=True"),
    (lambda: planned(SequentialTest(MODEL.items_, [0.5, 0.1])), "cuts must be rising"),
    (lambda: planned(SequentialTest(MODEL.items_, CUTS, "LR")), "stop must be"),
    (lambda: planned(SequentialTest(MODEL.items_, CUTS, error=0.7)), "error must be"),
    (
        lambda: planned(SequentialTest(MODEL.items_, [500.0], "CI", sd=100)),
        "500 is beyond 4 .* deviation 100: give mean",
    ),
    (lambda: planned(SequentialTest(MODEL.items_, [0.0, -4.1][::-1], "GLR")), "-4.1 is beyond 4 standard deviations"),
    (lambda: planned(SequentialTest(MODEL, CUTS)), "items must be the items"),
    (lambda: planned(ExposureControl(QUICK, max_exposure=1.5)), "max_exposure must be"),
    (lambda: planned(ExposureControl(QUICK, best_of=0)), "best_of must be"),
    (lambda: planned(ExposureControl(FirstK(0))), "does not rank questions"),
    (lambda: ExposureControl(QUICK).solve(FIXED), "any_order=True"),
    (
        lambda: planned(
            ExposureControl(QUICK, max_exposure=0.05),
            rules=Rules({"a": {"items": list(range(10)), "at_least": 5}}),
        ),
        "of 10 questions of area 'a' allows 0.5 a case, and rules ask for 5",
    ),
]


@pytest.mark.parametrize(("call", "message"), WRONG)
def test_wrong_settings_are_refused_in_a_sentence(call: Any, message: str) -> None:
    with pytest.raises((ValueError, TypeError), match=message) as found:
        call()
    assert "\n" not in str(found.value)


def test_a_certificate_of_a_drawn_policy_bounds_it_and_the_optimum() -> None:
    small = ItemResponse.from_items({name: values[:4] for name, values in BANK.items()}, cuts=[0.0], points=5)
    plan = ExposureControl(QUICK, best_of=3, n_lots=4)
    clf = SequentialClassifier.from_model(small, feature_costs=0.02, solver=plan)
    found = certify(clf.problem_, clf.policy_)
    assert found.lower == pytest.approx(optimal_cost(clf.problem_))
    assert found.upper == pytest.approx(evaluate(clf.problem_, clf.policy_).cost)
    assert found.upper > found.lower


def test_every_policy_that_ranks_says_so_by_itself() -> None:
    class Backwards(Policy):
        """Asks the last question first; not one of ours, and with attributes of its own names."""

        def _action(self, belief: Any) -> Any:
            return np.where(belief.available.any(axis=1), self._question_scores(belief).argmax(axis=1), -1)

        def _question_scores(self, belief: Any) -> Any:
            return np.where(belief.available, np.arange(4.0), -np.inf)

    problem = TableProblem([0.5, 0.5], np.array([[[0.9, 0.2], [0.1, 0.8]]] * 4), prices=0.01, any_order=True)
    belief = problem.initial_belief(2)
    for policy in (
        Backwards(problem),
        *(s.solve(problem) for s in (Lookahead(1), Lookahead(2), FirstK(2, rule=EC2()))),
    ):
        scores = rank_questions(policy, belief)
        assert scores.shape == (2, 4)
        np.testing.assert_array_equal(np.where(belief.available, scores, -np.inf).argmax(axis=1), policy.action(belief))
    with pytest.raises(ValueError, match="FixedLengthPolicy does not rank questions"):
        rank_questions(FirstK(2).solve(problem), belief)


def test_ability_is_estimated_on_a_grid_of_161_points_within_four_deviations() -> None:
    rule = FisherInformation(MODEL.items_, mean=0.3, sd=1.2)
    belief = planned(FirstK(0, certificate_paths=0), order="adaptive").problem_.initial_belief()
    asked = [4, 11, 23]
    for item in asked:
        belief = belief.update(item, int(X[0, item]))
    grid = 0.3 + 1.2 * np.linspace(-4, 4, 161)
    weight = norm.pdf(grid, 0.3, 1.2) * np.exp([log_likelihood(X[0], asked, ability) for ability in grid])
    nearest = grid[np.abs(grid - weight @ grid / weight.sum()).argmin()]
    wanted = MODEL.items_.information([nearest])[:, 0]
    np.testing.assert_allclose(rule.gains(belief, np.arange(30))[0], wanted, rtol=1e-9)
