"""Figures of the papers as pictures: each drawn from a quick run, and from made-up rows where the numbers matter."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.datasets import make_classification

pytest.importorskip("matplotlib")

from matplotlib.figure import Figure

from seqclass.recipes import etana
from seqclass.selection import OFS

pytest.importorskip("reproduction.run", reason="the papers' tables are made from a checkout, and this is none")

from reproduction import (
    Curve,
    RegionMap,
    Reproduced,
    Row,
    get_tables,
    markdown,
    reproduce,
    save_picture,
)
from reproduction.pictures import (
    CoursePicture,
    LinePicture,
    RegionPicture,
    ScatterPicture,
    SearchPicture,
    SeedPicture,
)
from reproduction.pictures.regions import lattice
from reproduction.regions import _CORNER, _STEPS, region_figures
from reproduction.streams import stream_figures

#: What has to have a picture: all figures of the papers that can be made, and what suits one.
PICTURES = [
    *("etana-fig3", "etana-fig4", "etana-costs", "etana-fig5", "fires-fig3", "fires-fig4", "fires-fig5", "fires-fig6"),
    *("semi_rfs-fig3", "semi_rfs-fig4", "semi_rfs-fig5", "semi_rfs-fig6"),
    *("ifc2f-3", "ifc2f-fig3", "ifc2f-fig5", "saola-fig6", "saola-fig8", "gdfs-spambase"),
]
OURS, AS_PAPER, PAPER = "ours, our defaults", "ours, the paper's settings", "the paper"


#: Those that take seconds even so; each of their kinds is drawn of another.
LONG = {"etana-fig4", "etana-fig5", "etana-costs", "ifc2f-fig3", "ifc2f-fig5", "saola-fig8"}
LONG |= {"semi_rfs-fig3", "semi_rfs-fig4", "semi_rfs-fig5", "fires-fig6", "ifc2f-3"}


class Made(dict[str, Reproduced]):
    """Figures by name, each computed when it is first asked for."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def __missing__(self, name: str) -> Reproduced:
        (self[name],) = reproduce([name], data_dir=self.folder, quick=True)
        return self[name]


@pytest.fixture(scope="module")
def quick(tmp_path_factory: pytest.TempPathFactory) -> Made:
    """The figures on small sets under the names of the real ones."""
    folder = tmp_path_factory.mktemp("sets")
    X, y = make_classification(150, 5, n_informative=3, n_redundant=0, random_state=0)
    np.savez(folder / "gisette_valid1000.npz", X=X, y=y)
    X, y, rows = X[:90], y[:90], np.arange(90)
    for name in ("madelon", "spambase"):
        np.savez(folder / f"{name}.npz", X=X, y=y, train_idx=rows[:60], valid_idx=rows[60:])
    np.savez(folder / "mll.npz", X=X, y=y + (X[:, 0] > 1), train_idx=rows[:60], test_idx=rows[60:])
    np.savez(folder / "lung2_desouto1543.npz", X=X, y=y + (X[:, 0] > 1))
    np.savez(folder / "dorothea_train800.npz", X=(X > 0).astype(np.uint8), y=y)
    rng = np.random.default_rng(0)
    np.savez(folder / "mnist.npz", X=rng.integers(0, 256, (300, 16), dtype=np.uint8), y=np.arange(300) % 10)
    return Made(folder)


def drawn(found: Reproduced) -> Any:
    return found.plot(Figure(layout="constrained"))


def labels(figure: Any) -> list[str]:
    (legend,) = figure.legends
    return [text.get_text() for text in legend.get_texts()]


@pytest.mark.slow_cells("etana-fig3", "fires-fig4", "fires-fig5", "gdfs-spambase", "saola-fig6", "semi_rfs-fig6")
@pytest.mark.parametrize("name", [pytest.param(p, marks=pytest.mark.slow if p in LONG else ()) for p in PICTURES])
def test_each_figure_is_drawn(quick: dict[str, Reproduced], name: str, tmp_path: Path) -> None:
    found = quick[name]
    assert found.error == ""
    assert found.has_picture
    figure = drawn(found)
    assert figure.get_suptitle().replace("\n", " ").startswith(found.table.title[:40])
    assert figure.get_suptitle().replace("\n", " ").endswith(" (a quick run on little data: means nothing)")
    for ax in (ax for ax in figure.axes if ax.axison):
        assert ax.lines or ax.collections or ax.containers or ax.get_images()
    path = save_picture(found, tmp_path)
    assert path == tmp_path / f"{name}.png"
    content = path.read_bytes()
    assert content.startswith(b"\x89PNG")
    assert len(content) < 60_000


def test_all_figures_and_no_other_tables_have_pictures() -> None:
    tables = get_tables()
    assert {table.name for table in tables if table.picture is not None} == set(PICTURES)
    figures = {table.name for table in tables if "-fig" in table.name}
    of_few_figures = {"saola-fig1", "saola-fig2", "saola-fig3"}  # which a table shows as well
    impossible = {"ifc2f-fig4", "saola-fig4", "saola-fig5"}
    assert figures - set(PICTURES) == of_few_figures | impossible
    (table,) = get_tables(["etana-2"])
    found = Reproduced(table, (Row("MLL", "ETANA", "accuracy", ours=1.0),), {})
    assert not found.has_picture
    with pytest.raises(ValueError, match="etana-2 has no picture"):
        found.plot()


@pytest.mark.parametrize("name", PICTURES)
def test_nothing_to_draw_is_an_error(name: str) -> None:
    (table,) = get_tables([name])
    found = Reproduced(table, (), {})
    assert not found.has_picture
    with pytest.raises(ValueError, match="there is nothing to draw"):
        drawn(found)


@pytest.mark.slow
def test_a_new_figure_and_a_title_of_ones_own(quick: dict[str, Reproduced]) -> None:
    import matplotlib.pyplot as plt

    figure = quick["semi_rfs-fig6"].plot(title="Mine")
    assert figure.get_suptitle() == "Mine"
    assert plt.fignum_exists(figure.number)
    plt.close(figure)
    whole = Figure(layout="constrained")
    _, right = whole.subfigures(1, 2)
    assert quick["semi_rfs-fig6"].plot(right) is right
    assert len(right.axes) == 2
    assert whole.get_size_inches().tolist() == Figure().get_size_inches().tolist()


def prices(**figures: dict[float, float]) -> list[Row]:
    at = sorted({price for of in figures.values() for price in of})
    return [
        Row("MLL", f"ETANA, price {p:g}", "accuracy", **{source: of[p] for source, of in figures.items() if p in of})
        for p in at
    ]


def line_picture(**settings: Any) -> LinePicture:
    at = {f"ETANA, price {p:g}": ("ETANA", p) for p in (0.0, 0.001, 0.01, 0.1)}
    return LinePicture("price", at, ("accuracy", "features", "train, s"), log=True, **settings)


def test_lines_are_the_rows() -> None:
    rows = prices(paper={0.01: 0.9}, published={0.0: 0.6, 0.001: 0.5, 0.1: 0.3}, ours={0.0: 0.7, 0.1: 0.4})
    figure = Figure(layout="constrained")
    line_picture().draw(figure, rows[::-1], [])
    (ax,) = figure.axes
    lines = {line.get_label(): line for line in ax.lines}
    assert labels(figure) == list(lines) == [PAPER, AS_PAPER, OURS]
    x, y = lines[AS_PAPER].get_data()
    assert x.tolist() == [0.0, 0.001, 0.01, 0.1]
    np.testing.assert_array_equal(y, [0.6, 0.5, np.nan, 0.3])
    assert len({(line.get_marker(), line.get_color()) for line in lines.values()}) == 3
    assert ax.get_xscale() == "symlog"
    assert [text.get_text() for text in ax.get_xticklabels()] == ["0", "0.001", "0.01", "0.1"]
    spots = ax.xaxis.get_transform().transform(np.array([0.0, 0.001, 0.01, 0.1]))
    assert (np.diff(spots) > 0.1 * np.ptp(spots)).all()  # 0 has a place


def test_panels_are_sets_by_quantities() -> None:
    rows = [Row(d, "ETANA, price 0.1", q, ours=v) for d in ("MLL", "Madelon") for q, v in (("accuracy", 0.5),)]
    rows += [Row("MLL", f"ETANA, price {p:g}", "features", ours=v) for p, v in ((0.0, 500.0), (0.01, 3.0), (0.1, 1.0))]
    rows += [
        Row("Madelon", "ETANA, price 0.1", "features", ours=4.0),
        Row("MLL", "ETANA, price 0.1", "train, s", ours=9),
    ]
    figure = Figure(layout="constrained")
    line_picture().draw(figure, rows, [])
    assert len(figure.axes) == 6
    assert [ax.get_title() for ax in figure.axes] == ["MLL", "Madelon", "", "", "", ""]
    assert [ax.get_ylabel() for ax in figure.axes[::2]] == ["accuracy", "features", "train (s)"]
    assert [ax.get_yscale() for ax in figure.axes] == ["linear", "linear", "symlog", "linear", "log", "log"]


def test_figures_of_other_methods_are_drawn_once() -> None:
    at = {f"{name}, at most {k}": (name, k) for name in ("A", "B") for k in (1, 2)}
    rows = [Row("s", method, "accuracy", paper=0.9, ours=0.8) for method in at]
    figure = Figure(layout="constrained")
    LinePicture("most", at, ("accuracy",), quoted="theirs").draw(figure, rows, [])
    assert labels(figure) == ["theirs", f"A, {OURS}", f"B, {OURS}"]


def test_by_data_set_lines_are_methods_and_ticks_name_the_set() -> None:
    rows = [Row(d, m, "accuracy", published=0.5) for d in ("MLL", "Lung2") for m in ("ETANA", "F-ETANA")]
    figure = Figure(layout="constrained")
    LinePicture("classes", {"MLL": ("", 3), "Lung2": ("", 5)}, ("accuracy",)).draw(figure, rows, [])
    (ax,) = figure.axes
    assert [text.get_text() for text in ax.get_xticklabels()] == ["3\nMLL", "5\nLung2"]
    assert labels(figure) == ["ETANA", "F-ETANA"]


def test_levels_are_across() -> None:
    rows = [*prices(published={0.01: 0.5, 0.1: 0.4}), Row("MLL", "RFS", "accuracy", published=0.3)]
    figure = Figure(layout="constrained")
    line_picture(levels=("RFS",)).draw(figure, rows, [])
    assert labels(figure)[-1] == "RFS"
    assert figure.axes[0].lines[-1].get_ydata() == [0.3, 0.3]


def test_courses_have_a_column_a_source_and_a_window() -> None:
    x, y = (10.0, 20.0, 30.0), (0.0, 1.0, float("nan"))
    curves = [Curve("KDD", name, "accuracy", source, x, y) for source in ("published", "ours") for name in ("A", "B")]
    figure = Figure(layout="constrained")
    CoursePicture("rows", ("accuracy",), window=2).draw(figure, [], curves)
    assert [ax.get_title() for ax in figure.axes] == [AS_PAPER, OURS]
    assert labels(figure) == ["A", "B"]
    np.testing.assert_array_equal(figure.axes[0].lines[0].get_ydata(), [0.0, 0.5, np.nan])
    with pytest.raises(ValueError, match="window"):
        CoursePicture("rows", ("accuracy",), window=0)


@pytest.mark.slow
def test_the_course_of_a_stream_is_kept_of_one_run_only() -> None:
    X, y = make_classification(6000, 8, random_state=0)
    one = stream_figures(OFS(), X, y, False, (20,), (0.5,))
    course = one["course"]
    assert len(course["rows"]) == len(course["accuracy"]) == len(course["stability"]) == 200
    assert course["rows"][-1] == 6000
    assert np.nanmean(course["accuracy"]) == pytest.approx(one["accuracy"], abs=0.01)
    assert "course" not in stream_figures(OFS(), X[:200], y[:200], False, (20, 40), (0.5,))


@pytest.mark.slow
def test_searches_have_mean_range_and_baseline_in_each_panel(quick: dict[str, Reproduced]) -> None:
    figure = drawn(quick["semi_rfs-fig5"])
    assert figure.axes[0].get_title() == "RFS"
    for ax in figure.axes:
        assert ax.lines[0].get_label() == "RFS"
        assert len(ax.collections) == len(ax.lines) >= 2
    curve = Curve("made", "RFS", "CV error", "published", (1.0, 2.0), (0.5, 0.4), (0.4, 0.2), (0.6, 0.5))
    other = Figure(layout="constrained")
    SearchPicture({"One": ("RFS",)}).draw(other, [], [curve])
    (area,) = other.axes[0].collections
    low, high = area.get_datalim(other.axes[0].transData).intervaly
    assert (low, high) == pytest.approx((0.2, 0.6))


@pytest.mark.slow
def test_curves_of_a_search_end_where_the_rows_say(quick: dict[str, Reproduced]) -> None:
    found = quick["semi_rfs-fig3"]
    final = {row.method: (row.published, row.ours) for row in found.rows if row.quantity == "CV error after 100%"}
    assert {curve.source == "ours" for curve in found.curves} == {True, False}
    for curve in found.curves:
        assert isinstance(curve, Curve)
        assert curve.y[-1] == pytest.approx(final[curve.method][curve.source == "ours"])
        assert len(curve.x) == len(curve.y) == len(curve.low) == 20
        assert all(low <= y + 1e-12 and y <= high + 1e-12 for low, y, high in zip(curve.low, curve.y, curve.high))


def test_marks_have_bars_of_a_standard_deviation() -> None:
    quantities = {"stability": 0.9, "accuracy": 0.8, "accuracy, variance": 0.04}
    rows = [Row("KDD", "OFS", quantity, ours=value) for quantity, value in quantities.items()]
    figure = Figure(layout="constrained")
    ScatterPicture("stability", "accuracy", "accuracy, variance").draw(figure, rows, [])
    (bar,) = figure.axes[0].containers
    assert bar.lines[0].get_xydata().tolist() == [[0.9, 0.8]]
    np.testing.assert_allclose(bar.lines[2][0].get_segments()[0], [[0.9, 0.6], [0.9, 1.0]])


def test_seeds_are_points_and_the_spread_is_theirs(quick: dict[str, Reproduced]) -> None:
    y = (0.5, 0.7, float("nan"))
    figure = Figure(layout="constrained")
    curve = Curve("Madelon", "SAOLA, tree, random", "accuracy", "published", (0.0, 1.0, 2.0), y)
    SeedPicture("accuracy", "one order", ", random").draw(figure, [], [curve])
    (ax,) = figure.axes
    assert ax.collections[0].get_offsets()[:, 1].tolist() == [0.5, 0.7]
    assert [text.get_text() for text in ax.get_xticklabels()] == ["SAOLA, tree"]
    assert labels(figure) == [f"one order, {AS_PAPER}"]
    found = quick["saola-fig6"]
    mean = {(row.data, row.method): row.published for row in found.rows if row.quantity == "accuracy"}
    for kept in found.curves:
        assert isinstance(kept, Curve)
        assert np.mean(kept.y) == pytest.approx(mean[kept.data, kept.method])


def test_the_lattice_covers_the_simplex() -> None:
    belief, triangles = lattice(7)
    assert len(belief) == 8 * 9 // 2
    assert len(triangles) == 49
    np.testing.assert_allclose(belief.sum(axis=1), 1)
    assert sorted(belief.tolist()) == belief.tolist()
    corners = belief[triangles][:, :, :2]
    edges = corners[:, 1:] - corners[:, :1]
    areas = np.abs(np.linalg.det(edges)) / 2
    np.testing.assert_allclose(areas, 0.5 / 49)


def test_maps_are_what_the_policy_does() -> None:
    X, y = make_classification(200, 6, n_informative=5, n_redundant=0, n_classes=3, random_state=2)
    clf = etana(feature_costs=0.05)
    found = region_figures(clf, X, y, (1,))
    whole, corner = (np.array(found["1: maps"][key]) for key in ("-1", "2"))
    share = found["1: share of the simplex that goes on"]
    assert (whole == -1).mean() == pytest.approx(share, abs=0.02)
    assert len(np.unique(whole[whole >= 0])) == found["1: decisions with a stopping region"]
    belief = lattice(_STEPS)[0]
    assert whole[belief[:, 2] == 1] == 2  # all but certain: no feature is worth its price
    assert (corner[_CORNER * (1 - belief[:, 2]) < 0.05] == 2).all()


def test_regions_show_corners_and_stages() -> None:
    maps = [
        RegionMap("MLL", "ETANA", source, stage, ("a", "b", "3"), 2, (2, -1, 1, -1, -1, 0), corner, share)
        for source, stage in (("published", 4), ("ours", 4), ("ours", 5))
        for corner, share in ((-1, 1.0), (0, 0.04))
    ]
    figure = Figure(layout="constrained")
    RegionPicture().draw(figure, [], maps)
    titles = [f"{source}: stage {stage}" for source in (AS_PAPER, OURS) for stage in (4, 5)]
    assert [ax.get_title() for ax in figure.axes] == titles
    texts = [[text.get_text() for text in ax.texts] for ax in figure.axes]
    assert texts == [
        ["a", "b", "class 3", "P(a) > 0.96"],
        ["never reached"],
        *[["a", "b", "class 3", "P(a) > 0.96"]] * 2,
    ]
    assert labels(figure) == ["goes on", "stops: a", "stops: b", "stops: class 3"]


@pytest.mark.slow
def test_a_picture_keeps_its_main_colours(quick: dict[str, Reproduced], tmp_path: Path) -> None:
    pytest.importorskip("PIL")
    from matplotlib.image import imread

    pixels = imread(save_picture(quick["fires-fig6"], tmp_path))
    assert pixels[0, 0, :3].tolist() == [1, 1, 1]
    blue = np.abs(pixels[..., :3] - np.array([0, 114, 178]) / 255).max(axis=2)
    assert (blue < 0.02).sum() > 50


@pytest.mark.slow
def test_the_same_figures_give_the_same_file(quick: dict[str, Reproduced], tmp_path: Path) -> None:
    for file_format in ("png", "svg"):
        first = save_picture(quick["fires-fig6"], tmp_path, file_format).read_bytes()
        assert save_picture(quick["fires-fig6"], tmp_path, file_format).read_bytes() == first
    assert first.startswith(b"<?xml")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["fires-fig6.png", "fires-fig6.svg"]
    with pytest.raises(ValueError, match="file_format must be one of 'png', 'svg', got 'pdf'"):
        save_picture(quick["fires-fig6"], tmp_path, "pdf")


@pytest.fixture
def interrupted(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Pictures that fail when half of the file is written."""

    from PIL import Image

    def half(self: Any, path: Path, **settings: Any) -> None:
        path.write_bytes(b"half of a picture")
        raise OSError("the disk is full")

    with monkeypatch.context() as patched:
        patched.setattr(Image.Image, "save", half)
        yield


@pytest.mark.slow
def test_an_earlier_picture_stays_if_the_new_one_fails(
    quick: dict[str, Reproduced], tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    path = save_picture(quick["semi_rfs-fig6"], tmp_path)
    before = path.read_bytes()
    request.getfixturevalue("interrupted")
    with pytest.raises(OSError, match="the disk is full"):
        save_picture(quick["semi_rfs-fig6"], tmp_path)
    assert path.read_bytes() == before
    assert list(tmp_path.iterdir()) == [path]


def test_without_matplotlib_what_to_install_is_said(
    quick: dict[str, Reproduced], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in [*(name for name in sys.modules if name.startswith("matplotlib.")), "matplotlib.figure"]:
        monkeypatch.setitem(sys.modules, name, None)
    for draw in (lambda: save_picture(quick["fires-fig6"], tmp_path), quick["fires-fig6"].plot):
        with pytest.raises(ImportError, match=r"seqclass\[plot\]"):
            draw()
    assert list(tmp_path.iterdir()) == []


def test_the_page_shows_pictures_below_the_titles(quick: dict[str, Reproduced]) -> None:
    found = [quick["fires-fig5"], quick["fires-fig6"]]
    lines = markdown(found, pictures={"fires-fig6": "my images/fires-fig6.png"}).splitlines()
    shown = [line for line in lines if line.startswith("![")]
    title = found[1].table.title
    assert shown == [f"![{title}: a picture of the figures below](my%20images/fires-fig6.png)"]
    at = lines.index(f"### {title}")
    assert lines[at + 1] == lines[at + 3] == ""
    assert lines[at + 2].startswith("`python -m reproduction fires-fig6 --data DIR`, ")
    assert lines[at + 4] == shown[0]
    assert lines[at + 6].startswith("| data | method |")
