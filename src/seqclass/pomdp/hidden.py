"""Hidden states beside the class, given which the answers are independent of one another."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING

import numpy as np

from seqclass._arrays import FloatArray, IntArray
from seqclass.pomdp.state_tables import StateTables

if TYPE_CHECKING:
    from seqclass.pomdp.information import InformationState


class Hidden(ABC):
    """The hidden states of a problem: each belongs to a class, and given it the answers are independent.

    What is known of a class alone may hide what is known of its states: a question that says nothing about the class
    may say which other question does. Ordering rules look here for it.

    Attributes
    ----------
    classes : ndarray of int of shape (n_hidden,)
        Class of each hidden state.

    Examples
    --------
    >>> import numpy as np
    >>> from seqclass.pomdp import MixtureProblem
    >>> tables = np.array([[[1.0, 0.0, 0.5], [0.0, 1.0, 0.5]]])  # a question, its two outcomes, three hidden states
    >>> problem = MixtureProblem([0.25, 0.25, 0.5], [0, 1, 1], tables, prices=0.1, free=True)
    >>> problem.hidden.probability(problem.begin())
    array([[0.25, 0.25, 0.5 ]])
    """

    classes: IntArray

    @abstractmethod
    def probability(self, info: InformationState) -> FloatArray:
        """P(hidden state | what was seen), (n, n_hidden)."""

    @abstractmethod
    def likelihoods_of(self, questions: IntArray) -> FloatArray:
        """P(outcome | hidden state) of some questions, (m, V, n_hidden); zero beyond a question's own outcomes."""

    def tables_of(self, questions: IntArray) -> tuple[StateTables, IntArray]:
        """Tables of these questions or more class by class, which may have been laid out before, and where they are.

        Parameters
        ----------
        questions : ndarray of int of shape (m,)
            The questions, each once.

        Returns
        -------
        tables : StateTables
        places : ndarray of int of shape (m,)
        """
        members: list[IntArray] = [np.flatnonzero(self.classes == c) for c in range(int(self.classes.max()) + 1)]
        return StateTables(questions, self.likelihoods_of(questions), members), np.arange(len(questions))
