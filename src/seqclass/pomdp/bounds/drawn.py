"""Costs that no order of questions beats, with a stated confidence: the best that could be done on drawn cases."""

from __future__ import annotations

from collections.abc import Sequence
from math import log, sqrt
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from scipy.special import softmax

from seqclass._utils.arrays import BoolArray, FloatArray, IntArray, log_or_infinite, row_sums
from seqclass.pomdp.account import groups_paid_after, prices_beside
from seqclass.pomdp.bounds.optimum import row_keys
from seqclass.pomdp.bounds.search import Search, ranges
from seqclass.pomdp.observations import SampledObservations
from seqclass.pomdp.one_step import initial_beliefs, latent_posterior
from seqclass.pomdp.problem import AcquisitionProblem
from seqclass.pomdp.walk import ask_everything, initial_histories, walk


class DrawnCases(NamedTuple):
    """Cases drawn from a problem: all their answers, and what each decision is expected to cost given all of these.

    Attributes
    ----------
    answers : ndarray of int of shape (n, n_questions)
        What each question shows.
    costs : ndarray of shape (n, n_decisions)
        Expected cost of each decision, the class unknown.
    """

    answers: IntArray
    costs: FloatArray

    @classmethod
    def draw(cls, problem: AcquisitionProblem, n: int, rng: np.random.Generator) -> DrawnCases:
        """Draw cases from a problem in any order of one start."""
        # cases that are drawn at once, each of which may look at all tables
        parts = [cls._part(problem, min(1000, n - first), rng) for first in range(0, n, 1000)]
        return cls(*(np.concatenate(column) for column in zip(*parts)))

    @classmethod
    def _part(cls, problem: AcquisitionProblem, n: int, rng: np.random.Generator) -> DrawnCases:
        drawn = problem.structure.draw_cases(n, rng)
        if drawn is not None:
            return cls(drawn, problem.structure.posterior_of(drawn) @ problem.decision_costs)
        if (states := problem.structure.state_tables) is not None:
            return cls._by_states(problem, *states, n, rng)
        # what no budget limits costs no more
        plain = problem.replace(max_questions=None, max_cost=None, rules=None)
        answers = SampledObservations(rng)
        *_, last = walk(*initial_histories(plain, None, float(n), answers), ask_everything, answers)
        assert last.belief.observed is not None
        rows = np.repeat(np.arange(len(last.weight)), last.weight.astype(np.int64))
        return cls(
            np.asarray(last.belief.observed[rows], dtype=np.intp),
            (last.belief.probabilities @ problem.decision_costs)[rows],
        )

    @classmethod
    def _by_states(
        cls, problem: AcquisitionProblem, tables: FloatArray, classes: IntArray, n: int, rng: np.random.Generator
    ) -> DrawnCases:
        share = latent_posterior(initial_beliefs(problem)[0])[0]
        own = [table[:size] for table, size in zip(tables, problem.n_outcomes.tolist())]
        answers = draw_answers(own, share, n, rng)
        joint = np.tile(log_or_infinite(share), (n, 1))
        for table, answer in zip(tables, answers.T):
            joint += log_or_infinite(table)[answer]
        return cls(answers, softmax(joint, axis=1) @ problem.decision_costs[classes])


def draw_answers(
    tables: Sequence[npt.NDArray[np.floating[Any]]], share: FloatArray, n: int, rng: np.random.Generator
) -> IntArray:
    """Answers of cases, (n, n_questions), that are independent given states of these shares, by P(answer | state)."""
    state = rng.choice(len(share), n, p=share / share.sum())
    answers: IntArray = np.empty((n, len(tables)), dtype=np.intp, order="F")  # question by question, as they are read
    for question, table in enumerate(tables):
        below = np.cumsum(table, axis=0, dtype=np.float64)[:, state]
        # rounding must not leave an outcome that there is not
        answers[:, question] = (below[:-1] <= rng.random(n) * below[-1]).sum(axis=0)
    return answers


class _CaseNodes:
    """Partial answers of drawn cases; reads as the beliefs of a search do.

    Attributes
    ----------
    member, size
        Cases that gave each, side by side, and how many.
    asked : ndarray of bool of shape (n, n_questions)
    extra : ndarray of shape (n,)
        What was paid for the first questions of groups beyond their lowest prices.
    stopping_cost, known : ndarray of shape (n,)
        Mean value of the costs of the best decision, and those of cases each of which has its own after one price more.
    """

    #: What there is of each node but its cases.
    _NAMES = ("size", "asked", "extra", "stopping_cost", "known")
    #: Prices are part of the values at the end, which are not their sums.
    prices: FloatArray = np.zeros((1, 1))

    def __init__(self, member: IntArray, size: IntArray, **of_each: npt.NDArray[Any]) -> None:
        self.member, self.size = member, size
        self.first: IntArray = np.asarray(np.cumsum(size) - size)
        self.asked, self.extra = of_each["asked"], of_each["extra"]
        self.stopping_cost, self.known = of_each["stopping_cost"], of_each["known"]

    def __len__(self) -> int:
        return len(self.size)

    @property
    def available(self) -> BoolArray:
        return ~self.asked

    def __getitem__(self, rows: IntArray) -> _CaseNodes:
        member = self.member[ranges(self.first[rows], self.size[rows])]
        return _CaseNodes(member, **{name: getattr(self, name)[rows] for name in self._NAMES})


def rate_of(mean: float, spread: float, n: int, failing: float) -> float:
    """Rate of a `DrawnSearch` on ``n`` cases that suits costs of such a mean and standard deviation."""
    # how near to all of its mean a bet on the cost of a case may come: how far rare ones that cost nothing are looked
    # for
    most = 0.9 / mean
    share = min(sqrt(-2 * log(failing) / n) / spread, most) if spread > 0 else most
    return share / (1 - share * mean)


class DrawnSearch(Search[_CaseNodes]):
    """AO* over the partial answers of drawn cases: the least mean that any policy has on them, and no less.

    Whoever decides knows that the case is one of those drawn, so that with few cases left hardly anything is unknown:
    the least mean cost is below the optimum in expectation, and above it by chance alone. Where the search has not come
    to, one more price is paid, and all other answers are known. The mean is of costs, or with a ``rate`` of
    ``log(1 + rate * cost) / rate``, from which `lower` follows.
    """

    def __init__(self, problem: AcquisitionProblem, cases: DrawnCases, rate: float = 0.0) -> None:
        self.problem, self.cases, self.rate = problem, cases, rate
        self.least: FloatArray = cases.costs.min(axis=1)
        #: Answers that were looked at so far.
        self.work = 0
        n = len(cases.costs)
        nothing = np.zeros((1, problem.n_questions), dtype=bool)
        self._start(self._nodes(np.arange(n), np.array([n]), nothing, np.zeros(1)))

    def lower(self, failing: float, n: int | None = None) -> float:
        """What no policy costs less than, but for a chance ``failing``; or would not, by ``n`` cases like these.

        The costs X of the best policy are independent, so that the product of 1 + rate * X has the mean
        ``(1 + rate * E X) ** n``, and by Markov's inequality is seldom above it by a factor of 1 / failing.
        """
        surprise = -log(failing) / (len(self.least) if n is None else n)
        return max(float(np.expm1(self.rate * self.low - surprise)) / self.rate, 0.0)

    def _join(self, parts: Sequence[_CaseNodes]) -> _CaseNodes:
        names = ("member", *_CaseNodes._NAMES)
        return _CaseNodes(**{name: np.concatenate([getattr(part, name) for part in parts]) for name in names})

    def _value(self, cost: FloatArray) -> FloatArray:
        return np.log1p(self.rate * cost) / self.rate if self.rate > 0 else cost

    def _path_prices(self, asked: BoolArray, extra: FloatArray) -> FloatArray:
        return np.asarray(asked @ self.problem.prices + extra)

    def _cheapest(self, asked: BoolArray) -> FloatArray:
        """Least that going on costs, 0 where nothing is left to ask, (n,)."""
        cheapest = np.where(asked, np.inf, self.problem.prices).min(axis=1, initial=np.inf)
        return np.where(np.isfinite(cheapest), cheapest, 0.0)

    def _extra(self, nodes: _CaseNodes) -> FloatArray:
        """What each question would cost beyond its lowest price, (n, n_questions)."""
        prices = prices_beside(self.problem, groups_paid_after(self.problem, nodes.asked))
        return np.asarray(np.broadcast_to(prices - self.problem.prices, nodes.asked.shape))

    def _nodes(self, member: IntArray, size: IntArray, asked: BoolArray, extra: FloatArray) -> _CaseNodes:
        first, paid = np.cumsum(size) - size, self._path_prices(asked, extra)
        each, ahead = np.repeat(paid, size), np.repeat(paid + self._cheapest(asked), size)
        decided = self._value(each[:, None] + self.cases.costs[member])
        stop = np.add.reduceat(decided, first, axis=0).min(axis=1) / size
        known = np.add.reduceat(self._value(ahead + self.least[member]), first) / size
        return _CaseNodes(member, size, asked=asked, extra=extra, stopping_cost=stop, known=known)

    def _keys(self, nodes: _CaseNodes) -> npt.NDArray[np.bytes_]:
        seen = np.where(nodes.asked, self.cases.answers[nodes.member[nodes.first]], -1).astype(np.int32)
        # what was paid may hang on which of a group was the first
        # parts of the dearest price by which what was paid is told apart
        paid = np.round(nodes.extra / (self.problem.full_prices.max(initial=0.0) or 1.0) * 1e8).astype(np.int64)
        return row_keys([seen, paid[:, None]])

    def _tips(self, nodes: _CaseNodes) -> tuple[FloatArray, FloatArray]:
        return np.minimum(nodes.stopping_cost, nodes.known), nodes.stopping_cost.copy()

    def _costs(self, nodes: _CaseNodes) -> tuple[FloatArray, FloatArray]:
        n, n_questions = len(nodes), self.problem.n_questions
        self.work += nodes.member.size * n_questions
        low = np.where(nodes.asked, np.inf, 0.0)
        once = low.copy()
        node: IntArray = np.repeat(np.arange(n), nodes.size)
        paid = self._path_prices(nodes.asked, nodes.extra)[:, None] + self.problem.prices + self._extra(nodes)
        costs, least = self.cases.costs[nodes.member], self.least[nodes.member]
        before: tuple[FloatArray, FloatArray] | None = None
        for question in range(n_questions):
            width = int(self.problem.n_outcomes[question])
            place = node * width + self.cases.answers[:, question].take(nodes.member)
            asked = nodes.asked.copy()
            asked[:, question] = True
            ahead = paid[:, question] + self._cheapest(asked)
            # where prices are alike, so are the values
            if before is None or not (
                np.array_equal(before[0], paid[:, question]) and np.array_equal(before[1], ahead)
            ):
                decided = self._value(paid[node, question, None] + costs).T.copy()
                known, before = self._value(ahead[node] + least), (paid[:, question], ahead)
            stop = np.min([np.bincount(place, value, n * width) for value in decided], axis=0)
            after = np.minimum(stop, np.bincount(place, known, n * width))
            once[:, question] += row_sums(stop.reshape(n, width)) / nodes.size
            low[:, question] += row_sums(after.reshape(n, width)) / nodes.size
        return low, once

    def _ask_pairs(
        self, nodes: _CaseNodes, row: IntArray, question: IntArray
    ) -> tuple[_CaseNodes, IntArray, FloatArray]:
        size, first = nodes.size[row], nodes.first[row]
        member = nodes.member[ranges(first, size)]
        pair: IntArray = np.repeat(np.arange(len(row)), size)
        widest = int(self.problem.n_outcomes.max())
        place = pair * widest + self.cases.answers[member, question[pair]]
        order = np.argsort(place, kind="stable")
        begun = np.flatnonzero(np.diff(place[order], prepend=-1))
        count = np.diff(begun, append=len(place))
        entry = pair[order[begun]]
        asked = nodes.asked[row[entry]]
        asked[np.arange(len(entry)), question[entry]] = True
        extra = (nodes.extra[row] + self._extra(nodes[row])[np.arange(len(row)), question])[entry]
        return self._nodes(member[order], count, asked, extra), entry, count / size[entry]
