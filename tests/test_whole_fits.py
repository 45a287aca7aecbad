"""A fit that an error or Ctrl-C ends half-way leaves what there was before."""

from __future__ import annotations

import pickle
import re
from functools import partial
from typing import Any
from unittest.mock import Mock

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.utils.validation import check_is_fitted
from two_threads import interrupted

from seqclass import SequentialClassifier, adaptive
from seqclass.bn import ClassMixture, ContextBayes, DiscreteNetwork, NaiveBayes, NetworkTables, TreeNetwork
from seqclass.discretize import Discretizer
from seqclass.exams import ItemResponse
from seqclass.selection import FCBF, FIRES, OSFS

RNG = np.random.default_rng(0)
Y = np.repeat([0, 1], 20)
X = (RNG.random((40, 3)) < 0.3 + 0.4 * Y[:, None]).astype(int)
FLU = NetworkTables(["flu", "fever"], [["no", "yes"]] * 2, [[], [0]], [[0.9, 0.1], [[0.8, 0.3], [0.2, 0.7]]])


def told(estimator: Any) -> str:
    return re.sub(r" at 0x\w+", "", repr(sorted((name, repr(value)) for name, value in vars(estimator).items())))


@pytest.mark.slow_cells("ItemResponse", "ContextBayes")
@pytest.mark.parametrize(
    "estimator",
    [
        NaiveBayes(),
        TreeNetwork(),
        ClassMixture(2, max_iter=2),
        ContextBayes(),
        DiscreteNetwork(FLU, "flu"),
        ItemResponse(cuts=[0.0], max_iter=1),
        Discretizer(),
        FCBF(),
        FIRES(),
        OSFS(),
    ],
    ids=lambda one: type(one).__name__,
)
def test_an_interrupted_fit_leaves_what_there_was(estimator: Any) -> None:
    rows = (X[:, :1], np.array(["no", "yes"])[Y]) if isinstance(estimator, DiscreteNetwork) else (X, Y)
    fitted = clone(estimator).fit(*rows)
    if isinstance(estimator, (NaiveBayes, DiscreteNetwork)):
        fitted.posterior(rows[0])
    names, before = {"fit", "_fit", "_learn", "_begin", "_absorb", "_start", "_check_common", "_cut"}, told(fitted)
    make = partial(pickle.loads, pickle.dumps(fitted))
    known = told(make())
    new = (rows[0][::-1], rows[1]) if isinstance(estimator, DiscreteNetwork) else (1 - X[5:, :2], 1 - Y[5:])
    after = [told(one) for one in interrupted(make, lambda one: one.fit(*new), names)]
    assert len(after) > 4
    assert after == [known] * len(after)
    assert told(fitted) == before
    check_is_fitted(fitted)


@pytest.mark.parametrize(
    "clf, fit, where",
    [
        (SequentialClassifier(), lambda clf: clf.fit(1 - X, Y), "seqclass.agent.provenance.Provenance.of_fit"),
        (SequentialClassifier(), lambda clf: clf.fit(1 - X, Y, held_out=2), "seqclass.classifier.hold_out"),
        (SequentialClassifier(), lambda clf: clf.fit_chunks([(1 - X, Y)], held_out=2), "seqclass.classifier.hold_out"),
        (
            SequentialClassifier(discretizer="precomputed"),
            lambda clf: clf.partial_fit(1 - X, Y, classes=[0, 1], n_outcomes=2),
            "seqclass.agent.provenance.Provenance.of_fit",
        ),
        (adaptive(effort="quick"), lambda clf: clf.fit(1 - X, Y), "seqclass.adaptive_classifier.worth_contexts"),
        (
            adaptive(effort="quick"),
            lambda clf: clf.fit(1 - X, Y, held_out=0),
            "seqclass.agent.provenance.Provenance.of_fit",
        ),
    ],
    ids=["rows", "held out", "chunks", "further rows", "adaptive, held out", "adaptive"],
)
def test_an_interrupted_fit_leaves_a_classifier_as_it_was(
    clf: Any, fit: Any, where: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What was fitted was gone, or had parts of the new fit; and one that had not been fitted seemed to be."""
    fitted = clone(clf)
    by_parts = clf.get_params().get("discretizer") == "precomputed"
    fitted.partial_fit(X, Y, [0, 1], 2) if by_parts else fitted.fit(X, Y, held_out=0)
    monkeypatch.setattr(where, Mock(side_effect=KeyboardInterrupt))
    for one in (clf, fitted):
        held = dict(vars(one))
        with pytest.raises(KeyboardInterrupt):
            fit(one)
        assert [*vars(one)] == [*held]
        assert all(value is held[name] for name, value in vars(one).items())


def test_interrupted_counts_are_those_before() -> None:
    model = NaiveBayes().partial_fit(X[:20], Y[:20], classes=[0, 1], n_outcomes=2)
    make, known = partial(pickle.loads, pickle.dumps(model)), told(model)
    after = [told(one) for one in interrupted(make, lambda one: one.partial_fit(X[20:], Y[20:]), {"partial_fit"})]
    assert len(after) > 4
    assert after == [known] * len(after)


def test_wrong_rows_leave_the_names_of_those_before() -> None:
    pd = pytest.importorskip("pandas")
    model = NaiveBayes().fit(pd.DataFrame(X, columns=["a", "b", "c"]), Y)
    with pytest.raises(TypeError, match="integer"):
        model.fit(pd.DataFrame(X + 0.5, columns=["d", "e", "f"]), Y)
    assert model.feature_names_in_.tolist() == ["a", "b", "c"]
