"""A record of what a sequential classifier acquired, instance by instance."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import Field, dataclass, field, fields, replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import numpy.typing as npt

from seqclass._utils.arrays import BoolArray, FloatArray, IntArray
from seqclass._utils.tables import Readable
from seqclass._utils.text import money, shorten
from seqclass.agent.differential import labels_of
from seqclass.costs import Visits
from seqclass.pomdp.acquisition import Acquisition

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["AcquisitionRecord"]


#: Axes beside that of the instances, by what docstrings call their lengths; after the stop steps hold -1, beliefs the
#: last one.
CLASSES, STEPS, BELIEFS = "n_classes", "longest", "longest + 1"


def layout(*axes: str, in_table: bool = True, joined: bool = True, by_row: bool = True) -> dict[str, Any]:
    """What a field of a record says of itself: its axes, if it goes by row, is in tables, and outlives its part.

    All that joins, cuts, tabulates, keeps and reads records goes by this; a field without it has one entry a row.
    """
    return {"axes": axes, "in_table": in_table, "joined": joined, "by_row": by_row}


def axes_of(held: Field[Any]) -> tuple[str, ...]:
    """Axes of a field of a record after that of the instances."""
    return tuple(held.metadata.get("axes", ()))


def row_fields(record: Any) -> list[Field[Any]]:
    """Fields of a record, or of its class, that have an entry a row."""
    return [held for held in fields(record) if held.metadata.get("by_row", True)]


class EncodedRows(NamedTuple):
    """Outcomes of ``n`` instances."""

    codes: Any
    columns: IntArray
    keys: Any


@dataclass(frozen=True, repr=False)
class AcquisitionRecord(Readable):
    """A record of what was acquired for each of ``n`` instances, what it cost, and what was decided.

    Attributes
    ----------
    decision : ndarray of shape (n,)
        Decision taken, a label of ``decisions_``.
    posterior : ndarray of shape (n, n_classes)
        P(class | what was acquired) at the stop.
    n_features : ndarray of int of shape (n,)
        Number of features acquired; one that was asked for but missing does not count, and a bundle counts once.
    paid : ndarray of shape (n,)
        Prices paid, including visits, in units of misclassification cost.
    order : ndarray of int of shape (n, longest)
        Columns of ``X`` in the order in which they were asked for (for a bundle, the first that it shows); -1 after the
        stop.
    outcome : ndarray of int of shape (n, longest)
        Outcome of each (for a bundle, one number for all its columns, see `seqclass.pomdp.bundles.Bundle`); -1 if it
        was missing, and after the stop.
    beliefs : ndarray of shape (n, longest + 1, n_classes) or None
        Posterior before anything was asked and after each answer, with the last one repeated after the stop; only on
        request.
    history : ndarray of int of shape (n,) or None
        Number that is the same for instances with the same answers, including what was known at the start.
    visit : ndarray of int of shape (n, longest) or None
        Number of the visit, from 1, in which each was ordered; -1 after the stop. None if visits cost nothing.
    time : ndarray of shape (n,) or None
        Time that the answers took, where each visit takes as long as its slowest answer. None if visits cost nothing.
    differential : ndarray of bool of shape (n, n_classes) or None
        Whether each class may still be true; None if `seqclass.certify_differential` certifies nothing.

    index : pandas.Index of shape (n,) or None
        Index of the data frame that was given.
    classes, names : ndarray or None
        Labels of the classes, and names of the columns of ``X``, those of a bundle by its name.
    unit : str
        Unit of prices and costs, such as ``"EUR"``; empty if none was given.

    Examples
    --------
    >>> import numpy as np
    >>> from seqclass import SequentialClassifier
    >>> X = np.repeat([[0.0, 5.0], [1.0, 5.0]], 20, axis=0)
    >>> record = SequentialClassifier().fit(X, np.repeat(["a", "b"], 20)).acquire([[0.1, 5.0]])
    >>> record.decision.tolist(), record.order.tolist(), record.paid.tolist()
    (['a'], [[0]], [0.01])
    >>> record
    <AcquisitionRecord: 1 case, 1 feature at 0.01 on average; decisions a 1>
    """

    decision: npt.NDArray[Any]
    posterior: FloatArray = field(metadata=layout(CLASSES))
    n_features: IntArray
    paid: FloatArray
    order: IntArray = field(metadata=layout(STEPS))
    outcome: IntArray = field(metadata=layout(STEPS, in_table=False))
    beliefs: FloatArray | None = field(default=None, metadata=layout(BELIEFS, CLASSES, in_table=False))
    history: IntArray | None = field(default=None, metadata=layout(in_table=False, joined=False))
    visit: IntArray | None = field(default=None, metadata=layout(STEPS))
    time: FloatArray | None = None
    differential: BoolArray | None = field(default=None, metadata=layout(CLASSES))
    index: Any = field(default=None, metadata=layout(in_table=False))
    classes: Any = field(default=None, metadata=layout(in_table=False, by_row=False))
    names: Any = field(default=None, metadata=layout(in_table=False, by_row=False))
    unit: str = field(default="", metadata=layout(in_table=False, by_row=False))

    def __len__(self) -> int:
        return len(self.decision)

    @property
    def n_visits(self) -> IntArray:
        """Number of visits of each instance, (n,); if visits cost nothing, each question counts as one."""
        if self.visit is None:
            return np.asarray((self.order >= 0).sum(axis=1))
        return np.asarray(self.visit.max(axis=1, initial=0))

    def _summary(self) -> str:
        n, most = len(self), 4  # decisions, the most frequent ones
        labels, counts = np.unique(np.asarray(self.decision).astype(str), return_counts=True)
        order = np.argsort(-counts, kind="stable")
        parts = [f"{shorten(labels[i])} {counts[i]:,}" for i in order[:most]]
        parts += [f"{len(order) - most} others"] if len(order) > most else []
        asked, paid = (float(values.mean()) if n else 0.0 for values in (self.n_features, self.paid))
        each = f"{asked:.3g} feature{'' if asked == 1 else 's'} at {money(paid, self.unit)} on average"
        return f"{n:,} case{'' if n == 1 else 's'}, {each}; decisions {', '.join(parts) or 'none'}"

    def to_frame(self, classes: Sequence[Any] | None = None, names: Sequence[Any] | None = None) -> pd.DataFrame:
        """Return the record as a data frame, one row per instance.

        Parameters
        ----------
        classes : sequence of length n_classes, optional
            Labels of the classes instead of those that the record knows.
        names : sequence, optional
            Names of the columns of ``X`` instead of those that the record knows; without any, their numbers.

        Returns
        -------
        pandas.DataFrame
            Columns ``decision``, ``n_features``, ``paid``, ``asked`` (a tuple, in the order of asking), and
            ``P(label)`` for each class. If visits cost something there are also ``n_visits`` and ``time``, and
            ``asked`` is a tuple of visits. If sets of classes are certified there is ``differential``, a tuple with the
            most probable class first. Its index is that of the data frame that was given.

        Raises
        ------
        ValueError
            If classes or names are too few or too many.

        Examples
        --------
        >>> import pandas as pd
        >>> from seqclass import SequentialClassifier
        >>> X = pd.DataFrame({"dose": [0.0, 1.0] * 20, "age": 5.0}, index=[f"case {i}" for i in range(40)])
        >>> clf = SequentialClassifier().fit(X, ["a", "b"] * 20)
        >>> print(clf.acquire(X[:2]).to_frame().round(3))
               decision  n_features  paid    asked   P(a)   P(b)
        case 0        a           1  0.01  (dose,)  0.955  0.045
        case 1        b           1  0.01  (dose,)  0.045  0.955
        """
        known = self.classes if classes is None else classes
        if known is not None and len(known) != self.posterior.shape[1]:
            raise ValueError(f"classes must be {self.posterior.shape[1]} labels, one a class; got {len(known)}.")
        if names is not None and len(names) <= (last := int(self.order.max(initial=-1))):
            raise ValueError(f"names must name every column of X, and column {last} was asked for; got {len(names)}.")
        named = replace(self, classes=known, names=self.names if names is None else names)
        return super(AcquisitionRecord, named).to_frame()

    def _table(self) -> Any:
        import pandas as pd

        labels = range(self.posterior.shape[1]) if self.classes is None else self.classes
        asked = [
            tuple(j if self.names is None else self.names[j] for j in row[: list(row).index(-1) if -1 in row else None])
            for row in self.order.tolist()
        ]
        if self.visit is not None:
            asked = [_by_visit(names_, visit) for names_, visit in zip(asked, self.visit.tolist())]
        columns = record_columns(
            self,
            posterior=lambda posterior: {},  # which comes last
            order=lambda order: {"asked": pd.Series(asked, dtype=object)},
            differential=lambda sets: {
                "differential": pd.Series(labels_of(sets, np.array(labels, dtype=object), self.posterior), dtype=object)
            },
        )
        columns |= {f"P({c})": self.posterior[:, i] for i, c in enumerate(labels)}
        return pd.DataFrame(columns)

    @classmethod
    def from_acquisition(
        cls, acquired: Acquisition, decisions: npt.NDArray[Any], columns: IntArray, visits: Visits | None = None
    ) -> AcquisitionRecord:
        """Make a record from an acquisition, by spreading its leaves over the instances.

        Parameters
        ----------
        acquired : Acquisition
            What the policy acquired.
        decisions : ndarray of shape (n_decisions,)
            Labels of the decisions.
        columns : ndarray of int of shape (n_features,)
            Column of ``X`` of each feature of the problem.
        visits : Visits or None
            What visits cost, by column of ``X``; None where they cost nothing.

        Returns
        -------
        AcquisitionRecord
        """
        leaf = acquired.leaf
        path = acquired.leaf_path
        order = np.where(path >= 0, columns[path], -1) if path.size else path
        beliefs = acquired.leaf_beliefs
        return cls(
            decision=decisions[acquired.leaf_decision][leaf],
            posterior=acquired.leaf_belief[leaf],
            n_features=(acquired.leaf_outcome >= 0).sum(axis=1)[leaf],
            paid=acquired.leaf_price[leaf],
            order=order[leaf],
            outcome=acquired.leaf_outcome[leaf],
            beliefs=None if beliefs is None else beliefs[leaf],
            history=leaf,
            visit=None if acquired.leaf_visit is None else acquired.leaf_visit[leaf],
            time=None if visits is None else waits(order, acquired.leaf_visit, visits.delays).sum(axis=1)[leaf],
        )


def join_records(records: Sequence[AcquisitionRecord]) -> AcquisitionRecord:
    """Records of parts of some rows as one."""
    steps = np.array([part.order.shape[1] for part in records])
    short, whole = (steps.max() - steps).tolist(), {}
    for held in row_fields(records[0]):
        parts = [getattr(part, held.name) for part in records]
        if held.metadata.get("joined", True) and any(part is not None for part in parts):
            whole[held.name] = _join([_pad_steps(part, n, axes_of(held)) for part, n in zip(parts, short)])
    apart = {held.name: None for held in row_fields(records[0]) if held.name not in whole}
    return replace(records[0], **apart | whole)


def _join(parts: list[Any]) -> Any:
    return parts[0].append(parts[1:]) if hasattr(parts[0], "append") else np.concatenate(parts)


def _pad_steps(values: npt.NDArray[Any], short: int, axes: tuple[str, ...]) -> npt.NDArray[Any]:
    """Values with so many more steps."""
    if not short or not {STEPS, BELIEFS}.intersection(axes):
        return values
    widths = [(0, 0), *((0, short * (axis != CLASSES)) for axis in axes)]
    return np.pad(values, widths, "edge") if BELIEFS in axes else np.pad(values, widths, constant_values=-1)


def select_rows(record: AcquisitionRecord, rows: IntArray) -> AcquisitionRecord:
    """Some rows of a record."""
    there: dict[str, Any] = {held.name: getattr(record, held.name) for held in row_fields(record)}
    return replace(record, **{name: value[rows] for name, value in there.items() if value is not None})


def record_columns(record: AcquisitionRecord, **makers: Callable[[Any], Mapping[str, Any]]) -> dict[str, Any]:
    """Columns of a table, a row an instance, of all fields that are there: each by itself, or as it is made there."""
    makers = {"visit": lambda visit: {"n_visits": record.n_visits}} | makers
    columns: dict[str, Any] = {}
    for held in fields(record):
        value = getattr(record, held.name)
        if value is not None and held.metadata.get("in_table", True):
            columns |= makers[held.name](value) if held.name in makers else {held.name: value}
    return columns


def waits(order: IntArray, visit: IntArray | None, delays: FloatArray) -> FloatArray:
    """How long the slowest answer of each visit takes, where the visit begins, (n, longest); 0 elsewhere."""
    assert visit is not None  # where visits cost something
    delay = np.where(order >= 0, delays[order], 0.0)
    longest = np.zeros(delay.shape)
    for number in range(1, int(visit.max(initial=0)) + 1):
        of = visit == number
        rows = np.flatnonzero(of.any(axis=1))
        longest[rows, of[rows].argmax(axis=1)] = np.where(of[rows], delay[rows], 0.0).max(axis=1)
    return longest


def _by_visit(asked: tuple[Any, ...], visit: Sequence[int]) -> tuple[tuple[Any, ...], ...]:
    numbers = visit[: len(asked)]
    return tuple(tuple(a for a, v in zip(asked, numbers) if v == number) for number in dict.fromkeys(numbers))
