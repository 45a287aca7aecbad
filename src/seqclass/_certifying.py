"""What `certify_error` is made of: a risk of decided rows, and ladders of stopping rules to test it on."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING

import numpy as np

from seqclass._arrays import FloatArray, IntArray
from seqclass._record import EncodedRows
from seqclass._validation import check_choice, check_integer
from seqclass.pomdp import AcquisitionProblem, Policy, acquire
from seqclass.pomdp.solvers.base import uncertified
from seqclass.pomdp.sweeps.ladder import LadderRun, StopWhenSure, run_ladder
from seqclass.pomdp.sweeps.solving import solve_sweep
from seqclass.statistics.risk import (
    binomial_p_value,
    binomial_upper_bound,
    hoeffding_bentkus_p_value,
    hoeffding_bentkus_upper_bound,
)

if TYPE_CHECKING:
    from seqclass.classifier import SequentialClassifier

#: Rungs of a ladder of beliefs; the surest stops where the model expects this part of the errors that are allowed.
N_BELIEFS, _SUREST = 40, 0.1
#: Rungs of a ladder of prices, and by how much at most prices are divided and multiplied.
N_PRICES, _WIDEST = 13, 16.0
#: Most questions of the safest rule, unless the user says so.
MOST_QUESTIONS = 200


class Ladder(ABC):
    """Stopping rules along one policy's questions, those that ask most first.

    Parameters
    ----------
    clf : SequentialClassifier
        A fitted classifier.
    n_rungs : int or None
        Number of rules.
    most : int or None
        Most questions.
    alpha : float
        Risk that is to be certified.
    """

    #: What tells the rules apart.
    values: FloatArray
    #: Most questions that any of them asks.
    longest: int

    @abstractmethod
    def __init__(self, clf: SequentialClassifier, n_rungs: int | None, most: int | None, alpha: float) -> None:
        """Make the rules."""

    @abstractmethod
    def run(self, rows: EncodedRows) -> LadderRun:
        """Run all rules on encoded rows."""

    @abstractmethod
    def policy(self, rung: int) -> Policy:
        """One of the rules."""


class BeliefLadder(Ladder):
    """Stops once deciding is expected to cost little enough: a row a walk, and all rules in it."""

    def __init__(self, clf: SequentialClassifier, n_rungs: int | None, most: int | None, alpha: float) -> None:
        self.clf, self.most = clf, MOST_QUESTIONS if most is None else most
        self.longest = min(self.most, clf.problem_.n_stages)
        costs = clf.problem_.decision_costs
        at_once = max(float(clf.problem_.begin().stopping_cost[0]), np.finfo(float).tiny)
        # a surer rule asks for more on the word of the model alone, which then is mostly too sure of itself
        surest = min(_SUREST * alpha * float(costs[costs > 0].min(initial=np.inf)), at_once / 2)
        self.values = np.geomspace(surest, at_once, N_BELIEFS if n_rungs is None else n_rungs)

    def run(self, rows: EncodedRows) -> LadderRun:
        how = {"columns": rows.columns, "charge_missing": self.clf.charge_missing, "keys": rows.keys}
        return run_ladder(self.clf.policy_, rows.codes, self.values, max_questions=self.most, **how)

    def policy(self, rung: int) -> Policy:
        return StopWhenSure(self.clf.policy_, float(self.values[rung]), self.most)


class PriceLadder(Ladder):
    """Solves for multiples of the prices."""

    def __init__(self, clf: SequentialClassifier, n_rungs: int | None, most: int | None, alpha: float) -> None:
        self.clf, problem = clf, clf.problem_
        self.values = np.geomspace(1 / _WIDEST, _WIDEST, N_PRICES if n_rungs is None else n_rungs)
        self.policies: list[Policy] = list(solve_sweep(uncertified(clf._solver()), problem, self.values).policies)
        self.longest = max(policy.n_stages for policy in self.policies)

    def run(self, rows: EncodedRows) -> LadderRun:
        how = {"columns": rows.columns, "charge_missing": self.clf.charge_missing, "keys": rows.keys}
        columns = []
        for policy in self.policies:
            done = acquire(policy, rows.codes, **how)
            answered = (done.leaf_outcome >= 0).sum(axis=1)
            columns.append([found[done.leaf] for found in (done.leaf_decision, done.leaf_price, answered)])
        decision, price, answered = (np.stack(kind, axis=1) for kind in zip(*columns))
        return LadderRun(decision, price, answered)

    def policy(self, rung: int) -> Policy:
        return self.policies[rung]


#: What a ladder may go by.
LADDERS: dict[str, type[Ladder]] = {"belief": BeliefLadder, "price": PriceLadder}


def made_ladder(
    clf: SequentialClassifier, ladder: str, n_rungs: int | None, max_features: int | None, alpha: float
) -> Ladder:
    """Check the settings of a ladder, and make it."""
    check_choice(ladder, "ladder", tuple(LADDERS))
    if n_rungs is not None:
        check_integer(n_rungs, "n_rungs", 1, 10_000)
    if max_features is not None:
        check_integer(max_features, "max_features", 1)
        if ladder != "belief":
            raise ValueError('max_features is for ladder="belief"; fit with max_features for a ladder of prices.')
    return LADDERS[ladder](clf, n_rungs, max_features, alpha)


class Risk(ABC):
    """A mean loss of rows, and what a number of them says of it.

    Parameters
    ----------
    problem : AcquisitionProblem
        What the rows are decided in.
    longest : int
        Most questions asked of a row.
    """

    #: Highest loss that a row can have.
    highest = 1.0

    def __init__(self, problem: AcquisitionProblem, longest: int) -> None:
        self.n_classes = problem.n_classes

    @abstractmethod
    def losses(self, codes: IntArray, run: LadderRun) -> FloatArray:
        """Loss of each row under each rule, (n, n_rules), between 0 and 1 once divided by `highest`."""

    @abstractmethod
    def p_value(self, total: float, n: int, alpha: float) -> float:
        """P-value of "the mean is above alpha"."""

    @abstractmethod
    def bound(self, total: float, n: int, delta: float) -> float:
        """Upper confidence bound of the mean."""


class ErrorRisk(Risk):
    """Share of rows that are decided for a wrong class."""

    def losses(self, codes: IntArray, run: LadderRun) -> FloatArray:
        wrong = (run.decision != codes[:, None]) & (run.decision < self.n_classes)
        return np.asarray(wrong, dtype=np.float64)

    def p_value(self, total: float, n: int, alpha: float) -> float:
        return binomial_p_value(round(total), n, alpha)

    def bound(self, total: float, n: int, delta: float) -> float:
        return binomial_upper_bound(round(total), n, delta)


class CostRisk(Risk):
    """Prices paid and the cost of the decision."""

    def __init__(self, problem: AcquisitionProblem, longest: int) -> None:
        super().__init__(problem, longest)
        self.costs = problem.decision_costs
        dearest = float(np.sort(problem.full_prices)[::-1][:longest].sum())
        if problem.max_cost is not None:
            dearest = min(dearest, float(problem.max_cost))
        self.highest = float(self.costs.max()) + dearest

    def losses(self, codes: IntArray, run: LadderRun) -> FloatArray:
        return np.asarray(run.price + self.costs[codes[:, None], run.decision])

    def p_value(self, total: float, n: int, alpha: float) -> float:
        return hoeffding_bentkus_p_value(self._mean(total, n), n, min(1.0, alpha / self.highest))

    def bound(self, total: float, n: int, delta: float) -> float:
        return self.highest * hoeffding_bentkus_upper_bound(self._mean(total, n), n, delta)

    def _mean(self, total: float, n: int) -> float:
        return min(1.0, max(0.0, total / n / self.highest))


#: What may be certified; of the sensitivity it is the share of the class that is missed.
RISKS: dict[str, type[Risk]] = {"error": ErrorRisk, "sensitivity": ErrorRisk, "cost": CostRisk}
