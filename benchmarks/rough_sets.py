"""OFS-A3M and OFS-Density beside the same rules with all distances made anew for every set that is looked at.

    python benchmarks/rough_sets.py [--json FILE] [--quick] [--repeats N] [--data FOLDER]

Both sides keep the same features. The peer is vectorised: scipy's distances, one sort of each row.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from _common import Row, measure, parser, report
from _real import absent, add_data_option, data_folder
from scipy.spatial.distance import pdist, squareform

from seqclass.selection import OFSA3M, OFSDensity

TOLERANCE = 1e-11


def dependency(X: np.ndarray, y: np.ndarray, gap: bool) -> float:
    """Mean share of neighbours of the row's class, from nothing."""
    n = len(y)
    distances = squareform(pdist(X, "seuclidean", V=X.var(axis=0)))
    np.fill_diagonal(distances, -1.0)  # the row itself comes first
    order = np.argsort(distances, axis=1)[:, 1:]
    d = np.take_along_axis(distances, order, axis=1)
    if gap:
        limit = 1.5 * (d[:, -1] - d[:, 0]) / (n - 2)
        joined = np.diff(d, axis=1) < np.maximum(limit * (1 - 1e-9), 1e-9 * d[:, -1])[:, None]
    else:
        rank = np.arange(1, n - 1)
        joined = d[:, 1:] * rank <= d[:, :-1] * (rank + 1) * (1 + 1e-9)
    last = np.where(joined.all(axis=1), n - 2, np.argmin(joined, axis=1))
    same = np.cumsum(y[order] == y[:, None], axis=1)
    return float((same[np.arange(n), last] / (last + 1)).mean())


def anew(selector: Any, X: np.ndarray, y: np.ndarray, seed: int) -> list[int]:
    """The rules, one feature after the other."""
    gap = isinstance(selector, OFSA3M)
    kept: list[int] = []
    own: dict[int, float] = {}
    best = mean = 0.0
    for i in range(X.shape[1]):
        own[i] = dependency(X[:, [i]], y, gap)
        if own[i] <= mean + TOLERANCE if gap else own[i] < mean - TOLERANCE:
            continue
        new = dependency(X[:, [*kept, i]], y, gap)
        if new > best + TOLERANCE:
            kept, best = [*kept, i], new
        elif kept and new >= (best if gap else 0.95 * best) - TOLERANCE:
            some, now = list(kept), new
            for k in np.random.default_rng([seed, i]).permutation(len(kept)):
                rest = [j for j in some if j != kept[k]]
                without = dependency(X[:, [*rest, i]], y, gap)
                if abs(without - now) <= TOLERANCE or (not gap and without > now):
                    some, now = rest, without
            if not gap and now < best - TOLERANCE:
                continue
            kept, best = [*some, i], best if gap else now
        else:
            continue
        mean = best / len(kept) if gap else float(np.mean([own[j] for j in kept]))
    return kept


def cases(name: str, X: np.ndarray, y: np.ndarray, repeats: int) -> list[Row]:
    rows = []
    for cls in (OFSDensity, OFSA3M):
        selector = cls(random_state=0)

        def both(selector: Any = selector) -> None:
            kept = anew(selector, X, y, selector._seed)
            if kept != selector.selected_.tolist():
                raise AssertionError(f"{selector} keeps other features than the rules: {selector.selected_}, {kept}")

        row = measure(
            f"{cls.__name__} on {name}, {X.shape[0]} x {X.shape[1]}",
            lambda selector=selector: selector.fit(X, y),
            peer="all distances anew (same selection)",
            peer_call=both,
            repeats=repeats,
            peer_repeats=0,
        )
        print(f"{row.name}: {row.ours_s:.3g} s, {len(selector.selected_)} kept, ratio {row.ratio:.3g}", flush=True)
        rows.append(row)
    return rows


def made(n: int, n_features: int, whole: bool) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, n)
    X = rng.normal(size=(n, n_features)) + y[:, None] * (rng.random(n_features) < 0.2)
    return np.round(2 * X) if whole else X, y


def main() -> None:
    argument_parser = parser(__doc__)
    add_data_option(argument_parser)
    arguments = argument_parser.parse_args()
    quick, repeats = arguments.quick, 0 if arguments.quick else arguments.repeats
    shapes = [(60, 20, False)] if quick else [(60, 500, False), (400, 100, False), (2000, 30, False), (2000, 30, True)]
    rows = []
    for n, n_features, whole in shapes:
        rows += cases("whole numbers" if whole else "numbers", *made(n, n_features, whole), repeats)
    folder = data_folder(arguments)
    for name, n, n_features in () if quick else (("mll", 72, 1000), ("madelon", 2000, 60), ("spambase", 2000, 57)):
        if folder is None or not (folder / f"{name}.npz").is_file():
            absent(name)
            continue
        with np.load(folder / f"{name}.npz", allow_pickle=False) as data:
            X, y = data["X"][:, :n_features].astype(float), data["y"]
        some = np.arange(n) if name == "madelon" else np.random.default_rng(0).permutation(len(X))[:n]
        rows += cases(name, X[some][:, np.ptp(X[some], axis=0) > 0], y[some], repeats)
    report(rows, arguments.json)


if __name__ == "__main__":
    main()
