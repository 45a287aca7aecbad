"""Queries to a fitted mixture of each class."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
from sklearn.utils.validation import check_is_fitted

from seqclass._utils.arrays import FloatArray, IntArray, as_generator, chunks, conditioned, within_classes
from seqclass._utils.validation import check_distribution, check_integer
from seqclass.bn import _pgmpy
from seqclass.bn._base import HiddenTables, ObservationModel
from seqclass.bn._checks import check_outcome
from seqclass.bn._parameters import check_feature_names, check_state_names, check_tables
from seqclass.bn._structure import draw
from seqclass.bn._tables import log_joint, state_posterior, temper

if TYPE_CHECKING:
    from typing_extensions import Self


class Mixture(ObservationModel):
    """Inference where each class has hidden states, given which the features are independent.

    A subclass sets, beside what every `ObservationModel` has, ``hidden_class_``, ``weights_`` and ``tables_``, by
    `_set_states`. See `ClassMixture` for what they hold.
    """

    _accepts_sparse = True

    hidden_class_: IntArray
    weights_: FloatArray
    tables_: FloatArray
    state_names_: dict[int, list[Any]] | None
    feature_names_: list[Any] | None

    @classmethod
    def from_tables(
        cls,
        classes: npt.ArrayLike,
        class_prior: npt.ArrayLike,
        hidden_class: npt.ArrayLike,
        weights: npt.ArrayLike,
        tables: Sequence[npt.ArrayLike],
        *,
        state_names: Mapping[int, Sequence[Any]] | None = None,
        feature_names: Sequence[Any] | None = None,
    ) -> Self:
        """Make a fitted model from its tables.

        Parameters
        ----------
        classes : array-like of shape (n_classes,)
            Labels, sorted and distinct.
        class_prior : array-like of shape (n_classes,)
            P(class).
        hidden_class : array-like of int of shape (n_hidden,)
            Class of each hidden state; every class has one at least.
        weights : array-like of shape (n_hidden,)
            P(hidden state | class).
        tables : sequence of array-like of shape (V_j, n_hidden), one a feature
            P(outcome | hidden state).
        state_names : mapping of int to sequence, optional
            Names of the outcomes of features.
        feature_names : sequence of length n_features, optional
            Names of the features.

        Returns
        -------
        ClassMixture or ContextBayes
            Of the class that was asked.

        Raises
        ------
        ValueError
            If shapes disagree, or probabilities do not sum to one.

        Examples
        --------
        >>> from seqclass.bn import ClassMixture
        >>> agree, differ = [[0.9, 0.1, 0.9, 0.1], [0.1, 0.9, 0.1, 0.9]], [[0.9, 0.1, 0.1, 0.9], [0.1, 0.9, 0.9, 0.1]]
        >>> model = ClassMixture.from_tables(["a", "b"], [0.5, 0.5], [0, 0, 1, 1], [0.5] * 4, [agree, differ])
        >>> model.posterior([[0, -1], [0, 0]]).round(2)
        array([[0.5 , 0.5 ],
               [0.82, 0.18]])
        """
        model = cls()
        labels = np.asarray(classes)
        if not np.array_equal(np.unique(labels), labels):
            raise ValueError("classes must be sorted and distinct.")
        given = check_tables(hidden_class, weights, tables, len(labels))
        model.classes_, model.class_prior_ = labels, check_distribution(class_prior, len(labels), "class_prior")
        states, share, likelihoods, model.n_outcomes_ = given
        model._set_states(states, share, likelihoods)
        model.n_features_in_ = len(model.tables_)
        model._as_given()
        model.timings_ = {"structure": 0.0, "parameters": 0.0}
        model.state_names_ = check_state_names(state_names, model.n_outcomes_)
        model.feature_names_ = check_feature_names(feature_names, model.n_features_in_)
        return model

    @classmethod
    def from_pgmpy(
        cls,
        network: Any,
        class_node: Hashable = "class",
        component_node: Hashable = "component",
        feature_names: Sequence[Hashable] | None = None,
    ) -> Self:
        """Make a fitted model of a pgmpy network.

        Parameters
        ----------
        network : pgmpy.models.DiscreteBayesianNetwork
            With tables. The component may depend on the class, features on the class and the component, and on nothing
            else.
        class_node, component_node : hashable
            Which nodes are the class and the component; the latter may be latent.
        feature_names : sequence, optional
            All other nodes, in the order that the columns of evidence are to have; by default that of
            ``network.nodes``.

        Returns
        -------
        ClassMixture or ContextBayes
            Of the class that was asked. Outcome v of a feature is the v-th state of its node: ``state_names_``. The
            states of the class, sorted, are ``classes_``.

        Raises
        ------
        TypeError
            If it is no discrete Bayesian network.
        ValueError
            If tables are missing or inconsistent, or the network is of another form.

        Examples
        --------
        >>> from seqclass.bn import ClassMixture
        >>> model = ClassMixture(2).fit([[0, 0], [1, 1], [0, 1], [1, 0]] * 4, [0, 0, 1, 1] * 4)
        >>> again = ClassMixture.from_pgmpy(model.to_pgmpy(["fever", "cough"], "flu"), "flu")
        >>> bool(np.allclose(again.posterior([[1, 1]]), model.posterior([[1, 1]])))
        True
        """
        return cls.from_tables(**_pgmpy.mixture_of(network, class_node, component_node, feature_names))

    def to_pgmpy(
        self,
        feature_names: Sequence[Hashable] | None = None,
        class_name: Hashable = "class",
        component_name: Hashable = "component",
        state_names: Mapping[Any, Sequence[Any]] | None = None,
        plain_names: bool = False,
    ) -> Any:
        """Give the model, with its tables, to pgmpy: class, below it the component (latent), below that the features.

        Parameters
        ----------
        feature_names : sequence of length n_features, optional
            Nodes of the features; by default ``feature_names_``, else ``x0``, ``x1``, ...
        class_name, component_name : hashable
            Nodes of the class and of the component, whose states are the numbers of the hidden states.
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
            If names are missing or twice the same.

        Examples
        --------
        >>> from seqclass.bn import ClassMixture
        >>> model = ClassMixture(2).fit([[0, 0], [1, 1], [0, 1], [1, 0]] * 4, [0, 0, 1, 1] * 4)
        >>> sorted(model.to_pgmpy(["fever", "cough"], "flu").edges)
        [('component', 'cough'), ('component', 'fever'), ('flu', 'component')]
        """
        return _pgmpy.mixture_to_pgmpy(self, feature_names, class_name, component_name, state_names, plain_names)

    def start(self, n: int) -> Any:
        """State of ``n`` instances: P(hidden state | class)."""
        check_is_fitted(self)
        return np.tile(self.weights_, (check_integer(n, "n", 0), 1))

    def stage_likelihood(self, feature: int, state: Any) -> FloatArray:
        """P(outcome of the feature | what the state has seen, class); like :meth:`likelihood`, unchecked."""
        return within_classes(state, self.tables_[feature, : self.n_outcomes_[feature]], self._members)

    def stage_likelihoods(self, features: IntArray, state: Any) -> FloatArray:
        """P(outcome | what the state has seen, class) of many features at once."""
        return within_classes(state, self.tables_[features], self._members)

    def advance(self, feature: int, state: Any, outcome: npt.ArrayLike) -> Any:
        """State after the feature's outcome was seen; see :meth:`ObservationModel.advance`."""
        shown = check_outcome(feature, outcome, int(self.n_outcomes_[feature]))
        after, rows = np.array(state), np.flatnonzero(shown >= 0)
        after[rows] = conditioned(after[rows], self.tables_[feature, shown[rows]], self.hidden_class_, self._member)
        return after

    def likelihood_table(self, features: Any = None) -> FloatArray:
        """P(outcome | class) of single features; see :meth:`ObservationModel.likelihood_table`."""
        check_is_fitted(self)
        chosen = slice(None) if features is None else features
        return np.asarray(within_classes(self.weights_[None], self.tables_[chosen], self._members)[0])

    def tables(self, order: npt.ArrayLike) -> FloatArray | None:
        """Likelihoods of the stages of an order where every class has one component only, else None."""
        if len(self.hidden_class_) > len(self.classes_):
            return None
        return np.asarray(self.tables_[np.asarray(order)])

    def hidden(self, features: npt.ArrayLike) -> HiddenTables:
        """The components and their tables; see :meth:`ObservationModel.hidden`."""
        return HiddenTables(self.weights_, self.hidden_class_, self.tables_[np.asarray(features)])

    def sample(self, n: int, random_state: Any = None) -> tuple[IntArray, npt.NDArray[Any]]:
        """Draw instances from the model.

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

        Examples
        --------
        >>> from seqclass.bn import ClassMixture
        >>> X, y = ClassMixture(1).fit([[0, 0], [1, 1], [1, 0]], ["a", "b", "b"]).sample(5, random_state=0)
        >>> X.shape, y.shape
        ((5, 2), (5,))
        """
        check_is_fitted(self)
        n = check_integer(n, "n", 0)
        nothing: list[IntArray] = [np.empty(0, dtype=np.intp)] * self.n_features_in_
        cpds = [table[:size] for table, size in zip(self.tables_, self.n_outcomes_.tolist())]
        X, state = draw(self._hidden_prior, nothing, cpds, n, as_generator(random_state))
        return X, self.classes_[self.hidden_class_[state]]

    def _as_given(self) -> None:
        """Set what a fit would have left of itself beside the tables."""

    def _temper(self, temperature: FloatArray) -> None:
        self._set_states(self.hidden_class_, self.weights_, temper(self.tables_, self._hidden_prior, temperature))

    def _set_states(self, hidden_class: IntArray, weights: FloatArray, tables: FloatArray) -> None:
        """Take over hidden states, and forget what was derived from others."""
        self.hidden_class_, self.weights_, self.tables_ = hidden_class, weights, tables
        for name in ("_members", "_member"):
            self.__dict__.pop(name, None)

    @cached_property
    def _member(self) -> FloatArray:
        """One where a hidden state is of a class, (n_hidden, n_classes)."""
        return np.eye(len(self.classes_))[self.hidden_class_]

    @cached_property
    def _members(self) -> list[IntArray]:
        """Hidden states of each class."""
        return [np.flatnonzero(self.hidden_class_ == c) for c in range(len(self.classes_))]

    @property
    def _hidden_prior(self) -> FloatArray:
        return np.asarray(self.class_prior_[self.hidden_class_] * self.weights_)

    def _likelihood(self, feature: int, evidence: Any) -> FloatArray:
        size = int(self.n_outcomes_[feature])
        result = np.empty((evidence.shape[0], size, len(self.classes_)))
        for rows in chunks(evidence.shape[0], 8.0 * 4 * len(self.weights_)):
            joint = log_joint(evidence[rows], self.weights_, self._padded).T
            for own in self._members:
                top = joint[:, own].max(axis=1, keepdims=True)
                share = np.exp(joint[:, own] - np.where(np.isneginf(top), 0.0, top))
                total = share.sum(axis=1, keepdims=True)
                # of a class that is ruled out anything may be said
                joint[:, own] = np.where(total > 0, share / np.where(total > 0, total, 1.0), self.weights_[own])
            result[rows] = within_classes(joint, self.tables_[feature, :size], self._members)
        return result

    def _posterior(self, evidence: Any) -> FloatArray:
        result = np.empty((evidence.shape[0], len(self.classes_)))
        for rows in chunks(evidence.shape[0], 8.0 * 2 * len(self.weights_)):
            result[rows] = (self._member.T @ state_posterior(evidence[rows], self._hidden_prior, self._padded)).T
        return result

    def _padded(self, features: slice) -> FloatArray:
        """P(outcome | hidden state), and 1 beyond V_j, where no outcome lies."""
        table = self.tables_[features]
        beyond = np.arange(table.shape[1]) >= self.n_outcomes_[features, None]
        return np.where(beyond[:, :, None], 1.0, table) if beyond.any() else table
