"""Files that are written whole or not at all."""

from __future__ import annotations

import multiprocessing
import os
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from forked import forked, needs_fork

from seqclass import SequentialClassifier
from seqclass.export import export_policy
from seqclass.large import predict_parquet
from seqclass.persistence import save
from seqclass.pomdp import FirstK, TableProblem, write_pomdp

CLF = SequentialClassifier(solver=FirstK(0, certificate_paths=0)).fit([[0.0], [1.0]] * 20, ["a", "b"] * 20)
WRITERS: dict[str, Callable[[Path], Any]] = {
    "model": CLF.save,
    "page": partial(export_policy, CLF, format="html"),
    "problem": partial(write_pomdp, TableProblem([0.5, 0.5], np.full((1, 2, 2), 0.5), 0.1)),
}


@pytest.mark.parametrize("kind", WRITERS)
def test_what_fails_leaves_nothing_and_changes_nothing(
    kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "a.txt"
    path.write_text("old")

    def fail(file: int) -> None:
        assert len(list(tmp_path.iterdir())) == 2  # the new file is there, beside the old one
        raise RuntimeError

    monkeypatch.setattr(os, "fsync", fail)
    with pytest.raises(RuntimeError):
        WRITERS[kind](path)
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no named pipes here")
@pytest.mark.parametrize("kind", WRITERS)
def test_devices_pipes_and_folders_stay(kind: str, tmp_path: Path) -> None:
    pipe, folder = tmp_path / "pipe", tmp_path / "folder"
    os.mkfifo(pipe)
    folder.mkdir()
    (tmp_path / "link").symlink_to(pipe)
    for path in (pipe, folder, tmp_path / "link"):
        with pytest.raises(ValueError, match=f"cannot write .*{path.name}: it is a folder, device or pipe"):
            WRITERS[kind](path)
    assert pipe.is_fifo()
    assert folder.is_dir()


def test_a_full_disk_names_the_file(tmp_path: Path) -> None:
    resource = pytest.importorskip("resource", reason="such limits are those of Unix")
    clf = SequentialClassifier().fit(np.repeat([[0.0], [1.0]], 20, axis=0), np.repeat(["a", "b"], 20))
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (512, before[1]))
    try:
        with pytest.raises(OSError, match=r"cannot write: .*: '.*model\.seq'"):
            clf.save(tmp_path / "model.seq")
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    assert list(tmp_path.iterdir()) == []


def writes(path: Path, end: Any) -> None:
    """Write a file that never takes its place."""

    def wait(file: int) -> None:
        end.send("written")
        end.recv()

    os.fsync = wait
    save("what never takes its place", path)


@needs_fork
def test_what_a_killed_predict_left_goes_when_it_runs_again(tmp_path: Path) -> None:
    frame = pd.DataFrame({"x": np.repeat([0.0, 1.0], 20)})
    clf = SequentialClassifier().fit(frame, np.repeat(["a", "b"], 20))
    frame.to_parquet(tmp_path / "new.parquet")
    out = tmp_path / "out"
    predict_parquet(clf, tmp_path / "new.parquet", out)
    other = out / ".seqclass-of-somebody.parquet"
    other.touch()
    mine, theirs = multiprocessing.Pipe()
    writer = forked(writes, out / "new.parquet", theirs)
    try:
        assert mine.recv() == "written"
        predict_parquet(clf, tmp_path / "new.parquet", out)
        assert len(list(out.glob(".seqclass-*"))) == 2  # it may yet finish
    finally:
        writer.kill()
        writer.join()
    predict_parquet(clf, tmp_path / "new.parquet", out)
    assert {path.name for path in out.iterdir()} == {"new.parquet", other.name}
