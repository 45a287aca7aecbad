"""Input that is wrong in odd ways is told in one short sentence, with exit code 2; what is merely unusual is said."""

from __future__ import annotations

import errno
import gzip
import io
import json
import os
import sys
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click
import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner

import seqclass
from seqclass.bn import NetworkTables
from seqclass.cli import Answering, main

LONG = "a" * 300
FIT = ("fit", "data.csv", "--target", "the label", "--drop", "id")


@pytest.mark.quick
@pytest.mark.parametrize(
    "arguments, message",
    [
        (("predict", "model.seq", "data.csv", "-o", f"{LONG}.csv"), "File name too long"),
        (("predict", "model.seq", f"{LONG}.csv"), "File name too long"),
        (("show", LONG), "File name too long"),
        (("ask", "model.seq", "--save", LONG), "File name too long"),
        (("report", "."), ". is a folder, not a file."),
        ((*FIT, "--price", "1e-320", "-o", "x.seq"), "must be 0 or between 1e-100 and 1e+100"),
        ((*FIT, "--price", "1e300", "-o", "x.seq"), "must be 0 or between 1e-100 and 1e+100"),
        (("compare", "iris", "--price", "1e-320", "-o", "x.db"), "must be 0 or between 1e-100 and 1e+100"),
    ],
    ids=lambda v: v[0] if isinstance(v, tuple) else "",
)
def test_refusals(model: str, refuses: Any, arguments: tuple[str, ...], message: str) -> None:
    told = refuses(*arguments)
    assert message in told
    assert len(told) < 300


@pytest.mark.parametrize("n_bins", [100_000, 99_999_999_999, 10**40])
def test_bins_are_bounded_by_distinct_values(folder: Path, run: Any, n_bins: int) -> None:
    result = run(*FIT, "--n-bins", n_bins, "-o", "x.seq", "--json")
    assert result.exit_code == 0, result.stderr
    content = json.loads(result.stdout)
    distinct = pd.read_csv("data.csv")["age in years"].nunique()
    found = {feature["name"]: len(feature["outcomes"]) for feature in content["features"]}
    assert 32 < found["age in years"] <= distinct


@pytest.mark.parametrize("line", [b"\xff\xfe\n", "\udcff\n"], ids=["strict", "surrogates"])
def test_answers_that_are_no_text(model: str, monkeypatch: pytest.MonkeyPatch, line: Any) -> None:
    if isinstance(line, str):  # what Python makes of such bytes where the locale is C
        monkeypatch.setattr("builtins.input", lambda prompt: line.strip())
    found = CliRunner().invoke(main, ["ask", model], input=line if isinstance(line, bytes) else b"")
    assert found.exit_code == 2
    assert found.stderr.startswith("Error: the answers are not text in UTF-8")
    assert found.stderr.count("\n") == 1


@pytest.mark.parametrize(
    "change",
    [
        *({"lot": lot} for lot in (5, 1e30, -1, True, None, "x", [], {})),
        {"answers": {"ab": 1}},
        {"answers": [["colour", []]]},
        {"answers": [["colour", {"a": 1}]]},
        {"answers": 5},
        {"version": [1]},
    ],
    ids=str,
)
def test_cases_that_are_none(model: str, refuses: Any, change: dict[str, Any]) -> None:
    saved = json.loads(seqclass.load(model).session().to_json()) | change
    Path("case.json").write_text(json.dumps(saved))
    refuses("ask", model, "--resume", "case.json")
    with pytest.raises(ValueError):
        seqclass.load(model).session(json.dumps(saved))


@pytest.mark.parametrize(
    "text", ["[" * 5000, '{"a":' * 5000, '{"lot": Infinity}', '{"lot": 1' + "0" * 5000 + "}", "\x00"]
)
def test_texts_that_are_no_case(model: str, refuses: Any, text: str) -> None:
    saved = seqclass.load(model).session().to_json()
    Path("case.json").write_text(text.replace('{"lot"', saved[:-1] + ', "lot"'))
    assert "not a saved session" in refuses("ask", model, "--resume", "case.json")
    with pytest.raises(ValueError, match="not a saved session"):
        seqclass.load(model).session(Path("case.json").read_text())


@pytest.mark.quick
@pytest.mark.parametrize(
    "column, message",
    [
        (
            np.tile([np.inf, -np.inf, 1.0, 2.0], 10),
            "column 'x' holds infinity in row 1: correct it, or leave it missing.",
        ),
        # infinity, or to pandas 2 a text
        (["1" + "0" * 400, *range(39)], "column 'x' holds "),
        (np.tile([1e308, -1e308, 0.0, 1e-320], 10), ""),
        (np.tile([1.7976931348623157e308, -1.7976931348623157e308], 20), ""),
        (np.tile([2**63 - 1, -(2**63), 0, 5], 10), ""),
    ],
    ids=["both infinities", "too many digits", "large", "largest", "whole"],
)
def test_no_numpy_warning_is_shown(folder: Path, run: Any, column: Any, message: str) -> None:
    frame = pd.DataFrame({"x": column, "z": np.arange(40.0), "y": ["a", "b"] * 20})
    frame.to_csv("odd.csv", index=False)
    for command in (["fit", "odd.csv", "--target", "y", "-o", "odd.seq"], ["predict", "odd.seq", "odd.csv"]):
        result = run(*command)  # in which a warning is an error
        assert result.exit_code == (2 if message else 0), result.stderr
        if message:
            assert result.stderr.startswith(f"Error: odd.csv: {message}")
            assert result.stderr.count("\n") == 1
            return
        # labels are there, and so are scores
        assert result.stderr.startswith("On 40 rows with labels") if command[0] == "predict" else result.stderr == ""


HUGE = "x" * 70_000


@pytest.mark.slow_cells("<lambda>1", "<lambda>2")
@pytest.mark.quick
@pytest.mark.parametrize(
    "damage",
    [
        lambda frame: frame.rename(columns={"the label": HUGE}),
        lambda frame: frame.replace({"colour": {"red": HUGE}}),
        lambda frame: frame.assign(colour=HUGE[:5000] + frame.index.astype(str)),
        lambda frame: frame.replace({"colour": {"red": "5", "green": "6"}}).replace({"colour": {"amber": HUGE}}),
        lambda frame: frame.assign(**{HUGE: 1.0, f"{HUGE}2": 2.0}).rename(columns={"the label": "other"}),
    ],
)
def test_no_message_is_long(model: str, run: Any, patients: pd.DataFrame, damage: Callable[[Any], Any]) -> None:
    damage(patients).to_csv("long.csv", index=False)
    commands = [("predict", model, "long.csv"), ("fit", "long.csv", *FIT[2:], "-o", "x.seq")]
    commands += [("fit", "data.csv", "--target", HUGE, "-o", "x.seq"), ("predict", model, "data.csv", "--keep", HUGE)]
    for command in commands:
        result = run(*command)
        if result.exit_code:
            assert result.exit_code == 2
            assert len(result.stderr) < 1000
            assert result.stderr.count("\n") == 1


class TestUnknownCategories:
    @pytest.fixture
    def new(self, model: str, patients: pd.DataFrame) -> pd.DataFrame:
        changed = patients.copy()
        changed.loc[[3, 50], "colour"] = ["pink", "blue"]
        changed.to_csv("new.csv", index=False)
        return changed

    def test_refused_unless_taken_as_missing(self, model: str, run: Any, refuses: Any, new: pd.DataFrame) -> None:
        assert "column 'colour' holds the unknown category 'pink'; known are" in refuses("predict", model, "new.csv")
        result = run("predict", model, "new.csv", "--unknown", "missing", "-o", "out.csv")
        assert result.exit_code == 0, result.stderr
        assert "2 cells hold a category that training did not show, and counted as missing." in result.stdout
        found = Path("out.csv").read_text()
        new.replace({"colour": {"pink": None, "blue": None}}).to_csv("empty.csv", index=False)
        assert run("predict", model, "empty.csv").stdout == found
        content = json.loads(run("predict", model, "new.csv", "--unknown", "missing", "--json").stdout)
        assert content["n_unknown"] == 2

    def test_explained_and_asked(self, model: str, run: Any, refuses: Any, new: pd.DataFrame) -> None:
        assert "unknown category 'pink'" in refuses("explain", model, "new.csv", "--row", 4)
        assert run("explain", model, "new.csv", "--row", 4, "--unknown", "missing").exit_code == 0
        first = seqclass.load(model).session().next_feature
        assert first.name == "colour"
        assert "holds the unknown category 'pink'" in run("ask", model, answers="pink\n").stdout
        shown = run("ask", model, "--unknown", "missing", "--save", "case.json", answers="pink\n").stdout
        assert "Training did not show 'pink', so it counts as missing." in shown
        assert "2. " in shown
        assert "1 answer" in run("ask", model, "--unknown", "missing", "--resume", "case.json").stdout
        assert "unknown category" in refuses("ask", model, "--resume", "case.json")


class TestNumbersOutsideOfTraining:
    @pytest.fixture
    def ages(self, folder: Path, run: Any) -> str:
        rng = np.random.default_rng(0)
        sick = rng.random(200) < 0.5
        frame = pd.DataFrame({"age": rng.integers(20, 60, 200) + 25 * sick, "sick": sick})
        frame.to_csv("ages.csv", index=False)
        assert run("fit", "ages.csv", "--target", "sick", "-o", "ages.seq").exit_code == 0
        self.low, self.high = frame["age"].min(), frame["age"].max()
        return "ages.seq"

    def test_warned_of(self, ages: str, run: Any) -> None:
        shown = run("ask", ages, answers="-999\n").stdout
        note = f"-999 is outside of what training showed of 'age', {self.low} to {self.high}."
        assert f"  Taken, though {note}" in shown
        assert "Decision: " in shown
        for usual in (self.low, self.high, 50):
            assert "Taken, though" not in run("ask", ages, answers=f"{usual}\n").stdout

    def test_refused_with_strict(self, ages: str, run: Any) -> None:
        result = run("ask", ages, "--strict", answers="-999\n61\n")
        assert "\n  -999 is outside of what training showed" in result.stdout
        assert "(age = 61)" in result.stdout
        stopped = run("ask", ages, "--strict", answers="1e9\n").stdout
        assert "Acquired 0 features" in stopped


def test_warnings_are_one_line(folder: Path, run: Any) -> None:
    Path("prices.csv").write_text("feature,cost,group\ncolour,0.1,lab\nsmokes,0.1,lab\n")
    with warnings.catch_warnings():
        warnings.simplefilter("default")
        result = run(*FIT, "--price", "0.01", "--costs", "prices.csv", "-o", "x.seq")
    assert result.exit_code == 0
    said = "Warning: groups change nothing without discounted_costs: give the prices within a group.\n"
    assert result.stderr == said


def test_a_warning_is_shown_once() -> None:
    @click.command(cls=Answering)
    def say() -> None:
        for text in ("twice", "once", "twice"):
            warnings.warn(f"said {text}", UserWarning, stacklevel=1)

    with warnings.catch_warnings():
        warnings.simplefilter("always")
        assert CliRunner().invoke(say).stderr == "Warning: said twice.\nWarning: said once.\n"


def test_what_the_terminal_cannot_write(folder: Path) -> None:
    pd.DataFrame({"\u03b4": np.arange(40.0), "y": ["a", "b"] * 20}).to_csv("odd.csv", index=False)
    found = CliRunner(charset="latin-1").invoke(
        main, ["fit", "odd.csv", "--target", "y", "--method", "etana", "-o", "odd.seq"]
    )
    assert found.exit_code == 2
    assert found.stderr.startswith("Error: the output holds ")
    assert "latin" in found.stderr
    assert found.stderr.count("\n") == 1


def test_show_tells_how_numbers_are_binned(folder: Path, run: Any) -> None:
    X = np.arange(40.0)[:, None]
    seqclass.SequentialClassifier().fit(X, [0, 1] * 20).save("plain.seq")
    assert "discretizer = None, which is Discretizer()" in run("show", "plain.seq").stdout
    seqclass.etana(n_bins=7).fit(X, [0, 1] * 20).save("seven.seq")
    assert "discretizer = Discretizer(n_bins=7)" in run("show", "seven.seq").stdout


@pytest.mark.parametrize("name", ["fit", "show", "plan", "compare", "output"])
def test_a_name_that_no_file_can_have(model: str, refuses: Any, name: str) -> None:
    arguments = {
        "fit": ("fit", "data\0.csv", "--target", "the label", "-o", "x.seq"),
        "show": ("show", "model\0.seq"),
        "plan": ("plan", "net\0.bif", "--target", "a", "-o", "x.seq"),
        "compare": ("compare", "iris", "-o", "x\0.db"),
        "output": ("predict", model, "data.csv", "-o", "x\0.csv"),
    }[name]
    assert "holds a NUL, which no name of a file can" in refuses(*arguments)


@pytest.mark.parametrize(
    "content, message",
    [
        ("%s", "is nested too deeply for costs"),
        ('{"feature_costs": {"colour": %s}}', "is nested too deeply for costs"),
        ('{"feature_costs": 1, "groups": {"colour": ["a"]}}', "groups must be texts or numbers, but one is ['a']"),
        (
            '{"decision_costs": [[0, 1], [1, 0]], "decisions": "refer"}',
            "decisions must be a list of labels, not 'refer'",
        ),
    ],
)
def test_costs_of_odd_shapes(folder: Path, refuses: Any, content: str, message: str) -> None:
    Path("costs.json").write_text(content.replace("%s", "[" * 20_000 + "]" * 20_000))
    assert f"costs.json{'' if 'deeply' in message else ':'} {message}" in refuses(
        *FIT, "--costs", "costs.json", "-o", "x.seq"
    )


class _Full(io.RawIOBase):
    """Standard output on a full disk."""

    def writable(self) -> bool:
        return True

    def write(self, _: Any) -> int:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    def fileno(self) -> int:
        return os.open(os.devnull, os.O_WRONLY)


@pytest.mark.parametrize("closed", [True, False], ids=["closed", "full"])
def test_standard_output_that_takes_nothing(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], closed: bool
) -> None:
    out = None if closed else io.TextIOWrapper(io.BufferedWriter(_Full(), 1), write_through=True)
    monkeypatch.setattr("sys.stdout", out)
    with pytest.raises(SystemExit) as ended:
        main([*FIT, "--method", "etana", "--held-out", "0", "-o", "x.seq"])
    told = capsys.readouterr().err
    assert ended.value.code == 2
    assert told.startswith(
        f"Error: {'standard output is closed' if closed else 'cannot write to standard output: No sp'}"
    )
    assert Path("x.seq").exists() is not closed  # refused before the work, or whole
    if not closed:
        assert seqclass.load("x.seq").classes_.tolist() == ["maybe", "no", "yes"]


def test_standard_error_that_is_closed(model: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stderr", None)
    with pytest.raises(SystemExit) as ended:
        main(["predict", model, "data.csv", "-o", "decided.csv"])
    sys.stderr.close()  # which goes nowhere
    assert ended.value.code == 0
    assert Path("decided.csv").exists()


def test_a_folder_that_takes_no_files_is_told_before_the_work(
    folder: Path, monkeypatch: pytest.MonkeyPatch, refuses: Any
) -> None:
    monkeypatch.setattr("os.access", lambda path, mode: Path(path) != folder.resolve())
    monkeypatch.setattr("seqclass.cli.fit.read_rows", None)
    told = refuses(*FIT, "-o", "x.seq")
    assert told == "Error: cannot write x.seq: no file may be made in its folder; name a file in another.\n"


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no pipes with names")
def test_a_pipe_is_no_table(folder: Path, model: str, refuses: Any) -> None:
    os.mkfifo("pipe.csv")
    assert "pipe.csv is a pipe or a device" in refuses("predict", model, "pipe.csv")


def test_standard_input_that_is_closed(
    model: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("sys.stdin", None)
    with pytest.raises(SystemExit) as ended:
        main(["ask", model])
    assert ended.value.code == 2
    assert capsys.readouterr().err == "Error: standard input is closed, and that is where answers come from.\n"


#: What a terminal obeys: colours, the title of its window, an alarm, the line anew, and letters from right to left.
OBEYED = "\x1b[31m\x1b]title\x07\r\x9b2J\u202e"


@pytest.fixture
def strange(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """A model whose names and categories a stranger chose, of a network."""
    monkeypatch.chdir(tmp_path)
    plain = OBEYED.replace("\r", "")  # which ends a row of a table
    sick, fever = f"sick{OBEYED}", f"fever{plain}\nCost of each decision"
    tables = [np.array([0.7, 0.3]), np.array([[0.9, 0.2], [0.1, 0.8]])]
    states = [[f"no{OBEYED}", f"yes{OBEYED}"], [f"low{plain}", f"high{plain}"]]
    network = NetworkTables([sick, fever], states, [[], [0]], tables)
    clf = seqclass.SequentialClassifier.from_network(network, sick, feature_costs=0.01, order="given")
    clf.save("strange.seq")
    pd.DataFrame({fever: [states[1][1]]}).to_csv("strange.csv", index=False)
    return "strange.seq"


@pytest.mark.parametrize("command", ["show", "ask", "explain", "predict"])
def test_nothing_that_a_stranger_wrote_commands_the_terminal(
    strange: str, command: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    data = {"explain": ["strange.csv"], "predict": ["strange.csv"]}.get(command, [])
    monkeypatch.setattr("click.testing._NamedTextIOWrapper.isatty", lambda stream: True)  # as on a terminal
    result = CliRunner().invoke(main, [command, strange, *data], input="?\n", color=True)
    assert result.exit_code == 0, result.stderr
    assert not set(result.stdout + result.stderr) & set("\x1b\x07\r\x9b\u202e")
    assert "\\x1b]title\\x07\\r\\x9b2J\\u202e" in result.stdout
    assert "\nCost of each decision  " not in result.stdout  # a name makes no line of a table


def test_a_class_makes_no_line_of_a_sentence(tmp_path: Path, run: Any) -> None:
    names = {"u": "u", "v": "v\nWrote it"}
    pd.DataFrame({"x": [0, 1] * 20, "y": [*names.values()] * 20}).to_csv(tmp_path / "d.csv", index=False)
    given = tmp_path / "d.csv", "-t", "y", "--method", "etana", "--held-out", "0", "-o", tmp_path / "m.seq"
    assert "2 classes (u, v\\nWrote it)" in run("fit", *given).stdout


def test_rows_for_another_program_stay_as_they_are(strange: str) -> None:
    rows = CliRunner().invoke(main, ["predict", strange, "strange.csv"]).stdout_bytes.decode()
    assert f"yes{OBEYED}" in rows


def test_what_python_prints_of_a_case_is_visible_as_well(strange: str) -> None:
    clf = seqclass.load(strange)
    session = clf.session()
    [explanation] = clf.explain(pd.read_csv("strange.csv"))
    for text in (str(session), repr(session), str(explanation)):
        assert "\\x1b]title" in text
        assert not set(text) & set("\x1b\x07\r\x9b\u202e")
        assert "\nCost" not in text  # a line of its own


@pytest.mark.parametrize("packed", [False, True])
def test_a_line_that_is_cut_off_is_refused(folder: Path, run: Any, refuses: Any, packed: bool) -> None:
    """Its last cells counted as missing, as if half an upload were all of it."""
    name, rows = "cut.csv.gz" if packed else "cut.csv", [f"{i % 2},{i / 7},{'ab'[i % 2]}" for i in range(60)]
    text = 'y,flow,"kind,\nof"\n\n' + "\n".join(rows)
    opened: Any = gzip.open if packed else open

    def fit(text: str) -> tuple[str, ...]:
        with opened(name, "wt") as file:
            file.write(text)
        return "fit", name, "--target", "y", "-o", "m.seq", "--method", "etana", "--held-out", "0"

    assert f"{name} is no regular table: expected 3 fields in line 63, saw 2;" in refuses(*fit(text[:-2]))
    assert run(*fit(text[:-1])).exit_code == 0  # the last cell is missing, and the line is whole
    assert run(*fit(text + "\n\n  \n")).exit_code == 0
