"""Naive Bayes in each class and context: an observed feature says which tables hold."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import KW_ONLY, dataclass
from time import perf_counter
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from scipy.special import entr, log_softmax, softmax

from seqclass._utils.arrays import BoolArray, FloatArray, IntArray, as_generator
from seqclass._utils.information import mutual_information
from seqclass._utils.stored import require, require_array, require_list
from seqclass._utils.text import short_repr
from seqclass._utils.validation import check_real
from seqclass.bn._checks import Codes, resolve_prior
from seqclass.bn._densities import FAMILIES, Scales, check_families
from seqclass.bn._em import TUNING as EM
from seqclass.bn._em import (
    Design,
    TrainingRows,
    class_likelihoods,
    difference,
    rows_looked_at,
    state_likelihoods,
    stratified_folds,
)
from seqclass.bn._structure import pair_weights
from seqclass.bn.base import HiddenTables
from seqclass.bn.contexts import TUNING as GROUPS
from seqclass.bn.contexts import Contexts, coarse, contexts_of, halve
from seqclass.bn.mixture import Mixture


@dataclass(frozen=True)
class ContextTuning:
    """How contexts are looked for, held against none, and fitted."""

    max_iter: int = 20  #: iterations for rows whose context is not seen
    tol: float = 1e-3  #: change of a probability that ends them
    n_single: int = 6  #: single columns that are looked at
    max_features: int = 1000  #: beyond which no single column is: all pairs are counted
    max_groups: int = 2  #: groups of columns tied to each other that are looked at
    max_tied_features: int = 200  #: beyond which no group is: all triples are compared
    tied_deviations: float = 5.0  #: standard deviations beyond chance from which on two columns are tied
    max_tested_rows: int = 3000  #: rows that are looked at to see whether contexts are worth a try
    little: float = 0.1  #: a context says this share of what the best column says of the class, at most
    by_chance: float = 2.0  #: beside it, so many times what it would say by chance
    clear_errors: float = 3.0  #: standard errors by which classes of held-out rows have to be more probable
    min_gain: float = 0.02  #: share of their entropy by which they have to be


TUNING = ContextTuning()


def states_of(contexts: Contexts | None, counts: FloatArray, by_class: FloatArray, scales: Scales) -> HiddenTables:
    """The hidden states from counts, class by class, and within a class context by context."""
    n_features, n_outcomes, n_contexts, n_classes = counts.shape
    tables, share = scales.tables(counts), np.ones((1, n_classes))
    if contexts is not None:
        columns = contexts.columns
        marginal = scales.select(columns).tables(by_class[columns])[:, :, 0]
        width = contexts.group.shape[1]
        own, share = contexts.tables(counts[columns][:, :width], marginal[:, :width], scales.alpha)
        tables[columns] = 0.0
        tables[columns, :width] = own
    flat = tables.transpose(0, 1, 3, 2).reshape(n_features, n_outcomes, -1)
    return HiddenTables(share.T.reshape(-1), np.repeat(np.arange(n_classes), n_contexts), np.ascontiguousarray(flat))


def fit_states(rows: TrainingRows, contexts: Contexts | None, scales: Scales) -> tuple[HiddenTables, int]:
    """Fit the hidden states; where a row's context is not seen, by expectation maximisation."""
    by_class = rows.counts()[0]
    if contexts is None:
        return states_of(None, by_class, by_class, scales), 0
    context, n_contexts = contexts.assign(rows.X), len(contexts.patterns)
    seen = rows.counts(context, n_contexts)[0]
    states = states_of(contexts, seen, by_class, scales)
    unseen = rows[np.flatnonzero((context < 0) & (rows.weight > 0))]
    before, step = np.zeros((len(unseen), n_contexts)), 0
    while len(unseen) and step < TUNING.max_iter:
        step += 1
        joint = state_likelihoods(unseen.X, states.tables) + np.log(states.weights)
        own = joint.reshape(-1, rows.n_classes, n_contexts)[np.arange(len(unseen)), unseen.codes]
        share = softmax(own, axis=1)
        states = states_of(contexts, seen + unseen.share_out(share), by_class, scales)
        if np.abs(share - before).max() < TUNING.tol:
            break
        before = share
    return states, step


def choose_context(
    rows: TrainingRows, scales: Scales, bundles: Sequence[IntArray], rng: np.random.Generator
) -> tuple[Contexts | None, list[tuple[tuple[int, ...], float]]]:
    """Choose the columns given which held-out rows of the other columns are most probable, or none."""
    if len(rows) > EM.max_rows:
        rows = rows[rows_looked_at(len(rows), EM.max_rows, rng)]
    folds = stratified_folds(rows.codes, rows.n_classes, EM.n_folds, rng)
    scored = np.flatnonzero((folds >= 0) & (rows.weight > 0))
    best, gains, most = None, list[tuple[tuple[int, ...], float]](), 0.0
    if not scored.size:
        return best, gains
    parts, weight = _hold_out(rows, folds, rows.counts(folds=folds), scales), rows.weight[scored]
    for contexts in _candidate_contexts(rows, bundles):
        others, classes = _gains(rows, folds, parts, contexts, scales)[:, scored]
        gain, error = difference(others, 0.0, weight)
        class_gain, class_error = difference(classes, 0.0, weight)
        gains.append((tuple(contexts.columns.tolist()), gain))
        if gain > max(error, most) and class_gain >= -class_error:
            best, most = contexts, gain
    return best, gains


def changes_what_others_tell(
    X: Codes, codes: IntArray, weight: FloatArray, n_outcomes: IntArray, bundles: Sequence[IntArray]
) -> bool:
    """Whether columns that say next to nothing about the class themselves change what the others say of it."""
    rng, rows = np.random.default_rng(0), TrainingRows(X, codes, weight, int(codes.max()) + 1, n_outcomes)
    if len(rows) > TUNING.max_tested_rows:
        rows = rows[np.sort(rng.choice(len(rows), TUNING.max_tested_rows, replace=False))]
    folds = stratified_folds(rows.codes, rows.n_classes, EM.n_folds, rng)
    scored = np.flatnonzero((folds >= 0) & (rows.weight > 0))
    if not scored.size:
        return False
    information = mutual_information(rows.X, rows.codes, n_outcomes=n_outcomes, sample_weight=rows.weight)
    chance = (rows.n_classes - 1) / (2 * rows.weight.sum())
    little = TUNING.little * float((information - chance * (n_outcomes - 1)).max(initial=0.0))
    share = np.bincount(rows.codes, rows.weight) / rows.weight.sum()
    entropy = float(entr(share).sum())
    scales, parts = None, list[_HeldOut]()
    for contexts in _candidate_contexts(rows, bundles):
        if len(contexts.columns) == len(n_outcomes):
            continue
        context, n_contexts = contexts.assign(rows.X)[:, None], len(contexts.patterns)
        own = mutual_information(context, rows.codes, n_outcomes=n_contexts, sample_weight=rows.weight)[0]
        if own > little + TUNING.by_chance * chance * (n_contexts - 1):
            continue
        if scales is None:
            single = rows.counts(folds=folds)
            scales = Scales(n_outcomes, single.sum(axis=(0, 3, 4)), 1.0)
            parts = _hold_out(rows, folds, single, scales)
        gains = _gains(rows, folds, parts, contexts, scales)[:, scored]
        (others, error), (class_gain, class_error) = (difference(gain, 0.0, rows.weight[scored]) for gain in gains)
        if others > error and class_gain > max(TUNING.clear_errors * class_error, TUNING.min_gain * entropy):
            return True
    return False


def _candidate_contexts(rows: TrainingRows, bundles: Sequence[IntArray]) -> Iterator[Contexts]:
    """Contexts that may be worth it: of bundles, of columns tied to each other, of single columns."""
    tied = _group_tied(rows, bundles)
    for number, columns in enumerate([*bundles, *tied, *_short_list(rows)], -len(bundles)):
        contexts = contexts_of(rows.X, columns, rows.n_outcomes, rows.weight)
        # what nobody named may take no longer than a single column
        if contexts is not None and not (0 <= number < len(tied) and len(contexts.patterns) > GROUPS.max_outcomes):
            yield contexts


def _short_list(rows: TrainingRows) -> list[IntArray]:
    """Single columns that say most about the others given the class, beyond what chance would let them say."""
    if len(rows.n_outcomes) > TUNING.max_features:
        return []
    X, sizes = coarse(rows.X, rows.n_outcomes, rows.weight, GROUPS.max_outcomes, GROUPS.n_groups)
    information = np.asarray(pair_weights(X, rows.codes, sizes, rows.n_classes, rows.weight))
    free = (sizes - 1.0)[:, None] * (sizes - 1.0)
    beyond = information - free * rows.n_classes / (2 * rows.weight.sum())
    np.fill_diagonal(beyond, 0.0)
    total = beyond.sum(axis=1)
    order = np.argsort(-total, kind="stable")[: TUNING.n_single]
    return [np.array([j]) for j in order.tolist() if total[j] > 0 and sizes[j] > 1]


def _group_tied(rows: TrainingRows, bundles: Sequence[IntArray]) -> list[IntArray]:
    """Groups of columns each of which clearly tells of each other given the class, as the columns of a one-hot do."""
    if not 2 < len(rows.n_outcomes) <= TUNING.max_tied_features:
        return []
    X, sizes = halve(rows.X, rows.n_outcomes, rows.weight)
    information = 2 * rows.weight.sum() * np.asarray(pair_weights(X, rows.codes, sizes, rows.n_classes, rows.weight))
    # by chance as a chi-squared variable of so many degrees of freedom
    beyond = (information - rows.n_classes) / np.sqrt(2.0 * rows.n_classes)
    np.fill_diagonal(beyond, 0.0)
    for columns in bundles:
        beyond[columns] = beyond[:, columns] = 0.0
    groups: list[IntArray] = []
    while len(groups) < TUNING.max_groups:
        # a column may tell most of one that tells of no other: three say more
        weakest = np.array([np.minimum(np.minimum.outer(row, row), beyond).max(axis=1) for row in beyond])
        first, second = np.unravel_index(int(weakest.argmax()), weakest.shape)
        if weakest[first, second] <= TUNING.tied_deviations:
            break
        group = [int(first), int(second)]
        while len(group) < GROUPS.max_columns and (least := beyond[group].min(axis=0)).max() > TUNING.tied_deviations:
            group.append(int(least.argmax()))
        beyond[group] = beyond[:, group] = 0.0
        groups.append(np.sort(np.array(group, dtype=np.intp)))
    return groups


class _HeldOut(NamedTuple):
    """A fold's rows, counts of the others, and what these make of the rows without contexts."""

    held: IntArray
    kept: BoolArray
    design: Design
    by_class: FloatArray
    prior: FloatArray  # its logarithm, up to what all classes share
    without: HiddenTables
    of_class: FloatArray


def _hold_out(rows: TrainingRows, folds: IntArray, single: FloatArray, scales: Scales) -> list[_HeldOut]:
    """The folds, with what is the same for all contexts."""
    parts, width = [], int(rows.n_outcomes.max(initial=1))
    for fold in range(EM.n_folds):
        held, kept = np.flatnonzero(folds == fold), np.arange(len(single)) != fold
        design, by_class = Design(rows.X[held], width), single[kept].sum(axis=0)
        without, prior = states_of(None, by_class, by_class, scales), np.log(by_class[0].sum(axis=(0, 1)) + 1.0)
        of_class = _of_class(design, rows.codes[held], without, prior)
        parts.append(_HeldOut(held, kept, design, by_class, prior, without, of_class))
    return parts


def _gains(
    rows: TrainingRows, folds: IntArray, parts: list[_HeldOut], contexts: Contexts, scales: Scales
) -> FloatArray:
    """What contexts add to the log-likelihood of each row's other columns, and of its class, (2, n)."""
    result, context, n_contexts = np.zeros((2, len(rows))), contexts.assign(rows.X), len(contexts.patterns)
    split = rows.counts(context, n_contexts, folds)
    for held, kept, design, by_class, prior, without, of_class in parts:
        within = states_of(contexts, split[kept].sum(axis=0), by_class, scales)
        known, codes = np.flatnonzero(context[held] >= 0), rows.codes[held]
        own, at = codes[known] * n_contexts + context[held[known]], held[known]
        result[0, at] = _of_states(design, within, contexts.columns)[known, own]
        result[0, at] -= _of_states(design, without, contexts.columns)[known, codes[known]]
        result[1, held] = _of_class(design, codes, within, prior) - of_class
    return result


def _of_states(design: Design, states: HiddenTables, left_out: IntArray) -> FloatArray:
    """Log-likelihood of all but some columns of each row, (n, n_hidden)."""
    tables = np.array(states.tables)
    tables[left_out] = 1.0
    return state_likelihoods(design, tables)


def _of_class(design: Design, codes: IntArray, states: HiddenTables, prior: FloatArray) -> FloatArray:
    joint = class_likelihoods(design, states.classes, states.weights, states.tables) + prior[:, None]
    return np.asarray(log_softmax(joint, axis=0)[codes, np.arange(len(codes))])


@dataclass(repr=False, eq=False)
class ContextBayes(Mixture):
    """Naive Bayes in each class and context: an observed feature says which tables hold.

    The hidden state is the class together with the context; given both, the features are independent. The context is
    the outcome of one feature, or of several together, such as the columns of a bundle. Where it has not been seen, it
    is uncertain like the component of a `ClassMixture`. The model can learn from few rows what holds in one context
    only, and ordering rules see that the context is worth asking for (`seqclass.pomdp.HiddenInformation`).

    The table of a feature in a class and context is shrunk towards that of the class in all contexts, or that of the
    context in all classes. For each feature and context, the choice between the two and the strength are those that
    make the counts most probable (Dirichlet-multinomial likelihood, [1]_). So if the class does not affect a feature in
    a context, chance differences hardly count, which is context-specific independence ([2]_).

    If outcomes are bins of numbers, one *density* may give the probabilities of all of them. Numbers may then be cut
    finely, ``Discretizer(16)``, so that a bin is about as good as the value itself.

    Parameters
    ----------
    context : "auto", None, int, str or sequence of int or str
        The feature whose outcomes are the contexts, or several whose joint outcomes are; inside a
        `SequentialClassifier` columns of the data, by number or name. None: no contexts, naive Bayes. ``"auto"``: each
        bundle, two groups of features that clearly tell of each other, such as a one-hot, and the six single features
        that say most about the others, are tried on held-out rows; the one given which their other features are most
        probable, unless that is within a standard error of no context, or the classes are told worse.
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
    A single feature of more than 12 outcomes has four groups of about as many rows as contexts. Of several, each of
    more than three outcomes is cut in two (Otsu, 1979), and their joint outcomes of at least five rows are the
    contexts, at most 32. Their tables are then soft, so that any other joint outcome is possible too. Groups of
    features that nobody named are sought among up to 200, and tried if they make no more than 12 contexts.

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

    context: Any = "auto"
    _: KW_ONLY
    density: str = "auto"
    alpha: float = 1.0
    prior: Any = None
    random_state: Any = 0

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

    def _note_columns(self, columns: IntArray, names: Sequence[Any] | None, bundles: IntArray | None) -> ContextBayes:
        """Have contexts that are named after columns of the data, or their numbers there, mean the features."""
        labels = np.empty(0) if bundles is None else bundles
        self._bundles = [np.flatnonzero(labels == bundle) for bundle in np.unique(labels[labels >= 0])]
        context = self.context
        if context is None or (isinstance(context, str) and context == "auto"):
            return self
        place = {column: feature for feature, column in enumerate(columns.tolist())}
        named = {name: column for column, name in enumerate(() if names is None else names)}
        self.context = []
        for one in np.atleast_1d(np.asarray(context, dtype=object)).tolist():
            column = named.get(one, one)
            if column not in place:
                raise ValueError(f"context: {short_repr(one)} is no column, or none that the selector kept.")
            self.context.append(place[column])
        return self

    def _fit(self, X: Codes, codes: IntArray, sample_weight: FloatArray | None) -> None:
        if check_real(self.alpha, "alpha", 0) == 0:
            raise ValueError("alpha must be above 0: a context or an outcome that training did not show may come.")
        allowed = check_families(self.density)
        weight = np.ones(len(codes)) if sample_weight is None else sample_weight
        rows = TrainingRows(X, codes, weight, len(self.classes_), self.n_outcomes_)
        self.class_count_ = np.bincount(codes, weights=weight, minlength=rows.n_classes).astype(np.float64)
        self.class_prior_ = resolve_prior(self.prior, self.class_count_, self.classes_)
        rng, began = as_generator(self.random_state), perf_counter()
        folds = stratified_folds(codes, rows.n_classes, EM.n_folds, rng)
        by_fold = rows.counts(folds=folds)
        scales = Scales(self.n_outcomes_, by_fold.sum(axis=(0, 3, 4)), float(self.alpha), self._apart)
        scales = scales.choose_family(by_fold, allowed)
        contexts, self.candidates_ = self._contexts(rows, scales, rng)
        searched_at = perf_counter()
        states, self.n_iter_ = fit_states(rows, contexts, scales)
        self._set_states(states.classes, states.weights, states.tables)
        self.densities_ = [FAMILIES[kind] for kind in np.asarray(scales.family).tolist()]
        self.context_ = np.empty(0, dtype=np.intp) if contexts is None else contexts.columns
        self.context_values_ = np.empty((0, 0), dtype=np.intp) if contexts is None else contexts.patterns
        self.state_names_ = self.feature_names_ = None
        self.timings_ = {"structure": searched_at - began, "parameters": perf_counter() - searched_at}

    def _as_given(self) -> None:
        self.context_, self.context_values_ = np.empty(0, dtype=np.intp), np.empty((0, 0), dtype=np.intp)
        self.densities_, self.candidates_, self.n_iter_ = ["tables"] * self.n_features_in_, [], 0

    def _contexts(
        self, rows: TrainingRows, scales: Scales, rng: np.random.Generator
    ) -> tuple[Contexts | None, list[tuple[tuple[int, ...], float]]]:
        bundles = self.__dict__.pop("_bundles", [])
        if self.context is None:
            return None, []
        if isinstance(self.context, str) and self.context == "auto":
            return choose_context(rows, scales, bundles, rng)
        columns = np.atleast_1d(np.asarray(self.context))
        if columns.ndim > 1 or columns.dtype.kind not in "iu" or not 0 < len(columns) <= GROUPS.max_columns:
            raise ValueError(
                f'context must be "auto", None, the number of a feature or those of up to {GROUPS.max_columns} '
                f"features, got {short_repr(self.context)}; names are for a SequentialClassifier, whose data have them."
            )
        columns = np.unique(columns.astype(np.intp))
        if columns[0] < 0 or columns[-1] >= self.n_features_in_:
            raise ValueError(
                f"context must be among the features 0..{self.n_features_in_ - 1}, got {columns.tolist()}."
            )
        return contexts_of(rows.X, columns, self.n_outcomes_, rows.weight), []

    def _check_stored_fit(self) -> None:
        super()._check_stored_fit()
        columns = require_array(self, "context_", "i", None, low=0, high=self.n_features_in_ - 1)
        n_states = len(self.classes_) * len(require_array(self, "context_values_", "i", None, len(columns)))
        require(not len(columns) or n_states == len(self.hidden_class_), "context_values_ are wrong")
        require_list(self, "densities_", self.n_features_in_, "features")
