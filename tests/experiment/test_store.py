"""The file of a run: cells and their parts, whole or not at all."""

from __future__ import annotations

import io
import itertools
import shutil
import sqlite3
import time
from collections.abc import Callable
from contextlib import closing, suppress
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from seqclass.experiment import Experiment, Results, _keeping
from seqclass.experiment._keeping import pack, pack_json, unpack, unpack_json
from seqclass.experiment._keys import key_of
from seqclass.experiment._store import open_store

LABELS = {"data": "d", "method": "m", "price": 0.1, "budget": None, "seed": 0, "fold": 0}


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """A run of two planned cells."""
    file = tmp_path / "a.run"
    with open_store(file, create=True) as store:
        store.plan((key, LABELS | {"fold": i}, {"fold": i}) for i, key in enumerate("ab"))
    return file


def test_parts_come_and_go_with_their_cell(path: Path) -> None:
    with open_store(path, create=True) as store:
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
    with open_store(path) as store:
        assert store.part("a", "instances") == b"two"


def test_a_part_may_have_a_key_of_its_own(path: Path) -> None:
    with open_store(path, create=True) as store:
        store.put_part("stream", "piece", b"1")
        store.put_part("stream", "piece", b"2")
        assert store.part("stream", "piece") == b"2"
        assert store.results() == {}
        assert store.count_missing() == 2
        store.put("a", {"error": ""})
        assert store.part("stream", "piece") == b"2"


def test_a_cell_and_its_parts_are_one_transaction(path: Path) -> None:
    parts: Any = {"instances": b"one", "broken": object()}
    with open_store(path, create=True) as store:
        store.put("a", {"error": "first"}, {"instances": b"zero"})
        with pytest.raises(sqlite3.Error):
            store.put("a", {"error": "second"}, parts)
        assert store.results()["a"]["error"] == "first"
        assert store.part("a", "instances") == b"zero"
        assert store.keys_with("broken") == []


def test_a_file_can_be_read_while_it_is_written(path: Path) -> None:
    results = Results.load(path)
    new = key_of({"x": 1})
    with open_store(path, create=True) as store:
        store.plan([(new, LABELS | {"data": "new"}, {"x": 1})])
        assert results.n_missing == 3
        store.put(new, {"accuracy": 1.0, "error": ""})
        assert results.to_frame().loc[new, "accuracy"] == 1.0
        assert results.settings(new) == {"x": 1}
    assert sorted(file.name for file in path.parent.iterdir()) == ["a.run"]
    assert path.read_bytes()[18] == 1  # no log is wanted by whoever reads the file now
    with open_store(path) as reader, open_store(path, create=True):
        reader.count_missing()
    assert "1 cells, 2 missing, 0 failed" in repr(results)


@pytest.mark.parametrize(
    "setting, told",
    [
        ("max_page_count = 1", r"cannot write .*a\.run: database or disk is full\. Make room .* done are kept"),
        ("query_only = 1", r"cannot write .*a\.run: attempt to write a readonly database\. Write to another file"),
    ],
)
def test_what_the_disk_refuses_is_told_and_loses_nothing(path: Path, setting: str, told: str) -> None:
    with open_store(path, create=True) as store:
        store.put("a", {"error": ""})

    def put_more() -> None:
        with open_store(path, create=True) as store:
            store._connection.execute(f"PRAGMA {setting}")
            store.put("b", {"error": ""}, {"instances": bytes(100_000)})

    with pytest.raises(OSError, match=told):
        put_more()
    with open_store(path) as store:
        assert list(store.results()) == ["a"]
        assert store.count_missing() == 1


def test_a_file_that_cannot_be_opened(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*arguments: Any, **settings: Any) -> Any:
        raise sqlite3.OperationalError("unable to open database file")

    monkeypatch.setattr(sqlite3, "connect", refuse)  # permissions do not bind whoever may do all
    with pytest.raises(OSError, match=r"cannot read .*a\.run: unable to open"), open_store(path):
        pass


Before = Callable[[int, str], None]


@pytest.fixture
def watched(monkeypatch: pytest.MonkeyPatch) -> Callable[[Before], Any]:
    """Make the next database that is opened call a function with each statement and its number, before it is run."""
    connect = sqlite3.connect

    def watch(before: Before) -> None:
        class Connection(sqlite3.Connection):
            count = 0

            def execute(self, sql: str, *values: Any) -> sqlite3.Cursor:
                self.count += 1
                before(self.count, sql)
                return super().execute(sql, *values)

        def watching(path: Path, **settings: Any) -> sqlite3.Connection:
            monkeypatch.setattr(sqlite3, "connect", lambda path, **settings: connect(path, timeout=0))
            return connect(path, timeout=0, factory=Connection)

        monkeypatch.setattr(sqlite3, "connect", watching)

    return watch


def make(path: Path) -> None:
    with open_store(path, create=True) as store:
        store.plan([("a", LABELS, {})])


def test_a_kill_at_any_statement_leaves_a_file_that_can_be_made(watched: Any, tmp_path: Path) -> None:
    file = tmp_path / "a.run"

    def keep(number: int, _: str) -> None:
        (tmp_path / str(number)).mkdir()
        for part in tmp_path.glob("a.run*"):  # the log too: what is on the disk is what a kill leaves
            shutil.copy(part, tmp_path / str(number))

    watched(keep)
    make(file)
    left = [folder / "a.run" for folder in tmp_path.iterdir() if folder.is_dir()]
    assert len(left) > 8
    for one in left:
        make(one)
        with open_store(one) as store:
            assert store.count_missing() == 1


def test_another_may_make_the_file_before_any_statement(watched: Any, tmp_path: Path) -> None:
    counts = [1]
    for number in itertools.takewhile(lambda number: number <= counts[-1], itertools.count(1)):
        file = tmp_path / str(number)

        def before(count: int, _: str, file: Path = file, number: int = number) -> None:
            counts.append(count)
            if count == number:
                with suppress(OSError):  # it would have to wait: this very statement
                    make(file)

        watched(before)
        make(file)
        with open_store(file) as store:
            assert store.count_missing() == 1
    assert counts[-1] > 8


def test_the_log_waits_for_whoever_reads(watched: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file, waits = tmp_path / "a.run", []
    with closing(sqlite3.connect(file, isolation_level=None)) as reader:

        def before(_: int, sql: str) -> None:
            if "WAL" in sql and not waits:
                reader.execute("BEGIN")
                reader.execute("SELECT count(*) FROM sqlite_master").fetchone()

        def sleep(seconds: float) -> None:
            waits.append(seconds)
            reader.execute("COMMIT")

        monkeypatch.setattr(time, "sleep", sleep)
        watched(before)
        make(file)
        assert len(waits) == 1


@pytest.mark.parametrize("read", [unpack, unpack_json])
def test_bytes_that_are_nothing(read: Callable[[bytes], Any]) -> None:
    for content in (b"", b"PK\x03\x04", bytes(range(256))):
        with pytest.raises(ValueError, match="what the run kept of its instances is damaged"):
            read(content)


def test_a_failure_to_keep_is_a_warning_of_the_cell(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*arguments: Any) -> Any:
        raise RuntimeError("no\nwords")

    monkeypatch.setattr(_keeping, "_with_labels", fail)
    results = Experiment(["iris"], ["etana"], cv=2).run(tmp_path / "a.run")
    table = results.to_frame()
    assert (table["error"] == "").all()
    assert table["accuracy"].gt(0.8).all()
    assert (table["warnings"] == "UserWarning: no explanations are kept, RuntimeError: no words.").all()
    assert results.keys_with("explanations") == []
    assert len(results.instances()) == 150


def test_packing_knows_no_pickle(tmp_path: Path) -> None:
    results = Experiment(["iris"], ["etana"], cv=2).run(tmp_path / "a.run")
    with open_store(results.path) as store:
        content = store.part(results.to_frame().index[0], "instances")
    assert content is not None
    arrays, about = unpack(content)
    assert pack(arrays, about) == content
    with pytest.raises(ValueError, match="Object arrays"):
        pack({"a": np.array([{}], dtype=object)}, {})
    buffer = io.BytesIO()
    np.savez(buffer, a=np.array([{}], dtype=object))
    with pytest.raises(ValueError, match="allow_pickle=False"):
        unpack(buffer.getvalue())
    with pytest.raises(ValueError):
        pack_json({"a": float("nan")})
