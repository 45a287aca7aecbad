"""Calibration: whether decisions that are said to be 90% sure are right nine times in ten."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from seqclass._utils.arrays import FloatArray, IntArray
from seqclass._utils.tables import Readable
from seqclass._utils.validation import check_integer
from seqclass.fitting.held_out import Interval, row_interval


def calibration_error(y_true: npt.ArrayLike, proba: npt.ArrayLike, *, n_bins: int = 15) -> float:
    """Return the expected calibration error (ECE) of the likeliest class.

    Instances are put into bins of equal width by the probability of their likeliest class; the error is the mean over
    instances of the distance between the mean probability in their bin and the bin's share of right answers.

    C. Guo, G. Pleiss, Y. Sun, K. Q. Weinberger, "On calibration of modern neural networks", ICML 2017, eq. (3).
    """
    truth, belief = _check_beliefs(y_true, proba)
    check_integer(n_bins, "n_bins", 1)
    confidence = belief.max(axis=1)
    right = belief.argmax(axis=1) == truth
    # bins are open below and closed above
    bins = np.clip(np.ceil(confidence * n_bins).astype(np.intp) - 1, 0, n_bins - 1)
    distance = np.bincount(bins, weights=right - confidence, minlength=n_bins)
    return float(np.abs(distance).sum() / truth.size)


@dataclass(frozen=True, repr=False)
class QuestionCalibration(Readable):
    """How sure the beliefs were, and how often right, in rows that stopped after a given number of questions.

    Both are about the likeliest class. With few rows `calibration_error` is above zero by chance alone; it is then
    better to look whether ``confidence`` lies within ``accuracy_interval``.

    Attributes
    ----------
    n_questions, most_questions : int
        Fewest and most questions that any of these rows was asked, missing answers included.
    n_rows : int
        Number of rows that stopped after that many questions.
    confidence, accuracy : float
        Mean probability of the likeliest class at the stop; share of rows whose class that is.
    accuracy_interval : tuple of float
        95% interval of ``accuracy``.
    calibration_error : float
        Expected calibration error of these rows, see `calibration_error`.

    Examples
    --------
    >>> QuestionCalibration(2, 2, 40, 0.97, 0.9, (0.77, 0.96), 0.07).questions
    '2'
    """

    n_questions: int
    most_questions: int
    n_rows: int
    confidence: float
    accuracy: float
    accuracy_interval: Interval
    calibration_error: float

    @property
    def questions(self) -> str:
        """The number of questions, or their range, as text."""
        few, most = self.n_questions, self.most_questions
        return f"{few}" if few == most else f"{few} to {most}"


def calibration_by_questions(
    y_true: npt.ArrayLike, proba: npt.ArrayLike, n_questions: npt.ArrayLike, *, least: int = 20
) -> tuple[QuestionCalibration, ...]:
    """Calibration at the stop, by the number of questions asked.

    A belief may be right on average and wrong for those that were asked much, who are the hard cases.
    """
    truth, belief = _check_beliefs(y_true, proba)
    asked = np.asarray(n_questions)
    if asked.shape != truth.shape:
        raise ValueError(f"n_questions must have an entry for each row, got shape {asked.shape}.")
    least = check_integer(least, "least", 1)
    return tuple(_calibrate_stopped(truth[rows], belief[rows], asked[rows]) for rows in _together(asked, least))


def _together(asked: IntArray, least: int) -> list[IntArray]:
    """Rows by the number of questions; too few of a number join the next one, or the last group if there is none."""
    numbers, sizes = np.unique(asked, return_counts=True)
    ends, held = [], 0
    for number, size in zip(numbers.tolist(), sizes.tolist()):
        held += size
        if held >= least:
            ends.append(number)
            held = 0
    if held:
        ends = [*ends[:-1], int(numbers[-1])]
    group = np.searchsorted(ends, asked)
    return [np.flatnonzero(group == i) for i in range(len(ends))]


def _calibrate_stopped(truth: IntArray, belief: FloatArray, asked: IntArray) -> QuestionCalibration:
    right = (belief.argmax(axis=1) == truth).astype(np.float64)
    return QuestionCalibration(
        n_questions=int(asked.min()),
        most_questions=int(asked.max()),
        n_rows=len(truth),
        confidence=float(belief.max(axis=1).mean()),
        accuracy=float(right.mean()),
        accuracy_interval=row_interval(right, 1.0),
        calibration_error=calibration_error(truth, belief),
    )


def _check_beliefs(y_true: npt.ArrayLike, proba: npt.ArrayLike) -> tuple[IntArray, FloatArray]:
    truth, belief = np.asarray(y_true), np.asarray(proba, dtype=np.float64)
    if belief.ndim != 2 or truth.shape != belief.shape[:1] or not truth.size:
        raise ValueError(f"proba must have a row for each label, got shapes {truth.shape} and {belief.shape}.")
    return truth, belief
