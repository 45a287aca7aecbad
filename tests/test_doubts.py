"""A line of warning for what data seem to say and hardly mean, and none for ordinary data."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pandas as pd
import pytest

import seqclass
from seqclass import SequentialClassifier, datasets, etana
from seqclass.discretize import Discretizer
from seqclass.pomdp import FirstK

RNG = np.random.default_rng(0)
N = 200
Y = np.repeat(["ill", "well"], N // 2)
AGE = RNG.normal(50, 10, N).round(1)
FRAME = pd.DataFrame({"age": AGE + 10 * (Y == "ill"), "sex": RNG.choice(["F", "M"], N)})


def told(X: Any, y: Any, clf: Any = None) -> list[str]:
    """What fitting to these warns of."""
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        (etana() if clf is None else clf).fit(X, y)
    return [str(warning.message) for warning in found]


def texts(values: Any, form: str) -> Any:
    return pd.Series([form.format(value) for value in values], dtype=object)


COMMAS = texts(AGE.round(), "{:.1f}").str.replace(".", ",")


class TestTextsLikeNumbers:
    @pytest.mark.parametrize(
        ("column", "words"),
        [
            (COMMAS, "Read the table with decimal=',' (--decimal , on the command line)."),
            (texts(AGE.round(), "{:.0f} years"), "Take the unit 'years' off."),
            (texts(AGE.round(), "{:.0f}%"), "Take the unit '%' off."),
            (texts(1000 * AGE.round(), "{:,.0f}"), "Take out the commas between the thousands."),
        ],
        ids=["commas", "years", "percent", "thousands"],
    )
    def test_one_line_with_what_to_do(self, column: Any, words: str) -> None:
        [line] = told(FRAME.assign(age=column, again=column), Y)
        n = column.nunique()
        assert line.startswith("columns 'age', 'again': texts such as ")
        assert line.endswith(f"make {n} categories. Are they numbers? {words}")

    @pytest.mark.parametrize(
        "categories",
        [
            [f"town {i}" for i in range(20)],
            [f"{i}-{i + 9}" for i in range(0, 100, 10)],
            [f"{i} months" for i in (12, 24, 36, 60)],
            [f"{i},{j}" for i in range(1, 3) for j in range(1, 4)],
            [f"{letter}{i}" for i in range(4) for letter in "abc"],
            [f"{i}:30" for i in range(12)],
            [f"{i}{unit}" for i in range(6) for unit in "abc"],
        ],
        ids=lambda categories: categories[0],
    )
    def test_categories_are_left_alone(self, categories: list[str]) -> None:
        assert told(FRAME.assign(kind=np.array(categories, dtype=object)[np.arange(N) % len(categories)]), Y) == []

    def test_errors_say_so_too(self) -> None:
        with pytest.raises(
            ValueError, match=r"too many for a category.* Are they numbers\? Read the table with decimal"
        ):
            etana().fit(FRAME.assign(age=texts(AGE, "{:.1f}").str.replace(".", ",")), Y)
        with pytest.raises(
            ValueError, match=r"holds numbers, but '4,5' in row 3 is not one.* Read the table with decimal"
        ):
            etana().fit(FRAME.assign(age=texts(AGE.round(), "{:.0f}").mask(np.arange(N) == 3, "4,5")), Y)
        with pytest.raises(
            ValueError, match=r"must hold numbers, but row 0 has '.*'. Are they numbers\? Take the unit"
        ):
            etana().fit(FRAME, Y).predict(FRAME.assign(age=texts(AGE, "{} cm")))


class TestManyCategories:
    DAYS = pd.Series(pd.date_range("2020-01-28", periods=N // 2).repeat(2))

    @pytest.mark.parametrize("form", ["%d.%m.%Y", "%Y-%m-%d", "%m/%d/%y", "%d-%b-%Y", "%Y-%m-%d 10:30:00"])
    def test_dates_written_as_texts(self, form: str) -> None:
        few = self.DAYS.where(np.arange(N) < 60, self.DAYS[0])
        [line] = told(FRAME.assign(seen=few.dt.strftime(form)), Y)
        assert line.startswith("column 'seen': texts such as ")
        assert "make 30 categories. Are they dates? Turn them into numbers" in line
        with pytest.raises(ValueError, match=r"'seen' has 100 different texts in 200 rows, .*category. Are they dates"):
            etana().fit(FRAME.assign(seen=self.DAYS.dt.strftime(form)), Y)
        dates = pd.Series(pd.date_range("2020-01-28", periods=N)).dt.strftime(form)
        with pytest.raises(ValueError, match=r"200 different texts in 200 rows, .* Are they dates\?"):
            etana().fit(FRAME.assign(seen=dates), Y)

    def test_names_of_few_rows_each(self) -> None:
        names = np.array([f"village {chr(97 + i % 26)}{chr(97 + i // 26)}" for i in range(N // 2)], dtype=object)
        [line] = told(FRAME.assign(home=names.repeat(2)), Y)
        assert line.startswith("column 'home' has 100 categories in 200 rows: each tells next to nothing")
        assert told(FRAME.assign(home=names[np.arange(N) % 30]), Y) == []


class TestAlike:
    def test_categories(self) -> None:
        [line] = told(FRAME.assign(sex=FRAME["sex"].mask(np.arange(N) < 9, "f")), Y)
        assert line == "column 'sex' holds 'F', 'f' as categories of their own: write alike what is the same."

    @pytest.mark.parametrize("label", ["Ill", "ill "])
    def test_classes(self, label: str) -> None:
        y = np.where(np.arange(N) < 5, label, Y)
        [line] = told(FRAME, y)
        assert line == f"y holds {label!r}, 'ill' as classes of their own: write alike what is the same." or (
            line == f"y holds 'ill', {label!r} as classes of their own: write alike what is the same."
        )


class TestSingle:
    def test_a_class_of_one_row(self) -> None:
        [line] = told(FRAME, np.where(np.arange(N) < 1, "odd", Y))
        assert line.startswith("y: class 'odd' has a single row, too few to learn from or check: add rows")

    def test_nineteen_rows_are_few(self) -> None:
        for n, lines in ((19, 0), (20, 1)):
            found = told(np.arange(n)[:, None] % 3, np.minimum(np.arange(n), 2) % 2 + (np.arange(n) == 5) * 2)
            assert ["a single row" in line for line in found] == [True] * lines

    def test_few_rows_may_be_single(self) -> None:
        assert told([[0.0], [1.0], [2.0]], ["a", "b", "c"]) == []


class TestFarValues:
    @pytest.mark.parametrize("value", [-999.0, 999.0, 9999.0, -1e6, 1e30])
    def test_one_that_leaves_all_others_to_one_bin(self, value: float) -> None:
        frame = FRAME.assign(age=FRAME["age"].mask(np.arange(N) == 5, value))
        for X in (frame, frame[["age"]].to_numpy()):
            [line] = told(X, Y)
            name = "'age'" if X is frame else "0"
            assert line.startswith(
                f"column {name}: {value:g} lies so far from all other values that these fall into one"
            )
            assert "leave such cells empty if they stand for what is missing" in line
            # the command line, which says the same, has no option for that
            assert line.endswith("else take bins of equal counts, in Python by Discretizer(strategy='quantile').")

    def test_many_cells_that_hold_it(self) -> None:
        [line] = told(FRAME.assign(age=FRAME["age"].mask(np.arange(N) % 4 == 0, -999)), Y)
        assert "-999 lies so far" in line

    @pytest.mark.slow
    @pytest.mark.parametrize(("n_columns", "n_warnings"), [(999, 1), (1000, 0)])
    def test_one_of_thousands_is_no_surprise(self, n_columns: int, n_warnings: int) -> None:
        X = np.random.default_rng(0).normal(size=(N, n_columns))
        X[5, 7] = 1e6
        assert len(told(X, Y)) == n_warnings

    @pytest.mark.parametrize("bins", [Discretizer(strategy="quantile"), Discretizer(strategy="mdlp"), None])
    def test_not_where_bins_are_none_the_worse(self, bins: Any) -> None:
        clf = SequentialClassifier(discretizer=bins)
        if bins is None:  # of equal widths, in which 120 is no trouble
            assert told(FRAME.assign(age=FRAME["age"].mask(np.arange(N) == 5, 120)), Y, clf) == []
        else:
            assert told(FRAME.assign(age=FRAME["age"].mask(np.arange(N) == 5, -999)), Y, clf) == []

    @pytest.mark.parametrize("draw", ["exponential", "lognormal", "poisson"])
    def test_long_tails_are_left_alone(self, draw: str) -> None:
        rng = np.random.default_rng(1)
        assert told(getattr(rng, draw)(size=(N, 20)) if draw != "poisson" else rng.poisson(0.3, (N, 20)), Y) == []


def commas(n: int) -> Any:
    return np.array([f"{i % n},5" for i in range(N)], dtype=object)


def towns(n: int, n_rows: int) -> Any:
    return np.array([f"town {i % n}" for i in range(n_rows)], dtype=object)


@pytest.mark.parametrize(
    ("first", "doubtful", "words"),
    [
        (commas(7), commas(8), "make 8 categories"),
        (towns(50, 200), towns(51, 200), "51 categories in 200 rows"),
        (towns(100, 500), towns(101, 500), "101 categories in 500 rows"),
        (np.arange(49), np.arange(50), "numbers the rows"),
        (np.append(AGE - AGE.min(), 20.5 * np.ptp(AGE)), np.append(AGE - AGE.min(), 21.5 * np.ptp(AGE)), "so far from"),
    ],
    ids=["numbers", "few rows", "of many rows", "rows", "far"],
)
def test_where_doubts_begin(first: Any, doubtful: Any, words: str) -> None:
    for column, lines in ((first, 0), (doubtful, 1)):
        found = told(pd.DataFrame({"a": column}), np.arange(len(column)) % 2, SequentialClassifier(solver=FirstK(0)))
        assert [words in line for line in found] == [True] * lines


class TestOnceAndNoFalseAlarm:
    @pytest.mark.slow
    @pytest.mark.filterwarnings("ignore:nothing is worth")
    def test_each_is_said_once_whatever_is_fitted(self) -> None:
        frame = FRAME.assign(age=COMMAS)
        for clf in (seqclass.adaptive(effort="quick"), SequentialClassifier(calibrate=True)):
            lines = told(frame, Y, clf)
            assert sum("texts such as" in line for line in lines) == 1

    def test_chunks(self) -> None:
        frame, y = FRAME.assign(age=COMMAS), np.where(np.arange(N) < 1, "Ill", Y)
        halves = [(frame[:100], y[:100]), (frame[100:], y[100:])]
        with warnings.catch_warnings(record=True) as found:
            warnings.simplefilter("always")
            etana().fit_chunks(halves)
        lines = [str(warning.message) for warning in found]
        assert [line.split()[0] for line in lines] == ["column", "y", "y:"]

    @pytest.mark.parametrize("name", [name for name, kind in datasets.list_datasets().items() if kind == "embedded"])
    def test_sets_that_come_with_the_package(self, name: str) -> None:
        data = datasets.load(name)
        assert told(data.X, data.y, SequentialClassifier(max_features=1)) == []


def test_wrong_prices_are_refused_before_anything_is_tried() -> None:
    for cost, words in (
        (-1, "feature_costs must not be negative"),
        ([1, 2, 3], "feature_costs must be a number, a dict"),
    ):
        with pytest.raises(ValueError, match=f"^{words}"):
            seqclass.adaptive(cost, effort="quick").fit(FRAME, Y)
    with pytest.raises(ValueError, match=r"^max_features must be at least 0, got -1"):
        seqclass.adaptive(max_features=-1, effort="quick").fit(FRAME, Y)


class TestNumbersOfRows:
    def test_one_line_with_what_to_do(self) -> None:
        numbers = RNG.permutation(300)[:N] + 1  # what is left of a table that was cut in two
        [line] = told(FRAME.assign(patient=numbers), Y)
        assert line.startswith("column 'patient' numbers the rows: ")
        assert "--drop" in line

    @pytest.mark.parametrize(
        "column", [AGE, AGE.round(), 7919 * np.arange(N), np.where(np.arange(N) == 3, np.nan, np.arange(N))]
    )
    def test_measurements_are_none(self, column: Any) -> None:
        assert told(FRAME.assign(measured=column), Y) == []
