"""What a table or figure of a paper is here: a description that can be run, and the rows it gives."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from reproduction._context import Context
from reproduction._sets import ABSENT
from reproduction.pictures.picture import Picture
from reproduction.row import Row

__all__ = ["Row", "Table", "failure", "figures"]


@dataclass(frozen=True)
class Table(ABC):
    """A table or figure of a paper.

    Attributes
    ----------
    name : str
        Name on the command line: paper, dash, number.
    title : str
        What it shows.
    note : str
        What differs from the paper as a whole, and whether the paper gives its figures in print.
    absent : tuple of str
        Sets of the paper that there is no data for; why, is in `left_out`.
    picture : Picture or None
        How it is drawn; None for what is no figure.
    not_computed : mapping of str to str
        Sets that there is data for but that are left out all the same, and why.

    Examples
    --------
    >>> from dataclasses import dataclass
    >>> @dataclass(frozen=True)
    ... class Constant(Table):
    ...     def files(self):
    ...         return {}
    ...     def rows(self, context):
    ...         yield Row("none", "constant", "value", ours=1.0)
    >>> Constant("toy-1", "A constant", absent=("Car",)).left_out()
    {'Car': 'no copy was available'}
    """

    name: str
    title: str
    note: str = ""
    absent: tuple[str, ...] = ()
    picture: Picture | None = field(default=None, kw_only=True)
    not_computed: Mapping[str, str] = field(default_factory=dict, kw_only=True)

    @abstractmethod
    def files(self) -> Mapping[str, str]:
        """Files of data that it takes, by the names of their sets."""

    @abstractmethod
    def rows(self, context: Context) -> Iterator[Row]:
        """Compute it, for those of its sets that are there; what only a picture shows goes to ``context.curves``.

        Parameters
        ----------
        context : Context
            Where the data is, and how to run.

        Yields
        ------
        Row
        """

    def differs(self) -> dict[str, str]:
        """Sets that are not quite the paper's, and how they differ.

        Returns
        -------
        dict of str to str
        """
        return {}

    def left_out(self) -> dict[str, str]:
        """Sets of the paper that are left out, and why.

        Returns
        -------
        dict of str to str
        """
        later = {name: f"not computed here: {reason}" for name, reason in self.not_computed.items()}
        return {name: ABSENT[name] for name in self.absent} | later


@dataclass(frozen=True)
class Impossible(Table):
    """A table or figure that cannot be made; ``note`` says why."""

    def files(self) -> Mapping[str, str]:
        """Nothing is read."""
        return {}

    def rows(self, context: Context) -> Iterator[Row]:
        """Nothing is computed."""
        return iter(())


def failure(what: str, error: str) -> str:
    """Part of a note: what failed and why; nothing if there is no error.

    Examples
    --------
    >>> failure("published", "ValueError: no rows; none at all"), failure("ours", "")
    ('published failed, ValueError: no rows, none at all', '')
    """
    return f"{what} failed, {error.replace('; ', ', ').rstrip('.')}" if error else ""


def figures(text: str, columns: Sequence[str]) -> dict[tuple[str, str], float]:
    """Figures printed in a table: a line a data set, a number a column, ``-`` for none.

    Parameters
    ----------
    text : str
        The lines; the name of a set may hold blanks.
    columns : sequence of str
        Names of the columns.

    Returns
    -------
    dict of (str, str) to float
        By data set and column.

    Raises
    ------
    ValueError
        If a line has fewer numbers than there are columns.

    Examples
    --------
    >>> figures("Lung Cancer  0.9 -", ["ETANA", "SAOLA"])
    {('Lung Cancer', 'ETANA'): 0.9, ('Lung Cancer', 'SAOLA'): nan}
    """
    found = {}
    for line in filter(str.strip, text.splitlines()):
        words = line.split()
        if len(words) <= len(columns):
            raise ValueError(f"there are fewer than {len(columns)} numbers in {line!r}.")
        name = " ".join(words[: -len(columns)])
        for column, word in zip(columns, words[-len(columns) :]):
            found[name, column] = np.nan if word == "-" else float(word)
    return found
