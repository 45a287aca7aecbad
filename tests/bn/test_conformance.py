"""Every observation model that `seqclass.bn` and `seqclass.exams` export, found rather than listed."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone

import seqclass.bn
import seqclass.exams
from seqclass import SequentialClassifier, load
from seqclass.bn import NaiveBayes, NetworkTables, ObservationModel, TreeNetwork
from seqclass.pomdp import FirstK
from seqclass.testing import check_observation_model

SIZES = (2, 2, 2, 2)


def found(modules: Iterable[Any] = (seqclass.bn, seqclass.exams)) -> dict[str, Any]:
    """The models of some modules: whatever they export that may be fitted."""
    exported = [getattr(module, name) for module in modules for name in module.__all__]
    kinds = [kind for kind in exported if isinstance(kind, type) and issubclass(kind, ObservationModel)]
    return {kind.__name__: kind for kind in kinds if not getattr(kind, "__abstractmethods__", None)}


def network() -> NetworkTables:
    rng = np.random.default_rng(1)
    states = [["0", "1"]] * 5
    tables = [np.array([0.4, 0.6]), *(rng.dirichlet([1, 1], 2).T for _ in SIZES)]
    return NetworkTables(["y", "a", "b", "c", "d"], states, [[], [0], [0], [0], [0]], tables)


#: Settings without which a model does not suit the rows below; a new model needs an entry only where it has no default.
SETTINGS: dict[str, dict[str, Any]] = {
    "DiscreteNetwork": {"network": network(), "target": "y"},
    "ItemResponse": {"kind": "2PL", "points": 11, "max_iter": 20},
    "SkillProfile": {"q_matrix": np.eye(2, dtype=int)[[0, 1, 0, 1]], "target": 0, "labels": ["0", "1"]},
}


@pytest.fixture(scope="module")
def data() -> tuple[Any, Any]:
    """Outcomes of four questions that depend on two classes, and one on another."""
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 60)
    X = (rng.random((60, 4)) < np.where(y[:, None] == 1, 0.75, 0.3)).astype(np.int8)
    X[:, 3] = np.where(rng.random(60) < 0.8, X[:, 2], X[:, 3])
    X[:2] = [[0] * 4, [1] * 4]
    return X, y.astype(str)


def conforms(kind: Any, X: Any, y: Any, path: Path) -> None:
    """What every model promises, alone, in a classifier, and once it was saved and read again."""
    model = kind(**SETTINGS.get(kind.__name__, {}))
    check_observation_model(model, X[:30], y[:30])
    model.fit(X, y)
    nothing = np.full((1, X.shape[1]), -1, dtype=X.dtype)
    for feature, table in enumerate(model.likelihood_table()):
        np.testing.assert_allclose(table, model.likelihood(feature, nothing)[0], rtol=1e-9, atol=1e-12)
    clf = SequentialClassifier(kind(**SETTINGS.get(kind.__name__, {})), FirstK(4), discretizer="precomputed").fit(X, y)
    clf.save(path / "model.seq")
    read = load(path / "model.seq")
    np.testing.assert_array_equal(read.predict_proba(X), clf.predict_proba(X))
    np.testing.assert_array_equal(read.model_.posterior(X), clf.model_.posterior(X))


def test_all_models_are_found() -> None:
    known = {"NaiveBayes", "TreeNetwork", "ClassMixture", "ContextBayes", "DiscreteNetwork", "ItemResponse"}
    assert known | {"SkillProfile"} <= found().keys()


@pytest.mark.slow_cells("ClassMixture", "ContextBayes", "ItemResponse", "SkillProfile")
@pytest.mark.parametrize("name", found())
def test_a_model_keeps_its_promises(name: str, data: Any, tmp_path: Path) -> None:
    conforms(found()[name], *data, tmp_path)


class Swapped(NaiveBayes):
    """Says of the second question that it shows what it does not."""

    def _likelihood(self, feature: int, evidence: Any) -> Any:
        right = super()._likelihood(feature, evidence)
        return right[:, ::-1] if feature == 1 else right


class AnotherTable(NaiveBayes):
    """Its table says something else than its likelihoods."""

    def _likelihood_table(self, features: Any) -> Any:
        return super()._likelihood_table(features)[:, ::-1]

    def _likelihood(self, feature: int, evidence: Any) -> Any:
        return super()._likelihood(feature, evidence)[:, ::-1]


@pytest.mark.parametrize("kind", [Swapped, AnotherTable])
def test_a_model_of_wrong_likelihoods_is_found_and_fails(kind: Any, data: Any, tmp_path: Path) -> None:
    module = SimpleNamespace(__all__=["New", "new"], New=kind, new=len)
    assert found([seqclass.bn, module]).keys() == {*found([seqclass.bn]), kind.__name__}
    with pytest.raises(AssertionError):
        conforms(kind, *data, tmp_path)


@pytest.mark.parametrize("model", [NaiveBayes(), TreeNetwork()], ids=["bayes", "tree"])
def test_columns_of_a_data_frame_go_by_their_names(model: Any) -> None:
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 60)
    codes = pd.DataFrame({"a": rng.integers(0, 3, 60), "b": y, "c": rng.integers(0, 3, 60)})
    wanted = clone(model).fit(codes.to_numpy(), y).posterior(codes.to_numpy())
    fitted = clone(model).fit(codes, y)
    for evidence in (codes, codes[["c", "b", "a"]], codes.assign(other=9)[["other", "c", "a", "b"]], codes.to_numpy()):
        np.testing.assert_array_equal(fitted.posterior(evidence), wanted)
    with pytest.raises(ValueError, match="the data frame has no column 'b', which the model was fitted with"):
        fitted.posterior(codes[["c", "a"]])
    assert not hasattr(fitted.fit(codes.to_numpy(), y), "feature_names_in_")


def test_rows_that_come_later_go_by_their_names() -> None:
    codes = pd.DataFrame({"a": [0, 1, 0, 1], "b": [1, 1, 0, 0]})
    model = NaiveBayes().partial_fit(codes[:2], [0, 1], classes=[0, 1], n_outcomes=2)
    model.partial_fit(codes[2:][["b", "a"]], [1, 0])
    wanted = NaiveBayes().fit(codes.to_numpy(), [0, 1, 1, 0])
    np.testing.assert_array_equal(model.posterior(codes), wanted.posterior(codes.to_numpy()))
