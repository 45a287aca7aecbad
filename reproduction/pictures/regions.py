"""Stopping regions on the simplex of beliefs over three classes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from reproduction.pictures._panels import SOURCES, panels
from reproduction.pictures.picture import NothingToDraw, Picture
from reproduction.row import Drawn, RegionMap, Row
from seqclass._utils.arrays import FloatArray, IntArray
from seqclass.plots._style import NEUTRAL, PALE, pale, shorten

__all__ = ["RegionPicture", "lattice"]

#: Corners of the triangle, a class each.
_CORNERS = np.array([[0.0, 0.0], [1.0, 0.0], [0.5, np.sqrt(0.75)]])
#: Where their names stand: side and height that are anchored, and how far off.
_NAMES = (("left", "top", -0.06, -0.02), ("right", "top", 0.06, -0.02), ("center", "bottom", 0.0, 0.02))
#: Where the corners stand magnified, and how large.
_PLACES, _SIZE = np.array([[-0.62, 0.12], [1.13, 0.03], [0.92, 0.55]]), 0.5


def lattice(resolution: int) -> tuple[FloatArray, IntArray]:
    """Beliefs of a `RegionMap`, and the triangles between them.

    Parameters
    ----------
    resolution : int
        Steps along an edge of the simplex.

    Returns
    -------
    belief : ndarray of shape (n, 3)
        By the first and then the second component ascending.
    triangles : ndarray of int of shape (resolution ** 2, 3)
        Numbers of their beliefs.

    Examples
    --------
    >>> belief, triangles = lattice(1)
    >>> belief.tolist(), triangles.tolist()
    ([[0.0, 0.0, 1.0], [0.0, 1.0, 0.0], [1.0, 0.0, 0.0]], [[0, 2, 1]])
    """
    i, j = np.nonzero(np.add.outer(np.arange(resolution + 1), np.arange(resolution + 1)) <= resolution)
    number = np.full((resolution + 2, resolution + 2), -1)
    number[i, j] = np.arange(len(i))
    up = np.column_stack([number[i, j], number[i + 1, j], number[i, j + 1]])
    down = np.column_stack([number[i + 1, j], number[i + 1, j + 1], number[i, j + 1]])
    triangles = np.vstack([up, down])
    belief = np.column_stack([i, j, resolution - i - j]) / resolution
    return belief, triangles[(triangles >= 0).all(axis=1)]


@dataclass(frozen=True)
class RegionPicture(Picture):
    """A triangle a stage and source, each corner a class: where the policy goes on, and where it stops for what.

    Corners that were asked by themselves stand beside, magnified.

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> found = RegionMap("MLL", "ETANA", "ours", 4, ("ALL", "MLL", "AML"), 1, (2, 1, 0))
    >>> figure = Figure(layout="constrained")
    >>> RegionPicture().draw(figure, [], [found])
    >>> [text.get_text() for text in figure.axes[0].texts]
    ['ALL', 'MLL', 'AML']
    """

    def draw(self, figure: Any, rows: Sequence[Row], curves: Sequence[Drawn]) -> None:
        """Draw the maps."""
        maps = [c for c in curves if isinstance(c, RegionMap)]
        found = {(c.source, c.stage): c for c in maps if c.corner < 0}
        if not found:
            raise NothingToDraw("regions of a policy on three classes")
        sources = [source for source in SOURCES if any(source == known for known, _ in found)]
        stages = sorted({stage for _, stage in found})
        axes = panels(figure, len(sources), len(stages), 2.25)
        for (i, j), ax in np.ndenumerate(axes):
            ax.set_axis_off()
            key = (sources[i], stages[j])
            ax.set_title(f"{SOURCES[key[0]]}: stage {key[1]}", fontsize=9.5)
            if key in found:
                _triangle(ax, found[key])
                for part in maps:
                    if part.corner >= 0 and (part.source, part.stage) == key:
                        _magnified(ax, part)
            else:
                ax.text(0.5, 0.5, "never reached", ha="center", transform=ax.transAxes, fontsize=9)
        _explain(figure, maps)


def _triangle(ax: Any, whole: RegionMap) -> None:
    """The simplex, and its corners by the names of the classes."""
    _areas(ax, whole, _CORNERS)
    for corner, name, (ha, va, right, up) in zip(_CORNERS, whole.classes, _NAMES):
        ax.text(corner[0] + right, corner[1] + up, _class_name(name), ha=ha, va=va, fontsize=9, fontweight="bold")
    ax.set_xlim(-0.7, 1.7)
    ax.set_ylim(-0.12, 1.0)
    ax.set_aspect("equal")


def _magnified(ax: Any, part: RegionMap) -> None:
    """A corner of the simplex, large, beside where it belongs."""
    corners = _PLACES[part.corner] + _SIZE * _CORNERS
    _areas(ax, part, corners)
    near = np.linalg.norm(corners - _CORNERS[part.corner], axis=1).argmin()
    ax.plot(*np.vstack([_CORNERS[part.corner], corners[near]]).T, color=NEUTRAL, linestyle=":", linewidth=1.2, zorder=0)
    at = corners[:2].mean(axis=0)
    name = _class_name(part.classes[part.corner])
    ax.text(at[0], at[1] - 0.02, f"P({name}) > {1 - part.share:g}", ha="center", va="top", fontsize=7.5)


def _areas(ax: Any, found: RegionMap, corners: FloatArray) -> None:
    from matplotlib.colors import BoundaryNorm, ListedColormap

    belief, triangles = lattice(found.resolution)
    x, y = (belief @ corners).T
    region = np.median(np.array(found.region)[triangles], axis=1)  # that of two corners at least, or the middle one
    n_regions = max(len(found.classes), max(found.region) + 1) + 1
    areas: list[Any] = [PALE, *(pale(k, 0.75) for k in range(n_regions - 1))]
    norm = BoundaryNorm(np.arange(n_regions + 1) - 1.5, n_regions)
    style = {"cmap": ListedColormap(areas), "norm": norm, "edgecolors": "face", "linewidth": 0.3, "rasterized": True}
    ax.tripcolor(x, y, triangles, facecolors=region, **style)
    ax.plot(*corners[[0, 1, 2, 0]].T, color="black", linewidth=1.1, solid_joinstyle="round")


def _class_name(name: str) -> str:
    return f"class {name}" if name.isdigit() else shorten(name, 18)


def _explain(figure: Any, maps: Sequence[RegionMap]) -> None:
    from matplotlib.patches import Patch

    regions = sorted({region for found in maps for region in found.region})
    names = [_class_name(name) for name in maps[0].classes]
    handles = []
    for region in regions:
        told = "goes on" if region < 0 else f"stops: {names[region] if region < len(names) else f'decision {region}'}"
        edge = NEUTRAL if region < 0 else pale(region)
        handles.append(Patch(facecolor=PALE if region < 0 else pale(region, 0.75), edgecolor=edge, label=told))
    figure.legend(handles=handles, loc="outside lower center", ncols=len(handles), fontsize=8.5, frameon=False)
