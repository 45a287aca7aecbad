"""Exact inference in any discrete network: a junction tree, batched over rows and classes."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from seqclass._arrays import BoolArray, FloatArray, IntArray, chunks

#: Entries of the largest table, over all classes, beyond which a network is refused.
MAX_CELLS = 2**20
#: Bytes of the largest table of a chunk of rows: small enough to stay near the cache.
_CHUNK_BYTES = 2**22

#: Variables, in increasing order, and a table over them with the class, or 1, as its last axis.
Factor = tuple[tuple[int, ...], FloatArray]


@dataclass
class _Clique:
    """Variables of a clique in increasing order, its table, and where it hangs."""

    scope: tuple[int, ...]
    table: FloatArray
    parent: int = -1
    #: Axes that are summed out towards the parent, and the shape of what comes from it.
    out: tuple[int, ...] = ()
    children: list[int] = field(default_factory=list)


class JunctionTree:
    """Marginals of all variables in two passes of messages, given the class and evidence that differs by row.

    The class is no variable but an axis of all tables that know of it: what does not depend on it is computed once. The
    arrays of a batch have the rows on their last axis. See [1]_, chapter 10.

    Parameters
    ----------
    factors : sequence of (variables, table)
        Their product is the joint; tables have an axis a variable and the class, or 1, last.
    sizes : sequence of int
        Number of states of each variable.
    n_classes : int
        Number of classes.
    name : callable
        Name of a variable, for messages.

    References
    ----------
    .. [1] D. Koller and N. Friedman, "Probabilistic graphical models", 2009.
    """

    def __init__(self, factors: Sequence[Factor], sizes: Sequence[int], n_classes: int) -> None:
        self.sizes, self.n_classes = list(sizes), n_classes
        scopes = _scopes(factors, self.sizes, n_classes)
        self.cliques, self.home = self._hung(scopes, factors)
        self.largest = max(clique.table.size // clique.table.shape[-1] for clique in self.cliques) * n_classes

    def chunk(self, n: int) -> Iterable[slice]:
        """Slices of the rows that are worth computing together."""
        return chunks(n, min(8.0 * self.largest, _CHUNK_BYTES / 16), _CHUNK_BYTES)

    def marginals(
        self, wanted: Sequence[int], known: Mapping[int, IntArray], n: int
    ) -> tuple[list[FloatArray], FloatArray]:
        """P(variable, class, evidence) of each wanted variable, and P(class, evidence), each row up to a factor.

        Parameters
        ----------
        wanted : sequence of int
            Variables.
        known : mapping of int to ndarray of int of shape (n,)
            States of the variables that any row has seen, -1 where it has not.
        n : int
            Number of rows.

        Returns
        -------
        marginals : list of ndarray of shape (n_states, n_classes or 1, n or 1)
            Factors of a row differ from variable to variable.
        total : ndarray of shape (n_classes, n)
        """
        full, up, total = self._collect(known)
        passes = np.zeros(len(self.cliques), dtype=bool)
        passes[[self.home[j] for j in wanted]] = True
        for number, clique in enumerate(self.cliques):  # children come before their parents
            if clique.parent >= 0 and passes[number]:
                passes[clique.parent] = True
        self._distribute(full, up, passes)
        found = []
        for j in wanted:
            clique = self.cliques[self.home[j]]
            others = tuple(axis for axis, i in enumerate(clique.scope) if i != j)
            found.append(full[self.home[j]].sum(axis=others))
        return found, np.broadcast_to(total, (self.n_classes, n))

    def _collect(self, known: Mapping[int, IntArray]) -> tuple[list[Any], list[Any], Any]:
        """Messages towards the roots; each clique's table times what it has received, and P(class, evidence)."""
        full: list[Any] = [None] * len(self.cliques)
        up: list[Any] = [None] * len(self.cliques)
        parts: list[list[Any]] = [[] for _ in self.cliques]
        for j, codes in known.items():
            shown = (np.arange(self.sizes[j])[:, None] == codes) | (codes < 0)
            shape = [self.sizes[j] if i == j else 1 for i in self.cliques[self.home[j]].scope]
            parts[self.home[j]].append(shown.reshape(*shape, 1, len(codes)))
        total: Any = np.ones((1, 1))
        for number, clique in enumerate(self.cliques):
            parts[number] += [_spread(up[child], self.cliques[child], clique) for child in clique.children]
            full[number] = _product(clique.table[..., None], parts[number])
            message = full[number].sum(axis=clique.out)
            if clique.parent < 0:
                total = total * message
                continue
            largest = message.max(axis=tuple(range(message.ndim - 1)))
            up[number] = message / np.where(largest > 0, largest, 1.0)
        return full, up, total

    def _distribute(self, full: list[Any], up: list[Any], passes: BoolArray) -> None:
        """Messages from the roots: multiply what comes from above into the tables that are wanted."""
        for number in reversed(range(len(self.cliques))):
            clique = self.cliques[number]
            for child in clique.children:
                if not passes[child]:
                    continue
                below = self.cliques[child]
                own = [i for axis, i in enumerate(below.scope) if axis not in below.out]
                message = full[number].sum(axis=tuple(axis for axis, i in enumerate(clique.scope) if i not in own))
                sent = up[child]  # what came from there is not sent back; where it was nothing, nothing will come of it
                message = message / np.where(sent > 0, sent, np.inf)
                largest = message.max(axis=tuple(range(message.ndim - 1)))
                message = message / np.where(largest > 0, largest, 1.0)
                shape = [self.sizes[i] if i in own else 1 for i in below.scope]
                full[child] = full[child] * message.reshape(*shape, *message.shape[-2:])

    def _hung(self, scopes: list[tuple[int, ...]], factors: Sequence[Factor]) -> tuple[list[_Clique], dict[int, int]]:
        """Cliques with their tables, children before parents, and the smallest clique of each variable."""
        cells = [math.prod(self.sizes[i] for i in scope) for scope in scopes]
        home = {j: min((c for c, s in enumerate(scopes) if j in s), key=cells.__getitem__) for j in _all(scopes)}
        sets = [set(scope) for scope in scopes]
        tables: list[Any] = [np.ones((*(self.sizes[i] for i in scope), 1)) for scope in scopes]
        for own, table in factors:
            place = min((c for c, s in enumerate(sets) if s.issuperset(own)), key=cells.__getitem__)
            shape = [self.sizes[i] if i in own else 1 for i in scopes[place]]
            tables[place] = tables[place] * table.reshape(*shape, table.shape[-1])
        cliques = [_Clique(scope, table) for scope, table in zip(scopes, tables)]
        for number, clique in enumerate(cliques):
            later = [c for c in range(number + 1, len(cliques)) if sets[number] & sets[c]]
            # the running intersection: one of those to come holds all that is shared with any of them
            shared = set().union(*(sets[number] & sets[c] for c in later))
            clique.parent = next((c for c in later if shared <= sets[c]), -1)
            clique.out = tuple(axis for axis, i in enumerate(clique.scope) if i not in shared)
            if clique.parent >= 0:
                cliques[clique.parent].children.append(number)
        return cliques, home


def _product(table: FloatArray, parts: list[Any]) -> Any:
    """Multiply small tables before large ones, so that the large one is gone through once."""
    result: Any = None
    for part in sorted(parts, key=lambda part: part.size):
        result = part if result is None else result * part
    return table if result is None else table * result


def _spread(message: Any, child: _Clique, clique: _Clique) -> Any:
    """A child's message with an axis for each variable of the clique."""
    own = [i for axis, i in enumerate(child.scope) if axis not in child.out]
    shape = iter(message.shape)
    return message.reshape(*(next(shape) if i in own else 1 for i in clique.scope), *message.shape[-2:])


def _all(scopes: Iterable[tuple[int, ...]]) -> list[int]:
    return sorted({i for scope in scopes for i in scope})


def _scopes(factors: Sequence[Factor], sizes: Sequence[int], n_classes: int) -> list[tuple[int, ...]]:
    """Maximal cliques of a triangulated graph in an order of elimination: least fill first, then least table."""
    near: dict[int, set[int]] = {i: set() for i in _all(scope for scope, _ in factors)}
    for scope, _ in factors:
        for i in scope:
            near[i] |= set(scope) - {i}
    score = {i: _fill(i, near, sizes) for i in near}
    found: list[set[int]] = []
    while near:
        best = min(score, key=score.__getitem__)
        clique = {best, *near[best]}
        cells = math.prod(float(sizes[i]) for i in clique) * n_classes
        if cells > MAX_CELLS:
            raise ValueError(
                f"the network is too densely connected for exact inference: {len(clique)} nodes at once (treewidth "
                f"{len(clique) - 1} or so) make a table of {cells:.3g} numbers over {n_classes} classes, and "
                f"{MAX_CELLS:,} are the most. Ask fewer questions, or leave parents with weak influence out."
            )
        touched = set()
        for i in near[best]:
            near[i] |= clique - {i}
            near[i].discard(best)
            touched |= {i, *near[i]}
        del near[best], score[best]
        score |= {i: _fill(i, near, sizes) for i in touched - {best}}
        found.append(clique)
    found = [c for number, c in enumerate(found) if not any(c <= other for other in found[:number])]
    return _hanging([tuple(sorted(clique)) for clique in found]) or [()]


def _fill(i: int, near: Mapping[int, set[int]], sizes: Sequence[int]) -> tuple[int, float, int]:
    around = near[i]
    missing = sum(len(around - near[a]) - 1 for a in around)
    return missing, math.prod(float(sizes[a]) for a in (i, *around)), i


def _hanging(scopes: list[tuple[int, ...]]) -> list[tuple[int, ...]]:
    """The cliques in an order in which each shares with those to come what one of them holds: a maximal tree."""
    sets = [set(scope) for scope in scopes]
    left, order = set(range(len(scopes))), []
    while left:
        # grown from a root, as Prim does; the largest overlap first makes it a junction tree
        best = dict.fromkeys(left, (0, -1))
        current = min(left)
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
