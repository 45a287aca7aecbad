"""The walk behind every analysis: along all histories that a policy can meet, or along sampled ones."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Protocol, TypeVar

import numpy as np

from seqclass._utils.arrays import FloatArray
from seqclass.pomdp import Policy
from seqclass.pomdp.observations import ObservationSource
from seqclass.pomdp.problem import AcquisitionProblem, BeliefState
from seqclass.pomdp.walk import ALL, walk_policy
from seqclass.pomdp.walk import MAX_HISTORIES as MAX_HISTORIES
from seqclass.pomdp.walk import Level as Level
from seqclass.pomdp.walk import Simulation as Simulation


class Tally(Protocol):
    """What an analysis keeps of the levels."""

    def add(self, level: Level) -> None:
        """Take in the next stage; weights are probabilities."""


T = TypeVar("T", bound=Tally)


def collect(
    problem: AcquisitionProblem,
    policy: Policy,
    tally: Callable[[], T],
    simulation: Simulation,
    start: tuple[BeliefState, FloatArray] | None = None,
) -> tuple[T, str]:
    """Show a new tally each stage of the walk, from some beliefs or how cases begin, and return how it was gone."""

    def run(answers: ObservationSource, max_histories: float) -> tuple[T, str]:
        kept, total = tally(), simulation.total(answers)
        for level in walk_policy(problem, policy, total, answers, max_histories, start):
            kept.add(replace(level, weight=level.weight / total))
        return kept, "exact" if answers is ALL else "simulation"

    return simulation.run(run)


def ratio(total: FloatArray, weight: FloatArray) -> FloatArray:
    """Mean where there is weight, NaN elsewhere."""
    return np.asarray(
        np.divide(total, weight, out=np.full(np.broadcast(total, weight).shape, np.nan), where=weight > 0)
    )
