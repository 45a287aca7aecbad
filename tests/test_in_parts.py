"""What is done in parts, so that memory is bounded, is as it is at once: every test here makes the parts small."""

from __future__ import annotations

import tracemalloc
from collections.abc import Callable
from dataclasses import replace
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
from sklearn.datasets import load_breast_cancer

from seqclass import SequentialClassifier
from seqclass._chunks import dasked
from seqclass._utils import arrays, information
from seqclass._utils.information import adjusted_mutual_information, contingency_table
from seqclass.agent.problem import ModelProblem
from seqclass.analysis import missing, missing_sweep
from seqclass.bn import ClassMixture, NaiveBayes, TreeNetwork, _em, _messages, _structure, _tables, ordering
from seqclass.bn._checks import count_outcomes
from seqclass.bn._structure import conditional_mutual_information, pair_weights
from seqclass.bn.ordering import order_by_name
from seqclass.cli import _cases, main
from seqclass.datasets import hidden, text
from seqclass.datasets.conditional import Conditional
from seqclass.datasets.hidden import HiddenStates
from seqclass.datasets.text import make_sparse_text
from seqclass.discretize import Discretizer, _edges, discretizer
from seqclass.large import from_dask
from seqclass.pomdp import (
    DECIDE,
    ClassInformation,
    FittedValueIteration,
    GridValueIteration,
    ProjectedValueIteration,
    TableProblem,
)
from seqclass.pomdp.one_step import stopping_is_certain, stopping_threshold
from seqclass.pomdp.policy import LookaheadPolicy
from seqclass.pomdp.solvers import correlated, fitted
from seqclass.pomdp.solvers.ordering import base as rules
from seqclass.selection import AlphaInvesting, alpha_investing

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
    monkeypatch.setattr(information, "CHUNK_SIZES", replace(information.CHUNK_SIZES, columns=2))
    monkeypatch.setattr(information, "CHUNK_BYTES", 1)
    counted(information, 2)
    assert_array_equal(contingency_table(given, y, 3, 4), whole[0])
    assert_allclose(contingency_table(given, y, 3, 4, weight), whole[1], atol=1e-12)


def test_adjusted_information(monkeypatch: pytest.MonkeyPatch, counted: Any) -> None:
    X, y, _ = outcomes(5, n=200)
    whole = adjusted_mutual_information(X, y)
    monkeypatch.setattr(information, "CHUNK_SIZES", replace(information.CHUNK_SIZES, terms=7))
    counted(information, 1)
    assert_allclose(adjusted_mutual_information(X, y), whole, atol=1e-13)


def test_conditional_information(monkeypatch: pytest.MonkeyPatch) -> None:
    X, y, _ = outcomes(4, n=150)
    described = X, y, count_outcomes(X), int(y.max()) + 1
    whole = conditional_mutual_information(*described)
    monkeypatch.setattr(information, "CHUNK_BYTES", 1)
    assert_allclose(conditional_mutual_information(*described), whole, atol=1e-13)


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
            patched.setattr(_edges, "CHUNK_BYTES", 20_000)
            groups = list(arrays.chunks_by_size(np.arange(150, 4600, 150), 20_000 // (64 + 48)))
            assert max(group.stop - group.start for group in groups) == 1
            assert_array_equal(Discretizer(5, strategy="mdlp").fit(data, y).bin_edges_, whole)


@pytest.mark.parametrize("strategy", ["uniform", "quantile"])
@pytest.mark.parametrize("form", [np.asarray, sp.csr_array])
def test_columns_and_rows_of_bins(strategy: str, form: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(1)
    X = rng.normal(size=(40, 9)) * (rng.random((40, 9)) < 0.6)
    X[3, 2] = np.nan
    whole = Discretizer(4, strategy=strategy).fit(form(X))
    expected = whole.transform(form(X))
    monkeypatch.setattr(discretizer, "chunks", lambda n, *_, **__: (slice(i, min(n, i + 3)) for i in range(0, n, 3)))
    part = Discretizer(4, strategy=strategy).fit(form(X))
    assert_array_equal(part.bin_edges_, whole.bin_edges_)
    codes = part.transform(form(X))
    if sp.issparse(codes):
        codes, expected = codes.toarray(), expected.toarray()
    assert_array_equal(codes, expected)


# selectors


@pytest.mark.parametrize("n_classes", [2, 3, 5])
def test_columns_of_alpha_investing(n_classes: int, monkeypatch: pytest.MonkeyPatch) -> None:
    for seed in range(5):
        rng = np.random.default_rng(seed)
        y = rng.integers(0, n_classes, 80)
        X = rng.normal(size=(80, 40)) + (rng.random(40) < 0.3) * rng.normal(size=(n_classes, 40))[y]
        X[rng.random(X.shape) < 0.4] = 0
        for p_value in ("likelihood", "normal") if n_classes == 2 else ("likelihood",):
            whole = AlphaInvesting(p_value=p_value).fit(X + 3, y)
            with monkeypatch.context() as patched:
                patched.setattr(alpha_investing, "MOST_TOGETHER", 7)
                parts = AlphaInvesting(p_value=p_value).fit(X + 3, y)
            assert parts.selected_.tolist() == whole.selected_.tolist()
            assert parts.wealth_ == pytest.approx(whole.wealth_)
            assert_allclose(parts.p_values_, whole.p_values_, rtol=1e-6, atol=1e-12)


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
    monkeypatch.setattr(_messages, "CACHE_BYTES", 5_000)
    monkeypatch.setattr(_messages, "CHUNK_BYTES", 60_000)
    found = model.posterior(evidence), model.likelihood(3, evidence), model.likelihoods(evidence)
    for a, b in zip(expected, found):
        assert_allclose(a, b, rtol=1e-12)


@pytest.mark.covering(1)
@pytest.mark.parametrize("kept", [True, False])
@pytest.mark.parametrize("form", [np.asarray, sp.csr_array])
def test_rows_of_a_mixture(kept: bool, form: Any, monkeypatch: pytest.MonkeyPatch, counted: Any) -> None:
    X, y, sizes = random_data(7, missing=0.1)
    whole = ClassMixture(3, n_bags=2).fit(form(X), y, n_outcomes=sizes)
    pieces = counted(_em)
    if not kept:
        monkeypatch.setattr(_em, "CHUNK_BYTES", 0)
    parts = ClassMixture(3, n_bags=2).fit(form(X), y, n_outcomes=sizes)
    assert_allclose(parts.weights_, whole.weights_, rtol=1e-10)
    assert_allclose(parts.tables_, whole.tables_, rtol=1e-10)
    assert_array_equal(parts.n_iter_, whole.n_iter_)
    assert max(pieces) > 1


def test_scores_of_orders(counted: Any) -> None:
    X, y, _ = random_data(3, n=200)
    model = NaiveBayes().fit(X, y)
    names = ("error", "information", "variance")
    whole = [order_by_name(name, model, np.ones(model.n_features_in_)).tolist() for name in names]
    pieces = counted(ordering, 2)
    assert [order_by_name(name, model, np.ones(model.n_features_in_)).tolist() for name in names] == whole
    assert max(pieces) == 3


# solvers


def test_scores_of_rules(monkeypatch: pytest.MonkeyPatch) -> None:
    tables = np.random.default_rng(0).dirichlet(np.ones(4), (6, 3)).transpose(0, 2, 1)
    problem = TableProblem(np.full(3, 1 / 3), tables, 0.1, any_order=True)
    belief = problem.initial_belief(40).asking(0).update(np.arange(40) % 4)
    whole = ClassInformation().next(belief)
    assert len(set(whole.tolist())) > 1
    parts: list[int] = []
    scores = ClassInformation.scores
    monkeypatch.setattr(rules, "CHUNK_BYTES", 8 * 8 * 6 * problem.n_questions * 7)
    monkeypatch.setattr(ClassInformation, "scores", lambda self, info: parts.append(len(info)) or scores(self, info))
    assert ClassInformation().next(belief).tolist() == whole.tolist()
    assert parts == [7, 7, 7, 7, 7, 5]


def test_scores_of_many_rows_take_no_more_memory_than_those_of_a_part() -> None:
    """Some six arrays of rows and questions, eight megabytes together, however many rows there are."""
    tables = np.random.default_rng(0).dirichlet(np.ones(4), (30, 3)).transpose(0, 2, 1)
    problem = TableProblem(np.full(3, 1 / 3), tables, 0.1, any_order=True)
    belief = problem.initial_belief(20_000).asking(0).update(np.arange(20_000) % 4)
    ClassInformation().next(belief[:4])
    assert 4 < traced_peak(lambda: ClassInformation().next(belief)) < 8


def test_least_of_many_vectors_takes_no_more_memory_than_a_cache_has() -> None:
    rng = np.random.default_rng(0)
    rows, vectors = rng.dirichlet(np.ones(3), 20_000), rng.random((64, 3))
    assert 2 < traced_peak(lambda: arrays.lower_envelope(rows, vectors)) < 4


def traced_peak(work: Callable[[], Any]) -> float:
    """Most megabytes at a time."""
    tracemalloc.start()
    work()
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return peak / 2**20


@pytest.mark.slow
def test_corrected_values(make_tree: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(correlated, "CACHE_BYTES", 500)
    n_compared = 0
    for seed in range(2):
        tree = make_tree(seed, n_features=6, n_classes=3, spread=0.7)
        prices = np.full(6, 0.005)
        problem = ModelProblem(tree.model, tree.prior, tree.order, prices, 1 - np.eye(3), max_contexts=1)
        policy = ProjectedValueIteration(n_beliefs=400, certificate_paths=0).solve(problem)
        plain, rng = LookaheadPolicy(policy.values), np.random.default_rng(seed)
        belief = problem.initial_belief(300)
        for _ in range(problem.n_stages):
            expected = (plain.continuation_cost(belief) < stopping_threshold(belief)) & ~stopping_is_certain(belief)
            assert_array_equal(policy.action(belief), np.where(expected, belief.stage, DECIDE))
            n_compared += int(expected.sum())
            shares = belief.outcome_probabilities.cumsum(axis=1)
            outcome = (rng.random((300, 1)) * shares[:, -1:] > shares).sum(axis=1)
            outcome[rng.random(300) < 0.2] = -1
            belief = belief.update(outcome)
    assert n_compared > 100


def test_reading_fitted_values(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(0)
    tables = rng.dirichlet(np.full(4, 3.0), (5, 3)).transpose(0, 2, 1)
    problem = TableProblem(rng.dirichlet(np.full(3, 8.0)), np.ascontiguousarray(tables), 0.01)
    values = FittedValueIteration(200, certificate_paths=0).solve(problem).values
    belief = rng.dirichlet(np.ones(3), 100)
    whole = values.value(1, belief)
    monkeypatch.setattr(fitted, "CACHE_BYTES", 2000)
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
    monkeypatch.setattr(hidden, "CACHE_BYTES", 2000)
    assert_allclose(truth.hidden_posterior(X), whole, rtol=1e-12)


def test_a_text_set_has_narrow_positions(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(text, "chunks", lambda n, size: arrays.chunks(n, size, 100_000))
    data = make_sparse_text(200, 500)
    assert data.X.indices.dtype == data.X.indptr.dtype == np.int32


# commands and chunks of data


@pytest.mark.slow
def test_predict(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    frame, ill = people(60)
    frame = frame.drop(columns="flag")
    SequentialClassifier(feature_costs=0.01).fit(frame, ill).save(tmp_path / "model.seq")
    frame.to_csv(tmp_path / "data.csv", index=False)
    command = ["predict", str(tmp_path / "model.seq"), str(tmp_path / "data.csv")]
    whole = CliRunner().invoke(main, command)
    assert whole.exit_code == 0, whole.output
    monkeypatch.setattr(_cases, "usual_rows", lambda _: 7)
    assert CliRunner().invoke(main, command).stdout == whole.stdout


@pytest.mark.slow
def test_rows_of_missing_features(monkeypatch: pytest.MonkeyPatch) -> None:
    """The same where nothing is missing, and the same in distribution where cells are drawn."""
    X, y = load_breast_cancer(return_X_y=True)
    clf = SequentialClassifier(solver=GridValueIteration(60, certificate_paths=0)).fit(X[::2], y[::2])
    X, y = X[1::2], y[1::2]
    whole = missing_sweep(clf, X, y, [0, 0.3], n_repeats=20)
    sizes = []

    def small(n: int, row_bytes: float) -> Any:
        for rows in arrays.chunks(n, row_bytes, budget=int(50 * row_bytes)):
            sizes.append(rows.stop - rows.start)
            yield rows

    monkeypatch.setattr(missing, "chunks", small)
    parts = missing_sweep(clf, X, y, [0, 0.3], n_repeats=20)
    assert max(sizes) == 50
    assert sum(sizes) == len(X)
    for name in ("accuracy", "n_features", "n_asked", "cost", "log_loss"):
        one, other = getattr(whole, name), getattr(parts, name)
        assert one[0] == pytest.approx(other[0])
        errors = [getattr(sweep, f"{name}_error")[1] for sweep in (whole, parts)]
        assert abs(one[1] - other[1]) < 5 * np.hypot(*errors)


@pytest.mark.slow
def test_only_statistics_are_gathered_by_dask(monkeypatch: pytest.MonkeyPatch) -> None:
    """No task has the rows of two partitions, and statistics are added up a few at a time."""
    frames = pytest.importorskip("dask.dataframe")
    seen: list[int] = []
    added: list[int] = []
    statistic, add = dasked._statistic, dasked.add_up

    def counted(number: int, X: Any, *more: Any) -> Any:
        seen.append(len(X))
        return statistic(number, X, *more)

    def counted_sums(of: Any, parts: list[Any]) -> Any:
        added.append(len(parts))
        return add(of, parts)

    monkeypatch.setattr(dasked, "_statistic", counted)
    monkeypatch.setattr(dasked, "add_up", counted_sums)
    frame, ill = people(240)
    quick().fit_chunks(from_dask(frames.from_pandas(frame.assign(ill=ill), npartitions=12), target="ill"))
    assert set(seen) == {20}
    assert max(added) == 8
