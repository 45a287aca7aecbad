"""Pictures of a run: accuracy against features, and realised cost against price where there are several prices."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from typing import Any

from seqclass.report._axes import FAR, N_COLOURS, Scale, cross, fitted, frame, marker, sample, ticks
from seqclass.report._markup import Markup, Number, count, element, number, prices, table, together, with_interval

#: Data sets that are drawn; the tables hold all.
MOST = 24
_WIDTH, _HEIGHT = 420.0, 300.0
_LEFT, _RIGHT, _TOP, _BOTTOM = 52.0, 408.0, 30.0, 250.0

#: Room at each end of the prices, as a share of their reach.
_ROOM = 0.15

Point = tuple[float, float, float]


def picture_section(summary: Any, methods: Sequence[str]) -> Markup:
    """Section of pictures."""
    numbers = {name: i for i, name in enumerate(methods)}
    scored = summary[summary["realised_cost"].notna()]
    names = list(dict.fromkeys(scored["data"]))
    if not names:
        return element("p", "There is nothing to draw: no cell has a score.")
    figures, limits = [], "budget" in summary
    order = ["budget", "price"] if limits else ["price"]
    for i, name in enumerate(names[:MOST]):
        rows = scored[scored["data"] == name].sort_values(order, kind="stable").to_dict("records")
        rows.sort(key=lambda row: numbers[row["method"]])
        figures += [_against_features(f"features-{i}", name, rows, numbers)]
        # methods under a budget stop for it, and not for the price; one price is no axis
        if not limits and len({row["price"] for row in rows}) > 1:
            figures += [_against_price(f"price-{i}", name, rows, numbers)]
    rest = len(names) - MOST
    note = "Marks are means, bars their 95% intervals."
    joined = "hard budgets" if limits else "prices" if scored["price"].nunique() > 1 else ""
    note += f" Lines join a method's {joined}." if joined else ""
    if rest > 0:
        note += f" Drawn are the first {MOST} of {len(names)} data sets; the summary has the figures of all."
    key = element("ul", *(element("li", sample(i), name) for name, i in numbers.items()), class_="legend")
    return together(element("p", note, class_="note"), key, element("div", *figures, class_="pictures"))


def _at(row: dict[str, Any]) -> str:
    budget = row.get("budget", math.nan)
    return f"price {row['price']:g}" + ("" if math.isnan(budget) else f", hard budget {budget:g}")


def _point(row: dict[str, Any], metric: str) -> Point:
    return tuple(float(row[f"{metric}{end}"]) for end in ("", "_lower", "_upper"))  # type: ignore[return-value]


def _against_features(key: str, name: str, rows: list[dict[str, Any]], numbers: dict[str, int]) -> Markup:
    points = [(row, _point(row, "n_features_mean"), _point(row, "accuracy")) for row in rows]
    x = fitted([p[1] for p in points], _LEFT, _RIGHT, may_log=True, zero=True)
    y = fitted([p[2] for p in points], _BOTTOM, _TOP, high=1.0)
    marks = [(value, f"{value:g}") for value in ticks(x) if value >= 0]
    drawn, told, listed = [frame(x, y, marks, "features acquired, mean", "accuracy")], [], []
    for row, features, accuracy in points:
        said = f"{row['method']} at {_at(row)}: accuracy {accuracy[0]:.3f} with {features[0]:.2f} features"
        drawn.append(_placed(key, numbers[row["method"]], _places(x, features), _places(y, accuracy), said))
        told.append(said)
        listed.append([with_interval(*features, 2), with_interval(*accuracy)])
    drawn[1:1] = _ways([(row["method"], x(f[0]), y(a[0])) for row, f, a in points], numbers)
    return _figure(key, f"{name}: accuracy against features", drawn, told, rows, ["features", "accuracy"], listed)


def _against_price(key: str, name: str, rows: list[dict[str, Any]], numbers: dict[str, int]) -> Markup:
    costs = [_point(row, "realised_cost") for row in rows]
    y = fitted(costs, _BOTTOM, _TOP, may_log=True, zero=True)
    known = sorted({float(row["price"]) for row in rows})
    x = _price_scale(known)
    aside = _side_by_side(x, known, list(dict.fromkeys(row["method"] for row in rows)))
    marks = [(price, f"{price:g}") for price in known]
    drawn, told, listed = [frame(x, y, marks, "price of a feature", "realised cost")], [], []
    placed = []
    for row, cost in zip(rows, costs):
        at = x(float(row["price"])) + aside[row["method"]]
        said = f"{row['method']} at price {row['price']:g}: realised cost {cost[0]:.4f}"
        placed.append((row["method"], at, y(cost[0])))
        drawn.append(_placed(key, numbers[row["method"]], (at, math.nan, math.nan), _places(y, cost), said))
        told.append(said)
        listed.append([with_interval(*cost)])
    drawn[1:1] = _ways(placed, numbers)
    return _figure(key, f"{name}: realised cost against price", drawn, told, rows, ["realised cost"], listed)


def _price_scale(known: Sequence[float]) -> Scale:
    """Scale of two prices or more, with room at its ends."""
    low, high = known[0], known[-1]
    if low > 0 and high >= FAR * low:
        room = (high / low) ** _ROOM
        return Scale(low / room, high * room, _LEFT, _RIGHT, log=True)
    room = _ROOM * (high - low)
    return Scale(low - room, high + room, _LEFT, _RIGHT)


def _side_by_side(x: Scale, known: Sequence[float], methods: Sequence[str]) -> dict[str, float]:
    """How far aside of its price each method is drawn, so that none hides another."""
    gaps = [x(b) - x(a) for a, b in itertools.pairwise(known)]
    apart = min(12.0, 0.8 * min(gaps) / len(methods))
    return {method: apart * (i - (len(methods) - 1) / 2) for i, method in enumerate(methods)}


def _places(scale: Scale, point: Point) -> Point:
    return scale(point[0]), scale(point[1]), scale(point[2])


def _placed(key: str, i: int, x: Point, y: Point, said: str) -> Markup:
    return element("g", cross(i, x, y), clip_path=f"url(#clip-{key})") + marker(i, x[0], y[0], said)


def _ways(points: Sequence[tuple[str, float, float]], numbers: dict[str, int]) -> list[Markup]:
    """Line through the points of each method, in the order of the prices."""
    found = []
    for method in dict.fromkeys(point[0] for point in points):
        steps = " L".join(f"{x:.2f},{y:.2f}" for name, x, y in points if name == method)
        found.append(element("path", d=f"M{steps}", class_=f"s{numbers[method] % N_COLOURS} way"))
    return found


def _figure(
    key: str,
    title: str,
    drawn: Sequence[Markup],
    told: Sequence[str],
    rows: Sequence[dict[str, Any]],
    header: list[str],
    listed: Sequence[list[Number]],
) -> Markup:
    clip = element("rect", x=_LEFT, y=_TOP - 8, width=_RIGHT - _LEFT, height=_BOTTOM - _TOP + 8)
    svg = element(
        "svg",
        element("title", title, id=f"title-{key}"),
        element("desc", "; ".join(told), id=f"desc-{key}"),
        element("defs", element("clipPath", clip, id=f"clip-{key}")),
        *drawn,
        viewBox=f"0 0 {_WIDTH:g} {_HEIGHT:g}",
        role="img",
        aria_labelledby=f"title-{key} desc-{key}",
    )
    limits = "budget" in rows[0]

    def limit(row: dict[str, Any]) -> list[Number]:
        return [number(row["budget"], 0)] if limits else []

    cells = [
        [row["method"], price, *limit(row), count(int(row["n_cells"] - row["n_failed"])), *figures]
        for row, price, figures in zip(rows, prices([row["price"] for row in rows]), listed)
    ]
    plain = table(title, ["method", "price", *(["budget"] if limits else []), "cells", *header], cells, sortable=False)
    below = element("details", element("summary", "Figures of this picture"), plain)
    return element("figure", element("figcaption", title), svg, below)
