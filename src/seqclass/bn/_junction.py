"""Exact inference by messages in a junction tree, batched over rows."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from seqclass._utils.arrays import CHUNK_BYTES, TINY, BoolArray, FloatArray, IntArray, chunks


@dataclass(frozen=True)
class JunctionTuning:
    """What a junction tree works on at a time, and keeps."""

    call_products: int = 200_000  #: products that a clique's share of a call costs, whatever the rows
    few_products: int = 2**14  #: products of numbers that take less time than the calls of a matrix product
    steps_kept: int = 1000  #: sets of variables for which it is kept where messages go
    least_total: float = 1e-100  #: probability of evidence from which on no message needs to be scaled


TUNING = JunctionTuning()


_ALL = slice(None)

#: Outcome codes of features: feature -> column of shape (n_rows,), -1 where unknown.
Columns = dict[int, IntArray]
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


def distinct_rows(columns: Columns, n: int) -> tuple[IntArray, IntArray]:
    """Find one row of each distinct combination, and the combination of each row."""
    key: IntArray = np.zeros(n, dtype=np.intp)
    size = 1
    for column in columns.values():
        width = int(column.max(initial=-1)) + 2
        if size > 2**62 // width:
            key, size = _number(key, size)
        key = key * width  # then in place: codes may be of a type that ends at V - 1
        key += column
        key += 1
        size *= width
    inverse, count = _number(key, size)
    if 2 * count > n:
        return np.arange(n), np.arange(n)
    rows = np.empty(count, dtype=np.intp)
    rows[inverse] = np.arange(n)
    return rows, inverse


def _number(key: IntArray, size: int) -> tuple[IntArray, int]:
    """Number the keys that occur 0, 1, ... in their order."""
    if size > 4 * len(key) + 1024:
        distinct, inverse = np.unique(key, return_inverse=True)
        return inverse.astype(np.intp, copy=False), len(distinct)
    present = np.zeros(size, dtype=bool)
    present[key] = True
    number = np.cumsum(present) - 1
    return number[key], int(number[-1]) + 1


@dataclass
class _Clique:
    """Variables of a clique, highest first, its table, (classes or 1, ..., rows or 1), and its place."""

    scope: tuple[int, ...]
    table: FloatArray
    parent: int = -1
    #: What it shares with its parent.
    shared: tuple[int, ...] = ()
    children: list[int] = field(default_factory=list)
    #: Axes of all variables, and of those that the parent does not know.
    inside: tuple[int, ...] = ()
    gone: tuple[int, ...] = ()
    #: Size of each of the parent's variables that it shares, 1 of others; and axes of these in the parent's table.
    places: tuple[int, ...] = ()
    spans: frozenset[int] = frozenset()

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
            self.up = None if np.abs(message - 1).max() <= 1e-14 else _scale(message)

    def sums(self, message: FloatArray | None) -> Callable[[tuple[int, ...]], FloatArray]:
        """Sums of the table times a message from above over all but some variables."""
        full, parts = self.full, []
        if message is not None:
            parts = [_spread(message, self.clique.shared, self.clique.scope)]
        if message is not None and (full.shape[-1] > 1 or message.shape[-1] == 1):
            full, parts = full * parts.pop(), []

        def add_up(kept: tuple[int, ...]) -> FloatArray:
            sums = _sum_products(full, parts, self.clique.axes(kept))
            return sums.reshape(len(sums), *(full.shape[1 + self.clique.scope.index(j)] for j in kept), sums.shape[-1])

        return add_up


class _Step(NamedTuple):
    """What a clique tells its parent of one row, or the probability of all evidence in its tree."""

    number: int
    #: Tables, or numbers of the cliques that sent them, and on which axes they are cut at what a variable has shown.
    parts: list[tuple[FloatArray | int, list[tuple[int, int]]]]
    gone: tuple[int, ...]
    shape: tuple[int, ...]
    whole: bool


class _Alone(NamedTuple):
    """What cliques tell their parents of variables that have met no others."""

    behind: FloatArray  # 1 where a variable enters at a clique or behind it, (cliques, variables)
    first: FloatArray  # where its states stand among the messages of that clique, (cliques, variables)
    messages: list[FloatArray | None]  # that of nothing and those of all states; None where they would be too many
    sources: dict[int, _Source]  # of each variable where it enters, for no rows


class _Source(NamedTuple):
    """What comes to a clique for some rows, of a child or of a variable that enters there."""

    which: IntArray  # which of its messages, or 1 + a state, is that of each row; 0 says nothing
    shape: tuple[int, ...]  # of a message, without rows
    messages: FloatArray | None = None
    axis: int = 0  # of the variable

    def of_rows(self, rows: slice | None = None) -> FloatArray:
        """The messages of some rows, or of all."""
        index = self.which if rows is None else self.which[rows]
        if self.messages is not None:
            return self.messages.take(index, axis=-1)
        shown = (np.arange(1, self.shape[self.axis] + 1)[:, None] == index) | (index == 0)
        return np.asarray(shown.astype(np.float64).reshape(*self.shape, -1))


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
        self.cliques, self.holding, self.home = self._hang(scopes, factors)
        self.total = self.cells([])
        #: Numbers in the largest message, over all classes.
        self.widest = max(math.prod(self.sizes[i] for i in clique.shared) for clique in self.cliques) * n_classes
        #: The highest clique that holds each variable.
        self.entry = {j: max(some) for j, some in self.holding.items()}
        self._place = {j: place for place, j in enumerate(self.entry)}
        self._own: list[list[int]] = [[] for _ in self.cliques]
        for j, number in self.entry.items():
            self._own[number].append(j)
        self._root = list(range(len(self.cliques)))
        for number in reversed(self._root):
            if (parent := self.cliques[number].parent) >= 0:
                self._root[number] = self._root[parent]
        self._cache: dict[Any, Any] = {}
        self._cache_bytes = 0
        self._passing: dict[tuple[int, ...], tuple[BoolArray, list[list[int]]]] = {}
        self._steps: dict[tuple[int, ...], list[_Step]] = {}

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
            # so many times what the largest table takes: small enough to stay near the cache
            for rows in chunks(last - first, min(64.0 * cells, CHUNK_BYTES / 16)):
                yield slice(first + rows.start, min(first + rows.stop, last))
            first = last

    def _cells(self, clique: _Clique, fixed: Sequence[int]) -> int:
        return math.prod(self.sizes[i] for i in clique.scope if i not in fixed)

    def cells(self, fixed: Sequence[int]) -> int:
        """Numbers in all tables, over all classes, where some variables have one state."""
        return sum(self._cells(clique, fixed) for clique in self.cliques) * self.n_classes

    def marginals(
        self, wanted: Sequence[int], known: Mapping[int, IntArray], n: int
    ) -> tuple[list[FloatArray], FloatArray]:
        """P(variable, class, evidence) of each wanted variable, and P(class, evidence), each row up to a factor.

        They are of shape (n_classes or 1, n_states, n or 1) and (n_classes, n).
        """
        # what all rows have seen has one state
        fixed = {j: codes for j, codes in known.items() if (codes >= 0).all()}
        collected = self._collect(known, fixed)
        total = _all_of([message.up for message in collected if message.clique.parent < 0])
        marginals = self._distribute(collected, tuple(wanted)) if len(wanted) else {}
        for j in fixed:
            if j in marginals:
                shown = np.arange(self.sizes[j])[:, None] == fixed[j]
                marginals[j] = marginals[j] * shown
        return [marginals[j] for j in wanted], np.broadcast_to(total, (self.n_classes, n))

    @cached_property
    def _bare(self) -> list[_Collected]:
        bare: list[_Collected] = []
        for number, clique in enumerate(self.cliques):
            bare.append(_Collected(clique, self._times(number, clique.table, [], bare)))
        return bare

    def normalise(self) -> JunctionTree:
        """Make of each table the probabilities of what the parent does not know, so that bare messages say nothing."""
        for clique in self.cliques:
            if clique.parent < 0:
                continue
            above, message = self.cliques[clique.parent], clique.table.sum(axis=clique.axes(clique.shared))
            above.table = above.table * _spread(message, clique.shared, above.scope)
            message = _spread(message, clique.shared, clique.scope)
            rest = math.prod(self.sizes[i] for i in clique.scope if i not in clique.shared)
            clique.table = np.where(message > 0, clique.table / np.where(message > 0, message, 1.0), 1.0 / rest)
        return self

    @cached_property
    def _joints(self) -> list[FloatArray]:
        """P(variables | class) of each clique of a normalised tree."""
        joints: list[FloatArray] = [clique.table for clique in self.cliques]
        for number, clique in reversed(list(enumerate(self.cliques))):
            above = 1 / np.maximum(clique.table.sum(axis=clique.inside), TINY)
            if clique.parent >= 0:
                above = joints[clique.parent].sum(axis=self.cliques[clique.parent].axes(clique.shared))
            joints[number] = clique.table * _spread(above, clique.shared, clique.scope)
        return joints

    @cached_property
    def _prior(self) -> FloatArray:
        """P(class), (n_classes, 1)."""
        roots: list[Any] = [bare.up for bare in self._bare if bare.clique.parent < 0]
        return np.asarray(np.ones((self.n_classes, 1)) * math.prod(roots))

    def total_of(self, seen: Mapping[int, slice]) -> FloatArray:
        """P(class, evidence) up to a factor of one row of a normalised tree, (n_classes, 1)."""
        key = tuple(seen)
        if (steps := self._steps.get(key)) is None:
            steps = self._steps_of(key)
            if len(self._steps) > TUNING.steps_kept:
                self._steps = {}
            self._steps[key] = steps
        total = self._total_of_steps(steps, seen, False)
        # messages are scaled only where evidence is so rare that it matters
        return total if total.max() > TUNING.least_total else self._total_of_steps(steps, seen, True)

    def _total_of_steps(self, steps: Sequence[_Step], seen: Mapping[int, slice], scaled: bool) -> FloatArray:
        """P(class, evidence) of one row by the steps for what it has seen."""
        totals, sent = [self._prior], dict[int, FloatArray]()
        for step in steps:
            parts = []
            for source, places in step.parts:
                part = sent[source] if isinstance(source, int) else source
                if places:
                    at = [_ALL] * part.ndim
                    for axis, j in places:
                        at[axis] = seen[j]
                    part = part[tuple(at)]
                parts.append(part)
            message = np.add.reduce(_all_of(parts), step.gone, keepdims=True)
            message = (_scale(message) if scaled and not step.whole else message).reshape(step.shape)
            if step.whole:
                totals.append(message)
            else:
                sent[step.number] = message
        return _all_of(totals)

    def _steps_of(self, variables: Sequence[int]) -> list[_Step]:
        """Messages from some variables that are seen to where all of them have met, tree by tree.

        A variable enters at the highest clique that holds it, and goes up as it is until it meets others.
        """
        trees: dict[int, dict[int, tuple[list[int], dict[int, int]]]] = {}
        for j in variables:
            tree = trees.setdefault(self._root[self.entry[j]], {})
            tree.setdefault(self.entry[j], ([], {}))[0].append(j)
        steps: list[_Step] = []
        for waiting in trees.values():
            while waiting:
                number = min(waiting)
                own, below = waiting.pop(number)
                # what goes up is a variable that has met none, or -1
                alone = next(iter((*own, *below.values()))) if len(own) + len(below) == 1 else -1
                if alone >= 0 and not waiting:
                    steps.append(_Step(number, [(self._say(-1, alone), [(-1, alone)])], (), (-1, 1), True))
                elif alone < 0:
                    steps.append(self._step(number, own, below, not waiting))
                if waiting:
                    waiting.setdefault(self.cliques[number].parent, ([], {}))[1][number] = alone
        return steps

    def _step(self, number: int, own: Sequence[int], below: Mapping[int, int], whole: bool) -> _Step:
        """What a clique makes of variables that are seen there, and of variables or messages of its children."""
        clique = self.cliques[number]
        places = [(clique.scope.index(j) + 1, j) for j in own]
        parts: list[tuple[FloatArray | int, list[tuple[int, int]]]] = []
        for child, j in below.items():
            spans = self.cliques[child].spans
            cut = [place for place in places if place[0] in spans] if places else []
            parts.append((self._say(child, j), [*cut, (-1, j)]) if j >= 0 else (child, cut))
        parts.append((self._joints[number] if whole else clique.table, places))
        if whole:
            return _Step(number, parts, clique.inside, (-1, 1), True)
        return _Step(number, parts, clique.gone, (-1, *clique.places, 1), False)

    def _send(self, number: int, table: FloatArray, messages: Sequence[FloatArray], whole: bool) -> FloatArray:
        """What a clique of a normalised tree makes of messages for its parent.

        If the evidence is ``whole``, the table is that of `_joints`, and P(evidence | class) is given.
        """
        clique = self.cliques[number]
        return self._shape(number, _sum_products(table, messages, clique.inside if whole else clique.gone), whole)

    def _shape(self, number: int, message: FloatArray, whole: bool) -> FloatArray:
        """What a clique sends, with axes for the parent's variables; P(evidence | class) without any."""
        if whole:
            return message.reshape(len(message), -1)
        return _scale(message).reshape(len(message), *self.cliques[number].places, message.shape[-1])

    def _enter(self, number: int, j: int, whole: bool) -> FloatArray:
        """What a clique sends of each state of a variable that enters there, which its parent does not hold."""
        clique, table = self.cliques[number], self._joints[number] if whole else self.cliques[number].table
        own = clique.scope.index(j) + 1
        others = tuple(axis for axis in (clique.inside if whole else clique.gone) if axis != own)
        return self._shape(number, np.add.reduce(table, others, keepdims=True).swapaxes(own, -1), whole)

    def _say(self, number: int, j: int) -> FloatArray:
        """What a clique tells its parent about each state of a variable behind it; -1 stands for what is above all."""
        if (found := self._cache.get((number, j))) is not None:
            return found  # type: ignore[no-any-return]
        at, whole = self.entry[j], number < 0
        key = (-1 if whole else at, j)
        if (kept := self._cache.get(key)) is None:
            kept = self._keep(key, self._enter(at, j, whole))
        while not whole and at != number:
            below, at = kept, self.cliques[at].parent
            if (kept := self._cache.get((at, j))) is None:
                kept = self._keep((at, j), self._send(at, self.cliques[at].table, [below], False))
        return np.asarray(kept)

    @cached_property
    def _alone(self) -> _Alone:
        behind = np.zeros((len(self.cliques), len(self.entry)))
        first, kept, sizes, n_bytes = np.zeros_like(behind), list[FloatArray | None](), list[int](), 0
        sources: dict[int, _Source] = {}
        for j, number in self.entry.items():
            scope, size = self.cliques[number].scope, self.sizes[j]
            shape, states = (1, *(size if i == j else 1 for i in scope)), None
            if (more := 8 * size * (size + 1)) + n_bytes <= CHUNK_BYTES // 2:  # of thousands of states, row by row
                n_bytes, states = n_bytes + more, np.eye(size, size + 1, 1)
                states[:, 0] = 1
                states = states.reshape(*shape, -1)
            sources[j] = _Source(np.arange(0), shape, states, scope.index(j) + 1)
        for number, clique in enumerate(self.cliques):
            size, inside = 1, [kept[child] for child in clique.children]
            for j in self._own[number]:
                behind[number, self._place[j]], first[number, self._place[j]] = 1, size
                size += self.sizes[j]
            for child in clique.children:
                first[number] += behind[child] * (first[child] + size - 1)
                behind[number] += behind[child]
                size += sizes[child] - 1
            sizes.append(size)
            more = 8 * self.n_classes * math.prod(clique.places) * size
            if clique.parent < 0 or n_bytes + more > CHUNK_BYTES or any(messages is None for messages in inside):
                kept.append(None)
                continue
            n_bytes += more
            sent = [np.ones((1, *clique.places, 1)), *(self._enter(number, j, False) for j in self._own[number])]
            sent += [self._send(number, clique.table, [one[..., 1:]], False) for one in inside if one is not None]
            kept.append(_side_by_side(sent))
        return _Alone(behind, first, kept, sources)

    def totals(self, known: Mapping[int, IntArray], n: int) -> FloatArray:
        """P(class, evidence) of each row up to a factor, (n_classes, n).

        As `total_of`: a variable that has met no other goes up as it is, and a clique is gone through for the rows
        whose variables meet there, until all of a row's have met.
        """
        alone, places, total = self._alone, [self._place[j] for j in known], np.repeat(self._prior, n, axis=1)
        codes = np.array([*known.values()], dtype=np.intp).reshape(len(known), n)
        shown = dict(zip(known, codes + 1))  # of a type with room for one more; 0 says nothing
        seen, behind = (codes >= 0) * 1.0, alone.behind[:, places]
        count = behind @ seen
        ends = (count > 0) & (count == count[self._root])
        number_of = alone.first[:, places] @ seen + behind @ np.maximum(codes, 0)
        at = np.where(count == 1, number_of, 0).astype(np.intp)  # which of a clique's messages is that of a row
        least = np.array([1 if messages is None else 2 for messages in alone.messages])
        meets = (count >= least[:, None]) | ends
        for clique, all_met in zip(self.cliques, ends):
            if clique.parent >= 0:
                meets[clique.parent] &= ~all_met
        sent: dict[int, FloatArray] = {}
        for number in np.flatnonzero(meets.any(axis=1)).tolist():
            clique, told = self.cliques[number], alone.messages[number]
            rows = np.flatnonzero(meets[number])
            last = ends[number, rows]
            for whole, some in ((True, rows[last]), (False, rows[~last])):
                if not some.size:
                    continue
                sources = [_Source(shown[j][some], *alone.sources[j][1:]) for j in self._own[number] if j in shown]
                for child in clique.children:
                    if (come := sent.get(child, alone.messages[child])) is not None:
                        sources.append(_Source(at[child, some], come.shape[:-1], come))
                messages, kind = self._meet(number, whole, sources, len(some))
                if whole:
                    total[:, some] = _scale(total[:, some] * messages[:, kind])
                else:
                    before = np.ones((1, *clique.places, 1)) if told is None else told
                    sent[number] = _side_by_side([before, messages])
                    at[number, some] = before.shape[-1] + kind
            for child in clique.children:
                sent.pop(child, None)
        return total

    def _meet(self, number: int, whole: bool, sources: list[_Source], n: int) -> tuple[FloatArray, IntArray]:
        """What a clique makes of what has come for each row, and which of these messages is that of each row."""
        table = self._joints[number] if whole else self.cliques[number].table
        told, combinations = list[_Source](), 1
        for source in sources:
            if most := int(source.which.max()):
                told.append(source)
                combinations *= most - int(source.which.min()) + 1
        if n * table.size <= TUNING.few_products and 2 * combinations > n:
            return self._send(number, table, [source.of_rows() for source in told], whole), np.arange(n)
        rows, kind = distinct_rows({k: source.which for k, source in enumerate(told)}, n)
        groups = [rows]
        if len(rows) * table.size > 8 * TUNING.few_products:  # apart by what has come, so that a table is cut by it
            _, lot = distinct_rows({k: 1 * (source.which[rows] > 0) for k, source in enumerate(told)}, len(rows))
            order = np.argsort(lot, kind="stable")
            groups = np.split(rows[order], np.flatnonzero(np.diff(lot[order])) + 1)
            kind = np.argsort(order, kind="stable")[kind]
        sent = (message for group in groups for message in self._messages(number, whole, table, told, group))
        return _side_by_side([*sent]), kind

    def _messages(
        self, number: int, whole: bool, table: FloatArray, sources: list[_Source], rows: IntArray
    ) -> Iterator[FloatArray]:
        """Messages of some rows, a few at a time; what all of them have seen is cut out of the table."""
        clique = self.cliques[number]
        some = [_Source(which, *source[1:]) for source in sources if (which := source.which[rows]).any()]
        fixed = {source.axis: source.which - 1 for source in some if source.axis and source.which.all()}
        told = [source for source in some if source.axis not in fixed]
        shapes = [source.shape for source in told] + ([table.shape[:-1]] if fixed else [])
        product = [max(sizes) for axis, sizes in enumerate(zip(*shapes)) if axis not in fixed]
        cells = max(math.prod(product), math.prod(clique.places) * self.n_classes)
        for part in chunks(len(rows), 64.0 * cells):
            cut = {axis: codes[part] for axis, codes in fixed.items()}
            parts = [source.of_rows(part) for source in told]
            if cut:
                both = [{axis: codes for axis, codes in cut.items() if one.shape[axis] > 1} for one in parts]
                parts = [_cut(one, places) if places else one for one, places in zip(parts, both)]
            parts.sort(key=lambda one: one.size)  # so that the largest is gone through once
            yield self._send(number, _cut(table, cut) if cut else table, parts, whole)

    def _collect(self, known: Mapping[int, IntArray], fixed: Mapping[int, IntArray]) -> list[_Collected]:
        """Messages towards the roots."""
        behind: dict[int, list[int]] = {}
        for j in sorted(known):
            for number in self.holding[j] if j in fixed else (self.home[j],):
                while number >= 0 and (not (seen := behind.setdefault(number, [])) or seen[-1] != j):
                    seen.append(j)
                    number = self.cliques[number].parent
        same = {j: int(codes[0]) for j, codes in fixed.items() if (codes == codes[0]).all()}
        places = {j: slice(code, code + 1) for j, code in same.items()}
        collected = list(self._bare)
        for number in sorted(behind):
            clique = self.cliques[number]
            key = (number, *((j, same.get(j, -1)) for j in behind[number]))
            alike = all(j in same for j in behind[number])
            if alike and (kept := self._cache.get(key)) is not None:  # read once: another thread may forget all
                collected[number] = kept
                continue
            there = {1 + clique.scope.index(j): places[j] if alike else fixed[j] for j in clique.scope if j in fixed}
            table = _cut(clique.table, there) if there else clique.table
            here = [(j, known[j]) for j in behind[number] if j not in fixed and self.home[j] == number]
            collected[number] = _Collected(clique, self._times(number, table, here, collected))
            if alike:
                self._keep(key, collected[number])
        return collected

    def _keep(self, key: Any, messages: Any) -> Any:
        n_bytes = 2**8 + (messages.nbytes if isinstance(messages, np.ndarray) else 2 * messages.full.nbytes)
        self._cache_bytes += n_bytes
        if self._cache_bytes > CHUNK_BYTES:
            self._cache, self._steps, self._cache_bytes = {}, {}, n_bytes  # steps hold what is kept here
        self._cache[key] = messages
        return messages

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
        # in this order the large table is gone through once
        return np.asarray(table * _all_of(sorted(parts, key=lambda part: part.size))) if parts else table

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
        if (kept := self._passing.get(wanted)) is not None:
            return kept
        passes: BoolArray = np.zeros(len(self.cliques), dtype=bool)
        asked: list[list[int]] = [[] for _ in self.cliques]
        for j in wanted:
            asked[self.home[j]].append(j)
            number = self.home[j]
            while number >= 0:
                passes[number] = True
                number = self.cliques[number].parent
        if len(self._passing) > TUNING.steps_kept:
            self._passing = {}
        self._passing[wanted] = passes, asked
        return passes, asked

    def _hang(
        self, scopes: list[tuple[int, ...]], factors: Sequence[Factor]
    ) -> tuple[list[_Clique], dict[int, list[int]], dict[int, int]]:
        """Cliques with their tables, children before parents, and all and the smallest that hold each variable."""
        cells = [math.prod(self.sizes[i] for i in scope) for scope in scopes]
        holding: dict[int, list[int]] = {j: [] for j in _all_variables(scopes)}
        for number, scope in enumerate(scopes):
            for j in scope:
                holding[j].append(number)
        home = {j: min(some, key=cells.__getitem__) for j, some in holding.items()}
        # what the parent does not know comes last: to sum over it is to go through long stretches
        highest = {j: (-some[-1], j) for j, some in holding.items()}
        scopes = [tuple(sorted(scope, key=highest.__getitem__)) for scope in scopes]
        sets = [set(scope) for scope in scopes]
        tables: list[Any] = [np.ones((1, *(self.sizes[i] for i in scope), 1)) for scope in scopes]
        for own, table in factors:
            some = holding[own[0]] if own else range(len(sets))
            place = min((c for c in some if sets[c].issuperset(own)), key=cells.__getitem__)
            shape = [self.sizes[i] if i in own else 1 for i in scopes[place]]
            axes = sorted(range(len(own)), key=lambda axis: highest[own[axis]])
            table = table.transpose(-2, *axes, -1)
            tables[place] = tables[place] * table.reshape(len(table), *shape, table.shape[-1])
        cliques = [_Clique(scope, table) for scope, table in zip(scopes, tables)]
        for number, clique in enumerate(cliques):
            later = sorted({c for j in clique.scope for c in holding[j] if c > number})
            # the running intersection: one of those to come holds all that is shared with any of them
            shared = set().union(*(sets[number] & sets[c] for c in later))
            clique.parent = next((c for c in later if shared <= sets[c]), -1)
            clique.shared = tuple(i for i in clique.scope if i in shared)
            clique.inside, clique.gone = clique.axes(()), clique.axes(clique.shared)
            if clique.parent >= 0:
                cliques[clique.parent].children.append(number)
                above = scopes[clique.parent]
                clique.places = tuple(self.sizes[i] if i in shared else 1 for i in above)
                clique.spans = frozenset(axis for axis, i in enumerate(above, 1) if i in shared)
        return cliques, holding, home


def _cut(values: FloatArray, chosen: Mapping[int, Any]) -> FloatArray:
    """Values at a place on some axes, one of each row or a slice of all; rows are last."""
    if isinstance(next(iter(chosen.values()), _ALL), slice):
        return np.asarray(values[tuple([chosen.get(axis, _ALL) for axis in range(values.ndim)])])
    free = [axis for axis in range(values.ndim - 1) if axis not in chosen]
    states = (*chosen.values(), np.arange(values.shape[-1]))
    cut = values.transpose(*chosen, -1, *free)[states]
    return np.ascontiguousarray(np.expand_dims(np.moveaxis(cut, 0, -1), tuple(chosen)))


def _sum_products(table: FloatArray, parts: Sequence[FloatArray], gone: tuple[int, ...]) -> FloatArray:
    """Sums of a table times messages, with axes of the same variables, over some of these, which keep one place."""
    product: Any = _all_of(parts) if parts else 1.0
    few = not parts or table.size * product.shape[-1] <= TUNING.few_products
    if few or table.shape[-1] > 1 or product.shape[-1] == 1:
        return np.asarray(np.add.reduce(table * product if parts else table, gone, keepdims=True))
    # rows share the table: a product of matrices, one for all that is kept of what the messages tell of
    told = [axis for axis in range(1, table.ndim - 1) if product.shape[axis] > 1]
    both = [axis for axis in told if axis not in gone]
    ours = [axis for axis in range(1, table.ndim - 1) if axis not in gone and axis not in told]
    table = np.add.reduce(table, tuple(axis for axis in gone if axis not in told), keepdims=True)
    order, sizes = [0, *both, *ours, *gone, table.ndim - 1], [table.shape[axis] for axis in (*both, *ours)]
    cells = math.prod(sizes[: len(both)])
    matrix = table.transpose(0, *both, *ours, *gone, -1).reshape(len(table), cells, math.prod(sizes[len(both) :]), -1)
    vectors = product.transpose(0, *both, *gone, *ours, -1).reshape(len(product), cells, -1, product.shape[-1])
    result = np.matmul(np.ascontiguousarray(matrix), vectors)
    return np.asarray(result.reshape(len(result), *sizes, *(1 for _ in gone), -1).transpose(np.argsort(order)))


def _all_of(messages: Sequence[FloatArray]) -> FloatArray:
    """Product of messages, or of what trees say, each row up to a factor: that of hundreds would be out of range."""
    product = messages[0]
    for number, message in enumerate(messages[1:], 1):
        product = product * message if number % 16 else _scale(product * message)
    return product


def _side_by_side(messages: Sequence[FloatArray]) -> FloatArray:
    """Messages, of which some may be the same for all classes, one row after the other."""
    if len(messages) == 1:
        return messages[0]
    n = max(map(len, messages))
    spread = [one if len(one) == n else np.broadcast_to(one, (n, *one.shape[1:])) for one in messages]
    return np.concatenate(spread, axis=-1)


def _scale(message: FloatArray) -> FloatArray:
    """A message with a largest entry of one in each row."""
    return np.asarray(message / np.maximum(np.maximum.reduce(message, tuple(range(message.ndim - 1))), TINY))


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
        tried, told = _eliminate([scope for scope, _ in factors], sizes, score)
        total = sum(math.prod(float(sizes[i]) for i in clique) for clique in tried)
        cells, cliques = min((cells, cliques), (total, tried), key=lambda pair: pair[0])
        if cells * n_classes <= small or (score is _fill and told == 0):
            break  # where no edge was missing no order has smaller cliques
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


def _eliminate(
    scopes: Sequence[tuple[int, ...]], sizes: Sequence[int], score: Callable[..., Any]
) -> tuple[list[set[int]], float]:
    """Cliques that eliminating the variables makes, that of the lowest score first, and the sum of these scores."""
    near: dict[int, set[int]] = {i: set() for i in _all_variables(scopes)}
    for scope in scopes:
        for i in scope:
            near[i] |= set(scope) - {i}
    scores = {i: score(i, near, sizes) for i in near}
    cliques: list[set[int]] = []
    total = 0.0
    while near:
        best = min(scores, key=scores.__getitem__)
        total += scores[best][0]
        clique = {best, *near[best]}
        touched = set()
        for i in near[best]:
            near[i] |= clique - {i}
            near[i].discard(best)
            touched |= {i, *near[i]}
        del near[best], scores[best]
        scores |= {i: score(i, near, sizes) for i in touched - {best}}
        cliques.append(clique)
    return cliques, total


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
