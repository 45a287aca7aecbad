"""GDFS: Covert et al., "Learning to maximize mutual information for dynamic feature selection", ICML 2023."""

from __future__ import annotations

from collections.abc import Iterator

from reproduction.comparison import ComparisonTable, Entry
from reproduction.pictures import LinePicture
from reproduction.table import Table

#: Accuracy of greedy deep selection after so many features.
_ACCURACY = {1: 0.785, 3: 0.858, 5: 0.909, 10: 0.922, 25: 0.938}
_DATA = "Spambase, GDFS's split"


def _entries() -> Iterator[Entry]:
    for k, accuracy in _ACCURACY.items():
        for method in ("etana", "ifc2f"):
            ours = f"{method}(max_features={k})"
            yield Entry(_DATA, f"{method.upper()}, at most {k}", None, ours, price=0.0, paper={"accuracy": accuracy})


TABLES: tuple[Table, ...] = (
    ComparisonTable(
        "gdfs-spambase",
        "Spambase: accuracy by a hard budget of features",
        "In the column of the paper is greedy deep selection, trained on a GPU: it chooses an order for "
        "each instance, ours is the same for all. Rows 60/20/20, shuffled by numpy's generator with seed 0, scored on "
        "the first 20%; features are free up to the budget.",
        entries=tuple(_entries()),
        picture=LinePicture(
            "most features",
            {f"{name}, at most {k}": (name, k) for name in ("ETANA", "IFC2F") for k in _ACCURACY},
            ("accuracy",),
            quoted="greedy deep selection, quoted",
        ),
    ),
)
