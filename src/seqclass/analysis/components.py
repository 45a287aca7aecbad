"""What is typical of the hidden components of a class mixture."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from seqclass._base import BaseSequentialClassifier
from seqclass._utils.validation import check_integer
from seqclass.agent.agent import agent_of
from seqclass.agent.components import Component, component, largest_first


def describe_components(
    classifier: BaseSequentialClassifier,
    *,
    n_traits: int = 3,
    feature_names: Sequence[str] | Mapping[int, str] | None = None,
) -> list[Component]:
    """Describe what is typical of each hidden component of a classifier's class mixture.

    Parameters
    ----------
    classifier : SequentialClassifier or AdaptiveClassifier
        A fitted classifier whose ``model_`` is a `seqclass.bn.ClassMixture`.
    n_traits : int
        Most traits of each component.
    feature_names : sequence of str of length n_features or mapping of column to str, optional
        Names to show for the features; by default the names in training.

    Returns
    -------
    list of Component
        Class by class, the largest component first. With several bags (``n_bags``) the components of all of them are
        listed, and overlap.

    Raises
    ------
    ValueError
        If the model has no such components, as a `seqclass.bn.ClassMixture` does.

    Examples
    --------
    >>> import numpy as np
    >>> from seqclass import SequentialClassifier
    >>> from seqclass.bn import ClassMixture
    >>> X = np.array([[0, 0], [1, 1], [0, 1], [1, 0]] * 25)
    >>> y = np.array(["same", "same", "other", "other"] * 25)
    >>> clf = SequentialClassifier(ClassMixture(2), discretizer="precomputed").fit(X, y)
    >>> print(describe_components(clf)[1])
    other, kind 2 of 2 (50% of the class): x0 = 1 (98% of them, 50% of all); x1 = 0 (98% of them, 50% of all)
    """
    agent = agent_of(classifier)
    if (kinds := agent.model._kinds()) is None:
        raise ValueError(
            f"describe_components needs kinds of each class, as of a ClassMixture; model_, a "
            f"{type(agent.model).__name__}, has none."
        )
    check_integer(n_traits, "n_traits", 0)
    return [
        component(agent, kinds, hidden, n_traits, feature_names)
        for c in range(len(agent.classes))
        for hidden in largest_first(kinds, c).tolist()
    ]
