"""What one sees at the prompt: readable forms of live cases, problems and policies, and tables of results."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_iris

import seqclass.pomdp
from seqclass import SequentialClassifier, certify_error
from seqclass.bn import TreeNetwork
from seqclass.pomdp import StoppingValue, TableProblem, certify, dual_bound
from seqclass.pomdp.policy import LookaheadPolicy


@pytest.fixture(scope="module")
def data() -> tuple[pd.DataFrame, pd.Series]:
    return load_iris(return_X_y=True, as_frame=True)  # type: ignore[no-any-return]


@pytest.fixture(scope="module")
def clf(data: tuple[pd.DataFrame, pd.Series]) -> SequentialClassifier:
    return SequentialClassifier(feature_costs=0.02).fit(*data)


def test_a_session_tells_where_it_stands(clf: SequentialClassifier) -> None:
    case = clf.session()
    assert repr(case) == "<Session: 0 acquired, 0 paid; 0 33.3%, 1 33.3%, 2 33.3%>"
    first = case.next_feature
    assert first is not None
    assert str(case).endswith(f"; next: ask {first.name} (price 0.02)")
    case.observe(first.name, 0.1)
    assert repr(case).startswith("<Session: 1 acquired, 0.02 paid; 0 9")
    assert str(case).endswith("; next: decide 0")
    history = case.history
    assert (repr(case), case.history) == (repr(case), history)  # looking changes nothing


def test_a_problem_tells_its_size(clf: SequentialClassifier, data: tuple[pd.DataFrame, pd.Series]) -> None:
    assert repr(clf.problem_) == "<TableProblem: 3 classes, 3 decisions, 4 questions in one order at 0.02>"
    prices = [0.01, 0.02, 0.03, 0.04]
    any_order = SequentialClassifier(TreeNetwork(), order="adaptive", feature_costs=prices).fit(*data).problem_
    assert (
        repr(any_order)
        == f"<{type(any_order).__name__}: 3 classes, 3 decisions, 4 questions in any order at 0.01 to 0.04>"
    )
    single = TableProblem([0.5, 0.5], np.array([[[0.9, 0.2], [0.1, 0.8]]]), 0.1, [[0.3], [0.3]])
    assert repr(single) == "<TableProblem: 2 classes, 1 decision, 1 question in one order at 0.1>"
    nothing = TableProblem([0.5, 0.5], np.empty((0, 2, 2)), 0.1)
    assert repr(nothing) == "<TableProblem: 2 classes, 2 decisions, 0 questions in one order>"


def test_a_policy_tells_what_it_asks_and_costs(clf: SequentialClassifier) -> None:
    info = clf.policy_.info
    text = repr(clf.policy_)
    assert text.startswith(f"<{type(clf.policy_).__name__}: at most {clf.policy_.n_stages} of 4 questions in one order")
    assert text.endswith(f"; {info.status}, costs {info.lower:.4g} to {info.upper:.4g}, gap {info.gap:.1%}>")
    myopic = LookaheadPolicy(StoppingValue(clf.problem_))
    assert repr(myopic).endswith("at most 4 of 4 questions in one order>")


def test_a_record_as_a_table(clf: SequentialClassifier, data: tuple[pd.DataFrame, pd.Series]) -> None:
    record = clf.acquire(data[0])
    plain, named = record.to_frame(), record.to_frame(["s", "ve", "vi"], clf.feature_names_in_)
    assert list(plain.columns) == ["decision", "n_features", "paid", "asked", "P(0)", "P(1)", "P(2)"]
    assert list(named.columns[-3:]) == ["P(s)", "P(ve)", "P(vi)"]
    np.testing.assert_array_equal(plain[["P(0)", "P(1)", "P(2)"]], record.posterior)
    np.testing.assert_array_equal(plain["paid"], record.paid)
    for i in (0, 70):
        asked = [j for j in record.order[i].tolist() if j >= 0]
        assert plain["asked"][i] == tuple(clf.feature_names_in_[asked])
        assert named["asked"][i] == tuple(clf.feature_names_in_[asked])
    assert plain["asked"].map(len).nunique() > 1  # some stop before the others
    assert record.to_frame().dtypes["n_features"].kind == "i"
    nothing = SequentialClassifier(feature_costs=5.0).fit(*data).acquire(data[0][:2]).to_frame()
    assert nothing["asked"].tolist() == [(), ()]


def test_an_explanation_as_a_table(clf: SequentialClassifier, data: tuple[pd.DataFrame, pd.Series]) -> None:
    told = clf.explain(data[0].iloc[[70]])[0]
    frame = told.to_frame()
    assert frame["name"].tolist() == [step.name for step in told.steps]
    np.testing.assert_allclose(frame[["P(0)", "P(1)", "P(2)"]], told.beliefs[1:])
    assert frame["paid"].sum() == pytest.approx(told.paid)
    nothing = SequentialClassifier(feature_costs=5.0).fit(*data).explain(data[0].iloc[[0]])[0].to_frame()
    assert (len(nothing), list(nothing.columns)) == (0, list(frame.columns))


def test_bounds_as_tables(clf: SequentialClassifier, data: tuple[pd.DataFrame, pd.Series]) -> None:
    certificate = certify(clf.problem_, clf.policy_)
    frame = pd.concat([certificate.to_frame(), dual_bound(clf.problem_).to_frame()])
    assert frame["upper"].iloc[0] == certificate.upper
    assert frame["value"].iloc[1] <= certificate.upper
    contract = certify_error(clf, *data, allow_seen=True)
    rungs = contract.to_frame()
    assert rungs["p_value"].tolist() == [rung.p_value for rung in contract.rungs]
    assert np.flatnonzero(rungs["chosen"]).tolist() == [contract.chosen]
    assert "groups" not in rungs


def test_only_public_names_are_listed() -> None:
    assert dir(seqclass.pomdp) == sorted(seqclass.pomdp.__all__)
    for part in (seqclass.bn, seqclass.selection, seqclass.stats):
        assert set(part.__all__) <= set(dir(part))
