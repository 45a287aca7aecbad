"""Exact inference in a forest of features below the class: message passing, batched over rows."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from seqclass._arrays import BoolArray, FloatArray, IntArray, chunks
from seqclass.bn._rows import Columns, distinct_rows

#: Logarithm below which a product of probabilities is left to logarithms; doubles end near -708.
_LOW = -600.0
#: Logarithm below which a message is scaled to a largest entry of one.
_SMALL = -100.0
#: Bytes of a message of a chunk of rows: small enough to stay in cache.
_MESSAGE_BYTES = 2**18


@dataclass(frozen=True)
class Step:
    """A node that sends a message to a neighbour: matrix @ (product of what the node has received)."""

    node: int
    into: int
    matrix: FloatArray
    """Shape (n_classes, V_into, V_node + 1), the last column for a leaf that is not observed."""
    low: float
    """Logarithm of the smallest positive entry."""
    positive: bool


@dataclass(frozen=True)
class _Plan:
    """Messages to one node, in an order in which they can be sent."""

    target: int
    top: int
    """The node next to the root; its marginal stands for all that is above."""
    steps: list[Step]


class Forest:
    """Inference where every feature has the class and at most one feature as parents.

    Arrays of a batch are laid out (n_classes, V, n_rows), so that a message is one small matrix product a class. All
    numbers are relative to each class; the sums that scaling takes out are kept as logarithms.

    Parameters
    ----------
    parent : ndarray of int of shape (n_features,)
        Feature parent of each feature, -1 for a root.
    cpds : sequence of ndarray of shape (V, n_classes) or (V, V_parent, n_classes)
        P(outcome | class) of a root, P(outcome | outcome of the parent, class) of any other feature.
    """

    def __init__(self, parent: IntArray, cpds: Sequence[FloatArray]) -> None:
        self.parent: list[int] = parent.tolist()
        self.cpds = cpds
        self.n_classes = int(cpds[0].shape[-1]) if len(cpds) else 0
        self.children: list[list[int]] = [[] for _ in self.parent]
        for child, above in enumerate(self.parent):
            if above >= 0:
                self.children[above].append(child)
        self.rank, self.marginals = self._descend()
        self._up: dict[int, tuple[FloatArray, float, bool]] = {}
        self._down: dict[int, FloatArray] = {}
        self._masks: dict[int, FloatArray] = {}

    def conditional(self, feature: int, codes: Columns, n: int) -> FloatArray:
        """P(outcome of a feature | evidence, class).

        Parameters
        ----------
        feature : int
        codes : dict of int to ndarray of shape (n,)
            Outcomes of features other than that one, -1 where unknown; features that are absent are unknown.
        n : int
            Number of rows.

        Returns
        -------
        ndarray of shape (n, V, n_classes)
            May be a read-only broadcast.
        """
        relevant, plan = self._approach(feature, codes, n)
        if not relevant:
            table = self.marginals[feature].T
            return np.broadcast_to(table, (n, *table.shape))
        rows, inverse = distinct_rows(relevant, {j: len(self.cpds[j]) for j in relevant}, n)
        table = np.empty((len(rows), len(self.cpds[feature]), self.n_classes))
        for part in self._chunks(len(rows)):
            some: Columns = {j: column[rows[part]].astype(np.intp) for j, column in relevant.items()}
            table[part] = normalised(self._collect(plan, some)[0]).transpose(2, 1, 0)
        if len(rows) == 1:
            return np.broadcast_to(table, (n, *table.shape[1:]))
        return table if len(rows) == n else table[inverse]

    def log_evidence(self, codes: Columns, n: int) -> FloatArray:
        """Log P(evidence | class) of each class and row, shape (n_classes, n)."""
        plans = self._upward(codes)
        result = np.zeros((self.n_classes, n))
        for rows in self._chunks(n):
            some: Columns = {j: column[rows].astype(np.intp) for j, column in codes.items()}
            for plan in plans:
                belief, scale = self._collect(plan, some)
                with np.errstate(divide="ignore"):
                    result[:, rows] += np.log(belief.sum(axis=1)) + scale
        return result

    def _chunks(self, n: int) -> Iterable[slice]:
        largest = max((len(cpd) for cpd in self.cpds), default=1)
        return chunks(n, 8.0 * self.n_classes * largest, _MESSAGE_BYTES)

    def _descend(self) -> tuple[list[int], list[FloatArray]]:
        """Position of each feature in a depth-first walk from the roots, and P(outcome | class)."""
        rank = [0] * len(self.parent)
        marginals: list[FloatArray] = [np.empty(0)] * len(self.parent)
        stack = [j for j, above in enumerate(self.parent) if above < 0][::-1]
        at = 0
        while stack:
            j = stack.pop()
            rank[j], at = at, at + 1
            cpd = self.cpds[j]
            if self.parent[j] < 0:
                marginals[j] = np.ascontiguousarray(cpd.T)
            else:
                marginals[j] = np.einsum("vpc,cp->cv", cpd, marginals[self.parent[j]])
            stack.extend(self.children[j])
        return rank, marginals

    # plans: which messages are sent

    def _upward(self, codes: Columns) -> list[_Plan]:
        """For each tree with evidence, the messages to the lowest node that joins all of it."""
        span: set[int] = set()
        roots: list[int] = []
        for j in codes:
            while j >= 0 and j not in span:
                span.add(j)
                if self.parent[j] < 0:
                    roots.append(j)
                j = self.parent[j]
        below: dict[int, list[int]] = {}
        order = sorted(span, key=self.rank.__getitem__, reverse=True)
        for j in order:
            below.setdefault(self.parent[j], []).append(j)
        plans = []
        for top in roots:
            while top not in codes and len(below[top]) == 1:
                top = below[top][0]
            inside, stack = [], [top]
            while stack:
                j = stack.pop()
                inside.append(j)
                stack.extend(below.get(j, ()))
            plans.append(_Plan(top, top, [self.step(j, self.parent[j]) for j in inside[:0:-1]]))
        return plans

    def _approach(self, feature: int, codes: Columns, n: int) -> tuple[Columns, _Plan]:
        """What bears on a feature, row by row, and the messages that bring it there.

        An observed node hides all that lies beyond it: there the rows' codes are blanked, so that rows that agree on
        what matters agree altogether. Branches that then hold no evidence are left out.
        """
        joined = self._joined(feature, codes)
        seen: Columns = {}
        edges: list[tuple[int, int]] = []
        stack: list[tuple[int, int, BoolArray | None]] = [(feature, -1, None)]
        while stack:
            node, came, open_rows = stack.pop()
            for j in joined[node]:
                if j == came:
                    continue
                edges.append((j, node))
                column = codes.get(j)
                if column is None:
                    stack.append((j, node, open_rows))
                    continue
                known = column >= 0 if open_rows is None else (column >= 0) & open_rows
                if known.any():
                    seen[j] = np.where(known, column, -1)
                beyond = ~known if open_rows is None else open_rows & ~known
                if beyond.any():
                    stack.append((j, node, beyond))
        kept = set(seen)
        steps = []
        for j, into in reversed(edges):
            if j in kept:
                kept.add(into)
                steps.append(self.step(j, into))
        top = feature
        while self.parent[top] in kept:
            top = self.parent[top]
        return seen, _Plan(feature, top, steps)

    def _joined(self, feature: int, codes: Columns) -> dict[int, list[int]]:
        """Neighbours of each node on the paths between a feature, its root and the evidence of its tree."""
        joined: dict[int, list[int]] = {}
        at, below = feature, -1
        while at >= 0:
            joined[at] = [] if below < 0 else [below]
            if below >= 0:
                joined[below].append(at)
            at, below = self.parent[at], at
        for j in codes:
            path = []
            while j >= 0 and j not in joined:
                path.append(j)
                j = self.parent[j]
            if j < 0:  # of another tree
                continue
            for node in reversed(path):
                joined[j].append(node)
                joined[node] = [j]
                j = node
        return joined

    def step(self, node: int, into: int) -> Step:
        """Message that a feature sends to its parent or to a child."""
        upward = self.parent[node] == into
        child = node if upward else into
        if child not in self._up:
            cpd = self.cpds[child]
            matrix = np.ones((self.n_classes, cpd.shape[1], cpd.shape[0] + 1))
            matrix[:, :, :-1] = cpd.transpose(2, 1, 0)
            least = float(cpd.min(where=cpd > 0, initial=1.0))
            self._up[child] = (matrix, math.log(least), bool(cpd.min() > 0))
        matrix, low, positive = self._up[child]
        if not upward:
            if child not in self._down:
                cpd = self.cpds[child]
                self._down[child] = np.ones((self.n_classes, cpd.shape[0], cpd.shape[1] + 1))
                self._down[child][:, :, :-1] = cpd.transpose(2, 0, 1)
            matrix = self._down[child]
        return Step(node, into, matrix, low, positive)

    # messages

    def _collect(self, plan: _Plan, codes: Columns) -> tuple[FloatArray, FloatArray | float]:
        """Send the messages; P(target's outcome, evidence | class) up to the class's logarithm, which follows."""
        received: dict[int, Product] = {}
        scale: FloatArray | float = 0.0
        for step in plan.steps:
            product = received.pop(step.node, None)
            if product is None and step.node != plan.top:
                message = Product(step.matrix.take(codes[step.node], axis=2), step.low)
            else:
                product = self._complete(product, step.node, plan.top, codes)
                message, lost = product.send(step)
                scale = scale + lost
            into = received.get(step.into)
            received[step.into] = message if into is None else into.times(message)
        product = self._complete(received.get(plan.target), plan.target, plan.top, codes)
        values, lost = product.linear()
        return values, scale + lost

    def _complete(self, product: Product | None, node: int, top: int, codes: Columns) -> Product:
        """Multiply in what the node itself says."""
        own = self.evidence(node, codes)
        if node == top:
            own = self.prior(node) if own is None else own.times(self.prior(node))
        if product is None or own is None:
            return own if product is None else product  # type: ignore[return-value]
        return product.times(own)

    def evidence(self, feature: int, codes: Columns) -> Product | None:
        """Indicator of a feature's outcomes, (1, V, n); all ones in rows where it is not observed."""
        if feature not in codes:
            return None
        size = len(self.cpds[feature])
        if size not in self._masks:
            self._masks[size] = np.hstack([np.eye(size), np.ones((size, 1))])
        # -1 picks the last column
        return Product(self._masks[size].take(codes[feature], axis=1)[None], 0.0)

    def prior(self, feature: int) -> Product:
        """P(outcome | class) of a feature, (n_classes, V, 1)."""
        marginal = self.marginals[feature]
        least = float(marginal.min(where=marginal > 0, initial=1.0))
        return Product(marginal[:, :, None], math.log(least))


class Product:
    """Product of messages at a node, as such or, where that could underflow, as logarithms."""

    def __init__(self, values: FloatArray, low: float, logarithmic: bool = False) -> None:
        self.values = values
        self.low = low
        """No positive entry has a smaller logarithm."""
        self.logarithmic = logarithmic

    def times(self, other: Product) -> Product:
        low = self.low + other.low
        if low >= _LOW and not (self.logarithmic or other.logarithmic):
            return Product(self.values * other.values, low)
        return Product(self._logarithms() + other._logarithms(), low, True)

    def send(self, step: Step) -> tuple[Product, FloatArray | float]:
        """Message along a step, and the logarithm that was taken out of each class and row."""
        matrix = step.matrix[:, :, :-1]
        if self.logarithmic and not step.positive:
            with np.errstate(divide="ignore"):
                terms = np.log(matrix)[:, :, :, None] + self.values[:, None]
            return Product(_log_sum(terms, axis=2), self.low + step.low, True), 0.0
        values, lost = self.linear()
        message = matrix @ values
        low = step.low if self.logarithmic else self.low + step.low
        if low < _SMALL or self.logarithmic:
            largest = message.max(axis=1, keepdims=True)
            with np.errstate(divide="ignore"):
                lost = lost + np.log(largest[:, 0])
            message /= np.where(largest > 0, largest, 1.0)
            low = step.low if step.positive else low
        return Product(message, low), lost

    def linear(self) -> tuple[FloatArray, FloatArray | float]:
        """Entries with a largest one of 1 where they were logarithms, and what was taken out."""
        if not self.logarithmic:
            return self.values, 0.0
        largest = self.values.max(axis=1, keepdims=True)
        finite = np.where(np.isneginf(largest), 0.0, largest)
        return np.exp(self.values - finite), largest[:, 0]

    def _logarithms(self) -> FloatArray:
        if self.logarithmic:
            return self.values
        with np.errstate(divide="ignore"):
            return np.log(self.values)


def normalised(values: FloatArray) -> FloatArray:
    """Scale to a sum of one over outcomes; uniform where evidence excludes the class, as any distribution would do.

    Examples
    --------
    >>> normalised(np.array([[[1.0, 0.0], [3.0, 0.0]]])).tolist()
    [[[0.25, 0.5], [0.75, 0.5]]]
    """
    total = values.sum(axis=1, keepdims=True)
    if total.min(initial=1.0) > 0:
        return np.asarray(values / total)
    return np.asarray(np.where(total > 0, values / np.where(total > 0, total, 1.0), 1.0 / values.shape[1]))


def _log_sum(terms: FloatArray, axis: int) -> FloatArray:
    largest = terms.max(axis=axis, keepdims=True)
    finite = np.where(np.isneginf(largest), 0.0, largest)
    with np.errstate(divide="ignore"):
        return np.asarray(np.log(np.exp(terms - finite).sum(axis=axis)) + finite.squeeze(axis), dtype=np.float64)


def parent_array(parents: Sequence[npt.ArrayLike]) -> IntArray:
    """Single feature parent of each feature, -1 where it has none.

    Examples
    --------
    >>> parent_array([[], [0]])
    array([-1,  0])
    """
    return np.array([int(np.asarray(p)[0]) if len(np.asarray(p)) else -1 for p in parents], dtype=np.intp)
