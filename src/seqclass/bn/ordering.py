"""Orders in which a sequential classifier asks for features: permutations, best first.

A score that depends on one feature at a time is worked out from the table of P(outcome | class) of every
feature (:func:`error_order`, :func:`information_order`, :func:`variance_order`); :func:`conditional_order`
looks at the training data and avoids features that repeat one another, :func:`blanket_order` at the graph of a
network. Ties go to the lowest index, and scores that differ by rounding only are ties.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from seqclass._arrays import FloatArray, IntArray, chunks
from seqclass._validation import check_distribution, check_finite
from seqclass.bn._conditional import SEARCHED, conditional_order
from seqclass.bn._ranking import check_prices, rank, rank_by_rate
from seqclass.bn.blanket import blanket_order

if TYPE_CHECKING:
    from seqclass.bn._base import ObservationModel

__all__ = [
    "as_order",
    "blanket_order",
    "check_order",
    "conditional_order",
    "error_order",
    "error_scores",
    "information_order",
    "information_scores",
    "variance_order",
    "variance_scores",
]


def error_order(likelihood: npt.ArrayLike, prior: npt.ArrayLike, costs: Any = None) -> IntArray:
    """Order by increasing sum of type I and II errors times cost, the rule of ETANA.

    Each class in turn is the positive one, all the others (weighted by the prior) the negative one; the sum
    of the two errors of the best test on the feature alone is the sum over outcomes of min(P(v | c), P(v |
    not c)). These are added up over the classes and multiplied by the feature's cost [1]_.

    Parameters
    ----------
    likelihood : array-like of shape (n_features, V_max, n_classes)
        P(outcome | class), zero beyond a feature's last outcome.
    prior : array-like of shape (n_classes,)
        Class prior.
    costs : array-like of shape (n_features,) or float, optional
        Price of each feature; by default all the same. Where prices are zero the errors alone decide.

    Returns
    -------
    ndarray of int of shape (n_features,)
        Features, best first.

    Raises
    ------
    ValueError
        If shapes disagree, or a cost is negative or not finite.

    Notes
    -----
    The paper leaves open by which rule the single feature is to decide. We take the one of least summed error
    (it decides for the class that makes the outcome more likely). The authors' code sorts by something else:
    see :func:`variance_order`.

    References
    ----------
    .. [1] Y. W. Liyanage, D.-S. Zois, C. Chelmis, "On-the-fly joint feature selection and classification",
       2020, section 5.1.

    Examples
    --------
    >>> useless, useful = [[0.5, 0.5], [0.5, 0.5]], [[0.9, 0.2], [0.1, 0.8]]
    >>> error_order([useless, useful], [0.5, 0.5]).tolist()
    [1, 0]
    >>> error_order([useless, useful], [0.5, 0.5], costs=[0.1, 1.0]).tolist()
    [0, 1]
    """
    table, prior, prices = _check_tables(likelihood, prior, costs)
    errors = error_scores(table, prior)
    return rank(errors * prices, errors)


def information_order(likelihood: npt.ArrayLike, prior: npt.ArrayLike, costs: Any = None) -> IntArray:
    """Order by decreasing mutual information of feature and class per unit of cost, under the model.

    Parameters
    ----------
    likelihood : array-like of shape (n_features, V_max, n_classes)
        P(outcome | class), zero beyond a feature's last outcome.
    prior : array-like of shape (n_classes,)
        Class prior.
    costs : array-like of shape (n_features,) or float, optional
        Price of each feature; by default all the same. Free features come first, by information.

    Returns
    -------
    ndarray of int of shape (n_features,)
        Features, best first.

    Raises
    ------
    ValueError
        If shapes disagree, or a cost is negative or not finite.

    Examples
    --------
    >>> weak, strong = [[0.6, 0.4], [0.4, 0.6]], [[0.9, 0.2], [0.1, 0.8]]
    >>> information_order([weak, strong], [0.5, 0.5]).tolist()
    [1, 0]
    >>> information_order([weak, strong], [0.5, 0.5], costs=[0.0, 1.0]).tolist()
    [0, 1]
    """
    table, prior, prices = _check_tables(likelihood, prior, costs)
    return rank_by_rate(information_scores(table, prior), prices)


def variance_order(likelihood: npt.ArrayLike) -> IntArray:
    """Order by decreasing variance between classes of P(v | c), summed over outcomes; costs do not count.

    This is what the published code of ETANA sorts by, where its paper says :func:`error_order`.

    Parameters
    ----------
    likelihood : array-like of shape (n_features, V_max, n_classes)
        P(outcome | class), zero beyond a feature's last outcome.

    Returns
    -------
    ndarray of int of shape (n_features,)
        Features, best first.

    Examples
    --------
    >>> weak, strong = [[0.6, 0.4], [0.4, 0.6]], [[0.9, 0.2], [0.1, 0.8]]
    >>> variance_order([weak, strong]).tolist()
    [1, 0]
    """
    return rank(-variance_scores(_check_table(likelihood)))


def error_scores(likelihood: FloatArray, prior: FloatArray) -> FloatArray:
    """Sum over classes of the type I and II errors of each feature; see :func:`error_order`.

    Examples
    --------
    >>> error_scores(np.array([[[0.9, 0.2], [0.1, 0.8]]]), np.array([0.5, 0.5])).round(6)
    array([0.6])
    """
    n_classes = len(prior)
    mix = np.repeat(prior[:, None], n_classes, axis=1)
    np.fill_diagonal(mix, 0.0)
    # where the others have no weight at all, they count equally
    mix[:, mix.sum(axis=0) == 0] = 1.0
    np.fill_diagonal(mix, 0.0)
    mix /= np.maximum(mix.sum(axis=0), np.finfo(float).tiny)
    return _by_parts(likelihood, lambda part: np.minimum(part, part @ mix).sum(axis=(1, 2)))


def information_scores(likelihood: FloatArray, prior: FloatArray) -> FloatArray:
    """Mutual information of each feature and the class in nats; see :func:`information_order`.

    Examples
    --------
    >>> information_scores(np.array([[[1.0, 0.0], [0.0, 1.0]]]), np.array([0.5, 0.5])).round(6)
    array([0.693147])
    """

    def information(part: FloatArray) -> FloatArray:
        marginal = np.broadcast_to((part @ prior)[:, :, None], part.shape)
        ratio = np.divide(part, marginal, out=np.ones_like(part), where=(part > 0) & (marginal > 0))
        scores: FloatArray = ((part * np.log(ratio)) @ prior).sum(axis=1)
        return np.maximum(scores, 0.0)

    return _by_parts(likelihood, information)


def variance_scores(likelihood: FloatArray) -> FloatArray:
    """Variance between classes summed over outcomes; see :func:`variance_order`.

    Examples
    --------
    >>> variance_scores(np.array([[[1.0, 0.0], [0.0, 1.0]]]))
    array([0.5])
    """
    return _by_parts(likelihood, lambda part: part.var(axis=2).sum(axis=1))


def as_order(
    order: Any,
    model: ObservationModel,
    costs: Any = None,
    *,
    X: Any = None,
    y: Any = None,
    feature_names: Any = None,
    most: int | None = None,
) -> IntArray:
    """Resolve what a user may give as an order into feature indices.

    Parameters
    ----------
    order : str or array-like of int or str
        ``"error"``, ``"information"``, ``"variance"``, ``"conditional"``, ``"blanket"`` (of a network),
        ``"blanket_only"`` (the same, ending where the paper's rule ends), ``"given"`` (the columns as they come),
        or the features themselves as indices or names, best first; they may be fewer than there are.
    model : ObservationModel
        Fitted; its :meth:`~ObservationModel.likelihood_table` is what the names refer to.
    costs : array-like of shape (n_features,) or float, optional
        Price of each feature.
    X : discretised matrix of shape (n_rows, n_features), optional
        Training data, for ``"conditional"``.
    y : array-like of shape (n_rows,), optional
        Labels, for ``"conditional"``.
    feature_names : array-like of str of shape (n_features,), optional
        Names that ``order`` may use.
    most : int, optional
        So many features are wanted; those that follow need not be searched for.

    Returns
    -------
    ndarray of int of shape (n_stages,)
        Features, best first.

    Raises
    ------
    ValueError
        If the name is unknown, the model has no network that the order could follow, or a feature does not exist
        or appears twice; the message names it.

    Examples
    --------
    >>> from seqclass.bn import NaiveBayes
    >>> model = NaiveBayes().fit([[0, 0], [1, 0], [0, 1], [1, 1]], [0, 0, 1, 1])
    >>> as_order("information", model).tolist()
    [1, 0]
    >>> as_order(["fever"], model, feature_names=["age", "fever"]).tolist()
    [1]
    """
    if isinstance(order, str):
        return _named_order(order, model, costs, X, y, most)
    return check_order(order, model.n_features_in_, feature_names)


def check_order(order: Any, n_features: int, feature_names: Any = None, *, what: str = "order") -> IntArray:
    """Resolve a list of features, best first, into their indices.

    Parameters
    ----------
    order : array-like of int or str
        The features, as indices or names; they may be fewer than there are.
    n_features : int
        Number of features.
    feature_names : array-like of str of shape (n_features,), optional
        Names that ``order`` may use.
    what : str
        What to call it in messages.

    Returns
    -------
    ndarray of int of shape (n_stages,)

    Raises
    ------
    ValueError
        If a feature does not exist or appears twice; the message names it.

    Examples
    --------
    >>> check_order(["b", "a"], 2, ["a", "b"]).tolist()
    [1, 0]
    """
    chosen = np.asarray(order)
    if chosen.ndim != 1 or chosen.size == 0:
        raise ValueError(f"{what} must be a name or a list of at least one feature, got shape {chosen.shape}")
    if chosen.dtype.kind in "UO" and all(isinstance(name, str) for name in chosen):
        chosen = _find_names(chosen, feature_names, what)
    elif chosen.dtype.kind not in "iu":
        raise ValueError(f"{what} must hold feature indices or names, got {chosen.dtype}")
    wrong = (chosen < 0) | (chosen >= n_features)
    if wrong.any():
        raise ValueError(f"{what} has feature {int(chosen[np.argmax(wrong)])}: they are 0..{n_features - 1}")
    times = np.bincount(chosen, minlength=n_features)
    if times.max() > 1:
        raise ValueError(f"{what} has feature {int(np.argmax(times > 1))} more than once")
    return chosen.astype(np.intp)


def _named_order(name: str, model: ObservationModel, costs: Any, X: Any, y: Any, most: int | None) -> IntArray:
    n_features, prior = model.n_features_in_, model.class_prior_
    prices = check_prices(costs, n_features)
    if name == "given":
        return np.arange(n_features)
    if name == "conditional":
        if X is None or y is None:
            raise ValueError("order 'conditional' needs the training data X and y")
        n = SEARCHED if most is None else min(most, SEARCHED)
        return conditional_order(X, y, n, costs=prices, n_outcomes=model.n_outcomes_)
    if name == "error":
        errors = _model_scores(model, lambda part: error_scores(part, prior))
        return rank(errors * prices, errors)
    if name == "variance":
        return rank(-_model_scores(model, variance_scores))
    if name not in ("information", "blanket", "blanket_only"):
        names = "'error', 'information', 'variance', 'conditional', 'blanket', 'blanket_only', 'given'"
        raise ValueError(f"order {name!r} is unknown: it may be {names}, or a list of features")
    scores = _model_scores(model, lambda part: information_scores(part, prior))
    if name == "information":
        return rank_by_rate(scores, prices)
    parents = getattr(model, "parents_", None)
    if parents is None:
        raise ValueError(
            f"order {name!r} follows the graph of a network, and {type(model).__name__} has none (no parents_): "
            "take a TreeNetwork, or another order"
        )
    return blanket_order(scores, parents, prices, go_on=name == "blanket")


def _find_names(order: Any, feature_names: Any, what: str) -> IntArray:
    if feature_names is None:
        raise ValueError(f"{what} holds names, but the features have none: give their indices")
    index = {name: at for at, name in enumerate(feature_names)}
    unknown = [name for name in order if name not in index]
    if unknown:
        raise ValueError(f"{what} has features that do not exist: {', '.join(repr(str(name)) for name in unknown[:5])}")
    return np.array([index[name] for name in order])


def _model_scores(model: ObservationModel, score: Callable[[FloatArray], FloatArray]) -> FloatArray:
    """Score a slice of features at a time, so that the table of a million is never whole."""
    size = int(model.n_outcomes_.max(initial=1)) * len(model.classes_)
    scores = [score(model.likelihood_table(part)) for part in chunks(model.n_features_in_, 8.0 * 6 * size)]
    return np.concatenate(scores) if scores else np.empty(0)


def _by_parts(likelihood: FloatArray, score: Callable[[FloatArray], FloatArray]) -> FloatArray:
    def parts() -> Iterator[FloatArray]:
        for rows in chunks(len(likelihood), 8.0 * 5 * likelihood[:1].size):
            yield score(likelihood[rows])

    return np.concatenate([np.empty(0), *parts()])


def _check_table(likelihood: npt.ArrayLike) -> FloatArray:
    table = check_finite(likelihood, "likelihood")
    if table.ndim != 3:
        raise ValueError(f"likelihood must have shape (n_features, n_outcomes, n_classes), got {table.shape}")
    return table


def _check_tables(
    likelihood: npt.ArrayLike, prior: npt.ArrayLike, costs: Any
) -> tuple[FloatArray, FloatArray, FloatArray]:
    table = _check_table(likelihood)
    return table, check_distribution(prior, table.shape[2], "prior"), check_prices(costs, len(table))
