"""Any question next on sets made for it: what is reached beside the bars of the literature, and how fast it decides.

    python benchmarks/adaptive.py [--json FILE] [--quick] [--repeats N] [--parts PART ...] [--sets SET ...]

``sets``: questions asked, accuracy and realised cost on fresh rows, the chosen rule, and the bar; ours_s is to solve
(and to learn, where a model is learned). CUBE and CUBE-NM have the true model, cut into bins, a budget of questions
and next to no prices, so that all of the budget is used where it helps at all. ``speed``: decisions of 100,000 rows
beside scikit-learn's, which are given every feature, and a question of a live case.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from _common import Row, measure, parser, report, write_json
from free import problem_of, some_asked
from sklearn.naive_bayes import CategoricalNB

from seqclass import SequentialClassifier
from seqclass.bn import NaiveBayes, TreeNetwork
from seqclass.datasets import Dataset, load
from seqclass.discretize import Discretizer
from seqclass.pomdp import AcquisitionProblem, Adaptive, HiddenInformation, MixtureProblem, acquire
from seqclass.pomdp.bundles import Bundle

#: Prices that only say that a question more must help.
NEXT_TO_NOTHING = 1e-6
BINS = 12
#: Accuracy to be reached at each budget of questions.
CUBE = {3: 0.58, 5: 0.73, 10: 0.82}
CUBE_NM = {3: 0.45, 5: 0.67, 7: 0.79, 10: 0.83, 14: 0.83}


@dataclass(frozen=True)
class Reached(Row):
    """A row with what was reached on fresh rows, and what was to be reached."""

    accuracy: float
    n_questions: float
    cost: float
    chosen: str
    bar: str


def reached(name: str, seconds: float, data: Dataset, found: tuple[Any, Any, Any], chosen: str, bar: str) -> Reached:
    decision, asked, paid = found
    wrong = decision != data.y
    row = Reached(
        name, seconds, None, None, None, None, 1 - wrong.mean(), asked.mean(), (wrong + paid).mean(), chosen, bar
    )
    print(
        f"{name:52} {row.accuracy:8.3f} {row.n_questions:9.2f} {row.cost:7.4f} {seconds:8.1f}  {bar:30} {chosen}",
        flush=True,
    )
    return row


def true_problem(data: Dataset, prices: Any, budget: int | None = None) -> tuple[AcquisitionProblem, Any]:
    """The problem of a set's true model, and the outcomes of its rows; a bundle's features are above 0.5 or not."""
    truth, bundled = data.truth, [name is not None for name in data.bundles or [None] * data.X.shape[1]]
    edges = [[0.5] if inside else row[np.isfinite(row)] for inside, row in zip(bundled, truth.tables(BINS)[1])]
    tables, used = truth.tables(edges)
    sizes = [len(row) + 1 for row in edges]
    questions = [table[:size] for table, size in zip(tables, sizes)]
    features, shown = np.arange(len(sizes)), None
    if any(bundled):
        inside = np.flatnonzero(bundled)
        n = len(inside)
        alone = np.flatnonzero(~np.array(bundled))
        bundle = Bundle(inside, [2] * n)
        questions = [bundle.joint(tables[inside]), *(questions[j] for j in alone)]
        features, shown = np.array([inside[0], *alone]), [bundle, *[None] * len(alone)]
    problem = MixtureProblem(
        truth.hidden_prior,
        truth.hidden_class,
        questions,
        prices,
        features=features,
        any_order=True,
        max_questions=budget,
        bundles=shown,
    )
    return problem, truth.outcomes(data.X, used)


def with_true_model(name: str, data: Dataset, price: float, solver: Adaptive, bar: str, budget: Any = None) -> Reached:
    problem, codes = true_problem(data, price, budget)
    began = time.perf_counter()
    policy = solver.solve(problem)
    seconds = time.perf_counter() - began
    found = acquire(policy, codes)
    asked, paid = (found.leaf_question >= 0).sum(axis=1)[found.leaf], found.leaf_price[found.leaf]
    told = (found.leaf_decision[found.leaf], asked, paid)
    return reached(f"{name}, true model", seconds, data, told, policy.info.ordering.chosen, bar)


def learned(name: str, model: Any, order: str, train: Dataset, test: Dataset, bar: str) -> Reached:
    prices = train.feature_costs
    clf = SequentialClassifier(model, discretizer=Discretizer(train.X.max() + 1), order=order, feature_costs=prices)
    began = time.perf_counter()
    clf.fit(train.X, train.y)
    seconds = time.perf_counter() - began
    record = clf.acquire(test.X)
    chosen = "fixed" if clf.ordering_ is None else clf.ordering_.chosen
    told = (record.decision, record.n_features, record.paid)
    return reached(f"{name}, {type(model).__name__} learned", seconds, test, told, chosen, bar)


def pointing(name: str, price: float, n: int, adaptive: Adaptive, bar: str) -> Iterator[Reached]:
    """One question says which of the others tells the class; features given the class form a tree."""
    train, test = (load(name, n_samples=n, random_state=seed) for seed in (0, 1))
    title = f"{name} at {price}"
    yield with_true_model(title, test, price, adaptive, bar)
    yield learned(title, TreeNetwork(), "adaptive", train, test, bar)
    yield learned(title, TreeNetwork(), "conditional", train, test, "")


def cubes(name: str, n: int, adaptive: Adaptive, bars: dict[int, float]) -> Iterator[Reached]:
    """Accuracy at budgets of questions, with the rule that is chosen, and by information about the hidden state."""
    test = load(name, n_samples=n, random_state=1)
    for budget, least in bars.items():
        for solver in (adaptive, Adaptive([HiddenInformation()], max_rounds=0, certificate_paths=0)):
            title = f"{name} at most {budget}"
            yield with_true_model(title, test, NEXT_TO_NOTHING, solver, f"accuracy {least}", budget)


def sets(names: list[str], quick: bool) -> Iterator[Reached]:
    n, adaptive = (500 if quick else 20_000), Adaptive(certificate_paths=0)
    print(f"{'set':52} {'accuracy':>8} {'questions':>9} {'cost':>7} {'ours s':>8}  {'bar':30} chosen")
    if quick:
        yield with_true_model("sensors at 0.03", load("sensors", n_samples=n), 0.03, adaptive, "cost 0.09")
        return
    made = {
        "sensors": lambda: pointing("sensors", 0.03, n, adaptive, "cost 0.09"),
        "indicator": lambda: pointing("indicator", 0.01, n, adaptive, "accuracy 0.99, 2.2 questions"),
        "cube": lambda: cubes("cube", n, adaptive, CUBE),
        "cube_nm": lambda: cubes("cube_nm", n, adaptive, CUBE_NM),
    }
    for name in names:
        yield from made[name]()


def speed(quick: bool, repeats: int) -> Iterator[Row]:
    n_rows, n_features, n_cases = (1000, 6, 100) if quick else (100_000, 30, 1000)
    n_classes, n_outcomes = 3, 5
    rng = np.random.default_rng(0)
    y = rng.integers(n_classes, size=3000 + n_rows)
    noise = rng.integers(n_outcomes, size=(len(y), n_features))
    X = np.where(rng.random(noise.shape) < 0.25, y[:, None] * n_outcomes // n_classes, noise)
    new = X[3000:]
    peer = CategoricalNB(min_categories=n_outcomes).fit(X[:3000], y[:3000])
    for order in ("adaptive", "conditional"):
        solver = Adaptive(n_cases=n_cases, certificate_paths=0) if order == "adaptive" else None
        clf = SequentialClassifier(NaiveBayes(), solver, discretizer="precomputed", order=order).fit(X[:3000], y[:3000])
        asked = clf.acquire(new[:1000]).n_features.mean()
        rule = "" if clf.ordering_ is None else f" ({clf.ordering_.chosen})"
        yield measure(
            f"predict, {n_rows} rows x {n_features} features, order {order}{rule}, {asked:.1f} asked",
            lambda clf=clf: clf.predict(new),
            peer="CategoricalNB.predict, all features",
            peer_call=lambda: peer.predict(new),
            repeats=repeats,
        )
    n_questions = 20 if quick else 500
    problem, _ = problem_of(NaiveBayes(), n_questions, n_outcomes, 0.01)
    policy = Adaptive(n_paths=300, n_cases=300, max_seconds=5, certificate_paths=0).solve(problem)
    info = some_asked(problem, np.zeros((1, 3), dtype=int), 1)
    yield measure(
        f"one live question of {n_questions} open ones ({policy.info.ordering.chosen}) (x 100)",
        lambda: [policy.action(info[np.arange(1)]) for _ in range(100)],
        repeats=repeats,
    )


def main() -> None:
    made = parser(__doc__)
    made.add_argument("--parts", nargs="+", choices=["sets", "speed"], default=["sets", "speed"])
    names = ["sensors", "indicator", "cube", "cube_nm"]
    made.add_argument("--sets", nargs="+", choices=names, default=names)
    arguments = made.parse_args()
    rows: list[Row] = list(sets(arguments.sets, arguments.quick)) if "sets" in arguments.parts else []
    if "speed" in arguments.parts:
        timed = list(speed(arguments.quick, arguments.repeats))
        report(timed)
        rows += timed
    if arguments.json:
        write_json([asdict(row) for row in rows], arguments.json)


if __name__ == "__main__":
    main()
