"""Tree networks: every feature depends on the class and on at most one other feature, or on a few."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from time import perf_counter
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.utils.validation import check_is_fitted

from seqclass._arrays import FloatArray, IntArray, as_generator
from seqclass._validation import check_choice, check_distribution, check_real
from seqclass.bn import _pgmpy
from seqclass.bn._checks import Codes
from seqclass.bn._chunked import CodedChunks
from seqclass.bn._learning import Learner
from seqclass.bn._network import Network
from seqclass.bn._parameters import check_cpds, check_feature_names, check_state_names, edge_information
from seqclass.bn._summed_learning import SummedLearner
from seqclass.bn._tables import temper_family

_STRUCTURES = ("tree", "forest", "line", "random", "clique")


class TreeNetwork(Network):
    """Bayesian network over discrete features in which the class is a parent of every feature.

    By default the features form the tree that shares most information given the class ([2]_, tree-augmented naive
    Bayes): the maximum spanning tree over I(F_i; F_j | class), directed away from the feature that says most about the
    class. Its tables are P(a | b, c) = (N_abc + alpha) / (N_bc + alpha V) ([1]_, section V-A); missing cells are left
    out of the counts they would enter. Answers are exact for any evidence, by message passing.

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
    classes_ : ndarray of shape (n_classes,)
        Class labels.
    class_prior_ : ndarray of shape (n_classes,)
        Weighted class frequencies.
    n_features_in_ : int
        Number of features K.
    n_outcomes_ : ndarray of shape (K,)
        Number of outcomes V_j of each feature.
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

    def __init__(
        self,
        structure: Any = "tree",
        *,
        alpha: float = 1.0,
        smoothing: str | float = "laplace",
        conditioning: str = "auto",
        random_state: Any = 0,
    ) -> None:
        self.structure = structure
        self.alpha = alpha
        self.smoothing = smoothing
        self.conditioning = conditioning
        self.random_state = random_state

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
        model.classes_ = np.asarray(classes)
        if not np.array_equal(np.unique(model.classes_), model.classes_):
            raise ValueError("classes must be sorted and distinct.")
        model.class_prior_ = check_distribution(class_prior, len(model.classes_), "class_prior")
        model.parents_, model.cpds_ = check_cpds(parents, cpds, len(model.classes_))
        model.n_features_in_ = len(model.cpds_)
        model.n_outcomes_ = np.array([len(cpd) for cpd in model.cpds_], dtype=np.intp)
        model.is_forest_ = all(len(p) < 2 for p in model.parents_)
        model.pair_counts_, model.unit_ = None, 1.0
        model.conditioning_ = "full" if conditioning == "auto" else conditioning
        if model.conditioning_ == "ancestor" and not model.is_forest_:
            raise ValueError("conditioning='ancestor' needs counts where features have several parents: use 'full'.")
        model.edge_weights_ = edge_information(model.parents_, model.cpds_, model.class_prior_)
        model.timings_ = {"structure": 0.0, "parameters": 0.0}
        model.state_names_ = check_state_names(state_names, model.n_outcomes_)
        model.feature_names_ = check_feature_names(feature_names, model.n_features_in_)
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
        return _pgmpy.from_pgmpy(cls, network, class_node, feature_names, conditioning)

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
        check_is_fitted(self)
        return _pgmpy.to_pgmpy(self, feature_names, class_name, state_names, plain_names)

    def _fit(self, X: Codes, codes: IntArray, sample_weight: FloatArray | None) -> None:
        self._check_settings()
        began = perf_counter()
        how = (self.n_outcomes_, len(self.classes_), self.alpha, self.smoothing)
        self._learn(Learner(X, codes, sample_weight, *how), began)

    def _fit_chunks(self, chunks: CodedChunks) -> None:
        self._check_settings()
        began = perf_counter()
        how = (self.n_outcomes_, len(self.classes_), self.alpha, self.smoothing)
        self._learn(SummedLearner(chunks, *how), began)

    def _learn(self, learner: Learner, began: float) -> None:
        for name in (*self._cached, "strengths_"):
            self.__dict__.pop(name, None)
        self.parents_ = learner.parents(self.structure, as_generator(self.random_state))
        self.is_forest_ = all(len(p) < 2 for p in self.parents_)
        automatic = "full" if self.is_forest_ else "ancestor"
        self.conditioning_ = automatic if self.conditioning == "auto" else self.conditioning
        found = perf_counter()
        second_order = self.conditioning_ == "ancestor" and not self.is_forest_
        self.pair_counts_ = learner.pair_counts() if second_order else None
        self.cpds_, self.edge_weights_, strengths = learner.tables(self.parents_, self._edges)
        if self.smoothing != "laplace":
            self.strengths_ = strengths
        self.unit_ = learner.unit
        self.timings_ = {"structure": found - began, "parameters": perf_counter() - found}
        self.state_names_ = self.feature_names_ = None

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
