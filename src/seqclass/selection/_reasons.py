"""Why each feature was kept or dropped."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from seqclass._utils.arrays import FloatArray, IntArray
from seqclass._utils.model_files import register
from seqclass._utils.tables import Readable, count_text


@register
@dataclass(frozen=True, repr=False)
class FeatureReasons(Readable):
    """What became of each feature, and because of which other one; held in arrays, so that millions of features fit.

    Attributes
    ----------
    decision : ndarray of int8 of shape (n_features,)
        What happened, as a position in `DECISIONS`.
    by : ndarray of int of shape (n_features,)
        The feature that made it redundant; -1 if there is none.
    relevance : ndarray of shape (n_features,)
        Dependence of each feature on the class.
    dependence : ndarray of shape (n_features,)
        Dependence of each feature on the one in ``by``; NaN if there is none.
    names : ndarray of str of shape (n_features,) or None
        Names of the features.

    Examples
    --------
    >>> reasons = FeatureReasons(np.int8([0, 1, 2]), np.array([-1, -1, 0]), np.array([0.9, 0.0, 0.2]),
    ...                          np.array([np.nan, np.nan, 0.5]))
    >>> print(reasons.describe(2))
    feature 2 (relevance 0.2) was redundant when it came, beside feature 0 (relevance 0.9, dependence 0.5)
    >>> reasons.counts()
    {'kept': 1, 'irrelevant': 1, 'redundant': 1, 'replaced': 0}
    """

    decision: npt.NDArray[np.int8]
    by: IntArray
    relevance: FloatArray
    dependence: FloatArray
    names: npt.NDArray[Any] | None = None

    #: Kept; not relevant; redundant when it came; kept at first, until a better one came.
    DECISIONS = ("kept", "irrelevant", "redundant", "replaced")

    def _summary(self) -> str:
        parts = ", ".join(f"{n:,} {what}" for what, n in self.counts().items() if n)
        return f"{count_text(len(self.decision), 'features')}: {parts}"

    def _table(self) -> Any:
        names = np.arange(len(self.decision)) if self.names is None else self.names
        by = [None if j < 0 else names[j] for j in self.by.tolist()]
        columns = {"feature": names, "decision": np.array(self.DECISIONS)[self.decision], "by": by}
        return columns | {"relevance": self.relevance, "dependence": self.dependence}

    def counts(self) -> dict[str, int]:
        """Number of features with each decision."""
        numbers = np.bincount(self.decision, minlength=len(self.DECISIONS))
        return dict(zip(self.DECISIONS, numbers.tolist()))

    def describe(self, feature: int) -> str:
        """Return in words what became of one feature."""
        what = self.DECISIONS[self.decision[feature]]
        text = f"{self._name(feature)} (relevance {self.relevance[feature]:.4g}) was "
        if self.by[feature] < 0:
            return text + what
        text += "redundant when it came, beside" if what == "redundant" else "kept until it was replaced by"
        by = int(self.by[feature])
        numbers = f"relevance {self.relevance[by]:.4g}, dependence {self.dependence[feature]:.4g}"
        return f"{text} {self._name(by)} ({numbers})"

    def _name(self, feature: int) -> str:
        return f"feature {feature}" if self.names is None else repr(str(self.names[feature]))


@register
class ReasonLog:
    """Collects what `FeatureReasons` tells, for relevant features only, while a stream runs."""

    def __init__(self) -> None:
        self._scores: list[FloatArray] = []
        self._dropped: list[tuple[IntArray, IntArray, FloatArray]] = []

    def scores(self, relevance: FloatArray) -> None:
        """Note the relevance of the next features."""
        self._scores.append(relevance)

    def note_dropped(self, features: IntArray, by: IntArray, dependence: FloatArray) -> None:
        """Note that features were dropped because of others."""
        self._dropped.append((features, by, dependence))

    def relevance(self) -> FloatArray:
        """Relevance of all features so far."""
        if len(self._scores) > 1:
            self._scores = [np.concatenate(self._scores)]
        return self._scores[0] if self._scores else np.empty(0)

    def __getstate__(self) -> dict[str, Any]:
        # many small notes would make many small arrays of a saved model
        self.relevance()
        if len(self._dropped) > 1:
            features, by, dependence = zip(*self._dropped)
            self._dropped = [(np.concatenate(features), np.concatenate(by), np.concatenate(dependence))]
        return self.__dict__

    def reasons(self, selected: IntArray, names: npt.NDArray[Any] | None = None) -> FeatureReasons:
        """Put together what happened to each feature."""
        relevance = self.relevance()
        decision = np.ones(len(relevance), dtype=np.int8)
        by = np.full(len(relevance), -1)
        dependence = np.full(len(relevance), np.nan)
        for features, others, values in self._dropped:
            by[features], dependence[features] = others, values
            decision[features] = np.where(others > features, 3, 2)
        decision[selected] = 0
        return FeatureReasons(decision, by, relevance.copy(), dependence, names)
