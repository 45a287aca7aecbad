"""What a live case asks, and what it was answered."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Question:
    """The feature that a session asks for next.

    Attributes
    ----------
    name : str
        Its name; ``"x3"`` for column 3 where features have no names.
    column : int
        Its column in the training data.
    price : float
        What it costs, in units of misclassification cost.
    expected_saving : float
        By how much going on is expected to be cheaper than deciding now; NaN where the policy cannot tell.
    categories : tuple of str
        What it may be, for a categorical feature; empty for a number.

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


@dataclass(frozen=True)
class Answer:
    """One step of a session.

    Attributes
    ----------
    name : str
        The feature that was asked for.
    value : float, str or None
        What it showed; None where it was unavailable.
    outcome : int
        Outcome of the model that the value belongs to; -1 where unavailable.
    price : float
        What was paid.
    expected_saving : float
        What was expected of asking.
    posterior : tuple of float
        P(class | everything so far) after the answer.

    Examples
    --------
    >>> Answer("age", 47.0, 2, 0.01, 0.2, (0.3, 0.7)).price
    0.01
    """

    name: str
    value: float | str | None
    outcome: int
    price: float
    expected_saving: float
    posterior: tuple[float, ...]
