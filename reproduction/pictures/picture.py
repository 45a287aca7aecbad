"""What a kind of picture is."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any

from reproduction.row import Drawn, Row

__all__ = ["NothingToDraw", "Picture"]


class NothingToDraw(ValueError):
    """A table has none of the figures that its picture shows, because its data is absent or all of it failed.

    Examples
    --------
    >>> str(NothingToDraw("curves"))
    'there is nothing to draw: the table has no curves; its data may be absent, or all of it have failed.'
    """

    def __init__(self, what: str) -> None:
        super().__init__(
            f"there is nothing to draw: the table has no {what}; its data may be absent, or all of it have failed."
        )


class Picture(ABC):
    """How a table that is a figure of a paper is drawn; it holds settings only.

    Examples
    --------
    >>> class Bars(Picture):
    ...     def draw(self, figure, rows, curves):
    ...         figure.subplots().bar([row.method for row in rows], [row.ours for row in rows])
    >>> from matplotlib.figure import Figure
    >>> figure = Figure()
    >>> Bars().draw(figure, [Row("MLL", "ETANA", "accuracy", ours=0.93)], [])
    >>> len(figure.axes[0].patches)
    1
    """

    @abstractmethod
    def draw(self, figure: Any, rows: Sequence[Row], curves: Sequence[Drawn]) -> None:
        """Draw into an empty figure.

        Parameters
        ----------
        figure : matplotlib Figure or SubFigure
            Where; a whole figure is given the size that suits the picture.
        rows : sequence of Row
            The figures of the table.
        curves : sequence of Curve or RegionMap
            What the table gave beyond them.

        Raises
        ------
        NothingToDraw
            If there is nothing to draw.
        """
