"""Rows that were drawn with a seed are divided fairly by everything of ours that takes the same seed."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from seqclass import SequentialClassifier
from seqclass._utils.arrays import another_stream, as_generator
from seqclass.analysis import missing_sweep
from seqclass.bn import ordering
from seqclass.discretize import Discretizer
from seqclass.large import read_parquet

N = 5000


def drawn(seed: int = 0) -> tuple[pd.DataFrame, np.ndarray]:
    """Labels by the first numbers of the stream, and features by the following."""
    rng = np.random.default_rng(seed)
    y = (rng.random(N) < 0.3).astype(int)
    return pd.DataFrame({"x": rng.random(N), "z": y + rng.normal(size=N)}), y


def fair(share: float, expected: float, n: int) -> bool:
    return abs(share - expected) < 4 * np.sqrt(expected * (1 - expected) / n)


def test_a_sample_of_files_is_drawn_by_no_label(tmp_path: Path) -> None:
    frame, y = drawn()
    frame.assign(y=y).to_parquet(tmp_path / "rows.parquet")
    X, labels = read_parquet(tmp_path, target="y").sample(1000)
    assert fair(labels.mean(), y.mean(), 1000)
    assert fair(X["x"].to_numpy().mean(), 0.5, 1000)
    clf = SequentialClassifier().fit_chunks(read_parquet(tmp_path, target="y"), sample_rows=1000, held_out=3)
    assert len(clf.held_out_.decisions) == len(labels)


def test_an_order_looks_at_rows_that_no_choice_marks(monkeypatch: pytest.MonkeyPatch) -> None:
    marked = np.zeros(N, dtype=np.intp)
    marked[np.random.default_rng(0).choice(N, N // 5, replace=False)] = 1
    rng = np.random.default_rng(1)
    y = rng.integers(0, 2, N)
    # looked at the marked rows alone, the second column tells the class; of all rows the others tell more
    second = np.where(marked == 1, y, 1 - y)
    third = np.where(rng.random(N) < 0.7, y, 1 - y)
    first = np.where(rng.random(N) < 0.9, y, 1 - y)
    X = np.column_stack([first, second, third])
    whole = ordering.conditional_order(X, y, np.ones(3), np.full(3, 2)).tolist()
    monkeypatch.setattr(ordering, "TUNING", replace(ordering.TUNING, max_rows=N // 5))
    assert ordering.conditional_order(X, y, np.ones(3), np.full(3, 2)).tolist() == whole


def test_cells_go_missing_whatever_they_hold() -> None:
    X = np.random.default_rng(0).random((1000, 1), dtype=np.float32)
    y = (X[:, 0] > 0.5).astype(int)
    clf = SequentialClassifier(discretizer=Discretizer(2), feature_costs=0.001).fit(X[500:], y[500:])
    sweep = missing_sweep(clf, X[:500], y[:500], shares=[0.5], n_repeats=1)
    assert abs(sweep.accuracy[0] - 0.75) < 0.08


def test_a_seed_gives_each_purpose_its_own_stream() -> None:
    streams = [as_generator(seed, purpose).random() for seed in (0, [0, 0], 1) for purpose in ("", "keys", "lots")]
    assert len(set(streams)) == 6  # of 0 and [0, 0] they are the same
    assert as_generator(0, "keys").random() == as_generator(0, "keys").random()
    given, same = np.random.default_rng(3), np.random.default_rng(3)
    assert as_generator(given, "keys").random() == same.random()


@pytest.mark.parametrize("seed", [0, np.int64(0), [0, 1], np.random.SeedSequence(5)])
def test_another_stream_of_a_seed_is_its_own(seed: Any) -> None:
    own, other = as_generator(seed), as_generator(another_stream(seed))
    assert own.integers(2**62) != other.integers(2**62)
    again = as_generator(another_stream(seed))
    assert again.integers(2**62) == as_generator(another_stream(seed)).integers(2**62)
