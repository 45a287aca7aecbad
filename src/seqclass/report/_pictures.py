"""Pictures of a run: accuracy, cost, what methods acquire and how sure they are, and what decisions are worth."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from seqclass._utils.arrays import FloatArray, IntArray
from seqclass._utils.text import join_names, short_repr, shorten
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
from seqclass.plots import FeatureCountDisplay, StagewiseCalibrationDisplay
from seqclass.plots.accuracy_features import wilson
from seqclass.plots.acquisition_map import acquired_shares
from seqclass.plots.decision_curve import benefit_limits
from seqclass.plots.question_calibration import stops_of
from seqclass.plots.stagewise_calibration import beliefs_after, stages_of
from seqclass.report._markup import (
    CLASSES,
    LEFT,
    NARROW,
    Markup,
    Number,
    count,
    element,
    features,
    figure,
    label,
    number,
    of_all,
    picture,
    prices,
    table,
    together,
    with_interval,
)
from seqclass.report.explore import join_titles, left_out_text, sequential_methods
from seqclass.stats.friedman import CriticalDifference


@dataclass(frozen=True)
class PictureLayout:
    """What pictures show, and where, in units of their view boxes."""

    log_from: float = 8.0  #: factor from which on a scale goes by logarithms
    n_colours: int = 7  #: in the style sheet
    max_sets: int = 24  #: data sets that are drawn, or methods on them; the tables hold all
    size: tuple[float, float] = (NARROW, 300.0)  #: of a picture that is narrow and not tall
    left: float = 52.0  #: ends of its axes
    right: float = NARROW - 12
    top: float = 30.0
    bottom: float = 250.0
    min_curve: int = 30  #: instances that a curve of calibration stands for, where there are so many
    counts_top: float = 22.0  #: above the histograms
    bar: float = 30.0  #: the tallest of a histogram
    counts_step: float = 40.0  #: from one histogram to the next
    max_features: int = 20  #: in a map of features by class
    max_name: int = 20  #: characters of their names
    max_written: int = 200  #: cells up to which the share is written into them
    cell: float = 26.0  #: width of a cell of the map, at least
    row: float = 24.0  #: its height
    map_top: float = 22.0  #: above the map
    rank_width: float = 680.0  #: of a diagram of ranks
    rank_axis: float = 60.0  #: above its axis
    rank_line: float = 24.0  #: height of a name
    rank_bar: float = 12.0  #: height between two bars


LAYOUT = PictureLayout()

_SHAPES = (
    "M-4.5,0 a4.5,4.5 0 1,0 9,0 a4.5,4.5 0 1,0 -9,0 z",
    "M-4,-4 h8 v8 h-8 z",
    "M0,-5 l5,9 h-10 z",
    "M0,-5.5 l5.5,5.5 l-5.5,5.5 l-5.5,-5.5 z",
    "M0,5 l5,-9 h-10 z",
    "M-1.5,-5 h3 v3.5 h3.5 v3 h-3.5 v3.5 h-3 v-3.5 h-3.5 v-3 h3.5 z",
)


@dataclass(frozen=True)
class Scale:
    """Values to places on the picture, evenly or by their logarithms."""

    low: float
    high: float
    start: float
    end: float
    log: bool = False

    def __call__(self, value: float) -> float:
        low, high, at = self.low, self.high, value
        if self.log:  # what has no logarithm lies far off
            low, high, at = math.log(low), math.log(high), math.log(max(at, 1e-3 * low))
        return self.start + (self.end - self.start) * (at - low) / (high - low)


def round_ticks(low: float, high: float, most: int = 6) -> list[float]:
    """Round values between two ends."""
    step = (high - low) / most
    power = 10.0 ** math.floor(math.log10(step))
    step = next(power * k for k in (1, 2, 5, 10) if power * k >= step * (1 - 1e-9))
    first, last = math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9)
    return [float(f"{i * step:.12g}") for i in range(first, last + 1)]


def ticks(scale: Scale) -> list[float]:
    """Round values on a scale; by a logarithm 1, 2 and 5 of each power of ten."""
    if not scale.log:
        return round_ticks(scale.low, scale.high)
    powers = range(math.floor(math.log10(scale.low)), math.ceil(math.log10(scale.high)) + 1)
    steps = (1, 2, 5) if len(powers) < 5 else (1,)
    values = [float(f"{k}e{power}") for power in powers for k in steps]
    return [value for value in values if scale.low <= value <= scale.high]


def fit_scale(
    points: Sequence[tuple[float, float, float]],
    start: float,
    end: float,
    *,
    may_log: bool = False,
    low: float = 0.0,
    high: float = math.inf,
    zero: bool = False,
) -> Scale:
    """Scale for means and the ends of their intervals, all of them inside; by logarithms where they are far apart."""
    values = [value for point in points for value in point if not math.isnan(value)]
    means = [point[0] for point in points]
    factor = LAYOUT.log_from
    if may_log and min(means) > 0 and max(means) >= factor * min(means) and factor * min(values) >= min(means):
        bottom, top = limits([math.log(value) for value in values])
        return Scale(math.exp(bottom), math.exp(top), start, end, log=True)
    bottom, top = limits([low, *values] if zero else values)
    return Scale(max(bottom, low), min(top, high), start, end)


def limits(values: Sequence[float]) -> tuple[float, float]:
    """Ends of an axis that holds all values, with some room."""
    low, high = min(values), max(values)
    room = 0.05 * (high - low) or max(0.05 * abs(high), 1e-3)
    return low - room, high + room


def marker(number: int, x: float, y: float, title: str = "") -> Markup:
    """Mark of a method, told by its shape as well as by its colour."""
    inside = element("title", title) if title else ""
    place = f"translate({x:.2f},{y:.2f})"
    shape = _SHAPES[number % len(_SHAPES)]
    return element("path", inside, d=shape, transform=place, class_=f"s{number % LAYOUT.n_colours}")


def sample(number: int) -> Markup:
    """Mark of a method or a curve, for a legend."""
    return element("svg", marker(number, 12.0, 8.0), viewBox="0 0 24 16", aria_hidden="true")


def cross(number: int, x: tuple[float, float, float], y: tuple[float, float, float]) -> Markup:
    """Intervals of a point, along and across; NaN where there is none."""
    style = {"class_": f"s{number % LAYOUT.n_colours} spread"}
    lines = Markup("")
    if not math.isnan(x[1] + x[2]):
        lines += element("line", x1=x[1], x2=x[2], y1=y[0], y2=y[0], **style)
    if not math.isnan(y[1] + y[2]):
        lines += element("line", x1=x[0], x2=x[0], y1=y[1], y2=y[2], **style)
    return lines


def frame(x: Scale, y: Scale, x_ticks: Sequence[tuple[float, str]], x_label: str, y_label: str) -> Markup:
    """Axes with ticks and labels; of the ticks below, those that have room."""
    parts = []
    for value in ticks(y):
        parts.append(element("line", x1=x.start, x2=x.end, y1=y(value), y2=y(value), class_="grid"))
        parts.append(_small(f"{value:g}", x.start - 6, y(value) + 4, "end"))
    reached = -math.inf
    for value, name in x_ticks:
        half = 4.0 * len(name)
        if x(value) - half > reached:
            reached = x(value) + half + 6
            parts.append(element("line", x1=x(value), x2=x(value), y1=y.start, y2=y.start + 4, class_="axis"))
            parts.append(_small(name, x(value), y.start + 18, "middle"))
    parts.append(element("path", d=f"M{x.start:.2f},{y.end:.2f} V{y.start:.2f} H{x.end:.2f}", class_="axis"))
    parts.append(
        element("text", _axis_label(x_label, x), x=(x.start + x.end) / 2, y=y.start + 38, text_anchor="middle")
    )
    parts.append(element("text", _axis_label(y_label, y), x=4.0, y=y.end - 12, text_anchor="start"))
    return together(*parts)


def _small(text: str, x: float, y: float, anchor: str) -> Markup:
    return element("text", text, x=x, y=y, text_anchor=anchor, class_="small")


def _axis_label(label: str, scale: Scale) -> str:
    return f"{label} (log scale)" if scale.log else label


#: No words but the names of features.
_PLAIN = Labels()


@dataclass(frozen=True, eq=False)
class AcquiredShares:
    """Which features the instances of each class acquired."""

    features: list[str]
    steps: FloatArray
    share: FloatArray


def codes_of(kept: LabelledRecord) -> tuple[list[str], IntArray]:
    """Classes that occur, in the order of the data set, and the number of each instance's class among them."""
    there = set(kept.truth.tolist())
    present = [label for label in kept.classes if label in there]
    return present, class_numbers(present, kept.truth)


def shares_of(kept: LabelledRecord, codes: IntArray, words: Labels = _PLAIN) -> AcquiredShares:
    """Share of each class that acquired each feature; one that was asked for and missing is not acquired."""
    columns, steps, share = acquired_shares(kept.record, codes)
    return AcquiredShares([words.in_line(kept.names[j]) for j in columns.tolist()], steps, share)


def feature_counts(kept: LabelledRecord, codes: IntArray) -> FeatureCountDisplay:
    """Histograms of the number of features by class, of which no picture is drawn here."""
    return FeatureCountDisplay(kept.record.n_features, codes)


def calibration(kept: LabelledRecord) -> StagewiseCalibrationDisplay:
    """Confidence against accuracy after so many features, of which no picture is drawn here."""
    acquired = kept.record.n_features
    stages = stages_of(acquired, None, min(LAYOUT.min_curve, max(len(acquired) // 4, 1)))
    return StagewiseCalibrationDisplay(*beliefs_after(kept.record, np.array(kept.classes), kept.truth, stages))


def stops_figure(key: str, stops: Sequence[QuestionCalibration]) -> Markup:
    """Confidence and accuracy at the stop, by the number of questions asked."""
    low = min(min(one.confidence, one.accuracy, _end(one)) for one in stops)
    x = Scale(-0.6, len(stops) - 0.4, LAYOUT.left, LAYOUT.right)
    y = Scale(max(0.0, low - 0.04 * (1 - low)), 1.0, LAYOUT.bottom, LAYOUT.top)
    marks = [(float(i), one.questions.replace(" to ", "\N{EN DASH}")) for i, one in enumerate(stops)]
    parts = [frame(x, y, marks, "questions asked before it stopped", "probability of the likeliest class")]
    told = []
    listed: list[list[str | Number]] = []
    for i, one in enumerate(stops):
        at, (least, most) = x(float(i)), one.accuracy_interval
        said = f"after {one.questions}: {one.confidence:.3f} sure, {one.accuracy:.3f} right, {one.n_rows:,} instances"
        if not math.isnan(least):
            parts.append(cross(0, (at, math.nan, math.nan), (y(one.accuracy), y(least), y(most))))
        parts.append(element("line", x1=at - 9, x2=at + 9, y1=y(one.confidence), y2=y(one.confidence), class_="said"))
        parts.append(marker(0, at, y(one.accuracy), said))
        told.append(said)
        right = with_interval(one.accuracy, least, most)
        listed.append(
            [one.questions, count(one.n_rows), number(one.confidence, 4), right, number(one.calibration_error, 4)]
        )
    header = ["questions", "instances", "confidence", "accuracy", "calibration error"]
    below = element(
        "ul", element("li", "line: how sure it was; dot: how right, with its 95% interval"), class_="legend"
    )
    title = "Calibration at the stop, by questions asked"
    return figure(key, title, "; ".join(told), parts, LAYOUT.size, header, listed, below)


def _end(one: QuestionCalibration) -> float:
    least = one.accuracy_interval[0]
    return one.accuracy if math.isnan(least) else least


def histograms(key: str, classes: Sequence[str], n: Sequence[int], counts: FeatureCountDisplay) -> Markup:
    """Histograms of the number of features, one class above the other on the same scale."""
    rows, last = min(len(classes), CLASSES), float(counts.edges[-1]) - 1
    x = Scale(-0.6, last + 0.6, LEFT, NARROW - 12)
    end = LAYOUT.counts_top + LAYOUT.counts_step * rows
    said = f"share of the class, the tallest bar {100 * float(counts.share.max()):.0f}%; a dot is the mean"
    parts = [element("text", said, x=4.0, y=12.0, class_="small")]
    for i, name in enumerate(classes[:rows]):
        base = LAYOUT.counts_top + LAYOUT.counts_step * (i + 1)
        parts.append(label(shorten(name, 16), LEFT - 6, base - 8, "end"))
        parts.append(element("line", x1=x.start, x2=x.end, y1=base, y2=base, class_="axis"))
        parts += _bars(name, i, counts, x, base)
        parts.append(element("circle", cx=x(float(counts.mean[i])), cy=base, r=4.0, class_="dot"))
    for value in round_ticks(0.0, last, 8) if last > 0 else [0.0]:
        if value == int(value):
            parts.append(label(f"{value:g}", x(value), end + 18, "middle"))
    middle = (x.start + x.end) / 2
    parts.append(element("text", "number of features acquired", x=middle, y=end + 36, text_anchor="middle"))
    means = counts.mean.tolist()
    listed: list[list[str | Number]] = [
        [name, count(n[i]), number(means[i], 2)] for i, name in enumerate(classes[:rows])
    ]
    told = "Means: " + "; ".join(f"{name} {mean:.2f}" for name, mean in zip(classes[:rows], means))
    more = of_all(rows, len(classes), "classes")
    title = f"Number of features by class{', ' if more else ''}{more}"
    return figure(key, title, told, parts, (NARROW, end + 44), ["class", "instances", "mean"], listed)


def _bars(name: str, i: int, counts: FeatureCountDisplay, x: Scale, base: float) -> list[Markup]:
    top, width = float(counts.share.max()), int(counts.edges[1])
    parts: list[Markup] = []
    for edge, share in zip(counts.edges.tolist(), counts.share[i].tolist()):
        if share:
            told = element("title", f"{name}: {100 * share:.1f}% with {features(edge, width)}")
            high = share / top * LAYOUT.bar
            sides = {"x": x(edge - 0.4), "y": base - high, "width": x(edge + width - 0.6) - x(edge - 0.4)}
            parts.append(element("rect", told, **sides, height=high, class_="solid"))
    return parts


def calibration_curves(key: str, calibration: StagewiseCalibrationDisplay) -> Markup:
    """Confidence against accuracy, a curve for each number of features."""
    low = min(float(calibration.confidence[k].min()) for k in calibration.counts)
    low = max(0.0, math.floor(10 * low - 0.2) / 10)
    ends = [wilson(calibration.accuracy[k], calibration.size[k].astype(float)) for k in calibration.counts]
    bottom = min(low, *(float(reach.min()) - 0.02 for reach in ends))
    x, y = Scale(low, 1.0, 52.0, NARROW - 12), Scale(max(bottom, 0.0), 1.0, 250.0, 30.0)
    marks = [(value, f"{value:g}") for value in round_ticks(low, 1.0)]
    parts = [frame(x, y, marks, "confidence: probability of the likeliest class", "accuracy of that class")]
    parts.append(element("line", x1=x(low), y1=y(max(low, y.low)), x2=x(1.0), y2=y(1.0), class_="ideal"))
    legend, told = [], []
    listed: list[list[str | Number]] = []
    for i, k in enumerate(calibration.counts):
        parts += _curve(i, k, calibration, x, y)
        said = f"after {features(k)}: {int(calibration.size[k].sum()):,} instances, error {calibration.error[k]:.3f}"
        legend.append(element("li", sample(i), said))
        told.append(said)
        listed += [[count(k), number(c, 4), number(a, 4), count(m)] for c, a, m in _points(calibration, k)]
    header = ["features", "confidence", "accuracy", "instances"]
    below = element("ul", *legend, class_="legend")
    return figure(key, "Calibration along the way", "; ".join(told), parts, LAYOUT.size, header, listed, below)


def _points(calibration: StagewiseCalibrationDisplay, k: int) -> list[tuple[float, float, int]]:
    return list(zip(calibration.confidence[k].tolist(), calibration.accuracy[k].tolist(), calibration.size[k].tolist()))


def _curve(i: int, k: int, calibration: StagewiseCalibrationDisplay, x: Scale, y: Scale) -> list[Markup]:
    """Curve after ``k`` features, with 95% intervals of each accuracy."""
    points = _points(calibration, k)
    steps = " L".join(f"{x(c):.2f},{y(a):.2f}" for c, a, _ in points)
    parts = [element("path", d=f"M{steps}", class_=f"s{i % LAYOUT.n_colours} way")]
    ends = wilson(calibration.accuracy[k], calibration.size[k].astype(float)).tolist()
    for (c, a, m), (least, most) in zip(points, ends):
        parts.append(cross(i, (x(c), math.nan, math.nan), (y(a), y(least), y(most))))
        parts.append(marker(i, x(c), y(a), f"after {features(k)}: {c:.3f} sure, {a:.3f} right, {m:,} instances"))
    return parts


def acquisition_map(key: str, classes: Sequence[str], n: Sequence[int], shares: AcquiredShares) -> Markup:
    """Heat map: features in the order of acquisition across, true classes down."""
    shown, rows = min(len(shares.features), LAYOUT.max_features), min(len(classes), CLASSES)
    cell = max(LAYOUT.cell, min(60.0, (NARROW - LEFT - 12) / max(shown, 1)))
    below = LAYOUT.map_top + LAYOUT.row * rows + 8
    parts = [
        element("text", "true class, and % of it that acquired each feature", x=4.0, y=12.0, class_="small"),
        *(label(shorten(classes[i], 16), LEFT - 6, LAYOUT.map_top + LAYOUT.row * i + 16, "end") for i in range(rows)),
        *_cells(classes[:rows], shares, shown, cell),
        *_names(shares.features[:shown], cell, below),
    ]
    alike = bool((abs(shares.steps - 1 - range(len(shares.steps))) < 1e-9).all())
    title = "Features by class, " + ("in the order of acquisition" if alike else "by the mean step of acquisition")
    more = [of_all(shown, len(shares.features), "features"), of_all(rows, len(classes), "classes")]
    title += "".join(f", {text}" for text in more if text)
    listed: list[list[str | Number]] = [
        [name, number(float(step), 2), *(number(100 * float(s), 1) for s in shares.share[:rows, j])]
        for j, (name, step) in enumerate(zip(shares.features[:shown], shares.steps.tolist()))
    ]
    header = ["feature", "mean step", *(f"{name} (%)" for name in classes[:rows])]
    told = f"{sum(n):,} instances of {len(classes)} classes; the shares are in the table below."
    longest = max((min(len(name), LAYOUT.max_name) for name in shares.features[:shown]), default=0)
    size = max(LEFT + cell * shown + 12, NARROW), below + 18 + 5.4 * longest
    return figure(key, title, told, parts, size, header, listed)


def _cells(classes: Sequence[str], shares: AcquiredShares, shown: int, cell: float) -> list[Markup]:
    written = shown * len(classes) <= LAYOUT.max_written
    parts: list[Markup] = []
    for i, name in enumerate(classes):
        y = LAYOUT.map_top + LAYOUT.row * i
        for j in range(shown):
            share, x = float(shares.share[i, j]), LEFT + cell * j
            said = f"{name}: {100 * share:.1f}% acquired {shares.features[j]}, at step {shares.steps[j]:.1f}"
            strength = f"{(0.55 if written else 0.9) * share:.3f}"  # a figure has to be read on it
            sides = {"x": x, "y": y, "width": cell - 1, "height": LAYOUT.row - 1}
            told = element("title", said)
            parts.append(element("rect", told, fill_opacity=strength, class_="share", **sides))
            if written:
                parts.append(label(f"{100 * share:.0f}", x + cell / 2, y + 16, "middle"))
    return parts


def _names(names: Sequence[str], cell: float, below: float) -> list[Markup]:
    parts = []
    for j, name in enumerate(names):
        x = LEFT + cell * (j + 0.5)
        turned = f"rotate(-45 {x:.2f} {below:.2f})"
        shown = shorten(name, LAYOUT.max_name)
        parts.append(element("text", shown, x=x, y=below + 4, text_anchor="end", transform=turned, class_="small"))
    return parts


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
        said = f"{title}, price {at:g}" + ("" if budget != budget else f", hard budget {budget:g}")
        kept = Results(results.path, own).record(data, method)
        drawn.append(_pictures(f"way-{len(drawn)}", said, kept, words, is_open=not drawn))
    if not drawn:
        why = "no instances are kept of them" if bare else "there are none"
        return element("p", f"What methods that ask for features one by one acquired cannot be drawn: {why}.")
    notes = [
        "Of the instances that were kept, over all folds and seeds. Press a name to open or close its pictures.",
        left_out_text(left),
        f"No instances are kept of {join_titles(bare)}." if bare else "",
    ]
    return together(element("p", " ".join(filter(None, notes)), class_="note"), *drawn)


def _pictures(key: str, title: str, kept: LabelledRecord, words: Labels, *, is_open: bool) -> Markup:
    present, codes = codes_of(kept)
    order = words.class_order(present)
    classes, codes = [words.class_text(present[i]) for i in order], np.argsort(order)[codes]
    counts = feature_counts(kept, codes)
    n = [int((codes == i).sum()) for i in range(len(classes))]
    figures = [
        acquisition_map(f"{key}-map", classes, n, shares_of(kept, codes, words)),
        histograms(f"{key}-counts", classes, n, counts),
        calibration_curves(f"{key}-calibration", calibration(kept)),
        stops_figure(f"{key}-stops", stops_of(kept.record, kept.truth, kept.classes)),
    ]
    said = f"{title}: {len(kept):,} instances, {kept.record.n_features.mean():.2f} features on average"
    inside = element("div", *figures, class_="pictures")
    return element("details", element("summary", said), inside, class_="ways", open="" if is_open else None)


#: Thresholds whose figures stand in the table below.
_LISTED = tuple(k / 10 for k in range(1, 10))


def curves_figure(key: str, data: str, curves: Mapping[int, DecisionCurve]) -> Markup:
    """Net benefit less prices against threshold probability."""
    first = next(iter(curves.values()))
    low, high = benefit_limits(list(curves.values()))
    x, y = Scale(0.0, 1.0, LAYOUT.left, LAYOUT.right), Scale(low, high, LAYOUT.bottom, LAYOUT.top)
    marks = [(k / 5, f"{k / 5:g}") for k in range(6)]
    label = f"threshold probability of {shorten(first.positive, 24)}"
    parts = [_clip(key), frame(x, y, marks, label, "net benefit less prices")]
    inside, legend = [], []
    listed: list[list[str | Number]] = []
    for i, one in curves.items():
        inside += [_area(one, i, x, y), _line(one.thresholds, one.after_price, x, y, f"s{i % LAYOUT.n_colours} curve")]
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
    return figure(key, title, "The figures are in the table below.", parts, LAYOUT.size, header, listed, below)


def _line(at: FloatArray, values: FloatArray, x: Scale, y: Scale, style: str) -> Markup:
    steps = " L".join(f"{x(float(a)):.2f},{_place(y, float(v)):.2f}" for a, v in zip(at, values))
    return element("path", d=f"M{steps}", class_=style)


def _area(one: DecisionCurve, i: int, x: Scale, y: Scale) -> Markup:
    ends = [(a, v) for a, v in zip(one.thresholds, one.lower)] + list(zip(one.thresholds[::-1], one.upper[::-1]))
    steps = " L".join(f"{x(float(a)):.2f},{_place(y, float(v)):.2f}" for a, v in ends)
    return element("path", d=f"M{steps} Z", class_=f"s{i % LAYOUT.n_colours} area")


def _place(y: Scale, value: float) -> float:
    """Place on the picture, not far beyond it: treating all falls without end."""
    return min(max(y(value), -1e3), 2e3)


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
        if place == LAYOUT.max_sets:
            break
        curves: dict[int, DecisionCurve] = {}
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
                curves[names[method]] = judgement.curve(method, target)
        if curves:
            figures.append(curves_figure(f"curve-{place}", data, curves))
    unused = [label for i, label in enumerate(positive) if i not in used]
    if unused:
        raise ValueError(f"positive: {short_repr(unused[0])} is no class of a data set whose instances are kept.")
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
    numbers = {name: i for i, name in enumerate(methods)}
    scored = summary[summary["realised_cost"].notna()]
    names = list(dict.fromkeys(scored["data"]))
    if not names:
        return element("p", "There is nothing to draw: no cell has a score.")
    figures, limits = list[Markup](), "budget" in summary
    order = ["budget", "price"] if limits else ["price"]

    def in_order(rows: Any) -> list[dict[str, Any]]:
        listed: list[dict[str, Any]] = rows.sort_values(order, kind="stable").to_dict("records")
        return sorted(listed, key=lambda row: numbers[row["method"]])

    # methods under a budget stop for it, and not for the price
    draw = _against_features if limits or not (scored["cost_mean"] > 0).any() else _against_paid
    if len(names) > 1 and draw is _against_paid:
        figures.append(draw("all", ALL, in_order(_over_all(scored, len(names), order)), numbers))
    for i, name in enumerate(names[: LAYOUT.max_sets]):
        figures.append(draw(f"set-{i}", name, in_order(scored[scored["data"] == name]), numbers))
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
    key = element("ul", *(element("li", sample(i), name) for name, i in numbers.items()), class_="legend")
    return together(element("p", note, class_="note"), key, element("div", *figures, class_="pictures"))


def _setting_text(row: dict[str, Any]) -> str:
    budget = row.get("budget", math.nan)
    return f"price {row['price']:g}" + ("" if math.isnan(budget) else f", hard budget {budget:g}")


def _point(row: dict[str, Any], metric: str) -> Point:
    return tuple(float(row[f"{metric}{end}"]) for end in ("", "_lower", "_upper"))  # type: ignore[return-value]


def _against_features(key: str, name: str, rows: list[dict[str, Any]], numbers: dict[str, int]) -> Markup:
    points = [(row, _point(row, "n_features_mean"), _point(row, "accuracy")) for row in rows]
    x = fit_scale([p[1] for p in points], LAYOUT.left, LAYOUT.right, may_log=True, zero=True)
    y = fit_scale([p[2] for p in points], LAYOUT.bottom, LAYOUT.top, high=1.0)
    marks = [(value, f"{value:g}") for value in ticks(x) if value >= 0]
    drawn, told, listed = [frame(x, y, marks, "features acquired, mean", "accuracy")], [], []
    for row, asked, accuracy in points:
        said = f"{row['method']} at {_setting_text(row)}: accuracy {accuracy[0]:.3f} with {asked[0]:.2f} features"
        drawn.append(_place_mark(key, numbers[row["method"]], _places(x, asked), _places(y, accuracy), said))
        told.append(said)
        listed.append([with_interval(*asked, 2), with_interval(*accuracy)])
    drawn[1:1] = _ways([(row["method"], x(f[0]), y(a[0])) for row, f, a in points], numbers)
    return _figure(key, f"{name}: accuracy against features", drawn, told, rows, ["features", "accuracy"], listed)


def _over_all(scored: Any, n: int, order: list[str]) -> Any:
    """Means over all data sets, without intervals."""
    means = over_data(scored, n, ["method", *order], ["cost_mean", "realised_cost", "n_cells", "n_failed"])
    ends = [f"{name}_{end}" for name in ("cost_mean", "realised_cost") for end in ("lower", "upper")]
    return means.assign(**dict.fromkeys(ends, math.nan))


def _against_paid(key: str, name: str, rows: list[dict[str, Any]], numbers: dict[str, int]) -> Markup:
    """Decision cost against price paid, with lines of equal realised cost."""
    paid, realised = ([_point(row, metric) for row in rows] for metric in ("cost_mean", "realised_cost"))
    decided = [r[0] - p[0] for p, r in zip(paid, realised)]
    most = max(p[0] for p in paid) or 1.0
    x = Scale(0.0, 1.08 * most, LAYOUT.left, LAYOUT.right)
    y = Scale(0.0, 1.08 * max(decided) or most, LAYOUT.bottom, LAYOUT.top)
    step = max(second - first for first, second, *_ in (round_ticks(0.0, x.high), round_ticks(0.0, y.high)))
    drawn = [frame(x, y, [(v, f"{v:g}") for v in ticks(x)], "price paid, mean", "decision cost")]
    slant = [
        element("line", x1=x(0), y1=y(level), x2=x(level), y2=y(0), class_="grid")
        for level in np.arange(1, math.ceil((x.high + y.high) / step)) * step
    ]
    drawn.append(element("g", *slant, clip_path=f"url(#clip-{key})"))
    drawn += _ways([(row["method"], x(p[0]), y(d)) for row, p, d in zip(rows, paid, decided)], numbers)
    told, listed = [], []
    for row, p, d, r in zip(rows, paid, decided, realised):
        said = f"{row['method']} at {_setting_text(row)}: {p[0]:.4f} paid, decisions cost {d:.4f}, {r[0]:.4f} in all"
        drawn.append(marker(numbers[row["method"]], x(p[0]), y(d), said))
        told.append(said)
        listed.append([with_interval(*p), number(d, 4), with_interval(*r)])
    head = ["paid", "decision cost", "realised cost"]
    return _figure(key, f"{name}: decision cost against price paid", drawn, told, rows, head, listed)


def _places(scale: Scale, point: Point) -> Point:
    return scale(point[0]), scale(point[1]), scale(point[2])


def _place_mark(key: str, i: int, x: Point, y: Point, said: str) -> Markup:
    return element("g", cross(i, x, y), clip_path=f"url(#clip-{key})") + marker(i, x[0], y[0], said)


def _ways(points: Sequence[tuple[str, float, float]], numbers: dict[str, int]) -> list[Markup]:
    """Line through the points of each method, in the order of the prices."""
    lines = []
    for method in dict.fromkeys(point[0] for point in points):
        steps = " L".join(f"{x:.2f},{y:.2f}" for name, x, y in points if name == method)
        lines.append(element("path", d=f"M{steps}", class_=f"s{numbers[method] % LAYOUT.n_colours} way"))
    return lines


def _figure(
    key: str,
    title: str,
    drawn: Sequence[Markup],
    told: Sequence[str],
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
    return figure(key, title, "; ".join(told), [_clip(key, 8.0), *drawn], LAYOUT.size, head, cells)


def _clip(key: str, above: float = 0.0) -> Markup:
    """What is drawn within the axes, or a little above them."""
    width, height = LAYOUT.right - LAYOUT.left, LAYOUT.bottom - LAYOUT.top + above
    inside = element("rect", x=LAYOUT.left, y=LAYOUT.top - above, width=width, height=height)
    return element("defs", element("clipPath", inside, id=f"clip-{key}"))


def rank_diagram(result: CriticalDifference, key: str, title: str) -> Markup:
    """Draw a critical-difference diagram."""
    k = len(result.names)
    scale = Scale(1.0, float(k), 210.0, LAYOUT.rank_width - 210.0)
    bars = LAYOUT.rank_axis + 8 + LAYOUT.rank_bar * (len(result.groups) + 1)
    parts = [*_rank_axis(result, scale, k), *_rank_methods(result, scale, k, bars)]
    ranks = dict(zip(result.names, result.average_ranks.tolist()))
    for i, group in enumerate(result.groups, 1):
        ends = [scale(ranks[name]) for name in group]
        y = LAYOUT.rank_axis + 4 + LAYOUT.rank_bar * i
        parts.append(element("line", x1=min(ends) - 4, x2=max(ends) + 4, y1=y, y2=y, class_="bar"))
    height = bars + LAYOUT.rank_line * ((k + 1) // 2) + 4
    return picture(key, title, _ranks_told(result), parts, (LAYOUT.rank_width, height))


def _ranks_told(result: CriticalDifference) -> str:
    groups = "; ".join(", ".join(group) for group in result.groups)
    return f"Average ranks: {result}. " + (f"Not told apart: {groups}." if groups else "All are told apart.")


def _rank_axis(result: CriticalDifference, scale: Scale, k: int) -> list[Markup]:
    """Draw the axis of ranks, and the critical difference above it."""
    parts = [element("line", x1=scale.start, x2=scale.end, y1=LAYOUT.rank_axis, y2=LAYOUT.rank_axis, class_="axis")]
    step = -(-k // 12)
    for rank in range(1, k + 1, step):
        at = scale(float(rank))
        parts.append(element("line", x1=at, x2=at, y1=LAYOUT.rank_axis - 6, y2=LAYOUT.rank_axis, class_="axis"))
        parts.append(element("text", str(rank), x=at, y=LAYOUT.rank_axis - 11, text_anchor="middle", class_="small"))
    width, beyond = result.critical_difference, result.critical_difference > k - 1
    end = scale(1 + min(width, k - 1.0))
    parts.append(element("path", d=f"M{scale.start:.2f},14 v8 m0,-4 H{end:.2f} m0,-4 v8", class_="axis"))
    text = f"critical difference {width:.2f}{', beyond the axis' if beyond else ''}"
    # to the right of the bar there may be no room
    parts.append(element("text", text, x=scale.start, y=10.0, class_="small"))
    return parts


def _rank_methods(result: CriticalDifference, scale: Scale, k: int, bars: float) -> list[Markup]:
    """Draw a line from each rank to its name: the better half on the left, the others on the right."""
    parts = []
    left = (k + 1) // 2
    for place, method in enumerate(np.argsort(result.average_ranks, kind="stable").tolist()):
        rank = float(result.average_ranks[method])
        on_left = place < left
        y = bars + LAYOUT.rank_line * (place if on_left else k - 1 - place) + 4
        end, gap = (scale.start - 14, -6) if on_left else (scale.end + 14, 6)
        parts.append(element("path", d=f"M{scale(rank):.2f},{LAYOUT.rank_axis:g} V{y:.2f} H{end:.2f}", class_="axis"))
        inside = f"{shorten(result.names[method])}  {rank:.2f}"
        anchor = "end" if on_left else "start"
        parts.append(element("text", inside, x=end + gap, y=y + 4, text_anchor=anchor))
    return parts
