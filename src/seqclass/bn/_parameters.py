"""Checks of tables that come from elsewhere."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from seqclass._utils.arrays import FloatArray, IntArray
from seqclass._utils.validation import check_distribution, check_finite, check_not_negative, in_order, own_labels
from seqclass.bn._cpds import conditional_information
from seqclass.bn._structure import topological


def check_cpds(
    parents: Sequence[npt.ArrayLike], cpds: Sequence[npt.ArrayLike], classes: npt.NDArray[Any]
) -> tuple[list[IntArray], list[FloatArray]]:
    """Check the feature parents and the tables of a network, and put the parents in increasing order."""
    if len(parents) != len(cpds):
        raise ValueError(f"parents are of {len(parents)} features, but there are {len(cpds)} cpds.")
    above: list[IntArray] = []
    for feature, given in enumerate(parents):
        some = np.asarray(given).reshape(-1)
        if some.size and some.dtype.kind not in "iu":
            raise ValueError(f"parents of feature {feature} must be numbers of features, got {some.tolist()}.")
        above.append(some.astype(np.intp))
    for feature, some in enumerate(above):
        if ((some < 0) | (some >= len(above))).any() or len(np.unique(some)) < len(some):
            raise ValueError(f"parents of feature {feature} must be distinct features, got {some.tolist()}.")
    topological(above)
    called = [f"the cpd of feature {feature}" for feature in range(len(cpds))]
    tables = [check_finite(in_order(cpd, name, None, classes), name) for cpd, name in zip(cpds, called)]
    for feature, some in enumerate(above):
        table = tables[feature]
        wanted = (len(table) if table.ndim else 1, *(len(tables[int(p)]) for p in some), len(classes))
        if table.shape != wanted or len(table) == 0:
            raise ValueError(f"the cpd of feature {feature} must have shape {wanted}, got {table.shape}.")
        if table.min() < 0 or abs(table.sum(axis=0) - 1).max() > 1e-6:
            raise ValueError(f"the cpd of feature {feature} must hold probabilities that sum to 1 over its outcomes.")
        order = np.argsort(some)
        table = np.ascontiguousarray(table.transpose(0, *(order + 1), table.ndim - 1))
        above[feature], tables[feature] = some[order], table / table.sum(axis=0)
    return above, tables


def check_tables(
    hidden_class: npt.ArrayLike, weights: npt.ArrayLike, tables: Sequence[npt.ArrayLike], n_classes: int
) -> tuple[IntArray, FloatArray, FloatArray, IntArray]:
    """Check hidden states of classes and the tables of features given them, and put the tables together."""
    classes, hidden = np.asarray(in_order(hidden_class, "hidden_class", None)), own_labels(hidden_class)
    if classes.dtype.kind not in "iu" or not np.array_equal(np.unique(classes), np.arange(n_classes)):
        raise ValueError(f"hidden_class must hold numbers of classes, each of 0..{n_classes - 1} once at least.")
    share = check_not_negative(in_order(weights, "weights", hidden), "weights", classes.shape)
    total = np.bincount(classes, share, n_classes)
    if np.abs(total - 1).max() > 1e-6:
        raise ValueError(f"weights must sum to 1 within each class; they sum to {total.tolist()}.")
    called = [f"the table of feature {feature}" for feature in range(len(tables))]
    arrays = [check_finite(in_order(table, name, None, hidden), name) for table, name in zip(tables, called)]
    sizes = np.array([len(table) if table.ndim else 0 for table in arrays], dtype=np.intp)
    result = np.zeros((len(arrays), int(sizes.max(initial=1)), len(classes)))
    for feature, (table, size) in enumerate(zip(arrays, sizes)):
        if table.shape != (size, len(classes)) or not size:
            raise ValueError(
                f"the table of feature {feature} must have a row an outcome and {len(classes)} columns, one for each "
                f"hidden state; got shape {table.shape}."
            )
        if table.min() < 0 or np.abs(table.sum(axis=0) - 1).max() > 1e-6:
            raise ValueError(f"the table of feature {feature} must hold probabilities that sum to 1 over its outcomes.")
        result[feature, :size] = table / table.sum(axis=0)
    return classes.astype(np.intp), share / total[classes], result, sizes


def check_classes(classes: npt.ArrayLike) -> npt.NDArray[Any]:
    labels = np.asarray(classes)
    if not np.array_equal(np.unique(labels), labels):
        raise ValueError("classes must be sorted and distinct.")
    return labels


def set_fitted_attributes(
    model: Any,
    classes: npt.NDArray[Any],
    class_prior: npt.ArrayLike,
    n_outcomes: IntArray,
    state_names: Mapping[int, Sequence[Any]] | None,
    feature_names: Sequence[Any] | None,
) -> None:
    """Set what a model has beside its tables where it is made of them, and not fitted."""
    model.classes_, model.n_outcomes_, model.n_features_in_ = classes, n_outcomes, len(n_outcomes)
    prior = in_order(class_prior, "class_prior", classes)
    model.class_prior_ = check_distribution(prior, len(classes), "class_prior")
    model.timings_ = {"structure": 0.0, "parameters": 0.0}
    model.state_names_ = check_state_names(state_names, n_outcomes)
    model.feature_names_ = check_feature_names(feature_names, len(n_outcomes))


def check_state_names(names: Mapping[int, Sequence[Any]] | None, n_outcomes: IntArray) -> dict[int, list[Any]] | None:
    """Check the names of outcomes: for some features, as many different ones as they have outcomes."""
    if names is None:
        return None
    result = {}
    for feature, given in names.items():
        if feature not in range(len(n_outcomes)):
            raise ValueError(f"state_names has {feature!r}; its keys are feature numbers 0..{len(n_outcomes) - 1}.")
        states, wanted = list(given), int(n_outcomes[feature])
        if len(states) != wanted or len(set(states)) != wanted:
            raise ValueError(f"state_names of feature {feature} must be {wanted} different names, got {states}.")
        result[int(feature)] = states
    return result


def check_feature_names(names: Sequence[Any] | None, n_features: int) -> list[Any] | None:
    if names is None:
        return None
    result = list(names)
    if len(result) != n_features or len(set(result)) != n_features:
        raise ValueError(f"feature_names must be {n_features} different names, got {result}.")
    return result


def edge_information(parents: Sequence[IntArray], cpds: Sequence[FloatArray], prior: FloatArray) -> FloatArray:
    """I(child; parent | class) in nats of each edge by the network itself, by parent, then child."""
    marginal: dict[int, FloatArray] = {}
    weights: dict[tuple[int, int], float] = {}
    for child in topological(parents).tolist():
        above = parents[child].tolist()
        weights |= {(parent, child): np.nan for parent in above}
        if not above:
            marginal[child] = cpds[child]
        elif len(above) == 1 and above[0] in marginal:
            joint = cpds[child] * marginal[above[0]]
            marginal[child] = joint.sum(axis=1)
            weights[above[0], child] = conditional_information(joint * prior)
    return np.array([weight for _, weight in sorted(weights.items())], dtype=np.float64)
