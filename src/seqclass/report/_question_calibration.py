"""How sure and how right those were who stopped after so many questions, as SVG."""

from __future__ import annotations

import math
from collections.abc import Sequence

from seqclass.calibration import QuestionCalibration
from seqclass.report._axes import Scale, cross, frame, marker
from seqclass.report._frame import NARROW, figure
from seqclass.report._markup import Markup, element
from seqclass.report._tables import Number, count, number, with_interval


def stops_figure(key: str, stops: Sequence[QuestionCalibration]) -> Markup:
    """Confidence and accuracy at the stop, by the number of questions asked.

    Parameters
    ----------
    key : str
        Ends the ids of the picture's parts.
    stops : sequence of QuestionCalibration
        By rising number of questions.

    Returns
    -------
    Markup
        A ``figure`` element.
    """
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
