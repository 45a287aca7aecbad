"""A folder to work in, and a way to run ``python -m reproduction``."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The current directory, with a file in it."""
    monkeypatch.chdir(tmp_path)
    Path("data.csv").touch()
    return tmp_path


@pytest.fixture
def run() -> Callable[..., Result]:
    """Run the command with arguments; what goes to stderr is in ``stderr``."""
    from reproduction.__main__ import main

    def invoke(*arguments: Any) -> Result:
        return CliRunner().invoke(main, [str(argument) for argument in arguments])

    return invoke
