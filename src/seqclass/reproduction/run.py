"""Which tables there are, whether the data allows them, and running them."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any

from seqclass._messages import near
from seqclass.reproduction import _etana, _fires, _gdfs, _ifc2f, _saola, _semi_rfs
from seqclass.reproduction._context import Context
from seqclass.reproduction.table import Impossible, Row, Table

__all__ = ["Reproduced", "get_tables", "reproduce", "status"]

#: The papers, by the first part of their tables' names.
PAPERS = {
    "etana": "ETANA: On-the-fly joint feature selection and classification",
    "fires": "FIRES: Leveraging model inherent variable importance for stable online feature selection",
    "semi_rfs": "Semi-RFS: Novel and efficient randomized algorithms for feature selection",
    "ifc2f": "IFC2F: Dynamic instance-wise classification in correlated feature spaces",
    "saola": "SAOLA: Towards scalable and accurate online feature selection for big data",
    "gdfs": "GDFS: Learning to maximize mutual information for dynamic feature selection",
}
_TABLES: dict[str, Table] = {
    table.name: table for paper in (_etana, _fires, _semi_rfs, _ifc2f, _saola, _gdfs) for table in paper.TABLES
}


@dataclass(frozen=True)
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

    Examples
    --------
    >>> (table,) = get_tables(["ifc2f-fig4"])
    >>> Reproduced(table, (), table.left_out()).as_dict()["rows"]
    []
    """

    table: Table
    rows: tuple[Row, ...]
    left_out: dict[str, str]

    def as_dict(self) -> dict[str, Any]:
        """Plain data: name, title, note, a dict a row, and what is left out; NaN where there is no figure."""
        head = {"name": self.table.name, "title": self.table.title, "note": self.table.note}
        return head | {"rows": [asdict(row) for row in self.rows], "left_out": self.left_out}

    def frame(self) -> Any:
        """Rows as a data frame.

        Returns
        -------
        pandas.DataFrame
        """
        import pandas as pd

        return pd.DataFrame([asdict(row) for row in self.rows], columns=[field.name for field in fields(Row)])


def get_tables(names: Iterable[str] = ()) -> list[Table]:
    """Return tables by name.

    Parameters
    ----------
    names : iterable of str
        Names of tables, or of papers for all of theirs; none: all there are.

    Returns
    -------
    list of Table

    Raises
    ------
    ValueError
        If there is no table or paper of a name.

    Examples
    --------
    >>> [table.name for table in get_tables(["fires"])]
    ['fires-3', 'fires-4', 'fires-fig4', 'fires-fig5', 'fires-fig6']
    """
    chosen: dict[str, Table] = {}
    for name in list(names) or PAPERS:
        of_paper = {key: table for key, table in _TABLES.items() if key.rpartition("-")[0] == name}
        if name in _TABLES:
            of_paper = {name: _TABLES[name]}
        if not of_paper:
            raise ValueError(f"there is no table {name!r}: {near(name, [*PAPERS, *_TABLES], 'there are')}")
        chosen |= of_paper
    return list(chosen.values())


def status(table: Table, data_dir: str | Path | None = None) -> str:
    """Tell whether a table can be made with the data at hand.

    Parameters
    ----------
    table : Table
        The table.
    data_dir : path, optional
        Folder of the data sets; by default the one that the environment variable SEQCLASS_DATA names.

    Returns
    -------
    str
        ``"available"``, ``"part: ..."``, ``"data absent: ..."`` or ``"not possible: ..."``, with what is missing and
        which sets differ from the paper's.

    Raises
    ------
    FileNotFoundError
        If there is no such folder.

    Examples
    --------
    >>> status(*get_tables(["semi_rfs-fig3"])), status(*get_tables(["ifc2f-fig4"]))
    ('available', "not possible: The words of IMDB's reviews could not be had.")
    """
    if isinstance(table, Impossible):
        return f"not possible: {table.note}"
    context = Context(Path(), data_dir)
    files = table.files()
    here = {name for name, file in files.items() if context.available(file)}
    gone = [f"{files[name]} ({name})" for name in files if name not in here]
    if files and not here:
        return f"data absent: {', '.join(gone)}"
    parts = [f"data absent: {', '.join(gone)}"] if gone else []
    parts += [f"no data of {', '.join(table.absent)}"] if table.absent else []
    parts += [f"differs: {', '.join(table.differs())}"] if table.differs() else []
    return f"part: {'; '.join(parts)}" if parts else "available"


def reproduce(
    names: Iterable[str] = (),
    *,
    path: str | Path | None = None,
    data_dir: str | Path | None = None,
    n_jobs: int = 1,
    quick: bool = False,
    on_table: Callable[[Table], None] | None = None,
) -> list[Reproduced]:
    """Compute tables and figures of the papers, as far as the data allows.

    Parameters
    ----------
    names : iterable of str
        Names of tables, or of papers for all of theirs; none: all there are. See `get_tables`.
    path : path, optional
        File of the run, which keeps each cell of the comparisons of classifiers: what is there is not computed again.
        Streams and searches are computed anew. By default a file that is thrown away.
    data_dir : path, optional
        Folder of the data sets; by default the one that the environment variable SEQCLASS_DATA names.
    n_jobs : int
        Processes.
    quick : bool
        Whether to compute on few columns, folds and rows, to see that it runs; the figures then mean nothing.
    on_table : callable, optional
        Called with each table before it is computed.

    Returns
    -------
    list of Reproduced

    Raises
    ------
    ValueError
        If there is no table or paper of a name.
    FileNotFoundError
        If there is no such folder.

    Examples
    --------
    >>> (table,) = reproduce(["semi_rfs-fig3"], quick=True)
    >>> row = table.rows[0]
    >>> row.method, row.quantity, 0 < row.published < 1
    ('RFS', 'CV error after 10%', True)
    """
    tables = get_tables(names)
    with tempfile.TemporaryDirectory() as folder:
        where = Path(folder, "reproduction.db") if path is None else Path(path)
        context = Context(where, data_dir, n_jobs, quick)
        found = []
        for table in tables:
            if on_table is not None:
                on_table(table)
            found.append(Reproduced(table, tuple(table.rows(context)), _left_out(table, context)))
        return found


def _left_out(table: Table, context: Context) -> dict[str, str]:
    gone = {
        name: f"there is no {file} in the folder of data"
        for name, file in table.files().items()
        if not context.available(file)
    }
    return gone | table.left_out()
