"""``seqclass explain``."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pandas as pd
import pytest

import seqclass


@pytest.fixture
def features(model: str, patients: pd.DataFrame) -> pd.DataFrame:
    frame = patients[seqclass.load(model).feature_names_in_.tolist()].copy()
    frame["smokes"] = frame["smokes"].map(str, na_action="ignore")
    return frame


@pytest.mark.quick
def test_it_says_what_the_classifier_says(model: str, run: Any, features: pd.DataFrame) -> None:
    told = seqclass.load(model).explain(features)
    for row in (1, 2, 17, 200):
        result = run("explain", model, "data.csv", "--row", row)
        assert (result.exit_code, result.stderr) == (0, "")
        assert result.stdout == f"{told[row - 1]}\n"
    assert run("explain", model, "data.csv").stdout == f"{told[0]}\n"


def test_json(model: str, run: Any, features: pd.DataFrame) -> None:
    content = json.loads(run("explain", model, "data.csv", "--row", 5, "--json").stdout)
    assert content.pop("row") == 5
    assert content == json.loads(seqclass.load(model).explain(features)[4].to_json())


def test_arrays(folder: Any, run: Any) -> None:
    X = np.random.default_rng(0).normal(size=(60, 3))
    y = (X[:, 1] > 0).astype(int)
    np.savez("data.npz", X=X, y=y)
    seqclass.etana().fit(X, y).save("arrays.seq")
    text = run("explain", "arrays.seq", "data.npz", "--row", 3).stdout
    assert text == f"{seqclass.load('arrays.seq').explain(X[2])[0]}\n"
    assert "1. x1 = " in text


def test_refusals(model: str, refuses: Any, run: Any, patients: pd.DataFrame) -> None:
    assert "has 200 rows, so there is no row 201" in refuses("explain", model, "data.csv", "--row", 201)
    assert "--row" in refuses("explain", model, "data.csv", "--row", 0)
    assert "no file" in refuses("explain", model, "nothing.csv")
    clf = seqclass.load(model)
    first, second = (clf.feature_name(j) for j in clf.order_[:2])
    patients[[first]].to_csv("few.csv", index=False)
    asks = [i for i, told in enumerate(clf.acquire(_texts(clf, patients)).n_features, 1) if told > 1]
    assert f"lacks the column {second!r}, which row {asks[0]} needs" in refuses(
        "explain", model, "few.csv", "--row", asks[0]
    )
    stops = next(i for i in range(1, 201) if i not in asks and pd.notna(patients[first][i - 1]))
    assert run("explain", model, "few.csv", "--row", stops).exit_code == 0


def _texts(clf: Any, patients: pd.DataFrame) -> pd.DataFrame:
    frame = patients[clf.feature_names_in_.tolist()].copy()
    frame["smokes"] = frame["smokes"].map(str, na_action="ignore")
    return frame
