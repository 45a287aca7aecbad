"""The few of very many questions that are worth scoring again after every answer."""

from __future__ import annotations

import numpy as np

from seqclass.pomdp.problem import AcquisitionProblem
from seqclass.pomdp.solvers.ordering.class_information import ClassInformation
from seqclass.pomdp.solvers.ordering.hidden_information import HiddenInformation


def most_telling(problem: AcquisitionProblem, n: int) -> AcquisitionProblem:
    """Keep the questions that tell most about the class before anything is known, per price.

    Where the problem offers hidden states, those are kept in turn that tell most about the hidden state.

    Parameters
    ----------
    problem : AcquisitionProblem
        A problem in which any question may come next.
    n : int
        How many to keep.

    Returns
    -------
    AcquisitionProblem
        The questions stay in their order; the problem itself where it has no more of them.

    Examples
    --------
    >>> from seqclass.pomdp import TableProblem
    >>> sensors = np.array([[[0.6, 0.4], [0.4, 0.6]], [[0.9, 0.2], [0.1, 0.8]], [[0.5, 0.5], [0.5, 0.5]]])
    >>> most_telling(TableProblem([0.5, 0.5], sensors, prices=0.1, free=True), 2).features
    array([0, 1])
    """
    if problem.n_questions <= n:
        return problem
    rules = [ClassInformation(), *([] if problem.hidden is None else [HiddenInformation()])]
    start = problem.begin()
    orders = [np.argsort(-rule.scores(start)[0], kind="stable") for rule in rules]
    questions, first = np.unique(np.stack(orders, axis=1), return_index=True)
    return problem.among(np.sort(questions[np.argsort(first)[:n]]))
