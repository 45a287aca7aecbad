"""On how many data sets one method beats another."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from seqclass._utils.arrays import IntArray
from seqclass._utils.tables import Readable
from seqclass.stats._scores import TOLERANCE, check_table


@dataclass(frozen=True, eq=False, repr=False)
class WinTieLoss(Readable):
    """Counts of data sets on which the method of the row wins against, ties with and loses to that of the column.

    Attributes
    ----------
    names : tuple of str
        The methods.
    wins, ties, losses : ndarray of int of shape (n_methods, n_methods)
        Numbers of data sets; zero on the diagonal.

    Examples
    --------
    >>> win_tie_loss([[0.9, 0.8], [0.7, 0.7], [0.9, 0.6]]).wins.tolist()
    [[0, 2], [0, 0]]
    """

    _in_summary = ("names", "wins", "ties", "losses")

    names: tuple[str, ...]
    wins: IntArray
    ties: IntArray
    losses: IntArray

    def _table(self) -> Any:
        import pandas as pd

        k = range(len(self.names))
        texts = [["-" if i == j else f"{self.wins[i, j]}/{self.ties[i, j]}/{self.losses[i, j]}" for j in k] for i in k]
        return pd.DataFrame(texts, index=pd.Index(self.names), columns=pd.Index(self.names))


def win_tie_loss(scores: Any, *, higher_is_better: bool = True) -> WinTieLoss:
    """Count the data sets on which each method beats each other one."""
    table, labels = check_table(scores, None, "raise")
    k = len(labels)
    wins, ties = np.zeros((k, k), dtype=np.int64), np.zeros((k, k), dtype=np.int64)
    for j in range(k):
        ahead = (table - table[:, j : j + 1]) * (1 if higher_is_better else -1)
        wins[:, j] = (ahead > TOLERANCE).sum(axis=0)
        ties[:, j] = (np.abs(ahead) <= TOLERANCE).sum(axis=0)
    np.fill_diagonal(ties, 0)
    return WinTieLoss(labels, wins, ties, wins.T.copy())
