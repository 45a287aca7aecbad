"""What else the papers compare with: selectors, classifiers with all features, sizes, ranks over data sets, pixels."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from matplotlib.figure import Figure
from sklearn.datasets import make_classification
from sklearn.linear_model import Perceptron, lars_path

from seqclass.selection import FCBF, FIRES, OFS

pytest.importorskip("reproduction.run", reason="the papers' tables are made from a checkout, and this is none")

from reproduction import BestSizeTable, Entry, RanksTable, get_tables
from reproduction._context import Context
from reproduction._fires_more import fast_decision_tree, online_boosting
from reproduction._methods import selected
from reproduction._saola_more import OnBins
from reproduction._spfs import SPFSLAR
from reproduction.digits import DigitsTable
from reproduction.learners import LearnerEntry, LearnerTable, learner_figures
from reproduction.pictures import NothingToDraw, PixelPicture

TABLES = {table.name: table for table in get_tables()}


def classes(seed: int, n_classes: int, n: int = 60, p: int = 25) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    y = rng.integers(0, n_classes, n)
    return rng.normal(size=(n, p)) + rng.normal(size=(n_classes, p))[y] / 2, y


@pytest.mark.parametrize("seed", range(5))
def test_spsf_lar_of_two_classes_is_least_angle_regression(seed: int) -> None:
    X, y = classes(seed, 2)
    scaled = X - X.mean(axis=0)
    _, active, _ = lars_path(scaled / np.linalg.norm(scaled, axis=0), y - y.mean(), method="lar", max_iter=12)
    assert SPFSLAR(12).fit(X, y).ranking_.tolist() == [int(j) for j in active][:12]


def test_spsf_lar_takes_those_nearest_to_what_is_left() -> None:
    """On the path, features that are in are equally near to the residual, and none is nearer."""
    X, y = classes(1, 4)
    scaled = X - X.mean(axis=0)
    scaled /= np.linalg.norm(scaled, axis=0)
    order = SPFSLAR(10).fit(X, y).ranking_
    target = (y[:, None] == np.arange(4)) / np.sqrt(np.bincount(y))
    residual = target - target.mean(axis=0)
    for k in range(1, 10):
        some = scaled[:, order[:k]]
        towards = some @ np.linalg.lstsq(some, residual, rcond=None)[0]
        # the least step at which the next one is as near as the first
        steps = np.linspace(0, 1, 20_001)
        pair = scaled[:, [order[0], order[k]]].T
        near = np.linalg.norm(pair @ residual - steps[:, None, None] * (pair @ towards), axis=2)
        step = steps[np.argmax(near[:, 1] >= near[:, 0] - 1e-12)]
        residual = residual - step * towards
        lengths = np.linalg.norm(scaled.T @ residual, axis=1)
        assert np.ptp(lengths[order[: k + 1]]) < 1e-3
        assert lengths.max() < lengths[order[0]] + 1e-3


def test_spsf_lar_of_sparse_and_constant_columns() -> None:
    X, y = classes(2, 3)
    X[np.random.default_rng(0).random(X.shape) < 0.6] = 0
    X[:, 4] = 3
    ranking = SPFSLAR(40).fit(X, y).ranking_
    assert 4 not in ranking
    assert SPFSLAR(40).fit(sp.csr_array(X), y).ranking_.tolist() == ranking.tolist()
    assert SPFSLAR(3).fit(np.ones((9, 2)), [0, 1, 1] * 3).get_support().sum() == 0


def test_spsf_lar_takes_no_copy_of_what_is_in() -> None:
    X, y = classes(4, 3, p=6)
    copied = np.column_stack([X, 2 * X[:, 1] - 1, X[:, 0] + X[:, 2]])
    assert len(SPFSLAR(8).fit(copied, y).ranking_) == 6


def test_bins_are_for_the_selector_alone() -> None:
    X, y = classes(3, 2, 200, 6)
    kept = OnBins(FCBF(0.02), 3).fit(X, y)
    np.testing.assert_array_equal(kept.transform(X), X[:, kept.get_support()])


def test_ranks_and_p_values_of_the_paper_come_out_of_its_figures() -> None:
    table = TABLES["ifc2f-ranks"]
    assert isinstance(table, RanksTable)
    alone = replace(table, blocks=tuple(replace(block, tables=()) for block in table.blocks))
    rows = list(alone.rows(Context(Path())))
    assert len(rows) == 3 * 10
    for row in rows:
        is_p = row.method.startswith("-log10")
        assert row.published == pytest.approx(row.paper, abs=2e-3 if is_p else 5.1e-3)


def test_ranks_of_the_saola_paper_but_for_two_that_it_swaps() -> None:
    rows = list(TABLES["saola-ranks"].rows(Context(Path())))
    by_table: dict[str, dict[str, Any]] = {}
    for row in rows:
        by_table.setdefault(row.data.partition(",")[0], {})[row.method] = row
    assert set(by_table) == {f"Table {number}" for number in ("II", "III", "VI", "VII", "IX", "X")}
    for title, found in by_table.items():
        p = found.pop("-log10 of Friedman's p").published
        assert (p > -np.log10(0.05)) == (title == "Table VII")
        printed = by_table[{"Table IX": "Table X", "Table X": "Table IX"}.get(title, title)]
        for method, row in found.items():
            assert row.published == pytest.approx(printed[method].paper, abs=1e-4)


@pytest.fixture
def madelon(tmp_path: Path) -> Path:
    X, y = make_classification(120, 12, n_informative=4, random_state=0)
    np.savez(tmp_path / "madelon.npz", X=X, y=y, train_idx=np.arange(90), valid_idx=np.arange(90, 120))
    np.savez(tmp_path / "mll.npz", X=X + 1, y=y, train_idx=np.arange(80), test_idx=np.arange(80, 120))
    return tmp_path


def sizes(data: str = "Madelon") -> tuple[Entry, ...]:
    return tuple(Entry(data, f"OFS, {k}", selected(OFS(k), "KNN"), paper={"accuracy": k}) for k in (1, 4, 8))


def test_the_best_size_stands(madelon: Path) -> None:
    context = Context(madelon / "run.db", madelon)
    names = {f"OFS, {k}": "OFS" for k in (1, 4, 8)}
    best = {("Madelon", "OFS"): {"accuracy": 0.5}}
    quantities = ("features", "accuracy")
    table = BestSizeTable("toy-1", "", entries=sizes(), quantities=quantities, stands_for=names, best=best)
    features, accuracy = table.rows(context)
    each = {row.method: row for row in replace(table, stands_for={}).rows(context) if row.quantity == "accuracy"}
    assert len(each) == 3
    assert accuracy.published == max(row.published for row in each.values())
    assert (features.method, accuracy.paper) == ("OFS", 0.5)
    assert np.isnan(features.paper)
    assert accuracy.published == each[f"OFS, {features.published:g}"].published


@pytest.mark.slow
def test_ranks_of_ours_beside_the_paper_s(madelon: Path) -> None:
    (block,) = TABLES["ifc2f-ranks"].blocks[:1]  # type: ignore[attr-defined]
    entries = tuple(
        Entry(data, method, selected(OFS(k), "KNN"))
        for data in ("Madelon", "MLL")
        for k, method in enumerate(block.methods, 1)
    )
    source = replace(TABLES["etana-2"], entries=entries)
    table = RanksTable("toy-1", "", blocks=(replace(block, tables=(source,)),))
    rows = [row for row in table.rows(Context(madelon / "run.db", madelon)) if row.data == "here: 2 sets"]
    ranks = {row.method: row for row in rows if not row.method.startswith("-")}
    assert sum(row.published for row in ranks.values()) == pytest.approx(45)
    assert sum(row.paper for row in ranks.values()) == pytest.approx(45)
    assert all(np.isnan(row.ours) for row in ranks.values())


def broken() -> Any:
    raise ImportError("not there")


def test_classifiers_on_a_stream(tmp_path: Path) -> None:
    X, y = make_classification(300, 6, n_informative=3, random_state=0)
    np.savez(tmp_path / "madelon.npz", X=X, y=y)
    entries = (
        LearnerEntry("Madelon", "perceptron", Perceptron, {"accuracy": 0.5}),
        LearnerEntry("Madelon", "none", broken),
    )
    table = LearnerTable("toy-1", "", entries=entries, batches=(25, 50))
    accuracy, ms, failed, _ = table.rows(Context(tmp_path / "run.db", tmp_path))
    assert 0.4 < accuracy.published <= 1
    assert (accuracy.paper, ms.published > 0) == (0.5, True)
    assert np.isnan(failed.published)
    assert "none, published, failed, ImportError: not there" in failed.note


@pytest.mark.parametrize("make", [pytest.param(online_boosting, marks=pytest.mark.slow), fast_decision_tree])
def test_classifiers_of_river(make: Any) -> None:
    pytest.importorskip("river")
    X, y = make_classification(400, 5, n_informative=3, n_redundant=0, class_sep=2, random_state=0)
    found = learner_figures(make, X, y, (100,))
    assert found["accuracy"] > 0.6
    assert found == learner_figures(make, X, y, (100,)) | {"ms a batch": found["ms a batch"]}


def test_river_is_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "river", None)
    with pytest.raises(ImportError, match=r"pip install 'seqclass\[river\]'"):
        online_boosting()


def test_pixels_of_digits_and_their_picture(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    y = rng.integers(0, 10, 2000)
    X = (60 * rng.random((2000, 16))).astype(np.uint8)
    X[:, 0] = 0
    X[:, 5] += (100 * (y == 3)).astype(np.uint8)
    np.savez(tmp_path / "mnist.npz", X=X, y=y)
    picture = PixelPicture(("weight", "selected"))
    table = DigitsTable("toy-1", "", selectors={"FIRES": FIRES(2)}, digits=(3, 8), n_rows=250, picture=picture)
    context = Context(tmp_path / "run.db", tmp_path)
    rows = list(table.rows(context))
    assert [row.data for row in rows] == ["3 vs. all"] * 2 + ["8 vs. all"] * 2
    assert rows[0].published >= 0.5
    assert all(row.published == 0 for row in rows[1::2])
    selected_pixels = next(curve for curve in context.curves if curve.quantity == "selected")
    assert selected_pixels.y[5] == 1
    assert sum(selected_pixels.y) == 2
    figure = Figure(layout="constrained")
    picture.draw(figure, rows, context.curves)
    assert len(figure.axes) == 4
    np.testing.assert_array_equal(figure.axes[1].get_images()[0].get_array().ravel(), selected_pixels.y)
    with pytest.raises(NothingToDraw, match="square images"):
        picture.draw(Figure(), rows, [replace(selected_pixels, y=(1.0, 0.0))])
