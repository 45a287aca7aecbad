"""The cells of a run that are asked for, and what they kept."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from seqclass._messages import near
from seqclass.experiment._columns import LABELS
from seqclass.experiment._store import opened


def chosen(table: Any, wanted: Mapping[str, Any]) -> Any:
    """Rows of a table of results whose labels are among those wanted.

    Parameters
    ----------
    table : pandas.DataFrame
        The table.
    wanted : mapping
        A value, several, or None for any, by column.

    Returns
    -------
    pandas.DataFrame

    Raises
    ------
    ValueError
        If there is no such value, or no such row.

    Examples
    --------
    >>> import pandas as pd
    >>> chosen(pd.DataFrame({"data": ["iris", "wine"], "price": [0.1, 0.2]}), {"data": "wine", "price": None})
       data  price
    1  wine    0.2
    """
    everything = table
    for name, value in wanted.items():
        if value is None:
            continue
        values = list(value) if isinstance(value, (list, tuple, set, np.ndarray)) else [value]
        there = list(dict.fromkeys(everything[name]))
        for one in values:
            if one not in there:
                shown = near(one, there, "it has") if isinstance(one, str) else f"it has {there}."
                raise ValueError(f"the run has no {name} {one!r}: {shown}")
        table = table[table[name].isin(values)]
    if not len(table):
        shown = ", ".join(f"{name} {value!r}" for name, value in wanted.items() if value is not None)
        raise ValueError(f"the run has no cell{' of ' if shown else ' that is done'}{shown}.")
    return table


def of_first(cells: Any) -> Any:
    """Cells of the price and the hard budget of the first one; none of none.

    Examples
    --------
    >>> import pandas as pd
    >>> len(of_first(pd.DataFrame({"price": [0.1, 0.1, 0.2], "budget": [None, None, None]})))
    2
    """
    if not len(cells):
        return cells
    price, budget = cells["price"].iloc[0], cells["budget"].iloc[0]
    same = cells["budget"].isna() if budget is None or budget != budget else cells["budget"] == budget
    return cells[(cells["price"] == price) & same]


def parts_of(path: Path, cells: Any, name: str) -> list[tuple[dict[str, Any], bytes]]:
    """Labels and parts of those cells of a table that have one.

    Parameters
    ----------
    path : path
        File of the run.
    cells : pandas.DataFrame
        Rows of its table.
    name : str
        Name of the part.

    Returns
    -------
    list of (dict, bytes)

    Raises
    ------
    ValueError
        If none of them has one.
    """
    with opened(path) as store:
        found = [(dict(zip(LABELS, row)), store.part(key, name)) for key, *row in cells[list(LABELS)].itertuples()]
    kept = [(labels, content) for labels, content in found if content is not None]
    if not kept:
        raise ValueError(
            f"no {name} are kept of these cells: they failed, or were run with keep_{name}=0 or by an earlier version; "
            "run them again with another file."
        )
    return kept
