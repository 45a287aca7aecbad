"""Explained instances of one classifier."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from seqclass._utils.arrays import IntArray
from seqclass._utils.tables import Readable
from seqclass._utils.validation import check_integer, check_kind
from seqclass.agent.explanation import Explanation


def evenly(n: int, most: int) -> IntArray:
    """Positions of at most so many of ``n``, the first and the last among them, evenly apart."""
    return np.unique(np.linspace(0, n - 1, min(n, most)).round().astype(np.intp))


@dataclass(frozen=True, repr=False)
class Explored(Readable):
    """Explained instances of one classifier.

    Attributes
    ----------
    explanations : sequence of Explanation of length n
        What `SequentialClassifier.explain` returns.
    rows : sequence of length n, optional
        Names of the instances; by default they are numbered from 1.
    truth : sequence of length n, optional
        True classes of the instances, as labels of the explanations.
    note : str
        Where they come from.

    Raises
    ------
    ValueError
        If there are no explanations, or lengths differ.
    TypeError
        If something else is among the explanations.

    Examples
    --------
    >>> from seqclass import etana
    >>> from seqclass.datasets import load
    >>> iris = load("iris")
    >>> clf = etana().fit(iris.X, iris.labels)
    >>> explored = Explored(clf.explain(iris.X[:3]), truth=iris.labels[:3].tolist())
    >>> len(explored.explanations)
    3
    """

    _in_summary = ("explanations", "note")

    explanations: Sequence[Explanation]
    rows: Sequence[Any] | None = None
    truth: Sequence[Any] | None = None
    note: str = ""

    def __post_init__(self) -> None:
        n = len(self.explanations)
        if not n:
            raise ValueError("explanations must hold at least one.")
        for explanation in self.explanations:
            check_kind(explanation, Explanation, "explanations", "what SequentialClassifier.explain gives")
        for name in ("rows", "truth"):
            value = getattr(self, name)
            if value is not None and len(value) != n:
                raise ValueError(f"{name} must have {n} entries, one an instance, got {len(value)}.")

    def _table(self) -> Any:
        figures = ("decision", "paid", "n_features")
        columns: dict[str, Any] = {name: [getattr(case, name) for case in self.explanations] for name in figures}
        rows = range(1, len(self.explanations) + 1) if self.rows is None else self.rows
        return {"row": rows} | ({} if self.truth is None else {"truth": self.truth}) | columns

    def thin(self, n_instances: int) -> Explored:
        """Return some of the instances, evenly spaced.

        Parameters
        ----------
        n_instances : int
            Most instances.

        Returns
        -------
        Explored
        """
        chosen = evenly(len(self.explanations), check_integer(n_instances, "n_instances", 1)).tolist()
        rows = None if self.rows is None else [self.rows[i] for i in chosen]
        truth = None if self.truth is None else [self.truth[i] for i in chosen]
        return replace(self, explanations=[self.explanations[i] for i in chosen], rows=rows, truth=truth)

    def to_dict(self) -> dict[str, Any]:
        """Return this as plain lists, dicts, numbers and texts; `from_dict` reads it.

        Returns
        -------
        dict
            Keys are the attributes.
        """
        rows, truth = (None if value is None else list(value) for value in (self.rows, self.truth))
        explanations = [explanation.to_dict() for explanation in self.explanations]
        return {"explanations": explanations, "rows": rows, "truth": truth, "note": self.note}

    @classmethod
    def from_dict(cls, content: Mapping[str, Any]) -> Explored:
        """Make explained instances from what `to_dict` returned.

        Parameters
        ----------
        content : mapping
            Plain data.

        Returns
        -------
        Explored

        Raises
        ------
        ValueError
            If an explanation cannot be read.
        """
        explanations = [Explanation.from_dict(one) for one in content["explanations"]]
        return cls(explanations, content.get("rows"), content.get("truth"), content.get("note", ""))
