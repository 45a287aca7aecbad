"""Single cases: the histories that they go through, each worked out once and kept for those that follow."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np

from seqclass._utils.arrays import IntArray
from seqclass._utils.progress import check_deadline
from seqclass.pomdp.acquisition import Acquisition
from seqclass.pomdp.observations import DataObservations
from seqclass.pomdp.policy import DECIDE, Policy, draw_lots
from seqclass.pomdp.problem import BeliefState, set_question
from seqclass.pomdp.walk import check_questions


class History:
    """What is known of a case after some answers, what a policy does then, and the histories after it."""

    def __init__(self, kept: KeptHistories, belief: BeliefState) -> None:
        self.belief, self._kept = belief, kept
        self.after: dict[tuple[int, int, bool], History] = {}

    @cached_property
    def question(self) -> int:
        """What the policy asks, or -1."""
        question = self._kept.policy.action(self.belief)
        if question[0] != DECIDE:
            check_questions(self.belief, np.zeros(1, dtype=np.intp), question)
        return int(question[0])

    @cached_property
    def decision(self) -> int:
        """The cheapest decision, by its number."""
        return int(self.belief.problem.decide(self.belief.probabilities)[0])

    def answer(self, question: int, outcome: int, charge_missing: bool = False) -> History:
        """The history after an answer."""
        key = question, outcome, charge_missing and outcome < 0
        if (following := self.after.get(key)) is None:
            belief = set_question(self.belief, question).update(np.array([outcome]), charge_missing=charge_missing)
            self.after[key] = following = History(self._kept, belief)
            self._kept.note()
        return following


class KeptHistories:
    """The histories of one policy, of which the oldest go all at once where they are too many."""

    def __init__(self, policy: Policy, max_bytes: float = 2**25) -> None:
        self.policy, self.n, problem = policy, 0, policy.problem
        #: The beliefs that cases begin with, a row a lot, and the probability of each lot.
        self.initial, self.lots = policy.initial_belief()
        self._first: dict[int, History] = {}
        answers = float(problem.n_outcomes.max(initial=1)) * problem.n_classes
        self.most = int(max_bytes / (4096 + 8 * 4 * (problem.n_questions + answers)))

    def first(self, lot: int = 0) -> History:
        """Where a case of a lot begins."""
        if (history := self._first.get(lot)) is None:
            history = self._first[lot] = History(self, self.initial[np.array([lot])])
        return history

    def note(self) -> None:
        """Count a history."""
        self.n += 1
        if self.n > self.most:
            self.n = 0
            for history in [*self._first.values()]:  # another thread may begin a lot
                history.after.clear()

    def acquire(self, X: Any, columns: IntArray | None, keys: Any, charge_missing: bool) -> Acquisition:
        """What `pomdp.acquire` gives of a few rows, where visits cost nothing, one row after the other."""
        data = DataObservations(X, columns, np.zeros(len(X), dtype=np.intp), charge_missing)
        lots = [0] * len(X) if len(self.lots) == 1 else draw_lots(self.policy, keys).tolist()
        ends, problem = dict[tuple[int, ...], History](), self.policy.problem
        paths = []
        for row, lot in enumerate(lots):
            history, path = self.first(lot), [lot]
            while (question := history.question) != DECIDE:
                check_deadline()
                outcome = int(data.outcomes(problem, question, slice(row, row + 1))[0])
                history = history.answer(question, outcome, charge_missing)
                path += question, outcome
            paths.append(tuple(path))
            ends[paths[-1]] = history
        order = sorted(ends, key=lambda path: (len(path), path))
        longest = len(order[-1]) // 2
        answers = np.array([path[1:] + (-1,) * (2 * longest + 1 - len(path)) for path in order], dtype=np.int64)
        kind = np.int64 if answers.max(initial=0) >= 2**31 else np.int32
        leaves = [ends[path] for path in order]
        return Acquisition(
            leaf=np.array([order.index(path) for path in paths], dtype=np.intp),
            leaf_belief=np.concatenate([leaf.belief.probabilities for leaf in leaves]),
            leaf_decision=np.array([leaf.decision for leaf in leaves], dtype=np.intp),
            leaf_price=np.array([leaf.belief.spent[0] for leaf in leaves]),
            leaf_question=answers[:, ::2].astype(np.int32),
            leaf_outcome=answers[:, 1::2].astype(kind),
            features=problem.features.copy(),
            names=problem.names,
        )
