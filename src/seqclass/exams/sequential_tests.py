"""Classical tests that end early: ratios of likelihoods and confidence intervals of ability, as yardsticks."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from functools import cached_property
from typing import Any

import numpy as np
from scipy import stats
from scipy.special import softmax

from seqclass._utils.arrays import BoolArray, FloatArray, IntArray, chunks
from seqclass._utils.validation import check_choice, check_part, check_real
from seqclass._utils.warned import warn_caller
from seqclass.exams.items import check_cuts
from seqclass.pomdp.needs import require_one_start
from seqclass.pomdp.policy import DECIDE, Policy
from seqclass.pomdp.problem import AcquisitionProblem, BeliefState
from seqclass.pomdp.solvers.base import Solver
from seqclass.pomdp.solvers.ordering.base import OrderingRule

__all__ = ["FisherInformation", "SequentialTest"]

#: Points of ability that estimates and largest likelihoods are found on, and how far they reach, in deviations.
_POINTS, _REACH = 161, 4.0


class _Abilities:
    """Likelihoods of the answers that were given at some abilities."""

    def __init__(self, items: Any, ability: FloatArray) -> None:
        self.ability = ability
        self.logs = np.log(np.maximum(items.probabilities(ability), 1e-300))

    def log_likelihood(self, belief: BeliefState) -> FloatArray:
        """Log of the likelihood of what was seen at each ability, (n, n_points)."""
        assert belief.observed is not None  # of a problem in any order
        logs = self.logs[belief.problem.features]
        return np.asarray(sum((belief.observed == v).astype(float) @ logs[:, v] for v in range(logs.shape[1])))

    def estimate(self, belief: BeliefState, log_prior: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Mean and standard deviation of the ability given what was seen, (n,)."""
        share = softmax(self.log_likelihood(belief) + log_prior, axis=1)
        mean = share @ self.ability
        square = ((self.ability - mean[:, None]) ** 2 * share).sum(axis=1)
        return mean, np.sqrt(square)


def _check(problem: AcquisitionProblem, items: Any, who: str) -> None:
    check_part(items, "items", "the items, such as model.items_ of an ItemResponse", ("probabilities", "information"))
    if not problem.any_order:
        raise ValueError(f'{who} chooses among questions: make the problem with any_order=True (order="adaptive").')
    require_one_start(problem, who)
    if problem.bundles is not None:
        raise ValueError(f"{who} asks items one at a time, and here bundles show several: leave bundles out.")
    if len(items) <= problem.features.max(initial=-1):
        raise ValueError(
            f"items has {len(items)} items, and the problem asks for feature {int(problem.features.max())}: give the "
            "items of the model."
        )


def _check_cuts(cuts: Any) -> FloatArray:
    return check_cuts(np.atleast_1d(cuts))


@dataclass(repr=False, eq=False)
class FisherInformation(OrderingRule):
    """Asks the item with the most Fisher information about the ability, at the cuts or at the estimate.

    This is the usual rule of adaptive tests. It takes no account of prices or of the decision. `SequentialTest` and
    `Adaptive` give it a stopping rule.

    Parameters
    ----------
    items : ItemParameters
        The items, such as ``model.items_`` of an `seqclass.exams.ItemResponse`.
    cuts : array-like of shape (n_cuts,), optional
        Abilities at which information is summed; None: at the mean of the ability given the answers.
    mean, sd : float
        Mean and standard deviation of the ability, which is normal before anything is known.

    References
    ----------
    .. [1] M. D. Reckase, "A procedure for decision making using tailored testing", in D. J. Weiss (ed.), New Horizons
       in Testing, 1983 (at the cut).

    Examples
    --------
    >>> from seqclass.exams import ItemParameters
    >>> from seqclass.pomdp import MixtureProblem
    >>> items = ItemParameters.from_table({"a": [1.0, 1.0], "b": [-2.0, 0.1]})
    >>> tables = items.probabilities([-1.0, 1.0])
    >>> problem = MixtureProblem([0.5, 0.5], [0, 1], list(tables), prices=0.1, any_order=True)
    >>> FisherInformation(items, cuts=[0.0]).next(problem.initial_belief())
    array([1])
    """

    per_price = False

    items: Any
    cuts: Any = None
    mean: float = 0.0
    sd: float = 1.0

    def check(self, problem: AcquisitionProblem) -> None:
        """Refuse a problem of other questions than items asked in any order; see `OrderingRule.check`."""
        _check(problem, self.items, "FisherInformation")
        if self.cuts is not None:
            _check_cuts(self.cuts)
        check_real(self.mean, "mean")
        check_real(self.sd, "sd", 1e-6)
        if self.cuts is None:
            told = self.items.information(self._points)[problem.features]
            if told.size and (told[:, 1:-1].max(axis=1) <= told[:, [0, -1]].max(axis=1)).all():
                warn_caller(
                    f"all items tell most of abilities that nobody has by mean={self.mean:g} and sd={self.sd:g}: give "
                    "FisherInformation the mean and sd of the scale that the items are on, or cuts."
                )

    @property
    def _points(self) -> FloatArray:
        return self.mean + self.sd * np.linspace(-_REACH, _REACH, _POINTS)

    def gains(self, belief: BeliefState, questions: IntArray) -> FloatArray:
        """Fisher information; see `OrderingRule.gains`."""
        features = belief.problem.features[questions]
        if self.cuts is not None:
            at_cuts = self.items.information(_check_cuts(self.cuts)).sum(axis=1)
            return np.tile(at_cuts[features], (len(belief), 1))
        points = self._points
        ability, _ = _Abilities(self.items, points).estimate(belief, stats.norm.logpdf(points, self.mean, self.sd))
        place = np.clip(np.rint((ability - points[0]) / (points[1] - points[0])), 0, _POINTS - 1).astype(np.intp)
        return np.asarray(self.items.information(points)[features][:, place].T)


@dataclass(repr=False, eq=False)
class SequentialTest(Solver):
    """A classical test of who is above which cut, which ends as soon as it is sure: a baseline for plans by cost.

    - ``"SPRT"``: at each cut the ratio of the likelihoods at ``delta`` above and below it is beyond Wald's limits for
      errors of probability ``error`` (Wald 1947 [1]_; for items Reckase 1983 [2]_).
    - ``"GLR"``: at each cut the ratio of the largest likelihood ``delta`` above it or more to the largest ``delta``
      below it or less is beyond these limits (Thompson 2011 [3]_).
    - ``"CI"``: the interval of the ability's mean, of confidence ``1 - 2 error``, holds no cut.

    It then takes the decision of least expected cost under the posterior, as every policy does; on average this never
    costs more than the decision of the test itself. The rules and limits of the problem are kept.

    Parameters
    ----------
    items : ItemParameters
        The items, such as ``model.items_`` of an `seqclass.exams.ItemResponse`.
    cuts : array-like of shape (n_cuts,)
        Rising abilities.
    stop : {"SPRT", "GLR", "CI"}
        When it ends.
    rule : OrderingRule, optional
        What to ask next; by default `FisherInformation` at the cuts.
    delta : float
        Half of the width of the region of indifference, in the unit of ability.
    error : float
        Probability of an error on either side that limits and intervals are for.
    min_questions : int
        Fewest questions.
    mean, sd : float
        Mean and standard deviation of the ability, which is normal before anything is known; for ``"CI"``, and for
        ``"GLR"``, which looks at abilities within four of them.
    certificate_paths, random_state
        As in `Solver`.

    References
    ----------
    .. [1] A. Wald, Sequential Analysis, 1947.
    .. [2] M. D. Reckase, "A procedure for decision making using tailored testing", in D. J. Weiss (ed.), New Horizons
       in Testing, 1983.
    .. [3] N. A. Thompson, "Termination criteria for computerized classification testing", Practical Assessment,
       Research and Evaluation 16(4), 2011.

    Examples
    --------
    >>> from seqclass import SequentialClassifier
    >>> from seqclass.exams import ItemResponse
    >>> model = ItemResponse.from_items({"a": [1.5] * 20, "b": [0.0] * 20}, cuts=[0.0])
    >>> test = SequentialTest(model.items_, [0.0], delta=0.5, certificate_paths=0)
    >>> case = SequentialClassifier.from_model(model, solver=test).session()
    >>> while (item := case.next_feature) is not None:
    ...     case.observe(item.name, 1)
    >>> case.n_features
    4
    """

    items: Any
    cuts: Any
    stop: str = "SPRT"
    _: KW_ONLY
    rule: OrderingRule | None = None
    delta: float = 0.3
    error: float = 0.05
    min_questions: int = 0
    mean: float = 0.0
    sd: float = 1.0

    _least = {"min_questions": 0, "delta": 1e-6, "sd": 1e-6}

    def _check_settings(self) -> None:
        super()._check_settings()
        cuts = _check_cuts(self.cuts)
        check_choice(self.stop, "stop", ("SPRT", "GLR", "CI"))
        check_real(self.error, "error", 1e-12, 0.5)
        apart = np.abs(cuts - check_real(self.mean, "mean"))
        if self.stop != "SPRT" and (apart > _REACH * self.sd).any():
            raise ValueError(
                f"cuts: {cuts[apart.argmax()]:g} is beyond {_REACH:g} standard deviations of the ability, of mean "
                f"{self.mean:g} and standard deviation {self.sd:g}: give mean and sd of the scale of the items."
            )
        check_part(self._rule, "rule", "an ordering rule such as ClassInformation()", ("next", "check"))

    def _check(self, problem: AcquisitionProblem) -> None:
        _check(problem, self.items, "SequentialTest")
        self._rule.check(problem)

    def _policy(self, problem: AcquisitionProblem) -> Policy:
        return SequentialTestPolicy(problem, self, self._rule)

    @property
    def _rule(self) -> OrderingRule:
        return FisherInformation(self.items, _check_cuts(self.cuts)) if self.rule is None else self.rule


class SequentialTestPolicy(Policy):
    """Asks what a rule says until a classical test is sure."""

    def __init__(self, problem: AcquisitionProblem, test: SequentialTest, rule: OrderingRule) -> None:
        super().__init__(problem)
        self.test, self.rule = test, rule

    def next_question(self, belief: BeliefState) -> IntArray:
        """What the rule puts next, (n,); see `Policy.next_question`."""
        return self.rule.next(belief)

    def _question_scores(self, belief: BeliefState) -> FloatArray:
        return self.rule.scores(belief)

    def test_ends(self, belief: BeliefState) -> BoolArray:
        """Where the test ends, (n,)."""
        sure: BoolArray = np.zeros(len(belief), dtype=bool)
        if belief.stage >= self.test.min_questions:
            for part in chunks(len(belief), 8.0 * 4 * (belief.problem.n_questions + _POINTS)):
                sure[part] = self._is_sure(belief[np.arange(len(belief))[part]])
        return sure

    def _action(self, belief: BeliefState) -> IntArray:
        question, on = np.full(len(belief), DECIDE), np.flatnonzero(~self.test_ends(belief))
        if on.size:
            question[on] = self.rule.next(belief[on])
        return question

    def _is_sure(self, belief: BeliefState) -> BoolArray:
        test, cuts = self.test, _check_cuts(self.test.cuts)
        if test.stop == "CI":
            points = self._abilities.ability
            mean, sd = self._abilities.estimate(belief, stats.norm.logpdf(points, test.mean, test.sd))
            half = stats.norm.isf(test.error) * sd
            return np.asarray((np.abs(mean[:, None] - cuts) > half[:, None]).all(axis=1))
        log_likelihood, limit = self._abilities.log_likelihood(belief), np.log((1 - test.error) / test.error)
        points, sure = self._abilities.ability, np.ones(len(belief), dtype=bool)
        for cut in cuts:
            above, below = points >= cut + test.delta, points <= cut - test.delta
            if test.stop == "SPRT":  # the nearest points alone
                above, below = points == cut + test.delta, points == cut - test.delta
            sure &= np.abs(log_likelihood[:, above].max(axis=1) - log_likelihood[:, below].max(axis=1)) >= limit
        return sure

    @cached_property
    def _abilities(self) -> _Abilities:
        test, cuts = self.test, _check_cuts(self.test.cuts)
        points = test.mean + test.sd * np.linspace(-_REACH, _REACH, _POINTS)
        if test.stop != "CI":  # of which points are evenly apart
            beside = np.concatenate([cuts - test.delta, cuts + test.delta])
            points = np.unique(beside if test.stop == "SPRT" else np.concatenate([points, beside]))
        return _Abilities(test.items, points)
