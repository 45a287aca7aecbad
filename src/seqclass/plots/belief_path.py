"""The class posterior of one instance after each answer, up to its decision."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from seqclass._base import BaseSequentialClassifier
from seqclass._utils.arrays import FloatArray
from seqclass.plots._style import (
    FAINT,
    MARKERS,
    NEUTRAL,
    Display,
    case_title,
    classes_to_colour,
    colour,
    legend_beside,
    legend_name,
    open_frame,
    shorten,
    wrap,
)

#: Most steps whose names stand upright, and whose names are written at all.
_UPRIGHT, _NAMED = 3, 16


class BeliefPathDisplay(Display):
    """Class posterior of one instance after each acquired feature, up to the decision.

    Make one with `from_estimator`.

    Parameters
    ----------
    beliefs : array-like of shape (n_asked + 1, n_classes)
        Posterior before anything was asked, and after each answer.
    names, values : sequence of str of length n_asked
        The features, in the order in which they were asked for; their values.
    classes : array-like of shape (n_classes,)
        Class labels.
    decision : object
        Label of the decision taken after the last answer.
    paid : float
        Prices paid.
    n_features : int, optional
        Number of features acquired; by default all that were asked for.
    unit : str
        Unit of prices, such as ``"EUR"``.

    Attributes
    ----------
    ax_, figure_ : matplotlib Axes and Figure
        Where it was drawn.
    lines_ : list of matplotlib Line2D
        One line per class, in the order of ``classes``.

    Raises
    ------
    ValueError
        If the shapes do not match.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from seqclass import SequentialClassifier
    >>> X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    >>> clf = SequentialClassifier().fit(X, y)
    >>> display = BeliefPathDisplay.from_estimator(clf, X.iloc[:1])
    >>> len(display.lines_), len(display.beliefs) == len(display.names) + 1
    (2, True)
    >>> import matplotlib.pyplot as plt
    >>> plt.close(display.figure_)
    """

    def __init__(
        self,
        beliefs: npt.ArrayLike,
        *,
        names: Sequence[str],
        values: Sequence[str],
        classes: npt.ArrayLike,
        decision: Any,
        paid: float,
        n_features: int | None = None,
        unit: str = "",
    ) -> None:
        self.beliefs: FloatArray = np.asarray(beliefs, dtype=np.float64)
        self.names = list(names)
        self.values = list(values)
        self.classes = np.asarray(classes)
        self.decision = decision
        self.paid, self.unit = float(paid), unit
        self.n_features = len(self.names) if n_features is None else int(n_features)
        wanted = (len(self.names) + 1, len(self.classes))
        if self.beliefs.shape != wanted:
            raise ValueError(
                f"beliefs must have shape {wanted}: the prior, then a row for each of the names, and a column for each "
                f"of the classes; got {self.beliefs.shape}."
            )
        if len(self.values) != len(self.names):
            raise ValueError(f"values must have one entry for each of the {len(self.names)} names.")

    @classmethod
    def from_estimator(
        cls, estimator: BaseSequentialClassifier, x_row: Any, *, ax: Any = None, **settings: Any
    ) -> BeliefPathDisplay:
        """Acquire the features of one instance and draw its posterior after each of them.

        Parameters
        ----------
        estimator : BaseSequentialClassifier
            A fitted classifier.
        x_row : array-like of shape (n_features,) or (1, n_features), pandas Series or one-row data frame
            The instance, in the form of the training data.
        ax : matplotlib Axes, optional
            Where to draw; by default a new figure.
        **settings
            Passed to `plot`.

        Returns
        -------
        BeliefPathDisplay

        Raises
        ------
        ValueError
            If ``x_row`` is not one instance.
        """
        row = _as_row(estimator, x_row)
        record = estimator.acquire(row, record_beliefs=True)
        asked = [int(column) for column in record.order[0] if column >= 0]
        beliefs = np.asarray(record.beliefs)[0, : len(asked) + 1]
        display = cls(
            beliefs,
            names=[estimator.feature_name(column) for column in asked],
            values=[_value(row, column, int(record.outcome[0, k])) for k, column in enumerate(asked)],
            classes=estimator.classes_,
            decision=record.decision[0],
            paid=float(record.paid[0]),
            n_features=int(record.n_features[0]),
            unit=record.unit,
        )
        return display.plot(ax, **settings)

    _title_pad = 10.0

    def _inches(self) -> tuple[float, float]:
        return 6.0, 4.8 if _UPRIGHT < len(self.names) <= _NAMED else 4.0

    def _draw(self, ax: Any) -> None:
        n_asked = len(self.names)
        open_frame(ax)
        steps = np.arange(n_asked + 1)
        ranks = {i: k for k, i in enumerate(classes_to_colour(self.beliefs, self.classes == self.decision, 7))}
        self.lines_ = []
        for i, label in enumerate(self.classes):
            rank = ranks.get(i)
            style: dict[str, Any] = {"color": FAINT, "linewidth": 1.0, "zorder": 1.5}
            if rank is not None:
                style = {"color": colour(rank), "marker": MARKERS[rank], "markersize": 5.0, "linewidth": 2.0}
                style["label"] = legend_name(wrap(label, 16))
            self.lines_.append(ax.plot(steps, self.beliefs[:, i], clip_on=False, **style)[0])
        if len(ranks) < len(self.classes):
            ax.plot([], [], color=FAINT, linewidth=1.0, label="others")
        self._mark_stop(ax, n_asked)
        ax.set(ylim=(0.0, 1.0), xlim=(-0.3, n_asked + 0.3), ylabel="P(class | what was seen)")
        self._label_steps(ax)
        legend_beside(ax)

    def _mark_stop(self, ax: Any, n_asked: int) -> None:
        """Draw a line where it stops, and a ring around the class decided for; "refer" and the like have none."""
        label = wrap(f"stop: {self.decision}", 16)
        stop = ax.axvline(n_asked, color=NEUTRAL, linestyle=":", linewidth=1.5, zorder=1)
        chosen = np.flatnonzero(self.classes == self.decision)
        if not chosen.size:
            stop.set_label(label)
            return
        style = {"linestyle": "none", "marker": "o", "markersize": 13, "fillstyle": "none", "color": "black"}
        ax.plot([n_asked], [self.beliefs[-1, chosen[0]]], clip_on=False, label=label, **style)

    def _label_steps(self, ax: Any) -> None:
        n_asked = len(self.names)
        if n_asked > _NAMED:
            ax.set_xlabel("features asked for")
            ax.xaxis.get_major_locator().set_params(integer=True)
            return
        if n_asked <= _UPRIGHT:
            texts = [f"{wrap(n, 12)}\n= {shorten(v, 12)}" for n, v in zip(self.names, self.values)]
            rotation: dict[str, Any] = {}
        else:
            texts = [f"{shorten(n, 26)} = {shorten(v, 10)}" for n, v in zip(self.names, self.values)]
            rotation = {"rotation": 90}
        ax.set_xticks(range(n_asked + 1), ["prior", *texts], fontsize=9 if n_asked <= _UPRIGHT else 8, **rotation)

    def _title(self) -> str:
        return case_title(self.decision, self.n_features, self.paid, self.unit)


def _as_row(estimator: BaseSequentialClassifier, x_row: Any) -> Any:
    """Return the instance as a matrix of one row; a data frame where the classifier was fitted on one."""
    row = x_row
    if hasattr(row, "to_frame") and not hasattr(row, "columns"):
        row = row.to_frame().T.infer_objects()
    elif not hasattr(row, "columns") and not sp.issparse(row):
        names = getattr(estimator, "feature_names_in_", None)
        row = np.atleast_2d(np.asarray(row, dtype=None if names is None else object))
        if names is not None and row.shape[1] == len(names):
            import pandas as pd

            row = pd.DataFrame(row, columns=names).infer_objects()
    if row.ndim != 2 or row.shape[0] != 1:
        raise ValueError(f"x_row must be one instance, got shape {row.shape}; pass X[i : i + 1].")
    return row


def _value(row: Any, column: int, outcome: int) -> str:
    """What a column showed, for people."""
    if outcome < 0:
        return "missing"
    value = row.iloc[0, column] if hasattr(row, "iloc") else row[0, column]
    return f"{value:.4g}" if isinstance(value, (int, float, np.number)) else str(value)
