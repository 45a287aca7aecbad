"""Exact inference by messages in a junction tree, batched over rows."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from seqclass._utils.arrays import BoolArray, FloatArray, IntArray, chunks


@dataclass(frozen=True)
class JunctionTuning:
    """What a junction tree works on at a time, and keeps."""

    chunk_bytes: int = 2**23  #: largest table of a chunk of rows: small enough to stay near the cache
    call_products: int = 200_000  #: products that a clique's share of a call costs, whatever the rows
    group_products: int = 15_000  #: products that a message of some rows costs, however few they are
    max_message_bytes: int = 2**26  #: messages kept for the evidence that they carry; beyond it all are forgotten


TUNING = JunctionTuning()


#: Variables, in increasing order, and a table over them; its last axes are the class, or 1, and rows, or 1.
Factor = tuple[tuple[int, ...], FloatArray]


def network_factor(node: int, parents: Sequence[int], table: Any) -> Factor:
    """Table of a node, (own outcomes, parents' ..., classes), as a factor."""
    family = [node, *parents]
    order = sorted(range(len(family)), key=family.__getitem__)
    return tuple(sorted(family)), table.transpose(*order, len(family))[..., None]


def cut_factor(factor: Factor, seen: Mapping[int, IntArray]) -> Factor:
    """A table at what rows have seen, a state that is left."""
    scope, table = factor
    fixed = [axis for axis, i in enumerate(scope) if i in seen]
    if not fixed:
        return factor
    free = [axis for axis in range(table.ndim - 1) if axis not in fixed]
    cut = table[..., 0].transpose(*fixed, *free)[tuple(seen[scope[axis]] for axis in fixed)]
    return scope, np.expand_dims(np.moveaxis(cut, 0, -1), tuple(fixed))


@dataclass
class _Clique:
    """Variables of a clique in increasing order, its table, (classes or 1, ..., rows or 1), and its place."""

    scope: tuple[int, ...]
    table: FloatArray
    parent: int = -1
    #: What it shares with its parent.
    shared: tuple[int, ...] = ()
    children: list[int] = field(default_factory=list)

    def axes(self, kept: Sequence[int]) -> tuple[int, ...]:
        """Axes of all but some variables."""
        return tuple(axis for axis, i in enumerate(self.scope, 1) if i not in kept)


class _Collected:
    """A clique's table times what came from below, (classes or 1, ..., rows or 1), and what it tells its parent."""

    def __init__(self, clique: _Clique, full: FloatArray) -> None:
        self.clique, self.full = clique, full
        message = full.sum(axis=clique.axes(clique.shared))
        #: The message, or P(class, evidence) at a root; None if it says nothing.
        self.up: Any = message
        if clique.parent >= 0:
            self.up = None if np.abs(message - 1).max() <= 1e-15 else _scale(message)
        self._maps: dict[tuple[int, ...], FloatArray] = {}

    def sums(self, message: FloatArray | None) -> Callable[[tuple[int, ...]], FloatArray]:
        """Sums of the table times a message from above over all but some variables."""
        if message is not None and self.full.shape[-1] == 1:
            return partial(self._map_messages, message)
        full = self.full if message is None else self.full * _spread(message, self.clique.shared, self.clique.scope)
        return lambda kept: np.asarray(full.sum(axis=self.clique.axes(kept)))

    def _map_messages(self, message: FloatArray, kept: tuple[int, ...]) -> FloatArray:
        """Sums where rows share the table: a matrix that is made once, times the messages of all rows."""
        scope, shared = self.clique.scope, self.clique.shared
        if kept not in self._maps:
            self._maps[kept] = _as_matrix(self.full, scope, shared, kept)
        sizes = [self.full.shape[1 + scope.index(j)] for j in kept]
        return _map_rows(self._maps[kept], sizes, message, shared, kept)


class _SharedStep(NamedTuple):
    """Which rows have the same message at a clique."""

    told: BoolArray  # rows that have seen something behind it, (n,)
    kind: IntArray  # number of the message of each row, (n,)
    rows: IntArray  # a row of each message
    #: Variables that have been seen, children with messages that are not the bare ones, and the messages.
    groups: list[tuple[list[int], list[int], IntArray]]


class JunctionTree:
    """Marginals of all variables in two passes of messages, given the class and evidence that differs by row.

    A message towards the root depends on the evidence behind it alone. Where no row has any, it is worked out once and
    for all. Where all rows of a call have the same, it is kept for the next call: what is learnt of one more variable
    changes only those on its way to the root.
    """

    def __init__(
        self, factors: Sequence[Factor], sizes: Sequence[int], n_classes: int, max_cells: float, small: int = 0
    ) -> None:
        """With so many numbers as ``small`` in all tables another order of elimination is not looked for."""
        self.sizes, self.n_classes = list(sizes), n_classes
        scopes = _scopes(factors, self.sizes, n_classes, max_cells, small)
        self.cliques, self.home = self._hang(scopes, factors)
        self.largest = max(clique.table[0, ..., 0].size for clique in self.cliques) * n_classes
        self.total = sum(clique.table[0, ..., 0].size for clique in self.cliques) * n_classes
        #: Numbers in the largest message, over all classes.
        self.widest = max(math.prod(self.sizes[i] for i in clique.shared) for clique in self.cliques) * n_classes
        self.holding: dict[int, list[int]] = {j: [] for j in self.home}
        for number, clique in enumerate(self.cliques):
            for j in clique.scope:
                self.holding[j].append(number)
        self._bare: list[_Collected] = []
        for number, clique in enumerate(self.cliques):
            self._bare.append(_Collected(clique, self._times(number, clique.table, [], self._bare)))
        self._cache: dict[Any, _Collected] = {}
        self._cache_bytes = 0
        self._passing: dict[tuple[int, ...], tuple[BoolArray, list[list[int]]]] = {}

    def tables(self, first: Sequence[int]) -> list[tuple[tuple[int, ...], int, FloatArray]]:
        """Variables, parent and table of each clique, children first; some variables get the first numbers."""
        number = {j: k for k, j in enumerate([*first, *sorted(set(self.home) - set(first))])}
        return [
            (tuple(number[j] for j in clique.scope), clique.parent, clique.table[..., 0]) for clique in self.cliques
        ]

    def parts(self, known: Mapping[int, IntArray], n: int) -> Iterable[slice]:
        """Slices of the rows that are worth computing together: those that have seen the same, if there are enough."""
        if n == 1:
            yield slice(0, 1)
            return
        seen = np.zeros((n, 0), dtype=bool)
        if known:
            seen = np.stack([codes >= 0 for codes in known.values()], axis=1)
        others = np.flatnonzero((seen[1:] != seen[:-1]).any(axis=1)) + 1
        first = 0
        for last in [*others.tolist(), n]:
            if last < n and (last - first) * self.total < TUNING.call_products * len(self.cliques):
                continue
            fixed = [j for j, column in zip(known, seen[first:last].T) if column.all()]
            cells = max(self._cells(clique, fixed) for clique in self.cliques) * self.n_classes
            for rows in chunks(last - first, min(8.0 * cells, TUNING.chunk_bytes / 16), TUNING.chunk_bytes):
                yield slice(first + rows.start, min(first + rows.stop, last))
            first = last

    def _cells(self, clique: _Clique, fixed: Sequence[int]) -> int:
        return math.prod(self.sizes[i] for i in clique.scope if i not in fixed)

    def marginals(
        self, wanted: Sequence[int], known: Mapping[int, IntArray], n: int
    ) -> tuple[list[FloatArray], FloatArray]:
        """P(variable, class, evidence) of each wanted variable, and P(class, evidence), each row up to a factor.

        They are of shape (n_classes or 1, n_states, n or 1) and (n_classes, n).
        """
        # what all rows have seen has one state
        fixed = {j: codes for j, codes in known.items() if (codes >= 0).all()}
        collected = self._collect(known, fixed)
        total: Any = np.ones((1, 1))
        for message, clique in zip(collected, self.cliques):
            if clique.parent < 0:
                total = total * message.up
        marginals = self._distribute(collected, tuple(wanted)) if len(wanted) else {}
        for j in fixed:
            if j in marginals:
                shown = np.arange(self.sizes[j])[:, None] == fixed[j]
                marginals[j] = marginals[j] * shown
        return [marginals[j] for j in wanted], np.broadcast_to(total, (self.n_classes, n))

    def totals(self, known: Mapping[int, IntArray], n: int) -> FloatArray | None:
        """P(class, evidence) of each row up to a factor, (n_classes, n); None where `marginals` has less work to do.

        Evidence enters at the highest clique that holds its variable, where it has one state. A message is worked out
        once for all rows that have seen the same behind it.
        """
        steps = self._group_steps(known, n)
        cells = {number: self._cells(self.cliques[number], ()) * self.n_classes for number in steps}
        work = sum(
            len(group) * self._cells(self.cliques[number], fixed) * self.n_classes + TUNING.group_products
            for number, step in steps.items()
            for fixed, _, group in step.groups
        )
        if work > n * sum(cells.values()):
            return None
        total: FloatArray = np.ones((self.n_classes, n))
        sent: dict[int, FloatArray] = {}
        for number, clique in enumerate(self.cliques):
            if (step := steps.get(number)) is None:
                total *= 1.0 if clique.parent >= 0 else self._bare[number].up
                continue
            messages: FloatArray | None = None
            for fixed, below, group in step.groups:
                cut = 8.0 * self._cells(clique, fixed) * self.n_classes
                for part in chunks(len(group), cut, TUNING.chunk_bytes):
                    rows = step.rows[group[part]]
                    own = {child: sent[child][..., steps[child].kind[rows]] for child in below}
                    message = self._message(number, {j: known[j][rows] for j in fixed}, own)
                    if messages is None:
                        messages = np.empty((*message.shape[:-1], len(step.rows)))
                    elif len(messages) < len(message):
                        messages = np.repeat(messages, len(message), axis=0)
                    messages[..., group[part]] = message
            for child in clique.children:
                sent.pop(child, None)
            assert messages is not None  # some row has seen something behind it
            if clique.parent >= 0:
                sent[number] = messages
                continue
            if not step.told[step.rows[0]]:
                messages[:, 0] = self._bare[number].up[:, 0]
            total *= messages[:, step.kind]
        return total

    def _group_steps(self, known: Mapping[int, IntArray], n: int) -> dict[int, _SharedStep]:
        """What rows have seen the same behind each clique behind which any has seen something."""
        entering: dict[int, list[int]] = {}
        for j in sorted(known):
            entering.setdefault(max(self.holding[j]), []).append(j)
        steps: dict[int, _SharedStep] = {}
        for number, clique in enumerate(self.cliques):
            seen, below = entering.get(number, []), [child for child in clique.children if child in steps]
            sources = [*(known[j] >= 0 for j in seen), *(steps[child].told for child in below)]
            pattern = sum((some.astype(np.int64) << place for place, some in enumerate(sources)), np.zeros(n, np.int64))
            if not pattern.any():
                continue
            kind = pattern
            for column in (*(known[j] for j in seen), *(steps[child].kind for child in below)):
                kind = np.unique(kind * (int(column.max()) + 2) + column + 1, return_inverse=True)[1].reshape(-1)
            # nothing comes first, if there are such rows
            _, rows, kind = np.unique(np.where(pattern > 0, kind + 1, 0), return_index=True, return_inverse=True)
            groups: list[tuple[list[int], list[int], IntArray]] = []
            for value in np.unique(pattern[rows]).tolist():
                if value:
                    fixed = [j for place, j in enumerate(seen) if value >> place & 1]
                    children = [child for place, child in enumerate(below, len(seen)) if value >> place & 1]
                    groups.append((fixed, children, np.flatnonzero(pattern[rows] == value)))
            steps[number] = _SharedStep(pattern > 0, kind.reshape(-1), rows, groups)
        return steps

    def _message(self, number: int, states: Mapping[int, IntArray], own: Mapping[int, FloatArray]) -> FloatArray:
        """What a clique tells its parent where some variables have been seen, and some messages are rows' own."""
        clique, received = self.cliques[number], _Messages(self.cliques[number])
        table = _table_at(clique, list(states.items()))
        for child in clique.children:
            if (message := own.get(child, self._bare[child].up)) is None:
                continue
            scope = self.cliques[child].shared
            for j in states.keys() & set(scope):
                place = states[j].reshape((1,) * (message.ndim - 1) + (-1,))
                message = np.take_along_axis(message, place, axis=1 + scope.index(j))
            if message.shape[-1] == table.shape[-1] == 1:  # rows share both
                table = table * _spread(message, scope, clique.scope)
            else:
                received.add(message, scope)
        message = received.sums(table)
        return message if clique.parent < 0 else _scale(message)

    def _collect(self, known: Mapping[int, IntArray], fixed: Mapping[int, IntArray]) -> list[_Collected]:
        """Messages towards the roots."""
        behind: dict[int, list[int]] = {}
        for j in sorted(known):
            for number in self.holding[j] if j in fixed else (self.home[j],):
                while number >= 0 and (not (seen := behind.setdefault(number, [])) or seen[-1] != j):
                    seen.append(j)
                    number = self.cliques[number].parent
        same = {j: int(codes[0]) for j, codes in fixed.items() if (codes == codes[0]).all()}
        collected = list(self._bare)
        for number in sorted(behind):
            clique = self.cliques[number]
            key = (number, *((j, same.get(j, -1)) for j in behind[number]))
            alike = all(j in same for j in behind[number])
            if alike and key in self._cache:
                collected[number] = self._cache[key]
                continue
            table = _table_at(
                clique, [(j, fixed[j][:1] if j in same else fixed[j]) for j in clique.scope if j in fixed]
            )
            here = [(j, known[j]) for j in behind[number] if j not in fixed and self.home[j] == number]
            collected[number] = _Collected(clique, self._times(number, table, here, collected))
            if alike:
                self._keep(key, collected[number])
        return collected

    def _keep(self, key: Any, messages: _Collected) -> None:
        n_bytes = 2 * messages.full.nbytes
        self._cache_bytes += n_bytes
        if self._cache_bytes > TUNING.max_message_bytes:
            self._cache, self._cache_bytes = {}, n_bytes
        self._cache[key] = messages

    def _times(
        self, number: int, table: FloatArray, here: list[tuple[int, IntArray]], collected: list[_Collected]
    ) -> FloatArray:
        """A clique's table times evidence and the messages from below."""
        clique, parts = self.cliques[number], []
        for j, codes in here:
            shown = (np.arange(self.sizes[j])[:, None] == codes) | (codes < 0)
            parts.append(shown.reshape(1, *(self.sizes[j] if i == j else 1 for i in clique.scope), len(codes)))
        for child in clique.children:
            if (message := collected[child].up) is not None:
                parts.append(_spread(message, self.cliques[child].shared, clique.scope))
        return _product(table, parts)

    def _distribute(self, collected: list[_Collected], wanted: tuple[int, ...]) -> dict[int, FloatArray]:
        """Messages from the roots to where something is wanted, and the marginals there."""
        passes, asked = self._passes(wanted)
        down: dict[int, FloatArray] = {}
        marginals: dict[int, FloatArray] = {}
        for number in reversed(range(len(self.cliques))):
            if not passes[number]:
                continue
            clique, upward, above = self.cliques[number], collected[number], down.pop(number, None)
            summed = upward.sums(above)
            for j in asked[number]:
                marginals[j] = summed((j,))
            for child in clique.children:
                if not passes[child]:
                    continue
                message = summed(self.cliques[child].shared)
                sent = collected[child].up
                if sent is not None:  # it is not sent back; where it was nothing, nothing will come of it
                    message = message / np.where(sent > 0, sent, np.inf)
                down[child] = _scale(message)
        return marginals

    def _passes(self, wanted: tuple[int, ...]) -> tuple[BoolArray, list[list[int]]]:
        """Cliques that lead to what is wanted, and what is wanted of each."""
        if wanted not in self._passing:
            passes: BoolArray = np.zeros(len(self.cliques), dtype=bool)
            asked: list[list[int]] = [[] for _ in self.cliques]
            for j in wanted:
                asked[self.home[j]].append(j)
                number = self.home[j]
                while number >= 0:
                    passes[number] = True
                    number = self.cliques[number].parent
            if len(self._passing) > 1000:
                self._passing = {}
            self._passing[wanted] = passes, asked
        return self._passing[wanted]

    def _hang(self, scopes: list[tuple[int, ...]], factors: Sequence[Factor]) -> tuple[list[_Clique], dict[int, int]]:
        """Cliques with their tables, children before parents, and the smallest clique of each variable."""
        cells = [math.prod(self.sizes[i] for i in scope) for scope in scopes]
        holding: dict[int, list[int]] = {j: [] for j in _all_variables(scopes)}
        for number, scope in enumerate(scopes):
            for j in scope:
                holding[j].append(number)
        home = {j: min(some, key=cells.__getitem__) for j, some in holding.items()}
        sets = [set(scope) for scope in scopes]
        tables: list[Any] = [np.ones((1, *(self.sizes[i] for i in scope), 1)) for scope in scopes]
        for own, table in factors:
            some = holding[own[0]] if own else range(len(sets))
            place = min((c for c in some if sets[c].issuperset(own)), key=cells.__getitem__)
            shape = [self.sizes[i] if i in own else 1 for i in scopes[place]]
            tables[place] = tables[place] * np.moveaxis(table, -2, 0).reshape(table.shape[-2], *shape, table.shape[-1])
        cliques = [_Clique(scope, table) for scope, table in zip(scopes, tables)]
        for number, clique in enumerate(cliques):
            later = sorted({c for j in clique.scope for c in holding[j] if c > number})
            # the running intersection: one of those to come holds all that is shared with any of them
            shared = set().union(*(sets[number] & sets[c] for c in later))
            clique.parent = next((c for c in later if shared <= sets[c]), -1)
            clique.shared = tuple(i for i in clique.scope if i in shared)
            if clique.parent >= 0:
                cliques[clique.parent].children.append(number)
        return cliques, home


def _table_at(clique: _Clique, fixed: list[tuple[int, IntArray]]) -> FloatArray:
    """A clique's table at states of some variables, one of each row or the same of all."""
    if not fixed:
        return clique.table
    if all(len(codes) == 1 for _, codes in fixed):
        place = {1 + clique.scope.index(j): slice(int(codes[0]), int(codes[0]) + 1) for j, codes in fixed}
        return clique.table[tuple(place.get(axis, slice(None)) for axis in range(clique.table.ndim))]
    axes = [1 + clique.scope.index(j) for j, _ in fixed]
    free = [axis for axis in range(clique.table.ndim - 1) if axis not in axes]
    cut = clique.table[..., 0].transpose(*axes, *free)[tuple(codes for _, codes in fixed)]
    return np.ascontiguousarray(np.expand_dims(np.moveaxis(cut, 0, -1), axes))


class _Messages:
    """The product of messages to a clique, and what it tells its parent by it.

    Axes lie side by side, so that numpy goes through long stretches: it would stop after each few rows. What the parent
    does not know comes last, as a product of matrices needs it.
    """

    def __init__(self, clique: _Clique) -> None:
        self.clique, self.scope = clique, list[int]()
        self.product: FloatArray | None = None

    def add(self, message: FloatArray, scope: Sequence[int]) -> None:
        """Take one more message, (classes or 1, ..., rows or 1)."""
        if self.product is None:
            self.product, self.scope = message, list(scope)
            return
        sizes = dict(zip([*self.scope, *scope], (*self.product.shape[1:-1], *message.shape[1:-1])))
        both = [j for j in self.scope if j in scope]
        first, second = ([j for j in some if j not in both] for some in (self.scope, scope))
        (a, c), (b, d), (e, f) = (_partition(some, self.clique.shared) for some in (first, second, both))
        ours, theirs = _lay_out(self.product, self.scope, a, e, c, f), _lay_out(message, scope, b, e, d, f)
        product = ours[:, :, None, :, :, None] * theirs[:, None, :, :, None]
        self.scope = [*a, *b, *e, *c, *d, *f]
        self.product = product.reshape(len(product), *(sizes[j] for j in self.scope), product.shape[-1])

    def sums(self, table: FloatArray) -> FloatArray:
        """Sums of a table times the product over all that the parent does not know."""
        kept, every = self.clique.shared, self.clique.scope
        if self.product is None:
            return np.asarray(table.sum(axis=self.clique.axes(kept)))
        if table.shape[-1] == 1:
            matrix = _as_matrix(table, every, self.scope, kept)
            sizes = [table.shape[1 + every.index(j)] for j in kept]
            return _map_rows(matrix, sizes, self.product, self.scope, kept)
        axes = [[0, *(2 + every.index(j) for j in some), 1] for some in (every, self.scope, kept)]
        operands: list[Any] = [table, axes[0], self.product, *axes[1:]]
        return np.asarray(np.einsum(*operands))


def _partition(some: Sequence[int], kept: Sequence[int]) -> tuple[list[int], list[int]]:
    """Variables that are kept, and others."""
    return [j for j in some if j in kept], [j for j in some if j not in kept]


def _as_matrix(table: FloatArray, every: Sequence[int], scope: Sequence[int], kept: Sequence[int]) -> FloatArray:
    """A table that rows share, to be multiplied by what each is told: what is kept by what is not, for all of both."""
    both, theirs = _partition(scope, kept)
    ours, gone = _partition([j for j in every if j not in scope], kept)
    table = table.sum(axis=tuple(1 + every.index(j) for j in gone), keepdims=True)
    return np.ascontiguousarray(_lay_out(table, every, both, ours, [*theirs, *gone])[..., 0])


def _map_rows(
    matrix: FloatArray, sizes: Sequence[int], message: FloatArray, scope: Sequence[int], kept: Sequence[int]
) -> FloatArray:
    """What rows have of the variables that are kept, of so many states each, by what they are told."""
    both, theirs = _partition(scope, kept)
    order = [*both, *(j for j in sorted(kept) if j not in both)]
    product = np.matmul(matrix, _lay_out(message, scope, both, theirs))
    product = product.reshape(len(product), *(sizes[kept.index(j)] for j in order), product.shape[-1])
    return np.asarray(product.transpose(0, *(1 + order.index(j) for j in kept), product.ndim - 1))


def _lay_out(values: FloatArray, scope: Sequence[int], *lots: Sequence[int]) -> FloatArray:
    """Values with the variables of each lot as one axis, between classes and rows."""
    axes = [1 + scope.index(j) for lot in lots for j in lot]
    sizes = [math.prod(values.shape[1 + scope.index(j)] for j in lot) for lot in lots]
    return np.asarray(values.transpose(0, *axes, values.ndim - 1).reshape(len(values), *sizes, values.shape[-1]))


def _product(table: FloatArray, parts: Sequence[FloatArray]) -> FloatArray:
    """A table times some messages, with which the large table is gone through once."""
    if not parts:
        return table
    result, *others = sorted(parts, key=lambda part: part.size)
    for part in others:
        result = result * part
    return np.asarray(table * result)


def _scale(message: FloatArray) -> FloatArray:
    """A message with a largest entry of one in each row."""
    largest = message.max(axis=tuple(range(message.ndim - 1)))
    return np.asarray(message / np.where(largest > 0, largest, 1.0))


def _spread(message: FloatArray, own: tuple[int, ...], scope: tuple[int, ...]) -> FloatArray:
    """A message with an axis for each variable of a clique."""
    shape = iter(message.shape[1:-1])
    return message.reshape(len(message), *(next(shape) if i in own else 1 for i in scope), message.shape[-1])


def _all_variables(scopes: Iterable[tuple[int, ...]]) -> list[int]:
    return sorted({i for scope in scopes for i in scope})


def _scopes(
    factors: Sequence[Factor], sizes: Sequence[int], n_classes: int, max_cells: float, small: int
) -> list[tuple[int, ...]]:
    """Maximal cliques of a triangulated graph, by that of some orders of elimination which makes the least tables."""
    cells: float = math.inf
    cliques: list[set[int]] = []
    for score in (_fill, _weight, _fill_weight):
        tried = _eliminate([scope for scope, _ in factors], sizes, score)
        total = sum(math.prod(float(sizes[i]) for i in clique) for clique in tried)
        cells, cliques = min((cells, cliques), (total, tried), key=lambda pair: pair[0])
        if cells * n_classes <= small:
            break
    largest = max(cliques, key=lambda clique: math.prod(float(sizes[i]) for i in clique), default=set())
    most = math.prod(float(sizes[i]) for i in largest) * n_classes
    if most > max_cells:
        raise ValueError(
            f"the network is too densely connected for exact inference: {len(largest)} nodes at once (treewidth "
            f"{len(largest) - 1} or so) make a table of {most:.3g} numbers over {n_classes} classes, and "
            f"max_cells={max_cells:,.15g} are the most. Ask fewer questions, leave parents with weak influence out, or "
            f"set max_cells to {math.ceil(most):,}: it takes about {_memory_said(2 * 8 * n_classes * cells)}."
        )
    cliques = [c for number, c in enumerate(cliques) if not any(c <= other for other in cliques[:number])]
    of_class = [set(scope) for scope, table in factors if table.shape[-2] > 1]
    return _order_cliques([tuple(sorted(clique)) for clique in cliques], of_class) or [()]


def _memory_said(n_bytes: float) -> str:
    return f"{n_bytes / 2**30:,.1f} GB of memory" if n_bytes >= 2**30 else f"{n_bytes / 2**20:,.0f} MB of memory"


def _eliminate(scopes: Sequence[tuple[int, ...]], sizes: Sequence[int], score: Callable[..., Any]) -> list[set[int]]:
    """Cliques that eliminating the variables makes, that of the lowest score first."""
    near: dict[int, set[int]] = {i: set() for i in _all_variables(scopes)}
    for scope in scopes:
        for i in scope:
            near[i] |= set(scope) - {i}
    scores = {i: score(i, near, sizes) for i in near}
    cliques: list[set[int]] = []
    while near:
        best = min(scores, key=scores.__getitem__)
        clique = {best, *near[best]}
        touched = set()
        for i in near[best]:
            near[i] |= clique - {i}
            near[i].discard(best)
            touched |= {i, *near[i]}
        del near[best], scores[best]
        scores |= {i: score(i, near, sizes) for i in touched - {best}}
        cliques.append(clique)
    return cliques


def _fill(i: int, near: Mapping[int, set[int]], sizes: Sequence[int]) -> tuple[float, float, int]:
    around = near[i]
    missing = sum(len(around - near[a]) - 1 for a in around)
    return missing, _weight(i, near, sizes)[0], i


def _weight(i: int, near: Mapping[int, set[int]], sizes: Sequence[int]) -> tuple[float, int]:
    return math.prod(float(sizes[a]) for a in (i, *near[i])), i


def _fill_weight(i: int, near: Mapping[int, set[int]], sizes: Sequence[int]) -> tuple[float, float, int]:
    """The least sum of the products of the logarithms of sizes over the edges that are missing."""
    around, logarithm = near[i], math.log
    missing = sum(
        logarithm(sizes[a]) * math.fsum(logarithm(sizes[b]) for b in around - near[a] if b != a) for a in around
    )
    return round(missing, 9), _weight(i, near, sizes)[0], i


def _order_cliques(scopes: list[tuple[int, ...]], of_class: list[set[int]]) -> list[tuple[int, ...]]:
    """The cliques in an order in which each shares with those to come what one of them holds: a maximal tree.

    The last ones, where messages come together, are those that hold most of the tables that depend on the class.
    """
    sets = [set(scope) for scope in scopes]
    close = [sum(own <= scope for own in of_class) for scope in sets]
    left, order = set(range(len(scopes))), []
    while left:
        # grown from a root, as Prim does; the largest overlap first makes it a junction tree
        best = dict.fromkeys(left, (0, -1))
        current = min(left, key=lambda c: (-close[c], c))
        while True:
            left.discard(current)
            order.append(current)
            del best[current]
            for c in best:
                best[c] = max(best[c], (len(sets[c] & sets[current]), current))
            if not best or max(best.values())[0] == 0:
                break
            current = max(best, key=lambda c: (best[c][0], -c))
    return [scopes[c] for c in reversed(order)]
