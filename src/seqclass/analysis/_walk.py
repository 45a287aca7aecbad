"""The walk behind every analysis: along all histories that a policy can meet, or along sampled ones."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import TypeVar

import numpy as np

from seqclass._utils.arrays import FloatArray
from seqclass.pomdp import Policy
from seqclass.pomdp.observations import ObservationSource
from seqclass.pomdp.problem import AcquisitionProblem, BeliefState
from seqclass.pomdp.walk import ALL, walk_policy
from seqclass.pomdp.walk import MAX_HISTORIES as MAX_HISTORIES
from seqclass.pomdp.walk import Level as Level
from seqclass.pomdp.walk import Simulation as Simulation

T = TypeVar("T")


def collect(
    problem: AcquisitionProblem,
    policy: Policy,
    summarise: Callable[[Iterator[Level]], T],
    simulation: Simulation,
    start: tuple[BeliefState, FloatArray] | None = None,
) -> tuple[T, str]:
    """Sum up the stages of the walk, from some beliefs or how cases begin, by their probabilities; and how it went."""

    def run(answers: ObservationSource, max_histories: float) -> tuple[T, str]:
        total = simulation.total(answers)
        levels = walk_policy(problem, policy, total, answers, max_histories, start)
        summary = summarise(replace(level, weight=level.weight / total) for level in levels)
        return summary, "exact" if answers is ALL else "simulation"

    return simulation.run(run)


def ratio(total: FloatArray, weight: FloatArray) -> FloatArray:
    """Mean where there is weight, NaN elsewhere."""
    mean = np.full(np.broadcast(total, weight).shape, np.nan)
    return np.asarray(np.divide(total, weight, out=mean, where=weight > 0))
