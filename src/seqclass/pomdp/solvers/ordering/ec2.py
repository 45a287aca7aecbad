"""Ask what separates hidden states of different classes."""

from __future__ import annotations

import numpy as np

from seqclass._arrays import FloatArray, IntArray, chunks, row_sums
from seqclass.pomdp.information import InformationState
from seqclass.pomdp.likelihoods import CACHE_BYTES, common, likelihood_parts, together
from seqclass.pomdp.solvers.ordering.base import OrderingRule


class EC2(OrderingRule):
    """The weight of pairs of hidden states of different classes that the answer separates, per price.

    A pair weighs the product of its probabilities. Two states are separated as far as their answers are told apart, by
    one minus the Bhattacharyya affinity ``sum_v sqrt(P(v | h) P(v | h'))``: not at all where they answer alike, wholly
    where they never give the same answer. Where the problem offers no hidden states, the classes are taken.

    References
    ----------
    .. [1] D. Golovin, A. Krause and D. Ray, "Near-optimal Bayesian active learning with noisy observations", NIPS 2010
       (equivalence class edge cutting; there the answers have no noise, and what is left of a pair after an answer is
       weighted by the probability of that answer).

    Examples
    --------
    >>> import numpy as np
    >>> from seqclass.pomdp import MixtureProblem
    >>> pointer, useless = [[1, 0, 1, 0], [0, 1, 0, 1]], np.full((2, 4), 0.5)
    >>> problem = MixtureProblem(np.full(4, 0.25), [0, 0, 1, 1], [useless, pointer], prices=0.1, free=True)
    >>> EC2().scores(problem.begin())[:, 1].round(3)  # half of the pairs, which weigh .25 together, at a price of .1
    array([1.25])
    """

    def gains(self, info: InformationState, questions: IntArray) -> FloatArray:
        """Weight of the pairs that are separated; see `OrderingRule.gains`."""
        problem, hidden = info.problem, info.problem.hidden
        result: FloatArray = np.empty((len(info), len(questions)))
        if hidden is not None:
            states = hidden.probability(info)
            for places in together(problem, questions):
                tables, at = hidden.tables_of(questions[places])
                result[:, places] = tables.separated(states)[:, at]
            return result
        for part, places, likelihood in likelihood_parts(questions, info, problem.n_classes):
            belief, table = info.belief[part], common(likelihood)
            if table is not None:
                result[part, places] = _separated(belief, table)
            else:
                amplitude = np.sqrt(likelihood) * belief[:, None, None]
                result[part, places] = (1 - row_sums(row_sums(amplitude) ** 2)) / 2
        return result


def _separated(belief: FloatArray, table: FloatArray) -> FloatArray:
    """Weight of the pairs of classes that each question separates, (n, m), where all rows share their table."""
    shape, amplitude = table.shape[:2], np.sqrt(table.reshape(-1, table.shape[2]))
    result: FloatArray = np.empty((len(belief), shape[0]))
    for part in chunks(len(belief), 8.0 * 2 * len(amplitude), CACHE_BYTES):
        result[part] = (1 - row_sums(((belief[part] @ amplitude.T) ** 2).reshape(-1, *shape))) / 2
    return result
