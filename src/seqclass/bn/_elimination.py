"""Exact inference where features have several feature parents: variable elimination, batched over rows."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from seqclass._arrays import FloatArray, IntArray, chunks
from seqclass.bn._rows import Columns, distinct_rows

#: Entries of the largest intermediate table of a row, over all classes.
_MAX_CELLS = 2**24
#: A table and the features its axes stand for; axes (rows or 1, feature, ..., class).
_Factor = tuple[tuple[int, ...], FloatArray]


class Elimination:
    """Inference in a directed acyclic graph over the features, the class a parent of each.

    Rows with the same features observed are handled together; each feature that is not observed and has evidence
    below it is summed out, the one with the smallest table first. The time grows exponentially with how densely these
    features are connected.

    Parameters
    ----------
    parents : sequence of ndarray of int
        Feature parents of each feature.
    cpds : sequence of ndarray of shape (V, V_parent, ..., n_classes)

    References
    ----------
    .. [1] D. Koller, N. Friedman, "Probabilistic graphical models", 2009, chapter 9.
    """

    def __init__(self, parents: Sequence[IntArray], cpds: Sequence[FloatArray | None]) -> None:
        self.parents = parents
        self.cpds = cpds
        self.n_classes = next((cpd.shape[-1] for cpd in cpds if cpd is not None), 0)
        self.sizes: dict[int, int] = {j: len(cpd) for j, cpd in enumerate(cpds) if cpd is not None}

    def conditional(self, feature: int, codes: Columns, n: int) -> FloatArray:
        """P(outcome | evidence, class), (n, V, n_classes); see `Forest.conditional`."""
        result = np.empty((n, self._size(feature), self.n_classes))
        for rows, inverse, columns in self._patterns(codes, n):
            table, _ = self._query(columns, len(rows), feature)
            total = table.sum(axis=1, keepdims=True)
            # where the evidence excludes the class any distribution will do
            table = np.where(total > 0, table / np.where(total > 0, total, 1.0), 1.0 / table.shape[1])
            result[inverse[0]] = np.broadcast_to(table, (len(rows), *table.shape[1:]))[inverse[1]]
        return result

    def log_evidence(self, codes: Columns, n: int) -> FloatArray:
        """Log P(evidence | class) of each class and row, shape (n_classes, n)."""
        result = np.zeros((self.n_classes, n))
        for rows, inverse, columns in self._patterns(codes, n):
            table, scale = self._query(columns, len(rows), None)
            with np.errstate(divide="ignore"):
                logarithm = np.log(table) + scale
            result[:, inverse[0]] = np.broadcast_to(logarithm, (len(rows), self.n_classes))[inverse[1]].T
        return result

    def _size(self, feature: int) -> int:
        if feature not in self.sizes:
            raise ValueError(
                f"feature {feature} has {len(self.parents[feature])} parents, too many to keep its table: "
                "use conditioning='ancestor'."
            )
        return self.sizes[feature]

    def _patterns(self, codes: Columns, n: int) -> Iterator[tuple[IntArray, tuple[IntArray, IntArray], Columns]]:
        """Distinct rows of each set of observed features, where they occur, and their evidence."""
        if n == 0:
            return
        known: dict[int, Any] = {j: (column >= 0).astype(np.intp) for j, column in codes.items()}
        examples, pattern = distinct_rows(known, dict.fromkeys(known, 2), n)
        for number, example in enumerate(examples):
            at = np.flatnonzero(pattern == number)
            observed = {j: codes[j][at] for j in codes if known[j][example]}
            rows, inverse = distinct_rows(observed, {j: self._size(j) for j in observed}, len(at))
            yield rows, (at, inverse), {j: column[rows] for j, column in observed.items()}

    def _query(self, columns: Columns, n: int, target: int | None) -> tuple[FloatArray, FloatArray]:
        """P(target's outcome, evidence | class) up to a factor of each row and class, and its logarithm."""
        needed = self._ancestors([*columns, *([] if target is None else [target])])
        hidden = [j for j in needed if j not in columns and j != target]
        scopes = [tuple(i for i in (j, *self.parents[j].tolist()) if i not in columns) for j in needed]
        steps, peak = self._order(scopes, hidden)
        if peak * self.n_classes > _MAX_CELLS:
            raise ValueError(
                "the graph is too densely connected for exact inference: use conditioning='ancestor', or a structure "
                "with fewer edges."
            )
        shape = (n, self.n_classes) if target is None else (n, self._size(target), self.n_classes)
        result, scale = np.empty(shape), np.zeros((n, self.n_classes))
        for rows in chunks(n, 24.0 * peak * self.n_classes):
            some: Columns = {j: column[rows].astype(np.intp) for j, column in columns.items()}
            factors = [self._factor(j, some) for j in needed]
            for variable in steps:
                touched = [f for f in factors if variable in f[0]]
                factors = [f for f in factors if variable not in f[0]]
                factors.append(self._reduce(touched, variable, scale[rows]))
            _, result[rows] = self._reduce(factors, None, scale[rows]) if factors else ((), np.ones(1))
        return result, scale

    def _ancestors(self, features: list[int]) -> list[int]:
        seen: set[int] = set()
        stack = list(features)
        while stack:
            j = stack.pop()
            if j not in seen:
                seen.add(j)
                stack.extend(self.parents[j].tolist())
        return sorted(seen)

    def _order(self, scopes: list[tuple[int, ...]], hidden: list[int]) -> tuple[list[int], float]:
        """Elimination order, smallest resulting table first, and the entries of the largest table."""
        tables, left = [set(scope) for scope in scopes], set(hidden)
        peak = max((self._cells(scope) for scope in tables), default=1.0)
        order = []
        while left:
            joined = {v: set().union(*(t for t in tables if v in t)) for v in left}
            best = min(left, key=lambda v: (self._cells(joined[v]), v))
            peak = max(peak, self._cells(joined[best]))
            tables = [t for t in tables if best not in t] + [joined[best] - {best}]
            left.remove(best)
            order.append(best)
        return order, peak

    def _cells(self, scope: set[int]) -> float:
        return math.prod(float(self._size(j)) for j in scope)

    def _factor(self, feature: int, columns: Columns) -> _Factor:
        """Table of a feature, cut to what the rows have seen."""
        self._size(feature)
        axes = (feature, *self.parents[feature].tolist())
        fixed = [at for at, j in enumerate(axes) if j in columns]
        free = [at for at, j in enumerate(axes) if j not in columns]
        table = self.cpds[feature].transpose(*fixed, *free, len(axes))  # type: ignore[union-attr]
        scope = tuple(axes[at] for at in free)
        return scope, table[tuple(columns[axes[at]] for at in fixed)] if fixed else table[None]

    def _reduce(self, factors: list[_Factor], variable: int | None, scale: FloatArray) -> _Factor:
        """Multiply tables and sum a feature out; the largest entry of each row and class goes into ``scale``."""
        scope: tuple[int, ...] = tuple(sorted(set().union(*(s for s, _ in factors))))
        product: Any = 1.0
        for own, table in factors:
            order = sorted(range(len(own)), key=own.__getitem__)
            table = table.transpose(0, *(at + 1 for at in order), table.ndim - 1)
            shape = [self.sizes[j] if j in own else 1 for j in scope]
            product = product * table.reshape(len(table), *shape, self.n_classes)
            largest = product.max(axis=tuple(range(1, product.ndim - 1)), keepdims=True)
            product = product / np.where(largest > 0, largest, 1.0)
            with np.errstate(divide="ignore"):
                scale += np.log(largest.reshape(len(largest), self.n_classes))
        if variable is None:
            return scope, product
        at = scope.index(variable)
        return scope[:at] + scope[at + 1 :], product.sum(axis=at + 1)
