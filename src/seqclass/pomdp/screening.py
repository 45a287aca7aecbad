"""What questions tell and save, in single precision first: in double only where that may say what is best."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from seqclass._utils.arrays import BoolArray, FloatArray, chunks
from seqclass.pomdp.latent import Hidden
from seqclass.pomdp.one_step import candidate_questions
from seqclass.pomdp.problem import BeliefState, has_requirements

__all__: list[str] = []


def leading_questions(
    belief: BeliefState, unit_prices: FloatArray, min_rows: int = 256, part_rows: int = 2048
) -> tuple[FloatArray, FloatArray] | None:
    """Information a unit of price and `one_step_costs` of what may be best by either; -inf and inf of all else.

    None of fewer rows, for which it would not pay, and of problems without hidden states, with bundles or with what has
    to be asked. The answers of a part's rows stay in the cache.
    """
    problem, hidden = belief.problem, belief.problem.structure.latent
    if hidden is None or len(belief) < min_rows or problem.bundles is not None or has_requirements(problem):
        return None
    states, vectors, among = hidden.probability(belief), problem.decision_costs.T, candidate_questions(belief)
    shape = among.shape
    told, cost = np.empty(shape, dtype=np.float32), np.empty(shape, dtype=np.float32)
    for part in chunks(len(belief), 1.0, part_rows):
        every, single = belief.available[part], states[part].astype(np.float32)
        told[part], cost[part] = class_scores(hidden, single, every, every, vectors)
    # each is a sum of so many rounded numbers, whose sizes sum up to no more
    answers = problem.n_classes * float(problem.n_outcomes.max(initial=1))
    error = (states.shape[1] + answers) * float(np.finfo(np.float32).eps) * (1 + np.log(answers))
    least = ((told - error) / unit_prices).max(axis=1, keepdims=True, where=among, initial=-np.inf)
    first = among & ((told + error) / unit_prices >= least - 1e-9 * np.maximum(np.abs(least), 1.0))
    paid = cost + belief.prices
    cheapest = paid <= paid.min(axis=1, keepdims=True) + 2 * error * vectors.max(initial=0.0)
    gains, costs = class_scores(hidden, states, first, first | (cheapest & belief.available), vectors)
    return np.where(among, gains / unit_prices, -np.inf), costs + belief.prices


def class_scores(
    hidden: Hidden, states: npt.NDArray[Any], among: BoolArray, wanted: BoolArray, vectors: FloatArray
) -> tuple[npt.NDArray[Any], npt.NDArray[Any]]:
    """I(answer; class) in nats and the expected cost of the best of some vectors after questions, (n, m).

    Both in the precision of ``states``; -inf where a question is not ``among`` those wanted, and inf where not wanted.
    """
    kind, n_classes = states.dtype, len(hidden.members)
    tiny, vectors = np.finfo(kind).tiny, vectors.astype(kind)
    by_class = [np.ascontiguousarray(states[:, own]) for own in hidden.members]
    known = np.stack([part.sum(axis=1) for part in by_class])
    known = (known * np.log(known + tiny)).sum(axis=0)
    # a question a row, which is written at once
    told, cost = np.full(wanted.shape[::-1], -np.inf, kind), np.full(wanted.shape[::-1], np.inf, kind)
    for question in np.flatnonzero(wanted.any(axis=0)).tolist():
        rows = wanted[:, question].nonzero()[0]
        tables = hidden.tables_in(kind)[question]
        joint = np.empty((n_classes, len(rows), tables[0].shape[1]), kind)
        for part, table, of_class in zip(by_class, tables, joint):
            np.matmul(part.take(rows, axis=0), table, out=of_class)
        ones = np.ones(joint.shape[2], kind)
        cost[question, rows] = (vectors @ joint.reshape(n_classes, -1)).min(axis=0).reshape(joint.shape[1:]) @ ones
        scored = among[rows, question].nonzero()[0]
        if len(scored) < len(rows):
            rows, joint = rows[scored], joint.take(scored, axis=1)
        each = joint / (joint.sum(axis=0) + tiny)
        each += tiny
        np.log(each, out=each)
        each *= joint
        told[question, rows] = each.sum(axis=0) @ ones - known[rows]
    return told.T, cost.T
