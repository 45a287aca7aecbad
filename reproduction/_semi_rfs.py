"""Semi-RFS: "Novel and efficient randomized algorithms for feature selection", 2020."""

from __future__ import annotations

from typing import Any

from reproduction.pictures import LinePicture, SearchPicture
from reproduction.searches import SearchTable
from reproduction.table import Impossible, Table

_NOTE = (
    "The paper prints pictures against seconds, without figures. Its learner is gradient boosting; ours is a small "
    "Gaussian naive Bayes. Figures are means over 20 runs, each with data of its own and 1000 evaluations by 5 folds. "
    'The CV error is what the search minimises; the test error is on 2000 further rows. "Less RFS\'s" is the mean '
    'difference of runs on the same data, with the ends of its 95% interval. A dash under "to RFS\'s final error" '
    "means that the mean never reaches it."
)
_COLD: dict[str, Any] = {"warm_start": False, "removal_group_size": 1}
_RFS: dict[str, Any] = {**_COLD, "adaptive": False, "group_size": 1}
_ADAPTIVE: dict[str, Any] = {**_COLD, "beta": 5.0}
_SLOW, _FAST = {**_ADAPTIVE, "alpha": 0.5}, {**_ADAPTIVE, "alpha": 1.0}
_STATIC: dict[str, Any] = {**_COLD, "adaptive": False, "group_size": 2}
_WARM: dict[str, Any] = {"warm_start": True}
_COOL: dict[str, Any] = {"cool_down": True}
_ALPHAS, _BETAS = (0.5, 1.0, 2.0), (1.0, 2.0, 4.0, 8.0)
_SENSITIVITY = {
    f"alpha {alpha:g}, beta {beta:g}": {**_COLD, "alpha": alpha, "beta": beta} for beta in _BETAS for alpha in _ALPHAS
}


def _beside(change: str, ours: str) -> SearchPicture:
    """Each form of the search without and with a change, and one of ours."""
    forms = {"RFS": "RFS", "Adaptive, alpha 0.5": "adaptive 0.5", "Adaptive, alpha 1": "adaptive 1"}
    groups = {title: (form, f"{change} {form}") for title, form in forms.items()}
    return SearchPicture({**groups, "Our defaults": (ours,)})


TABLES: tuple[Table, ...] = (
    SearchTable(
        "semi_rfs-fig3",
        "Fig. 3: Semi-RFS and RFS",
        _NOTE,
        forms={"RFS": _RFS, "static 2, 1": _STATIC, "adaptive 0.5": _SLOW, "adaptive 1": _FAST},
        ours={"our defaults": {}},
        picture=SearchPicture(
            {
                **{"Static groups of two": ("static 2, 1",), "Adaptive, alpha 0.5": ("adaptive 0.5",)},
                **{"Adaptive, alpha 1": ("adaptive 1",), "Our defaults": ("our defaults",)},
            }
        ),
    ),
    SearchTable(
        "semi_rfs-fig4",
        "Fig. 4: warm start",
        _NOTE,
        forms={
            **{"RFS": _RFS, "warm RFS": _RFS | _WARM, "adaptive 0.5": _SLOW, "warm adaptive 0.5": _SLOW | _WARM},
            **{"adaptive 1": _FAST, "warm adaptive 1": _FAST | _WARM},
        },
        ours={"our defaults": {}},
        picture=_beside("warm", "our defaults"),
    ),
    SearchTable(
        "semi_rfs-fig5",
        "Fig. 5: cool down",
        _NOTE,
        forms={
            **{"RFS": _RFS, "cool RFS": _RFS | _COOL, "adaptive 0.5": _SLOW, "cool adaptive 0.5": _SLOW | _COOL},
            **{"adaptive 1": _FAST, "cool adaptive 1": _FAST | _COOL},
        },
        ours={"our defaults, cool": _COOL},
        picture=_beside("cool", "our defaults, cool"),
    ),
    SearchTable(
        "semi_rfs-fig6",
        "Fig. 6: alpha and beta",
        _NOTE,
        forms={"RFS": _RFS, **_SENSITIVITY},
        picture=LinePicture(
            "alpha",
            {f"alpha {alpha:g}, beta {beta:g}": (f"beta {beta:g}", alpha) for beta in _BETAS for alpha in _ALPHAS},
            ("CV error after 100%", "test error"),
            log=True,
            levels=("RFS",),
        ),
    ),
    Impossible("semi_rfs-2", "Table 2: polymers", "The data are not public.", ("polymers",)),
)
