"""The optimum over all orders: how close certified bounds come, and in what time.

    python benchmarks/all_orders.py [--only listed|limits|hindsight] [--data DIR] [--json FILE] [--quick] [--repeats N]

Rows are seconds of solving and certifying; the certified interval over all orders is in the name, and in the JSON by
itself. The first gap is where a search begins: deciding now or after one question, against one price more and then
knowledge. The rows by number of classes tell the median share of the optimum that a lower bound reaches, on problems
whose optimum is known exactly: of a search of 3000 partial answers by one price more, and by the best bounds there are.
The rows of random small problems (independent answers or class mixtures, with groups, a bundle, or a further decision)
count how many bounds were above the optimum, which certain ones never are and sampled ones of 99% confidence seldom,
and tell how far below it they are in the median, each after 100 partial answers: certain ones by one price more, by the
best there are, and with drawn cases beside these. The rows of what is listed are the optimum by one array of all
partial answers, and beside it, where that takes minutes at most, by histories that are kept one by one, and what
`Adaptive` comes to with and without it. Those of limits are of few questions of many: naive Bayes and class mixtures
of two data sets, in quantile bins, by the rules of `Adaptive` and by what it does where few partial answers are within
reach. Those of hindsight are of first questions in hindsight: how many bounds are above the optimum on small class
mixtures of known optimum, and what certificates come to on the models that `seqclass.adaptive` chooses for two data
sets, beside the gap by certain bounds alone, and the gap where fewer questions are followed. --only listed, limits or
hindsight gives no others.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any

import numpy as np
from _common import Row, measure, parser, report
from _real import absent, add_data_option, data_folder, load
from sklearn.datasets import load_breast_cancer, load_digits
from sklearn.preprocessing import KBinsDiscretizer

from seqclass import adaptive
from seqclass.agent.problem import acquisition_problem
from seqclass.bn import ClassMixture, NaiveBayes, TreeNetwork
from seqclass.costs import Costs
from seqclass.discretize import Discretizer
from seqclass.pomdp import (
    AcquisitionProblem,
    Adaptive,
    ExactFreeOrder,
    FittedValueIteration,
    Lookahead,
    MixtureProblem,
    Solver,
    TableProblem,
    certify,
    optimal_cost,
)
from seqclass.pomdp.bounds.certificate import best_rate, lowest
from seqclass.pomdp.bounds.drawn import DrawnCases, DrawnSearch
from seqclass.pomdp.bounds.hindsight import HindsightValues, surely_less
from seqclass.pomdp.bounds.hints import MANY_STATES, HintedValues, bounds_of
from seqclass.pomdp.bounds.optimum import PartialAnswers, expand
from seqclass.pomdp.bounds.search import OrderSearch
from seqclass.pomdp.bundles import Bundle


@dataclass(frozen=True)
class Certified(Row):
    """A row with what was certified."""

    first_gap: float
    lower: float
    upper: float
    gap: float
    status: str
    size: int


def breast_cancer(model: Any, n_features: int = 30) -> AcquisitionProblem:
    """All rows, five quantile bins, price .01, any question next."""
    X, y = load_breast_cancer(return_X_y=True)
    bins = KBinsDiscretizer(5, encode="ordinal", strategy="quantile", quantile_method="averaged_inverted_cdf")
    codes = bins.fit_transform(X[:, -n_features:]).astype(int)
    prices = Costs(0.01).prices(n_features)
    return acquisition_problem(model.fit(codes, y), np.arange(n_features), prices, 1 - np.eye(2), any_order=True)


def weak_sensors(
    n_questions: int, n_classes: int, seed: int = 0, *, n_outcomes: int = 3, price: float = 0.005
) -> AcquisitionProblem:
    """Sensors that say little, at low prices: many of them are worth asking."""
    rng = np.random.default_rng(seed)
    tables = rng.dirichlet(np.full(n_outcomes, 4.0), size=(n_questions, n_classes)).transpose(0, 2, 1)
    prices = price * rng.uniform(0.5, 1.5, n_questions)
    return TableProblem(np.full(n_classes, 1 / n_classes), tables, prices, any_order=True)


@dataclass(frozen=True)
class Reached(Row):
    """A row with the shares of the optimum that lower bounds reach: by one price, by the best bounds, searched on."""

    one_price: float
    bounds: float
    searched: float


def random_problem(n_classes: int, seed: int) -> AcquisitionProblem:
    """Eight questions of two or three outcomes, some of which tell much, prices about .02."""
    rng = np.random.default_rng(seed)
    tables = [rng.dirichlet(np.ones(rng.integers(2, 4)), size=n_classes).T for _ in range(8)]
    prior = rng.dirichlet(np.full(n_classes, 5.0))
    return TableProblem(prior, tables, 0.02 * rng.uniform(0.5, 1.5, 8), any_order=True)


def exchangeable(n_classes: int, seed: int, n_questions: int = 20) -> tuple[AcquisitionProblem, float]:
    """Questions of two answers that are all alike, at .01, and the optimum by recursion on how many said yes."""
    rng = np.random.default_rng(seed)
    rates, prior, value = rng.uniform(0.05, 0.95, n_classes), np.full(n_classes, 1 / n_classes), None
    for asked in range(n_questions, -1, -1):
        yes = np.arange(asked + 1)[:, None]
        joint = prior * rates**yes * (1 - rates) ** (asked - yes)
        stop = joint.sum(axis=1) - joint.max(axis=1)
        value = stop if value is None else np.minimum(stop, 0.01 * joint.sum(axis=1) + value[:-1] + value[1:])
    assert value is not None
    tables = np.tile(np.stack([1 - rates, rates]), (n_questions, 1, 1))
    return TableProblem(prior, tables, 0.01, any_order=True), float(value[0])


def reached(name: str, problems: list[tuple[AcquisitionProblem, float]]) -> Reached:
    shares, seconds = [], []
    for problem, optimum in problems:
        plain = OrderSearch(problem)
        plain.run(3000)
        began = time.perf_counter()
        bounds = bounds_of(problem)
        assert bounds is not None
        at_once = float(bounds.lower(problem.initial_belief())[0])
        search = OrderSearch(problem, bounds)
        search.run(3000)
        seconds.append(time.perf_counter() - began)
        shares.append([plain.low / optimum, at_once / optimum, search.low / optimum])
    middle = np.median(shares, axis=0).tolist()
    title = (
        f"{name}: {middle[0]:.2f} of the optimum by one price, {middle[1]:.2f} by bounds, {middle[2]:.2f} searched on"
    )
    return Reached(title, float(np.median(seconds)), None, None, None, None, *middle)


@dataclass(frozen=True)
class Known(Row):
    """A row of small problems: how many bounds were above the optimum, and the median gaps in shares of it."""

    n_problems: int
    certain_above: int
    sampled_above: int
    one_price: float
    certain: float
    with_cases: float


#: How seldom an end that certificates take from drawn cases may be wrong.
FAILING = 0.005
#: Products that hints of a small problem may take: a thousandth of what they take elsewhere, for there are many.
WORK = 5e4


def small_problem(n_classes: int, seed: int) -> AcquisitionProblem:
    """Four or five questions that tell little or much; every other one a class mixture, with groups, a bundle, or a
    further decision."""
    rng = np.random.default_rng([n_classes, seed])
    states = np.repeat(np.arange(n_classes), 1 if seed % 2 else rng.integers(1, 4, n_classes))
    sizes, peak = rng.integers(2, 4, rng.integers(4, 6)).tolist(), rng.choice([0.5, 2.0, 6.0])
    tables = [rng.dirichlet(np.full(size, peak), size=len(states)).T for size in sizes]
    costs = rng.uniform(0.3, 1.0, (n_classes, n_classes)) * (1 - np.eye(n_classes))
    bundles, kind = None, seed // 2 % 4
    if kind == 1:
        bundles = [Bundle([0, 1], sizes[:2]), *[None] * (len(sizes) - 2)]
        tables = [(tables[0][:, None] * tables[1]).reshape(-1, len(states)), *tables[2:]]
    if kind == 2:
        costs = np.column_stack([costs, rng.uniform(0.1, 0.4, n_classes)])
    full = rng.uniform(0.002, 0.04, len(tables))
    groups = rng.integers(-1, 2, len(full)) if kind == 3 else np.full(len(full), -1)
    prices = np.where(groups >= 0, full * rng.uniform(0.0, 1.0, len(full)), full)
    return MixtureProblem(
        rng.dirichlet(np.full(len(states), 3.0)), states, tables, prices, costs, bundles=bundles, any_order=True,
        features=np.arange(len(full)) + (np.arange(len(full)) > 0) * (kind == 1), groups=groups, full_prices=full,
    )  # fmt: skip


def random_row(n_classes: int, n_problems: int, n_nodes: int = 100, n_cases: int = 2000) -> Known:
    """Bounds of small problems beside their optima."""
    gaps, above, began = [], np.zeros(2, dtype=int), time.perf_counter()
    for seed in range(n_problems):
        problem = small_problem(n_classes, seed)
        optimum, plain = optimal_cost(problem), OrderSearch(problem)
        search = OrderSearch(problem, HintedValues(problem, WORK))
        rng = np.random.default_rng(seed)
        rate = best_rate(problem, DrawnCases.draw(problem, n_cases // 4, rng), search.high, n_cases)
        drawn = DrawnSearch(problem, DrawnCases.draw(problem, n_cases, rng), rate)
        for one in (plain, search, drawn):
            one.run(n_nodes)
        certain, sampled = max(plain.low, search.low), drawn.lower(FAILING)
        gaps.append(1 - np.array([plain.low, certain, min(max(certain, sampled), optimum)]) / optimum)
        drawn.run()  # nearest to the optimum, and so most likely above it
        above += np.array([certain, drawn.lower(FAILING)]) > optimum * (1 + 1e-9)
    middle = np.median(gaps, axis=0).tolist()
    title = (
        f"{n_classes} classes, {n_problems} random problems: {above[0]} certain, {above[1]} sampled bounds above the "
        f"optimum; median gap {middle[0]:.1%} by one price, {middle[1]:.1%} by certain bounds, {middle[2]:.1%} by cases"
    )
    seconds = (time.perf_counter() - began) / n_problems
    return Known(title, seconds, None, None, None, None, n_problems, *above.tolist(), *middle)


def row(name: str, problem: AcquisitionProblem, solver: Solver) -> Certified:
    start = OrderSearch(problem)
    began = time.perf_counter()
    info = solver.solve(problem).info
    seconds = time.perf_counter() - began
    first = (start.high - start.low) / start.high
    title = f"{name}: gap {info.gap:.3%} (first {first:.1%}), {info.lower:.5f} to {info.upper:.5f}, {info.status}"
    return Certified(
        title, seconds, None, None, None, None, first, info.lower, info.upper, info.gap, info.status, info.size
    )


def listed_row(n_questions: int, n_outcomes: int, one_by_one: bool) -> Row:
    """The optimum of four classes by a list of all partial answers; sensors so cheap that few histories are settled."""
    problem = weak_sensors(n_questions, 4, n_outcomes=n_outcomes, price=0.001)

    def listed() -> float:
        found = PartialAnswers.from_problem(problem, np.inf)
        assert found is not None
        return found.solve()

    def histories() -> float:
        return float(expand(problem.initial_belief(), problem.n_stages).values(np.ones(1))[0, 0])

    size = (n_outcomes + 1) ** n_questions
    name = f"{n_questions} questions of {n_outcomes} outcomes, {size:,} partial answers: optimum {listed():.6f}, listed"
    if not one_by_one:
        return measure(name, listed, repeats=0)
    assert np.isclose(listed(), histories(), rtol=1e-9)
    return measure(name, listed, peer="histories one by one", peer_call=histories, repeats=0)


def limit_rows(load: Any, n_bins: int, most: int) -> list[Row]:
    """The best of so many questions of all, by rules and exactly."""
    X, y = load(return_X_y=True)
    X, rows = X[:, X.std(axis=0) > 0], []
    codes, columns = Discretizer(n_bins, strategy="quantile").fit_transform(X), X.shape[1]
    for kind, model in (("naive Bayes", NaiveBayes()), ("class mixture", ClassMixture(3, random_state=0))):
        n_classes = len(np.unique(y))
        problem = acquisition_problem(
            model.fit(codes, y), np.arange(columns), Costs(0.001).prices(columns), 1 - np.eye(n_classes), any_order=True
        ).replace(max_questions=most)
        name = f"{load.__name__[5:]}, {kind}, {most} of {columns} questions of {n_bins} bins"
        rows += [row(f"{name}, rules", problem, Adaptive(max_nodes=0)), row(name, problem, Adaptive())]
    return rows


def small_mixture(n_questions: int, seed: int) -> AcquisitionProblem:
    """Two to eight classes of one to four states; with groups, or a further decision."""
    rng = np.random.default_rng([n_questions, seed])
    n_classes = int(rng.integers(2, 9))
    states = np.repeat(np.arange(n_classes), rng.integers(1, 5, n_classes))
    peak = rng.choice([0.2, 0.5, 2.0])
    tables = [rng.dirichlet(np.full(rng.integers(2, 6), peak), size=len(states)).T for _ in range(n_questions)]
    full = rng.uniform(0.002, 0.06, n_questions)
    groups = rng.integers(-1, 2, n_questions) if seed % 2 else np.full(n_questions, -1)
    prices = np.where(groups >= 0, full * rng.uniform(0.0, 1.0, n_questions), full)
    costs = 1 - np.eye(n_classes)
    if seed % 3 == 0:
        costs = np.column_stack([costs, rng.uniform(0.1, 0.4, n_classes)])
    return MixtureProblem(
        rng.dirichlet(np.full(len(states), 2.0)), states, tables, prices, costs, groups=groups, full_prices=full,
        any_order=True,
    )  # fmt: skip


def hindsight_row(n_questions: int, depth: int, n_problems: int, n_cases: int = 25) -> Row:
    """Bounds of small class mixtures in hindsight, beside their optima."""
    gaps, began = [], time.perf_counter()
    for seed in range(n_problems):
        problem = small_mixture(n_questions, seed)
        values = HindsightValues(problem, depth, depth - 1, np.random.default_rng(seed)).values(n_cases)
        gaps.append(1 - surely_less(values, 0.995) / optimal_cost(problem))
    title = (
        f"{n_problems} class mixtures of {n_questions} questions, {depth} of them in hindsight, {n_cases} cases: "
        f"{sum(gap < -1e-9 for gap in gaps)} above the optimum, median gap {np.median(gaps):.1%}"
    )
    return Row(title, (time.perf_counter() - began) / n_problems, None, None, None, None)


def chosen_rows(name: str, folder: Any) -> list[Row]:
    """The certified gap of the model that `adaptive` chooses for a data set, and with fewer questions followed."""
    data = load(name, folder)
    if data is None:
        absent(name)
        return []
    agent = adaptive(0.01, random_state=0).fit(*data[:2]).agent_
    problem = agent.problem
    began = time.perf_counter()
    found = certify(problem, agent.policy, random_state=0)
    seconds = time.perf_counter() - began
    certain = lowest(problem, bounds_of(problem, MANY_STATES))
    before = 1 - certain / found.upper
    title = (
        f"{name}, {problem.n_questions} questions, {len(problem.structure.state_tables[1])} hidden states: "
        f"gap {found.gap:.1%} ({before:.1%} by certain bounds), {found.lower:.5f} to {found.upper:.5f}"
    )
    size = len(problem.structure.state_tables[1])
    rows: list[Row] = [
        Certified(
            title, seconds, None, None, None, None, before, found.lower, found.upper, found.gap, found.method, size
        )
    ]
    fitted = FittedValueIteration(8000, certificate_paths=0).solve(problem)
    began = time.perf_counter()
    longer = certify(problem, fitted, random_state=0, hindsight=300, width=0.005)
    rows.append(
        Row(
            f"{name}, FittedValueIteration, up to 300 s in hindsight: gap {longer.gap:.1%}, {longer.lower:.5f} to "
            f"{longer.upper:.5f}",
            time.perf_counter() - began, None, None, None, None,
        )
    )  # fmt: skip
    for depth in (1, 2):
        began = time.perf_counter()
        values = HindsightValues(problem, depth, depth - 1, np.random.default_rng(0)).values(100)
        low = surely_less(values, 0.995)
        rows.append(
            Row(
                f"{name}, {depth} in hindsight, 100 cases: at least {low:.5f}, gap {1 - low / found.upper:.1%}",
                time.perf_counter() - began, None, None, None, None,
            )
        )  # fmt: skip
    return rows


def hindsight_rows(arguments: Any) -> list[Row]:
    """Small mixtures of known optimum, and data sets."""
    rows = [hindsight_row(*sizes, 400) for sizes in ((2, 2), (3, 2), (3, 3), (4, 3), (5, 3))]
    for name in ("digits", "lung2_desouto1543"):
        rows += chosen_rows(name, data_folder(arguments))
    return rows


def main() -> None:
    made = parser(__doc__)
    add_data_option(made)
    made.add_argument("--only", choices=["listed", "limits", "hindsight"], help="no other rows")
    arguments = made.parse_args()
    seconds = 0.1 if arguments.quick else 60.0
    search = ExactFreeOrder(10**7, seconds)
    if arguments.quick:
        some = [row("weak sensors 8 x 3, 2 classes", weak_sensors(8, 2), search), random_row(3, 8)]
        report([*some, listed_row(6, 2, True), hindsight_row(2, 2, 2)], arguments.json)
        return
    if arguments.only == "hindsight":
        report(hindsight_rows(arguments), arguments.json)
        return
    limits = [
        made
        for load, numbers in ((load_breast_cancer, (2, 3, 4)), (load_digits, (2, 3)))
        for most in numbers
        for made in limit_rows(load, 3, most)
    ]
    if arguments.only == "limits":
        report(limits, arguments.json)
        return
    listed = [listed_row(11, 2, True), listed_row(13, 2, True)]
    listed += [listed_row(*size, False) for size in ((14, 2), (10, 4), (15, 2), (12, 3))]
    for n_questions, n_outcomes, n_classes in ((8, 3, 4), (12, 2, 4), (12, 2, 2)):
        problem = weak_sensors(n_questions, n_classes, n_outcomes=n_outcomes)
        name = f"weak sensors {n_questions} x {n_outcomes}, {n_classes} classes"
        listed.append(row(f"{name}, Adaptive, nothing listed", problem, Adaptive(max_nodes=50_000)))
        listed.append(row(f"{name}, Adaptive", problem, Adaptive()))
    if arguments.only:
        report(listed, arguments.json)
        return
    naive = breast_cancer(NaiveBayes())
    rows: list[Row] = [
        row("breast_cancer, naive Bayes, 30 questions, Lookahead(1)", naive, Lookahead(1)),
        row("breast_cancer, naive Bayes, 30 questions, Lookahead(2)", naive, Lookahead(2)),
        row("breast_cancer, naive Bayes, 30 questions, ExactFreeOrder, 1000 nodes", naive, ExactFreeOrder(1000)),
        row("weak sensors 8 x 3, 2 classes, ExactFreeOrder", weak_sensors(8, 2), ExactFreeOrder(100_000)),
        row("weak sensors 12 x 3, 2 classes, ExactFreeOrder", weak_sensors(12, 2), search),
        row("weak sensors 12 x 3, 3 classes, ExactFreeOrder", weak_sensors(12, 3), search),
        row("weak sensors 12 x 3, 4 classes, ExactFreeOrder", weak_sensors(12, 4), search),
        row("breast_cancer, tree, last 10 questions, ExactFreeOrder", breast_cancer(TreeNetwork("tree"), 10), search),
    ]
    for n_classes in (2, 3, 4, 5, 6, 8):
        random = [random_problem(n_classes, seed) for seed in range(10)]
        known = [(problem, optimal_cost(problem, max_histories=10**8)) for problem in random]
        rows.append(reached(f"{n_classes} classes, 8 random questions", known))
        alike = [exchangeable(n_classes, seed) for seed in range(10)]
        rows.append(reached(f"{n_classes} classes, 20 questions that are alike", alike))
    rows += [random_row(n_classes, 286) for n_classes in range(2, 9)]
    report(rows + listed + limits + hindsight_rows(arguments), arguments.json)


if __name__ == "__main__":
    main()
