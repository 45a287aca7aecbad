"""What to ask next, from what is known alone: call by call the same as acquiring at once."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

from seqclass import Costs, SequentialClassifier
from seqclass.bn import ClassMixture, NaiveBayes, TreeNetwork
from seqclass.pomdp import Adaptive, ClassInformation, FirstK, GridValueIteration, HiddenInformation, Lookahead

RNG = np.random.default_rng(0)
Y = RNG.integers(0, 2, 200)
X = np.round(
    RNG.normal(size=(200, 6)) + np.array([0.3, 1.5, 0.0, 0.8, 1.2, 0.5]) * (Y + RNG.integers(0, 2, 200))[:, None], 1
)
HOLES = np.where(RNG.random(X.shape) < 0.15, np.nan, X)
FAST = Adaptive([HiddenInformation()], max_nodes=0, n_paths=60, n_cases=40, max_rounds=0, certificate_paths=0)
GROUPS = {"feature_costs": Costs(groups=["a", "a", None, "b", "b", None], discounted_costs=0.005)}
SETTINGS: dict[str, dict[str, Any]] = {
    "any order": {"observation_model": ClassMixture(2, random_state=0), "solver": FAST, "order": "adaptive"},
    "any order, bundles": {
        "feature_costs": Costs(bundles=["a", "a", None, "b", "b", None]),
        "observation_model": ClassMixture(2, random_state=0),
        "solver": FAST,
        "order": "adaptive",
    },
    "by a rule": {"solver": FirstK(None, rule=ClassInformation(), certificate_paths=0), "order": "adaptive"},
    "prices in groups": {"solver": Lookahead(1, certificate_paths=0), "order": "adaptive", **GROUPS},
    "within a budget": {"solver": Lookahead(2, certificate_paths=0), "order": "adaptive", "max_features": 2},
    "so much at most": {"solver": Lookahead(1, certificate_paths=0), "order": "adaptive", "max_cost": 0.045},
    "a visit each": {
        "feature_costs": Costs(0.01, visit_cost=0.01, max_panel=1),
        "order": "adaptive",
        "solver": Lookahead(1, certificate_paths=0),
        "max_cost": 0.045,
    },
    "one order": {"observation_model": NaiveBayes(), "solver": GridValueIteration()},
    "one order, a tree": {"observation_model": TreeNetwork(), "solver": Lookahead(2, certificate_paths=0), **GROUPS},
    "one order, bundles": {
        "feature_costs": Costs(bundles=["a", "a", None, "b", "b", None]),
        "solver": Lookahead(2, certificate_paths=0),
    },
    "missing is paid": {
        "feature_costs": Costs(charge_missing=True),
        "order": "adaptive",
        "solver": Lookahead(1, certificate_paths=0),
        **GROUPS,
    },
}


def fit(**settings: Any) -> SequentialClassifier:
    return SequentialClassifier(**{"feature_costs": 0.02} | settings).fit(HOLES, Y)


def asked_one_by_one(clf: SequentialClassifier, data: Any, budget: int | None) -> list[list[int]]:
    """As a pipeline does, which shows zeros for what is not known."""
    known, found = np.zeros(data.shape, dtype=bool), [[] for _ in range(len(data))]
    bundle = np.arange(6) if clf.agent_.prices.bundles is None else np.array([0, 0, 2, 3, 3, 5])
    for _ in range(8):
        question = clf.next_question(np.where(known, data, 0.0), known, budget=budget)
        for row, column in enumerate(question.tolist()):
            if column >= 0:
                assert not known[row, column]
                found[row].append(column)
                known[row, bundle == bundle[column]] = True
    assert (question == -1).all()
    return found


@pytest.mark.covering(1)
@pytest.mark.parametrize("budget", [None, 3])
@pytest.mark.parametrize("name", SETTINGS)
def test_call_by_call_it_asks_what_acquire_asks(name: str, budget: int | None) -> None:
    clf = fit(**SETTINGS[name])
    order = clf.acquire(HOLES, budget=budget).order
    assert asked_one_by_one(clf, HOLES, budget) == [[j for j in row if j >= 0] for row in order.tolist()]


@pytest.mark.covering(1)
@pytest.mark.parametrize("budget", [None, 2])
@pytest.mark.parametrize(
    "name",
    ["any order", "any order, bundles", "within a budget", "so much at most", "a visit each", "one order"],
)
def test_what_is_known_of_every_case_costs_nothing_and_does_not_count(name: str, budget: int | None) -> None:
    clf = fit(**SETTINGS[name], known=[2, 5])
    order = clf.acquire(HOLES, budget=budget).order
    assert (order >= 0).any()
    known, bundle = np.zeros(HOLES.shape, dtype=bool), np.array([0, 0, 2, 3, 3, 5])
    known[:, [2, 5]] = True
    for asked in [*order.T, np.full(len(HOLES), -1)]:
        np.testing.assert_array_equal(clf.next_question(HOLES, known, budget=budget), asked)
        for row, column in enumerate(asked.tolist()):
            known[row, bundle == bundle[column] if "bundles" in name else column] |= column >= 0


def test_answers_out_of_turn_lead_all_rows_where_a_live_case_goes() -> None:
    clf = fit(observation_model=NaiveBayes(), solver=Lookahead(2, certificate_paths=0))
    known = np.random.default_rng(1).random(X.shape) < 0.4
    together = clf.next_question(X, known)
    np.testing.assert_array_equal([clf.next_question(X[[i]], known[[i]])[0] for i in range(40, 60)], together[40:60])
    expected = []
    for row, told in zip(X[:20], known):
        case = clf.session()
        for column in np.flatnonzero(told).tolist():
            case.observe(f"x{column}", row[column])
        expected.append(-1 if case.next_feature is None else case.next_feature.column)
    assert len(set(expected)) > 2
    np.testing.assert_array_equal(together[:20], expected)


def test_without_a_mask_what_is_not_missing_is_known() -> None:
    clf = fit(**SETTINGS["any order"])
    known = RNG.random(X.shape) < 0.4
    masked = np.where(known, X, np.nan)
    expected = clf.next_question(X, known)
    np.testing.assert_array_equal(clf.next_question(masked), expected)
    np.testing.assert_array_equal(clf.next_question(pd.DataFrame(masked).to_numpy()), expected)
    thin = SequentialClassifier(**SETTINGS["any order"]).fit(sparse.csr_array(X), Y)
    dense = thin.next_question(X, known)
    np.testing.assert_array_equal(thin.next_question(sparse.csr_array(X), known), dense)
    # where prices do not matter it is what `acquire` asks first of what is known for nothing
    first = clf.acquire(masked, known=range(6), budget=1).order[:, 0]
    np.testing.assert_array_equal(clf.next_question(masked, budget=7), first)
    assert (clf.next_question(X) == -1).all()


def test_names_and_selected_columns() -> None:
    frame = pd.DataFrame(X, columns=list("abcdef")).assign(kind=pd.Categorical(np.where(Y, "x", "y")))
    clf = SequentialClassifier(order="adaptive", solver=Lookahead(1, certificate_paths=0)).fit(frame, Y)
    known = np.zeros(frame.shape, dtype=bool)
    assert (clf.next_question(frame, known) == 6).all()
    known[:, 6] = True
    assert (clf.next_question(frame, known) == -1).all()


def test_refusals() -> None:
    clf = fit(**SETTINGS["one order"])
    with pytest.raises(ValueError, match=r"known must be a mask of bool of the shape of X, \(200, 6\); got int"):
        clf.next_question(X, np.ones((200, 6), dtype=int))
    with pytest.raises(ValueError, match=r"got bool of shape \(200, 5\)"):
        clf.next_question(X, np.ones((200, 5), dtype=bool))
    with pytest.raises(ValueError, match="budget"):
        clf.next_question(X, budget=-1)
    lots = fit(solver=GridValueIteration(), target_cost=0.021)
    assert len(lots.policy_.initial_belief()[0]) == 2
    with pytest.raises(ValueError, match="drawn by lot"):
        lots.next_question(X)
