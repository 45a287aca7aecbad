"""What is said of a release in several files is the same in all of them."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import pytest

import seqclass

ROOT = Path(__file__).resolve().parents[1]
pytestmark = pytest.mark.skipif(not (ROOT / "recipe").is_dir(), reason="no recipe beside the tests: not a checkout")


def text(name: str) -> str:
    return (ROOT / name).read_text(encoding="utf-8")


def test_the_version_is_the_same_everywhere() -> None:
    assert re.findall(r"^version: (.+)$", text("CITATION.cff"), re.MULTILINE) == [seqclass.__version__]
    assert re.findall(r'set version = "(.+?)"', text("recipe/meta.yaml")) == [seqclass.__version__]


@pytest.mark.skipif(sys.version_info < (3, 11), reason="tomllib came with Python 3.11")
def test_the_recipe_asks_for_what_the_package_asks_for() -> None:
    import tomllib

    project = tomllib.loads(text("pyproject.toml"))["project"]
    # pomdp-py, which has a marker, is no conda package
    wanted = {re.sub(r"\s", "", line) for line in project["dependencies"] if ";" not in line}
    run = text("recipe/meta.yaml").partition("  run:\n")[2].partition("\n\n")[0]
    found = {re.sub(r"\s", "", line.partition("- ")[2]) for line in run.splitlines()}
    assert found == wanted | {f"python{project['requires-python']}"}


def test_the_versions_of_python_are_those_that_are_tested() -> None:
    told = re.findall(r"Programming Language :: Python :: (3\.\d+)", text("pyproject.toml"))
    tested = re.findall(r"python: \[(.*)\]", text(".github/workflows/test.yml"))
    assert [re.findall(r"3\.\d+", line) for line in tested] == [told]


def test_the_paper_cites_what_its_list_has() -> None:
    cited = set(re.findall(r"@(\w+)", text("paper/paper.md").partition("\n# ")[2]))
    assert cited == set(re.findall(r"^@\w+\{(\w+),", text("paper/paper.bib"), re.MULTILINE))


def test_the_figures_of_the_paper_are_those_of_the_results() -> None:
    rows = re.findall(r"^\| \w+ \|(?: \**0\.\d+\** \|)+$", text("paper/paper.md"), re.MULTILINE)
    assert len(rows) == 9
    assert [row for row in rows if row not in text("docs/results.md").splitlines()] == []


def test_a_container_runs_as_a_user() -> None:
    lines = text("Dockerfile").splitlines()
    assert lines.index("USER seqclass") < lines.index('ENTRYPOINT ["seqclass"]')
