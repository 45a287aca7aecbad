"""A discrete Bayesian network that is given rather than learnt, as an observation model."""

from __future__ import annotations

import itertools
import math
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from threading import Lock
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt
from scipy.special import rel_entr
from sklearn.utils.validation import check_is_fitted

from seqclass._utils.arrays import CHUNK_BYTES, FloatArray, IntArray, chunks
from seqclass._utils.stored import require, require_array, require_part
from seqclass._utils.text import join_names, short_repr
from seqclass._utils.validation import check_integer
from seqclass._utils.whole_fits import all_or_nothing
from seqclass.bn._checks import check_codes, check_labels, check_n_outcomes
from seqclass.bn._junction import Factor, JunctionTree, cut_factor
from seqclass.bn.base import ObservationModel
from seqclass.bn.network_tables import NetworkTables, read_network


@dataclass(frozen=True)
class NetworkTuning:
    """What is remembered of a network, and up to which size it is gone through."""

    #: numbers in all tables, over all classes, at which no other order of elimination is looked for
    small_tree: int = 2**18
    #: how many times fewer numbers there are at what all rows have seen, from which on no messages are shared
    cut_tree: int = 8
    large_tree: int = 2**20  #: numbers beyond which not all tables are gone through for one question
    max_classes: int = 64  #: joint states of the targets, beyond which they are refused


TUNING = NetworkTuning()


class RowMemory:
    """Remembers likelihoods, (slots, outcomes of all features, classes), by row of evidence."""

    def __init__(self, shape: tuple[int, int], compute: Callable[..., Any]):
        self.shape, self.compute = shape, compute
        # beyond it all is forgotten, but for what the last call was about
        self.most = max(1, CHUNK_BYTES // (2 * int(np.prod(shape))))
        self.slots: dict[bytes, int] = {}
        self.likelihoods: FloatArray = np.empty((0, *shape))
        self._lock = Lock()

    def find(self, evidence: IntArray) -> tuple[FloatArray, IntArray]:
        """Likelihoods by slot, and the slot of each row; of these nothing changes, whoever asks for others."""
        keys = [row.tobytes() for row in evidence]
        with self._lock:  # threads may share a model
            return self._fill(evidence, keys)

    def _fill(self, evidence: IntArray, keys: list[bytes]) -> tuple[FloatArray, IntArray]:
        new = {key: row for row, key in enumerate(keys) if key not in self.slots}
        if len(self.slots) + len(new) > self.most:
            new = {key: row for row, key in enumerate(keys)}
            self.slots = {}
        if new:
            first = len(self.slots)
            self._grow(first + len(new))
            rows = slice(first, first + len(new))
            # side by side what has seen the same: what it shares is worked out once
            new = dict(sorted(new.items(), key=lambda pair: (evidence[pair[1]] >= 0).tobytes() + pair[0]))
            beliefs = np.empty((len(new), self.shape[1]))
            self.compute(evidence[list(new.values())], None, (self.likelihoods[rows], beliefs))
            self.slots |= {key: first + at for at, key in enumerate(new)}
        return self.likelihoods, np.array([self.slots[key] for key in keys], dtype=np.intp)

    def _grow(self, needed: int) -> None:
        """Make room, and no more of it than is needed beyond what may be remembered."""
        used, capacity = len(self.slots), len(self.likelihoods)
        if used and needed <= capacity:
            return
        # also where all is forgotten: what was found may still be read
        likelihoods = np.empty((max(needed, min(2 * capacity, self.most), 16), *self.shape))
        likelihoods[:used] = self.likelihoods[:used]
        self.likelihoods = likelihoods


@dataclass(repr=False, eq=False)
class DiscreteNetwork(ObservationModel):
    """Exact inference in a given Bayesian network, where the class is a node or the joint state of several nodes.

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
    max_cells : int
        Numbers of 8 bytes in the largest table of a junction tree, over all classes. Where the tree of all questions
        has a larger one each answer is worked out by itself, and planning is refused (see `prepare`): the message says
        what memory it would take.

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

    _learns: ClassVar[bool] = False
    _batches_by_size: ClassVar[bool] = True
    #: What is worked out when it is first needed.
    _cached = ("_nodes", "_tree_or_error", "_memory", "_memory_order", "_places")

    network: Any
    target: Any
    questions: Sequence[str] | None = None
    max_cells: int = 2**20

    @all_or_nothing
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
            If a node is unknown, the targets have too many joint states, what is above them is too densely connected
            for exact inference, or the data are of other features, outcomes or classes.
        """
        self.__dict__ = {name: value for name, value in self.__dict__.items() if name not in self._cached}
        check_integer(self.max_cells, "max_cells", 1)
        self.network_ = NetworkTables.from_value(self.network)
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
        blank = np.full((1, len(nodes)), -1)
        self.class_prior_ = self._compute_pruned(blank, [])[1][0]
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
            which has no names, are ``x0``, ``x1``, ... and their states ``0``, ``1``, ... XML is read in the encoding
            that it declares, the others as UTF-8.
        target, questions
            See `DiscreteNetwork`.

        Returns
        -------
        DiscreteNetwork
            Ready to answer.

        Raises
        ------
        ValueError
            If it is no sound file of a discrete network, or holds more than 64 MB of text once unpacked, 8,388,608
            numbers in all tables, or 524,288 nodes, states and parents: what would take more than half a gigabyte.
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
        size, most = int(self.n_outcomes_[feature]), self._memory.most
        if len(state) > most:  # they would push one another out: of each that is different this feature alone
            rows, place = np.unique(state, axis=0, return_inverse=True)
            if len(rows) > most:
                return np.asarray(self._compute(rows, [feature])[0][place.reshape(-1)])
        known, slots = self._look_up(state)
        first = int(self._places[feature])
        return np.asarray(known[slots, first : first + size])

    def stage_likelihoods(self, features: IntArray, state: Any) -> FloatArray:
        """P(outcome | what the state has seen, class) of many features at once: two passes of messages serve all."""
        known, slots = self._look_up(state)
        chosen = np.asarray(features)
        sizes = self.n_outcomes_[chosen]
        widest = int(sizes.max(initial=1))
        result: FloatArray | None = None
        for size in np.unique(sizes).tolist():
            alike = np.flatnonzero(sizes == size)
            places = (self._places[chosen[alike]][:, None] + np.arange(size)).reshape(-1)
            # side by side in the memory as a rule
            close = places[-1] - places[0] + 1 == len(places) and bool((np.diff(places) == 1).all())
            likelihoods = known[slots, places[0] : places[-1] + 1] if close else known[slots[:, None], places]
            likelihoods = likelihoods.reshape(len(slots), alike.size, size, -1)
            if alike.size == chosen.size:
                return np.asarray(likelihoods)
            if result is None:
                result = np.zeros((len(slots), chosen.size, widest, len(self.classes_)))
            result[:, alike, :size] = likelihoods
        return np.zeros((len(slots), 0, widest, len(self.classes_))) if result is None else result

    def cliques(self, features: npt.ArrayLike) -> list[tuple[tuple[int, ...], int, FloatArray]] | None:
        """Tables by cliques of variables, of what is above the targets and some features; None if too large."""
        nodes = [self._nodes[k] for k in np.asarray(features).tolist()]
        tree = self._make_tree(nodes)
        return None if isinstance(tree, ValueError) else tree.tables(nodes)

    def _outcome_choices(self, feature: int) -> list[Any] | None:
        return list(self.network_.states[self.network_.names.index(self.questions_[feature])])

    def _own_names(self) -> tuple[list[Any] | None, list[tuple[str, ...]]]:
        return self.questions_, list(map(tuple, self.outcomes_))

    def _graph(self, names: Sequence[str]) -> tuple[list[str], list[list[int]], list[int], set[int]]:
        features = [-1] * len(self.network_.names)
        for feature, node in enumerate(self._nodes):
            features[node] = feature
        return self.network_.names, self.network_.parents, features, set(self.targets_)

    def _draw_rows(self, n: int, rng: np.random.Generator) -> IntArray | None:
        return self.sample(n, rng)[0]

    def _fit(self, X: Any, codes: IntArray, sample_weight: FloatArray | None) -> None:
        raise NotImplementedError  # `fit` learns nothing

    def _likelihood(self, feature: int, evidence: Any) -> FloatArray:
        return self.stage_likelihood(feature, evidence)

    def _posterior(self, evidence: Any) -> FloatArray:
        tree = self._tree_or_error
        codes = evidence if len(evidence) == 1 else np.ascontiguousarray(evidence, dtype=self._dtype)
        if not isinstance(tree, ValueError) and tree.total > TUNING.large_tree:
            belief = np.empty((len(codes), len(self.classes_)))
            self._one_by_one(codes, [], np.empty((len(codes), 0, len(self.classes_))), belief)
        else:
            belief = self._beliefs(codes)
        impossible = np.flatnonzero(~(belief.sum(axis=1) > 0))
        if impossible.size:
            self._explain(evidence[impossible[0]])
        return np.asarray(belief)

    def _beliefs(self, codes: IntArray) -> FloatArray:
        """P(class | evidence) of each row, 0 if impossible."""
        tree, belief = self._tree_or_error, np.empty((len(codes), len(self.classes_)))
        if isinstance(tree, ValueError):
            return self._compute(codes, [])[1]
        if len(codes) == 1:
            seen = {self._nodes[k]: slice(code, code + 1) for k, code in enumerate(codes[0].tolist()) if code >= 0}
            return _normalise_total(tree.total_of(seen))
        of_all = [self._nodes[k] for k in np.flatnonzero((codes >= 0).all(axis=0)).tolist()]
        if TUNING.cut_tree * tree.cells(of_all) <= tree.total:
            return self._compute(codes, [])[1]
        for rows in chunks(len(codes), 8.0 * (tree.widest + 8 * len(tree.cliques))):
            some = codes[rows]
            known = {self._nodes[k]: some[:, k] for k in np.flatnonzero((some >= 0).any(axis=0)).tolist()}
            belief[rows] = _normalise_total(tree.totals(known, len(some)))
        return belief

    def _explain(self, row: IntArray) -> None:
        """Raise the error that names the feature whose outcome leaves no class."""
        seen = np.full((1, self.n_features_in_), -1)
        for feature in np.flatnonzero(row >= 0).tolist():
            seen[0, feature] = row[feature]
            if not self._compute(seen, [])[1].any():
                name, state = self.questions_[feature], self.outcomes_[feature][int(row[feature])]
                raise ValueError(
                    f"outcome {int(row[feature])} of feature {feature} ({short_repr(name)}: "
                    f"{short_repr(state)}) has probability "
                    "zero by the network, given the features before it: correct it, or make it possible in the tables."
                )

    def _check_data(self, X: Any, y: Any, n_outcomes: Any) -> None:
        X = check_codes(X, fitted=self.n_outcomes_)
        if n_outcomes is not None:
            sizes = check_n_outcomes(n_outcomes, self.n_features_in_)
            for j in np.flatnonzero(sizes != self.n_outcomes_)[:1].tolist():
                raise ValueError(
                    f"feature {j} ({self.questions_[j]}) has {sizes[j]} outcomes in the data and "
                    f"{self.n_outcomes_[j]} states in the network: {join_names(self.outcomes_[j])}."
                )
        labels = np.unique(check_labels(y, X.shape[0]))
        if labels.astype(str).tolist() != self.classes_.tolist():
            raise ValueError(
                f"y holds the classes {join_names(labels.tolist())} and the network "
                f"{join_names(self.classes_.tolist())}; "
                "they must be the same. Without data use SequentialClassifier.from_network."
            )

    @cached_property
    def _nodes(self) -> list[int]:
        return [self.network_.names.index(name) for name in self.questions_]

    def _rank(self, node: int) -> IntArray:
        """Outcome of each state of a node: its place in sorted order."""
        return np.argsort(np.argsort(np.array(self.network_.states[node])))

    def prepare(self) -> DiscreteNetwork:
        """Make the junction tree of the target and all questions, which planning needs.

        Where there is none, because its tables would be larger than ``max_cells``, each answer is computed by itself,
        in the part of the network that holds the target, the evidence, the question and their ancestors.

        Returns
        -------
        self

        Raises
        ------
        ValueError
            If a table would be larger than ``max_cells``; the message says what memory it takes.
        """
        check_is_fitted(self)
        if isinstance(self._tree_or_error, ValueError):
            raise self._tree_or_error
        return self

    @property
    def table_size(self) -> int:
        """Numbers in all tables of the junction tree, over all classes: what an answer has to go through.

        Raises
        ------
        ValueError
            If one of them is larger than ``max_cells``; see `prepare`.
        """
        self.prepare()
        assert not isinstance(self._tree_or_error, ValueError)  # or it was raised
        return self._tree_or_error.total

    def most_telling(self, n: int) -> list[str]:
        """The questions that say most about the target before anything is known: a shorter list to plan for.

        Each question is scored by itself, in the part of the network that matters for it, so that this works for
        networks that are refused as a whole. With fewer questions less of the network is needed, as nodes that are
        above none of them do not matter. A question that is informative only together with others is not found in this
        way: how much a plan for the shorter list loses is not known, and its certificate is about the list. Questions
        that can never say anything about the target, whatever else is known, come last; see `irrelevant_questions`.

        Parameters
        ----------
        n : int
            How many.

        Returns
        -------
        list of str
            At most ``n`` questions, in the order of ``questions_``.

        Examples
        --------
        >>> tables = [np.array([0.9, 0.1]), np.array([[0.8, 0.3], [0.2, 0.7]]), np.array([[0.5, 0.5], [0.5, 0.5]])]
        >>> flu = NetworkTables(["flu", "fever", "coin"], [["no", "yes"]] * 3, [[], [0], [0]], tables)
        >>> DiscreteNetwork(flu, "flu").fit().most_telling(1)
        ['fever']
        """
        check_is_fitted(self)
        check_integer(n, "n", 1)
        blank, information = np.full((1, self.n_features_in_), -1), np.zeros(self.n_features_in_)
        for k in range(self.n_features_in_):
            joint = self._compute_pruned(blank, [k])[0][0] * self.class_prior_
            chance = joint.sum(axis=1, keepdims=True) * self.class_prior_
            information[k] = rel_entr(joint, chance).sum()
        information[[self.questions_.index(name) for name in self.irrelevant_questions()]] = -1.0
        best = np.argsort(-information.round(12), kind="stable")[:n]
        return [self.questions_[k] for k in np.sort(best).tolist()]

    def irrelevant_questions(self) -> list[str]:
        """The questions that can never tell anything about the target, whatever is known of the others.

        In the moral graph of the targets, the questions and their ancestors, they are not connected to a target.

        Returns
        -------
        list of str

        Examples
        --------
        >>> coin = NetworkTables(["a", "b"], [["no", "yes"]] * 2, [[], []], [np.array([0.9, 0.1])] * 2)
        >>> DiscreteNetwork(coin, "a").fit().irrelevant_questions()
        ['b']
        """
        check_is_fitted(self)
        left = list(self._nodes)
        while True:
            reached, families = set(self.targets_), []
            for j in self.network_.ancestors([*left, *self.targets_]):
                families.append({j, *self.network_.parents[j]})
            while grown := [family for family in families if family & reached and not family <= reached]:
                reached |= set().union(*grown)
            near = [j for j in left if j in reached]
            if near == left:
                return [name for name, j in zip(self.questions_, self._nodes) if j not in near]
            left = near

    @cached_property
    def _tree_or_error(self) -> JunctionTree | ValueError:
        """The junction tree of the target and all questions, or what is said against it."""
        tree = self._make_tree(self._nodes)
        return tree if isinstance(tree, ValueError) else tree.normalise()

    def _make_tree(self, nodes: list[int]) -> JunctionTree | ValueError:
        factors = [self._factor(j) for j in self.network_.ancestors([*nodes, *self.targets_])]
        try:
            return JunctionTree(factors, self.network_.sizes, len(self._states), self.max_cells)
        except ValueError as error:
            return error

    def _compute_pruned(self, evidence: IntArray, features: Sequence[int]) -> tuple[FloatArray, FloatArray]:
        """What `_compute` gives, of rows that have seen the same features, in a tree of what bears on these alone.

        What is neither above the target nor above what was seen or is wanted says nothing, and neither does what was
        seen cut off from it, which is not looked at: not even whether it is possible. What was seen has one state.
        """
        network, nodes, sizes = self.network_, self._nodes, list(self.network_.sizes)
        seen = {nodes[k]: evidence[:, k].astype(np.intp) for k in np.flatnonzero(evidence[0] >= 0).tolist()}
        above = network.ancestors([*self.targets_, *seen, *(nodes[k] for k in features)])
        factors = _keep_connected(
            [cut_factor(self._factor(j), seen) for j in above], seen, {nodes[k] for k in features}
        )
        for j in seen:
            sizes[j] = 1
        tree = JunctionTree(factors, sizes, len(self._states), self.max_cells, TUNING.small_tree)
        marginals, total = tree.marginals([nodes[k] for k in features], {}, len(evidence))
        n_outcomes, n_classes = int(self.n_outcomes_[list(features)].sum()), len(self.classes_)
        likelihoods, beliefs = np.empty((len(evidence), n_outcomes, n_classes)), np.empty((len(evidence), n_classes))
        self._normalise(features, marginals, total, likelihoods, beliefs)
        return likelihoods, beliefs

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
            return scope, table[..., None, None]
        states = np.array(self._states)
        picked = table[tuple(states[:, self.targets_.index(axes[axis])] for axis in inside)]
        return scope, np.moveaxis(picked, 0, -1)[..., None]

    @cached_property
    def _memory(self) -> RowMemory:
        return RowMemory((int(self.n_outcomes_.sum()), len(self.classes_)), self._compute)

    @cached_property
    def _memory_order(self) -> list[int]:
        """Features in the order of the memory: those of equally many outcomes side by side."""
        return [int(k) for k in np.argsort(self.n_outcomes_, kind="stable")]

    @cached_property
    def _places(self) -> IntArray:
        """Where the outcomes of each feature begin in the memory."""
        places = np.empty(self.n_features_in_, dtype=np.intp)
        places[self._memory_order] = (
            np.cumsum(self.n_outcomes_[self._memory_order]) - self.n_outcomes_[self._memory_order]
        )
        return places

    def _look_up(self, evidence: Any) -> tuple[FloatArray, IntArray]:
        """Likelihoods, and where those of each row of evidence stand; computed where they do not yet."""
        return self._memory.find(np.ascontiguousarray(evidence, dtype=self._dtype))

    @property
    def _dtype(self) -> Any:
        return np.min_scalar_type(-int(self.n_outcomes_.max(initial=1)))

    def _compute(
        self, evidence: IntArray, wanted: Sequence[int] | None = None, out: tuple[FloatArray, FloatArray] | None = None
    ) -> tuple[FloatArray, FloatArray]:
        """P(outcome | evidence, class) of features, by default all `_memory_order`, and P(class | evidence), 0 if
        impossible.

        Outcomes of the features stand one after the other, (n, outcomes, n_classes).
        """
        n, nodes, tree = len(evidence), self._nodes, self._tree_or_error
        wanted = self._memory_order if wanted is None else list(wanted)
        n_wanted, n_classes = int(self.n_outcomes_[wanted].sum()), len(self.classes_)
        likelihoods, beliefs = (np.empty((n, n_wanted, n_classes)), np.empty((n, n_classes))) if out is None else out
        if isinstance(tree, ValueError):
            self._one_by_one(evidence, wanted, likelihoods, beliefs)
            return likelihoods, beliefs
        columns = {nodes[k]: evidence[:, k] for k in np.flatnonzero((evidence >= 0).any(axis=0)).tolist()}
        for rows in tree.parts(columns, n):
            some = evidence[rows]
            known = {j: codes[rows] for j, codes in columns.items() if (codes[rows] >= 0).any()}
            marginals, total = tree.marginals([nodes[k] for k in wanted], known, len(some))
            self._normalise(wanted, marginals, total, likelihoods[rows], beliefs[rows])
        return likelihoods, beliefs

    def _one_by_one(
        self, evidence: IntArray, wanted: Sequence[int], likelihoods: FloatArray, beliefs: FloatArray
    ) -> None:
        """Fill in what `_compute` gives by trees of what bears on each feature, for rows that have seen the same."""
        pattern: IntArray = np.zeros(len(evidence), dtype=np.intp)
        if len(evidence) > 1:
            pattern = np.unique(evidence >= 0, axis=0, return_inverse=True)[1].reshape(-1)
        ends = np.cumsum(self.n_outcomes_[list(wanted)])
        for number in range(pattern.max(initial=-1) + 1):
            for rows in chunks(int((pattern == number).sum()), 8.0 * self.max_cells):
                at = np.flatnonzero(pattern == number)[rows]
                _, beliefs[at] = self._compute_pruned(evidence[at], [])
                for k, end in zip(wanted, ends.tolist()):
                    others = evidence[at].copy()
                    others[:, k] = -1
                    likelihoods[at, end - self.n_outcomes_[k] : end] = self._compute_pruned(others, [k])[0]

    def _normalise(
        self, wanted: Sequence[int], marginals: list[FloatArray], total: FloatArray, likelihoods: Any, beliefs: Any
    ) -> None:
        """Likelihoods and beliefs from P(outcome, class, evidence) and P(class, evidence)."""
        first = 0
        for size, joint in zip(self.n_outcomes_[list(wanted)].tolist(), marginals):
            table = likelihoods[:, first : first + size].transpose(2, 1, 0)
            first += size
            of_class = joint.sum(axis=1, keepdims=True)
            if of_class.min() > 0:
                np.divide(joint, of_class, out=table)
            else:  # where the evidence excludes the class any distribution will do
                table[...] = np.where(of_class > 0, joint / np.where(of_class > 0, of_class, 1.0), 1.0 / size)
        beliefs[...] = _normalise_total(total)

    def __getstate__(self) -> dict[str, Any]:
        state = super().__getstate__()
        return {name: value for name, value in state.items() if name not in self._cached}

    def _check_stored_fit(self) -> None:
        # by preparing it anew, which computes nothing of the answers
        require(require_part(self, "network", NetworkTables) is self.network_, "network_ is none")
        again = DiscreteNetwork(self.network, self.target, self.questions, self.max_cells).fit()
        for name in ("outcomes_", "questions_", "targets_", "_states"):
            require(getattr(self, name) == getattr(again, name), f"{name} is not that of the network")
        for name in ("classes_", "n_outcomes_"):
            value, wanted = getattr(self, name), getattr(again, name)
            same = isinstance(value, np.ndarray) and np.array_equal(value, wanted)
            require(same, f"{name} is not that of the network")
        prior = require_array(self, "class_prior_", "f", len(again.classes_))
        require(np.allclose(prior, again.class_prior_, rtol=0, atol=1e-12), "class_prior_ is not that of the network")


def _normalise_total(total: FloatArray) -> FloatArray:
    """P(class | evidence) of each row, (n, n_classes), from P(class, evidence) up to a factor; 0 if impossible."""
    sums = total.sum(axis=0)
    return np.asarray((total / np.where(sums > 0, sums, 1.0)).T)


def _keep_connected(factors: list[Factor], seen: Mapping[int, IntArray], wanted: set[int]) -> list[Factor]:
    """The tables that hang together with the class or with what is wanted, where what was seen connects nothing."""
    left = [(set(scope) - set(seen), (scope, table)) for scope, table in factors]
    connected = [part for part in left if part[1][1].shape[-2] > 1 or part[0] & wanted]
    left = [part for part in left if part[1][1].shape[-2] == 1 and not part[0] & wanted]
    reached: set[int] = set().union(*(any_order for any_order, _ in connected))
    while near := [part for part in left if part[0] & reached]:
        connected += near
        left = [part for part in left if not part[0] & reached]
        reached |= set().union(*(any_order for any_order, _ in near))
    return [factor for _, factor in connected]


def _latent(network: Any) -> set[str]:
    return {str(node) for node in getattr(network, "latents", ())}


def _targets(network: NetworkTables, target: Any) -> list[int]:
    names = [target] if isinstance(target, str) or not isinstance(target, Iterable) else list(target)
    if not names:
        raise ValueError("target must name a node, or several.")
    targets_found = [network.number(str(name), "target") for name in names]
    if len(set(targets_found)) < len(targets_found):
        raise ValueError(f"target names a node twice: {join_names(names)}.")
    n_classes = math.prod(network.sizes[j] for j in targets_found)
    if n_classes > TUNING.max_classes:
        raise ValueError(
            f"the targets {join_names(names)} have {n_classes:,} joint states, and {TUNING.max_classes} are the most: "
            "pursue fewer at once, or merge states."
        )
    if n_classes < 2:
        raise ValueError(f"the target {short_repr(names[0])} has a single state; there is nothing to find out.")
    return targets_found


def _questions(network: NetworkTables, targets: list[int], questions: Any, latent: set[str]) -> list[str]:
    if questions is None:
        chosen = [name for j, name in enumerate(network.names) if j not in targets and name not in latent]
    else:
        chosen = [network.names[network.number(str(name), "questions")] for name in questions]
    wrong = [name for name in chosen if network.names.index(name) in targets]
    if wrong:
        raise ValueError(f"questions holds the target {short_repr(wrong[0])}, which is what is to be found out.")
    if len(set(chosen)) < len(chosen):
        raise ValueError(f"questions names a node twice: {join_names(chosen)}.")
    if not chosen:
        raise ValueError("there is no question: the network has no node beside the targets that may be asked for.")
    return chosen


def _labels(network: NetworkTables, targets: list[int]) -> npt.NDArray[Any]:
    """Label of each joint state of the targets, the last target's states first."""
    if len(targets) == 1:
        return np.array(network.states[targets[0]])
    states = itertools.product(*(network.states[t] for t in targets))
    names = [network.names[t] for t in targets]
    return np.array([", ".join(f"{name}={state}" for name, state in zip(names, row)) for row in states])
