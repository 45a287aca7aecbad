"""Filter and tree structure on wide sparse data: 88,119, 62,061 (20 classes) and 1,355,191 features.

    python benchmarks/tree_scale.py [--json FILE] [--quick] [--data DIR]

Real sets come from ``--data DIR`` (or the variable SEQCLASS_DATA, or ``../shared/data`` beside the checkout) and are
left out, with a word, where they are absent; the widest is generated. The peers work feature by feature (scikit-learn's
adjusted mutual information) or pair by pair (one bincount); a sample of them is timed and scaled to all.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
from _common import Row, measure, parser, report
from _real import absent, add_data_option, data_folder
from scaling import sparse_data
from sklearn.metrics import adjusted_mutual_info_score

from seqclass.bn import InformationFilter, TreeNetwork
from seqclass.discretize import Discretizer

SETS = ("dorothea_train800", "news20_multiclass")
#: Columns or pairs that a peer is timed on.
SAMPLE = 100


def load(folder: Path, name: str) -> tuple[Any, Any] | None:
    """Values and labels of a set; None where it is absent."""
    file = folder / f"{name}.npz"
    if not file.is_file():
        return None
    with np.load(file, allow_pickle=False) as data:
        X = sp.csr_array((data["data"], data["indices"], data["indptr"]), shape=tuple(data["shape"]))
        return X, data["y"]


def columnwise(X: Any, y: Any) -> None:
    """Adjusted mutual information the ordinary way, one dense column after the other."""
    for x in X.T:
        adjusted_mutual_info_score(y, x)


def pairwise(X: Any, y: Any, pairs: Any) -> None:
    """Conditional mutual information the ordinary way, one table after the other."""
    n, V, C = len(y), int(X.max()) + 1, int(y.max()) + 1
    for i, j in pairs:
        p = np.bincount((y * V + X[:, i]) * V + X[:, j], minlength=C * V * V).reshape(C, V, V) / n
        independent = p.sum(2, keepdims=True) * p.sum(1, keepdims=True) / p.sum((1, 2), keepdims=True)
        some = p > 0
        (p[some] * np.log(p[some] / independent[some])).sum()


def cases(name: str, values: Any, y: Any, kept: tuple[int, ...]) -> Iterator[Row]:
    """Discretising, filtering and structure of one set."""
    rng = np.random.default_rng(0)
    n, n_features = values.shape
    yield measure(f"{name}, discretise", lambda: Discretizer(4).fit_transform(values), repeats=0)
    X = Discretizer(4).fit_transform(values)
    few = rng.choice(n_features, min(SAMPLE, n_features // 4), replace=False)
    dense = X[:, few].toarray()
    yield measure(
        f"{name}, filter ({n:,} x {n_features:,}, {values.nnz:,} non-zeros)",
        lambda: InformationFilter().fit(X, y),
        peer=f"scikit-learn per column, {len(few)} timed and scaled",
        peer_call=lambda: columnwise(dense, y),
        repeats=1,
        peer_repeats=0,
        peer_scale=n_features / len(few),
    )
    for number in kept:
        part = InformationFilter(n_features=number).fit(X, y).transform(X)
        every = list(combinations(range(part.shape[1]), 2))
        pairs = [every[at] for at in rng.choice(len(every), min(SAMPLE, len(every)), replace=False)]
        codes = part.toarray().astype(np.intp)
        yield measure(
            f"{name}, tree network of the {number:,} best",
            lambda part=part: TreeNetwork().fit(part, y),
            peer=f"numpy bincount per pair, {len(pairs)} timed and scaled",
            peer_call=lambda codes=codes, pairs=pairs: pairwise(codes, y, pairs),
            repeats=1,
            peer_repeats=0,
            peer_scale=len(every) / len(pairs),
        )

    def whole() -> None:
        selector = InformationFilter().fit(X, y)
        TreeNetwork().fit(selector.transform(X), y)

    yield measure(f"{name}, filter at its default and tree network", whole, repeats=1)


def main() -> None:
    options = parser(__doc__)
    add_data_option(options)
    arguments = options.parse_args()
    rows: list[Row] = []
    for name in () if arguments.quick else SETS:
        loaded = load(data_folder(arguments) or Path(), name)
        if loaded is None:
            absent(name)
            continue
        rows += cases(name, *loaded, kept=(200, 1000, 2000))
    n, n_features = (300, 3000) if arguments.quick else (20_000, 1_355_191)
    values, y = sparse_data(n, n_features)
    rows += cases("generated", values, y, kept=(20,) if arguments.quick else (200, 1000, 2000))
    report(rows, arguments.json)


if __name__ == "__main__":
    main()
