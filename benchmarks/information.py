"""Information measures and counts against the ordinary ways to compute them.

python benchmarks/information.py [--json FILE] [--quick] [--full] [--repeats N]
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from _common import Row, measure, parser, report
from sklearn.metrics import adjusted_mutual_info_score, mutual_info_score
from sklearn.tree import DecisionTreeClassifier

from seqclass._utils.information import (
    adjusted_mutual_information,
    contingency_table,
    mutual_information,
)
from seqclass.bn._structure import conditional_mutual_information
from seqclass.discretize import Discretizer


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


def dense_cases(rng: np.random.Generator, quick: bool, full: bool, repeats: int) -> list[Row]:
    n_genes, n, n_pairs, n_columns = (200, 100, 20, 300) if quick else (12_533, 2000, 500, 20_000)
    genes, y_genes = outcomes(rng, 57, n_genes, C=3)
    pairs, y_pairs = outcomes(rng, n, n_pairs)
    X, y = outcomes(rng, n, n_columns)
    sample = np.arange(n_columns) if full else rng.choice(n_columns, min(400, n_columns // 2), replace=False)
    scale = n_columns / len(sample)
    how = "" if full else f", {len(sample)} columns timed and scaled"
    exact = adjusted_mutual_information(X, y)
    numbers = pairs + rng.normal(size=pairs.shape)

    def adjusted_peer() -> None:
        worst = max(abs(adjusted_mutual_info_score(y, X[:, j]) - exact[j]) for j in sample)
        if worst > 1e-10:
            raise AssertionError(f"adjusted mutual information differs from scikit-learn's by {worst:g}")

    return [
        measure(
            f"contingency, 57 rows x {n_genes:,} features, 3 classes",
            lambda: contingency_table(genes, y_genes, 3, 4),
            peer="numpy bincount per column",
            peer_call=lambda: columnwise_tables(genes, y_genes, 3, 4),
            repeats=repeats,
        ),
        measure(
            f"conditional MI, {n} rows x {n_pairs} features",
            lambda: conditional_mutual_information(pairs, y_pairs, np.full(n_pairs, 4), 2),
            peer="numpy bincount per pair",
            peer_call=lambda: pairwise_information(pairs, y_pairs, 2, 4),
            repeats=repeats,
            peer_repeats=0,
        ),
        measure(
            f"mutual information, {n} rows x {n_columns:,} features",
            lambda: mutual_information(X, y),
            peer=f"sklearn mutual_info_score per column{how}",
            peer_call=lambda: [mutual_info_score(y, X[:, j]) for j in sample],
            repeats=repeats,
            peer_repeats=0,
            peer_scale=scale,
        ),
        measure(
            f"adjusted MI, {n} rows x {n_columns:,} features",
            lambda: adjusted_mutual_information(X, y),
            peer=f"sklearn adjusted_mutual_info_score per column{how}",
            peer_call=adjusted_peer,
            repeats=repeats,
            peer_repeats=0,
            peer_scale=scale,
        ),
        measure(
            f"cuts by labels (mdlp), {n} rows x {n_pairs} features",
            lambda: Discretizer(8, strategy="mdlp").fit(numbers, y_pairs),
            peer="sklearn decision tree of 8 leaves per column",
            peer_call=lambda: [
                DecisionTreeClassifier(criterion="entropy", max_leaf_nodes=8).fit(column[:, None], y_pairs)
                for column in numbers.T
            ],
            repeats=repeats,
            peer_repeats=0,
        ),
    ]


def sparse_cases(rng: np.random.Generator, quick: bool) -> list[Row]:
    n, n_features, nnz = (500, 2000, 10_000) if quick else (20_000, 1_355_191, 9_000_000)
    column = (n_features * rng.random(nnz) ** 3).astype(np.int64)
    cells = rng.integers(0, n, nnz), column
    values = sp.coo_array((rng.exponential(size=nnz), cells), shape=(n, n_features)).tocsr()
    del column, cells
    y = rng.integers(0, 2, n)
    X = Discretizer(4).fit_transform(values)
    size = f"{n:,} x {n_features:,} sparse, {values.nnz / 1e6:.2g}M non-zeros"
    # a sample over the whole range, as the first columns are the fullest
    few = rng.choice(n_features, min(1000, n_features // 4), replace=False)
    scale = n_features / len(few)
    part, part_values = X[:, few].toarray(), values[:, few].tocsc()
    return [
        measure(
            f"contingency, {size}",
            lambda: contingency_table(X, y, 2, 4),
            peer="scipy product with one-hot classes per outcome",
            peer_call=lambda: masked_sparse_tables(X, y, 2, 4),
            repeats=1,
            peer_repeats=0,
        ),
        measure(
            f"adjusted MI, {size}",
            lambda: adjusted_mutual_information(X, y),
            peer=f"sklearn per dense column, {len(few)} columns timed and scaled",
            peer_call=lambda: [adjusted_mutual_info_score(y, x) for x in part.T],
            repeats=1,
            peer_repeats=0,
            peer_scale=scale,
        ),
        measure(
            f"discretise (fit + transform), {size}",
            lambda: Discretizer(4).fit_transform(values),
            peer=f"numpy per column, {len(few)} columns timed and scaled",
            peer_call=lambda: discretize_columns(part_values),
            repeats=1,
            peer_repeats=0,
            peer_scale=scale,
        ),
    ]


def discretize_columns(Z: Any, n_bins: int = 4) -> list[Any]:
    """Zeros apart, the stored values of each column in bins of equal width."""
    codes = []
    for start, stop in zip(Z.indptr[:-1], Z.indptr[1:]):
        x = Z.data[start:stop]
        if len(x):
            codes.append(1 + np.searchsorted(np.linspace(x.min(), x.max(), n_bins)[1:-1], x, side="right"))
    return codes


def main() -> None:
    options = parser(__doc__)
    options.add_argument("--full", action="store_true", help="run the peers' loops over all columns")
    arguments = options.parse_args()
    repeats = 1 if arguments.quick else arguments.repeats
    rng = np.random.default_rng(0)
    rows = dense_cases(rng, arguments.quick, arguments.full, repeats) + sparse_cases(rng, arguments.quick)
    report(rows, arguments.json)


if __name__ == "__main__":
    main()
