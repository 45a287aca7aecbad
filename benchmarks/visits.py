"""What planning visits saves: the realised cost of `Panels` beside simple rules, at several costs of a visit.

    python benchmarks/visits.py [--sets SET ...] [--visit-costs W ...] [--rows N] [--model MODEL] [--data DIR]
                                [--picture FILE] [--json FILE] [--quick]

On five folds of each set every feature costs .01, the model is learnt once a fold, and any feature may come next:
questions one at a time, all at once, panels of a fixed size, and the best so many in a single visit, beside `Panels`.
Of the rules with a size the one is told that costs least on the very rows that are scored, which no plan can know.
Costs are prices, visits and errors, of all rows held out; the interval is of the paired difference. Seconds are of the
processor, of planning without certificates, beside those of `Adaptive` where visits cost nothing.
"""

from __future__ import annotations

import time
import warnings
from pathlib import Path
from typing import Any

import numpy as np
from _common import parser, write_json
from _real import absent, add_data_option, data_folder, folds
from scipy.stats import norm

from seqclass import Costs, SequentialClassifier, datasets
from seqclass._utils.files import replace_file
from seqclass.agent.agent import all_outcomes
from seqclass.bn import ClassMixture
from seqclass.costs import Visits
from seqclass.discretize import Discretizer
from seqclass.pomdp import Adaptive, ClassInformation, FixedPanels, Panels, Policy, acquire
from seqclass.pomdp.solvers.training import TrainingCases
from seqclass.pomdp.visits import with_visits, without_visits

PRICE = 0.01
SETS = ["breast_cancer", "digits", "spambase", "heart-like", "lung2_desouto1543"]
VISIT_COSTS = [0.0, 0.01, 0.03, 0.1]
#: Sizes of the panels of the simple rules.
SIZES, ONCE = (2, 4), (1, 2, 4, 8, 16)
#: Columns that are kept of more.
MOST = 64


def heart_like(seed: int = 0) -> tuple[np.ndarray, np.ndarray, list[str | None]]:
    """Two classes of two kinds each, thirteen columns; some come from one blood sample, or one recording."""
    rng = np.random.default_rng(seed)
    y, kind = rng.integers(2, size=600), rng.integers(2, size=600)
    middle = rng.normal(scale=0.7, size=(2, 2, 13))
    groups: list[str | None] = [None] * 3 + ["blood"] * 4 + ["recording"] * 3 + [None] * 3
    return middle[y, kind] + rng.normal(size=(600, 13)), y, groups


def load(name: str, folder: Path | None, most: int) -> tuple[np.ndarray, np.ndarray, Costs] | None:
    """Rows and prices of a set; None where it is absent."""
    if name == "heart-like":
        X, y, groups = heart_like()
        discounted = np.where([group is not None for group in groups], PRICE / 2, PRICE)
        return X[:most], y[:most], Costs(PRICE, groups=groups, discounted_costs=discounted)
    if name not in datasets.list_datasets(folder):
        return None
    data = datasets.load(name, folder)
    rows = np.random.default_rng(0).permutation(len(data.y))[:most]
    return np.asarray(data.X)[rows], data.y[rows], Costs(PRICE)


def rules(quick: bool, visits: bool) -> dict[str, Any]:
    """Solvers by name; those that differ in a size alone have a name in common before the comma."""
    settings: dict[str, Any] = {"certificate_paths": 0}
    found: dict[str, Any] = {
        "Panels": Panels(n_paths=200 if quick else 300, **settings),
        "one at a time": Adaptive(certificate_paths=0) if visits else Adaptive(),
        "all at once": FixedPanels(once=True, **settings),
    }
    for size in SIZES[:1] if quick else SIZES:
        found[f"panels of k, {size}"] = FixedPanels(size, n_paths=200 if quick else 300, **settings)
    for size in ONCE[1:3] if quick else ONCE:
        found[f"best k once, {size}"] = FixedPanels(size, once=True, **settings)
    return found


def scored(clf: SequentialClassifier, policy: Policy, X: np.ndarray, y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """What each row costs, and its visits."""
    agent = clf.agent_
    done = acquire(policy, all_outcomes(agent, X), columns=None)
    wrong = agent.classes[done.leaf_decision[done.leaf]] != y
    visits = np.zeros(len(y)) if done.leaf_visit is None else done.leaf_visit.max(axis=1, initial=0)[done.leaf]
    return done.leaf_price[done.leaf] + wrong, visits


#: What is learnt: the mixture that `seqclass.adaptive` starts from, calibrated, or naive Bayes as it stands, which is
#: too sure of what columns repeat.
MODELS: dict[str, dict[str, Any]] = {
    "mixture": {
        "observation_model": ClassMixture(density="auto", random_state=0),
        "discretizer": Discretizer(16, strategy="quantile"),
        "calibrate": True,
    },
    "naive": {},
}


def _wrong(clf: SequentialClassifier, y: np.ndarray) -> np.ndarray:
    return clf.decision_costs_[np.searchsorted(clf.classes_, y)]


def _cases(clf: SequentialClassifier, X: np.ndarray, y: np.ndarray) -> TrainingCases:
    outcomes = all_outcomes(clf.agent_, X)
    return TrainingCases(outcomes, np.searchsorted(clf.classes_, y), np.ones(outcomes.shape[1], dtype=bool))


def compared(
    name: str,
    data: tuple[np.ndarray, np.ndarray, Costs],
    visit_costs: list[float],
    quick: bool,
    model: dict[str, Any],
) -> list[Any]:
    """Rows of a set: a row each visit cost."""
    X, y, costs = data
    rows = []
    splits = list(folds(X, y, [0]))[: 2 if quick else None]
    fits = []
    for train, _ in splits:
        solver = Adaptive([ClassInformation()], max_rounds=0, certificate_paths=0)
        settings = {"order": "adaptive", "solver": solver, "max_candidates": MOST, "feature_costs": costs}
        fits.append(SequentialClassifier(**settings, **model).fit(X[train], y[train]))
    for w in visit_costs:
        found: dict[str, list[np.ndarray]] = {}
        visits, seconds, alone = [], 0.0, 0.0
        for (train, test), clf in zip(splits, fits):
            problem = clf.problem_
            problem = with_visits(problem, Visits(w, np.zeros(problem.n_questions)) if w else None)
            began = time.process_time()
            Adaptive(certificate_paths=0).solve(without_visits(problem))
            alone += time.process_time() - began
            for rule, solver in rules(quick, problem.visits is not None).items():
                if problem.visits is None and isinstance(solver, FixedPanels):
                    continue
                began = time.process_time()
                # as a classifier's fit does
                policy = solver.solve(problem, _cases(clf, X[train], y[train]) if rule == "Panels" else None)
                seconds += (time.process_time() - began) * (rule == "Panels")
                cost, n_visits = scored(clf, policy, X[test], y[test])
                found.setdefault(rule, []).append(cost)
                if rule == "Panels":
                    visits.append(n_visits)
        every = {rule: np.concatenate(parts) for rule, parts in found.items()}
        best: dict[str, str] = {}
        for rule, cost in every.items():
            family = rule.partition(",")[0]
            if family not in best or cost.mean() < every[best[family]].mean():
                best[family] = rule
        ours, told = every["Panels"], {}
        for family, rule in best.items():
            difference = ours - every[rule]
            margin = norm.ppf(0.975) * difference.std() / np.sqrt(len(difference))
            told[family] = {"rule": rule, "cost": float(every[rule].mean()), "less": float(-difference.mean())}
            told[family]["margin"] = float(margin)
        row = {"name": f"{name}, visit {w:g}", "ours_s": max(seconds, 1e-9), "peer": "Adaptive without visits"}
        row |= {"peer_s": alone, "ratio": alone / max(seconds, 1e-9), "peak_mb": None, "cost": float(ours.mean())}
        row |= {"visits": float(np.concatenate(visits).mean()), "rules": told}
        rows.append(row)
        print(f"{row['name']:30}{ours.mean():.4f}  {row['visits']:.2f} visits  {seconds:.1f} s ({alone:.1f})", end="")
        for family, one in told.items():
            if family != "Panels":
                print(f"  {one['rule']} {one['cost']:.4f} ({-one['less']:+.4f} +- {one['margin']:.4f})", end="")
        print(flush=True)
    return rows


def draw(rows: list[dict[str, Any]], path: Path) -> None:
    """Cost against the cost of a visit, a set a panel."""
    from matplotlib.figure import Figure

    names = list(dict.fromkeys(row["name"].partition(", visit")[0] for row in rows))
    figure = Figure(figsize=(4 * len(names), 3.8), layout="constrained")
    for name, axes in zip(names, np.ravel(figure.subplots(1, len(names)))):
        some = [row for row in rows if row["name"].startswith(f"{name}, visit")]
        for marker, family in zip("os^Dv", some[-1]["rules"]):
            points = [
                (float(row["name"].rpartition(" ")[2]), row["rules"][family]["cost"])
                for row in some
                if family in row["rules"]
            ]
            axes.plot(*np.array(points).T, marker=marker, label=family, linewidth=2.2 if family == "Panels" else 1.2)
        axes.set(title=name, xlabel="cost of a visit", ylabel="cost a case, held out")
        axes.grid(alpha=0.3)
        axes.legend(fontsize="small")
    with replace_file(path) as temporary:
        figure.savefig(temporary, dpi=120)


def main() -> None:
    made = parser(__doc__)
    add_data_option(made)
    made.add_argument("--sets", nargs="+", default=SETS, choices=SETS)
    made.add_argument("--visit-costs", nargs="+", type=float, default=VISIT_COSTS, metavar="W")
    made.add_argument("--rows", type=int, default=600, metavar="N", help="rows of a set at most (default 600)")
    made.add_argument("--model", choices=list(MODELS), default="mixture", help="what is learnt (default mixture)")
    made.add_argument("--picture", metavar="FILE", type=Path, help="draw costs against the cost of a visit")
    arguments = made.parse_args()
    rows: list[Any] = []
    for name in ["heart-like"] if arguments.quick else arguments.sets:
        data = load(name, data_folder(arguments), 200 if arguments.quick else arguments.rows)
        if data is None:
            absent(name)
            continue
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            visit_costs = [0.03] if arguments.quick else arguments.visit_costs
            rows += compared(
                name, data, visit_costs, arguments.quick, MODELS["naive" if arguments.quick else arguments.model]
            )
    if arguments.json:
        write_json(rows, arguments.json)
    if arguments.picture:
        draw(rows, arguments.picture)


if __name__ == "__main__":
    main()
