"""Running tables: on embedded and synthetic stand-ins, twice, with failures, and as text."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.datasets import make_classification

from seqclass.experiment import Results
from seqclass.reproduction import (
    ComparisonTable,
    Entry,
    Reproduced,
    Row,
    StreamEntry,
    StreamTable,
    get_tables,
    markdown,
    reproduce,
)
from seqclass.reproduction._context import Context
from seqclass.reproduction._methods import MissingAtTest, ShuffledColumns, selected
from seqclass.reproduction.render import notes, number
from seqclass.selection import FIRES, SAOLA


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


def test_tables_of_classifiers_share_cells_and_go_on(stand_ins: Path) -> None:
    path = stand_ins / "run.db"
    first = reproduce(["etana-2", "etana-3"], path=path, data_dir=stand_ins, quick=True)
    stored = Results.load(path).table()
    assert (stored["error"] == "").all()
    again = reproduce(["etana-2", "etana-3"], path=path, data_dir=stand_ins, quick=True)
    assert len(Results.load(path).table()) == len(stored)
    assert [part.frame().to_csv() for part in again] == [part.frame().to_csv() for part in first]
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
    rows = list(table.rows(Context(stand_ins / "run.db", stand_ins)))
    assert np.isnan(rows[0].published)
    assert rows[0].ours > 0.5
    assert "published: 1 of 1 cells failed, ValueError" in rows[0].note


def test_spread_over_seeds_keeps_the_folds(stand_ins: Path) -> None:
    entry = Entry("Lung2", "tree", selected(SAOLA("fisher_z"), "KNN", 1), seeds=(0, 1, 2))
    table = ComparisonTable("toy-1", "Seeds", entries=(entry,), quantities=("accuracy",), spread=True)
    accuracy, spread = table.rows(Context(stand_ins / "run.db", stand_ins))
    assert 0.5 < accuracy.published <= 1
    assert spread.published == 0  # without random orders seeds change nothing
    assert np.isnan(spread.ours)


def test_streams_as_published_and_ours(stand_ins: Path) -> None:
    entry = StreamEntry("Spambase", "FIRES-GLM", FIRES(), {"accuracy": 0.742})
    quantities = ("accuracy", "stability", "ms a batch", "accuracy, variance", "accuracy, third 1")
    table = StreamTable("toy-1", "One", "", (), (entry,), quantities, (5, 10), (0.25, 0.5))
    rows = {row.quantity: row for row in table.rows(Context(stand_ins / "run.db", stand_ins))}
    assert list(rows) == list(quantities)
    assert rows["accuracy"].paper == 0.742
    assert 0.5 < rows["accuracy"].published <= 1
    assert rows["stability"].published == rows["stability"].ours  # what is selected when is the same
    assert rows["accuracy, variance"].ours > 0


@pytest.mark.parametrize(
    "name", ["semi_rfs-fig4", "etana-code", "ifc2f-fig5", "saola-fig6", "etana-fig3", "fires-fig4"]
)
def test_kinds_of_tables_run(stand_ins: Path, name: str) -> None:
    (found,) = reproduce([name], data_dir=stand_ins, quick=True)
    assert all("failed" not in row.note for row in found.rows)
    if name != "fires-fig4":  # no stand-in for Gisette
        assert any(not np.isnan(row.published) for row in found.rows)


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


def test_markdown_and_notes() -> None:
    (table,) = get_tables(["etana-2"])
    rows = (Row("Lung2", "ETANA", "accuracy", 0.872, ours=0.91234, note="other genes"), Row("MLL", "ETANA", "accuracy"))
    text = markdown([Reproduced(table, rows, {"Car": "gone", "Dexter": "gone"})], "# Title")
    assert text.startswith("# Title\n\n## ETANA: ")
    assert "| Lung2 | ETANA | accuracy | 0.872 | - | - | 0.9123 |" in text
    assert "| MLL | ETANA | accuracy | - | - | - | - |" in text
    found = notes(Reproduced(table, rows, {"Car": "gone", "Dexter": "gone"}))
    assert found[1:] == ["Lung2: other genes.", "Left out: Car, Dexter (gone)."]


def test_numbers() -> None:
    assert [number(v) for v in (0.0, 1.0, 0.00012, 28.2, 1234.5, float("nan"))] == [
        "0",
        "1",
        "0.0001",
        "28.2",
        "1234",
        "-",
    ]


def test_selectors_on_real_data(load_data: Callable[[str], SimpleNamespace], data_dir: Path, tmp_path: Path) -> None:
    load_data("mll")
    (table,) = get_tables(["etana-2"])
    assert isinstance(table, ComparisonTable)
    entries = tuple(e for e in table.entries if e.data == "MLL" and e.method == "SAOLA")
    small = ComparisonTable("toy-1", "SAOLA on MLL", entries=entries, quantities=("accuracy",))
    (row,) = small.rows(Context(tmp_path / "run.db", data_dir))
    assert row.published == pytest.approx(row.paper, abs=1e-3)
