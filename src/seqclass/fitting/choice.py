"""The candidates that were compared on held-out rows, and the one that was chosen."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from textwrap import fill
from typing import Any

import numpy as np
from scipy.special import ndtri

from seqclass._utils.arrays import FloatArray, effective_size
from seqclass._utils.model_files import register
from seqclass._utils.stored import check_array, require
from seqclass._utils.tables import Readable, rows_of
from seqclass._utils.text import range_text
from seqclass.fitting.held_out import HeldOut, Interval
from seqclass.stats.paired import paired_t_test


@register
@dataclass(frozen=True, repr=False)
class Candidate(Readable):
    """A way to learn a classifier, and what it cost on held-out rows.

    Attributes
    ----------
    name : str
        Name of the candidate.
    cost : float
        Mean of prices paid plus decision cost, in units of misclassification cost.
    cost_interval : tuple of float
        Its 95% interval.
    above : float
        How far the cost is above that of the best candidate, on the same rows.
    above_std_error : float
        Standard error of that difference, corrected for training rows that the folds share.
    price : float
        Mean price paid.
    error : float
        Share of rows decided for a wrong class.
    n_features : float
        Mean number of features acquired.
    seconds : float
        Time taken by all of its fits.

    Examples
    --------
    >>> Candidate("naive Bayes", 0.08, (0.06, 0.10), 0.0, 0.0, 0.03, 0.05, 3.0, 1.2).cost
    0.08
    """

    _costs = ("above", "above_std_error")

    name: str
    cost: float
    cost_interval: Interval
    above: float
    above_std_error: float
    price: float
    error: float
    n_features: float
    seconds: float

    def _check_stored(self) -> None:
        require(type(self.name) is str, "the name of a candidate is no text")
        numbers = {name: value for name, value in vars(self).items() if name not in ("name", "cost_interval")}
        check_array(np.array([*numbers.values(), *self.cost_interval]), "a candidate", "f", len(numbers) + 2)


@register
@dataclass(frozen=True, repr=False)
class Choice(Readable):
    """The candidates that were compared on the same folds of the training rows, and which one was chosen.

    The mixture of densities stands. If the best candidate costs less by more than a standard error, that one is
    chosen instead.

    Attributes
    ----------
    chosen : str
        Name of the candidate that was fitted to all rows.
    candidates : tuple of Candidate
        All that were tried.
    skipped : tuple of str
        What was not tried, or not on all folds, although it belongs to the effort, and why.

    Examples
    --------
    >>> nothing = Candidate("deciding at once", 0.37, (0.35, 0.39), 0.29, 0.01, 0.0, 0.37, 0.0, 0.1)
    >>> bayes = Candidate("naive Bayes", 0.08, (0.06, 0.10), 0.0, 0.0, 0.03, 0.05, 3.0, 1.2)
    >>> print(Choice("naive Bayes", (nothing, bayes)))
    tried on rows held out    cost      95% interval  above best      se   error  features
    deciding at once        0.3700  0.3500 to 0.3900      0.2900  0.0100  0.3700      0.00
    naive Bayes             0.0800  0.0600 to 0.1000      0.0000  0.0000  0.0500      3.00  *
    """

    _in_summary = ("chosen", "candidates", "skipped")
    _costs = Candidate._costs

    chosen: str
    candidates: tuple[Candidate, ...]
    skipped: tuple[str, ...] = ()

    def _check_stored(self) -> None:
        tried = isinstance(self.candidates, tuple) and all(isinstance(one, Candidate) for one in self.candidates)
        texts = isinstance(self.skipped, tuple) and all(type(text) is str for text in (self.chosen, *self.skipped))
        require(tried and texts, "choice_ holds what was not tried")

    def _table(self) -> Any:
        import pandas as pd

        rows = rows_of(self.candidates)
        return pd.DataFrame([row | {"chosen": row["name"] == self.chosen} for row in rows]).set_index("name")

    def __str__(self) -> str:
        rows = [("tried on rows held out", "cost", "95% interval", "above best", "se", "error", "features")]
        for c in self.candidates:
            ends = range_text(c.cost_interval, "{:.4f}".format)
            figures = (f"{c.cost:.4f}", ends, f"{c.above:.4f}", f"{c.above_std_error:.4f}")
            rows.append((c.name, *figures, f"{c.error:.4f}", f"{c.n_features:.2f}"))
        widths = [max(len(row[j]) for row in rows) for j in range(len(rows[0]))]
        lines = [
            "  ".join([row[0].ljust(widths[0]), *(text.rjust(width) for text, width in zip(row[1:], widths[1:]))])
            for row in rows
        ]
        table = [f"{line}  {'*' * (row[0] == self.chosen)}".rstrip() for line, row in zip(lines, rows)]
        return "\n".join([*table, *(fill(f"not tried: {one}", 88, subsequent_indent="  ") for one in self.skipped)])


def drop_reason(
    loss: FloatArray, stands: FloatArray, n_folds: int, least_chance: float, weight: FloatArray | None = None
) -> str | None:
    """Why a candidate is left after the first of some folds, by losses on its rows; None where it goes on.

    It is chosen if in the end it is a standard error below what stands. As far as the first fold tells, its mean
    difference on all of them is normal about that on the first, with variance (K - 1) / K of the latter's error.
    """
    apart = loss - stands
    mean = float(np.average(apart, weights=weight))
    spread = float(np.average((apart - mean) ** 2, weights=weight))
    error = np.sqrt(spread / max(1.0, effective_size(weight, len(apart)) - 1))
    far = np.sqrt((n_folds - 1) / n_folds) * -ndtri(least_chance) - 1 / np.sqrt(n_folds - 1)
    if mean <= far * error:
        return None
    return (
        f"past the first of {n_folds} folds: {mean:.4f} (se {error:.4f}) above the default there, so that the chance "
        f"to choose it is below {least_chance:.0%}"
    )


def cheapest(
    losses: Sequence[FloatArray], test_to_train: float, standing: int, weight: FloatArray | None = None
) -> tuple[int, list[tuple[float, float]]]:
    """The standing candidate, or the best of all where that costs less by more than a standard error.

    Beside it, how far each is above the best of all, with its standard error.
    """
    best = int(np.argmin([np.average(loss, weights=weight) for loss in losses]))
    above = []
    for loss in losses:
        test = paired_t_test(loss, losses[best], test_to_train=test_to_train, weights=weight)
        error = abs(test.difference / test.statistic) if np.isfinite(test.statistic) and test.statistic else 0.0
        above.append((test.difference, error))
    difference, error = above[standing]
    return (standing if difference <= error else best), above


def choose(
    tried: Sequence[HeldOut],
    seconds: Sequence[float],
    standing: str,
    on_decisions: bool,
    last: Sequence[HeldOut] | None = None,
) -> tuple[Choice, HeldOut]:
    """Choose among candidates of the same folds, and say what choosing so costs.

    The second, held out, is of the choice itself: each fold's rows are of the candidate that the other folds choose.
    ``last`` is what is told of the choice where it was made on something else, such as the mean over budgets.
    """
    losses = [held.decision_costs if on_decisions else held.costs for held in tried]
    shared = tried[0].n_folds / ((tried[0].n_folds - 1) * effective_size(tried[0].weights, tried[0].n_rows))
    stands = [held.name for held in tried].index(standing)
    place, above = cheapest(losses, shared, stands, tried[0].weights)
    candidates = tuple(
        Candidate(held.name, held.cost, held.cost_interval, *apart, held.price, held.error, held.n_features, took)
        for held, apart, took in zip(tried, above, seconds)
    )
    return Choice(tried[place].name, candidates), _of_the_choice(last or tried, losses, shared, stands)


def _of_the_choice(tried: Sequence[HeldOut], losses: Sequence[FloatArray], shared: float, standing: int) -> HeldOut:
    fold, weights, parts = tried[0].fold[tried[0].fold >= 0], tried[0].weights, []
    for other in (fold != k for k in range(tried[0].n_folds)):
        some = None if weights is None else weights[other]
        # one row says nothing of chance, beyond which alone another is taken
        alone = other.sum() == 1
        parts.append(standing if alone else cheapest([loss[other] for loss in losses], shared, standing, some)[0])
    by_fold = np.array(parts)
    rows, of = np.arange(len(fold)), by_fold[fold]
    columns = ("prices", "decision_costs", "decisions", "errors", "counts")
    picked = {name: np.stack([getattr(held, name) for held in tried])[of, rows] for name in columns}
    return replace(tried[0], name="Adaptive classifier", **picked)
