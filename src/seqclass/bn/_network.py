"""Queries to a fitted network over the features and the class."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.utils.validation import check_is_fitted

from seqclass._arrays import FloatArray, IntArray, as_generator, chunks, smallest_int
from seqclass._validation import check_integer
from seqclass.bn._base import ObservationModel
from seqclass.bn._checks import check_outcome, raise_impossible
from seqclass.bn._elimination import Elimination
from seqclass.bn._graphs import pack_graph, unpack_graph
from seqclass.bn._messages import Forest, parent_array
from seqclass.bn._nearest import NearestAncestor, PairTables, PathTables
from seqclass.bn._rows import Columns
from seqclass.bn._sampling import draw
from seqclass.bn._separation import boundaries, check_stages, moral_neighbours, shadowed
from seqclass.bn._state import NetworkState
from seqclass.bn._structure import CLASS_NODE
from seqclass.bn._tables import log_table
from seqclass.bn._two_pass import all_conditionals


class Network(ObservationModel):
    """Inference in a network whose class is a parent of every feature.

    A subclass sets, beside what every `ObservationModel` has: ``parents_``, ``cpds_``, ``edge_weights_``,
    ``is_forest_`` and ``conditioning_``; for ancestors in graphs where features have several parents also ``alpha``,
    ``smoothing``, ``pair_counts_`` and ``unit_``. See `TreeNetwork` for what they hold.
    """

    parents_: list[IntArray]
    cpds_: list[Any]
    edge_weights_: FloatArray
    is_forest_: bool
    conditioning_: str
    alpha: float
    smoothing: str | float
    unit_: float
    pair_counts_: FloatArray | None
    state_names_: dict[int, list[Any]] | None
    feature_names_: list[Any] | None
    #: What is worked out from the fitted attributes when it is first needed.
    _cached = ("graph_", "_edges", "_engine", "_neighbours")

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
        return NetworkState.empty(check_integer(n, "n", 0), smallest_int(int(self.n_outcomes_.max(initial=1)) - 1))

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
        if isinstance(self._engine, Forest):
            return all_conditionals(self._engine, state.columns(), len(state))[:, features]
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
        if isinstance(self._engine, Forest):
            return all_conditionals(self._engine, columns, len(evidence))
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
        order : array-like of int of shape (n_stages,)
            Features in the order in which they are acquired.

        Returns
        -------
        list of ndarray of int
            For each stage k, features of ``order[:k]`` in increasing order. What matters at stage k + 1 is among those
            of stage k and the feature acquired there.

        Examples
        --------
        In the line 0 - 1 - 2, once 1 is acquired 0 says nothing about 2.

        >>> from seqclass.bn import TreeNetwork
        >>> model = TreeNetwork("line").fit([[0, 0, 0], [1, 1, 1], [1, 0, 0]], [0, 1, 1])
        >>> [features.tolist() for features in model.context_features([1, 0, 2])]
        [[], [1], [1]]
        """
        check_is_fitted(self)
        wanted = check_stages(order, self.n_features_in_)
        if self.conditioning_ == "ancestor":
            return shadowed(wanted, self._engine.nearest)
        return boundaries(wanted, self._neighbours)

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
        X : ndarray of int of shape (n, K)
            Outcome codes.
        y : ndarray of shape (n,)
            Labels.

        Raises
        ------
        ValueError
            If the table of a feature with many parents was too large to keep.

        Examples
        --------
        >>> from seqclass.bn import TreeNetwork
        >>> model = TreeNetwork().fit([[0, 0], [1, 1], [1, 0]], ["a", "b", "b"])
        >>> X, y = model.sample(5, random_state=0)
        >>> X.shape, y.shape
        ((5, 2), (5,))
        """
        check_is_fitted(self)
        n = check_integer(n, "n", 0)
        X, codes = draw(self.class_prior_, self.parents_, self.cpds_, n, as_generator(random_state))
        return X, self.classes_[codes]

    @cached_property
    def _edges(self) -> IntArray:
        """Feature edges (parent, child) in the order of ``graph_``."""
        edges = [(int(parent), child) for child, above in enumerate(self.parents_) for parent in above]
        return np.array(sorted(edges), dtype=np.intp).reshape(-1, 2)

    @cached_property
    def _engine(self) -> Any:
        """What answers queries: ``conditional(feature, columns, n)`` and ``log_evidence(columns, n)``."""
        if self.is_forest_:
            forest = Forest(parent_array(self.parents_), self.cpds_)
            return forest if self.conditioning_ == "full" else NearestAncestor(PathTables(forest))
        if self.conditioning_ == "full":
            return Elimination(self.parents_, self.cpds_)
        assert self.pair_counts_ is not None
        given = (self.alpha, self.smoothing, self.unit_)
        return NearestAncestor(PairTables(self.parents_, self.n_outcomes_, self.pair_counts_, *given))

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
            joint = np.repeat(log_table(self.class_prior_)[:, None], n, axis=1)
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


def _columns(evidence: Any) -> Columns:
    """Features with evidence in any row."""
    seen = np.flatnonzero((evidence >= 0).any(axis=0))
    return {int(j): column for j, column in zip(seen, np.ascontiguousarray(evidence[:, seen].T))}
