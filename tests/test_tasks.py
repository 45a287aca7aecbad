"""The page of tasks keeps its promise, and that of experiments: each is a few lines."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

DOCS = Path(__file__).resolve().parents[1] / "docs"
pytestmark = pytest.mark.skipif(not DOCS.is_dir(), reason="no docs beside the tests: not a checkout")
#: Most lines of each task, printing included.
LINES = {1: 2, 2: 2, 3: 2, 4: 2, 5: 2, 6: 3, 7: 1, 8: 4, 9: 1, 10: 4, 11: 2}


def read(page: str) -> str:
    return (DOCS / page).read_text("utf-8")


@pytest.mark.parametrize("number", LINES)
def test_a_task_takes_few_lines(number: int) -> None:
    section = re.search(rf"^## {number}\. .*?(?=^## |\Z)", read("tasks.md"), re.MULTILINE | re.DOTALL)
    assert section is not None
    block = re.search(r"```python\n(.*?)```", section[0], re.DOTALL)
    assert block is not None
    assert 0 < sum(bool(line.strip()) for line in block[1].splitlines()) <= LINES[number]


def test_a_table_with_intervals_takes_one_line() -> None:
    section = read("tasks.md").partition("## 11. ")[2]
    _, block = re.findall(r"```python\n(.*?)```", section, re.DOTALL)
    assert block.splitlines() == ['print(results.table("realised_cost"))']


def test_a_study_for_a_paper_takes_twelve_lines() -> None:
    block = re.search(r"```python\n(.*?)```", read("experiments.md").partition("## A table and a figure")[2], re.DOTALL)
    assert block is not None
    assert 0 < sum(bool(line.strip()) for line in block[1].splitlines()) <= 12
