"""Hidden components of the classes in words: what is typical of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from seqclass._utils.arrays import IntArray
from seqclass._utils.tables import Readable, rows_of
from seqclass._utils.text import visible
from seqclass.agent.agent import Agent, feature_name, outcome_labels
from seqclass.bn.base import HiddenTables

__all__ = ["Component", "Likeness", "Trait"]


@dataclass(frozen=True, repr=False)
class Trait(Readable):
    """A value that a component shows more often than others do.

    Attributes
    ----------
    name : str
        Name of the feature.
    column : int
        Its column in the training data.
    label : str
        The value, such as ``"[1.2, 3.4)"``.
    share : float
        P(it shows that | component).
    share_of_all : float
        P(it shows that) among all instances.

    Examples
    --------
    >>> str(Trait("age", 0, ">= 60", 0.9, 0.25))
    'age >= 60 (90% of them, 25% of all)'
    """

    name: str
    column: int
    label: str
    share: float
    share_of_all: float

    def __str__(self) -> str:
        is_ = " " if self.label[:1] in "<>" else " in " if self.label[:1] in "[(" else " = "
        return visible(f"{self.name}{is_}{self.label} ({self.share:.0%} of them, {self.share_of_all:.0%} of all)")


@dataclass(frozen=True, repr=False)
class Component(Readable):
    """A kind of instances within a class.

    Attributes
    ----------
    label : object
        The class.
    number : int
        Number of the component within the class, from 1, the largest first.
    n_components : int
        Number of components of the class.
    share : float
        P(component | class).
    traits : tuple of Trait
        What is most typical of it, the most typical first, by P(outcome | component) log(P(outcome | component) /
        P(outcome)), with one outcome per feature.

    Examples
    --------
    >>> print(Component("ill", 2, 3, 0.4, (Trait("age", 0, ">= 60", 0.9, 0.25),)))
    ill, kind 2 of 3 (40% of the class): age >= 60 (90% of them, 25% of all)
    """

    label: Any
    number: int
    n_components: int
    share: float
    traits: tuple[Trait, ...]

    def _table(self) -> Any:
        return rows_of(self.traits)

    @property
    def name(self) -> str:
        """Class and number."""
        return f"{self.label}, kind {self.number} of {self.n_components}"

    def __str__(self) -> str:
        return visible(f"{self.name} ({self.share:.0%} of the class): {'; '.join(map(str, self.traits))}")


@dataclass(frozen=True, repr=False)
class Likeness(Readable):
    """The component that an instance is most like, judging by its answers.

    Attributes
    ----------
    component : Component
        The component.
    probability : float
        P(component | answers), without knowing the class.

    Examples
    --------
    >>> print(Likeness(Component("ill", 2, 3, 0.4, (Trait("age", 0, ">= 60", 0.9, 0.25),)), 0.7))
    Most like ill, kind 2 of 3 (70%), of which is typical: age >= 60 (90% of them, 25% of all).
    """

    component: Component
    probability: float

    def _table(self) -> Any:
        return self.component.to_frame().assign(component=self.component.name, probability=self.probability)

    def __str__(self) -> str:
        traits = "; ".join(map(str, self.component.traits))
        typical = f", of which is typical: {traits}" if traits else ""
        return visible(f"Most like {self.component.name} ({self.probability:.0%}){typical}.")


def largest_first(kinds: HiddenTables, c: int) -> IntArray:
    """Hidden states of a class, by weight."""
    states = np.flatnonzero(kinds.classes == c)
    return np.asarray(states[np.argsort(-kinds.weights[states], kind="stable")])


def component(
    agent: Agent,
    kinds: HiddenTables,
    hidden: int,
    n_traits: int = 3,
    names: Sequence[str] | Mapping[int, str] | None = None,
) -> Component:
    """A hidden state in words."""
    c = int(kinds.classes[hidden])
    states = largest_first(kinds, c).tolist()
    label, share = agent.classes.tolist()[c], float(kinds.weights[hidden])
    traits = _traits(agent, kinds, hidden, n_traits, names)
    return Component(label, states.index(hidden) + 1, len(states), share, traits)


def _traits(agent: Agent, kinds: HiddenTables, hidden: int, n_traits: int, names: Any) -> tuple[Trait, ...]:
    overall = kinds.tables @ (agent.problem.prior[kinds.classes] * kinds.weights)
    own, n_outcomes = kinds.tables[:, :, hidden], agent.model.n_outcomes_
    telling = own * np.log(np.maximum(own, 1e-300) / np.maximum(overall, 1e-300))
    sizes = np.where(n_outcomes > 1, n_outcomes, 0)  # of a constant column nothing is typical
    telling[np.arange(telling.shape[1]) >= sizes[:, None]] = -np.inf
    traits = []
    # what ties but for rounding stays in the order of the columns
    for feature in np.argsort(-telling.max(axis=1).round(12), kind="stable")[:n_traits].tolist():
        if not sizes[feature]:
            break
        column, shown = int(agent.support[feature]), int(telling[feature].argmax())
        name = feature_name(agent, column, names)
        label = outcome_labels(agent, column)[shown]
        traits.append(Trait(name, column, label, float(own[feature, shown]), float(overall[feature, shown])))
    return tuple(traits)
