"""``seqclass export``: what it writes, what it refuses."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd


def test_formats(model: str, folder: Path, run: Any) -> None:
    result = run("export", model)
    assert result.exit_code == 0, result.stderr
    assert result.stdout == "Wrote model.html: 4 features.\n"
    assert "<title>the label: maybe, no and yes</title>" in (folder / "model.html").read_text("utf-8")
    result = run("export", model, "--format", "json", "-o", "policy.json")
    assert result.exit_code == 0, result.stderr
    assert json.loads((folder / "policy.json").read_text("utf-8"))["kind"] == "program"
    assert run("export", model, "--format", "c").exit_code == 0
    assert "seq_begin" in (folder / "model.c").read_text("utf-8")


def test_a_graph(folder: Path, run: Any, refuses: Any) -> None:
    # money that is set aside for what has to be asked is in no program
    (folder / "rules.json").write_text('{"mandatory": ["smokes"]}')
    fit = ["fit", "data.csv", "--target", "the label", "--drop", "id", "--method", "adaptive", "-o", "tree.seq"]
    assert run(*fit, "--rules", "rules.json", "--max-cost", "1").exit_code == 0
    assert "--max-nodes 3 nodes less than 99% of cases" in refuses("export", "tree.seq", "--max-nodes", "3")
    assert not (folder / "tree.html").exists()
    result = run("export", "tree.seq", "--min-probability", "0.2", "--title", "A case")
    assert result.exit_code == 0, result.stderr
    assert re.search(r"nodes?\.\nFor about \d+ in \d+ cases it stops asking early", result.stdout)
    assert "<h1>A case</h1>" in (folder / "tree.html").read_text("utf-8")


def test_what_is_fitted_by_default_is_exported(folder: Path, run: Any) -> None:
    """A program of any order, without options, whatever the columns hold."""
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 150)
    cells = {"colour": np.where(rng.random(150) < 0.8, np.where(y, "red", "blue"), "green").astype(object)}
    cells |= {f"test {j}": y + rng.normal(0, 0.7, 150) for j in range(8)}
    data = pd.DataFrame(cells).mask(rng.random((150, 9)) < 0.1).assign(ill=np.where(y, "yes", "no"))
    data.to_csv(folder / "cases.csv", index=False)
    result = run("fit", "cases.csv", "--target", "ill", "-o", "cases.seq")
    assert result.exit_code == 0, result.stderr
    for kind in ("html", "json", "c"):
        result = run("export", "cases.seq", "--format", kind)
        assert result.exit_code == 0, result.stderr
    told = json.loads((folder / "cases.json").read_text("utf-8"))
    assert told["kind"] == "program"


def test_refusals(model: str, refuses: Any) -> None:
    assert "is read" in refuses("export", model, "-o", model)
    assert "there is no file" in refuses("export", "none.seq")
    assert "no folder" in refuses("export", model, "-o", "none/page.html")
    assert "pdf" in refuses("export", model, "--format", "pdf")
    assert "must end in .html, .json or .c, or --format json say" in refuses("export", model, "-o", "page.pdf")
    assert "format is 'json', and 'x.c' ends in .c" in refuses("export", model, "--format", "json", "-o", "x.c")


def test_the_ending_says_the_format(model: str, folder: Path, run: Any) -> None:
    for name, start in (("a.c", "/* What"), ("a.JSON", '{"format"'), ("a.htm", "<!DOCTYPE")):
        assert run("export", model, "-o", name).exit_code == 0
        assert (folder / name).read_text("utf-8").startswith(start)
    assert run("export", model, "--format", "c", "-o", "a.h").exit_code == 0
