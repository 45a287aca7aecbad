"""``seqclass export``: what it writes, what it refuses."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any


def test_formats(model: str, folder: Path, run: Any) -> None:
    result = run("export", model)
    assert result.exit_code == 0, result.stderr
    assert result.stdout == "Wrote model.html: 4 features.\n"
    assert "<title>model</title>" in (folder / "model.html").read_text("utf-8")
    result = run("export", model, "--format", "json", "-o", "policy.json")
    assert result.exit_code == 0, result.stderr
    assert json.loads((folder / "policy.json").read_text("utf-8"))["kind"] == "values"
    assert run("export", model, "--format", "c").exit_code == 0
    assert "seq_begin" in (folder / "model.c").read_text("utf-8")


def test_a_graph(folder: Path, run: Any, refuses: Any) -> None:
    fit = ["fit", "data.csv", "--target", "the label", "--drop", "id", "--order", "adaptive", "-o", "free.seq"]
    assert run(*fit).exit_code == 0
    assert "max_nodes=3 nodes" in refuses("export", "free.seq", "--max-nodes", "3")
    assert not (folder / "free.html").exists()
    result = run("export", "free.seq", "--min-probability", "0.2", "--title", "A case")
    assert result.exit_code == 0, result.stderr
    assert "nodes.\nRare cases are not followed to their end" in result.stdout
    assert "<h1>A case</h1>" in (folder / "free.html").read_text("utf-8")


def test_refusals(model: str, refuses: Any) -> None:
    assert "is read" in refuses("export", model, "-o", model)
    assert "there is no file" in refuses("export", "none.seq")
    assert "no folder" in refuses("export", model, "-o", "none/page.html")
    assert "pdf" in refuses("export", model, "--format", "pdf")
