"""Pictures of what sequential methods acquire: features by class, numbers of features, calibration."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from seqclass._utils.arrays import FloatArray, IntArray
from seqclass.evaluation.calibration_curves import QuestionCalibration
from seqclass.experiment import LabelledRecord, Results
from seqclass.plots import FeatureCountDisplay, StagewiseCalibrationDisplay
from seqclass.plots.accuracy_features import wilson
from seqclass.plots.acquisition_map import acquired_shares
from seqclass.plots.question_calibration import stops_of
from seqclass.plots.stagewise_calibration import beliefs_after
from seqclass.report._axes import N_COLOURS, Scale, cross, frame, marker, round_ticks, sample, shortened
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
    together,
    with_interval,
)
from seqclass.report.explore import left_out, sequential_methods, some

#: Fewest instances that a curve of calibration stands for, where there are so many, and most curves.
_LEAST, _CURVES = 30, 5


@dataclass(frozen=True, eq=False)
class Shares:
    """Which features the instances of each class acquired."""

    features: list[str]
    steps: FloatArray
    share: FloatArray


def codes_of(kept: LabelledRecord) -> tuple[list[str], IntArray]:
    """Classes that occur, in the order of the data set, and the number of each instance's class among them."""
    present, codes = np.unique(kept.truth, return_inverse=True)
    place = {label: i for i, label in enumerate(kept.classes)}
    order = sorted(range(len(present)), key=lambda i: place[str(present[i])])
    rank = np.empty(len(order), dtype=np.intp)
    rank[order] = np.arange(len(order))
    return [str(present[i]) for i in order], rank[codes.reshape(-1)]


def shares_of(kept: LabelledRecord, codes: IntArray) -> Shares:
    """Share of each class that acquired each feature; one that was asked for and missing is not acquired."""
    columns, steps, share = acquired_shares(kept.record, codes)
    return Shares([kept.names[j] for j in columns.tolist()], steps, share)


def feature_counts(kept: LabelledRecord, codes: IntArray) -> FeatureCountDisplay:
    """Histograms of the number of features by class, of which no picture is drawn here."""
    return FeatureCountDisplay(kept.record.n_features, codes)


def calibration(kept: LabelledRecord) -> StagewiseCalibrationDisplay:
    """Confidence against accuracy after so many features, of which no picture is drawn here."""
    stages = _stages(kept.record.n_features)
    return StagewiseCalibrationDisplay(*beliefs_after(kept.record, np.array(kept.classes), kept.truth, stages))


def _stages(n_features: IntArray) -> list[int]:
    """Numbers of features to draw: spread evenly from 1 to the most that enough instances acquired."""
    beyond = len(n_features) - np.bincount(n_features).cumsum()
    enough = beyond >= min(_LEAST, max(len(n_features) // 4, 1))
    most = int(enough.sum())  # how many go beyond k falls with k
    return sorted({int(k) for k in np.linspace(min(1, most), most, min(_CURVES, max(most, 1))).round()})


def stops_figure(key: str, stops: Sequence[QuestionCalibration]) -> Markup:
    """Confidence and accuracy at the stop, by the number of questions asked."""
    low = min(min(one.confidence, one.accuracy, _end(one)) for one in stops)
    x, y = Scale(-0.6, len(stops) - 0.4, 52.0, NARROW - 12), Scale(max(0.0, low - 0.04 * (1 - low)), 1.0, 250.0, 30.0)
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
    return figure(key, title, "; ".join(told), parts, (NARROW, 300.0), header, listed, below)


def _end(one: QuestionCalibration) -> float:
    least = one.accuracy_interval[0]
    return one.accuracy if math.isnan(least) else least


_TOP_OF_COUNTS, _TALL, _APART = 22.0, 30.0, 40.0


def histograms(key: str, classes: Sequence[str], n: Sequence[int], counts: FeatureCountDisplay) -> Markup:
    """Histograms of the number of features, one class above the other on the same scale."""
    rows, last = min(len(classes), CLASSES), float(counts.edges[-1]) - 1
    x = Scale(-0.6, last + 0.6, LEFT, NARROW - 12)
    end = _TOP_OF_COUNTS + _APART * rows
    said = f"share of the class, the tallest bar {100 * float(counts.share.max()):.0f}%; a dot is the mean"
    parts = [element("text", said, x=4.0, y=12.0, class_="small")]
    for i, name in enumerate(classes[:rows]):
        base = _TOP_OF_COUNTS + _APART * (i + 1)
        parts.append(label(shortened(name, 16), LEFT - 6, base - 8, "end"))
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
            high = share / top * _TALL
            sides = {"x": x(edge - 0.4), "y": base - high, "width": x(edge + width - 0.6) - x(edge - 0.4)}
            parts.append(element("rect", told, **sides, height=high, class_="solid"))
    return parts


def calibration_curves(key: str, found: StagewiseCalibrationDisplay) -> Markup:
    """Confidence against accuracy, a curve for each number of features."""
    low = min(float(found.confidence[k].min()) for k in found.counts)
    low = max(0.0, math.floor(10 * low - 0.2) / 10)
    ends = [wilson(found.accuracy[k], found.size[k].astype(float)) for k in found.counts]
    bottom = min(low, *(float(reach.min()) - 0.02 for reach in ends))
    x, y = Scale(low, 1.0, 52.0, NARROW - 12), Scale(max(bottom, 0.0), 1.0, 250.0, 30.0)
    marks = [(value, f"{value:g}") for value in round_ticks(low, 1.0)]
    parts = [frame(x, y, marks, "confidence: probability of the likeliest class", "accuracy of that class")]
    parts.append(element("line", x1=x(low), y1=y(max(low, y.low)), x2=x(1.0), y2=y(1.0), class_="ideal"))
    legend, told = [], []
    listed: list[list[str | Number]] = []
    for i, k in enumerate(found.counts):
        parts += _curve(i, k, found, x, y)
        said = f"after {features(k)}: {int(found.size[k].sum()):,} instances, error {found.error[k]:.3f}"
        legend.append(element("li", sample(i), said))
        told.append(said)
        listed += [[count(k), number(c, 4), number(a, 4), count(m)] for c, a, m in _points(found, k)]
    header = ["features", "confidence", "accuracy", "instances"]
    below = element("ul", *legend, class_="legend")
    return figure(key, "Calibration along the way", "; ".join(told), parts, (NARROW, 300.0), header, listed, below)


def _points(found: StagewiseCalibrationDisplay, k: int) -> list[tuple[float, float, int]]:
    return list(zip(found.confidence[k].tolist(), found.accuracy[k].tolist(), found.size[k].tolist()))


def _curve(i: int, k: int, found: StagewiseCalibrationDisplay, x: Scale, y: Scale) -> list[Markup]:
    """Curve after ``k`` features, with 95% intervals of each accuracy."""
    points = _points(found, k)
    steps = " L".join(f"{x(c):.2f},{y(a):.2f}" for c, a, _ in points)
    parts = [element("path", d=f"M{steps}", class_=f"s{i % N_COLOURS} way")]
    ends = wilson(found.accuracy[k], found.size[k].astype(float)).tolist()
    for (c, a, m), (least, most) in zip(points, ends):
        parts.append(cross(i, (x(c), math.nan, math.nan), (y(a), y(least), y(most))))
        parts.append(marker(i, x(c), y(a), f"after {features(k)}: {c:.3f} sure, {a:.3f} right, {m:,} instances"))
    return parts


#: Features that are drawn, characters of their names, and cells in which the share is written.
_FEATURES, _NAME, _WRITTEN = 20, 20, 200
_CELL, _ROW, _TOP = 26.0, 24.0, 22.0


def acquisition_map(key: str, classes: Sequence[str], n: Sequence[int], shares: Shares) -> Markup:
    """Heat map: features in the order of acquisition across, true classes down."""
    shown, rows = min(len(shares.features), _FEATURES), min(len(classes), CLASSES)
    cell = max(_CELL, min(60.0, (NARROW - LEFT - 12) / max(shown, 1)))
    below = _TOP + _ROW * rows + 8
    parts = [
        element("text", "true class, and % of it that acquired each feature", x=4.0, y=12.0, class_="small"),
        *(label(shortened(classes[i], 16), LEFT - 6, _TOP + _ROW * i + 16, "end") for i in range(rows)),
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
    longest = max((min(len(name), _NAME) for name in shares.features[:shown]), default=0)
    size = max(LEFT + cell * shown + 12, NARROW), below + 18 + 5.4 * longest
    return figure(key, title, told, parts, size, header, listed)


def _cells(classes: Sequence[str], shares: Shares, shown: int, cell: float) -> list[Markup]:
    written = shown * len(classes) <= _WRITTEN
    parts: list[Markup] = []
    for i, name in enumerate(classes):
        y = _TOP + _ROW * i
        for j in range(shown):
            share, x = float(shares.share[i, j]), LEFT + cell * j
            said = f"{name}: {100 * share:.1f}% acquired {shares.features[j]}, at step {shares.steps[j]:.1f}"
            strength = f"{(0.55 if written else 0.9) * share:.3f}"  # a figure has to be read on it
            sides = {"x": x, "y": y, "width": cell - 1, "height": _ROW - 1}
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
        shown = shortened(name, _NAME)
        parts.append(element("text", shown, x=x, y=below + 4, text_anchor="end", transform=turned, class_="small"))
    return parts


#: Methods on data sets that are drawn.
MOST = 24


def acquisition_section(results: Results, price: float | None = None) -> Markup:
    """Section with four pictures of each sequential method on each data set, from the instances that were kept."""
    drawn: list[Markup] = []
    left: list[str] = []
    bare: list[str] = []
    having = set(results.keys_with("instances"))
    for title, cells in sequential_methods(results.table(), price):
        own = [key for key in cells.index if key in having]
        if not own:
            bare.append(title)
            continue
        if len(drawn) == MOST:
            left.append(title)
            continue
        data, method, at, budget = cells[["data", "method", "price", "budget"]].iloc[0]
        said = f"{title}, price {at:g}" + ("" if budget != budget else f", hard budget {budget:g}")
        kept = Results(results.path, own).record(data, method)
        drawn.append(_pictures(f"way-{len(drawn)}", said, kept, is_open=not drawn))
    if not drawn:
        why = "no instances are kept of them" if bare else "there are none"
        return element("p", f"What methods that ask for features one by one acquired cannot be drawn: {why}.")
    notes = [
        "Of the instances that were kept, over all folds and seeds. Press a name to open or close its pictures.",
        left_out(left),
        f"No instances are kept of {some(bare)}." if bare else "",
    ]
    return together(element("p", " ".join(filter(None, notes)), class_="note"), *drawn)


def _pictures(key: str, title: str, kept: LabelledRecord, *, is_open: bool) -> Markup:
    classes, codes = codes_of(kept)
    counts = feature_counts(kept, codes)
    n = [int((codes == i).sum()) for i in range(len(classes))]
    figures = [
        acquisition_map(f"{key}-map", classes, n, shares_of(kept, codes)),
        histograms(f"{key}-counts", classes, n, counts),
        calibration_curves(f"{key}-calibration", calibration(kept)),
        stops_figure(f"{key}-stops", stops_of(kept.record, kept.truth, kept.classes)),
    ]
    said = f"{title}: {len(kept):,} instances, {kept.record.n_features.mean():.2f} features on average"
    inside = element("div", *figures, class_="pictures")
    return element("details", element("summary", said), inside, class_="ways", open="" if is_open else None)
