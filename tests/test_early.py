"""Early classification: the recursion against a plain one, when and what is decided, and files of series."""

from __future__ import annotations

import copy
import pickle
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.decomposition import PCA
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC

from seqclass import Costs, early, load
from seqclass.agent.session import Session
from seqclass.datasets import load_series
from seqclass.early import EarlyClassifier, EarlySession
from seqclass.persistence import ModelFileError
from seqclass.persistence import save as save_part

RNG = np.random.default_rng(0)
Y = np.arange(80) % 2
X = RNG.normal(size=(80, 8)).cumsum(axis=1) + np.outer(2 * Y - 1, np.arange(8))
LABELS = np.array(["down", "up"])[Y]


@pytest.fixture(scope="module")
def clf() -> EarlyClassifier:
    return EarlyClassifier(0.03, estimator=LogisticRegression()).fit(X[:60], LABELS[:60])


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize(("n_bins", "n"), [(3, 30), (3, 6), (5, 30), (5, 7)])
def test_the_recursion_is_a_plain_one(n_classes: int, n_bins: int, n: int) -> None:
    P = RNG.dirichlet(np.ones(n_classes), size=(4, n))
    codes, paid = RNG.integers(0, n_classes, n), np.array([0.01, 0.03, 0.08, 0.1])
    rule: Any = early._chain_rule(P, codes, paid, n_bins)
    _, stop, decision = rule
    bins: Any = np.zeros((4, n), dtype=int)
    for t in range(4):
        for i in range(n):
            p, low = (P[t, i, 1], 0.0) if n_classes == 2 else (P[t, i].max(), 1 / n_classes)
            at = sum((p - low) / (1 - low) >= k / n_bins for k in range(1, n_bins))
            bins[t, i] = at if n_classes == 2 else P[t, i].argmax() * n_bins + at
    prior = np.bincount(codes, minlength=n_classes) / n
    size = n_bins if n_classes == 2 else n_bins * n_classes

    def value(t: int, b: int) -> float:
        here = [i for i in range(n) if bins[t, i] == b]
        guess = P[t, here].mean(axis=0) if here else prior
        posterior = [(sum(codes[i] == c for i in here) + guess[c]) / (len(here) + 1) for c in range(n_classes)]
        error = 1 - max(posterior)
        assert decision[t, b] == int(np.argmax(posterior))
        if t == 3:
            return float(error)
        onward = paid[t + 1] - paid[t]
        for after in range(size):
            n_after, share = sum(bins[t + 1, i] == after for i in here), (bins[t + 1] == after).mean()
            onward += (n_after + share) / (len(here) + 1) * value(t + 1, after)
        assert stop[t, b] == (error <= onward)
        return float(min(error, onward))

    for b in range(size if size <= 5 else 2):  # each calls all that may follow
        value(0 if size <= 5 else 2, b)


def test_steps_are_paid_and_decided_as_they_come(clf: EarlyClassifier) -> None:
    told = clf.decide(X[60:])
    assert set(told.decision) <= {"down", "up"}
    assert clf.predict(X[60:]).tolist() == told.decision.tolist()
    np.testing.assert_allclose(told.paid, 0.03 * told.n_steps)
    assert told.is_final.all()
    assert (told.decision == LABELS[60:]).mean() > 0.8
    assert 1 < told.n_steps.mean() < 6
    assert np.unique(told.n_steps).size > 1
    for n in range(9):  # what is decided after n steps looks at no later one
        part = clf.decide(X[60:, :n])
        assert (part.is_final == (told.n_steps <= n)).all()
        assert (part.decision == told.decision)[part.is_final].all()
        assert part.n_steps[~part.is_final].tolist() == [n] * int((~part.is_final).sum())
    again = pickle.loads(pickle.dumps(clf)).decide(X[60:])
    assert again.decision.tolist() == told.decision.tolist()


def test_responses_of_kernels_are_counted_up_to_each_step(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(early, "chunks", lambda n, _: (slice(k, k + 2) for k in range(0, n, 2)))
    series = RNG.normal(size=(7, 20))
    drawn = early.RandomKernels.draw(series, 30, np.random.default_rng(1))
    assert sum(len(weights) for _, weights, _ in drawn.groups) == 30
    fit = {(2**k, length) for k in range(5) for length in (3, 5, 7, 9) if (length - 1) * 2**k < 20}
    assert {(dilation, weights.shape[1]) for dilation, weights, _ in drawn.groups} == fit
    assert {weights.shape[1] for _, weights, _ in drawn.groups} == {3, 5, 7, 9}
    steps = np.array([1, 2, 4, 5, 13, 20])
    for t, seen in zip(steps, drawn.responses(series, steps)):
        expected: list[Any] = []
        for dilation, weights, levels in drawn.groups:
            greatest, shares = np.zeros((7, len(weights))), np.zeros((7, len(weights), 3))
            for i, k in np.ndindex(7, len(weights)):
                ends = range((weights.shape[1] - 1) * dilation, t)
                given = [weights[k] @ series[i, end::-1][::dilation][: weights.shape[1]][::-1] for end in ends]
                if given:
                    greatest[i, k] = max(given)
                    shares[i, k] = [np.mean([one > level for one in given]) for level in levels[k]]
            expected += [greatest, shares.reshape(7, -1)]
        np.testing.assert_allclose(seen, np.hstack(expected), atol=1e-12)


@pytest.mark.slow
def test_patterns_are_found_wherever_they_occur() -> None:
    rng, y = np.random.default_rng(3), np.arange(90) % 2
    series = rng.normal(size=(90, 30))
    for i in range(90):
        at = rng.integers(3, 22)
        series[i, at : at + 6] += [4, 4, 4, -4, -4, -4] if y[i] else [-4, -4, -4, 4, 4, 4]
    settings: dict[str, Any] = {"n_patterns": 60, "n_checkpoints": 6, "cv": 3}
    clf = EarlyClassifier(0.005, **settings).fit(series[:60], y[:60])
    told = clf.decide(series[60:])
    assert clf.evidence_ in ("patterns", "both")
    assert (told.decision == y[60:]).mean() > 0.85
    for n in range(0, 31, 3):  # looks at no later step
        part = clf.decide(series[60:, :n])
        assert (part.is_final == (told.n_steps <= n)).all()
        assert (part.decision == told.decision)[part.is_final].all()
    again = EarlyClassifier(0.005, **settings).fit(series[:60], y[:60])
    assert again.expected_cost_ == clf.expected_cost_
    values = EarlyClassifier(0.005, **settings | {"n_patterns": 0}).fit(series[:60], y[:60])
    assert values.evidence_ == "values"
    assert values.expected_cost_ > 2 * clf.expected_cost_
    np.testing.assert_allclose(np.array(list(clf._beliefs(series[60:]))).sum(axis=2), 1)


def drifting(rng: np.random.Generator) -> tuple[Any, Any]:
    y = np.arange(60) % 2
    return rng.normal(size=(60, 12)).cumsum(axis=1) + np.outer(2 * y - 1, np.arange(12)), y


def of_three_classes(rng: np.random.Generator) -> tuple[Any, Any]:
    y = np.arange(60) % 3
    return rng.normal(size=(60, 13)) + np.sin(np.outer(y + 1, np.arange(13))), np.array(["a", "b", "c"])[y]


def with_flat_starts(rng: np.random.Generator) -> tuple[Any, Any]:
    X, y = drifting(rng)
    X[:, :5] = 0.1  # to which kernels respond with rounding errors only
    return X, y


@pytest.mark.slow
@pytest.mark.covering(1)
@pytest.mark.parametrize("alpha", [0.5, 0.9])
@pytest.mark.parametrize("make", [drifting, of_three_classes, with_flat_starts])
def test_a_live_series_goes_where_whole_ones_do(make: Any, alpha: float) -> None:
    series, y = make(np.random.default_rng(5))
    price = (1 - alpha) / alpha / series.shape[1]
    fitted = EarlyClassifier(price, n_patterns=20, n_checkpoints=7, cv=2).fit(series[:36], y[:36])
    codes = np.unique(y[:36], return_inverse=True)[1]
    for evidence in ("values", "patterns", "both"):
        clf = copy.copy(fitted)
        clf.evidence_ = evidence
        P = np.array(list(clf._beliefs(series[:36])))
        for rule in (0.8, early._threshold_rule(P, codes, clf._paid), early._chain_rule(P, codes, clf._paid, 3), None):
            clf._rule = rule
            cases = [clf.session() for _ in series[36:]]
            for n in range(series.shape[1] + 1):
                told = clf.decide(series[36:, :n])
                for i, case in enumerate(cases):
                    if n and not case.is_final:
                        case.observe(series[36 + i, n - 1])
                    here = case.decision, case.n_steps, case.paid, case.is_final
                    assert here == (told.decision[i], told.n_steps[i], told.paid[i], told.is_final[i])
            assert [case.decision for case in cases] == clf.predict(series[36:]).tolist()


def test_a_live_series_asks_for_what_it_lacks(clf: EarlyClassifier) -> None:
    told = clf.decide(X[60:])
    late = int(told.n_steps.argmax())
    series, n_steps = X[60 + late], int(told.n_steps[late])
    case = clf.session()
    assert (case.is_final, case.n_steps, case.paid, case.next_step, len(case.values)) == (False, 0, 0.0, 1, 0)
    assert case.posterior.tolist() == [0.5, 0.5]
    case.observe([])
    case.observe(series[0])
    case.observe(Fraction(float(series[1])))
    assert (case.n_steps, case.next_step) == (2, 3)
    assert str(case).endswith("after 2 of 8 steps; may be decided after 3")
    for bad in ("soon", None, np.nan, [1.0, np.inf], [[1.0]], [[1.0], [1.0, 2.0]], {}, 1j):
        with pytest.raises(ValueError, match="values must be numbers in order of time, none missing, got "):
            case.observe(bad)
    with pytest.raises(ValueError, match="these would be 9 steps, more than the 8 of training"):
        case.observe(np.zeros(7))
    assert case.n_steps == len(case.values) == 2  # nothing has changed
    case.observe(series[2:])  # beyond the decision too
    assert (case.is_final, case.n_steps, case.next_step) == (True, n_steps, None)
    assert case.values.tolist() == series[:n_steps].tolist()
    assert f"after {n_steps} of 8 steps; decided for {told.decision[late]}" in repr(case)
    with pytest.raises(ValueError, match=f"was decided for '{case.decision}' after {n_steps} steps: look at is_final"):
        case.observe(0.0)
    case.observe([])
    frame = case.to_frame()
    assert frame["step"].tolist() == list(range(n_steps + 1))
    assert frame["is_final"].tolist() == [False] * n_steps + [True]
    assert frame["decision"].iloc[-1] == case.decision
    assert frame[["P(down)", "P(up)"]].iloc[-1].tolist() == case.posterior.tolist()
    np.testing.assert_allclose(frame["paid"], 0.03 * frame["step"])
    assert frame.attrs["units"] == {"paid": "the unit of the costs"}


def test_a_live_series_can_be_kept(clf: EarlyClassifier) -> None:
    whole = X[60 + int(clf.decide(X[60:]).n_steps.argmax())]
    for n in range(9):
        case = clf.session(whole[:n])
        for other in (pickle.loads(pickle.dumps(case)), copy.deepcopy(case), clf.session(case.values)):
            assert isinstance(other, EarlySession)
            assert other.to_frame().equals(case.to_frame())
            if not other.is_final:
                other.observe(whole[n:])
            assert other.n_steps == clf.session(whole).n_steps


def test_between_checkpoints_nothing_is_worked_out(monkeypatch: pytest.MonkeyPatch) -> None:
    clf = EarlyClassifier(0.0, n_patterns=20, n_checkpoints=2, cv=2).fit(X[:60], Y[:60])
    clf.evidence_, clf._rule = "both", 2.0
    widths: list[int] = []
    convolve = early._convolve

    def counted(part: Any, dilation: int, weights: Any) -> Any:
        widths.append(part.shape[1] - (weights.shape[1] - 1) * dilation)
        return convolve(part, dilation, weights)

    monkeypatch.setattr(early, "_convolve", counted)
    case = clf.session()
    for value in X[70, :3]:
        case.observe(value)
    assert (case.n_steps, case.next_step, widths) == (0, 4, [])
    for value in X[70, 3:]:
        case.observe(value)
    assert case.is_final
    spans = [(weights.shape[1] - 1) * dilation for dilation, weights, _ in clf._patterns.groups]
    assert sum(widths) == sum(8 - span for span in spans)  # each step once


def test_exponents_and_means_of_beliefs_are_those_of_the_formulas() -> None:
    P, Q = RNG.dirichlet(np.ones(3), size=(2, 40))
    codes = np.array([RNG.choice(3, p=p**0.4 / (p**0.4).sum()) for p in P])
    grid = np.linspace(-3, 2, 4001)  # of the logarithm of the exponent
    raised = P[:, None] ** np.exp(grid)[:, None]
    loss = 0.01 * grid**2 - np.log(raised[np.arange(40), :, codes] / raised.sum(axis=2)).mean(axis=0)
    assert np.log(early._exponent(P, codes)) == pytest.approx(grid[loss.argmin()], abs=0.003)
    for one, other in [(P, Q), (Q, P)]:
        mean = np.sqrt(one * other)
        np.testing.assert_allclose(early._geometric_mean(one, other), mean / mean.sum(axis=1, keepdims=True))


@pytest.mark.parametrize("turned", [1, -1])
def test_a_rule_at_once_decides_for_the_class_of_most_series(turned: int) -> None:
    labels = LABELS[:60].copy()
    labels[:15] = ["down", "up"][::turned][0]
    clf = EarlyClassifier(2, n_patterns=0, n_checkpoints=1, cv=2).fit(X[:60], labels)
    assert (clf.rule_, clf.predict(X[60:62]).tolist()) == ("at once", [labels[0]] * 2)
    assert clf.expected_cost_ == pytest.approx((labels != labels[0]).mean())


def test_a_rule_at_once_leaves_nothing_to_observe() -> None:
    dear = EarlyClassifier(2, n_patterns=0, n_checkpoints=2, cv=2).fit(X[:60], LABELS[:60])
    case = dear.session()
    assert (case.is_final, case.decision, case.n_steps, case.next_step) == (True, "down", 0, None)
    assert dear.predict(X[60:]).tolist() == ["down"] * 20
    with pytest.raises(ValueError, match="decided for 'down' after 0 steps"):
        case.observe(1.0)


def test_linear_classifiers_are_the_pipelines_that_they_stand_for() -> None:
    for n_classes in (2, 3):
        y = np.arange(60) % n_classes
        rows = 1000 + RNG.normal(size=(60, 5)) * [1, 10, 0.1, 0, 3] + y[:, None]
        steps = make_pipeline(StandardScaler(), PCA(), LogisticRegression()).fit(rows, y)
        own = early.LinearClassifier.from_pipeline(steps)
        np.testing.assert_allclose(own.predict_proba(rows), steps.predict_proba(rows), atol=1e-12)


@pytest.fixture(scope="module")
def fitted() -> EarlyClassifier:
    return EarlyClassifier(0.02, n_patterns=20, n_checkpoints=4, cv=2).fit(X[:60], LABELS[:60])


@pytest.mark.covering(1)
@pytest.mark.parametrize("evidence", ["values", "patterns", "both"])
@pytest.mark.parametrize("rule", ["threshold", "3 bins", "at once"])
def test_files_of_classifiers(fitted: EarlyClassifier, evidence: str, rule: str, tmp_path: Path) -> None:
    clf, path = copy.copy(fitted), tmp_path / "early.seq"
    clf.evidence_, codes = evidence, Y[:60]
    P = np.array(list(clf._beliefs(X[:60])))
    clf._rule = None if rule == "at once" else early._RULES[rule](P, codes, clf._paid)
    clf.save(path)
    again = load(path)
    assert again.get_params() == clf.get_params()
    before, after = clf.decide(X[60:]), again.decide(X[60:])
    for name in ("decision", "n_steps", "paid", "is_final"):
        np.testing.assert_array_equal(getattr(before, name), getattr(after, name))
    assert (again.expected_cost_, again.classes_.tolist()) == (clf.expected_cost_, ["down", "up"])
    case = again.session(X[60])
    assert (case.decision, case.n_steps) == (before.decision[0], before.n_steps[0])


def test_files_hold_settings_too_and_no_estimator_of_others(clf: EarlyClassifier, tmp_path: Path) -> None:
    path = tmp_path / "early.seq"
    save_part(EarlyClassifier(0.5, cv=3), path)
    assert load(path).get_params() == EarlyClassifier(0.5, cv=3).get_params()
    with pytest.raises(TypeError, match=r"estimator: sklearn\.linear_model\.LogisticRegression cannot be saved"):
        clf.save(path)
    with pytest.raises(ValueError, match="not fitted"):
        EarlyClassifier().save(path)
    with pytest.raises(ValueError, match="not fitted"):
        EarlyClassifier().session()


FORGED: dict[str, Any] = {
    "checkpoints_": np.array([2, 4, 6, 9]),
    "classes_": np.array(["up"]),
    "n_features_in_": 10**12,
    "_paid": np.array([0.1]),
    "_prior": np.array([0.5, np.nan]),
    "_patterns": Costs(),
    "_exponents": {"both": np.full(4, np.nan)},
    "_classifiers": {"values": [Costs()] * 4, "patterns": [Costs()] * 4},
    "_rule": "0.5",
}
RULE = (3, np.ones((4, 3), dtype=bool), np.zeros((4, 3), dtype=int))
FORGED_RULES = {
    "steps": (3, RULE[1][:3], RULE[2][:3]),
    "bins": (2, RULE[1], RULE[2]),
    "classes": (3, RULE[1], RULE[2] + 2),
}


@pytest.mark.parametrize("name", [*FORGED, *FORGED_RULES])
def test_forged_files_are_refused(fitted: EarlyClassifier, name: str, tmp_path: Path) -> None:
    forged, path = copy.copy(fitted), tmp_path / "early.seq"
    forged.evidence_, forged._rule = "both", RULE
    forged.save(path)
    assert load(path).evidence_ == "both"  # as it is
    vars(forged).update({name: FORGED[name]} if name in FORGED else {"_rule": FORGED_RULES[name]})
    save_part(forged, path)
    with pytest.raises(ModelFileError):
        load(path)


def test_other_sessions_refuse_series(clf: EarlyClassifier) -> None:
    with pytest.raises(TypeError, match="EarlyClassifier: decide series by its own decide, or session"):
        Session(clf)


@pytest.mark.slow
def test_series_that_begin_alike_or_are_short() -> None:
    alike = np.hstack([np.zeros((60, 2)), X[:60]])  # warnings are errors here
    clf = EarlyClassifier(0.03, n_patterns=40).fit(alike, Y[:60])
    assert (clf.predict(np.hstack([np.zeros((20, 2)), X[60:]])) == Y[60:]).mean() > 0.8
    assert EarlyClassifier(0.03, n_patterns=0).fit(alike, Y[:60]).checkpoints_.tolist() == list(range(1, 11))
    short = EarlyClassifier(0.03, n_patterns=40).fit(X[:60, 6:], Y[:60])  # no kernel is as short
    assert short.evidence_ == "values"
    assert not short._patterns.groups


def test_prices_say_when(clf: EarlyClassifier) -> None:
    quick: dict[str, Any] = {"estimator": LogisticRegression(), "n_checkpoints": 2, "cv": 2}
    dear = EarlyClassifier(2, **quick).fit(X[:60], LABELS[:60])
    told = dear.decide(X[60:])
    assert dear.rule_ == "at once"
    assert dear.expected_cost_ == pytest.approx(0.5)
    assert not told.n_steps.any()
    assert told.is_final.all()
    prices = np.r_[np.zeros(4), np.full(4, 5.0)]  # the first half costs nothing
    steps = EarlyClassifier(prices, **quick).fit(X[:60], LABELS[:60]).decide(X[60:]).n_steps
    assert steps.max() <= 4


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"step_cost": -1}, "step_cost must be a price of at least 0"),
        ({"step_cost": [1, 2]}, "or one for each of the 8 steps"),
        ({"n_checkpoints": 0}, "n_checkpoints"),
        ({"n_patterns": -1}, "n_patterns"),
        ({"cv": 1}, "cv must be at least 2"),
        ({"random_state": -1}, "random_state must be at least 0"),
    ],
)
def test_what_is_refused(settings: dict[str, Any], words: str, clf: EarlyClassifier) -> None:
    with pytest.raises(ValueError, match=words):
        EarlyClassifier(**settings).fit(X, Y)
    with pytest.raises(ValueError, match="two series each"):
        EarlyClassifier().fit(X[:3], Y[:3])
    with pytest.raises(ValueError, match="step_cost must hold numbers only"):
        EarlyClassifier("dear").fit(X, Y)
    with pytest.raises(TypeError, match=r"estimator must be a classifier with predict_proba, got LinearSVC\(\)"):
        EarlyClassifier(estimator=LinearSVC()).fit(X, Y)
    for gone in (np.nan, None):  # of which numpy would make a class "nan"
        with pytest.raises(ValueError, match="in row 1: leave out the rows without a label"):
            EarlyClassifier().fit(X[:4], ["a", gone, "b", "b"])
    with pytest.raises(ValueError, match="X has 9 steps, more than the 8 of training"):
        clf.decide(np.zeros((1, 9)))


def test_files_of_series(tmp_path: Path) -> None:
    path = tmp_path / "a.ts"
    path.write_text("# what it is\n@problemName a\n@data\n1,2.5,?:x y\n-1e3,NaN,4:2\n")
    series, labels = load_series(path)
    np.testing.assert_array_equal(series, [[1, 2.5, np.nan], [-1000, np.nan, 4]])
    assert labels.tolist() == ["x y", "2"]
    for name, text in (("a.tsv", "2\t1\t2\n1\t3\t4\n"), ("a.txt", "  2.0e+00  1  2\n  1.0000000e+00  3  4\n")):
        (tmp_path / name).write_text(text)
        series, labels = load_series(tmp_path / name)
        assert series.tolist() == [[1, 2], [3, 4]]
        assert labels.tolist() == ["2", "1"]
    for text, words in (
        ("1,2:3,4:a\n", "line 1: it has several variables"),
        ("1,b:a\n", "line 1: .*'b'"),
        ("1,2:a\n1:a\n", "line 2 has 1 steps, the first series 2"),
        ("@data\n", "holds no series"),
        ("@targetLabel true\n@data\n1,2:0.5\n", "has numbers to predict, not classes"),
        ("@data\n1,2,3\n", "line 2 is no label and values"),
        ("@data\n(0,1),(1,2):3,4:a\n", "line 2: it has several variables, or times beside values"),
    ):
        path.write_text(text)
        with pytest.raises(ValueError, match=words):
            load_series(path)
    with pytest.raises(FileNotFoundError, match="there is no file"):
        load_series(tmp_path / "b.ts")


def test_steps_of_a_data_frame_go_by_their_names(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    y = np.arange(40) % 2
    series = pd.DataFrame(rng.normal(size=(40, 6)).cumsum(axis=1) + y[:, None], columns=[f"t{k}" for k in range(6)])
    named = EarlyClassifier(0.02, n_patterns=0, n_checkpoints=2, cv=2).fit(series, y)
    named.save(tmp_path / "e.seq")
    plain = EarlyClassifier(0.02, n_patterns=0, n_checkpoints=2, cv=2).fit(series.to_numpy(), y)
    for n in (6, 3):
        wanted = plain.decide(series.to_numpy()[:, :n])
        for one in (named, load(tmp_path / "e.seq")):
            found = one.decide(series[series.columns[:n][::-1]])
            assert found.decision.tolist() == wanted.decision.tolist()
            assert found.n_steps.tolist() == wanted.n_steps.tolist()
    with pytest.raises(ValueError, match="X must have the first 2 steps of training, by their names; it lacks 't1'"):
        named.decide(series[["t0", "t2"]])
    with pytest.raises(ValueError, match="X has 7 steps, more than the 6 of training"):
        named.predict(series.assign(t6=0.0))
