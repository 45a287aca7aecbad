"""Computing tables: one after the other, none of which ends the others."""

from __future__ import annotations

import tempfile
import textwrap
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any

from reproduction._context import Context, error_text
from reproduction.catalog import get_tables
from reproduction.row import Drawn, Row
from reproduction.table import Table
from seqclass.experiment._store import open_store
from seqclass.plots._style import pyplot

#: End of the title of a quick run's picture.
_QUICK = " (a quick run on little data: means nothing)"
#: Inches of a letter of a title.
_LETTER = 0.085

__all__ = ["Progress", "Reproduced", "iter_reproduced", "reproduce"]


@dataclass(frozen=True)
class Progress:
    """How far a run is.

    Attributes
    ----------
    table : Table
        The table that is being computed.
    number, n_tables : int
        Tables before it, and tables in all.
    done, total : int
        How many of its entries (cells of comparisons, selectors on a stream, runs of a search) are there, and how many
        there are; 0 of 0 when it begins.
    latest : str
        What is being computed or came last.

    Examples
    --------
    >>> seen = []
    >>> _ = reproduce(["semi_rfs-fig3"], quick=True, on_progress=seen.append)
    >>> seen[0].total, seen[-1].done == seen[-1].total > 0
    (0, True)
    """

    table: Table
    number: int
    n_tables: int
    done: int
    total: int
    latest: str


@dataclass(frozen=True, repr=False)
class Reproduced:
    """A table or figure with what was found.

    Attributes
    ----------
    table : Table
        Its description.
    rows : tuple of Row
        The figures.
    left_out : dict of str to str
        Sets that are not in it, and why.
    seconds : float
        How long it took this time.
    work : float
        Seconds of computing that are in it, whenever and by however many processes it was done, also for other tables
        that it shares cells with.
    error : str
        What went wrong with the table as a whole; empty if nothing did. A cell that fails is told in its row.
    curves : tuple of Curve or RegionMap
        What its picture shows beyond the rows.
    quick : bool
        Whether it was computed on little data, so that the figures mean nothing.

    Examples
    --------
    >>> from reproduction import get_tables
    >>> (table,) = get_tables(["ifc2f-fig4"])
    >>> Reproduced(table, (), table.left_out()).as_dict()["rows"]
    []
    """

    table: Table
    rows: tuple[Row, ...]
    left_out: dict[str, str]
    seconds: float = 0.0
    work: float = 0.0
    error: str = ""
    curves: tuple[Drawn, ...] = ()
    quick: bool = False

    def __repr__(self) -> str:
        return f"<Reproduced: {self.table.title}; {len(self.rows)} figures{_QUICK if self.quick else ''}>"

    @property
    def has_picture(self) -> bool:
        """Whether it is a figure, and there is something to draw."""
        return self.table.picture is not None and bool(self.rows)

    def plot(self, figure: Any = None, *, title: str | None = None) -> Any:
        """Draw it: the paper's printed figures, ours with the paper's settings, and ours with the defaults.

        Parameters
        ----------
        figure : matplotlib Figure or SubFigure, optional
            Where to draw, best with ``layout="constrained"``; it should be empty. A whole figure is given the size that
            suits the picture. By default a new one.
        title : str, optional
            By default that of the table, and of a quick run that it is one.

        Returns
        -------
        matplotlib Figure or SubFigure

        Raises
        ------
        ValueError
            If the table is no figure of a paper, or there is nothing to draw.
        ImportError
            If matplotlib is not installed.
        """
        picture = self.table.picture
        if picture is None:
            raise ValueError(f"{self.table.name} has no picture: it is not a figure of a paper, or cannot be made.")
        figure = pyplot().figure(layout="constrained") if figure is None else figure
        picture.draw(figure, self.rows, self.curves)
        told = self.table.title + (_QUICK if self.quick else "") if title is None else title
        width = int(figure.bbox.width / figure.dpi / _LETTER)
        figure.suptitle("\n".join(textwrap.wrap(told, width)), fontsize=10.5)
        return figure

    def as_dict(self) -> dict[str, Any]:
        """Plain data: name, title, note, times, error, a dict a row, what is left out; NaN where there is no figure."""
        head: dict[str, Any] = {"name": self.table.name, "title": self.table.title, "note": self.table.note}
        head |= {"seconds": self.seconds, "work": self.work, "error": self.error}
        return head | {"rows": [asdict(row) for row in self.rows], "left_out": self.left_out}

    def to_frame(self) -> Any:
        """Rows as a data frame.

        Returns
        -------
        pandas.DataFrame
        """
        import pandas as pd

        return pd.DataFrame([asdict(row) for row in self.rows], columns=[field.name for field in fields(Row)])


def reproduce(
    names: Iterable[str] = (),
    *,
    path: str | Path | None = None,
    data_dir: str | Path | None = None,
    n_jobs: int = 1,
    quick: bool = False,
    on_progress: Callable[[Progress], None] | None = None,
) -> list[Reproduced]:
    """Compute tables and figures of the papers, as far as the data allows.

    Parameters
    ----------
    names : iterable of str
        Names of tables, or of papers for all of theirs; none: all there are. See `get_tables`.
    path : path, optional
        File of the run, which keeps each cell of a comparison, each selector on a stream and each run of a search as
        soon as it is done: what is there is not computed again, but for what failed. By default a file that is thrown
        away.
    data_dir : path, optional
        Folder of the data sets; by default the one that the environment variable SEQCLASS_DATA names.
    n_jobs : int
        Processes.
    quick : bool
        Whether to compute on few columns, folds and rows, to see that it runs; the figures then mean nothing.
    on_progress : callable, optional
        Called with a `Progress` when a table begins, and as it goes on.

    Returns
    -------
    list of Reproduced
        One that failed has an ``error``, and what rows there were.

    Raises
    ------
    ValueError
        If there is no table or paper of a name, or ``path`` is not the file of a run.
    FileNotFoundError
        If there is no such folder.

    See Also
    --------
    iter_reproduced : One table after the other.

    Examples
    --------
    >>> (table,) = reproduce(["semi_rfs-fig3"], quick=True)
    >>> row = table.rows[0]
    >>> row.method, row.quantity, 0 < row.published < 1
    ('RFS', 'CV error after 10%', True)
    """
    settings: dict[str, Any] = {"path": path, "data_dir": data_dir, "n_jobs": n_jobs, "quick": quick}
    return list(iter_reproduced(names, **settings, on_progress=on_progress))


def iter_reproduced(
    names: Iterable[str] = (),
    *,
    path: str | Path | None = None,
    data_dir: str | Path | None = None,
    n_jobs: int = 1,
    quick: bool = False,
    on_progress: Callable[[Progress], None] | None = None,
) -> Iterator[Reproduced]:
    """Compute tables as `reproduce` does, and give each as soon as it is done.

    Parameters
    ----------
    names, path, data_dir, n_jobs, quick, on_progress
        See `reproduce`.

    Yields
    ------
    Reproduced

    Raises
    ------
    ValueError, FileNotFoundError
        As `reproduce`; here already by the call, before the first table is asked for.

    Examples
    --------
    >>> for table in iter_reproduced(["ifc2f-fig4", "semi_rfs-2"]):
    ...     print(table.table.name, len(table.rows))
    ifc2f-fig4 0
    semi_rfs-2 0
    """
    tables = get_tables(names)
    context = Context(Path(), data_dir, n_jobs, quick)
    if path is not None:
        with open_store(Path(path), create=True):  # refuses what is not a run before anything is computed
            pass
    return _reproduced(tables, context, path, on_progress)


def _reproduced(
    tables: list[Table], context: Context, path: str | Path | None, on_progress: Callable[[Progress], None] | None
) -> Iterator[Reproduced]:
    with tempfile.TemporaryDirectory() as folder:
        context.path = Path(folder, "reproduction.db") if path is None else Path(path)
        for number, table in enumerate(tables):
            yield _one(table, context, (number, len(tables)), on_progress)


def _one(
    table: Table, context: Context, place: tuple[int, int], on_progress: Callable[[Progress], None] | None
) -> Reproduced:
    """Compute one table; an error ends it, not the others."""

    def tell(done: int, total: int, latest: str) -> None:
        if on_progress is not None:
            on_progress(Progress(table, *place, done, total, latest))

    context.work, context.curves, context.on_progress = 0.0, [], tell
    tell(0, 0, "")
    started, rows, error = time.perf_counter(), [], ""
    try:
        for row in table.rows(context):
            rows.append(row)
    except Exception as exception:
        error = error_text(exception)
    files = table.files()
    unread = [f"{name} cannot be read, {context.unreadable[f]}" for name, f in files.items() if f in context.unreadable]
    error = "; ".join(filter(None, [error, *unread]))
    seconds = time.perf_counter() - started
    left_out, curves = _left_out(table, context), tuple(context.curves)
    return Reproduced(table, tuple(rows), left_out, seconds, context.work, error, curves, context.quick)


def _left_out(table: Table, context: Context) -> dict[str, str]:
    gone = {
        name: f"there is no {file} in the folder of data"
        for name, file in table.files().items()
        if not context.available(file)
    }
    return gone | table.left_out()
