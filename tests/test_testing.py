"""The shipped checks pass what is right and name what is wrong with what is broken."""

from __future__ import annotations

import numpy as np
import pytest

from seqclass.bn import NaiveBayes, ObservationModel, TreeNetwork
from seqclass.pomdp import (
    DECIDE,
    Adaptive,
    ExactFreeOrder,
    ExactValueIteration,
    ExpectedSaving,
    FirstK,
    FunctionPolicy,
    GridValueIteration,
    Perseus,
    Policy,
    SolveInfo,
    Solver,
    StoppingValue,
    TableProblem,
    evaluate,
)
from seqclass.pomdp.policy import LookaheadPolicy, with_info
from seqclass.testing import check_observation_model, check_ordering_rule, check_policy, check_solver
from seqclass.testing.solvers import sample_problems

pytestmark = pytest.mark.usefixtures("whole_certificates")


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(3)
    return rng.integers(0, 3, size=(25, 4)), rng.choice(["a", "b"], size=25)


class Unnormalised(NaiveBayes):
    def _likelihood(self, feature, evidence):
        return super()._likelihood(feature, evidence) * 0.9


class Rounded(NaiveBayes):
    """Has a prior that sums to 1 up to something."""

    off = 0.0

    def fit(self, X, y, **settings):
        super().fit(X, y, **settings)
        self.class_prior_ = self.class_prior_ * (1 + self.off)
        return self


class OwnEntry(NaiveBayes):
    """Believes a feature that it has seen."""

    def likelihood(self, feature, evidence):
        likelihood = np.array(super().likelihood(feature, evidence))
        seen = np.flatnonzero(np.asarray(evidence)[:, feature] >= 0)
        likelihood[seen] = np.roll(likelihood[seen], 1, axis=1)
        return likelihood


class OtherPosterior(NaiveBayes):
    def _posterior(self, evidence):
        posterior = np.sqrt(super()._posterior(evidence))
        return posterior / posterior.sum(axis=1, keepdims=True)


class Together(NaiveBayes):
    """Tells of many features at once what it does not tell of one."""

    def stage_likelihoods(self, features, state):
        return super().stage_likelihoods(features, state)[:, :, ::-1]


class Advancing(NaiveBayes):
    """Forgets what it saw last."""

    def stage_likelihood(self, feature, state):
        return super().stage_likelihood(feature, state)[:, ::-1]


class Silent(NaiveBayes):
    def posterior(self, evidence):
        try:
            return super().posterior(evidence)
        except ValueError:
            return np.tile(self.class_prior_, (len(evidence), 1))


class SwappedTables(NaiveBayes):
    """Is planned with by other tables than beliefs are updated by."""

    def tables(self, order):
        return super().tables(order)[:, :, ::-1]


class Other(ObservationModel):
    """Its two answers to one question differ for one feature."""

    def _fit(self, X, codes, sample_weight):
        self.true_ = NaiveBayes().fit(X, codes)

    def _likelihood(self, feature, evidence):
        return self.true_._likelihood(feature, evidence)

    def tables(self, order):
        tables = self.true_.tables(order).copy()
        tables[np.asarray(order) == 2] = 1 / 3
        return tables


class Forgetful(TreeNetwork):
    """Says that no feature depends on another."""

    def context_features(self, order):
        return [np.empty(0, dtype=np.intp) for _ in order]


class Unrepeatable(NaiveBayes):
    def fit(self, X, y, **settings):
        self.alpha = 1.0 + np.random.default_rng().random()
        return super().fit(X, y, **settings)


class Settles(NaiveBayes):
    """Keeps what it chose as a setting."""

    def _fit(self, X, codes, sample_weight):
        super()._fit(X, codes, sample_weight)
        self.alpha = 2.0


class Sorts(NaiveBayes):
    def _fit(self, X, codes, sample_weight):
        super()._fit(X, codes, sample_weight)
        X.sort(axis=0)


class CountsGaps(NaiveBayes):
    """Takes -1 for an index."""

    def _fit(self, X, codes, sample_weight):
        super()._fit(np.where(X < 0, self.n_outcomes_ - 1, X).astype(X.dtype), codes, sample_weight)


class Unweighted(NaiveBayes):
    def _fit(self, X, codes, sample_weight):
        super()._fit(X, codes, None)


class RefusesWeights(NaiveBayes):
    def _fit(self, X, codes, sample_weight):
        if sample_weight is not None:
            raise ValueError("takes no weights")
        super()._fit(X, codes, None)


def test_what_is_rounded_passes(data, monkeypatch):
    """A thousand millionth of one, and as much again of what it is held against."""
    monkeypatch.setattr(Rounded, "off", 1.6e-9)
    check_observation_model(Rounded(), *data)
    monkeypatch.setattr(Rounded, "off", 2.4e-9)
    with pytest.raises(AssertionError, match="class_prior_ does not sum to 1"):
        check_observation_model(Rounded(), *data)


def test_a_sound_model_passes(data):
    check_observation_model(NaiveBayes(temperature=2.0), *data)
    check_observation_model(RefusesWeights(), *data)


@pytest.mark.parametrize(
    "model, sentence",
    [
        (Unnormalised, "does not sum to 1"),
        (OwnEntry, "depends on its own entry"),
        (OtherPosterior, "posterior|predictive"),
        (Advancing, "stage_likelihood"),
        (Together, "stage_likelihoods of feature"),
        (Silent, "must raise ValueError"),
        (SwappedTables, r"tables\(\[.*\]\)\[0\] is not the likelihood of feature \d, by which beliefs go"),
        (Other, "is not the likelihood of feature 2,"),
        (Forgetful, r"context_features\(.* leaves out features on which the likelihood of feature \d depends"),
        (Unrepeatable, "twice gives different posteriors"),
        (Settles, "fit changed the constructor's parameters"),
        (Sorts, "fit changed the rows that it was given"),
        (CountsGaps, "fit counts missing cells, which are -1, as outcome 2"),
        (Unweighted, "fit learns the same whatever sample_weight is"),
    ],
)
def test_broken_models_are_named(model, sentence, data):
    with pytest.raises(AssertionError, match=sentence):
        check_observation_model(model(), *data)


def problem():
    return TableProblem([0.5, 0.5], np.array([[[0.8, 0.3], [0.2, 0.7]]] * 3), prices=0.02)


def always(action, **changes):
    class Broken(Policy):
        def _action(self, info):
            return action(info)

    policy = Broken(problem())
    for name, value in changes.items():
        setattr(policy, name, value)
    return policy


def _harm(info):
    info.probabilities = np.full_like(info.probabilities, 0.5)
    return np.full(len(info), DECIDE)


def _cheaper(belief):
    belief.problem.prices[:] = 0
    return np.full(len(belief), DECIDE)


class OneScore(Policy):
    def _action(self, belief):
        return np.full(len(belief), DECIDE)

    def _question_scores(self, belief):
        return np.zeros((len(belief), 1))


class Counting(Policy):
    """Answers the third question otherwise."""

    asked = 0

    def _action(self, info):
        self.asked += 1
        return np.full(len(info), DECIDE if self.asked % 3 else info.stage)


class BeyondHorizon(Policy):
    def _action(self, info):
        return np.full(len(info), info.stage % 3)

    action = _action


@pytest.mark.parametrize(
    "policy, sentence",
    [
        (always(lambda info: np.full(len(info), 7)), "must answer one of"),
        (
            always(lambda info: np.full(len(info), -1.0)),
            "stage 0: .*_action must answer one bool or int for each of 1 rows, got float64",
        ),
        (always(lambda info: np.full((len(info), 1), -1)), r"must answer one bool or int .* of shape \(1, 1\)"),
        (always(_harm), "changed the belief"),
        (always(lambda info: np.where(np.arange(len(info)) == 0, info.stage, DECIDE)), "order of the rows"),
        (always(lambda info: np.full(len(info), info.stage if len(info) > 1 else DECIDE)), "depends on the other rows"),
        (always(lambda info: np.full(len(info), DECIDE), info=None), "must be a SolveInfo"),
        (always(lambda info: np.full(len(info), DECIDE), n_stages=9), "n_stages"),
        (BeyondHorizon(problem(), 1), "must answer one of"),
        (Counting(problem()), "order of the rows|other rows|two answers"),
        (always(_cheaper), "changed the numbers of its problem"),
        (OneScore(problem()), r"_question_scores have shape \(1, 1\), not \(1, 3\)"),
    ],
)
def test_broken_policies_are_named(policy, sentence):
    with pytest.raises(AssertionError, match=sentence):
        check_policy(policy)


class Claims(GridValueIteration):
    """Reports whatever ``changes`` says."""

    changes: dict = {}

    def solve(self, problem):
        policy = super().solve(problem)
        return with_info(policy, **{k: f(getattr(policy.info, k)) for k, f in self.changes.items()})


class TooLow(Claims):
    changes = {"upper": lambda x: 0.5 * x, "lower": lambda x: 0.4 * x}


class TooHigh(Claims):
    changes = {"lower": lambda x: x + 0.1}


class OddStatus(Claims):
    changes = {"status": lambda _: "fine"}


class ForgetsSettings(GridValueIteration):
    def solve(self, problem):
        self.resolution = 7
        return super().solve(problem)


class ByTheClock(Perseus):
    """Another policy each time."""

    turn = 0

    def solve(self, problem):
        type(self).turn += 1
        values = StoppingValue(problem, 1 + type(self).turn % 2)
        return LookaheadPolicy(values, SolveInfo("converged"))


class Refuses(GridValueIteration):
    def solve(self, problem):
        raise ValueError("needs more than anyone has")


class AsksAgain(Solver):
    def solve(self, problem):
        first = FunctionPolicy(problem, lambda belief: np.zeros(len(belief), dtype=int))
        evaluate(problem, first)
        return first


class OnOneRow(Solver):
    """Its policy answers too few rows, where there is more than one."""

    def _policy(self, problem):
        return FunctionPolicy(problem, lambda belief: np.full(1, belief.stage))


class Discounts(Solver):
    def _policy(self, problem):
        problem.prices = problem.prices / 2
        return FunctionPolicy(problem, lambda belief: np.full(len(belief), DECIDE))


class ReturnsValues(GridValueIteration):
    def solve(self, problem):
        return super().solve(problem).values


class MakesValues(Solver):
    def _policy(self, problem):
        return StoppingValue(problem)


class MakesNothing(Solver):
    def _check(self, problem):
        if problem.n_classes != 2:
            raise ValueError("two classes only")


class Template(Solver):
    """All that a solver of one's own has to give."""

    _least = {"depth": 1}

    def __init__(self, depth=1, *, certificate_paths=100, random_state=0):
        self.depth, self.certificate_paths, self.random_state = depth, certificate_paths, random_state

    def _check(self, problem):
        if problem.any_order:
            raise ValueError("Template needs a fixed order.")

    def _policy(self, problem):
        values = StoppingValue(problem, self.depth)
        return LookaheadPolicy(values, SolveInfo("limit", n_stages=self.depth, size=7))


def test_template_of_solvers():
    info = Template().solve(problem()).info
    assert (info.status, info.size, info.gap >= 0) == ("limit", 7, True)
    assert info.seconds > 0
    assert info.certify_seconds > 0
    assert np.isnan(Template(certificate_paths=0).solve(problem()).info.upper)
    for settings in ({"depth": 0}, {"certificate_paths": -1}):
        with pytest.raises(ValueError, match=next(iter(settings))):
            Template(**settings).solve(None)
    with pytest.raises(NotImplementedError, match="MakesNothing must define _policy"):
        MakesNothing().solve(problem())


@pytest.mark.parametrize(
    "solver, sentence",
    [
        (TooLow, "info.upper .* is below"),
        (TooHigh, "info.lower .* is above"),
        (OddStatus, "status must be one of"),
        (ForgetsSettings, "changed the solver's settings"),
        (ByTheClock, "same seed"),
        (Refuses, "refused every problem, the last with: needs more than anyone has"),
        (AsksAgain, "problem 0: the policy asks question 0 at stage 1"),
        (ReturnsValues, "must return a Policy"),
        (OnOneRow, r"problem 0: .* must answer one bool or int for each of \d rows, got int64 of shape \(1,\)\.$"),
        (Discounts, "problem 0: solve changed the numbers of the problem"),
        (MakesValues, "problem 0: solver: MakesValues._policy must return a policy"),
    ],
)
def test_broken_solvers_are_named(solver, sentence):
    assert issubclass(solver, Solver)
    with pytest.raises(AssertionError, match=sentence):
        check_solver(solver(), [problem(), *sample_problems(2)])


@pytest.mark.slow
def test_quality_is_checked_where_asked():
    check_solver(ExactValueIteration(certificate_paths=2), sample_problems(6), tolerance=1e-9)
    coarse = GridValueIteration(1, certificate_paths=2)
    check_solver(coarse, sample_problems(4))
    with pytest.raises(AssertionError, match="more than the optimum"):
        check_solver(coarse, tolerance=1e-9)


def test_sample_problems_have_what_they_promise():
    problems = sample_problems(16)
    assert any(p.n_decisions > p.n_classes for p in problems)
    assert any((np.asarray(p.likelihoods[0]) == 0).any() for p in problems)
    assert any((p.prior == 0).any() for p in problems)
    assert any((p.prices == 0).any() for p in problems)
    assert any(p.n_stages == 1 for p in problems)
    assert any(p.transitions is not None for p in problems)


class Reasking(Policy):
    """Asks the first question again and again."""

    def _action(self, info):
        return np.zeros(len(info), dtype=int)


class Beyond(Policy):
    def _action(self, info):
        return np.full(len(info), info.problem.n_questions)


class Impatient(Policy):
    """Asks what is open, also beyond its horizon."""

    def _action(self, info):
        return np.zeros(len(info), dtype=int)

    def action(self, info):
        return np.where(info.available.any(axis=1), info.available.argmax(axis=1), DECIDE)


@pytest.mark.slow
def test_policies_of_any_order():
    for problem in sample_problems(8, any_order=True):
        assert problem.any_order
        check_policy(Adaptive(max_nodes=0, n_paths=50, n_cases=50, certificate_paths=0).solve(problem), max_rows=30)
    for broken in (Reasking(problem, 2), Beyond(problem, 2), Impatient(problem, 1)):
        with pytest.raises(AssertionError, match="one of -1 and the questions that are open"):
            check_policy(broken)


def test_solvers_of_any_order():
    check_solver(ExactFreeOrder(), sample_problems(8, any_order=True), tolerance=1e-9)
    with pytest.raises(AssertionError, match="more than the optimum"):
        check_solver(FirstK(0), sample_problems(8, any_order=True), tolerance=1e-3)


class NotANumber(ExpectedSaving):
    def scores(self, info):
        return np.where(info.available, np.nan, -np.inf)


class ScoresAll(ExpectedSaving):
    def scores(self, info):
        return np.zeros(info.available.shape)


class Worst(ExpectedSaving):
    """Asks for what scores least."""

    def next(self, info):
        scores = np.where(info.available, -super().scores(info), -np.inf)
        return np.where(info.available.any(axis=1), scores.argmax(axis=1), DECIDE)


class ByTheBatch(ExpectedSaving):
    """Looks at the other rows."""

    def gains(self, info, questions):
        return super().gains(info, questions) - super().gains(info, questions).mean(axis=0)


class NeverAsks(ExpectedSaving):
    def next(self, info):
        return np.full(len(info), DECIDE)


class AsksAgain(ExpectedSaving):
    def next(self, info):
        return np.where(info.stage > 0, info.available.argmin(axis=1), super().next(info))


class ByAnswers(ExpectedSaving):
    """Looks at what was answered, and does not say so."""

    def gains(self, belief, questions):
        return super().gains(belief, questions) + (belief.observed == 1).sum(axis=1, keepdims=True)


class Renumbers(ExpectedSaving):
    def gains(self, belief, questions):
        questions[:] = questions[0]
        return super().gains(belief, questions)


class TooFew(ExpectedSaving):
    def gains(self, belief, questions):
        return super().gains(belief, questions)[:, :1]


class RefusesAll(ExpectedSaving):
    def check(self, problem):
        raise ValueError("not today")


@pytest.mark.parametrize(
    "rule, sentence",
    [
        (NotANumber(), "a score is no number"),
        (ScoresAll(), "a question that is not open has a score"),
        (Worst(), "next asks a question that does not score best"),
        (ByTheBatch(), "the answer for a row depends on the other rows"),
        (NeverAsks(), "next answers -1 where a question has a score"),
        (AsksAgain(), "next must answer -1 or a question that is open"),
        (RefusesAll(), "the rule refused every problem"),
        (ByAnswers(), "by_belief is true, and scores depend on what questions showed"),
        (Renumbers(), "read-only"),
        (TooFew(), r"TooFew.gains must give numbers in an array of shape \(1, 4\)"),
    ],
)
def test_broken_ordering_rules_are_named(rule, sentence):
    with pytest.raises(AssertionError, match=sentence):
        check_ordering_rule(rule)
