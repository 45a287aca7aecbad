"""Running tables: on embedded and synthetic stand-ins, twice, with failures, and as text."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from run_files import read_parts
from sklearn.base import BaseEstimator
from sklearn.datasets import make_classification
from sklearn.feature_selection import SelectorMixin

from seqclass.experiment import Results
from seqclass.selection import FIRES, OFS, SAOLA

pytest.importorskip("reproduction.run", reason="the papers' tables are made from a checkout, and this is none")

from reproduction import (
    ComparisonTable,
    Entry,
    Progress,
    Reproduced,
    Row,
    SelectionTable,
    StreamEntry,
    StreamTable,
    Table,
    get_tables,
    iter_reproduced,
    reproduce,
)
from reproduction._context import Context
from reproduction._methods import MissingAtTest, ShuffledColumns, selected


@pytest.fixture
def stand_ins(tmp_path: Path) -> Path:
    """Small sets under the names of the real ones."""
    X, y = make_classification(120, 12, n_informative=4, random_state=0)
    rows = np.arange(120)
    for name in ("madelon", "lung2_desouto1543", "spambase_pystreamfs"):
        np.savez(tmp_path / f"{name}.npz", X=X, y=y, train_idx=rows[:90], valid_idx=rows[90:])
    sparse = sp.csr_array((X > 0).astype(np.int8))
    parts = {"data": sparse.data, "indices": sparse.indices.astype(np.int64), "indptr": sparse.indptr.astype(np.int64)}
    np.savez(tmp_path / "dorothea_train800.npz", **parts, shape=np.array(X.shape), y=y)
    np.savez(tmp_path / "mll.npz", X=X, y=y + (X[:, 0] > 1), train_idx=rows[:90], test_idx=rows[90:])
    return tmp_path


def by_method(found: Reproduced, quantity: str, data: str) -> dict[str, Row]:
    return {row.method: row for row in found.rows if (row.quantity, row.data) == (quantity, data)}


@pytest.mark.slow
def test_tables_of_classifiers_share_cells_and_go_on(stand_ins: Path) -> None:
    path = stand_ins / "run.db"
    first = reproduce(["etana-2", "etana-3"], path=path, data_dir=stand_ins, quick=True)
    stored = Results.load(path).to_frame()
    assert (stored["error"] == "").all()
    again = reproduce(["etana-2", "etana-3"], path=path, data_dir=stand_ins, quick=True)
    assert len(Results.load(path).to_frame()) == len(stored)
    assert [part.to_frame().to_csv() for part in again] == [part.to_frame().to_csv() for part in first]
    assert re.fullmatch(r"<Reproduced: Table 2: .*; \d+ figures \(a quick run .*\)>", repr(first[0]))
    row = by_method(first[0], "accuracy", "Madelon")["ETANA"]
    assert row.paper == 0.6233
    assert row.code == 0.602
    own = stored[(stored["data"] == "madelon") & (stored["method"] == "etana(published=True)")]
    assert row.published == own["accuracy"].mean()
    assert set(first[0].left_out) == {"Lung Cancer", "Dexter", "Car", "News20"}


def test_absent_data_is_left_out_with_the_reason(tmp_path: Path) -> None:
    (found,) = reproduce(["fires-4"], data_dir=tmp_path, quick=True)
    assert found.rows == ()
    assert found.left_out["KDD"] == "there is no kdd_pystreamfs10k in the folder of data"
    assert "scikit-multiflow" in found.left_out["RBF"]


def test_a_failure_is_told(stand_ins: Path) -> None:
    def broken(**settings: Any) -> Any:
        return selected(SAOLA("no such measure"), "KNN")

    table = ComparisonTable("toy-1", "Broken", entries=(Entry("Madelon", "broken", broken, "etana"),))
    with pytest.warns(UserWarning, match="1 of 2 cells failed"):
        rows = list(table.rows(Context(stand_ins / "run.db", stand_ins)))
    assert np.isnan(rows[0].published)
    assert rows[0].ours > 0.5
    assert "1 of 1 cells of broken, published, failed, ValueError" in rows[0].note


class Broken(Table):
    """Gives a row, and fails."""

    def files(self) -> dict[str, str]:
        return {"Madelon": "madelon"}

    def rows(self, context: Context) -> Iterator[Row]:
        yield Row("Madelon", "none", "value", ours=1.0)
        raise RuntimeError("out of\nluck.")


@pytest.mark.slow
def test_a_table_that_fails_does_not_end_the_others(stand_ins: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tables = [Broken("toy-1", "Broken"), *get_tables(["etana-fig3"])]
    monkeypatch.setattr("reproduction.run.get_tables", lambda names: tables)
    broken, other = reproduce(data_dir=stand_ins, quick=True)
    assert broken.error == broken.as_dict()["error"] == "RuntimeError: out of luck"
    assert [row.ours for row in broken.rows] == [1.0]
    assert other.error == ""
    assert len(other.rows) == 4


@pytest.mark.slow
def test_a_set_that_cannot_be_read_is_told_and_leaves_the_others(stand_ins: Path) -> None:
    (stand_ins / "mll.npz").write_bytes(b"no archive")
    (found,) = reproduce(["etana-3"], data_dir=stand_ins, quick=True)
    assert "MLL cannot be read, " in found.error
    assert {row.data for row in found.rows} == {"Madelon", "Lung2"}


@pytest.mark.slow
def test_tables_come_one_by_one_with_progress(stand_ins: Path) -> None:
    seen: list[Progress] = []
    settings: dict[str, Any] = {"data_dir": stand_ins, "quick": True, "on_progress": seen.append}
    running = iter_reproduced(["etana-2", "semi_rfs-fig3", "ifc2f-fig4"], path=stand_ins / "run.db", **settings)
    first = next(running)
    assert {progress.table.name for progress in seen} == {"etana-2"}
    assert first.work > 0
    found = [first, *running]
    assert [part.table.name for part in found] == ["etana-2", "semi_rfs-fig3", "ifc2f-fig4"]
    assert [progress.number for progress in seen if not progress.total] == [0, 1, 2]
    for name in ("etana-2", "semi_rfs-fig3"):
        steps = [(progress.done, progress.total) for progress in seen if progress.table.name == name]
        assert steps[0] == (0, 0)
        assert steps[-1][0] == steps[-1][1] > 1
        assert [done for done, _ in steps] == sorted(done for done, _ in steps)
    seen.clear()
    again = list(iter_reproduced(["semi_rfs-fig3"], path=stand_ins / "run.db", **settings))
    assert [progress.done for progress in seen[1:]] == [seen[-1].total]  # all is there
    assert again[0].work == found[1].work
    assert again[0].to_frame().equals(found[1].to_frame())


def test_what_is_not_a_run_is_refused_at_once(tmp_path: Path) -> None:
    (tmp_path / "text.db").write_text("not a database, but a text that is long enough to be taken for one" * 20)
    with pytest.raises(ValueError, match=r"text\.db"):
        iter_reproduced(["semi_rfs-fig3"], path=tmp_path / "text.db")


@pytest.mark.slow
def test_spread_over_seeds_keeps_the_folds(stand_ins: Path) -> None:
    entry = Entry("Lung2", "tree", selected(SAOLA("fisher_z"), "KNN", 1), seeds=(0, 1, 2))
    table = ComparisonTable("toy-1", "Seeds", entries=(entry,), quantities=("accuracy",), spread=True)
    accuracy, spread = table.rows(Context(stand_ins / "run.db", stand_ins))
    assert 0.5 < accuracy.published <= 1
    assert spread.published == 0  # without random orders seeds change nothing
    assert np.isnan(spread.ours)


@pytest.mark.slow
def test_streams_as_published_and_ours(stand_ins: Path) -> None:
    entry = StreamEntry("Spambase", "FIRES-GLM", FIRES(), {"accuracy": 0.742})
    quantities = ("accuracy", "stability", "ms a batch", "accuracy, variance", "accuracy, third 1")
    table = StreamTable("toy-1", "One", "", (), (entry,), quantities, (5, 10), (0.25, 0.5))
    rows = {row.quantity: row for row in table.rows(Context(stand_ins / "run.db", stand_ins))}
    assert list(rows) == list(quantities)
    assert rows["accuracy"].paper == 0.742
    assert 0 < rows["accuracy"].published <= 1
    assert 0.5 < rows["accuracy"].ours <= 1
    assert rows["stability"].published != rows["stability"].ours  # other windows, and other batches
    assert rows["accuracy, variance"].ours > 0


@pytest.mark.slow_cells("etana-fig3", "ifc2f-fig5", "saola-fig6")
@pytest.mark.parametrize(
    "name",
    [
        *(pytest.param(name, marks=pytest.mark.slow) for name in ("semi_rfs-fig4", "etana-code")),
        *("ifc2f-fig5", "saola-fig6", "saola-13", "etana-fig3", "fires-fig4"),
    ],
)
def test_kinds_of_tables_run(stand_ins: Path, name: str) -> None:
    (found,) = reproduce([name], data_dir=stand_ins, quick=True)
    assert all("failed" not in row.note for row in found.rows)
    if name != "fires-fig4":  # no stand-in for Gisette
        assert any(not np.isnan(row.published) for row in found.rows)


def test_a_selector_that_fails_on_a_stream_is_a_note(stand_ins: Path) -> None:
    entries = (StreamEntry("Spambase", "broken", FIRES(base="none")), StreamEntry("Spambase", "OFS", OFS()))
    table = StreamTable("toy-1", "Two", "", (), entries, ("accuracy",), (10,), (0.25,))
    broken, other = table.rows(Context(stand_ins / "run.db", stand_ins))
    assert np.isnan(broken.published)
    assert np.isnan(broken.ours)
    assert "broken, published, failed, ParameterError" in broken.note
    assert other.note == ""
    assert 0 < other.ours <= 1


@pytest.mark.slow
def test_pieces_of_a_stream_are_known_by_what_they_depend_on(stand_ins: Path) -> None:
    def keys(selector: Any, batches: tuple[int, ...] = (10,), data: Path = stand_ins) -> list[str]:
        path = stand_ins / "keys.db"
        path.unlink(missing_ok=True)
        table = StreamTable("toy-1", "", "", (), (StreamEntry("Spambase", "any", selector),), (), batches, (0.25,))
        assert list(table.rows(Context(path, data))) == []
        return sorted(key for key, name in read_parts(path) if name == "figures")

    plain = keys(OFS())
    assert len(set(plain)) == 2  # as published, and ours
    assert keys(OFS()) == plain
    assert set(plain).isdisjoint(keys(OFS(learning_rate=0.5)))
    assert set(plain).isdisjoint(keys(OFS(), (20,)))
    other = stand_ins / "other"
    other.mkdir()
    X, y = make_classification(60, 12, random_state=3)
    np.savez(other / "spambase_pystreamfs.npz", X=X, y=y)
    assert set(plain).isdisjoint(keys(OFS(), data=other))


def test_shuffled_columns_are_those_the_selector_kept() -> None:
    X, y = make_classification(200, 15, n_informative=3, n_redundant=0, random_state=1)
    orders = [ShuffledColumns(SAOLA("fisher_z"), seed).fit(X, y) for seed in range(3)]
    for made in orders:
        order = np.random.default_rng(made.random_state).permutation(15)
        kept = SAOLA("fisher_z").fit(X[:, order], y).get_support(indices=True)
        assert made.get_support(indices=True).tolist() == sorted(order[kept].tolist())
        np.testing.assert_array_equal(made.transform(X), X[:, made.support_])


def test_missing_cells_are_missing_at_test_time_only() -> None:
    X = np.ones((400, 50))
    gone = MissingAtTest(0.3, random_state=1)
    assert gone.fit_transform(X) is X
    share = np.isnan(gone.transform(X)).mean()
    assert abs(share - 0.3) < 0.01
    np.testing.assert_array_equal(np.isnan(gone.transform(X)), np.isnan(gone.transform(X)))


@pytest.mark.slow
def test_selectors_on_real_data(load_data: Callable[[str], SimpleNamespace], data_dir: Path, tmp_path: Path) -> None:
    load_data("mll")
    (table,) = get_tables(["etana-2"])
    assert isinstance(table, ComparisonTable)
    entries = tuple(e for e in table.entries if e.data == "MLL" and e.method == "SAOLA")
    small = ComparisonTable("toy-1", "SAOLA on MLL", entries=entries, quantities=("accuracy",))
    (row,) = small.rows(Context(tmp_path / "run.db", data_dir))
    assert row.published == pytest.approx(row.paper, abs=1e-3)


def test_what_is_selected_is_selected_from_the_training_rows(stand_ins: Path) -> None:
    def table_of(entry: Entry) -> SelectionTable:
        return SelectionTable("toy-1", "Selections", entries=(entry,), quantities=("features", "select, s"))

    context = Context(stand_ins / "run.db", stand_ins)
    for data, n_rows in (("Madelon", 90), ("Dorothea, all rows", 120)):
        table = table_of(Entry(data, "SAOLA", Counting(), paper={"features": 7.0}))
        features, seconds = table.rows(context)
        assert (features.paper, features.published) == (7.0, n_rows % 12 + 1)
        assert seconds.published > 0
        assert np.isnan(seconds.paper)
    (broken, _) = table_of(Entry("Madelon", "broken", SAOLA("no such measure"))).rows(context)
    assert np.isnan(broken.published)
    assert "broken failed, ValueError" in broken.note


class Counting(SelectorMixin, BaseEstimator):  # type: ignore[misc]
    """Keeps so many of twelve features as tell how many rows it was given."""

    def fit(self, X: Any, y: Any) -> Counting:
        self.mask_ = np.arange(12) <= len(y) % 12
        return self

    def _get_support_mask(self) -> Any:
        return self.mask_
