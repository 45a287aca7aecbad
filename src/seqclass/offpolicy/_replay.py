"""A policy run on rows of outcomes: what it asks for, and what that costs given the class."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from seqclass._shell import DecidingClassifier
from seqclass._utils.arrays import BoolArray, FloatArray, IntArray
from seqclass.pomdp import acquire

#: What is estimated of a policy, the last axis of `Replay.leaf_parts`.
PARTS = ("cost", "price", "decision_cost", "error", "n_features")


@dataclass(frozen=True, eq=False)
class Replay:
    """What a policy did with N rows, which end at L leaves."""

    leaf: IntArray  # (N,)
    question: IntArray  # (L, T) asked in turn, -1 beyond the stop
    outcome: IntArray  # (L, T) what was shown
    leaf_parts: FloatArray  # (L, n_classes, n_parts) given the class

    def parts(self, label: IntArray) -> FloatArray:
        """What each row costs, (N, n_parts)."""
        return np.asarray(self.leaf_parts[self.leaf, label])

    def increments(self, pool: slice, label: IntArray) -> FloatArray:
        """How each answer changes what a policy is expected to cost given the class, (L, T + 1, n_classes, n_parts)."""
        n_leaves, n_classes = self.leaf_parts.shape[:2]
        count = np.zeros((n_leaves, n_classes))
        np.add.at(count, (self.leaf[pool], label), 1.0)
        node: IntArray = np.zeros(n_leaves, dtype=np.intp)
        expected = [self._means(node, count, np.zeros((1, 1, 1)))]
        for question, outcome in zip(self.question.T, self.outcome.T):
            key = np.stack([node, question, outcome], axis=1)
            node = np.unique(key, axis=0, return_inverse=True)[1].reshape(-1)
            expected.append(self._means(node, count, expected[-1]))
        expected[-1] = self.leaf_parts
        made = np.stack(expected, axis=1)
        made[:, 1:] -= made[:, :-1].copy()
        return made

    def _means(self, node: IntArray, count: FloatArray, otherwise: FloatArray) -> FloatArray:
        total = np.zeros((int(node.max(initial=0)) + 1, *self.leaf_parts.shape[1:]))
        number = np.zeros(total.shape[:2])
        np.add.at(total, node, self.leaf_parts * count[:, :, None])
        np.add.at(number, node, count)
        with np.errstate(invalid="ignore"):
            mean = total / number[:, :, None]
        return np.where(number[node][:, :, None] > 0, mean[node], otherwise)


class Replayer:
    """Runs the policy of a classifier, with a lot for each person where it draws lots."""

    def __init__(self, clf: DecidingClassifier, asked: IntArray, n: int, rng: np.random.Generator) -> None:
        self.clf = clf
        self.keys = rng.random((n, 1))
        self.column = np.zeros(clf.support_.size, dtype=np.intp)
        self.column[asked] = np.arange(asked.size)
        problem = clf.problem_
        members = [self.column[np.intersect1d(problem.members(q), asked)] for q in range(problem.n_questions)]
        #: Which features each question shows, among those that may be asked for, (n_questions, n_asked).
        self.shows: BoolArray = np.array([np.isin(np.arange(asked.size), some) for some in members]).reshape(
            problem.n_questions, asked.size
        )

    def run(self, codes: IntArray, person: IntArray) -> Replay:
        """Run it on outcomes (N, n_asked) of the features that it may ask for."""
        clf, keys = self.clf, self.keys[person]
        found = acquire(clf.policy_, codes, columns=self.column, charge_missing=clf.charge_missing, keys=keys)
        decision, classes = found.leaf_decision, np.arange(len(clf.classes_))
        price = np.broadcast_to(found.leaf_price[:, None], (len(decision), classes.size))
        decided = clf.decision_costs_.T[decision]
        wrong = (decision[:, None] != classes) & (decision[:, None] < classes.size)
        count = np.broadcast_to((found.leaf_outcome >= 0).sum(axis=1)[:, None], price.shape)
        parts = np.stack([price + decided, price, decided, wrong, count], axis=2).astype(np.float64)
        return Replay(found.leaf, found.leaf_question, found.leaf_outcome, parts)

    def missing(self, replay: Replay, codes: IntArray) -> BoolArray:
        """Whether each feature was asked for of a row and not there, (N, n_asked)."""
        asked = np.zeros((len(replay.question), self.shows.shape[1]), dtype=bool)
        for questions in replay.question.T:
            some = questions >= 0
            asked[some] |= self.shows[questions[some]]
        return np.asarray(asked[replay.leaf] & (codes < 0))
