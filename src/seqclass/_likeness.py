"""What is typical of a hidden component."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from seqclass._arrays import IntArray
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
