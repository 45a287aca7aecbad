"""The made-up table of ``seqclass demo --write``: patients with a pain in the belly, and what tests cost."""

from __future__ import annotations

from importlib.resources import files
from pathlib import Path

import numpy as np

from seqclass._utils.files import replace_file

TARGET = "diagnosis"
#: Prices in shares of a wrong diagnosis; one drawing of blood serves both blood tests.
_PRICES = (files(__package__) / "example.costs.csv").read_text(encoding="utf-8")


def write_example(path: Path, prices: Path, seed: int, n: int = 600) -> None:
    """Write ``n`` patients, and the file of their prices."""
    import pandas as pd

    diseases = ("appendicitis", "gastroenteritis", "kidney stone")
    shares = (0.3, 0.45, 0.25)
    # P(answer | disease), a row a disease.
    answers_of = {
        "pain": (["lower right", "all over", "flank"], [[0.75, 0.2, 0.05], [0.1, 0.85, 0.05], [0.1, 0.15, 0.75]]),
        "vomiting": (["yes", "no"], [[0.55, 0.45], [0.75, 0.25], [0.45, 0.55]]),
        "diarrhoea": (["yes", "no"], [[0.15, 0.85], [0.8, 0.2], [0.05, 0.95]]),
        "blood in urine": (["yes", "no"], [[0.1, 0.9], [0.05, 0.95], [0.8, 0.2]]),
        "ultrasound": (
            ["thick appendix", "stone", "nothing"],
            [[0.8, 0.0, 0.2], [0.04, 0.0, 0.96], [0.02, 0.75, 0.23]],
        ),
    }
    # Mean of a measurement for each disease, its standard deviation, and digits.
    measured = {
        "temperature": ([37.9, 37.8, 36.9], 0.6, 1),
        "white cells": ([14.0, 9.5, 8.5], 2.8, 1),
        "CRP": ([60.0, 25.0, 10.0], 25.0, 0),
    }
    # Share of the cells that are missing.
    missing = {"white cells": 0.06, "CRP": 0.06, "blood in urine": 0.1, "ultrasound": 0.15}
    rng = np.random.default_rng(seed)
    disease = rng.choice(len(diseases), n, p=shares)
    columns: dict[str, object] = {
        "age": np.clip(rng.normal(np.array([26, 35, 46])[disease], 14), 4, 92).round().astype(int),
        "sex": np.where(rng.random(n) < np.array([0.5, 0.5, 0.35])[disease], "female", "male"),
    }
    for name, (means, spread, digits) in measured.items():
        values = np.maximum(rng.normal(np.array(means)[disease], spread), 0.5)
        columns[name] = values.round(digits)
    for name, (answers, chances) in answers_of.items():
        below = rng.random(n)[:, None] > np.cumsum(chances, axis=1)[disease][:, :-1]
        columns[name] = np.array(answers)[below.sum(axis=1)]
    frame = pd.DataFrame(columns)[[line.split(",")[0] for line in _PRICES.splitlines()[1:]]]
    for name, share in missing.items():
        frame[name] = frame[name].mask(rng.random(n) < share)
    frame[TARGET] = np.array(diseases)[disease]
    for file, text in ((path, frame.to_csv(index=False)), (prices, _PRICES)):
        with replace_file(file) as temporary:
            temporary.write_text(text, encoding="utf-8")
