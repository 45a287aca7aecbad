"""Exact inference in a forest of features below the class: message passing, batched over rows."""

from __future__ import annotations

import math
from collections.abc import Container, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.special import logsumexp

from seqclass._utils.arrays import CACHE_BYTES, CHUNK_BYTES, BoolArray, FloatArray, IntArray, chunks, log_or_infinite
from seqclass.bn._cpds import conditional_information, laplace, smooth_family
from seqclass.bn._junction import Columns, JunctionTree, cut_factor, distinct_rows, network_factor
from seqclass.bn._structure import ancestors, topological


@dataclass(frozen=True)
class MessageTuning:
    """How messages of probabilities are scaled, and what is worked on at a time."""

    min_log: float = -600.0  #: logarithm below which a product is left to logarithms; doubles end near -708
    scaled_log: float = -100.0  #: logarithm below which a message is scaled to a largest entry of one
    max_cells: int = 2**24  #: entries of the largest intermediate table of a row, over all classes


TUNING = MessageTuning()


@dataclass(frozen=True)
class MessageStep:
    """A node that sends a message to a neighbour: matrix @ (product of what the node has received)."""

    node: int
    into: int
    matrix: FloatArray  # (n_classes, V_into, V_node + 1), the last column for a leaf that is not observed
    low: float  # logarithm of the smallest positive entry
    positive: bool


@dataclass(frozen=True)
class _Plan:
    """Messages to one node, in an order in which they can be sent."""

    target: int
    top: int  # the node next to the root; its marginal stands for all that is above
    steps: list[MessageStep]


class Forest:
    """Inference where every feature has the class and at most one feature as parents."""

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
        """P(outcome of a feature | evidence, class)."""
        relevant, plan = self._approach(feature, codes)
        if not relevant:
            table = self.marginals[feature].T
            return np.broadcast_to(table, (n, *table.shape))
        rows, inverse = distinct_rows(relevant, n)
        table = np.empty((len(rows), len(self.cpds[feature]), self.n_classes))
        for part in self._chunks(len(rows)):
            part_codes: Columns = {j: column[rows[part]].astype(np.intp) for j, column in relevant.items()}
            table[part] = normalise(self._collect(plan, part_codes)[0]).transpose(2, 1, 0)
        if len(rows) == 1:
            return np.broadcast_to(table, (n, *table.shape[1:]))
        return table if len(rows) == n else table[inverse]

    def log_evidence(self, codes: Columns, n: int) -> FloatArray:
        """Log P(evidence | class) of each class and row, shape (n_classes, n)."""
        plans = self._upward(codes)
        result = np.zeros((self.n_classes, n))
        for rows in self._chunks(n):
            part_codes: Columns = {j: column[rows].astype(np.intp) for j, column in codes.items()}
            for plan in plans:
                belief, scale = self._collect(plan, part_codes)
                result[:, rows] += log_or_infinite(belief.sum(axis=1)) + scale
        return result

    def _chunks(self, n: int) -> Iterable[slice]:
        largest = max((len(cpd) for cpd in self.cpds), default=1)
        return chunks(n, 8.0 * 8 * self.n_classes * largest, CACHE_BYTES)  # some eight messages are at work at once

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
            subtree, stack = [], [top]
            while stack:
                j = stack.pop()
                subtree.append(j)
                stack.extend(below.get(j, ()))
            plans.append(_Plan(top, top, [self.step(j, self.parent[j]) for j in subtree[:0:-1]]))
        return plans

    def _approach(self, feature: int, codes: Columns) -> tuple[Columns, _Plan]:
        """What bears on a feature, row by row, and the messages that bring it there."""
        neighbours = self._neighbours_on_paths(feature, codes)
        observed: Columns = {}
        edges: list[tuple[int, int]] = []
        stack: list[tuple[int, int, BoolArray | None]] = [(feature, -1, None)]
        while stack:
            node, previous, open_rows = stack.pop()
            for j in neighbours[node]:
                if j == previous:
                    continue
                edges.append((j, node))
                column = codes.get(j)
                if column is None:
                    stack.append((j, node, open_rows))
                    continue
                known = column >= 0 if open_rows is None else (column >= 0) & open_rows
                if known.any():
                    observed[j] = np.where(known, column, -1)
                unknown = ~known if open_rows is None else open_rows & ~known
                if unknown.any():
                    stack.append((j, node, unknown))
        reached = set(observed)
        steps = []
        for j, into in reversed(edges):
            if j in reached:
                reached.add(into)
                steps.append(self.step(j, into))
        top = feature
        while self.parent[top] in reached:
            top = self.parent[top]
        return observed, _Plan(feature, top, steps)

    def _neighbours_on_paths(self, feature: int, codes: Columns) -> dict[int, list[int]]:
        """Neighbours of each node on the paths between a feature, its root and the evidence of its tree."""
        neighbours: dict[int, list[int]] = {}
        at, below = feature, -1
        while at >= 0:
            neighbours[at] = [] if below < 0 else [below]
            if below >= 0:
                neighbours[below].append(at)
            at, below = self.parent[at], at
        for j in codes:
            path = []
            while j >= 0 and j not in neighbours:
                path.append(j)
                j = self.parent[j]
            if j < 0:  # of another tree
                continue
            for node in reversed(path):
                neighbours[j].append(node)
                neighbours[node] = [j]
                j = node
        return neighbours

    def step(self, node: int, into: int) -> MessageStep:
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
                matrix = np.ones((self.n_classes, cpd.shape[0], cpd.shape[1] + 1))
                matrix[:, :, :-1] = cpd.transpose(2, 0, 1)
                self._down[child] = matrix  # when it is complete: another thread may look
            matrix = self._down[child]
        return MessageStep(node, into, matrix, low, positive)

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
                message, log_scale = product.send(step)
                scale = scale + log_scale
            received[step.into] = _times(received.get(step.into), message)
        product = self._complete(received.get(plan.target), plan.target, plan.top, codes)
        values, log_scale = product.linear()
        return values, scale + log_scale

    def _complete(self, product: Product | None, node: int, top: int, codes: Columns) -> Product:
        """Multiply in what the node itself says."""
        indicator = self.evidence(node, codes)
        result: Product = _times(product, _times(indicator, self.prior(node)) if node == top else indicator)
        return result

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
        #: No positive entry has a smaller logarithm.
        self.low = low
        self.logarithmic = logarithmic

    def times(self, other: Product) -> Product:
        low = self.low + other.low
        if low >= TUNING.min_log and not (self.logarithmic or other.logarithmic):
            return Product(self.values * other.values, low)
        return Product(self._logarithms() + other._logarithms(), low, True)

    def send(self, step: MessageStep) -> tuple[Product, FloatArray | float]:
        """Message along a step, and the logarithm that was taken out of each class and row."""
        matrix = step.matrix[:, :, :-1]
        if self.logarithmic and not step.positive:
            terms = log_or_infinite(matrix)[:, :, :, None] + self.values[:, None]
            return Product(logsumexp(terms, axis=2), self.low + step.low, True), 0.0
        values, log_scale = self.linear()
        message = matrix @ values
        low = step.low if self.logarithmic else self.low + step.low
        if low < TUNING.scaled_log or self.logarithmic:
            largest = message.max(axis=1, keepdims=True)
            log_scale = log_scale + log_or_infinite(largest[:, 0])
            message /= np.where(largest > 0, largest, 1.0)
            low = step.low if step.positive else low
        return Product(message, low), log_scale

    def linear(self) -> tuple[FloatArray, FloatArray | float]:
        """Entries with a largest one of 1 where they were logarithms, and what was taken out."""
        if not self.logarithmic:
            return self.values, 0.0
        largest = self.values.max(axis=1, keepdims=True)
        finite = np.where(np.isneginf(largest), 0.0, largest)
        return np.exp(self.values - finite), largest[:, 0]

    def _logarithms(self) -> FloatArray:
        return self.values if self.logarithmic else log_or_infinite(self.values)


def normalise(values: FloatArray) -> FloatArray:
    """Scale to a sum of one over outcomes; uniform where evidence excludes the class, as any distribution would do."""
    total = values.sum(axis=1, keepdims=True)
    if total.min(initial=1.0) > 0:
        return np.asarray(values / total)
    return np.asarray(np.where(total > 0, values / np.where(total > 0, total, 1.0), 1.0 / values.shape[1]))


def parent_array(parents: Sequence[npt.ArrayLike]) -> IntArray:
    """Single feature parent of each feature, -1 where it has none."""
    return np.array([int(np.asarray(p)[0]) if len(np.asarray(p)) else -1 for p in parents], dtype=np.intp)


def all_conditionals(forest: Forest, codes: Columns, n: int) -> FloatArray:
    """P(outcome | evidence on the other features, class) of every feature."""
    order = sorted(range(len(forest.parent)), key=forest.rank.__getitem__)
    largest = max((len(cpd) for cpd in forest.cpds), default=1)
    result = np.zeros((len(order), forest.n_classes, largest, n))
    # three messages a feature are kept until the chunk is done
    for rows in chunks(n, 8.0 * 4 * len(order) * largest * forest.n_classes, CHUNK_BYTES // 4):
        part_codes: Columns = {j: column[rows].astype(np.intp) for j, column in codes.items()}
        _up_and_down(forest, order, part_codes, result[..., rows])
    return np.asarray(result.transpose(3, 0, 2, 1))


def _up_and_down(forest: Forest, order: list[int], codes: Columns, out: FloatArray) -> None:
    indicators = {j: forest.evidence(j, codes) for j in order}
    received: dict[int, Product] = {}
    sent: dict[int, Product] = {}
    for j in reversed(order):
        product = _times(received.get(j), indicators[j])
        above = forest.parent[j]
        if product is not None and above >= 0:
            sent[j], _ = product.send(forest.step(j, above))
            received[above] = _times(received.get(above), sent[j])
    arriving: dict[int, Product] = {}
    for j in order:
        if forest.parent[j] < 0:
            arriving[j] = forest.prior(j)
        here = arriving.pop(j)
        belief, _ = _times(here, received.get(j)).linear()
        out[j, :, : belief.shape[1]] = normalise(belief)
        _send_down(forest, j, _times(here, indicators[j]), sent, arriving)


def _send_down(
    forest: Forest, j: int, product: Product | None, sent: dict[int, Product], arriving: dict[int, Product]
) -> None:
    """Tell each child what is known from elsewhere: from above, from here and from its siblings."""
    senders = [child for child in forest.children[j] if child in sent]
    # products of what comes before and after each of them, as nothing can be divided out where it may be zero
    after: list[Product | None] = [None]
    for child in reversed(senders[1:]):
        after.append(_times(after[-1], sent[child]))
    before: Any = product
    for child, later in zip(senders, reversed(after)):
        arriving[child], _ = _times(before, later).send(forest.step(j, child))
        before = _times(before, sent.pop(child))
    for child in forest.children[j]:
        if child not in arriving:
            arriving[child], _ = before.send(forest.step(j, child))


def _times(first: Product | None, second: Product | None) -> Any:
    """The product of two, either of which may be there alone, or neither."""
    if first is None or second is None:
        return second if first is None else first
    return first.times(second)


class Elimination:
    """Inference in a directed acyclic graph over the features, the class a parent of each."""

    def __init__(self, parents: Sequence[IntArray], cpds: Sequence[FloatArray | None]) -> None:
        self.parents = parents
        self.cpds = cpds
        self.n_classes = next((cpd.shape[-1] for cpd in cpds if cpd is not None), 0)
        self.sizes: dict[int, int] = {j: len(cpd) for j, cpd in enumerate(cpds) if cpd is not None}

    def conditional(self, feature: int, codes: Columns, n: int) -> FloatArray:
        """P(outcome | evidence, class), (n, V, n_classes); see `Forest.conditional`."""
        result = np.empty((n, self._size(feature), self.n_classes))
        for rows, inverse, columns in self._patterns(codes, n):
            table = normalise(self._query(columns, len(rows), feature).transpose(2, 0, 1))
            result[inverse[0]] = table[inverse[1]]
        return result

    def log_evidence(self, codes: Columns, n: int) -> FloatArray:
        """Log P(evidence | class) of each class and row up to a number of the row, shape (n_classes, n)."""
        result = np.zeros((self.n_classes, n))
        for rows, inverse, columns in self._patterns(codes, n):
            result[:, inverse[0]] = log_or_infinite(self._query(columns, len(rows), None)[0])[:, inverse[1]]
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
        is_known: dict[int, Any] = {j: (column >= 0).astype(np.intp) for j, column in codes.items()}
        examples, pattern = distinct_rows(is_known, n)
        for number, example in enumerate(examples):
            rows_of_pattern = np.flatnonzero(pattern == number)
            observed = {j: codes[j][rows_of_pattern] for j in codes if is_known[j][example]}
            rows, inverse = distinct_rows(observed, len(rows_of_pattern))
            yield rows, (rows_of_pattern, inverse), {j: column[rows] for j, column in observed.items()}

    def _query(self, columns: Columns, n: int, target: int | None) -> FloatArray:
        """P(target's outcome, evidence | class) up to a factor of each row, (n_outcomes, n_classes, n); without a
        target P(evidence | class) in its place, (1, n_classes, n).
        """
        targets = [] if target is None else [target]
        needed = dict.fromkeys(ancestors([*columns, *targets], self.parents))
        own = {j: self._size(j) for j in needed}
        sizes = [own[j] if j in own and j not in columns else 1 for j in range(len(self.parents))]
        cells = min(math.prod(map(float, sizes)), TUNING.max_cells)
        result = np.empty((1 if target is None else sizes[target], self.n_classes, n))
        for rows in chunks(n, 24.0 * cells * self.n_classes):
            part: Columns = {j: column[rows].astype(np.intp) for j, column in columns.items()}
            factors = [cut_factor(network_factor(j, self.parents[j].tolist(), self.cpds[j]), part) for j in needed]
            try:
                tree = JunctionTree(factors, sizes, self.n_classes, TUNING.max_cells)
            except ValueError as error:
                raise ValueError(
                    "the graph is too densely connected for exact inference: use conditioning='ancestor', or a "
                    "structure with fewer edges."
                ) from error
            marginals, total = tree.marginals(targets, {}, rows.stop - rows.start)
            result[..., rows] = np.moveaxis(marginals[0], 0, 1) if targets else total[None]
        return result


class PathTables:
    """Tables P(outcome | outcome of an ancestor, class) in a forest: products of the tables along the path."""

    def __init__(self, forest: Forest) -> None:
        self.forest = forest
        self.order = sorted(range(len(forest.parent)), key=forest.rank.__getitem__)

    def above(self, feature: int, known: Container[int]) -> Iterator[int]:
        """Yield the ancestors of a feature among some, nearest first."""
        node = self.forest.parent[feature]
        while node >= 0:
            if node in known:
                yield node
            node = self.forest.parent[node]

    def table(self, feature: int, ancestor: int) -> FloatArray:
        """P(outcome | outcome of the ancestor, class), (V, V_ancestor, n_classes)."""
        table: FloatArray = self.forest.cpds[feature]
        node = self.forest.parent[feature]
        while node != ancestor:
            table = np.einsum("vpc,pgc->vgc", table, self.forest.cpds[node])
            node = self.forest.parent[node]
        return np.asarray(table)

    def single(self, feature: int) -> FloatArray:
        """P(outcome | class), (V, n_classes)."""
        return np.asarray(self.forest.marginals[feature].T)


@dataclass(repr=False, eq=False)
class PairTables:
    """Tables of ancestors in a graph with several parents, each from the counts of the pair."""

    parents: Sequence[IntArray]
    sizes: IntArray
    counts: FloatArray
    alpha: float
    smoothing: str | float
    unit: float

    def __post_init__(self) -> None:
        self.order: list[int] = topological(self.parents).tolist()
        self.ends = np.cumsum(self.sizes)
        self.starts = self.ends - self.sizes
        self._tables: dict[tuple[int, int], FloatArray] = {}
        self._shares: dict[tuple[int, int], float] = {}

    def above(self, feature: int, known: Container[int]) -> Iterator[int]:
        """Yield the ancestors of a feature among some, nearest first."""
        level, seen = [feature], {feature}
        while level:
            level = sorted({int(p) for j in level for p in self.parents[j]} - seen)
            seen.update(level)
            known_here = [j for j in level if j in known]
            yield from sorted(known_here, key=lambda j: (-self._share(feature, j), j))

    def table(self, feature: int, ancestor: int) -> FloatArray:
        """P(outcome | outcome of the ancestor, class), (V, V_ancestor, n_classes)."""
        if (feature, ancestor) not in self._tables:
            table, _ = smooth_family(
                self._pair(feature, ancestor), self._single_counts(feature), self.alpha, self.smoothing, self.unit
            )
            self._tables[feature, ancestor] = table
        return self._tables[feature, ancestor]

    def single(self, feature: int) -> FloatArray:
        """P(outcome | class), (V, n_classes)."""
        return laplace(self._single_counts(feature), self.alpha)

    def _pair(self, feature: int, ancestor: int) -> FloatArray:
        rows, columns = (slice(self.starts[j], self.ends[j]) for j in (feature, ancestor))
        return np.asarray(self.counts[rows, columns])

    def _single_counts(self, feature: int) -> FloatArray:
        at = np.arange(self.starts[feature], self.ends[feature])
        return np.asarray(self.counts[at, at])

    def _share(self, feature: int, ancestor: int) -> float:
        if (feature, ancestor) not in self._shares:
            self._shares[feature, ancestor] = round(conditional_information(self._pair(feature, ancestor)), 12)
        return self._shares[feature, ancestor]


@dataclass(repr=False, eq=False)
class NearestAncestor:
    """Second-order conditioning: each feature given its nearest acquired ancestor and the class."""

    tables: PathTables | PairTables

    def conditional(self, feature: int, codes: Columns, n: int) -> FloatArray:
        """P(outcome | evidence, class), (n, V, n_classes); see `Forest.conditional`."""
        single = self.tables.single(feature)
        result: FloatArray | None = None
        for rows, ancestor in self._groups(feature, codes, n):
            if ancestor < 0:
                if result is None:
                    return np.broadcast_to(single, (n, *single.shape))
                result[rows] = single
                continue
            result = np.empty((n, *single.shape)) if result is None else result
            table = self.tables.table(feature, ancestor).transpose(1, 0, 2)
            result[rows] = table[codes[ancestor][rows]]
        return np.broadcast_to(single, (n, *single.shape)) if result is None else result

    def log_evidence(self, codes: Columns, n: int) -> FloatArray:
        """Log P(evidence | class) of each class and row, shape (n_classes, n); of one feature at least."""
        n_classes = self.tables.single(next(iter(codes))).shape[-1]
        result = np.zeros((n_classes, n))
        for feature in self.tables.order:
            if feature not in codes:
                continue
            outcomes = codes[feature]
            for rows, ancestor in self._groups(feature, codes, n):
                rows = rows[outcomes[rows] >= 0]
                if ancestor < 0:
                    likelihood = self.tables.single(feature)[outcomes[rows]]
                else:
                    likelihood = self.tables.table(feature, ancestor)[outcomes[rows], codes[ancestor][rows]]
                result[:, rows] += log_or_infinite(likelihood).T
        return result

    def nearest(self, feature: int, known: Container[int]) -> int:
        """Nearest ancestor of a feature among some, -1 if there is none."""
        return next(self.tables.above(feature, known), -1)

    def _groups(self, feature: int, codes: Columns, n: int) -> Iterator[tuple[IntArray, int]]:
        """Rows by their nearest observed ancestor, -1 where there is none."""
        rows: IntArray = np.arange(n)
        for ancestor in self.tables.above(feature, codes):
            known = codes[ancestor][rows] >= 0
            if known.any():
                yield rows[known], ancestor
                rows = rows[~known]
            if not len(rows):
                return
        yield rows, -1
