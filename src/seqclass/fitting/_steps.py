"""Steps of fitting a classifier: their seconds, the filter and the model."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.utils.validation import has_fit_parameter

from seqclass._utils.arrays import FloatArray, IntArray
from seqclass._utils.frames import plain_data, take_rows
from seqclass._utils.progress import report_progress
from seqclass._utils.text import join_names, sentence, short_repr
from seqclass._utils.validation import check_weights, exponential_forgetting, plain_labels
from seqclass._utils.warned import warn_caller
from seqclass.agent._coding import OutcomeCoder
from seqclass.bn import ObservationModel
from seqclass.fitting._folds import RECENT

#: What the steps that are timed are told as.
_TOLD = {
    "count": "counting",
    "discretize": "bins",
    "filter": "selection",
    "order": "order",
    "calibrate": "calibration",
    "solve": "plan",
    "held_out": "held out",
    "mark": "marks of rows",
    "parameters": "model",
}
#: Steps of a fit that come before the solver; their seconds are in ``timings_``.
PREPROCESSING = ("discretize", "filter", "structure", "parameters", "order")


@contextmanager
def time_step(timings: dict[str, float], step: str, *, without: str | None = None) -> Iterator[None]:
    """Tell that a step begins, and note its seconds, less those of another that is part of it."""
    started = time.perf_counter()
    with report_progress(_TOLD[step]):
        yield
    seconds = time.perf_counter() - started
    timings[step] = seconds if without is None else max(0.0, seconds - timings.get(without, 0.0))


def check_row_weights(X: Any, y: Any, sample_weight: Any) -> tuple[Any, Any, FloatArray | None]:
    """Check the weights of rows, and leave out the rows that have none."""
    y = plain_labels(y)
    if sample_weight is None:
        return X, y, None
    labels = np.asarray(y)
    weight = check_weights(sample_weight, len(labels))
    assert weight is not None
    kept = np.flatnonzero(weight)
    if kept.size == len(weight):
        return X, y, weight
    if len(left := np.unique(labels[kept])) < 2 <= len(np.unique(labels)):
        raise ValueError(
            f"y holds only one class, {short_repr(left.tolist()[0])}, in the rows of a sample_weight above 0; a "
            "classifier needs at least two."
        )
    return take_rows(plain_data(X), kept), labels[kept], weight[kept]


def forgetting_weights(y: Any, half_life: Any, sample_weight: Any) -> Any:
    """Weights of rows in order of time, which fall with their age where there is a half-life."""
    if half_life is None:
        return sample_weight
    n = len(plain_labels(y))
    weight = check_weights(sample_weight, n)
    n_rows = n if weight is None else int(np.count_nonzero(weight))
    counted = exponential_forgetting(n_rows, half_life).sum()
    # rows that fade should count as ten of the last, if not as more
    if counted < min(10, n_rows) and n_rows > RECENT * half_life:
        warn_caller(
            f"half_life={half_life:g}: all {n_rows} rows together count as {counted:.3g} of the last, few to learn "
            "from; it is a number of rows, not of days or calls."
        )
    return exponential_forgetting(n, half_life, weight)


def filter_features(selector: Any, codes: Any, y: npt.NDArray[Any], names: Any) -> tuple[Any, IntArray]:
    """Fit a selector to the discretised features, whose names are told where it fails on missing cells."""
    if selector is None:
        return None, np.arange(codes.shape[1])
    fitted = clone(selector)
    kind = type(selector).__name__
    try:
        fitted.fit(codes, y)  # which of one's own may forget to return it
    except ValueError as error:
        lowest = codes.min(axis=0)
        lacking = np.flatnonzero(np.ravel(lowest.toarray() if sp.issparse(lowest) else lowest) < 0)
        if not lacking.size:
            raise
        called = join_names(j if names is None else names[j] for j in lacking.tolist())
        raise ValueError(
            f"selector {kind} failed, perhaps for missing cells, which it is given as -1: {called}. Fill them in, take "
            f'missing="informative", or another selector, such as FCBF ({sentence(error)})'
        ) from error
    mask = np.asarray(fitted.get_support())
    if mask.shape != (codes.shape[1],) or mask.dtype != np.bool_:
        raise ValueError(
            f"selector: {kind}.get_support() must be a mask of bool with one entry for each of the {codes.shape[1]} "
            f"features; it is {mask.dtype} of shape {mask.shape}."
        )
    support = np.flatnonzero(mask)
    if not support.size:
        raise ValueError(f"selector {kind} kept no feature; loosen its threshold.")
    return fitted, support


def fit_model(
    model: ObservationModel,
    codes: Any,
    y: npt.NDArray[Any],
    n_outcomes: IntArray,
    timings: dict[str, float],
    weight: FloatArray | None = None,
) -> ObservationModel:
    """Fit an observation model, and tell apart what its structure and its parameters took."""
    started = time.perf_counter()
    weights = {} if weight is None else {"sample_weight": weight}
    if weights and not (model._learns and has_fit_parameter(model, "sample_weight")):
        why = "takes no weights of rows" if model._learns else "learns nothing"
        raise ValueError(
            f"sample_weight, or half_life: {type(model).__name__} {why}; leave it out, or use another "
            "observation_model."
        )
    with report_progress("model"):
        fitted = model.fit(codes, y, **weights, n_outcomes=n_outcomes)
    seconds = time.perf_counter() - started
    timings["structure"] = float(getattr(fitted, "timings_", {}).get("structure", 0.0))
    timings["parameters"] = max(0.0, seconds - timings["structure"])
    return fitted


def check_fitted_model(model: Any) -> ObservationModel:
    """A model that is fitted; a network is by itself, as it learns nothing."""
    if isinstance(model, ObservationModel) and not hasattr(model, "classes_") and not model._learns:
        model = clone(model).fit()
    if not isinstance(model, ObservationModel) or not hasattr(model, "classes_"):
        raise ValueError(
            "prefit=True needs an observation_model that is fitted, and a clone is not: leave prefit out to have it "
            "fitted, or put the classifier into sklearn.frozen.FrozenEstimator."
        )
    return model


def take_prefit_model(
    model: Any, coder: OutcomeCoder, names: Any, support: IntArray, classes: npt.NDArray[Any], timings: dict[str, float]
) -> ObservationModel:
    """Take a model that is fitted already, if the data are of its features, outcomes and classes."""
    if model.n_features_in_ != support.size:
        raise ValueError(
            f"the data have {support.size} features, and the prefit observation_model {model.n_features_in_}."
        )
    known = list(map(str, model._own_names()[0] or ()))
    columns = [] if names is None else [str(names[j]) for j in support.tolist()]
    if any(name != column and name in columns for name, column in zip(known, columns)):
        raise ValueError(f"X must have its columns in the order of the prefit observation_model: {join_names(known)}.")
    if not np.isin(classes, model.classes_).all():
        unknown = classes[~np.isin(classes, model.classes_)].tolist()
        raise ValueError(
            f"y holds {unknown[0]!r}, which is no class of the prefit observation_model: it has "
            f"{', '.join(map(repr, model.classes_.tolist()))}."  # a network's are texts
        )
    if isinstance(coder.discretizer, str) and not coder.categories:
        coder.n_outcomes_[support] = np.maximum(coder.n_outcomes_[support], model.n_outcomes_)
    wrong = np.flatnonzero(coder.n_outcomes_[support] != model.n_outcomes_)
    if wrong.size:
        j = int(wrong[0])
        raise ValueError(
            f"feature {support[j]} has {coder.n_outcomes_[support[j]]} outcomes in the data, and "
            f"{model.n_outcomes_[j]} in the prefit observation_model. Bring data that show the same outcomes, or codes "
            "and a discretizer that knows them all; of a network without data SequentialClassifier.from_network plans."
        )
    timings |= {"structure": 0.0, "parameters": 0.0}
    return model  # type: ignore[no-any-return]
