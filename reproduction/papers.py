"""Every table and figure of the papers, and what has become of it here."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from importlib import resources

from reproduction.catalog import get_tables
from reproduction.table import Impossible

__all__ = ["PaperItem", "paper_items"]

#: What shows no result.
_NOTHING = {
    **dict.fromkeys(["etana Table 1", "fires Table 2", "ifc2f Table II", "saola Table I"], "a list of data sets"),
    **dict.fromkeys(["fires Table 1", "ifc2f Table I"], "a list of symbols"),
    **dict.fromkeys(["etana Fig. 1", "etana Fig. 2", "fires Fig. 1", "fires Fig. 2"], "a drawing that explains"),
    **dict.fromkeys(["semi_rfs Fig. 1", "semi_rfs Fig. 2", "ifc2f Fig. 1", "ifc2f Fig. 2"], "a drawing that explains"),
    **{"semi_rfs Table 1": "a comparison in words", "ifc2f Table V": "formulas of other papers"},
}
#: What cannot be made, beside the tables that say so themselves.
_WITHOUT = {
    "ifc2f Table IX": "The words of IMDB's reviews were not available",
    "semi_rfs Table 3": "the rows are from a competition on Kaggle, which requires an account",
}
#: Tables here that show more than the item that they are named after.
_TOGETHER = {"saola Fig. 7": "saola-fig6"}
_ROMAN = ("", *["I", "II", "III", "IV", "V", "VI", "VII", "VIII", "IX", "X", "XI", "XII", "XIII", "XIV"])


@dataclass(frozen=True)
class PaperItem:
    """A table or figure of a paper.

    Attributes
    ----------
    paper : str
        Name of the paper, as in the names of tables.
    number : str
        As the paper has it, such as ``"Table IV"`` or ``"Fig. 3"``.
    shows : str
        What it shows.

    Examples
    --------
    >>> item = PaperItem("saola", "Table XIII", "Running time")
    >>> item.tables, item.state
    (('saola-13',), 'made: saola-13')
    """

    paper: str
    number: str
    shows: str

    @property
    def key(self) -> str:
        """Paper and number."""
        return f"{self.paper} {self.number}"

    @property
    def tables(self) -> tuple[str, ...]:
        """Names of the tables here that make it."""
        kind, _, number = self.number.partition(" ")
        name = f"{self.paper}-fig{number}" if kind == "Fig." else f"{self.paper}-{_arabic(number)}"
        name = _TOGETHER.get(self.key, name)
        made = (table.name for table in get_tables() if not isinstance(table, Impossible))
        return tuple(other for other in made if other in (name, f"{name}a", f"{name}b"))

    @property
    def state(self) -> str:
        """``"made: ..."``, ``"impossible: ..."``, ``"nothing to compute: ..."`` or ``"not yet"``."""
        if self.tables:
            return f"made: {', '.join(self.tables)}"
        if self.key in _NOTHING:
            return f"nothing to compute: {_NOTHING[self.key]}"
        reason = _WITHOUT.get(self.key) or _impossible().get(self.key)
        return f"impossible: {reason}" if reason else "not yet"


def paper_items(paper: str = "") -> list[PaperItem]:
    """List the tables and figures of the papers, in their order.

    Parameters
    ----------
    paper : str
        Name of one paper; by default all.

    Returns
    -------
    list of PaperItem

    Examples
    --------
    >>> [item.number for item in paper_items("semi_rfs")][:4]
    ['Table 1', 'Table 2', 'Table 3', 'Fig. 1']
    """
    return [item for item in _items() if paper in ("", item.paper)]


@lru_cache(maxsize=1)
def _items() -> tuple[PaperItem, ...]:
    text = resources.files("reproduction").joinpath("papers.txt").read_text(encoding="utf-8")
    found, paper = [], ""
    for line in text.splitlines():
        if line.startswith("["):
            paper = line.strip("[]")
        elif paper and line:
            number, _, shows = line.partition(" | ")
            found.append(PaperItem(paper, number, shows))
    return tuple(found)


@lru_cache(maxsize=1)
def _impossible() -> dict[str, str]:
    """Why a table cannot be made, by paper and number, of those that say so themselves."""
    names = {table.name: table.note for table in get_tables() if isinstance(table, Impossible)}
    found = {}
    for item in _items():
        kind, _, number = item.number.partition(" ")
        name = f"{item.paper}-fig{number}" if kind == "Fig." else f"{item.paper}-{_arabic(number)}"
        if name in names:
            found[item.key] = names[name].rstrip(".")
    return found


def _arabic(number: str) -> str:
    return str(_ROMAN.index(number)) if number in _ROMAN else number
