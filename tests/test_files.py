"""Files that are written whole or not at all."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from seqclass import SequentialClassifier
from seqclass._utils.files import replacing
from seqclass.large import predict_parquet


def test_what_fails_leaves_nothing_and_changes_nothing(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_text("old")

    def fail() -> None:
        with replacing(path) as temporary:
            temporary.write_text("new")
            raise RuntimeError

    with pytest.raises(RuntimeError):
        fail()
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no named pipes here")
def test_devices_pipes_and_folders_stay(tmp_path: Path) -> None:
    pipe, folder = tmp_path / "pipe", tmp_path / "folder"
    os.mkfifo(pipe)
    folder.mkdir()
    (tmp_path / "link").symlink_to(pipe)
    for path in (pipe, folder, tmp_path / "link"):
        refusal = pytest.raises(ValueError, match=f"cannot write .*{path.name}: it is a folder, device or pipe")
        with refusal, replacing(path) as temporary:
            temporary.write_text("new")
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
import sys
from seqclass._utils.files import replacing
with replacing(sys.argv[1]) as path:
    path.write_bytes(b"half")
    print("written", flush=True)
    sys.stdin.read()
"""


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
