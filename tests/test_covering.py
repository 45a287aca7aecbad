"""What the default suite runs of a matrix of tests: few cells, and yet all that is promised of them."""

from __future__ import annotations

import itertools
from functools import partial
from types import SimpleNamespace
from typing import Any

import pytest
from covering import cover, first, thin

AXES = [range(6), "abcd", (True, False), (None, 1, 2)]
CELLS = [cell for cell in itertools.product(*AXES) if cell[:2] != (0, "a")]


def together(cells: Any, n: int) -> set[Any]:
    return {(at, *(cell[a] for a in at)) for at in itertools.combinations(range(4), n) for cell in cells}


@pytest.mark.parametrize(("n", "most"), [(1, 6), (2, 26)])
def test_what_occurs_together_still_does_in_few_cells(n: int, most: int) -> None:
    chosen = cover(CELLS, n)
    assert together([CELLS[place] for place in chosen], n) == together(CELLS, n)
    assert len(set(chosen)) == len(chosen) <= most
    assert cover(CELLS, n) == chosen == sorted(chosen)


def test_all_values_are_taken_alike() -> None:
    cells = list(itertools.product(range(3), range(30)))
    taken = [cells[place][0] for place in cover(cells, 1)]
    assert [taken.count(value) for value in range(3)] == [10, 10, 10]


def test_few_axes_and_none() -> None:
    assert cover([(1,), (2,), (1,)]) == [0, 1]
    assert cover([]) == []
    assert cover(CELLS, 0) == [0]


def test_later_values_are_slow() -> None:
    one, other = first("ab", 1)
    assert one == "a"
    assert (other.values, [mark.name for mark in other.marks]) == (("b",), ["slow"])


def check(name: str) -> None: ...


class Item:
    """A test with parameters."""

    def __init__(self, name: str, params: dict[str, Any], *marks: Any) -> None:
        self.nodeid, self.callspec, self.marks = name, SimpleNamespace(params=params), list(marks)

    def get_closest_marker(self, name: str) -> Any:
        return next((mark for mark in self.marks if mark.name == name), None)

    def add_marker(self, mark: Any) -> None:
        self.marks.append(mark.mark)


def test_what_a_marked_test_does_not_need_becomes_slow() -> None:
    each = pytest.mark.covering(1).mark
    grid = [*itertools.product("ab", "xy")]
    items = [Item(f"t[{cell}]", dict(zip("pq", cell)), each) for cell in grid]
    items += [Item(f"u[{cell}]", dict(zip("pq", cell))) for cell in grid]
    items += [Item("v[0]", {"p": 1}, each, pytest.mark.slow.mark), Item("v[1]", {"p": 1}, each)]
    items += [Item(f"w[{n}]", {"p": n, "q": partial(check, str(n))}, each) for n in range(2)]
    thin(items)  # type: ignore[arg-type]
    slow = [item.nodeid for item in items if item.get_closest_marker("slow")]
    assert slow == [items[1].nodeid, items[2].nodeid, "v[0]"]


def test_cells_that_are_named_are_slow_and_others_of_their_test_are_not() -> None:
    named = pytest.mark.slow_cells("a-1", "b, c[0]").mark
    items = [Item(f"t[{name}]", {"p": name}, named) for name in ("a-1", "a", "b, c[0]")] + [Item("u[a-1]", {"p": 1})]
    both = pytest.mark.covering(1).mark, pytest.mark.slow_cells("1-1").mark
    items += [Item(f"v[{p}-{q}]", {"p": p, "q": q}, *both) for p in (1, 2) for q in (1, 2)]
    thin(items)  # type: ignore[arg-type]
    slow = [bool(item.get_closest_marker("slow")) for item in items]
    assert slow == [True, False, True, False, True, True, True, False]  # v[1-2] is not taken for v[1-1]


def test_a_fixture_of_tuples_has_several_axes() -> None:
    items = [Item(f"t[{cell}]", {"q": cell}, pytest.mark.covering(1).mark) for cell in itertools.product("ab", "xy")]
    thin(items)  # type: ignore[arg-type]
    assert [bool(item.get_closest_marker("slow")) for item in items] == [False, True, True, False]


def test_checks_of_scikit_learn_are_the_same_for_each_estimator() -> None:
    each = pytest.mark.covering(1).mark
    items = [Item(f"t[{n}]", {"q": partial(check, str(n))}, each) for n in range(2)]
    thin(items)  # type: ignore[arg-type]
    assert [bool(item.get_closest_marker("slow")) for item in items] == [False, True]
