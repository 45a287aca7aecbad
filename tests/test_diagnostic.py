"""Tables of tests: problem, plan, and the usual sequences of tests, against plain enumeration of cases."""

from __future__ import annotations

import itertools
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_array_equal

from seqclass import Costs
from seqclass.analysis import value_of_information
from seqclass.diagnostic import TestTable, compare_strategies
from seqclass.pomdp import ExactFreeOrder, evaluate, optimal_cost

CSV = """test,price,sensitivity,specificity,group,discounted
prior,,0.2,0.8,,
wrong,,1000,100,,
d-dimer,20,0.95,0.45,blood,5
troponin,30,0.7,0.9,blood,
ultrasound,120,0.94,0.97,,
"""


def table(**changes: Any) -> TestTable:
    settings = {
        "sensitivity": [0.9, 0.6],
        "specificity": [0.8, 0.95],
        "costs": Costs([1, 2], decision_costs=[[0, 100], [20, 0]]),
    }
    settings |= changes
    return TestTable(settings.pop("names", ["swab", "scan"]), settings.pop("prior", 0.2), **settings)


def test_the_three_ways_to_say_how_good_tests_are_are_one() -> None:
    said = table()
    ratios = table(
        sensitivity=None, specificity=None, lr_positive=[0.9 / 0.2, 0.6 / 0.05], lr_negative=[0.1 / 0.8, 0.4 / 0.95]
    )
    given = table(sensitivity=None, specificity=None, positive=[[0.9, 0.2], [0.6, 0.05]])
    for other in (ratios, given):
        np.testing.assert_allclose(other.positive, said.positive)
    frame = said.to_frame()
    np.testing.assert_allclose(frame.lr_positive, [4.5, 12])
    np.testing.assert_allclose(frame.lr_negative, [0.125, 0.4 / 0.95])
    sure = table(sensitivity=None, specificity=None, lr_positive=[np.inf, 1], lr_negative=[0.3, 1])
    np.testing.assert_allclose(sure.positive, [[0.7, 0], [0.5, 0.5]])
    reversed_ = table(sensitivity=None, specificity=None, lr_positive=[0.5, 2], lr_negative=[2, 0.5])
    np.testing.assert_allclose(reversed_.positive[0, 0] / reversed_.positive[0, 1], 0.5)


def test_a_test_that_says_nothing_is_worth_nothing() -> None:
    silent = table(sensitivity=[0.3, 0.6], specificity=[0.7, 0.95])
    found = value_of_information(silent.problem())
    assert found.value[0] == pytest.approx(0, abs=1e-12)
    assert found.value[1] > 0
    assert found.asked[0] == 0


def test_a_file_of_six_lines_is_a_plan(tmp_path: Path) -> None:
    (tmp_path / "tests.csv").write_text(CSV)
    tests = TestTable.from_csv(tmp_path / "tests.csv", unit="EUR")
    assert repr(tests) == "TestTable(3 tests at 20 to 120 EUR, P(disease) = 0.2)"
    assert "ultrasound" in tests._repr_html_()
    np.testing.assert_allclose(tests.positive, [[0.95, 0.55], [0.7, 0.1], [0.94, 0.03]])
    np.testing.assert_allclose(tests.decision_costs, [[0, 1000], [100, 0]])
    problem = tests.problem()
    assert problem.groups is not None
    np.testing.assert_allclose([problem.full_prices, problem.prices], [[20, 30, 120], [5, 30, 120]])
    clf = tests.classifier()
    # the same problem, made of tables here and of a network there
    assert clf.expected_cost_ == pytest.approx(optimal_cost(problem))
    case = clf.session()
    while case.next_feature is not None:
        case.observe(case.next_feature.name, "positive")
    assert case.decision == "disease"
    (tmp_path / "tests.tsv").write_text(CSV.replace(".", ";").replace(",", "\t").replace(";", ","))
    other = TestTable.from_csv(tmp_path / "tests.tsv", decimal=",", prior=0.4)
    np.testing.assert_allclose(other.positive, tests.positive)
    np.testing.assert_allclose(other.prior, [0.4, 0.6])


def test_classes_may_be_more_than_two_and_stand_in_any_order() -> None:
    rows = [["prior", 0.2, 0.5, 0.3], ["wrong", 9, 4, 1], ["fever", 0.8, 0.3, 0.1], ["swab", 0.1, 0.9, 0.05]]
    frame = pd.DataFrame(rows, columns=["test", "pox", "flu", "cold"])
    tests = TestTable.from_frame(frame, price=0.1)
    assert tests.classes == ("pox", "flu", "cold")
    assert tests.to_frame().columns.tolist() == ["test", "price", "pox", "flu", "cold"]
    clf = tests.classifier()
    assert clf.classes_.tolist() == ["cold", "flu", "pox"]
    np.testing.assert_allclose(clf.problem_.prior, [0.3, 0.5, 0.2])
    np.testing.assert_allclose(clf.decision_costs_, [[0, 1, 1], [4, 0, 4], [9, 9, 0]])
    assert clf.expected_cost_ == pytest.approx(optimal_cost(tests.problem()))
    more = TestTable.from_frame(
        frame, price=0.1, decision_costs=np.column_stack([9 - 9 * np.eye(3), [1, 1, 1]]), decisions=["refer"]
    )
    assert more.classifier().decisions_.tolist() == ["cold", "flu", "pox", "refer"]
    with pytest.raises(ValueError, match="two classes"):
        compare_strategies(tests)


def one_way(tests: TestTable, order: tuple[int, ...], rule: str, series: bool) -> list[float]:
    """Expected number of tests, prices and cost of decisions of a rule, one case after the other."""
    sums, n = [0.0, 0.0, 0.0], len(order)
    for truth in (0, 1):
        for results in itertools.product([True, False], repeat=n):
            chance = float(tests.prior[truth])
            for test, result in zip(order, results):
                share = float(tests.positive[test, truth])
                chance *= share if result else 1 - share
            paid, groups, seen = 0.0, set(), []
            for test, result in zip(order, results):
                group = None if tests.prices.groups is None else int(tests.prices.groups[test])
                shared = group is not None and group >= 0 and group in groups
                paid += float((tests.prices.discounted if shared else tests.prices.full)[test])
                groups.add(group)
                seen.append(result)
                left = n - len(seen)
                if rule == "all":
                    settled = False in seen
                elif rule == "any":
                    settled = True in seen
                else:
                    settled = abs(2 * sum(seen) - len(seen)) > left
                if series and settled:
                    break
            sick = {"all": all(seen), "any": any(seen), "most": 2 * sum(seen) > len(seen)}[rule]
            cost = float(tests.decision_costs[truth, 0 if sick else 1])
            for place, value in enumerate((len(seen), paid, cost)):
                sums[place] += chance * value
    return sums


@pytest.mark.parametrize("seed", range(12))
def test_usual_sequences_are_those_of_plain_enumeration(seed: int) -> None:
    rng = np.random.default_rng(seed)
    n = 2 + seed % 2
    full = rng.uniform(1, 5, n)
    costs = Costs(
        full,
        groups=["blood", "blood", None][:n],
        discounted_costs=full * rng.uniform(0.3, 1, n),
        decision_costs=[[0, 100], [30, 0]],
    )
    good, bad = rng.uniform(0.5, 1, n), rng.uniform(0.5, 1, n)
    tests = TestTable(list("abc")[:n], rng.uniform(0.05, 0.6), sensitivity=good, specificity=bad, costs=costs)
    for any_order in (True, False):
        frame = compare_strategies(tests, any_order=any_order)
        assert len(frame) == (8 if n == 3 else 6)
        assert frame.total.to_numpy() == pytest.approx(frame.price + frame.misclassification_cost)
        orders = list(itertools.permutations(range(n))) if any_order else [tuple(range(n))]
        for row in frame.iloc[1:-1].itertuples():
            rule, series = row.strategy.split()[0], "in series" in row.strategy
            ways = [one_way(tests, order, rule, series) for order in orders]
            asked, price, cost = min(ways, key=lambda way: way[1])
            np.testing.assert_allclose(
                [row.expected_tests, row.price, row.misclassification_cost], [asked, price, cost]
            )
            joined = good.prod() if rule == "all" else 1 - (1 - good).prod() if rule == "any" else None
            if joined is not None:
                assert row.sensitivity == pytest.approx(joined)
        assert frame.total[0] == pytest.approx(min(tests.prior[0] * 100, tests.prior[1] * 30))
        # whatever the usual ways do, the plan may do as well
        assert frame.total.iloc[-1] <= frame.total.min() + 1e-9
        assert frame.total.iloc[-1] == pytest.approx(optimal_cost(tests.problem(any_order=any_order)))


def test_usual_sequences_pay_what_tests_cost_after_others() -> None:
    costs = Costs([1, 4], decision_costs=[[0, 100], [20, 0]], prices_after={("scan", ("swab", "positive")): 40})
    tests = table(sensitivity=[0.8, 0.95], specificity=[0.9, 0.95], costs=costs)
    in_order = compare_strategies(tests, any_order=False)  # of all swabs 24% are positive
    np.testing.assert_allclose(in_order.price[:5], [0, 13.64, 10.6, 13.64, 4.04])
    np.testing.assert_allclose(in_order.total.iloc[-1], 4.04 + 2.52)
    free = compare_strategies(tests)
    np.testing.assert_allclose(free.price[:5], [0, 5, 4 + 0.23, 5, 4.04])
    assert free.order[:5].tolist() == ["", "scan, swab", "scan, swab", "scan, swab", "swab, scan"]
    assert free.total.iloc[-1] == pytest.approx(optimal_cost(tests.problem()))


def test_groups_may_be_numbers(tmp_path: Path) -> None:
    (tmp_path / "tests.csv").write_text(CSV.replace("blood", "1"))
    frame = pd.read_csv(tmp_path / "tests.csv")
    assert frame.group.dtype == float
    for tests in (TestTable.from_frame(frame), TestTable.from_csv(tmp_path / "tests.csv")):
        np.testing.assert_array_equal(tests.prices.groups, [0, 0, -1])
        np.testing.assert_allclose(tests.prices.discounted, [5, 30, 120])


def test_results_may_all_come_at_once_where_waiting_costs() -> None:
    rows = [["prior", None, 0.2, 0.8, None], ["swab", 3, 0.9, 0.8, 0], ["scan", 4, 0.8, 0.9, 0]]
    frame = pd.DataFrame(rows, columns=["test", "price", "sensitivity", "specificity", "delay"])
    visits = TestTable.from_frame(frame, visit_cost=1, delay_cost=2).prices.visits
    np.testing.assert_allclose(visits.single_costs, [1, 1])
    with pytest.raises(ValueError, match="belong together"):
        TestTable.from_frame(frame.drop(columns="delay"), visit_cost=1, delay_cost=2)


def test_some_tests_by_name_or_number() -> None:
    tests = TestTable(
        list("abc"), 0.3, sensitivity=[0.9, 0.8, 0.7], specificity=[0.7, 0.8, 0.9], costs=[0.01, 0.02, 0.03]
    )
    frame = compare_strategies(tests, ["c", 0], any_order=False)
    assert set(frame["order"]) == {"", "c, a"}
    problem = tests.problem(["c", "a"])
    assert (problem.names.questions, problem.names.outcomes("a")) == (["c", "a"], ["negative", "positive"])
    assert problem.names.classes == problem.names.decisions == ["disease", "no disease"]
    assert value_of_information(problem).names == ("c", "a")
    np.testing.assert_allclose(problem.prices, [0.03, 0.01])
    best = evaluate(problem, ExactFreeOrder().solve(problem)).cost
    assert compare_strategies(tests, ["c", "a"]).total.iloc[-1] == pytest.approx(best)
    for wrong, words in (
        (["d"], "there is no 'd'"),
        (["a", 0], "each test once"),
        ([3], "tests must be between 0 and 2"),
    ):
        with pytest.raises(ValueError, match=words):
            tests.problem(wrong)
    for few in (["a"], []):
        with pytest.raises(ValueError, match="two to six tests"):
            compare_strategies(tests, few)
    visits = table(costs=Costs([1, 2], visit_cost=3))
    np.testing.assert_allclose(visits.problem().prices, [4, 5])
    with pytest.raises(ValueError, match="visits with a cost"):
        compare_strategies(visits)


@pytest.mark.parametrize(
    "changes, words",
    [
        ({"sensitivity": [0.9, 1.2]}, "sensitivity of 'scan' must lie between 0 and 1, got 1.2"),
        ({"specificity": [-0.1, 0.5]}, "specificity of 'swab' must lie between 0 and 1, got -0.1"),
        ({"specificity": None}, "there is sensitivity"),
        ({"sensitivity": None, "specificity": None}, "there is none of them"),
        ({"lr_positive": [2, 2]}, "there is sensitivity and specificity and lr_positive"),
        ({"sensitivity": [0.9]}, r"sensitivity must have shape \(2,\)"),
        ({"prior": 1.5}, "prior must lie between 0 and 1"),
        ({"prior": [0.5, 0.6]}, "prior must sum to 1"),
        ({"names": ["a", "a"]}, "names must be different names, and 'a' stands there twice"),
        ({"names": "ab"}, "names must hold"),
        ({"names": ["a", "diagnosis"]}, "cannot be called 'diagnosis'"),
        ({"classes": ["a"]}, "classes must hold at least 2"),
        ({"classes": ["a", "b", "c"], "prior": [0.2, 0.3, 0.5]}, "more than two classes need"),
        ({"costs": Costs(1, bundles=["x", "x"])}, "bundles"),
        ({"costs": [1, 2, 3]}, "feature_costs"),
        ({"costs": Costs(1, decision_costs=[[0, 1]])}, "decision_costs must have shape"),
    ],
)
def test_what_is_wrong_is_said(changes: dict[str, Any], words: str) -> None:
    with pytest.raises(ValueError, match=words):
        table(**changes)


def test_ratios_of_no_test_are_refused() -> None:
    for above, below in ((2, 3), (0.5, 0.2), (2, 2), (np.nan, 0.5), (2, -0.5), (2, np.inf)):
        with pytest.raises(ValueError, match="of 'scan' are those of no test"):
            table(sensitivity=None, specificity=None, lr_positive=[2, above], lr_negative=[0.5, below])
    with pytest.raises(ValueError, match="a number for each of the 2 tests"):
        table(sensitivity=None, specificity=None, lr_positive=[2], lr_negative=[0.5])


@pytest.mark.parametrize(
    "change, words",
    [
        (("0.95,0.45", "95%,0.45"), "sensitivity of 'd-dimer' must be a number, got '95%' .95% is 0.95."),
        (("0.95,0.45", ",0.45"), "sensitivity of 'd-dimer' is missing"),
        (("0.95,0.45", "0.95,1.45"), "specificity of 'd-dimer' must lie between 0 and 1, got 1.45"),
        (("specificity", "spec"), "it has 'sensitivity', 'spec'"),
        ((",sensitivity,specificity", ",sensitivity,note"), "it has 'sensitivity', 'note'"),
        (("test,", "name,"), "needs a column 'test'"),
        (("prior,,0.2,0.8,,\n", ""), "there is no prior"),
        (("prior,,0.2,0.8", "prior,,0.2,0.9"), "prior must sum to 1"),
        (("wrong,,1000,100", "wrong,,1000,"), "row 'wrong' must be finite"),
        (("wrong,", "prior,"), "more than one row 'prior'"),
        (("troponin,30", "troponin,"), "price of 'troponin' is missing"),
        (("troponin", "d-dimer"), "'d-dimer' stands there twice"),
        (("120,", "-1,"), "feature_costs must not be negative"),
    ],
)
def test_what_is_wrong_in_a_file_is_said(tmp_path: Path, change: tuple[str, str], words: str) -> None:
    assert change[0] in CSV
    (tmp_path / "tests.csv").write_text(CSV.replace(*change))
    with pytest.raises(ValueError, match=words):
        TestTable.from_csv(tmp_path / "tests.csv")


def test_names_in_a_file_are_texts_and_none_may_lack(tmp_path: Path) -> None:
    file = tmp_path / "tests.csv"
    file.write_text("test,price,sensitivity,specificity\nNA,1,0.9,0.8\n,,,\nK,1,0.8,0.9\nprior,,0.2,\n")
    assert TestTable.from_csv(file).names == ("NA", "K")
    file.write_text("test,price,sensitivity,specificity\nNA,1,0.9,0.8\n,1,0.8,0.9\nprior,,0.2,\n")
    with pytest.raises(ValueError, match="row 2 has no name in the column 'test'"):
        TestTable.from_csv(file)


def test_a_class_may_be_called_as_a_column_is() -> None:
    for name in ("test", "price"):
        classes, positive = [name, "y", "z"], [[0.1, 0.5, 0.5], [0.2, 0.5, 0.5]]
        tests = TestTable(["a", "b"], [0.2, 0.3, 0.5], positive=positive, costs=1, classes=classes)
        assert tests.to_frame().columns.tolist() == ["test", "price", f"P(positive | {name})", "y", "z"]
        assert tests.to_frame()[f"P(positive | {name})"].tolist() == [0.1, 0.2]
        assert tests.classifier().session(known={"a": "positive"}).posterior.argmax() != classes.index(name)
    tests = TestTable(["class", "x"], [0.2, 0.3, 0.5], positive=np.full((2, 3), 0.5), costs=1, classes=["x", "y", "z"])
    assert tests.to_frame().columns.tolist() == ["test", "price", "x", "y", "z"]
    assert tests.to_frame()["test"].tolist() == ["class", "x"]


def test_what_pandas_has_by_name_goes_by_it() -> None:
    """Tests and classes in another order were taken one after the other."""
    plain = TestTable(["a", "b"], [0.3, 0.7], positive=[[0.9, 0.1], [0.5, 0.2]], classes=["x", "y"])
    frame = pd.DataFrame(plain.positive, index=["a", "b"], columns=["x", "y"])
    prior = pd.Series({"y": 0.7, "x": 0.3})
    named = TestTable(["a", "b"], prior, positive=frame.loc[["b", "a"], ["y", "x"]], classes=["x", "y"])
    assert_array_equal(named.positive, plain.positive)
    assert_array_equal(named.prior, plain.prior)
    for one, (first, second), other in (
        ("sensitivity", (0.9, 0.5), {"specificity": [0.8, 0.7]}),
        ("lr_positive", (4.0, 2.0), {"lr_negative": [0.3, 0.4]}),
    ):
        by_name, in_order = {one: pd.Series({"b": second, "a": first})}, {one: [first, second]}
        tables = [TestTable(["a", "b"], 0.3, **own, **other).positive for own in (by_name, in_order)]
        assert_array_equal(*tables)
    part = pd.Series([0.9, 0.5, 0.7])[1:]  # numbered by pandas, so in order
    assert TestTable(["b", "c"], 0.3, sensitivity=part, specificity=part).positive[:, 0].tolist() == [0.5, 0.7]
    with pytest.raises(ValueError, match="sensitivity: its entries are called 'a', 'z', which should be 'a', 'b'"):
        TestTable(["a", "b"], 0.3, sensitivity=pd.Series({"a": 0.9, "z": 0.5}), specificity=[0.8, 0.8])
