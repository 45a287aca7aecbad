"""The file of a run: cells and their parts, whole or not at all."""

from __future__ import annotations

import sqlite3
from pathlib import Path
from typing import Any

import pytest

from seqclass.experiment._store import opened

LABELS = {"data": "d", "method": "m", "price": 0.1, "budget": None, "seed": 0, "fold": 0}


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """A run of two planned cells."""
    file = tmp_path / "a.run"
    with opened(file, create=True) as store:
        store.plan((key, LABELS | {"fold": i}, {"fold": i}) for i, key in enumerate("ab"))
    return file


def test_parts_come_and_go_with_their_cell(path: Path) -> None:
    with opened(path, create=True) as store:
        store.put("a", {"error": ""}, {"instances": b"\x00one", "more": b""})
        store.put("b", {"error": ""})
        assert store.part("a", "instances") == b"\x00one"
        assert store.part("a", "more") == b""
        assert store.part("b", "instances") is None
        assert store.part("none", "instances") is None
        store.put("b", {"error": ""}, {"instances": b"three"})
        assert store.keys_with("instances") == ["a", "b"]
        assert store.keys_with("more") == ["a"]
        # a cell that is computed again keeps nothing of what it had
        store.put("a", {"error": ""}, {"instances": b"two"})
        assert store.part("a", "instances") == b"two"
        assert store.keys_with("more") == []
    with opened(path) as store:
        assert store.part("a", "instances") == b"two"


def test_a_part_may_have_a_key_of_its_own(path: Path) -> None:
    with opened(path, create=True) as store:
        store.put_part("stream", "piece", b"1")
        store.put_part("stream", "piece", b"2")
        assert store.part("stream", "piece") == b"2"
        assert store.results() == {}
        assert store.count_missing() == 2
        store.put("a", {"error": ""})
        assert store.part("stream", "piece") == b"2"


def test_a_cell_and_its_parts_are_one_transaction(path: Path) -> None:
    parts: Any = {"instances": b"one", "broken": object()}
    with opened(path, create=True) as store:
        store.put("a", {"error": "first"}, {"instances": b"zero"})
        with pytest.raises(sqlite3.Error):
            store.put("a", {"error": "second"}, parts)
        assert store.results()["a"]["error"] == "first"
        assert store.part("a", "instances") == b"zero"
        assert store.keys_with("broken") == []


@pytest.mark.parametrize(
    "setting, told",
    [
        ("max_page_count = 1", r"cannot write .*a\.run: database or disk is full\. Make room .* done are kept"),
        ("query_only = 1", r"cannot write .*a\.run: attempt to write a readonly database\. Write to another file"),
    ],
)
def test_what_the_disk_refuses_is_told_and_loses_nothing(path: Path, setting: str, told: str) -> None:
    with opened(path, create=True) as store:
        store.put("a", {"error": ""})

    def put_more() -> None:
        with opened(path, create=True) as store:
            store._connection.execute(f"PRAGMA {setting}")
            store.put("b", {"error": ""}, {"instances": bytes(100_000)})

    with pytest.raises(OSError, match=told):
        put_more()
    with opened(path) as store:
        assert list(store.results()) == ["a"]
        assert store.count_missing() == 1


def test_a_file_that_cannot_be_opened(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*arguments: Any, **settings: Any) -> Any:
        raise sqlite3.OperationalError("unable to open database file")

    monkeypatch.setattr(sqlite3, "connect", refuse)  # permissions do not bind whoever may do all
    with pytest.raises(OSError, match=r"cannot read .*a\.run: unable to open"), opened(path):
        pass
