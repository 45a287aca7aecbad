"""What the decisions are worth: class by class, and against the threshold from which somebody treats."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from seqclass._utils.arrays import FloatArray
from seqclass._utils.text import listed, shown
from seqclass._utils.validation import class_numbers
from seqclass.evaluation.decision_curves import DecisionCurve
from seqclass.evaluation.scores import ClassScores
from seqclass.experiment import Results
from seqclass.experiment._judged import Judged, judged
from seqclass.experiment._store import of_first
from seqclass.plots.decision_curve import benefit_limits
from seqclass.report._axes import N_COLOURS, Scale, frame, sample, shortened
from seqclass.report._markup import (
    NARROW,
    Markup,
    Number,
    count,
    element,
    figure,
    number,
    prices,
    table,
    together,
    with_interval,
)

_LEFT, _RIGHT, _TOP, _BOTTOM = 52.0, NARROW - 12, 30.0, 250.0
#: Thresholds whose figures stand in the table below.
_LISTED = tuple(k / 10 for k in range(1, 10))


def curves_figure(key: str, data: str, curves: Mapping[int, DecisionCurve]) -> Markup:
    """Net benefit less prices against threshold probability."""
    first = next(iter(curves.values()))
    low, high = benefit_limits(list(curves.values()))
    x, y = Scale(0.0, 1.0, _LEFT, _RIGHT), Scale(low, high, _BOTTOM, _TOP)
    marks = [(k / 5, f"{k / 5:g}") for k in range(6)]
    clip = element("rect", x=_LEFT, y=_TOP, width=_RIGHT - _LEFT, height=_BOTTOM - _TOP)
    label = f"threshold probability of {shortened(first.positive, 24)}"
    parts = [
        element("defs", element("clipPath", clip, id=f"clip-{key}")),
        frame(x, y, marks, label, "net benefit less prices"),
    ]
    inside, legend = [], []
    listed: list[list[str | Number]] = []
    for i, one in curves.items():
        inside += [_area(one, i, x, y), _line(one.thresholds, one.after_price, x, y, f"s{i % N_COLOURS} curve")]
        legend.append(element("li", sample(i), one.name))
    every = first.treat_all()
    inside.append(_line(every.thresholds, every.net_benefit, x, y, "ideal none"))
    inside.append(element("line", x1=x(0.0), x2=x(1.0), y1=y(0.0), y2=y(0.0), class_="axis"))
    parts.append(element("g", *inside, clip_path=f"url(#clip-{key})"))
    legend.append(element("li", "dashed: treat all; line at 0: treat none"))
    for at in _LISTED:
        place = int(np.argmin(np.abs(first.thresholds - at)))
        figures = [with_interval(c.after_price[place], c.lower[place], c.upper[place], 3) for c in curves.values()]
        listed.append([f"{at:g}", *figures, number(float(every.net_benefit[place]), 3)])
    header = ["threshold", *(one.name for one in curves.values()), "treat all"]
    title = f"{data}: decision curves for {first.positive}"
    below = element("ul", *legend, class_="legend")
    return figure(key, title, "The figures are in the table below.", parts, (NARROW, 300.0), header, listed, below)


def _line(at: FloatArray, values: FloatArray, x: Scale, y: Scale, style: str) -> Markup:
    steps = " L".join(f"{x(float(a)):.2f},{_place(y, float(v)):.2f}" for a, v in zip(at, values))
    return element("path", d=f"M{steps}", class_=style)


def _area(one: DecisionCurve, i: int, x: Scale, y: Scale) -> Markup:
    ends = [(a, v) for a, v in zip(one.thresholds, one.lower)] + list(zip(one.thresholds[::-1], one.upper[::-1]))
    steps = " L".join(f"{x(float(a)):.2f},{_place(y, float(v)):.2f}" for a, v in ends)
    return element("path", d=f"M{steps} Z", class_=f"s{i % N_COLOURS} area")


def _place(y: Scale, value: float) -> float:
    """Place on the picture, not far beyond it: treating all falls without end."""
    return min(max(y(value), -1e3), 2e3)


#: Data sets that are drawn.
MOST = 24


def decision_section(results: Results, cells: Any, price: float | None = None, positive: Sequence[Any] = ()) -> Markup:
    """Section of sensitivity, specificity and features by class, and of decision curves."""
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
