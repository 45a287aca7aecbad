"""Generated worlds: random tables, of which samples and the least expected cost are known."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from seqclass._utils.arrays import FloatArray, as_generator
from seqclass._utils.validation import check_costs, check_integer, check_real
from seqclass.costs import resolve_prices
from seqclass.datasets._conditional import Conditional
from seqclass.datasets._dataset import Dataset
from seqclass.datasets._hidden import HiddenStates
from seqclass.datasets._world import World


def make_naive_bayes_world(
    n_samples: int = 1000,
    n_features: int = 8,
    n_classes: int = 2,
    n_outcomes: int = 3,
    *,
    concentration: float = 1.0,
    prior: npt.ArrayLike | None = None,
    feature_costs: Any = 0.05,
    decision_costs: npt.ArrayLike | None = None,
    random_state: Any = 0,
) -> Dataset:
    """Rows drawn from a random naive Bayes model.

    P(outcome | class) of each feature and class is drawn from a symmetric Dirichlet distribution.

    Parameters
    ----------
    n_samples, n_features, n_classes, n_outcomes : int
        Rows, features, classes, and outcomes of each feature.
    concentration : float
        Of the Dirichlet distribution: below 1 features tell much about the class, above it little.
    prior : array-like of shape (n_classes,), optional
        P(class); uniform by default.
    feature_costs : float or array-like of shape (n_features,)
        Prices, in units of misclassification cost.
    decision_costs : array-like of shape (n_classes, n_decisions), optional
        Cost of each decision when each class is true; by default 1 for a wrong class.
    random_state : None, int or numpy generator
        Seed of the tables and of the rows.

    Returns
    -------
    Dataset
        With ``world``, the tables, ``truth``, the same with a hidden state a class, and ``optimum`` where the histories
        are few enough to try all.

    Raises
    ------
    ValueError
        If a number is out of range.

    Examples
    --------
    >>> data = make_naive_bayes_world(200, n_features=5, random_state=0)
    >>> data.world.tables[0].shape
    (3, 2)
    >>> print(data.optimum)
    0.1186 in any order, 0.1204 in column order, 0.5 unasked, 0.02741 all known
    """
    rng = as_generator(random_state)
    parents = (-1,) * check_integer(n_features, "n_features", 1)
    world = _random_world(parents, n_classes, n_outcomes, concentration, prior, rng)
    text = f"Sample of a random naive Bayes model: {n_features} features of {n_outcomes} outcomes given the class."
    return _sampled("naive_bayes_world", world, n_samples, feature_costs, decision_costs, text, rng)


def make_tree_world(
    n_samples: int = 1000,
    n_features: int = 8,
    n_classes: int = 2,
    n_outcomes: int = 3,
    *,
    concentration: float = 1.0,
    prior: npt.ArrayLike | None = None,
    feature_costs: Any = 0.05,
    decision_costs: npt.ArrayLike | None = None,
    random_state: Any = 0,
) -> Dataset:
    """Rows drawn from a random tree network: correlated features, a tree over them in every class.

    Each feature but the first depends on the class and on one feature before it, which is drawn evenly. Its
    distribution given both is drawn from a symmetric Dirichlet distribution.

    Parameters
    ----------
    n_samples, n_features, n_classes, n_outcomes : int
        Rows, features, classes, and outcomes of each feature.
    concentration : float
        Of the Dirichlet distribution: the lower, the more features depend on their parent and the class.
    prior : array-like of shape (n_classes,), optional
        P(class); uniform by default.
    feature_costs : float or array-like of shape (n_features,)
        Prices, in units of misclassification cost.
    decision_costs : array-like of shape (n_classes, n_decisions), optional
        Cost of each decision when each class is true; by default 1 for a wrong class.
    random_state : None, int or numpy generator
        Seed of the tree, of the tables and of the rows.

    Returns
    -------
    Dataset
        With ``world``, the tree and its tables, and ``optimum`` where the histories are few enough to try all.

    Raises
    ------
    ValueError
        If a number is out of range.

    Examples
    --------
    >>> data = make_tree_world(200, n_features=5, random_state=0)
    >>> data.world.parents
    (-1, 0, 1, 1, 2)
    >>> data.optimum.full <= data.optimum.any_order <= data.optimum.in_order <= data.optimum.prior
    True
    """
    rng = as_generator(random_state)
    n = check_integer(n_features, "n_features", 1)
    parents = (-1, *(int(rng.integers(j)) for j in range(1, n)))
    world = _random_world(parents, n_classes, n_outcomes, concentration, prior, rng)
    text = f"Sample of a random tree network: {n_features} features of {n_outcomes} outcomes, correlated in each class."
    return _sampled("tree_world", world, n_samples, feature_costs, decision_costs, text, rng)


def _random_world(
    parents: tuple[int, ...],
    n_classes: int,
    n_outcomes: int,
    concentration: float,
    prior: npt.ArrayLike | None,
    rng: np.random.Generator,
) -> World:
    check_integer(n_classes, "n_classes", 2)
    check_integer(n_outcomes, "n_outcomes", 2)
    alpha = np.full(n_outcomes, check_real(concentration, "concentration", 1e-3, 1e6))
    draw: Callable[[int], FloatArray] = lambda n: np.moveaxis(rng.dirichlet(alpha, (n, n_classes)), 1, 2)  # noqa: E731
    tables = tuple(draw(1)[0] if parent < 0 else draw(n_outcomes) for parent in parents)
    weights = np.full(n_classes, 1 / n_classes) if prior is None else np.asarray(prior, dtype=np.float64)
    if weights.shape != (n_classes,):
        raise ValueError(f"prior must have one entry for each of the {n_classes} classes, got shape {weights.shape}.")
    return World(weights, parents, tables)


def _sampled(
    name: str,
    world: World,
    n_samples: int,
    feature_costs: Any,
    decision_costs: npt.ArrayLike | None,
    description: str,
    rng: np.random.Generator,
) -> Dataset:
    prices = resolve_prices(feature_costs, len(world.tables)).full
    n_classes = len(world.prior)
    costs = None if decision_costs is None else check_costs(decision_costs, "decision_costs")
    n_further = 0 if costs is None else max(0, costs.shape[-1] - n_classes)
    X, y = world.sample(check_integer(n_samples, "n_samples", 1), rng)
    features = tuple(Conditional.from_table(range(len(table)), table) for table in world.tables if table.ndim == 2)
    independent = len(features) == len(world.tables)
    return Dataset(
        name=name,
        X=X,
        y=y,
        class_names=tuple(str(c) for c in range(n_classes)),
        feature_costs=prices,
        decision_costs=costs,
        decisions=tuple(f"further {k}" for k in range(n_further)),
        informative=np.arange(len(world.tables)),
        world=world,
        truth=HiddenStates(world.prior, np.arange(n_classes), features) if independent else None,
        optimum=world.optimum(prices, costs) if world.enumerable else None,
        description=description,
        source="generated by seqclass",
    )
