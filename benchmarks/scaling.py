"""How fitting grows with features (sparse, up to 1,355,191), with classes and with bins.

    python benchmarks/scaling.py [--json FILE] [--quick] [--repeats N]

Of the sparse cases each step has its line, from one fit; the solve must not grow once the horizon holds all that
matters, and the other steps grow with the non-zeros. The peer there is scikit-learn's BernoulliNB, which only counts.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from _common import Row, measure, parser, report
from sklearn.naive_bayes import BernoulliNB, CategoricalNB
from sklearn.preprocessing import KBinsDiscretizer

import seqclass

#: Non-zeros of a column: 9 million of 1,355,191 columns, as in large text and click data.
PER_COLUMN = 9e6 / 1_355_191
STEPS = ("discretize", "parameters", "order", "solve", "certify")


def sparse_data(n: int, n_features: int) -> tuple[Any, Any]:
    """Columns of very different fill, a few that most rows have; every seventh non-zero leans to its column's class."""
    rng = np.random.default_rng(n_features)
    nnz = int(PER_COLUMN * n_features)
    y = rng.integers(0, 2, n)
    column = (n_features * rng.random(nnz) ** 3).astype(np.int64)
    row = rng.integers(0, n, nnz)
    by_class = [np.flatnonzero(y == c) for c in (0, 1)]
    leaning = np.flatnonzero(rng.random(nnz) < 1 / 7)
    for c in (0, 1):
        of = leaning[column[leaning] % 2 == c]
        row[of] = rng.choice(by_class[c], len(of))
    # twenty columns that a tenth of one class has, so that there is something to buy at every size
    strong = np.arange(20) * (n_features // 20)
    for j in strong:
        rows = rng.choice(by_class[int(j) % 2], n // 20, replace=False)
        row, column = np.append(row, rows), np.append(column, np.full(len(rows), j))
    X = sp.coo_array((rng.exponential(size=len(row)), (row, column)), shape=(n, n_features)).tocsr()
    return X, y


def with_features(n: int, n_features: int, cost: float, repeats: int) -> list[Row]:
    X, y = sparse_data(n, n_features)
    clf = seqclass.etana(feature_costs=cost)
    size = f"{n_features:,} features, {X.nnz:,} non-zeros"
    whole = measure(
        f"fit {n:,} rows x {size}",
        lambda: clf.fit(X, y),
        peer="BernoulliNB.fit (counts only)",
        peer_call=lambda: BernoulliNB().fit(X, y),
        repeats=repeats,
    )
    horizon = f", horizon {clf.policy_.n_stages}, gap {clf.policy_.info.gap:.2%}"
    steps = [
        Row(f"  {step}{horizon * (step == 'solve')}", clf.timings_[step], None, None, None, None) for step in STEPS
    ]
    new = X[: min(n, 10_000)]
    steps.append(measure(f"  predict {new.shape[0]:,} rows", lambda: clf.predict(new), repeats=repeats))
    return [whole, *steps]


def dense_data(n: int, n_features: int, n_classes: int) -> tuple[Any, Any]:
    rng = np.random.default_rng(n_classes)
    y = np.arange(n) % n_classes
    centre = rng.normal(size=(n_classes, n_features)) * np.linspace(0.2, 1.2, n_features)
    return rng.normal(size=(n, n_features)) + centre[y], y


def with_settings(name: str, n: int, n_classes: int, n_bins: int, repeats: int) -> list[Row]:
    X, y = dense_data(n, 60, n_classes)
    clf = seqclass.etana(feature_costs=0.01, n_bins=n_bins)

    def peer() -> None:
        bins = KBinsDiscretizer(n_bins, encode="ordinal", strategy="uniform")
        CategoricalNB(min_categories=n_bins).fit(bins.fit_transform(X), y)

    whole = measure(
        name, lambda: clf.fit(X, y), peer="KBinsDiscretizer, CategoricalNB", peer_call=peer, repeats=repeats
    )
    info = clf.policy_.info
    solve = f"  solve, {type(clf.policy_.values).__name__}, horizon {info.n_stages}, gap {info.gap:.2%}"
    seconds = (clf.timings_["solve"], clf.timings_["certify"])
    return [whole, *(Row(n, s, None, None, None, None) for n, s in zip((solve, "  certify"), seconds))]


def main() -> None:
    arguments = parser(__doc__).parse_args()
    quick, repeats = arguments.quick, 1 if arguments.quick else arguments.repeats
    n, cost = (200, 0.05) if quick else (20_000, 0.005)
    rows: list[Row] = []
    for n_features in (60, 120) if quick else (100, 1000, 10_000, 100_000, 1_000_000, 1_355_191):
        # the largest take long enough for one run to tell
        rows += with_features(n, n_features, cost, repeats if n_features < 1_000_000 else 0)
    n = 100 if quick else 5000
    for n_classes in (2,) if quick else range(2, 12):
        rows += with_settings(f"fit {n:,} rows x 60 features, 4 bins, {n_classes} classes", n, n_classes, 4, repeats)
    for n_bins in (3,) if quick else (2, 5, 10, 20, 50):
        rows += with_settings(f"fit {n:,} rows x 60 features, 3 classes, {n_bins} bins", n, 3, n_bins, repeats)
    report(rows, arguments.json)


if __name__ == "__main__":
    main()
