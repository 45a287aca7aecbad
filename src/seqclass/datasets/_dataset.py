"""A labelled data set with its prices, and where it comes from."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from seqclass._arrays import FloatArray, IntArray
from seqclass._frames import is_frame
from seqclass._messages import listed
from seqclass._validation import check_costs, check_real
from seqclass.datasets._hidden import HiddenStates
from seqclass.datasets._info import DatasetInfo, describe
from seqclass.datasets._logit import SwitchedLogit
from seqclass.datasets._world import Optimum, World


@dataclass(frozen=True, eq=False, repr=False)
class Dataset:
    """A labelled data set, the prices of its features, and where it comes from.

    Attributes
    ----------
    name : str
        Short name.
    X : ndarray, sparse array or DataFrame of shape (n_samples, n_features)
        The features; NaN where missing. Positions in a sparse one are int32 wherever they fit, as scikit-learn's trees
        want them.
    y : ndarray of int of shape (n_samples,)
        Class codes 0..n_classes-1, the positions in ``class_names``.
    class_names : tuple of str
        Label of each class.
    feature_names : tuple of str or None
        Name of each feature; None where they have none.
    feature_costs : ndarray of shape (n_features,) or None
        Price of each feature in the units of the source; NaN where the source gives none. None: no prices at all.
    discounted_costs : ndarray of shape (n_features,) or None
        Price of a feature once another one of its group was acquired.
    groups : tuple of length n_features or None
        Label of each feature's group, None for none.
    bundles : tuple of length n_features or None
        Name or number of the question whose answer shows the feature, where it shows others too: one blood draw, one
        context. None for a feature that is seen alone. A bundle costs what ``feature_costs`` give for its features
        together.
    decision_costs : ndarray of shape (n_classes, n_decisions) or None
        Cost of each decision when each class is true; None: 1 for a wrong class.
    decisions : tuple of str
        Labels of the columns of ``decision_costs`` beyond the classes.
    train_index, valid_index, test_index : ndarray of int or None
        Rows of the parts into which the source splits the set.
    informative : ndarray of int or None
        Features that bear on the class, where that is known; in the order of the columns.
    world : World or None
        The distribution that the rows were drawn from, where it is known as tables of a class and discrete features.
    truth : HiddenStates, SwitchedLogit or None
        The distribution that the rows were drawn from, where it is known as one of these; ``truth.posterior(X)`` gives
        the exact probabilities of the classes.
    optimum : Optimum or None
        Least expected costs in that distribution at these prices, where they can be worked out.
    description : str
        What the set is.
    source : str
        Where it comes from.

    Raises
    ------
    ValueError
        If the parts do not fit each other.

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

    def __post_init__(self) -> None:
        object.__setattr__(self, "X", _narrow(self.X))
        if not hasattr(self.X, "shape") or len(self.X.shape) != 2:
            raise ValueError(f"X of {self.name!r} must have rows and columns.")
        n, m = self.X.shape
        if self.y.shape != (n,) or self.y.dtype.kind not in "iu":
            raise ValueError(f"y of {self.name!r} must hold an integer for each of the {n} rows, got {self.y.shape}.")
        if n and (self.y.min() < 0 or self.y.max() >= len(self.class_names)):
            raise ValueError(f"y of {self.name!r} must lie between 0 and {len(self.class_names) - 1}.")
        for name in ("feature_names", "feature_costs", "discounted_costs", "groups", "bundles"):
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
        """Figures about the set, readable as text.

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
        return describe(self)

    def frame(self) -> Any:
        """Features as a data frame with named columns.

        Returns
        -------
        pandas.DataFrame of shape (n_samples, n_features)
            Sparse columns where ``X`` is sparse.

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
        """Names of the features, ``x0``, ``x1``, ... where they have none.

        Examples
        --------
        >>> from seqclass.datasets import load
        >>> load("wine").names()[:2]
        ['alcohol', 'malic_acid']
        """
        return [f"x{j}" for j in range(self.X.shape[1])] if self.feature_names is None else list(self.feature_names)

    def take(self, rows: npt.ArrayLike) -> Dataset:
        """Some of the rows; the split of the source is dropped.

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

    def settings(self, scale: float = 1.0, missing_cost: float | None = None) -> dict[str, Any]:
        """Prices and costs as settings of a `seqclass.SequentialClassifier`, to be fitted to ``X`` and ``y``.

        Parameters
        ----------
        scale : float
            Factor that turns the prices of the source, dollars say, into units of misclassification cost.
        missing_cost : float, optional
            Price, before scaling, of the features for which the source gives none.

        Returns
        -------
        dict
            Whichever there are of ``feature_costs``, ``discounted_costs``, ``groups``, ``decision_costs`` and
            ``decisions``; prices are in the order of the columns. Not ``bundles``: a classifier asks for each column by
            itself.

        Raises
        ------
        ValueError
            If a feature has no price and ``missing_cost`` is not given.

        Examples
        --------
        >>> import numpy as np
        >>> data = Dataset("toy", np.eye(2), np.array([0, 1]), ("a", "b"), feature_costs=np.array([5.0, np.nan]))
        >>> data.settings(scale=0.01, missing_cost=10)["feature_costs"].tolist()
        [0.05, 0.1]
        """
        check_real(scale, "scale", 0)
        found: dict[str, Any] = {}
        if self.feature_costs is not None:
            found["feature_costs"] = scale * self._filled(self.feature_costs, missing_cost)
            if self.groups is not None and self.discounted_costs is not None:
                discounted = np.where(np.isnan(self.discounted_costs), self.feature_costs, self.discounted_costs)
                found["discounted_costs"] = scale * self._filled(discounted, missing_cost)
        if self.groups is not None:
            found["groups"] = list(self.groups)
        if self.decision_costs is not None:
            found["decision_costs"] = self.decision_costs
        if self.decisions:  # classes are codes, so that all labels of decisions are positions
            found["decisions"] = list(range(self.n_classes, self.n_classes + len(self.decisions)))
        return found

    def _filled(self, costs: FloatArray, missing_cost: float | None) -> FloatArray:
        unknown = np.isnan(costs)
        if unknown.any() and missing_cost is None:
            there = listed([self.names()[j] for j in np.flatnonzero(unknown)], 3)
            raise ValueError(f"the source of {self.name!r} gives no price for {there}; pass missing_cost.")
        return np.where(unknown, np.nan if missing_cost is None else check_real(missing_cost, "missing_cost", 0), costs)


def _narrow(X: Any) -> Any:
    """Give a compressed sparse matrix with positions of 32 bits if these are enough."""
    wide = sp.issparse(X) and hasattr(X, "indptr") and np.int64 in (X.indices.dtype, X.indptr.dtype)
    if not wide or max(*X.shape, X.nnz) > np.iinfo(np.int32).max:
        return X
    return type(X)((X.data, X.indices.astype(np.int32), X.indptr.astype(np.int32)), shape=X.shape)
