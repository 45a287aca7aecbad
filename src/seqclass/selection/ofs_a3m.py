"""OFS-A3M: features that stream in are kept by the dependency of the class on them, with neighbours up to a gap."""

from __future__ import annotations

from typing import Any

from seqclass._utils.arrays import FloatArray
from seqclass.selection._dependence import TOLERANCE
from seqclass.selection._rough_set import Gap, RoughSetStream


class OFSA3M(RoughSetStream):
    r"""Online streaming feature selection by an adapted neighbourhood rough set: no thresholds to set.

    The neighbours :math:`\delta(x_i)` of a row are the nearest other row and those after it, by Euclidean distance in
    the columns in question (each divided by its standard deviation), as long as the step from one distance to the next
    is below 1.5 times their mean step, :math:`(d_{max} - d_{min}) / (n - 2)`. The class depends on a set S by
    :math:`\gamma(S) = \frac{1}{n} \sum_i |\{x \in \delta(x_i) : y(x) = y_i\}| / |\delta(x_i)|`.

    A new feature f is looked at if :math:`\gamma(\{f\}) > \gamma(S) / |S|` (maximal relevance). It is kept if
    :math:`\gamma(S \cup \{f\}) > \gamma(S)` (maximal dependency). If the two are equal it is kept too, and those of the
    others are dropped, in random order, without which the dependency stays what it is (maximal significance).

    Parameters
    ----------
    published : bool, default=False
        Whether to follow the authors' program where it differs from this: among equal rows it leaves the first out of
        all their neighbourhoods, so that the others count themselves, which raises the dependency on few columns with
        few values (see the notes).
    max_bytes : float, default=2**30
        Most bytes for the matrix of squared distances (8 n^2), to which the share of a column is added. With more rows
        the distances are computed from the features kept, block by block: slower, in memory that grows with n.
    random_state : None, int or generator
        Seed of the order in which features are tried for dropping.

    Attributes
    ----------
    selected_ : ndarray of int
        Features kept, in order of arrival.
    dependency_ : float
        Dependency of the class on the features kept.
    support_, classes_, n_features_in_, feature_names_in_, n_seen_
        As in all feature streams.

    Notes
    -----
    Constant features are dropped, as they have no scale. Rows that are as far away as the last neighbour are neighbours
    too, and so are all rows if all are equally far away, so that the order of the rows does not matter. Dependencies
    are equal if they differ by less than 1e-11.

    A copy of the only feature kept is dropped. Among several features a copy doubles the weight of its feature, and is
    kept if that raises the dependency.

    On Madelon the first two columns have 1424 pairs of values in 2000 rows: with ``published=True`` so many rows count
    themselves that no third feature is ever as good, and the two useless features remain, as the literature reports.

    Values are numbers; sparse columns are made dense a few at a time. A column costs O(n^2) at most, and much less if
    the nearest 32 rows are enough or rows are equal.

    References
    ----------
    P. Zhou, X. Hu, P. Li, X. Wu, "Online streaming feature selection using adapted neighborhood rough set", Information
    Sciences 481, 2019.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> y = np.repeat([0, 1], 50)
    >>> X = rng.normal(size=(100, 4))
    >>> X[:, 0] += 6 * y
    >>> selector = OFSA3M(random_state=0).fit(X, y)
    >>> selector.get_support(indices=True), selector.dependency_
    (array([0]), 1.0)
    """

    def _rule(self, n: int) -> Gap:
        return Gap(n)

    @property
    def _bound(self) -> float:
        """What a feature's own dependency must exceed."""
        return self._dependency / max(len(self._selected), 1) + TOLERANCE

    def _single_dependency(self, X: FloatArray) -> FloatArray:
        # nothing hangs on how far above the bound it is
        return self._single.with_column(X, floor=self._bound, enough=self._bound)

    def _relevant(self, own: FloatArray) -> Any:
        return own > self._bound

    def _least_dependency(self) -> float:
        return self._dependency - TOLERANCE

    def _redundant(self, without: float, dependency: float) -> bool:
        return abs(without - dependency) <= TOLERANCE
