"""Weights and selected features of images: a pair of small images a method and class."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from reproduction.pictures.picture import NothingToDraw, Picture
from reproduction.row import Curve, Drawn, Row

__all__ = ["PixelPicture"]


@dataclass(frozen=True)
class PixelPicture(Picture):
    """Curves over pixels as square images: a row a method, and for each data set the weights and what is selected.

    Attributes
    ----------
    quantities : tuple of str
        The quantities of the curves that lie beside each other.

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> curves = [Curve("digits", "OFS", what, "published", (0.0, 1.0, 2.0, 3.0), (0.0, 1.0, 0.5, 0.0))
    ...           for what in ("weight", "selected")]
    >>> figure = Figure(layout="constrained")
    >>> PixelPicture(("weight", "selected")).draw(figure, [], curves)
    >>> [ax.get_images()[0].get_array().shape for ax in figure.axes]
    [(2, 2), (2, 2)]
    """

    quantities: tuple[str, ...]

    def draw(self, figure: Any, rows: Sequence[Row], curves: Sequence[Drawn]) -> None:
        """Draw the images, dark where the value is high."""
        wanted = [c for c in curves if isinstance(c, Curve) and c.quantity in self.quantities]
        side = math.isqrt(len(wanted[0].y)) if wanted else 0
        if not wanted or side * side != len(wanted[0].y):
            raise NothingToDraw("square images")
        sets, methods = (list(dict.fromkeys(getattr(c, name) for c in wanted)) for name in ("data", "method"))
        if hasattr(figure, "set_size_inches"):
            figure.set_size_inches(0.6 + 1.25 * len(sets) * len(self.quantities), 0.9 + 1.3 * len(methods))
        axes = figure.subplots(len(methods), len(sets) * len(self.quantities), squeeze=False)
        for curve in wanted:
            i = methods.index(curve.method)
            j = sets.index(curve.data) * len(self.quantities) + self.quantities.index(curve.quantity)
            axes[i, j].imshow(np.reshape(curve.y, (side, side)), cmap="Greys", interpolation="nearest")
            if i == 0:
                axes[i, j].set_title(f"{curve.data}\n{curve.quantity}", fontsize=8)
            if j == 0:
                axes[i, j].set_ylabel(curve.method, fontsize=8)
        for ax in axes.flat:
            ax.set_xticks([])
            ax.set_yticks([])
