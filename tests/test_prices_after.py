"""Prices that depend on what was answered before, against brute force and in every use."""

from __future__ import annotations

import json
from itertools import permutations
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner
from live_cases import reader

from seqclass import Costs, Rules, SequentialClassifier, SkipLogic, adaptive, load, pomdp
from seqclass.analysis import sensitivity, what_if
from seqclass.bn import ClassMixture, NetworkTables, TreeNetwork
from seqclass.cli import main
from seqclass.costs import PriceAfter
from seqclass.datasets.files import load_file
from seqclass.diagnostic import TestTable
from seqclass.evaluation.scores import score_rows
from seqclass.export import export_policy, policy_data
from seqclass.fitting import _planning, _price_order
from seqclass.pomdp import (
    Adaptive,
    ClassInformation,
    ExactFreeOrder,
    FirstK,
    Lookahead,
    TableProblem,
    certify,
    evaluate,
    optimal_cost,
)
from seqclass.pomdp.policy import scale_prices
from seqclass.pomdp.prices_after import with_prices_after
from seqclass.pomdp.problem import AcquisitionProblem
from seqclass.pomdp.rules import with_rules

QUICK = Adaptive([ClassInformation()], n_paths=100, n_cases=100, max_rounds=0, certificate_paths=0)


def price_now(after: list[PriceAfter], usual: float, question: int, answers: dict[int, int]) -> float:
    """What the settings mean, word by word."""
    for one in after:
        if one.question == question and all(
            answers.get(gate, -1) >= 0 and (told is None or answers[gate] in told) for gate, told in one.after.items()
        ):
            usual = one.price
    return usual


def optimum(
    problem: Any,
    after: list[PriceAfter],
    base: Any,
    joint: np.ndarray,
    answers: dict[int, int],
    spent: float,
    **how: Any,
) -> float:
    """Cost of the best policy from an unnormalised belief."""
    best = float((joint @ problem.decision_costs).min())
    if problem.limits.max_questions is not None and len(answers) >= problem.limits.max_questions:
        return best
    left = [q for q in range(problem.n_questions) if q not in answers]
    for q in left[: 1 if how["fixed"] else None]:
        price = price_now(after, base[q], q, answers)
        if (q == how["never_after"][1] and how["never_after"][0] not in answers) or (
            problem.limits.max_cost is not None and spent + price > problem.limits.max_cost + 1e-12
        ):
            continue
        table = problem.likelihoods[q]
        rest = sum(
            optimum(problem, after, base, joint * table[v], answers | {q: v}, spent + price, **how)
            for v in range(problem.n_outcomes[q])
        )
        best = min(best, joint.sum() * price + rest)
    return best


def random_problem(seed: int, any_order: bool) -> tuple[AcquisitionProblem, list[PriceAfter], Any, tuple[int, int]]:
    """Up to five questions of two or three outcomes, prices that depend on them, limits, and a follow-up question."""
    rng = np.random.default_rng(seed)
    sizes = rng.integers(2, 4, rng.integers(3, 5)).tolist()
    tables = [rng.dirichlet(np.full(size, 0.7), 2).T for size in sizes]
    if rng.random() < 0.3:
        tables[0] = np.tile(rng.dirichlet(np.ones(sizes[0]))[:, None], 2)  # what says nothing, and makes others cheaper
    base = rng.uniform(0, 0.15, len(sizes)) * (rng.random(len(sizes)) < 0.8)
    order, after = (rng.permutation(len(sizes)) if any_order else np.arange(len(sizes))).tolist(), []
    while not after:
        for place, question in enumerate(order[1:], 1):
            for _ in range(rng.integers(0, 4)):
                gates = rng.choice(order[:place], rng.integers(1, min(place, 2) + 1), replace=False).tolist()
                told = [None if rng.random() < 0.5 else np.flatnonzero(rng.random(sizes[g]) < 0.6) for g in gates]
                pairs = {g: None if a is None else tuple(a.tolist()) for g, a in zip(gates, told)}
                after.append(PriceAfter(question, pairs, float(rng.uniform(0, 0.2))))
    limits: dict[str, Any] = [{}, {}, {"max_questions": 2}, {"max_cost": 0.18}][rng.integers(4)] if any_order else {}
    problem = TableProblem(rng.dirichlet([1, 1]), tables, base, any_order=any_order, **limits)
    follows = (order[0], order[-1]) if any_order and rng.random() < 0.3 else (-1, -1)
    rules = SkipLogic({follows[1]: follows[0]}) if follows[0] >= 0 else None
    if seed % 2:
        return with_rules(with_prices_after(problem, after), rules), after, base, follows
    return with_prices_after(with_rules(problem, rules), after), after, base, follows


def check(seed: int, any_order: bool, thorough: bool = False) -> None:
    problem, after, base, follows = random_problem(seed, any_order)
    best = optimum(problem, after, base, problem.prior, {}, 0.0, fixed=not any_order, never_after=follows)
    assert optimal_cost(problem) == pytest.approx(best, abs=1e-9)
    for max_nodes in (10**6, 3):
        exact = ExactFreeOrder(max_nodes=max_nodes, certificate_paths=0).solve(problem)
        assert exact.info.lower <= best + 1e-9 <= exact.info.upper + 2e-9
        assert evaluate(problem, exact).cost >= best - 1e-9
    assert evaluate(problem, ExactFreeOrder().solve(problem)).cost == pytest.approx(best, abs=1e-9)
    searched = [Adaptive(n_paths=40, n_cases=40, max_nodes=20, max_rounds=0, certificate_paths=20)] if thorough else []
    for solver in (Lookahead(2, certificate_paths=0), QUICK, FirstK(None, certificate_paths=0), *searched):
        policy = solver.solve(problem)
        cost = evaluate(problem, policy, method="exact").cost
        assert cost >= best - 1e-9
        for how in ({"method": "exact"}, {"max_histories": 1, "n_paths": 50}):
            found = certify(problem, policy, **how)
            assert found.lower <= best + 1e-9 or found.confidence < 1, (seed, solver, how)
            assert found.upper >= cost - 1e-9 or found.confidence < 1, (seed, solver, how)


@pytest.mark.slow_cells("1-True")
@pytest.mark.parametrize(("seed", "any_order"), [(1, True), (9, False)])
def test_plans_are_what_brute_force_says(seed: int, any_order: bool) -> None:
    check(seed, any_order)


@pytest.mark.parametrize("start", [2000, 2100, 2200])
@pytest.mark.slow
def test_three_hundred_plans_are_what_brute_force_says(start: int) -> None:
    for seed in range(start, start + 100):
        check(seed, seed % 3 > 0, thorough=seed % 5 == 0)


@pytest.mark.slow
def test_optimal_costs_of_many_are_what_brute_force_says() -> None:
    for seed in range(30):
        problem, after, base, follows = random_problem(seed, seed % 3 > 0)
        how = {"fixed": seed % 3 == 0, "never_after": follows}
        best = optimum(problem, after, base, problem.prior, {}, 0.0, **how)
        assert optimal_cost(problem) == pytest.approx(best, abs=1e-9), seed


AFTER = {
    ("blood", "sample"): 0.001,
    ("scan", ("history", ("bad", "so so"))): 0.03,
    ("scan", ("history", "bad"), "blood"): 0.002,
}
USUAL = {"history": 0.001, "sample": 0.004, "blood": 0.01, "scan": 0.012, "cough": 0.002}


def cases(n: int = 300) -> tuple[pd.DataFrame, np.ndarray]:
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, n)
    X = pd.DataFrame({"history": np.array(["good", "so so", "bad"])[np.clip(y + rng.integers(0, 2, n), 0, 2)]})
    for name, right in (("sample", 0.6), ("blood", 0.8), ("scan", 0.9), ("cough", 0.65)):
        X[name] = np.where(rng.random(n) < right, y, 1 - y)
    return X, y


def bill(path: list[str], row: Any, known: tuple[str, ...] = ()) -> float:
    """What a case pays, word by word."""
    told, paid = {name for name in known if row[name] == row[name]}, 0.0
    for name in path:
        price = USUAL[name]
        if name == "blood" and "sample" in told:
            price = 0.001
        if name == "scan" and "history" in told and row["history"] != "good":
            price = 0.002 if row["history"] == "bad" and "blood" in told else 0.03
        if row[name] == row[name] and row[name] is not None:
            paid, told = paid + price, told | {name}
    return paid


def bills(record: Any, X: pd.DataFrame, known: tuple[str, ...] = ()) -> list[float]:
    paths = [[list(X)[j] for j in row if j >= 0] for row in record.order]
    return [bill(path, row, known) for path, row in zip(paths, X.to_dict("records"))]


WAYS: dict[str, dict[str, Any]] = {
    "any order": {"order": "adaptive", "solver": QUICK},
    "fixed": {"order": ["history", "sample", "blood", "cough", "scan"], "solver": FirstK(None)},
    "tree": {"order": "adaptive", "solver": FirstK(None, certificate_paths=0), "observation_model": TreeNetwork()},
    "mixture": {"order": "adaptive", "solver": QUICK, "observation_model": ClassMixture(2, random_state=0)},
    "exact": {"order": "adaptive", "solver": ExactFreeOrder(2000, certificate_paths=20)},
    "default": {"order": "adaptive"},
    "conditional": {"order": "conditional"},
    "known": {"order": "adaptive", "solver": FirstK(None, certificate_paths=0), "known": ["cough"]},
    "cost": {"order": "adaptive", "solver": FirstK(None, certificate_paths=0), "max_cost": 0.02},
    "target": {"order": "adaptive", "solver": QUICK, "target_cost": 0.01},
    "rules": {"order": "adaptive", "solver": QUICK, "rules": Rules(mandatory=["scan"], first=["cough"])},
    "skip": {"order": "adaptive", "solver": QUICK, "rules": SkipLogic({"cough": {"after": "sample", "answers": 1}})},
    "few": {"order": "adaptive", "solver": FirstK(None, certificate_paths=0), "max_candidates": 4, "max_features": 3},
}


@pytest.mark.parametrize(
    "way",
    [way if way in ("any order", "fixed") else pytest.param(way, marks=pytest.mark.slow) for way in WAYS],
)
def test_every_use_pays_the_same_bill(way: str, tmp_path: Path) -> None:
    (X, y), how = cases(), WAYS[way]
    known = tuple(how.get("known", ()))
    clf = SequentialClassifier(feature_costs=Costs(USUAL, prices_after=AFTER), **how).fit(X, y)
    X, y = X[:40], y[:40]
    record = clf.acquire(X)
    assert record.n_features.max() > 1
    np.testing.assert_allclose(record.paid, bills(record, X, known), atol=1e-12)
    gone = X.astype(object).where(np.random.default_rng(1).random(X.shape) < 0.7)
    np.testing.assert_allclose(clf.acquire(gone).paid, bills(clf.acquire(gone), gone, known), atol=1e-12)
    told = (*known, "sample", "history")
    record_told = clf.acquire(gone, known=told)
    if "max_cost" not in how:
        np.testing.assert_allclose(record_told.paid, bills(record_told, gone, told), atol=1e-12)
    clf.save(tmp_path / "m.seq")
    again = load(tmp_path / "m.seq")
    np.testing.assert_array_equal(again.acquire(X).paid, record.paid)
    assert again.agent_.prices.after == clf.agent_.prices.after
    assert again.feature_costs.prices_after == AFTER
    found = certify(clf.problem_, clf.policy_, n_paths=100)
    assert found.lower <= found.upper
    np.testing.assert_allclose([one.paid for one in clf.explain(X)], record.paid, atol=1e-12)
    assert score_rows(clf, X, y, prices=clf.agent_.prices).mean_price == pytest.approx(record.paid.mean())
    raw = Costs(USUAL, prices_after=AFTER).prices(5, list(X))
    assert known or score_rows(clf, X, y, prices=raw).mean_price == pytest.approx(record.paid.mean())
    for i, row in enumerate(X.to_dict("records")[:4]):
        case, path = clf.session(known={name: row[name] for name in known}), list[str]()
        while (question := case.next_feature) is not None:
            path.append(question.name)
            assert question.price == pytest.approx(bill(path, row, known) - case.paid)
            assert {q.name: q.price for q in case.suggestions(5)} == pytest.approx(
                {q.name: bill([*path[:-1], q.name], row, known) - case.paid for q in case.suggestions(5)}
            )
            case.observe(question.name, row[question.name])
        if how.get("target_cost") is None:  # which draws between two rules
            assert case.paid == pytest.approx(record.paid[i])
            assert by_program(clf, row) == (path, pytest.approx(case.paid))
        if path:
            case.undo()
            assert case.paid == pytest.approx(bill(path[:-1], row, known))
    if how.get("rules") is None and way not in ("fixed", "conditional"):
        asked = clf.acquire(X, budget=2)
        np.testing.assert_allclose(asked.paid, bills(asked, X, known), atol=1e-12)
    if how.get("target_cost") is None:
        for name in ("m.html", "m.c"):
            assert export_policy(clf, tmp_path / name)["kind"] == "program"


def by_program(clf: SequentialClassifier, row: Any) -> tuple[list[str], float]:
    """What the exported program asks of a row, and what that costs."""
    data = policy_data(clf)
    program, path = reader()(data), list[str]()

    def tell(number: int) -> None:
        (shown,) = (data["features"][f] for f in data["questions"][number]["features"])
        program.tell(number, [reader("outcome")(shown, str(row[shown["name"]]))])

    for number, question in enumerate(data["questions"]):
        if question.get("known"):
            tell(number)
    while (number := program.stand()[1]) >= 0:
        path.append(data["questions"][number]["name"])
        tell(number)
    return path, program.case["spent"]


def world(seed: int) -> tuple[pd.DataFrame, np.ndarray, dict[str, float], dict[Any, float]]:
    """Four questions, some of which tell little, and prices of two of them that depend on others."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 2, 400)
    X = pd.DataFrame(
        {f"q{j}": np.where(rng.random(400) < rng.choice([0.5, 0.7, 0.8, 0.95]), y, 1 - y) for j in range(4)}
    )
    X = X.replace({0: "no", 1: "yes"})
    usual = dict(zip(X, rng.uniform(0.005, 0.2, 4).tolist()))
    a, b, c = rng.permutation(4)[:3].tolist()
    cheap, other = float(rng.uniform(0.002, 0.03)), float(rng.uniform(0.002, 0.2))
    return X, y, usual, {(f"q{a}", f"q{b}"): cheap, (f"q{c}", (f"q{b}", "yes")): other}


def cost_along(order: Any, tables: Any, usual: list[float], after: list[PriceAfter], joint: Any, told: Any) -> float:
    """Least expected cost of all ways to stop along an order."""
    best = float(joint.min())
    if order:
        first, *rest = order
        asked = joint.sum() * price_now(after, usual[first], first, told)
        answers = (cost_along(rest, tables, usual, after, joint * tables[first][v], told | {first: v}) for v in (0, 1))
        best = min(best, asked + sum(answers))
    return best


@pytest.mark.slow
@pytest.mark.parametrize("way", ["conditional", "information"])
@pytest.mark.parametrize("seeds", [[18, 55], pytest.param(range(60), marks=pytest.mark.slow)], ids=["some", "many"])
def test_an_order_that_is_found_is_the_best_of_all_by_cost(seeds: Any, way: str) -> None:
    above, saved = list[float](), list[float]()
    for seed in seeds:
        X, y, usual, after = world(seed)
        solver, costs = ExactFreeOrder(certificate_paths=0), Costs(usual, prices_after=after)
        clf = SequentialClassifier(order=way, solver=solver, feature_costs=costs).fit(X, y)
        plain = SequentialClassifier(order=way, feature_costs=usual).fit(X, y).problem_.features.tolist()
        given = (clf.model_.tables(np.arange(4)), [*usual.values()], clf.agent_.prices.after, clf.model_.class_prior_)
        cost = {order: cost_along(list(order), *given, {}) for order in permutations(range(4))}
        found = cost[tuple(clf.problem_.features.tolist())]
        assert clf.expected_cost_ == pytest.approx(found, abs=1e-9)
        above.append(found - min(cost.values()))
        saved.append(cost[tuple(plain)] - found)
    assert max(above) < 0.004
    assert np.mean(np.array(above) > 1e-9) < 0.1
    assert max(saved) > 0.01
    assert min(saved) > -0.003


@pytest.mark.slow
def test_of_prices_that_never_apply_in_an_order_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    X, y = cases()
    costs = Costs(USUAL, prices_after={("scan", ("history", "bad"), "cough"): 0.001})
    with pytest.raises(ValueError, match="price of scan depends on cough, which comes later in the order: put that"):
        SequentialClassifier(feature_costs=costs, order="given").fit(X, y)
    monkeypatch.setattr(_price_order, "TUNING", _price_order.PriceOrderTuning(max_orders=1))
    told = r"prices of 'scan' never apply, .*; give an order, or take order='adaptive'"
    with pytest.warns(UserWarning, match=told) as found:
        clf = SequentialClassifier(feature_costs=costs, order="information").fit(X, y)
    assert [warning.filename for warning in found] == [__file__]
    assert clf.problem_.features.tolist().index(3) < clf.problem_.features.tolist().index(4)
    with pytest.warns(UserWarning, match="prices of 'scan' never apply"):
        SequentialClassifier(feature_costs=costs, order="information", target_cost=0.01, solver=QUICK).fit(X, y)


@pytest.mark.slow
def test_orders_are_found_with_marks_what_is_known_and_without_rows() -> None:
    X, y = cases()
    rng = np.random.default_rng(1)
    X["where"] = np.where(rng.random(len(X)) < 0.5, "arm; head", "head")
    X.loc[0, "where"] = "none of these"
    after = {("scan", ("where: arm", "no")): 0.0, ("blood", "sample"): 0.001}
    costs = Costs(USUAL | {"scan": 0.3, "where": 0.002}, marks=["where"], prices_after=after)
    settings: dict[str, Any] = {"order": "conditional", "solver": FirstK(None, certificate_paths=0)}
    clf = SequentialClassifier(feature_costs=costs, known=["history"], **settings).fit(X, y)
    asked = clf.acquire(X).order[0].tolist()
    assert asked.index(list(clf.feature_names_in_).index("where: head")) < asked.index(3)
    network = NetworkTables(
        ["ill", "swab", "lab", "scan"],
        [["no", "yes"]] * 4,
        [[], [0], [0], [0]],
        [np.array([0.5, 0.5]), *(np.array([[a, 1 - a], [1 - a, a]]) for a in (0.5, 0.7, 0.95))],
    )
    costs = Costs({"swab": 0.01, "lab": 0.02, "scan": 0.3}, prices_after={("scan", "swab"): 0.01})
    plan = SequentialClassifier.from_network(network, "ill", feature_costs=costs, **settings)
    assert plan.problem_.features.tolist()[:2] == [0, 2]


def test_what_says_nothing_and_is_free_may_make_others_cheaper() -> None:
    tables = np.array([[[0.5, 0.5], [0.5, 0.5]], [[0.9, 0.1], [0.1, 0.9]]])
    plain = TableProblem([0.5, 0.5], tables, [0.0, 0.45], any_order=True)
    problem = with_prices_after(plain, [PriceAfter(1, {0: (1,)}, 0.01)])
    assert problem.structure.gates.tolist() == [True, False]
    assert problem.structure.put_off.tolist() == [1, 0]
    assert plain.structure.put_off.tolist() == [2, 0]
    policy = ExactFreeOrder().solve(problem)
    assert evaluate(problem, policy, method="exact").cost == pytest.approx(0.5 * 0.5 + 0.5 * (0.01 + 0.1))


def test_what_if_and_sensitivity() -> None:
    problem = random_problem(5, True)[0]
    policy = QUICK.solve(problem)
    found = sensitivity(problem, policy)
    cost = evaluate(problem, policy, method="exact")
    assert found.price @ problem.prices + found.full_price @ problem.full_prices == pytest.approx(cost.price)
    changed = what_if(problem, policy, prices=problem.prices + 0.01, solver=FirstK(1, certificate_paths=0))
    assert changed.held.cost == pytest.approx(cost.cost + 0.01 * cost.n_features)
    assert evaluate(scale_prices(problem, 3.0), policy, method="exact").price == pytest.approx(3 * cost.price)


def test_impossible_ones_are_refused_at_once() -> None:
    X, y = cases()
    wrong: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
        "in a circle, 'blood', 'sample', 'blood'": ({("blood", "sample"): 1, ("sample", "blood"): 1}, {}),
        "in a circle, 'blood', 'blood'": ({("blood", "blood"): 1}, {}),
        "must be between 0 and": ({("blood", "sample"): -1.0}, {}),
        "names 'bood', which is not a feature": ({("bood", "sample"): 1.0}, {}),
        "names 'sampel', which is not a feature": ({("blood", "sampel"): 1.0}, {}),
        "a key must be a question": ({"blood": 1.0}, {}),
        "history has no answer 'good enough'": ({("blood", ("history", "good enough")): 1.0}, {}),
        "depends on scan, which comes later in the order": (
            {("blood", "scan"): 1.0},
            {"order": ["blood", "scan", "cough", "history", "sample"]},
        ),
        "'cough', which is known at the start": ({("blood", "cough"): 1.0}, {"known": ["cough"]}),
    }
    for message, (after, how) in wrong.items():
        clf = SequentialClassifier(feature_costs=Costs(USUAL, prices_after=after), **how)
        with pytest.raises(ValueError, match=message):
            clf.fit(X, y)
    for message, more in {
        "costs of visits exclude": {"visit_cost": 0.1},
        "in one of groups": {"groups": {"blood": 1, "scan": 1}, "discounted_costs": 0.001},
        "of a bundle, which has one price": {"bundles": {"blood": "b", "cough": "b"}},
        "names 's', which is not a feature": {"bundles": {"sample": "s", "cough": "s"}},
    }.items():
        after = {("blood", "s" if "'s'" in message else "sample"): 0.1}
        with pytest.raises(ValueError, match=message):
            Costs(0.01, prices_after=after, **more).prices(5, list(USUAL))


def test_answers_that_there_are_not_are_told_before_anything_is_tried() -> None:
    costs = Costs(USUAL, prices_after={("blood", ("history", "good enough")): 0.001})
    with pytest.raises(ValueError, match=r"^prices_after: history has no answer 'good enough'; it has 'bad', 'good'"):
        adaptive(costs, effort="quick").fit(*cases(120))


@pytest.mark.slow
def test_files_of_costs_say_them(tmp_path: Path) -> None:
    X, y = cases()
    X.assign(diagnosis=y).to_csv(tmp_path / "d.csv", index=False)
    lines = [f"{name},{price}," for name, price in USUAL.items()]
    lines += ["blood,0.001,sample", *(f"scan,0.03,history={one}" for one in ("bad", "so so"))]
    (tmp_path / "c.csv").write_text("\n".join(["feature,cost,after", *lines, "scan,0.002,history = bad; blood"]))
    pairs = [[list(key), price] for key, price in AFTER.items()]
    (tmp_path / "c.json").write_text(json.dumps({"feature_costs": USUAL, "prices_after": pairs}))
    for name in ("c.csv", "c.json"):
        files = [str(tmp_path / file) for file in ("d.csv", name, "m.seq")]
        told = ["fit", files[0], "--target", "diagnosis", "--costs", files[1], "--effort", "quick", "-o", files[2]]
        done = CliRunner().invoke(main, told)
        assert done.exit_code == 0, done.output
        clf = load(tmp_path / "m.seq")
        record = clf.acquire(X[:30])
        np.testing.assert_allclose(record.paid, bills(record, X[:30]), atol=1e-12)
    with pytest.raises(ValueError, match="has no prices that depend on answers"):
        load_file(tmp_path / "d.csv", target="diagnosis", costs=tmp_path / "c.csv")


def test_one_price_is_for_all_marks_of_a_question(tmp_path: Path) -> None:
    marks = pd.DataFrame({"pain is: dull": [0, 1], "age": [1, 2], "pain is: sharp": [1, 0], "y": ["a", "b"]})
    marks.to_csv(tmp_path / "d.csv", index=False)
    (tmp_path / "c.csv").write_text("feature,cost\npain is,0.5\nage,1\n")
    data = load_file(tmp_path / "d.csv", target="y", costs=tmp_path / "c.csv")
    assert dict(zip(data.feature_names, data.feature_costs)) == {"pain is: dull": 0.5, "age": 1, "pain is: sharp": 0.5}


def test_tests_of_a_table_and_bundles() -> None:
    costs = Costs(0.02, prices_after={("b", ("a", "positive")): 0.1, ("c", "a"): 0.001})
    table = TestTable(["a", "b", "c"], 0.5, sensitivity=[0.9, 0.8, 0.7], specificity=[0.8, 0.9, 0.7], costs=costs)
    belief = table.problem().initial_belief()
    for result, price in (("positive", 0.1), ("negative", 0.02)):
        np.testing.assert_allclose(belief.update("a", result).prices, [[0.02, price, 0.001]])
    X, y = cases()
    both = Costs(0.01, bundles={"blood": "lab", "cough": "lab"}, prices_after={("lab", "sample"): 0.002})
    clf = SequentialClassifier(feature_costs=both, order="adaptive", solver=FirstK(None, certificate_paths=0)).fit(X, y)
    order = clf.acquire(X[:20]).order
    wanted = [0.002 if (row := path.tolist()).index(1) < row.index(2) else 0.01 for path in order]
    np.testing.assert_allclose(clf.acquire(X[:20]).paid, np.array(wanted) + 0.03, atol=1e-12)


@pytest.mark.parametrize("told", [None, 1.0], ids=["any answer", "one answer"])
def test_what_is_missing_changes_no_price_though_it_tells_something(told: float | None) -> None:
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 200)
    X = (rng.random((200, 2)) < 0.2 + 0.6 * y[:, None]).astype(float)
    X[rng.random(200) < 0.1 + 0.4 * y, 0] = np.nan
    costs = Costs([0.01, 0.04], prices_after={(1, 0 if told is None else (0, told)): 0.002})
    clf = SequentialClassifier(
        feature_costs=costs, discretizer="precomputed", missing="informative", order="given", solver=FirstK(2)
    ).fit(X, y)
    rows = np.array([[np.nan, 1.0], [1.0, 1.0]])
    record = clf.acquire(rows)
    assert record.n_features.tolist() == [2, 2]
    np.testing.assert_allclose(record.paid, [0.05, 0.012])
    assert score_rows(clf, rows, [0, 1], prices=costs.prices(2)).mean_price == pytest.approx(0.031)
    case = clf.session()
    case.unavailable(0)
    assert case.next_feature is not None
    assert case.next_feature.price == pytest.approx(0.04)


def test_what_skip_logic_implies_changes_no_price_at_the_start_or_later() -> None:
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 300)
    X = pd.DataFrame({"smokes": np.where(rng.random(300) < 0.3 + 0.3 * y, "yes", "no")})
    X["packs"] = np.where(X["smokes"] == "no", "few", rng.choice(["few", "many"], 300))
    X["scan"] = np.where(rng.random(300) < 0.1 + 0.8 * y, "bad", "fine")
    costs = Costs({"smokes": 0.001, "packs": 0.002, "scan": 0.05}, prices_after={("scan", "packs"): 0.01})
    form = SkipLogic(
        {"packs": [{"after": "smokes", "answers": "yes"}, {"after": "smokes", "answers": "no", "implied": "few"}]}
    )
    for known in (None, ["smokes"]):
        clf = SequentialClassifier(feature_costs=costs, order="adaptive", rules=form, known=known, solver=QUICK)
        row = pd.DataFrame([{"smokes": "no", "packs": None, "scan": "bad"}])
        paid = 0.05 + (0 if known else 0.001)
        assert clf.fit(X, y).acquire(row).paid == pytest.approx(paid)
        case = clf.session(known={"smokes": "no"} if known else None)
        if not known:
            case.observe("smokes", "no")
        assert case.next_feature is not None
        assert (case.next_feature.name, case.next_feature.price) == ("scan", pytest.approx(0.05))
        data = policy_data(clf)
        told = reader()(data)
        told.tell([question["name"] for question in data["questions"]].index("smokes"), [0])
        assert told.own(told.view(), told.next_panel()[0]) == pytest.approx(0.05)
        case.observe("scan", "bad")
        assert case.paid == pytest.approx(paid)


def test_where_nothing_is_bought_groups_cost_nothing() -> None:
    X, y = cases()
    costs = Costs(2.0, groups={"sample": "lab", "blood": "lab"}, discounted_costs=1.0, visit_cost=1.0)
    clf = SequentialClassifier(feature_costs=costs, order="adaptive", solver=None).fit(X[["sample", "blood"]], y)
    assert clf.explain(X[:2])[0].paid == 0
    assert score_rows(clf, X, y, prices=clf.agent_.prices).mean_price == 0


def test_bundles_stay_together_in_all_orders_that_are_tried() -> None:
    after, tried = [PriceAfter(3, {0: None}, 0.0), PriceAfter(1, {5: None}, 0.0)], list[list[int]]()

    def cost(order: np.ndarray) -> float:
        tried.append(order.tolist())
        return float(order[0])  # what begins with the first column costs least

    best = _price_order.order_by_prices(np.array([3, 1, 0, 2, 4, 5]), after, np.array([0, 1, 0, -1, 1, -1]), cost, str)
    assert len(tried) > 3
    assert best[0] == 0
    for order in tried[1:]:
        assert sorted(order) == [*range(6)]
        assert abs(order.index(0) - order.index(2)) == abs(order.index(1) - order.index(4)) == 1


def test_so_many_orders_are_tried_on_so_many_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    after = [PriceAfter(q, {q + 6: None}, 0.0) for q in range(6)]
    tried: list[tuple[int, ...]] = []

    def cost(order: np.ndarray) -> float:
        tried.append(tuple(order.tolist()))
        return 1 / len(tried)  # each is better than those before, so that there is always another one

    with pytest.warns(UserWarning, match="not all others could be tried"):
        _price_order.order_by_prices(np.arange(12), after, None, cost, str)
    assert len(set(tried)) == 40

    X, y = cases()
    X, y = pd.concat([X] * 4, ignore_index=True)[:700], pd.concat([pd.Series(y)] * 4, ignore_index=True)[:700]
    seen = []

    def noting(problem: AcquisitionProblem, order: np.ndarray, solver: Adaptive) -> Any:
        seen.append(solver.n_paths)
        return Lookahead(certificate_paths=0).solve(problem)

    def acquire(policy: Any, codes: Any, **how: Any) -> Any:
        seen.append(len(codes))
        return pomdp.acquire(policy, codes, **how)

    monkeypatch.setattr(_planning, "along_order", noting)
    monkeypatch.setattr(_planning, "acquire", acquire)
    costs = Costs(USUAL, prices_after={("scan", ("history", "bad"), "cough"): 0.001})
    SequentialClassifier(feature_costs=costs, order="information", solver=FirstK(0, certificate_paths=0)).fit(X, y)
    assert set(seen) == {100, 234}  # every third row, of which no more than 300 are left
