"""CUBE, Madelon-like and text-like sets: they are what they say."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.tree import DecisionTreeClassifier

from seqclass.datasets.cube import make_cube
from seqclass.datasets.syn import make_madelon_like
from seqclass.datasets.text import make_sparse_text


def test_the_cube_shows_each_class_in_its_own_features() -> None:
    data = make_cube(16_000, noise_std=0.1, random_state=0)
    assert data.X.shape == (16_000, 20)
    assert np.bincount(data.y).min() > 1800
    for c in range(8):
        rows = data.X[data.y == c]
        own = np.arange(c, c + 3)
        assert rows[:, own].mean(axis=0) == pytest.approx([c & 1, c >> 1 & 1, c >> 2 & 1], abs=0.02)
        assert rows[:, own].std(axis=0) == pytest.approx([0.1] * 3, abs=0.01)
        rest = np.setdiff1d(np.arange(20), own)
        assert rows[:, rest].mean(axis=0) == pytest.approx([0.5] * 17, abs=0.03)
        assert rows[:, rest].min() >= 0
        assert rows[:, rest].max() <= 1
    assert data.informative is not None
    assert data.informative.tolist() == list(range(10))


def test_cube_refuses_too_few_features() -> None:
    with pytest.raises(ValueError, match="n_features"):
        make_cube(10, 9)


def test_madelon_names_say_what_the_columns_are() -> None:
    data = make_madelon_like(300, 60, random_state=3)
    assert data.feature_names is not None
    assert data.informative is not None
    place = {name: j for j, name in enumerate(data.feature_names)}
    assert sorted(name for name in place if name.startswith("informative")) == [f"informative_{i}" for i in range(5)]
    assert [data.feature_names[j].startswith("informative") for j in data.informative] == [True] * 5
    informative = data.X[:, data.informative]
    base = np.column_stack([informative, np.ones(300)])
    for i in range(5):  # a linear combination of the informative ones leaves no rest
        column = data.X[:, place[f"redundant_{i}"]]
        rest = column - base @ np.linalg.lstsq(base, column, rcond=None)[0]
        assert np.abs(rest).max() < 1e-8
    real = data.X[:, [place[name] for name in place if name.startswith(("informative", "redundant"))]]
    for i in range(10):
        assert (real == data.X[:, [place[f"repeated_{i}"]]]).all(axis=0).any()
    probe = data.X[:, place["probe_3"]]
    assert np.abs(probe - base @ np.linalg.lstsq(base, probe, rcond=None)[0]).std() > 0.3


def test_madelon_is_learnt_from_the_informative_features_together() -> None:
    data = make_madelon_like(2600, 30, random_state=0)
    train, test = np.arange(2000), np.arange(2000, 2600)
    scores = []
    for columns in (data.informative, data.informative[:1], np.setdiff1d(np.arange(30), data.informative)[:1]):
        tree = DecisionTreeClassifier(max_depth=8, random_state=0).fit(data.X[train][:, columns], data.y[train])
        scores.append(tree.score(data.X[test][:, columns], data.y[test]))
    assert scores[0] > 0.75
    assert scores[1] < 0.65


def test_madelon_settings() -> None:
    with pytest.raises(ValueError, match="fewer than the 20"):
        make_madelon_like(10, 10)
    with pytest.raises(ValueError, match="has 4"):
        make_madelon_like(10, 50, n_informative=2)


@pytest.mark.parametrize("exponent", [0.0, 1.0, 1.2])
def test_words_follow_the_law(exponent: float) -> None:
    def law(n: int) -> np.ndarray:
        x = np.arange(1.0, n + 2)
        weights = np.diff(np.log(x)) if exponent == 1 else np.diff(x ** (1 - exponent)) / (1 - exponent)
        return weights / weights.sum()

    n_words, share = 30, 0.3
    data = make_sparse_text(
        4000,
        n_words,
        n_classes=3,
        words_per_text=50,
        topic_share=share,
        exponent=exponent,
        shuffle=False,
        random_state=0,
    )
    for c in range(3):
        own = np.arange(c, n_words, 3)
        topic = np.zeros(n_words)
        topic[own] = law(len(own))
        expected = (1 - share) * law(n_words) + share * topic
        counts = np.asarray(data.X[data.y == c].sum(axis=0)).ravel()
        deviation = (counts - counts.sum() * expected) / np.sqrt(counts.sum() * expected)
        assert np.abs(deviation).max() < 5
    assert data.X.sum() / 4000 == pytest.approx(50, rel=0.02)


@pytest.mark.slow
@pytest.mark.parametrize("exponent", [0.0, 1.0, 2.0])
def test_text_is_sparse_at_any_size(exponent: float) -> None:
    data = make_sparse_text(50, 3_000_000, words_per_text=20, exponent=exponent, random_state=1)
    assert isinstance(data.X, sp.csr_array)
    assert data.X.has_canonical_format
    data.X.check_format()
    assert data.X.shape == (50, 3_000_000)
    assert 0 < data.X.nnz <= data.X.sum()


@pytest.mark.slow
def test_a_million_words_in_little_memory() -> None:
    """The size of news20.binary: 19,996 texts, 1,355,191 words, nine million filled cells."""
    code = (
        "import resource; from seqclass.datasets.text import make_sparse_text; "
        "X = make_sparse_text(20_000, 1_355_191, words_per_text=600).X; "
        "print(X.nnz, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    filled, peak = map(int, done.stdout.split())
    assert filled > 9_000_000
    assert peak * (1 if sys.platform == "darwin" else 1024) < 2 * 2**30


def test_binary_text_is_the_same_text() -> None:
    counts, binary = (make_sparse_text(40, 500, binary=binary, random_state=2).X for binary in (False, True))
    assert ((counts > 0) != (binary > 0)).nnz == 0
    assert set(binary.data.tolist()) == {1.0}


def test_text_in_chunks_and_empty_text(monkeypatch: pytest.MonkeyPatch) -> None:

    def small(n: int, width: float) -> list[slice]:
        return [slice(i, min(n, i + 7)) for i in range(0, n, 7)]

    monkeypatch.setattr("seqclass.datasets.text.chunks", small)
    data = make_sparse_text(50, 1000, random_state=2)
    assert data.X.shape == (50, 1000)
    data.X.check_format()
    assert data.X.sum() > 4000
    assert make_sparse_text(5, 10, words_per_text=0).X.nnz == 0


def test_the_topic_is_what_tells_the_class() -> None:
    data = make_sparse_text(2000, 1000, topic_share=0.3, shuffle=True, random_state=0)
    means = [np.asarray(data.X[data.y == c].mean(axis=0)).ravel()[data.informative] for c in range(2)]
    assert (np.abs(means[0] - means[1]) / np.sqrt(means[0] + means[1]) > 0.02).mean() > 0.9
    assert make_sparse_text(10, 100, topic_share=0).informative is None


@pytest.mark.parametrize(
    "settings", [{"n_features": 1}, {"topic_share": 1.5}, {"exponent": -1}, {"words_per_text": -1}, {"n_classes": 1}]
)
def test_wrong_text(settings: dict[str, float]) -> None:
    with pytest.raises(ValueError, match=next(iter(settings))):
        make_sparse_text(10, **settings)  # type: ignore[arg-type]
