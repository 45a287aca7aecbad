"""What must hold of an observation model that was read from a file."""

from __future__ import annotations

import numpy as np

from seqclass._arrays import FloatArray
from seqclass._loading_basics import array, fitted, need, numbers, whole
from seqclass._validation import check_distribution
from seqclass.bn import (
    ClassMixture,
    ContextBayes,
    DiscreteNetwork,
    NaiveBayes,
    NetworkTables,
    ObservationModel,
    TreeNetwork,
)
from seqclass.bn._parameters import check_cpds, check_feature_names, check_state_names

#: Counts that add up to a number still.
_MOST_COUNTED = 1e100


def check_model(model: ObservationModel) -> None:
    """Check a fitted observation model."""
    if not fitted(model):
        return
    n = whole(model.n_features_in_, "n_features_in_", 1)
    prior = numbers(model.class_prior_, "class_prior_", len(model.classes_))
    check_distribution(prior, None, "class_prior_")
    n_outcomes = array(model.n_outcomes_, "n_outcomes_", "iu", n)
    need(n_outcomes.min() >= 1, "n_outcomes_ holds less than 1")
    if isinstance(model, NaiveBayes):
        counts = numbers(model.counts_, "counts_", n, None, len(prior))
        need(counts.min(initial=0) >= 0 and n_outcomes.max() <= counts.shape[1], "counts_ are wrong")
        need(
            counts.max(initial=0) <= _MOST_COUNTED and 0 <= float(model.alpha) <= _MOST_COUNTED, "counts are too large"
        )
        numbers(model.class_count_, "class_count_", len(prior))
        need((_temperatures(model) >= 1).all(), "temperature_ is below 1")
    if isinstance(model, TreeNetwork):
        _check_network(model)
    if isinstance(model, (ClassMixture, ContextBayes)):
        _check_components(model)
    if isinstance(model, DiscreteNetwork):
        _check_discrete(model)
    if isinstance(model, ClassMixture):
        need(array(model.n_components_, "n_components_", "i", len(prior)).min() >= 1, "n_components_ is wrong")
    if isinstance(model, ContextBayes):
        _check_contexts(model)


def _temperatures(model: NaiveBayes) -> FloatArray:
    """As an array, of which files from before there was one a feature have one number."""
    found = model.temperature_
    if isinstance(found, np.ndarray):
        found = array(found, "temperature_", "f", model.n_features_in_)
    return np.asarray(found, dtype=np.float64)


def _check_discrete(model: DiscreteNetwork) -> None:
    """Check a network by preparing it anew, which computes nothing of the answers."""
    need(isinstance(model.network, NetworkTables) and model.network_ is model.network, "network_ is none")
    again = DiscreteNetwork(model.network, model.target, model.questions).fit()
    for name in ("outcomes_", "questions_", "targets_", "_states"):
        need(getattr(model, name) == getattr(again, name), f"{name} is not that of the network")
    for name in ("classes_", "n_outcomes_", "class_prior_"):
        found, wanted = getattr(model, name), getattr(again, name)
        need(isinstance(found, np.ndarray) and np.array_equal(found, wanted), f"{name} is not that of the network")


def check_network_tables(network: NetworkTables) -> None:
    """Check a network by making it anew."""
    again = NetworkTables(network.names, network.states, network.parents, network.tables)
    need(all(array(a, "a table", "f", *b.shape) is not None for a, b in zip(network.tables, again.tables)), "tables")


def _check_components(model: ClassMixture | ContextBayes) -> None:
    n_classes, most = len(model.classes_), int(model.n_outcomes_.max())
    classes = array(model.hidden_class_, "hidden_class_", "i", None)
    need(np.array_equal(np.unique(classes), np.arange(n_classes)), "hidden_class_ has other classes")
    weights = numbers(model.weights_, "weights_", len(classes))
    need(weights.min() >= 0 and np.allclose(np.bincount(classes, weights), 1), "weights_ are wrong")
    tables = numbers(model.tables_, "tables_", model.n_features_in_, None, len(classes))
    real = (np.arange(tables.shape[1]) < model.n_outcomes_[:, None])[:, :, None]
    need(tables.shape[1] >= most and tables.min() >= 0 and np.allclose(tables.sum(axis=1), 1), "tables_ are wrong")
    need(not tables[np.broadcast_to(~real, tables.shape)].any(), "tables_ have other outcomes")


def _check_contexts(model: ContextBayes) -> None:
    columns = array(model.context_, "context_", "i", None)
    need(bool(((columns >= 0) & (columns < model.n_features_in_)).all()), "context_ is wrong")
    values = array(model.context_values_, "context_values_", "i", None, len(columns))
    n_states = len(model.classes_) * len(values)
    need(not len(columns) or n_states == len(model.hidden_class_), "context_values_ are wrong")
    need(type(model.densities_) is list and len(model.densities_) == model.n_features_in_, "densities_ are wrong")


def _check_network(model: TreeNetwork) -> None:
    parents, cpds = model.parents_, model.cpds_
    for feature, some in enumerate(parents):
        array(some, f"parents of feature {feature}", "iu", None)
    if all(cpd is not None for cpd in cpds):
        again, tables = check_cpds(parents, cpds, len(model.classes_))
        need(all(np.array_equal(a, b) for a, b in zip(parents, again)), "parents_ are not sorted")
        need(all(array(c, "a cpd", "f", *t.shape) is not None for c, t in zip(cpds, tables)), "cpds_ are wrong")
        need([len(cpd) for cpd in cpds] == model.n_outcomes_.tolist(), "cpds_ have other outcomes")
    need(model.is_forest_ is all(len(some) < 2 for some in parents), "is_forest_ is wrong")
    n_edges = sum(len(some) for some in parents)
    need(np.shape(model.edge_weights_) == (n_edges,), "edge_weights_ are of other edges")
    need(model.conditioning_ in ("full", "ancestor"), "conditioning_ is wrong")
    need(float(model.unit_) > 0, "unit_ is wrong")
    check_state_names(model.state_names_, model.n_outcomes_)
    check_feature_names(model.feature_names_, model.n_features_in_)
