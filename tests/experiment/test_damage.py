"""Runs whose file was damaged: told as that, whatever is wrong with it."""

from __future__ import annotations

import json
import random
import shutil
import sqlite3
from contextlib import closing, suppress
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import settings as examples
from hypothesis import strategies as st

from seqclass.experiment import Experiment, Results
from seqclass.report.explore import explore_run

ODD: list[Any] = [None, "x", [], {}, -1, 10**30, 1e308, True, 0.5]
TEXTS = ["{}", "[]", "null", "5", "[[", "{", b"\xff\xfe", "[" * 5000, "NaN", ""]


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run of three cells."""
    path = tmp_path_factory.mktemp("run") / "whole.run"
    Experiment(["iris"], ["etana"], cv=3).run(path)
    return path


def change(path: Path, statement: str, *values: Any) -> None:
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute(statement, values)


def read_all(path: Path) -> None:
    """Do with a run what people do."""
    results = Results.load(path)
    for key in results.to_frame().index:
        results.settings(key)
        results.read_explored(key)
    results.summary()
    results.instances()
    results.record("iris", "etana")
    explore_run(results)


@pytest.mark.parametrize("text", TEXTS, ids=lambda text: str(text)[:10])
@pytest.mark.parametrize("column", ["labels", "result", "settings"])
def test_texts_that_are_no_cell(whole: Path, tmp_path: Path, column: str, text: Any) -> None:
    path = Path(shutil.copy(whole, tmp_path / "a.run"))
    change(path, f"UPDATE cells SET {column} = ? WHERE position = 2", text)
    with pytest.raises((ValueError, OSError), match=r"a\.run is damaged: the cell '\w+' |cannot (be )?read"):
        read_all(path)
    if column != "settings":
        with pytest.raises((ValueError, OSError)):
            Experiment(["iris"], ["etana"], cv=3).run(path)


@pytest.mark.parametrize(
    "column, name", [("labels", "price"), ("labels", "seed"), ("result", "accuracy"), ("result", "error")]
)
@pytest.mark.parametrize("value", [[], {}, True, 10**30, -1e308, "x"], ids=str)
def test_values_of_another_kind(whole: Path, tmp_path: Path, column: str, name: str, value: Any) -> None:
    if (name, value) == ("error", "x"):
        return
    path = Path(shutil.copy(whole, tmp_path / "a.run"))
    with closing(sqlite3.connect(path)) as connection:
        content = json.loads(connection.execute(f"SELECT {column} FROM cells WHERE position = 1").fetchone()[0])
    change(path, f"UPDATE cells SET {column} = ? WHERE position = 1", json.dumps(content | {name: value}))
    with pytest.raises(ValueError, match=rf"is damaged: the cell '\w+' holds .* as {name}"):
        Results.load(path).to_frame()


def test_settings_of_another_cell(whole: Path, tmp_path: Path) -> None:
    path = Path(shutil.copy(whole, tmp_path / "a.run"))
    change(path, "UPDATE cells SET settings = (SELECT settings FROM cells WHERE position = 2) WHERE position = 1")
    results = Results.load(path)
    with pytest.raises(ValueError, match="has settings that are not its own"):
        results.settings(results.to_frame().index[0])


@pytest.mark.parametrize("content", [b"", b"PK", bytes(100), 5, "text", 10**12])
@pytest.mark.parametrize("name", ["instances", "explanations"])
def test_parts_that_are_none(whole: Path, tmp_path: Path, name: str, content: Any) -> None:
    path = Path(shutil.copy(whole, tmp_path / "a.run"))
    change(path, "UPDATE parts SET content = ? WHERE name = ?", content, name)
    with pytest.raises(ValueError, match="is damaged"):
        read_all(path)


def damaged(path: Path, rng: random.Random) -> None:
    """Bytes of a run changed, or values of a cell."""
    if rng.random() < 0.5:
        content = bytearray(path.read_bytes())
        for _ in range(rng.choice([1, 1, 3, 20])):
            content[rng.randrange(len(content))] = rng.randrange(256)
        path.write_bytes(content[: rng.choice([len(content), len(content), rng.randrange(len(content))])])
        return
    column = rng.choice(["labels", "settings", "result"])
    with closing(sqlite3.connect(path)) as connection, connection:
        position = rng.randrange(1, 4)
        [text] = connection.execute(f"SELECT {column} FROM cells WHERE position = ?", (position,)).fetchone()
        content = json.loads(text)
        name = rng.choice(list(content))
        content = {n: v for n, v in content.items() if n != name} | rng.choice([{}, {name: rng.choice(ODD)}])
        connection.execute(f"UPDATE cells SET {column} = ? WHERE position = ?", (json.dumps(content), position))


def try_damaged(whole: Path, rng: random.Random) -> None:
    path = whole.with_name("damaged.run")
    shutil.copy(whole, path)
    damaged(path, rng)
    with suppress(ValueError, OSError):  # what every command turns into one sentence
        read_all(path)


@pytest.mark.slow
@examples(max_examples=30)
@given(st.randoms(use_true_random=False))
def test_whatever_is_damaged(whole: Path, rng: random.Random) -> None:
    try_damaged(whole, rng)


@pytest.mark.slow
def test_whatever_is_damaged_many_times(whole: Path) -> None:
    for seed in range(2000):
        try_damaged(whole, random.Random(seed))
