"""A policy run on rows of outcomes: what it asks for, and what that costs given the class."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from seqclass._arrays import BoolArray, FloatArray, IntArray
from seqclass.classifier import SequentialClassifier
from seqclass.pomdp import Acquisition, acquire

#: What is estimated of a policy, the columns of `Replay.parts`.
PARTS = ("cost", "price", "decision_cost", "error", "n_features")


class Replay(NamedTuple):
    """What a policy did with N rows."""

    parts: FloatArray  # (N, n_parts)
    asked: BoolArray  # (N, n_asked) whether each feature that it may ask for was asked for
    missing: BoolArray  # (N, n_asked) whether it was asked for and not there


class Replayer:
    """Runs the policy of a classifier, with a lot for each person where it draws lots."""

    def __init__(self, clf: SequentialClassifier, asked: IntArray, n: int, rng: np.random.Generator) -> None:
        self.clf = clf
        self.asked = asked
        self.keys = rng.random((n, 1))
        self.column = np.zeros(clf.support_.size, dtype=np.intp)
        self.column[asked] = np.arange(asked.size)

    def run(self, codes: IntArray, label: IntArray, person: IntArray) -> Replay:
        """Run it on outcomes (N, n_asked) of the features that it may ask for."""
        clf = self.clf
        found = acquire(
            clf.policy_, codes, columns=self.column, charge_missing=clf.charge_missing, keys=self.keys[person]
        )
        leaf, decision = found.leaf, found.leaf_decision
        price = found.leaf_price[leaf]
        decided = clf.decision_costs_[label, decision[leaf]]
        wrong = (decision[leaf] != label) & (decision[leaf] < len(clf.classes_))
        count = (found.leaf_outcome >= 0).sum(axis=1)[leaf]
        asked = self._features(found)
        parts = np.column_stack([price + decided, price, decided, wrong, count]).astype(np.float64)
        return Replay(parts, asked[leaf], asked[leaf] & (codes < 0))

    def _features(self, found: Acquisition) -> BoolArray:
        """Whether each leaf asked for each feature, (n_leaves, n_asked)."""
        problem = self.clf.problem_
        shows = np.zeros((problem.n_questions, self.asked.size), dtype=bool)
        for question in range(problem.n_questions):
            members = problem.members(question)
            shows[question, self.column[members[np.isin(members, self.asked)]]] = True
        asked = np.zeros((len(found.leaf_price), self.asked.size), dtype=bool)
        for questions in found.leaf_question.T:
            some = questions >= 0
            asked[some] |= shows[questions[some]]
        return asked
