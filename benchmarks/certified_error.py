"""An error rate by contract: features, abstentions and broken promises of `certify_error` over draws of its rows.

    python benchmarks/certified_error.py [--data DIR] [--json FILE] [--quick]

One classifier is fitted once to a fixed part of each set. The other rows are walked once, and rows to certify on are
drawn from them 100 times: of Spambase 1656, which is 36% of it, of 2556. A promise is broken where the rule has a
higher error rate on all of these than alpha. At most so many may be, in a one-sided 99% band, as delta = .1 allows. Of
generated rows, a pool of 200,000 stands for the world, rows are drawn with replacement, and 2000 draws show how often a
promise is broken where the model is wrong (naive Bayes of features that form a tree). `features` is the mean over draws
that did not abstain, on all rows of the pool.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from _common import parser, write_json
from _real import absent, add_data_option, data_folder
from scipy.stats import binom

import seqclass
from seqclass import datasets
from seqclass.agent.agent import encode_rows
from seqclass.evaluation.certified import BeliefLadder, Counts, ErrorRisk, RungSums, choose_rung
from seqclass.stats.risk import start_levels

DELTA = 0.1


class Pool(NamedTuple):
    """Rows that were walked once: their losses, features and prices under each rule, and their groups."""

    values: np.ndarray
    risk: ErrorRisk
    losses: np.ndarray
    n_features: np.ndarray
    price: np.ndarray
    group: np.ndarray
    seconds: float
    n_ladders: int = 1


def walked(clf: Any, X: Any, y: Any, alpha: float, group: Any = None) -> Pool:
    started = time.perf_counter()
    ladder = BeliefLadder(clf, None, None, alpha)
    run = ladder.run(encode_rows(clf.agent_, X, whole=True))
    risk = ErrorRisk(clf.problem_, ladder.longest)
    losses = risk.losses(np.searchsorted(clf.classes_, y), run)
    group = np.zeros(len(y), dtype=int) if group is None else np.unique(group, return_inverse=True)[1]
    return Pool(ladder.values, risk, losses, run.n_features, run.price, group, time.perf_counter() - started)


def together(pools: list[Pool]) -> Pool:
    """Several classifiers' ladders on the same rows, one after the other."""
    joined = [np.concatenate([getattr(one, name) for one in pools], axis=-1) for name in ("values", "losses")]
    means = [np.concatenate([getattr(one, name) for one in pools], axis=-1) for name in ("n_features", "price")]
    seconds = sum(one.seconds for one in pools)
    return Pool(joined[0], pools[0].risk, joined[1], *means, pools[0].group, seconds, len(pools))


def chosen(name: str, n_train: int, folder: Any) -> Callable[[float, bool], Pool]:
    """What quick effort chooses on a part of a set, by itself or with the runner-up."""
    data = datasets.load(name, folder)
    rows = np.random.default_rng(0).permutation(len(data.y))
    train, rest, X = rows[:n_train], rows[n_train:], np.asarray(data.X)
    clf = seqclass.adaptive(0.01, effort="quick").fit(X[train], data.y[train])
    fitted = [clf, *(one.fit(X[train], data.y[train]) for one in clf.runners_up())]
    return lambda alpha, both: together(
        [walked(one, X[rest], data.y[rest], alpha) for one in (fitted if both else fitted[:1])]
    )


def drawn(name: str, pool: Pool, alpha: float, n: int, n_draws: int, replace: bool) -> dict[str, Any]:
    """Certify on draws of rows, as `certify_error` does, and see what is true of the pool."""
    started, features, abstained, broken = time.perf_counter(), [], 0, 0
    groups = range(int(pool.group.max()) + 1)
    truth = np.array([pool.losses[pool.group == g].mean(axis=0) for g in groups])
    levels = np.tile(start_levels(pool.values.size // pool.n_ladders, DELTA / pool.n_ladders, 1), pool.n_ladders)
    for seed in range(n_draws):
        rows = np.random.default_rng(seed).choice(len(pool.losses), n, replace=replace)
        losses, group = pool.losses[rows], pool.group[rows]
        total = np.array([losses[group == g].sum(axis=0) for g in groups])
        price = pool.price[rows].mean(axis=0)
        several, none = np.full(price.size, -1), np.zeros(price.size)  # whether all are decided alike is not looked at
        sums = RungSums(total, pool.n_features[rows].mean(axis=0), price, price, none, None, several, none)
        counts = Counts(list(groups), [int((group == g).sum()) for g in groups])
        rungs, chosen, _ = choose_rung(pool.values, pool.risk, counts, sums, alpha, DELTA, levels, "error", [])
        if not rungs[chosen].certified:
            abstained += 1
            continue
        features.append(float(pool.n_features[:, chosen].mean()))
        broken += bool((truth[:, chosen] > alpha).any())
    found = {"alpha": alpha, "rows": n, "draws": n_draws, "abstained": abstained, "broken": broken}
    found |= {"allowed": int(binom.ppf(0.99, n_draws, DELTA)), "features": float(np.mean(features or [0.0]))}
    found |= {"least_error": float(truth.max(axis=0).min())}
    row = {"name": f"{name}, alpha {alpha}", "ours_s": pool.seconds, "peer": None, "peer_s": None, "ratio": None}
    return row | {"peak_mb": None, "draws_s": time.perf_counter() - started} | found


def split(name: str, n_train: int, folder: Any, group: Callable[[Any], Any] | None = None) -> Callable[[float], Pool]:
    """Fit to a part of a set; the other rows are walked for each alpha."""
    data = datasets.load(name, folder)
    rows = np.random.default_rng(0).permutation(len(data.y))
    train, rest = rows[:n_train], rows[n_train:]
    X = np.asarray(data.X)
    clf = seqclass.adaptive(0.01).fit(X[train], data.y[train], held_out=0)
    of = None if group is None else group(X[rest])
    return lambda alpha: walked(clf, X[rest], data.y[rest], alpha, of)


def simulated(n_pool: int, n_draws: int, alphas: tuple[float, ...]) -> list[dict[str, Any]]:
    rng = np.random.default_rng(0)
    y = rng.integers(2, size=n_pool + 1000)
    X = np.empty((y.size, 10), dtype=int)
    X[:, 0] = rng.random(y.size) < np.where(y == 1, 0.7, 0.3)
    for j in range(1, 10):  # each says something of the class, and mostly what the one before said
        own = rng.random(y.size) < np.where(y == 1, 0.7, 0.3)
        X[:, j] = np.where(rng.random(y.size) < 0.6, X[:, j - 1], own)
    clf = seqclass.SequentialClassifier(discretizer="precomputed").fit(X[:1000], y[:1000])
    name, rest = "generated, a wrong model", slice(1000, None)
    return [drawn(name, walked(clf, X[rest], y[rest], alpha), alpha, 400, n_draws, True) for alpha in alphas]


def main() -> None:
    made = parser(__doc__)
    add_data_option(made)
    arguments = made.parse_args()
    quick, folder = arguments.quick, data_folder(arguments)
    known = datasets.list_datasets(folder)
    jobs: list[Callable[[], list[dict[str, Any]]]] = [
        lambda: simulated(2000 if quick else 200_000, 20 if quick else 2000, (0.28, 0.25))
    ]
    if not quick and "spambase" in known:
        spam = split("spambase", 2045, folder)
        jobs += [lambda a=a: [drawn("spambase", spam(a), a, 1656, 100, False)] for a in (0.15, 0.1, 0.08)]
        quickly = chosen("spambase", 2045, folder)
        for both, how in ((False, "spambase, quick effort"), (True, "spambase, quick effort and its runner-up")):
            jobs += [
                lambda a=a, both=both, how=how: [drawn(how, quickly(a, both), a, 1656, 100, False)]
                for a in (0.15, 0.1, 0.08)
            ]
    if not quick and "pima" in known:
        ages = split("pima", 300, folder, lambda X: X[:, 7] > 30)
        name = "pima, below and above 30 years alike"
        jobs += [lambda a=a: [drawn(name, ages(a), a, 300, 100, False)] for a in (0.4, 0.45)]
    for name in () if quick else sorted({"spambase", "pima"} - set(known)):
        absent(name)
    rows = []
    for job in jobs:
        for row in job():
            print(
                f"{row['name']}: {row['features']:.2f} features, abstained {row['abstained']} of {row['draws']}, "
                f"broken {row['broken']} (at most {row['allowed']}); least error {row['least_error']:.3f}",
                flush=True,
            )
            rows.append(row)
    if arguments.json:
        write_json(rows, arguments.json)


if __name__ == "__main__":
    main()
