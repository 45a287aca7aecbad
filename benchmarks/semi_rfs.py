"""Semi-randomised feature selection: error against evaluations and seconds, beside RFS and greedy selection.

    python benchmarks/semi_rfs.py [--json FILE] [--quick] [--repeats N] [--only PART]

The data are those of the figures of the paper: 300 instances, 500 features (26 informative, 4 redundant with them),
3 classes; 5 folds, 4 runs. The learner is a small Gaussian naive Bayes, the budget a number of subsets. The
*CV error* is what the search minimises, and so optimistic; the *test error* is on 2000 instances that it never saw.
``ours_s`` are seconds to the final CV error of RFS, or of the whole budget where that is not reached; the peer is RFS.
Then the settings alpha and beta, scikit-learn's greedy selection at equal budget, gradient boosting, a Gaussian process
on the diabetes data, and evaluations a second with one worker and two.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from _common import Row, parser, peak_mb, report
from sklearn.datasets import load_diabetes
from sklearn.ensemble import GradientBoostingClassifier, HistGradientBoostingClassifier
from sklearn.feature_selection import SequentialFeatureSelector
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import RBF, WhiteKernel
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from reproduction.searches import SmallBayes, paper_data
from seqclass.selection import SemiRFS

PAPER: dict[str, Any] = {"warm_start": False, "beta": 5.0, "removal_group_size": 1}
RFS: dict[str, Any] = {"warm_start": False, "adaptive": False, "group_size": 1, "removal_group_size": 1}
#: Figs. 3 to 5.
FORMS: dict[str, dict[str, Any]] = {
    "RFS": RFS,
    "our defaults": {},
    "static 2, 1": {"warm_start": False, "adaptive": False},
    "adaptive 0.5": {**PAPER, "alpha": 0.5},
    "adaptive 1": {**PAPER, "alpha": 1.0},
    "warm RFS": {**RFS, "warm_start": True},
    "warm adaptive 1": {**PAPER, "alpha": 1.0, "warm_start": True},
    "cool RFS": {**RFS, "cool_down": True},
    "cool adaptive 1": {**PAPER, "alpha": 1.0, "cool_down": True},
    "warm, cool, static": {"adaptive": False, "warm_start": True, "cool_down": True},
    "from all, static": {"adaptive": False, "warm_start": "all"},
    "RVE, 30 relevant": {
        **RFS,
        "warm_start": "all",
        "addition_penalty": 1.0,
        "removal_size": "optimal",
        "n_relevant": 30,
        "c": np.inf,
    },
}


class Curve:
    """Best CV error after each evaluation, seconds, test error and size of several runs of one form."""

    def __init__(self, settings: dict[str, Any], learner: Any, budget: int, runs: int, n_features: int = 500) -> None:
        errors, seconds, test, size = [], [], [], []
        for run in range(runs):
            X, y, X_test, y_test = paper_data(run, n_features)
            made = SemiRFS(learner, max_evaluations=budget, patience=None, random_state=run, **settings).fit(X, y)
            error, times = 1 - made.evaluations_["best_score"], made.evaluations_["time"]
            short = budget - len(error)  # a search that was exhausted stays where it is
            errors.append(np.pad(error, (0, short), mode="edge"))
            seconds.append(np.pad(times, (0, short), mode="edge"))
            final = learner.fit(made.transform(X), y)
            test.append(1 - final.score(made.transform(X_test), y_test))
            size.append(made.n_features_)
        self.error, self.seconds = np.mean(errors, axis=0), np.mean(seconds, axis=0)
        self.test, self.size = float(np.mean(test)), float(np.mean(size))

    def reaches(self, error: float) -> int | None:
        """Evaluations until the mean error is as low, if it ever is."""
        there = np.flatnonzero(self.error <= error + 1e-12)
        return int(there[0]) + 1 if there.size else None


def shown_at(budget: int) -> list[int]:
    return [max(1, budget * percent // 100) for percent in (5, 10, 25, 50, 75, 100)]


def compare(title: str, forms: dict[str, Callable[[], Curve]], budget: int) -> list[Row]:
    """Print the curves as they come, RFS first, and one row each: time to RFS's final error."""
    rfs = forms["RFS"]()
    marks = shown_at(budget)
    print(f"\n{title}: CV error after so many evaluations; evaluations to RFS's final error; test error; features")
    print(" " * 22 + "".join(f"{mark:>8}" for mark in marks) + f"{'reached':>9}{'seconds':>9}{'test':>7}{'size':>7}")
    rows = []
    for name, run in forms.items():
        curve = rfs if name == "RFS" else run()
        reached = curve.reaches(rfs.error[-1])
        at = budget if reached is None else reached
        needed = max(float(curve.seconds[at - 1]), 1e-9)
        rfs_needed = float(rfs.seconds[(rfs.reaches(rfs.error[-1]) or budget) - 1])
        errors = "".join(f"{curve.error[mark - 1]:8.3f}" for mark in marks)
        reached_shown = "-" if reached is None else str(reached)
        print(
            f"{name:22}{errors}{reached_shown:>9}{needed:9.2f}{curve.test:7.3f}{curve.size:7.1f}",
            flush=True,
        )
        is_rfs = curve is rfs or reached is None
        peer = None if is_rfs else "RFS"
        peer_s, ratio = (None, None) if is_rfs else (rfs_needed, rfs_needed / needed)
        rows.append(Row(f"{title}: {name}, {reached_shown} evaluations", needed, peer, peer_s, ratio, None))
    return rows


def curves(forms: dict[str, dict[str, Any]], *arguments: Any) -> dict[str, Callable[[], Curve]]:
    """Curves that are computed when they are called for."""
    return {name: partial(Curve, settings, *arguments) for name, settings in forms.items()}


def figures(learner: Any, budget: int, runs: int, n_features: int) -> list[Row]:
    return compare("figures 3 to 5", curves(FORMS, learner, budget, runs, n_features), budget)


def sensitivity(learner: Any, budget: int, runs: int, n_features: int, grid: tuple[float, ...]) -> list[Row]:
    """Fig. 6: alpha and beta."""
    forms = {"RFS": RFS}
    for beta in grid:
        for alpha in (0.5, 1.0, 2.0):
            forms[f"alpha {alpha:g} beta {beta:g}"] = {
                "warm_start": False,
                "alpha": alpha,
                "beta": beta,
                "removal_group_size": 1,
            }
    return compare("figure 6", curves(forms, learner, budget, runs, n_features), budget)


def beside_greedy(learner: Any, n_greedy: int, runs: int, n_features: int) -> list[Row]:
    """scikit-learn's forward selection of a few features, and ours with as many evaluations."""
    budget = sum(n_features - k for k in range(n_greedy))
    seconds, error, test = [], [], []
    for run in range(runs):
        X, y, X_test, y_test = paper_data(run, n_features)
        start = time.perf_counter()
        greedy = SequentialFeatureSelector(learner, n_features_to_select=n_greedy, cv=5).fit(X, y)
        seconds.append(time.perf_counter() - start)
        error.append(1 - cross_val_score(learner, greedy.transform(X), y, cv=5).mean())
        test.append(1 - learner.fit(greedy.transform(X), y).score(greedy.transform(X_test), y_test))
    print(f"\nequal budget of {budget} evaluations: CV error, test error, features, seconds")
    peer = float(np.mean(seconds))
    print(f"{'SequentialFeatureSelector':27}{np.mean(error):7.3f}{np.mean(test):7.3f}{n_greedy:7.1f}{peer:8.2f}")
    rows = []
    for name in ("RFS", "static 2, 1", "adaptive 1", "warm RFS", "warm adaptive 1"):
        curve = Curve(FORMS[name], learner, budget, runs, n_features)
        ours = float(curve.seconds[-1])
        print(f"{name:27}{curve.error[-1]:7.3f}{curve.test:7.3f}{curve.size:7.1f}{ours:8.2f}", flush=True)
        rows.append(Row(f"{budget} evaluations: {name}", ours, "SequentialFeatureSelector", peer, peer / ours, None))
    return rows


def boosting(budget: int, trees: int) -> list[Row]:
    """One run with gradient boosting, the learner of the paper."""
    learner = GradientBoostingClassifier(n_estimators=trees, random_state=0)
    forms = {name: FORMS[name] for name in ("RFS", "static 2, 1", "warm adaptive 1")}
    return compare(f"gradient boosting of {trees} trees", curves(forms, learner, budget, 1), budget)


def diabetes(budget: int) -> list[Row]:
    """Regression with a Gaussian process: root mean squared error, noise columns added."""
    X, y = load_diabetes(return_X_y=True)
    X = np.c_[X, np.random.default_rng(0).normal(scale=X.std(), size=(len(X), 30))]
    process = GaussianProcessRegressor(RBF(3.0) + WhiteKernel(0.5), normalize_y=True, optimizer=None)
    learner = make_pipeline(StandardScaler(), process)
    scoring = "neg_root_mean_squared_error"
    everything = -cross_val_score(learner, X, y, scoring=scoring).mean()
    print(f"\ndiabetes with 30 columns of noise, Gaussian process, RMSE with all 40: {everything:.2f}")
    rows = []
    for name in ("RFS", "adaptive 1", "warm adaptive 1"):
        settings = {**FORMS[name], "max_evaluations": budget, "patience": None, "random_state": 0}
        made = SemiRFS(learner, scoring, **settings).fit(X, y)
        real = int(made.support_[:10].sum())
        seconds = float(made.evaluations_["time"][-1])
        print(f"{name:22} RMSE {-made.best_score_:.2f}, {made.n_features_} features, {real} real; {seconds:.1f} s")
        rows.append(Row(f"diabetes: {name}", seconds, None, None, None, None))
    return rows


def workers(budget: int, n_features: int) -> list[Row]:
    """Evaluations a second with one worker and two, for a learner that takes a few milliseconds, and memory."""
    X, y, *_ = paper_data(0, n_features)
    learner = HistGradientBoostingClassifier(max_iter=5, max_depth=3, random_state=0)

    def run(n_jobs: int) -> Callable[[], SemiRFS]:
        return lambda: SemiRFS(learner, n_jobs=n_jobs, max_evaluations=budget, random_state=0, **PAPER).fit(X, y)

    run(2)()  # start the processes
    rates = {}
    for n_jobs in (1, 2):
        start = time.perf_counter()
        run(n_jobs)()
        rates[n_jobs] = time.perf_counter() - start
    memory = peak_mb(run(1))
    print()
    return [
        Row(f"1 worker, {budget / rates[1]:.1f} evaluations/s", rates[1], None, None, None, memory),
        Row(
            f"2 workers, {budget / rates[2]:.1f} evaluations/s",
            rates[2],
            "1 worker",
            rates[1],
            rates[1] / rates[2],
            None,
        ),
    ]


#: Each takes whether sizes are to be tiny, and the number of runs.
PARTS: dict[str, Callable[[bool, int], list[Row]]] = {
    "figures": lambda quick, runs: figures(SmallBayes(), 40 if quick else 2000, runs, 60 if quick else 500),
    "sensitivity": lambda quick, runs: sensitivity(
        SmallBayes(), 40 if quick else 1000, min(runs, 2), *((60, (1.0,)) if quick else (500, (1.0, 2.0, 4.0, 8.0)))
    ),
    "greedy": lambda quick, runs: beside_greedy(SmallBayes(), 2 if quick else 4, min(runs, 2), 60 if quick else 500),
    "boosting": lambda quick, runs: boosting(*((3, 2) if quick else (150, 20))),
    "diabetes": lambda quick, runs: diabetes(5 if quick else 100),
    "workers": lambda quick, runs: workers(4 if quick else 40, 60 if quick else 500),
}


def main() -> None:
    made = parser(__doc__)
    made.add_argument("--repeats", metavar="N", type=int, default=4, help="runs, whose mean counts (default 4)")
    made.add_argument("--only", metavar="PART", action="append", help=f"run this part alone: {', '.join(PARTS)}")
    arguments = made.parse_args()
    if set(arguments.only or ()) - set(PARTS):
        made.error(f"--only takes {', '.join(PARTS)}")
    runs = 1 if arguments.quick else arguments.repeats
    rows = []
    for name in arguments.only or PARTS:
        rows += PARTS[name](arguments.quick, runs)
    report(rows, arguments.json)


if __name__ == "__main__":
    main()
