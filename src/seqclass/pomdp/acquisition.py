"""Running a policy on instances, each distinct history computed once."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from seqclass._utils.arrays import BoolArray, FloatArray, IntArray, unmask_codes
from seqclass._utils.tables import Readable, count_text
from seqclass._utils.text import money
from seqclass.pomdp.names import Names
from seqclass.pomdp.observations import DataObservations
from seqclass.pomdp.one_step import candidate_questions, row_parts
from seqclass.pomdp.policy import DECIDE, Policy, as_policy, draw_lots
from seqclass.pomdp.problem import BeliefState, deciding_cost, must_continue
from seqclass.pomdp.walk import Level, check_questions, next_of, walk_to_end

__all__ = ["Acquisition", "acquire"]


@dataclass(frozen=True, repr=False)
class Expected(Readable):
    """What a policy expected before each question of each history, and at its stop; NaN beyond that.

    Attributes
    ----------
    price : ndarray of shape (n_leaves, longest + 1)
        Price of the question that was asked, at the stop of the one that would have come next.
    saving : ndarray of shape (n_leaves, longest + 1)
        By how much going on was expected to be cheaper than deciding, prices counted; NaN where the policy cannot tell.
    following : ndarray of int of shape (n_leaves,)
        The question that would have come next at the stop; -1 where none is left or the policy does not tell.
    added : ndarray of shape (n_leaves, longest + 1)
        How much less it would be if the question that was asked, or all of a panel, could not be had; NaN where the
        policy cannot tell.
    demanded : ndarray of bool of shape (n_leaves, longest + 1)
        Where the question that was asked was among those that rules ask for before anything is decided.
    """

    price: FloatArray
    saving: FloatArray
    added: FloatArray
    following: IntArray
    demanded: BoolArray


@dataclass(frozen=True, repr=False)
class Acquisition(Readable):
    """What a policy acquired for each instance, and what it decided.

    Instances that share a history share its row in the arrays of leaves; `leaf` says which.

    Attributes
    ----------
    leaf : ndarray of int of shape (n,)
        History at which each instance stopped.
    leaf_belief : ndarray of shape (n_leaves, n_classes)
        Posterior there.
    leaf_decision : ndarray of int of shape (n_leaves,)
        Index of the decision taken there.
    leaf_price : ndarray of shape (n_leaves,)
        Prices paid.
    leaf_question : ndarray of int of shape (n_leaves, longest)
        Questions asked, in order; -1 beyond the stop.
    leaf_outcome : ndarray of int of shape (n_leaves, longest)
        Outcomes seen; -1 where missing or beyond the stop.
    leaf_beliefs : ndarray of shape (n_leaves, longest + 1, n_classes) or None
        Posterior before anything and after each answer; after the stop the last one is repeated. Only if recorded.
    features : ndarray of int of shape (n_questions,)
        The feature of each question of the problem.
    leaf_expected : Expected or None
        What the policy expected on the way. Only if recorded.
    leaf_spent : ndarray of shape (n_leaves, longest + 1) or None
        Prices paid before anything and after each answer; NaN after the stop. Only if beliefs are recorded.
    leaf_visit : ndarray of int of shape (n_leaves, longest) or None
        Number of the visit, from 1, in which each question was asked; -1 beyond the stop. None where visits cost
        nothing.
    names : object or None
        Names of questions, classes and decisions, as `AcquisitionProblem.names` has them.

    Examples
    --------
    >>> import numpy as np
    >>> from seqclass.pomdp import TableProblem, GridValueIteration, acquire
    >>> problem = TableProblem([0.5, 0.5], np.array([[[0.9, 0.2], [0.1, 0.8]]]), prices=0.1)
    >>> acquired = acquire(GridValueIteration().solve(problem), np.array([[0], [1], [0]]))
    >>> acquired.leaf, acquired.leaf_outcome.ravel()
    (array([0, 1, 0]), array([0, 1], dtype=int32))
    """

    _spread = {"leaf_belief": "P({class})"}
    _coded = {"decision": "decision"}

    leaf: IntArray
    leaf_belief: FloatArray
    leaf_decision: IntArray
    leaf_price: FloatArray
    leaf_question: IntArray
    leaf_outcome: IntArray
    features: IntArray
    leaf_beliefs: FloatArray | None = None
    leaf_expected: Expected | None = None
    leaf_visit: IntArray | None = None
    leaf_spent: FloatArray | None = None
    names: Names | None = field(default=None, compare=False)

    def _summary(self) -> str:
        asked = float((self.leaf_question >= 0).sum(axis=1)[self.leaf].mean()) if len(self.leaf) else 0.0
        paid = float(self.leaf_price[self.leaf].mean()) if len(self.leaf) else 0.0
        n_cases, histories = count_text(len(self.leaf), "cases"), count_text(len(self.leaf_price), "histories")
        return f"{n_cases}, {histories}, {asked:.4g} asked at {money(paid)} on average"

    def _table(self) -> Any:
        labels = self._labels("question", len(self.features))
        asked = [tuple(labels[one] for one in row if one >= 0) for row in self.leaf_question.tolist()]
        columns = {"decision": self.leaf_decision, "price": self.leaf_price}
        columns |= {"n_features": (self.leaf_outcome >= 0).sum(axis=1)}
        columns |= self._spread_columns("leaf_belief", self.leaf_belief)
        return {name: values[self.leaf] for name, values in columns.items()} | {"asked": [asked[i] for i in self.leaf]}

    @property
    def leaf_path(self) -> IntArray:
        """Features asked, in order, (n_leaves, longest); -1 beyond the stop."""
        asked = self.leaf_question
        return np.where(asked >= 0, self.features[asked], -1) if self.features.size else asked


def acquire(
    policy: Policy,
    X: Any,
    *,
    columns: IntArray | None = None,
    charge_missing: bool = False,
    record_beliefs: bool = False,
    record_expected: bool = False,
    keys: Any = None,
    start: tuple[BeliefState, IntArray] | None = None,
    ask: Callable[[Level], IntArray] | None = None,
) -> Acquisition:
    """Run a policy on rows of outcomes.

    Parameters
    ----------
    policy : Policy
        The policy.
    X : ndarray or sparse array of int of shape (n, n_features)
        Outcome of every feature, -1 where missing; only what the policy asks for is read. In a sparse array what is
        not stored is outcome 0.
    columns : ndarray of int of shape (n_features,), optional
        Column of ``X`` that holds each feature; by default the one of the same number.
    charge_missing : bool
        Whether a feature that is asked for and missing is paid for all the same.
    record_beliefs : bool
        Keep the beliefs on the way.
    record_expected : bool
        Keep what the policy expects on the way.
    keys : ndarray or sparse array of shape (n, m), optional
        Numbers that tell the instances apart, from which a randomised policy draws each one's lot; by default ``X``.
    start : (BeliefState, ndarray of int of shape (n,)), optional
        What is known at the start, a row a history, and the history of each instance; by default nothing is. Questions
        are then those of this state's problem, of which the policy's must be the first.
    ask : callable, optional
        What each history of a level asks next; by default what the policy does. Not with ``record_expected``.

    Returns
    -------
    Acquisition

    Raises
    ------
    ValueError
        If an outcome is out of range or impossible under the model.

    Examples
    --------
    >>> import numpy as np
    >>> from seqclass.pomdp import GridValueIteration, TableProblem, acquire
    >>> problem = TableProblem([0.5, 0.5], np.array([[[0.9, 0.2], [0.1, 0.8]]]), prices=0.1)
    >>> result = acquire(GridValueIteration().solve(problem), np.array([[0], [1], [0]]))
    >>> result.leaf_decision[result.leaf]
    array([0, 1, 0])
    """
    if record_expected and ask is not None:
        raise ValueError("record_expected is about what the policy asks by itself: leave it or ask out.")
    as_policy(policy)
    X = np.asarray(X) if isinstance(X, (list, tuple)) else unmask_codes(X)
    if not hasattr(X, "dtype"):
        raise ValueError(
            f"X must be outcomes, a matrix of int; got a {type(X).__name__}: simulate(observations=...) takes columns "
            "by their names."
        )
    if X.ndim != 2 or X.dtype.kind not in "biu":
        raise ValueError(f"X must be outcomes, a matrix of int; got {X.dtype} of shape {X.shape}.")
    if start is None:
        belief, node = initial_rows(policy, X if keys is None else keys)
    else:
        belief, node = start
    if not X.shape[0]:
        belief = belief[np.empty(0, dtype=np.intp)]
    data = DataObservations(X, columns, node, charge_missing)
    tree = Histories(policy, data, record_beliefs, record_expected, ask)
    walk_to_end(belief, np.zeros(len(belief)), tree.ask, data)
    return tree.result()


def initial_rows(policy: Policy, keys: Any) -> tuple[BeliefState, IntArray]:
    """What is known before anything is acquired, a row for each lot that is drawn, and each instance's row."""
    belief, _ = policy.initial_belief()
    node: IntArray = np.zeros(keys.shape[0], dtype=np.intp)
    if len(belief) > 1:
        drawn, node = np.unique(draw_lots(policy, keys), return_inverse=True)
        belief = belief[drawn]
    return belief, node


def added_saving(policy: Policy, belief: BeliefState, questions: BoolArray, saving: FloatArray | float) -> FloatArray:
    """How much less going on would save if some questions, (n, n_questions), could not be had; NaN where unknown."""
    if belief.problem.limits.rules is not None or not len(belief):
        return np.full(len(belief), np.nan)
    # at worst one decides
    without = deciding_cost(belief) - policy._cost_without(belief, questions)
    return np.asarray(np.maximum(saving, 0.0) - np.maximum(without, 0.0))


#: What is recorded of a level as whole numbers, -1 where a history stops.
_NUMBERS = {"question", "visit"}


class Histories:
    """The histories that instances go through, level by level, and where they end."""

    def __init__(
        self,
        policy: Policy,
        data: DataObservations,
        beliefs: bool,
        expected: bool,
        chosen: Callable[[Level], IntArray] | None = None,
    ) -> None:
        self.policy = policy
        self.chosen = chosen
        self.data = data
        #: Of each level what is recorded, a row a history.
        self.records: dict[str, list[Any]] = {"question": []} | ({"belief": [], "spent": []} if beliefs else {})
        if policy.problem.visits is not None:
            self.records["visit"] = []
        if expected:
            self.records |= {"price": [], "saving": [], "added": [], "demanded": []}
        self.following: list[IntArray] | None = [np.empty(0, dtype=np.intp)] if expected else None
        self.leaf = np.zeros(len(data.rows), dtype=np.intp)
        self.count = 0
        #: Of each level: the histories that end there, and their branches' parents and outcomes.
        self.ends: list[IntArray] = []
        self.parents: list[IntArray] = []
        self.seen: list[IntArray] = []
        #: Beliefs, decisions and prices of those that have ended.
        self.leaves: list[tuple[Any, ...]] = [
            (np.empty((0, policy.problem.n_classes)), np.empty(0, dtype=np.intp), np.empty(0))
        ]

    def ask(self, level: Level) -> IntArray:
        belief = level.belief
        if self.ends:
            # every level is kept until the end; there are never more histories than instances
            self.parents.append(level.parent.astype(np.int32 if self.leaf.size < 2**31 else np.intp))
            self.seen.append(level.outcome.astype(np.int64 if level.outcome.max() >= 2**31 else np.int32))
        question = next_of(self.policy, level) if self.chosen is None else self.chosen(level)
        before, belief = belief, level.belief
        stop = question == DECIDE
        ends = np.flatnonzero(stop)
        self.ends.append(ends)
        self.records["question"].append(question.astype(np.int32))
        if "visit" in self.records and belief.account.n_visits is not None and belief.account.ordered is not None:
            going, visit = np.flatnonzero(~stop), np.full(len(belief), -1, dtype=np.int32)
            visit[going] = belief.account.n_visits[going] + ~belief.account.ordered[going, question[going]]
            self.records["visit"].append(visit)
        if "belief" in self.records:
            self.records["belief"].append(belief.probabilities)
            self.records["spent"].append(before.spent)
        if self.following is not None:
            self._expect(before, belief, question, ends)
        if ends.size:
            posterior = belief.probabilities[ends]
            self.leaves.append((posterior, self.policy.problem.decide(posterior), belief.spent[ends]))
            self._end(stop)
        return question

    def _expect(self, before: BeliefState, belief: BeliefState, question: IntArray, ends: IntArray) -> None:
        """Note what the policy expected before it ordered anything, and what the question costs then."""
        assert self.following is not None  # its caller has looked
        asks = np.flatnonzero(question != DECIDE)
        check_questions(belief, asks, question[asks])
        following, saving, added = question.copy(), np.empty(len(belief)), np.full(len(belief), np.nan)
        asked = np.zeros((len(belief), belief.problem.n_questions), dtype=bool)
        asked[asks, question[asks]] = True
        if belief.account.ordered is not None and before.account.ordered is not None:
            asked |= belief.account.ordered & ~before.account.ordered
        following[ends] = self.policy.next_question(before[ends])
        row_bytes = 8.0 * 3 * float(belief.problem.n_outcomes.max(initial=1)) * belief.problem.n_classes
        for part, some in row_parts(before, row_bytes):
            saving[part] = deciding_cost(some) - self.policy.continuation_cost(some)
            on = np.flatnonzero(question[part] != DECIDE)
            added[part][on] = added_saving(self.policy, some[on], asked[part][on], saving[part][on])
        prices = np.broadcast_to(belief.prices, (len(belief), belief.problem.n_questions))
        known = following != DECIDE
        price = np.full(len(belief), np.nan)
        price[known] = prices[known, following[known]]
        if belief.account.ordered is not None and belief.problem.visits is not None:  # visits are told of by themselves
            alone = ~belief.account.ordered[asks, question[asks]]
            price[asks] -= np.where(alone, belief.problem.visits.single_costs[question[asks]], 0.0)
        self.records["price"].append(price)
        self.records["saving"].append(saving)
        self.records["added"].append(added)
        demanded = must_continue(before) & (question != DECIDE)
        closed = np.flatnonzero(demanded)
        demanded[closed] = candidate_questions(before)[closed, question[closed]]
        self.records["demanded"].append(demanded)
        self.following.append(following[ends])

    def _end(self, stop: BoolArray) -> None:
        """Give the instances whose histories stop their leaves."""
        rows, node = self.data.rows, self.data.node
        number = np.cumsum(stop) + (self.count - 1)
        self.count += int(stop.sum())
        if stop.all():
            self.leaf[rows] = number[node]
        else:
            at = np.flatnonzero(stop[node])
            self.leaf[rows[at]] = number[node[at]]

    def result(self) -> Acquisition:
        outcome, recorded = self._trace()
        expected = None
        if self.following is not None:
            following = np.concatenate(self.following)
            price, saving, added = recorded["price"], recorded["saving"], recorded["added"]
            expected = Expected(price, saving, added, following, recorded["demanded"] == 1)
        leaf_belief, leaf_decision, leaf_price = map(np.concatenate, zip(*self.leaves))
        return Acquisition(
            leaf=self.leaf,
            leaf_belief=leaf_belief,
            leaf_decision=leaf_decision,
            leaf_price=leaf_price,
            leaf_question=recorded["question"],
            leaf_outcome=outcome,
            features=self.policy.problem.features.copy(),
            leaf_beliefs=recorded.get("belief"),
            leaf_expected=expected,
            leaf_visit=recorded.get("visit"),
            leaf_spent=recorded.get("spent"),
            names=self.policy.problem.names,
        )

    def _trace(self) -> tuple[IntArray, dict[str, Any]]:
        """Follow every leaf back to the root: what was seen and recorded on its way."""
        longest = len(self.parents)
        outcome = np.full((longest, self.count), -1, dtype=np.result_type(np.int32, *(s.dtype for s in self.seen)))
        recorded: dict[str, npt.NDArray[Any]] = {}
        for name, levels in self.records.items():
            shape = (longest + 1, self.count, *levels[0].shape[1:]) if levels else (1, 0)
            recorded[name] = np.full(shape, -1, np.int32) if name in _NUMBERS else np.full(shape, np.nan)
        start = self.count
        at: IntArray = np.empty(0, dtype=np.intp)
        for level in range(len(self.ends) - 1, -1, -1):
            # leaves are numbered level by level: those that go through this one are the last of them
            if level < longest:
                outcome[level, start:] = self.seen[level][at]
                at = self.parents[level][at]
            start -= self.ends[level].size
            at = np.concatenate([self.ends[level], at])
            ending = slice(start, start + self.ends[level].size)
            for name, levels in self.records.items():
                recorded[name][level, start:] = levels[level][at]
            if "belief" in recorded:
                recorded["belief"][level + 1 :, ending] = recorded["belief"][level, ending]
        for name in _NUMBERS & recorded.keys():  # at its stop a history asks nothing
            recorded[name] = recorded[name][:longest]
        swapped = {name: np.ascontiguousarray(np.swapaxes(values, 0, 1)) for name, values in recorded.items()}
        return np.ascontiguousarray(outcome.T), swapped
