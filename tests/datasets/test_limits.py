"""Files that claim more than they hold are refused before anything is made of it."""

from __future__ import annotations

import io
import tracemalloc
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

from seqclass.datasets.files import load_file


def npy(shape: tuple[int, ...], data: bytes, descr: str = "<f8", version: tuple[int, int] = (1, 0)) -> bytes:
    """An array file whose header says what it likes."""
    file = io.BytesIO()
    header = {"descr": descr, "fortran_order": False, "shape": shape}
    write = np.lib.format.write_array_header_1_0 if version == (1, 0) else np.lib.format.write_array_header_2_0
    write(file, header)
    return file.getvalue() + data


def archive(path: Path, entries: dict[str, bytes], method: int = zipfile.ZIP_DEFLATED) -> Path:
    with zipfile.ZipFile(path, "w", method) as file:
        for name, content in entries.items():
            file.writestr(f"{name}.npy", content)
    return path


Y = npy((2,), np.array([0, 1]).tobytes(), "<i8")


@pytest.mark.parametrize("method", [zipfile.ZIP_DEFLATED, zipfile.ZIP_STORED])
@pytest.mark.parametrize(
    "shape, descr",
    [((2**31, 1), "<f8"), ((2, 10**9), "<f8"), ((2, 10**18), "<f8"), ((10**12, 10**12), "|u1"), ((2, 2**40), "<U0")],
)
@pytest.mark.parametrize("version", [(1, 0), (2, 0)])
def test_headers_that_claim_too_much(
    tmp_path: Path, shape: tuple[int, ...], descr: str, method: int, version: tuple[int, int]
) -> None:
    path = archive(tmp_path / "a.npz", {"X": npy(shape, bytes(64), descr, version), "y": Y}, method)
    tracemalloc.start()
    with pytest.raises(ValueError, match=r"is no [.]npz file, or a damaged one"):
        load_file(path)
    assert tracemalloc.get_traced_memory()[1] < 10**7
    tracemalloc.stop()


def test_sizes_of_the_zip_that_cannot_be(tmp_path: Path) -> None:
    content = npy((2**31, 1), bytes(64))
    path = archive(tmp_path / "a.npz", {"X": content, "y": Y})
    raw = path.read_bytes()
    claimed = len(content) - 64 + 2**31 * 8
    for size in (claimed % 2**32, 2**32 - 2):
        changed = raw.replace(len(content).to_bytes(4, "little"), size.to_bytes(4, "little"))
        assert changed != raw
        path.write_bytes(changed)
        with pytest.raises(ValueError, match=r"is no [.]npz file, or a damaged one"):
            load_file(path)


@pytest.mark.parametrize("n_columns", [10**12, 2**62, 2**20 + 1])
def test_columns_that_no_file_of_this_size_fills(tmp_path: Path, n_columns: int) -> None:
    parts = {"data": np.ones(3), "indices": np.array([0, 1, 2]), "indptr": np.arange(4)}
    np.savez(tmp_path / "a.npz", **parts, shape=np.array([3, n_columns]), y=[0, 1, 0])
    with pytest.raises(ValueError, match=f"it states {n_columns:,} columns, of which it can hold hardly any"):
        load_file(tmp_path / "a.npz")
    (tmp_path / "a.svm").write_text(f"0 1:1\n1 {n_columns}:1\n")
    if n_columns < 2**31:
        with pytest.raises(ValueError, match="of which it can hold hardly any"):
            load_file(tmp_path / "a.svm")


@pytest.mark.slow
def test_wide_files_that_fill_their_columns(tmp_path: Path) -> None:
    X = sp.csr_array((np.ones(4), ([0, 1, 0, 1], [0, 5, 2**20 - 1, 7])), shape=(2, 2**20))
    np.savez(tmp_path / "a.npz", data=X.data, indices=X.indices, indptr=X.indptr, shape=X.shape, y=[0, 1])
    assert load_file(tmp_path / "a.npz").X.shape == (2, 2**20)


@pytest.mark.parametrize("names", [np.array("ab"), np.array([["a", "b"]]), np.array([["a"], ["b"]])])
def test_names_of_classes_are_a_list(tmp_path: Path, names: Any) -> None:
    np.savez(tmp_path / "a.npz", X=np.eye(2), y=[0, 1], class_names=names)
    with pytest.raises(ValueError, match=r"a[.]npz: class_names must be a list, it has shape"):
        load_file(tmp_path / "a.npz")


def test_bytes_in_a_table_are_refused(tmp_path: Path) -> None:
    pd = pytest.importorskip("pandas")
    pd.DataFrame({"x": [b"1", b"2"] * 4, "y": ["a", "b"] * 4}).to_parquet(tmp_path / "a.parquet")
    with pytest.raises(ValueError, match="column 'x' holds bytes"):
        load_file(tmp_path / "a.parquet")
    pd.DataFrame({"x": [1, 2] * 4, "y": [b"a", b"b"] * 4}).to_parquet(tmp_path / "b.parquet")
    with pytest.raises(ValueError, match="column 'y' holds bytes"):
        load_file(tmp_path / "b.parquet")
