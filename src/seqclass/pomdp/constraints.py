"""Limits of what may be asked of a case, and how cases stand to rules of that."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol, TypeVar

from seqclass._utils.arrays import BoolArray, FloatArray, IntArray
from seqclass._utils.model_files import register
from seqclass._utils.prices_after import PriceAfter
from seqclass.pomdp.answer_rules import AnswerRules


class ConstraintStatus(NamedTuple):
    """How instances stand to rules.

    Attributes
    ----------
    allowed : ndarray of bool of shape (n, n_questions)
        Questions that rules leave open.
    serves : ndarray of bool of shape (n, n_questions)
        Questions that are among what has to be asked yet.
    must_continue : ndarray of bool of shape (n,)
        Where something has to be asked before anything is decided; what cannot be met any more, since answers were
        told that nobody asked for, is left out.
    must_continue_after : ndarray of bool of shape (n, n_questions)
        Where that is still so once the question was asked.
    """

    allowed: BoolArray
    serves: BoolArray
    must_continue: BoolArray
    must_continue_after: BoolArray


P = TypeVar("P", contravariant=True)
B = TypeVar("B", contravariant=True)


class Constraints(Protocol[P, B]):
    """What a problem asks of its rules: see `seqclass.pomdp.rules.QuestionRules`."""

    @property
    def answers(self) -> AnswerRules | None:
        """Which answers open others or imply them, by the features that questions show."""

    @property
    def prices(self) -> tuple[PriceAfter, ...]:
        """Where prices lie between the least and the full ones, by the features that questions show."""

    @property
    def has_requirements(self) -> bool:
        """Whether something has to be asked before anything is decided."""

    def check(self, problem: P) -> None:
        """Refuse what cannot be met in a problem."""

    def take(self, questions: IntArray) -> Constraints[P, B]:
        """The rules of some questions."""

    def status(self, belief: B) -> ConstraintStatus:
        """How cases stand to the rules."""

    def price_levels(self, belief: B) -> FloatArray | None:
        """Where prices that depend on answers lie between least and full ones, (n, n_questions); NaN elsewhere."""

    def lower_bound(self, belief: B) -> FloatArray:
        """No way of asking what has to be asked costs less, (n,)."""

    def upper_bound(self, belief: B) -> FloatArray:
        """Asking what has to be asked costs no more, (n,)."""


@register
@dataclass(frozen=True, eq=False)
class Limits:
    """What bounds what is asked of a case, whatever pays; None where nothing does.

    Attributes
    ----------
    max_questions : int or None
        Most questions that are asked, missing answers included.
    max_cost : float or None
        Most that is paid.
    rules : Constraints or None
        What may be asked, and what has to be.
    """

    max_questions: int | None = None
    max_cost: float | None = None
    rules: Constraints[Any, Any] | None = None
