"""Class mixtures: each class has components, given which the features are independent."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, replace
from functools import cached_property, partial
from time import perf_counter
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np
import numpy.typing as npt
from scipy.special import logsumexp, softmax, xlogy
from sklearn.utils.validation import check_is_fitted

from seqclass._utils.arrays import (
    TINY,
    FloatArray,
    IntArray,
    as_generator,
    chunks,
    condition_on_answer,
    within_classes,
)
from seqclass._utils.information import contingency_table
from seqclass._utils.stored import require, require_array, require_numbers
from seqclass._utils.validation import check_choice, check_integer, check_real
from seqclass.bn import _pgmpy
from seqclass.bn._checks import Codes, check_outcome, resolve_prior
from seqclass.bn._densities import FAMILIES, Scales, check_families
from seqclass.bn._em import (
    TUNING,
    Components,
    Design,
    MixtureSettings,
    TrainingRows,
    choose_components,
    fit_components,
    side_by_side,
    state_likelihoods,
)
from seqclass.bn._parameters import check_classes, check_tables, set_fitted_attributes
from seqclass.bn._structure import sample_cases
from seqclass.bn._tables import log_joint, smooth, state_posterior, temper
from seqclass.bn.base import CodedChunks, HiddenTables, ObservationModel
from seqclass.bn.contexts import coarse

if TYPE_CHECKING:
    from typing_extensions import Self


class LatentStateModel(ObservationModel):
    """Base of the models in which each class has hidden states, given which the features are independent.

    In `_fit` a subclass learns the hidden states, and hands them over by ``self._set_states(hidden_class, weights,
    tables)``; all else follows from them, also calibration, exports to pgmpy and, for solvers, tables by hidden state.
    ``X`` of `_fit` may be sparse.

    Attributes
    ----------
    hidden_class_ : ndarray of int of shape (n_hidden,)
        Number of the class of each hidden state; every class has some.
    weights_ : ndarray of shape (n_hidden,)
        P(hidden state | its class).
    tables_ : ndarray of shape (n_features, V_max, n_hidden)
        P(outcome | hidden state), zero beyond the V_j outcomes of a feature.

    Examples
    --------
    Two kinds of every class, in one of which all features show outcome 0 more often:

    >>> import numpy as np
    >>> class Kinds(LatentStateModel):
    ...     def _fit(self, X, codes, sample_weight):
    ...         low = np.array([[0.8, 0.3, 0.6, 0.1]] * X.shape[1])
    ...         self._set_states(np.array([0, 0, 1, 1]), np.full(4, 0.5), np.stack([low, 1 - low], axis=1))
    >>> model = Kinds().fit([[0, 0], [1, 1], [0, 1]], ["a", "b", "b"])
    >>> model.likelihood(0, [[-1, -1], [-1, 0]])[:, 0].round(3)  # the second feature tells of the kind
    array([[0.55 , 0.35 ],
           [0.664, 0.529]])
    """

    _accepts_sparse = True
    _passes_latent = True

    hidden_class_: IntArray
    weights_: FloatArray
    tables_: FloatArray
    state_names_: dict[int, list[Any]] | None
    feature_names_: list[Any] | None

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
        feature_names, class_name, state_names, plain_names
            As in `TreeNetwork.to_pgmpy`.
        component_name : hashable
            Node of the component, whose states are the numbers of the hidden states.

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
        others, components = [class_name, component_name], list(range(len(self.weights_)))
        names = _pgmpy.names_and_states(self, feature_names, state_names, plain_names, others, components)
        return _pgmpy.mixture_to_pgmpy(self, *names)

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
        after[rows] = condition_on_answer(
            after[rows], self.tables_[feature, shown[rows]], self.hidden_class_, self._member
        )
        return after

    def _likelihood_table(self, features: IntArray | slice) -> FloatArray:
        return np.asarray(within_classes(self.weights_[None], self.tables_[features], self._members)[0])

    def tables(self, order: npt.ArrayLike) -> FloatArray | None:
        """Likelihoods of the stages of an order where every class has one component only, else None."""
        if len(self.hidden_class_) > len(self.classes_):
            return None
        return np.asarray(self.tables_[np.asarray(order)])

    def latent_tables(self, features: npt.ArrayLike) -> HiddenTables:
        """The components and their tables; see :meth:`ObservationModel.latent_tables`."""
        return HiddenTables(self.weights_, self.hidden_class_, self.tables_[np.asarray(features)])

    def sample(self, n: int, random_state: Any = None) -> tuple[IntArray, npt.NDArray[Any]]:
        """Draw ``n`` instances from the model: outcome codes and labels; see `DiscreteNetwork.sample`."""
        check_is_fitted(self)
        n = check_integer(n, "n", 0)
        nothing: list[IntArray] = [np.empty(0, dtype=np.intp)] * self.n_features_in_
        cpds = [table[:size] for table, size in zip(self.tables_, self.n_outcomes_.tolist())]
        X, state = sample_cases(self._hidden_prior, nothing, cpds, n, as_generator(random_state))
        return X, self.classes_[self.hidden_class_[state]]

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
        return [np.flatnonzero(self.hidden_class_ == c) for c in range(len(self.classes_))]

    @property
    def _hidden_prior(self) -> FloatArray:
        return np.asarray(self.class_prior_[self.hidden_class_] * self.weights_)

    def _likelihood(self, feature: int, evidence: Any) -> FloatArray:
        size = int(self.n_outcomes_[feature])
        result = np.empty((evidence.shape[0], size, len(self.classes_)))
        for rows in chunks(evidence.shape[0], 8.0 * 4 * len(self.weights_)):
            joint = log_joint(evidence[rows], self.weights_, self._pad_table).T
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
            result[rows] = (self._member.T @ state_posterior(evidence[rows], self._hidden_prior, self._pad_table)).T
        return result

    def _pad_table(self, features: slice) -> FloatArray:
        """P(outcome | hidden state), and 1 beyond V_j, where no outcome lies."""
        table = self.tables_[features]
        beyond = np.arange(table.shape[1]) >= self.n_outcomes_[features, None]
        return np.where(beyond[:, :, None], 1.0, table) if beyond.any() else table

    def _check_stored_fit(self) -> None:
        classes = require_array(self, "hidden_class_", "i", None)
        require(np.array_equal(np.unique(classes), np.arange(len(self.classes_))), "hidden_class_ has other classes")
        weights = require_numbers(self, "weights_", len(classes), low=0)
        require(np.allclose(np.bincount(classes, weights), 1), "weights_ are wrong")
        tables = require_numbers(self, "tables_", self.n_features_in_, None, len(classes), low=0)
        real = np.arange(tables.shape[1]) < self.n_outcomes_[:, None]
        complete = tables.shape[1] >= self.n_outcomes_.max() and np.allclose(tables.sum(axis=1), 1)
        require(complete and not tables[~real].any(), "tables_ have other outcomes")


class Mixture(LatentStateModel):
    """Hidden states that are given by their tables, or learnt with nothing but tables to describe them."""

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
        labels = check_classes(classes)
        states, share, likelihoods, n_outcomes = check_tables(hidden_class, weights, tables, len(labels))
        set_fitted_attributes(model, labels, class_prior, n_outcomes, state_names, feature_names)
        model._set_states(states, share, likelihoods)
        model._as_given()
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
        feature_names
            As in `TreeNetwork.from_pgmpy`.

        Returns
        -------
        ClassMixture or ContextBayes
            Of the class that was asked; classes and states as in `TreeNetwork.from_pgmpy`.

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

    def _as_given(self) -> None:
        """Set what a fit would have left of itself beside the tables."""


class ShareSums(NamedTuple):
    """Sums over rows of the components' shares in them."""

    likelihood: float
    counts: FloatArray
    totals: FloatArray


def add_sums(one: ShareSums, other: ShareSums) -> ShareSums:
    """Sums over the rows of both."""
    return ShareSums(one.likelihood + other.likelihood, one.counts + other.counts, one.totals + other.totals)


def shares(codes: Codes, y: IntArray, states: Components) -> ShareSums:
    """Shares of the components in some rows, summed up."""
    counts: FloatArray = np.zeros(states.tables.shape)
    likelihood, totals = 0.0, np.zeros(len(states.weights))
    for c in np.unique(y).tolist():
        own, rows = states.classes == c, codes[np.flatnonzero(y == c)]
        joint = state_likelihoods(rows, states.tables[:, :, own]) + np.log(np.maximum(states.weights[own], TINY))
        top = logsumexp(joint, axis=1, keepdims=True)
        share = np.exp(joint - top)
        likelihood += float(top.sum())
        totals[own] = share.sum(axis=0)
        design = Design(rows, counts.shape[1])
        counts[:, :, own] = design.counts(design.sums(share), totals[own], counts.shape[1])
    return ShareSums(likelihood, counts, totals)


def go_on(chunks: CodedChunks, states: Components, n_outcomes: IntArray, settings: MixtureSettings) -> Components:
    """Go on from components that were fitted to a sample, over all rows, until their objective rises no more."""
    marginal = smooth(chunks.counts, n_outcomes, settings.alpha)[:, :, states.classes]
    strength = settings.shrinkage * n_outcomes[:, None, None] * marginal
    alone = np.bincount(states.classes)[states.classes] == 1
    before = -np.inf
    for _ in range(settings.max_iter):
        expectation: ShareSums = chunks.total(partial(shares, states=states), add_sums)
        spread = states.weights[~alone]
        objective = expectation.likelihood + float(xlogy(strength, states.tables)[:, :, ~alone].sum())
        objective += TUNING.spare_rows * float(np.log(np.maximum(spread, TINY)).sum())
        states = _maximise(states, expectation, strength, np.where(alone, marginal, np.nan))
        if objective - before <= settings.tol * abs(objective):
            break
        before = objective
    return states


def _maximise(states: Components, expectation: ShareSums, strength: FloatArray, fixed: FloatArray) -> Components:
    """Parameters that are most probable given the shares; a class of one component has its own table."""
    tables = expectation.counts + strength
    tables /= tables.sum(axis=1, keepdims=True)
    total = expectation.totals + TUNING.spare_rows
    weights = total / np.bincount(states.classes, total)[states.classes]
    tables = np.where(np.isnan(fixed), tables, fixed)
    return replace(states, weights=weights, tables=tables, n_iter=states.n_iter + 1)


def _shares_of(n_components: Any) -> dict[int, float]:
    """Shares of mixtures by their numbers of components, ever more."""
    sizes = n_components if isinstance(n_components, dict) else {n_components: 1.0}
    shares = {check_integer(n, "n_components", 1): check_real(sizes[n], "n_components", 0) for n in sorted(sizes)}
    if not (total := sum(shares.values())) > 0:
        raise ValueError(f"n_components, a dict of shares, must have one above 0; got {n_components!r}.")
    return {n: share / total for n, share in shares.items() if share}


@dataclass(repr=False, eq=False)
class ClassMixture(Mixture):
    """Mixture of naive Bayes models in each class: features are independent given the class and a hidden component.

    If a class has members of several kinds, there is a component for each kind: the answers so far tell the kind, and
    the kind tells what to expect of the other features. The model is fitted by expectation maximisation from components
    that start at random rows. The table of a component is shrunk towards that of its class,

        P(v | component) = (S_v + a P(v | class)) / (S + a),  a = shrinkage V,

    where S_v is the weight of the component's share in the rows with outcome v, S that in all rows in which the feature
    is not missing, and V the number of outcomes; P(v | class) is smoothed as in `NaiveBayes`. With one component per
    class the model is naive Bayes. A class has at most one component for every 3 of its rows.

    With ``order="adaptive"``, ordering rules use the components; see `seqclass.pomdp.MixtureProblem`.

    Parameters
    ----------
    n_components : int, "auto", "average" or dict of int to float
        Components of a class, at most. ``"auto"`` tries 1, 2, 4 and so on to 64 (as long as it does not get clearly
        worse) and takes the fewest that predict held-out rows, given their class, within a standard error of the best;
        1 where these tell the classes of held-out rows worse than 1 does. ``"average"`` puts mixtures of these numbers
        side by side, each with the share by which held-out rows are most probable (stacking: P. Smyth and D. Wolpert,
        Machine Learning 36, 1999), and leaves out those of less than a tenth. Of densities the one component of a class
        is then drawn to what all classes share, as in `ContextBayes`. A dict gives the shares of such mixtures.
    n_bags : int
        So many mixtures are put side by side in each class, each of equal weight and fitted to a bootstrap sample of
        the rows: a class then has ``n_bags * n_components`` hidden states. 1 fits one mixture to the rows themselves.
    alpha : float
        Pseudo-count of every outcome in a class's own table.
    shrinkage : float
        Rows by outcome that the class's table counts for in a component's; above 0.
    density : {"tables", "normal", "rank", "auto"}
        ``"tables"``: each outcome has a probability of its own. The others are for outcomes that are fine bins of
        numbers, as in `ContextBayes`. Components are found on at most five groups of a feature's bins, and their tables
        over all bins are then normal distributions, or what suits each feature best.
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
    classes_, class_prior_, class_count_, n_outcomes_, n_features_in_
        As in `NaiveBayes`.
    n_components_ : ndarray of int of shape (n_classes,)
        Components of each class, in each bag; of all sizes that are averaged over together.
    hidden_class_ : ndarray of int of shape (n_hidden,)
        Class of each hidden state: the components of all bags, class by class.
    weights_ : ndarray of shape (n_hidden,)
        P(hidden state | class).
    tables_ : ndarray of shape (n_features, V_max, n_hidden)
        P(outcome | hidden state), zero beyond V_j of a feature.
    shares_ : dict of int to float
        Share of the mixture of so many components in each class, of a model that was fitted to rows.
    candidates_ : dict of int to float
        With ``"auto"`` and ``"average"``: mean log-likelihood of a held-out row given its class, in nats, by the number
        of components.
    densities_ : list of str of length n_features
        How each feature's outcomes are modelled.
    n_iter_ : ndarray of int of shape (n_classes,)
        Iterations of each class.
    state_names_, feature_names_ : dict, list or None
        Names of outcomes and features, if the model came with such.
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

    n_components: int | Literal["auto", "average"] | dict[int, float] = "auto"
    _: KW_ONLY
    n_bags: int = 1
    alpha: float = 1.0
    shrinkage: float = 0.5
    density: str = "tables"
    prior: Any = None
    max_iter: int = 200
    tol: float = 1e-6
    random_state: Any = 0

    def _fit(self, X: Codes, codes: IntArray, sample_weight: FloatArray | None) -> None:
        settings, allowed = self._settings(), check_families(self.density)
        weight = np.ones(len(codes)) if sample_weight is None else sample_weight
        rows = groups = TrainingRows(X, codes, weight, len(self.classes_), self.n_outcomes_)
        self.class_count_ = np.bincount(codes, weights=weight, minlength=rows.n_classes).astype(np.float64)
        self.class_prior_ = resolve_prior(self.prior, self.class_count_, self.classes_)
        rng = as_generator(self.random_state)
        began = perf_counter()
        if allowed != ("tables",):
            # components are found on five groups of outcomes, at most
            grouped, n_groups = coarse(X, self.n_outcomes_, weight, 5, 5, self._apart)
            groups = replace(rows, X=grouped, n_outcomes=n_groups)
        self.candidates_: dict[int, float] = {}
        if isinstance(self.n_components, str):
            several = self.n_components == "average"
            self.shares_, self.candidates_ = choose_components(groups, settings, rng, several=several)
        else:
            self.shares_ = _shares_of(self.n_components)
        chosen_at = perf_counter()
        mixtures = [fit_components(groups, np.full(rows.n_classes, n), settings, rng) for n in self.shares_]
        states = side_by_side(mixtures, np.array([*self.shares_.values()]))
        tables = states.tables
        family: IntArray = np.zeros(self.n_features_in_, dtype=np.intp)
        if allowed != ("tables",):
            tables, family = self._dense_tables(rows, groups.X, states, allowed)
        self._set_states(states.classes, states.weights, tables)
        self.densities_ = [FAMILIES[kind] for kind in family.tolist()]
        self.n_components_, self.n_iter_ = states.n_components, states.n_iter
        self.state_names_ = self.feature_names_ = None
        self.timings_ = {"structure": chosen_at - began, "parameters": perf_counter() - chosen_at}

    def _dense_tables(
        self, rows: TrainingRows, groups: Codes, states: Components, allowed: tuple[str, ...]
    ) -> tuple[FloatArray, IntArray]:
        """Tables of hidden states over all outcomes, of components that were found on groups of them, and families."""
        n_folds = TUNING.n_folds if len(allowed) > 1 else 1
        scales = Scales(self.n_outcomes_, rows.counts()[0].sum(axis=(2, 3)), float(self.alpha), self._apart)
        counts = np.zeros((n_folds, *scales.counts.shape, 1, len(states.classes)))
        for c in range(int(states.classes.max()) + 1):
            some, own = np.flatnonzero(rows.codes == c), np.flatnonzero(states.classes == c)
            joint = state_likelihoods(groups[some], states.tables[:, :, own]) + np.log(states.weights[own])
            X, fold = rows.X[some], np.arange(len(some)) % n_folds
            for bag in np.unique(states.bag[own]):  # a row is in every bag
                mates = states.bag[own] == bag
                for state, share in zip(own[mates].tolist(), softmax(joint[:, mates], axis=1).T):
                    table = contingency_table(X, fold, n_folds, rows.n_outcomes, rows.weight[some] * share)
                    counts[:, :, :, 0, state] = table.transpose(2, 0, 1)
        scales = scales.choose_family(counts, allowed)
        total, tables = counts.sum(axis=0)[:, :, 0], np.empty((*scales.counts.shape, len(states.classes)))
        # averaged over, one component says what its class shares with the others, and more what they share in it
        single = (states.bag == 0) & self._has_several_sizes & (min(self.shares_) == 1)
        drawn_with = np.where(single, -1, states.classes)
        for number in np.unique(drawn_with):
            alike = drawn_with == number
            tables[:, :, alike] = scales.tables(total[:, :, None, alike])[:, :, 0]
        return tables, np.asarray(scales.family)

    def _kinds(self) -> HiddenTables:
        return HiddenTables(self.weights_, self.hidden_class_, self.tables_)

    def _fit_chunks(self, chunks: CodedChunks) -> None:
        codes, y = chunks.sample
        if not chunks.is_whole:
            self._check_sums()
        self._fit(codes, y, None)
        if chunks.is_whole:
            return
        began = perf_counter()
        self.class_count_ = chunks.class_count
        self.class_prior_ = resolve_prior(self.prior, self.class_count_, self.classes_)
        bag = np.zeros(len(self.weights_), dtype=np.intp)
        states = Components(self.hidden_class_, self.weights_, self.tables_, self.n_components_, self.n_iter_, bag)
        states = go_on(chunks, states, self.n_outcomes_, self._settings())
        self._set_states(states.classes, states.weights, states.tables)
        self.n_iter_ = states.n_iter
        self.timings_["parameters"] += perf_counter() - began

    @property
    def _has_several_sizes(self) -> bool:
        return self.n_components == "average" or isinstance(self.n_components, dict)

    def _check_sums(self) -> None:
        refused = {"n_bags": (self.n_bags != 1, 1), "density": (self.density != "tables", "tables")}
        refused["n_components"] = (self._has_several_sizes, "auto")
        for name, (wrong, needed) in refused.items():
            if wrong:
                value = getattr(self, name)
                raise ValueError(
                    f"{name}={value!r} needs all rows at once: from chunks give {name}={needed!r}, or fit to a sample "
                    "of the rows."
                )

    def _as_given(self) -> None:
        self.densities_ = ["tables"] * self.n_features_in_
        self.n_components_, self.candidates_, self.shares_ = np.bincount(self.hidden_class_), {}, {}
        self.n_iter_ = np.zeros(len(self.classes_), dtype=np.intp)

    def _settings(self) -> MixtureSettings:
        if isinstance(self.n_components, str):
            check_choice(self.n_components, "n_components", ("auto", "average"))
        else:
            _shares_of(self.n_components)
        if check_real(self.shrinkage, "shrinkage", 0) == 0:
            raise ValueError("shrinkage must be above 0: without it a component believes what few rows show.")
        return MixtureSettings(
            check_real(self.alpha, "alpha", 0),
            float(self.shrinkage),
            check_integer(self.n_bags, "n_bags", 1),
            check_integer(self.max_iter, "max_iter", 1),
            check_real(self.tol, "tol", 0),
        )

    def _check_stored_fit(self) -> None:
        super()._check_stored_fit()
        require_array(self, "n_components_", "i", len(self.classes_), low=1)
