"""Where observation models meet acquisition problems."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from seqclass._arrays import FloatArray, IntArray
from seqclass.bn import ObservationModel, as_order, check_order
from seqclass.costs import Prices
from seqclass.pomdp import AcquisitionProblem, TableProblem


class ModelProblem(AcquisitionProblem):
    """An acquisition problem whose likelihoods come from an observation model, messages kept in its state.

    Parameters
    ----------
    model : ObservationModel
        A fitted model.
    prior : array-like of shape (n_classes,)
        P(class) before anything is acquired.
    features : ndarray of int of shape (n_stages,)
        Feature of each stage.
    prices : ndarray of shape (n_stages,)
        Price of each stage.
    decision_costs : ndarray of shape (n_classes, n_decisions)
        Cost of each decision when each class is true.
    groups, full_prices : ndarray of shape (n_stages,), optional
        See `AcquisitionProblem`.
    """

    def __init__(
        self,
        model: ObservationModel,
        prior: npt.ArrayLike,
        features: IntArray,
        prices: FloatArray,
        decision_costs: FloatArray,
        groups: IntArray | None = None,
        full_prices: FloatArray | None = None,
    ) -> None:
        outcomes = model.n_outcomes_[features]
        super().__init__(prior, prices, outcomes, decision_costs, features, groups, full_prices)
        self.model = model

    def start(self, n: int) -> Any:
        """Return the model's state of ``n`` instances."""
        return self.model.start(n)

    def likelihood(self, stage: int, state: Any) -> FloatArray:
        """P(outcome | what was seen, class), (n, n_outcomes, n_classes)."""
        return self.model.stage_likelihood(int(self.features[stage]), state)

    def advance(self, stage: int, state: Any, outcome: IntArray) -> Any:
        """Return the model's state after an outcome."""
        return self.model.advance(int(self.features[stage]), state, outcome)


def acquisition_problem(
    model: ObservationModel,
    order: IntArray,
    prices: Prices,
    decision_costs: FloatArray,
    prior: npt.ArrayLike | None = None,
) -> AcquisitionProblem:
    """Build the staged problem of a fitted model, as tables where the model has them.

    Parameters
    ----------
    model : ObservationModel
        A fitted model.
    order : ndarray of int of shape (n_stages,)
        Feature of each stage.
    prices : Prices
        Price of every feature of the model.
    decision_costs : ndarray of shape (n_classes, n_decisions)
        Cost of each decision when each class is true.
    prior : array-like of shape (n_classes,), optional
        By default the model's.

    Returns
    -------
    AcquisitionProblem

    Examples
    --------
    >>> import numpy as np
    >>> from seqclass.bn import NaiveBayes
    >>> from seqclass.costs import resolve_prices
    >>> model = NaiveBayes().fit(np.array([[0], [1], [1]]), [0, 1, 1])
    >>> problem = acquisition_problem(model, np.array([0]), resolve_prices(0.1, 1), 1 - np.eye(2))
    >>> problem.n_stages, problem.has_tables
    (1, True)
    """
    stage_prices, full, groups = prices.along(order)
    prior = model.class_prior_ if prior is None else prior
    tables = model.tables(order)
    if tables is None:
        return ModelProblem(model, prior, order, stage_prices, decision_costs, groups, full)
    return TableProblem(
        prior,
        tables,
        stage_prices,
        decision_costs,
        n_outcomes=model.n_outcomes_[order],
        features=order,
        groups=groups,
        full_prices=full,
    )


def stage_order(
    order: Any,
    model: ObservationModel,
    support: IntArray,
    prices: Prices,
    codes: Any,
    y: npt.NDArray[Any],
    names: Sequence[Hashable] | None = None,
) -> IntArray:
    """Resolve the order of features.

    Parameters
    ----------
    order : str or array-like
        Name of a rule, or columns of the data as numbers or names.
    model : ObservationModel
        A fitted model of the selected features.
    support : ndarray of int of shape (n_selected,)
        Column of each selected feature.
    prices : Prices
        Price of every column.
    codes : ndarray or sparse array of int of shape (n, n_selected)
        Outcomes of the training data.
    y : ndarray of shape (n,)
        Labels.
    names : sequence, optional
        Names of the columns.

    Returns
    -------
    ndarray of int of shape (n_stages,)
        Positions among the selected features.

    Examples
    --------
    >>> import numpy as np
    >>> from seqclass.bn import NaiveBayes
    >>> from seqclass.costs import resolve_prices
    >>> codes, y = np.array([[0, 1], [1, 1], [1, 0]]), np.array([0, 1, 1])
    >>> model = NaiveBayes().fit(codes, y)
    >>> stage_order([5, 3], model, np.array([3, 5]), resolve_prices(0.1, 6), codes, y)
    array([1, 0])
    """
    if isinstance(order, str):
        return as_order(order, model, prices.full[support], X=codes, y=y)
    # columns and names refer to the data; the model knows the selected ones only
    columns = check_order(order, prices.full.size, names)
    position = np.full(prices.full.size, -1)
    position[support] = np.arange(support.size)
    if (position[columns] < 0).any():
        raise ValueError("order names a feature that the selector did not keep.")
    return np.asarray(position[columns])
