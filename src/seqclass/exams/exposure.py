"""Exposure control: that no question is asked of too many."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import KW_ONLY, dataclass

import numpy as np

from seqclass._utils.arrays import BoolArray, FloatArray, IntArray, as_generator
from seqclass._utils.progress import DeadlineExceeded, time_limit
from seqclass._utils.text import short_repr
from seqclass._utils.validation import check_part, check_real
from seqclass.pomdp.observations import SampledObservations
from seqclass.pomdp.one_step import candidate_questions
from seqclass.pomdp.policy import DECIDE, Policy, with_info
from seqclass.pomdp.problem import AcquisitionProblem, BeliefState, must_continue, with_component
from seqclass.pomdp.rules import rules_of
from seqclass.pomdp.solve_info import SolveInfo
from seqclass.pomdp.solvers.base import Solver, policy_of, without_certificate
from seqclass.pomdp.ties import budget_of
from seqclass.pomdp.walk import initial_histories, walk

__all__ = ["ExposureControl"]


@dataclass(repr=False, eq=False)
class ExposureControl(Solver):
    """Another solver's policy, whose questions are partly drawn at random so that none is asked in too many cases.

    Each case draws one of ``n_lots`` lots, as with a budget to keep: a row by its contents, a session by its key. At
    each step, the lot says which of the ``best_of`` questions of highest score is asked, all with equal probability
    (randomesque, Kingsbury and Zara 1989 [1]_). It also says which questions may be asked at all: question i is
    admitted by a share K_i of the lots (Sympson and Hetter 1985 [2]_), so that it is asked in no larger share of the
    cases. In each round of the calibration, cases are simulated from the model along the policy itself, and K_i becomes
    ``K_i goal / P(i is asked)``, at most 1; the K begin at the goal, where no question can be asked too often, and
    later rounds move them less. The goal is two standard errors of a round, and half a lot, below ``max_exposure``, so
    that it holds in other cases too. The other policy says when to stop. A case is also decided when all questions that
    its lot admits were asked, unless rules require more: then those nearest to being admitted come next. Questions that
    rules make mandatory are asked in all cases.

    Parameters
    ----------
    solver : Solver
        Its policy has to rank questions: those of `Adaptive`, `Lookahead`, `SequentialTest` and others of any order.
    best_of : int
        How many of the best questions are drawn among; 1: the best.
    max_exposure : float, optional
        Largest share of the cases that any question is asked of.
    n_lots : int
        Number of lots.
    n_cases, max_rounds : int
        Cases that each round of the calibration simulates, and rounds; one more looks how far they went, and the status
        is ``"limit"`` where a question was asked too often then.
    max_seconds : float or None
        Longest time of the calibration; the status is ``"limit"`` where it ends it, with less asked. None: no limit.
    certificate_paths, random_state
        As in `Solver`.

    References
    ----------
    .. [1] G. G. Kingsbury and A. R. Zara, "Procedures for selecting items for computerized adaptive tests", Applied
       Measurement in Education 2, 1989.
    .. [2] J. B. Sympson and R. D. Hetter, "Controlling item-exposure rates in computerized adaptive testing",
       Proceedings of the 27th annual meeting of the Military Testing Association, 1985.

    Examples
    --------
    >>> from seqclass import SequentialClassifier
    >>> from seqclass.exams import ItemResponse
    >>> from seqclass.pomdp import Adaptive, ClassInformation
    >>> model = ItemResponse.from_items({"a": [1.5, 1.4] * 10, "b": [0.0] * 20}, cuts=[0.0], points=11)
    >>> plan = Adaptive([ClassInformation()], max_rounds=0, n_paths=300, n_cases=500, certificate_paths=0)
    >>> X, _ = model.sample(2000, random_state=1)
    >>> for most in (None, 0.4):
    ...     solver = ExposureControl(plan, max_exposure=most, n_lots=50, certificate_paths=0)
    ...     order = SequentialClassifier.from_model(model, feature_costs=0.02, solver=solver).acquire(X).order
    ...     asked = np.bincount(order[order >= 0]) / len(X)
    ...     print(asked.max().round(1))
    1.0
    0.4
    """

    solver: Solver
    best_of: int = 1
    max_exposure: float | None = None
    _: KW_ONLY
    n_lots: int = 100
    n_cases: int = 4000
    max_rounds: int = 12
    max_seconds: float | None = None

    _least = {"best_of": 1, "n_lots": 2, "n_cases": 1, "max_rounds": 1, "max_seconds": 0.0}

    def _check_settings(self) -> None:
        super()._check_settings()
        check_part(self.solver, "solver", "a solver such as seqclass.pomdp.Adaptive()", ("solve",))
        if self.max_exposure is not None:
            check_real(self.max_exposure, "max_exposure", 1 / self.n_lots, 1)  # one lot is the least to admit

    def _policy(self, problem: AcquisitionProblem) -> Policy:
        inner = policy_of(without_certificate(self.solver), problem)
        rank_questions(inner, problem.initial_belief())
        rng = as_generator(self.random_state)
        chance = np.stack(
            [(rng.permutation(self.n_lots) + 1) / self.n_lots for _ in range(problem.n_questions)], axis=1
        )
        keep = np.ones(problem.n_questions)
        policy = ExposurePolicy(inner, chance, keep, self.best_of, int(rng.integers(2**62)))
        return policy if self.max_exposure is None else self._calibrate(policy, rng)

    def _check(self, problem: AcquisitionProblem) -> None:
        if not problem.any_order:
            raise ValueError(
                'ExposureControl chooses among questions: make the problem with any_order=True (order="adaptive").'
            )
        if problem.visits is not None:
            raise ValueError("ExposureControl asks one question at a time: leave visit_cost and delays out.")
        most, rules = self.max_exposure, rules_of(problem)
        if most is None or rules is None:
            return
        always = rules.compelled
        never = rules.enemies[rules.enemies[:, always].any(axis=1)].any(axis=0)
        for number, name in enumerate(rules.areas):
            own = rules.area == number
            least, n = int(rules.at_least[number] - (own & always).sum()), int((own & ~always & ~never).sum())
            if least > budget_of(most * n):
                raise ValueError(
                    f"max_exposure={most:g} of {n} questions of area {short_repr(name)} allows {most * n:g} a "
                    f"case, and "
                    f"rules ask for {least} beside what is mandatory: raise max_exposure, or ask for less."
                )

    def _calibrate(self, policy: ExposurePolicy, rng: np.random.Generator) -> ExposurePolicy:
        most, rules = self.max_exposure, rules_of(policy.problem)
        assert most is not None  # or there is nothing to calibrate
        optional = np.ones(policy.problem.n_questions, dtype=bool) if rules is None else ~rules.compelled
        spread = 2 * (most * (1 - most) / self.n_cases) ** 0.5
        goal = max(most - spread - 0.5 / self.n_lots, most / 2, 1 / self.n_lots)
        # later rounds are averaged over, so that less of their noise is left, and the last only looks
        steps = [*(min(1.0, 3 / (number + 1)) for number in range(self.max_rounds)), 0.0]
        policy = best = policy.with_keep(np.where(optional, goal, 1.0))
        least, done = np.inf, False
        with suppress(DeadlineExceeded), time_limit(np.inf if self.max_seconds is None else self.max_seconds):
            for step in steps:
                asked = policy.simulate_shares(self.n_cases, rng)
                if (worst := float(asked[optional].max(initial=0.0))) < least:
                    best, least = policy, worst
                keep = policy.keep * (goal / np.maximum(asked, goal * policy.keep)) ** step
                policy = policy.with_keep(np.where(optional, np.clip(keep, 1 / self.n_lots, 1.0), 1.0))
            done = worst <= most + spread
        return policy if done else with_info(best, status="limit")


def rank_questions(policy: Policy, belief: BeliefState) -> FloatArray:
    """Score of each question by which a policy chooses, (n, n_questions); -inf where it is not open."""
    if (scores := policy._question_scores(belief)) is None:
        raise ValueError(
            f"solver: {type(policy).__name__} does not rank questions, so that none can be asked in the place of "
            "another; use Adaptive, Lookahead or SequentialTest."
        )
    return scores


class ExposurePolicy(Policy):
    """Another policy, whose questions are drawn by lot; see `ExposureControl`.

    Attributes
    ----------
    keep : ndarray of shape (n_questions,)
        Share of the lots whose cases each question is asked of: Sympson and Hetter's parameters.
    """

    def __init__(self, policy: Policy, chance: FloatArray, keep: FloatArray, best_of: int, seed: int) -> None:
        info = policy.info
        super().__init__(policy.problem, policy.n_stages, SolveInfo(info.status, n_stages=info.n_stages))
        self.policy, self.chance, self.keep, self.best_of, self.seed = policy, chance, keep, best_of, seed

    def with_keep(self, keep: FloatArray) -> ExposurePolicy:
        """A copy with other shares to keep."""
        return ExposurePolicy(self.policy, self.chance, keep, self.best_of, self.seed)

    def initial_belief(self) -> tuple[BeliefState, FloatArray]:
        """Return a row for each lot, and their probabilities; see `Policy.initial_belief`."""
        n = len(self.chance)
        belief = self.problem.initial_belief(n)
        return with_component(belief, np.arange(n)), np.full(n, 1 / n)

    @property
    def _seed(self) -> int:
        return self.seed

    def next_question(self, belief: BeliefState) -> IntArray:
        """Question that comes next wherever it goes on, (n,), -1 if the lot has none; see `Policy.next_question`."""
        if (component := belief.account.component) is None:
            raise ValueError("exposure control acts once lots are drawn: start from its initial_belief().")
        may, lot = candidate_questions(belief), (self.chance / self.keep)[component]
        scores = np.where(may & (lot <= 1), rank_questions(self.policy, belief), -np.inf)
        place = np.argsort(-scores, axis=1, kind="stable")[:, : self.best_of]
        chance = np.random.default_rng([self.seed % 2**32, belief.stage]).random(self.chance.shape)[component]
        drawn = np.where(np.isneginf(np.take_along_axis(scores, place, 1)), 2.0, np.take_along_axis(chance, place, 1))
        best = np.take_along_axis(place, drawn.argmin(axis=1)[:, None], 1)[:, 0]
        beyond = np.where(must_continue(belief), np.where(may, lot, np.inf).argmin(axis=1), DECIDE)
        return np.where(np.isneginf(scores).all(axis=1), beyond, best)

    def continuation_cost(self, belief: BeliefState) -> FloatArray:
        """Expected cost of going on as the other policy has it, (n,)."""
        return self.policy.continuation_cost(belief)

    def _cost_without(self, belief: BeliefState, questions: BoolArray) -> FloatArray:
        return self.policy._cost_without(belief, questions)

    def simulate_shares(self, n_cases: int, rng: np.random.Generator) -> FloatArray:
        """Share of simulated cases in which each question was asked."""
        answers, shares = SampledObservations(rng), np.zeros(self.problem.n_questions)
        for level in walk(
            *initial_histories(self.problem, self, float(n_cases), answers),
            lambda level: self.action(level.belief),
            answers,
        ):
            shares += np.bincount(level.question[level.go_on], level.weight[level.go_on], minlength=len(shares))
        return shares / n_cases

    def _action(self, belief: BeliefState) -> IntArray:
        question = self.policy.action(belief)
        on = np.flatnonzero(question != DECIDE)
        if on.size:
            question[on] = self.next_question(belief[on])
        return question
