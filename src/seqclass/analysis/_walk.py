"""The walk behind every analysis: along all histories that a policy can meet, or along sampled ones."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, Protocol, TypeVar

import numpy as np

from seqclass._utils.arrays import FloatArray
from seqclass._utils.validation import check_choice, check_integer
from seqclass.pomdp import Policy
from seqclass.pomdp.answers import Answers
from seqclass.pomdp.evaluation import MAX_HISTORIES as MAX_HISTORIES
from seqclass.pomdp.problem import AcquisitionProblem
from seqclass.pomdp.walk import ALL, along, enumerated_or_sampled
from seqclass.pomdp.walk import Level as Level

METHODS = ("auto", "exact", "simulation")


class Tally(Protocol):
    """What an analysis keeps of the levels."""

    def add(self, level: Level) -> None:
        """Take in the next stage; weights are probabilities."""


T = TypeVar("T", bound=Tally)
R = TypeVar("R")


@dataclass(frozen=True)
class Effort:
    """How to walk; the arguments that the analyses share."""

    method: str
    n_paths: int
    max_histories: int
    random_state: Any

    def __post_init__(self) -> None:
        check_choice(self.method, "method", METHODS)
        check_integer(self.n_paths, "n_paths", 1)
        check_integer(self.max_histories, "max_histories", 1)

    def run(self, run: Callable[[Answers, float], R]) -> tuple[R, str]:
        """Enumerate, or sample where that is too much; return the result and which of the two it was."""

        def told(answers: Answers, most: float) -> tuple[R, str]:
            return run(answers, most), "exact" if answers is ALL else "simulation"

        return enumerated_or_sampled(told, self.method, self.max_histories, self.random_state)

    def total(self, answers: Answers) -> float:
        """Sum of the weights of a walk: its paths where they are sampled."""
        return 1.0 if answers is ALL else float(self.n_paths)


def collect(problem: AcquisitionProblem, policy: Policy, tally: Callable[[], T], effort: Effort) -> tuple[T, str]:
    """Show a new tally each stage of the walk; return it with the method that served."""

    def run(answers: Answers, max_histories: float) -> T:
        kept, total = tally(), effort.total(answers)
        for level in along(problem, policy, total, answers, max_histories):
            kept.add(replace(level, weight=level.weight / total))
        return kept

    return effort.run(run)


def ratio(total: FloatArray, weight: FloatArray) -> FloatArray:
    """Mean where there is weight, NaN elsewhere."""
    return np.asarray(
        np.divide(total, weight, out=np.full(np.broadcast(total, weight).shape, np.nan), where=weight > 0)
    )
