"""Results: the file, summaries against their definitions, comparisons."""

from __future__ import annotations

import sqlite3
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from run_files import write_cells

from seqclass.experiment import Experiment, Results
from seqclass.stats import friedman_test, mean_interval
from seqclass.stats.wins import win_tie_loss

METHODS = ("a", "b", "c")


def accuracy(data: int, method: int, seed: int, fold: int) -> float:
    return 0.5 + 0.1 * method + 0.01 * ((7 * data + 3 * method + 5 * seed + fold) % 10)


@pytest.fixture
def results(tmp_path: Path) -> Results:
    """Two prices, four data sets, three methods, two seeds, three folds; one cell of method c failed."""
    cells = []
    for number in range(2 * 4 * 3 * 2 * 3):
        price, data, method, seed, fold = np.unravel_index(number, (2, 4, 3, 2, 3))
        labels: dict[str, Any] = {"data": f"d{data}", "method": METHODS[method], "price": [0.1, 0.2][price]}
        labels |= {"seed": int(seed), "fold": int(fold)}
        score = accuracy(int(data), int(method), int(seed), int(fold)) - 0.1 * int(price)
        failed = number == 17
        found = {"error": "ValueError: no", "accuracy": None} if failed else {"error": "", "accuracy": score}
        found |= {"realised_cost": 1.0 - score} if not failed else {}
        cells.append((labels, {"n_train": 100, "n_test": 50, **found}))
    write_cells(tmp_path / "a.run", cells)
    return Results.load(tmp_path / "a.run")


def test_summary(results: Results) -> None:
    summary = results.summary(metrics=["accuracy"])
    assert len(summary) == 24
    row = summary.iloc[0]
    assert row[["data", "method", "price"]].tolist() == ["d0", "a", 0.1]
    expected = mean_interval([accuracy(0, 0, s, f) for s in (0, 1) for f in range(3)], test_to_train=0.5, bounds=(0, 1))
    found = row[["accuracy", "accuracy_lower", "accuracy_upper"]].tolist()
    assert found == pytest.approx([expected.mean, expected.lower, expected.upper])
    failed = summary[summary["n_failed"] == 1]
    assert len(failed) == 1
    assert failed["n_cells"].item() == 6
    assert failed["accuracy"].item() == pytest.approx(
        np.mean([accuracy(0, 2, s, f) for s in (0, 1) for f in range(3)][:5])
    )


def test_cells_that_are_named_alike_are_told_of(tmp_path: Path) -> None:
    labels = {"data": "d", "method": "a", "price": 0.1, "seed": 0, "fold": 0}
    write_cells(tmp_path / "a.run", [(labels, {"accuracy": 0.5, "error": ""}), (labels | {"fold": 1}, {"error": ""})])
    Results.load(tmp_path / "a.run")
    write_cells(tmp_path / "a.run", [(labels, {"accuracy": 0.7, "error": ""})])
    with pytest.warns(UserWarning, match=r"1 cell is named as another is.*first of 'a' on 'd': figures are over both"):
        results = Results.load(tmp_path / "a.run")
    assert results.summary(metrics=["accuracy"])["accuracy"].item() == pytest.approx(0.6)


def test_summary_over_data_sets_counts_each_once(results: Results) -> None:
    row = results.summary(by=["method", "price"], metrics="accuracy", confidence=0.9).iloc[0]
    means = [np.mean([accuracy(d, 0, s, f) for s in (0, 1) for f in range(3)]) for d in range(4)]
    expected = mean_interval(means, confidence=0.9, bounds=(0, 1))
    assert row[["accuracy", "accuracy_lower", "accuracy_upper"]].tolist() == pytest.approx(
        [expected.mean, expected.lower, expected.upper]
    )


def plainly(table: Any, by: list[str], metric: str, bounds: tuple[float, float]) -> dict[Any, tuple[float, ...]]:
    """Summary of one figure, group by group."""
    found = {}
    for values, group in table.groupby(by, sort=False):
        scored = group[group[metric].notna()]
        units = scored.groupby(["data", "seed", "fold"] if "data" in by else "data", sort=False)[metric].mean()
        ratio = float((scored["n_test"] / scored["n_train"]).mean()) if "data" in by and len(scored) else 0.0
        ends = (np.nan,) * 4
        if len(scored):
            interval = mean_interval(units.to_numpy(), test_to_train=ratio, bounds=bounds)
            ends = (interval.mean, interval.lower, interval.upper, interval.standard_error)
        found[values] = (len(group), int((group["error"] != "").sum()), *ends)
    return found


@pytest.mark.slow_cells("by0", "by3", "by4")
@pytest.mark.parametrize(
    "by", [["data", "method", "price"], ["data"], ["method"], ["method", "seed"], ["data", "seed", "fold"]]
)
def test_summary_of_all_groups_at_once_is_that_of_each(results: Results, by: list[str]) -> None:
    table = results.to_frame()
    for metric, bounds in {"accuracy": (0, 1), "realised_cost": (0, np.inf), "auroc": (0, 1)}.items():
        expected = plainly(table, by, metric, bounds)
        summary = results.summary(by=by, metrics=[metric])
        assert [tuple(row[name] for name in by) for row in summary.to_dict("records")] == list(expected)
        names = ["n_cells", "n_failed", metric, f"{metric}_lower", f"{metric}_upper", f"{metric}_se"]
        assert summary.columns.tolist() == [*by, *names]
        np.testing.assert_allclose(summary[names].to_numpy(float), list(expected.values()), rtol=0, atol=1e-12)


def many_groups(path: Path, n_sets: int) -> Results:
    """A run of so many data sets, two methods and three folds."""
    rng = np.random.default_rng(0)
    cells = [(f"d{d}", "ab"[m], f) for d in range(n_sets) for m in (0, 1) for f in range(3)]
    labels = [{"data": data, "method": method, "price": 0.1, "seed": 0, "fold": f} for data, method, f in cells]
    scores = rng.beta(9, 1, len(cells)).tolist()
    figures = [{"accuracy": s, "realised_cost": 1 - s, "n_train": 2, "n_test": 1, "error": ""} for s in scores]
    write_cells(path, zip(labels, figures))
    return Results.load(path)


@pytest.mark.slow
def test_summary_of_many_groups_is_no_loop_over_them(tmp_path: Path, steps: Any) -> None:
    beyond, compared = [], []
    for n_sets in (15, 60):
        run = many_groups(tmp_path / f"{n_sets}.run", n_sets)
        run.compare()  # what is imported and noted once is not counted
        reading = steps(run.to_frame)
        beyond.append(steps(run.summary) - reading)
        compared.append(steps(run.compare) - reading)
    assert beyond[1] < 1.1 * beyond[0]
    assert compared[1] < 1.2 * compared[0]
    summary = run.summary(metrics=["accuracy", "realised_cost"])
    assert len(summary) == 120
    assert summary["accuracy_upper"].max() <= 1
    assert summary["realised_cost_lower"].min() >= 0


def test_compare(results: Results) -> None:
    at_one = results.compare("accuracy", price=0.2)
    assert at_one.scores.shape == (4, 3)
    assert at_one.scores.loc["d3", "b"] == pytest.approx(
        np.mean([accuracy(3, 1, s, f) for s in (0, 1) for f in range(3)]) - 0.1
    )
    assert at_one.wins.wins.tolist() == win_tie_loss(at_one.scores.to_numpy()).wins.tolist()
    assert at_one.friedman is not None
    assert at_one.friedman.chi_square == friedman_test(at_one.scores.to_numpy()).chi_square
    assert at_one.nemenyi is not None
    assert np.argmin(at_one.nemenyi.average_ranks) == 2
    by_cost = results.compare()
    assert by_cost.metric == "realised_cost"
    assert np.argmin(by_cost.nemenyi.average_ranks) == 2  # type: ignore[union-attr]
    text = str(by_cost)
    assert "Friedman" in text
    assert "critical difference" in text


def test_a_comparison_says_what_it_is_a_mean_over(results: Results) -> None:
    over = results.compare()
    assert over.prices == (0.1, 0.2)
    assert "Each fold of each seed counts the same, and each data set once. All of this is of means" in str(over)
    assert "means over the prices 0.1, 0.2, which count the same" in over.pooled
    assert "price= (--price on the command line) compares at one" in str(over)
    assert "budget" not in str(over)
    at_one = results.compare(price=0.2)
    assert at_one.prices == (0.2,)
    assert "means over" not in str(at_one)
    labels = {"data": "d0", "price": 0.1, "seed": 0, "fold": 0, "budget": 3}
    cells = [({**labels, "method": method}, {"realised_cost": 0.5, "error": ""}) for method in METHODS]
    write_cells(results.path, cells)
    assert "the prices 0.1, 0.2 and the budgets none, 3" in str(results.compare())


def test_methods_are_compared_on_the_same_folds(results: Results) -> None:
    # c failed in the last fold of d0: what the others have there must not count
    scores = results.compare("accuracy", price=0.1).scores
    folds = [(s, f) for s in (0, 1) for f in range(3)]
    for method in range(3):
        assert scores.loc["d0", METHODS[method]] == pytest.approx(
            np.mean([accuracy(0, method, s, f) for s, f in folds[:-1]])
        )
        assert scores.loc["d1", METHODS[method]] == pytest.approx(
            np.mean([accuracy(1, method, s, f) for s, f in folds])
        )


def test_a_method_without_any_score_is_left_out(tmp_path: Path) -> None:
    def run(name: str, cells: dict[tuple[str, int], float | None]) -> Results:
        labels = [{"data": "d", "method": method, "price": 0.1, "seed": 0, "fold": fold} for method, fold in cells]
        found = [{"accuracy": score, "error": "" if score else "ValueError: no"} for score in cells.values()]
        write_cells(tmp_path / name, zip(labels, found))
        return Results.load(tmp_path / name)

    found = run("a.run", {("a", 0): 0.5, ("bad", 0): None, ("b", 0): 0.6}).compare("accuracy")
    assert found.left_out == ("bad",)
    assert found.scores.columns.tolist() == ["a", "b"]
    assert "left out, without a score: bad" in str(found)
    with pytest.raises(ValueError, match=r"of \['a', 'bad'\] have one: \['a'\]"):
        run("b.run", {("a", 0): 0.5, ("bad", 0): None}).compare("accuracy")
    with pytest.raises(ValueError, match=r"no data set .* on the same folds"):
        run("c.run", {("a", 0): 0.5, ("a", 1): None, ("b", 0): None, ("b", 1): 0.6}).compare("accuracy")


def test_a_price_without_a_score_leaves_the_data_set_out(results: Results) -> None:
    labels = {"data": "d1", "method": "a", "price": 0.3, "seed": 0, "fold": 0}
    write_cells(results.path, [(labels, {"accuracy": None, "n_train": 100, "n_test": 50, "error": ""})])
    # the mean of the other prices would not be one over the same prices
    assert results.compare("accuracy").scores.index.tolist() == ["d0", "d2", "d3"]
    assert results.compare("accuracy", price=0.1).scores.index.tolist() == ["d0", "d1", "d2", "d3"]


def test_what_is_refused(results: Results, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="metrics: there is no 'acuracy'; did you mean 'accuracy'"):
        results.summary(metrics=["acuracy"])
    with pytest.raises(ValueError, match="by must name"):
        results.summary(by=[])
    with pytest.raises(ValueError, match="by: there is no 'error'"):
        results.summary(by="error")
    with pytest.raises(ValueError, match=r"price 0\.3 is none of"):
        results.compare(price=0.3)
    with pytest.raises(ValueError, match=r"two methods or more must have a score of auroc; of \['a', 'b', 'c'\]"):
        results.compare("auroc")
    with pytest.raises(ValueError, match="there is no cell 'none'"):
        results.read_explored("none")
    with pytest.raises(FileNotFoundError, match="there is no run"):
        Results.load(tmp_path / "none.run")
    text = tmp_path / "text.run"
    text.write_text("data,method\n" * 100)
    with pytest.raises(ValueError, match=r"text\.run cannot be read as a run"):
        Results.load(text)


def test_other_databases_are_left_alone(tmp_path: Path, results: Results) -> None:
    other = tmp_path / "other.db"
    connection = sqlite3.connect(other)
    connection.execute("CREATE TABLE cells (x)")
    connection.commit()
    connection.close()
    before = other.read_bytes()
    with pytest.raises(ValueError, match="another database"):
        Experiment(["iris"], ["etana"], cv=2).run(other)
    assert other.read_bytes() == before
    connection = sqlite3.connect(results.path)
    connection.execute("PRAGMA user_version = 2")
    connection.commit()
    connection.close()
    with pytest.raises(ValueError, match="newer version"):
        Results.load(results.path)


def test_one_method_is_nothing_to_compare(tmp_path: Path) -> None:
    labels = {"data": "d", "method": "m", "price": 0.1, "seed": 0, "fold": 0}
    write_cells(tmp_path / "a.run", [(labels, {"accuracy": None, "n_train": 2, "n_test": 1, "error": ""})])
    found = Results.load(tmp_path / "a.run")
    assert found.summary()["accuracy"].isna().all()
    with pytest.raises(ValueError, match="two methods or more"):
        found.compare("accuracy")
