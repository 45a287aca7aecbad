"""The page of a run: one HTML file that loads nothing else."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from seqclass import __version__
from seqclass._utils.files import replace_file
from seqclass._utils.tables import count_text
from seqclass._utils.text import shorten
from seqclass.agent.explanation import Explanation
from seqclass.costs import Costs
from seqclass.experiment import Results
from seqclass.experiment._columns import by_default
from seqclass.experiment.comparison import CHANCE, Comparison
from seqclass.experiment.explored import Explored
from seqclass.experiment.results import METRICS
from seqclass.labels import Labels
from seqclass.report._markup import (
    NONE,
    Markup,
    Number,
    count,
    document,
    element,
    number,
    prices,
    resource,
    table,
    together,
    with_interval,
)
from seqclass.report._pictures import acquisition_section, decision_section, picture_section, rank_diagram
from seqclass.report.explore import ExploredRun, explore_run, explorer_section, sequential_methods

#: What the summary has without intervals.
MEANS = ("expected_cost", "gap", "seconds_fit", "seconds_classify")
#: What methods are compared by.
COMPARED = {"realised_cost": "realised cost", "accuracy": "accuracy"}
_VERSIONS = ("seqclass", "numpy", "sklearn", "python")


def summarise(results: Results, cells: Any) -> Any:
    """Means by data set, method, price and hard budget, with intervals where the page shows them."""
    # each cell of a group is one score, so that a mean without an interval is the plain mean
    by = by_default(cells)
    means = cells.groupby(by, sort=False, dropna=False)[list(MEANS)].mean().reset_index()
    summary = results.summary(by=by, metrics=METRICS).merge(means, on=by, how="left")
    # a method that was added to a run later stands beside the others all the same
    places = {name: {value: i for i, value in enumerate(dict.fromkeys(cells[name]))} for name in by}
    return summary.sort_values(by, key=lambda column: column.map(places[column.name]), ignore_index=True)


def summary_section(summary: Any, price_name: str = "price") -> Markup:
    """Tables of means with intervals, a row a data set, method and price: of costs, and of what they took."""
    limits = "budget" in summary
    at_prices = prices(summary["price"].tolist())
    rows: list[list[str | Number]] = []
    effort: list[list[str | Number]] = []
    for row, price in zip(summary.to_dict("records"), at_prices):
        place = [row["data"], row["method"], price, *([number(row["budget"], 0)] if limits else [])]
        rows.append(
            [
                *place,
                *(with_interval(*(row[f"{m}{end}"] for end in ("", "_lower", "_upper"))) for m in METRICS[:2]),
                number(row["n_features_mean"], 2),
                *(number(row[name], 4) for name in ("paid_mean", "expected_cost")),
                number(row["gap"], 2, percent=True),
            ]
        )
        counts = map(count, (row["n_cells"], row["n_failed"]))
        effort.append([*place, *(number(row[name], 3) for name in MEANS[2:]), *counts])
    labels = ["data", "method", price_name, *(["budget"] if limits else [])]
    header = [*labels, "realised cost", "accuracy", "features", "paid", "expected", "gap"]
    note = (
        "Means over folds and seeds, in brackets their 95% intervals; cells that failed are left out. Realised cost is "
        "what an instance costs, prices and decisions together, where a wrong decision costs 1 unless a data set says "
        "what decisions cost; features and paid are those acquired and what they cost. Expected is the cost that the "
        "method's own model expects of its policy, and gap which share of that the best policy that asks in its order "
        "saves at most; of a method that may ask anything next, the best one over all orders. Models and scopes "
        "differ, so by neither may methods be ranked."
    )
    note += " Under a hard budget so many questions are asked of each instance." if limits else ""
    last = [*labels, "fit (s)", "classify (s)", "cells", "failed"]
    took = table("Seconds to fit, and to classify all rows scored; cells", last, effort, sortable=False)
    return together(
        element("p", note, class_="note"),
        table("Results by data set, method and price", header, rows),
        element("details", element("summary", "Seconds and cells"), took),
    )


def comparison_section(results: Results, cells: Any) -> Markup:
    """Wins and losses, and which methods differ, by realised cost and by accuracy; of methods that have any score."""
    able = cells.loc[cells["error"] == "", "method"].unique()
    results = Results(results.path, cells.index[cells["method"].isin(able)].tolist())
    parts: list[Markup] = []
    for metric, words in COMPARED.items():
        try:
            parts += _comparison(results.compare(metric), metric, words)
        except ValueError as error:
            parts += [element("h3", f"By {words}"), element("p", f"Nothing to compare: {error}")]
    over = "prices and hard budgets" if cells["budget"].notna().any() else "prices"
    note = (
        f"Differences are paired: on the folds on which every method has a score, by the mean over {over}; of a single "
        "fold case by case; over all data sets by data set. In brackets 95% intervals, corrected for training rows "
        "that folds share. Where zero is inside, the difference is not beyond chance, and has no reading. Each "
        "interval stands alone: of twenty pairs without a difference about one will seem to have one."
    )
    none = [name for name in dict.fromkeys(cells["method"]) if name not in able]
    note += f" Left out, as all their cells failed: {', '.join(none)}." if none else ""
    return together(element("p", note, class_="note"), *parts)


def _comparison(comparison: Comparison, metric: str, words: str) -> list[Markup]:
    parts = [element("h3", f"By {words}"), _differences(comparison, words)]
    if len(comparison.scores) == 1:
        return parts  # wins and ranks are over several data sets
    frame = comparison.wins.to_frame()
    rows = [[name, *texts] for name, texts in zip(comparison.wins.names, frame.to_numpy().tolist())]
    caption = f"Wins/ties/losses of the row against the column by {words}, over {len(comparison.scores)} data sets"
    parts.append(table(caption, ["method", *comparison.wins.names], rows, sortable=False))
    if comparison.friedman is not None:
        parts.append(element("p", str(comparison.friedman)))
    if comparison.nemenyi is not None:
        drawn = rank_diagram(comparison.nemenyi, f"ranks-{metric}", f"Average ranks by {words}")
        note = (
            f"Average ranks, 1 the best; methods under one bar do not differ at {comparison.nemenyi.alpha:g} (Nemenyi)."
        )
        parts.append(element("figure", drawn, element("p", note, class_="note")))
        parts.append(_ranks(comparison, words))
    return parts


def _differences(comparison: Comparison, words: str) -> Markup:
    rows: list[list[str | Number]] = []
    for row in comparison.differences.to_dict("records"):
        apart = with_interval(row["difference"], row["lower"], row["upper"], signed=True)
        pairs = f"{row['n']} {row['paired_by']}s" if row["paired_by"] else NONE
        reading = NONE if row["verdict"] == CHANCE else row["verdict"]
        labels = (row[name] for name in ("data", "method", "against"))
        rows.append([*labels, apart, number(row["p_value"], 4), pairs, reading])
    header = ["data", "method", "against", f"difference of {words}", "p", "pairs", "reading"]
    return table(f"Differences by {words}: the method minus what it is compared against", header, rows)


def _ranks(comparison: Comparison, words: str) -> Markup:
    nemenyi = comparison.nemenyi
    assert nemenyi is not None
    ranked = sorted(zip(nemenyi.average_ranks.tolist(), nemenyi.names))
    rows: list[list[str | Number]] = [[name, number(rank, 3)] for rank, name in ranked]
    plain = table(f"Average ranks by {words}", ["method", "average rank"], rows, sortable=False)
    return element("details", element("summary", "Figures of this picture"), plain)


def failure_section(cells: Any) -> Markup:
    """Cells that failed with their errors, and warnings with how many cells gave them."""
    failed = cells[cells["error"] != ""]
    limits = cells["budget"].notna().any()
    labels = ["data", "method", "price", *(["budget"] if limits else []), "seed", "fold"]
    parts = [element("p", "No cell failed.")]
    if len(failed):
        at_prices = prices(failed["price"].tolist())
        rows = [
            [
                *(row["data"], row["method"], price, *([number(row["budget"], 0)] if limits else [])),
                *(count(row["seed"]), count(row["fold"]), row["error"]),
            ]
            for row, price in zip(failed.to_dict("records"), at_prices)
        ]
        parts = [table("Cells that failed", [*labels, "error"], rows)]
    warned = cells[cells["warnings"] != ""].groupby(["data", "method", "warnings"], sort=False).size()
    if len(warned):
        rows = [[data, method, count(int(n)), text] for (data, method, text), n in warned.items()]
        parts.append(table("Warnings", ["data", "method", "cells", "warnings"], rows))
    return together(*parts)


def settings_section(results: Results, cells: Any) -> Markup:
    """Data sets, protocol, settings of each method, and versions."""
    rows: list[list[str | Number]] = []
    for data in dict.fromkeys(cells["data"]):
        own = cells[cells["data"] == data]
        settings = results.settings(own.index[0])
        sizes = own[["n_columns", "n_train", "n_test"]].astype("float64").max()
        figures = [number(size, 0) for size in sizes]
        seeds = ", ".join(str(seed) for seed in sorted(set(own["seed"].tolist())))
        known = ", ".join(settings["known"])
        rows.append([data, *figures, _words(settings["cv"]), seeds, known or NONE, settings["fingerprint"]])
    header = ["data", "features", "rows learnt from", "rows scored", "protocol", "seeds", "known", "fingerprint"]
    parts = [table("Data sets; rows are those of the largest fold", header, rows)]
    for method in dict.fromkeys(cells["method"]):
        settings = results.settings(cells.index[cells["method"] == method][0])
        text = json.dumps(_readable(settings["estimator"]), indent=2, ensure_ascii=False)
        heading = f"{method}, as on {settings['data']} at price {settings['price']:g}"
        heading += f", hard budget {settings['budget']}" if settings["budget"] is not None else ""
        parts.append(element("details", element("summary", heading), element("pre", text, tabindex=0)))
    versions = cells.groupby([f"version_{name}" for name in _VERSIONS], sort=False).size()
    version_rows = [[*(key if isinstance(key, tuple) else (key,)), count(int(n))] for key, n in versions.items()]
    return together(*parts, table("Versions that computed the cells", [*_VERSIONS, "cells"], version_rows))


def _readable(value: Any) -> Any:
    """Settings as they are stored, in the way people write them."""
    if isinstance(value, dict) and set(value) == {"mapping"}:
        return {str(_readable(key)): _readable(item) for key, item in value["mapping"]}
    if isinstance(value, dict):
        return {key: _readable(item) for key, item in value.items()}
    return [_readable(item) for item in value] if isinstance(value, list) else value


def _words(protocol: Any) -> str:
    """Protocol as it is written in Python."""
    plain = _readable(protocol)
    if not isinstance(plain, dict) or "class" not in plain:
        return json.dumps(plain)
    name = str(plain["class"]).rpartition(".")[2]
    return f"{name}({', '.join(f'{key}={value!r}' for key, value in plain.get('params', {}).items())})"


def write_report(
    results: Results,
    path: str | os.PathLike[str],
    *,
    title: str | None = None,
    explanations: ExploredRun | Mapping[str, Explored | Sequence[Explanation]] | None = None,
    price: float | None = None,
    positive: Any = None,
    labels: Any = None,
    unit: str | None = None,
) -> Path:
    """Write a run as one HTML page with sortable tables, pictures, and instances to step through.

    The page needs no server and loads nothing: style, scripts, pictures and figures are in it, and its content security
    policy allows nothing else. The same results give the same page.

    Parameters
    ----------
    results : Results
        The run; the page reports cells that failed or are not finished.
    path : path
        File to write, completely or not at all; an existing file is replaced.
    title : str, optional
        Title of the page; by default its methods and data sets.
    explanations : ExploredRun or mapping of str to Explored or sequence of Explanation, optional
        Explained instances by the name of their classifier, from `explore` or from ``explain`` of any classifier; an
        empty mapping for none. By default what `explore_run` returns.
    price : float, optional
        Price in the run at which to show what was acquired and to step through instances; by default the first that
        each method has on a data set.
    positive : label or sequence of labels, optional
        Class to find in the decision curves, or several for data sets with different classes. By default the last of
        two classes, as in `seqclass.metrics.decision_curve`, and no curve for more classes.
    labels : Labels, path, mapping or data frame, optional
        Words for features and their values; see `seqclass.Labels.from_value`. Bins differ from fold to fold, so it is
        best to give words to categories and values.
    unit : str, optional
        Unit of prices and costs, such as ``"EUR"``; by default that of the results, or the one in the explanations.

    Returns
    -------
    Path
        The page.

    Raises
    ------
    ValueError
        If the run has no finished cell or no such price or class, there are no explanations under a name, or labels are
        wrong or for features that no data set of the run has.
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
    if isinstance(explanations, Mapping):
        cases = ((str(k), Explored(one) if isinstance(one, Sequence) else one) for k, one in explanations.items())
        explanations = ExploredRun(dict(cases))
    sought = list(positive) if isinstance(positive, (list, tuple)) else [] if positive is None else [positive]
    unit = Costs(unit=unit or results.unit or None).unit_name()
    title = _title(results.to_frame()) if title is None else title
    text = _page(results, title, explanations, price, sought, labels, unit)
    with replace_file(path) as temporary:
        temporary.write_bytes(text.encode("utf-8", errors="backslashreplace"))
    return Path(path)


def _page(
    results: Results,
    title: str,
    explored: ExploredRun | None,
    price: float | None,
    positive: Sequence[Any],
    labels: Any,
    unit: str,
) -> Markup:
    cells = results.to_frame()
    if not len(cells):
        raise ValueError(f"{results.path} holds no cell that is done.")
    # a run that goes on meanwhile does not change what is told
    fixed = Results(results.path, cells.index.tolist())
    explored = explore_run(fixed, price=price) if explored is None else explored
    words = _check_words(fixed, cells, Labels.from_value(labels))
    explored = _in_words(explored, words, unit)
    units = {one.unit for explored_cases in explored.methods.values() for one in explored_cases.explanations}
    unit = unit or (units.pop() if len(units) == 1 else "")
    summary = summarise(fixed, cells)
    contents = {
        "Pictures": picture_section(summary, list(dict.fromkeys(cells["method"]))),
        "Summary": summary_section(summary, fixed.price_name(cells)),
        "Comparison": comparison_section(fixed, cells),
        "Decisions": decision_section(fixed, cells, price, positive),
        "Acquisition": acquisition_section(fixed, price, words),
        "Failures": failure_section(cells),
        "Settings": settings_section(fixed, cells),
    }
    parts = {name: element("section", element("h2", name), part, id=name.lower()) for name, part in contents.items()}
    if explored.methods or explored.note:
        parts["Explorer"] = explorer_section(explored, words)
        parts |= {name: parts.pop(name) for name in ("Failures", "Settings")}  # which come last
    links = [element("li", element("a", name, href=f"#{name.lower()}")) for name in parts]
    header = element(
        "header",
        element("a", "Skip to the content", class_="skip", href="#main"),
        element("h1", title),
        element("p", _overview(cells, results.n_missing) + (f" Prices and costs are in {unit}." if unit else "")),
        element("nav", element("ul", *links), aria_label="Sections"),
    )
    footer = element("footer", element("p", f"Written by seqclass {__version__}."))
    scripts = [resource("tables.js"), resource("explorer.js")]
    return document(title, resource("page.css"), scripts, header, element("main", *parts.values(), id="main"), footer)


def _check_words(results: Results, cells: Any, words: Labels) -> Labels:
    """Labels, checked against the columns of the data sets as far as the run keeps them."""
    having, names = set(results.keys_with("instances")), set[str]()
    for _, own in sequential_methods(cells) if words.features else ():
        kept = [key for key in own.index if key in having]
        if not kept:
            return words.separate_kinds(())
        names |= set(Results(results.path, kept).record(*own[["data", "method"]].iloc[0]).names)
    return words.check(names) if names else words.separate_kinds(())


def _in_words(explored: ExploredRun, words: Labels, unit: str) -> ExploredRun:
    """The explored cases in words, and in a unit if one is given."""

    def put_in_words(explored_cases: Explored) -> Explored:
        in_words = [one.in_words(words) for one in explored_cases.explanations]
        return replace(explored_cases, explanations=[replace(one, unit=unit or one.unit) for one in in_words])

    return replace(explored, methods={name: put_in_words(cases) for name, cases in explored.methods.items()})


def _title(cells: Any) -> str:
    def few(names: list[str]) -> str:
        return ", ".join(names) if len(names) <= 3 else f"{', '.join(names[:2])} and {len(names) - 2} more"

    methods, sets = (few([shorten(name, 24) for name in dict.fromkeys(cells[axis])]) for axis in ("method", "data"))
    return f"{methods} on {sets}"


def _overview(cells: Any, missing: int) -> str:
    nouns = {"data": "data sets", "method": "methods", "price": "prices", "budget": "hard budgets"}
    axes = [count_text(n, noun) for name, noun in nouns.items() if (n := cells[name].nunique())]
    failed = int((cells["error"] != "").sum())
    text = f"{count_text(len(cells), 'cells')}: {', '.join(axes)}. {failed or 'None'} failed."
    return text if not missing else f"{text} {count_text(missing, 'cells')} of the plan not done."
