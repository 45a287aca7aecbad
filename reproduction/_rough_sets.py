"""OFS-Density and OFS-A3M in the tables of the ETANA and IFC2F papers: how they are run, and the figures printed."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from reproduction import _printed as printed
from reproduction.table import figures
from seqclass.selection import OFSA3M, OFSDensity

__all__ = ["ETANA", "IFC2F", "NAMES", "NOTE", "SELECTORS"]

NAMES = ("OFS-Density", "OFS-A3M")
#: As published with the class as a number, as the other streams; ours where it is a group.
SELECTORS: dict[str, Callable[[str], Any]] = {
    "OFS-Density": lambda coding: OFSDensity(published=coding == "codes", random_state=0),
    "OFS-A3M": lambda coding: OFSA3M(published=coding == "codes", random_state=0),
}
NOTE = (
    "Each selector is followed by 3 nearest neighbours. OFS-Density and OFS-A3M as published do as their authors' "
    "program, where identical rows count themselves as neighbours."
)
Figures = Mapping[tuple[str, str], float]


def _added(left: Figures, right: Figures) -> Figures:
    return {key: left[key] + right[key] for key in left if key in right}


def _quoted(accuracy: str, features: str, select: str, train: str, classify: str) -> dict[str, Figures]:
    parts = {"accuracy": accuracy, "features": features, "classify, s": classify}
    together = _added(figures(select, NAMES), figures(train, NAMES))
    return {"select + train, s": together} | {quantity: figures(text, NAMES) for quantity, text in parts.items()}


#: Tables 2, 3 and 4 (F, T and C) of the ETANA paper.
ETANA = _quoted(
    """
    Madelon 0.5117 0.5117
    MLL     0.9333 0.8667
    Lung2   0.8968 0.8865
    """,
    """
    Madelon 2    2
    MLL     12   9
    Lung2   14.2 18.4
    """,
    """
    Madelon 188.85 225.48
    MLL     1.524  5.122
    Lung2   4.214  16.346
    """,
    """
    Madelon 0.423 0.424
    MLL     0.397 0.401
    Lung2   0.113 0.109
    """,
    """
    Madelon 0.024 0.025
    MLL     0.045 0.023
    Lung2   0.017 0.017
    """,
)
#: Tables VI, VII and VIII (F and T together, and C) of the IFC2F paper.
IFC2F: dict[str, Figures] = {
    "accuracy": printed.ACCURACY,
    "features": printed.FEATURES,
    "classify, s": printed.CLASSIFYING,
    "select + train, s": _added(
        printed.SELECTING,
        figures(
            """
            Madelon  0.074 0.075
            MLL      0.008 0.071
            Lung2    0.070 0.067
            Spambase 0.086 0.006
            Dorothea 0.005 0.178
            """,
            NAMES,
        ),
    ),
}
