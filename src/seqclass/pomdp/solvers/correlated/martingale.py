"""Corrected values, refined by smooth functions of themselves for the martingale of a certificate."""

from __future__ import annotations

from itertools import combinations_with_replacement

import numpy as np

from seqclass._arrays import FloatArray, IntArray, chunks, row_sums
from seqclass.pomdp.information import InformationState
from seqclass.pomdp.solvers.correlated.corrected import CorrectedValues, CostsAhead, Lots
from seqclass.pomdp.solvers.ridge import scaled_ridge
from seqclass.pomdp.values import ValueFunction

#: Ridge penalty, as a share of the mean square of a column.
_RIDGE = 1e-8
#: Highest power of the square roots of costs.
_DEGREE = 3
#: The powers of three costs: products of one to three of them.
_PRODUCTS = [p for d in range(1, _DEGREE + 1) for p in combinations_with_replacement(range(3), d)]


class MartingaleValues(ValueFunction):
    """Corrected values plus what smooth functions of the belief and of the costs there explain of their error.

    The error of a regression that is additive in the answers depends on the belief in a curved way, most of all where
    prices are low. Per unit of belief, the refinement is linear in the belief, in the belief times the projection's
    cost, and in the products of up to three square roots of the cost of stopping and of what the projection and the
    correction expect. Its target is the expectation over the next outcome, which has no noise, so that few states tell
    much.

    Parameters
    ----------
    values : CorrectedValues
        What is refined; left as it is.

    References
    ----------
    .. [1] V. V. Desai, V. F. Farias and C. C. Moallemi, "Pathwise optimization for optimal stopping problems",
       Management Science 58, 2012 (richer functions in the martingale tighten the bound).
    .. [2] F. A. Longstaff and E. S. Schwartz, "Valuing American options by simulation: a simple least-squares
       approach", Review of Financial Studies 14, 2001.

    Examples
    --------
    >>> import numpy as np
    >>> from seqclass.pomdp import CorrectedValues, ProjectedValues, StoppingValue, TableProblem
    >>> problem = TableProblem([0.5, 0.5], np.array([[[0.9, 0.2], [0.1, 0.8]]]), prices=0.1)
    >>> steering = ProjectedValues(problem, problem, StoppingValue(problem))
    >>> MartingaleValues(CorrectedValues(problem, steering)).successor_values(problem.begin()).round(3)
    array([[0.1 , 0.05]])
    """

    def __init__(self, values: CorrectedValues) -> None:
        super().__init__(values.problem, values.n_stages)
        self.values = values
        #: Of each stage the weights (n_functions,), or None.
        self.weights: list[FloatArray | None] = [None] * self.n_stages

    def fit_stage(self, stage: int, lots: Lots, ahead: list[CostsAhead]) -> None:
        """Fit the refinement of one stage, those after it being fitted.

        Parameters
        ----------
        stage : int
            The stage.
        lots : list of InformationState
            States of that stage.
        ahead : list of CostsAhead
            What `CorrectedValues.costs_ahead` gives for each.
        """
        problem, designs, targets = self.problem, [], []
        for info, after in zip(lots, ahead):
            context = self.values.tables.contexts(stage, info.state)
            answers = problem.answers(stage, info.state)
            assert answers is not None  # corrections are made of them
            costs = self.values.costs(stage, info.belief, context, answers)
            designs.append(self._functions(CostsAhead(info.belief, *costs)))
            expected = row_sums(self._refined(stage + 1, after).reshape(len(info), -1))
            targets.append(problem.planned_prices[stage] + expected - costs[2])
        design, target = np.concatenate(designs), np.concatenate(targets)
        self.weights[stage] = scaled_ridge(design, target, _RIDGE * len(design))

    def successor_values(self, info: InformationState) -> FloatArray:
        """Value of each unnormalised successor of the next feature, (n, n_outcomes)."""
        following = info.stage + 1
        if following >= self.n_stages or self.weights[following] is None:
            return self.values.successor_values(info)
        return self._refined(following, self.values.costs_ahead(info)).reshape(len(info), -1)

    def _continuation(self, stage: int, belief: FloatArray, context: IntArray) -> FloatArray:
        return self.values._continuation(stage, belief, context)

    def _refined(self, stage: int, ahead: CostsAhead) -> FloatArray:
        weights = self.weights[stage] if stage < self.n_stages else None
        if weights is None:
            return ahead.value
        result = np.empty(len(ahead.belief))
        for rows in chunks(len(result), 8.0 * 3 * self._n_functions):
            part = CostsAhead(*(values[rows] for values in ahead))
            go_on = part.go_on + row_sums(part.belief) * (self._functions(part) @ weights)
            result[rows] = np.minimum(part.stop, np.maximum(go_on, self.values.least(stage, part.belief)))
        return result

    @property
    def _n_functions(self) -> int:
        return 2 * self.problem.n_classes + len(_PRODUCTS)

    def _functions(self, costs: CostsAhead) -> FloatArray:
        """The functions per unit of belief, (n, n_functions)."""
        belief, stop, plain, go_on = costs
        total = row_sums(belief)
        unit = 1 / np.where(total > 0, total, 1.0)
        n_classes = self.problem.n_classes
        rows = np.empty((self._n_functions, len(belief)))
        known = np.minimum(plain, stop) * unit
        np.multiply(belief.T, unit, out=rows[:n_classes])
        np.multiply(rows[:n_classes], known, out=rows[n_classes : 2 * n_classes])
        roots = np.sqrt(np.maximum([stop * unit, known, np.minimum(go_on, stop) * unit], 0.0))
        made: dict[tuple[int, ...], FloatArray] = {}
        for row, product in zip(rows[2 * n_classes :], _PRODUCTS):
            first = roots[product[-1]]
            np.copyto(row, first if len(product) == 1 else made[product[:-1]] * first)
            made[product] = row
        return np.asarray(rows.T)
