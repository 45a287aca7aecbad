"""What a policy is expected to cost each person: by a model alone, and corrected by weighted surprises."""

from __future__ import annotations

import numpy as np

from seqclass._arrays import FloatArray, IntArray, chunks
from seqclass.offpolicy._completions import Completions
from seqclass.offpolicy._recorder import Chances
from seqclass.offpolicy._records import NEVER, Records
from seqclass.offpolicy._replay import PARTS, Replayer


def direct_scores(
    records: Records, rows: IntArray, label: IntArray, completions: Completions, replayer: Replayer
) -> FloatArray:
    """Expected parts of some rows given all that was seen of each, and its class, (len(rows), n_parts)."""
    result = np.empty((len(rows), len(PARTS)))
    for part in chunks(len(rows), completions.n_samples * (16.0 * completions.asked.size + 200)):
        some = rows[part]
        replay = _replayed(records, records.codes[some], label[part], np.arange(len(some)), some, completions, replayer)
        result[part] = replay[0].mean(axis=1)
    return result


def robust_scores(
    records: Records,
    rows: IntArray,
    label: IntArray,
    completions: Completions,
    replayer: Replayer,
    chances: Chances,
) -> FloatArray:
    """Doubly robust scores of some rows, (len(rows), n_parts): what the model expects before anything is seen, plus
    by how much each cell that the recorder revealed changed what it expects of the weighted cost.

    The weight of a completion, up to a step of the recorder, has mean one over what the recorder does, so that the sum
    has the right mean if the chances are right; and what a cell changes has mean zero under the model that it follows.
    """
    step, count = _steps(records, completions)
    result = np.empty((len(rows), len(PARTS)))
    longest = int(count[rows].max(initial=0)) + 1
    for part in chunks(len(rows), longest * completions.n_samples * (40.0 * completions.asked.size + 200)):
        some = rows[part]
        n_steps = count[some] + 1
        person = np.repeat(np.arange(len(some)), n_steps)
        at = np.arange(person.size) - np.repeat(np.cumsum(n_steps) - n_steps, n_steps)
        row = some[person]
        evidence = np.where(step[row] <= at[:, None], records.codes[row], -1)
        parts, asked = _replayed(records, evidence, label[part][person], person, row, completions, replayer)
        ranks = _ranks_by_step(records, step, some, longest)
        who = np.repeat(row, completions.n_samples)
        now, after = (
            chances.weights(who, asked, np.repeat(ranks[person, t], completions.n_samples)) for t in (at, at + 1)
        )
        last = np.repeat(at == n_steps[person] - 1, completions.n_samples)
        change = np.where(last, now, now - after).reshape(len(row), -1)
        terms = (parts * change[:, :, None]).mean(axis=1)
        result[part] = np.add.reduceat(terms, np.cumsum(n_steps) - n_steps)
    return result


def _replayed(
    records: Records,
    evidence: IntArray,
    label: IntArray,
    person: IntArray,
    row: IntArray,
    completions: Completions,
    replayer: Replayer,
) -> tuple[FloatArray, np.ndarray]:
    """Parts of the completions of evidence, (n, n_samples, n_parts), and what they ask, (n * n_samples, n_asked)."""
    drawn = completions.draw(evidence, label, person)
    who = np.repeat(row, completions.n_samples)
    replay = replayer.run(drawn.reshape(len(who), -1), records.label[who], who)
    return replay.parts.reshape(len(evidence), completions.n_samples, -1), replay.asked


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
