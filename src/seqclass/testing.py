"""Checks for parts of your own: observation models, policies and solvers.

Each raises an `AssertionError` whose message says what is wrong.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.base import clone

from seqclass._arrays import BoolArray, FloatArray, IntArray, as_generator
from seqclass.bn import ObservationModel
from seqclass.pomdp import (
    DECIDE,
    AcquisitionProblem,
    InformationState,
    Policy,
    SolveInfo,
    Solver,
    TableProblem,
    evaluate,
    optimal_cost,
)
from seqclass.pomdp.along import everything
from seqclass.pomdp.walk import walk

__all__ = ["check_observation_model", "check_policy", "check_solver", "sample_problems"]

#: Costs closer than this are the same.
_ROUNDING = 1e-9
_STATUSES = ("converged", "wide gap", "truncated", "limit")


def check_observation_model(model: ObservationModel, X: npt.ArrayLike, y: npt.ArrayLike) -> None:
    """Check that a model keeps the promises of `ObservationModel`.

    Probabilities are distributions and agree with Bayes's rule and with one another whatever the order of acquisition,
    the incremental form says what the evidence form says, fitting is repeatable, and wrong input is named.

    Parameters
    ----------
    model : ObservationModel
        The model; it is cloned before it is fitted.
    X : array-like of int of shape (n_samples, n_features)
        Dense outcomes without missing cells; at least 2 features and at most about 6, some dozen rows.
    y : array-like of shape (n_samples,)
        Labels.

    Raises
    ------
    AssertionError
        At the first promise that is broken.

    Examples
    --------
    >>> from seqclass.bn import NaiveBayes
    >>> check_observation_model(NaiveBayes(), [[0, 1], [1, 0], [1, 2]], ["a", "b", "b"])
    """
    data = np.asarray(X)
    before = model.get_params()
    fitted = clone(model).fit(data, y)
    again = clone(model).fit(data, y)
    _equal(again.posterior(data), fitted.posterior(data), 0, "fitting the same data twice gives different posteriors")
    _true(model.get_params() == before, "fit changed the constructor's parameters")
    known = np.random.default_rng(0).random(data.shape) < 0.5
    evidence = np.where(known, data, -1).astype(data.dtype)
    _check_fitted(fitted, data, np.asarray(y))
    _check_probabilities(fitted, evidence)
    _check_bayes(fitted, evidence)
    _check_orders(fitted, data)
    _check_increments(fitted, data)
    _check_messages(fitted, data)


def check_policy(policy: Policy, *, max_rows: int = 200) -> None:
    """Check that a policy answers as it must at the information states its problem can reach.

    It names the stage's feature or -1, decides at its horizon, answers for each row what it answers for that row alone,
    in any order and again when asked again, and leaves the information state as it was.

    Parameters
    ----------
    policy : Policy
        The policy; its own problem is used.
    max_rows : int
        Most information states to ask about at each stage.

    Raises
    ------
    AssertionError
        At the first promise that is broken.

    Examples
    --------
    >>> import numpy as np
    >>> from seqclass.pomdp import GridValueIteration, TableProblem
    >>> problem = TableProblem([0.5, 0.5], np.array([[[0.9, 0.2], [0.1, 0.8]]]), prices=0.1)
    >>> check_policy(GridValueIteration().solve(problem))
    """
    problem = policy.problem
    _true(isinstance(policy.info, SolveInfo), "policy.info must be a SolveInfo")
    _true(0 <= policy.n_stages <= problem.n_stages, "policy.n_stages must lie between 0 and the problem's stages")
    info = problem.begin()
    rng = np.random.default_rng(0)
    while True:
        _check_actions(policy, info, rng)
        if info.stage == problem.n_stages:
            break
        following = _after(info)
        info = following[rng.permutation(len(following))[:max_rows]]


def check_solver(
    solver: Solver,
    problems: Sequence[AcquisitionProblem] | None = None,
    *,
    tolerance: float | None = None,
    max_rows: int = 200,
) -> None:
    """Check a solver against the optimum, found by enumeration, of small problems.

    Its settings survive `solve` and cloning; no cost is below the optimum and no bound on the wrong side of it; the
    same seed gives the same policy; every policy passes `check_policy`. Problems that the solver refuses with a
    `ValueError` are left out, but one at least must be solved.

    Parameters
    ----------
    solver : Solver
        The solver, with a whole number as ``random_state`` if it has one.
    problems : sequence of AcquisitionProblem, optional
        Problems with few histories; by default `sample_problems`.
    tolerance : float, optional
        How far the executed policy may be above the optimum; not checked where left out.
    max_rows : int
        See `check_policy`.

    Raises
    ------
    AssertionError
        At the first promise that is broken.

    Examples
    --------
    >>> from seqclass.pomdp import ExactValueIteration
    >>> check_solver(ExactValueIteration(), sample_problems(3), tolerance=1e-9)
    """
    settings = clone(solver).get_params()
    solved = 0
    for number, problem in enumerate(sample_problems() if problems is None else problems):
        try:
            policy = solver.solve(problem)
        except ValueError as error:
            _true(bool(str(error)), f"problem {number}: the solver refused without saying why")
            continue
        solved += 1
        where = f"problem {number}"
        _true(isinstance(policy, Policy), f"{where}: solve must return a Policy, got {type(policy).__name__}")
        _true(policy.problem is problem, f"{where}: the policy is for another problem")
        check_policy(policy, max_rows=max_rows)
        _check_bounds(problem, policy, tolerance, where)
        again = clone(solver).solve(problem)
        _same_actions(policy, again, max_rows, f"{where}: solving twice with the same seed gives different policies")
    _true(solver.get_params() == settings, "solve changed the solver's settings")
    _true(solved > 0, "the solver refused every problem")


def sample_problems(n: int = 12, random_state: Any = 0) -> list[TableProblem]:
    """Small random problems, each with one special thing in it.

    Among them are decisions other than the classes, outcomes that a class never gives, classes of prior 0,
    free features, features that say nothing, equal costs, a single stage, and contexts.

    Parameters
    ----------
    n : int
        Number of problems.
    random_state : int, generator or None
        Seed.

    Returns
    -------
    list of TableProblem

    Examples
    --------
    >>> [problem.n_classes for problem in sample_problems(4)]
    [2, 3, 2, 3]
    """
    rng = as_generator(random_state)
    return [_sample(rng, 2 + (number + number // 8) % 2, number % 8) for number in range(n)]


def _sample(rng: np.random.Generator, n_classes: int, kind: int) -> TableProblem:
    n_stages = 1 if kind == 6 else 4
    sizes = [2 if kind == 7 and stage else 1 for stage in range(n_stages)]
    tables = [rng.dirichlet(np.ones(3), size=(size, n_classes)).transpose(0, 2, 1) for size in sizes]
    prior = rng.dirichlet(np.ones(n_classes))
    prices = rng.random(n_stages) * 0.08
    costs = np.column_stack([1 - np.eye(n_classes), rng.random((n_classes, int(kind == 1))) * 0.5])
    if kind == 2:
        tables = [np.where(table == table.min(axis=1, keepdims=True), 0, table) for table in tables]
        tables = [table / table.sum(axis=1, keepdims=True) for table in tables]
    elif kind == 3:
        prior[0] = 0.0
        prior /= prior.sum()
    elif kind == 4:
        prices[::2] = 0.0
        tables[1] = np.repeat(tables[1][:, :, :1], n_classes, axis=2)
    elif kind == 5:
        costs[:, 1] = costs[:, 0]
    if kind != 7:
        return TableProblem(prior, [table[0] for table in tables], prices, costs)
    moves = [rng.integers(after, size=(size, 4)) for size, after in zip(sizes, [*sizes[1:], 1])]
    return TableProblem(prior, tables, prices, costs, transitions=moves)


def _true(condition: bool | np.bool_, sentence: str) -> None:
    if not condition:
        raise AssertionError(f"{sentence}.")


def _equal(actual: npt.ArrayLike, expected: npt.ArrayLike, tolerance: float, sentence: str) -> None:
    actual, expected = np.asarray(actual), np.asarray(expected)
    _true(actual.shape == expected.shape, f"{sentence} (shape {actual.shape}, expected {expected.shape})")
    if not np.allclose(actual, expected, rtol=tolerance, atol=tolerance):
        raise AssertionError(f"{sentence} (by up to {np.abs(actual - expected).max():g}).")


def _raises(kind: type[Exception], words: Sequence[str], call: Callable[[], Any], sentence: str) -> None:
    try:
        call()
    except kind as error:
        missing = [word for word in words if word not in str(error)]
        _true(not missing, f"{sentence}: the message does not name {missing}: {error}")
    else:
        raise AssertionError(f"{sentence} must raise {kind.__name__}.")


# policies and solvers


def _check_actions(policy: Policy, info: InformationState, rng: np.random.Generator) -> None:
    where = f"stage {info.stage}"
    belief = info.belief.copy()
    action = np.asarray(policy.act(info))
    _true(action.shape == (len(info),), f"{where}: act must return one answer a row, got shape {action.shape}")
    _true(np.issubdtype(action.dtype, np.integer), f"{where}: act must return whole numbers, got {action.dtype}")
    _true(bool((info.belief == belief).all()), f"{where}: act changed the information state")
    allowed = [DECIDE]
    if info.stage < policy.n_stages:
        allowed.append(info.stage)
    wrong = action[~np.isin(action, allowed)]
    _true(not wrong.size, f"{where}: act must answer one of {allowed}, got {wrong[:1]}")
    order = np.arange(len(info))[::-1]
    _true(_same(policy.act(info[order]), action[order]), f"{where}: the answer depends on the order of the rows")
    some = rng.permutation(len(info))[:20]
    alone = [int(policy.act(info[np.array([row])])[0]) for row in some]
    _true(_same(alone, action[some]), f"{where}: the answer for a row depends on the other rows")
    _true(_same(policy.act(info), action), f"{where}: the same question asked twice has two answers")
    decision, best = policy.decide(info.belief), policy.problem.decide(info.belief)
    _true(_same(decision, best), f"{where}: decide is not the cheapest decision")


def _after(info: InformationState) -> InformationState:
    """All that may follow the questions of lowest number."""
    _, level = itertools.islice(walk(info, np.ones(len(info)), everything), 2)
    return level.info


def _same(first: npt.ArrayLike, second: npt.ArrayLike) -> bool:
    return bool(np.array_equal(np.asarray(first), np.asarray(second)))


def _same_actions(first: Policy, second: Policy, max_rows: int, sentence: str) -> None:
    info = first.problem.begin()
    while len(info) and info.stage < first.problem.n_stages:
        _true(_same(first.act(info), second.act(info)), sentence)
        following = _after(info)
        info = following[np.arange(min(len(following), max_rows))]


def _check_bounds(problem: AcquisitionProblem, policy: Policy, tolerance: float | None, where: str) -> None:
    report = policy.info
    optimum = optimal_cost(problem)
    cost = evaluate(problem, policy, method="exact").cost
    _true(report.status in _STATUSES, f"{where}: status must be one of {_STATUSES}, got {report.status!r}")
    _true(cost >= optimum - _ROUNDING, f"{where}: the policy costs {cost:g}, less than the optimum {optimum:g}")
    # NaN where no certificate was asked
    _true(not report.lower > optimum + _ROUNDING, f"{where}: info.lower {report.lower:g} is above the optimum")
    _true(not report.upper < cost - _ROUNDING, f"{where}: info.upper {report.upper:g} is below the policy's cost")
    if tolerance is not None:
        sentence = f"{where}: the policy costs {cost:g}, over {tolerance:g} more than the optimum {optimum:g}"
        _true(cost <= optimum + tolerance, sentence)


# observation models


def _check_fitted(model: ObservationModel, X: IntArray, y: npt.NDArray[Any]) -> None:
    _true(model.n_features_in_ == X.shape[1], "n_features_in_ is not the number of columns")
    _true(_same(model.classes_, np.unique(y)), "classes_ are not the sorted labels")
    _equal(model.class_prior_.sum(), 1, _ROUNDING, "class_prior_ does not sum to 1")
    _true(bool((model.n_outcomes_ > X.max(axis=0)).all()), "n_outcomes_ is too small for an outcome of X")


def _check_probabilities(model: ObservationModel, evidence: IntArray) -> None:
    n, n_classes = len(evidence), len(model.classes_)
    posterior = model.posterior(evidence)
    _distribution(posterior, (n, n_classes), 1, "posterior")
    empty = np.full((2, evidence.shape[1]), -1)
    prior = np.tile(model.class_prior_, (2, 1))
    _equal(model.posterior(empty), prior, _ROUNDING, "the posterior without evidence is not the prior")
    _true(model.posterior(evidence[:0]).shape == (0, n_classes), "no rows must give a posterior of no rows")
    for feature, n_outcomes in enumerate(model.n_outcomes_):
        blank, full = evidence.copy(), evidence.copy()
        blank[:, feature], full[:, feature] = -1, 0
        likelihood = model.likelihood(feature, blank)
        _distribution(likelihood, (n, n_outcomes, n_classes), 1, f"likelihood of feature {feature}")
        _distribution(model.predictive(feature, blank), (n, n_outcomes), 1, f"predictive of feature {feature}")
        sentence = f"the likelihood of feature {feature} depends on its own entry in the evidence"
        _equal(model.likelihood(feature, full), likelihood, 1e-13, sentence)
        _true(bool((full[:, feature] == 0).all()), "likelihood changed the evidence in place")


def _distribution(P: FloatArray, shape: tuple[int, ...], axis: int, name: str) -> None:
    _true(P.shape == shape, f"{name} has shape {P.shape}, expected {shape}")
    _true(bool((P >= 0).all()), f"{name} has negative entries")
    _equal(P.sum(axis=axis), np.ones(np.delete(shape, axis)), 1e-11, f"{name} does not sum to 1")


def _check_bayes(model: ObservationModel, evidence: IntArray) -> None:
    """Acquiring a feature multiplies the posterior by its likelihood and divides by the predictive."""
    for feature, n_outcomes in enumerate(model.n_outcomes_):
        before = evidence.copy()
        before[:, feature] = -1
        likelihood, predictive = model.likelihood(feature, before), model.predictive(feature, before)
        joint = likelihood * model.posterior(before)[:, None, :]
        sentence = f"the predictive of feature {feature} is not its likelihood averaged over the posterior"
        _equal(joint.sum(axis=2), predictive, 1e-11, sentence)
        for outcome in range(n_outcomes):
            after = before.copy()
            after[:, feature] = outcome
            possible: BoolArray = predictive[:, outcome] > 0
            expected = joint[possible, outcome] / predictive[possible, outcome, None]
            sentence = f"the posterior after outcome {outcome} of feature {feature} does not follow by Bayes's rule"
            _equal(model.posterior(after[possible]), expected, _ROUNDING, sentence)


def _check_orders(model: ObservationModel, X: IntArray) -> None:
    """The joint probability is the same whichever feature comes first, and sums to one."""
    first: FloatArray | None = None
    for order in itertools.islice(itertools.permutations(range(X.shape[1])), 24):
        seen = np.full_like(X, -1)
        joint = np.tile(model.class_prior_, (len(X), 1))
        for feature in order:
            joint = joint * model.likelihood(feature, seen)[np.arange(len(X)), X[:, feature]]
            seen[:, feature] = X[:, feature]
        first = joint if first is None else first
        _true(
            np.allclose(joint, first, rtol=1e-8, atol=0),
            f"the joint probability depends on the order of acquisition: {order} against the order of the columns",
        )


def _check_increments(model: ObservationModel, X: IntArray) -> None:
    rng = np.random.default_rng(1)
    rows = np.arange(len(X))
    seen = np.full_like(X, -1)
    state = model.start(len(X))
    for feature in map(int, rng.permutation(X.shape[1])):
        outcome = np.where(rng.random(len(rows)) < 0.8, X[rows, feature], -1)
        likelihood = model.stage_likelihood(feature, state)
        sentence = f"stage_likelihood of feature {feature} is not the likelihood given the same evidence"
        _equal(likelihood, model.likelihood(feature, seen[rows]), _ROUNDING, sentence)
        advanced = model.advance(feature, state, outcome)
        _equal(model.stage_likelihood(feature, state), likelihood, 0, "advance changed the state it was given")
        seen[rows, feature] = outcome
        some = np.flatnonzero(rng.random(len(rows)) < 0.9)[::-1]
        state, rows = advanced[some], rows[some]


def _check_messages(model: ObservationModel, X: IntArray) -> None:
    beyond = int(model.n_outcomes_[1])
    wrong = X[:1].astype(np.int64)
    wrong[0, 1] = beyond
    names = ["feature 1", f"outcome {beyond}"]
    _raises(ValueError, names, lambda: model.posterior(wrong), "posterior of an outcome out of range")
    _raises(ValueError, names, lambda: model.likelihood(0, wrong), "likelihood given an outcome out of range")
    _raises(ValueError, names, lambda: model.advance(1, model.start(1), np.array([beyond])), "advance out of range")
    below = np.where(np.arange(X.shape[1]) == 1, -2, X[:1])
    _raises(ValueError, ["feature 1", "outcome -2"], lambda: model.posterior(below), "posterior of outcome -2")
    _raises(ValueError, ["features"], lambda: model.posterior(X[:, :-1]), "evidence with a column too few")
    _raises(TypeError, ["integer"], lambda: model.posterior(X.astype(float)), "evidence of floats")
    _raises(ValueError, ["feature must be"], lambda: model.likelihood(X.shape[1], X), "a feature out of range")
