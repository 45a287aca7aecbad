"""The table of actions is the record, told step by step."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_wine

import seqclass
from seqclass import Costs
from seqclass.experiment import action_table
from seqclass.pomdp import Adaptive, ClassInformation

X, Y = load_wine(return_X_y=True)
NAMES = [f"f{j}" for j in range(X.shape[1])]
HOLES = np.where(np.random.default_rng(0).random(X.shape) < 0.3, np.nan, X)
QUICK = Adaptive([ClassInformation()], n_paths=100, n_cases=100, max_rounds=0, certificate_paths=0)
GROUPS = [0, 0, 0, *range(1, 11)]


def checked(clf: Any, rows: Any, called: Any, **how: Any) -> Any:
    """The table, after each of its rows was compared with the record."""
    table = action_table(clf, rows, **how)
    record = clf.acquire(rows, record_beliefs=True, **how)
    assert table["row"].unique().tolist() == list(range(len(record)))
    for i, part in table.groupby("row"):
        order = record.order[i][record.order[i] >= 0].tolist()
        n = len(order)
        assert part["step"].tolist() == list(range(n + 1))
        assert part["action"].tolist() == [*(called[j] for j in order), None]
        outcome = [value if value >= 0 else None for value in record.outcome[i][:n].tolist()]
        assert [None if pd.isna(value) else value for value in part["outcome"]] == [*outcome, None]
        assert part["paid"].iloc[-1] == pytest.approx(record.paid[i])
        assert part["price"].iloc[-1] == 0
        belief = part[[f"P({label})" for label in clf.classes_]].to_numpy()
        assert belief == pytest.approx(record.beliefs[i][: n + 1])
        assert belief[-1] == pytest.approx(record.posterior[i])
        expected = clf.decisions_[(belief[:-1] @ clf.decision_costs_).argmin(axis=1)].tolist()
        assert part["decision"].tolist() == [*expected, record.decision[i]]
    return table


@pytest.mark.parametrize(
    "settings",
    [
        {},
        {"order": "adaptive", "solver": QUICK},
        {"max_features": 2},
        {"feature_costs": Costs(0.02, charge_missing=True)},
        {"feature_costs": Costs(0.02, groups=GROUPS, discounted_costs=0.001)},
        {"feature_costs": Costs(0.02, groups=GROUPS, discounted_costs=0.001, charge_missing=True)},
    ],
    ids=lambda settings: " ".join(settings) or "plain",
)
def test_the_table_is_the_record(settings: dict[str, Any]) -> None:
    clf = seqclass.etana(**({"feature_costs": 0.02} | settings)).fit(pd.DataFrame(X[::2], columns=NAMES), Y[::2])
    table = checked(clf, pd.DataFrame(HOLES[1::5], columns=NAMES), NAMES)
    paid = table["price"] > 0
    missing = table["action"].notna() & table["outcome"].isna()
    assert missing.any()
    assert paid[missing].all() == clf.agent_.charge_missing


def test_what_is_known_is_no_action_and_a_budget_is_kept() -> None:
    clf = seqclass.etana(0.02).fit(pd.DataFrame(X[::2], columns=NAMES), Y[::2])
    rows = pd.DataFrame(X[1::2], columns=NAMES)
    first = NAMES[clf.order_[0]]
    table = checked(clf, rows, NAMES, known=[first], budget=3)
    assert (table.groupby("row").size() == 4).all()
    assert first not in set(table["action"])


def test_a_bundle_is_one_action() -> None:
    bundles = ["scan", "scan", "scan", *[None] * 10]
    clf = seqclass.etana(Costs(0.02, bundles=bundles)).fit(X[::2], Y[::2])
    called = [clf.feature_name(j) for j in range(X.shape[1])]
    table = checked(clf, X[1::2], {**dict(enumerate(called)), 0: "scan"})
    assert "scan" in set(table["action"])
    assert not set(called[:3]) & set(table["action"])


def test_nobody_to_ask() -> None:
    clf = seqclass.etana(10.0).fit(X[::2], Y[::2])
    table = checked(clf, X[:3], {})
    assert table["step"].tolist() == [0, 0, 0]
    assert len(action_table(clf, X[:3].astype(np.float32))) == 3
