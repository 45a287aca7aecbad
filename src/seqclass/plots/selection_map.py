"""Which features a selector holds when in a stream."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from seqclass._utils.validation import check_integer, check_kind
from seqclass.plots._style import Display, colour, draw, shorten
from seqclass.plots.stability import mark_events
from seqclass.selection.prequential import Prequential


class SelectionMapDisplay(Display):
    """Heat map of the features that a selector holds after each batch.

    Rows are the features that are held longest, in the order of their mean time, so that drift shows as steps. In a
    long stream a column is a group of batches, and its colour is the share of them in which the feature is held. Make
    one from the record of `seqclass.selection.prequential`, or with `from_run`.

    Parameters
    ----------
    run : Prequential
        The record.
    names : sequence of str of length n_features, optional
        Name of each feature; by default ``"x0"``, ``"x1"`` and so on.
    max_features : int
        Most features to show, namely those held longest; the axis says how many there are in all.

    Attributes
    ----------
    features : ndarray of int of shape (n_shown,)
        The features shown, from top to bottom.
    n_selected : int
        Number of features that are ever held.
    batches : int
        Number of batches in a column; the last column may have fewer.
    share : ndarray of shape (n_shown, n_columns)
        Share of the batches of each column in which each feature is held.
    ax_, figure_ : matplotlib Axes and Figure
        Where it was drawn.
    image_ : matplotlib AxesImage
        The heat map.

    Raises
    ------
    TypeError
        If ``run`` is not a `Prequential`.
    ValueError
        If there are no batches, or there are not as many names as features.

    Examples
    --------
    >>> import numpy as np
    >>> times = np.zeros(3)
    >>> run = Prequential(times, times, (np.array([4, 7]), np.array([4, 7]), np.array([2, 7])), times, times, 9)
    >>> display = SelectionMapDisplay.from_run(run)
    >>> display.features, display.share.tolist()
    (array([4, 7, 2]), [[1.0, 1.0, 0.0], [1.0, 1.0, 1.0], [0.0, 0.0, 1.0]])
    >>> import matplotlib.pyplot as plt
    >>> plt.close(display.figure_)
    """

    def __init__(self, run: Prequential, *, names: Sequence[str] | None = None, max_features: int = 30) -> None:
        check_kind(run, Prequential, "run", "a result of prequential")
        if not run.selected:
            raise ValueError("run has no batches: there is nothing to draw.")
        if names is not None and len(names) != run.n_features:
            raise ValueError(f"names must have one entry for each of the {run.n_features} features, got {len(names)}.")
        check_integer(max_features, "max_features", 1)
        self.n_batches = len(run.selected)
        self.batches = -(-self.n_batches // 400)  # longer streams are drawn in groups of batches
        sizes = [len(chosen) for chosen in run.selected]
        feature = np.concatenate(run.selected).astype(np.intp)
        batch = np.repeat(np.arange(self.n_batches), sizes)
        times, total = np.bincount(feature, minlength=1), np.bincount(feature, weights=batch, minlength=1)
        held = np.argsort(-times, kind="stable")[: min(max_features, np.count_nonzero(times))]
        self.n_selected = int(np.count_nonzero(times))
        middle = total[held] / np.maximum(times[held], 1)
        self.features = held[np.lexsort([held, middle.round(9)])]
        row = np.full(len(times), -1)
        row[self.features] = np.arange(len(self.features))
        shown = row[feature] >= 0
        self.share = np.zeros((len(self.features), -(-self.n_batches // self.batches)))
        np.add.at(self.share, (row[feature[shown]], batch[shown] // self.batches), 1.0)
        self.share /= np.bincount(np.arange(self.n_batches) // self.batches)
        self.names = [f"x{j}" if names is None else str(names[j]) for j in self.features.tolist()]

    @classmethod
    def from_run(cls, run: Prequential, **settings: Any) -> SelectionMapDisplay:
        """Draw the result of `seqclass.selection.prequential`.

        Parameters
        ----------
        run : Prequential
            The result.
        **settings
            Passed to the display itself, and to `plot`.

        Returns
        -------
        SelectionMapDisplay
        """
        return draw(cls, run, **settings)

    def plot(
        self, ax: Any = None, *, title: str | None = None, events: Mapping[int, str] | None = None
    ) -> SelectionMapDisplay:
        """Draw the picture.

        Parameters
        ----------
        ax, title : matplotlib Axes and str, optional
            Where to draw, by default a new figure; title, by default none.
        events : mapping of int to str, optional
            Batches to mark by a dotted line, and what happened there, such as ``{60: "drift"}``.

        Returns
        -------
        SelectionMapDisplay
            The display itself.
        """
        self._title_pad = 14.0 if events else None
        return self._draw_on(ax, title, events=events)

    def _inches(self) -> tuple[float, float]:
        return 7.0, 1.3 + 0.17 * max(len(self.features), 6)

    def _draw(self, ax: Any, events: Mapping[int, str] | None) -> None:
        rows = len(self.features)
        last = self.share.shape[1] * self.batches
        image = self.share if rows else np.zeros((1, self.share.shape[1]))
        edges = (-0.5, last - 0.5, max(rows, 1) - 0.5, -0.5)
        self.image_ = ax.imshow(
            image, cmap="Blues", vmin=0.0, vmax=1.25, aspect="auto", interpolation="nearest", extent=edges
        )
        ax.set_xlim(-0.5, self.n_batches - 0.5)
        ax.set_yticks(range(rows), [shorten(name, 24) for name in self.names], fontsize=7)
        ax.set_yticks(np.arange(0.5, rows - 1), minor=True)
        ax.grid(axis="y", which="minor", color="white", linewidth=1.5)
        ax.tick_params(axis="y", which="both", length=0)
        ax.spines[["top", "right", "left"]].set_visible(False)
        ax.xaxis.get_major_locator().set_params(integer=True)
        ax.set_xlabel("batch" if self.batches == 1 else f"batch (a column: share of {self.batches} batches)")
        ax.set_ylabel(self._row_label(), fontsize=9)
        mark_events([ax], events, colour(1))

    def _row_label(self) -> str:
        if not self.n_selected:
            return "no feature was selected"
        if self.n_selected == len(self.features):
            return "features selected"
        return f"{len(self.features)} of {self.n_selected:,} features selected"
