"""One patient's story: asked, got, belief after."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from seqclass.cli._demo_run import Comparison


@dataclass(frozen=True)
class Step:
    """One question and its answer.

    Attributes
    ----------
    feature : str
        What was asked for.
    value : float
        What it showed.
    price, expected_saving : float
        In units of misclassification cost.
    belief : tuple of float
        P(class) after the answer.
    """

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
    """Tell the story of the first held-out patient that needs ``least`` to ``most`` features.

    Parameters
    ----------
    comparison : Comparison
        What the demo found.
    least, most : int
        Features that the patient should need.

    Returns
    -------
    Story
    """
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
