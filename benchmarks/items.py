"""Tests that end early: a generated bank of items, and language models on the questions of a benchmark.

    python benchmarks/items.py [--data DIR] [--parts PART ...] [--models MODEL ...] [--thresholds T ...]
                               [--prices P ...] [--json FILE] [--quick]

Part *bank*: 300 items of the three-parameter logistic model, whose parameters are known; whom of three bands of ability
a person is in. The plan (any item next) is followed on simulated persons, beside what no plan could cost less than,
and beside classical tests of the package (`SequentialTest`: ratio tests, generalised ratio tests and confidence
intervals, items by Fisher information at the cuts or at the estimate), of each kind the setting that costs least on
these very persons. No plan knows more than who is told which third of the points of ability hers is among: the bound is
the mean of those of the thirds, whose points are few enough for `certify`. The same bank with the habits of testing:
content areas, enemies, exposure control.

Part *arc*: answers of 320 language models to 735 questions of ARC, right or wrong (items/arc_items.npz). Is a model's
accuracy at or above T? Everything is learnt from four folds of models and judged on the fifth. Yardsticks, each with
its free settings picked in hindsight, which favours it: random items and a cut on the share right that is learnt; the
items that tell most in one order, with the item model's posterior; the classical tests of the bank. Intervals are of
95%, of the mean difference over models, paired.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
from _common import parser, write_json
from _real import absent, add_data_option, data_folder
from sklearn.model_selection import StratifiedKFold

from seqclass import Rules, SequentialClassifier
from seqclass.bn import ClassMixture, ObservationModel
from seqclass.exams import ExposureControl, FisherInformation, ItemResponse, SequentialTest
from seqclass.pomdp import Adaptive, ClassInformation, FirstK, MixtureProblem, certify

MODELS: dict[str, Callable[[], ObservationModel]] = {
    "1PL": lambda: ItemResponse("1PL", points=41, standard_errors=False),
    "2PL": lambda: ItemResponse("2PL", points=41, standard_errors=False),
    "3PL": lambda: ItemResponse("3PL", points=41, guess=0.25, standard_errors=False),
    "class mixture": lambda: ClassMixture(5, random_state=0),
}
#: Half widths of the indifference region of ratio tests, probabilities of an error, and lengths of tests to pick from.
DELTAS, ERRORS, LENGTHS = (0.3, 0.6), (0.05, 0.1, 0.2, 0.3), (10, 20, 40, 80)
#: Persons whom the classical tests are given to.
PERSONS = 4000
#: Items that a yardstick may ask of a language model, at most.
MOST = 100


def classical(
    model: ItemResponse,
    cuts: np.ndarray,
    X: np.ndarray,
    errors: Sequence[float] = ERRORS,
    lengths: Sequence[int] = LENGTHS,
) -> dict[str, Any]:
    """Decisions of classical tests and items that they ask, (n_settings, n), by stopping and ordering rule."""
    found: dict[str, Any] = {}
    for stop, at_cuts in product(("SPRT", "GLR", "CI"), (True, False)):
        rule = FisherInformation(model.items_, cuts if at_cuts else None)
        runs = []
        for delta, error, length in product(DELTAS if stop != "CI" else DELTAS[:1], errors, lengths):
            test = SequentialTest(model.items_, cuts, stop, rule=rule, delta=delta, error=error, certificate_paths=0)
            clf = SequentialClassifier.from_model(model, solver=test, max_features=length, max_candidates=None)
            record = clf.acquire(X)
            runs.append((record.decision, record.n_features))
        name = f"{stop}, Fisher at the {'cuts' if at_cuts else 'estimate'}"
        found[name] = tuple(np.array(column) for column in zip(*runs))
    return found


def row(name: str, seconds: float, **figures: Any) -> dict[str, Any]:
    """A line of the report, with figures of its own."""
    line = {"name": name, "ours_s": seconds, "peer": None, "peer_s": None, "ratio": None, "peak_mb": None}
    return line | figures


def thirds(problem: MixtureProblem, ability: np.ndarray, n_parts: int, n_paths: int) -> float:
    """What no plan costs less than, given which of every ``n_parts`` points the ability is among."""
    rank, total = np.argsort(np.argsort(ability)), 0.0
    joint = problem.prior[problem.hidden_class] * problem.hidden_prior
    for part in range(n_parts):
        own = np.flatnonzero(rank % n_parts == part)
        share = joint[own].sum()
        rest = MixtureProblem(
            joint[own] / share,
            problem.hidden_class[own],
            problem.likelihoods[:, :, own],
            problem.prices,
            problem.decision_costs,
            any_order=True,
        )
        policy = FirstK(0, certificate_paths=0).solve(rest)
        total += share * certify(rest, policy, n_paths=n_paths, scope="all orders", random_state=0).lower
    return float(total)


def bank(arguments: Any) -> list[dict[str, Any]]:
    """A generated bank, three bands, prices that are given."""
    rng = np.random.default_rng(0)
    n_items, n_persons = (8, 300) if arguments.quick else (300, 20_000)
    table = {"a": rng.lognormal(0, 0.3, n_items), "b": rng.normal(size=n_items), "c": rng.beta(5, 17, n_items)}
    cuts = np.array([-0.5, 0.5])
    model = ItemResponse.from_items(table, cuts, points=12 if arguments.quick else 41)
    X, y = model.sample(n_persons, random_state=1)
    rows, tests = [], classical(model, cuts, X[:PERSONS], lengths=LENGTHS[:1] if arguments.quick else LENGTHS)
    for price in [0.01] if arguments.quick else [0.002, 0.005, 0.01]:
        began = time.perf_counter()
        solver = Adaptive([ClassInformation()], certificate_paths=0, random_state=0)
        clf = SequentialClassifier.from_model(model, feature_costs=price, solver=solver, max_candidates=None)
        seconds = time.perf_counter() - began
        record = clf.acquire(X)
        wrong = record.decision != y
        cost = record.paid + wrong
        began = time.perf_counter()
        states = len(model.ability_)
        lower = thirds(clf.problem_, model.ability_, -(-states // 15), 200)
        bound_s = time.perf_counter() - began
        name = f"bank of {n_items} items, price {price:g}"
        figures = {"price": price, "cost": float(cost.mean()), "cost_error": float(cost.std() / n_persons**0.5)}
        figures |= {"errors": float(wrong.mean()), "items": float(record.n_features.mean()), "lower": lower}
        print(
            f"{name}: cost {figures['cost']:.4f} +- {1.96 * figures['cost_error']:.4f}, none below {lower:.4f}; errors "
            f"{figures['errors']:.3f} with {figures['items']:.1f} items; planned in {seconds:.1f} s, bound in "
            f"{bound_s:.1f} s",
            flush=True,
        )
        mine = cost[:PERSONS]
        for how, (decided, asked) in tests.items():
            costs = (decided != y[:PERSONS]) + price * asked
            least = int(costs.mean(axis=1).argmin())
            apart, told = mine - costs[least], (decided[least] != y[:PERSONS]).mean()
            half = 1.96 * float(apart.std(ddof=1)) / len(apart) ** 0.5
            print(
                f"    {how}: {costs[least].mean():.4f}, errors {told:.3f} with {asked[least].mean():.1f} items; ours "
                f"less that {apart.mean():+.4f} +- {half:.4f}",
                flush=True,
            )
            figures[how] = {"cost": float(costs[least].mean()), "apart": float(apart.mean()), "half_width": half}
        rows.append(row(name, seconds, bound_s=bound_s, **figures))
    return rows + habits(model, X, y, 0.005)


def habits(model: ItemResponse, X: np.ndarray, y: np.ndarray, price: float) -> list[dict[str, Any]]:
    """What content areas, enemies and exposure control cost."""
    n, plan = X.shape[1], Adaptive([ClassInformation()], certificate_paths=0, random_state=0)
    areas = {f"area {k}": {"items": list(range(k, n, 4)), "at_least": 1 if n < 20 else 3} for k in range(4)}
    rules = Rules(areas, enemies=[[j, j + 1] for j in range(0, n - 1, 4)])
    shorter = Adaptive([ClassInformation()], n_paths=500, max_rounds=0, certificate_paths=0, random_state=0)
    most, least = (0.9, 0.8) if n < 20 else (0.3, 0.15)
    ways: dict[str, tuple[Any, Any]] = {
        "no rules": (plan, None),
        "areas and enemies": (plan, rules),
        "best of 5": (ExposureControl(shorter, best_of=5, certificate_paths=0), None),
        f"exposure at most {most}": (ExposureControl(shorter, max_exposure=most, certificate_paths=0), None),
        f"exposure at most {least}": (ExposureControl(shorter, max_exposure=least, certificate_paths=0), None),
        f"areas, enemies, exposure at most {least}": (
            ExposureControl(shorter, max_exposure=least, certificate_paths=0),
            rules,
        ),
    }
    rows = []
    for name, (solver, given) in ways.items():
        began = time.perf_counter()
        clf = SequentialClassifier.from_model(
            model, feature_costs=price, solver=solver, rules=given, max_candidates=None
        )
        seconds = time.perf_counter() - began
        record = clf.acquire(X)
        cost = record.paid + (record.decision != y)
        asked = np.bincount(record.order[record.order >= 0], minlength=n) / len(X)
        print(
            f"{name}, price {price:g}: cost {cost.mean():.4f} +- {1.96 * cost.std() / len(X) ** 0.5:.4f}, errors "
            f"{(record.decision != y).mean():.3f} with {record.n_features.mean():.1f} items; largest exposure "
            f"{asked.max():.3f}, {np.mean(asked == 0):.0%} never asked; planned in {seconds:.1f} s",
            flush=True,
        )
        rows.append(row(name, seconds, cost=float(cost.mean()), exposure=float(asked.max())))
    return rows


def random_items(train: Any, test: Any, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Whether each length of test errs on each test row, (MOST, n), with a cut on the share right that is learnt."""
    (X, y), (Z, z) = train, test
    picked = [rng.permuted(np.tile(np.arange(X.shape[1]), (len(some), 1)), axis=1)[:, :MOST] for some in (X, Z)]
    right, found = (np.take_along_axis(some, at, axis=1).cumsum(axis=1) for some, at in zip((X, Z), picked))
    wrong = np.zeros((MOST, len(Z)), dtype=bool)
    for n in range(1, MOST + 1):
        errors = [((right[:, n - 1] >= bar) != y).mean() for bar in range(n + 2)]
        wrong[n - 1] = (found[:, n - 1] >= int(np.argmin(errors))) != z
    return wrong, np.arange(1, MOST + 1)


def fixed_order(model: ItemResponse, test: Any) -> tuple[np.ndarray, np.ndarray]:
    """The same of the items that tell most of the class, one after the other, by the model's posterior."""
    Z, z = test
    joint = model.likelihood_table() * model.class_prior_
    apart = joint / np.maximum(joint.sum(axis=2, keepdims=True) * model.class_prior_, 1e-300)
    order = np.argsort(-(joint * np.log(np.maximum(apart, 1e-300))).sum(axis=(1, 2)))[:MOST]
    wrong, known = np.zeros((MOST, len(Z)), dtype=bool), np.full_like(Z, -1)
    for n, item in enumerate(order):
        known[:, item] = Z[:, item]
        wrong[n] = (model.posterior(known)[:, 1] > 0.5) != z
    return wrong, np.arange(1, MOST + 1)


def cut_of(model: ItemResponse) -> float:
    """Ability from which on the upper class is the likelier."""
    grid, place = np.unique(model.ability_, return_inverse=True)
    joint = np.zeros((2, len(grid)))
    joint[model.hidden_class_, place] = model.class_prior_[model.hidden_class_] * model.weights_
    share = joint[1] / joint.sum(axis=0)
    return float(np.interp(0.5, np.maximum.accumulate(share), grid))


class Yardsticks:
    """Errors and items of the yardsticks on all rows, for each of their settings."""

    def __init__(self, n: int) -> None:
        self.n, self.found = n, dict[str, tuple[np.ndarray, np.ndarray]]()

    def add(self, name: str, test: np.ndarray, wrong: np.ndarray, count: np.ndarray) -> None:
        if name not in self.found:
            self.found[name] = (np.zeros((len(wrong), self.n)), np.zeros((len(wrong), self.n)))
        errors, counts = self.found[name]
        errors[:, test], counts[:, test] = wrong, count if count.ndim > 1 else count[:, None]

    def costs(self, price: float) -> dict[str, np.ndarray]:
        """Cost of each row by the setting that costs least on all of them."""
        result = {}
        for name, (errors, counts) in self.found.items():
            costs = errors + price * counts
            result[name] = costs[costs.mean(axis=1).argmin()]
        return result


def arc_threshold(X: np.ndarray, threshold: float, arguments: Any) -> list[dict[str, Any]]:
    y = X.mean(axis=1) >= threshold
    yardsticks, rng = Yardsticks(len(X)), np.random.default_rng(0)
    ours: dict[tuple[str, float], dict[str, Any]] = {}
    for train, test in StratifiedKFold(5, shuffle=True, random_state=0).split(X, y):
        known, held = (X[train], y[train]), (X[test], y[test])
        yardsticks.add("random items", test, *random_items(known, held, rng))
        for name in arguments.models:
            began = time.perf_counter()
            model: Any = MODELS[name]().fit(*known, n_outcomes=2)
            learnt = time.perf_counter() - began
            if name == "2PL":
                yardsticks.add("most telling, one order", test, *fixed_order(model, held))
                cut = cut_of(model)
                for how, (decided, asked) in classical(model, np.array([cut]), X[test], (0.05, 0.2), (20, 80)).items():
                    yardsticks.add(how, test, decided != y[test], asked)
            for price in arguments.prices:
                began = time.perf_counter()
                solver = Adaptive([ClassInformation()], n_paths=500, certificate_paths=0, random_state=0)
                clf = SequentialClassifier.from_model(model, feature_costs=price, solver=solver)
                record = clf.acquire(X[test])
                own = ours.setdefault((name, price), {"s": 0.0, "cost": np.zeros(len(X)), "wrong": np.zeros(len(X))})
                own["s"] += learnt + time.perf_counter() - began
                own["wrong"][test] = record.decision != y[test]
                own["cost"][test] = record.paid + own["wrong"][test]
    return [
        _told(f"accuracy >= {threshold:g}, price {price:g}, {name}", own, yardsticks.costs(price), price)
        for (name, price), own in ours.items()
    ]


def _told(name: str, own: dict[str, Any], peers: dict[str, np.ndarray], price: float) -> dict[str, Any]:
    cost, errors = own["cost"], float(own["wrong"].mean())
    items = float((cost - own["wrong"]).mean() / price)
    print(f"{name}: cost {cost.mean():.4f}, errors {errors:.3f} with {items:.1f} items, {own['s'] / 5:.1f} s a fold")
    figures: dict[str, Any] = {"cost": float(cost.mean()), "errors": errors, "items": items}
    for peer, other in peers.items():
        apart = cost - other
        half = 1.96 * float(apart.std(ddof=1)) / len(apart) ** 0.5
        print(f"    {peer}: {other.mean():.4f}; ours less that {apart.mean():+.4f} +- {half:.4f}", flush=True)
        figures[peer] = {"cost": float(other.mean()), "apart": float(apart.mean()), "half_width": half}
    return row(name, own["s"] / 5, **figures)


def arc(arguments: Any) -> list[dict[str, Any]]:
    """Language models: the data has to be at hand."""
    folder = data_folder(arguments)
    file = folder / "items" / "arc_items.npz" if folder else Path()
    if arguments.quick or not file.is_file():
        if not arguments.quick:
            absent("arc", "items/arc_items.npz")
        return []
    with np.load(file, allow_pickle=False) as data:
        X = data["X"].astype(int)
    _dimensions(X)
    rows = []
    for threshold in arguments.thresholds:
        rows += arc_threshold(X, threshold, arguments)
    return rows


def _dimensions(X: np.ndarray) -> None:
    """Tell how far the answers are from one ability: principal components, and what they have to do with accuracy."""
    some = X[:, (X.mean(axis=0) > 0.02) & (X.mean(axis=0) < 0.98)]
    scores, sizes, _ = np.linalg.svd(some - some.mean(axis=0), full_matrices=False)
    for k in range(2):
        share, along = sizes[k] ** 2 / (sizes**2).sum(), np.corrcoef(scores[:, k], X.mean(axis=1))[0, 1]
        print(
            f"component {k + 1} of {some.shape[1]} items: {share:.0%} of the variance, r {abs(along):.2f} with accuracy"
        )


def main() -> None:
    made = parser(__doc__)
    add_data_option(made)
    made.add_argument("--parts", nargs="+", default=["bank", "arc"], choices=["bank", "arc"])
    made.add_argument("--models", nargs="+", default=["2PL", "class mixture"], choices=MODELS)
    made.add_argument("--thresholds", nargs="+", type=float, default=[0.5, 0.6, 0.66, 0.7])
    made.add_argument("--prices", nargs="+", type=float, default=[0.002, 0.005])
    arguments = made.parse_args()
    rows = []
    if "bank" in arguments.parts:
        rows += bank(arguments)
    if "arc" in arguments.parts:
        rows += arc(arguments)
    if arguments.json:
        write_json(rows, arguments.json)


if __name__ == "__main__":
    main()
