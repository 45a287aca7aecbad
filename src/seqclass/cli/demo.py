"""``seqclass demo``: the main job on real data, beside ordinary classifiers."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import asdict, astuple, dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import click
import numpy as np
from sklearn.ensemble import RandomForestClassifier
from sklearn.naive_bayes import GaussianNB
from sklearn.tree import DecisionTreeClassifier

from seqclass._base import BaseSequentialClassifier
from seqclass._utils.files import replace_file
from seqclass.adaptive_classifier import adaptive
from seqclass.cli._describe import describe_held_out
from seqclass.cli._errors import InputError, as_input_errors, check_output
from seqclass.cli._example import TARGET, write_example
from seqclass.cli._format import echo_json, gap_text, table, wrap
from seqclass.cli._progress import is_shown, show_progress
from seqclass.datasets import load
from seqclass.experiment import Experiment
from seqclass.experiment.protocols import StratifiedFolds
from seqclass.fitting.held_out import HeldOut
from seqclass.plots import AccuracyFeaturesDisplay, BeliefPathDisplay

#: Price of a measurement; a wrong diagnosis costs 1.
PRICE = 0.01
#: The method whose model tells the story.
OURS = "adaptive"
#: The one whose stopping rule is certified for its order.
ETANA = "ETANA"
#: Methods that ours is compared with.
OTHERS = {
    ETANA: "etana",
    "ETANA as published": "etana(published=True)",
    "logistic regression": "sklearn:StandardScaler + LogisticRegression(max_iter=1000)",
    "random forest": RandomForestClassifier(),
    "decision tree": DecisionTreeClassifier(),
    "naive Bayes": GaussianNB(),
}
#: Figures of a cell that are shown, in the order of `Result`.
_FIGURES = ["accuracy", "n_features_mean", "paid_mean", "realised_cost", "seconds_fit", "seconds_classify"]


@dataclass(frozen=True)
class Result:
    """Cross-validated measures of one method; costs in units of misclassification cost."""

    method: str
    accuracy: float
    mean_features: float
    mean_paid: float
    realised_cost: float
    fit_seconds: float
    predict_seconds: float


@dataclass(frozen=True)
class Demonstration:
    """What the demo found.

    Attributes
    ----------
    results : list of Result
        One a method, ours first.
    gap : float
        Largest certified gap of ETANA over the folds; NaN where it was left out.
    chosen : str
        What ours chose among the ways to learn that it tried.
    model : BaseSequentialClassifier
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
    model: BaseSequentialClassifier
    X_held_out: Any
    y_held_out: Any
    held_out: HeldOut


def compare(seed: int = 0, only: Sequence[str] | None = None, n_splits: int = 5) -> Demonstration:
    """Cross-validate."""
    data, protocol = load("breast_cancer"), StratifiedFolds(n_splits)
    data = replace(data, X=data.frame())
    X, y = data.X, data.labels
    with show_progress("choosing how to learn"):
        started = time.perf_counter()
        whole = adaptive(PRICE, random_state=seed).fit(X, y, held_out=n_splits)
        took = time.perf_counter() - started
        way = "" if whole.choice_ is None else whole.choice_.chosen
        train, held_out = protocol.split(data, 0, seed)
        model = whole.chosen_classifier().fit(X.iloc[train], y[train])
        started = time.perf_counter()
        model.predict(X.iloc[held_out])
        predicting = time.perf_counter() - started
    ours = whole.held_out_
    results = [Result(OURS, 1 - ours.error, ours.n_features, ours.price, ours.cost, took, predicting)]
    chosen = {name: method for name, method in OTHERS.items() if only is None or name in only}
    with TemporaryDirectory() as folder:
        experiment = Experiment([data], chosen, prices=[PRICE], cv=protocol, seeds=[seed])
        path = Path(folder) / "demo.run"
        cells = experiment.run(path, progress=is_shown(), keep_instances=0, keep_explanations=0).to_frame()
    for name, own in cells.groupby("method", sort=False):  # a mean over patients, whatever the sizes of the folds
        figures = np.average(own[_FIGURES], axis=0, weights=own["n_test"].astype(float))
        results.append(Result(name, *figures.tolist()))
    gap = float(cells.loc[cells["method"] == ETANA, "gap"].max())
    return Demonstration(results, gap, way, model, X.iloc[held_out], y[held_out], ours)


_PICTURES = (".png", ".pdf", ".svg")


def _command(output: Path, table: Path | None, seed: int, as_json: bool) -> None:
    if table is not None:
        _write_table(table, seed, as_json)
        return
    check_output(output)
    if output.suffix.lower() not in _PICTURES:
        raise InputError(f"cannot draw {output}: its name must end in {', '.join(_PICTURES)}.")
    comparison = compare(seed)
    story = tell(comparison)
    with as_input_errors():
        drawn = draw_picture(comparison, story, output)
    if as_json:
        echo_json(_record(comparison, story, output if drawn else None))
        if not drawn:
            click.echo(_NO_PICTURE, err=True)
        return
    _print_table(comparison)
    _print_story(story)
    click.echo(f"\nPicture written to {output}." if drawn else f"\n{_NO_PICTURE}")


def _write_table(path: Path, seed: int, as_json: bool) -> None:
    if path.suffix != ".csv":
        raise InputError(f"--write: the name of the table must end in .csv, and {path} does not.")
    prices = path.with_suffix(".costs.csv")
    for file in (path, prices):
        check_output(file)
        if file.exists():
            raise InputError(f"--write: {file} is there already, and is not replaced: give another name.")
    with as_input_errors():
        write_example(path, prices, seed)
    if as_json:
        echo_json({"table": str(path), "prices": str(prices), "target": TARGET})
        return
    click.echo(f"Wrote 600 made-up patients to {path}, and what each test costs to {prices}.")
    click.echo(f"Next: seqclass fit {path} --target {TARGET} --dataset-costs -o model.seq")


_NO_PICTURE = "No picture, as matplotlib is not installed: run pip install 'seqclass[plot]'."


def _record(comparison: Demonstration, story: Story, picture: Path | None) -> dict[str, Any]:
    return {
        "data": "breast_cancer",
        "feature_cost": PRICE,
        "results": [vars(result) for result in comparison.results],
        "chosen": comparison.chosen,
        "gap": comparison.gap,
        "expected_cost": comparison.held_out.expected_cost,
        "held_out": comparison.held_out.record(),
        "story": asdict(story),
        "picture": None if picture is None else str(picture),
    }


def _print_table(comparison: Demonstration) -> None:
    click.echo(
        wrap(
            "Breast tumours: 569 patients, 30 measurements, 5-fold cross-validation. A measurement costs "
            f"{PRICE:g} and a wrong diagnosis 1; the realised cost, what is paid for measurements plus what wrong "
            "diagnoses cost, is what counts."
        )
    )
    head = ["method", "accuracy", "features", "price paid", "realised cost", "fit s", "predict s"]
    forms = (".3f", ".2f", ".4f", ".4f", ".3f", ".4f")
    rows = [[r.method, *map(format, astuple(r)[1:], forms)] for r in comparison.results]
    click.echo("\n" + table(head, rows))
    click.echo(
        "\n"
        + wrap(
            "Means per patient; seconds per fold. Adaptive chooses how to learn, here by a "
            f"{comparison.chosen}: the patients of each fold are decided by what the other folds choose, and its "
            "seconds are of one fit to all patients, with all that it tries. The tree is charged for the measurements "
            "on each patient's path, the classifiers below ETANA for all 30. Certified gap of ETANA's stopping rule to "
            f"the best one for its model and order, largest over the folds: {gap_text(comparison.gap)}."
        )
    )
    click.echo("\nWhat clf.held_out_ tells of adaptive\n")
    click.echo(describe_held_out(comparison.held_out, options=False))


def _print_story(story: Story) -> None:
    click.echo("\nOne patient that the model has not seen\n")
    rows = [["", "prior", "", "", *(f"{100 * p:.1f}%" for p in story.prior)]]
    for i, step in enumerate(story.steps, 1):
        belief = (f"{100 * p:.1f}%" for p in step.belief)
        rows.append([f"{i}", step.feature, f"{step.value:.4g}", f"{step.expected_saving:.4f}", *belief])
    head = ["", "asked", "got", "saving expected", *(f"P({c})" for c in story.classes)]
    click.echo(table(head, rows, left=(1,)))
    right = "which is right" if story.decision == story.truth else f"but it was {story.truth}"
    click.echo(
        "\n"
        + wrap(
            f"Then no measurement was expected to be worth its price: the decision is {story.decision}, {right}, after "
            f"{len(story.steps)} of 30 measurements and {story.paid:g} paid."
        )
    )


@dataclass(frozen=True)
class DemoStep:
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
    paid : float
        Price paid.
    """

    row: int
    classes: tuple[str, ...]
    prior: tuple[float, ...]
    steps: tuple[DemoStep, ...]
    decision: str
    truth: str
    paid: float


def tell(comparison: Demonstration, least: int = 3, most: int = 5) -> Story:
    """Tell the story of the first held-out patient that needs ``least`` to ``most`` features."""
    clf, X = comparison.model, comparison.X_held_out
    needed = clf.acquire(X).n_features
    fitting = np.flatnonzero((needed >= least) & (needed <= most))
    row = int(fitting[0] if fitting.size else np.argmax(needed))
    session = clf.session()
    while (question := session.next_feature) is not None:
        session.observe(question.name, float(X[question.name].iloc[row]))
    steps = tuple(
        DemoStep(a.name, float(a.value or 0), a.price, a.expected_saving, a.posterior) for a in session.history
    )
    return Story(
        row=row,
        classes=tuple(str(c) for c in clf.classes_.tolist()),
        prior=tuple(clf.problem_.prior.tolist()),
        steps=steps,
        decision=str(session.decision),
        truth=str(comparison.y_held_out[row]),
        paid=session.paid,
    )


def draw_picture(comparison: Demonstration, story: Story, path: Path) -> bool:
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
    with replace_file(path) as temporary:
        figure.savefig(temporary, dpi=150)
    return True
