"""What the pictures share: axes, colours that colour-blind readers can tell apart, labels of bounded length."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Collection, Mapping, Sequence, Sized
from typing import TYPE_CHECKING, Any, Literal, TypeVar

import numpy as np
import numpy.typing as npt

from seqclass._base import BaseSequentialClassifier
from seqclass._utils.arrays import BoolArray, FloatArray
from seqclass._utils.text import digits_text, money
from seqclass._utils.text import shorten as shorten
from seqclass._utils.text import wrap as wrap
from seqclass.pomdp import Policy
from seqclass.pomdp.policy import as_policy

if TYPE_CHECKING:
    from typing_extensions import Self

#: Colours of M. Okabe and K. Ito, without the yellow that white paper swallows.
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
MARKERS = ("o", "s", "^", "D", "v", "P", "X")
#: Of what is not a class: going on, the prior, further classes.
NEUTRAL = "#8C8C8C"
FAINT = "#BDBDBD"
PALE = "#E8E8E8"


def pyplot() -> Any:
    """Return ``matplotlib.pyplot``."""
    try:
        import matplotlib.pyplot as plt
    except ImportError as error:
        raise ImportError('pictures need matplotlib: python -m pip install "seqclass[plot]"') from error
    return plt


class Display:
    """A picture on one axes: `_draw` draws on it, and `_inches` is the size of a new one, by default `_size`."""

    ax_: Any
    figure_: Any
    _draw: Callable[..., None]
    _size: tuple[float, float] = (6.0, 4.0)
    _title_pad: float | None = None

    def plot(self, ax: Any = None, *, title: str | None = None) -> Self:
        """Draw the picture.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where to draw; by default a new figure.
        title : str, optional
            Title; by default none, or what the picture shows.

        Returns
        -------
        Display
            The display itself.
        """
        return self._draw_on(ax, title)

    def _draw_on(self, ax: Any, title: str | None, **options: Any) -> Self:
        if ax is None:
            _, ax = pyplot().subplots(figsize=self._inches(), layout="constrained")
        self.ax_, self.figure_ = ax, ax.figure
        there = {*ax.texts, *(text for legend in self.figure_.legends for text in legend.get_texts())}
        self._draw(ax, **options)
        for drawn in (ax, *self.figure_.legends):
            plain_dollars(drawn, there)
        if (text := self._title() if title is None else title) is not None:
            ax.set_title(text, fontsize=11, pad=self._title_pad, parse_math=title is not None)
        return self

    def _inches(self) -> tuple[float, float]:
        return self._size

    def _title(self) -> str | None:
        return None


class MultiAxesDisplay(Display):
    """A picture on several axes: `_grid` are the settings of new ones, and `_legends` is drawn on those given."""

    #: What the axes must be, as an error says it.
    _needed: str
    _grid: dict[str, Any]
    _legend_columns = 4

    def _draw_on(self, ax: Any, title: str | None, **options: Any) -> Self:
        own = ax is None
        if own:
            _, ax = pyplot().subplots(**self._grid, figsize=self._inches(), layout="constrained")
        self.ax_ = np.atleast_1d(np.asarray(ax, dtype=object)).ravel()
        if self.ax_.size != self._grid["nrows"] * self._grid["ncols"]:
            raise ValueError(f"ax must be {self._needed}.")
        self.figure_ = self.ax_[0].figure
        there = {text for axes in self.ax_ for text in axes.texts}
        self._draw(*self.ax_, **options)
        handles = [axes.get_legend_handles_labels() for axes in self.ax_]
        named = {label: handle for pair in reversed(handles) for handle, label in zip(*pair)}
        if own and named:
            labels = list(dict.fromkeys(label for _, labels in handles for label in labels))
            place = {"loc": "outside lower center", "ncols": self._legend_columns, "fontsize": 9}
            plain_dollars(self.figure_.legend([named[label] for label in labels], labels, frameon=False, **place))
        elif named:
            self._legends()
        for axes in self.ax_:
            plain_dollars(axes, there)
        if (text := self._title() if title is None else title) is not None:
            self.figure_.suptitle(text, fontsize=11, parse_math=title is not None)
        return self

    def _legends(self) -> None:
        legend_below(self.ax_[-1])


_Drawn = TypeVar("_Drawn", bound=Display)


def draw(kind: type[_Drawn], *of: Any, ax: Any = None, **settings: Any) -> _Drawn:
    """Make a display of something and draw it, each with its own settings."""
    own = {name: settings.pop(name) for name in inspect.signature(kind.plot).parameters if name in settings}
    return kind(*of, **settings).plot(ax, **own)


class OfPolicy:
    """A picture of a policy in its problem: `_of_policy` makes it, `_names_from` has the names of its parts."""

    _of_policy: Callable[..., Any]

    @classmethod
    def from_policy(
        cls, policy: Policy, *, ax: Any = None, title: str | None = None, n_paths: int = 10_000, **settings: Any
    ) -> Self:
        """Draw a policy of a problem.

        Parameters
        ----------
        policy : Policy
            The policy.
        ax, title : matplotlib Axes and str, optional
            Passed to `plot`.
        n_paths : int
            Number of instances to sample if there are too many histories to enumerate.
        **settings
            Passed to the display itself.

        Returns
        -------
        Display
        """
        display: Self = cls._of_policy(as_policy(policy), n_paths, settings).plot(ax, title=title)
        return display

    @classmethod
    def from_estimator(cls, estimator: BaseSequentialClassifier, **settings: Any) -> Self:
        """Draw the policy of a fitted classifier.

        Parameters
        ----------
        estimator : BaseSequentialClassifier
            A fitted classifier.
        **settings
            Passed to `from_policy`.

        Returns
        -------
        Display
        """
        return cls.from_policy(estimator.policy_, **(cls._names_from(estimator) | settings))

    @classmethod
    def _names_from(cls, estimator: BaseSequentialClassifier) -> dict[str, Any]:
        return {}


class OfRecord:
    """A picture of what was acquired for labelled instances; `_names_from` is what a classifier tells beside that."""

    from_record: Callable[..., Self]
    _with_beliefs = False

    @classmethod
    def from_estimator(cls, estimator: BaseSequentialClassifier, X: Any, y: npt.ArrayLike, **settings: Any) -> Self:
        """Run a fitted classifier on labelled data and draw the record of it.

        Parameters
        ----------
        estimator : BaseSequentialClassifier
            A fitted classifier.
        X : array-like of shape (n, n_features)
            Data; if you want to judge the classifier, data that it was not fitted to.
        y : array-like of shape (n,)
            True labels.
        **settings
            Passed to `from_record`.

        Returns
        -------
        Display
        """
        record = estimator.acquire(X, record_beliefs=cls._with_beliefs)
        return cls.from_record(record, y, **(cls._names_from(estimator) | settings))

    @classmethod
    def _names_from(cls, estimator: BaseSequentialClassifier) -> dict[str, Any]:
        return {"classes": estimator.classes_}


def plain_dollars(drawn: Any, there: Collection[Any] = ()) -> None:
    """Show a dollar in what was written as one: names are no formulas. What was ``there`` before stays as it is."""
    for text in drawn.findobj(lambda one: hasattr(one, "set_parse_math")):
        if "$" in text.get_text() and text not in there:
            text.set_parse_math(False)


def check_measures(given: Sized, what: str, measures: str | Sequence[str], labels: Mapping[str, str]) -> list[str]:
    """Names of the measures of something, one or several, all of which can be drawn."""
    names = [measures] if isinstance(measures, str) else list(measures)
    if not len(given) or not names:
        raise ValueError(f"{what} and measures must name at least one each.")
    unknown = [name for name in names if name not in labels]
    if unknown:
        raise ValueError(f"measures holds {unknown[0]!r}; they may be {', '.join(map(repr, labels))}.")
    return names


def legend_name(name: str) -> str:
    """Return a name as a legend shows it: what is empty or begins with an underscore, matplotlib leaves out."""
    return f" {name}" if name[:1] in ("", "_") else name


def colour(i: int) -> str:
    """Return the colour of the i-th class, decision or series; from the eighth on they come again."""
    return COLOURS[i % len(COLOURS)]


def pale(i: int, share: float = 0.55) -> tuple[float, float, float]:
    """Return the i-th colour mixed with white, for areas."""
    digits = colour(i).lstrip("#")
    mixed = [share * int(digits[k : k + 2], 16) / 255 + 1 - share for k in (0, 2, 4)]
    return mixed[0], mixed[1], mixed[2]


def classes_to_colour(beliefs: FloatArray, decided: BoolArray, most: int) -> list[int]:
    """Classes that get a colour of their own: those that were ever the most probable, and the one decided for."""
    peak = beliefs.max(axis=0) + decided
    return [int(i) for i in np.sort(np.argsort(-peak, kind="stable")[:most])]


def belief_bars(
    ax: Any, rows: Sequence[int], belief: FloatArray, labels: Sequence[Any], decided: BoolArray
) -> list[Any]:
    """Draw beliefs as bars divided among the classes, of which those that matter have a colour; return the bars."""
    shown = list(range(belief.shape[1]))
    n_coloured = 6  # the other classes together are grey
    if len(shown) > n_coloured + 1:
        shown = classes_to_colour(belief, decided, n_coloured)
    rest = np.setdiff1d(np.arange(belief.shape[1]), shown)
    parts = [(belief[:, i], colour(rank), labels[i]) for rank, i in enumerate(shown)]
    if rest.size:
        parts.append((belief[:, rest].sum(axis=1), FAINT, "other classes"))
    start, bars = np.zeros(len(rows)), []
    for width, paint, label in parts:
        bars.append(ax.barh(rows, width, left=start, color=paint, height=0.72, label=legend_name(shorten(label, 24))))
        start = start + width
    ax.set(xlim=(0.0, 1.0), xlabel="P(class | what was seen)")
    return bars


def prepare_rows(axes: Sequence[Any], n: int) -> None:
    """Make rows of axes side by side, from top to bottom."""
    for ax in axes:
        open_frame(ax, grid="x")
        ax.tick_params(axis="y", length=0)
        ax.set_ylim(n - 0.4, -0.6)


def draw_outline(ax: Any, rows: Sequence[tuple[int, int, str]], dashed: Collection[int] = ()) -> None:
    """Draw a tree whose nodes are rows, of a parent, a depth and a label, below and to the right of their parents."""
    for row, (parent, x, label) in enumerate(rows):
        if parent >= 0:
            style = ":" if row in dashed else "-"
            ax.plot([x - 1, x - 1, x], [parent, row, row], color=NEUTRAL, linewidth=1, linestyle=style, zorder=1)
        ax.text(x + 0.45, row, label, va="center", fontsize=9, parse_math=False, zorder=3)
    ax.set(xlim=(-0.5, _outline_steps(rows) - 0.5), ylim=(len(rows) - 0.4, -0.6))
    ax.set_axis_off()


def _outline_steps(rows: Sequence[tuple[int, int, str]]) -> float:
    return max(12.5, *(x + 0.8 + 0.32 * len(label) for _, x, label in rows))  # of a letter


def outline_inches(rows: Sequence[tuple[int, int, str]]) -> float:
    """Width that a tree of `draw_outline` needs."""
    return 0.24 * _outline_steps(rows)


def in_unit(label: str, unit: str) -> str:
    """Label of an axis of costs, with the unit that they are counted in, if any."""
    return f"{label} ({shorten(unit, 24)})" if unit else label


def case_title(decision: object, n_features: int, cost: float, unit: str) -> str:
    """Title of one case."""
    count = "1 feature" if n_features == 1 else f"{n_features} features"
    paid = money(cost, shorten(unit, 24)) if unit else digits_text(cost)
    return f"decided {shorten(decision, 24)} after {count}, {paid} paid"


def legend_beside(ax: Any, handles: list[Any] | None = None, title: str | None = None) -> Any:
    """Put the legend to the right of the axes, where it covers nothing."""
    more = {} if handles is None else {"handles": handles}
    return ax.legend(
        loc="upper left", bbox_to_anchor=(1.03, 1.0), borderaxespad=0.0, fontsize=9, frameon=False, title=title, **more
    )


def legend_below(
    ax: Any, handles: list[Any] | None = None, offset: float = -0.17, columns: int = 2, points: float | None = None
) -> Any:
    """Put the legend under the axes, where it covers nothing: by a share of their height, or so many points."""
    more = {} if handles is None else {"handles": handles}
    legend = ax.legend(loc="upper center", ncols=columns, fontsize=9, frameon=False, **more)
    if points is None:
        legend.set_bbox_to_anchor((0.5, offset), ax.transAxes)
    else:
        from matplotlib.transforms import ScaledTranslation

        below = ScaledTranslation(0.0, -points / 72, ax.figure.dpi_scale_trans)  # 72 points an inch
        legend.set_bbox_to_anchor((0.5, 0.0), ax.transAxes + below)
    return legend


def open_frame(ax: Any, grid: Literal["both", "x", "y", ""] = "both") -> None:
    """Drop the upper and right frame lines, and draw a light grid, of one axis or both, behind the data."""
    ax.spines[["top", "right"]].set_visible(False)
    if grid:
        ax.grid(axis=grid, color=PALE, linewidth=0.8)
    ax.set_axisbelow(True)
