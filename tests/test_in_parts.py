"""What is done in parts, so that memory is bounded, is as it is at once: every test here makes the parts small."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from click.testing import CliRunner
from large_cases import people, quick
from mixture_cases import random_data
from numpy.testing import assert_allclose, assert_array_equal
from scipy.stats import norm

from seqclass import SequentialClassifier
from seqclass._chunks import dasked
from seqclass._utils import arrays, information
from seqclass._utils.information import adjusted_mutual_information, contingency_table
from seqclass.bn import ClassMixture, NaiveBayes, TreeNetwork, _em, _messages, _structure, _tables
from seqclass.bn._structure import conditional_mutual_information, pair_weights
from seqclass.cli import _cases, main
from seqclass.datasets import Conditional, HiddenStates, hidden, make_sparse_text, text
from seqclass.discretize import Discretizer, _edges
from seqclass.large import from_dask
from seqclass.pomdp import FittedValueIteration, TableProblem
from seqclass.pomdp.solvers import fitted

FORMS = {"dense": np.asarray, "csr": sp.csr_array, "csc": sp.csc_matrix}


@pytest.fixture
def counted(monkeypatch: pytest.MonkeyPatch) -> Callable[[ModuleType, float], list[int]]:
    """``counted(module, times=7)``: what a module cuts holds so many of its units; how many cuts there were is kept."""

    def small(module: ModuleType, times: float = 7) -> list[int]:
        pieces: list[int] = []

        def cut(n: int, size: float, budget: float = 0) -> Any:
            found = list(arrays.chunks(n, size, times * size))
            pieces.append(len(found))
            return iter(found)

        monkeypatch.setattr(module, "chunks", cut)
        return pieces

    return small


def outcomes(seed: int, **more: Any) -> tuple[Any, Any, Any]:
    """Outcomes of which some are missing, one column is constant and one never seen; labels, and weights."""
    X, y, _ = random_data(seed, n_features=9, missing=0.2, **more)
    X[:, 0], X[:, 2] = 3, -1
    return X, y, np.random.default_rng(seed).random(len(y))


# counts and information


@pytest.mark.parametrize("form", FORMS)
def test_contingency_tables(form: str, monkeypatch: pytest.MonkeyPatch, counted: Any) -> None:
    X, y, weight = outcomes(3)
    given = FORMS[form](X)
    whole = contingency_table(given, y, 3, 4), contingency_table(given, y, 3, 4, weight)
    monkeypatch.setattr(information, "_COLUMNS", 2)
    monkeypatch.setattr(information, "CHUNK_BYTES", 1)
    counted(information, 2)
    assert_array_equal(contingency_table(given, y, 3, 4), whole[0])
    assert_allclose(contingency_table(given, y, 3, 4, weight), whole[1], atol=1e-12)


def test_adjusted_information(monkeypatch: pytest.MonkeyPatch, counted: Any) -> None:
    X, y, _ = outcomes(5, n=200)
    whole = adjusted_mutual_information(X, y)
    monkeypatch.setattr(information, "_TERMS", 7)
    counted(information, 1)
    assert_allclose(adjusted_mutual_information(X, y), whole, atol=1e-13)


def test_conditional_information(monkeypatch: pytest.MonkeyPatch) -> None:
    X, y, _ = outcomes(4, n=150)
    whole = conditional_mutual_information(X, y)
    monkeypatch.setattr(information, "CHUNK_BYTES", 1)
    assert_allclose(conditional_mutual_information(X, y), whole, atol=1e-13)
    monkeypatch.setattr(information, "_FLOAT32_EXACT", 1)
    assert_allclose(conditional_mutual_information(X, y), whole, atol=1e-13)


def test_weights_of_pairs(monkeypatch: pytest.MonkeyPatch) -> None:
    X, y, sizes = random_data(2, n=400, n_features=8)
    weight = np.random.default_rng(3).random(len(y))
    whole = pair_weights(X, y, sizes, 3, weight)
    monkeypatch.setattr(_structure, "CHUNK_BYTES", 2 * 3 * 16 * len(y) * int(sizes.max()))
    assert_allclose(pair_weights(X, y, sizes, 3, weight), whole, rtol=1e-12)


# bins


def test_cuts_where_labels_change(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(0)
    y = rng.integers(3, size=200)
    X = np.round(rng.normal(size=(200, 30)) + rng.normal(size=(3, 30))[y], 1) * (rng.random((200, 30)) < 0.7)
    for data in (X, sp.csr_array(X)):
        whole = Discretizer(5, strategy="mdlp").fit(data, y).bin_edges_
        assert np.isfinite(whole).any()
        with monkeypatch.context() as patched:
            patched.setattr(_edges, "_BUDGET", 20_000)
            groups = list(arrays.chunks_by_size(np.arange(150, 4600, 150), 20_000 // (64 + 48)))
            assert max(group.stop - group.start for group in groups) == 1
            assert_array_equal(Discretizer(5, strategy="mdlp").fit(data, y).bin_edges_, whole)


# models


def test_naive_bayes_of_sparse_rows(counted: Any) -> None:
    X, y, sizes = random_data(15, n=200, n_features=40, missing=0.3)
    model = NaiveBayes().fit(X, y, n_outcomes=sizes)
    expected = model.posterior(X)
    pieces = counted(_tables)
    assert_allclose(model.posterior(sp.csr_array(X)), expected, rtol=1e-10)
    assert_allclose(model.posterior(X[:3]), expected[:3], rtol=1e-10)
    assert max(pieces) > 1


def test_messages_of_a_tree(monkeypatch: pytest.MonkeyPatch) -> None:
    X, y, _ = random_data(13, n_features=8)
    model = TreeNetwork().fit(X, y)
    evidence = random_data(14, n=100, n_features=8, missing=0.5)[0]
    evidence = np.where(evidence < 0, -1, evidence % model.n_outcomes_)
    expected = model.posterior(evidence), model.likelihood(3, evidence), model.likelihoods(evidence)
    monkeypatch.setattr(_messages, "_MESSAGE_BYTES", 600)
    monkeypatch.setattr(_messages, "CHUNK_BYTES", 60_000)
    found = model.posterior(evidence), model.likelihood(3, evidence), model.likelihoods(evidence)
    for a, b in zip(expected, found):
        assert_allclose(a, b, rtol=1e-12)


@pytest.mark.parametrize("kept", [True, False])
@pytest.mark.parametrize("form", [np.asarray, sp.csr_array])
def test_rows_of_a_mixture(kept: bool, form: Any, monkeypatch: pytest.MonkeyPatch, counted: Any) -> None:
    X, y, sizes = random_data(7, missing=0.1)
    whole = ClassMixture(3, n_bags=2).fit(form(X), y, n_outcomes=sizes)
    pieces = counted(_em)
    if not kept:
        monkeypatch.setattr(_em, "_KEPT_BYTES", 0)
    parts = ClassMixture(3, n_bags=2).fit(form(X), y, n_outcomes=sizes)
    assert_allclose(parts.weights_, whole.weights_, rtol=1e-10)
    assert_allclose(parts.tables_, whole.tables_, rtol=1e-10)
    assert_array_equal(parts.n_iter_, whole.n_iter_)
    assert max(pieces) > 1


# solvers


def test_reading_fitted_values(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(0)
    tables = rng.dirichlet(np.full(4, 3.0), (5, 3)).transpose(0, 2, 1)
    problem = TableProblem(rng.dirichlet(np.full(3, 8.0)), np.ascontiguousarray(tables), 0.01)
    values = FittedValueIteration(200, certificate_paths=0).solve(problem).values
    belief = rng.dirichlet(np.ones(3), 100)
    whole = values.value(1, belief)
    monkeypatch.setattr(fitted, "_READ_BYTES", 2000)
    assert_allclose(values.value(1, belief), whole, rtol=1e-12)


# data


def test_posteriors_of_hidden_states(monkeypatch: pytest.MonkeyPatch) -> None:
    classes = np.array([0, 1, 1, 0, 1])
    normal = Conditional(tuple(norm(*pair) for pair in [(0, 1), (1, 0.5), (-1, 2)]), np.array([0, 1, 2, 1, 0]))
    table = Conditional.from_table([3.0, -1.0], np.array([[0.5, 0.1, 0.2, 1.0, 0.2], [0.5, 0.9, 0.8, 0.0, 0.8]]))
    truth = HiddenStates(np.array([0.1, 0.3, 0.2, 0.25, 0.15]), classes, (normal, table))
    X, _ = truth.sample(200, random_state=0)
    X[np.random.default_rng(1).random(X.shape) < 0.3] = np.nan
    whole = truth.hidden_posterior(X)
    monkeypatch.setattr(hidden, "_CHUNK", 2000)
    assert_allclose(truth.hidden_posterior(X), whole, rtol=1e-12)


def test_a_text_set_has_narrow_positions(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(text, "chunks", lambda n, size: arrays.chunks(n, size, 100_000))
    data = make_sparse_text(200, 500)
    assert data.X.indices.dtype == data.X.indptr.dtype == np.int32


# commands and chunks of data


def test_predict(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    frame, ill = people(60)
    frame = frame.drop(columns="flag")
    SequentialClassifier(feature_costs=0.01).fit(frame, ill).save(tmp_path / "model.seq")
    frame.to_csv(tmp_path / "data.csv", index=False)
    command = ["predict", str(tmp_path / "model.seq"), str(tmp_path / "data.csv")]
    whole = CliRunner().invoke(main, command)
    assert whole.exit_code == 0, whole.output
    monkeypatch.setattr(_cases, "_MAX_ROWS", 7)
    assert CliRunner().invoke(main, command).stdout == whole.stdout


def test_only_statistics_are_gathered_by_dask(monkeypatch: pytest.MonkeyPatch) -> None:
    """No task has the rows of two partitions, and statistics are added up a few at a time."""
    frames = pytest.importorskip("dask.dataframe")
    seen: list[int] = []
    added: list[int] = []
    statistic, add = dasked._statistic, dasked._added

    def counted(number: int, X: Any, *more: Any) -> Any:
        seen.append(len(X))
        return statistic(number, X, *more)

    def counted_sums(of: Any, parts: list[Any]) -> Any:
        added.append(len(parts))
        return add(of, parts)

    monkeypatch.setattr(dasked, "_statistic", counted)
    monkeypatch.setattr(dasked, "_added", counted_sums)
    frame, ill = people(240)
    quick().fit_chunks(from_dask(frames.from_pandas(frame.assign(ill=ill), npartitions=12), target="ill"))
    assert set(seen) == {20}
    assert max(added) == 8
