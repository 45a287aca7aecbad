"""The walk behind every analysis: along all histories that a policy can meet, or along sampled ones."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol, TypeVar

import numpy as np

from seqclass._arrays import BoolArray, FloatArray, as_generator
from seqclass._validation import check_choice, check_integer
from seqclass.pomdp import DECIDE, InformationState, Policy
from seqclass.pomdp.evaluation import MAX_HISTORIES as MAX_HISTORIES
from seqclass.pomdp.evaluation import check_feature
from seqclass.pomdp.problem import AcquisitionProblem
from seqclass.pomdp.walk import TooLarge, begin, branch

METHODS = ("auto", "exact", "simulation")


@dataclass(frozen=True)
class Level:
    """All distinct histories of one stage: what is known, P(history), prices paid, and where the policy goes on."""

    info: InformationState
    weight: FloatArray
    paid: FloatArray
    go_on: BoolArray

    @property
    def stage(self) -> int:
        """Number of features asked so far."""
        return self.info.stage


class Tally(Protocol):
    """What an analysis keeps of the levels."""

    def add(self, level: Level) -> None:
        """Take in the next stage."""


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

    def run(self, walk: Callable[[np.random.Generator | None, float], R]) -> tuple[R, str]:
        """Enumerate, or sample where that is too much; return the result and which of the two it was."""
        if self.method != "simulation":
            try:
                return walk(None, self.max_histories), "exact"
            except TooLarge:
                if self.method == "exact":
                    raise
        return walk(as_generator(self.random_state), np.inf), "simulation"


def collect(problem: AcquisitionProblem, policy: Policy, tally: Callable[[], T], effort: Effort) -> tuple[T, str]:
    """Show a new tally each stage of the walk; return it with the method that served."""

    def walk(rng: np.random.Generator | None, max_histories: float) -> T:
        return _walk(problem, policy, tally(), rng, effort.n_paths, max_histories)

    return effort.run(walk)


def _walk(
    problem: AcquisitionProblem,
    policy: Policy,
    tally: T,
    rng: np.random.Generator | None,
    n_paths: int,
    max_histories: float,
) -> T:
    total = 1.0 if rng is None else float(n_paths)
    info, weight = begin(problem, policy, total, rng)
    paid, visited = np.zeros(len(info)), 1
    while len(info):
        feature = policy.act(info)
        go_on = feature != DECIDE
        check_feature(problem, info.stage, feature[go_on])
        tally.add(Level(info, weight / total, paid, go_on))
        on = np.flatnonzero(go_on)
        if not on.size:
            break
        info, weight = info[on], weight[on]
        parent, outcome, share = branch(info, weight, rng)
        visited += parent.size
        if visited > max_histories:
            raise TooLarge(max_histories)
        paid = (paid[on] + info.price)[parent]
        info, weight = info.update(outcome, parent), share
    return tally


def ratio(total: FloatArray, weight: FloatArray) -> FloatArray:
    """Mean where there is weight, NaN elsewhere."""
    return np.asarray(
        np.divide(total, weight, out=np.full(np.broadcast(total, weight).shape, np.nan), where=weight > 0)
    )
