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
            member, states = np.eye(problem.n_classes)[hidden.classes], hidden.probability(info)
            for places in together(problem, questions):
                result[:, places] = separated(states, hidden.likelihoods_of(questions[places]), member)
            return result
        member = np.eye(problem.n_classes)
        for part, places, likelihood in likelihood_parts(questions, info, problem.n_classes):
            belief, table = info.belief[part], common(likelihood)
            if table is not None:
                result[part, places] = separated(belief, table, member)
            else:
                amplitude = np.sqrt(likelihood) * belief[:, None, None]
                result[part, places] = (1 - row_sums(row_sums(amplitude) ** 2)) / 2
        return result


def separated(states: FloatArray, table: FloatArray, member: FloatArray) -> FloatArray:
    """Weight of the pairs of states of different classes that each question separates, (n, m).

    Parameters
    ----------
    states : ndarray of shape (n, n_hidden)
        P(hidden state) of each row.
    table : ndarray of shape (m, V, n_hidden)
        P(outcome | hidden state) of each question.
    member : ndarray of shape (n_hidden, n_classes)
        One where the state belongs to the class, else zero.

    Returns
    -------
    ndarray of shape (n, m)

    Examples
    --------
    >>> separated(np.array([[0.5, 0.5]]), np.eye(2)[None], np.eye(2))
    array([[0.25]])
    """
    shape, amplitude = table.shape[:2], np.sqrt(table.reshape(-1, table.shape[2]))
    result: FloatArray = np.empty((len(states), shape[0]))
    several = [own for own in map(np.flatnonzero, member.T) if own.size > 1]
    alone = np.flatnonzero(member[:, member.sum(axis=0) == 1].any(axis=1))
    for part in chunks(len(states), 8.0 * 2 * len(amplitude), CACHE_BYTES):
        # twice the weight of all pairs is one less that of pairs within a class; the same of pairs that answer alike
        alike = (states[part] @ amplitude.T) ** 2
        within = (states[part][:, alone] ** 2).sum(axis=1, keepdims=True)
        for own in several:
            of_class = states[part][:, own]
            alike -= (of_class @ amplitude[:, own].T) ** 2
            within = within + of_class.sum(axis=1, keepdims=True) ** 2
        # a state answers like itself
        kept = row_sums(alike.reshape(-1, *shape)) - (states[part][:, alone] ** 2).sum(axis=1, keepdims=True)
        result[part] = (1 - within - kept) / 2
    return result
