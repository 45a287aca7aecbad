"""What probabilities are worth, by the threshold from which cases are treated."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from seqclass._base import BaseSequentialClassifier
from seqclass.evaluation.decision_curves import DecisionCurve, acquired_curve, class_position, decision_curve, miss_cost
from seqclass.plots._style import FAINT, NEUTRAL, Display, colour, legend_beside, legend_name, open_frame, shorten


class DecisionCurveDisplay(Display):
    """Net benefit after prices against threshold probability, compared with treating all and treating none ([1]_).

    Areas are 95% intervals, for each curve separately. Make one with `from_estimator` or `from_predictions`.

    Parameters
    ----------
    curves : sequence of DecisionCurve
        Curves of the same rows and thresholds, at least one.
    prior : float, optional
        Probability of the positive class before anything is asked. With it, deciding at once with nothing bought is
        drawn too.

    Attributes
    ----------
    curves : list of DecisionCurve
        The curves without the yardsticks.
    yardsticks : list of DecisionCurve
        Treating all, treating none and, if ``prior`` was given, deciding at once.
    ax_, figure_ : matplotlib Axes and Figure
        Where it was drawn.
    lines_ : list of matplotlib Line2D
        One line for each of ``curves``, then one for each of ``yardsticks``.

    Raises
    ------
    ValueError
        If there is no curve, or they are not of the same rows and thresholds.

    References
    ----------
    .. [1] A. J. Vickers, E. B. Elkin, "Decision curve analysis: a novel method for evaluating prediction models",
       Medical Decision Making 26, 2006.

    Examples
    --------
    >>> display = DecisionCurveDisplay.from_predictions([0, 0, 1, 1], {"model": [0.1, 0.6, 0.7, 0.9]})
    >>> [line.get_label() for line in display.lines_]
    ['model', 'treat all', 'treat none']
    >>> import matplotlib.pyplot as plt
    >>> plt.close(display.figure_)
    """

    def __init__(self, curves: Sequence[DecisionCurve], *, prior: float | None = None) -> None:
        if not curves:
            raise ValueError("curves must hold at least one curve.")
        first = curves[0]
        for one in curves[1:]:
            if not (np.array_equal(one.truth, first.truth) and np.array_equal(one.thresholds, first.thresholds)):
                raise ValueError(f"curves must be of the same rows and thresholds; {one.name!r} is not.")
        self.curves = list(curves)
        self.yardsticks = [first.treat_all(), first.treat_none()]
        self.yardsticks += [] if prior is None else [first.at_once(prior)]

    @classmethod
    def from_predictions(
        cls,
        y: npt.ArrayLike,
        probabilities: Mapping[str, npt.ArrayLike],
        *,
        prices: Mapping[str, npt.ArrayLike] | None = None,
        prior: float | None = None,
        ax: Any = None,
        title: str | None = None,
        after_price: bool = True,
        **settings: Any,
    ) -> DecisionCurveDisplay:
        """Draw curves for given probabilities.

        Parameters
        ----------
        y : array-like of shape (n,)
            True labels.
        probabilities : mapping of str to array-like of shape (n,)
            Probability of the positive class, by the name of what it comes from.
        prices : mapping of str to float or array-like of shape (n,), optional
            What was paid to know the probabilities, in units of misclassification cost; nothing for names that are left
            out.
        prior : float, optional
            See `DecisionCurveDisplay`.
        ax, title, after_price
            Passed to `plot`.
        **settings
            Passed to `seqclass.metrics.decision_curve`.

        Returns
        -------
        DecisionCurveDisplay
        """
        paid = dict(prices or {})
        if unknown := set(paid) - set(probabilities):
            raise ValueError(f"prices: there are no probabilities of {sorted(unknown)[0]!r}.")
        curves = [
            decision_curve(y, chance, price=paid.get(name, 0.0), name=name, **settings)
            for name, chance in probabilities.items()
        ]
        return cls(curves, prior=prior).plot(ax, title=title, after_price=after_price)

    @classmethod
    def from_estimator(
        cls,
        estimator: BaseSequentialClassifier,
        X: Any,
        y: npt.ArrayLike,
        *,
        others: Mapping[str, Any] | None = None,
        prices: Mapping[str, npt.ArrayLike] | None = None,
        positive: Any = None,
        thresholds: npt.ArrayLike | None = None,
        prevalence: float | None = None,
        sample_weight: npt.ArrayLike | None = None,
        ax: Any = None,
        **settings: Any,
    ) -> DecisionCurveDisplay:
        """Run a fitted sequential classifier on labelled data, and draw its curve beside those of other classifiers.

        Parameters
        ----------
        estimator : BaseSequentialClassifier
            A fitted classifier; its prices are those of what it acquires, and deciding at once is by its prior.
        X : array-like of shape (n, n_features)
            Data that it was not fitted on.
        y : array-like of shape (n,)
            True labels.
        others : mapping of str to classifier, optional
            Fitted classifiers with ``predict_proba``.
        prices : mapping of str to float or array-like of shape (n,), optional
            What each of the others pays per row.
        positive : label, optional
            The class to be found; by default the last of ``estimator.classes_``.
        thresholds : array-like of shape (m,), optional
            Threshold probabilities; by default 0.01 to 0.99.
        prevalence, sample_weight
            As in `seqclass.metrics.decision_curve`; deciding at once is by ``prevalence`` if it is given.
        ax : matplotlib Axes, optional
            Where to draw; by default a new figure.
        **settings
            Passed to `plot`.

        Returns
        -------
        DecisionCurveDisplay
        """
        shared: dict[str, Any] = {"thresholds": thresholds, "prevalence": prevalence, "sample_weight": sample_weight}
        curves = [acquired_curve(estimator, X, y, positive=positive, **shared)]
        column = class_position(estimator.classes_, positive)
        label, paid = estimator.classes_[column], dict(prices or {})
        shared |= {"positive": label, "classes": estimator.classes_}
        benefit = miss_cost(estimator.decision_costs_, column)
        for name, other in (others or {}).items():
            chance = np.asarray(other.predict_proba(X))[:, class_position(np.asarray(other.classes_), label)]
            curves.append(decision_curve(y, chance, price=paid.get(name, 0.0), name=name, benefit=benefit, **shared))
        prior = float(estimator.problem_.prior[column]) if prevalence is None else prevalence
        return cls(curves, prior=prior).plot(ax, **settings)

    def plot(self, ax: Any = None, *, after_price: bool = True, title: str | None = None) -> DecisionCurveDisplay:
        """Draw the picture.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where to draw; by default a new figure.
        after_price : bool
            Whether to subtract prices; otherwise net benefit alone is drawn, as in the paper, without intervals.
        title : str, optional
            Title; by default none.

        Returns
        -------
        DecisionCurveDisplay
            The display itself.
        """
        return self._draw_on(ax, title, after_price=after_price)

    _size = (7.0, 4.2)

    def _draw(self, ax: Any, after_price: bool) -> None:
        open_frame(ax)
        self.lines_ = []
        for i, one in enumerate(self.curves):
            if after_price:
                ax.fill_between(one.thresholds, one.lower, one.upper, color=colour(i), alpha=0.3, linewidth=0)
            y = one.after_price if after_price else one.net_benefit
            style = {"color": colour(i), "label": legend_name(shorten(one.name))}
            self.lines_ += ax.plot(one.thresholds, y, linewidth=1.8, zorder=3, **style)
        for one, line in zip(self.yardsticks, ("--", "-", ":")):
            shade = FAINT if line == "-" else NEUTRAL
            self.lines_ += ax.plot(one.thresholds, one.net_benefit, line, color=shade, linewidth=1.4, label=one.name)
        low, high = benefit_limits(self.curves, after_price)
        ax.set_ylim(low, high)
        ax.set_xlim(0, 1)
        ax.set_xlabel(f"threshold probability of {shorten(self.curves[0].positive, 24)}")
        ax.set_ylabel("net benefit" + (" less prices" if after_price else ""))
        legend_beside(ax, self.lines_)


def benefit_limits(curves: Sequence[DecisionCurve], after_price: bool = True) -> tuple[float, float]:
    """Ends of the axis of net benefit: treating all falls without end, and is cut a little below treating none."""
    top, unit = curves[0].prevalence, curves[0].prevalence or 1.0
    for one in curves if after_price else ():  # near 1 a single needless treatment weighs a hundredfold
        top = max([top, *one.upper[one.thresholds <= 0.9].tolist()])  # above it intervals may leave the picture
    return -0.25 * unit, top + 0.05 * unit
