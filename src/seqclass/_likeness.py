"""Which component of its class an instance is most like, and what is typical of that."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from seqclass._arrays import FloatArray, IntArray
from seqclass._outcome_labels import outcome_labels
from seqclass._questions import named
from seqclass.bn import ClassMixture
from seqclass.components import Component, Trait

if TYPE_CHECKING:
    from seqclass.classifier import SequentialClassifier

_TINY = 1e-300


def largest_first(model: ClassMixture, c: int) -> IntArray:
    """Hidden states of a class, by weight."""
    states = np.flatnonzero(model.hidden_class_ == c)
    return np.asarray(states[np.argsort(-model.weights_[states], kind="stable")])


def component(
    classifier: SequentialClassifier,
    model: ClassMixture,
    hidden: int,
    n_traits: int = 3,
    names: Sequence[str] | Mapping[int, str] | None = None,
) -> Component:
    """A hidden state in words."""
    c = int(model.hidden_class_[hidden])
    states = largest_first(model, c).tolist()
    label, share = classifier.classes_.tolist()[c], float(model.weights_[hidden])
    traits = _traits(classifier, model, hidden, n_traits, names)
    return Component(label, states.index(hidden) + 1, len(states), share, traits)


def _traits(
    classifier: SequentialClassifier, model: ClassMixture, hidden: int, n_traits: int, names: Any
) -> tuple[Trait, ...]:
    overall = model.tables_ @ (classifier.problem_.prior[model.hidden_class_] * model.weights_)
    own = model.tables_[:, :, hidden]
    telling = own * np.log(np.maximum(own, _TINY) / np.maximum(overall, _TINY))
    traits = []
    for feature in np.argsort(-telling.max(axis=1), kind="stable")[:n_traits].tolist():
        column, shown = int(classifier.support_[feature]), int(telling[feature].argmax())
        name = classifier.feature_name(column) if names is None else named(names, column)
        label = outcome_labels(classifier, column)[shown]
        traits.append(Trait(name, column, label, float(own[feature, shown]), float(overall[feature, shown])))
    return tuple(traits)


def likeness(model: ClassMixture, prior: FloatArray, features: IntArray, outcomes: IntArray) -> FloatArray:
    """P(hidden state | answers to features of the model), (n_hidden,); an outcome of -1 is missing."""
    seen = outcomes >= 0
    shown = np.log(np.maximum(model.tables_[features[seen], outcomes[seen]], _TINY)).sum(axis=0)
    weight = np.log(np.maximum(prior[model.hidden_class_] * model.weights_, _TINY)) + shown
    share = np.exp(weight - weight.max())
    return np.asarray(share / share.sum())
