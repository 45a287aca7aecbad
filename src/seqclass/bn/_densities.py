"""Families of tables, and which of them suits a feature: counted outcomes, or normal distributions of ordered ones."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from seqclass._arrays import FloatArray, IntArray, chunks
from seqclass._validation import check_choice
from seqclass.bn._shrinking import count_tables, normal_tables, scale, shrunk

#: Counted outcomes; a normal distribution of values; one of the normal scores of their ranks.
FAMILIES = ("tables", "normal", "rank")
#: From so many outcomes on (but for one of zeros) a normal distribution says less than counts would.
_FEWEST = 4
#: Rows that a normal distribution counts for where counts may correct it.
_ROWS = (32.0, 128.0, 512.0, 1e6)
#: Share of a normal distribution that is spread evenly, so that no far value decides alone.
_EVEN = 0.002


def check_families(density: str) -> tuple[str, ...]:
    """Families that a model's setting allows, the first of them counted tables where there are several."""
    check_choice(density, "density", ("auto", *FAMILIES))
    return FAMILIES if density == "auto" else (density,)


@dataclass(frozen=True)
class Scales:
    """What the families know of the features beside the counts.

    Attributes
    ----------
    n_outcomes : ndarray of int of shape (n_features,)
    counts : ndarray of shape (n_features, V)
        Rows of each outcome.
    alpha : float
        Pseudo-count of every outcome in what is shared.
    """

    n_outcomes: IntArray
    counts: FloatArray
    alpha: float

    def tables(self, counts: FloatArray, family: IntArray) -> FloatArray:
        """P(outcome | class, context), (n_features, V, n_contexts, n_classes), of features by their family's number."""
        result = np.empty(counts.shape)
        for kind in np.unique(family).tolist():
            some = np.flatnonzero(family == kind)
            for part in chunks(len(some), 64.0 * counts[0].size):
                result[some[part]] = self._of(counts[some[part]], some[part], FAMILIES[kind])
        return result

    def some(self, features: IntArray) -> Scales:
        """What is known of some features alone."""
        return Scales(self.n_outcomes[features], self.counts[features], self.alpha)

    def suited(self, folds: FloatArray, allowed: tuple[str, ...]) -> IntArray:
        """Number of the family by which the rows of each fold are most probable, given the others; (n_features,).

        Parameters
        ----------
        folds : ndarray of shape (n_folds, n_features, V, n_contexts, n_classes)
            Counts.
        allowed : tuple of str
            Families to choose from.
        """
        best, score = np.full(len(self.n_outcomes), FAMILIES.index(allowed[0])), np.full(len(self.n_outcomes), -np.inf)
        if len(allowed) == 1:
            return self._ordered(best)
        whole = folds.sum(axis=0)
        for kind in map(FAMILIES.index, allowed):
            family, fit = np.full(len(best), kind), np.zeros(len(best))
            for held in folds:
                logs = np.log(np.maximum(self.tables(whole - held, self._ordered(family)), 1e-300))
                fit += np.where(held > 0, held * logs, 0.0).sum(axis=(1, 2, 3))
            better = fit > score
            best, score = np.where(better, kind, best), np.maximum(fit, score)
        return self._ordered(best)

    def _ordered(self, family: IntArray) -> IntArray:
        """Counts instead, where outcomes are too few to be ordered."""
        return np.asarray(np.where(self.n_outcomes - self._atom >= _FEWEST, family, 0))

    @property
    def _atom(self) -> IntArray:
        """Whether outcome 0 stands for one value, as where zeros have a bin of their own: more than half the rows."""
        return np.asarray(2 * self.counts[:, 0] > self.counts.sum(axis=1), dtype=np.intp)

    def _of(self, counts: FloatArray, features: IntArray, family: str) -> FloatArray:
        n_outcomes = self.n_outcomes[features]
        if family == "tables":
            return count_tables(counts, n_outcomes, self.alpha)
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
        table = (1 - _EVEN) * table + _EVEN * even
        return shrunk(counts, [(table, table)], _ROWS)
