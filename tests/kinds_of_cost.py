"""A setting of each field of `Costs`: who adds a kind of cost adds a line, and tests ask every place for its bill."""

from __future__ import annotations

from typing import Any

PRICES = [0.01, 0.02, 0.03, 0.04]
#: One of each field of `Costs`, with what it needs beside it. A new field needs a line here, and all cells hold for it.
TABLE: dict[str, dict[str, Any]] = {
    "feature_costs": {"feature_costs": [0.013, 0.02, 0.031, 0.04]},
    "groups": {"groups": ["a", "a", None, "a"], "discounted_costs": 0.005},
    "discounted_costs": {"groups": ["a", "a", None, "a"], "discounted_costs": [0.004, 0.002, 0.03, 0.01]},
    "bundles": {"bundles": ["panel", "panel", None, None], "feature_costs": {"panel": 0.025, 2: 0.03, 3: 0.04}},
    "decision_costs": {"decision_costs": [[0, 5], [1, 0]]},
    "decisions": {"decision_costs": [[0, 1, 0.3], [1, 0, 0.3]], "decisions": ["refer"]},
    "charge_missing": {"charge_missing": True},
    "unit": {"unit": "EUR"},
    "visit_cost": {"visit_cost": 0.004},
    "delays": {"delays": [1, 2, 3, 0.5], "delay_cost": 0.001},
    "delay_cost": {"delays": 2.0, "delay_cost": 0.002, "visit_cost": 0.001},
    "prices_after": {"prices_after": {(1, 0): 0.003, (2, 1): 0.05, (2, (0, 1.0), 1): 0.001}},
    "max_panel": {"max_panel": 2, "visit_cost": 0.004, "groups": ["a", "a", None, "a"], "discounted_costs": 0.005},
}


def costs_of(name: str) -> dict[str, Any]:
    return {"feature_costs": PRICES} | TABLE[name]
