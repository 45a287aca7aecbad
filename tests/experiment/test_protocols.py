"""Protocols: every row where it belongs, none in two places."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.model_selection import (
    GroupKFold,
    KFold,
    LeaveOneOut,
    PredefinedSplit,
    RepeatedStratifiedKFold,
    StratifiedKFold,
    StratifiedShuffleSplit,
)

from seqclass import etana
from seqclass.datasets import Dataset, load
from seqclass.experiment import Experiment, SourceSplit
from seqclass.experiment.protocols import HoldOut, Protocol, StratifiedFolds, as_protocol

IRIS = load("iris")


def parts(protocol: Protocol, data: Dataset, seed: int = 0) -> list[tuple[set[int], set[int]]]:
    cuts = (protocol.split(data, fold, seed) for fold in range(protocol.n_folds))
    return [(set(train.tolist()), set(test.tolist())) for train, test in cuts]


def test_folds_score_every_row_once_and_never_learn_from_it() -> None:
    for seed in (0, 1):
        cuts = parts(StratifiedFolds(4), IRIS, seed)
        assert sorted(row for _, test in cuts for row in test) == list(range(150))
        for train, test in cuts:
            assert not train & test
            assert len(train | test) == 150
            assert np.ptp(np.bincount(IRIS.y[sorted(test)])) <= 1
    assert parts(StratifiedFolds(4), IRIS, 0) != parts(StratifiedFolds(4), IRIS, 1)
    assert parts(StratifiedFolds(4), IRIS, 1) == parts(StratifiedFolds(4), IRIS, 1)


def test_hold_out_is_60_20_20_and_its_parts_are_apart() -> None:
    ((train, test),) = parts(HoldOut(), IRIS)
    ((same, valid),) = parts(HoldOut(score="valid"), IRIS)
    assert (len(train), len(valid), len(test)) == (90, 30, 30)
    assert train == same
    assert len(train | valid | test) == 150
    assert np.bincount(IRIS.y[sorted(test)]).tolist() == [10, 10, 10]
    assert parts(HoldOut(), IRIS, 1) != parts(HoldOut(), IRIS, 0)
    ((train, test),) = parts(HoldOut(valid_size=0), IRIS)
    assert (len(train), len(test)) == (120, 30)


def test_hold_out_takes_a_class_of_one_row() -> None:
    data = replace(IRIS, y=np.r_[np.zeros(149, dtype=int), 1])
    ((train, test),) = parts(HoldOut(), data)
    assert (len(train), len(test)) == (90, 30)


def test_source_split() -> None:
    rows = np.arange(150)
    data = replace(IRIS, train_index=rows[:100], valid_index=rows[100:120], test_index=rows[120:])
    assert parts(SourceSplit(), data) == [(set(range(100)), set(range(120, 150)))]
    assert parts(SourceSplit("valid"), data) == [(set(range(100)), set(range(100, 120)))]
    with pytest.raises(ValueError, match="'iris' comes without train_index"):
        SourceSplit().check(IRIS)
    with pytest.raises(ValueError, match="'iris' comes without valid_index"):
        SourceSplit("valid").check(replace(data, valid_index=None))
    with pytest.raises(ValueError, match="row 99 is both in train_index and in test_index"):
        SourceSplit().check(replace(data, test_index=rows[99:]))


@pytest.mark.slow
def test_splitters_of_scikit_learn_cut_as_they_do(tmp_path: Path) -> None:
    protocol = as_protocol(RepeatedStratifiedKFold(n_splits=3, n_repeats=2))
    cuts = parts(protocol, IRIS)
    assert len(cuts) == 6
    assert sorted(row for _, test in cuts[:3] for row in test) == sorted(row for _, test in cuts[3:] for row in test)
    assert cuts == parts(protocol, IRIS) != parts(protocol, IRIS, 1)
    still = as_protocol(StratifiedKFold(3))
    assert parts(still, IRIS) == parts(still, IRIS, 1)

    def run(splitter: Any) -> Any:
        experiment = Experiment(["iris"], {"etana": etana}, prices=[0.01], cv=splitter)
        return experiment.run(tmp_path / "a.run").to_frame()

    first, again = run(StratifiedShuffleSplit(2, test_size=30)), run(StratifiedShuffleSplit(2, test_size=30))
    assert first["n_test"].tolist() == [30, 30]
    assert again["seconds_fit"].tolist() == first["seconds_fit"].tolist()  # nothing is fitted twice
    assert run(StratifiedShuffleSplit(2, test_size=15))["n_test"].tolist() == [15, 15]


def test_what_is_refused() -> None:
    with pytest.raises(ValueError, match="at most 50 rows of a class, too few for 51 folds"):
        StratifiedFolds(51).check(IRIS)
    with pytest.raises(ValueError, match="n_splits"):
        StratifiedFolds(1)
    with pytest.raises(ValueError, match="must leave rows"):
        HoldOut(0.5, 0.5)
    with pytest.raises(ValueError, match="must leave rows"):
        HoldOut(valid_size=0, score="valid")
    with pytest.raises(ValueError, match="score"):
        HoldOut(score="train")
    with pytest.raises(TypeError, match="cv must be"):
        as_protocol("5")
    with pytest.raises(TypeError, match="cv must be"):
        as_protocol(StratifiedKFold)
    assert as_protocol(np.int64(3)) == StratifiedFolds(3)
    with pytest.raises(ValueError, match="cv must be at least 2, got 1"):
        as_protocol(1)
    for splitter in (LeaveOneOut(), GroupKFold(3), KFold(151), PredefinedSplit(np.full(150, -1))):
        with pytest.raises(
            ValueError, match=f"cv: {type(splitter).__name__} does not split 'iris' by its rows and labels"
        ):
            as_protocol(splitter).check(IRIS)
