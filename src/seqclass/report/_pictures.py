"""Pictures of a run: accuracy, cost, what methods acquire and how sure they are, and what decisions are worth."""

from __future__ import annotations

import io
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from xml.etree import ElementTree

import numpy as np

from seqclass._utils.arrays import IntArray
from seqclass._utils.text import ParameterError, join_names, short_repr
from seqclass._utils.validation import class_numbers
from seqclass.evaluation.calibration_curves import QuestionCalibration
from seqclass.evaluation.decision_curves import DecisionCurve
from seqclass.evaluation.scores import ClassScores
from seqclass.experiment import Results
from seqclass.experiment._store import of_first
from seqclass.experiment._summary import over_data
from seqclass.experiment.comparison import ALL
from seqclass.experiment.records import Judged, LabelledRecord, read_judged
from seqclass.labels import Labels
from seqclass.plots import (
    AccuracyFeaturesDisplay,
    AcquisitionMapDisplay,
    CostPlaneDisplay,
    CriticalDifferenceDisplay,
    DecisionCurveDisplay,
    FeatureCountDisplay,
    QuestionCalibrationDisplay,
    StagewiseCalibrationDisplay,
)
from seqclass.plots._style import COLOURS, FAINT, NEUTRAL, PALE, Display, pyplot
from seqclass.plots.acquisition_map import acquisition_shares
from seqclass.plots.question_calibration import stops_of
from seqclass.plots.stagewise_calibration import beliefs_after, stages_of
from seqclass.report._markup import (
    Markup,
    Number,
    count,
    element,
    number,
    prices,
    table,
    together,
    with_interval,
)
from seqclass.report.explore import describe_left_out, join_titles, sequential_methods
from seqclass.stats.friedman import CriticalDifference


@dataclass(frozen=True)
class PictureLayout:
    """How much pictures show, and how wide they are."""

    max_sets: int = 24  #: data sets that are drawn, or methods on them; the tables hold all
    max_classes: int = 30
    max_features: int = 20  #: in a map of features by class
    min_curve: int = 30  #: instances that a curve of calibration stands for, where there are so many
    narrow: float = 5.2  #: inches of a picture that stands beside another
    wide: float = 7.2  #: inches beyond which it does not


LAYOUT = PictureLayout()

#: Colours that the page has names for, as it is light or dark.
_COLOURS = {paint.lower(): f"var(--s{i})" for i, paint in enumerate(COLOURS[:-1])}
_COLOURS |= {"#000000": "var(--text)", "#ffffff": "var(--page)", NEUTRAL.lower(): "var(--quiet)"}
_COLOURS |= dict.fromkeys([FAINT.lower(), PALE.lower()], "var(--line)")


def draw(display: Display, key: str) -> tuple[list[Markup], tuple[float, float]]:
    """What matplotlib draws, as elements of the page, and its size in points."""
    pyplot()  # which says what to install where it is missing
    from matplotlib import style
    from matplotlib.figure import Figure

    width, height = display._inches()
    width, height = (width, height) if width > LAYOUT.wide else (LAYOUT.narrow, height * LAYOUT.narrow / width)
    text = io.StringIO()
    with style.context(["default", {"svg.fonttype": "none", "svg.hashsalt": key}]):
        drawn = Figure((width, height), layout="constrained")
        display.plot(drawn.subplots())
        drawn.savefig(text, format="svg", transparent=True, metadata={"Date": None})
    return _as_elements(ElementTree.fromstring(text.getvalue())), (72 * width, 72 * height)


def _as_elements(parent: ElementTree.Element) -> list[Markup]:
    return [_as_element(node) for node in parent if not node.tag.endswith(("}metadata", "}style"))]


def _as_element(node: ElementTree.Element) -> Markup:
    """An element without styles, which the page lets none pass of, and in its colours."""
    attributes = {name.rpartition("}")[2]: value for name, value in node.attrib.items()}
    name = node.tag.rpartition("}")[2]
    if name == "g":
        attributes.pop("id", None)
    looks = dict(part.split(": ", 1) for part in attributes.pop("style", "").split("; ") if part)
    if font := looks.pop("font", ""):  # as older releases write it
        looks["font-size"] = f"{font.partition('px')[0].split()[-1]}px"
    looks.pop("font-family", None)
    looks = {key: _COLOURS.get(value, value) for key, value in looks.items()}
    return element(name, (node.text or "").strip(), *_as_elements(node), **attributes, **looks)


def picture(key: str, title: str, desc: str, display: Display) -> Markup:
    """A picture, which scrolls where it is wide; a sentence where matplotlib is missing."""
    try:
        drawn, (width, height) = draw(display, key)
    except ImportError as error:
        return element("p", f"{error}.", class_="note")
    wide = width > 72 * LAYOUT.wide
    svg = element(
        "svg",
        element("title", title, id=f"title-{key}"),
        element("desc", desc, id=f"desc-{key}"),
        *drawn,
        viewBox=f"0 0 {width:.0f} {height:.0f}",
        role="img",
        class_="wide" if wide else None,
        aria_labelledby=f"title-{key} desc-{key}",
    )
    return element("div", svg, class_="scroll", tabindex=0, role="region", aria_label=title) if wide else svg


def figure(
    key: str, title: str, desc: str, display: Display, header: list[str], listed: Sequence[Sequence[str | Number]]
) -> Markup:
    """A picture, with the table of what it shows."""
    summary = element("summary", "Figures of this picture")
    below = element("details", summary, table(title, header, listed, sortable=False))
    wide = "across" if display._inches()[0] > LAYOUT.wide else None
    return element("figure", element("figcaption", title), picture(key, title, desc, display), below, class_=wide)


def features(n: int) -> str:
    """Number of features in words."""
    return f"{n} feature{'' if n == 1 else 's'}"


def of_all(shown: int, n: int, what: str) -> str:
    """What is left out, in words; empty if nothing is."""
    return f"the first {shown} of {n} {what}" if shown < n else ""


def codes_of(kept: LabelledRecord) -> tuple[list[str], IntArray]:
    """Classes that occur, in the order of the data set, and the number of each instance's class among them."""
    there = set(kept.truth.tolist())
    present = [label for label in kept.classes if label in there]
    return present, class_numbers(present, kept.truth)


def calibration(kept: LabelledRecord) -> StagewiseCalibrationDisplay:
    """Confidence against accuracy after so many features, of which no picture is drawn here."""
    acquired = kept.record.n_features
    stages = stages_of(acquired, None, min(LAYOUT.min_curve, max(len(acquired) // 4, 1)))
    return StagewiseCalibrationDisplay(*beliefs_after(kept.record, np.array(kept.classes), kept.truth, stages))


def stops_figure(key: str, stops: Sequence[QuestionCalibration]) -> Markup:
    """Confidence and accuracy at the stop, by the number of questions asked."""
    notes = [
        f"after {one.questions}: {one.confidence:.3f} sure, {one.accuracy:.3f} right, {one.n_rows:,} instances"
        for one in stops
    ]
    listed: list[list[str | Number]] = []
    for one in stops:
        right = with_interval(one.accuracy, *one.accuracy_interval)
        sure, error = number(one.confidence, 4), number(one.calibration_error, 4)
        listed.append([one.questions, count(one.n_rows), sure, right, error])
    header = ["questions", "instances", "confidence", "accuracy", "calibration error"]
    display = QuestionCalibrationDisplay(stops)
    return figure(key, "Calibration at the stop, by questions asked", "; ".join(notes), display, header, listed)


def histograms(key: str, classes: Sequence[str], kept: LabelledRecord, codes: IntArray) -> Markup:
    """Histograms of the number of features, one class above the other on the same scale."""
    counts, n = FeatureCountDisplay(kept.record.n_features, codes), np.bincount(codes).tolist()
    shown = codes < LAYOUT.max_classes
    drawn = FeatureCountDisplay(kept.record.n_features[shown], codes[shown])
    drawn.classes = classes[: LAYOUT.max_classes]
    means = list(zip(drawn.classes, counts.mean.tolist()))
    listed: list[list[str | Number]] = [[name, count(k), number(mean, 2)] for k, (name, mean) in zip(n, means)]
    text = "Means: " + "; ".join(f"{name} {mean:.2f}" for name, mean in means)
    more = of_all(len(drawn.classes), len(classes), "classes")
    title = f"Number of features by class{', ' if more else ''}{more}"
    return figure(key, title, text, drawn, ["class", "instances", "mean"], listed)


def calibration_curves(key: str, calibration: StagewiseCalibrationDisplay) -> Markup:
    """Confidence against accuracy, a curve for each number of features."""
    notes, listed = [], []
    for k in calibration.counts:
        notes.append(f"after {features(k)}: {calibration.size[k].sum():,} instances, error {calibration.error[k]:.3f}")
        points = zip(calibration.confidence[k].tolist(), calibration.accuracy[k].tolist(), calibration.size[k].tolist())
        listed += [[count(k), number(c, 4), number(a, 4), count(m)] for c, a, m in points]
    header = ["features", "confidence", "accuracy", "instances"]
    return figure(key, "Calibration along the way", "; ".join(notes), calibration, header, listed)


def acquisition_map(key: str, classes: Sequence[str], kept: LabelledRecord, codes: IntArray, words: Labels) -> Markup:
    """Heat map: features in the order of acquisition across, true classes down; what was missing is not acquired."""
    columns, steps, share = acquisition_shares(kept.record, codes)
    features, n = [words.in_line(kept.names[j]) for j in columns.tolist()], np.bincount(codes).tolist()
    rows, shown = classes[: LAYOUT.max_classes], features[: LAYOUT.max_features]
    counts, share = n[: len(rows)], share[: len(rows)]
    display = AcquisitionMapDisplay(share, features, rows, counts=counts, max_features=LAYOUT.max_features)
    alike = bool((abs(steps - 1 - range(len(steps))) < 1e-9).all())
    title = "Features by class, " + ("in the order of acquisition" if alike else "by the mean step of acquisition")
    more = [of_all(len(shown), len(features), "features"), of_all(len(rows), len(classes), "classes")]
    title += "".join(f", {text}" for text in more if text)
    listed: list[list[str | Number]] = [
        [name, number(step, 2), *(number(100 * s, 1) for s in share[:, j].tolist())]
        for j, (name, step) in enumerate(zip(shown, steps.tolist()))
    ]
    header = ["feature", "mean step", *(f"{name} (%)" for name in rows)]
    note = f"{sum(n):,} instances of {len(classes)} classes; the shares are in the table below."
    return figure(key, title, note, display, header, listed)


def acquisition_section(results: Results, price: float | None, words: Labels) -> Markup:
    """Section with four pictures of each sequential method on each data set, from the instances that were kept."""
    drawn: list[Markup] = []
    left: list[str] = []
    bare: list[str] = []
    having = set(results.keys_with("instances"))
    for title, cells in sequential_methods(results.to_frame(), price):
        own = [key for key in cells.index if key in having]
        if not own:
            bare.append(title)
            continue
        if len(drawn) == LAYOUT.max_sets:
            left.append(title)
            continue
        data, method, at, budget = cells[["data", "method", "price", "budget"]].iloc[0]
        heading = f"{title}, price {at:g}" + ("" if budget != budget else f", hard budget {budget:g}")
        kept = Results(results.path, own).record(data, method)
        drawn.append(_pictures(f"way-{len(drawn)}", heading, kept, words, is_open=not drawn))
    if not drawn:
        why = "no instances are kept of them" if bare else "there are none"
        return element("p", f"What methods that ask for features one by one acquired cannot be drawn: {why}.")
    notes = [
        "Of the instances that were kept, over all folds and seeds. Press a name to open or close its pictures.",
        describe_left_out(left),
        f"No instances are kept of {join_titles(bare)}." if bare else "",
    ]
    return together(element("p", " ".join(filter(None, notes)), class_="note"), *drawn)


def _pictures(key: str, title: str, kept: LabelledRecord, words: Labels, *, is_open: bool) -> Markup:
    present, codes = codes_of(kept)
    order = words.class_order(present)
    classes, codes = [words.class_text(present[i]) for i in order], np.argsort(order)[codes]
    figures = [
        acquisition_map(f"{key}-map", classes, kept, codes, words),
        histograms(f"{key}-counts", classes, kept, codes),
        calibration_curves(f"{key}-calibration", calibration(kept)),
        stops_figure(f"{key}-stops", stops_of(kept.record, kept.truth, kept.classes)),
    ]
    heading = f"{title}: {len(kept):,} instances, {kept.record.n_features.mean():.2f} features on average"
    inside = element("div", *figures, class_="pictures")
    return element("details", element("summary", heading), inside, class_="ways", open="" if is_open else None)


#: Thresholds whose figures stand in the table below.
_LISTED = tuple(k / 10 for k in range(1, 10))


def curves_figure(key: str, data: str, curves: Mapping[str, DecisionCurve]) -> Markup:
    """Net benefit less prices against threshold probability."""
    first = next(iter(curves.values()))
    every = first.treat_all()
    listed: list[list[str | Number]] = []
    for at in _LISTED:
        place = int(np.argmin(np.abs(first.thresholds - at)))
        figures = [with_interval(c.after_price[place], c.lower[place], c.upper[place], 3) for c in curves.values()]
        listed.append([f"{at:g}", *figures, number(float(every.net_benefit[place]), 3)])
    header = ["threshold", *curves, "treat all"]
    title, display = f"{data}: decision curves for {first.positive}", DecisionCurveDisplay(list(curves.values()))
    return figure(key, title, "The figures are in the table below.", display, header, listed)


def decision_section(results: Results, cells: Any, price: float | None = None, positive: Sequence[Any] = ()) -> Markup:
    """Section of sensitivity, specificity and features by class, and of decision curves."""
    kept = cells.loc[cells.index.isin(results.keys_with("instances"))]
    kept = kept if price is None else kept[kept["price"] == price]
    rows: list[list[str | Number]] = []
    at_prices: list[float] = []
    figures: list[Markup] = []
    used: set[int] = set()
    for place, (data, of_data) in enumerate(kept.groupby("data", sort=False)):
        if place == LAYOUT.max_sets:
            break
        curves: dict[str, DecisionCurve] = {}
        for method, own in of_data.groupby("method", sort=False):
            first = of_first(own)
            judgement = _read_kept(results, first[first["seed"] == first["seed"].iloc[0]])
            if judgement is None:
                continue
            by_class = judgement.scores()
            rows += [[data, method, *_figures(one)] for one in by_class]
            at_prices += [first["price"].iloc[0]] * len(by_class)
            target, wanted = _positive_class(judgement.classes, positive, data)
            used.update(wanted)
            if (wanted or len(by_class) == 2) and judgement.proba is not None and min(one.n_rows for one in by_class):
                curves[method] = judgement.curve(method, target)
        if curves:
            figures.append(curves_figure(f"curve-{place}", data, curves))
    unused = [label for i, label in enumerate(positive) if i not in used]
    if unused:
        problem = f"must name classes of data sets whose instances are kept, got {short_repr(unused[0])}."
        raise ParameterError("positive", problem)
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
    note += f" Drawn are the first {LAYOUT.max_sets} of {n_data} data sets." if n_data > LAYOUT.max_sets else ""
    return [element("p", note, class_="note"), element("div", *figures, class_="pictures")]


def _positive_class(classes: list[str], positive: Sequence[Any], data: Any) -> tuple[Any, list[int]]:
    """The class to be found, if one is named, and which of the labels name it."""
    place = class_numbers(classes, list(map(str, positive)), other=-1).tolist() if len(positive) else []
    named = [i for i, column in enumerate(place) if column >= 0]
    if len({place[i] for i in named}) > 1:
        raise ValueError(
            f"positive: {join_names(positive[i] for i in named)} are classes of {short_repr(data)}; name one."
        )
    return (classes[place[named[0]]] if named else None), named


def _read_kept(results: Results, cells: Any) -> Judged | None:
    try:
        return read_judged(results.path, cells)
    except ValueError:  # costs of very many decisions are not kept
        return None


def _figures(one: ClassScores) -> list[str | Number]:
    return [
        *(one.label, count(one.n_rows)),
        with_interval(one.sensitivity, *one.sensitivity_interval, 3),
        with_interval(one.specificity, *one.specificity_interval, 3),
        *(number(one.realised_cost, 4), number(one.mean_price, 4), number(one.mean_features, 2)),
    ]


Point = tuple[float, float, float]


def picture_section(summary: Any, methods: Sequence[str]) -> Markup:
    """Section of pictures."""
    scored = summary[summary["realised_cost"].notna()]
    names = list(dict.fromkeys(scored["data"]))
    if not names:
        return element("p", "There is nothing to draw: no cell has a score.")
    figures, limits = list[Markup](), "budget" in summary
    order = ["budget", "price"] if limits else ["price"]

    def in_order(rows: Any) -> list[dict[str, Any]]:
        listed: list[dict[str, Any]] = rows.sort_values(order, kind="stable").to_dict("records")
        return sorted(listed, key=lambda row: methods.index(row["method"]))

    # methods under a budget stop for it, and not for the price
    draw = _against_features if limits or not (scored["paid_mean"] > 0).any() else _against_paid
    if len(names) > 1 and draw is _against_paid:
        figures.append(draw("all", ALL, in_order(_over_all(scored, len(names), order))))
    for i, name in enumerate(names[: LAYOUT.max_sets]):
        figures.append(draw(f"set-{i}", name, in_order(scored[scored["data"] == name])))
    rest = len(names) - LAYOUT.max_sets
    note = "Marks are means, bars their 95% intervals."
    if draw is _against_paid:
        note = (
            "Marks are means. What is on one slanting line costs the same in all, prices and decisions together: what "
            "the line says where it meets an axis."
        )
    joined = "hard budgets" if limits else "prices" if scored["price"].nunique() > 1 else ""
    note += f" Lines join a method's {joined}." if joined else ""
    if rest > 0:
        note += f" Drawn are the first {LAYOUT.max_sets} of {len(names)} data sets; the summary has the figures of all."
    return together(element("p", note, class_="note"), element("div", *figures, class_="pictures"))


def _setting_text(row: dict[str, Any]) -> str:
    budget = row.get("budget", math.nan)
    return f"price {row['price']:g}" + ("" if math.isnan(budget) else f", hard budget {budget:g}")


def _point(row: dict[str, Any], metric: str) -> Point:
    return tuple(float(row[f"{metric}{end}"]) for end in ("", "_lower", "_upper"))  # type: ignore[return-value]


def _against_features(key: str, name: str, rows: list[dict[str, Any]]) -> Markup:
    notes, listed = [], []
    for row in rows:
        asked, right = _point(row, "n_features_mean"), _point(row, "accuracy")
        notes.append(f"{row['method']} at {_setting_text(row)}: accuracy {right[0]:.3f} with {asked[0]:.2f} features")
        listed.append([with_interval(*asked, 2), with_interval(*right)])
    ends = np.array([_point(row, "accuracy") for row in rows])
    ends = np.clip(np.where(np.isnan(ends), ends[:, :1], ends), 0.0, 1.0)
    display = AccuracyFeaturesDisplay(
        [row["method"] for row in rows], [row["n_features_mean"] for row in rows], ends[:, 0], intervals=ends[:, 1:]
    )
    return _figure(key, f"{name}: accuracy against features", notes, display, rows, ["features", "accuracy"], listed)


def _over_all(scored: Any, n: int, order: list[str]) -> Any:
    """Means over all data sets, without intervals."""
    means = over_data(scored, n, ["method", *order], ["paid_mean", "realised_cost", "n_cells", "n_failed"])
    ends = [f"{name}_{end}" for name in ("paid_mean", "realised_cost") for end in ("lower", "upper")]
    return means.assign(**dict.fromkeys(ends, math.nan))


def _against_paid(key: str, name: str, rows: list[dict[str, Any]]) -> Markup:
    """Decision cost against price paid, with lines of equal realised cost."""
    import pandas as pd

    notes, listed = [], []
    for row in rows:
        paid, whole = _point(row, "paid_mean"), _point(row, "realised_cost")
        at, decided = f"{row['method']} at {_setting_text(row)}", whole[0] - paid[0]
        notes.append(f"{at}: {paid[0]:.4f} paid, decisions cost {decided:.4f}, {whole[0]:.4f} in all")
        listed.append([with_interval(*paid), number(decided, 4), with_interval(*whole)])
    display = CostPlaneDisplay(pd.DataFrame(rows).assign(data=""))
    head = ["paid", "decision cost", "realised cost"]
    return _figure(key, f"{name}: decision cost against price paid", notes, display, rows, head, listed)


def _figure(
    key: str,
    title: str,
    notes: Sequence[str],
    display: Display,
    rows: Sequence[dict[str, Any]],
    header: list[str],
    listed: Sequence[list[Number]],
) -> Markup:
    limits = "budget" in rows[0]

    def limit(row: dict[str, Any]) -> list[Number]:
        return [number(row["budget"], 0)] if limits else []

    cells = [
        [row["method"], price, *limit(row), count(int(row["n_cells"] - row["n_failed"])), *figures]
        for row, price, figures in zip(rows, prices([row["price"] for row in rows]), listed)
    ]
    head = ["method", "price", *(["budget"] if limits else []), "cells", *header]
    return figure(key, title, "; ".join(notes), display, head, cells)


def rank_diagram(result: CriticalDifference, key: str, title: str) -> Markup:
    """Draw a critical-difference diagram."""
    groups = "; ".join(", ".join(group) for group in result.groups)
    text = f"Average ranks: {result}. " + (f"Not told apart: {groups}." if groups else "All are told apart.")
    return picture(key, title, text, CriticalDifferenceDisplay(result))
