"""The page of a run: one HTML file that loads nothing."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from seqclass import __version__
from seqclass._files import replacing
from seqclass.experiment import Results
from seqclass.explanation import Explanation
from seqclass.report._explorer import explorer_section
from seqclass.report._markup import element, esc, resource, source_hash
from seqclass.report._pictures import picture_section
from seqclass.report._sections import comparison_section, failure_section, settings_section, summarise, summary_section
from seqclass.report.explore import Explored


def write_report(
    results: Results,
    path: str | os.PathLike[str],
    *,
    title: str | None = None,
    explanations: Mapping[str, Explored | Sequence[Explanation]] | None = None,
) -> Path:
    """Write a run as one HTML page: tables that sort, pictures, and instances to step through.

    The page needs no server and loads nothing: style, scripts, pictures and figures are in it, and its own content
    security policy lets nothing else in. The same results give the same page.

    Parameters
    ----------
    results : Results
        The run; cells that failed or are not done are told.
    path : path
        The page. It is written whole or not at all, and replaces a file that is there.
    title : str, optional
        By default the name of the run's file.
    explanations : mapping of str to Explored or sequence of Explanation, optional
        Explained instances by the name of their classifier: from `explore`, or from `SequentialClassifier.explain` of
        any classifier.

    Returns
    -------
    Path
        The page.

    Raises
    ------
    ValueError
        If the run holds no cell that is done, or there are no explanations under a name.
    FileNotFoundError
        If the folder does not exist.

    Examples
    --------
    >>> import os, tempfile
    >>> from seqclass.experiment import Experiment
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     results = Experiment(["iris"], ["etana"], cv=3).run(os.path.join(folder, "iris.run"))
    ...     page = write_report(results, os.path.join(folder, "iris.html"), title="Irises")
    ...     text = page.read_text(encoding="utf-8")
    >>> text[:15], "<h1>Irises</h1>" in text
    ('<!DOCTYPE html>', True)
    """
    if Path(path).exists() and Path(path).samefile(results.path):
        raise ValueError(f"path: {os.fspath(path)} is the run itself; write the page elsewhere.")
    explored = {
        str(name): one if isinstance(one, Explored) else Explored(list(one))
        for name, one in (explanations or {}).items()
    }
    text = _page(results, results.path.name if title is None else title, explored)
    with replacing(path) as temporary:
        temporary.write_bytes(text.encode("utf-8", errors="backslashreplace"))
    return Path(path)


def _page(results: Results, title: str, explored: Mapping[str, Explored]) -> str:
    cells = results.table()
    if not len(cells):
        raise ValueError(f"{results.path} holds no cell that is done.")
    # a run that goes on meanwhile does not change what is told
    fixed = Results(results.path, cells.index.tolist())
    summary = summarise(fixed, cells)
    parts = {
        "Summary": _section("Summary", summary_section(summary)),
        "Comparison": _section("Comparison", comparison_section(fixed, cells)),
        "Pictures": _section("Pictures", picture_section(summary, list(dict.fromkeys(cells["method"])))),
    }
    if explored:
        parts["Explorer"] = explorer_section(explored)
    parts["Failures"] = _section("Failures", failure_section(cells))
    parts["Settings"] = _section("Settings", settings_section(fixed, cells))
    links = "".join(f'<li><a href="#{name.lower()}">{name}</a></li>' for name in parts)
    header = element(
        "header",
        '<a class="skip" href="#main">Skip to the content</a>',
        element("h1", esc(title)),
        element("p", esc(_overview(cells, results.n_missing))),
        f'<nav aria-label="Sections"><ul>{links}</ul></nav>',
    )
    footer = f"<footer><p>Written by seqclass {esc(__version__)}.</p></footer>"
    return _document(title, f'{header}<main id="main">{"".join(parts.values())}</main>{footer}')


def _section(name: str, content: str) -> str:
    return element("section", element("h2", name), content, id=name.lower())


def _overview(cells: Any, missing: int) -> str:
    def counted(n: int, noun: str) -> str:
        return f"{n:,} {noun}{'' if n == 1 else 's'}"

    axes = [counted(cells[name].nunique(), noun) for name, noun in (("data", "data set"), ("method", "method"))]
    axes.append(counted(cells["price"].nunique(), "price"))
    failed = int((cells["error"] != "").sum())
    text = f"{counted(len(cells), 'cell')}: {', '.join(axes)}. {failed or 'None'} failed."
    return text if not missing else f"{text} {counted(missing, 'cell')} of the plan not done."


def _document(title: str, body: str) -> str:
    style, scripts = resource("page.css"), [resource("tables.js"), resource("explorer.js")]
    hashes = " ".join(map(source_hash, scripts))
    policy = f"default-src 'none'; base-uri 'none'; style-src {source_hash(style)}; script-src {hashes}"
    head = (
        '<meta charset="utf-8"/>',
        element("meta", http_equiv="Content-Security-Policy", content=policy),
        '<meta name="viewport" content="width=device-width, initial-scale=1"/>',
        element("title", esc(title)),
        f"<style>{style}</style>",
    )
    code = "".join(f"<script>{script}</script>" for script in scripts)
    return f'<!DOCTYPE html>\n<html lang="en"><head>{"".join(head)}</head>\n<body>{body}\n{code}</body></html>\n'
