"""Class mixtures: each class has components, given which the features are independent."""

from __future__ import annotations

from time import perf_counter
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
from sklearn.utils.validation import check_is_fitted

from seqclass._arrays import FloatArray, IntArray, as_generator, chunks
from seqclass._mixtures import conditioned, within_classes
from seqclass._validation import check_choice, check_integer, check_real
from seqclass.bn._base import ObservationModel
from seqclass.bn._checks import Codes, check_outcome, resolve_prior
from seqclass.bn._components import Settings, fit_components
from seqclass.bn._hidden import HiddenTables
from seqclass.bn._posterior import log_joint, state_posterior
from seqclass.bn._sampling import draw


class ClassMixture(ObservationModel):
    """Mixture of naive Bayes models in each class: features are independent given the class and a hidden component.

    A class whose members are of several kinds has a component for each, so that what was seen tells the kind, and the
    kind tells what to expect of the other features. Fitted by expectation maximisation from components that start at
    random rows. A component's table is drawn to that of its class,

        P(v | component) = (S_v + a P(v | class)) / (S + a),  a = shrinkage V,

    where S_v is the weight of the component's share in the rows with outcome v, S that in all rows in which the feature
    is not missing, and V the number of outcomes; P(v | class) is smoothed as in `NaiveBayes`. One component is naive
    Bayes. A class has at most one component for every 3 of its rows.

    In any order (``order="adaptive"``) ordering rules see the components; see `seqclass.pomdp.MixtureProblem`.

    Parameters
    ----------
    n_components : int or "auto"
        Components of a class, at most.
    n_bags : int
        So many mixtures are put side by side in each class, each of equal weight and fitted to a bootstrap sample of
        the rows: a class then has ``n_bags * n_components`` hidden states. 1 fits one mixture to the rows themselves.
    alpha : float
        Pseudo-count of every outcome in a class's own table.
    shrinkage : float
        Rows by outcome that the class's table counts for in a component's; above 0.
    prior : None, "uniform" or array-like of shape (n_classes,)
        Class prior; None takes the (weighted) frequencies of the training data.
    max_iter : int
        Most iterations.
    tol : float
        A mixture is done when the logarithm of likelihood and prior rises by less, relative to itself.
    random_state : None, int or numpy generator
        Draws bootstrap samples, starting rows and folds.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        Class labels.
    class_prior_ : ndarray of shape (n_classes,)
        Class prior in use.
    class_count_ : ndarray of shape (n_classes,)
        Weight of the training rows of each class.
    n_components_ : ndarray of int of shape (n_classes,)
        Components of each class, in each bag.
    hidden_class_ : ndarray of int of shape (n_hidden,)
        Class of each hidden state: the components of all bags, class by class.
    weights_ : ndarray of shape (n_hidden,)
        P(hidden state | class).
    tables_ : ndarray of shape (n_features, V_max, n_hidden)
        P(outcome | hidden state), zero beyond V_j of a feature.
    n_outcomes_ : ndarray of shape (n_features,)
        Number of outcomes V_j of each feature.
    n_iter_ : ndarray of int of shape (n_classes,)
        Iterations of each class.
    n_features_in_ : int
        Number of features.
    timings_ : dict
        Seconds taken by ``structure`` (choosing the number of components) and ``parameters``.

    See Also
    --------
    NaiveBayes, TreeNetwork : One component, and direct dependence between features.

    Notes
    -----
    An iteration takes two matrix products of rows, outcomes and components. Sparse codes stay sparse: outcome 0 is what
    others are compared with. Of many columns filter first, ``selector=InformationFilter(...)``: here all are used.

    Examples
    --------
    The two features agree in one class, and differ in the other; each alone tells nothing.

    >>> X = np.array([[0, 0], [1, 1], [0, 1], [1, 0]] * 25)
    >>> y = np.array(["same", "same", "other", "other"] * 25)
    >>> model = ClassMixture(2).fit(X, y)
    >>> model.posterior([[1, -1], [1, 1]]).round(2)
    array([[0.5 , 0.5 ],
           [0.04, 0.96]])
    >>> model.n_components_
    array([2, 2])
    """

    _accepts_sparse = True

    def __init__(
        self,
        n_components: int | Literal["auto"] = 8,
        *,
        n_bags: int = 1,
        alpha: float = 1.0,
        shrinkage: float = 0.5,
        prior: Any = None,
        max_iter: int = 200,
        tol: float = 1e-6,
        random_state: Any = 0,
    ) -> None:
        self.n_components = n_components
        self.n_bags = n_bags
        self.alpha = alpha
        self.shrinkage = shrinkage
        self.prior = prior
        self.max_iter = max_iter
        self.tol = tol
        self.random_state = random_state

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
        member = np.eye(len(self.classes_))[self.hidden_class_]
        after[rows] = conditioned(after[rows], self.tables_[feature, shown[rows]], self.hidden_class_, member)
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

    @property
    def _members(self) -> list[IntArray]:
        """Hidden states of each class."""
        return [np.flatnonzero(self.hidden_class_ == c) for c in range(len(self.classes_))]

    @property
    def _hidden_prior(self) -> FloatArray:
        return np.asarray(self.class_prior_[self.hidden_class_] * self.weights_)

    def _fit(self, X: Codes, codes: IntArray, sample_weight: FloatArray | None) -> None:
        settings = self._settings()
        weight = np.ones(len(codes)) if sample_weight is None else sample_weight
        n_classes = len(self.classes_)
        self.class_count_ = np.bincount(codes, weights=weight, minlength=n_classes).astype(np.float64)
        self.class_prior_ = resolve_prior(self.prior, self.class_count_)
        rng = as_generator(self.random_state)
        began = perf_counter()
        sizes = np.full(n_classes, self.n_components)
        found = perf_counter()
        states = fit_components(X, codes, weight, self.n_outcomes_, sizes, settings, rng)
        self.hidden_class_, self.weights_, self.tables_ = states.classes, states.weights, states.tables
        self.n_components_, self.n_iter_ = states.n_components, states.n_iter
        self.timings_ = {"structure": found - began, "parameters": perf_counter() - found}

    def _settings(self) -> Settings:
        if isinstance(self.n_components, str):
            check_choice(self.n_components, "n_components", ("auto",))
        else:
            check_integer(self.n_components, "n_components", 1)
        if check_real(self.shrinkage, "shrinkage", 0) == 0:
            raise ValueError("shrinkage must be above 0: without it a component believes what few rows show.")
        return Settings(
            check_real(self.alpha, "alpha", 0),
            float(self.shrinkage),
            check_integer(self.n_bags, "n_bags", 1),
            check_integer(self.max_iter, "max_iter", 1),
            check_real(self.tol, "tol", 0),
        )

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
        of_class = np.eye(len(self.classes_))[:, self.hidden_class_]
        for rows in chunks(evidence.shape[0], 8.0 * 2 * len(self.weights_)):
            result[rows] = (of_class @ state_posterior(evidence[rows], self._hidden_prior, self._padded)).T
        return result

    def _padded(self, features: slice) -> FloatArray:
        """P(outcome | hidden state), and 1 beyond V_j, where no outcome lies."""
        table = self.tables_[features]
        beyond = np.arange(table.shape[1]) >= self.n_outcomes_[features, None]
        return np.where(beyond[:, :, None], 1.0, table) if beyond.any() else table
