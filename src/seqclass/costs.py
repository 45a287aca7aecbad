"""Prices of features and costs of decisions, in the forms in which users give them."""

from __future__ import annotations

import warnings
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
from sklearn.base import BaseEstimator

from seqclass._utils.arrays import BoolArray, FloatArray, IntArray
from seqclass._utils.marks import columns_of_marks
from seqclass._utils.model_files import Stored, register
from seqclass._utils.prices_after import PriceAfter, read_prices_after, take_prices_after
from seqclass._utils.stored import require, require_array, require_whole
from seqclass._utils.tables import Readable
from seqclass._utils.text import is_unit, join_names, short_repr
from seqclass._utils.validation import (
    check_costs,
    check_flag,
    check_integer,
    check_n_classes,
    columns_of,
    in_order,
    to_mapping,
)
from seqclass._utils.warned import warn_caller

__all__ = ["Costs", "Prices", "Visits"]
__dir__ = __all__.copy  # tab completion


@dataclass(repr=False, eq=False)
class Costs(Stored, BaseEstimator):  # type: ignore[misc]
    """What features and decisions cost, in one object that a classifier or recipe takes as ``feature_costs``.

    Its settings are checked when it is used, as classes and columns are known only then. They can be searched over like
    those of any other part: ``clf.set_params(feature_costs__decision_costs=...)``.

    Parameters
    ----------
    feature_costs : float, array-like of shape (n_features,) or dict
        Price of each feature in units of misclassification cost: one for all, one each, or by feature name.
    discounted_costs : float, array-like, dict or None
        Price of a feature once another of its group has been acquired. A single number applies to every feature in a
        group; a feature that a dict leaves out has no discount. Needs ``groups``.
    groups : array-like of shape (n_features,), dict or None
        Group label of features that are cheaper together; None, NaN, "" or -1 for none.
    bundles : array-like of shape (n_features,), dict or None
        Bundle label of features that are bought and seen together for the price of one, such as the values of one blood
        test; given in the same form as ``groups``. Prices and groups given by name may name the bundle.
    decision_costs : array-like or data frame of shape (n_classes, n_decisions), or None
        Cost of each decision (column) when each class (row, in sorted order) is true. The rows and columns of a data
        frame with names are matched by name and may be in any order. None: 1 for a wrong class.
    decisions : sequence or None
        Labels of the decisions beyond the classes, such as ``["refer"]``: the further columns of ``decision_costs``.
    charge_missing : bool
        Whether a feature that is asked for but turns out to be missing has to be paid for.
    unit : str or None
        Unit of prices and costs, such as ``"EUR"``, which texts and exported pages then show. It changes no number, and
        may be changed after the fit.
    visit_cost : float
        Cost of each visit, whatever is asked in it. Several features may then be ordered together, and `Panels` plans
        which. A feature that is bought by itself takes a visit of its own.
    delays : float, array-like, dict or None
        How long the answer of each feature takes, in any unit of time; a dict may leave out features without a delay. A
        visit takes as long as its slowest answer. Needs ``delay_cost``.
    delay_cost : float or None
        Cost of waiting, per unit of time.
    max_panel : int or None
        Most features or bundles that may be ordered in one visit.
    prices_after : dict or None
        Prices that depend on what was answered before, such as ``{("blood", "sample"): 1.0}``, what blood costs once
        sample was answered, or ``{("scan", ("history", "yes"), "sample"): 0.5}``, once history was answered yes and
        sample anything; of several that hold the last one counts. What is known counts as answered, what is missing
        or implied by skip logic does not. Not with visits.
    marks : sequence of str or None
        Columns whose cells hold several marks, such as ``"sharp; burning"``. `fit` makes a column of yes and no of each
        mark, ``"pain is: sharp"``, and a bundle of these, ``"pain is"``; see `seqclass.datasets.split_marks`.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from seqclass import Costs, SequentialClassifier
    >>> X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    >>> costs = Costs(0.01, decision_costs=[[0, 5, 0.3], [1, 0, 0.3]], decisions=["refer"])
    >>> clf = SequentialClassifier(feature_costs=costs).fit(X, y.map({0: "malignant", 1: "benign"}))
    >>> clf.decisions_.tolist()
    ['benign', 'malignant', 'refer']
    """

    feature_costs: Any = 0.01
    _: KW_ONLY
    discounted_costs: Any = None
    groups: Any = None
    bundles: Any = None
    decision_costs: Any = None
    decisions: Sequence[Any] | None = None
    charge_missing: bool = False
    unit: str | None = None
    visit_cost: float = 0.0
    delays: Any = None
    delay_cost: float | None = None
    max_panel: int | None = None
    prices_after: Any = None
    marks: Sequence[str] | None = None

    def __getstate__(self) -> Any:
        state = dict(super().__getstate__())
        if isinstance(state["prices_after"], Mapping):  # a file has no names that are several
            state["prices_after"] = {"pairs": list(state["prices_after"].items())}
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        after = state.get("prices_after")
        super().__setstate__(state | {"prices_after": dict(after["pairs"]) if isinstance(after, dict) else after})

    @classmethod
    def from_value(cls, given: Any) -> Costs:
        """Return costs as they are, and turn bare prices into costs that are otherwise at their defaults.

        Parameters
        ----------
        given : Costs, float, array-like or dict
            What a user gave.

        Returns
        -------
        Costs

        Examples
        --------
        >>> Costs.from_value(0.05)
        Costs(feature_costs=0.05)
        """
        return given if isinstance(given, Costs) else cls(given)

    def non_default_params(self) -> dict[str, Any]:
        """Return the settings that are not at their defaults, and the prices.

        Returns
        -------
        dict

        Examples
        --------
        >>> Costs(0.1, groups=None, charge_missing=True).non_default_params()
        {'charge_missing': True, 'feature_costs': 0.1}
        """
        own, plain = self.get_params(deep=False), Costs().get_params(deep=False)
        return {
            name: value
            for name, value in own.items()
            if name == "feature_costs" or not (value is plain[name] or (np.isscalar(value) and value == plain[name]))
        }

    def unit_name(self) -> str:
        """Return the unit of all prices and costs; empty if none was given.

        Returns
        -------
        str

        Raises
        ------
        ValueError
            If the unit is not a text of one line.

        Examples
        --------
        >>> Costs(12, unit="EUR").unit_name(), Costs(0.01).unit_name()
        ('EUR', '')
        """
        if self.unit is None:
            return ""
        if not is_unit(self.unit):
            raise ValueError(f"unit must be a text of one line, such as 'EUR', or None; got {short_repr(self.unit)}.")
        return self.unit.strip()

    def prices(self, n_features: int, names: Sequence[Hashable] | None = None) -> Prices:
        """Return the price of every feature.

        Parameters
        ----------
        n_features : int
            Number of features.
        names : sequence, optional
            Feature names; without them, columns are numbered from 0.

        Returns
        -------
        Prices

        Raises
        ------
        ValueError
            If a price is missing, negative or not finite, a name is unknown, features of a bundle differ in price,
            group or delay, a cost of visits is negative or not finite, the unit is not a text, or prices depend on one
            another in a circle.

        Examples
        --------
        >>> Costs({"a": 1.0, "b": 2.0}).prices(2, ["a", "b"]).full
        array([1., 2.])
        >>> Costs({"blood": 3.0, "c": 1.0}, bundles={"a": "blood", "b": "blood"}).prices(3, ["a", "b", "c"]).full
        array([3., 3., 1.])
        """
        check_flag(self.charge_missing, "charge_missing")
        self.unit_name()
        feature_costs, groups, discounted_costs, bundles, delays = (
            to_mapping(getattr(self, name), name)
            for name in ("feature_costs", "groups", "discounted_costs", "bundles", "delays")
        )
        if self.marks is not None and names is not None:
            bundles = self._bundles_with_marks(bundles, names)
        labels, known, members = None, list[tuple[Any, int]](), dict[Any, list[Any]]()
        if bundles is not None:
            labels, known = _labels(bundles, "bundles", n_features, names)
            for label, k in known:
                members[label] = [j if names is None else names[j] for j in np.flatnonzero(labels == k).tolist()]
            feature_costs, groups, discounted_costs, delays = (
                _spread(value, members, names) for value in (feature_costs, groups, discounted_costs, delays)
            )
        prices = _prices(feature_costs, n_features, names, groups, discounted_costs)
        prices = replace(prices, visits=self._visits(delays, n_features, names))
        if labels is not None:
            _check_bundles(prices, labels, members, names)
            prices = replace(prices, bundles=labels, bundle_names=tuple(str(label) for label, _ in known))
        return replace(prices, after=read_prices_after(self.prices_after, prices, members, names))

    def _bundles_with_marks(self, bundles: Any, names: Sequence[Hashable]) -> dict[Hashable, Any]:
        """Bundles by the names of columns, those that are marks of a question among them."""
        owner: dict[Hashable, str] = {}
        for question in self.marks or ():
            owner |= dict.fromkeys(columns_of_marks(question, names), question)
        if bundles is None:
            return owner
        labels, known = _labels(bundles, "bundles", len(names), names)
        told = {name: known[k][0] for name, k in zip(names, labels.tolist()) if k >= 0}
        if both := [name for name in owner if told.get(name, owner[name]) != owner[name]]:
            raise ValueError(
                f"bundles: {short_repr(both[0])} is a mark of {short_repr(owner[both[0]])}, which is asked by itself: "
                "take it out of the bundle."
            )
        return told | owner

    def _visits(self, delays: Any, n_features: int, names: Sequence[Hashable] | None) -> Visits | None:
        """What visits cost; None where they cost nothing, and features are best bought one at a time."""
        cost = _single(self.visit_cost, "visit_cost")
        most = None if self.max_panel is None else check_integer(self.max_panel, "max_panel", 1)
        if (delays is None) != (self.delay_cost is None):
            raise ValueError("delays and delay_cost belong together: how long answers take, and what waiting costs.")
        takes = np.zeros(n_features)
        if delays is not None:
            takes = _fill_defaults(delays, "delays", takes, names)
        per_time = 0.0 if self.delay_cost is None else _single(self.delay_cost, "delay_cost")
        visits = Visits(cost, takes, per_time, most)
        return visits if visits.single_costs.any() else None

    def of_decisions(self, classes: npt.NDArray[Any]) -> tuple[FloatArray, npt.NDArray[Any]]:
        """Return the cost matrix of the decisions, and the labels of the decisions.

        Parameters
        ----------
        classes : ndarray of shape (n_classes,)
            Class labels; the first decisions have the same labels.

        Returns
        -------
        costs : ndarray of shape (n_classes, n_decisions)
        labels : ndarray of shape (n_decisions,)

        Raises
        ------
        ValueError
            If the matrix does not match the classes and the labels, or a cost is negative or not finite.

        Examples
        --------
        >>> import numpy as np
        >>> Costs(decision_costs=[[0, 1, 0.3], [1, 0, 0.3]], decisions=["refer"]).of_decisions(np.array(["a", "b"]))[1]
        array(['a', 'b', 'refer'], dtype='<U5')
        """
        decision_costs, decisions = self.decision_costs, self.decisions
        extra = [] if decisions is None else _list(decisions, "decisions", 'a list of labels, such as ["refer"]')
        n_classes = len(classes)
        check_n_classes(n_classes)
        if decision_costs is None:
            if extra:
                raise ValueError("decisions names further decisions, so decision_costs must give them a column each.")
            return 1.0 - np.eye(n_classes), classes
        named = in_order(decision_costs, "decision_costs", classes, [*classes.tolist(), *extra])
        costs = check_costs(named, "decision_costs")
        wanted = (n_classes, n_classes + len(extra))
        if costs.shape != wanted:
            raise ValueError(
                f"decision_costs must have shape {wanted}: a row for each of the {n_classes} classes and a column for "
                f"each class and each further decision named in decisions; got {costs.shape}."
            )
        if not extra:
            return costs, classes
        labels = np.array([*classes.tolist(), *extra], dtype=object)
        if any(label is None or label != label for label in extra):  # rows decided for it would look like missing ones
            raise ValueError(f"decisions must name every further decision, got {short_repr(extra)}.")
        if min(len(set(labels.tolist())), len(set(map(str, labels)))) < labels.size:  # 1 and "1" look alike in a file
            raise ValueError(f"decisions must differ from each other and from the classes, got {short_repr(extra)}.")
        if all(isinstance(label, str) for label in labels):
            labels = labels.astype(str)
        return costs, labels


@register
@dataclass(frozen=True, repr=False)
class Visits(Readable):
    """What visits cost in addition to the prices of what is asked in them.

    Attributes
    ----------
    cost : float
        Cost of a visit, whatever is asked in it.
    delays : ndarray of shape (n_features,)
        How long each answer takes.
    delay_cost : float
        Cost of one unit of time; a visit takes as long as its slowest answer.
    max_panel : int or None
        Most questions in one visit.

    Examples
    --------
    >>> import numpy as np
    >>> visits = Visits(0.5, np.array([0.0, 2.0, 1.0]), 0.1)
    >>> visits.single_costs, visits.panel_costs(np.array([[True, False, True], [False, False, False]]))
    (array([0.5, 0.7, 0.6]), array([0.6, 0. ]))
    """

    _columns = ("delays", "single_costs")

    cost: float
    delays: FloatArray
    delay_cost: float = 0.0
    max_panel: int | None = None

    @property
    def single_costs(self) -> FloatArray:
        """Cost of a visit in which a single feature is asked for, (n_features,)."""
        return np.asarray(self.cost + self.delay_cost * self.delays)

    def panel_costs(self, panels: BoolArray) -> FloatArray:
        """Return the cost of a visit for each of several sets of features, (n,); zero for the empty set.

        Parameters
        ----------
        panels : ndarray of bool of shape (n, n_features)
            Which features are asked for in each visit.

        Returns
        -------
        ndarray of shape (n,)
        """
        waits = np.where(panels, self.delay_cost * self.delays, 0.0).max(axis=1, initial=0.0)
        return np.where(panels.any(axis=1), self.cost + waits, 0.0)

    def take(self, columns: IntArray) -> Visits:
        """Return the costs of visits for some of the features only.

        Parameters
        ----------
        columns : ndarray of int of shape (m,)
            The features to keep.

        Returns
        -------
        Visits
        """
        return replace(self, delays=self.delays[columns])

    def scale(self, factor: float) -> Visits:
        """Return the costs of visits times a factor.

        Parameters
        ----------
        factor : float
            At least 0.

        Returns
        -------
        Visits
        """
        return replace(self, cost=self.cost * factor, delay_cost=self.delay_cost * factor)

    def _check_stored(self) -> None:
        check_costs([self.cost, self.delay_cost], "costs of visits")
        check_costs(require_array(self, "delays", "f", None), "delays")
        require(self.max_panel is None or require_whole(self, "max_panel", 1) > 0, "max_panel is wrong")


@register
@dataclass(frozen=True, repr=False)
class Prices(Readable):
    """Price of every feature, with discounts, bundles and visits.

    Attributes
    ----------
    full : ndarray of shape (n_features,)
        Price of a feature bought by itself, in units of misclassification cost.
    discounted : ndarray of shape (n_features,)
        Price once another feature of its group has been acquired, or is in the same visit and saves less by it.
    groups : ndarray of int of shape (n_features,) or None
        Group of each feature, -1 for none.
    bundles : ndarray of int of shape (n_features,) or None
        Bundle of each feature, -1 for none: its features are bought and seen at once, for the price of one.
    bundle_names : tuple of str
        Name of each bundle.
    visits : Visits or None
        What visits cost; None where they cost nothing.
    after : tuple of PriceAfter
        Prices that depend on what was answered before; of several that hold the last one counts.

    Examples
    --------
    >>> import numpy as np
    >>> prices = Prices(np.array([4.0, 3.0]), np.array([1.0, 1.0]), np.array([0, 0]))
    >>> prices.for_order(np.array([1, 0]))[0]
    array([3., 1.])
    """

    _columns = ("full", "discounted", "groups", "bundles")

    full: FloatArray
    discounted: FloatArray
    groups: IntArray | None
    bundles: IntArray | None = None
    bundle_names: tuple[str, ...] = ()
    visits: Visits | None = None
    after: tuple[PriceAfter, ...] = ()

    def take(self, columns: IntArray) -> Prices:
        """Return the prices of some of the features only.

        Parameters
        ----------
        columns : ndarray of int of shape (m,)
            The features to keep.

        Returns
        -------
        Prices
        """
        groups, bundles = (None if v is None else v[columns] for v in (self.groups, self.bundles))
        visits = None if self.visits is None else self.visits.take(columns)
        full, less = self.full[columns], self.discounted[columns]
        places = {int(column): number for number, column in enumerate(columns)} if self.after else {}
        after = take_prices_after(self.after, places)
        return Prices(full, less, groups, bundles, self.bundle_names, visits, after)

    def any_order(self, features: IntArray) -> tuple[FloatArray, FloatArray, IntArray | None]:
        """Return prices, full prices and groups of features that may be bought in any order.

        Parameters
        ----------
        features : ndarray of int of shape (m,)
            The features.

        Returns
        -------
        prices, full_prices : ndarray of shape (m,)
            What each feature costs after another of its group, and by itself.
        groups : ndarray of int of shape (m,) or None
            Group of each; a feature that is alone in its group has none.
        """
        full = self.full[features]
        if self.groups is None:
            return full, full, None
        groups = self.groups[features].copy()
        groups[np.bincount(groups + 1)[groups + 1] == 1] = -1
        return np.where(groups < 0, full, self.discounted[features]), full, groups

    def for_order(self, order: IntArray) -> tuple[FloatArray, FloatArray, IntArray | None]:
        """Return prices, full prices and groups of the stages of an order.

        Parameters
        ----------
        order : ndarray of int of shape (n_stages,)
            Feature of each stage.

        Returns
        -------
        prices, full_prices : ndarray of shape (n_stages,)
            What the feature costs after the ones before it in the order, and by itself.
        groups : ndarray of int of shape (n_stages,) or None
        """
        full = self.full[order]
        if self.groups is None:
            return full, full, None
        groups = self.groups[order]
        return np.where(first_of_groups(groups) | (groups < 0), full, self.discounted[order]), full, groups

    def _check_stored(self) -> None:
        full = check_costs(require_array(self, "full", "f", None), "full")
        discounted = check_costs(require_array(self, "discounted", "f", len(full)), "discounted")
        require((discounted <= full).all(), "discounted prices are above full ones")
        known = isinstance(self.after, tuple) and all(isinstance(one, PriceAfter) for one in self.after)
        require(known, "prices after answers are of another kind")
        check_stored_groups(self, len(full))
        if self.bundles is not None:
            require_array(self, "bundles", "iu", len(full), low=-1, high=len(self.bundle_names) - 1)


def check_stored_groups(owner: Any, n: int) -> None:
    """Check the groups and visits of prices or of a problem that were read from a file."""
    if owner.groups is not None:
        groups = require_array(owner, "groups", "iu", n)
        require(groups.min(initial=-1) >= -1 and groups.max(initial=-1) <= 10**7, "groups are wrong")
    if owner.visits is not None:
        require(isinstance(owner.visits, Visits), "visits are of another kind")
        require_array(owner.visits, "delays", "f", n)


def first_of_groups(groups: IntArray) -> BoolArray:
    """Which of them, in their order, are the first of their group."""
    first = np.zeros(len(groups), dtype=bool)
    first[np.unique(groups, return_index=True)[1]] = True
    return np.asarray(first & (groups >= 0))


def _spread(value: Any, members: Mapping[Any, Sequence[Any]], names: Sequence[Hashable] | None) -> Any:
    """What names a bundle, said of each of its features."""
    if not isinstance(value, Mapping):
        return value
    result: dict[Any, Any] = {}
    for key, own in value.items():
        is_feature = names is not None and key in names
        for name in members[key] if key in members and not is_feature else [key]:
            result[name] = own
    return result


def _check_bundles(
    prices: Prices, labels: IntArray, members: Mapping[Any, Any], names: Sequence[Hashable] | None
) -> None:
    """Refuse bundles whose features differ in what they cost."""
    for number, label in enumerate(members):
        rows = np.flatnonzero(labels == number)
        terms = [("price", prices.full), ("discounted price", prices.discounted), ("group", prices.groups)]
        terms += [] if prices.visits is None else [("delay", prices.visits.delays)]
        for what, values in terms:
            if values is not None and (values[rows] != values[rows[0]]).any():
                other = int(rows[(values[rows] != values[rows[0]]).argmax()])
                raise ValueError(
                    f"bundle {label!r} has one {what}, and its features {_name(int(rows[0]), names)} and "
                    f"{_name(other, names)} differ in it; give all of them the same, or name the bundle."
                )


def _prices(
    feature_costs: Any, n_features: int, names: Sequence[Hashable] | None, groups: Any, discounted_costs: Any
) -> Prices:
    full = _by_feature(feature_costs, "feature_costs", n_features, names)
    if groups is None:
        if discounted_costs is not None:
            raise ValueError("discounted_costs needs groups: say which features share a discount.")
        return Prices(full, full, None)
    labels, _ = _labels(groups, "groups", n_features, names)
    if discounted_costs is None and (labels >= 0).any():
        warnings.warn("groups change nothing without discounted_costs: give the prices within a group.", stacklevel=2)
    discounted = full if discounted_costs is None else _fill_defaults(discounted_costs, "discounted_costs", full, names)
    # what no other feature can make cheaper has no discount
    discounted = np.where(labels >= 0, discounted, full)
    if (discounted > full).any():
        j = int((discounted > full).argmax())
        raise ValueError(
            f"discounted_costs of feature {_name(j, names)} is {discounted[j]:g}, above its full price {full[j]:g}."
        )
    return Prices(full, discounted, labels)


def _by_feature(value: Any, name: str, n_features: int, names: Sequence[Hashable] | None) -> FloatArray:
    if isinstance(value, Mapping):
        missing = sorted(set(range(n_features)).difference(_positions(value, name, n_features, names).values()))
        if missing:
            absent = missing if names is None else [names[j] for j in missing]
            raise ValueError(f"{name} has no price for {join_names(absent)}; name every feature.")
        return _fill_defaults(value, name, np.empty(n_features), names)
    array = check_costs(value, name)
    if array.ndim == 0:
        return np.full(n_features, float(array))
    if array.shape != (n_features,):
        raise ValueError(
            f"{name} must be a number, a dict, or one price for each of the {n_features} features; "
            f"got shape {array.shape}."
        )
    return array


def _fill_defaults(value: Any, what: str, default: FloatArray, names: Sequence[Hashable] | None) -> FloatArray:
    """A number for each feature; a dict may leave out what keeps its default."""
    if not isinstance(value, Mapping):
        return _by_feature(value, what, default.size, names)
    numbers = default.copy()
    for key, j in _positions(value, what, default.size, names).items():
        numbers[j] = _number(value[key], f"{what}[{short_repr(key)}]")
    return check_costs(numbers, what)


def _single(value: Any, name: str) -> float:
    number = check_costs(value, name)
    if number.ndim:
        raise ValueError(f"{name} must be one number, got shape {number.shape}.")
    return float(number)


def _labels(
    groups: Any, what: str, n_features: int, names: Sequence[Hashable] | None
) -> tuple[IntArray, list[tuple[Any, int]]]:
    """Number of each feature's group, -1 for none, and the label of each number."""
    if isinstance(groups, Mapping):
        position = _positions(groups, what, n_features, names)
        listed: list[Any] = [None] * n_features
        for key, j in position.items():
            listed[j] = groups[key]
    else:
        listed = _list(groups, what, "a dict, or a list with a label for each feature")
        if len(listed) != n_features:
            raise ValueError(f"{what} must have a label for each of the {n_features} features, got {len(listed)}.")
    known: dict[Any, int] = {}
    labels = np.full(n_features, -1, dtype=np.intp)
    for j, label in enumerate(listed):
        none = label is None or (isinstance(label, float) and np.isnan(label))
        if not (none or (isinstance(label, str) and label == "") or (not isinstance(label, str) and label == -1)):
            if not isinstance(label, Hashable):
                raise TypeError(f"{what} must hold texts or numbers, got {short_repr(label)} for {_name(j, names)}.")
            labels[j] = known.setdefault(label, len(known))
    return labels, list(known.items())


def _list(value: Any, name: str, what: str) -> list[Any]:
    if isinstance(value, (str, bytes)) or not isinstance(value, Iterable):
        raise TypeError(f"{name} must be {what}, got {short_repr(value)}.")
    return list(value)


def _positions(
    value: Mapping[Any, Any], name: str, n_features: int, names: Sequence[Hashable] | None
) -> dict[Any, int]:
    return dict(zip(value, columns_of(value, n_features, names, name).tolist()))


def _number(value: Any, name: str) -> float:
    try:
        return float(value)
    except (TypeError, ValueError):
        raise ValueError(f"{name} must be a number, got {short_repr(value)}.") from None


def _name(j: int, names: Sequence[Hashable] | None) -> str:
    return str(j) if names is None else short_repr(names[j])


def warn_of_money(prices: npt.NDArray[np.float64], decision_costs: npt.NDArray[np.float64]) -> None:
    """Warn where every price is at least what the dearest error costs, so that nothing can pay."""
    least, dearest = float(prices.min(initial=np.inf)), float(decision_costs.max(initial=0.0))
    if np.isfinite(least) and least > 0 and least >= dearest:
        warn_caller(
            f"the cheapest feature costs {least:g} and the dearest error {dearest:g}, so that nothing is worth buying: "
            "prices look like money; give decision_costs, what errors cost in the same money."
        )


def charge_acquired(acquired: Any, prices: Prices, outcomes: IntArray | None = None) -> tuple[IntArray, FloatArray]:
    """Number and cost of what is acquired of each instance, from a sparse matrix of ones; a bundle counts once.

    Where prices depend on answers, by their ``outcomes``, the cost of asking first what others depend on.
    """
    shown = sp.csr_array(acquired)
    if prices.bundles is not None:
        acquired = _once(acquired, prices.bundles)
    cost = acquired @ prices.discounted
    if prices.after:
        if outcomes is None and any(accepted is not None for one in prices.after for accepted in one.after.values()):
            raise ValueError("prices_after: what is bought at once cannot be priced by what is answered.")
        answers = np.where(shown.toarray() > 0, 0 if outcomes is None else outcomes, -1).T
        now = np.tile(prices.full[:, None], acquired.shape[0])
        for one in prices.after:
            now[one.question] = np.where(one.holds(answers), one.price, now[one.question])
        cost = cost + ((now.T - prices.full) * acquired.toarray()).sum(axis=1)
    if prices.groups is not None:
        extra = prices.full - prices.discounted
        for group in np.unique(prices.groups).tolist():
            columns = np.flatnonzero(prices.groups == group)
            bought = acquired[:, columns]
            if group < 0:  # these have no group: each costs its full price
                cost = cost + bought @ extra[columns]
                continue
            # one of them pays the full price: that for which the difference is least
            least = np.where(bought.toarray() > 0, extra[columns], np.inf).min(axis=1)
            cost = cost + np.where(np.isfinite(least), least, 0.0)
    if prices.visits is not None:
        cost = cost + _at_once(sp.csr_array(acquired), prices.visits)
    return np.asarray(acquired.sum(axis=1), dtype=np.intp).ravel(), np.asarray(cost, dtype=np.float64)


def full_price_steps(
    order: IntArray, acquired: BoolArray, visit: IntArray | None, groups: IntArray, surcharges: FloatArray
) -> BoolArray:
    """Steps that cost the full price, (n, longest): of each group the least surcharge of its first visit."""
    full, rows = acquired & (groups[order] < 0), np.arange(len(order))
    number = np.broadcast_to(np.arange(order.shape[1]), order.shape) if visit is None else visit
    for group in np.unique(groups[groups >= 0]).tolist() if order.size else ():  # where anything was asked
        some = acquired & (groups[order] == group)
        some &= number == np.where(some, number, np.inf).min(axis=1, keepdims=True, initial=np.inf)
        on = rows[some.any(axis=1)]
        full[on, np.where(some, surcharges[order], np.inf)[on].argmin(axis=1)] = True
    return full


def _at_once(acquired: Any, visits: Visits) -> FloatArray:
    """Cost of the visits of each instance that orders all at once, as far as a panel holds it, the slowest first."""
    total = np.zeros(acquired.shape[0])
    most = visits.max_panel or max(acquired.shape[1], 1)
    for row, columns in enumerate(np.split(acquired.indices, acquired.indptr[1:-1])):
        waits = np.sort(visits.delays[columns])[::-1][::most]
        total[row] = visits.cost * waits.size + visits.delay_cost * waits.sum()
    return total


def _once(acquired: Any, bundles: IntArray) -> Any:
    """What is acquired, a bundle as its first feature, acquired where any of its features is."""
    first = np.arange(bundles.size)
    _, start, number = np.unique(bundles, return_index=True, return_inverse=True)
    first[bundles >= 0] = start[number[bundles >= 0]]
    members = sp.csr_array((np.ones(bundles.size), (np.arange(bundles.size), first)))
    members.resize((bundles.size, bundles.size))
    asked = sp.csr_array(acquired @ members)
    asked.data[:] = 1.0
    return asked
