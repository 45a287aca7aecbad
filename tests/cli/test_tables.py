"""What is wrong with a table is told at once, and what only looks like texts is told as what it is."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import seqclass
from seqclass import datasets

N = 120
RNG = np.random.default_rng(0)
Y = np.repeat(["ill", "well"], N // 2)
AGE = RNG.normal(50, 6, N).round(1) + 9 * (Y == "ill")
FRAME = pd.DataFrame({"age": AGE, "sex": RNG.choice(["F", "M"], N), "y": Y})
FIT = ("fit", "t.csv", "--target", "y", "-o", "m.seq")


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def write(sep: str = ",", **columns: Any) -> None:
    FRAME.assign(**columns).to_csv("t.csv", index=False, sep=sep)


WRITTEN = {
    "minus": ("\u2212{:.2f}", "Are they numbers? Write their minus as '-'."),
    "dollars": ("${:.2f}", "Are they numbers? Take off what stands before them."),
    "euros": ("\u20ac {:.2f}", "Are they numbers? Take off what stands before them."),
    "about": ("~{:.2f}", "Are they numbers? Take off what stands before them."),
    "limits": ("<{:.2f}", "Are they numbers? Take off what stands before them."),
    "brackets": ("({:.2f})", "Are they numbers? Write those in brackets with a minus."),
    "apostrophes": ("1'{:03.0f}.{:02.0f}", "Are they numbers? Take out what parts the thousands."),
    "blood pressure": ("{0:.2f}/{1}", "Are they numbers? Make a column of each of the two."),
    "times": ("{6:02d}:{2:02d}", "Are they times? Turn them into numbers, such as minutes."),
    "dates": ("2020-{4:02d}-{5:02d}", "Are they dates? Turn them into numbers, such as days since one of them"),
    "units": ("{:.2f} cm", "Are they numbers? Take the unit 'cm' off."),
}


@pytest.mark.parametrize("kind", list(WRITTEN))
def test_numbers_written_as_texts(kind: str, refuses: Any) -> None:
    form, words = WRITTEN[kind]
    cells = [form.format(1.5 + i, i, i % 60, i // 2, 1 + i // 28, 1 + i % 28, i % 24) for i in range(N)]
    write(age=cells)
    message = refuses(*FIT)
    assert f"column 'age' has {N} different texts in {N} rows. {words}" in message
    assert "--drop" not in message
    with pytest.raises(ValueError, match=r"column 'age' has .* too many for a category\. Are they"):
        seqclass.etana().fit(pd.DataFrame({"age": cells}), Y)


@pytest.mark.parametrize("cell", ["$3", "<0.5", "(1.10)", "1'234", "120/80", "08:30", "~3"])
def test_one_of_them_among_numbers(cell: str, refuses: Any) -> None:
    write(age=[cell, *AGE[1:].astype(str)])
    message = refuses(*FIT)
    assert f"column 'age' holds numbers, but {cell!r} in row 1 is not one; correct it" in message
    assert " Are they " in message


def test_dates_are_no_categories_however_many_rows_each_has(refuses: Any) -> None:
    days = pd.date_range("2020-01-28", periods=N // 2).strftime("%d.%m.%Y").repeat(2)
    write(seen=days)
    assert (
        f"column 'seen' has {N // 2} different texts in {N} rows, too many for a category. Are they dates?"
        in refuses(*FIT)
    )


def test_all_that_is_wrong_is_told_at_once(run: Any) -> None:
    texts = AGE.astype(str)
    write(
        id=[f"p{i}" for i in range(N)],
        price=[f"${i}.5" for i in range(N)],
        age=np.where(np.arange(N) % 40 == 3, "unwell", texts),
        far=np.where(np.arange(N) == 7, np.inf, AGE),
        seen=pd.date_range("2020-01-28", periods=N).strftime("%Y-%m-%d"),
        y=np.where(np.arange(N) == 9, "", Y),
    )
    result = run(*FIT)
    assert result.exit_code == 2
    lines = result.stderr.splitlines()
    for words in (
        "column 'y' has a missing label in 1 row, first in row 10",
        "column 'id' has 120 different texts in 120 rows, so it names rows rather than describing them; leave it out",
        "column 'price' has 120 different texts in 120 rows. Are they numbers?",
        "column 'age' holds numbers, but 'unwell' in row 4, 'unwell' in row 44, 'unwell' in row 84 are not; correct",
        "column 'far' holds infinity in row 8",
        "column 'seen' has 120 different texts in 120 rows. Are they dates?",
    ):
        [line] = [line for line in lines if words in line]
        assert line.removeprefix("Error: ").startswith("t.csv: ")
        assert line.endswith(".")
    assert len(lines) == 6
    frame = pd.read_csv("t.csv")
    with pytest.raises(ValueError, match=r"(?s)'age' holds numbers.*\n.*'id' has 120 .*\n.*'seen' has 120"):
        seqclass.etana().fit(frame.drop(columns="y"), Y)
    with pytest.raises(
        ValueError, match=r"column 'age' holds infinity in row 3.*\ncolumn 'far' holds infinity in row 7"
    ):
        seqclass.etana().fit(pd.DataFrame({"age": np.where(np.arange(N) == 3, -np.inf, AGE), "far": frame["far"]}), Y)
    with pytest.raises(ValueError, match=r"missing label in row 10.*\n.*'far' holds infinity in row 8"):
        datasets.load("t.csv", target="y")
    write()
    assert run(*FIT).exit_code == 0
    write(age=np.where(np.arange(N) % 40 == 3, "unwell", texts), sex="X")
    lines = run("predict", "m.seq", "t.csv").stderr.splitlines()
    assert "column 'age' must hold numbers, but row 4 has 'unwell', row 44 has 'unwell', row 84 has" in lines[0]
    assert "column 'sex' holds the unknown category 'X'; known are 'F', 'M'." in lines[1]


class TestDecimalCommas:
    FORM = ("--sep", ";", "--decimal", ",")
    SALARIES = (1000 * AGE + 0.5).round(1)

    def test_points_between_thousands(self, run: Any) -> None:
        german = [f"{value:,.1f}".translate(str.maketrans(",.", ".,")) for value in self.SALARIES]
        write(";", age=german, whole=[text.partition(",")[0] for text in german])
        read = datasets.load("t.csv", target="y", sep=";", decimal=",").X
        assert read["age"].tolist() == self.SALARIES.tolist()
        assert read["whole"].tolist() == np.floor(self.SALARIES).tolist()
        assert run(*FIT, *self.FORM).exit_code == 0

    def test_points_that_are_decimals_after_all(self) -> None:
        write(";", age=[f"{value:.3f}" for value in AGE])
        FRAME.to_csv("u.csv", index=False, sep=";")
        for name in ("t.csv", "u.csv"):  # of three decimals, but not in every row
            frame = pd.read_csv(name, sep=";", dtype=str)
            frame.loc[0, "age"] = "12.5"
            frame.to_csv(name, index=False, sep=";")
            X = datasets.load(name, target="y", sep=";", decimal=",").X
            np.testing.assert_array_equal(pd.to_numeric(X["age"])[1:], AGE[1:])

    def test_what_is_no_number_among_them(self, refuses: Any) -> None:
        write(";", age=[*(f"{value:.1f}".replace(".", ",") for value in AGE[1:]), "x"])
        message = refuses(*FIT, *self.FORM)
        assert f"column 'age' holds numbers, but 'x' in row {N} is not one" in message
        assert "--decimal" not in message


class TestNone:
    def test_it_is_told_of_once_and_can_be_an_answer_and_a_class(self, run: Any) -> None:
        garage = np.where(np.arange(N) % 3 == 0, "None", FRAME["sex"])
        write(garage=garage, y=np.where(Y == "ill", "None", "well"))
        told = "t.csv: the word None counts as missing, in 'y', 'garage'; if it is an answer or a class, say what is"
        with pytest.warns(UserWarning, match=told), pytest.raises(ValueError, match="missing label"):
            datasets.load("t.csv", target="y")
        data = datasets.load("t.csv", target="y", na_values=["NA"])
        assert data.class_names == ("None", "well")
        assert data.X["garage"].tolist() == garage.tolist()
        result = run(*FIT, "--na-values", "NA,?")
        assert (result.exit_code, result.stderr) == (0, "")
        clf = seqclass.load("m.seq")
        assert (clf.classes_.tolist(), clf.encoder_.categories_["garage"].tolist()) == (
            ["None", "well"],
            ["F", "M", "None"],
        )
        result = run("predict", "m.seq", "t.csv", "-o", "out.csv", "--na-values", "NA")
        assert (result.exit_code, result.stderr) == (0, "")

    @pytest.mark.filterwarnings("default:t.csv. the word None:UserWarning")
    def test_the_command_line_tells_of_its_option(self, run: Any) -> None:
        write(garage=np.where(np.arange(N) % 3 == 0, "None", FRAME["sex"]), age=np.where(AGE > 60, np.nan, AGE))
        result = run(*FIT)
        assert result.exit_code == 0
        assert result.stderr.count("Warning") == 1
        assert "in 'garage'; if it is an answer or a class, say what is missing, --na-values NA." in result.stderr

    def test_numbers_that_are_missing_are_no_answers(self) -> None:
        write(age=np.where(AGE > 60, "None", AGE.astype(str)))
        assert datasets.load("t.csv", target="y").X["age"].isna().sum() == (AGE > 60).sum()


@pytest.mark.filterwarnings("default:t.csv. columns are named:UserWarning")
def test_a_header_that_is_missing_is_suspected(run: Any, refuses: Any) -> None:
    FRAME.assign(b=AGE[::-1], c=AGE + 1)[["age", "b", "c", "y"]].to_csv("t.csv", index=False, header=False)
    asked = "If the first line holds values already, put one with the names of the columns above it."
    assert asked in refuses(*FIT)
    result = run("fit", "t.csv", "--target", "ill", "-o", "m.seq")
    assert result.exit_code == 0
    assert f"Warning: t.csv: columns are named '{AGE[0]}', " in result.stderr
    assert asked in result.stderr
    with pytest.warns(UserWarning, match="t.csv: columns are named"):
        datasets.load("t.csv", target="ill")
    for names in (range(3), range(2020, 2023)):  # columns that are numbered, and years
        FRAME.assign(b=AGE[::-1], c=AGE + 1)[["age", "b", "c"]].set_axis(names, axis=1).assign(y=Y).to_csv(
            "t.csv", index=False
        )
        assert datasets.load("t.csv", target="y").X.shape == (N, 3)
        assert run(*FIT).stderr == ""


class TestSpelling:
    @pytest.mark.parametrize(
        ("one", "other", "words"),
        [
            ("caf\u00e9", "cafe\u0301", r"'caf\\xe9', 'cafe\\u0301'|'cafe\\u0301', 'caf\\xe9'"),
            ("inn", "i\u200bnn", r"'i\\u200bnn', 'inn'|'inn', 'i\\u200bnn'"),
            ("inn", "inn\ufeff", r"'inn', 'inn\\ufeff'"),
        ],
        ids=["composed", "no width", "mark"],
    )
    def test_what_nobody_sees_is_told_of(self, one: str, other: str, words: str) -> None:
        place = np.where(np.arange(N) % 3 == 0, one, "home")
        with pytest.warns(UserWarning, match=f"column 'place' holds ({words}) as categories of their own"):
            seqclass.etana().fit(pd.DataFrame({"place": np.where(np.arange(N) == 3, other, place)}), Y)
        clf = seqclass.etana().fit(pd.DataFrame({"place": place}), Y)
        with pytest.raises(ValueError, match=r"unknown category .*\. Perhaps '.*' for '.*'\. handle_unknown"):
            clf.predict(pd.DataFrame({"place": [other]}))

    def test_blanks_at_the_edge_of_a_label(self, run: Any) -> None:
        write(y=np.where(np.arange(N) % 2, [f"{label} " for label in Y], Y))
        assert datasets.load("t.csv", target="y").class_names == ("ill", "well")
        result = run(*FIT)
        assert (result.exit_code, result.stderr) == (0, "")
        assert seqclass.load("m.seq").classes_.tolist() == ["ill", "well"]
        assert run("evaluate", "m.seq", "t.csv", "--target", "y").exit_code == 0
        pd.read_csv("t.csv").to_parquet("t.parquet")
        assert datasets.load("t.parquet", target="y").class_names == ("ill", "well")
        assert seqclass.large.read_parquet("t.parquet", "y").labels().tolist() == ["ill", "well"]

    @pytest.mark.filterwarnings("default:column 'y':UserWarning")
    def test_a_class_of_one_row_is_called_by_its_column(self, run: Any) -> None:
        write(y=np.where(np.arange(N) == 5, "odd", Y))
        assert "Warning: column 'y': class 'odd' has a single row" in run(*FIT).stderr
