"""The frozen suite: prices are counted by what is asked, nothing else is seen, and its page says what its data say."""

from __future__ import annotations

import importlib
import importlib.util
import runpy
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

ROOT = Path(__file__).resolve().parents[1]
pytestmark = pytest.mark.skipif(not (ROOT / "benchmarks" / "suite").is_dir(), reason="not a checkout")


@pytest.fixture
def part(monkeypatch: pytest.MonkeyPatch) -> Any:
    """A module of the suite by its name."""
    for folder in (ROOT / "benchmarks", ROOT):
        monkeypatch.syspath_prepend(str(folder))
    return lambda name: importlib.import_module(f"benchmarks.suite.{name}")


#: Peers that the suite has no figures of.
SLOW = ("forward selection", "boosting on k best")


class Toy:
    """Asks feature 0 of all, and feature 1 (twice) of those of which 0 is positive, which it decides by it."""

    def fit(self, X: Any, y: Any, prices: Any) -> Toy:
        return self

    def acquire(self, cases: Any) -> Any:
        found = (cases.ask(0) > 0).astype(int)
        rows = np.flatnonzero(found)
        for _ in range(2):
            found[rows] = (np.nan_to_num(cases.ask(1, rows)) > 0).astype(int)
        return found


@pytest.fixture
def table() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(40, 3)), rng.integers(0, 2, 40)
    X[::7, 1] = np.nan
    return X, y, np.array([0.1, 0.25, 5.0])


def test_costs_are_those_of_what_was_asked(part: Any, table: Any) -> None:
    X, y, prices = table
    told = part("cases").answered(Toy(), X, y, prices, np.isnan(X))
    for row, label, decision, paid, count, cost in zip(X, y, *told):
        asks = row[0] > 0
        right = int(asks and np.nan_to_num(row[1]) > 0)
        present = asks and not np.isnan(row[1])  # a missing cell costs nothing
        assert (decision, paid, count) == (right, pytest.approx(0.1 + 0.25 * present), 1 + present)
        assert cost == pytest.approx(paid + (right != label))


def test_a_method_sees_no_more_than_it_asks_for(part: Any, table: Any) -> None:
    X, y, prices = table
    answered, kept = part("cases").answered, []

    class Curious(Toy):
        def acquire(self, cases: Any) -> Any:
            assert not any(isinstance(getattr(cases, name), np.ndarray | pd.DataFrame) for name in cases.__slots__)
            with pytest.raises(AttributeError):
                cases.seen = None
            cases.ask(0)[:] = 7.0  # a copy: neither the table nor a later answer changes
            kept.append(cases)
            return super().acquire(cases)

    before = X.copy()
    told = answered(Curious(), X, y, prices, np.isnan(X))
    np.testing.assert_array_equal(X, before)
    np.testing.assert_array_equal(told.cost, answered(Toy(), X, y, prices, np.isnan(X)).cost)
    with pytest.raises(RuntimeError, match="closed"):
        kept[0].ask(0)
    with pytest.raises(ValueError, match="no more than 1 features"):
        answered(Toy(), X, y, prices, budget=1)
    for feature, rows in ((3, None), (-1, None), (0, [40]), (0, [-1]), (0, np.ones(3, dtype=bool))):
        with pytest.raises(IndexError):
            part("cases").open_cases(X)[0].ask(feature, rows)


@pytest.mark.filterwarnings("ignore")
def test_peers_pay_for_what_decides(part: Any) -> None:
    """Where what was not asked is another value, decisions are the same; and tuning and asking agree."""
    peers, cases = part("peers"), part("cases")
    rng = np.random.default_rng(1)
    X = rng.normal(size=(110, 3))
    y = (X[:, 0] + 0.5 * X[:, 1] + rng.normal(size=110) > 0).astype(int) + (X[:, 2] > 1)
    prices = np.array([0.01, 0.02, 0.01])
    for name, peer in peers.PEERS.items():
        # the last one is a classifier of the package, and two select what they look at in a second or more
        if name in (*SLOW, "greedy naive Bayes") or any(map(_absent, peer.needs)):
            continue
        stop = (2, 0.8) if peer.stops == peers.STOPS else peer.stops[-1]
        setting = peer.settings[-3 % len(peer.settings)]
        model = peer.make(prices, *setting).fit(X[:60], y[:60])
        own, asked = cases.open_cases(X[60:])
        decided = model.acquire(own, *stop)
        seen = asked()
        told = model.asks(X[60:])
        told = told if isinstance(told, part("trees").Asked) else told.stopped(*stop)
        np.testing.assert_allclose(told.lost(prices, y[60:]), seen @ prices + (decided != y[60:]), err_msg=name)
        other, _ = cases.open_cases(np.where(seen, X[60:], 9.0))
        np.testing.assert_array_equal(model.acquire(other, *stop), decided, err_msg=name)


def _absent(module: str) -> bool:
    return importlib.util.find_spec(module) is None


def test_the_example_is_placed(part: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Recorded on iris, beside what the suite has of it."""
    main = runpy.run_module("benchmarks.suite.__main__", run_name="placed")["main"]
    example, kept = ROOT / "benchmarks" / "suite" / "lasso_threshold.py", tmp_path / "own.csv"
    command = [str(example), "--sets", "iris", "wine", "--prices", "0.01", "--keep", str(kept)]
    main(command)
    printed = capsys.readouterr().out
    assert "| **LassoThreshold** |" in printed
    assert "| adaptive quick |" in printed
    lines = part("results").read(kept)
    assert set(lines["set"]) == {"iris", "wine"}
    assert not lines.duplicated(["set", "fold", "price"]).any()
    for _, line in lines.iterrows():
        assert part("results").losses(line).mean() == pytest.approx(line["cost"], abs=1e-6)
    written = kept.stat().st_mtime_ns
    main(command)  # nothing is run again
    assert kept.stat().st_mtime_ns == written


def test_the_rows_of_the_suite_are_the_same(part: Any) -> None:
    sets = part("sets")
    prints = pd.read_csv(sets.MANIFEST, index_col="set")["fingerprint"]
    assert list(prints.index) == list(sets.SETS)
    iris = sets.load("iris", None)
    assert iris.fingerprint() == prints["iris"]
    assert sets.Set("iris", iris.X + 1, iris.y).fingerprint() != prints["iris"]
    assert sorted(np.concatenate([iris.split(k)[1] for k in range(5)])) == list(range(150))


@pytest.mark.filterwarnings("ignore::FutureWarning")
def test_numbers_come_from_the_training_rows_alone(part: Any) -> None:
    train = pd.DataFrame({"a": ["x", "y", None] * 20, "b": [1.0, np.nan, 3.0] * 20})
    y = np.tile([0, 1, 1, 0, 1, 0], 10)
    one, _ = part("sets").as_numbers(train, train.iloc[:3], y)
    other, last = part("sets").as_numbers(train, pd.DataFrame({"a": ["z"] * 3, "b": [np.nan] * 3}), y)
    np.testing.assert_array_equal(one, other)
    assert last[:, 1] == pytest.approx([2.0] * 3)


def test_results_are_complete(part: Any) -> None:
    """Each set, fold, price and method once; every fold that is there has all methods of its price."""
    results, sets = part("results"), part("sets")
    frame = results.read()
    assert not frame.duplicated(results.KEY).any()
    for _price, own in frame.groupby("price"):
        counts = own.groupby(["set", "fold"]).size()
        assert (counts == own["method"].nunique()).all()
        folds = own.groupby("set")["fold"].unique()
        assert all(sorted(each) == list(range(len(each))) for each in folds)
    assert set(frame["set"]) <= set(sets.SETS)
    for line in frame.to_dict("records"):
        losses = results.losses(line)
        assert losses.mean() == pytest.approx(line["cost"], abs=1e-6)
        if line["price"] not in ("tests",) and not line["price"].endswith("features"):
            errors = line["rows"].count("!") / len(losses)
            assert line["cost"] == pytest.approx(line["features"] * float(line["price"]) + errors, abs=2e-5)


def test_the_pages_show_the_data(part: Any) -> None:
    page, frame = part("page"), part("results").read()
    for file in page.PAGES:
        text = file.read_text("utf-8")
        assert page.BLOCK.search(text)
        assert page.with_tables(text, frame) == text, file
        assert page.with_tables(text, frame[frame["method"] != "cascade"]) != text


def test_differences_count_that_folds_share_rows(part: Any) -> None:
    standing = part("standing")
    rng = np.random.default_rng(2)
    a, b = rng.integers(0, 2, 90) + 0.01, rng.integers(0, 2, 90)
    mean, half = standing.paired(a, b, 60.0)
    apart = a - b
    variance = (apart.var() * 90 + 1) / 91
    assert mean == pytest.approx(apart.mean())
    assert half == pytest.approx(1.987 * np.sqrt(variance * (1 / 90 + 1 / 60)), rel=1e-3)
    assert standing.paired(b, b, 60.0)[1] > 0  # the same errors on few rows prove nothing


def test_a_fold_without_some_method_does_not_count(part: Any) -> None:
    frame = pd.DataFrame(
        [
            {"set": name, "fold": fold, "price": "0.1", "method": method, "seconds": 1.0, "rows": rows}
            for name, fold, method, rows in (
                ("s", 0, "a", "1 2!"),
                ("s", 0, "b", "0! 0"),
                ("s", 1, "a", "9 9"),
                ("t", 0, "a", "0 0!"),
                ("t", 0, "b", "3 3"),
            )
        ]
    )
    first, last = part("standing").differences(frame, "0.1", "b")
    assert (first.method, first.cost, first.n_sets) == ("b", pytest.approx((0.5 + 0.3) / 2), 2)
    assert (last.cost, last.mean) == (pytest.approx((0.65 + 0.5) / 2), pytest.approx(0.175))
