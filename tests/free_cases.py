"""Random small problems in which any question may come next, with an oracle that shares no code with the package."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from seqclass.agent.problem import acquisition_problem
from seqclass.bn import NaiveBayes, TreeNetwork
from seqclass.costs import Prices
from seqclass.pomdp import DECIDE, AcquisitionProblem, MixtureProblem, Policy
from seqclass.pomdp.bundles import Bundle

#: What each feature showed, None where it was not seen.
Seen = tuple[Any, ...]


@dataclass
class FreeCase:
    """P(outcomes, class) as one array, the questions, what they cost, and the problem that the package makes of it."""

    joint: Any
    questions: list[list[int]]
    full: list[float]
    discounted: list[float]
    groups: list[int]
    costs: Any
    problem: AcquisitionProblem
    model: Any
    _mass: dict[Seen, Any] = field(default_factory=dict)

    def mass(self, seen: Seen) -> Any:
        """P(what was seen, class)."""
        if seen not in self._mass:
            at = tuple(slice(None) if v is None else v for v in seen)
            self._mass[seen] = self.joint[at].reshape(-1, self.joint.shape[-1]).sum(axis=0)
        return self._mass[seen]

    def stop(self, seen: Seen) -> float:
        return float((self.mass(seen) @ self.costs).min())

    def price(self, question: int, seen: Seen) -> float:
        """The first that is acquired of a group pays in full."""
        group = self.groups[question]
        if group < 0:
            return self.full[question]
        others = [q for q, g in enumerate(self.groups) if g == group and q != question]
        bought = any(seen[f] is not None for q in others for f in self.questions[q])
        return self.discounted[question] if bought else self.full[question]

    def following(self, question: int, seen: Seen) -> list[Seen]:
        after = [seen]
        for feature in self.questions[question]:
            sizes = range(self.joint.shape[feature])
            after = [(*s[:feature], v, *s[feature + 1 :]) for s in after for v in sizes]
        return [s for s in after if self.mass(s).sum() > 0]

    @property
    def nothing(self) -> Seen:
        return (None,) * (self.joint.ndim - 1)

    def optimum(self, depth: int | None = None) -> float:
        """Cost of the best policy over all orders, of so many questions at most."""
        known: dict[tuple[Seen, int], float] = {}

        def value(seen: Seen, left: int) -> float:
            if (seen, left) not in known:
                best = self.stop(seen)
                for question, features in enumerate(self.questions):
                    if left and seen[features[0]] is None:
                        cost = self.price(question, seen) * float(self.mass(seen).sum())
                        cost += sum(value(s, left - 1) for s in self.following(question, seen))
                        best = min(best, cost)
                known[seen, left] = best
            return known[seen, left]

        return value(self.nothing, len(self.questions) if depth is None else depth)

    def fixed_optimum(self, order: Any) -> float:
        """Cost of the best stopping rule in one order."""

        def value(seen: Seen, stage: int) -> float:
            best = self.stop(seen)
            if stage == len(order):
                return best
            cost = self.price(order[stage], seen) * float(self.mass(seen).sum())
            cost += sum(value(s, stage + 1) for s in self.following(order[stage], seen))
            return min(best, cost)

        return value(self.nothing, 0)

    def run(self, policy: Policy) -> tuple[float, float, float]:
        """Cost, questions and prices of a policy, asked about one history at a time."""
        total = np.zeros(3)

        def visit(info: Any, seen: Seen, n_asked: int, paid: float) -> None:
            weight = float(self.mass(seen).sum())
            question = int(policy.action(info)[0])
            if question == DECIDE:
                decision = int(policy.problem.decide(info.probabilities)[0])
                total[:] += weight * paid + float(self.mass(seen) @ self.costs[:, decision]), 0, weight * paid
                total[1] += weight * n_asked
                return
            price = self.price(question, seen)
            for after in self.following(question, seen):
                code = 0
                for feature in self.questions[question]:
                    code = code * self.joint.shape[feature] + after[feature]
                visit(info.asking(question).update(np.array([code])), after, n_asked + 1, paid + price)

        visit(policy.problem.initial_belief(), self.nothing, 0, 0.0)
        return tuple(total.tolist())  # type: ignore[return-value]


def free_case(seed: int, *, tree: bool = False, n_questions: int | None = None, most: int = 6) -> FreeCase:
    """2 to 4 classes, 2 to 4 outcomes, prices that differ; every third has groups, extra decisions, a bundle."""
    rng = np.random.default_rng([seed, tree])
    n_classes = int(rng.integers(2, 5))
    n_features = n_questions or int(rng.integers(2, most + 1))
    sizes = [int(rng.integers(2, 5 if n_features < 5 else 4)) for _ in range(n_features)]
    prior = rng.dirichlet(np.full(n_classes, 3.0))
    model, joint = (_tree if tree else _naive)(rng, sizes, prior)
    bundles = np.full(n_features, -1)
    if seed % 3 == 0 and n_features > 2:
        bundles[rng.choice(n_features, size=2, replace=False)] = 0
    full = rng.uniform(0.005, 0.08, n_features)
    groups = np.full(n_features, -1)
    if seed % 3 == 1:
        groups = rng.integers(-1, 2, n_features)
    for label in np.unique(bundles[bundles >= 0]):
        full[bundles == label], groups[bundles == label] = full[bundles == label][0], -1
    discounted = np.where(groups >= 0, full * rng.uniform(0.2, 1.0, n_features), full)
    costs = rng.uniform(0.3, 1.0, (n_classes, n_classes))
    costs[np.arange(n_classes), np.arange(n_classes)] = 0.0
    if seed % 3 == 2:
        costs = np.column_stack([costs, np.full(n_classes, rng.uniform(0.1, 0.4))])
    prices = Prices(full, discounted, groups if (groups >= 0).any() else None)
    order = np.arange(n_features)
    problem = acquisition_problem(model, order, prices, costs, any_order=True, bundles=bundles)
    questions = [problem.structure.members(q).tolist() for q in range(problem.n_questions)]
    first = [members[0] for members in questions]
    alone = [g < 0 or (groups[first] == g).sum() < 2 for g in groups[first]]
    return FreeCase(
        joint,
        questions,
        full[first].tolist(),
        discounted[first].tolist(),
        [-1 if single else int(g) for g, single in zip(groups[first], alone)],
        costs,
        problem,
        model,
    )


def _naive(rng: np.random.Generator, sizes: list[int], prior: Any) -> tuple[Any, Any]:
    """A naive Bayes model with counts that make any tables."""
    n_classes, widest = len(prior), max(sizes)
    model = NaiveBayes(alpha=0)
    rows = np.zeros((n_classes, len(sizes)), dtype=np.intp)
    model.fit(rows, np.arange(n_classes), n_outcomes=np.array(sizes))
    model.counts_ = np.zeros((len(sizes), widest, n_classes))
    joint = prior * np.ones([*sizes, 1])
    for feature, size in enumerate(sizes):
        table = rng.dirichlet(np.full(size, 0.7), size=n_classes).T
        model.counts_[feature, :size] = table
        shape = [1] * (len(sizes) + 1)
        shape[feature], shape[-1] = size, n_classes
        joint = joint * table.reshape(shape)
    model.class_prior_ = np.asarray(prior)
    return model, joint


def _tree(rng: np.random.Generator, sizes: list[int], prior: Any) -> tuple[Any, Any]:
    """A tree network in which every feature but the first has another one as a parent."""
    n, n_classes = len(sizes), len(prior)
    parents: list[Any] = [np.array([], dtype=int)]
    cpds: list[Any] = []
    joint = prior * np.ones([*sizes, 1])
    for feature, size in enumerate(sizes):
        above = [] if feature == 0 else [int(rng.integers(feature))]
        if feature:
            parents.append(np.array(above))
        shape = [sizes[a] for a in above] + [n_classes]
        table = np.moveaxis(rng.dirichlet(np.full(size, 0.7), size=shape), -1, 0)
        cpds.append(table)
        axes = [1] * (n + 1)
        axes[feature], axes[-1] = size, n_classes
        for a in above:
            axes[a] = sizes[a]
        aligned = table.swapaxes(0, 1) if above else table  # the parent comes before the child
        joint = joint * aligned.reshape(axes)
    return TreeNetwork.from_cpds(np.arange(n_classes), prior, parents, cpds), joint


def mixture_case(seed: int, *, most: int = 5) -> FreeCase:
    """2 or 3 classes of 1 to 3 hidden states each, prices that differ; every third has groups, every third a bundle."""
    rng = np.random.default_rng([seed, 2])
    n_classes, n = int(rng.integers(2, 4)), int(rng.integers(3, most + 1))
    hidden_class = np.repeat(np.arange(n_classes), rng.integers(1, 4, n_classes))
    weights = rng.dirichlet(np.full(hidden_class.size, 3.0))
    sizes = rng.integers(2, 4, n).tolist()
    tables = [rng.dirichlet(np.full(size, 0.4), size=hidden_class.size).T for size in sizes]
    by_state = np.asarray(weights) * np.ones([*sizes, 1])
    for feature, table in enumerate(tables):
        shape = [1] * (n + 1)
        shape[feature], shape[-1] = table.shape
        by_state = by_state * table.reshape(shape)
    joint = np.stack([by_state[..., hidden_class == c].sum(axis=-1) for c in range(n_classes)], axis=-1)
    questions, bundles = [[f] for f in range(n)], None
    if seed % 3 == 0:
        first, second = tables.pop(0), tables.pop(0)
        tables.insert(0, (first[:, None] * second[None]).reshape(-1, hidden_class.size))
        questions = [[0, 1], *questions[2:]]
        bundles = [Bundle([0, 1], sizes[:2]), *[None] * (n - 2)]
    full = rng.uniform(0.005, 0.08, len(questions))
    groups = rng.integers(-1, 2, len(questions)) if seed % 3 == 1 else np.full(len(questions), -1)
    discounted = np.where(groups >= 0, full * rng.uniform(0.2, 1.0, len(full)), full)
    costs = rng.uniform(0.3, 1.0, (n_classes, n_classes)) * (1 - np.eye(n_classes))
    problem = MixtureProblem(
        weights,
        hidden_class,
        tables,
        discounted,
        costs,
        features=[members[0] for members in questions],
        groups=groups,
        full_prices=full,
        any_order=True,
        bundles=bundles,
    )
    return FreeCase(
        joint, questions, full.tolist(), discounted.tolist(), groups.tolist(), costs, problem, (weights, by_state)
    )
