"""The rows that a risk is certified on: what they must be, and what each rule of a ladder does with them."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from seqclass._arrays import BoolArray, FloatArray, IntArray, chunks
from seqclass._certifying import Ladder, Risk
from seqclass._fitting import rows_of
from seqclass._frames import plain
from seqclass._inputs import check_input
from seqclass._messages import listed, shown
from seqclass._seen_rows import marks_for
from seqclass._treating import class_position
from seqclass._validation import class_numbers, group_numbers

if TYPE_CHECKING:
    from seqclass.classifier import SequentialClassifier


def check_level(value: Any, name: str, high: float) -> None:
    """Refuse what is not strictly between 0 and ``high``."""
    if isinstance(value, bool) or not isinstance(value, (int, float, np.integer, np.floating)):
        raise TypeError(f"{name} must be a number, got {shown(value)}.")
    if not 0 < value < high:
        raise ValueError(f"{name} must be above 0 and below {high:.4g}, got {value:g}.")


class Counts(NamedTuple):
    """Groups of rows.

    Attributes
    ----------
    labels : list
        Names of the groups; None for all rows.
    sizes : list of int
        Rows of each that count.
    """

    labels: list[Any]
    sizes: list[int]


@dataclass(frozen=True, eq=False)
class Cases:
    """Labelled rows, and which of them count.

    Attributes
    ----------
    X : array-like, data frame or sparse array of shape (n, n_features)
        The rows.
    codes : ndarray of int of shape (n,)
        Their classes.
    counted : ndarray of bool of shape (n,)
        Those that the risk is about.
    group : ndarray of int of shape (n,)
        Group of each.
    labels : list
        Names of the groups; None for all rows.
    classes : list
        Names of the classes.
    """

    X: Any
    codes: IntArray
    counted: BoolArray
    group: IntArray
    labels: list[Any]
    classes: list[Any]

    @classmethod
    def of(cls, clf: SequentialClassifier, X: Any, y: Any, groups: Any, metric: str, target: Any) -> Cases:
        """Check rows, labels and groups."""
        X, classes = plain(X), clf.classes_.tolist()
        n = X.shape[0] if hasattr(X, "shape") else len(X)
        codes = class_numbers(clf.classes_, y, n=n)
        if (metric == "sensitivity") == (target is None):
            wanted = (
                "target must name the class whose sensitivity is meant; the classes are"
                if target is None
                else (f'target={shown(target)} is for metric="sensitivity" only, with one of the classes')
            )
            raise ValueError(f"{wanted} {listed(classes)}.")
        counted = np.ones(n, dtype=bool) if target is None else codes == class_position(clf.classes_, target, "target")
        number, labels = (np.zeros(n, dtype=np.intp), [None]) if groups is None else group_numbers(groups, n)
        return cls(X, codes, counted, number, labels, classes)

    @property
    def counts(self) -> Counts:
        """Rows of each group that count."""
        sizes = np.bincount(self.group[self.counted], minlength=len(self.labels))
        return Counts(self.labels, [int(n) for n in sizes])

    def check_enough(self, alpha: float, delta: float, least: int) -> None:
        """Refuse rows on which nothing could be certified, even if no rule made an error."""
        for label, n in zip(*self.counts):
            if n < least:
                where = "" if label is None else f" of group {shown(label)}"
                raise ValueError(
                    f"X has {n} rows{where} that count, too few for alpha={alpha:g} and delta={delta:g}: it takes at "
                    f"least {least}, and so many only if not one error is made."
                )

    def check_fresh(self, clf: SequentialClassifier, allowed: bool) -> None:
        """Refuse rows that the classifier was fitted to."""
        seen = getattr(clf, "_seen", None)
        if allowed:
            return
        if seen is None:
            warnings.warn(
                "the classifier cannot tell which rows it was fitted to (an older seqclass saved it, or it was made "
                "without rows): see to it that X holds none of them.",
                UserWarning,
                stacklevel=4,
            )
            return
        X = check_input(clf, self.X, clf.encoder_, clf.handle_unknown)
        found = seen.recognised(marks_for(clf, X, clf.classes_[self.codes]))
        if found is not None:
            rows, n = found
            raise ValueError(
                f"X holds rows that the classifier was fitted to, as they were or rounded ({rows.size} of the {n} that "
                f"could be compared: rows {listed(rows.tolist())}), by which nothing can be certified: leave rows out "
                "of the fit and give them here. If they are others that happen to be equal, say allow_seen=True."
            )


class RungSums(NamedTuple):
    """What the rules of a ladder do with all rows.

    Attributes
    ----------
    total : ndarray of shape (n_groups, n_rungs)
        Sum of losses of the rows that count.
    n_features, price, cost : ndarray of shape (n_rungs,)
        Means over all rows; cost is price and decision cost.
    specificity : ndarray of shape (n_rungs,) or None
        Share of the rows that do not count which were decided for another class than the one that is meant; None where
        all count.
    decides : ndarray of int of shape (n_rungs,)
        The decision that all rows got, or -1.
    """

    total: FloatArray
    n_features: FloatArray
    price: FloatArray
    cost: FloatArray
    specificity: FloatArray | None
    decides: IntArray


def run_rungs(clf: SequentialClassifier, ladder: Ladder, risk: Risk, cases: Cases) -> RungSums:
    """Run every rule on every row, a part of the rows at a time."""
    m, n = ladder.values.size, len(cases.codes)
    costs, target = clf.decision_costs_, -1 if cases.counted.all() else int(cases.codes[cases.counted][0])
    total, sums = np.zeros((len(cases.labels), m)), np.zeros((4, m))
    counts = np.zeros((costs.shape[1], m))
    whole = clf.problem_.n_questions
    for part in chunks(n, 8.0 * (6 * m + whole)):
        rows = np.arange(n)[part]
        codes, counted = cases.codes[rows], cases.counted[rows]
        run = ladder.run(clf._encoded(rows_of(cases.X, rows), clf._asked(whole=True)))
        losses = risk.losses(codes, run)
        for group in range(len(cases.labels)):
            total[group] += losses[counted & (cases.group[rows] == group)].sum(axis=0)
        spared = (run.decision[~counted] != target).sum(axis=0)
        decided = costs[codes[:, None], run.decision].sum(axis=0)
        sums += [run.n_features.sum(axis=0), run.price.sum(axis=0), decided, spared]
        counts += [(run.decision == decision).sum(axis=0) for decision in range(len(counts))]
    n_features, price, decided, spared = sums
    others = n - int(cases.counted.sum())
    specificity = spared / others if others else None
    decides = np.where(counts.max(axis=0) == n, counts.argmax(axis=0), -1)
    return RungSums(total, n_features / n, price / n, (price + decided) / n, specificity, decides)


def joined_sums(parts: Sequence[RungSums]) -> RungSums:
    """Several ladders' sums, one's rules after the other's."""
    found = [
        None if columns[0] is None else np.concatenate([np.atleast_1d(one) for one in columns], axis=-1)
        for columns in zip(*parts)
    ]
    return RungSums(*found)  # type: ignore[arg-type]
