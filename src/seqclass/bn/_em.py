"""Expectation maximisation of a mixture whose features are independent given the component."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import sparse
from scipy.special import xlogy

from seqclass._arrays import FloatArray, IntArray
from seqclass.bn._checks import Codes
from seqclass.bn._design import Design, distinct

#: Rows a component has at least, in the mean: classes of few rows have fewer components.
MIN_ROWS = 3
#: Rows of no consequence that every component has beside its own, so that none is left without a weight.
SPARE = 1.0


@dataclass(frozen=True)
class Mixture:
    """What was fitted to the rows of a class.

    Attributes
    ----------
    weights : ndarray of shape (n_bags * n_components,)
        P(component), bag by bag.
    tables : ndarray of shape (n_features, V, n_bags * n_components)
        P(outcome | component).
    n_components : int
        Components of each bag.
    history : list of ndarray
        Logarithm of likelihood and prior of each bag (but for a constant), iteration by iteration; NaN when done.
    """

    weights: FloatArray
    tables: FloatArray
    n_components: int
    history: list[FloatArray]


def fit_mixture(
    codes: Codes,
    weight: FloatArray,
    marginal: FloatArray,
    strength: FloatArray,
    n_components: int,
    n_bags: int,
    rng: np.random.Generator,
    *,
    max_iter: int,
    tol: float,
) -> Mixture:
    """Fit a mixture to the rows of a class, or several side by side, each to a bootstrap sample of them.

    The tables have a Dirichlet prior about the class's own; the objective, likelihood times prior, never falls.

    Parameters
    ----------
    codes : ndarray or CSR matrix of int of shape (n, n_features)
        Outcomes, -1 where missing.
    weight : ndarray of shape (n,)
        Weights of the rows: so many rows each stands for.
    marginal : ndarray of shape (n_features, V)
        P(outcome) in the class.
    strength : ndarray of shape (n_features,)
        Rows that the class's table counts for in a component's.
    n_components, n_bags : int
    rng : numpy generator
        Draws samples and seeds.
    max_iter : int
    tol : float
        A bag is done when its objective rises by less, relative to itself.

    Returns
    -------
    Mixture

    Examples
    --------
    >>> codes, half = np.array([[0, 0], [1, 1]] * 30), np.full((2, 2), 0.5)
    >>> rng = np.random.default_rng(0)
    >>> mixture = fit_mixture(codes, np.ones(60), half, np.ones(2), 2, 1, rng, max_iter=100, tol=1e-9)
    >>> np.sort(mixture.tables[0, 0]).round(2)
    array([0.02, 0.98])
    """
    rows, weight = distinct(codes, weight)
    most = min(n_components, max(1, int(weight.sum() // MIN_ROWS)), max(1, len(rows)))
    if most == 1:
        return Mixture(np.ones(1), np.array(marginal[:, :, None]), 1, [])
    bags = np.repeat(weight[:, None], n_bags, axis=1) if n_bags == 1 else _bootstraps(weight, n_bags, rng)
    search = _Search(Design(codes[rows], marginal.shape[1]), bags, marginal, strength)
    return search.run(search.seeds(most, rng), max_iter, tol)


def _bootstraps(weight: FloatArray, n_bags: int, rng: np.random.Generator) -> FloatArray:
    """How often each row is drawn in each bag, (n, n_bags)."""
    share = weight / weight.sum()
    return np.asarray(rng.multinomial(max(1, round(float(weight.sum()))), share, size=n_bags).T, dtype=np.float64)


@dataclass
class _Bags:
    """Parameters of some bags: logarithms of the components' tables over the class's, and of their weights."""

    zero: FloatArray  # outcome 0, (n_features, bags * components)
    columns: FloatArray  # the columns of the design, less outcome 0 of the feature
    log_weights: FloatArray  # (bags, components)
    log_prior: FloatArray  # of the parameters, (bags,)


class _Search:
    """The data of one class, and the two steps on it."""

    def __init__(self, design: Design, bags: FloatArray, marginal: FloatArray, strength: FloatArray) -> None:
        self.design, self.bags, self.marginal, self.strength = design, bags, marginal, strength
        n, m = design.n_features, len(design.feature)
        self.of_feature = sparse.csr_array((np.ones(m), (design.feature, np.arange(m))), shape=(n, m))
        q = len(design.missing)
        self.of_missing = sparse.csr_array((np.ones(q), (design.missing, np.arange(q))), shape=(n, q))
        self.level, self.zero = marginal[design.feature, design.level][:, None], marginal[:, :1]
        # what the class's table says of outcomes that no row has
        self.unseen = np.maximum(1 - self.zero - self.of_feature @ self.level, 0.0)
        self.alone = self._alone()

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

    def run(self, seeds: list[IntArray], max_iter: int, tol: float) -> Mixture:
        n_bags, size = len(seeds), len(seeds[0])
        at: FloatArray = np.zeros((self.design.n_rows, n_bags, size))
        for bag, rows in enumerate(seeds):
            at[rows, bag, np.arange(size)] = 1.0
        flat = at.reshape(len(at), -1)
        active = np.arange(n_bags)
        counts, totals = self.design.sums(flat), flat.sum(axis=0)
        done: list[tuple[FloatArray, FloatArray]] = [(counts, totals)] * n_bags
        before, history = np.full(n_bags, -np.inf), []
        for _ in range(max_iter):
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
            on = rise > tol * scale
            if not on.any():
                break
            keep = np.repeat(on, size)
            active, counts, totals = active[on], counts[:, keep], totals[keep]
        return self._result([c for c, _ in done], [t for _, t in done], history)

    def maximise(self, counts: FloatArray, totals: FloatArray, n_bags: int) -> _Bags:
        """Parameters that are most probable given the components' shares in the rows."""
        m = len(self.design.feature)
        given = self.strength[:, None]
        known = np.maximum(totals - self.of_missing @ counts[m:], 0.0)
        none = np.maximum(known - self.of_feature @ counts[:m], 0.0)
        scale = np.log(known + given)
        usual = np.where(self.zero > 0, self.zero, 1.0)
        zero = np.log(none / usual + given) - scale
        feature = self.design.feature
        level = np.log(counts[:m] / self.level + given[feature]) - scale[feature]
        prior = (given * self.zero * zero).sum(axis=0) + (given[feature] * self.level * level).sum(axis=0)
        prior = prior + (given * self.unseen * (np.log(given) - scale)).sum(axis=0)
        shares = totals.reshape(n_bags, -1) + SPARE
        log_weights = np.log(shares / shares.sum(axis=1, keepdims=True))
        log_prior = prior.reshape(n_bags, -1).sum(axis=1) + SPARE * log_weights.sum(axis=1)
        columns = np.concatenate([level - zero[feature], -zero[self.design.missing]])
        return _Bags(zero, columns, log_weights, log_prior)

    def expect(self, some: _Bags, active: IntArray) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Log-likelihood of each bag (over that of the class's table), and the components' shares, summed up."""
        shape = some.log_weights.shape
        base = some.zero.sum(axis=0) + some.log_weights.ravel()
        likelihood, totals = np.zeros(shape[0]), np.zeros(base.shape)
        counts = np.zeros((self.design.n_columns, len(base)))
        for rows, ones in self.design.parts(len(base)):
            joint = (ones @ some.columns + base).reshape(-1, *shape)
            top = joint.max(axis=2, keepdims=True)
            np.exp(joint - top, out=joint)
            sums = joint.sum(axis=2, keepdims=True)
            weight = self.bags[rows][:, active]
            likelihood += np.einsum("ij,ij->j", weight, (np.log(sums) + top)[:, :, 0])
            joint *= weight[:, :, None] / sums
            share = joint.reshape(len(joint), -1)
            counts += self.design.transposed(ones) @ share
            totals += share.sum(axis=0)
        return likelihood, counts, totals

    def _alone(self) -> FloatArray:
        """Log-likelihood of each bag by the class's own table."""
        m = len(self.design.feature)
        counts, totals = self.design.sums(self.bags), self.bags.sum(axis=0)
        none = np.maximum(totals - self.of_missing @ counts[m:] - self.of_feature @ counts[:m], 0.0)
        return np.asarray(
            (xlogy(counts[:m], self.level)).sum(axis=0) + xlogy(none * (self.zero > 0), self.zero).sum(axis=0)
        )

    def _result(self, counts: list[FloatArray], totals: list[FloatArray], history: list[FloatArray]) -> Mixture:
        count, total = np.concatenate(counts, axis=1), np.concatenate(totals)
        design, m = self.design, len(self.design.feature)
        known = np.maximum(total - self.of_missing @ count[m:], 0.0)
        tables = self.strength[:, None, None] * np.repeat(self.marginal[:, :, None], len(total), axis=2)
        tables[design.feature, design.level] += count[:m]
        tables[:, 0] += np.where(self.zero > 0, np.maximum(known - self.of_feature @ count[:m], 0.0), 0.0)
        tables /= tables.sum(axis=1, keepdims=True)
        shares = total.reshape(len(counts), -1) + SPARE
        weights = (shares / shares.sum(axis=1, keepdims=True) / len(counts)).ravel()
        return Mixture(weights, tables, len(weights) // len(counts), history)
