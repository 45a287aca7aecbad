"""What a table gives: rows for its text, and beside them curves and regions, which only a picture shows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

__all__ = ["Curve", "Drawn", "RegionMap", "Row"]

_NAN = float("nan")


@dataclass(frozen=True)
class Row:
    """One figure: the paper's, the authors' code's and ours; NaN where there is none.

    Attributes
    ----------
    data : str
        Data set, by the name of the paper.
    method : str
        Method, and its settings where the table varies them.
    quantity : str
        What is measured; seconds are wall-clock.
    paper, code : float
        Figure of the paper, and of the authors' published code run at the same protocol as ours.
    published, ours : float
        Ours with the settings of the paper, and with our defaults.
    note : str
        How the data differs, or what failed.

    Examples
    --------
    >>> Row("MLL", "ETANA", "accuracy", paper=1.0, code=1.0, published=1.0, ours=0.93).note
    ''
    """

    data: str
    method: str
    quantity: str
    paper: float = _NAN
    code: float = _NAN
    published: float = _NAN
    ours: float = _NAN
    note: str = ""


@dataclass(frozen=True)
class Curve:
    """Points of a figure that the rows of its table sum up.

    Attributes
    ----------
    data, method, quantity : str
        As in a `Row`.
    source : str
        Whose it is: ``"published"`` or ``"ours"``.
    x, y : tuple of float, of the same length
        Evaluations of a search, rows of a stream or seeds, and the quantity there; NaN where it is not known.
    low, high : tuple of float
        Least and greatest of several runs at each x; empty where there is one.

    Examples
    --------
    >>> Curve("made", "RFS", "CV error", "published", (1.0, 2.0), (0.5, 0.4)).low
    ()
    """

    data: str
    method: str
    quantity: str
    source: str
    x: tuple[float, ...]
    y: tuple[float, ...]
    low: tuple[float, ...] = ()
    high: tuple[float, ...] = ()


@dataclass(frozen=True)
class RegionMap:
    """Where a policy stops on the simplex of beliefs over three classes, at one stage.

    Attributes
    ----------
    data, method : str
        As in a `Row`.
    source : str
        Whose it is: ``"published"`` or ``"ours"``.
    stage : int
        Features asked so far.
    classes : tuple of str
        Names of the three classes.
    resolution : int
        Steps n along an edge of the simplex.
    region : tuple of int, (n + 1)(n + 2)/2 of them
        Decision at which the policy stops, -1 where it goes on, at the beliefs (i, j, n - i - j)/n, by i and then j
        ascending.
    corner : int
        Class whose corner alone is shown, its beliefs mixtures of those with certainty of that class; -1 for the whole
        simplex.
    share : float
        Weight of those beliefs in the mixture: the length of the corner's edge, of that of the simplex.

    Examples
    --------
    >>> RegionMap("MLL", "ETANA", "ours", 4, ("ALL", "MLL", "AML"), 1, (2, 1, 0)).region[-1]  # of ALL for sure
    0
    """

    data: str
    method: str
    source: str
    stage: int
    classes: tuple[str, ...]
    resolution: int
    region: tuple[int, ...]
    corner: int = -1
    share: float = 1.0


#: What a picture shows beyond rows.
Drawn: TypeAlias = "Curve | RegionMap"
