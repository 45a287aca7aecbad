"""What pandas has by name goes by the names, whatever takes it; `CALLS` has a line for each such parameter.

A new parameter takes a line: what it is called in errors, plain numbers, what each axis is called (None: rows, or what
has no names), and a call that gives numbers back. Rows go by their places, as in scikit-learn: `ROWS` has a line for
whatever takes labels, weights or groups.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from functools import cache
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import pytest
from sklearn.naive_bayes import GaussianNB

from seqclass import Costs, SequentialClassifier
from seqclass.analysis import value_of_information, what_if
from seqclass.bn import ClassMixture, ContextBayes, InformationFilter, NaiveBayes, TreeNetwork
from seqclass.datasets import Dataset
from seqclass.diagnostic import TestTable as Tests  # which pytest would collect
from seqclass.discretize import Discretizer
from seqclass.drift import DriftTest
from seqclass.early import EarlyClassifier
from seqclass.exams import ItemParameters, ItemResponse, SkillProfile, estimate
from seqclass.gym import AcquisitionEnv
from seqclass.metrics import decision_curve, realised_cost, score_rows
from seqclass.offpolicy import estimate_cost
from seqclass.plots import AccuracyFeaturesDisplay, AcquisitionMapDisplay, NetworkDisplay
from seqclass.pomdp import Lookahead, MixtureProblem, TableProblem, optimal_values, simulate, with_names
from seqclass.selection import FCBF, FIRES, nogueira_stability
from seqclass.stats import friedman_test, mean_interval, paired_t_test

pytestmark = pytest.mark.filterwarnings("ignore:X does not have valid feature names")

CLASSES, FEATURES, ITEMS, STEPS = ["a", "b", "c"], ["age", "bmi", "sex"], ["i", "j", "k"], ["t0", "t1", "t2", "t3"]
N, RNG = 45, np.random.default_rng(0)
Y = np.array(CLASSES)[np.arange(N) % 3]
CODES = np.column_stack([(np.arange(N) % 3 + RNG.integers(0, 2, N)) % 3, np.arange(N) % 3 == 1, RNG.integers(0, 2, N)])
X = pd.DataFrame(CODES.astype(float), columns=FEATURES)
VALUES = pd.DataFrame(RNG.normal(size=(N, 3)), columns=FEATURES)
CODED = pd.DataFrame(CODES.astype(int), columns=FEATURES)
SERIES = pd.DataFrame(RNG.normal(size=(N, 4)).cumsum(axis=1) + np.outer(np.arange(N) % 2, np.arange(4)), columns=STEPS)
PRIOR, COSTS = [0.2, 0.3, 0.5], [[0.0, 1.0, 4.0], [2.0, 0.0, 5.0], [3.0, 6.0, 0.0]]
TABLE, BANK = [[0.9, 0.2, 0.4], [0.1, 0.8, 0.6]], {"a": [1.0, 1.5, 0.7], "b": [-1.0, 0.0, 1.0]}
Q = pd.DataFrame([[1, 0], [0, 1], [1, 1]], index=ITEMS, columns=["reads", "writes"])
LOOK = Lookahead(certificate_paths=0)


@cache
def clf() -> SequentialClassifier:
    return SequentialClassifier(order="adaptive", solver=LOOK).fit(X, Y)


@cache
def model() -> NaiveBayes:
    return NaiveBayes().fit(CODED, Y)


@cache
def problem() -> Any:
    tables = np.array([TABLE, [[0.3, 0.6, 0.5], [0.7, 0.4, 0.5]], [[0.1, 0.2, 0.9], [0.9, 0.8, 0.1]]])
    made = TableProblem(PRIOR, tables, [0.1, 0.05, 0.02], any_order=True)
    return with_names(made, FEATURES, classes=CLASSES)


@cache
def policy() -> Any:
    return LOOK.solve(problem())


@cache
def early() -> EarlyClassifier:
    return EarlyClassifier(0.01, GaussianNB(), cv=2).fit(SERIES, np.arange(N) % 2)


@cache
def questions() -> list[str]:
    return clf().problem_.names.questions


def named(plain: Any, labels: list[Any]) -> Any:
    return pd.Series(plain, labels[0]) if np.ndim(plain) == 1 else pd.DataFrame(plain, labels[0], labels[1])


def costs(**settings: Any) -> Any:
    return Costs(**settings).prices(3, FEATURES)


def table_problem(**settings: Any) -> TableProblem:
    given = {
        "prior": pd.Series(PRIOR, CLASSES),
        "likelihoods": [TABLE],
        "prices": 0.1,
        "decision_costs": COSTS,
    } | settings
    return TableProblem(**given)


def priced(**settings: Any) -> TableProblem:
    return TableProblem(PRIOR, [TABLE] * 3, pd.Series([0.1, 0.2, 0.3], FEATURES), **settings)


def learn_items(n_outcomes: Any) -> ItemResponse:
    answers = pd.DataFrame(OUTCOMES, columns=ITEMS)
    return ItemResponse("nominal", cuts=[0.0], tol=9.0, points=9, standard_errors=False).fit(
        answers, n_outcomes=n_outcomes
    )


def dataset(**settings: Any) -> Dataset:
    return Dataset("some", X, np.arange(N) % 3, tuple(CLASSES), tuple(FEATURES), **settings)


def paid_for_steps(step_cost: Any) -> Any:
    return (
        EarlyClassifier(step_cost, GaussianNB(), n_checkpoints=2, cv=2)
        .fit(SERIES[:20], np.arange(20) % 2)
        .decide(SERIES)
        .paid
    )


def bank() -> pd.DataFrame:
    return pd.DataFrame(BANK, ITEMS)


def last_beliefs(observations: Any) -> Any:
    found = simulate(problem(), policy(), observations=observations).acquired
    return found.leaf_belief[found.leaf]


def env(observations: Any) -> Any:
    played = AcquisitionEnv(problem(), observations=observations, true_class=[0])
    played.reset(seed=0)
    return played.step(2)[0]["belief"]


class Call(NamedTuple):
    name: str  # of the parameter in errors
    plain: Any
    axes: list[Any]
    call: Callable[[Any], Any]


def of_tests(**settings: Any) -> Any:
    return Tests(ITEMS, 0.2, **settings).positive


FRACTIONS, PRICES = [0.9, 0.8, 0.7], [0.01, 0.05, 0.2]
OUTCOMES = np.minimum(CODES[:9].astype(int), 1)
CALLS = {
    # classes
    "with_prior": Call("prior", PRIOR, [CLASSES], lambda v: clf().with_prior(v).problem_.prior),
    "what_if-prior": Call(
        "prior", PRIOR, [CLASSES], lambda v: what_if(clf().problem_, clf().policy_, prior=v).after.cost
    ),
    "what_if-costs": Call(
        "decision_costs",
        COSTS,
        [CLASSES, CLASSES],
        lambda v: what_if(clf().problem_, clf().policy_, decision_costs=v).after.cost,
    ),
    "information": Call("belief", PRIOR, [CLASSES], lambda v: value_of_information(clf(), belief=v, max_pairs=0).value),
    "value": Call("belief", PRIOR, [CLASSES], lambda v: policy().value(v)),
    "action_values": Call("belief", PRIOR, [CLASSES], lambda v: policy().action_values(v)),
    "beliefs": Call(
        "belief", [[0.9, 0.05, 0.05], [0.1, 0.3, 0.6]], [None, CLASSES], lambda v: policy().action_values(v)
    ),
    "decide": Call("belief", PRIOR, [CLASSES], lambda v: problem().decide(v)),
    "decides": Call("belief", [[0.9, 0.05, 0.05], [0.1, 0.3, 0.6]], [None, CLASSES], lambda v: problem().decide(v)),
    "stopping_cost": Call(
        "belief", PRIOR, [CLASSES], lambda v: problem().replace(decision_costs=np.array(COSTS)).stopping_cost(v)
    ),
    "optimal_values": Call("belief", PRIOR, [CLASSES], lambda v: optimal_values(problem(), v)),
    "replace-prior": Call("prior", PRIOR, [CLASSES], lambda v: problem().replace(prior=v).prior),
    "replace-costs": Call(
        "decision_costs", COSTS, [CLASSES, CLASSES], lambda v: problem().replace(decision_costs=v).decision_costs
    ),
    "NaiveBayes": Call("prior", PRIOR, [CLASSES], lambda v: NaiveBayes(prior=v).fit(CODED, Y).class_prior_),
    "ContextBayes": Call("prior", PRIOR, [CLASSES], lambda v: ContextBayes(prior=v).fit(CODED, Y).class_prior_),
    "ClassMixture": Call("prior", PRIOR, [CLASSES], lambda v: ClassMixture(1, prior=v).fit(CODED, Y).class_prior_),
    "from_cpds-prior": Call(
        "class_prior", PRIOR, [CLASSES], lambda v: TreeNetwork.from_cpds(CLASSES, v, [[]], [TABLE]).class_prior_
    ),
    "from_cpds-cpd": Call(
        "cpd", TABLE, [None, CLASSES], lambda v: TreeNetwork.from_cpds(CLASSES, PRIOR, [[]], [v]).cpds_[0]
    ),
    "from_tables": Call(
        "class_prior",
        PRIOR,
        [CLASSES],
        lambda v: ClassMixture.from_tables(CLASSES, v, [0, 1, 2], [1] * 3, [TABLE]).class_prior_,
    ),
    "from_tables-weights": Call(
        "weights",
        [0.25, 0.75, 1.0],
        [ITEMS],
        lambda v: ClassMixture.from_tables([0, 1], [0.5, 0.5], pd.Series([0, 0, 1], ITEMS), v, [TABLE]).weights_,
    ),
    "tests-prior": Call(
        "prior", PRIOR, [CLASSES], lambda v: Tests(["t"], v, positive=[[0.1, 0.2, 0.3]], classes=CLASSES).prior
    ),
    "tests-positive": Call(
        "positive",
        TABLE,
        [["t", "u"], CLASSES],
        lambda v: Tests(["t", "u"], PRIOR, positive=v, classes=CLASSES).positive,
    ),
    "network": Call("prior", PRIOR, [CLASSES], lambda v: NetworkDisplay(model(), prior=v).posterior),
    "items-prior": Call(
        "prior",
        PRIOR,
        [CLASSES],
        lambda v: ItemResponse.from_items(BANK, cuts=[-0.5, 0.5], labels=CLASSES, prior=v).class_prior_,
    ),
    "items-weights": Call(
        "weights",
        PRIOR,
        [[-1.0, 0.0, 1.5]],
        lambda v: ItemResponse.from_items(BANK, cuts=[-0.5, 0.5], points=[-1.0, 0.0, 1.5], weights=v).class_prior_,
    ),
    "profile_prior": Call(
        "profile_prior",
        [0.1, 0.2, 0.3, 0.4],
        [["00", "01", "10", "11"]],
        lambda v: SkillProfile.from_items(Q, 0.2, 0.1, profile_prior=v).class_prior_,
    ),
    "problem-costs": Call(
        "decision_costs", COSTS, [CLASSES, None], lambda v: table_problem(decision_costs=v).decision_costs
    ),
    "problem-decisions": Call(
        "decision_costs",
        COSTS,
        [CLASSES, CLASSES],
        lambda v: table_problem(prior=PRIOR, decision_costs=v.loc[CLASSES] if hasattr(v, "loc") else v).decision_costs,
    ),
    "problem-tables": Call(
        "likelihoods", TABLE, [None, CLASSES], lambda v: table_problem(likelihoods=[v]).likelihoods[0]
    ),
    "hidden_class": Call(
        "hidden_class", [0, 1, 1], [ITEMS], lambda v: MixtureProblem(pd.Series(PRIOR, ITEMS), v, [TABLE], 0.1).prior
    ),
    "mixture-tables": Call(
        "likelihoods",
        TABLE,
        [None, ITEMS],
        lambda v: MixtureProblem(pd.Series(PRIOR, ITEMS), [0, 1, 1], [v], 0.1).likelihoods,
    ),
    "costs": Call(
        "decision_costs",
        COSTS,
        [CLASSES, CLASSES],
        lambda v: Costs(decision_costs=v).of_decisions(np.array(CLASSES))[0],
    ),
    "realised_cost": Call(
        "decision_costs",
        COSTS,
        [CLASSES, CLASSES],
        lambda v: realised_cost(["a"], ["b"], 0, decision_costs=v, classes=CLASSES),
    ),
    "score_rows": Call(
        "decision_costs", COSTS, [CLASSES, CLASSES], lambda v: score_rows(clf(), X, Y, decision_costs=v).realised_cost
    ),
    "DriftTest": Call("decision_costs", COSTS, [CLASSES, CLASSES], lambda v: DriftTest(v, CLASSES).decision_costs),
    "map": Call("share", TABLE, [["x", "y"], FEATURES], lambda v: AcquisitionMapDisplay(v, FEATURES, ["x", "y"]).share),
    # features, questions, items, steps
    "feature_costs": Call("feature_costs", PRICES, [FEATURES], lambda v: costs(feature_costs=v).full),
    "discounts": Call(
        "discounted_costs",
        PRICES,
        [FEATURES],
        lambda v: costs(feature_costs=1.0, groups=["g"] * 3, discounted_costs=v).discounted,
    ),
    "delays": Call("delays", PRICES, [FEATURES], lambda v: costs(delays=v, delay_cost=1.0).visits.delays),
    "what_if-prices": Call(
        "question|prices", PRICES, [questions], lambda v: what_if(clf().problem_, clf().policy_, prices=v).after.cost
    ),
    "replace-prices": Call("prices", PRICES, [FEATURES], lambda v: problem().replace(prices=v).prices),
    "problem-full": Call("full_prices", [0.4, 0.5, 0.6], [FEATURES], lambda v: priced(full_prices=v).full_prices),
    "problem-groups": Call("groups", [0, 0, 1], [FEATURES], lambda v: priced(groups=v).groups),
    "exponents": Call(
        "exponents", [1.0, 0.5, 0.2], [FEATURES], lambda v: model().with_exponents(v).posterior(CODES * 1)
    ),
    "n_outcomes": Call(
        "n_outcomes", [3, 4, 5], [FEATURES], lambda v: NaiveBayes().fit(CODED, Y, n_outcomes=v).n_outcomes_
    ),
    "partial_fit": Call(
        "n_outcomes",
        [3, 4, 5],
        [FEATURES],
        lambda v: NaiveBayes().partial_fit(CODED, Y, classes=CLASSES, n_outcomes=v).n_outcomes_,
    ),
    "items-n_outcomes": Call(
        "n_outcomes",
        [2, 3, 4],
        [ITEMS],
        lambda v: learn_items(v).n_outcomes_,
    ),
    "n_bins": Call("n_bins", [2, 3, 5], [FEATURES], lambda v: Discretizer(v).fit(VALUES).n_outcomes_),
    "step_cost": Call("step_cost", [0.01, 0.0, 0.02, 9.0], [STEPS], paid_for_steps),
    "price": Call(
        "feature_costs", [0.001, 0.01, 0.1], [ITEMS], lambda v: estimate(bank(), price=v).classifier.problem_.prices
    ),
    "bank": Call(
        "table",
        [-1.0, 0.0, 1.0],
        [ITEMS],
        lambda v: ItemParameters.from_table({"a": pd.Series([1.0, 1.5, 0.7], ITEMS), "b": v}).intercepts,
    ),
    "guess": Call("guess", [0.1, 0.2, 0.3], [ITEMS], lambda v: SkillProfile.from_items(Q, v, 0.1).guess_),
    "sensitivity": Call("sensitivity", FRACTIONS, [ITEMS], lambda v: of_tests(sensitivity=v, specificity=FRACTIONS)),
    "specificity": Call("specificity", FRACTIONS, [ITEMS], lambda v: of_tests(sensitivity=FRACTIONS, specificity=v)),
    "lr_positive": Call(
        "lr_positive", [9.0, 3.0, 2.0], [ITEMS], lambda v: of_tests(lr_positive=v, lr_negative=[0.1, 0.2, 0.5])
    ),
    "lr_negative": Call(
        "lr_negative", [0.1, 0.2, 0.5], [ITEMS], lambda v: of_tests(lr_positive=[9.0, 3.0, 2.0], lr_negative=v)
    ),
    "supports": Call(
        "support",
        [True, False, True],
        [FEATURES],
        lambda v: nogueira_stability([pd.Series([True, True, False], FEATURES), v]).value,
    ),
    "dataset": Call("feature_costs", PRICES, [FEATURES], lambda v: dataset(feature_costs=v).feature_costs),
    "dataset-costs": Call(
        "decision_costs", COSTS, [CLASSES, CLASSES], lambda v: dataset(decision_costs=v).decision_costs
    ),
    "series": Call("values", SERIES.iloc[0].tolist(), [STEPS], lambda v: early().session(v).posterior),
    # scores and points
    "pairs": Call(
        "b", [1.0, 2.0, 4.0], [CLASSES], lambda v: paired_t_test(pd.Series([0.1, 0.4, 0.2], CLASSES), v).p_value
    ),
    "pair-weights": Call(
        "weights",
        [1.0, 2.0, 3.0],
        [CLASSES],
        lambda v: paired_t_test(pd.Series([0.1, 0.4, 0.2], CLASSES), [0.3, 0.2, 0.9], weights=v).difference,
    ),
    "mean-weights": Call(
        "weights",
        [1.0, 2.0, 3.0],
        [CLASSES],
        lambda v: mean_interval(pd.Series([0.1, 0.4, 0.2], CLASSES), weights=v).mean,
    ),
    "scores": Call(
        "scores",
        [[1.0, 2.0, 3.0], [1.5, 3.5, 2.5], [0.0, 1.0, 2.0]],
        [None, CLASSES],
        lambda v: friedman_test(v, names=CLASSES).average_ranks,
    ),
    "points": Call(
        "mean_features",
        [1.0, 2.0, 3.0],
        [CLASSES],
        lambda v: AccuracyFeaturesDisplay(CLASSES, v, FRACTIONS).mean_features,
    ),
    "accuracy": Call("accuracy", FRACTIONS, [CLASSES], lambda v: AccuracyFeaturesDisplay(CLASSES, PRICES, v).accuracy),
    # rows by their columns
    "predict": Call("X", X, [None, FEATURES], lambda v: clf().predict_proba(v)),
    "acquire": Call("X", X, [None, FEATURES], lambda v: clf().acquire(v).posterior),
    "encode": Call("X", X, [None, FEATURES], lambda v: clf().encode(v).codes),
    "known": Call(
        "known", np.tile([True, False, False], (N, 1)), [None, FEATURES], lambda v: clf().next_question(X, v)
    ),
    "scored": Call("X", X, [None, FEATURES], lambda v: score_rows(clf(), v, Y).realised_cost),
    "posterior": Call("data frame", CODED, [None, FEATURES], lambda v: model().posterior(v)),
    "tree": Call(
        "data frame",
        OUTCOMES,
        [None, FEATURES],
        lambda v: TreeNetwork.from_cpds(
            CLASSES, PRIOR, [[]] * 3, list(problem().likelihoods), feature_names=FEATURES
        ).posterior(v),
    ),
    "simulate": Call(
        "observations|question",
        OUTCOMES,
        [None, FEATURES],
        last_beliefs,
    ),
    "env": Call("observations|question", [[1, 0, 0]], [None, FEATURES], env),
    "Discretizer": Call("feature names", VALUES, [None, FEATURES], lambda v: Discretizer(2).fit(VALUES).transform(v)),
    "filter": Call(
        "feature names", CODED, [None, FEATURES], lambda v: InformationFilter(0.0).fit(CODED, Y).transform(v)
    ),
    "selector": Call("feature names", CODED, [None, FEATURES], lambda v: FCBF().fit(CODED, Y).transform(v)),
    "early": Call("X", SERIES, [None, STEPS], lambda v: early().decide(v).n_steps),
    "ability": Call(
        "evidence", OUTCOMES, [None, ITEMS], lambda v: ItemResponse.from_items(bank(), cuts=[0.0]).ability(v)[0]
    ),
    "mastery": Call("evidence", OUTCOMES, [None, ITEMS], lambda v: SkillProfile.from_items(Q, 0.2, 0.1).mastery(v)),
    "recording": Call(
        "recording",
        np.tile(FRACTIONS, (N, 1)),
        [None, FEATURES],
        lambda v: estimate_cost(clf(), X, Y, recording=v, allow_seen=True).cost,
    ),
}

#: What refuses columns in another order, as scikit-learn does.
REFUSED = {"known", "Discretizer", "filter", "selector"}
#: What goes by the labels only where they are those of other scores, and decisions, which may have any names.
LOOSE = {"pairs", "pair-weights", "mean-weights", "scores", "problem-decisions"}
#: What is not checked, and rows, of which masked cells are missing.
UNMASKED = {"dataset", "dataset-costs", "series", "replace-prior", "replace-costs", "replace-prices", "pairs", "scores"}


def roll(call: Call, n: int) -> tuple[Any, list[Any]]:
    """Plain numbers in another order, and the labels in the same one."""
    plain, labels = np.asarray(call.plain), [axis() if callable(axis) else axis for axis in call.axes]
    for axis, own in enumerate(labels):
        plain = plain if own is None else np.roll(plain, n, axis)
    return plain, [None if own is None else [*own[-n:], *own[:-n]] for own in labels]


def same(one: Any, other: Any) -> bool:
    one, other = np.asarray(one), np.asarray(other)
    if "O" in one.dtype.char + other.dtype.char:
        return one.tolist() == other.tolist()
    return one.shape == other.shape and bool(np.allclose(one, other, rtol=1e-12, atol=0))


@pytest.mark.parametrize("what", CALLS)
def test_what_has_names_goes_by_these(what: str) -> None:
    call = CALLS[what]
    (plain, labels), wanted = roll(call, 1), call.call(np.asarray(call.plain))
    nullable = {"f": "Float64", "b": "boolean", "i": "Int64"}[plain.dtype.kind]
    given = [named(plain, labels), named(plain, labels).astype(nullable)]
    for value in given[: 1 if what in ("posterior", "tree") else 2]:  # these are for numbers of numpy
        if what in REFUSED:
            with pytest.raises(ValueError, match=call.name):
                call.call(value)
        else:
            assert same(call.call(value), wanted), value
    assert same(call.call(named(*roll(call, 0))), wanted)
    with suppress(ValueError):
        assert not same(call.call(plain), wanted)  # or the test could not fail


@pytest.mark.parametrize("what", [what for what in CALLS if what not in LOOSE])
def test_names_that_are_none_or_come_twice_are_told(what: str) -> None:
    call = CALLS[what]
    plain, labels = roll(call, 1)
    axis = len(labels) - 1 if labels[-1] is not None else 0
    for last in ("other", labels[axis][0]):
        own = [*labels[axis][:-1], last]
        with pytest.raises((ValueError, TypeError), match=f"(?i){call.name}|column"):
            call.call(named(plain, [*labels[:axis], own, *labels[axis + 1 :]]))


@pytest.mark.parametrize("what", [what for what, call in CALLS.items() if what not in UNMASKED and call.axes[0]])
def test_masked_numbers_are_told(what: str) -> None:
    call = CALLS[what]
    plain = np.asarray(call.plain)
    masked = np.ma.array(plain, mask=np.arange(plain.size).reshape(plain.shape) == 0)
    with pytest.raises(ValueError, match=f"({call.name}|prices).* masked"):
        call.call(masked)


def rows() -> tuple[pd.DataFrame, Any, Any, Any]:
    """Rows, labels, weights and groups."""
    return X, Y, 0.1 + np.arange(N) / N, np.array(["u", "v"])[np.arange(N) // 7 % 2]


ROWS: dict[str, Callable[[Any, Any, Any, Any], Any]] = {
    "fit": lambda X, y, w, g: SequentialClassifier(order="adaptive", solver=LOOK).fit(X, y, w).predict_proba(X),
    "score": lambda X, y, w, g: clf().score(X, y, w),
    "NaiveBayes": lambda X, y, w, g: NaiveBayes().fit(X.astype(int), y, w).posterior(CODED),
    "TreeNetwork": lambda X, y, w, g: TreeNetwork().fit(X.astype(int), y, w).posterior(CODED),
    "Discretizer": lambda X, y, w, g: Discretizer(strategy="mdlp").fit(VALUES, y).bin_edges_,
    "filter": lambda X, y, w, g: InformationFilter(0.1).fit(X.astype(int), y).transform(X.astype(int)),
    "FCBF": lambda X, y, w, g: FCBF().fit(X, y).get_support(),
    "FIRES": lambda X, y, w, g: FIRES().fit(X, y).get_support(),
    "early": lambda X, y, w, g: EarlyClassifier(estimator=GaussianNB(), n_checkpoints=1, cv=2).fit(X, y).expected_cost_,
    "realised_cost": lambda X, y, w, g: realised_cost(y, np.roll(Y, 1), w, sample_weight=w),
    "decisions": lambda X, y, w, g: realised_cost(np.roll(Y, 1), y, w, sample_weight=w),
    "groups": lambda X, y, w, g: [of.realised_cost for of in score_rows(clf(), X, y, groups=g).groups],
    "curve": lambda X, y, w, g: decision_curve(y, w / 2, positive="a", price=w, sample_weight=w).net_benefit,
    "true_class": lambda X, y, w, g: simulate(clf(), observations=X, true_class=y).true_class,
    "drift": lambda X, y, w, g: DriftTest.from_classifier(clf(), X, y).margin,
    "offpolicy": lambda X, y, w, g: estimate_cost(clf(), X, y, recording=np.full((N, 3), 0.9), allow_seen=True).cost,
}


@pytest.mark.parametrize("what", ROWS)
def test_rows_go_by_their_places_whatever_their_labels(what: str) -> None:
    X, y, weight, groups = rows()
    wanted, shuffled = ROWS[what](X, y, weight, groups), np.random.default_rng(1).permutation(N)
    assert same(ROWS[what](X, *(pd.Series(one, shuffled) for one in (y, weight, groups))), wanted)
    together = [pd.Series(one, shuffled).sample(frac=1, random_state=0) for one in (y, weight, groups)]
    plain = [one.to_numpy() for one in together]
    rows_ = X.set_index(shuffled).sample(frac=1, random_state=0)
    assert same(ROWS[what](rows_, *together), ROWS[what](rows_.reset_index(drop=True), *plain))


def test_rows_in_a_list_go_by_their_names() -> None:
    mixed = [row if i % 2 else row[["sex", "age", "bmi"]] for i, (_, row) in enumerate(X.iterrows())]
    np.testing.assert_array_equal(clf().predict_proba(mixed), clf().predict_proba(X))
    fitted = SequentialClassifier(order="adaptive", solver=LOOK).fit(mixed, Y)
    np.testing.assert_array_equal(fitted.predict_proba(X), clf().predict_proba(X))
    codes = [row[["sex", "age", "bmi"]] for _, row in CODED.iterrows()]
    np.testing.assert_array_equal(model().posterior(codes), model().posterior(CODED))
    cases = [row[["sex", "age", "bmi"]] for _, row in pd.DataFrame(OUTCOMES, columns=FEATURES).iterrows()]
    np.testing.assert_array_equal(last_beliefs(cases), last_beliefs(OUTCOMES))


def test_answers_in_a_series_go_by_their_names() -> None:
    start, fixed = problem().initial_belief(), problem().replace(any_order=False).initial_belief()
    told = pd.Series({"bmi": 1, "age": 0})
    assert same(start.update(told).probabilities, start.update(told.to_dict()).probabilities)
    with pytest.raises(ValueError, match="'bmi' is not next"):  # it was taken for the answer to what came next
        fixed.update(pd.Series({"bmi": 1}))
    with pytest.raises(ValueError, match="update has more than one entry called 'bmi'"):
        start.update(pd.Series([0, 1], ["bmi", "bmi"]))
    two = problem().initial_belief(2)
    assert same(two.update("bmi", pd.Series([0, 1], [1, 0])).probabilities, two.update("bmi", [0, 1]).probabilities)


def test_what_comes_back_has_the_index_of_the_rows() -> None:
    called = [f"row {i}" for i in range(N)]
    answers = pd.DataFrame(OUTCOMES, called[:9], ITEMS)
    plan = estimate(bank(), max_items=2, target="ability")
    for made in (clf().acquire(X.set_axis(called)), early().decide(SERIES.set_axis(called))):
        assert made.to_frame().index.tolist() == called
    for made in (plan.scores(answers), plan.acquire(answers)):
        assert made.to_frame().index.tolist() == called[:9]
        assert answers.index.name is None
    assert ItemParameters.from_table({"a": pd.Series([1.0, 2.0], ["i", "j"]), "b": [0.0, 1.0]}).names == ("i", "j")


def test_a_classifier_calls_columns_as_the_model_that_it_is_made_of() -> None:
    made = SequentialClassifier.from_model(model(), feature_costs=pd.Series(PRICES, FEATURES)[["sex", "age", "bmi"]])
    assert made.problem_.names.questions == FEATURES
    assert made.problem_.prices.tolist() == PRICES
    np.testing.assert_array_equal(made.predict_proba(CODED[["sex", "age", "bmi"]]), made.predict_proba(CODED))
    first = NaiveBayes().partial_fit(CODED[:20], Y[:20], classes=CLASSES, n_outcomes=3)
    first.partial_fit(CODED[20:], Y[20:])
    rows = [row[["sex", "age", "bmi"]] for _, row in CODED[20:].iterrows()]
    other = NaiveBayes().partial_fit(CODED[:20], Y[:20], classes=CLASSES, n_outcomes=3).partial_fit(rows, Y[20:])
    np.testing.assert_array_equal(first.posterior(CODED), other.posterior(CODED))


def test_polars_names_columns() -> None:
    polars = pytest.importorskip("polars")

    def turned(plain: Any, names: list[str]) -> Any:
        columns = np.asarray(plain).T.tolist()
        return polars.DataFrame(dict(zip(names[::-1], columns[::-1])))

    wanted = Costs(decision_costs=COSTS).of_decisions(np.array(CLASSES))[0]
    assert same(Costs(decision_costs=turned(COSTS, CLASSES)).of_decisions(np.array(CLASSES))[0], wanted)
    for what, names in (("beliefs", CLASSES), ("predict", FEATURES), ("simulate", FEATURES), ("recording", FEATURES)):
        call = CALLS[what]
        assert same(call.call(turned(call.plain, names)), call.call(np.asarray(call.plain))), what
