"""What a live case asks, and what it was answered."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Feature:
    """One of the features that a question shows.

    Attributes
    ----------
    name : str
        Its name; ``"x3"`` for column 3 where features have no names.
    column : int
        Its column in the training data.
    categories : tuple of str
        What it may be, for a categorical feature; empty for a number.

    Examples
    --------
    >>> Feature("age", 0).categories
    ()
    """

    name: str
    column: int
    categories: tuple[str, ...] = ()


@dataclass(frozen=True)
class Question:
    """What a session may ask next: a feature, or a bundle of them that is seen at once.

    Attributes
    ----------
    name : str
        Name of the feature, or of the bundle; ``"x3"`` for column 3 where features have no names.
    column : int
        Its column in the training data; of a bundle, its first.
    price : float
        What it costs, in units of misclassification cost.
    expected_saving : float
        By how much going on is expected to be cheaper than deciding now; NaN where the policy cannot tell.
    categories : tuple of str
        What it may be, for a categorical feature; empty for a number.
    features : tuple of Feature
        The features of a bundle; empty for a question of one feature.

    Examples
    --------
    >>> Question("age", 0, 0.01, 0.2).categories
    ()
    """

    name: str
    column: int
    price: float
    expected_saving: float
    categories: tuple[str, ...] = ()
    features: tuple[Feature, ...] = ()


@dataclass(frozen=True)
class Answer:
    """One step of a session.

    Attributes
    ----------
    name : str
        The feature or bundle that was answered.
    value : float, str, dict or None
        What it showed; None where it was unavailable. Of a bundle, by name, what each of its features showed.
    outcome : int
        Outcome of the model that the value belongs to; -1 where unavailable.
    price : float
        What was paid.
    expected_saving : float
        What was expected of asking.
    posterior : tuple of float
        P(class | everything so far) after the answer.
    known : bool
        Whether it was known and not asked for; it then cost nothing.

    Examples
    --------
    >>> Answer("age", 47.0, 2, 0.01, 0.2, (0.3, 0.7)).price
    0.01
    """

    name: str
    value: Any
    outcome: int
    price: float
    expected_saving: float
    posterior: tuple[float, ...]
    known: bool = False


def named(names: Sequence[str] | Mapping[int, str], column: int) -> str:
    """Name of a column among those that the user gives.

    Examples
    --------
    >>> named(["great", "plot"], 1), named({7: "plot"}, 7)
    ('plot', 'plot')
    """
    try:
        return str(names[column])
    except (KeyError, IndexError):
        raise ValueError(f"feature_names has no name for column {column}, which was asked for.") from None
