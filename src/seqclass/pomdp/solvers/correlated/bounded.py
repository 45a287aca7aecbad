"""Look-ahead that evaluates the outcomes of a feature only as far as the decision needs."""

from __future__ import annotations

import numpy as np

from seqclass._arrays import BoolArray, FloatArray, IntArray, chunks, row_sums
from seqclass.pomdp.information import InformationState
from seqclass.pomdp.policy import DECIDE, LookaheadPolicy, SolveInfo
from seqclass.pomdp.solvers.correlated.corrected import CorrectedValues

#: Bytes of the joint probabilities of a chunk of rows: small enough to stay in cache.
_JOINT_BYTES = 2**21


class BoundedLookaheadPolicy(LookaheadPolicy):
    """Acts as `LookaheadPolicy` on corrected values, and spares most of their evaluations.

    Before it is evaluated, the value of an outcome lies between the price of one more feature with the class then
    known, and the cost of stopping there. The outcomes whose bounds are furthest apart are evaluated first, until the
    bounds on the cost of going on lie on one side of the stopping cost [1]_.

    Parameters
    ----------
    values : CorrectedValues
        Cost-to-go of each stage; also the horizon.
    info : SolveInfo, optional
        What the solver reports.

    References
    ----------
    .. [1] S. Ross, J. Pineau, S. Paquet and B. Chaib-draa, "Online planning algorithms for POMDPs", JAIR 32, 2008,
       section 3.2 (branch and bound).

    Examples
    --------
    >>> import numpy as np
    >>> from seqclass.pomdp import CorrectedValues, ProjectedValues, StoppingValue, TableProblem
    >>> problem = TableProblem([0.5, 0.5], np.array([[[0.9, 0.2], [0.1, 0.8]]]), prices=0.1)
    >>> steering = ProjectedValues(problem, problem, StoppingValue(problem))
    >>> BoundedLookaheadPolicy(CorrectedValues(problem, steering)).act(problem.begin())
    array([0])
    """

    values: CorrectedValues

    def __init__(self, values: CorrectedValues, info: SolveInfo | None = None) -> None:
        super().__init__(values, info)

    def _act(self, info: InformationState) -> IntArray:
        if not self.values.is_corrected(info.stage + 1):
            return super()._act(info)
        open_ = ~info.settled
        rows = np.flatnonzero(open_)
        # rather a few rows for nothing than a copy of all others; the update then finds their likelihoods
        some = info if 4 * rows.size >= 3 * len(info) else info[rows]
        go_on = _Outcomes(self.values, some).pay(some.to_beat)
        if some is not info:
            open_[rows] = go_on
        else:
            open_ &= go_on
        return np.where(open_, info.stage, DECIDE)


class _Outcomes:
    """The outcomes that a batch of instances may see next."""

    def __init__(self, values: CorrectedValues, info: InformationState) -> None:
        self.values = values
        self.info = info
        self.problem = values.problem
        answers = self.problem.answers(info.stage, info.state)
        assert answers is not None  # corrections are made of them
        self.answers = answers
        tables = values.tables
        self.after = tables.successors(info.stage, tables.contexts(info.stage, info.state))

    def pay(self, limit: FloatArray) -> BoolArray:
        """Whether going on costs less than ``limit``, (n,)."""
        result = np.empty(len(self.info), dtype=bool)
        row_bytes = 8.0 * float(self.problem.n_outcomes[self.info.stage]) * self.problem.n_classes
        for part in chunks(len(result), row_bytes, _JOINT_BYTES):
            result[part] = self._pay(part, limit[part])
        return result

    def _pay(self, part: slice, limit: FloatArray) -> BoolArray:
        likelihood = self.info.likelihood[part]
        n, n_outcomes, n_classes = likelihood.shape
        # a row an instance and outcome; numpy is slow to broadcast along an axis as short as the classes'
        joint = likelihood.reshape(-1, n_classes) * np.repeat(self.info.belief[part], n_outcomes, axis=0)
        stop = self.problem.stopping_cost(joint)
        # the most that each outcome's value can be below the cost of stopping
        saving = stop - self.values.least(self.info.stage + 1, joint)
        np.maximum(saving, 0.0, out=saving)
        upper = self.info.price[part] + row_sums(stop.reshape(n, n_outcomes))
        lower = upper - row_sums(saving.reshape(n, n_outcomes))
        open_ = np.flatnonzero((upper >= limit) & (lower < limit))
        for _ in range(n_outcomes):
            if not open_.size:
                break
            outcome, most = _largest(saving.reshape(n, n_outcomes)[open_])
            branch = open_ * n_outcomes + outcome
            saved = stop[branch] - self._going_on(joint[branch], part.start + open_, outcome)
            np.clip(saved, 0.0, most, out=saved)
            saving[branch] = 0
            upper[open_] -= saved
            lower[open_] += most - saved
            open_ = open_[(upper[open_] >= limit[open_]) & (lower[open_] < limit[open_])]
        return upper < limit

    def _going_on(self, joint: FloatArray, rows: IntArray, outcome: IntArray) -> FloatArray:
        """Cost of going on after one outcome of each of some rows."""
        stage = self.info.stage
        answers = self.values.answers_after(stage, self.answers.take(rows, axis=0), outcome)
        return self.values.going_on(stage + 1, joint, self.after[rows, outcome], answers)


def _largest(values: FloatArray) -> tuple[IntArray, FloatArray]:
    """Position and value of the largest entry of each row, the first one of equals; quick where rows are short."""
    best = values[:, 0].copy()
    where = np.zeros(len(values), dtype=np.intp)
    for column in range(1, values.shape[1]):
        larger = values[:, column] > best
        np.copyto(best, values[:, column], where=larger)
        where[larger] = column
    return where, best
