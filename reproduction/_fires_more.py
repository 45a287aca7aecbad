"""The FIRES paper's classifiers with all features in Table 3, and its weights of pixels in Fig. 3."""

from __future__ import annotations

from typing import Any

from reproduction.digits import DigitsTable
from reproduction.learners import LearnerEntry, LearnerTable
from reproduction.pictures import PixelPicture
from reproduction.table import Table, figures
from seqclass.selection import EFS, FIRES, FSDS, OFS
from seqclass.selection.prequential import RiverClassifier

_METHODS = ("Online boosting", "VFDT")
#: Pixels that are selected in Fig. 3.
_PIXELS = 115
_ACCURACY = figures(
    """
    Spambase 0.83  0.638
    Usenet   0.507 0.504
    Gisette  0.673 0.687
    Madelon  0.551 0.481
    KDD      0.989 0.985
    MNIST    0.906 0.894
    """,
    _METHODS,
)
_MS = figures(
    """
    Spambase 234.741   21.096
    Usenet   2448.95   206.354
    Gisette  15026.415 1781.348
    Madelon  1398.29   245.073
    KDD      110.659   12.226
    MNIST    1960.237  275.872
    """,
    _METHODS,
)


def online_boosting() -> Any:
    """Online boosting of three Gaussian naive Bayes models, by river."""
    river = _river()
    return RiverClassifier(river.ensemble.AdaBoostClassifier(river.naive_bayes.GaussianNB(), n_models=3, seed=0))


def fast_decision_tree() -> Any:
    """The very fast decision tree with majority classes in its leaves, by river."""
    return RiverClassifier(_river().tree.HoeffdingTreeClassifier(leaf_prediction="mc"))


def _river() -> Any:
    try:
        import river
        from river import ensemble, naive_bayes, tree  # noqa: F401 (so that river has them)
    except ImportError as error:
        raise ImportError("this needs river: pip install 'seqclass[river]'") from error
    return river


_MAKE = {"Online boosting": online_boosting, "VFDT": fast_decision_tree}
#: What river, which takes row by row, needs longer for than for all the rest.
_SLOW = {
    "MNIST": "280,000 rows of 784 columns, one by one, take an hour and a half by boosting and 11 minutes by the tree"
}

TABLES: tuple[Table, ...] = (
    LearnerTable(
        "fires-3b",
        "Table 3: accuracy and milliseconds a batch of classifiers with all features",
        "Means over batches of 25, 50, 75 and 100 rows. Online boosting of three naive Bayes models and the very fast "
        "decision tree are river's; the paper has those of scikit-multiflow. "
        "The paper's times are from another machine: compare ratios.",
        ("HAR", "Dota", "RBF", "RTG"),
        tuple(
            LearnerEntry(
                data,
                method,
                make if data not in _SLOW else None,
                {"accuracy": _ACCURACY[data, method], "ms a batch": _MS[data, method]},
            )
            for data in dict.fromkeys(name for name, _ in _ACCURACY)
            for method, make in _MAKE.items()
        ),
        not_computed=_SLOW,
    ),
    DigitsTable(
        "fires-fig3",
        "Fig. 3: pixels that tell 3, 8 and 9 from one another, after 1000 rows",
        "The paper prints images without figures. It does not give the size of a batch; here it is 100 rows. FIRES "
        "uses the neural network.",
        selectors={
            "EFS": EFS(_PIXELS),
            "FSDS": FSDS(_PIXELS),
            "OFS": OFS(_PIXELS),
            "FIRES": FIRES(_PIXELS, base="ann", random_state=0),
        },
        picture=PixelPicture(("weight", "selected")),
    ),
)
