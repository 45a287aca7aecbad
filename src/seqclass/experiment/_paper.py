"""Tables for a paper: means with intervals, in Markdown, LaTeX or HTML."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from html import escape
from operator import methodcaller
from typing import Any

import numpy as np

from seqclass._utils.text import visible

#: What is written for signs that would mean something.
_MARKDOWN = {sign: f"\\{sign}" for sign in "\\`*_[]<>|~$#"}
_LATEX = {"\\": r"\textbackslash{}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}", "|": r"\textbar{}"}
_LATEX |= {"<": r"\textless{}", ">": r"\textgreater{}", "[": "{[}", "]": "{]}"}
_LATEX |= {sign: f"\\{sign}" for sign in "&%$#_{}"}
#: Of each form: how text is escaped, and how a bold figure, its interval and none at all are written.
_FORMS: dict[str, tuple[Callable[[str], str], str, str, str]] = {
    "markdown": (methodcaller("translate", str.maketrans(_MARKDOWN)), "**{}**", " [{}, {}]", "\N{EN DASH}"),
    "latex": (methodcaller("translate", str.maketrans(_LATEX)), r"\textbf{{{}}}", r" {{\scriptsize [{}, {}]}}", "--"),
    "html": (escape, "<strong>{}</strong>", " <small>[{}, {}]</small>", "\N{EN DASH}"),
}
FORMS = tuple(_FORMS)
#: A figure above its interval, for a column of a page that has two.
_BELOW = {"markdown": "{}<br>{}", "latex": r"\shortstack[r]{{{}\\{}}}", "html": "{}<br>{}"}
#: A standard error behind a figure.
_ERROR = {"markdown": " \N{PLUS-MINUS SIGN} {}", "latex": r" {{\scriptsize $\pm$ {}}}"}
_ERROR["html"] = " <small>\N{PLUS-MINUS SIGN} {}</small>"
_NARROW = re.compile(r"\\begin\{tabular\}.*\\end\{tabular\}", re.DOTALL)


def write_table(
    summary: Any,
    metric: str,
    rows: Sequence[str],
    columns: Sequence[str],
    *,
    form: str,
    interval: bool | str,
    best: bool,
    higher: bool,
    decimals: int,
    note: str,
    heads: dict[str, str],
) -> str:
    """A summary, one figure a cell; names of axes are those of ``heads``."""
    none = _FORMS[form][3]
    axes = {name: [axis_text(value) for value in summary[name]] for name in (*rows, *columns)}
    for name in columns:  # whose names stand nowhere else
        if name not in ("data", "method"):
            axes[name] = [f"{heads.get(name, name)} {text}" for text in axes[name]]
    places = [list(zip(*(axes[name] for name in part))) for part in (rows, columns)]
    mean = summary[metric].to_numpy(float)
    ends = ("se", "se") if interval == "error" else ("lower", "upper")
    lower, upper = (summary[f"{metric}_{end}"].to_numpy(float) + (0 if interval else np.nan) for end in ends)
    figures = [f"{value:.{decimals}f}" for value in mean]
    first = _best_of(summary, mean, figures, [*rows, *columns], higher) if best else np.zeros(len(mean), dtype=bool)
    cells: dict[tuple[Any, Any], str] = {}
    for i, at in enumerate(zip(*places)):
        cells[at] = figure_text(form, mean[i], lower[i], upper[i], decimals=decimals, bold=first[i], how=interval)
    down, across = (_in_order(set(places[i]), [axes[name] for name in part]) for i, part in enumerate((rows, columns)))
    head = [*(heads.get(name, name) for name in rows), *map(", ".join, across)]
    body = [(row, [cells.get((row, column), none) for column in across]) for row in down]
    return write_rows(head, body, note, form, narrow=interval == "below")


def figure_text(
    form: str, mean: float, lower: float, upper: float, *, decimals: int, bold: bool = False, how: bool | str = True
) -> str:
    """A figure with its interval, in brackets beside it or below, or with its standard error, which is both ends."""
    _, strong, ends, none = _FORMS[form]
    if np.isnan(mean):
        return none
    text, low, high = (f"{value:.{decimals}f}" for value in (mean, lower, upper))
    if form == "latex":  # where a minus is no hyphen
        text, low, high = (value.replace("-", "$-$") for value in (text, low, high))
    text = strong.format(text) if bold else text
    if np.isnan(lower):
        return text
    interval = _ERROR[form].format(low) if how == "error" else ends.format(low, high)
    return text + interval if how != "below" else _BELOW[form].format(text, interval.strip())


def p_text(form: str, p_value: float) -> str:
    """A p-value, which is never written as 0."""
    return f"{p_value:.3f}" if p_value >= 0.0005 else _FORMS[form][0]("<0.001")


def write_rows(
    head: Sequence[str], body: Sequence[tuple[Sequence[str], list[str]]], note: str, form: str, narrow: bool = False
) -> str:
    """A table of rows, each with its labels, which are escaped, and its figures, which are written already."""
    safe = _FORMS[form][0]
    rows = [[*(safe(visible(label)) for label in labels), *figures] for labels, figures in body]
    text = _WRITERS[form]([safe(visible(name)) for name in head], rows, len(body[0][0]), safe(note))
    return _NARROW.sub(r"{\\setlength{\\tabcolsep}{3pt}%\n\g<0>}", text) if narrow and form == "latex" else text


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
