"""Curves of items over ability, and their expectation maximisation (Bock and Aitkin 1981)."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np
from scipy.special import expit, logit, logsumexp, softmax

from seqclass._utils.arrays import LEAST_CHANCE, BoolArray, FloatArray, IntArray, chunks
from seqclass.bn._em import Design


@dataclass(frozen=True)
class CurveTuning:
    """How the parameters of items are fitted, and where they are kept."""

    #: limits keep curves that want to be steps from running away: at abilities of up to three standard deviations
    max_slope: float = 40.0
    max_asymptote: float = 12.0  #: in logits
    max_step: float = 2.0  #: change of a parameter in a step
    n_halvings: int = 6  #: of a step that makes nothing better
    n_steps: int = 2  #: of scoring in an iteration
    rows_per_parameter: int = 5  #: from which on the information of all parameters together is trusted


TUNING = CurveTuning()


class Curves(ABC):
    """P(outcome | ability) of items of one kind and number of outcomes, by parameters that may be any numbers.

    Parameters are (n_items, n_free). Those that are reported are slopes and intercepts of the outcomes from 1 on, and
    the lower and upper asymptote.
    """

    n_outcomes: int
    n_free: int
    kind: ClassVar[str] = "graded"

    @abstractmethod
    def start(self, share: FloatArray) -> FloatArray:
        """Parameters to begin with, from the share of each outcome, (n_items, n_outcomes)."""

    @abstractmethod
    def derivatives(self, given: FloatArray, ability: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Probabilities (n_items, V, n_points), and their derivatives by the parameters, one axis more."""

    @abstractmethod
    def to_reported(self, given: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Reported parameters (n_items, 2 V), and their derivatives by the free ones, one axis more."""

    def rescale(self, given: FloatArray, mean: float, sd: float) -> FloatArray:
        """Parameters by which ability z has the curves that mean + sd z has by these: here log slope and intercept."""
        moved = given[:, 1] + np.exp(given[:, 0]) * mean
        return np.concatenate([given[:, :1] + np.log(sd), moved[:, None], given[:, 2:]], axis=1)

    @abstractmethod
    def weak_prior(self, guess: float) -> tuple[FloatArray, FloatArray]:
        """Means and standard deviations of normal priors of the parameters."""

    @abstractmethod
    def limits(self) -> FloatArray:
        """Largest size of each parameter."""


class Graded(Curves):
    """Graded responses (Samejima 1969): P(outcome >= k) = logistic(a ability + d_k), a above 0 and the d_k falling."""

    def __init__(self, n_outcomes: int) -> None:
        self.n_outcomes = self.n_free = n_outcomes

    def start(self, share: FloatArray) -> FloatArray:
        above = np.clip(share[:, ::-1].cumsum(axis=1)[:, -2::-1], 0.01, 0.99)
        cuts = 1.2 * logit(above)
        gaps = np.log(np.maximum(-np.diff(cuts, axis=1), 0.05))
        return np.concatenate([np.zeros((len(share), 1)), cuts[:, :1], gaps], axis=1)

    def _cuts(self, given: FloatArray) -> FloatArray:
        falls = np.exp(given[:, 2:]).cumsum(axis=1)
        return np.concatenate([given[:, 1:2], given[:, 1:2] - falls], axis=1)

    def _by_cut(self, given: FloatArray) -> FloatArray:
        """Derivatives of the d_k by all parameters, (n_items, K, n_free)."""
        n_cuts = self.n_outcomes - 1
        derivatives = np.zeros((len(given), n_cuts, self.n_free))
        derivatives[:, :, 1] = 1.0
        derivatives[:, :, 2:] = -np.exp(given[:, None, 2:]) * np.tri(n_cuts, n_cuts - 1, -1)
        return derivatives

    def derivatives(self, given: FloatArray, ability: FloatArray) -> tuple[FloatArray, FloatArray]:
        slope = np.exp(given[:, :1, None])
        above = expit(slope * ability + self._cuts(given)[:, :, None])
        by_cut = self._by_cut(given)[:, :, None, :] * np.ones((len(ability), 1))
        by_cut[:, :, :, 0] = slope * ability
        by_cut *= (above * (1 - above))[:, :, :, None]
        edge = np.ones((len(given), 1, len(ability)))
        whole = np.concatenate([edge, above, 0 * edge], axis=1)
        edges = np.zeros((len(given), 1, len(ability), self.n_free))
        slopes = np.concatenate([edges, by_cut, edges], axis=1)
        return whole[:, :-1] - whole[:, 1:], slopes[:, :-1] - slopes[:, 1:]

    def to_reported(self, given: FloatArray) -> tuple[FloatArray, FloatArray]:
        n, n_cuts = len(given), self.n_outcomes - 1
        values = np.concatenate(
            [np.repeat(np.exp(given[:, :1]), n_cuts, axis=1), self._cuts(given), np.zeros((n, 1)), np.ones((n, 1))],
            axis=1,
        )
        by_free = np.zeros((n, 2 * self.n_outcomes, self.n_free))
        by_free[:, :n_cuts, 0] = values[:, :n_cuts]
        by_free[:, n_cuts : 2 * n_cuts] = self._by_cut(given)
        return values, by_free

    def weak_prior(self, guess: float) -> tuple[FloatArray, FloatArray]:
        gaps = np.zeros(self.n_outcomes - 2)
        return np.concatenate([[0.0, 0.0], gaps]), np.concatenate([[0.5, 3.0], gaps + 1.5])

    def limits(self) -> FloatArray:
        return np.array([np.log(TUNING.max_slope), 3 * TUNING.max_slope, *[5.0] * (self.n_outcomes - 2)])


class Asymptotic(Curves):
    """P(right) = g + (u - g) logistic(a ability + d) of two outcomes, with g, or g and u, learnt."""

    def __init__(self, n_free: int) -> None:
        self.n_outcomes, self.n_free = 2, n_free

    def start(self, share: FloatArray) -> FloatArray:
        right = np.clip((share[:, 1] - 0.1) / 0.9, 0.05, 0.95)
        columns = [np.zeros(len(share)), 1.2 * logit(right), np.full(len(share), -2.0), np.full(len(share), -3.0)]
        return np.stack(columns[: self.n_free], axis=1)

    def derivatives(self, given: FloatArray, ability: FloatArray) -> tuple[FloatArray, FloatArray]:
        low = expit(given[:, 2])[:, None]
        high = expit(-given[:, 3])[:, None] if self.n_free > 3 else np.ones_like(low)
        slope = np.exp(given[:, :1])
        inner = expit(slope * ability + given[:, 1:2])
        right = low + (high - low) * inner
        steep = (high - low) * inner * (1 - inner)
        parts = [steep * slope * ability, steep, (1 - inner) * low * (1 - low), -inner * high * (1 - high)]
        up = np.stack(parts[: self.n_free], axis=2)
        return np.stack([1 - right, right], axis=1), np.stack([-up, up], axis=1)

    def to_reported(self, given: FloatArray) -> tuple[FloatArray, FloatArray]:
        n, slope = len(given), np.exp(given[:, 0])
        low, high = expit(given[:, 2]), expit(-given[:, 3]) if self.n_free > 3 else np.ones(n)
        by_free = np.zeros((n, 4, self.n_free))
        by_free[:, 0, 0], by_free[:, 1, 1] = slope, 1.0
        by_free[:, 2, 2] = low * (1 - low)
        if self.n_free > 3:
            by_free[:, 3, 3] = -high * (1 - high)
        return np.stack([slope, given[:, 1], low, high], axis=1), by_free

    def weak_prior(self, guess: float) -> tuple[FloatArray, FloatArray]:
        mean, sd = np.array([0.0, 0.0, logit(guess), -3.0]), np.array([0.5, 3.0, 0.7, 0.7])
        return mean[: self.n_free], sd[: self.n_free]

    def limits(self) -> FloatArray:
        return np.array([np.log(TUNING.max_slope), 3 * TUNING.max_slope, TUNING.max_asymptote, TUNING.max_asymptote])[
            : self.n_free
        ]


class Nominal(Curves):
    """Nominal responses (Bock 1972): P(outcome k) proportional to exp(s_k ability + c_k), with s_0 = c_0 = 0."""

    kind = "nominal"

    def __init__(self, n_outcomes: int, spread: float = 3.0) -> None:
        self.n_outcomes, self.n_free, self.spread = n_outcomes, 2 * (n_outcomes - 1), spread

    def start(self, share: FloatArray) -> FloatArray:
        level = np.log(np.maximum(share, 0.01))
        return np.concatenate([np.zeros((len(share), self.n_outcomes - 1)), level[:, 1:] - level[:, :1]], axis=1)

    def derivatives(self, given: FloatArray, ability: FloatArray) -> tuple[FloatArray, FloatArray]:
        n_cuts = self.n_outcomes - 1
        score = given[:, :n_cuts, None] * ability + given[:, n_cuts:, None]
        chance = softmax(np.concatenate([np.zeros_like(score[:, :1]), score], axis=1), axis=1)
        own = np.eye(self.n_outcomes)[:, 1:]
        by_level = chance[..., None] * (own[:, None, :] - chance[:, None, 1:].transpose(0, 1, 3, 2))
        return chance, np.concatenate([by_level * ability[:, None], by_level], axis=3)

    def to_reported(self, given: FloatArray) -> tuple[FloatArray, FloatArray]:
        n = len(given)
        by_free = np.zeros((n, 2 * self.n_outcomes, self.n_free))
        by_free[:, : self.n_free] = np.eye(self.n_free)
        return np.concatenate([given, np.zeros((n, 1)), np.ones((n, 1))], axis=1), by_free

    def rescale(self, given: FloatArray, mean: float, sd: float) -> FloatArray:
        slopes, levels = np.split(given, 2, axis=1)
        return np.concatenate([slopes * sd, levels + slopes * mean], axis=1)

    def weak_prior(self, guess: float) -> tuple[FloatArray, FloatArray]:
        return np.zeros(self.n_free), np.repeat([self.spread, 3.0 * self.spread], self.n_outcomes - 1)

    def limits(self) -> FloatArray:
        return np.repeat([TUNING.max_slope, 3 * TUNING.max_slope], self.n_outcomes - 1)


@dataclass
class Group:
    """Items of one kind: their columns, their curves, free parameters and priors."""

    columns: IntArray
    curves: Curves
    mean: FloatArray
    precision: FloatArray
    #: Whether the items share a slope, the first parameter.
    tied: bool = False
    given: FloatArray = field(default_factory=lambda: np.empty((0, 0)))

    def chances(self, ability: FloatArray, given: FloatArray | None = None) -> FloatArray:
        """P(outcome | ability), (n_items, V, n_points)."""
        return self.curves.derivatives(self.given if given is None else given, ability)[0]

    def log_prior(self, given: FloatArray) -> FloatArray:
        """Logarithm of the prior of each item's parameters, up to a constant; of a shared one in part."""
        share = np.where(np.arange(len(self.mean)) == 0, len(self.columns) if self.tied else 1, 1)
        return np.asarray(-0.5 * (self.precision / share * (given - self.mean) ** 2).sum(axis=1))


def maximise(group: Group, counts: FloatArray, ability: FloatArray) -> None:
    """Raise what counts (n_items, V, n_points) expect of the log-likelihood, by a few steps of Fisher scoring."""
    n_free = group.curves.n_free
    for _ in range(TUNING.n_steps):
        for rows in chunks(len(group.columns), 8.0 * 4 * counts.shape[1] * len(ability) * n_free):
            some = Group(group.columns[rows], group.curves, group.mean, group.precision, group.tied, group.given[rows])
            score, information = _slope_of(some, counts[rows], ability, len(group.columns))
            if group.tied:  # the others first, the shared one after
                score[:, 0], information[:, 0, 1:], information[:, 1:, 0] = 0.0, 0.0, 0.0
            step = np.linalg.solve(information, score[..., None])[..., 0].astype(np.float64)
            group.given[rows] = _ascend(some, counts[rows], ability, np.clip(step, -TUNING.max_step, TUNING.max_step))
        if group.tied:
            score, information = _slope_of(group, counts, ability, len(group.columns))
            step = np.zeros_like(score)
            step[:, 0] = np.clip(score[:, 0].sum() / information[:, 0, 0].sum(), -TUNING.max_step, TUNING.max_step)
            group.given = _ascend(group, counts, ability, step, together=True)


def _slope_of(group: Group, counts: FloatArray, ability: FloatArray, n_items: int) -> tuple[FloatArray, FloatArray]:
    """First derivatives and expected information of the parameters of each item."""
    chance, by_free = group.curves.derivatives(group.given, ability)
    floor = np.maximum(chance, LEAST_CHANCE)
    score = np.einsum("jvg,jvgp->jp", counts / floor, by_free)
    weight = counts.sum(axis=1)[:, None] / floor
    flat = by_free.reshape(len(by_free), -1, by_free.shape[3])
    information = (flat * weight.reshape(len(weight), -1, 1)).transpose(0, 2, 1) @ flat
    share = np.where((np.arange(len(group.mean)) == 0) & group.tied, n_items, 1)
    score -= group.precision / share * (group.given - group.mean)
    information += np.diag(group.precision / share + 1e-6)
    return score, information


def _ascend(
    group: Group, counts: FloatArray, ability: FloatArray, step: FloatArray, together: bool = False
) -> FloatArray:
    """Parameters after a step, which is halved for items, or for all together, that it makes no better."""
    before, limits = _objective(group, counts, ability, group.given, together), group.curves.limits()
    parameters, left = group.given.copy(), np.arange(len(group.given))
    for _ in range(TUNING.n_halvings):
        tried = np.clip(group.given[left] + step[left], -limits, limits)
        some = Group(group.columns[left], group.curves, group.mean, group.precision, group.tied)
        better = _objective(some, counts[left], ability, tried, together) >= before[left] - 1e-12
        parameters[left[better]] = tried[better]
        left = left[~better]
        if not left.size:
            break
        step = step / 2
    return np.asarray(parameters)


def _objective(group: Group, counts: FloatArray, ability: FloatArray, given: FloatArray, together: bool) -> FloatArray:
    logs = np.log(np.maximum(group.chances(ability, given), LEAST_CHANCE))
    each = (counts * logs).sum(axis=(1, 2)) + group.log_prior(given)
    return np.full(len(each), float(each.sum())) if together else np.asarray(each)


@dataclass(frozen=True)
class Answers:
    """Rows of answers: what they showed, their weights, and log P(hidden state), each of some kind of rows."""

    X: IntArray  # (n, n_items), -1 where missing
    weight: FloatArray
    kind: IntArray  # which line of log_prior is a row's
    log_prior: FloatArray  # (n_kinds, n_states)


@dataclass(frozen=True)
class Found:
    """What an expectation step finds."""

    log_likelihood: float
    counts: FloatArray  # (n_items, n_outcomes, n_states)
    total: FloatArray  # (n_states,)


def maximise_likelihood(
    rows: Answers, groups: Sequence[Group], ability: FloatArray, max_iter: int, tol: float
) -> tuple[float, int, bool]:
    """Learn the items' parameters: the log-likelihood, the iterations, and whether the curves moved less than `tol`."""
    n_outcomes = max((group.curves.n_outcomes for group in groups), default=1)
    design = Design(rows.X, n_outcomes)
    spread = float(ability.max() - ability.min()) / 16
    place = _first_scores(design, rows.weight) * spread * 2 + ability.mean()
    guessed = -0.5 * ((ability - place[:, None]) / spread) ** 2
    counts = _expect_rows(design, rows, lambda part, ones: guessed[part], n_outcomes).counts
    for group in groups:
        own = counts[group.columns, : group.curves.n_outcomes].sum(axis=2) + 0.5
        group.given = group.curves.start(own / own.sum(axis=1, keepdims=True))
    before = [group.chances(ability) for group in groups]
    expectation = Found(-np.inf, counts, np.full(len(ability), np.nan))
    centre, spread = _moments(np.exp(rows.log_prior[0]), ability)
    scaled, reached = len(rows.log_prior) == 1, -np.inf

    def expect() -> tuple[list[FloatArray], Found]:
        chances = [group.chances(ability) for group in groups]
        tables = tables_of(groups, chances, design.n_features, n_outcomes, len(ability))
        return chances, expected_counts(design, rows, tables)

    for iteration in range(1, max_iter + 1):
        for group in groups:
            maximise(group, expectation.counts[group.columns, : group.curves.n_outcomes], ability)
        plain = [group.given for group in groups]
        if scaled and iteration > 1:
            # abilities as they were found have another scale: it is put right at once, not in hundreds of steps
            mean, sd = _moments(expectation.total, ability)
            for group in groups:
                group.given = group.curves.rescale(group.given, mean - centre * sd / spread, sd / spread)
        now, after = expect()
        if _height(after, groups) < reached and scaled and iteration > 1:
            # with priors, and on a grid, that is no better where all but little is done
            scaled = False
            for group, given in zip(groups, plain):
                group.given = given
            now, after = expect()
        expectation, reached = after, _height(after, groups)
        moved = max((float(np.abs(a - b).max(initial=0.0)) for a, b in zip(before, now)), default=0.0)
        before = now
        if moved < tol:
            if not scaled or not any(group.precision.any() for group in groups):
                return expectation.log_likelihood, iteration, True
            scaled = False  # with priors, that and a step may undo each other where a step alone goes on
    return expectation.log_likelihood, max_iter, False


def _moments(share: FloatArray, ability: FloatArray) -> tuple[float, float]:
    """Mean and standard deviation of abilities by their weights."""
    mean = float(share @ ability / share.sum())
    return mean, float(np.sqrt(share @ (ability - mean) ** 2 / share.sum()))


def _height(expectation: Found, groups: Sequence[Group]) -> float:
    """Logarithm of likelihood and priors, up to a constant."""
    return expectation.log_likelihood + sum(float(group.log_prior(group.given).sum()) for group in groups)


def tables_of(
    groups: Sequence[Group], chances: Sequence[FloatArray], n_items: int, n_outcomes: int, n_points: int
) -> FloatArray:
    """P(outcome | ability) of all items, (n_items, V_max, n_points), 0 beyond an item's outcomes."""
    tables = np.zeros((n_items, n_outcomes, n_points))
    tables[:, 0] = 1.0  # of an item of one outcome
    for group, some in zip(groups, chances):
        tables[group.columns, : some.shape[1]] = some
    return tables


def expected_counts(design: Design, rows: Answers, tables: FloatArray) -> Found:
    """Rows of each outcome of each item in each hidden state, by what their answers make of the state."""
    columns, zero = design.columns(np.log(np.maximum(tables, LEAST_CHANCE)))
    return _expect_rows(design, rows, lambda part, ones: np.asarray(ones @ columns + zero), tables.shape[1])


def _expect_rows(
    design: Design, rows: Answers, log_likelihoods: Callable[[slice, Any], FloatArray], n_outcomes: int
) -> Found:
    n_states = rows.log_prior.shape[1]
    sums, total, likelihood = np.zeros((design.n_columns, n_states)), np.zeros(n_states), 0.0
    for part, ones in design.parts(n_states):
        joint = log_likelihoods(part, ones) + rows.log_prior[rows.kind[part]]
        top = logsumexp(joint, axis=1)
        share = np.exp(joint - top[:, None]) * rows.weight[part, None]
        likelihood += float(rows.weight[part] @ top)
        total += share.sum(axis=0)
        sums += design.transpose(ones) @ share
    return Found(likelihood, design.counts(sums, total, n_outcomes), total)


def _first_scores(design: Design, weight: FloatArray) -> FloatArray:
    """Rows along the direction in which they differ most, (n,), of mean 0 and variance 1; more is a higher outcome."""
    n_ones, total = len(design.feature), weight.sum()
    if not n_ones:
        return np.zeros(design.n_rows)
    mean = design.sums(weight[:, None])[:, 0] / total
    known = np.ones(design.n_features)
    known[design.missing] -= mean[n_ones:]
    mean = mean[:n_ones] / np.maximum(known[design.feature], LEAST_CHANCE)
    score = direction = design.level / np.sqrt(np.maximum(mean * (1 - mean), 1e-3))
    rising = None
    for _ in range(12):
        absent = np.bincount(design.feature, mean * direction, design.n_features)[design.missing]
        along = design.times(np.concatenate([direction, absent])[:, None])[:, 0] - mean @ direction
        along /= np.sqrt(max(float(weight @ along**2) / total, LEAST_CHANCE))
        rising = along if rising is None else rising
        score = along
        direction = design.sums((weight * along)[:, None])[:n_ones, 0]
        direction -= mean * float(weight @ along)
    return np.asarray(score if float((weight * score) @ rising) >= 0 else -score)


def posterior_of(rows: Answers, tables: FloatArray) -> FloatArray:
    """P(hidden state | answers) of each row, (n, n_states)."""
    design = Design(rows.X, tables.shape[1])
    columns, zero = design.columns(np.log(np.maximum(tables, LEAST_CHANCE)))
    return np.asarray(softmax(design.times(columns) + zero + rows.log_prior[rows.kind], axis=1))


def item_scores(X: IntArray, share: FloatArray, by_log: FloatArray) -> FloatArray:
    """Derivatives of each row's log-likelihood by each item's parameters, (n, n_items, n_free).

    ``by_log`` holds those of log P(outcome | state), (n_items, V, n_states, n_free), ``share`` P(state | row).
    """
    n_items, n_outcomes, n_states, n_free = by_log.shape
    result = np.zeros((len(X), n_items, n_free))
    flat = by_log.transpose(2, 0, 1, 3).reshape(n_states, -1)
    for rows in chunks(len(X), 8.0 * 2 * n_items * n_outcomes * n_free):
        each = (share[rows] @ flat).reshape(-1, n_items, n_outcomes, n_free)
        codes = X[rows]
        picked = np.take_along_axis(each, np.maximum(codes, 0)[:, :, None, None], axis=2)[:, :, 0]
        result[rows] = np.where((codes >= 0)[:, :, None], picked, 0.0)
    return result


def covariances(
    scores: Sequence[FloatArray], weight: FloatArray, precisions: Sequence[FloatArray], tied: Sequence[BoolArray]
) -> list[FloatArray]:
    """Covariance of the parameters of each item of each group, (n_items, n_free, n_free), from scores of rows.

    The information is the cross-product of the rows' scores, and the priors' precision beside it: of all parameters
    together where there are five rows for each, else of each item's by themselves.
    """
    sizes = [part.shape[1] * part.shape[2] for part in scores]
    n_all = sum(sizes)
    shared = np.concatenate([np.tile(which, part.shape[1]) for part, which in zip(scores, tied)])
    if weight.sum() < TUNING.rows_per_parameter * n_all:
        return [_invert_information(part, weight, own, which) for part, own, which in zip(scores, precisions, tied)]
    flat = np.concatenate([part.reshape(len(part), -1) for part in scores], axis=1)
    precision = np.concatenate([np.broadcast_to(own, part.shape[1:]).ravel() for part, own in zip(scores, precisions)])
    # parameters that are shared are one
    first = np.concatenate([np.arange(n_all)[~shared], np.flatnonzero(shared)[:1]])
    place = np.full(n_all, len(first) - 1)
    place[~shared] = np.arange(int((~shared).sum()))
    merged = np.zeros((len(flat), len(first)))
    np.add.at(merged.T, place, flat.T)
    information = (merged * weight[:, None]).T @ merged + np.diag(precision[first])
    covariance = np.linalg.pinv(information, hermitian=True)[np.ix_(place, place)]
    result, begin = [], 0
    for part, size in zip(scores, sizes):
        n_items, n_free = part.shape[1:]
        block = covariance[begin : begin + size, begin : begin + size].reshape(n_items, n_free, n_items, n_free)
        result.append(np.ascontiguousarray(np.moveaxis(np.diagonal(block, axis1=0, axis2=2), -1, 0)))
        begin += size
    return result


def _invert_information(part: FloatArray, weight: FloatArray, precision: FloatArray, tied: BoolArray) -> FloatArray:
    if tied.any():  # what items share has the scores of all of them
        part = np.where(tied, part.sum(axis=1, keepdims=True), part)
    own = np.broadcast_to(precision, part.shape[1:])
    information = np.einsum("njp,njq,n->jpq", part, part, weight, optimize=True) + own[:, :, None] * np.eye(
        own.shape[1]
    )
    return np.asarray(np.linalg.pinv(information, hermitian=True))
