"""Value functions: what a belief is expected to cost from a stage on."""

from __future__ import annotations

from abc import ABC, abstractmethod

import numpy as np

from seqclass._utils.arrays import FloatArray, IntArray
from seqclass._utils.model_files import Stored
from seqclass._utils.stored import require, require_part, require_whole
from seqclass._utils.tables import count_text
from seqclass.pomdp.one_step import context_of
from seqclass.pomdp.problem import AcquisitionProblem, BeliefState
from seqclass.pomdp.tables import Tables

__all__ = ["ProjectedValues", "StoppingValue", "ValueFunction"]


class ValueFunction(Stored, ABC):
    """Approximate cost-to-go of every stage, a function of the (unnormalised) belief and the context.

    Values are homogeneous: scaling a belief scales its value. So the expectation over outcomes of the next stage's
    value needs no division: it is the sum of the values of the unnormalised successors.

    Parameters
    ----------
    problem : AcquisitionProblem
        The problem the values belong to.
    n_stages : int
        Horizon: from this stage on the value is the stopping cost.

    Examples
    --------
    >>> import numpy as np
    >>> from seqclass.pomdp import TableProblem
    >>> from seqclass.pomdp.account import planned_prices
    >>> problem = TableProblem([0.5, 0.5], np.array([[[0.9, 0.2], [0.1, 0.8]]]), prices=0.1)
    >>> class Clairvoyant(ValueFunction):  # after one more price the class is known: a lower bound
    ...     def _continuation(self, stage, belief, context):
    ...         return planned_prices(self.problem)[stage] * belief.sum(axis=1)
    >>> Clairvoyant(problem, 1).value(0, problem.prior[None])
    array([0.1])
    """

    #: Whether a limit of the solver's settings was hit on the way, so that its status is ``"limit"``.
    limited: bool = False

    def __init__(self, problem: AcquisitionProblem, n_stages: int) -> None:
        self.problem = problem
        self.n_stages = n_stages

    def __repr__(self) -> str:
        return f"<{type(self).__name__}: {count_text(self.n_stages, 'stages')}, size {self.size:,}>"

    @property
    def size(self) -> int:
        """Number of vectors or grid values kept."""
        return 0

    @abstractmethod
    def _continuation(self, stage: int, belief: FloatArray, context: IntArray) -> FloatArray:
        """Cost of going on at a stage before the horizon, (n,); may be ``inf`` where it is not known."""

    def refit(self, stage: int, belief: FloatArray, target: FloatArray) -> None:
        """Fit a stage anew to costs of going on at some beliefs; what is not fitted stays as it is."""

    def value(self, stage: int, belief: FloatArray, context: IntArray | None = None) -> FloatArray:
        """Cost-to-go: the lower of stopping now and going on.

        Parameters
        ----------
        stage : int
            Number of features asked so far.
        belief : ndarray of shape (n, n_classes)
            Beliefs, of any positive scale; an all-zero row has value zero.
        context : ndarray of int of shape (n,), optional
            Context of each row; left out, the first one of the stage.

        Returns
        -------
        ndarray of shape (n,)
        """
        stop = self.problem.stopping_cost(belief)
        if stage >= self.n_stages:
            return stop
        if context is None:
            context = np.zeros(len(belief), dtype=np.intp)
        return np.minimum(stop, self._continuation(stage, belief, context))

    def plan_cost(self, belief: BeliefState, rows: IntArray) -> FloatArray:
        """Cost of going on by a stored plan: no less than what one step of look-ahead finds; inf where there is none.

        Parameters
        ----------
        belief : BeliefState
            What is known, at a stage before the horizon.
        rows : ndarray of int of shape (m,)
            The rows that are meant.

        Returns
        -------
        ndarray of shape (m,)
        """
        return np.full(len(rows), np.inf)

    def successor_values(self, belief: BeliefState) -> FloatArray:
        """Value of each unnormalised successor of the next question, (n, n_outcomes); the sum is the expectation."""
        n, n_outcomes, n_classes = belief.joint.shape
        posterior = belief.joint.reshape(-1, n_classes)
        return self.value(belief.stage + 1, posterior, self._successors(belief)).reshape(n, n_outcomes)

    def _successors(self, belief: BeliefState) -> IntArray | None:
        """Context after each outcome of each row, one row after the other."""
        tables = self.problem.structure.tables
        if tables is None or tables.single or (context := context_of(belief)) is None:
            return None
        return tables.successors(belief.stage, context).reshape(-1)

    def _n_contexts(self, stage: int) -> int:
        """Contexts that values tell apart; those of `SharedVectors` none, of a problem that may have no tables."""
        tables = self.problem.structure.tables
        return 1 if tables is None else tables.n_contexts(stage)

    def _check_stored(self) -> None:
        require_whole(self, "n_stages", 0, require_part(self, "problem", AcquisitionProblem).n_stages)


class StoppingValue(ValueFunction):
    """The stopping cost at every stage: one step of look-ahead on it is the myopic rule.

    Parameters
    ----------
    problem : AcquisitionProblem
        The problem the values belong to.
    n_stages : int, optional
        Horizon; by default all stages.

    Examples
    --------
    >>> import numpy as np
    >>> from seqclass.pomdp import TableProblem
    >>> problem = TableProblem([0.5, 0.5], np.array([[[0.9, 0.2], [0.1, 0.8]]]), prices=0.1)
    >>> StoppingValue(problem).value(0, np.array([[0.3, 0.7]]))
    array([0.3])
    """

    def __init__(self, problem: AcquisitionProblem, n_stages: int | None = None) -> None:
        super().__init__(problem, problem.n_stages if n_stages is None else n_stages)

    def _continuation(self, stage: int, belief: FloatArray, context: IntArray) -> FloatArray:
        return np.full(len(belief), np.inf)


class ProjectedValues(ValueFunction):
    """Values of a projection, read at the beliefs and states of the problem itself."""

    def __init__(self, problem: AcquisitionProblem, projection: AcquisitionProblem, values: ValueFunction) -> None:
        super().__init__(problem, values.n_stages)
        if projection.structure.tables is None:
            raise ValueError("projection must have tables, and this one has none.")
        self.projection = projection
        self.values = values

    @property
    def size(self) -> int:
        """Number of vectors or grid values kept."""
        return self.values.size

    def value(self, stage: int, belief: FloatArray, context: IntArray | None = None) -> FloatArray:
        """Cost-to-go by the projection, whose contexts these are; see `ValueFunction.value`."""
        return self.values.value(stage, belief, context)

    @property
    def tables(self) -> Tables:
        """The projection's."""
        tables = self.projection.structure.tables
        assert tables is not None  # it was looked at when this was made
        return tables

    def _successors(self, belief: BeliefState) -> IntArray:
        tables = self.tables
        return tables.successors(belief.stage, tables.contexts(belief.stage, belief.state)).reshape(-1)

    def _continuation(self, stage: int, belief: FloatArray, context: IntArray) -> FloatArray:
        return self.values._continuation(stage, belief, context)

    def _check_stored(self) -> None:
        require_part(self, "projection", AcquisitionProblem)
        require(require_part(self, "values", ValueFunction).n_stages == self.n_stages, "values are of other stages")
