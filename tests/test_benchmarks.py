"""The benchmark scripts run, and write what they promise."""

from __future__ import annotations

import json
import math
import os
import subprocess
import sys
from pathlib import Path

import pytest

BENCHMARKS = Path(__file__).resolve().parents[1] / "benchmarks"
SCRIPTS = sorted(file.name for file in BENCHMARKS.glob("*.py") if not file.name.startswith("_"))
#: Scripts whose rows stand by themselves, or beside figures that are quoted rather than measured.
PEERLESS = {"growth.py", "real_data.py", "ifc2f.py", "selection_stage.py"}
#: Scripts whose rows are costs as much as seconds, and that leave memory out.
MEMORYLESS = {"growth.py", "imports.py", "real_data.py", "f_etana.py", "ifc2f.py", "selection_stage.py"}
KEYS = ["name", "ours_s", "peer", "peer_s", "ratio", "peak_mb"]
#: Those of several seconds even so, which the default suite would be too long with.
LONG = {"frontier.py", "predict.py", "semi_rfs.py", "tree.py"}


@pytest.mark.skipif(not BENCHMARKS.is_dir(), reason="the benchmark scripts are not part of this installation")
@pytest.mark.parametrize("script", [pytest.param(s, marks=pytest.mark.slow if s in LONG else ()) for s in SCRIPTS])
def test_a_quick_run_writes_its_rows(script: str, tmp_path: Path) -> None:
    if script == "pomdp_py_peers.py":
        pytest.importorskip("pomdp_py")
    target = tmp_path / "rows.json"
    command = [sys.executable, "-W", "error", str(BENCHMARKS / script), "--quick", "--json", str(target)]
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    run = subprocess.run(command, capture_output=True, text=True, env=environment)
    assert run.returncode == 0, run.stderr
    rows = json.loads(target.read_text())
    assert rows
    for row in rows:
        assert list(row)[: len(KEYS)] == KEYS
        assert row["name"].strip()
        assert row["name"].split(",")[0] in run.stdout
        assert math.isfinite(row["ours_s"])
        assert row["ours_s"] > 0
        assert (row["peer"] is None) == (row["peer_s"] is None) == (row["ratio"] is None)
        if row["peer"] is not None:
            assert row["ratio"] == pytest.approx(row["peer_s"] / row["ours_s"])
        assert row["peak_mb"] is None or row["peak_mb"] > 0
    assert script in PEERLESS or any(row["peer"] for row in rows)
    assert script in MEMORYLESS or any(row["peak_mb"] for row in rows)
