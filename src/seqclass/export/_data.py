"""What every exported policy has: its version, its classes, its features and how their values are read."""

from __future__ import annotations

from typing import Any

import numpy as np

from seqclass import __version__
from seqclass._shell import DecidingClassifier
from seqclass._utils.text import shown
from seqclass.deciding._case import Questions
from seqclass.deciding.decider import decider_of
from seqclass.discretize import Discretizer
from seqclass.export._graph import graph
from seqclass.export._values import values
from seqclass.pomdp.problem import AcquisitionProblem

FORMAT, VERSION = "seqclass-policy", 1


def as_data(clf: DecidingClassifier, max_nodes: int, min_probability: float) -> dict[str, Any]:
    """A policy as plain data: by its values where that is possible, else as a graph."""
    if len(clf.policy_.begin()[1]) > 1:
        raise ValueError("this policy draws lots, so no page tells what it asks; fit without a budget to keep.")
    problem = decider_of(clf).all_questions()
    if problem.bundles is not None and any(bundle is not None for bundle in problem.bundles):
        raise ValueError("this model asks for bundles of features, which cannot be exported; fit it without bundles.")
    data: dict[str, Any] = {
        "format": FORMAT,
        "version": VERSION,
        "written_by": f"seqclass {__version__}",
        "classes": [str(label) for label in clf.classes_.tolist()],
        "decisions": [str(label) for label in clf.decisions_],
        "prior": problem.prior.tolist(),
        "decision_costs": problem.decision_costs.tolist(),
        "charge_missing": bool(clf.charge_missing),
        "features": _features(clf, problem),
    }
    return data | (values(clf, problem) or graph(clf, max_nodes, min_probability))


def _features(clf: DecidingClassifier, problem: AcquisitionProblem) -> list[dict[str, Any]]:
    """Each question's feature: its name and prices, and which value is which outcome."""
    asked = Questions(decider_of(clf), problem)
    found = []
    for question in range(problem.n_questions):
        (feature,) = asked.features(question)
        group = -1 if problem.groups is None else int(problem.groups[question])
        told: dict[str, Any] = {
            "name": feature.name,
            "price": float(problem.prices[question]),
            "group": None if group < 0 else group,
            "full_price": float(problem.full_prices[question]) if group >= 0 else float(problem.prices[question]),
            "outcomes": list(map(str, decider_of(clf).outcome_labels(feature.column))),
            "n_outcomes": int(problem.n_outcomes[question]),
        }
        found.append(told | _reading(clf, feature.column, feature.categories))
    return found


def _reading(clf: DecidingClassifier, column: int, categories: tuple[str, ...]) -> dict[str, Any]:
    """How a value becomes an outcome: by its category, its place among edges, or as the outcome that it is."""
    coder = clf.coder_
    if categories:
        return {"type": "category", "categories": list(categories)}
    if coder.discretizer_ is None:
        return {"type": "outcome"}
    if not isinstance(coder.discretizer_, Discretizer):
        name = type(coder.discretizer_).__name__
        raise ValueError(
            f"feature {shown(clf.feature_name(column))} is binned by {name}, whose bins cannot be written as data; "
            "fit with seqclass's Discretizer."
        )
    bins = coder.discretizer_
    at = int(np.searchsorted(coder.numeric_, column))
    low, high = bins.own_bins_[at].tolist()
    apart = [] if np.isnan(low) else [low, float(np.nextafter(high, np.inf))]
    edges = sorted({*bins.bin_edges_[at][np.isfinite(bins.bin_edges_[at])].tolist(), *apart})
    return {
        "type": "number",
        "edges": edges,
        "places": bins._outcomes(np.array([-np.inf, *edges]), at).tolist(),
        "range": coder.training_range(column),
    }
