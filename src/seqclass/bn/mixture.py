"""Class mixtures: each class has components, given which the features are independent."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from time import perf_counter
from typing import Any, Literal, NamedTuple

import numpy as np
from scipy.special import logsumexp, softmax, xlogy

from seqclass._utils.arrays import FloatArray, IntArray, as_generator
from seqclass._utils.information import contingency_table
from seqclass._utils.validation import check_choice, check_integer, check_real
from seqclass.bn._base import CodedChunks
from seqclass.bn._checks import Codes, resolve_prior
from seqclass.bn._densities import FAMILIES, Scales, check_families
from seqclass.bn._em import (
    FOLDS,
    SPARE,
    TINY,
    Components,
    Design,
    Settings,
    choose_components,
    fit_components,
    state_likelihoods,
)
from seqclass.bn._mixture import Mixture
from seqclass.bn._tables import smooth
from seqclass.bn.contexts import coarse


class Shares(NamedTuple):
    """Sums over rows of the components' shares in them."""

    likelihood: float
    counts: FloatArray
    totals: FloatArray


def added(one: Shares, other: Shares) -> Shares:
    """Sums over the rows of both."""
    return Shares(one.likelihood + other.likelihood, one.counts + other.counts, one.totals + other.totals)


def shares(codes: Codes, y: IntArray, states: Components) -> Shares:
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
        counts[:, :, own] = _counted(Design(rows, counts.shape[1]), counts.shape[1], share)
    return Shares(likelihood, counts, totals)


def _counted(design: Design, n_outcomes: int, share: FloatArray) -> FloatArray:
    sums, m, n_states = design.sums(share), len(design.feature), share.shape[1]
    found = np.zeros((design.n_features, n_outcomes, n_states))
    found[design.feature, design.level] = sums[:m]
    known: FloatArray = np.tile(share.sum(axis=0), (design.n_features, 1))
    known[design.missing] -= sums[m:]
    found[:, 0] = np.maximum(known - found.sum(axis=1), 0.0)
    return found


def go_on(chunks: CodedChunks, states: Components, n_outcomes: IntArray, settings: Settings) -> Components:
    """Go on from components that were fitted to a sample, over all rows, until their objective rises no more."""
    marginal = smooth(chunks.counts, n_outcomes, settings.alpha)[:, :, states.classes]
    strength = settings.shrinkage * n_outcomes[:, None, None] * marginal
    alone = np.bincount(states.classes)[states.classes] == 1
    before = -np.inf
    for _ in range(settings.max_iter):
        found: Shares = chunks.total(partial(shares, states=states), added)
        spread = states.weights[~alone]
        objective = found.likelihood + float(xlogy(strength, states.tables)[:, :, ~alone].sum())
        objective += SPARE * float(np.log(np.maximum(spread, TINY)).sum())
        states = _maximised(states, found, strength, np.where(alone, marginal, np.nan))
        if objective - before <= settings.tol * abs(objective):
            break
        before = objective
    return states


def _maximised(states: Components, found: Shares, strength: FloatArray, fixed: FloatArray) -> Components:
    """Parameters that are most probable given the shares; a class of one component has its own table."""
    tables = found.counts + strength
    tables /= tables.sum(axis=1, keepdims=True)
    total = found.totals + SPARE
    weights = total / np.bincount(states.classes, total)[states.classes]
    tables = np.where(np.isnan(fixed), tables, fixed)
    return replace(states, weights=weights, tables=tables, n_iter=states.n_iter + 1)


#: Outcomes of a feature that components are found on, at most: more are grouped.
GROUPS = 5


def dense_tables(
    X: Codes,
    groups: Codes,
    codes: IntArray,
    weight: FloatArray,
    states: Components,
    n_outcomes: IntArray,
    allowed: tuple[str, ...],
    alpha: float,
) -> tuple[FloatArray, IntArray]:
    """Tables of hidden states over all outcomes, of components that were found on groups of them."""
    n_folds = FOLDS if len(allowed) > 1 else 1
    nowhere = np.zeros(len(codes), dtype=np.intp)
    whole = contingency_table(X, nowhere, 1, n_outcomes, weight)[:, :, 0]
    counts = np.zeros((n_folds, *whole.shape, 1, len(states.classes)))
    for c in range(int(states.classes.max()) + 1):
        rows, own = np.flatnonzero(codes == c), np.flatnonzero(states.classes == c)
        joint = state_likelihoods(groups[rows], states.tables[:, :, own]) + np.log(states.weights[own])
        some, fold = X[rows], np.arange(len(rows)) % n_folds
        # a row is in every bag
        bags = joint.reshape(len(rows), -1, int(states.n_components[c]))
        for state, share in zip(own.tolist(), softmax(bags, axis=2).reshape(joint.shape).T):
            table = contingency_table(some, fold, n_folds, n_outcomes, weight[rows] * share)
            counts[:, :, :, 0, state] = table.transpose(2, 0, 1)
    scales = Scales(n_outcomes, whole, alpha)
    family = scales.suited(counts, allowed)
    total = counts.sum(axis=0)
    parts = [scales.tables(total[..., states.classes == c], family) for c in range(int(states.classes.max()) + 1)]
    return np.concatenate(parts, axis=3)[:, :, 0], family


__all__ = ["ClassMixture"]


class ClassMixture(Mixture):
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
        Components of a class, at most. ``"auto"`` tries 1, 2, 4 and so on to 64 (as long as it does not get clearly
        worse) and takes the fewest that predict held-out rows, given their class, within a standard error of the best;
        1 where these tell the classes of held-out rows worse than 1 does.
    n_bags : int
        So many mixtures are put side by side in each class, each of equal weight and fitted to a bootstrap sample of
        the rows: a class then has ``n_bags * n_components`` hidden states. 1 fits one mixture to the rows themselves.
    alpha : float
        Pseudo-count of every outcome in a class's own table.
    shrinkage : float
        Rows by outcome that the class's table counts for in a component's; above 0.
    density : {"tables", "normal", "rank", "auto"}
        ``"tables"``: each outcome has a probability of its own. The others are for outcomes that are fine bins of
        numbers, as in `ContextBayes`: components are found on at most five groups of a feature's bins, and their tables
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
    candidates_ : dict of int to float
        With ``"auto"``: mean log-likelihood of a held-out row given its class, in nats, by the number of components.
    densities_ : list of str of length n_features
        How each feature's outcomes are modelled.
    n_outcomes_ : ndarray of shape (n_features,)
        Number of outcomes V_j of each feature.
    n_iter_ : ndarray of int of shape (n_classes,)
        Iterations of each class.
    n_features_in_ : int
        Number of features.
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

    def __init__(
        self,
        n_components: int | Literal["auto"] = "auto",
        *,
        n_bags: int = 1,
        alpha: float = 1.0,
        shrinkage: float = 0.5,
        density: str = "tables",
        prior: Any = None,
        max_iter: int = 200,
        tol: float = 1e-6,
        random_state: Any = 0,
    ) -> None:
        self.n_components = n_components
        self.n_bags = n_bags
        self.alpha = alpha
        self.shrinkage = shrinkage
        self.density = density
        self.prior = prior
        self.max_iter = max_iter
        self.tol = tol
        self.random_state = random_state

    def _fit(self, X: Codes, codes: IntArray, sample_weight: FloatArray | None) -> None:
        settings, allowed = self._settings(), check_families(self.density)
        weight = np.ones(len(codes)) if sample_weight is None else sample_weight
        n_classes = len(self.classes_)
        self.class_count_ = np.bincount(codes, weights=weight, minlength=n_classes).astype(np.float64)
        self.class_prior_ = resolve_prior(self.prior, self.class_count_)
        rng = as_generator(self.random_state)
        began = perf_counter()
        groups, n_groups = X, self.n_outcomes_
        if allowed != ("tables",):
            groups, n_groups = coarse(X, self.n_outcomes_, weight, GROUPS, GROUPS)
        chosen, scores = self.n_components, dict[int, float]()
        if isinstance(chosen, str):
            chosen, scores = choose_components(groups, codes, weight, n_groups, n_classes, settings, rng)
        self.candidates_ = scores
        found = perf_counter()
        sizes = np.full(n_classes, chosen)
        states = fit_components(groups, codes, weight, n_groups, sizes, settings, rng)
        tables = states.tables
        family: IntArray = np.zeros(self.n_features_in_, dtype=np.intp)
        if allowed != ("tables",):
            given = groups, codes, weight, states, self.n_outcomes_
            tables, family = dense_tables(X, *given, allowed, settings.alpha)
        self._set_states(states.classes, states.weights, tables)
        self.densities_ = [FAMILIES[kind] for kind in family.tolist()]
        self.n_components_, self.n_iter_ = states.n_components, states.n_iter
        self.state_names_ = self.feature_names_ = None
        self.timings_ = {"structure": found - began, "parameters": perf_counter() - found}

    def _fit_chunks(self, chunks: CodedChunks) -> None:
        codes, y = chunks.sample
        if not chunks.whole:
            self._check_sums()
        self._fit(codes, y, None)
        if chunks.whole:
            return
        began = perf_counter()
        self.class_count_ = chunks.class_count
        self.class_prior_ = resolve_prior(self.prior, self.class_count_)
        states = Components(self.hidden_class_, self.weights_, self.tables_, self.n_components_, self.n_iter_)
        states = go_on(chunks, states, self.n_outcomes_, self._settings())
        self._set_states(states.classes, states.weights, states.tables)
        self.n_iter_ = states.n_iter
        self.timings_["parameters"] += perf_counter() - began

    def _check_sums(self) -> None:
        for name, value, needed in (("n_bags", self.n_bags, 1), ("density", self.density, "tables")):
            if value != needed:
                raise ValueError(
                    f"{name}={value!r} needs all rows at once: from chunks give {name}={needed!r}, or fit to a sample "
                    "of the rows."
                )

    def _as_given(self) -> None:
        self.densities_ = ["tables"] * self.n_features_in_
        self.n_components_, self.candidates_ = np.bincount(self.hidden_class_), {}
        self.n_iter_ = np.zeros(len(self.classes_), dtype=np.intp)

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
