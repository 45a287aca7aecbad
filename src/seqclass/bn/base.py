"""The interface of observation models: what the next feature may show, given the class and what was seen."""

from __future__ import annotations

import copy
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, TypeVar

import numpy as np
import numpy.typing as npt
from scipy import sparse
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.validation import check_is_fitted

from seqclass._utils.arrays import FloatArray, IntArray, chunks, smallest_int
from seqclass._utils.frames import rows_as_frame, text_columns
from seqclass._utils.model_files import Stored
from seqclass._utils.stored import is_fitted, require_array, require_numbers, require_whole
from seqclass._utils.tables import Readable
from seqclass._utils.text import short_repr
from seqclass._utils.validation import check_distribution, check_integer, check_likelihood, check_weights, in_order
from seqclass._utils.whole_fits import all_or_nothing
from seqclass.bn._checks import (
    Codes,
    blank,
    check_codes,
    check_labels,
    check_n_outcomes,
    check_outcome,
    count_outcomes,
    explain_memory,
    raise_impossible,
    resolve_prior,
)


@dataclass(frozen=True, eq=False, repr=False)
class HiddenTables(Readable):
    """Hidden states, each of a class, given which the features are independent.

    Attributes
    ----------
    weights : ndarray of shape (n_hidden,)
        P(hidden state | its class).
    classes : ndarray of int of shape (n_hidden,)
        Class of each hidden state.
    tables : ndarray of shape (m, V_max, n_hidden)
        P(outcome | hidden state), zero beyond V_j of a feature.

    Examples
    --------
    >>> import numpy as np
    >>> HiddenTables(np.ones(2), np.arange(2), np.full((1, 2, 2), 0.5)).classes
    array([0, 1])
    """

    _columns = ("weights", "classes")

    weights: FloatArray
    classes: IntArray
    tables: FloatArray


T = TypeVar("T")


class CodedChunks(ABC):
    """Rows of outcome codes that come in chunks, as a model sees them.

    Attributes
    ----------
    counts : ndarray of shape (n_features, V_max, n_classes)
        Rows of each outcome in each class; missing cells are left out.
    class_count : ndarray of shape (n_classes,)
        Rows of each class.
    sample : tuple of codes and ndarray of int
        Rows drawn at random, of every class the same share, and the numbers of their classes; all rows where there are
        no more.
    """

    counts: FloatArray
    class_count: FloatArray
    sample: tuple[Codes, IntArray]

    @abstractmethod
    def total(self, of: Callable[[Codes, IntArray], T], add: Callable[[T, T], T]) -> T:
        """Work out a statistic of each chunk's codes and classes, which can be pickled, and add them up."""

    @property
    def is_whole(self) -> bool:
        """Whether the sample is all there is."""
        return bool(len(self.sample[1]) == self.class_count.sum())


def chain_posterior(prior: FloatArray, evidence: Any, likelihood_of: Callable[[int, Any], FloatArray]) -> FloatArray:
    """P(class | evidence) of dense codes, from the likelihood of each feature given those before it."""
    belief = np.tile(prior, (evidence.shape[0], 1))
    for rows in chunks(evidence.shape[0], 2 * evidence.itemsize * evidence.shape[1]):
        known = evidence[rows]
        seen = np.full_like(known, -1)
        for feature in np.flatnonzero((known >= 0).any(axis=0)):
            at = np.flatnonzero(known[:, feature] >= 0)
            outcome = known[at, feature].astype(np.intp)
            likelihood = likelihood_of(int(feature), seen[at])
            joint = belief[rows][at] * likelihood[np.arange(len(at)), outcome]
            total = joint.sum(axis=1, keepdims=True)
            if not total.all():
                raise_impossible(int(feature), int(outcome[np.argmin(total)]))
            belief[rows.start + at] = joint / total
            seen[:, feature] = known[:, feature]
    return belief


Model = TypeVar("Model", bound="ObservationModel")


class ObservationModel(Stored, ClassifierMixin, BaseEstimator, ABC):  # type: ignore[misc]
    """Base of the models of P(outcome of a feature | outcomes seen, class).

    A model is fitted to a discretised matrix and then answers for any *evidence*: a row of outcome codes with
    -1 for every feature that has not been acquired. A subclass provides :meth:`_fit` and :meth:`_likelihood`;
    the rest is derived, and may be overridden where there is a faster way.

    The three calls :meth:`start`, :meth:`stage_likelihood` and :meth:`advance` answer the same questions one
    feature at a time. The state they pass along belongs to the model: by default the evidence itself, in a
    subclass anything whose rows are picked by ``state[rows]`` (messages of a network, for instance).

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        Class labels.
    class_prior_ : ndarray of shape (n_classes,)
        Probability of each class before any feature is acquired.
    n_outcomes_ : ndarray of shape (n_features,)
        Number of outcomes V_j of each feature.
    n_features_in_ : int
        Number of features.

    Examples
    --------
    A model that ignores the features:

    >>> class Ignorant(ObservationModel):
    ...     def _fit(self, X, codes, sample_weight):
    ...         pass
    ...     def _likelihood(self, feature, evidence):
    ...         n_outcomes = self.n_outcomes_[feature]
    ...         return np.full((len(evidence), n_outcomes, len(self.classes_)), 1 / n_outcomes)
    >>> model = Ignorant().fit([[0, 1], [1, 1], [0, 0]], ["a", "a", "b"])
    >>> model.posterior([[0, -1]]).round(3)
    array([[0.667, 0.333]])
    """

    classes_: npt.NDArray[Any]
    n_features_in_: int
    n_outcomes_: IntArray
    class_prior_: FloatArray

    #: Features whose last outcome is missing, as a fit is told beforehand; None: none.
    _apart: Any = None
    #: Whether a fit learns from rows; a network that is given is as it is.
    _learns: ClassVar[bool] = True
    #: Whether features are independent given the class, as it has them.
    _is_naive: ClassVar[bool] = False
    #: Whether questions are computed together only with those of equally many outcomes.
    _batches_by_size: ClassVar[bool] = False
    #: Whether what `start` and `advance` pass along is P(hidden state | class, what was seen), of `latent_tables`.
    _passes_latent: ClassVar[bool] = False
    #: Whether evidence, and what is fitted to, may be a sparse matrix.
    _accepts_sparse: ClassVar[bool] = False
    #: Whether what is fitted to may be one.
    _learns_sparse: ClassVar[bool] = False

    @all_or_nothing
    def fit(self: Model, X: Any, y: npt.ArrayLike, sample_weight: Any = None, *, n_outcomes: Any = None) -> Model:
        """Fit the model to a discretised matrix.

        Parameters
        ----------
        X : array-like, data frame or scipy sparse of shape (n_rows, n_features)
            Integer outcome codes; -1 is missing. An implicit zero of a sparse matrix is outcome 0. The columns of a
            data frame name the features, which evidence in a data frame may then have in any order.
        y : array-like of shape (n_rows,)
            Class labels.
        sample_weight : array-like of shape (n_rows,), optional
            Weights of the rows.
        n_outcomes : int or array-like of shape (n_features,), optional
            Number of outcomes of each feature; by default the largest code in ``X`` plus one.

        Returns
        -------
        self

        Raises
        ------
        TypeError
            If ``X`` does not hold integers, or is sparse and the model learns from dense rows only.
        ValueError
            If shapes disagree, or a code is out of range; the message names the feature and the value.
        MemoryError
            If a feature has so many outcomes that its tables do not fit; the message names it.
        """
        self._note_names(X)
        n_outcomes = self._by_feature(n_outcomes, "n_outcomes")
        X = check_codes(self._by_name(X), n_outcomes=n_outcomes)
        if sparse.issparse(X) and not (self._accepts_sparse or self._learns_sparse):
            raise TypeError(f"{type(self).__name__} learns from dense rows only, and X is sparse: give X.toarray().")
        labels = check_labels(y, X.shape[0])
        weight = check_weights(sample_weight, X.shape[0])
        self.classes_, codes = np.unique(labels, return_inverse=True)
        self.n_features_in_ = X.shape[1]
        self.n_outcomes_ = count_outcomes(X) if n_outcomes is None else check_n_outcomes(n_outcomes, X.shape[1]).copy()
        counts = np.bincount(codes, weights=weight, minlength=len(self.classes_)).astype(np.float64)
        self.class_prior_ = resolve_prior(None, counts)
        with explain_memory(self.n_outcomes_):
            self._fit(X, codes, weight)
        self.__dict__.pop("_apart", None)
        return self

    def _note_columns(self: Model, columns: IntArray, names: Sequence[Any] | None, bundles: IntArray | None) -> Model:
        """Hear before `fit`: columns of the features in the data, names of all columns, bundles of the features."""
        return self

    #: Words for the outcomes of features that have as many, where the model knows what they mean.
    _outcome_words: tuple[str, ...] = ()

    def _outcome_choices(self, feature: int) -> list[Any] | None:
        """What a feature may show, in the order in which to offer it, where the model knows that."""
        return None

    def _draw_rows(self, n: int, rng: np.random.Generator) -> IntArray | None:
        """Outcomes of all features in ``n`` cases, where the model draws them faster than one after the other."""
        return None

    @abstractmethod
    def _fit(self, X: Codes, codes: IntArray, sample_weight: FloatArray | None) -> None:
        """Learn from checked data."""

    def _learn_chunks(self, chunks: CodedChunks, classes: npt.NDArray[Any], n_outcomes: IntArray) -> Any:
        self.classes_, self.n_outcomes_ = classes, n_outcomes.copy()
        self.n_features_in_ = len(n_outcomes)
        self.class_prior_ = resolve_prior(None, chunks.class_count)
        self._fit_chunks(chunks)
        return self

    def _fit_chunks(self, chunks: CodedChunks) -> None:
        """Learn from rows that come in chunks, as `_fit` does from all at once; models that can override it."""
        raise NotImplementedError(f"{type(self).__name__} learns from all rows at once.")

    def with_exponents(self: Model, exponents: npt.ArrayLike) -> Model:
        """Return the same fitted model, with what each feature says flattened towards what all classes show.

        P(v | class) becomes proportional to P(v) (P(v | class) / P(v))^w, P(v) the mean over the classes, or over the
        hidden states of all; in a network and given contexts so for every outcome of what the feature depends on.

        Parameters
        ----------
        exponents : array-like of shape (n_features,)
            w of each feature, between 0 and 1: 1 leaves it as it is, 0 makes it say nothing.

        Returns
        -------
        ObservationModel

        Raises
        ------
        TypeError
            If the model cannot be flattened.
        ValueError
            If exponents are not between 0 and 1, or not one a feature.

        Examples
        --------
        >>> from seqclass.bn import NaiveBayes
        >>> model = NaiveBayes().fit([[0, 0], [1, 1], [1, 0], [0, 1]] * 5, [0, 1, 1, 0] * 5)
        >>> model.with_exponents([0.5, 1.0]).posterior([[0, -1], [-1, 0]]).round(2)
        array([[0.77, 0.23],
               [0.5 , 0.5 ]])
        """
        check_is_fitted(self)
        exponent = np.array(self._by_feature(exponents, "exponents"), dtype=np.float64)
        if exponent.shape != (self.n_features_in_,):
            raise ValueError(f"exponents must be {self.n_features_in_}, one a feature; got shape {exponent.shape}.")
        if not ((exponent >= 0) & (exponent <= 1)).all():
            raise ValueError("exponents must be between 0 and 1.")
        other = copy.copy(self)
        with np.errstate(divide="ignore"):
            other._temper(1 / exponent)
        return other

    def _temper(self, temperature: FloatArray) -> None:
        """Flatten the likelihoods of each feature; infinity makes them say nothing."""
        raise TypeError(f"{type(self).__name__} has no _temper, by which to flatten it: it cannot be calibrated.")

    @abstractmethod
    def _likelihood(self, feature: int, evidence: Any) -> FloatArray:
        """P(outcome | evidence, class), shape (n_rows, V_feature, n_classes), for checked evidence."""

    def likelihood(self, feature: int, evidence: Any) -> FloatArray:
        """P(outcome of the feature | evidence, class).

        Parameters
        ----------
        feature : int
            Index of a feature. What the evidence says about it is ignored.
        evidence : array-like of shape (n_rows, n_features)
            Outcome codes, -1 where not acquired.

        Returns
        -------
        ndarray of shape (n_rows, V_feature, n_classes)
            Sums to one over the outcomes. May be read-only.

        Raises
        ------
        ValueError
            If the feature or an outcome does not exist.

        Examples
        --------
        >>> from seqclass.bn import NaiveBayes
        >>> model = NaiveBayes().fit([[0], [1], [1]], [0, 1, 1])
        >>> model.likelihood(0, [[-1]]).round(3)
        array([[[0.667, 0.25 ],
                [0.333, 0.75 ]]])
        """
        feature, evidence = self._check_query(feature, evidence)
        return self._check_likelihood(feature, evidence)

    def predictive(self, feature: int, evidence: Any) -> FloatArray:
        """P(outcome of the feature | evidence).

        Parameters
        ----------
        feature : int
            Index of a feature. What the evidence says about it is ignored.
        evidence : array-like of shape (n_rows, n_features)
            Outcome codes, -1 where not acquired.

        Returns
        -------
        ndarray of shape (n_rows, V_feature)
            Rows sum to one.

        Examples
        --------
        >>> from seqclass.bn import NaiveBayes
        >>> NaiveBayes().fit([[0], [1], [1]], [0, 1, 1]).predictive(0, [[-1]]).round(3)
        array([[0.389, 0.611]])
        """
        feature, evidence = self._check_query(feature, evidence)
        belief = self._posterior(evidence)
        return np.asarray((self._check_likelihood(feature, evidence) @ belief[:, :, None])[:, :, 0])

    def posterior(self, evidence: Any) -> FloatArray:
        """P(class | evidence).

        Parameters
        ----------
        evidence : array-like of shape (n_rows, n_features)
            Outcome codes, -1 where not acquired.

        Returns
        -------
        ndarray of shape (n_rows, n_classes)
            Rows sum to one.

        Raises
        ------
        ValueError
            If an outcome does not exist, or the evidence has probability zero under every class; the message
            names the feature and the value.

        Examples
        --------
        >>> from seqclass.bn import NaiveBayes
        >>> NaiveBayes().fit([[0], [1], [1]], [0, 1, 1]).posterior([[0], [-1]]).round(3)
        array([[0.571, 0.429],
               [0.333, 0.667]])
        """
        if not is_fitted(self):  # what scikit-learn does of itself takes longer
            check_is_fitted(self)
        return self._posterior(self._check_evidence(evidence))

    def predict_proba(self, X: Any) -> FloatArray:
        """P(class | evidence): scikit-learn's name of :meth:`posterior`."""
        return self.posterior(X)

    def predict(self, X: Any) -> Any:
        """Most probable class given the evidence; ties go to the class that comes first.

        Parameters
        ----------
        X : array-like of shape (n_rows, n_features)
            Outcome codes, -1 where not acquired.

        Returns
        -------
        ndarray of shape (n_rows,)
            Labels from ``classes_``.
        """
        belief = self.posterior(X)
        # relative; of classes as probable as each other the lower wins
        best = np.argmax(belief >= belief.max(axis=1, keepdims=True) * (1 - 1e-12), axis=1)
        return self.classes_[best]

    def start(self, n: int) -> Any:
        """State of ``n`` instances of which nothing has been acquired.

        Returns
        -------
        object
            Supports ``state[rows]`` and ``len(state)``; only the model looks inside.
        """
        check_is_fitted(self)
        n = check_integer(n, "n", 0)
        largest = int(self.n_outcomes_.max(initial=1)) - 1
        return np.full((n, self.n_features_in_), -1, dtype=smallest_int(largest))

    def stage_likelihood(self, feature: int, state: Any) -> FloatArray:
        """P(outcome of the feature | what the state has seen, class); like :meth:`likelihood`, unchecked."""
        return self._check_likelihood(feature, state)

    def advance(self, feature: int, state: Any, outcome: npt.ArrayLike) -> Any:
        """State after the feature's outcome was seen; the state passed in stays valid.

        Parameters
        ----------
        feature : int
            Index of the feature asked for.
        state : object
            From :meth:`start` or :meth:`advance`.
        outcome : array-like of shape (n,)
            What each instance showed; -1 (missing) leaves what is known as it is, earlier answers included.

        Returns
        -------
        object
            The new state.

        Raises
        ------
        ValueError
            If an outcome does not exist.
        """
        shown = check_outcome(feature, outcome, int(self.n_outcomes_[feature]))
        seen = state.copy()
        seen[:, feature] = np.where(shown >= 0, shown, seen[:, feature])
        return seen

    def stage_likelihoods(self, features: IntArray, state: Any) -> FloatArray:
        """P(outcome | what the state has seen, class) of many features at once, unchecked.

        Parameters
        ----------
        features : ndarray of int of shape (m,)
            The features.
        state : object
            State of ``n`` instances.

        Returns
        -------
        ndarray of shape (n, m, V_max, n_classes)
            Zero beyond V_j of a feature; V_max is the largest over all features of the model. May be read-only.
        """
        result = np.zeros((len(state), len(features), int(self.n_outcomes_.max(initial=1)), len(self.classes_)))
        for place, feature in enumerate(np.asarray(features).tolist()):
            result[:, place, : self.n_outcomes_[feature]] = self._check_stage_likelihood(feature, state)
        return result

    def join(self, states: Sequence[Any]) -> Any:
        """Put the rows of several states together, one after the other; the states stay as they are."""
        return np.concatenate(states)

    def likelihood_table(self, features: Any = None) -> FloatArray:
        """P(outcome | class) of single features, nothing else known.

        Parameters
        ----------
        features : array-like of int of shape (n,), slice or None
            Features, all by default.

        Returns
        -------
        ndarray of shape (n, V_max, n_classes)
            Zero beyond V_j of a feature; V_max is the largest over all features.

        Raises
        ------
        TypeError or ValueError
            If features are no numbers of features, such as a mask or -1.
        """
        check_is_fitted(self)
        every = slice(None) if features is None else features
        return self._likelihood_table(every if isinstance(every, slice) else self._check_features(every))

    def _likelihood_table(self, features: IntArray | slice) -> FloatArray:
        chosen = np.arange(self.n_features_in_)[features]
        table = np.zeros((len(chosen), int(self.n_outcomes_.max(initial=1)), len(self.classes_)))
        nothing = self.start(1)
        for row, feature in zip(table, chosen):
            row[: self.n_outcomes_[feature]] = self._check_stage_likelihood(int(feature), nothing)[0]
        return table

    def _check_features(self, features: npt.ArrayLike) -> IntArray:
        chosen = np.asarray(features)
        if chosen.size == 0:
            return np.empty(0, dtype=np.intp)
        if chosen.dtype.kind not in "iu" or chosen.ndim != 1:
            raise TypeError("features must be a one-dimensional array of feature indices")
        wrong = (chosen < 0) | (chosen >= self.n_features_in_)
        if wrong.any():
            raise ValueError(
                f"there is no feature {int(chosen[np.argmax(wrong)])}: they are 0..{self.n_features_in_ - 1}"
            )
        return chosen

    def tables(self, order: npt.ArrayLike) -> Any:
        """Likelihoods of the stages of an order as tables, where the model has such.

        Parameters
        ----------
        order : array-like of int of shape (n_stages,)
            Features in the order in which they are acquired.

        Returns
        -------
        object or None
            None where what a stage may show depends on too much of what was seen.
        """
        return None

    def latent_tables(self, features: npt.ArrayLike) -> HiddenTables | None:
        """Tables by hidden states beside the class, where the model has such, given which features are independent.

        Parameters
        ----------
        features : array-like of int of shape (m,)
            The features.

        Returns
        -------
        HiddenTables or None
        """
        return None

    def _kinds(self) -> HiddenTables | None:
        """Hidden states of all features that people are told of as kinds of their class; None where none are."""
        return None

    def cliques(self, features: npt.ArrayLike) -> list[tuple[tuple[int, ...], int, FloatArray]] | None:
        """Tables by cliques of variables, where the model is a network: what joint tables and messages work with.

        The product of all tables is P(variables | class) times a number of each class. Variable k is the k-th of the
        features; those beyond are summed out.

        Parameters
        ----------
        features : array-like of int of shape (m,)
            The features.

        Returns
        -------
        list of (tuple of int, int, ndarray of shape (n_classes or 1, ...)) or None
            Of each clique its variables, the number of a later one that shares with it what it shares with any later
            one, -1 for none, and its table by class and variable, 1 where no class differs. None: this is no network,
            or not one whose answers follow from tables.
        """
        return None

    def context_features(self, order: npt.ArrayLike) -> list[IntArray]:
        """Features that stages still to come may depend on, for each stage of an order.

        Parameters
        ----------
        order : array-like of int of shape (n_stages,)
            Features in the order in which they are acquired.

        Returns
        -------
        list of ndarray of int
            For each stage k, the features among ``order[:k]`` whose outcomes the likelihoods of stages k, k + 1, ...
            may depend on: here all of them. Those of stage k + 1 are among those of stage k and ``order[k]``.

        Examples
        --------
        >>> from seqclass.bn import NaiveBayes
        >>> model = NaiveBayes().fit([[0, 0], [1, 0]], [0, 1])
        >>> [features.tolist() for features in ObservationModel.context_features(model, [1, 0])]
        [[], [1]]
        """
        features = np.asarray(order, dtype=np.intp)
        return [np.sort(features[:stage]) for stage in range(len(features))]

    def _own_names(self) -> tuple[list[Any] | None, list[tuple[str, ...]]]:
        """Names of the features, None without any, and of the outcomes of each, as the model itself has them."""
        outcomes = getattr(self, "state_names_", None) or {}
        shows = [tuple(map(str, outcomes.get(j, ()))) for j in range(self.n_features_in_)]
        return self._labels(), shows

    def _graph(self, names: Sequence[str]) -> tuple[list[str], list[list[int]], list[int], set[int]]:
        """Name, parents and feature of each node, -1 for what is none, and which are the class."""
        above: Any = getattr(self, "parents_", [()] * len(names))
        parents = [[int(i) + 1 for i in own] or [0] for own in above]
        return ["class", *names], [[], *parents], [-1, *range(len(names))], {0}

    def _posterior(self, evidence: Any) -> FloatArray:
        """Posterior of checked evidence: the chain of likelihoods, one feature after the other."""
        return chain_posterior(self.class_prior_, evidence, self._check_likelihood)

    def _check_likelihood(self, feature: int, evidence: Any) -> FloatArray:
        """What `_likelihood` gives, if it is of the shape that it must have."""
        shape = (evidence.shape[0], int(self.n_outcomes_[feature]), len(self.classes_))
        return check_likelihood(self._likelihood(feature, evidence), shape, f"{type(self).__name__}._likelihood")

    def _check_stage_likelihood(self, feature: int, state: Any) -> FloatArray:
        """What `stage_likelihood` gives, if it is of the shape that it must have; of our own models it is."""
        likelihood = self.stage_likelihood(feature, state)
        if type(self).stage_likelihood.__module__.startswith(f"{__name__.split('.')[0]}."):
            return likelihood  # of the default `_check_likelihood` has looked
        shape = (len(state), int(self.n_outcomes_[feature]), len(self.classes_))
        return check_likelihood(likelihood, shape, f"{type(self).__name__}.stage_likelihood")

    def _note_names(self, X: Any) -> None:
        """Keep what a data frame calls the features."""
        self.__dict__.pop("feature_names_in_", None)
        if (names := text_columns(rows_as_frame(X))) is not None:
            self.feature_names_in_ = np.array(names, dtype=object)

    def _labels(self) -> list[Any] | None:
        """What the features are called, by the data frame of the fit or by the model itself."""
        kept = (self.__dict__.get(name) for name in ("feature_names_in_", "questions_", "feature_names_"))
        return next((list(names) for names in kept if names is not None), None)

    def _by_feature(self, value: Any, name: str) -> Any:
        """An entry for each feature, by name where it has names."""
        return in_order(value, name, self._labels())

    def _by_name(self, X: Any) -> Any:
        """A data frame in the columns of the fit, as far as it has their names."""
        X = rows_as_frame(X)
        if (given := text_columns(X)) is None:  # most queries: names, which may be many, are not listed for them
            return X
        own = self._labels() or []
        if own == given or not {*own}.intersection(given):
            return X
        if absent := [name for name in own if name not in given]:
            raise ValueError(f"the data frame has no column {short_repr(absent[0])}, which the model was fitted with")
        return X[own]

    def _check_evidence(self, evidence: Any) -> Any:
        if sparse.issparse(evidence) and not self._accepts_sparse:
            raise TypeError(f"{type(self).__name__} takes dense evidence only; convert a few rows at a time")
        evidence = self._by_name(evidence)
        return check_codes(evidence, fitted=self.n_outcomes_, name="evidence")

    def _check_query(self, feature: int, evidence: Any) -> tuple[int, Any]:
        """Check both, and blank out what the evidence says about the feature asked for."""
        check_is_fitted(self)
        feature = check_integer(feature, "feature", 0, self.n_features_in_ - 1)
        return feature, blank(self._check_evidence(evidence), feature)

    def _check_stored(self) -> None:
        if not is_fitted(self):
            return
        require_array(self, "n_outcomes_", "iu", require_whole(self, "n_features_in_", 1), low=1)
        check_distribution(require_numbers(self, "class_prior_", len(self.classes_)), None, "class_prior_")
        self._check_stored_fit()

    def _check_stored_fit(self) -> None:
        """Check what was learnt, of a model that was read from a file."""
