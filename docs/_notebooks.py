"""Notebooks without Jupyter: run their code from top to bottom, keep what it prints and draws, write them as pages.

python docs/_notebooks.py examples/notebooks/*.ipynb    (runs them, and writes their outputs anew)
"""

from __future__ import annotations

import ast
import base64
import html
import io
import json
import re
import sys
import types
from contextlib import redirect_stdout
from pathlib import Path
from typing import Any

#: Dots an inch of pictures: legible, and a few dozen kilobytes each.
DPI = 80


def read_notebook(path: Path) -> dict[str, Any]:
    """A notebook as it is stored: plain JSON in the format 4."""
    notebook: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return notebook


def run_notebook(notebook: dict[str, Any], name: str) -> dict[str, Any]:
    """The same notebook with the outputs that its code gives, run in one fresh namespace."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    plt.close("all")  # what others drew before is none of its pictures
    module = types.ModuleType("notebook_page")
    sys.modules[module.__name__] = module  # dataclasses look their module up
    cells, count = [], 0
    for cell in notebook["cells"]:
        if cell["cell_type"] == "code":
            count += 1
            outputs = _run_cell("".join(cell["source"]), f"{name}, cell {count}", module.__dict__, count)
            cell = cell | {"execution_count": count, "outputs": outputs}
        cells.append(cell)
    return notebook | {"cells": cells}


def _run_cell(source: str, name: str, namespace: dict[str, Any], count: int) -> list[dict[str, Any]]:
    import matplotlib.pyplot as plt

    tree = ast.parse(source, name)
    last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
    printed, value = io.StringIO(), None
    with redirect_stdout(printed):
        exec(compile(tree, name, "exec"), namespace)
        if last is not None and not source.rstrip().endswith(";"):
            value = eval(compile(ast.Expression(last.value), name, "eval"), namespace)
        elif last is not None:
            exec(compile(ast.Module([last], []), name, "exec"), namespace)
    outputs: list[dict[str, Any]] = []
    if printed.getvalue():
        outputs.append({"output_type": "stream", "name": "stdout", "text": _lines(printed.getvalue())})
    if value is not None:
        data = {"text/plain": _lines(repr(value))}
        if hasattr(value, "_repr_html_"):
            data["text/html"] = _lines(value._repr_html_())
        outputs.append({"output_type": "execute_result", "execution_count": count, "metadata": {}, "data": data})
    for number in plt.get_fignums():
        picture = io.BytesIO()
        plt.figure(number).savefig(picture, format="png", dpi=DPI, bbox_inches="tight", metadata={"Software": None})
        plt.close(number)
        shown = base64.b64encode(picture.getvalue()).decode()
        data = {"image/png": shown, "text/plain": ["<a picture>"]}
        outputs.append({"output_type": "display_data", "metadata": {}, "data": data})
    return outputs


def _lines(text: str) -> list[str]:
    return text.splitlines(keepends=True)


def texts(cell: dict[str, Any]) -> str:
    """What a cell prints and gives back, as plain text."""
    parts = [output.get("text") or output["data"]["text/plain"] for output in cell["outputs"]]
    return "\n".join("".join(part) for part in parts)


def to_page(path: Path) -> tuple[str, dict[str, bytes]]:
    """Markdown of a notebook, and its pictures by their names beside the page."""
    parts: list[str] = []
    pictures: dict[str, bytes] = {}
    for cell in read_notebook(path)["cells"]:
        source = "".join(cell["source"])
        if cell["cell_type"] == "markdown":
            # the places of pages are those in the checkout, and here those in the site
            parts.append(re.sub(r"\]\((\w+)\.ipynb\)", r"](\1.md)", source.replace("](../../docs/", "](../")))
            continue
        parts.append(f"```python\n{source}\n```")
        for output in cell["outputs"]:
            data = output.get("data", {})
            if "image/png" in data:
                name = f"{path.stem}-{len(pictures) + 1}.png"
                pictures[name] = base64.b64decode(data["image/png"])
                parts.append(f"![What the code above draws]({name})")
            elif "text/html" in data:
                parts.append(_table("".join(data["text/html"])))
            else:
                parts.append(f"```text\n{''.join(output.get('text') or data['text/plain']).rstrip()}\n```")
    return "\n\n".join(parts) + "\n", pictures


def _table(markup: str) -> str:
    """A table as the site shows tables: without the style that pandas gives it, on lines without a gap."""
    plain = re.sub(r"<style.*?</style>|<div>|</div>", "", markup, flags=re.DOTALL)
    plain = re.sub(r'<table border="1" class="dataframe">', "<table>", plain)
    # what stands alone in a paragraph is the result's own line
    plain = re.sub(r"<p>(.*?)</p>", lambda m: f"<p><code>{html.escape(html.unescape(m[1]))}</code></p>", plain, count=1)
    return "\n".join(line.strip() for line in plain.splitlines() if line.strip())


def main(paths: list[str]) -> None:
    for path in map(Path, paths):
        notebook = run_notebook(read_notebook(path), path.name)
        path.write_text(json.dumps(notebook, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
