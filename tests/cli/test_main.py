"""The group: help, lazy loading, exit codes, real processes."""

from __future__ import annotations

import os
import pkgutil
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import click
import pytest

import seqclass
from seqclass.cli import COMMANDS, main

PYTHON = [sys.executable, "-m", "seqclass"]


def process(*arguments: str, **settings: Any) -> subprocess.CompletedProcess[str]:
    return subprocess.run([*PYTHON, *arguments], capture_output=True, text=True, **settings)


@pytest.mark.quick
def test_help_and_version(run: Any) -> None:
    assert run("--version").output == f"seqclass, version {seqclass.__version__}\n"
    text = run("--help").output
    assert run().output == text
    for name, (_, line) in COMMANDS.items():
        assert name in text
        assert line in text
    assert "units of misclassification cost" in " ".join(text.split())


@pytest.mark.parametrize("name", COMMANDS)
def test_each_command_has_help(run: Any, name: str) -> None:
    command = pkgutil.resolve_name(COMMANDS[name][0])
    assert isinstance(command, click.Command)
    assert command.name == name
    result = run(name, "--help")
    assert result.exit_code == 0
    assert len(result.output.splitlines()) > 8
    # the line in the list of commands says what the command's own help says first
    assert COMMANDS[name][1].split()[0] in result.output


def test_help_loads_no_command() -> None:
    code = (
        "import sys, seqclass; before = set(sys.modules)\n"
        "from seqclass.cli import main\n"
        "try: main(['--help'])\n"
        "except SystemExit: pass\n"
        "new = set(sys.modules) - before\n"
        "print(*sorted(m for m in new if m.startswith(('seqclass.cli.', 'sklearn', 'pandas', 'matplotlib', 'tqdm'))))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "seqclass.cli._errors"


@pytest.mark.quick
def test_wrong_usage(refuses: Any) -> None:
    assert "No such command 'bogus'" in refuses("bogus")
    assert "--bogus" in refuses("show", "m.seq", "--bogus")
    assert "seqclass fit --help" in refuses("fit", "data.csv").replace("main", "seqclass")
    assert "'1'" in refuses("fit", "data.csv", "--n-bins", "1", "-o", "m.seq")
    assert "--feature-cost" in refuses("fit", "data.csv", "--feature-cost", "-1", "-o", "m.seq")


def test_a_fault_of_ours_is_exit_code_1(run: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(path: Path) -> None:
        raise KeyError("surprise")

    monkeypatch.setattr("seqclass.cli.show.load_contract", fail)
    result = run("show", "m.seq")
    assert result.exit_code == 1
    assert result.stderr.startswith("Error: this is a fault of seqclass (KeyError: 'surprise'")
    monkeypatch.setenv("SEQCLASS_DEBUG", "1")
    assert isinstance(run("show", "m.seq").exception, KeyError)


def test_interrupted(run: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupt(path: Path) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("seqclass.cli.show.load_contract", interrupt)
    assert run("show", "m.seq").exit_code == 130


@pytest.mark.skipif(os.name != "posix", reason="signals as POSIX has them")
def test_ctrl_c_in_a_real_process(model: str) -> None:
    with subprocess.Popen(
        [*PYTHON, "ask", model],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=os.environ | {"PYTHONUNBUFFERED": "1"},
        # a test run in the background may have inherited that Ctrl-C is ignored
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
    ) as running:
        assert running.stdout is not None
        assert "Answer with" in running.stdout.readline()
        time.sleep(0.2)
        running.send_signal(signal.SIGINT)
        assert running.wait() == 130
        assert running.stderr is not None
        assert "Traceback" not in running.stderr.read()


def test_a_real_process() -> None:
    done = process("show", "nothing.seq")
    assert (done.returncode, done.stdout, done.stderr) == (2, "", "Error: there is no file nothing.seq.\n")


def test_can_be_called_from_python(model: str, capsys: pytest.CaptureFixture[str]) -> None:
    main(["show", model], standalone_mode=False)
    assert "3 classes" in capsys.readouterr().out


@pytest.mark.skipif(os.name != "posix", reason="pipes break in another way elsewhere")
def test_a_reader_that_goes_away_is_no_failure(tmp_path: Path) -> None:
    command = [*PYTHON, "compare", "iris", "-m", "etana", "--folds", "2", "-o", str(tmp_path / "run.db")]
    reading, writing = os.pipe()
    os.close(reading)
    try:
        done = subprocess.run(command, stdout=writing, stderr=subprocess.PIPE, text=True)
    finally:
        os.close(writing)
    assert (done.returncode, done.stderr) == (0, "")
