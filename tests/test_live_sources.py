"""Live sources: what a function tells when it is asked gives what a table of the same values gives, and is kept."""

from __future__ import annotations

import asyncio
import sqlite3
import subprocess
import sys
import threading
from collections import Counter
from collections.abc import Callable
from contextlib import closing
from dataclasses import fields
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.preprocessing import KBinsDiscretizer

import seqclass
from seqclass import Costs, SequentialClassifier
from seqclass.agent.record import AcquisitionRecord
from seqclass.bn import ClassMixture, ContextBayes, InformationFilter, NaiveBayes, NetworkTables, TreeNetwork
from seqclass.pomdp import Adaptive, GridValueIteration, HiddenInformation, Lookahead
from seqclass.pomdp.policy import draw_lots

RNG = np.random.default_rng(0)
Y = RNG.integers(0, 2, 200)
LOUD = np.array([0.3, 1.5, 0.0, 0.8, 1.2, 0.5])
X = np.round(RNG.normal(size=(200, 6)) + LOUD * (Y + RNG.integers(0, 2, 200))[:, None], 1)
HOLES = np.where(RNG.random(X.shape) < 0.15, np.nan, X)
FAST = Adaptive([HiddenInformation()], max_nodes=0, n_paths=60, n_cases=40, max_rounds=0, certificate_paths=0)
QUICK = Lookahead(1, certificate_paths=0)
BUNDLES = ["a", "a", None, "b", "b", None]
FREE: dict[str, Any] = {"order": "adaptive", "solver": QUICK}
SETTINGS: dict[str, dict[str, Any]] = {
    "naive Bayes, one order": {"observation_model": NaiveBayes(), "solver": GridValueIteration()},
    "naive Bayes, any order": FREE,
    "tree, one order": {"observation_model": TreeNetwork(), "solver": QUICK},
    "tree, any order": FREE | {"observation_model": TreeNetwork()},
    "mixture, one order": {"observation_model": ClassMixture(2, random_state=0), "solver": QUICK},
    "mixture, any order": FREE | {"observation_model": ClassMixture(2, random_state=0), "solver": FAST},
    "contexts, one order": {"observation_model": ContextBayes(1), "solver": QUICK},
    "contexts, any order": FREE | {"observation_model": ContextBayes(1)},
    "bundles, one order": {"solver": QUICK, "feature_costs": Costs(0.02, bundles=BUNDLES)},
    "bundles, any order": FREE | {"feature_costs": Costs(0.02, bundles=BUNDLES, charge_missing=True)},
    "groups": FREE | {"feature_costs": Costs(0.02, groups=BUNDLES, discounted_costs=0.005, charge_missing=True)},
    "calibrated": FREE | {"calibrate": True},
    "few": FREE | {"max_features": 2, "max_cost": 0.1},
    "selected": FREE | {"selector": InformationFilter(n_features=3)},
    "three classes": FREE | {"classes": 3},
}


def asked_of(told: list[tuple[list[int], Any]]) -> Counter[tuple[int, Any]]:
    return Counter((row, feature) for rows, feature in told for row in rows)


class Reads:
    """A source that reads a table and remembers its calls; it answers in its own type, as a list or as a column."""

    def __init__(self, data: Any, *, broken: Callable[[int], BaseException | None] = lambda call: None) -> None:
        self.data, self.told, self.broken = data, [], broken

    def __call__(self, rows: Any, feature: Any) -> Any:
        self.told.append((rows.tolist(), feature))
        error = self.broken(len(self.told))
        if error is not None:
            raise error
        members = [j for j, bundle in enumerate(BUNDLES) if bundle == feature]
        found = {j: self._read(rows, j) for j in members} if members else self._read(rows, feature)
        rows += 1  # what is done to them is nobody's business
        return found

    def _read(self, rows: Any, feature: Any) -> Any:
        return self.data[feature].iloc[rows] if isinstance(self.data, pd.DataFrame) else self.data[rows, feature]


class ReadsLater(Reads):
    async def __call__(self, rows: Any, feature: Any) -> Any:
        found = super().__call__(rows, feature)
        for _ in range(1 + len(self.told) % 3):
            await asyncio.sleep(0)
        return pd.DataFrame(found) if isinstance(found, dict) else list(found)


def assert_same(one: AcquisitionRecord, other: AcquisitionRecord) -> None:
    assert one.unit == other.unit
    # rows of a source go by their numbers, those of a table by its index
    for name in (field.name for field in fields(one) if field.name not in ("unit", "index")):
        first, second = getattr(one, name), getattr(other, name)
        assert (first is None) == (second is None)
        if first is not None:
            assert first.dtype == second.dtype
            np.testing.assert_array_equal(first, second, err_msg=name)


def fit(classes: int = 2, **settings: Any) -> SequentialClassifier:
    y = np.where(X[:, 5] > 0.8, classes - 1, Y)
    return SequentialClassifier(**{"feature_costs": 0.02} | settings).fit(HOLES, y)


@pytest.mark.slow_cells(
    "bundles, any order",
    "bundles, one order",
    "calibrated",
    "contexts, any order",
    "contexts, one order",
    "groups",
    "mixture, any order",
    "mixture, one order",
    "naive Bayes, any order",
    "tree, any order",
    "tree, one order",
)
@pytest.mark.parametrize("name", SETTINGS)
def test_it_is_the_record_of_a_table(name: str) -> None:
    clf, data = fit(**SETTINGS[name]), HOLES[:30]
    bundled = "bundles" in name
    for how in ({}, {"budget": 3}, {"known": [0, 4]}, {"known": [2], "budget": 2}):
        expected = clf.acquire(data, record_beliefs=True, **how)
        questions = {(row, j) for row, order in enumerate(expected.order.tolist()) for j in order if j >= 0}
        known = {(row, j) for row in range(len(data)) for j in how.get("known", []) if j in clf.support_}
        expected_calls = known | {(row, (BUNDLES[j] or j) if bundled else j) for row, j in questions}
        ways: list[tuple[Reads, dict[str, Any]]] = [(ReadsLater(data), {"batch_size": 20, "concurrency": 3})]
        if not how:
            ways += [(Reads(data), {}), (Reads(data), {"batch_size": 20})]
        for source, more in ways:
            found = clf.acquire(provider=source, n=len(data), record_beliefs=True, **how, **more)
            assert_same(found, expected)
            # what counts is asked for once, and nothing else
            assert asked_of(source.told) == dict.fromkeys(expected_calls, 1)
            assert max(len(rows) for rows, _ in source.told) <= more.get("batch_size", len(data))


def test_rows_of_a_level_ask_together() -> None:
    clf = fit(**SETTINGS["naive Bayes, one order"])
    source = Reads(HOLES)
    record = clf.acquire(provider=source, n=200)
    assert [feature for _, feature in source.told] == clf.order_[: record.order.shape[1]].tolist()
    assert [len(rows) for rows, _ in source.told] == (record.order >= 0).sum(axis=0).tolist()


def test_a_network_and_its_names() -> None:
    tables = [np.array([0.7, 0.3]), np.array([[0.8, 0.3], [0.2, 0.7]]), np.array([[0.9, 0.2], [0.1, 0.8]])]
    states = [["no", "yes"], ["low", "high"], ["neg", "pos"]]
    flu = NetworkTables(["flu", "fever", "swab"], states, [[], [0], [0]], tables)
    clf = SequentialClassifier.from_network(flu, "flu", feature_costs={"fever": 0.01, "swab": 0.05})
    rng = np.random.default_rng(1)
    data = pd.DataFrame({"fever": rng.choice(["low", "high"], 40), "swab": rng.choice(["neg", "pos", None], 40)})
    source = Reads(data)
    assert_same(clf.acquire(provider=source, n=40), clf.acquire(data))
    assert {feature for _, feature in source.told} == {"fever", "swab"}


def mixed() -> pd.DataFrame:
    """Columns of every kind that tables may have."""
    rng = np.random.default_rng(2)
    frame = pd.DataFrame({"size": np.round(rng.normal(size=200) + Y, 1), "count": rng.poisson(1 + 2 * Y).astype(float)})
    frame["kind"] = pd.Categorical(np.where(rng.random(200) < 0.8, np.array(["x", "y"])[Y], "z"))
    frame["answer"] = np.where(rng.random(200) < 0.7, Y, 1 - Y).astype(bool)
    frame["code"] = pd.Series(np.where(rng.random(200) < 0.6, Y, 7)).astype("Int64").astype("category")
    frame.loc[rng.random(200) < 0.2, ["size", "kind", "code"]] = None
    return frame


@pytest.mark.slow_cells("ReadsLater")
@pytest.mark.parametrize("make", [Reads, ReadsLater])
def test_values_of_every_kind_are_kept_in_a_file(make: Any, tmp_path: Path) -> None:
    frame = mixed()
    clf = SequentialClassifier(feature_costs=0.001, **FREE).fit(frame, Y)
    expected, kept = clf.acquire(frame), tmp_path / "told.db"
    half = make(frame)
    assert_same(clf.acquire(provider=half, n=100, kept=kept), clf.acquire(frame[:100]))
    rest = make(frame)
    assert_same(clf.acquire(provider=rest, n=200, kept=str(kept)), expected)
    assert {feature for _, feature in half.told} == set(frame.columns)
    assert min(row for row, _ in asked_of(rest.told)) == 100
    # another classifier of the same features goes on with what is there; nobody is asked for what is
    other = SequentialClassifier(feature_costs=0.02, order=list(frame.columns)).fit(frame, Y)
    third = make(frame)
    assert_same(other.acquire(provider=third, n=200, kept=kept), other.acquire(frame))
    assert not asked_of(half.told + rest.told).keys() & asked_of(third.told).keys()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["told.db"]


def test_a_dict_keeps_too() -> None:
    clf, kept, source = fit(**FREE), {}, Reads(HOLES)
    record = clf.acquire(provider=source, n=200, kept=kept)
    assert {(row, j) for j in kept for row in kept[j]} == set(asked_of(source.told))
    assert None in kept[1].values()  # that it is not available is an answer
    again = Reads(HOLES)
    assert_same(clf.acquire(provider=again, n=200, kept=kept), record)
    assert again.told == []
    # fewer instances read their part, in whatever order it was told
    mixed_up = {feature: dict(reversed(told.items())) for feature, told in kept.items()}
    assert_same(clf.acquire(provider=again, n=50, kept=mixed_up), clf.acquire(HOLES[:50]))
    assert again.told == []


@pytest.mark.parametrize("where", ["file", "dict"])
def test_a_run_that_was_cut_short_goes_on(where: str, tmp_path: Path) -> None:
    clf, kept = fit(**FREE), {} if where == "dict" else tmp_path / "told.db"
    whole = Reads(HOLES)
    expected = clf.acquire(provider=whole, n=200)
    cut = Reads(HOLES, broken=lambda call: KeyboardInterrupt() if call == 4 else None)
    with pytest.raises(KeyboardInterrupt):
        clf.acquire(provider=cut, n=200, kept=kept)
    rest = Reads(HOLES)
    assert_same(clf.acquire(provider=rest, n=200, kept=kept), expected)
    assert cut.told[:3] + rest.told == whole.told


@pytest.mark.slow
def test_a_process_that_is_killed_loses_the_call_under_way(tmp_path: Path) -> None:
    clf = fit(**FREE)
    clf.save(tmp_path / "clf.seq")
    np.save(tmp_path / "x.npy", HOLES)
    code = """
import os, sys
import numpy as np
import seqclass
clf, X, calls = seqclass.load("clf.seq"), np.load("x.npy"), []
def ask(rows, feature):
    calls.append(feature)
    if len(calls) == 4:
        os._exit(9)
    return X[rows, feature]
clf.acquire(provider=ask, n=200, kept="told.db")
"""
    done = subprocess.run([sys.executable, "-c", code], cwd=tmp_path)
    assert done.returncode == 9
    whole, rest = Reads(HOLES), Reads(HOLES)
    expected = clf.acquire(provider=whole, n=200)
    assert_same(clf.acquire(provider=rest, n=200, kept=tmp_path / "told.db"), expected)
    assert rest.told == whole.told[3:]


@pytest.mark.parametrize("make", [Reads, ReadsLater])
def test_errors_are_tried_again_and_then_not_available(make: Any) -> None:
    clf = fit(**SETTINGS["naive Bayes, one order"])
    first = int(clf.order_[0])
    flaky = make(HOLES, broken=lambda call: OSError("busy") if call in (1, 2) else None)
    assert_same(clf.acquire(provider=flaky, n=200, batch_size=200), clf.acquire(HOLES))
    assert [feature for _, feature in flaky.told[:3]] == [first] * 3
    # a feature that never can be had is missing, warned of, and not kept
    down = make(HOLES)
    down.broken = lambda call: OSError("no route to the laboratory") if down.told[-1][1] == first else None
    without, kept = np.where(np.arange(6) == first, np.nan, HOLES), {}
    with pytest.warns(UserWarning, match=rf"by feature: {first} \(200\)\. .* raised OSError: no route") as found:
        record = clf.acquire(provider=down, n=200, tries=2, kept=kept, batch_size=200)
    assert [warning.filename for warning in found] == [__file__]
    assert_same(record, clf.acquire(without))
    assert [feature for _, feature in down.told].count(first) == 2
    assert first not in kept
    later = make(HOLES)
    assert_same(clf.acquire(provider=later, n=200, kept=kept), clf.acquire(HOLES))
    assert {row for row, feature in asked_of(later.told) if feature == first} == set(range(200))


@pytest.mark.parametrize("make", [Reads, ReadsLater])
def test_or_they_are_raised(make: Any) -> None:
    clf, kept = fit(**SETTINGS["naive Bayes, one order"]), {}
    source = make(HOLES, broken=lambda call: OSError("gone") if call > 1 else None)
    with pytest.raises(OSError, match="gone"):
        clf.acquire(provider=source, n=200, on_error="raise", tries=3, kept=kept, batch_size=200)
    assert len(source.told) == 4
    assert list(kept) == [clf.order_[0]]


class Waits(ReadsLater):
    """Answers nobody's questions about row 0 before all others are through."""

    under_way, most = 0, 0

    def __init__(self, data: Any, others: int) -> None:
        super().__init__(data)
        self.others = others

    async def __call__(self, rows: Any, feature: Any) -> Any:
        self.under_way += 1
        self.most = max(self.most, self.under_way)
        waits = 0 in rows.tolist()
        for _ in range(10_000):  # looks at no clock
            if not waits or self.others <= 0:
                break
            await asyncio.sleep(0)
        else:
            raise AssertionError("a batch that waits holds others up")
        self.others -= 0 if waits else rows.size
        found = await super().__call__(rows, feature)
        self.under_way -= 1
        return found


@pytest.mark.slow
def test_who_waits_holds_nobody_up_and_few_calls_are_under_way() -> None:
    clf = fit(**FREE)
    expected = clf.acquire(HOLES)
    source = Waits(HOLES, others=int((expected.order[5:] >= 0).sum()))
    found = clf.acquire(provider=source, n=200, batch_size=5, concurrency=4, on_error="raise", tries=1)
    assert_same(found, expected)
    assert source.most == 4


def test_in_a_notebook_a_loop_is_at_work_already() -> None:
    clf = fit(**FREE)

    async def cell() -> AcquisitionRecord:
        return clf.acquire(provider=ReadsLater(HOLES), n=200)

    assert_same(asyncio.run(cell()), clf.acquire(HOLES))


def test_lots_are_drawn_by_the_number_of_the_row() -> None:
    clf = SequentialClassifier(solver=GridValueIteration(), feature_costs=0.02, target_cost=0.021).fit(HOLES, Y)
    assert len(clf.policy_.initial_belief()[0]) == 2
    record = clf.acquire(provider=Reads(HOLES), n=200)
    drawn = draw_lots(clf.policy_, np.arange(200.0)[:, None])
    assert set(drawn.tolist()) == {0, 1}
    # rows that all show the same differ by their lots alone
    alike = clf.acquire(provider=lambda rows, feature: HOLES[np.zeros_like(rows), feature], n=200)
    assert len({tuple(row) for row in np.column_stack([drawn, alike.history]).tolist()}) == 2
    parts = Reads(HOLES)
    assert_same(clf.acquire(provider=parts, n=200, batch_size=9), record)
    assert asked_of(parts.told).total() == (record.order >= 0).sum()


@pytest.mark.parametrize("discretizer", ["precomputed", "KBinsDiscretizer", "sparse"])
def test_other_bins(discretizer: str) -> None:
    data: Any = np.abs(np.round(X))
    how: Any = {"discretizer": "precomputed"}
    if discretizer == "KBinsDiscretizer":  # cannot be cut to one column
        how = {"discretizer": KBinsDiscretizer(3, encode="ordinal", strategy="uniform", subsample=None)}
    if discretizer == "sparse":
        data, how = sparse.csr_array(np.where(X > 1, X, 0.0)), {}
    clf = SequentialClassifier(**FREE, **how).fit(data, Y)
    table = data.toarray() if discretizer == "sparse" else data
    assert_same(clf.acquire(provider=Reads(table), n=200), clf.acquire(data))
    with_none = clf.acquire(provider=lambda rows, feature: [None] * len(rows), n=3)
    assert with_none.n_features.tolist() == [0] * 3


def test_unknown_categories_are_treated_as_in_a_table(tmp_path: Path) -> None:
    frame = mixed()
    clf = SequentialClassifier(feature_costs=0.001, **FREE).fit(frame, Y)
    new = frame.assign(kind=frame["kind"].astype(object).where(np.arange(200) != 3, "w"))
    with pytest.raises(ValueError, match="column 'kind' holds the unknown category 'w'; known are") as table:
        clf.acquire(new)
    with pytest.raises(ValueError, match="column 'kind' holds the unknown category 'w'; known are") as source:
        clf.acquire(provider=Reads(new), n=200, kept=tmp_path / "told.db")
    assert str(table.value) == str(source.value)
    clf.handle_unknown = "missing"
    assert_same(clf.acquire(provider=Reads(new), n=200, kept=tmp_path / "told.db"), clf.acquire(new))


@pytest.mark.parametrize("n", [1, 5])
def test_a_frame_tells_of_a_feature_by_its_name(n: int) -> None:
    X = mixed()
    clf = SequentialClassifier(solver=QUICK, feature_costs=0.001).fit(X, Y)
    assert_same(clf.acquire(provider=lambda rows, feature: X[[feature]].iloc[rows], n=n), clf.acquire(X[:n]))
    with pytest.raises(ValueError, match=r"provider must give a dict or data frame of '.*', got 'other'"):
        clf.acquire(provider=lambda rows, feature: pd.DataFrame({"other": [1.0] * len(rows)}), n=n)


@pytest.mark.parametrize("about", [{"n": 7}, {"kept": {}}])
def test_what_is_about_a_source_needs_one(about: dict[str, Any]) -> None:
    clf = SequentialClassifier(solver=QUICK, feature_costs=0.001).fit(mixed(), Y)
    with pytest.raises(ValueError, match="concurrency are about a live source: give it as provider"):
        clf.acquire(mixed(), **about)


@pytest.mark.parametrize(
    ("told", "message"),
    [
        ([1.0, 2.0], r"provider gave 2 values of 'size' for 3 rows: give one for each, None where it is not"),
        (0.5, r"provider must give an array of values of 'size', one a row, got 0\.5"),
        (np.float64(0.5), "provider must give an array of values of 'size', one a row, got"),
        ("abc", "provider must give an array of values of 'size', one a row, got 'abc'"),
        ({0: 1.0, 1: 2.0, 2: 3.0}, "provider must give an array of values of 'size', one a row, got"),
        ([1.0, np.inf, 2.0], "provider told infinity of 'size': correct it, or give None"),
        (["small", "big", "big"], "column 'size' must hold numbers, but row 0 has 'small'"),
        (pd.to_datetime(["2020-01-01"] * 3), "column 'size' holds dates or durations"),
        ([b"1", b"2", b"3"], "column 'size' holds bytes"),
        (np.ones((3, 1)), "column 'size' holds list where one number or text belongs"),
    ],
)
def test_wrong_answers_are_refused_and_not_kept(told: Any, message: str) -> None:
    clf, kept = SequentialClassifier(order=["size"], solver=QUICK, feature_costs=0.001).fit(mixed(), Y), {}
    with pytest.raises(ValueError, match=message) as error:
        clf.acquire(provider=lambda rows, feature: told, n=3, kept=kept)
    assert "\n" not in str(error.value)
    assert kept == {}


@pytest.mark.parametrize(
    ("told", "message"),
    [
        (
            np.ones((3, 2)),
            "provider must give a dict or data frame of the bundle 'a', with 0, 1, got ndarray",
        ),
        ({0: [1.0] * 3}, "provider must give a dict or data frame of the bundle 'a', with 0, 1, got 0"),
        ({0: [1.0] * 3, 1: [1.0] * 2}, "provider gave 2 values of 1 for 3 rows"),
    ],
)
def test_wrong_answers_about_bundles_are_refused_and_not_kept(told: Any, message: str) -> None:
    clf, kept = fit(order=[0, 1, 2, 3, 4, 5], solver=QUICK, feature_costs=Costs(0.001, bundles=BUNDLES)), {}
    with pytest.raises(ValueError, match=message):
        clf.acquire(provider=lambda rows, feature: told, n=3, kept=kept, budget=1)
    assert kept == {}


async def later(rows: Any, feature: Any) -> Any:
    return HOLES[rows, feature]


@pytest.mark.parametrize(
    ("how", "error", "message"),
    [
        ({}, ValueError, "give the instances as X, or a live source as provider and n"),
        ({"X": HOLES, "provider": later, "n": 200}, ValueError, "give either X or provider"),
        ({"provider": later}, ValueError, r"n: say how many instances provider tells about"),
        ({"provider": later, "n": 0}, ValueError, "n must be at least 1, got 0"),
        ({"provider": HOLES, "n": 200}, TypeError, "provider must be a function of rows and a feature, got"),
        ({"provider": lambda rows, feature: later(rows, feature), "n": 200}, TypeError, "define it by async def"),
        ({"provider": later, "n": 200, "tries": 0}, ValueError, "tries must be at least 1"),
        ({"provider": later, "n": 200, "on_error": "skip"}, ValueError, "on_error must be one of 'missing', 'raise'"),
        ({"provider": later, "n": 200, "batch_size": 0}, ValueError, "batch_size must be at least 1"),
        ({"provider": later, "n": 200, "concurrency": 0}, ValueError, "concurrency must be at least 1"),
        ({"provider": later, "n": 200, "kept": 3}, TypeError, "kept must be a path or a dict, got 3"),
        ({"provider": later, "n": 200, "budget": -1}, ValueError, "budget"),
        ({"provider": later, "n": 200, "known": ["x9"]}, ValueError, "known names 'x9', which is not a feature"),
    ],
)
def test_what_is_asked_wrongly_is_told(how: Any, error: Any, message: str) -> None:
    clf = fit(**SETTINGS["naive Bayes, one order"])
    with pytest.raises(error, match=message):
        clf.acquire(**how)


def content(path: Path) -> list[Any]:
    with closing(sqlite3.connect(path)) as connection:
        return list(connection.iterdump())


def test_files_of_others_stay_as_they_are(tmp_path: Path) -> None:
    clf, kept = fit(**FREE), tmp_path / "told.db"
    clf.acquire(provider=Reads(HOLES), n=200, kept=kept)
    named = SequentialClassifier(**FREE).fit(pd.DataFrame(HOLES, columns=list("abcdef")), Y)
    before = content(kept)
    with pytest.raises(ValueError, match=r"kept: .*told\.db has answers about other features than the classifier's"):
        named.acquire(provider=Reads(HOLES), n=200, kept=kept)
    (tmp_path / "text.csv").write_text("a,b\n1,2\n" * 200)
    with pytest.raises(ValueError, match=r"text\.csv cannot be read as answers of a source: it is a file of another"):
        clf.acquire(provider=Reads(HOLES), n=200, kept=tmp_path / "text.csv")
    with closing(sqlite3.connect(tmp_path / "other.db")) as connection:
        connection.execute("CREATE TABLE mine (x)")
    with pytest.raises(ValueError, match=r"other\.db is not the file of answers of a source"):
        clf.acquire(provider=Reads(HOLES), n=200, kept=tmp_path / "other.db")
    with pytest.raises(FileNotFoundError, match="there is no folder"):
        clf.acquire(provider=Reads(HOLES), n=200, kept=tmp_path / "nowhere" / "told.db")
    assert content(kept) == before
    with closing(sqlite3.connect(kept)) as connection:
        connection.execute("PRAGMA user_version = 2")
    with pytest.raises(ValueError, match="written by a newer version"):
        clf.acquire(provider=Reads(HOLES), n=200, kept=kept)


RECORDS = [
    ("[0]", "[" * 100_000, "RecursionError"),
    ("[0, 1]", "[1.0]", r"rows \[0, 1\] and answers \[1.0\] are not as many"),
    ("5", "[1.0]", "rows 5 and answers"),
    ("[-1]", "[1.0]", "rows are numbered from 0, so that -1 is none"),
    ("[true]", "[1.0]", "so that True is none"),
    ('["x"]', "[1.0]", "so that 'x' is none"),
    ("[0.5]", "[1.0]", "so that 0.5 is none"),
    ("[0]", "[[1.0]]", "holds list where one number or text belongs"),
    ("[0]", "[1e999]", "infinity"),
    ("[0]", f"[{10**400}]", "Error"),
    ("[0]", '["much"]', "Error"),
    ("[0]", "null", "answers None"),
    ("[0]", None, "TypeError"),
    ("[0", "[1.0]", "JSONDecodeError"),
    (b"\xff", "[1.0]", "UnicodeDecodeError"),
]


@pytest.fixture(scope="module")
def plain() -> SequentialClassifier:
    return fit(solver=QUICK)


@pytest.mark.parametrize(("cases", "told", "message"), RECORDS, ids=range(len(RECORDS)))
def test_damaged_records_name_their_file(
    plain: SequentialClassifier, cases: Any, told: Any, message: str, tmp_path: Path
) -> None:
    clf, kept = plain, tmp_path / "told.db"
    clf.acquire(provider=Reads(HOLES), n=9, kept=kept)
    with closing(sqlite3.connect(kept)) as connection, connection:
        connection.execute("UPDATE answers SET cases = ?, told = ? WHERE rowid = 1", (cases, told))
    feature = int(clf.order_[0])
    with pytest.raises(ValueError, match=rf"kept: .*told\.db holds answers about {feature} that cannot.*{message}"):
        clf.acquire(provider=Reads(HOLES), n=9, kept=kept)


@pytest.mark.parametrize("told", [{-1: 1.0}, {10**30: "much"}, {0: [1.0]}, [1.0]], ids=str)
def test_a_dict_that_keeps_what_no_row_has_is_refused(plain: SequentialClassifier, told: Any) -> None:
    clf, feature = plain, int(plain.order_[0])
    with pytest.raises(ValueError, match=f"kept: the dict holds answers about {feature} that cannot be used"):
        clf.acquire(provider=Reads(HOLES), n=9, kept={feature: told})


@pytest.mark.slow
def test_the_recipes_and_the_adaptive_classifier_take_sources(few_ways: None) -> None:
    for clf in (seqclass.etana(0.02), seqclass.adaptive(0.02, effort="quick")):
        clf.fit(X, Y)
        assert_same(clf.acquire(provider=Reads(X), n=200), clf.acquire(X))


@pytest.mark.slow
def test_an_error_ends_the_calls_under_way(tmp_path: Path) -> None:
    clf, under_way = fit(**SETTINGS["naive Bayes, one order"]), set()

    async def ask(rows: Any, feature: Any) -> Any:
        under_way.add(rows[0])
        try:
            for _ in range(3):
                await asyncio.sleep(0)
            if rows[0] == 10:
                raise OSError("gone")
            return HOLES[rows, feature]
        finally:
            under_way.remove(rows[0])

    how: dict[str, Any] = {"kept": tmp_path / "told.db", "batch_size": 10, "concurrency": 20}
    with pytest.raises(OSError, match="gone"):
        clf.acquire(provider=ask, n=200, tries=1, on_error="raise", **how)
    assert under_way == set()
    rest = ReadsLater(HOLES)
    assert_same(clf.acquire(provider=rest, n=200, **how), clf.acquire(HOLES))
    assert 10 in rest.told[0][0]  # what came before was kept


def test_in_a_notebook_an_interrupt_ends_the_calls_under_way(monkeypatch: pytest.MonkeyPatch) -> None:
    clf, asked, ended, begun = fit(**FREE), [], [], threading.Event()

    def interrupted(future: Any, timeout: float | None = None) -> None:
        begun.wait()
        raise KeyboardInterrupt

    async def ask(rows: Any, feature: Any) -> Any:
        asked.append(feature)
        begun.set()
        try:
            await asyncio.sleep(60)  # does not take so long but where nobody hears
        except asyncio.CancelledError:
            ended.append(feature)
            raise
        raise OSError("nobody heard")

    async def cell() -> None:
        with monkeypatch.context() as patch:  # what waits for the calls is where an interrupt comes in
            patch.setattr("concurrent.futures.Future.result", interrupted)
            clf.acquire(provider=ask, n=200, batch_size=200, tries=1, on_error="raise")

    with closing(asyncio.new_event_loop()) as loop, pytest.raises(KeyboardInterrupt):
        loop.run_until_complete(cell())
    assert len(asked) == 1
    assert ended == asked
