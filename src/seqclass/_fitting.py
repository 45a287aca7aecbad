"""Steps of fitting a classifier: their seconds, the filter and the model."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.base import clone

from seqclass._arrays import IntArray
from seqclass.bn import ObservationModel

#: Steps of a fit that come before the solver; their seconds are in ``timings_``.
PREPROCESSING = ("discretize", "filter", "structure", "parameters", "order")


@contextmanager
def timed(timings: dict[str, float], step: str, *, without: str | None = None) -> Iterator[None]:
    """Note the seconds of a step, less those of another that is part of it.

    Parameters
    ----------
    timings : dict
        Seconds by step; changed in place.
    step : str
        Name of the step.
    without : str, optional
        Step whose seconds, noted on the way, are taken off.

    Examples
    --------
    >>> timings = {}
    >>> with timed(timings, "solve"):
    ...     pass
    >>> list(timings)
    ['solve']
    """
    started = time.perf_counter()
    yield
    seconds = time.perf_counter() - started
    timings[step] = seconds if without is None else max(0.0, seconds - timings.get(without, 0.0))


def filter_features(selector: Any, codes: Any, y: npt.NDArray[Any]) -> tuple[Any, IntArray]:
    """Fit a selector to the discretised features.

    Parameters
    ----------
    selector : feature selector or None
        An unfitted selector; None keeps all features.
    codes : ndarray or sparse array of int of shape (n, n_features)
        Outcomes of the training data.
    y : ndarray of shape (n,)
        Labels.

    Returns
    -------
    selector : feature selector or None
        The fitted one.
    support : ndarray of int of shape (n_selected,)
        The features it keeps.

    Raises
    ------
    ValueError
        If it keeps none.

    Examples
    --------
    >>> filter_features(None, np.zeros((4, 2), dtype=int), np.array([0, 1, 0, 1]))
    (None, array([0, 1]))
    """
    if selector is None:
        return None, np.arange(codes.shape[1])
    fitted = clone(selector).fit(codes, y)
    support = np.asarray(fitted.get_support(indices=True), dtype=np.intp)
    if not support.size:
        raise ValueError(f"selector {type(selector).__name__} kept no feature; loosen its threshold.")
    return fitted, support


def fit_model(
    model: ObservationModel, codes: Any, y: npt.NDArray[Any], n_outcomes: IntArray, timings: dict[str, float]
) -> ObservationModel:
    """Fit an observation model, and tell apart what its structure and its parameters took.

    Parameters
    ----------
    model : ObservationModel
        The unfitted model.
    codes : ndarray or sparse array of int of shape (n, n_features)
        Outcomes of the training data.
    y : ndarray of shape (n,)
        Labels.
    n_outcomes : ndarray of int of shape (n_features,)
        Number of outcomes of each feature.
    timings : dict
        Gets ``"structure"`` (0 for a model that has none to learn) and ``"parameters"``.

    Returns
    -------
    ObservationModel

    Examples
    --------
    >>> from seqclass.bn import NaiveBayes
    >>> timings = {}
    >>> _ = fit_model(NaiveBayes(), np.array([[0], [1]]), np.array([0, 1]), np.array([2]), timings)
    >>> timings["structure"], list(timings)
    (0.0, ['structure', 'parameters'])
    """
    started = time.perf_counter()
    fitted = model.fit(codes, y, n_outcomes=n_outcomes)
    seconds = time.perf_counter() - started
    timings["structure"] = float(getattr(fitted, "timings_", {}).get("structure", 0.0))
    timings["parameters"] = max(0.0, seconds - timings["structure"])
    return fitted
