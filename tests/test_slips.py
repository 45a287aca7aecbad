"""What newcomers get wrong: the error says what to write instead."""

from __future__ import annotations

import importlib
import re
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.base import BaseEstimator
from sklearn.exceptions import NotFittedError
from sklearn.feature_selection import SelectKBest, chi2

from seqclass import Costs, SequentialClassifier, adaptive, etana
from seqclass.analysis import reachable_beliefs
from seqclass.bn import ClassMixture, ContextBayes, NaiveBayes, ObservationModel, TreeNetwork
from seqclass.bn.ordering import check_order
from seqclass.drift import DriftTest
from seqclass.export import policy_data
from seqclass.persistence import register
from seqclass.pomdp import (
    EC2,
    Adaptive,
    ClassInformation,
    ExpectedSaving,
    FirstK,
    FunctionPolicy,
    Lookahead,
    OrderingRule,
    Policy,
    PosteriorThreshold,
    Solver,
    TableProblem,
    certify,
    cost_sweep,
    evaluate,
    to_pomdp_py,
)
from seqclass.selection import EFS
from seqclass.serve import create_app
from seqclass.testing import check_observation_model

RNG = np.random.default_rng(0)
#: Costs of decisions as `DataFrame.to_dict` gives them, which does not say what is a row.
DICTS = Costs(0.01, decision_costs={"a": {"a": 0, "b": 1}, "b": {"a": 5, "b": 0}})
Y = np.repeat(["a", "b"], 40)
X = np.c_[RNG.normal(size=80) + 2 * (Y == "a"), RNG.normal(size=(80, 3))].round(2)


@pytest.mark.parametrize("make", [SequentialClassifier, etana])
@pytest.mark.parametrize(
    "part, name, written",
    [
        ("selector", "saola", "seqclass.selection.SAOLA()"),
        ("selector", "fast-osfs", "seqclass.selection.FastOSFS()"),
        ("selector", "information filter", "seqclass.bn.InformationFilter()"),
        ("solver", "perseus", "seqclass.pomdp.Perseus()"),
        ("solver", "grid", "seqclass.pomdp.GridValueIteration()"),
        ("observation_model", "mixture", "seqclass.bn.ClassMixture()"),
        ("observation_model", "NaiveBayse", "seqclass.bn.NaiveBayes()"),
    ],
)
def test_a_part_by_name(make: Any, part: str, name: str, written: str) -> None:
    with pytest.raises(TypeError, match=re.escape(f"got '{name}': write {written}.")):
        make(**{part: name}).fit(X, Y)
    room, _, cls = written[:-2].rpartition(".")
    make(**{part: getattr(importlib.import_module(room), cls)()}).fit(X, Y)


def test_a_name_that_is_like_none() -> None:
    with pytest.raises(TypeError, match=r"got 'zzzz'\.$"):
        SequentialClassifier(solver="zzzz").fit(X, Y)
    with pytest.raises(ValueError, match=r"Discretizer\(strategy=.mdlp.\), None or .precomputed., got 'mdlp'"):
        SequentialClassifier(discretizer="mdlp").fit(X, Y)


@pytest.mark.parametrize(
    "solver, message",
    [
        (Adaptive([ClassInformation(), EC2]), r"rules\[1\] must be an ordering rule.*the class EC2: write EC2\(\)"),
        (Adaptive(["ec2"]), r"rules\[0\] must be .*got 'ec2': write seqclass.pomdp.EC2\(\)"),
        (Adaptive(EC2), r"rules must be a list of ordering rules, such as \[EC2\(\)\], got "),
        (Adaptive(EC2()), r"rules must be a list of ordering rules, such as \[EC2\(\)\], got EC2\(\)"),
        (Adaptive([]), r"rules must be a list of ordering rules, such as \[EC2\(\)\], got \[\]"),
        (FirstK(2, rule=ClassInformation), r"rule must be .*: write ClassInformation\(\)"),
        (FirstK(None, rule=ClassInformation), r"rule must be .*: write ClassInformation\(\)"),
        (PosteriorThreshold(rule="ec2"), r"rule must be .*: write seqclass.pomdp.EC2\(\)"),
    ],
    ids=str,
)
def test_rules_that_are_no_instances(solver: Solver, message: str) -> None:
    with pytest.raises(TypeError, match=message):
        SequentialClassifier(order="adaptive", solver=solver).fit(X, Y)


class GivesNothing(Solver):
    def solve(self, problem: Any) -> Any:
        return None


def test_a_solver_that_returns_no_policy() -> None:
    message = r"GivesNothing.solve must return a policy, such as FunctionPolicy\(.* it returned None"
    for settings in ({}, {"target_cost": 0.05}, {"order": "adaptive"}):
        with pytest.raises(TypeError, match=message):
            SequentialClassifier(solver=GivesNothing(), **settings).fit(X, Y)
    for order in ("conditional", "adaptive"):
        problem = SequentialClassifier(order=order).fit(X, Y).problem_
        with pytest.raises(TypeError, match=message):
            cost_sweep(problem, [1.0, 2.0], GivesNothing())


class SomeAreNaN(ExpectedSaving):
    def gains(self, info: Any, questions: Any) -> Any:
        return np.where(questions == 2, np.nan, super().gains(info, questions))


class OneForEach(ExpectedSaving):
    def gains(self, info: Any, questions: Any) -> Any:
        return super().gains(info, questions)[:, 0]


class InWords(ExpectedSaving):
    def gains(self, info: Any, questions: Any) -> Any:
        return np.where(super().gains(info, questions) > 0.1, "much", "some")


@pytest.mark.parametrize(
    "rule, message",
    [
        (SomeAreNaN(), "SomeAreNaN.gains is NaN for question 2: it must be a number"),
        (
            OneForEach(),
            r"OneForEach.gains must give numbers .* of shape \(\d+, 4\): .*; it gave float64 of shape \(\d+,\)",
        ),
        (InWords(), r"InWords.gains must give numbers .* of shape \(\d+, 4\): .*; it gave <U4 of shape \(\d+, 4\)"),
    ],
    ids=["NaN", "shape", "texts"],
)
def test_gains_of_an_own_rule(rule: OrderingRule, message: str) -> None:
    for solver in (FirstK(2, rule=rule), Adaptive([rule], max_nodes=0)):
        with pytest.raises(ValueError, match=message):
            SequentialClassifier(order="adaptive", solver=solver).fit(X, Y)


def test_gains_of_what_is_not_open_may_be_anything() -> None:
    class Careless(ExpectedSaving):
        def gains(self, info: Any, questions: Any) -> Any:
            return np.where(info.available[:, questions], super().gains(info, questions), np.nan)

    problem = SequentialClassifier(order="adaptive").fit(X, Y).problem_
    begun = problem.initial_belief(3)
    belief = begun.asking(0).update(np.array([0, 1, 0]))
    assert Careless().next(belief).tolist() == ExpectedSaving().next(belief).tolist()


class OwnModel(NaiveBayes):
    pass


def test_saving_an_own_model(tmp_path: Path) -> None:
    clf = SequentialClassifier(OwnModel()).fit(X, Y)
    with pytest.raises(
        TypeError, match=r"^observation_model: .*OwnModel cannot be saved .*persistence\.register\(cls\)"
    ):
        clf.save(tmp_path / "own.seq")
    register(OwnModel)
    clf.save(tmp_path / "own.seq")


def test_an_order_of_no_name() -> None:
    with pytest.raises(ValueError, match=r"order 'adaptiv' is unknown: .*'adaptive'"):
        SequentialClassifier(order="adaptiv").fit(X, Y)


@pytest.mark.parametrize("clf", [SequentialClassifier(), adaptive()], ids=["sequential", "adaptive"])
def test_attributes_before_fit(clf: Any) -> None:
    for name in ("order_", "policy_", "expected_cost_"):
        assert not hasattr(clf, name)
        with pytest.raises(NotFittedError, match=f"this {type(clf).__name__} has no {name} yet: call its fit first"):
            getattr(clf, name)
    with pytest.raises(NotFittedError, match="not fitted yet"):
        _ = clf.predict(X) if isinstance(clf, SequentialClassifier) else clf.order


NAMES = ["age", "pulse", "fever", "cough"]


@pytest.fixture(scope="module", params=[None, NAMES], ids=["numbers", "names"])
def clf(request: pytest.FixtureRequest) -> Any:
    costs = Costs(0.01, bundles={2: "lab", 3: "lab"})
    rows = X if request.param is None else pd.DataFrame(X, columns=request.param)
    return SequentialClassifier(feature_costs=costs).fit(rows, Y)


def test_features_of_a_session_by_number(clf: Any) -> None:
    name = clf.feature_name
    one, other = clf.session(known={1: 0.5}, first=[0]), clf.session(known={name(1): 0.5}, first=[name(0)])
    for session, columns in ((one, range(4)), (other, [name(j) for j in range(4)])):
        session.observe(columns[0], 2.5)
        session.observe("lab", {columns[2]: 0.1, columns[3]: 0.2})
        session.undo()
        session.unavailable(columns[2])
    assert one.history == other.history
    assert one.training_range(np.int64(0)) == other.training_range(name(0))
    assert one.categories(1) == ()
    assert one.unusual(0, 99) == other.unusual(name(0), 99) != ""
    assert clf.session(known=pd.Series({0: 1.0})).history == clf.session(known={name(0): 1.0}).history
    for wrong in (4, -1):
        with pytest.raises(ValueError, match=f"names {wrong}, which is not a feature; they are 0..3"):
            clf.session().observe(wrong, 1.0)
    with pytest.raises(ValueError, match="told of twice, by its name and by its number"):
        clf.session(known={0: 1.0, name(0): 1.0})
    with pytest.raises(ValueError, match="names True, which is not a feature"):
        clf.session(known={True: 1.0})
    with pytest.raises(TypeError, match=r"known must be a dict of values by feature, .* got \['age'\]"):
        clf.session(known=["age"])
    with pytest.raises(ValueError, match="first must be a list of names, got 0"):
        clf.session(first=0)


def test_features_by_number_or_name_everywhere(clf: Any) -> None:
    name, rows = clf.feature_name, X if not hasattr(clf, "feature_names_in_") else pd.DataFrame(X, columns=NAMES)
    known = clf.acquire(rows, known=[0, name(2)])
    assert known.paid.tolist() == clf.acquire(rows, known=[name(0), 2]).paid.tolist()
    assert known.paid.sum() < clf.acquire(rows).paid.sum()
    costs = Costs({0: 0.1, name(1): 0.2, 2: 0.3, name(3): 0.4})
    mixed = SequentialClassifier(feature_costs=costs, order=[1, name(0)]).fit(rows, Y)
    assert mixed.order_.tolist() == [1, 0]
    assert mixed.agent_.prices.full.tolist() == [0.1, 0.2, 0.3, 0.4]
    for wrong in ("age", 0):
        with pytest.raises(ValueError, match=f"known must be a list of at least one feature, got {wrong!r}"):
            clf.acquire(rows, known=wrong)
    with pytest.raises(ValueError, match=f"feature_costs names feature '{name(0)}' more than once"):
        SequentialClassifier(feature_costs={0: 0.1, name(0): 0.2}).fit(rows, Y)


def test_a_name_that_is_a_number_goes_first() -> None:
    assert check_order([0, "a"], 3, [2, 0, "a"]).tolist() == [1, 2]
    assert Costs({2: 0.1, 0: 0.2, "a": 0.3}).prices(3, [2, 0, "a"]).full.tolist() == [0.1, 0.2, 0.3]


class SumsTo(ObservationModel):
    def __init__(self, total: float = 1.0) -> None:
        self.total = total

    def _fit(self, X: Any, codes: Any, sample_weight: Any) -> None:
        pass

    def _likelihood(self, feature: int, evidence: Any) -> Any:
        n_outcomes = self.n_outcomes_[feature]
        return np.full((len(evidence), n_outcomes, len(self.classes_)), self.total / n_outcomes)


class OfLists(SumsTo):
    def _likelihood(self, feature: int, evidence: Any) -> Any:
        return super()._likelihood(feature, evidence).tolist()


def test_likelihoods_may_be_lists() -> None:
    lists, arrays = (SequentialClassifier(model).fit(X, Y) for model in (OfLists(), SumsTo()))
    assert lists.predict_proba(X).tolist() == arrays.predict_proba(X).tolist()


@pytest.mark.parametrize("order", ["conditional", "adaptive"])
def test_likelihoods_that_do_not_sum_to_one(order: str) -> None:
    for total in (2.0, 1.0015, np.nan):
        with pytest.raises(ValueError, match=rf"^SumsTo\._likelihood must .* does not sum to 1 .* but to {total:g}\.$"):
            SequentialClassifier(SumsTo(total), order=order).fit(X, Y)
        with pytest.raises(AssertionError, match="does not sum to 1"):
            check_observation_model(SumsTo(total), [[0, 1], [1, 0], [1, 1]], ["a", "b", "b"], tolerance=0.1)
    SequentialClassifier(SumsTo(1.0001), order=order).fit(X, Y)


class Shifted(SumsTo):
    """Sums to 1, with ``-total`` for the first outcome."""

    def _likelihood(self, feature: int, evidence: Any) -> Any:
        found = np.full_like(super()._likelihood(feature, evidence), (1 + self.total) / (self.n_outcomes_[feature] - 1))
        found[:, 0] = -self.total
        return found


class Typed(SumsTo):
    def _likelihood(self, feature: int, evidence: Any) -> Any:
        return super()._likelihood(feature, evidence).astype(complex)


@pytest.mark.parametrize("order", ["conditional", "adaptive"])
def test_likelihoods_are_real_and_not_negative(order: str) -> None:
    with pytest.raises(ValueError, match=r"^Shifted\._likelihood must .* nowhere negative; it gave -0\.2\.$"):
        SequentialClassifier(Shifted(0.2), order=order).fit(X, Y)
    with pytest.raises(ValueError, match=r"^Typed\._likelihood must give real numbers, .* it gave complex128\.$"):
        SequentialClassifier(Typed(), order=order).fit(X, Y)
    rounded, exact = (SequentialClassifier(Shifted(below), order=order).fit(X, Y) for below in (1e-9, 0.0))
    assert np.allclose(rounded.predict_proba(X), exact.predict_proba(X))


class Staged(SumsTo):
    """What is wrong is wrong in the staged form alone."""

    def _likelihood(self, feature: int, evidence: Any) -> Any:
        return np.full((len(evidence), self.n_outcomes_[feature], len(self.classes_)), 1 / self.n_outcomes_[feature])

    def stage_likelihood(self, feature: int, state: Any) -> Any:
        return self.total(self._likelihood(feature, state))


@pytest.mark.covering(1)
@pytest.mark.parametrize("order", ["conditional", "adaptive"])
@pytest.mark.parametrize("bundles", [None, ["a", "a", None, None]], ids=["single", "bundle"])
def test_likelihoods_of_stages(order: str, bundles: Any) -> None:
    wrong = {
        "does not sum to 1 over the outcomes but to 2": lambda found: 2 * found,
        "does not sum to 1 over the outcomes but to nan": lambda found: found * np.nan,
        "an array of shape .*: rows, outcomes, classes": lambda found: found[:, :1],
        "real numbers": lambda found: found.astype(str),
    }
    costs = Costs(0.01, bundles=bundles)
    for told, slip in wrong.items():
        with pytest.raises(ValueError, match=rf"^Staged\.stage_likelihood must give .*{told}"):
            SequentialClassifier(Staged(slip), order=order, feature_costs=costs).fit(X, Y)
    SequentialClassifier(Staged(lambda found: found.tolist()), order=order, feature_costs=costs).fit(X, Y)


@pytest.mark.parametrize("order", ["conditional", "adaptive"])
def test_tables_and_contexts_of_an_own_model(order: str) -> None:
    def fitted(**methods: Any) -> SequentialClassifier:
        return SequentialClassifier(type("Own", (SumsTo,), methods)(), order=order).fit(X, Y)

    plain = fitted().model_
    given = np.array([plain.likelihood(j, np.full((1, 4), -1))[0] for j in range(4)])
    for slip, told in {
        lambda tables: tables[:, :, :1]: r"of shape \(\d, n_outcomes, 2\): .* gave float64 of shape \(\d, \d, 1\)",
        lambda tables: tables[:3]: r"of shape \(4, n_outcomes, 2\)",
        lambda tables: tables.astype(str): "it gave <U",
        lambda tables: (2 * tables).tolist(): "likelihoods must sum to 1",
    }.items():
        with pytest.raises(ValueError, match=told):
            fitted(tables=lambda self, order, slip=slip: slip(given[order]))
    assert fitted(tables=lambda self, order: given[order].tolist()).model_.classes_.size == 2
    if order == "conditional":
        for answer in (None, [], [np.array([9])] * 4, ["a"] * 4, [[-1]] * 4):
            with pytest.raises(ValueError, match=r"^Own\.context_features must give a list of 4 arrays, one a stage"):
                fitted(context_features=lambda self, order, answer=answer: answer)


class Answers(Policy):
    def __init__(self, problem: Any, answer: Any) -> None:
        super().__init__(problem)
        self.answer = answer

    def _action(self, info: Any) -> Any:
        return self.answer(info)


def test_answers_of_a_policy_are_one_whole_number_a_row() -> None:
    problem = TableProblem([0.5, 0.5], np.array([[[0.8, 0.3], [0.2, 0.7]]] * 2), prices=0.03)
    asks = evaluate(problem, Answers(problem, lambda info: np.full(len(info), info.stage)))
    for taken in (lambda info: [info.stage] * len(info), lambda info: np.ones(len(info), dtype=bool)):
        assert evaluate(problem, Answers(problem, taken)).cost == asks.cost
    wrong = {
        "int64 of shape (0,)": lambda info: np.zeros(len(info) - 1, dtype=np.int64),  # was a cost of 0
        "int64 of shape (1, 1)": lambda info: np.zeros((len(info), 1), dtype=np.int64),
        "object of shape ()": lambda info: None,
        "float64 of shape (1,)": lambda info: np.full(len(info), np.nan),
    }
    for told, answer in wrong.items():
        for judge in (evaluate, certify):
            with pytest.raises(
                ValueError, match=rf"^Answers\._action must answer one bool or int .* {re.escape(told)}"
            ):
                judge(problem, Answers(problem, answer))


class Obeys(Policy):
    """Asks for all, or what it is told to."""

    def __init__(self, problem: Any, asks: Any = None, n_stages: Any = None) -> None:
        super().__init__(problem, n_stages)
        self.asks = asks

    def _action(self, info: Any) -> Any:
        return np.full(len(info), info.stage if self.asks is None else self.asks)


class Obeying(Solver):
    def __init__(self, *given: Any) -> None:
        self.given = given

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        return {}

    def __sklearn_clone__(self) -> Obeying:
        return self

    def solve(self, problem: Any) -> Policy:
        return Obeys(problem, *self.given)


@pytest.mark.parametrize("order", ["conditional", "adaptive"])
def test_an_own_policy_stays_within_its_problem(order: str) -> None:
    def fitted(*given: Any) -> SequentialClassifier:
        return SequentialClassifier(order=order, solver=Obeying(*given)).fit(X, Y)

    def last(clf: SequentialClassifier) -> Any:
        case = clf.session()
        while (question := case.next_feature) is not None:
            case.unavailable(question.name)
        return case.decision

    def exported(clf: SequentialClassifier) -> Any:
        return clf.decisions_[next(node["decision"] for node in policy_data(clf)["nodes"] if "ask" not in node)]

    ways = [lambda clf: clf.acquire(X[:1]).decision[0], last, lambda clf: clf.explain(X[:1])[0].decision, exported]
    for asked in (9, -7):
        for way in ways:
            with pytest.raises(ValueError, match=f"^the policy asks question {asked} at stage 0"):
                way(fitted(asked))
    for n_stages in (9, -1):
        with pytest.raises(ValueError, match=f"^n_stages must lie between 0 and 4, .* got {n_stages}"):
            fitted(None, n_stages)


def test_a_rule_cannot_change_what_is_believed() -> None:
    def margin(info: Any) -> Any:
        info.probabilities.sort(axis=1)
        return info.probabilities[:, -1] - info.probabilities[:, -2] < 0.5

    problem = TableProblem([0.7, 0.3], np.array([[[0.8, 0.3], [0.2, 0.7]]] * 3), prices=0.02)
    with pytest.raises(ValueError, match="read-only"):
        evaluate(problem, FunctionPolicy(problem, margin))


class Masks(BaseEstimator):
    def __init__(self, mask: Any = None) -> None:
        self.mask = mask

    def fit(self, X: Any, y: Any) -> None:
        """Returns nothing, which is a slip that does no harm."""

    def get_support(self, indices: bool = False) -> Any:
        return np.flatnonzero(self.mask) if indices else self.mask


@pytest.mark.parametrize("mask", [np.ones(2, dtype=bool), np.ones(7, dtype=bool), np.arange(4), np.array([1.0] * 4)])
def test_masks_of_a_selector(mask: Any) -> None:
    message = (
        rf"^selector: Masks.get_support\(\) .* each of the 4 features; it is {mask.dtype} of shape \({len(mask)},\)\.$"
    )
    with pytest.raises(ValueError, match=message):
        SequentialClassifier(selector=Masks(mask)).fit(X, Y)
    kept = SequentialClassifier(selector=Masks(np.array([True, False, True, False]))).fit(X, Y)
    assert kept.support_.tolist() == [0, 2]


@pytest.mark.parametrize("selector", [EFS(2), SelectKBest(chi2, k=2)])
@pytest.mark.parametrize("form", [pd.DataFrame, sp.csr_array])
def test_a_selector_that_fails_on_missing_cells_tells_their_columns(selector: Any, form: Any) -> None:
    table = RNG.integers(0, 3, (80, 3)).astype(float)
    table[::7, 2] = -1 if form is sp.csr_array else np.nan
    given, called = form(table), "2"
    if form is pd.DataFrame:
        given, called = given.set_axis(["fever", "cough", "rash"], axis=1), "'rash'"
    clf = SequentialClassifier(selector=selector, discretizer="precomputed")
    with pytest.raises(ValueError, match=f"^selector {type(selector).__name__} failed, .* given as -1: {called}. Fill"):
        clf.fit(given, Y)


class Rounded(NaiveBayes):
    """Its posterior is off by up to .01."""

    def _posterior(self, evidence: Any) -> Any:
        posterior = super()._posterior(evidence)
        return (1 - 0.01) * posterior + 0.01 / posterior.shape[1]


def test_models_that_are_approximate() -> None:
    rows, labels = RNG.integers(0, 3, size=(40, 4)), RNG.choice(["a", "b"], size=40)
    check_observation_model(Rounded(), rows, labels, tolerance=0.01)
    for tolerance in (0.0, 1e-6):
        with pytest.raises(AssertionError, match=r"does not follow by Bayes|predictive|prior"):
            check_observation_model(Rounded(), rows, labels, tolerance=tolerance)
    with pytest.raises(ValueError, match="tolerance must be between 0"):
        check_observation_model(Rounded(), rows, labels, tolerance=-1)


@pytest.mark.covering(0)
@pytest.mark.parametrize("model", [TreeNetwork(), ClassMixture(random_state=0), ContextBayes(random_state=0)], ids=str)
def test_networks_keep_the_names_of_features(model: Any) -> None:
    pytest.importorskip("pgmpy")
    frame = pd.DataFrame(X, columns=NAMES)
    whole = SequentialClassifier(model).fit(frame, Y)
    assert set(NAMES) < set(whole.model_.to_pgmpy().nodes)
    some = SequentialClassifier(model, selector=Masks(np.array([False, True, True, False]))).fit(frame, Y)
    assert {"pulse", "fever"} == set(some.model_.to_pgmpy().nodes) - {"class", "component"}
    if not isinstance(model, ContextBayes):
        chunks = SequentialClassifier(model).fit_chunks([(frame[:40], Y[:40]), (frame[40:], Y[40:])])
        assert set(NAMES) < set(chunks.model_.to_pgmpy().nodes)
    given = SequentialClassifier(whole.model_, prefit=True, discretizer=whole.coder_.discretizer_)
    assert given.fit(frame.rename(columns=str.upper), Y).model_.feature_names_ == NAMES
    assert SequentialClassifier(model).fit(X, Y).model_.feature_names_ is None


@pytest.mark.parametrize("texts", [[], ["mild", "severe"]], ids=["numbers", "texts"])
def test_frames_of_dask(texts: list[str]) -> None:
    dask = pytest.importorskip("dask.dataframe")
    frame = pd.DataFrame({"age": X[:, 0], "pain": texts * 40 or X[:, 1]})
    clf, parts = etana().fit(frame, Y), dask.from_pandas(frame, npartitions=2)
    for call in (lambda: etana().fit(parts, Y), lambda: clf.predict(parts), lambda: adaptive().fit(parts, Y)):
        with pytest.raises(
            TypeError, match=r"X is a data frame of dask: give X\.compute\(\) .* or see seqclass\.large"
        ):
            call()


@pytest.mark.parametrize("path", ["data.csv", Path("data.csv")], ids=["text", "path"])
def test_a_path_is_no_table(clf: Any, path: Any) -> None:
    for call in (lambda: etana().fit(path, Y), lambda: clf.predict(path), lambda: clf.acquire(path)):
        with pytest.raises(TypeError, match=r"X is .*data\.csv.*: read the table first, as by pandas\.read_csv"):
            call()


def test_what_is_no_policy(clf: Any) -> None:
    problem = clf.problem_
    for call in (evaluate, certify):
        for wrong in (clf, problem, Lookahead(), Lookahead):
            with pytest.raises(TypeError, match=r"policy must be a Policy, such as clf\.policy_ or what solver\.solve"):
                call(problem, wrong)
        with pytest.raises(TypeError, match=r"policy is needed beside a problem: such as what solver\.solve"):
            call(problem, None)


def test_attributes_that_a_setting_brings(clf: Any) -> None:
    for name, how in (("held_out_", r"fit\(X, y, held_out=5\)"), ("calibration_", "calibrate=True")):
        assert not hasattr(clf, name)
        with pytest.raises(AttributeError, match=f"has no attribute '{name}': it comes of {how}"):
            getattr(clf, name)


def test_a_row_is_no_saved_session(clf: Any) -> None:
    with pytest.raises(TypeError, match=r"saved must be the text of a session's to_json\(\), .*; facts go to known="):
        clf.session({clf.feature_name(0): 1.0})


def test_own_solvers_keep_the_settings_that_they_state():
    class Myopic(GivesNothing):
        certificate_paths = 0
        random_state = 3

    class Deep(GivesNothing):
        def __init__(self, depth=2):
            self.depth = depth

    assert (Myopic().certificate_paths, Myopic().random_state, Myopic().get_params()) == (0, 3, {})
    assert Deep(3).get_params() == {"depth": 3}


class Own(Solver):
    """A solver whose policies answer what a function of the state says."""

    def __init__(self, answer: Any = None) -> None:
        self.answer = answer

    def solve(self, problem: Any) -> Any:
        answer = self.answer

        class Rule(Policy):
            def _action(self, info: Any) -> Any:
                return answer(info)

        return Rule(self.answer if isinstance(self.answer, TableProblem) else problem)


@pytest.mark.parametrize(
    ("answer", "order", "message"),
    [
        (
            lambda info: np.ones(len(info)),
            "conditional",
            r"^Rule\._action must answer one bool or int .* got float64 of",
        ),
        (lambda info: np.full((len(info), 1), -1), "adaptive", r"^Rule\._action must answer .* of shape \(1, 1\)\.$"),
        (lambda info: info.probabilities[:, 0] < 2, "adaptive", r"^Rule\._action must name the question to ask"),
        (
            lambda info: np.zeros(len(info), dtype=int),
            "adaptive",
            "^the policy asks 'x0' .* at stage 1, which .* before",
        ),
        (
            TableProblem([0.5, 0.5], np.array([[[0.8, 0.3], [0.2, 0.7]]]), prices=0.1),
            "adaptive",
            r"^solver: Own\.solve",
        ),
    ],
)
def test_what_policies_of_own_solvers_answer(answer: Any, order: str, message: str) -> None:
    def session() -> None:
        case = SequentialClassifier(order=order, solver=Own(answer)).fit(X, Y).session()
        while (question := case.next_feature) is not None:
            case.observe(question.name, 0.0)

    for call in (lambda: SequentialClassifier(order=order, solver=Own(answer)).fit(X, Y).predict(X), session):
        with pytest.raises(ValueError, match=message):
            call()


def test_policies_of_own_solvers_may_answer_yes_or_no() -> None:
    yes, stage = (
        SequentialClassifier(solver=Own(answer)).fit(X, Y).acquire(X).n_features.tolist()
        for answer in (lambda info: info.probabilities.max(axis=1) < 2, lambda info: [info.stage] * len(info))
    )
    assert yes == stage == [X.shape[1]] * len(X)


def test_things_given_in_the_wrong_place() -> None:
    clf = SequentialClassifier().fit(pd.DataFrame(X, columns=list("abcd")), Y)
    rows = pd.DataFrame(X[:2], columns=list("abcd"))
    for error, message, call in [
        (ValueError, r"X must be rows, or the values of one, got 3; row 3 is X\[3:4\]", lambda: clf.explain(3)),
        (TypeError, "known must be a dict of values by feature", lambda: clf.belief(rows)),
        (TypeError, "problem must be .* or a fitted classifier", lambda: reachable_beliefs(rows)),
        (TypeError, r"record must be what clf\.acquire", lambda: DriftTest.from_classifier(clf).update(rows, Y[:2])),
        (TypeError, r"no setting 'held_out': give it to fit\(X, y, held_out=", lambda: etana(held_out=3)),
        (ValueError, "decision_costs must be a data frame .* not a dict", lambda: etana(DICTS).fit(X, Y)),
        (TypeError, "models must be a path, .* got SequentialClassifier", lambda: create_app(clf)),  # type: ignore[arg-type]
    ]:
        with pytest.raises(error, match=message):
            call()


def test_parts_of_names_come_before_names_that_look_alike() -> None:
    clf = SequentialClassifier().fit(pd.DataFrame(X[:, :2], columns=["seconds_fit", "realised_cost"]), Y)
    with pytest.raises(ValueError, match="did you mean 'realised_cost' or 'seconds_fit'"):
        clf.belief({"cost": 1.0})


def test_large_records_show_themselves_in_a_line() -> None:
    clf = SequentialClassifier().fit(X, Y)
    assert repr(clf.agent_).startswith("<Agent: 2 classes, 4 features, <")
    pytest.importorskip("pomdp_py")
    assert re.fullmatch(r"<PomdpPyModels: \d+ states, \d+ actions, .*>", repr(to_pomdp_py(clf.problem_)))
