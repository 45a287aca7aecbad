"""What every file needs: names that parsers accept, numbers without exponents, and files that are whole or absent."""

from __future__ import annotations

import os
import re
import unicodedata
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from seqclass._files import replacing

#: The action that buys the next feature; action 0 in every file.
ACQUIRE = "acq"
#: The absorbing state, the last of every file.
END = "end"


def labels(names: Sequence[Any] | None, n: int, parameter: str, prefix: str) -> list[str]:
    """Names that parsers accept: letters, digits and underscores only, all different.

    Parameters
    ----------
    names : sequence or None
        What people call them; None: their numbers.
    n : int
        How many there must be.
    parameter : str
        The parameter's name, for the message.
    prefix : str
        What each begins with; a letter, unless the caller puts one before.

    Returns
    -------
    list of str

    Raises
    ------
    ValueError
        If there are not ``n`` names.

    Examples
    --------
    >>> labels(["Stage I", "Stage-I", "3 µm", ""], 4, "classes", "c")
    ['c_Stage_I', 'c_Stage_I_1', 'c_3_um', 'c_3']
    >>> labels(None, 2, "decisions", "d")
    ['d0', 'd1']
    """
    if names is None:
        return [f"{prefix}{i}" for i in range(n)]
    if isinstance(names, str) or len(names) != n:
        raise ValueError(f"{parameter} must be a list of {n} names, got {names!r}.")
    result: list[str] = []
    for i, name in enumerate(names):
        folded = unicodedata.normalize("NFKD", str(name)).replace("\N{GREEK SMALL LETTER MU}", "u")
        plain = re.sub(r"[^0-9A-Za-z]+", "_", folded.encode("ascii", "ignore").decode()).strip("_") or str(i)
        first = candidate = f"{prefix}_{plain}" if prefix else plain
        copies = 0
        while candidate in result:
            copies += 1
            candidate = f"{first}_{copies}"
        result.append(candidate)
    return result


def number(value: float) -> str:
    """Shortest decimal that reads back as the same float; the formats know no exponents and want a decimal point.

    Examples
    --------
    >>> number(1.0), number(-0.01), number(1e-7)
    ('1.0', '-0.01', '0.0000001')
    """
    return np.format_float_positional(value + 0.0, trim="0")


def write_lines(path: str | os.PathLike[str], lines: Iterable[str]) -> None:
    r"""Write a text file, whole or not at all: a failure leaves what was there as it was.

    Raises
    ------
    FileNotFoundError
        If the folder does not exist.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_lines(Path(folder, "a.txt"), ["one", "two"])
    ...     Path(folder, "a.txt").read_text()
    'one\ntwo\n'
    """
    with replacing(path) as temporary, open(temporary, "x", encoding="ascii", newline="\n") as file:
        file.writelines(line + "\n" for line in lines)
