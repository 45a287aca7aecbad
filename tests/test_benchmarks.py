"""The benchmark scripts run, and write what they promise."""

from __future__ import annotations

import importlib
import json
import math
import os
import re
import runpy
import subprocess
import sys
import warnings
from pathlib import Path
from typing import Any

import pytest

BENCHMARKS = Path(__file__).resolve().parents[1] / "benchmarks"
#: Scripts that count rather than measure.
COUNTING = {"lines.py", "number_mutations.py"}
SCRIPTS = sorted({file.name for file in BENCHMARKS.glob("[!_]*.py")} - COUNTING)
#: Scripts whose rows stand by themselves, or beside figures that are quoted rather than measured.
PEERLESS = {
    "ability.py",
    "adaptive_fit.py",
    "adaptive_real.py",
    "all_orders.py",
    "certified_error.py",
    "chosen.py",
    "cost_trees.py",
    "deep_peers.py",
    "drift.py",
    "early.py",
    "exponents.py",
    "growth.py",
    "hard_budgets.py",
    "items.py",
    "interviews.py",
    "known.py",
    "learned_cubes.py",
    "missing.py",
    "networks.py",
    "offpolicy.py",
    "outer.py",
    "real_data.py",
    "real_values.py",
    "ifc2f.py",
    "selection_stage.py",
    "small_sets.py",
}
#: Scripts whose rows are costs as much as seconds, and that leave memory out.
MEMORYLESS = {
    "ability.py",
    "visits.py",
    "adaptive_real.py",
    "all_orders.py",
    "calibration.py",
    "certified_error.py",
    "chosen.py",
    "cost_trees.py",
    "deep_peers.py",
    "drift.py",
    "early.py",
    "exponents.py",
    "growth.py",
    "hard_budgets.py",
    "held_out.py",
    "imports.py",
    "items.py",
    "interviews.py",
    "known.py",
    "learned_cubes.py",
    "missing.py",
    "offpolicy.py",
    "outer.py",
    "real_data.py",
    "real_values.py",
    "f_etana.py",
    "ifc2f.py",
    "selection_stage.py",
    "service.py",
    "small_sets.py",
    "speed.py",
}
#: Scripts beside figures that are with the real data.
GOLDEN = {"cost_trees.py", "hard_budgets.py"}
KEYS = ["name", "ours_s", "peer", "peer_s", "ratio", "peak_mb"]
#: Those of several seconds even so, which the default suite would be too long with.
LONG = {
    *("networks.py", "rough_sets.py", "drift.py", "known.py", "chosen.py", "hard_budgets.py", "real_data.py"),
    "ability.py",
    "speed.py",
    "all_orders.py",
    "visits.py",
    "any_size.py",
    "adaptive.py",
    "adaptive_fit.py",
    "adaptive_real.py",
    "f_etana.py",
    "calibration.py",
    "deep_peers.py",
    "early.py",
    "export.py",
    "fires.py",
    "fit.py",
    "free.py",
    "frontier.py",
    "exponents.py",
    "growth.py",
    "held_out.py",
    "ifc2f.py",
    "imports.py",
    "information.py",
    "interviews.py",
    "items.py",
    "learned_cubes.py",
    "missing.py",
    "mixture.py",
    "offpolicy.py",
    "outer.py",
    "pomdp_py_peers.py",
    "predict.py",
    "real_values.py",
    "saola.py",
    "scaling.py",
    "selection_stage.py",
    "semi_rfs.py",
    "service.py",
    "small_sets.py",
    "solvers.py",
    "tree.py",
    "tree_scale.py",
}


@pytest.mark.slow_cells("certified_error.py")
@pytest.mark.skipif(not BENCHMARKS.is_dir(), reason="the benchmark scripts are not part of this installation")
@pytest.mark.parametrize("script", [pytest.param(s, marks=pytest.mark.slow if s in LONG else ()) for s in SCRIPTS])
def test_a_quick_run_writes_its_rows(
    script: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    request: pytest.FixtureRequest,
    loose_mixtures: None,
) -> None:
    if script == "pomdp_py_peers.py":
        pytest.importorskip("pomdp_py")
    if script == "service.py":
        pytest.importorskip("uvicorn", reason="no uvicorn: the extra `serve` has it")
    if script in GOLDEN:
        folder = request.getfixturevalue("data_dir")
        if not (folder.parent / "golden").is_dir():
            pytest.skip(f"no quoted figures: {folder.parent / 'golden'} is absent")
    target = tmp_path / "rows.json"
    monkeypatch.setattr(sys, "argv", [script, "--quick", "--json", str(target)])
    monkeypatch.syspath_prepend(str(BENCHMARKS))
    monkeypatch.chdir(tmp_path)
    with warnings.catch_warnings():
        # threads are the test runner's, and peak memory is measured in a forked child
        warnings.filterwarnings("ignore", "This process .* is multi-threaded", DeprecationWarning)
        runpy.run_path(str(BENCHMARKS / script), run_name="__main__")
    printed = capsys.readouterr().out
    rows = json.loads(target.read_text())
    assert rows
    for row in rows:
        assert list(row)[: len(KEYS)] == KEYS
        assert row["name"].strip()
        assert row["name"].split(",")[0] in printed
        assert math.isfinite(row["ours_s"])
        assert row["ours_s"] > 0
        assert (row["peer"] is None) == (row["peer_s"] is None) == (row["ratio"] is None)
        if row["peer"] is not None:
            assert row["ratio"] == pytest.approx(row["peer_s"] / row["ours_s"])
        assert row["peak_mb"] is None or row["peak_mb"] > 0
    assert script in PEERLESS or any(row["peer"] for row in rows)
    assert script in MEMORYLESS or any(row["peak_mb"] for row in rows)


@pytest.mark.skipif(not BENCHMARKS.is_dir(), reason="the benchmark scripts are not part of this installation")
def test_lines_of_code_are_counted_by_folder(tmp_path: Path) -> None:
    (tmp_path / "package" / "bn").mkdir(parents=True)
    text = '"""Two lines\nof a docstring."""\n\nx = [\n    1,\n]  # three lines\n# a comment\n'
    for name in ("a.py", "bn/b.py", "bn/c.py"):
        (tmp_path / "package" / name).write_text(text)
    command = [sys.executable, str(BENCHMARKS / "lines.py"), str(tmp_path / "package"), "--json", str(tmp_path / "n")]
    shown = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    assert json.loads((tmp_path / "n").read_text()) == {".": {"now": 3}, "bn": {"now": 6}, "all": {"now": 9}}
    assert shown.split() == ["now", ".", "3", "bn", "6", "all", "9"]


ROOT = BENCHMARKS.parent
PAGE = ROOT / "docs" / "results.md"
CHECKOUT = pytest.mark.skipif(not PAGE.is_file(), reason="not a checkout")


@pytest.fixture
def real_data(monkeypatch: pytest.MonkeyPatch) -> Any:
    """The script that makes the table of results."""
    monkeypatch.syspath_prepend(str(BENCHMARKS))
    return importlib.import_module("real_data")


def shown(page: Path, script: Any) -> str:
    """The table that a page shows."""
    text = page.read_text(encoding="utf-8")
    return text.partition(script.BEGIN)[2].partition(script.END)[0].strip()


@CHECKOUT
def test_the_documentation_shows_the_table_of_results(real_data: Any) -> None:
    table = shown(PAGE, real_data)
    rows = [line.split(" | ")[0].removeprefix("| ") for line in table.splitlines()[2:]]
    assert rows == list(real_data.TITLES.values())
    page = PAGE.read_text(encoding="utf-8")
    assert real_data.with_table(page, table) == page  # what `--write` would leave of it


#: Sets that need no data.
AT_HAND = ("breast_cancer", "digits")
ALL_SETS = ["mll 5-fold", "mll split", "colon_disc", "madelon", "spambase", *AT_HAND, "lung2_desouto1543"]


@CHECKOUT
@pytest.mark.filterwarnings("ignore:column.* lies so far from all other values:UserWarning")
@pytest.mark.slow
@pytest.mark.parametrize("name", ALL_SETS)
def test_a_row_of_results_is_what_the_calls_give(real_data: Any, name: str, request: pytest.FixtureRequest) -> None:
    real = importlib.import_module("_real")
    folder = None if name in AT_HAND else request.getfixturevalue("data_dir")
    data = real.load(name, folder)
    if data is None:
        pytest.skip(f"no real data: {name} is not among them")
    calls = ("etana(0.01)", "ifc2f(0.01)")
    made = real_data.table({name: {call: real.run(real_data.OURS[call], *data) for call in calls}}).splitlines()[-1]
    (row,) = [line for line in shown(PAGE, real_data).splitlines() if line.startswith(made.split(" / ")[0][:20])]
    found, expected = (re.split(r"(\d+\.\d+)", line) for line in (made, row))
    assert found[::2] == expected[::2]
    # other versions of the libraries may differ in a rounding, and with it in a tie
    close = [pytest.approx(float(number), rel=0.05, abs=0.006) for number in expected[1::2]]
    assert [float(number) for number in found[1::2]] == close


@pytest.fixture
def together(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Any:
    """The command that runs all scripts, on a folder of small ones."""
    monkeypatch.syspath_prepend(str(ROOT))
    command = importlib.import_module("benchmarks.__main__")
    write = "import json, sys\nrows = {}\nopen(sys.argv[sys.argv.index('--json') + 1], 'w').write(json.dumps(rows))\n"
    row = '{{"name": "a|b", "ours_s": 2.0, "peer": {}, "peer_s": 1.0, "ratio": {}, "peak_mb": None}}'
    scripts = {
        "_helper": "",
        "lines": "",
        "alone": write.format(f"[{row.format('None', 'None')}]"),
        "beside": "print('left out: madelon: no such file')\n" + write.format(f"[{row.format(repr('peer'), 0.5)}]"),
        "broken": "raise ValueError('this one breaks')",
        "endless": "import time\ntime.sleep(3600)",
        "mute": "",
        "odd": write.format("{'a': 1}"),
        "short": write.format("[{'name': 'a', 'ours_s': 1.0, 'ratio': None}]"),
        "peerless": "print('left out: everything: river is not installed')",
    }
    for name, text in scripts.items():
        (tmp_path / f"{name}.py").write_text(text)
    monkeypatch.setattr(command, "HERE", tmp_path)
    monkeypatch.chdir(tmp_path)
    return command


@CHECKOUT
def test_all_benchmarks_are_listed_by_the_command() -> None:
    command = [sys.executable, "-W", "error", "-m", "benchmarks", "--list"]
    listed = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    assert [f"{name}.py" for name in listed.split()] == SCRIPTS


def ran_one(result: dict[str, Any], page: str, name: str) -> None:
    """A quick run of one script that writes its rows by what the scripts share."""
    assert result["mode"] == "quick"
    packages = ["python", "seqclass", "numpy", "scipy", "scikit-learn", "pgmpy", "pomdp-py"]
    assert list(result["versions"]) == packages
    assert result["versions"]["numpy"] == importlib.import_module("numpy").__version__
    assert result["cpu_count"] == os.cpu_count()
    assert [told["status"] for told in result["scripts"]] == ["done"]
    assert result["rows"]
    for row in result["rows"]:
        assert list(row)[: 1 + len(KEYS)] == ["benchmark", *KEYS]
        assert row["benchmark"] == name
    assert f"| {name} | done |" in page


@CHECKOUT
def test_the_command_runs_a_script_that_writes_rows_by_what_all_share(together: Any, tmp_path: Path) -> None:
    shared = "from _common import measure, parser, report\n"
    rows = "report([measure('nothing', int, memory=False)], parser('').parse_args().json)\n"
    (tmp_path / "small.py").write_text(shared + rows)
    (tmp_path / "_common.py").write_text((BENCHMARKS / "_common.py").read_text(encoding="utf-8"), encoding="utf-8")
    assert together.main(["--only", "small", "--json", "all.json", "--page", "all.md"]) == 0
    ran_one(json.loads(Path("all.json").read_text()), Path("all.md").read_text(), "small")


@CHECKOUT
@pytest.mark.slow
def test_the_command_runs_a_script_of_ours(tmp_path: Path) -> None:
    files = tmp_path / "all.json", tmp_path / "all.md"
    command = [sys.executable, "-W", "error", "-m", "benchmarks", "--only", "networks"]
    command += ["--json", str(files[0]), "--page", str(files[1])]
    run = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert run.returncode == 0, run.stderr
    ran_one(json.loads(files[0].read_text()), files[1].read_text(), "networks")


@pytest.mark.slow
@CHECKOUT
def test_what_fails_loses_no_others_figures(together: Any, capsys: pytest.CaptureFixture[str]) -> None:
    assert together.main(["--only", "broken", "peerless", "mute", "odd", "short", "beside", "alone"]) == 1
    result = json.loads(Path("benchmarks.json").read_text())
    told = {script["name"]: (script["status"], script["reason"]) for script in result["scripts"]}
    assert told == {
        "broken": ("failed", "ValueError: this one breaks"),
        "peerless": ("skipped", "everything: river is not installed"),
        "mute": ("failed", "it wrote no rows, and did not say what it left out"),
        "odd": ("failed", "its JSON is no list of rows"),
        "short": ("failed", "its rows lack peer, peer_s, peak_mb"),
        "beside": ("done", None),
        "alone": ("done", None),
    }
    assert [row["benchmark"] for row in result["rows"]] == ["alone", "beside"]
    page = Path("benchmarks.md").read_text()
    assert "| beside | a\\|b | peer | 2 | 1 | **0.5** | - |" in page
    assert "seqclass is slower in 1 of the 1 rows with a peer; 1 rows have no peer, and are not shown." in page
    assert "madelon: no such file" in page
    assert "These benchmarks were not part of the run: endless." in page
    printed = capsys.readouterr()
    assert "Without figures: broken, mute, odd, short." in printed.out
    assert "this one breaks" in printed.err


@pytest.mark.slow
@CHECKOUT
def test_a_run_goes_on_where_it_ended(together: Any, tmp_path: Path) -> None:
    assert together.main(["--only", "beside", "broken"]) == 1
    (tmp_path / "broken.py").write_text((tmp_path / "alone.py").read_text())
    (tmp_path / "beside.py").write_text("raise ValueError('not again')")
    assert together.main(["--resume", "--only", "alone", "beside", "broken"]) == 0
    result = json.loads(Path("benchmarks.json").read_text())
    assert [told["name"] for told in result["scripts"]] == ["alone", "beside", "broken"]
    assert [row["benchmark"] for row in result["rows"]] == ["alone", "beside", "broken"]
    assert not {"alone", "beside", "broken"} & set(result["not_asked"])
    before = Path("benchmarks.json").read_bytes()
    with pytest.raises(SystemExit, match="another run: mode differ"):
        together.main(["--resume", "--full", "--only", "alone"])
    assert Path("benchmarks.json").read_bytes() == before
    assert together.main(["--only", "alone"]) == 0
    assert len(json.loads(Path("benchmarks.json").read_text())["scripts"]) == 1


@pytest.mark.slow
@CHECKOUT
def test_a_script_that_takes_too_long_is_ended(together: Any) -> None:
    assert together.main(["--limit", "0.5", "--only", "endless"]) == 1
    (told,) = json.loads(Path("benchmarks.json").read_text())["scripts"]
    assert (told["status"], told["reason"]) == ("too long", "it did not end within 0.5 s")


@CHECKOUT
def test_skipped_scripts_are_no_failure_and_data_are_named(together: Any, tmp_path: Path) -> None:
    (tmp_path / "mute.py").write_text("import os\nprint('left out: all of ' + os.environ['SEQCLASS_DATA'] + ': none')")
    assert together.main(["--data", str(tmp_path), "--only", "peerless", "mute"]) == 0
    mute, _ = json.loads(Path("benchmarks.json").read_text())["scripts"]
    assert mute["left_out"] == [f"all of {tmp_path}: none"]


@CHECKOUT
@pytest.mark.parametrize(
    "arguments, said",
    [
        (["--only", "lines"], "invalid choice: 'lines'"),
        (["--json", "no/a.json"], "--json: there is no folder"),
        (["--data", "no"], "--data: there is no folder"),
        (["--limit", "0"], "must be above 0"),
    ],
)
def test_bad_settings_are_told_before_anything_runs(
    together: Any, arguments: list[str], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit):
        together.main(arguments)
    assert said in capsys.readouterr().err
    assert not Path("benchmarks.json").exists()


@CHECKOUT
def test_a_peer_that_is_absent_ends_a_script_with_a_reason(together: Any, capsys: pytest.CaptureFixture[str]) -> None:
    common = importlib.import_module("benchmarks._common")
    assert common.needed("json") is json
    with pytest.raises(SystemExit) as ended:
        common.needed("no_such_peer")
    assert not ended.value.code
    assert capsys.readouterr().out == "left out: everything: no_such_peer is not installed\n"
