"""Instances to step through: those that a run kept with explanations of its sequential methods."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from seqclass._utils.tables import Readable
from seqclass._utils.text import money, value_text
from seqclass._utils.validation import check_integer
from seqclass.agent.explanation import Explanation, ExplanationStep, saving_text
from seqclass.experiment import Results
from seqclass.experiment._store import filter_table, of_first
from seqclass.experiment.explored import Explored
from seqclass.labels import Labels
from seqclass.report._markup import Markup, element, resource, script_json

#: How much of a page the instances may take.
_MOST_CHARACTERS = 1_500_000


@dataclass(frozen=True, repr=False)
class ExploredRun(Readable):
    """Explained instances of the sequential methods of a run.

    Attributes
    ----------
    methods : mapping of str to Explored
        Explained instances by "METHOD on DATA", in the order of the run.
    note : str
        What is left out, or why there is nothing; empty if nothing is left out.

    Examples
    --------
    >>> ExploredRun({}, "No method of this run asks for features one by one.").n_instances
    0
    """

    _in_summary = ("n_instances", "methods", "note")

    methods: Mapping[str, Explored]
    note: str = ""

    def _table(self) -> Any:
        return [{"method": name, "n_instances": len(one.explanations)} for name, one in self.methods.items()]

    @property
    def n_instances(self) -> int:
        """Number of instances."""
        return sum(len(one.explanations) for one in self.methods.values())


def explore(
    results: Results, data: str, name: str, *, price: float | None = None, n_instances: int | None = None
) -> Explored:
    """Return the explained instances that a run kept for one method on one data set.

    They come from the first cell of this data set, method and price that kept any, and are rows that it was scored on.

    Parameters
    ----------
    results : Results
        The run.
    data, name : str
        Names of the data set and of the method in the run.
    price : float, optional
        Price in the run; by default the first for this data set and method.
    n_instances : int, optional
        Most instances, evenly spaced among those that were kept; by default all of them.

    Returns
    -------
    Explored
        Its rows are numbered from 1.

    Raises
    ------
    ValueError
        If the run has no such cell, the method is not sequential, or no explanations were kept.

    Examples
    --------
    >>> import os, tempfile
    >>> from seqclass.experiment import Experiment
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     results = Experiment(["iris"], ["etana"], cv=3).run(os.path.join(folder, "iris.run"))
    ...     explored = explore(results, "iris", "etana", n_instances=4)
    >>> [explanation.decision for explanation in explored.explanations]
    ['setosa', 'setosa', 'virginica', 'virginica']
    """
    if n_instances is not None:
        check_integer(n_instances, "n_instances", 1)
    table = results.to_frame()
    for column, value in (("data", data), ("method", name), ("price", price)):
        filter_table(table, {column: value})  # which says what there is
    cells = table[(table["data"] == data) & (table["method"] == name)]
    cells = cells if price is None else cells[cells["price"] == price]
    if not len(cells):
        at = "" if price is None else f" at price {price:g}"
        raise ValueError(f"the run has no cell of {name!r} on {data!r}{at}.")
    cells = of_first(cells)
    kept = set(results.keys_with("explanations"))
    key = next((key for key in cells.index if key in kept), None)
    if key is None:
        raise ValueError(f"there is nothing to step through of {name!r} on {data!r}: {_why_not(cells)}")
    return _read_explored(results, key, cells.loc[key], n_instances)


def explore_run(results: Results, *, price: float | None = None, n_instances: int | None = None) -> ExploredRun:
    """Return what a run kept of every sequential method on every data set, as much as a page can hold."""
    if n_instances is not None:
        check_integer(n_instances, "n_instances", 1)
    table = results.to_frame()
    kept = set(results.keys_with("explanations"))
    methods: dict[str, Explored] = {}
    left: list[str] = []
    room = _MOST_CHARACTERS
    sequential = list(sequential_methods(table, price))
    for title, cells in sequential:
        key = next((key for key in cells.index if key in kept), None)
        if key is None:
            continue
        one = _read_explored(results, key, cells.loc[key], n_instances)
        size = _characters(one)
        if size > room:
            left.append(title)
            continue
        methods[title], room = one, room - size
    if not sequential:
        at = "" if price is None else f" at price {price:g}"
        return ExploredRun({}, f"No method of this run asks for features one by one{at}.")
    if not methods and not left:
        return ExploredRun({}, "This run keeps no explained instances: " + _why_not(sequential[0][1]))
    return ExploredRun(methods, describe_left_out(left))


def sequential_methods(table: Any, price: float | None = None) -> Iterator[tuple[str, Any]]:
    """Cells of each sequential method on each data set, at one price, by "METHOD on DATA"."""
    prices = list(dict.fromkeys(table["price"]))
    if price is not None and price not in prices:
        raise ValueError(f"the run has no price {price!r}: it has {prices}.")
    for (data, method), cells in table.groupby(["data", "method"], sort=False):
        own = of_first(cells if price is None else cells[cells["price"] == price])
        if len(own) and (own["status"] != "").any():
            yield f"{method} on {data}", own


def describe_left_out(titles: list[str]) -> str:
    """Sentence that names what did not fit; empty if all did."""
    return f"Left out, so that the page stays small: {join_titles(titles)}." if titles else ""


def join_titles(titles: list[str]) -> str:
    """Name the first of many."""
    most = 8
    more = f" and {len(titles) - most} more" if len(titles) > most else ""
    return ", ".join(titles[:most]) + more


def _why_not(cells: Any) -> str:
    if (cells["error"] != "").all():
        return "all its cells failed."
    if (cells["status"] == "").all():
        return "it asks for no features one by one."
    if cells["budget"].notna().any():
        return "explanations are of a policy that says when to stop, and it was run under a hard budget."
    why = "it was run with keep_explanations=0; run it again with another file."
    return f"{why} With columns known at the start none are kept."


def _read_explored(results: Results, key: str, cell: Any, n_instances: int | None) -> Explored:
    """What a cell kept, with rows as people count them, and where they come from."""
    explored = results.read_explored(key)
    assert explored is not None
    explored = explored if n_instances is None else explored.thin(n_instances)
    note = f"Price {cell['price']:g}, seed {cell['seed']}, fold {cell['fold']}: {len(explored.explanations)} of the "
    note += f"{cell['n_test']} rows scored, evenly taken; rows are numbered from 1."
    return replace(explored, rows=[int(row) + 1 for row in explored.rows or ()], note=note)


def _characters(explored: Explored) -> int:
    """About how much of a page it takes."""
    n_classes = len(explored.explanations[0].classes)
    steps = sum(len(one.steps) for one in explored.explanations)
    return steps * (120 + 10 * n_classes) + len(explored.explanations) * (300 + 10 * n_classes)


def explorer_section(explored: ExploredRun, words: Labels) -> Markup:
    """Section in which the reader steps through instances."""
    heading = element("h2", "Step through instances")
    note = element("p", explored.note, class_="note") if explored.note else ""
    if not explored.methods:
        return element("section", heading, note, id="explorer")
    without = element("noscript", element("p", "Stepping through instances needs JavaScript."))
    data = script_json([_set_data(name, one, words) for name, one in explored.methods.items()])
    held = element("script", data, type="application/json", id="explored")
    return element("section", heading, without, note, "\n", resource("explorer.html"), held, id="explorer")


def _set_data(name: str, explored: Explored, words: Labels) -> dict[str, Any]:
    first = explored.explanations[0]
    n = len(explored.explanations)
    rows = range(1, n + 1) if explored.rows is None else explored.rows
    truth: Sequence[Any] = [None] * n if explored.truth is None else explored.truth
    return {
        "name": name,
        "note": explored.note,
        "classes": [str(label) for label in first.classes],
        "cases": [_case(*parts, words) for parts in zip(explored.explanations, rows, truth)],
    }


def _case(explanation: Explanation, row: Any, truth: Any, words: Labels) -> dict[str, Any]:
    asked = len(explanation.steps)
    visits = explanation.visit_texts
    title = f"Row {row}: {explanation.decision}, {asked} asked"
    title += f" in {len(visits)} visit{'' if len(visits) == 1 else 's'}" if visits else ""
    decided = explanation.decision_text
    if truth is not None:
        right = words.decision_text(truth) == str(explanation.decision)
        title += "" if right else f" (in truth {words.class_text(truth)})"
        decided += f" In truth it is {words.class_text(truth)}."
    return {
        "title": title,
        "prior": _round_belief(explanation.prior),
        "steps": [_step(step, explanation.unit, visits.get(k)) for k, step in enumerate(explanation.steps)],
        "stop": explanation.stop_text,
        "decided": decided,
    }


def _step(step: ExplanationStep, unit: str, visit: str | None) -> dict[str, Any]:
    shown = None if step.missing else value_text(step.value)
    return {
        "name": step.name,
        "shown": shown,
        "label": None if step.missing or step.label == shown else step.label,
        "price": money(step.price, unit),
        "paid": money(step.paid, unit),
        # of what is ordered together that is told of the whole
        "saving": saving_text(step, step.price, unit) if step.visit is None else "",
        "number": step.visit,
        "visit": visit,
        "after": _round_belief(step.after),
    }


def _round_belief(belief: Sequence[float]) -> list[float]:
    """Probabilities of six significant digits: a page of many instances stays small."""
    return [float(f"{p:.6g}") for p in belief]
