"""Rows in chunks, for the tests of what is larger than memory."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from seqclass import SequentialClassifier
from seqclass.pomdp import FirstK

Chunked = list[tuple[Any, Any]]


def people(n: int, seed: int = 0) -> tuple[pd.DataFrame, pd.Series]:
    """Rows with numbers, few whole numbers, mostly zeros, missing cells, texts, and numbers as texts."""
    rng = np.random.default_rng(seed)
    ill = rng.random(n) < 0.4
    frame = pd.DataFrame(
        {
            "dose": rng.normal(size=n) + ill,
            "visits": rng.integers(0, 4, n) + 2 * ill,
            "zeros": np.where(rng.random(n) < 0.7, 0.0, rng.normal(size=n)),
            "colour": pd.Series(rng.choice(["red", "green", "blue"], n)).where(rng.random(n) < 0.9),
            "code": rng.choice(["1", "2", "3.5"], n),
            "flag": rng.random(n) < 0.5,
        }
    )
    frame.loc[rng.random(n) < 0.1, "dose"] = np.nan
    return frame, pd.Series(np.where(ill, "yes", "no"), name="ill")


def cut(X: Any, y: Any, at: list[int]) -> Chunked:
    """The same rows in chunks, cut at some places, which may coincide."""
    ends = [0, *sorted(at), len(y)]
    take = (lambda z, a, b: z.iloc[a:b]) if hasattr(X, "iloc") else (lambda z, a, b: z[a:b])
    return [(take(X, a, b), take(y, a, b) if hasattr(y, "iloc") else y[a:b]) for a, b in pairwise(ends)]


def quick(**settings: Any) -> SequentialClassifier:
    """A classifier that spends no time on its policy."""
    return SequentialClassifier(**({"solver": FirstK(0, certificate_paths=0)} | settings))


def same(one: SequentialClassifier, other: SequentialClassifier) -> None:
    """Fail where two classifiers have learnt different things."""
    assert one.classes_.tolist() == other.classes_.tolist()
    assert one.order_.tolist() == other.order_.tolist()
    assert one.coder_.n_outcomes_.tolist() == other.coder_.n_outcomes_.tolist()
    np.testing.assert_array_equal(one.coder_.range_, other.coder_.range_)
    for name in ("bin_edges_", "few_values_", "own_bins_", "zero_first_"):
        if hasattr(one.coder_.discretizer_, name):
            np.testing.assert_array_equal(
                getattr(one.coder_.discretizer_, name), getattr(other.coder_.discretizer_, name), name
            )
    np.testing.assert_array_equal(one.model_.counts_, other.model_.counts_)
    assert (
        getattr(one, "feature_names_in_", np.empty(0)).tolist()
        == getattr(other, "feature_names_in_", np.empty(0)).tolist()
    )
    if one.encoder_ is not None:
        categories = (
            {name: found.tolist() for name, found in clf.encoder_.categories_.items()} for clf in (one, other)
        )
        assert next(categories) == next(categories)


def write(folder: Path, chunks: Chunked) -> Path:
    """A folder of Parquet files, a chunk each, with the labels in a column."""
    folder.mkdir()
    for number, (X, y) in enumerate(chunks):
        X.assign(ill=y).to_parquet(folder / f"{number}.parquet", index=False)
    return folder
