"""What the pictures of acquisition share: a figure with its caption, its text for screen readers, and its table."""

from __future__ import annotations

from collections.abc import Sequence

from seqclass.report._markup import Markup, element
from seqclass.report._tables import Number, table

#: Left of the pictures there is room for the names of classes; a picture that is wider than narrow scrolls.
LEFT, NARROW = 118.0, 420.0
#: Classes that are drawn.
CLASSES = 30


def label(text: str, x: float, y: float, anchor: str) -> Markup:
    """Words in a picture."""
    return element("text", text, x=x, y=y, text_anchor=anchor, class_="figure")


def features(n: int, width: int = 1) -> str:
    """Number of features, or a range of them, in words.

    Examples
    --------
    >>> features(1), features(4, 2)
    ('1 feature', '4 to 5 features')
    """
    if width == 1:
        return f"{n} feature{'' if n == 1 else 's'}"
    return f"{n} to {n + width - 1} features"


def of_all(shown: int, n: int, what: str) -> str:
    """What is left out, in words; empty if nothing is.

    Examples
    --------
    >>> of_all(20, 64, "features"), of_all(3, 3, "classes")
    ('the first 20 of 64 features', '')
    """
    return f"the first {shown} of {n} {what}" if shown < n else ""


def figure(
    key: str,
    title: str,
    desc: str,
    drawn: Sequence[Markup],
    size: tuple[float, float],
    header: list[str],
    listed: Sequence[Sequence[str | Number]],
    legend: str = "",
) -> Markup:
    """Put a picture of this size together, with the table of what it shows."""
    svg = element(
        "svg",
        element("title", title, id=f"title-{key}"),
        element("desc", desc, id=f"desc-{key}"),
        *drawn,
        viewBox=f"0 0 {size[0]:.0f} {size[1]:.0f}",
        role="img",
        class_="wide" if size[0] > NARROW else None,
        aria_labelledby=f"title-{key} desc-{key}",
    )
    if size[0] > NARROW:
        svg = element("div", svg, class_="scroll", tabindex=0, role="region", aria_label=title)
    summary = element("summary", "Figures of this picture")
    below = element("details", summary, table(title, header, listed, sortable=False))
    wide = "across" if size[0] > NARROW else None
    return element("figure", element("figcaption", title), svg, legend, below, class_=wide)
