"""Where observation models meet acquisition problems."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from seqclass._arrays import FloatArray, IntArray
from seqclass._model_problem import MAX_JOINT, N_ATOMS, ModelProblem
from seqclass.bn import ObservationModel, as_order, check_order
from seqclass.bn._hidden import HiddenTables
from seqclass.costs import Prices
from seqclass.pomdp import AcquisitionProblem, MixtureProblem, TableProblem
from seqclass.pomdp.bundles import Bundle, DrawnBundle, joint_tables


def acquisition_problem(
    model: ObservationModel,
    order: IntArray,
    prices: Prices,
    decision_costs: FloatArray,
    prior: npt.ArrayLike | None = None,
    *,
    free: bool = False,
    bundles: IntArray | None = None,
) -> AcquisitionProblem:
    """Build the acquisition problem of a fitted model, as tables where the model has them.

    Parameters
    ----------
    model : ObservationModel
        A fitted model.
    order : ndarray of int of shape (m,)
        Features in the order in which they may be asked for.
    prices : Prices
        Price of every feature of the model; features of a bundle have one price.
    decision_costs : ndarray of shape (n_classes, n_decisions)
        Cost of each decision when each class is true.
    prior : array-like of shape (n_classes,), optional
        By default the model's.
    free : bool
        Whether any question may come next; else they come in the order given.
    bundles : ndarray of int of shape (n_features,), optional
        Bundle of each feature of the model, -1 for none. Its features are seen at once, when the first of the order is
        asked for.

    Returns
    -------
    AcquisitionProblem

    Examples
    --------
    >>> import numpy as np
    >>> from seqclass.bn import NaiveBayes
    >>> from seqclass.costs import resolve_prices
    >>> model = NaiveBayes().fit(np.array([[0, 0], [1, 0], [1, 1]]), [0, 1, 1])
    >>> problem = acquisition_problem(model, np.array([0, 1]), resolve_prices(0.1, 2), 1 - np.eye(2))
    >>> problem.n_stages, problem.tables is not None
    (2, True)
    >>> problem = acquisition_problem(
    ...     model, np.array([0, 1]), resolve_prices(0.1, 2), 1 - np.eye(2), bundles=np.array([0, 0])
    ... )
    >>> problem.n_stages, problem.n_outcomes
    (1, array([4]))
    """
    first, shown = _questions(model, order, bundles)
    stage_prices, full, groups = prices.of(first)
    prior = model.class_prior_ if prior is None else prior
    given: dict[str, Any] = {"features": first, "groups": groups, "full_prices": full, "free": free, "bundles": shown}
    tables, listed = model.tables(first), _listed(shown)
    hidden = model.hidden(first) if tables is None and (free or not listed) else None
    if tables is not None and not listed:
        n_classes = len(model.classes_)
        hidden = HiddenTables(np.ones(n_classes), np.arange(n_classes), tables)
    if tables is None and hidden is None:
        return ModelProblem(model, prior, prices=stage_prices, decision_costs=decision_costs, **given)
    if not listed:
        assert hidden is not None  # or it would be a problem of the model
        assert shown is not None
        given["bundles"] = shown = [_drawn(model, bundle, hidden) for bundle in shown]
    single = tables if hidden is None else hidden.tables
    by_column = single if shown is None else _joint(model, single, first, shown)
    n_outcomes = model.n_outcomes_[first] if shown is None else None
    if hidden is None:
        return TableProblem(prior, by_column, stage_prices, decision_costs, n_outcomes=n_outcomes, **given)
    weights = np.asarray(prior)[hidden.classes] * hidden.weights
    return MixtureProblem(
        weights, hidden.classes, by_column, stage_prices, decision_costs, n_outcomes=n_outcomes, **given
    )


def _questions(
    model: ObservationModel, order: IntArray, bundles: IntArray | None
) -> tuple[IntArray, list[Bundle | None] | None]:
    """First feature of each question, and what each shows at once; None where none shows several."""
    if bundles is None or (bundles < 0).all():
        return order, None
    label = np.where(bundles[order] < 0, -1 - order, bundles[order])
    _, position = np.unique(label, return_index=True)
    first = np.sort(position)
    shown: list[Bundle | None] = []
    for place in first.tolist():
        members = order[label == label[place]]
        shown.append(Bundle(members, model.n_outcomes_[members]) if len(members) > 1 else None)
    return order[first], shown


def _listed(shown: Sequence[Bundle | None] | None) -> bool:
    """Whether no bundle has too many joint outcomes to list them."""
    return all(bundle is None or bundle.n_complete <= MAX_JOINT for bundle in shown or ())


def _drawn(model: ObservationModel, bundle: Bundle | None, hidden: HiddenTables) -> Bundle | None:
    """A bundle by outcomes that are drawn, where it has too many to list them."""
    if bundle is None or bundle.n_complete <= MAX_JOINT:
        return bundle
    # from all classes alike, half of them from all states of a class
    n_classes, counts = len(model.classes_), np.bincount(hidden.classes)
    share = (hidden.weights + 1 / counts[hidden.classes]) / (2 * n_classes)
    return DrawnBundle(bundle.features, bundle.sizes, _single(model, bundle.features), share, N_ATOMS)


def _joint(
    model: ObservationModel, tables: FloatArray, first: IntArray, shown: Sequence[Bundle | None]
) -> list[FloatArray]:
    """Likelihood tables of questions, by class or by hidden state as those of the single features are."""
    return [
        table[: model.n_outcomes_[feature]]
        if bundle is None
        else bundle.weights
        if isinstance(bundle, DrawnBundle)
        else joint_tables(_single(model, bundle.features), bundle.sizes.tolist())
        for feature, table, bundle in zip(first.tolist(), tables, shown)
    ]


def _single(model: ObservationModel, features: IntArray) -> FloatArray:
    """Tables of single features, by class or by hidden state."""
    tables = model.tables(features)
    if tables is None:
        hidden = model.hidden(features)
        assert hidden is not None  # or there would be no joint tables
        tables = hidden.tables
    return np.asarray(tables)


def is_free(order: Any) -> bool:
    """Whether any question may come next.

    Examples
    --------
    >>> is_free("adaptive"), is_free("conditional"), is_free([1, 0])
    (True, False, False)
    """
    return isinstance(order, str) and order == "adaptive"


def stage_order(
    order: Any,
    model: ObservationModel,
    support: IntArray,
    prices: Prices,
    codes: Any,
    y: npt.NDArray[Any],
    names: Sequence[Hashable] | None = None,
    most: int | None = None,
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
    most : int, optional
        So many features are wanted; see `seqclass.bn.as_order`.

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
        return as_order(order, model, prices.full[support], X=codes, y=y, most=most)
    # columns and names refer to the data; the model knows the selected ones only
    columns = check_order(order, prices.full.size, names)
    position = np.full(prices.full.size, -1)
    position[support] = np.arange(support.size)
    if (position[columns] < 0).any():
        raise ValueError("order names a feature that the selector did not keep.")
    return np.asarray(position[columns])
