"""Which tables there are, and whether the data allows them."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from reproduction import _etana, _fires, _fires_more, _gdfs, _ifc2f, _ranks, _saola, _saola_more, _semi_rfs
from reproduction._context import Context
from reproduction.table import Impossible, Table
from seqclass._utils.text import near

__all__ = ["PAPERS", "get_tables", "paper_of", "status"]

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
    table.name: table
    for paper in (_etana, _fires, _fires_more, _semi_rfs, _ifc2f, _saola, _saola_more, _gdfs, _ranks)
    for table in paper.TABLES
}


def paper_of(table: Table) -> str:
    """First part of a table's name, which is that of its paper in `PAPERS`.

    Examples
    --------
    >>> paper_of(*get_tables(["semi_rfs-fig3"]))
    'semi_rfs'
    """
    return table.name.rpartition("-")[0]


def get_tables(names: Iterable[str] = ()) -> list[Table]:
    """Return tables by name.

    Parameters
    ----------
    names : iterable of str
        Names of tables, or of papers for all of theirs; none: all there are. ``"etana-4"`` names both of its parts,
        ``"etana-4a"`` and ``"etana-4b"``.

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
    ['fires-3', 'fires-4', 'fires-mnist', 'fires-fig4', 'fires-fig5', 'fires-fig6', 'fires-3b', 'fires-fig3']
    """
    chosen: dict[str, Table] = {}
    for name in list(names) or PAPERS:
        of_paper = {key: table for key, table in _TABLES.items() if name in (paper_of(table), key.rstrip("ab"))}
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
    ('available', "not possible: The words of IMDB's reviews were not available.")
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
    parts += [f"not computed here: {', '.join(table.not_computed)}"] if table.not_computed else []
    parts += [f"differs: {', '.join(table.differs())}"] if table.differs() else []
    return f"part: {'; '.join(parts)}" if parts else "available"
