"""Which feature is acquired when and for which class, as a heat map."""

from __future__ import annotations

from collections.abc import Sequence

from seqclass.report._axes import shortened
from seqclass.report._frame import CLASSES, LEFT, NARROW, figure, label, of_all
from seqclass.report._markup import Markup, element
from seqclass.report._tables import Number, number
from seqclass.report._ways import Shares

#: Features that are drawn, characters of their names, and cells in which the share is written.
_FEATURES, _NAME, _WRITTEN = 20, 20, 200
_CELL, _ROW, _TOP = 26.0, 24.0, 22.0


def acquisition_map(key: str, classes: Sequence[str], n: Sequence[int], shares: Shares) -> Markup:
    """Heat map: features in the order of acquisition across, true classes down.

    Parameters
    ----------
    key : str
        Ends the ids of the picture's parts.
    classes : sequence of str
        The classes.
    n : sequence of int
        Instances of each.
    shares : Shares
        Share of each class that acquired each feature.

    Returns
    -------
    Markup
        A ``figure`` element.
    """
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
