"""What the decisions are worth: class by class, and against the threshold from which somebody treats."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from seqclass._messages import listed, shown
from seqclass._validation import class_numbers
from seqclass.decision_curves import DecisionCurve
from seqclass.experiment import Results
from seqclass.experiment._judged import Judged, judged
from seqclass.experiment._kept import of_first
from seqclass.report._decision_curve import curves_figure
from seqclass.report._markup import Markup, element, together
from seqclass.report._tables import Number, count, number, prices, table, with_interval
from seqclass.scores import ClassScores

#: Data sets that are drawn.
MOST = 24


def decision_section(results: Results, cells: Any, price: float | None = None, positive: Sequence[Any] = ()) -> Markup:
    """Section of sensitivity, specificity and features by class, and of decision curves.

    Parameters
    ----------
    results : Results
        The run.
    cells : pandas.DataFrame
        Its table.
    price : float, optional
        Price of the run; by default the first that each method has on a data set.
    positive : sequence of labels
        Classes to be found by the decision curves; of data sets that have none of them the last of two classes.

    Returns
    -------
    Markup

    Raises
    ------
    ValueError
        If a label is no class of any data set, or two are classes of one.
    """
    kept = cells.loc[cells.index.isin(results.keys_with("instances"))]
    kept = kept if price is None else kept[kept["price"] == price]
    names = {name: i for i, name in enumerate(dict.fromkeys(cells["method"]))}
    rows: list[list[str | Number]] = []
    at_prices: list[float] = []
    figures: list[Markup] = []
    used: set[int] = set()
    for place, (data, of_data) in enumerate(kept.groupby("data", sort=False)):
        if place == MOST:
            break
        curves: dict[int, DecisionCurve] = {}
        for method, own in of_data.groupby("method", sort=False):
            first = of_first(own)
            found = _judged(results, first[first["seed"] == first["seed"].iloc[0]])
            if found is None:
                continue
            by_class = found.scores()
            rows += [[data, method, *_figures(one)] for one in by_class]
            at_prices += [first["price"].iloc[0]] * len(by_class)
            target, wanted = _wanted(found.classes, positive, data)
            used.update(wanted)
            if (wanted or len(by_class) == 2) and found.proba is not None and min(one.n_rows for one in by_class):
                curves[names[method]] = found.curve(method, target)
        if curves:
            figures.append(curves_figure(f"curve-{place}", data, curves))
    unused = [label for i, label in enumerate(positive) if i not in used]
    if unused:
        raise ValueError(f"positive: {shown(unused[0])} is no class of a data set whose instances are kept.")
    if not rows:
        return element("p", "No instances are kept, so that there are no scores by class and no decision curves.")
    rows = [[*row[:2], shown, *row[2:]] for row, shown in zip(rows, prices(at_prices))]
    header = ["data", "method", "price", "class", "rows", "sensitivity", "specificity", "cost", "paid", "features"]
    note = (
        "Of the instances that were kept of the first seed, over all folds. Sensitivity is the share of the class's "
        "rows that were decided for it, specificity the share of the others that were not; in brackets 95% intervals "
        "over rows."
    )
    parts = [element("p", note, class_="note"), table("Decisions by class", header, rows)]
    return together(*parts, *_curves_part(figures, kept["data"].nunique()))


def _curves_part(figures: list[Markup], n_data: int) -> list[Markup]:
    """Decision curves with what has to be said of them."""
    if not figures:
        text = "Decision curves are drawn of two classes, and of more for a class that --positive names."
        return [element("p", text, class_="note")]
    note = (
        "Decision curves: the net benefit, in true positives a row, of treating from a threshold probability on, less "
        "the prices, which are divided by what a missed case costs. A method is worth its price where its curve is "
        "above treating all and treating none; that is also all that deciding at once can give. Areas are 95% "
        "intervals. The class looked for is the last of two in sorted order, unless --positive named another."
    )
    note += f" Drawn are the first {MOST} of {n_data} data sets." if n_data > MOST else ""
    return [element("p", note, class_="note"), element("div", *figures, class_="pictures")]


def _wanted(classes: list[str], positive: Sequence[Any], data: Any) -> tuple[Any, list[int]]:
    """The class to be found, if one is named, and which of the labels name it."""
    place = class_numbers(classes, list(map(str, positive)), other=-1).tolist() if len(positive) else []
    named = [i for i, column in enumerate(place) if column >= 0]
    if len({place[i] for i in named}) > 1:
        raise ValueError(f"positive: {listed(positive[i] for i in named)} are classes of {shown(data)}; name one.")
    return (classes[place[named[0]]] if named else None), named


def _judged(results: Results, cells: Any) -> Judged | None:
    try:
        return judged(results.path, cells)
    except ValueError:  # an earlier version kept too little
        return None


def _figures(one: ClassScores) -> list[str | Number]:
    return [
        *(one.label, count(one.n_rows)),
        with_interval(one.sensitivity, *one.sensitivity_interval, 3),
        with_interval(one.specificity, *one.specificity_interval, 3),
        *(number(one.realised_cost, 4), number(one.mean_price, 4), number(one.mean_features, 2)),
    ]
