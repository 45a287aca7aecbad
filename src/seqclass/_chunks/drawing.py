"""Rows drawn at random from chunks, class by class, in one pass."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from seqclass._arrays import FloatArray, IntArray, as_generator
from seqclass._frames import is_frame, plain
from seqclass._validation import check_integer, check_n_classes, plain_labels

#: So many standard deviations, and so many rows, are drawn beyond what is wanted, and then cut off.
_SLACK, _SPARE = 6.0, 20.0


@dataclass
class Drawn:
    """Candidates of a sample: their keys, chunks, places there, and rows; the least keys of a class are drawn."""

    key: FloatArray
    chunk: IntArray
    place: IntArray
    X: list[Any]
    y: list[Any]

    def __add__(self, other: Drawn) -> Drawn:
        return Drawn(
            np.concatenate([self.key, other.key]),
            np.concatenate([self.chunk, other.chunk]),
            np.concatenate([self.place, other.place]),
            self.X + other.X,
            self.y + other.y,
        )

    def cut(self, sizes: dict[Any, int], n: int) -> Drawn:
        """Keep those of each class with the least keys, in the order of the data."""
        y = np.concatenate(self.y)
        kept = []
        for label, most in shares(sizes, n).items():
            own = np.flatnonzero(y == label)
            kept.append(own[np.argsort(self.key[own], kind="stable")[:most]])
        rows = np.concatenate(kept)
        rows = rows[np.lexsort((self.place[rows], self.chunk[rows]))]
        return Drawn(self.key[rows], self.chunk[rows], self.place[rows], [_picked(self.X, rows)], [y[rows]])

    def rows(self) -> tuple[Any, Any]:
        """Features and labels."""
        return self.X[0], self.y[0]


def shares(sizes: dict[Any, int], n: int) -> dict[Any, int]:
    """How many rows of each class: the same share, and one at least."""
    total = sum(sizes.values())
    return {label: size if total <= n else int(np.ceil(size * n / total)) for label, size in sizes.items()}


def keys(seed: int, chunk: int, n: int) -> FloatArray:
    """Numbers between 0 and 1, one for each row of a chunk."""
    return as_generator([seed, chunk], "keys of rows").random(n)


def draw(sizes: dict[Any, int], n: int, random_state: int) -> Callable[[Any], Drawn]:
    """What gives the candidates of a chunk: somewhat more than will be needed of each class."""
    check_integer(n, "sample_rows", 1)
    below = {
        label: 1.0 if most == sizes[label] else (most + _SLACK * np.sqrt(most) + _SPARE) / sizes[label]
        for label, most in shares(sizes, n).items()
    }
    return partial(_drawn, below, random_state)


def _drawn(below: dict[Any, float], seed: int, chunk: Any) -> Drawn:
    found, at = told_apart(chunk.y)
    key = keys(seed, chunk.number, len(at))
    limit = np.array([below.get(label, 0.0) for label in found.tolist()])
    place = np.flatnonzero(key < limit[at])
    X = plain(chunk.X)
    rows = X.iloc[place] if is_frame(X) else X[place]
    return Drawn(key[place], np.full(len(place), chunk.number), place, [rows], [found[at[place]]])


def _picked(parts: list[Any], rows: IntArray) -> Any:
    if is_frame(parts[0]):
        import pandas as pd

        return (
            pd.concat([part[parts[0].columns] for part in parts], ignore_index=True).iloc[rows].reset_index(drop=True)
        )
    joined = sp.vstack(parts, format="csr") if sp.issparse(parts[0]) else np.concatenate(parts)
    return joined[rows]


def label_counts(chunk: Any) -> dict[Any, int]:
    """Rows of each label."""
    found, at = told_apart(chunk.y)
    return dict(zip(found.tolist(), np.bincount(at).tolist()))


def sizes_sum(one: dict[Any, int], other: dict[Any, int]) -> dict[Any, int]:
    """Rows of each label of both.

    Raises
    ------
    ValueError
        If labels are of several kinds, or too many to be classes.
    """
    kinds = {isinstance(next(iter(some)), str) for some in (one, other) if some}
    if len(kinds) > 1:
        raise ValueError("y holds numbers in some chunks and texts in others: give all labels as one kind.")
    total = {label: one.get(label, 0) + other.get(label, 0) for label in {**one, **other}}
    check_n_classes(len(total))
    return total


def told_apart(y: Any) -> tuple[npt.NDArray[Any], IntArray]:
    """Labels of a chunk that differ, in rising order, and which of them each row has.

    Raises
    ------
    ValueError
        If a label is missing, or they are no classes.

    Examples
    --------
    >>> told_apart(np.array(["no", "yes", "no"], dtype=object))
    (array(['no', 'yes'], dtype=object), array([0, 1, 0]))
    """
    import pandas as pd

    labels = np.asarray(plain_labels(y))
    if labels.ndim != 1:
        raise ValueError(f"y must hold one label for each row, got shape {labels.shape}.")
    if labels.dtype.kind == "S":
        raise ValueError("y holds bytes: decode them into texts, or turn them into numbers.")
    if labels.dtype.kind == "f" and not (labels == np.floor(labels)).all():
        wrong = labels[labels != np.floor(labels)][0]
        why = "leave out the rows without a label" if np.isnan(wrong) else "labels are classes, not quantities"
        raise ValueError(f"y holds {wrong:g}: {why}.")
    if labels.dtype.kind not in "OU":
        found, codes = np.unique(labels, return_inverse=True)
        return found, codes.ravel()
    # by hashing: to sort millions of texts takes longer than to read them
    codes, found = pd.factorize(labels)
    order = np.argsort(found)
    rank = np.empty(len(order), dtype=np.intp)
    rank[order] = np.arange(len(order))
    return np.asarray(found[order], dtype=labels.dtype), rank[codes]
