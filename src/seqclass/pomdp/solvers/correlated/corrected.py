"""Values of a simpler process, corrected by regression on all that the problem itself remembers."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import NamedTuple

import numpy as np
import scipy.sparse as sp
from scipy.sparse.linalg import lsmr

from seqclass._utils.arrays import FloatArray, IntArray, row_sums
from seqclass.pomdp.alpha.points import ALWAYS, sample_states
from seqclass.pomdp.policy import LookaheadPolicy
from seqclass.pomdp.problem import AcquisitionProblem, InformationState
from seqclass.pomdp.solvers.fitted import FittedValues, solved_ridge
from seqclass.pomdp.values import ProjectedValues

#: Ridge penalty, as a share of the mean square of a column.
_RIDGE = 1e-4
#: Up to so many columns an answer may change the cost class by class.
_MOST_COLUMNS = 400
#: Up to so many columns the regression is solved directly. Beyond, which many bins bring, so many steps give other
#: weights, by which policies cost no more.
_DIRECT = 1200
_STEPS = 100
#: From this share of entries on that are not zero, products of dense matrices are quicker than of sparse ones.
_DENSE = 0.1
#: Values are corrected up to the stage that a smaller share of cases comes to; the projection's do beyond. Functions
#: that are fitted anew, with more than two classes, need less.
_LEAST_REACH, _LEAST_REACH_OF_MANY = 1e-4, 1e-3


#: States of one stage, in lots that were sampled in different ways.
Lots = list[InformationState]


class CostsAhead(NamedTuple):
    """What follows each outcome of each state.

    Attributes
    ----------
    belief : ndarray of shape (n * n_outcomes, n_classes)
        Unnormalised beliefs.
    stop, plain, go_on : ndarray of shape (n * n_outcomes,)
        Cost of stopping, the projection's of going on and the corrected one.

    Examples
    --------
    >>> import numpy as np
    >>> CostsAhead(np.array([[0.1, 0.4]]), np.array([0.1]), np.array([0.2]), np.array([0.05])).value
    array([0.05])
    """

    belief: FloatArray
    stop: FloatArray
    plain: FloatArray
    go_on: FloatArray

    @property
    def value(self) -> FloatArray:
        """The lower of stopping and going on."""
        return np.minimum(self.stop, self.go_on)


class CorrectedValues(ProjectedValues):
    """Values of a projection plus a correction for the answers that it does not remember.

    The cost of going on is ``J(b) + sum_f w_f(z_f) . psi(b)``: ``J`` is the projection's, ``z_f`` the answer to an
    earlier question that what is to come depends on, and ``psi(b)`` holds functions that scale with the belief: the
    stopping cost, ``J`` itself and, where they are few enough, the belief's components. An answer that was missing
    corrects nothing.

    Parameters
    ----------
    problem : AcquisitionProblem
        The problem to act on, with `answers`.
    steering : ProjectedValues
        What is corrected.

    References
    ----------
    .. [1] F. A. Longstaff and E. S. Schwartz, "Valuing American options by simulation: a simple least-squares
       approach", Review of Financial Studies 14, 2001.
    .. [2] M. B. Haugh and L. Kogan, "Pricing American options: a duality approach", Operations Research 52, 2004.

    Examples
    --------
    See `ProjectedValueIteration`, whose values these are.

    >>> CorrectedValues.__bases__[0].__name__
    'ProjectedValues'
    """

    def __init__(self, problem: AcquisitionProblem, steering: ProjectedValues) -> None:
        super().__init__(problem, steering.projection, steering.values)
        #: Of each stage the weights (1 + n_answers, n_codes, n_functions), the first for every row, or None.
        self.weights: list[FloatArray | None] = [None] * self.n_stages

    @property
    def size(self) -> int:
        """Number of vectors or grid values and of weights."""
        return super().size + sum(w.size for w in self.weights if w is not None)

    def successor_values(self, info: InformationState) -> FloatArray:
        """Value of each unnormalised successor of the next feature, (n, n_outcomes)."""
        if not self.is_corrected(info.stage + 1) or self.problem.answers(info.stage, info.state) is None:
            return super().successor_values(info)
        return self.costs_ahead(info).value.reshape(len(info), -1)

    def costs_ahead(self, info: InformationState) -> CostsAhead:
        """What stopping and going on cost after each outcome of each row, row by row."""
        belief, context, after = self.successors(info)
        if info.stage + 1 < self.n_stages:
            return CostsAhead(belief, *self.costs(info.stage + 1, belief, context, after))
        stop = self.problem.stopping_cost(belief)
        return CostsAhead(belief, stop, stop, stop)

    def successors(self, info: InformationState) -> tuple[FloatArray, IntArray, IntArray]:
        """Unnormalised belief, context of the projection and answers after each outcome of each row, row by row."""
        n, n_outcomes, n_classes = info.joint.shape
        answers = self.problem.answers(info.stage, info.state)
        assert answers is not None  # corrections are made of them
        after = self.problem.successor_answers(info.stage, answers).reshape(n * n_outcomes, -1)
        return info.joint.reshape(-1, n_classes), self._successors(info), after

    def going_on(self, stage: int, belief: FloatArray, context: IntArray, answers: IntArray) -> FloatArray:
        """Corrected cost of going on, (n,); never below the price and what remains when the class is known."""
        return self.costs(stage, belief, context, answers)[2]

    def costs(
        self, stage: int, belief: FloatArray, context: IntArray, answers: IntArray
    ) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Cost of stopping, the projection's cost of going on, and the corrected one as of `going_on`, each (n,)."""
        stop, plain = self._plain(stage, belief, context)
        weights = self.weights[stage]
        if weights is None:
            return stop, plain, plain
        # where answers are many they change the last two functions' share only
        used = slice(None if weights[1:, :, :-2].any() else -2, None)
        total = _sum_of_answers(weights[1:, :, used], answers)
        total += weights[0, 0, used]
        shares = belief * total[:, :-2] if total.shape[1] > 2 else belief * weights[0, 0, :-2]
        go_on = plain + row_sums(shares) + stop * total[:, -2] + np.minimum(plain, stop) * total[:, -1]
        return stop, plain, np.asarray(np.maximum(go_on, self.least(stage, belief)))

    def least(self, stage: int, belief: FloatArray) -> FloatArray:
        """Price of a stage and what remains when the class is then known, (n,)."""
        return np.asarray(belief @ self.problem.rest(stage))

    def is_corrected(self, stage: int) -> bool:
        """Whether the values of a stage are corrected."""
        return stage < self.n_stages and self.weights[stage] is not None

    def answers_after(self, stage: int, answers: IntArray, outcome: IntArray) -> IntArray:
        """What `answers` of the problem gives at the next stage, after one outcome of each row.

        Parameters
        ----------
        stage : int
            The stage that is asked.
        answers : ndarray of int of shape (n, m)
            Answers at that stage.
        outcome : ndarray of int of shape (n,)
            Its outcome.

        Returns
        -------
        ndarray of int of shape (n, m')
        """
        sources = self._sources.get(stage)  # read once: from Python 3.12 on, threads may each make a dictionary
        if sources is None:
            sources = self._sources[stage] = self._find_sources(stage, answers)
        # answer by answer, as they are read
        after: IntArray = np.empty((len(sources), len(answers)), dtype=answers.dtype)
        for row, source in zip(after, sources):
            row[:] = answers[:, source] if source < answers.shape[1] else outcome
        return np.asarray(after.T)

    @cached_property
    def _sources(self) -> dict[int, IntArray]:
        return {}

    def _find_sources(self, stage: int, answers: IntArray) -> IntArray:
        """Where each answer of the next stage comes from: an answer before, or the outcome, which counts last."""
        m = answers.shape[1]
        # unit rows and outcome 0: an answer that stays shows which one it is
        after = self.problem.successor_answers(stage, np.eye(m, dtype=answers.dtype))[:, 0]
        return np.where(after.any(axis=0), after.argmax(axis=0) if m else 0, m)

    def fit(
        self, states: list[list[InformationState]], refine: Callable[[int, Lots, list[CostsAhead]], None] | None = None
    ) -> CorrectedValues:
        """Fit the corrections backward over stages.

        Values of the projection that are `FittedValues` are fitted anew on the way, at these states.

        Parameters
        ----------
        states : list of list of InformationState
            Lots of sampled information states, each a list over stages.
        refine : callable, optional
            Called with each stage once it is fitted, its lots and the costs ahead of each: what builds on them need not
            work them out again.

        Returns
        -------
        CorrectedValues
        """
        n_codes = int(self.problem.n_outcomes.max(initial=1)) + 1
        for stage in reversed(range(1, self.n_stages)):
            lots = [lot[stage] for lot in states if stage < len(lot) and len(lot[stage])]
            if not lots:
                continue
            ahead = [self.costs_ahead(info) for info in lots]
            self.weights[stage] = self._fitted(stage, lots, ahead, n_codes)
            if refine is not None:
                refine(stage, lots, ahead)
        return self

    def _fitted(self, stage: int, lots: Lots, ahead: list[CostsAhead], n_codes: int) -> FloatArray:
        price = self.problem.planned_prices[stage]
        belief = np.concatenate([info.belief for info in lots])
        context = np.concatenate([self.tables.contexts(stage, info.state) for info in lots])
        answers = np.concatenate([self.problem.answers(stage, info.state) for info in lots])
        target = np.concatenate([price + row_sums(a.value.reshape(len(info), -1)) for a, info in zip(ahead, lots)])
        if isinstance(self.values, FittedValues):
            self.values.fit(stage, belief, target)
        functions, plain = self._functions(stage, belief, context)
        weights = np.zeros((1 + answers.shape[1], n_codes, functions.shape[1]))
        used = slice(None)
        if answers.shape[1] * (n_codes - 1) * functions.shape[1] > _MOST_COLUMNS:
            used = slice(-2, None)
        design = _design(functions, functions[:, used], answers, n_codes - 1)
        solution = _ridge(design, target - plain)
        weights[0, 0] = solution[: functions.shape[1]]
        shape = (answers.shape[1], n_codes - 1, functions[:, used].shape[1])
        weights[1:, :-1, used] = solution[functions.shape[1] :].reshape(shape)
        return weights

    def _functions(self, stage: int, belief: FloatArray, context: IntArray) -> tuple[FloatArray, FloatArray]:
        """The functions psi, (n, n_classes + 2), and the projection's cost of going on, (n,)."""
        stop, plain = self._plain(stage, belief, context)
        return np.column_stack([belief, stop, np.minimum(plain, stop)]), plain

    def _plain(self, stage: int, belief: FloatArray, context: IntArray) -> tuple[FloatArray, FloatArray]:
        """Cost of stopping, and the projection's cost of going on, both (n,)."""
        stop = self.problem.stopping_cost(belief)
        plain = self._continuation(stage, belief, context)
        return stop, np.where(np.isfinite(plain), plain, stop)


def _sum_of_answers(tables: FloatArray, answers: IntArray) -> FloatArray:
    """Sum over answers of the row of each one's table, (n, n_functions)."""
    total = np.zeros((len(answers), tables.shape[2]))
    for code, table in zip(answers.T, np.ascontiguousarray(tables)):
        total += table.take(code, axis=0, mode="wrap")  # -1 reads the last row, which is zero
    return total


def _design(functions: FloatArray, shared: FloatArray, answers: IntArray, n_codes: int) -> FloatArray | sp.csr_array:
    """All functions of each row, and for each of its answers those that are shared, in that answer's columns."""
    n, n_answers = answers.shape
    width = shared.shape[1]
    row, answer = np.nonzero((answers >= 0) & (answers < n_codes))
    place = answer * n_codes + answers[row, answer]
    n_columns = functions.shape[1] + n_answers * n_codes * width
    if n_columns <= _DIRECT and functions.size + row.size * width > _DENSE * n * n_columns:
        design = np.zeros((n, n_columns))
        design[:, : functions.shape[1]] = functions
        design[:, functions.shape[1] :].reshape(n, -1, width)[row, place] = shared[row]
        return design
    columns = (place[:, None] * width + np.arange(width)).ravel()
    starts = np.concatenate([[0], np.bincount(row, minlength=n).cumsum() * width])
    parts = (shared[row].ravel(), columns, starts)
    return sp.csr_array(sp.hstack([functions, sp.csr_array(parts, shape=(n, n_answers * n_codes * width))]))


def _ridge(design: FloatArray | sp.csr_array, target: FloatArray) -> FloatArray:
    n_columns = design.shape[1]
    entries: FloatArray = np.ravel(design) if isinstance(design, np.ndarray) else design.data
    penalty = _RIDGE * float(entries @ entries) / n_columns + np.finfo(float).tiny
    if n_columns > _DIRECT:
        return np.asarray(lsmr(design, target, damp=np.sqrt(penalty), maxiter=_STEPS, atol=1e-8, btol=1e-8)[0])
    gram = design.T @ design
    if sp.issparse(gram):
        gram = gram.toarray()
    return solved_ridge(gram, design.T @ target, penalty)


def visited_states(steering: ProjectedValues, n_beliefs: int, rng: np.random.Generator) -> list[list[InformationState]]:
    """Sample states that the problem itself reaches, to correct the values of a projection at.

    Parameters
    ----------
    steering : ProjectedValues
        Values of the projection.
    n_beliefs : int
        Most states a stage, half of them from the policy that the values steer and half from all histories, as a
        certificate follows them.
    rng : numpy.random.Generator
        Source of randomness.

    Returns
    -------
    list of list of InformationState
        Lots, each a list over the stages that cases come to often enough under the policy; none where the problem does
        not tell its answers.

    Examples
    --------
    >>> import numpy as np
    >>> from seqclass.pomdp import ProjectedValues, StoppingValue, TableProblem
    >>> problem = TableProblem([0.5, 0.5], np.array([[[0.9, 0.2], [0.1, 0.8]]]), prices=0.1)
    >>> steering = ProjectedValues(problem, problem, StoppingValue(problem))
    >>> visited_states(steering, 10, np.random.default_rng(0))
    []
    """
    problem = steering.problem
    if n_beliefs == 0 or problem.answers(0, problem.start(1)) is None:
        return []
    least = _LEAST_REACH if problem.n_classes <= 2 else _LEAST_REACH_OF_MANY
    half, steered = -(-n_beliefs // 2), LookaheadPolicy(steering)
    visited = list(sample_states(problem, steering.n_stages, half, rng, steered, merge=False, least_reach=least))
    n_stages = max(sum(1 for info in visited if len(info)), min(ALWAYS, steering.n_stages))
    return [visited[:n_stages], list(sample_states(problem, n_stages, half, rng, merge=False))]
