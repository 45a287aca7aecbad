"""Files that are written whole or not at all."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from seqclass import SequentialClassifier
from seqclass.export import export_policy
from seqclass.large import predict_parquet
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


@pytest.mark.skipif(os.name != "posix", reason="modes are those of Unix")
@pytest.mark.parametrize("mode", [0o600, 0o640, 0o664, 0o444])
@pytest.mark.parametrize("kind", WRITERS)
def test_a_file_that_is_replaced_keeps_its_mode(
    kind: str, mode: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, sync = tmp_path / "a.txt", os.fsync
    path.write_text("old")
    path.chmod(mode)
    modes = []

    def watch(file: int) -> None:
        modes.append(os.fstat(file).st_mode & 0o777)
        sync(file)

    monkeypatch.setattr(os, "fsync", watch)
    WRITERS[kind](path)
    assert path.read_bytes() != b"old"
    assert path.stat().st_mode & 0o777 == mode
    assert modes
    assert not any(written & 0o077 & ~mode for written in modes)  # nor is it open to others while it is written


@pytest.mark.skipif(os.name != "posix", reason="modes are those of Unix")
def test_a_new_file_is_as_open_as_others(tmp_path: Path) -> None:
    (tmp_path / "other").touch()
    for kind, write in WRITERS.items():
        write(tmp_path / kind)
    assert len({path.stat().st_mode for path in tmp_path.iterdir()}) == 1


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


_WRITES = """
import os, sys
from seqclass.persistence import save

def wait(file):
    print("written", flush=True)
    sys.stdin.read()

os.fsync = wait
save("what never takes its place", sys.argv[1])
"""


@pytest.mark.slow
def test_what_a_killed_predict_left_goes_when_it_runs_again(tmp_path: Path) -> None:
    frame = pd.DataFrame({"x": np.repeat([0.0, 1.0], 20)})
    clf = SequentialClassifier().fit(frame, np.repeat(["a", "b"], 20))
    frame.to_parquet(tmp_path / "new.parquet")
    out = tmp_path / "out"
    predict_parquet(clf, tmp_path / "new.parquet", out)
    other = out / ".seqclass-of-somebody.parquet"
    other.touch()
    command = [sys.executable, "-c", _WRITES, str(out / "new.parquet")]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as writer:
        assert writer.stdout is not None
        writer.stdout.readline()
        predict_parquet(clf, tmp_path / "new.parquet", out)
        assert len(list(out.glob(".seqclass-*"))) == 2  # it may yet finish
        writer.kill()
    predict_parquet(clf, tmp_path / "new.parquet", out)
    assert {path.name for path in out.iterdir()} == {"new.parquet", other.name}
