"""What results have in common: a line or three that say what they are, and a table with names and units."""

from __future__ import annotations

import math
import re
import textwrap
from collections.abc import Iterable, Mapping, Sequence, Sized
from dataclasses import fields
from html import escape
from numbers import Integral, Real
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from seqclass._utils.text import join_names, money, range_text, shorten, value_text, visible

if TYPE_CHECKING:
    import pandas as pd


#: What names of columns say that are costs.
_MONEY = re.compile("(^|_)(costs?|prices?|saving|gain|paid)(_| |$)")


class Readable:
    """A result that shows itself in at most three lines, and hands its figures over as a data frame.

    Examples
    --------
    >>> from seqclass.pomdp.bounds.dual import LowerBound
    >>> bound = LowerBound(0.2, 0.2, 1.0, "exact", 0)
    >>> bound
    <LowerBound: value 0.2, mean 0.2, confidence 1, method exact, 0 paths>
    >>> bound.to_frame().shape
    (1, 5)
    """

    #: Attributes that the repr tells of; where there are none what `str` says, or else all fields.
    _in_summary: ClassVar[tuple[str, ...]] = ()
    #: Attributes that are columns of the table; by default the arrays as long as the first one, or plain figures.
    _columns: ClassVar[tuple[str, ...]] = ()
    #: What columns of arrays of two axes are called, with what the second axis has: "P({class})".
    _spread: ClassVar[Mapping[str, str]] = {}
    #: What a row is: a class, a decision, a question or what else `names` has the names of.
    _axis: ClassVar[str] = ""
    #: Columns of numbers that stand for a class, a decision or a question, and for which; below 0 for going on.
    _coded: ClassVar[Mapping[str, str]] = {}
    #: Columns in the unit of the costs whose names do not say it, and columns in other units.
    _costs: ClassVar[tuple[str, ...]] = ()
    _units: ClassVar[Mapping[str, str]] = {}

    def __init_subclass__(cls, **settings: Any) -> None:
        super().__init_subclass__(**settings)
        if "__eq__" not in vars(cls):
            cls.__eq__ = _equal  # type: ignore[method-assign]

    def __repr__(self) -> str:
        text = visible(f"<{type(self).__name__}: {' '.join(self._summary().split())}", keep="")
        # three lines of no more than 120 characters are taken in at a look
        lines = textwrap.wrap(text, 116, max_lines=3, placeholder=" ...")
        return "\n".join(lines) + ">"

    def _repr_html_(self) -> str:
        frame = self.to_frame()
        units = "; ".join(f"{column} in {unit}" for column, unit in frame.attrs["units"].items())
        more = f"<p>{escape(units)}</p>" if units else ""
        return f"<p>{escape(repr(self)[1:-1])}</p>{frame.to_html(max_rows=20, float_format=value_text)}{more}"

    def to_frame(self) -> pd.DataFrame:
        """Return the figures as a data frame, with names where they are known.

        Returns
        -------
        pandas.DataFrame
            Its ``attrs["units"]`` says by column what is counted in units of the costs, in seconds and the like.
        """
        import pandas as pd

        table = self._table()
        frame: pd.DataFrame = table.copy() if isinstance(table, pd.DataFrame) else pd.DataFrame(table)
        if self._axis and isinstance(table, Mapping):
            frame.index = pd.Index(self._labels(self._axis, len(frame)))
        if (rows := self.__dict__.get("index")) is not None:  # of the data frame that was given
            frame.index = rows.copy()
        frame.index.name = frame.index.name or self._axis or None
        for column, kind in self._coded.items():
            numbers = frame[column].tolist()
            labels = self._labels(kind, max(numbers, default=-1) + 1)
            frame[column] = pd.Series([labels[i] if i >= 0 else "go on" for i in numbers], frame.index, dtype=object)
        return self._with_units(frame)

    def _with_units(self, frame: pd.DataFrame) -> pd.DataFrame:
        frame.attrs["units"] = {name: unit for name in map(str, frame.columns) if (unit := self._unit(name))}
        return frame

    def _unit(self, column: str) -> str:
        if column in self._costs or _MONEY.search(column):
            return getattr(self, "unit", "") or "the unit of the costs"
        return self._units.get(column, "seconds" if "seconds" in column else "")

    def _table(self) -> Any:
        """Columns by name, a frame, or a list of rows."""
        names = self._columns or tuple(held.name for held in fields(self))  # type: ignore[arg-type]
        values = {name: getattr(self, name) for name in names}
        arrays = {name: value for name, value in values.items() if isinstance(value, np.ndarray) and value.ndim}
        if not arrays:
            return [plain_figures(values)]
        n, columns = len(next(iter(arrays.values()))), dict[str, Any]()
        for name, value in arrays.items():
            if len(value) == n:
                columns |= {name: value} if value.ndim == 1 else self._spread_columns(name, value)
        return columns

    def _spread_columns(self, name: str, values: Any) -> dict[str, Any]:
        template = self._spread.get(name, f"{name} {{}}")
        kind = template.partition("{")[2].partition("}")[0]
        labels = self._labels(kind, values.shape[1])
        return {template.replace(f"{{{kind}}}", str(label)): values[:, i] for i, label in enumerate(labels)}

    def _labels(self, kind: str, n: int) -> Sequence[Any]:
        """What the entries of an axis are called: by a result's own names or its problem's; numbers without any."""
        names, known = getattr(self, "names", None), f"{kind}es" if kind == "class" else f"{kind}s"
        if isinstance(names, tuple):
            return names if kind in ("method", "question") else range(n)
        return getattr(names, known, range(n))

    def _summary(self) -> str:
        if not self._in_summary and type(self).__str__ is not object.__str__:
            return str(self)
        names = self._in_summary or tuple(held.name for held in fields(self))  # type: ignore[arg-type]
        unit = getattr(self, "unit", "")
        in_unit = [f"costs in {unit}"] if unit and any(self._unit(name) == unit for name in names) else []
        return ", ".join([*filter(None, (summary_text(name, getattr(self, name)) for name in names)), *in_unit])


def _equal(result: Any, other: Any) -> Any:
    """Whether all fields are equal; by itself a data class of Python 3.13 is not equal to its like if one is NaN."""
    compared = getattr(result, "__dataclass_params__", None)
    if type(result) is not type(other) or compared is None or not compared.eq:
        return NotImplemented
    names = [held.name for held in fields(result) if held.compare]
    # tuples take one and the same NaN for equal, as hashes do
    return tuple(getattr(result, name) for name in names) == tuple(getattr(other, name) for name in names)


def plain_figures(values: Mapping[str, Any]) -> dict[str, Any]:
    """What fits into a row of a table: numbers, texts, and the two ends of intervals."""
    row: dict[str, Any] = {}
    for name, value in values.items():
        if name.endswith("interval"):
            lower, upper = value or (np.nan, np.nan)
            row |= {name.replace("interval", "lower"): lower, name.replace("interval", "upper"): upper}
        elif value is None or isinstance(value, (str, Real, np.bool_)):
            row[name] = value
    return row


def to_json_value(value: Any) -> Any:
    """Turn numpy's things into what JSON has."""
    if (kind := type(value)) in (str, int, bool) or (kind is float and math.isfinite(value)):
        return value
    if isinstance(value, Mapping):
        return {str(k): to_json_value(v) for k, v in value.items()}
    if isinstance(value, (list, tuple, np.ndarray)):
        return [to_json_value(v) for v in value]
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value if value is None or isinstance(value, (bool, int, float, str)) else str(value)


def rows_of(parts: Iterable[Any]) -> list[dict[str, Any]]:
    """A row of plain figures for each of several records."""
    return [plain_figures(vars(part)) for part in parts]


def count_text(n: int, what: str) -> str:
    """So many of something, which has its name in the plural."""
    one = f"{what[:-3]}y" if what.endswith("ies") else what.removesuffix("es" if what.endswith("sses") else "s")
    return f"{n:,} {one if n == 1 else what}"


def summary_text(name: str, value: Any) -> str:
    """A figure with its name; empty where there is nothing to say."""
    what = name.replace("_", " ")
    if isinstance(value, (bool, np.bool_)):
        return what if value else f"not {what}"
    if isinstance(value, Integral) and name.startswith("n_"):
        return count_text(int(value), what[2:])
    if isinstance(value, Real):
        return "" if value != value else f"{what.removeprefix('n ')} {money(float(value))}"
    if isinstance(value, np.ndarray):
        return _array_text(what, value)
    if name.endswith(("interval", "range")) and isinstance(value, tuple):
        return "" if np.isnan(value).any() else f"{what} {range_text(value, money)}"
    if isinstance(value, (tuple, list)) and value and all(isinstance(one, (str, Real)) for one in value):
        return _array_text(what, np.array(value))
    if isinstance(value, Sized) and not isinstance(value, str):
        return count_text(len(value), what) if len(value) else ""
    return f"{what} {shorten(value, 40)}" if isinstance(value, (str, type)) and value else ""


def _array_text(what: str, values: Any) -> str:
    if not values.size:
        return f"no {what}"
    if values.dtype.kind not in "iufb":
        return f"{what} {join_names(map(shorten, map(str, values.ravel().tolist())), 4)}"
    if values.size <= 4:  # no more are read one by one
        return f"{what} [{', '.join(map(money, values.ravel().tolist()))}]"
    known = values[np.isfinite(values)]
    return f"{what} {range_text((known.min(), known.max()), money)}" if known.size else ""
