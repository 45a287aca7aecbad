"""Learning from records: bias, error and coverage of `seqclass.offpolicy`, and policies trained on records.

    python benchmarks/offpolicy.py [--data DIR] [--repeats N] [--trained N] [--worlds NAME ...] [--json FILE] [--quick]

A policy is fitted to full rows. Then records are drawn 1000 times (``--repeats``): people, and which of their cells
somebody recorded, column by column, more of some people than of others by what had been seen of them. Each estimator
says what the policy would have cost (the doubly robust one on every second draw, of CUBE-NM on every tenth); the truth
is its cost on full rows, 200,000 of a generated set, all of a pool that records are drawn from with replacement of a
real one. `rule` is whether the recorder's probabilities were given or fitted. Generated sets: "heart-like", nine
numbers of which a hidden severity moves several at once, so that naive Bayes is wrong; CUBE-NM with two contexts, whose
model for what is missing is naive Bayes, and wrong.

Last, for each set, policies trained on full rows and on such records of the same people (``--trained``), both judged on
full rows that neither has seen.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from _common import parser, write_json
from _real import absent, add_data_option, data_folder

import seqclass
from seqclass import Costs, datasets, offpolicy
from seqclass.bn import ClassMixture, NaiveBayes
from seqclass.discretize import Discretizer
from seqclass.metrics import score_rows

#: What is estimated by, and whether the recorder's rule is given to it.
WAYS = [(method, given) for method in ("doubly_robust", "ipw", "ipw_plain") for given in (False, True)]
WAYS += [(method, False) for method in ("direct", "complete", "blocked")]

Rows = tuple[np.ndarray, np.ndarray]


class World(NamedTuple):
    """A set, its recorder, and how a policy is fitted to it."""

    name: str
    draw: Callable[[int, np.random.Generator], Rows]  # people to judge by
    learn: Callable[[int, np.random.Generator], tuple[Rows, Rows]]  # rows to train on, and to judge the policy by
    fit: Callable[[Any, Any], Any]
    order: list[int]  # in which the recorder comes to the columns
    always: int  # so many of which are recorded of everybody
    steer: int  # column that the rule looks at all along
    base: float
    slope: float
    n_train: int
    n_records: int
    scale: tuple[np.ndarray, np.ndarray]
    every: int  # doubly robust estimates are made of every so many-th draw
    model: Any = None


def recorded(world: World, X: np.ndarray, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Records of people, and the probability of each cell; it depends on the column before, if seen, and on `steer`."""
    z = (X - world.scale[0]) / world.scale[1]
    chance, seen = np.ones(X.shape), np.ones(X.shape, dtype=bool)
    for place, column in enumerate(world.order):
        if place < world.always:
            continue
        before = world.order[place - 1]
        steer = np.where(seen[:, before], z[:, before], 0.0) + z[:, world.steer]
        chance[:, column] = 1 / (1 + np.exp(-(world.base + world.slope * np.clip(steer, -4, 4))))
        seen[:, column] = rng.random(len(X)) < chance[:, column]
    return np.where(seen, X, np.nan), chance


def scale_of(X: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    return X.mean(axis=0), X.std(axis=0)


def heart_like() -> World:
    effect = np.array([0.5, 0.4, 0.9, 0.3, 0.2, 0.5, -0.8, 1.0, 1.2])
    severity = np.array([0.3, 0.0, 0.2, 0.5, 0.4, 0.5, -0.5, 0.6, 0.4])
    prices = np.array([0.001, 0.001, 0.005, 0.005, 0.01, 0.02, 0.03, 0.04, 0.08])

    def draw(n: int, rng: np.random.Generator) -> Rows:
        y = rng.integers(2, size=n)
        X = effect * y[:, None] + severity * rng.normal(size=(n, 1)) + rng.normal(size=(n, 9))
        X[:, 1] = X[:, 1] > 0.3
        return X, y

    def fit(X: Any, y: Any) -> Any:
        return seqclass.SequentialClassifier(feature_costs=prices, order="adaptive").fit(X, y)

    scale = scale_of(draw(10_000, np.random.default_rng(9))[0])
    learn = judged_by(draw, 20_000)
    return World("heart-like", draw, learn, fit, list(range(9)), 2, 0, 1.2, 0.6, 1000, 1000, scale, 2)


def cube_nm() -> World:
    def draw(n: int, rng: np.random.Generator) -> Rows:
        data = datasets.load("cube_nm", n_samples=n, n_contexts=2, random_state=int(rng.integers(2**31)))
        return data.X, data.y

    data = datasets.load("cube_nm", n_samples=10_000, n_contexts=2)

    def fit(X: Any, y: Any) -> Any:
        settings = {"feature_costs": Costs(data.feature_costs, bundles=data.bundles), "max_features": 6}
        cut = {"discretizer": Discretizer(n_bins=2), "order": "adaptive"}
        return seqclass.SequentialClassifier(ClassMixture(), **cut, **settings).fit(X, y)

    about = (list(range(22)), 2, 0, 2.0, 0.4, 3000, 1000, scale_of(data.X), 10, NaiveBayes())
    return World("CUBE-NM, 2 contexts", draw, judged_by(draw, 20_000), fit, *about)


def pima(folder: Any) -> World:
    data = datasets.load("pima", folder)
    X, y = np.asarray(data.X, dtype=float), np.asarray(data.y)
    rows = np.random.default_rng(0).permutation(len(y))
    pool = rows[384:]

    def draw(n: int, rng: np.random.Generator) -> Rows:
        some = pool if n > len(y) else rng.choice(pool, n)
        return X[some], y[some]

    def learn(n: int, rng: np.random.Generator) -> tuple[Rows, Rows]:
        some = rng.permutation(len(y))
        return (X[some[:n]], y[some[:n]]), (X[some[n:]], y[some[n:]])

    def fit(X: Any, y: Any) -> Any:
        return seqclass.SequentialClassifier(feature_costs=0.01 * data.feature_costs, order="adaptive").fit(X, y)

    # age and pregnancies are known; then body, blood pressure, pedigree and the dear blood tests
    about = ([7, 0, 5, 2, 3, 6, 1, 4], 2, 7, 1.0, 0.6, 384, 384, scale_of(X), 2)
    return World("pima", draw, learn, fit, *about)


def judged_by(draw: Any, n_test: int) -> Any:
    return lambda n, rng: (draw(n, rng), draw(n_test, rng))


def simulated(world: World, n_repeats: int, n_truth: int) -> list[dict[str, Any]]:
    """Records drawn again and again, and what each estimator makes of them."""
    started, rng = time.perf_counter(), np.random.default_rng(1)
    clf = world.fit(*world.learn(world.n_train, np.random.default_rng(0))[0])  # of a real set the rows beside the pool
    truth = score_rows(clf, *world.draw(n_truth, rng)).realised_cost
    found: dict[Any, list[Any]] = {way: [] for way in WAYS}
    about: dict[str, list[float]] = {"replayed": [], "effective_rows": [], "largest_weight": []}
    for seed in range(n_repeats):
        X, y = world.draw(world.n_records, rng)
        records, chance = recorded(world, X, rng)
        for given in (False, True):
            robust = seed % world.every == 0
            methods = [method for method, by in WAYS if by == given and (robust or method != "doubly_robust")]
            table = offpolicy.compare(
                clf, records, y, methods=methods, recording=chance if given else None, order=world.order,
                model=world.model, n_samples=10, random_state=seed, allow_seen=True,
            )  # fmt: skip
            for method in methods:
                found[method, given].append((table[method].cost, *table[method].interval, table[method].standard_error))
        for name, values in about.items():
            values.append(getattr(table["ipw"], name))
    seconds = (time.perf_counter() - started) / n_repeats
    means = {name: float(np.mean(values)) for name, values in about.items()}
    return [row_of(world.name, way, np.array(found[way]), truth, seconds, means) for way in WAYS]


def row_of(
    name: str, way: tuple[str, bool], found: np.ndarray, truth: float, seconds: float, means: dict[str, float]
) -> dict[str, Any]:
    method, given = way
    cost, low, high, error = found.T
    rule = ("given" if given else "fitted") if method in ("doubly_robust", "ipw", "ipw_plain") else "-"
    row = {"name": f"{name}, {method}, rule {rule}", "ours_s": seconds, "peer": None, "peer_s": None, "ratio": None}
    row |= {"peak_mb": None, "truth": truth, "bias": float(cost.mean() - truth), "repeats": len(cost)}
    row |= {"rmse": float(np.sqrt(((cost - truth) ** 2).mean())), "standard_error": float(error.mean())}
    row |= {"coverage": float(((low <= truth) & (truth <= high)).mean())} | means
    print(
        f"{row['name']:55} truth {truth:.4f}  bias {row['bias']:+.4f}  rmse {row['rmse']:.4f}  se "
        f"{row['standard_error']:.4f}  coverage {100 * row['coverage']:.1f}%",
        flush=True,
    )
    return row


def trained(world: World, n_repeats: int) -> dict[str, Any]:
    """Policies trained on full rows and on records of the same people."""
    costs, started = [], time.perf_counter()
    for seed in range(n_repeats):
        rng = np.random.default_rng(100 + seed)
        (X, y), test = world.learn(world.n_train, rng)
        records, _ = recorded(world, X, rng)
        costs.append([score_rows(world.fit(rows, y), *test).realised_cost for rows in (X, records)])
    full, record = np.mean(costs, axis=0).tolist()
    spread = float(np.std(np.diff(costs, axis=1)) / np.sqrt(n_repeats))
    row = {"name": f"{world.name}, trained on records", "ours_s": (time.perf_counter() - started) / n_repeats}
    row |= {"peer": None, "peer_s": None, "ratio": None, "peak_mb": None, "repeats": n_repeats}
    row |= {"cost": record, "full_cost": full, "excess": record / full - 1, "excess_error": spread / full}
    print(
        f"{row['name']:55} cost {record:.4f}, on full rows {full:.4f}: {100 * row['excess']:+.1f}% "
        f"(standard error {100 * row['excess_error']:.1f}%)",
        flush=True,
    )
    return row


def main() -> None:
    made = parser(__doc__)
    add_data_option(made)
    made.add_argument("--repeats", metavar="N", type=int, default=1000, help="draws of records (default 1000)")
    made.add_argument("--trained", metavar="N", type=int, default=20, help="policies to train (default 20)")
    made.add_argument("--worlds", nargs="*", default=["heart", "cube", "pima"], help="sets (default: heart cube pima)")
    arguments = made.parse_args()
    quick, folder = arguments.quick, data_folder(arguments)
    repeats, n_trained = (3, 1) if quick else (arguments.repeats, arguments.trained)
    worlds = [heart_like()] if "heart" in arguments.worlds else []
    if not quick and "cube" in arguments.worlds:
        worlds.append(cube_nm())
    if not quick and "pima" in arguments.worlds:
        if "pima" in datasets.list_datasets(folder):
            worlds.append(pima(folder))
        else:
            absent("pima")
    warnings.simplefilter("ignore", UserWarning)  # that deciding at once may cost less
    rows = []
    for world in worlds:
        rows += simulated(world, repeats, 2000 if quick else 200_000)
        rows.append(trained(world, n_trained))
    if arguments.json:
        write_json(rows, arguments.json)


if __name__ == "__main__":
    main()
