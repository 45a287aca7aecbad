"""Fitting from chunks: the same model as in memory, and clear words where that cannot be."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from large_cases import cut, people, quick, same, write
from sklearn.datasets import load_breast_cancer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import KBinsDiscretizer

import seqclass
from seqclass import Costs, SequentialClassifier, datasets
from seqclass.adaptive_classifier import AdaptiveClassifier
from seqclass.bn import ClassMixture, ContextBayes, NaiveBayes, TreeNetwork
from seqclass.discretize import Discretizer
from seqclass.large import Chunks, read_parquet
from seqclass.selection import FCBF

X, Y = load_breast_cancer(return_X_y=True)
FRAME, ILL = people(240)
CUTS = st.lists(st.integers(0, 240), max_size=5)


class Listed(Chunks):
    """Chunks of one's own."""

    def __init__(self, pairs: list[tuple[Any, Any]]) -> None:
        self.pairs = pairs

    def __iter__(self) -> Iterator[tuple[Any, Any]]:
        return iter(self.pairs)


@settings(max_examples=settings.default.max_examples * 8 // 25)
@given(CUTS)
def test_any_chunks_give_the_model_of_all_rows(at: list[int]) -> None:
    same(quick().fit(FRAME, ILL), quick().fit_chunks(cut(FRAME, ILL, at)))


@pytest.mark.slow
@settings(max_examples=settings.default.max_examples * 2 // 5)
@given(CUTS, st.sampled_from([{"zero_bin": True}, {"n_bins": "sparsity"}, {"n_bins": 7}, {"n_bins": "n_classes"}]))
def test_sparse_rows_stay_sparse_and_give_the_same(at: list[int], how: dict[str, Any]) -> None:
    rows = sp.random_array((240, 5), density=0.3, rng=np.random.default_rng(1), format="csr")
    rows.data = np.round(rows.data * 6 - 2)
    rows.data[::11] = np.nan
    y = np.arange(240) % 3
    for data in (rows, rows.toarray()):
        clf = quick(discretizer=Discretizer(**how))
        same(clf.fit(data, y), quick(discretizer=Discretizer(**how)).fit_chunks(cut(data, y, at)))


@pytest.mark.parametrize("form", ["bsr", "coo", "csc", "dia", "dok", "lil"])
def test_sparse_chunks_are_of_any_form(form: str) -> None:
    rows = sp.random_array((60, 4), density=0.4, rng=np.random.default_rng(1), format="csr")
    y = np.arange(60) % 2
    chunks = [(X.asformat(form), own) for X, own in cut(rows, y, [7, 30])]
    same(quick().fit(rows, y), quick().fit_chunks(chunks))


WHOLE = [-3.0, 0.0, 2.0, 59.0, 61.0, np.nan]


@pytest.mark.slow
@given(
    st.one_of(*[st.lists(st.sampled_from(some), min_size=2, max_size=30) for some in (WHOLE, [*WHOLE, 0.5, 1e17])]),
    st.data(),
)
def test_few_values_of_parts_are_those_of_all(values: list[float], data: st.DataObject) -> None:
    at = data.draw(st.integers(0, len(values)))
    column, y = np.array(values)[:, None], np.arange(len(values)) % 2
    parts = quick().fit_chunks(cut(column, y, [at])).coder_.discretizer_
    assert parts.few_values_.tolist() == Discretizer().fit(column).few_values_.tolist()


@pytest.mark.parametrize("strategy", ["quantile", "auto"])
def test_quantiles_of_few_rows_are_exact(strategy: str) -> None:
    pytest.importorskip("datasketches")
    for data in (X, sp.csr_array(np.where(np.median(X, axis=0) < X, X, 0))):
        one, other = (quick(discretizer=Discretizer(4, strategy=strategy)) for _ in range(2))
        same(one.fit(data, Y), other.fit_chunks(cut(data, Y, [7, 300])))


def test_quantiles_of_many_rows_are_within_the_rank_error_of_the_sketch() -> None:
    sketches = pytest.importorskip("datasketches")
    values = np.random.default_rng(0).standard_cauchy((60_000, 1))
    values[::3] = 0.0
    clf = quick(discretizer=Discretizer(8, strategy="quantile"))
    clf.fit_chunks(cut(values, np.arange(60_000) % 2, list(range(1500, 60_000, 1500))))
    edges = clf.coder_.discretizer_.bin_edges_[0]
    ranks = np.searchsorted(np.sort(values[:, 0]), edges) / len(values)
    error = sketches.kll_doubles_sketch(2000).normalized_rank_error(False)
    # stated with 99% confidence: five times that is never seen, and zeros are a third of all ranks
    fixed = Discretizer(8, strategy="quantile").fit(values).bin_edges_[0]
    wanted = np.searchsorted(np.sort(values[:, 0]), fixed) / len(values)
    assert len(edges) == len(fixed)
    assert np.abs(ranks - wanted).max() < 5 * error
    assert np.isin(edges, values).all()


@pytest.mark.slow
def test_the_order_of_chunks_does_not_matter_for_counts() -> None:
    chunks = cut(FRAME, ILL, [50, 120, 121])
    one, other = quick(order="given").fit_chunks(chunks), quick(order="given").fit_chunks(chunks[::-1])
    same(one, other)


@pytest.mark.slow
def test_policy_seen_rows_and_held_out_are_those_of_fit_where_the_sample_is_all() -> None:
    one = seqclass.etana().fit(X, Y, held_out=3)
    other = seqclass.etana().fit_chunks(cut(X, Y, [100, 400]), held_out=3)
    same(one, other)
    assert one.policy_.info.upper == other.policy_.info.upper
    assert one.held_out_.cost == other.held_out_.cost
    assert one.agent_.seen.marks.tolist() == other.agent_.seen.marks.tolist()
    assert (one.agent_.seen.n_rows, one.agent_.seen.n_twins) == (
        other.agent_.seen.n_rows,
        other.agent_.seen.n_twins,
    )


def test_marks_of_many_rows_are_the_least_of_all() -> None:
    rows = np.random.default_rng(0).integers(0, 90, (9000, 2)).astype(float)
    y = np.arange(9000) % 2
    clf, other = (SequentialClassifier(order="given", max_features=2) for _ in range(2))
    one, two = (
        clf.fit(rows, y).agent_.seen,
        other.fit_chunks(cut(rows, y, [100, 4000, 8990]), sample_rows=500).agent_.seen,
    )
    assert one is not None
    assert two is not None
    assert not one.complete
    assert one.marks.tolist() == two.marks.tolist()
    assert (one.n_rows, one.n_twins, one.complete) == (two.n_rows, two.n_twins, two.complete)


def test_the_sample_is_uniform_class_by_class_and_by_seed() -> None:
    y = np.repeat(["a", "b", "c"], [6000, 2995, 5])
    rows = np.arange(9000.0)[:, None]
    chunks = Listed(cut(rows, y, [1000, 7000]))
    some, labels = chunks.sample(900, random_state=3)
    assert dict(zip(*np.unique(labels, return_counts=True))) == {"a": 600, "b": 300, "c": 1}
    assert (np.diff(some[:, 0]) > 0).all()
    again, _ = chunks.sample(900, random_state=3)
    other, _ = chunks.sample(900, random_state=4)
    assert again.tolist() == some.tolist() != other.tolist()
    assert 2700 < some[labels == "a"].mean() < 3300
    whole, labels = chunks.sample(9000)
    assert whole[:, 0].tolist() == rows[:, 0].tolist()
    assert labels.tolist() == y.tolist()


@pytest.mark.parametrize("structure", ["tree", "forest", "line"])
def test_trees_from_pair_counts_are_those_of_the_rows(structure: str) -> None:
    codes = np.asarray(Discretizer(4).fit_transform(X[:, :8]))
    codes[::7, 3] = -1
    clf = [quick(observation_model=TreeNetwork(structure), discretizer="precomputed") for _ in range(2)]
    one, other = clf[0].fit(codes, Y).model_, clf[1].fit_chunks(cut(codes, Y, [33, 400]), sample_rows=50).model_
    assert [p.tolist() for p in one.parents_] == [p.tolist() for p in other.parents_]
    for a, b in zip(one.cpds_, other.cpds_):
        np.testing.assert_allclose(a, b, atol=1e-12)
    np.testing.assert_allclose(one.edge_weights_, other.edge_weights_)


def kinds(n: int) -> tuple[Any, Any]:
    rng = np.random.default_rng(0)
    y, kind, chance = rng.integers(2, size=n), rng.integers(3, size=n), rng.random((2, 3, 8))
    return (rng.random((n, 8)) < chance[y, kind]).astype(int), y


@pytest.mark.slow
def test_a_mixture_of_few_rows_is_that_of_the_rows() -> None:
    codes, y = kinds(250)
    models = [quick(observation_model=ClassMixture(n_bags=2), discretizer="precomputed") for _ in range(2)]
    one, other = models[0].fit(codes, y).model_, models[1].fit_chunks(cut(codes, y, [90, 91])).model_
    np.testing.assert_array_equal(one.tables_, other.tables_)


@pytest.mark.slow
def test_a_mixture_goes_on_over_all_rows() -> None:
    codes, y = kinds(5000)
    codes[::9, 2] = -1
    whole = quick(observation_model=ClassMixture(3), discretizer="precomputed").fit(codes, y).model_

    def likelihood(model: ClassMixture) -> float:
        seen = np.where(codes >= 0, model.tables_[np.arange(8), codes].transpose(2, 0, 1), 1.0)
        own = model.hidden_class_[:, None] == y
        return float(np.log((model.weights_[:, None] * seen.prod(axis=2) * own).sum(axis=0)).mean())

    start = ClassMixture(3).fit(*Listed(cut(codes, y, [700, 2900])).sample(1000))
    for rows in (codes, sp.csr_array(codes)):
        part = quick(observation_model=ClassMixture(3), discretizer="precomputed")
        found = part.fit_chunks(cut(rows, y, [700, 2900]), sample_rows=1000).model_
        assert likelihood(found) > likelihood(start)
        assert likelihood(found) == pytest.approx(likelihood(whole), abs=1e-3)
        assert found.class_count_.tolist() == np.bincount(y).tolist()


@pytest.mark.slow
@settings(max_examples=settings.default.max_examples * 2 // 5)
@given(CUTS)
def test_rows_are_added_as_if_they_had_all_been_there(at: list[int]) -> None:
    bins = Discretizer(4).fit(X[:240])
    codes = bins.transform(X[:240])
    clf = quick(discretizer=bins)
    for rows, y in cut(X[:240], Y[:240], at):
        if len(y):
            clf.partial_fit(rows, y, classes=[0, 1])
    expected = quick(discretizer="precomputed").fit(codes, Y[:240])
    np.testing.assert_array_equal(clf.model_.counts_[:, : expected.model_.counts_.shape[1]], expected.model_.counts_)
    assert clf.order_.tolist() == expected.order_.tolist()
    np.testing.assert_array_equal(clf.coder_.range_, [X[:240].min(axis=0), X[:240].max(axis=0)])


def test_added_rows_leave_copies_alone_and_survive_a_file(tmp_path: Path) -> None:
    clf = SequentialClassifier(discretizer="precomputed")
    clf.partial_fit([[0, 1], [1, 1], [1, 0]] * 5, ["a", "b", "b"] * 5, classes=["a", "b"], n_outcomes=2)
    copy = clf.with_prior([0.5, 0.5])
    clf.save(tmp_path / "a.seq")
    clf.partial_fit([[1, 0]] * 10, ["b"] * 10)
    again = seqclass.load(tmp_path / "a.seq").partial_fit([[1, 0]] * 10, ["b"] * 10)
    assert copy.model_.class_count_.tolist() == [5, 10]
    assert again.model_.class_count_.tolist() == clf.model_.class_count_.tolist() == [5, 20]


@pytest.mark.parametrize(
    "change",
    [
        {"feature_costs": 0.2},
        {"feature_costs": Costs(0.01, decision_costs=[[0, 1, 0.1], [1, 0, 0.1]], decisions=["refer"])},
        {"known": ["b"]},
        {"observation_model": NaiveBayes(alpha=9.0, prior=[0.9, 0.1])},
        {"order": "adaptive", "max_features": 1},
    ],
)
def test_rows_are_added_under_settings_that_changed(change: dict[str, Any]) -> None:
    frame = pd.DataFrame(X[:240, :3], columns=["a", "b", "c"])
    bins = Discretizer(4).fit(frame)
    clf = SequentialClassifier(discretizer=bins).partial_fit(frame[:150], Y[:150], classes=[0, 1])
    clf.set_params(**change).partial_fit(frame[150:], Y[150:240])
    whole = SequentialClassifier(discretizer=bins, **change).partial_fit(frame, Y[:240], classes=[0, 1])
    record, expected = clf.acquire(frame), whole.acquire(frame)
    np.testing.assert_array_equal(record.order, expected.order)
    assert record.decision.tolist() == expected.decision.tolist()
    np.testing.assert_allclose(record.paid, expected.paid)
    np.testing.assert_allclose(record.posterior, expected.posterior)


def test_bins_that_were_fitted_to_named_columns_are_for_these() -> None:
    frame = pd.DataFrame(X[:240, :2], columns=["a", "b"])
    clf = SequentialClassifier(discretizer=Discretizer(4).fit(frame[["b", "a"]]))
    with pytest.raises(
        ValueError, match="fitted to the columns 'b', 'a', and the columns of numbers here are 'a', 'b'"
    ):
        clf.partial_fit(frame, Y[:240], classes=[0, 1])
    other = KBinsDiscretizer(4, encode="ordinal", quantile_method="averaged_inverted_cdf").fit(frame[["b", "a"]])
    chunks, clf = [(frame, Y[:240])], SequentialClassifier(discretizer=other)
    with pytest.raises(ValueError, match="fitted to the columns 'b', 'a'"):
        clf.fit_chunks(chunks)
    chunks = [(frame[["b", "a"]], Y[:240])]
    assert clf.fit_chunks(chunks).model_.counts_.sum() == 480


def test_rows_of_other_classes_are_not_added() -> None:
    clf = SequentialClassifier(discretizer="precomputed").partial_fit([[0], [1]], [0, 1], classes=[0, 1], n_outcomes=2)
    with pytest.raises(ValueError, match="classes: those of the first call were 0, 1, and they stay"):
        clf.partial_fit([[0], [1]], [0, 2], classes=[0, 1, 2])
    with pytest.raises(ValueError, match="y has the label 2, which is not among classes: 0, 1"):
        clf.partial_fit([[0], [1]], [0, 2], classes=[1, 0])


@pytest.mark.parametrize(
    "change, said",
    [
        ({"observation_model": TreeNetwork()}, "observation_model: TreeNetwork learns from all rows"),
        ({"selector": FCBF()}, "selector: partial_fit does not see all rows"),
        ({"calibrate": True}, "calibrate: partial_fit"),
    ],
)
def test_rows_are_not_added_to_what_needs_all(change: dict[str, Any], said: str) -> None:
    clf = SequentialClassifier(discretizer="precomputed", **change)
    with pytest.raises(ValueError, match=said):
        clf.partial_fit([[0], [1]], [0, 1], classes=[0, 1], n_outcomes=2)


def test_rows_are_added_only_where_bins_are_fixed() -> None:
    assert not hasattr(SequentialClassifier(), "partial_fit")
    assert not hasattr(AdaptiveClassifier(), "partial_fit")
    with pytest.raises(AttributeError, match="needs bins that are fixed: give a discretizer that is fitted"):
        _ = SequentialClassifier().partial_fit
    clf = SequentialClassifier(discretizer="precomputed")
    with pytest.raises(ValueError, match="needs classes"):
        clf.partial_fit([[0], [1]], [0, 1])
    with pytest.raises(ValueError, match="needs n_outcomes"):
        clf.partial_fit([[0], [1]], [0, 1], classes=[0, 1])
    with pytest.raises(ValueError, match="begin with partial_fit on a clone"):
        quick(discretizer="precomputed").fit([[0], [1]], [0, 1]).partial_fit([[0]], [1])
    clf = quick(discretizer=Discretizer(2).fit(FRAME[["dose"]]))
    with pytest.raises(ValueError, match="'colour' is categorical"):
        clf.partial_fit(FRAME[["colour"]], ILL, classes=["no", "yes"])


@pytest.mark.parametrize(
    ("classes", "message"),
    [
        ([0, 1, np.nan], "classes holds nan"),
        ([0, 1, np.inf], "classes holds inf"),
        ([0, "b"], "classes mixes"),
        ([[0, 1]], "shape"),
    ],
)
def test_classes_of_the_first_call_are_labels(classes, message):
    clf = SequentialClassifier(discretizer="precomputed")
    with pytest.raises(ValueError, match=message):
        clf.partial_fit([[0], [1]], [0, 1], classes=classes, n_outcomes=2)


def generator() -> Iterator[tuple[Any, Any]]:
    yield X, Y


class Shrinking(Chunks):
    """Chunks that are fewer each time."""

    def __init__(self) -> None:
        self.n = 500

    def __iter__(self) -> Iterator[tuple[Any, Any]]:
        self.n -= 100
        yield X[: self.n], Y[: self.n]


class Relabelling(Shrinking):
    """Chunks that have a class more each time."""

    def __iter__(self) -> Iterator[tuple[Any, Any]]:
        self.n -= 100
        yield X, np.where(np.arange(len(Y)) > self.n, 500 - self.n, Y)


once = generator()
REFUSED: dict[str, tuple[Any, type[Exception], str]] = {
    "a generator": (generator(), TypeError, r"generator, which can be gone through only once.*lambda: read\(path\)"),
    "one for all": (lambda: once, ValueError, "no rows: a function has to make a new iterator"),
    "a frame": (FRAME, TypeError, "must be a list of pairs"),
    "a path": ("rows.parquet", TypeError, "read_parquet"),
    "no pairs": ([X], TypeError, "chunk 0 must be a pair"),
    "three labels": ([(X, Y), (X, Y[:3])], ValueError, "chunk 1 has 569 rows and 3 labels"),
    "nothing": ([], ValueError, "no rows"),
    "one class": ([(X[:5], np.zeros(5))], ValueError, "only one class"),
    "texts and numbers": ([(X[:1], [0]), (X[:1], ["a"])], ValueError, "numbers in some chunks and texts in others"),
    "no label": ([(X[:2], [0.0, np.nan])], ValueError, "leave out the rows without a label"),
    "other columns": ([(X, Y), (X[:, :4], Y)], ValueError, "one has 30 and another 4"),
    "other names": ([(FRAME, ILL), (FRAME[FRAME.columns[::-1]], ILL)], ValueError, "where one has 'dose', another has"),
    "other kinds": ([(FRAME, ILL), (X, Y.astype(str))], ValueError, "all data frames, all arrays"),
    "infinity": ([(np.where(X > 1000, np.inf, X), Y)], ValueError, "holds infinity"),
    "fewer rows": (Shrinking(), ValueError, "chunks changed between two passes: .* 300 rows after 400"),
    "other labels": (Relabelling(), ValueError, "between two passes: .* labels that they had not before"),
    "mixed column": (
        [(FRAME[["code"]].assign(code=1.0), ILL), (FRAME[["code"]].assign(code="x"), ILL)],
        ValueError,
        "'code' holds numbers in some chunks and texts in others",
    ),
    "a few texts": (
        [(FRAME[["code"]], ILL), (FRAME[["code"]].assign(code="x")[:9], ILL[:9])],
        ValueError,
        "'code' holds numbers, but 'x' in row 0",
    ),
    "names of rows": (
        [(pd.DataFrame({"id": [f"{c}{i}" for i in range(60)]}), ["a", "b"] * 30) for c in "pq"],
        ValueError,
        "'id' has 120 different texts in 120 rows",
    ),
    "dates": ([(pd.DataFrame({"d": pd.date_range("2020", periods=4)}), [0, 1, 0, 1])], ValueError, "dates"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_cannot_be_gone_through_is_refused(name: str) -> None:
    chunks, error, said = REFUSED[name]
    with pytest.raises(error, match=said):
        quick().fit_chunks(chunks)


NEEDS_ALL: dict[str, tuple[Any, str]] = {
    "ifc2f": (seqclass.ifc2f(), r"selector: InformationFilter needs all rows.*chunks.sample\(100_000\)"),
    "another model": (quick(observation_model=ContextBayes()), "ContextBayes learns from all rows at once"),
    "several parents": (quick(observation_model=TreeNetwork("clique")), "one feature parent at most"),
    "bags": (quick(observation_model=ClassMixture(2, n_bags=3)), "n_bags=3 needs all rows"),
    "averaged": (quick(observation_model=ClassMixture("average")), "n_components='average' needs all rows"),
    "densities": (quick(observation_model=ClassMixture(2, density="normal")), "density='normal' needs all rows"),
    "other bins": (quick(discretizer=KBinsDiscretizer(3, encode="ordinal")), "KBinsDiscretizer has no n_outcomes_"),
    "many bins": (quick(discretizer=Discretizer(40)), "n_bins beyond 32"),
    "adaptive": (AdaptiveClassifier(), r"clf.fit\(\*chunks.sample\(100_000\)\)"),
}


@pytest.mark.parametrize("name", NEEDS_ALL)
def test_what_needs_all_rows_says_what_to_do(name: str) -> None:
    clf, said = NEEDS_ALL[name]
    with pytest.raises((ValueError, AttributeError), match=said):
        clf.fit_chunks(cut(X, Y, [100]), sample_rows=200)


@pytest.mark.parametrize(
    "part", [{"observation_model": ContextBayes()}, {"discretizer": make_pipeline(Discretizer(3))}]
)
def test_what_needs_all_rows_is_refused_before_any_is_read(part: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=next(iter(part))):
        quick(**part).fit_chunks(lambda: pytest.fail("chunks were read"))


def test_a_discretiser_that_is_fitted_and_a_model_that_is_fitted_stay() -> None:
    bins = Discretizer(3).fit(X[:50])
    model = NaiveBayes().fit(bins.transform(X), Y, n_outcomes=bins.n_outcomes_)

    class Ours(Discretizer):
        pass

    ours = Ours(3).fit(X[:50])
    clf = quick(discretizer=ours).fit_chunks(cut(X, Y, [100]))
    np.testing.assert_array_equal(clf.coder_.discretizer_.bin_edges_, bins.bin_edges_)
    np.testing.assert_array_equal(clf.model_.counts_, model.counts_)
    kept = quick(observation_model=model, prefit=True, discretizer=ours).fit_chunks(cut(X, Y, [100]))
    assert kept.model_ is model


@pytest.mark.slow
def test_parquet_is_read_in_chunks_and_gives_the_same(tmp_path: Path) -> None:
    folder = write(tmp_path / "rows", cut(FRAME, ILL, [100, 130]))
    chunks = read_parquet(folder, target="ill", chunk_rows=40)
    sizes = [len(rows) for rows, _ in chunks]
    assert max(sizes) == 40
    assert (sum(sizes), chunks.n_rows()) == (240, 240)
    clf = quick().fit_chunks(chunks)
    same(quick().fit(FRAME.assign(flag=FRAME["flag"].astype(str)), ILL), clf)
    assert clf.target_name_ == "ill"
    assert clf.predict(FRAME[:3]).tolist() == clf.predict(FRAME.assign(flag=FRAME["flag"].astype(str))[:3]).tolist()
    some = quick().fit_chunks(read_parquet(folder, "ill", columns=["visits", "dose"]))
    assert some.feature_names_in_.tolist() == ["visits", "dose"]


@pytest.mark.parametrize("n_columns, most", [(1, 131_072), (17, 2**24 // (8 * 17))])
def test_a_chunk_of_parquet_takes_16_mb_and_has_131_072_rows_at_most(tmp_path: Path, n_columns: int, most: int) -> None:
    for n, sizes in ((most, [most]), (most + 1, [most, 1])):
        frame = pd.DataFrame(np.zeros((n, n_columns), dtype=np.int8), columns=[f"x{j}" for j in range(n_columns)])
        frame.assign(ill=0).to_parquet(tmp_path / "rows.parquet")
        assert [len(rows) for rows, _ in read_parquet(tmp_path / "rows.parquet", target="ill")] == sizes


@pytest.mark.parametrize("index", ["dose", "ill", ["dose", "ill"]])
def test_named_levels_of_an_index_are_columns(tmp_path: Path, index: Any) -> None:
    frame, path = FRAME.assign(ill=ILL), tmp_path / "rows.parquet"
    frame.to_parquet(path)
    plain, (first, labels) = datasets.load(str(path), target="ill"), next(iter(read_parquet(path, target="ill")))
    frame.set_index(index).to_parquet(path)
    named, chunks = datasets.load(str(path), target="ill"), read_parquet(path, target="ill")
    X, y = next(iter(chunks))
    pd.testing.assert_frame_equal(named.X[plain.X.columns], plain.X)
    pd.testing.assert_frame_equal(X[first.columns], first)
    assert y.tolist() == labels.tolist()
    assert named.labels.tolist() == plain.labels.tolist()
    assert chunks.labels().tolist() == sorted(set(ILL))
    frame[::2].sort_values("dose").to_parquet(path)  # whose index nobody named
    assert datasets.load(str(path), target="ill").feature_names == tuple(FRAME)
    assert read_parquet(path, target="ill").columns == list(FRAME)


def test_folders_of_parquet_give_columns_and_hidden_files_are_left_alone(tmp_path: Path) -> None:
    for place, (rows, y) in zip(("north", "south"), cut(FRAME, ILL, [120])):
        folder = tmp_path / f"place={place}"
        folder.mkdir()
        rows.assign(ill=y).to_parquet(folder / "rows.parquet")
    (tmp_path / "_temporary").mkdir()
    (tmp_path / "_temporary" / "x.parquet").write_bytes(b"no table")
    clf = quick().fit_chunks(read_parquet(tmp_path, "ill", drop=["flag"]))
    assert clf.encoder_.categories_["place"].tolist() == ["north", "south"]
    assert "flag" not in clf.feature_names_in_


def test_rows_without_a_label_are_refused_or_left_out(tmp_path: Path) -> None:
    folder = write(tmp_path / "rows", cut(FRAME, ILL.where(ILL.index != 7), [5]))
    with pytest.raises(ValueError, match=r"1.parquet: column 'ill' has a missing label in row 3"):
        quick().fit_chunks(read_parquet(folder, "ill"))
    clf = quick().fit_chunks(read_parquet(folder, "ill", drop_unlabelled=True))
    assert clf.model_.class_count_.sum() == 239


def test_bad_parquet_is_refused(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match="there is no file"):
        read_parquet(tmp_path / "none")
    with pytest.raises(FileNotFoundError, match=r"holds no file that ends in \.parquet"):
        read_parquet(tmp_path)
    folder = write(tmp_path / "rows", cut(FRAME, ILL, [100]))
    with pytest.raises(ValueError, match="has no column 'sick'"):
        read_parquet(folder, "sick")
    with pytest.raises(ValueError, match="name the column of the labels"):
        quick().fit_chunks(read_parquet(folder))
    FRAME.drop(columns="dose").assign(ill=ILL).to_parquet(folder / "2.parquet")
    with pytest.raises(ValueError, match=r"2\.parquet lacks the column 'dose', which other files have"):
        quick().fit_chunks(read_parquet(folder, "ill"))
    (folder / "0.parquet").write_bytes(b"PAR1 nothing")
    with pytest.raises(ValueError, match="no Parquet file, or a damaged one"):
        read_parquet(folder, "ill")


def test_quantiles_without_the_library_say_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "datasketches", None)
    with pytest.raises(ValueError, match=r"pip install 'seqclass\[large\]', or take strategy='uniform'"):
        quick(discretizer=Discretizer(strategy="quantile")).fit_chunks(cut(X, Y, [100]))


@pytest.mark.slow_cells("quantile-7")
@pytest.mark.parametrize(
    ("strategy", "size"),
    [
        pytest.param(*pair, marks=() if pair in (("uniform", 50), ("quantile", 7), ("auto", 400)) else pytest.mark.slow)
        for pair in product(["uniform", "quantile", "auto"], [7, 50, 400])
    ],
)
def test_frequent_values_of_chunks_are_those_of_all_rows(strategy: str, size: int) -> None:
    rng = np.random.default_rng(4)
    spike = rng.random((400, 4)) < [0.9, 0.6, 0.55, 0.4]
    rows = np.where(spike, [-0.25, 7.0, 0.0, 3.0], np.rint(40 * rng.normal(size=(400, 4))) / 8)
    rows[rng.random(rows.shape) < 0.05] = np.nan
    rows = rows[np.argsort(rows[:, 1], kind="stable")]  # so that chunks are unlike
    frame = pd.DataFrame(rows, columns=list("abcd")).assign(kind=np.where(rng.random(400) < 0.8, "x", "y"))
    y = (np.nan_to_num(rows[:, 1]) + rng.normal(size=400) > 6).astype(int)
    clf = quick(discretizer=Discretizer(4, strategy=strategy))
    chunked = quick(discretizer=Discretizer(4, strategy=strategy))
    same(clf.fit(frame, y), chunked.fit_chunks(cut(frame, y, list(range(size, 400, size)))))
    own = clf.coder_.discretizer_.own_bins_.mean(axis=1)
    np.testing.assert_allclose(own, [-0.25, 7.0, 0.0, np.nan], atol=1e-12)
