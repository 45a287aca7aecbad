"""Why an instance was decided as it was: its belief after each answer, and what each question was to save."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from seqclass._base import BaseSequentialClassifier
from seqclass._utils.text import value_text
from seqclass._utils.validation import check_integer
from seqclass.agent.explanation import Explanation, ExplanationStep
from seqclass.plots._style import (
    FAINT,
    NEUTRAL,
    MultiAxesDisplay,
    belief_bars,
    case_title,
    colour,
    draw,
    in_unit,
    legend_below,
    prepare_rows,
    shorten,
)


@dataclass(frozen=True)
class _Row:
    """One line of the picture; NaN where there is nothing to draw."""

    label: str
    belief: tuple[float, ...] | None = None
    saving: float = math.nan
    price: float = math.nan
    added: float = math.nan
    asked: bool = True


class ExplanationDisplay(MultiAxesDisplay):
    """An explanation from top to bottom: the prior, a line for each answer, and the question that was not asked.

    Left: the belief after each answer, as a bar divided among the classes. Right: what going on was expected to save at
    that moment, all prices counted; how much of that is owed to this one question; and its price. Make one with
    `from_estimator`, or from what `SequentialClassifier.explain` returns.

    Parameters
    ----------
    explanation : Explanation
        The explanation.
    max_steps : int
        Most answers to show, namely the first ones.

    Attributes
    ----------
    ax_ : ndarray of matplotlib Axes of shape (2,)
        Left: belief; right: expected savings.
    figure_ : matplotlib Figure
        The figure.
    bars_ : list of matplotlib BarContainer
        Bars of each class that has a colour of its own, then those of the other classes together, if any.

    References
    ----------
    .. [1] Y. W. Liyanage, D.-S. Zois and C. Chelmis, "Dynamic instance-wise classification in correlated feature
       spaces", IEEE TAI 2021, Table IX and Fig. 4.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from seqclass import SequentialClassifier
    >>> X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    >>> display = ExplanationDisplay.from_estimator(SequentialClassifier().fit(X, y), X.iloc[0])
    >>> len(display.bars_), len(display.bars_[0]) == 1 + len(display.explanation.steps)
    (2, True)
    >>> import matplotlib.pyplot as plt
    >>> plt.close(display.figure_)
    """

    def __init__(self, explanation: Explanation, *, max_steps: int = 25) -> None:
        self.explanation = explanation
        self.max_steps = check_integer(max_steps, "max_steps", 1)

    @classmethod
    def from_estimator(cls, estimator: BaseSequentialClassifier, x_row: Any, **settings: Any) -> ExplanationDisplay:
        """Explain the decision for one instance, and draw it.

        Parameters
        ----------
        estimator : BaseSequentialClassifier
            A fitted classifier.
        x_row : array-like of shape (n_features,) or (1, n_features), pandas Series or one-row data frame
            The instance, in the form of the training data.
        **settings
            Passed to the display itself, and to `plot`.

        Returns
        -------
        ExplanationDisplay

        Raises
        ------
        ValueError
            If ``x_row`` is not one instance.
        """
        explanations = estimator.explain(x_row)
        if len(explanations) != 1:
            raise ValueError(f"x_row must be one instance, got {len(explanations)}; pass X[i : i + 1].")
        return draw(cls, explanations[0], **settings)

    _needed = "two axes, one for the belief and one for what going on was expected to save"
    _grid = {"nrows": 1, "ncols": 2, "sharey": True, "width_ratios": (3, 2)}

    def _inches(self) -> tuple[float, float]:
        return 8.6, 1.9 + 0.3 * len(self._rows())

    def _legends(self) -> None:
        legend_below(self.ax_[0], columns=2)
        legend_below(self.ax_[1], columns=1)

    def _draw(self, left: Any, right: Any) -> None:
        rows = self._rows()
        prepare_rows((left, right), len(rows))
        left.set_yticks(range(len(rows)), [row.label for row in rows], fontsize=9)
        self._draw_beliefs(left, rows)
        self._draw_savings(right, rows)

    def _rows(self) -> list[_Row]:
        explanation = self.explanation
        rows = [_Row("at first", explanation.prior)]
        for number, step in enumerate(explanation.steps[: self.max_steps], 1):
            figures = (step.expected_saving, step.price, step.added_saving)
            rows.append(_Row(f"{number}. {_answer(step)}", step.after, *figures))
        left_out = len(explanation.steps) - self.max_steps
        if left_out > 0:
            rows.append(_Row(f"and {left_out} more, up to", explanation.posterior))
        question = explanation.not_asked
        if question is not None:
            name, saving = shorten(question.name, 24), question.expected_saving
            rows.append(_Row(f"not asked: {name}", None, saving, question.price, asked=False))
        return rows

    def _draw_beliefs(self, ax: Any, rows: list[_Row]) -> None:
        place = [i for i, row in enumerate(rows) if row.belief is not None]
        belief = np.array([row.belief for row in rows if row.belief is not None])
        decided = np.array([label == self.explanation.decision for label in self.explanation.classes])
        self.bars_ = belief_bars(ax, place, belief, self.explanation.classes, decided)

    def _draw_savings(self, ax: Any, rows: list[_Row]) -> None:
        place = [i for i, row in enumerate(rows) if not math.isnan(row.saving)]
        saving = [rows[i].saving for i in place]
        paint = ["#4D4D4D" if rows[i].asked else FAINT for i in place]
        if place:
            ax.barh(place, saving, color=paint, height=0.5, label="going on saves, in all")
        with_added = [i for i in place if not math.isnan(rows[i].added)]
        if with_added:
            added = [rows[i].added for i in with_added]
            ax.plot(added, with_added, "D", color=colour(1), markersize=5, label="less without this question")
        priced = [i for i, row in enumerate(rows) if not math.isnan(row.price)]
        if priced:
            price = [rows[i].price for i in priced]
            low, high = np.array(priced) - 0.42, np.array(priced) + 0.42
            ax.vlines(price, low, high, color="black", linewidth=2, label="its price")
        ax.axvline(0.0, color="black", linewidth=0.8)
        largest = max([*(abs(v) for v in saving), *(rows[i].price for i in priced), 1e-6])
        # room for the numbers, which stand where bars are too short to tell
        ax.set_xlim(min([-0.12 * largest, *(1.05 * v for v in saving)]), 1.45 * largest)
        for i, value in zip(place, saving):
            right = max(value, rows[i].price, 0.0) + 0.04 * largest
            ax.text(right, i, f"{value:+.4f}", va="center", fontsize=8, color="black" if rows[i].asked else NEUTRAL)
        ax.xaxis.get_major_locator().set_params(nbins=4)
        ax.set_xlabel(in_unit("expected cost", self.explanation.unit))

    def _title(self) -> str:
        explanation = self.explanation
        return case_title(explanation.decision, explanation.n_features, explanation.paid, explanation.unit)


def _answer(step: ExplanationStep) -> str:
    """What was asked and what it showed."""
    if step.value is None:
        return f"{shorten(step.name, 22)} missing"
    value = f"{step.value:.4g}" if isinstance(step.value, float) else value_text(step.value)
    return f"{shorten(step.name, 22)} = {shorten(value, 12)}"
