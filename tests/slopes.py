"""Derivatives of the expected cost the long way: change each cost a little, and evaluate."""

from __future__ import annotations

from typing import Any

import numpy as np

from seqclass.analysis.sensitivity import HeldPolicy, Sensitivity
from seqclass.pomdp import AcquisitionProblem, Policy, evaluate


def finite_differences(problem: AcquisitionProblem, policy: Policy, step: float = 1e-5, **effort: Any) -> Sensitivity:
    """The policy keeps asking what it asks, and decides what is cheapest at the changed costs."""

    def run(changed: AcquisitionProblem) -> Any:
        return evaluate(changed, HeldPolicy(policy, changed), **effort)

    base, slopes = run(problem), []
    for name in ("prices", "full_prices", "decision_costs"):
        values = np.asarray(getattr(problem, name))
        slope = np.zeros(values.shape)
        for place in np.ndindex(*values.shape):
            down = min(step, float(values[place]))  # as far as it stays positive
            ends = []
            for change in (step, -down):
                moved = values.copy()
                moved[place] += change
                ends.append(run(problem.replace(**{name: moved})).cost)
            slope[place] = (ends[0] - ends[1]) / (step + down)
        slopes.append(slope)
    return Sensitivity(*slopes, base.cost, base.method)
