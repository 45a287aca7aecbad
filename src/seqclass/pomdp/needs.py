"""What solvers and bounds need of a problem: asked for once, at the door."""

from __future__ import annotations

from seqclass.pomdp.problem import AcquisitionProblem
from seqclass.pomdp.tables import Tables

_FREE = "Adaptive or Lookahead"


def needed_order(problem: AcquisitionProblem, who: str, instead: str = _FREE) -> None:
    """Refuse a problem in which any question may come next.

    Parameters
    ----------
    problem : AcquisitionProblem
        The problem.
    who : str
        Who needs a fixed order, for the message.
    instead : str
        What to use instead.

    Raises
    ------
    ValueError
        If the problem is free.

    Examples
    --------
    >>> import numpy as np
    >>> from seqclass.pomdp import TableProblem
    >>> problem = TableProblem([0.5, 0.5], np.array([[[0.9, 0.2], [0.1, 0.8]]]), prices=0.1, free=True)
    >>> needed_order(problem, "Perseus")
    Traceback (most recent call last):
        ...
    ValueError: Perseus needs a fixed order of questions, and here any may come next; use Adaptive or Lookahead.
    """
    if problem.free:
        raise ValueError(f"{who} needs a fixed order of questions, and here any may come next; use {instead}.")


def needed_tables(problem: AcquisitionProblem, who: str, instead: str) -> Tables:
    """Tables of a problem in a fixed order, or an error that says what to use instead.

    Parameters
    ----------
    problem : AcquisitionProblem
        The problem.
    who : str
        Who needs them, for the message.
    instead : str
        What to use where there are none.

    Returns
    -------
    Tables

    Raises
    ------
    ValueError
        If the problem is free, or has no tables.

    Examples
    --------
    >>> import numpy as np
    >>> from seqclass.pomdp import TableProblem
    >>> problem = TableProblem([0.5, 0.5], np.array([[[0.9, 0.2], [0.1, 0.8]]]), prices=0.1)
    >>> needed_tables(problem, "Perseus", "Lookahead").n_contexts(0)
    1
    """
    needed_order(problem, who)
    tables = problem.tables
    if tables is None:
        raise ValueError(
            f"{who} needs a problem with tables (a finite number of contexts), and this {type(problem).__name__} has "
            f"none; use {instead}."
        )
    return tables
