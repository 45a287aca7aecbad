"""Queries to a fitted mixture of each class."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.utils.validation import check_is_fitted

from seqclass._arrays import FloatArray, IntArray, as_generator, chunks
from seqclass._mixtures import conditioned, within_classes
from seqclass._validation import check_integer
from seqclass.bn._base import ObservationModel
from seqclass.bn._checks import check_outcome
from seqclass.bn._hidden import HiddenTables
from seqclass.bn._posterior import log_joint, state_posterior
from seqclass.bn._sampling import draw


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
