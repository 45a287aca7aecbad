"""What every selector promises, whoever wrote it: found by themselves."""

from __future__ import annotations

import functools
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.naive_bayes import BernoulliNB

import seqclass
from seqclass import selection
from seqclass.bn import InformationFilter
from seqclass.selection import EFS, FIRES, FSDS, OFS, OSFS, SAOLA, AlphaInvesting, FastOSFS, Selector, SemiRFS

FOUND = {
    name: cls
    for name in selection.__all__
    if isinstance(cls := getattr(selection, name), type)
    and issubclass(cls, Selector)
    and not getattr(cls, "__abstractmethods__", None)
    and name not in ("Selector", "FeatureStream")
} | {"InformationFilter": InformationFilter}
#: Settings without which a selector does not suit a small test.
SETTINGS: dict[str, dict[str, Any]] = {
    "SemiRFS": {"estimator": BernoulliNB(binarize=1), "cv": 2, "max_evaluations": 8, "random_state": 0},
    "InformationFilter": {"min_features": 2},
    "OSFS": {"test": "g2"},
    "FastOSFS": {"test": "g2"},
    "OFSA3M": {"random_state": 0},
    "OFSDensity": {"random_state": 0},
    **{
        name: {"n_features_to_select": 3, "n_epochs": 5, "shuffle": True, "random_state": 0}
        for name in ("FIRES", "OFS", "EFS", "FSDS")
    },
}
#: FSDS makes a sketch of the columns' products, which is dense whatever comes in.
DENSE_ONLY = (FSDS,)
#: The sketch ignores the labels, so it cannot tell which columns matter.
UNSUPERVISED = (FSDS,)


def make(name: str) -> Any:
    return FOUND[name](**SETTINGS.get(name, {}))


@pytest.mark.parametrize("name", [name for name in FOUND if name != "InformationFilter"])
def test_a_column_of_text_is_named(name: str) -> None:
    frame = pd.DataFrame({"size": [0, 1, 2] * 10, "colour": ["red", "blue", "red"] * 10})
    with pytest.raises(ValueError, match="column 'colour' of X holds the text 'red', and selectors take numbers"):
        make(name).fit(frame, [0, 1, 1] * 10)


@pytest.fixture(scope="module")
def data() -> tuple[np.ndarray, np.ndarray]:
    """Outcomes of twelve features of which two tell the class, and one repeats another."""
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 400)
    X = rng.integers(0, 3, (400, 12)).astype(np.int8)
    X[:, 3] = np.where(rng.random(400) < 0.1, 1 - y, y) * 2
    X[:, 7] = np.where(rng.random(400) < 0.15, 1 - y, y) * 2
    X[:, 9] = X[:, 3]
    return X, y


@pytest.fixture(scope="module")
def fitted(data: Any) -> Callable[[str], Any]:
    """The selector of that name, fitted to the data once; nobody may change it."""
    return functools.cache(lambda name: make(name).fit(*data))


@pytest.fixture(scope="module")
def staged(data: Any) -> Callable[[str], Any]:
    """A classifier behind it, likewise."""
    return functools.cache(lambda name: seqclass.etana(selector=make(name), discretizer="precomputed").fit(*data))


def test_all_selectors_are_found() -> None:
    rows, columns = {"FIRES", "OFS", "FSDS", "EFS"}, {"SAOLA", "AlphaInvesting", "OSFS", "FastOSFS"}
    assert rows | columns | {"OFSA3M", "OFSDensity", "SemiRFS", "FCBF"} <= set(FOUND)


@pytest.mark.parametrize("name", FOUND)
class TestSelector:
    @pytest.mark.slow_cells("SemiRFS")
    def test_support_mask_indices_and_transform_agree(self, name: str, data: Any, fitted: Any) -> None:
        X, selector = data[0], fitted(name)
        mask, indices = selector.get_support(), selector.get_support(indices=True)
        assert mask.shape == (12,)
        assert np.array_equal(np.flatnonzero(mask), indices)
        assert 1 <= indices.size < 12
        assert np.array_equal(selector.transform(X), X[:, indices])
        assert selector.n_features_in_ == 12

    def test_it_finds_what_tells_the_class(self, name: str, fitted: Any) -> None:
        if FOUND[name] in UNSUPERVISED:
            pytest.skip("does not look at the labels")
        kept = set(fitted(name).get_support(indices=True).tolist())
        assert kept & {3, 9}

    @pytest.mark.slow_cells("SemiRFS")
    def test_two_fits_agree(self, name: str, data: Any, fitted: Any) -> None:
        second = clone(make(name)).fit(*data)
        assert np.array_equal(fitted(name).get_support(), second.get_support())

    @pytest.mark.slow_cells("SemiRFS")
    def test_names_of_a_frame_are_kept(self, name: str, data: Any, fitted: Any) -> None:
        X, y = data
        frame = pd.DataFrame(X, columns=[f"test {j}" for j in range(12)])
        selector = make(name).fit(frame, y)
        kept = selector.get_support(indices=True)
        assert selector.feature_names_in_.tolist() == list(frame.columns)
        assert selector.get_feature_names_out().tolist() == [f"test {j}" for j in kept]
        assert np.array_equal(selector.get_support(), fitted(name).get_support())

    @pytest.mark.covering(1)
    @pytest.mark.parametrize("labels", [["no", "yes"], [1, 2], [-1, 1], [False, True]])
    def test_labels_of_any_kind_give_the_same(self, name: str, data: Any, fitted: Any, labels: list[Any]) -> None:
        X, y = data
        assert np.array_equal(make(name).fit(X, np.array(labels)[y]).get_support(), fitted(name).get_support())

    @pytest.mark.slow_cells("csr_matrix-SemiRFS")
    @pytest.mark.covering(1)
    @pytest.mark.parametrize("kind", [sp.csr_array, sp.csc_array, sp.csr_matrix])
    def test_sparse_equals_dense(self, name: str, data: Any, fitted: Any, kind: Any) -> None:
        X, y = data
        if FOUND[name] in DENSE_ONLY:
            with pytest.raises(TypeError, match=r"[Ss]parse"):
                make(name).fit(kind(X), y)
            return
        assert np.array_equal(make(name).fit(kind(X), y).get_support(), fitted(name).get_support())

    def test_the_number_of_rows_must_agree(self, name: str, data: Any) -> None:
        X, y = data
        if FOUND[name] in UNSUPERVISED:
            pytest.skip("does not look at the labels")
        with pytest.raises(ValueError, match=r"inconsistent|rows|samples"):
            make(name).fit(X, y[:-1])

    def test_infinity_is_refused(self, name: str, data: Any) -> None:
        X = data[0].astype(float)
        X[3, 5] = np.inf
        with pytest.raises(ValueError, match=r"inf|outcome"):
            make(name).fit(X, data[1])

    @pytest.mark.slow_cells("SemiRFS")
    def test_as_a_stage_before_a_classifier(self, name: str, data: Any, staged: Any) -> None:
        clf = staged(name)
        assert set(clf.order_.tolist()) <= set(clf.selector_.get_support(indices=True).tolist())
        if FOUND[name] not in UNSUPERVISED:
            assert clf.score(*data) > 0.8

    def test_saved_within_a_classifier(self, name: str, data: Any, staged: Any, tmp_path: Path) -> None:
        X, clf = data[0], staged(name)
        path = tmp_path / "model.seq"
        if name == "SemiRFS":  # its learner is scikit-learn's
            with pytest.raises(TypeError, match="BernoulliNB"):
                clf.save(path)
            return
        clf.save(path)
        again = seqclass.load(path)
        assert np.array_equal(again.selector_.get_support(), clf.selector_.get_support())
        assert np.array_equal(again.predict(X), clf.predict(X))


@pytest.mark.slow
def test_a_model_is_read_where_no_selector_was_imported(staged: Any, tmp_path: Path) -> None:
    path = tmp_path / "model.seq"
    staged("SAOLA").save(path)
    code = f"import seqclass; print(type(seqclass.load({str(path)!r}).selector_).__name__)"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "SAOLA"


@pytest.mark.parametrize("cls", [FIRES, EFS, OSFS, FastOSFS, SemiRFS])
def test_a_setting_out_of_range_is_named(cls: Any, data: Any) -> None:
    wrong = {
        FIRES: {"learning_rate_mu": -1.0},
        EFS: {"promotion": 0.5},
        OSFS: {"alpha": 2.0},
        FastOSFS: {"alpha": 2.0},
        SemiRFS: {"estimator": BernoulliNB(binarize=1), "alpha": -1.0},
    }[cls]
    with pytest.raises(ValueError, match=next(name for name in wrong if name != "estimator")):
        cls(**wrong).fit(*data)


@pytest.mark.parametrize(
    "make_one",
    [lambda: SAOLA("fisher_z"), OSFS, FastOSFS, AlphaInvesting, lambda: EFS(2), lambda: FIRES(2), lambda: OFS(2)],
)
def test_cells_of_a_sparse_matrix_that_stand_twice_are_one(make_one: Callable[[], Any]) -> None:
    rng = np.random.default_rng(0)
    y = rng.integers(0, 3, 60)
    X = np.where(rng.random((60, 5)) < 0.4, y[:, None], rng.integers(0, 3, (60, 5))) * 2.0
    column = np.tile(np.repeat(np.arange(5), 2), 60)
    twice = sp.csr_array((np.repeat(X / 2, 2), column, np.arange(0, 601, 10)), shape=X.shape)
    wanted, found = make_one().fit(sp.csr_array(X), y), make_one().fit(twice, y)
    for name in ("scores_", "weights_", "p_values_"):
        if hasattr(wanted, name):
            np.testing.assert_allclose(getattr(found, name), getattr(wanted, name))
    assert found.get_support().tolist() == wanted.get_support().tolist()
    assert not twice.has_canonical_format  # what was given stays as it is
