"""The belief simplex of two or three classes: its mesh, its frame, and areas on it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from seqclass._utils.arrays import FloatArray, IntArray
from seqclass.plots._style import COLOURS, FAINT, NEUTRAL, PALE, pale, shorten

#: Where a triangle has its classes: left, right and above.
_CORNERS = np.array([[0.0, 0.0], [1.0, 0.0], [0.5, np.sqrt(0.75)]])


def require_few_classes(n_classes: int, what: str, instead: str) -> None:
    """Refuse what has neither a line nor a triangle of beliefs."""
    if n_classes not in (2, 3):
        raise ValueError(f"{what} can be drawn for 2 or 3 classes, here are {n_classes}; {instead}.")


def simplex_points(n_classes: int, resolution: int) -> FloatArray:
    """Beliefs from end to end of a line, or the centres of a triangle's mesh."""
    if n_classes == 3:
        return mesh(resolution)[2]
    p = np.linspace(0.0, 1.0, resolution + 1)
    return np.column_stack([1 - p, p])


def mesh(resolution: int) -> tuple[FloatArray, IntArray, FloatArray]:
    """Corner points of a triangular mesh of the simplex, the points of each triangle, and its centre."""
    i, j = (a.ravel() for a in np.meshgrid(np.arange(resolution + 1), np.arange(resolution + 1), indexing="ij"))
    inside = i + j <= resolution
    number = np.full((resolution + 2, resolution + 2), -1)
    number[i[inside], j[inside]] = np.arange(inside.sum())
    i, j = i[inside], j[inside]
    points = np.column_stack([resolution - i - j, i, j]) / resolution
    up = np.column_stack([number[i, j], number[i + 1, j], number[i, j + 1]])
    down = np.column_stack([number[i + 1, j], number[i + 1, j + 1], number[i, j + 1]])
    triangles = np.vstack([up, down])
    triangles = triangles[(triangles >= 0).all(axis=1)]
    return points, triangles, points[triangles].mean(axis=1)


def places(beliefs: FloatArray) -> FloatArray:
    """Where beliefs over three classes lie in the triangle, (..., 2)."""
    return np.asarray(beliefs @ _CORNERS)


def frame_triangle(ax: Any, classes: Sequence[Any], room: float = 0.4, letters: int = 22) -> None:
    """Draw the frame with a class at each corner, and leave room on its left, such as for a legend."""
    ax.plot(*_CORNERS[[0, 1, 2, 0]].T, color="black", linewidth=1.2, solid_joinstyle="round")
    sides = [("left", "top", -0.05, -0.02), ("right", "top", 0.05, -0.02), ("center", "bottom", 0.0, 0.02)]
    for (x, y), label, (ha, va, right, up) in zip(_CORNERS, classes, sides):
        ax.text(x + right, y + up, shorten(label, letters), ha=ha, va=va, fontsize=10, fontweight="bold")
    ax.set(xlim=(-room, 1.1), ylim=(-0.1, 0.95))
    ax.set_aspect("equal")
    ax.set(xticks=[], yticks=[])
    ax.set_axis_off()


def fill_triangle(ax: Any, resolution: int, values: Any, **settings: Any) -> Any:
    """Colour each triangle of a mesh."""
    points, triangles, _ = mesh(resolution)
    style = {"edgecolors": "face", "linewidth": 0.4, "rasterized": True}
    return ax.tripcolor(*places(points).T, triangles, facecolors=values, **style, **settings)


def fill_regions(ax: Any, resolution: int, region: IntArray, paints: Sequence[Any]) -> Any:
    """Colour the triangles of a mesh by the numbers of their regions, with lines where these meet."""
    from matplotlib.collections import LineCollection
    from matplotlib.colors import BoundaryNorm, ListedColormap

    norm = BoundaryNorm(np.arange(len(paints) + 1) - 0.5, len(paints))
    filled = fill_triangle(ax, resolution, region, cmap=ListedColormap(list(paints)), norm=norm)
    points, triangles, _ = mesh(resolution)
    edges = np.sort(triangles[:, [[0, 1], [1, 2], [0, 2]]].reshape(-1, 2), axis=1)
    order = np.lexsort(edges.T)
    edges, side = edges[order], np.repeat(region, 3)[order]
    met = np.flatnonzero((edges[1:] == edges[:-1]).all(axis=1) & (side[1:] != side[:-1]))
    ax.add_collection(LineCollection(list(places(points)[edges[met]]), colors="#404040", linewidths=0.5))
    return filled


def action_paints(actions: Sequence[int], n_decisions: int, n_questions: int) -> dict[int, Any]:
    """Colour of each action, given the most frequent first: pale for decisions, strong for questions.

    A question has the same colour in every picture of its problem, as long as there are enough of them; else those
    that are asked most have one. It is grey where it is the only one there is.
    """
    hues = [i % len(COLOURS) for i in range(n_decisions, n_decisions + len(COLOURS))]
    strong = [*(COLOURS[i] for i in hues if COLOURS[i] != "#000000"), NEUTRAL, "#404040"]
    asked = [action for action in actions if action >= n_decisions]
    paints: dict[int, Any] = {j: pale(j, 0.25) for j in sorted(actions) if j < n_decisions}
    if n_questions == 1:
        return paints | dict.fromkeys(asked, FAINT)
    if n_questions <= len(strong):
        return paints | {action: strong[action - n_decisions] for action in sorted(asked)}
    return paints | dict(zip(sorted(asked[: len(strong)]), strong)) | dict.fromkeys(asked[len(strong) :], PALE)


def key_actions(ax: Any, paints: dict[int, Any], names: Sequence[str]) -> list[Any]:
    """Entries of the legend for areas of actions."""
    style = {"linestyle": "none", "marker": "s", "markersize": 9, "markeredgewidth": 0.5, "markeredgecolor": "#404040"}
    labels = {p: "ask another question" if p == PALE else shorten(names[j], 30) for j, p in paints.items()}
    return [ax.plot([], [], color=paint, label=label, **style)[0] for paint, label in labels.items()]


def edges_of(region: IntArray, points: FloatArray) -> tuple[FloatArray, IntArray]:
    """Ends of the intervals of a line in which the region is the same, (m + 1,), and their regions, (m,)."""
    change = np.append(0, np.flatnonzero(np.diff(region)) + 1)
    return np.concatenate([points[:1], (points[change[1:] - 1] + points[change[1:]]) / 2, points[-1:]]), region[change]
