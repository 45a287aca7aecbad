"""Classical tests that end early: ratios of likelihoods and confidence intervals of ability, as yardsticks."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from functools import cached_property
from typing import Any

import numpy as np
from scipy.stats import norm

from seqclass._utils.arrays import BoolArray, FloatArray, IntArray, chunks
from seqclass._utils.text import shown
from seqclass._utils.validation import check_choice, check_finite, check_integer, check_part, check_real
from seqclass.pomdp.information import InformationState
from seqclass.pomdp.needs import needed_one_start
from seqclass.pomdp.policy import DECIDE, Policy
from seqclass.pomdp.problem import AcquisitionProblem
from seqclass.pomdp.solvers.base import Solver, certified
from seqclass.pomdp.solvers.ordering.base import OrderingRule

__all__ = ["FisherInformation", "SequentialTest"]

#: Points of ability that estimates and largest likelihoods are found on, and how far they reach, in deviations.
_POINTS, _REACH = 161, 4.0
_LEAST = 1e-300


class _Abilities:
    """Likelihoods of the answers that were given at some abilities."""

    def __init__(self, items: Any, ability: FloatArray) -> None:
        self.ability = ability
        self.logs = np.log(np.maximum(items.probabilities(ability), _LEAST))

    def log_likelihood(self, info: InformationState) -> FloatArray:
        """Log of the likelihood of what was seen at each ability, (n, n_points)."""
        assert info.seen is not None  # of a free problem
        logs = self.logs[info.problem.features]
        return np.asarray(sum((info.seen == v).astype(float) @ logs[:, v] for v in range(logs.shape[1])))

    def estimate(self, info: InformationState, log_prior: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Mean and standard deviation of the ability given what was seen, (n,)."""
        share = self.log_likelihood(info) + log_prior
        share = np.exp(share - share.max(axis=1, keepdims=True))
        share /= share.sum(axis=1, keepdims=True)
        mean = share @ self.ability
        square = ((self.ability - mean[:, None]) ** 2 * share).sum(axis=1)
        return mean, np.sqrt(square)


def _check(problem: AcquisitionProblem, items: Any, who: str) -> None:
    check_part(items, "items", "the items, such as model.items_ of an ItemResponse", ("probabilities", "information"))
    if not problem.free:
        raise ValueError(f'{who} chooses among questions: make the problem with free=True (order="adaptive").')
    needed_one_start(problem, who)
    if problem.bundles is not None:
        raise ValueError(f"{who} asks items one at a time, and here bundles show several: leave bundles out.")
    if len(items) <= problem.features.max(initial=-1):
        raise ValueError(
            f"items has {len(items)} items, and the problem asks for feature {int(problem.features.max())}: give the "
            "items of the model."
        )


def _checked_cuts(cuts: Any) -> FloatArray:
    found = np.atleast_1d(check_finite(cuts, "cuts"))
    if found.ndim != 1 or not found.size or (np.diff(found) <= 0).any():
        raise ValueError(f"cuts must be rising abilities, one at least; got {shown(found.tolist())}.")
    return found


@dataclass(repr=False, eq=False)
class FisherInformation(OrderingRule):
    """Asks the item with the most Fisher information about the ability, at the cuts or at the estimate.

    This is the usual rule of adaptive tests. It takes no account of prices or of the decision. `SequentialTest` and
    `Adaptive` give it a stopping rule.

    Parameters
    ----------
    items : ItemParameters
        The items, such as ``model.items_`` of an `seqclass.bn.ItemResponse`.
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
    >>> from seqclass.bn import ItemParameters
    >>> from seqclass.pomdp import MixtureProblem
    >>> items = ItemParameters.from_table({"a": [1.0, 1.0], "b": [-2.0, 0.1]})
    >>> tables = items.probabilities([-1.0, 1.0])
    >>> problem = MixtureProblem([0.5, 0.5], [0, 1], list(tables), prices=0.1, free=True)
    >>> FisherInformation(items, cuts=[0.0]).next(problem.begin())
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
            _checked_cuts(self.cuts)
        check_real(self.mean, "mean")
        check_real(self.sd, "sd", 1e-6)

    def gains(self, info: InformationState, questions: IntArray) -> FloatArray:
        """Fisher information; see `OrderingRule.gains`."""
        features = info.problem.features[questions]
        if self.cuts is not None:
            at_cuts = self.items.information(_checked_cuts(self.cuts)).sum(axis=1)
            return np.tile(at_cuts[features], (len(info), 1))
        points = self.mean + self.sd * np.linspace(-_REACH, _REACH, _POINTS)
        ability, _ = _Abilities(self.items, points).estimate(info, norm.logpdf(points, self.mean, self.sd))
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
        The items, such as ``model.items_`` of an `seqclass.bn.ItemResponse`.
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
        Mean and standard deviation of the ability, which is normal before anything is known; for ``"CI"``.
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
    >>> from seqclass.bn import ItemResponse
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

    def solve(self, problem: AcquisitionProblem) -> Policy:
        """Make the policy; see `Solver.solve`."""
        _check(problem, self.items, "SequentialTest")
        cuts = _checked_cuts(self.cuts)
        check_choice(self.stop, "stop", ("SPRT", "GLR", "CI"))
        check_real(self.delta, "delta", 1e-6)
        check_real(self.error, "error", 1e-12, 0.5)
        check_integer(self.min_questions, "min_questions", 0)
        check_real(self.mean, "mean")
        check_real(self.sd, "sd", 1e-6)
        rule = FisherInformation(self.items, cuts) if self.rule is None else self.rule
        check_part(rule, "rule", "an ordering rule such as ClassInformation()", ("next", "check"))
        rule.check(problem)
        return certified(SequentialTestPolicy(problem, self, rule), self.certificate_paths, self.random_state)


class SequentialTestPolicy(Policy):
    """Asks what a rule says until a classical test is sure."""

    def __init__(self, problem: AcquisitionProblem, test: SequentialTest, rule: OrderingRule) -> None:
        super().__init__(problem)
        self.test, self.rule = test, rule

    def following(self, info: InformationState) -> IntArray:
        """What the rule puts next, (n,); see `Policy.following`."""
        return self.rule.next(info)

    def sure(self, info: InformationState) -> BoolArray:
        """Where the test ends, (n,)."""
        sure: BoolArray = np.zeros(len(info), dtype=bool)
        if info.stage >= self.test.min_questions:
            for part in chunks(len(info), 8.0 * 4 * (info.problem.n_questions + _POINTS)):
                sure[part] = self._is_sure(info[np.arange(len(info))[part]])
        return sure

    def _act(self, info: InformationState) -> IntArray:
        question, on = np.full(len(info), DECIDE), np.flatnonzero(~self.sure(info))
        if on.size:
            question[on] = self.rule.next(info[on])
        return question

    def _is_sure(self, info: InformationState) -> BoolArray:
        test, cuts = self.test, _checked_cuts(self.test.cuts)
        if test.stop == "CI":
            points = self._abilities.ability
            mean, sd = self._abilities.estimate(info, norm.logpdf(points, test.mean, test.sd))
            half = norm.isf(test.error) * sd
            return np.asarray((np.abs(mean[:, None] - cuts) > half[:, None]).all(axis=1))
        found, limit = self._abilities.log_likelihood(info), np.log((1 - test.error) / test.error)
        points, sure = self._abilities.ability, np.ones(len(info), dtype=bool)
        for cut in cuts:
            above, below = points >= cut + test.delta, points <= cut - test.delta
            if test.stop == "SPRT":  # the nearest points alone
                above, below = points == cut + test.delta, points == cut - test.delta
            sure &= np.abs(found[:, above].max(axis=1) - found[:, below].max(axis=1)) >= limit
        return sure

    @cached_property
    def _abilities(self) -> _Abilities:
        test, cuts = self.test, _checked_cuts(self.test.cuts)
        points = test.mean + test.sd * np.linspace(-_REACH, _REACH, _POINTS)
        if test.stop != "CI":  # of which points are evenly apart
            beside = np.concatenate([cuts - test.delta, cuts + test.delta])
            points = np.unique(beside if test.stop == "SPRT" else np.concatenate([points, beside]))
        return _Abilities(test.items, points)
