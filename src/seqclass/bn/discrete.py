"""A discrete Bayesian network that is given rather than learnt, as an observation model."""

from __future__ import annotations

import itertools
import math
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.utils.validation import check_is_fitted

from seqclass._utils.arrays import BoolArray, FloatArray, IntArray, chunks
from seqclass._utils.text import listed, shown
from seqclass.bn._checks import check_codes, check_labels, check_n_outcomes, raise_impossible
from seqclass.bn.base import ObservationModel
from seqclass.bn.network_tables import NetworkTables, read_network

__all__ = ["DiscreteNetwork"]


#: Bytes of what is remembered; beyond it all is forgotten, but for what the last call was about.
MAX_BYTES = 2**27


class RowMemory:
    """Remembers likelihoods and beliefs by row of evidence."""

    def __init__(self, shape: tuple[int, int, int], compute: Callable[[IntArray], tuple[FloatArray, FloatArray]]):
        self.shape, self.compute = shape, compute
        self.most = max(1, MAX_BYTES // (8 * int(np.prod(shape))))
        self.slots: dict[bytes, int] = {}
        self._make(0)

    def find(self, evidence: IntArray) -> tuple[RowMemory, IntArray]:
        """Slot of each row; ``likelihoods[slots]`` and ``beliefs[slots]`` are its answers until the next call."""
        keys = [row.tobytes() for row in evidence]
        new = {key: row for row, key in enumerate(keys) if key not in self.slots}
        if len(self.slots) + len(new) > self.most:
            new = {key: row for row, key in enumerate(keys)}
            self.slots = {}
        if new:
            first = len(self.slots)
            self._grow(first + len(new))
            rows = slice(first, first + len(new))
            self.likelihoods[rows], self.beliefs[rows] = self.compute(evidence[list(new.values())])
            self.slots |= {key: first + at for at, key in enumerate(new)}
        return self, np.array([self.slots[key] for key in keys], dtype=np.intp)

    def _make(self, capacity: int) -> None:
        self.likelihoods: FloatArray = np.empty((capacity, *self.shape))
        self.beliefs: FloatArray = np.empty((capacity, self.shape[2]))

    def _grow(self, needed: int) -> None:
        """Make room, and no more of it than is needed beyond what may be remembered."""
        used, before = len(self.slots), (self.likelihoods, self.beliefs)
        if needed <= len(self.beliefs) <= max(self.most, needed):
            return
        self._make(max(needed, min(2 * len(self.beliefs), self.most), 16))
        self.likelihoods[:used], self.beliefs[:used] = before[0][:used], before[1][:used]


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
    """Marginals of all variables in two passes of messages, given the class and evidence that differs by row."""

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
        """P(variable, class, evidence) of each wanted variable, and P(class, evidence), each row up to a factor."""
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


#: Joint states of the targets, beyond which they are refused.
MAX_CLASSES = 64


@dataclass(repr=False, eq=False)
class DiscreteNetwork(ObservationModel):
    """Exact inference in a Bayesian network that is given: the class is a node, or the joint state of several.

    Any discrete network will do: the target may have parents, and nodes that are neither target nor question stay
    hidden. The features are the questions; any of them may be seen in any order. Inference is by a junction tree,
    batched over rows. Outcome v of a question is the v-th of its states in sorted order.

    Parameters
    ----------
    network : NetworkTables, pgmpy DiscreteBayesianNetwork or path
        The network, or a file of one: see `from_file`.
    target : str or sequence of str
        Node that is the class. Of several the class is the joint state.
    questions : sequence of str, optional
        Nodes that may be asked for, in the order of the columns; by default all but the targets and latent ones.

    Attributes
    ----------
    network_ : NetworkTables
        The network.
    questions_ : list of str
        Node of each feature.
    outcomes_ : list of list of str
        Outcomes of each feature: the states of its node, sorted.
    classes_ : ndarray of shape (n_classes,)
        States of the target, sorted; of several targets texts such as ``"a=yes, b=no"``.
    class_prior_ : ndarray of shape (n_classes,)
        P(class) before anything is known.

    See Also
    --------
    seqclass.SequentialClassifier.from_network : The policy of a network, without data.

    References
    ----------
    .. [1] S. L. Lauritzen and D. J. Spiegelhalter, "Local computations with probabilities on graphical structures and
       their application to expert systems", JRSS B 50, 1988.

    Examples
    --------
    >>> tables = [np.array([0.9, 0.1]), np.array([[0.8, 0.3], [0.2, 0.7]])]
    >>> flu = NetworkTables(["flu", "fever"], [["no", "yes"], ["low", "high"]], [[], [0]], tables)
    >>> model = DiscreteNetwork(flu, "flu").fit()
    >>> model.outcomes_, model.posterior([[0], [-1]]).round(2)
    ([['high', 'low']], array([[0.72, 0.28],
           [0.9 , 0.1 ]]))
    """

    #: What is worked out when it is first needed.
    _cached = ("_tree", "_memory")

    network: Any
    target: Any
    questions: Sequence[str] | None = None

    def fit(
        self, X: Any = None, y: Any = None, sample_weight: Any = None, *, n_outcomes: Any = None
    ) -> DiscreteNetwork:
        """Take the network as it is: nothing is learnt from data, which are only checked against it.

        Parameters
        ----------
        X : array-like of shape (n_rows, n_features), optional
            Outcome codes.
        y : array-like of shape (n_rows,), optional
            Class labels.
        sample_weight : array-like of shape (n_rows,), optional
            Does nothing.
        n_outcomes : int or array-like of shape (n_features,), optional
            Number of outcomes of each feature.

        Returns
        -------
        self

        Raises
        ------
        ValueError
            If a node is unknown, the targets have too many joint states, the network is too densely connected for
            exact inference, or the data are of other features, outcomes or classes.
        """
        self.__dict__ = {name: value for name, value in self.__dict__.items() if name not in self._cached}
        self.network_ = as_tables(self.network)
        self.targets_ = _targets(self.network_, self.target)
        self.questions_ = _questions(self.network_, self.targets_, self.questions, _latent(self.network))
        nodes = [self.network_.number(name) for name in self.questions_]
        self.outcomes_ = [sorted(self.network_.states[j]) for j in nodes]
        self.n_features_in_ = len(nodes)
        self.n_outcomes_ = np.array([len(outcomes) for outcomes in self.outcomes_], dtype=np.intp)
        labels = _labels(self.network_, self.targets_)
        self.classes_, by_label = np.unique(labels, return_index=True)
        self._states = list(itertools.product(*(range(self.network_.sizes[t]) for t in self.targets_)))
        self._states = [self._states[i] for i in by_label.tolist()]
        _, total = self._tree.marginals([], {}, 1)
        self.class_prior_ = np.asarray(total[:, 0] / total[:, 0].sum())
        if X is not None:
            self._check_data(X, y, n_outcomes)
        return self

    @classmethod
    def from_file(cls, path: str | os.PathLike[str], target: Any, questions: Any = None) -> DiscreteNetwork:
        """Read a network from a file, and prepare it; nothing in the file is run.

        Parameters
        ----------
        path : path
            A BIF, XMLBIF (.xml, .xmlbif), XDSL (of GeNIe) or UAI file by its ending, also .gz. Nodes of a UAI file,
            which has no names, are ``x0``, ``x1``, ... and their states ``0``, ``1``, ...
        target, questions
            See `DiscreteNetwork`.

        Returns
        -------
        DiscreteNetwork
            Ready to answer.
        """
        return cls(read_network(path), target, questions).fit()

    def states(self, feature: int) -> list[str]:
        """Names of the outcomes of a feature.

        Parameters
        ----------
        feature : int
            Its number.

        Returns
        -------
        list of str
        """
        check_is_fitted(self)
        return list(self.outcomes_[feature])

    def sample(self, n: int, random_state: Any = None) -> tuple[IntArray, npt.NDArray[Any]]:
        """Draw instances from the network.

        Parameters
        ----------
        n : int
            Number of instances.
        random_state : None, int or numpy generator
            Seed.

        Returns
        -------
        X : ndarray of int of shape (n, n_features)
            Outcome codes.
        y : ndarray of shape (n,)
            Labels.
        """
        check_is_fitted(self)
        drawn = self.network_.sample(n, random_state)
        X = np.stack([self._rank(j)[drawn[:, j]] for j in self._nodes], axis=1) if self._nodes else drawn[:, :0]
        position = {state: i for i, state in enumerate(self._states)}
        return X, self.classes_[[position[tuple(row)] for row in drawn[:, self.targets_].tolist()]]

    def stage_likelihood(self, feature: int, state: Any) -> FloatArray:
        """P(outcome of the feature | what the state has seen, class); like :meth:`likelihood`, unchecked."""
        if (state[:, feature] >= 0).any():
            state = state.copy()
            state[:, feature] = -1
        size, memory = int(self.n_outcomes_[feature]), self._memory
        if len(state) > memory.most:  # they would push one another out: of each that is different this feature alone
            rows, place = np.unique(state, axis=0, return_inverse=True)
            if len(rows) > memory.most:
                return np.asarray(self._computed(rows, [feature])[0][place.reshape(-1), 0, :size])
        memory, slots = self._remembered(state)
        return np.asarray(memory.likelihoods[slots, feature, :size])

    def stage_likelihoods(self, features: IntArray, state: Any) -> FloatArray:
        """P(outcome | what the state has seen, class) of many features at once: two passes of messages serve all."""
        memory, slots = self._remembered(state)
        chosen = np.asarray(features)
        if np.array_equal(chosen, np.arange(self.n_features_in_)):
            return np.asarray(memory.likelihoods[slots])
        return np.asarray(memory.likelihoods[slots[:, None], chosen])

    def _fit(self, X: Any, codes: IntArray, sample_weight: FloatArray | None) -> None:
        raise NotImplementedError  # `fit` learns nothing

    def _likelihood(self, feature: int, evidence: Any) -> FloatArray:
        return self.stage_likelihood(feature, evidence)

    def _posterior(self, evidence: Any) -> FloatArray:
        memory, slots = self._remembered(evidence)
        belief = memory.beliefs[slots]
        impossible = np.flatnonzero(~(belief.sum(axis=1) > 0))
        if impossible.size:
            self._explain(evidence[impossible[0]])
        return np.asarray(belief)

    def _explain(self, row: IntArray) -> None:
        """Raise the error that names the feature whose outcome leaves no class."""
        seen = np.full((1, self.n_features_in_), -1)
        for feature in np.flatnonzero(row >= 0).tolist():
            seen[0, feature] = row[feature]
            if not self._computed(seen)[1].any():
                raise_impossible(feature, int(row[feature]))

    def _check_data(self, X: Any, y: Any, n_outcomes: Any) -> None:
        X = check_codes(X, n_outcomes=self.n_outcomes_, n_features=self.n_features_in_)
        if n_outcomes is not None:
            given = check_n_outcomes(n_outcomes, self.n_features_in_)
            for j in np.flatnonzero(given != self.n_outcomes_)[:1].tolist():
                raise ValueError(
                    f"feature {j} ({self.questions_[j]}) has {given[j]} outcomes in the data and "
                    f"{self.n_outcomes_[j]} states in the network: {listed(self.outcomes_[j])}."
                )
        found = np.unique(check_labels(y, X.shape[0]))
        if found.astype(str).tolist() != self.classes_.tolist():
            raise ValueError(
                f"y holds the classes {listed(found.tolist())} and the network {listed(self.classes_.tolist())}; "
                "they must be the same. Without data use SequentialClassifier.from_network."
            )

    @property
    def _nodes(self) -> list[int]:
        return [self.network_.names.index(name) for name in self.questions_]

    def _rank(self, node: int) -> IntArray:
        """Outcome of each state of a node: its place in sorted order."""
        return np.argsort(np.argsort(np.array(self.network_.states[node])))

    @cached_property
    def _tree(self) -> JunctionTree:
        network, questions = self.network_, self._nodes
        factors = [self._factor(j) for j in network.ancestors([*questions, *self.targets_])]
        return JunctionTree(factors, network.sizes, len(self._states))

    def _factor(self, node: int) -> Factor:
        """Table of a node with its states in order, variables in increasing order and the class, or 1, last."""
        network, axes = self.network_, [node, *self.network_.parents[node]]
        table = network.tables[node]
        for axis, j in enumerate(axes):
            if j not in self.targets_:
                table = table.take(np.argsort(self._rank(j)), axis=axis)
        inside = [axis for axis, j in enumerate(axes) if j in self.targets_]
        rest = sorted((axis for axis in range(len(axes)) if axis not in inside), key=axes.__getitem__)
        table = table.transpose(*inside, *rest)
        scope = tuple(axes[axis] for axis in rest)
        if not inside:
            return scope, table[..., None]
        states = np.array(self._states)
        picked = table[tuple(states[:, self.targets_.index(axes[axis])] for axis in inside)]
        return scope, np.moveaxis(picked, 0, -1)

    @cached_property
    def _memory(self) -> RowMemory:
        shape = (self.n_features_in_, int(self.n_outcomes_.max(initial=1)), len(self.classes_))
        return RowMemory(shape, self._computed)

    def _remembered(self, evidence: Any) -> tuple[RowMemory, IntArray]:
        """Where the answers for each row of evidence stand; computed where they do not yet."""
        return self._memory.find(np.ascontiguousarray(evidence, dtype=self._dtype))

    @property
    def _dtype(self) -> Any:
        return np.min_scalar_type(-int(self.n_outcomes_.max(initial=1)))

    def _computed(self, evidence: IntArray, wanted: Sequence[int] | None = None) -> tuple[FloatArray, FloatArray]:
        """P(outcome | evidence, class) of features, by default all, and P(class | evidence), 0 where impossible."""
        n, nodes, tree = len(evidence), self._nodes, self._tree
        wanted = range(len(nodes)) if wanted is None else wanted
        sizes, n_classes = self.n_outcomes_[list(wanted)].tolist(), len(self.classes_)
        likelihoods = np.zeros((n, len(sizes), max(sizes, default=1), n_classes))
        beliefs = np.zeros((n, n_classes))
        for rows in tree.chunk(n):
            some = evidence[rows]
            known = {nodes[k]: some[:, k] for k in np.flatnonzero((some >= 0).any(axis=0)).tolist()}
            marginals, total = tree.marginals([nodes[k] for k in wanted], known, len(some))
            for k, (size, joint) in enumerate(zip(sizes, marginals)):
                of_class = joint.sum(axis=0)
                # where the evidence excludes the class any distribution will do
                table = np.where(of_class > 0, joint / np.where(of_class > 0, of_class, 1.0), 1.0 / size)
                likelihoods[rows, k, :size] = table.transpose(2, 0, 1)
            sums = total.sum(axis=0)
            beliefs[rows] = (total / np.where(sums > 0, sums, 1.0)).T
        return likelihoods, beliefs

    def __getstate__(self) -> dict[str, Any]:
        state = super().__getstate__()
        return {name: value for name, value in state.items() if name not in self._cached}


def as_tables(network: Any) -> NetworkTables:
    """Take a network in any form that is known."""
    if isinstance(network, NetworkTables):
        return network
    if isinstance(network, (str, os.PathLike)):
        return read_network(network)
    return NetworkTables.from_pgmpy(network)


def _latent(network: Any) -> set[str]:
    return {str(node) for node in getattr(network, "latents", ())}


def _targets(network: NetworkTables, target: Any) -> list[int]:
    names = [target] if isinstance(target, str) else list(target)
    if not names:
        raise ValueError("target must name a node, or several.")
    found = [network.number(str(name), "target") for name in names]
    if len(set(found)) < len(found):
        raise ValueError(f"target names a node twice: {listed(names)}.")
    n_classes = math.prod(network.sizes[j] for j in found)
    if n_classes > MAX_CLASSES:
        raise ValueError(
            f"the targets {listed(names)} have {n_classes:,} joint states, and {MAX_CLASSES} are the most: pursue "
            "fewer at once, or merge states."
        )
    if n_classes < 2:
        raise ValueError(f"the target {shown(names[0])} has a single state; there is nothing to find out.")
    return found


def _questions(network: NetworkTables, targets: list[int], questions: Any, latent: set[str]) -> list[str]:
    if questions is None:
        found = [name for j, name in enumerate(network.names) if j not in targets and name not in latent]
    else:
        found = [network.names[network.number(str(name), "questions")] for name in questions]
    wrong = [name for name in found if network.names.index(name) in targets]
    if wrong:
        raise ValueError(f"questions holds the target {shown(wrong[0])}, which is what is to be found out.")
    if len(set(found)) < len(found):
        raise ValueError(f"questions names a node twice: {listed(found)}.")
    if not found:
        raise ValueError("there is no question: the network has no node beside the targets that may be asked for.")
    return found


def _labels(network: NetworkTables, targets: list[int]) -> npt.NDArray[Any]:
    """Label of each joint state of the targets, the last target's states first."""
    if len(targets) == 1:
        return np.array(network.states[targets[0]])
    states = itertools.product(*(network.states[t] for t in targets))
    names = [network.names[t] for t in targets]
    return np.array([", ".join(f"{name}={state}" for name, state in zip(names, row)) for row in states])
