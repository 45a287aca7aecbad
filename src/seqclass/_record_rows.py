"""Rows of records: some of them, several records as one, and what they would have cost at other prices."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from seqclass._arrays import BoolArray, FloatArray, IntArray
from seqclass._record import AcquisitionRecord
from seqclass.costs import Prices


def repriced(record: AcquisitionRecord, prices: Prices, charge_missing: bool = False) -> FloatArray:
    """What was acquired would have cost at other prices, (n,): of a group the first in full, the others less."""
    return np.asarray(step_prices(record, prices, charge_missing).sum(axis=1))


def step_prices(record: AcquisitionRecord, prices: Prices, charge_missing: bool = False) -> FloatArray:
    """What each step costs, (n, longest): of a group the first in full, the others less; 0 beyond the stop."""
    spent = np.zeros(record.order.shape)
    groups = np.full(prices.full.shape, -1) if prices.groups is None else prices.groups
    paid = np.zeros((len(record), int(groups.max(initial=-1)) + 2), dtype=bool)
    for step, (column, outcome) in enumerate(zip(record.order.T, record.outcome.T)):
        rows = np.flatnonzero((column >= 0) & ((outcome >= 0) | charge_missing))
        bought, group = column[rows], groups[column[rows]]
        less = paid[rows, group] & (group >= 0)
        spent[rows, step] = np.where(less, prices.discounted[bought], prices.full[bought])
        paid[rows, group] = True
    return spent


def steps_of(record: AcquisitionRecord, taken: BoolArray) -> tuple[IntArray, IntArray]:
    """Instance and number of each step that is taken, (n, longest), and of the stop, which comes last."""
    rows, step = np.nonzero(taken)
    rows = np.concatenate([rows, np.arange(len(record))])
    step = np.concatenate([step, (record.order >= 0).sum(axis=1)])
    order = np.lexsort((step, rows))
    return rows[order], step[order]


def joined(records: Sequence[AcquisitionRecord]) -> AcquisitionRecord:
    """Records of parts of some rows as one, without beliefs."""
    longest = max((part.order.shape[1] for part in records), default=0)

    def wide(values: IntArray) -> IntArray:
        return np.pad(values, ((0, 0), (0, longest - values.shape[1])), constant_values=-1)

    return AcquisitionRecord(
        decision=np.concatenate([part.decision for part in records]),
        posterior=np.concatenate([part.posterior for part in records]),
        n_features=np.concatenate([part.n_features for part in records]),
        cost=np.concatenate([part.cost for part in records]),
        order=np.concatenate([wide(part.order) for part in records]),
        outcome=np.concatenate([wide(part.outcome) for part in records]),
    )


def rows_of(record: AcquisitionRecord, rows: IntArray) -> AcquisitionRecord:
    """Some rows of a record, without beliefs."""
    return AcquisitionRecord(
        record.decision[rows],
        record.posterior[rows],
        record.n_features[rows],
        record.cost[rows],
        record.order[rows],
        record.outcome[rows],
    )
