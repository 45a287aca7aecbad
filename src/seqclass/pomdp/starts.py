"""How cases begin of which something is known before the first question."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from seqclass._utils.arrays import FloatArray, IntArray
from seqclass._utils.model_files import register
from seqclass._utils.stored import require, require_array, require_numbers
from seqclass._utils.validation import check_distribution
from seqclass.pomdp.answer_rules import AnswerRules

__all__ = ["Starts"]


@register
@dataclass(frozen=True, eq=False)
class Starts:
    """Cases as they begin, once what is known before the first question was seen; costs are means over them.

    Attributes
    ----------
    weight : ndarray of shape (n_starts,)
        Share of all cases that begin so; the shares sum to one.
    belief : ndarray of shape (n_starts, n_classes)
        P(class | what is known).
    features : ndarray of int of shape (n_known,)
        Features of the model that are known; no question shows one of them.
    outcomes : ndarray of int of shape (n_starts, n_known)
        What they showed, -1 where missing.
    state : ndarray with a row a start, or None
        The problem's own state; None where the problem works it out from the outcomes.
    answers : AnswerRules or None
        Which outcomes of these close other questions, or imply their answers.

    Examples
    --------
    >>> import numpy as np
    >>> from seqclass.pomdp import TableProblem, optimal_cost
    >>> problem = TableProblem([0.5, 0.5], np.array([[[0.9, 0.2], [0.1, 0.8]]]), prices=0.1)
    >>> beliefs = np.array([[0.9, 0.1], [0.1, 0.9]])
    >>> nothing = np.empty((2, 0), dtype=int)
    >>> starts = Starts(np.array([0.5, 0.5]), beliefs, np.empty(0, dtype=int), nothing, problem.start(2))
    >>> round(optimal_cost(problem), 3), round(optimal_cost(problem.replace(starts=starts)), 3)
    (0.25, 0.1)
    """

    weight: FloatArray
    belief: FloatArray
    features: IntArray
    outcomes: IntArray
    state: Any = None
    answers: AnswerRules | None = None

    def with_prior(self, before: FloatArray, prior: FloatArray) -> Starts:
        """Starts under another class prior: as likely as this has it, and believed so."""
        odds = np.divide(prior, before, out=np.zeros_like(prior), where=before > 0)
        joint = self.weight[:, None] * self.belief * odds
        total = joint.sum(axis=1)
        share = np.where(total > 0, total, 1.0)[:, None]
        belief = np.where(total[:, None] > 0, joint / share, prior)
        return replace(self, weight=total / total.sum(), belief=belief)

    def _check_stored(self) -> None:
        n = len(check_distribution(require_numbers(self, "weight", None), None, "weight"))
        belief = require_numbers(self, "belief", n, None, low=0)
        require(np.allclose(belief.sum(axis=1), 1), "beliefs at the start are none")
        features = require_array(self, "features", "i", None, low=0)
        require(len(np.unique(features)) == len(features), "a feature is known twice")
        require_array(self, "outcomes", "i", n, len(features))
        require(isinstance(self.answers, (AnswerRules, type(None))), "answers at the start are of another kind")
