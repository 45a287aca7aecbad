"""Figures about a data set, readable as text."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse as sp

from seqclass._arrays import chunks
from seqclass._frames import is_frame

if TYPE_CHECKING:
    from seqclass.datasets._dataset import Dataset
    from seqclass.datasets._world import Optimum

#: More classes than this are counted together.
_SHOWN = 12


@dataclass(frozen=True)
class DatasetInfo:
    """Figures about a data set; ``str`` gives them as text.

    Attributes
    ----------
    name : str
        Name of the set.
    n_samples, n_features, n_classes : int
        Its size.
    kind : str
        ``"dense"``, ``"sparse"`` or ``"data frame"``.
    dtype : str
        Type of the values; for a data frame the number of columns of each kind.
    zero_share : float
        Share of the cells that are zero; of the numeric ones in a data frame.
    missing_share : float
        Share of the cells that are missing.
    class_counts : dict of str to int
        Rows of each class.
    split : dict of str to int
        Rows of each part of the source's own split.
    cost_range : tuple of float or None
        Least and greatest price.
    total_cost : float or None
        Price of all features bought one by one, without discounts.
    n_unpriced : int
        Features for which the source gives no price, where others have one.
    n_groups : int
        Groups of features that share a discount.
    n_bundles : int
        Bundles of features that one question shows together.
    n_decisions : int
        Decisions, further ones included.
    optimum : Optimum or None
        Least expected costs, where known.
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
        lines = [f"{self.name}: {self.n_samples:,} rows, {self.n_features:,} features, {self.n_classes} classes"]
        missing = "none missing" if self.missing_share == 0 else f"{_percent(self.missing_share)} missing"
        lines.append(_line("values", f"{self.kind}, {self.dtype}; {_percent(self.zero_share)} zeros, {missing}"))
        counts = [f"{name} {count:,}" for name, count in self.class_counts.items()]
        if len(counts) > _SHOWN:
            sizes = self.class_counts.values()
            counts = [f"{len(counts)}, of {min(sizes):,} to {max(sizes):,} rows each"]
        lines.append(_line("classes", ", ".join(counts)))
        if self.split:
            lines.append(_line("split", ", ".join(f"{name} {count:,}" for name, count in self.split.items())))
        lines.append(_line("prices", self._prices()))
        if self.n_bundles:
            lines.append(_line("bundles", f"{self.n_bundles}, each seen in one question"))
        if self.n_decisions > self.n_classes:
            lines.append(
                _line("decisions", f"{self.n_decisions}, {self.n_decisions - self.n_classes} beyond the classes")
            )
        if self.optimum is not None:
            lines.append(_line("optimum", str(self.optimum)))
        if self.source:
            lines.append(_line("source", self.source))
        return "\n".join(lines)

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


def describe(data: Dataset) -> DatasetInfo:
    """Work the figures out."""
    kind, dtype, zeros, missing = _values(data.X)
    n, m = data.X.shape
    counts = np.bincount(data.y, minlength=data.n_classes).tolist()
    parts = {"train": data.train_index, "valid": data.valid_index, "test": data.test_index}
    costs = None if data.feature_costs is None else data.feature_costs[~np.isnan(data.feature_costs)]
    priced = costs is not None and costs.size > 0
    return DatasetInfo(
        name=data.name,
        n_samples=n,
        n_features=m,
        n_classes=data.n_classes,
        kind=kind,
        dtype=dtype,
        zero_share=zeros,
        missing_share=missing,
        class_counts=dict(zip(data.class_names, counts)),
        split={name: len(rows) for name, rows in parts.items() if rows is not None},
        cost_range=(float(costs.min()), float(costs.max())) if priced and costs is not None else None,
        total_cost=float(costs.sum()) if priced and costs is not None else None,
        n_unpriced=m - costs.size if priced and costs is not None else 0,
        n_groups=_count(data.groups),
        n_bundles=_count(data.bundles),
        n_decisions=data.n_classes + len(data.decisions),
        optimum=data.optimum,
        source=data.source,
    )


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


def _line(name: str, text: str) -> str:
    return f"{name:<10}{text}"
