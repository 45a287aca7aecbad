"""The group: help, lazy loading, exit codes, real processes."""

from __future__ import annotations

import os
import pkgutil
import signal
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path
from typing import Any

import click
import numpy as np
import pytest

import seqclass
from seqclass import SequentialClassifier
from seqclass.adaptive_classifier import EFFORTS
from seqclass.cli import COMMANDS, as_options, fit, main
from seqclass.evaluation.certified import LADDERS, RISKS
from seqclass.export import ENDINGS, MAX_NODES
from seqclass.pomdp import FirstK

#: Without `site`, which may load what has nothing to do with us: only the folders that are searched here.
BARE = os.environ | {"PYTHONPATH": os.pathsep.join(path for path in sys.path if path)}
PYTHON = [sys.executable, "-m", "seqclass"]


def process(*arguments: str, **settings: Any) -> subprocess.CompletedProcess[str]:
    return subprocess.run([*PYTHON, *arguments], capture_output=True, text=True, **settings)


@pytest.mark.quick
def test_help_and_version(run: Any) -> None:
    assert run("--version").output == f"seqclass, version {seqclass.__version__}\n"
    text = run("--help").output
    assert run().output == text
    for name, line in COMMANDS.items():
        assert name in text
        assert line in text
    assert "A wrong decision costs 1, unless you say what decisions cost" in " ".join(text.split())


@pytest.mark.parametrize("name", COMMANDS)
def test_each_command_has_help(run: Any, name: str) -> None:
    command = main.get_command(click.Context(main), name)
    assert isinstance(command, click.Command)
    assert command.name == name
    result = run(name, "--help")
    assert result.exit_code == 0
    assert len(result.output.splitlines()) > 8
    # the line in the list of commands says what the command's own help says first
    assert COMMANDS[name].split()[0] in result.output


def test_help_is_answered_at_once() -> None:
    """No help loads a package beyond click, nor what the command would run."""
    code = (
        "import sys\nfrom seqclass.cli import COMMANDS, main\n"
        "for name in [None, *COMMANDS]:\n"
        "    try: main([name, '--help'] if name else ['--help'])\n"
        "    except SystemExit as end: assert end.code == 0\n"
        "print(*sorted(m for m in sys.modules if m.split('.')[0] not in sys.stdlib_module_names))"
    )
    done = subprocess.run([sys.executable, "-S", "-c", code], capture_output=True, text=True, check=True, env=BARE)
    found = done.stdout.splitlines()[-1].split()
    parts = ("", "._utils", "._utils.files", "._utils.text", ".cli", ".cli._commands", ".cli._errors", ".cli._options")
    ours = {f"seqclass{name}" for name in parts}
    assert {name for name in found if name.split(".")[0] == "seqclass"} == ours
    assert {name.split(".")[0] for name in found} <= {"__main__", "click", "colorama", "seqclass"}


def test_choices_are_those_of_the_library() -> None:
    """The declarations spell them out, as they load nothing."""

    def declared(name: str, option: str) -> click.Parameter:
        command = main.get_command(click.Context(main), name)
        assert command is not None
        return next(parameter for parameter in command.params if parameter.name == option)

    for name, option, choices in (
        ("fit", "method", fit._METHODS),
        ("fit", "effort", EFFORTS),
        ("fit", "select", sorted(fit._SELECTORS)),
        ("certify", "metric", [*RISKS, "differential"]),
        ("certify", "ladder", LADDERS),
        ("export", "kind", dict.fromkeys(ENDINGS.values())),
    ):
        kind = declared(name, option).type
        assert isinstance(kind, click.Choice)
        assert list(kind.choices) == list(choices), (name, option)
    assert declared("export", "max_nodes").default == MAX_NODES
    assert "first 20." in declared("show", "all_features").help


@pytest.mark.quick
def test_wrong_usage(refuses: Any) -> None:
    assert "No such command 'bogus'" in refuses("bogus")
    assert "from a checkout: python -m reproduction --list" in refuses("reproduce", "etana-2")
    assert "--bogus" in refuses("show", "m.seq", "--bogus")
    assert "seqclass fit --help" in refuses("fit", "data.csv").replace("main", "seqclass")
    assert "'1'" in refuses("fit", "data.csv", "--n-bins", "1", "-o", "m.seq")
    assert "--price" in refuses("fit", "data.csv", "--price", "-1", "-o", "m.seq")


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


@pytest.mark.parametrize("other", [ValueError, ImportError])
def test_what_a_library_makes_of_an_interruption_is_one(
    run: Any, monkeypatch: pytest.MonkeyPatch, other: type[Exception]
) -> None:
    def interrupt(path: Path) -> None:
        try:
            signal.raise_signal(signal.SIGTERM)
        except KeyboardInterrupt:
            raise other("reading failed") from None

    monkeypatch.setattr("seqclass.cli.show.load_contract", interrupt)
    before = signal.getsignal(signal.SIGINT), signal.getsignal(signal.SIGTERM)
    result = run("show", "m.seq")
    assert (result.exit_code, result.stderr) == (130, "Interrupted.\n")
    assert (signal.getsignal(signal.SIGINT), signal.getsignal(signal.SIGTERM)) == before


def test_an_interruption_that_a_library_loses_as_it_is_loaded_counts(run: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    def lose(name: str) -> Any:
        with suppress(KeyboardInterrupt):
            signal.raise_signal(signal.SIGTERM)
        return found(name)

    found = pkgutil.resolve_name
    monkeypatch.setattr(pkgutil, "resolve_name", lose)
    assert run("show", "m.seq").exit_code == 130


@pytest.mark.slow
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


@pytest.mark.parametrize("given", [("predict", "m.seq", "-"), ("predict", "m.seq", "data.csv", "-o", "-")])
def test_a_dash_is_no_stream(run: Any, given: tuple[str, ...]) -> None:
    result = run(*given)
    assert result.exit_code == 2
    assert "'-' stands for no stream here: name a file, ./- if it is called so" in result.stderr


def test_a_real_process() -> None:
    done = process("bogus")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("Error: No such command 'bogus'")


def test_can_be_called_from_python(model: str, capsys: pytest.CaptureFixture[str]) -> None:
    main(["show", model], standalone_mode=False)
    assert "3 classes" in capsys.readouterr().out


@pytest.mark.slow
@pytest.mark.skipif(os.name != "posix", reason="pipes break in another way elsewhere")
def test_a_reader_that_goes_away_is_no_failure(model: str) -> None:
    command = [*PYTHON, "show", model]
    reading, writing = os.pipe()
    os.close(reading)
    try:
        done = subprocess.run(command, stdout=writing, stderr=subprocess.PIPE, text=True)
    finally:
        os.close(writing)
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize(
    ("command", "message", "told"),
    [
        ("fit", "held_out needs two rows; give held_out=0.", "--held-out needs two rows; give --held-out 0."),
        ("fit", "take order=\"adaptive\", or missing='ignored'", "take --order adaptive, or --missing ignored"),
        ("fit", "with calibrate=True, not calibrate=False", "with --calibrate, not calibrate=False"),
        ("certify", "say allow_seen=True.", "say --allow-seen."),
        ("certify", 'fit with max_features for ladder="belief"', "fit with max_features for --ladder belief"),
        ("predict", "handle_unknown='missing' (--unknown missing on the command line)", "--unknown missing"),
        ("fit", "handle_unknown='missing' (--unknown missing on the command line)", None),
        ("fit", "beyond chance; see choice_ (--verbose on the command line).", "beyond chance; see --verbose."),
        ("fit", "column 'max_cost' of the user's max_cost=2.csv, \"n_bins=3\", known=[]: a rule of order 3", None),
        ("fit", "--max-cost, data/max_cost and max_cost.csv", None),
        ("show", "held_out=0", None),
    ],
)
def test_settings_of_python_are_told_as_options(command: str, message: str, told: str | None) -> None:
    running = main.get_command(click.Context(main), command)
    assert running is not None
    with click.Context(running):
        assert as_options(message) == (message if told is None else told)


@pytest.mark.slow
def test_what_show_does_not_need_is_not_imported(model: str) -> None:
    """Nor what scikit-learn imports for others, which takes longer than all else."""
    code = (
        "import gc, sys\nfrom seqclass.cli import main\n"
        "try: main(['show', sys.argv[1]])\n"
        "except SystemExit as end: assert end.code == 0\n"
        "assert gc.isenabled() and gc.get_freeze_count() > 50_000\n"  # no garbage is looked for in what is imported
        "print(*sys.modules)"
    )
    command = [sys.executable, "-c", code, model]
    done = subprocess.run(command, capture_output=True, text=True, check=True, env=BARE)
    loaded = set(done.stdout.splitlines()[-1].split())
    assert "sklearn.base" in loaded
    assert not loaded & {"pandas._libs", "scipy.stats._stats_py", "scipy.optimize._linprog", "numpy.f2py.crackfortran"}
    assert not loaded & {"sklearn.feature_selection", "seqclass.selection"}


@pytest.mark.parametrize("epoch", ["abc", "", "9" * 20])
def test_a_day_that_is_none_is_told_of(run: Any, refuses: Any, monkeypatch: pytest.MonkeyPatch, epoch: str) -> None:
    monkeypatch.setenv("SOURCE_DATE_EPOCH", epoch)
    assert f"SOURCE_DATE_EPOCH of the environment must be whole seconds since 1970, got {epoch!r}" in refuses(
        "show", "m"
    )
    assert run("--help").exit_code == 0


@pytest.mark.parametrize("n_features, n_classes", [(20, 12), (21, 13)])
def test_show_names_twenty_features_and_the_costs_of_twelve_classes(
    n_features: int, n_classes: int, tmp_path: Path, run: Any
) -> None:
    y = np.repeat([f"c{i}" for i in range(n_classes)], 4)
    X = np.random.default_rng(0).integers(0, 3, (len(y), n_features))
    SequentialClassifier(solver=FirstK(n_features, certificate_paths=0), order="given").fit(X, y).save(
        tmp_path / "m.seq"
    )
    shown, every = run("show", tmp_path / "m.seq").stdout, run("show", tmp_path / "m.seq", "--all").stdout
    assert ("... and 1 more (--all)" in shown) == (n_features == 21)
    assert ("13 classes by 13 decisions, in --all and --json" in shown) == (n_classes == 13)
    assert "--all" not in every


def test_a_message_of_more_than_600_characters_loses_its_middle(run: Any) -> None:
    rest = len("there is no file .")
    for length in (600, 601):
        name = ("x/" * 300)[: length - rest - 1] + "y"
        told = run("show", name).stderr.strip().removeprefix("Error: ")
        assert (len(told), name in told, "..." in told) == (600, length == 600, length == 601)
