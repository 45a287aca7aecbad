"""Results as data: what each method costs on each fold, and what each row of it paid and whether it was an error."""

from __future__ import annotations

import csv
import hashlib
import subprocess
import sys
import time
import traceback
from collections.abc import Callable, Iterable, Sequence
from functools import cache
from importlib import metadata
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

import seqclass
from benchmarks.suite.cases import Answered, answered
from benchmarks.suite.sets import Set

FILE = Path(__file__).with_name("results.csv")
KEY = ["set", "fold", "price", "method"]
#: `rows` is what each test row paid, in prices where all are the same, followed by ! where its decision was wrong.
COLUMNS = [*KEY, "cost", "features", "seconds", "version", "rows"]
#: What a peer is made of, where that is not this package.
PACKAGES = {"STreeD": "pystreed", "LightGBM, penalties": "lightgbm"} | dict.fromkeys(
    (
        *("decision tree", "L1 logistic", "forward selection", "boosting on k best", "cascade"),
        *("naive Bayes, one order", "deciding at once"),
    ),
    "scikit-learn",
)


def read(file: Path = FILE) -> pd.DataFrame:
    """All lines of a file of results; none of one that is absent."""
    if not file.exists():
        return pd.DataFrame(columns=COLUMNS)
    return pd.read_csv(file, dtype={"price": str, "rows": str})


def losses(line: Any) -> np.ndarray:
    """What each test row of a line costs: what it paid, and 1 for an error."""
    cells = str(line["rows"]).split()
    paid = np.array([float(cell.rstrip("!")) for cell in cells])
    wrong = np.array([cell.endswith("!") for cell in cells])
    return paid * _unit(line["price"]) + wrong


def _unit(price: str) -> float:
    """What the numbers of a line's rows are multiplied by."""
    if price.endswith(" features"):
        return 0.0
    return 1.0 if price == "tests" else float(price)


def line_of(where: tuple[str, int, str, str], answers: Answered, seconds: float, version: str) -> dict[str, Any]:
    """A line of the file."""
    paid = [f"{one:.6g}" for one in answers.paid] if where[2] == "tests" else map(str, answers.count)
    rows = " ".join(
        f"{one}{'!' if wrong else ''}" for one, wrong in zip(paid, answers.cost - answers.paid > 0.5, strict=True)
    )
    cost, features = f"{answers.cost.mean():.6f}", f"{answers.count.mean():.4f}"
    return dict(zip(COLUMNS, [*where, cost, features, f"{seconds:.2f}", version, rows], strict=True))


def append(lines: Iterable[dict[str, Any]], file: Path = FILE) -> None:
    """Write lines at the end of a file, which is made if there is none."""
    new = not file.exists()
    with file.open("a", encoding="utf-8", newline="") as stream:
        writer = csv.DictWriter(stream, COLUMNS, lineterminator="\n")
        if new:
            writer.writeheader()
        writer.writerows(lines)


@cache
def version_of(method: str) -> str:
    """What a method was run with."""
    if package := PACKAGES.get(method):
        return f"{package} {metadata.version(package)}"
    command = ["git", "-C", str(FILE.parent), "rev-parse", "--short", "HEAD"]
    try:
        commit = subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()
    except (OSError, subprocess.CalledProcessError):  # not a checkout
        commit = ""
    return f"seqclass {seqclass.__version__} {commit}".strip()


class Source(NamedTuple):
    """The file of a method; and its name and hash, so that figures of other code are not taken for its own."""

    path: Path
    version: str

    @classmethod
    def of(cls, path: Path) -> Source:
        return cls(path, f"{path.name} {hashlib.sha256(path.read_bytes()).hexdigest()[:12]}")


def run_fold(
    name: str, make: Callable[[], Any], data: Set, fold: int, settings: Sequence[str], parts: Any, version: str
) -> list[dict[str, Any]]:
    """Lines of a method on a fold, at some prices; its seconds of CPU are their mean, as fits may be shared."""
    train, test = parts
    method, answers = make(), []
    given = getattr(method, "as_given", False)
    learned, decided = (train.given, test.given) if given else (train.numbers, test.numbers)
    began = time.process_time()
    for setting in settings:
        prices, budget = data.prices(setting)
        if hasattr(method, "budget"):
            method.budget = budget
        method.fit(learned.copy(), train.y.copy(), prices.copy())  # which it may change
        answers.append(answered(method, decided, test.y, prices, test.missing, budget, int(data.y.max()) + 1))
    seconds = (time.process_time() - began) / max(len(settings), 1)
    return [
        line_of((data.name, fold, setting, name), each, seconds, version) for setting, each in zip(settings, answers)
    ]


def said(error: Exception, file: Path | None) -> str:
    """An error, and which line of the file of a method it comes from."""
    frames = traceback.extract_tb(error.__traceback__)
    lines = [frame.lineno for frame in frames if file and Path(frame.filename).resolve() == file.resolve()]
    at = f" ({file.name}, line {lines[-1]})" if file and lines else ""
    return f"{type(error).__name__}: {error}{at}"


class Recorded(NamedTuple):
    """How many lines were written and were there before, and the sets and folds on which a method failed."""

    written: int
    there: int
    failed: list[tuple[str, int]]


def record(
    methods: dict[str, Callable[[], Any]],
    sets: Iterable[Set],
    folds: Sequence[int],
    settings: Sequence[str],
    file: Path = FILE,
    source: Source | None = None,
) -> Recorded:
    """Run what a file lacks, and append it fold by fold; what fails is said, and left out.

    Lines of a method that has a file of its own, ``source``, count as long as that is the same.
    """
    before = read(file)
    if source is not None:
        before = before[before["version"] == source.version]
    done = set(before[KEY].itertuples(index=False, name=None))
    written, there, failed = 0, 0, []
    for data in sets:
        own = [setting for setting in settings if setting in data.settings()]
        for fold in folds:
            parts = None
            for name, make in methods.items():
                budgets = hasattr(make(), "budget")
                wanted = [s for s in own if budgets or not s.endswith(" features")]
                left = [s for s in wanted if (data.name, fold, s, name) not in done]
                there += len(wanted) - len(left)
                if not left:
                    continue
                parts = parts or data.fold(fold)
                try:
                    version = source.version if source else version_of(name)
                    lines = run_fold(name, make, data, fold, left, parts, version)
                except Exception as error:
                    print(f"{data.name}, fold {fold}, {name}: {said(error, source and source.path)}", file=sys.stderr)
                    failed.append((data.name, fold))
                    continue
                append(lines, file)
                written += len(lines)
                text = ", ".join(f"{line['price']} {float(line['cost']):.4f}" for line in lines)
                print(f"{data.name:18} {fold} {name:24} {text}, {lines[0]['seconds']} s", flush=True)
    return Recorded(written, there, failed)
