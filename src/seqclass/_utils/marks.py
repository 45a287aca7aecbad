"""Questions with several marks: cells such as "sharp; burning" as a column of yes and no for each mark."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from seqclass._utils.frames import is_frame, plain_data, spelt
from seqclass._utils.text import NO_MARK, near, short_repr

#: What the column of a mark may show.
VALUES = ["no", "yes"]


def mark_prefix(question: str) -> str:
    """What the names of the columns of a question's marks begin with."""
    return question + (" " if question[-1:] in "?:.!" else ": ")


def columns_of_marks(question: str, names: Iterable[Hashable]) -> list[Any]:
    """The columns of a question's marks."""
    own = [name for name in names if str(name).startswith(mark_prefix(question))]
    if len(own) < 2:
        raise ValueError(
            f"marks names {short_repr(question)}, and there are no columns of its marks; fit makes them of a data "
            "frame, and for chunks seqclass.datasets.split_marks does."
        )
    if odd := [name for name in own if spelt(mark := str(name)[len(mark_prefix(question)) :]) != mark]:
        raise ValueError(
            f"marks: the mark of {short_repr(odd[0])} has blanks at its edges, as no cell has it: rename it."
        )
    return own


def mark_columns(columns: Iterable[Any], questions: Iterable[str], names: Sequence[str]) -> list[Any]:
    """The columns, where a question with marks is those of its marks."""
    questions = list(questions)
    return [one for name in columns for one in (columns_of_marks(name, names) if name in questions else [name])]


def read_marks(value: Any) -> list[str] | None:
    """The marks of a cell: a list, or a text with ``;`` between them; None where it is missing."""
    if isinstance(value, (list, tuple, set, frozenset)):
        return [spelt(one) for one in value]
    if value is None or value != value or not spelt(value):
        return None
    marks = [one for one in map(spelt, spelt(value).split(";")) if one]
    return [] if [one.casefold() for one in marks] == [NO_MARK] else marks


def check_marks(marks: Iterable[str], known: Sequence[str], question: str) -> None:
    """Refuse a mark that is no column of the question."""
    if wrong := [mark for mark in marks if mark not in known]:
        raise ValueError(
            f"{short_repr(wrong[0])} is no mark of {short_repr(question)}; {near(wrong[0], list(known), 'they are')}"
        )


def split_marks(X: Any, marks: Sequence[str] | Mapping[str, Sequence[str]], unknown: str = "error") -> Any:
    """Make a column of yes and no of each mark of some columns.

    Parameters
    ----------
    X : data frame
        Its cells in these columns are texts such as ``"sharp; burning"``, or lists. ``"none of these"``, a lone ``;``
        and an empty list hold no mark; a blank cell is missing.
    marks : sequence of str, or dict of str to sequence of str
        The columns, perhaps with their marks; by default the marks are those that some row has. A column that was split
        before stays as it is.
    unknown : {"error", "missing"}
        What to do about a cell with another mark: raise an error, or take it as missing.

    Returns
    -------
    data frame
        With columns ``"pain is: sharp"`` and ``"pain is: burning"`` in place of ``"pain is"``.

    Raises
    ------
    ValueError
        If ``X`` lacks a column, a column has fewer than two marks, or a cell holds an unknown mark.

    Examples
    --------
    >>> import pandas as pd
    >>> split_marks(pd.DataFrame({"pain is": ["sharp; burning", "none of these", "sharp"]}), ["pain is"])
      pain is: burning pain is: sharp
    0              yes            yes
    1               no             no
    2               no            yes
    """
    import pandas as pd

    of: Any = pd.Categorical.from_codes

    X = plain_data(X)
    if not is_frame(X):
        raise ValueError("marks: X must be a data frame, whose columns have names.")
    for question in marks:
        if question not in X.columns:
            if any(str(column).startswith(mark_prefix(question)) for column in X.columns):
                continue
            raise ValueError(f"marks names {short_repr(question)}; {near(question, list(map(str, X.columns)))}")
        cells = [read_marks(value) for value in X[question]]
        every = sorted({mark for cell in cells for mark in cell or ()})
        known = [*dict.fromkeys(map(spelt, marks[question]))] if isinstance(marks, Mapping) else every
        if len(known) < 2:
            shows = f"only {short_repr(known[0])}" if known else "none"
            raise ValueError(
                f"marks: column {short_repr(question)} must have two marks at least, and rows show {shows}: leave it "
                "out of marks."
            )
        if unknown == "error":
            check_marks(every, known, question)
        sets = [None if cell is None or not set(cell) <= set(known) else set(cell) for cell in cells]
        codes = np.array([[-1 if own is None else mark in own for mark in known] for own in sets], dtype=np.int8)
        codes = codes.reshape(len(sets), len(known))
        names, at = [mark_prefix(question) + mark for mark in known], X.columns.get_loc(question)
        if twice := [name for name in names if name in X.columns]:
            raise ValueError(f"marks: {short_repr(twice[0])} is a column already; rename it.")
        columns = {name: of(code, categories=VALUES) for name, code in zip(names, codes.T)}
        parts = [X.iloc[:, :at], pd.DataFrame(columns, index=X.index), X.iloc[:, at + 1 :]]
        X = pd.concat(parts, axis=1)
    return X
