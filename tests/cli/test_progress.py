"""Signs of life: on a terminal only, without --quiet, and not before two seconds."""

from __future__ import annotations

import io
import threading
from pathlib import Path
from queue import Queue
from types import SimpleNamespace
from typing import Any

import click
import pytest
from click.testing import CliRunner

from seqclass._utils.progress import logger, report_progress, tell_share
from seqclass.cli import _cases, _progress
from seqclass.cli._options import quiet_option


class Screen(io.StringIO):
    def isatty(self) -> bool:
        return True


class Clock:
    """Takes the place of waiting: time goes on when a test says so."""

    def __init__(self) -> None:
        self.waited: Queue[float] = Queue()
        self.is_done: Queue[bool] = Queue()

    def wait(self, done: threading.Event, seconds: float) -> bool:
        self.waited.put(seconds)
        return self.is_done.get(timeout=30)

    def tick(self) -> float:
        """Let the wait end that is going on; returns how long it would have been."""
        seconds = self.waited.get(timeout=30)
        self.is_done.put(False)
        return seconds

    def settle(self) -> None:
        """Until the other thread waits again."""
        self.waited.put(self.waited.get(timeout=30))


@pytest.fixture
def screen(monkeypatch: pytest.MonkeyPatch) -> Screen:
    found = Screen()
    monkeypatch.setattr(_progress, "sys", SimpleNamespace(stderr=found))  # pytest has a stderr of its own
    return found


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    found = Clock()
    monkeypatch.setattr(_progress, "_wait", found.wait)
    return found


def test_the_step_is_shown_after_two_seconds(screen: Screen, clock: Clock) -> None:
    level = logger.level
    with _progress.show_progress("fitting"):
        with report_progress("bins"):
            pass
        clock.settle()
        assert screen.getvalue() == ""
        with report_progress("plan"), report_progress("candidate 2 of 3"):
            assert clock.tick() == 2.0
            clock.tick()
            clock.settle()
            assert "fitting: plan: candidate 2 of 3 00:0" in screen.getvalue()
            assert "bins" not in screen.getvalue()
        with report_progress("certificate"):
            clock.tick()
            clock.settle()
            assert "fitting: certificate" in screen.getvalue()
        clock.is_done.put(True)
    assert (logger.level, logger.handlers) == (level, [])
    with report_progress("nothing"):
        pass
    assert "nothing" not in screen.getvalue()


def test_how_much_is_done_and_how_long_the_rest_takes(
    screen: Screen, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = [100.0]
    monkeypatch.setattr(_progress, "_clock", lambda: now[0])
    with _progress.show_progress("fitting"), report_progress("candidate 2 of 3"):
        clock.tick()
        clock.tick()
        clock.settle()
        assert "left" not in screen.getvalue()
        now[0] = 130.0
        tell_share(1, 4)
        for seconds, left in ((130.0, "01:30"), (150.0, "01:10"), (500.0, "00:00")):
            now[0] = seconds
            clock.tick()
            clock.settle()
            line = screen.getvalue().split("\r")[-1].rstrip()
            assert line.lstrip().startswith(f"{left} left 25%|")
            assert line.endswith("fitting: candidate 2 of 3")
        clock.is_done.put(True)


def test_what_is_done_before_is_not_shown(screen: Screen, clock: Clock) -> None:
    with _progress.show_progress("fitting"):
        clock.is_done.put(True)
    assert screen.getvalue() == ""


def test_failures_take_the_line_away(screen: Screen, clock: Clock) -> None:
    @_progress.show_progress("fitting")
    def failing() -> None:
        clock.tick()
        clock.tick()
        clock.settle()
        clock.is_done.put(True)
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        failing()
    assert logger.handlers == []
    assert screen.getvalue().rstrip(" \r").split("\r")[-1].strip() == "fitting 00:02"


@pytest.mark.usefixtures("screen")
def test_pipes_and_quiet_are_silent(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[bool] = []

    @click.command()
    @quiet_option
    def command() -> None:
        seen.append(_progress.is_shown())
        with _progress.show_progress("fitting"):
            seen.append(bool(logger.handlers))

    CliRunner().invoke(command, ["--quiet"], catch_exceptions=False)
    assert seen == [False, False]
    CliRunner().invoke(command, [], catch_exceptions=False)
    assert seen[2:] == [True, True]
    assert list(_progress.progress([1, 2], "deciding")) == [1, 2]
    monkeypatch.setattr(_progress, "sys", SimpleNamespace(stderr=io.StringIO()))
    assert not _progress.is_shown()


@pytest.mark.parametrize("name", ["fit", "plan", "demo", "predict", "evaluate", "explain", "certify", "compare"])
def test_commands_that_take_long_may_be_quiet(name: str, run: Any) -> None:
    assert "--quiet" in run(name, "--help").stdout


@pytest.mark.slow
def test_parts_make_one_table(model: str, run: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, most in (("whole", 1000), ("parts", 7)):
        monkeypatch.setattr(_cases, "usual_rows", lambda _, most=most: most)
        run("predict", model, "data.csv", "-o", f"{name}.csv")
    assert Path("parts.csv").read_text("utf-8") == Path("whole.csv").read_text("utf-8")
