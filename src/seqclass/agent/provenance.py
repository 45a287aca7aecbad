"""Where a model comes from: the target, how many rows of which file, when, and with which versions."""

from __future__ import annotations

import hashlib
import os
import platform
from dataclasses import dataclass, replace
from datetime import date as Date
from pathlib import Path
from typing import Any

import numpy as np
import sklearn

from seqclass import __version__
from seqclass._utils.files import today
from seqclass._utils.model_files import register
from seqclass._utils.stored import require
from seqclass._utils.tables import Readable, count_text
from seqclass._utils.text import money, short_repr


@register
@dataclass(frozen=True, repr=False)
class Provenance(Readable):
    """Where a fitted classifier comes from; the classifier holds it as ``provenance_``, and model files keep it.

    Attributes
    ----------
    n_classes : int
        Number of classes.
    n_rows : int or None
        Number of rows of the fit, those of all chunks; None if there were none, as for a plan from a network.
    target : str or None
        Name of the labels, if they had one.
    date : str
        Day of the fit in UTC, ``"2026-11-27"``; that of the environment's ``SOURCE_DATE_EPOCH`` where it is set.
    source : str
        Name of the file that was learnt from, without its folder; empty if not known.
    digest : str
        SHA-256 of that file; of a folder, of the names and digests of its files.
    versions : tuple of (str, str)
        Versions of Python and of the libraries that the figures depend on.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from seqclass import SequentialClassifier
    >>> clf = SequentialClassifier().fit(*load_iris(return_X_y=True))
    >>> clf.provenance_.n_rows, clf.provenance_.n_classes
    (150, 3)
    """

    n_classes: int
    n_rows: int | None = None
    target: str | None = None
    date: str = ""
    source: str = ""
    digest: str = ""
    versions: tuple[tuple[str, str], ...] = ()

    @classmethod
    def of_fit(cls, n_classes: int, n_rows: int | None, target: str | None) -> Provenance:
        """That of a fit which ends now."""
        versions = {"seqclass": __version__, "python": platform.python_version()}
        versions |= {"numpy": np.__version__, "scikit-learn": sklearn.__version__}
        return cls(n_classes, n_rows, target, today(), versions=tuple(versions.items()))

    def with_source(self, path: str | os.PathLike[str], date: str | None = None) -> Provenance:
        """Return the same with the name and the digest of the file that was learnt from.

        Parameters
        ----------
        path : path
            The file, or a folder of files.
        date : str, optional
            Day of the fit, such as ``"2026-11-27"``; by default it stays as it is.

        Returns
        -------
        Provenance

        Raises
        ------
        ValueError
            If the date is none.
        FileNotFoundError
            If there is no such file.

        Examples
        --------
        >>> import tempfile
        >>> from pathlib import Path
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     path = Path(folder) / "clinic.csv"
        ...     _ = path.write_text("age,ill")
        ...     print(Provenance(2, 1).with_source(path, date="2026-11-27"))
        from 1 row of clinic.csv, 2026-11-27
        """
        if date is not None:
            try:
                date = Date.fromisoformat(date).isoformat()
            except (TypeError, ValueError):
                raise ValueError(f"date must be a day such as '2026-11-27', got {short_repr(date)}.") from None
        source, digest = source_of(path)
        return replace(self, source=source, digest=digest, date=date or self.date)

    def record(self) -> dict[str, Any]:
        """Return it as plain data, as in JSON.

        Returns
        -------
        dict
        """
        return {**vars(self), "versions": dict(self.versions)}

    def text(self, held_out_cost: float | None = None, unit: str = "") -> str:
        """Return it in a few words, with what a case cost on rows that the fit had not seen.

        Parameters
        ----------
        held_out_cost : float, optional
            That cost; by default nothing is said of it.
        unit : str
            Its unit.

        Returns
        -------
        str

        Examples
        --------
        >>> Provenance(2, 600, date="2026-11-27", source="clinic.csv").text(31.2, "EUR")
        'from 600 rows of clinic.csv, 2026-11-27, held-out cost 31.2 EUR'
        """
        size = "" if self.n_rows is None else count_text(self.n_rows, "rows")
        origin = " of ".join(filter(None, [size, self.source]))
        cost = "" if held_out_cost is None else f"held-out cost {money(held_out_cost, unit)}"
        return ", ".join(filter(None, [f"from {origin}" if origin else "", self.date, cost]))

    def __str__(self) -> str:
        return self.text()

    def _check_stored(self) -> None:
        pairs = all(isinstance(pair, tuple) and len(pair) == 2 for pair in self.versions)
        require(pairs, "provenance holds versions of another form")
        texts = (self.date, self.source, self.digest, self.target or "", *sum(self.versions, ()))
        require(all(isinstance(text, str) for text in texts), "provenance holds what is no text")
        counts = (self.n_classes, 0 if self.n_rows is None else self.n_rows)
        require(all(type(n) is int and n >= 0 for n in counts), "provenance holds a wrong number")


def source_of(path: str | os.PathLike[str]) -> tuple[str, str]:
    """The name of a file, and its digest as it is now."""
    file = Path(path).resolve()
    return file.name, file_digest(file)


def file_digest(path: Path) -> str:
    """SHA-256 of a file, or of the names and digests of the files of a folder."""
    digest = hashlib.sha256()
    if path.is_dir():
        for file in sorted(one for one in path.rglob("*") if one.is_file()):
            digest.update(f"{file.relative_to(path).as_posix()} {file_digest(file)}\n".encode())
        return digest.hexdigest()
    with path.open("rb") as file_:
        while piece := file_.read(2**20):
            digest.update(piece)
    return digest.hexdigest()
