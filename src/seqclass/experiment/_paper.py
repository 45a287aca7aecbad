"""Tables for a paper: means with intervals, in Markdown, LaTeX or HTML."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from html import escape
from typing import Any

import numpy as np

from seqclass._utils.text import visible

_LATEX = {"\\": r"\textbackslash{}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}", "|": r"\textbar{}"}
_LATEX |= {"<": r"\textless{}", ">": r"\textgreater{}", "[": "{[}", "]": "{]}"} | {
    sign: f"\\{sign}" for sign in "&%$#_{}"
}


def _escape_latex(text: str) -> str:
    return "".join(_LATEX.get(sign, sign) for sign in text)


def _escape_markdown(text: str) -> str:
    return re.sub(r"([\\`*_\[\]<>|~$#])", r"\\\1", text)


#: Of each form: how text is escaped, and how a bold figure, its interval and none at all are written.
_FORMS: dict[str, tuple[Callable[[str], str], str, str, str]] = {
    "markdown": (_escape_markdown, "**{}**", " [{}, {}]", "\N{EN DASH}"),
    "latex": (_escape_latex, r"\textbf{{{}}}", r" {{\scriptsize [{}, {}]}}", "--"),
    "html": (escape, "<strong>{}</strong>", " <small>[{}, {}]</small>", "\N{EN DASH}"),
}
FORMS = tuple(_FORMS)


def write_table(
    summary: Any,
    metric: str,
    rows: Sequence[str],
    columns: Sequence[str],
    *,
    form: str,
    interval: bool,
    best: bool,
    higher: bool,
    decimals: int,
    note: str,
    heads: dict[str, str],
) -> str:
    """A summary, one figure a cell; names of axes are those of ``heads``."""
    safe, bold, ends, none = _FORMS[form]
    axes = {name: [axis_text(value) for value in summary[name]] for name in (*rows, *columns)}
    for name in columns:  # whose names stand nowhere else
        if name not in ("data", "method"):
            axes[name] = [f"{heads.get(name, name)} {text}" for text in axes[name]]
    places = [list(zip(*(axes[name] for name in part))) for part in (rows, columns)]
    mean = summary[metric].to_numpy(float)
    lower, upper = (summary[f"{metric}_{end}"].to_numpy(float) for end in ("lower", "upper"))
    shown = [f"{value:.{decimals}f}" for value in mean]
    first = _best_of(summary, mean, shown, [*rows, *columns], higher) if best else np.zeros(len(mean), dtype=bool)
    cells: dict[tuple[Any, Any], str] = {}
    for i, at in enumerate(zip(*places)):
        text = none if np.isnan(mean[i]) else bold.format(shown[i]) if first[i] else shown[i]
        if interval and not np.isnan(lower[i]):
            text += ends.format(f"{lower[i]:.{decimals}f}", f"{upper[i]:.{decimals}f}")
        cells[at] = text
    down, across = (_in_order(set(places[i]), [axes[name] for name in part]) for i, part in enumerate((rows, columns)))
    head = [safe(visible(text)) for text in (*(heads.get(name, name) for name in rows), *map(", ".join, across))]
    body = [
        [*(safe(visible(text)) for text in row), *(cells.get((row, column), none) for column in across)] for row in down
    ]
    return _WRITERS[form](head, body, len(rows), safe(note))


def _in_order(labels: set[tuple[str, ...]], axes: list[list[str]]) -> list[tuple[str, ...]]:
    """Labels of rows or columns, each part in the order in which it comes first."""
    return sorted(labels, key=lambda label: [axis.index(text) for axis, text in zip(axes, label)])


def axis_text(value: Any) -> str:
    """A label as it is read: of no hard budget, none."""
    if isinstance(value, str):
        return value
    return "none" if value != value else f"{value:g}"


def _best_of(summary: Any, mean: Any, shown: list[str], labels: list[str], higher: bool) -> Any:
    """Which means are the best among methods at the same place; all of those that are written alike."""
    import pandas as pd

    others = [name for name in labels if name != "method"]
    value = pd.Series(mean if higher else -mean, summary.index)
    groups = summary[others].apply(tuple, axis=1) if others else pd.Series(0, summary.index)
    top = value.groupby(groups.map(str)).transform("max")
    best_text = pd.Series(shown, summary.index).where(value == top).groupby(groups.map(str)).transform("first")
    return ((best_text == shown) & value.notna()).to_numpy()


def _markdown(head: list[str], body: list[list[str]], n_labels: int, note: str) -> str:
    rule = [*["---"] * n_labels, *["--:"] * (len(head) - n_labels)]
    lines = [f"| {' | '.join(row)} |" for row in (head, rule, *body)]
    return "\n".join([*lines, "", note])


def _latex(head: list[str], body: list[list[str]], n_labels: int, note: str) -> str:
    lines = [" & ".join(row) + r" \\" for row in body]
    form = "l" * n_labels + "r" * (len(head) - n_labels)
    begin = [r"% needs \usepackage{booktabs}", rf"\begin{{tabular}}{{{form}}}", r"\toprule", " & ".join(head) + r" \\"]
    end = [r"\bottomrule", r"\end{tabular}", rf"\par\smallskip {{\footnotesize {note}}}"]
    return "\n".join([*begin, r"\midrule", *lines, *end])


def _html(head: list[str], body: list[list[str]], n_labels: int, note: str) -> str:
    def cell(text: str, scope: str) -> str:
        return f'<th scope="{scope}">{text}</th>' if scope else f"<td>{text}</td>"

    scopes = ["row"] * n_labels + [""] * (len(head) - n_labels)
    lines = [
        "<table>",
        f"<caption>{note}</caption>",
        f"<thead><tr>{''.join(cell(one, 'col') for one in head)}</tr></thead>",
    ]
    lines += ["<tbody>", *(f"<tr>{''.join(map(cell, row, scopes))}</tr>" for row in body), "</tbody>", "</table>"]
    return "\n".join(lines)


_WRITERS: dict[str, Callable[[list[str], list[list[str]], int, str], str]] = {
    "markdown": _markdown,
    "latex": _latex,
    "html": _html,
}
