"""Which cells of a matrix of tests the default suite runs; the weekly job runs the others, which are marked slow."""

from __future__ import annotations

import functools
import itertools
from collections import Counter
from collections.abc import Hashable, Iterable, Sequence
from typing import Any

import pytest


def cover(cells: Sequence[Sequence[Hashable]], together: int = 2) -> list[int]:
    """Places of few cells in which any values of so many axes that occur together in a cell still do.

    Each time the cell that adds most is taken, of several the one whose values were taken least, or the first.
    """
    n_axes = len(cells[0]) if cells else 0
    axes = list(itertools.combinations(range(n_axes), min(together, n_axes)))
    adds = {place: {(which, *(cell[a] for a in which)) for which in axes} for place, cell in enumerate(cells)}
    left, taken = set().union(*adds.values()), Counter[tuple[int, Hashable]]()
    chosen = list[int]()
    while left:
        best = max(
            adds, key=lambda place: (len(adds[place] & left), -sum(taken[at] for at in enumerate(cells[place])), -place)
        )
        left -= adds.pop(best)
        taken.update(enumerate(cells[best]))
        chosen.append(best)
    return sorted(chosen)


def first(values: Iterable[Any], n: int) -> list[Any]:
    """Values of a parameter of which those after the first ``n`` are slow."""
    return [value if place < n else pytest.param(value, marks=pytest.mark.slow) for place, value in enumerate(values)]


def _key(value: Any) -> Any:
    """What makes a value of a parameter another one; checks of scikit-learn are made anew for each estimator."""
    return (id(value.func), repr(value.keywords)) if isinstance(value, functools.partial) else id(value)


def _axes(values: Sequence[Any]) -> list[list[Any]]:
    """One axis of the values of a parameter, or several where each is a tuple with as many places."""
    shapes = {len(value) if isinstance(value, tuple) else 1 for value in values}
    tuples = len(shapes) == 1 and all(isinstance(value, tuple) for value in values)
    return [[_key(part) for part in axis] for axis in (zip(*values) if tuples else [values])]


def thin(items: Iterable[pytest.Item]) -> None:
    """Mark as slow the cells that ``slow_cells`` names, and those that tests marked ``covering`` do not need.

    ``covering(1)`` asks for each value, wherever it occurs, and ``covering(0)`` for the first cell.
    """
    matrices: dict[str, list[Any]] = {}
    items = list(items)
    for item in items:
        if item.get_closest_marker("covering") and not item.get_closest_marker("slow"):
            matrices.setdefault(item.nodeid.partition("[")[0], []).append(item)
    for matrix in matrices.values():
        given = zip(*(item.callspec.params.values() for item in matrix))
        cells = list(zip(*(axis for values in given for axis in _axes(values))))
        kept = cover(cells, *matrix[0].get_closest_marker("covering").args)
        for place in set(range(len(matrix))) - set(kept):
            matrix[place].add_marker(pytest.mark.slow)
    for item in items:  # at last, so that no other cell is taken in its place
        if (dear := item.get_closest_marker("slow_cells")) and item.nodeid.partition("[")[2][:-1] in dear.args:
            item.add_marker(pytest.mark.slow)
