"""Naive Bayes in each class and context: an observed feature says which tables hold."""

from __future__ import annotations

from collections.abc import Sequence
from time import perf_counter
from typing import Any

import numpy as np
import numpy.typing as npt

from seqclass._arrays import FloatArray, IntArray, as_generator
from seqclass._messages import shown
from seqclass._validation import check_real
from seqclass.bn._checks import Codes, resolve_prior
from seqclass.bn._choosing import FOLDS
from seqclass.bn._context_choice import choose_context
from seqclass.bn._context_states import Rows, fit_states
from seqclass.bn._contexts import MOST_COLUMNS, Contexts, contexts_of
from seqclass.bn._densities import FAMILIES, Scales, check_families
from seqclass.bn._folds import stratified_folds
from seqclass.bn._mixture import Mixture


class ContextBayes(Mixture):
    """Naive Bayes in each class and context: an observed feature says which tables hold.

    The hidden state is the class and the context, and given both the features are independent. The context is what one
    feature shows, or several together, such as the columns of a bundle; where it is not seen, it is uncertain like the
    components of a `ClassMixture`. What holds in one context only can so be learned of few rows, and ordering rules
    see that the context is worth asking for (`seqclass.pomdp.HiddenInformation`).

    The table of a feature in a class and context is drawn to that of the class in all contexts, or of the context in
    all classes: in each feature and context to the one, and as strongly as, makes the counts most probable
    (Dirichlet-multinomial likelihood, [1]_). So where the class has no bearing on a feature in a context, hardly any is
    read into chance, which is context-specific independence ([2]_).

    Outcomes that are bins of numbers need no probability each: a *density* says how probable all of them are. Numbers
    may then be cut finely, ``Discretizer(16)``, so that a bin is about as good as the value itself.

    Parameters
    ----------
    context : "auto", None, int, str or sequence of int or str
        The feature whose outcomes are the contexts, or several whose joint outcomes are; inside a
        `SequentialClassifier` columns of the data, by number or name. None: no contexts, naive Bayes. ``"auto"``: each
        bundle, and the six single features that say most about the others, are tried on held-out rows; the one given
        which their other features are most probable, unless that is within a standard error of no context, or the
        classes are told worse.
    density : {"auto", "tables", "normal", "rank"}
        ``"tables"``: any distribution over the outcomes. ``"normal"``: that of a normal variable over bins of equal
        widths, given class and context; ``"rank"``: over the normal scores of the outcomes' ranks, for bins of any
        kind. Both need outcomes in increasing order; of one that more than half the rows show and that is the first, as
        the zeros of `seqclass.discretize.Discretizer`, the probability is learned by itself; features of fewer than
        four further outcomes have tables. Many rows may correct the normal shape. ``"auto"``: for each feature the one
        by which held-out rows are most probable.
    alpha : float
        Pseudo-count of every outcome, and of every context, in what is shared; above 0.
    prior : None, "uniform" or array-like of shape (n_classes,)
        Class prior; None takes the (weighted) frequencies of the training data.
    random_state : None, int or numpy generator
        Draws the folds.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        Class labels.
    class_prior_ : ndarray of shape (n_classes,)
        Class prior in use.
    class_count_ : ndarray of shape (n_classes,)
        Weight of the training rows of each class.
    context_ : ndarray of int
        Features of the context; empty where there is none.
    context_values_ : ndarray of int of shape (n_contexts, len(context_))
        What the features show in each context: their outcomes, or groups of these where there are many.
    densities_ : list of str of length n_features
        How each feature's outcomes are modelled.
    candidates_ : list of (tuple of int, float)
        With ``"auto"``: the features that were tried as context, and the mean gain in the log-likelihood of the other
        features of a held-out row given its class, in nats.
    hidden_class_ : ndarray of int of shape (n_hidden,)
        Class of each hidden state: the contexts, class by class.
    weights_ : ndarray of shape (n_hidden,)
        P(context | class).
    tables_ : ndarray of shape (n_features, V_max, n_hidden)
        P(outcome | hidden state), zero beyond V_j of a feature.
    n_outcomes_ : ndarray of shape (n_features,)
        Number of outcomes V_j of each feature.
    n_iter_ : int
        Iterations of expectation maximisation, for rows whose context is not seen.
    n_features_in_ : int
        Number of features.
    state_names_, feature_names_ : dict, list or None
        Names of outcomes and features, if the model came with such.
    timings_ : dict
        Seconds taken by ``structure`` (choosing densities and context) and ``parameters``.

    See Also
    --------
    ClassMixture : Contexts that are not observed.
    TreeNetwork : A further feature below each.

    Notes
    -----
    A single feature of more than 12 outcomes has four groups of about as many rows as contexts; of several, each of
    more than three outcomes is cut in two (Otsu, 1979), and their joint outcomes of at least five rows are the
    contexts, at most 32. Their tables are then soft, so that any other joint outcome is possible too.

    References
    ----------
    .. [1] I. J. Good, "The estimation of probabilities", 1965.
    .. [2] C. Boutilier, N. Friedman, M. Goldszmidt and D. Koller, "Context-specific independence in Bayesian networks",
       UAI 1996.

    Examples
    --------
    The first feature says which of the two others is the class:

    >>> rng = np.random.default_rng(0)
    >>> X = rng.integers(0, 2, (200, 3))
    >>> y = np.where(X[:, 0] == 1, X[:, 2], X[:, 1])
    >>> model = ContextBayes().fit(X, y)
    >>> model.context_
    array([0])
    >>> model.posterior([[0, 1, 0], [1, 1, 0], [-1, 1, 0]]).round(1)
    array([[0. , 1. ],
           [1. , 0. ],
           [0.6, 0.4]])
    """

    def __init__(
        self,
        context: Any = "auto",
        *,
        density: str = "auto",
        alpha: float = 1.0,
        prior: Any = None,
        random_state: Any = 0,
    ) -> None:
        self.context = context
        self.density = density
        self.alpha = alpha
        self.prior = prior
        self.random_state = random_state

    def context_features(self, order: npt.ArrayLike) -> list[IntArray]:
        """Features that stages still to come may depend on: once a single context is known, that alone."""
        everything = super().context_features(order)
        features = np.asarray(order, dtype=np.intp)
        if len(self.hidden_class_) == len(self.classes_):
            return [features[:0]] * len(features)
        if len(self.context_) != 1 or not (features == self.context_[0]).any():
            return everything
        known = int(np.flatnonzero(features == self.context_[0])[0])
        return [seen if stage <= known else self.context_ for stage, seen in enumerate(everything)]

    def _among(self, columns: IntArray, names: Sequence[Any] | None, bundles: IntArray | None) -> ContextBayes:
        """Have contexts that are named after columns of the data, or their numbers there, mean the features."""
        labels = np.empty(0) if bundles is None else bundles
        self._bundles = [np.flatnonzero(labels == bundle) for bundle in np.unique(labels[labels >= 0])]
        given = self.context
        if given is None or (isinstance(given, str) and given == "auto"):
            return self
        place = {column: feature for feature, column in enumerate(columns.tolist())}
        named = {name: column for column, name in enumerate(() if names is None else names)}
        self.context = []
        for one in np.atleast_1d(np.asarray(given, dtype=object)).tolist():
            column = named.get(one, one)
            if column not in place:
                raise ValueError(f"context: {shown(one)} is no column, or none that the selector kept.")
            self.context.append(place[column])
        return self

    def _fit(self, X: Codes, codes: IntArray, sample_weight: FloatArray | None) -> None:
        allowed = self._allowed()
        weight = np.ones(len(codes)) if sample_weight is None else sample_weight
        rows = Rows(X, codes, weight, len(self.classes_), self.n_outcomes_)
        self.class_count_ = np.bincount(codes, weights=weight, minlength=rows.n_classes).astype(np.float64)
        self.class_prior_ = resolve_prior(self.prior, self.class_count_)
        rng, began = as_generator(self.random_state), perf_counter()
        folds = stratified_folds(codes, rows.n_classes, FOLDS, rng)
        by_fold = rows.counts(folds=folds)
        scales = Scales(self.n_outcomes_, by_fold.sum(axis=(0, 3, 4)), float(self.alpha))
        family = scales.suited(by_fold, allowed)
        contexts, self.candidates_ = self._contexts(rows, scales, family, rng)
        found = perf_counter()
        states, self.n_iter_ = fit_states(rows, contexts, scales, family)
        self._set_states(states.classes, states.weights, states.tables)
        self.densities_ = [FAMILIES[kind] for kind in family.tolist()]
        self.context_ = np.empty(0, dtype=np.intp) if contexts is None else contexts.columns
        self.context_values_ = np.empty((0, 0), dtype=np.intp) if contexts is None else contexts.patterns
        self.state_names_ = self.feature_names_ = None
        self.timings_ = {"structure": found - began, "parameters": perf_counter() - found}

    def _as_given(self) -> None:
        self.context_, self.context_values_ = np.empty(0, dtype=np.intp), np.empty((0, 0), dtype=np.intp)
        self.densities_, self.candidates_, self.n_iter_ = ["tables"] * self.n_features_in_, [], 0

    def _contexts(
        self, rows: Rows, scales: Scales, family: IntArray, rng: np.random.Generator
    ) -> tuple[Contexts | None, list[tuple[tuple[int, ...], float]]]:
        bundles = self.__dict__.pop("_bundles", [])
        if self.context is None:
            return None, []
        if isinstance(self.context, str) and self.context == "auto":
            return choose_context(rows, scales, family, bundles, rng)
        columns = np.atleast_1d(np.asarray(self.context))
        if columns.ndim > 1 or columns.dtype.kind not in "iu" or not 0 < len(columns) <= MOST_COLUMNS:
            raise ValueError(
                f'context must be "auto", None, the number of a feature or those of up to {MOST_COLUMNS} features, got '
                f"{shown(self.context)}; names are for a SequentialClassifier, whose data have them."
            )
        columns = np.unique(columns.astype(np.intp))
        if columns[0] < 0 or columns[-1] >= self.n_features_in_:
            raise ValueError(
                f"context must be among the features 0..{self.n_features_in_ - 1}, got {columns.tolist()}."
            )
        contexts = contexts_of(rows.X, columns, self.n_outcomes_, rows.weight)
        return contexts, []

    def _allowed(self) -> tuple[str, ...]:
        if check_real(self.alpha, "alpha", 0) == 0:
            raise ValueError("alpha must be above 0: a context or an outcome that training did not show may come.")
        return check_families(self.density)
