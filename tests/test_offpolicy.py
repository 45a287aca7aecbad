"""Learning from records: exact means over all that a recorder may do, and what is refused."""

from __future__ import annotations

import warnings
from itertools import permutations, product
from typing import Any

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import t
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.linear_model import LogisticRegression
from sklearn.tree import DecisionTreeClassifier

import seqclass
from seqclass import Costs, offpolicy
from seqclass.bn import ClassMixture, ContextBayes, InformationFilter, NaiveBayes, TreeNetwork
from seqclass.metrics import score_rows
from seqclass.offpolicy._records import Chances, Records, check_chances, fit_chances, read_records
from seqclass.offpolicy.estimate import Estimate, Estimates, MeanEstimate
from seqclass.offpolicy.evaluation import METHODS, Completions, Replayer, robust_scores
from seqclass.pomdp import FirstK

CELLS = np.array(list(product([0, 1], repeat=3)))


class Alike:
    """Random numbers that are the same for every person, so that a mean over records is one over what was recorded."""

    def __init__(self, numbers: np.ndarray | None = None) -> None:
        self.numbers = numbers

    def random(self, shape: tuple[int, ...]) -> np.ndarray:
        fresh = np.random.default_rng(5).random(shape[1:])
        return np.broadcast_to(fresh if self.numbers is None or len(self.numbers) != shape[1] else self.numbers, shape)


def people(n: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Three questions of one kind or another; the second depends on the first, whatever the class."""
    rng = np.random.default_rng(seed)
    y = rng.integers(2, size=n)
    X = (rng.random((n, 3)) < np.where(y == 1, 0.75, 0.3)[:, None]).astype(float)
    X[:, 1] = np.where(rng.random(n) < 0.4, X[:, 0], X[:, 1])
    return X, y


@pytest.fixture(scope="module")
def clf() -> Any:
    """Asks for the last feature first, and for others after some answers only."""
    settings = {"discretizer": "precomputed", "order": [2, 1, 0], "feature_costs": [0.04, 0.03, 0.02]}
    fitted = seqclass.SequentialClassifier(**settings).fit(*people(400))
    lengths = fitted.acquire(CELLS).n_features
    assert 1 <= lengths.min() < lengths.max() == 3
    return fitted


def chance_of(x: np.ndarray, seen: np.ndarray) -> np.ndarray:
    """Probability of each cell of a row, given what was seen before it."""
    first = x[0] if seen[0] else 0.5
    second = x[1] if seen[1] else 0.2
    return np.array([0.7, 0.3 + 0.6 * first, 0.2 + 0.3 * first + 0.4 * second])


def all_records(always: bool = False) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Every row, class and recording: X, y, chances, P(recording | row); the first column perhaps of everybody."""
    rows = [(x, y, r) for x in CELLS for y in (0, 1) for r in CELLS.astype(bool) if r[0] or not always]
    chance = np.array([chance_of(x, r) for x, _, r in rows])
    chance[:, 0] = 1.0 if always else chance[:, 0]
    seen = np.array([r for *_, r in rows])
    X = np.where(seen, np.array([x for x, *_ in rows]), np.nan)
    return X, np.array([y for _, y, _ in rows]), chance, np.where(seen, chance, 1 - chance).prod(axis=1)


def replayed(clf: Any, records: Records, chances: Chances) -> tuple[np.ndarray, np.ndarray]:
    """Weight and cost of each row."""
    replayer, everyone = Replayer(clf, records.asked, records.n, np.random.default_rng(0)), np.arange(records.n)
    replay = replayer.run(records.codes[:, records.asked], everyone)
    paths = replay.question[replay.leaf][:, None]
    return chances.inverse_probability(everyone, paths, replayer.shows)[:, 0, -1], replay.parts(records.label)[:, 0]


def robust(clf: Any, records: Records, chances: Chances, model: Any, rng: Any, n_samples: int = 7) -> np.ndarray:
    replayer = Replayer(clf, records.asked, records.n, np.random.default_rng(0))
    completions = Completions(model, records.asked, n_samples, rng)
    return robust_scores(records, np.arange(records.n), records.label, completions, replayer, chances)[:, 0]


def true_costs(clf: Any) -> np.ndarray:
    """Cost of each row of CELLS in each class, (8, 2)."""
    record = clf.acquire(CELLS)
    return record.paid[:, None] + clf.decision_costs_[:, np.searchsorted(clf.decisions_, record.decision)].T


def test_weights_have_mean_one_and_replay_the_cost(clf: Any) -> None:
    X, y, chance, probability = all_records()
    records = read_records(clf, X, y, [0, 1, 2], True)
    weight, cost = replayed(clf, records, check_chances(records, chance, y))
    by_person = (probability * weight).reshape(8, 2, 8).sum(axis=2)
    assert by_person == pytest.approx(np.ones((8, 2)))
    assert (probability * weight * cost).reshape(8, 2, 8).sum(axis=2) == pytest.approx(true_costs(clf))


@pytest.mark.parametrize("kind", [NaiveBayes(), TreeNetwork()])
def test_doubly_robust_is_unbiased_whatever_the_model(clf: Any, kind: Any) -> None:
    X, y, chance, probability = all_records()
    records = read_records(clf, X, y, [0, 1, 2], True)
    rng = np.random.default_rng(3)
    model = kind.fit(rng.integers(2, size=(30, 3)), np.arange(30) % 2)
    scores = robust(clf, records, check_chances(records, chance, y), model, Alike())
    assert (probability * scores).reshape(8, 2, 8).sum(axis=2) == pytest.approx(true_costs(clf))


def test_a_column_that_everybody_has_by_luck_is_weighed_as_declared(clf: Any) -> None:
    X, y, chance, _ = all_records()
    lucky = ~np.isnan(X[:, 0])
    model, _ = exact_model()
    found = []
    for rows in (slice(None), lucky):
        records = read_records(clf, X[rows], y[rows], [0, 1, 2], True)
        chances = check_chances(records, chance[rows], y[rows])
        found.append((replayed(clf, records, chances)[0], robust(clf, records, chances, model, Alike())))
    (weight, score), (weight_alone, score_alone) = found
    assert weight_alone == pytest.approx(weight[lucky])
    assert weight_alone.max() > 1 / 0.7
    assert score_alone == pytest.approx(score[lucky])


def test_what_answers_change_sums_to_the_cost_also_where_the_pool_has_nobody(clf: Any) -> None:
    replay = Replayer(clf, np.arange(3), 1, np.random.default_rng(0)).run(CELLS, np.zeros(8, dtype=int))
    label = np.array([0, 1])
    increments = replay.increments(slice(2), label)  # of the first two people only
    assert increments.sum(axis=1) == pytest.approx(replay.leaf_parts)
    assert increments[:, 0, 0, 0] == pytest.approx(replay.parts(np.zeros(8, dtype=int))[0, 0])


def exact_model() -> tuple[NaiveBayes, np.ndarray]:
    """Naive Bayes with quarters for probabilities, and P(row | class), (8, 2)."""
    ones = np.array([[1, 3], [2, 3], [1, 2]])  # of four, in each class
    X = np.array([[int(i < ones[j, c]) for j in range(3)] for c in (0, 1) for i in range(4)])
    model = NaiveBayes(alpha=0.0).fit(X, np.repeat([0, 1], 4), n_outcomes=2)
    share = ones / 4
    return model, np.where(CELLS[:, :, None] == 1, share, 1 - share).prod(axis=1)


@pytest.mark.parametrize("always", [False, True])
def test_doubly_robust_needs_no_right_rule_where_the_model_is(clf: Any, always: bool) -> None:
    X, y, chance, probability = all_records(always)
    records = read_records(clf, X, y, [0, 1, 2], True)
    model, law = exact_model()
    wrong = np.clip(1.2 - chance, 0.05, 1.0)
    wrong[:, 0] = 1.0 if always else wrong[:, 0]
    grid = np.array(list(product([1 / 8, 3 / 8, 5 / 8, 7 / 8], repeat=3)))
    person = law[:, :, None] * probability.reshape(8, 2, -1)
    truth = (law * true_costs(clf)).sum(axis=0)
    scores = robust(clf, records, check_chances(records, wrong, y), model, Alike(grid), len(grid))
    assert (person * scores.reshape(8, 2, -1)).sum(axis=(0, 2)) == pytest.approx(truth)
    weight, cost = replayed(clf, records, check_chances(records, wrong, y))
    plain = (person * (weight * cost).reshape(8, 2, -1)).sum(axis=(0, 2))
    assert np.abs(plain - truth).min() > 0.01  # which the weights alone do


def test_complete_cases_are_biased(clf: Any) -> None:
    X, _, _, probability = all_records()
    _, law = exact_model()
    person = law[:, :, None] * probability.reshape(8, 2, 8) * (~np.isnan(X)).all(axis=1).reshape(8, 2, 8)
    costs = true_costs(clf)
    complete = (person * costs[:, :, None]).sum() / person.sum()
    assert abs(complete - (law * costs).sum() / 2) > 0.01


def purchases(x: np.ndarray) -> list[tuple[tuple[int, ...], float, list[float]]]:
    """All that a recorder who buys one after the other may do: columns, probability, chances to go on."""
    found = []
    for order in (o for m in range(4) for o in permutations(range(3), m)):
        p, going, known = 1.0, [], 0.0
        for place in range(len(order) + 1):
            left = [j for j in range(3) if j not in order[:place]]
            going.append(0.5 + 0.4 * known if left else 0.0)
            if place == len(order):
                p *= 1 - going[-1]
                break
            liking = np.array([1 + j + 2 * known for j in left])
            p *= going[-1] * liking[left.index(order[place])] / liking.sum()
            known = float(x[order[place]])
        found.append((order, p, going))
    return found


def test_own_orders(clf: Any) -> None:
    """The recorder chooses what to buy by what was seen; only whether to go on needs to be known."""
    X, y, order, chance, probability, number = [], [], [], [], [], []
    for i, (x, label) in enumerate(product(CELLS, (0, 1))):
        for bought, p, going in purchases(x):
            seen = np.isin(np.arange(3), bought)
            row = np.full(3, going[-1])
            row[list(bought)] = going[:-1]
            X.append(np.where(seen, x, np.nan)), y.append(label), chance.append(row)
            order.append([*bought, *[-1] * (3 - len(bought))]), probability.append(p), number.append(i)
    records = read_records(clf, np.array(X), np.array(y), np.array(order), True)
    chances = check_chances(records, np.array(chance), np.array(y))
    weight, cost = replayed(clf, records, chances)
    truth = true_costs(clf).ravel()
    assert np.bincount(number, probability) == pytest.approx(np.ones(16))
    assert np.bincount(number, probability * weight) == pytest.approx(np.ones(16))
    assert np.bincount(number, probability * weight * cost) == pytest.approx(truth)
    model = NaiveBayes().fit(*(part.astype(int) for part in people(50)))
    scores = robust(clf, records, chances, model, Alike())
    assert np.bincount(number, probability * scores) == pytest.approx(truth)


@pytest.mark.parametrize("order", [None, np.tile([2, 0, 1], (300, 1))])
@pytest.mark.parametrize("method", METHODS)
def test_full_rows_are_simply_replayed(clf: Any, method: str, order: Any) -> None:
    X, y = people(300, 7)
    found = offpolicy.estimate_cost(clf, X, y, method=method, order=order, allow_seen=True)
    truth = score_rows(clf, X, y)
    assert found.cost == pytest.approx(truth.realised_cost)
    assert found["error"].estimate == pytest.approx(1 - truth.accuracy)
    assert found["n_features"].estimate == pytest.approx(truth.mean_features)
    assert (found.replayed, found.unsupported, found.largest_weight) == pytest.approx((1, 0, 1))
    assert found.effective_rows == pytest.approx(300)


def recorded(X: np.ndarray, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Records by `chance_of`, and their chances."""
    rng, seen, chance = np.random.default_rng(seed), np.ones(X.shape, dtype=bool), np.ones(X.shape)
    for j in range(3):
        chance[:, j] = [chance_of(x, r)[j] for x, r in zip(X, seen)]
        seen[:, j] = rng.random(len(X)) < chance[:, j]
    return np.where(seen, X, np.nan), chance


@pytest.mark.filterwarnings("ignore:The weights fall short", "ignore:All rests on")
def test_means_errors_and_intervals_are_those_of_the_formulas(clf: Any) -> None:
    X, y = people(60, 4)
    records, chance = recorded(X, 3)
    records[:6] = X[:6]
    record = clf.acquire(records)
    cost = record.paid + clf.decision_costs_[y, np.searchsorted(clf.decisions_, record.decision)]
    wants = [order[order >= 0] for order in record.order]  # whether it was there or not
    there = np.array([not np.isnan(row[want]).any() for row, want in zip(records, wants)])
    weight = np.array([np.prod(1 / p[want]) for p, want in zip(chance, wants)]) * there
    mean = weight @ cost / weight.sum()
    scores = weight / (1 - np.minimum(weight / weight.sum(), 0.5)) * (cost - mean) / weight.mean()
    wanted = {
        "ipw_plain": (np.mean(weight * cost), weight * cost, weight),
        "ipw": (mean, scores, weight),
        "blocked": (cost.mean(), cost, np.ones(60)),
    }
    table = offpolicy.compare(
        clf, records, y, methods=list(wanted), recording=chance, order=[0, 1, 2], level=0.9, allow_seen=True
    )
    for method, (estimate, score, used) in wanted.items():
        found, effective = table[method], used.sum() ** 2 / (used**2).sum()
        error = score.std(ddof=1) / np.sqrt(60)
        reach = t.ppf(0.95, effective - 1) * error
        assert [found.cost, found["cost"].standard_error] == pytest.approx([estimate, error])
        ends = max(estimate - reach, 0), min(estimate + reach, 1.09)
        assert found.interval == pytest.approx(ends)
        assert [found.effective_rows, found.largest_weight] == pytest.approx([effective, used.max() / used.mean()])
        assert (found.n_counted, found.replayed) == ((used > 0).sum(), there.mean())
        lacking = 1 - used.mean() - 2 * used.std() / np.sqrt(60)
        assert found.lacking == pytest.approx(max(lacking, 0))


class Fixed(BaseEstimator, ClassifierMixin):
    """A rule that was known before."""

    def fit(self, X: Any, y: Any) -> Any:
        self.classes_, self.coef_ = np.array([False, True]), np.cos(np.arange(X.shape[1]))
        return self

    def predict_proba(self, X: Any) -> Any:
        p = 1 / (1 + np.exp(-X @ self.coef_))
        return np.column_stack([1 - p, p])


def test_chances_to_go_on_look_at_what_was_bought_before(clf: Any) -> None:
    X, y = people(30, 5)
    rng = np.random.default_rng(0)
    order = np.full((30, 3), -1)
    for row, count in enumerate(np.arange(30) % 4):
        order[row, :count] = rng.permutation(3)[:count]
    records = np.full((30, 3), np.nan)
    for row in range(30):
        records[row, order[row][order[row] >= 0]] = X[row, order[row][order[row] >= 0]]
    read = read_records(clf, records, y, order, True)
    found = fit_chances(read, Fixed()).chance
    middle, spread = np.nanmean(records, axis=0), np.nanstd(records, axis=0)
    for row in range(30):
        bought = order[row][order[row] >= 0].tolist()
        for step in range(len(bought) + 1):
            looks = [float(y[row])]
            for column in range(3):
                seen = column in bought[:step]
                looks += [float(seen), (X[row, column] - middle[column]) / spread[column] if seen else 0.0]
            looks.append(float(step))
            p = 1 / (1 + np.exp(-np.array(looks) @ np.cos(np.arange(8))))
            if step < len(bought):
                assert found[row, bought[step]] == pytest.approx(p)
            else:  # of what was not bought: to go on at the stop
                assert found[row, np.isnan(records[row])] == pytest.approx(p)


@pytest.fixture(scope="module")
def truth(clf: Any) -> float:
    return float(score_rows(clf, *people(100_000, 1)).realised_cost)


@pytest.mark.slow_cells("False")
@pytest.mark.parametrize("known", [False, True])
def test_estimates_find_the_truth(clf: Any, truth: float, known: bool) -> None:
    X, y = people(6000, 2)
    records, chance = recorded(X, 3)
    rule = chance if known else None
    table = offpolicy.compare(clf, records, y, recording=rule, order=[0, 1, 2], n_samples=10, allow_seen=True)
    for method in ("doubly_robust", "ipw", "ipw_plain"):
        assert abs(table[method].cost - truth) < 3 * table[method].standard_error
        assert table[method].standard_error < 0.02
    assert abs(table["blocked"].cost - truth) > 5 * table["blocked"].standard_error
    assert 0.2 < table["ipw"].replayed < 0.9
    assert table["ipw"].n_counted == round(6000 * table["ipw"].replayed)


@pytest.mark.slow
@given(st.integers(0, 30), st.integers(20, 60))
def test_weights_and_parts(clf: Any, seed: int, n: int) -> None:
    X, y = people(n, seed)
    records, chance = recorded(X, seed)
    records[:2] = X[:2]
    read = read_records(clf, records, y, [0, 1, 2], True)
    weight, _ = replayed(clf, read, check_chances(read, chance, y))
    assert (weight[:2] >= 1).all()
    assert ((weight == 0) | (weight >= 1)).all()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # of few rows
        found = offpolicy.estimate_cost(
            clf, records, y, method="ipw", recording=chance, order=[0, 1, 2], allow_seen=True
        )
    assert found.cost == pytest.approx(found["price"].estimate + found["decision_cost"].estimate)
    assert 1 <= found.effective_rows <= found.n_counted <= n
    assert found["error"].lower <= found["error"].estimate <= found["error"].upper


def test_records_of_one_class_of_which_nothing_is_known_before(clf: Any) -> None:
    """The rule of the first column is then its share."""
    X = people(300, seed=3)[0][:100]
    X[::4, 2] = np.nan
    found = offpolicy.estimate_cost(clf, X, np.zeros(100, int), method="ipw_plain", order=[2, 0, 1], allow_seen=True)
    whole = clf.acquire(X[~np.isnan(X[:, 2])])
    assert found.cost == pytest.approx((whole.paid + whole.decision).sum() / 75)
    assert (found.largest_weight, found.n_counted) == (pytest.approx(4 / 3), 75)


@pytest.mark.filterwarnings("ignore::UserWarning")  # beside the one that is looked for
def test_what_was_hardly_ever_recorded_is_told(clf: Any) -> None:
    X, y = people(500, 4)
    records, chance = recorded(X, 5)
    low = X[:, 0] == 0
    records[low, 1], chance[low, 1] = np.nan, 0.0
    with pytest.warns(UserWarning, match="hardly ever recorded"):
        found = offpolicy.estimate_cost(
            clf, records, y, method="ipw", recording=chance, order=[0, 1, 2], allow_seen=True
        )
    assert 0.05 < found.unsupported < 0.5
    assert "hardly ever recorded" in str(found)


def test_draws_follow_the_model() -> None:
    X, y = people(3000, 8)
    model = TreeNetwork().fit(X.astype(int), y)
    completions = Completions(model, np.array([1, 2]), 40_000, np.random.default_rng(0))
    assert not completions.independent
    drawn = completions.draw(np.array([[1, -1, -1], [0, -1, 1]]), np.array([1, 0]), np.array([0, 1]))
    assert (drawn[1, :, 1] == 1).all()
    for row, label, evidence in ((0, 1, [1, -1, -1]), (1, 0, [0, -1, 1])):
        wanted = model.likelihood(1, [evidence])[0, 1, label]
        assert drawn[row, :, 0].mean() == pytest.approx(wanted, abs=0.01)


@pytest.mark.parametrize("kind", [NaiveBayes(), TreeNetwork()])
def test_draws_of_several_outcomes_follow_the_model(kind: Any) -> None:
    rng = np.random.default_rng(0)
    y = rng.integers(2, size=300)
    X = np.column_stack([np.minimum(rng.poisson(1 + y), 3), rng.integers(2, size=300)])
    X = np.column_stack([X, (X[:, 0] + rng.integers(2, size=300)) % 3])
    model = kind.fit(X, y)
    completions = Completions(model, np.array([0, 1, 2]), 20_000, np.random.default_rng(1))
    assert completions.independent == (kind.__class__ is NaiveBayes)
    drawn = completions.draw(np.array([[-1, 1, -1], [-1, -1, 2]]), np.array([1, 0]), np.array([0, 1]))
    for row, label, evidence in ((0, 1, [-1, 1, -1]), (1, 0, [-1, -1, 2])):
        share = np.bincount(drawn[row, :, 0], minlength=4) / 20_000
        np.testing.assert_allclose(share, model.likelihood(0, [evidence])[0, :, label], atol=0.012)
        for outcome in range(4):  # and what comes next goes by it
            some = drawn[row, drawn[row, :, 0] == outcome]
            known = [outcome, *evidence[1:]]
            for feature in (j for j in (1, 2) if evidence[j] < 0):
                found = np.bincount(some[:, feature], minlength=model.n_outcomes_[feature]) / len(some)
                wanted = model.likelihood(feature, [known])[0, : len(found), label]
                np.testing.assert_allclose(found, wanted, atol=0.05)


@pytest.mark.slow
def test_any_policy_and_frame() -> None:
    rng = np.random.default_rng(0)
    X, y = people(900, 9)
    frame = pd.DataFrame(X, columns=["a", "b", "c"])
    frame["d"] = np.where(rng.random(900) < 0.7, np.where(y == 1, "hi", "lo"), "mid")
    labels = np.array(["no", "yes"])[y]
    missing = frame[400:].copy()
    missing.loc[rng.random(500) < 0.3, "d"] = None
    missing.loc[rng.random(500) < 0.3, "b"] = np.nan
    for settings in (
        {"feature_costs": Costs(bundles={"a": "one", "b": "one"}), "order": "adaptive"},
        {"feature_costs": Costs(groups={"a": "g", "b": "g"}, discounted_costs=0.005), "target_cost": 0.03},
        {"feature_costs": Costs(bundles={"b": "one", "c": "one"}), "observation_model": ContextBayes("d")},
        {"observation_model": ClassMixture(2), "selector": InformationFilter(threshold=0.01)},
    ):
        clf = seqclass.SequentialClassifier(**settings).fit(frame[:400], labels[:400])
        table = offpolicy.compare(clf, missing, labels[400:], n_samples=2, allow_seen=True)
        truth = score_rows(clf, frame[400:], labels[400:]).realised_cost
        for method in ("doubly_robust", "ipw", "direct"):
            assert abs(table[method].cost - truth) < 0.06
        again = offpolicy.estimate_cost(clf, missing, labels[400:], method="ipw", recording=LogisticRegression())
        assert abs(again.cost - truth) < 0.06


def test_one_row_is_told_in_the_singular() -> None:
    cost = MeanEstimate("cost", 0.2, 0.01, 0.18, 0.22)
    one = Estimate("direct", (cost,), 0.95, 1, 1, 0.6, 0.0, 1.0, 1.0)
    assert "\n1 row, of which 60.0% have" in str(one)
    assert "\n1 row, of which 60.0% have" in str(Estimates((one,)))
    assert "All rests on 1 effective row, one of which has 100.0%" in str(one)
    assert repr(Estimates((one,))).endswith("; 1 row>")


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::UserWarning")  # beside the one that is looked for
def test_seed_and_texts(clf: Any) -> None:
    X, y = people(120, 11)
    records, _ = recorded(X, 12)
    settings = {"order": [0, 1, 2], "allow_seen": True, "n_samples": 5}
    first, second = (offpolicy.estimate_cost(clf, records, y, **settings, random_state=3) for _ in range(2))
    assert first == second
    assert "doubly robust" in str(first)
    assert "120 rows, of which" in str(first)
    assert first.to_frame().loc["cost", "estimate"] == first.cost
    with pytest.warns(UserWarning, match="effective rows"):
        table = offpolicy.compare(clf, records, y, **settings)
    assert ": All rests on" in str(table)
    assert table.to_frame().index.tolist() == list(METHODS)
    assert all(name in str(table) for name in ("complete cases", "largest weight"))
    assert "may be wrong" in str(table["direct"])
    assert "Biased" in str(table["complete"])
    wide, narrow = (offpolicy.estimate_cost(clf, records, y, **settings, level=level).interval for level in (0.99, 0.5))
    assert wide[0] < narrow[0] < narrow[1] < wide[1]


@pytest.mark.filterwarnings("ignore::UserWarning")  # of few rows
def test_a_method_draws_the_same_whichever_others_are_asked_for(clf: Any) -> None:
    X, y = people(60, 11)
    records, chance = recorded(X, 12)
    settings = {"recording": chance, "order": [0, 1, 2], "allow_seen": True, "n_samples": 2, "n_folds": 2}
    both = offpolicy.compare(clf, records, y, methods=("doubly_robust", "direct"), **settings)
    for method in ("doubly_robust", "direct"):
        assert offpolicy.estimate_cost(clf, records, y, method=method, **settings) == both[method]


@pytest.mark.slow
def test_refusals(clf: Any) -> None:
    X, y = people(300, 13)
    records, chance = recorded(X, 14)

    def refused(match: str, X: Any = records, y: Any = y, error: Any = ValueError, **settings: Any) -> None:
        with pytest.raises(error, match=match):
            offpolicy.estimate_cost(clf, X, y, **({"allow_seen": True} | settings))

    refused("which no row of X has", np.column_stack([records[:, :2], np.full(300, np.nan)]))
    refused("dense", sp.csr_array(X), error=TypeError)
    refused("method", method="magic")
    refused("no class of the model", y=np.full(300, 7))
    refused("no row", X[:0], y[:0])
    refused("recording", recording=chance[:, :2])
    refused("between 0 and 1", recording=chance + 1)
    refused("could not be recorded", recording=np.zeros((300, 3)))
    refused("order must list", order=np.zeros((3, 2), dtype=int))
    refused("exactly the columns", order=np.tile([0, 1, 2], (300, 1)))
    refused("columns 0 to 2", order=np.full((300, 3), 5))
    refused("order", order=[0, 0, 1])
    refused("level", level=2)
    torn = np.where(np.arange(300)[:, None] % 3 == np.arange(3), np.nan, X)
    refused("no row of X has all that the policy asks for", torn, method="complete")


def test_a_policy_learnt_from_records_is_as_good() -> None:
    test, settings = people(10_000, 20), {"discretizer": "precomputed", "feature_costs": [0.04, 0.03, 0.02]}
    costs = []
    for seed in range(2):
        X, y = people(1500, 30 + seed)
        for rows in (X, recorded(X, seed)[0]):
            fitted = seqclass.SequentialClassifier(**settings, order="adaptive").fit(rows, y)
            costs.append(score_rows(fitted, *test).realised_cost)
    assert sum(costs[1::2]) < 1.05 * sum(costs[::2])


@pytest.mark.slow
def test_what_adaptive_chose_is_judged_by_records() -> None:
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 240)
    X = rng.normal(size=(240, 3)) + y[:, None]
    clf = seqclass.adaptive(0.02, effort="quick").fit(X[:120], y[:120])
    found = seqclass.offpolicy.estimate_cost(clf, X[120:], y[120:])
    record = clf.acquire(X[120:])
    realised = (record.paid + (record.decision != y[120:])).mean()
    assert found.cost == pytest.approx(realised, abs=1e-9)  # nothing is missing


@pytest.mark.slow_cells("model2")
@pytest.mark.parametrize("model", [NaiveBayes(), TreeNetwork(), ClassMixture(), ContextBayes(0)])
def test_every_model_takes_records_and_weights(model: Any) -> None:
    X, y = people(400, 40)
    codes = np.nan_to_num(recorded(X, 1)[0], nan=-1).astype(int)
    weight = np.random.default_rng(0).random(400)
    fitted = model.fit(codes, y, sample_weight=weight, n_outcomes=2)
    assert fitted.posterior(codes).sum(axis=1) == pytest.approx(np.ones(400))


def test_rows_of_the_fit_are_refused() -> None:
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(200, 3)), np.arange(200) % 2
    X[:, 0] += y
    X[rng.random((200, 3)) < 0.2] = np.nan
    clf = seqclass.etana(0.01).fit(X, y)
    with pytest.raises(ValueError, match="was fitted to"):
        offpolicy.estimate_cost(clf, X, y)


class Far:
    """People with a number that is seen of all, and others that tell the class, hardly seen of those far from 0."""

    def __init__(self, n: int, seed: int, chance: float, n_others: int = 1) -> None:
        rng = np.random.default_rng(seed)
        self.y = rng.integers(2, size=n)
        others = rng.normal(size=(n, n_others)) + 1.5 * self.y[:, None]
        self.X = np.column_stack([rng.normal(size=n), others])
        self.far = np.abs(self.X[:, 0]) > 0.88  # 38% of all
        self.y = np.where(self.far, self.y ^ (rng.random(n) < 0.25), self.y)  # who are harder to tell
        self.chance = np.ones(self.X.shape)
        self.chance[:, 1:] = np.where(self.far, chance, 0.9)[:, None]
        self.records = np.where(rng.random(self.X.shape) < self.chance, self.X, np.nan)

    def judged(self, clf: Any, **settings: Any) -> Any:
        order = np.arange(self.X.shape[1])
        return offpolicy.estimate_cost(clf, self.records, self.y, order=order, allow_seen=True, **settings)


def asking_all(n_others: int = 1) -> Any:
    made = Far(2000, 1, 0.5, n_others)
    return seqclass.SequentialClassifier(solver=FirstK(None), feature_costs=0.01).fit(made.X, made.y)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::UserWarning")  # beside the one that is looked for
def test_a_rule_that_is_not_logistic_is_learnt() -> None:
    """Nearly nothing is known of those far from 0; a logistic rule sees them as it sees the others."""
    clf, people = asking_all(), Far(1500, 2, 0.002)
    with pytest.warns(UserWarning, match="hardly ever recorded"):
        found = people.judged(clf, method="ipw")
    assert found.unsupported == pytest.approx(0.38, abs=0.08)
    logistic = people.judged(clf, method="ipw", recording=LogisticRegression())
    assert logistic.unsupported < 0.03


@pytest.mark.slow
@pytest.mark.parametrize("method", ["ipw", pytest.param("doubly_robust", marks=pytest.mark.slow)])
def test_a_learnt_rule_finds_the_truth_where_a_logistic_one_does_not(method: str) -> None:
    clf, (X, y) = asking_all(), (lambda far: (far.X, far.y))(Far(100_000, 3, 0.5))
    truth = score_rows(clf, X, y).realised_cost
    people = Far(6000, 4, 0.15)
    found, wrong = (people.judged(clf, method=method, recording=rule) for rule in (None, LogisticRegression()))
    assert abs(found.cost - truth) < 2.5 * found.standard_error
    if method == "ipw":
        assert abs(wrong.cost - truth) > 4 * wrong.standard_error


def test_a_rule_of_ones_own_that_is_not_linear_is_fitted_to_other_rows() -> None:
    """Trees that remember every row would find that all was certain."""
    people = Far(1500, 5, 0.3)
    found = people.judged(asking_all(), method="ipw", recording=DecisionTreeClassifier(min_samples_leaf=40))
    assert found.largest_weight > 2
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        exact = people.judged(asking_all(), method="ipw", recording=DecisionTreeClassifier())
    assert exact.effective_rows < 300  # not the thousand that have all


def test_a_declared_rule_warns_of_what_nobody_has() -> None:
    """Each of three answers is now and then recorded, all of them never: plain weights then never hold the truth."""
    clf, people = asking_all(3), Far(1500, 6, 0.05, 3)
    with pytest.warns(UserWarning, match="hardly ever recorded|fall short") as told:
        found = people.judged(clf, method="ipw_plain", recording=people.chance)
    assert found.unsupported == pytest.approx(0.38, abs=0.05)
    assert found.lacking == pytest.approx(0.33, abs=0.05)
    assert len(told) == 2


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::UserWarning")  # beside the one that is looked for
def test_few_rows_that_weigh_all_are_told() -> None:
    clf, people = asking_all(), Far(300, 10, 0.03)
    with pytest.warns(UserWarning, match="of all weight"):
        found = people.judged(clf, method="ipw", recording=people.chance)
    assert found.largest_weight > 20
    assert found.warnings[-1] in str(found)
    assert not Far(1500, 8, 0.5).judged(clf, method="ipw").warnings


def test_intervals_of_costs_stay_above_zero() -> None:
    clf = asking_all()
    X, y = np.array([[0.0, -3.0], [0.0, 4.5]] * 20), np.array([0, 1] * 20)
    y[0] = 1
    found = offpolicy.estimate_cost(clf, X, y, method="ipw", allow_seen=True)
    assert found["error"].estimate == pytest.approx(1 / 40)
    assert found["error"].lower == 0
    assert found["decision_cost"].lower == 0
    assert found["price"].lower == pytest.approx(0.02)


def test_estimates_are_not_cut_and_ends_are() -> None:
    """Cut at 0 each, price and decision cost did not add up to the cost, and small errors came out too high."""
    rng = np.random.default_rng(0)
    y = rng.integers(2, size=1100)
    X = (rng.random((1100, 3)) < np.where(y == 1, 0.75, 0.3)[:, None]).astype(float)
    clf = seqclass.SequentialClassifier(feature_costs=0.02).fit(X[:1000], y[:1000])
    outside = 0
    for seed in range(8):
        draw = np.random.default_rng(seed)
        rows = 1000 + draw.permutation(100)[:10]
        records = np.where(draw.random((10, 3)) < 0.3, X[rows], np.nan)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)
            try:
                found = offpolicy.compare(
                    clf,
                    records,
                    y[rows],
                    methods=("ipw_plain", "doubly_robust"),
                    recording=np.full((10, 3), 0.3),
                    allow_seen=True,
                )
            except ValueError:  # nobody has all that is asked for
                continue
        for one in found.estimates:
            assert one["cost"].estimate == pytest.approx(one["price"].estimate + one["decision_cost"].estimate)
            for part, most in zip(one.parts, (1.06, 0.06, 1, 1, 3), strict=True):
                assert 0 <= part.lower <= part.upper <= most + 1e-12
            beyond = not 0 <= one["error"].estimate <= 1
            assert ("Beyond what can be, by chance: " in str(one)) >= beyond
            outside += beyond
    assert outside


def test_a_rule_that_is_not_linear_is_fitted_in_three_folds() -> None:
    sizes = []

    class Noting(DecisionTreeClassifier):
        def fit(self, X: Any, y: Any, **more: Any) -> Any:
            sizes.append(len(X))
            return super().fit(X, y, **more)

    Far(300, 5, 0.3).judged(asking_all(), method="ipw", recording=Noting(min_samples_leaf=40))
    assert sizes == [300, 200, 200, 200]


@pytest.mark.filterwarnings("ignore:At .* of the rows the policy asks", "ignore:The weights fall short")
@pytest.mark.slow
def test_chances_and_orders_are_of_the_columns_as_they_come() -> None:
    """Rows may have their columns in any order, and others beside them: what goes with them means the same."""
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 200)
    X = pd.DataFrame(rng.normal(y[:, None], 1.5, (200, 4)), columns=list("abcd"))
    clf = seqclass.SequentialClassifier(feature_costs=0.02).fit(X[:80], y[:80])
    chance = pd.DataFrame(np.tile([1, 0.9, 0.5, 0.7], (120, 1)), columns=list("abcd"))
    seen = rng.random((120, 4)) < chance.to_numpy()
    records, label = X[80:].where(seen), y[80:]
    bought = np.sort(np.where(seen, np.arange(4), 9), axis=1)
    bought[bought == 9] = -1

    def costs(X: pd.DataFrame, **told: Any) -> list[float]:
        methods = ["ipw"]
        return [one.cost for one in offpolicy.compare(clf, X, label, methods=methods, n_samples=3, **told).estimates]

    turned = records.assign(other=1.0)[["other", *"dbca"]]
    at = np.array([4, 2, 3, 1, -1])  # where the columns of the fit, and none, stand there
    names = list("abcd")
    wanted = costs(records, recording=chance, order=names)
    assert costs(records, recording=chance[list("cadb")], order=names) == wanted
    assert costs(turned[list("dbca")], recording=chance[list("dbca")].to_numpy(), order=names) == wanted
    assert costs(turned, recording=chance.assign(other=1.0)[list(turned)].to_numpy(), order=names) == wanted
    wanted = costs(records, order=[2, 1, 3])
    assert wanted == costs(records, order=["c", "b", "d"]) == costs(turned, order=[3, 2, 0, 1])
    assert costs(records, order=bought) == costs(turned, order=at[bought])
