"""Tree networks: every feature depends on the class and on at most one other feature, or on a few."""

from __future__ import annotations

from collections.abc import Callable, Container, Hashable, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass
from functools import cached_property
from time import perf_counter
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.utils.validation import check_is_fitted

from seqclass._utils.arrays import FloatArray, IntArray, as_generator, chunks, log_or_infinite, smallest_int
from seqclass._utils.stored import check_array, require
from seqclass._utils.validation import check_choice, check_integer, check_real
from seqclass.bn import _pgmpy
from seqclass.bn._checks import Codes, check_outcome, raise_impossible
from seqclass.bn._junction import Columns, JunctionTree, network_factor
from seqclass.bn._messages import (
    Elimination,
    Forest,
    NearestAncestor,
    PairTables,
    PathTables,
    all_conditionals,
    parent_array,
)
from seqclass.bn._parameters import (
    check_classes,
    check_cpds,
    check_feature_names,
    check_state_names,
    edge_information,
    set_fitted_attributes,
)
from seqclass.bn._structure import CLASS_NODE, Learner, ancestors, sample_cases
from seqclass.bn._tables import temper_family
from seqclass.bn.base import CodedChunks, ObservationModel
from seqclass.bn.ordering import check_order


def pack_graph(structure: Any) -> Any:
    """Turn a networkx graph into plain data; leave a name as it is."""
    if not hasattr(structure, "is_directed"):
        return structure
    return {
        "directed": bool(structure.is_directed()),
        "nodes": [_plain_node(node) for node in structure.nodes],
        "edges": [(_plain_node(edge[0]), _plain_node(edge[1])) for edge in structure.edges],
    }


def unpack_graph(structure: Any) -> Any:
    """Undo `pack_graph`."""
    if not isinstance(structure, dict):
        return structure
    import networkx as nx

    graph = nx.DiGraph() if structure["directed"] else nx.Graph()
    graph.add_nodes_from(structure["nodes"])
    graph.add_edges_from(tuple(edge) for edge in structure["edges"])
    return graph


def _plain_node(node: Any) -> Any:
    return node if isinstance(node, str) else int(node)


def moral_neighbours(parents: Sequence[IntArray]) -> list[list[int]]:
    """Neighbours of each feature: parents, children, and the children's other parents."""
    joined: list[set[int]] = [set() for _ in parents]
    for child, above in enumerate(parents):
        family = [child, *above.tolist()]
        for j in family:
            joined[j].update(family)
    for j, around in enumerate(joined):
        around.discard(j)
    return [sorted(around) for around in joined]


def boundaries(order: Sequence[int], neighbours: Sequence[Sequence[int]]) -> list[IntArray]:
    """For each stage, the acquired features that a path of unacquired ones joins to a feature still in the order."""
    stage = {feature: k for k, feature in enumerate(order)}
    visited: set[int] = set()
    boundary: set[int] = set()
    result: list[IntArray] = []
    # from the last stage back: a feature that returns to the open ones joins its neighbours to what is to come
    for k in range(len(order) - 1, -1, -1):
        boundary.discard(order[k])
        stack = [order[k]]
        while stack:
            for j in neighbours[stack.pop()]:
                if j in stage:
                    if stage[j] < k:
                        boundary.add(j)
                elif j not in visited:
                    visited.add(j)
                    stack.append(j)
        result.append(np.array(sorted(boundary), dtype=np.intp))
    return result[::-1]


def nearest_acquired(order: Sequence[int], nearest: Callable[[int, Container[int]], int]) -> list[IntArray]:
    """For each stage, the acquired features that are the nearest acquired ancestor of a feature at its stage."""
    stage = {feature: k for k, feature in enumerate(order)}
    above: list[int] = []
    known: set[int] = set()
    for feature in order:
        above.append(nearest(feature, known))
        known.add(feature)
    wanted: set[int] = set()
    result: list[IntArray] = []
    for k in range(len(order) - 1, -1, -1):
        if above[k] >= 0:
            wanted.add(above[k])
        wanted = {j for j in wanted if stage[j] < k}
        result.append(np.array(sorted(wanted), dtype=np.intp))
    return result[::-1]


@dataclass(repr=False, eq=False, slots=True)
class NetworkState:
    """Outcomes of the features that were asked for, one column each."""

    features: tuple[int, ...]
    codes: IntArray
    hidden: frozenset[int] = frozenset()

    def __len__(self) -> int:
        return int(self.codes.shape[1])

    def __getitem__(self, rows: Any) -> NetworkState:
        if isinstance(rows, np.ndarray) and rows.dtype.kind == "i":  # take is quicker
            return NetworkState(self.features, self.codes.take(rows, axis=1), self.hidden)
        return NetworkState(self.features, self.codes[:, rows], self.hidden)

    def columns(self, without: int = -1) -> Columns:
        """Outcomes by feature, leaving one feature out."""
        return {j: column for j, column in zip(self.features, self.codes) if j != without}

    @classmethod
    def concatenate(cls, states: Sequence[NetworkState]) -> NetworkState:
        """The rows of several states, one after the other; what one of them does not hold is unknown there."""
        features = tuple(dict.fromkeys(j for state in states for j in state.features))
        codes = np.full((len(features), sum(len(state) for state in states)), -1, dtype=states[0].codes.dtype)
        place = {j: at for at, j in enumerate(features)}
        start = 0
        for state in states:
            codes[[place[j] for j in state.features], start : start + len(state)] = state.codes
            start += len(state)
        # a feature that is hidden in some rows only bears on nothing there, so it may as well be unknown
        return cls(features, codes, frozenset.intersection(*(state.hidden for state in states)))

    def put(self, feature: int, outcome: IntArray) -> NetworkState:
        """State in which a feature showed ``outcome``; where that is -1, what is known of it stays."""
        if not (outcome >= 0).any():
            return self
        kept = [at for at, j in enumerate(self.features) if j != feature]
        codes = np.empty((len(kept) + 1, len(self)), dtype=self.codes.dtype)
        codes[-1] = outcome
        if len(kept) < len(self.features):
            before = self.codes[self.features.index(feature)]
            codes[-1] = np.where(outcome >= 0, outcome, before)
        codes[:-1] = self.codes if len(kept) == len(self.features) else self.codes[kept]
        return NetworkState((*(self.features[at] for at in kept), feature), codes, self.hidden - {feature})

    def forget_hidden(self, feature: int, neighbours: Sequence[Sequence[int]]) -> NetworkState:
        """Drop features whose neighbours are all known in all rows: they bear on nothing that is still open."""
        position = {j: at for at, j in enumerate(self.features)}
        known: dict[int, bool] = {}

        def is_known(j: int) -> bool:
            if j not in known:
                known[j] = j in self.hidden or (j in position and bool((self.codes[position[j]] >= 0).all()))
            return known[j]

        if not is_known(feature):
            return self
        near = [j for j in (feature, *neighbours[feature]) if j in position]
        gone = {j for j in near if all(is_known(i) for i in (j, *neighbours[j]))}
        if not gone:
            return self
        kept = [at for at, j in enumerate(self.features) if j not in gone]
        return NetworkState(tuple(self.features[at] for at in kept), self.codes[kept], self.hidden | gone)


def _columns(evidence: Any) -> Columns:
    seen = np.flatnonzero((evidence >= 0).any(axis=0))
    return {int(j): column for j, column in zip(seen, np.ascontiguousarray(evidence[:, seen].T))}


_STRUCTURES = ("tree", "forest", "line", "random", "clique")


@dataclass(repr=False, eq=False)
class TreeNetwork(ObservationModel):
    """Bayesian network over discrete features in which the class is a parent of every feature.

    By default the features form the tree that shares most information given the class ([2]_, tree-augmented naive
    Bayes): the maximum spanning tree over I(F_i; F_j | class), directed away from the feature that says most about the
    class. Its tables are P(a | b, c) = (N_abc + alpha) / (N_bc + alpha V) ([1]_, section V-A); missing cells are left
    out of the counts they would enter. Inference is exact for any evidence, by message passing.

    Parameters
    ----------
    structure : {"tree", "forest", "line", "random", "clique"} or networkx graph
        - ``"tree"``: the maximum spanning tree;
        - ``"forest"``: the same without the edges that do not pay: an edge stays where parent and class predict the
          feature better than the class alone, each training row being predicted from all others;
        - ``"line"``: features by falling information about the class, each below the one before;
        - ``"random"``: random order, random edges along it, two feature parents each on average;
        - ``"clique"``: features by falling information, each below all before.

        A graph has the nodes 0..K-1 and perhaps ``CLASS_NODE``. A directed one is taken as it is, parent to child; an
        undirected one must be a tree or a forest.
    alpha : float
        Pseudo-count of every outcome; 0 gives plain frequencies.
    smoothing : {"laplace", "backoff"} or float
        ``"laplace"``: alpha is added to every cell. A number s: tables fall back on the class,
        P(a | b, c) = (N_abc + s P(a | c)) / (N_bc + s), where P(a | c) is smoothed by alpha. ``"backoff"``: s is
        chosen for each feature among 0.5, 1, 2, ..., 256 and infinity (independence of the parent), so that the
        training rows are predicted best, each from all others. With few rows the network then comes close to naive
        Bayes instead of believing tables that hold a handful of counts.
    conditioning : {"auto", "full", "ancestor"}
        What likelihoods are conditioned on. ``"full"``: on everything acquired. ``"ancestor"``: on the nearest
        acquired ancestor only, as published ([1]_, section V-A). ``"auto"`` is ``"full"`` for trees and forests, and
        ``"ancestor"`` otherwise, where full conditioning takes variable elimination, which is slow and, on dense
        graphs, impossible.
    random_state : None, int or numpy generator
        Draws ``structure="random"``.

    Attributes
    ----------
    classes_, n_features_in_, n_outcomes_
        As in `NaiveBayes`; K and V_j below are the numbers of features and of outcomes.
    class_prior_ : ndarray of shape (n_classes,)
        Weighted class frequencies.
    parents_ : list of ndarray of int, length K
        Feature parents of each feature in increasing order; the class is not listed.
    cpds_ : list of ndarray or None, length K
        P(outcome | outcomes of the parents, class) of shape (V_j, V_parent, ..., n_classes). None where several
        parents make the table too large to keep.
    edge_weights_ : ndarray of shape (n_edges,)
        I(child; parent | class) in nats, in the order of the feature edges of ``graph_``; NaN where unknown.
    is_forest_ : bool
        Whether no feature has more than one feature parent.
    conditioning_ : str
        ``"full"`` or ``"ancestor"``.
    strengths_ : ndarray of shape (K,)
        With backoff, s of each feature; NaN for a feature without parents.
    pair_counts_ : ndarray of shape (S, S, n_classes) or None
        Joint counts of all outcomes of all features (S in all), where ancestors need them.
    unit_ : float
        Mean weight of a training row.
    timings_ : dict
        Seconds taken by ``structure`` and ``parameters``.
    state_names_, feature_names_ : dict, list or None
        Names of outcomes and features, if the network came with such.

    References
    ----------
    .. [1] Y. W. Liyanage, D.-S. Zois, C. Chelmis, "Dynamic instance-wise joint feature selection and classification",
       IEEE Transactions on Artificial Intelligence, 2021.
    .. [2] N. Friedman, D. Geiger, M. Goldszmidt, "Bayesian network classifiers", Machine Learning 29, 1997.

    Examples
    --------
    Feature 1 repeats feature 0, so that seeing both says hardly more than seeing one.

    >>> X = np.array([[0, 0, 1], [0, 0, 0], [1, 1, 1], [1, 1, 0]] * 50)
    >>> y = np.array([0, 0, 1, 1] * 50)
    >>> y[::7] = 1 - y[::7]
    >>> model = TreeNetwork().fit(X, y)
    >>> sorted(model.graph_.edges(0))
    [(0, 1), (0, 2)]
    >>> model.posterior([[1, -1, -1], [1, 1, -1]]).round(2)
    array([[0.15, 0.85],
           [0.14, 0.86]])
    """

    #: What is worked out from the fitted attributes when it is first needed.
    _learns_sparse = True
    _cached = ("graph_", "_edges", "_engine", "_forest", "_neighbours")

    structure: Any = "tree"
    _: KW_ONLY
    alpha: float = 1.0
    smoothing: str | float = "laplace"
    conditioning: str = "auto"
    random_state: Any = 0

    @classmethod
    def from_cpds(
        cls,
        classes: npt.ArrayLike,
        class_prior: npt.ArrayLike,
        parents: Sequence[npt.ArrayLike],
        cpds: Sequence[npt.ArrayLike],
        *,
        conditioning: str = "auto",
        state_names: Mapping[int, Sequence[Any]] | None = None,
        feature_names: Sequence[Any] | None = None,
    ) -> TreeNetwork:
        """Make a fitted network from its tables.

        Parameters
        ----------
        classes : array-like of shape (n_classes,)
            Labels, sorted and distinct.
        class_prior : array-like of shape (n_classes,)
            P(class).
        parents : sequence of array-like of int, length K
            Feature parents of each feature.
        cpds : sequence of array-like, length K
            P(outcome | outcomes of the parents, class), of shape (V_j, V_parent, ..., n_classes); the parents' axes
            are in the order of ``parents``.
        conditioning : {"auto", "full", "ancestor"}
            As in the constructor; ``"auto"`` is ``"full"`` here, as ancestors of a feature with several parents would
            need counts.
        state_names : mapping of int to sequence, optional
            Names of the outcomes of features.
        feature_names : sequence of length K, optional
            Names of the features.

        Returns
        -------
        TreeNetwork

        Raises
        ------
        ValueError
            If shapes disagree, a table does not sum to one, there is a cycle, or names do not fit.

        Examples
        --------
        >>> table = [[[0.9, 0.2], [0.1, 0.5]], [[0.1, 0.8], [0.9, 0.5]]]
        >>> model = TreeNetwork.from_cpds(["a", "b"], [0.5, 0.5], [[], [0]], [[[0.5, 0.3], [0.5, 0.7]], table])
        >>> model.likelihood(1, [[0, -1]])
        array([[[0.9, 0.2],
                [0.1, 0.8]]])
        """
        model = cls(conditioning=conditioning)
        check_choice(conditioning, "conditioning", ("auto", "full", "ancestor"))
        labels = check_classes(classes)
        model.parents_, model.cpds_ = check_cpds(parents, cpds, labels)
        n_outcomes = np.array([len(cpd) for cpd in model.cpds_], dtype=np.intp)
        set_fitted_attributes(model, labels, class_prior, n_outcomes, state_names, feature_names)
        model.is_forest_ = all(len(p) < 2 for p in model.parents_)
        model.pair_counts_, model.unit_ = None, 1.0
        model.conditioning_ = "full" if conditioning == "auto" else conditioning
        if model.conditioning_ == "ancestor" and not model.is_forest_:
            raise ValueError("conditioning='ancestor' needs counts where features have several parents: use 'full'.")
        model.edge_weights_ = edge_information(model.parents_, model.cpds_, model.class_prior_)
        return model

    @classmethod
    def from_pgmpy(
        cls,
        network: Any,
        class_node: Hashable = "class",
        feature_names: Sequence[Hashable] | None = None,
        conditioning: str = "auto",
    ) -> TreeNetwork:
        """Make a fitted model of a pgmpy network.

        Parameters
        ----------
        network : pgmpy.models.DiscreteBayesianNetwork
            With tables. The class must have no parents. A feature need not depend on the class directly.
        class_node : hashable
            Which node is the class.
        feature_names : sequence, optional
            All other nodes, in the order that the columns of evidence are to have; by default that of
            ``network.nodes``.
        conditioning : {"auto", "full", "ancestor"}
            As in :meth:`from_cpds`.

        Returns
        -------
        TreeNetwork
            Outcome v of a feature is the v-th state of its node: ``state_names_``. The states of the class, sorted,
            are ``classes_``.

        Raises
        ------
        TypeError
            If it is no discrete Bayesian network.
        ValueError
            If tables are missing or inconsistent, or a part is not supported: a class with parents, latent nodes.

        Examples
        --------
        >>> model = TreeNetwork().fit([[0, 0], [1, 1], [1, 0]], [0, 1, 1])
        >>> again = TreeNetwork.from_pgmpy(model.to_pgmpy(["fever", "cough"], "flu"), "flu", ["fever", "cough"])
        >>> bool(np.allclose(again.posterior([[1, -1]]), model.posterior([[1, -1]])))
        True
        """
        return cls.from_cpds(**_pgmpy.network_of(network, class_node, feature_names), conditioning=conditioning)

    def to_pgmpy(
        self,
        feature_names: Sequence[Hashable] | None = None,
        class_name: Hashable = "class",
        state_names: Mapping[Any, Sequence[Any]] | None = None,
        plain_names: bool = False,
    ) -> Any:
        """Give the network, with its tables, to pgmpy.

        Parameters
        ----------
        feature_names : sequence of length K, optional
            Nodes of the features; by default ``feature_names_``, else ``x0``, ``x1``, ...
        class_name : hashable
            Node of the class.
        state_names : mapping, optional
            Names of the outcomes of a feature, by its name or number; by default ``state_names_``, else 0, 1, ...
            The states of the class are ``classes_``.
        plain_names : bool
            Whether to reduce all names to letters, digits and underscores, as file formats want them.

        Returns
        -------
        pgmpy.models.DiscreteBayesianNetwork

        Raises
        ------
        ValueError
            If names are missing or twice the same, or the table of a feature was too large to keep.

        Notes
        -----
        Files go through pgmpy: ``model.to_pgmpy(plain_names=True).save("net.xmlbif", filetype="xmlbif")`` (or
        ``"bif"``), and back by ``TreeNetwork.from_pgmpy(DiscreteBayesianNetwork.load("net.xmlbif",
        filetype="xmlbif"), feature_names=[...])``. Class labels and states come back as strings, and nodes in the
        file's order: give ``feature_names`` to have the columns in yours.

        Examples
        --------
        >>> model = TreeNetwork().fit([[0, 0], [0, 0], [1, 1], [0, 1]], [0, 0, 1, 1])
        >>> sorted(model.to_pgmpy(["fever", "cough"], "flu").edges)
        [('cough', 'fever'), ('flu', 'cough'), ('flu', 'fever')]
        """
        names = _pgmpy.names_and_states(self, feature_names, state_names, plain_names, [class_name])
        return _pgmpy.to_pgmpy(self, *names)

    @cached_property
    def graph_(self) -> Any:
        """The network as a networkx.DiGraph.

        Nodes are the feature numbers and ``CLASS_NODE``, edges run from parent to child and from the class to every
        feature; the edges between features carry their ``weight``.
        """
        import networkx as nx

        graph = nx.DiGraph()
        graph.add_nodes_from(range(self.n_features_in_))
        graph.add_node(CLASS_NODE)
        weights = np.asarray(self.edge_weights_, dtype=np.float64).tolist()
        graph.add_weighted_edges_from((*edge, weight) for edge, weight in zip(self._edges.tolist(), weights))
        graph.add_edges_from((CLASS_NODE, j) for j in range(self.n_features_in_))
        return graph

    def start(self, n: int) -> NetworkState:
        """State of ``n`` instances: the outcomes that were seen and still matter."""
        check_is_fitted(self)
        dtype = smallest_int(int(self.n_outcomes_.max(initial=1)) - 1)
        return NetworkState((), np.empty((0, check_integer(n, "n", 0)), dtype=dtype))

    def stage_likelihood(self, feature: int, state: Any) -> FloatArray:
        """P(outcome of the feature | what the state has seen, class); like :meth:`likelihood`, unchecked."""
        likelihood: FloatArray = self._engine.conditional(feature, state.columns(without=feature), len(state))
        return likelihood

    def advance(self, feature: int, state: Any, outcome: npt.ArrayLike) -> NetworkState:
        """State after the feature's outcome was seen; see :meth:`ObservationModel.advance`."""
        seen: NetworkState = state.put(int(feature), check_outcome(feature, outcome, int(self.n_outcomes_[feature])))
        if not self.is_forest_:
            return seen
        return seen.forget_hidden(int(feature), self._neighbours)

    def stage_likelihoods(self, features: IntArray, state: Any) -> FloatArray:
        """P(outcome | what the state has seen, class) of many features at once; two passes of messages in a forest."""
        if self._forest is not None:
            return all_conditionals(self._forest, state.columns(), len(state))[:, features]
        return super().stage_likelihoods(features, state)

    def join(self, states: Sequence[Any]) -> NetworkState:
        """Put the rows of several states together, one after the other."""
        return NetworkState.concatenate(states)

    def likelihoods(self, evidence: Any) -> FloatArray:
        """P(outcome | evidence on the other features, class) of every feature at once.

        In trees and forests two passes of messages serve all features.

        Parameters
        ----------
        evidence : array-like of shape (n_rows, K)
            Outcome codes, -1 where not acquired.

        Returns
        -------
        ndarray of shape (n_rows, K, V_max, n_classes)
            Zero beyond V_j of a feature.

        Examples
        --------
        >>> from seqclass.bn import TreeNetwork
        >>> model = TreeNetwork().fit([[0, 0], [1, 1], [1, 0]], [0, 1, 1])
        >>> model.likelihoods([[0, -1]]).shape
        (1, 2, 2, 2)
        """
        check_is_fitted(self)
        evidence = self._check_evidence(evidence)
        columns = _columns(evidence)
        if self._forest is not None:
            return all_conditionals(self._forest, columns, len(evidence))
        shape = (len(evidence), self.n_features_in_, int(self.n_outcomes_.max(initial=1)), len(self.classes_))
        result = np.zeros(shape)
        for j, V in enumerate(self.n_outcomes_):
            others = {i: column for i, column in columns.items() if i != j}
            result[:, j, :V] = self._engine.conditional(j, others, len(evidence))
        return result

    def context_features(self, order: npt.ArrayLike) -> list[IntArray]:
        """Features whose outcomes bear on what is still to come, for each stage of an order.

        Full conditioning: those that a path of features not yet acquired joins to one still in the order; in graphs
        with several parents joined means adjacent or parents of the same feature, which may list more than matter.
        Ancestors: those that are the nearest acquired ancestor of a feature at its stage.

        Parameters
        ----------
        order
            As in :meth:`ObservationModel.context_features`.

        Returns
        -------
        list of ndarray of int
            As there, in increasing order.

        Examples
        --------
        In the line 0 - 1 - 2, once 1 is acquired 0 says nothing about 2.

        >>> from seqclass.bn import TreeNetwork
        >>> model = TreeNetwork("line").fit([[0, 0, 0], [1, 1, 1], [1, 0, 0]], [0, 1, 1])
        >>> [features.tolist() for features in model.context_features([1, 0, 2])]
        [[], [1], [1]]
        """
        check_is_fitted(self)
        wanted = check_order(order, self.n_features_in_).tolist() if np.size(order) else []
        if self.conditioning_ == "ancestor":
            return nearest_acquired(wanted, self._engine.nearest)
        return boundaries(wanted, self._neighbours)

    def cliques(self, features: npt.ArrayLike) -> list[tuple[tuple[int, ...], int, FloatArray]] | None:
        """Tables by cliques of variables, of some features and what is above them; None by ancestors, or too large."""
        check_is_fitted(self)
        if self.conditioning_ != "full" or any(cpd is None for cpd in self.cpds_):
            return None
        chosen = np.asarray(features).tolist()
        above = ancestors(chosen, self.parents_)
        factors = [network_factor(j, self.parents_[j].tolist(), self.cpds_[j]) for j in above]
        try:
            return JunctionTree(factors, self.n_outcomes_.tolist(), len(self.classes_), 2**20).tables(chosen)
        except ValueError:
            return None

    def sample(self, n: int, random_state: Any = None) -> tuple[IntArray, npt.NDArray[Any]]:
        """Draw ``n`` instances from the model: outcome codes and labels; see `DiscreteNetwork.sample`."""
        check_is_fitted(self)
        n = check_integer(n, "n", 0)
        X, codes = sample_cases(self.class_prior_, self.parents_, self.cpds_, n, as_generator(random_state))
        return X, self.classes_[codes]

    @cached_property
    def _edges(self) -> IntArray:
        """Feature edges (parent, child) in the order of ``graph_``."""
        edges = [(int(parent), child) for child, above in enumerate(self.parents_) for parent in above]
        return np.array(sorted(edges), dtype=np.intp).reshape(-1, 2)

    @cached_property
    def _forest(self) -> Forest | None:
        """What answers for all features at once, by two passes of messages; None where each is asked by itself."""
        whole = self.is_forest_ and self.conditioning_ == "full"
        return Forest(parent_array(self.parents_), self.cpds_) if whole else None

    @cached_property
    def _engine(self) -> Any:
        """What answers queries: ``conditional(feature, columns, n)`` and ``log_evidence(columns, n)``."""
        if self._forest is not None:
            return self._forest
        if self.is_forest_:
            return NearestAncestor(PathTables(Forest(parent_array(self.parents_), self.cpds_)))
        if self.conditioning_ == "full":
            return Elimination(self.parents_, self.cpds_)
        assert self.pair_counts_ is not None
        smoothing = (self.alpha, self.smoothing, self.unit_)
        return NearestAncestor(PairTables(self.parents_, self.n_outcomes_, self.pair_counts_, *smoothing))

    @cached_property
    def _neighbours(self) -> list[list[int]]:
        return moral_neighbours(self.parents_)

    def _likelihood(self, feature: int, evidence: Any) -> FloatArray:
        likelihood: FloatArray = self._engine.conditional(feature, _columns(evidence), len(evidence))
        return likelihood

    def _posterior(self, evidence: Any) -> FloatArray:
        belief = np.empty((len(evidence), len(self.classes_)))
        for rows in chunks(len(evidence), 8.0 * self.n_features_in_ + 64.0 * len(self.classes_)):
            columns, n = _columns(evidence[rows]), rows.stop - rows.start
            joint = np.repeat(log_or_infinite(self.class_prior_)[:, None], n, axis=1)
            if columns:
                joint += self._engine.log_evidence(columns, n)
            largest = joint.max(axis=0)
            if np.isneginf(largest).any():
                self._explain_impossible(evidence[rows][[int(np.argmin(largest))]])
            joint = np.exp(joint - largest)
            belief[rows] = (joint / joint.sum(axis=0)).T
        return belief

    def _explain_impossible(self, evidence: Any) -> None:
        """Raise the error that names the feature whose outcome leaves no class."""
        possible = self.class_prior_ > 0
        seen: Columns = {}
        for feature, column in _columns(evidence).items():
            seen[feature] = column
            possible = possible & ~np.isneginf(self._engine.log_evidence(seen, 1)[:, 0])
            if not possible.any():
                raise_impossible(feature, int(column[0]))

    def __getstate__(self) -> dict[str, Any]:
        state = {name: value for name, value in super().__getstate__().items() if name not in self._cached}
        return state | {"structure": pack_graph(self.structure)}

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__(state | {"structure": unpack_graph(state["structure"])})

    def _fit(self, X: Codes, codes: IntArray, sample_weight: FloatArray | None) -> None:
        self._learn(Learner, X, codes, sample_weight)

    def _fit_chunks(self, chunks: CodedChunks) -> None:
        self._learn(Learner.from_chunks, chunks)

    def _learn(self, learn: Callable[..., Learner], *rows: Any) -> None:
        self._check_settings()
        began = perf_counter()
        learner = learn(*rows, self.n_outcomes_, len(self.classes_), self.alpha, self.smoothing)
        for name in (*self._cached, "strengths_"):
            self.__dict__.pop(name, None)
        self.parents_ = learner.parents(self.structure, as_generator(self.random_state))
        self.is_forest_ = all(len(p) < 2 for p in self.parents_)
        automatic = "full" if self.is_forest_ else "ancestor"
        self.conditioning_ = automatic if self.conditioning == "auto" else self.conditioning
        searched_at = perf_counter()
        second_order = self.conditioning_ == "ancestor" and not self.is_forest_
        self.pair_counts_ = learner.pair_counts() if second_order else None
        self.cpds_, self.edge_weights_, strengths = learner.tables(self.parents_, self._edges)
        if self.smoothing != "laplace":
            self.strengths_ = strengths
        self.unit_ = learner.unit
        self.timings_ = {"structure": searched_at - began, "parameters": perf_counter() - searched_at}
        self.state_names_: dict[int, list[Any]] | None = None
        self.feature_names_: list[Any] | None = None

    def _temper(self, temperature: FloatArray) -> None:
        if self.conditioning_ != "full" or any(cpd is None for cpd in self.cpds_):
            raise TypeError(
                "a TreeNetwork with ancestors in place of parents has no tables to flatten, and cannot be calibrated: "
                'give conditioning="full" and a tree.'
            )
        for name in self._cached:
            self.__dict__.pop(name, None)
        self.cpds_ = [temper_family(cpd, self.class_prior_, T) for cpd, T in zip(self.cpds_, temperature.tolist())]
        self.edge_weights_ = edge_information(self.parents_, self.cpds_, self.class_prior_)

    def _check_settings(self) -> None:
        check_real(self.alpha, "alpha", 0)
        check_choice(self.conditioning, "conditioning", ("auto", "full", "ancestor"))
        if isinstance(self.structure, str):
            check_choice(self.structure, "structure", _STRUCTURES)
        if isinstance(self.smoothing, str):
            check_choice(self.smoothing, "smoothing", ("laplace", "backoff"))
        elif check_real(self.smoothing, "smoothing", 0) == 0:
            raise ValueError("smoothing must be positive; for plain frequencies use smoothing='laplace' with alpha=0.")

    def _check_stored_fit(self) -> None:
        parents, cpds = self.parents_, self.cpds_
        for feature, members in enumerate(parents):
            check_array(members, f"parents of feature {feature}", "iu", None)
        if all(cpd is not None for cpd in cpds):
            again, tables = check_cpds(parents, cpds, self.classes_)
            require(all(np.array_equal(a, b) for a, b in zip(parents, again)), "parents_ are not sorted")
            require(all(check_array(c, "a cpd", "f", *t.shape) is c for c, t in zip(cpds, tables)), "cpds_ are wrong")
            require([len(cpd) for cpd in cpds] == self.n_outcomes_.tolist(), "cpds_ have other outcomes")
        require(self.is_forest_ is all(len(members) < 2 for members in parents), "is_forest_ is wrong")
        require(np.shape(self.edge_weights_) == (sum(map(len, parents)),), "edge_weights_ are of other edges")
        require(self.conditioning_ in ("full", "ancestor"), "conditioning_ is wrong")
        require(float(self.unit_) > 0, "unit_ is wrong")
        check_state_names(self.state_names_, self.n_outcomes_)
        check_feature_names(self.feature_names_, self.n_features_in_)
