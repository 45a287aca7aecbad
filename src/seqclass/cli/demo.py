"""``seqclass demo``: the main job on real data, beside ordinary classifiers."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import click
import numpy as np
from sklearn.datasets import load_breast_cancer
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedKFold
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier

from seqclass._shell import DecidingClassifier
from seqclass._utils.arrays import FloatArray
from seqclass._utils.files import replacing
from seqclass.adaptive_classifier import adaptive
from seqclass.cli._describe import held_out_text
from seqclass.cli._errors import InputError, check_output, refused
from seqclass.cli._format import echo_json, gap_text, table, wrapped
from seqclass.cli._progress import progress, working
from seqclass.fitting.held_out import HeldOut
from seqclass.metrics import realised_cost
from seqclass.plots import AccuracyFeaturesDisplay, BeliefPathDisplay
from seqclass.recipes import etana

__all__ = []


#: Price of a measurement; a wrong diagnosis costs 1.
PRICE = 0.01
#: The method whose model tells the story.
OURS = "adaptive"
#: The one whose stopping rule is certified for its order.
ETANA = "ETANA"


@dataclass(frozen=True)
class Result:
    """Cross-validated measures of one method; costs in units of misclassification cost."""

    method: str
    accuracy: float
    mean_features: float
    mean_cost: float
    realised_cost: float
    fit_seconds: float
    predict_seconds: float


@dataclass(frozen=True)
class Comparison:
    """What the demo found.

    Attributes
    ----------
    results : list of Result
        One a method, ours first.
    gap : float
        Largest certified gap of ETANA over the folds; NaN where it was left out.
    chosen : str
        What ours chose among the ways to learn that it tried.
    model : DecidingClassifier
        What ours chose, fitted without the first fold.
    X_held_out : DataFrame of shape (n, 30)
        The first fold.
    y_held_out : ndarray of shape (n,)
        Its labels.
    held_out : HeldOut
        What ours, fitted to all rows, expects, and what the choice costs on the same folds, beside its yardsticks.
    """

    results: list[Result]
    gap: float
    chosen: str
    model: DecidingClassifier
    X_held_out: Any
    y_held_out: Any
    held_out: HeldOut


def others(seed: int) -> dict[str, Callable[[], Any]]:
    """Return the methods that ours is compared with, unfitted, by name."""
    return {
        ETANA: lambda: etana(feature_costs=PRICE, random_state=seed),
        "ETANA as published": lambda: etana(feature_costs=PRICE, published=True, random_state=seed),
        "logistic regression": lambda: make_pipeline(StandardScaler(), LogisticRegression(max_iter=1000)),
        "random forest": lambda: RandomForestClassifier(random_state=seed),
        "decision tree": lambda: DecisionTreeClassifier(random_state=seed),
        "naive Bayes": GaussianNB,
    }


def compare(seed: int = 0, only: Sequence[str] | None = None, n_splits: int = 5) -> Comparison:
    """Cross-validate."""
    data = load_breast_cancer(as_frame=True)
    X, y = data.data, np.asarray(data.target_names)[data.target.to_numpy()]
    folds = list(StratifiedKFold(n_splits, shuffle=True, random_state=seed).split(X, y))
    with working("choosing how to learn"):
        started = time.perf_counter()
        whole = adaptive(PRICE, effort="quick", random_state=seed).fit(X, y, held_out=n_splits)
        took = time.perf_counter() - started
        way = "" if whole.choice_ is None else whole.choice_.chosen
        train, held_out = folds[0]
        model = whole.chosen().fit(X.iloc[train], y[train])
        started = time.perf_counter()
        model.predict(X.iloc[held_out])
        predicting = time.perf_counter() - started
    results = [_of_ours(whole.held_out_, took, predicting)]
    chosen = {name: make for name, make in others(seed).items() if only is None or name in only}
    runs: dict[str, list[tuple[FloatArray, float, float]]] = {name: [] for name in chosen}
    gaps: list[float] = []
    for name, fold in progress([(name, fold) for name in chosen for fold in folds], "cross-validating"):
        clf, run = _run(chosen[name](), X, y, *fold)
        runs[name].append(run)
        if name == ETANA:
            gaps.append(clf.policy_.info.gap)
    results += [_result(name, parts) for name, parts in runs.items()]
    gap = max(gaps, default=float("nan"))
    return Comparison(results, gap, way, model, X.iloc[held_out], y[held_out], whole.held_out_)


def _run(clf: Any, X: Any, y: Any, train: Any, test: Any) -> tuple[Any, tuple[FloatArray, float, float]]:
    """A fitted method, and of its test rows errors and features (n, 2), seconds to fit and to predict."""
    started = time.perf_counter()
    clf.fit(X.iloc[train], y[train])
    fitted = time.perf_counter()
    decision = clf.predict(X.iloc[test])
    predicted = time.perf_counter()
    wrong = (decision != y[test]).astype(float)
    found = np.column_stack([wrong, features_used(clf, X.iloc[test])])
    return clf, (found, fitted - started, predicted - fitted)


def features_used(clf: Any, X: Any) -> FloatArray:
    """Number of features that a classifier looks at, for each row, (n,)."""
    if isinstance(clf, DecidingClassifier):
        return clf.acquire(X).n_features.astype(float)
    if isinstance(clf, DecisionTreeClassifier):
        path = clf.decision_path(X).tocoo()
        feature = clf.tree_.feature[path.col]
        inner = feature >= 0
        seen = np.zeros((X.shape[0], X.shape[1]), dtype=bool)
        seen[path.row[inner], feature[inner]] = True
        return np.asarray(seen.sum(axis=1), dtype=float)
    return np.full(X.shape[0], float(X.shape[1]))


def _of_ours(held: HeldOut, fit_seconds: float, predict_seconds: float) -> Result:
    return Result(OURS, 1 - held.error, held.n_features, held.price, held.cost, fit_seconds, predict_seconds)


def _result(name: str, parts: list[tuple[FloatArray, float, float]]) -> Result:
    wrong, used = np.concatenate([part[0] for part in parts]).T
    return Result(
        method=name,
        accuracy=float(1 - wrong.mean()),
        mean_features=float(used.mean()),
        mean_cost=float(PRICE * used.mean()),
        realised_cost=realised_cost(np.zeros(len(wrong)), wrong, PRICE * used),
        fit_seconds=float(np.mean([part[1] for part in parts])),
        predict_seconds=float(np.mean([part[2] for part in parts])),
    )


_PICTURES = (".png", ".pdf", ".svg")


def _command(output: Path, seed: int, as_json: bool) -> None:
    """See it work on real data: a table, one patient's story, a picture."""
    check_output(output)
    if output.suffix.lower() not in _PICTURES:
        raise InputError(f"cannot draw {output}: its name must end in {', '.join(_PICTURES)}.")
    comparison = compare(seed)
    story = tell(comparison)
    with refused(f"cannot write {output}"):
        drawn = draw(comparison, story, output)
    if as_json:
        echo_json(_record(comparison, story, output if drawn else None))
        if not drawn:
            click.echo(_NO_PICTURE, err=True)
        return
    _print_table(comparison)
    _print_story(story)
    click.echo(f"\nPicture written to {output}." if drawn else f"\n{_NO_PICTURE}")


_NO_PICTURE = "No picture, as matplotlib is not installed: run pip install 'seqclass[plot]'."


def _record(comparison: Comparison, story: Story, picture: Path | None) -> dict[str, Any]:
    return {
        "data": "breast_cancer",
        "feature_cost": PRICE,
        "results": [vars(result) for result in comparison.results],
        "chosen": comparison.chosen,
        "gap": comparison.gap,
        "expected_cost": comparison.held_out.expected_cost,
        "held_out": comparison.held_out.record(),
        "story": story.record(),
        "picture": None if picture is None else str(picture),
    }


def _print_table(comparison: Comparison) -> None:
    click.echo(
        wrapped(
            "Breast tumours: 569 patients, 30 measurements, 5-fold cross-validation. A measurement costs "
            f"{PRICE:g} and a wrong diagnosis 1; the realised cost, what is paid for measurements plus what wrong "
            "diagnoses cost, is what counts."
        )
    )
    head = ["method", "accuracy", "features", "price paid", "realised cost", "fit s", "predict s"]
    rows = [
        [
            r.method,
            f"{r.accuracy:.3f}",
            f"{r.mean_features:.2f}",
            f"{r.mean_cost:.4f}",
            f"{r.realised_cost:.4f}",
            f"{r.fit_seconds:.3f}",
            f"{r.predict_seconds:.4f}",
        ]
        for r in comparison.results
    ]
    click.echo("\n" + table(head, rows))
    click.echo(
        "\n"
        + wrapped(
            "Means per patient; seconds per fold. Adaptive chooses how to learn, here by a "
            f"{comparison.chosen}: the patients of each fold are decided by what the other folds choose, and its "
            "seconds are of one fit to all patients, with all that it tries. The tree is charged for the measurements "
            "on each patient's path, the classifiers below ETANA for all 30. Certified gap of ETANA's stopping rule to "
            f"the best one for its model and order, largest over the folds: {gap_text(comparison.gap)}."
        )
    )
    click.echo("\nWhat clf.held_out_ tells of adaptive\n")
    click.echo(held_out_text(comparison.held_out))


def _print_story(story: Story) -> None:
    click.echo("\nOne patient that the model has not seen\n")
    rows = [["", "prior", "", "", *(f"{100 * p:.1f}%" for p in story.prior)]]
    for i, step in enumerate(story.steps, 1):
        rows.append(
            [
                f"{i}",
                step.feature,
                f"{step.value:.4g}",
                f"{step.expected_saving:.4f}",
                *(f"{100 * p:.1f}%" for p in step.belief),
            ]
        )
    widths = [max(len(r[i]) for r in rows) for i in (0, 1)]
    rows = [[r[0].rjust(widths[0]), r[1].ljust(widths[1]), *r[2:]] for r in rows]
    head = [" " * widths[0], "asked".ljust(widths[1]), "got", "saving expected", *(f"P({c})" for c in story.classes)]
    click.echo(table(head, rows, left=2))
    right = "which is right" if story.decision == story.truth else f"but it was {story.truth}"
    click.echo(
        "\n"
        + wrapped(
            f"Then no measurement was expected to be worth its price: the decision is {story.decision}, {right}, after "
            f"{len(story.steps)} of 30 measurements and {story.cost:g} paid."
        )
    )


@dataclass(frozen=True)
class Step:
    """One question and its answer."""

    feature: str
    value: float
    price: float
    expected_saving: float
    belief: tuple[float, ...]


@dataclass(frozen=True)
class Story:
    """How one held-out patient was diagnosed.

    Attributes
    ----------
    row : int
        Its row in the held-out part.
    classes, prior : tuple
        Class labels and their probabilities before the first question.
    steps : tuple of Step
        The questions.
    decision, truth : str
        What was decided, and what was true.
    cost : float
        Price paid.
    """

    row: int
    classes: tuple[str, ...]
    prior: tuple[float, ...]
    steps: tuple[Step, ...]
    decision: str
    truth: str
    cost: float

    def record(self) -> dict[str, Any]:
        """Return the story as a plain record."""
        return asdict(self)


def tell(comparison: Comparison, least: int = 3, most: int = 5) -> Story:
    """Tell the story of the first held-out patient that needs ``least`` to ``most`` features."""
    clf, X = comparison.model, comparison.X_held_out
    needed = clf.acquire(X).n_features
    fitting = np.flatnonzero((needed >= least) & (needed <= most))
    row = int(fitting[0] if fitting.size else np.argmax(needed))
    session = clf.session()
    while (question := session.next_feature) is not None:
        session.observe(question.name, float(X[question.name].iloc[row]))
    steps = tuple(Step(a.name, float(a.value or 0), a.price, a.expected_saving, a.posterior) for a in session.history)
    return Story(
        row=row,
        classes=tuple(str(c) for c in clf.classes_.tolist()),
        prior=tuple(clf.problem_.prior.tolist()),
        steps=steps,
        decision=str(session.decision),
        truth=str(comparison.y_held_out[row]),
        cost=session.cost,
    )


def draw(comparison: Comparison, story: Story, path: Path) -> bool:
    """Draw the picture into a file."""
    try:
        # no window and no display is needed for a file
        from matplotlib.figure import Figure
    except ImportError:
        return False
    figure = Figure(figsize=(13, 5), layout="constrained")
    left, right = figure.subplots(1, 2)
    results = comparison.results
    AccuracyFeaturesDisplay.from_points(
        [r.method for r in results],
        [r.mean_features for r in results],
        [r.accuracy for r in results],
        ax=left,
        title="accuracy against measurements taken",
    )
    BeliefPathDisplay.from_estimator(
        comparison.model,
        comparison.X_held_out.iloc[[story.row]],
        ax=right,
        title=f"one held-out patient: {story.decision} after {len(story.steps)} of 30 measurements",
    )
    with replacing(path) as temporary:
        figure.savefig(temporary, dpi=150)
    return True
