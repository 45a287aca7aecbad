"""Ordering rules: what to ask next, by what an answer tells or saves."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from seqclass._utils.arrays import TINY, BoolArray, FloatArray, IntArray, row_sums
from seqclass._utils.validation import check_integer
from seqclass.pomdp.latent import StateTables, plogp
from seqclass.pomdp.one_step import initial_beliefs, one_step_costs, remaining_questions, unit
from seqclass.pomdp.policy import DECIDE, Policy
from seqclass.pomdp.problem import AcquisitionProblem, BeliefState, deciding_cost, must_continue
from seqclass.pomdp.rules import rules_of
from seqclass.pomdp.solvers.ordering.base import OrderingRule, best_question, unit_prices
from seqclass.pomdp.solvers.ordering.screening import leading_questions
from seqclass.pomdp.solvers.simple import lookahead_costs
from seqclass.pomdp.table_problem import select_questions
from seqclass.pomdp.visits import order_panels
from seqclass.pomdp.walk import Level

__all__ = ["EC2", "ClassInformation", "CrossEntropy", "ExpectedSaving", "HiddenInformation", "LookaheadSaving"]


@dataclass(repr=False, eq=False)
class LookaheadSaving(OrderingRule):
    """The cost of deciding now less that of asking and then making the best of at most ``depth - 1`` further questions.

    The prices of the questions are part of these costs, so the saving is not divided by a price. Unlike
    `ExpectedSaving`, it values a question that only says what to ask next.

    Parameters
    ----------
    depth : int
        Questions it looks ahead.
    n_candidates : int or None
        Look further only at so many questions of each history, those of least expected cost if one has to decide after
        them. None: at all that a bound does not rule out.

    Examples
    --------
    >>> import numpy as np
    >>> from seqclass.pomdp import TableProblem
    >>> problem = TableProblem([0.5, 0.5], np.array([[[0.9, 0.2], [0.1, 0.8]]] * 2), prices=[0.1, 0.05], any_order=True)
    >>> LookaheadSaving().next(problem.initial_belief())
    array([1])
    """

    per_price = False
    saves = True
    by_belief = True

    depth: int = 2
    n_candidates: int | None = None

    def work(self, problem: AcquisitionProblem) -> float:
        """Products that scoring all questions of one instance takes, roughly; see `OrderingRule.work`."""
        return super().work(problem) * branches(problem, self.n_candidates) ** (self.depth - 1)

    def gains(self, belief: BeliefState, questions: IntArray) -> FloatArray:
        """Savings, prices counted; -inf where a question was not followed. See `OrderingRule.gains`."""
        depth = check_integer(self.depth, "depth", 1)
        costs = lookahead_costs(belief, depth, self.n_candidates)[:, questions]
        return deciding_cost(belief)[:, None] - costs


def branches(problem: AcquisitionProblem, n_candidates: int | None) -> float:
    """Most answers that one step of look-ahead at so many questions has to go through."""
    sizes = np.sort(problem.n_outcomes)
    return float(sizes[0 if n_candidates is None else -min(n_candidates, len(sizes)) :].sum())


class ExpectedSaving(OrderingRule):
    """The cost of deciding now less the expected cost of deciding after the answer, per unit of price.

    It is quick, and optimal if only one question will be asked. It gives no value to a question whose answer alone
    changes no decision.

    References
    ----------
    .. [1] D. J. Spiegelhalter and R. P. Knill-Jones, "Statistical and knowledge-based approaches to clinical
       decision-support systems", JRSS A 147, 1984; D. Heckerman, E. Horvitz and B. Middleton, "An approximate
       nonmyopic computation for value of information", IEEE PAMI 15, 1993 (the myopic value of information).

    Examples
    --------
    >>> import numpy as np
    >>> from seqclass.pomdp import TableProblem
    >>> sensors = np.array([[[0.6, 0.4], [0.4, 0.6]], [[0.9, 0.2], [0.1, 0.8]]])
    >>> problem = TableProblem([0.5, 0.5], sensors, prices=[0.1, 0.2], any_order=True)
    >>> ExpectedSaving().scores(problem.initial_belief()).round(3)
    array([[1.  , 1.75]])
    """

    by_belief = True

    def gains(self, belief: BeliefState, questions: IntArray) -> FloatArray:
        """Expected savings as parts of the dearest decision, prices left out; see `OrderingRule.gains`."""
        prices = np.broadcast_to(belief.prices, one_step_costs(belief).shape)
        saved = deciding_cost(belief)[:, None] - (one_step_costs(belief) - prices)[:, questions]
        return np.asarray(saved / unit(belief.problem))


class EC2(OrderingRule):
    """The weight of the pairs of hidden states of different classes that the answer separates, per unit of price.

    The weight of a pair is the product of its probabilities. The degree to which two states are separated is one minus
    the Bhattacharyya affinity ``sum_v sqrt(P(v | h) P(v | h'))`` of their answers: 0 if these have the same
    distribution, and 1 if the two states never give the same answer. If the problem offers no hidden states, the
    classes are used.

    References
    ----------
    .. [1] D. Golovin, A. Krause and D. Ray, "Near-optimal Bayesian active learning with noisy observations", NIPS 2010
       (equivalence class edge cutting; there the answers have no noise, and what is left of a pair after an answer is
       weighted by the probability of that answer).

    Examples
    --------
    >>> import numpy as np
    >>> from seqclass.pomdp import MixtureProblem
    >>> pointer, useless = [[1, 0, 1, 0], [0, 1, 0, 1]], np.full((2, 4), 0.5)
    >>> problem = MixtureProblem(np.full(4, 0.25), [0, 0, 1, 1], [useless, pointer], prices=0.1, any_order=True)
    >>> EC2().scores(problem.initial_belief())[:, 1].round(3)  # half of the pairs, of weight .25, at a price of .1
    array([1.25])
    """

    by_belief = True

    def gains(self, belief: BeliefState, questions: IntArray) -> FloatArray:
        """Weight of the pairs that are separated; see `OrderingRule.gains`."""
        return belief.problem.structure.of_questions(questions, belief, StateTables.separation, separation_by_row)


def separation_by_row(belief: FloatArray, likelihood: FloatArray) -> FloatArray:
    """Weight of the pairs of classes that each question separates, (n, m); see `information_by_row`."""
    amplitude = np.sqrt(likelihood) * belief[:, None, None]
    return np.asarray((1 - row_sums(row_sums(amplitude) ** 2)) / 2)


def information_by_row(belief: FloatArray, likelihood: FloatArray) -> FloatArray:
    """I(answer; class) of each question, (n, m), where each row has its own P(outcome | class), (n, m, V, d)."""
    weight = belief[:, None, None]
    predictive = row_sums(likelihood * weight)
    return np.asarray(row_sums(row_sums(plogp(likelihood) * weight)) - row_sums(plogp(predictive)))


class ClassInformation(OrderingRule):
    """Information gain: the mutual information of the answer and the class, in nats per unit of price.

    It is given the answers so far. Divided by ln 2 it is in bits, the unit of `BeliefState.entropy`. Unlike the
    expected saving, it values an answer that changes no decision by itself. It gives no value to a question that only
    tells what to ask next.

    Examples
    --------
    >>> import numpy as np
    >>> from seqclass.pomdp import TableProblem
    >>> sensors = np.array([[[0.5, 0.5], [0.5, 0.5]], [[1.0, 0.0], [0.0, 1.0]]])
    >>> problem = TableProblem([0.5, 0.5], sensors, prices=0.1, any_order=True)
    >>> ClassInformation().scores(problem.initial_belief()).round(3)
    array([[0.   , 6.931]])
    """

    by_belief = True

    def leading(self, belief: BeliefState) -> tuple[IntArray, FloatArray, FloatArray, FloatArray]:
        """What it asks next, of many rows in single precision where that is enough; see `OrderingRule.leading`."""
        known = self._screen(belief)
        return super().leading(belief) if known is None else (*known, known[1])

    def _next_of(self, belief: BeliefState) -> IntArray:
        known = self._screen(belief)
        return super()._next_of(belief) if known is None else known[0]

    def _screen(self, belief: BeliefState) -> tuple[IntArray, FloatArray, FloatArray] | None:
        own = type(self) is ClassInformation and self.per_price
        return leading_questions(belief, unit_prices(belief)) if own else None

    def gains(self, belief: BeliefState, questions: IntArray) -> FloatArray:
        """Mutual information in nats; see `OrderingRule.gains`."""
        structure = belief.problem.structure
        return structure.of_questions(questions, belief, StateTables.class_information, information_by_row)


@dataclass(repr=False, eq=False)
class CrossEntropy(OrderingRule):
    """The share of the entropy of the class that the answer is expected to remove.

    This is the diagnostic value by which GeNIe and SMILE rank observations, a myopic rule that practitioners know. It
    is meant as a baseline. It has no stopping rule; `Adaptive` with ``rules=[CrossEntropy()]`` gives it one.

    Parameters
    ----------
    per_price : bool
        Whether it is divided by the price of the question.

    References
    ----------
    .. [1] BayesFusion, "GeNIe Modeler: user manual", section on diagnosis.
    .. [2] M. J. Druzdzel, "SMILE: structural modeling, inference, and learning engine and GeNIe: a development
       environment for graphical decision-theoretic models", AAAI 1999.

    Examples
    --------
    >>> from seqclass.pomdp import TableProblem
    >>> sensors = np.array([[[0.5, 0.5], [0.5, 0.5]], [[1.0, 0.0], [0.0, 1.0]]])
    >>> CrossEntropy().scores(TableProblem([0.5, 0.5], sensors, prices=0.1, any_order=True).initial_belief()).round(3)
    array([[0., 1.]])
    """

    by_belief = True
    per_price: bool = False

    def gains(self, belief: BeliefState, questions: IntArray) -> FloatArray:
        """Shares of the entropy; see `OrderingRule.gains`."""
        entropy = -plogp(belief.probabilities).sum(axis=1)
        return np.asarray(ClassInformation().gains(belief, questions) / np.maximum(entropy, TINY)[:, None])


class HiddenInformation(OrderingRule):
    """The mutual information of the answer and the hidden state, of which a class may have several, per unit of price.

    A question that says nothing about the class may still say which other question does; it then tells much about the
    hidden state. The rule is for problems that offer hidden states (`Structure.latent`), such as
    `MixtureProblem`. If answers are independent given the class, the classes are the states, and it is
    `ClassInformation`.

    Examples
    --------
    >>> import numpy as np
    >>> from seqclass.pomdp import MixtureProblem
    >>> pointer, useless = [[1, 0, 1, 0], [0, 1, 0, 1]], np.full((2, 4), 0.5)
    >>> problem = MixtureProblem(np.full(4, 0.25), [0, 0, 1, 1], [useless, pointer], prices=0.1, any_order=True)
    >>> HiddenInformation().scores(problem.initial_belief()).round(3)
    array([[0.   , 6.931]])
    """

    by_belief = True

    def check(self, problem: AcquisitionProblem) -> None:
        """Refuse a problem without hidden states; see `OrderingRule.check`."""
        if problem.structure.states is None:
            raise ValueError(
                "HiddenInformation needs a problem with hidden states, and this one has none; use ClassInformation."
            )

    def gains(self, belief: BeliefState, questions: IntArray) -> FloatArray:
        """Mutual information in nats; see `OrderingRule.gains`."""
        self.check(belief.problem)
        structure = belief.problem.structure
        return structure.of_questions(questions, belief, StateTables.latent_information, information_by_row)


def screen_by_information(problem: AcquisitionProblem, n: int) -> AcquisitionProblem:
    """Keep the questions that tell most about the class before anything is known, per price."""
    if problem.n_questions <= n:
        return problem
    rules = [ClassInformation(), *([] if problem.structure.latent is None else [HiddenInformation()])]
    start, weight = initial_beliefs(problem.replace(rules=None))  # which close much at the start that is asked later
    orders = [np.argsort(-(weight @ rule.scores(start)), kind="stable") for rule in rules]
    questions, first = np.unique(np.stack(orders, axis=1), return_index=True)
    kept = questions[np.argsort(first)[:n]]
    if (needs := rules_of(problem)) is not None:  # what has to be asked, or may have to be, stays
        kept = np.union1d(kept, np.flatnonzero(needs.needed | problem.structure.gates))
    return select_questions(problem, np.sort(kept))


#: Rows of a level, and what a policy sees there: parts of one stage each.
View = Callable[[Level], Sequence[tuple[IntArray, BeliefState]]]


def as_it_is(level: Level) -> Sequence[tuple[IntArray, BeliefState]]:
    """All of a level, as the walk has it."""
    return [(np.arange(len(level.belief)), level.belief)]


def make_ask(policy: Policy, see: View = as_it_is, budget: int | None = None) -> Callable[[Level], IntArray]:
    """What each history asks next, for `acquire`."""

    def ask(level: Level) -> IntArray:
        question = np.full(len(level.belief), DECIDE)
        if budget is None or level.stage < budget:
            level.belief = place_orders(policy, level, see, budget)
            for rows, belief in see(level):
                question[rows] = policy.action(belief) if budget is None else force_question(policy, belief)
        return question

    return ask


def place_orders(policy: Policy, level: Level, see: View, budget: int | None) -> BeliefState:
    """What is known of a level once a policy has ordered what it orders, no more than a budget is left for."""
    belief = level.belief
    if belief.account.ordered is None:
        return belief
    panels: BoolArray = np.zeros(belief.account.ordered.shape, dtype=bool)
    for rows, seen in see(level):
        chosen = policy.panels(seen) if budget is None else next_panels(policy, seen, budget - level.stage, 0)
        if chosen is not None and budget is not None:
            # what no longer pays is asked in as few visits as may be
            idle = np.flatnonzero(~(chosen.any(axis=1) | seen.account.waits))
            rest = next_panels(policy, seen[idle], budget - level.stage, budget - level.stage)
            if rest is not None:
                chosen[idle] = rest
        if chosen is not None:
            panels[rows, : chosen.shape[1]] = chosen
    return order_panels(belief, panels & remaining_questions(belief))  # a fixed order may come to what was known before


def next_panels(policy: Policy, belief: BeliefState, most: int, least: int) -> BoolArray | None:
    """What a policy orders of at most, and at least, so many questions, (n, n_questions); None if it never does.

    What it would not order by itself leaves out what has one outcome only, as in `force_question`.
    """
    problem = belief.problem
    left = min(belief.stage + most, problem.n_stages)
    if problem.visits is None or belief.stage >= left:
        return None
    seen = belief.replace(problem=problem.replace(max_questions=left))
    panels = policy.panels(seen, least)
    if panels is None or not (least and problem.any_order):
        return panels
    idle = np.flatnonzero(panels[:, problem.n_outcomes == 1].any(axis=1) & ~must_continue(belief))
    if idle.size and (own := policy.panels(seen[idle], 0)) is not None:
        forced = idle[~own.any(axis=1)]
        panels[np.ix_(forced, problem.n_outcomes == 1)] = False
        nothing = forced[~panels[forced].any(axis=1)]
        question = _most_informative(seen[nothing])
        panels[nothing[question != DECIDE], question[question != DECIDE]] = True
    return panels


def force_question(policy: Policy, belief: BeliefState) -> IntArray:
    """Question that a policy would ask if it had to go on, (n,); -1 where none is open that may tell anything.

    In any order what has one outcome only is asked where the policy buys it by itself, and where rules ask for it.
    """
    problem = policy.problem
    if belief.stage >= problem.n_stages:
        return np.full(len(belief), DECIDE)
    if not problem.any_order:
        return np.full(len(belief), belief.stage)
    question = np.array(policy.next_question(belief))
    constant = (problem.n_outcomes == 1) & ~problem.structure.gates
    idle = (question != DECIDE) & constant[question] & ~belief.account.waits & ~must_continue(belief)
    rows = np.flatnonzero(idle)
    if rows.size:
        question[rows] = np.where(policy.action(belief[rows]) == question[rows], question[rows], DECIDE)
    untold = np.flatnonzero(question == DECIDE)
    if untold.size:
        question[untold] = _most_informative(belief[untold])
    return question


def _most_informative(belief: BeliefState) -> IntArray:
    """Question that tells most about the class for its price, none of one outcome unless rules ask for it."""
    scores = ClassInformation().scores(belief)
    constant = (belief.problem.n_outcomes == 1) & ~must_continue(belief)[:, None]
    return best_question(np.where(constant, -np.inf, scores))
