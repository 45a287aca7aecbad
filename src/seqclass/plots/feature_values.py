"""What each feature is worth, and how often it is asked for."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from seqclass._utils.validation import check_integer
from seqclass.analysis import feature_values
from seqclass.analysis.features import FeatureValues
from seqclass.plots._style import (
    FAINT,
    MultiAxesDisplay,
    OfPolicy,
    colour,
    legend_below,
    prepare_rows,
    shorten,
)
from seqclass.pomdp import Policy


class FeatureValuesDisplay(OfPolicy, MultiAxesDisplay):
    """Features in the order asked: how many instances are asked, what each feature gains them, and its price.

    The gain is how much this feature alone lowers the expected cost of deciding, among instances that are asked. What
    asking saves in total includes later features as well, and subtracts prices. Make one with `from_estimator`,
    `from_policy` or from the record of `seqclass.analysis.feature_values`.

    Parameters
    ----------
    values : FeatureValues
        The record.
    names : sequence of str, optional
        Name of each entry of ``values``, in its order; by default the names that these have. For `from_policy`, of each
        question of the policy's problem.
    max_stages : int
        Most features to show, namely the first ones.

    Attributes
    ----------
    n_stages : int
        Number of features shown; only those that at least one instance in a thousand is asked for.
    ax_ : ndarray of matplotlib Axes of shape (2,)
        Left: probability of being asked; right: worth and price.
    figure_ : matplotlib Figure
        The figure.

    Examples
    --------
    >>> import numpy as np
    >>> from seqclass.pomdp import GridValueIteration, TableProblem
    >>> problem = TableProblem([0.5, 0.5], np.array([[[0.9, 0.2], [0.1, 0.8]]] * 2), prices=0.04)
    >>> display = FeatureValuesDisplay.from_policy(GridValueIteration().solve(problem), names=["blood", "scan"])
    >>> display.n_stages
    2
    >>> import matplotlib.pyplot as plt
    >>> plt.close(display.figure_)
    """

    def __init__(self, values: FeatureValues, *, names: Sequence[str] | None = None, max_stages: int = 25) -> None:
        self.values = values
        default = values.names or [f"feature {j}" for j in values.feature]
        labels = [str(name) for name in (default if names is None else names)]
        if len(labels) < len(values.feature):
            raise ValueError(
                f"names must have one entry for each of the values, {len(values.feature)}, got {len(labels)}."
            )
        self.names = labels[: len(values.feature)]
        shown = int((values.asked >= 1e-3).sum())
        self.n_stages = min(shown, check_integer(max_stages, "max_stages", 1))
        if not self.n_stages:
            raise ValueError("the policy asks for no feature: there is nothing to draw.")

    _needed = "two axes, one for how often a feature is asked and one for what it is worth"
    _grid = {"nrows": 1, "ncols": 2, "sharey": True}

    @classmethod
    def _of_policy(cls, policy: Policy, n_paths: int, settings: Any) -> FeatureValuesDisplay:
        values = feature_values(policy.problem, policy, n_paths=n_paths)
        if (names := settings.pop("names", None)) is not None:
            called = dict(zip(policy.problem.features.tolist(), names))
            names = [called[feature] for feature in values.feature.tolist() if feature in called]
        return cls(values, names=names, **settings)

    def _inches(self) -> tuple[float, float]:
        return 8.2, 1.6 + 0.27 * self.n_stages

    def _legends(self) -> None:
        legend_below(self.ax_[1], columns=1)

    def _draw(self, left: Any, right: Any) -> None:
        n = self.n_stages
        place = np.arange(n)
        prepare_rows((left, right), n)
        left.barh(place, self.values.asked[:n], color=FAINT, height=0.7)
        left.set_yticks(place, [shorten(name, 30) for name in self.names[:n]], fontsize=9)
        left.set(xlim=(0.0, 1.02), xlabel="share of instances asked")
        self._draw_worth(right, place)

    def _draw_worth(self, ax: Any, place: Any) -> None:
        n = self.n_stages
        gain, saving, price = (part[:n] for part in (self.values.gain, self.values.saving, self.values.price))
        ax.barh(place, gain, color=colour(0), height=0.7, alpha=0.8, label="it brings, alone")
        ax.plot(saving, place, "D", color=colour(1), markersize=5, label="asking saves, in all")
        ax.vlines(price, place - 0.42, place + 0.42, color="black", linewidth=2, label="its price")
        ax.axvline(0.0, color="black", linewidth=0.8)
        ax.set_xlabel("expected cost, among those asked")
