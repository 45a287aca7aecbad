"""What a policy is expected to cost each person: by a model alone, and corrected by weighted surprises."""

from __future__ import annotations

import numpy as np

from seqclass._arrays import FloatArray, IntArray, chunks
from seqclass.offpolicy._completions import Completions
from seqclass.offpolicy._recorder import Chances
from seqclass.offpolicy._records import NEVER, Records
from seqclass.offpolicy._replay import PARTS, Replayer

#: People of each class by whom the expected costs along a policy's paths are estimated.
_POOL = 1000


def direct_scores(
    records: Records, rows: IntArray, label: IntArray, completions: Completions, replayer: Replayer
) -> FloatArray:
    """Expected parts of some rows given all that was seen of each, and its class, (len(rows), n_parts)."""
    result = np.empty((len(rows), len(PARTS)))
    for part in chunks(len(rows), completions.n_samples * (16.0 * completions.asked.size + 200)):
        some = rows[part]
        drawn = completions.draw(records.codes[some], label[part], np.arange(len(some)))
        who = np.repeat(some, completions.n_samples)
        parts = replayer.run(drawn.reshape(len(who), -1), who).parts(records.label[who])
        result[part] = parts.reshape(len(some), completions.n_samples, -1).mean(axis=1)
    return result


def robust_scores(
    records: Records,
    rows: IntArray,
    label: IntArray,
    completions: Completions,
    replayer: Replayer,
    chances: Chances,
) -> FloatArray:
    """Doubly robust scores of some rows, (len(rows), n_parts).

    Along a policy's path on a completed row stands the sum of what its answers change in the expected cost, each
    weighted by the inverse chance that the path so far was recorded. Over what the recorder does this has the mean of
    the cost itself, whatever is expected. The score is the model's expectation of it before anything was seen, plus by
    how much each cell that was revealed changed that expectation, which has mean zero under the model.
    """
    step, count = _steps(records, completions)
    pool, pool_label = _pool(completions, records, label, rows)
    result = np.empty((len(rows), len(PARTS)))
    longest = int(count[rows].max(initial=0)) + 1
    row_bytes = completions.asked.size * (100.0 + 40.0 * len(replayer.clf.classes_)) + 200
    for part in chunks(len(rows), longest * completions.n_samples * row_bytes):
        some = rows[part]
        n_steps = count[some] + 1
        first = np.cumsum(n_steps) - n_steps
        person = np.repeat(np.arange(len(some)), n_steps)
        at = np.arange(person.size) - np.repeat(first, n_steps)
        row = some[person]
        evidence = np.where(step[row] <= at[:, None], records.codes[row], -1)
        drawn = completions.draw(evidence, label[part][person], person).reshape(-1, records.asked.size)
        who = np.append(np.arange(len(pool)) % records.n, np.repeat(row, completions.n_samples))
        replay = replayer.run(np.concatenate([pool, drawn]), who)
        leaf = replay.leaf[len(pool) :].reshape(len(row), -1)
        increments = replay.increments(slice(len(pool)), pool_label)
        ranks = _ranks_by_step(records, step, some, longest)
        paths = replay.question[leaf]
        now = chances.along(row, paths, replayer.shows, ranks[person, at])
        later = chances.along(row, paths, replayer.shows, ranks[person, at + 1])
        last = at == n_steps[person] - 1
        change = np.where(last[:, None, None], now, now - later)
        change = np.concatenate([np.broadcast_to(last[:, None, None], (*leaf.shape, 1)), change], axis=2)
        value = increments[leaf, :, records.label[row][:, None]]
        terms = np.einsum("emt,emtp->ep", change, value) / completions.n_samples
        result[part] = np.add.reduceat(terms, first)
    return result


def _pool(completions: Completions, records: Records, label: IntArray, rows: IntArray) -> tuple[IntArray, IntArray]:
    """People that the model makes up, of each class of some rows: outcomes of what may be asked for, and classes."""
    classes, at = np.unique(records.label[rows], return_index=True)
    nothing = np.full((classes.size, records.codes.shape[1]), -1, dtype=records.codes.dtype)
    drawn = completions.draw(nothing, label[at], np.arange(classes.size), _POOL)
    return drawn.reshape(-1, records.asked.size), np.repeat(classes, _POOL)


def _steps(records: Records, completions: Completions) -> tuple[IntArray, IntArray]:
    """Step at which each feature of the model was revealed, (n, m), 0 at once, NEVER if not; and how many steps."""
    seen, rank = records.seen[:, records.support], records.rank[:, records.support]
    moving = seen if records.stepwise else seen & ~records.always[records.support]
    if completions.independent:  # what the policy does not ask for changes nothing
        moving = moving & np.isin(np.arange(len(records.support)), records.asked)
    order = np.argsort(np.where(moving, rank, NEVER), axis=1, kind="stable")
    place = np.empty_like(order)
    np.put_along_axis(place, order, np.arange(order.shape[1])[None, :], axis=1)
    return np.where(moving, place + 1, np.where(seen, 0, NEVER)), moving.sum(axis=1)


def _ranks_by_step(records: Records, step: IntArray, rows: IntArray, longest: int) -> IntArray:
    """The recorder's rank at each step of some rows, (len(rows), longest + 1); -1 before the first."""
    ranks = np.full((len(rows), longest + 1), -1)
    who, feature = np.nonzero((step[rows] > 0) & (step[rows] < NEVER))
    ranks[who, step[rows][who, feature]] = records.rank[rows][who, records.support[feature]]
    return ranks
