"""How cases stand to rules of what may be asked, and what has to be."""

from __future__ import annotations

from typing import NamedTuple

from seqclass._utils.arrays import BoolArray

__all__: list[str] = []


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
