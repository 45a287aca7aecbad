"""The choice among candidates on rows held out, and what the choice itself costs."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from seqclass.fitting.choice import Candidate, Choice, cheapest, choose
from seqclass.fitting.held_out import HeldOut
from seqclass.stats import paired_t_test


def held(costs: np.ndarray, fold: np.ndarray, name: str = "a") -> HeldOut:
    n = len(costs)
    errors = costs > np.median(costs)
    zeros = np.zeros(n)
    return HeldOut(name, fold, costs, zeros, errors.astype(np.intp), errors, np.arange(n))


@given(st.integers(0, 2**32 - 1), st.integers(1, 4))
def test_it_stands_unless_another_is_better_by_a_standard_error(seed: int, m: int) -> None:
    rng = np.random.default_rng(seed)
    losses = [rng.normal(size=12) + rng.normal() for _ in range(m)]
    means = [float(loss.mean()) for loss in losses]
    stands = int(rng.integers(m))
    place, above = cheapest(losses, 0.1, stands)
    best = int(np.argmin(means))
    for i, loss in enumerate(losses):
        apart = loss - losses[best]
        error = np.sqrt(apart.var(ddof=1) * (1 / 12 + 0.1))
        assert above[i] == pytest.approx((apart.mean(), error))
        if i == stands:
            assert place == (stands if apart.mean() <= error else best)


def test_ties_go_to_what_stands() -> None:
    cost = np.arange(6.0)
    assert cheapest([cost, cost.copy()], 0.1, 0) == (0, [(0.0, 0.0), (0.0, 0.0)])
    assert cheapest([cost, cost.copy()], 0.1, 1)[0] == 1
    assert cheapest([cost + 1, cost], 0.1, 0)[0] == 1  # the same difference in every row is no chance


@settings(max_examples=settings.default.max_examples * 3 // 5)
@given(st.integers(0, 2**32 - 1))
def test_rows_of_a_fold_are_of_what_the_other_folds_choose(seed: int) -> None:
    rng = np.random.default_rng(seed)
    fold = rng.permutation(np.append(np.arange(30) % 3, -1)).astype(np.int8)
    tried = [held(rng.exponential(size=30), fold, name) for name in "abc"]
    choice, nested = choose(tried, [0.1, 0.2, 0.3], "b", on_decisions=False)
    shared = 3 / (2 * 30)
    place, _ = cheapest([h.costs for h in tried], shared, 1)
    assert choice.chosen == "abc"[place]
    assert [c.seconds for c in choice.candidates] == [0.1, 0.2, 0.3]
    at = fold[fold >= 0]
    for k in range(3):
        by_others, _ = cheapest([h.costs[at != k] for h in tried], shared, 1)
        for name in ("prices", "errors", "counts", "decisions", "decision_costs"):
            np.testing.assert_array_equal(getattr(nested, name)[at == k], getattr(tried[by_others], name)[at == k])
    for candidate, each in zip(choice.candidates, tried):
        assert candidate.cost == each.cost
        assert candidate.cost_interval == each.cost_interval
    best = min(tried, key=lambda h: h.cost)
    test = paired_t_test(tried[0].costs, best.costs, test_to_train=shared)
    assert choice.candidates[0].above == test.difference


def test_what_is_chosen_is_held_out_too() -> None:
    """Of candidates that are all noise the best looks good; what the choice costs is not its minimum."""
    rng = np.random.default_rng(0)
    fold = np.arange(60) % 5
    gains = []
    for _ in range(40):
        tried = [held(rng.exponential(size=60), fold) for _ in range(6)]
        _, nested = choose(tried, [0.0] * 6, "a", on_decisions=False)
        gains.append((min(h.cost for h in tried) - 1, nested.cost - 1))
    least, honest = np.mean(gains, axis=0)
    assert least < -0.1  # of the least of them
    assert abs(honest) < 3 * np.std([g[1] for g in gains]) / np.sqrt(40)


def test_where_the_budget_is_given_decisions_count() -> None:
    fold = np.arange(8) % 2
    zeros = np.zeros(8)
    dear = HeldOut("dear", fold, zeros + 5, zeros, zeros.astype(int), zeros > 0, zeros.astype(int))
    wrong = HeldOut("wrong", fold, zeros, zeros + 1, zeros.astype(int), zeros == 0, zeros.astype(int))
    assert choose([wrong, dear], [0, 0], "dear", on_decisions=False)[0].chosen == "wrong"
    assert choose([wrong, dear], [0, 0], "wrong", on_decisions=True)[0].chosen == "dear"


def test_the_table() -> None:
    pytest.importorskip("pandas")
    rows = [Candidate(n, 0.1, (0.0, 0.2), 0.0, 0.0, 0.02, 0.08, 2.0, 1.0) for n in ("one", "another")]
    frame = Choice("another", tuple(rows)).to_frame()
    assert frame.index.tolist() == ["one", "another"]
    assert frame["chosen"].tolist() == [False, True]
    assert frame["error"].tolist() == [0.08, 0.08]
    assert [line[-1] for line in str(Choice("another", tuple(rows))).splitlines()][1:] == ["0", "*"]
