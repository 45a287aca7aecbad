"""What a semi-randomised search leaves behind: one record an iteration, one line an evaluation."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import astuple, dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

#: Columns of `history_`.
STEPS = np.dtype(
    [
        ("iteration", np.int64),
        ("move", "U6"),
        ("group_size", np.int64),
        ("removal_group_size", np.int64),
        ("n_features", np.int64),
        ("candidate_score", np.float64),
        ("score", np.float64),
        ("best_score", np.float64),
        ("accepted", np.bool_),
        ("improved", np.bool_),
        ("stage", np.float64),
        ("share_improving", np.float64),
        ("n_evaluations", np.int64),
        ("time", np.float64),
    ]
)
#: Columns of `evaluations_`.
EVALUATIONS = np.dtype(
    [
        ("iteration", np.int64),
        ("n_features", np.int64),
        ("score", np.float64),
        ("score_std", np.float64),
        ("best_score", np.float64),
        ("time", np.float64),
    ]
)


@dataclass(frozen=True)
class SemiRFSStep:
    """One iteration of a search: a row of ``SemiRFS.history_``, and what its callback is given.

    Attributes
    ----------
    iteration : int
        Its number; 0 is the evaluation of the initial subset.
    move : str
        ``"start"``, ``"swap"`` (add one, remove one), ``"add"`` or ``"remove"``.
    group_size, removal_group_size : int
        Candidates tried for addition (g) and for removal (g').
    n_features : int
        Size of the current subset, after the iteration.
    candidate_score : float
        Score of the best candidate, A'; minus infinity if it could not be scored.
    score, best_score : float
        Score of the current subset, A, and the best of any subset so far.
    accepted, improved : bool
        Whether the candidate was taken, and whether it was better than the subset before.
    stage, share_improving : float
        N_ni of eq. (2) and PCT_imp of eq. (5), with which the group sizes were computed.
    n_evaluations : int
        Subsets scored so far.
    time : float
        Seconds since the start.

    Examples
    --------
    >>> SemiRFSStep(0, "start", 0, 0, 20, 0.6, 0.6, 0.6, True, True, 0.0, 0.0, 1, 0.02).n_features
    20
    """

    iteration: int
    move: str
    group_size: int
    removal_group_size: int
    n_features: int
    candidate_score: float
    score: float
    best_score: float
    accepted: bool
    improved: bool
    stage: float
    share_improving: float
    n_evaluations: int
    time: float


def as_history(steps: Sequence[SemiRFSStep]) -> npt.NDArray[Any]:
    """Structured array of the steps, one row each.

    Examples
    --------
    >>> as_history([]).dtype.names[:2]
    ('iteration', 'move')
    """
    return np.array([astuple(step) for step in steps], dtype=STEPS)


def as_steps(history: npt.NDArray[Any]) -> list[SemiRFSStep]:
    """Steps of a structured array."""
    return [SemiRFSStep(*row) for row in history.tolist()]


def columns(table: npt.NDArray[Any]) -> dict[str, npt.NDArray[Any]]:
    """Columns of a structured array, by name, which a state file can hold."""
    return {name: np.ascontiguousarray(table[name]) for name in table.dtype.names or ()}


def from_columns(parts: dict[str, npt.NDArray[Any]], dtype: np.dtype[Any]) -> npt.NDArray[Any]:
    """Structured array of such columns."""
    names = dtype.names or ()
    table = np.empty(len(parts[names[0]]), dtype=dtype)
    for name in names:
        table[name] = parts[name]
    return table
