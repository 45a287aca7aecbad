"""Warnings of what data seem to say and hardly mean: a line each, with what to do."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from seqclass._utils.arrays import BoolArray, FloatArray, IntArray
from seqclass._utils.frames import as_if_numbers
from seqclass._utils.text import MAX_EXACT, fold_text, join_names, short_repr
from seqclass._utils.warned import warn_caller
from seqclass.agent._coding import OutcomeCoder
from seqclass.agent.agent import Agent
from seqclass.discretize import Discretizer


@dataclass(frozen=True)
class QualityTuning:
    """From where on data are warned of."""

    min_categories: int = 8  #: fewer may be meant, however much they look like numbers
    max_categories: int = 50  #: more, of few rows each, are rather names or free text
    rows_per_category: int = 5  #: in the mean
    min_rows: int = 20  #: in fewer a class of one row is no surprise
    min_numbers: int = 50  #: of fewer rows whole numbers may well differ all
    n_looked_at: int = 10_000  #: rows that are looked at first for a value far from all others
    far_ratio: float = 20.0  #: of the gap before a far value to the width of the others; 1 for -999 and such
    columns_per_far: int = 1000  #: of so many one far value is no surprise, and little depends on it


TUNING = QualityTuning()


def warn_of_doubts(agent: Agent, X: Any, classes: npt.NDArray[Any], sizes: IntArray, sample: Any = None) -> None:
    """Warn of each kind of doubt once; ``X`` are the rows as numbers, or none where there are too many and a sample."""
    coder, names = agent.coder, agent.feature_names
    y = "y" if agent.target_name is None else f"column {short_repr(agent.target_name)}"
    categories = {} if agent.encoder is None else agent.encoder.categories_
    told_of = (
        *_as_if_numbers(categories),
        *_rare(categories, int(sizes.sum())),
        *_texts_alike(categories, classes, y, names),
        *_single(classes, sizes, y),
    )
    for warning in told_of:
        warn_caller(warning)
    if names is not None and (numbering := _row_number_columns(coder, X if sample is None else sample, sizes.sum())):
        called = join_names(names[j] for j in numbering)
        does = "numbers the rows" if len(numbering) == 1 else "number the rows"
        warn_caller(
            f"{_columns(len(numbering))} {called} {does}: whole numbers of which no two are alike; leave it out "
            "(--drop on the command line) if it is a number of the case, which nobody asks for."
        )
    far = {j: value for j in _find_squeezed_columns(coder, X) if (value := _far_value(coder, X, j)) is not None}
    if len(far) * TUNING.columns_per_far > len(coder.numeric_):
        called = join_names(j if names is None else names[j] for j in far)
        values = ", ".join(dict.fromkeys(f"{value:g}" for value in far.values()))
        warn_caller(
            f"{_columns(len(far))} {called}: {values} lies so far from all other values that these fall into one bin; "
            "leave such cells empty if they stand for what is missing, else take bins of equal counts, "
            "in Python by Discretizer(strategy='quantile')."
        )


def _columns(n: int) -> str:
    return "column" if n == 1 else "columns"


def _as_if_numbers(categories: dict[Any, npt.NDArray[Any]]) -> Iterator[str]:
    columns: dict[str, list[Any]] = {}
    for name, known in categories.items():
        if len(known) >= TUNING.min_categories and (hint := as_if_numbers(known.tolist())):
            columns.setdefault(hint, []).append(name)
    for hint, names in columns.items():
        known = categories[names[0]].tolist()
        like = short_repr(next((text for text in known if as_if_numbers([text])), known[0]))
        yield f"{_columns(len(names))} {join_names(names)}: texts such as {like} make {len(known)} categories.{hint}"


def _rare(categories: dict[Any, npt.NDArray[Any]], n_rows: int) -> Iterator[str]:
    """Texts of which so many differ that they tell little, and that new rows will hold others."""
    most = max(TUNING.max_categories, n_rows / TUNING.rows_per_category)
    for name, known in categories.items():
        if len(known) > most and not as_if_numbers(known.tolist()):
            yield (
                f"column {short_repr(name)} has {len(known)} categories in {n_rows:,} rows: each tells next to "
                "nothing, new rows will hold others, and planning takes long; group its values, or leave the column "
                "out."
            )


def _texts_alike(
    categories: dict[Any, npt.NDArray[Any]], classes: npt.NDArray[Any], y: str, names: npt.NDArray[Any] | None
) -> Iterator[str]:
    """Texts that differ in nothing that one sees or means; of columns, so that marks of a question are among them."""
    columns = [(f"column {short_repr(name)}", "categories", known) for name, known in categories.items()]
    columns += [] if names is None else [("X", "columns", names)]
    for where, what, known in [*columns, (y, "classes", classes)]:
        same: dict[str, list[str]] = {}
        for text in known.tolist():
            if isinstance(text, str):
                same.setdefault(fold_text(text), []).append(text)
        pairs = [texts for texts in same.values() if len(texts) > 1]
        if pairs:
            more = f", and {len(pairs) - 1} more of that kind" if pairs[1:] else ""
            seen = len({unicodedata.normalize("NFC", text) for text in pairs[0]}) == len(pairs[0])
            alike = join_names(pairs[0]) if seen else ", ".join(map(ascii, pairs[0]))
            yield f"{where} holds {alike} as {what} of their own{more}: write alike what is the same."


def _single(classes: npt.NDArray[Any], sizes: IntArray, y: str) -> Iterator[str]:
    alone = classes[sizes == 1].tolist()
    if alone and sizes.sum() >= TUNING.min_rows:
        which = f"class {short_repr(alone[0])} has" if len(alone) == 1 else f"classes {join_names(alone)} have"
        advice = "too few to learn from or check: add rows, leave it out or join it to another."
        yield f"{y}: {which} a single row, {advice}"


def _row_number_columns(coder: OutcomeCoder, X: Any, n_rows: int) -> list[int]:
    """Numeric columns that look like numbers of the rows, or of a part of them: all whole, all different, and close."""
    if sp.issparse(X) or len(X) < TUNING.min_numbers or coder.range_ is None:
        return []
    columns = []
    for j in coder.numeric_.tolist():
        values = X[:, j]
        if (abs(values) < MAX_EXACT).all() and (values == np.round(values)).all():
            close = np.ptp(coder.range_[:, j]) < 2 * n_rows
            columns += [j] if close and len(np.unique(values)) == len(values) else []
    return columns


def _find_squeezed_columns(coder: OutcomeCoder, X: Any) -> Iterable[int]:
    """Numeric columns in which all values but the least, or the greatest, fall into one bin, as some rows tell."""
    bins = coder.bins
    if bins is None or sp.issparse(X) or not len(X) or coder.range_ is None:
        return
    some = X[:: max(1, len(X) // TUNING.n_looked_at)]
    for at, j in enumerate(coder.numeric_.tolist()):
        edges = bins.bin_edges_[at][np.isfinite(bins.bin_edges_[at])]
        if len(edges):
            values = some[:, j]
            below, beyond = np.count_nonzero(values < edges[-1]), np.count_nonzero(values >= edges[0])
            least, greatest = (np.count_nonzero(values == end) for end in coder.range_[:, j])
            apart = np.count_nonzero(_in_own_bin(bins, at, values))
            if below - least in (0, apart) or beyond - greatest in (0, apart):
                yield j


def _in_own_bin(bins: Discretizer, at: int, values: FloatArray) -> BoolArray:
    """Which values are the frequent one that has a bin of its own, if there is one."""
    low, high = bins.own_bins_[at]
    return np.asarray((values >= low) & (values <= high))


def _far_value(coder: OutcomeCoder, X: Any, column: int) -> float | None:
    """The value that lies so far from all others that it cannot be of their kind, if there is one."""
    at = int(np.searchsorted(coder.numeric_, column))
    bins = coder.discretizer_
    known: FloatArray = np.unique(X[:, column].astype(np.float64))
    known = known[np.isfinite(known) & ~_in_own_bin(bins, at, known)]
    if len(known) < 4:  # two or three values are kinds rather than measurements
        return None
    edges = bins.bin_edges_[at]
    for value, gap, rest in (
        (known[0], known[1] - known[0], known[1:]),
        (known[-1], known[-1] - known[-2], known[:-1]),
    ):
        one_bin = np.ptp(np.searchsorted(edges, rest[[0, -1]], side="right")) == 0
        digits = set(f"{abs(value):g}")
        sentinel = digits == {"9"} and abs(value) >= 99
        if one_bin and gap > np.ptp(rest) * (1.0 if sentinel else TUNING.far_ratio):
            return float(value)
    return None
