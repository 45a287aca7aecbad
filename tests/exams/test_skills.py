"""Skills that one has or has not: posteriors by enumeration, chances found again, restrictions that hold."""

from __future__ import annotations

import itertools
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from mixture_cases import summed_out
from numpy.testing import assert_allclose, assert_array_equal
from scipy.stats import chi2

import seqclass
from seqclass.exams import SkillProfile
from seqclass.persistence import save
from seqclass.testing import check_observation_model

Q = np.array([[1, 0, 0], [0, 1, 0], [0, 0, 1], [1, 1, 0], [0, 1, 1], [1, 0, 1], [1, 1, 1]])
LONG = np.concatenate([Q, Q, Q[:3]])


def random_model(seed: int, kind: str = "DINA", q: Any = Q, **settings: Any) -> SkillProfile:
    rng = np.random.default_rng(seed)
    chances = rng.uniform(0.05, 0.3, (2, len(q)))
    share = rng.dirichlet(np.full(2 ** q.shape[1], 4.0))
    return SkillProfile.from_items(q, *chances, kind=kind, profile_prior=share, **settings)


@pytest.mark.parametrize("kind", ["DINA", "DINO"])
@pytest.mark.parametrize("target", [None, 1])
def test_posteriors_by_enumeration(kind: str, target: Any) -> None:
    """From the definition of the models, profile by profile."""
    names = ["no", "yes"] if target is not None else None
    model = random_model(0, kind, target=target, labels=names)
    prior = dict(zip(map(tuple, model.profiles_.tolist()), model.profile_prior_.tolist()))
    X, _ = model.sample(30, 0)
    X = np.where(np.random.default_rng(1).random(X.shape) < 0.4, -1, X)
    skills = np.zeros((30, 3))
    wanted = np.zeros((30, len(model.classes_)))
    for i, row in enumerate(X):
        for profile in itertools.product((0, 1), repeat=3):
            p = prior[profile]
            for j, v in enumerate(row):
                needed = [profile[s] for s in range(3) if Q[j, s]]
                met = all(needed) if kind == "DINA" else any(needed)
                right = 1 - model.slip_[j] if met else model.guess_[j]
                p *= (1 - right, right, 1.0)[v]
            label = "".join(map(str, profile)) if target is None else names[profile[target]]  # type: ignore[index]
            wanted[i, model.classes_.tolist().index(label)] += p
            skills[i] += p * np.array(profile)
    assert_allclose(model.posterior(X), wanted / wanted.sum(axis=1, keepdims=True), rtol=1e-10)
    assert_allclose(model.mastery(X), skills / wanted.sum(axis=1, keepdims=True), rtol=1e-10)
    assert_allclose(model.posterior(X), summed_out(model, X)[0], rtol=1e-10)


@pytest.mark.slow_cells("DINO")
@pytest.mark.parametrize("kind", ["DINA", "DINO"])
def test_conformance(kind: str) -> None:
    X, y = random_model(1, kind, target=0).sample(60, 0)
    check_observation_model(SkillProfile(Q, kind, target=0), X[:, :7], y)


def objective(model: SkillProfile, X: Any) -> float:
    each = np.tile(model.profile_prior_, (len(X), 1))
    for j in range(X.shape[1]):
        each = each * np.where((X[:, j] >= 0)[:, None], model.tables_[j, X[:, j]], 1.0)
    return float(np.log(each.sum(axis=1)).sum())


def test_no_other_chances_are_likelier() -> None:
    X, _ = random_model(2, q=LONG).sample(400, 1)
    model = SkillProfile(LONG, alpha=0, tol=1e-10, max_iter=5000).fit(X)
    assert model.converged_
    best = objective(model, X)
    assert model.log_likelihood_ == pytest.approx(best, abs=1e-5)
    rng = np.random.default_rng(0)
    for _ in range(20):
        guess, slip = (np.clip(c + 0.01 * rng.normal(size=len(c)), 0, 1) for c in (model.guess_, model.slip_))
        share = model.profile_prior_ * np.exp(0.02 * rng.normal(size=8))
        other = SkillProfile.from_items(LONG, guess, slip, profile_prior=share / share.sum())
        # the one row that the profiles share beside those seen moves them by less than this
        assert objective(other, X) < best + 0.01


@pytest.mark.parametrize("kind", ["DINA", "DINO"])
@pytest.mark.parametrize("told", [False, True])
def test_chances_are_found_again(kind: str, told: bool) -> None:
    true = random_model(3, kind, LONG)
    X, y = true.sample(5000, 2)
    X = np.where(np.random.default_rng(1).random(X.shape) < 0.1, -1, X)
    model = SkillProfile(LONG, kind, alpha=0).fit(X, y if told else None)
    assert model.converged_
    squares = ((model.guess_ - true.guess_) / model.guess_errors_) ** 2
    squares = np.concatenate([squares, ((model.slip_ - true.slip_) / model.slip_errors_) ** 2])
    low, high = chi2.ppf([0.0001, 0.9999], len(squares))
    assert low < squares.sum() < high
    # a share of n rows, known by half at least
    error = np.sqrt(2 * true.profile_prior_ * (1 - true.profile_prior_) / 5000)
    assert (np.abs(model.profile_prior_ - true.profile_prior_) < 4.5 * error).all()


def test_profiles_share_a_row_beside_those_seen_and_the_able_are_right_a_thousandth_more_often() -> None:
    q = np.array([[1, 0], [0, 1], [1, 0], [0, 1], [1, 1], [1, 0]])
    X, _ = random_model(2, q=q).sample(60, 1)
    X[:, 5] = 1 - X[:, 0]
    model = SkillProfile(q, alpha=0, tol=1e-6, max_iter=1000).fit(X)
    assert_allclose(model.profile_prior_, (model.posterior(X).sum(axis=0) + 1 / 4) / 61, atol=1e-4)
    assert 1 - model.slip_[5] - model.guess_[5] == pytest.approx(1e-3)
    assert (1 - model.slip_[5] + model.guess_[5]) / 2 == pytest.approx(X[:, 5].mean())  # as often as anybody is


@pytest.mark.slow
@given(st.integers(0, 10**6), st.sampled_from(["DINA", "DINO"]), st.sampled_from([0.0, 1.0]))
def test_the_able_are_right_more_often(seed: int, kind: str, alpha: float) -> None:
    """Whatever the answers: here they are noise."""
    rng = np.random.default_rng(seed)
    X = rng.integers(-1, 2, (40, len(Q)))
    X[0] = 1
    model = SkillProfile(Q, kind, alpha=alpha, max_iter=30).fit(X)
    assert (model.guess_ < 1 - model.slip_).all()
    assert min(model.guess_.min(), model.slip_.min()) >= 0
    assert_allclose(model.tables_.sum(axis=1), 1)
    assert np.isfinite(model.posterior(X[:5])).all()


def test_weights_are_rows_told_several_times() -> None:
    X, _ = random_model(4).sample(60, 0)
    weight = np.random.default_rng(0).integers(0, 4, 60)
    one = SkillProfile(Q, tol=1e-9).fit(X, sample_weight=weight)
    other = SkillProfile(Q, tol=1e-9).fit(np.repeat(X, weight, axis=0))
    assert_allclose(one.tables_, other.tables_, atol=1e-6)
    assert_allclose(one.slip_errors_, other.slip_errors_, rtol=1e-3)


def test_pseudo_counts_are_rows_of_both_answers_in_chances_and_in_their_errors() -> None:
    X, y = SkillProfile.from_items([[1]] * 3, 0.2, 0.1).sample(40, 0)
    counted = SkillProfile([[1]] * 3, alpha=1).fit(X, y)
    more = np.repeat([[0], [1]], 3, axis=1)
    told = SkillProfile([[1]] * 3, alpha=0).fit(np.vstack([X, more, more]), [*y, "0", "0", "1", "1"])
    for name in ("guess_", "slip_"):
        assert_allclose(getattr(counted, name), getattr(told, name), rtol=1e-6)
    # profiles are no answers of items, and have no pseudo-rows of their own
    assert_allclose(counted.guess_errors_, told.guess_errors_, rtol=0.05)
    assert_allclose(counted.slip_errors_, told.slip_errors_, rtol=0.05)
    for label, chance, found in (("0", told.guess_, told.guess_errors_), ("1", told.slip_, told.slip_errors_)):
        n = sum(one == label for one in y) + 2  # whose answers are all that tells of it
        assert_allclose(found, np.sqrt(chance * (1 - chance) / n), rtol=0.07)
    many = SkillProfile([[1]] * 3, alpha=30).fit(X, y)
    for label, chance, found in (("0", many.guess_, many.guess_errors_), ("1", many.slip_, many.slip_errors_)):
        n = sum(one == label for one in y) + 60
        assert_allclose(found, np.sqrt(chance * (1 - chance) / n), rtol=0.05)


def test_a_class_prior_is_taken_as_it_is_given() -> None:
    model = SkillProfile.from_items([[1], [1]], 0.2, 0.1, profile_prior=[0.3, 0.7], prior=[0.9, 0.1])
    wrong, right = 0.9 * 0.2**2, 0.1 * 0.9**2
    assert_allclose(model.posterior([[1, 1]]), [[wrong / (wrong + right), right / (wrong + right)]])


@pytest.mark.parametrize(
    "settings, words",
    [
        ({"q_matrix": [[1, 2]] * 7}, "must hold 0 and 1"),
        (
            {"q_matrix": np.ones((7, 7), dtype=int)},
            r"7 skills, and 6 are the most: name the one .* by target=, beside which",
        ),
        ({"q_matrix": np.ones((7, 11), dtype=int), "target": 0}, "11 skills, and 10 are the most"),
        ({"q_matrix": [[1, 0], [0, 0]]}, "item 1 needs no skill"),
        ({"q_matrix": [[1, 0], [1, 0]]}, "skill 1 is needed by no item"),
        ({"q_matrix": Q, "kind": "DINER"}, "kind must be one of"),
        ({"q_matrix": Q, "target": 3}, "target must be a skill"),
        ({"q_matrix": Q, "target": "reading", "skills": ["a", "b", "c"]}, "target must be a skill"),
        ({"q_matrix": Q, "skills": ["a"]}, "skills must be 3"),
        ({"q_matrix": Q, "labels": ["a", "b"]}, "labels must be 8 .* of the profiles 000 to 111"),
        ({"q_matrix": Q, "target": 0, "labels": ["a", "a"]}, "labels must be 2"),
        ({"q_matrix": Q[:6]}, "7 features, and q_matrix 6 items"),
        ({"q_matrix": Q, "alpha": -1}, "alpha must be"),
    ],
)
def test_wrong_settings_are_named(settings: dict[str, Any], words: str) -> None:
    X = np.eye(7, dtype=int)
    with pytest.raises(ValueError, match=words) as caught:
        SkillProfile(**settings).fit(X)
    assert "\n" not in str(caught.value)
    with pytest.raises(ValueError, match="feature 0 has 3 outcomes"):
        SkillProfile(Q).fit(2 * X)
    with pytest.raises(ValueError, match=r"guess must be below 1 - slip: item 0"):
        SkillProfile.from_items([[1]], 0.5, 0.5)
    with pytest.raises(ValueError, match=r"slip must hold probabilities, got 1\.2"):
        SkillProfile.from_items([[1]], 0.2, 1.2)
    q = pd.DataFrame({"s": [1, 0], "t": [0, 1]}, index=["p", "q"])
    by_name = SkillProfile.from_items(q, pd.Series({"q": 0.3, "p": 0.1}), 0.1)  # which is right
    assert_array_equal(by_name.guess_, [0.1, 0.3])
    assert_array_equal(by_name.profile_prior_, [0.25] * 4)  # as nothing else is said


def test_profiles_have_labels_in_any_order() -> None:
    plain, labels = random_model(7), ["none", "c", "b", "bc", "a", "ac", "ab", "all"]
    named = random_model(7, labels=labels)
    digits = ["".join(map(str, profile)) for profile in itertools.product((0, 1), repeat=3)]
    X, y = plain.sample(80, 0)
    of = [plain.classes_.tolist().index(digits[labels.index(label)]) for label in named.classes_.tolist()]
    assert_allclose(named.posterior(X), plain.posterior(X)[:, of], rtol=1e-12)
    assert_allclose(named.mastery(X), plain.mastery(X), rtol=1e-12)
    called = np.array(labels)[[digits.index(label) for label in y.tolist()]]
    learnt, by_name = SkillProfile(Q).fit(X, y), SkillProfile(Q, labels=labels).fit(X, called)
    assert_allclose(by_name.posterior(X), learnt.posterior(X)[:, of], rtol=1e-10)


def test_profiles_are_named_by_skills_that_stay_apart(tmp_path: Path) -> None:
    def named(*skills: str) -> tuple[SkillProfile, list[str]]:
        model = SkillProfile.from_items(np.eye(len(skills)), 0.2, 0.1, skills=skills or None, labels="skills")
        right = model.predict_proba(np.array(list(itertools.product((0, 1), repeat=len(skills)))))
        return model, model.classes_[right.argmax(axis=1)].tolist()  # in the order of the profiles

    assert named("sums", "powers")[1] == ["none", "powers", "sums", "sums, powers"]
    assert named("none", "powers")[1] == ["none", "powers", '"none"', '"none", powers']
    model, told = named("a", "b", "a, b")
    assert told == ["none", '"a, b"', "b", 'b, "a, b"', "a", 'a, "a, b"', "a, b", 'a, b, "a, b"']
    save(model, tmp_path / "model.seq")
    assert seqclass.load(tmp_path / "model.seq").classes_.tolist() == model.classes_.tolist()
    assert SkillProfile.from_items(np.eye(2), 0.2, 0.1, labels="skills").classes_.tolist() == ["0", "0, 1", "1", "none"]
    with pytest.raises(ValueError, match="labels must be 8 different ones"):
        named("none", "x,", 'none", "x,')  # quotes within quotes
    with pytest.raises(ValueError, match="labels must be 2 different ones"):
        SkillProfile.from_items(np.eye(2), 0.2, 0.1, target=0, labels="skills")


def test_saved_and_loaded(tmp_path: Path) -> None:
    X, _ = random_model(5).sample(100, 0)
    model = SkillProfile(Q, skills=["a", "b", "c"], target="b").fit(X)
    seqclass.persistence.save(model, tmp_path / "model.seq")
    again = seqclass.load(tmp_path / "model.seq")
    assert_array_equal(again.posterior(X), model.posterior(X))
    assert_array_equal(again.mastery(X), model.mastery(X))


def test_a_frame_names_items_and_skills(tmp_path: Path) -> None:
    items, skills = [f"q{j}" for j in range(len(Q))], ["a", "b", "c"]
    frame = pd.DataFrame(np.asarray(Q), index=items, columns=skills)
    model = SkillProfile.from_items(frame, guess=0.2, slip=0.1, target="b")
    plain = SkillProfile.from_items(Q, guess=0.2, slip=0.1, target=1)
    assert model.feature_names_ == items
    X, _ = plain.sample(60, 0)
    told = pd.DataFrame(X, columns=items).astype("Int64").mask(X == 0)
    assert_array_equal(model.mastery(told[items[::-1]]), plain.mastery(np.where(X == 0, -1, X)))
    learnt = SkillProfile(frame, target="b").fit(pd.DataFrame(X, columns=items)[items[::-1]])
    assert learnt.feature_names_ == items
    assert_array_equal(learnt.slip_, SkillProfile(Q, target=1).fit(X).slip_)
    seqclass.persistence.save(learnt, tmp_path / "model.seq")
    assert_array_equal(seqclass.load(tmp_path / "model.seq").mastery(X), learnt.mastery(X))
