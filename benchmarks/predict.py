"""Classifying a million rows against scikit-learn's naive Bayes on the same outcomes; the latency of one row and ten.

    python benchmarks/predict.py [--json FILE] [--quick]

Ours asks for a few features a row, scikit-learn reads them all; from raw numbers the discretising is included.
Latency is that of a call of ``predict``, breast cancer data, the mean of many calls on different rows.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt
from _common import Row, measure, parser, report
from sklearn.datasets import load_breast_cancer
from sklearn.naive_bayes import CategoricalNB
from sklearn.preprocessing import KBinsDiscretizer

from seqclass import SequentialClassifier, etana, ifc2f
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


def one_call(n: int, n_calls: int, recipe: Any, repeats: int) -> Row:
    """Seconds of one call on a few rows."""
    X, y = load_breast_cancer(return_X_y=True)
    codes = KBinsDiscretizer(N_BINS, encode="ordinal", strategy="uniform").fit(X)
    ours, theirs = recipe().fit(X, y), CategoricalNB(min_categories=N_BINS).fit(codes.transform(X), y)
    batches = [X[i : i + n] for i in np.random.default_rng(0).integers(0, len(X) - n, n_calls)]

    def each(predict: Any) -> None:
        for batch in batches:
            predict(batch)

    row = measure(
        f"one call on {n} rows of breast cancer, {recipe.__name__}",
        lambda: each(ours.predict),
        peer="KBinsDiscretizer.transform, CategoricalNB.predict",
        peer_call=lambda: each(lambda batch: theirs.predict(codes.transform(batch))),
        repeats=repeats,
    )
    return replace(row, ours_s=row.ours_s / n_calls, peer_s=(row.peer_s or 0.0) / n_calls)


def main() -> None:
    arguments = parser(__doc__).parse_args()
    n, repeats = (2000, 1) if arguments.quick else (1_000_000, arguments.repeats)
    print(f"predict on {n:,} rows x {N_FEATURES} features, {N_BINS} bins")
    rows = [on_outcomes(n, c, dtype, repeats) for c in (2, 3) for dtype in (np.int8, np.int64)]
    # prices so low that most histories are distinct: our hard case
    rows.append(on_outcomes(n, 3, np.int8, repeats, cost=0.001))
    rows += [on_numbers(n, c, repeats) for c in (2, 3)]
    rows += [one_call(m, 3 if arguments.quick else 300, r, repeats) for r in (etana, ifc2f) for m in (1, 10)]
    report(rows, arguments.json)


if __name__ == "__main__":
    main()
