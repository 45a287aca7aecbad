"""What the decisions are worth: class by class, and against the threshold from which somebody treats."""

from __future__ import annotations

from typing import Any

import numpy as np

from seqclass.decision_curves import DecisionCurve
from seqclass.experiment import Results
from seqclass.experiment._kept import of_first
from seqclass.report._decision_curve import curves_figure
from seqclass.report._markup import Markup, element, together
from seqclass.report._tables import Number, count, number, prices, table, with_interval

#: Data sets that are drawn.
MOST = 24


def decision_section(results: Results, cells: Any, price: float | None = None) -> Markup:
    """Section of sensitivity, specificity and features by class, and of decision curves.

    Parameters
    ----------
    results : Results
        The run.
    cells : pandas.DataFrame
        Its table.
    price : float, optional
        Price of the run; by default the first that each method has on a data set.

    Returns
    -------
    Markup
    """
    kept = cells.loc[cells.index.isin(results.keys_with("instances"))]
    kept = kept if price is None else kept[kept["price"] == price]
    names = {name: i for i, name in enumerate(dict.fromkeys(cells["method"]))}
    rows: list[list[str | Number]] = []
    at_prices: list[float] = []
    figures: list[Markup] = []
    for place, (data, of_data) in enumerate(kept.groupby("data", sort=False)):
        if place == MOST:
            break
        curves: dict[int, DecisionCurve] = {}
        for method, own in of_data.groupby("method", sort=False):
            at, budget = of_first(own)[["price", "budget"]].iloc[0]
            where = {"price": at, "budget": None if np.isnan(budget) else int(budget)}
            by_class = _by_class(results, data, method, where)
            rows, at_prices = rows + by_class, at_prices + [at] * len(by_class)
            curve = _curve(results, data, method, where)
            if curve is not None:
                curves[names[method]] = curve
        if curves:
            figures.append(curves_figure(f"curve-{place}", data, curves))
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
        text = "Decision curves are drawn of two classes; see Results.decision_curve for one class against the rest."
        return [element("p", text, class_="note")]
    note = (
        "Decision curves: the net benefit, in true positives a row, of treating from a threshold probability on, less "
        "the prices, which are divided by what a missed case costs. A method is worth its price where its curve is "
        "above treating all and treating none; that is also all that deciding at once can give. Areas are 95% "
        "intervals. The class looked for is the rarer one."
    )
    note += f" Drawn are the first {MOST} of {n_data} data sets." if n_data > MOST else ""
    return [element("p", note, class_="note"), element("div", *figures, class_="pictures")]


def _by_class(results: Results, data: str, method: str, where: dict[str, Any]) -> list[list[str | Number]]:
    try:
        found = results.class_scores(data, method, **where)
    except ValueError:  # an earlier version kept too little
        return []
    return [
        [
            *(data, method, one.label, count(one.n_rows)),
            with_interval(one.sensitivity, *one.sensitivity_interval, 3),
            with_interval(one.specificity, *one.specificity_interval, 3),
            *(number(one.realised_cost, 4), number(one.mean_price, 4), number(one.mean_features, 2)),
        ]
        for one in found
    ]


def _curve(results: Results, data: str, method: str, where: dict[str, Any]) -> DecisionCurve | None:
    """Curve of the rarer of two classes; None of more, or where there is none."""
    try:
        found = results.class_scores(data, method, **where)
        if len(found) != 2 or not min(one.n_rows for one in found):
            return None
        rarer = min(found, key=lambda one: one.n_rows)
        return results.decision_curve(data, method, positive=rarer.label, **where)
    except ValueError:
        return None
