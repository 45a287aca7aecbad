"""All that costs money, wherever it is counted: every setting of `Costs` by every place that adds up a bill."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from kinds_of_cost import TABLE, costs_of
from live_cases import reader

from seqclass import Costs, SequentialClassifier
from seqclass.costs import charge_acquired
from seqclass.evaluation.scores import score_rows, step_prices
from seqclass.export import policy_data
from seqclass.pomdp import Adaptive, ClassInformation, FunctionPolicy, evaluate
from seqclass.pomdp.policy import scale_prices
from seqclass.pomdp.visits import order_panels

FIELDS = pytest.mark.parametrize("name", TABLE)


@functools.cache
def rows() -> tuple[Any, Any]:
    """Outcomes of four questions of which a few are missing, and two classes."""
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 160)
    X = (rng.random((160, 4)) < np.where(y[:, None] == 1, 0.7, 0.3)).astype(float)
    X[:2] = [[0] * 4, [1] * 4]
    X[10::7, 1] = X[12::9, 3] = np.nan
    return X, np.array(["ill", "well"])[y]


@functools.cache
def fitted(name: str) -> SequentialClassifier:
    solver = None if has_visits(name) else Adaptive([ClassInformation()], max_rounds=0, n_paths=50)
    costs = Costs(**costs_of(name))
    clf = SequentialClassifier(solver=solver, feature_costs=costs, order="adaptive", discretizer="precomputed")
    return clf.fit(*rows())


def has_visits(name: str) -> bool:
    return bool({"visit_cost", "delay_cost"} & TABLE[name].keys())


@functools.cache
def record_of(name: str) -> Any:
    return fitted(name).acquire(rows()[0])


Bill = Callable[[list[tuple[int, bool, int]], Any], float]


def bill(
    prices: Any, full: Any, groups: Any, bundles: Any, visits: dict[str, Any], charge_missing: bool, after: Any = None
) -> Bill:
    """What a case pays that was asked of columns: their numbers, whether they were missing, and the visit of each."""

    def total(steps: list[tuple[int, bool, int]], row: Any = None) -> float:
        paid, seen = surcharge(steps, row, prices, after or {}), set()
        bought = [step for step in steps if charge_missing or not step[1]]
        for column, _, _ in bought:
            if bundles[column] is None or bundles[column] not in seen:
                paid += prices[column]
                seen.add(bundles[column])
        for group in {groups[column] for column, _, _ in bought} - {None}:
            first = min(visit for column, _, visit in bought if groups[column] == group)
            paid += min(full[c] - prices[c] for c, _, visit in bought if groups[c] == group and visit == first)
        for visit in {visit for _, _, visit in steps}:
            slowest = max(visits["delays"][column] for column, _, v in steps if v == visit)
            paid += visits["cost"] + visits["delay_cost"] * slowest
        return paid

    return total


def surcharge(steps: list[tuple[int, bool, int]], row: Any, prices: Any, after: dict[Any, float]) -> float:
    """What prices that depend on answers add to the usual ones, by the words of the settings."""
    added, answers = 0.0, {}
    for column, missing, _ in steps:
        price = prices[column]
        for (question, *before), other in after.items():
            told = [one if isinstance(one, tuple) else (one, None) for one in before]
            if question == column and all(gate in answers and want in (None, answers[gate]) for gate, want in told):
                price = other
        if not missing:
            added, answers[column] = added + price - prices[column], None if row is None else row[column]
    return added


def bill_of_settings(name: str) -> Bill:
    """The bill by the settings alone, as a person reads them."""
    costs = {"visit_cost": 0.0, "delays": 0.0, "delay_cost": 0.0, "charge_missing": False} | costs_of(name)
    bundles, groups = costs.get("bundles") or [None] * 4, costs.get("groups") or [None] * 4
    full = costs["feature_costs"]
    full = [full[b] if b else full[j] for j, b in enumerate(bundles)] if isinstance(full, dict) else full
    less = np.broadcast_to(costs.get("discounted_costs", np.nan), 4)
    prices = [less[j] if groups[j] else full[j] for j in range(4)]
    delays = np.broadcast_to(costs["delays"], 4)
    visits = {"cost": costs["visit_cost"], "delays": delays, "delay_cost": costs["delay_cost"]}
    return bill(prices, full, groups, bundles, visits, costs["charge_missing"], costs.get("prices_after"))


def bill_of_export(name: str) -> Bill:
    """The bill by what is exported, which is all that a page or a C program knows."""
    data = policy_data(fitted(name))
    by_column: dict[int, Any] = {}
    for number, question in enumerate(data["questions"]):
        by_column |= {column: question | {"number": number} for column in question["features"]}
    asked = [by_column[column] for column in range(4)]
    bundles = [one["number"] if len(one["features"]) > 1 else None for one in asked]
    visits = data["visits"] or {"cost": 0.0, "delays": [0.0] * 4, "delay_cost": 0.0}
    visits = visits | {"delays": [visits["delays"][one["number"]] for one in asked]}
    prices, full = [one["price"] for one in asked], [one["full_price"] for one in asked]
    return bill(prices, full, [one["group"] for one in asked], bundles, visits, data["charge_missing"])


def bills(name: str, total: Bill) -> Any:
    record, missing = record_of(name), np.isnan(rows()[0])
    bundles = TABLE[name].get("bundles", range(4))
    bundles = [number if bundle is None else bundle for number, bundle in enumerate(bundles)]
    members = [[other for other in range(4) if bundles[other] == bundles[column]] for column in range(4)]
    paid = []
    for i, row in enumerate(record.order.tolist()):
        visits = range(len(row)) if record.visit is None else record.visit[i].tolist()
        asked = [(c, bool(missing[i, members[c]].all()), visit) for c, visit in zip(row, visits) if c >= 0]
        paid.append(total(asked, rows()[0][i]))
    return paid


def test_every_field_has_a_row() -> None:
    """Who adds a kind of cost adds a row above, which asks every place below what it makes of it."""
    # marks say which columns of texts become bundles, whose row is there
    assert TABLE.keys() == set(Costs()._get_param_names()) - {"marks"}


@FIELDS
def test_record(name: str) -> None:
    record = record_of(name)
    assert record.n_features.max() > 1
    np.testing.assert_allclose(record.paid, bills(name, bill_of_settings(name)), atol=1e-12)


@FIELDS
def test_prices_of_steps_and_scores(name: str) -> None:
    clf, record, (X, y) = fitted(name), record_of(name), rows()
    prices = clf.agent_.prices
    np.testing.assert_allclose(
        step_prices(record, prices, clf.agent_.charge_missing).sum(axis=1), record.paid, atol=1e-12
    )
    assert score_rows(clf, X, y, prices=prices).mean_price == pytest.approx(record.paid.mean())


@FIELDS
def test_sweeps(name: str) -> None:
    problem = fitted(name).problem_

    def ask_all(belief: Any) -> Any:
        return np.where(belief.available.any(axis=1), belief.available.argmax(axis=1), -1)

    once, thrice = (evaluate(p, FunctionPolicy(p, ask_all)) for p in (problem, scale_prices(problem, 3.0)))
    assert once.price >= 0.05
    assert thrice.price == pytest.approx(3 * once.price)
    assert thrice.cost - thrice.price == pytest.approx(once.cost - once.price)
    if problem.visits is not None:  # two at once
        paid = []
        for priced in (problem, scale_prices(problem, 3.0)):
            belief = order_panels(priced.initial_belief(), np.arange(4)[None] < 2)
            for question in (0, 1):
                belief = belief.asking(question).update(np.array([0]))
            paid.append(belief.spent[0])
        assert paid[1] == pytest.approx(3 * paid[0])


@FIELDS
def test_all_at_once(name: str) -> None:
    """What a model without a stopping rule pays: it orders everything together, as far as a visit holds it."""
    clf, total = fitted(name), bill_of_settings(name)
    visits = clf.agent_.prices.visits
    acquired = np.array([[1, 1, 0, 0], [0, 0, 1, 0], [1, 1, 1, 1], [0, 0, 0, 0], [0, 0, 1, 1]], dtype=float)
    wanted = []
    for row in acquired:
        columns = np.flatnonzero(row).tolist()
        if visits is not None:
            columns.sort(key=lambda column: (-visits.delays[column], column))
        size = 4 if visits is None else visits.max_panel or 4
        wanted.append(total([(c, False, k // size) for k, c in enumerate(columns)], np.ones(4)))
    told = np.ones((5, 4), dtype=int)  # what depends on answers needs them
    np.testing.assert_allclose(charge_acquired(sp.csr_array(acquired), clf.agent_.prices, told)[1], wanted, atol=1e-12)


@FIELDS
def test_sessions(name: str) -> None:
    clf, record, (X, _) = fitted(name), record_of(name), rows()
    for i in [0, 1, 5, 10, 12, 21, 24, 30]:
        case = clf.session()
        while panel := case.next_panel if has_visits(name) else tuple(filter(None, [case.next_feature])):
            for question in panel:
                columns = [part.column for part in question.features] or [question.column]
                values = {f"x{j}": X[i, j] for j in columns if not np.isnan(X[i, j])}
                if not values:
                    case.unavailable(question.name)
                else:
                    case.observe(question.name, values if question.features else values[question.name])
        assert case.paid == pytest.approx(record.paid[i])


@pytest.mark.slow_cells("prices_after")
@FIELDS
def test_exported(name: str) -> None:
    if name == "prices_after":  # for which the bill has to know answers, as the reader does
        data, paid = policy_data(fitted(name)), []
        for row in rows()[0]:
            case = reader()(data)
            while (asked := case.stand()[1]) >= 0:
                shown = row[data["questions"][asked]["features"]]
                case.tell(asked, np.where(np.isnan(shown), -1, shown).astype(int).tolist())
            paid.append(case.case["spent"])
        np.testing.assert_allclose(paid, record_of(name).paid, atol=1e-12)
        return
    np.testing.assert_allclose(bills(name, bill_of_export(name)), record_of(name).paid, atol=1e-12)
