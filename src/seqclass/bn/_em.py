"""Expectation maximisation of a mixture whose features are independent given the component."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from scipy import sparse
from scipy.special import logsumexp, xlogy

from seqclass._utils.arrays import CHUNK_BYTES, TINY, FloatArray, IntArray, chunks
from seqclass._utils.information import contingency_table
from seqclass.bn._checks import Codes
from seqclass.bn._tables import smooth


@dataclass(frozen=True)
class TrainingRows:
    """Training rows."""

    X: Codes  # (n, n_features)
    codes: IntArray  # class of each
    weight: FloatArray
    n_classes: int
    n_outcomes: IntArray  # (n_features,)

    def __len__(self) -> int:
        return len(self.codes)

    def __getitem__(self, some: IntArray) -> TrainingRows:
        return TrainingRows(self.X[some], self.codes[some], self.weight[some], self.n_classes, self.n_outcomes)

    def counts(self, context: IntArray | None = None, n_contexts: int = 1, folds: IntArray | None = None) -> FloatArray:
        """Rows of each outcome by fold, context and class, (n_folds, n_features, V, n_contexts, n_classes)."""
        rows = np.arange(len(self)) if context is None else np.flatnonzero(context >= 0)
        n_folds = 1 if folds is None else int(folds.max(initial=-1)) + 2
        at = np.zeros(len(rows), dtype=np.intp) if folds is None else folds[rows] % n_folds
        at = (at * n_contexts + (0 if context is None else context[rows])) * self.n_classes + self.codes[rows]
        size = n_folds * n_contexts * self.n_classes
        table = contingency_table(self.X[rows], at, size, self.n_outcomes, self.weight[rows])
        shape = (*table.shape[:2], n_folds, n_contexts, self.n_classes)
        return np.ascontiguousarray(table.reshape(shape).transpose(2, 0, 1, 3, 4))

    def by_class(self) -> Iterator[tuple[Design, FloatArray]]:
        """Rows that differ, and how often each is there, of one class after the other."""
        for c in range(self.n_classes):
            own = np.flatnonzero(self.codes == c)
            rows, weight = distinct_rows(self.X[own], self.weight[own])
            yield Design(self.X[own[rows]], int(self.n_outcomes.max(initial=1))), weight

    def share_out(self, share: FloatArray) -> FloatArray:
        """Rows of each outcome, each in every context by a share, (n_features, V, n_contexts, n_classes)."""
        return np.concatenate([replace(self, weight=self.weight * p).counts()[0] for p in share.T], axis=2)


def stratified_folds(codes: IntArray, n_classes: int, cv: int, rng: np.random.Generator) -> IntArray:
    """Spread the rows of each class over the folds; the row of a class that has only one is in none (-1)."""
    folds = np.full(len(codes), -1)
    offset = 0
    for c in range(n_classes):
        rows = rng.permutation(np.flatnonzero(codes == c))
        if len(rows) > 1:
            folds[rows] = (offset + np.arange(len(rows))) % cv
            offset += len(rows)
    return folds


@dataclass(frozen=True)
class EMTuning:
    """How mixtures are fitted, and how many components they have."""

    max_sparse_density: float = 0.17  #: share of ones, of one in 6 bins, up to which sparse products are faster
    min_rows: int = 3  #: rows a component has at least, in the mean: classes of few rows have fewer components
    spare_rows: float = 1.0  #: rows that each component has beside its own, so that none is left without a weight
    least_share: float = 0.1  #: of rows: a number of components that explains fewer is not worth its states
    stack_iter: int = 50  #: after which shares hardly change
    candidates: tuple[int, ...] = (1, 2, 4, 8, 16, 32, 64)  #: numbers of components that are tried, from below
    n_folds: int = 3  #: held out in turn
    max_rows: int = 5_000  #: rows that a choice looks at
    #: relative change that ends a trial: which number predicts best shows before a mixture is done
    rough_tol: float = 1e-5
    patience: int = 2  #: candidates in a row that are clearly worse than the best, which end the search


TUNING = EMTuning()


class Design:
    """Which outcome other than 0 each row has of each feature, and where it is missing."""

    def __init__(self, codes: Codes, n_outcomes: int) -> None:
        self.n_rows, self.n_features = codes.shape
        seen = _find_occurring(codes, n_outcomes)
        self.feature, self.level = np.nonzero(seen[:, 1:-1])
        self.level = self.level + 1
        self.missing = np.flatnonzero(seen[:, -1])
        self.n_columns = len(self.feature) + len(self.missing)
        column = np.full((self.n_features, n_outcomes + 1), -1)
        column[self.feature, self.level] = np.arange(len(self.feature))
        column[self.missing, -1] = np.arange(len(self.feature), self.n_columns)
        n_ones = codes.nnz if sparse.issparse(codes) else np.count_nonzero(codes)
        self._codes: Any = None
        self._matrix: Any = None
        if sparse.issparse(codes) or n_ones <= TUNING.max_sparse_density * self.n_rows * self.n_columns:
            self._matrix = _ones(codes, column, self.n_columns)
        else:
            self._codes = np.asfortranarray(codes)
            if 2 * self.n_rows * self.n_columns <= CHUNK_BYTES:
                self._matrix = self._dense(slice(None))

    def parts(self, width: int) -> Iterator[tuple[slice, Any]]:
        """Slices of rows and their ones, a part at a time: ``width`` numbers of each row are computed meanwhile."""
        if self._matrix is None:
            for rows in chunks(self.n_rows, 8.0 * (self.n_columns + 3 * width)):
                yield rows, self._dense(rows)
            return
        for rows in chunks(self.n_rows, 8.0 * 3 * width):
            whole = rows.stop - rows.start == self.n_rows
            yield rows, self._matrix if whole else self._matrix[rows]

    def times(self, table: FloatArray) -> FloatArray:
        """Sum of the rows of a table where there are ones, (n_rows, m); ``table`` has a row a column."""
        result = np.empty((self.n_rows, table.shape[1]))
        for rows, ones in self.parts(table.shape[1]):
            result[rows] = ones @ table
        return result

    def sums(self, weight: FloatArray) -> FloatArray:
        """Sum of the rows' weights (n_rows, m) where there are ones, (n_columns, m)."""
        result = np.zeros((self.n_columns, weight.shape[1]))
        for rows, ones in self.parts(weight.shape[1]):
            result += self.transpose(ones) @ weight[rows]
        return result

    def counts(self, sums: FloatArray, total: FloatArray, n_outcomes: int) -> FloatArray:
        """Weight of each outcome, 0 too, (n_features, n_outcomes, m), from `sums` and the weight of all rows, (m,)."""
        n_ones = len(self.feature)
        counts = np.zeros((self.n_features, n_outcomes, len(total)))
        counts[self.feature, self.level] = sums[:n_ones]
        known: FloatArray = np.tile(total, (self.n_features, 1))
        known[self.missing] -= sums[n_ones:]
        counts[:, 0] = np.maximum(known - counts.sum(axis=1), 0.0)
        return counts

    def columns(self, logs: FloatArray) -> tuple[FloatArray, FloatArray]:
        """What ones add to a row's sum of logarithms (n_features, n_outcomes, m), and that sum were all outcomes 0."""
        zero = logs[:, 0]
        ones = np.concatenate([logs[self.feature, self.level] - zero[self.feature], -zero[self.missing]])
        return ones, np.asarray(zero.sum(axis=0))

    def transpose(self, ones: Any) -> Any:
        """Turn what `parts` gave, by column; of a sparse matrix that takes time and is kept."""
        return self._transposed if ones is self._matrix and sparse.issparse(ones) else ones.T

    @cached_property
    def _transposed(self) -> Any:
        return self._matrix.T.tocsr()

    def _dense(self, rows: slice) -> FloatArray:
        codes = self._codes[rows]
        ones = np.empty((len(codes), self.n_columns))
        for at, (feature, level) in enumerate(zip(self.feature.tolist(), self.level.tolist())):
            np.equal(codes[:, feature], level, out=ones[:, at])
        for at, feature in enumerate(self.missing.tolist(), start=len(self.feature)):
            np.equal(codes[:, feature], -1, out=ones[:, at])
        return ones


def _find_occurring(codes: Codes, n_outcomes: int) -> Any:
    """Which outcomes other than 0 occur of each feature, (n_features, n_outcomes + 1); the last is missing."""
    seen = np.zeros((codes.shape[1], n_outcomes + 1), dtype=bool)
    if sparse.issparse(codes):
        seen[codes.indices, codes.data] = True
    else:
        for feature, column in enumerate(np.asfortranarray(codes).T):
            seen[feature, column] = True
    seen[:, 0] = False
    return seen


def _ones(codes: Codes, column: IntArray, n_columns: int) -> Any:
    """CSR matrix of the ones; a stored zero has none."""
    if sparse.issparse(codes):
        codes = sparse.csr_array(codes)
        place, begins = column[codes.indices, codes.data], codes.indptr
    else:
        n, width = codes.shape
        place, begins = column[np.arange(width), codes].ravel(), np.arange(n + 1) * width
    entry = place >= 0
    pointer = np.append(0, np.cumsum(entry))[begins]
    data = np.ones(int(entry.sum()))
    return sparse.csr_array((data, place[entry], pointer), shape=(codes.shape[0], n_columns))


def distinct_rows(codes: Codes, weight: FloatArray) -> tuple[IntArray, FloatArray]:
    """First of each kind of equal rows, in order, and the weight of its kind; kinds of no weight are left out."""
    factor = np.random.default_rng(0).integers(-(2**63), 2**63, codes.shape[1], dtype=np.int64)
    key = np.zeros(codes.shape[0], dtype=np.int64)
    for rows in chunks(codes.shape[0], 8.0 * codes.shape[1]):
        key[rows] = codes[rows].astype(np.int64) @ factor  # products wrap around, as they may
    key[weight == 0] = 0
    some = np.flatnonzero(weight > 0)
    _, first, kind = np.unique(key[some], return_index=True, return_inverse=True)
    order = np.argsort(first)
    total = np.bincount(kind.ravel(), weight[some]).astype(np.float64)
    return some[first[order]], total[order]


@dataclass(frozen=True)
class FittedClass:
    """What was fitted to the rows of a class."""

    weights: FloatArray
    tables: FloatArray
    n_components: int
    history: list[FloatArray]


def fit_mixture(
    design: Design,
    weight: FloatArray,
    marginal: FloatArray,
    strength: FloatArray,
    n_components: int,
    settings: MixtureSettings,
    rng: np.random.Generator,
) -> FittedClass:
    """Fit a mixture to the rows of a class, or several side by side, each to a bootstrap sample of them."""
    most = min(n_components, max(1, int(weight.sum() // TUNING.min_rows)), max(1, len(weight)))
    if most == 1:
        return FittedClass(np.ones(1), np.array(marginal[:, :, None]), 1, [])
    bags = weight[:, None]  # how often each row is in each of them
    if settings.n_bags > 1:
        n, share = max(1, round(float(weight.sum()))), weight / weight.sum()
        bags = np.asarray(rng.multinomial(n, share, size=settings.n_bags).T, dtype=np.float64)
    search = _ClassFit(design, bags, marginal, strength)
    return search.run(search.seeds(most, rng), settings)


@dataclass
class _Bags:
    """Parameters of some bags: logarithms of the components' tables over the class's, and of their weights."""

    zero: FloatArray  # outcome 0, (n_features, bags * components)
    columns: FloatArray  # the columns of the design, less outcome 0 of the feature
    log_weights: FloatArray  # (bags, components)
    log_prior: FloatArray  # of the parameters, (bags,)


class _ClassFit:
    """The data of one class, and the two steps on it."""

    def __init__(self, design: Design, bags: FloatArray, marginal: FloatArray, strength: FloatArray) -> None:
        self.design, self.bags, self.marginal, self.strength = design, bags, marginal, strength
        n, m = design.n_features, len(design.feature)
        self.of_feature = sparse.csr_array((np.ones(m), (design.feature, np.arange(m))), shape=(n, m))
        q = len(design.missing)
        self.of_missing = sparse.csr_array((np.ones(q), (design.missing, np.arange(q))), shape=(n, q))
        self.level, self.zero = marginal[design.feature, design.level][:, None], marginal[:, :1]
        self.positive_zero = np.where(self.zero > 0, self.zero, 1.0)
        self.given, self.given_level = strength[:, None], strength[design.feature, None]
        # what the class's table says of outcomes that no row has
        self.unseen = np.maximum(1 - self.zero - self.of_feature @ self.level, 0.0)
        # what the logarithms of tables count for in the prior: of outcome 0, of others, and of what divides them all
        self.of_zero, self.of_level = self.given * self.zero, self.given_level * self.level
        of_unseen = self.given * self.unseen
        self.of_scale = self.of_zero + self.of_feature @ self.of_level + of_unseen
        self.of_nothing = float((of_unseen * np.log(self.given)).sum())
        self.alone = self._own_table_log_likelihood()

    def seeds(self, n_components: int, rng: np.random.Generator) -> list[IntArray]:
        """Rows at which the components of each bag start: a symmetric start would never leave its saddle."""
        chosen: list[IntArray] = []
        for weight in self.bags.T:
            possible = np.flatnonzero(weight)
            share = weight[possible] / weight[possible].sum()
            size = min(n_components, len(possible))
            picked = possible[rng.choice(len(possible), size, replace=False, p=share)]
            # a bag of fewer kinds of rows has some twice, and then components that are alike
            chosen.append(np.resize(picked, n_components))
        return chosen

    def run(self, seeds: list[IntArray], settings: MixtureSettings) -> FittedClass:
        n_bags, size = len(seeds), len(seeds[0])
        at: FloatArray = np.zeros((self.design.n_rows, n_bags, size))
        for bag, rows in enumerate(seeds):
            at[rows, bag, np.arange(size)] = 1.0
        flat = at.reshape(len(at), -1)
        active = np.arange(n_bags)
        counts, totals = self.design.sums(flat), flat.sum(axis=0)
        done: list[tuple[FloatArray, FloatArray]] = [(counts, totals)] * n_bags
        before, history = np.full(n_bags, -np.inf), []
        for _ in range(settings.max_iter):
            some = self.maximise(counts, totals, len(active))
            likelihood, counts, totals = self.expect(some, active)
            objective = np.full(n_bags, np.nan)
            objective[active] = likelihood + some.log_prior
            history.append(objective)
            for place, bag in enumerate(active.tolist()):
                own = slice(place * size, (place + 1) * size)
                done[bag] = counts[:, own], totals[own]
            rise = objective[active] - before[active]
            scale = np.abs(objective[active] + self.alone[active])
            before[active] = objective[active]
            on = rise > settings.tol * scale
            if not on.any():
                break
            keep = np.repeat(on, size)
            active, counts, totals = active[on], counts[:, keep], totals[keep]
        return self._result([c for c, _ in done], [t for _, t in done], history)

    def maximise(self, counts: FloatArray, totals: FloatArray, n_bags: int) -> _Bags:
        """Parameters that are most probable given the components' shares in the rows."""
        m = len(self.design.feature)
        known = np.maximum(totals - self.of_missing @ counts[m:], 0.0) if len(self.design.missing) else totals
        none = np.maximum(known - self.of_feature @ counts[:m], 0.0)
        scale = np.log(known + self.given)
        zero = np.log(none / self.positive_zero + self.given)
        level = np.log(counts[:m] / self.level + self.given_level)
        prior = (self.of_zero.T @ zero + self.of_level.T @ level - self.of_scale.T @ scale)[0] + self.of_nothing
        shares = totals.reshape(n_bags, -1) + TUNING.spare_rows
        log_weights = np.log(shares / shares.sum(axis=1, keepdims=True))
        log_prior = prior.reshape(n_bags, -1).sum(axis=1) + TUNING.spare_rows * log_weights.sum(axis=1)
        level -= zero[self.design.feature]
        zero -= scale
        columns = np.concatenate([level, -zero[self.design.missing]]) if len(self.design.missing) else level
        return _Bags(zero, columns, log_weights, log_prior)

    def expect(self, some: _Bags, active: IntArray) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Log-likelihood of each bag (over that of the class's table), and the components' shares, summed up."""
        shape = some.log_weights.shape
        base = some.zero.sum(axis=0) + some.log_weights.ravel()
        likelihood, totals = np.zeros(shape[0]), np.zeros(base.shape)
        counts = np.zeros((self.design.n_columns, len(base)))
        for rows, ones in self.design.parts(len(base)):
            # (bags, components, rows): sums over components are then quick
            joint = np.ascontiguousarray((ones @ some.columns).T).reshape(*shape, -1)
            joint += base.reshape(*shape, 1)
            top = joint.max(axis=1, keepdims=True)
            joint -= top
            np.exp(joint, out=joint)
            sums = joint.sum(axis=1, keepdims=True)
            weight = self.bags[rows][:, active].T[:, None]
            likelihood += (weight * (np.log(sums) + top)).sum(axis=(1, 2))
            joint *= weight / sums
            share = joint.reshape(len(base), -1)
            counts += self.design.transpose(ones) @ share.T
            totals += share.sum(axis=1)
        return likelihood, counts, totals

    def _own_table_log_likelihood(self) -> FloatArray:
        """Log-likelihood of each bag by the class's own table."""
        m = len(self.design.feature)
        counts, totals = self.design.sums(self.bags), self.bags.sum(axis=0)
        none = np.maximum(totals - self.of_missing @ counts[m:] - self.of_feature @ counts[:m], 0.0)
        return np.asarray(
            (xlogy(counts[:m], self.level)).sum(axis=0) + xlogy(none * (self.zero > 0), self.zero).sum(axis=0)
        )

    def _result(self, counts: list[FloatArray], totals: list[FloatArray], history: list[FloatArray]) -> FittedClass:
        count, total = np.concatenate(counts, axis=1), np.concatenate(totals)
        design, m = self.design, len(self.design.feature)
        known = np.maximum(total - self.of_missing @ count[m:], 0.0)
        tables = self.strength[:, None, None] * np.repeat(self.marginal[:, :, None], len(total), axis=2)
        tables[design.feature, design.level] += count[:m]
        tables[:, 0] += np.where(self.zero > 0, np.maximum(known - self.of_feature @ count[:m], 0.0), 0.0)
        tables /= tables.sum(axis=1, keepdims=True)
        shares = total.reshape(len(counts), -1) + TUNING.spare_rows
        weights = (shares / shares.sum(axis=1, keepdims=True) / len(counts)).ravel()
        return FittedClass(weights, tables, len(weights) // len(counts), history)


@dataclass(frozen=True)
class MixtureSettings:
    """How mixtures are fitted: the parameters of `ClassMixture`, checked."""

    alpha: float
    shrinkage: float
    n_bags: int
    max_iter: int
    tol: float


@dataclass(frozen=True)
class Components:
    """The hidden states of all classes, class by class."""

    classes: IntArray
    weights: FloatArray
    tables: FloatArray
    n_components: IntArray
    n_iter: IntArray
    bag: IntArray  # number, within its class, of the mixture that a state is of


def fit_components(
    rows: TrainingRows,
    sizes: IntArray,
    settings: MixtureSettings,
    rng: np.random.Generator,
    by_class: Iterable[tuple[Design, FloatArray]] | None = None,
) -> Components:
    marginals = smooth(rows.counts()[0, :, :, 0], rows.n_outcomes, settings.alpha)
    strength: FloatArray = settings.shrinkage * rows.n_outcomes.astype(np.float64)
    mixtures = []
    seeds = rng.integers(2**63, size=len(sizes)).tolist()
    for c, (seed, own) in enumerate(zip(seeds, rows.by_class() if by_class is None else by_class)):
        marginal, rng_of_class = np.ascontiguousarray(marginals[:, :, c]), np.random.default_rng(seed)
        mixtures.append(fit_mixture(*own, marginal, strength, int(sizes[c]), settings, rng_of_class))
    return Components(
        np.repeat(np.arange(len(sizes)), [len(m.weights) for m in mixtures]),
        np.concatenate([m.weights for m in mixtures]),
        np.concatenate([m.tables for m in mixtures], axis=2),
        np.array([m.n_components for m in mixtures]),
        np.array([len(m.history) for m in mixtures]),
        np.concatenate([np.arange(len(m.weights)) // m.n_components for m in mixtures]),
    )


def side_by_side(mixtures: Sequence[Components], shares: FloatArray) -> Components:
    """Mixtures of ever more components by their shares; one that a class of few rows has already gets both."""
    if len(mixtures) == 1:
        return mixtures[0]
    sizes = np.array([one.n_components for one in mixtures])
    new = np.diff(sizes, axis=0, prepend=0) > 0
    kept = [of_class[one.classes] for of_class, one in zip(new, mixtures)]
    first = np.maximum.accumulate(np.where(new, np.arange(len(new))[:, None], 0), axis=0)
    share: FloatArray = np.zeros(sizes.shape)
    np.add.at(share, (first, np.arange(sizes.shape[1])), shares[:, None])
    share_of_state = np.concatenate([of_class[one.classes][some] for of_class, one, some in zip(share, mixtures, kept)])
    classes, weights, tables, bag = (
        np.concatenate([getattr(one, name)[..., some] for one, some in zip(mixtures, kept)], axis=-1)
        for name in ("classes", "weights", "tables", "bag")
    )
    bag = bag + np.repeat(np.cumsum([0, *(one.bag.max() + 1 for one in mixtures[:-1])]), [some.sum() for some in kept])
    order = np.argsort(classes, kind="stable")
    return Components(
        classes[order],
        (weights * share_of_state)[order],
        tables[:, :, order],
        (sizes * new).sum(axis=0),
        np.max([one.n_iter for one in mixtures], axis=0),
        bag[order],
    )


def rows_looked_at(n: int, most: int, rng: np.random.Generator) -> IntArray:
    """Some of n rows, by a stream apart: the rows themselves may have been drawn by that of the same seed."""
    return np.sort(np.random.default_rng(rng.integers(2**63)).choice(n, most, replace=False))


def choose_components(
    rows: TrainingRows, settings: MixtureSettings, rng: np.random.Generator, *, several: bool = False
) -> tuple[dict[int, float], dict[int, float]]:
    """Numbers of components and their shares, and what each predicts, by the held-out likelihood given the class.

    Of ``several`` each has the share by which they predict best together; else it is the fewest within a standard
    error of the best.
    """
    settings = replace(settings, n_bags=1, tol=max(settings.tol, TUNING.rough_tol))
    if len(rows) > TUNING.max_rows:
        rows = rows[rows_looked_at(len(rows), TUNING.max_rows, rng)]
    n_classes = rows.n_classes
    folds, seed = stratified_folds(rows.codes, n_classes, TUNING.n_folds, rng), int(rng.integers(2**63))
    scored = np.flatnonzero((folds >= 0) & (rows.weight > 0))
    heaviest = np.bincount(rows.codes, rows.weight, n_classes).max() * (TUNING.n_folds - 1) / TUNING.n_folds
    log_likelihoods: dict[int, FloatArray] = {}
    weight, best, worse = rows.weight[scored], 1, 0
    shared: list[_Part] = []
    if 2 * TUNING.n_folds * len(rows) * int(rows.n_outcomes.sum()) <= CHUNK_BYTES:
        shared = [(kept, list(by_class), held, own) for kept, by_class, held, own in _parts(rows, folds)]
    for n in TUNING.candidates:
        if not scored.size or (log_likelihoods and n >= 2 * max(1, heaviest // TUNING.min_rows)):
            break  # all classes have had as many as they may have
        log_likelihoods[n] = _cross_fit_log_likelihood(
            rows, np.full(n_classes, n), settings, shared or _parts(rows, folds), seed
        )[:, scored]
        above, error = difference(log_likelihoods[n][0], log_likelihoods[best][0], weight)
        best = n if above > 0 else best
        worse = worse + 1 if above < -error else 0
        if worse == TUNING.patience:
            break
    scores = {n: float(np.average(score, weights=weight)) for n, (score, *_) in log_likelihoods.items()}
    if several and scored.size:
        return _stack(log_likelihoods, weight), scores
    return {_fewest(log_likelihoods, best, weight): 1.0}, scores


def _stack(log_likelihoods: dict[int, FloatArray], weight: FloatArray) -> dict[int, float]:
    """Shares by which held-out rows are most probable."""
    sizes, scores = list(log_likelihoods), np.array([score for score, *_ in log_likelihoods.values()])
    share = mixture_shares(scores, weight)
    share = np.where(share < TUNING.least_share, 0.0, share)
    share /= share.sum()
    return {n: float(one) for n, one in zip(sizes, share) if one}


def mixture_shares(scores: FloatArray, weight: FloatArray) -> FloatArray:
    """Shares of what gives rows some log-likelihoods, (k, n), by which they are most probable, (k,)."""
    above, share = np.exp(scores - scores.max(axis=0)), np.full(len(scores), 1 / len(scores))
    for _ in range(TUNING.stack_iter):  # expectation maximisation
        together = share[:, None] * above
        share = (together / together.sum(axis=0)) @ weight / weight.sum()
    return share


def _fewest(log_likelihoods: dict[int, FloatArray], best: int, weight: FloatArray) -> int:
    """Choose among those that were tried."""
    for n, (rows, classes) in log_likelihoods.items():
        above, error = difference(log_likelihoods[best][0], rows, weight)
        if above <= error:
            better, error = difference(log_likelihoods[1][1], classes, weight)
            return 1 if better > error else n
    return best


def difference(one: FloatArray, other: FloatArray | float, weight: FloatArray) -> tuple[float, float]:
    """Mean difference of two scores of weighted rows, and its standard error."""
    difference = one - other
    mean = float(np.average(difference, weights=weight))
    return mean, float(np.sqrt(np.average((difference - mean) ** 2, weights=weight) / weight.sum()))


#: Rows without a fold, class by class, and those of the fold: what trials have in common.
_Part = tuple[TrainingRows, Iterable[tuple[Design, FloatArray]], IntArray, Design]


def _parts(rows: TrainingRows, folds: IntArray) -> Iterator[_Part]:
    for fold in range(TUNING.n_folds):
        kept, held = rows[np.flatnonzero(folds != fold)], np.flatnonzero(folds == fold)
        yield kept, kept.by_class(), held, Design(rows.X[held], int(rows.n_outcomes.max(initial=1)))


def _cross_fit_log_likelihood(
    rows: TrainingRows, sizes: IntArray, settings: MixtureSettings, parts: Iterable[_Part], seed: int
) -> FloatArray:
    """Log-likelihoods of each row given its class, and of its class, by the other folds, (2, n); 0 of rows in none."""
    result = np.zeros((2, len(rows)))
    for kept, by_class, held, design in parts:
        states = fit_components(kept, sizes, settings, np.random.default_rng(seed), by_class)
        prior = np.bincount(kept.codes, kept.weight, rows.n_classes) / kept.weight.sum()
        joint = class_likelihoods(design, states.classes, states.weights, states.tables)
        own_class = rows.codes[held], np.arange(len(held))
        result[0, held] = joint[own_class]
        joint += np.log(np.maximum(prior, TINY))[:, None]
        result[1, held] = joint[own_class] - logsumexp(joint, axis=0)
    return result


def class_likelihoods(codes: Codes | Design, classes: IntArray, weights: FloatArray, tables: FloatArray) -> FloatArray:
    """Logarithm of P(row | class), (n_classes, n)."""
    joint = state_likelihoods(codes, tables) + np.log(np.maximum(weights, TINY))
    members = [classes == c for c in range(int(classes.max()) + 1)]
    return np.array([logsumexp(joint[:, own], axis=1) for own in members])


def state_likelihoods(codes: Codes | Design, tables: FloatArray) -> FloatArray:
    """Logarithm of P(row | hidden state), (n, n_hidden)."""
    design = codes if isinstance(codes, Design) else Design(codes, tables.shape[1])
    ones, zero = design.columns(np.log(np.maximum(tables, TINY)))
    return np.asarray(design.times(ones) + zero)
