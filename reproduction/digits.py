"""Which pixels tell one digit from others, by what selectors have seen of a few rows."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.base import clone

from reproduction._context import QUICK_ROWS, Context
from reproduction._pieces import Piece, Result, compute
from reproduction.row import Curve, Row
from reproduction.table import Table, failure
from seqclass._utils.arrays import BoolArray, FloatArray

__all__ = ["DigitsTable", "pixel_figures"]

_TELLING, _BLANK = "share of the selected that tell most", "share of the selected that are mostly blank"
_BATCH = 100
#: Share of rows in which a pixel that is mostly blank is 0.
_EMPTY = 0.99


@dataclass(frozen=True)
class DigitsTable(Table):
    """Selectors that tell each of some digits from the others, after the first rows of these digits.

    A pixel tells most if it is among those whose correlation with the class, over all rows of the digits, is largest;
    as many count as are selected.

    Attributes
    ----------
    selectors : mapping of str to selector
        Their settings, by name.
    digits : tuple of int
        The digits; each is the positive class in turn.
    n_rows : int
        Rows that are seen.

    Examples
    --------
    >>> DigitsTable("toy-1", "Digits").files()
    {'MNIST': 'mnist'}
    """

    selectors: Mapping[str, Any] = field(default_factory=dict)
    digits: tuple[int, ...] = (3, 8, 9)
    n_rows: int = 1000

    def files(self) -> Mapping[str, str]:
        """The one set."""
        return {"MNIST": "mnist"}

    def rows(self, context: Context) -> Iterator[Row]:
        """Run each selector on each digit, and give two rows each."""
        if not context.readable("mnist"):
            return
        entries = context.thinned([(digit, name) for name in self.selectors for digit in self.digits])
        for (digit, name), result in zip(entries, compute([self._piece(*e, context) for e in entries], context)):
            data = f"{digit} vs. all"
            context.curves += _curves(data, name, result)
            for quantity in (_TELLING, _BLANK):
                note = failure(f"{name}, published,", result.error)
                yield Row(data, name, quantity, published=result[quantity], note=note)

    def _piece(self, digit: int, name: str, context: Context) -> Piece:
        n_rows = QUICK_ROWS if context.quick else self.n_rows
        selector = self.selectors[name]

        def arguments() -> tuple[Any, ...]:
            data = context.dataset("mnist")
            some = np.isin(data.y, self.digits)
            return selector, np.asarray(data.X[some], dtype=np.float64) / 255, data.y[some] == digit, n_rows

        depends_on = {
            **{"data": context.fingerprint("mnist"), "selector": selector, "digits": self.digits, "digit": digit},
            **{"rows": n_rows, "batch": _BATCH},
        }
        return Piece(f"{name}, {digit} vs. all", pixel_figures, arguments, depends_on)


def pixel_figures(selector: Any, X: FloatArray, y: npt.NDArray[Any], n_rows: int) -> dict[str, Any]:
    """Weights and selected pixels after the first rows, and how many of these tell most or are mostly blank.

    Parameters
    ----------
    selector : selector
        A clone learns from batches of 100 rows.
    X : ndarray of shape (n, n_pixels)
        The rows, values from 0 to 1.
    y : ndarray of bool of shape (n,)
        Whether they are of the class.
    n_rows : int
        Rows that are seen.

    Examples
    --------
    >>> from seqclass.selection import FIRES
    >>> X = np.random.default_rng(0).random((400, 4))
    >>> found = pixel_figures(FIRES(1), X, X[:, 2] > 0.5, 300)
    >>> found["selected"].tolist(), found["share of the selected that tell most"]
    ([0.0, 0.0, 1.0, 0.0], 1.0)
    """
    made = clone(selector)
    n_rows = min(n_rows, len(X))
    for start in range(0, n_rows, _BATCH):
        rows = slice(start, min(start + _BATCH, n_rows))
        made.partial_fit(X[rows], y[rows], classes=[False, True])
    selected: BoolArray = made.get_support()
    most = np.argsort(-_correlation(X, y), kind="stable")[: selected.sum()]
    return {
        "weight": np.asarray(made.weights_, dtype=np.float64),
        "selected": selected.astype(np.float64),
        _TELLING: float(np.isin(np.flatnonzero(selected), most).mean()),
        _BLANK: float(((X == 0).mean(axis=0) >= _EMPTY)[selected].mean()),
    }


def _correlation(X: FloatArray, y: npt.NDArray[Any]) -> FloatArray:
    """Absolute correlation of each pixel with the class, 0 where it is always blank."""
    centred = X - X.mean(axis=0)
    length = np.sqrt((centred**2).sum(axis=0))
    return np.asarray(np.abs((y - y.mean()) @ centred) / np.where(length > 0, length, np.inf))


def _curves(data: str, name: str, result: Result) -> Iterator[Curve]:
    for quantity in ("weight", "selected"):
        values = result.figures.get(quantity, [])
        if values:
            yield Curve(data, name, quantity, "published", tuple(map(float, range(len(values)))), tuple(values))
