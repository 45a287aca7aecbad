"""A decision tree that is grown by gain less price, as a policy."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import Any, NamedTuple

import numpy as np

from seqclass._utils.arrays import BoolArray, FloatArray, IntArray, as_generator
from seqclass._utils.information import contingency_table
from seqclass._utils.stored import require, require_array
from seqclass.pomdp.policy import DECIDE, Policy
from seqclass.pomdp.problem import AcquisitionProblem, BeliefState
from seqclass.pomdp.solvers.base import Solver
from seqclass.pomdp.solvers.training import TrainingCases

__all__ = ["PricedTree"]


class _Rows(NamedTuple):
    """Rows of a node: outcomes (n, n_questions), -1 where missing; numbers of classes; weights; folds."""

    X: IntArray
    classes: IntArray
    weight: FloatArray
    fold: IntArray

    def take(self, some: Any) -> _Rows:
        return _Rows(*(part[some] for part in self))


@dataclass(repr=False, eq=False)
class PricedTree(Solver):
    """A small decision tree: what it asks depends on the rows alone, and what it decides on the model's belief.

    It splits by what lessens the Gini index, in units of decision costs, less the price of a question that is new on
    the path. Then branches go that cost more than deciding where they begin: a leaf counts as its errors and a few
    more, and how many more is chosen by what held-out rows cost; nothing is asked unless that costs less there by a
    standard error. A missing answer goes where most rows go. The tree can
    be read as a whole and is made in a fraction of a second; it is a baseline, too. `SequentialClassifier` grows it on
    its training rows; by itself it solves no problem.

    Parameters
    ----------
    max_depth : int
        Most questions on a path, those included that are looked at once more.
    min_rows : int
        Least rows of a branch.
    certificate_paths, random_state
        As in `Solver`.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from seqclass import SequentialClassifier
    >>> from seqclass.bn import ClassMixture
    >>> from seqclass.pomdp import PricedTree
    >>> X, y = load_iris(return_X_y=True)
    >>> clf = SequentialClassifier(ClassMixture(), PricedTree(), order="adaptive", feature_costs=0.05).fit(X, y)
    >>> record = clf.acquire(X)
    >>> float(record.n_features.max())
    2.0
    """

    _least = {"max_depth": 0, "min_rows": 1}
    uses_cases = True

    max_depth: int = 6
    _: KW_ONLY
    min_rows: int = 3

    def _check(self, problem: AcquisitionProblem) -> None:
        if not problem.any_order or problem.visits is not None or problem.limits.rules is not None or problem.bundles:
            raise ValueError(
                'PricedTree asks any question next, one at a time (order="adaptive"), without visits, rules and '
                "bundles; take Adaptive() or Panels()."
            )

    def _policy(self, problem: AcquisitionProblem) -> Policy:
        raise ValueError("PricedTree grows on rows: give it to a SequentialClassifier as solver, and fit that.")

    def _policy_on(self, problem: AcquisitionProblem, cases: TrainingCases) -> Policy:
        """The tree that is grown on cases, and pruned on those that are held out of it."""
        # what more rows add to the choice of cuts is little, and memory goes with them
        cases = cases.even(10_000)
        X, ordered = cases.by_question(problem)
        weight = np.ones(len(X)) if cases.weight is None else cases.weight
        # five folds, every class spread evenly
        fold, shuffled = np.empty(len(X), dtype=np.intp), as_generator(self.random_state).random(len(X))
        fold[np.lexsort((shuffled, cases.classes))] = np.arange(len(X)) % 5
        rows = _Rows(X, cases.classes, weight, fold)
        grower = _Grower(self, problem, ordered)
        #: errors, by the dearest, that a leaf counts as beside its own
        leaf_costs = np.array([0, 0.5, 1, 2, 4, 8, 16, np.inf]) * problem.decision_costs.max()
        costs = np.zeros((int(rows.fold.max()) + 1, len(leaf_costs)))
        for number in range(len(costs)):
            tree, held = grower.grow(rows.take(rows.fold != number)), rows.take(rows.fold == number)
            costs[number] = [grower.cost_of(prune(tree, leaf)[1], held) for leaf in leaf_costs]
        best = int(costs.sum(axis=0).argmin())
        saved = costs[:, -1] - costs[:, best]
        if saved.mean() <= saved.std() / np.sqrt(max(1, len(saved) - 1)):  # within a standard error of nothing
            best = -1
        nodes: list[tuple[int, IntArray]] = []
        _number(prune(grower.grow(rows), float(leaf_costs[best]))[1], nodes, grower.width + 1)
        return TreePolicy(problem, np.array([one[0] for one in nodes]), np.stack([one[1] for one in nodes]))


class TreePolicy(Policy):
    """Asks what the nodes of a tree ask, from the first on.

    ``asks`` is the question of each node, -1 of a leaf; ``leads_to`` the node that each outcome leads to, the last
    column that of a missing answer.
    """

    def __init__(self, problem: AcquisitionProblem, asks: IntArray, leads_to: IntArray) -> None:
        super().__init__(problem)
        self.asks, self.leads_to = asks, leads_to

    _knows_any_belief = False

    def _action(self, belief: BeliefState) -> IntArray:
        rows, node = np.arange(len(belief)), np.zeros(len(belief), dtype=np.intp)
        assert belief.observed is not None
        available = np.broadcast_to(belief.available, belief.observed.shape)
        while True:
            question = self.asks[node]
            # what cannot be had is like what is missing
            known = (question >= 0) & ~available[rows, question]
            if not known.any():
                return np.where(question >= 0, question, DECIDE)
            outcome = np.maximum(belief.observed[rows, question].astype(np.intp), -1)
            node = np.where(known, self.leads_to[node, outcome], node)

    def _check_stored(self) -> None:
        n = len(require_array(self, "asks", "i", None, low=-1, high=self.problem.n_questions - 1))
        require_array(self, "leads_to", "i", n, int(self.problem.n_outcomes.max(initial=1)) + 1, low=-1, high=n - 1)
        inner = self.asks >= 0
        require(bool((self.leads_to[inner] > np.arange(n)[inner, None]).all()), "leads_to goes back")


class _Node(NamedTuple):
    """What deciding costs the rows of a node, and the best decision; where it asks, what, and where that leads."""

    cost: float
    decision: int
    question: int = -1
    leads_to: Any = None  #: which of the nodes below, by outcome, and of a missing answer last
    price: float = 0.0  #: of all rows together
    below: tuple[_Node, ...] = ()


class _Grower:
    """Grows trees for a problem."""

    def __init__(self, solver: PricedTree, problem: AcquisitionProblem, ordered: BoolArray) -> None:
        self.solver, self.problem, self.ordered = solver, problem, ordered
        self.costs, self.width = problem.decision_costs, int(problem.n_outcomes.max(initial=1))

    def cost_of(self, node: _Node, rows: _Rows, asked: tuple[int, ...] = ()) -> float:
        """What rows cost by a tree."""
        if not node.below:
            return float(rows.weight @ self.costs[rows.classes, node.decision])
        shown, then = rows.X[:, node.question], (*asked, node.question)
        price = float(rows.weight[shown >= 0].sum()) * float(self._prices(asked)[node.question])
        side = node.leads_to[shown]
        return price + sum(self.cost_of(one, rows.take(side == k), then) for k, one in enumerate(node.below))

    def grow(self, rows: _Rows, asked: tuple[int, ...] = (), depth: int = 0) -> _Node:
        """A tree that is not pruned."""
        by_decision = np.bincount(rows.classes, rows.weight, len(self.costs)) @ self.costs
        leaf, least = _Node(float(by_decision.min()), int(by_decision.argmin())), self.solver.min_rows
        if depth == self.solver.max_depth or len(rows.classes) < 2 * least or leaf.cost <= 0:
            return leaf
        counts = contingency_table(rows.X, rows.classes, len(self.costs), self.problem.n_outcomes, rows.weight)
        order = self._order(counts)
        counts = np.take_along_axis(counts, order[:, :, None], axis=1)
        n_left = counts.sum(axis=2).cumsum(axis=1)
        n_left, n_right = n_left[:, :-1], n_left[:, -1:] - n_left[:, :-1]
        gain = _gain(counts * self.costs.max(axis=1))
        gain[np.minimum(n_left, n_right) < least] = -np.inf
        price = self._prices(asked) * counts.sum(axis=(1, 2))
        question, last = np.unravel_index((gain - price[:, None]).argmax(), gain.shape)
        if not gain[question, last] > 1e-9 * leaf.cost:
            return leaf
        leads_to = (~np.isin(np.arange(self.width + 1), order[question, : last + 1])).astype(np.intp)
        leads_to[-1] = int(n_left[question, last] < n_right[question, last])  # a missing answer goes with the most
        side, then = leads_to[rows.X[:, question]], (*asked, int(question))
        below = tuple(self.grow(rows.take(side == k), then, depth + 1) for k in (0, 1))
        return leaf._replace(question=int(question), leads_to=leads_to, price=float(price[question]), below=below)

    def _order(self, counts: FloatArray) -> IntArray:
        """Outcomes as they are, or by how many are of the class that most are of."""
        order = np.tile(np.arange(counts.shape[1]), (len(counts), 1))
        some = counts[~self.ordered]
        share = some[:, :, int(counts[0].sum(axis=0).argmax())] / np.maximum(some.sum(axis=2), 1e-9)
        order[~self.ordered] = np.argsort(share, axis=1, kind="stable")
        return order

    def _prices(self, asked: tuple[int, ...]) -> FloatArray:
        """What each question costs once some were asked."""
        had, problem = np.array(asked, dtype=np.intp), self.problem
        prices = np.array(problem.full_prices, dtype=np.float64)
        if problem.groups is not None:
            begun = problem.groups[had]
            prices = np.where(np.isin(problem.groups, begun[begun >= 0]), problem.prices, prices)
        prices[had] = 0.0
        return prices


def prune(node: _Node, leaf_cost: float) -> tuple[float, _Node]:
    """A tree without the branches that cost more than deciding where they begin; beside its cost."""
    alone = node.cost + leaf_cost, node._replace(question=-1, below=())
    if not node.below or leaf_cost == np.inf:
        return alone
    costs, below = zip(*(prune(one, leaf_cost) for one in node.below))
    cost = sum(costs) + node.price
    return (cost, node._replace(below=below)) if cost < alone[0] else alone


def _number(node: _Node, nodes: list[tuple[int, IntArray]], width: int) -> int:
    """Add a node and those below to a list; its number."""
    number = len(nodes)
    nodes.append((node.question, np.full(width, -1)))
    if node.below:
        nodes[number] = (node.question, np.array([_number(one, nodes, width) for one in node.below])[node.leads_to])
    return number


def _gain(counts: FloatArray) -> FloatArray:
    """How much the Gini index of all is lessened by each cut between outcomes, (n_questions, V - 1)."""
    left, whole = counts.cumsum(axis=1)[:, :-1], counts.sum(axis=1, keepdims=True)
    pure = [
        np.divide((part**2).sum(axis=2), size, out=np.zeros(part.shape[:2]), where=size > 0)
        for part in (left, whole - left, whole)
        for size in [part.sum(axis=2)]
    ]
    return np.asarray(pure[0] + pure[1] - pure[2])
