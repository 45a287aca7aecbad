"""How far means over what chance has drawn may be off, however rare what is dear may be."""

from __future__ import annotations

from dataclasses import dataclass
from statistics import NormalDist

import numpy as np

from seqclass._utils.arrays import BoolArray, FloatArray, IntArray
from seqclass.pomdp.observations import Branches, ObservationSource, draw_paths
from seqclass.pomdp.problem import AcquisitionProblem, BeliefState, question_is_sampled


@dataclass(frozen=True)
class DrawTuning:
    """How paths are drawn, and what those that were not may cost."""

    #: Paths that are begun for each that is asked for: those that are dear are followed more often.
    begun: float = 0.65
    #: How many times the mean cost of deciding makes a history as likely to be followed as it is to be met.
    dear: float = 1.0
    #: How many times as much as the worst that was seen one that is missed may add: what is largest is seldom met.
    larger: float = 1.5
    #: Share of what a path costs by which one that is missed may differ from all that were seen.
    share: float = 0.2
    #: How many times as far off it may be at most as the worst that was seen, or this share where all cost the same.
    times: float = 100.0
    same: float = 1e-3


_TUNING = DrawTuning()


def quantile(confidence: float) -> float:
    """Two-sided normal quantile."""
    return NormalDist().inv_cdf((1 + confidence) / 2)


def excess(parts: FloatArray, missed: float, z: float) -> float:
    """How far a sum of parts that chance has drawn may be below its expectation, one-sided, at a normal quantile ``z``.

    Few large parts make up the sum where what is rare is dear, and chance is more likely to miss one than the normal
    approximation has it: so the interval is corrected for skewness [1]_, and one part more is counted, ``missed``.

    .. [1] N. J. Johnson, "Modified t tests and confidence intervals for asymmetrical populations", Journal of the
       American Statistical Association 73, 1978.
    """
    square = float(parts @ parts) + missed**2
    if square == 0:
        return 0.0
    skew = (float(parts**2 @ parts) + missed**3) / (6 * square)
    return float(missed + z * np.sqrt(square) + (1 + 2 * z**2) * max(skew, 0.0))


def mean_excess(values: FloatArray, least: float, z: float) -> float:
    """How far the mean of independent values, none of which can be below ``least``, may be above its expectation."""
    mean, n = float(values.mean()), len(values)
    return excess((mean - values) / n, (mean - least) / n, z)


def greatest_price(problem: AcquisitionProblem) -> float:
    """What nobody pays more than: for everything, one at a time."""
    visits = 0.0 if problem.visits is None else float(problem.visits.single_costs.sum())
    return float(problem.full_prices.sum()) + visits


class StratifiedAnswers(ObservationSource):
    """Every outcome that weighs a path or more, and as many of the others as their weights, or their costs, come to.

    What is left out is made up for by more weight of the like that is not: the weight of each is right on average. An
    outcome after which deciding costs much more than elsewhere at this level is followed more often than paths would
    come to it, with less weight: so a rare class that is dear to miss is met, or any answer that tells of it.
    """

    def __init__(self, rng: np.random.Generator) -> None:
        self.rng = rng
        self.n_lots = 0
        #: Which of the branches since the last level are there by chance.
        self._by_chance: list[BoolArray] = []

    def begin(self, n_paths: int) -> float:
        """What so many paths are to weigh: one at least is met."""
        return max(_TUNING.begun * n_paths, 1.0)

    def spread(self, total: float, probability: FloatArray) -> FloatArray:
        """The lots that weigh a path or more, and some of the others; see `ObservationSource.spread`."""
        share = total * probability[None]
        chance = np.minimum(share, 1.0)
        weight: FloatArray = self._draw(share, chance)[0]
        self._by_chance.append((chance[0] < 1)[weight > 0])
        return weight

    def branch(self, belief: BeliefState, weight: FloatArray, rows: IntArray) -> Branches:
        """Branches of histories that all ask one question; see `ObservationSource.branch`."""
        if question_is_sampled(belief):
            copies = np.maximum(np.ceil(weight), 1.0)
            parent, outcome, count = draw_paths(belief, copies, self.rng)
            self._by_chance.append(np.ones(len(parent), dtype=bool))
            return Branches(parent, outcome, count * (weight / copies)[parent])
        each, probability = weight[:, None], belief.outcome_probabilities
        cost = each * belief.problem.stopping_cost(belief.joint)
        # a path that was begun is followed to its end
        often, mean = probability * np.maximum(each, 1.0), float(cost.sum() / weight.sum())
        if mean > 0:  # at most as many again are followed for what they cost
            often = np.maximum(often, cost / (_TUNING.dear * mean))
        chance = np.minimum(often, 1.0)
        drawn = self._draw(each * probability, chance)
        parent, outcome = np.nonzero(drawn)
        self._by_chance.append(chance[parent, outcome] < 1)
        return Branches(parent, outcome, drawn[parent, outcome])

    def lots(self, before: IntArray) -> IntArray:
        """Number of the lot of each history of a level, that of the first on its way which chance has drawn, or -1.

        ``before`` are those of the histories that they come from, -1 of the first ones.
        """
        begins = np.concatenate(self._by_chance) & (before < 0)
        self._by_chance = []
        lot: IntArray = before.copy()
        n = int(begins.sum())
        lot[begins] = np.arange(self.n_lots, self.n_lots + n)
        self.n_lots += n
        return lot

    def _draw(self, share: FloatArray, chance: FloatArray) -> FloatArray:
        """Weights of which each is there with its chance, of each row as many as the sum of these, and else 0."""
        reach = np.cumsum(chance, axis=1) + self.rng.random((len(chance), 1))
        whole, there = np.floor(reach), chance >= 1
        there[:, 0] |= whole[:, 0] > 0
        there[:, 1:] |= whole[:, 1:] > whole[:, :-1]
        weight: FloatArray = np.divide(share, chance, out=np.zeros_like(share), where=there)
        return weight


@dataclass(frozen=True)
class DrawnMeans:
    """Means of some values over histories that chance has drawn in lots.

    Attributes
    ----------
    means : ndarray of shape (k,)
        Estimates.
    parts : ndarray of shape (k, n_lots)
        What each lot of histories that chance has drawn adds to these, less what it would add on average.
    single : ndarray of shape (k, n_histories)
        What one lot more like each history that was seen would add: of a path, or less where more lots are drawn.
    covariance : ndarray of shape (k, k)
        Covariance of the estimates, had all histories been drawn.
    unlike : ndarray of shape (k,)
        What one lot unlike all that were seen may add; 0 where nothing was left to chance.
    """

    means: FloatArray
    parts: FloatArray
    single: FloatArray
    covariance: FloatArray
    unlike: FloatArray

    def margin(self, times: FloatArray, z: float) -> float:
        """How far the sum of the estimates, so many times each, may be below its expectation: one lot more is missed.

        It adds more than any of those that were seen, or as much as one unlike these.
        """
        parts, single, unlike = times @ self.parts, times @ self.single, float(np.abs(times) @ self.unlike)
        return excess(parts, max(_TUNING.larger * float(single.max(initial=0.0)), unlike), z)

    @property
    def standard_errors(self) -> FloatArray:
        """Those of the estimates, rather too large: that lots are spread evenly is not counted, (k,)."""
        return np.asarray(np.sqrt((self.parts**2).sum(axis=1)))


class DrawnValues:
    """Values of histories that have ended, their weights, and which of them chance has drawn together."""

    def __init__(self) -> None:
        self._ended: list[FloatArray] = []

    def add(self, weight: FloatArray, values: FloatArray, lot: IntArray) -> None:
        """Note histories that have ended: ``values`` of shape (k, n)."""
        if weight.size:
            self._ended.append(np.vstack([weight, values, lot]))

    def means(self, total: float, n_lots: int, alike: BoolArray) -> DrawnMeans:
        """What all of them come to, of paths of such a weight; ``alike``: which values are nearly right where equal."""
        ended = np.concatenate(self._ended, axis=1)
        self._ended = [ended]
        share, values, lot = ended[0], ended[1:-1], ended[-1].astype(np.intp)
        # what chance has drawn weighs as much as all together on average only
        followed, lot_weight = float(share.sum()), np.minimum(share, 1.0)
        share = share / (followed if n_lots else total)
        mean = values @ share
        drawn, off = lot >= 0, values - mean[:, None]
        parts = np.zeros((len(values), n_lots))
        for row, part in zip(off * share, parts):
            part += np.bincount(lot[drawn], row[drawn], n_lots)
        covariance = np.asarray((off * share) @ off.T / total)
        whole = n_lots == 0 and followed > total * (1 - 1e-9)
        single = np.zeros_like(off) if whole else off * lot_weight / total
        unlike = np.zeros(len(mean)) if whole else _unlike(np.abs(single).max(axis=1), mean / total, alike)
        return DrawnMeans(mean, parts, single, covariance, unlike)


def _unlike(worst: FloatArray, path: FloatArray, alike: BoolArray) -> FloatArray:
    """What a lot may add that is unlike all that were seen, by the worst of these and what a mean path adds.

    Where all were alike values are nearly right, and a policy that follows them; others may be foolish anywhere.
    """
    unlike = _TUNING.share * np.maximum(worst, path)
    like = np.maximum(_TUNING.times * worst, _TUNING.same * path)
    return np.where(alike, np.minimum(unlike, like), unlike)
