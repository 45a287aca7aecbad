"""Families of tables, and which of them suits a feature: counted outcomes, or normal distributions of ordered ones."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

import numpy as np
from scipy.special import gammaln, ndtr, ndtri

from seqclass._utils.arrays import LEAST_CHANCE, BoolArray, FloatArray, IntArray, chunks
from seqclass._utils.validation import check_choice


@dataclass(frozen=True)
class DensityTuning:
    """How tables and normal distributions are drawn to what is shared, and what bounds them."""

    #: rows that a shared table may count for; the last is all but certain of it
    table_rows: tuple[float, ...] = (2.0, 8.0, 32.0, 128.0, 1e6)
    mean_rows: tuple[float, ...] = (0.5, 2.0, 8.0, 32.0, 128.0, 1e6)  #: rows that a shared mean may count for
    #: rows that a normal distribution may count for where counts correct it
    normal_rows: tuple[float, ...] = (32.0, 128.0, 512.0, 1e6)
    variance_rows: float = 10.0  #: rows that a shared variance counts for
    min_variance: float = 0.02  #: in squared widths of bins or of normal scores
    min_outcomes: int = 4  #: with fewer (but for one of zeros) a normal distribution says no more than counts would
    even_fraction: float = 0.002  #: of a normal distribution that is spread evenly: no far value decides alone


TUNING = DensityTuning()


def shrunk(counts: FloatArray, bases: Iterable[tuple[FloatArray, FloatArray]], rows: Iterable[float]) -> FloatArray:
    """Tables drawn to one of some bases, with the strength that makes the counts of all classes most probable."""
    total = counts.sum(axis=1)
    best = np.full(total.shape[:2], -np.inf)
    result = np.empty(counts.shape)
    for scored, target in bases:
        for a in rows:
            prior = np.maximum(a * scored, LEAST_CHANCE)
            fit = (gammaln(a) - gammaln(a + total)).sum(axis=2)
            fit += np.where(counts > 0, gammaln(prior + counts) - gammaln(prior), 0.0).sum(axis=(1, 3))
            better = (fit > best)[:, None, :, None]
            best = np.maximum(best, fit)
            np.copyto(result, (counts + a * target) / (total + a)[:, None], where=better)
    return result


def count_tables(counts: FloatArray, n_outcomes: IntArray, alpha: float) -> FloatArray:
    """Tables from counts, drawn to those of the context in all classes or of the class in all contexts."""
    real = (np.arange(counts.shape[1]) < n_outcomes[:, None])[:, :, None, None]
    in_context = _normalise(counts.sum(axis=3, keepdims=True) + alpha * real)
    bases = [(in_context, in_context)]
    if counts.shape[2] > 1:
        of_class = counts.sum(axis=2, keepdims=True)
        # a context is held against the others alone: its own rows would speak for themselves
        bases.append((_normalise(of_class - counts + alpha * real), _normalise(of_class + alpha * real)))
    return shrunk(counts, bases, TUNING.table_rows)


def normal_tables(counts: FloatArray, edges: FloatArray, centres: FloatArray) -> FloatArray:
    """Probabilities of the bins of normal distributions, whose means and variances are drawn to what is shared."""
    n = counts.sum(axis=1)
    sums = np.einsum("jvzc,jv->jzc", counts, centres)
    squares = np.einsum("jvzc,jv->jzc", counts, centres**2)
    mean = _divide(sums, n)
    within = np.maximum(squares - sums * mean, 0.0)
    mean = _shrunk_means(n, sums, _pool_variance(within, np.maximum(n - 1, 0.0)))
    # about the means in use
    within = np.maximum(squares - 2 * mean * sums + n * mean**2, 0.0)
    shared = _pool_variance(within, n)[:, :, None]
    variance = (within + TUNING.variance_rows * shared) / (n + TUNING.variance_rows)
    deviation = np.sqrt(np.maximum(variance, TUNING.min_variance))
    below = ndtr((edges[:, :, None, None] - mean[:, None]) / deviation[:, None])
    return np.asarray(np.diff(below, axis=1))


def _pool_variance(within: FloatArray, n: FloatArray) -> FloatArray:
    """Variance of a feature in each context, (n_features, n_contexts), drawn to that in all contexts."""
    overall = _divide(within.sum(axis=(1, 2)), n.sum(axis=(1, 2)))[:, None]
    pooled = (within.sum(axis=2) + TUNING.variance_rows * overall) / (n.sum(axis=2) + TUNING.variance_rows)
    return np.asarray(np.maximum(pooled, TUNING.min_variance))


def _shrunk_means(n: FloatArray, sums: FloatArray, variance: FloatArray) -> FloatArray:
    """Means of the cells, (n_features, n_contexts, n_classes)."""
    mean, result = _divide(sums, n), np.zeros(sums.shape)
    best = np.full(variance.shape, -np.inf)
    seen, spread = n > 0, variance[:, :, None]
    of_class, n_class = sums.sum(axis=1, keepdims=True), n.sum(axis=1, keepdims=True)
    in_context = _divide(sums.sum(axis=2), n.sum(axis=2))[:, :, None]
    for by_class in (False, True) if n.shape[1] > 1 else (False,):
        for k in TUNING.mean_rows:
            noise = _divide(spread, n) + spread / k
            if by_class:  # against the other contexts alone
                n_others = n_class - n
                others = np.where(n_others > 0, _divide(of_class - sums, n_others), in_context)
                noise = noise + spread / np.maximum(n_others, 1.0)
                target, lost = np.broadcast_to(_divide(of_class, n_class), n.shape), 0.0
            else:
                share = np.where(seen, 1 / noise, 0.0)
                others = target = _divide((share * mean).sum(axis=2), share.sum(axis=2))[:, :, None]
                lost = np.log(np.maximum(share.sum(axis=2), LEAST_CHANCE)) / 2  # what estimating the target takes
            fit = -np.where(seen, np.log(noise) + (mean - others) ** 2 / noise, 0.0).sum(axis=2) / 2 - lost
            better = (fit > best)[:, :, None]
            best = np.maximum(best, fit)
            np.copyto(result, (sums + k * target) / (n + k), where=better)
    return result


def scale(counts: FloatArray, n_outcomes: IntArray, atom: BoolArray, *, rank: bool) -> tuple[FloatArray, FloatArray]:
    """Where outcomes lie on a scale: bins of width one, or normal scores of their ranks."""
    place = np.arange(counts.shape[1] + 1.0)
    lowest, highest = atom.astype(float)[:, None], n_outcomes[:, None]
    if not rank:
        edges = np.where(place <= lowest, -np.inf, np.where(place >= highest, np.inf, place))
        return edges, np.broadcast_to(place[:-1] + 0.5, counts.shape)
    # half a row each: no edge is infinitely far
    rows = np.where((place[:-1] >= lowest) & (place[:-1] < highest), counts + 0.5, 0.0)
    below = np.concatenate([np.zeros((len(rows), 1)), np.cumsum(rows, axis=1)], axis=1) / rows.sum(axis=1)[:, None]
    edges = np.where(place <= lowest, -np.inf, np.where(place >= highest, np.inf, ndtri(np.clip(below, 0, 1))))
    # the mean of a normal score in its bin
    density = np.where(np.isfinite(edges), np.exp(-(np.where(np.isfinite(edges), edges, 0.0) ** 2) / 2), 0.0)
    return edges, _divide((density[:, :-1] - density[:, 1:]) / np.sqrt(2 * np.pi), np.diff(below, axis=1))


def _divide(top: FloatArray, bottom: FloatArray) -> FloatArray:
    """Quotient; by zero, zero of what is zero and else something large."""
    return np.asarray(top / np.maximum(bottom, LEAST_CHANCE))


def _normalise(counts: FloatArray) -> FloatArray:
    return _divide(counts, counts.sum(axis=1, keepdims=True))


#: Counted outcomes; a normal distribution of values; one of the normal scores of their ranks.
FAMILIES = ("tables", "normal", "rank")


def check_families(density: str) -> tuple[str, ...]:
    """Families that a model's setting allows, the first of them counted tables where there are several."""
    check_choice(density, "density", ("auto", *FAMILIES))
    return FAMILIES if density == "auto" else (density,)


@dataclass(frozen=True)
class Scales:
    """What the families know of the features beside the counts."""

    n_outcomes: IntArray
    counts: FloatArray
    alpha: float
    #: Features whose last outcome lies on no scale, as missing does; None: none.
    apart: BoolArray | None = None
    #: Number of the family of each feature, or of all.
    family: IntArray | int = 0

    def tables(self, counts: FloatArray) -> FloatArray:
        """P(outcome | class, context), (n_features, V, n_contexts, n_classes), of each feature by its family."""
        result, family = np.empty(counts.shape), np.broadcast_to(self.family, len(counts))
        for kind in np.unique(family).tolist():
            some = np.flatnonzero(family == kind)
            for part in chunks(len(some), 64.0 * counts[0].size):
                result[some[part]] = self._family_tables(counts[some[part]], some[part], FAMILIES[kind])
        return result

    def select(self, features: IntArray) -> Scales:
        apart = None if self.apart is None else self.apart[features]
        family = np.broadcast_to(self.family, len(self.n_outcomes))[features]
        return Scales(self.n_outcomes[features], self.counts[features], self.alpha, apart, family)

    @property
    def _without_missing(self) -> Scales:
        """Scales of the outcomes that are values, without those of missing cells."""
        if self.apart is None:
            return self
        counts = np.array(self.counts)
        counts[self.apart, self.n_outcomes[self.apart] - 1] = 0.0
        return Scales(self.n_outcomes - self.apart, counts, self.alpha)

    def choose_family(self, folds: FloatArray, allowed: tuple[str, ...]) -> Scales:
        """Take the family by which the rows of each fold are most probable, given the others, for each feature."""
        best, score = np.full(len(self.n_outcomes), FAMILIES.index(allowed[0])), np.full(len(self.n_outcomes), -np.inf)
        whole = folds.sum(axis=0)
        for kind in map(FAMILIES.index, allowed if len(allowed) > 1 else ()):
            scales, fit = self._with_family(kind), np.zeros(len(best))
            for held in folds:
                logs = np.log(np.maximum(scales.tables(whole - held), 1e-300))
                fit += np.where(held > 0, held * logs, 0.0).sum(axis=(1, 2, 3))
            better = fit > score
            best, score = np.where(better, kind, best), np.maximum(fit, score)
        return self._with_family(best)

    def _with_family(self, family: IntArray | int) -> Scales:
        """Of some families, but of counts where outcomes are too few to be ordered."""
        valued = self._without_missing
        few = valued.n_outcomes - valued._atom < TUNING.min_outcomes
        return replace(self, family=np.where(few, 0, family))

    @property
    def _atom(self) -> IntArray:
        """Whether outcome 0 stands for one value, as where zeros have a bin of their own: more than half the rows."""
        return np.asarray(2 * self.counts[:, 0] > self.counts.sum(axis=1), dtype=np.intp)

    def _family_tables(self, counts: FloatArray, features: IntArray, family: str) -> FloatArray:
        n_outcomes = self.n_outcomes[features]
        if family == "tables":
            return count_tables(counts, n_outcomes, self.alpha)
        if self.apart is not None:
            some = np.flatnonzero(self.apart[features])
            last, own = n_outcomes[some] - 1, np.array(counts)
            own[some, last] = 0.0
            table = self._without_missing._family_tables(own, features, family)
            two = np.stack([counts[some, last], own[some].sum(axis=1)], axis=1)
            gone = count_tables(two, np.full(len(two), 2), self.alpha)[:, :1]
            table[some] *= 1 - gone
            table[some, last] = gone[:, 0]
            return table
        atom = self._atom[features] > 0
        others = np.array(counts)
        others[atom, 0] = 0.0
        table = normal_tables(others, *scale(self.counts[features], n_outcomes, atom, rank=family == "rank"))
        real = (np.arange(counts.shape[1]) < n_outcomes[:, None])[:, :, None, None]
        even = real / (n_outcomes[:, None, None, None])
        if atom.any():
            two = np.stack([counts[atom, 0], others[atom].sum(axis=1)], axis=1)
            zero = count_tables(two, np.full(len(two), 2), self.alpha)[:, :1]
            table[atom] *= 1 - zero
            table[atom, 0] = zero[:, 0]
        table = (1 - TUNING.even_fraction) * table + TUNING.even_fraction * even
        return shrunk(counts, [(table, table)], TUNING.normal_rows)
