"""Known distributions of classes and features, as tables."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np
import numpy.typing as npt

from seqclass._utils.arrays import FloatArray, IntArray, as_generator, smallest_int
from seqclass._utils.tables import Readable
from seqclass._utils.validation import check_distribution, check_integer
from seqclass.costs import Costs, Prices

#: Cells of the joint table up to which it is made.
MAX_CELLS = 2**22


def stop_cost(joint: FloatArray, decision_costs: FloatArray) -> FloatArray:
    """Cost of the best decision at each history, times the history's probability."""
    return np.asarray((joint @ decision_costs).min(axis=-1))


def cost_in_order(joint: FloatArray, prices: npt.ArrayLike, decision_costs: FloatArray) -> float:
    """Least expected cost when features come in the order of the axes, and all that one may do is to stop."""
    # Bellman backward, on values that are multiplied by the probability of the history: no division
    value = stop_cost(joint, decision_costs)
    for price in np.asarray(prices, dtype=np.float64)[::-1]:
        joint = joint.sum(axis=-2)
        value = np.minimum(stop_cost(joint, decision_costs), price * joint.sum(axis=-1) + value.sum(axis=-1))
    return float(value)


def cost_any_order(joint: FloatArray, prices: Prices, decision_costs: FloatArray) -> float:
    """Least expected cost when any feature may be asked for at any time: Bellman over all sets of features."""
    n = joint.ndim - 1
    # value of every outcome of the features that are known
    values = {tuple(range(n)): stop_cost(joint, decision_costs)}
    for known in (known for size in range(n - 1, -1, -1) for known in combinations(range(n), size)):
        unknown = [j for j in range(n) if j not in known]
        seen = joint.sum(axis=tuple(unknown))
        best, mass = stop_cost(seen, decision_costs), seen.sum(axis=-1)
        for j in unknown:
            more = tuple(sorted((*known, j)))
            np.minimum(best, _price(j, known, prices) * mass + values[more].sum(axis=more.index(j)), out=best)
        values[known] = best
    return float(values[()])


def _price(feature: int, known: tuple[int, ...], prices: Prices) -> float:
    groups: Any = prices.groups
    shared = groups is not None and groups[feature] >= 0 and any(groups[k] == groups[feature] for k in known)
    return float((prices.discounted if shared else prices.full)[feature])


@dataclass(frozen=True, repr=False)
class Optimum(Readable):
    """Least expected costs, prices and decisions together, in a known distribution.

    Attributes
    ----------
    in_order : float
        Least cost of policies that ask for the features in the order of the columns, and may stop at any time.
    any_order : float or None
        Least cost of all policies; None if there are too many histories to try.
    full : float
        Cost of the best decision when every feature is known for free; no policy beats it.
    prior : float
        Cost of the best decision when no feature is known.

    Examples
    --------
    >>> Optimum(0.25, 0.2, 0.1, 0.5).any_order
    0.2
    """

    _costs = ("in_order", "any_order", "full", "prior")

    in_order: float
    any_order: float | None
    full: float
    prior: float

    def __str__(self) -> str:
        any_order = "" if self.any_order is None else f"{self.any_order:.4g} in any order, "
        return f"{any_order}{self.in_order:.4g} in column order, {self.prior:.4g} unasked, {self.full:.4g} all known"


@dataclass(frozen=True, eq=False, repr=False)
class World(Readable):
    """A class, and discrete features that each depend on the class and on at most one earlier feature.

    Attributes
    ----------
    prior : ndarray of shape (n_classes,)
        P(class).
    parents : tuple of int
        Feature that each one depends on besides the class, always one before it; -1 for none. All -1: naive Bayes.
    tables : tuple of ndarray
        P(outcome | class) of shape (n_outcomes, n_classes), or P(outcome | outcome of the parent, class) of shape
        (n_outcomes of the parent, n_outcomes, n_classes).

    Raises
    ------
    ValueError
        If a table is no distribution over outcomes or does not fit its parent's.

    Notes
    -----
    Where there are no parents the tables are those of a `seqclass.pomdp.TableProblem`, so that any solver says what is
    optimal where histories are too many for `optimum`::

        problem = TableProblem(world.prior, world.tables, prices=0.05)
        policy = GridValueIteration().solve(problem)

    Examples
    --------
    >>> import numpy as np
    >>> world = World(np.array([0.5, 0.5]), (-1,), (np.array([[0.9, 0.2], [0.1, 0.8]]),))
    >>> print(world.optimum(feature_costs=0.1))
    0.25 in any order, 0.25 in column order, 0.5 unasked, 0.15 all known
    """

    _axis = "class"

    prior: FloatArray
    parents: tuple[int, ...]
    tables: tuple[FloatArray, ...]

    def __post_init__(self) -> None:
        n_classes = check_distribution(self.prior, None, "prior").size
        if len(self.parents) != len(self.tables):
            raise ValueError(f"parents must have one entry a table, {len(self.tables)}, got {len(self.parents)}.")
        for j, (parent, table) in enumerate(zip(self.parents, self.tables)):
            if not -1 <= parent < j:
                raise ValueError(f"parents[{j}] must be a feature before it, or -1, got {parent}.")
            above = () if parent < 0 else (self.tables[parent].shape[-2],)
            if table.shape != (*above, table.shape[-2], n_classes):
                raise ValueError(
                    f"tables[{j}] must end in the {n_classes} classes and fit its parent, got {table.shape}."
                )
            if table.min() < 0 or np.abs(table.sum(axis=-2) - 1).max() > 1e-6:
                raise ValueError(f"tables[{j}] must be a distribution over outcomes for each class.")

    @property
    def n_outcomes(self) -> tuple[int, ...]:
        """Number of outcomes of each feature."""
        return tuple(table.shape[-2] for table in self.tables)

    def sample(self, n: int, random_state: Any = None) -> tuple[IntArray, IntArray]:
        """Draw outcomes (integers) and classes of ``n`` instances; see `HiddenStates.sample`."""
        rng = as_generator(random_state)
        check_integer(n, "n", 0)
        y = rng.choice(len(self.prior), n, p=check_distribution(self.prior, None, "prior")).astype(np.int64)
        X = np.empty((n, len(self.tables)), dtype=smallest_int(max(self.n_outcomes, default=1) - 1), order="F")
        for j, (parent, table) in enumerate(zip(self.parents, self.tables)):
            cumulative = np.cumsum(table, axis=-2)
            rows = cumulative[:, y].T if parent < 0 else cumulative[X[:, parent], :, y]
            # the last bound is left out: rounding may leave it below one
            X[:, j] = (rng.random((n, 1)) >= rows[:, :-1]).sum(axis=1)
        return np.ascontiguousarray(X), y

    def joint(self) -> FloatArray:
        """Return P(outcomes, class) as one table.

        Returns
        -------
        ndarray of shape (V_1, ..., V_K, n_classes)

        Raises
        ------
        ValueError
            If the table would have more than four million cells.

        Examples
        --------
        >>> import numpy as np
        >>> World(np.array([0.5, 0.5]), (-1,), (np.array([[0.9, 0.2], [0.1, 0.8]]),)).joint()
        array([[0.45, 0.1 ],
               [0.05, 0.4 ]])
        """
        if not self.enumerable:
            raise ValueError(f"{len(self.tables)} features have too many joint outcomes for a table; take fewer.")
        joint = np.asarray(self.prior, dtype=np.float64)
        for j, (parent, table) in enumerate(zip(self.parents, self.tables)):
            shape = [1] * j + list(table.shape[-2:])
            if parent >= 0:
                shape[parent] = table.shape[0]
            joint = joint[..., None, :] * table.reshape(shape)
        return joint

    @property
    def enumerable(self) -> bool:
        """Whether the joint table has at most four million cells, in as many axes as numpy allows."""
        cells = len(self.prior) * np.prod(self.n_outcomes, dtype=np.float64)
        return bool(len(self.tables) <= 30 and cells <= MAX_CELLS)

    def optimum(
        self,
        feature_costs: Any,
        decision_costs: npt.ArrayLike | None = None,
        groups: Any = None,
        discounted_costs: Any = None,
    ) -> Optimum:
        """Compute least expected costs exactly, by enumeration of all histories.

        Parameters
        ----------
        feature_costs : float or array-like of shape (n_features,)
            Prices, in units of misclassification cost.
        decision_costs : array-like of shape (n_classes, n_decisions), optional
            Cost of each decision when each class is true; by default 1 for a wrong class.
        groups, discounted_costs : array-like of shape (n_features,), optional
            Features that share a discount, and their price once one of them was acquired.

        Returns
        -------
        Optimum

        Raises
        ------
        ValueError
            If there are too many histories.

        Examples
        --------
        >>> import numpy as np
        >>> useless, perfect = np.full((2, 2), 0.5), np.eye(2)
        >>> world = World(np.array([0.5, 0.5]), (-1, -1), (useless, perfect))
        >>> best = world.optimum(feature_costs=0.1)
        >>> best.in_order, best.any_order
        (0.2, 0.1)
        """
        n, classes = len(self.tables), np.arange(len(self.prior))
        prices = Costs(feature_costs, groups=groups, discounted_costs=discounted_costs).prices(n)
        extra = 0 if decision_costs is None else max(0, np.shape(decision_costs)[-1] - len(classes))
        further = [f"further {k}" for k in range(extra)] or None
        costs = Costs(decision_costs=decision_costs, decisions=further).of_decisions(classes)[0]
        joint = self.joint()
        states = np.prod(np.array(self.n_outcomes) + 1, dtype=np.float64) * len(classes)
        in_order = cost_in_order(joint, prices.for_order(np.arange(n))[0], costs)
        return Optimum(
            in_order=in_order,
            # sums in another order must not make it look worse
            any_order=min(in_order, cost_any_order(joint, prices, costs)) if states <= MAX_CELLS else None,
            full=float(stop_cost(joint, costs).sum()),
            prior=float(stop_cost(np.asarray(self.prior), costs)),
        )
