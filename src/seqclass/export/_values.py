"""A policy of a fixed order over naive Bayes, as its likelihoods and the values that it looks ahead on."""

from __future__ import annotations

from typing import Any

import numpy as np

from seqclass._shell import DecidingClassifier
from seqclass.pomdp import GridValues, LookaheadPolicy, Policy, StoppingValue, StopWhenSure, TableProblem
from seqclass.pomdp.alpha import AlphaSet, AlphaVectors
from seqclass.pomdp.problem import AcquisitionProblem
from seqclass.pomdp.sweeps.ladder import enough

#: Most numbers of a policy's values: some 10 MB as text.
MOST_NUMBERS = 500_000


def values(clf: DecidingClassifier, problem: AcquisitionProblem) -> dict[str, Any] | None:
    """Likelihoods and values; None where the policy has none of a form that is known here."""
    policy = clf.policy_
    tables = problem.class_tables if isinstance(problem, TableProblem) else None
    if policy.problem.free or tables is None:
        return None
    found = _written(policy)
    if found is None or sum(map(np.size, found.get("stages", ()))) > MOST_NUMBERS:
        return None
    found["prices"] = policy.problem.planned_prices[: policy.n_stages].tolist()
    likelihoods = [tables[q, : problem.n_outcomes[q]].tolist() for q in range(problem.n_questions)]
    return {"kind": "values", "likelihoods": likelihoods, "n_stages": policy.n_stages, "values": found}


def _written(policy: Policy) -> dict[str, Any] | None:
    """Values of every stage, on a grid, by vectors, or of stopping alone; or the cost at which it is sure enough."""
    if type(policy) is StopWhenSure:
        return {"type": "sure", "cost": float(enough(policy.problem.begin(), policy.cost))}
    if type(policy) is not LookaheadPolicy:
        return None
    held: Any = policy.values
    if type(held) is GridValues and held.interpolation == "freudenthal":
        return {
            "type": "grid",
            "resolution": held.grid.resolution,
            "stages": [table.reshape(-1).tolist() for table in held.continuation],
        }
    if type(held) is AlphaVectors:
        return {"type": "vectors", "stages": [_vectors(one) for one in held.sets]}
    if type(held) is StoppingValue:
        return {"type": "vectors", "stages": [[] for _ in range(held.n_stages)]}
    return None


def _vectors(one: AlphaSet) -> list[list[float]]:
    return list(one.of().tolist())
