"""Small problems to try solvers on."""

from __future__ import annotations

from typing import Any

import numpy as np

from seqclass._arrays import as_generator
from seqclass.pomdp import TableProblem


def sample_problems(n: int = 12, random_state: Any = 0, *, free: bool = False) -> list[TableProblem]:
    """Small random problems, each with one special thing in it.

    Among them are decisions other than the classes, outcomes that a class never gives, classes of prior 0,
    free features, features that say nothing, equal costs, a single stage, and contexts (in a free problem a budget).

    Parameters
    ----------
    n : int
        Number of problems.
    random_state : int, generator or None
        Seed.
    free : bool
        Whether any question may come next.

    Returns
    -------
    list of TableProblem

    Examples
    --------
    >>> [problem.n_classes for problem in sample_problems(4)]
    [2, 3, 2, 3]
    """
    rng = as_generator(random_state)
    return [_sample(rng, 2 + (number + number // 8) % 2, number % 8, free) for number in range(n)]


def _sample(rng: np.random.Generator, n_classes: int, kind: int, free: bool) -> TableProblem:
    n_stages = 1 if kind == 6 else 4
    sizes = [2 if kind == 7 and stage and not free else 1 for stage in range(n_stages)]
    tables = [rng.dirichlet(np.ones(3), size=(size, n_classes)).transpose(0, 2, 1) for size in sizes]
    prior = rng.dirichlet(np.ones(n_classes))
    prices = rng.random(n_stages) * 0.08
    costs = np.column_stack([1 - np.eye(n_classes), rng.random((n_classes, int(kind == 1))) * 0.5])
    if kind == 2:
        tables = [np.where(table == table.min(axis=1, keepdims=True), 0, table) for table in tables]
        tables = [table / table.sum(axis=1, keepdims=True) for table in tables]
    elif kind == 3:
        prior[0] = 0.0
        prior /= prior.sum()
    elif kind == 4:
        prices[::2] = 0.0
        tables[1] = np.repeat(tables[1][:, :, :1], n_classes, axis=2)
    elif kind == 5:
        costs[:, 1] = costs[:, 0]
    if kind != 7 or free:
        most = 2 if kind == 7 else None
        return TableProblem(prior, [table[0] for table in tables], prices, costs, free=free, max_questions=most)
    moves = [rng.integers(after, size=(size, 4)) for size, after in zip(sizes, [*sizes[1:], 1])]
    return TableProblem(prior, tables, prices, costs, transitions=moves)
