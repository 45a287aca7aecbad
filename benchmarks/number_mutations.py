"""Which numbers that steer the package no test sees: each is doubled, and the tests of its file are run.

::

    python benchmarks/number_mutations.py                 # all of them: hours
    python benchmarks/number_mutations.py bn/ exams/ --seconds 60

A number is a field of a tuning record or stands at module level. The tests of a file are those of its name and those
that import it, the shortest three, or those of its readers. What runs into the time limit is open. The package is
copied, and the copy is changed.
"""

from __future__ import annotations

import argparse
import ast
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]


def numbers(source: str) -> Iterator[tuple[str, ast.expr]]:
    """Name and value of each number of a tuning record, and of each that stands at module level."""
    for node in ast.parse(source).body:
        record = isinstance(node, ast.ClassDef) and node.name.endswith("Tuning")
        for line in node.body if record else [node]:
            if isinstance(line, (ast.Assign, ast.AnnAssign)) and line.value is not None:
                target = line.targets[0] if isinstance(line, ast.Assign) else line.target
                for leaf in _leaves(line.value):
                    yield ast.unparse(target), leaf


def _leaves(value: ast.expr) -> list[ast.expr]:
    if isinstance(value, (ast.Tuple, ast.List)):
        return [leaf for part in value.elts for leaf in _leaves(part)]
    if isinstance(value, ast.Dict):
        return [leaf for part in value.values for leaf in _leaves(part)]
    plain = re.fullmatch(r"[-\d.e+*() /_]+", ast.unparse(value)) is not None
    return [value] if plain and any(map(str.isdigit, ast.unparse(value))) else []


def doubled(source: str, value: ast.expr) -> str:
    """The source with twice a number, or 1 in place of 0."""
    lines = source.splitlines(keepends=True)
    line, text = lines[value.lineno - 1], ast.unparse(value)
    begin, end = (len(line.encode()[:at].decode()) for at in (value.col_offset, value.end_col_offset or 0))
    other = "1" if float(eval(text)) == 0 else f"(2 * ({text}))"
    lines[value.lineno - 1] = line[:begin] + other + line[end:]
    return "".join(lines)


def pick_tests(file: Path, most: int = 3) -> list[str]:
    """Test files of a file of the package: by its name, then those that import it, the shortest first."""
    module = ".".join(["seqclass", *file.with_suffix("").parts]).removesuffix(".__init__")
    tests = sorted((ROOT / "tests").rglob("test_*.py"), key=lambda test: test.stat().st_size)
    tests = [test for test in tests if test.stem not in ("test_architecture", "test_docs")]
    named = [test for test in tests if test.stem == f"test_{file.stem.strip('_')}"]
    room = [test for test in tests if test.stem == f"test_{file.parent.name}"]
    reads = [test for test in tests if re.search(rf"\b{re.escape(module)}\b", test.read_text("utf-8"))]
    if not (chosen := dict.fromkeys([*named, *reads, *room])):  # the tests of what imports it
        source = ROOT / "src" / "seqclass"
        readers = [
            other for other in sorted(source.rglob("*.py")) if f"from {module} import" in other.read_text("utf-8")
        ]
        named = [f"test_{other.stem.strip('_')}" for other in readers] + [
            f"test_{other.parent.name}" for other in readers
        ]
        chosen = dict.fromkeys(test for test in tests if test.stem in named)
    return [str(test.relative_to(ROOT)) for test in list(chosen)[:most]]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("under", nargs="*", default=[""], help="beginnings of paths within the package")
    parser.add_argument("--seconds", type=float, default=120.0, help="time limit of the tests of a number")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        package = Path(folder) / "seqclass"
        shutil.copytree(ROOT / "src" / "seqclass", package, ignore=shutil.ignore_patterns("__pycache__"))
        environment = os.environ | {"PYTHONPATH": folder, "PYTHONDONTWRITEBYTECODE": "1"}
        for path in sorted(package.rglob("*.py")):
            file = path.relative_to(package)
            if not any(file.as_posix().startswith(under) for under in options.under):
                continue
            source = path.read_text("utf-8")
            for name, value in numbers(source):
                tests = pick_tests(file)
                path.write_text(doubled(source, value), "utf-8")
                command = [sys.executable, "-m", "pytest", "-xq", "-p", "no:cacheprovider", *tests]
                try:
                    done = subprocess.run(
                        command, cwd=ROOT, env=environment, capture_output=True, timeout=options.seconds
                    )
                    fate = "seen" if done.returncode else "UNSEEN"
                except subprocess.TimeoutExpired:
                    fate = "out of time"
                path.write_text(source, "utf-8")
                print(
                    f"{fate:12}{file}:{value.lineno} {name} {ast.unparse(value)}  {' '.join(tests) or 'no tests'}",
                    flush=True,
                )


if __name__ == "__main__":
    main()
