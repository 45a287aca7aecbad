"""Files that are written whole or not at all."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from seqclass._files import replacing


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
