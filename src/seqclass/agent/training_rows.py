"""What is kept of the training rows: marks to know them again, and how far their values reach."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from seqclass._utils.arrays import BoolArray, IntArray
from seqclass.agent._row_fingerprints import Marks, cells_of, row_marks
from seqclass.agent.agent import Agent, column_categories, features_to_ask, read_columns, to_numbers


def is_outside_training(agent: Agent, X: Any, order: IntArray) -> BoolArray:
    """Which answers of rows are numbers outside of what training showed, (n, columns that are read); what each row
    asked for is given as in `AcquisitionRecord.order`.
    """
    columns, known_columns = read_columns(agent), agent.support[agent.known]
    bundles: Any = agent.prices.bundles
    X = to_numbers(agent, X)[:, columns]
    X = X.tocsc() if hasattr(X, "tocsc") else X
    outside = np.zeros(X.shape, dtype=bool)
    for at, column in enumerate(columns.tolist()):
        ends = None if column_categories(agent, column) else agent.coder.training_range(column)
        if ends is not None:
            values = X[:, [at]].toarray()[:, 0] if hasattr(X, "toarray") else X[:, at]
            outside[:, at] = (values < ends[0]) | (values > ends[1])
        if outside[:, at].any() and column not in known_columns:
            whole = bundles is not None and bundles[column] >= 0  # a bundle goes by one of its columns
            outside[:, at] &= np.isin(order, np.flatnonzero(bundles == bundles[column]) if whole else column).any(
                axis=1
            )
    return outside


def fingerprint_columns(agent: Agent) -> IntArray:
    """Columns by which rows are known again: those that the problem may ask for, and those known at the start."""
    used: BoolArray = np.zeros(len(agent.support), dtype=bool)
    used[features_to_ask(agent, whole=True)] = used[agent.known] = True
    return np.sort(agent.support[used])


def mark_rows(agent: Agent, X: Any, y: npt.NDArray[Any]) -> list[Marks]:
    """Marks of rows, numbers already: by the columns that the problem may ask for, and the class."""
    codes, columns = np.searchsorted(agent.classes, y), fingerprint_columns(agent)
    return [row_marks(X, columns, codes, cells) for cells in cells_of(agent.coder.range_, columns)]
