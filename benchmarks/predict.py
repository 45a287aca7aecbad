"""Classifying a million rows against scikit-learn's naive Bayes on the same outcomes.

    python benchmarks/predict.py [--json FILE] [--quick]

Ours asks for a few features a row, scikit-learn reads them all; from raw numbers the discretising is included.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from _common import Row, measure, parser, report
from sklearn.naive_bayes import CategoricalNB
from sklearn.preprocessing import KBinsDiscretizer

from seqclass import SequentialClassifier
from seqclass.discretize import Discretizer

N_FEATURES, N_BINS = 30, 4


def rows_of(n: int, n_classes: int, seed: int) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.intp]]:
    """Features from useless to good, all overlapping, so that rows need different numbers of them."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, n_classes, n)
    centre = np.random.default_rng(0).normal(size=(n_classes, N_FEATURES)) * np.linspace(0, 1, N_FEATURES)
    X = rng.normal(size=(n, N_FEATURES))
    for start in range(0, n, 100_000):
        X[start : start + 100_000] += centre[y[start : start + 100_000]]
    return X, y


def on_outcomes(n: int, n_classes: int, dtype: Any, repeats: int, cost: float = 0.01) -> Row:
    train, y = rows_of(20_000, n_classes, 1)
    bins = Discretizer(N_BINS).fit(train)
    codes, new = bins.transform(train), bins.transform(rows_of(n, n_classes, 2)[0]).astype(dtype)
    ours = SequentialClassifier(discretizer="precomputed", feature_costs=cost).fit(codes, y)
    theirs = CategoricalNB(min_categories=N_BINS).fit(codes, y)
    record = ours.acquire(new[:10_000])
    return measure(
        f"outcomes {np.dtype(dtype)}, {n_classes} classes, {record.n_features.mean():.1f} features asked",
        lambda: ours.predict(new),
        peer="CategoricalNB.predict",
        peer_call=lambda: theirs.predict(new),
        repeats=repeats,
    )


def on_numbers(n: int, n_classes: int, repeats: int) -> Row:
    train, y = rows_of(20_000, n_classes, 1)
    new, _ = rows_of(n, n_classes, 2)
    bins = KBinsDiscretizer(N_BINS, encode="ordinal", strategy="uniform").fit(train)
    ours = SequentialClassifier(discretizer=Discretizer(N_BINS)).fit(train, y)
    theirs = CategoricalNB(min_categories=N_BINS).fit(bins.transform(train), y)
    record = ours.acquire(new[:10_000])
    return measure(
        f"numbers float64, {n_classes} classes, {record.n_features.mean():.1f} features asked",
        lambda: ours.predict(new),
        peer="KBinsDiscretizer.transform, CategoricalNB.predict",
        peer_call=lambda: theirs.predict(bins.transform(new)),
        repeats=repeats,
    )


def main() -> None:
    arguments = parser(__doc__).parse_args()
    n, repeats = (2000, 1) if arguments.quick else (1_000_000, arguments.repeats)
    print(f"predict on {n:,} rows x {N_FEATURES} features, {N_BINS} bins")
    rows = [on_outcomes(n, c, dtype, repeats) for c in (2, 3) for dtype in (np.int8, np.int64)]
    # prices so low that most histories are distinct: our hard case
    rows.append(on_outcomes(n, 3, np.int8, repeats, cost=0.001))
    rows += [on_numbers(n, c, repeats) for c in (2, 3)]
    report(rows, arguments.json)


if __name__ == "__main__":
    main()
