"""Lines of code by folder, without docstrings, blanks and comments.

    python benchmarks/lines.py [SOURCE] [--before OTHER] [--json FILE]

SOURCE is a package's folder, by default this one's; with ``--before`` another checkout's stands beside it.
"""

from __future__ import annotations

import argparse
import ast
import io
import json
import tokenize
from collections import Counter
from pathlib import Path

#: What is no code, of Python's tokens.
_NOTHING = {tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT, tokenize.ENDMARKER}


def code_lines(text: str) -> int:
    """Number of lines that hold code."""
    documented: set[int] = set()
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)) and node.body:
            first = node.body[0]
            if (
                isinstance(first, ast.Expr)
                and isinstance(first.value, ast.Constant)
                and isinstance(first.value.value, str)
            ):
                documented.update(range(first.lineno, (first.end_lineno or first.lineno) + 1))
    lines: set[int] = set()
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type not in _NOTHING:
            lines.update(range(token.start[0], token.end[0] + 1))
    return len(lines - documented)


def by_folder(source: Path) -> Counter[str]:
    """Lines of each folder at the top; modules beside them count as ``.``."""
    counts: Counter[str] = Counter()
    for file in source.rglob("*.py"):
        parts = file.relative_to(source).parts
        counts[parts[0] if len(parts) > 1 else "."] += code_lines(file.read_text(encoding="utf-8"))
    return counts


def main() -> None:
    """Print a table, a folder a line."""
    here = Path(__file__).resolve().parents[1] / "src" / "seqclass"
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("source", nargs="?", type=Path, default=here)
    parser.add_argument("--before", type=Path)
    parser.add_argument("--json", type=Path)
    arguments = parser.parse_args()
    counts = {"now": by_folder(arguments.source)}
    if arguments.before is not None:
        counts = {"before": by_folder(arguments.before)} | counts
    folders = sorted(set().union(*counts.values()))
    rows = {folder: {name: found[folder] for name, found in counts.items()} for folder in folders}
    rows["all"] = {name: sum(found.values()) for name, found in counts.items()}
    print("".join(f"{name:>12}" for name in ("", *counts)))
    for folder, row in rows.items():
        print(f"{folder:>12}" + "".join(f"{n:>12,}" for n in row.values()))
    if arguments.json is not None:
        arguments.json.write_text(json.dumps(rows, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
