"""A labelled data set with its prices, and where it comes from."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from seqclass._utils.arrays import FloatArray, IntArray, chunks
from seqclass._utils.frames import is_frame
from seqclass._utils.tables import Readable
from seqclass._utils.text import join_names, short_repr, visible
from seqclass._utils.validation import check_costs, check_real, in_order
from seqclass.costs import Costs
from seqclass.datasets.hidden import HiddenStates
from seqclass.datasets.logit import SwitchedLogit
from seqclass.datasets.world import Optimum, World


@dataclass(frozen=True, repr=False)
class DatasetInfo(Readable):
    """Figures about a data set; ``str`` turns them into text.

    Attributes
    ----------
    name : str
        Name of the set.
    n_samples, n_features, n_classes : int
        Number of rows, features and classes.
    kind : str
        ``"dense"``, ``"sparse"`` or ``"data frame"``.
    dtype : str
        Type of the values; for a data frame the number of columns of each kind.
    zero_share : float
        Share of the cells (in a data frame, of the numeric cells) that are zero.
    missing_share : float
        Share of the cells that are missing.
    class_counts, split : dict of str to int
        Number of rows in each class, and in each part of the source's own split.
    cost_range : tuple of float or None
        Lowest and highest price.
    total_cost : float or None
        Price of all features bought one by one, without discounts.
    n_unpriced : int
        Number of features without a price in the source, if others have one.
    n_groups, n_bundles : int
        Number of groups of features that share a discount, and of bundles of features that one question shows together.
    n_decisions : int
        Number of decisions, including further ones.
    optimum : Optimum or None
        Least expected costs, if known.
    source : str
        Where the set comes from.

    Examples
    --------
    >>> from seqclass.datasets import load
    >>> info = load("breast_cancer").info()
    >>> info.class_counts
    {'malignant': 212, 'benign': 357}
    >>> info.missing_share
    0.0
    """

    _in_summary = ("name", "n_samples", "n_features", "n_classes", "kind", "missing_share", "cost_range", "n_decisions")

    name: str
    n_samples: int
    n_features: int
    n_classes: int
    kind: str
    dtype: str
    zero_share: float
    missing_share: float
    class_counts: dict[str, int]
    split: dict[str, int]
    cost_range: tuple[float, float] | None
    total_cost: float | None
    n_unpriced: int
    n_groups: int
    n_bundles: int
    n_decisions: int
    optimum: Optimum | None
    source: str

    def __str__(self) -> str:
        missing = "none missing" if self.missing_share == 0 else f"{_percent(self.missing_share)} missing"
        counts = [f"{name} {count:,}" for name, count in self.class_counts.items()]
        if len(counts) > 12:  # more are counted together
            sizes = self.class_counts.values()
            counts = [f"{len(counts)}, of {min(sizes):,} to {max(sizes):,} rows each"]
        further = self.n_decisions - self.n_classes
        texts = {
            "values": f"{self.kind}, {self.dtype}; {_percent(self.zero_share)} zeros, {missing}",
            "classes": ", ".join(counts),
            "split": ", ".join(f"{name} {count:,}" for name, count in self.split.items()),
            "prices": self._prices(),
            "bundles": f"{self.n_bundles}, each seen in one question" if self.n_bundles else "",
            "decisions": f"{self.n_decisions}, {further} beyond the classes" if further else "",
            "optimum": "" if self.optimum is None else str(self.optimum),
            "source": self.source,
        }
        head = f"{self.name}: {self.n_samples:,} rows, {self.n_features:,} features, {self.n_classes} classes"
        return visible("\n".join([head, *(f"{name:<10}{text}" for name, text in texts.items() if text)]))

    def _prices(self) -> str:
        if self.cost_range is None:
            return "none"
        low, high = self.cost_range
        text = f"{low:g} each" if low == high else f"{low:g} to {high:g}, {self.total_cost:g} in all"
        if self.n_unpriced:
            text += f"; {self.n_unpriced} unknown"
        if self.n_groups:
            text += f"; {self.n_groups} group{'s' if self.n_groups > 1 else ''} with a discount"
        return text


def _count(labels: tuple[Any, ...] | None) -> int:
    return len({label for label in labels or () if label not in (None, "", -1)})


def _values(X: Any) -> tuple[str, str, float, float]:
    """Kind, type, share of zeros and share of missing values."""
    cells = float(max(1, X.shape[0] * X.shape[1]))
    if is_frame(X):
        numeric = X.select_dtypes("number")
        others = X.shape[1] - numeric.shape[1]
        zeros = float((numeric == 0).to_numpy().sum()) / max(1, numeric.size)
        text = f"{numeric.shape[1]} numeric, {others} categorical" if others else f"{numeric.shape[1]} numeric"
        return "data frame", text, zeros, float(X.isna().to_numpy().sum()) / cells
    if sp.issparse(X):
        values, stored = X.data, X.nnz
        missing = int(np.isnan(values).sum()) if values.dtype.kind == "f" else 0
        return "sparse", str(X.dtype), 1 - (stored - int((values == 0).sum())) / cells, missing / cells
    zeros, missing = 0, 0
    for rows in chunks(X.shape[0], 8.0 * X.shape[1]):
        zeros += int((X[rows] == 0).sum())
        missing += int(np.isnan(X[rows]).sum()) if X.dtype.kind == "f" else 0
    return "dense", str(X.dtype), zeros / cells, missing / cells


def _percent(share: float) -> str:
    if 0 < share < 5e-4:
        return "under 0.1%"
    if 0.9995 < share < 1:
        return f"{100 * share:.4f}%"
    return f"{100 * share:.1f}%" if share % 1 else f"{100 * share:.0f}%"


@dataclass(frozen=True, eq=False, repr=False)
class Dataset:
    """A labelled data set, the prices of its features, and where it comes from.

    Attributes
    ----------
    name : str
        Short name.
    X : ndarray, sparse array or DataFrame of shape (n_samples, n_features)
        The features; NaN where missing. Indices of a sparse array are int32 if they fit, as scikit-learn's trees
        require.
    y : ndarray of int of shape (n_samples,)
        Class codes 0..n_classes-1, the positions in ``class_names``.
    class_names : tuple of str
        Label of each class.
    feature_names : tuple of str or None
        Name of each feature, by default those of a data frame's columns; None if they have none.
    feature_costs : ndarray of shape (n_features,) or None
        Price of each feature in the units of the source; NaN for features without a price. None: there are no prices.
        A dict or a Series by feature is put into the order of the columns, as are the other costs.
    discounted_costs : ndarray of shape (n_features,) or None
        Price of a feature once another one of its group has been acquired.
    groups : tuple of length n_features or None
        Label of the group of each feature, None for none.
    bundles : tuple of length n_features or None
        Name or number of the question whose answer shows the feature together with others, such as one blood draw or
        one context. None for a feature that is seen alone. A bundle costs the sum of the ``feature_costs`` of its
        features.
    delays : ndarray of shape (n_features,) or None
        How long the answer of each feature takes.
    visit_cost, delay_cost : float or None
        Cost of a visit, and of one unit of the time that its slowest answer takes, in the units of the source.
    max_panel : int or None
        Most features that may be asked for in one visit.
    decision_costs : ndarray of shape (n_classes, n_decisions) or None
        Cost of each decision when each class is true; None: 1 for a wrong class.
    decisions : tuple of str
        Labels of the columns of ``decision_costs`` beyond the classes.
    train_index, valid_index, test_index : ndarray of int or None
        Rows of the parts into which the source splits the set.
    informative : ndarray of int or None
        Features that are related to the class, if that is known; in the order of the columns.
    world : World or None
        The distribution that the rows were drawn from, if it is known as tables of a class and discrete features.
    truth : HiddenStates, SwitchedLogit or None
        The distribution that the rows were drawn from, if it is known as one of these; ``truth.posterior(X)`` returns
        the exact probabilities of the classes.
    optimum : Optimum or None
        Least expected costs in that distribution at these prices, if they can be computed.
    description, source : str
        What the set is, and where it comes from.

    Raises
    ------
    ValueError
        If the parts do not match each other.

    Examples
    --------
    >>> import numpy as np
    >>> data = Dataset("toy", np.array([[0.1], [0.9]]), np.array([0, 1]), ("well", "ill"))
    >>> data.n_classes, data.labels.tolist()
    (2, ['well', 'ill'])
    >>> data
    Dataset('toy', 2 x 1, 2 classes)
    """

    name: str
    X: Any
    y: IntArray
    class_names: tuple[str, ...]
    feature_names: tuple[str, ...] | None = None
    feature_costs: FloatArray | None = None
    discounted_costs: FloatArray | None = None
    groups: tuple[Any, ...] | None = None
    bundles: tuple[Any, ...] | None = None
    decision_costs: FloatArray | None = None
    decisions: tuple[str, ...] = ()
    train_index: IntArray | None = None
    valid_index: IntArray | None = None
    test_index: IntArray | None = None
    informative: IntArray | None = None
    world: World | None = None
    truth: HiddenStates | SwitchedLogit | None = None
    optimum: Optimum | None = None
    description: str = ""
    source: str = ""
    delays: FloatArray | None = None
    visit_cost: float | None = None
    delay_cost: float | None = None
    max_panel: int | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "X", _narrow_indices(self.X))
        for name in ("y", "train_index", "valid_index", "test_index"):
            if (value := getattr(self, name)) is not None:  # a Series would be read by its labels, not by position
                object.__setattr__(self, name, np.asarray(value))
        if not hasattr(self.X, "shape") or len(self.X.shape) != 2:
            raise ValueError(f"X of {self.name!r} must have rows and columns.")
        n, m = self.X.shape
        if self.feature_names is None and all(isinstance(name, str) for name in getattr(self.X, "columns", [0])):
            object.__setattr__(self, "feature_names", tuple(self.X.columns))
        for name in ("class_names", "decisions", "feature_names", "groups", "bundles"):
            if isinstance(value := getattr(self, name), str):
                raise ValueError(f"{name} of {self.name!r} must be a list of names, got the text {short_repr(value)}.")
        labels = [*self.class_names, *self.decisions]
        if twice := next((label for i, label in enumerate(labels) if label in labels[:i]), ""):
            raise ValueError(f"class_names of {self.name!r}: two classes or decisions are called {short_repr(twice)}.")
        if self.y.shape != (n,) or self.y.dtype.kind not in "iu":
            raise ValueError(
                f"y of {self.name!r} must hold an integer for each of the {n} rows, the place of its class in "
                f"class_names, got {self.y.dtype} of shape {self.y.shape}: "
                "class_names, y = np.unique(labels, return_inverse=True)."
            )
        if n and (self.y.min() < 0 or self.y.max() >= len(self.class_names)):
            raise ValueError(f"y of {self.name!r} must lie between 0 and {len(self.class_names) - 1}.")
        columns = ("feature_costs", "discounted_costs", "delays")
        for name in (*columns, "decision_costs"):
            if (value := getattr(self, name)) is not None:
                axes = [self.names()] if name in columns else [self.class_names, labels]
                object.__setattr__(self, name, np.asarray(in_order(value, name, *axes), dtype=np.float64))
        for name in ("groups", "bundles"):
            if hasattr(value := getattr(self, name), "iloc"):
                object.__setattr__(self, name, tuple(in_order(value, name, self.names())))
        for name in ("feature_names", *columns, "groups", "bundles"):
            value = getattr(self, name)
            if value is not None and len(value) != m:
                raise ValueError(f"{name} of {self.name!r} must have {m} entries, one a feature, got {len(value)}.")
        for name in ("train_index", "valid_index", "test_index"):
            value = getattr(self, name)
            if value is not None and value.size and not 0 <= value.min() <= value.max() < n:
                raise ValueError(f"{name} of {self.name!r} names rows that do not exist; there are {n}.")
        if self.decision_costs is not None:
            wanted = (self.n_classes, self.n_classes + len(self.decisions))
            check_costs(self.decision_costs, f"decision_costs of {self.name!r}", wanted)

    def __repr__(self) -> str:
        n, m = self.X.shape
        return f"Dataset({self.name!r}, {n} x {m}, {self.n_classes} classes)"

    @property
    def n_classes(self) -> int:
        """Number of classes."""
        return len(self.class_names)

    @property
    def labels(self) -> npt.NDArray[Any]:
        """Labels of the rows: ``class_names`` at ``y``, an ndarray of str of shape (n_samples,)."""
        return np.array(self.class_names)[self.y]

    def info(self) -> DatasetInfo:
        """Return figures about the set, which print as text.

        Returns
        -------
        DatasetInfo

        Examples
        --------
        >>> from seqclass.datasets import load
        >>> print(load("wine").info())
        wine: 178 rows, 13 features, 3 classes
        values    dense, float64; 0% zeros, none missing
        classes   class_0 59, class_1 71, class_2 48
        prices    none
        source    scikit-learn, load_wine
        """
        kind, dtype, zeros, missing = _values(self.X)
        n, m = self.X.shape
        counts = np.bincount(self.y, minlength=self.n_classes).tolist()
        parts = {"train": self.train_index, "valid": self.valid_index, "test": self.test_index}
        costs = np.empty(0) if self.feature_costs is None else self.feature_costs[~np.isnan(self.feature_costs)]
        return DatasetInfo(
            name=self.name,
            n_samples=n,
            n_features=m,
            n_classes=self.n_classes,
            kind=kind,
            dtype=dtype,
            zero_share=zeros,
            missing_share=missing,
            class_counts=dict(zip(self.class_names, counts)),
            split={name: len(rows) for name, rows in parts.items() if rows is not None},
            cost_range=(float(costs.min()), float(costs.max())) if costs.size else None,
            total_cost=float(costs.sum()) if costs.size else None,
            n_unpriced=m - costs.size if costs.size else 0,
            n_groups=_count(self.groups),
            n_bundles=_count(self.bundles),
            n_decisions=self.n_classes + len(self.decisions),
            optimum=self.optimum,
            source=self.source,
        )

    def frame(self) -> Any:
        """Return the features as a data frame with named columns.

        Returns
        -------
        pandas.DataFrame of shape (n_samples, n_features)
            With sparse columns if ``X`` is sparse.

        Examples
        --------
        >>> from seqclass.datasets import load
        >>> load("iris").frame().columns[0]
        'sepal length (cm)'
        """
        import pandas as pd

        if is_frame(self.X):
            return self.X
        names = self.names()
        if sp.issparse(self.X):
            sparse: Any = pd.DataFrame.sparse
            return sparse.from_spmatrix(self.X, columns=pd.Index(names))
        return pd.DataFrame(self.X, columns=pd.Index(names))

    def names(self) -> list[str]:
        """Return the names of the features; ``x0``, ``x1``, ... if they have none.

        Examples
        --------
        >>> from seqclass.datasets import load
        >>> load("wine").names()[:2]
        ['alcohol', 'malic_acid']
        """
        return [f"x{j}" for j in range(self.X.shape[1])] if self.feature_names is None else list(self.feature_names)

    def take(self, rows: npt.ArrayLike) -> Dataset:
        """Return some of the rows; the split of the source is dropped.

        Parameters
        ----------
        rows : array-like of int or bool
            Positions of the rows, or a mask.

        Returns
        -------
        Dataset

        Examples
        --------
        >>> from seqclass.datasets import load
        >>> load("iris").take(range(10))
        Dataset('iris', 10 x 4, 3 classes)
        """
        chosen = np.asarray(rows)
        X = self.X.iloc[chosen] if is_frame(self.X) else self.X[chosen]
        return replace(self, X=X, y=self.y[chosen], train_index=None, valid_index=None, test_index=None)

    def costs(self, scale: float = 1.0, missing_cost: float | None = None) -> Costs:
        """Return prices and costs for a classifier that is fitted to ``X`` and ``y``.

        Parameters
        ----------
        scale : float
            Factor that turns the prices of the source, in dollars for example, into units of misclassification cost.
        missing_cost : float, optional
            Price, before scaling, of features for which the source gives none.

        Returns
        -------
        seqclass.Costs
            Everything that the source says, with prices in the order of the columns, except ``bundles``: a classifier
            asks for each column by itself.

        Raises
        ------
        ValueError
            If a feature has no price and ``missing_cost`` is not given.

        Examples
        --------
        >>> import numpy as np
        >>> data = Dataset("toy", np.eye(2), np.array([0, 1]), ("a", "b"), feature_costs=np.array([5.0, np.nan]))
        >>> data.costs(scale=0.01, missing_cost=10).feature_costs.tolist()
        [0.05, 0.1]
        """
        check_real(scale, "scale", 0)
        settings: dict[str, Any] = {"max_panel": self.max_panel, "decision_costs": self.decision_costs}
        if self.feature_costs is not None:
            settings["feature_costs"] = scale * self._fill_costs(self.feature_costs, missing_cost)
            if self.groups is not None and self.discounted_costs is not None:
                discounted = np.where(np.isnan(self.discounted_costs), self.feature_costs, self.discounted_costs)
                settings["discounted_costs"] = scale * self._fill_costs(discounted, missing_cost)
        if self.groups is not None:
            settings["groups"] = list(self.groups)
        if self.visit_cost is not None:
            settings["visit_cost"] = scale * self.visit_cost
        if self.delays is not None and self.delay_cost is not None:
            settings |= {"delays": self.delays, "delay_cost": scale * self.delay_cost}
        if self.decisions:  # classes are codes, so that all labels of decisions are positions
            settings["decisions"] = list(range(self.n_classes, self.n_classes + len(self.decisions)))
        return Costs(**settings)

    def _fill_costs(self, costs: FloatArray, missing_cost: float | None) -> FloatArray:
        unknown = np.isnan(costs)
        if unknown.any() and missing_cost is None:
            there = join_names([self.names()[j] for j in np.flatnonzero(unknown)], 3)
            raise ValueError(f"the source of {self.name!r} gives no price for {there}; pass missing_cost.")
        return np.where(unknown, np.nan if missing_cost is None else check_real(missing_cost, "missing_cost", 0), costs)


def _narrow_indices(X: Any) -> Any:
    """Give a compressed sparse matrix with positions of 32 bits if these are enough."""
    wide = sp.issparse(X) and hasattr(X, "indptr") and np.int64 in (X.indices.dtype, X.indptr.dtype)
    if not wide or max(*X.shape, X.nnz) > np.iinfo(np.int32).max:
        return X
    return type(X)((X.data, X.indices.astype(np.int32), X.indptr.astype(np.int32)), shape=X.shape)
