"""The picture of `seqclass demo`: accuracy against features, and one patient's belief."""

from __future__ import annotations

from pathlib import Path

from seqclass._files import replacing
from seqclass.cli._demo_run import Comparison
from seqclass.cli._demo_story import Story
from seqclass.plots import AccuracyFeaturesDisplay, BeliefPathDisplay


def draw(comparison: Comparison, story: Story, path: Path) -> bool:
    """Draw the picture into a file.

    Parameters
    ----------
    comparison : Comparison
        What the demo found.
    story : Story
        The patient.
    path : path
        The file; its ending says what kind.

    Returns
    -------
    bool
        False where matplotlib is not installed: nothing is drawn then.
    """
    try:
        # no window and no display is needed for a file
        from matplotlib.figure import Figure
    except ImportError:
        return False
    figure = Figure(figsize=(13, 5), layout="constrained")
    left, right = figure.subplots(1, 2)
    results = comparison.results
    AccuracyFeaturesDisplay.from_results(
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
