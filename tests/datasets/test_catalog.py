"""One entry to all sets, and OpenML without a network."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib.error import HTTPError, URLError

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.utils import Bunch

from seqclass.datasets import Dataset, list_datasets, load
from seqclass.datasets.files import load_embedded, load_file, load_openml


@pytest.fixture(autouse=True)
def no_folder(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("SEQCLASS_DATA", raising=False)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "mine.csv").write_text("a,b,class\n1,2,x\n2,3,y\n")
    (tmp_path / "mine.costs.csv").write_text("feature,cost\na,1\nb,2\n")
    np.savez(tmp_path / "other.npz", X=np.eye(2), y=[0, 1])
    (tmp_path / "notes.txt").write_text("no table")
    (tmp_path / "inner").mkdir()
    return tmp_path


@pytest.mark.quick
@pytest.mark.parametrize(
    "name, shape, n_classes",
    [("breast_cancer", (569, 30), 2), ("digits", (1797, 64), 10), ("iris", (150, 4), 3), ("wine", (178, 13), 3)],
)
def test_the_embedded_sets(name: str, shape: tuple[int, int], n_classes: int) -> None:
    data = load(name)
    assert (data.X.shape, data.n_classes) == (shape, n_classes)
    assert data.feature_names is not None
    assert data.description
    assert "scikit-learn" in data.source


def test_an_embedded_set_takes_no_settings() -> None:
    with pytest.raises(TypeError, match="takes no settings"):
        load("iris", random_state=0)
    with pytest.raises(ValueError, match="'breast_cancer'"):
        load_embedded("boston")


def test_every_listed_name_loads(folder: Path) -> None:
    names = list_datasets(folder)
    assert names["mine"] == "mine.csv"
    assert names["iris"] == "embedded"
    assert set(names) >= {"other", "cube", "madelon_like", "naive_bayes_world", "sparse_text", "tree_world"}
    assert not {"mine.costs", "notes", "inner"} & set(names)
    assert set(names) >= {"cube_nm", "cube_nm_ar", "cube_nuc", "indicator", "sensors", "syn1", "syn2", "syn3"}
    for name, origin in names.items():
        data = load(name, folder, **({"n_samples": 60} if origin == "generated" else {}))
        assert isinstance(data, Dataset)
        assert data.name == name
        assert str(data.info()).startswith(f"{name}: ")


def test_the_folder_of_the_environment(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SEQCLASS_DATA", str(folder))
    assert load("mine").costs().feature_costs.tolist() == [1, 2]
    monkeypatch.setenv("SEQCLASS_DATA", str(folder / "absent"))
    with pytest.raises(FileNotFoundError, match=r"SEQCLASS_DATA is .*absent"):
        load("mine")
    with pytest.raises(FileNotFoundError, match="data_dir is"):
        list_datasets(folder / "nowhere")


def test_paths(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert load(folder / "mine.csv").name == "mine"
    assert load(str(folder / "mine.csv"), target="class").name == "mine"
    monkeypatch.chdir(folder)
    assert load("mine.csv").name == "mine"
    with pytest.raises(FileNotFoundError):
        load("absent.csv")


def test_two_files_of_one_name(folder: Path) -> None:
    np.savez(folder / "mine.npz", X=np.eye(2), y=[0, 1])
    with pytest.raises(ValueError, match=r"mine\.csv and of mine\.npz"):
        load("mine", folder)


def test_an_unknown_name(folder: Path) -> None:
    with pytest.raises(ValueError, match=r"there is no data set 'irs': did you mean 'iris'.*set SEQCLASS_DATA"):
        load("irs")
    with pytest.raises(ValueError, match="did you mean 'other'") as caught:
        load("othr", folder)
    assert "SEQCLASS_DATA" not in str(caught.value)


@pytest.mark.slow
def test_the_real_data(data_dir: Path) -> None:
    for name, origin in list_datasets(data_dir).items():
        if origin.endswith(".npz") and name != "mnist":
            assert load(name, data_dir).X.shape[0] > 0
    if (data_dir / "thyroid_ann.npz").is_file():
        data = load("thyroid_ann", data_dir)
        assert data.info().n_unpriced == 1
        assert data.info().split == {"train": 3772, "test": 3428}
        with pytest.raises(ValueError, match="gives no price for 'FTI'"):
            data.costs()
        assert data.costs(missing_cost=25.92).feature_costs[-1] == 25.92


# ----------------------------------------------------------------------------------------------------------- OpenML


def answering(bunch: Any, seen: dict[str, Any] | None = None) -> Callable[..., Any]:
    def fetch(**settings: Any) -> Any:
        if seen is not None:
            seen.update(settings)
        if isinstance(bunch, Exception):
            raise bunch
        return bunch

    return fetch


def answer(data: Any, target: Any, names: list[str]) -> Bunch:
    details = {"name": "toy", "version": "2", "id": "61"}
    return Bunch(data=data, target=target, feature_names=names, details=details, DESCR="A  toy\nset")


FETCH = "sklearn.datasets.fetch_openml"


def test_a_set_of_openml(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    frame = pd.DataFrame({"a": [1.0, 2.0], "b": pd.Categorical(["u", "v"])})
    seen: dict[str, Any] = {}
    monkeypatch.setattr(FETCH, answering(answer(frame, pd.Series(pd.Categorical(["x", "y"])), ["a", "b"]), seen))
    data = load("openml:toy", version=2, data_home=tmp_path)
    assert (seen["name"], seen["version"], seen["data_home"]) == ("toy", 2, str(tmp_path))
    assert data.feature_names == ("a", "b")
    assert data.class_names == ("x", "y")
    assert data.description == "A toy set"
    assert data.source == "OpenML 61 (toy, version 2)"
    load("openml:61")
    assert seen["data_id"] == 61


def test_the_slow_parser_where_the_quick_one_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    def fetch(parser: str, **settings: Any) -> Any:
        if parser != "liac-arff":
            raise TypeError("expected string or bytes-like object, got 'int'")
        return answer(pd.DataFrame({"a": [1.0, 2.0]}), np.array(["x", "y"]), ["a"])

    monkeypatch.setattr(FETCH, fetch)
    assert load_openml("titanic").X.shape == (2, 1)


def test_numbers_and_sparse_sets_of_openml(monkeypatch: pytest.MonkeyPatch) -> None:
    numbers = pd.DataFrame({"a": [1, 2], "b": [0.5, np.nan]})
    monkeypatch.setattr(FETCH, answering(answer(numbers, np.array(["1", "0"]), ["a", "b"])))
    data = load_openml("toy", target="c")
    assert isinstance(data.X, np.ndarray)
    assert data.y.tolist() == [1, 0]
    monkeypatch.setattr(FETCH, answering(answer(sp.csr_matrix(np.eye(2)), np.array(["p", "q"]), [])))
    assert sp.issparse(load_openml("toy").X)


@pytest.mark.parametrize("error", [URLError("no route to host"), TimeoutError("timed out"), ConnectionResetError()])
def test_openml_out_of_reach(monkeypatch: pytest.MonkeyPatch, error: OSError) -> None:
    monkeypatch.setattr(FETCH, answering(error))
    with pytest.raises(ConnectionError, match=r"'toy' is not on this disk.* Connect once .*save the table as a file"):
        load_openml("toy")


def test_openml_refuses(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(FETCH, answering(HTTPError("url", 412, "Precondition Failed", None, None)))  # type: ignore[arg-type]
    with pytest.raises(ValueError, match=r"'toy' cannot be had.*Check its name"):
        load_openml("toy")
    monkeypatch.setattr(FETCH, answering(answer(pd.DataFrame({"a": [1.0, 2.0]}), None, ["a"])))
    with pytest.raises(ValueError, match="names no single target column; pass target"):
        load_openml(61)
    monkeypatch.setattr(FETCH, answering(answer(pd.DataFrame({"a": np.ones(60)}), np.arange(60) / 7, ["a"])))
    with pytest.raises(ValueError, match="the target of OpenML's number 61 holds 60 different decimal numbers"):
        load_openml(61)


def test_the_loaders_agree(folder: Path) -> None:
    assert load("mine", folder).X.equals(load_file(folder / "mine.csv").X)
