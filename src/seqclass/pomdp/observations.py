"""Where a walk's answers come from: all that are possible, sampled ones, or data."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

import numpy as np

from seqclass._utils.arrays import FloatArray, IntArray
from seqclass.pomdp.problem import DECIDE, BeliefState, question_is_sampled

if TYPE_CHECKING:
    from seqclass.pomdp.problem import AcquisitionProblem


class TooLarge(ValueError):
    """More than an enumeration may visit."""

    def __init__(self, what: str, remedy: str = "raise it or use method='simulation'") -> None:
        super().__init__(f"{what}; {remedy}.")
        self.what = what


class Branches(NamedTuple):
    """Outcomes that a set of histories branches into.

    Attributes
    ----------
    parent : ndarray of int of shape (m,)
        Row of the history that each branch leaves.
    outcome : ndarray of int of shape (m,)
        Outcome it sees; -1 where it is missing.
    weight : ndarray of shape (m,)
        Its probability or number of instances.
    """

    parent: IntArray
    outcome: IntArray
    weight: FloatArray


class ObservationSource(ABC):
    """A source of answers."""

    #: Whether an answer that is missing is paid for all the same.
    charge_missing: bool = False
    #: Whether histories that have stopped may stay among those of `branch`, where a copy would cost more.
    spares_copies: ClassVar[bool] = False

    def spread(self, total: float, probability: FloatArray) -> FloatArray:
        """Weights of the first histories of a walk, one for each lot that a policy draws."""
        return total * probability

    def level(self, question: IntArray) -> None:  # noqa: B027 (most sources have nothing to prepare)
        """Take note of what each history of the next level asks, (n,), before its branches are wanted."""

    @abstractmethod
    def branch(self, belief: BeliefState, weight: FloatArray, rows: IntArray) -> Branches:
        """Branches of histories that all ask one question, those of a history side by side."""


class AllObservations(ObservationSource):
    """Every outcome of positive probability, with its exact share of the weight."""

    def __init__(self, missing: float = 0.0, charge_missing: bool = False) -> None:
        self.missing = missing
        self.charge_missing = charge_missing

    def branch(self, belief: BeliefState, weight: FloatArray, rows: IntArray) -> Branches:
        """Branches of histories that all ask one question; see `ObservationSource.branch`."""
        if question_is_sampled(belief):
            raise TooLarge(
                f"question {belief.question} has too many outcomes to follow them all", "use method='simulation'"
            )
        share = weight[:, None] * belief.outcome_probabilities
        if self.missing > 0:
            share = np.column_stack([share * (1 - self.missing), weight * self.missing])
        parent, outcome = np.nonzero(share > 0)
        weight = share[parent, outcome]
        if self.missing > 0:
            outcome = np.where(outcome == share.shape[1] - 1, -1, outcome)
        return Branches(parent, outcome, weight)


class SampledObservations(ObservationSource):
    """The paths of each history are spread over its outcomes at random; weights are whole numbers of paths."""

    def __init__(self, rng: np.random.Generator) -> None:
        self.rng = rng

    def spread(self, total: float, probability: FloatArray) -> FloatArray:
        """Whole paths, spread over the lots at random; see `ObservationSource.spread`."""
        if len(probability) == 1:
            return np.array([total])
        return self.rng.multinomial(int(total), probability).astype(np.float64)

    def branch(self, belief: BeliefState, weight: FloatArray, rows: IntArray) -> Branches:
        """Branches of histories that all ask one question; see `ObservationSource.branch`."""
        if question_is_sampled(belief):
            return draw_paths(belief, weight, self.rng)
        predictive = belief.outcome_probabilities
        normalised = predictive / predictive.sum(axis=1, keepdims=True)
        share = self.rng.multinomial(weight.astype(np.int64), normalised).astype(np.float64)
        # rounding in the sampler must not send a path where the model never goes
        share[predictive <= 0] = 0
        parent, outcome = np.nonzero(share)
        return Branches(parent, outcome, share[parent, outcome])


def draw_paths(belief: BeliefState, weight: FloatArray, rng: np.random.Generator) -> Branches:
    """Each path by itself, where outcomes are too many to be listed."""
    rows = np.repeat(np.arange(len(belief)), weight.astype(np.int64))
    outcome = belief.problem.structure.sample_outcomes(belief.question, belief, rows, rng)
    pairs, count = np.unique(np.stack([rows, outcome]), axis=1, return_counts=True)
    return Branches(pairs[0].astype(np.intp), pairs[1], count.astype(np.float64))


class PlannedAnswers(ObservationSource):
    """What planning counts with: every outcome, or where they are too many those that stand for them.

    With ``merged`` of outcomes that give the same belief one is followed for all.
    """

    def __init__(self, merged: bool = False) -> None:
        self.merged = merged

    def branch(self, belief: BeliefState, weight: FloatArray, rows: IntArray) -> Branches:
        """Branches of histories that all ask one question; see `ObservationSource.branch`."""
        share = weight[:, None] * belief.outcome_probabilities
        stands_for = belief.problem.structure.equivalent_outcomes if self.merged else None
        if stands_for is not None:
            width = share.shape[1]
            at = np.arange(len(share))[:, None] * width + stands_for[belief.question, :width]
            share = np.asarray(np.bincount(at.ravel(), share.ravel(), share.size), np.float64).reshape(-1, width)
        parent, place = np.nonzero(share > 0)
        outcome: IntArray = place
        if question_is_sampled(belief):
            outcome = belief.problem.structure.sampled_support(belief.question, belief.state)[parent, place]
        return Branches(parent, outcome, share[parent, place])


class DataObservations(ObservationSource):
    """What instances of a data set show, each at the history that it has come to.

    Attributes
    ----------
    rows, node : ndarray of int of shape (n_left,)
        The instances that are still under way, and the history of each at the current level.
    """

    spares_copies = True

    def __init__(self, X: Any, columns: IntArray | None, node: IntArray, charge_missing: bool = False) -> None:
        self.X = X if isinstance(X, np.ndarray) else X.tocsc()
        self.columns = columns
        self.rows, self.node = np.arange(X.shape[0]), node
        self.charge_missing = charge_missing
        self._asked: IntArray | None = None
        self._before, self._n_children = node, 0

    def level(self, question: IntArray) -> None:
        """Leave the instances whose histories stop; see `ObservationSource.level`."""
        stop = question == DECIDE
        if stop.any():
            on = np.flatnonzero(~stop[self.node])
            self.rows, self.node = self.rows[on], self.node[on]
        asked = question[~stop]
        mixed = asked.size > 0 and bool((asked != asked[0]).any())
        self._asked = question[self.node] if mixed else None
        self._before, self._n_children = self.node, 0
        if mixed:
            self.node = np.empty_like(self.node)

    def branch(self, belief: BeliefState, weight: FloatArray, rows: IntArray) -> Branches:
        """Branches of histories that all ask one question; see `ObservationSource.branch`."""
        question, problem = belief.question, belief.problem
        together = isinstance(question, np.ndarray)
        some = slice(None) if self._asked is None or together else np.flatnonzero(self._asked == question)
        place = self._before[some]
        if together or rows[-1] != len(rows) - 1:  # in another order, or histories that stopped were left out
            position = np.empty(int(rows.max()) + 1, dtype=np.intp)
            position[rows] = np.arange(len(rows))
            place = position[place]
        outcome = self._outcomes_of_rows(belief, some, place)
        if together:
            n_outcomes = int(problem.n_outcomes[question].max())
            belief.problem.names.check(question[place], outcome)
        else:
            bundle = problem.structure.bundle(question)
            n_outcomes = int(problem.n_outcomes[question]) if bundle is None else bundle.n_codes
            belief.problem.names.check(question, outcome)
        child, parent, seen, count = _group_pairs(place, outcome, n_outcomes)
        if self._asked is None:
            self.node = child
        else:
            self.node[some] = child + self._n_children
        self._n_children += len(parent)
        return Branches(parent, seen, count)

    def _outcomes_of_rows(self, belief: BeliefState, some: Any, place: IntArray) -> IntArray:
        """What some instances under way show of their histories' question; these are the belief's rows ``place``."""
        if isinstance(belief.question, np.ndarray):
            features = belief.problem.features
            return outcomes_by_question(belief, place, lambda asked, at: self._outcomes(at, int(features[asked])))
        return self.outcomes(belief.problem, belief.question, some)

    def outcomes(
        self, problem: AcquisitionProblem, question: int, some: Any = slice(None), *, among: IntArray | None = None
    ) -> IntArray:
        """What a question shows of instances that are under way, (m,)."""
        bundle = problem.structure.bundle(question)
        if bundle is None:
            return self._outcomes(some, int(problem.features[question]))
        shown = [self._outcomes(some, j) for j in bundle.features.tolist()]
        if among is not None:
            shown = [np.where(np.isin(j, among), value, -1) for j, value in zip(bundle.features, shown)]
        return bundle.encode(np.stack(shown, axis=1))

    def _outcomes(self, some: Any, feature: int) -> IntArray:
        column = feature if self.columns is None else int(self.columns[feature])
        if column >= self.X.shape[1]:
            raise ValueError(f"X has {self.X.shape[1]} columns, and the policy asks for feature {column}.")
        rows = self.rows[some]
        if isinstance(self.X, np.ndarray):
            return np.asarray(self.X[rows, column])
        start, end = self.X.indptr[column], self.X.indptr[column + 1]
        dense = np.zeros(self.X.shape[0], dtype=self.X.dtype)
        dense[self.X.indices[start:end]] = self.X.data[start:end]
        return np.asarray(dense[rows])


def outcomes_by_question(belief: BeliefState, place: IntArray, answer: Callable[[int, IntArray], IntArray]) -> IntArray:
    """What instances show, of which each is asked what its row of a belief is about to ask, (n,).

    The numbers of those that are asked the same are answered together.
    """
    question = np.broadcast_to(belief.question, len(belief))[place]
    outcome, order = np.empty(len(question), dtype=np.int64), np.argsort(question, kind="stable")
    for at in np.split(order, np.flatnonzero(np.diff(question[order])) + 1) if order.size else ():
        outcome[at] = answer(int(question[at[0]]), at)
    return outcome


def _group_pairs(node: IntArray, outcome: IntArray, n_outcomes: int) -> tuple[IntArray, IntArray, IntArray, FloatArray]:
    """Number the distinct (history, outcome) pairs: child of each row; parent, outcome and size of each child."""
    if len(node) == 1 and node[0] == 0:
        return node, node, outcome.astype(np.intp), np.ones(1)
    width = n_outcomes + 1
    n_keys = (int(node.max(initial=-1)) + 1) * width
    if n_keys >= 2**62:  # more than can be numbered
        pairs, child, count = np.unique(np.stack([node, outcome]), axis=1, return_inverse=True, return_counts=True)
        return child.reshape(-1), pairs[0].astype(np.intp), pairs[1], count.astype(np.float64)
    key = outcome.astype(np.intp)
    key += node * width + 1
    if n_keys <= 16 * key.size + 1024:
        counts = np.bincount(key, minlength=n_keys)
        distinct = np.flatnonzero(counts)
        number = np.empty(n_keys, dtype=np.intp)
        number[distinct] = np.arange(distinct.size)
        child, count = number[key], counts[distinct]
    else:
        distinct, child, count = np.unique(key, return_inverse=True, return_counts=True)
    parent = distinct // width
    return child, parent, distinct - parent * width - 1, count.astype(np.float64)
