"""Simple policies to compare with; they need no tables and plan little or not at all."""

from __future__ import annotations

import time
from abc import abstractmethod
from typing import TYPE_CHECKING, Any

import numpy as np

from seqclass._utils.arrays import IntArray
from seqclass._utils.text import shown
from seqclass._utils.validation import check_integer, check_real
from seqclass.pomdp.along import first_open
from seqclass.pomdp.policy import DECIDE, Policy
from seqclass.pomdp.problem import TIE, AcquisitionProblem, InformationState
from seqclass.pomdp.solvers.base import Solver, certified

if TYPE_CHECKING:
    from seqclass.pomdp.solvers.ordering.base import OrderingRule


class Rule(Solver):
    """A solver that looks at nothing but its settings: the policy is written down, then certified.

    Parameters
    ----------
    certificate_paths : int
        Sampled paths of the certificate where it is not exact; 0 leaves it out.
    random_state : int, generator or None
        Seed of the certificate.

    Examples
    --------
    >>> import numpy as np
    >>> from seqclass.pomdp import TableProblem, DecideNow
    >>> issubclass(DecideNow, Rule)
    True
    """

    def __init__(self, *, certificate_paths: int = 10_000, random_state: Any = 0) -> None:
        self.certificate_paths = certificate_paths
        self.random_state = random_state

    @abstractmethod
    def _policy(self, problem: AcquisitionProblem) -> Policy:
        """The rule as a policy."""

    def solve(self, problem: AcquisitionProblem) -> Policy:
        """Write the rule down as a policy of the problem; see `Solver.solve`."""
        started = time.perf_counter()
        check_integer(self.certificate_paths, "certificate_paths", 0)
        policy = self._policy(problem)
        policy = policy.with_info(n_stages=policy.n_stages, seconds=time.perf_counter() - started)
        return certified(policy, self.certificate_paths, self.random_state)


class FirstK(Rule):
    """Asks the first ``k`` questions of the order, or those that an ordering rule puts first, whatever they show.

    Parameters
    ----------
    k : int
        Number of features.
    rule : OrderingRule, optional
        Which question comes next, such as `ClassInformation()`; for problems in which any may. By default the open one
        of lowest number.
    certificate_paths : int
        Sampled paths of the certificate where it is not exact; 0 leaves it out.
    random_state : int, generator or None
        Seed of the certificate.

    Examples
    --------
    >>> import numpy as np
    >>> from seqclass.pomdp import FirstK, TableProblem, evaluate
    >>> problem = TableProblem([0.5, 0.5], np.array([[[0.9, 0.2], [0.1, 0.8]]] * 3), prices=0.1)
    >>> evaluate(problem, FirstK(2).solve(problem)).n_features
    2.0

    Two questions of each instance, by what the answers so far make worth asking:

    >>> from seqclass.pomdp import ClassInformation
    >>> sensors = np.array([[[0.6, 0.5], [0.4, 0.5]], [[0.9, 0.2], [0.1, 0.8]]])
    >>> policy = FirstK(2, rule=ClassInformation()).solve(TableProblem([0.5, 0.5], sensors, prices=0.1, free=True))
    >>> policy.act(policy.problem.begin())
    array([1])
    """

    def __init__(
        self, k: int = 1, *, rule: OrderingRule | None = None, certificate_paths: int = 10_000, random_state: Any = 0
    ) -> None:
        super().__init__(certificate_paths=certificate_paths, random_state=random_state)
        self.k = k
        self.rule = rule

    def _policy(self, problem: AcquisitionProblem) -> Policy:
        return FixedLengthPolicy(problem, min(check_integer(self.k, "k", 0), problem.n_stages), self.rule)


class DecideNow(Rule):
    """Decides from the prior and asks for nothing.

    Parameters
    ----------
    certificate_paths : int
        Sampled paths of the certificate where it is not exact; 0 leaves it out.
    random_state : int, generator or None
        Seed of the certificate.

    Examples
    --------
    >>> import numpy as np
    >>> from seqclass.pomdp import DecideNow, TableProblem
    >>> problem = TableProblem([0.5, 0.5], np.array([[[0.9, 0.2], [0.1, 0.8]]]), prices=0.1)
    >>> DecideNow().solve(problem).info.upper
    0.5
    """

    def _policy(self, problem: AcquisitionProblem) -> Policy:
        return FixedLengthPolicy(problem, 0)


class AcquireAll(Rule):
    """Asks for every feature, then decides: with a budget of features, for as many as there may be.

    Parameters
    ----------
    rule : OrderingRule, optional
        Which question comes next, such as `ClassInformation()`; for problems in which any may. By default the open one
        of lowest number.
    certificate_paths : int
        Sampled paths of the certificate where it is not exact; 0 leaves it out.
    random_state : int, generator or None
        Seed of the certificate.

    Examples
    --------
    >>> import numpy as np
    >>> from seqclass.pomdp import AcquireAll, TableProblem, evaluate
    >>> problem = TableProblem([0.5, 0.5], np.array([[[0.9, 0.2], [0.1, 0.8]]] * 3), prices=0.1)
    >>> evaluate(problem, AcquireAll().solve(problem)).n_features
    3.0
    """

    def __init__(
        self, *, rule: OrderingRule | None = None, certificate_paths: int = 10_000, random_state: Any = 0
    ) -> None:
        super().__init__(certificate_paths=certificate_paths, random_state=random_state)
        self.rule = rule

    def _policy(self, problem: AcquisitionProblem) -> Policy:
        return FixedLengthPolicy(problem, problem.n_stages, self.rule)


class PosteriorThreshold(Rule):
    """Asks until one class is likely enough; prices play no part.

    Parameters
    ----------
    threshold : float
        It stops once the largest posterior of a class reaches this.
    rule : OrderingRule, optional
        Which question comes next, such as `ClassInformation()`; for problems in which any may. By default the open one
        of lowest number.
    certificate_paths : int
        Sampled paths of the certificate where it is not exact; 0 leaves it out.
    random_state : int, generator or None
        Seed of the certificate.

    Examples
    --------
    >>> import numpy as np
    >>> from seqclass.pomdp import PosteriorThreshold, TableProblem, evaluate
    >>> problem = TableProblem([0.5, 0.5], np.array([[[0.9, 0.2], [0.1, 0.8]]] * 2), prices=0.1)
    >>> evaluate(problem, PosteriorThreshold(0.85).solve(problem)).stage  # .9 / 1.1 is below, .8 / .9 above
    array([0.  , 0.45, 0.55])
    """

    def __init__(
        self,
        threshold: float = 0.95,
        *,
        rule: OrderingRule | None = None,
        certificate_paths: int = 10_000,
        random_state: Any = 0,
    ) -> None:
        super().__init__(certificate_paths=certificate_paths, random_state=random_state)
        self.threshold = threshold
        self.rule = rule

    def _policy(self, problem: AcquisitionProblem) -> Policy:
        return PosteriorThresholdPolicy(problem, check_real(self.threshold, "threshold", 0, 1), self.rule)


class _Asking(Policy):
    """A policy that asks in the order of the problem, or by an ordering rule."""

    #: Files of former versions do not have it.
    rule: OrderingRule | None = None

    def __init__(
        self, problem: AcquisitionProblem, n_stages: int | None = None, rule: OrderingRule | None = None
    ) -> None:
        super().__init__(problem, n_stages)
        if rule is not None:
            if not callable(getattr(rule, "next", None)):
                raise TypeError(f"rule must be an ordering rule such as ClassInformation(), got {shown(rule)}.")
            if not problem.free:
                raise ValueError(
                    f"rule={rule!r} needs a problem in which any question may come next: make it with free=True (a "
                    'classifier with order="adaptive"), or leave out the rule.'
                )
            rule.check(problem)
        self.rule = rule

    def following(self, info: InformationState) -> IntArray:
        """What the order or the rule puts next, (n,), a rule beyond the horizon too; see `Policy.following`."""
        if info.stage >= self.n_stages and (self.rule is None or info.stage >= self.problem.n_stages):
            return np.full(len(info), DECIDE)
        return self._next(info)

    def _next(self, info: InformationState) -> IntArray:
        return first_open(info) if self.rule is None else self.rule.next(info)


class FixedLengthPolicy(_Asking):
    """Asks for the features before its horizon.

    Parameters
    ----------
    problem : AcquisitionProblem
        The problem it acts on.
    n_stages : int
        Number of features.
    rule : OrderingRule, optional
        Which question comes next, such as `ClassInformation()`; for problems in which any may. By default the open one
        of lowest number.

    Examples
    --------
    >>> import numpy as np
    >>> from seqclass.pomdp import TableProblem
    >>> problem = TableProblem([0.5, 0.5], np.array([[[0.9, 0.2], [0.1, 0.8]]]), prices=0.1)
    >>> FixedLengthPolicy(problem, 0).act(problem.begin())
    array([-1])
    """

    def _act(self, info: InformationState) -> IntArray:
        return self._next(info)


class PosteriorThresholdPolicy(_Asking):
    """Stops once the largest posterior reaches a threshold.

    Parameters
    ----------
    problem : AcquisitionProblem
        The problem it acts on.
    threshold : float
        The threshold.
    rule : OrderingRule, optional
        Which question comes next, such as `ClassInformation()`; for problems in which any may. By default the open one
        of lowest number.

    Examples
    --------
    >>> import numpy as np
    >>> from seqclass.pomdp import TableProblem
    >>> problem = TableProblem([0.5, 0.5], np.array([[[0.9, 0.2], [0.1, 0.8]]]), prices=0.1)
    >>> PosteriorThresholdPolicy(problem, 0.9).act(problem.begin())
    array([0])
    """

    def __init__(self, problem: AcquisitionProblem, threshold: float, rule: OrderingRule | None = None) -> None:
        super().__init__(problem, None, rule)
        self.threshold = threshold

    def _act(self, info: InformationState) -> IntArray:
        question = np.full(len(info), DECIDE)
        unsure = np.flatnonzero(info.belief.max(axis=1) < self.threshold - TIE)
        if unsure.size:
            question[unsure] = self._next(info[unsure])
        return question
