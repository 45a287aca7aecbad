"""The page of a run: one HTML file that loads nothing."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from seqclass import __version__
from seqclass._utils.files import replacing
from seqclass.deciding.explanation import Explanation
from seqclass.experiment import Explored, Results
from seqclass.report._acquisition import acquisition_section
from seqclass.report._decisions import decision_section
from seqclass.report._markup import Markup, element, resource, source_hash, together
from seqclass.report._pictures import picture_section
from seqclass.report._sections import comparison_section, failure_section, settings_section, summarise, summary_section
from seqclass.report.explore import ExploredRun, explore_run, explorer_section


def write_report(
    results: Results,
    path: str | os.PathLike[str],
    *,
    title: str | None = None,
    explanations: ExploredRun | Mapping[str, Explored | Sequence[Explanation]] | None = None,
    price: float | None = None,
    positive: Any = None,
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
    explanations : ExploredRun or mapping of str to Explored or sequence of Explanation, optional
        Explained instances by the name of their classifier: from `explore`, or from `SequentialClassifier.explain` of
        any classifier; none if it is empty. By default what `explore_run` gives.
    price : float, optional
        Price of the run at which to show what was acquired, and to step through; by default the first that each method
        has on a data set.
    positive : label or sequence of labels, optional
        Class to be found by the decision curves, or several for data sets of different classes; by default the last of
        two, as in `seqclass.metrics.decision_curve`, and no curve of more.

    Returns
    -------
    Path
        The page.

    Raises
    ------
    ValueError
        If the run holds no cell that is done or has no such price or class, or there are no explanations under a name.
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
    if explanations is not None and not isinstance(explanations, ExploredRun):
        found = {str(k): one if isinstance(one, Explored) else Explored(list(one)) for k, one in explanations.items()}
        explanations = ExploredRun(found)
    labels = list(positive) if isinstance(positive, (list, tuple)) else [] if positive is None else [positive]
    text = _page(results, results.path.name if title is None else title, explanations, price, labels)
    with replacing(path) as temporary:
        temporary.write_bytes(text.encode("utf-8", errors="backslashreplace"))
    return Path(path)


def _page(
    results: Results, title: str, explored: ExploredRun | None, price: float | None, positive: Sequence[Any]
) -> Markup:
    cells = results.table()
    if not len(cells):
        raise ValueError(f"{results.path} holds no cell that is done.")
    # a run that goes on meanwhile does not change what is told
    fixed = Results(results.path, cells.index.tolist())
    explored = explore_run(fixed, price=price) if explored is None else explored
    parts = _parts(fixed, cells, explored, price, positive)
    links = [element("li", element("a", name, href=f"#{name.lower()}")) for name in parts]
    header = element(
        "header",
        element("a", "Skip to the content", class_="skip", href="#main"),
        element("h1", title),
        element("p", _overview(cells, results.n_missing)),
        element("nav", element("ul", *links), aria_label="Sections"),
    )
    footer = element("footer", element("p", f"Written by seqclass {__version__}."))
    return _document(title, header, element("main", *parts.values(), id="main"), footer)


def _parts(
    results: Results, cells: Any, explored: ExploredRun, price: float | None, positive: Sequence[Any]
) -> dict[str, Markup]:
    """Sections of the page by name, in order."""
    summary = summarise(results, cells)
    contents = {
        "Summary": summary_section(summary),
        "Comparison": comparison_section(results, cells),
        "Pictures": picture_section(summary, list(dict.fromkeys(cells["method"]))),
        "Decisions": decision_section(results, cells, price, positive),
        "Acquisition": acquisition_section(results, price),
    }
    parts = {name: _section(name, content) for name, content in contents.items()}
    if explored.methods or explored.note:
        parts["Explorer"] = explorer_section(explored)
    parts["Failures"] = _section("Failures", failure_section(cells))
    parts["Settings"] = _section("Settings", settings_section(results, cells))
    return parts


def _section(name: str, content: Markup) -> Markup:
    return element("section", element("h2", name), content, id=name.lower())


def _overview(cells: Any, missing: int) -> str:
    def counted(n: int, noun: str) -> str:
        return f"{n:,} {noun}{'' if n == 1 else 's'}"

    axes = [counted(cells[name].nunique(), noun) for name, noun in (("data", "data set"), ("method", "method"))]
    axes.append(counted(cells["price"].nunique(), "price"))
    if n_budgets := cells["budget"].nunique():
        axes.append(counted(n_budgets, "hard budget"))
    failed = int((cells["error"] != "").sum())
    text = f"{counted(len(cells), 'cell')}: {', '.join(axes)}. {failed or 'None'} failed."
    return text if not missing else f"{text} {counted(missing, 'cell')} of the plan not done."


def _document(title: str, *body: Markup) -> Markup:
    style, scripts = resource("page.css"), [resource("tables.js"), resource("explorer.js")]
    hashes = " ".join(map(source_hash, scripts))
    policy = f"default-src 'none'; base-uri 'none'; style-src {source_hash(style)}; script-src {hashes}"
    head = element(
        "head",
        element("meta", charset="utf-8"),
        element("meta", http_equiv="Content-Security-Policy", content=policy),
        element("meta", name="viewport", content="width=device-width, initial-scale=1"),
        element("title", title),
        element("style", style),
    )
    code = [element("script", script) for script in scripts]
    whole = element("html", head, "\n", element("body", *body, "\n", *code), lang="en")
    return together(Markup("<!DOCTYPE html>\n"), whole, "\n")
