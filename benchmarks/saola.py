"""SAOLA on few rows of many columns, on millions of sparse columns, and as columns and rows grow; OSFS beside it.

The real data set MLL is used where ``--data``, or the variable SEQCLASS_DATA, names the folder that has it; genes of
the same shape, simulated from a few common factors, in any case.
"""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
from _common import Row, measure, parser, report
from _real import absent, add_data_option, data_folder
from sklearn.base import clone
from sklearn.feature_selection import f_classif, mutual_info_classif

from seqclass.selection import OSFS, SAOLA, FastOSFS, osfs


def genes(rng: np.random.Generator, n: int, n_features: int) -> tuple[Any, Any]:
    """Columns of numbers that share factors, some of which differ between three classes."""
    y = np.arange(n) % 3
    factors = rng.normal(size=(n, 40))
    factors[:, :12] += 1.5 * rng.normal(size=(3, 12))[y]
    loading = rng.normal(size=(40, n_features)) * (rng.random((40, n_features)) < 0.1)
    return factors @ loading + rng.normal(size=(n, n_features)), y


def bins(X: Any, n_bins: int = 4) -> Any:
    low, width = X.min(axis=0), np.ptp(X, axis=0)
    return np.minimum(n_bins * (X - low) / np.where(width > 0, width, 1), n_bins - 1).astype(np.int8)


def uncertainty(a: Any, b: Any, V: int = 4) -> float:
    counts = np.bincount(a * V + b, minlength=V * V).reshape(V, V) / len(a)

    def entropy(p: Any) -> float:
        p = p[p > 0]
        return float(-(p * np.log(p)).sum())

    h_a, h_b = entropy(counts.sum(axis=1)), entropy(counts.sum(axis=0))
    return 2 * (h_a + h_b - entropy(counts.ravel())) / (h_a + h_b) if h_a + h_b else 0.0


def correlation(a: Any, b: Any) -> float:
    a, b = a - a.mean(), b - b.mean()
    size = np.sqrt((a @ a) * (b @ b))
    return float(abs(a @ b) / size) if size else 0.0


def loop_per_pair(X: Any, y: Any, dependence: Any, threshold: float) -> list[int]:
    """Algorithm 1 as it is written."""
    X = np.ascontiguousarray(X.T)
    kept: list[int] = []
    relevance: dict[int, float] = {}
    for i, x in enumerate(X):
        r = dependence(x, y)
        if r <= threshold:
            continue
        relevance[i] = r
        for j in list(kept):
            d = dependence(x, X[j])
            if relevance[j] > r + 1e-11 and d >= r - 1e-11:
                break
            if r > relevance[j] + 1e-11 and d >= relevance[j] - 1e-11:
                kept.remove(j)
        else:
            kept.append(i)
    return kept


def dense_cases(name: str, X: Any, y: Any, repeats: int) -> list[Row]:
    codes, labels = bins(X), y.astype(np.int8)
    limit = float(np.tanh(2.5758293035489004 / np.sqrt(len(y) - 3)))
    size = f"{X.shape[0]} x {X.shape[1]:,}"
    uncertain = SAOLA("su", delta_1=0.01)
    informed = SAOLA("mi")
    correlated = SAOLA("fisher_z", alpha=0.01, class_coding="codes")

    def uncertainty_loop() -> None:
        same(loop_per_pair(codes.astype(np.intp), labels, uncertainty, 0.01), uncertain)

    def correlation_loop() -> None:
        same(loop_per_pair(X, y.astype(float), correlation, limit), correlated)

    loop = "a loop over features and pairs (same selection)"
    return [
        measure(
            f"symmetric uncertainty on {name}, {size}",
            lambda: uncertain.fit(codes, labels),
            peer=loop,
            peer_call=uncertainty_loop,
            repeats=repeats,
            peer_repeats=0,
        ),
        measure(
            f"mutual information on {name}, {size}",
            lambda: informed.fit(codes, labels),
            peer="sklearn mutual_info_classif, relevance alone",
            peer_call=lambda: mutual_info_classif(codes, labels, discrete_features=True),
            repeats=repeats,
            peer_repeats=0,
        ),
        measure(
            f"Fisher's Z on {name}, {size}",
            lambda: correlated.fit(X, y),
            peer=loop,
            peer_call=correlation_loop,
            repeats=repeats,
            peer_repeats=0,
        ),
    ]


def streamed_cases(name: str, X: Any, y: Any, repeats: int) -> list[Row]:
    """OSFS, which tests relevant columns together, beside itself with one column at a time."""
    rows = []
    for selector in (OSFS(), FastOSFS()):
        rows.append(
            measure(
                f"{type(selector).__name__} on {name}, {X.shape[0]} x {X.shape[1]:,}",
                lambda selector=selector: selector.fit(X, y),
                peer="the same, a column at a time (same selection)",
                peer_call=lambda selector=selector: one_by_one(selector, X, y),
                repeats=repeats,
                peer_repeats=0,
            )
        )
    return rows


def one_by_one(selector: OSFS, X: Any, y: Any) -> None:
    usual, osfs.MOST_TOGETHER = osfs.MOST_TOGETHER, 1
    try:
        alone = clone(selector).fit(X, y)
    finally:
        osfs.MOST_TOGETHER = usual
    same(alone.selected_.tolist(), selector)


def same(expected: list[int], selector: SAOLA | OSFS) -> None:
    if selector.selected_.tolist() != expected:
        raise AssertionError(f"{selector} selects other features than it does one by one")


def sparse_data(rng: np.random.Generator, n: int, n_features: int, nnz: int) -> tuple[Any, Any]:
    """Columns of falling density; every tenth leans to one of two classes."""
    y = rng.integers(0, 2, n)
    column = (n_features * rng.random(nnz) ** 3).astype(np.int64)
    row = rng.integers(0, n, nnz)
    leans = (column % 10 == 0) & (rng.random(nnz) < 0.6)
    for c in (0, 1):
        some = leans & ((column // 10) % 2 == c)
        row[some] = rng.choice(np.flatnonzero(y == c), some.sum())
    X = sp.coo_array((np.ones(nnz), (row, column)), shape=(n, n_features)).tocsr()
    X.data = np.minimum(X.data, 3)
    return X, y


def f_test(X: Any, y: Any) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # it lists the constant columns
        f_classif(X, y)


def sparse_cases(rng: np.random.Generator, n: int, n_features: int, nnz: int) -> list[Row]:
    X, y = sparse_data(rng, n, n_features, nnz)
    size = f"{n:,} x {n_features:,} sparse, {X.nnz / 1e6:.2g}M non-zeros"
    peers = {
        "su": ("sklearn mutual_info_classif, relevance alone, of 500 columns, scaled", 0.01),
        "mi": ("sklearn mutual_info_classif, relevance alone, of 500 columns, scaled", 0.0),
        "fisher_z": ("sklearn f_classif, relevance alone", 0.0),
    }
    few = rng.choice(n_features, min(500, n_features // 4), replace=False)
    part = X[:, few]
    rows = []
    for how, (peer, delta_1) in peers.items():
        selector = SAOLA(how, delta_1=delta_1)
        calls = {True: lambda: f_test(X, y), False: lambda: mutual_info_classif(part, y, discrete_features=True)}
        whole = how == "fisher_z"
        row = measure(
            f"{how} {delta_1 if not whole else 'alpha 0.01'}, {size}",
            lambda selector=selector: selector.fit(X, y),
            peer=peer,
            peer_call=calls[whole],
            repeats=0,
            peer_repeats=0,
            peer_scale=1.0 if whole else n_features / len(few),
        )
        print(f"{row.name}: {row.ours_s:.3g} s, {len(selector.selected_)} kept", flush=True)
        rows.append(row)
    return rows


def growth(rng: np.random.Generator, quick: bool, repeats: int) -> list[Row]:
    rows = []
    shapes = (
        [(100, 500), (100, 1000)]
        if quick
        else [
            *((100, p) for p in (10_000, 20_000, 40_000, 80_000)),
            *((n, 5000) for n in (500, 1000, 2000, 4000)),
        ]
    )
    for n, p in shapes:
        X, y = genes(rng, n, p)
        codes = bins(X)
        for how, data in (("su", codes), ("fisher_z", X)):
            selector = SAOLA(how, delta_1=0.01)
            row = measure(
                f"growth, {how}, {n} x {p:,}", lambda s=selector, d=data, y=y: s.fit(d, y), repeats=min(repeats, 1)
            )
            print(f"{row.name}: {row.ours_s:.3g} s, {len(selector.selected_)} kept", flush=True)
            rows.append(row)
    return rows


def main() -> None:
    made = parser(__doc__)
    add_data_option(made)
    arguments = made.parse_args()
    quick, repeats = arguments.quick, 1 if arguments.quick else arguments.repeats
    rng = np.random.default_rng(0)
    simulated = genes(rng, 57, 200 if quick else 5848)
    rows = dense_cases("simulated genes", *simulated, repeats)
    rows += streamed_cases("simulated genes", *simulated, repeats)
    path = (data_folder(arguments) or Path()) / "mll.npz"
    if path.is_file() and not quick:
        with np.load(path) as data:
            train = data["train_idx"]
            mll = data["X"][train].astype(float), data["y"][train]
        rows += dense_cases("MLL", *mll, repeats)
        rows += streamed_cases("MLL", *mll, repeats)
    elif not quick:
        absent("mll")
    rows += sparse_cases(rng, *((300, 2000, 10_000) if quick else (20_000, 1_355_191, 9_000_000)))
    rows += growth(rng, quick, repeats)
    report(rows, arguments.json)


if __name__ == "__main__":
    main()
