"""The acquisition problem: a staged process that buys features one at a time."""

from __future__ import annotations

import copy
from abc import ABC, abstractmethod
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from seqclass._arrays import BoolArray, FloatArray, IntArray, lower_envelope, row_sums
from seqclass._validation import check_costs, check_distribution

#: Costs that differ by less than this share of themselves are a tie, so that batch size and BLAS change no answer. They
#: are sums of what is not negative, so each is rounded by a share of itself; one of the dearest decision hides others.
TIE = 1e-12


class AcquisitionProblem(ABC):
    """A sequential acquisition problem with a fixed order of features.

    At stage ``k`` the features of stages ``0..k-1`` have been asked; the decision maker stops, at the stopping cost
    ``g(belief) = min_j belief @ decision_costs[:, j]``, or pays for the feature of stage ``k``.
    What the next likelihood looks at, beyond the belief, is an opaque *state* that the problem keeps, one row an
    instance; any object that can be indexed by an array of row numbers will do.

    Subclasses give `start`, `likelihood` and `advance`; those with finitely many states also `contexts`,
    `successor_contexts` and `context_likelihood`, which is what "has tables" means.

    Parameters
    ----------
    prior : array-like of shape (n_classes,)
        P(class) before anything is acquired.
    prices : array-like of shape (n_stages,)
        Price of each stage's feature, in units of misclassification cost.
    n_outcomes : array-like of int of shape (n_stages,)
        Number of outcomes of each stage's feature.
    decision_costs : array-like of shape (n_classes, n_decisions)
        Cost of each decision when each class is true.
    features : array-like of int of shape (n_stages,), optional
        The feature that each stage asks for; by default feature ``k`` at stage ``k``.
    groups : array-like of int of shape (n_stages,), optional
        Group of each stage's feature, -1 for none. The first feature of a group that is acquired costs its full price.
    full_prices : array-like of shape (n_stages,), optional
        Full price of each stage's feature, read where no feature of its group has been acquired before.

    Attributes
    ----------
    perfect_cost : ndarray of shape (n_classes,)
        Cost of the best decision if the class were known: ``min_j decision_costs[:, j]``.

    Examples
    --------
    >>> import numpy as np
    >>> class Coin(AcquisitionProblem):
    ...     def start(self, n):
    ...         return np.zeros(n)
    ...     def likelihood(self, stage, state):
    ...         return np.tile([[0.9, 0.2], [0.1, 0.8]], (len(state), 1, 1))
    ...     def advance(self, stage, state, outcome):
    ...         return state
    >>> problem = Coin([0.5, 0.5], prices=[0.1], n_outcomes=[2], decision_costs=1 - np.eye(2))
    >>> problem.stopping_cost(problem.prior), problem.begin().predictive
    (array(0.5), array([[0.55, 0.45]]))
    """

    def __init__(
        self,
        prior: npt.ArrayLike,
        prices: npt.ArrayLike,
        n_outcomes: npt.ArrayLike,
        decision_costs: npt.ArrayLike,
        features: npt.ArrayLike | None = None,
        groups: npt.ArrayLike | None = None,
        full_prices: npt.ArrayLike | None = None,
    ) -> None:
        self.prior = check_distribution(prior, None, "prior")
        self.prices = check_costs(prices, "prices")
        if self.prices.ndim != 1:
            raise ValueError(f"prices must be a vector, one price a stage, got shape {self.prices.shape}.")
        self.decision_costs = check_costs(decision_costs, "decision_costs")
        if self.decision_costs.ndim != 2 or self.decision_costs.shape[0] != self.n_classes or not self.n_decisions:
            raise ValueError(
                "decision_costs must have one row a class and one column a decision, here "
                f"{self.n_classes} rows; got shape {self.decision_costs.shape}."
            )
        shape = (self.n_stages,)
        self.n_outcomes = np.array(n_outcomes, dtype=np.intp)
        self.features = np.arange(self.n_stages) if features is None else np.array(features, dtype=np.intp)
        self.groups = None if groups is None else np.array(groups, dtype=np.intp)
        for name in ("n_outcomes", "features", "groups"):
            value = getattr(self, name)
            if value is not None and value.shape != shape:
                raise ValueError(f"{name} must have one entry a stage, {shape}, got {value.shape}.")
        if self.n_stages and self.n_outcomes.min() < 1:
            raise ValueError("n_outcomes must be at least 1 at every stage.")
        self.full_prices = self.prices if full_prices is None else check_costs(full_prices, "full_prices", shape)
        if (self.full_prices < self.prices).any():
            raise ValueError("full_prices must not be below prices: a discount cannot raise a price.")
        self.perfect_cost: FloatArray = self.decision_costs.min(axis=1)

    @property
    def n_stages(self) -> int:
        """Number of features in the order."""
        return int(self.prices.size)

    @property
    def n_classes(self) -> int:
        """Number of classes."""
        return int(self.prior.size)

    @property
    def n_decisions(self) -> int:
        """Number of decisions; the first ones are the classes."""
        return int(self.decision_costs.shape[1])

    @property
    def has_tables(self) -> bool:
        """Whether the states are finitely many and numbered by `contexts`."""
        return False

    @property
    def has_contexts(self) -> bool:
        """Whether `contexts` numbers the rows, even where a stage has one context only."""
        return self.contexts(0, self.start(1)) is not None

    @abstractmethod
    def start(self, n: int) -> Any:
        """State of ``n`` instances before anything is acquired."""

    @abstractmethod
    def likelihood(self, stage: int, state: Any) -> FloatArray:
        """P(outcome of the stage's feature | what was seen, class), shape (n, n_outcomes, n_classes)."""

    @abstractmethod
    def advance(self, stage: int, state: Any, outcome: IntArray) -> Any:
        """State after the stage's feature showed ``outcome`` (n,); -1 is missing."""

    def state_in(self, stage: int, context: int = 0) -> Any:
        """State of one instance in a context, as if all features that the context does not tell had been missing."""
        state = self.start(1)
        for earlier in range(stage):
            state = self.advance(earlier, state, np.full(1, -1))
        return state

    def n_contexts(self, stage: int) -> int:
        """Number of distinct contexts at a stage."""
        return 1

    def contexts(self, stage: int, state: Any) -> IntArray | None:
        """Context number of each row, or None where one context serves all."""
        return None

    def successor_contexts(self, stage: int, context: IntArray | None) -> IntArray | None:
        """Context at the next stage for each outcome, shape (n, n_outcomes); None where there is one."""
        return None

    def context_likelihood(self, stage: int, context: IntArray | None) -> FloatArray:
        """Likelihood of rows given by their context number: (n, V, C), or (1, V, C) if there is one context.

        Raises
        ------
        NotImplementedError
            If the problem has no tables.
        """
        raise NotImplementedError(f"{type(self).__name__} has no tables.")

    def projection(self, max_contexts: int) -> AcquisitionProblem | None:
        """Return a problem with tables that stands in for this one, None if there is none.

        It remembers of what was seen only enough for ``max_contexts`` contexts a stage; its `contexts` reads the states
        of this problem as well as its own.
        """
        return None

    def answers(self, stage: int, state: Any) -> IntArray | None:
        """Outcomes seen so far that the stage or later ones depend on, (n, m), -1 where missing; None if not told."""
        return None

    def successor_answers(self, stage: int, answers: IntArray) -> IntArray:
        """What `answers` gives at the next stage after each outcome, (n, n_outcomes, m)."""
        raise NotImplementedError(f"{type(self).__name__} does not tell its answers.")

    def replace(self, **changes: Any) -> AcquisitionProblem:
        """Return the same problem with some arrays replaced, and what follows from them with it; nothing is checked.

        Parameters
        ----------
        **changes
            New values of attributes, such as ``prior``, ``prices``, ``full_prices`` or ``decision_costs``.

        Returns
        -------
        AcquisitionProblem
            Shares everything else.
        """
        other = copy.copy(self)
        other.__dict__.update(changes)
        other.perfect_cost = other.decision_costs.min(axis=1)
        return other

    def stopping_cost(self, belief: FloatArray) -> FloatArray:
        """``g(belief)``: cost of the best decision now, (n,); linear in the scale of ``belief``."""
        return lower_envelope(belief, self.decision_costs.T)

    def decide(self, belief: FloatArray) -> IntArray:
        """Index of the cheapest decision for each belief; ties go to the lowest index."""
        costs = belief @ self.decision_costs
        return np.asarray((costs <= costs.min(axis=-1, keepdims=True) * (1 + TIE)).argmax(axis=-1))

    def begin(self, n: int = 1) -> InformationState:
        """Information state of ``n`` instances of which nothing is known."""
        paid = None
        if self.groups is not None:
            paid = np.zeros((n, int(self.groups.max(initial=-1)) + 1), dtype=bool)
        return InformationState(self, 0, np.tile(self.prior, (n, 1)), self.start(n), paid)


class InformationState:
    """What is known of a batch of instances, all at one stage.

    Parameters
    ----------
    problem : AcquisitionProblem
        The problem the instances belong to.
    stage : int
        Number of features asked so far.
    belief : ndarray of shape (n, n_classes)
        Class posterior of each instance.
    state : object
        The problem's own state, indexable by rows.
    paid : ndarray of bool of shape (n, n_groups) or None
        Groups of which a feature has been acquired.
    lot : ndarray of int of shape (n,), optional
        The lot that each instance drew, under a randomised policy.

    Examples
    --------
    >>> import numpy as np
    >>> from seqclass.pomdp import TableProblem
    >>> problem = TableProblem([0.5, 0.5], np.array([[[0.9, 0.2], [0.1, 0.8]]]), prices=0.1)
    >>> state = problem.begin(2).update(np.array([0, 1]))
    >>> state.stage, state.belief.round(3).tolist()
    (1, [[0.818, 0.182], [0.111, 0.889]])
    """

    def __init__(
        self,
        problem: AcquisitionProblem,
        stage: int,
        belief: FloatArray,
        state: Any,
        paid: BoolArray | None,
        lot: IntArray | None = None,
    ) -> None:
        self.problem = problem
        self.stage = stage
        self.belief = belief
        self.state = state
        self.paid = paid
        self.lot = lot

    def __len__(self) -> int:
        return int(self.belief.shape[0])

    def __getitem__(self, rows: IntArray | BoolArray) -> InformationState:
        """Return the information state of some rows (an array of numbers or a mask)."""
        part = self._take(rows)
        if "joint" in self.__dict__:  # what look-ahead computed serves the update as well
            part.__dict__["joint"] = self.joint[rows]
        return part

    def _take(self, rows: IntArray | BoolArray) -> InformationState:
        paid = None if self.paid is None else self.paid[rows]
        lot = None if self.lot is None else self.lot[rows]
        return InformationState(self.problem, self.stage, self.belief[rows], self.state[rows], paid, lot)

    @cached_property
    def likelihood(self) -> FloatArray:
        """P(next outcome | what was seen, class), (n, n_outcomes, n_classes)."""
        found = np.asarray(self.problem.likelihood(self.stage, self.state))
        wanted = (len(self), int(self.problem.n_outcomes[self.stage]), self.problem.n_classes)
        if found.shape != wanted:
            raise ValueError(
                f"{type(self.problem).__name__}.likelihood must give an array of shape {wanted}: instances, outcomes, "
                f"classes; at stage {self.stage} it gave {found.shape}."
            )
        return found

    @cached_property
    def joint(self) -> FloatArray:
        """P(next outcome, class | what was seen): the unnormalised successors, (n, n_outcomes, n_classes)."""
        return np.asarray(self.likelihood * self.belief[:, None, :])

    @cached_property
    def predictive(self) -> FloatArray:
        """P(next outcome | what was seen), (n, n_outcomes)."""
        return row_sums(self.joint)

    @cached_property
    def context(self) -> IntArray | None:
        """Context number of each row, or None where there is one context."""
        return self.problem.contexts(self.stage, self.state)

    @property
    def price(self) -> FloatArray:
        """Price of the next feature for each row, (n,)."""
        problem, stage = self.problem, self.stage
        price = np.full(len(self), problem.prices[stage])
        if self.paid is not None and problem.groups is not None and problem.groups[stage] >= 0:
            price[~self.paid[:, problem.groups[stage]]] = problem.full_prices[stage]
        return price

    @cached_property
    def stopping_cost(self) -> FloatArray:
        """Cost of the best decision now, (n,)."""
        return self.problem.stopping_cost(self.belief)

    @property
    def to_beat(self) -> FloatArray:
        """What going on must stay below, (n,): the cost of stopping, less a tie."""
        return self.stopping_cost * (1 - TIE)

    @property
    def settled(self) -> BoolArray:
        """Rows where stopping is optimal for certain: one more price costs more than knowing the class saves."""
        if self.stage >= self.problem.n_stages:
            return np.ones(len(self), dtype=bool)
        bound = self.problem.prices[self.stage] + self.belief @ self.problem.perfect_cost
        return np.asarray(self.to_beat <= bound)

    def update(
        self, outcome: IntArray, rows: IntArray | None = None, *, charge_missing: bool = False
    ) -> InformationState:
        """Information state after the next feature showed ``outcome``.

        Parameters
        ----------
        outcome : ndarray of int of shape (m,)
            What was seen; -1 is missing and leaves the belief as it is.
        rows : ndarray of int of shape (m,), optional
            The row of this state that each outcome belongs to; by default each row once.
        charge_missing : bool
            Whether a missing feature is paid for all the same; its group is then paid for as well.

        Returns
        -------
        InformationState
            ``m`` rows at the next stage.

        Raises
        ------
        ValueError
            If an outcome is out of range or has probability zero; the message names feature and value.
        """
        parent = self if rows is None else self._take(rows)
        outcome = np.asarray(outcome)
        self._check_range(outcome)
        seen = np.flatnonzero(outcome >= 0)
        belief = parent.belief.copy()
        source = seen if rows is None else rows[seen]
        if "joint" in self.__dict__:
            joint = self.joint[source, outcome[seen]]
        else:  # only what was seen is needed, not every outcome
            joint = self.likelihood[source, outcome[seen]] * self.belief[source]
        total = joint.sum(axis=1, keepdims=True)
        if total.size and total.min() <= 0:
            value = int(outcome[seen[int(total.argmin())]])
            raise ValueError(
                f"feature {self.problem.features[self.stage]}: outcome {value} has probability zero given what was "
                "seen before, so no belief follows; smooth the likelihoods or check the value."
            )
        belief[seen] = joint / total
        state = self.problem.advance(self.stage, parent.state, outcome)
        paid = parent._pay((outcome >= 0) | charge_missing)
        return InformationState(self.problem, self.stage + 1, belief, state, paid, parent.lot)

    def _pay(self, acquired: BoolArray) -> BoolArray | None:
        groups = self.problem.groups
        if self.paid is None or groups is None or groups[self.stage] < 0:
            return self.paid
        paid: BoolArray = self.paid.copy()
        paid[acquired, groups[self.stage]] = True
        return paid

    def _check_range(self, outcome: IntArray) -> None:
        n_outcomes = self.problem.n_outcomes[self.stage]
        wrong = (outcome < -1) | (outcome >= n_outcomes)
        if wrong.any():
            raise ValueError(
                f"feature {self.problem.features[self.stage]}: outcome {int(outcome[wrong.argmax()])} is not in "
                f"0..{n_outcomes - 1} (-1 is missing)."
            )
