"""Pieces of tables: kept one by one, gone on with after a kill, and none of which takes the others with it."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from run_files import read_parts, write_part

import seqclass

pytest.importorskip("reproduction.run", reason="the papers' tables are made from a checkout, and this is none")

import reproduction
from reproduction import reproduce
from reproduction._context import Context
from reproduction._pieces import PART, Piece, Result, compute


def squares(values: Any) -> dict[str, Any]:
    """The figures of most pieces here."""
    return {"sum": np.square(values).sum(), "each": np.square(values), "none": np.nan}


def fail(text: str) -> dict[str, Any]:
    """An error."""
    raise ValueError(text)


def die() -> dict[str, Any]:
    """Take the process down."""
    os._exit(1)


def piece(*values: float) -> Piece:
    return Piece(f"squares of {values}", squares, lambda: (np.array(values),), {"values": values})


def test_a_piece_is_computed_once(tmp_path: Path) -> None:
    context = Context(tmp_path / "run.db")
    first, second, same = compute([piece(1.0, 2.0), piece(3.0), piece(1.0, 2.0)], context)
    assert first == same
    assert (first["sum"], first["each"], second["sum"]) == (5.0, [1.0, 4.0], 9.0)
    assert np.isnan(first["none"])
    assert np.isnan(first["unknown"])
    never = Piece("squares", squares, lambda: fail("called"), {"values": (1.0, 2.0)})  # type: ignore[arg-type, return-value]
    assert compute([never], context)[0].seconds == first.seconds


def test_json_has_null_for_nan(tmp_path: Path) -> None:
    context = Context(tmp_path / "run.db")
    compute([piece(2.0)], context)
    ((_, content),) = read_parts(context.path).items()
    assert b'"none": null' in content
    assert b"NaN" not in content
    assert f'"version": "{seqclass.__version__}+'.encode() in content


def test_one_that_fails_is_told_and_tried_again(tmp_path: Path) -> None:
    context = Context(tmp_path / "run.db")
    wrong = Piece("wrong", fail, lambda: ("no\nluck",), {"of": 1})
    unmade = Piece("unmade", squares, lambda: fail("no data"), {"of": 2})  # type: ignore[arg-type, return-value]
    found = compute([wrong, piece(1.0), unmade], context)
    assert [result.error for result in found] == ["ValueError: no luck", "", "ValueError: no data"]
    assert np.isnan(found[0]["sum"])
    told: list[tuple[int, int, str]] = []
    context.on_progress = lambda *step: told.append(step)
    compute([wrong, piece(1.0), unmade], context)
    assert told[0] == (1, 3, "")
    assert [step[2] for step in told[1:]] == ["wrong", "unmade"]


@pytest.mark.slow
def test_one_that_takes_its_process_down(tmp_path: Path) -> None:
    context = Context(tmp_path / "run.db", n_jobs=2)
    found = compute([piece(1.0), Piece("dead", die, tuple, {}), piece(2.0)], context)
    assert found[1].error.startswith("BrokenProcessPool: its process was killed")
    assert [found[0]["sum"], found[2]["sum"]] == [1.0, 4.0]


def test_figures_of_another_version_are_kept_with_a_warning(tmp_path: Path) -> None:
    context = Context(tmp_path / "run.db")
    write_part(context.path, piece(1.0).key, PART, Result({"sum": 7.0}, 0.1, version="0.0.1").as_json())
    with pytest.warns(UserWarning, match=r"seqclass 0\.0\.1 and are kept"):
        (found,) = compute([piece(1.0)], context)
    assert found["sum"] == 7.0


#: Computes a table, and is killed in the middle of keeping its third piece.
KILLED = """
import os, signal, sqlite3
from reproduction import reproduce

class Killed(sqlite3.Connection):
    kept = 0

    def execute(self, statement, *values):
        done = super().execute(statement, *values)
        Killed.kept += statement.startswith("INSERT OR REPLACE INTO parts")
        if Killed.kept == 3:
            os.kill(os.getpid(), signal.SIGKILL)
        return done

connect = sqlite3.connect
sqlite3.connect = lambda *where, **how: connect(*where, factory=Killed, **how)
reproduce(["semi_rfs-fig3"], path="run.db", quick=True)
"""


@pytest.mark.slow  # what is killed in the middle of an experiment is tested by default
@pytest.mark.skipif(os.name == "nt", reason="needs SIGKILL")
def test_a_killed_run_goes_on(tmp_path: Path) -> None:
    """What was done is kept as it is, and the figures are those of a run that nobody disturbed."""
    path = tmp_path / "run.db"
    where = os.pathsep.join([str(Path(reproduction.__file__).parents[1]), os.environ.get("PYTHONPATH", "")])
    environment = os.environ | {"PYTHONPATH": where}
    done = subprocess.run([sys.executable, "-c", KILLED], cwd=tmp_path, env=environment, check=False)
    assert done.returncode == -signal.SIGKILL
    before = read_parts(path)
    assert len(before) == 2
    (found,) = reproduce(["semi_rfs-fig3"], path=path, quick=True)
    after = read_parts(path)
    assert len(after) == 10  # two runs of five searches
    assert {key: after[key] for key in before} == before
    (undisturbed,) = reproduce(["semi_rfs-fig3"], quick=True)
    frames = [part.to_frame() for part in (found, undisturbed)]
    untimed = [frame[frame["quantity"] != "seconds to RFS's final error"] for frame in frames]
    assert untimed[0].equals(untimed[1])
