"""Values of a simpler process, corrected by regression on all that the problem itself remembers."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import linalg

from seqclass._arrays import FloatArray, IntArray, row_sums
from seqclass.pomdp.points import sample_states
from seqclass.pomdp.policy import LookaheadPolicy
from seqclass.pomdp.problem import AcquisitionProblem, InformationState
from seqclass.pomdp.values import SteeringValues

#: Ridge penalty, as a share of the mean square of a column.
_RIDGE = 1e-4
#: Up to so many columns an answer may change the cost class by class.
_MOST_COLUMNS = 400


class CorrectedValues(SteeringValues):
    """Values of a projection plus a correction for the answers that it does not remember.

    The cost of going on is ``J(b) + sum_f w_f(z_f) . psi(b)``: ``J`` is the projection's, ``z_f`` the answer to an
    earlier question that what is to come depends on, and ``psi(b)`` holds functions that scale with the belief: the
    stopping cost, ``J`` itself and, where they are few enough, the belief's components. An answer that was missing
    corrects nothing.

    Parameters
    ----------
    problem : AcquisitionProblem
        The problem to act on, with `answers`.
    steering : SteeringValues
        What is corrected.

    References
    ----------
    .. [1] F. A. Longstaff and E. S. Schwartz, "Valuing American options by simulation: a simple least-squares
       approach", Review of Financial Studies 14, 2001.
    .. [2] M. B. Haugh and L. Kogan, "Pricing American options: a duality approach", Operations Research 52, 2004.

    Examples
    --------
    See `Steered`, whose values these are.

    >>> CorrectedValues.__bases__[0].__name__
    'SteeringValues'
    """

    def __init__(self, problem: AcquisitionProblem, steering: SteeringValues) -> None:
        super().__init__(problem, steering.projection, steering.values)
        #: Of each stage the weights (1 + n_answers, n_codes, n_functions), the first for every row, or None.
        self.weights: list[FloatArray | None] = [None] * self.n_stages

    @property
    def size(self) -> int:
        """Number of vectors or grid values and of weights."""
        return super().size + sum(w.size for w in self.weights if w is not None)

    def successor_values(self, info: InformationState) -> FloatArray:
        """Value of each unnormalised successor of the next feature, (n, n_outcomes)."""
        following = info.stage + 1
        answers = self.problem.answers(info.stage, info.state)
        if following >= self.n_stages or self.weights[following] is None or answers is None:
            return super().successor_values(info)
        n, n_outcomes, n_classes = info.joint.shape
        after = self.problem.successor_answers(info.stage, answers).reshape(n * n_outcomes, -1)
        belief, context = info.joint.reshape(-1, n_classes), self._successors(info)
        go_on = self.going_on(following, belief, context, after)
        return np.minimum(self.problem.stopping_cost(belief), go_on).reshape(n, n_outcomes)

    def going_on(self, stage: int, belief: FloatArray, context: IntArray | None, answers: IntArray) -> FloatArray:
        """Corrected cost of going on, (n,); never below the price and what remains when the class is known."""
        functions, plain = self._functions(stage, belief, context)
        weights = self.weights[stage]
        if weights is None:
            return plain
        go_on = plain + functions @ weights[0, 0]
        # where answers are many they change the last two functions' share only
        used = slice(None if weights[1:, :, :-2].any() else -2, None)
        total = np.zeros_like(functions[:, used])
        for code, table in zip(answers.T, weights[1:, :, used]):
            total += table.take(code, axis=0, mode="wrap")  # -1 reads the last row, which is zero
        go_on += row_sums(total * functions[:, used])
        least = self.problem.prices[stage] * row_sums(belief) + belief @ self.problem.perfect_cost
        return np.asarray(np.maximum(go_on, least))

    def fit(self, states: list[list[InformationState]]) -> CorrectedValues:
        """Fit the corrections backward over stages.

        Parameters
        ----------
        states : list of list of InformationState
            Lots of sampled information states, each a list over stages.

        Returns
        -------
        CorrectedValues
        """
        n_codes = int(self.problem.n_outcomes.max(initial=1)) + 1
        for stage in reversed(range(1, self.n_stages)):
            lots = [lot[stage] for lot in states if len(lot[stage])]
            if lots:
                self.weights[stage] = self._fitted(lots, n_codes)
        return self

    def _fitted(self, lots: list[InformationState], n_codes: int) -> FloatArray:
        rows: list[tuple[Any, ...]] = []
        for info in lots:
            context = self.projection.contexts(info.stage, info.state)
            functions, plain = self._functions(info.stage, info.belief, context)
            target = self.problem.prices[info.stage] + row_sums(self.successor_values(info)) - plain
            rows.append((functions, self.problem.answers(info.stage, info.state), target))
        functions, answers, target = (np.concatenate(part) for part in zip(*rows))
        weights = np.zeros((1 + answers.shape[1], n_codes, functions.shape[1]))
        used = slice(None)
        if answers.shape[1] * (n_codes - 1) * functions.shape[1] > _MOST_COLUMNS:
            used = slice(-2, None)
        design = [functions]
        for code in answers.T:
            shown = (code[:, None] == np.arange(n_codes - 1)).astype(np.float64)
            design.append((shown[:, :, None] * functions[:, None, used]).reshape(len(target), -1))
        solution = _ridge(np.concatenate(design, axis=1), target)
        weights[0, 0] = solution[: functions.shape[1]]
        shape = (answers.shape[1], n_codes - 1, functions[:, used].shape[1])
        weights[1:, :-1, used] = solution[functions.shape[1] :].reshape(shape)
        return weights

    def _functions(self, stage: int, belief: FloatArray, context: IntArray | None) -> tuple[FloatArray, FloatArray]:
        """The functions psi, (n, n_classes + 2), and the projection's cost of going on, (n,)."""
        stop = self.problem.stopping_cost(belief)
        plain = self._continuation(stage, belief, context)
        plain = np.where(np.isfinite(plain), plain, stop)
        return np.column_stack([belief, stop, np.minimum(plain, stop)]), plain


def _ridge(design: FloatArray, target: FloatArray) -> FloatArray:
    gram = design.T @ design
    gram[np.diag_indices_from(gram)] += _RIDGE * float(np.trace(gram)) / len(gram) + np.finfo(float).tiny
    return np.asarray(linalg.solve(gram, design.T @ target, assume_a="pos", check_finite=False))


def corrected(steering: SteeringValues, n_beliefs: int, rng: np.random.Generator) -> SteeringValues:
    """Correct the values of a projection at beliefs that the problem itself reaches.

    Parameters
    ----------
    steering : SteeringValues
        Values of the projection.
    n_beliefs : int
        Most beliefs a stage, half of them from the policy that the values steer and half from all histories, as a
        certificate follows them.
    rng : numpy.random.Generator
        Source of randomness.

    Returns
    -------
    SteeringValues
        The same where the problem does not tell its answers.

    Examples
    --------
    >>> import numpy as np
    >>> from seqclass.pomdp import SteeringValues, StoppingValue, TableProblem
    >>> problem = TableProblem([0.5, 0.5], np.array([[[0.9, 0.2], [0.1, 0.8]]]), prices=0.1)
    >>> steering = SteeringValues(problem, problem, StoppingValue(problem))
    >>> corrected(steering, 10, np.random.default_rng(0)) is steering
    True
    """
    problem = steering.problem
    if n_beliefs == 0 or problem.answers(0, problem.start(1)) is None:
        return steering
    policies = (LookaheadPolicy(steering), None)
    half = -(-n_beliefs // 2)
    lots = [list(sample_states(problem, steering.n_stages, half, rng, policy, merge=False)) for policy in policies]
    return CorrectedValues(problem, steering).fit(lots)
