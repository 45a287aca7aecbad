"""Sections of scores: the same figures as the library's, and no picture that needs what the run has not."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from seqclass.experiment import Experiment, Results
from seqclass.report import write_report

pytestmark = pytest.mark.usefixtures("undrawn")

METHODS = {"etana": "etana", "tree": "sklearn:DecisionTreeClassifier(max_depth=2, random_state=0)"}


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> Results:
    """Two methods, one price, one data set of two classes."""
    return Experiment(["breast_cancer"], METHODS, cv=2).run(tmp_path_factory.mktemp("one") / "one.run")


@pytest.fixture(scope="module")
def page(small: Results) -> str:
    return write_report(small, small.path.with_suffix(".html")).read_text(encoding="utf-8")


def cells(text: str, caption: str) -> list[list[str]]:
    """Texts of a table's rows."""
    inside = text.partition(f"<caption><span>{caption}")[2].partition("</table>")[0].partition("<tbody>")[2]
    rows = re.findall(r"<tr>(.*?)</tr>", inside, re.DOTALL)
    return [[re.sub(r"<[^>]*>", "", cell) for cell in re.findall(r"<t[dh].*?</t[dh]>", row)] for row in rows]


@pytest.mark.parametrize("metric, words", [("realised_cost", "realised cost"), ("accuracy", "accuracy")])
def test_differences_are_those_of_compare(small: Results, page: str, metric: str, words: str) -> None:
    (row,) = small.compare(metric).differences.to_dict("records")
    ((data, method, against, apart, p_value, pairs, reading),) = cells(page, f"Differences by {words}")
    assert (data, method, against) == ("breast_cancer", "etana", "tree")
    assert apart == f"{row['difference']:+.4f} [{row['lower']:+.4f}, {row['upper']:+.4f}]"
    assert p_value == ("&lt;0.0001" if row["p_value"] < 5e-5 else f"{row['p_value']:.4f}")
    assert row["verdict"] == "not beyond chance"  # which the note says once
    assert (pairs, reading) == ("2 folds", "\N{EN DASH}")
    assert page.count("not beyond chance") == 1


def test_one_price_and_one_data_set_give_no_picture_that_needs_two(page: str) -> None:
    assert page.count("decision cost against price paid</figcaption>") == 1
    assert "Wins/ties/losses" not in page
    assert "Lines join" not in page
    assert "verage ranks" not in page


@pytest.mark.slow
def test_two_prices_and_two_sets_give_them(results: Results, tmp_path: Path) -> None:
    text = write_report(results, tmp_path / "two.html").read_text(encoding="utf-8")
    assert text.count("decision cost against price paid</figcaption>") == 3
    assert "Wins/ties/losses of the row against the column by realised cost, over 2 data sets" in text
    assert "Lines join a method&#39;s prices." in text
    assert [row[0] for row in cells(text, "Differences by accuracy")] == ["all data sets", "iris", "wine"]
    assert "for a class that --positive names" in text  # of three classes there is none by itself


def test_decisions_by_class_are_those_of_the_run(small: Results, page: str) -> None:
    rows = cells(page, "Decisions by class")
    expected = [one for method in METHODS for one in small.class_scores("breast_cancer", method)]
    assert [row[3] for row in rows] == [one.label for one in expected]
    for row, one in zip(rows, expected):
        assert row[2] == "0.01"
        assert row[5].startswith(f"{one.sensitivity:.3f} [{one.sensitivity_interval[0]:.3f}, ")
        assert row[6].startswith(f"{one.specificity:.3f} [")
        assert row[7:] == [f"{one.realised_cost:.4f}", f"{one.mean_price:.4f}", f"{one.mean_features:.2f}"]


def test_curves_and_calibration_are_those_of_the_run(small: Results, page: str) -> None:
    rows = cells(page, "breast_cancer: decision curves for malignant")
    curves = [small.decision_curve("breast_cancer", method, positive="malignant") for method in METHODS]
    assert [row[0] for row in rows] == [f"{k / 10:g}" for k in range(1, 10)]
    for row, place in zip(rows, range(9, 99, 10)):
        told = [f"{c.after_price[place]:.3f} [{c.lower[place]:.3f}, {c.upper[place]:.3f}]" for c in curves]
        assert row[1:] == [*told, f"{curves[0].treat_all().net_benefit[place]:.3f}"]
    rows = cells(page, "Calibration at the stop, by questions asked")
    assert sum(int(row[1].replace(",", "")) for row in rows) == 569


@pytest.mark.slow
def test_the_class_of_a_curve_is_named_or_the_last(small: Results, results: Results, tmp_path: Path) -> None:
    """Labels of the data set come as malignant, benign: the last in sorted order is looked for, not the rarer one."""
    assert small.decision_curve("breast_cancer", "etana").positive == "malignant"
    text = write_report(small, tmp_path / "a.html", positive="benign").read_text(encoding="utf-8")
    rows = cells(text, "breast_cancer: decision curves for benign")
    curve = small.decision_curve("breast_cancer", "etana", positive="benign")
    assert rows[0][1].startswith(f"{curve.after_price[9]:.3f} [")
    text = write_report(results, tmp_path / "b.html", positive=["class_2", "setosa"]).read_text(encoding="utf-8")
    assert "iris: decision curves for setosa" in text
    assert "wine: decision curves for class_2" in text
    with pytest.raises(ValueError, match=r"positive must name classes of data sets .* got 'ill'"):
        write_report(small, tmp_path / "a.html", positive="ill")
    with pytest.raises(ValueError, match="'benign', 'malignant' are classes of 'breast_cancer'; name one"):
        write_report(small, tmp_path / "a.html", positive=["benign", "malignant"])


def test_nothing_kept_is_told(tmp_path: Path) -> None:
    bare = Experiment(["iris"], {"tree": METHODS["tree"]}, cv=2).run(tmp_path / "bare.run", keep_instances=0)
    text = write_report(bare, tmp_path / "bare.html").read_text(encoding="utf-8")
    assert "No instances are kept, so that there are no scores by class and no decision curves." in text
