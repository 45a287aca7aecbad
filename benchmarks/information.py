"""Information measures and counts against the ordinary ways to compute them.

    python benchmarks/information.py [--json FILE] [--full]

`peak_mb` is the most memory that the process has held so far (`ru_maxrss`), data included, right after our
own run and before the peer's: it includes earlier cases
and their peers and can only grow, so the small cases come first.
"""

from __future__ import annotations

import argparse
import json
import resource
import sys
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.metrics import adjusted_mutual_info_score, mutual_info_score

from seqclass._information import (
    adjusted_mutual_information,
    contingency_table,
    mutual_information,
)
from seqclass._pairs import conditional_mutual_information
from seqclass.discretize import Discretizer

Row = dict[str, Any]


def seconds(work: Callable[[], object]) -> float:
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def peak_mb() -> float:
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak / (2**20 if sys.platform == "darwin" else 2**10)


def case(
    name: str,
    ours: Callable[[], object],
    peer: str,
    other: Callable[[], object],
    scale: float = 1,
    repeats: int = 3,
) -> Row:
    """Time ours (best of a few) and the peer, multiplied by `scale` if it does only a part of the work."""
    ours_s = min(seconds(ours) for _ in range(repeats))
    peak = peak_mb()
    peer_s = seconds(other) * scale
    row = {
        "name": name,
        "ours_s": round(ours_s, 5),
        "peer": peer,
        "peer_s": round(peer_s, 4),
        "ratio": round(peer_s / ours_s, 2),
        "peak_mb": round(peak, 1),
    }
    print(f"{name:62} {ours_s:9.3f} {peer_s:9.3f} {row['ratio']:9.1f} {peak:8.0f}  {peer}", flush=True)
    return row


def outcomes(rng: np.random.Generator, n: int, n_features: int, V: int = 4, C: int = 2) -> tuple[Any, Any]:
    y = rng.integers(0, C, n)
    X = rng.integers(0, V, (n, n_features)).astype(np.int8)
    follows = rng.random((n, n_features)) < np.linspace(0, 0.5, n_features)
    return np.where(follows, y[:, None] % V, X).astype(np.int8), y


def columnwise_tables(X: Any, y: Any, C: int, V: int) -> Any:
    return np.stack([np.bincount(x.astype(np.int64) * C + y, minlength=V * C).reshape(V, C) for x in X.T])


def pairwise_information(X: Any, y: Any, C: int, V: int) -> Any:
    """Conditional information of every pair by one bincount each, the plain numpy way."""
    n, n_features = X.shape
    columns = X.T.astype(np.int64)
    result = np.zeros((n_features, n_features))
    for i in range(n_features):
        base = (y * V + columns[i]) * V
        for j in range(i, n_features):
            p = np.bincount(base + columns[j], minlength=C * V * V).reshape(C, V, V) / n
            independent = p.sum(2, keepdims=True) * p.sum(1, keepdims=True) / p.sum((1, 2), keepdims=True)
            some = p > 0
            result[i, j] = result[j, i] = (p[some] * np.log(p[some] / independent[some])).sum()
    return result


def masked_sparse_tables(X: Any, y: Any, C: int, V: int) -> Any:
    """Counts of sparse columns by scipy: one masked product for every outcome."""
    onehot = sp.csr_array((np.ones(len(y)), (np.arange(len(y)), y)), shape=(len(y), C))
    counts = np.zeros((X.shape[1], V, C))
    for v in range(1, V):
        part = X.copy()
        part.data = (X.data == v).astype(np.float64)
        counts[:, v] = (part.T @ onehot).toarray()
    counts[:, 0] = np.bincount(y, minlength=C) - counts.sum(axis=1)
    return counts


def dense_cases(rng: np.random.Generator, full: bool) -> list[Row]:
    rows = []
    X, y = outcomes(rng, 57, 12_533, C=3)
    rows.append(
        case(
            "contingency, 57 rows x 12,533 features, 3 classes",
            lambda: contingency_table(X, y, 3, 4),
            "numpy bincount per column",
            lambda: columnwise_tables(X, y, 3, 4),
        )
    )
    X, y = outcomes(rng, 2000, 500)
    rows.append(
        case(
            "conditional MI, 2000 rows x 500 features",
            lambda: conditional_mutual_information(X, y),
            "numpy bincount per pair",
            lambda: pairwise_information(X, y, 2, 4),
        )
    )
    X, y = outcomes(rng, 2000, 20_000)
    sample = np.arange(20_000) if full else rng.choice(20_000, 400, replace=False)
    scale = 20_000 / len(sample)
    how = "" if full else f", {len(sample)} columns timed and scaled"
    rows.append(
        case(
            "mutual information, 2000 rows x 20,000 features",
            lambda: mutual_information(X, y),
            f"sklearn mutual_info_score per column{how}",
            lambda: [mutual_info_score(y, X[:, j]) for j in sample],
            scale,
        )
    )
    ours: Any = None

    def adjusted() -> None:
        nonlocal ours
        ours = adjusted_mutual_information(X, y)

    def peer() -> None:
        worst = max(abs(adjusted_mutual_info_score(y, X[:, j]) - ours[j]) for j in sample)
        if worst > 1e-10:
            raise AssertionError(f"adjusted mutual information differs from scikit-learn's by {worst:g}")

    name = "adjusted MI, 2000 rows x 20,000 features"
    rows.append(case(name, adjusted, f"sklearn adjusted_mutual_info_score per column{how}", peer, scale))
    return rows


def sparse_cases(rng: np.random.Generator) -> list[Row]:
    n, n_features, nnz = 20_000, 1_355_191, 9_000_000
    column = (n_features * rng.random(nnz) ** 3).astype(np.int64)
    cells = rng.integers(0, n, nnz), column
    values = sp.coo_array((rng.exponential(size=nnz), cells), shape=(n, n_features)).tocsr()
    del column, cells
    y = rng.integers(0, 2, n)
    X = Discretizer(4).fit_transform(values)
    size = f"{n:,} x {n_features:,} sparse, {values.nnz / 1e6:.1f}M non-zeros"
    # a sample over the whole range, as the first columns are the fullest
    few = rng.choice(n_features, 1000, replace=False)
    scale = n_features / len(few)
    part, part_values = X[:, few].toarray(), values[:, few].tocsc()
    rows = [
        case(
            f"contingency, {size}",
            lambda: contingency_table(X, y, 2, 4),
            "scipy product with one-hot classes per outcome",
            lambda: masked_sparse_tables(X, y, 2, 4),
        ),
        case(
            f"adjusted MI, {size}",
            lambda: adjusted_mutual_information(X, y),
            "sklearn per dense column, 1000 columns timed and scaled",
            lambda: [adjusted_mutual_info_score(y, x) for x in part.T],
            scale,
            repeats=1,
        ),
        case(
            f"discretise (fit + transform), {size}",
            lambda: Discretizer(4).fit_transform(values),
            "numpy per column, 1000 columns timed and scaled",
            lambda: discretize_columns(part_values),
            scale,
            repeats=1,
        ),
    ]
    return rows


def discretize_columns(Z: Any, n_bins: int = 4) -> list[Any]:
    """Zeros apart, the stored values of each column in bins of equal width."""
    codes = []
    for start, stop in zip(Z.indptr[:-1], Z.indptr[1:]):
        x = Z.data[start:stop]
        if len(x):
            codes.append(1 + np.searchsorted(np.linspace(x.min(), x.max(), n_bins)[1:-1], x, side="right"))
    return codes


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0] if __doc__ else None)
    parser.add_argument("--json", metavar="FILE", help="write the figures as a list of objects")
    parser.add_argument("--full", action="store_true", help="run the peers' loops over all 20,000 columns")
    args = parser.parse_args()
    rng = np.random.default_rng(0)
    print(f"{'case':62} {'ours, s':>9} {'peer, s':>9} {'ratio':>9} {'peak MB':>8}  peer")
    rows = dense_cases(rng, args.full) + sparse_cases(rng)
    if args.json:
        with open(args.json, "w", encoding="utf-8") as file:
            json.dump(rows, file, indent=1)


if __name__ == "__main__":
    main()
