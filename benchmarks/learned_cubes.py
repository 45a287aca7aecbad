"""CUBE and CUBE-NM learned from 600 rows: accuracy at hard budgets of questions, beside bars, and what bins lose.

    python benchmarks/learned_cubes.py [--json FILE] [--quick] [--draws N] [--sets SET ...] [--ways WAY ...]

Accuracy is the mean over draws of 600 training rows, on 20,000 other rows. All of a budget is used, by a rule that is
planned for the largest; CUBE at 3, where a step of look-ahead takes seconds, has a plan of its own. The columns of
CUBE-NM's context are one question, each above 0.5 or not. ``bins`` are tables over outcomes, ``densities`` normal
distributions over fine bins, ``mixture`` a `ClassMixture`; seconds are of a fit, planning included. Last, what rounding
to a bin loses where the true densities are known and all columns are asked: accuracy by bins and by the values, and how
far the two beliefs are apart in the mean.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from _common import Row, parser, write_json

from seqclass import Costs, SequentialClassifier
from seqclass.bn import ClassMixture, ContextBayes
from seqclass.datasets import Dataset, load
from seqclass.discretize import Discretizer
from seqclass.pomdp import Adaptive, ClassInformation, HiddenInformation

#: Accuracy to be reached at each budget of questions.
BARS = {
    "cube": {3: 0.58, 5: 0.71, 10: 0.80},
    "cube_nm": {3: 0.42, 5: 0.55, 7: 0.62, 10: 0.65, 14: 0.65},
}
#: Model, and the number of bins of a column of each set.
WAYS: dict[str, tuple[Any, dict[str, int]]] = {
    "mixture": (ClassMixture(), {"cube": 8, "cube_nm": 4}),
    "bins": (ContextBayes(density="tables"), {"cube": 8, "cube_nm": 4}),
    "densities": (ContextBayes(), {"cube": 16, "cube_nm": 16}),
}
NEXT_TO_NOTHING = 1e-6


@dataclass(frozen=True)
class Learned(Row):
    """A row with what was reached in the mean, its standard error over the draws, and what was to be reached.

    Of bins: what the true model reaches with them, how far its beliefs are from those by values, and what these reach.
    """

    accuracy: float
    error: float | None
    bar: float | None


#: Budgets that one plan serves, the largest of which it is made for.
PLANS = {"cube": [(3,), (5, 10)], "cube_nm": [(3, 5, 7, 10, 14)]}


def solver(name: str, budget: int) -> Adaptive:
    """A rule that suits; one step of look-ahead beyond it where that takes seconds: of few questions, among 20."""
    rule = ClassInformation() if name == "cube" else HiddenInformation()
    settings = {"n_paths": 500, "n_cases": 1000, "certificate_paths": 0, "max_seconds": np.inf}
    return Adaptive([rule], max_rounds=int(name == "cube" and budget == 3), max_work=1e12, **settings)


def cut(data: Dataset, n_bins: int) -> Discretizer:
    """Bins of equal widths; columns of a bundle are cut in two."""
    bundled = [name is not None for name in data.bundles or [None] * data.X.shape[1]]
    return Discretizer(np.where(bundled, 2, n_bins))


def learned(name: str, way: str, budgets: tuple[int, ...], draws: int, test: Dataset) -> list[Learned]:
    model, bins = WAYS[way]
    seconds, accuracy = [], []
    for draw in range(draws):
        train = load(name, n_samples=600, random_state=100 + draw)
        clf = SequentialClassifier(
            model,
            solver(name, budgets[-1]),
            feature_costs=Costs(NEXT_TO_NOTHING, bundles=train.bundles),
            discretizer=cut(train, bins[name]),
            order="adaptive",
            max_features=budgets[-1],
        )
        began = time.perf_counter()
        clf.fit(train.X, train.y)
        seconds.append(time.perf_counter() - began)
        beliefs = clf.acquire(test.X, budget=budgets[-1], record_beliefs=True).beliefs
        accuracy.append([(beliefs[:, budget].argmax(axis=1) == test.y).mean() for budget in budgets])
    rows = []
    for budget, reached in zip(budgets, np.transpose(accuracy)):
        error = float(np.std(reached, ddof=1) / np.sqrt(draws)) if draws > 1 else None
        title, shown = f"{name} at most {budget} by {way}", "" if error is None else f"{error:.3f}"
        bar, mean = BARS[name][budget], float(reached.mean())
        row = Learned(title, float(np.mean(seconds)), None, None, None, None, mean, error, bar)
        print(f"{title:32} {row.accuracy:8.3f} {shown:>7} {bar:6.2f} {row.ours_s:8.1f}", flush=True)
        rows.append(row)
    return rows


def rounded(name: str, n_bins: int, test: Dataset) -> Learned:
    """The true model on bins of equal widths, all columns known, beside its densities."""
    began = time.perf_counter()
    edges = Discretizer(n_bins).fit(load(name, n_samples=600, random_state=100).X).bin_edges_
    tables, used = test.truth.tables(edges)
    codes, prior = test.truth.outcomes(test.X, used), test.truth.hidden_prior
    joint = np.log(prior) + sum(np.log(np.maximum(table, 1e-300))[row] for table, row in zip(tables, codes.T))
    joint = np.exp(joint - joint.max(axis=1, keepdims=True))
    belief = joint @ np.eye(int(test.truth.hidden_class.max()) + 1)[test.truth.hidden_class]
    belief /= belief.sum(axis=1, keepdims=True)
    exact = test.truth.posterior(test.X)
    apart = float(np.abs(belief - exact).sum(axis=1).mean() / 2)
    hits = [float((b.argmax(axis=1) == test.y).mean()) for b in (belief, exact)]
    title, seconds = f"{name} in {n_bins} bins", time.perf_counter() - began
    print(f"{title:32} {hits[0]:8.3f} {hits[1]:8.3f} {apart:8.3f}", flush=True)
    return Learned(title, seconds, None, None, None, None, hits[0], apart, hits[1])


def rows(sets: list[str], ways: list[str], draws: int, quick: bool) -> Iterator[Learned]:
    tests = {name: load(name, n_samples=300 if quick else 20_000, random_state=1) for name in sets}
    print(f"{'learned from 600 rows':32} {'accuracy':>8} {'error':>7} {'bar':>6} {'ours s':>8}")
    for name, test in tests.items():
        for budgets in PLANS[name]:
            for way in ways:
                if not quick or budgets == (5, 10):
                    yield from learned(name, way, budgets, draws, test)
    print(f"\n{'true model, all columns':32} {'binned':>8} {'values':>8} {'apart':>8}")
    for name, test in tests.items():
        for n_bins in (4, 8, 16, 32, 64):
            yield rounded(name, n_bins, test)


def main() -> None:
    made = parser(__doc__)
    made.add_argument("--draws", type=int, default=10)
    made.add_argument("--sets", nargs="+", choices=list(BARS), default=list(BARS))
    made.add_argument("--ways", nargs="+", choices=list(WAYS), default=list(WAYS))
    arguments = made.parse_args()
    draws = 1 if arguments.quick else arguments.draws
    found = list(
        rows(arguments.sets, arguments.ways[-1:] if arguments.quick else arguments.ways, draws, arguments.quick)
    )
    if arguments.json:
        write_json([asdict(row) for row in found], arguments.json)


if __name__ == "__main__":
    main()
