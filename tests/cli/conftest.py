"""A folder to work in, small tables, a fitted model, and a way to run the command line."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner, Result

from seqclass.cli import main

Run = Callable[..., Result]


def spoken(arguments: Any) -> list[str]:
    """Arguments as a shell gives them; ``fit`` takes no more than one fit of naive Bayes, unless told."""
    texts = [str(a) for a in arguments]
    if texts[:1] != ["fit"] or {"-h", "--help"} & set(texts):
        return texts
    more = [] if "--held-out" in texts else ["--held-out", "0"]
    more += [] if "--method" in texts else ["--method", "etana"]
    return [*texts[:1], *more, *texts[1:]]


@pytest.fixture(scope="session")
def patients() -> pd.DataFrame:
    """Three classes, a category, a number, a yes-or-no and an empty column, all with missing cells."""
    rng = np.random.default_rng(0)
    n = 200
    label = rng.choice(["maybe", "no", "yes"], n)
    usual = pd.Series(label).map({"yes": "green", "no": "red", "maybe": "amber"}).to_numpy()
    frame = pd.DataFrame(
        {
            "id": [f"p{i:04d}" for i in range(n)],
            "colour": np.where(rng.random(n) < 0.8, usual, "red"),
            "age in years": rng.normal(50, 10, n).round(2) + 15 * (label == "yes"),
            "empty": np.nan,
            "smokes": (rng.random(n) < np.where(label == "no", 0.8, 0.2)).astype(object),
            "the label": label,
        }
    )
    for name in ("colour", "age in years", "smokes"):
        frame.loc[rng.random(n) < 0.1, name] = None
    return frame


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, patients: pd.DataFrame) -> Path:
    """The current directory, with ``data.csv``."""
    monkeypatch.chdir(tmp_path)
    patients.to_csv("data.csv", index=False)
    return tmp_path


@pytest.fixture
def run() -> Run:
    """Run ``seqclass`` with arguments; what goes to stderr is in ``stderr``."""

    def invoke(*arguments: Any, answers: str = "") -> Result:
        return CliRunner().invoke(main, spoken(arguments), input=answers)

    return invoke


@pytest.fixture(scope="session")
def fitted(tmp_path_factory: pytest.TempPathFactory, patients: pd.DataFrame) -> Path:
    """A model of `patients`."""
    home = tmp_path_factory.mktemp("model")
    patients.to_csv(home / "data.csv", index=False)
    arguments = ["fit", home / "data.csv", "--target", "the label", "--drop", "id", "-o", home / "model.seq"]
    result = CliRunner().invoke(main, spoken(arguments))
    assert result.exit_code == 0, result.stderr
    return home / "model.seq"


@pytest.fixture
def model(folder: Path, fitted: Path) -> str:
    """``model.seq`` in the current directory."""
    shutil.copy(fitted, folder / "model.seq")
    return "model.seq"
